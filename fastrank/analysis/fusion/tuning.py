"""Tune the options of fusion by cross-validation."""

from __future__ import annotations

import math
import os
from itertools import compress
from typing import NamedTuple

import numpy as np

from fastrank.analysis.comparing.compare import has_values
from fastrank.analysis.fusion.fuse import SOURCE, fuse_runs
from fastrank.analysis.fusion.grids import grid_points
from fastrank.analysis.fusion.inputs import missing_queries, named_runs, union_of
from fastrank.analysis.fusion.methods import find_method
from fastrank.analysis.fusion.options import FUSION, FusionOptions, settings_for
from fastrank.common.arguments import at_least, check_version
from fastrank.common.keywords import takes, with_defaults
from fastrank.common.messages import counted, first_few, python_warning, visible
from fastrank.common.parallel import in_order
from fastrank.common.rendering.document import Document, Paragraph
from fastrank.common.rendering.numbers import number
from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.evaluator import Evaluator
from fastrank.core.evaluation.unshared_ids import no_queries_error
from fastrank.core.formats.inputs import as_qrels
from fastrank.core.formats.tables.to_run import run_from_dict
from fastrank.core.measures.selection import Selection
from fastrank.core.native import kernels
from fastrank.core.native.buffers import zeros
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, grid_of
from fastrank.core.scores.text import gap_notes, lacks, tie_notes, treated
from fastrank.errors import MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    from fastrank.analysis.fusion.grids import Point
    from fastrank.analysis.fusion.inputs import NamedRun
    from fastrank.common.arrays import Floats
    from fastrank.common.choices import FusionMethod
    from fastrank.common.messages import Warn
    from fastrank.common.parallel import Workers
    from fastrank.core.formats.inputs import QrelsLike, RunsLike
    from fastrank.core.formats.run import Run
    from fastrank.core.measures.selection import Measures

# Means are compared after rounding, so that the order of additions decides nothing.
DECIMALS = 12
# How many measures an error names.
MAX_LISTED = 3


class FusionTuning(Result, Frozen):
    """The result of `tune_fusion`.

    method, measure: what was tuned, and by which measure. params: the best options on all queries.
    options: these and all others that were given: `fr.fuse(runs, **tuning.options)`. held_out_mean:
    the mean over all queries, each fused with the options that are best on the other folds; this is
    an estimate for new queries. tuned_mean: the mean with `params` on the queries that chose them,
    which is too high as an estimate. per_fold: a table with the number of queries of each fold, the
    best options on the others, and the means on the others and on the fold. grid: a table with all
    options that were tried, and their means on all queries. run: the judged queries, each fused
    with the options that are best on the other folds.

    >>> tuning = fr.tune_fusion("data/digits.qrels", ["data/pca.run", "data/profile.run"], "map")
    >>> tuning
    <FusionTuning of convex: map 0.4478 on held-out queries; weights [0.4, 0.6]>
    """

    made_by = "fastrank.tune_fusion"

    method: str
    measure: str
    params: dict[str, Any]
    options: dict[str, Any]
    held_out_mean: float
    tuned_mean: float
    per_fold: Table
    grid: Table
    run: Run

    def table(self) -> Table:
        """The table `per_fold`."""
        return self.per_fold

    def _document(self) -> Document:
        return Document([Paragraph(self._title()), grid_of(self.per_fold)])

    def _content(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in sorted(self.field_names - {"run"})}

    def __repr__(self) -> str:
        params = ", ".join(f"{visible(name)} {value}" for name, value in self.params.items())
        return (
            f"<FusionTuning of {self.method}: {self.measure} {number(self.held_out_mean)} on"
            f" held-out queries; {params}>"
        )


