"""The options and measures of a gate: those of the baseline, and no others."""

from __future__ import annotations

import copy
import os

from fastrank.errors import InputError, OptionError
from fastrank.formats.digests import exclusions_digest
from fastrank.gating.measuring import recorded, selected
from fastrank.judging.keywords import EVALUATION
from fastrank.measures.notation import canonical_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.gating.baseline import Baseline
    from fastrank.measures.selection import Measures


def _as_saved() -> tuple[Any, ...]:
    """The options of a gate, where None means that of the baseline."""
    made = tuple(copy.copy(one) for one in EVALUATION)
    for one in made:
        one.default = None
    return made


AS_SAVED = _as_saved()


def checked(given: Mapping[str, Any], table: tuple[Any, ...]) -> dict[str, Any]:
    """The checked options of a table. Raises OptionError and TypeError."""
    return {one.name: one.checked(given[one.name]) for one in table}


def options_of(given: dict[str, Any], saved: Baseline, name: str) -> dict[str, Any]:
    """The options of the baseline. Raises InputError if others are given."""
    version = given["trec_eval_version"] or saved.compat
    if version != saved.compat:
        raise InputError(
            name, f"saved with the numbers of trec_eval {saved.compat}, not {version}; save a new"
            " baseline, or choose that version"
        )  # fmt: skip
    before = recorded({one.name: one.default for one in EVALUATION}) | saved.options
    for one in EVALUATION:
        try:
            if one.name in before and one.name != "exclude":
                one.checked(before[one.name])
        except (OptionError, TypeError) as error:
            raise InputError(name, f"damaged baseline: {error}") from None
    unknown = sorted(before.keys() - given.keys())
    if unknown:
        raise InputError(
            name, f"saved with options that this version of fastrank lacks: {', '.join(unknown)};"
            " upgrade it"
        )  # fmt: skip
    now = {own: before[own] if given[own] is None else given[own] for own in before}
    now["exclude"] = exclusions_digest(given["exclude"])
    different = [
        f"{own} {before[own]!r}, now {now[own]!r}"
        for own in before
        if before[own] != now[own] and own != "exclude"
    ]
    if before["exclude"] != now["exclude"]:
        different.append("other excluded documents")
    if different:
        raise InputError(
            name, f"saved with other options ({'; '.join(different)}); use the same, or save a new"
            " baseline"
        )  # fmt: skip
    return now | {"exclude": given["exclude"], "trec_eval_version": version}


def measures_of(measures: Measures, saved: Baseline, name: str) -> Measures:
    """The measures to compute. Raises InputError unless they are those of the baseline."""
    bound = selected(measures, saved.compat)
    names = {os.fsdecode(own) for one in bound for own in one.canonical}
    known = [canonical(own) for own in saved.measures]
    if names != {one for own in known for one in own}:
        raise InputError(
            name, f"saved with other measures ({', '.join(saved.measures)}); use the same, or save"
            " a new baseline"
        )  # fmt: skip
    # The baseline's spelling, unless a name is that of a function.
    functions = any(one.measure.needs == "custom" for one in bound)
    return measures if functions else saved.measures


def canonical(name: str) -> tuple[str, ...]:
    """The canonical spelling of a measure; that of a function is its name."""
    return tuple(canonical_names(name)) or (name,)
