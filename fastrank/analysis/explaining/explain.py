"""Explain the values of one query."""

from __future__ import annotations

from typing import overload

from fastrank.analysis.explaining.against import explained_against
from fastrank.analysis.explaining.explanation import Explanation, Part
from fastrank.analysis.explaining.judged_query import (
    JudgedQuery,
    check_query,
    explained_measures,
    judgments_of,
    refuse_expected,
    refuse_negative_levels,
    run_of,
)
from fastrank.analysis.explaining.notes import notes_of
from fastrank.common.arguments import at_least
from fastrank.common.keywords import takes, with_defaults
from fastrank.common.messages import counted
from fastrank.common.rendering.numbers import number
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.scoring import scores_of
from fastrank.core.formats.inputs import run_names
from fastrank.core.formats.texts.lookup import lookup
from fastrank.core.matching.keywords import EVALUATION, EvaluationOptions, evaluation_options
from fastrank.core.matching.match import match
from fastrank.core.matching.options import check_options
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.selection import DEFAULT_MEASURES, Selection
from fastrank.errors import FastrankError, GroupError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.analysis.explaining.reference import OptionsExplanation
    from fastrank.core.formats.inputs import QrelsLike, RunLike
    from fastrank.core.formats.run import Run
    from fastrank.core.formats.texts.lookup import TextsLike
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.selection import Measures

ROWS = 10


@overload
def explain(
    qrels: QrelsLike,
    run: RunLike,
    measures: Measures | None = None,
    *,
    query: str | int | None = None,
    other: RunLike | None = None,
    texts: TextsLike | None = None,
    rows: int = ROWS,
    against: None = None,
    **options: Unpack[EvaluationOptions],
) -> Explanation: ...


@overload
def explain(
    qrels: QrelsLike,
    run: RunLike,
    measures: Mapping[str, str] | Iterable[str] | str | None = None,
    *,
    against: object,
    **options: Unpack[EvaluationOptions],
) -> OptionsExplanation: ...


