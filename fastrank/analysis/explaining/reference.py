"""Values of another tool: read, compared with ours, and what reproduces them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from itertools import chain

from fastrank.common.messages import brief, counted, enumerated, first_few
from fastrank.common.rendering.document import Document, Paragraph
from fastrank.common.rendering.numbers import number
from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import decoded
from fastrank.core.formats.files.source import BYTE_ORDER_MARK
from fastrank.core.formats.tables.records import load_json
from fastrank.core.formats.tables.sniff import read_text
from fastrank.core.measures.trec import MEASURES
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, table_of_rows
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    # {measure: {query: value}}; the key None has the mean.
    Values = dict[str, dict[str | None, float]]

# The decimals to which tools round: trec_eval 4, BEIR and MTEB 5.
ROUNDED = (4, 5)
# Adding doubles in another order changes the sum by less.
CLOSE = 1e-12
# How many alternatives are named at most.
NAMED = 3
# trec_eval's lines that are not numbers.
_OTHERS = {measure.name for measure in MEASURES if measure.is_text}


def read_reference(reference: Any, queries: Container[str]) -> Values:
    """The values of another tool.

    reference: as `explain` takes `against`. queries: those with judgments, some of which may be
    spelled as a measure, such as q1. Raises InputError and FormatError.
    """
    if isinstance(reference, (str, os.PathLike)):
        name = os.fspath(reference)
        text = decoded(read_text(reference).removeprefix(BYTE_ORDER_MARK))
        if text.lstrip()[:1] == "{":
            return _of_dict(load_json(text, name), name, queries)
        return _of_trec_eval(text, name)
    if isinstance(reference, Mapping):
        return _of_dict(reference, "against", queries)
    if isinstance(reference, Iterable):
        return _of_tuples(reference)
    raise TypeError(f"against: expected a dict or a path, found {type(reference).__name__}")


def _of_trec_eval(text: str, name: str) -> Values:
    values: Values = {}
    for line_number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0] in _OTHERS:
            continue
        if len(fields) != 3:
            reason = f"expected measure, query and value, as trec_eval prints, found {line!r:.60}"
            raise FormatError(name, line_number, reason)
        measure, query, value = fields
        key = None if query == "all" else query
        values.setdefault(measure, {})[key] = _number(value, f"{name}:{line_number}")
    return _checked(values, name)


def _of_dict(reference: Mapping[Any, object], name: str, queries: Container[str]) -> Values:
    values: Values = {}
    inside = {
        inner for value in reference.values() if isinstance(value, Mapping) for inner in value
    }
    # {query: {measure: value}}, or the other way round.
    has_outer, has_inner = (
        any(str(key) in queries for key in keys) for keys in (reference, inside)
    )
    by_query = all(map(_is_measure, inside)) or not all(map(_is_measure, reference))
    if has_outer != has_inner:
        by_query = has_outer
    for key, value in reference.items():
        if not isinstance(value, Mapping):
            # A setting beside the values, such as "hf_subset" of MTEB.
            if isinstance(value, (str, list)) and not _is_measure(key):
                continue
            values.setdefault(str(key), {})[None] = _number(value, f"{name}: {key!r}")
            continue
        for inner, inner_value in value.items():
            measure, query = (inner, key) if by_query else (key, inner)
            where = f"{name}: {key!r}, {inner!r}"
            values.setdefault(str(measure), {})[str(query)] = _number(inner_value, where)
    return _checked(values, name)


def _of_tuples(tuples: Iterable[Any]) -> Values:
    values: Values = {}
    for item in tuples:
        if not hasattr(item, "query_id"):
            reason = "expected a dict, a path or tuples with query_id, measure and value"
            raise TypeError(f"against: {reason}, found an item of type {type(item).__name__}")
        query, measure, value = item.query_id, item.measure, item.value
        values.setdefault(str(measure), {})[str(query)] = _number(value, f"against: {query!r}")
    return _checked(values, "against")


def _is_measure(name: object) -> bool:
    from fastrank.core.measures.notation import canonical_names

    return isinstance(name, str) and bool(canonical_names(name))


def _number(value: Any, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(where, f"expected a number, found {brief(value)}") from None


def _checked(values: Values, name: str) -> Values:
    if not values:
        raise InputError(name, "expected values of measures, found none")
    return values


def decimals(values: Mapping[str | None, float]) -> int | None:
    """The number of decimals to which all values are rounded, None if they are not."""
    finite = [value for value in values.values() if math.isfinite(value)]
    for count in ROUNDED:
        if all(abs(value - round(value, count)) < CLOSE for value in finite):
            return count
    return None


def is_same(theirs: float, ours: float, digits: int | None) -> bool:
    """Whether a value is reproduced, after rounding as theirs is."""
    if math.isnan(theirs) or math.isnan(ours):
        return math.isnan(theirs) and math.isnan(ours)
    if digits is None:
        return abs(theirs - ours) <= CLOSE * max(1.0, abs(theirs))
    # The last digit of a value half way between two may go either way.
    return abs(theirs - ours) <= 0.5 * 10.0**-digits + CLOSE


class Match(Frozen):
    """Settings under which a measure has the values of the reference.

    settings: their texts; none if the values are the same as they are. options: of `evaluate`.
    measure: the measure to ask for. tools: the tools with these settings.
    """

    settings: tuple[str, ...]
    options: dict[str, object]
    measure: str
    tools: tuple[str, ...]

    def __str__(self) -> str:
        if not self.settings:
            return "the given options"
        tool_lists = [tools.split(", ") for tools in self.tools if tools]
        listed = dict.fromkeys(chain.from_iterable(tool_lists))
        # Prefer tools that have all of the settings.
        every = [tool for tool in listed if all(tool in tool_list for tool_list in tool_lists)]
        tools = ", ".join(every or listed)
        return " and ".join(self.settings) + (f" ({tools})" if tools else "")


class MeasureDifference(Frozen):
    """The values of a measure in the reference, and ours.

    theirs, ours: the means, ours with the given options. digits: decimals to which theirs are
    rounded, None for none. matches: what reproduces theirs, the fewest changes first; empty if
    nothing tried does. compared, differing: the numbers of common queries, and of those with
    another value under the given options; 0 if the reference has only means. first: the first of
    these as (query, theirs, ours), or None. only_theirs, only_ours: queries of one side.
    tie_range: if nothing reproduces theirs, but another order of tied documents could: the settings
    for which that is so and the range of the mean, (Match, worst, best); else None.

    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 1.0, "a": 1.0}}
    >>> difference = fr.explain(qrels, run, against={"map": 0.75}).measures["map"]
    >>> difference.theirs, difference.ours, [match.options for match in difference.matches]
    (0.75, 0.5, [{'ties': 'average'}])
    """

    measure: str
    theirs: float
    ours: float
    digits: int | None
    matches: list[Match]
    compared: int
    differing: int
    first: tuple[str, float, float] | None
    only_theirs: list[str]
    only_ours: list[str]
    tie_range: tuple[Match, float, float] | None

    def __str__(self) -> str:
        text = f"{self.measure}: theirs {number(self.theirs)}, ours {number(self.ours)}. "
        exactly = "exactly" if self.digits is None else f"to {self.digits} decimals"
        if self.matches:
            matches = enumerated([*map(str, self.matches)], "or", NAMED)
            text += f"Reproduced {exactly} by {matches}."
        elif self.tie_range is not None:
            match, worst, best = self.tie_range
            text += (
                f"Not reproduced, but with {match}, the order of tied documents makes it"
                f" {number(worst)} to {number(best)}: the tool may have an order that no option"
                " gives."
            )
        else:
            text += "Not reproduced by any one or two of the known settings."
        if self.differing and self.first is not None:
            query, theirs, ours = self.first
            text += (
                f" Queries that differ: {self.differing} of {self.compared}, first {query}:"
                f" {number(theirs)} against {number(ours)}."
            )
        for whose, queries in (("theirs", self.only_theirs), ("ours", self.only_ours)):
            if queries:
                examples = first_few(queries, NAMED)
                text += (
                    f" Only in {whose}: {counted(len(queries), 'query', 'queries')} ({examples})."
                )
        return text


class OptionsExplanation(Result, Frozen):
    """Which settings reproduce the values of another tool, as `explain(against=)` returns it.

    measures: {measure: MeasureDifference}, by the names in the reference.

    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}
    >>> fr.explain(qrels, run, against={"map": 0.5, "recip_rank": 0.1234567})
    <OptionsExplanation: 1 of 2 measures reproduced>
    """

    made_by = "fastrank.explain"

    measures: dict[str, MeasureDifference]

    def table(self) -> Table:
        """A row for each measure: the means, theirs and ours, and what reproduces theirs."""
        rows = [
            (name, difference.theirs, difference.ours, " or ".join(map(str, difference.matches)))
            for name, difference in self.measures.items()
        ]
        return table_of_rows(("measure", "theirs", "ours", "reproduced by"), rows)

    def _document(self) -> Document:
        return Document([Paragraph(str(difference)) for difference in self.measures.values()])

    def __repr__(self) -> str:
        count = sum(bool(difference.matches) for difference in self.measures.values())
        return (
            f"<OptionsExplanation: {count} of {counted(len(self.measures), 'measure')} reproduced>"
        )
