"""Values per query of people, who judged a sample of the queries, and of judges, who judged all."""

from __future__ import annotations

import os
from itertools import combinations

import numpy as np

from fastrank.analysis.comparing.compare import compare
from fastrank.analysis.comparing.inputs import may_be_shares
from fastrank.analysis.judges.labels import caution
from fastrank.analysis.judges.prediction_powered import Estimated, combined, estimated, mostly_equal
from fastrank.common.messages import counted, first_few
from fastrank.errors import GroupError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrank.analysis.comparing.options import Settings
    from fastrank.analysis.judges.labels import Judgments
    from fastrank.common.arrays import Floats
    from fastrank.core.formats.inputs import RunLike, RunsLike
    from fastrank.core.measures.selection import Measures

# With fewer human queries, intervals of Student's t may fall short of their level.
FEW = 20
PERMUTATIONS = 10_000
NOT_RANDOM = 0.01
LISTED = 5


class QuerySample:
    """The values per query, float64[systems, queries], by people and by each judge.

    queries: those that all judges judged. labelled: whether people judged each, bool[queries].
    """

    by = "queries"

    def __init__(
        self,
        people: Judgments,
        judges: dict[str, Judgments],
        runs: RunsLike | RunLike,
        measures: Measures,
        population: str,
        chosen: Settings,
    ) -> None:
        self.population, self.chosen, self.notes = population, chosen, list[str]()
        self.queries = _shared_queries(people, judges)
        people = self._common(people, judges)
        self.n = len(people)
        self.labelled = np.array([query in people for query in self.queries])
        by_judge = [{query: each[query] for query in self.queries} for each in judges.values()]
        sides = [
            compare(judgments, runs, measures, missing="zero", interval="none")
            for judgments in (people, *by_judge)
        ]
        self.names, self.measures = sides[0].names, sides[0].measures
        self._human = {measure: sides[0].values(measure) for measure in self.measures}
        self._judged = {
            measure: np.stack([side.values(measure) for side in sides[1:]])
            for measure in self.measures
        }
        for measure in self.measures:
            if np.isnan(self._human[measure]).any() or np.isnan(self._judged[measure]).any():
                raise MeasureError(measure, f"{measure!r} has no value for some queries")
        self.notes += self._assumptions()
        self._check_random(self.measures[0])

    def estimate(self, measure: str, weights: Floats) -> Estimated:
        """The estimated mean of a weighted sum of the systems."""
        human, judged = weights @ self._human[measure], weights @ self._judged[measure]
        predicted, others = judged[:, self.labelled], judged[:, ~self.labelled]
        if len(judged) > 1:
            predictions, beside = combined(human, predicted, others)
        else:
            predictions, beside = predicted[0], others[0]
        finite = self.population == "queries"
        lowest = -1.0 if (weights < 0).any() else 0.0
        limits = (lowest, 1.0) if may_be_shares(measure) else None
        return estimated(human, predictions, beside, self.chosen, finite=finite, limits=limits)

    def _common(self, people: Judgments, judges: dict[str, Judgments]) -> Judgments:
        """The human judgments of the pairs that every judge has, with notes on the others."""
        common = {
            query: {
                document: grade
                for document, grade in documents.items()
                if all(document in judgments[query] for judgments in judges.values())
            }
            for query, documents in people.items()
        }
        lost = sum(map(len, people.values())) - sum(map(len, common.values()))
        if lost:
            pairs = counted(lost, "pair")
            self.notes.append(
                f"{pairs} that people judged and the judge did not: unjudged on both sides"
            )
        for query, documents in common.items():
            if not documents:
                raise GroupError(
                    f"query {query!r}: people and the judge have no document in common"
                )
        for name, judgments in judges.items():
            if all(judgments[query] == people[query] for query in people):
                raise GroupError(
                    f"the judgments of people and of {name} are the same: estimates need judgments"
                    " of people"
                )
        return common

    def _assumptions(self) -> Iterator[str]:
        yield (
            f"assumed: the {self.n:,} queries that people judged are a random sample of the"
            f" {len(self.queries):,}; hand-picked ones give wrong estimates"
        )
        if self.n < FEW:
            yield f"{self.n} queries are few: intervals may be short of their level; {FEW} would do"
        equal = []
        for measure, values in self._human.items():
            if may_be_shares(measure) and self.chosen.interval == "t":
                continue
            rows = dict(zip(self.names, values, strict=True))
            rows |= {f"{a} - {b}": rows[a] - rows[b] for a, b in combinations(self.names, 2)}
            equal += [f"{measure} of {name}" for name, row in rows.items() if mostly_equal(row)]
        if equal:
            shown = first_few(equal, LISTED, count=True)
            yield (
                f"half or more of the human values are the same in {shown}: these intervals may be"
                " far short of their level"
            )

    def _check_random(self, measure: str) -> None:
        """Warn if a permutation test of the judges' mean values tells the human queries apart."""
        values = self._judged[measure].mean(axis=(0, 1))
        draw = np.random.default_rng(self.chosen.seed)
        observed = abs(values[self.labelled].mean() - values.mean())
        means = [draw.permutation(values)[: self.n].mean() for _ in range(PERMUTATIONS)]
        reached = np.abs(np.array(means) - values.mean()) >= observed * (1 - 1e-9)
        p = float((reached.sum() + 1) / (PERMUTATIONS + 1))
        if p < NOT_RANDOM:
            caution(
                "the queries that people judged do not look like a random sample: the judge's"
                f" {measure} differs on them from that on the others (permutation test,"
                f" p = {p:.4f})",
                self.notes,
            )


def _shared_queries(people: Judgments, judges: dict[str, Judgments]) -> list[str]:
    """The queries of all judges, in byte order. Raises GroupError."""
    queries = set.intersection(*(set(judgments) for judgments in judges.values()))
    lacking = sorted(people.keys() - queries, key=os.fsencode)
    if lacking:
        raise GroupError(
            f"the judge lacks {counted(len(lacking), 'query', 'queries')} that people judged, such"
            f" as {lacking[0]!r}: the human queries must be a sample of the judge's"
        )
    if len(people) < 3:
        raise GroupError(f"expected 3 or more queries judged by people, found {len(people)}")
    return sorted(queries, key=os.fsencode)
