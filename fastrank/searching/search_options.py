"""The options of everything that searches, with their meanings and defaults."""

from __future__ import annotations

from fastrank.formats.line_files import EXCLUDE, IGNORE_IDENTICAL_IDS
from fastrank.keywords import Keyword, TypedDict
from fastrank.searching.vectors import METRICS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.choices import Metric
    from fastrank.formats.files import Source
    from fastrank.searching.row_ids import IdsLike


class SomeQueriesOptions(TypedDict, total=False):
    """Options of every search with many queries."""

    exclude: Mapping[Any, Iterable[Any]] | None
    progress: bool | None


class QueryOptions(SomeQueriesOptions, total=False):
    """Options of a search for given vectors."""

    query_ids: IdsLike | None
    ignore_identical_ids: bool
    batch_size: int


class EngineOptions(SomeQueriesOptions, total=False):
    """Options of faiss."""

    parameters: str | Mapping[str, Any] | None
    gpu: bool


class SearchOptions(QueryOptions, EngineOptions, total=False):
    """Options of a search."""

    metric: Metric | None


class BuildOptions(EngineOptions, total=False):
    """Options to build an index, search it, and keep the results."""

    k: int
    index_factory: str
    train_size: int | None
    run: Source | None
    tag: str


SEARCH = (
    Keyword(
        "k", 1000, "retrieve N documents per query", "number of documents to retrieve per query.",
        metavar="N", parse=int,
    ),
    Keyword(
        "metric", None, "inner product (ip, the default), Euclidean distance (l2) or cosine",
        """"ip" (the default), "l2" or "cosine", as in `fastrank.searching.build_index`. None for an
        Index, which has a metric already.""",
        choices=METRICS,
    ),
    Keyword(
        "index_factory", "Flat",
        "faiss factory string of the index to build, such as HNSW32,efConstruction=200 or"
        " IVF1024,Flat; Flat is exact search",
        """the faiss factory string of the index to build, see `fastrank.searching.build_index`.
        "Flat" is exact search.""",
        metavar="STRING",
    ),
    Keyword(
        "train_size", None, "train the index with N vectors",
        "number of vectors to train the index with, as in `fastrank.searching.build_index`.",
        metavar="N", parse=int,
    ),
    Keyword(
        "query_ids", None, "query ids, one per line or a .npy file (default: row numbers)",
        "the query ids: a list, an array, or the path of a file with one id per line or of a `.npy`"
        " file; by default the row numbers.", metavar="FILE",
    ),
    Keyword(
        "corpus_ids", None, "document ids, one per line or a .npy file (default: row numbers)",
        "the document ids, as for `query_ids`; by default the row numbers.", metavar="FILE",
    ),
    Keyword(
        "parameters", None, "search parameters of the index by faiss's names, such as nprobe=32",
        """search parameters of an Index by faiss's names: "nprobe=32,efSearch=128" or a dict. The
        index itself is not changed.""",
        metavar="NAME=VALUE,...",
    ),
    IGNORE_IDENTICAL_IDS,
    EXCLUDE,
    Keyword(
        "batch_size", 1024, "number of queries per batch",
        """number of queries per batch. Small batches are searched together if their heaps fit in
        256 MB, because faiss takes up to ten times as long per query for few queries.""",
        metavar="N", parse=int,
    ),
    Keyword(
        "run", None, "also write the run, as fastrank search does",
        """a path to write the run to, in TREC format and with the name `tag`; compressed if the
        path ends in .gz, .bz2, .xz or .zst. It is replaced only if everything succeeds.""",
        metavar="FILE",
    ),
    Keyword("tag", "fastrank", "name of the run", "the name of the run.", metavar="NAME"),
    Keyword(
        "gpu", False, "search on the GPUs; requires a GPU build of faiss",
        "search on the GPUs; requires a GPU build of faiss.",
    ),
    Keyword(
        "progress", None,
        "show progress bars on standard error (default: on a terminal, for long searches)",
        "show progress bars on standard error, by default on a terminal for long searches.",
        parse=bool,
    ),
)  # fmt: skip
