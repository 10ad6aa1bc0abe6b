"""Answer selection: labelled candidates of questions, as judgments, pairs and runs."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fastrank.common.messages import counted
from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import decoded
from fastrank.core.formats.files.source import BYTE_ORDER_MARK
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables import sniff
from fastrank.core.formats.tables.arrow_files import is_folder, is_saved
from fastrank.core.formats.tables.forms import is_file, is_list, is_missing
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.roles import (
    CANDIDATE_ROLES,
    check_mapping,
    find_columns,
    names_of,
)
from fastrank.core.formats.tables.table import Table
from fastrank.core.formats.tables.to_qrels import qrels_of
from fastrank.core.formats.tables.values import first_repeat
from fastrank.core.formats.tools.candidate_files import (
    MOVIEQA_COLUMNS,
    SUBTASKS,
    read_folder,
    read_movieqa,
    read_pairs,
    read_semeval,
)
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy.typing as npt

    from fastrank.core.formats.files.files import Source


class Candidates(Frozen):
    """Labelled candidates of questions, in the order of their table.

    queries, docs: the ids of the question and the candidate in each row. labels: the grade of each
    row, 0 for a wrong answer. question_texts, texts: the texts in each row, or None if the table
    contains only ids. qrels: the labels as judgments.

    >>> table = {
    ...     "question": ["What flows?", "What flows?", "Who sings?"],
    ...     "answer": ["A river.", "A rock.", "A stone."],
    ...     "label": [1, 0, 0],
    ... }
    >>> found = fr.read_candidates(table)
    >>> found
    <Candidates <dict>: 2 questions, 3 candidates, 1 question without an answer>
    >>> found.queries, found.docs
    (['Q1', 'Q1', 'Q2'], ['Q1-0', 'Q1-1', 'Q2-0'])
    """

    made_by = "fastrank.read_candidates"

    source: str
    queries: list[str]
    docs: list[str]
    qrels: Qrels
    question_texts: list[str] | None
    texts: list[str] | None

    @property
    def labels(self) -> npt.NDArray[Any]:
        """The label of each row, int64[rows] or float64[rows].

        >>> table = {"qid": [7, 7], "docno": ["b", "a"], "label": [0, 2]}
        >>> fr.read_candidates(table).labels.tolist()
        [0, 2]
        """
        import numpy

        known = self.qrels.to_dict()
        rows = zip(self.queries, self.docs, strict=True)
        return numpy.array([known[query][doc] for query, doc in rows])

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The question and the candidate text of each row, for cross-encoders.

        Raises InputError if the table has no texts.

        >>> table = {"question": ["What flows?"], "answer": ["A river."], "label": [1]}
        >>> fr.read_candidates(table).pairs
        [('What flows?', 'A river.')]
        """
        if self.question_texts is None or self.texts is None:
            lacking = "question" if self.question_texts is None else "candidate"
            raise InputError(self.source, f"no column contains the text of the {lacking}")
        return list(zip(self.question_texts, self.texts, strict=True))

    def run(self, scores: Any, *, tag: str | None = None, higher_is_better: bool = True) -> Run:
        """Create a run from a model's scores, which ranks the candidates of each question.

        scores: one number per row, in the order of the rows. tag, higher_is_better: as in
        `Run.from_dict`. Raises InputError for the wrong number of scores, and what
        `Run.from_arrays` raises.

        >>> table = {"qid": [7, 7], "sentence_id": ["a", "b"], "label": [0, 1]}
        >>> found = fr.read_candidates(table)
        >>> fr.evaluate(found.qrels, found.run([0.2, 0.9], tag="model"), "map recip_rank").mean
        {'map': 1.0, 'recip_rank': 1.0}
        """
        count = len(scores) if hasattr(scores, "__len__") else -1
        if count != len(self.docs):
            expected = f"expected {len(self.docs)} scores, one per candidate"
            found = f"{count} scores" if count >= 0 else type(scores).__name__
            raise InputError(self.source, f"{expected}, found {found}")
        return Run.from_arrays(
            self.queries, self.docs, scores, tag=tag, higher_is_better=higher_is_better
        )

    @property
    def unanswered(self) -> list[str]:
        """The ids of the questions without a correct candidate (label above 0), in order.

        >>> fr.read_candidates({"qid": [7, 8], "docno": ["a", "b"], "label": [0, 1]}).unanswered
        ['7']
        """
        offsets, grades = self.qrels.offset_column, self.qrels.grade_column
        return [
            decoded(query)
            for i, query in enumerate(self.qrels.queries)
            if all(grade <= 0 for grade in grades[offsets[i] : offsets[i + 1]])
        ]

    def __len__(self) -> int:
        return len(self.docs)

    def __repr__(self) -> str:
        counts = [
            counted(len(self.qrels), "question"),
            counted(len(self), "candidate"),
            f"{counted(len(self.unanswered), 'question')} without an answer",
        ]
        return f"<Candidates {self.source}: {', '.join(counts)}>"


