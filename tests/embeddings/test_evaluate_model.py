"""evaluate_model: texts and a model in, scores out."""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval

import fastrank as fr
from fastrank import ArrayError, Dataset, InputError, MeasureError, OptionError
from tests.helpers.collections import COLLECTIONS, needs_collections
from tests.helpers.executors import started
from tests.helpers.parsing import read_trec_run
from tests.helpers.task_cases import CITIES, letters

WORDS = ["red", "blue", "green", "apple", "plum", "pear"]
DATA = Dataset.from_texts(
    {f"d{i}": f"{WORDS[i % 3]} {WORDS[3 + i // 3]}" for i in range(9)},
    {"q1": "red apple", "q2": "green", "q3": "pear pear blue"},
    {"q1": {"d0": 2, "d3": 1}, "q2": {"d2": 1, "d1": 0}, "q3": {"d7": 1, "d6": 1}},
)
MEASURES = ["map", "ndcg", "recip_rank", "P_5", "recall_5"]


class Counts:
    """A model with a dimension for every word; remembers the texts that it was given."""

    def __init__(self, wrong: Any = None) -> None:
        self.texts: list[str] = []
        self._wrong = wrong

    def encode(self, texts: list[str]) -> Any:
        self.texts += texts
        found = np.array([[text.split().count(word) for word in WORDS] for text in texts], float)
        found += np.linspace(0.1, 0.2, len(WORDS))
        return found if self._wrong is None else self._wrong(texts, found)


def expected(
    data: Dataset, queries: Any, corpus: Any, measures: list[str] = MEASURES, k: int = 1000
) -> dict[str, dict[str, float]]:
    """Values of pytrec_eval for cosines that numpy computes."""
    queries, corpus = (
        (own := np.asarray(given, np.float64)) / np.linalg.norm(own, axis=1, keepdims=True)
        for given in (queries, corpus)
    )
    run = {}
    for own, row in zip(data.query_ids, queries @ corpus.T, strict=True):
        found = dict(zip(data.corpus_ids, row.tolist(), strict=True))
        if data.ignore_identical_ids:
            del found[own]
        best = sorted(found.items(), key=lambda item: -item[1])[:k]
        run[own] = dict(best)
    judged = pytrec_eval.RelevanceEvaluator(data.qrels.to_dict(), set(measures))
    values: dict[str, dict[str, float]] = judged.evaluate(run)
    return values


def check(scores: fr.Scores, values: dict[str, dict[str, float]]) -> None:
    assert list(scores.queries) == sorted(values)
    for measure in scores.mean:
        found = dict(zip(scores.queries, scores[measure], strict=True))
        assert found == pytest.approx({query: own[measure] for query, own in values.items()})


@cache
def wordllama() -> Any:
    module = pytest.importorskip("wordllama")
    folder = os.path.dirname(module.__file__)
    return module.WordLlama.load(dim=256, cache_dir=folder, disable_download=True)


# Values


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
def test_a_sparse_model_has_the_values_of_its_dense_vectors(metric: str) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    model = text.CountVectorizer().fit(DATA.corpus)

    found = fr.evaluate_model(model, DATA, MEASURES, metric=metric)

    dense = fr.evaluate_model(
        lambda texts: model.transform(texts).toarray(), DATA, MEASURES, metric=metric
    )
    assert not isinstance(fr.embed_dataset(model, DATA).corpus, np.ndarray)
    assert found.mean == dense.mean


def test_sparse_vectors_are_cached_as_they_are(tmp_path: Path) -> None:
    """And found again: of a second model only the first texts and the shortest are encoded."""
    text = pytest.importorskip("sklearn.feature_extraction.text")
    model, encoded = text.CountVectorizer().fit(DATA.corpus), []

    def encode(texts: list[str]) -> Any:
        encoded.extend(texts)
        return model.transform(texts)

    cache = {"cache": tmp_path, "cache_name": "counts"}
    first = fr.embed_dataset(encode, DATA, **cache)
    encoded.clear()
    again = fr.embed_dataset(encode, DATA, **cache)

    assert len(encoded) == 4
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz", ".npz"]
    for side in ("queries", "corpus"):
        plain = model.transform(getattr(DATA, side)).toarray()
        assert getattr(first, side).toarray().tolist() == plain.tolist()
        assert getattr(again, side).toarray().tolist() == plain.tolist()
    with pytest.raises(InputError, match="use a different cache_name for each model"):
        fr.embed_dataset(lambda texts: 2 * model.transform(texts), DATA, **cache)
    next(tmp_path.glob("*corpus*")).write_bytes(b"PK")
    assert fr.embed_dataset(encode, DATA, **cache).corpus.nnz == first.corpus.nnz


