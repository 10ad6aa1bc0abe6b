"""User-defined measures: a function of one ranking, registered under a name."""

from __future__ import annotations

from collections import namedtuple

from fastrank.common.arguments import check_choice
from fastrank.core.measures.families import (
    BY_PLAIN_NAME,
    CUTOFF,
    FAMILY_BY_NAME,
    JUDGED,
    NEEDED,
    REL,
    SHORTHANDS,
)
from fastrank.core.measures.measure_options import Family, Option
from fastrank.core.measures.trec import BY_NAME, NICKNAMES
from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.core.measures.bound import BoundMeasure

    Function = Callable[..., float]

# The fields are in the order of the columns of a judged ranking (see native/records).
Ranking = namedtuple(
    "Ranking",
    "ranks grades grade_values grade_counts num_ret num_rel num_rel_ret level collection_size",
)
Ranking.__doc__ = """The judged ranking of one query, as passed to a user-defined measure.

ranks, grades: int64 arrays of the retrieved documents that are in the judgments, best first. Ranks
    start at 1. A negative grade marks a document that was pooled but not judged. If any grade of
    the judgments has a fraction, grades, grade_values and level are floats.
grade_values, grade_counts: int64 arrays: the distinct grades >= 0 in the query's judgments,
    ascending, and the number of documents with each; they determine the ideal ranking.
num_ret, num_rel, num_rel_ret: the numbers of retrieved, relevant, and relevant retrieved documents.
level: the lowest relevant grade. collection_size: the number of documents in the collection, or 0.

>>> def depth_of_first(ranking):
...     hits = ranking.ranks[ranking.grades >= ranking.level]
...     return hits[0] / ranking.num_ret if len(hits) else 1.0
>>> function = fr.measure(depth_of_first)
>>> fr.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.75}}, "depth_of_first").mean
{'depth_of_first': 1.0}
"""

CUSTOM: dict[str, Family] = {}
# The other columns of frames and tables.
COLUMNS = ("file", "query")


class CustomMeasure(Family):
    """A measure computed by a user's function.

    passed: the options that the function takes as parameters after the ranking.
    """

    function: Function
    passed: tuple[str, ...]

    def __reduce__(self) -> tuple[object, ...]:
        # Pickled scores do not need the function, and many functions cannot be pickled; evaluators
        # add it.
        unpack, (kind, fields) = super().__reduce__()
        return unpack, (kind, {**fields, "function": _not_pickled})


def _not_pickled(_: object) -> float:
    """Replaces the function of a measure that was pickled."""
    raise TypeError("pickling a measure drops its function; it cannot be computed")


def functions_of(bound: list[BoundMeasure]) -> dict[int, Function]:
    """{index: function} of the user-defined measures."""
    return {
        i: bound_measure.measure.function
        for i, bound_measure in enumerate(bound)
        if isinstance(bound_measure.measure, CustomMeasure)
    }


def with_functions(bound: list[BoundMeasure], functions: dict[int, Function]) -> list[BoundMeasure]:
    """The measures with the functions that they lost when they were pickled."""
    return [
        bound_measure.changed(measure=bound_measure.measure.changed(function=functions[i]))
        if i in functions
        else bound_measure
        for i, bound_measure in enumerate(bound)
    ]


