"""Save a baseline, and judge a run against it."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping

from fastrank.arguments import check_choice, finite
from fastrank.errors import InputError, OptionError
from fastrank.formats import files
from fastrank.formats.inputs import is_file
from fastrank.formats.run_metadata import run_metadata
from fastrank.gating.baseline import Baseline, read_baseline
from fastrank.gating.checks import (
    BASELINE,
    NOW,
    ROUNDING,
    Check,
    check_change,
    check_floor,
    check_unjudged,
)
from fastrank.gating.digests import exclusions_digest
from fastrank.gating.measuring import judgments_of, measure, recorded, selected
from fastrank.gating.paired_runs import compare_with, gain_of
from fastrank.gating.verdict import Verdict
from fastrank.judging.evaluation_options import EVALUATION, EvaluationOptions
from fastrank.keywords import takes, with_defaults
from fastrank.measures.notation import canonical_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.comparing.comparison import Comparison
    from fastrank.formats.files import Source
    from fastrank.gating.measuring import Measured
    from fastrank.measures.selection import Measures

    # {measure: number}; None stands for the other measures.
    Limits = float | Mapping[Any, float]

POLICIES = ("significant", "drop", "non-inferior")
TESTS = ("t", "randomization")
ON_FEW = ("fail", "warn")
MAX_DROP = 0.02


def _with_default(table: tuple[Any, ...], **defaults: Any) -> tuple[Any, ...]:
    """Keywords with other defaults."""
    made = tuple(copy.copy(one) for one in table)
    for one in made:
        one.default = defaults.get(one.name, one.default)
    return made


SAVED = _with_default(EVALUATION, missing="zero")
AS_SAVED = _with_default(EVALUATION, **dict.fromkeys(one.name for one in EVALUATION))


@takes(EvaluationOptions, SAVED)
def save_baseline(
    path: Source,
    qrels: Any,
    run: Any,
    measures: Measures,
    *,
    command: Sequence[str] | None = None,
    ir_metadata: bool = False,
    **options: Unpack[EvaluationOptions],
) -> Baseline:
    """Evaluate a run, and save its values for `gate`.

    path: the file to write, JSON; compressed if its name ends in .gz, .bz2, .xz or .zst.
    qrels, run: as `evaluate` takes them.
    measures: as `evaluate` takes them. Those without values per query, and those of which neither
        higher nor lower values are better, are skipped if a set of measures includes them.
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
    given = with_defaults(save_baseline, options)
    made = new_baseline(qrels, run, measures, given, command, ir_metadata=ir_metadata)
    made.content.write(path)
    return made.content


def new_baseline(
    qrels: Any,
    run: Any,
    measures: Measures,
    options: Mapping[str, Any],
    command: Sequence[str] | None,
    *,
    ir_metadata: bool,
) -> Measured:
    """What `save_baseline` saves, and notes. options: all those of an evaluation."""
    made = _checked(options, SAVED)
    source: dict[str, Any] = {"command": list(command)} if command else {}
    if ir_metadata:
        source["ir_metadata"] = _metadata(run)
    return measure(judgments_of(qrels, made["trec_eval_version"]), run, measures, made, source)


def _metadata(run: Any) -> str:
    found = run_metadata(run) if isinstance(run, (str, os.PathLike)) and run != "-" else None
    if found is None:
        name = files.name_of(run) if is_file(run) else "run"
        raise InputError(name, "no file that begins with the metadata of ir_metadata")
    return found


def _checked(given: Mapping[str, Any], table: tuple[Any, ...]) -> dict[str, Any]:
    return {one.name: one.checked(given[one.name]) for one in table}


