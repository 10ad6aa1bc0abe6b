"""Where the tests find what lies in the repository, and beside it."""

from __future__ import annotations

from pathlib import Path

import fastrank

TESTS = Path(__file__).resolve().parent.parent
REPOSITORY = TESTS.parent
# In the repository, or installed.
PACKAGE = Path(fastrank.__file__).parent
CORE = PACKAGE / "core"
DATA = REPOSITORY / "data"
# Need not be there; the tests that read it are then skipped.
SHARED = REPOSITORY.parent / "shared"
