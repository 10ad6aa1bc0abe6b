"""The options of everything that searches: what each means, and its default."""

from __future__ import annotations

from fastrank.formats.exclusions import EXCLUDE
from fastrank.keywords import Keyword, TypedDict
from fastrank.search.vectors import METRICS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.formats.files import Source


class SomeQueriesOptions(TypedDict, total=False):
    """What every search of many queries takes."""

    exclude: Mapping[Any, Iterable[Any]] | None
    progress: bool | None


class QueryOptions(SomeQueriesOptions, total=False):
    """How to search for vectors that a caller has."""

    query_ids: Any
    exclude_self: bool
    batch_size: int


class EngineOptions(SomeQueriesOptions, total=False):
    """How faiss is to search."""

    parameters: str | Mapping[str, Any] | None
    gpu: bool


class SearchOptions(QueryOptions, EngineOptions, total=False):
    """How to search."""

    metric: str | None


class BuildOptions(EngineOptions, total=False):
    """How to build an index, search in it, and keep what is found."""

    k: int
    index_factory: str
    train_size: int | None
    run: Source | None
    tag: str


SEARCH = (
    Keyword(
        "k", 1000, "documents to find per query", "how deep to search.", metavar="N", parse=int
    ),
    Keyword(
        "metric", None, "inner product (ip, the default), Euclidean distance or cosine",
        """"ip" (the default), "l2" or "cosine", as in `fastrank.search.build_index`; an Index has
        its own.""",
        choices=METRICS,
    ),
    Keyword(
        "index_factory", "Flat",
        "the index to build, as faiss writes it: IVF1024,Flat, HNSW32, ...; by default every query"
        " is compared with every vector, block by block",
        """"Flat" compares every query with every vector; others are indexes to build, see
        `fastrank.search.build_index`.""",
        metavar="TEXT",
    ),
    Keyword(
        "train_size", None, "vectors to train the index with",
        "with how many vectors to train the index, as in `fastrank.search.build_index`.",
        metavar="N", parse=int,
    ),
    Keyword(
        "query_ids", None, "ids of the queries, one per line or a .npy file; else their rows",
        "the ids of the queries, else the numbers of their rows.", metavar="FILE",
    ),
    Keyword(
        "corpus_ids", None, "ids of the documents, likewise",
        "the ids of the documents, else the numbers of their rows.", metavar="FILE",
    ),
    Keyword(
        "parameters", None, "of the search in an index, by faiss's names: nprobe=32,efSearch=128",
        """of the search in an Index, by faiss's names: "nprobe=32,efSearch=128" or a dict. The
        index keeps its own.""",
        metavar="TEXT",
    ),
    Keyword(
        "exclude_self", False, "leave out documents whose id is the query's",
        "leave out the document whose id is the query's.",
    ),
    EXCLUDE,
    Keyword(
        "batch_size", 1024, "queries searched at once",
        """how many queries are handled at once. Small batches are searched together, as far as
        their heaps fit in 256 MB: faiss takes up to ten times as long for few queries.""",
        metavar="N", parse=int,
    ),
    Keyword(
        "run", None, "also write the run, as fastrank search does",
        """a path to which the run is written too, with the name `tag`: in TREC's format,
        compressed if the name says so, and complete or not at all.""",
        metavar="FILE",
    ),
    Keyword("tag", "fastrank", "the run's name", "the run's name.", metavar="TEXT"),
    Keyword(
        "gpu", False, "search on the GPUs, if faiss is built for them",
        "search on the GPUs, where faiss is built for them.",
    ),
    Keyword(
        "progress", None,
        "bars on standard error; by default on a terminal, where the work is long",
        "bars on standard error; by default where that is a terminal and the work is long.",
        parse=bool,
    ),
)  # fmt: skip
