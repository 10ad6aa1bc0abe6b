"""Take the scores of runs from a store, and add those that are new."""

from __future__ import annotations

import os
import stat
import time
from contextlib import contextmanager
from typing import NamedTuple

from fastrank.errors import FastrankError, ReadError
from fastrank.formats.digests import file_digest
from fastrank.results_store.records import Evaluation, encoded, group_of
from fastrank.results_store.store import Store, file_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from fastrank.measures.binding import BoundMeasure
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
        self._path, self._settings, self._bound, self._warn = path, settings, bound, warn
        self._group = group_of(settings, bound)
        self._evaluation: Evaluation | None = None
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
                    error if isinstance(error, FastrankError)
                    else f"cannot write {self._path}: {error.strerror}"
                )  # fmt: skip
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
            runs = self._store.runs.get(self._group)
            if state is None or runs is None or not self._is_described():
                return None
            entry = runs.files.get(file_key(path))
            if entry is not None and entry.state == state:
                return entry
            known = fingerprint(path, state) if state[0] in runs.sizes else None
            if known is not None and known.digest in runs.digests:
                self._add(path, known, None)
                return runs.digests[known.digest]
        return None

    def _is_described(self) -> bool:
        """Whether the store describes the evaluation, as it does unless it is damaged."""
        record = self._store.evaluations.get(self._group)
        if self._evaluation is None and record is not None:
            judged, positive = encoded(record["queries"]), record.get("positive")
            self._evaluation = Evaluation(self._settings, self._bound, judged, positive)
        return self._evaluation is not None

    def load(self, entry: Entry) -> Scores | None:
        """The scores of an entry; None if its line has changed."""
        assert self._evaluation is not None
        scores = None
        with self._errors_reported():
            scores = self._store.scores(entry, self._evaluation)
            self.found += 1
        return scores

    def add(self, path: str, known: Fingerprint, scores: Scores) -> None:
        """Add the scores of a file, unless the store has failed."""
        if self.failed:
            return
        with self._errors_reported():
            if self._evaluation is None:
                coverage = scores.coverage
                self._evaluation = Evaluation(
                    self._settings, self._bound, list(coverage.judged), coverage.positive
                )
            self._add(path, known, scores)

    def _add(self, path: str, known: Fingerprint, scores: Scores | None) -> None:
        assert self._evaluation is not None
        state = _settled(known.state)
        self._store.add(file_key(path), known.digest, state, scores, self._evaluation)


def _settled(state: list[int]) -> list[int]:
    """The state, or only the size of a file that may change again at the same time."""
    recent = time.time() - max(state[1:3]) / 1e9 < SETTLED
    return state[:1] if recent else state
