"""Which installations of fastrank a Python process has on its path, and what tests need of them."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest

from tests.helpers.paths import PACKAGE, REPOSITORY

needs_checkout = pytest.mark.skipif(
    PACKAGE.parent != REPOSITORY, reason="the sources of the package are not in this folder"
)
# Without the folder of an installed fastrank, there is no numba, if both are in one.
needs_numba_elsewhere = pytest.mark.skipif(
    Path(numba.__file__).parents[1] == PACKAGE.parent,
    reason="numba and fastrank are installed in one folder",
)

# Other installations would lend their library: all go but the working folder and $SITE.
ALONE = (
    "import os, sys\n"
    "kept = ('', os.environ.get('SITE'))\n"
    "others = [entry for entry in sys.path if os.path.isdir(os.path.join(entry, 'fastrank'))]\n"
    "sys.path = [entry for entry in sys.path if entry in kept or entry not in others]\n"
)
