"""Which file a run came from, and whether it has changed since."""

from __future__ import annotations

import os
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The seconds after which a further change of a file is sure to change its times.
SETTLED = 2


def state_of(path: Any) -> list[int] | None:
    """Size, times of modification and change in ns, and inode; None for what is not a file."""
    try:
        found = os.stat(path)
    except (OSError, TypeError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def settled(state: list[int]) -> list[int]:
    """The state, or only the size of a file that may change again at the same time."""
    recent = time.time() - max(state[1:3]) / 1e9 < SETTLED
    return state[:1] if recent else state
