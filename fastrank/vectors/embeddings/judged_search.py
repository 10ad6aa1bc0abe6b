"""Evaluate embeddings: each batch of results is judged at once, without a run in memory."""

from __future__ import annotations

from fastrank.common.keywords import pick, takes, with_defaults
from fastrank.common.messages import python_warning
from fastrank.core.data.texts import memory_of
from fastrank.core.evaluation.ties import scores_and_ties
from fastrank.core.evaluation.unshared_ids import no_queries_error, not_in_corpus
from fastrank.core.formats.files import files
from fastrank.core.formats.inputs import as_qrels
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.tables.values import tag_of
from fastrank.core.matching.array_qrels import index_qrels
from fastrank.core.matching.arrays import ArrayRun, judge_rows
from fastrank.core.matching.filters import rows_of_queries
from fastrank.core.matching.judged import OFFSETS, Judged, JudgedRun, QueryError, room_for_judged
from fastrank.core.matching.keywords import EVALUATION, Request, SearchedOptions
from fastrank.core.matching.plan import Plan
from fastrank.core.matching.queries import choose_queries, missing_queries, repeated
from fastrank.core.matching.texts import match_texts
from fastrank.core.native import records
from fastrank.core.native.buffers import zeros
from fastrank.errors import ArrayError, EvaluationError, InputError, NoQueriesError
from fastrank.vectors.searching.batches import (
    build_for_search,
    refuse_building,
    search_batches,
    zero_vectors,
)
from fastrank.vectors.searching.indexing import Index, as_index
from fastrank.vectors.searching.row_ids import RowIds, check_numbering, check_row_ids
from fastrank.vectors.searching.runs import SOURCE, check_writable, run_lines, run_of
from fastrank.vectors.searching.search_options import SEARCH, BuildOptions, SearchOptions
from fastrank.vectors.searching.shards import Shards
from fastrank.vectors.searching.vectors import Vectors, open_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.common.arrays import Array
    from fastrank.core.formats.inputs import QrelsLike
    from fastrank.core.matching.array_qrels import ArrayQrels
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.selection import Measures
    from fastrank.core.scores.scores import Scores
    from fastrank.vectors.searching.batches import Found
    from fastrank.vectors.searching.row_ids import IdsLike
    from fastrank.vectors.searching.vectors import VectorsLike

# Numbers of judged documents that are not in the corpus start here, above all row numbers.
NOT_IN_CORPUS = 1 << 62


class EmbeddingOptions(SearchOptions, BuildOptions, SearchedOptions, total=False):
    """How to search with embeddings and evaluate the results."""

    corpus_ids: IdsLike | None


@takes(EmbeddingOptions, SEARCH, EVALUATION)
def evaluate_embeddings(
    queries: VectorsLike,
    corpus: Index | Shards | VectorsLike,
    qrels: QrelsLike,
    measures: Measures = "official",
    **options: Unpack[EmbeddingOptions],
) -> Scores:
    """Search with the queries and evaluate the results, batch by batch.

    queries, corpus: vectors as `fastrank.searching.build_index` takes them. The corpus may also be
        an Index, `fastrank.searching.Shards`, a faiss index, or the result of `get_index` of a
        Hugging Face Dataset.
    qrels: judgments as `evaluate` takes them, by the ids of queries and documents.
    measures: as `evaluate` takes them.
    **options: see `EmbeddingOptions`.

    The values are those of `evaluate` for the run that `search` returns. Of
    documents with equal scores, the one whose id sorts later comes first, unless `ties` says
    otherwise ("given": the one whose row comes first). `Scores.counts` includes `excluded`, the
    number of excluded documents that ranked above the end of a ranking, `ties_at_cutoff`, the
    number of rankings that end between documents with equal scores, among which faiss chose,
    `zero_vectors`, those of queries and documents whose cosine with all others is 0,
    `not_in_corpus`, the number of judged documents that are not in the corpus, and
    `numbered_documents` and `numbered_queries`, how many have row numbers as ids. Memory
    holds the judgments, a batch of rankings, and the judged documents of each ranking; with other
    values of `ties` it holds the whole run. Queries without judgments are not searched, unless
    `run` is given.

    Raises what `search` and `evaluate` raise, and InputError if no judged document is in the
    corpus, or if ids are row numbers and the judgments have other numbers: if they count from 1, or
    if documents behind the last row are judged. Errors in ids, judgments,
    measures and options are found before the search. Warns if a measure has a cutoff above `k`.

    >>> corpus = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]
    >>> found = fr.evaluate_embeddings(
    ...     [[1.0, 0.1]], corpus, {"q1": {"d3": 1}}, "recip_rank P.1", k=2,
    ...     query_ids=["q1"], corpus_ids=["d1", "d2", "d3"],
    ... )
    >>> found.mean
    {'recip_rank': 0.5, 'P_1': 0.0}
    >>> found.counts["retrieved"], found.counts["excluded"], found.counts["ties_at_cutoff"]
    (2, 0, 0)
    """
    return search_and_evaluate(
        queries, corpus, qrels, measures, with_defaults(evaluate_embeddings, options)
    )


