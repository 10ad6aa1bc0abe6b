"""Numbers in files: read as C's strtod and atol read them, bit for bit, and printed as C prints."""

from __future__ import annotations

import ctypes
import random
import struct
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from math import copysign, inf, isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.common import c_numbers as numbers
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_run
from tests.helpers.strategies import (
    BLANKS,
    COMPILED,
    atol,
    examples,
    many,
    odd_numbers,
    slow_in_python,
    strtod,
)


def read_scores(texts: list[bytes]) -> list[float]:
    """The scores of a run with one line for each text."""
    run = parse_run(b"".join(b"q Q0 d 1 %b tag\n" % text for text in texts), strict=False)
    return run.scores.tolist()


def read_grades(texts: list[bytes]) -> list[int]:
    """The grades of judgments with one line for each text."""
    lines = b"".join(b"q 0 d %b\n" % text for text in texts)
    return parse_qrels(lines, strict=False).grades.tolist()


def bits(value: float) -> bytes:
    """The eight bytes of a double; all NaN of a sign are alike."""
    return struct.pack("<d", copysign(nan, value) if isnan(value) else value)


def double(pattern: int) -> float:
    """The double with these 64 bits."""
    return struct.unpack("<d", struct.pack("<Q", pattern))[0]


def differences(texts: list[bytes], read: list[float]) -> list[tuple[bytes, float, float]]:
    """The first few texts that were read otherwise than by strtod."""
    pairs = ((text, own, strtod(text)) for text, own in zip(texts, read, strict=True))
    wrong = [(text[:60], own, right) for text, own, right in pairs if bits(own) != bits(right)]
    return wrong[:5]


def assert_read_as_strtod(texts: list[bytes]) -> None:
    assert differences(texts, read_scores(texts)) == []


# Texts at random, the same in every run


