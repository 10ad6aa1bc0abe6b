"""Compare a run with judgments: queries and documents that one lacks or spells differently."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastrank.analysis.checking.findings import Collector, quoted
from fastrank.analysis.checking.rows import Rows
from fastrank.common.messages import counted, did_you_mean
from fastrank.core.data.texts import interning, spans
from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import zeros
from fastrank.core.scores.text import treated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.common.arrays import Integers

# How many results to compare for a shift of their integer ids.
SAMPLE = 10_000


class FileRows(NamedTuple):
    """The rows of a file, the first line of each query, and the file's name for messages."""

    rows: Rows
    first_lines: Integers
    file: str

    def where(self, line: Any) -> str:
        """A line of the file, for messages."""
        if self.rows.unit == "line":
            return f"{self.file}:{int(line)}"
        return f"{self.file}, {self.rows.where(line)}"


def check_match(judged: FileRows, run: Rows, findings: Collector) -> None:
    """Check a run against judgments."""
    if not len(run) or not len(judged.rows):
        return
    numbers = {query: number for number, query in enumerate(judged.rows.queries)}
    judged_numbers = np.array([numbers.get(query, -1) for query in run.queries], dtype=np.int64)
    missing = np.ones(len(numbers), dtype=bool)
    missing[judged_numbers[judged_numbers >= 0]] = False
    similar = _similar_queries(judged.rows, run, judged_numbers, missing)
    if missing.all() and run.empty.isdisjoint(numbers):
        _note_no_query(judged, run, similar, findings)
        return
    _check_unknown(judged, run, judged_numbers, similar, findings)
    _check_missing(judged, run, missing, findings)
    if missing.all():
        return
    judgment_rows = _look_up(run.columns, judged_numbers, judged.rows.columns)
    if (judgment_rows < 0).all():
        _note_no_document(judged, run, judged_numbers, findings)
    else:
        most = np.maximum.reduceat(judgment_rows, run.offsets[:-1])
        none = np.flatnonzero((judged_numbers >= 0) & (most < 0))
        words = f"has no judged results in {judged.file}"
        findings.add_queries(
            "unjudged-query",
            run,
            none,
            lambda number: f"query {quoted(run.queries[number])} {words}",
        )
    _check_similar_documents(judged, run, judged_numbers, judgment_rows, findings)


def _fold(texts: records.Texts) -> records.Texts:
    """The texts without case, leading zeros and other details that are easily lost."""
    texts = texts.changed(
        starts=np.ascontiguousarray(texts.starts), lengths=np.ascontiguousarray(texts.lengths)
    )
    folded = records.Texts(zeros("B", int(np.sum(texts.lengths))), *spans(len(texts.starts)))
    kernels.fold_texts(texts, folded)
    return folded


def _similar_queries(
    judged: Rows, run: Rows, judged_numbers: np.ndarray, missing: np.ndarray
) -> dict[int, int]:
    """For unknown queries of the run, a missing query with a similar id."""
    unknown = np.flatnonzero(judged_numbers < 0).tolist()
    lacking = np.flatnonzero(missing).tolist()
    if not unknown or not lacking:
        return {}
    folded = {text: number for number, text in reversed(list(_folded_queries(judged, lacking)))}
    return {
        number: folded[text] for number, text in _folded_queries(run, unknown) if text in folded
    }


def _folded_queries(rows: Rows, numbers: list[int]) -> list[tuple[int, bytes]]:
    starts, lengths = (np.asarray(column)[numbers] for column in rows.query_texts)
    buffer, starts, lengths = _fold(records.Texts(rows.text, starts, lengths))
    return [
        (number, bytes(buffer[starts[i] : starts[i] + lengths[i]]))
        for i, number in enumerate(numbers)
    ]


def _note_no_query(
    judged: FileRows, run: Rows, similar: dict[int, int], findings: Collector
) -> None:
    number = min(similar, default=0)
    judged_number = similar.get(number, 0)
    queries, others = run.queries, judged.rows.queries
    message = (
        f"the run and the qrels share no query ids: the run has"
        f" {counted(len(queries), 'query', 'queries')}, such as {quoted(queries[number])}, the"
        f" qrels {len(others):,}, such as {quoted(others[judged_number])}"
        f" ({judged.where(judged.first_lines[judged_number])})"
    )
    if similar:
        message += "; are these the same query?"
    findings.add("no-common-query", int(run.first_lines[number]), message, queries[number])


