"""Evaluate a run for a gate."""

from __future__ import annotations

import math
import os
from importlib import import_module
from typing import NamedTuple

from fastrank.comparing.alignment import systems_of
from fastrank.comparing.compare import has_values
from fastrank.errors import GroupError, MeasureError
from fastrank.evaluation.evaluator import Evaluator
from fastrank.formats.digests import exclusions_digest, file_digest, judgments_digest
from fastrank.formats.inputs import as_qrels, is_file
from fastrank.formats.source import name_of
from fastrank.gating.baseline import Baseline, means_of
from fastrank.gating.checks import SAVED_WITH_TIES
from fastrank.gating.provenance import commit, created
from fastrank.judging.keywords import EVALUATION
from fastrank.measures.selection import Selection
from fastrank.scores.text import other_notes, tie_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.choices import TrecEvalVersion
    from fastrank.data.qrels import Preferences, Qrels
    from fastrank.measures.selection import BoundMeasure, Measures
    from fastrank.scores.scores import Scores


class Judgments(NamedTuple):
    """Judgments and their digest."""

    content: Qrels | Preferences
    digest: str


class Measured(NamedTuple):
    """The values of a run.

    judged: the judged queries. better: which values of each measure are better, "higher" or
    "lower". notes: what a reader must know, except for queries without results and ties. ties: the
    note on them.
    """

    content: Baseline
    judged: set[str]
    better: dict[str, str]
    notes: list[str]
    ties: list[str]
    scores: Scores

    def with_ties(self, order: str) -> Measured:
        """The values with the tied documents of the run in the "worst" or the "best" order."""
        content = self.content
        (system,), _ = systems_of([self.scores.ties.scores(order)], set(content.measures))
        made = {query: list(row) for query, row in content.per_query.items()}
        for name, values in system.values.items():
            place = content.measures.index(name)
            for query, value in zip(system.queries, values.tolist(), strict=True):
                made[query][place] = None if value != value else value
        return self._replace(content=content._replace(per_query=made))


def selected(measures: Measures, version: str) -> list[BoundMeasure]:
    """The measures that a gate can judge.

    Raises MeasureError for those that were asked for by name and have no values per query, or of
    which neither higher nor lower values are better; sets of measures are filtered.
    """
    bound = Selection(measures).bind(
        version, keep=lambda own: has_values(own) and bool(_better(own))
    )
    for own in bound:
        name = os.fsdecode(own.names[0])
        if not has_values(own):
            raise MeasureError(name, f"{name!r}: has no values per query to compare")
        if not _better(own):
            raise MeasureError(
                name,
                f"{name!r}: neither higher nor lower values are better; a gate needs a direction",
            )
    return bound


def _better(bound: BoundMeasure) -> str:
    return bound.measure.better


def measure(
    judgments: Judgments,
    run: Any,
    measures: Measures,
    options: Mapping[str, Any],
    source: Mapping[str, Any] | None = None,
) -> Measured:
    """Evaluate a run. options: all those of `evaluate`, checked. source: what to record of it.

    Raises what `evaluate` raises, and GroupError for infinite values.
    """
    version = options["trec_eval_version"]
    bound = selected(measures, version)
    evaluated: Any = options
    evaluator = Evaluator(judgments.content, measures, **evaluated)
    scores: Any = evaluator.evaluate(run)
    if isinstance(scores, list):
        raise TypeError(f"run: expected one run, found a list of {len(scores)}")
    (system,), explained = systems_of(
        [scores], {os.fsdecode(name) for own in bound for name in own.names}
    )
    names = list(system.values)
    columns = [system.values[name].tolist() for name in names]
    per_query = {
        query: [None if value != value else value for value in row]
        for query, row in zip(system.queries, zip(*columns, strict=True), strict=True)
    }
    _refuse_infinite(names, per_query)
    made = Baseline(
        created=created(),
        # By name: an import statement would break the order of the packages.
        fastrank=import_module("fastrank").__version__,
        compat=version,
        options=recorded(options),
        qrels={
            "name": os.path.basename(judgments.content.source),
            "digest": judgments.digest,
            "queries": len(judgments.content),
        },
        run={
            "name": os.path.basename(name_of(run)) if is_file(run) else None,
            "sha256": file_digest(run),
            "tag": scores.tag,
            "missing": scores.missing_queries,
        },
        source=commit() | dict(source or {}),
        measures=names,
        mean=means_of(names, per_query),
        counts=dict(scores.counts),
        per_query=per_query,
    )
    _refuse_empty(made)
    judged = {os.fsdecode(query) for query in scores.coverage.judged}
    return Measured(
        made, judged, system.better, [*other_notes(scores), *explained],
        tie_notes(scores, option=SAVED_WITH_TIES), scores,
    )  # fmt: skip


def recorded(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an evaluation as a baseline records them."""
    found = {one.name: options[one.name] for one in EVALUATION if one.name != "trec_eval_version"}
    return found | {"exclude": exclusions_digest(found["exclude"])}


def judgments_of(qrels: Any, version: TrecEvalVersion) -> Judgments:
    """The judgments in anything that `evaluate` takes."""
    content = as_qrels(qrels, trec_eval_version=version)
    return Judgments(content, judgments_digest(content))


def _refuse_infinite(names: list[str], per_query: dict[str, list[float | None]]) -> None:
    for query, values in per_query.items():
        for name, value in zip(names, values, strict=True):
            if value is not None and math.isinf(value):
                raise GroupError(
                    f"{name} of query {query!r} is infinite; a gate needs finite values"
                )


def _refuse_empty(made: Baseline) -> None:
    for name, mean in made.mean.items():
        if mean != mean:
            raise GroupError(f"{name}: no query has a value")
