"""Search: what is found is what comparing every query with every vector finds."""

import io
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import fastrank as fr
from fastrank.errors import ArrayError, OptionError, ReadError
from fastrank.searching import (
    Shards,
    build_index,
    read_index,
    search,
    search_batches,
    write_index,
)

RNG = np.random.default_rng(7)
CORPUS = RNG.standard_normal((300, 16)).astype(np.float32)
QUERIES = RNG.standard_normal((20, 16)).astype(np.float32)
METRICS = ["ip", "l2", "cosine"]
DOCS = [f"d{i}" for i in range(300)]


def scores_of(metric, queries, corpus):
    """All scores, in double precision; larger is better."""
    queries, corpus = np.asarray(queries, float), np.asarray(corpus, float)
    if metric == "l2":
        return -((queries[:, None, :] - corpus[None]) ** 2).sum(axis=2)
    if metric == "cosine":
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        corpus = corpus / np.linalg.norm(corpus, axis=1, keepdims=True)
    return queries @ corpus.T


def slow_search(metric, queries, corpus, k, ids, left_out):
    """The ids of the k best of each query; of equal scores the larger id first."""
    found = []
    for scores, gone in zip(scores_of(metric, queries, corpus).tolist(), left_out, strict=True):
        own = sorted(zip(scores, (i.encode() for i in ids), strict=True), reverse=True)
        found.append([doc.decode() for _, doc in own if doc.decode() not in gone][:k])
    return found


def rankings(run):
    return {query: list(docs) for query, docs in run.to_dict().items()}


@pytest.fixture
def npy(tmp_path):
    def write(vectors):
        path = tmp_path / "vectors.npy"
        np.save(path, vectors)
        return path

    return write


@pytest.mark.parametrize("metric", METRICS)
def test_finds_what_comparing_all_vectors_finds(metric):
    run = search(QUERIES, CORPUS, 10, metric=metric)
    expected = slow_search(metric, QUERIES, CORPUS, 10, list(map(str, range(300))), [set()] * 20)
    assert list(rankings(run).values()) == expected
    found = np.array([list(own.values()) for own in run.to_dict().values()])
    best = -np.sort(-scores_of(metric, QUERIES, CORPUS), axis=1)[:, :10]
    np.testing.assert_allclose(found, best, rtol=1e-4, atol=1e-4)
    index = build_index(CORPUS, metric=metric, ids=DOCS)
    run = rankings(search(QUERIES, index, 10, query_ids=[f"q{i}" for i in range(20)]))
    assert run == {f"q{i}": [f"d{doc}" for doc in docs] for i, docs in enumerate(expected)}


def blocks(vectors):
    for first in range(0, len(vectors), 37):
        yield vectors[first : first + 37]


