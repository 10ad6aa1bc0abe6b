"""Measures of the user's own: Python and numba functions over one ranking."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numba
import numpy as np
import pytest

import fastrank as fr
from fastrank.formats.trec import parse_qrels, parse_run
from fastrank.measures.custom import CUSTOM

QRELS = parse_qrels(b"q1 0 a 1\nq1 0 b 0\nq1 0 e 2\nq2 0 c 2\nq2 0 d -1\n")
RUN = parse_run(b"q1 Q0 b 1 3 t\nq1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 d 1 2 t\nq2 Q0 c 1 1 t\n")


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    before = dict(CUSTOM)
    yield
    CUSTOM.clear()
    CUSTOM.update(before)


def last_rank(ranking: fr.Ranking) -> float:
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


@pytest.mark.parametrize("threads", [1, 2])
def test_what_the_function_keeps_stays(threads: int) -> None:
    """Large arrays of one evaluation may serve the next one, but for those that somebody holds."""
    seen = []
    fr.measure(lambda ranking: seen.append(ranking.ranks) or len(ranking.ranks), name="look")
    ids = np.arange(80_000).reshape(2, 40_000)
    first = [dict.fromkeys(row[::2].tolist(), 1) for row in ids]
    second = [dict.fromkeys(row[1::2].tolist(), 1) for row in ids]

    for qrels in (first, second):
        scores = fr.evaluate_arrays(ids, None, qrels, "look", threads=threads)
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
    def mine(ranking: fr.Ranking) -> float:
        """One."""
        return 1.0

    @fr.measure
    def mine(ranking: fr.Ranking) -> float:  # noqa: F811
        """Two."""
        return 2.0

    assert fr.evaluate(QRELS, RUN, "mine").mean == {"mine": 2.0}
    assert CUSTOM["mine"].help == "Two."
    assert str(fr.parse_measure(" mine ( judged_only = True ) ")) == "mine(judged_only=True)"


@pytest.mark.parametrize("compiled", [False, True])
def test_an_error_in_it_names_measure_and_query(compiled: bool) -> None:
    def failing(ranking: fr.Ranking) -> float:
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
