"""The public functions that compare systems."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import chain

import numpy as np

from fastrank.analysis.comparing.alignment import (
    CHOOSE,
    Aligned,
    align,
    note_missing,
    systems_of,
)
from fastrank.analysis.comparing.analysis import analyze, corrected_together
from fastrank.analysis.comparing.comparison import Comparison
from fastrank.analysis.comparing.inputs import (
    note_renamed,
    system_names,
    systems_from,
)
from fastrank.analysis.comparing.limits import by_note, limits
from fastrank.analysis.comparing.notes import (
    all_exact,
    binary_notes,
    contradictions,
    verdict_notes,
)
from fastrank.analysis.comparing.options import (
    COMPARISON,
    DATASET,
    QUERY,
    ComparisonOptions,
    settings,
)
from fastrank.analysis.comparing.paired import moments
from fastrank.analysis.comparing.pairs import place_of
from fastrank.analysis.comparing.value_forms import are_columns_of
from fastrank.analysis.comparing.value_tables import Values, values_in
from fastrank.common.arguments import DEFAULT_VERSION, check_choice, flag
from fastrank.common.faces import by_face
from fastrank.common.keywords import pick, takes, with_defaults
from fastrank.common.messages import first_few
from fastrank.core.evaluation.evaluate_many import evaluate_runs
from fastrank.core.evaluation.evaluator import plan_of
from fastrank.core.formats.inputs import are_named
from fastrank.core.matching.keywords import EVALUATION, EvaluationOptions
from fastrank.core.measures.selection import DEFAULT_MEASURES, Selection, reusable
from fastrank.core.scores.text import named_notes, other_notes, tie_notes
from fastrank.errors import GroupError, InputError, MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.analysis.comparing.analysis import Analysis
    from fastrank.analysis.comparing.options import Settings, Unit
    from fastrank.common.arrays import Floats, Integers
    from fastrank.common.choices import SameOrCommon
    from fastrank.common.parallel import Workers
    from fastrank.core.formats.inputs import QrelsLike, RunLike, RunsLike
    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.selection import Measures
    from fastrank.core.scores.scores import Scores

# The note on the comparison of a single system.
ALONE = "one system: there is nothing to compare it with"
MOST_PAIRS = 2_000_000


class CompareOptions(ComparisonOptions, EvaluationOptions, total=False):
    """How to compare systems, and how to evaluate their runs."""


@takes(CompareOptions, COMPARISON, EVALUATION)
def compare(
    qrels: QrelsLike,
    runs: RunsLike | RunLike,
    measures: Measures = DEFAULT_MEASURES,
    *,
    executor: Workers | None = None,
    progress: bool | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Evaluate runs, and compare them on the same queries.

    qrels: the judgments, as `evaluate` takes them.
    runs: a list of runs, or {name: run}; each as `evaluate` takes it.
    measures: as `evaluate` takes them. Measures without values per query, such as gm_map, are
        skipped if a set of measures includes them.
    executor, progress: as for a list of runs in `evaluate`.
    **options: see `ComparisonOptions`.

    A judged query that a run lacks is left out for all runs, or, with missing="zero", counts as 0
    for that run; `notes` names such runs and queries. Queries for which a measure has no value
    (NaN) are dropped pair by pair; means are over the queries with values of all runs.

    Raises what `evaluate` raises; OptionError for an invalid or contradictory option; MeasureError
    for a measure without values per query; GroupError if no query is common to all runs, or a value
    is infinite or above 1e100.

    >>> runs = ["data/pixels.run", "data/pca.run", "data/profile.run"]
    >>> found = fr.compare("data/digits.qrels", runs, "map P.10", baseline="pca")
    >>> print(found)
    system       map         diff [95% interval]        p     +/=/-
    --------  ------  --------------------------  -------  --------  --
    pixels    0.4348  +0.0854 [+0.0694, +0.1015]  1.6e-20  157/7/36  ▲
    pca       0.3493
    profile   0.3447  -0.0046 [-0.0214, +0.0122]   0.5880  94/4/102
    <BLANKLINE>
    system      P_10         diff [95% interval]        p     +/=/-
    --------  ------  --------------------------  -------  --------  --
    pixels    0.9510  +0.1460 [+0.1125, +0.1795]  4.6e-15  88/105/7  ▲
    pca       0.8050
    profile   0.8985  +0.0935 [+0.0625, +0.1245]  1.2e-08  78/97/25  ▲
    <BLANKLINE>
    200 queries. diff: difference from pca, with its 95% interval (not corrected). ▲ ▼:
    significantly better, worse (p ≤ 0.05, paired t-test, Holm-corrected for the 2 pairs of a
    measure). +/=/-: queries on which it is better, equal, worse.
    """
    all_options = with_defaults(compare, options)
    chosen = settings(pick(all_options, ComparisonOptions))
    evaluation: Any = pick(all_options, EvaluationOptions)
    items: Any = runs
    keys = None
    if are_named(runs):
        keys, items = list(runs), list(runs.values())
    if not isinstance(items, (list, tuple)):
        items = [items]
    measures = reusable(measures)
    plan = plan_of(qrels, measures, evaluation)
    scores = evaluate_runs(plan, items, keys=keys, executor=executor, progress=progress)
    names = system_names(chosen.names, keys, scores, items)
    return compare_evaluated(scores, names, measures, chosen, evaluation)


