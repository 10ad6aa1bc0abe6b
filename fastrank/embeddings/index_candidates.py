"""What is to be compared: indexes by faiss's factory strings, each with search parameters."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.errors import OptionError
from fastrank.search.faiss_api import parts_of
from fastrank.search.indexing import make_index
from fastrank.search.parameters import Setting, parse_parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class Candidate(Frozen):
    """An index to build once, and the settings to search it with; a setting may be empty."""

    __slots__ = ("index_factory", "settings")

    index_factory: str
    settings: list[str]


def parse_candidates(given: str | Iterable[str]) -> list[Candidate]:
    """Candidates from texts such as "IVF64,Flat nprobe=1 nprobe=8". Raises OptionError."""
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
                    "indexes", f"{f'{index_factory} {setting}'.strip()!r} stands twice"
                )
            known.append(setting)
    if not candidates:
        raise OptionError("indexes", "expected an index to compare, found none")
    return [Candidate(index_factory=name, settings=known) for name, known in candidates.items()]


def check_candidate(candidate: Candidate, dimension: int, metric: str, trained_with: int) -> None:
    """Refuse what faiss cannot build, train with so few vectors, or search with.

    All of this without a vector. Raises OptionError.
    """
    index = make_index(candidate.index_factory, dimension, metric)
    needed = 0 if index.is_trained else max(map(_centroids, parts_of(index)))
    if trained_with < needed:
        raise OptionError(
            "indexes", f"{candidate.index_factory!r} needs {needed} vectors or more to be trained,"
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
    """How many centroids the training of a part must find; it needs as many vectors."""
    import faiss

    # The vectors of a graph.
    stored = getattr(part, "storage", None)
    if stored is not None:
        return max(map(_centroids, parts_of(faiss.downcast_index(stored))))
    codes = getattr(part, "pq", None)
    residuals = getattr(part, "rq", None) or getattr(part, "prq", None)
    bits = [0] if residuals is None else faiss.vector_to_array(residuals.nbits)
    return max(int(getattr(part, "nlist", 0)), int(getattr(codes, "ksub", 0)), 1 << int(max(bits)))