def test_values_are_those_of_pytrec_eval() -> None:
    model = Counts()
    values = expected(DATA, model.encode(list(DATA.queries)), model.encode(list(DATA.corpus)))

    check(fr.evaluate_model(Counts(), DATA, MEASURES), values)


@needs_collections
def test_vaswani_with_wordllama() -> None:
    """MAP 0.2022 and nDCG@10 0.3414, of lower-case queries, are numbers from elsewhere."""
    model, folder = wordllama(), COLLECTIONS / "vaswani"
    data = Dataset.from_files(folder / "corpus.trec", folder / "queries.trec", folder / "qrels.txt")

    def question(texts: list[str]) -> Any:
        return model.embed([text.lower() for text in texts])

    found = fr.evaluate_model((question, model), data, "map ndcg_cut.10").mean

    assert found == pytest.approx({"map": 0.2022, "ndcg_cut_10": 0.3414}, abs=5e-5)


@needs_collections
def test_cacm_with_wordllama() -> None:
    """MAP 0.1195 and nDCG@10 0.2248 at depth 100 are numbers from elsewhere."""
    folder = COLLECTIONS / "cacm"
    data = Dataset.from_files(
        folder / "corpus.jsonl", folder / "topics.cacm.txt", folder / "qrels.cacm.txt"
    )

    found = fr.evaluate_model(wordllama(), data, "map ndcg_cut.10", k=100, batch_size=64).mean

    assert found == pytest.approx({"map": 0.1195, "ndcg_cut_10": 0.2248}, abs=5e-5)


def test_latent_semantic_analysis_of_pythons_manual() -> None:
    """The topics of `help()`: from their first paragraph, find the rest of each."""
    pytest.importorskip("sklearn")
    topics = pytest.importorskip("pydoc_data.topics").topics
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    parts = {name: text.strip().split("\n\n", 2) for name, text in topics.items()}
    parts = {name: own for name, own in parts.items() if len(own) == 3 and len(own[1]) > 100}
    data = Dataset.from_texts(
        {name: own[2] for name, own in parts.items()},
        {name: own[1] for name, own in parts.items()},
        {name: {name: 1} for name in parts},
    )
    assert len(data.queries) > 20

    def model() -> Any:
        return make_pipeline(TfidfVectorizer(), TruncatedSVD(20, random_state=0))

    fitted = model().fit(list(data.corpus))
    values = expected(
        data, fitted.transform(data.queries), fitted.transform(data.corpus), ["recip_rank"]
    )
    check(fr.evaluate_model(model(), data, ["recip_rank"]), values)


def test_digits_as_articles_with_embeddings() -> None:
    """Every twentieth image is labelled with the others of its digit; no model is needed."""
    digits = pytest.importorskip("sklearn.datasets").load_digits()
    same = [np.flatnonzero(digits.target == digit).tolist() for digit in range(10)]
    data = Dataset.from_articles(
        {
            "id": row,
            "embedding": image,
            "similar": same[digits.target[row]] if row % 20 == 0 else None,
        }
        for row, image in enumerate(digits.data)
    )

    found = fr.evaluate_model(None, data, MEASURES, k=50)

    check(found, expected(data, digits.data[::20], digits.data, k=50))
    assert found.mean["recip_rank"] > 0.95


def test_articles_with_texts_are_encoded_once() -> None:
    """The queries are documents, also for a model that has a side for queries."""
    texts = [{"id": i, "text": text} for i, text in enumerate(DATA.corpus)]
    data = Dataset.from_articles([{**texts[0], "similar": [1, 3]}, *texts[1:]])
    model = Counts()

    found = fr.evaluate_model((Counts(), model), data, MEASURES)

    vectors = Counts().encode(list(data.corpus))
    check(found, expected(data, vectors[:1], vectors))
    assert len(model.texts) == len(data.corpus) + 3


# Cache


def test_vectors_are_encoded_once(tmp_path: Path) -> None:
    """The second time only the first texts are, to see that the model is the same."""
    options: dict[str, Any] = {"cache": tmp_path / "made", "cache_name": "counts"}
    first = fr.evaluate_model(Counts(), DATA, "map", **options)
    model = Counts()

    second = fr.evaluate_model(model, DATA, "map", **options)

    assert second.mean == first.mean == fr.evaluate_model(Counts(), DATA, "map").mean
    assert model.texts == [*DATA.corpus[:2], *DATA.queries[:2]]


