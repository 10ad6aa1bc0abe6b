"""Search in shards: the results of one index with all vectors, to the last bit."""

import io
import os
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import faiss
import numpy as np
import pytest

import fastrank as fr
from fastrank.errors import ArrayError, OptionError, ReadError
from fastrank.searching import Shards, build_index, read_index, search, search_batches, write_index
from fastrank.vectors.searching.storage import describe_index
from tests.helpers.executors import started
from tests.helpers.web_server import serving

RNG = np.random.default_rng(11)
CORPUS = RNG.standard_normal((5000, 96)).astype(np.float32)
# faiss multiplies matrices for this many.
QUERIES = RNG.standard_normal((1500, 96)).astype(np.float32)
METRICS = ["ip", "l2", "cosine"]
CUTS = [0, 1, 1500, 1500, 4000, 4096, 5000]


@pytest.fixture
def split(tmp_path):
    def write(vectors, cuts=CUTS, kind="npy", metric="ip"):
        return written(tmp_path, vectors, cuts, kind, metric)

    return write


def written(folder, vectors, cuts, kind, metric="ip"):
    """Files with the rows between the cuts: vectors, indexes, or both in turn."""
    paths = []
    for number, (first, stop) in enumerate(pairwise(cuts)):
        own = vectors[first:stop]
        path = folder / f"{number}.npy"
        if kind == "index" or (kind == "both" and number % 2 and len(own)):
            path = folder / f"{number}.faiss"
            write_index(build_index(own, metric=metric), path)
        else:
            np.save(path, own)
        paths.append(path)
    return paths


def found_by(queries, corpus, k, **options):
    """Everything that is found, as arrays."""
    batches = list(search_batches(queries, corpus, k, **options))
    names = ("queries", "rows", "scores", "ties_at_cutoff", "excluded")
    return [np.concatenate([getattr(one, name) for one in batches]) for name in names]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["npy", "both"])
def test_scores_are_those_of_one_flat_index_to_the_last_bit(kind, metric, split):
    shards = Shards(split(CORPUS, kind=kind, metric=metric))
    found = found_by(QUERIES, shards, 100, metric=metric)
    assert_same(found, found_by(QUERIES, build_index(CORPUS, metric=metric), 100))


@pytest.mark.parametrize("metric", METRICS)
def test_scores_do_not_depend_on_how_the_vectors_are_stored(metric, tmp_path, monkeypatch):
    """With blocks to read that are no multiple of those of faiss."""
    monkeypatch.setattr("fastrank.vectors.searching.vectors.BLOCK_VALUES", 96 * 1500)
    np.save(tmp_path / "all.npy", CORPUS)
    expected = found_by(QUERIES, build_index(CORPUS, metric=metric), 10)
    for corpus in (CORPUS, tmp_path / "all.npy", iter([CORPUS[:700], CORPUS[700:]])):
        assert_same(found_by(QUERIES, corpus, 10, metric=metric), expected)


def test_files_are_searched_again_for_queries_whose_results_do_not_fit_in_memory(
    split, monkeypatch
):
    expected = found_by(QUERIES, build_index(CORPUS), 5, batch_size=100)
    monkeypatch.setattr("fastrank.vectors.searching.engines.HEAP_BYTES", 500 * (12 * 6 + 4 * 96))
    monkeypatch.setattr("fastrank.vectors.searching.engines.MATRIX_VALUES", 96 * 200)
    small = found_by(QUERIES, build_index(CORPUS), 5, batch_size=100)
    found = found_by(QUERIES, Shards(split(CORPUS)), 5, batch_size=100)
    assert_same(found, small)
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("kind", ["threads", "processes", "process pool"])
def test_any_executor_gives_the_same(kind, split):
    paths = split(CORPUS, kind="both")
    with started(kind) as executor:
        run = search(QUERIES[:50], Shards(paths, executor), 10)
    assert run.to_dict() == search(QUERIES[:50], CORPUS, 10, metric="ip").to_dict()


def test_threads_in_each_task_give_the_bits_of_one_index_with_as_many(split):
    most = faiss.omp_get_max_threads()
    with ThreadPoolExecutor(2) as executor:
        one = found_by(QUERIES, Shards(split(CORPUS), executor), 10)
        as_many = found_by(QUERIES, Shards(split(CORPUS), executor, most), 10)

    assert_same(as_many, found_by(QUERIES, build_index(CORPUS), 10))
    faiss.omp_set_num_threads(1)
    try:
        assert_same(one, found_by(QUERIES, build_index(CORPUS), 10))
    finally:
        faiss.omp_set_num_threads(most)


