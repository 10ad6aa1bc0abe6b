"""Search: what is found is what comparing every query with every vector finds."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import fastrank as fr
from fastrank.errors import ArrayError, OptionError, ReadError
from fastrank.searching import build_index, read_index, search, search_batches, write_index

RNG = np.random.default_rng(7)
CORPUS = RNG.standard_normal((300, 16)).astype(np.float32)
QUERIES = RNG.standard_normal((20, 16)).astype(np.float32)
METRICS = ["ip", "l2", "cosine"]


def scores_of(metric: str, queries: Any, corpus: Any) -> Any:
    """All scores, in double precision; larger is better."""
    queries, corpus = np.asarray(queries, float), np.asarray(corpus, float)
    if metric == "l2":
        return -((queries[:, None, :] - corpus[None]) ** 2).sum(axis=2)
    if metric == "cosine":
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        corpus = corpus / np.linalg.norm(corpus, axis=1, keepdims=True)
    return queries @ corpus.T


def slow_search(
    metric: str, queries: Any, corpus: Any, k: int, ids: list[str], left_out: list[set[str]]
) -> list[list[str]]:
    """The ids of the k best of each query; of equal scores the larger id first."""
    found = []
    for scores, gone in zip(scores_of(metric, queries, corpus).tolist(), left_out, strict=True):
        own = sorted(zip(scores, (i.encode() for i in ids), strict=True), reverse=True)
        found.append([doc.decode() for _, doc in own if doc.decode() not in gone][:k])
    return found


def rankings(run: fr.Run) -> dict[str, list[str]]:
    return {query: list(docs) for query, docs in run.to_dict().items()}


@pytest.fixture
def npy(tmp_path: Path) -> Callable[[Any], Path]:
    def write(vectors: Any) -> Path:
        path = tmp_path / "vectors.npy"
        np.save(path, vectors)
        return path

    return write


@pytest.mark.parametrize("metric", METRICS)
def test_finds_what_comparing_all_vectors_finds(metric: str) -> None:
    run = search(QUERIES, CORPUS, 10, metric=metric)

    names = list(map(str, range(300)))
    expected = slow_search(metric, QUERIES, CORPUS, 10, names, [set()] * 20)
    assert list(rankings(run).values()) == expected
    found = np.array(list(map(list, (own.values() for own in run.to_dict().values()))))
    best = -np.sort(-scores_of(metric, QUERIES, CORPUS), axis=1)[:, :10]
    np.testing.assert_allclose(found, best, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("metric", METRICS)
def test_an_index_finds_the_same(metric: str) -> None:
    index = build_index(CORPUS, metric=metric, ids=[f"d{i}" for i in range(300)])

    run = search(QUERIES, index, 10, query_ids=[f"q{i}" for i in range(20)])

    plain = rankings(search(QUERIES, CORPUS, 10, metric=metric))
    assert rankings(run) == {
        f"q{query}": [f"d{doc}" for doc in docs] for query, docs in plain.items()
    }


def blocks(vectors: Any) -> Iterator[Any]:
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
    "blocks of all sizes": lambda vectors, _: iter([vectors[:1], vectors[1:1], vectors[1:]]),
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("given", GIVEN)
def test_vectors_may_come_as(given: str, metric: str, npy: Any) -> None:
    """All of them give what the float32 array gives, as corpus, as queries and to an index."""
    corpus, queries = (np.float32(np.float16(vectors)) for vectors in (CORPUS, QUERIES))
    expected = rankings(search(queries, corpus, 5, metric=metric))

    assert rankings(search(queries, GIVEN[given](corpus, npy), 5, metric=metric)) == expected
    assert rankings(search(GIVEN[given](queries, npy), corpus, 5, metric=metric)) == expected
    index = build_index(GIVEN[given](corpus, npy), metric=metric)
    assert rankings(search(queries, index, 5)) == expected


@pytest.mark.parametrize("size", [7, 10, 100])
def test_blocks_may_come_in_the_same_memory(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As from a reader that fills one buffer again and again."""
    monkeypatch.setattr("fastrank.searching.vectors.BLOCK_VALUES", 16 * 10)

    def reused(vectors: Any) -> Iterator[Any]:
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