def compare_evaluated(
    scores: list[Scores],
    names: list[str],
    measures: Measures,
    chosen: Settings,
    evaluation: Mapping[str, Any],
) -> Comparison:
    """Compare runs that were evaluated with the same judgments, measures and options."""
    version = evaluation.get("trec_eval_version", DEFAULT_VERSION)
    selected = Selection(measures).bind(version, keep=has_values)
    if scores and all(item.queries and len(item.zero_rows) == len(item.queries) for item in scores):
        raise GroupError("compare: no run has results for any judged query")
    systems, notes = systems_of(
        scores, {os.fsdecode(name) for bound in selected for name in bound.names}
    )
    pairwise = not chosen.of_all_systems
    aligned = align(names, systems, common=True, caller="compare", noted=False, pairwise=pairwise)
    missing, tied = _noted(scores, names)
    if any(item.zero_rows for item in scores):
        lower = [name for name, measured in aligned.measures.items() if measured.better == "lower"]
        # Without results, FirstRank and the like have no value (NaN) instead of 0.
        best = [name for name in lower if (aligned.measures[name].values == 0).any()]
        if best:
            missing.append(f"{', '.join(best)}: lower values are better, and missing queries are 0")
    aligned = aligned._replace(notes=[*missing, *aligned.notes, *notes])
    comparison = compare_aligned(aligned, chosen, evaluation)
    comparison.notes.extend(verdict_notes(comparison, [item.ties for item in scores], tied))
    return comparison


def _noted(scores: Sequence[Scores], names: list[str]) -> tuple[list[str], list[bool]]:
    """The notes on runs, but for those of `align`, and whether each has one on ties."""
    tied = [tie_notes(item, name) for name, item in zip(names, scores, strict=True)]
    others = named_notes(names, scores, other_notes)
    notes = [*note_missing(scores, names), *others, *chain.from_iterable(tied)]
    return notes, list(map(bool, tied))


def has_values(bound: BoundMeasure) -> bool:
    """Whether a measure has numbers per query."""
    measure = bound.measure
    return measure.average not in ("", "geometric") and measure.needs not in ("run", "queries")


