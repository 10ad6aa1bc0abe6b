"""What else matters for the values of a query: ties, unjudged documents, and what was removed."""

from __future__ import annotations

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.faces import option
from fastrank.common.messages import counted, first_few
from fastrank.common.rendering.numbers import number
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.scoring import scores_of
from fastrank.core.evaluation.ties import tie_ranges
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.run import Run
from fastrank.core.matching.match import match
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.over_ties import check_range
from fastrank.core.scores.text import treated
from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastrank.analysis.explaining.explanation import Part
    from fastrank.analysis.explaining.judged_query import JudgedQuery
    from fastrank.core.matching.options import Options
    from fastrank.core.measures.bound import BoundMeasure

# How many documents a note names.
NAMED = 5


def notes_of(
    judged: JudgedQuery,
    measures: list[BoundMeasure],
    parts: Mapping[str, Part],
    unexplained: list[str],
) -> list[str]:
    """The notes on a query, those that apply."""
    if not judged.retrieved:
        return [f"the run lacks this query, so that every value is 0; {_mean(judged)}"]
    return [
        *_ties(judged, measures, parts),
        *_unjudged(judged, measures, parts),
        *_missed(judged),
        *_below_level(judged),
        *_removed(judged),
        *_single_precision(judged),
        *_unexplained(unexplained),
    ]


def _mean(judged: JudgedQuery) -> str:
    """How means treat a query without results."""
    if judged.options.missing_is_error:
        return f"evaluate raises an error, as {option('missing', 'error')} says"
    return f"in means, {treated(1, option('missing', 'zero'), zero=judged.options.complete)}"


def _one_query(
    judged: JudgedQuery, grades: Mapping[str, float], docs: list[tuple[str, float]]
) -> tuple[Qrels, Run]:
    """The query with these grades and documents, in the order of ranks.

    Another query has the highest grade of all, on which some measures depend.
    """
    run = Run.from_dict({judged.query: dict(docs)})
    others = {f"{judged.query} (others)": {"": judged.highest}}
    # A query whose grades are all negative is judged, too.
    return Qrels.from_dict({judged.query: dict(grades) or {"": -1}, **others}), run


def _alone(judged: JudgedQuery, **changes: object) -> Options:
    """The options to evaluate a query of `_one_query`, from which results are removed already."""
    return judged.options.changed(
        query=judged.query.encode("utf-8", "surrogateescape"),
        missing_is_error=False,
        complete=False,
        exclude={},
        ignore_identical_ids=False,
        **changes,
    )


def _ties(
    judged: JudgedQuery, measures: list[BoundMeasure], parts: Mapping[str, Part]
) -> list[str]:
    """The range of each measure over the orders of tied documents."""
    across = judged.tie_across_depth()
    ranking = judged.ranked if across else judged.docs
    groups = judged.ties(ranking)
    if not groups or judged.options.rank_by != "score":
        return []
    texts, unknown = [], []
    options = _alone(judged, ties="docno_desc")
    qrels, run = _one_query(judged, judged.grades, judged.ranked)
    for bound in measures:
        try:
            check_range([bound])
            ranges = tie_ranges(Plan(qrels, [bound], options), run)
        except MeasureError:
            unknown += [decoded(name) for name in bound.names]
            continue
        for name, span in ranges.items():
            if name in parts and span.worst != span.best:
                expected = "" if span.expected is None else f", {number(span.expected)} on average"
                texts.append(
                    f"{name} could be {number(span.worst)} to {number(span.best)}{expected}"
                )
    grades = [judged.grades.get(doc, -1) for doc, _ in ranking]
    if unknown and any(len({grades[rank - 1] for rank in group}) > 1 for group in groups):
        texts.append(f"the range of {', '.join(unknown)} is unknown")
    if not texts:
        return []
    order = {"docno_desc": "by document id, larger first", "docno_asc": "by document id"}
    ordered = order.get(judged.options.ties, f"as {option('ties', judged.options.ties)} says")
    results = f"{sum(map(len, groups))} of {counted(len(ranking), 'result')}"
    crossing = _crossing(judged, {part.parts.cutoff for part in parts.values()})
    if across:
        crossing += f"; ranks {across[0]}-{across[-1]} tie across the depth {len(judged.top)}"
    all_ranges = "; ".join(texts)
    return [
        f"ties: {results} have the score of another one and are ordered {ordered}{crossing}:"
        f" {all_ranges}"
    ]


def _crossing(judged: JudgedQuery, cutoffs: set[float]) -> str:
    """Which ties cross a cutoff."""
    crossings = [
        f"ranks {group[0]}-{group[-1]} tie across the cutoff {cutoff:g}"
        for cutoff in sorted(cutoffs)
        for group in judged.ties()
        if group[0] <= cutoff < group[-1]
    ]
    return "".join(f"; {crossing}" for crossing in crossings)


