"""Random words by number: any thread can compute word i without the words before it.

The generator is splitmix64 (Steele, Lea and Flood, 'Fast splittable pseudorandom number
generators', OOPSLA 2014), whose i-th output depends on the seed and on i alone.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.simd.instructions import compiled_as, multiply
from fastrank.native.declare import inlined, kernel

U = np.uint64
GOLDEN = U(0x9E3779B97F4A7C15)
FIRST_FACTOR = U(0xBF58476D1CE4E5B9)
SECOND_FACTOR = U(0x94D049BB133111EB)
# Each use of a seed has other words.
FLIPS, PERMUTATIONS, DRAWS = 1, 2, 3


def wrapped_sum(a, b):
    """The sum modulo 2**64, as compiled code adds words."""
    return U((int(a) + int(b)) & (2**64 - 1))


compiled_as(wrapped_sum, lambda a, b: lambda a, b: a + b)


@inlined
def mix(word):
    """The finalizer of splitmix64."""
    word = multiply(word ^ (word >> U(30)), FIRST_FACTOR)[1]
    word = multiply(word ^ (word >> U(27)), SECOND_FACTOR)[1]
    return word ^ (word >> U(31))


@inlined
def stream(seed, purpose):
    """The start of the words of a seed for one purpose."""
    start = mix(wrapped_sum(U(seed), GOLDEN))
    return mix(wrapped_sum(start, multiply(U(purpose), GOLDEN)[1]))


@inlined
def word_of(start, number):
    """Word `number`, from 0, of a stream."""
    return mix(wrapped_sum(start, multiply(U(number + 1), GOLDEN)[1]))


@inlined
def below(word, limit):
    """A number below a limit of at most 2**32."""
    return np.int64(((word >> U(32)) * U(limit)) >> U(32))


@kernel("void(int64, int64, int64, int64[::1])")
def random_words(seed, purpose, first, halves):
    """The words from `first` on, each as its high and its low 32 bits."""
    start = stream(seed, purpose)
    for i in range(len(halves) // 2):
        word = word_of(start, first + i)
        halves[2 * i] = np.int64(word >> U(32))
        halves[2 * i + 1] = np.int64(word & U(0xFFFFFFFF))