def measure(
    function: Function | None = None, *, name: str = "", help: str = "", better: str = "higher"
) -> Callable[..., Any]:
    """Register a function of one ranking as a measure, by a call or as a decorator.

    function: takes a `Ranking` and returns the value of the query, a number; the value of the run
        is the mean over queries. A function compiled with `numba.njit` is called from a compiled
        loop. Further parameters become options of the measure, of the type of their default (a
        number, a bool or a str); a parameter without a default is a required number.
    name: the name for `evaluate`, by default the function's name. `name(rel=2)` and
        `name(judged_only=True)` work as for other measures. For `name@10` the function gets the
        first 10 documents, and the cutoff 10 if it has a parameter `cutoff`.
    help: the definition, by default the function's docstring.
    better: which values are better, "higher", "lower", or "" if neither is; for tables and
        comparisons.

    Returns the function; without a function, a decorator. Registering a name again replaces its
    function. Raises MeasureError if the name is that of a built-in measure (including names such as
    `P_10`) or of a column of tables (`query`, `file`), and OptionError for another `better`. If the
    function raises, the evaluation raises an EvaluationError that names the query. Scores can
    always be pickled; the function is not pickled with them.

    A function can also be passed without registering it: `fr.evaluate(qrels, run, [function])`.

    >>> import fastrank as fr
    >>> @fr.measure
    ... def share_of_top(ranking, cutoff=10):
    ...     return (ranking.ranks <= cutoff).sum() / cutoff
    >>> fr.evaluate({"q": {"d": 1}}, {"q": {"d": 0.5}}, "share_of_top@5").mean
    {'share_of_top@5': 0.2}
    >>> @fr.measure(better="lower")
    ... def documents_wasted(ranking):
    ...     return ranking.num_ret - ranking.num_rel_ret
    """
    if function is None:
        return lambda decorated: measure(decorated, name=name, help=help, better=better)
    if not callable(function):
        raise TypeError(f"measure: expected a function, found {type(function).__name__}")
    check_choice("better", better, ("higher", "lower", ""))
    custom = _custom_measure(function, name, help, better)
    CUSTOM[custom.name] = custom
    return function


def measure_of(function: Function) -> CustomMeasure:
    """The measure that a function was registered as, or a new one with the function's name."""
    for family in CUSTOM.values():
        if isinstance(family, CustomMeasure) and family.function is function:
            return family
    return _custom_measure(function, "", "", "higher")


def _custom_measure(function: Function, name: str, help_: str, better: str) -> CustomMeasure:
    called = name or getattr(function, "__name__", "")
    if not called.isidentifier():
        raise MeasureError(called, f"measure {called!r}: expected a name such as my_measure")
    if _is_in_use(called):
        raise MeasureError(called, f"measure {called!r}: a measure with this name already exists")
    if called in COLUMNS:
        raise MeasureError(called, f"measure {called!r}: tables have a column with this name")
    options = {option.name: option for option in (CUTOFF, REL, JUDGED)}
    parameters = _own_options(function, called)
    return CustomMeasure(
        name=called,
        kernel="custom",
        needs="custom",
        better=better,
        help=(help_ or function.__doc__ or "A user-defined measure.").strip(),
        options=options | parameters,
        at="cutoff",
        function=function,
        passed=tuple(parameters),
    )


def _own_options(function: Function, called: str) -> dict[str, Option]:
    """The parameters of a function after the ranking, as options."""
    from inspect import signature

    try:
        parameters = list(signature(getattr(function, "py_func", function)).parameters.values())
    except (TypeError, ValueError):
        # A function written in C may have no signature.
        return {}
    options = {}
    for parameter in parameters[1:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.POSITIONAL_ONLY):
            continue
        name, needed = parameter.name, parameter.default is parameter.empty
        default = None if needed else parameter.default
        if name == "cutoff":
            option = NEEDED if needed else CUTOFF
            options[name] = option.changed(default=default)
            continue
        if name in ("rel", "judged_only"):
            raise MeasureError(
                called,
                f"measure {called!r}: {name!r} is an option of every measure; rename the parameter",
            )
        kinds = {bool: "flag", int: "integer", float: "real", str: "text"}
        kind = "real" if needed else kinds.get(type(default))
        if kind is None:
            raise MeasureError(
                called,
                f"measure {called!r}: expected a number, a bool or a str as the default of"
                f" {name!r}, found {type(default).__name__}",
            )
        options[name] = Option(
            name=name,
            kind=kind,
            default=default,
            needed=needed,
            help=f"parameter {name} of the function",
        )
    return options


def _is_in_use(name: str) -> bool:
    """Whether it names a built-in measure, alone or with a number, as in `P_10`."""
    stem, _, number = name.rpartition("_")
    with_number = number.isdigit() and (stem in BY_NAME or stem in BY_PLAIN_NAME)
    return with_number or any(
        name in names for names in (BY_NAME, NICKNAMES, FAMILY_BY_NAME, BY_PLAIN_NAME, SHORTHANDS)
    )
