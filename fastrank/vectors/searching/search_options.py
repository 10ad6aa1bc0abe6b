"""The options of everything that searches, with their meanings and defaults."""

from __future__ import annotations

from fastrank.common.keywords import Keyword, TypedDict
from fastrank.core.formats.trec.line_files import EXCLUDE, IGNORE_IDENTICAL_IDS
from fastrank.vectors.searching.vectors import METRICS, SYNONYMS, check_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.common.choices import Metric
    from fastrank.core.formats.files.files import Source
    from fastrank.vectors.searching.row_ids import IdsLike


class SomeQueriesOptions(TypedDict, total=False):
    """Options of every search with many queries."""

    exclude: Mapping[Any, Iterable[object]] | None
    progress: bool | None


class QueryOptions(SomeQueriesOptions, total=False):
    """Options of a search for given vectors."""

    query_ids: IdsLike | None
    ignore_identical_ids: bool
    batch_size: int


class EngineOptions(SomeQueriesOptions, total=False):
    """Options of faiss."""

    parameters: str | Mapping[str, object] | None
    gpu: bool


class SearchOptions(QueryOptions, EngineOptions, total=False):
    """Options of a search."""

    metric: Metric | None


class IndexOptions(TypedDict, total=False):
    """Which index to build for a search."""

    index_factory: str
    train_size: int | None


class RunOptions(SearchOptions, IndexOptions, total=False):
    """Options of a search, for which an index may be built."""


class BuildOptions(EngineOptions, IndexOptions, total=False):
    """Options to build an index, search it, and keep the results."""

    k: int
    run: Source | None
    tag: str


SEARCH = (
    Keyword("k", 1000, "number of documents to retrieve per query."),
    Keyword(
        "metric",
        None,
        """how vectors are compared, by default by "cosine"; or by inner product ("ip"), or by
        Euclidean distance ("l2"). "dot", "cos", "cosine_similarity" and "euclidean" are other names
        of these. See `fastrank.searching.build_index`; an index has a metric already.""",
        check=lambda _, metric: check_metric(metric),
        choices=(*METRICS, *SYNONYMS),
    ),
    Keyword(
        "index_factory",
        "Flat",
        """the faiss factory string of the index to build, such as "HNSW32,efConstruction=200" or
        "IVF1024,Flat"; "Flat" is exact search. See `fastrank.searching.build_index`.""",
    ),
    Keyword(
        "train_size",
        None,
        "number of vectors to train the index with. See `fastrank.searching.build_index`.",
    ),
    Keyword(
        "query_ids",
        None,
        "the query ids: a list, an array, or the path of a file with one id per line or of a `.npy`"
        " file; by default the row numbers.",
    ),
    Keyword(
        "corpus_ids", None, "the document ids, as for `query_ids`; by default the row numbers."
    ),
    Keyword(
        "parameters",
        None,
        """search parameters of an Index by faiss's names. As "nprobe=32,efSearch=128" or a dict.
        The index itself is not changed.""",
    ),
    IGNORE_IDENTICAL_IDS,
    EXCLUDE,
    Keyword(
        "batch_size",
        1024,
        """number of queries per batch. Small batches are searched together if their heaps fit in
        256 MB, because faiss takes up to ten times as long per query for few queries.""",
    ),
    Keyword(
        "run",
        None,
        """write the run to a path, too. It is in TREC format and has the name `tag`; compressed if
        the path ends in .gz, .bz2, .xz or .zst. It is replaced only if everything succeeds.""",
    ),
    Keyword("tag", "fastrank", "the name of the run."),
    Keyword("gpu", False, "search on the GPUs; requires a GPU build of faiss."),
    Keyword(
        "progress",
        None,
        "show progress bars on standard error. By default on a terminal for long searches.",
    ),
)
