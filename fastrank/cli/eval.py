"""The command `fastrank eval`: evaluate any number of runs against the same judgments."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from fastrank.analysis.comparing.options import METHODS, RESAMPLES
from fastrank.cli.command import Command, misused, write_lines
from fastrank.cli.flags import CONVENTIONS, OUTPUT, STATISTICS, ZERO, at_least
from fastrank.cli.output import is_terminal
from fastrank.cli.output_formats import FORMATS, formatted, settle_layout
from fastrank.cli.run_scores import RunScores, add_reading_options, check_names
from fastrank.core.evaluation.evaluator import evaluate
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.inputs import run_names
from fastrank.core.matching.keywords import EvaluationOptions
from fastrank.core.results.table import distinct_from
from fastrank.core.scores.text import notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrank.cli.parser import Parser
    from fastrank.core.scores.scores import Scores

EPILOG = """\
examples:
  fastrank eval qrels.txt run.txt
  fastrank eval -m map -m P.5,10 -m ndcg_cut.10 qrels.txt runs/*.gz
  fastrank eval -m map --sort map --format markdown qrels.txt runs/*.gz
  fastrank eval --name BM25 --name ours --format latex --digits 3 qrels.txt \\
      bm25.run ours.run
  fastrank eval --interval qrels.txt run.txt
  fastrank eval -q --format csv -o values.csv qrels.txt run.txt
  fastrank eval --jobs 8 qrels.txt runs/*.gz

formats:
  trec      a line `run` with the name of the run, then the lines of trec_eval:
            the default for one run in a file or pipe
  table     the default for several runs, with --interval, and on a terminal:
            one row per run and one column per measure, or the other way round
            where that would not fit the terminal; with -q one row per query
  markdown, latex
            the same
  csv       columns run,query,measure,value in full precision: values over all
            queries, whose query is empty; with -q only those of each query
  jsonl     the same, one object per line; query is null for values over all
            queries; both have low and high with --interval
  json      a list with one object per run: file, run (its name), counts, mean,
            per_query
In json and jsonl, NaN and infinite values are null.

Exit status: 0 if all runs were evaluated; 1 if a run could not be evaluated (it
is skipped, and the file of -o is not written); 2 for invalid options, or qrels
that cannot be read.
"""


def add_evaluation_options(parser: Parser, kind: type) -> None:
    """Declare what to compute, how to print it, and the options of a kind."""
    shown, statistic = partial(parser.add, group=OUTPUT), partial(parser.add, group=STATISTICS)
    parser.add_measures("official")
    parser.add_output()
    shown("-q, --per-query", "also print the values of each query")
    shown("-n, --no-summary", "do not print values over all queries")
    parser.add_decimals()
    shown("--transpose", "one row per measure in tables")
    shown("--no-bold", "no bold for the best values in markdown and latex")
    statistic(
        "--interval METHOD",
        f"also print intervals of means: {', '.join(METHODS)} (default: {METHODS[0]})",
        nargs="?",
        const=METHODS[0],
        choices=METHODS,
    )
    statistic("--level P", "confidence level of --interval (default: 0.95)", type=float)
    statistic("--resamples N", f"resamples, except of t (default: {RESAMPLES})", type=at_least(1))
    statistic("--seed N", "seed of resamples (default: 0)", type=at_least(0))
    parser.add_flags(evaluate, kind)
    parser.add(
        "-c",
        f"same as {ZERO}",
        group=CONVENTIONS,
        action="store_const",
        dest="missing",
        const="zero",
        default=argparse.SUPPRESS,
    )


def _declare(parser: Parser) -> None:
    parser.add_files(runs=True)
    add_evaluation_options(parser, EvaluationOptions)
    parser.add_sort()
    parser.add_names()
    parser.add("--tags", "name runs by the tags in their files", group=OUTPUT)
    add_reading_options(parser)


def _run(arguments: argparse.Namespace) -> int:
    warn = arguments.command.warn
    check_names(arguments)
    with misused():
        settle_layout(arguments)
        results = _Results(arguments)
        if arguments.sort is not None:
            arguments.sort = results.runs.order_by(arguments.sort)
    lines = formatted(results, arguments)
    try:
        complete = lines if arguments.output is None else results.all_or_none(lines)
        write_lines(arguments.output, complete)
    except _IncompleteError:
        warn(f"{name_of(arguments.output)} was not written")
    failed = results.runs.failed
    if failed and len(arguments.runs) > 1:
        warn(f"{failed} of {len(arguments.runs)} runs could not be evaluated")
    return 1 if failed else 0


class _IncompleteError(Exception):
    """Some runs could not be evaluated."""


class _Results:
    """The file, name and scores of each run, evaluated lazily."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self.runs = RunScores(arguments, arguments.measures or ["official"])

    def __iter__(self) -> Iterator[tuple[str, str, Scores]]:
        arguments, runs = self._arguments, self.runs
        names = run_names(arguments.runs) if arguments.names is None else arguments.names
        taken = set[str]()
        paths = map(name_of, arguments.runs)
        for path, name, scores in zip(paths, names, runs.of(arguments.runs), strict=True):
            if scores is None:
                continue
            for note in notes(scores):
                arguments.command.warn(f"{path}: {note}")
            name = distinct_from(taken, scores.tag or name if arguments.tags else name)
            yield path, name, scores

    def all_or_none(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """The lines; raises _IncompleteError at their end if a run could not be evaluated."""
        yield from lines
        if self.runs.failed:
            raise _IncompleteError


def default_format(arguments: argparse.Namespace) -> str:
    """A table of several runs, of intervals, and on a terminal; else the lines of trec_eval."""
    several = len(getattr(arguments, "runs", ())) > 1 or arguments.interval is not None
    shown = arguments.output is None and is_terminal(sys.stdout)
    return "table" if several or shown else "trec"


COMMAND = Command(
    "fastrank eval",
    _declare,
    _run,
    usage=("QRELS RUN [RUN ...]",),
    epilog=EPILOG,
    formats=FORMATS,
    default=default_format,
)
