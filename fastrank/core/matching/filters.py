"""Remove rows of runs and judgments; nothing is copied if nothing is removed."""

from __future__ import annotations

from fastrank.core.data.texts import TextColumn, Texts, joined, take
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.run import Run
from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.formats.trec.line_files import Exclusions
    from fastrank.core.native.record import Int64Array, Offsets, UInt8Array


def without_excluded(run: Run, exclude: Exclusions, *, identical: bool) -> Run:
    """The run without excluded documents and, if `identical`, without those with the query's id."""
    if not (exclude or identical):
        return run
    docs = [exclude.get(query, []) for query in run.queries] if exclude else []
    ids = [doc for query_docs in docs for doc in query_docs]
    excluded = joined(b"".join(ids), ids)
    ranges = zeros("q", len(run.offset_column))
    for i, query_docs in enumerate(docs):
        ranges[i + 1] = ranges[i] + len(query_docs)
    dropped = zeros("B", len(run.docs))
    count = kernels.drop_excluded(
        run.columns,
        run.queries.columns,
        identical,
        records.TextsByQuery(texts=excluded.columns, offsets=ranges),
        zeros("q", kernels.table_size(kernels.widest(ranges))),
        dropped,
    )
    return _kept(run, dropped, count)


def without_repeats(run: Run, *, by_score: bool) -> Run:
    """The run with each document once per ranking: its first line, or that with the best score."""
    dropped = zeros("B", len(run.docs))
    table = zeros("q", kernels.table_size(kernels.widest(run.offset_column)))
    count = kernels.drop_repeats(run.columns, by_score, table, dropped)
    return _kept(run, dropped, count)


def select_queries(qrels: Qrels, picks: Int64Array) -> Qrels:
    """The judgments of the queries with the given indexes."""
    order, ranges = rows_of_queries(qrels.offset_column, picks)
    return Qrels(
        queries=taken_texts(qrels.queries, picks),
        docs=taken_texts(qrels.docs, order),
        source=qrels.source,
        offset_column=ranges,
        groups=taken_texts(qrels.groups, order),
        grade_column=take(qrels.grade_column, order),
        scale=qrels.scale,
        strata=None if qrels.strata is None else taken_texts(qrels.strata, order),
    )


def select_rankings(run: Run, picks: Int64Array) -> Run:
    """The rankings of the queries with the given indexes."""
    order, ranges = rows_of_queries(run.offset_column, picks)
    return Run(
        queries=taken_texts(run.queries, picks),
        docs=taken_texts(run.docs, order),
        tag_bytes=run.tag_bytes,
        source=run.source,
        offset_column=ranges,
        score_column=take(run.score_column, order),
    )


def rows_of_queries(offsets: Offsets, queries: Int64Array) -> tuple[Int64Array, Offsets]:
    """The rows of some queries, and where those of each begin among these alone."""
    ranges = zeros("q", len(queries) + 1)
    rows = zeros("q", kernels.count_picked(offsets, queries))
    kernels.picked_rows(offsets, queries, rows, ranges)
    return rows, ranges


def rows_of(run: Run, rankings: Int64Array) -> int:
    """The total number of documents in some of the run's rankings."""
    return int(kernels.count_picked(run.offset_column, rankings))


def _kept(run: Run, dropped: UInt8Array, count: int) -> Run:
    if not count:
        return run
    ranges = zeros("q", len(run.offset_column))
    order = zeros("q", len(run.docs) - count)
    kernels.kept_rows(dropped, run.offset_column, order, ranges)
    return Run(
        queries=run.queries,
        docs=taken_texts(run.docs, order),
        tag_bytes=run.tag_bytes,
        source=run.source,
        offset_column=ranges,
        score_column=take(run.score_column, order),
    )


def taken_texts(texts: Texts, order: Int64Array) -> Texts:
    """Some of the texts, in this order."""
    # Judgments read without groups have no group names.
    if not len(texts):
        return texts
    starts, lengths = take(texts.starts, order), take(texts.lengths, order)
    if not isinstance(texts, TextColumn):
        return Texts(texts.buffer, starts, lengths)
    rows = order if texts.rows is None else take(texts.rows, order)
    return type(texts)(texts.buffer, starts, lengths, rows, texts.unit)
