"""Whatever makes vectors of texts, taken as two functions, and what it makes, as float32."""

import numpy as np
import pytest

from fastrank.errors import ArrayError
from fastrank.vectors.embeddings.encoders import Encoder, encoders_of
from fastrank.vectors.searching.model_output import as_vectors

CORPUS = ["red apples", "blue plums", "green pears", "yellow bananas and red plums"]
IDS = ["d1", "d2", "d3", "d4"]


def lengths(texts):
    return np.array([[len(text), 1.0] for text in texts])


class Recorder:
    """Remembers how it was called."""

    def __init__(self):
        self.calls = []

    def _record(self, *call):
        self.calls.append(call)
        return lengths(call[1])


class SentenceTransformers(Recorder):
    def encode(self, texts, batch_size=32):
        return self._record("encode", texts)

    def encode_query(self, inputs, prompt=None, batch_size=32, show_progress_bar=None, **kwargs):
        return self._record("query", inputs, prompt, batch_size, show_progress_bar, kwargs)

    def encode_document(self, inputs, prompt=None):
        return self._record("document", inputs, prompt)


class FlagEmbedding(Recorder):
    def encode_queries(self, queries, batch_size=None, **_):
        return {"dense_vecs": self._record("queries", queries, batch_size).astype("float16")}

    def encode_corpus(self, corpus, batch_size=None, **_):
        return {"dense_vecs": self._record("corpus", corpus, batch_size).astype("float16")}

    def encode(self, texts):
        raise AssertionError("the methods for a side come first")


class Encode(Recorder):
    def encode(self, texts):
        return self._record("encode", texts)

    def __call__(self, *_):
        raise AssertionError("models of torch can be called too")


class Embed(Recorder):
    def embed(self, texts, norm=False):
        return iter(self._record("embed", texts))


def called(model, **options):
    """Both sides encode a text; the vectors of queries and documents."""
    queries, documents, fitted = encoders_of(model, CORPUS, **options)
    assert not fitted
    found = [queries.encode(["abc"], ["q"]), documents.encode(["abcd"], ["d"])]
    assert all(vectors.dtype == np.float32 for vectors in found)
    return [vectors[0].tolist() for vectors in found]


# Models


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (SentenceTransformers(), ["query", "document"]),
        (FlagEmbedding(), ["queries", "corpus"]),
        (Encode(), ["encode", "encode"]),
        (Embed(), ["embed", "embed"]),
    ],
    ids=lambda own: type(own).__name__,
)
def test_each_side_has_its_method(model, names):
    assert called(model) == [[3, 1], [4, 1]]
    assert [call[0] for call in model.calls] == names


class Questions:
    def encode_queries(self, texts):
        return lengths(texts)


class Passages:
    def encode_corpus(self, texts):
        return lengths(texts) * 2


@pytest.mark.parametrize(
    ("model", "vectors"),
    [
        (lengths, [[3, 1], [4, 1]]),
        (lambda texts: [[len(text)] for text in texts], [[3], [4]]),
        ((lengths, lambda texts: lengths(texts) * 2), [[3, 1], [8, 2]]),
        ((Questions(), Passages()), [[3, 1], [8, 2]]),
    ],
    ids=["function", "lists", "functions", "sides"],
)
def test_functions_and_pairs_are_models(model, vectors):
    assert called(model) == vectors


def test_of_each_of_a_pair_is_taken_the_side_that_it_is_for():
    pair = question, passage = SentenceTransformers(), SentenceTransformers()
    assert called(pair) == [[3, 1], [4, 1]]
    assert (question.calls[0][0], passage.calls[0][0]) == ("query", "document")


def test_options_go_where_they_are_taken():
    """Prompts stand before texts where they are not taken."""
    model = SentenceTransformers()
    called(model, batch_size=8, query_prompt="query: ", corpus_prompt="passage: ")
    query, document = model.calls
    assert query == ("query", ["abc"], "query: ", 8, False, {})
    assert document == ("document", ["abcd"], "passage: ")
    model = FlagEmbedding()
    called(model, query_prompt="query: ")
    assert [call[1:] for call in model.calls] == [(["query: abc"], None), (["abcd"], None)]


def test_how_many_texts_a_function_gets():
    """As many as a batch, unless it makes batches of its own: then many of them."""
    own, _, _ = encoders_of(lengths, CORPUS, batch_size=10)
    batched, _, _ = encoders_of(FlagEmbedding(), CORPUS, batch_size=10)
    assert own.step == 10
    assert batched.step > 10
    assert batched.step % 10 == 0


@pytest.mark.parametrize("model", ["BAAI/bge-m3", b"name", 5, None, (lengths,) * 3, Passages()])
def test_what_is_no_model(model):
    """A text has a method `encode` of another kind."""
    with pytest.raises(TypeError, match="model: expected"):
        encoders_of(model, CORPUS)


# Transformers of scikit-learn


