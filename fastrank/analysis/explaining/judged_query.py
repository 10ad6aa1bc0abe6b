"""One query, judged: its ranking with documents, scores and grades, and what measures see of it."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.explaining.contributions import (
    INFINITE,
    Contributions,
    Ranking,
    contributions,
)
from fastrank.common.messages import did_you_mean, similar_id
from fastrank.core.data.columns import id_text
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.values import Values
from fastrank.core.formats.inputs import as_qrels, open_run
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.run import Run
from fastrank.core.formats.trec.reader import read_trec_run
from fastrank.core.matching.match import match
from fastrank.core.matching.plan import Plan
from fastrank.core.matching.queries import match_run
from fastrank.core.matching.rankings import compared_scores, rank_documents
from fastrank.errors import EvaluationError, GroupError, MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.common.choices import TrecEvalVersion
    from fastrank.core.formats.inputs import QrelsLike, RunLike
    from fastrank.core.matching.options import Options
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.selection import Selection


def judgments_of(qrels: QrelsLike, options: Options) -> Qrels:
    """Read judgments with grades. Raises TypeError for preferences."""
    judgments = as_qrels(qrels, trec_eval_version=options.trec_eval_version)
    if not isinstance(judgments, Qrels):
        raise TypeError("qrels: expected Qrels, found Preferences, which have no grades")
    return judgments


def run_of(run: RunLike, options: Options) -> Run:
    """Read a run, ranked as for an evaluation."""
    version = options.trec_eval_version
    opened: Any = open_run(run, trec_eval_version=version, rank_by=options.rank_by)
    if isinstance(opened, Run):
        return opened
    if isinstance(opened, dict) or hasattr(opened, "keys"):
        from fastrank.core.formats.tables.to_run import run_from_dict

        return run_from_dict(opened, source="run", rank_by=options.rank_by)
    with opened:
        return read_trec_run(opened, trec_eval_version=version, rank_by=options.rank_by)


def check_query(query: object, judgments: Qrels, runs: Sequence[Run]) -> str:
    """The id of a query. Raises GroupError for one without judgments, with the closest id."""
    query = id_text(query)
    if not isinstance(query, str):
        raise TypeError(f"query: expected a str or an int, found {type(query).__name__}")
    if query in judgments:
        return query
    if any(query in run for run in runs):
        raise GroupError(f"query {query!r} is in the run, but has no judgments")
    hint = did_you_mean(map(repr, similar_id(query, judgments.query_ids)))
    raise GroupError(f"query {query!r} is neither in the qrels nor in the run{hint}")


class JudgedQuery:
    """A query of a run, judged by a plan.

    name: of the run, by default its tag. ranked: (document, score), best first. docs: those that
    measures see. grades: of all judged documents of the query, those of at least 0. highest: the
    highest grade of all queries. retrieved: whether the run has the query. top: what the depth
    leaves of `ranked`. cut: how many results it removed. excluded, duplicates, unjudged_removed:
    how many others were removed.
    """

    def __init__(self, query: str, plan: Plan, run: Run, name: str = "") -> None:
        judgments, options = plan.judgments, plan.options
        self.query, self.options = query, options
        self.name = name or run.tag or str(run.source)
        codes, scale = judgments.grade_column, judgments.scale
        self.highest = float(max(codes if scale is None else scale.grades(codes), default=0))
        self.retrieved = query in run
        if not self.retrieved:
            run = Run.from_dict({query: {}})
        query_options = options.changed(
            query=query.encode("utf-8", "surrogateescape"), missing_is_error=False, complete=False
        )
        filtered, matched, unranked = match_run(judgments, run, query_options)
        self.excluded, self.duplicates = unranked.counts["excluded"], unranked.counts["duplicates"]
        plan = plan.changed(options=query_options)
        judged = match(plan, filtered)
        if judged.failure is not None:
            raise judged.failure.error(
                plan.measures[0].measure.name, judgments.queries[matched.judgments[0]]
            )
        grades: dict[str, float] = judgments[query]
        # A negative grade is that of a document nobody judged.
        self.grades = {doc: grade for doc, grade in grades.items() if grade >= 0}
        (row,) = matched.rankings
        self.ranked = self._ranked(filtered, row, grades)
        self.top = top = self.ranked[: options.max_retrieved]
        self.docs = self._judged(top) if options.judged_only else top
        self.cut, self.unjudged_removed = len(self.ranked) - len(top), len(top) - len(self.docs)
        self._scaled = scale is not None
        self._values = Values(plan, judged)

    def _judged(self, docs: list[tuple[str, float]]) -> list[tuple[str, float]]:
        return [(doc, score) for doc, score in docs if doc in self.grades]

    def _ranked(self, run: Run, row: int, grades: dict[str, float]) -> list[tuple[str, float]]:
        """The ranking before it is cut. grades: of the query, also negative ones."""
        first, stop = run.offset_column[row], run.offset_column[row + 1]
        options = self.options
        texts = [run.docs[row] for row in range(first, stop)]
        scores = np.array(run.score_column[first:stop], float)
        if np.isnan(scores).any():
            reason = f"{run.source}: query {self.query!r}: a score is NaN"
            raise EvaluationError("", self.query.encode("utf-8", "surrogateescape"), reason)
        return rank_documents(
            list(zip(map(decoded, texts), scores.tolist(), strict=True)),
            grades,
            ties=options.ties,
            trec_eval_version=options.trec_eval_version,
        )

    def documents(self, bound: BoundMeasure) -> list[tuple[str, float]]:
        """The ranking that a measure sees, which may be without unjudged documents."""
        if (bound.options or {}).get("judged_only", False):
            return self._judged(self.docs)
        return self.docs

    def shown(self, bound: BoundMeasure) -> list[tuple[str, float | None]]:
        """The same; without scores if documents were ranked by something else."""
        by_score = self.options.rank_by == "score"
        return [(doc, score if by_score else None) for doc, score in self.documents(bound)]

    def level(self, bound: BoundMeasure) -> float:
        """The lowest relevant grade of a measure."""
        return _level(bound, self.options)

    def values(self, bound: BoundMeasure) -> list[float]:
        """The values of a measure, one for each of its names; 0 without results."""
        values = self._values.of(bound)
        return [float(value) if self.retrieved else 0.0 for value in values]

    def contributions(self, bound: BoundMeasure, number: int) -> Contributions:
        """What each document adds to a value of a measure that `is_explained`."""
        columns = self._values.judged_for(bound).columns
        parameters = bound.parameters(number)
        cutoff = parameters.get("cutoff", INFINITE)
        # The columns may be longer than what is listed.
        listed, distinct = columns.offsets[1], columns.grade_offsets[1]
        gains: list[float] = []
        ideal: list[float] = []
        if bound.measure.needs != "ranking":
            gained = self._values.gains(bound)
            # Gains were multiplied by a power of two to sort them.
            factor = 1.0 if self._scaled else self._values.gains_of_grades(bound)[1]
            gains = [gain / factor for gain in gained.gains[:listed]]
            for i in range(gained.ideal_offsets[1]):
                count = gained.ideal_counts[i]
                if bound.measure.needs == "best gains":
                    count = min(count, int(cutoff))
                ideal += [gained.ideal_gains[i] / factor] * count
        grades, counts = columns.grade_values[:distinct], columns.grade_counts[:distinct]
        ranking = Ranking(
            ranks=list(columns.ranks[:listed]),
            grades=list(columns.grades[:listed]),
            gains=gains,
            ideal=ideal,
            level=columns.level,
            num_ret=columns.num_ret[0],
            num_rel=columns.num_rel[0],
            cutoff=cutoff,
            p=parameters.get("p", 0.0),
            nonrelevant=sum(
                count for grade, count in zip(grades, counts, strict=True) if grade < columns.level
            ),
        )
        adds, divided_by = bound.measure.adds or ("", "")
        return contributions(ranking, adds, divided_by)

    def ties(self, docs: list[tuple[str, float]] | None = None) -> list[list[int]]:
        """The ranks of each group of results with equal scores, by default of `docs`."""
        docs = self.docs if docs is None else docs
        scores = compared_scores(
            np.array([score for _, score in docs], float), self.options.trec_eval_version
        )
        groups: list[list[int]] = []
        for rank in range(2, len(scores) + 1):
            if scores[rank - 1] == scores[rank - 2]:
                if groups and groups[-1][-1] == rank - 1:
                    groups[-1].append(rank)
                else:
                    groups.append([rank - 1, rank])
        return groups

    def tie_across_depth(self) -> list[int]:
        """The ranks of the results that tie across the depth, so that it removed some of them."""
        depth = len(self.top)
        groups = self.ties(self.ranked) if self.cut else []
        return next((group for group in groups if group[0] <= depth < group[-1]), [])


def explained_measures(
    asked: Selection, version: TrecEvalVersion
) -> tuple[list[BoundMeasure], list[str]]:
    """The requested measures, and the names of those in sets that cannot be explained.

    Raises MeasureError for measures requested by name, or if there are no others.
    """
    bound = asked.bind(version, keep=is_explained)
    for measure in bound or asked.bind(version):
        if not is_explained(measure):
            reason = f"explain supports {_explained_names()}, not '{decoded(measure.names[0])}'"
            raise MeasureError(measure.measure.name, reason)
    names = {measure.measure.name for measure in bound}
    others = [measure for measure in asked.bind(version) if measure.measure.name not in names]
    return bound, [decoded(name) for measure in others for name in measure.names]


def is_explained(bound: BoundMeasure) -> bool:
    """Whether `explain` knows what documents add to a measure."""
    return bound.measure.adds is not None


def _explained_names() -> str:
    """The measures that can be explained, in the notation of trec_eval where it has them."""
    from fastrank.core.measures.families import MEASURES

    return ", ".join(
        dict.fromkeys(measure.name for measure in MEASURES if measure.adds is not None)
    )


def refuse_expected(options: Options) -> None:
    """Raise OptionError for ties="average", whose values do not come from a single ranking."""
    if options.ties == "average":
        reason = "'average' is over all orders of tied documents; explain shows one ranking"
        raise OptionError("ties", reason)


def _level(bound: BoundMeasure, options: Options) -> float:
    level = (bound.options or {}).get("rel")
    return options.relevance_level if level is None else level


def refuse_negative_levels(measures: list[BoundMeasure], options: Options) -> None:
    """Raise OptionError or MeasureError for a level at which unjudged documents are relevant."""
    expected = "explain expects a level of at least 0, found"
    if options.relevance_level < 0:
        raise OptionError("relevance_level", f"{expected} {options.relevance_level:g}")
    for bound in measures:
        level = _level(bound, options)
        if level < 0:
            raise MeasureError(
                bound.measure.name, f"'{decoded(bound.names[0])}': {expected} rel={level:g}"
            )
