"""The command `fastrank embed-eval`: vectors and judgments in, values of measures out."""

from __future__ import annotations

import argparse
import os

from fastrank import files
from fastrank.cli.layouts import LAYOUTS
from fastrank.cli.output import complain, guarded, write
from fastrank.cli.relevance import add_relevance_level
from fastrank.cli.search_options import Sides, add_search_options, search_arguments
from fastrank.convert.files import load_qrels
from fastrank.embeddings import evaluate_embeddings
from fastrank.errors import FastrankError
from fastrank.levels import COMPAT_LEVELS, DEFAULT_COMPAT
from fastrank.options import MISSING, NO_RELEVANT
from fastrank.report import LEFT_OUT
from fastrank.search.indexing import Index
from fastrank.selection import Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.scores import Scores

NAME = "fastrank embed-eval"
EPILOG = """\
examples:
  fastrank embed-eval --corpus docs.npy --queries queries.npy --qrels qrels.txt -m nDCG@10 -m RR@10
  fastrank embed-eval --corpus docs.npy --corpus-ids docs.txt --queries queries.npy \\
      --query-ids queries.txt --qrels qrels.txt --metric cosine --format table
  fastrank embed-eval --index docs.index --queries queries.npy --qrels qrels.txt \\
      --parameters efSearch=128 -k 100 --run run.txt.gz

The values are those of fastrank eval for the run that fastrank search writes. Queries without
judgments are not searched for, unless --run asks for the run. The formats are those of fastrank
eval, with the file of the queries' vectors as the file.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add_search_options(parser)
    parser.epilog = EPILOG
    add = parser.add_argument
    add("--qrels", required=True, metavar="FILE", help="file of judgments, of any format")
    add(
        "-m", "--measure", action="append", default=[], metavar="MEASURE",
        help="a measure in any notation (map, P.5,10, nDCG@10) or a set such as official (default);"
        " may be given several times; see fastrank measures",
    )  # fmt: skip
    add("-q", "--per-query", action="store_true", help="also print the values of each query")
    add("-n", "--no-summary", action="store_true", help="print no values over all queries")
    add("--format", choices=LAYOUTS, default="trec", help="how to print the values (trec)")
    add("-o", "--output", metavar="FILE", help="write the values to a file, or nothing at all")
    add("--run", metavar="FILE", help="also write the run, as fastrank search does")
    add("-c", "--complete", action="store_true", help="average over all judged queries")
    add_relevance_level(parser)
    add("-J", "--judged-only", action="store_true", help="drop unjudged documents")
    add("-M", "--max-retrieved", type=int, metavar="N", help="cut rankings for the measures")
    add("-N", "--collection-size", type=int, default=0, metavar="N",
        help="number of documents in the collection, for utility")  # fmt: skip
    add("--missing", choices=MISSING, help="judged queries without results (skip)")
    add("--no-relevant", choices=NO_RELEVANT, default="zero",
        help="judged queries without a relevant document (zero)")  # fmt: skip
    add(
        "--compat", choices=COMPAT_LEVELS,
        default=os.environ.get("FASTRANK_COMPAT") or DEFAULT_COMPAT,
        help=f"which trec_eval's numbers to compute ($FASTRANK_COMPAT or {DEFAULT_COMPAT})",
    )  # fmt: skip


def run(given: argparse.Namespace) -> int:
    """Search and evaluate; returns the exit status."""
    return guarded(NAME, lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    if given.compat not in COMPAT_LEVELS:
        # argparse does not look at defaults.
        expected = " or ".join(COMPAT_LEVELS)
        complain(f"{NAME}: FASTRANK_COMPAT={given.compat}: expected {expected}")
        return 2
    if given.run == (given.output or "-"):
        complain(f"{NAME}: --run: the values go to {given.run} already")
        return 1
    try:
        for target in (given.output, given.run):
            if target is not None:
                files.check_target(target)
        scores = _scores(given)
    except FastrankError as error:
        complain(f"{NAME}: {error}")
        return 1
    except OSError as error:
        complain(f"{NAME}: cannot write {target}: {error.strerror}")
        return 1
    _tell(scores, complete=given.complete or given.missing == "zero")
    layout = LAYOUTS[given.format]
    lines = layout(
        [(given.queries, scores)], per_query=given.per_query, summary=not given.no_summary
    )
    if given.output is None:
        write(lines)
        return 0
    try:
        files.write(given.output, lines)
    except OSError as error:
        complain(f"{NAME}: cannot write {given.output}: {error.strerror}")
        return 1
    return 0


def _scores(given: argparse.Namespace) -> Scores:
    measures = given.measure or ["official"]
    Selection(measures).bind(given.compat)
    arguments = search_arguments(given)
    qrels = load_qrels(given.qrels, compat=given.compat, warn=_warn)
    sides = Sides(given)
    if given.save_index:
        sides.indexed()
    built = isinstance(sides.corpus, Index)
    return evaluate_embeddings(
        sides.queries, sides.corpus, qrels, measures, k=given.k, query_ids=sides.names,
        corpus_ids=None if built else sides.documents,
        factory="Flat" if built else given.factory, train_size=given.train_size,
        run=given.run, tag=given.tag, relevance_level=given.relevance_level,
        missing=given.missing, no_relevant=given.no_relevant, complete=given.complete,
        judged_only=given.judged_only, max_retrieved=given.max_retrieved,
        collection_size=given.collection_size, compat=given.compat, **arguments,
    )  # fmt: skip


def _tell(scores: Scores, *, complete: bool) -> None:
    if scores.missing and not complete:
        complain(
            f"{NAME}: {scores.missing} judged queries have no vector or find nothing, and are not"
            " averaged in (-c counts them as 0)"
        )
    for name, what in LEFT_OUT.items():
        if scores.counts.get(name):
            complain(f"{NAME}: {scores.counts[name]} {what}")


def _warn(message: str) -> None:
    complain(f"{NAME}: {message}")
