"""The note on ties that decide a mean."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.scores.scores import Scores

    Range = tuple[float, float, bool]
    """The lowest and the highest mean over the orders of tied documents, and whether the expected
    value is known."""

# What part of a mean must depend on the order of tied documents for a note.
NOTED_SHARE = 0.1


def tie_notes(scores: Scores, of: str = "", option: str = "--ties") -> list[str]:
    """A note on the measure that the order of tied documents moves most, if it moves by more than
    a tenth.

    of: the name of the run, if what is before the note does not say it. option: what sets the order
    of ties.
    """
    if scores.ties is None:
        return []
    moved = {}
    for name, (worst, best, _) in scores.ties.ranges().items():
        value = scores.mean[name]
        most = max(best - value, value - worst)
        if most > NOTED_SHARE * abs(value):
            moved[name] = most / abs(value) if value else float("inf")
    if not moved:
        return []
    name = max(moved, key=moved.__getitem__)
    worst, best, has_expected = scores.ties.ranges()[name]
    more = len(moved) - 1
    others = f" and {more} more {'measure' if more == 1 else 'measures'}" if more else ""
    run = f" of {of}" if of else ""
    remedy = (
        f"{option} average gives the expected value" if has_expected
        else f"{option} worst and {option} best give the ends of this range"
    )  # fmt: skip
    return [
        f"ties decide {name}{others}{run}: {name} is {worst:.4f} to {best:.4f} by the order of tied"
        f" documents, here {scores.mean[name]:.4f}; {remedy}"
    ]


def without_ties(ties: Any, expected: str) -> str:
    """What makes the order of tied documents irrelevant.

    ties: of Scores. expected: how to get expected values.
    """
    if all(has_expected for _, _, has_expected in ties.ranges().values()):
        return f"{expected} removes the question"
    return "different scores of these documents remove the question"
