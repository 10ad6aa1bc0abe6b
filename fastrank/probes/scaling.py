"""Scale features to mean 0 and standard deviation 1, as torch computes these."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

LEVELS = 4
# Columns in four registers of eight floats, and parts of the rows for the columns left.
COLUMNS, PARTS = 32, 4
SMALL = 1e-12


def scaled(train: Array, *others: Array) -> list[Array]:
    """The given float32[rows, features], scaled by the mean and deviation of the first."""
    import numpy

    mean = torch_sum(train) / numpy.float32(len(train))
    deviation = train.std(axis=0, ddof=1, dtype=numpy.float64).astype(numpy.float32)
    deviation += numpy.float32(SMALL)
    return [(part - mean) / deviation for part in (train, *others)]


def torch_sum(rows: Array) -> Array:
    """The sums of the columns in float32, added in the order of torch's AVX2 code.

    The rounding of the mean counts: constant columns are divided by 1e-12 after subtracting it.
    """
    import numpy

    count, columns = rows.shape
    together = columns - columns % COLUMNS
    # The last columns are summed as four interleaved parts.
    last = rows[:, together:]
    parts = [_cascade(last[first : count - count % PARTS : PARTS]) for first in range(PARTS)]
    for row in last[count - count % PARTS :]:
        parts[0] += row
    for part in parts[1:]:
        parts[0] += part
    return numpy.concatenate((_cascade(rows[:, :together]), parts[0]))


def _cascade(rows: Array) -> Array:
    """The sums of the columns, with four levels of partial sums."""
    import numpy

    count, columns = rows.shape
    sums = numpy.zeros((LEVELS, columns), numpy.float32)
    power = max(4, (count - 1).bit_length() // LEVELS)
    step = 1 << power
    blocks = count // step
    in_blocks = rows[: blocks * step].reshape(blocks, step, columns)
    of_block = numpy.zeros((blocks, columns), numpy.float32)
    for place in range(step):
        of_block += in_blocks[:, place]
    for block in range(blocks):
        sums[0] += of_block[block]
        done = (block + 1) * step
        for level in range(1, LEVELS):
            sums[level] += sums[level - 1]
            sums[level - 1] = 0.0
            if done & ((step - 1) << (level * power)):
                break
    for row in rows[blocks * step :]:
        sums[0] += row
    for level in range(1, LEVELS):
        sums[0] += sums[level]
    total: Array = sums[0]
    return total
