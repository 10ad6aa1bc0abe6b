"""Find the settings under which we get the values of another tool."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

from fastrank.analysis.explaining.judged_query import judgments_of, run_of
from fastrank.analysis.explaining.reference import (
    NAMED,
    Match,
    MeasureDifference,
    OptionsExplanation,
    decimals,
    is_same,
    read_reference,
)
from fastrank.analysis.explaining.settings import settings, variants
from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.messages import first_few
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.evaluator import Evaluator
from fastrank.core.formats.inputs import is_file
from fastrank.core.matching.keywords import evaluation_options
from fastrank.core.measures.notation import canonical_names
from fastrank.core.measures.over_ties import check_range
from fastrank.core.measures.selection import Selection
from fastrank.errors import FastrankError, GroupError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from fastrank.analysis.explaining.reference import Values
    from fastrank.analysis.explaining.settings import Setting, Variant
    from fastrank.common.choices import TrecEvalVersion
    from fastrank.core.formats.inputs import QrelsLike, RunLike
    from fastrank.core.formats.qrels import Qrels
    from fastrank.core.formats.run import Run
    from fastrank.core.scores.scores import Scores

    Combination = tuple[Setting, ...]

# Depths to try where rankings are longer.
DEPTHS = (10, 100, 1000)
# How many settings are tried together at most.
MOST = 2


def explained_against(
    qrels: QrelsLike,
    run: RunLike,
    reference: object,
    measures: object,
    keywords: Mapping[str, object],
) -> OptionsExplanation:
    """Under which settings the values of another tool are ours, as `explain` returns it.

    reference, measures: its `against` and `measures`. keywords: the options of the evaluation.
    """
    checked = evaluation_options(keywords)
    judgments, ranked = judgments_of(qrels, checked), run_of(run, checked)
    values = _chosen(read_reference(reference, judgments), measures, checked.trec_eval_version)
    relevant = sorted({grade for grade in map(float, judgments.grades) if grade >= 1})
    offsets = ranked.offset_column
    longest = max((offsets[i + 1] - offsets[i] for i in range(len(ranked))), default=0)
    tried = settings(
        grades=[grade for grade in relevant if grade > 1],
        depths=[depth for depth in DEPTHS if depth < longest],
        has_ranks=is_file(run),
    )
    search = _Search(judgments, (run, ranked), keywords, values, relevant)
    for size in range(MOST + 1):
        search.attempt_all(tried, size)
    search.attempt_ranges([setting for setting in tried if "ties" not in setting.options])
    return OptionsExplanation(measures={name: search.result(name) for name in values})


def _chosen(
    values: Values, measures: Any, version: TrecEvalVersion
) -> dict[str, tuple[str, Values]]:
    """{name in the reference: (measure, its values)}. Raises MeasureError for unknown names."""
    if measures is None:
        names = {name: name for name in values}
    elif hasattr(measures, "items"):
        names = dict(measures.items())
    else:
        listed = measures.split() if isinstance(measures, str) else measures
        names = dict(_named(text, values) for text in listed)
    if not names:
        raise MeasureError("", "expected a measure of the reference, found none")
    for name in names:
        if name not in values:
            raise MeasureError(name, f"the reference has no '{name}'; it has {', '.join(values)}")
    return {
        name: (_printed(name, measure, version), {name: values[name]})
        for name, measure in names.items()
    }


def _named(text: str, values: Values) -> tuple[str, str]:
    """(name in the reference, measure) of `name=measure`, of a name, or of another spelling."""
    name, _, measure = text.partition("=")
    if text not in values and name in values:
        return name, measure
    same = canonical_names(text)
    spelled = [
        their_name
        for their_name in values
        if their_name == text or same == canonical_names(their_name) != []
    ]
    return (spelled or [text])[0], text


def _printed(name: str, measure: str, version: TrecEvalVersion) -> str:
    """The name of a measure's only value, as scores have it. Raises MeasureError."""
    try:
        measures = Selection(measure).bind(version)
    except MeasureError as error:
        if name != measure:
            raise
        message = str(error)
        reason = f"{message}{' ' if message.endswith('?') else '. '}Omit it, or give {name}=MEASURE"
        raise MeasureError(name, reason) from None
    names = [decoded(printed) for bound in measures for printed in bound.names]
    if len(names) != 1:
        reason = f"'{measure}' has several values, {first_few(names, NAMED)}; name one of them"
        raise MeasureError(measure, reason)
    return names[0]