@takes(ComparisonOptions, COMPARISON)
def compare_scores(
    scores: Any,
    *,
    queries: SameOrCommon = "same",
    columns: Mapping[str, Name] | None = None,
    **options: Unpack[ComparisonOptions],
) -> Comparison:
    """Compare systems by values that are known.

    scores: a list of Scores, {name: Scores}, {name: {query: value}} (the measure is then `value`),
        {name: {query: {measure: value}}}, or a table: a frame of pandas or polars, an Arrow table,
        a list of dicts, a dict of columns, or a file (CSV, TSV, JSON, JSONL, parquet). It has the
        columns `system` (or `run`, `model`), `item` (or `query`, `qid`, `doc_id`), and either
        `measure` and `value` or one column for each measure; or `item` and a column for each
        system; or `system` and a column for each item. {name: table} and a list of files have a
        table for each system. Values are numbers or true and false; a missing one is empty, None or
        NaN.
    queries: "same" requires the same queries for all systems; "common" compares them on those that
        all have, and names the others in `notes`.
    columns: {role: name} of the columns of tables, by default the usual names. Roles are system,
        item, measure, value, dataset and cluster.
    **options: see `ComparisonOptions`. `clusters` may be the name of a column of tables.

    Which values are better follows from the name of a measure; for unknown names, higher values
    are. Raises TypeError for other objects; InputError or FormatError for a value that is not a
    number, a missing column, several data sets, or a query that appears twice, as 1 and "1";
    MeasureError if the measures of the systems differ or have no values per query; GroupError for
    different queries, no common query, or a value that is infinite or above 1e100; OptionError for
    an invalid or contradictory option, or for more than two million pairs.

    >>> a, b = {"q1": 0.3, "q2": 0.5, "q3": 0.8}, {"q1": 0.1, "q2": 0.4, "q3": 0.2}
    >>> found = fr.compare_scores({"a": a, "b": b}, test="randomization")
    >>> found.pair("value", "a", "b").p
    0.25
    """
    check_choice("queries", queries, ("same", "common"))
    options, column = _without_column(options)
    chosen = settings(with_defaults(compare_scores, options), _unit_of(scores))
    given = systems_from(scores, chosen.names, columns, column)
    names, systems, notes, evaluated, *_ = given
    chosen = chosen.changed(unit=given.unit)
    if column is not None:
        chosen = chosen.changed(clusters=given.clusters)
    aligned = align(
        names,
        systems,
        common=queries == "common",
        caller=by_face("compare_scores", "values"),
        pairwise=not chosen.of_all_systems,
        unit=chosen.unit,
    )
    missing, tied = _noted(evaluated, names[: len(evaluated)])
    aligned = aligned._replace(notes=[*missing, *aligned.notes, *notes])
    comparison = compare_aligned(aligned, chosen)
    comparison.notes.extend(verdict_notes(comparison, [item.ties for item in evaluated], tied))
    comparison.notes.extend(binary_notes(comparison))
    return comparison


def _unit_of(scores: object) -> Unit:
    return scores.unit if isinstance(scores, Values) else QUERY


def _without_column(options: ComparisonOptions) -> tuple[ComparisonOptions, str | None]:
    """The options with no clusters yet if these are a column of a table, and its name."""
    column = options.get("clusters")
    return ({**options, "clusters": {}}, column) if isinstance(column, str) else (options, None)


