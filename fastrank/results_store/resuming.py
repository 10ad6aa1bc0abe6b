"""Load the scores of a store; take those of runs from it, and add those that are new."""

from __future__ import annotations

import os
import stat
import time
from contextlib import closing, contextmanager
from typing import NamedTuple

from fastrank.arguments import DEFAULT_VERSION
from fastrank.errors import FastrankError, InputError, OptionError, ReadError
from fastrank.formats.digests import exclusions_digest, file_digest, judgments_digest
from fastrank.formats.inputs import as_qrels, run_names
from fastrank.formats.trec import python_warning
from fastrank.judging.keywords import EVALUATION, EvaluationOptions
from fastrank.keywords import takes, with_defaults
from fastrank.measures.selection import Selection
from fastrank.messages import counted
from fastrank.results_store.records import DEFAULTS, SCHEMA, group_of, measures_of, to_record
from fastrank.results_store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.formats.inputs import QrelsLike
    from fastrank.measures.selection import BoundMeasure, Measures
    from fastrank.results_store.store import Entry
    from fastrank.scores.scores import Scores

# The seconds after which a further change of a file is sure to change its times.
SETTLED = 2


class Fingerprint(NamedTuple):
    """The digest of a file's content, and the state of the file before it was read."""

    digest: str
    state: list[int]


def fingerprint(path: Any, state: list[int] | None) -> Fingerprint | None:
    """The fingerprint of a file in this state; None if it has changed or is not a file."""
    if state is None:
        return None
    try:
        digest = file_digest(path)
    except ReadError:
        return None
    unchanged = digest is not None and state_of(path) == state
    return Fingerprint(digest, state) if digest and unchanged else None


