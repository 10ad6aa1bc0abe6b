"""What judges do to the order of systems, and to systems of their own family."""

from __future__ import annotations

import os

import numpy as np

from fastrank.comparing.agreement import agreement
from fastrank.comparing.bootstrap import t_interval
from fastrank.comparing.compare import compare
from fastrank.comparing.paired import moments
from fastrank.comparing.rank_biased_overlap import rbo
from fastrank.data.columns import Frozen
from fastrank.errors import GroupError, OptionError
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.options import Settings
    from fastrank.formats.inputs import RunsLike
    from fastrank.judges.labels import Judgments
    from fastrank.measures.selection import Measures

# A pair of systems that differs significantly under one judge, under the other.
LOST, REVERSED, FOUND = "lost", "reversed", "found"
# The significance level.
ALPHA = 0.05


class SystemsUnderJudges(Frozen):
    """Systems compared under the judgments of each judge, on the queries that all of them judged.

    comparisons: {judge: Comparison}; the first judge's is the truth. family: the systems that used
    the same model as the judges that follow the first, None if that is not known.

    >>> systems = fr.judge_agreement(human, judge, runs=runs, measures="map").systems
    >>> systems.measures
    ['map']
    """

    made_by = "fastrank.judge_agreement"

    judges: list[str]
    comparisons: dict[str, Comparison]
    family: list[str] | None = None

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return self.comparisons[self.judges[0]].measures

    def means(self, measure: str) -> Table:
        """A row for each system, best first by the first judge: its mean under each judge.

        >>> print(systems.means("map"))
        system      judge 1    judge 2
        --------  ---------  ---------
        y            0.5000     0.5000
        x            0.2500     0.3333
        """
        truth = self.comparisons[self.judges[0]]
        names = truth.ranked(measure)
        columns: dict[str, list[Any]] = {"system": names}
        for judge in self.judges:
            mean = self.comparisons[judge].mean[measure]
            columns[judge] = [mean[name] for name in names]
        return Table(columns=columns)

    def orders(self) -> Table:
        """A row for each judge but the first, and each measure: how far the order is the first's.

        tau_b, tau_ap: see `agreement`. rbo: extrapolated rank-biased overlap of the two orders, at
        p = 0.9. largest_drop: by how many ranks the system falls that falls most. lost, reversed,
        found: the numbers of pairs of systems that differ significantly under the first judge but
        not under this one, in the opposite direction, and only under this one.

        >>> systems.orders().columns["tau_b"], systems.orders().columns["reversed"]
        ([1.0], [0])
        """
        columns: dict[str, list[Any]] = {
            name: []
            for name in ("judge", "measure", "tau_b", "tau_ap", "rbo", "largest_drop", LOST,
                         REVERSED, FOUND)
        }  # fmt: skip
        truth = self.comparisons[self.judges[0]]
        for judge in self.judges[1:]:
            other = self.comparisons[judge]
            for measure in self.measures:
                sign = -1.0 if truth.better(measure) == "lower" else 1.0
                first, second = (
                    {name: sign * mean for name, mean in own.mean[measure].items()}
                    for own in (truth, other)
                )
                coefficients = agreement(first, second)
                changes = [change for *_, change in self._changes(judge, measure)]
                values = (
                    judge, measure, coefficients.tau_b, coefficients.tau_ap,
                    rbo(first, second, 0.9).ext, _largest_drop(truth, other, measure),
                    *map(changes.count, (LOST, REVERSED, FOUND)),
                )  # fmt: skip
                for column, value in zip(columns.values(), values, strict=True):
                    column.append(value)
        return Table(columns=columns)

    def verdicts(self, judge: str, measure: str) -> Table:
        """The pairs of systems whose significant difference is lost, reversed, or found.

        difference, p: under the first judge; judged_difference, judged_p: under this one. p is
        corrected as in `compare`.

        >>> len(systems.verdicts("judge 2", "map"))
        0
        """
        names = ("a", "b", "difference", "p", "judged_difference", "judged_p", "change")
        rows = list(zip(*self._changes(judge, measure), strict=True)) or [()] * len(names)
        return Table(columns=dict(zip(names, map(list, rows), strict=True)))

    def _changes(self, judge: str, measure: str) -> list[tuple[Any, ...]]:
        if judge not in self.comparisons:
            expected = ", ".join(map(repr, self.judges))
            raise OptionError("judge", f"{judge!r} is not one of the judges: {expected}")
        truth, other = self.comparisons[self.judges[0]], self.comparisons[judge]
        wanted = ("a", "b", "difference", "p_adjusted")
        both = (own.pairs(measure).columns for own in (truth, other))
        rows = (zip(*(own[name] for name in wanted), strict=True) for own in both)
        found = [
            (a, b, difference, p, judged, judged_p, _change(difference, p, judged, judged_p))
            for (a, b, difference, p), (_, _, judged, judged_p) in zip(*rows, strict=True)
        ]
        return [row for row in found if row[-1]]

    def own_family(self) -> Table | None:
        """How much higher than the first judge the others value the systems of their own family.

        bias: the mean over queries of the judge's value minus the first judge's, of the systems
        inside and outside the family, and inside minus outside, with Student's interval [low, high]
        over queries. None if families were not given.

        >>> families = {"judge": "gpt", "runs": {"x": "gpt", "y": "llama"}}
        >>> found = fr.judge_agreement(human, judge, runs=runs, families=families).systems
        >>> found.own_family().columns["bias"][:3]
        [0.083..., 0.0, 0.083...]
        """
        if self.family is None:
            return None
        columns: dict[str, list[Any]] = {
            name: [] for name in ("judge", "measure", "systems", "bias", "low", "high")
        }
        truth = self.comparisons[self.judges[0]]
        inside = np.array([name in self.family for name in truth.names])
        for judge in self.judges[1:]:
            for measure in self.measures:
                gap = self.comparisons[judge].values(measure) - truth.values(measure)
                family, others = gap[inside].mean(axis=0), gap[~inside].mean(axis=0)
                rows = np.vstack([family, others, family - others])
                found = moments(rows)
                low, high = t_interval(found, truth.level)
                for place, systems in enumerate(("own family", "others", "difference")):
                    values = (judge, measure, systems, found.mean[place], low[place], high[place])
                    for column, value in zip(columns.values(), values, strict=True):
                        column.append(value if isinstance(value, str) else float(value))
        return Table(columns=columns)


