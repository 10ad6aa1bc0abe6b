"""Questions with answers in the files of SQuAD, HotpotQA and InsuranceQA."""

from __future__ import annotations

import warnings

from fastrank.common.messages import counted
from fastrank.core.formats.files.source import name_of, open_source
from fastrank.core.formats.inputs import is_file
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.records import load_json
from fastrank.core.formats.tools.candidates import Candidates, read_candidates
from fastrank.core.formats.tools.question_files import pairs_of
from fastrank.core.formats.trec.line_files import lines_of
from fastrank.errors import FormatError, InputError
from fastrank.vectors.datasets.assembly import assemble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from fastrank.core.formats.files.files import Source
    from fastrank.vectors.datasets.dataset import Dataset

KINDS: dict[Any, str] = {str: "text", list: "list", dict: "object", int: "number"}


def from_squad(source: Any, name: str | None) -> Dataset:
    """See Dataset.from_squad."""
    with open_source(source) as file:
        name = name or file.name
        content = load_json(file.read(), file.name)
    documents: dict[str, str] = {}
    queries: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    answers: dict[str, list[str]] = {}
    for doc_id, context, questions in _paragraphs(content, name):
        documents[doc_id] = context
        for here, asked in questions:
            query = asked["id"]
            queries[query] = _of(asked, "question", str, name, here).strip()
            texts = [
                _of(answer, "text", str, name, f"{here}.answers")
                for answer in _of(asked, "answers", list, name, here)
            ]
            # SQuAD 2.0 has questions that the paragraph does not answer.
            if texts:
                answers[query] = list(dict.fromkeys(texts))
                qrels[query] = {doc_id: 1}
    return assemble(
        name,
        list(documents),
        list(documents.values()),
        list(queries),
        list(queries.values()),
        qrels,
        answers=answers or None,
    )


def squad_spans(source: Source) -> dict[str, list[Any]]:
    """The places of the answers in a file of SQuAD 1.1 or 2.0, as columns of spans.

    Returns the columns `query`, `document` (the paragraph, named as by `Dataset.from_squad`),
    `start`, `end` (characters, as in Python) and `evidence`: all places of a question are answers
    of several people, of which one suffices, so that they have the same name, the question's id.
    Each place is given once. Questions without answers have none. Raises ReadError, FormatError,
    and InputError, which names the object, for example if a text is not at its place.

    >>> import io
    >>> file = io.BytesIO(
    ...     b'{"data": [{"title": "Lyon", "paragraphs": [{"context": "Lyon is in France.",'
    ...     b'"qas": [{"id": "q", "question": "Where is Lyon?", "answers": [{"text": "France",'
    ...     b'"answer_start": 11}]}]}]}], "version": "1.1"}'
    ... )
    >>> from fastrank.datasets import squad_spans
    >>> squad_spans(file)
    {'query': ['q'], 'document': ['Lyon-0'], 'start': [11], 'end': [17], 'evidence': ['q']}
    """
    with open_source(source) as file:
        name, content = file.name, load_json(file.read(), file.name)
    rows: dict[tuple[Any, ...], None] = {}
    for doc_id, context, questions in _paragraphs(content, name):
        for here, asked in questions:
            query = asked["id"]
            for a, answer in enumerate(_of(asked, "answers", list, name, here)):
                location = f"{here}.answers[{a}]"
                text = _of(answer, "text", str, name, location)
                start = _of(answer, "answer_start", int, name, location)
                end = start + len(text)
                if start < 0 or not text or context[start:end] != text:
                    reason = f"expected {text!r:.60} at character {start}"
                    raise InputError(
                        name, f"{location}: {reason}, found {context[max(start, 0) : end]!r:.60}"
                    )
                rows[query, doc_id, start, end, query] = None
    return _columns(rows, "evidence")


