"""The commands `fastrank search` and `fastrank eval-embeddings`, which search embeddings to write a
run, or to evaluate it."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from fastrank.cli.command import Command, flag_of, write_lines
from fastrank.cli.eval import add_evaluation_options, default_format
from fastrank.cli.flags import INPUTS, OUTPUT, SEARCH, at_least, given_options
from fastrank.cli.output_formats import FORMATS, formatted, settle_layout
from fastrank.common.keywords import names_of, with_defaults
from fastrank.common.messages import counted
from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.inputs import run_name
from fastrank.core.formats.load import read_qrels
from fastrank.core.formats.tables.values import tag_of
from fastrank.core.matching.keywords import SearchedOptions
from fastrank.core.measures.selection import Selection
from fastrank.core.native.threads import processors
from fastrank.core.scores.text import NOTED, notes, numbering_notes
from fastrank.errors import OptionError
from fastrank.vectors.embeddings.judged_search import (
    EmbeddingOptions,
    evaluate_embeddings,
    search_and_evaluate,
)
from fastrank.vectors.searching.batches import build_for_search, search_batches, zero_vectors
from fastrank.vectors.searching.indexing import Index, build_index
from fastrank.vectors.searching.row_ids import check_row_ids
from fastrank.vectors.searching.runs import SOURCE, check_writable, run_lines, search
from fastrank.vectors.searching.search_options import SearchOptions
from fastrank.vectors.searching.shards import Shards
from fastrank.vectors.searching.storage import SUFFIX, read_index, write_index
from fastrank.vectors.searching.vectors import check_dimension, open_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from fastrank.cli.parser import Parser
    from fastrank.core.scores.scores import Scores
    from fastrank.vectors.searching.batches import Found
    from fastrank.vectors.searching.vectors import Vectors

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
# The suffix of the file of ids beside an index.
BESIDE = dict.fromkeys(("index", "shard", "save_index"), SUFFIX)
# The part of the usage about the corpus.
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

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._stack = ExitStack()
        if [arguments.index, arguments.corpus, arguments.shard].count(None) != 2:
            raise OptionError("--corpus", "expected one of --corpus, --index and --shard")
        if arguments.jobs > 1 and not arguments.shard:
            raise OptionError("--jobs", "only --shard is searched in several processes")
        self.queries = open_vectors("queries", arguments.queries)
        self.names = check_row_ids("query_ids", arguments.query_ids, self.queries.count)
        self.corpus: Index | Shards | Vectors
        if arguments.corpus is not None:
            self.corpus = open_vectors("corpus", arguments.corpus)
            self.documents = check_row_ids("corpus_ids", arguments.corpus_ids, self.corpus.count)
        else:
            _refuse_building(arguments)
            self.corpus = self._shards() if arguments.shard else read_index(arguments.index)
            if arguments.corpus_ids is not None:
                self.corpus = self.corpus.with_ids("corpus_ids", arguments.corpus_ids)
            self.documents = self.corpus.names
        check_dimension(self.queries, self.corpus.dimension)

    def __enter__(self) -> SearchInputs:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def _shards(self) -> Shards:
        files = self._arguments.shard
        jobs = min(self._arguments.jobs, len(files))
        if jobs == 1:
            return Shards(files)
        from fastrank.cli.jobs import processes

        executor = self._stack.enter_context(processes(jobs, "spawn"))
        return Shards(files, executor, max(1, processors() // jobs))

    def indexed(self) -> None:
        """Build and save the index, if the command line asks for it."""
        arguments = self._arguments
        if isinstance(self.corpus, (Index, Shards)) or (
            arguments.index_factory == "Flat" and not arguments.save_index
        ):
            return
        index = build_for_search(
            self.queries, self.corpus, self.documents, arguments.k, vars(arguments)
        )
        self.corpus = index
        if arguments.save_index:
            write_index(index, arguments.save_index)


def _refuse_building(arguments: argparse.Namespace) -> None:
    source = "--index" if arguments.shard is None else "--shard"
    for name in ("save_index", "train_size"):
        if getattr(arguments, name) is not None:
            raise OptionError(flag_of(name), f"cannot be combined with {source}")
    if arguments.index_factory != "Flat":
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


def _search(arguments: argparse.Namespace) -> None:
    cuts: list[int] = []

    def watched(batches: Iterator[Found]) -> Iterator[Found]:
        for batch in batches:
            cuts.append(int(batch.ties_at_cutoff.sum()))
            yield batch

    options = given_options(arguments, SearchOptions)
    tag = tag_of(arguments.tag, SOURCE)
    output = "-" if arguments.output is None else arguments.output
    with SearchInputs(arguments) as sides:
        check_writable(output, sides.documents, sides.names, tag)
        sides.indexed()
        has_ids = isinstance(sides.corpus, (Index, Shards))
        batches = search_batches(
            sides.queries,
            sides.corpus,
            arguments.k,
            corpus_ids=None if has_ids else sides.documents,
            **{**options, "query_ids": sides.names},
        )
        lines = run_lines(watched(batches), tag, warn=arguments.command.warn)
        files.write_compressed(output, lines)
    counts = {
        "ties_at_cutoff": sum(cuts),
        "zero_vectors": zero_vectors(sides.queries, sides.corpus),
    }
    numbers = (ids.count if ids.texts is None else None for ids in (sides.documents, sides.names))
    notes = [counted(count, *NOTED[name]) for name, count in counts.items() if count]
    for note in [*numbering_notes(*numbers), *notes]:
        arguments.command.warn(note)


def _declare_evaluation(parser: Parser) -> None:
    add_vectors(parser)
    parser.add("--qrels FILE", "qrels in any format", required=True, group=INPUTS)
    add_evaluation_options(parser, SearchedOptions)
    parser.add_flags(evaluate_embeddings, ["run", "tag"], group=OUTPUT)
    add_search_options(parser)


def _evaluate(arguments: argparse.Namespace) -> None:
    settle_layout(arguments)
    scores = _scores(arguments)
    for note in notes(scores):
        arguments.command.warn(note)
    path, name = name_of(arguments.queries), scores.name or run_name(arguments.queries)
    write_lines(arguments.output, formatted([(path, name, scores)], arguments))


def _scores(arguments: argparse.Namespace) -> Scores:
    measures = arguments.measures or ["official"]
    Selection(measures).bind(arguments.trec_eval_version)
    options = given_options(arguments, EmbeddingOptions)
    qrels = read_qrels(
        arguments.qrels, trec_eval_version=arguments.trec_eval_version, warn=arguments.command.warn
    )
    with SearchInputs(arguments) as sides:
        if arguments.save_index:
            sides.indexed()
        options["query_ids"] = sides.names
        if isinstance(sides.corpus, (Index, Shards)):
            options |= {"corpus_ids": None, "index_factory": "Flat"}
        else:
            options["corpus_ids"] = sides.documents
        complete = with_defaults(evaluate_embeddings, options)
        return search_and_evaluate(
            sides.queries, sides.corpus, qrels, measures, complete, warn=arguments.command.warn
        )


SEARCH_COMMAND = Command(
    "fastrank search",
    _declare_search,
    _search,
    epilog=SEARCH_EPILOG,
    outputs=("output", "save_index"),
    kinds={"output": "run", "save_index": "index"},
    beside=BESIDE,
    usage=(f"{ONE_CORPUS} --queries FILE -o FILE",),
)
EVAL_EMBEDDINGS = Command(
    "fastrank eval-embeddings",
    _declare_evaluation,
    _evaluate,
    epilog=EVALUATE_EPILOG,
    formats=FORMATS,
    default=default_format,
    outputs=("output", "run", "save_index"),
    kinds={"run": "run", "save_index": "index"},
    beside=BESIDE,
    usage=(f"{ONE_CORPUS} --queries FILE --qrels FILE",),
)
