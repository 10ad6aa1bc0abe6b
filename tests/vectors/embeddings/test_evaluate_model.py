"""evaluate_model: texts and a model in, scores out."""

import os
from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest
import pytrec_eval

import fastrank as fr
from fastrank import errors
from fastrank.errors import ArrayError, InputError, MeasureError, OptionError
from tests.helpers.collections import COLLECTIONS, beir_folder, needs_collections
from tests.helpers.executors import started
from tests.helpers.parsing import read_trec_run
from tests.helpers.tables import refusing
from tests.helpers.task_cases import CITIES, letters

WORDS = ["red", "blue", "green", "apple", "plum", "pear"]
DATA = fr.Dataset.from_texts(
    {f"d{i}": f"{WORDS[i % 3]} {WORDS[3 + i // 3]}" for i in range(9)},
    {"q1": "red apple", "q2": "green", "q3": "pear pear blue"},
    {"q1": {"d0": 2, "d3": 1}, "q2": {"d2": 1, "d1": 0}, "q3": {"d7": 1, "d6": 1}},
)
MEASURES = ["map", "ndcg", "recip_rank", "P_5", "recall_5"]


class Counts:
    """A model with a dimension for every word; remembers the texts that it was given."""

    def __init__(self, wrong=None):
        self.texts = []
        self._wrong = wrong

    def encode(self, texts):
        self.texts += texts
        found = np.array([[text.split().count(word) for word in WORDS] for text in texts], float)
        found += np.linspace(0.1, 0.2, len(WORDS))
        return found if self._wrong is None else self._wrong(texts, found)


def expected(data, queries, corpus, measures=MEASURES, k=1000):
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
    return judged.evaluate(run)


def check(scores, values):
    assert list(scores.queries) == sorted(values)
    for measure in scores.mean:
        found = dict(zip(scores.queries, scores[measure], strict=True))
        assert found == pytest.approx({query: own[measure] for query, own in values.items()})


@cache
def wordllama():
    module = pytest.importorskip("wordllama")
    folder = os.path.dirname(module.__file__)
    return module.WordLlama.load(dim=256, cache_dir=folder, disable_download=True)


def texts_of(corpus, queries=None, qrels=None):
    queries = queries or dict(zip(DATA.query_ids, DATA.queries, strict=True))
    return fr.Dataset.from_texts(corpus, queries, qrels or DATA.qrels)


DOCS = dict(zip(DATA.corpus_ids, DATA.corpus, strict=True))
VECTORS = [{"id": "a", "embedding": [1.0], "similar": ["b"]}, {"id": "b", "embedding": [2.0]}]


# Values


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
def test_a_sparse_model_has_the_values_of_its_dense_vectors(metric):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    model = text.CountVectorizer().fit(DATA.corpus)
    found = fr.evaluate_model(model, DATA, MEASURES, metric=metric)
    dense = fr.evaluate_model(
        lambda texts: model.transform(texts).toarray(), DATA, MEASURES, metric=metric
    )
    assert not isinstance(fr.embed_dataset(model, DATA).corpus, np.ndarray)
    assert found.mean == dense.mean


def test_sparse_vectors_are_cached_as_they_are(tmp_path):
    """And found again: of a second model only the first texts and the shortest are encoded."""
    text = pytest.importorskip("sklearn.feature_extraction.text")
    model, encoded = text.CountVectorizer().fit(DATA.corpus), []

    def encode(texts):
        encoded.extend(texts)
        return model.transform(texts)

    cache = {"cache": tmp_path, "cache_name": "counts"}
    first = fr.embed_dataset(encode, DATA, **cache)
    encoded.clear()
    again = fr.embed_dataset(encode, DATA, **cache)

    assert len(encoded) == 4
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz", ".npz"]
    for side in ("queries", "corpus"):
        plain = model.transform(getattr(DATA, side)).toarray().tolist()
        assert getattr(first, side).toarray().tolist() == plain
        assert getattr(again, side).toarray().tolist() == plain
    differs = r"counts-corpus-.*\.npz: the cached vectors of the first texts differ"
    with pytest.raises(InputError, match=differs):
        fr.embed_dataset(lambda texts: 2 * model.transform(texts), DATA, **cache)
    next(tmp_path.glob("*corpus*")).write_bytes(b"PK")
    assert fr.embed_dataset(encode, DATA, **cache).corpus.nnz == first.corpus.nnz


def test_values_are_those_of_pytrec_eval():
    model = Counts()
    values = expected(DATA, model.encode(list(DATA.queries)), model.encode(list(DATA.corpus)))
    check(fr.evaluate_model(Counts(), DATA, MEASURES), values)


VASWANI = ("vaswani", "corpus.trec", "queries.trec", "qrels.txt")
CACM = ("cacm", "corpus.jsonl", "topics.cacm.txt", "qrels.cacm.txt")