def _unjudged(
    judged: JudgedQuery, measures: list[BoundMeasure], parts: Mapping[str, Part]
) -> list[str]:
    """How many documents are not judged, and what each value would be if they were."""
    absent = [rank for rank, (doc, _) in enumerate(judged.docs, 1) if doc not in judged.grades]
    if not absent:
        return []
    cutoffs = sorted({part.depth for part in parts.values()} - {len(judged.docs)})
    within = [
        f"{sum(rank <= cutoff for rank in absent)} in the first {cutoff}" for cutoff in cutoffs
    ]
    results = f"{len(absent)} of {counted(len(judged.docs), 'result')}"
    text = f"unjudged: {results}{''.join(f', {clause}' for clause in within)}"
    clauses = _if_judged(judged, measures, parts, is_single=len(absent) == 1)
    return [f"{text}{': ' + '; '.join(clauses) if clauses else ''}"]


def _if_judged(
    judged: JudgedQuery, measures: list[BoundMeasure], parts: Mapping[str, Part], *, is_single: bool
) -> list[str]:
    """The values if all unjudged documents were nonrelevant, or had the highest grade.

    These are not bounds: with other judgments, the value may be less or more than both.
    """
    highest = max([*judged.grades.values(), judged.options.relevance_level])
    by_name: dict[str, list[float]] = {name: [] for name in parts}
    # The documents are in the order in which they were ranked.
    options = _alone(judged, ties="given", rank_by="score", duplicates="error")
    for grade in (0, highest):
        grades = {doc: grade for doc, _ in judged.docs} | judged.grades
        qrels, run = _one_query(judged, grades, judged.docs)
        plan = Plan(qrels, measures, options)
        mean = scores_of(plan, match(plan, run)).mean
        for name, values in by_name.items():
            values.append(mean[name])
    none, every = ("it is not", "it has") if is_single else ("none is", "all have")
    return [
        f"{name} would be {number(values[0])} if {none} relevant, {number(values[1])} if {every}"
        f" grade {highest:g}"
        for name, values in by_name.items()
        if values[0] != values[1]
    ]


def _missed(judged: JudgedQuery) -> list[str]:
    """The relevant documents that were not retrieved, highest grades first."""
    retrieved = {doc for doc, _ in judged.docs}
    level = judged.options.relevance_level
    missed = [(doc, grade) for doc, grade in judged.grades.items() if grade >= level]
    if not missed:
        means = {
            "skip": f"; means skip the query, as {option('no_relevant', 'skip')} says",
            "error": f"; evaluate raises an error, as {option('no_relevant', 'error')} says",
        }.get(judged.options.no_relevant, "")
        return [f"relevant: no judged document has a grade of at least {level:g}{means}"]
    missed = sorted(((d, g) for d, g in missed if d not in retrieved), key=lambda pair: -pair[1])
    if not missed:
        return []
    examples = first_few([f"{doc} (grade {grade:g})" for doc, grade in missed], NAMED)
    return [f"not retrieved: {counted(len(missed), 'relevant document')}: {examples}"]


def _below_level(judged: JudgedQuery) -> list[str]:
    """Documents with a grade between 0 and the level of relevance."""
    level = judged.options.relevance_level
    below = sum(0 < grade < level for grade in judged.grades.values())
    if not below:
        return []
    documents = counted(below, "judged document")
    are = "is" if below == 1 else "are"
    return [f"level: {documents} with a grade above 0 {are} below level {level:g} and not relevant"]


def _removed(judged: JudgedQuery) -> list[str]:
    notes = []
    if judged.duplicates:
        notes.append(f"duplicates: {counted(judged.duplicates, 'repeated result')} dropped")
    if judged.excluded:
        notes.append(f"excluded: {counted(judged.excluded, 'result')} removed from the ranking")
    if judged.cut:
        depth = judged.options.max_retrieved
        notes.append(f"depth: {counted(judged.cut, 'result')} below rank {depth} ignored")
    if judged.unjudged_removed:
        notes.append(
            f"judged only: {counted(judged.unjudged_removed, 'unjudged result')} removed from the"
            " ranking"
        )
    return notes


def _single_precision(judged: JudgedQuery) -> list[str]:
    """Scores that differ, but tie as 32-bit floats."""
    if judged.options.trec_eval_version != DEFAULT_VERSION:
        return []
    scores = [score for _, score in judged.docs]
    groups = [g for g in judged.ties() if len({scores[rank - 1] for rank in g}) > 1]
    if not groups:
        return []
    ranks = first_few([f"{group[0]}-{group[-1]}" for group in groups], NAMED)
    return [
        f"32-bit ties: scores that differ only beyond 32 bits tie, at ranks {ranks}, as in"
        f" trec_eval {DEFAULT_VERSION}; 10.0 compares doubles"
    ]


def _unexplained(names: list[str]) -> list[str]:
    """Measures of sets that cannot be explained."""
    if not names:
        return []
    examples = first_few(names, NAMED)
    return [f"not explained: {counted(len(names), 'other value')} of the set: {examples}"]