def test_ids_may_be_columns_of_any_library() -> None:
    """Whatever numbers the rows of a series have, its ids are in its order."""
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    numbers, texts = list(range(7, 307)), [f"d{i}" for i in range(300)]
    columns = {
        tuple(map(str, numbers)): [
            numbers, pandas.Series(numbers, index=texts), pandas.Index(numbers),
            pandas.Series(numbers, dtype="Int64"), polars.Series(numbers), pyarrow.array(numbers),
        ],
        tuple(texts): [
            pandas.Series(texts), pandas.Series(texts, dtype="category"), polars.Series(texts),
            polars.Series(texts, dtype=polars.Categorical), pyarrow.array(texts),
        ],
    }  # fmt: skip

    for ids, own in columns.items():
        for column in own:
            index = build_index(CORPUS, ids=column)
            assert [text.decode() for text in index.ids or ()] == list(ids)


def test_missing_ids_of_columns_are_named() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    ids = [*range(299), None]
    masked = np.ma.masked_array(np.arange(300), np.arange(300) == 299)

    for column in (
        pandas.Series(ids, dtype="Int64"), polars.Series(ids), pyarrow.array(ids), masked,
    ):  # fmt: skip
        with pytest.raises(ArrayError, match=r"ids\[299\]: expected an id, found .* missing value"):
            build_index(CORPUS, ids=column)


def test_integers_are_vectors_too() -> None:
    corpus = np.array([[1, 0], [0, 127]], np.int8)

    assert rankings(search(np.array([[0, 1]], np.int8), corpus, 1)) == {"0": ["1"]}


