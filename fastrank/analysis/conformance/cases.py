"""The cases: inputs, right values, and the values that come of known mistakes."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# The parts of a case that a program under test sees.
TOLD = ("case", "measure", "k", "judgments", "ranking")
# The measures of several queries.
MEANS = ("mean_recall", "mrr", "map", "mean_ndcg")
# Values may be rounded to four decimals.
TOLERANCE = 0.5e-4 + 1e-9


class Case(NamedTuple):
    """One value that a measure should have.

    case: its name. finds: the name of the mistake that it is for. measure, k: what to compute.
    judgments: {document: grade}. ranking: pairs of a document and its score, best first. For means,
    both are by query. right: the right values by their source, None where an error is right, too.
    wrong: the value that comes of each mistake, None for no value.
    """

    case: str
    finds: str
    measure: str
    k: int
    judgments: Mapping[str, Any]
    ranking: Any
    right: dict[str, float | None]
    wrong: dict[str, float | None]

    def question(self) -> dict[str, object]:
        """What a program under test is told."""
        return {name: getattr(self, name) for name in TOLD}

    def as_trec(self) -> tuple[str, str]:
        """The texts of a file of judgments and of a run; the query of a single one is `q`."""
        judgments, rankings = self.judgments, self.ranking
        if self.measure not in MEANS:
            judgments, rankings = {"q": judgments}, {"q": rankings}
        return (
            "".join(
                f"{query} 0 {document} {grade}\n"
                for query, grades in judgments.items()
                for document, grade in grades.items()
            ),
            "".join(
                f"{query} Q0 {document} {rank} {score} case\n"
                for query, ranking in rankings.items()
                for rank, (document, score) in enumerate(ranking, 1)
            ),
        )

    def right_values(self) -> list[float]:
        """The right values, each once."""
        return list({value: None for value in self.right.values() if value is not None})

    def mistakes(self, value: float | None) -> list[str]:
        """The mistakes of which a value comes; None is no value."""
        return [mistake for mistake, wrong in self.wrong.items() if agree(value, wrong)]


def agree(value: float | None, expected: float | None) -> bool:
    """Whether two values are equal to four decimals, or both are none."""
    if value is None or expected is None:
        return value is expected
    return math.isclose(value, expected, rel_tol=0, abs_tol=TOLERANCE)


@cache
def all_cases() -> list[Case]:
    """The cases of all measures."""
    return [Case(**case) for case in _content()["cases"]]


@cache
def mistakes() -> dict[str, tuple[str, str]]:
    """Each mistake in words, and what is right instead, by its name."""
    words = _content()["mistakes"].items()
    return {name: (words["mistake"], words["right"]) for name, words in words}


def _content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(files(__package__).joinpath("cases.json").read_bytes())
    return content
