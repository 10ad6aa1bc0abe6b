"""Checks of judgments and runs in memory."""

from __future__ import annotations

import io
from typing import Any

import fastrank
from fastrank.analysis.checking.checker import KINDS
from fastrank.analysis.checking.findings import Finding, Report


class NotReadError(Exception):
    """A reader would pass over the rest of a file."""


def refuse(message: str) -> None:
    """Take no warning of a reader."""
    raise NotReadError(message)


def named(content: bytes, name: str) -> io.BytesIO:
    """A file with a name."""
    file = io.BytesIO(content)
    file.name = name  # type: ignore[attr-defined]
    return file


def check(qrels: bytes | None, run: bytes | None = None, **options: Any) -> Report:
    """What is found in judgments named qrels, and in a run named run."""
    return fastrank.check(
        None if qrels is None else named(qrels, "qrels"),
        [] if run is None else named(run, "run"),
        **options,
    )


def kinds(report: Report) -> set[str]:
    """The kinds of what was found."""
    return {finding.kind for finding in report}


def only(report: Report, kind: str) -> Finding:
    """The one finding of a kind."""
    found = [finding for finding in report if finding.kind == kind]
    assert len(found) == 1, str(report)
    assert found[0].severity == KINDS[kind][0]
    return found[0]


def unescaped(text: str) -> bytes:
    """The bytes of a text with escapes, as in Python."""
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")
