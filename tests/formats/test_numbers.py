"""Numbers in files: read as C's strtod and atol read them, bit for bit, and printed as C prints."""

from __future__ import annotations

import ctypes
import random
import struct
from decimal import Decimal, localcontext
from math import copysign, inf, isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank import c_numbers as numbers
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_run
from tests.helpers.strategies import (
    BLANKS,
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
    assert len(run.docs) == len(texts)
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


def random_digits(chance: random.Random, count: int) -> str:
    return "".join(chance.choices("0123456789", k=count))


def with_point(chance: random.Random, digits: str) -> str:
    place = chance.randrange(len(digits) + 1)
    return digits[:place] + "." + digits[place:]


# Decimal numbers


def test_every_double_survives_its_shortest_text() -> None:
    """repr() of doubles with random bits, so of every magnitude, reads as the same double."""
    chance = random.Random(1)
    values = [double(chance.getrandbits(64)) for _ in range(many(250_000))]
    values = [value for value in values if abs(value) < inf]

    read = read_scores([repr(value).encode() for value in values])

    assert struct.pack(f"{len(values)}d", *read) == struct.pack(f"{len(values)}d", *values)


@pytest.mark.parametrize("shape", ["%.15e", "%.16e", "%.17e", "%.18e", "%.19e", "%.25e", "%.6g"])
def test_doubles_printed_with_any_number_of_digits_are_correctly_rounded(shape: str) -> None:
    """Texts with fewer and more digits than a double needs read as float() reads them."""
    chance = random.Random(2)
    texts = [shape % double(chance.getrandbits(64)) for _ in range(many(110_000))]

    assert_read_as_strtod([text.encode() for text in texts])


def test_scores_as_systems_print_them_are_correctly_rounded() -> None:
    """Fixed-point numbers with 1 to 19 digits, the common case, read as float() reads them."""
    chance = random.Random(3)
    texts = [
        with_point(chance, random_digits(chance, chance.randint(1, 19))).encode()
        for _ in range(many(250_000))
    ]

    assert_read_as_strtod(texts)


def test_a_short_decimal_ends_at_the_first_byte_that_is_none_of_it() -> None:
    """Wherever that stands, whichever byte it is: a few digits are read all at once."""
    chance = random.Random(20)
    strange = [byte for byte in range(1, 256) if byte not in b"\n" + BLANKS]
    texts = []
    for _ in range(many(250_000)):
        text = bytearray(with_point(chance, random_digits(chance, chance.randint(1, 17))).encode())
        for _ in range(chance.choice([0, 1, 1, 2])):
            text[chance.randrange(len(text))] = chance.choice(strange)
        texts.append(chance.choice([b"", b"-", b"+"]) + bytes(text))

    assert_read_as_strtod(texts)


def test_17_to_19_digits_with_any_exponent_are_correctly_rounded() -> None:
    """The longest mantissas that fit 64 bits, with exponents from zero's to infinity's range."""
    chance = random.Random(4)
    texts = [
        chance.choice(["", "-", "+"])
        + with_point(chance, random_digits(chance, chance.randint(17, 19)))
        + f"e{chance.randint(-370, 330):+d}"
        for _ in range(many(250_000))
    ]

    assert_read_as_strtod([text.encode() for text in texts])


def test_20_to_800_digits_are_correctly_rounded() -> None:
    """Mantissas that do not fit 64 bits, their last digits included in the rounding."""
    chance = random.Random(5)
    texts = [
        with_point(chance, random_digits(chance, chance.randint(20, 800)))
        + chance.choice(["", f"e{chance.randint(-1100, 400)}"])
        for _ in range(many(110_000))
    ]

    assert_read_as_strtod([text.encode() for text in texts])


def test_zeros_do_not_count_as_digits() -> None:
    """Any number of leading and trailing zeros, before and after the point, changes nothing."""
    chance = random.Random(6)
    texts = []
    for _ in range(many(50_000)):
        digits = random_digits(chance, chance.randint(1, 19))
        before, after = "0" * chance.randint(0, 400), "0" * chance.randint(0, 400)
        texts += [before + digits + after, f"{before}.{after}{digits}", f"{digits}{before}.{after}"]
    texts += [f"{text}e{chance.randint(-400, 400)}" for text in texts]

    assert_read_as_strtod([text.encode() for text in texts])


def halfway_texts(chance: random.Random, patterns: list[int]) -> list[bytes]:
    """Exact decimal texts of the middle between doubles and their upper neighbours, and near it."""
    texts = []
    with localcontext() as context:
        context.prec = 1200
        for pattern in patterns:
            middle = (Decimal(double(pattern)) + Decimal(double(pattern + 1))) / 2
            exact = f"{middle:f}" if chance.random() < 0.3 else f"{middle:e}"
            mantissa, e, exponent = exact.partition("e")
            point = "" if "." in mantissa else "."
            # A little above: 1 after all digits. A little below: 0.99... of the last one.
            above = f"{mantissa}{point}{'0' * chance.randint(0, 30)}1{e}{exponent}"
            below = f"{mantissa[:-1]}{int(mantissa[-1]) - 1}{point}{'9' * chance.randint(1, 30)}"
            texts.append(exact)
            texts.append(above)
            if mantissa[-1] not in "0.":
                texts.append(f"{below}{e}{exponent}")
    return [(chance.choice(["", "-"]) + text).encode() for text in texts]


def test_exact_ties_between_doubles_go_to_the_even_one() -> None:
    """The middle between two doubles, written out in full, and texts a little above and below."""
    chance = random.Random(7)
    patterns = [chance.randrange(0x7FEFFFFFFFFFFFFF) for _ in range(many(1_500))]

    assert_read_as_strtod(halfway_texts(chance, patterns))


def test_ties_between_subnormal_doubles_go_to_the_even_one() -> None:
    """The same where doubles lose precision, from the middle between 0 and the smallest double."""
    chance = random.Random(8)
    patterns = [0, 1, 2, 3, 2**52 - 2, 2**52 - 1, 2**52, 2**52 + 1]
    patterns += [chance.getrandbits(chance.randint(1, 52)) for _ in range(many(300))]

    assert_read_as_strtod(halfway_texts(chance, patterns))


def test_short_ties_are_recognised() -> None:
    """Ties with at most 19 digits: w * 10**q is exactly between doubles for -4 <= q <= 23."""
    chance = random.Random(9)
    texts = []
    for _ in range(many(300)):
        for q in range(-4, 24):
            if q >= 0:
                low, high = 2**53 // 5**q, 2**54 // 5**q
                mantissa = chance.randint(low, high) | 1
            else:
                mantissa = (chance.randint(2**53, 2**54) | 1) * 5**-q
            mantissa <<= chance.choice([0, 0, 1, 2, 5])
            texts += [b"%de%d" % (mantissa + nudge, q) for nudge in (-1, 0, 1)]

    assert_read_as_strtod(texts)


def test_integers_around_powers_of_two_are_correctly_rounded() -> None:
    """From 2**50 to 2**70, the powers of two and their neighbours, ties among them."""
    texts = [
        b"%d" % (2**power + step * 2 ** max(0, power - 54) + nudge)
        for power in range(50, 71)
        for step in range(-3, 4)
        for nudge in (-1, 0, 1)
    ]

    assert_read_as_strtod(texts)


def test_powers_of_ten_are_correctly_rounded() -> None:
    """Every power of ten from far below the smallest double to far above the largest."""
    texts = [b"%de%d" % (digit, power) for digit in (1, 7, 9) for power in range(-360, 330)]

    assert_read_as_strtod(texts)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("2.4703282292062327e-324", 0),  # below the middle between 0 and the smallest double
        ("2.4703282292062328e-324", 1),  # above it
        ("4.9406564584124654e-324", 1),
        ("2.2250738585072009e-308", 0x000FFFFFFFFFFFFF),  # the largest subnormal
        ("2.2250738585072014e-308", 0x0010000000000000),  # the smallest normal
        ("2.2250738585072011e-308", 0x000FFFFFFFFFFFFF),  # hung PHP once
        ("2.2250738585072012e-308", 0x0010000000000000),  # hung Java once
        ("1.7976931348623157e308", 0x7FEFFFFFFFFFFFFF),  # the largest double
        ("1.7976931348623158e308", 0x7FEFFFFFFFFFFFFF),
        ("1.7976931348623159e308", 0x7FF0000000000000),  # past the middle to infinity
        ("179769313486231580793e288", 0x7FEFFFFFFFFFFFFF),
        ("9007199254740993", 0x4340000000000000),  # 2**53 + 1, a tie
        ("9007199254740992.5", 0x4340000000000000),
        ("9007199254740993.0000000000000000000000001", 0x4340000000000001),
        ("0.500000000000000166533453693773481063544750213623046875", 0x3FE0000000000002),
        ("8.988465674311580536566680721305029e307", 0x7FE0000000000000),
        ("-0", 0x8000000000000000),
        ("-0.0e5", 0x8000000000000000),
        ("-1e-400", 0x8000000000000000),
        ("-1e400", 0xFFF0000000000000),
    ],
)
def test_known_hard_number(text: str, pattern: int) -> None:
    """Numbers at the edges of doubles' range, with the bits they must become."""
    assert bits(read_scores([text.encode()])[0]) == struct.pack("<Q", pattern)


