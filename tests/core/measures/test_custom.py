"""Measures of the user's own: Python and numba functions over one ranking."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import pytest

import fastrank as fr
from fastrank.core.measures.custom import CUSTOM
from fastrank.core.measures.notation import parse_measure
from fastrank.errors import EvaluationError, MeasureError
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.tables import giving, refusing

QRELS = parse_qrels(b"q1 0 a 1\nq1 0 b 0\nq1 0 e 2\nq2 0 c 2\nq2 0 d -1\n")
RUN = parse_run(b"q1 Q0 b 1 3 t\nq1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 d 1 2 t\nq2 Q0 c 1 1 t\n")


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    before = dict(CUSTOM)
    yield
    CUSTOM.clear()
    CUSTOM.update(before)


def last_rank(ranking: fr.types.Ranking) -> float:
    """Rank of the last relevant document."""
    found = 0
    for i in range(len(ranking.ranks)):
        if ranking.grades[i] >= ranking.level:
            found = ranking.ranks[i]
    return float(found)


@pytest.mark.parametrize("function", [last_rank, numba.njit(last_rank)])
def test_a_function_becomes_a_measure_in_one_line(function):
    """In Python or compiled, the values are the same; the mean is that of other measures."""
    assert fr.measure(function) is function

    scores = fr.evaluate(QRELS, RUN, "map last_rank last_rank(rel=2)")

    assert scores["last_rank"].tolist() == [3.0, 2.0]
    assert scores.mean["last_rank"] == 2.5
    assert scores["last_rank(rel=2)"].tolist() == [0.0, 2.0]


def test_a_decorator_with_options_registers_the_function():
    @fr.measure(name="last", better="lower")
    def own(ranking: fr.types.Ranking) -> float:
        return last_rank(ranking)

    scores = fr.evaluate(QRELS, RUN, "last")

    assert scores.mean["last"] == 2.5
    assert own(fr.types.Ranking(*[np.array([3])] * 9)) == 3.0
    assert CUSTOM["last"].better == "lower"


@pytest.mark.parametrize("threads", [1, 2])
def test_what_the_function_keeps_stays(threads):
    """Large arrays of one evaluation may serve the next one, but for those that somebody holds."""
    seen = []
    fr.measure(lambda ranking: seen.append(ranking.ranks) or len(ranking.ranks), name="look")
    ids = np.arange(80_000).reshape(2, 40_000)
    first = [dict.fromkeys(row[::2].tolist(), 1) for row in ids]
    second = [dict.fromkeys(row[1::2].tolist(), 1) for row in ids]

    for qrels in (first, second):
        scores = fr.evaluate_arrays(qrels, ids, None, "look", threads=threads)
        assert scores["look"].tolist() == [20_000, 20_000]

    assert [int(ranks[0]) for ranks in seen] == [1, 1, 2, 2]
    assert all((np.diff(ranks) == 2).all() for ranks in seen)


def test_what_the_function_sees():
    """The judged documents retrieved, best first, and counts of the query."""
    seen = []
    fr.measure(lambda ranking: seen.append(ranking) or 0, name="look")

    fr.evaluate(QRELS, RUN, ["look"], collection_size=9)

    ranking = seen[0]
    assert (ranking.ranks.tolist(), ranking.grades.tolist()) == ([1, 3], [0, 1])
    assert (ranking.grade_values.tolist(), ranking.grade_counts.tolist()) == ([0, 1, 2], [1, 1, 1])
    assert (ranking.num_ret, ranking.num_rel, ranking.num_rel_ret) == (3, 2, 1)
    assert (ranking.level, ranking.collection_size) == (1, 9)
    assert seen[1].grades.tolist() == [-2, 2]
    with pytest.raises(ValueError, match="read-only"):
        ranking.ranks[0] = 7


def test_it_can_be_used_as_a_decorator_and_again():
    """The later function counts; the docstring is the definition."""

    @fr.measure
    def mine(ranking: fr.types.Ranking) -> float:
        """One."""
        return 1.0

    @fr.measure
    def mine(ranking: fr.types.Ranking) -> float:  # noqa: F811
        """Two."""
        return 2.0

    assert fr.evaluate(QRELS, RUN, "mine").mean == {"mine": 2.0}
    assert CUSTOM["mine"].help == "Two."
    fr.measure(lambda ranking: 3.0, name="mine")
    assert fr.evaluate(QRELS, RUN, "mine").mean == {"mine": 3.0}
    fr.measure(mine)
    assert str(parse_measure(" mine ( judged_only = True ) ")) == "mine(judged_only=True)"


@pytest.mark.parametrize("compiled", [False, True])
def test_an_error_in_it_names_measure_and_query(compiled):
    def failing(ranking: fr.types.Ranking) -> float:
        if ranking.num_rel == 1:
            raise ZeroDivisionError("no luck")
        return 1.0

    fr.measure(numba.njit(failing) if compiled else failing)

    with pytest.raises(
        EvaluationError, match="measure 'failing' of query 'q2': ZeroDivisionError: no luck"
    ) as caught:
        fr.evaluate(QRELS, RUN, "failing")
    assert caught.value.query == b"q2"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


TAKEN = (
    "map nDCG MAP official hit_ratio P@5 P_5 ndcg_cut_10 RR_10 judged_5 set_F_2 SetRelP query file"
)


@pytest.mark.parametrize("name", [*TAKEN.split(), "a b"])
def test_a_name_that_means_something_else_is_refused(name):
    with pytest.raises(MeasureError, match="measure"):
        fr.measure(last_rank, name=name)


def test_scores_are_pickled_whatever_the_function_is():
    """A lambda has no pickle; what it gave has."""
    fr.measure(lambda ranking: ranking.num_ret, name="retrieved")
    scores = fr.evaluate(QRELS, RUN, "map retrieved")

    again = pickle.loads(pickle.dumps(scores))

    assert again.mean == scores.mean
    assert again["retrieved"].tolist() == [3.0, 2.0]


def registered(function: Any, measures: Any, **options: Any) -> dict[str, list[float]]:
    """The values per query of measures, one of which is this function."""
    fr.measure(function, **options)
    return fr.evaluate(QRELS, RUN, measures).lists()


def share_of_top(ranking: fr.types.Ranking, cutoff: int = 3, weight: float = 1.0) -> float:
    """Relevant documents at the first ranks, by their number."""
    return weight * (ranking.grades >= ranking.level).sum() / cutoff


def chosen(ranking: fr.types.Ranking, kind: str = "all", twice: bool = False, n: int = 2) -> float:
    return {"all": 1, "some": 10}[kind] * (1 + twice) * n


def constant(ranking: fr.types.Ranking, p: float) -> float:
    return p


def typed(ranking: fr.types.Ranking, n: int = 2, p: float = 0.5) -> float:
    return 0.0


def text(ranking: fr.types.Ranking) -> Any:
    return "0.5"


def other() -> Any:
    """A function of another function's name."""

    def last_rank(ranking: fr.types.Ranking) -> float:
        return 0.0

    return last_rank


