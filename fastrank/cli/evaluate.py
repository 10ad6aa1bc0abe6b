"""The command `fastrank eval`: evaluate any number of runs against the same judgments."""

from __future__ import annotations

import argparse
import os

from fastrank.cli.evaluation_flags import add_evaluation_options, check_version, report_counts
from fastrank.cli.flags import at_least, given_options
from fastrank.cli.output import complain, guarded, report_unwritable, write
from fastrank.cli.output_formats import formatted, settle_format
from fastrank.errors import FastrankError
from fastrank.evaluation.scoring import score
from fastrank.formats import files, trec
from fastrank.formats.compression import compressed
from fastrank.formats.load import read_qrels
from fastrank.judging.evaluation_options import (
    EVALUATION,
    EvaluationOptions,
    evaluation_options,
)
from fastrank.judging.judge import RunJudge
from fastrank.judging.options import bind_measures, check_options
from fastrank.judging.queries import choose_queries
from fastrank.measures.selection import Selection
from fastrank.scores.tables import distinct_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastrank.data.preferences import Preferences
    from fastrank.data.qrels import Qrels
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure
    from fastrank.scores.scores import Scores

NAME = "fastrank eval"
# What reads the judgments of each format.
READERS: dict[str, Callable[..., Qrels | Preferences]] = {
    "qrels": read_qrels,
    "qrels_jg": trec.read_qrels_jg,
    "prefs": trec.read_prefs,
    "qrels_prefs": trec.read_qrels_prefs,
}
EPILOG = """\
examples:
  fastrank eval qrels.txt run.txt
  fastrank eval -m map -m P.5,10 -m ndcg_cut.10 qrels.txt runs/*.gz
  fastrank eval -m map --format markdown qrels.txt runs/*.gz
  fastrank eval --name BM25 --name ours --format latex --digits 3 qrels.txt \\
      bm25.run ours.run
  fastrank eval -q --format csv -o values.csv qrels.txt run.txt

formats:
  trec      for each run, a line `file` with its file name, then the lines of
            trec_eval
  table, markdown, latex
            one row per run and one column per measure, the best values in bold
            in markdown and latex; with -q one row per query, then `all`, with
            the values of several runs side by side
  csv       columns run,query,measure,value in full precision; query is empty
            for values over all queries
  jsonl     the same, one object per line; query is null for values over all
            queries
  json      a list with one object per run: file, run (its name), counts, mean,
            per_query
In json and jsonl, NaN and infinite values are null.

Exit status: 0 if all runs were evaluated; 1 if a run could not be evaluated (it
is skipped, and the file of -o is not written); 2 for invalid options or qrels
that cannot be read.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.usage = f"{NAME} [options] QRELS RUN [RUN ...]"
    parser.epilog = EPILOG
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="qrels in any format; - is standard input")
    add("runs", nargs="+", metavar="RUN", help="run in any format, may be compressed")
    add_evaluation_options(parser, EvaluationOptions)
    add(
        "--name", action="append", metavar="NAME", dest="names",
        help="name of a run, in all formats except trec; repeat for each run, in order (default:"
        " file name without its folder)",
    )  # fmt: skip
    add(
        "--tags",
        action="store_true",
        help="name runs by the tags in their files, in all formats except trec",
    )
    add(
        "-R", "--relevance-format", choices=READERS, default="qrels", metavar="FORMAT",
        help=f"kind of judgments: {', '.join(READERS)} (default: qrels)",
    )  # fmt: skip
    add(
        "--threads", type=at_least(1), metavar="N",
        default=os.environ.get("FASTRANK_THREADS") or None,
        help="threads per run (default: $FASTRANK_THREADS, or up to 8 for large files); the"
        " output does not depend on it",
    )  # fmt: skip


def run(given: argparse.Namespace) -> int:
    """Evaluate the runs; returns the exit status."""
    return guarded(NAME, lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    if not check_version(given, NAME) or not _check_names(given):
        return 2
    try:
        settle_format(given)
        options = _options(given)
        bound = bind_measures(Selection(given.measure or ["official"]), options)
        check_options(bound, options)
        read = READERS[given.relevance_format]
        judgments = read(given.qrels, trec_eval_version=given.trec_eval_version, warn=_warn)
        judgments, left_out = choose_queries(judgments, options)
    except FastrankError as error:
        complain(f"{NAME}: {error}")
        return 2
    results = _Results(given, judgments, bound, options, left_out)
    lines = formatted(results, given)
    if given.output is None:
        write(lines)
    else:
        try:
            files.write(given.output, compressed(results.all_or_none(lines), given.output))
        except _IncompleteError:
            complain(f"{NAME}: {given.output} was not written")
        except OSError as error:
            return report_unwritable(NAME, given.output, error)
    if results.failed and len(given.runs) > 1:
        complain(f"{NAME}: {results.failed} of {len(given.runs)} runs could not be evaluated")
    return 1 if results.failed else 0


class _IncompleteError(Exception):
    """Some runs could not be evaluated."""


class _Results:
    """The file, name and scores of each run, evaluated lazily; `failed` counts runs that fail."""

    def __init__(
        self,
        given: argparse.Namespace,
        judgments: Qrels | Preferences,
        bound: list[BoundMeasure],
        options: Options,
        left_out: list[bytes],
    ) -> None:
        self.failed = 0
        self._given, self._judgments = given, judgments
        self._bound, self._options, self._left_out = bound, options, left_out

    def __iter__(self) -> Iterator[tuple[str, str, Scores]]:
        given, judgments, bound = self._given, self._judgments, self._bound
        judge = RunJudge(judgments, bound, self._options)
        names, taken = _names(given), set[str]()
        for path, name in zip(given.runs, names, strict=True):
            try:
                judged = judge.judge(path, threads=given.threads, warn=_warn)
                scores = score(judgments, judged, bound, self._options, left_out=self._left_out)
            except FastrankError as error:
                complain(f"{NAME}: {_explained(error, path)}")
                self.failed += 1
                continue
            of = f"of {len(judgments)} judged queries"
            absent = f"{of} is missing from the run", f"{of} are missing from the run"
            complete = self._options.complete
            report_counts(f"{NAME}: {path}", scores, absent, complete=complete)
            name = distinct_from(taken, scores.tag or name if given.tags else name)
            yield path, name, scores

    def all_or_none(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """The lines; raises _IncompleteError at their end if a run could not be evaluated."""
        yield from lines
        if self.failed:
            raise _IncompleteError


def _check_names(given: argparse.Namespace) -> bool:
    """Whether --name was given once for each run, or not used."""
    if given.names is None or len(given.names) == len(given.runs):
        if given.names is None or not given.tags:
            return True
        complain(f"{NAME}: --name and --tags cannot be combined")
        return False
    complain(
        f"{NAME}: --name: expected one for each of {len(given.runs)} runs, found {len(given.names)}"
    )
    return False


def _names(given: argparse.Namespace) -> list[str]:
    """The names of the runs: those given, or the file names without their folders.

    Files with the same name in several folders are named by their paths.
    """
    if given.names is not None:
        return list(given.names)
    names = [os.path.basename(path) or path for path in given.runs]
    return [
        name if names.count(name) == 1 else path
        for name, path in zip(names, given.runs, strict=True)
    ]


def _options(given: argparse.Namespace) -> Options:
    """The evaluation options. Raises OptionError, and errors of the --exclude file."""
    options = evaluation_options(given_options(given, EVALUATION))
    preferences = given.relevance_format in ("prefs", "qrels_prefs")
    relevance_format = "prefs" if preferences else given.relevance_format
    changed: Options = options.changed(relevance_format=relevance_format)
    return changed


def _explained(error: FastrankError, path: str) -> str:
    """The error message, with the file's path if it is not in the message."""
    names_it = hasattr(error, "path") or getattr(error, "source", None) == path
    return str(error) if names_it else f"{path}: {error}"


def _warn(message: str) -> None:
    complain(f"{NAME}: {message}")
