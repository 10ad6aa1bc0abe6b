#!/bin/sh
# The trec_eval command in Python; 'python -m fastrank trec_eval' is the same.
#
# It is installed as the command where there is no executable, or one would not follow the sources;
# and the executable gives it to the shell for what it leaves to Python. $0 is the command in both.
# It starts the Python of the environment that it is installed in, by whatever path, which may have
# spaces or be long.
script=$0
folder=${script%"${script##*/}"}
folder=${folder:-./}
if [ -L "$script" ] || [ -L "${folder%/}" ]; then
    script=$(readlink -f "$script")
    folder=${script%/*}/
fi
python=python3
if [ -f "${folder}../pyvenv.cfg" ]; then
    python=${folder}python
else
    # Not a virtual environment: the Python that the package was installed for is in its path, such
    # as lib/python3.12/site-packages, but it may be elsewhere (pip install --user).
    for package in "${folder}"../lib*/python3*/*-packages/fastrank_eval-*.dist-info; do
        if [ -d "$package" ]; then
            python=${package%/*-packages/*}
            python=${python##*/}
        fi
    done
    if [ -x "$folder$python" ]; then python=$folder$python; fi
fi
# The working folder, which -c puts on the path, has modules of others. Without garbage collection
# and the shutdown of Python, small files take a fifth less.
exec "$python" -c '
import sys
sys.path = [*filter(None, sys.path)]
import gc, os
gc.disable()
try:
    from fastrank.cli.trec_eval import main
except KeyboardInterrupt:
    os._exit(130)
os._exit(main())' "$@"
