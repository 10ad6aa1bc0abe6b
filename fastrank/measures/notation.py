"""Names of measures as people write them: trec_eval's, pytrec_eval's and ir_measures' notations."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_COMPAT
from fastrank.c_numbers import finite
from fastrank.data.columns import Frozen
from fastrank.errors import MeasureError
from fastrank.measures.binding import bind_family, bind_trec, split_trec
from fastrank.measures.custom import CUSTOM
from fastrank.measures.families import BY_PLAIN_NAME, FAMILY_BY_NAME, SHORTHANDS
from fastrank.measures.options import parse_options
from fastrank.measures.suggestions import suggest
from fastrank.measures.trec import BY_NAME, NICKNAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.measures.binding import BoundMeasure
    from fastrank.measures.options import Family

OPENING, CLOSING = "({[", ")}]"


class MeasureSpec(Frozen):
    """A measure with its parameters or options, as `parse_measure` reads it.

    name: of the measure, as in `fastrank.MEASURES`, or of a set of measures.
    parameters: what stands after trec_eval's point: `5,10` in `P.5,10`; None if there is none.
    options: (name, value) pairs, those with default values left out.
    plain: whether values are named as `name_cutoff` instead of `name@cutoff`.

    `str()` gives the one spelling that `parse_measure` turns into an equal specification.

    >>> spec = fr.parse_measure("AP(rel = 2) @ 100")
    >>> spec.name, spec.options
    ('AP', (('cutoff', 100), ('rel', 2)))
    >>> str(spec)
    'AP(rel=2)@100'
    >>> spec == fr.parse_measure(str(spec))
    True
    """

    __slots__ = ("name", "options", "parameters", "plain")

    name: str
    parameters: str | None
    options: tuple[tuple[str, Any], ...]
    plain: bool

    @property
    def family(self) -> Family | None:
        """The record of a measure with options; None for one of trec_eval's, or a set."""
        if self.name in BY_NAME or self.name in NICKNAMES:
            return FAMILY_BY_NAME.get(self.name) if self.options else None
        return CUSTOM.get(self.name) or FAMILY_BY_NAME[self.name]

    def bind(self, compat: str) -> BoundMeasure:
        """The measure as it is computed, which a set of measures is not. Raises MeasureError.

        >>> fr.parse_measure("P.10,5").bind("9.0.8").names
        [b'P_5', b'P_10']
        """
        if self.family is not None:
            return bind_family(self.family, dict(self.options), str(self), compat)
        return bind_trec(BY_NAME[self.name], self.parameters, compat)

    def __str__(self) -> str:
        family = self.family
        if family is None:
            return self.name if self.parameters is None else f"{self.name}.{self.parameters}"
        given = dict(self.options)
        at = family.options[family.at].write(given.pop(family.at)) if family.at in given else ""
        if self.plain:
            return f"{family.plain}_{at}" if at else family.plain
        options = ",".join(f"{name}={family.options[name].write(given[name])}" for name in given)
        return self.name + (f"({options})" if options else "") + (f"@{at}" if at else "")

    def __repr__(self) -> str:
        return f"MeasureSpec({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeasureSpec) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.name, self.parameters, self.options, self.plain


def parse_measure(text: str | MeasureSpec | object) -> MeasureSpec:
    """The measure that a text names, in any notation.

    trec_eval's (`map`, `P.5,10`, `ndcg.1=3`, `official`), pytrec_eval's (`P_10`, `ndcg_cut_10`,
    `iprec_at_recall_0.10`), ir_measures' (`nDCG@10`, `AP(rel=2)@100`, `SetF(beta=2)`, `MRR`), plain
    names (`hit_ratio_10`, `RR_10`), and names given to `fastrank.measure`. A measure object of
    ir_measures will do as well. Blanks do not matter.

    Raises MeasureError, which names the closest measures, for a text that names none or has
    impossible parameters, and TypeError for other objects.

    >>> import fastrank as fr
    >>> fr.parse_measure("AP(rel = 2) @ 100")
    MeasureSpec('AP(rel=2)@100')
    """
    if isinstance(text, MeasureSpec):
        return text
    text = as_text(text).strip()
    trec = split_trec(text)
    found = (
        _trec_spec(*trec) if trec else parse_family(text, aliases=True) or _parse_printed_name(text)
    )
    if found is None:
        raise unknown_measure(text)
    if found.name not in NICKNAMES:
        found.bind(DEFAULT_COMPAT)
    return found


def is_measure(thing: object) -> bool:
    """Whether it is a specification, or a measure object of ir_measures, which is not imported."""
    module = type(thing).__module__.partition(".")[0]
    return isinstance(thing, MeasureSpec) or module == "ir_measures"


def as_text(measure: object) -> str:
    """A measure as text: a str as it is, an object of ir_measures as it prints itself."""
    if isinstance(measure, str):
        return measure
    if is_measure(measure):
        return str(measure)
    raise TypeError(f"measures: expected str, found {type(measure).__name__}")


