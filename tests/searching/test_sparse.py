"""Sparse vectors: what is found is what dense ones find, without ever making them dense."""

import numpy as np
import pytest
from scipy import sparse

import fastrank as fr
from fastrank.errors import ArrayError, OptionError
from fastrank.searching import build_index, search

RNG = np.random.default_rng(11)
# Small integers, whose products are exact, so that dense and sparse scores are the same numbers.
CORPUS = RNG.integers(-2, 3, (90, 40)) * (RNG.random((90, 40)) < 0.2)
CORPUS[:, 0] = 1
QUERIES = RNG.integers(-2, 3, (9, 40)) * (RNG.random((9, 40)) < 0.3)
QUERIES[:, 0] = 1


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "coo_array"])
@pytest.mark.parametrize("metric", ["ip", "l2"])
def test_sparse_vectors_find_what_dense_ones_find(metric, kind, monkeypatch):
    monkeypatch.setattr("fastrank.searching.engines.BLOCK_SCORES", 100)
    corpus, queries = (getattr(sparse, kind)(given) for given in (CORPUS, QUERIES))
    expected = search(QUERIES, CORPUS, 90, metric=metric).to_dict()
    assert search(queries, corpus, 90, metric=metric).to_dict() == expected
    assert search(QUERIES, corpus, 90, metric=metric, batch_size=2).to_dict() == expected
    assert search(queries, CORPUS, 90, metric=metric).to_dict() == expected


def test_cosines_of_sparse_vectors_are_those_of_dense_ones():
    corpus, queries = (sparse.csr_matrix(given.astype(float)) for given in (CORPUS, QUERIES))
    found = search(queries, corpus, 90, metric="cosine").to_dict()
    expected = search(QUERIES, CORPUS, 90, metric="cosine").to_dict()
    for query, docs in expected.items():
        assert found[query] == pytest.approx(docs, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("k", [1, 5, 89])
def test_the_best_of_a_sparse_corpus_are_found_in_every_block(k, monkeypatch):
    """Each score of all of them, up to rank k: which of several equal ones is left open."""
    monkeypatch.setattr("fastrank.searching.engines.BLOCK_SCORES", 9 * 20)
    found = search(QUERIES, sparse.csr_matrix(CORPUS), k).to_dict()
    best = -np.sort(-(QUERIES @ CORPUS.T), axis=1)[:, :k]
    assert [sorted(docs.values(), reverse=True) for docs in found.values()] == best.tolist()


def test_exclusions_and_ids_hold_for_sparse_vectors():
    corpus, ids = sparse.csr_matrix(CORPUS), [f"d{i}" for i in range(90)]
    given = {"corpus_ids": ids, "query_ids": ids[:9], "ignore_identical_ids": True}
    found = search(CORPUS[:9], corpus, 89, **given).to_dict()
    assert found == search(CORPUS[:9], CORPUS, 89, **given).to_dict()


def test_an_index_can_be_built_of_sparse_vectors():
    index = build_index(sparse.csr_matrix(CORPUS), "HNSW8")
    assert len(index) == 90


def test_metrics_of_sparse_vectors():
    qrels = {str(i): {str(i): 1, str(80 - i): 2} for i in range(9)}
    found = fr.evaluate_embeddings(sparse.csr_matrix(QUERIES), sparse.csr_matrix(CORPUS), qrels)
    assert found.mean == fr.evaluate_embeddings(QUERIES, CORPUS, qrels).mean


def with_row_3(column, value):
    corpus = CORPUS.astype(float)
    corpus[3] = 0
    corpus[3, column] = value
    return corpus


@pytest.mark.parametrize(
    ("corpus", "options", "error", "reason"),
    [
        (with_row_3(7, np.nan), {}, ArrayError, r"corpus\[3, 7\]: expected finite values, found n"),
        (with_row_3(7, 0), {"metric": "cosine"}, ArrayError, r"corpus\[3\]: the vector is zero"),
        (CORPUS[:, 1:], {}, ArrayError, "queries: expected 39 columns, as in the corpus, found"),
        (CORPUS, {"gpu": True}, OptionError, "gpu: sparse vectors are searched on the CPU"),
    ],
)
def test_sparse_vectors_that_cannot_be_searched(corpus, options, error, reason, monkeypatch):
    monkeypatch.setattr("fastrank.searching.batches.check_gpu", lambda gpu: gpu)
    with pytest.raises(error, match=reason):
        search(QUERIES, sparse.csr_matrix(corpus), 5, **options)
