"""Approximate indexes beside exact search: recall, change of measures, size, plot."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fastrank as fr
from fastrank.embeddings.faiss_configurations import parse_configurations
from fastrank.embeddings.index_benchmark import ExactTop
from fastrank.searching import build_index
from tests.helpers.executors import started

faiss = pytest.importorskip("faiss")

RNG = np.random.default_rng(5)
CORPUS = RNG.standard_normal((400, 8)).astype(np.float32)
QUERIES = RNG.standard_normal((20, 8)).astype(np.float32)
# Each query has a relevant document among its first and one far from it.
QRELS = {str(i): {str(np.argsort(-(CORPUS @ q))[2]): 2, str(i): 1} for i, q in enumerate(QUERIES)}
BUILT = faiss.index_factory(8, "HNSW8", faiss.METRIC_INNER_PRODUCT)
BUILT.add(CORPUS)
SPEEDS = ["exact", "IVF8,Flat nprobe=1", "IVF8,Flat nprobe=8", "HNSW8 efSearch=4"]


@pytest.fixture(scope="module")
def compared() -> fr.types.IndexComparison:
    """By judgments, with measures of the first ten."""
    return fr.compare_indexes(
        QUERIES, CORPUS, ["IVF8,Flat nprobe=1 nprobe=8", "HNSW8 efSearch=4"], k=10, qrels=QRELS,
        measures="nDCG@10 RR@10", repetitions=2,
    )  # fmt: skip


def _found(index_factory: str, parameters: str, k: int) -> Any:
    """Rows found by an index of faiss itself."""
    index = faiss.index_factory(8, index_factory, faiss.METRIC_INNER_PRODUCT)
    index.train(CORPUS)
    index.add(CORPUS)
    faiss.ParameterSpace().set_index_parameters(index, parameters)
    return index.search(QUERIES, k)[1]


def test_exact_search_stands_first_and_each_setting_has_a_point(
    compared: fr.types.IndexComparison,
) -> None:
    """In the order they were given."""
    assert [point.name for point in compared.points] == SPEEDS
    assert [point.index_factory for point in compared.points] == [
        "Flat",
        "IVF8,Flat",
        "IVF8,Flat",
        "HNSW8",
    ]
    assert compared.points[0].recall == 1.0


def test_recall_is_the_share_of_the_exact_top_k(compared: fr.types.IndexComparison) -> None:
    """As sets of rows say, where no scores are equal."""
    exact = np.argsort(-(QUERIES @ CORPUS.T), axis=1)[:, :10]
    for point, index_factory in zip(
        compared.points[1:], ["IVF8,Flat"] * 2 + ["HNSW8"], strict=True
    ):
        found = _found(index_factory, point.parameters, 10)
        shares = [
            len(set(a) & set(b)) / 10 for a, b in zip(exact.tolist(), found.tolist(), strict=True)
        ]
        assert point.recall == pytest.approx(np.mean(shares))
    assert compared.points[1].recall < 1.0
    assert compared.points[2].recall == 1.0


def test_measures_are_those_of_the_rankings(compared: fr.types.IndexComparison) -> None:
    """Of faiss's own results, evaluated as a run; the change is the distance to exact search."""
    run = {}
    for i, rows in enumerate(_found("IVF8,Flat", "nprobe=1", 10)):
        run[str(i)] = {str(row): float(QUERIES[i] @ CORPUS[row]) for row in rows if row >= 0}
    expected = fr.evaluate(QRELS, run, "nDCG@10 RR@10").mean

    point = compared.points[1]
    assert point.scores is not None
    assert point.scores.mean == pytest.approx(expected)
    row = dict(zip(compared.table().names, list(compared.table().rows())[1], strict=True))
    exact = compared.points[0].scores
    assert exact is not None
    assert row["nDCG@10"] == point.scores.mean["nDCG@10"]
    assert row["nDCG@10 change"] == point.scores.mean["nDCG@10"] - exact.mean["nDCG@10"]
    assert row["nDCG@10 change"] < 0


def test_the_size_is_what_faiss_writes(compared: fr.types.IndexComparison, tmp_path: Path) -> None:
    """To the byte."""
    index = faiss.index_factory(8, "Flat", faiss.METRIC_INNER_PRODUCT)
    index.add(CORPUS)
    faiss.write_index(index, str(tmp_path / "index"))

    assert compared.points[0].bytes == (tmp_path / "index").stat().st_size


