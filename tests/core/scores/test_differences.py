"""The differences between two scores."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fastrank as fr
from tests.helpers.tables import calls, check_value, refusing

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
FIRST = {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}}
SECOND = {"q3": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}, "q1": {"a": 1.0}}
NINE = {f"q{i}": {"a": 1} for i in range(9)}
OF_NINE, OF_ONE, ONE, OTHER = (
    fr.evaluate(NINE, {query: {"a": 1.0} for query in found}, "map")
    for found in (NINE, ["q0"], ["q1", "q2"], ["q1", "q3"])
)


def difference(measures: str = "map num_ret gm_map") -> fr.types.ScoreDifferences:
    first, second = fr.evaluate(QRELS, [FIRST, SECOND], measures)
    return first - second


@calls("""
difference().queries => ["q1", "q2", "q3"]
difference()["map"].tolist() => [0.0, -0.5, 0.5]
pickle.loads(pickle.dumps(difference()))["map"].tolist() => [0.0, -0.5, 0.5]
difference()["num_ret"].tolist() => [0.0, 1.0, -1.0]
difference("num_ret map relstring").names => ["num_ret", "map"]
list(difference("num_ret map relstring")) => ["num_ret", "map"]
len(difference("num_ret map relstring")) => 2
"map" in difference("num_ret map relstring") => True
"relstring" in difference("num_ret map relstring") => False
repr(difference()) => "<ScoreDifferences: 3 queries, 3 measures>"
difference().largest("map", 2).columns
    => {"query": ["q2", "q3"], "run": [0.5, 1], "run (2)": [1, 0.5], "difference": [-0.5, 0.5]}
len(difference().largest("map")) => 3
""")
def test_values_are_the_first_minus_the_second(call, expected):
    check_value(call, expected, globals() | {"pickle": pickle})


test_what_has_no_difference_is_an_error = refusing("""
difference().largest("ndcg") =>
  KeyError: ...'ndcg' is not among the values per query: map, num_ret...
difference().largest("map", -1) => OptionError: n: expected 0 or more...
ONE - OTHER =>
  GroupError: ...different queries: only the first has 'q2', only the second has 'q3'...
OF_NINE - OF_ONE => GroupError: ...has 'q1', 'q2', 'q3', 'q4', 'q5' and 3 more (...
ONE - evaluate(NINE, {"q1": {"a": 1}, "q2": {"a": 1}}, "map P.1") =>
  MeasureError: ...only one has P_1
ONE - 1.0 => TypeError: unsupported operand...
""")


def test_means_are_differences_of_means():
    first, second = fr.evaluate(QRELS, [FIRST, {"q1": {"b": 1.0}}], "map gm_map", missing="zero")

    expected = {name: first.mean[name] - second.mean[name] for name in first.mean}
    assert (first - second).mean == expected


def test_queries_are_aligned_by_their_ids():
    """The rows of arrays come in their order, others in byte order."""
    arrays = [{1: 1}] * 11, [[1]] * 10 + [[2]], None, "map"

    rows = fr.evaluate_arrays(*arrays)
    named = fr.evaluate_arrays(*arrays, queries=[str(row) for row in range(11)])

    assert rows.queries != named.queries
    assert (rows - named)["map"].tolist() == [0.0] * 11
    assert (named - rows).queries == named.queries


def test_queries_without_a_difference_come_last():
    runs = [{"q1": {"b": 1.0}, "q2": {"a": 1.0}}, {"q1": {"b": 1.0}, "q2": {"a": 1.0}}]
    first, second = fr.evaluate(QRELS, runs, "FirstRank(unretrieved='worst')")

    columns = (first - second).largest(first.names[0]).columns

    assert columns["query"] == ["q2", "q1"]
    assert np.isnan(columns["difference"][1])


def test_frames_have_the_shape_of_those_of_scores():
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    differences = difference("map P.1")

    assert differences.to_pandas()["value"].tolist() == [0.0, 0.0, -0.5, -1.0, 0.5, 1.0]
    assert differences.to_pandas(wide=True)["P_1"].tolist() == [0.0, -1.0, 1.0]
    assert differences.to_polars().columns == ["query", "measure", "value"]


def test_differences_are_printed_as_a_table_of_means():
    header, _, *rows = str(difference("map num_ret")).splitlines()
    assert header.split() == ["measure", "run", "run", "(2)", "difference"]
    assert [row.split() for row in rows] == [
        ["map", "0.8333", "0.8333", "0.0000"],
        ["num_ret", "4", "4", "0"],
    ]
