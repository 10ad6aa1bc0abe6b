"""Results of Hugging Face datasets' faiss search: judged as they are, and as runs."""

import numpy as np
import pytest
import pytrec_eval

from fastrank.compat.datasets import evaluate_results, results_to_run
from fastrank.errors import ArrayError, OptionError

NOTHING_FOUND = np.finfo(np.float32).max
DOCS = [f"d{i}" for i in range(6)]
QRELS = {"q1": {"d2": 1, "d5": 2}, "q2": {"d0": 1}}
QUERIES = ["q1", "q2"]
# Row 0: d3 at 0.5, d2 at 0.25. Row 1: d0, d1 and d4, and nothing more.
DISTANCES = np.array([[0.5, 0.25, 1.0], [0.5, 0.75, NOTHING_FOUND]], np.float32)
ROWS = np.array([[3, 2, 5], [4, 0, -1]])


def _by_pytrec_eval(run, measures):
    values = pytrec_eval.RelevanceEvaluator(QRELS, measures).evaluate(run)
    return {name: float(np.mean([own[name] for own in values.values()])) for name in measures}


# L2 is what datasets search by if nothing is said, and its -1 is no document.
BY_METRIC = {
    "l2": {"q1": {"d3": -0.5, "d2": -0.25, "d5": -1.0}, "q2": {"d4": -0.5, "d0": -0.75}},
    "ip": {"q1": {"d3": 0.5, "d2": 0.25, "d5": 1.0}, "q2": {"d4": 0.5, "d0": 0.75}},
}


class _FaissIndex:
    """What datasets' FaissIndex and faiss's own index have in common with the real ones."""

    def __init__(self, metric_type):
        self.faiss_index = self
        self.metric_type = metric_type


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "l2"),
        ({"metric": "l2"}, "l2"),
        ({"metric": 1}, "l2"),
        ({"metric": _FaissIndex(1)}, "l2"),
        ({"metric": "ip"}, "ip"),
        ({"metric": 0}, "ip"),
        ({"metric": _FaissIndex(0)}, "ip"),
    ],
)
def test_the_smallest_distances_and_the_largest_products_rank_first(options, name):
    """faiss numbers inner product 0 and L2 1."""
    given, measures = {"queries": QUERIES, "docs": DOCS, **options}, "map recip_rank ndcg_cut.2"
    assert results_to_run((DISTANCES, ROWS), **given).to_dict() == BY_METRIC[name]
    found = evaluate_results(QRELS, (DISTANCES, ROWS), measures, **given)
    expected = _by_pytrec_eval(BY_METRIC[name], {"map", "recip_rank", "ndcg_cut_2"})
    assert found.mean == expected


def test_nearest_examples_have_their_ids():
    """As `get_nearest_examples_batch` returns them, shorter where less is found."""
    examples = [{"id": ["d3", "d2", "d5"], "n": [0, 0, 0]}, {"id": np.array(["d4", "d0"])}]
    results = [DISTANCES[0], DISTANCES[1, :2]], examples

    found = results_to_run(results, queries=QUERIES, docs="id")

    assert (
        found.to_dict() == results_to_run((DISTANCES, ROWS), queries=QUERIES, docs=DOCS).to_dict()
    )
    assert evaluate_results(QRELS, results, "RR", queries=QUERIES, docs="id").mean == {"RR": 0.75}
    with pytest.raises(ArrayError, match=r"total_examples\[0\]: expected a column 'doc', found"):
        results_to_run(results, queries=QUERIES, docs="doc")
    with pytest.raises(ArrayError, match=r"total_scores\[1\]: expected 2, one per example"):
        results_to_run((DISTANCES, examples), queries=QUERIES, docs="id")


@pytest.mark.parametrize(("metric", "name"), [("dot", "ip"), ("euclidean", "l2")])
def test_a_metric_may_have_its_other_names(metric, name):
    runs = [results_to_run((DISTANCES, ROWS), metric=word) for word in (metric, name)]

    assert runs[0].to_dict() == runs[1].to_dict()


def test_without_ids_documents_are_rows_of_the_dataset():
    by_rows = evaluate_results([{2: 1, 5: 2}, {0: 1}], (DISTANCES, ROWS), "map")
    by_ids = evaluate_results(QRELS, (DISTANCES, ROWS), "map", queries=QUERIES, docs=DOCS)
    assert by_rows.mean == by_ids.mean


def test_a_run_keeps_queries_without_results():
    """They count as queries for which nothing was found."""
    run = results_to_run(([[NOTHING_FOUND], [0.5]], [[-1], [2]]), queries=QUERIES, docs=DOCS)
    assert run.to_dict() == {"q1": {}, "q2": {"d2": -0.5}}
    assert run.tag == "datasets"


def test_rows_are_the_ids_where_there_are_no_others_and_ids_may_be_integers():
    """A column of a dataset often is an array of them."""
    assert results_to_run(([[0.5]], [[2]]), metric="ip").to_dict() == {"0": {"2": 0.5}}
    run = results_to_run(([[0.5]], [[2]]), metric="ip", queries=[7], docs=np.array([30, 31, 32]))
    assert run.to_dict() == {"7": {"32": 0.5}}


RESULTS = (DISTANCES, ROWS)
# Whether larger scores are better would be a guess.
METRIC = "metric: expected 'l2', 'ip' or a faiss index"
MISSING = r"docs\[1\]: expected an id, found a missing value"


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
        (([[0.5]], [[1]]), {"docs": ["a", None]}, MISSING),
        *((RESULTS, {"metric": own}, METRIC) for own in ("cosine", 4, None)),
    ],
)
def test_what_does_not_fit_is_named(results, given, message):
    error = OptionError if message == METRIC else ArrayError
    with pytest.raises(error, match=message):
        results_to_run(results, **given)


@pytest.mark.parametrize("metric", [None, 0, 1])
def test_results_of_a_real_dataset(metric, tmp_path):
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
    rows = zip(QUERIES, scores.tolist(), strict=True)
    run = {query: dict(zip(DOCS, own, strict=True)) for query, own in rows}
    # More than there are: the rest is padding.
    results = dataset.search_batch("vector", queries, k=8)
    given = {"metric": dataset.get_index("vector"), "queries": QUERIES, "docs": dataset["id"]}
    found = evaluate_results(QRELS, results, "map ndcg", **given)
    assert np.asarray(results.total_indices).min() == -1
    assert found.mean == _by_pytrec_eval(run, {"map", "ndcg"})
