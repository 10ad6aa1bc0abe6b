"""`fuse`: scores and order of the fused documents, for every method and normalization."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.fusion.methods import METHODS, NORMALIZATIONS
from tests.fusion import oracle
from tests.helpers.strategies import examples

NUMBERS = {
    "rrf": ("rrf_k", 60.0),
    "rbc": ("p", 0.8),
    "gmnz": ("gamma", 1.5),
    "logn_isr": ("sigma", 0.1),
}
# Few distinct scores, for ties; some are equal only as 32-bit floats.
SCORES = st.sampled_from([0.5, 0.5 + 1e-12, 1.0, 1.25, 2.0, 3.0, 7.5])
RANKINGS = st.dictionaries(st.sampled_from([f"d{i}" for i in range(8)]), SCORES, max_size=8)
ALL = st.lists(RANKINGS, min_size=2, max_size=4).filter(any)


def _fused(runs: list[oracle.Ranking], method: str = "rrf", **options: Any) -> fr.Run:
    """Several rankings of one query fused; each run also has the query `all`."""
    return fr.fuse(
        [{"q": run, "all": {"a": 1.0}} for run in runs], method, warn=[].append, **options
    )


def _check(found: dict[str, float], expected: dict[str, float]) -> None:
    """The scores, and their order by score as 32-bit float and descending id."""
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert list(found) == oracle.ranked(found)


@pytest.mark.parametrize("method", METHODS)
@examples(30)
@given(runs=ALL)
def test_scores_follow_the_formula_of_the_method(method: str, runs: list[oracle.Ranking]) -> None:
    name, number = NUMBERS.get(method, ("", 0.0))
    options = {name: number} if name else {}

    _check(_fused(runs, method, **options)["q"], oracle.fused(runs, method, number=number))


@pytest.mark.parametrize("method", oracle.WEIGHTED)
@examples(30)
@given(runs=ALL, seed=st.integers(0, 99))
def test_weights_multiply_what_the_runs_give(
    method: str, runs: list[oracle.Ranking], seed: int
) -> None:
    weights = [random.Random(seed + i).choice([0.0, 0.1, 0.2, 0.3, 2.0]) for i in range(len(runs))]
    weights[0] = 1.5
    number = NUMBERS.get(method, ("", 0.0))[1]

    expected = oracle.fused(runs, method, number=number, weights=weights)

    _check(_fused(runs, method, weights=weights)["q"], expected)


@pytest.mark.parametrize("missing", [None, "zero", "min"])
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@examples(20)
@given(runs=ALL)
def test_scores_are_normalized_query_by_query(
    normalization: str, missing: str | None, runs: list[oracle.Ranking]
) -> None:
    given_missing = None if normalization == "borda" else missing
    options = {"normalization": normalization, "missing": given_missing}

    _check(_fused(runs, "combsum", **options)["q"], oracle.fused(runs, "combsum", **options))


@pytest.mark.parametrize("method", METHODS)
@examples(20)
@given(runs=ALL, seed=st.integers(0, 9))
def test_the_order_of_the_runs_makes_no_difference(
    method: str, runs: list[oracle.Ranking], seed: int
) -> None:
    """Not even to the last bit."""
    other = runs[:]
    random.Random(seed).shuffle(other)

    first, second = (list(_fused(one, method)["q"].items()) for one in (runs, other))
    assert first == second


@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_many_documents_are_in_the_order_of_trec_eval(version: str) -> None:
    rng = random.Random(3)
    runs = [
        {f"d{i}": rng.choice([-0.0, 0.0, -1.5, 1.0, 1.0 + 1e-9, rng.gauss(0, 5)])
         for i in rng.sample(range(1500), 1000)}
        for _ in range(2)
    ]  # fmt: skip

    found = _fused(runs, "combsum", normalization="none", trec_eval_version=version)["q"]

    kind = np.float32 if version == "9.0.8" else np.float64
    assert list(found) == sorted(found, key=lambda doc: (kind(found[doc]), doc), reverse=True)
    assert found == pytest.approx(oracle.fused(runs, "combsum", normalization="none"))


def test_ties_are_by_descending_id_and_ranks_too() -> None:
    tied = {"a": 1.0, "b": 1.0}

    assert _fused([tied, tied])["q"] == {"b": 2 / 61, "a": 2 / 62}
    assert list(_fused([{"a": 1.0}, {"b": 1.0}])["q"]) == ["b", "a"]
    assert list(_fused([tied, tied], ties="docno_asc")["q"]) == ["a", "b"]
    assert list(_fused([{"b": 1.0, "a": 1.0}] * 2, ties="given")["q"]) == ["b", "a"]


def test_scores_equal_as_32_bit_floats_are_tied_as_in_the_version_of_trec_eval() -> None:
    run = {"b": 1.0, "a": 1.0 + 1e-12}

    assert list(_fused([run, run])["q"]) == ["b", "a"]
    assert list(_fused([run, run], trec_eval_version="10.0")["q"]) == ["a", "b"]


def test_depth_limits_what_is_read_before_normalization() -> None:
    runs = [{"a": 3.0, "b": 2.0, "c": 0.0}, {"c": 9.0, "a": 1.0, "b": 0.5}]

    assert _fused(runs, "combsum", depth=2)["q"] == {"c": 1.0, "a": 1.0, "b": 0.0}


def test_keep_limits_the_fused_documents() -> None:
    runs = [{"a": 3.0, "b": 2.0, "c": 0.0}, {"c": 9.0, "a": 1.0, "b": 0.5}]

    assert list(_fused(runs, keep=2)["q"]) == ["a", "c"]
    assert list(_fused(runs, keep=10)["q"]) == ["a", "c", "b"]


def test_queries_are_the_union_in_byte_order() -> None:
    notes: list[str] = []

    found = fr.fuse(
        {"x": {"10": {"a": 1.0}, "2": {"a": 1.0}}, "y": {"2": {"b": 2.0}, "1": {"c": 1.0}}},
        warn=notes.append,
    )

    assert {query: list(found[query]) for query in found} == {
        "1": ["c"], "10": ["a"], "2": ["b", "a"],
    }  # fmt: skip
    assert notes == [
        "run 'x' lacks 1 of 3 queries (1)",
        "run 'y' lacks 1 of 3 queries (10)",
    ]


def test_a_query_without_results_in_any_run_stays_empty() -> None:
    run = {"q": {"a": 1.0}, "none": {}}

    found = fr.fuse([run, run], warn=[].append)

    assert found.to_dict() == {"none": {}, "q": {"a": 2 / 61}}


def test_a_missing_query_is_a_python_warning_at_the_caller() -> None:
    with pytest.warns(UserWarning, match=r"run 2 lacks 1 of 2 queries \(p\)") as caught:
        fr.fuse([{"q": {"a": 1.0}, "p": {"a": 1.0}}, {"q": {"a": 1.0}}])

    assert caught[0].filename == __file__


def test_one_run_is_fused_with_a_note() -> None:
    notes: list[str] = []

    found = fr.fuse([{"q": {"a": 2.0, "b": 1.0}}], "combsum", warn=notes.append)

    assert found["q"] == {"a": 1.0, "b": 0.0}
    assert notes == ["there is only one run to fuse"]


def test_runs_may_be_what_evaluate_takes(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    lines = "q Q0 a 1 2.0 t\nq Q0 b 2 1.0 t\n"
    (tmp_path / "t.run").write_text(lines)
    frame = pandas.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    tuples = [("q", "a", 2.0), ("q", "b", 1.0)]
    run = fr.Run.from_arrays(["q", "q"], ["a", "b"], [2.0, 1.0])
    forms = [tmp_path / "t.run", str(tmp_path / "t.run"), io.BytesIO(lines.encode()), frame,
             tuples, run, {"q": {"a": 2.0, "b": 1.0}}]  # fmt: skip

    found = fr.fuse(forms)

    assert found["q"] == pytest.approx({"a": 7 / 61, "b": 7 / 62})


def test_an_iterator_of_runs_is_a_list_of_runs() -> None:
    run = {"q": {"a": 1.0}}

    assert fr.fuse(one for one in (run, run))["q"] == {"a": 2 / 61}


def test_the_result_can_be_evaluated_written_and_compared(tmp_path: Path) -> None:
    qrels, runs = {"q": {"a": 1}}, [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "a": 1.0}}]
    fused = fr.fuse(runs, tag="both")

    fr.write_run(fused, tmp_path / "fused.run.gz")

    assert fused.tag == "both"
    assert fr.read_run(tmp_path / "fused.run.gz").to_dict() == fused.to_dict()
    assert fr.evaluate(qrels, fused, "recip_rank").mean == {"recip_rank": 0.5}
    assert fr.compare(qrels, [fused, runs[0]], "recip_rank").names == ["both", "run"]
    assert fr.fuse(runs, "isr").tag == "isr"


def test_the_number_of_threads_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if some queries are kept only in part, and some have no results."""
    monkeypatch.setattr("fastrank.fusion.fuse.WORTH_A_THREAD", 10)
    monkeypatch.setattr("fastrank.fusion.fuse.BLOCK", 64)
    monkeypatch.setattr("fastrank.fusion.fuse.default_threads", lambda *_: 8)
    rng = random.Random(1)
    runs = [
        {f"q{q}": {f"d{rng.randrange(50)}": rng.random() for _ in range(rng.randrange(40))}
         for q in range(60)}
        for _ in range(3)
    ]  # fmt: skip
    found = [
        fr.fuse(runs, "combmnz", keep=20, threads=threads, warn=[].append) for threads in (1, 3, 8)
    ]

    assert found[0].to_dict() == found[1].to_dict() == found[2].to_dict()
    for query in found[0]:
        expected = oracle.fused([run[query] for run in runs], "combmnz")
        assert found[2][query] == pytest.approx(
            {doc: expected[doc] for doc in oracle.ranked(expected)[:20]}
        )


def test_condorcet_ignores_runs_without_both_documents() -> None:
    runs = [{"a": 2.0, "b": 1.0}, {"c": 2.0, "d": 1.0}]

    assert _fused(runs, "condorcet")["q"] == {"c": 2.0, "a": 2.0, "d": 1.0, "b": 1.0}


def test_a_missing_document_counts_as_the_lowest_z_score() -> None:
    """As 0, the mean, it would rank above documents that both runs have below the mean."""
    runs = [{"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.9, "c": 1.0}, {"d": 4.0, "e": 3.0, "x": 2.0}]

    found = _fused(runs, "combsum", normalization="z")["q"]
    zero = _fused(runs, "combsum", normalization="z", missing="zero")["q"]

    assert zero["y"] > zero["x"]
    assert found["x"] > found["y"]
