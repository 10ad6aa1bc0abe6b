"""Guesses for messages: what a file is that is not in TREC format, and what its first line is."""

from __future__ import annotations

from fastrank.common.c_numbers import number_of_entire_text
from fastrank.core.formats.files.source import HEAD
from fastrank.core.formats.formats import format_of
from fastrank.core.formats.tables.sniff import TREC_FIELDS
from fastrank.core.formats.trec.strict import IS_HEADER, NO_FIELD, has_names_only
from fastrank.errors import FormatError

READERS = {"qrels": "fastrank.read_qrels", "run": "fastrank.read_run"}


def is_header(line: bytes, next_line: bytes, kind: str) -> bool:
    """Whether a malformed first line seems to have the names of columns; kind: qrels or run."""
    fields = next_line.split()
    return (
        has_names_only(line)
        and len(fields) in TREC_FIELDS[kind]
        and number_of_entire_text(fields[3 if kind == "qrels" else 4]) is not None
    )


def explained(error: FormatError, text: bytes, kind: str, fields: int) -> FormatError:
    """The error about a file, or one that says what the file seems to be instead.

    kind: what was expected, qrels or run. fields: how many the malformed line has, else 0.
    """
    form = format_of(text[:HEAD], error.path, kind)
    if form == "sample":
        reason = "these are judgments with strata, expected lines of TREC's format"
        return FormatError(error.path, 1, f"{reason}; {READERS[kind]} reads them")
    if form != "trec":
        reason = f"this looks like {form.upper()}, expected lines of TREC's format"
        return FormatError(error.path, 1, f"{reason}; {READERS[kind]} reads {form.upper()}")
    first, next_line, *_ = (*text[:HEAD].split(b"\n", 2), b"")
    if fields and error.line == 1 and is_header(first, next_line, kind):
        return FormatError(error.path, 1, f"{error.reason}; {IS_HEADER}")
    other_kind = "qrels" if kind == "run" else "run"
    if fields in TREC_FIELDS[other_kind]:
        looks = "judgments" if kind == "run" else "a run"
        return FormatError(error.path, error.line, f"{error.reason}; this looks like {looks}")
    guess = NO_FIELD[kind].get(fields)
    return FormatError(error.path, error.line, f"{error.reason}; {guess}") if guess else error
