"""Vectors on disk: found again for the same texts, never for others, whole or not at all."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.errors import OptionError
from fastrank.vectors.embeddings.encoded_texts import EmbeddingCache, digest_of
from tests.helpers.strategies import examples

TEXTS = ["red", "blue", "green"]
VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


def cached(folder, texts=TEXTS):
    cache = EmbeddingCache(folder, "model")
    path = cache.path("corpus", "", texts)
    cache.write(path, len(texts), [VECTORS[:2], VECTORS[2:]])
    return cache, path


def test_vectors_are_found_again(tmp_path):
    """As a plain .npy file, mapped into memory."""
    _, path = cached(tmp_path)
    cache = EmbeddingCache(tmp_path, "model")
    found = cache.read(cache.path("corpus", "", list(TEXTS)), 3)
    assert isinstance(found, np.memmap)
    assert found.tolist() == VECTORS.tolist()
    assert np.load(path).tolist() == VECTORS.tolist()


@pytest.mark.parametrize(
    ("name", "side", "prompt", "texts"),
    [
        ("model", "corpus", "", ["red", "blue", "green!"]),
        ("model", "corpus", "", ["blue", "red", "green"]),
        ("model", "corpus", "", ["red", "blue"]),
        ("model", "corpus", "", ["redb", "lue", "green"]),
        ("model", "corpus", "passage: ", TEXTS),
        ("model", "queries", "", TEXTS),
        ("model 2", "corpus", "", TEXTS),
    ],
    ids=["changed", "order", "fewer", "moved", "prompt", "side", "name"],
)
def test_anything_else_has_another_file(tmp_path, name, side, prompt, texts):
    _, path = cached(tmp_path)
    assert EmbeddingCache(tmp_path, name).path(side, prompt, texts) != path


@examples(100)
@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_lists_have_the_same_digest_only_if_they_are_equal(one, two):
    assert (digest_of(one) == digest_of(two)) == (one == two)


@pytest.mark.parametrize("name", ["BAAI/bge-m3", "../up", ".", "a\0b", "é", "x" * 200])
def test_any_name_is_a_file_in_the_folder(tmp_path, name):
    cache = EmbeddingCache(tmp_path, name)
    path = cache.path("corpus", "", TEXTS)
    cache.write(path, 3, [VECTORS])
    assert [str(own) for own in tmp_path.iterdir()] == [path]


def of_arrays():
    file = io.BytesIO()
    np.savez(file, vectors=VECTORS)
    return file.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        *(lambda content, end=end: content[:end] for end in (0, 5, 100, -8, -1)),
        lambda content: content + b"\0",
        lambda content: content.replace(b"<f4", b"<f8"),
        lambda content: content.replace(b"(3, 2)", b"(4, 2)"),
        lambda content: of_arrays(),
    ],
)
def test_a_file_that_was_cut_or_grew_or_holds_something_else_is_not_used(tmp_path, change):
    cache, path = cached(tmp_path)
    Path(path).write_bytes(change(Path(path).read_bytes()))
    assert cache.read(path, 3) is None


def test_vectors_of_another_number_of_texts_are_not_used(tmp_path):
    cache, path = cached(tmp_path)
    assert cache.read(path, 4) is None
    np.save(path, VECTORS.astype(np.float64))
    assert cache.read(path, 3) is None


def test_nothing_is_left_of_what_was_not_finished(tmp_path):
    cache = EmbeddingCache(tmp_path, "model")

    def blocks():
        yield VECTORS[:2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.write(cache.path("corpus", "", TEXTS), 3, blocks())

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 201, "é" * 40, 3, None])
def test_a_name_that_no_file_can_have_is_an_error_at_once(tmp_path, name):
    with pytest.raises(OptionError, match="cache_name: expected a"):
        EmbeddingCache(tmp_path, name)


def test_a_folder_that_cannot_be_made_is_an_error_at_once(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        EmbeddingCache(tmp_path / "file" / "cache", "model")
