"""Parse measure names in the notations of papers, trec_eval, pytrec_eval and ir_measures."""

from __future__ import annotations

import os
import re

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.c_numbers import finite
from fastrank.common.messages import did_you_mean
from fastrank.core.data.columns import Frozen
from fastrank.core.measures.bound import bind_trec, ranx_rbp_hint, split_trec
from fastrank.core.measures.custom import CUSTOM, measure_of
from fastrank.core.measures.families import (
    BY_PLAIN_NAME,
    FAMILY_BY_NAME,
    FAMILY_BY_SPELLING,
    LOOKALIKES,
    SHORTHANDS,
)
from fastrank.core.measures.measure_options import bind_family, parse_options
from fastrank.core.measures.suggestions import ranx_hint, suggest
from fastrank.core.measures.trec import BY_NAME, NICKNAMES, TREC_BY_SPELLING, spelling
from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.measure_options import Family

# `mrr_at_10`, `ndcg_10` and `P10`: a name, and a cutoff not written as @10.
NAME_AND_CUTOFF = re.compile(r"(.*?[^\W\d_]\d*?)(?:[_-]?at[_-]?|[_-])?(\d+)", re.IGNORECASE)


class MeasureSpec(Frozen):
    """A measure with its parameters or options, as returned by `parse_measure`.

    name: the name of the measure, as in `fastrank.MEASURES`, or of a set of measures.
    parameters: the part after the point in trec_eval's notation: `5,10` in `P.5,10`; else None.
    options: (name, value) pairs, without those that have the default value.
    family: the record of a measure with options; None for trec_eval's measures and for sets.
    asked: a measure with options as the user wrote it, which is the name of its values. For
        trec_eval's measures, the name as the user wrote it, "" for trec_eval's spelling.

    `str()` returns the canonical spelling, which `parse_measure` parses into an equal
    specification. Equality ignores how the measure was written.

    >>> from fastrank.core.measures.notation import parse_measure
    >>> spec = parse_measure("map(rel = 2) @ 100")
    >>> spec.name, spec.options, spec.asked
    ('AP', (('cutoff', 100), ('rel', 2)), 'map(rel=2)@100')
    >>> str(spec)
    'AP(rel=2)@100'
    >>> spec == parse_measure(str(spec))
    True
    """

    name: str
    parameters: str | None = None
    options: tuple[tuple[str, object], ...] = ()
    family: Family | None = None
    asked: str = ""

    def bind(self, trec_eval_version: str) -> BoundMeasure:
        """Bind the measure to its parameters; not for sets of measures. Raises MeasureError.

        >>> from fastrank.core.measures.notation import parse_measure
        >>> parse_measure("P.10,5").bind("9.0.8").names
        [b'P_5', b'P_10']
        """
        if self.family is not None:
            return bind_family(
                self.family, dict(self.options), str(self), self.asked, trec_eval_version
            )
        return bind_trec(BY_NAME[self.name], self.parameters, trec_eval_version, asked=self.asked)

    def __str__(self) -> str:
        family = self.family
        if family is None:
            return self.name if self.parameters is None else f"{self.name}.{self.parameters}"
        texts = {name: family.options[name].write(value) for name, value in self.options}
        suffix = texts.pop(family.at, "")
        options = ",".join(f"{name}={text}" for name, text in texts.items())
        return self.name + (f"({options})" if options else "") + (f"@{suffix}" if suffix else "")

    def __repr__(self) -> str:
        return f"MeasureSpec({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeasureSpec) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[object, ...]:
        # Pickled by name: the function of a user-defined measure may not be picklable.
        return _unpickled, (str(self), self.asked)

    @property
    def _key(self) -> tuple[object, ...]:
        return self.name, self.parameters, self.options


def parse_measure(text: str | MeasureSpec | object) -> MeasureSpec:
    """Parse a measure in any notation.

    text: a string in the notation of trec_eval (`map`, `P.5,10`, `ndcg.1=3`, `official`),
        pytrec_eval (`P_10`, `ndcg_cut_10`, `iprec_at_recall_0.10`), ir_measures (`nDCG@10`,
        `AP(rel=2)@100`, `SetF(beta=2)`) or papers, in any case (`ndcg@10`, `MRR@10`,
        `recall@100`, `hit_rate@10`, `mrr_at_10`, `P10`); a name registered with
        `fastrank.measure`; a measure object of ir_measures; or a function of one ranking (see
        `measure`). Blanks are ignored.

    Raises MeasureError for an unknown measure, suggesting the closest names, or for invalid
    parameters, and TypeError for other objects.

    >>> from fastrank.core.measures.notation import parse_measure
    >>> parse_measure("AP(rel = 2) @ 100")
    MeasureSpec('AP(rel=2)@100')
    >>> parse_measure("mrr@10")
    MeasureSpec('RR@10')
    """
    if isinstance(text, MeasureSpec):
        return text
    # Without importing it; its measure objects are callable.
    if type(text).__module__.partition(".")[0] == "ir_measures":
        text = str(text)
    elif callable(text):
        family = measure_of(text)
        options = parse_options(family, [], family.name)
        return _family_spec(family, options, family.name)
    if not isinstance(text, str):
        raise TypeError(f"measures: expected str, found {type(text).__name__}")
    text = text.strip()
    if "-l" in text and (hint := ranx_hint(text)):
        raise MeasureError(text, f"unknown measure '{text}'{hint}")
    spec = _parse_exactly(text) or _parse_loosely(text)
    if spec is None:
        raise unknown_measure(text)
    if spec.name not in NICKNAMES:
        spec.bind(DEFAULT_VERSION)
    return spec


