"""Read spans and chunks: places in documents, in tables of any form."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate

import numpy as np

from fastrank.analysis.spans.stretches import MOST, number_texts
from fastrank.common.messages import counted, first_few, visible
from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import Texts, decoded
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.records import load_json
from fastrank.core.formats.tables.roles import CHUNK_ROLES, SPAN_ROLES, find_columns
from fastrank.core.formats.tables.table import Table, first_empty
from fastrank.core.formats.tables.values import first_repeat, grades_of, integers_of
from fastrank.core.formats.texts.lookup import Lookup, lookup
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.common.arrays import Integers
    from fastrank.core.formats.tables.table import Table
    from fastrank.core.formats.texts.lookup import Lookup, TextsLike

    SpansLike = Any
    """Spans: see `fastrank.spans.read_spans`."""
    ChunksLike = Any
    """Chunks: see `fastrank.spans.read_chunks`."""

# How many texts an error names.
NAMED = 20


def texts_of_rows(table: Table, names: Sequence[str], texts: TextsLike) -> list[str]:
    """The text of the document of each row. Raises the table's errors, and what `lookup` raises."""
    find = texts if isinstance(texts, Lookup) else lookup_of(texts)
    wholes = []
    for row, name in enumerate(names):
        try:
            wholes.append(find(name)[1])
        except InputError as error:
            table.refuse(row, str(error))
    return wholes


def lookup_of(texts: TextsLike) -> Lookup:
    """The texts of documents, whose characters are those of the files."""
    return lookup(texts, "corpus", name="texts", strip=False)


def find_places(
    table: Table, names: Sequence[str], texts: Sequence[object], documents: Sequence[str]
) -> tuple[list[int], list[int]]:
    """Where each text is in its document, exactly or else with all blanks alike: starts, ends.

    names: of the rows, for messages. Raises InputError, which lists the texts that are not found,
    and those found more than once.
    """
    spans: list[tuple[int, int]] = []
    wrong: dict[str, list[str]] = {"not found in": [], "found more than once in": []}
    folded: dict[str, _Folded] = {}
    for row, (text, document) in enumerate(zip(texts, documents, strict=True)):
        if not isinstance(text, str) or not text.strip():
            table.refuse(row, f"expected a text, found {text!r:.60}")
        matches = _first_two(text, document)
        if not matches:
            if document not in folded:
                folded[document] = _Folded(document)
            matches = folded[document].first_two(text)
        if len(matches) == 1:
            spans += matches
        else:
            problem = "found more than once in" if matches else "not found in"
            wrong[problem].append(f"{names[row]!r:.60} ({text!r:.40})")
    problems = [
        f"{counted(len(rows), 'text')} {problem} the document: {first_few(rows, NAMED, count=True)}"
        for problem, rows in wrong.items()
        if rows
    ]
    if problems:
        advice = "give the places of these as start and end"
        raise InputError(table.source, f"{'; '.join(problems)}; {advice}")
    return [start for start, _ in spans], [end for _, end in spans]


class _Folded:
    """A document with one blank between words, and where each of these was."""

    def __init__(self, document: str) -> None:
        words = list(re.finditer(r"\S+", document))
        self._text = " ".join(word.group() for word in words)
        self._starts = [word.start() for word in words]
        self._folded = list(
            accumulate((word.end() - word.start() + 1 for word in words), initial=0)
        )

    def first_two(self, text: str) -> list[tuple[int, int]]:
        """The first two places in the document of a text with its blanks folded."""
        matches = _first_two(" ".join(text.split()), self._text)
        return [(self._place(start), self._place(end - 1) + 1) for start, end in matches]

    def _place(self, offset: int) -> int:
        word = bisect_right(self._folded, offset) - 1
        return self._starts[word] + offset - self._folded[word]


def _first_two(text: str, document: str) -> list[tuple[int, int]]:
    """The first two places of a text, which may overlap."""
    first = document.find(text)
    second = document.find(text, first + 1) if first >= 0 else -1
    return [(start, start + len(text)) for start in (first, second) if start >= 0]


# The column of the chunking benchmark with all spans of a question.
REFERENCES = "references"


class Places(Frozen):
    """Rows of places: characters starts[i]:ends[i] of documents[i]. table: for messages."""

    table: Table
    documents: Texts
    starts: Integers
    ends: Integers

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"<{kind} {visible(self.table.source)}: {counted(len(self), kind.lower()[:-1])}>"


