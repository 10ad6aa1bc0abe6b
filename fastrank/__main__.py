"""`python -m fastrank` is the command `fastrank`."""

import sys

from fastrank.cli.main import launch

sys.exit(launch())
