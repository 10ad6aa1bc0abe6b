"""Pieces of messages: numbers with nouns, first of many names, escaped texts, near matches."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Warn = Callable[[str], None]
    """What is called with a warning; by default, it becomes a Python warning."""

# Zero-width non-joiner and joiner, which some scripts need.
JOINERS = "\u200c\u200d"


def python_warning(message: str) -> None:
    """Issue a Python warning, at the line outside of this package that called a reader."""
    import warnings

    depth, package = 1, __name__.partition(".")[0]
    while sys._getframe(depth).f_globals.get("__name__", "").partition(".")[0] == package:
        depth += 1
    warnings.warn(message, stacklevel=depth + 1)


def malformed(expected: str, count: int, line: bytes) -> str:
    """Why a line is malformed, with its beginning."""
    shown = line[:60].decode("utf-8", "replace") + ("..." if len(line) > 60 else "")
    return f"malformed line: expected {expected}, found {count}: {shown!r}"


def visible(text: str) -> str:
    r"""The text on one line, with escapes for characters that could mislead a reader.

    These are control characters, which a terminal would obey, line breaks, marks that reverse the
    order of others, unusual spaces, and bytes that are not UTF-8.

    >>> print(visible("q\x1b[2J\n\u202e"))
    q\x1b[2J\n\u202e
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode() for c in text
    )


def valid_json(text: str) -> str:
    r"""JSON in ASCII whose strings show bytes that are not UTF-8 as `\\xff`.

    Strict readers refuse the lone surrogates that represent these bytes in Python.

    >>> print(valid_json(r'["\udcff", "\ud83d\udc80"]'))
    ["\\xff", "\ud83d\udc80"]
    """
    if "\\udc" not in text:
        return text
    import re

    # Escaped backslashes and pairs of surrogates are matched first, so that they stay as they are.
    pattern = r"(\\\\|\\ud[89ab]..\\ud[c-f]..)|\\udc([89a-f].)"
    return re.sub(pattern, lambda match: match[1] or rf"\\x{match[2]}", text)


def brief(value: object) -> str:
    """The beginning of a value; Python does not print integers of some thousand digits."""
    try:
        return f"{value!r:.60}"
    except ValueError:
        return "an integer of thousands of digits"


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 query`, `2 queries`, `1,234 queries`.

    >>> counted(1, "row"), counted(0, "row"), counted(1234, "query", "queries")
    ('1 row', '0 rows', '1,234 queries')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def first_few(names: Sequence[str], most: int = 5, *, count: bool = False) -> str:
    """The first names; `...` or, with `count`, the number of the others if there are more.

    >>> first_few(["a", "b"], 2), first_few("abcd", 2), first_few("abcd", 2, count=True)
    ('a, b', 'a, b, ...', 'a, b and 2 more')
    """
    shown, others = ", ".join(names[:most]), len(names) - most
    if others <= 0:
        return shown
    return f"{shown} and {others} more" if count else f"{shown}, ..."


def enumerated(names: Sequence[str], last: str = "and", most: int = 5) -> str:
    """The names in a sentence, the last after a word; instead of many, the number of the others.

    >>> enumerated(["a", "b", "c"]), enumerated("ab", "or"), enumerated("abcdefg", "or")
    ('a, b and c', 'a or b', 'a, b, c, d, e or 2 more')
    """
    others = len(names) - most
    *start, end = [*names[:most], f"{others} more"] if others > 0 else names
    return f"{', '.join(start)} {last} {end}" if start else end


def did_you_mean(meant: Iterable[str]) -> str:
    """`; did you mean A, B or C?`, or the empty string if there are none."""
    names = [*meant]
    return f"; did you mean {enumerated(names, 'or', len(names))}?" if names else ""


def closest(
    name: object, names: Iterable[str], synonyms: Mapping[str, str] | None = None, most: int = 1
) -> list[str]:
    """The names that resemble another one, regardless of case, hyphens and underscores.

    synonyms: for names that do not resemble what is meant, its names, separated by blanks; in lower
    case with underscores.
    """
    from difflib import get_close_matches

    spelled = {_spelled(candidate): candidate for candidate in names}
    spelling = _spelled(str(name))
    if spelling in spelled:
        return [spelled[spelling]]
    meant = map(_spelled, (synonyms or {}).get(spelling, "").split())
    matches = [word for word in meant if word in spelled]
    return [
        spelled[word] for word in (matches or get_close_matches(spelling, spelled, most))[:most]
    ]


# Names of other programs for the words of options.
OTHER_NAMES = {
    "benjamini_hochberg": "bh",
    "benjamini_yekutieli": "by",
    "binomial": "sign",
    "fdr": "bh",
    "fdr_bh": "bh",
    "fdr_by": "by",
    "first": "given",
    "fisher": "randomization",
    "hsd": "tukey",
    "mcnemar": "sign",
    "paired": "t",
    "permutation": "randomization",
    "student": "t",
    "t_test": "t",
    "ttest": "t",
    "ttest_rel": "t",
    "tukeyhsd": "tukey",
}


def meant_choice(value: object, choices: Iterable[str]) -> str:
    """The end of an error about a word that is none of the choices.

    >>> meant_choice("fisher", ["t", "randomization"]), meant_choice("x", ["t"])
    ("; did you mean 'randomization'?", '')
    """
    return did_you_mean(map(repr, closest(value, choices, OTHER_NAMES)))


def similar_id(name: str, ids: Iterable[str]) -> list[str]:
    """The id that differs from a name only in case, blanks, leading zeros, a prefix or a suffix, or
    in a letter; other numbers belong to other queries and documents."""
    from difflib import SequenceMatcher, get_close_matches

    numbers, letters = _parts(name)
    alike = []
    for candidate in ids:
        other_numbers, other_letters = _parts(candidate)
        short, long = sorted((letters, other_letters), key=len)
        if other_numbers == numbers and (
            (numbers and (long.startswith(short) or long.endswith(short)))
            or get_close_matches(letters, [other_letters], 1)
        ):
            alike.append(candidate)
    alike.sort(key=lambda candidate: -SequenceMatcher(None, name, candidate).ratio())
    return alike[:1]


def _spelled(name: str) -> str:
    return name.replace("-", "_").lower()


def _parts(text: str) -> tuple[list[str], str]:
    """The numbers of an id, without leading zeros, and the rest of it."""
    # Imported late: the module takes longer than all of ours that a start needs.
    import re

    digits, folded = re.compile(r"\d+"), text.strip().lower()
    return [number.lstrip("0") for number in digits.findall(folded)], digits.sub("", folded)
