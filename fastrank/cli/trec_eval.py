"""The command `trec_eval`: the original's arguments, output and exit status.

Nothing on this path may import numpy, numba or argparse: on a small file the command costs about
what starting Python costs.
"""

from __future__ import annotations

import os
import sys

from fastrank.cli.getopt import Parser, UsageError
from fastrank.cli.output import complain, guarded, write
from fastrank.common.arguments import DEFAULT_VERSION, TREC_EVAL_VERSIONS
from fastrank.common.c_numbers import atol
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.scoring import scores_of
from fastrank.core.formats.files.source import name_of, open_source, open_stdin, read_all
from fastrank.core.formats.trec import reader as trec
from fastrank.core.matching.match import match
from fastrank.core.matching.options import MAX_RETRIEVED, Options
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.selection import Selection
from fastrank.core.scores.columns import trec_lines
from fastrank.errors import EvaluationError, FormatError, MeasureError, NoQueriesError, ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from fastrank.core.data.texts import Ids
    from fastrank.core.matching.judged import Judged, JudgedRun

SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
LONG = {
    "help": ("h", False),
    "version": ("v", False),
    "query_eval_wanted": ("q", False),
    "measure": ("m", True),
    "complete_rel_info_wanted": ("c", False),
    "level_for_rel": ("l", True),
    "nosummary": ("n", False),
    "Debug_level": ("D", True),
    "Judged_docs_only": ("J", False),
    "Number_docs_in_coll": ("N", True),
    "Max_retrieved_per_topic": ("M", True),
    "Rel_info_format": ("R", True),
    "Results_format": ("T", True),
    "Output_old_results_format": ("o", True),
    "Zscore": ("Z", True),
}
# The field of a request that each option changes.
FLAGS = {"h": "help", "q": "per_query", "c": "complete", "J": "judged_only", "n": "summary"}
NUMBERS = {"l": "relevance_level", "N": "collection_size", "M": "max_retrieved"}
TEXTS = {"R": "relevance_format", "T": "run_format", "Z": "zscores"}

USAGE = """\
Usage: trec_eval [-h] [-q] {-m measure}* trec_rel_file trec_top_file
   -h: help on all options, file formats and (with -m) measures
   -q: also print the values of each query
   -m: measure, measure.parameters or a set of measures; `-h -m all_trec` lists them
   Further options: -c -l -n -v -D -J -M -N -R -T -Z
"""

# The original's version numbers, after which the tag in parentheses is ours.
VERSIONS = {"9.0.8": "9.0.7", "10.0": "10.0-rc3"}

# The measures without -m.
DEFAULT_SET = "official"

RUN_FORMAT, *RELEVANCE_FORMATS = trec.FORMATS


class _ExitError(Exception):
    """End the program: lines for standard error, and the exit status."""

    def __init__(self, status: int, *lines: str) -> None:
        super().__init__()
        self.lines, self.status = lines, status


class _Request:
    """The request of a command line."""

    def __init__(self, trec_eval_version: str) -> None:
        self.trec_eval_version = trec_eval_version
        self.threads: int | None = None
        self.selection = Selection(original=True)
        self.help = self.per_query = self.complete = self.judged_only = False
        self.summary = True
        self.relevance_level = 1
        self.collection_size = 0
        self.max_retrieved = MAX_RETRIEVED
        self.debug_level = 0
        self.query: bytes | None = None
        self.relevance_format, self.run_format = "qrels", RUN_FORMAT
        self.zscores: str | None = None

    def take(self, letter: str, value: str) -> None:
        """Apply one option."""
        if letter in FLAGS:
            setattr(self, FLAGS[letter], letter != "n")
        elif letter in NUMBERS:
            setattr(self, NUMBERS[letter], atol(os.fsencode(value)))
        elif letter in TEXTS:
            setattr(self, TEXTS[letter], value)
        elif letter == "v":
            raise _ExitError(0, version(self.trec_eval_version))
        elif letter == "m":
            try:
                self.selection.add(value)
            except MeasureError as error:
                raise _ExitError(1, f"trec_eval: {error}") from None
        elif letter == "D":
            level, point, query = value.partition(".")
            self.debug_level = atol(os.fsencode(level))
            if point:
                self.query = os.fsencode(query)

    def options(self) -> Options:
        """The options that evaluation needs."""
        preferences = self.relevance_format in ("prefs", "qrels_prefs")
        return Options(
            trec_eval_version=self.trec_eval_version,
            relevance_format="prefs" if preferences else self.relevance_format,
            relevance_level=self.relevance_level,
            complete=self.complete,
            judged_only=self.judged_only,
            max_retrieved=self.max_retrieved,
            collection_size=self.collection_size,
            query=self.query,
            original=True,
        )


