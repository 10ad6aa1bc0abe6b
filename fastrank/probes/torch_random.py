"""The random numbers of torch's CPU generator, a Mersenne Twister like numpy's RandomState."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

# A float32 takes the low 24 bits of a word.
FLOAT_BITS = 24


class TorchRandom:
    """The stream of words of `torch.Generator().manual_seed(seed)`."""

    def __init__(self, seed: int) -> None:
        import numpy

        self._state = numpy.random.RandomState(seed & 0xFFFFFFFF)

    def words(self, count: int) -> Array:
        """The next words as uint32[count]."""
        import numpy

        return numpy.frombuffer(self._state.bytes(4 * count), "<u4")

    def uniform(self, shape: tuple[int, ...], bound: float) -> Array:
        """What `tensor.uniform_(-bound, bound)` fills a float32 tensor with."""
        import numpy

        low, high = numpy.float32(-bound), numpy.float32(bound)
        bits = self.words(int(numpy.prod(shape))) & numpy.uint32((1 << FLOAT_BITS) - 1)
        drawn = bits.astype(numpy.float32) * numpy.float32(2.0**-FLOAT_BITS)
        found: Array = (drawn * (high - low) + low).reshape(shape)
        return found

    def epoch_words(self, epochs: int, rows: int) -> Array:
        """The words of the permutations that a shuffling DataLoader uses, uint32[epochs, rows - 1].

        In each epoch the loader draws an int64, which is two words, a permutation, and a second
        permutation that it does not use.
        """
        drawn = self.words(epochs * 2 * rows).reshape(epochs, 2 * rows)
        return drawn[:, 2 : rows + 1]


def permutations(words: Array) -> Array:
    """Permutations as by `torch.randperm`, from uint32[count, rows - 1]: int32[count, rows]."""
    import numpy

    count, steps = words.shape
    rows = steps + 1
    left = numpy.arange(rows, 1, -1, dtype=numpy.uint32)
    chosen = (words % left).astype(numpy.intp).T + numpy.arange(steps)[:, None]
    # One row per place, so that every step works on contiguous memory.
    found = numpy.empty((rows, count), numpy.int32)
    found[:] = numpy.arange(rows)[:, None]
    flat = found.reshape(-1)
    chosen *= count
    chosen += numpy.arange(count)
    for place, source in zip(found, chosen, strict=False):
        taken = flat[source]
        flat[source] = place
        place[:] = taken
    orders: Array = found.T
    return orders
