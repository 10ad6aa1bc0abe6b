"""Error messages for queries that cannot be judged."""

from __future__ import annotations

from fastrank.native import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.preferences import Preferences
    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run

# What judgments may be that have a document twice, with other second fields.
SUBTOPICS = "; judgments with subtopics are for measures of subtopics, such as alpha_nDCG@10"


def what_is_wrong(problem: Any, judgments: Qrels | Preferences, run: Run) -> str:
    """The message for a problem, with the lines where it occurs."""
    kind, one, other = problem
    if kind == codes.RUN_REPEATS:
        return repeated(run, one, other)
    if kind == codes.QRELS_REPEAT:
        groups = judgments.groups
        differ = len(groups) > 0 and groups[one] != groups[other]
        return repeated(judgments, one, other) + (SUBTOPICS if differ else "")
    if kind == codes.SCORE_IS_NAN:
        where = f"line {run.docs.line(one)} of {run.source}"
        return f"the score of document {_name(run, one)}, {where}, is NaN and cannot be ranked"
    if kind == codes.NONE_JUDGED:
        return "all its judgments are negative, and it is the first one evaluated"
    if kind == codes.GRADE_TOO_LARGE:
        return "a grade is too large to count judgments by grade"
    where = f"{judgments.source}:{judgments.docs.line(one)}"
    if kind == codes.TWO_LEVELS:
        return (
            f"{where}: document {_name(judgments, one)} occurs with different levels in the same"
            " judgment group"
        )
    if kind == codes.ZERO_AND_NONZERO:
        return f"{where}: doc '{_name(judgments, one)}' has both 0 and non-0 rel_level assigned"
    return f"{where}: Pref inconsistency found: the preferences of this judgment group form a cycle"


def repeated(noun: Any, one: int, other: int) -> str:
    """The message for a document that appears in two rows of one query."""
    return f"duplicate docs {_name(noun, one)}, {_lines(noun, one, other)}"


def repeated_lines(problem: Any, run: Run) -> tuple[int, int] | None:
    """The lines of the run that have one document, if that is what is wrong."""
    kind, one, other = problem
    return (run.docs.line(one), run.docs.line(other)) if kind == codes.RUN_REPEATS else None


def _name(noun: Any, row: int) -> str:
    return str(noun.docs[row].decode("utf-8", "replace"))


def _lines(noun: Any, one: int, other: int) -> str:
    first, second = sorted((noun.docs.line(one), noun.docs.line(other)))
    return f"{noun.docs.unit}s {first} and {second} of {noun.source}"
