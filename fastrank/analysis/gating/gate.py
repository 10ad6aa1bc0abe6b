"""Save a baseline, and judge a run against one."""

from __future__ import annotations

import os

from fastrank.analysis.gating.baseline import read_baseline
from fastrank.analysis.gating.checks import (
    MAX_DROP,
    ROUNDING,
    SAVED_WITH_TIES,
    check_change,
    check_floors,
    check_share,
    drop_limits,
)
from fastrank.analysis.gating.measuring import (
    AS_SAVED,
    checked,
    measure,
    measures_of,
    options_of,
    selected,
)
from fastrank.analysis.gating.verdict import Verdict, compare_with, gain_of
from fastrank.common.arguments import check_choice, check_version, finite
from fastrank.common.keywords import takes, with_defaults
from fastrank.common.rendering.numbers import number
from fastrank.core.evaluation.evaluator import plan_of
from fastrank.core.formats.files import files
from fastrank.core.formats.inputs import as_qrels, is_file
from fastrank.core.formats.trec.digests import judgments_digest
from fastrank.core.formats.trec.runs import run_metadata
from fastrank.core.matching.keywords import EVALUATION, EvaluationOptions
from fastrank.core.measures.selection import DEFAULT_MEASURES, reusable
from fastrank.core.scores.text import without_ties
from fastrank.errors import InputError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.gating.baseline import Baseline
    from fastrank.analysis.gating.checks import Limits
    from fastrank.analysis.gating.measuring import Measured
    from fastrank.common.choices import GateTest, OnFew, Policy
    from fastrank.core.formats.files.files import Source
    from fastrank.core.formats.inputs import QrelsLike, RunLike
    from fastrank.core.measures.selection import Measures


@takes(EvaluationOptions, EVALUATION)
def save_baseline(
    path: Source,
    qrels: QrelsLike,
    run: RunLike,
    measures: Measures = DEFAULT_MEASURES,
    *,
    command: Sequence[str] | None = None,
    ir_metadata: bool = False,
    **options: Unpack[EvaluationOptions],
) -> Baseline:
    """Evaluate a run, and save its values for `gate`.

    path: the file to write, JSON; compressed if its name ends in .gz, .bz2, .xz or .zst.
    qrels, run: as `evaluate` takes them.
    measures: as `evaluate` takes them. Those without values per query, and those without a better
        direction, are skipped if a set of measures includes them.
    command: recorded in the file.
    ir_metadata: copy the `run_metadata` of the run, which must be a file.
    **options: see `EvaluationOptions`.

    The same inputs give the same bytes at the same commit if SOURCE_DATE_EPOCH is set.

    Raises what `evaluate` raises; MeasureError for a measure that a gate cannot judge; GroupError
    for infinite values; InputError for a run without metadata; OSError if the file cannot be
    written.

    >>> import io
    >>> saved = fr.save_baseline(io.BytesIO(), "data/digits.qrels", "data/pixels.run", "map P.10")
    >>> saved.mean
    {'map': 0.43476959975458557, 'P_10': 0.9510...}
    """
    all_options = with_defaults(save_baseline, options)
    measured = new_baseline(qrels, run, measures, command, ir_metadata=ir_metadata, **all_options)
    measured.content.write(path)
    return measured.content


def new_baseline(
    qrels: QrelsLike,
    run: RunLike,
    measures: Measures,
    command: Sequence[str] | None,
    *,
    ir_metadata: bool,
    **options: object,
) -> Measured:
    """The baseline that `save_baseline` saves, and notes. options: all those of an evaluation."""
    all_options = checked(options, EVALUATION)
    source: dict[str, object] = {"command": list(command)} if command else {}
    if ir_metadata:
        source["ir_metadata"] = _metadata(run)
    version = all_options["trec_eval_version"]
    measures = reusable(measures)
    selected(measures, version)
    judgments = as_qrels(qrels, trec_eval_version=version)
    plan = plan_of(judgments, measures, all_options)
    return measure(plan, run, all_options, judgments_digest(judgments), source)


def _metadata(run: Any) -> str:
    metadata = run_metadata(run) if isinstance(run, (str, os.PathLike)) and run != "-" else None
    if metadata is None:
        name = files.name_of(run) if is_file(run) else "run"
        raise InputError(name, "no file that begins with the metadata of ir_metadata")
    return metadata


POLICIES = ("significant", "drop", "non-inferior")
TESTS = ("t", "randomization")
ON_FEW = ("fail", "warn")


