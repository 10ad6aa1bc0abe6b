"""Other installations on Python's path, whose libraries serve sources that have none beside them.

Python started in a checkout imports the sources there, although `pip install .` has put a compiled
library into site-packages.
"""

from __future__ import annotations

import os
import sys

from fastrank.native.sources import NATIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def other_folders() -> Iterator[str]:
    """The folders of other installations where a library may be."""
    for entry in sys.path:
        folder = os.path.join(os.path.abspath(entry), "fastrank", "native")
        if folder != NATIVE and os.path.isdir(folder):
            yield folder
