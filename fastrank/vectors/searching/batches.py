"""Search in batches of queries, on which all other searches are built."""

from __future__ import annotations

from typing import NamedTuple

import numpy

from fastrank.common.arguments import at_least
from fastrank.common.keywords import takes, with_defaults
from fastrank.common.progress import bar
from fastrank.core.data.columns import Frozen
from fastrank.errors import ArrayError, OptionError
from fastrank.vectors.searching.engines import IndexSearch, SparseSearch, VectorSearch
from fastrank.vectors.searching.faiss_api import Setting, check_gpu, parse_parameters
from fastrank.vectors.searching.indexing import Index, as_index, build_index, make_index
from fastrank.vectors.searching.row_ids import Exclusion, check_row_ids
from fastrank.vectors.searching.search_options import SEARCH, SearchOptions
from fastrank.vectors.searching.shards import Shards, ShardSearch
from fastrank.vectors.searching.vectors import (
    SparseRows,
    check_dimension,
    check_metric,
    open_vectors,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.common.arrays import Array
    from fastrank.common.progress import Bar
    from fastrank.core.data.texts import Texts
    from fastrank.vectors.searching.engines import Engine
    from fastrank.vectors.searching.row_ids import IdsLike, RowIds
    from fastrank.vectors.searching.vectors import Vectors, VectorsLike

# Queries with lists of excluded documents longer than this, and than k, are searched separately,
# as deep as the longest list requires. The depth is the same in every batch, because faiss may
# choose other documents among those tied at the last rank at another depth.
LONG_LIST = 64


class Found(Frozen):
    """The results of a batch of queries.

    queries: int64[n], the rows of the queries. start: the first of them.
    rows: int64[n, k], rows of the corpus, best first, -1 if there are no more; k is at most the
        size of the corpus. Ties are ordered by document id, descending in byte order.
    scores: float32[n, k], higher is better: distances are negated.
    ties_at_cutoff: bool[n], whether the document after rank k has the same score as that at rank k.
    excluded: int64[n], the number of excluded documents above the last one of the ranking.
    query_ids, doc_ids: the ids of the queries, and of rows of the corpus.
    """

    queries: Array
    rows: Array
    scores: Array
    ties_at_cutoff: Array
    excluded: Array
    names: RowIds
    corpus: RowIds

    @property
    def start(self) -> int:
        """The row of the first query."""
        return int(self.queries[0])

    @property
    def query_ids(self) -> Texts:
        """The ids of the queries."""
        return self.names.take(self.queries)

    def doc_ids(self, rows: Array) -> Texts:
        """The ids of rows of the corpus."""
        return self.corpus.take(rows)

    def __len__(self) -> int:
        return len(self.queries)


@takes(SearchOptions, SEARCH)
def search_batches(
    queries: VectorsLike,
    corpus: Index | Shards | VectorsLike,
    k: int,
    *,
    corpus_ids: IdsLike | None = None,
    only: Array | None = None,
    **options: Unpack[SearchOptions],
) -> Iterator[Found]:
    """Search batch by batch, like `search`, but without keeping all results in memory.

    queries, corpus, k, corpus_ids: as in `search`.
    only: rows of the queries to search for, ascending.
    **options: see `SearchOptions`.

    Arguments are checked before this returns, as far as possible without a search.

    >>> from fastrank.searching import search_batches
    >>> corpus = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]
    >>> for found in search_batches([[1.0, 0.1], [0.0, 2.0]], corpus, 2, batch_size=1):
    ...     print(found.start, found.rows.tolist(), found.ties_at_cutoff.tolist())
    0 [[0, 2]] [False]
    1 [[1, 2]] [False]
    """
    values = with_defaults(search_batches, options)
    metric = None if values["metric"] is None else check_metric(values["metric"])
    k, batch_size, settings = _checked_request(k, values["batch_size"], values["parameters"])
    # The GPUs of shards are those of the workers.
    on_gpu = values["gpu"] if isinstance(corpus, Shards) else check_gpu(values["gpu"])
    query_vectors = open_vectors("queries", queries)
    corpus = as_index("corpus", corpus, metric)
    if isinstance(corpus, (Index, Shards)):
        if corpus.metric is not None and metric not in (None, corpus.metric):
            reason = f"expected {corpus.metric!r}, the metric of the index, found {metric!r}"
            raise OptionError("metric", reason)
        if corpus_ids is not None:
            corpus = corpus.with_ids("corpus_ids", corpus_ids)
        names, dimension, count = corpus.names, corpus.dimension, len(corpus)
        kind = check_metric(corpus.metric or metric)
    else:
        kind = check_metric(metric)
        vectors = open_vectors("corpus", corpus)
        names, dimension = check_row_ids("corpus_ids", corpus_ids, vectors.count), vectors.dimension
        count = -1 if vectors.count is None else vectors.count
        if settings:
            raise OptionError(
                "parameters", "exact search has no parameters; use them with an Index"
            )
    if count == 0:
        raise ArrayError("corpus", "expected vectors, found none")
    check_dimension(query_vectors, dimension)
    query_names = check_row_ids("query_ids", values["query_ids"], query_vectors.count)
    exclusion = Exclusion(
        query_names, names, itself=values["ignore_identical_ids"], lists=values["exclude"]
    )
    query_vectors.check(unit=kind == "cosine", selected=only)
    engine: Engine
    if isinstance(corpus, Shards):
        engine = ShardSearch(corpus, kind, settings, gpu=on_gpu)
    elif isinstance(corpus, Index):
        engine = IndexSearch(corpus, settings, gpu=on_gpu)
    elif isinstance(vectors, SparseRows):
        engine = SparseSearch(vectors, kind, gpu=on_gpu)
    else:
        engine = VectorSearch(vectors, kind, names, gpu=on_gpu)
    search = _Search(engine, k if count < 0 else min(k, count), kind, names, query_names, exclusion)
    return search.run(query_vectors, batch_size, only, values["progress"])


def build_for_search(
    queries: Vectors,
    corpus: Vectors,
    ids: RowIds | None,
    k: int,
    settings: Mapping[str, Any],
    only: Array | None = None,
) -> Index:
    """Build an index of a corpus; errors of the search are raised before.

    settings: `RunOptions`. only: rows of the queries to search for.
    """
    factory, metric = settings["index_factory"], check_metric(settings["metric"])
    check_dimension(queries, corpus.dimension)
    _, _, parameters = _checked_request(k, settings["batch_size"], settings["parameters"])
    with Setting(make_index(factory, corpus.dimension, metric), parameters):
        pass
    queries.check(unit=metric == "cosine", selected=only)
    names = ("train_size", "gpu", "progress")
    return build_index(corpus, factory, metric, ids, **{name: settings[name] for name in names})


def refuse_building(settings: Mapping[str, object], corpus: Index | Shards) -> None:
    """Raise OptionError for options that only apply to building an index."""
    reason = "the Index is already built"
    if isinstance(corpus, Shards):
        reason = "shards are searched as they are"
    if settings["index_factory"] != "Flat":
        raise OptionError("index_factory", f"found {settings['index_factory']!r}, but {reason}")
    if settings["train_size"] is not None:
        raise OptionError("train_size", reason)


def zero_vectors(queries: Vectors, corpus: Index | Shards | Vectors) -> int:
    """The number of zero vectors that a search by cosine has met."""
    return len(queries.zeros) + len(corpus.zeros)


def _checked_request(
    k: int, batch_size: int, parameters: object
) -> tuple[int, int, dict[str, float]]:
    # faiss accepts only Python integers.
    return at_least("k", k, 1), at_least("batch_size", batch_size, 1), parse_parameters(parameters)


class _Search:
    def __init__(
        self,
        engine: Engine,
        k: int,
        metric: str,
        names: RowIds,
        queries: RowIds,
        exclusion: Exclusion,
    ) -> None:
        self._engine, self._k, self._metric = engine, k, metric
        self._names, self._queries, self._exclusion = names, queries, exclusion
        self._long = max(k, LONG_LIST)
        self._depth = k + 1 + exclusion.longest(self._long)
        self._deepest = k + 1 + exclusion.longest()

    def run(
        self, queries: Vectors, batch_size: int, only: Array | None, progress: bool | None
    ) -> Iterator[Found]:
        """Search for all queries, or only some."""
        unit = self._metric == "cosine"
        batched = self._engine.batched(self._k + 1, batch_size)
        blocks = queries.blocks(
            batched or queries.count or batch_size,
            unit=unit,
            selected=only,
            check=not queries.repeatable,
        )
        if batched is None:
            blocks = _joined(blocks)
        total = queries.count if only is None else len(only)
        with bar("search", total, "queries", progress) as shown:
            for rows, block in blocks:
                self._queries.check_count("query_ids", int(rows[-1]) + 1, partial=True)
                results = self._search(rows, block, shown)
                for first in range(0, len(rows), batch_size):
                    part = slice(first, first + batch_size)
                    ranked = {name: column[part] for name, column in results._asdict().items()}
                    yield Found(
                        queries=rows[part], names=self._queries, corpus=self._names, **ranked
                    )
        if queries.count is not None:
            self._queries.check_count("query_ids", queries.count)

    def _search(self, rows: Array, block: Array, shown: Bar) -> Ranked:
        """The rankings of some queries."""
        excluded = self._exclusion.of(rows)
        counts = numpy.zeros(len(rows), numpy.int64)
        if excluded is not None:
            counts = numpy.fromiter(map(len, excluded), numpy.int64, len(rows))
        many = counts > self._long
        parts = [numpy.arange(len(rows))]
        if many.any() and not many.all() and not self._engine.single:
            parts = [numpy.flatnonzero(~many), numpy.flatnonzero(many)]
        ranked = []
        for part in parts:
            deep = self._engine.single or bool(many[part].any())
            depth = self._deepest if deep else self._depth
            if self._engine.count is not None:
                depth = min(depth, self._engine.count)
            vectors = block if len(parts) == 1 else numpy.ascontiguousarray(block[part])
            scores, hits = self._engine.search(vectors, depth, _progress_callback(shown, len(part)))
            if self._metric == "l2":
                numpy.negative(scores, out=scores)
            lists = None if excluded is None else [excluded[i] for i in part.tolist()]
            # The length of an iterator is only known now.
            width = min(self._k, self._engine.count or self._k)
            ranked.append(rank(scores, hits, width, self._names, lists))
        if len(ranked) == 1:
            return ranked[0]
        back = numpy.argsort(numpy.concatenate(parts))
        return Ranked(*(numpy.concatenate(parts)[back] for parts in zip(*ranked, strict=True)))


def _progress_callback(shown: Bar, queries: int) -> Callable[[float], None]:
    """A function that reports the progress of a search."""
    return lambda share: shown.update(share * queries)


def _joined(blocks: Iterator[tuple[Array, Array]]) -> Iterator[tuple[Array, Array]]:
    """All blocks concatenated."""
    held = [(rows, block.copy()) for rows, block in blocks]
    if held:
        rows, parts = zip(*held, strict=True)
        yield numpy.concatenate(rows), numpy.concatenate(parts)


class Ranked(NamedTuple):
    """Rankings of some queries, as in Found."""

    rows: Array
    scores: Array
    ties_at_cutoff: Array
    excluded: Array


def rank(scores: Array, rows: Array, k: int, names: RowIds, excluded: list[Array] | None) -> Ranked:
    """The best k of the results, which must contain one more if the corpus has it.

    scores: float32[n, depth], higher is better. rows: int64[n, depth], -1 for none.
    """
    none = rows < 0
    if none.any():
        scores[none] = -numpy.inf
    scores, rows = _in_order(scores, rows, names)
    removed = numpy.zeros(len(rows), numpy.int64)
    if excluded is not None:
        scores, rows = _drop(scores, rows, k, excluded, removed)
    cut = numpy.zeros(len(rows), bool)
    if rows.shape[1] > k:
        cut = (rows[:, k] >= 0) & (scores[:, k] == scores[:, k - 1])
    rows, scores = (numpy.ascontiguousarray(table[:, :k]) for table in (rows, scores))
    return Ranked(rows, scores, cut, removed)


def _in_order(scores: Array, rows: Array, names: RowIds) -> tuple[Array, Array]:
    """Order ties by document id, descending, where that matters."""
    doubtful = (scores[:, 1:] >= scores[:, :-1]) & (rows[:, 1:] >= 0)
    affected = numpy.flatnonzero(doubtful.any(axis=1))
    if not len(affected):
        return scores, rows
    their_scores, their_rows = scores[affected], rows[affected]
    none = their_rows < 0
    keys = names.sort_keys(numpy.where(none, 0, their_rows))
    order = numpy.lexsort([*(-key for key in keys), -their_scores, none])
    scores[affected] = numpy.take_along_axis(their_scores, order, axis=1)
    rows[affected] = numpy.take_along_axis(their_rows, order, axis=1)
    return scores, rows


def _drop(
    scores: Array, rows: Array, k: int, excluded: list[Array], counts: Array
) -> tuple[Array, Array]:
    """Remove the excluded documents and move those below up; counts them in `counts`."""
    single = [row_excluded[0] if len(row_excluded) == 1 else -2 for row_excluded in excluded]
    dropped = rows == numpy.array(single, numpy.int64)[:, None]
    for i, row_excluded in enumerate(excluded):
        if len(row_excluded) > 1:
            dropped[i] = numpy.isin(rows[i], row_excluded)
    affected = numpy.flatnonzero(dropped.any(axis=1))
    if not len(affected):
        return scores, rows
    is_excluded = dropped[affected]
    counts[affected] = (is_excluded & (numpy.cumsum(~is_excluded, axis=1) < k)).sum(axis=1)
    order = numpy.argsort(is_excluded, axis=1, kind="stable")
    gone = numpy.take_along_axis(is_excluded, order, axis=1)
    scores[affected] = numpy.where(
        gone, -numpy.inf, numpy.take_along_axis(scores[affected], order, axis=1)
    )
    rows[affected] = numpy.where(gone, -1, numpy.take_along_axis(rows[affected], order, axis=1))
    return scores, rows