@takes(EvaluationOptions, AS_SAVED)
def gate(
    baseline: Source,
    qrels: Any,
    run: Any,
    measures: Measures | None = None,
    *,
    max_drop: Limits = MAX_DROP,
    policy: str = "significant",
    test: str = "t",
    alpha: float = 0.05,
    on_few: str = "fail",
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
    policy: "drop" fails if a mean is worse by more than max_drop. "significant" fails if it is, and
        the drop is significant; if so few queries differ that no drop could be, it is undecided.
        "non-inferior" fails unless the 1 - alpha confidence bound of the change excludes such a
        drop.
    test: the one-sided test of "significant": "t" (paired t-test) or "randomization". Measures are
        not corrected for each other.
    alpha: the significance level, below 0.5.
    on_few: whether the verdict "undecided" is a failure ("fail") or passes ("warn").
    min: {measure: the smallest mean that passes}.
    max_unjudged: the largest share of retrieved documents without a judgment, from 0 to 1.
    allow_other_qrels: accept other judgments, and compare the queries that both have.
    **options: see `EvaluationOptions`; by default as in the baseline, others are an error.

    Judged queries of the baseline that the run lacks count as 0, and `notes` names them.

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
    'map fell by 0.0854 to 0.3493; at most 0.02 is allowed (p < 0.0001)'
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
    limits = _limits("max_drop", max_drop, saved.measures)
    least = {} if min is None else _limits("min", min, saved.measures, {})
    chosen = _options(_checked(with_defaults(gate, options), AS_SAVED), saved, name)
    asked = saved.measures if measures is None else _asked(measures, saved, name)
    judgments = judgments_of(qrels, saved.compat)
    if judgments.digest != saved.qrels["digest"] and not allow_other_qrels:
        raise InputError(
            name, f"saved with other judgments than {judgments.content.source}; save a new"
            " baseline, or allow other qrels to compare the common queries"
        )  # fmt: skip
    measured = measure(judgments, run, asked, chosen)
    comparison, notes = compare_with(saved, measured, name, test=test, alpha=alpha)
    checks = [check_change(comparison, own, policy, limits[own], alpha) for own in saved.measures]
    checks += [_floor(comparison, own, number) for own, number in least.items()]
    if max_unjudged is not None:
        checks.append(_unjudged(saved, measured.content, max_unjudged))
    return Verdict(
        name=name, baseline=saved, current=measured.content, comparison=comparison,
        results=checks, policy=policy, alpha=alpha, on_few=on_few,
        notes=[*measured.notes, *notes, *_old(comparison, limits)],
    )  # fmt: skip


def _limits(
    option: str, given: Limits, measures: list[str], made: dict[str, float] | None = None
) -> dict[str, float]:
    """{measure: limit} by the names of the baseline, for all measures unless `made` is given.

    Raises OptionError for a measure that the baseline lacks, and for limits that are not valid.
    """
    if not isinstance(given, Mapping):
        given = {None: given}
    if made is None:
        made = dict.fromkeys(measures, _limit(option, given.get(None, MAX_DROP)))
    known = {_canonical(own): own for own in measures}
    for asked, limit in given.items():
        if asked is None:
            continue
        found = known.get(_canonical(asked))
        if found is None:
            raise OptionError(
                option, f"{asked!r} is not in the baseline, which has {', '.join(measures)}"
            )
        made[found] = _limit(option, limit)
    return made


def _canonical(name: str) -> tuple[str, ...]:
    """The canonical spelling of a measure; that of a function is its name."""
    return tuple(canonical_names(name)) or (name,)


def _limit(option: str, value: Any) -> float:
    number = finite(option, value)
    if number < 0.0:
        raise OptionError(option, f"expected 0 or more, found {value}")
    return number


def _options(given: dict[str, Any], saved: Baseline, name: str) -> dict[str, Any]:
    """The options of the baseline. Raises InputError if others are given."""
    version = given["trec_eval_version"] or saved.compat
    if version != saved.compat:
        raise InputError(
            name, f"saved with the numbers of trec_eval {saved.compat}, not {version}; save a new"
            " baseline, or choose that version"
        )  # fmt: skip
    before = recorded({one.name: one.default for one in SAVED}) | saved.options
    for one in EVALUATION:
        try:
            if one.name in before and one.name != "exclude":
                one.checked(before[one.name])
        except (OptionError, TypeError) as error:
            raise InputError(name, f"damaged baseline: {error}") from None
    unknown = sorted(before.keys() - given.keys())
    if unknown:
        raise InputError(
            name, f"saved with options that this version of fastrank lacks: {', '.join(unknown)};"
            " upgrade it"
        )  # fmt: skip
    now = {own: before[own] if given[own] is None else given[own] for own in before}
    now["exclude"] = exclusions_digest(given["exclude"])
    different = [
        f"{own} {before[own]!r}, now {now[own]!r}"
        for own in before
        if before[own] != now[own] and own != "exclude"
    ]
    if before["exclude"] != now["exclude"]:
        different.append("other excluded documents")
    if different:
        raise InputError(
            name, f"saved with other options ({'; '.join(different)}); use the same, or save a new"
            " baseline"
        )  # fmt: skip
    return now | {"exclude": given["exclude"], "trec_eval_version": version}


def _asked(measures: Measures, saved: Baseline, name: str) -> Measures:
    """The measures to compute. Raises InputError unless they are those of the baseline."""
    bound = selected(measures, saved.compat)
    names = {os.fsdecode(own) for one in bound for own in one.canonical}
    known = [_canonical(own) for own in saved.measures]
    if names != {one for own in known for one in own}:
        raise InputError(
            name, f"saved with other measures ({', '.join(saved.measures)}); use the same, or save"
            " a new baseline"
        )  # fmt: skip
    # The baseline's spelling, unless a name stands for a function.
    functions = any(one.measure.needs == "custom" for one in bound)
    return measures if functions else saved.measures


def _floor(comparison: Comparison, measure: str, least: float) -> Check:
    if comparison.better(measure) == "lower":
        raise OptionError(
            "min", f"{measure!r}: lower values are better; a smallest mean is no limit"
        )
    mean = comparison.mean[measure]
    return check_floor(measure, mean[BASELINE], mean[NOW], least)


def _unjudged(saved: Baseline, current: Baseline, most: float) -> Check:
    if _limit("max_unjudged", most) > 1.0:
        raise OptionError("max_unjudged", f"expected a share from 0 to 1, found {most}")
    before, now = (_share_unjudged(own.counts) for own in (saved, current))
    if now is None:
        raise OptionError("max_unjudged", "the number of unjudged documents is not known")
    return check_unjudged(before, now, most)


def _share_unjudged(counts: dict[str, int]) -> float | None:
    if "unjudged" not in counts or not counts.get("retrieved"):
        return None
    return counts["unjudged"] / counts["retrieved"]


def _old(comparison: Comparison, limits: dict[str, float]) -> list[str]:
    """Notes on measures that are so much better that the baseline hides a regression."""
    made = []
    for own, limit in limits.items():
        gain = gain_of(comparison, own)
        if gain > limit + ROUNDING:
            where = "below" if comparison.better(own) == "lower" else "above"
            made.append(
                f"the baseline is old: {own} is {gain:.4f} {where} it; save a new one"
                " (`fastrank gate save`)"
            )
    return made
