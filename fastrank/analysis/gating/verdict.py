"""The result of a gate, from the comparison of a run with its baseline on the same queries."""

from __future__ import annotations

import os

import numpy as np

from fastrank.analysis.comparing.alignment import Aligned
from fastrank.analysis.comparing.alignment import Measured as Values
from fastrank.analysis.comparing.compare import compare_aligned
from fastrank.analysis.comparing.limits import IMPOSSIBLE
from fastrank.analysis.comparing.options import COMPARISON, settings
from fastrank.analysis.gating import shown
from fastrank.analysis.gating.checks import (
    BASELINE,
    NOW,
    OF_BASELINE,
    SAVED_WITH_ZERO,
    Check,
    check_lost,
)
from fastrank.common.messages import counted
from fastrank.core.data.columns import Frozen
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, table_of_rows
from fastrank.core.scores.text import first_ids, lacks, missing_note, treated
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.gating.baseline import Baseline
    from fastrank.analysis.gating.measuring import Measured
    from fastrank.common.rendering.document import Document


def compare_with(
    saved: Baseline, measured: Measured, name: str, *, test: str, alpha: float
) -> tuple[Comparison, list[str], list[Check]]:
    """Compare on the queries of the baseline that are judged now.

    Also returns notes on the others, and a failed check if queries of the baseline are left out
    because the run lacks them. name: of the file. Intervals have the level 1 - 2 * alpha, so that
    each bound is one-sided. Raises InputError if there is no such query, and where a measure has
    only one of two values.
    """
    current = measured.content
    if set(current.measures) != set(saved.measures):
        raise InputError(name, f"saved with other measures ({', '.join(saved.measures)})")
    queries = sorted(saved.per_query.keys() & measured.judged, key=os.fsencode)
    if not queries:
        raise InputError(name, "has no query that is judged now; save a new baseline")
    missing = set(current.run["missing"])
    lost = [query for query in queries if query in missing - set(saved.run["missing"])]
    zero, every = current.options["missing"] == "zero", len(queries)
    if lost and zero:
        _refuse_lower(measured, lost)
    elif lost:
        queries = [query for query in queries if query not in missing]
        if not queries:
            raise InputError("the run", "has no results for the queries of the baseline")
    aligned = Aligned([NOW, BASELINE], queries, {}, [])
    for measure in saved.measures:
        now, before = current.measures.index(measure), saved.measures.index(measure)
        values = np.array(
            [
                [_value(current.per_query, query, now) for query in queries],
                [_value(saved.per_query, query, before) for query in queries],
            ]
        )
        _refuse_gaps(values, measure, queries, name)
        aligned.measures[measure] = Values(values, measured.better[measure])
    chosen = {keyword.name: keyword.default for keyword in COMPARISON} | {
        "baseline": BASELINE,
        "test": test,
        "correction": "none",
        "alpha": alpha,
        "level": 1 - 2 * alpha,
    }
    comparison = compare_aligned(aligned, settings(chosen))
    # A gate has policies of its own for a run that is equal, and for few queries.
    known = [note for note in comparison.notes if IMPOSSIBLE not in note]
    notes, checks = missing_note(measured.scores, zero=SAVED_WITH_ZERO) if not lost else [], []
    if lost and zero:
        text = lacks("the run", lost, counted(every, *OF_BASELINE))
        notes.append(f"{text}; {treated(len(lost), zero=True)}")
    elif lost:
        checks.append(check_lost(every, lost))
    notes += _others(saved, current, {*queries, *lost}) + known
    return comparison, notes, checks


def _value(per_query: dict[str, list[float | None]], query: str, column: int) -> float:
    """A value, NaN for a missing one; 0 for a query without results."""
    values = per_query.get(query)
    if values is None:
        return 0.0
    value = values[column]
    return np.nan if value is None else value


def _refuse_lower(measured: Measured, lost: list[str]) -> None:
    lower = [measure for measure, better in measured.better.items() if better == "lower"]
    if lower:
        raise InputError(
            "the run",
            f"no results for {counted(len(lost), 'query', 'queries')} of the baseline"
            f" ({first_ids(lost)}), which cannot count as 0 in {', '.join(lower)}, where lower is"
            " better; add the results",
        )


def _refuse_gaps(values: np.ndarray, measure: str, queries: list[str], name: str) -> None:
    gaps = np.isnan(values)
    different = [queries[row] for row in np.flatnonzero(gaps[0] != gaps[1])]
    if different:
        raise InputError(
            name,
            f"{measure} cannot be compared: for"
            f" {counted(len(different), 'query', 'queries')} ({first_ids(different)}), only one of"
            " the baseline and the run has a value",
        )


