"""The command `fastrank eval-embeddings`: search embeddings and evaluate the results."""

from __future__ import annotations

import argparse

from fastrank.cli.evaluation_flags import ZERO, add_evaluation_options, check_version
from fastrank.cli.flags import add_flags, given_options
from fastrank.cli.output import (
    can_be_written,
    complain,
    guarded,
    report_error,
    report_unwritable,
    write,
)
from fastrank.cli.output_formats import formatted, settle_format
from fastrank.cli.search_flags import SearchInputs, add_search_options
from fastrank.errors import FastrankError
from fastrank.evaluation.embeddings import (
    EmbeddingOptions,
    evaluate_embeddings,
    search_and_evaluate,
)
from fastrank.formats import files
from fastrank.formats.compression import compressed
from fastrank.formats.inputs import run_name
from fastrank.formats.load import read_qrels
from fastrank.judging.keywords import EVALUATION, SearchedOptions
from fastrank.keywords import select, with_defaults
from fastrank.measures.selection import Selection
from fastrank.scores.text import notes
from fastrank.searching.indexing import Index
from fastrank.searching.search_options import SEARCH
from fastrank.searching.shards import Shards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.scores.scores import Scores

NAME = "fastrank eval-embeddings"
EPILOG = """\
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add_search_options(parser)
    parser.usage = (
        f"{NAME} [options] (--corpus FILE | --index FILE | --shard FILE ...) "
        "--queries FILE --qrels FILE"
    )
    parser.epilog = EPILOG
    add = parser.add_argument
    add("--qrels", required=True, metavar="FILE", help="qrels in any format")
    add_flags(parser, [keyword for keyword in SEARCH if keyword.name == "run"])
    add_evaluation_options(parser, SearchedOptions)


def run(given: argparse.Namespace) -> int:
    """Search and evaluate; returns the exit status."""
    return guarded(NAME, lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    if not check_version(given, NAME):
        return 2
    if given.run == (given.output or "-"):
        name = files.name_of(given.run)
        complain(f"{NAME}: --run and --output: expected different files, found {name} twice")
        return 2
    if not can_be_written(NAME, given.output, given.run):
        return 1
    try:
        settle_format(given)
        scores = _scores(given)
    except FastrankError as error:
        return report_error(NAME, error)
    except OSError as error:
        return report_unwritable(NAME, given.run, error)
    for note in notes(scores, ZERO):
        complain(f"{NAME}: {note}")
    path, name = files.name_of(given.queries), scores.name or run_name(given.queries)
    lines = formatted([(path, name, scores)], given)
    if given.output is None:
        write(lines)
        return 0
    try:
        files.write(given.output, compressed(lines, given.output))
    except OSError as error:
        return report_unwritable(NAME, given.output, error)
    return 0


def _scores(given: argparse.Namespace) -> Scores:
    measures = given.measure or ["official"]
    Selection(measures).bind(given.trec_eval_version)
    options = given_options(given, select(EmbeddingOptions, SEARCH, EVALUATION))
    qrels = read_qrels(given.qrels, trec_eval_version=given.trec_eval_version, warn=_warn)
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
            sides.queries, sides.corpus, qrels, measures, complete, warn=_warn
        )


def _warn(message: str) -> None:
    complain(f"{NAME}: {message}")