class _Backwards(Executor):
    """Runs nothing until a result is needed, and then the last call first."""

    def __init__(self):
        self._calls = []

    def submit(self, function, /, *arguments, **keywords):
        executor = self

        class Waiting(Future[Any]):
            def result(self, timeout=None):
                while executor._calls:
                    call, work = executor._calls.pop()
                    call.set_result(work())
                return super().result(timeout)

        call = Waiting()
        self._calls.append((call, lambda: function(*arguments, **keywords)))
        return call


def test_the_order_in_which_tasks_finish_does_not_matter(split):
    corpus = np.repeat(CORPUS[:40], 50, axis=0)
    paths = split(corpus, [0, 10, 700, 900, 2000])
    expected = found_by(QUERIES[:20], Shards(paths), 30)
    assert_same(found_by(QUERIES[:20], Shards(paths, _Backwards()), 30), expected)


@pytest.mark.parametrize("with_ids", [False, True])
def test_evaluate_embeddings_takes_shards(with_ids, tmp_path):
    ids = [f"d{i}" for i in range(5000)]
    random = np.random.default_rng(1)
    qrels = {f"q{i}": {f"d{doc}": 1 for doc in random.integers(0, 5000, 20)} for i in range(50)}
    paths = []
    for number, (first, stop) in enumerate(pairwise([0, 100, 2000, 5000])):
        paths.append(tmp_path / f"{number}.faiss")
        own = ids[first:stop] if with_ids else None
        write_index(build_index(CORPUS[first:stop], ids=own), paths[-1])
    options = {"k": 200, "query_ids": [f"q{i}" for i in range(50)]}
    more = {} if with_ids else {"corpus_ids": ids}

    shards = Shards(paths)
    scores = fr.evaluate_embeddings(QUERIES[:50], shards, qrels, **options, **more)
    assert (shards.ids is None) == (not with_ids), "the caller's shards stay as they were"

    expected = fr.evaluate_embeddings(QUERIES[:50], CORPUS, qrels, corpus_ids=ids, **options)
    assert scores.to_dict() == expected.to_dict()
    assert scores.mean == expected.mean
    assert scores.counts == expected.counts