@takes(EvaluationOptions, EVALUATION)
def explain(
    qrels: QrelsLike,
    run: RunLike,
    measures: Any = None,
    *,
    query: str | int | None = None,
    other: RunLike | None = None,
    texts: TextsLike | None = None,
    rows: int = ROWS,
    against: object = None,
    **options: Unpack[EvaluationOptions],
) -> Explanation | OptionsExplanation:
    """Explain the values of one query, which documents add how much, or those of another tool.

    qrels, run: as for `evaluate`, but not preferences.
    measures: as for `evaluate`: map, P, recall, success, recip_rank, Rprec, bpref, infAP, ndcg,
        dcg, RBP, ERR and their variants; by default "map ndcg_cut.10 P.10". Other measures raise
        MeasureError; a note names those of sets of measures, such as "official".
    query: its id; without it, the query on which `other` differs most in the first measure, which
        `chosen` of the result says. Queries that only one run has count with missing="zero".
    other: a second run, to explain how its values differ from those of `run`.
    texts: of the documents, whose titles are shown, or their texts if they have none: {document:
        text}, {document: {"title": ..., "text": ...}}, a Dataset, or a file, files or a folder in
        the formats of `Dataset.from_files`.
    rows: the number of rows of each table in text. `Explanation.table` has all, and whole titles.
    against: the values of another tool, to find out under which settings they are ours, of all
        queries; see below.
    **options: see `EvaluationOptions`; ties="average" and a relevance_level below 0 raise
        OptionError, unless there is an `against`.

    The value of `evaluate` is factor * (sum of what the documents add) / divisor, to the last bit.
    The notes give the range of each value over the orders of tied documents, its values if unjudged
    documents were judged, relevant documents that were not retrieved, and removed results.

    Raises GroupError for a query without judgments, with the closest id, or if none is named and
    the runs do not differ; OptionError without `query`, `other` and `against`; and what `evaluate`
    raises.

    >>> qrels, run = {"q": {"a": 2, "b": 1, "c": 0}}, {"q": {"b": 3, "c": 2, "x": 1}}
    >>> print(fr.explain(qrels, run, "ndcg", query="q"))
    q: 3 judged (grade 0: 1, 1: 1, 2: 1), 2 relevant; 3 retrieved, 2 judged, 1 relevant
    ndcg = 1.0000 / 2.6309 (ideal DCG) = 0.3801
        rank  document      score    grade    gain    discount    adds    ideal
      ------  ----------  -------  -------  ------  ----------  ------  -------
           1  b                 3        1       1      1.0000  1.0000   2.0000
           2  c                 2        0              0.6309  0.0000   0.6309
           3  x                 1                       0.5000  0.0000
      not retrieved: 1 of grade 2
    notes
      unjudged: 1 of 3 results: ndcg would be 0.3801 if it is not relevant, ... if it has grade 2
      not retrieved: 1 relevant document: a (grade 2)

    `against` is {measure: mean}, {query: {measure: value}} as from pytrec_eval, {measure: {query:
    value}}, tuples of ir_measures with query_id, measure and value, or the path of a file with the
    output of trec_eval or one of these dicts as JSON. Options of `evaluate` (ties, missing queries,
    relevance level, depth, ...) and other definitions of the measures (gains, denominators, ideal
    rankings, ...) are tried one by one, then in pairs, and added to the `options`. Values that have
    at most 4 or 5 decimals are compared as rounded; others must agree but for the rounding of sums
    (1e-12). `measures` are those to explain, by default all; or {name in the reference: measure},
    for names that are not those of measures here, such as {"Accuracy@10": "Success@10"}; in a list,
    that is "Accuracy@10=Success@10". `query`, `other` and `texts` are of one query: with
    `against` they raise OptionError.

    Then it raises GroupError if no query is common, MeasureError for unknown measures and for those
    with several values, such as "P" or "official", InputError and FormatError for an invalid
    reference, and what `evaluate` raises.

    >>> qrels = {"q": {"a": 1, "b": 3}}
    >>> run = {"q": {"a": 2.0, "b": 2.0, "c": 1.0}}
    >>> print(fr.explain(qrels, run, against={"nDCG@10": 0.7098}))
    nDCG@10: theirs 0.7098, ours 1.0000. Reproduced to 4 decimals by ...
    """
    all_options = with_defaults(explain, options)
    if against is not None:
        for name, value in (("query", query), ("other", other), ("texts", texts)):
            if value is not None:
                raise OptionError(name, "no effect with against")
        return explained_against(qrels, run, against, measures, all_options)
    checked = evaluation_options(all_options)
    refuse_expected(checked)
    row_limit = at_least("rows", rows, 1)
    selection = Selection(DEFAULT_MEASURES if measures is None else measures)
    bound, unexplained = explained_measures(selection, checked.trec_eval_version)
    check_options(bound, checked)
    refuse_negative_levels(bound, checked)
    judgments = judgments_of(qrels, checked)
    sources = [run] if other is None else [run, other]
    names = run_names(sources)
    runs = [run_of(source, checked) for source in sources]
    plan, chosen = Plan(judgments, bound, checked), ""
    if query is None:
        if other is None:
            raise OptionError("query", "name a query, or a second run (other) to find one")
        query, chosen = _most_different(plan, runs)
    query = check_query(query, judgments, runs)
    explanations = []
    for ranked, name in zip(runs, names, strict=True):
        judged = JudgedQuery(query, plan, ranked, name)
        parts = parts_of(judged, bound)
        explanations.append(
            Explanation(
                query=query,
                run=judged.name,
                header=_header(judged),
                measures=parts,
                notes=notes_of(judged, bound, parts, unexplained),
                grades=judged.grades,
                titles=_titles(texts, judged),
                rows=row_limit,
            )
        )
    first, second = explanations[0], explanations[1] if other is not None else None
    titles = ({} if second is None else second.titles) | first.titles
    return first.changed(chosen=chosen, titles=titles, other=second)


