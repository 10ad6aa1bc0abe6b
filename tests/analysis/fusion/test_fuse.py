"""`fuse`: scores and order of the fused documents, for every method and normalization."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.analysis.fusion.methods import METHODS, NORMALIZATIONS
from tests.analysis.fusion import oracle
from tests.helpers.strategies import examples
from tests.helpers.tables import giving

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
@examples(25)
@given(runs=ALL, seed=st.integers(0, 99))
def test_scores_follow_the_formula_of_the_method(method, runs, seed):
    """With weights, where it has them; the order of the runs makes no difference."""
    name, number = NUMBERS.get(method, ("", 0.0))
    options: dict[str, Any] = {name: number} if name else {}
    other = random.Random(seed).sample(runs, len(runs))

    found = _fused(runs, method, **options)["q"]

    _check(found, oracle.fused(runs, method, number=number))
    assert list(_fused(other, method, **options)["q"].items()) == list(found.items())
    if method in oracle.WEIGHTED:
        rng = random.Random(seed)
        weights = [1.5, *(rng.choice([0.0, 0.1, 0.2, 0.3, 2.0]) for _ in runs[1:])]
        expected = oracle.fused(runs, method, number=number, weights=weights)
        _check(_fused(runs, method, **options, weights=weights)["q"], expected)


@pytest.mark.parametrize("unretrieved", [None, "zero", "min"])
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@examples(20)
@given(runs=ALL)
def test_scores_are_normalized_query_by_query(normalization, unretrieved, runs):
    wanted = None if normalization == "borda" else unretrieved
    options = {"normalization": normalization, "unretrieved": wanted}

    _check(_fused(runs, "combsum", **options)["q"], oracle.fused(runs, "combsum", **options))


@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_many_documents_are_in_the_order_of_trec_eval(version):
    rng = random.Random(3)
    scores = [-0.0, 0.0, -1.5, 1.0, 1.0 + 1e-9]
    runs = [
        {f"d{i}": rng.choice([*scores, rng.gauss(0, 5)]) for i in rng.sample(range(1500), 1000)}
        for _ in range(2)
    ]

    found = _fused(runs, "combsum", normalization="none", trec_eval_version=version)["q"]

    kind = np.float32 if version == "9.0.8" else np.float64
    assert list(found) == sorted(found, key=lambda doc: (kind(found[doc]), doc), reverse=True)
    assert found == pytest.approx(oracle.fused(runs, "combsum", normalization="none"))


A, TIED, BACKWARD = {"a": 1.0}, {"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}
CLOSE = {"b": 1.0, "a": 1.0 + 1e-12}
DEEP = [{"a": 3.0, "b": 2.0, "c": 0.0}, {"c": 9.0, "a": 1.0, "b": 0.5}]
APART = [{"a": 2.0, "b": 1.0}, {"c": 2.0, "d": 1.0}]
# As 0, the mean, y would rank above x, which both runs have below the mean.
BELOW = [{"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.9, "c": 1.0}, {"d": 4.0, "e": 3.0, "x": 2.0}]
PLAIN, EMPTY = {"q": A}, {"q": A, "none": {}}


def _order(*runs: oracle.Ranking, **options: Any) -> str:
    return "".join(_fused(list(runs), **options)["q"])


test_documents_are_in_this_order = giving("""
_fused([TIED, TIED])["q"] => {"b": 2 / 61, "a": 2 / 62}
_order({"a": 1.0}, {"b": 1.0}) => "ba"
_order(TIED, TIED) => "ba"
_order(TIED, TIED, ties="docno_asc") => "ab"
_order(BACKWARD, BACKWARD, ties="given") => "ba"
_order(TIED, TIED, ties="given") => "ab"
_order(CLOSE, CLOSE) => "ba"
_order(CLOSE, CLOSE, trec_eval_version="10.0") => "ab"
_fused(DEEP, "combsum", depth=2)["q"] => {"c": 1.0, "a": 1.0, "b": 0.0}
_order(*DEEP, keep=2) => "ac"
_order(*DEEP, keep=10) => "acb"
_fused(APART, "condorcet")["q"] => {"c": 2.0, "a": 2.0, "d": 1.0, "b": 1.0}
_order(*BELOW, method="combsum", normalization="z") => "adbexyc"
_order(*BELOW, method="combsum", normalization="z", unretrieved="zero") => "adbeycx"
fuse([EMPTY, EMPTY], warn=[].append).to_dict() => {"none": {}, "q": {"a": 2 / 61}}
fuse(one for one in (PLAIN, PLAIN))["q"] => {"a": 2 / 61}
fuse([PLAIN, PLAIN], "isr").tag => "isr"
""")


def test_queries_are_the_union_in_byte_order_and_missing_ones_are_noted():
    notes: list[str] = []
    x, y = {"10": {"a": 1.0}, "2": {"a": 1.0}}, {"2": {"b": 2.0}, "1": {"c": 1.0}}

    found = fr.fuse({"x": x, "y": y}, warn=notes.append)

    assert [(query, list(found[query])) for query in found] == [
        ("1", ["c"]),
        ("10", ["a"]),
        ("2", ["b", "a"]),
    ]
    assert notes == ["run 'x' lacks 1 of 3 queries (1)", "run 'y' lacks 1 of 3 queries (10)"]


def test_a_query_that_found_nothing_is_not_missing():
    notes: list[str] = []

    fr.fuse([{"q": {"a": 1.0}, "p": {}}, {"q": {"a": 1.0}, "p": {"a": 1.0}}], warn=notes.append)

    assert notes == []


def test_a_missing_query_is_a_python_warning_at_the_caller():
    with pytest.warns(UserWarning, match=r"run 2 lacks 1 of 2 queries \(p\)") as caught:
        fr.fuse([{"q": {"a": 1.0}, "p": {"a": 1.0}}, PLAIN])

    assert caught[0].filename == __file__


def test_one_run_is_fused_with_a_note():
    notes: list[str] = []

    found = fr.fuse([{"q": {"a": 2.0, "b": 1.0}}], "combsum", warn=notes.append)

    assert found["q"] == {"a": 1.0, "b": 0.0}
    assert notes == ["there is only one run to fuse"]


def test_runs_may_be_what_evaluate_takes(tmp_path):
    pandas = pytest.importorskip("pandas")
    lines = "q Q0 a 1 2.0 t\nq Q0 b 2 1.0 t\n"
    (path := tmp_path / "t.run").write_text(lines)
    frame = pandas.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    tuples = [("q", "a", 2.0), ("q", "b", 1.0)]
    run = fr.Run.from_arrays(["q", "q"], ["a", "b"], [2.0, 1.0])
    stream = io.BytesIO(lines.encode())

    found = fr.fuse([path, str(path), stream, frame, tuples, run, {"q": {"a": 2.0, "b": 1.0}}])

    assert found["q"] == pytest.approx({"a": 7 / 61, "b": 7 / 62})


def test_the_result_can_be_evaluated_written_and_compared(tmp_path):
    qrels, runs = {"q": {"a": 1}}, [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "a": 1.0}}]
    fused = fr.fuse(runs, tag="both")

    fr.write_run(fused, tmp_path / "fused.run.gz")

    assert fr.read_run(tmp_path / "fused.run.gz").to_dict() == fused.to_dict()
    assert fr.evaluate(qrels, fused, "recip_rank").mean == {"recip_rank": 0.5}
    assert fr.compare(qrels, [fused, runs[0]], "recip_rank").names == ["both", "run"]


def test_the_number_of_threads_makes_no_difference(monkeypatch):
    """Also if some queries are kept only in part, and some have no results."""
    monkeypatch.setattr("fastrank.analysis.fusion.fuse.WORTH_A_THREAD", 10)
    monkeypatch.setattr("fastrank.analysis.fusion.fuse.BLOCK", 64)
    monkeypatch.setattr("fastrank.analysis.fusion.fuse.default_threads", lambda *_: 8)
    rng = random.Random(1)

    def ranking() -> oracle.Ranking:
        return {f"d{rng.randrange(50)}": rng.random() for _ in range(rng.randrange(40))}

    runs = [{f"q{q}": ranking() for q in range(60)} for _ in range(3)]
    found = [
        fr.fuse(runs, "combmnz", keep=20, threads=threads, warn=[].append) for threads in (1, 3, 8)
    ]

    assert found[0].to_dict() == found[1].to_dict() == found[2].to_dict()
    for query in found[0]:
        expected = oracle.fused([run[query] for run in runs], "combmnz")
        kept = {doc: expected[doc] for doc in oracle.ranked(expected)[:20]}
        assert found[2][query] == pytest.approx(kept)
