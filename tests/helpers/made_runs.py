"""Runs as systems print them, and as nobody does."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from tests.helpers.strategies import strtod

FORMS: list[Callable[[float], str]] = [
    lambda value: f"{value:.6f}",
    repr,
    lambda value: str(np.float32(value)),
    lambda value: f"{value:e}",
    lambda value: f"{int(value)}",
    lambda value: f"{-abs(value):.3f}",
    lambda value: f"{value:.17g}",
    lambda value: f"{value:08.2f}",
    lambda value: f"{value:.1f}".replace("0.", ".").replace(".0", "." if abs(value) >= 1 else ".0"),
    lambda value: f"+{abs(value):.2f}",
    lambda value: repr(1 + value * 1e-9),
    lambda value: f"{value * 1000:.4f}",
    lambda value: f"{value:.0f}.",
    lambda value: f"{int(value * 4) / 4}",
]
ODD_FORMS: list[Callable[[float], str]] = [
    lambda value: f"{value:.20f}",
    lambda value: f"{value:.24f}",
    lambda value: f"{value:.2f}x",
    float.hex,
    lambda value: f"{int(value * 1e18)}123",
    lambda value: f"{value:.2f}e400" if value > 9 else f"{value:.3f}",
    lambda value: "nan" if value > 9 else "inf" if value > 8 else "-inf" if value < 1 else "abc",
]
SPREADS: list[Callable[[random.Random], float]] = [
    lambda chance: chance.uniform(0, 1),
    lambda chance: chance.uniform(0, 30),
    lambda chance: chance.uniform(-5, 5),
    lambda chance: float(chance.randrange(4)),
    lambda chance: chance.choice([0.0, -0.0, 1e-9, 1e9, 7.5, 7.500000001, 10.0]),
]
GAPS = [" ", " ", " ", "\t", "  ", " \t ", "\v", "\f"]
EDGES = ["", "", "", "", " ", "\t"]
ODD_LINES = "#|# a comment|# a b c 1 t|\0|a line|{q} Q0 a\0b 1 1 t|{q} Q0 x 1 1| #"


def id_of(chance: random.Random, number: int) -> str:
    """A text of 1 to 70 bytes that no other number has."""
    stem = chance.choice(["", "d", "doc-", "clueweb09-en0000-00-", "é€", "x" * 8])
    text = f"{stem}{number}"
    return text + chance.choice(["", "", "-" * chance.randrange(max(1, 70 - len(text.encode())))])


def make_case(seed: int, queries: int, depth: int, odd: bool) -> tuple[bytes, bytes]:
    """Judgments and a run. Unless `odd` no line is malformed, no document comes twice and any
    program could read the scores."""
    chance = random.Random(seed)
    documents = [id_of(chance, number) for number in range(2 * depth + 2)]
    if chance.random() < 0.5:
        documents = [f"d{number}" for number in range(2 * depth + 2)]
    judgments, blocks = [], []
    for number in range(queries):
        query = chance.choice(["q{}", "{}", "Q-{}-long-enough-for-two-words"]).format(number)
        if chance.random() < 0.85 or number == 0:
            pool = chance.sample(documents, chance.randrange(1, len(documents)))
            grades = [0] + [chance.choice([-1, 0, 0, 1, 1, 2, 3]) for _ in pool[1:]]
            if odd and chance.random() < 0.03:
                pool[-1] = pool[0]
            pairs = zip(pool, grades, strict=True)
            judgments += [f"{query} 0 {doc} {grade}\n" for doc, grade in pairs]
        if chance.random() < 0.85 or number == 0:
            blocks.append(block_of(chance, query, documents, depth, odd))
    if chance.random() < 0.3:
        chance.shuffle(blocks)
    run = [line for block in blocks for line in block]
    if chance.random() < 0.3:
        chance.shuffle(run)
    elif chance.random() < 0.3:
        # A few lines that stand elsewhere.
        for _ in range(3):
            run.insert(chance.randrange(len(run) + 1), run.pop(chance.randrange(len(run))))
    if odd and chance.random() < 0.3:
        line = chance.choice(ODD_LINES.split("|")).format(q="q1")
        run.insert(chance.randrange(len(run) + 1), line)
    for _ in range(chance.choice([0, 0, 3, 40])):
        run.insert(chance.randrange(len(run) + 1), chance.choice(["", "", " \t", " " * 70]))
    text = chance.choice(["\n", "\n", "\r\n"]).join(run) + chance.choice(["", "\n", "\n", "\n\n"])
    return "".join(judgments).encode(), text.encode()


def block_of(
    chance: random.Random, query: str, documents: list[str], depth: int, odd: bool
) -> list[str]:
    """The lines of a query."""
    gap, edge = chance.choice(GAPS), chance.choice(EDGES)
    if chance.random() < 0.5:
        gap, edge = " ", ""
    forms = chance.sample(FORMS, chance.choice([1, 1, 1, 2, len(FORMS)]))
    if odd and chance.random() < 0.4:
        forms.append(chance.choice(ODD_FORMS))
    spread = chance.choice(SPREADS)
    found = chance.sample(documents, chance.randrange(1, depth + 1))
    if odd and chance.random() < 0.1:
        found[-1] = found[0]
    scores = [chance.choice(forms)(spread(chance)) for _ in found]
    if chance.random() < 0.7:
        scores.sort(key=lambda text: -strtod(text.encode()))
    more = chance.choice([[], [], ["more"], ["and", "more"]])
    return [
        edge + gap.join([query, "Q0", doc, "1", score, f"tag{query}", *more]) + edge
        for doc, score in zip(found, scores, strict=True)
    ]


SHAPES = (
    "{} -{} {}.5 -{}.25 .{} -.{} 0.{} 0{}.0 00{} {}. {}.0000 +{} {}e1 {}e-1 {}E+2 1.{}x {}.5.5 {}-"
    " -{}e0 0.000{} 1000000.{} 7.{}00"
)
SPECIAL = (
    "0 -0 -0.0 0.0 +0 . - -. -.0 .0 0. + x 1 1. 01 001.0 1.0 +1 1e0 10 9 9.9 9.99 10.0 -1 -1.0 -10"
    " -9 -9.99 1.5x 1e3 1000 1e-3 .001 0.001 007.5 7.5 7.50 16777216 16777217 16777218"
    " 9007199254740992 9007199254740993 1.00000001 1.00000002 1.0000001 1.0 999999999999999999"
    " 1e30 1e38 3.5e38 1e39 1e300 1e-46 0.99999999 0.999999999999999999"
)


def score_text(chance: random.Random) -> str:
    """A number as C reads it, of any form."""
    if chance.random() < 0.3:
        return chance.choice(SPECIAL.split())
    digits = str(chance.randrange(10 ** chance.choice([1, 1, 2, 3, 7, 12])))
    return chance.choice(SHAPES.split()).format(digits)