def state_of(path: Any) -> list[int] | None:
    """Size, times of modification and change in ns, and inode; None for what is not a file."""
    try:
        found = os.stat(path)
    except (OSError, TypeError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


class Resumed:
    """The runs of an evaluation that a store has; `found` counts those that were taken from it.

    settings: as `settings_of` makes them. bound: the measures. warn: is called with warnings, and
    with the first error of the store: nothing is stored after it, and `failed` is true. Raises
    ReadError and InputError for an invalid store.
    """

    def __init__(
        self,
        path: str,
        settings: dict[str, Any],
        bound: list[BoundMeasure],
        warn: Callable[[str], None],
    ) -> None:
        self._store = Store(path, append=True, warn=warn)
        self._path, self._bound, self._warn = path, bound, warn
        self._head = {"schema": SCHEMA, "group": group_of(settings, bound), **settings}
        self.found, self.failed = 0, False

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    @contextmanager
    def _errors_reported(self) -> Iterator[None]:
        try:
            yield
        except (OSError, FastrankError) as error:
            if not self.failed:
                reason = (
                    error
                    if isinstance(error, FastrankError)
                    else f"cannot write {self._path}: {error.strerror}"
                )
                self._warn(f"{reason}; further scores are not stored")
            self.failed = True

    def find(self, path: str) -> Entry | None:
        """The entry with the scores of a file, None if there is none.

        A file that has not changed since its scores were stored is not read; the content of a file
        that was moved, copied or touched is compared, and its new state is stored.
        """
        with self._errors_reported():
            state = state_of(path)
            self._store.read()
            group: str = self._head["group"]
            entry = self._store.runs.get(group, {}).get(os.path.normpath(path))
            if state is None or (entry is not None and entry.state == state):
                return entry if state else None
            known = fingerprint(path, state) if state[0] in self._store.sizes else None
            entry = self._store.contents.get((group, known.digest)) if known else None
            if known is not None and entry is not None:
                self._store.add({**self._head, **_file(path, known)})
                return entry
        return None

    def load(self, entry: Entry) -> Scores | None:
        """The scores of an entry; None if its line has changed."""
        scores = None
        with self._errors_reported():
            scores = self._store.scores(entry, self._bound)
            self.found += 1
        return scores

    def add(self, path: str, known: Fingerprint, scores: Scores) -> None:
        """Add the scores of a file, unless the store has failed."""
        if not self.failed:
            with self._errors_reported():
                self._store.add({**self._head, **_file(path, known), **to_record(scores)})


def _file(path: str, known: Fingerprint) -> dict[str, Any]:
    """What a line says of the file of a run."""
    state = known.state
    # Of a file that may change again at the same time, only the size.
    if time.time() - max(state[1:3]) / 1e9 < SETTLED:
        state = state[:1]
    return {"run": known.digest, "file": os.path.normpath(path), "state": state}


# The number of digits of a digest that messages show.
SHOWN = 8


@takes(EvaluationOptions, EVALUATION)
def load_scores(
    store: str | os.PathLike[str],
    *,
    group: str | None = None,
    qrels: QrelsLike | None = None,
    measures: Measures | None = None,
    **options: Unpack[EvaluationOptions],
) -> dict[str, Scores]:
    """Load the scores that `fastrank eval --resume STORE` has stored.

    store: the file.
    group, qrels, measures: needed if the file has several evaluations: the beginning of the digest
        of one, as the error message lists them; or the judgments and measures, as `evaluate` takes
        them.
    **options: see `EvaluationOptions`; those that are given must be those of the evaluation.

    Returns {name: Scores} in the order in which the files were first stored, as `compare_scores`
    takes it, with the same numbers to the last bit, and the names that `evaluate` gives to these
    files. If a file was evaluated again because it had changed, only its newest scores are
    returned.

    Raises ReadError; InputError for a file that is not a store, one without scores, and one with a
    damaged line, which it names; OptionError if the file has several evaluations, or none that was
    asked for.

    >>> import subprocess, sys, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = f"{folder}/scores.jsonl"
    ...     command = f"fastrank eval -m map --resume {store} data/digits.qrels data/pca.run"
    ...     _ = subprocess.run([sys.executable, "-m", *command.split()], capture_output=True)
    ...     fr.load_scores(store)
    {'pca': <Scores of 'pca': 200 queries, 1 measure>}
    """
    with_defaults(load_scores, options)
    if group is not None and not isinstance(group, str):
        raise TypeError(f"group: expected str, found {type(group).__name__}")
    path = os.fspath(store)
    with closing(Store(path, append=False, warn=python_warning)) as opened:
        record = _chosen(opened, group, _wanted(qrels, measures, options))
        bound, runs = measures_of(record, path), opened.runs[record["group"]]
        loaded = {file: opened.scores(entry, bound) for file, entry in runs.items()}
    return {
        name: scores.changed(given_name=name)
        for name, scores in zip(run_names(loaded), loaded.values(), strict=True)
    }


def _wanted(qrels: Any, measures: Measures | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the evaluation must have: the digest of its judgments, its measures and options."""
    version = options.get("trec_eval_version", DEFAULT_VERSION)
    wanted: dict[str, Any] = {}
    if qrels is not None:
        wanted["judgments"] = judgments_digest(as_qrels(qrels, trec_eval_version=version))
    if measures is not None:
        wanted["measures"] = _names(measures, version)
    for one in EVALUATION:
        if one.name in options:
            value = one.checked(options[one.name])
            wanted[one.name] = exclusions_digest(value) if one.name == "exclude" else value
    return wanted


def _properties(record: Mapping[str, Any]) -> dict[str, Any]:
    """What an evaluation has, as `_wanted` makes it."""
    return {
        **DEFAULTS,
        **record["options"],
        "trec_eval_version": record["compat"],
        "judgments": record["qrels"]["digest"],
        "measures": _names(record["measures"], record["compat"]),
    }


def _names(measures: Measures, version: str) -> set[bytes]:
    return {name for own in Selection(measures).bind(version) for name in own.canonical}


def _chosen(store: Store, group: str | None, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The description of the evaluation to load. Raises InputError and OptionError."""
    known = list(store.evaluations.values())
    if not known:
        raise InputError(store.path, "has no scores")
    if group is not None:
        found = [record for record in known if record["group"].startswith(group)]
    else:
        # Of evaluations that differ only in the version of fastrank, the newest is the last.
        newest = {_described(record): record for record in known}
        found = [
            record
            for record in newest.values()
            if not wanted or _properties(record).items() >= wanted.items()
        ]
    if len(found) == 1:
        return found[0]
    listed = "".join(
        f"\n  {own['group'][:SHOWN]}: {_described(own)};"
        f" {counted(len(store.runs[own['group']]), 'run')}"
        for own in found or known
    )
    problem = "several evaluations; choose one" if found else "no such evaluation"
    raise OptionError("group", f"{store.path} has {problem}:{listed}")


def _described(record: Mapping[str, Any]) -> str:
    options = "".join(f", {name}={value!r}" for name, value in record["options"].items())
    digest = record["qrels"]["digest"][:SHOWN]
    return (
        f"{record['qrels'].get('file')} ({digest}), {' '.join(map(str, record['measures']))}"
        f"{options}, trec_eval {record['compat']}"
    )