def search_and_evaluate(
    queries: VectorsLike,
    corpus: Index | Shards | VectorsLike,
    qrels: QrelsLike,
    measures: Measures,
    settings: Mapping[str, Any],
    *,
    is_sample: bool = False,
    warn: Callable[[str], None] = python_warning,
) -> Scores:
    """`evaluate_embeddings` with all options.

    is_sample: queries and corpus are a part, which may lack all judged documents and be too small
    for the cutoffs of the measures. warn: is called with warnings.
    """
    request = Request(measures, pick(settings, SearchedOptions))
    searching = pick(settings, SearchOptions)
    k, metric, run = settings["k"], settings["metric"], settings["run"]
    label = tag_of(settings["tag"], SOURCE)
    judgments, left_out = choose_queries(
        as_qrels(qrels, trec_eval_version=request.options.trec_eval_version), request.options
    )
    if not isinstance(judgments, Qrels):
        raise InputError(judgments.source, "expected judgments of documents, found preferences")
    plan = Plan(judgments, request.measures, request.options, skipped=left_out)
    _refuse_impossible(plan)
    vectors = open_vectors("queries", queries)
    names = searching["query_ids"] = check_row_ids(
        "query_ids", settings["query_ids"], vectors.count
    )
    ids = None
    corpus = as_index("corpus", corpus, metric)
    if isinstance(corpus, (Index, Shards)):
        refuse_building(settings, corpus)
        if settings["corpus_ids"] is not None:
            corpus = corpus.with_ids("corpus_ids", settings["corpus_ids"])
        documents = corpus.names
    else:
        corpus = open_vectors("corpus", corpus)
        documents = ids = check_row_ids("corpus_ids", settings["corpus_ids"], corpus.count)
    judge = BatchJudge(plan, corpus=documents, queries=names, tag=label)
    only = None
    if not is_sample:
        _check_ids(judgments, documents, names)
    if judge.judgment_rows is not None:
        only = _searched(judge.judgment_rows, names, judgments, request, everything=run is not None)
    if not is_sample:
        _warn_of_cutoffs(request.measures, k, documents.count, warn)
    if run is not None:
        check_writable(run, documents, names, label)
    if not isinstance(corpus, (Index, Shards)) and settings["index_factory"] != "Flat":
        corpus, ids = build_for_search(vectors, corpus, ids, k, settings, only), None
    batches = search_batches(vectors, corpus, k, corpus_ids=ids, only=only, **searching)
    if run is not None:
        lines = run_lines(batches, label, judge.add, warn)
        files.write_compressed(run, lines)
        batches = iter(())
    judged = judge.judge(batches)
    if documents.count is None and isinstance(corpus, Vectors):
        documents = RowIds(None, corpus.count)
    if not is_sample:
        # Now that all vectors of an iterator are counted.
        _check_ids(judgments, documents, RowIds(names.texts, vectors.count))
    counts = {"zero_vectors": zero_vectors(vectors, corpus)}
    if documents.count is not None:
        # A negative grade is that of a document nobody judged.
        outside = (documents.rows_of(judgments.docs) < 0) & (judgments.grades >= 0)
        rows = outside.nonzero()[0].tolist()
        counts["not_in_corpus"] = len(set(judgments.docs.take(rows)))
        if documents.texts is None:
            counts["numbered_documents"] = documents.count
    if names.texts is None:
        counts["numbered_queries"] = vectors.count or 0
    judged = judged.changed(counts={**judged.counts, **counts})
    return scores_and_ties(judge.plan, judged)


def _check_ids(judgments: Qrels, documents: RowIds, queries: RowIds) -> None:
    """Raise InputError if no judged document is in the corpus, so that every measure would be 0, or
    if ids of judgments are other numbers than those of rows.
    """
    source, grades = judgments.source, judgments.grades
    judged_rows = documents.rows_of(judgments.docs)[grades >= 0]
    if len(judged_rows) and (judged_rows < 0).all():
        reason = not_in_corpus(judgments.docs, documents.first())
        hint = "; pass the ids of the vectors as corpus_ids" if documents.texts is None else ""
        raise InputError(source, reason + hint)
    remedy = "pass the ids of the vectors as "
    of_documents = remedy + "corpus_ids (--corpus-ids)"
    check_numbering(source, judgments.docs, documents, "documents", of_documents, grades)
    of_queries = remedy + "query_ids (--query-ids)"
    check_numbering(source, judgments.queries, queries, "queries", of_queries)


