"""The overlap of two runs, query by query.

For 500 random pairs of rankings whose documents are named in the order of appearance, the values of
KTU also agree with those of repro_eval 0.5.0, and the truncated RBO with its RBO, within 1e-14.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

import fastrank as fr

SCORES = st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 6))
RUNS = st.dictionaries(st.sampled_from(["q1", "q2", "q10"]), SCORES, min_size=1)


def _ranked(scores: dict[str, int]) -> list[str]:
    """The documents in trec_eval's order."""
    return sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)


def _expected(
    first: dict[str, int], second: dict[str, int], depth: int, ties: str
) -> tuple[float, ...]:
    tops = [set(_ranked(run)[:depth]) for run in (first, second)]
    shared = [doc for doc in first if doc in second]
    ranks = [[run[doc] for doc in shared] for run in (first, second)]
    tau = kendalltau(*ranks).statistic if len(shared) > 1 else math.nan
    common = len(tops[0] & tops[1])
    ranked = [_ranked(run) for run in (first, second)]
    union = list(dict.fromkeys([*ranked[0], *ranked[1]]))
    places = [union.index(doc) for doc in ranked[1][: len(first)]]
    ktu = kendalltau(range(len(places)), places).statistic if len(places) > 1 else math.nan
    return (
        common,
        common / len(tops[0] | tops[1]) if tops[0] | tops[1] else math.nan,
        fr.rbo(first, second, 0.8, variant=ties).ext,
        tau,
        ktu,
    )


@settings(deadline=None)
@given(RUNS, RUNS, st.integers(1, 12), st.sampled_from("wab"))
def test_every_query_has_the_values_of_its_rankings(
    first: dict[str, dict[str, int]], second: dict[str, dict[str, int]], depth: int, ties: str
) -> None:
    """A query that only one of the runs has counts as empty in the other."""
    second = {**second, next(iter(first)): {"a": 1, "b": 1}}

    rows = list(fr.overlap(first, second, depth=depth, p=0.8, variant=ties).rows())

    assert [query for query, *_ in rows] == [*sorted(first.keys() | second.keys()), "all"]
    for query, *values in rows[:-1]:
        expected = _expected(first.get(query, {}), second.get(query, {}), depth, ties)
        assert values == pytest.approx(expected, abs=1e-14, nan_ok=True)


def test_the_last_row_has_the_means_of_the_values_that_exist() -> None:
    first = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}, "q3": {}}
    second = {"q1": {"b": 2, "a": 1}, "q2": {"a": 1}, "q3": {}}

    columns = fr.overlap(first, second, p=0.5).columns
    assert columns["query"] == ["q1", "q2", "q3", "all"]
    assert columns["shared@10"] == [2, 1, 0, 1.0]
    assert columns["jaccard@10"] == pytest.approx([1, 1, math.nan, 1], nan_ok=True)
    assert columns["rbo"] == pytest.approx([0.5, 1, math.nan, 0.75], nan_ok=True)
    assert columns["tau"] == pytest.approx([-1, math.nan, math.nan, -1], nan_ok=True)


@pytest.mark.parametrize(("second", "expected"), [("abd", 1.0), ("bec", 1 / 3)])
def test_ktu_has_the_values_of_the_examples_of_its_definition(second: str, expected: float) -> None:
    """Rankings d1 d2 d3 and d1 d2 d4, or d2 d5 d3."""
    runs = [{"q": {doc: -rank for rank, doc in enumerate(docs)}} for docs in ("abc", second)]

    assert fr.overlap(*runs).columns["ktu"][0] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("names", [{"a": "z", "b": "y"}, {"c": "0", "d": "1", "a": "x"}])
def test_ktu_does_not_depend_on_the_names_of_documents(names: dict[str, str]) -> None:
    """repro_eval sorts the union by name."""
    values = []
    for named in ({}, names):
        runs = [
            {"q": {named.get(doc, doc): -rank for rank, doc in enumerate(docs)}}
            for docs in ("abcdef", "bagcdh")
        ]
        values.append(fr.overlap(*runs).columns["ktu"][0])

    assert values[0] == values[1]


def test_equal_runs_overlap_fully() -> None:
    table = fr.overlap("data/pca.run", "data/pca.run", variant="b")

    assert set(table.columns["shared@10"]) == {10}
    assert table.columns["rbo"] == pytest.approx([1.0] * 201)
    assert set(table.columns["tau"]) == {1.0}


def test_files_and_dicts_give_the_same_table() -> None:
    runs = "data/pixels.run", "data/pca.run"
    dicts = [fr.read_run(run).to_dict() for run in runs]

    assert fr.overlap(*runs).columns == fr.overlap(*dicts).columns


def test_scores_are_compared_as_the_version_of_trec_eval_does() -> None:
    """The two documents are tied as 32-bit floats, and the larger id comes first."""
    first, second = {"q": {"a": 1.00000001, "b": 1.0}}, {"q": {"a": 2, "b": 1}}
    tables = [
        fr.overlap(first, second, depth=1, trec_eval_version=version)
        for version in ("9.0.8", "10.0")
    ]

    assert [table.columns["shared@1"][0] for table in tables] == [0, 1]
    assert tables[1].columns["tau"][0] == 1.0
