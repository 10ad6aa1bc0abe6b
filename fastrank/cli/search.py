"""The commands `fastrank search` and `fastrank eval-embeddings`, which search embeddings to write a
run, or to evaluate it."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from fastrank.cli.command import Command, flag_of, write_lines
from fastrank.cli.eval import add_evaluation_options
from fastrank.cli.flags import INPUTS, OUTPUT, SEARCH, ZERO, at_least, given_options
from fastrank.cli.output_formats import FORMATS, formatted, settle_layout
from fastrank.errors import OptionError, ReadError
from fastrank.evaluation.embeddings import (
    EmbeddingOptions,
    evaluate_embeddings,
    search_and_evaluate,
)
from fastrank.formats import files
from fastrank.formats.inputs import run_name
from fastrank.formats.load import read_qrels
from fastrank.formats.source import name_of
from fastrank.formats.tables import tag_of
from fastrank.judging.keywords import SearchedOptions
from fastrank.keywords import names_of, with_defaults
from fastrank.measures.selection import Selection
from fastrank.messages import counted
from fastrank.native.threads import processors
from fastrank.scores.text import NOTED, notes
from fastrank.searching.batches import check_before_building, search_batches
from fastrank.searching.indexing import Index, build_index
from fastrank.searching.row_ids import check_row_ids
from fastrank.searching.runs import SOURCE, check_writable, run_lines, search
from fastrank.searching.search_options import SearchOptions
from fastrank.searching.shards import Shards
from fastrank.searching.storage import read_index, write_index
from fastrank.searching.vectors import check_dimension, open_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from typing import Any

    from fastrank.cli.parser import Parser
    from fastrank.scores.scores import Scores
    from fastrank.searching.batches import Found
    from fastrank.searching.vectors import Vectors

SEARCH_EPILOG = """\
examples:
  fastrank search --corpus docs.npy --queries queries.npy -k 100 -o run.txt.gz
  fastrank search --corpus docs.npy --corpus-ids docs.txt \\
      --queries queries.npy --query-ids queries.txt --metric cosine -o run.txt
  fastrank search --corpus docs.npy --index-factory IVF1024,Flat \\
      --save-index docs.index --queries queries.npy --parameters nprobe=32 \\
      -o run.txt
  fastrank search --index docs.index --queries queries.npy -o run.txt
  fastrank search --shard docs0.npy --shard docs1.npy --jobs 2 \\
      --queries queries.npy -o run.txt

Documents with equal scores are ranked by id in descending order, as in
trec_eval. The run is written atomically: FILE is replaced only if everything
succeeds.

Exit status: 0 for success, 1 for wrong files, 2 for invalid options.
"""
EVALUATE_EPILOG = """\
examples:
  fastrank eval-embeddings --corpus docs.npy --queries queries.npy \\
      --qrels qrels.txt -m nDCG@10 -m RR@10
  fastrank eval-embeddings --corpus docs.npy --corpus-ids docs.txt \\
      --queries queries.npy --query-ids queries.txt --qrels qrels.txt \\
      --metric cosine --format table
  fastrank eval-embeddings --index docs.index --queries queries.npy \\
      --qrels qrels.txt --parameters efSearch=128 -k 100 --run run.txt.gz

