"""The formats of files of judgments and runs: one record for each."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.common.messages import python_warning
from fastrank.core.formats import contents
from fastrank.core.formats.contents import Content
from fastrank.core.formats.tables.roles import check_mapping
from fastrank.core.formats.tables.sniff import (
    ARROW,
    COMPRESSED,
    LIKELY,
    PARQUET,
    SURE,
    Head,
    delimited_certainty,
    json_certainty,
    ltr_certainty,
    sample_certainty,
    trec_certainty,
)
from fastrank.errors import FastrankError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from fastrank.common.choices import Format as FormatName
    from fastrank.common.messages import Warn
    from fastrank.core.formats.contents import Found
    from fastrank.core.formats.qrels import Qrels
    from fastrank.core.formats.run import Run
    from fastrank.core.formats.tables.roles import Name


class Format(NamedTuple):
    """A format of files.

    name: as `format=` takes it; also in `Format` of common/choices.py. suffixes: of names of files,
    the first is that of new ones. kinds: what a file can have, qrels and run. recognise: the
    first bytes of binary files; or how sure it is, NO, LIKELY or SURE, that a file with this
    beginning is in the format of this name. read: None for
    TREC's, whose readers take a file in parts. write: the pieces of a file with judgments or a run;
    None if it is only read. doc: what a file has, as the page of formats says it. is_binary:
    whether a file cannot be written to a terminal.
    """

    name: FormatName
    suffixes: tuple[str, ...]
    kinds: tuple[str, ...]
    recognise: tuple[bytes, ...] | Callable[[Head, str], int]
    read: Callable[[Content], Found] | None
    write: Callable[[Qrels | Run], Iterable[bytes]] | None
    doc: str
    is_binary: bool = False


QRELS, BOTH = ("qrels",), ("qrels", "run")


def _write_trec(noun: Qrels | Run) -> Iterable[bytes]:
    from fastrank.core.formats.trec.writers import lines_of

    return lines_of(noun)


def _write_sample(noun: Qrels | Run) -> Iterable[bytes]:
    from fastrank.core.formats.qrels import Qrels
    from fastrank.core.formats.trec.writers import sample_lines

    if not isinstance(noun, Qrels):
        raise InputError(noun.source, "the format sample is only for judgments")
    return sample_lines(noun)


def _write_json(noun: Qrels | Run) -> Iterable[bytes]:
    from fastrank.core.formats.tables.dicts import to_dict
    from fastrank.core.formats.tables.records import json_of

    return json_of(to_dict(noun))


def _write_rows(form: str) -> Callable[[Qrels | Run], Iterable[bytes]]:
    def write(noun: Qrels | Run) -> Iterable[bytes]:
        from fastrank.core.formats.tables.frames import to_rows
        from fastrank.core.formats.tables.records import jsonl_of
        from fastrank.core.formats.tables.table_files import delimited_lines

        names, rows = to_rows(noun, form)
        return jsonl_of(names, rows) if form == "jsonl" else delimited_lines(form, names, rows)

    return write


def _write_binary(form: str) -> Callable[[Qrels | Run], Iterable[bytes]]:
    def write(noun: Qrels | Run) -> Iterable[bytes]:
        from fastrank.core.formats.tables.frames import binary_content

        return [binary_content(noun, form)]

    return write


# A file is in the first format that is sure, else in the first that is likely.
_RECORDS = (
    Format(
        name="trec",
        suffixes=(".trec", ".qrels", ".qrel", ".run", ".res", ".txt"),
        kinds=BOTH,
        recognise=trec_certainty,
        read=None,
        write=_write_trec,
        doc="lines `query iter doc grade` of judgments, `query Q0 doc rank score tag` of a run",
    ),
    Format(
        name="sample",
        suffixes=(),
        kinds=QRELS,
        recognise=sample_certainty,
        read=contents.read_sample,
        write=_write_sample,
        doc="lines `query iter doc stratum grade` of NIST's sample_eval",
    ),
    Format(
        name="tsv",
        suffixes=(".tsv",),
        kinds=BOTH,
        recognise=delimited_certainty,
        read=contents.read_delimited,
        write=_write_rows("tsv"),
        doc="as csv, with tabs",
    ),
    Format(
        name="csv",
        suffixes=(".csv",),
        kinds=BOTH,
        recognise=delimited_certainty,
        read=contents.read_delimited,
        write=_write_rows("csv"),
        doc="a header with names and rows; or without a header query, document and number (BEIR, MS"
        " MARCO), or the fields of TREC's format",
    ),
    Format(
        name="json",
        suffixes=(".json",),
        kinds=BOTH,
        recognise=json_certainty,
        read=contents.read_json,
        write=_write_json,
        doc="`{query: {document: number}}`, `{query: [document, ...]}`, a list of records, a dict"
        " of columns, or what a search engine or a tool for ratings writes",
    ),
    Format(
        name="jsonl",
        suffixes=(".jsonl", ".ndjson"),
        kinds=BOTH,
        recognise=json_certainty,
        read=contents.read_json,
        write=_write_rows("jsonl"),
        doc="a record with names on each line",
    ),
    Format(
        name="parquet",
        suffixes=(".parquet", ".parq", ".pq"),
        kinds=BOTH,
        recognise=PARQUET,
        read=contents.read_binary,
        write=_write_binary("parquet"),
        doc="a table with names (extra `pyarrow`)",
        is_binary=True,
    ),
    Format(
        name="arrow",
        suffixes=(".arrow", ".feather"),
        kinds=BOTH,
        recognise=ARROW,
        read=contents.read_binary,
        write=_write_binary("arrow"),
        doc="a table with names, as Arrow and Hugging Face store it (extra `pyarrow`)",
        is_binary=True,
    ),
    Format(
        name="ltr",
        suffixes=(".ltr", ".svmlight", ".libsvm"),
        kinds=QRELS,
        recognise=ltr_certainty,
        read=contents.read_ltr,
        write=None,
        doc="lines `grade qid:QUERY 1:FEATURE ... # DOCUMENT` of learning to rank",
    ),
)
FORMATS: dict[str, Format] = {record.name: record for record in _RECORDS}
SUFFIXES: dict[str, FormatName] = {
    suffix: record.name for record in _RECORDS for suffix in record.suffixes
}


def written_formats(*kinds: str) -> tuple[str, ...]:
    """The names of the formats in which all of these kinds (qrels, run) can be written."""
    return tuple(record.name for record in _RECORDS if record.write and {*kinds} <= {*record.kinds})


def check_format(name: str, *others: str) -> str:
    """Return the name if it is a format, or one of others, else raise FastrankError."""
    if name not in (known := (*FORMATS, *others)):
        raise FastrankError(f"format: expected one of {', '.join(known)}, found {name!r}")
    return name


def format_by_name(path: str) -> FormatName | None:
    """The format by the suffix of a file's name, ignoring suffixes of compression."""
    name = path.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return next((form for suffix, form in SUFFIXES.items() if name.endswith(suffix)), None)