def version(trec_eval_version: str) -> str:
    """The line that -v prints."""
    from fastrank import __version__

    return f"trec_eval version {VERSIONS[trec_eval_version]} (fastrank {__version__})"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status. Arguments as in `sys.argv[1:]`."""
    words = sys.argv[1:] if arguments is None else arguments

    def command() -> int:
        try:
            return _run(words)
        except _ExitError as stop:
            for line in stop.lines:
                complain(line)
            return stop.status

    return guarded("trec_eval", command)


def _warn(message: str) -> None:
    complain(f"trec_eval: {message}")


def _run(words: list[str]) -> int:
    trec_eval_version = os.environ.get("FASTRANK_TREC_EVAL_VERSION") or DEFAULT_VERSION
    if trec_eval_version not in TREC_EVAL_VERSIONS:
        expected = " or ".join(TREC_EVAL_VERSIONS)
        raise _ExitError(
            1, f"trec_eval: FASTRANK_TREC_EVAL_VERSION={trec_eval_version}: expected {expected}"
        )
    request = _Request(trec_eval_version)
    request.threads = _threads(os.environ.get("FASTRANK_THREADS", ""))
    parser = Parser("trec_eval", SHORT, LONG, words)
    try:
        for letter, value in parser:
            request.take(letter, value)
    except UsageError as error:
        raise _ExitError(1, str(error), *USAGE.rstrip().splitlines()) from None
    if request.help:
        from fastrank.cli.help import help_text

        measures = request.selection.measures(trec_eval_version)
        write([help_text(measures, request.relevance_format, request.run_format).encode()])
        return 0
    if len(parser.operands) != 2:
        raise _ExitError(
            1, f"trec_eval: expected 2 files, found {len(parser.operands)}", USAGE.rstrip()
        )
    if request.max_retrieved < 0:
        raise _ExitError(
            1, f"trec_eval: -M {request.max_retrieved}: expected 0 or more", USAGE.rstrip()
        )
    return _evaluate(request, *parser.operands)


def _threads(text: str) -> int | None:
    """The value of FASTRANK_THREADS as a number, None if it is empty."""
    if not text:
        return None
    digits = text.lstrip("0")
    if not (digits.isascii() and digits.isdigit()):
        raise _ExitError(1, f"trec_eval: FASTRANK_THREADS={text}: expected 1 or more")
    # int() limits the number of digits, and nine are more threads than any machine has.
    return int(digits[:9])


def _evaluate(request: _Request, relevance_file: str, run_file: str) -> int:
    judgments = _read_judgments(request, relevance_file)
    if not request.selection:
        request.selection.add(DEFAULT_SET)
    # Like the original, report errors of the measures after those of the files.
    wrong: MeasureError | None = None
    options = request.options()
    try:
        bound = request.selection.bind(request.trec_eval_version)
        plan = Plan(judgments, bound, options)
    except MeasureError as error:
        plan, wrong = Plan(judgments, [], options), error
    run = _judge_run(request, plan, run_file)
    reference = None
    if request.zscores is not None:
        from fastrank.core.scores.differences import read_zscores

        try:
            reference = read_zscores(request.zscores)
        except ReadError as error:
            raise _ExitError(255, _unreadable("get_zscores", "zscores", error)) from None
        except FormatError as error:
            raise _ExitError(255, f"trec_eval.get_zscores: {error}") from None
    if wrong is not None:
        raise _ExitError(
            2, f"trec_eval: {wrong}", f"trec_eval: Cannot initialize measure '{wrong.measure}'"
        )
    try:
        scores = scores_of(
            plan,
            run,
            zscores=reference,
            trace=_tracer(request.debug_level) if request.debug_level > 0 else None,
            zero_rows=False,
        )
    except NoQueriesError:
        raise _ExitError(7, "trec_eval: No queries with both results and relevance info") from None
    except EvaluationError as error:
        if error.before is not None and not error.inconsistent:
            write(trec_lines(error.before, per_query=request.per_query, summary=False))
        raise _ExitError(
            134 if error.inconsistent else 4,
            f"trec_eval: {error}",
            f"trec_eval: Can't calculate measure '{error.measure}'",
        ) from None
    if scores.counts["missing_queries"] and not request.complete:
        from fastrank.core.scores.text import missing_note

        for note in missing_note(scores, zero="-c"):
            complain(f"trec_eval: {note}")
    write(trec_lines(scores, per_query=request.per_query, summary=request.summary))
    return 0


def _read_judgments(request: _Request, path: str) -> Any:
    form = request.relevance_format
    if form not in RELEVANCE_FORMATS:
        raise _ExitError(
            2, f"trec_eval: Illegal rel_format '{form}': expected {', '.join(RELEVANCE_FORMATS)}"
        )
    try:
        return trec.parse(
            read_all(path),
            path,
            form,
            trec_eval_version=request.trec_eval_version,
            warn=_warn,
            strict=False,
        )
    except ReadError as error:
        # The original reads both preference formats under one name.
        kind = "prefs" if form.endswith("prefs") else "qrels"
        reader = "get_prefs" if kind == "prefs" else f"get_{form}"
        raise _ExitError(2, _unreadable(reader, kind, error), _quit(path)) from None
    except FormatError as error:
        raise _ExitError(2, f"trec_eval.get_{form}: {error}", _quit(path)) from None


def _judge_run(request: _Request, plan: Plan, path: str) -> JudgedRun:
    if request.run_format != RUN_FORMAT:
        raise _ExitError(
            2,
            f"trec_eval: Illegal retrieval results format '{request.run_format}': expected"
            f" {RUN_FORMAT}",
        )
    try:
        # trec_eval 10.0 checks only the first character, and accepts empty input.
        from_stdin = request.trec_eval_version != DEFAULT_VERSION and path.startswith("-")
        file = open_stdin(may_be_empty=True) if from_stdin else open_source(path)
        return match(plan, file, threads=request.threads, warn=_warn)
    except ReadError as error:
        raise _ExitError(2, _unreadable("get_results", "results", error), _quit(path)) from None
    except FormatError as error:
        raise _ExitError(2, f"trec_eval.get_results: {error}", _quit(path)) from None


def _unreadable(reader: str, kind: str, error: ReadError) -> str:
    reason = error.reason
    if kind == "qrels" and error.path.startswith("irds:"):
        reason += "; `fastrank eval` reads datasets of ir_datasets"
    return f"trec_eval.{reader}: Cannot read {kind} file '{error.path}': {reason}"


def _quit(path: str) -> str:
    return f"trec_eval: Quit in file '{name_of(path)}'"


def _tracer(level: int) -> Callable[[Ids, Judged], None]:
    """For -D: print on standard error the counts of each query, and from level 2 its grades."""

    def trace(queries: Ids, judged: Judged) -> None:
        for line in _judged_lines(queries, judged, grades=level > 1):
            complain(line)

    return trace


def _judged_lines(queries: Ids, judged: Judged, *, grades: bool) -> Iterator[str]:
    """The counts of each query, and with `grades` the rank:grade of its judged documents."""
    offsets, ranks, codes, _, _, _, num_ret, num_rel, num_rel_ret, *_ = judged.columns
    for i, query in enumerate(queries):
        line = (
            f"debug: query {decoded(query)}: retrieved {num_ret[i]},"
            f" relevant {num_rel[i]}, relevant retrieved {num_rel_ret[i]}"
        )
        if grades:
            rows = range(offsets[i], offsets[i + 1])
            line += "; rank:grade" + "".join(f" {ranks[row]}:{codes[row]}" for row in rows)
        yield line
