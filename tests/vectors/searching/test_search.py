"""Search: what is found is what comparing every query with every vector finds."""

import io
import pickle
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
from fastrank.searching import Shards, build_index, search, search_batches, write_index
from tests.helpers.searches import (
    CORPUS,
    DOCS,
    METRICS,
    QUERIES,
    blocks,
    rankings,
    scores_of,
    slow_search,
)


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
    monkeypatch.setattr("fastrank.vectors.searching.vectors.BLOCK_VALUES", 16 * 10)

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
    monkeypatch.setattr("fastrank.vectors.searching.vectors.BLOCK_VALUES", 16 * 41)
    monkeypatch.setattr("fastrank.vectors.searching.engines.HEAP_BYTES", 1)
    found = search(QUERIES, CORPUS.astype(np.float64), 50, metric=metric, batch_size=7)
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
    monkeypatch.setattr("fastrank.vectors.searching.engines.MATRIX_VALUES", 16 * 8)
    list(search_batches(QUERIES, CORPUS, 4, batch_size=batch_size))
    monkeypatch.setattr("fastrank.vectors.searching.engines.HEAP_BYTES", 1)
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
        pytest.param(np.eye(2), np.eye(1, 2), ITSELF, ["", "0"], id="a query that finds nothing"),
        pytest.param(QUERIES[:0], CORPUS, {}, [], id="no queries"),
    ],
)
def test_small_searches(queries, corpus, options, found):
    """Of equal scores the larger id comes first, as text; itself is no result of a query."""
    run = search(queries, corpus, 12, **options)
    assert [" ".join(docs) for docs in rankings(run).values()] == found


def test_removed_counts_what_stood_above_the_end_of_the_ranking():
    corpus = np.array([[4.0], [3], [2], [1]])
    (found,) = search_batches([[1.0]], corpus, 2, metric="ip", exclude={"0": ["0", "3", "17"]})
    assert (found.rows.tolist(), found.excluded.tolist()) == ([[1, 2]], [1])


def test_one_long_list_does_not_deepen_the_search_of_others():
    depths, index = [], build_index(CORPUS, metric="ip")
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


def test_nothing_the_caller_passed_is_changed():
    corpus, queries = CORPUS.copy(), QUERIES.copy()
    search(queries, corpus, 3, metric="cosine", ignore_identical_ids=True)
    build_index(corpus, metric="cosine")
    assert (corpus == CORPUS).all()
    assert (queries == QUERIES).all()


# What is wrong with what was given.


def _with(vectors, row, column, value):
    changed = vectors.astype(np.float64)
    changed[row, column] = value
    return changed


BAD = {
    "nan": (lambda own: _with(own, 5, 2, np.nan), r"\[5, 2\]: expected finite values, found nan"),
    "inf": (lambda own: _with(own, 19, 0, -np.inf), r"\[19, 0\]: expected finite values, found"),
    "large": (lambda own: _with(own, 3, 1, 1e300), r"\[3, 1\]: expected values that fit 32-bit"),
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
    if bad in ("nan", "inf", "large", "none"):
        with pytest.raises(ArrayError, match=f"^corpus.*{SPARSE_BAD.get(bad, message)}"):
            search(QUERIES, sparse.csr_matrix(make(CORPUS)), 3, metric="cosine")


def test_vectors_whose_products_are_no_numbers_are_named():
    """The cosine looks at directions only."""
    corpus = np.full((3, 2), 1e38) * [1, -1] / [[1e30], [1], [1]]
    with pytest.raises(ArrayError, match=r"corpus\[1\]: expected a vector whose products fit"):
        search([[1.0, 2.0]], corpus, 2, metric="ip")
    assert len(search([[1e-30, 1e38]], corpus, 2, metric="cosine")) == 1


@pytest.mark.parametrize(
    "form", [np.asarray, lambda rows: pytest.importorskip("scipy.sparse").csr_matrix(rows)]
)
def test_vectors_whose_products_are_all_0_are_named(form):
    """Inner products of vectors of length 1e-30 are 0 as 32-bit floats; their cosines are not."""
    corpus = np.array([[1e-30, 0], [3e-30, 0], [0, 0]], np.float32)
    with pytest.raises(ArrayError, match=r"corpus\[1\]: .* found length at most 3e-30; scale the"):
        search(np.ones((1, 2), np.float32), form(corpus), 2, metric="ip")
    with pytest.raises(ArrayError, match=r"queries\[1\]: expected a vector whose products fit"):
        search(form(corpus), np.eye(2, dtype=np.float32), 2, metric="ip")
    assert search(corpus[:1], form(corpus[:2]), 1, metric="cosine")["0"]
    for rows in (corpus + np.eye(3, 2, dtype=np.float32), np.zeros((3, 2), np.float32)):
        assert search(np.ones((1, 2)), form(rows), 2, metric="ip")["0"]


MISSING = "exclude: query '0': expected an id, found a missing value"


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
        ({"metric": "l1"}, "metric: expected 'ip', 'l2' or 'cosine', found 'l1'"),
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
    for corpus in (CORPUS, build_index(CORPUS)):
        (found,) = search_batches(QUERIES, corpus, k, ignore_identical_ids=True)
        assert found.rows.shape == (20, 300)
        assert (found.rows[:, -1] == -1).all()
        assert not found.ties_at_cutoff.any()


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
        (pickle.dumps([("d1", 0.5)]), r"a pickle, which could run any code.* numpy.save"),
        (saved(np.savez, CORPUS), r"expected one array \(.npy\)"),
        *((npy_of(shape), INVALID) for shape in (LARGE, "(True, 4)", "(" * 5000, "(-1, 4)", "'4'")),
    ],
    ids=[
        "missing",
        "cut",
        "run",
        "pickle",
        "archive",
        "large",
        "bool",
        "nested",
        "negative",
        "text",
    ],
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
    monkeypatch.setattr("fastrank.common.progress.SHORT", short)
    search(QUERIES, CORPUS, 3, progress=progress)
    build_index(CORPUS, progress=progress)
    err = sys.stderr.getvalue()
    assert [name in err for name in ("search:", "index:")] == [drawn] * 2
    assert bool(err.strip()) == drawn


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, iter, build_index])
def test_zero_vectors_have_cosine_0_with_all(form):
    queries, rows = np.array([[2.0, 0], [0, 0]]), np.array([[3.0, 0], [0, 0], [-1, 0]])
    corpus = iter([rows]) if form is iter else form(rows)
    with pytest.warns(UserWarning, match="^2 vectors of queries or documents are zero"):
        run = search(queries, corpus, 3)
    assert run.to_dict() == {"0": {"0": 1, "1": 0, "2": -1}, "1": {"2": 0, "1": 0, "0": 0}}


@pytest.mark.parametrize(
    ("name", "metric"),
    [("dot", "ip"), ("cos", "cosine"), ("cosine_similarity", "cosine"), ("euclidean", "l2")],
)
def test_metrics_have_the_names_of_other_libraries(name, metric):
    expected = search(QUERIES, CORPUS, 3, metric=metric).to_dict()
    assert search(QUERIES, CORPUS, 3, metric=name).to_dict() == expected
    assert build_index(CORPUS, metric=name).metric == metric
    assert (search(QUERIES, CORPUS, 3).to_dict() == expected) == (metric == "cosine")
