#!/bin/sh
"""true"
# The trec_eval command, as installed; 'python -m fastrank trec_eval' is the same.
#
# The shell starts this file again, with the Python of the environment that it is installed in, by
# whatever path, which may have spaces or be long. Entry points would do that, too, but those of pip
# before 25.1 import the module re, which takes four times as long as the shell.
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
exec "$python" "$script" "$@"
"""

import gc
import os

if __name__ == "__main__":
    # Without garbage collection and the shutdown of Python, small files take a fifth less.
    gc.disable()

    try:
        from fastrank.cli.trec_eval import main
    except KeyboardInterrupt:
        os._exit(130)
    os._exit(main())