class Spans(Places):
    """The evidence of queries.

    evidence: the name of the piece of information in each row, empty if it has none. pieces: the
    number of the piece, the same for spans of a query with the same name.
    """

    made_by = "fastrank.spans.read_spans"

    queries: Texts
    grades: Any
    evidence: list[str]
    pieces: Integers


class Chunks(Places):
    """The chunks of documents. tokens: the number in each, or None. pages: or None."""

    made_by = "fastrank.spans.read_chunks"

    ids: Texts
    pages: Texts | None
    tokens: Integers | None


def read_spans(given: SpansLike, texts: TextsLike | Lookup | None = None) -> Spans:
    """Read spans, the places in documents that are evidence for queries.

    given: a CSV, TSV, JSON, JSONL or parquet file, a pandas or polars DataFrame, an Arrow table, a
        dict of columns or a list of dicts, with `query`, `document`, `start` and `end`, and
        optionally `grade` (1 by default) and `evidence`: spans of a query with the same name carry
        the same information, so that any one suffices. Places are characters, `text[start:end]` in
        Python. Other columns are ignored. Or the questions of the chunking benchmark, a CSV or JSON
        file with `question`, `references` and `corpus_id`, which are named by number from 0.
    texts: of the documents: {id: text}, a Dataset, a folder with a file for each document, or a
        file, files or a folder in the formats of `Dataset.from_files`. With them, places are
        checked; and instead of `start` and `end` there may be a column `text`, which is looked for
        in the document, exactly, then with all blanks alike.

    Spans may overlap. Raises ReadError, FormatError and InputError, which name the row: for a place
    that is reversed, empty, or outside of its document; for a text that is not in its document, or
    more than once; for a negative grade, or an unknown document.

    >>> import io
    >>> fr.spans.read_spans(io.BytesIO(b"query,document,start,end\\nq1,a,0,9\\nq1,b,40,52\\n"))
    <Spans <file object>: 2 spans>
    >>> found = fr.spans.read_spans(
    ...     [{"query": "q1", "document": "a", "text": "two three"}], {"a": "one two\\nthree"}
    ... )
    >>> found.starts.tolist(), found.ends.tolist()
    ([4], [13])
    """
    if isinstance(given, Spans):
        return given
    table = table_of(given, (("query", "question"), ("document",)))
    return spans_of(_of_references(table) if REFERENCES in table.names else table, texts)


def spans_of(table: Table, texts: TextsLike | Lookup | None = None) -> Spans:
    """The spans of a table; texts and errors as in `read_spans`."""
    columns = find_columns(
        table.names, SPAN_ROLES, None, table.source, optional=("grade",), call=""
    )
    fields, queries = _places(table, columns, "query", texts), _ids(table, columns["query"])
    count = len(queries)
    grades: Any = np.ones(count, np.int64)
    if "grade" in columns:
        fail = table.failing(columns["grade"])
        codes, scale = grades_of(table.numbers(columns["grade"]), fail)
        grades = np.asarray(codes) if scale is None else scale.grades(codes)
        if (grades < 0).any():
            fail(int((grades < 0).argmax()), f"expected 0 or more, found {grades.min()}")
    evidence = [""] * count
    if "evidence" in columns:
        # Missing values mean that there is no name.
        values = table.values(table.names[columns["evidence"]])
        evidence = ["" if value is None or value != value else str(value) for value in values]
    names: dict[object, int] = {}
    pieces = [
        names.setdefault((query, piece) if piece else row, len(names))
        for row, (query, piece) in enumerate(zip(queries, evidence, strict=True))
    ]
    return Spans(
        **fields, queries=queries, grades=grades, evidence=evidence, pieces=np.array(pieces)
    )


def read_chunks(given: ChunksLike, texts: TextsLike | Lookup | None = None) -> Chunks:
    """Read the places of chunks in documents.

    given: as in `read_spans`, with `chunk` (the id), `document`, `start` and `end` or `text`, and
        optionally `page` and `tokens` (the number in the chunk). Chunks may overlap.
    texts: as in `read_spans`.

    Raises what `read_spans` raises, and an error for an id that occurs twice.

    >>> fr.spans.read_chunks(
    ...     [{"id": "c1", "document": "a", "text": "three four"}], {"a": "one two  three\\nfour"}
    ... ).ends.tolist()
    [19]
    """
    if isinstance(given, Chunks):
        return given
    table = table_of(given, (("chunk",), ("document",)))
    columns = find_columns(table.names, CHUNK_ROLES, None, table.source, call="")
    ids, tokens = _ids(table, columns["chunk"]), None
    (codes,), distinct = number_texts(ids)
    if len(distinct) < len(ids):
        row = first_repeat(codes.tolist())
        table.refuse(row, f"the chunk {decoded(ids[row])!r:.60} occurs twice")
    if "tokens" in columns:
        tokens = _integers(table, columns["tokens"], "number")
        if (tokens < 0).any():
            table.refuse(int((tokens < 0).argmax()), "expected 0 tokens or more")
    pages = _ids(table, columns["page"]) if "page" in columns else None
    return Chunks(**_places(table, columns, "chunk", texts), ids=ids, pages=pages, tokens=tokens)


