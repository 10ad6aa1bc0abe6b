"""Approximate indexes beside exact search: recall, change of measures, size, plot."""

import io
import json
import xml.etree.ElementTree as ElementTree
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fastrank as fr
from fastrank.errors import NoQueriesError, OptionError
from fastrank.searching import build_index
from fastrank.vectors.embeddings.faiss_configurations import parse_configurations
from fastrank.vectors.embeddings.index_benchmark import ExactTop
from tests.helpers.executors import started

faiss = pytest.importorskip("faiss")

RNG = np.random.default_rng(5)
CORPUS = RNG.standard_normal((400, 8)).astype(np.float32)
QUERIES = RNG.standard_normal((20, 8)).astype(np.float32)
UNIT = CORPUS / np.linalg.norm(CORPUS, axis=1, keepdims=True)
# Each query has a relevant document among its first and one far from it.
QRELS = {str(i): {str(np.argsort(-(CORPUS @ q))[2]): 2, str(i): 1} for i, q in enumerate(QUERIES)}
ITSELF = {str(i): {str(i): 1} for i in range(9)}
INDEXES = ["IVF8,Flat nprobe=1 nprobe=8", "HNSW8 efSearch=4"]
NAMES = ["exact", "IVF8,Flat nprobe=1", "IVF8,Flat nprobe=8", "HNSW8 efSearch=4"]
JUDGED = {"qrels": QRELS, "measures": "nDCG@10 RR@10"}


def compare(indexes, k=10, queries=QUERIES, corpus=CORPUS, **options):
    options = {"metric": "ip", "repetitions": 1, **options}
    return fr.compare_indexes(queries, corpus, indexes, k=k, **options)


@pytest.fixture(scope="module")
def compared():
    """By judgments, with measures of the first ten."""
    return compare(INDEXES, **JUDGED, repetitions=2)


def made(index_factory, vectors=CORPUS):
    """An index of faiss itself."""
    index = faiss.index_factory(8, index_factory, faiss.METRIC_INNER_PRODUCT)
    index.train(vectors)
    index.add(vectors)
    return index


BUILT = made("HNSW8")


def found_rows(index_factory, parameters):
    index = made(index_factory)
    faiss.ParameterSpace().set_index_parameters(index, parameters)
    return index.search(QUERIES, 10)[1]


def means(comparison):
    return [point.scores.mean for point in comparison.points]


def recalls(comparison):
    return [point.recall for point in comparison.points]


def test_exact_search_stands_first_and_each_setting_has_a_point(compared, tmp_path):
    """With the size that faiss writes and the median time of as many passes as repetitions."""
    names = [(point.index_factory, point.name) for point in compared.points]
    factories = ["Flat", "IVF8,Flat", "IVF8,Flat", "HNSW8"]
    assert names == list(zip(factories, NAMES, strict=True))
    faiss.write_index(made("Flat"), str(tmp_path / "index"))
    assert compared.points[0].bytes == (tmp_path / "index").stat().st_size
    for point in compared.points:
        assert len(point.seconds) == 2
        assert point.queries_per_second == 20 / np.median(point.seconds)
        assert point.build_seconds > 0


def test_recall_is_the_share_of_the_exact_top_k(compared):
    """As sets of rows say, where no scores are equal."""
    exact = np.argsort(-(QUERIES @ CORPUS.T), axis=1)[:, :10]
    for point in compared.points[1:]:
        pairs = zip(exact, found_rows(point.index_factory, point.parameters), strict=True)
        shares = [len(np.intersect1d(one, other)) / 10 for one, other in pairs]
        assert point.recall == pytest.approx(np.mean(shares))
    assert compared.points[1].recall < compared.points[2].recall == compared.points[0].recall == 1.0


def test_measures_are_those_of_the_rankings(compared):
    """Of faiss's own results, evaluated as a run; the change is the distance to exact search."""
    run = {
        str(i): {str(row): float(QUERIES[i] @ CORPUS[row]) for row in rows if row >= 0}
        for i, rows in enumerate(found_rows("IVF8,Flat", "nprobe=1"))
    }
    exact, found, *_ = means(compared)
    assert found == pytest.approx(fr.evaluate(QRELS, run, "nDCG@10 RR@10").mean)
    row = dict(zip(compared.table().names, list(compared.table().rows())[1], strict=True))
    assert row["nDCG@10"] == found["nDCG@10"]
    assert row["nDCG@10 change"] == found["nDCG@10"] - exact["nDCG@10"] < 0