def _combinations(tried: Sequence[Setting], size: int) -> Iterator[Combination]:
    """Settings of different options."""
    for chosen in combinations(tried, size):
        names = [name for setting in chosen for name in setting.options]
        if len(set(names)) == len(names):
            yield chosen


class _Search:
    """Evaluates under one combination of settings after another, and keeps those that fit."""

    def __init__(
        self,
        judgments: Qrels,
        runs: tuple[RunLike, Run],
        options: Mapping[str, Any],
        values: Mapping[str, tuple[str, Values]],
        grades: list[float],
    ) -> None:
        self._judgments, self._options, self._values = judgments, dict(options), values
        self._path, self._run = runs
        self._variants: dict[str, list[Variant]] = {
            name: variants(measure, grades) for name, (measure, _) in values.items()
        }
        self._theirs = {name: theirs[name] for name, (_, theirs) in values.items()}
        self._digits = {name: decimals(theirs) for name, theirs in self._theirs.items()}
        self._matches: dict[str, list[tuple[int, Match]]] = {name: [] for name in values}
        self._ranges: dict[str, tuple[Match, float, float]] = {}

    def attempt_all(self, tried: Sequence[Setting], size: int) -> None:
        """Try all combinations of `size` settings for measures that fewer do not reproduce."""
        names = [name for name in self._values if self._cost(name) >= size]
        for chosen in _combinations(tried, size) if names else ():
            self._attempt(chosen, names)

    def _attempt(self, chosen: Combination, names: list[str]) -> None:
        means = self._means(chosen, names)
        for name in names:
            for variant in self._variants[name]:
                scores = means.get(variant.measure)
                if scores is not None and self._fits(name, variant, scores, chosen):
                    cost = len(chosen) + bool(variant.text)
                    self._matches[name].append((cost, _match(chosen, variant)))

    def _means(self, chosen: Combination, names: list[str], **changes: object) -> dict[str, Scores]:
        """The scores of each variant that can be evaluated under these settings."""
        options = {**self._options}
        for setting in chosen:
            options |= setting.options
        measures = dict.fromkeys(
            variant.measure for name in names for variant in self._variants[name]
        )
        by_measure: dict[str, Scores] = {}
        for scores in self._evaluated(list(measures), options | changes):
            by_measure |= dict.fromkeys(scores.mean, scores)
        return by_measure

    def attempt_ranges(self, tried: Sequence[Setting]) -> None:
        """For measures that nothing reproduces, try whether an order of tied documents could."""
        for chosen in [(), *((setting,) for setting in tried)]:
            names = [
                name
                for name, matches in self._matches.items()
                if not matches and name not in self._ranges
            ]
            if not names:
                return
            worst = self._means(chosen, names, ties="worst")
            best = self._means(chosen, names, ties="best")
            for name in names:
                self._attempt_range(name, chosen, worst, best)

    def _attempt_range(
        self, name: str, chosen: Combination, worst: dict[str, Scores], best: dict[str, Scores]
    ) -> None:
        for variant in self._variants[name]:
            if variant.measure not in worst or not _has_range(variant.measure):
                continue
            low, high = (
                self._ours(variant.measure, scores[variant.measure], chosen)
                for scores in (worst, best)
            )
            if low != high and self._is_between(name, low, high):
                self._ranges[name] = (_match(chosen, variant), low[None], high[None])
                return

    def _is_between(
        self, name: str, low: dict[str | None, float], high: dict[str | None, float]
    ) -> bool:
        theirs, slack = self._theirs[name], 10.0 ** -(self._digits[name] or 12)
        queries = {query for query in theirs if query is not None}
        if queries and queries != low.keys() - {None}:
            return False
        return all(
            low[query] - slack <= value <= high[query] + slack for query, value in theirs.items()
        )

    def _cost(self, name: str) -> float:
        """The fewest changes that reproduce a measure."""
        return min((cost for cost, _ in self._matches[name]), default=math.inf)

    def _evaluated(self, measures: list[str], options: Mapping[str, Any]) -> Iterator[Scores]:
        """Scores of the measures, none if the run cannot be evaluated under these options."""
        run = self._path if options["rank_by"] == "rank" else self._run
        try:
            yield Evaluator(self._judgments, measures, **options).evaluate(run)
        except FastrankError as error:
            if len(measures) == 1 or not isinstance(error, MeasureError):
                return
            # Not every measure has a known expected value over the orders of ties.
            for measure in measures:
                yield from self._evaluated([measure], options)

    def _fits(self, name: str, variant: Variant, scores: Scores, chosen: Combination) -> bool:
        """Whether all values of the reference are those of the variant."""
        theirs, digits = self._theirs[name], self._digits[name]
        ours = self._ours(variant.measure, scores, chosen)
        queries = {query for query in theirs if query is not None}
        if queries and queries != ours.keys() - {None}:
            return False
        return all(is_same(value, ours[query], digits) for query, value in theirs.items())

    def _ours(
        self, measure: str, scores: Scores, chosen: Combination = ()
    ) -> dict[str | None, float]:
        """Our values by query, and the mean."""
        ours: dict[str | None, float] = {None: scores.mean[measure]}
        if measure in scores:
            values = scores[measure].tolist()
            ours |= dict(zip(scores.queries, values, strict=True))
            if any(setting.denominator == "run" for setting in chosen) and len(self._run):
                ours[None] = math.fsum(values) / len(self._run)
        return ours

    def result(self, name: str) -> MeasureDifference:
        measure, theirs = self._values[name][0], dict(self._theirs[name])
        scores = Evaluator(self._judgments, measure, **self._options).evaluate(self._run)
        ours = self._ours(next(iter(scores.mean)), scores)
        own_queries = [query for query in ours if query is not None]
        queries = [query for query in theirs if query is not None]
        common = [query for query in own_queries if query in theirs]
        if queries and not common:
            raise GroupError(
                f"the reference and the evaluation share no query: they have {queries[0]!r}, ..."
                f" and {own_queries[0]!r}, ..."
            )
        differing = [
            query for query in common if not is_same(theirs[query], ours[query], self._digits[name])
        ]
        first = None
        if differing:
            first = (differing[0], theirs[differing[0]], ours[differing[0]])
        mean = theirs.get(None)
        if mean is None:
            mean = math.fsum(theirs[query] for query in queries) / len(queries)
        return MeasureDifference(
            measure=name,
            theirs=mean,
            ours=ours[None],
            digits=self._digits[name],
            matches=self._best(name),
            compared=len(common),
            differing=len(differing),
            first=first,
            only_theirs=[query for query in queries if query not in ours],
            only_ours=[query for query in own_queries if query not in theirs] if queries else [],
            tie_range=self._ranges.get(name),
        )

    def _best(self, name: str) -> list[Match]:
        """The matches with the fewest changes, those that explain most measures first."""
        shared = Counter(
            match.settings
            for measure in self._matches
            for cost, match in self._matches[measure]
            if cost == self._cost(measure)
        )
        matches = [match for cost, match in self._matches[name] if cost == self._cost(name)]
        return sorted(matches, key=lambda match: -shared[match.settings])


def _has_range(measure: str) -> bool:
    """Whether a measure can only increase when a higher grade moves up."""
    try:
        check_range(Selection(measure).bind(DEFAULT_VERSION))
    except MeasureError:
        return False
    return True


def _match(chosen: Combination, variant: Variant) -> Match:
    options: dict[str, object] = {}
    for setting in chosen:
        options |= setting.options
    texts = [setting.text for setting in chosen] + [variant.text] * bool(variant.text)
    tools = [setting.tools for setting in chosen] + [variant.tools] * bool(variant.text)
    return Match(
        settings=tuple(texts), options=options, measure=variant.measure, tools=tuple(tools)
    )
