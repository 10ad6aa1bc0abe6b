"""Standardized scores: each value relative to those of reference systems on the same query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastrank.arguments import check_choice
from fastrank.comparing.inputs import systems_from
from fastrank.data.texts import decoded
from fastrank.errors import GroupError
from fastrank.scores.differences import ZScores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.alignment import System
    from fastrank.comparing.paired import Floats

FORMS = ("std", "cdf", "sakai", "ecdf")


class Standardized(dict[str, dict[str, dict[str, float]]]):
    """{name: {query: {measure: value}}}, and notes that `compare_scores` adds to its own."""

    notes: list[str]


def standardize(scores: Any, reference: Any = None, *, form: str = "std") -> Standardized:
    """Standardize the values of systems per query, so that all queries count alike.

    scores: as `compare_scores` takes them.
    reference: the systems that give the mean and the standard deviation (n - 1) of each query, in
        the same forms, or ZScores; by default the systems themselves.
    form: "std": z, the distance from the mean in standard deviations; "cdf": the normal
        distribution function of z, from 0 to 1; "sakai": 0.15 z + 0.5, cut to 0 and 1; "ecdf": the
        share of the reference systems with at most this value.

    If all reference systems have the same value for a query, the standardized values are 0 for
    "std", and 0.5 for "cdf" and "sakai". Returns {name: {query: {measure: value}}}, a dict with the
    attribute `notes`, which counts such queries; `compare_scores` takes it.

    Raises GroupError for a query or measure that the reference lacks, OptionError for "ecdf" with
    ZScores, and what `compare_scores` raises. Sources: Webber, Moffat and Zobel, SIGIR 2008; Sakai,
    ICTIR 2016; Urbano, Lima and Hanjalic, SIGIR 2019.

    >>> values = {"a": {"q1": 0.2, "q2": 0.7}, "b": {"q1": 0.4, "q2": 0.9}}
    >>> fr.standardize(values, form="sakai")["a"]
    {'q1': {'value': 0.3939...}, 'q2': {'value': 0.3939...}}
    """
    check_choice("form", form, FORMS)
    names, systems, _ = systems_from(scores, None)
    if isinstance(reference, ZScores):
        if form == "ecdf":
            check_choice("form", form, FORMS[:-1])
        known = _of_zscores(reference)
    else:
        known = _of_systems(systems if reference is None else systems_from(reference, None)[1])
    made, constant = Standardized(), dict[str, set[str]]()
    for name, system in zip(names, systems, strict=True):
        rows = made[name] = {query: {} for query in system.queries}
        for measure, values in system.values.items():
            for query, value in zip(system.queries, values.tolist(), strict=True):
                moments = known.get((query, measure))
                if moments is None:
                    raise GroupError(
                        f"standardize: the reference has no value of {measure} for query {query!r}"
                    )
                if moments.varies:
                    z = (value - moments.mean) / moments.deviation
                else:
                    z = 0.0 if value == value else np.nan
                    constant.setdefault(measure, set()).add(query)
                rows[query][measure] = moments.rank(value) if form == "ecdf" else _of_z(z, form)
    queries = {query for system in systems for query in system.queries}
    made.notes = [
        f"{measure}: all reference systems have the same value on {len(own)} of {len(queries)}"
        " queries"
        for measure, own in constant.items()
    ]
    return made


class Reference(NamedTuple):
    """What is known of a measure on a query; values: those of the systems, ascending."""

    mean: float
    deviation: float
    values: Floats

    @property
    def varies(self) -> bool:
        """Whether the values differ: those that are equal in decimals may in their last bits."""
        return self.deviation > 1e-12 * max(abs(self.mean), 1e-300)

    def rank(self, value: float) -> float:
        """The share of the values that are at most this one; NaN for NaN."""
        if value != value or not len(self.values):
            return np.nan
        return float(np.searchsorted(self.values, value, side="right") / len(self.values))


def _of_zscores(zscores: ZScores) -> dict[tuple[str, str], Reference]:
    """What is known by query and measure: without values."""
    return {
        (decoded(query), decoded(measure)): Reference(mean, deviation, np.empty(0))
        for query, entries in zscores.entries.items()
        for measure, mean, deviation in entries
    }


def _of_systems(systems: list[System]) -> dict[tuple[str, str], Reference]:
    """What is known by query and measure: the values of all systems that have one."""
    found: dict[tuple[str, str], list[float]] = {}
    for system in systems:
        for measure, values in system.values.items():
            for query, value in zip(system.queries, values.tolist(), strict=True):
                own = found.setdefault((query, measure), [])
                if value == value:
                    own.append(value)
    made = {}
    for key, own in found.items():
        known = np.sort(np.array(own))
        mean = float(known.mean()) if own else np.nan
        deviation = float(known.std(ddof=1)) if len(own) > 1 else 0.0
        made[key] = Reference(mean, deviation, known)
    return made


def _of_z(z: float, form: str) -> float:
    if form == "std":
        return z
    if form == "sakai":
        return float(np.clip(0.15 * z + 0.5, 0.0, 1.0))
    from scipy.special import ndtr

    return float(ndtr(z))