def _ids(table: Table, column: int) -> Texts:
    texts = table.texts(column)
    if not len(texts):
        raise InputError(table.source, "no rows")
    if (row := first_empty(texts)) >= 0:
        table.failing(column)(row, "expected an id, found an empty text")
    return texts


def _integers(table: Table, column: int, noun: str) -> Integers:
    numbers = np.asarray(integers_of(table.numbers(column), noun, table.failing(column)))
    if (numbers > MOST).any():
        row = int((numbers > MOST).argmax())
        table.failing(column)(row, f"expected a {noun} of at most {MOST}, found {numbers[row]}")
    return numbers


def _places(
    table: Table, columns: Mapping[str, int], role: str, texts: TextsLike | Lookup | None
) -> dict[str, Any]:
    """The fields of Places. role: of the column with what names a row in messages."""
    documents = _ids(table, columns["document"])
    names = documents.decoded()
    content = table.values(table.names[columns["content"]]) if "content" in columns else None
    wholes = None if texts is None else texts_of_rows(table, names, texts)
    if "start" in columns and "end" in columns:
        starts, ends = (_integers(table, columns[side], "place") for side in ("start", "end"))
        wrong = (starts < 0) | (ends <= starts)
        if wrong.any():
            row = int(wrong.argmax())
            table.refuse(row, f"expected 0 <= start < end, found {starts[row]} and {ends[row]}")
        if wholes is not None:
            _check_texts(table, zip(starts, ends, names, wholes, strict=True), content)
    elif content is None or wholes is None or "start" in columns or "end" in columns:
        listed = ", ".join(map(repr, table.names))
        expected = "expected columns start and end, or text and the texts of documents (texts=)"
        raise InputError(table.source, f"no places: {expected}, found {listed}")
    else:
        ids = table.texts(columns[role]).decoded()
        starts, ends = map(np.array, find_places(table, ids, content, wholes))
    return {"table": table, "documents": documents, "starts": starts, "ends": ends}


def _check_texts(table: Table, rows: Any, content: Any) -> None:
    """Refuse places outside of their document, or with other text than that of the row."""
    for row, (start, end, name, whole) in enumerate(rows):
        there, row_text = whole[start:end], content[row] if content is not None else None
        if end > len(whole):
            reason = f"place {start}:{end} is outside of document {name!r:.60}, of {len(whole)}"
            table.refuse(row, f"{reason} characters")
        if row_text is not None and row_text != there:
            reason = (
                f"document {name!r:.60} has {there!r:.60} at {start}:{end}, not {row_text!r:.60}"
            )
            table.refuse(row, f"{reason}; are places counted in characters?")


def _of_references(table: Table) -> Table:
    """A row for each of the references of the questions of the chunking benchmark."""
    columns = find_columns(
        table.names, ("query", "document"), None, table.source, optional=("query",), call=""
    )
    documents = table.texts(columns["document"]).decoded()
    queries = (
        table.texts(columns["query"]).decoded() if "query" in columns else range(len(documents))
    )
    keys = ("start_index", "end_index", "content")

    def items() -> Iterator[tuple[int, tuple[Any, ...]]]:
        for row, references in enumerate(table.values(REFERENCES)):
            try:
                is_text = isinstance(references, str)
                listed = load_json(references, table.source) if is_text else references
            except FormatError as error:
                table.refuse(row, f"{REFERENCES}: {error.reason}")
            if not isinstance(listed, list) or not listed:
                expected = f"expected a list of places, found {references!r:.60}"
                table.refuse(row, f"{REFERENCES}: {expected}")
            for reference in listed:
                if not isinstance(reference, dict) or not reference.keys() >= set(keys):
                    expected = f"expected objects with {', '.join(keys)}"
                    table.refuse(row, f"{REFERENCES}: {expected}, found {reference!r:.60}")
                yield row, (queries[row], documents[row], *(reference[key] for key in keys))

    return table.exploded(("query_id", "document_id", "start", "end", "text"), items())
