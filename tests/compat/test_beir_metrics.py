"""The custom metrics of BEIR, each reproduced by a name and options; Hole@k among them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.cli.main import main
from fastrank.errors import MeasureError
from tests.helpers.parsing import write_trec_qrels, write_trec_run
from tests.helpers.strategies import examples

# As BEIR ranks: doubles, those of one score in the order of the dict; over all judged queries.
LIKE_BEIR: dict[str, Any] = {"ties": "given", "trec_eval_version": "10.0", "missing": "zero"}
CUTOFFS = [1, 2, 3, 10]
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"d": 1, "e": -1}, "q3": {"f": 2}}
RUN = {"q1": {"d": 0.9, "x": 0.8, "a": 0.7}, "q2": {"y": 0.5, "z": 0.5, "e": 0.5}}

JUDGMENTS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 2), min_size=1).filter(
        lambda grades: any(grades.values())
    ),
    min_size=1,
)
RESULTS = st.dictionaries(
    st.sampled_from("abcdefghijk"), st.sampled_from([0.25, 0.5, 0.5 + 1e-12, 1.0]), min_size=1
)


def hole(qrels: dict[str, Any], run: dict[str, dict[str, float]], k: int) -> dict[str, float]:
    """Per query, the share of the first k that no query has a judgment of."""
    annotated = {doc for grades in qrels.values() for doc in grades}
    return {
        query: sum(
            doc not in annotated for doc in sorted(scores, key=scores.__getitem__, reverse=True)[:k]
        ) / k
        for query, scores in run.items() if query in qrels
    }  # fmt: skip


@given(qrels=JUDGMENTS, data=st.data())
@examples(100)
def test_hole_is_what_no_query_has_judged(qrels: dict[str, Any], data: st.DataObject) -> None:
    run = data.draw(st.fixed_dictionaries(dict.fromkeys(qrels, RESULTS) | {"q4": RESULTS}))
    names = [f"Hole@{k}" for k in CUTOFFS]
    for given_run in (run, fr.Run.from_dict(run)):
        scores = fr.evaluate(qrels, given_run, ["map", *names], **LIKE_BEIR)
        for k, name in zip(CUTOFFS, names, strict=True):
            found = dict(zip(scores.queries, scores[name].tolist(), strict=True))
            assert found == hole(qrels, run, k)


@given(qrels=JUDGMENTS, data=st.data())
@examples(60)
def test_the_functions_of_beir(qrels: dict[str, Any], data: st.DataObject) -> None:
    metrics = pytest.importorskip("beir.retrieval.custom_metrics")
    # Some queries without results; BEIR knows none without a relevant document.
    answered = data.draw(st.sets(st.sampled_from(sorted(qrels)), min_size=1))
    run = {query: data.draw(RESULTS) for query in sorted(answered)}
    names = {
        "MRR": ("RR", metrics.mrr), "R_cap": ("RCap", metrics.recall_cap),
        "Accuracy": ("Success", metrics.top_k_accuracy), "Hole": ("Hole", metrics.hole),
    }  # fmt: skip
    for theirs, (ours, function) in names.items():
        found = fr.evaluate(qrels, run, [f"{ours}@{k}" for k in CUTOFFS], **LIKE_BEIR).mean
        expected = function(qrels, run, CUTOFFS)
        assert {f"{theirs}@{k}": found[f"{ours}@{k}"] for k in CUTOFFS} == pytest.approx(
            expected, abs=5.1e-6
        )


def test_four_programs_differ_on_the_share_that_is_not_judged() -> None:
    """A judged and an unjudged document; and one that is judged for the other query only."""
    qrels = {"q1": {"d1": 1}, "q2": {"d9": 1}}
    run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d1": 0.9}}
    found = fr.evaluate(qrels, run, "Hole@1 hole_2 Hole@10 Unjudged(denominator='k')@10").mean
    assert found == {
        "Hole@1": 0.0, "hole_2": 0.25, "Hole@10": 0.05, "Unjudged(denominator='k')@10": 0.1
    }  # fmt: skip


def test_hole_with_other_options() -> None:
    def found(**options: Any) -> list[float]:
        values: list[float] = fr.evaluate(QRELS, RUN, "Hole@3", **options)["Hole@3"].tolist()
        return values

    assert found() == [1 / 3, 2 / 3]
    assert found(depth=1) == [0.0, 1 / 3]
    assert found(depth=1, ties="docno_asc") == [0.0, 0.0]
    assert found(judged_only=True) == [0.0, 0.0]
    assert found(exclude={"q1": ["x"]}) == [0.0, 2 / 3]
    assert found(relevance_level=2) == [1 / 3, 2 / 3]
    assert found(missing="zero", trec_eval_version="10.0") == [1 / 3, 2 / 3, 0.0]
    assert fr.evaluate(QRELS, RUN, "Hole@3", missing="zero").mean == {"Hole@3": (1 / 3 + 2 / 3) / 3}


def test_hole_of_files(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_trec_qrels(fr.Qrels.from_dict(QRELS), tmp_path / "qrels")
    write_trec_run(fr.Run.from_dict(RUN), tmp_path / "run")
    files = [str(tmp_path / name) for name in ("qrels", "run")]

    assert main(["eval", "-q", "-m", "map", "-m", "Hole@3", *files]) == 0
    lines = capfdbinary.readouterr().out.decode().split("\n")
    assert [line.split()[1:] for line in lines if line.startswith("Hole@3")] == [
        ["q1", "0.3333"], ["q2", "0.6667"], ["all", "0.5000"]
    ]  # fmt: skip


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_orders_by_grade_are_those_of_one_query(ties: str) -> None:
    with pytest.raises(MeasureError, match="Hole@3"):
        fr.evaluate(QRELS, RUN, "Hole@3", ties=ties)


def test_the_average_of_hole_is_its_mean_over_every_order() -> None:
    """Of the documents a, b and x of query q1, x is in no judgments; z of q2 is in those of q1."""
    qrels = {"q1": {"a": 1, "z": 0}, "q2": {"b": 1}}
    run = {"q1": {"a": 1.0, "b": 1.0, "x": 1.0}, "q2": {"z": 2.0, "y": 1.0, "b": 1.0}}

    scores = fr.evaluate(qrels, run, "Hole@2 map", ties="average")

    assert scores["Hole@2"].tolist() == pytest.approx([2 / 3 / 2, 1 / 2 / 2])
    cut = fr.evaluate(qrels, run, "Hole@2", ties="average", depth=1)
    assert cut["Hole@2"].tolist() == pytest.approx([1 / 3 / 2, 0])


def test_where_there_are_no_ids_to_look_for() -> None:
    with pytest.raises(MeasureError, match="'Hole@3' needs the judgments of all queries"):
        fr.evaluate_arrays([{1: 1}], [[1]], None, "Hole@3")
    with pytest.raises(MeasureError, match="'Hole@3' needs the judgments of all queries"):
        fr.evaluate_labels([[1]], [[1.0]], "Hole@3")
    with pytest.raises(MeasureError, match="Hole requires cutoff"):
        fr.evaluate(QRELS, RUN, "Hole")