GIVEN = {
    "list": lambda vectors, _: vectors.tolist(),
    "float16": lambda vectors, _: vectors.astype(np.float16),
    "float64": lambda vectors, _: vectors.astype(np.float64),
    "longdouble": lambda vectors, _: vectors.astype(np.longdouble),
    "Fortran order": lambda vectors, _: np.asfortranarray(vectors),
    "every other row": lambda vectors, _: np.repeat(vectors, 2, axis=0)[::2],
    "other byte order": lambda vectors, _: vectors.astype(">f4"),
    "path": lambda vectors, npy: npy(vectors),
    "path as text": lambda vectors, npy: str(npy(vectors)),
    "memory map": lambda vectors, npy: np.load(npy(vectors), mmap_mode="r"),
    "iterator of blocks": lambda vectors, _: blocks(vectors),
    "list of blocks": lambda vectors, _: list(blocks(vectors)),
    "int8": lambda vectors, _: vectors.astype(np.int8),
    "blocks of all sizes": lambda vectors, _: iter([vectors[:1], vectors[1:1], vectors[1:]]),
    "CSR matrix": lambda vectors, _: sparse.csr_matrix(vectors),
    "CSC matrix": lambda vectors, _: sparse.csc_matrix(vectors),
    "COO array": lambda vectors, _: sparse.coo_array(vectors),
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("given", GIVEN)
def test_vectors_may_come_as(given, metric, npy):
    """All of them give what the float32 array gives, as corpus, as queries and to an index."""
    corpus, queries = (np.float32(np.float16(vectors)) for vectors in (CORPUS, QUERIES))
    if given == "int8":
        corpus, queries = (np.round(20 * vectors) for vectors in (corpus, queries))
    expected = rankings(search(queries, corpus, 5, metric=metric))
    assert rankings(search(queries, GIVEN[given](corpus, npy), 5, metric=metric)) == expected
    assert rankings(search(GIVEN[given](queries, npy), corpus, 5, metric=metric)) == expected
    index = build_index(GIVEN[given](corpus, npy), metric=metric)
    assert rankings(search(queries, index, 5)) == expected


@pytest.mark.parametrize("size", [7, 10, 100])
def test_blocks_may_come_in_the_same_memory(size, monkeypatch):
    """As from a reader that fills one buffer again and again."""
    monkeypatch.setattr("fastrank.searching.vectors.BLOCK_VALUES", 16 * 10)

    def reused(vectors):
        buffer = np.empty((size, 16), np.float32)
        for first in range(0, len(vectors), size):
            block = buffer[: len(vectors[first : first + size])]
            block[:] = vectors[first : first + size]
            yield block

    expected = rankings(search(QUERIES, CORPUS, 5))
    for batch_size in (3, 7, 50):
        run = search(reused(QUERIES), reused(CORPUS), 5, batch_size=batch_size)
        assert rankings(run) == expected
    index = build_index(reused(CORPUS), "IVF4,Flat")
    assert rankings(search(reused(QUERIES), index, 5, parameters="nprobe=4")) == expected


NUMBERS = list(range(7, 307))
SOME = [*range(299), None]


@pytest.mark.parametrize(
    ("library", "make", "ids"),
    [
        ("builtins", lambda own: own.list(NUMBERS), NUMBERS),
        ("pandas", lambda own: own.Series(NUMBERS, index=DOCS), NUMBERS),
        ("pandas", lambda own: own.Series(NUMBERS, dtype="Int64"), NUMBERS),
        ("pandas", lambda own: own.Index(NUMBERS), NUMBERS),
        ("polars", lambda own: own.Series(NUMBERS), NUMBERS),
        ("pyarrow", lambda own: own.array(NUMBERS), NUMBERS),
        ("pandas", lambda own: own.Series(DOCS), DOCS),
        ("pandas", lambda own: own.Series(DOCS, dtype="category"), DOCS),
        ("polars", lambda own: own.Series(DOCS), DOCS),
        ("polars", lambda own: own.Series(DOCS, dtype=own.Categorical), DOCS),
        ("pyarrow", lambda own: own.array(DOCS), DOCS),
        ("pandas", lambda own: own.Series(SOME, dtype="Int64"), None),
        ("polars", lambda own: own.Series(SOME), None),
        ("pyarrow", lambda own: own.array(SOME), None),
        ("numpy", lambda own: own.ma.masked_array(NUMBERS, np.arange(300) == 299), None),
    ],
)
def test_ids_may_be_columns_of_any_library_without_missing_values(library, make, ids):
    """Whatever numbers the rows of a series have, its ids are in its order."""
    column = make(pytest.importorskip(library))
    if ids is not None:
        found = build_index(CORPUS, ids=column).ids
        assert [text.decode() for text in found] == list(map(str, ids))
        return
    with pytest.raises(ArrayError, match=r"ids\[299\]: expected an id, found .* missing value"):
        build_index(CORPUS, ids=column)


@pytest.mark.parametrize("metric", METRICS)
def test_vectors_larger_than_a_block_are_gone_through_block_by_block(metric, monkeypatch):
    expected = rankings(search(QUERIES, CORPUS, 50, metric=metric))
    monkeypatch.setattr("fastrank.searching.vectors.BLOCK_VALUES", 16 * 7)
    monkeypatch.setattr("fastrank.searching.engines.HEAP_BYTES", 1)
    found = search(QUERIES, CORPUS.astype(np.float64), 50, metric=metric, batch_size=3)
    assert rankings(found) == expected


@pytest.mark.parametrize("batch_size", [1, 3, 20, 1000])
def test_batches_are_of_the_size_asked_for(batch_size):
    for corpus in (CORPUS, CORPUS.astype(np.float64), iter([CORPUS]), build_index(CORPUS)):
        found = list(search_batches(QUERIES, corpus, 4, batch_size=batch_size))
        assert [len(one) for one in found] == [len(one) for one in _split(range(20), batch_size)]
        assert [one.start for one in found] == list(range(0, 20, batch_size))
        assert {one.rows.shape[1] for one in found} == {4}
        assert {one.rows.dtype for one in found} == {np.dtype(np.int64)}
        assert {one.scores.dtype for one in found} == {np.dtype(np.float32)}


def _split(rows, size):
    return [rows[first : first + size] for first in range(0, len(rows), size)]


@pytest.mark.parametrize("batch_size", [1, 7])
def test_small_batches_are_searched_together(batch_size, monkeypatch):
    """As many as faiss needs for matrix products, and as there is room for."""
    sizes = []
    plain = faiss.knn

    def knn(queries, *arguments):
        sizes.append(len(queries))
        return plain(queries, *arguments)

    monkeypatch.setattr(faiss, "knn", knn)
    monkeypatch.setattr("fastrank.searching.engines.MATRIX_VALUES", 16 * 8)
    list(search_batches(QUERIES, CORPUS, 4, batch_size=batch_size))
    monkeypatch.setattr("fastrank.searching.engines.HEAP_BYTES", 1)
    list(search_batches(QUERIES, CORPUS, 4, batch_size=batch_size))

    assert sizes == {1: [8, 8, 4] + 20 * [1], 7: [14, 6] + [7, 7, 6]}[batch_size]


IDS = st.sampled_from(["numbers", "texts", "bytes", "integers"])
SMALL = st.integers(-2, 2).map(float)
FORMS = [
    *((kind, metric) for kind in ("vectors", "index", "shards") for metric in ("ip", "l2")),
    # Distances of sparse vectors have the error of a square root.
    ("sparse", "ip"),
]


def _ids(kind, count):
    if kind == "numbers":
        return None
    if kind == "integers":
        return [7 * i % 101 for i in range(count)]
    texts = [f"{'é' if i % 2 else 'd'}{i}" for i in range(count)]
    return [text.encode() for text in texts] if kind == "bytes" else texts


def _texts(ids, count):
    own = range(count) if ids is None else ids
    return [one.decode() if isinstance(one, bytes) else str(one) for one in own]


def files_of(folder, corpus, metric):
    """A file of vectors, an empty one, and an index with the rest, if there is a rest."""
    paths = [Path(folder) / name for name in ("first.npy", "empty.npy", "rest.faiss")]
    half = (len(corpus) + 1) // 2
    np.save(paths[0], corpus[:half])
    np.save(paths[1], corpus[:0])
    if half == len(corpus):
        return paths[:2]
    write_index(build_index(corpus[half:], metric=metric), paths[2])
    return paths


@settings(deadline=None, max_examples=80)
@given(
    corpus=hnp.arrays(np.float32, st.tuples(st.integers(1, 25), st.just(3)), elements=SMALL),
    queries=hnp.arrays(np.float32, st.tuples(st.integers(1, 6), st.just(3)), elements=SMALL),
    form=st.sampled_from(FORMS),
    k=st.integers(1, 30),
    ids=IDS,
    ignore_identical_ids=st.booleans(),
    lists=st.lists(st.sets(st.integers(0, 24)), min_size=6, max_size=6),
)
def test_ties_duplicates_and_exclusion_are_as_in_the_slow_search(
    corpus, queries, form, k, ids, ignore_identical_ids, lists
):
    """Small integers make many ties. A tie that is cut at rank k may hold any of the tied."""
    kind, metric = form
    own, texts = _ids(ids, len(corpus)), _texts(_ids(ids, len(corpus)), len(corpus))
    queried = texts[: len(queries)] + [f"q{i}" for i in range(len(queries) - len(texts))]
    exclude = {
        query: [texts[i] if i < len(texts) else f"no{i}" for i in gone]
        for query, gone in zip(queried, lists, strict=False)
    }
    left_out = [
        set(exclude[query]) | ({query} if ignore_identical_ids else set()) for query in queried
    ]
    options = {"ignore_identical_ids": ignore_identical_ids, "exclude": exclude}
    if kind != "index":
        options |= {"metric": metric, "corpus_ids": own}
    with TemporaryDirectory() as folder:
        target = {
            "vectors": lambda: corpus,
            "index": lambda: build_index(corpus, metric=metric, ids=own),
            "shards": lambda: Shards(files_of(folder, corpus, metric)),
            "sparse": lambda: sparse.csr_matrix(corpus),
        }[kind]()
        (found,) = search_batches(queries, target, k, query_ids=queried, **options)

    everything = slow_search(metric, queries, corpus, len(corpus), texts, left_out)
    scores = scores_of(metric, queries, corpus)
    for i, expected in enumerate(everything):
        rows = [row for row in found.rows[i].tolist() if row >= 0]
        ranked = [texts[row] for row in rows]
        values = [float(scores[i, texts.index(doc)]) for doc in expected]
        assert found.ties_at_cutoff[i] == (len(expected) > k and values[k - 1] == values[k])
        assert [float(score) for score in found.scores[i, : len(rows)]] == values[:k]
        assert len(ranked) == min(k, len(expected))
        assert ranked == sorted(
            ranked, key=lambda doc: (scores[i, texts.index(doc)], doc.encode()), reverse=True
        )
        if not found.ties_at_cutoff[i]:
            assert ranked == expected[:k]
        assert not set(ranked) & left_out[i]
        assert (found.rows[i, len(rows) :] == -1).all()
        assert (found.scores[i, len(rows) :] == -np.inf).all()


# A duplicate of the query's vector stays, wherever faiss puts it.
TWINS = np.array([[1.0, 0], [1, 0], [0, 1]])
BY_ID = {"corpus_ids": ["a", "b", "c"], "query_ids": ["a", "b", "x"]}
ITSELF = {"ignore_identical_ids": True}


@pytest.mark.parametrize(
    ("queries", "corpus", "options", "found"),
    [
        pytest.param(
            np.ones((1, 2)), np.ones((12, 2)), {}, ["9 8 7 6 5 4 3 2 11 10 1 0"], id="tie"
        ),
        pytest.param(TWINS, TWINS, {**BY_ID, **ITSELF}, ["b c", "a c", "c b a"], id="itself by id"),
        pytest.param(np.eye(2), np.eye(1, 2), ITSELF, ["0"], id="a query that finds nothing"),
        pytest.param(QUERIES[:0], CORPUS, {}, [], id="no queries"),
    ],
)
def test_small_searches(queries, corpus, options, found):
    """Of equal scores the larger id comes first, as text; itself is no result of a query."""
    run = search(queries, corpus, 12, **options)
    assert [" ".join(docs) for docs in rankings(run).values()] == found


def test_removed_counts_what_stood_above_the_end_of_the_ranking():
    corpus = np.array([[4.0], [3], [2], [1]])
    (found,) = search_batches([[1.0]], corpus, 2, exclude={"0": ["0", "3", "17"]})
    assert (found.rows.tolist(), found.excluded.tolist()) == ([[1, 2]], [1])


def test_one_long_list_does_not_deepen_the_search_of_others():
    depths, index = [], build_index(CORPUS)
    plain, excluded = index.faiss, [str(i) for i in range(200)]

    class Spy:
        ntotal, d = 300, 16

        def search(self, queries, depth):
            depths.append(depth)
            return plain.search(queries, depth)

    index.faiss = Spy()
    run = search(QUERIES, index, 5, exclude={"3": excluded})

    assert depths == [6, 206]
    left_out = [set(excluded) if i == 3 else set() for i in range(20)]
    expected = slow_search("ip", QUERIES, CORPUS, 5, list(map(str, range(300))), left_out)
    assert list(rankings(run).values()) == expected


FACTORIES = [
    *((factory, metric) for metric in METRICS for factory in ("Flat", "IVF4,Flat", "HNSW8", "SQ8")),
    ("PCA8,IVF4,Flat", "ip"),
    ("IVF4_HNSW4,Flat", "l2"),
    ("IVF4,SQ8", "cosine"),
    ("PQ4x4", "l2"),
    ("HNSW8_PQ4x4", "l2"),
    ("IVF4,PQ4x4fs", "ip"),
    ("IVF4,PQ4x4,RFlat", "l2"),
    ("OPQ2_4,IVF4,PQ2x4", "cosine"),
]


@pytest.mark.parametrize(("factory", "metric"), FACTORIES)
def test_every_factory_finds_what_faiss_alone_finds(factory, metric):
    """With the same vectors for training and the same depth, in the same order but for ties."""
    index = build_index(CORPUS, factory, metric)
    own = CORPUS.copy()
    if metric == "cosine":
        own /= np.linalg.norm(own, axis=1, keepdims=True)
    number = faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT
    alone = faiss.index_factory(16, factory, number)
    alone.train(own)
    alone.add(own)

    (found,) = search_batches(QUERIES, index, 5)

    wanted = QUERIES / np.linalg.norm(QUERIES, axis=1, keepdims=True)
    scores, rows = alone.search(QUERIES if metric != "cosine" else wanted, 6)
    scores = -scores if metric == "l2" else scores
    held = rows[:, :5] >= 0
    np.testing.assert_allclose(found.scores[held], scores[:, :5][held], rtol=1e-4, atol=1e-5)
    assert (found.rows[~held] == -1).all()


@pytest.mark.parametrize(
    ("factory", "parameters"),
    [
        ("IVF8,Flat", "nprobe=8"),
        ("IVF8,Flat", {"nprobe": 8, "max_codes": 0}),
        ("HNSW4", "efSearch=300"),
        ("PCA8,IVF8,Flat", " nprobe = 8 "),
        ("IVF8_HNSW4,Flat", "nprobe=8,quantizer_efSearch=100"),
        ("IVF8,PQ4x4,RFlat", "nprobe=8,k_factor_rf=100"),
    ],
)
def test_parameters_hold_for_one_search_only(factory, parameters):
    index = build_index(CORPUS, factory)
    before = rankings(search(QUERIES, index, 10))
    deep = rankings(search(QUERIES, index, 10, parameters=parameters))
    assert rankings(search(QUERIES, index, 10)) == before
    exact = rankings(search(QUERIES, CORPUS, 10))
    if "PCA" not in factory:
        assert deep == exact
    assert deep != before


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ("nprobe", "'nprobe' has no value"),
        ("nprobe=1,nprobe=2", "'nprobe' is given twice"),
        ("nprobes=3", "expected one of nprobe, efSearch, .*, found 'nprobes'"),
        ("nprobe=many", "nprobe: expected a number, found 'many'"),
        ({"nprobe": float("nan")}, "nprobe: expected a number, found nan"),
        ("nprobe=1.5", "nprobe: expected an integer from 1 to 2147483647, found '1.5'"),
        ("nprobe=0", "nprobe: expected an integer from 1"),
        ({"efSearch": 2**40}, "efSearch: expected an integer from 1 to 2147483647, found 10995"),
        ({"quantizer_efSearch": 0}, "quantizer_efSearch: expected an integer from 1"),
        (3, "expected a string such as 'nprobe=32' or a dict, found int"),
        ("efSearch=64", "efSearch=64: unknown parameter of this index"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(parameters, reason, lists):
    with pytest.raises(OptionError, match=f"parameters: {reason}"):
        search(QUERIES, lists, 3, parameters=parameters)


@pytest.fixture(scope="module")
def lists():
    return build_index(CORPUS, "IVF4,Flat")


def test_a_graph_is_that_of_faiss_with_the_same_parameter():
    """Which reaches faiss before vectors are added."""
    expected = faiss.IndexHNSWFlat(16, 8, faiss.METRIC_INNER_PRODUCT)
    expected.hnsw.efConstruction = 200
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        expected.add(CORPUS)
        names = ("HNSW8,efConstruction=200", "HNSW8")
        index, default = (build_index(CORPUS, name).faiss for name in names)
    finally:
        faiss.omp_set_num_threads(threads)
    graphs = [
        faiss.vector_to_array(own.hnsw.neighbors).tolist() for own in (expected, index, default)
    ]
    assert graphs[0] == graphs[1] != graphs[2]


@pytest.mark.parametrize("factory", ["IVF8,Flat", "PCA4,IVF8,Flat", "IVF8_HNSW4,PQ4x4"])
def test_clusters_are_trained_with_the_given_parameters(factory):
    graph = ",efConstruction=77" if "HNSW" in factory else ""
    built = build_index(CORPUS, f"{factory},niter=3,seed=7,nredo=2{graph}").faiss
    lists = faiss.extract_index_ivf(built)
    assert (lists.cp.niter, lists.cp.seed, lists.cp.nredo) == (3, 7, 2)
    if graph:
        assert faiss.downcast_index(lists.quantizer).hnsw.efConstruction == 77


def test_another_seed_makes_other_clusters():
    """1234 is the default of faiss."""
    indexes = [
        build_index(CORPUS, f"IVF8,Flat{more}").faiss for more in ("", ",seed=1234", ",seed=5")
    ]
    default, same, other = (own.quantizer.reconstruct_n(0, 8).tolist() for own in indexes)
    assert default == same != other


def test_training_takes_a_sample_that_is_the_same_each_time():
    def centroids():
        index = build_index(CORPUS, "IVF4,Flat", train_size=200)
        return index.faiss.quantizer.reconstruct_n(0, 4)

    assert (centroids() == centroids()).all()
    assert len(build_index(blocks(CORPUS), "IVF4,Flat", train_size=200)) == 300


def test_nothing_the_caller_passed_is_changed():
    corpus, queries = CORPUS.copy(), QUERIES.copy()
    search(queries, corpus, 3, metric="cosine", ignore_identical_ids=True)
    build_index(corpus, metric="cosine")
    assert (corpus == CORPUS).all()
    assert (queries == QUERIES).all()


# Indexes as files.


@pytest.mark.parametrize("ids", [None, [f"d {i}\n" for i in range(300)]])
@pytest.mark.parametrize("factory", ["Flat", "IVF4,Flat", "HNSW8"])
def test_a_saved_index_is_the_same_when_it_is_loaded(factory, ids, tmp_path):
    index = build_index(CORPUS, factory, "cosine", ids)
    write_index(index, tmp_path / "index")
    loaded = read_index(tmp_path / "index")
    assert (loaded.metric, len(loaded), loaded.dimension) == ("cosine", 300, 16)
    assert (loaded.ids is None) == (ids is None)
    assert search(QUERIES, loaded, 7).to_dict() == search(QUERIES, index, 7).to_dict()
    assert sorted(os.listdir(tmp_path)) == ["index", "index.ids.npz"]
    assert faiss.read_index(str(tmp_path / "index")).ntotal == 300


def test_what_faiss_wrote_is_read(tmp_path):
    theirs = faiss.IndexFlatL2(16)
    theirs.add(CORPUS)
    faiss.write_index(theirs, str(tmp_path / "theirs"))
    loaded = read_index(tmp_path / "theirs")
    assert (loaded.metric, loaded.ids, len(loaded)) == ("l2", None, 300)


@pytest.mark.parametrize("which", ["index", "index.ids.npz"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_file_that_is_cut_off_is_an_error(which, share, tmp_path):
    write_index(build_index(CORPUS, ids=list(range(300))), tmp_path / "index")
    content = (tmp_path / which).read_bytes()
    (tmp_path / which).write_bytes(content[: int(share * len(content))])
    with pytest.raises(ReadError, match=which):
        read_index(tmp_path / "index")


def test_an_index_that_faiss_wrote_keeps_the_numbers_of_its_vectors(tmp_path):
    """Inverted lists store a number of each vector, which need not be its row."""
    path, numbers = tmp_path / "index", np.arange(300) * 1000 + 7
    faiss.write_index(numbered(numbers), str(path))
    qrels = {str(i): {str(numbers[i]): 1} for i in range(20)}

    for _ in range(2):
        index = read_index(path)
        run = search(CORPUS[:20], index, 5, parameters="nprobe=4")
        assert rankings(run) == rankings(search(CORPUS[:20], CORPUS, 5, corpus_ids=numbers))
        scores = fr.evaluate_embeddings(
            CORPUS[:20], index, qrels, "recip_rank", k=5, parameters="nprobe=4"
        )
        assert scores.mean == fr.evaluate(qrels, run, "recip_rank").mean
        assert scores.mean["recip_rank"] > 0
        itself = search(CORPUS[:20], index, 5, query_ids=numbers[:20], ignore_identical_ids=True)
        assert all(query not in docs for query, docs in rankings(itself).items())
        write_index(index, path)


def numbered(numbers):
    """An index of faiss with inverted lists, which store a number of each vector."""
    index = faiss.index_factory(16, "IVF4,Flat", faiss.METRIC_INNER_PRODUCT)
    index.train(CORPUS)
    index.add_with_ids(CORPUS, numbers)
    return index


def test_ids_are_given_later_to_an_index_that_faiss_wrote(tmp_path):
    path = tmp_path / "index"
    faiss.write_index(build_index(CORPUS).faiss, str(path))
    index = read_index(path, DOCS)
    expected = search(QUERIES, CORPUS, 5, corpus_ids=DOCS).to_dict()
    assert search(QUERIES, index, 5).to_dict() == expected
    assert search(QUERIES, read_index(path), 5, corpus_ids=DOCS).to_dict() == expected
    with pytest.raises(ArrayError, match="ids: expected 300 ids, one per vector, found 299"):
        read_index(path, DOCS[1:])


def test_ids_are_not_given_to_an_index_that_has_some(tmp_path):
    write_index(build_index(CORPUS, ids=DOCS), tmp_path / "ours")
    with pytest.raises(OptionError, match="ids: the Index has ids already"):
        read_index(tmp_path / "ours", ["d"] * 300)
    with pytest.raises(OptionError, match="the faiss index has ids already"):
        search(QUERIES, numbered(np.arange(300) + 7), 5, corpus_ids=range(300))


def test_numbers_in_an_id_map_are_the_ids():
    index = faiss.IndexIDMap2(faiss.IndexFlatIP(16))
    index.add_with_ids(CORPUS, np.arange(300) * 3 + 5)
    expected = search(QUERIES, CORPUS, 5, corpus_ids=np.arange(300) * 3 + 5).to_dict()
    assert search(QUERIES, index, 5).to_dict() == expected


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        (np.arange(300) % 299, "expected distinct ids of vectors, found 0 twice"),
        (np.arange(300) - 7, r"expected ids of vectors from 0 to 10\*\*18 - 1, found -7"),
    ],
)
def test_numbers_that_are_no_ids_are_an_error(numbers, reason, tmp_path):
    faiss.write_index(numbered(numbers), str(tmp_path / "index"))
    with pytest.raises(ReadError, match=f"index: {reason}"):
        read_index(tmp_path / "index")


def test_ids_of_another_index_are_an_error(tmp_path):
    write_index(build_index(CORPUS, ids=list(range(300))), tmp_path / "one")
    write_index(build_index(CORPUS[::-1], ids=list(range(300))), tmp_path / "two")
    (tmp_path / "two.ids.npz").replace(tmp_path / "one.ids.npz")
    with pytest.raises(ReadError, match="the ids do not belong to the index"):
        read_index(tmp_path / "one")


@pytest.mark.parametrize(
    "lengths",
    [
        np.array([2**64 - 8, 16, 0], np.uint64),
        np.array([2**62, 2**62, 2**62], np.int64) * [1, 1, 2],
        np.array([-8, 16, 0]),
        np.array([4.0, 4.0, 0.0]),
        np.array([[4, 4, 0]]),
    ],
    ids=["unsigned", "a sum that wraps", "negative", "fractions", "two dimensions"],
)
def test_ids_whose_lengths_are_none_are_an_error(lengths, tmp_path):
    """They would be read from anywhere in memory."""
    write_index(build_index(CORPUS[:3], ids=["four", "ids!", ""]), tmp_path / "index")
    path = tmp_path / "index.ids.npz"
    with np.load(path) as archive:
        held = {**archive, "lengths": lengths}
    np.savez(path, **held)
    with pytest.raises(ReadError, match=r"index.ids.npz: expected (one id per vector|ids)"):
        read_index(tmp_path / "index")


def test_an_index_that_cannot_be_written_leaves_what_was_there(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        write_index(build_index(CORPUS), tmp_path / "no folder" / "index")
    write_index(build_index(CORPUS), tmp_path / "index")
    broken = build_index(CORPUS)
    broken.faiss = object()
    with pytest.raises(TypeError):
        write_index(broken, tmp_path / "index")
    assert len(read_index(tmp_path / "index")) == 300


# What is wrong with what was given.


def _with(vectors, row, column, value):
    changed = vectors.astype(np.float64)
    changed[row, column] = value
    return changed


BAD = {
    "nan": (lambda own: _with(own, 5, 2, np.nan), r"\[5, 2\]: expected finite values, found nan"),
    "inf": (lambda own: _with(own, 19, 0, -np.inf), r"\[19, 0\]: expected finite values, found"),
    "large": (lambda own: _with(own, 3, 1, 1e300), r"\[3, 1\]: expected values that fit 32-bit"),
    "zero": (lambda own: own * (np.arange(len(own)) != 4)[:, None], r"\[4\]: the vector is zero"),
    "flat": (lambda own: own[0], "expected a table of vectors, found shape"),
    "texts": (lambda own: own.astype(str), "expected float vectors, found <U"),
    "complex": (lambda own: own.astype(complex), "expected float vectors, found complex"),
    "none": (lambda own: own[:, :0], "expected at least one column, found none"),
    "nothing": (lambda own: iter([]), "expected vectors, found none"),
    "ragged": (lambda own: [[1.0] * 16, [1.0] * 15], r"\[1\]: expected 16 columns as in row 0"),
    "odd block": (lambda own: iter([own, own[:, :9]]), r"expected 16 columns, as before, found 9"),
    "block of nan": (
        lambda own: iter([own[:7], _with(own, 5, 2, np.nan)]),
        r"\[12, 2\]: expected finite",
    ),
}


# As 32-bit floats, which the matrix has then, the value is infinite; and without columns it is
# the shape that is odd.
SPARSE_BAD = {
    "large": r"\[3, 1\]: expected finite values, found inf",
    "none": r"expected a table of vectors, found shape \(300, 0\)",
}


@pytest.mark.parametrize("bad", BAD)
def test_vectors_that_cannot_be_compared_are_named(bad):
    make, message = BAD[bad]
    with pytest.raises(ArrayError, match=f"^corpus.*{message}"):
        search(QUERIES, make(CORPUS), 3, metric="cosine")
    with pytest.raises(ArrayError, match=f"^queries.*{message}"):
        search(make(QUERIES), CORPUS, 3, metric="cosine")
    with pytest.raises(ArrayError, match=f"^vectors.*{message}"):
        build_index(make(CORPUS), metric="cosine")
    if bad in ("nan", "inf", "large", "zero", "none"):
        with pytest.raises(ArrayError, match=f"^corpus.*{SPARSE_BAD.get(bad, message)}"):
            search(QUERIES, sparse.csr_matrix(make(CORPUS)), 3, metric="cosine")


def test_vectors_whose_products_are_no_numbers_are_named():
    """The cosine looks at directions only."""
    corpus = np.full((3, 2), 1e38) * [1, -1] / [[1e30], [1], [1]]
    with pytest.raises(ArrayError, match=r"corpus\[1\]: expected a vector whose products fit"):
        search([[1.0, 2.0]], corpus, 2)
    assert len(search([[1e-30, 1e38]], corpus, 2, metric="cosine")) == 1


@pytest.mark.parametrize(
    "form", [np.asarray, lambda rows: pytest.importorskip("scipy.sparse").csr_matrix(rows)]
)
def test_vectors_whose_products_are_all_0_are_named(form):
    """Inner products of vectors of length 1e-30 are 0 as 32-bit floats; their cosines are not."""
    corpus = np.array([[1e-30, 0], [3e-30, 0], [0, 0]], np.float32)
    with pytest.raises(ArrayError, match=r"corpus\[1\]: .* found length at most 3e-30; scale the"):
        search(np.ones((1, 2), np.float32), form(corpus), 2)
    with pytest.raises(ArrayError, match=r"queries\[1\]: expected a vector whose products fit"):
        search(form(corpus), np.eye(2, dtype=np.float32), 2)
    assert search(corpus[:1], form(corpus[:2]), 1, metric="cosine")["0"]
    assert search(np.ones((1, 2)), form(corpus + np.eye(3, 2, dtype=np.float32)), 2)["0"]
    assert search(np.ones((1, 2)), form(np.zeros((3, 2), np.float32)), 2)["0"]


MISSING = "exclude: query '0': expected an id, found the missing value None"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": QUERIES[:, :9]}, "queries: expected 16 columns, as in the corpus, found 9"),
        ({"corpus": CORPUS[:0]}, "corpus: expected vectors, found none"),
        ({"corpus": faiss.IndexFlat(16, faiss.METRIC_L1)}, "corpus: .* for inner products or L2"),
        ({"k": 0}, "k: expected 1 or more, found 0"),
        ({"k": 2.5}, "k: expected an integer, found float"),
        ({"k": "3"}, "k: expected an integer, found str"),
        ({"k": 2**63 - 1, "corpus": iter([CORPUS])}, "k: 9223372036854775808 results for each"),
        ({"batch_size": 0}, "batch_size: expected 1 or more, found 0"),
        ({"metric": "dot"}, "metric: expected 'ip', 'l2' or 'cosine', found 'dot'"),
        ({"corpus_ids": ["a"] * 300}, r"corpus_ids\[1\]: duplicate id 'a', also at 0"),
        ({"corpus_ids": range(299)}, "corpus_ids: expected 300 ids, one per vector, found 299"),
        ({"corpus_ids": "abc"}, "abc: no such file"),
        ({"corpus_ids": set(range(300))}, "corpus_ids: expected a list of ids, found set, which"),
        ({"corpus_ids": 300}, "corpus_ids: expected a list of ids, found int"),
        ({"corpus_ids": np.ones(300)}, r"corpus_ids\[0\]: expected an id, found the float 1.0"),
        ({"corpus_ids": range(299), "corpus": iter([CORPUS])}, "corpus_ids: expected at least 300"),
        ({"corpus_ids": range(301), "corpus": iter([CORPUS])}, "corpus_ids: expected 300 ids, one"),
        ({"query_ids": [3] * 20}, r"query_ids\[1\]: duplicate id '3', also at 0"),
        ({"query_ids": []}, "query_ids: expected 20 ids, one per vector, found 0"),
        ({"query_ids": [1], "queries": iter([QUERIES])}, "query_ids: expected at least 20 ids"),
        ({"query_ids": range(21), "queries": iter([QUERIES])}, "query_ids: expected 20 ids"),
        ({"parameters": "nprobe=3"}, "parameters: exact search has no parameters"),
        ({"gpu": True}, "gpu: this build of faiss has no GPU support"),
        ({"corpus": sparse.csr_matrix(CORPUS[:, 1:])}, "queries: expected 15 columns, as in"),
        ({"exclude": {"0": [None]}}, MISSING),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments, message):
    if hasattr(faiss, "StandardGpuResources") and "gpu" in arguments:
        pytest.skip("this faiss has a GPU part")
    given = {"corpus": CORPUS, "queries": QUERIES, "k": 3, **arguments}
    error = TypeError if "an integer" in message else fr.FastrankError
    with pytest.raises(error, match=f"^{message}"):
        search(given.pop("queries"), given.pop("corpus"), given.pop("k"), **given)


def test_k_may_be_an_integer_of_numpy():
    index = build_index(CORPUS)
    for corpus in (CORPUS, index, [CORPUS]):
        run = search(QUERIES, corpus, np.int64(3), batch_size=np.int32(7))
        assert rankings(run) == rankings(search(QUERIES, index, 3))


@pytest.mark.parametrize("k", [10**9, 2**63 - 1])
def test_k_may_be_larger_than_any_memory(k):
    """Of 300 documents 300 are found, and there is room for no more."""
    for corpus in (CORPUS, build_index(CORPUS)):
        (found,) = search_batches(QUERIES, corpus, k, ignore_identical_ids=True)
        assert found.rows.shape == (20, 300)
        assert (found.rows[:, -1] == -1).all()
        assert not found.ties_at_cutoff.any()


COULD_NOT_PARSE = "faiss cannot build 'bogus' with dimension 16 and metric 'ip': could not parse"


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("bogus", COULD_NOT_PARSE),
        ("PQ5", "faiss cannot build 'PQ5' .*should be a multiple of the number of subquantizers"),
        ("BFlat", "'BFlat' is a binary index; expected one for float vectors"),
        ("LSH", "faiss cannot build 'LSH' with dimension 16 and metric 'ip'"),
        ("IDMap,Flat", "'IDMap,Flat': use ids= instead of IDMap"),
        ("PCA8,IDMap,Flat", "'PCA8,IDMap,Flat': use ids= instead of IDMap"),
        ("HNSW8_PQ4x4", "'HNSW8_PQ4x4' supports only the metric 'l2' in faiss"),
        ("ZnLattice2x2_4", "'ZnLattice2x2_4' supports only the metric 'l2' in faiss"),
        ("IVF400,Flat", "faiss cannot train with 300 vectors: Number of training points"),
        (17, "expected a str, found int"),
    ],
)
def test_a_factory_that_faiss_refuses_is_named(factory, message):
    with pytest.raises(OptionError, match=f"^index_factory: {message}"):
        build_index(CORPUS, factory)