@needs_collections
@pytest.mark.parametrize(
    ("files", "queries", "options", "expected"),
    [
        (VASWANI, str.lower, {}, {"map": 0.2022, "ndcg_cut_10": 0.3414}),
        (CACM, str, {"k": 100, "batch_size": 64}, {"map": 0.1195, "ndcg_cut_10": 0.2248}),
    ],
)
def test_values_of_wordllama_are_numbers_from_elsewhere(files, queries, options, expected):
    model, (folder, *names) = wordllama(), files
    data = fr.Dataset.from_files(*(COLLECTIONS / folder / name for name in names))

    def question(texts):
        return model.embed([queries(text) for text in texts])

    found = fr.evaluate_model((question, model), data, "map ndcg_cut.10", **options).mean
    assert found == pytest.approx(expected, abs=5e-5)


def test_digits_as_articles_with_embeddings():
    """Every twentieth image is labelled with the others of its digit; no model is needed."""
    digits = pytest.importorskip("sklearn.datasets").load_digits()
    same = [np.flatnonzero(digits.target == digit).tolist() for digit in range(10)]
    labels = [None if row % 20 else same[digit] for row, digit in enumerate(digits.target)]
    rows = enumerate(zip(digits.data, labels, strict=True))
    data = fr.Dataset.from_articles(
        {"id": row, "embedding": image, "similar": similar} for row, (image, similar) in rows
    )
    found = fr.evaluate_model(None, data, MEASURES, k=50)
    check(found, expected(data, digits.data[::20], digits.data, k=50))
    assert found.mean["recip_rank"] > 0.95


def test_articles_with_texts_are_encoded_once():
    """The queries are documents, also for a model that has a side for queries."""
    texts = [{"id": i, "text": text} for i, text in enumerate(DATA.corpus)]
    data = fr.Dataset.from_articles([{**texts[0], "similar": [1, 3]}, *texts[1:]])
    model = Counts()
    found = fr.evaluate_model((Counts(), model), data, MEASURES)
    vectors = Counts().encode(list(data.corpus))
    check(found, expected(data, vectors[:1], vectors))
    assert len(model.texts) == len(data.corpus) + 3


# Cache


def test_vectors_are_encoded_once(tmp_path):
    """The second time only the first texts are, to see that the model is the same."""
    options = {"cache": tmp_path / "made", "cache_name": "counts"}
    first = fr.evaluate_model(Counts(), DATA, "map", **options)
    model = Counts()
    second = fr.evaluate_model(model, DATA, "map", **options)
    assert second.mean == first.mean == fr.evaluate_model(Counts(), DATA, "map").mean
    assert model.texts == [*DATA.corpus[:2], *DATA.queries[:2]]


def test_what_is_fitted_here_is_not_cached(tmp_path):
    text = pytest.importorskip("sklearn.feature_extraction.text")
    fr.embed_dataset(text.TfidfVectorizer(), DATA, cache=tmp_path, cache_name="tfidf")
    assert list(tmp_path.iterdir()) == []


# Errors that show before hours of work


def nan_at_first(texts, found):
    return np.where(found == found.max(), np.nan, found)


def inf_later(texts, found):
    found[[text == "green pear" for text in texts], 1] = np.inf
    return found


def narrow_later(texts, found):
    return found if "red apple" in texts else found[:, :2]


@pytest.mark.parametrize(
    ("wrong", "batch_size", "reason"),
    [
        (lambda texts, found: found[:1], None, "corpus: expected 2 vectors, one per text, found 1"),
        (lambda texts, found: found[0], None, "corpus: expected one vector for each of 2 texts"),
        (nan_at_first, None, r"corpus\[0, 3\]: 'd0': expected a finite 32-bit float, found nan fr"),
        (inf_later, 2, r"corpus\[8, 1\]: 'd8': expected a finite .* found inf"),
        (narrow_later, 3, r"corpus\[3\]: expected dimension 6, .* found 2 from"),
    ],
)
def test_models_that_are_wrong(wrong, batch_size, reason):
    """The row and the id are those of the text; what is wrong at once is found at once."""
    model = Counts(wrong)
    with pytest.raises(ArrayError, match=reason):
        fr.evaluate_model((Counts(), model), DATA, batch_size=batch_size)
    assert batch_size or len(model.texts) == 2


def test_queries_of_another_dimension():
    model, narrow = Counts(), Counts(lambda texts, found: found[:, :3])
    with pytest.raises(ArrayError, match=r"queries: expected dimension 6, .* found 3 from Counts"):
        fr.evaluate_model((narrow, model), DATA)
    assert len(model.texts) == 3


@pytest.mark.parametrize(
    ("option", "value", "error", "reason"),
    [
        ("measures", "mapp", MeasureError, "unknown measure 'mapp'"),
        ("metric", "l1", OptionError, "metric: expected 'ip', 'l2' or 'cosine', found 'l1'"),
        ("index_factory", "IVF,Flat,", OptionError, "index_factory: faiss cannot build 'IVF,Fla"),
        ("index_factory", "IVF10,Flat", OptionError, "'IVF10,Flat' needs at least 10 training ve"),
        ("parameters", "nprobes=3", OptionError, "parameters: expected one of nprobe"),
        ("run", "absent/run.txt", FileNotFoundError, "absent/run.txt"),
        ("run", "run.json", OptionError, "run: expected a file name for TREC format"),
        ("query_prompt", 5, OptionError, "query_prompt: expected a str, found int"),
        ("batch_size", 0, OptionError, "batch_size: expected 1 or more, found 0"),
        ("cache_name", "counts", OptionError, "cache and cache_name must be given together"),
    ],
)
def test_options_that_are_wrong(option, value, error, reason):
    model = Counts()
    with pytest.raises(error, match=reason):
        fr.evaluate_model(model, DATA, **{option: value})
    assert len(model.texts) <= 6