def split_measures(text: str) -> list[str]:
    """The measures of a text with blanks between them; blanks inside one do not count."""
    words: list[str] = []
    depth, joined = 0, False
    for part in text.replace("@", " @ ").split():
        if words and (depth > 0 or joined or part == "@" or part[0] == "("):
            words[-1] += part
        else:
            words.append(part)
        depth += sum(part.count(mark) for mark in OPENING)
        depth -= sum(part.count(mark) for mark in CLOSING)
        joined = part == "@"
    return words


def parse_family(text: str, *, aliases: bool) -> MeasureSpec | None:
    """A measure with options, or one in the plain spelling; `aliases` are understood if wanted."""
    head, at, value = _split_at(SHORTHANDS.get(text, text) if aliases else text)
    name, bracket, inside = head.partition("(")
    name = name.strip()
    family = CUSTOM.get(name) or FAMILY_BY_NAME.get(name)
    if family is None or (family.name != name and not aliases):
        return None if at or bracket else _parse_plain_name(text)
    given = []
    if bracket:
        if inside[-1:] != ")":
            raise MeasureError(name, f"'{text}': expected ) at the end of the options")
        given = [_pair(item, name, text) for item in _items(inside[:-1])]
    if at:
        if not family.at:
            raise MeasureError(name, f"'{text}': {name} takes nothing after @")
        given.append((family.at, value.strip()))
    options = parse_options(family.options, given, family.name, text)
    if not options and family.name in BY_NAME:
        return _trec_spec(family.name, None)
    return MeasureSpec(name=family.name, parameters=None, options=options, plain=False)


def unknown_measure(text: str) -> MeasureError:
    """The error for what names no measure, with the closest names."""
    return MeasureError(text, f"illegal measure '{text}'{suggest(text)}")


def _trec_spec(name: str, parameters: str | None) -> MeasureSpec:
    if parameters is not None and name in BY_NAME and BY_NAME[name].takes == "cutoffs":
        items = parameters.split(",")
        if all(item.isascii() and item.isdigit() for item in items):
            parameters = ",".join(map(str, sorted(map(int, items))))
    return MeasureSpec(name=name, parameters=parameters, options=(), plain=False)


def _parse_plain_name(text: str) -> MeasureSpec | None:
    """`hit_ratio_10`, `RR_10`, `percentile_rank`."""
    stem, _, number = text.rpartition("_")
    if text in BY_PLAIN_NAME:
        name, given = text, []
    elif stem in BY_PLAIN_NAME and BY_PLAIN_NAME[stem].at and number.isascii() and number.isdigit():
        name, given = stem, [(BY_PLAIN_NAME[stem].at, number)]
        _refuse_leading_zeros(text, stem, number)
    else:
        return None
    family = BY_PLAIN_NAME[name]
    options = parse_options(family.options, given, family.name, text)
    plain = bool(given) or family.plain != family.name
    return MeasureSpec(name=family.name, parameters=None, options=options, plain=plain)


def _parse_printed_name(text: str) -> MeasureSpec | None:
    """A printed name of trec_eval: `P_10`, `ndcg_cut_10`, `iprec_at_recall_0.10`."""
    at = len(text)
    while (at := text.rfind("_", 0, at)) > 0:
        stem, items = text[:at], text[at + 1 :].split(",")
        if stem not in BY_NAME:
            continue
        takes = BY_NAME[stem].takes
        if takes == "cutoffs" and all(item.isascii() and item.isdigit() for item in items):
            for item in items:
                _refuse_leading_zeros(text, stem, item)
            return _trec_spec(stem, text[at + 1 :])
        if takes in ("gains", "persistence"):
            fits = all("=" in item for item in items)
        else:
            fits = takes in ("recalls", "numbers", "weights") and None not in map(finite, items)
        trec = split_trec(f"{stem}.{text[at + 1 :]}") if fits else None
        return _trec_spec(*trec) if trec else None
    return None


def _refuse_leading_zeros(text: str, stem: str, number: str) -> None:
    if number[:1] == "0" or len(number) > 9:
        meant = number.lstrip("0")[:9]
        hint = f"; did you mean {stem}_{meant}" if meant else ""
        raise MeasureError(
            stem, f"'{text}': a cutoff is a whole number of at least 1, without zeros before"
            f" it{hint}"
        )  # fmt: skip


def _split_at(text: str) -> tuple[str, str, str]:
    """What stands before the last @, the @, and what stands after it."""
    head, at, value = text.rpartition("@")
    return (head.strip(), at, value) if at else (text, "", "")


def _items(inside: str) -> list[str]:
    """Options, separated by commas outside of braces."""
    items, depth = [""], 0
    for mark in inside:
        depth += (mark in OPENING) - (mark in CLOSING)
        if mark == "," and depth == 0:
            items.append("")
        else:
            items[-1] += mark
    return items if inside.strip() else []


def _pair(item: str, name: str, text: str) -> tuple[str, str]:
    option, equals, value = item.partition("=")
    if not equals:
        raise MeasureError(name, f"'{text}': expected option=value, found '{item.strip()}'")
    return option.strip(), value.strip()