def test_an_index_has_its_own_metric_and_ids():
    index = build_index(CORPUS, metric="l2", ids=range(300))
    metric = "metric: expected 'l2', the metric of the index, found 'ip'"
    with pytest.raises(OptionError, match=metric):
        search(QUERIES, index, 3, metric="ip")
    with pytest.raises(OptionError, match="ids: the Index has ids"):
        search(QUERIES, index, 3, corpus_ids=range(300))
    assert len(search(QUERIES, index, 3, metric="l2")) == 20


def npy_of(shape):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header


def saved(save, *arrays):
    file = io.BytesIO()
    save(file, *arrays)
    return file.getvalue()


INVALID = r"vectors.npy: truncated or invalid .npy file"
LARGE = "(1180591620717411303424, 4)"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"vectors\.npy: no such file"),
        (saved(np.save, CORPUS)[:-1], INVALID),
        (b"q1 Q0 d1 1 0.5 tag\n", r"vectors.npy: not a .npy file: .* b'q1 Q0 '"),
        (saved(np.savez, CORPUS), r"expected one array \(.npy\)"),
        *((npy_of(shape), INVALID) for shape in (LARGE, "(True, 4)", "(" * 5000, "(-1, 4)", "'4'")),
    ],
    ids=["missing", "cut", "run", "archive", "large", "bool", "nested", "negative", "text"],
)
def test_files_that_hold_no_vectors_are_named(content, message, tmp_path):
    if content is not None:
        (tmp_path / "vectors.npy").write_bytes(content)
    with pytest.raises(ReadError, match=message):
        search(QUERIES, tmp_path / "vectors.npy", 3)