test_data_without_texts_or_vectors = refusing("""TypeError
fr.evaluate_model(None, DATA) => model: expected a model, found None; texts has no vectors
fr.evaluate_model(Counts(), fr.Dataset.from_articles(VECTORS)) =>
  InputError: articles: no texts to encode; omit the model to use its vectors
fr.evaluate_model(Counts(), {"d1": "text"}) => dataset: expected a Dataset, or the path...
""")


def test_judged_queries_without_a_text():
    """They are missing from the results, and an error at once where that is one."""
    data = texts_of(DOCS, {"q1": "red apple"}, {"q1": {"d0": 1}, "q9": {"d0": 1}})
    model = Counts()
    assert fr.evaluate_model(Counts(), data, "map").missing_queries == ["q9"]
    assert fr.evaluate_model(Counts(), data, "map", missing="zero").mean == {"map": 0.5}
    with pytest.raises(errors.EvaluationError, match=r"1 of 2 judged queries is missing .*: q9"):
        fr.evaluate_model(model, data, "map", missing="error")
    assert model.texts == []


def test_a_zero_vector_has_cosine_0_and_is_counted():
    data = texts_of({**DOCS, "d9": "", "d10": "red"})

    def empty(texts, found):
        return found * np.array([[bool(text)] for text in texts])

    scores = fr.evaluate_model(Counts(empty), data, "num_ret")
    assert scores.counts["zero_vectors"] == 1
    assert "1 vector of a query or document is zero" in str(scores)
    inner = fr.evaluate_model(Counts(empty), data, "num_ret", metric="ip")
    assert inner.counts["zero_vectors"] == 0


# The rest


def test_options_reach_the_search(tmp_path):
    """The run is written; judgments decide what is relevant; iterators are used once only."""
    path = tmp_path / "run.txt.gz"

    options = {"k": 3, "relevance_level": 2, "missing": "error", "no_relevant": "skip"}
    options |= {"run": path, "tag": "counts", "exclude": {"q1": iter(["d0"])}}
    found = fr.evaluate_model(Counts(), DATA, iter(["map", "num_rel"]), **options)
    run = read_trec_run(path)
    assert run.tag == "counts"
    assert [len(docs) for docs in run.to_dict().values()] == [3, 3, 3]
    assert "d0" not in run.to_dict()["q1"]
    assert found.mean == {"map": 0.0, "num_rel": 1.0}


def test_the_first_documents_may_be_excluded():
    """Those that are encoded ahead of the others are no whole corpus."""
    excluded = dict.fromkeys(DATA.query_ids, DATA.corpus_ids[:2])
    found = fr.evaluate_model(Counts(), DATA, "num_ret", exclude=excluded)
    rest = len(DATA.query_ids) * (len(DATA.corpus_ids) - 2)
    assert found.mean == {"num_ret": rest}


def test_progress_is_shown_on_standard_error(capsys):
    fr.evaluate_model(Counts(), DATA, "map", progress=True)
    shown = capsys.readouterr()
    assert "encode queries: 100%" in shown.err
    assert "encode corpus: 100%" in shown.err
    assert shown.out == ""
    fr.evaluate_model(Counts(), DATA, "map")
    assert capsys.readouterr().err == ""


def test_an_index_that_must_be_trained():
    found = fr.evaluate_model(
        Counts(), DATA, "map", metric="ip", index_factory="IVF1,Flat", parameters="nprobe=1"
    )
    assert found.mean == fr.evaluate_model(Counts(), DATA, "map", metric="ip").mean


@pytest.mark.parametrize("kind", [None, "threads", "processes"])
def test_several_data_sets_are_evaluated_one_by_one(kind, tmp_path):
    """A path is a folder of BEIR; the runs of several are not written."""
    folder, options = beir_folder(tmp_path), {"measures": "map P.1", "k": 2}
    datasets = {"cities": CITIES, "again": CITIES, "beir": folder}
    expected = {name: fr.evaluate_model(letters, own, **options) for name, own in datasets.items()}
    with started(kind) if kind else nullcontext() as executor:
        found = fr.evaluate_model(letters, datasets, **options, executor=executor)
    for name, scores in found.items():
        assert scores.to_json() == expected[name].to_json()
    with pytest.raises(OptionError, match="run: only for one data set"):
        fr.evaluate_model(letters, datasets, run="found.run")


def test_a_data_set_that_fails_is_named_and_those_before_it_are_kept(tmp_path):
    with pytest.raises(errors.TaskError, match=r"^task 'absent': .*absent") as caught:
        fr.evaluate_model(letters, {"cities": CITIES, "absent": tmp_path / "absent"}, "map")
    assert list(caught.value.before) == ["cities"]
