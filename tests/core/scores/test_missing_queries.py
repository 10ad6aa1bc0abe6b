"""Judged queries without results that count as 0: they are among the values per query."""

from __future__ import annotations

import json
from typing import Any

import pytest

import fastrank as fr
from fastrank.cli.main import main
from tests.helpers.tables import giving

QRELS = {"q1": {"a": 1, "b": 0}, "q10": {"a": 1}, "q2": {"c": 2, "d": 1}, "q3": {"e": 1}}
RUN = {"q2": {"c": 1.0, "x": 2.0}, "q1": {"a": 1.0}, "q9": {"a": 1.0}}


def scores_of(measures: str = "map", **options: Any) -> fr.Scores:
    return fr.evaluate(QRELS, RUN, measures, missing="zero", **options)


GROUPS = {"q1": "found", "q2": "found", "q10": "not found", "q3": "not found"}
OF_ARRAYS = fr.evaluate_arrays(
    [{1: 1}] * 12, [[-1]] * 2 + [[1]] + [[-1]] * 9, None, "map", missing="zero"
)
NOTHING_JUDGED = fr.evaluate_embeddings(
    [[1.0, 0.0]],
    [[1.0, 0.0]],
    {"q1": {"d1": 1}},
    "map",
    query_ids=["other"],
    corpus_ids=["d1"],
    k=1,
    missing="zero",
)

test_missing_queries_are_zeros_in_byte_order_where_a_measure_has_a_value = giving("""
scores_of("map P.1,5").queries => ["q1", "q10", "q2", "q3"]
scores_of("map P.1,5")["map"].tolist() => [1.0, 0.0, 0.25, 0.0]
scores_of("map P.1,5")["P_5"].tolist() => [0.2, 0.0, 0.2, 0.0]
scores_of("map P.1,5").missing_queries => ["q10", "q3"]
OF_ARRAYS.queries => [str(row) for row in range(12)]
OF_ARRAYS["map"].tolist() => [0.0, 0.0, 1.0] + [0.0] * 9
NOTHING_JUDGED.to_dict() => {"q1": {"map": 0.0}}
scores_of("map num_rel").by_group(GROUPS)["not found"].to_dict()["q3"] => {"num_rel": 1, "map": 0}
scores_of("map num_rel").by_group(GROUPS)["not found"].mean => {"num_rel": 2.0, "map": 0.0}
scores_of("map num_rel").by_group(GROUPS)["found"].mean["map"] => 0.625
scores_of("FirstRank relstring gm_map").names => ["FirstRank", "relstring"]
scores_of("relstring")["relstring"].tolist() => ["1", "", "-2", ""]
[math.isnan(value) for value in scores_of("FirstRank")["FirstRank"]] => [False, True] * 2
""")


def test_dicts_frames_and_texts_have_the_same_queries():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    scores = scores_of()
    expected = dict(zip(scores.queries, scores["map"].tolist(), strict=True))

    assert {query: row["map"] for query, row in scores.to_dict().items()} == expected
    assert dict(zip(scores.queries, scores.lists()["map"], strict=True)) == expected
    assert json.loads(scores.to_json())["per_query"]["q10"] == {"map": 0.0}
    assert "q10,map,0.0\n" in scores.to_csv()
    assert "\tq10\t" not in scores.to_trec(per_query=True)
    assert "| q10     | 0.0000 |" in scores.to_markdown(per_query=True)
    for frame in (scores.to_pandas(), scores.to_polars(wide=True).to_pandas()):
        assert isinstance(frame, pandas.DataFrame)
        assert list(frame["query"]) == scores.queries
    assert isinstance(scores.to_polars(), polars.DataFrame)


@pytest.mark.parametrize("measure", ["num_rel", "NumRel", "num_ret", "map", "nDCG@5", "ERR@5"])
def test_the_summary_is_that_of_the_values(measure):
    scores = scores_of(measure)
    (name,) = scores.names
    total = sum(scores[name].tolist())

    assert scores.mean[name] == (total if "num" in measure.lower() else total / 4)


@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
@pytest.mark.parametrize("run", [{}, {"q9": {"a": 1.0}}, fr.Run.from_dict({"q9": {"a": 1.0}})])
def test_a_run_without_results_has_only_zeros(run, trec_eval_version):
    scores = fr.evaluate(
        QRELS, run, "map P.1 ndcg", missing="zero", trec_eval_version=trec_eval_version
    )

    assert scores.mean == {"map": 0.0, "P_1": 0.0, "ndcg": 0.0}
    assert scores["map"].tolist() == [0.0] * 4


def test_fastrank_eval_prints_the_rows_that_trec_eval_leaves_out(tmp_path, capfd):
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 a 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 1 t\n")
    options = ["-q", "-c", "-m", "map", str(tmp_path / "qrels"), str(tmp_path / "run")]

    printed = []
    for command in ("eval", "trec_eval"):
        assert main([command, *options]) == 0
        printed.append(capfd.readouterr().out)

    ours, original = printed
    row = "map                   \tq2\t0.0000\n"
    assert row in ours
    assert original == ours.split("\n", 1)[1].replace(row, "")
