"""Sparse vectors are searched block by block, and never made dense as a whole."""

import numpy as np
import pytest
from scipy import sparse

import fastrank as fr
from fastrank.errors import OptionError
from fastrank.searching import search
from tests.helpers.searches import scores_of

RNG = np.random.default_rng(11)
# Small integers, whose products are exact, so that dense and sparse scores are the same numbers.
CORPUS = RNG.integers(-2, 3, (90, 40)) * (RNG.random((90, 40)) < 0.2)
CORPUS[:, 0] = 1
QUERIES = RNG.integers(-2, 3, (9, 40)) * (RNG.random((9, 40)) < 0.3)
QUERIES[:, 0] = 1


@pytest.mark.parametrize("metric", ["ip", "l2"])
@pytest.mark.parametrize("k", [1, 5, 89, 90])
def test_the_best_are_found_in_every_block(k, metric, monkeypatch):
    """Each score of all of them, up to rank k: which of several equal ones is left open."""
    monkeypatch.setattr("fastrank.vectors.searching.engines.BLOCK_SCORES", 2 * 20)
    found = search(QUERIES, sparse.csr_matrix(CORPUS), k, metric=metric, batch_size=2).to_dict()
    scores = scores_of(metric, QUERIES, CORPUS)
    best = -np.sort(-scores, axis=1)[:, :k]
    for own, expected, docs in zip(scores, best.tolist(), found.values(), strict=True):
        assert sorted(docs.values(), reverse=True) == expected
        assert docs == {doc: own[int(doc)] for doc in docs}


def test_cosines_of_sparse_vectors_are_those_of_dense_ones():
    corpus, queries = (sparse.csr_matrix(given.astype(float)) for given in (CORPUS, QUERIES))
    found = search(queries, corpus, 90, metric="cosine").to_dict()
    expected = search(QUERIES, CORPUS, 90, metric="cosine").to_dict()
    for query, docs in expected.items():
        assert found[query] == pytest.approx(docs, rel=1e-6, abs=1e-6)


def test_measures_of_sparse_vectors():
    qrels = {str(i): {str(i): 1, str(80 - i): 2} for i in range(9)}
    found = fr.evaluate_embeddings(
        sparse.csr_matrix(QUERIES), sparse.csr_matrix(CORPUS), qrels, metric="ip"
    )
    assert found.mean == fr.evaluate_embeddings(QUERIES, CORPUS, qrels, metric="ip").mean


def test_a_gpu_does_not_search_sparse_vectors(monkeypatch):
    monkeypatch.setattr("fastrank.vectors.searching.batches.check_gpu", lambda gpu: gpu)
    with pytest.raises(OptionError, match="gpu: sparse vectors are searched on the CPU"):
        search(QUERIES, sparse.csr_matrix(CORPUS), 5, gpu=True)
