"""The command `fastrank eval`: judgments are read once, and every run gets a block of lines."""

from __future__ import annotations

import argparse
import os

from fastrank.cli.output import complain, guarded, write
from fastrank.cli.trec_eval import FORMATS
from fastrank.errors import FastrankError
from fastrank.evaluation import RunReader, evaluate_bound
from fastrank.exclusions import read_exclusions
from fastrank.levels import COMPAT_LEVELS, DEFAULT_COMPAT
from fastrank.options import (
    DUPLICATES,
    MISSING,
    NO_RELEVANT,
    TIES,
    Options,
    settle_depth,
    settle_missing,
)
from fastrank.participation import choose_queries
from fastrank.plan import check_options
from fastrank.report import trec_lines
from fastrank.selection import Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.columns import Preferences, Qrels
    from fastrank.scores import Scores

NAME = "fastrank eval"
EPILOG = """\
examples:
  fastrank eval qrels.txt run.txt
  fastrank eval -m map -m P.5,10 -m ndcg_cut.10 qrels.txt runs/*.gz

Each block begins with a line `file`, with the run's file name in place of a value. The exit
status is 1 if any of the runs could not be evaluated; those have no block.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    add = parser.add_argument
    add("qrels", help="file of judgments; - is standard input, here and below")
    add("runs", nargs="+", metavar="run", help="file of a run; may be compressed")
    add(
        "-m", "--measure", action="append", default=[], metavar="MEASURE",
        help="measure, measure.parameters or a set such as official (default) or all_trec;"
        " may be given several times",
    )  # fmt: skip
    add("-q", "--per-query", action="store_true", help="also print the values of each query")
    add("-n", "--no-summary", action="store_true", help="print no values over all queries")
    add(
        "-c", "--complete", action="store_true",
        help="average over all judged queries, not only those in the run",
    )  # fmt: skip
    add(
        "-l", "--relevance-level", type=int, default=1, metavar="N",
        help="the lowest grade that is relevant (1)",
    )  # fmt: skip
    add(
        "-J", "--judged-only", action="store_true", help="drop unjudged documents from the rankings"
    )
    add(
        "-M", "--max-retrieved", type=_at_least(0), metavar="N",
        help="cut rankings after so many documents",
    )  # fmt: skip
    add("--depth", type=_at_least(0), metavar="N", help="the same under another name")
    add(
        "-N", "--collection-size", type=int, default=0, metavar="N",
        help="number of documents in the collection, for utility",
    )  # fmt: skip
    add(
        "-R", "--relevance-format", choices=FORMATS, default="qrels",
        help="format of the judgments (qrels)",
    )  # fmt: skip
    add(
        "--compat", choices=COMPAT_LEVELS,
        default=os.environ.get("FASTRANK_COMPAT") or DEFAULT_COMPAT,
        help=f"which trec_eval's numbers to compute ($FASTRANK_COMPAT or {DEFAULT_COMPAT})",
    )  # fmt: skip
    add(
        "--ties", choices=TIES, default="docno_desc",
        help="order of documents with equal scores (docno_desc: larger id first); average: the"
        " expected value over all orders",
    )  # fmt: skip
    add(
        "--missing", choices=MISSING,
        help="judged queries without results: left out (skip, the default), 0 in the means (zero,"
        " the same as -c), or an error",
    )  # fmt: skip
    add(
        "--no-relevant", choices=NO_RELEVANT, default="zero",
        help="judged queries without a relevant document: evaluated (zero), left out, or an error",
    )  # fmt: skip
    add(
        "--ignore-identical-ids", action="store_true",
        help="leave out documents whose id is the query's",
    )  # fmt: skip
    add("--exclude", metavar="FILE", help="leave out documents: a query and a document per line")
    add(
        "--duplicates", choices=DUPLICATES, default="error",
        help="a document twice in a ranking: an error, or its first line or highest score counts",
    )  # fmt: skip
    add(
        "--threads", type=_at_least(1), metavar="N",
        default=os.environ.get("FASTRANK_THREADS") or None,
        help="threads for one file ($FASTRANK_THREADS, or as many as help); the values do not"
        " depend on it",
    )  # fmt: skip


def _at_least(least: int) -> type[int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value}: expected {least} or more")
        return value

    # argparse names the function in its messages.
    number.__name__ = "number"
    return number  # type: ignore[return-value]


def run(given: argparse.Namespace) -> int:
    """Evaluate the runs; returns the exit status."""
    return guarded(NAME, lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    if given.compat not in COMPAT_LEVELS:
        # argparse does not look at defaults.
        expected = " or ".join(COMPAT_LEVELS)
        complain(f"{NAME}: FASTRANK_COMPAT={given.compat}: expected {expected}")
        return 2
    read, _, _ = FORMATS[given.relevance_format]
    try:
        options = _options(given)
        bound = Selection(given.measure or ["official"]).bind(given.compat)
        check_options(bound, options)
        judgments = read(given.qrels, compat=given.compat, warn=_warn)
        judgments, skipped = choose_queries(judgments, options)
    except FastrankError as error:
        complain(f"{NAME}: {error}")
        return 2
    reader = RunReader(judgments, bound, options)
    failed = 0
    for path in given.runs:
        try:
            run = reader.read(path, threads=given.threads, warn=_warn)
            scores = evaluate_bound(judgments, run, bound, options, skipped=skipped)
        except FastrankError as error:
            complain(f"{NAME}: {_explained(error, path)}")
            failed += 1
            continue
        _tell_left_out(judgments, scores, path, complete=options.complete)
        write([b"%-22b\t%b\t%b\n" % (b"file", b"all", os.fsencode(path))])
        write(trec_lines(scores, per_query=given.per_query, summary=not given.no_summary))
    if failed and len(given.runs) > 1:
        complain(f"{NAME}: {failed} of {len(given.runs)} runs could not be evaluated")
    return 1 if failed else 0


def _options(given: argparse.Namespace) -> Options:
    """How to evaluate. Raises OptionError for a contradiction, and errors of the exclude file."""
    missing = settle_missing(given.missing, complete=given.complete)
    _, _, kind = FORMATS[given.relevance_format]
    return Options(
        compat=given.compat,
        relevance_format="prefs" if kind == "prefs" else given.relevance_format,
        relevance_level=given.relevance_level,
        complete=missing == "zero",
        judged_only=given.judged_only,
        max_retrieved=settle_depth(given.depth, given.max_retrieved),
        collection_size=given.collection_size,
        query=None,
        ties=given.ties,
        missing_is_error=missing == "error",
        no_relevant=given.no_relevant,
        ignore_identical_ids=given.ignore_identical_ids,
        exclude=read_exclusions(given.exclude) if given.exclude else {},
        duplicates=given.duplicates,
    )


def _explained(error: FastrankError, path: str) -> str:
    """The error with the file it is about, if it does not say so itself."""
    query = getattr(error, "query", None)
    if query is not None:
        return f"{path}: query '{os.fsdecode(query)}': {error}"
    return str(error) if hasattr(error, "path") else f"{path}: {error}"


def _tell_left_out(
    judgments: Qrels | Preferences, scores: Scores, path: str, *, complete: bool
) -> None:
    if scores.missing and not complete:
        complain(
            f"{NAME}: {path}: {scores.missing} of {len(judgments)} judged queries are missing from"
            " the run and are not averaged in (-c counts them as 0)"
        )
    counts = scores.counts
    for count, what in (
        (counts["skipped"], "judged queries have no relevant document and were left out"),
        (counts["removed"], "documents were excluded from the rankings"),
        (counts["repeated"], "repeated lines were left out of the rankings"),
    ):
        if count:
            complain(f"{NAME}: {path}: {count} {what}")


def _warn(message: str) -> None:
    complain(f"{NAME}: {message}")
