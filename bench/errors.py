"""What stops a benchmark, told in one line."""

from __future__ import annotations


class BenchError(Exception):
    """A benchmark cannot go on: wrong options, missing files, unusable results."""


class NotFoundError(BenchError):
    """A program or a file to measure with is not there."""