def test_speed_is_by_the_median_of_the_passes(compared: fr.types.IndexComparison) -> None:
    """There are as many as repetitions."""
    for point in compared.points:
        assert len(point.seconds) == 2
        assert point.queries_per_second == 20 / np.median(point.seconds)
        assert point.build_seconds > 0


@pytest.mark.parametrize("metric", ["l2", "cosine"])
def test_other_metrics(metric: str) -> None:
    """An index that looks at everything finds everything, whatever the metric."""
    found = fr.compare_indexes(
        QUERIES, CORPUS, "IVF4,Flat nprobe=4", k=5, metric=metric, repetitions=1
    )

    assert [point.recall for point in found.points] == [1.0, 1.0]
    assert found.metric == metric


class TestRecall:
    """Of a corpus where three documents are the same."""

    corpus = np.array([[1, 0], [0, 1], [0, 1], [0, 1], [-1, 0]], np.float32)

    def _top(
        self, queries: list[list[float]], rows: list[list[int]], metric: str = "ip"
    ) -> ExactTop:
        index = faiss.IndexFlatIP(2)
        index.add(self.corpus)
        return ExactTop(index, np.array(queries, np.float32), np.array(rows), metric)

    @pytest.mark.parametrize("metric", ["ip", "l2"])
    def test_documents_that_equal_the_last_one_count(self, metric: str) -> None:
        """Which of them exact search lists does not matter."""
        top = self._top([[2, 1]], [[0, 3]], metric)

        assert top.recall(np.array([[0, 1]])) == 1.0
        assert top.recall(np.array([[1, 2]])) == 1.0
        assert top.recall(np.array([[0, 4]])) == 0.5

    def test_what_is_not_found_does_not_count(self) -> None:
        """-1 is no document."""
        assert self._top([[2, 1]], [[0, 3]]).recall(np.array([[0, -1]])) == 0.5

    def test_a_short_exact_list_is_all_there_is_to_find(self) -> None:
        """And a query whose exact list is empty says nothing."""
        top = self._top([[2, 1], [1, 1]], [[0, -1], [-1, -1]])

        assert top.recall(np.array([[0, -1], [3, 2]])) == 1.0
        assert top.recall(np.array([[-1, -1], [3, 2]])) == 0.0

    def test_the_mean_is_over_queries(self) -> None:
        """Each counts as much."""
        top = self._top([[2, 1], [-1, 0]], [[0, 3], [4, -1]])

        assert top.recall(np.array([[4, 3], [4, 0]])) == 0.75


SMALL = st.integers(-2, 2).map(float)


@given(
    corpus=arrays.arrays(np.float32, st.tuples(st.integers(1, 9), st.just(2)), elements=SMALL),
    queries=arrays.arrays(np.float32, st.tuples(st.integers(1, 4), st.just(2)), elements=SMALL),
    k=st.integers(1, 10),
    metric=st.sampled_from(["ip", "l2"]),
    data=st.data(),
)
def test_recall_is_what_counting_scores_says(
    corpus: Any, queries: Any, k: int, metric: str, data: Any
) -> None:
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


def test_a_query_does_not_find_itself_if_it_must_not() -> None:
    """By id, in exact search and in the others."""
    found = fr.compare_indexes(
        CORPUS[:9], CORPUS, "IVF4,Flat nprobe=4", k=1, metric="cosine", ignore_identical_ids=True,
        qrels={str(i): {str(i): 1} for i in range(9)}, measures="Success@1", repetitions=1,
    )  # fmt: skip

    assert [p.scores.mean["Success@1"] for p in found.points if p.scores] == [0.0, 0.0]
    assert found.points[1].recall == 1.0


def test_excluded_documents_are_not_found() -> None:
    """By exact search and by the others, so that finding none of them is no loss."""
    lists = {str(i): (str(doc) for doc in (i, 399)) for i in range(9)}
    found = fr.compare_indexes(
        CORPUS[:9], CORPUS, "IVF4,Flat nprobe=4", k=1, metric="cosine", exclude=lists,
        qrels={str(i): {str(i): 1} for i in range(9)}, measures="Success@1", repetitions=1,
    )  # fmt: skip

    assert [p.scores.mean["Success@1"] for p in found.points if p.scores] == [0.0, 0.0]
    assert [p.scores.counts["excluded"] for p in found.points if p.scores] == [9, 9]
    assert found.points[1].recall == 1.0