def with_default(**defaults: Any) -> Any:
    """Make a measure of a function with an option."""
    ((name, value),) = defaults.items()
    own = {"value": value}
    return fr.measure(eval(f"lambda ranking, {name}=value: 0.0", own), name="untyped")


SHARE = "share_of_top share_of_top(weight=6)@2 share_of_top@1"
CHOSEN = [chosen, "chosen(kind='some', twice=True) chosen(n=5)"]
CHOSEN_MEAN = {"chosen": 2, "chosen(kind='some',twice=True)": 40, "chosen(n=5)": 5}
LAST = {"last_rank@3": [3.0, 2.0], "last_rank@2": [0.0, 2.0], "last_rank(rel=2)@2": [0.0, 2.0]}
COMPILED, COMPILED_SHARE = numba.njit(last_rank), numba.njit(share_of_top)
EXPECTED_SHARE = dict(zip(SHARE.split(), ([1 / 3, 1 / 3], [0.0, 3.0], [0.0, 0.0]), strict=True))

test_functions_are_measures_with_options = giving("""
# parameters after the ranking are options
registered(share_of_top, SHARE) => EXPECTED_SHARE
registered(COMPILED_SHARE, SHARE) => EXPECTED_SHARE
# a cutoff shows the first documents only
registered(last_rank, list(LAST)) => LAST
registered(COMPILED, list(LAST)) => LAST
# options are bools and texts too
fr.evaluate(QRELS, RUN, [fr.measure(CHOSEN[0]), CHOSEN[1]]).mean => CHOSEN_MEAN
# a parameter without a default is given
registered(constant, "constant(p=0.25)") => {"constant(p=0.25)": [0.25, 0.25]}
# the function itself will do
fr.evaluate(QRELS, RUN, [last_rank]).lists() => {"last_rank": [3.0, 2.0]}
fr.evaluate(QRELS, RUN, last_rank).lists() => {"last_rank": [3.0, 2.0]}
fr.evaluate(QRELS, RUN, ["map", COMPILED])["last_rank"].tolist() => [3.0, 2.0]
(fr.evaluate(QRELS, RUN, last_rank), "last_rank" in CUSTOM)[1] => False
# a function that was made a measure goes by the name it was given
[*registered(last_rank, [last_rank, "map"], name="deepest")] => ["deepest", "map"]
""")

test_what_is_no_measure_is_refused = refusing(r"""MeasureError
# a value is a number
registered(text, "text") =>
  EvaluationError: measure 'text' of query 'q1': TypeError: expected a number, found str
# only functions are taken
fr.measure(5) => TypeError: measure: expected a function, found int
# a parameter without a default has to be given
registered(constant, "constant") => 'constant': constant requires p (parameter p of the function)
# an option has the kind of its default
registered(typed, "typed(n=0.5)") => 'typed(n=0.5)': n=0.5: expected a whole number
registered(typed, "typed(p=x)") => 'typed(p=x)': p=x: expected a number
with_default(other=()) =>
  measure 'untyped': expected a number, a bool or a str as the default of 'other', found tuple
with_default(rel=1) => measure 'untyped': 'rel' is an option of every measure; rename the parameter
# two functions of one name
fr.evaluate(QRELS, RUN, [last_rank, other()]) => two functions have the name 'last_rank'
""")


def test_the_counts_of_a_cut_ranking_are_those_of_its_documents():
    seen = []
    fr.measure(lambda ranking: seen.append(ranking) or 0, name="look")

    fr.evaluate(QRELS, RUN, "look@2")

    assert [(own.num_ret, own.num_rel, own.num_rel_ret) for own in seen] == [(2, 2, 0), (2, 1, 1)]
    assert [own.ranks.tolist() for own in seen] == [[1], [1, 2]]
