"""What judges do to the order of systems, and to systems of their own family."""

from __future__ import annotations

import os
from itertools import product

import numpy as np

from fastrank.comparing.agreement import agreement
from fastrank.comparing.bootstrap import t_interval
from fastrank.comparing.compare import compare
from fastrank.comparing.overlap import rbo
from fastrank.comparing.paired import moments
from fastrank.comparing.pairs import pairs_of
from fastrank.document.document import Document, Paragraph, Section
from fastrank.document.numbers import p_text
from fastrank.errors import GroupError, OptionError
from fastrank.judges.result import Result
from fastrank.scores.tables import Table, grid_of, table_of_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.options import Settings
    from fastrank.document.document import Block
    from fastrank.formats.inputs import RunsLike
    from fastrank.judges.labels import Judgments
    from fastrank.measures.selection import Measures

# A pair of systems that differs significantly under one judge, under the other.
LOST, REVERSED, FOUND = CHANGES = ("lost", "reversed", "found")
# The significance level.
ALPHA = 0.05


class SystemsUnderJudges(Result):
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
        truth, rows = self.comparisons[self.judges[0]], []
        for judge, measure in product(self.judges[1:], self.measures):
            other = self.comparisons[judge]
            sign = -1.0 if truth.better(measure) == "lower" else 1.0
            first, second = (
                {name: sign * mean for name, mean in own.mean[measure].items()}
                for own in (truth, other)
            )
            ranks = {name: rank for rank, name in enumerate(truth.ranked(measure))}
            drops = (rank - ranks[name] for rank, name in enumerate(other.ranked(measure)))
            found, changes = agreement(first, second), self.verdicts(judge, measure)
            order = found.tau_b, found.tau_ap, rbo(first, second, 0.9).ext, max(drops)
            counts = map(changes.columns["change"].count, CHANGES)
            rows.append((judge, measure, *order, *counts))
        names = ("judge", "measure", "tau_b", "tau_ap", "rbo", "largest_drop", *CHANGES)
        return table_of_rows(names, rows)

    def verdicts(self, judge: str, measure: str) -> Table:
        """The pairs of systems whose significant difference is lost, reversed, or found.

        difference, p: under the first judge; judged_difference, judged_p: under this one. p is
        corrected as in `compare`.

        >>> len(systems.verdicts("judge 2", "map"))
        0
        """
        if judge not in self.comparisons:
            expected = ", ".join(map(repr, self.judges))
            raise OptionError("judge", f"{judge!r} is not one of the judges: {expected}")
        rows = []
        sides = (pairs_of(self.comparisons[own], measure) for own in (self.judges[0], judge))
        for one, other in zip(*sides, strict=True):
            verdict = one.difference, one.p_adjusted, other.difference, other.p_adjusted
            change = _change(*verdict)
            if change:
                rows.append((one.a, one.b, *verdict, change))
        names = ("a", "b", "difference", "p", "judged_difference", "judged_p", "change")
        return table_of_rows(names, rows)

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
        truth, rows = self.comparisons[self.judges[0]], []
        inside = np.array([name in self.family for name in truth.names])
        for judge, measure in product(self.judges[1:], self.measures):
            gap = self.comparisons[judge].values(measure) - truth.values(measure)
            family, others = gap[inside].mean(axis=0), gap[~inside].mean(axis=0)
            found = moments(np.vstack([family, others, family - others]))
            columns = (found.mean, *t_interval(found, truth.level))
            for systems, *own in zip(("own family", "others", "difference"), *columns, strict=True):
                rows.append((judge, measure, systems, *map(float, own)))
        return table_of_rows(("judge", "measure", "systems", "bias", "low", "high"), rows)

    def table(self) -> Table:
        """The same as `orders`.

        >>> systems.table().names[:3]
        ['judge', 'measure', 'tau_b']
        """
        return self.orders()

    def _document(self) -> Document:
        first = self.judges[0]
        legend = (
            f"lost: pairs of systems that differ significantly by {first}, but not by this judge;"
            " reversed: significantly in the opposite direction; found: only by this judge."
        )
        order: list[Block] = [grid_of(self.orders()), Paragraph(legend, "legend")]
        found: list[Block] = [Section("The order of the systems", order)]
        for measure in self.measures:
            found.append(Section(f"Means of {measure}", [grid_of(self.means(measure))]))
            for judge in self.judges[1:]:
                changed = self.verdicts(judge, measure)
                if len(changed):
                    grid = grid_of(changed, {"p": p_text, "judged_p": p_text})
                    found.append(Section(f"Other verdicts by {judge}: {measure}", [grid]))
        if (family := self.own_family()) is not None:
            legend = f"The judge's value minus that of {first}, mean over queries."
            bias: list[Block] = [grid_of(family), Paragraph(legend, "legend")]
            found.append(Section("Bias for the judge's own family", bias))
        return Document(found)

    def _content(self) -> dict[str, Any]:
        family = self.own_family()
        return {
            "orders": self.orders(),
            "means": {measure: self.means(measure) for measure in self.measures},
            "verdicts": {
                judge: {measure: self.verdicts(judge, measure) for measure in self.measures}
                for judge in self.judges[1:]
            },
            **({} if family is None else {"own_family": family}),
        }


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
            {query: own[query] for query in queries},
            runs,
            measures,
            missing="zero",
            level=chosen.level,
        )
        for name, own in judges.items()
    }
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