@pytest.mark.parametrize("metric", ["l2", "cosine"])
def test_an_index_that_looks_at_everything_finds_everything_by_any_metric(metric):
    """Nothing that the caller passed is changed; measures from an iterator serve every index."""
    corpus, queries = CORPUS.copy(), QUERIES.copy()
    judged = {"qrels": QRELS, "measures": iter(["RR@10", "nDCG@10"])}
    found = compare("IVF4,Flat nprobe=4", 10, queries, corpus, metric=metric, **judged)
    assert (recalls(found), found.metric) == ([1.0, 1.0], metric)
    assert [list(mean) for mean in means(found)] == [["RR@10", "nDCG@10"]] * 2
    assert (corpus == CORPUS).all()
    assert (queries == QUERIES).all()


# Three documents are the same.
EQUAL = np.array([[1, 0], [0, 1], [0, 1], [0, 1], [-1, 0]], np.float32)


@pytest.mark.parametrize(
    ("queries", "exact", "found", "recall"),
    [
        pytest.param([[2, 1], [1, 1]], [[0, -1], [-1, -1]], [[0, -1], [3, 2]], 1.0, id="short"),
        pytest.param([[2, 1], [1, 1]], [[0, -1], [-1, -1]], [[-1, -1], [3, 2]], 0.0, id="empty"),
    ],
)
@pytest.mark.parametrize("metric", ["ip", "l2"])
def test_recall_counts_documents_that_are_as_good_as_the_last(
    queries, exact, found, recall, metric
):
    index = faiss.IndexFlatIP(2)
    index.add(EQUAL)
    top = ExactTop(index, np.array(queries, np.float32), np.array(exact), metric)
    assert top.recall(np.array(found)) == recall


SMALL = st.integers(-2, 2).map(float)


@given(
    corpus=arrays.arrays(np.float32, st.tuples(st.integers(1, 9), st.just(2)), elements=SMALL),
    queries=arrays.arrays(np.float32, st.tuples(st.integers(1, 4), st.just(2)), elements=SMALL),
    k=st.integers(1, 10),
    metric=st.sampled_from(["ip", "l2"]),
    data=st.data(),
)
def test_recall_is_what_counting_scores_says(corpus, queries, k, metric, data):
    """Of small integers, so that many scores are equal: those at least as good as the k-th."""
    size = min(k, len(corpus))
    index = faiss.IndexFlatIP(2)
    index.add(corpus)
    exact, found = np.full((2, len(queries), k), -1)
    shares = []
    for i, query in enumerate(queries):
        scores = corpus @ query if metric == "ip" else -((corpus - query) ** 2).sum(axis=1)
        exact[i, :size] = np.argsort(-scores, kind="stable")[:size]
        own = data.draw(st.permutations(range(len(corpus))))[: data.draw(st.integers(0, size))]
        found[i, : len(own)] = own
        shares.append(sum(scores[row] >= np.sort(scores)[-size] for row in own) / size)

    assert ExactTop(index, queries, exact, metric).recall(found) == pytest.approx(np.mean(shares))


@pytest.mark.parametrize(
    "left_out",
    [
        {"ignore_identical_ids": True},
        {"exclude": {str(i): iter([str(i), "399"]) for i in range(9)}},
    ],
)
def test_documents_that_are_left_out_are_no_loss(left_out):
    judged = {"qrels": ITSELF, "measures": "Success@1"}
    found = compare("IVF4,Flat nprobe=4", 1, CORPUS[:9], metric="cosine", **judged, **left_out)
    assert means(found) == [{"Success@1": 0.0}] * 2
    assert [point.scores.counts["excluded"] for point in found.points] == [9, 9]
    assert found.points[1].recall == 1.0


