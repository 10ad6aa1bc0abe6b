"""Split a string that lists several measures."""

from __future__ import annotations

import re

OPENING, CLOSING = "({[", ")}]"
# After a comma this is another parameter, as in `P.5,10` and `ndcg.1=3,2=9`, not a measure.
PARAMETER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf)|[^=(@]+=[^=(@]*", re.IGNORECASE
)
NUMBER = re.compile(r"\d+(\.\d+)?")


def split_measures(text: str) -> list[str]:
    """Split measures separated by blanks or commas.

    Blanks inside brackets, before an opening bracket and around @ are ignored. Anything after a
    comma that is not a name belongs to the measure before it; `nDCG@5,10` is `nDCG@5` and
    `nDCG@10`.

    >>> split_measures("map, P.5,10 AP(rel=2) @ 5,10")
    ['map', 'P.5,10', 'AP(rel=2)@5', 'AP(rel=2)@10']
    """
    measures: list[str] = []
    for commas, word in _words(text):
        if not measures or not commas or not PARAMETER.fullmatch(word):
            measures.append(word)
        elif "@" in measures[-1] and NUMBER.fullmatch(word):
            measures.append(measures[-1].rpartition("@")[0] + "@" + word)
        else:
            measures[-1] += "," * commas + word
    return measures


def split_items(text: str) -> list[str]:
    """Split at commas outside of brackets."""
    items, depth = [""], 0
    for mark in text:
        depth += (mark in OPENING) - (mark in CLOSING)
        if mark == "," and depth == 0:
            items.append("")
        else:
            items[-1] += mark
    return items if text.strip() else []


def _words(text: str) -> list[tuple[int, str]]:
    """The words of a text, each with the number of commas before it."""
    words: list[tuple[int, str]] = []
    commas = 0
    for item in split_items(re.sub(r"\s*@\s*", "@", re.sub(r"\s+\(", "(", text))):
        for word in _split_blanks(item):
            words.append((commas, word))
            commas = 0
        commas += 1
    return words


def _split_blanks(text: str) -> list[str]:
    """Split at blanks outside of brackets; blanks inside brackets are removed."""
    words, depth = [""], 0
    for mark in text:
        depth += (mark in OPENING) - (mark in CLOSING)
        if not mark.isspace():
            words[-1] += mark
        elif depth <= 0 and words[-1]:
            words.append("")
    return [word for word in words if word]
