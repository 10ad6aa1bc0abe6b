"""Build, search and time indexes, and compare them with exact search."""

from __future__ import annotations

import math
import os
import time
from functools import partial
from itertools import chain
from statistics import median
from typing import NamedTuple

import numpy

from fastrank.common.arguments import at_least
from fastrank.common.keywords import pick, takes, with_defaults
from fastrank.common.parallel import in_order
from fastrank.common.progress import bar
from fastrank.core.formats.inputs import as_qrels
from fastrank.core.formats.trec.line_files import as_exclusions
from fastrank.core.matching.keywords import EVALUATION, SearchedOptions
from fastrank.core.measures.selection import DEFAULT_MEASURES, Selection, reusable
from fastrank.errors import ArrayError, OptionError
from fastrank.vectors.embeddings.faiss_configurations import (
    Configuration,
    built_index,
    check_configuration,
    metric_of,
    parse_configurations,
)
from fastrank.vectors.embeddings.index_comparison import IndexComparison, IndexPoint
from fastrank.vectors.embeddings.judged_search import evaluate_embeddings
from fastrank.vectors.searching.batches import search_batches
from fastrank.vectors.searching.faiss_api import load_faiss
from fastrank.vectors.searching.indexing import build_index
from fastrank.vectors.searching.row_ids import check_row_ids
from fastrank.vectors.searching.search_options import SEARCH, QueryOptions
from fastrank.vectors.searching.vectors import (
    Rows,
    block_rows,
    check_dimension,
    check_metric,
    open_vectors,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from faiss import Index as FaissIndex
    from typing_extensions import Unpack

    from fastrank.common.arrays import Array
    from fastrank.common.choices import Metric
    from fastrank.common.parallel import Workers
    from fastrank.core.formats.inputs import QrelsLike
    from fastrank.core.scores.scores import Scores
    from fastrank.vectors.searching.batches import Found
    from fastrank.vectors.searching.indexing import Index
    from fastrank.vectors.searching.row_ids import IdsLike, RowIds
    from fastrank.vectors.searching.vectors import Vectors, VectorsLike

EXACT = "exact"


class ComparisonOptions(QueryOptions, SearchedOptions, total=False):
    """Options to search each index and evaluate the results."""

    corpus_ids: IdsLike | None
    train_size: int | None


@takes(ComparisonOptions, SEARCH, EVALUATION)
def compare_indexes(
    queries: VectorsLike,
    corpus: VectorsLike,
    indexes: str
    | Iterable[str | tuple[str, Index | FaissIndex]]
    | Mapping[str, Index | FaissIndex],
    *,
    k: int = 100,
    metric: Metric | None = None,
    qrels: QrelsLike | None = None,
    measures: str | Iterable[str] = DEFAULT_MEASURES,
    repetitions: int = 5,
    executor: Workers | None = None,
    **options: Unpack[ComparisonOptions],
) -> IndexComparison:
    """Compare approximate indexes with exact search by recall, speed and size.

    queries, corpus: floats[n, dimension], as in `fastrank.searching.build_index`, except iterators,
        which can be read only once.
    indexes: strings of a faiss factory string and optional search settings by faiss's names:
        "IVF64,Flat nprobe=1 nprobe=8 nprobe=32", "HNSW32,efConstruction=200 efSearch=64". Each
        index is built once and searched with each setting, or with faiss's defaults. An index of
        the corpus that is built already is a file, "docs.index efSearch=64" (a string with a dot
        or a slash), or (name, Index or faiss index), whose name may be followed by settings.
    k: the number of documents to retrieve per query, for recall@k, the measures and the speed.
    metric: how vectors are compared: by "cosine", inner product ("ip") or Euclidean distance
        ("l2"). By default that of the first index that is built already, or else the cosine.
    qrels, measures: judgments and measures, as in `evaluate_embeddings`. Without judgments only
        recall, speed and size are computed.
    repetitions: the number of timed passes over all queries.
    executor: builds and measures each index in a worker, after exact search was measured here; see
        docs/scale-out.md. Recall and measures are the same, but speeds are comparable only if the
        workers are equal machines with one index at a time each. Processes read a file of vectors
        themselves, and get an array pickled.
    **options: see `ComparisonOptions`.

    recall@k is the share of the exact top k that is found, averaged over queries; documents that
    tie with rank k count as found. Speed is that of `fastrank.searching` with faiss's number of
    threads: queries divided by the median time of a pass. All indexes, including exact search, take
    turns over the same batches, so that other load on the machine affects them equally. All indexes
    are in memory at once. With an executor, only the settings of an index take turns, and a worker
    has one index in memory.

    Raises OptionError, before any index is built, for an invalid factory string, an unknown
    parameter, too few vectors to train an index, or a built index with another metric, dimension,
    number or ids of vectors, or other vectors, of which the first and last 50 are compared if faiss
    can reconstruct them; ReadError; and what `build_index` and `evaluate_embeddings` raise.

    >>> import numpy
    >>> rng = numpy.random.default_rng(0)
    >>> corpus, queries = rng.standard_normal((64, 8)), rng.standard_normal((4, 8))
    >>> found = fr.compare_indexes(queries, corpus, "IVF4,Flat nprobe=1 nprobe=4", k=3)
    >>> {point.name: point.recall for point in found.points if point.recall == 1}
    {'exact': 1.0, 'IVF4,Flat nprobe=4': 1.0}
    """
    values = with_defaults(compare_indexes, options)
    batch_size, train_size = values["batch_size"], values["train_size"]
    for option, value in {"k": k, "batch_size": batch_size, "repetitions": repetitions}.items():
        at_least(option, value, 1)
    parsed = parse_configurations(indexes)
    vectors = open_vectors("corpus", corpus)
    if not vectors.repeatable or vectors.count is None:
        raise ArrayError("corpus", "expected an array or a file, found an iterator")
    if metric is None:
        metrics = (metric_of(source) for *_, source in parsed if source is not None)
        metric = next(filter(None, metrics), None)
    metric = check_metric(metric)
    searched_for = _gathered(queries, unit=metric == "cosine")
    check_dimension(open_vectors("queries", searched_for), vectors.dimension)
    sample = vectors.count if train_size is None else min(vectors.count, train_size)
    measures = reusable(measures)
    Selection(measures)
    evaluation = {"measures": measures, "k": k, **pick(values, SearchedOptions)}
    if qrels is not None:
        evaluation["qrels"] = as_qrels(qrels)
    excluded = as_exclusions(values["exclude"])
    names = check_row_ids("corpus_ids", values["corpus_ids"], vectors.count)
    query_ids = check_row_ids("query_ids", values["query_ids"], len(searched_for))
    configurations = [
        Configuration(
            name=name,
            settings=settings,
            built=None if source is None else built_index(name, source, metric, vectors, names),
        )
        for name, settings, source in parsed
    ]
    for configuration in configurations:
        check_configuration(configuration, vectors.dimension, metric, sample)
    steps = (1 + len(configurations)) + (1 + repetitions) * (
        1 + sum(len(c.settings) for c in configurations)
    )
    setup = _Setup(
        os.path.abspath(corpus) if isinstance(corpus, (str, os.PathLike)) else vectors,
        metric,
        names,
        train_size,
        searched_for,
        k,
        None if qrels is None else partial(evaluate_embeddings, **evaluation),
        {
            "query_ids": query_ids,
            "batch_size": batch_size,
            "exclude": excluded,
            "ignore_identical_ids": values["ignore_identical_ids"],
        },
    )
    with bar("compare", steps, "steps", values["progress"]) as shown:
        # Exact search detects judgments that do not fit before the other indexes are built.
        flat = Configuration(name="Flat", settings=[""], built=None)
        runners = list(setup.runners(vectors, flat, shown.update))
        # An index that is built is in this process.
        sent = [c for c in configurations if executor is not None and c.built is None]
        for configuration in configurations:
            if configuration not in sent:
                runners += setup.runners(vectors, configuration, shown.update)
        _take_turns(runners, repetitions, shown.update)
        exact = runners[0]
        top = ExactTop(exact.index.faiss, searched_for, exact.found, metric)
        here = iter(runners[1:])
        measured = in_order(executor, _measured, sent, shared=(setup, repetitions), chunk_size=1)
        points = [exact.point(top, EXACT)]
        for configuration in configurations:
            if configuration not in sent:
                points += [next(here).point(top) for _ in configuration.settings]
                continue
            points += [point.changed(recall=top.recall(rows)) for point, rows in next(measured)]
            shown.update(1 + (1 + repetitions) * len(configuration.settings))
    return IndexComparison(
        k=k,
        metric=metric,
        documents=len(exact.index),
        dimension=exact.index.dimension,
        queries=len(searched_for),
        batch_size=batch_size,
        points=points,
    )


class _Setup(NamedTuple):
    """Everything that is the same for all indexes.

    corpus: vectors or the path of their file. evaluate: takes queries and an index; None without
    judgments.
    """

    corpus: object
    metric: str
    names: RowIds
    train_size: int | None
    queries: Array
    k: int
    evaluate: Callable[..., Scores] | None
    options: dict[str, Any]

    def runners(
        self, vectors: Vectors, configuration: Configuration, update: Callable[[float], object]
    ) -> Iterator[_Runner]:
        """Build an index and search it with each setting; call `update(1)` after each step."""
        index, seconds = configuration.built, None
        if index is None:
            start = time.perf_counter()
            try:
                index = build_index(
                    vectors,
                    configuration.name,
                    self.metric,
                    self.names,
                    self.train_size,
                    progress=False,
                )
            except OptionError as error:
                raise OptionError("indexes", f"{configuration.name!r}: {error.reason}") from None
            seconds = time.perf_counter() - start
        update(1)
        for setting in configuration.settings:
            runner = _Runner(self, configuration.name, index, seconds, setting)
            update(1)
            yield runner


def _take_turns(
    runners: list[_Runner], repetitions: int, update: Callable[[float], object]
) -> None:
    """Measure the times of all runners, a different one first in each pass."""
    for turn in range(repetitions):
        first = turn % len(runners)
        for runner in chain(runners[first:], runners[:first]):
            runner.time()
            update(1)


def _measured(
    shared: tuple[_Setup, int], configuration: Configuration
) -> list[tuple[IndexPoint, Array]]:
    """In a worker: the points of an index, without recall, and the rows that were found."""
    setup, repetitions = shared
    vectors = open_vectors("corpus", setup.corpus)
    runners = list(setup.runners(vectors, configuration, lambda _: None))
    _take_turns(runners, repetitions, lambda _: None)
    return [(runner.point(None), runner.found) for runner in runners]


class _Runner:
    """An index with a search setting, to be searched repeatedly.

    found: int64[queries, k], the rows found by the first search, which also warms up the index.
    """

    def __init__(
        self, setup: _Setup, name: str, index: Index, build_seconds: float | None, setting: str
    ) -> None:
        self._setup, self._name, self.index, self._build_seconds = setup, name, index, build_seconds
        self._setting = setting
        self._options = {**setup.options, "parameters": setting, "progress": False}
        self._seconds: list[float] = []
        self.found = numpy.full((len(setup.queries), setup.k), -1, numpy.int64)
        for batch in self._batches():
            stop = batch.start + len(batch.rows)
            self.found[batch.start : stop, : batch.rows.shape[1]] = batch.rows
        self._scores: Scores | None = None
        if setup.evaluate is not None:
            self._scores = setup.evaluate(setup.queries, index, **self._options)

    def time(self) -> None:
        """Search once more to measure the time."""
        start = time.perf_counter()
        for _ in self._batches():
            pass
        self._seconds.append(time.perf_counter() - start)

    def point(self, top: ExactTop | None, name: str = "") -> IndexPoint:
        """The measurements; recall is NaN without the exact results."""
        return IndexPoint(
            name=name or f"{self._name} {self._setting}".strip(),
            index_factory=self._name,
            parameters=self._setting,
            recall=math.nan if top is None else top.recall(self.found),
            seconds=self._seconds,
            queries_per_second=len(self.found) / median(self._seconds),
            bytes=_size_of(self.index),
            build_seconds=self._build_seconds,
            scores=self._scores,
        )

    def _batches(self) -> Iterator[Found]:
        return search_batches(self._setup.queries, self.index, self._setup.k, **self._options)


def _gathered(queries: VectorsLike, *, unit: bool) -> Array:
    """All queries as 32-bit floats; `unit`: they will be normalized."""
    vectors = open_vectors("queries", queries)
    blocks = vectors.blocks(block_rows(vectors.dimension), unit=False)
    # A block may be overwritten by the next one; the rows of an array are not.
    parts = [block if isinstance(vectors, Rows) else block.copy() for _, block in blocks]
    if not parts:
        raise ArrayError("queries", "expected vectors, found none")
    whole = parts[0] if len(parts) == 1 else numpy.concatenate(parts)
    open_vectors("queries", whole).check(unit=unit)
    return whole


def _size_of(index: Index) -> int:
    """The number of bytes that faiss writes for an index, without storing them."""
    faiss = load_faiss()
    size = 0

    def count(piece: bytes) -> None:
        nonlocal size
        size += len(piece)

    writer = faiss.PyCallbackIOWriter(count)
    faiss.write_index(index.faiss, writer)
    return size


# Vectors compared at a time, in values: 32 MB as doubles.
BLOCK_VALUES = 1 << 22


class ExactTop:
    """The exact top k of each query, to compute the recall of other indexes.

    index: an exact faiss index that can reconstruct its vectors. queries: float32[n, dimension].
    rows: int64[n, k], best first, -1 for none.
    """

    def __init__(self, index: FaissIndex, queries: Array, rows: Array, metric: str) -> None:
        self._index, self._queries, self._rows = index, queries, rows
        self._squares = metric == "l2"
        self._sizes = (rows >= 0).sum(axis=1)
        answered = numpy.flatnonzero(self._sizes)
        last = rows[answered, self._sizes[answered] - 1]
        self._least = numpy.full(len(rows), numpy.inf)
        self._least[answered] = self._scores(answered, last)

    def recall(self, rows: Array) -> float:
        """The share of the exact top k that was found, averaged over queries with results.

        rows: those found, int64[n, k], -1 for none. A document counts if it is in the exact top k,
        or if its score is at least that of the last one there. Scores are compared in double
        precision, so that neither ties nor rounding matter.
        """
        hits = numpy.zeros(len(rows), numpy.int64)
        step = max(1, BLOCK_VALUES // max(1, rows.shape[1]))
        for first in range(0, len(rows), step):
            hits[first : first + step] = self._hits(rows[first : first + step], first)
        answered = self._sizes > 0
        if not answered.any():
            return float("nan")
        return float((hits[answered] / self._sizes[answered]).mean())

    def _hits(self, rows: Array, first: int) -> Array:
        exact = self._rows[first : first + len(rows)]
        # Rows of distinct queries must not meet.
        width = int(self._index.ntotal) + 1
        offsets = width * numpy.arange(len(rows))[:, None]
        is_exact = numpy.isin(rows + offsets, exact + offsets) & (rows >= 0)
        queries, columns = numpy.nonzero(~is_exact & (rows >= 0))
        scores = self._scores(queries + first, rows[queries, columns])
        is_exact[queries, columns] = scores >= self._least[queries + first]
        hits: Array = is_exact.sum(axis=1)
        return hits

    def _scores(self, queries: Array, rows: Array) -> Array:
        """The score of each pair of query and document, in double precision."""
        scores = numpy.empty(len(rows))
        step = max(1, BLOCK_VALUES // int(self._index.d))
        for first in range(0, len(rows), step):
            some = slice(first, first + step)
            docs = self._index.reconstruct_batch(rows[some]).astype(numpy.float64)
            asked = self._queries[queries[some]].astype(numpy.float64)
            if self._squares:
                scores[some] = -((asked - docs) ** 2).sum(axis=1)
            else:
                scores[some] = (asked * docs).sum(axis=1)
        return scores
