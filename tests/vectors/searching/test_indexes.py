"""Indexes of faiss: built with any factory and parameters, searched, written and read."""

import os

import faiss
import numpy as np
import pytest

import fastrank as fr
from fastrank.errors import ArrayError, OptionError, ReadError
from fastrank.searching import build_index, read_index, search, search_batches, write_index
from fastrank.vectors.searching.storage import describe_index
from tests.helpers.searches import CORPUS, DOCS, METRICS, QUERIES, blocks, rankings

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
        index, default = (build_index(CORPUS, name, "ip").faiss for name in names)
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


COULD_NOT_PARSE = "faiss cannot build 'bogus' with dimension 16 and metric 'cosine': could not"


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("bogus", COULD_NOT_PARSE),
        ("PQ5", "faiss cannot build 'PQ5' .*should be a multiple of the number of subquantizers"),
        ("BFlat", "'BFlat' is a binary index; expected one for float vectors"),
        ("LSH", "faiss cannot build 'LSH' with dimension 16 and metric 'cosine'"),
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
    assert sorted(os.listdir(tmp_path)) == ["index", "index.ids.npy"][: 2 if ids else 1]


def test_what_is_saved_is_read_by_faiss_and_numpy(tmp_path):
    index = build_index(CORPUS, metric="cosine", ids=DOCS)
    write_index(index, tmp_path / "index")
    scores, rows = faiss.read_index(str(tmp_path / "index")).search(2 * QUERIES, 3)
    ids = np.load(tmp_path / "index.ids.npy").astype(str)
    run = search(QUERIES, index, 3).to_dict()
    for query in range(len(QUERIES)):
        assert list(run[str(query)]) == ids[rows[query]].tolist()
        assert list(run[str(query)].values()) == pytest.approx(scores[query].tolist())


def test_ids_do_not_stay_where_an_index_without_them_is_saved(tmp_path):
    write_index(build_index(CORPUS, ids=DOCS), tmp_path / "index")
    write_index(build_index(CORPUS), tmp_path / "index")
    assert read_index(tmp_path / "index").ids is None


def test_an_id_that_numpy_cannot_keep_is_an_error(tmp_path):
    index = build_index(CORPUS[:2], ids=["a", "b\0"])
    with pytest.raises(ArrayError, match=r"ids\[1\]: expected an id that does not end with a zero"):
        write_index(index, tmp_path / "index")
    assert not os.listdir(tmp_path)


def test_what_faiss_wrote_is_read(tmp_path):
    theirs = faiss.IndexFlatL2(16)
    theirs.add(CORPUS)
    faiss.write_index(theirs, str(tmp_path / "theirs"))
    loaded = read_index(tmp_path / "theirs")
    assert (loaded.metric, loaded.ids, len(loaded)) == ("l2", None, 300)


@pytest.mark.parametrize("renamed", [1, 2])
def test_an_index_is_never_read_with_the_ids_of_another(renamed, tmp_path, monkeypatch):
    """Wherever the process is killed, here by what lets it rename nothing any more."""
    path, calls = tmp_path / "index", []
    write_index(build_index(np.eye(2), ids=["a", "b"]), path)
    replace = os.replace

    def killed(*paths: str) -> None:
        calls.append(paths)
        if len(calls) > renamed:
            raise KeyboardInterrupt
        replace(*paths)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_index(build_index(np.eye(2)[::-1], ids=["b", "a"]), path)
    for read in (read_index, describe_index):
        with pytest.raises(ReadError, match=r"index.ids.npy: empty: .*; write the index again"):
            read(str(path))


@pytest.mark.parametrize("error", [1, 2, 3])
def test_an_index_that_cannot_be_replaced_keeps_its_ids(error, tmp_path, monkeypatch):
    path, calls = tmp_path / "index", []
    write_index(build_index(np.eye(2), ids=["a", "b"]), path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    replace = os.replace

    def failing(*paths: str) -> None:
        calls.append(paths)
        if len(calls) == error:
            raise OSError(5, "Input/output error")
        replace(*paths)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="Input/output"):
        write_index(build_index(np.eye(2)[::-1], ids=["b", "a"]), path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("which", ["index", "index.ids.npy"])
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
        assert rankings(run) == rankings(
            search(CORPUS[:20], CORPUS, 5, metric="ip", corpus_ids=numbers)
        )
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
    faiss.write_index(build_index(CORPUS, metric="ip").faiss, str(path))
    index = read_index(path, DOCS)
    expected = search(QUERIES, CORPUS, 5, metric="ip", corpus_ids=DOCS).to_dict()
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
    numbers = np.arange(300) * 3 + 5
    expected = search(QUERIES, CORPUS, 5, metric="ip", corpus_ids=numbers).to_dict()
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


@pytest.mark.parametrize(
    "ids", [np.array([b"a", b"b"]), np.arange(3), np.array([[b"a"], [b"b"], [b"c"]])]
)
def test_ids_that_are_not_one_per_vector_are_an_error(ids, tmp_path):
    write_index(build_index(CORPUS[:3]), tmp_path / "index")
    np.save(tmp_path / "index.ids.npy", ids)
    with pytest.raises(ReadError, match=r"index.ids.npy: expected 3 ids, one per vector, found"):
        read_index(tmp_path / "index")


def test_an_index_that_cannot_be_written_leaves_what_was_there(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        write_index(build_index(CORPUS), tmp_path / "no folder" / "index")
    write_index(build_index(CORPUS), tmp_path / "index")
    broken = build_index(CORPUS, metric="ip")
    broken.faiss = object()
    with pytest.raises(TypeError):
        write_index(broken, tmp_path / "index")
    assert len(read_index(tmp_path / "index")) == 300
