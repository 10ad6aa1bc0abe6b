"""Read ids and texts from TREC SGML and topics, JSONL, TSV, parquet, and DPR's questions."""

from __future__ import annotations

import ast
import csv
import os
import re
from collections.abc import Mapping
from itertools import chain

from fastrank.core.formats.files.files import exists
from fastrank.core.formats.files.source import BYTE_ORDER_MARK, HEAD, is_url, name_of, read_all
from fastrank.core.formats.formats import format_by_name
from fastrank.core.formats.tables import sniff
from fastrank.core.formats.tables.arrow_files import is_folder, is_saved
from fastrank.core.formats.tables.forms import is_file
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.records import json_objects
from fastrank.core.formats.tables.roles import is_header, names_of
from fastrank.core.formats.tables.sniff import COMPRESSED
from fastrank.core.formats.texts.sgml import records_of
from fastrank.core.formats.trec.line_files import lines_of
from fastrank.errors import FormatError, ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from fastrank.core.formats.tables.table import Table

    Record = tuple[str, int, str, str, str, list[str] | None]
    """File, line, id, title ("" if there is none), text, and answers of a question."""

# The names of columns and keys, in the order in which they are looked for.
IDS, TITLES, TEXTS = (names_of(role) for role in ("id", "title", "text"))
# The roles of which a table of texts has one each.
NEEDED = (("id",), ("text", "title"))
# The lines at the beginning of a file that show whether it is a table, and how records begin.
SOME_LINES = 10
_RECORDS = re.compile(
    rb'\s*(<!doctype[^>]*>\s*|<\?.*?\?>\s*)?(<(doc|top|topics)\b|\{\s*"|\[\s*\{)', re.I
)
# DPR's questions: lines of a question, a tab, and a list of answers as Python writes it.
QUESTION_LINE = (
    "expected a question, a tab and a list of answers, such as ['Paris', 'Paris, France']"
)


def read_texts(
    corpus: Any,
    fields: Sequence[str] | None,
    encoding: str,
    noun: str,
    answers: dict[str, list[str]] | None = None,
) -> tuple[list[str], list[str]]:
    """Ids, all distinct, and texts of the documents or queries (`noun`) in files or a folder.

    answers: gets the answers of queries that have some. Raises ReadError and FormatError.
    """
    texts: dict[str, str] = {}
    for name, line, text_id, title, text, listed in titled_records(corpus, encoding, fields, noun):
        if text_id in texts:
            raise FormatError(name, line, f"duplicate {noun} {text_id!r:.60}")
        if listed is not None and answers is not None:
            answers[text_id] = listed
        texts[text_id] = joined(title, text)
    return list(texts), list(texts.values())


def joined(title: str | None, text: str | None) -> str:
    """The text to encode for a document with a title, as in BEIR, MTEB and others."""
    return f"{title or ''} {text or ''}".strip() if title else text or ""


def titled_records(
    corpus: Any, encoding: str = "utf-8", fields: Sequence[str] | None = None, noun: str = "query"
) -> Iterator[Record]:
    """The documents or queries (`noun`) of a file, of files, or of all files below a folder.

    A file of a folder may hold one text, of which its name without suffixes is the id. fields: the
    names whose texts make up the text, without a title; by default a title and a text. Raises
    ReadError and FormatError.
    """
    if isinstance(corpus, (list, tuple)) and not (corpus and isinstance(corpus[0], Mapping)):
        for source in corpus:
            yield from titled_records(source, encoding, fields, noun)
    elif not is_folder(corpus):
        yield from _records_of_one(corpus, encoding, fields, noun)
    elif is_saved(corpus):
        yield from _of_table(table_of(corpus), fields, noun)
    else:
        for path in _files_below(os.fspath(corpus)):
            if is_whole_text(path):
                text = read_all(path).decode(encoding, "surrogateescape")
                yield path, 1, _stem(path), "", text, None
            else:
                yield from _records_of_one(path, encoding, fields, noun)


def _files_below(top: str) -> list[str]:
    """The files below a folder, sorted by name. Raises ReadError."""
    paths = [
        os.path.join(folder, file)
        for folder, _, files in os.walk(top)
        for file in files
        if not file.startswith(".")
    ]
    if not paths:
        raise ReadError(top, "the folder contains no files")
    return sorted(paths)


def is_whole_text(path: str) -> bool:
    """Whether a file holds one text instead of records: by its suffix, else by its beginning."""
    if format_by_name(path) not in (None, "trec"):
        return False
    file, head = sniff.head_of(path)
    file.close()
    if sniff.is_parquet(head) or _RECORDS.match(head):
        return False
    lines = [line for line in head.split(b"\n")[:SOME_LINES] if line.strip()]
    tabs = {line.count(b"\t") for line in lines}
    ids = [line.partition(b"\t")[0] for line in lines]
    is_table = len(tabs) == 1 and tabs != {0} and not any(b" " in cell for cell in ids)
    return not is_table


