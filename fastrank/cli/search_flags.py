"""What the commands that search have in common: their options and inputs."""

from __future__ import annotations

from contextlib import ExitStack

from fastrank.cli.flags import add_flags, at_least
from fastrank.errors import OptionError, ReadError
from fastrank.formats import files
from fastrank.keywords import names_of
from fastrank.native.threads import processors
from fastrank.searching.batches import check_before_building
from fastrank.searching.indexing import Index, build_index
from fastrank.searching.row_ids import check_row_ids
from fastrank.searching.runs import search
from fastrank.searching.search_options import SearchOptions
from fastrank.searching.shards import Shards
from fastrank.searching.storage import read_index, write_index
from fastrank.searching.vectors import check_dimension, open_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import Any

    from fastrank.cli.parser import Parser
    from fastrank.searching.vectors import Vectors


# The number of documents that are retrieved.
DEPTH = 1000
# What the usage says of the corpus.
ONE_CORPUS = "(--corpus FILE | --index FILE | --shard FILE ...)"


def add_search_options(parser: Parser) -> None:
    """Declare the inputs and the search options."""
    add = parser.add_argument
    add("--corpus", metavar="FILE", help="document vectors, a .npy file of any float type")
    add("--queries", required=True, metavar="FILE", help="query vectors, a .npy file")
    add(
        "--index",
        metavar="FILE",
        help="search an index written by --save-index instead of --corpus",
    )
    add(
        "--shard",
        action="append",
        metavar="FILE",
        help="search this part of the corpus, document vectors (.npy) or an index; repeat it"
        " for each part, in the order of the rows",
    )
    add(
        "--jobs",
        type=at_least(1),
        metavar="N",
        default=1,
        help="search shards in N processes (default: 1)",
    )
    add(
        "--save-index",
        metavar="FILE",
        help="save the index to FILE, and its document ids to a file next to it",
    )
    names = {"k", "corpus_ids", "tag", *names_of(SearchOptions)}
    add_flags(parser, search, names, defaults={"k": DEPTH})
    add_flags(parser, build_index, ["index_factory", "train_size"])


class SearchInputs:
    """The queries and the corpus of a command, checked as far as possible without an index.

    corpus: an Index, Shards, or vectors with their ids in `documents`. queries: vectors with their
    ids in `names`. As a context manager, it stops the processes that search shards.
    """

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._stack = ExitStack()
        if sum(source is not None for source in (given.index, given.corpus, given.shard)) != 1:
            raise OptionError("--corpus", "expected one of --corpus, --index and --shard")
        if given.jobs > 1 and not given.shard:
            raise OptionError("--jobs", "only --shard is searched in several processes")
        self.queries = open_vectors("queries", given.queries)
        self.names = check_row_ids("query_ids", given.query_ids, self.queries.count)
        self.corpus: Index | Shards | Vectors
        if given.corpus is not None:
            self.corpus = open_vectors("corpus", given.corpus)
            self.documents = check_row_ids("corpus_ids", given.corpus_ids, self.corpus.count)
        else:
            _refuse_building(given)
            self.corpus = self._shards() if given.shard else read_index(given.index)
            if given.corpus_ids is not None:
                self.corpus = self.corpus.with_ids("corpus_ids", given.corpus_ids)
            self.documents = self.corpus.names
        check_dimension(self.queries, self.corpus.dimension)

    def __enter__(self) -> SearchInputs:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def _shards(self) -> Shards:
        files = self._given.shard
        jobs = min(self._given.jobs, len(files))
        if jobs == 1:
            return Shards(files)
        from fastrank.cli.jobs import processes

        executor = self._stack.enter_context(processes(jobs, "spawn"))
        return Shards(files, executor, max(1, processors() // jobs))

    def indexed(self) -> None:
        """Build and save the index, if the command line asks for it."""
        given = self._given
        if isinstance(self.corpus, (Index, Shards)) or (
            given.index_factory == "Flat" and not given.save_index
        ):
            return
        if given.save_index:
            _report_unwritable(given.save_index, lambda: files.check_target(given.save_index))
        check_before_building(
            given.index_factory,
            self.corpus.dimension,
            given.metric,
            k=given.k,
            batch_size=given.batch_size,
            parameters=given.parameters,
        )
        self.queries.check(unit=given.metric == "cosine")
        index = build_index(
            self.corpus,
            given.index_factory,
            given.metric or "ip",
            self.documents,
            given.train_size,
            gpu=given.gpu,
            progress=given.progress,
        )
        self.corpus = index
        if given.save_index:
            _report_unwritable(given.save_index, lambda: write_index(index, given.save_index))


def _report_unwritable(path: str, work: Callable[[], None]) -> None:
    try:
        work()
    except OSError as error:
        reason = f"cannot be written: {error.strerror or error}"
        raise ReadError(files.name_of(path), reason) from None


def _refuse_building(given: argparse.Namespace) -> None:
    source = "--index" if given.shard is None else "--shard"
    for name in ("save_index", "train_size"):
        if getattr(given, name) is not None:
            option = "--" + name.replace("_", "-")
            raise OptionError(option, f"cannot be combined with {source}")
    if given.index_factory != "Flat":
        raise OptionError("--index-factory", f"cannot be combined with {source}")