@takes(ComparisonOptions, COMPARISON)
def compare_datasets(
    scores: Any,
    *,
    queries: SameOrCommon = "same",
    columns: Mapping[str, Name] | None = None,
    resample_queries: bool = False,
    **options: Unpack[ComparisonOptions],
) -> Comparison:
    """Compare systems by their means on several data sets: macro averages.

    scores: {data set: scores of systems}, the latter as `compare_scores` takes them, such as
        {system: Scores}; or a table as `compare_scores` takes it that has a column `dataset`. All
        data sets need the same systems and measures.
    columns: as for `compare_scores`.
    queries: within each data set, as for `compare_scores`.
    resample_queries: whether the resamples of intervals and `ranks` draw data sets and then, anew
        for each of them, its queries, instead of data sets only. Needs interval="percentile".
    **options: see `ComparisonOptions`; clusters are of data sets.

    In the result, data sets take the place of queries: `queries` are their names, `values` the
    means on them, and the tests, intervals and `ranks` are about other data sets of the same kind.
    `standings` has the bounds of ranks, the groups that cannot be told apart, and how many data
    sets it takes to tell systems from the first.

    A table without items has one value for each data set, its mean.

    Few data sets can show only large differences, however many queries they have; compare the
    systems on each of them, too. The means of data sets already vary with their queries, so that
    intervals that resample both are on the safe side: a little too wide.

    The mean of a data set is over the queries with values of all systems. Raises TypeError for
    other objects, GroupError if the systems differ or there is no data set, MeasureError if the
    measures differ, and what `compare_scores` raises.

    >>> news = {"a": {"q1": 0.25, "q2": 0.5}, "b": {"q1": 0.25, "q2": 0.25}}
    >>> found = fr.compare_datasets({"news": news, "wiki": {"a": {"q1": 0.75}, "b": {"q1": 0.5}}})
    >>> found.mean
    {'value': {'a': 0.5625, 'b': 0.375}}
    """
    check_choice("queries", queries, ("same", "common"))
    options, column = _without_column(options)
    chosen = settings(with_defaults(compare_datasets, options), _unit_of(scores))
    if flag("resample_queries", resample_queries):
        if chosen.interval != "percentile":
            raise OptionError(
                "resample_queries", f"needs interval='percentile', found {chosen.interval!r}"
            )
        if chosen.clusters is not None:
            raise OptionError("resample_queries", "cannot be combined with clusters of data sets")
    notes = ["each data set counts as one query, with the mean of its queries"]
    unit = QUERY
    is_table = not isinstance(scores, Mapping) or are_columns_of(scores)
    if is_table and (values := values_in(scores, columns, column)) is not None:
        if "" in values.datasets:
            raise InputError(values.source, "expected a column of several data sets, found none")
        scores, unit = values.datasets, values.unit
        notes = [*values.notes, f"values of data sets are means of their {unit.many}"]
        chosen = chosen.changed(unit=DATASET._replace(parts=unit.many))
        if column is not None:
            chosen = chosen.changed(clusters=values.clusters)
    if not isinstance(scores, Mapping):
        raise TypeError(
            f"scores: expected {{data set: scores of systems}}, found {type(scores).__name__}"
        )
    if not scores:
        raise GroupError("compare_datasets: expected at least one data set, found none")
    datasets = {}
    for name, of_systems in scores.items():
        given = systems_from(of_systems, chosen.names, columns)
        aligned = align(
            given.names,
            given.systems,
            common=queries == "common",
            caller=f"{by_face('compare_datasets', 'values')}: data set {str(name)!r}",
            pairwise=False,
            unit=unit,
        )
        missing, _ = _noted(given.evaluated, given.names[: len(given.evaluated)])
        datasets[str(name)] = aligned._replace(notes=[*missing, *given.notes, *aligned.notes])
    _check_the_same(datasets)
    first = next(iter(datasets.values()))
    if resample_queries:
        notes.append(f"intervals and ranks resample data sets, and the {unit.many} of each")
    notes += [f"{name}: {note}" for name, dataset in datasets.items() for note in dataset.notes]
    measures = {}
    for measure, measured in first.measures.items():
        within = [_common(dataset, first.names, measure) for dataset in datasets.values()]
        means = np.stack([moments(rows).mean for rows in within], axis=1)
        measures[measure] = measured._replace(
            values=means, within=within if resample_queries else None
        )
    return compare_aligned(Aligned(first.names, list(datasets), measures, notes), chosen)


def _check_the_same(datasets: dict[str, Aligned]) -> None:
    """Raise GroupError if the systems differ, MeasureError if the measures do."""
    (first_name, first), *others = datasets.items()
    for name, dataset in others:
        both = f"data sets {first_name!r} and {name!r} have different"
        systems = sorted(set(first.names) ^ set(dataset.names))
        if systems:
            caller = by_face("compare_datasets", "values")
            raise GroupError(f"{caller}: {both} systems: only one has {systems[0]!r}")
        measures = sorted(first.measures.keys() ^ dataset.measures.keys())
        if measures:
            reason = f"{both} measures: only one has {measures[0]}{by_face('', CHOOSE)}"
            raise MeasureError(measures[0], reason)


def _common(dataset: Aligned, names: list[str], measure: str) -> Floats:
    """The values of the queries of a data set with values of all systems."""
    values = dataset.measures[measure].values[[dataset.names.index(name) for name in names]]
    return values[:, ~np.isnan(values).any(axis=0)]


def _baselines(chosen: Settings, names: list[str]) -> list[int]:
    """The indexes of the baselines. Raises OptionError for one that is not a system."""
    if chosen.baseline is None:
        return []
    baselines = chosen.baseline
    if isinstance(baselines, str) or not hasattr(baselines, "__iter__"):
        baselines = [baselines]
    indices = []
    for baseline in baselines:
        if isinstance(baseline, (bool, np.bool_)):
            raise OptionError("baseline", f"expected a name or an index, found {baseline}")
        if isinstance(baseline, str):
            indices.append(place_of(baseline, names, "baseline"))
        elif hasattr(baseline, "__index__") and -len(names) <= baseline.__index__() < len(names):
            indices.append(baseline.__index__() % len(names))
        else:
            raise OptionError(
                "baseline", f"expected a name or an index below {len(names)}, found {baseline!r}"
            )
    if len(names) == 1:
        raise OptionError("baseline", f"{names[0]!r} is the only system; compare it with another")
    return list(dict.fromkeys(indices))