def _check_unknown(
    judged: FileRows,
    run: Rows,
    judged_numbers: np.ndarray,
    similar: dict[int, int],
    findings: Collector,
) -> None:
    unknown = [
        number for number in np.flatnonzero(judged_numbers < 0).tolist() if number not in similar
    ]

    def describe_unknown(number: int) -> str:
        query = quoted(run.queries[number])
        return f"query {query} has no judgments in {judged.file} and is not evaluated"

    def describe_similar(number: int) -> str:
        query, judged_number = quoted(run.queries[number]), similar[number]
        meant = (
            f"{quoted(judged.rows.queries[judged_number])}"
            f" ({judged.where(judged.first_lines[judged_number])})"
        )
        return f"query {query} has no judgments{did_you_mean([meant])}"

    findings.add_queries("unknown-query", run, unknown, describe_unknown)
    findings.add_queries("similar-query", run, sorted(similar), describe_similar)


def _check_missing(judged: FileRows, run: Rows, missing: np.ndarray, findings: Collector) -> None:
    lacking = np.flatnonzero(missing)
    lines = judged.first_lines[lacking]
    by_line = np.argsort(lines, kind="stable")

    def describe(i: int) -> tuple[str, bytes, None]:
        index = int(by_line[i])
        query = judged.rows.queries[int(lacking[index])]
        lacks = f"is missing from the run; {treated(1, '--missing zero', zero=False)}"
        if query in run.empty:
            lacks = "has no results in the run; it counts as 0"
        return f"judged query {quoted(query)} ({judged.where(lines[index])}) {lacks}", query, None

    findings.add_without_lines("missing-query", len(lacking), describe)


def _look_up(
    run: records.TextsByQuery, judged_numbers: np.ndarray, judged: records.TextsByQuery
) -> np.ndarray:
    """For each row of the run the row of the judgment of its document, or -1."""
    rows, scratch = zeros("q", len(run.texts.starts)), interning(kernels.widest(judged.offsets))
    kernels.look_up_rows(run, judged_numbers, judged, scratch, rows)
    return np.asarray(rows)


def _note_no_document(
    judged: FileRows, run: Rows, judged_numbers: np.ndarray, findings: Collector
) -> None:
    number = int(np.flatnonzero(judged_numbers >= 0)[0])
    row, judgment = int(run.offsets[number]), int(judged.rows.offsets[judged_numbers[number]])
    query = run.queries[number]
    message = (
        f"no result of the run is judged: query {quoted(query)} has {quoted(run.doc(row))} in the"
        f" run and {quoted(judged.rows.doc(judgment))} in the qrels"
        f" ({judged.where(judged.rows.lines[judgment])}); do the ids belong to the same collection?"
        f"{_shift(judged.rows, run, judged_numbers)}"
    )
    findings.add("no-judged-document", int(run.lines[row]), message, query, run.doc(row))


def _shift(judged: Rows, run: Rows, judged_numbers: np.ndarray) -> str:
    """A hint if all ids are integers, and adding or subtracting 1 makes some match."""
    try:
        judged_docs = {
            (number, int(judged.doc(row)))
            for number in np.unique(judged_numbers[judged_numbers >= 0])[:SAMPLE].tolist()
            for row in range(judged.offsets[number], judged.offsets[number + 1])
        }
        run_docs = [
            (int(judged_numbers[number]), int(run.doc(row)))
            for number in np.flatnonzero(judged_numbers >= 0)[:SAMPLE].tolist()
            for row in range(
                run.offsets[number], min(run.offsets[number + 1], run.offsets[number] + 100)
            )
        ][:SAMPLE]
    except ValueError:
        return ""
    for words, shift in (("adding 1 to", 1), ("subtracting 1 from", -1)):
        hits = sum((number, doc + shift) in judged_docs for number, doc in run_docs)
        if hits:
            return (
                f" After {words} the ids of the run, {hits:,} of {len(run_docs):,} results would be"
                " judged; does one file count from 0?"
            )
    return ""


def _check_similar_documents(
    judged: FileRows,
    run: Rows,
    judged_numbers: np.ndarray,
    judgment_rows: np.ndarray,
    findings: Collector,
) -> None:
    rows = judged.rows
    folded_run = run.columns.changed(texts=_fold(run.docs))
    folded = rows.columns.changed(texts=_fold(rows.docs))
    near = _look_up(folded_run, judged_numbers, folded)
    retrieved = np.zeros(len(rows), dtype=bool)
    retrieved[judgment_rows[judgment_rows >= 0]] = True
    candidates = np.flatnonzero((judgment_rows < 0) & (near >= 0))
    candidates = candidates[~retrieved[near[candidates]]]

    def describe(row: int) -> str:
        judged_row = int(near[row])
        meant = f"{quoted(rows.doc(judged_row))} ({judged.where(rows.lines[judged_row])})"
        return (
            f"{run.named(row)} of query {quoted(run.query(row))} is not judged"
            f"{did_you_mean([meant])}"
        )

    findings.add_rows("similar-document", run, candidates, describe)
