"""Whose numbers to compute: trec_eval 9.0.8's, which published results use, or 10.0's."""

from __future__ import annotations

COMPAT_LEVELS = ("9.0.8", "10.0")
DEFAULT_COMPAT = "9.0.8"


def check_compat(compat: str) -> str:
    """Return a compat level that exists; raise ValueError for others."""
    if compat not in COMPAT_LEVELS:
        raise ValueError(f"compat {compat!r}: expected {' or '.join(map(repr, COMPAT_LEVELS))}")
    return compat