def canonical_names(text: str) -> list[str]:
    """The canonical names of a measure's values; empty if the string is not a measure."""
    try:
        spec = parse_measure(text)
        bound = None if spec.name in NICKNAMES else spec.bind(DEFAULT_VERSION)
    except MeasureError:
        return []
    return [] if bound is None else [os.fsdecode(name) for name in bound.canonical]


def _unpickled(text: str, asked: str) -> object:
    return parse_measure(text).changed(asked=asked)


def _parse_exactly(text: str) -> MeasureSpec | None:
    """Parse the exact spellings of trec_eval, pytrec_eval and ir_measures."""
    trec = split_trec(text)
    return (
        _trec_spec(*trec) if trec else parse_family(text, aliases=True) or _parse_printed_name(text)
    )


def _parse_loosely(text: str) -> MeasureSpec | None:
    """Parse a measure in another case, or with other separators."""
    head, mark, value = _split_at(text)
    name, bracket, inside = head.partition("(")
    lowered = text.lower()
    stem = name.strip()
    family = FAMILY_BY_SPELLING.get(spelling(stem))
    if family is None and not mark:
        cut = NAME_AND_CUTOFF.fullmatch(stem)
        if cut is not None:
            stem, mark, value = cut[1], "@", cut[2]
            family = FAMILY_BY_SPELLING.get(spelling(stem))
            family = None if family is None or family.at != "cutoff" else family
    # Without the cutoff that R requires, `RECALL` is trec_eval's measure with default cutoffs.
    needs_cutoff = family is not None and family.at and family.options[family.at].needed
    if family is not None and (
        mark or bracket or not needs_cutoff or lowered not in TREC_BY_SPELLING
    ):
        spec = parse_family(
            f"{family.name}{bracket}{inside}{mark}{value}", aliases=True, written=text
        )
        if stem != family.name:
            _refuse_lookalike(text, family.name, {family.name: str(spec)})
        return spec and spec.changed(asked=_without_blanks(text))
    # The longest name wins: `MAP_CUT_10` begins with `map`, too.
    for written in sorted(TREC_BY_SPELLING, key=len, reverse=True):
        rest = text[len(written) :]
        if lowered.startswith(written) and rest[:1] in ("", ".", "_"):
            name = TREC_BY_SPELLING[written]
            spec = _parse_exactly(name + rest)
            if spec is not None and not ranx_rbp_hint(rest[1:]):
                _refuse_lookalike(text, name, {name: str(spec)})
            return spec and spec.changed(asked=text[: len(written)])
    return None


def _refuse_lookalike(text: str, name: str, written: dict[str, str]) -> None:
    """Raise MeasureError for a measure that is not written as itself, if another is written alike.

    written: how to write the measure with its parameters.
    """
    names = LOOKALIKES.get(spelling(name), ())
    if name in names:
        expected = " or ".join(written.get(alike, alike) for alike in names)
        raise MeasureError(
            name,
            f"'{text}': expected {expected}, which are different measures: see"
            f" `fastrank measures {' '.join(names)}`",
        )


def parse_family(
    text: str, *, aliases: bool, written: str = "", families: Mapping[str, Family] | None = None
) -> MeasureSpec | None:
    """Parse a measure with options or in the plain notation.

    aliases: accept other names. written: the text as the user wrote it, for errors. families: other
    measures than those of rankings, by name in lower case; the only ones that are parsed.
    """
    head, mark, value = _split_at(SHORTHANDS.get(text, text) if aliases else text)
    name, bracket, inside = head.partition("(")
    name = name.strip()
    shown = written or text
    family = CUSTOM.get(name) or FAMILY_BY_NAME.get(name)
    if families is not None:
        family = families.get(name.lower())
        if family is None:
            return None
    if family is None or (family.name != name and not aliases):
        return None if mark or bracket else _parse_plain_name(text)
    pairs = []
    if bracket:
        if inside[-1:] != ")":
            raise MeasureError(name, f"'{shown}': expected ) at the end of the options")
        pairs = [_pair(item, name, shown) for item in split_items(inside[:-1])]
    if mark:
        if not family.at:
            raise MeasureError(name, f"'{shown}': {name} takes no cutoff")
        pairs.append((family.at, value.strip()))
    options = parse_options(family, pairs, shown)
    if not options and family.name in BY_NAME:
        return _trec_spec(family.name, None)
    spec = _family_spec(family, options, _without_blanks(text))
    # The trec_eval command always prints the canonical spelling.
    return spec if aliases else spec.changed(asked=str(spec))