@pytest.mark.parametrize(
    "text",
    [
        b"1e99999999999999999999",
        b"-1e-99999999999999999999",
        b"0e99999999999999999999",
        b"1e+00000000000000000000000000001",
        b"1e-18446744073709551616",
        b"1e9223372036854775808",
        b"1e4294967296",
        b"1e65537",
    ],
)
def test_huge_exponents_do_not_wrap(text: bytes) -> None:
    """An exponent of any length is read as the number that it is."""
    assert_read_as_strtod([text])


@slow_in_python
@pytest.mark.parametrize("zeros", [99_999, 100_000, 300_000, 1_000_000])
def test_exponents_and_zeros_make_up_for_each_other(zeros: int) -> None:
    """An exponent counts in full against any number of zeros, and no exponent is too large."""
    exponents = [0, 1, -1, 9 * zeros, -9 * zeros]
    texts = [b"1%be%d" % (b"0" * zeros, exponent - zeros) for exponent in exponents]
    texts += [b"0.%b1e%d" % (b"0" * zeros, exponent + zeros) for exponent in exponents]

    assert_read_as_strtod(texts)


def test_a_million_digits_are_one_number() -> None:
    """The length of a number has no limit."""
    size = many(1_000_000)

    assert read_scores([b"0." + b"3" * size]) == [1 / 3]
    assert read_scores([b"7" * size]) == [inf]
    assert read_scores([b"0" * size + b"2.5"]) == [2.5]