The values equal those of fastrank search followed by fastrank eval. Queries
without judgments are searched only if --run is given. The output formats are
those of fastrank eval; the run is named by the --tag, and in json, file is that
of the query vectors.
"""
# The number of documents that are retrieved.
DEPTH = 1000
# What the usage says of the corpus.
ONE_CORPUS = "(--corpus FILE | --index FILE | --shard FILE ...)"


def add_vectors(parser: Parser) -> None:
    """Declare the files of vectors."""
    add = partial(parser.add, group=INPUTS)
    add("--corpus FILE", "document vectors, a .npy file of any float type")
    add("--index FILE", "an index of --save-index instead of --corpus")
    add("--shard FILE ...", "a part of the corpus, vectors or index; in order")
    add("--queries FILE", "query vectors, a .npy file", required=True)
    parser.add_flags(search, ["corpus_ids", "query_ids"], group=INPUTS)


def add_search_options(parser: Parser) -> None:
    """Declare how to search."""
    add = partial(parser.add, group=SEARCH)
    names = {"k", *names_of(SearchOptions)} - {"query_ids"}
    parser.add_flags(search, names, defaults={"k": DEPTH}, group=SEARCH)
    parser.add_flags(build_index, ["index_factory", "train_size"], group=SEARCH)
    add("--save-index FILE", "save the index to FILE, with its ids next to it")
    add("--jobs N", "search shards in N processes (default: 1)", type=at_least(1), default=1)


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
            raise OptionError(flag_of(name), f"cannot be combined with {source}")
    if given.index_factory != "Flat":
        raise OptionError("--index-factory", f"cannot be combined with {source}")


def _declare_search(parser: Parser) -> None:
    add_vectors(parser)
    parser.add(
        "-o, --output FILE",
        "write the run in TREC format, compressed if FILE ends in .gz, .bz2, .xz or .zst; - is"
        " standard output",
        required=True,
        group=OUTPUT,
    )
    parser.add_flags(search, ["tag"], group=OUTPUT)
    add_search_options(parser)


def _search(given: argparse.Namespace) -> None:
    cuts: list[int] = []

    def watched(batches: Iterator[Found]) -> Iterator[Found]:
        for found in batches:
            cuts.append(int(found.ties_at_cutoff.sum()))
            yield found

    options = given_options(given, SearchOptions)
    tag = tag_of(given.tag, SOURCE)
    with SearchInputs(given) as sides:
        check_writable(given.output, sides.documents, sides.names, tag)
        sides.indexed()
        has_ids = isinstance(sides.corpus, (Index, Shards))
        batches = search_batches(
            sides.queries,
            sides.corpus,
            given.k,
            corpus_ids=None if has_ids else sides.documents,
            **{**options, "query_ids": sides.names},
        )
        lines = run_lines(watched(batches), tag)
        files.write_compressed(given.output, lines)
    if sum(cuts):
        given.command.warn(counted(sum(cuts), *NOTED["ties_at_cutoff"]))


def _declare_evaluation(parser: Parser) -> None:
    add_vectors(parser)
    parser.add("--qrels FILE", "qrels in any format", required=True, group=INPUTS)
    add_evaluation_options(parser, SearchedOptions)
    parser.add_flags(evaluate_embeddings, ["run", "tag"], group=OUTPUT)
    add_search_options(parser)


def _evaluate(given: argparse.Namespace) -> None:
    settle_layout(given)
    scores = _scores(given)
    for note in notes(scores, ZERO):
        given.command.warn(note)
    path, name = name_of(given.queries), scores.name or run_name(given.queries)
    write_lines(given.output, formatted([(path, name, scores)], given))


def _scores(given: argparse.Namespace) -> Scores:
    measures = given.measures or ["official"]
    Selection(measures).bind(given.trec_eval_version)
    options = given_options(given, EmbeddingOptions)
    qrels = read_qrels(
        given.qrels, trec_eval_version=given.trec_eval_version, warn=given.command.warn
    )
    with SearchInputs(given) as sides:
        if given.save_index:
            sides.indexed()
        options["query_ids"] = sides.names
        if isinstance(sides.corpus, (Index, Shards)):
            options |= {"corpus_ids": None, "index_factory": "Flat"}
        else:
            options["corpus_ids"] = sides.documents
        complete = with_defaults(evaluate_embeddings, options)
        return search_and_evaluate(
            sides.queries, sides.corpus, qrels, measures, complete, warn=given.command.warn
        )


SEARCH_COMMAND = Command(
    "fastrank search",
    _declare_search,
    _search,
    epilog=SEARCH_EPILOG,
    outputs=(),
    usage=(f"{ONE_CORPUS} --queries FILE -o FILE",),
)
EVAL_EMBEDDINGS = Command(
    "fastrank eval-embeddings",
    _declare_evaluation,
    _evaluate,
    epilog=EVALUATE_EPILOG,
    formats=FORMATS,
    outputs=("output", "run"),
    usage=(f"{ONE_CORPUS} --queries FILE --qrels FILE",),
)
