"""A measure with checked parameters: what is computed, its names, and its support of ties."""

from __future__ import annotations

import os

from fastrank.arguments import DEFAULT_VERSION
from fastrank.c_numbers import DIGITS, atof, atol, finite, printed
from fastrank.data.columns import Frozen
from fastrank.errors import MeasureError
from fastrank.measures.trec import BY_NAME, INFINITE, NICKNAMES, Measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.measures.measure_options import Family

# A number with this many digits may not fit into 64 bits.
CUTOFF_DIGITS = 19
# What parameters that are pairs look like.
PAIRS = {
    "gains": "grade=gain pairs such as 1=3",
    "persistence": "p=0.9 or grade=gain pairs such as 1=3",
}


class BoundMeasure(Frozen):
    """A measure with its parameters: what is computed, and under which printed names.

    names: one for each value, as bytes, spelled as requested. canonical: the same names in their
    canonical spelling. numbers: the kernel's parameters. pairs: (grade, gain). width: the number
    of values that the kernel writes per query. options: the given options of a measure that has
    any, None for trec_eval's measures. places: sort keys of the names, which order the columns of
    scores and tables; None keeps the order.
    """

    measure: Measure
    names: list[bytes]
    canonical: list[bytes]
    numbers: list[float]
    pairs: list[tuple[float, float]]
    width: int
    options: dict[str, Any] | None
    places: list[int] | None = None

    def reaches_one(self, place: int) -> bool:
        """Whether 1 is the best value of the one in this place."""
        reaches = self.measure.reaches_one
        return reaches if isinstance(reaches, bool) else reaches(self.numbers[place])

    def parameters(self, place: int) -> dict[str, float]:
        """The cutoff, the persistence or the options of the value in this place, by name."""
        if self.options is not None:
            family: Any = self.measure
            return dict(zip(family.numbers, self.numbers, strict=True))
        if self.measure.takes == "cutoffs":
            return {"cutoff": self.numbers[place]}
        return {"p": self.numbers[1]} if self.measure.takes == "persistence" else {}

    def cutoffs(self) -> list[tuple[str, int]]:
        """(printed name, cutoff) of each value that was requested with a cutoff."""
        names = map(os.fsdecode, self.names)
        if self.options is not None:
            return [(next(names), self.options["cutoff"])] if "cutoff" in self.options else []
        # The defaults of trec_eval's measures are not requests.
        if self.measure.takes != "cutoffs" or self.numbers == list(
            map(float, self.measure.default)
        ):
            return []
        return list(zip(names, map(int, self.numbers), strict=True))


def split_trec(text: str, *, strict: bool = True) -> tuple[str, str | None] | None:
    """Name and parameters of a measure or nickname in trec_eval's notation; None if it is neither.

    trec_eval reads `P.5x` as `P.5`, `set_F.x` as `set_F.0`, and `recip_rank.10` as `recip_rank`;
    `strict` rejects them. Raises MeasureError.
    """
    name, point, parameters = text.partition(".")
    if name not in BY_NAME and name not in NICKNAMES:
        return None
    if point and not parameters:
        raise MeasureError(name, f"improper measure in parameter '{name}': nothing after the point")
    if strict and point:
        parameters = "".join(parameters.split())
        _refuse_misread(name, parameters, text)
    return name, parameters if point else None


def _refuse_misread(name: str, parameters: str, text: str) -> None:
    """Raise MeasureError for parameters that trec_eval misreads or ignores."""
    takes = BY_NAME[name].takes if name in BY_NAME else ""
    if not takes:
        hint = _cutoff_hint(name, parameters)
        raise MeasureError(name, f"'{text}': {name} takes no parameters{hint}")
    for item in parameters.split(","):
        if takes == "cutoffs":
            whole = item.isascii() and item.isdigit() and len(item) < CUTOFF_DIGITS
            if not whole or not int(item):
                raise MeasureError(
                    name, f"'{text}': expected a whole number of at least 1, found '{item}'"
                )
            continue
        left, equals, right = item.partition("=")
        if takes in ("gains", "persistence"):
            if not equals or "=" in right:
                # bind_trec rejects it with a hint.
                continue
            if not _is_integer(os.fsencode(left)) and (takes, left) != ("persistence", "p"):
                raise MeasureError(name, f"'{text}': expected {PAIRS[takes]}, found '{item}'")
            item = right
        if finite(item) is None and item.lower().lstrip("+-") not in ("nan", "inf"):
            raise MeasureError(name, f"'{text}': expected a number, found '{item}'")