def _warn_of_cutoffs(
    measures: list[BoundMeasure], k: int, count: int | None, warn: Callable[[str], None]
) -> None:
    """Warn if a measure was requested with a cutoff that the rankings do not reach."""
    if count is not None and count <= k:
        return
    short = [name for measure in measures for name, cutoff in measure.cutoffs() if cutoff > k]
    if short:
        warn(
            f"k={k} is below the cutoff of {', '.join(short)}, which"
            f" {'count' if len(short) > 1 else 'counts'} the ranks after {k} as not relevant"
        )


def _refuse_impossible(plan: Plan) -> None:
    """Raise errors of the evaluation before the search."""
    if plan.requires.first_impossible is not None:
        number, reason = plan.requires.first_impossible
        query = plan.judgments.queries[0] if len(plan.judgments) else b""
        raise EvaluationError(plan.measures[number].measure.name, query, reason)


def _searched(
    judgment_rows: Array, names: RowIds, judgments: Qrels, request: Request, *, everything: bool
) -> Array | None:
    """The rows of the queries to search, None for all. Raises errors that need no search."""
    import numpy

    judged = numpy.flatnonzero(judgment_rows >= 0)
    if request.options.missing_is_error and len(judged) < len(judgments):
        queries = [judgments.queries[int(row)] for row in judgment_rows[judged]]
        raise missing_queries(judgments, queries)
    if not len(judged) and not request.options.complete:
        error = no_queries_error(judgments.queries, names.take(numpy.arange(len(judgment_rows))))
        if names.texts is None and len(judgments):
            hint = "without query_ids (--query-ids), the ids of the queries are row numbers"
            error = NoQueriesError(f"{error}; {hint}")
        raise error
    return None if everything else judged


class BatchJudge:
    """Judges rankings of corpus rows by judgments of document ids.

    In trec_eval's order of ties each batch is judged at once, by row; else all results are kept,
    and judged as a run. plan: that of the scores, whose judgments have rows as documents where
    batches are judged. corpus, queries: the ids of the vectors. judgment_rows: for each query its
    index in the judgments or -1; None if the queries are not known in advance. tag: the name of the
    run.
    """

    def __init__(self, plan: Plan, *, corpus: RowIds, queries: RowIds, tag: bytes) -> None:
        import numpy

        qrels, measures = plan.judgments, plan.measures
        self.plan, self._tag = plan, tag
        self._queries, self._known = queries, RowIds(qrels.queries, len(qrels))
        self.judgment_rows: Array | None = None
        if queries.count is not None:
            self.judgment_rows = self._judgment_rows_of(numpy.arange(queries.count))
        self._by_row = plan.options.ties == "docno_desc" and "ties" not in plan.requires.needs
        if self._by_row:
            judgments = _by_row(qrels, corpus, measures[0].measure.name if measures else "")
            self.plan = plan.changed(judgments=judgments)
        self._pieces: list[JudgedRun] = []
        self._found: list[Found] = []
        self._skipped: list[bytes] = []
        self._counts = {"excluded": 0, "ties_at_cutoff": 0}

    def _judgment_rows_of(self, rows: Array) -> Array:
        return self._known.rows_of(self._queries.take(rows))

    def judge(self, batches: Iterable[Found]) -> JudgedRun:
        """Judge all batches, in addition to those already added. Raises EvaluationError."""
        import numpy

        for batch in batches:
            self.add(batch)
        unjudged = self._skipped
        if self.judgment_rows is not None:
            unjudged = list(self._queries.take(numpy.flatnonzero(self.judgment_rows < 0)))
        if self._by_row:
            judged = self._joined()
        else:
            judged = match_texts(self.plan, run_of(self._found, self._tag))
        return judged.changed(unjudged_queries=unjudged, counts=self._counts, tag=self._tag)

    def add(self, batch: Found) -> None:
        """Judge or keep the results of a batch for judged queries."""
        import numpy

        if self.judgment_rows is not None:
            rows = self.judgment_rows[batch.queries]
        else:
            rows = self._judgment_rows_of(batch.queries)
            self._skipped += self._queries.take(batch.queries[rows < 0])
        judged = numpy.flatnonzero(rows >= 0)
        self._counts["excluded"] += int(batch.excluded[judged].sum())
        self._counts["ties_at_cutoff"] += int(batch.ties_at_cutoff[judged].sum())
        if self._by_row:
            self._judge(batch.rows, batch.scores, rows[judged], judged)
        else:
            in_order = self.plan.options.ties == "given"
            self._found.append(_selected(batch, judged, in_order=in_order))

    def _judge(self, ids: Array, scores: Array, order: Array, rows: Array) -> None:
        if not len(order):
            return
        run = ArrayRun(
            ids=ids,
            scores=scores,
            queries=order,
            rows=rows,
            lower_is_better=False,
            unique=True,
            in_order=True,
        )
        piece = judge_rows(self.plan, run)
        assert piece.judged is not None
        self._pieces.append(piece.changed(judged=piece.judged.copied()))

    def _joined(self) -> JudgedRun:
        """Everything judged, with queries in byte order of their ids. Raises EvaluationError."""
        import numpy

        count = len(self.plan.judgments)
        if self.plan.options.evaluates_missing:
            rest = numpy.ones(count, bool)
            for piece in self._pieces:
                rest[piece.queries] = False
            missing = numpy.flatnonzero(rest)
            nothing = numpy.empty((0, 1), numpy.int64)
            none = numpy.empty((0, 1), numpy.float32)
            self._judge(nothing, none, missing, numpy.full(len(missing), -1))
        queries: list[int] = []
        absent: list[int] = []
        judged: list[Judged] = []
        for piece in self._pieces:
            assert piece.judged is not None
            absent += [len(queries) + i for i in piece.placeholders]
            queries += piece.queries
            judged.append(piece.judged)
        if not judged:
            judged = [room_for_judged(self.plan.judgments, zeros("q", 0), 0, self.plan.judging)]
        position = numpy.empty(count, numpy.int64)
        position[self.plan.judgments.order] = numpy.arange(count)
        order = numpy.argsort(position[numpy.array(queries, numpy.int64)])
        placeholders = numpy.flatnonzero(numpy.isin(order, absent)).tolist()
        return JudgedRun(
            queries=[queries[i] for i in order.tolist()],
            judged=_in_order(Judged.joined(judged), order),
            missing=count - len(queries) + len(placeholders),
            placeholders=placeholders,
            tag=self._tag,
        )