def test_the_json_has_everything(compared: fr.types.IndexComparison) -> None:
    """What was searched, and of every point all that was measured."""
    found = json.loads(compared.to_json())

    assert {key: found[key] for key in ("k", "metric", "documents", "dimension", "queries")} == {
        "k": 10, "metric": "ip", "documents": 400, "dimension": 8, "queries": 20,
    }  # fmt: skip
    last = found["points"][-1]
    point = compared.points[-1]
    assert point.scores is not None
    assert last["name"] == "HNSW8 efSearch=4"
    assert (last["index_factory"], last["parameters"]) == ("HNSW8", "efSearch=4")
    assert last["recall"] == point.recall
    assert last["seconds"] == point.seconds
    assert last["mean"] == point.scores.mean
    assert set(last["change"]) == {"nDCG@10", "RR@10"}


def test_measures_may_come_from_an_iterator() -> None:
    """They are used for every index."""
    measures = (name for name in ["RR@10", "nDCG@10"])
    qrels = {str(i): {str(i): 1} for i in range(len(QUERIES))}

    found = fr.compare_indexes(QUERIES, CORPUS, "SQ8", qrels=qrels, measures=measures)

    assert [list(point.scores.mean) for point in found.points] == [["RR@10", "nDCG@10"]] * 2