def hotpot_spans(source: Any, *, split: str | None = None) -> dict[str, list[Any]]:
    """The places of the supporting facts of HotpotQA, as columns of spans.

    source: the JSON file, or a table of the Hugging Face Hub: `supporting_facts` and `context`.
    split: of a DatasetDict.

    Returns the columns `query`, `document` (the title), `start` and `end`. A document is its
    sentences, joined without anything between them; each fact is a sentence, without the blanks
    around it, and a piece of evidence of its own. The published files have facts with the number of
    a sentence that their paragraph lacks: these, and those of empty sentences, are left out with a
    warning that counts them. Raises ReadError, FormatError, and InputError, which names the record.

    >>> from fastrank.datasets import hotpot_spans
    >>> context = [["Lyon", ["Lyon is a city.", " It is in France."]]]
    >>> hotpot_spans([{"_id": "q", "supporting_facts": [["Lyon", 1]], "context": context}])
    {'query': ['q'], 'document': ['Lyon'], 'start': [16], 'end': [32]}
    """
    name = name_of(source) if is_file(source) else "<records>"
    table = table_of(source, None, split=split, ragged=True, source=name)
    rows: dict[tuple[Any, ...], None] = {}
    absent: list[str] = []
    query_ids: set[str] = set()
    for number, record in enumerate(table.records(), 1):
        where = f"record {number}"
        query = _of(record, "_id" if "_id" in record else "id", str, name, where)
        _new(query, query_ids, name, where)
        paragraphs: dict[str, list[str]] = {}
        try:
            facts = list(pairs_of(record.get("supporting_facts"), "title", "sent_id"))
            for title, sentences in pairs_of(record.get("context"), "title", "sentences"):
                if not isinstance(sentences, list) or any(
                    type(item) is not str for item in sentences
                ):
                    raise ValueError(f" of {title!r:.60}: expected a list of sentences")
                if paragraphs.setdefault(title, sentences) != sentences:
                    raise ValueError(f": two paragraphs have the title {title!r:.60}")
        except ValueError as error:
            raise InputError(name, f"{where}, context and supporting_facts{error}") from None
        for title, sentence in facts:
            if title not in paragraphs:
                raise InputError(name, f"{where}: no paragraph of the context is {title!r:.60}")
            sentences = paragraphs[title]
            if not isinstance(sentence, int):
                reason = f"expected the number of a sentence of {title!r:.60}, found {sentence!r}"
                raise InputError(name, f"{where}: {reason}")
            if not 0 <= sentence < len(sentences) or not sentences[sentence].strip():
                absent.append(f"{where}, sentence {sentence} of {title!r:.60}")
                continue
            text = sentences[sentence]
            start = sum(map(len, sentences[:sentence])) + len(text) - len(text.lstrip())
            rows[query, title, start, start + len(text.strip())] = None
    if absent:
        count = counted(len(absent), "fact is", "facts are")
        reason = "whose sentence is empty or does not exist"
        warnings.warn(f"{name}: {count} left out, {reason}: the first is {absent[0]}", stacklevel=2)
    return _columns(rows)


def _columns(rows: Iterable[tuple[Any, ...]], *more: str) -> dict[str, list[Any]]:
    names = ("query", "document", "start", "end", *more)
    return {name: [row[column] for row in rows] for column, name in enumerate(names)}


def _paragraphs(content: Any, name: str) -> Iterator[tuple[str, str, list[tuple[str, Any]]]]:
    """The id, the text and the questions, each with its place, of each paragraph of SQuAD.

    Raises InputError.
    """
    if not isinstance(content, dict):
        raise InputError(name, f"expected an object with 'data', found {type(content).__name__}")
    documents: set[str] = set()
    query_ids: set[str] = set()
    for a, article in enumerate(_of(content, "data", list, name, "")):
        location = f"data[{a}]"
        title = _of(article, "title", str, name, location)
        for p, paragraph in enumerate(_of(article, "paragraphs", list, name, location)):
            where = f"{location}.paragraphs[{p}]"
            doc_id = f"{title}-{p}" if f"{title}-{p}" not in documents else f"{title}-{a}-{p}"
            documents.add(doc_id)
            asked = enumerate(_of(paragraph, "qas", list, name, where))
            questions = [(f"{where}.qas[{q}]", question) for q, question in asked]
            for here, question in questions:
                _new(_of(question, "id", str, name, here), query_ids, name, here)
            yield doc_id, _of(paragraph, "context", str, name, where), questions


def _new(query: str, query_ids: set[str], name: str, location: str) -> None:
    """Raise InputError for the id of another question."""
    if query in query_ids:
        raise InputError(name, f"{location}: duplicate id {query!r:.60}")
    query_ids.add(query)


