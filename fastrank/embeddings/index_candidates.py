"""The indexes to compare: faiss factory strings, each with search settings."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.errors import OptionError
from fastrank.searching.faiss_api import load_faiss, parts_of
from fastrank.searching.indexing import make_index
from fastrank.searching.parameters import Setting, parse_parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class Candidate(Frozen):
    """An index to build, and the settings to search it with; a setting may be empty."""

    __slots__ = ("index_factory", "settings")

    index_factory: str
    settings: list[str]


def parse_candidates(given: str | Iterable[str]) -> list[Candidate]:
    """Candidates from strings such as "IVF64,Flat nprobe=1 nprobe=8". Raises OptionError."""
    texts = [given] if isinstance(given, str) else list(given)
    candidates: dict[str, list[str]] = {}
    for text in texts:
        if not isinstance(text, str) or not text.split():
            raise OptionError("indexes", f"expected a factory string, found {text!r:.60}")
        index_factory, *settings = text.split()
        known = candidates.setdefault(index_factory, [])
        for setting in settings or [""]:
            if setting in known:
                raise OptionError(
                    "indexes", f"duplicate index {f'{index_factory} {setting}'.strip()!r}"
                )
            known.append(setting)
    if not candidates:
        raise OptionError("indexes", "expected at least one index, found none")
    return [Candidate(index_factory=name, settings=known) for name, known in candidates.items()]


def check_candidate(candidate: Candidate, dimension: int, metric: str, trained_with: int) -> None:
    """Raise OptionError for indexes that faiss cannot build, train or search, without vectors."""
    index = make_index(candidate.index_factory, dimension, metric)
    needed = 0 if index.is_trained else max(map(_centroids, parts_of(index)))
    if trained_with < needed:
        raise OptionError(
            "indexes", f"{candidate.index_factory!r} needs at least {needed} training vectors,"
            f" found {trained_with}",
        )  # fmt: skip
    for setting in candidate.settings:
        try:
            with Setting(index, parse_parameters(setting)):
                pass
        except OptionError as error:
            name = f"{candidate.index_factory} {setting}"
            raise OptionError("indexes", f"{name!r}: {error.reason}") from None


def _centroids(part: Any) -> int:
    """The number of centroids to train, which is the number of vectors needed."""
    faiss = load_faiss()
    # The vectors of a graph.
    stored = getattr(part, "storage", None)
    if stored is not None:
        return max(map(_centroids, parts_of(faiss.downcast_index(stored))))
    codes = getattr(part, "pq", None)
    residuals = getattr(part, "rq", None) or getattr(part, "prq", None)
    bits = [0] if residuals is None else faiss.vector_to_array(residuals.nbits)
    return max(int(getattr(part, "nlist", 0)), int(getattr(codes, "ksub", 0)), 1 << int(max(bits)))