@pytest.mark.parametrize("metric", METRICS)
def test_vectors_larger_than_a_block_are_gone_through_block_by_block(
    metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = rankings(search(QUERIES, CORPUS, 50, metric=metric))
    monkeypatch.setattr("fastrank.searching.vectors.BLOCK_VALUES", 16 * 7)
    monkeypatch.setattr("fastrank.searching.engines.HEAP_BYTES", 1)

    found = search(QUERIES, CORPUS.astype(np.float64), 50, metric=metric, batch_size=3)

    assert rankings(found) == expected


@pytest.mark.parametrize("batch_size", [1, 3, 20, 1000])
def test_batches_are_of_the_size_asked_for(batch_size: int) -> None:
    for corpus in (CORPUS, CORPUS.astype(np.float64), iter([CORPUS]), build_index(CORPUS)):
        found = list(search_batches(QUERIES, corpus, 4, batch_size=batch_size))

        assert [len(one) for one in found] == [len(one) for one in _split(range(20), batch_size)]
        assert [one.start for one in found] == list(range(0, 20, batch_size))
        assert {one.rows.shape[1] for one in found} == {4}
        assert {one.rows.dtype for one in found} == {np.dtype(np.int64)}
        assert {one.scores.dtype for one in found} == {np.dtype(np.float32)}


def _split(rows: range, size: int) -> list[range]:
    return [rows[first : first + size] for first in range(0, len(rows), size)]


@pytest.mark.parametrize("batch_size", [1, 7])
def test_small_batches_are_searched_together(
    batch_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as faiss needs for matrix products, and as there is room for."""
    sizes: list[int] = []
    plain = faiss.knn

    def knn(queries: Any, *arguments: Any) -> Any:
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


def _ids(kind: str, count: int) -> list[Any] | None:
    if kind == "numbers":
        return None
    if kind == "integers":
        return [7 * i % 101 for i in range(count)]
    texts = [f"{'é' if i % 2 else 'd'}{i}" for i in range(count)]
    return [text.encode() for text in texts] if kind == "bytes" else texts


def _texts(ids: list[Any] | None, count: int) -> list[str]:
    own: Any = range(count) if ids is None else ids
    return [one.decode() if isinstance(one, bytes) else str(one) for one in own]


@settings(deadline=None, max_examples=80)
@given(
    corpus=hnp.arrays(np.float32, st.tuples(st.integers(1, 25), st.just(3)), elements=SMALL),
    queries=hnp.arrays(np.float32, st.tuples(st.integers(1, 6), st.just(3)), elements=SMALL),
    metric=st.sampled_from(["ip", "l2"]),
    k=st.integers(1, 30),
    ids=IDS,
    indexed=st.booleans(),
    ignore_identical_ids=st.booleans(),
    lists=st.lists(st.sets(st.integers(0, 24)), min_size=6, max_size=6),
)
def test_ties_duplicates_and_exclusion_are_as_in_the_slow_search(
    corpus: Any, queries: Any, metric: str, k: int, ids: str, indexed: bool,
    ignore_identical_ids: bool, lists: list[set[int]],
) -> None:  # fmt: skip
    """Small integers make many ties. A tie that is cut at rank k may hold any of the tied."""
    own, texts = _ids(ids, len(corpus)), _texts(_ids(ids, len(corpus)), len(corpus))
    queried = texts[: len(queries)] + [f"q{i}" for i in range(len(queries) - len(texts))]
    exclude = {
        query: [texts[i] if i < len(texts) else f"no{i}" for i in gone]
        for query, gone in zip(queried, lists, strict=False)
    }
    left_out = [
        set(exclude[query]) | ({query} if ignore_identical_ids else set()) for query in queried
    ]
    target: Any = build_index(corpus, metric=metric, ids=own) if indexed else corpus
    more: Any = {} if indexed else {"metric": metric, "corpus_ids": own}

    (found,) = search_batches(
        queries,
        target,
        k,
        query_ids=queried,
        ignore_identical_ids=ignore_identical_ids,
        exclude=exclude,
        **more,
    )

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


def test_of_equal_scores_the_larger_id_comes_first() -> None:
    """As text: 9 before 10, and 1 before 0."""
    corpus = np.ones((12, 2))

    assert rankings(search([[1.0, 1.0]], corpus, 12)) == {
        "0": ["9", "8", "7", "6", "5", "4", "3", "2", "11", "10", "1", "0"]
    }


def test_itself_is_left_out_by_id_and_not_by_position() -> None:
    """A duplicate of the query's vector stays, wherever faiss puts it."""
    corpus = np.array([[1.0, 0], [1, 0], [0, 1]])

    run = search(corpus, corpus, 2, corpus_ids=["a", "b", "c"], query_ids=["a", "b", "x"],
                 ignore_identical_ids=True)  # fmt: skip

    assert rankings(run) == {"a": ["b", "c"], "b": ["a", "c"], "x": ["c", "b"]}


def test_removed_counts_what_stood_above_the_end_of_the_ranking() -> None:
    corpus = np.array([[4.0], [3], [2], [1]])

    (found,) = search_batches([[1.0]], corpus, 2, exclude={"0": ["0", "3", "17"]})

    assert found.rows.tolist() == [[1, 2]]
    assert found.excluded.tolist() == [1]


def test_one_long_list_does_not_deepen_the_search_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    depths: list[int] = []
    index = build_index(CORPUS)

    class Spy:
        ntotal, d = 300, 16

        def search(self, queries: Any, depth: int) -> Any:
            depths.append(depth)
            return plain.search(queries, depth)

    plain, index.faiss = index.faiss, Spy()
    excluded = [str(i) for i in range(200)]

    run = search(QUERIES, index, 5, exclude={"3": excluded})

    assert depths == [6, 206]
    expected = slow_search(
        "ip", QUERIES, CORPUS, 5, list(map(str, range(300))),
        [set(excluded) if i == 3 else set() for i in range(20)],
    )  # fmt: skip
    assert list(rankings(run).values()) == expected


FACTORIES = [
    *((factory, metric) for metric in METRICS for factory in ("Flat", "IVF4,Flat", "HNSW8", "SQ8")),
    ("PCA8,IVF4,Flat", "ip"), ("IVF4_HNSW4,Flat", "l2"), ("IVF4,SQ8", "cosine"), ("PQ4x4", "l2"),
    ("HNSW8_PQ4x4", "l2"),
    ("IVF4,PQ4x4fs", "ip"), ("IVF4,PQ4x4,RFlat", "l2"), ("OPQ4_16,IVF4,PQ4x4", "cosine"),
]  # fmt: skip


@pytest.mark.parametrize(("factory", "metric"), FACTORIES)
def test_every_factory_finds_what_faiss_alone_finds(factory: str, metric: str) -> None:
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
def test_parameters_hold_for_one_search_only(factory: str, parameters: Any) -> None:
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
def test_parameters_that_mean_nothing_are_refused(parameters: Any, reason: str) -> None:
    index = build_index(CORPUS, "IVF4,Flat")

    with pytest.raises(OptionError, match=f"parameters: {reason}"):
        search(QUERIES, index, 3, parameters=parameters)


def test_training_takes_a_sample_that_is_the_same_each_time() -> None:
    def centroids() -> Any:
        index = build_index(CORPUS, "IVF4,Flat", train_size=200)
        return index.faiss.quantizer.reconstruct_n(0, 4)

    assert (centroids() == centroids()).all()
    assert len(build_index(blocks(CORPUS), "IVF4,Flat", train_size=200)) == 300


def test_nothing_the_caller_passed_is_changed() -> None:
    corpus, queries = CORPUS.copy(), QUERIES.copy()

    search(queries, corpus, 3, metric="cosine", ignore_identical_ids=True)
    build_index(corpus, metric="cosine")

    assert (corpus == CORPUS).all()
    assert (queries == QUERIES).all()


# Indexes as files.


@pytest.mark.parametrize("ids", [None, [f"d {i}\n" for i in range(300)]])
@pytest.mark.parametrize("factory", ["Flat", "IVF4,Flat", "HNSW8"])
def test_a_saved_index_is_the_same_when_it_is_loaded(
    factory: str, ids: list[str] | None, tmp_path: Path
) -> None:
    index = build_index(CORPUS, factory, "cosine", ids)

    write_index(index, tmp_path / "index")
    loaded = read_index(tmp_path / "index")

    assert (loaded.metric, len(loaded), loaded.dimension) == ("cosine", 300, 16)
    assert (loaded.ids is None) == (ids is None)
    assert search(QUERIES, loaded, 7).to_dict() == search(QUERIES, index, 7).to_dict()
    assert sorted(os.listdir(tmp_path)) == ["index", "index.ids.npz"]


def test_faiss_reads_a_saved_index_and_what_faiss_wrote_is_read(tmp_path: Path) -> None:
    write_index(build_index(CORPUS, metric="l2"), tmp_path / "ours")
    assert faiss.read_index(str(tmp_path / "ours")).ntotal == 300

    theirs = faiss.IndexFlatL2(16)
    theirs.add(CORPUS)
    faiss.write_index(theirs, str(tmp_path / "theirs"))
    loaded = read_index(tmp_path / "theirs")
    assert (loaded.metric, loaded.ids, len(loaded)) == ("l2", None, 300)


@pytest.mark.parametrize("which", ["index", "index.ids.npz"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_file_that_is_cut_off_is_an_error(which: str, share: float, tmp_path: Path) -> None:
    write_index(build_index(CORPUS, ids=list(range(300))), tmp_path / "index")
    content = (tmp_path / which).read_bytes()
    (tmp_path / which).write_bytes(content[: int(share * len(content))])

    with pytest.raises(ReadError, match=which):
        read_index(tmp_path / "index")


def test_an_index_that_faiss_wrote_keeps_the_numbers_of_its_vectors(tmp_path: Path) -> None:
    """Inverted lists store a number of each vector, which need not be its row."""
    path, numbers = tmp_path / "index", np.arange(300) * 1000 + 7
    alone = faiss.index_factory(16, "IVF4,Flat", faiss.METRIC_INNER_PRODUCT)
    alone.train(CORPUS)
    alone.add_with_ids(CORPUS, numbers)
    faiss.write_index(alone, str(path))
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


def test_ids_are_given_later_to_an_index_that_faiss_wrote(tmp_path: Path) -> None:
    path = tmp_path / "index"
    faiss.write_index(build_index(CORPUS).faiss, str(path))
    ids = [f"d{i}" for i in range(300)]

    index = read_index(path, ids)

    expected = search(QUERIES, CORPUS, 5, corpus_ids=ids).to_dict()
    assert search(QUERIES, index, 5).to_dict() == expected
    assert search(QUERIES, read_index(path), 5, corpus_ids=ids).to_dict() == expected
    with pytest.raises(ArrayError, match="ids: expected 300 ids, one per vector, found 299"):
        read_index(path, ids[1:])


def test_ids_are_not_given_to_an_index_that_has_some(tmp_path: Path) -> None:
    write_index(build_index(CORPUS, ids=[f"d{i}" for i in range(300)]), tmp_path / "ours")
    numbered = faiss.index_factory(16, "IVF4,Flat")
    numbered.train(CORPUS)
    numbered.add_with_ids(CORPUS, np.arange(300) + 7)

    with pytest.raises(OptionError, match="ids: the Index has ids already"):
        read_index(tmp_path / "ours", ["d"] * 300)
    with pytest.raises(OptionError, match="the faiss index has ids already"):
        search(QUERIES, numbered, 5, corpus_ids=range(300))


def test_numbers_in_an_id_map_are_the_ids() -> None:
    index = faiss.IndexIDMap2(faiss.IndexFlatIP(16))
    index.add_with_ids(CORPUS, np.arange(300) * 3 + 5)

    found = search(QUERIES, index, 5).to_dict()

    assert found == search(QUERIES, CORPUS, 5, corpus_ids=np.arange(300) * 3 + 5).to_dict()


def test_an_index_of_another_metric_is_refused() -> None:
    with pytest.raises(ArrayError, match="corpus: expected an index for inner products or L2"):
        search(QUERIES, faiss.IndexFlat(16, faiss.METRIC_L1), 5)


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        (np.arange(300) % 299, "expected distinct ids of vectors, found 0 twice"),
        (np.arange(300) - 7, r"expected ids of vectors from 0 to 10\*\*18 - 1, found -7"),
    ],
)
def test_numbers_that_are_no_ids_are_an_error(numbers: Any, reason: str, tmp_path: Path) -> None:
    alone = faiss.index_factory(16, "IVF4,Flat")
    alone.train(CORPUS)
    alone.add_with_ids(CORPUS, numbers)
    faiss.write_index(alone, str(tmp_path / "index"))

    with pytest.raises(ReadError, match=f"index: {reason}"):
        read_index(tmp_path / "index")


def test_ids_of_another_index_are_an_error(tmp_path: Path) -> None:
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
def test_ids_whose_lengths_are_none_are_an_error(lengths: Any, tmp_path: Path) -> None:
    """They would be read from anywhere in memory."""
    write_index(build_index(CORPUS[:3], ids=["four", "ids!", ""]), tmp_path / "index")
    path = tmp_path / "index.ids.npz"
    with np.load(path) as archive:
        held = {**archive, "lengths": lengths}
    np.savez(path, **held)

    with pytest.raises(ReadError, match=r"index.ids.npz: expected (one id per vector|ids)"):
        read_index(tmp_path / "index")


def test_an_index_that_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        write_index(build_index(CORPUS), tmp_path / "no folder" / "index")
    write_index(build_index(CORPUS), tmp_path / "index")
    broken = build_index(CORPUS)
    broken.faiss = object()

    with pytest.raises(TypeError):
        write_index(broken, tmp_path / "index")

    assert len(read_index(tmp_path / "index")) == 300


# What is wrong with what was given.


def _with(vectors: Any, row: int, column: int, value: float) -> Any:
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
        lambda own: iter([own[:7], _with(own, 5, 2, np.nan)]), r"\[12, 2\]: expected finite",
    ),
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
def test_vectors_that_cannot_be_compared_are_named(bad: str) -> None:
    make, message = BAD[bad]

    with pytest.raises(ArrayError, match=f"^corpus.*{message}"):
        search(QUERIES, make(CORPUS), 3, metric="cosine")
    with pytest.raises(ArrayError, match=f"^queries.*{message}"):
        search(make(QUERIES), CORPUS, 3, metric="cosine")
    with pytest.raises(ArrayError, match=f"^vectors.*{message}"):
        build_index(make(CORPUS), metric="cosine")


def test_vectors_whose_products_are_no_numbers_are_named() -> None:
    """The cosine looks at directions only."""
    corpus = np.full((3, 2), 1e38) * [1, -1] / [[1e30], [1], [1]]

    with pytest.raises(ArrayError, match=r"corpus\[1\]: expected a vector whose products fit"):
        search([[1.0, 2.0]], corpus, 2)
    assert len(search([[1e-30, 1e38]], corpus, 2, metric="cosine")) == 1


@pytest.mark.parametrize(
    "form", [np.asarray, lambda rows: pytest.importorskip("scipy.sparse").csr_matrix(rows)]
)
def test_vectors_whose_products_are_all_0_are_named(form: Any) -> None:
    """Inner products of vectors of length 1e-30 are 0 as 32-bit floats; their cosines are not."""
    corpus = np.array([[1e-30, 0], [3e-30, 0], [0, 0]], np.float32)

    with pytest.raises(ArrayError, match=r"corpus\[1\]: .* found length at most 3e-30; scale the"):
        search(np.ones((1, 2), np.float32), form(corpus), 2)
    with pytest.raises(ArrayError, match=r"queries\[1\]: expected a vector whose products fit"):
        search(form(corpus), np.eye(2, dtype=np.float32), 2)
    assert search(corpus[:1], form(corpus[:2]), 1, metric="cosine")["0"]
    assert search(np.ones((1, 2)), form(corpus + np.eye(3, 2, dtype=np.float32)), 2)["0"]
    assert search(np.ones((1, 2)), form(np.zeros((3, 2), np.float32)), 2)["0"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": QUERIES[:, :9]}, "queries: expected 16 columns, as in the corpus, found 9"),
        ({"corpus": CORPUS[:0]}, "corpus: expected vectors, found none"),
        ({"k": 0}, "k: expected 1 or more, found 0"),
        ({"k": -3}, "k: expected 1 or more, found -3"),
        ({"batch_size": 0}, "batch_size: expected 1 or more, found 0"),
        ({"metric": "dot"}, "metric: expected 'ip', 'l2' or 'cosine', found 'dot'"),
        ({"corpus_ids": ["a"] * 300}, r"corpus_ids\[1\]: duplicate id 'a', also at 0"),
        ({"corpus_ids": range(299)}, "corpus_ids: expected 300 ids, one per vector, found 299"),
        ({"corpus_ids": "abc"}, "abc: no such file"),
        (
            {"corpus_ids": set(range(300))},
            "corpus_ids: expected a list of ids, found set, which has no order",
        ),
        ({"corpus_ids": 300}, "corpus_ids: expected a list of ids, found int"),
        ({"corpus": iter([CORPUS]), "k": 2**63 - 1}, "k: 9223372036854775808 results for each"),
        ({"corpus_ids": np.ones(300)}, r"corpus_ids\[0\]: expected an id, found the float 1.0"),
        ({"query_ids": [3] * 20}, r"query_ids\[1\]: duplicate id '3', also at 0"),
        ({"query_ids": []}, "query_ids: expected 20 ids, one per vector, found 0"),
        ({"parameters": "nprobe=3"}, "parameters: exact search has no parameters"),
        (
            {"corpus": iter([CORPUS]), "corpus_ids": range(299)},
            "corpus_ids: expected at least 300 ids",
        ),
        (
            {"corpus": iter([CORPUS]), "corpus_ids": range(301)},
            "corpus_ids: expected 300 ids, one per vector",
        ),
        ({"queries": iter([QUERIES]), "query_ids": [1]}, "query_ids: expected at least 20 ids"),
        ({"queries": iter([QUERIES]), "query_ids": range(21)}, "query_ids: expected 20 ids"),
        ({"gpu": True}, "gpu: this build of faiss has no GPU support"),
        (
            {"exclude": {"0": [None]}},
            "exclude: query '0': expected an id, found the missing value None",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments: dict[str, Any], message: str) -> None:
    if hasattr(faiss, "StandardGpuResources") and "gpu" in arguments:
        pytest.skip("this faiss has a GPU part")
    given = {"corpus": CORPUS, "queries": QUERIES, "k": 3, **arguments}

    with pytest.raises(fr.FastrankError, match=f"^{message}"):
        search(given.pop("queries"), given.pop("corpus"), given.pop("k"), **given)


def test_k_may_be_an_integer_of_numpy() -> None:
    index = build_index(CORPUS)

    for corpus in (CORPUS, index, [CORPUS]):
        run = search(QUERIES, corpus, np.int64(3), batch_size=np.int32(7))
        assert rankings(run) == rankings(search(QUERIES, index, 3))


@pytest.mark.parametrize("k", [10**9, 2**63 - 1])
def test_k_may_be_larger_than_any_memory(k: int) -> None:
    """Of 300 documents 300 are found, and there is room for no more."""
    for corpus in (CORPUS, build_index(CORPUS)):
        (found,) = search_batches(QUERIES, corpus, k, ignore_identical_ids=True)
        assert found.rows.shape == (20, 300)
        assert (found.rows[:, -1] == -1).all()
        assert not found.ties_at_cutoff.any()


@pytest.mark.parametrize("k", [2.5, "3", None])
def test_k_is_an_integer(k: Any) -> None:
    with pytest.raises(TypeError, match="k: expected an integer"):
        search(QUERIES, CORPUS, k)


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        (
            "bogus",
            "faiss cannot build 'bogus' with dimension 16 and metric 'ip': could not parse",
        ),
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
def test_a_factory_that_faiss_refuses_is_named(factory: Any, message: str) -> None:
    with pytest.raises(OptionError, match=f"^index_factory: {message}"):
        build_index(CORPUS, factory)


def test_an_index_has_its_own_metric_and_ids() -> None:
    index = build_index(CORPUS, metric="l2", ids=range(300))

    with pytest.raises(
        OptionError, match="metric: expected 'l2', the metric of the index, found 'ip'"
    ):
        search(QUERIES, index, 3, metric="ip")
    with pytest.raises(OptionError, match="ids: the Index has ids"):
        search(QUERIES, index, 3, corpus_ids=range(300))
    assert len(search(QUERIES, index, 3, metric="l2")) == 20


def test_files_that_hold_no_vectors_are_named(tmp_path: Path, npy: Any) -> None:
    with pytest.raises(ReadError, match=r"missing\.npy: no such file"):
        search(QUERIES, tmp_path / "missing.npy", 3)
    path = npy(CORPUS)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ReadError, match=r"vectors.npy: truncated or invalid .npy file"):
        search(QUERIES, path, 3)
    path.write_bytes(b"q1 Q0 d1 1 0.5 tag\n")
    with pytest.raises(ReadError, match=r"vectors.npy: not a .npy file: .* b'q1 Q0 '"):
        search(QUERIES, path, 3)
    np.savez(tmp_path / "two.npz", CORPUS)
    with pytest.raises(ReadError, match=r"expected one array \(.npy\)"):
        search(QUERIES, tmp_path / "two.npz", 3)


@pytest.mark.parametrize(
    "shape", ["(1180591620717411303424, 4)", "(True, 4)", "(" * 5000, "(-1, 4)", "'4'"]
)
def test_a_header_that_says_what_no_array_is_is_an_error(shape: str, tmp_path: Path) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    path = tmp_path / "vectors.npy"
    path.write_bytes(b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header)

    with pytest.raises(ReadError, match=r"vectors.npy: truncated or invalid .npy file"):
        search(QUERIES, path, 3)


def test_no_queries_give_an_empty_run() -> None:
    assert len(search(QUERIES[:0], CORPUS, 3)) == 0


def test_a_query_that_finds_nothing_is_not_in_the_run() -> None:
    run = search([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]], 3, ignore_identical_ids=True)

    assert rankings(run) == {"1": ["0"]}


