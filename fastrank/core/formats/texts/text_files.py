"""Read ids and texts from TREC SGML and topics, JSONL, TSV, parquet, and DPR's questions."""

from __future__ import annotations

import ast
import csv
import os
from itertools import chain

from fastrank.core.formats.files.files import exists
from fastrank.core.formats.files.source import is_url, name_of
from fastrank.core.formats.tables import sniff
from fastrank.core.formats.tables.records import load_json
from fastrank.core.formats.tables.sniff import COMPRESSED
from fastrank.core.formats.texts.sgml import records_of
from fastrank.core.formats.trec.line_files import lines_of
from fastrank.errors import FormatError, ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Record = tuple[int, str, str, str, list[str] | None]
    """Line, id, title ("" if there is none), text, and answers of a question."""

# The names of BEIR, Anserini, MS MARCO, ir_datasets, DPR and PyTerrier.
IDS = ("_id", "id", "docno", "doc_id", "docid", "pid", "qid", "query_id")
TITLES = ("title",)
TEXTS = ("text", "contents", "body", "content")
QUERIES = ("query", "question")
# DPR's questions: lines of a question, a tab, and a list of answers as Python writes it.
QUESTION_LINE = (
    "expected a question, a tab and a list of answers, such as ['Paris', 'Paris, France']"
)


def read_texts(
    sources: Sequence[Any],
    fields: Sequence[str] | None,
    encoding: str,
    what: str,
    answers: dict[str, list[str]] | None = None,
) -> tuple[list[str], list[str]]:
    """Ids, all distinct, and texts of the documents or queries (`what`) in some files.

    answers: gets the answers of queries that have some. Raises ReadError and FormatError.
    """
    ids: list[str] = []
    texts: list[str] = []
    known: set[str] = set()
    for source in sources:
        name = name_of(source)
        for line, text_id, title, text, found in titled_records(source, encoding, fields, what):
            if text_id in known:
                raise FormatError(name, line, f"duplicate {what} {text_id!r:.60}")
            if found is not None and answers is not None:
                answers[text_id] = found
            known.add(text_id)
            ids.append(text_id)
            texts.append(joined(title, text))
    return ids, texts


def joined(title: str | None, text: str | None) -> str:
    """The text to encode for a document with a title, as in BEIR, MTEB and others."""
    return f"{title or ''} {text or ''}".strip() if title else text or ""


def sources_of(corpus: Any) -> list[Any]:
    """The files of a corpus: the given ones, or all files below a folder, sorted by name."""
    if isinstance(corpus, (list, tuple)):
        return list(corpus)
    if isinstance(corpus, (str, os.PathLike)) and os.path.isdir(corpus):
        top: str = os.fspath(corpus)
        found = [
            os.path.join(folder, file)
            for folder, _, files in os.walk(top)
            for file in files
            if not file.startswith(".")
        ]
        if not found:
            raise ReadError(top, "the folder contains no files")
        return sorted(found)
    return [corpus]


def titled_records(
    source: Any, encoding: str = "utf-8", fields: Sequence[str] | None = None, what: str = "query"
) -> Iterator[Record]:
    """The documents or queries (`what`) of a file.

    fields: the names whose texts make up the text, without a title; by default a title and a text.
    Raises ReadError and FormatError.
    """
    name = name_of(source)
    start, records = _begun(source, name, encoding)
    if start == "<":
        for line, text_id, text in records_of(records, name, fields):
            yield line, text_id, "", text, None
        return
    for line, record in numbered(records) if what == "query" else records:
        yield line, *_id_and_texts(record, name, line, fields), answers_in(record)


def _begun(source: Any, name: str, encoding: str) -> tuple[str, Iterator[tuple[int, Any]]]:
    """The first character other than a blank, and numbered records, or lines for SGML."""
    file, head = sniff.head_of(source)
    if sniff.is_parquet(head):
        from fastrank.core.formats.tables.parquet import read_parquet

        with file:
            return "P", enumerate(read_parquet(file.read(), name).to_pylist(), 1)
    lines = lines_of(file, name, encoding)
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is None:
        raise FormatError(name, 1, "expected documents or queries, found only blanks")
    start, lines = first[1].lstrip()[0], chain([first], lines)
    if start == "<":
        return start, lines
    return start, (objects_of if start == "{" else _rows_of)(lines, name)


def objects_of(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line and object of a JSONL file. Raises FormatError."""
    for number, line in lines:
        if not line.strip():
            continue
        record = load_json(line, name, number)
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
            if {*lowered} & {*IDS} and {*lowered} & {*TEXTS, *QUERIES, *TITLES}:
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
    title, key = find_name(record, TITLES), find_name(record, (*TEXTS, *QUERIES))
    if title is None and key is None:
        raise FormatError(name, line, _absent("a text", (*TEXTS, *QUERIES, *TITLES), record))
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