def test_the_json_has_everything(compared):
    found, point = json.loads(compared.to_json()), compared.points[-1]
    searched = [found[key] for key in ("k", "metric", "documents", "dimension", "queries")]
    assert searched == [10, "ip", 400, 8, 20]
    last = found["points"][-1]
    assert last["name"] == "HNSW8 efSearch=4"
    assert (last["index_factory"], last["parameters"]) == ("HNSW8", "efSearch=4")
    assert (last["recall"], last["seconds"]) == (point.recall, point.seconds)
    assert last["mean"] == point.scores.mean
    assert set(last["change"]) == {"nDCG@10", "RR@10"}


def test_without_judgments_there_are_recall_speed_and_size_alone():
    found = compare(["SQ8"], k=3)
    assert found.points[1].scores is None
    assert found.table().names == ["index", "recall@3", "queries/s", "bytes", "build s"]
    assert "mean" not in json.loads(found.to_json())["points"][1]


NUMBERED = build_index(CORPUS, metric="ip", ids=map(str, range(400)))
NARROW = {"corpus": CORPUS[:, 1:], "queries": QUERIES[:, 1:]}


@pytest.mark.parametrize(
    ("indexes", "more", "message"),
    [
        ("IVF8,Flatt", {}, "index_factory: faiss cannot build 'IVF8,Flatt'"),
        ("Flat nprobe=3", {}, "indexes: 'Flat nprobe=3': nprobe=3: unknown parameter"),
        ("IVF8,Flat probes=3", {}, "indexes: 'IVF8,Flat probes=3': expected one of"),
        ("IVF8,Flat nprobe=x", {}, "'IVF8,Flat nprobe=x': nprobe: expected a number"),
        ("IVF401,Flat", {}, "'IVF401,Flat' needs at least 401 training vectors, found 400"),
        ("IVF4,PQ4x12", {}, "'IVF4,PQ4x12' needs at least 4096 training vectors, found 400"),
        ("HNSW8_PQ4x9", {"metric": "l2"}, "'HNSW8_PQ4x9' needs at least 512 training vectors"),
        ("OPQ4,PQ4x9", {}, "'OPQ4,PQ4x9' needs at least 512 training vectors, found 400"),
        ("IVF4,RQ2x9", {}, "'IVF4,RQ2x9' needs at least 512 training vectors, found 400"),
        ("PRQ2x2x9", {}, "'PRQ2x2x9' needs at least 512 training vectors, found 400"),
        ("HNSW8,M=3", {}, "'HNSW8,M=3': .* efConstruction, niter, nredo, seed, .*, found 'M'"),
        ("IVF8,Flat,efConstruction=9", {}, "efConstruction is a parameter of HNSW, which"),
        ("HNSW8,niter=9", {}, "niter is a parameter of IVF, which this index lacks"),
        ("HNSW8,efConstruction=0", {}, "expected an integer from 1 to 2147483647, found"),
        ("IVF8,Flat,seed=1,seed=1", {}, "'seed' is given twice"),
        ("IVF64,Flat", {"train_size": 50}, "needs at least 64 training vectors, found 50"),
        (["SQ8", "SQ8"], {}, "indexes: duplicate index 'SQ8'"),
        ([], {}, "indexes: expected at least one index, found none"),
        ([" "], {}, r"expected a factory string, a file, or \(name, index\), found ' '"),
        ([BUILT], {}, r"a file, or \(name, index\), found IndexHNSWFlat$"),
        ([("own", 3)], {}, r"'own': expected .*\(name, index\), found int$"),
        (("own", BUILT), {"metric": "l2"}, "'own': the metric is ip, and l2 of the"),
        (("own", BUILT), {"corpus": CORPUS[1:]}, "the number of vectors is 400, and"),
        (("own", BUILT), NARROW, "'own': the dimension is 8, and 7 of the comparison"),
        (("own", NUMBERED), {}, "'own': the ids of its vectors are not the corpus_ids, in this"),
        (("own nprobe=3", BUILT), {}, "'own nprobe=3': nprobe=3: unknown parameter"),
        (["SQ8", ("SQ8", BUILT)], {}, "indexes: duplicate index 'SQ8'"),
        ("none.index", {}, "none.index: no such file or directory"),
        ("HNSW8,efSearch=3", {}, "found 'efSearch', which is a parameter of the search"),
        ("SQ8", {"k": 0}, "k: expected 1 or more, found 0"),
        ("SQ8", {"repetitions": 0}, "repetitions: expected 1 or more, found 0"),
        ("SQ8", {"measures": "mapp"}, "unknown measure 'mapp'"),
        ("SQ8", {"queries": CORPUS[:2, :7]}, "queries: expected 8 columns, as in the corpus, f"),
        ("SQ8", {"corpus": iter([CORPUS])}, "corpus: expected an array or a file, found an iter"),
        ("SQ8", {"query_ids": ["a"]}, "query_ids: expected 20 ids"),
        ("SQ8", {"corpus_ids": ["a"]}, "corpus_ids: expected 400 ids"),
        ("SQ8", {"qrels": {"0": {"1": "x"}}}, "query '0', document '1': expected"),
    ],
)
def test_what_is_impossible_is_said_before_anything_is_built(indexes, more, message, monkeypatch):
    monkeypatch.setattr("fastrank.vectors.embeddings.index_benchmark.build_index", None)
    with pytest.raises(fr.FastrankError, match=message):
        compare(indexes, **more)


