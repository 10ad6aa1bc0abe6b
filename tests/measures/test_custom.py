"""Measures of the user's own: Python and numba functions over one ranking."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numba
import numpy as np
import pytest

import fastrank as fr
from fastrank.measures.custom import CUSTOM
from tests.helpers.parsing import parse_qrels, parse_run

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
def test_a_function_becomes_a_measure_in_one_line(function: object) -> None:
    """In Python or compiled, the values are the same; the mean is that of other measures."""
    assert fr.measure(function) is function

    scores = fr.evaluate(QRELS, RUN, "map last_rank last_rank(rel=2)")

    assert scores["last_rank"].tolist() == [3.0, 2.0]
    assert scores.mean["last_rank"] == 2.5
    assert scores["last_rank(rel=2)"].tolist() == [0.0, 2.0]


def test_a_decorator_with_options_registers_the_function() -> None:
    @fr.measure(name="last", better="lower")
    def own(ranking: fr.types.Ranking) -> float:
        return last_rank(ranking)

    scores = fr.evaluate(QRELS, RUN, "last")

    assert scores.mean["last"] == 2.5
    assert own(fr.types.Ranking(*[np.array([3])] * 9)) == 3.0
    assert CUSTOM["last"].better == "lower"


@pytest.mark.parametrize("threads", [1, 2])
def test_what_the_function_keeps_stays(threads: int) -> None:
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


def test_what_the_function_sees() -> None:
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


def test_it_can_be_used_as_a_decorator_and_again() -> None:
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
    assert str(fr.parse_measure(" mine ( judged_only = True ) ")) == "mine(judged_only=True)"


@pytest.mark.parametrize("compiled", [False, True])
def test_an_error_in_it_names_measure_and_query(compiled: bool) -> None:
    def failing(ranking: fr.types.Ranking) -> float:
        if ranking.num_rel == 1:
            raise ZeroDivisionError("no luck")
        return 1.0

    fr.measure(numba.njit(failing) if compiled else failing)

    with pytest.raises(
        fr.EvaluationError, match="measure 'failing' of query 'q2': ZeroDivisionError: no luck"
    ) as caught:
        fr.evaluate(QRELS, RUN, "failing")
    assert caught.value.query == b"q2"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_what_is_no_number_is_refused() -> None:
    fr.measure(lambda ranking: "0.5", name="text")

    with pytest.raises(fr.EvaluationError, match="'q1': TypeError: expected a number, found str"):
        fr.evaluate(QRELS, RUN, ["text"])


@pytest.mark.parametrize(
    "name",
    [
        "map", "nDCG", "MAP", "official", "hit_ratio", "P@5", "a b",
        "P_5", "ndcg_cut_10", "RR_10", "judged_5", "set_F_2", "SetRelP", "query", "file",
    ],
)  # fmt: skip
def test_a_name_that_means_something_else_is_refused(name: str) -> None:
    with pytest.raises(fr.MeasureError, match="measure"):
        fr.measure(last_rank, name=name)


def test_only_functions_are_taken() -> None:
    with pytest.raises(TypeError, match="expected a function, found int"):
        fr.measure(5)


def test_scores_are_pickled_whatever_the_function_is() -> None:
    """A lambda has no pickle; what it gave has."""
    fr.measure(lambda ranking: ranking.num_ret, name="retrieved")
    scores = fr.evaluate(QRELS, RUN, "map retrieved")

    again = pickle.loads(pickle.dumps(scores))

    assert again.mean == scores.mean
    assert again["retrieved"].tolist() == [3.0, 2.0]


def share_of_top(ranking: fr.types.Ranking, cutoff: int = 3, weight: float = 1.0) -> float:
    """Relevant documents at the first ranks, by their number."""
    return weight * (ranking.grades >= ranking.level).sum() / cutoff


@pytest.mark.parametrize("function", [share_of_top, numba.njit(share_of_top)])
def test_parameters_after_the_ranking_are_options(function: object) -> None:
    fr.measure(function)

    scores = fr.evaluate(QRELS, RUN, "share_of_top share_of_top(weight=6)@2 share_of_top@1")

    assert scores["share_of_top"].tolist() == [1 / 3, 1 / 3]
    assert scores["share_of_top(weight=6)@2"].tolist() == [0.0, 3.0]
    assert scores["share_of_top@1"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("function", [last_rank, numba.njit(last_rank)])
def test_a_cutoff_shows_the_first_documents_only(function: object) -> None:
    fr.measure(function)

    scores = fr.evaluate(QRELS, RUN, "last_rank@3 last_rank@2 last_rank(rel=2)@2")

    assert scores["last_rank@3"].tolist() == [3.0, 2.0]
    assert scores["last_rank@2"].tolist() == [0.0, 2.0]
    assert scores["last_rank(rel=2)@2"].tolist() == [0.0, 2.0]


def test_the_counts_of_a_cut_ranking_are_those_of_its_documents() -> None:
    seen = []
    fr.measure(lambda ranking: seen.append(ranking) or 0, name="look")

    fr.evaluate(QRELS, RUN, "look@2")

    assert [(own.num_ret, own.num_rel, own.num_rel_ret) for own in seen] == [(2, 2, 0), (2, 1, 1)]
    assert [own.ranks.tolist() for own in seen] == [[1], [1, 2]]


def test_options_are_bools_and_texts_too() -> None:
    def chosen(
        ranking: fr.types.Ranking, kind: str = "all", twice: bool = False, n: int = 2
    ) -> float:
        return {"all": 1, "some": 10}[kind] * (1 + twice) * n

    scores = fr.evaluate(
        QRELS, RUN, ["map", fr.measure(chosen), "chosen(kind='some', twice=True) chosen(n=5)"]
    )

    assert scores.mean == {
        "map": scores.mean["map"], "chosen": 2, "chosen(kind='some',twice=True)": 40,
        "chosen(n=5)": 5,
    }  # fmt: skip


def test_a_parameter_without_a_default_has_to_be_given() -> None:
    fr.measure(lambda ranking, p: p, name="constant")

    assert fr.evaluate(QRELS, RUN, "constant(p=0.25)").mean == {"constant(p=0.25)": 0.25}
    with pytest.raises(fr.MeasureError, match="constant requires p"):
        fr.evaluate(QRELS, RUN, "constant")


def test_options_of_the_wrong_kind_are_refused() -> None:
    fr.measure(lambda ranking, n=2, p=0.5: 0.0, name="typed")

    with pytest.raises(fr.MeasureError, match=r"n=0\.5: expected a whole number"):
        fr.evaluate(QRELS, RUN, "typed(n=0.5)")
    with pytest.raises(fr.MeasureError, match="p=x: expected a number"):
        fr.evaluate(QRELS, RUN, "typed(p=x)")
    with pytest.raises(fr.MeasureError, match="as the default of 'other', found tuple"):
        fr.measure(lambda ranking, other=(): 0.0, name="untyped")
    with pytest.raises(fr.MeasureError, match="'rel' is an option of every measure"):
        fr.measure(lambda ranking, rel=1: 0.0, name="untyped")


@pytest.mark.parametrize("measures", [[last_rank], last_rank, ["map", numba.njit(last_rank)]])
def test_the_function_itself_will_do(measures: object) -> None:
    scores = fr.evaluate(QRELS, RUN, measures)

    assert scores["last_rank"].tolist() == [3.0, 2.0]
    assert "last_rank" not in CUSTOM


def test_a_function_that_was_made_a_measure_goes_by_the_name_it_was_given() -> None:
    fr.measure(last_rank, name="deepest")

    assert fr.evaluate(QRELS, RUN, [last_rank, "map"]).names == ["deepest", "map"]


def test_two_functions_of_one_name_are_refused() -> None:
    def other() -> object:
        def last_rank(ranking: fr.types.Ranking) -> float:
            return 0.0

        return last_rank

    with pytest.raises(fr.MeasureError, match="two functions have the name 'last_rank'"):
        fr.evaluate(QRELS, RUN, [last_rank, other()])