# What is a number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"1e", 1.0),
        (b"1e+", 1.0),
        (b"1e-", 1.0),
        (b"1e+x", 1.0),
        (b"1ee5", 1.0),
        (b"1e5.5", 1e5),
        (b"1E5", 1e5),
        (b"1e+05", 1e5),
        (b"1e-0005", 1e-5),
        (b".5", 0.5),
        (b"+.5", 0.5),
        (b"5.", 5.0),
        (b"5.e1", 50.0),
        (b".", 0.0),
        (b".e1", 0.0),
        (b"e1", 0.0),
        (b"+", 0.0),
        (b"-", 0.0),
        (b"+-1", 0.0),
        (b"--1", 0.0),
        (b"1.2.3", 1.2),
        (b"1,5", 1.0),
        (b"1_000", 1.0),
        (b"12abc", 12.0),
        (b"0.25;", 0.25),
        (b"1d5", 1.0),
        (b"abc", 0.0),
        (b"\xd9\xa1", 0.0),  # a digit of another script
        (b"1\xd9\xa1", 1.0),
        (b"\xe2\x88\x921", 0.0),  # a minus sign that is not ASCII
    ],
)
def test_a_score_is_the_longest_number_that_its_field_begins_with(
    text: bytes, value: float
) -> None:
    """What follows the number is ignored, and a field without any number is 0."""
    assert read_scores([text]) == [value]


