"""Whose numbers to compute: trec_eval 9.0.8's, which published results use, or 10.0's."""

from __future__ import annotations

from fastrank.errors import OptionError

COMPAT_LEVELS = ("9.0.8", "10.0")
DEFAULT_COMPAT = "9.0.8"


def check_compat(compat: str) -> str:
    """Return a compat level that exists; raise OptionError for others."""
    if compat not in COMPAT_LEVELS:
        expected = " or ".join(map(repr, COMPAT_LEVELS))
        raise OptionError("compat", f"expected {expected}, found {compat!r}")
    return compat
