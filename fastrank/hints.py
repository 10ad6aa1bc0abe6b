"""What may be meant by an unknown name or id; every "did you mean" is written here."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DIGITS = re.compile(r"\d+")


def did_you_mean(meant: Iterable[str]) -> str:
    """`; did you mean A, B or C?`, or the empty string if there are none."""
    *others, last = [*meant] or [""]
    start = f"{', '.join(others)} or " if others else ""
    return f"; did you mean {start}{last}?" if last else ""


def closest(
    name: object, known: Iterable[str], synonyms: Mapping[str, str] | None = None, most: int = 1
) -> list[str]:
    """The known names that resemble another one, regardless of case, hyphens and underscores.

    synonyms: names, in lower case with underscores, of what is meant, separated by blanks; for
    names that do not resemble it.
    """
    from difflib import get_close_matches

    spelled = {_spelled(own): own for own in known}
    wanted = _spelled(str(name))
    if wanted in spelled:
        return [spelled[wanted]]
    meant = map(_spelled, (synonyms or {}).get(wanted, "").split())
    found = [other for other in meant if other in spelled]
    return [spelled[other] for other in (found or get_close_matches(wanted, spelled, most))[:most]]


def similar_id(wanted: str, known: Iterable[str]) -> list[str]:
    """The known id that differs only in case, blanks, leading zeros, a prefix or a suffix, or in a
    letter; other numbers belong to other queries and documents."""
    from difflib import SequenceMatcher, get_close_matches

    numbers, letters = _parts(wanted)
    alike = []
    for other in known:
        other_numbers, other_letters = _parts(other)
        short, long = sorted((letters, other_letters), key=len)
        if other_numbers == numbers and (
            (numbers and (long.startswith(short) or long.endswith(short)))
            or get_close_matches(letters, [other_letters], 1)
        ):
            alike.append(other)
    alike.sort(key=lambda other: -SequenceMatcher(None, wanted, other).ratio())
    return alike[:1]


def _spelled(name: str) -> str:
    return name.replace("-", "_").lower()


def _parts(text: str) -> tuple[list[str], str]:
    """The numbers of an id, without leading zeros, and the rest of it."""
    folded = text.strip().lower()
    return [number.lstrip("0") for number in DIGITS.findall(folded)], DIGITS.sub("", folded)