def _most_different(plan: Plan, runs: Sequence[Run]) -> tuple[str, str]:
    """The query on which two runs differ most in the first measure, and why it was chosen."""
    measures = plan.measures
    requested = (
        (position, decoded(name), bound)
        for bound in measures
        for position, name in zip(_positions(bound, measures), bound.names, strict=True)
    )
    _, name, bound = min(requested, key=lambda item: item[0])
    values = []
    plan = plan.changed(measures=[bound])
    for run in runs:
        scores = scores_of(plan, match(plan, run))
        values.append(dict(zip(scores.queries, scores.lists()[name], strict=True)))
    a, b = values
    differences = {query: abs(b[query] - a[query]) for query in a if query in b}
    query = max(differences, key=differences.__getitem__, default=None)
    if query is None or not differences[query]:
        common = counted(len(differences), "common query", "common queries")
        raise GroupError(f"the runs do not differ in {name} on {common}; name a query")
    return query, (
        f"query {query} differs most in {name}, of {len(differences):,}: {number(a[query])} (a)"
        f" and {number(b[query])} (b)"
    )


def _positions(bound: BoundMeasure, measures: Sequence[BoundMeasure]) -> Sequence[int]:
    """The position at which each value of a measure was asked for; sets come last."""
    return bound.places or [len(measures)] * len(bound.names)


def parts_of(judged: JudgedQuery, measures: Sequence[BoundMeasure]) -> dict[str, Part]:
    """Each measure of a query, in the order in which they were asked for."""
    ordered: list[tuple[int, Part]] = []
    for bound in measures:
        positions = _positions(bound, measures)
        values = judged.values(bound) if bound.measure.kernel else []
        for index, name in enumerate(bound.names):
            contributions = judged.contributions(bound, index)
            value = values[index]
            if value != contributions.value:
                # The value of a query without a relevant document.
                if judged.options.no_relevant != "one" or value != 1.0:
                    raise FastrankError(
                        f"{decoded(name)}: what the documents add gives {contributions.value!r}"
                        f" instead of {value!r}, which is an error of fastrank"
                    )
                divided_by = "R" if contributions.divisor else contributions.divided_by
                contributions = contributions.changed(adds={}, divisor=0, divided_by=divided_by)
            elif judged.options.no_relevant == "one" and not judged.retrieved:
                # Not R, which gives queries with results 1.
                contributions = contributions.changed(divisor=0, divided_by="the number of results")
            part = Part(
                name=decoded(name),
                value=value,
                parts=contributions,
                documents=judged.shown(bound),
                level=judged.level(bound),
            )
            ordered.append((positions[index], part))
    return {part.name: part for _, part in sorted(ordered, key=lambda item: item[0])}


def _header(judged: JudgedQuery) -> str:
    """`q0004: 166 judged (grade 0: 5, 1: 150), 161 relevant; 100 retrieved, 86 judged, ...`."""
    grades, level = judged.grades, judged.options.relevance_level
    values = list(grades.values())
    counts = ", ".join(f"{grade:g}: {values.count(grade)}" for grade in sorted(set(values)))
    relevant = sum(grade >= level for grade in values)
    retrieved_grades = [grades[doc] for doc, _ in judged.docs if doc in grades]
    retrieved = f"{len(judged.docs)} retrieved, {len(retrieved_grades)} judged"
    return (
        f"{judged.query}: {len(grades)} judged (grade {counts}), {relevant} relevant;"
        f" {retrieved}, {sum(grade >= level for grade in retrieved_grades)} relevant"
    )


def _titles(texts: TextsLike | None, judged: JudgedQuery) -> dict[str, str]:
    if texts is None:
        return {}
    docs = {doc for doc, _ in judged.docs}
    find = lookup(texts, "corpus", docs, name="texts", strip=False)
    parts = {doc: find(doc) for doc in docs if doc in find}
    return {doc: title or text for doc, (title, text) in parts.items()}
