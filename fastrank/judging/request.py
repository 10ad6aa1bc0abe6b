"""The measures and options of an evaluation of arrays, checked as by `evaluate`."""

from __future__ import annotations

from fastrank.judging.evaluation_options import evaluation_options
from fastrank.judging.options import bind_measures, check_options
from fastrank.measures.selection import Selection
from fastrank.measures.tie_support import refuse_more_than_grades

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.measures.selection import Measures


class Request:
    """Measures with their parameters, and options; `given`: options as passed to `evaluate`."""

    def __init__(self, measures: Measures, given: Mapping[str, Any]) -> None:
        self.options = evaluation_options(given)
        self.measures = bind_measures(Selection(measures), self.options)
        check_options(self.measures, self.options)
        refuse_more_than_grades(self.measures, "only `evaluate` supports it")
