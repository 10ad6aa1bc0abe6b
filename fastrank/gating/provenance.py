"""When a baseline was made, and from which commit."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime, timezone

from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Seconds after which git counts as missing.
PATIENCE = 10


def created() -> str:
    """The time in UTC, or that of SOURCE_DATE_EPOCH. Raises OptionError if it is not a number."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        when = datetime.now(timezone.utc)
        if given:
            when = datetime.fromtimestamp(int(given), timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise OptionError(
            "SOURCE_DATE_EPOCH", f"expected seconds since 1970, found {given!r}"
        ) from None
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def commit() -> dict[str, Any]:
    """The commit of the working directory, and whether tracked files differ from it.

    Empty without git, outside a repository, and before the first commit.
    """
    found = _git("rev-parse", "HEAD")
    if not found:
        return {}
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return {"commit": found, "dirty": bool(changes)}


def _git(*arguments: str) -> str:
    """What git prints, "" if it fails."""
    try:
        done = subprocess.run(
            ["git", *arguments], capture_output=True, check=True, timeout=PATIENCE
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return os.fsdecode(done.stdout).strip()
