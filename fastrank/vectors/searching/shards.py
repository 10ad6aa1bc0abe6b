"""A corpus in several files, the shards, which are searched separately."""

from __future__ import annotations

import os
from contextlib import contextmanager
from copy import copy
from itertools import accumulate
from typing import Any, NamedTuple

import numpy

from fastrank.common.arguments import at_least
from fastrank.common.messages import counted
from fastrank.common.parallel import outcomes
from fastrank.core.data.texts import Texts, decoded, memory_of
from fastrank.core.formats.files.source import is_url, name_of
from fastrank.errors import ArrayError, FastrankError, OptionError, ReadError
from fastrank.vectors.searching.engines import (
    IndexSearch,
    VectorSearch,
    queries_per_pass,
    result_heap,
)
from fastrank.vectors.searching.faiss_api import check_gpu, load_faiss
from fastrank.vectors.searching.npy_files import is_npy, load_npy, npy_outline
from fastrank.vectors.searching.row_ids import RowIds, check_row_ids
from fastrank.vectors.searching.storage import describe_index, read_index
from fastrank.vectors.searching.vectors import Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastrank.common.arrays import Array
    from fastrank.common.parallel import Workers
    from fastrank.vectors.searching.engines import Engine, Progress
    from fastrank.vectors.searching.indexing import Index
    from fastrank.vectors.searching.row_ids import IdsLike


class Shard(NamedTuple):
    """A file with a part of the corpus, as read from its header.

    path: or the URL. first: the row of the corpus that is the first here. metric: of an index, None
    for vectors. dtype: of vectors, "" for an index. ids: of an index, if it has any.
    """

    path: str
    first: int
    size: int
    dimension: int
    metric: str | None
    dtype: str
    ids: Texts | None = None

    @property
    def name(self) -> str:
        """The path in messages."""
        return name_of(self.path)