def test_mistakes_are_found_before_the_search():
    """Of arrays the last query is looked at before the first is searched for."""
    with pytest.raises(ArrayError, match=r"queries\[19, 2\]"):
        search_batches(_with(QUERIES, 19, 2, np.nan), CORPUS, 3, batch_size=1)


def test_a_gpu_is_used_where_there_is_one(monkeypatch):
    """What faiss does on the CPU stands for its GPU part here."""
    used = []

    def knn_gpu(resources, queries, corpus, k, metric):
        used.append("knn")
        return faiss.knn(queries, corpus, k, metric)

    def moved(index):
        used.append("moved")
        return faiss.clone_index(index)

    monkeypatch.setattr(faiss, "StandardGpuResources", object, raising=False)
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1, raising=False)
    monkeypatch.setattr(faiss, "knn_gpu", knn_gpu, raising=False)
    monkeypatch.setattr(faiss, "index_cpu_to_all_gpus", moved, raising=False)
    monkeypatch.setattr(faiss, "index_gpu_to_cpu", moved, raising=False)
    expected = rankings(search(QUERIES, CORPUS, 5))

    assert rankings(search(QUERIES, CORPUS, 5, gpu=True)) == expected
    index = build_index(CORPUS, "IVF4,Flat", gpu=True)
    assert rankings(search(QUERIES, index, 5, parameters="nprobe=4", gpu=True)) == expected
    assert used == ["knn", "moved", "moved", "moved"]
    assert index.faiss.nprobe == 1

    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 0)
    with pytest.raises(OptionError, match="gpu: faiss found no GPU"):
        search(QUERIES, CORPUS, 5, gpu=True)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("progress", "terminal", "short", "drawn"),
    [
        (None, True, 2.0, False),
        (None, True, 0.0, True),
        (None, False, 0.0, False),
        (True, False, 2.0, True),
    ],
)
def test_a_bar_is_drawn_on_a_terminal_where_work_is_long_or_on_demand(
    progress, terminal, short, drawn, monkeypatch
):
    monkeypatch.setattr("sys.stderr", Terminal() if terminal else io.StringIO())
    monkeypatch.setattr("fastrank.searching.progress.SHORT", short)
    search(QUERIES, CORPUS, 3, progress=progress)
    build_index(CORPUS, progress=progress)
    err = sys.stderr.getvalue()
    assert [name in err for name in ("search:", "index:")] == [drawn] * 2
    assert bool(err.strip()) == drawn
