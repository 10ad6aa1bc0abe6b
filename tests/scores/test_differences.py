"""The differences between two scores."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fastrank as fr

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
FIRST = {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}}
SECOND = {"q3": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}, "q1": {"a": 1.0}}


def difference(measures: str = "map num_ret gm_map") -> fr.types.ScoreDifferences:
    first, second = fr.evaluate(QRELS, [FIRST, SECOND], measures)
    return first - second


def test_values_are_the_first_minus_the_second() -> None:
    differences = difference("num_ret map relstring")

    assert differences.queries == ["q1", "q2", "q3"]
    assert differences["map"].tolist() == [0.0, -0.5, 0.5]
    assert differences["num_ret"].tolist() == [0.0, 1.0, -1.0]
    assert (differences.names, list(differences), len(differences)) == (
        ["num_ret", "map"], ["num_ret", "map"], 2,
    )  # fmt: skip
    assert "map" in differences
    assert "relstring" not in differences


def test_means_are_differences_of_means() -> None:
    first, second = fr.evaluate(QRELS, [FIRST, {"q1": {"b": 1.0}}], "map gm_map", missing="zero")

    assert (first - second).mean == {
        name: first.mean[name] - second.mean[name] for name in first.mean
    }


def test_queries_are_aligned_by_their_ids() -> None:
    """The rows of arrays come in their order, others in byte order."""
    qrels = [{1: 1}] * 11
    rows = fr.evaluate_arrays(qrels, [[1]] * 10 + [[2]], None, "map")
    named = fr.evaluate_arrays(
        qrels, [[1]] * 10 + [[2]], None, "map", queries=[str(row) for row in range(11)]
    )

    assert rows.queries != named.queries
    assert (rows - named)["map"].tolist() == [0.0] * 11
    assert (named - rows).queries == named.queries


def test_scores_of_different_queries_have_no_difference() -> None:
    first = fr.evaluate(QRELS, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, "map")
    second = fr.evaluate(QRELS, {"q1": {"a": 1.0}, "q3": {"a": 1.0}}, "map")

    with pytest.raises(
        fr.GroupError,
        match="different queries: only the first has 'q2', only the second has 'q3'",
    ):
        first - second


def test_an_error_names_a_few_queries() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(9)}
    first = fr.evaluate(qrels, {query: {"a": 1.0} for query in qrels}, "map")
    second = fr.evaluate(qrels, {"q0": {"a": 1.0}}, "map")

    with pytest.raises(fr.GroupError, match=r"has 'q1', 'q2', 'q3', 'q4', 'q5' and 3 more \("):
        first - second


def test_scores_of_different_measures_have_no_difference() -> None:
    with pytest.raises(fr.MeasureError, match="only one has P_1"):
        fr.evaluate(QRELS, FIRST, "map") - fr.evaluate(QRELS, SECOND, "map P.1")
    with pytest.raises(TypeError, match="unsupported operand"):
        fr.evaluate(QRELS, FIRST, "map") - 1.0


def test_the_queries_that_differ_most_come_first() -> None:
    table = difference().largest("map", 2)

    assert table.columns == {
        "query": ["q2", "q3"], "run": [0.5, 1.0], "run (2)": [1.0, 0.5], "difference": [-0.5, 0.5],
    }  # fmt: skip
    assert len(difference().largest("map")) == 3
    with pytest.raises(KeyError, match="'ndcg' is not among the values per query: map, num_ret"):
        difference().largest("ndcg")
    with pytest.raises(fr.OptionError, match="n: expected 0 or more"):
        difference().largest("map", -1)


def test_queries_without_a_difference_come_last() -> None:
    runs = [{"q1": {"b": 1.0}, "q2": {"a": 1.0}}, {"q1": {"b": 1.0}, "q2": {"a": 1.0}}]
    first, second = fr.evaluate(QRELS, runs, "FirstRank(unretrieved='worst')")
    (name,) = first.names

    table = (first - second).largest(name)

    assert table.columns["query"] == ["q2", "q1"]
    assert np.isnan(table.columns["difference"][1])


def test_frames_have_the_shape_of_those_of_scores() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    differences = difference("map P.1")

    assert differences.to_pandas()["value"].tolist() == [0.0, 0.0, -0.5, -1.0, 0.5, 1.0]
    assert differences.to_pandas(wide=True)["P_1"].tolist() == [0.0, -1.0, 1.0]
    assert differences.to_polars().columns == ["query", "measure", "value"]


def test_differences_can_be_pickled() -> None:
    differences = pickle.loads(pickle.dumps(difference()))

    assert differences["map"].tolist() == [0.0, -0.5, 0.5]
    assert repr(differences) == "<ScoreDifferences: 3 queries, 3 measures>"


def test_differences_are_printed_as_a_table_of_means() -> None:
    header, _, *rows = str(difference("map num_ret")).splitlines()

    assert header.split() == ["measure", "run", "run", "(2)", "difference"]
    found = difference("map num_ret")
    assert [row.split() for row in rows] == [
        ["map", *(f"{value:.4f}" for value in (
            found.first.mean["map"], found.second.mean["map"], found.mean["map"]))],
        ["num_ret", *(f"{value:.0f}" for value in (
            found.first.mean["num_ret"], found.second.mean["num_ret"], found.mean["num_ret"]))],
    ]  # fmt: skip
