"""What an evaluation of arrays is to compute: measures and options, checked as `evaluate` does."""

from __future__ import annotations

from fastrank.judging.evaluation_options import evaluation_options
from fastrank.judging.options import check_options, judging_options
from fastrank.judging.queries import evaluates_missing
from fastrank.measures.selection import Selection
from fastrank.measures.ties import refuse_annotated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.data.grade_scale import Graded
    from fastrank.judging.judged import JudgingOptions


class Request:
    """Measures with their parameters, options, and how to judge for them.

    given: options of `evaluate`.
    """

    def __init__(self, measures: str | Iterable[str], given: Mapping[str, Any]) -> None:
        self.options = evaluation_options(given)
        self.measures = Selection(measures).bind(self.options.compat)
        check_options(self.measures, self.options)
        refuse_annotated(self.measures, "only `evaluate` has the ids to look for in them")
        self.evaluates_missing = evaluates_missing(self.options)

    def judging(self, judgments: Graded) -> JudgingOptions:
        """How to judge rankings by these judgments."""
        return judging_options(self.measures, self.options, judgments)

    @property
    def first_measure(self) -> str:
        """The measure to name when a query cannot be judged."""
        return self.measures[0].measure.name if self.measures else ""