def lsa():
    pytest.importorskip("sklearn")
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    # The last step needs no fitting, by which a pipeline is taken for fitted.
    return make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0), Normalizer())


def test_a_transformer_is_fitted_on_the_corpus():
    """A copy of it: what the caller passed is as it was; a fitted one stays as it is."""
    model = lsa()
    expected = lsa().fit_transform(CORPUS)
    queries, documents, fitted = encoders_of(model, CORPUS)
    assert fitted
    assert documents.encode(CORPUS, IDS) == pytest.approx(expected)
    assert queries.encode(CORPUS, IDS) == pytest.approx(expected)
    assert not hasattr(model[0], "vocabulary_")
    model.fit(["red and blue", "blue and green", "apples"])
    _, documents, fitted = encoders_of(model, CORPUS)
    assert not fitted
    assert documents.encode(CORPUS, IDS) == pytest.approx(model.transform(CORPUS))


def test_sparse_vectors_stay_sparse():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    expected = text.TfidfVectorizer().fit_transform(CORPUS).toarray()
    _, documents, _ = encoders_of(text.TfidfVectorizer(), CORPUS)
    found = documents.encode(CORPUS, IDS)
    assert (found.dtype, found.format) == (np.float32, "csr")
    assert found.toarray() == pytest.approx(expected)


# What they return


def test_tensors_of_torch():
    """On the graph, in other precisions, a list of rows, sparse ones."""
    torch = pytest.importorskip("torch")
    one = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    others = [one.clone().requires_grad_(), one.to(torch.bfloat16), one.half(), one.to_sparse()]
    for tensor in (one, list(one), *others):
        assert as_vectors(tensor, "corpus", ["a", "b"]).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "given",
    [
        np.array([[1, 2], [3, 4]], np.float16),
        np.array([[1, 2], [3, 4]], np.float64, order="F"),
        np.array([[1, 2], [3, 4]], np.int8),
        [[1, 2], [3.0, 4]],
        (np.array(row, np.float32) for row in ([1, 2], [3, 4])),
    ],
    ids=["float16", "float64", "int8", "lists", "generator"],
)
def test_arrays_and_rows(given):
    found = as_vectors(given, "corpus", ["a", "b"])
    assert found.dtype == np.float32
    assert found.flags.c_contiguous
    assert found.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (None, r"corpus: expected vectors, found NoneType, which is not array-like: .* from model"),
        ([["x", 1.0], [None, 2.0]], r"corpus: expected float vectors, found <U"),
        ([[None, 1.0], [1.0, 2.0]], r"corpus\[40, 0\]: 'a': expected a finite .*, found nan"),
        ([[{}, 1.0], [1.0, 2.0]], r"corpus: expected vectors, found list, which is not array-like"),
        (np.zeros((3, 2)), r"corpus: expected 2 vectors, one per text, found 3 from model"),
        (np.zeros(2), r"corpus: expected one vector for each of 2 texts, found shape \(2,\)"),
        (np.zeros((2, 5, 3)), r"corpus: expected one vector for each .* shape \(2, 5, 3\)"),
        (np.zeros((2, 0)), r"corpus: expected vectors, found no columns"),
        ([], r"corpus: expected 2 vectors, one per text, found 0"),
        ([[1.0], [1.0, 2.0]], r"corpus\[41\]: 'b': expected shape \(1,\), .* found \(2,\)"),
        (np.zeros((2, 4), np.uint8), r"corpus: expected float vectors, .* .packed bits"),
        ([["a"], ["b"]], r"corpus: expected float vectors, found <U1"),
        ([[1.0, 2.0], [0.0, float("nan")]], r"corpus\[41, 1\]: 'b': .*finite.* found nan"),
        ([[1.0, float("-inf")], [0.0, float("nan")]], r"corpus\[40, 1\]: 'a': .* found -inf"),
        ([[1e300], [0.0]], r"corpus\[40, 0\]: 'a': expected a finite 32-bit float, found 1e\+300"),
        ([[float("inf")], [float("-inf")]], r"corpus\[40, 0\]: 'a'"),
    ],
)
def test_what_are_no_vectors_for_the_texts(given, reason):
    """The row counts from the first text of all."""
    with pytest.raises(ArrayError, match=reason):
        as_vectors(given, "corpus", ["a", "b"], first=40, by="model")


def test_large_finite_vectors_are_vectors():
    largest = np.full((2, 3), np.finfo(np.float32).max)
    assert as_vectors(largest, "corpus", ["a", "b"]).tolist() == largest.tolist()


def test_messages_name_the_method():
    class Model:
        def encode(self, texts):
            return np.zeros((1, 3))

    encoder, _, _ = encoders_of(Model(), CORPUS)

    assert isinstance(encoder, Encoder)
    with pytest.raises(ArrayError, match=r"queries: expected 2 .* found 1 from Model\.encode$"):
        encoder.encode(["a", "b"], ["q1", "q2"])