def test_mistakes_are_found_before_the_search() -> None:
    """Of arrays the last query is looked at before the first is searched for."""
    with pytest.raises(ArrayError, match=r"queries\[19, 2\]"):
        search_batches(_with(QUERIES, 19, 2, np.nan), CORPUS, 3, batch_size=1)


def test_a_gpu_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What faiss does on the CPU stands for its GPU part here."""
    used: list[str] = []

    def knn_gpu(resources: Any, queries: Any, corpus: Any, k: int, metric: int) -> Any:
        used.append("knn")
        return faiss.knn(queries, corpus, k, metric)

    def moved(index: Any) -> Any:
        used.append("moved")
        return faiss.clone_index(index)

    for name, value in {
        "StandardGpuResources": object, "get_num_gpus": lambda: 1, "knn_gpu": knn_gpu,
        "index_cpu_to_all_gpus": moved, "index_gpu_to_cpu": moved,
    }.items():  # fmt: skip
        monkeypatch.setattr(faiss, name, value, raising=False)
    expected = rankings(search(QUERIES, CORPUS, 5))

    assert rankings(search(QUERIES, CORPUS, 5, gpu=True)) == expected
    index = build_index(CORPUS, "IVF4,Flat", gpu=True)
    assert rankings(search(QUERIES, index, 5, parameters="nprobe=4", gpu=True)) == expected
    assert used == ["knn", "moved", "moved", "moved"]
    assert index.faiss.nprobe == 1

    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 0)
    with pytest.raises(OptionError, match="gpu: faiss found no GPU"):
        search(QUERIES, CORPUS, 5, gpu=True)


def test_a_bar_is_drawn_on_a_terminal_where_work_is_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stderr", Terminal())
    search(QUERIES, CORPUS, 3)
    assert sys.stderr.getvalue().strip() == ""  # type: ignore[attr-defined]

    monkeypatch.setattr("fastrank.searching.progress.SHORT", 0.0)
    search(QUERIES, CORPUS, 3)
    assert "search" in sys.stderr.getvalue()  # type: ignore[attr-defined]


def test_a_bar_is_drawn_on_demand_and_not_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    search(QUERIES, CORPUS, 3)
    build_index(CORPUS)
    assert capsys.readouterr().err == ""

    search(QUERIES, CORPUS, 3, progress=True)
    build_index(CORPUS, progress=True)
    err = capsys.readouterr().err
    assert "search: 100%" in err
    assert "index: 100%" in err