def _stem(path: str) -> str:
    """The name of a file without its suffixes of compression and format."""
    name = os.path.basename(path)
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[0]


def _records_of_one(
    source: Any, encoding: str, fields: Sequence[str] | None, noun: str
) -> Iterator[Record]:
    """The records of a file or a table."""
    if not is_file(source):
        yield from _of_table(table_of(source, ragged=True, source="texts"), fields, noun)
        return
    file, head = sniff.head_of(source)
    name, content = file.name, head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if is_table(head, name):
        with file:
            table = table_of(sniff.in_memory(file.read(), name), NEEDED, ragged=True)
        yield from _of_table(table, fields, noun)
        return
    lines = lines_of(file, name, encoding)
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is None:
        raise FormatError(name, 1, "expected documents or queries, found only blanks")
    lines = chain([first], lines)
    if content.startswith(b"<"):
        for line, text_id, text in records_of(lines, name, fields):
            yield name, line, text_id, "", text, None
        return
    records = (objects_of if content.startswith(b"{") else _rows_of)(lines, name)
    for line, record in numbered(records) if noun == "query" else records:
        yield name, line, *_id_and_texts(record, name, line, fields), answers_in(record)


def is_table(head: bytes, name: str) -> bool:
    """Whether a file that begins so is read as a whole: JSON, CSV, parquet or Arrow.

    Other files are read line by line.
    """
    form, content = sniff.format_of_table(head), head.removeprefix(BYTE_ORDER_MARK).lstrip()
    line, newline, _ = content.partition(b"\n")
    if form == "json":
        # A line of JSON lines may be longer than the beginning.
        is_lines = format_by_name(name) == "jsonl" or not (newline or len(head) < HEAD)
        return content.startswith(b"[") or not is_lines
    if form == "csv":
        return is_header(sniff.cells_of(line.decode("utf-8", "replace"), form), NEEDED)
    return form in ("parquet", "arrow")


def _of_table(table: Table, fields: Sequence[str] | None, noun: str) -> Iterator[Record]:
    """The records of a table. Raises the table's errors."""
    records = enumerate(table.records())
    for row, record in numbered(records) if noun == "query" else records:
        try:
            parts = _id_and_texts(record, table.source, row, fields)
        except FormatError as error:
            table.refuse(row, error.reason)
        yield (
            table.source,
            row if table.rows is None else table.rows[row],
            *parts,
            answers_in(record),
        )