def test_a_changed_corpus_is_encoded_anew(tmp_path: Path) -> None:
    fr.embed_dataset(Counts(), DATA, cache=tmp_path, cache_name="counts")
    texts = dict(zip(DATA.corpus_ids, DATA.corpus, strict=True))
    changed = Dataset.from_texts(
        {**texts, "d8": "red"}, dict(zip(DATA.query_ids, DATA.queries, strict=True)), DATA.qrels
    )

    found = fr.embed_dataset(Counts(), changed, cache=tmp_path, cache_name="counts")

    assert found.corpus[8] == pytest.approx(Counts().encode(["red"])[0])


def test_a_cache_that_was_cut_is_noticed(tmp_path: Path) -> None:
    first = fr.embed_dataset(Counts(), DATA, cache=tmp_path, cache_name="counts")
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-20])

    second = fr.embed_dataset(Counts(), DATA, cache=tmp_path, cache_name="counts")

    assert second.corpus.tolist() == Counts().encode(list(DATA.corpus)).astype("f4").tolist()
    assert isinstance(second.corpus, np.memmap)
    assert isinstance(first.corpus, np.memmap)


def test_another_model_under_the_same_name(tmp_path: Path) -> None:
    fr.embed_dataset(Counts(), DATA, cache=tmp_path, cache_name="counts")
    retrained = Counts(lambda texts, found: found + 0.1)

    with pytest.raises(
        InputError,
        match=r"counts-corpus-.*\.npy: the cached vectors of the first texts differ"
        r" from those of Coun",
    ):
        fr.embed_dataset(retrained, DATA, cache=tmp_path, cache_name="counts")


def test_what_is_fitted_here_is_not_cached(tmp_path: Path) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")

    fr.embed_dataset(text.TfidfVectorizer(), DATA, cache=tmp_path, cache_name="tfidf")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [{"cache": "folder"}, {"cache_name": "counts"}])
def test_a_cache_needs_a_name(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="cache and cache_name must be given together"):
        fr.embed_dataset(Counts(), DATA, **options)


# Errors that show before hours of work


def nan_at_first(texts: list[str], found: Any) -> Any:
    return np.where(found == found.max(), np.nan, found)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda texts, found: found[:1], r"corpus: expected 2 vectors, one per text, found 1"),
        (lambda texts, found: found[0], r"corpus: expected one vector for each of 2 texts"),
        (nan_at_first, r"corpus\[0, 3\]: 'd0': expected a finite 32-bit float, found nan from Cou"),
    ],
)
def test_models_that_are_wrong(wrong: Any, reason: str) -> None:
    model = Counts(wrong)

    with pytest.raises(ArrayError, match=reason):
        fr.evaluate_model(model, DATA)
    assert len(model.texts) == 2


def test_queries_of_another_dimension() -> None:
    model = Counts()
    narrow = Counts(lambda texts, found: found[:, :3])

    with pytest.raises(ArrayError, match=r"queries: expected dimension 6, .* found 3 from Counts"):
        fr.evaluate_model((narrow, model), DATA)
    assert len(model.texts) == 3


@pytest.mark.parametrize(
    ("options", "kind", "reason"),
    [
        ({"measures": "mapp"}, MeasureError, "unknown measure 'mapp'"),
        ({"k": 0}, OptionError, "k: expected 1 or more"),
        ({"metric": "dot"}, OptionError, "metric: expected 'ip', 'l2' or 'cosine', found 'dot'"),
        (
            {"index_factory": "IVF,Flat,"},
            OptionError,
            "index_factory: faiss cannot build 'IVF,Flat,'",
        ),
        (
            {"index_factory": "IVF10,Flat"},
            OptionError,
            "index_factory: 'IVF10,Flat' needs at least 10 training vectors",
        ),
        ({"parameters": "nprobes=3"}, OptionError, "parameters: expected one of nprobe"),
        ({"missing": "none"}, OptionError, "missing: expected one of 'skip'"),
        ({"run": "absent/run.txt"}, FileNotFoundError, "absent/run.txt"),
        ({"run": "run.json"}, OptionError, "run: expected a file name for TREC format"),
        ({"query_prompt": 5}, OptionError, "query_prompt: expected a str, found int"),
        ({"batch_size": 0}, OptionError, "batch_size: expected 1 or more, found 0"),
    ],
)
def test_options_that_are_wrong(options: dict[str, Any], kind: type, reason: str) -> None:
    model = Counts()

    with pytest.raises(kind, match=reason):
        fr.evaluate_model(model, DATA, **options)
    assert len(model.texts) <= 6


