"""The result of a gate."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.gating.checks import BASELINE, NOW, Check
from fastrank.gating.paired_runs import gain_of
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.comparison import Comparison
    from fastrank.gating.baseline import Baseline


class Verdict(Frozen):
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
        found = {one.result for one in self.results}
        return next((own for own in ("fail", "undecided") if own in found), "pass")

    @property
    def passed(self) -> bool:
        """Whether no check failed; "undecided" counts as passed with on_few="warn"."""
        return self.status == "pass" or (self.status == "undecided" and self.on_few == "warn")

    @property
    def reasons(self) -> list[str]:
        """Why the verdict is not "pass", a sentence for each check."""
        return [one.message for one in self.results if one.result != "pass"]

    @property
    def checks(self) -> Table:
        """A row for each check, with the columns of the printed table in full precision."""
        columns = zip(*self.results, strict=True)
        return Table(columns=dict(zip(Check._fields, map(list, columns), strict=True)))

    @property
    def is_improvement(self) -> bool:
        """Whether the status is "pass", a mean is better than in the baseline and none worse.

        False if the judgments are not those of the baseline.
        """
        if self.current.qrels["digest"] != self.baseline.qrels["digest"]:
            return False
        gains = [gain_of(self.comparison, own) for own in self.comparison.measures]
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
        found = self.comparison.queries_of(measure, *pair)
        rows = [row for row in found.rows() if row[-1] > 0.0][:n]
        columns = list(zip(*rows, strict=True)) or [()] * 4
        by_name = dict(zip(found.names, map(list, columns), strict=True))
        sign = 1.0 if lower else -1.0
        by_name["change"] = [sign * value for value in by_name.pop("difference")]
        return Table(columns={own: by_name[own] for own in ("query", BASELINE, NOW, "change")})

    def __repr__(self) -> str:
        from fastrank.messages import counted

        return f"<Verdict: {self.status}, {counted(len(self.results), 'check')}>"

    def __str__(self) -> str:
        from fastrank.gating.shown import to_text

        return to_text(self)