def _others(saved: Baseline, current: Baseline, queries: set[str]) -> list[str]:
    """Notes on queries that only the baseline or only the run has, which are not compared."""
    notes = []
    for only, where in (
        (saved.per_query.keys() - queries, "only in the baseline"),
        (current.per_query.keys() - queries, "not in the baseline"),
    ):
        if only:
            unshared = sorted(only, key=os.fsencode)
            notes.append(
                f"compared on {counted(len(queries), 'query', 'queries')}; {len(unshared)}"
                f" {'is' if len(unshared) == 1 else 'are'} {where} ({first_ids(unshared)})"
            )
    return notes


def gain_of(comparison: Comparison, measure: str) -> float:
    """How much better the mean is than in the baseline."""
    difference: float = comparison.pair(measure, NOW, BASELINE).difference
    return -difference if comparison.better(measure) == "lower" else difference


class Verdict(Result, Frozen):
    """Whether a run passes a gate, and why.

    comparison: of the systems `now` and `baseline`. notes: what else a reader must know.
    baseline: what was saved; current: the same of this run, which `current.write(path)` saves.
    policy, alpha, on_few: as given. name: of the baseline's file. results: as in `checks`.

    >>> import io
    >>> file = io.BytesIO()
    >>> saved = fr.save_baseline(file, "data/digits.qrels", "data/pixels.run", "map P.10")
    >>> verdict = fr.gate(io.BytesIO(file.getvalue()), "data/digits.qrels", "data/pixels.run")
    >>> verdict
    <Verdict: pass, 2 checks>
    >>> check = verdict.results[0]
    >>> check.change, check.result
    (0.0, 'pass')
    >>> print(str(verdict).splitlines()[-1])
    gate passed (200 queries, policy significant, one-sided paired t-test, alpha = 0.05)
    """

    alpha: float
    baseline: Baseline
    comparison: Comparison
    current: Baseline
    name: str
    notes: list[str]
    on_few: str
    policy: str
    results: list[Check]

    @property
    def status(self) -> str:
        """The worst result of all checks: "pass", "undecided" or "fail"."""
        results = {check.result for check in self.results}
        return next((result for result in ("fail", "undecided") if result in results), "pass")

    @property
    def passed(self) -> bool:
        """Whether no check failed; "undecided" counts as passed with on_few="warn"."""
        return self.status == "pass" or (self.status == "undecided" and self.on_few == "warn")

    @property
    def reasons(self) -> list[str]:
        """Why the verdict is not "pass", a sentence for each check."""
        return [check.message for check in self.results if check.result != "pass"]

    @property
    def checks(self) -> Table:
        """A row for each check, with the columns of the printed table in full precision."""
        return table_of_rows(Check._fields, self.results)

    @property
    def is_improvement(self) -> bool:
        """Whether the status is "pass", a mean is better than in the baseline and none worse.

        False if the judgments are not those of the baseline.
        """
        if self.current.qrels["digest"] != self.baseline.qrels["digest"]:
            return False
        gains = [gain_of(self.comparison, measure) for measure in self.comparison.measures]
        return self.status == "pass" and min(gains) >= 0.0 and max(gains) > 0.0

    def regressed(self, measure: str, n: int = 10) -> Table:
        """The n queries that fell most behind the baseline, the worst first.

        >>> import io
        >>> file = io.BytesIO()
        >>> saved = fr.save_baseline(file, "data/digits.qrels", "data/pixels.run", "map P.10")
        >>> verdict = fr.gate(io.BytesIO(file.getvalue()), "data/digits.qrels", "data/pca.run")
        >>> print(verdict.regressed("map", 2))
        query      baseline     now    change
        -------  ----------  ------  --------
        q0819        0.5406  0.1275   -0.4131
        q1064        0.4849  0.0767   -0.4082
        """
        lower = self.comparison.better(measure) == "lower"
        pair = (NOW, BASELINE) if lower else (BASELINE, NOW)
        table = self.comparison.queries_of(measure, *pair)
        rows = [row for row in table.rows() if row[-1] > 0.0][:n]
        columns = list(zip(*rows, strict=True)) or [()] * 4
        by_name = dict(zip(table.names, map(list, columns), strict=True))
        sign = 1.0 if lower else -1.0
        by_name["change"] = [sign * value for value in by_name.pop("difference")]
        return Table(columns={name: by_name[name] for name in ("query", BASELINE, NOW, "change")})

    def __repr__(self) -> str:
        from fastrank.common.messages import counted

        return f"<Verdict: {self.status}, {counted(len(self.results), 'check')}>"

    def table(self) -> Table:
        """The table `checks`."""
        return self.checks

    def _document(self) -> Document:
        return shown.summary(self)

    def _content(self) -> dict[str, object]:
        return shown.content_of(self)

    def _title(self) -> str:
        return shown.heading(self)

    def to_text(self) -> str:
        """The table of the checks, the verdict with its reasons, the worst queries, and notes."""
        return shown.to_text(self)

    def to_markdown(self) -> str:
        """The verdict for pull requests and summaries of jobs: at most 65 KB in UTF-8.

        The reasons, the table of the checks, the notes, and the ten most regressed queries.
        """
        return shown.to_markdown(self)
