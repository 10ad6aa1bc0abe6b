#!python
"""The trec_eval command, as installed; `python -m fastrank trec_eval` is the same."""

import sys

from fastrank.cli.trec_eval import main

sys.exit(main())