@takes(EvaluationOptions, AS_SAVED)
def gate(
    baseline: Source,
    qrels: QrelsLike,
    run: RunLike,
    measures: Measures | None = None,
    *,
    max_drop: Limits = MAX_DROP,
    policy: Policy = "significant",
    test: GateTest = "t",
    alpha: float = 0.05,
    on_few: OnFew = "fail",
    min: Mapping[str, float] | None = None,
    max_unjudged: float | None = None,
    allow_other_qrels: bool = False,
    **options: Unpack[EvaluationOptions],
) -> Verdict:
    """Judge a run against a baseline that `save_baseline` wrote.

    baseline: a path or a binary file. qrels, run: as `evaluate` takes them.
    measures: needed only for measures that are functions; any others than those of the baseline
        are an error.
    max_drop: how much each mean may be worse, or {measure: number}, where None is the key for the
        other measures.
    policy: when the gate fails. "drop" fails if a mean is worse by more than max_drop.
        "significant" fails if it is, and the drop is significant; if so few queries differ that no
        drop could be, it is undecided. "non-inferior" fails unless the 1 - alpha confidence bound
        of the change excludes such a drop.
    test: the one-sided test of "significant". "t" (paired t-test) or "randomization".
    alpha: the significance level, below 0.5. Of each measure, without a correction for several.
    on_few: what the verdict "undecided" does. It is a failure ("fail") or passes ("warn").
    min: {measure: the smallest mean that passes}.
    max_unjudged: the largest share of results without a judgment, from 0 to 1.
    allow_other_qrels: accept other judgments. The queries that both have are compared.
    **options: see `EvaluationOptions`; by default as in the baseline, others are an error.

    If the run lacks queries of the baseline, a check fails, and the others are compared; if the
    baseline was saved with missing="zero", they count as 0, and `notes` names them.

    Raises what `evaluate` raises; InputError for a file that is not a baseline, is damaged or was
    made with other judgments, measures, options or another version; OptionError for invalid
    limits.

    >>> import io
    >>> file = io.BytesIO()
    >>> saved = fr.save_baseline(file, "data/digits.qrels", "data/pixels.run", "map P.10")
    >>> verdict = fr.gate(io.BytesIO(file.getvalue()), "data/digits.qrels", "data/pca.run")
    >>> verdict.status, verdict.passed
    ('fail', False)
    >>> verdict.reasons[0]
    'map fell by 0.0854 to 0.3493; at most 0.02 is allowed (p = 3.9e-21)'
    """
    check_choice("policy", policy, POLICIES)
    check_choice("test", test, TESTS)
    check_choice("on_few", on_few, ON_FEW)
    if not 0.0 < finite("alpha", alpha) < 0.5:
        raise OptionError("alpha", f"expected a number between 0 and 0.5, found {alpha}")
    if policy == "non-inferior" and test != "t":
        raise OptionError("test", f"policy='non-inferior' uses the interval of 't'; omit {test!r}")
    name = files.name_of(baseline)
    saved = read_baseline(baseline)
    limits = drop_limits(max_drop, saved.measures)
    chosen = options_of(checked(with_defaults(gate, options), AS_SAVED), saved, name)
    asked = saved.measures if measures is None else measures_of(measures, saved, name)
    judgments = as_qrels(qrels, trec_eval_version=check_version(saved.compat))
    digest = judgments_digest(judgments)
    if digest != saved.qrels["digest"] and not allow_other_qrels:
        raise InputError(
            name,
            f"saved with other judgments than {judgments.source}; save a new"
            " baseline, or allow other qrels to compare the common queries",
        )
    selected(asked, saved.compat)
    measured = measure(plan_of(judgments, asked, chosen), run, chosen, digest)

    def judged(values: Measured) -> Verdict:
        comparison, notes, checks = compare_with(saved, values, name, test=test, alpha=alpha)
        checks += [
            check_change(comparison, measure_name, policy, limits[measure_name], alpha)
            for measure_name in saved.measures
        ]
        checks += check_floors(comparison, min or {})
        if max_unjudged is not None:
            checks.append(check_share(saved, values.content, max_unjudged))
        return Verdict(
            name=name,
            baseline=saved,
            current=values.content,
            comparison=comparison,
            results=checks,
            policy=policy,
            alpha=alpha,
            on_few=on_few,
            notes=[*measured.notes, *measured.ties, *notes, *_old(comparison, limits)],
        )

    verdict = judged(measured)
    if measured.ties:
        worst, best = (judged(measured.with_ties(order)).status for order in ("worst", "best"))
        if not worst == verdict.status == best:
            remedy = without_ties(measured.scores.ties, SAVED_WITH_TIES)
            verdict.notes.append(
                f"the verdict depends on tied scores: {worst} with tied documents in the worst"
                f" order, {best} in the best; {remedy}"
            )
    return verdict


def _old(comparison: Comparison, limits: dict[str, float]) -> list[str]:
    """Notes on measures that are so much better that the baseline hides a regression."""
    notes = []
    for measure_name, limit in limits.items():
        gain = gain_of(comparison, measure_name)
        if gain > limit + ROUNDING:
            where = "below" if comparison.better(measure_name) == "lower" else "above"
            notes.append(
                f"the baseline is old: {measure_name} is {number(gain)} {where} it; save a new one"
                " (`fastrank gate save`)"
            )
    return notes
