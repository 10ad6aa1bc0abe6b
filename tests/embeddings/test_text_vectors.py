"""Vectors of the texts of a task, from models or as given."""

import numpy as np
import pytest

import fastrank as fr
from fastrank.embeddings.text_vectors import are_vectors, encode_task, vectors_of

PAIRS = fr.TextTask.from_texts(["aa", "b", "aa"], ["b", "ab", ""], labels=[1, 0, 1])


def lengths(texts):
    return [[len(text), text.count("b")] for text in texts]


def test_each_distinct_text_of_the_columns_is_encoded_once_after_a_trial():
    seen = []

    def model(texts):
        seen.extend(texts)
        return lengths(texts)

    first, second = encode_task(model, PAIRS)
    assert first.dtype == np.float32
    assert [first.tolist(), second.tolist()] == [lengths(texts) for texts in PAIRS.texts]
    # The first two texts and the shortest come first, to find errors in the model early.
    assert seen == ["aa", "b", "", "aa", "b", "ab", ""]


def test_encode_is_preferred_to_the_methods_of_one_side():
    class Model:
        def encode(self, texts):
            return lengths(texts)

        def encode_query(self, texts):
            raise AssertionError("these are no queries")

        encode_document = encode_query

    assert encode_task(Model(), PAIRS)[0].shape == (3, 2)


def test_vectors_are_cached(tmp_path):
    first = encode_task(lengths, PAIRS, cache=tmp_path, cache_name="lengths")
    (path,) = tmp_path.iterdir()

    def only_first(texts):
        assert len(texts) <= 2
        return lengths(texts)

    again = encode_task(only_first, PAIRS, cache=tmp_path, cache_name="lengths")

    assert path.name.startswith("lengths-texts-")
    assert [array.tolist() for array in again] == [array.tolist() for array in first]


@pytest.mark.parametrize("given", [np.eye(2), [[1.0, 2.0]], ([[1.0]], [[2.0]]), (np.eye(2),) * 2])
def test_vectors_are_no_model(given):
    assert are_vectors(given)
    assert vectors_of(given)[0].dtype == np.float32


@pytest.mark.parametrize("model", [lengths, (lengths, lengths), object(), "name", None])
def test_a_model_is_no_vectors(model):
    assert not are_vectors(model)


def test_an_unfitted_transformer_is_fitted_on_the_texts():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    (vectors, _) = encode_task(text.TfidfVectorizer(analyzer="char"), PAIRS)
    assert vectors.shape == (3, 2)
