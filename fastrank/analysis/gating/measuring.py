"""Evaluate a run for a gate: its measures, its options, and where it comes from."""

from __future__ import annotations

import copy
import math
import os
import subprocess
from datetime import datetime, timezone
from importlib import import_module
from typing import NamedTuple

from fastrank.analysis.comparing.alignment import systems_of
from fastrank.analysis.comparing.compare import has_values
from fastrank.analysis.gating.baseline import Baseline, means_of
from fastrank.analysis.gating.checks import SAVED_WITH_TIES, canonical
from fastrank.core.evaluation.evaluator import scores_of_runs
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.inputs import is_file
from fastrank.core.formats.trec.digests import exclusions_digest, file_digest
from fastrank.core.matching.keywords import EVALUATION
from fastrank.core.measures.selection import Selection
from fastrank.core.scores.text import other_notes, tie_notes
from fastrank.errors import GroupError, InputError, MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.common.keywords import Keyword
    from fastrank.core.matching.plan import Plan
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.selection import Measures
    from fastrank.core.scores.scores import Scores

# How many seconds to wait for git before it counts as missing.
PATIENCE = 10


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
        per_query = {query: list(row) for query, row in content.per_query.items()}
        for name, values in system.values.items():
            column = content.measures.index(name)
            for query, value in zip(system.queries, values.tolist(), strict=True):
                per_query[query][column] = None if value != value else value
        return self._replace(content=content._replace(per_query=per_query))


def selected(measures: Measures, version: str) -> list[BoundMeasure]:
    """The measures that a gate can judge.

    Raises MeasureError for those that were asked for by name and have no values per query, or no
    better direction; sets of measures are filtered.
    """
    chosen = Selection(measures).bind(version, keep=_is_judged)
    for bound in chosen:
        name = os.fsdecode(bound.names[0])
        if not has_values(bound):
            raise MeasureError(name, f"{name} has no values per query")
        if not bound.measure.better:
            raise MeasureError(
                name,
                f"{name!r}: neither higher nor lower values are better; a gate needs a direction",
            )
    return chosen


def _is_judged(bound: BoundMeasure) -> bool:
    return has_values(bound) and bool(bound.measure.better)