def read_candidates(
    source: Source | Any, format: str | None = None, *, columns: Mapping[str, Any] | None = None
) -> Candidates:
    """Read labelled candidates of questions: WikiQA, TREC-QA, or a similar table.

    source: a CSV, TSV, JSON, JSONL, parquet or Arrow file, compressed or not; a pandas or polars
        frame, an Arrow table, a Hugging Face Dataset, a dict of columns or dicts. Each row has a
        question and a candidate (text, id or both) and a label, which is above 0 for a correct
        answer; or a question with a text or a list of texts in `positive` and in `negative`. Also
        TREC-QA as it is distributed: the file of tagged pairs (<QApairs id='1.1'>), whose tokens
        are joined with blanks, or the folder of a.toks, b.toks, sim.txt and id.txt. And the XML of
        SemEval's task 3 of 2016 and 2017; labels are 1 for Good, PerfectMatch and Relevant, as its
        scorer counts them. And MovieQA's qa.json, whose choices are candidates.
    format: csv, tsv, json, jsonl, parquet or qapairs; by default detected from the content. Quotes
        in TSV are ordinary characters, as in WikiQA. semeval-a (comments on a related question),
        semeval-b (related questions of an original one) or semeval-c (comments on these) for files
        of SemEval with original questions; the default is semeval-a in files without.
    columns: the names of the columns by role (question, question_id, candidate, candidate_id,
        label), or their numbers from 0 in a file without a header. Needed only for unusual names.
        Three columns without a header are question, candidate and label.

    Questions without ids are named Q1, Q2, ... in order, with equal texts as one question.
    Candidates without ids are named <question>-0, <question>-1, ... in order, or in the folder of
    TREC-QA 0, 1, ... across all questions. These ids break ties.

    Raises ReadError, FormatError and InputError, which name the row or line, for example for a
    question id with two texts, a duplicate candidate, or a label that is not a number; only the
    cells of CSV and TSV are text that is read as numbers.

    >>> import io
    >>> lines = (
    ...     b"QuestionID\\tQuestion\\tDocumentID\\tDocumentTitle\\tSentenceID\\tSentence\\tLabel\\n"
    ...     b"Q1\\thow are caves formed?\\tD1\\tCave\\tD1-0\\tBy water.\\t1\\n"
    ...     b"Q1\\thow are caves formed?\\tD1\\tCave\\tD1-1\\tBears live there.\\t0\\n"
    ... )
    >>> found = fr.read_candidates(io.BytesIO(lines))
    >>> found.qrels.to_dict()
    {'Q1': {'D1-0': 1, 'D1-1': 0}}
    >>> found.pairs[1]
    ('how are caves formed?', 'Bears live there.')
    """
    if format is not None and format not in FORMATS:
        expected = ", ".join(FORMATS)
        raise InputError("format", f"expected one of {expected}, found {format!r}")
    return _candidates(_table(source, format, columns), columns)


FORMATS = ("csv", "tsv", "json", "jsonl", "parquet", "qapairs", *SUBTASKS)
GROUPED_ROLES = (*CANDIDATE_ROLES, "positive", "negative")
THREE_CELLS = ("question", "candidate", "label")


def _table(source: Any, format: str | None, columns: Mapping[str, Any] | None) -> Table:
    check_mapping(columns, "read_candidates")
    form = format
    if is_folder(source):
        if not is_saved(source):
            return read_folder(os.fspath(source))
    elif is_file(source):
        source, head = sniff.head_of(source)
        form = format or _format_of(head)
        if form in ("qapairs", "semeval", *SUBTASKS):
            with source:
                content = source.read()
            if form == "qapairs":
                return read_pairs(content, source.name)
            return read_semeval(content, source.name, format)
    roles = (CANDIDATE_ROLES[:2], (*CANDIDATE_ROLES[2:4], "positive"))
    table = table_of(source, roles, columns, form, cells=THREE_CELLS, quoted=False, ragged=True)
    if set(MOVIEQA_COLUMNS) <= set(table.names):
        return read_movieqa(table)
    return table if columns else _ungrouped(table)


