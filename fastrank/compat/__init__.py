"""Drop-in interfaces of other evaluation libraries, with the same results."""

import sys

from fastrank.dropped import Finder

sys.meta_path.append(Finder)