class Shards:
    """A corpus in several files, to be searched like an Index.

    files: the paths or URLs of `.npy` files with vectors, which are memory-mapped and searched
        exactly, and of indexes written by `write_index` or faiss. Rows are numbered in the order of
        the files. A file may have no vectors.
    executor: runs a task for each file: any concurrent.futures.Executor, for example of processes
        or of a Dask cluster (`client.get_executor()`), or a pool of multiprocessing or Ray. Its
        workers must be able to read the files at the same paths. None searches one file after the
        other.
    threads: the number of faiss's threads in each task, by default 1 with an executor, else
        faiss's setting. Processes that were forked after faiss has used several threads must
        use 1, or faiss blocks forever.

    Here only the headers and ids of the files are read, but indexes at URLs are loaded. The task
    that searches a file at a URL downloads it to a temporary file. metric: that of the indexes,
    None if there are only vectors. dimension: of the vectors. zeros: the rows of zero vectors that
    the last search for cosines met. len() is the number of vectors.

    In a search, a task opens one file, searches it for all queries, and returns the scores and rows
    of its best results. These are merged in the order of the files. Memory of a task: the index, or
    a block of a `.npy` file, the queries, and their results; of the caller: the queries, twice
    their results, those of tasks that have finished early, and the ids. If the results of all
    queries need more than 256 MB, the files are searched several times, for some of the queries
    each.

    The results of `.npy` files and flat indexes are those of one flat index with all vectors. Its
    scores are the same, bit for bit, if faiss uses as many threads as the tasks do, on CPUs of the
    same type, and the dimension is at most 16,384. As in `search`, documents with the same score at
    ranks k and k + 1 may differ. Approximate indexes find what each of them finds. ReadError names
    the file if a task fails.

    Raises ReadError for a file that cannot be read, and ArrayError, with the path as its name, for
    another dimension, type or metric than in the first files, for an index without ids if others
    have ids, and for duplicate ids.

    >>> import os, tempfile
    >>> import numpy
    >>> from fastrank.searching import Shards, search
    >>> folder = tempfile.TemporaryDirectory()
    >>> paths = [os.path.join(folder.name, name) for name in ("a.npy", "b.npy")]
    >>> numpy.save(paths[0], numpy.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> numpy.save(paths[1], numpy.array([[0.8, 0.6]]))
    >>> Shards(paths)
    <Shards: 2 files, 3 vectors of dimension 2>
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as executor:
    ...     shards = Shards(paths, executor)
    ...     search([[1.0, 0.1]], shards, 2, corpus_ids=["d1", "d2", "d3"]).to_dict()
    {'0': {'d1': 0.99..., 'd3': 0.85...}}
    >>> folder.cleanup()
    """

    def __init__(
        self,
        files: Iterable[str | os.PathLike[str]],
        executor: Workers | None = None,
        threads: int | None = None,
    ) -> None:
        if isinstance(files, (str, os.PathLike)):
            raise OptionError(
                "shards", f"expected a list of paths, found one path: {name_of(files)}"
            )
        self.executor = executor
        self.threads = 1 if executor is not None else None
        if threads is not None:
            self.threads = at_least("threads", threads, 1)
        self.files = _described(files)
        self.dimension = self.files[0].dimension
        self.metric = next((file.metric for file in self.files if file.metric is not None), None)
        self.names = _names(self.files)
        self.zeros: frozenset[int] = frozenset()

    @property
    def ids(self) -> Texts | None:
        """The ids of the vectors, or None if they are row numbers."""
        return self.names.texts

    def with_ids(self, argument: str, ids: IdsLike) -> Shards:
        """The same shards with ids for all their vectors; `argument` is for messages.

        Raises ArrayError for duplicate ids or the wrong number of ids, OptionError if the shards
        have ids already.
        """
        if self.ids is not None:
            raise OptionError(argument, "the shards have ids already")
        shards = copy(self)
        shards.names = check_row_ids(argument, ids, len(self))
        return shards

    def __len__(self) -> int:
        last = self.files[-1]
        return last.first + last.size

    def __repr__(self) -> str:
        metric = "" if self.metric is None else f", metric {self.metric}"
        return (
            f"<Shards: {counted(len(self.files), 'file')}, {counted(len(self), 'vector')} of"
            f" dimension {self.dimension}{metric}>"
        )


def _described(files: Iterable[str | os.PathLike[str]]) -> list[Shard]:
    """Read the headers and compare them. Raises ArrayError, OptionError, ReadError."""
    shards: list[Shard] = []
    # The first shard with vectors, and the first with an index.
    vectors: Shard | None = None
    index: Shard | None = None
    for file in files:
        if not isinstance(file, (str, os.PathLike)):
            raise OptionError("shards", f"expected paths of files, found {type(file).__name__}")
        first = shards[-1].first + shards[-1].size if shards else 0
        shard = _read_header(os.fspath(file), first)
        if any(_place(shard.path) == _place(earlier.path) for earlier in shards):
            raise ArrayError(shard.name, "the shard is given twice")
        if shards and shard.dimension != shards[0].dimension:
            expected = f"dimension {shards[0].dimension}"
            raise _differs(shard, f"dimension {shard.dimension}", shards[0], expected)
        if shard.metric is None:
            vectors = vectors or shard
            if shard.dtype != vectors.dtype:
                raise _differs(shard, shard.dtype, vectors, vectors.dtype)
        else:
            index = index or shard
            if shard.metric != index.metric:
                raise _differs(shard, f"metric {shard.metric!r}", index, repr(index.metric))
        shards.append(shard)
    if not shards:
        raise OptionError("shards", "expected at least one file, found none")
    return shards


def _differs(shard: Shard, value: str, earlier: Shard, expected: str) -> ArrayError:
    return ArrayError(shard.name, f"expected {expected}, as in {earlier.name}, found {value}")


def _place(path: str) -> str:
    return path if is_url(path) else os.path.realpath(path)