def test_judged_queries_without_a_text() -> None:
    """They are missing from the results, and an error at once where that is one."""
    data = Dataset.from_texts(
        dict(zip(DATA.corpus_ids, DATA.corpus, strict=True)),
        {"q1": "red apple"},
        {"q1": {"d0": 1}, "q9": {"d0": 1}},
    )
    model = Counts()

    assert fr.evaluate_model(Counts(), data, "map").missing_queries == ["q9"]
    assert fr.evaluate_model(Counts(), data, "map", missing="zero").mean == {"map": 0.5}
    with pytest.raises(fr.EvaluationError, match=r"1 of 2 judged queries is missing .*: q9"):
        fr.evaluate_model(model, data, "map", missing="error")
    assert model.texts == []


def test_a_vector_that_is_no_number_later_on() -> None:
    """The row and the id are those of the text."""

    def wrong(texts: list[str], found: Any) -> Any:
        found[[text == "green pear" for text in texts], 1] = np.inf
        return found

    with pytest.raises(ArrayError, match=r"corpus\[8, 1\]: 'd8': expected a finite .* found inf"):
        fr.evaluate_model(Counts(wrong), DATA, batch_size=2)


def test_a_dimension_that_changes() -> None:
    model = Counts(lambda texts, found: found if "red apple" in texts else found[:, :2])

    with pytest.raises(ArrayError, match=r"corpus\[3\]: expected dimension 6, .* found 2 from"):
        fr.embed_dataset((Counts(), model), DATA, batch_size=3)


def test_a_zero_vector_has_no_cosine() -> None:
    """An empty text is encoded early, since models tend to fail on it."""
    queries = dict(zip(DATA.query_ids, DATA.queries, strict=True))
    corpus = dict(zip(DATA.corpus_ids, DATA.corpus, strict=True))
    data = Dataset.from_texts({**corpus, "d9": "", "d10": "red"}, queries, DATA.qrels)

    def wrong(texts: list[str], found: Any) -> Any:
        return found * np.array([[bool(text)] for text in texts])

    model = Counts(wrong)
    with pytest.raises(ArrayError, match=r"corpus\[9\]: 'd9': the vector is zero, .* metric='ip'"):
        fr.evaluate_model(model, data)
    assert len(model.texts) == 3
    assert fr.evaluate_model(Counts(wrong), data, "num_q", metric="ip").mean == {"num_q": 3.0}


def test_data_without_texts_or_vectors() -> None:
    data = Dataset.from_articles(
        [{"id": "a", "embedding": [1.0], "similar": ["b"]}, {"id": "b", "embedding": [2.0]}]
    )

    with pytest.raises(TypeError, match="expected a model, found None; texts has no vectors"):
        fr.evaluate_model(None, DATA)
    with pytest.raises(InputError, match="articles: no texts to encode; omit the model"):
        fr.evaluate_model(Counts(), data)
    with pytest.raises(TypeError, match="dataset: expected a Dataset, or the path of a folder"):
        fr.evaluate_model(Counts(), {"d1": "text"})  # type: ignore[arg-type]


# The rest


def test_options_reach_the_search(tmp_path: Path) -> None:
    """The run is written; judgments decide what is relevant; iterators are used once only."""
    path = tmp_path / "run.txt.gz"

    found = fr.evaluate_model(
        Counts(), DATA, iter(["map", "num_rel"]), k=3, run=path, tag="counts", relevance_level=2,
        exclude={"q1": iter(["d0"])}, missing="error", no_relevant="skip",
    )  # fmt: skip

    run = read_trec_run(path)
    assert run.tag == "counts"
    assert {query: len(docs) for query, docs in run.to_dict().items()} == dict.fromkeys(
        DATA.query_ids, 3
    )
    assert "d0" not in run.to_dict()["q1"]
    assert found.mean == {"map": 0.0, "num_rel": 1.0}