@takes(FusionOptions, FUSION)
def tune_fusion(
    qrels: QrelsLike,
    runs: RunsLike,
    measure: Measures,
    method: FusionMethod = "convex",
    *,
    grid: Mapping[str, Iterable[object] | int] | Iterable[Mapping[str, object]] | None = None,
    folds: int = 5,
    seed: int = 0,
    executor: Workers | None = None,
    warn: Warn = python_warning,
    **options: Unpack[FusionOptions],
) -> FusionTuning:
    """Find the best options of a fusion, and estimate by cross-validation how good it is.

    The judged queries are divided into folds at random. For each fold, the options with the best
    mean on the other folds are used; the mean over all queries is `held_out_mean`. `params` are the
    best options on all queries. Of options with equal means, the first in the grid are the best.
    Judged queries that all runs lack are left out.

    qrels: the judgments, as `evaluate` takes them.
    runs, method, warn: as in `fuse`.
    measure: the name of a measure with values per query, as `evaluate` takes it.
    grid: the values to try: {option: values}, for all combinations; or a list of {option: value}.
        An integer n for "weights" means all weights that are multiples of 1 / n and add up to 1.
        The default is {"weights": 10} for methods with weights and no other parameter; rrf_k from
        10 to 100 for "rrf", p from 0.5 to 0.99 for "rbc", gamma from 0 to 2 for "gmnz", and sigma
        from 0.01 to 1 for "logn_isr".
    folds: the number of folds, at least 2.
    seed: the seed of the folds, 0 or more. Nothing else but the ids of the judged queries with
        results decides them.
    executor: computes the points of the grid; see docs/scale-out.md for the kinds. By default they
        are computed in turn.
    **options: see `FusionOptions`; for all points of the grid.

    Raises what `fuse` and `evaluate` raise; MeasureError unless there is one measure, with values
    per query; OptionError for an option that is also in the grid, and for too many folds.

    >>> runs = {"pca": "data/pca.run", "profile": "data/profile.run"}
    >>> tuning = fr.tune_fusion("data/digits.qrels", runs, "map", "rrf", grid={"rrf_k": [1, 60]})
    >>> tuning.params
    {'rrf_k': 60}
    >>> fr.evaluate("data/digits.qrels", tuning.run, "map").mean["map"] == tuning.held_out_mean
    True
    """
    all_options: Any = with_defaults(tune_fusion, options)
    version = check_version(all_options["trec_eval_version"])
    find_method(method)
    at_least("folds", folds, 2)
    at_least("seed", seed, 0)
    higher = _check_measure(measure, version)
    loaded = named_runs(runs, version)
    points = _checked(grid_points(method, grid, len(loaded)), method, all_options, len(loaded))
    judgments = as_qrels(qrels, trec_eval_version=version)
    every, judged_queries = union_of(loaded), set(judgments.queries)
    queries = [query for query in every if query in judged_queries]
    if not queries:
        raise no_queries_error(judgments.queries, every)
    for note in missing_queries(loaded, queries):
        warn(note)
    lost = [decoded(query) for query in sorted(judged_queries - set(queries))]
    if lost:
        judged = counted(len(judged_queries), "judged query", "judged queries")
        warn(f"{lacks('the fused run', lost, judged)}; {treated(len(lost), zero=False)}")
    evaluator = Evaluator(judgments, measure, trec_eval_version=version)
    tried = _Tried(evaluator, loaded, queries, method, all_options, executor is not None)
    columns = list(in_order(executor, _measured, points, shared=tried))
    name, judged = columns[0].measure, columns[0].queries
    values = np.stack([column.values for column in columns])
    if folds > len(judged):
        raise OptionError(
            "folds", f"expected at most {len(judged)}, the number of judged queries, found {folds}"
        )
    fold_of = np.array(folds_of(len(judged), folds, seed))
    chosen = [_best(values[:, fold_of != fold], higher) for fold in range(folds)]
    best = _best(values, higher)
    parts = [[*map(os.fsencode, compress(judged, fold_of == fold))] for fold in range(folds)]
    fused = [tried.fuse(points[index], part) for index, part in zip(chosen, parts, strict=True)]
    rankings = {query: ranking for part in fused for query, ranking in part.to_dict().items()}
    run = run_from_dict(
        {query: rankings[query] for query in sorted(rankings, key=os.fsencode)},
        tag=fused[0].tag,
        source=SOURCE,
    )
    held_out = evaluator.evaluate(run)
    for note in gap_notes(held_out) + tie_notes(held_out, "the fused run"):
        warn(note)
    return FusionTuning(
        method=method,
        measure=name,
        params=points[best],
        options={"method": method, **options, **points[best]},
        held_out_mean=held_out.mean[name],
        tuned_mean=columns[best].mean,
        per_fold=_fold_table(points, chosen, values, fold_of),
        grid=_table(points, {name: [column.mean for column in columns]}),
        run=run,
    )