def times(count: int) -> range:
    """As many as this, a tenth of it for kernels in plain Python."""
    return range(count if COMPILED else count // 10)


def random_digits(chance: random.Random, least: int, most: int) -> str:
    return "".join(chance.choices("0123456789", k=chance.randint(least, most)))


def with_point(chance: random.Random, digits: str) -> str:
    place = chance.randrange(len(digits) + 1)
    return digits[:place] + "." + digits[place:]


def doubles(chance: random.Random) -> Iterator[str]:
    """Of random bits, so of every magnitude: the shortest text, and any number of digits."""
    shapes = ["%.15e", "%.16e", "%.17e", "%.18e", "%.19e", "%.25e", "%.6g"]
    for _ in times(5_000):
        value = double(chance.getrandbits(64))
        yield from (repr(value), chance.choice(shapes) % value, value.hex())


def short_decimals_that_end_early(chance: random.Random) -> Iterator[bytes]:
    """As systems print scores, and with a byte anywhere that is no digit: 8 are read at once."""
    strange = [byte for byte in range(1, 256) if byte not in b"\n" + BLANKS]
    for _ in times(5_000):
        text = bytearray(with_point(chance, random_digits(chance, 1, 19)).encode())
        for _ in range(chance.choice([0, 1, 1, 2])):
            text[chance.randrange(len(text))] = chance.choice(strange)
        yield chance.choice([b"", b"-", b"+"]) + bytes(text)


def mantissas_that_fill_64_bits(chance: random.Random) -> Iterator[str]:
    """17 to 19 digits with exponents from zero's to infinity's range."""
    for _ in times(5_000):
        mantissa = with_point(chance, random_digits(chance, 17, 19))
        yield f"{chance.choice(['', '-', '+'])}{mantissa}e{chance.randint(-370, 330):+d}"


def long_mantissas(chance: random.Random) -> Iterator[str]:
    """20 to 800 digits, the last of them included in the rounding."""
    for _ in times(2_000):
        mantissa = with_point(chance, random_digits(chance, 20, 800))
        yield mantissa + chance.choice(["", f"e{chance.randint(-1100, 400)}"])


def zeros(chance: random.Random) -> Iterator[str]:
    """Leading and trailing ones, before and after the point, which do not count as digits."""
    for _ in times(1_000):
        digits = random_digits(chance, 1, 19)
        before, after = "0" * chance.randint(0, 400), "0" * chance.randint(0, 400)
        for text in (before + digits + after, f"{before}.{after}{digits}", f"{digits}{before}."):
            yield from (text, f"{text}e{chance.randint(-400, 400)}")


def halfway(chance: random.Random, patterns: list[int]) -> Iterator[str]:
    """Exact decimal texts of the middle between doubles and their upper neighbours, and near it."""
    with localcontext() as context:
        context.prec = 1200
        for pattern in patterns:
            middle = (Decimal(double(pattern)) + Decimal(double(pattern + 1))) / 2
            exact = f"{middle:f}" if chance.random() < 0.3 else f"{middle:e}"
            mantissa, e, exponent = exact.partition("e")
            point = "" if "." in mantissa else "."
            sign = chance.choice(["", "-"])
            yield sign + exact
            # A little above: 1 after all digits. A little below: 0.99... of the last one.
            yield f"{sign}{mantissa}{point}{'0' * chance.randint(0, 30)}1{e}{exponent}"
            if mantissa[-1] not in "0.":
                nines = f"{int(mantissa[-1]) - 1}{point}{'9' * chance.randint(1, 30)}"
                yield f"{sign}{mantissa[:-1]}{nines}{e}{exponent}"


def ties(chance: random.Random) -> Iterator[str]:
    """The middle between two doubles, written out in full, and texts a little above and below."""
    return halfway(chance, [chance.randrange(0x7FEFFFFFFFFFFFFF) for _ in range(many(600))])


def ties_of_subnormals(chance: random.Random) -> Iterator[str]:
    """The same where doubles lose precision, from the middle between 0 and the smallest double."""
    patterns = [0, 1, 2, 3, 2**52 - 2, 2**52 - 1, 2**52, 2**52 + 1]
    patterns += [chance.getrandbits(chance.randint(1, 52)) for _ in range(many(300))]
    return halfway(chance, patterns)


def short_ties(chance: random.Random) -> Iterator[str]:
    """With at most 19 digits: w * 10**q is exactly between doubles for -4 <= q <= 23."""
    for q in [*range(-4, 24)] * many(50):
        if q >= 0:
            mantissa = chance.randint(2**53 // 5**q, 2**54 // 5**q) | 1
        else:
            mantissa = (chance.randint(2**53, 2**54) | 1) * 5**-q
        mantissa <<= chance.choice([0, 0, 1, 2, 5])
        yield from (f"{mantissa + nudge}e{q}" for nudge in (-1, 0, 1))


def powers(chance: random.Random) -> Iterator[str]:
    """Those of two and their neighbours, and those of ten far beyond the range of doubles."""
    for power in range(50, 71):
        for step in range(-3, 4):
            middle = 2**power + step * 2 ** max(0, power - 54)
            yield from (str(middle + nudge) for nudge in (-1, 0, 1))
    for power in range(-360, 330):
        yield from (f"{digit}e{power}" for digit in (1, 7, 9))


def hexadecimals(chance: random.Random) -> Iterator[str]:
    """Of up to 40 digits, with and without a point and an exponent."""
    for _ in times(5_000):
        mantissa = with_point(chance, "".join(chance.choices("0123456789abcdef", k=20)))
        digits = chance.choice(["0", "", "0" * 20]) + mantissa[: chance.randint(1, 21)]
        yield f"{chance.choice(['', '-'])}0x{digits}{chance.choice(['', 'p', 'p-3', 'p1000'])}"


def characters_of_numbers(chance: random.Random) -> Iterator[bytes]:
    """Mostly no numbers as a whole."""
    for _ in times(5_000):
        length = chance.randint(1, 12)
        yield bytes(chance.choices(b"0001234599..+-eExXpPinfanINFtyA_", k=length))


GENERATORS: list[Callable[[random.Random], Iterator[str | bytes]]] = [
    doubles,
    short_decimals_that_end_early,
    mantissas_that_fill_64_bits,
    long_mantissas,
    zeros,
    ties,
    ties_of_subnormals,
    short_ties,
    powers,
    hexadecimals,
    characters_of_numbers,
]


@pytest.mark.parametrize("generate", GENERATORS, ids=lambda own: own.__name__)
def test_texts_of_every_shape_are_read_as_strtod_reads_them(generate):
    texts = generate(random.Random(1))
    assert_read_as_strtod([text.encode() if isinstance(text, str) else text for text in texts])


# Texts that are known to be hard, or odd


TEXTS = {
    "around half the smallest double": "2.4703282292062327e-324 2.4703282292062328e-324",
    "the smallest double": "4.9406564584124654e-324",
    "around the smallest normal": "2.2250738585072009e-308 2.2250738585072014e-308",
    "what hung PHP and Java": "2.2250738585072011e-308 2.2250738585072012e-308",
    "the largest double": "1.7976931348623157e308 1.7976931348623158e308",
    "past the middle to infinity": "1.7976931348623159e308 179769313486231580793e288 -1e400",
    "ties": "9007199254740993 9007199254740992.5 9007199254740993.0000000000000000000000001"
    " 0.500000000000000166533453693773481063544750213623046875"
    " 8.988465674311580536566680721305029e307",
    "exponents of any length": "1e99999999999999999999 -1e-99999999999999999999"
    " 0e99999999999999999999 1e+00000000000000000000000000001 1e-18446744073709551616"
    " 1e9223372036854775808 1e4294967296 1e65537 -1e-400",
    "exponents": "1e 1e+ 1e- 1e+x 1ee5 1e5.5 1E5 1e+05 1e-0005 1d5",
    "points": ".5 +.5 5. 5.e1 . .e1 e1 1.2.3",
    "what follows a number": "1,5 1_000 12abc 0.25; abc",
    "no ASCII": "\u0661 1\u0661 \u22121",
    "a sign without a number": "+ - +-1 --1 -. -.e1 -abc --0 -+0 -i -in -n -nothing",
    "minus zero": "-0 -0.0e5 -0. -.0 -0e9 -0x -0xg -00x1 -0z",
    "words": "i in n na nul information infant",
    "inf and nan": " ".join(
        sign + word + rest
        for word in ("inf", "INF", "iNf", "infinity", "Infinity", "nan", "NaN", "NAN")
        for rest in ("", "x", "_", "0", ".")
        for sign in ("", "+", "-")
    ),
    "hexadecimal": "0x1p3 0X1P3 0x1 0xff 0x.8 0x8. 0x1.8p 0x1.8p+ 0x1.8p-2 0x1.8p1.5 0xag"
    " 0x 0x. 0x.p1 0xp1 +0x1p3 -0x1.8p-2 -0xag +0x -0x.p1",
    "hexadecimal ties": "0x1.fffffffffffff8p1 0x1.00000000000008p0 0x1.000000000000081p0"
    " 0x1p-1075 0x1.00000000000000000000001p-1075 -0x1p-1075",
    "the range of hexadecimal": "0x1p-1074 0x1p-99999999999 0x0p99999999999 0x1p1024 -0x1p1024"
    " 0x1.fffffffffffff8p1023 0x1p99999999999999999999",
}


@pytest.mark.parametrize("name", TEXTS)
def test_all_readers_of_numbers_agree_with_strtod(name):
    """Those of scores and of levels, and the slow one; the longest number at the start counts."""
    texts = TEXTS[name].encode().split()
    levels = parse_prefs(b"".join(b"q g s d %b\n" % text for text in texts), strict=False).levels
    for read in (read_scores(texts), levels.tolist(), list(map(numbers.atof, texts))):
        assert differences(texts, read) == []


def test_the_twins_of_strtod_and_atol_are_the_c_librarys():
    """The oracles of this file agree with the real functions, where Python can call them."""
    library = ctypes.CDLL(None) if hasattr(ctypes, "RTLD_GLOBAL") else None
    if not hasattr(library, "strtod"):
        pytest.skip("no C library to ask")
    library.strtod.restype, library.atol.restype = ctypes.c_double, ctypes.c_long
    library.strtod.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    texts = [*" ".join(TEXTS.values()).encode().split(), *characters_of_numbers(random.Random(12))]
    assert differences(texts, [library.strtod(text, None) for text in texts]) == []
    if ctypes.sizeof(ctypes.c_long) == 8:
        assert [library.atol(text) for text in INTEGERS] == list(map(atol, INTEGERS))


@slow_in_python
@pytest.mark.parametrize("zeros", [99_999, 100_000, 300_000, 1_000_000])
def test_exponents_and_zeros_make_up_for_each_other(zeros):
    """An exponent counts in full against any number of zeros, and no exponent is too large."""
    exponents = [0, 1, -1, 9 * zeros, -9 * zeros]
    texts = [b"1%be%d" % (b"0" * zeros, exponent - zeros) for exponent in exponents]
    texts += [b"0.%b1e%d" % (b"0" * zeros, exponent + zeros) for exponent in exponents]
    assert_read_as_strtod(texts)


def test_a_million_digits_are_one_number():
    size = many(300_000)
    texts = [b"0." + b"3" * size, b"7" * size, b"0" * size + b"2.5"]
    assert read_scores(texts) == [1 / 3, inf, 2.5]


@examples(150)
@given(st.one_of(odd_numbers, st.binary(max_size=12), st.floats().map(lambda x: repr(x).encode())))
def test_the_slow_reader_agrees_with_strtod(text):
    """On every text, blanks before it included."""
    for own in (text, b" \t\v\f\r\n" + text):
        assert differences([own], [numbers.atof(own)]) == []


# Integers


INTEGERS = [
    *b"0 -0 007 +2 -2 1.9 -1.9 1e3 0x10 abc + - +-2 .5 2abc 1_0 \xd9\xa1".split(),
    *b"9223372036854775806 9223372036854775807 9223372036854775808 9223372036854775809".split(),
    *b"-9223372036854775807 -9223372036854775808 -9223372036854775809".split(),
    *b"18446744073709551617 99999999999999999999999999 -99999999999999999999999999".split(),
    b"00000000000000000000000000000012",
]


def test_odd_integers_are_read_as_atol_reads_them():
    """The leading integer, 0 if there is none, held within 64 bits; both readers agree."""
    expected = list(map(atol, INTEGERS))
    assert read_grades(INTEGERS) == list(map(numbers.atol, INTEGERS)) == expected
    # Longer than what int() reads.
    long = [b"9" * 5000, b"-" + b"0" * 5000 + b"3"]
    assert read_grades(long) == list(map(numbers.atol, long)) == [2**63 - 1, -3]
    assert numbers.atol(b"\n" + BLANKS + b"7") == 7
    assert numbers.atol(b"\xa07") == 0


def test_random_integers_are_read_as_atol_reads_them():
    """Of all lengths up to 25 digits, with signs and with something after them, and near 2^63."""
    chance = random.Random(13)
    signs, ends = ["", "", "+", "-"], ["", "", ".5", "e3", "x"]
    texts = [
        f"{chance.choice(signs)}{random_digits(chance, 1, 25)}{chance.choice(ends)}".encode()
        for _ in range(many(5_000))
    ]
    texts += [b"%d" % (own + step) for own in (-(2**63), 2**63) for step in range(-300, 300)]
    assert read_grades(texts) == list(map(numbers.atol, texts)) == list(map(atol, texts))


# Printing


PRINTED = [
    (
        "%6.4f",
        {0.5: "0.5000", -0.0: "-0.0000", inf: "   inf", -inf: "  -inf", 12345.678: "12345.6780"},
    ),
    # A double that is a little above the tie, and an exact tie, to even.
    ("%6.4f", {0.00005: "0.0001", 0.03125: "0.0312", 1e22: "10000000000000000000000.0000"}),
    ("%6.4f", {nan: "   nan", -nan: "  -nan"}),
    ("%3.2f", {0.1: "0.10", nan: "nan", -nan: "-nan"}),
]


@pytest.mark.parametrize(("specification", "texts"), PRINTED)
def test_numbers_print_as_in_c(specification, texts):
    """Like Python's %, but a NaN shows its sign."""
    for value, text in texts.items():
        assert numbers.printed(specification, value) == text