def measure(
    plan: Plan,
    run: Any,
    options: Mapping[str, Any],
    digest: str,
    source: Mapping[str, object] | None = None,
) -> Measured:
    """Evaluate a run with measures that `selected` accepts.

    options: all those of `evaluate`, checked. digest: of the judgments. source: what to record of
    the run. Raises what `evaluate` raises, and GroupError for infinite values.
    """
    judgments: Any = plan.all_judgments
    scores = scores_of_runs(plan, run)
    if isinstance(scores, list):
        raise TypeError(f"run: expected one run, found a list of {len(scores)}")
    judged_names = {
        os.fsdecode(name) for bound in plan.measures if _is_judged(bound) for name in bound.names
    }
    (system,), explained = systems_of([scores], judged_names)
    names = list(system.values)
    columns = [system.values[name].tolist() for name in names]
    per_query = {
        query: [None if value != value else value for value in row]
        for query, row in zip(system.queries, zip(*columns, strict=True), strict=True)
    }
    _refuse_infinite(names, per_query)
    baseline = Baseline(
        created=created(),
        # Imported by name: an import statement would break the order of the packages.
        fastrank=import_module("fastrank").__version__,
        compat=plan.options.trec_eval_version,
        options=recorded(options),
        qrels={
            "name": os.path.basename(judgments.source),
            "digest": digest,
            "queries": len(judgments),
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
    for name, mean in baseline.mean.items():
        if mean != mean:
            raise GroupError(f"{name}: no query has a value")
    judged = {os.fsdecode(query) for query in scores.coverage.judged}
    return Measured(
        baseline,
        judged,
        system.better,
        [*other_notes(scores), *explained],
        tie_notes(scores, saved=SAVED_WITH_TIES),
        scores,
    )


def recorded(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an evaluation as a baseline records them."""
    values = {
        keyword.name: options[keyword.name]
        for keyword in EVALUATION
        if keyword.name != "trec_eval_version"
    }
    return values | {"exclude": exclusions_digest(values["exclude"])}


def _refuse_infinite(names: list[str], per_query: dict[str, list[float | None]]) -> None:
    for query, values in per_query.items():
        for name, value in zip(names, values, strict=True):
            if value is not None and math.isinf(value):
                raise GroupError(
                    f"{name} of query {query!r} is infinite; a gate needs finite values"
                )


# The options of a gate, where None means that of the baseline.
AS_SAVED = tuple(map(copy.copy, EVALUATION))
for _keyword in AS_SAVED:
    _keyword.default = None


def checked(options: Mapping[str, object], table: tuple[Keyword, ...]) -> dict[str, Any]:
    """The checked options of a table. Raises OptionError and TypeError."""
    return {keyword.name: keyword.checked(options[keyword.name]) for keyword in table}


def options_of(options: dict[str, Any], saved: Baseline, name: str) -> dict[str, Any]:
    """The options of the baseline. Raises InputError if others are given."""
    version = options["trec_eval_version"] or saved.compat
    if version != saved.compat:
        raise InputError(
            name,
            f"saved with the numbers of trec_eval {saved.compat}, not {version}; save a new"
            " baseline, or choose that version",
        )
    before = recorded({keyword.name: keyword.default for keyword in EVALUATION}) | saved.options
    for keyword in EVALUATION:
        try:
            if keyword.name in before and keyword.name != "exclude":
                keyword.checked(before[keyword.name])
        except (OptionError, TypeError) as error:
            raise InputError(name, f"damaged baseline: {error}") from None
    unknown = sorted(before.keys() - options.keys())
    if unknown:
        raise InputError(
            name,
            f"saved with options that this version of fastrank lacks: {', '.join(unknown)};"
            " upgrade it",
        )
    now = {
        option: before[option] if options[option] is None else options[option] for option in before
    }
    now["exclude"] = exclusions_digest(options["exclude"])
    different = [
        f"{option} {before[option]!r}, now {now[option]!r}"
        for option in before
        if before[option] != now[option] and option != "exclude"
    ]
    if before["exclude"] != now["exclude"]:
        different.append("other excluded documents")
    if different:
        raise InputError(
            name,
            f"saved with other options ({'; '.join(different)}); use the same, or save a new"
            " baseline",
        )
    return now | {"exclude": options["exclude"], "trec_eval_version": version}


def measures_of(measures: Measures, saved: Baseline, name: str) -> Measures:
    """The measures to compute. Raises InputError unless they are those of the baseline."""
    chosen = selected(measures, saved.compat)
    names = {os.fsdecode(spelling) for bound in chosen for spelling in bound.canonical}
    saved_spellings = [canonical(text) for text in saved.measures]
    if names != {spelling for spellings in saved_spellings for spelling in spellings}:
        raise InputError(
            name,
            f"saved with other measures ({', '.join(saved.measures)}); use the same, or save"
            " a new baseline",
        )
    # The baseline's spelling, unless a name is that of a function.
    functions = any(bound.measure.needs == "custom" for bound in chosen)
    return measures if functions else saved.measures


def created() -> str:
    """The time in UTC, or that of SOURCE_DATE_EPOCH. Raises OptionError if it is not a number."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        when = datetime.now(timezone.utc)
        if seconds:
            when = datetime.fromtimestamp(int(seconds), timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise OptionError(
            "SOURCE_DATE_EPOCH", f"expected seconds since 1970, found {seconds!r}"
        ) from None
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def commit() -> dict[str, Any]:
    """The commit of the working directory, and whether tracked files differ from it.

    Empty without git, outside a repository, and before the first commit.
    """
    revision = _git("rev-parse", "HEAD")
    if not revision:
        return {}
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return {"commit": revision, "dirty": bool(changes)}


def _git(*arguments: str) -> str:
    """The output of git, "" if it fails."""
    try:
        done = subprocess.run(
            ["git", *arguments], capture_output=True, check=True, timeout=PATIENCE
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return os.fsdecode(done.stdout).strip()
