#!python
"""The fastrank command, as installed; `python -m fastrank` is the same.

`fastrank trec_eval` starts like the trec_eval command (see launch_trec_eval.py).
"""

import gc
import os
import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["trec_eval"]:
        gc.disable()

        from fastrank.cli.trec_eval import main as trec_eval

        os._exit(trec_eval(sys.argv[2:]))

    from fastrank.cli.main import main

    sys.exit(main())
