"""Grades with fractions: the integers that stand for them, and back.

Kernels tell grades apart and compare them, and need no more than their order. What a grade is
worth is looked up by who asks for gains.
"""

from __future__ import annotations

from fastrank.data.columns import Frozen, as_array
from fastrank.data.texts import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    import numpy as np
    import numpy.typing as npt

    from fastrank.data.texts import Texts


class Scale(Frozen):
    """What the grades of a set of judgments are, where one has a fraction.

    values: the different grades, float64: those of at least 0, ascending from 0, then the
        negative ones, ascending. A grade that is not negative is known by its place; a negative
        one by its place from the end, -1 for the last.
    judged: how many are not negative.
    """

    __slots__ = ("judged", "values")

    values: Any
    judged: int

    def ranked_grades(self, codes: Any) -> npt.NDArray[np.float64]:
        """The grades that integers of judged rankings stand for; negative ones mean themselves."""
        import numpy

        found = as_array(codes)
        return numpy.where(found < 0, found, self.grades(found))

    def grades(self, codes: Any) -> npt.NDArray[np.float64]:
        """The grades that integers stand for."""
        # Negative places count from the end, in NumPy too.
        found: npt.NDArray[np.float64] = as_array(self.values)[as_array(codes)]
        return found

    def first_fraction(self, codes: Any) -> tuple[int, float]:
        """The first row whose grade has a fraction, and that grade."""
        grades = self.grades(codes)
        row = int((grades % 1 != 0).argmax())
        return row, float(grades[row])

    def lowest_code(self, level: float) -> int:
        """The integer such that grades of at least `level` have it or a larger one.

        Judging gives documents of negative grade, or none, integers that mean no more than that:
        a negative level is compared with these.
        """
        # Not imported above: the trec_eval command has no use for it.
        from bisect import bisect_left

        return bisect_left(self.values, level, 0, self.judged) if level > 0 else _ceiling(level)


def lowest_code(judgments: Any, level: float) -> int:
    """The lowest grade that is relevant, as the integer that stands for it in judgments."""
    scale = getattr(judgments, "scale", None)
    return _ceiling(level) if scale is None else int(scale.lowest_code(level))


def _ceiling(level: float) -> int:
    return -int(-level // 1)


def query_and_document(judgments: Any, row: int) -> tuple[bytes, str | int]:
    """The query and the document that a row of judgments is about.

    A document without an id is the number of its row.
    """
    query = judgments.queries[sum(stop <= row for stop in judgments.offset_column[1:])]
    return query, decoded(judgments.docs[row]) if hasattr(judgments, "docs") else row


def encode_grades(grades: Any) -> tuple[npt.NDArray[np.int64], Scale]:
    """The integers that stand for finite grades, float64, and what they stand for."""
    import numpy

    values, places = numpy.unique(grades, return_inverse=True)
    negative = int(numpy.searchsorted(values, 0.0))
    codes = places.astype("int64") - negative
    judged = values[negative:] + 0.0  # No sign at 0.
    if not len(judged) or judged[0] > 0.0:
        judged = numpy.concatenate([numpy.zeros(1), judged])
        codes[codes >= 0] += 1
    column: Any = numpy.concatenate([judged, values[:negative]])
    return codes, Scale(values=memoryview(column), judged=len(judged))


class Graded(Frozen):
    """Judgments whose documents have no texts: their queries, and the grades of each.

    What a query's documents are is known to whoever judges the rankings. `scale` as in Qrels.
    """

    __slots__ = ("grade_column", "offset_column", "queries", "scale")
    defaults: ClassVar[dict[str, Any]] = {"scale": None}

    queries: Texts
    offset_column: Any
    grade_column: Any
    scale: Scale | None

    def __len__(self) -> int:
        return len(self.queries)