@pytest.mark.parametrize(
    "index_factory",
    ["Flat", "HNSW8", "IVF4,Flat", "SQ4", "PQ2x4", "IVF4,PQ2x4", "HNSW8_SQ8", "PCA4,Flat", "RQ2x4"],
)
def test_an_index_of_other_vectors_is_refused(index_factory):
    """If there are as many, with the same dimension."""
    for vectors in (np.roll(CORPUS, 1, axis=0), QUERIES[np.arange(400) % 20]):
        with pytest.raises(OptionError, match="'own': its vectors are not those of the corpus"):
            compare({"own": made(index_factory, vectors)}, k=3)
    assert compare({"own": made(index_factory)}, k=3).points[1].recall > 0


def test_an_index_of_vectors_of_any_length_is_refused_under_the_cosine(tmp_path):
    for name, vectors in (("raw", CORPUS), ("unit", UNIT)):
        faiss.write_index(made("HNSW8", vectors), str(tmp_path / f"{name}.index"))
    with pytest.raises(OptionError, match=r"raw.index': its vectors .* order, with length 1$"):
        compare(str(tmp_path / "raw.index"), metric="cosine")
    for size in (400, 1, 60):
        built = {"own": build_index(CORPUS[:size], "HNSW8", "cosine")}
        compare(built, k=1, corpus=CORPUS[:size], metric="cosine")
    compare(str(tmp_path / "unit.index"), k=1, metric="cosine")
    assert recalls(compare(("own", made("Flat", UNIT)), k=5, metric="cosine")) == [1, 1]


def test_judgments_of_other_queries_are_noticed_before_an_index_is_trained(monkeypatch):
    """With exact search, which is first."""
    built = []

    def build(vectors, index_factory, *rest, **options):
        built.append(index_factory)
        return build_index(vectors, index_factory, *rest, **options)

    monkeypatch.setattr("fastrank.vectors.embeddings.index_benchmark.build_index", build)
    with pytest.raises(NoQueriesError):
        compare("IVF8,Flat", qrels={"q": {"1": 1}})
    assert built == ["Flat"]


# Plots: recall against queries per second


def test_a_plot_has_the_format_asked_for_and_the_names_of_points(compared, tmp_path):
    pytest.importorskip("matplotlib")
    compared.plot(path=tmp_path / "a.svg")
    compared.plot(path=(image := io.BytesIO()), format="png")
    assert image.getvalue().startswith(b"\x89PNG")
    ElementTree.parse(tmp_path / "a.svg")
    comments = (tmp_path / "a.svg").read_text()
    for text in ("IVF8,Flat", "HNSW8", "nprobe=1", "efSearch=4", "recall@10", "exact"):
        assert text in comments
    with pytest.raises(OptionError, match=r"a\.jpg: expected a suffix \.png, "):
        compared.plot(path=tmp_path / "a.jpg")