def test_without_judgments_there_are_no_measures() -> None:
    """Only recall, speed and size."""
    found = fr.compare_indexes(QUERIES, CORPUS, ["SQ8"], k=3, repetitions=1)

    assert found.points[1].scores is None
    assert found.table().names == ["index", "recall@3", "queries/s", "bytes", "build s"]
    assert "mean" not in json.loads(found.to_json())["points"][1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indexes": "IVF8,Flatt"}, "index_factory: faiss cannot build 'IVF8,Flatt'"),
        ({"indexes": "Flat nprobe=3"}, "indexes: 'Flat nprobe=3': nprobe=3: unknown parameter"),
        ({"indexes": "IVF8,Flat probes=3"}, "indexes: 'IVF8,Flat probes=3': expected one of"),
        ({"indexes": "IVF8,Flat nprobe=x"}, "'IVF8,Flat nprobe=x': nprobe: expected a number"),
        (
            {"indexes": "IVF401,Flat"},
            "'IVF401,Flat' needs at least 401 training vectors, found 400",
        ),
        (
            {"indexes": "IVF4,PQ4x12"},
            "'IVF4,PQ4x12' needs at least 4096 training vectors, found 400",
        ),
        ({"indexes": "OPQ4,PQ4x9"}, "'OPQ4,PQ4x9' needs at least 512 training vectors, found 400"),
        ({"indexes": "IVF4,RQ2x9"}, "'IVF4,RQ2x9' needs at least 512 training vectors, found 400"),
        ({"indexes": "PRQ2x2x9"}, "'PRQ2x2x9' needs at least 512 training vectors, found 400"),
        (
            {"indexes": "HNSW8_PQ4x9", "metric": "l2"},
            "'HNSW8_PQ4x9' needs at least 512 training vectors",
        ),
        (
            {"indexes": "IVF64,Flat", "train_size": 50},
            "needs at least 64 training vectors, found 50",
        ),
        ({"indexes": ["SQ8", "SQ8"]}, "indexes: duplicate index 'SQ8'"),
        ({"indexes": []}, "indexes: expected at least one index, found none"),
        ({"indexes": [" "]}, r"expected a factory string, a file, or \(name, index\), found ' '"),
        ({"indexes": [BUILT]}, r"a file, or \(name, index\), found IndexHNSWFlat$"),
        ({"indexes": [("own", 3)]}, r"'own': expected .*\(name, index\), found int$"),
        ({"indexes": ("own", BUILT), "metric": "l2"}, "'own': the metric is ip, and l2 of the"),
        ({"indexes": ("own", BUILT), "corpus": CORPUS[1:]}, "the number of vectors is 400, and"),
        (
            {"indexes": ("own", BUILT), "corpus": CORPUS[:, 1:], "queries": QUERIES[:, 1:]},
            "'own': the dimension is 8, and 7 of the comparison",
        ),
        (
            {"indexes": ("own", build_index(CORPUS, ids=map(str, range(400))))},
            "'own': the ids of its vectors are not the corpus_ids, in this order",
        ),
        ({"indexes": ("own nprobe=3", BUILT)}, "'own nprobe=3': nprobe=3: unknown parameter"),
        ({"indexes": ["SQ8", ("SQ8", BUILT)]}, "indexes: duplicate index 'SQ8'"),
        ({"indexes": "none.index"}, "none.index: no such file or directory"),
        (
            {"indexes": "HNSW8,M=3"},
            "'HNSW8,M=3': expected one of efConstruction, niter, nredo, seed, .*, found 'M'",
        ),
        ({"indexes": "HNSW8,efSearch=3"}, "found 'efSearch', which is a parameter of the search"),
        ({"indexes": "IVF8,Flat,efConstruction=9"}, "efConstruction is a parameter of HNSW, which"),
        ({"indexes": "HNSW8,niter=9"}, "niter is a parameter of IVF, which this index lacks"),
        ({"indexes": "HNSW8,efConstruction=0"}, "expected an integer from 1 to 2147483647, found"),
        ({"indexes": "IVF8,Flat,seed=1,seed=1"}, "'seed' is given twice"),
        ({"k": 0}, "k: expected 1 or more, found 0"),
        ({"repetitions": 0}, "repetitions: expected 1 or more, found 0"),
        ({"metric": "dot"}, "metric: expected 'ip', 'l2' or 'cosine'"),
        ({"measures": "mapp"}, "unknown measure 'mapp'"),
        ({"queries": CORPUS[:2, :7]}, "queries: expected 8 columns, as in the corpus, found 7"),
        ({"queries": [[0.0] * 8], "metric": "cosine"}, r"queries\[0\]: the vector is zero"),
        ({"corpus": iter([CORPUS])}, "corpus: expected an array or a file, found an iterator"),
        ({"query_ids": ["a"]}, "query_ids: expected 20 ids"),
        ({"corpus_ids": ["a"]}, "corpus_ids: expected 400 ids"),
        ({"qrels": {"0": {"1": "x"}}}, "query '0', document '1': expected"),
    ],
)
def test_what_is_impossible_is_said_before_anything_is_built(
    changed: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Factory strings, parameters, too few vectors to train with, measures, ids."""

    def build(*_: object, **__: object) -> None:
        raise AssertionError("an index is built")

    monkeypatch.setattr("fastrank.embeddings.index_benchmark.build_index", build)
    given = {"corpus": CORPUS, "queries": QUERIES, "indexes": "SQ8", **changed}
    with pytest.raises(fr.FastrankError, match=message):
        fr.compare_indexes(**given)


def made(
    index_factory: str, vectors: Any = CORPUS, metric: int = faiss.METRIC_INNER_PRODUCT
) -> Any:
    """An index of faiss itself."""
    index = faiss.index_factory(8, index_factory, metric)
    index.train(vectors)
    index.add(vectors)
    return index


@pytest.mark.parametrize(
    "index_factory",
    ["Flat", "HNSW8", "IVF4,Flat", "SQ4", "PQ2x4", "IVF4,PQ2x4", "HNSW8_SQ8", "PCA4,Flat", "RQ2x4"],
)
def test_an_index_of_other_vectors_is_refused(index_factory: str) -> None:
    """If there are as many, with the same dimension."""
    others = {"shifted": np.roll(CORPUS, 1, axis=0), "other": QUERIES[np.arange(400) % 20]}

    for vectors in others.values():
        with pytest.raises(fr.OptionError, match="'own': its vectors are not those of the corpus"):
            fr.compare_indexes(QUERIES, CORPUS, {"own": made(index_factory, vectors)}, k=3)
    found = fr.compare_indexes(QUERIES, CORPUS, {"own": made(index_factory)}, k=3, repetitions=1)
    assert found.points[1].recall > 0


def test_an_index_of_vectors_of_any_length_is_refused_under_the_cosine(tmp_path: Path) -> None:
    unit = CORPUS / np.linalg.norm(CORPUS, axis=1, keepdims=True)
    faiss.write_index(made("HNSW8"), str(tmp_path / "raw.index"))
    faiss.write_index(made("HNSW8", unit), str(tmp_path / "unit.index"))

    with pytest.raises(fr.OptionError, match=r"raw.index': its vectors .* order, with length 1$"):
        fr.compare_indexes(QUERIES, CORPUS, str(tmp_path / "raw.index"), metric="cosine")
    for corpus in (CORPUS, CORPUS[:1], CORPUS[:60]):
        built = {"own": build_index(corpus, "HNSW8", "cosine")}
        fr.compare_indexes(QUERIES, corpus, built, k=1, metric="cosine", repetitions=1)
    fr.compare_indexes(
        QUERIES, CORPUS, str(tmp_path / "unit.index"), k=1, metric="cosine", repetitions=1
    )


def test_judgments_of_other_queries_are_noticed_before_an_index_is_trained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With exact search, which is first."""
    built = []

    def build(vectors: object, index_factory: str, *rest: Any, **options: Any) -> object:
        built.append(index_factory)
        return build_index(vectors, index_factory, *rest, **options)

    monkeypatch.setattr("fastrank.embeddings.index_benchmark.build_index", build)
    with pytest.raises(fr.NoQueriesError):
        fr.compare_indexes(QUERIES, CORPUS, "IVF8,Flat", qrels={"q": {"1": 1}})

    assert built == ["Flat"]


def test_nothing_the_caller_passed_is_changed() -> None:
    """Not the arrays, under cosine either."""
    corpus, queries = CORPUS.copy(), QUERIES.copy()
    fr.compare_indexes(queries, corpus, "SQ8", k=3, metric="cosine", repetitions=1)

    assert (corpus == CORPUS).all()
    assert (queries == QUERIES).all()


class TestPlot:
    """Recall against queries per second."""

    pytest.importorskip("matplotlib")

    def test_names_stand_in_the_file(
        self, compared: fr.types.IndexComparison, tmp_path: Path
    ) -> None:
        """The kind of file is told from its name."""
        for name, start in {"a.png": b"\x89PNG", "a.svg": b"<?xml", "a.PDF": b"%PDF"}.items():
            compared.plot(tmp_path / name)
            assert (tmp_path / name).read_bytes().startswith(start)
        assert {path.name for path in tmp_path.iterdir()} == {"a.png", "a.svg", "a.PDF"}
        ElementTree.parse(tmp_path / "a.svg")
        comments = (tmp_path / "a.svg").read_text()
        for text in ("IVF8,Flat", "HNSW8", "nprobe=1", "efSearch=4", "recall@10", "exact"):
            assert text in comments

    @pytest.mark.parametrize("setting", ["nprobe=1", "nprobe=1,quantizer_efSearch=128"])
    def test_settings_stand_inside_the_axes(
        self, compared: fr.types.IndexComparison, setting: str
    ) -> None:
        """That of the leftmost point too."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from fastrank.comparing.plots.frame import framed

        exact, first, *others = compared.points
        first = fr.types.IndexPoint(
            **{name: getattr(first, name) for name in first.field_names} | {"parameters": setting}
        )
        points = {"points": [exact, first, *others]}
        changed = fr.types.IndexComparison(
            **{name: getattr(compared, name) for name in compared.field_names} | points
        )
        figure = framed(changed._draw).axes.get_figure()
        FigureCanvasAgg(figure).draw()

        (axes,) = figure.axes
        left = min(text.get_window_extent().x0 for text in axes.texts if "=" in text.get_text())
        assert left > axes.bbox.x0

    def test_the_global_state_of_matplotlib_is_left_alone(
        self, compared: fr.types.IndexComparison, tmp_path: Path
    ) -> None:
        """Neither pyplot nor its parameters."""
        import subprocess
        import sys

        code = (
            "import sys, numpy, fastrank as fr, matplotlib\n"
            "before = matplotlib.rcParams.copy()\n"
            "corpus = numpy.eye(8, dtype='float32')\n"
            "fr.compare_indexes(corpus, corpus, 'SQ8', k=1, repetitions=1).plot(sys.argv[1])\n"
            "assert 'matplotlib.pyplot' not in sys.modules\n"
            # The backend is looked for when somebody asks for it.
            "after = matplotlib.rcParams\n"
            "assert all(after[name] == before[name] for name in before if name != 'backend')\n"
        )
        command = [sys.executable, "-c", code, str(tmp_path / "a.png")]
        subprocess.run(command, check=True, cwd=Path(fr.__file__).parent.parent)

    def test_another_kind_of_file_is_refused(
        self, compared: fr.types.IndexComparison, tmp_path: Path
    ) -> None:
        """With the kinds there are."""
        with pytest.raises(fr.OptionError, match=r"a\.jpg: expected a suffix \.png, "):
            compared.plot(tmp_path / "a.jpg")


def test_queries_of_an_iterator_may_stand_in_one_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block is as long as those that are read at a time, so that none is joined to another."""
    monkeypatch.setattr("fastrank.searching.vectors.BLOCK_VALUES", 8 * 10)

    def reused() -> Any:
        buffer = np.empty((10, 8), np.float32)
        for first in (0, 10):
            buffer[:] = QUERIES[first : first + 10]
            yield buffer

    exact, found = (
        fr.compare_indexes(
            queries, CORPUS, "IVF8,Flat nprobe=1", k=10, qrels=QRELS, measures="nDCG@10",
            repetitions=1,
        )
        for queries in (QUERIES, reused())
    )  # fmt: skip

    assert [point.recall for point in found.points] == [point.recall for point in exact.points]
    assert [p.scores.mean for p in found.points] == [p.scores.mean for p in exact.points]


@pytest.mark.parametrize("kind", [None, "threads", "processes"])
def test_built_indexes_have_rows_without_build_time(kind: str | None, tmp_path: Path) -> None:
    """A faiss index, an Index, and a file, beside one that is built."""
    path = tmp_path / "my docs.index"
    faiss.write_index(BUILT, str(path))
    rows = [
        ("own efSearch=4 efSearch=64", BUILT), "HNSW8 efSearch=4", f"{path} efSearch=4",
        ("mine", build_index(CORPUS, "HNSW8")),
    ]  # fmt: skip
    with nullcontext() if kind is None else started(kind) as executor:
        found = fr.compare_indexes(
            QUERIES, CORPUS, rows, k=10, qrels=QRELS, repetitions=1, executor=executor
        )

    _, narrow, wide, new, file, mine = found.points
    names = ["own efSearch=4", "own efSearch=64", "HNSW8 efSearch=4", f"{path} efSearch=4", "mine"]
    assert [point.name for point in found.points[1:]] == names
    assert narrow.recall == file.recall < wide.recall
    assert narrow.scores is not None
    assert [point.build_seconds is None for point in found.points] == [
        False, True, True, False, True, True
    ]  # fmt: skip
    assert new.recall == narrow.recall
    assert mine.bytes == new.bytes
    assert found.table().columns["build s"][1:3] == ["-", "-"]
    assert json.loads(found.to_json())["points"][1]["build_seconds"] is None
    assert BUILT.hnsw.efSearch == 16


def test_a_built_index_may_have_the_ids_of_the_corpus_or_none() -> None:
    ids = [f"d{i}" for i in range(400)]
    indexes = [("ids", build_index(CORPUS, ids=ids)), ("rows", BUILT)]

    found = fr.compare_indexes(
        QUERIES, CORPUS, indexes, k=10, corpus_ids=ids, repetitions=1,
        qrels={query: {f"d{doc}": 1 for doc in docs} for query, docs in QRELS.items()},
    )  # fmt: skip

    exact, same, _ = found.points
    assert same.recall == 1
    assert same.scores is not None
    assert exact.scores is not None
    assert same.scores.mean == exact.scores.mean


def test_an_inner_product_index_of_unit_vectors_is_one_of_the_cosine() -> None:
    unit = CORPUS / np.linalg.norm(CORPUS, axis=1, keepdims=True)
    index = faiss.IndexFlatIP(8)
    index.add(unit)

    _, found = fr.compare_indexes(
        QUERIES, CORPUS, ("own", index), k=5, metric="cosine", repetitions=1
    ).points

    assert found.recall == 1


def test_a_graph_that_is_built_more_carefully_finds_more() -> None:
    corpus = np.random.default_rng(1).standard_normal((2000, 32)).astype(np.float32)
    rows = ["HNSW4,efConstruction=4 efSearch=16", "HNSW4,efConstruction=200 efSearch=16"]

    _, few, many = fr.compare_indexes(corpus[:50], corpus, rows, k=10, repetitions=1).points

    assert many.recall > few.recall + 0.05


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_workers_find_the_same(
    kind: str, compared: fr.types.IndexComparison, tmp_path: Path
) -> None:
    np.save(tmp_path / "corpus.npy", CORPUS)
    with started(kind) as executor:
        found = fr.compare_indexes(
            QUERIES, tmp_path / "corpus.npy",
            ["IVF8,Flat nprobe=1 nprobe=8", "HNSW8 efSearch=4"], k=10, qrels=QRELS,
            measures="nDCG@10 RR@10", repetitions=2, executor=executor,
        )  # fmt: skip

    for own, expected in zip(found.points, compared.points, strict=True):
        assert (own.name, own.recall, own.bytes) == (expected.name, expected.recall, expected.bytes)
        assert own.scores is not None
        assert expected.scores is not None
        assert own.scores.to_json() == expected.scores.to_json()
        assert len(own.seconds) == 2


def test_built_indexes_may_have_the_keys_of_a_dict_as_names() -> None:
    assert parse_configurations({"HNSW32 efSearch=8": BUILT}) == [("HNSW32", ["efSearch=8"], BUILT)]
