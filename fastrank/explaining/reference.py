"""Values of another tool: read, and compared with ours."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping

from fastrank.errors import FormatError, InputError
from fastrank.formats.source import read_all
from fastrank.measures.trec import MEASURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    # {measure: {query: value}}; the key None has the mean.
    Values = dict[str, dict[str | None, float]]

# The decimals to which tools round: trec_eval 4, BEIR and MTEB 5.
ROUNDED = (4, 5)
# Sums of doubles in another order differ by less.
CLOSE = 1e-12
# trec_eval's lines that are not numbers.
_OTHERS = {measure.name for measure in MEASURES if measure.is_text}


def read_reference(given: Any, queries: Container[str]) -> Values:
    """The values of another tool.

    given: as `explain_options` takes it. queries: those with judgments, some of which may be
    spelled as a measure, such as q1. Raises InputError and FormatError.
    """
    if isinstance(given, (str, os.PathLike)):
        name = os.fspath(given)
        text = read_all(given).decode("utf-8", "surrogateescape")
        if text.lstrip()[:1] == "{":
            try:
                given = json.loads(text)
            except ValueError as error:
                raise InputError(name, f"expected a JSON object: {error}") from None
            return _of_dict(given, name, queries)
        return _of_trec_eval(text, name)
    if isinstance(given, Mapping):
        return _of_dict(given, "reference", queries)
    if isinstance(given, Iterable):
        return _of_tuples(given)
    raise TypeError(f"reference: expected a dict or a path, found {type(given).__name__}")


def _of_trec_eval(text: str, name: str) -> Values:
    found: Values = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0] in _OTHERS:
            continue
        if len(fields) != 3:
            reason = f"expected measure, query and value, as trec_eval prints, found {line!r:.60}"
            raise FormatError(name, number, reason)
        measure, query, value = fields
        own = None if query == "all" else query
        found.setdefault(measure, {})[own] = _number(value, f"{name}:{number}")
    return _checked(found, name)


def _of_dict(given: Mapping[Any, Any], name: str, queries: Container[str]) -> Values:
    found: Values = {}
    inside = {inner for value in given.values() if isinstance(value, Mapping) for inner in value}
    # {query: {measure: value}}, or the other way round.
    has_outer, has_inner = (any(str(key) in queries for key in keys) for keys in (given, inside))
    by_query = all(map(_is_measure, inside)) or not all(map(_is_measure, given))
    if has_outer != has_inner:
        by_query = has_outer
    for key, value in given.items():
        if not isinstance(value, Mapping):
            # Such as "hf_subset" of MTEB.
            if isinstance(value, (str, list)) and not _is_measure(key):
                continue
            found.setdefault(str(key), {})[None] = _number(value, f"{name}: {key!r}")
            continue
        for inner, own in value.items():
            measure, query = (inner, key) if by_query else (key, inner)
            where = f"{name}: {key!r}, {inner!r}"
            found.setdefault(str(measure), {})[str(query)] = _number(own, where)
    return _checked(found, name)


def _of_tuples(given: Iterable[Any]) -> Values:
    found: Values = {}
    for one in given:
        if not hasattr(one, "query_id"):
            reason = "expected a dict, a path or tuples with query_id, measure and value"
            raise TypeError(f"reference: {reason}, found an item of type {type(one).__name__}")
        query, measure, value = one.query_id, one.measure, one.value
        found.setdefault(str(measure), {})[str(query)] = _number(value, f"reference: {query!r}")
    return _checked(found, "reference")


def _is_measure(name: Any) -> bool:
    from fastrank.measures.notation import canonical_names

    return isinstance(name, str) and bool(canonical_names(name))


def _number(value: Any, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(where, f"expected a number, found {value!r:.60}") from None


def _checked(found: Values, name: str) -> Values:
    if not found:
        raise InputError(name, "expected values of measures, found none")
    return found


def decimals(values: Mapping[Any, float]) -> int | None:
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