@pytest.mark.parametrize("setting", ["nprobe=1", "nprobe=1,quantizer_efSearch=128"])
@pytest.mark.parametrize("step", [1e-9, 1e3, 1e6])
def test_settings_stand_inside_the_axes_of_a_plot(compared, setting, step):
    """That of the leftmost point too, and speeds are numbers, whether they are near or far."""
    agg = pytest.importorskip("matplotlib.backends.backend_agg")
    from fastrank.common.plots.frame import framed

    def changed(noun, **changes):
        return type(noun)(**{name: getattr(noun, name) for name in noun.field_names} | changes)

    # Speeds that are measured would move the points.
    points = [
        changed(own, queries_per_second=1e5 + step * place)
        for place, own in enumerate(compared.points)
    ]
    points[1] = changed(points[1], parameters=setting)
    figure = framed(changed(compared, points=points)._draw).axes.get_figure()
    agg.FigureCanvasAgg(figure).draw()

    (axes,) = figure.axes
    left = min(text.get_window_extent().x0 for text in axes.texts if "=" in text.get_text())
    assert left > axes.bbox.x0
    labels = [label.get_text() for label in axes.get_yticklabels(which="both")]
    assert any(labels)
    assert all(float(label.replace(",", "")) > 0 for label in labels if label)


# What indexes, queries and workers may be


def test_queries_of_an_iterator_may_stand_in_one_buffer(monkeypatch):
    """Each block is as long as those that are read at a time, so that none is joined to another."""
    monkeypatch.setattr("fastrank.vectors.searching.vectors.BLOCK_VALUES", 8 * 10)

    def reused():
        buffer = np.empty((10, 8), np.float32)
        for first in (0, 10):
            buffer[:] = QUERIES[first : first + 10]
            yield buffer

    exact, found = (compare(INDEXES[0], queries=own, **JUDGED) for own in (QUERIES, reused()))
    assert recalls(found) == recalls(exact)
    assert means(found) == means(exact)


@pytest.mark.parametrize("kind", [None, "threads", "processes"])
def test_built_indexes_have_rows_without_build_time(kind, tmp_path):
    """A faiss index, an Index, and a file, beside one that is built."""
    path = tmp_path / "my docs.index"
    faiss.write_index(BUILT, str(path))
    own, file = ("own efSearch=4 efSearch=64", BUILT), f"{path} efSearch=4"
    rows = [own, "HNSW8 efSearch=4", file, ("mine", build_index(CORPUS, "HNSW8", "ip"))]
    with nullcontext() if kind is None else started(kind) as executor:
        found = compare(rows, qrels=QRELS, executor=executor)

    _, narrow, wide, new, loaded, mine = found.points
    names = ["own efSearch=4", "own efSearch=64", "HNSW8 efSearch=4", file, "mine"]
    assert [point.name for point in found.points[1:]] == names
    assert narrow.recall == loaded.recall == new.recall < wide.recall
    assert narrow.scores is not None
    built = [point.build_seconds is not None for point in found.points]
    assert built == [True, False, False, True, False, False]
    assert mine.bytes == new.bytes
    assert found.table().columns["build s"][1:3] == ["-", "-"]
    assert json.loads(found.to_json())["points"][1]["build_seconds"] is None
    assert BUILT.hnsw.efSearch == 16


def test_a_built_index_may_have_the_ids_of_the_corpus_or_none():
    ids = [f"d{i}" for i in range(400)]
    indexes = [("ids", build_index(CORPUS, metric="ip", ids=ids)), ("rows", BUILT)]
    qrels = {query: {f"d{doc}": 1 for doc in docs} for query, docs in QRELS.items()}
    found = compare(indexes, corpus_ids=ids, qrels=qrels)
    assert found.points[1].recall == 1
    assert means(found)[1] == means(found)[0]


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_workers_find_the_same(kind, compared, tmp_path):
    np.save(tmp_path / "corpus.npy", CORPUS)
    corpus = tmp_path / "corpus.npy"
    with started(kind) as executor:
        found = compare(INDEXES, corpus=corpus, **JUDGED, repetitions=2, executor=executor)
    for own, expected in zip(found.points, compared.points, strict=True):
        assert (own.name, own.recall, own.bytes) == (expected.name, expected.recall, expected.bytes)
        assert own.scores.to_json() == expected.scores.to_json()
        assert len(own.seconds) == 2


def test_built_indexes_may_have_the_keys_of_a_dict_as_names():
    assert parse_configurations({"HNSW32 efSearch=8": BUILT}) == [("HNSW32", ["efSearch=8"], BUILT)]
