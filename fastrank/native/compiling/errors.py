"""What can go wrong in a build."""

from __future__ import annotations


class BuildError(Exception):
    """The libraries could not be made; the message says why."""
