"""Take the scores of runs from a store, and add those that are new."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.errors import ReadError
from fastrank.formats.digests import file_digest
from fastrank.stores.evaluation import Evaluation, group_of
from fastrank.stores.run_files import settled, state_of
from fastrank.stores.store import Store, file_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.measures.binding import BoundMeasure
    from fastrank.scores.scores import Scores
    from fastrank.stores.store import Entry


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


class Resumed:
    """The runs of an evaluation that a store has; `found` counts those that were taken from it.

    settings: as `settings_of` makes them. bound: the measures. Raises ReadError and InputError.
    """

    def __init__(
        self,
        path: str,
        settings: dict[str, Any],
        bound: list[BoundMeasure],
        warn: Callable[[str], None],
    ) -> None:
        self._store = Store(path, append=True, warn=warn)
        self._settings, self._bound = settings, bound
        self._group = group_of(settings, bound)
        self._evaluation: Evaluation | None = None
        self.found = 0

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def find(self, path: str) -> Entry | None:
        """The entry with the scores of a file, None if there is none.

        A file that has not changed since its scores were stored is not read; the content of a file
        that was moved, copied or touched is compared, and its new state is stored. Raises OSError,
        ReadError and InputError.
        """
        state = state_of(path)
        self._store.read()
        runs = self._store.runs.get(self._group)
        if state is None or runs is None or not self._is_described():
            return None
        entry = runs.files.get(file_key(path))
        if entry is not None and entry.state == state:
            return entry
        known = fingerprint(path, state) if state[0] in runs.sizes else None
        if known is None or known.digest not in runs.digests:
            return None
        self._add(path, known, None)
        return runs.digests[known.digest]

    def _is_described(self) -> bool:
        """Whether the store describes the evaluation, as it does unless it is damaged."""
        record = self._store.evaluations.get(self._group)
        if self._evaluation is None and record is not None:
            judged = [query.encode("utf-8", "surrogateescape") for query in record["queries"]]
            positive = record.get("positive")
            self._evaluation = Evaluation(self._settings, self._bound, judged, positive)
        return self._evaluation is not None

    def load(self, entry: Entry) -> Scores:
        """The scores of an entry. Raises ReadError, also if its line has changed."""
        assert self._evaluation is not None
        scores = self._store.scores(entry, self._evaluation)
        self.found += 1
        return scores

    def add(self, path: str, known: Fingerprint, scores: Scores) -> None:
        """Add the scores of a file. Raises OSError, ReadError and InputError."""
        if self._evaluation is None:
            coverage = scores.coverage
            self._evaluation = Evaluation(
                self._settings, self._bound, list(coverage.judged), coverage.positive
            )
        self._add(path, known, scores)

    def _add(self, path: str, known: Fingerprint, scores: Scores | None) -> None:
        assert self._evaluation is not None
        state = settled(known.state)
        self._store.add(file_key(path), known.digest, state, scores, self._evaluation)
