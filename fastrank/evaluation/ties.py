"""What the order of tied documents does to the values of a run that was judged."""

from __future__ import annotations

from fastrank.data.texts import decoded
from fastrank.evaluation.scoring import score
from fastrank.judging.judged import JudgedRun
from fastrank.judging.needs import judging_options
from fastrank.judging.options import BY_GRADE
from fastrank.measures.tie_support import has_expected_value, has_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure
    from fastrank.scores.scores import Scores
    from fastrank.scores.ties import Range


def ties_of(
    judgments: Any, run: JudgedRun, measures: list[BoundMeasure], options: Options,
    left_out: Sequence[bytes], *, kept: bool,
) -> Ties | None:  # fmt: skip
    """The ties of a run; None without ties of judged documents, or where their effect is not known.

    It is not where a depth or judged_only removes documents: what can take their places is not
    kept. kept: whether to copy rankings whose memory the next run gets, else there is None.
    """
    if (
        run.judged is None or not run.judged.has_ties or options.ties in BY_GRADE
        or options.relevance_format != "qrels" or options.is_cut or options.judged_only
        or options.relevance_level < 0
    ):  # fmt: skip
        return None
    if run.batch is not None:
        if run.batch.repeats and not kept:
            return None
        judged = run.judged.copied() if run.batch.repeats else run.judged
        run = run.changed(batch=None, judged=judged)
    return Ties(judgments, run, measures, options, left_out)


class Ties:
    """Computes values with the ties of a run ordered otherwise, as `tie_report` does.

    Nothing is computed before it is asked for. measures: of these, only those count that "best" and
    "worst" bound.
    """

    def __init__(
        self, judgments: Any, run: JudgedRun, measures: list[BoundMeasure], options: Options,
        left_out: Sequence[bytes],
    ) -> None:  # fmt: skip
        self._judgments, self._run, self._measures = judgments, run, measures
        self._options, self._left_out = options, left_out
        # A cache of functools would be a cycle, which keeps memory until it is found.
        self._known: dict[str, Scores] = {}

    def __reduce__(self) -> Any:
        found = self.ranges()
        return Known, (found, {own: self.scores(own) for own in ("worst", "best") if found})

    def scores(self, ties: str) -> Scores:
        """The scores with ties="best" or "worst"."""
        if ties not in self._known:
            self._known[ties] = self._computed(ties)
        return self._known[ties]

    def _computed(self, ties: str) -> Scores:
        from fastrank.judging.tie_orders import settle_ties

        judgments, run, measures = self._judgments, self._run, self._ranged()
        options = self._options.changed(ties=ties)
        assert run.judged is not None
        how = judging_options(measures, options, judgments)
        tied = settle_ties(run.judged.copied(), how)
        changed = run.changed(judged=tied.judged, tied=tied)
        return score(judgments, changed, measures, options, left_out=self._left_out)

    def _ranged(self) -> list[BoundMeasure]:
        return [own for own in self._measures if has_range(own)]

    def ranges(self) -> dict[str, Range]:
        """The lowest and the highest mean of each measure, and whether it has an expected value."""
        if not self._ranged():
            return {}
        worst, best = self.scores("worst").mean, self.scores("best").mean
        return {
            name: (worst[name], best[name], has_expected_value(own, is_cut=False))
            for own in self._ranged()
            for name in map(decoded, own.names)
            if name in worst
        }


class Known:
    """The ties of a run that another process has judged."""

    def __init__(self, ranges: dict[str, Range], scores: dict[str, Scores]) -> None:
        self._ranges, self._scores = ranges, scores

    def ranges(self) -> dict[str, Range]:
        """As those of `Ties`."""
        return self._ranges

    def scores(self, ties: str) -> Scores:
        """As those of `Ties`."""
        return self._scores[ties]
