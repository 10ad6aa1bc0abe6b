"""The command `fastrank eval-embeddings`: search embeddings and evaluate the results."""

from __future__ import annotations

from fastrank.cli.command import Command, UsageError, write_lines
from fastrank.cli.evaluation_flags import add_evaluation_options
from fastrank.cli.flags import ZERO, add_flags, given_options
from fastrank.cli.output_formats import formatted, settle_format
from fastrank.cli.search_flags import ONE_CORPUS, SearchInputs, add_search_options
from fastrank.evaluation.embeddings import (
    EmbeddingOptions,
    evaluate_embeddings,
    search_and_evaluate,
)
from fastrank.formats.inputs import run_name
from fastrank.formats.load import read_qrels
from fastrank.formats.source import name_of
from fastrank.judging.keywords import SearchedOptions
from fastrank.keywords import with_defaults
from fastrank.measures.selection import Selection
from fastrank.scores.text import notes
from fastrank.searching.indexing import Index
from fastrank.searching.shards import Shards

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser
    from fastrank.scores.scores import Scores

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


def _declare(parser: Parser) -> None:
    add_search_options(parser)
    parser.add_argument("--qrels", required=True, metavar="FILE", help="qrels in any format")
    add_flags(parser, evaluate_embeddings, ["run"])
    add_evaluation_options(parser, SearchedOptions)


def _run(given: argparse.Namespace) -> int:
    if given.run == (given.output or "-"):
        raise UsageError(
            f"--run and --output: expected different files, found {name_of(given.run)} twice"
        )
    settle_format(given)
    scores = _scores(given)
    for note in notes(scores, ZERO):
        given.command.warn(note)
    path, name = name_of(given.queries), scores.name or run_name(given.queries)
    write_lines(given.output, formatted([(path, name, scores)], given))
    return 0


def _scores(given: argparse.Namespace) -> Scores:
    measures = given.measure or ["official"]
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


COMMAND = Command(
    "fastrank eval-embeddings",
    _declare,
    _run,
    epilog=EPILOG,
    outputs=("output", "run"),
    usage=(f"{ONE_CORPUS} --queries FILE --qrels FILE",),
)
