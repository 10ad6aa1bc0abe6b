"""The arguments that name qrels and runs, and the evaluation of the runs one by one."""

from __future__ import annotations

import argparse
import os

from fastrank.cli.flags import at_least, given_options
from fastrank.cli.output import complain
from fastrank.errors import FastrankError
from fastrank.evaluation.scoring import score
from fastrank.formats import trec
from fastrank.formats.load import read_qrels
from fastrank.formats.source import name_of
from fastrank.judging.evaluation_options import EVALUATION, evaluation_options
from fastrank.judging.judge import RunJudge
from fastrank.judging.options import bind_measures, check_options
from fastrank.judging.queries import choose_queries
from fastrank.measures.selection import Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.data.preferences import Preferences
    from fastrank.data.qrels import Qrels
    from fastrank.judging.options import Options
    from fastrank.scores.scores import Scores

# What reads the judgments of each format.
READERS: dict[str, Callable[..., Qrels | Preferences]] = {
    "qrels": read_qrels,
    "qrels_jg": trec.read_qrels_jg,
    "prefs": trec.read_prefs,
    "qrels_prefs": trec.read_qrels_prefs,
}


def add_files(parser: argparse.ArgumentParser) -> None:
    """Declare the qrels and the runs."""
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="qrels in any format; - is standard input")
    add("runs", nargs="+", metavar="RUN", help="run in any format, may be compressed")


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Declare how to read the qrels and the runs."""
    add = parser.add_argument
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


class RunScores:
    """Evaluates runs, and reports those that fail on standard error; `failed` counts them.

    qrels: all judgments. judgments: those of the queries that are evaluated.
    Raises FastrankError for invalid options and unreadable qrels.
    """

    def __init__(self, name: str, given: argparse.Namespace, measures: list[str]) -> None:
        self._name, self._threads = name, given.threads
        self.failed = 0
        self.options = options = _options(given)
        self._bound = bind_measures(Selection(measures), options)
        check_options(self._bound, options)
        read = READERS[given.relevance_format]
        self.qrels: Any = read(
            given.qrels, trec_eval_version=given.trec_eval_version, warn=self._warn
        )
        self.judgments, self._left_out = choose_queries(self.qrels, options)
        self._judge: RunJudge | None = None

    def of(self, path: str) -> Scores | None:
        """The scores of a run; None if it cannot be evaluated."""
        if self._judge is None:
            self._judge = RunJudge(self.judgments, self._bound, self.options)
        try:
            judged = self._judge.judge(path, threads=self._threads, warn=self._warn)
            return score(self.judgments, judged, self._bound, self.options, left_out=self._left_out)
        except FastrankError as error:
            complain(f"{self._name}: {_explained(error, path)}")
            self.failed += 1
            return None

    def _warn(self, message: str) -> None:
        complain(f"{self._name}: {message}")


def names_match(given: argparse.Namespace, name: str) -> bool:
    """Whether --name was given once for each run, or not used."""
    if given.names is None or len(given.names) == len(given.runs):
        return True
    complain(
        f"{name}: --name: expected one for each of {len(given.runs)} runs, found {len(given.names)}"
    )
    return False


def file_names(paths: list[str]) -> list[str]:
    """The names of files without their folders; files with the same name are named by paths."""
    paths = [name_of(path) for path in paths]
    names = [os.path.basename(path) or path for path in paths]
    return [
        name if names.count(name) == 1 else path for name, path in zip(names, paths, strict=True)
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