def _of(record: Any, key: str, kind: type, name: str, location: str) -> Any:
    """A field of an object. Raises InputError."""
    value = record.get(key) if isinstance(record, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        description = ", ".join(record) if isinstance(record, dict) else repr(record)
        description = (
            type(value).__name__ if isinstance(record, dict) and key in record else description
        )
        prefix = f"{location}: " if location else ""
        raise InputError(
            name, f"{prefix}expected {key!r}, a {KINDS[kind]}, found {description:.60}"
        )
    return value


EXPECTED_CELLS = (
    "expected right answers, question and pool (version 1), question and right answers (its"
    " training data), or domain, question, right answers and pool (version 2), with tabs"
)


def read_insurance_qa(questions: Source, answers: Source, vocabulary: Source) -> Candidates:
    """Read the candidates of InsuranceQA, version 1 or 2.

    questions: `question.(dev|test1|test2).label.token_idx.pool` of version 1, or
        `InsuranceQA.question.anslabel.*.pool.*.encoded` of version 2. The candidates of a question
        are its pool, in which right answers have the label 1. Files without pools, such as
        `question.train.token_idx.label`, have right answers only.
    answers: `answers.label.token_idx`, or `InsuranceQA.label2answer.*.encoded`.
    vocabulary: the words of the tokens `idx_1`, `idx_2`, ...

    Files may be compressed. Questions are named Q1, Q2, ... by line, and candidates by their number
    in `answers`. Raises ReadError, and FormatError with file and line.

    >>> import io
    >>> from fastrank.datasets import read_insurance_qa
    >>> words = io.BytesIO(b"idx_1\\twhat\\nidx_2\\tinsurance\\nidx_3\\tthis\\n")
    >>> answers = io.BytesIO(b"1\\tidx_3\\n2\\tidx_3 idx_2\\n")
    >>> found = read_insurance_qa(io.BytesIO(b"2\\tidx_1 idx_2\\t1 2\\n"), answers, words)
    >>> found.pairs, found.labels.tolist()
    ([('what insurance', 'this'), ('what insurance', 'this insurance')], [0, 1])
    """
    words = dict(_pairs(vocabulary, None))
    texts = dict(_pairs(answers, words))
    columns: dict[str, list[Any]] = {
        key: [] for key in ("question_id", "question", "candidate_id", "candidate", "label")
    }
    name = name_of(questions)
    for line, text in lines_of(questions, name, "utf-8"):
        if not text.strip():
            continue
        right, question, pool = _parts(text.split("\t"), name, line)
        asked = _decoded(question, words, name, line)
        for candidate in dict.fromkeys(pool):
            if candidate not in texts:
                raise FormatError(name, line, f"no answer has the number {candidate!r:.60}")
            row = (f"Q{line}", asked, candidate, texts[candidate], int(candidate in right))
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    if not columns["label"]:
        raise InputError(name, "expected questions with candidates, found none")
    return read_candidates(columns).changed(source=name)


def _parts(cells: list[str], name: str, line: int) -> tuple[list[str], str, list[str]]:
    """Right answers, question and pool of a line."""
    columns = {2: (1, 0, 1), 3: (0, 1, 2), 4: (2, 1, 3)}
    if len(cells) == 3 and cells[0].strip() and not cells[0].replace(" ", "").isdecimal():
        # Version 2 without pools: domain, question, right answers.
        columns[3] = (2, 1, 2)
    if len(cells) not in columns:
        raise FormatError(name, line, f"{EXPECTED_CELLS}, found {len(cells)} cells")
    right, question, pool = (cells[column] for column in columns[len(cells)])
    for numbers in (right, pool):
        if not numbers.replace(" ", "").isdecimal():
            raise FormatError(
                name, line, f"{EXPECTED_CELLS}, found {numbers!r:.60} as numbers of answers"
            )
    return right.split(), question, pool.split()


def _pairs(source: Source, words: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    """Key and text of each line; words: to decode the text."""
    name = name_of(source)
    for line, text in lines_of(source, name, "utf-8"):
        key, tab, value = text.partition("\t")
        if not tab and text.strip():
            raise FormatError(name, line, f"expected two cells with a tab, found {text!r:.60}")
        if tab:
            yield key, value if words is None else _decoded(value, words, name, line)


def _decoded(tokens: str, words: Mapping[str, str], name: str, line: int) -> str:
    for token in tokens.split():
        if token not in words:
            raise FormatError(name, line, f"no word in the vocabulary for {token!r:.60}")
    return " ".join(words[token] for token in tokens.split())
