"""Sets of stretches of a number line: their unions, and which of them meet.

On it, each document has a part of its own, with a place for each character; parts never touch.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.data.texts import Texts, gather_texts, interning, memory_of
from fastrank.core.native import kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.analysis.spans.readers import Places
    from fastrank.common.arrays import Integers

    # Starts and ends.
    Stretches = tuple[Integers, Integers]

# The highest place in a document, and the length of a part.
MOST = 2**31
PART = 2 * MOST


def on_line(places: Places, parts: Integers, rows: Integers | slice = slice(None)) -> Stretches:
    """Rows of places as stretches of the parts with these numbers."""
    return parts * PART + places.starts[rows], parts * PART + places.ends[rows]


class Union:
    """The union of stretches: the starts and ends of those that remain if they are joined."""

    def __init__(self, starts: Integers, ends: Integers) -> None:
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], np.maximum.accumulate(ends[order])
        first = np.append(True, starts[1:] > ends[:-1])[: len(starts)]
        self.starts, self.ends = starts[first], ends[np.append(first[1:], True)[: len(starts)]]
        # With an empty stretch before all others, there is always one.
        self._starts = np.append(np.int64(-1), self.starts)
        self._lengths = np.append(np.int64(0), self.ends - self.starts)
        self._before = np.cumsum(self._lengths) - self._lengths

    def within(self, starts: Integers, ends: Integers) -> Integers:
        """How many characters of each stretch are in the union."""
        return self._up_to(ends) - self._up_to(starts)

    def _up_to(self, positions: Integers) -> Integers:
        index = np.searchsorted(self._starts, positions, "right") - 1
        inside = np.minimum(positions - self._starts[index], self._lengths[index])
        counts: Integers = self._before[index] + inside
        return counts


def meeting(
    stretches: Stretches, others: Stretches, *, touching: bool = False
) -> tuple[Integers, Integers]:
    """The indexes of the pairs of a stretch and one of the others that have a place in common.

    touching: or where one ends where the other starts.
    """
    order = np.argsort(others[0], kind="stable")
    starts, ends = others[0][order] - touching, others[1][order] + touching
    # Skip others that start after the end, and those before which all have ended.
    lows = np.searchsorted(np.maximum.accumulate(ends), stretches[0], "right")
    counts = np.maximum(np.searchsorted(starts, stretches[1], "left") - lows, 0)
    rows = np.repeat(np.arange(len(lows)), counts)
    candidates = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts - lows, counts)
    meets = ends[candidates] > stretches[0][rows]
    return rows[meets], order[candidates[meets]]


def combined(*columns: Integers) -> Integers:
    """A number for each row of numbers of at least 0, in the order of the rows."""
    keys = columns[0]
    for column in columns[1:]:
        keys = keys * (int(column.max(initial=0)) + 1) + column
    return keys


def number_texts(*columns: Texts) -> tuple[list[Integers], Texts]:
    """The number of each text, from 0 in the order in which they appear; the distinct texts."""
    moved = np.cumsum([0, *(len(column.buffer) for column in columns[:-1])])
    starts = [np.asarray(column.starts) + by for column, by in zip(columns, moved, strict=True)]
    lengths = np.concatenate([np.asarray(column.lengths) for column in columns])
    buffer = b"".join(bytes(column.buffer) for column in columns)
    texts = Texts(buffer, memory_of(np.concatenate(starts)), memory_of(lengths))
    numbered = interning(len(texts))
    distinct = kernels.intern_texts(texts.columns, numbered)
    codes = np.split(np.asarray(numbered.ids), np.cumsum([len(column) for column in columns])[:-1])
    return codes, gather_texts(texts, np.asarray(numbered.firsts)[:distinct])