def _pairs(count: int, baselines: list[int]) -> tuple[Integers, Integers]:
    """The systems of each pair: all pairs, or each of the others with each baseline."""
    if not baselines:
        firsts, seconds = np.triu_indices(count, 1)
        return firsts.astype(np.int64), seconds.astype(np.int64)
    pairs = [
        (system, baseline)
        for i, baseline in enumerate(baselines)
        for system in range(count)
        if system not in baselines[: i + 1]
    ]
    firsts, seconds = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    return firsts, seconds


def _refuse_too_many(count: int, baselines: list[int]) -> None:
    """Raise OptionError for more pairs than fit into memory."""
    pairs = count * (len(baselines) or (count - 1) // 2)
    if pairs > MOST_PAIRS:
        reason = f"{count:,} systems form {pairs:,} pairs, of which {MOST_PAIRS:,} can be compared"
        raise OptionError("baseline", f"{reason}; name one baseline, or compare fewer systems")


def _clusters(chosen: Settings, queries: list[str]) -> Integers | None:
    """The cluster of each query, numbered in the order of the queries."""
    if chosen.clusters is None:
        return None
    missing = [query for query in queries if query not in chosen.clusters]
    if missing:
        raise GroupError(
            f"clusters: no cluster for {len(missing)} of {len(queries)} {chosen.unit.many}:"
            f" {first_few(missing, 5)}"
        )
    numbers: dict[object, int] = {}
    return np.array(
        [numbers.setdefault(chosen.clusters[query], len(numbers)) for query in queries], np.int64
    )


def compare_aligned(
    aligned: Aligned, chosen: Settings, evaluation: Mapping[str, Any] | None = None
) -> Comparison:
    """Compare systems whose values are aligned. Raises OptionError and GroupError.

    evaluation: the options with which runs were evaluated.
    """
    names, measures = aligned.names, aligned.measures
    for measure, measured in measures.items():
        empty = np.isnan(measured.values).all(axis=1)
        if empty.any():
            name = names[int(np.argmax(empty))]
            reason = f"{name!r} has no value for any {chosen.unit.one}"
            raise GroupError(f"{measure}: {reason}")
    baselines = _baselines(chosen, names)
    _refuse_too_many(len(names), baselines)
    firsts, seconds = _pairs(len(names), baselines)
    clusters = _clusters(chosen, aligned.queries)
    analyses = {
        name: analyze(measured._replace(name=name), firsts, seconds, clusters, chosen)
        for name, measured in measures.items()
    }
    if chosen.family == "all":
        analyses = corrected_together(analyses, chosen.correction)
    notes = dict.fromkeys([*note_renamed(names), *aligned.notes])
    if len(names) == 1:
        notes[ALONE] = None
    if len(firsts):
        # Notes on limits come first.
        notes = dict.fromkeys(limits(analyses, names)) | notes
        notes |= dict.fromkeys(by_note({name: each.general for name, each in analyses.items()}))
        for name, analysis in analyses.items():
            notes |= dict.fromkeys(contradictions(name, names, analysis, chosen))
    return Comparison(
        names=names,
        measures=list(measures),
        queries=aligned.queries,
        baseline=[names[index] for index in baselines],
        test=chosen.test,
        correction=chosen.correction,
        alpha=chosen.alpha,
        interval=chosen.interval,
        level=chosen.level,
        seed=chosen.seed,
        resamples=_resamples(chosen, analyses),
        mean={
            measure: dict(zip(names, analysis.means.mean.tolist(), strict=True))
            for measure, analysis in analyses.items()
        },
        notes=list(notes),
        analyses=analyses,
        settings=chosen,
        evaluation=dict(evaluation or {}),
    )


def _resamples(chosen: Settings, analyses: dict[str, Analysis]) -> int:
    """The number of resamples of the test, else of the intervals; 0 if there are none."""
    flipped = chosen.test == "randomization" and not all_exact(analyses)
    if flipped or chosen.correction == "max-t":
        return chosen.flips
    simulated = chosen.test in ("bootstrap", "tukey") or chosen.interval not in ("t", "none")
    return chosen.draws if simulated else 0