def format_of(head: bytes, name: str, kind: str) -> str:
    """The format of a file that begins with `head`; kind: qrels or run.

    Detected from the content, or from the name if the content is ambiguous.
    """
    for record in _RECORDS:
        # Reading the lines of binary files would take a millisecond.
        if isinstance(record.recognise, tuple) and head.startswith(record.recognise):
            return record.name
    beginning, likely = Head(head, kind), ""
    for record in _RECORDS:
        if kind in record.kinds and not isinstance(record.recognise, tuple):
            certainty = record.recognise(beginning, record.name)
            if certainty == SURE:
                return record.name
            if certainty == LIKELY:
                likely = likely or record.name
    return likely or format_by_name(name) or "trec"


def content_of(
    content: bytes | str,
    name: str,
    form: str,
    kind: str,
    columns: Mapping[str, Name] | None = None,
    rank_by: str = "score",
    warn: Warn = python_warning,
) -> Found:
    """The table of a file that is not in TREC format, or {query: {document: number}}.

    content: of a local file in a binary format, it may be the path. Other arguments: as of
    `Content`. Raises FormatError and InputError.
    """
    check_mapping(columns, name)
    if kind not in FORMATS[form].kinds:
        raise InputError(name, f"the format {form} has judgments, expected a run")
    read: Any = FORMATS[form].read
    found: Found = read(Content(content, name, form, kind, columns, rank_by, warn))
    return found