def _selected(batch: Found, judged: Array, *, in_order: bool) -> Found:
    """Some rankings of a batch; in_order: equal scores are in the order of the corpus."""
    import numpy

    rows, scores = batch.rows[judged], batch.scores[judged]
    if in_order:
        order = numpy.lexsort([rows, -scores], axis=1)
        rows, scores = (numpy.take_along_axis(table, order, axis=1) for table in (rows, scores))
    return batch.changed(
        queries=batch.queries[judged],
        rows=rows,
        scores=scores,
        ties_at_cutoff=batch.ties_at_cutoff[judged],
        excluded=batch.excluded[judged],
    )


def _by_row(qrels: Qrels, corpus: RowIds, measure: str) -> ArrayQrels:
    """The judgments with rows of the corpus as document ids; `measure` is for errors."""
    import numpy

    rows = corpus.rows_of(qrels.docs)
    strange = numpy.flatnonzero(rows < 0)
    if len(strange):
        texts = [qrels.docs[row] for row in strange.tolist()]
        numbers = {text: NOT_IN_CORPUS + i for i, text in enumerate(dict.fromkeys(texts))}
        rows[strange] = [numbers[text] for text in texts]
    offsets = numpy.asarray(qrels.offset_column)
    try:
        return index_qrels((offsets, rows, qrels.grades), queries=list(qrels.queries))
    except ArrayError as error:
        if error.row is None:
            raise
        raise _as_evaluation_error(error, qrels, rows, measure) from None


def _as_evaluation_error(
    error: ArrayError, qrels: Qrels, rows: Array, measure: str
) -> EvaluationError | ArrayError:
    """The error about a query's judgments, with the document's id instead of its row."""
    assert error.row is not None
    query = qrels.queries[error.row]
    first, stop = qrels.offset_column[error.row], qrels.offset_column[error.row + 1]
    firsts: dict[int, int] = {}
    for position in range(first, stop):
        earlier = firsts.setdefault(int(rows[position]), position)
        if earlier != position:
            return QueryError(error.row, repeated(qrels, earlier, position)).error(measure, query)
    return error


def _in_order(judged: Judged, order: Array) -> Judged:
    """The rankings in another order."""
    import numpy

    columns: list[object] = []
    rows = order
    ties = judged.ties
    if ties is not None:
        tied, offsets = rows_of_queries(ties.offsets, memory_of(order))
        lows, highs = (memory_of(numpy.asarray(part)[tied]) for part in (ties.lows, ties.highs))
        ties = records.Ties(offsets, lows, highs)
    for i, column in enumerate(map(numpy.asarray, judged.columns[:9])):
        if i in OFFSETS:
            picked, offsets = rows_of_queries(column, memory_of(order))
            rows = numpy.asarray(picked)
            columns.append(offsets)
        else:
            columns.append(memory_of(column[rows if i < 6 else order]))
    return Judged(columns=records.Rankings(*columns, *judged.columns[9:]), ties=ties)