@pytest.mark.parametrize(
    "text", [b"-", b"-.", b"-.e1", b"-abc", b"--0", b"-+0", b"-i", b"-in", b"-n", b"-nothing"]
)
def test_a_sign_without_a_number_is_plus_zero(text: bytes) -> None:
    """Where strtod finds no number it returns 0.0, not -0.0; both readers of numbers agree."""
    assert bits(read_scores([text])[0]) == bits(0.0)
    assert bits(numbers.atof(text)) == bits(0.0)


@pytest.mark.parametrize(
    "text", [b"-0", b"-0.", b"-.0", b"-0e9", b"-0x", b"-0xg", b"-00x1", b"-0z"]
)
def test_minus_zero_keeps_its_sign(text: bytes) -> None:
    """-0.0 is read as such, whatever follows it."""
    assert bits(read_scores([text])[0]) == bits(-0.0)
    assert bits(numbers.atof(text)) == bits(-0.0)


@pytest.mark.parametrize("word", ["inf", "INF", "iNf", "infinity", "Infinity", "nan", "NaN", "NAN"])
@pytest.mark.parametrize("rest", ["", "x", "_", "0", "."])
def test_inf_and_nan_in_any_case(word: str, rest: str) -> None:
    """inf, infinity and nan are numbers in any case, with a sign, whatever follows."""
    value = nan if word.lower() == "nan" else inf

    read = read_scores([(sign + word + rest).encode() for sign in ("", "+", "-")])

    assert [bits(score) for score in read] == [bits(value), bits(value), bits(-value)]


@pytest.mark.parametrize("text", [b"i", b"in", b"n", b"na", b"nul", b"information", b"infant"])
def test_words_that_begin_like_inf_and_nan(text: bytes) -> None:
    """Three letters make inf or nan; fewer make nothing."""
    assert read_scores([text]) == [inf if text.startswith(b"inf") else 0.0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"0x1p3", "0x1p3"),
        (b"0X1P3", "0x1p3"),
        (b"0x1", "0x1"),
        (b"0xff", "0xff"),
        (b"0x.8", "0x.8"),
        (b"0x8.", "0x8"),
        (b"0x1.8p", "0x1.8"),
        (b"0x1.8p+", "0x1.8"),
        (b"0x1.8p-2", "0x1.8p-2"),
        (b"0x1.8p1.5", "0x1.8p1"),
        (b"0xag", "0xa"),
        (b"0x", "0x0"),
        (b"0x.", "0x0"),
        (b"0x.p1", "0x0"),
        (b"0xp1", "0x0"),
        (b"0x1.fffffffffffff8p1", "0x1p2"),  # a tie, to even
        (b"0x1.00000000000008p0", "0x1p0"),  # a tie, to even
        (b"0x1.000000000000081p0", "0x1.0000000000001p0"),
        (b"0x1p-1074", "0x1p-1074"),
        (b"0x1p-1075", "0x0"),  # a tie, to even
        (b"0x1.00000000000000000000001p-1075", "0x1p-1074"),
        (b"0x1p-99999999999", "0x0"),
        (b"0x0p99999999999", "0x0"),
    ],
)
def test_hexadecimal_number(text: bytes, value: str) -> None:
    """Hexadecimal floats read as float.fromhex reads them, and with a minus sign negated."""
    expected = float.fromhex(value)

    assert [bits(score) for score in read_scores([text, b"+" + text, b"-" + text])] == [
        bits(expected),
        bits(expected),
        bits(-expected),
    ]