def _ungrouped(table: Table) -> Table:
    """A row for each candidate of a table with lists of positives and of negatives, labels 1 and 0.

    Any other table is returned as it is. Raises the table's errors.
    """
    indexes = find_columns(table.names, GROUPED_ROLES, None, table.source, needed=())
    is_grouped = "question" in indexes and "positive" in indexes
    if not is_grouped or not indexes.keys().isdisjoint(CANDIDATE_ROLES[2:]):
        return table
    names = {role: table.names[index] for role, index in indexes.items()}
    cells = {role: table.values(name) for role, name in names.items()}
    questions = [role for role in CANDIDATE_ROLES[:2] if role in cells]

    def items() -> Iterator[tuple[int, tuple[Any, ...]]]:
        for row in range(table.size):
            for label, role in ((1, "positive"), (0, "negative")):
                cell = cells[role][row] if role in cells else None
                texts: Any = cell if is_list(cell) else [] if is_missing(cell) else [cell]
                for text in texts:
                    if not isinstance(text, str):
                        reason = f"expected a text, found {type(text).__name__}: {text!r:.60}"
                        table.refuse(row, f"column {names[role]!r}: {reason}")
                    yield row, (*(cells[name][row] for name in questions), text, label)

    return table.exploded((*questions, "candidate", "label"), items())


def _format_of(head: bytes) -> str:
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if text.startswith(b"<QApairs"):
        return "qapairs"
    if text.startswith((b"<?xml", b"<root", b"<xml")):
        return "semeval"
    return sniff.format_of_table(head)


def _candidates(table: Table, columns: Mapping[str, Any] | None) -> Candidates:
    found = find_columns(table.names, CANDIDATE_ROLES, columns, table.source)
    for text, id_column in (("question", "question_id"), ("candidate", "candidate_id")):
        if text not in found and id_column not in found:
            known = ", ".join((*names_of(text), *names_of(id_column)))
            names = ", ".join(map(repr, table.names))
            raise InputError(
                table.source, f"no {text} column: found {names}, expected one of {known}"
            )
    texts = {role: table.texts(place).decoded() for role, place in found.items() if role != "label"}
    questions = texts.get("question")
    ids: dict[str, str] = {}
    queries = texts.get("question_id") or [
        ids.setdefault(question, f"Q{len(ids) + 1}") for question in questions or []
    ]
    if questions is not None:
        _check_texts(table, queries, questions)
    docs = texts.get("candidate_id") or _placed(queries)
    row = first_repeat(zip(queries, docs, strict=True))
    if row >= 0:
        table.refuse(row, f"question {queries[row]!r}: duplicate candidate {docs[row]!r}")
    return Candidates(
        source=table.source,
        queries=queries,
        docs=docs,
        question_texts=questions,
        texts=texts.get("candidate"),
        qrels=_qrels(table, queries, docs, found["label"]),
    )


def _qrels(table: Table, queries: list[str], docs: list[str], place: int) -> Qrels:
    """The judgments; errors name the rows and the column of the table."""
    names = ["<question>", "<candidate>", table.names[place]]
    columns = [queries, docs, table.numbers(place)]
    judgments = Table(table.source, names, columns, rows=table.rows, unit=table.unit)
    judgments.is_file = False
    return qrels_of(judgments, dict(zip(("query", "doc", "grade"), names, strict=True)))


def _placed(queries: list[str]) -> list[str]:
    counts: dict[str, int] = {}
    docs = []
    for query in queries:
        place = counts[query] = counts.get(query, -1) + 1
        docs.append(f"{query}-{place}")
    return docs


def _check_texts(table: Table, queries: list[str], questions: list[str]) -> None:
    known: dict[str, str] = {}
    for row, (query, question) in enumerate(zip(queries, questions, strict=True)):
        other = known.setdefault(query, question)
        if other != question:
            table.refuse(
                row,
                f"expected one text for question {query!r}, found {other!r:.60} and"
                f" {question!r:.60}",
            )