def _read_header(path: str, first: int) -> Shard:
    if is_npy(path):
        rows = Rows(name_of(path), npy_outline(path))
        assert rows.count is not None
        return Shard(path, first, rows.count, rows.dimension, None, str(rows.rows.dtype))
    index = describe_index(path)
    return Shard(path, first, index.size, index.dimension, index.metric, "", index.ids)


def _names(files: list[Shard]) -> RowIds:
    """The ids of all vectors. Raises ArrayError."""
    files_with_ids = [file for file in files if file.ids is not None]
    total = sum(file.size for file in files)
    if not files_with_ids:
        return RowIds(None, total)
    lacking = next((file for file in files if file.ids is None and file.size), None)
    if lacking is not None:
        raise ArrayError(
            lacking.name, f"expected ids of the vectors, as in {files_with_ids[0].name}"
        )
    texts = [file.ids for file in files_with_ids if file.ids is not None]
    shifts = accumulate([len(part.buffer) for part in texts], initial=0)
    starts = [
        numpy.asarray(part.starts) + shift for part, shift in zip(texts, shifts, strict=False)
    ]
    whole = Texts(
        b"".join(bytes(part.buffer) for part in texts),
        memory_of(numpy.concatenate(starts)),
        memory_of(numpy.concatenate([numpy.asarray(part.lengths) for part in texts])),
    )
    try:
        return check_row_ids("shards", whole, total)
    except ArrayError as error:
        again = error.row or 0
        before = next(row for row in range(again) if whole[row] == whole[again])
        here, there = (_file_of(files, row) for row in (again, before))
        reason = f"duplicate id {decoded(whole[again])!r}, also in {there.name}"
        raise ArrayError(here.name, reason, again - here.first) from None


def _file_of(files: list[Shard], row: int) -> Shard:
    return next(file for file in files if file.first <= row < file.first + file.size)


class Request(NamedTuple):
    """The part of a search that all its tasks share.

    queries: float32[n, dimension]. total: the number of vectors in all shards. block: the depth and
    the batch size for which the engine chooses how many queries to search at once.
    """

    queries: Array
    depth: int
    metric: str
    total: int
    block: tuple[int, int]
    parameters: dict[str, float]
    gpu: bool
    threads: int | None


class ShardSearch:
    """Searches each shard in a task, and merges the results."""

    single = False

    def __init__(
        self, shards: Shards, metric: str, parameters: dict[str, float], *, gpu: bool
    ) -> None:
        vectors = next((file for file in shards.files if file.metric is None), None)
        if parameters and vectors is not None:
            reason = "exact search has no parameters; use them with indexes"
            raise OptionError("parameters", f"{vectors.name}: {reason}")
        self._shards, self._metric, self._parameters, self._gpu = shards, metric, parameters, gpu
        self._files = [file._replace(ids=None) for file in shards.files if file.size]
        for i, file in enumerate(self._files):
            # Workers may have another working directory.
            if shards.executor is not None and not is_url(file.path):
                self._files[i] = file._replace(path=os.path.abspath(file.path))
        self.count: int | None = len(shards)
        shards.zeros = frozenset()
        self._block = 1, 1

    @property
    def zeros(self) -> frozenset[int]:
        """The rows of zero vectors that were normalized."""
        return self._shards.zeros

    def batched(self, depth: int, batch_size: int) -> int | None:
        """How many queries to search at once; None for all."""
        self._block = depth, batch_size
        # Every shard is loaded once for as many queries as fit in memory.
        return queries_per_pass(depth, self._shards.dimension, batch_size)

    def search(self, queries: Array, depth: int, progress: Progress) -> tuple[Array, Array]:
        """As in IndexSearch."""
        request = Request(
            queries,
            depth,
            self._metric,
            len(self._shards),
            self._block,
            self._parameters,
            self._gpu,
            self._shards.threads,
        )
        heap = result_heap(len(queries), depth, self._metric)
        results = outcomes(
            self._shards.executor, search_shard, self._files, shared=request, chunk_size=1
        )
        try:
            for file, (value, error) in zip(self._files, results, strict=True):
                if isinstance(error, FastrankError):
                    raise error
                if error is not None:
                    reason = f"the search failed: {type(error).__name__}: {error}"
                    raise ReadError(file.name, reason) from error
                scores, rows, zeros = value
                heap.add_result(scores, rows)
                self._shards.zeros |= zeros
                progress(file.size / len(self._shards))
        finally:
            results.close()
        heap.finalize()
        return heap.D, heap.I