@pytest.mark.parametrize(
    "text", [b"0x1p1024", b"0x1.fffffffffffff8p1023", b"0x1p99999999999999999999"]
)
def test_hexadecimal_overflow_is_infinite(text: bytes) -> None:
    """Hexadecimal floats beyond the largest double are infinite."""
    assert read_scores([text, b"-" + text]) == [inf, -inf]


def test_every_double_survives_its_hexadecimal_text() -> None:
    """float.hex() of doubles with random bits reads back as the same double."""
    chance = random.Random(10)
    values = [double(chance.getrandbits(64)) for _ in range(many(2_000))]
    values = [value for value in values if abs(value) < inf]

    read = read_scores([value.hex().encode() for value in values])

    assert [bits(score) for score in read] == [bits(value) for value in values]


def test_random_characters_of_numbers_are_read_as_strtod_reads_them() -> None:
    """Strings of the characters that numbers are made of, mostly no numbers as a whole."""
    chance = random.Random(11)
    texts = [
        bytes(chance.choices(b"0001234599..+-eExXpPinfanINFtyA_", k=chance.randint(1, 12)))
        for _ in range(many(25_000))
    ]

    assert_read_as_strtod(texts)


@examples(200)
@given(
    st.lists(
        st.one_of(
            odd_numbers,
            st.from_regex(rb"[+-]?[0-9]{0,25}\.?[0-9]{0,25}(e[+-]?[0-9]{0,4})?", fullmatch=True),
            st.from_regex(
                rb"[+-]?0x[0-9a-f]{0,20}\.?[0-9a-f]{0,20}(p[+-]?[0-9]{0,4})?", fullmatch=True
            ),
            st.floats().map(lambda value: repr(value).encode()),
        ).filter(bool),
        min_size=1,
        max_size=20,
    )
)
def test_any_number_reads_as_strtod_reads_it(texts: list[bytes]) -> None:
    """Kernel and slow reader together, on generated numbers side by side."""
    assert_read_as_strtod(texts)


@examples(300)
@given(st.one_of(odd_numbers, st.binary(max_size=12), st.floats().map(lambda x: repr(x).encode())))
def test_the_slow_reader_agrees_with_strtod(text: bytes) -> None:
    """numbers.atof alone reads every text, blanks before it included, as strtod."""
    assert differences([text], [numbers.atof(text)]) == []
    assert differences([b" \t\v\f\r\n" + text], [numbers.atof(b" \t\v\f\r\n" + text)]) == []


def test_levels_of_preferences_are_read_as_scores_are() -> None:
    """The last field of preferences goes through the same reader of numbers."""
    texts = [b"1e", b"-0", b"0x1p3", b"nan", b"2.4703282292062328e-324", b"1" * 400, b"abc"]
    lines = b"".join(b"q g s d %b\n" % text for text in texts)

    assert differences(texts, parse_prefs(lines, strict=False).levels.tolist()) == []


def test_the_twin_of_strtod_is_the_c_librarys() -> None:
    """The oracle of this file agrees with the real strtod, where Python can call it."""
    library = ctypes.CDLL(None) if hasattr(ctypes, "RTLD_GLOBAL") else None
    if not hasattr(library, "strtod"):
        pytest.skip("no C library to ask")
    library.strtod.restype, library.strtod.argtypes = (
        ctypes.c_double,
        [ctypes.c_char_p, ctypes.c_void_p],
    )
    chance = random.Random(12)
    texts = [
        bytes(chance.choices(b"0001234599..+-eExXpPinfanINFtyA_", k=chance.randint(1, 12)))
        for _ in range(5_000)
    ]

    assert differences(texts, [library.strtod(text, None) for text in texts]) == []