def under_judges(
    judges: dict[str, Judgments],
    runs: RunsLike,
    measures: Measures,
    families: Mapping[str, Any] | None,
    chosen: Settings,
) -> SystemsUnderJudges:
    """Compare runs under the judgments of each judge.

    Raises GroupError if no query is judged by all, or there is only one run; OptionError for
    families that do not name runs; and what `compare` raises.
    """
    common = set.intersection(*(set(own) for own in judges.values()))
    if not common:
        raise GroupError(f"{' and '.join(judges)} have no judged query in common")
    queries = sorted(common, key=os.fsencode)
    comparisons = {
        name: compare(
            {query: own[query] for query in queries}, runs, measures, missing="zero",
            level=chosen.level,
        )
        for name, own in judges.items()
    }  # fmt: skip
    names = next(iter(comparisons.values())).names
    if len(names) < 2:
        raise GroupError("runs: expected two or more, to compare their order")
    return SystemsUnderJudges(
        judges=list(judges), comparisons=comparisons, family=_family(families, names)
    )


def _family(families: Mapping[str, Any] | None, names: list[str]) -> list[str] | None:
    """The systems that used the judge's model. Raises OptionError."""
    if families is None:
        return None
    if not hasattr(families, "keys") or families.keys() != {"judge", "runs"}:
        raise OptionError("families", 'expected {"judge": model, "runs": {run: model}}')
    unknown = [name for name in families["runs"] if name not in names]
    if unknown:
        raise OptionError("families", f"{unknown[0]!r} is not a run; expected {', '.join(names)}")
    found = [name for name in names if families["runs"].get(name) == families["judge"]]
    if not 0 < len(found) < len(names):
        which = "every run" if found else "no run"
        raise OptionError("families", f"{which} used the judge's model {families['judge']!r}")
    return found


def _change(difference: float, p: float, judged: float, judged_p: float) -> str:
    """How the verdict on a pair changes from the first judge to another; "" if it does not."""
    differs, judged_differs = p <= ALPHA, judged_p <= ALPHA
    if differs and judged_differs:
        return REVERSED if (difference > 0) != (judged > 0) else ""
    if differs:
        return LOST
    return FOUND if judged_differs else ""


def _largest_drop(truth: Comparison, other: Comparison, measure: str) -> int:
    """By how many ranks the system falls that falls most."""
    ranks = {name: rank for rank, name in enumerate(truth.ranked(measure))}
    return max(rank - ranks[name] for rank, name in enumerate(other.ranked(measure)))
