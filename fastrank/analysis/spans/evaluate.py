"""Measures of the text that was retrieved, whatever the chunks are."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.spans.levels import chunk_rows
from fastrank.analysis.spans.measures import bind_span_measures, budget_of
from fastrank.analysis.spans.qrels import number_documents
from fastrank.analysis.spans.readers import read_chunks, read_spans
from fastrank.analysis.spans.stretches import PART, Union, combined, meeting, number_texts, on_line
from fastrank.common.arguments import DEFAULT_VERSION, check_choice
from fastrank.core.data.texts import as_texts, decoded, gather_texts, memory_of, text_order
from fastrank.core.evaluation.unshared_ids import no_queries_error
from fastrank.core.formats.inputs import as_run, is_path, run_name
from fastrank.core.formats.qrels import Graded
from fastrank.core.matching.queries import missing_queries
from fastrank.core.matching.rankings import compared_scores
from fastrank.core.scores.scores import Scores
from fastrank.core.scores.summary import Coverage, summaries
from fastrank.errors import EvaluationError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fastrank.analysis.spans.readers import Chunks, ChunksLike, Spans, SpansLike
    from fastrank.common.arrays import Integers
    from fastrank.common.choices import Missing
    from fastrank.core.formats.inputs import RunLike
    from fastrank.core.formats.run import Run
    from fastrank.core.formats.texts.lookup import TextsLike
    from fastrank.core.measures.bound import BoundMeasure

MEASURES = "SpanRecall@5 SpanPrecision@5 SpanIoU@5 SpanF1@5 SpanPrecisionOmega"


def evaluate_spans(
    spans: SpansLike,
    chunks: ChunksLike,
    run: RunLike,
    measures: str | Iterable[str] = MEASURES,
    *,
    missing: Missing = "skip",
    texts: TextsLike | None = None,
) -> Scores:
    """Evaluate the text of the retrieved chunks, in the same way for all ways to chunk it.

    spans: the evidence, as in `fastrank.spans.read_spans`. chunks: as in
        `fastrank.spans.read_chunks`. run: a run of chunks, in any form, ranked as in trec_eval.
    measures: SpanRecall, SpanPrecision, SpanIoU and SpanF1, with a cutoff or of all that was
        retrieved, and SpanPrecisionOmega, separated by blanks. A cutoff is a number of chunks
        (`SpanRecall@5`), characters (`@4000c`), or tokens (`@1000t`), which need a column `tokens`
        in chunks. The chunk that exceeds a budget is cut; of tokens, in proportion to its
        characters, rounded down.
    missing: how to treat queries with spans that have no results, as in `evaluate`.
    texts: the texts of the documents, to check or find places, as in the readers.

    Text counts once, however often it is evidence or retrieved, but with `repeated=True`, as in
    `SpanPrecision(repeated=True)@5`, as often as it is retrieved. If several spans have the same
    evidence, the one with the largest share retrieved has to be found; retrieved text of the others
    is evidence, too. Spans with grade 0 are not evidence.

    Raises what the readers raise; InputError for a chunk of the run that `chunks` lacks, for spans
    in documents without chunks, and if tokens are not known; MeasureError, OptionError,
    NoQueriesError and EvaluationError. Source: Smith and Troynikov, 'Evaluating chunking strategies
    for retrieval', Chroma 2024, whose code computes the values with `repeated=True`.

    >>> spans = {"query": ["q1"], "document": ["a"], "start": [5], "end": [15]}
    >>> chunks = {"chunk": ["c1", "c2"], "document": ["a", "a"], "start": [0, 8], "end": [9, 18]}
    >>> run = {"q1": {"c1": 0.9, "c2": 0.5}}
    >>> print(fr.evaluate_spans(spans, chunks, run, "SpanRecall@1 SpanRecall SpanIoU SpanIoU@12c"))
    SpanRecall@1  0.4000
    SpanRecall    1.0000
    SpanIoU       0.5556
    SpanIoU@12c   0.4000
    """
    check_choice("missing", missing, ("skip", "zero", "error"))
    bound = bind_span_measures(measures)
    ranked: Run = as_run(run)
    text = _Text(read_spans(spans, texts), read_chunks(chunks, texts), ranked)
    judged, asked = list(text.queries), list(ranked.queries)
    judged_set, asked_set = set(judged), set(asked)
    with_results = [i for i, query in enumerate(judged) if query in asked_set]
    unknown = sorted(asked_set - judged_set)
    if not with_results and missing != "zero":
        raise no_queries_error(judged, unknown)
    if missing == "error" and len(with_results) < len(judged):
        graded = Graded(queries=as_texts(judged), offset_column=None, grade_column=None)
        raise missing_queries(graded, [judged[i] for i in with_results])
    rows = list(range(len(judged))) if missing == "zero" else with_results
    values = [memory_of(text.values(measure)[rows]) for measure in bound]
    coverage = Coverage(
        complete=missing == "zero",
        judged=judged,
        found=with_results,
        unknown=unknown,
        positive=None,
    )
    return Scores(
        bound=bound,
        counts={
            "evaluated_queries": len(with_results),
            "missing_queries": len(judged) - len(with_results),
            "unjudged_queries": len(unknown),
            "no_relevant_queries": text.without_evidence,
            "no_relevant_skipped": 0,
        },
        coverage=coverage,
        given_name=run_name(run) if is_path(run) else "",
        tag_bytes=ranked.tag_bytes,
        zscored=False,
        query_ids=[judged[i] for i in rows],
        value_columns=values,
        zero_rows=sorted(set(rows) - set(with_results)),
        summaries=summaries(
            bound, values, [None] * len(bound), len(rows), coverage, ranked.tag_bytes, zscored=False
        ),
    )


class _Text:
    """The evidence of queries, and what was retrieved for them, on a number line.

    On it, each query has a part for each document that it needs. queries: in byte order.
    """

    def __init__(self, spans: Spans, chunks: Chunks, run: Run) -> None:
        # Only those of the spans get small numbers.
        (asked, ranked), names = number_texts(spans.queries, run.queries)
        order = np.asarray(text_order(gather_texts(names, np.arange(asked.max() + 1))))
        self.queries = gather_texts(names, order)
        position = np.full(len(names), -1)
        position[order] = np.arange(len(order))
        retrieved, of_run = _ranked(chunks, run, position[ranked])
        rows = np.flatnonzero(spans.grades > 0)
        documents, of_chunks = number_documents(spans, chunks)
        of_spans, documents = position[asked][rows], documents[rows]
        touching, others = meeting(
            on_line(spans, documents, rows), on_line(chunks, of_chunks), touching=True
        )
        count = int(of_chunks.max()) + 1
        keys = of_spans * count + documents, of_run * count + of_chunks[retrieved]
        used, parts = np.unique(np.concatenate(keys), return_inverse=True)
        self._query_of = used // count
        of_evidence, of_retrieved = parts[: len(rows)], parts[len(rows) :]
        self._spans = on_line(spans, of_evidence, rows)
        self._retrieved = on_line(chunks, of_retrieved, retrieved)
        self._touching = on_line(chunks, of_evidence[touching], others)
        self._evidence, self._pieces = Union(*self._spans), spans.pieces[rows]
        self._has_alternatives = len(set(self._pieces.tolist())) < len(rows)
        self._tokens = None if chunks.tokens is None else chunks.tokens[retrieved]
        self._source = chunks.table.source
        self.without_evidence = len(order) - len(set(of_spans.tolist()))

    def values(self, bound: BoundMeasure) -> Any:
        """The values of a measure, float64[queries]."""
        name = bound.measure.name
        if name == "SpanPrecisionOmega":
            return self._overlap("SpanIoU", *self._touching, repeated=False)
        repeated = bool((bound.options or {}).get("repeated"))
        return self._overlap(name, *self._within(*budget_of(bound)), repeated=repeated)

    def _within(self, budget: int, unit: str) -> tuple[Integers, Integers]:
        """The results within a budget of chunks, characters or tokens."""
        starts, ends = self._retrieved
        lengths, queries = ends - starts, self._query_of[starts // PART]
        costs = {"": np.ones_like(lengths), "c": lengths, "t": self._tokens}[unit]
        if costs is None:
            raise InputError(self._source, "no tokens column, which a cutoff in tokens needs")
        spent = np.cumsum(costs) - costs
        spent -= spent[np.searchsorted(queries, queries)]
        left = np.clip(budget - spent, 0, costs)
        taken = np.where(left < costs, lengths * left // np.maximum(costs, 1), lengths)
        some = (taken > 0) & (spent < budget)
        return starts[some], (starts + taken)[some]

    def _overlap(self, name: str, starts: Integers, ends: Integers, *, repeated: bool) -> Any:
        retrieved, needed = Union(starts, ends), self._evidence
        hits = self._sum(needed.starts, retrieved.within(needed.starts, needed.ends))
        if not repeated:
            starts, ends = retrieved.starts, retrieved.ends
        size = self._sum(starts, ends - starts)
        if self._has_alternatives:
            needed = self._chosen(retrieved)
        need = self._sum(needed.starts, needed.ends - needed.starts)
        got = self._sum(needed.starts, retrieved.within(needed.starts, needed.ends))
        precision, recall = _ratio(hits, size), _ratio(got, need)
        if name == "SpanF1":
            return _ratio(2.0 * precision * recall, precision + recall)
        shares = {"SpanRecall": recall, "SpanPrecision": precision}
        return shares.get(name, _ratio(hits, size + need - got))

    def _chosen(self, retrieved: Union) -> Union:
        """For each piece of evidence, the span with the largest share retrieved."""
        starts, ends = self._spans
        shares = retrieved.within(starts, ends) / (ends - starts)
        order = np.lexsort((-shares, self._pieces))
        best = order[np.unique(self._pieces[order], return_index=True)[1]]
        return Union(starts[best], ends[best])

    def _sum(self, starts: Integers, numbers: Integers) -> Integers:
        """The sums by query of numbers at places of the line, int64[queries]."""
        sums = np.zeros(len(self.queries), np.int64)
        np.add.at(sums, self._query_of[starts // PART], numbers)
        return sums


def _ranked(chunks: Chunks, run: Run, positions: Integers) -> tuple[Integers, Integers]:
    """The rows of the chunks and the positions of the queries of results, best first in each query.

    positions: of each query of the run, -1 for those without spans, which are left out.
    """
    rows, queries = chunk_rows(run, chunks), np.repeat(positions, np.diff(run.offsets))
    order_of_ids = np.empty(len(chunks), np.int64)
    order_of_ids[np.asarray(text_order(chunks.ids))] = np.arange(len(chunks))
    scores = compared_scores(run.scores, DEFAULT_VERSION)
    order = np.lexsort((-order_of_ids[rows], -scores, queries))
    order = order[queries[order] >= 0]
    keys = combined(queries, rows)[order]
    _, firsts, counts = np.unique(keys, return_index=True, return_counts=True)
    if len(firsts) < len(keys):
        row = int(order[firsts[counts > 1].min()])
        query = run.queries[int(np.searchsorted(run.offsets, row, "right")) - 1]
        reason = f"query {decoded(query)!r}: duplicate chunk {decoded(run.docs[row])!r}"
        raise EvaluationError("", query, reason)
    return rows[order], queries[order]


def _ratio(above: Any, below: Any) -> Any:
    """Shares, float64; 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)
