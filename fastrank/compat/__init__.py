"""Drop-in interfaces of other evaluation libraries, with the same results."""

import sys

from fastrank.common.dropped import Finder

sys.meta_path.append(Finder)
