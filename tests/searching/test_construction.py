"""Parameters of the construction in factory strings reach faiss before vectors are added."""

import numpy as np
import pytest

from fastrank.searching import build_index

faiss = pytest.importorskip("faiss")

CORPUS = np.random.default_rng(3).standard_normal((500, 8)).astype(np.float32)


def test_a_graph_is_that_of_faiss_with_the_same_parameter():
    expected = faiss.IndexHNSWFlat(8, 8, faiss.METRIC_INNER_PRODUCT)
    expected.hnsw.efConstruction = 200
    threads = faiss.omp_get_max_threads()

    def graph(found):
        return faiss.vector_to_array(found.hnsw.neighbors).tolist()

    faiss.omp_set_num_threads(1)
    try:
        expected.add(CORPUS)
        index, default = (
            build_index(CORPUS, name).faiss for name in ("HNSW8,efConstruction=200", "HNSW8")
        )
    finally:
        faiss.omp_set_num_threads(threads)

    assert index.hnsw.efConstruction == 200
    assert graph(index) == graph(expected) != graph(default)


@pytest.mark.parametrize("factory", ["IVF8,Flat", "PCA4,IVF8,Flat", "IVF8_HNSW4,PQ4x4"])
def test_clusters_are_trained_with_the_given_parameters(factory):
    built = faiss.extract_index_ivf(build_index(CORPUS, f"{factory},niter=3,seed=7,nredo=2").faiss)
    assert (built.cp.niter, built.cp.seed, built.cp.nredo) == (3, 7, 2)


def test_another_seed_makes_other_clusters():
    indexes = [
        build_index(CORPUS, f"IVF8,Flat{more}").faiss for more in ("", ",seed=1234", ",seed=5")
    ]
    # 1234 is the default of faiss.
    default, same, other = (
        faiss.downcast_index(index.quantizer).reconstruct_n(0, 8).tolist() for index in indexes
    )
    assert default == same != other


def test_the_graph_that_finds_the_lists_is_built_with_the_parameter():
    index = build_index(CORPUS, "IVF8_HNSW4,Flat,efConstruction=77").faiss
    assert faiss.downcast_index(index.quantizer).hnsw.efConstruction == 77
