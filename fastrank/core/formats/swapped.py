"""A warning where judgments and run, or labels and scores, have probably changed places."""

from __future__ import annotations

from itertools import chain, islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fastrank.common.messages import Warn
    from fastrank.core.data.grades import Scale
    from fastrank.core.formats.qrels import Graded, Qrels

# Limits of `warn_if_swapped`: how many distinct grades are many, how many queries' scores are
# looked at, and the limit of small integers.
MANY_GRADES, SOME_QUERIES, SMALL = 4, 10, 10


def warn_if_swapped(
    qrels: Qrels | Graded,
    run: Iterable[Iterable[Any]],
    warn: Warn,
    nouns: tuple[str, str, str] = ("grades", "scores of the run", "judgments and run"),
) -> None:
    """Call `warn` where judgments and run have probably changed places; nouns: what it calls them.

    That is, if the run has few different small integers as scores, and nearly all grades have
    fractions, or those of the first query are all different or negative. run: the scores of each
    query.
    """
    scale = getattr(qrels, "scale", None)
    grades, numbers, both = nouns
    reason = f"the {grades} have fractions"
    if not have_fractions(scale):
        # Preferences have no grades.
        if not hasattr(qrels, "grade_column") or not len(qrels):
            return
        first: Any = list(qrels.grade_column[: qrels.offset_column[1]])
        if scale:
            first = scale.grades(first).tolist()
        if len(first) <= MANY_GRADES or (len(set(first)) < len(first) and max(first) >= 0):
            return
        reason = f"the {grades} of a query are all different or negative"
    scores = list(chain.from_iterable(islice(run, SOME_QUERIES)))
    if not all(type(score) is int and 0 <= score < SMALL for score in scores):
        return
    if 2 * len(set(scores)) <= len(scores):
        warn(f"{reason}, and the {numbers} are few integers: are {both} swapped?")


def have_fractions(scale: Scale | None) -> bool:
    """Whether there are many different grades, nearly all with fractions, as scores have them."""
    grades = [grade for grade in scale.values if grade] if scale else []
    fractions: int = sum(grade % 1 != 0 for grade in grades)
    # Scores that are scaled to at most 1 have one whole number.
    return fractions >= max(MANY_GRADES, 0.9 * len(grades), min(len(grades) - 1, SMALL))