# Integers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"0", 0),
        (b"-0", 0),
        (b"007", 7),
        (b"+2", 2),
        (b"-2", -2),
        (b"1.9", 1),
        (b"-1.9", -1),
        (b"1e3", 1),
        (b"0x10", 0),
        (b"abc", 0),
        (b"+", 0),
        (b"-", 0),
        (b"+-2", 0),
        (b".5", 0),
        (b"2abc", 2),
        (b"1_0", 1),
        (b"\xd9\xa1", 0),  # a digit of another script
        (b"9223372036854775806", 2**63 - 2),
        (b"9223372036854775807", 2**63 - 1),
        (b"9223372036854775808", 2**63 - 1),
        (b"9223372036854775809", 2**63 - 1),
        (b"-9223372036854775807", -(2**63) + 1),
        (b"-9223372036854775808", -(2**63)),
        (b"-9223372036854775809", -(2**63)),
        (b"18446744073709551617", 2**63 - 1),
        (b"99999999999999999999999999", 2**63 - 1),
        (b"-99999999999999999999999999", -(2**63)),
        (b"00000000000000000000000000000012", 12),
        (b"9" * 5000, 2**63 - 1),
        (b"-" + b"0" * 5000 + b"3", -3),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_integer_is_read_as_atol_reads_it(text: bytes, value: int) -> None:
    """The leading integer, 0 if there is none, held within 64 bits; both readers agree."""
    assert read_grades([text]) == [value]
    assert numbers.atol(text) == value


def test_atol_skips_blanks_before_the_number() -> None:
    """All six characters that C's isspace knows, and no others."""
    assert numbers.atol(b"\n" + BLANKS + b"7") == 7
    assert numbers.atol(b"\xa07") == 0


def test_random_integers_are_read_as_atol_reads_them() -> None:
    """Many integers of all lengths up to 25 digits, with signs and with something after them."""
    chance = random.Random(13)
    texts = [
        chance.choice(["", "", "+", "-"])
        + random_digits(chance, chance.randint(1, 25))
        + chance.choice(["", "", ".5", "e3", "x"])
        for _ in range(many(10_000))
    ]
    expected = [atol(text.encode()) for text in texts]

    assert read_grades([text.encode() for text in texts]) == expected
    assert [numbers.atol(text.encode()) for text in texts] == expected


@examples(200)
@given(st.lists(st.integers(-(2**65), 2**65), min_size=1))
def test_every_64_bit_integer_is_itself(values: list[int]) -> None:
    """Integers within 64 bits are read exactly, those beyond become the nearest bound."""
    expected = [min(max(value, -(2**63)), 2**63 - 1) for value in values]

    assert read_grades([b"%d" % value for value in values]) == expected


# Printing


@pytest.mark.parametrize(
    ("specification", "value", "text"),
    [
        ("%6.4f", 0.5, "0.5000"),
        ("%6.4f", -0.0, "-0.0000"),
        ("%6.4f", 0.00005, "0.0001"),  # the double is a little above the tie
        ("%6.4f", 0.03125, "0.0312"),  # an exact tie, to even
        ("%6.4f", 12345.678, "12345.6780"),
        ("%6.4f", 1e22, "10000000000000000000000.0000"),
        ("%6.4f", inf, "   inf"),
        ("%6.4f", -inf, "  -inf"),
        ("%6.4f", nan, "   nan"),
        ("%6.4f", -nan, "  -nan"),
        ("%3.2f", 0.1, "0.10"),
        ("%3.2f", nan, "nan"),
        ("%3.2f", -nan, "-nan"),
    ],
)
def test_numbers_print_as_in_c(specification: str, value: float, text: str) -> None:
    """Like Python's %, but a NaN shows its sign."""
    assert numbers.printed(specification, value) == text