def bind_trec(
    measure: Measure, text: str | None, trec_eval_version: str, *, asked: str = ""
) -> BoundMeasure:
    """Bind one of trec_eval's measures to its parameters, given as a string. Raises MeasureError.

    asked: the name as the user wrote it, if that differs from trec_eval's spelling.
    """
    name = os.fsencode(measure.name)
    numbers: list[float] = list(measure.default)
    pairs: list[tuple[float, float]] = []
    items = [] if text is None else [os.fsencode(item) for item in text.split(",")]
    names = [name]
    if measure.takes == "cutoffs":
        cutoffs = sorted(map(atol, items)) if items else [int(c) for c in measure.default]
        if cutoffs[0] <= 0:
            raise MeasureError(
                measure.name, f"Negative cutoff detected in '{measure.name}.{text}': every cutoff"
                " must be a whole number of at least 1"
            )  # fmt: skip
        _refuse_duplicates(measure, text, cutoffs)
        names = [b"%b_%d" % (name, cutoff) for cutoff in cutoffs]
        numbers = list(map(float, cutoffs))
    elif measure.takes == "recalls":
        numbers = sorted(map(atof, items)) if items else numbers
        _refuse_duplicates(measure, text, numbers)
        # trec_eval truncates these to 8 characters, so names can coincide.
        names = [name + b"_" + printed("%3.2f", level)[:8].encode() for level in numbers]
    elif measure.takes and items:
        names = [name + b"_" + os.fsencode(text or "")]
    if measure.takes in ("numbers", "weights") and items:
        numbers = list(map(atof, items))
    if measure.takes in ("gains", "persistence"):
        # There is no cutoff.
        numbers = [INFINITE, 0.9] if measure.takes == "persistence" else [INFINITE]
        for item in items:
            left, equals, right = item.partition(b"=")
            if not equals or b"=" in right:
                raise MeasureError(
                    measure.name, f"'{measure.name}.{text}': expected {PAIRS[measure.takes]}, found"
                    f" '{item.decode('utf-8', 'replace')}'"
                    + _cutoff_hint(measure.name, text or "")
                )  # fmt: skip
            if left == b"p" and measure.takes == "persistence":
                numbers[1] = atof(right)
            strict = trec_eval_version != DEFAULT_VERSION or measure.since != DEFAULT_VERSION
            if not strict or _is_integer(left):
                pairs.append((atol(left), atof(right)))
    width = len(names)
    if measure.versioned:
        width = len(numbers)
        numbers.insert(0, float(trec_eval_version != DEFAULT_VERSION))
    canonical = names
    if asked:
        names = [os.fsencode(asked) + name[len(measure.name) :] for name in names]
    return BoundMeasure(
        measure=measure, names=names, canonical=canonical, numbers=numbers, pairs=pairs,
        width=width, options=None,
    )  # fmt: skip


def _cutoff_hint(name: str, parameters: str) -> str:
    """A hint at the measure with cutoffs, or at that of ranx, if the parameters look like these."""
    if name == "rbp":
        from fastrank.measures.suggestions import ranx_rbp_hint

        return ranx_rbp_hint(parameters)
    cutoffs = parameters.split(",")
    with_cutoff = BY_NAME[name].with_cutoff if name in BY_NAME else ""
    if not with_cutoff or not all(one.isascii() and one.isdigit() for one in cutoffs):
        return ""
    if with_cutoff.endswith("@"):
        wanted = " ".join(f"{with_cutoff}{cutoff}" for cutoff in cutoffs)
    else:
        wanted = with_cutoff + parameters
    return f"; for {'a cutoff' if len(cutoffs) == 1 else 'cutoffs'} use {wanted}"


def bind_family(
    family: Family, options: dict[str, Any], name: str, asked: str, trec_eval_version: str
) -> BoundMeasure:
    """Bind a measure with options, whose canonical name is `name`. Raises MeasureError.

    asked: the name as the user wrote it, which is the name of its values.
    """
    measure = family.resolved(options)
    numbers = [
        family.options[option].number(family.value(option, options)) for option in family.numbers
    ]
    if measure.versioned:
        numbers.insert(0, float(trec_eval_version != DEFAULT_VERSION))
    if options.get("denominator") == "k" and "cutoff" not in options:
        raise MeasureError(
            family.name, f"'{name}': denominator='k' needs a cutoff, as in {name}@10"
        )
    if measure.needs == "best gains" and "cutoff" not in options:
        raise MeasureError(family.name, f"'{name}': ideal='max' needs a cutoff, as in {name}@10")
    for given, value in options.items():
        option = family.options[given]
        if option.beside is not None and options.get(option.beside[0]) != option.beside[1]:
            needed, other = option.beside
            raise MeasureError(
                family.name, f"'{name}': {given}={option.write(value)} needs {needed}={other!r}"
            )
    if "gain" in options and "rel" in options:
        raise MeasureError(
            family.name, f"'{name}': rel and gain cannot be combined; graded gains ignore rel"
        )
    if "dcg" in options and "gains" in options:
        raise MeasureError(
            family.name, f"'{name}': dcg and gains both set the gain of a grade; give only one"
        )
    return BoundMeasure(
        measure=measure,
        names=[os.fsencode(asked)],
        canonical=[os.fsencode(name)],
        numbers=numbers,
        pairs=list(options.get("gains", ())),
        width=3 if measure.parts else 1,
        options=options,
    )