def objects_of(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line and object of a JSONL file. Raises FormatError."""
    for number, record in json_objects(lines, name):
        if not isinstance(record, dict):
            found = type(record).__name__
            raise FormatError(
                name, number, f"expected an object with an id and a text, found {found}"
            )
        yield number, record


def _rows_of(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line and cells by name of a TSV file, or of DPR's questions. Raises FormatError."""
    names: list[str] | None = None
    lines = iter(lines)
    for place, (number, line) in enumerate(lines):
        cells = line.split("\t")
        if not place:
            if is_question(line) or should_be_question(line):
                yield from questions_of(chain([(number, line)], lines), name)
                return
            lowered = [cell.strip().lower() for cell in cells]
            if {*lowered} & {*IDS} and {*lowered} & {*TEXTS, *TITLES}:
                names = lowered
                continue
            if len(cells) < 2:
                reason = "expected <DOC> or <top>, JSON, or an id, a tab and a text"
                raise FormatError(name, number, f"{reason}, found {line.strip()!r:.60}")
        if not line.strip():
            continue
        if names is None and is_question(line):
            reason = "expected an id and a text, as in the first line, found a question and answers"
            raise FormatError(name, number, reason)
        expected = names or ["id", "text"]
        if len(cells) != len(expected):
            reason = f"expected {len(expected)} cells ({', '.join(expected)})"
            raise FormatError(name, number, f"{reason}, found {len(cells)}")
        if names:
            # Files with a header may have quoted cells, like DPR's passages.
            cells = [_unquoted(cell) for cell in cells]
        yield number, dict(zip(expected, cells, strict=True))


def is_question(line: str) -> bool:
    """Whether a line has a question and a list of answers."""
    if not line.rstrip(' "').endswith("]"):
        return False
    try:
        return _answers(next(csv.reader([line], delimiter="\t"), [])) is not None
    except csv.Error:
        return False


def should_be_question(line: str) -> bool:
    """Whether a first line is a question with an invalid list of answers, not an id and a text."""
    question, tab, answers = line.partition("\t")
    answers = answers.lstrip(' "')
    # No id has a blank, and hardly a text begins like a list of str.
    return bool(tab) and answers.startswith("[" if " " in question.strip() else ("['", '["'))


def questions_of(
    lines: Iterable[tuple[int, str]], name: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line, question and answers of each record. Raises FormatError."""
    last = 0

    def texts() -> Iterator[str]:
        nonlocal last
        for last, line in lines:  # noqa: B007
            yield line

    # Not strict about quotes, as DPR reads the file.
    for cells in csv.reader(texts(), delimiter="\t"):
        answers = _answers(cells)
        if answers is not None:
            yield last, {"question": cells[0], "answers": answers}
        elif cells:
            raise FormatError(name, last, f"{QUESTION_LINE}, found {cells[-1]!r:.60}")


def numbered(records: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Records with an id: the number, from 0, of a question with answers but no id."""
    for place, (line, record) in enumerate(records):
        if record.keys() <= {"question", "answers"} and len(record) == 2:
            record = {"id": str(place), **record}
        yield line, record


def answers_in(record: Mapping[str, Any]) -> list[str] | None:
    """The answers of a query, or None if it has no list of them."""
    found = record.get("answers")
    if isinstance(found, list) and all(isinstance(answer, str) for answer in found):
        return found
    return None


def _answers(cells: list[str]) -> list[str] | None:
    """The answers in the second of two cells, or None if these are not a question and answers."""
    if len(cells) != 2 or cells[1].strip()[:1] != "[":
        return None
    try:
        return answers_in({"answers": ast.literal_eval(cells[1].strip())})
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _unquoted(cell: str) -> str:
    """A cell without CSV quotes; unchanged if quotes inside it are not doubled."""
    inner = cell[1:-1]
    if len(cell) < 2 or not cell[0] == cell[-1] == '"' or '"' in inner.replace('""', ""):
        return cell
    return inner.replace('""', '"')


def _id_and_texts(
    record: Mapping[str, Any], name: str, line: int, fields: Sequence[str] | None
) -> tuple[str, str, str]:
    """The id, the title and the text of a record."""
    key = find_name(record, IDS)
    if key is None:
        raise FormatError(name, line, _absent("an id", IDS, record))
    text_id = record[key]
    if isinstance(text_id, int) and not isinstance(text_id, bool):
        text_id = str(text_id)
    if not isinstance(text_id, str):
        raise FormatError(name, line, f"{key}: expected an id, found {text_id!r:.60}")
    if fields is not None:
        for field in fields:
            if field not in record:
                raise FormatError(name, line, _absent(f"{field!r}", fields, record))
        whole = " ".join(_text(record, field, name, line) for field in fields)
        return text_id, "", whole.strip()
    title, key = find_name(record, TITLES), find_name(record, TEXTS)
    if title is None and key is None:
        raise FormatError(name, line, _absent("a text", (*TEXTS, *TITLES), record))
    head = "" if title is None else _text(record, title, name, line)
    if key is None:
        return text_id, "", head.strip()
    return text_id, head, _text(record, key, name, line)


def find_name(names: Iterable[str], known: Sequence[str]) -> str | None:
    """The first known name that exists."""
    present = set(names)
    return next((name for name in known if name in present), None)


def _absent(what: str, known: Sequence[str], found: Iterable[str]) -> str:
    return f"expected {what} ({', '.join(known)}), found {', '.join(map(str, found)) or 'nothing'}"


def _text(record: Mapping[str, Any], field: str, name: str, line: int) -> str:
    text = record[field]
    if text is None:
        return ""
    if not isinstance(text, str):
        found = f"{type(text).__name__}: {text!r:.60}"
        raise FormatError(name, line, f"{field}: expected a str, found {found}")
    return text


def file_in(folder: str | os.PathLike[str], name: str) -> str:
    """The path of a file, which may be compressed. Raises ReadError."""
    path = _joined(os.fspath(folder), name)
    for ending in ("", *COMPRESSED):
        found = _joined(os.fspath(folder), name + ending)
        if exists(found):
            return found
    raise ReadError(name_of(path), "no such file or directory")


def _joined(folder: str, name: str) -> str:
    """The path or URL of a file in a folder."""
    if is_url(folder):
        from fastrank.core.formats.files.remote import with_suffix

        return with_suffix(folder, f"/{name}")
    return os.path.join(folder, name)


def split_of(folder: str | os.PathLike[str], split: str) -> str:
    """The path of the judgments of a split in BEIR's layout. Raises ReadError with all splits."""
    folder = _joined(os.fspath(folder), "qrels")
    try:
        return file_in(folder, f"{split}.tsv")
    except ReadError as error:
        present = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        splits = [file_name.partition(".tsv")[0] for file_name in present if ".tsv" in file_name]
        if not splits:
            raise
        reason = f"{error.reason}; available splits: {', '.join(splits)}"
        raise ReadError(error.path, reason) from None
