"""Grades with fractions, encoded as integers for the kernels.

Kernels only compare grades, so their order is enough. Gains look up the actual grades.
"""

from __future__ import annotations

from fastrank.data.columns import Frozen, as_array
from fastrank.data.texts import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from fastrank.data.texts import Texts


class Scale(Frozen):
    """The grades of judgments in which some grade has a fraction.

    values: the distinct grades, float64: first those of at least 0, ascending from 0, then the
        negative ones, ascending. The code of a grade is its index, counted from the end (-1 for
        the last) if it is negative.
    judged: the number of grades that are not negative.
    """

    values: Any
    judged: int

    def ranked_grades(self, codes: Any) -> npt.NDArray[np.float64]:
        """The grades of codes in judged rankings, where negative codes are kept as they are."""
        import numpy

        found = as_array(codes)
        return numpy.where(found < 0, found, self.grades(found))

    def grades(self, codes: Any) -> npt.NDArray[np.float64]:
        """The grades of codes."""
        # Negative indices count from the end in NumPy, too.
        found: npt.NDArray[np.float64] = as_array(self.values)[as_array(codes)]
        return found

    def first_fraction(self, codes: Any) -> tuple[int, float]:
        """The first row with a fractional grade, and the grade."""
        grades = self.grades(codes)
        row = int((grades % 1 != 0).argmax())
        return row, float(grades[row])

    def lowest_code(self, level: float) -> int:
        """The smallest code whose grade is at least `level`.

        In judged rankings the codes of unjudged documents and negative grades are fixed negative
        numbers, with which a negative level is compared.
        """
        # Imported here because the trec_eval command does not need it.
        from bisect import bisect_left

        return bisect_left(self.values, level, 0, self.judged) if level > 0 else _ceiling(level)


def lowest_code(judgments: Any, level: float) -> int:
    """The lowest relevant grade as its code in the judgments."""
    scale = getattr(judgments, "scale", None)
    return _ceiling(level) if scale is None else int(scale.lowest_code(level))


def _ceiling(level: float) -> int:
    return -int(-level // 1)


def query_and_document(judgments: Any, row: int) -> tuple[bytes, str | int]:
    """The query and the document of a row of judgments.

    A document without an id is represented by its row number.
    """
    query = judgments.queries[sum(stop <= row for stop in judgments.offset_column[1:])]
    return query, decoded(judgments.docs[row]) if hasattr(judgments, "docs") else row


def encode_grades(grades: Any) -> tuple[npt.NDArray[np.int64], Scale]:
    """Encode finite grades, float64, as integers; returns the codes and their Scale."""
    import numpy

    values, places = numpy.unique(grades, return_inverse=True)
    negative = int(numpy.searchsorted(values, 0.0))
    codes = places.astype("int64") - negative
    judged = values[negative:] + 0.0  # WorkQueue -0.0 into 0.0.
    if not len(judged) or judged[0] > 0.0:
        judged = numpy.concatenate([numpy.zeros(1), judged])
        codes[codes >= 0] += 1
    column: Any = numpy.concatenate([judged, values[:negative]])
    return codes, Scale(values=memoryview(column), judged=len(judged))


class Graded(Frozen):
    """Judgments without document ids: queries and the grades of each.

    The code that judges the rankings knows the documents. `scale` as in Qrels.
    """

    queries: Texts
    offset_column: Any
    grade_column: Any
    scale: Scale | None = None

    def __len__(self) -> int:
        return len(self.queries)