def test_the_first_documents_may_be_excluded() -> None:
    """Those that are encoded ahead of the others are no whole corpus."""
    excluded = dict.fromkeys(DATA.query_ids, DATA.corpus_ids[:2])

    found = fr.evaluate_model(Counts(), DATA, "num_ret", exclude=excluded)

    rest = len(DATA.query_ids) * (len(DATA.corpus_ids) - 2)
    assert found.mean == {"num_ret": rest}


def test_progress_is_shown_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    fr.evaluate_model(Counts(), DATA, "map", progress=True)
    shown = capsys.readouterr()

    assert "encode queries: 100%" in shown.err
    assert "encode corpus: 100%" in shown.err
    assert shown.out == ""
    fr.evaluate_model(Counts(), DATA, "map")
    assert capsys.readouterr().err == ""


def test_an_index_that_must_be_trained() -> None:
    found = fr.evaluate_model(
        Counts(), DATA, "map", metric="ip", index_factory="IVF1,Flat", parameters="nprobe=1"
    )

    assert found.mean == fr.evaluate_model(Counts(), DATA, "map", metric="ip").mean


def test_a_path_is_a_folder_of_beir(tmp_path: Path) -> None:
    from tests.helpers.collections import beir_folder

    found = fr.evaluate_model(
        lambda texts: [[len(text), 1] for text in texts], beir_folder(tmp_path), "num_ret"
    )

    assert found.mean == {"num_ret": 2.0}


def test_sentence_transformers(tmp_path: Path) -> None:
    """A static model with random vectors has the values of the package's own evaluator."""
    st = pytest.importorskip("sentence_transformers")
    tokenizers = pytest.importorskip("tokenizers")
    inner = "sentence_transformers.sentence_transformer"
    modules = pytest.importorskip(f"{inner}.modules")
    evaluation = pytest.importorskip(f"{inner}.evaluation")
    vocabulary = {word: number for number, word in enumerate([*WORDS, "query:", "[UNK]"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    static = modules.StaticEmbedding(tokenizer, embedding_dim=16)
    model = st.SentenceTransformer(modules=[static], prompts={"query": "query: "}, device="cpu")
    relevant = {"q1": {"d0", "d3"}, "q2": {"d2"}, "q3": {"d7", "d6"}}
    own = evaluation.InformationRetrievalEvaluator(
        dict(zip(DATA.query_ids, DATA.queries, strict=True)),
        dict(zip(DATA.corpus_ids, DATA.corpus, strict=True)),
        relevant, write_csv=False, show_progress_bar=False,
        mrr_at_k=[5], ndcg_at_k=[5], precision_recall_at_k=[3], map_at_k=[9],
    )(model)  # fmt: skip
    binary = {query: dict.fromkeys(docs, 1) for query, docs in relevant.items()}
    data = Dataset.from_texts(
        dict(zip(DATA.corpus_ids, DATA.corpus, strict=True)),
        dict(zip(DATA.query_ids, DATA.queries, strict=True)),
        binary,
    )

    found = fr.evaluate_model(model, data, "RR@5 ndcg_cut.5 P.3 map", progress=False).mean

    names = {"RR@5": "mrr@5", "ndcg_cut_5": "ndcg@5", "P_3": "precision@3", "map": "map@9"}
    assert found == pytest.approx({name: own[f"cosine_{theirs}"] for name, theirs in names.items()})


@pytest.mark.parametrize("kind", [None, "threads", "processes"])
def test_several_data_sets_are_evaluated_one_by_one(kind: str | None) -> None:
    datasets = {"cities": CITIES, "again": CITIES}
    expected = fr.evaluate_model(letters, CITIES, "map P.1", k=2)

    with started(kind) if kind else nullcontext() as executor:
        found = fr.evaluate_model(letters, datasets, "map P.1", k=2, executor=executor)

    assert {name: one.to_json() for name, one in found.items()} == dict.fromkeys(
        datasets, expected.to_json()
    )


def test_a_data_set_that_fails_is_named_and_those_before_it_are_kept(tmp_path: Path) -> None:
    with pytest.raises(fr.TaskError, match=r"^task 'absent': .*absent") as caught:
        fr.evaluate_model(letters, {"cities": CITIES, "absent": tmp_path / "absent"}, "map")

    assert list(caught.value.before) == ["cities"]


def test_the_runs_of_several_data_sets_are_not_written() -> None:
    with pytest.raises(fr.OptionError, match="run: only for one data set"):
        fr.evaluate_model(letters, {"cities": CITIES}, run="found.run")