class _Tried(NamedTuple):
    """What all points of a grid have in common."""

    evaluator: Evaluator
    runs: list[NamedRun]
    queries: list[bytes]
    method: str
    options: dict[str, object]
    single: bool

    def fuse(self, point: Point, queries: list[bytes] | None = None) -> Run:
        """The run fused with the options of a point."""
        options = {**self.options, **point}
        if self.single and options["threads"] is None:
            # The executor has other work for the other threads.
            options["threads"] = 1
        settings = settings_for(self.method, options, len(self.runs))
        if queries is None:
            return fuse_runs(self.runs, self.queries, settings)
        every = set(self.queries)
        return fuse_runs(self.runs, [query for query in queries if query in every], settings)


class _Measured(NamedTuple):
    """The mean of a measure for a point of the grid, and the values of the judged queries."""

    measure: str
    mean: float
    queries: list[str]
    values: Floats


def _measured(tried: _Tried, point: Point) -> _Measured:
    """Fuse and evaluate the runs with the options of a point."""
    scores = tried.evaluator.evaluate(tried.fuse(point))
    (name,) = scores.mean
    values = np.asarray(scores[name], np.float64)
    return _Measured(name, scores.mean[name], list(scores.queries), values)


def _checked(
    points: list[Point], method: str, options: Mapping[str, object], runs: int
) -> list[Point]:
    """The points, if all are valid. Raises OptionError and TypeError."""
    names = {keyword.name for keyword in FUSION}
    for point in points:
        for name in point:
            if name not in names:
                raise OptionError("grid", f"{name!r} is not an option of fuse")
            if options[name] is not None and name in ("weights", "normalization", "unretrieved"):
                raise OptionError("grid", f"{name} is given as an option too; omit one of them")
        settings_for(method, {**options, **point}, runs)
    return points


def _check_measure(measure: Measures, version: str) -> bool:
    """Whether higher values are better. Raises MeasureError for another number of measures."""
    measures = Selection(measure).bind(version)
    names = [os.fsdecode(name) for bound in measures for name in bound.names]
    shown = first_few(names, MAX_LISTED)
    if len(names) != 1:
        raise MeasureError(shown, f"expected one measure to tune, found {len(names)}: {shown}")
    if not has_values(measures[0]):
        raise MeasureError(shown, f"{shown} has no values per query, so it cannot be tuned")
    return measures[0].measure.better != "lower"


def _mean(values: Floats) -> float:
    """The mean of the values that are not NaN."""
    present = values[~np.isnan(values)].tolist()
    return math.fsum(present) / len(present) if present else math.nan


def _best(values: Floats, higher: bool) -> int:
    """The first row with the best mean."""
    means = np.round([_mean(row) for row in values], DECIMALS)
    means = np.where(np.isnan(means), -np.inf if higher else np.inf, means)
    return int(means.argmax() if higher else means.argmin())


def _fold_table(
    points: list[Point], chosen: list[int], values: Floats, fold_of: npt.NDArray[np.int64]
) -> Table:
    folds = range(len(chosen))
    table = _table(
        [points[index] for index in chosen],
        {
            "other folds": [_mean(values[index, fold_of != i]) for i, index in enumerate(chosen)],
            "fold": [_mean(values[index, fold_of == i]) for i, index in enumerate(chosen)],
        },
    )
    queries = [int((fold_of == fold).sum()) for fold in folds]
    return Table(columns={"queries": queries, **table.columns})


def _table(points: list[Point], values: dict[str, list[float]]) -> Table:
    """A column for each option, then the values."""
    names = dict.fromkeys(name for point in points for name in point)
    columns = {name: [_shown(point.get(name)) for point in points] for name in names}
    return Table(columns={**columns, **values})


def _shown(value: Any) -> object:
    """The value of an option in a table."""
    if isinstance(value, (str, int, float)):
        return value
    return "" if value is None else " ".join(f"{number:g}" for number in value)


# Which random words draw the folds; others are for resampling (kernels/comparing/resampling.py).
PURPOSE = 4


def folds_of(count: int, folds: int, seed: int) -> list[int]:
    """The fold of each of `count` queries: a shuffle, then every `folds`-th query.

    The shuffle is that of Fisher and Yates, from the last query down.
    """
    halves = zeros("q", 2 * count)
    kernels.random_words(seed, PURPOSE, 0, halves)
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = halves[2 * i] * (i + 1) >> 32
        order[i], order[j] = order[j], order[i]
    numbers = [0] * count
    for position, query in enumerate(order):
        numbers[query] = position % folds
    return numbers