def _is_integer(text: bytes) -> bool:
    digits = text[1:] if text[:1] in (b"+", b"-") else text
    return bool(digits) and all(byte in DIGITS for byte in digits)


def _refuse_duplicates(measure: Measure, text: str | None, ascending: Sequence[float]) -> None:
    for i in range(1, len(ascending)):
        if ascending[i] == ascending[i - 1]:
            raise MeasureError(
                measure.name,
                f"duplicate cutoffs detected in '{measure.name}.{text}':"
                f" {ascending[i]:g} appears twice",
            )


# By what measures need that is more than the grades of their query, what this is called.
MORE_THAN_GRADES = {
    "annotated": "the judgments of all queries", "strata": "judgments with strata",
    "subtopics": "judgments with subtopics",
}  # fmt: skip


def expected_kernel(measure: Measure) -> str:
    """The kernel of the expected value of a measure that has one."""
    is_own = measure.over_ties.startswith("fixed") or measure.needs == "ties"
    return measure.kernel if is_own else f"{measure.kernel}_over_ties"


def has_expected_value(bound: BoundMeasure, *, is_cut: bool) -> bool:
    """Whether the expected value of a measure with these options is known.

    is_cut: whether a depth cuts rankings, possibly between tied documents.
    """
    options = bound.options or {}
    # How many judged documents a cut leaves depends on the order.
    if is_cut and options.get("judged_only"):
        return False
    if bound.measure.over_ties == "whole" and "cutoff" in options:
        return False
    return _is_known(bound.measure, is_cut=is_cut)


def _is_known(measure: Measure, *, is_cut: bool) -> bool:
    return measure.over_ties in ("always", "fixed") or bool(measure.over_ties and not is_cut)


def check_expected(bound: list[BoundMeasure], *, is_cut: bool) -> None:
    """Raise MeasureError for a measure without a closed form of its expected value."""
    for bound_measure in bound:
        if not has_expected_value(bound_measure, is_cut=is_cut):
            from fastrank.measures.families import FAMILIES

            supported = [
                family.name
                for family in FAMILIES
                if family.kernel and _is_known(family, is_cut=is_cut)
            ]
            where = " with a depth" if is_cut else ""
            raise MeasureError(
                bound_measure.measure.name,
                f"ties='average'{where} does not support '{bound_measure.names[0].decode()}'; it"
                f" supports {', '.join(supported)}, and trec_eval's names of these",
            )


def _no_range(bound: BoundMeasure) -> str:
    """Why the ties "best" and "worst" are not known to bound a measure; "" if they do."""
    asked = bound.names[0].decode()
    if bound.measure.kernel and not bound.measure.monotone:
        # Variants of a measure with options can differ in this.
        name = bound.measure.name if bound.options is None else asked
        return (
            f"'{name}': it is not known whether moving a higher grade up can lower it, nor then its"
            " range over the orders of tied documents"
        )
    if bound.pairs:
        return (
            f"'{asked}': the range over the orders of tied documents is known only if each grade is"
            " its own gain"
        )
    return ""


def check_range(bound: list[BoundMeasure]) -> None:
    """Raise MeasureError for a measure that the ties "best" and "worst" do not bound."""
    for own in bound:
        if reason := _no_range(own):
            raise MeasureError(own.measure.name, f"tie_report does not support {reason}")


def has_range(bound: BoundMeasure) -> bool:
    """Whether the ties "best" and "worst" bound a measure."""
    measure = bound.measure
    return bool(measure.kernel) and measure.needs not in MORE_THAN_GRADES and not _no_range(bound)


def is_share_of_judged(bound: BoundMeasure) -> bool:
    """Whether a measure is a share of the judged retrieved documents."""
    # Imported late: the trec_eval command has no such measures.
    from fastrank.measures.measure_options import Family

    options = bound.options or {}
    is_share = isinstance(bound.measure, Family) and bound.measure.share
    return is_share and "cutoff" not in options and options.get("judged_only", False)


def refuse_more_than_grades(bound: list[BoundMeasure], reason: str) -> None:
    """Raise MeasureError for a measure that needs more than the grades of its query."""
    for bound_measure in bound:
        needed = MORE_THAN_GRADES.get(bound_measure.measure.needs)
        if needed is not None:
            name = bound_measure.names[0].decode()
            raise MeasureError(bound_measure.measure.name, f"'{name}' needs {needed}: {reason}")
