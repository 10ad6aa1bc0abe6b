"""Grades with fractions, encoded as integers for the kernels.

Kernels only compare them, so that their order is enough. Gains look up the actual grades.
"""

from __future__ import annotations

from fastrank.core.data.columns import Frozen, as_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from fastrank.core.native.record import Float64Array, Int64Array


class Scale(Frozen):
    """The grades of judgments in which some grade has a fraction.

    values: the distinct grades, float64: first those of at least 0, ascending from 0, then the
        negative ones, ascending. The code of a grade is its index, counted from the end (-1 for
        the last) if it is negative.
    judged: the number of grades that are not negative.
    """

    values: Float64Array
    judged: int

    def ranked_grades(self, codes: Int64Array) -> npt.NDArray[np.float64]:
        """The grades of codes in judged rankings, where negative codes are kept as they are."""
        import numpy

        array = as_array(codes)
        return numpy.where(array < 0, array, self.grades(array))

    def grades(self, codes: Int64Array) -> npt.NDArray[np.float64]:
        """The grades of codes."""
        # Negative indices count from the end in NumPy, too.
        grades: npt.NDArray[np.float64] = as_array(self.values)[as_array(codes)]
        return grades

    def first_fraction(self, codes: Int64Array) -> tuple[int, float]:
        """The first row with a fractional grade, and the grade."""
        grades = self.grades(codes)
        row = int((grades % 1 != 0).argmax())
        return row, float(grades[row])


def encode_grades(grades: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], Scale]:
    """Encode finite grades, float64, as integers; returns the codes and their Scale."""
    import numpy

    values, numbers = numpy.unique(grades, return_inverse=True)
    negative = int(numpy.searchsorted(values, 0.0))
    codes = numbers.astype("int64") - negative
    judged = values[negative:] + 0.0  # Turn -0.0 into 0.0.
    if not len(judged) or judged[0] > 0.0:
        judged = numpy.concatenate([numpy.zeros(1), judged])
        codes[codes >= 0] += 1
    column: Any = numpy.concatenate([judged, values[:negative]])
    return codes, Scale(values=memoryview(column), judged=len(judged))
