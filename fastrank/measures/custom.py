"""Measures of a user's own: a function over one ranking, registered under a name."""

from __future__ import annotations

from collections import namedtuple

from fastrank.errors import MeasureError
from fastrank.measures.families import (
    BY_PLAIN_NAME,
    CUTOFF,
    FAMILY_BY_NAME,
    JUDGED,
    NEEDED,
    REL,
    SHORTHANDS,
)
from fastrank.measures.measure_options import Family, Option
from fastrank.measures.trec import BY_NAME, NICKNAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Function = Callable[..., float]

# The names stand in the order of the columns of a judged ranking (see native/records).
Ranking = namedtuple(
    "Ranking",
    "ranks grades grade_values grade_counts num_ret num_rel num_rel_ret level collection_size",
)
Ranking.__doc__ = """What a measure sees of one query.

ranks, grades: int64 arrays of the retrieved documents that are in the judgments, best first. Ranks
    start at 1. A grade below 0 is that of a document in the pool that was not judged. Where a grade
    of the judgments has a fraction, grades, grade_values and level are floats.
grade_values, grade_counts: int64 arrays: the different grades >= 0 of the query's judgments,
    ascending, and how many documents have each: what the best ranking is made of.
num_ret, num_rel, num_rel_ret: how many documents are retrieved, relevant, and both.
level: the lowest grade that is relevant. collection_size: documents in the collection, or 0.

>>> def depth_of_first(ranking):
...     hits = ranking.ranks[ranking.grades >= ranking.level]
...     return hits[0] / ranking.num_ret if len(hits) else 1.0
>>> named = fr.measure(depth_of_first)
>>> fr.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.75}}, "depth_of_first").mean
{'depth_of_first': 1.0}
"""

CUSTOM: dict[str, Family] = {}
# What stands beside the measures in frames and tables.
COLUMNS = ("file", "query")


class CustomMeasure(Family):
    """A measure that a function of the user's computes.

    passed: the options that the function takes as parameters after the ranking.
    """

    __slots__ = ("function", "passed")

    function: Function
    passed: tuple[str, ...]

    def __reduce__(self) -> Any:
        # What is pickled are scores, which are read without the function; many have no pickle.
        unpack, (kind, fields) = super().__reduce__()
        return unpack, (kind, {**fields, "function": _not_pickled})


def _not_pickled(_: object) -> float:
    """Stands for the function of a measure that was pickled."""
    raise TypeError("the function of a measure is not pickled with it")


def measure(function: Function, *, name: str = "", help: str = "") -> Function:
    """Make a function of one ranking a measure, by its name; use it as a decorator or call it.

    function: takes a `Ranking` and returns the value of the query, a number; the mean over
        queries is the value of the run. It may be compiled with `numba.njit`, and is then called
        from a compiled loop. Further parameters are options of the measure: a number, a bool or a
        str, as their default is; without one they have to be given, as a number.
    name: what it is called in `evaluate`, by default the function's name. `name(rel=2)` and
        `name(judged_only=True)` mean what they mean for other measures, `name@10` shows the
        function the first 10 documents, and gives it the 10 if it has a parameter `cutoff`.
    help: its definition, by default the function's docstring.

    Returns the function. A name can be given again, to another function, but not that of a measure
    there is already (also `P_10`), or of a column beside measures (`query`, `file`): raises
    MeasureError. What the function raises becomes an EvaluationError that names the query. Scores
    can be pickled whatever the function is, which is left out.

    Without a name of its own, as in `fr.evaluate(qrels, run, ["map", function])`, a function need
    not be made a measure before.

    >>> import fastrank as fr
    >>> @fr.measure
    ... def share_of_top(ranking, cutoff=10):
    ...     return (ranking.ranks <= cutoff).sum() / cutoff
    >>> fr.parse_measure("share_of_top@5")
    MeasureSpec('share_of_top@5')
    """
    if not callable(function):
        raise TypeError(f"measure: expected a function, found {type(function).__name__}")
    made = _custom_measure(function, name, help)
    CUSTOM[made.name] = made
    return function


def measure_of(function: Any) -> CustomMeasure:
    """The measure that a function computes: one it was made, or one of its own name."""
    for known in CUSTOM.values():
        if isinstance(known, CustomMeasure) and known.function is function:
            return known
    return _custom_measure(function, "", "")


def _custom_measure(function: Function, name: str, help_: str) -> CustomMeasure:
    called = name or getattr(function, "__name__", "")
    if not called.isidentifier():
        raise MeasureError(called, f"measure {called!r}: expected a name such as my_measure")
    if _is_in_use(called):
        raise MeasureError(called, f"measure {called!r}: there is one of that name already")
    if called in COLUMNS:
        raise MeasureError(called, f"measure {called!r}: tables have a column of that name")
    options = {option.name: option for option in (CUTOFF, REL, JUDGED)}
    own = _own_options(function, called)
    return CustomMeasure(
        name=called, kernel="custom", needs="custom", takes="", default=(), average="mean", sets=(),
        since="9.0.8", help=(help_ or function.__doc__ or "A measure of the user's own.").strip(),
        options=options | own, at="cutoff", numbers=(), forms=(), aliases=(), plain="",
        function=function, passed=tuple(own),
    )  # fmt: skip


def _own_options(function: Function, called: str) -> dict[str, Option]:
    """The parameters of a function after the ranking, as options."""
    from inspect import signature

    try:
        parameters = list(signature(getattr(function, "py_func", function)).parameters.values())
    except (TypeError, ValueError):
        # Nothing is known of a function of C.
        return {}
    found = {}
    for parameter in parameters[1:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.POSITIONAL_ONLY):
            continue
        name, needed = parameter.name, parameter.default is parameter.empty
        default = None if needed else parameter.default
        if name == "cutoff":
            option = NEEDED if needed else CUTOFF
            found[name] = option.changed(default=default)
            continue
        if name in ("rel", "judged_only"):
            raise MeasureError(called, f"measure {called!r}: every measure has the option {name!r}")
        kinds = {bool: "flag", int: "integer", float: "real", str: "text"}
        kind = "real" if needed else kinds.get(type(default))
        if kind is None:
            raise MeasureError(
                called, f"measure {called!r}: expected a number, a bool or a str as the default of"
                f" {name!r}, found {type(default).__name__}"
            )  # fmt: skip
        found[name] = Option(
            name=name, kind=kind, default=default, needed=needed, choices=(),
            help=f"the parameter {name} of the function",
        )  # fmt: skip
    return found


def _is_in_use(name: str) -> bool:
    """Whether it names another measure, alone or, as `P_10` does, with a number."""
    stem, _, number = name.rpartition("_")
    with_number = number.isdigit() and (stem in BY_NAME or stem in BY_PLAIN_NAME)
    return with_number or any(
        name in names for names in (BY_NAME, NICKNAMES, FAMILY_BY_NAME, BY_PLAIN_NAME, SHORTHANDS)
    )