def search_shard(request: Request, shard: Shard) -> tuple[Array, Array, frozenset[int]]:
    """Scores or distances and rows of the best results in a shard, and rows of its zero vectors.

    Raises FastrankErrors that name the file.
    """
    # For one result, faiss would use another method.
    depth = min(request.depth, max(2, shard.size))
    # An engine may use the memory of the index.
    index = None if shard.metric is None else _loaded(shard)
    with _faiss_threads(request.threads):
        engine = _engine(request, shard, index)
        size = engine.batched(*request.block) or len(request.queries)
        results = [
            engine.search(request.queries[first : first + size], depth, lambda _: None)
            for first in range(0, len(request.queries), size)
        ]
    scores, rows = (numpy.concatenate(parts) for parts in zip(*results, strict=True))
    numpy.add(rows, shard.first, out=rows, where=rows >= 0)
    return scores, rows, frozenset(row + shard.first for row in engine.zeros)


def _loaded(shard: Shard) -> Index:
    index = read_index(shard.path)
    if index.names.count is None:
        reason = "expected an index whose ids are row numbers; the vectors were added with others"
        raise ReadError(shard.name, reason)
    _check_unchanged(shard, len(index), index.dimension)
    return index


def _engine(request: Request, shard: Shard, index: Index | None) -> Engine:
    on_gpu = check_gpu(request.gpu)
    if index is None:
        vectors, metric = Rows(shard.name, load_npy(shard.path, mapped=True)), request.metric
        _check_unchanged(shard, vectors.count, vectors.dimension)
    else:
        try:
            engine = IndexSearch(index, request.parameters, gpu=on_gpu)
        except OptionError as error:
            raise OptionError(error.option, f"{shard.name}: {error.reason}") from None
        flat = None if on_gpu else _flat_vectors(index)
        if flat is None:
            return engine
        # The vectors of an index for cosines have length 1.
        vectors, metric = Rows(shard.name, flat), "l2" if request.metric == "l2" else "ip"
    names = RowIds(None, shard.size)
    return VectorSearch(vectors, metric, names, gpu=on_gpu, first=shard.first, total=request.total)


def _check_unchanged(shard: Shard, count: int | None, dimension: int) -> None:
    if (count, dimension) != (shard.size, shard.dimension):
        expected = f"{shard.size} vectors of dimension {shard.dimension}"
        reason = f"expected {expected}, as before, found {count} of dimension {dimension}"
        raise ReadError(shard.name, reason)


def _flat_vectors(index: Index) -> Array | None:
    """The vectors of a flat index, float32[n, dimension]; None for other indexes."""
    faiss = load_faiss()
    faiss_index: Any = index.faiss
    if type(faiss_index) not in (faiss.IndexFlat, faiss.IndexFlatIP, faiss.IndexFlatL2):
        return None
    whole = faiss.rev_swig_ptr(faiss_index.get_xb(), len(index) * index.dimension)
    vectors: Array = whole.reshape(len(index), index.dimension)
    return vectors


@contextmanager
def _faiss_threads(threads: int | None) -> Iterator[None]:
    """Let faiss use a number of threads, None for its setting, in this thread."""
    faiss = load_faiss()
    before = faiss.omp_get_max_threads()
    if threads is not None:
        faiss.omp_set_num_threads(threads)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