def unknown_measure(text: str, parse: Callable[[str], object] | None = None) -> MeasureError:
    """The error for an unknown measure, suggesting the closest names that `parse` accepts."""

    def is_known(name: str) -> bool:
        try:
            (parse or parse_measure)(name)
        except MeasureError:
            return False
        return True

    # The trec_eval command has the original's words.
    unknown = "illegal" if parse else "unknown"
    return MeasureError(text, f"{unknown} measure '{text}'{suggest(text, is_known)}")


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _family_spec(
    family: Family, options: tuple[tuple[str, object], ...], asked: str
) -> MeasureSpec:
    return MeasureSpec(name=family.name, options=options, family=family, asked=asked)


def _trec_spec(name: str, parameters: str | None) -> MeasureSpec:
    if parameters is not None and name in BY_NAME and BY_NAME[name].takes == "cutoffs":
        items = parameters.split(",")
        if all(item.isascii() and item.isdigit() for item in items):
            parameters = ",".join(map(str, sorted(map(int, items))))
    return MeasureSpec(name=name, parameters=parameters)


def _parse_plain_name(text: str) -> MeasureSpec | None:
    """`hit_ratio_10`, `RR_10`, `percentile_rank`."""
    stem, _, number = text.rpartition("_")
    family, pairs = BY_PLAIN_NAME.get(text), []
    if family is None:
        family = BY_PLAIN_NAME.get(stem)
        if family is None or not family.at or not number.isascii() or not number.isdigit():
            return None
        pairs = [(family.at, number)]
        _refuse_leading_zeros(text, stem, number)
    return _family_spec(family, parse_options(family, pairs, text), text)


def _parse_printed_name(text: str) -> MeasureSpec | None:
    """A printed name of trec_eval: `P_10`, `ndcg_cut_10`, `iprec_at_recall_0.10`."""
    end = len(text)
    while (end := text.rfind("_", 0, end)) > 0:
        stem, items = text[:end], text[end + 1 :].split(",")
        if stem not in BY_NAME:
            continue
        takes = BY_NAME[stem].takes
        if takes == "cutoffs" and all(item.isascii() and item.isdigit() for item in items):
            for item in items:
                _refuse_leading_zeros(text, stem, item)
            return _trec_spec(stem, text[end + 1 :])
        if takes in ("gains", "persistence"):
            fits = all("=" in item for item in items)
        else:
            fits = takes in ("recalls", "numbers", "weights") and None not in map(finite, items)
        trec = split_trec(f"{stem}.{text[end + 1 :]}") if fits else None
        return _trec_spec(*trec) if trec else None
    return None


def _refuse_leading_zeros(text: str, stem: str, number: str) -> None:
    if number[:1] == "0" or len(number) > 9:
        meant = number.lstrip("0")[:9]
        hint = did_you_mean([f"{stem}_{meant}"] if meant else [])
        raise MeasureError(
            stem, f"'{text}': a cutoff is a whole number of at least 1 without leading zeros{hint}"
        )


def _split_at(text: str) -> tuple[str, str, str]:
    """The parts before the last @, the @, and after it."""
    head, mark, value = text.rpartition("@")
    return (head.strip(), mark, value) if mark else (text, "", "")


def _pair(item: str, name: str, text: str) -> tuple[str, str]:
    option, equals, value = item.partition("=")
    if not equals:
        raise MeasureError(name, f"'{text}': expected option=value, found '{item.strip()}'")
    return option.strip(), value.strip()


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
    items = _split(text, lambda mark, depth: mark == "," and depth == 0)
    return items if text.strip() else []


def _split(text: str, ends: Callable[[str, int], bool]) -> list[str]:
    """Split at the characters that `ends` accepts, given the number of open brackets."""
    parts, depth = [""], 0
    for mark in text:
        depth += (mark in OPENING) - (mark in CLOSING)
        if ends(mark, depth):
            parts.append("")
        else:
            parts[-1] += mark
    return parts


def _words(text: str) -> list[tuple[int, str]]:
    """The words of a text, each with the number of commas before it."""
    words: list[tuple[int, str]] = []
    commas = 0
    for item in split_items(re.sub(r"\s*@\s*", "@", re.sub(r"\s+\(", "(", text))):
        # Blanks inside brackets are removed.
        for part in _split(item, lambda mark, depth: mark.isspace() and depth <= 0):
            if word := "".join(part.split()):
                words.append((commas, word))
                commas = 0
        commas += 1
    return words
