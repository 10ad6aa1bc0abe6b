"""Results of Hugging Face datasets' faiss search: judged as they are, and as runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval

import fastrank as fr
from fastrank.compat.datasets import evaluate_results, results_to_run

NOTHING_FOUND = np.finfo(np.float32).max
DOCS = [f"d{i}" for i in range(6)]
QRELS = {"q1": {"d2": 1, "d5": 2}, "q2": {"d0": 1}}
QUERIES = ["q1", "q2"]
# Row 0: d3 at 0.5, d2 at 0.25. Row 1: d0, d1 and d4, and nothing more.
DISTANCES = np.array([[0.5, 0.25, 1.0], [0.5, 0.75, NOTHING_FOUND]], np.float32)
ROWS = np.array([[3, 2, 5], [4, 0, -1]])


def _by_pytrec_eval(run: dict[str, dict[str, float]], measures: set[str]) -> dict[str, float]:
    values = pytrec_eval.RelevanceEvaluator(QRELS, measures).evaluate(run)
    return {name: float(np.mean([own[name] for own in values.values()])) for name in measures}


def test_distances_rank_by_the_smallest() -> None:
    """L2 is what datasets search by if nothing is said, and its -1 is no document."""
    found = evaluate_results(
        QRELS, (DISTANCES, ROWS), "map recip_rank ndcg_cut.2", queries=QUERIES, docs=DOCS
    )

    run = {"q1": {"d3": -0.5, "d2": -0.25, "d5": -1.0}, "q2": {"d4": -0.5, "d0": -0.75}}
    assert found.mean == _by_pytrec_eval(run, {"map", "recip_rank", "ndcg_cut_2"})


def test_inner_products_rank_by_the_largest() -> None:
    """Of the same numbers as products the order is the other."""
    found = evaluate_results(
        QRELS, (DISTANCES, ROWS), "map", metric="ip", queries=QUERIES, docs=DOCS
    )

    run = {"q1": {"d3": 0.5, "d2": 0.25, "d5": 1.0}, "q2": {"d4": 0.5, "d0": 0.75}}
    assert found.mean == _by_pytrec_eval(run, {"map"})


def test_nearest_examples_have_their_ids() -> None:
    """As `get_nearest_examples_batch` returns them, shorter where less is found."""
    examples = [{"id": ["d3", "d2", "d5"], "n": [0, 0, 0]}, {"id": np.array(["d4", "d0"])}]
    results = [DISTANCES[0], DISTANCES[1, :2]], examples

    found = results_to_run(results, queries=QUERIES, docs="id")

    assert (
        found.to_dict() == results_to_run((DISTANCES, ROWS), queries=QUERIES, docs=DOCS).to_dict()
    )
    assert evaluate_results(QRELS, results, "RR", queries=QUERIES, docs="id").mean == {"RR": 0.75}
    with pytest.raises(fr.ArrayError, match=r"total_examples\[0\]: expected a column 'doc', found"):
        results_to_run(results, queries=QUERIES, docs="doc")
    with pytest.raises(fr.ArrayError, match=r"total_scores\[1\]: expected 2, one per example"):
        results_to_run((DISTANCES, examples), queries=QUERIES, docs="id")


def test_without_ids_documents_are_rows_of_the_dataset() -> None:
    """Judgments are then of row numbers, and queries of the rows of the results."""
    by_rows = evaluate_results([{2: 1, 5: 2}, {0: 1}], (DISTANCES, ROWS), "map")
    by_ids = evaluate_results(QRELS, (DISTANCES, ROWS), "map", queries=QUERIES, docs=DOCS)

    assert by_rows.mean == by_ids.mean


def test_a_run_keeps_queries_without_results() -> None:
    """They count as queries for which nothing was found."""
    run = results_to_run(([[NOTHING_FOUND], [0.5]], [[-1], [2]]), queries=QUERIES, docs=DOCS)

    assert run.to_dict() == {"q1": {}, "q2": {"d2": -0.5}}
    assert run.tag == "datasets"


def test_rows_are_the_ids_where_there_are_no_others() -> None:
    """Documents and queries alike."""
    assert results_to_run(([[0.5]], [[2]]), metric="ip").to_dict() == {"0": {"2": 0.5}}


def test_ids_may_be_integers() -> None:
    """A column of a dataset often is an array of them."""
    run = results_to_run(([[0.5]], [[2]]), metric="ip", queries=[7], docs=np.array([30, 31, 32]))

    assert run.to_dict() == {"7": {"32": 0.5}}


class _FaissIndex:
    """What datasets' FaissIndex and faiss's own index have in common with the real ones."""

    def __init__(self, metric_type: int) -> None:
        self.faiss_index = self
        self.metric_type = metric_type


@pytest.mark.parametrize(("number", "name"), [(0, "ip"), (1, "l2")])
def test_an_index_knows_its_metric(number: int, name: str) -> None:
    """faiss numbers inner product 0 and L2 1."""
    by_name = results_to_run((DISTANCES, ROWS), metric=name).to_dict()

    assert results_to_run((DISTANCES, ROWS), metric=_FaissIndex(number)).to_dict() == by_name
    assert results_to_run((DISTANCES, ROWS), metric=number).to_dict() == by_name


@pytest.mark.parametrize(
    ("results", "given", "message"),
    [
        (([[0.5]], [[6]]), {"docs": DOCS}, r"total_indices\[0, 0\]: expected a row number below 6"),
        (([[0.5]], [[-2]]), {}, r"total_indices\[0, 0\]: expected a row number, .* found -2"),
        (([[0.5, np.nan]], [[1, 2]]), {}, r"total_scores\[0, 1\]: expected a score, found nan"),
        (([[0.5]], [[1, 2]]), {}, r"total_scores: expected the shape of total_indices \(1, 2\)"),
        (([0.5], [1]), {}, r"total_scores: expected a table"),
        (([[0.5]], [[1.0]]), {}, r"total_indices: expected integers"),
        (None, {}, r"results: expected \(total_scores, total_indices\), found NoneType"),
        (([[0.5]], [[1]]), {"queries": QUERIES}, r"queries: expected 1, one per row, found 2"),
        (([[0.5]] * 2, [[1]] * 2), {"queries": [7, 7]}, r"queries\[1\]: '7' appears twice"),
        (([[0.5]], [[1]]), {"docs": "ab"}, r"docs: expected a list of ids, found 'ab'"),
        (
            ([[0.5]], [[1]]), {"docs": ["a", None]},
            r"docs\[1\]: expected an id, found the missing value None",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(results: Any, given: Any, message: str) -> None:
    """With the argument, and the row and column where there is one."""
    with pytest.raises(fr.ArrayError, match=message):
        results_to_run(results, **given)


@pytest.mark.parametrize("metric", ["cosine", 4, None])
def test_another_metric_is_refused(metric: object) -> None:
    """Whether larger scores are better would be a guess."""
    with pytest.raises(fr.OptionError, match="metric: expected 'l2', 'ip' or a faiss index"):
        results_to_run((DISTANCES, ROWS), metric=metric)


@pytest.mark.parametrize("metric", [None, 0, 1])
def test_results_of_a_real_dataset(metric: int | None, tmp_path: Path) -> None:
    """By default, by inner product and by L2: as sorting all documents by hand says."""
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("faiss")
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((6, 4), np.float32)
    queries = rng.standard_normal((2, 4), np.float32)
    dataset = datasets.Dataset.from_dict({"id": DOCS, "vector": vectors.tolist()})
    dataset = dataset.with_format("numpy", columns=["vector"], output_all_columns=True)
    dataset.add_faiss_index("vector", metric_type=metric)
    scores = queries @ vectors.T
    if metric != 0:
        scores = -(((queries[:, None] - vectors[None]) ** 2).sum(axis=2))
    run = {
        query: dict(zip(DOCS, map(float, own), strict=True))
        for query, own in zip(QUERIES, scores, strict=True)
    }

    # More than there are: the rest is padding.
    results = dataset.search_batch("vector", queries, k=8)
    found = evaluate_results(
        QRELS, results, "map ndcg", metric=dataset.get_index("vector"), queries=QUERIES,
        docs=dataset["id"],
    )  # fmt: skip

    assert np.asarray(results.total_indices).min() == -1
    assert found.mean == _by_pytrec_eval(run, {"map", "ndcg"})