def test_approximate_indexes_find_what_each_finds(tmp_path):
    paths = []
    for number, (first, stop) in enumerate(pairwise([0, 1000, 5000])):
        paths.append(tmp_path / str(number))
        write_index(build_index(CORPUS[first:stop], "IVF8,Flat", "l2"), paths[-1])
    parts = [found_by(QUERIES[:9], read_index(path), 5, parameters="nprobe=2") for path in paths]

    found = found_by(QUERIES[:9], Shards(paths), 5, parameters="nprobe=2")

    scores = np.concatenate([part[2] for part in parts], axis=1)
    rows = np.concatenate([parts[0][1], parts[1][1] + 1000], axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(found[1], np.take_along_axis(rows, order, axis=1))
    np.testing.assert_array_equal(found[2], np.take_along_axis(scores, order, axis=1))
    # Lists that are not searched leave less than all.
    _, rows, scores, *_ = found_by(QUERIES[:9], Shards(paths), 5000, parameters="nprobe=1")
    assert ((rows == -1) == (scores == -np.inf)).all()
    assert (rows == -1).any()


def test_a_task_reads_a_mapped_file_block_by_block(split, monkeypatch):
    sizes = []
    plain = faiss.knn

    def knn(queries, vectors, *arguments):
        sizes.append(len(vectors))
        return plain(queries, vectors, *arguments)

    monkeypatch.setattr(faiss, "knn", knn)
    monkeypatch.setattr("fastrank.vectors.searching.vectors.BLOCK_VALUES", 96 * 1024)
    found_by(QUERIES[:5], Shards(split(CORPUS.astype(np.float16), [0, 3000, 5000])), 5)

    assert max(sizes) <= 2048
    assert sum(sizes) >= 5000


FACTORIES = [
    ("Flat", "l2"),
    ("Flat", "cosine"),
    ("IVF4,Flat", "ip"),
    ("HNSW8", "l2"),
    ("SQ8", "ip"),
    ("PCA8,IVF4,Flat", "ip"),
    ("IVF4_HNSW4,Flat", "l2"),
    ("PQ4x4fs", "ip"),
    ("Flat,RFlat", "l2"),
]


@pytest.mark.parametrize(("factory", "metric"), FACTORIES)
def test_an_index_is_described_without_loading_it(factory, metric, tmp_path, monkeypatch):
    path = str(tmp_path / "index")
    ids = [f"d{i}" for i in range(300)]
    write_index(build_index(CORPUS[:300, :16], factory, metric, ids), path)
    monkeypatch.setattr(faiss, "read_index", None)
    found = describe_index(path)
    assert found[:3] == (metric, 16, 300)
    assert [own.decode() for own in found.ids] == ids


def _invalid(folder):
    """The start of messages: shards, options, and the type of the error; * is the last shard."""

    def vectors(name, given):
        np.save(folder / name, given)
        return folder / name

    def index(name, **options):
        write_index(build_index(CORPUS[:10], **options), folder / name)
        return folder / name

    ids = [f"d{i}" for i in range(10)]
    wrong = CORPUS[:10].copy()
    wrong[7, 3] = np.nan
    one, flat, named = vectors("one.npy", CORPUS[:10]), index("flat"), index("named", ids=ids)
    short, empty = vectors("short.npy", CORPUS[:5, :7]), vectors("empty.npy", CORPUS[:0])
    double, row = vectors("double.npy", CORPUS[:5].astype("f8")), vectors("flat.npy", CORPUS[0])
    again, l2 = index("again", ids=[*ids[3:], "x", "y", "z"]), index("l2", metric="l2")
    nan, truncated = vectors("nan.npy", wrong), folder / "truncated"
    truncated.write_bytes(b"not an index")
    return {
        "*: expected dimension 96, as in": ([one, short], {}, ArrayError),
        "*: expected float32, as in": ([one, double], {}, ArrayError),
        "*: expected 'cosine', as in": ([flat, l2], {}, ArrayError),
        "*[0]: duplicate id 'd3', also in": ([named, again], {}, ArrayError),
        "*: expected ids of the vectors, as in": ([named, one], {}, ArrayError),
        "*: the shard is given twice": ([one, one], {}, ArrayError),
        "*: no such file or directory": ([one, folder / "no"], {}, ReadError),
        "*: expected a table of vectors": ([one, row], {}, ArrayError),
        "*[7, 3]: expected finite values": ([one, nan], {}, ArrayError),
        "*: truncated or invalid index: Index type": ([one, truncated], {}, ReadError),
        "shards: expected at least one file": ([], {}, OptionError),
        "shards: expected paths of files, found ndarray": ([CORPUS], {}, OptionError),
        "corpus: expected vectors, found none": ([empty], {}, ArrayError),
        "parameters: *: exact search has no": ([one], {"parameters": "nprobe=2"}, OptionError),
        "parameters: *: nprobe=2: unknown": ([flat], {"parameters": "nprobe=2"}, OptionError),
        "metric: expected 'cosine', the metric of": ([flat], {"metric": "l2"}, OptionError),
        "metric: expected 'ip', 'l2' or": ([one], {"metric": "l1"}, OptionError),
        "corpus_ids: expected 10 ids": ([one], {"corpus_ids": ids[:3]}, ArrayError),
        "corpus_ids: the shards have ids already": ([named], {"corpus_ids": ids}, OptionError),
        "executor: expected a concurrent.futures": ([one], {"executor": 3}, TypeError),
        "threads: expected 1 or more": ([one], {"threads": 0}, OptionError),
        "gpu: ": ([one], {"gpu": True}, OptionError),
    }


def test_errors_name_the_shard(tmp_path, monkeypatch):
    monkeypatch.delattr(faiss, "StandardGpuResources", raising=False)
    for start, (files, options, kind) in _invalid(tmp_path).items():
        tasks = {name: options.pop(name) for name in ("executor", "threads") if name in options}
        with pytest.raises(kind) as raised:
            search(QUERIES[:3], Shards(files, **tasks), 2, **options)
        last = str(files[-1]) if files else ""
        assert str(raised.value).startswith(start.replace("*", last))


@pytest.mark.parametrize("kind", [None, "threads", "processes"])
def test_a_shard_that_fails_is_named(kind, split):
    paths = split(CORPUS[:300], [0, 100, 200, 300], "index")
    with started(kind) if kind else nullcontext() as executor:
        shards = Shards(paths, executor)
        os.truncate(paths[1], 1000)
        with pytest.raises(ReadError, match=r"1\.faiss.*(truncated|do not belong)"):
            found_by(QUERIES[:3], shards, 5)


def test_a_shard_whose_worker_died_is_named(split):
    paths = split(CORPUS[:300], [0, 100, 200, 300])
    with started("processes") as executor:
        shards = Shards(paths, executor)
        # The executor must know of it: up to Python 3.11, a call that is submitted while it finds
        # out starts another worker, for which shutdown() waits forever.
        with pytest.raises(BrokenProcessPool):
            executor.submit(os._exit, 1).result()
        with pytest.raises(ReadError, match=r"\.npy: the search failed: BrokenProcessPool"):
            found_by(QUERIES[:3], shards, 5)


def test_a_file_that_changes_before_its_search_is_an_error(split):
    paths = split(CORPUS[:300], [0, 100, 300])
    shards = Shards(paths)
    np.save(paths[1], CORPUS[:150])
    with pytest.raises(ReadError, match=r"1\.npy: expected 200 vectors .* as before, found 150"):
        found_by(QUERIES[:3], shards, 5)


def test_an_index_with_numbers_of_its_own_is_an_error(tmp_path):
    index = faiss.IndexIDMap(faiss.IndexFlatIP(96))
    index.add_with_ids(CORPUS[:10], np.arange(10) + 5)
    faiss.write_index(index, str(tmp_path / "index"))
    with pytest.raises(ReadError, match="index: expected an index whose ids are row numbers"):
        search(QUERIES[:2], Shards([tmp_path / "index"]), 3)


@pytest.mark.parametrize("kind", [None, "processes"])
def test_shards_may_be_at_urls(kind, split):
    paths = split(CORPUS[:300], [0, 100, 200, 300], "both")
    expected = search(QUERIES[:5], Shards(paths), 10)
    with serving() as server, started(kind) if kind else nullcontext() as executor:
        urls = [server.url(path.name, path.read_bytes()) for path in paths]
        for ids in paths[0].parent.glob("*.ids.npy"):
            server.url(ids.name, ids.read_bytes())
        found = search(QUERIES[:5], Shards(urls, executor), 10)
    assert found.to_dict() == expected.to_dict()


def test_only_the_header_of_vectors_at_a_url_is_read_before_a_search():
    header = io.BytesIO()
    # The file has no values: 10 TB would not fit.
    shape = {"descr": "<f4", "fortran_order": False, "shape": (10**10, 256)}
    np.lib.format.write_array_header_1_0(header, shape)
    with serving() as server:
        shards = Shards([server.url("large.npy", header.getvalue())])
        with pytest.raises(ReadError, match=r"/large\.npy: truncated or invalid \.npy file"):
            search([[0.0] * 256], shards, 1)
    assert (len(shards), shards.dimension) == (10**10, 256)


def test_errors_show_urls_without_their_secrets():
    content = io.BytesIO()
    np.save(content, CORPUS[:3])
    with serving() as server:
        url = server.url("a.npy", content.getvalue()) + "?key=secret"
        with pytest.raises(ArrayError, match=r"/a\.npy: the shard is given twice$"):
            Shards([url, url])
        with pytest.raises(ReadError, match=r"^http\S+/b\.faiss: no such file or directory$"):
            read_index(server.url("a.npy", content.getvalue()).replace("a.npy", "b.faiss"))
        server.url("a.npy", content.getvalue()[:20])
        with pytest.raises(ReadError, match=r"/a\.npy: truncated or invalid \.npy file"):
            Shards([url])


def test_one_path_is_not_a_list_of_shards(split):
    with pytest.raises(OptionError, match="shards: expected a list of paths, found one path"):
        Shards(str(split(CORPUS[:9], [0, 9])[0]))


@pytest.mark.parametrize("option", [{"index_factory": "HNSW8"}, {"train_size": 7}])
def test_shards_are_not_built_into_an_index(option, split):
    shards = Shards(split(CORPUS[:9], [0, 9]))
    with pytest.raises(OptionError, match="shards are searched as they are"):
        fr.evaluate_embeddings(QUERIES[:2], shards, {"0": {"1": 1}}, **option)


def test_shards_describe_themselves(split):
    assert repr(Shards(split(CORPUS))) == "<Shards: 6 files, 5,000 vectors of dimension 96>"
    (path,) = split(CORPUS[:3], [0, 3], "index", "cosine")
    assert repr(Shards([path])) == "<Shards: 1 file, 3 vectors of dimension 96, metric cosine>"
