"""Vectors of training, development and test rows, for protocols that embed each set as a whole."""

from __future__ import annotations

import numpy

from fastrank.errors import ArrayError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.probes.problem import Problem

    Array = npt.NDArray[Any]


def embedded_sets(problem: Problem, **sets: Problem | None) -> list[tuple[Array, ...]]:
    """The vectors of a problem and of further sets, float32[rows, dimension] per text of a row.

    sets: by the names of the options, which are also those of the splits. An embedder that has to
    be fitted is fitted on the problem, and needs another set. Raises OptionError and ArrayError.
    """
    given = {name: part for name, part in sets.items() if part is not None}
    if problem.is_lazy and "test" not in given:
        reason = "an embedder that is fitted on the training rows needs separate test rows"
        raise OptionError("test", reason)
    embedder = problem.embedder()
    found = [embedder(problem, numpy.arange(len(problem)), "train")]
    for name, part in given.items():
        split = {"dev": "eval"}.get(name, name)
        # Given vectors are of the set itself.
        embed = embedder if part.is_lazy else part.embedder()
        vectors = embed(part, numpy.arange(len(part)), split)
        shapes = [[one.shape[1] for one in parts] for parts in (found[0], vectors)]
        if shapes[0] != shapes[1]:
            widths = " and ".join("+".join(map(str, shape)) for shape in shapes)
            raise ArrayError(name, f"expected vectors as in training, found {widths} dimensions")
        found.append(vectors)
    return found


def one_text(problem: Problem, protocol: str, vectors: list[tuple[Array, ...]]) -> list[Array]:
    """The vectors of rows of one text. Raises ArrayError for rows of several."""
    if len(vectors[0]) > 1:
        reason = f"protocol {protocol!r} does not combine the vectors of several texts per row"
        raise ArrayError(problem.name, f"{reason}; give one array of features, or set embed=")
    return [one for (one,) in vectors]
