"""The search back end for MTEB beside the one that MTEB has, and in MTEB's own evaluation."""

import enum

import numpy as np
import pytest

from fastrank.compat.mteb import SearchIndex
from fastrank.errors import ArrayError, InputError, OptionError
from tests.helpers.searches import scores_of

faiss = pytest.importorskip("faiss")


class _Similarity(enum.Enum):
    """MTEB's ScoringFunction, as far as a back end looks at it."""

    COSINE = "cosine"
    DOT_PRODUCT = "dot"
    EUCLIDEAN = "euclidean"
    MANHATTAN = "manhattan"


class _Model:
    """What MTEB's encoders have that a back end looks at."""

    def __init__(self, similarity):
        self.mteb_model_meta = self
        self.similarity_fn_name = similarity


def _vectors(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, 8), np.float32)


def _similarities(kind, queries, docs):
    if kind == "euclidean":
        return -np.sqrt(-scores_of("l2", queries, docs))
    return scores_of(kind, queries, docs)


@pytest.mark.parametrize("similarity", list(_Similarity)[:3])
def test_scores_and_places_are_those_of_all_pairs(similarity):
    """By the similarity function of the model; documents come in two parts, queries in batches."""
    docs, queries = _vectors(30), _vectors(7, seed=1)
    index = SearchIndex(_Model(similarity), batch_size=3)
    index.add_documents(docs[:20], [f"d{i}" for i in range(20)])
    index.add_documents(docs[20:], [f"d{i}" for i in range(20, 30)])

    scores, places = index.search(queries, 5, None)

    expected = _similarities(similarity.value, queries, docs)
    order = np.argsort(-expected, axis=1)[:, :5]
    assert places == order.tolist()
    assert np.array(scores) == pytest.approx(np.take_along_axis(expected, order, 1), abs=1e-5)


@pytest.mark.parametrize("similarity", list(_Similarity)[:3])
def test_reranking_gives_places_in_the_lists_of_the_queries(similarity):
    """As MTEB reads them; a query's list may be shorter than what is asked for."""
    docs, queries = _vectors(30), _vectors(2, seed=1)
    index = SearchIndex(_Model(similarity))
    index.add_documents(docs, [f"d{i}" for i in range(30)])
    lists = {"q0": ["d9", "d3", "d27", "d5"], "q1": ["d4", "d8"]}

    scores, places = index.search(queries, 3, None, lists, {0: "q0", 1: "q1"})

    for own, found, query, ids in zip(scores, places, queries, lists.values(), strict=True):
        candidates = docs[[int(name[1:]) for name in ids]]
        expected = _similarities(similarity.value, query[None], candidates)[0]
        assert found == np.argsort(-expected)[:3].tolist()
        assert own == pytest.approx(np.sort(expected)[::-1][:3], abs=1e-5)


@pytest.mark.parametrize("lists", [1, 4])
def test_any_index_of_faiss_is_one(lists):
    """Where it searches everything, it finds what exact search finds; nothing stands in the results
    for what it does not find: faiss says -1, which is the last document to MTEB."""
    docs, queries = _vectors(200), _vectors(4, seed=1)
    found = []
    for options in ({}, {"index_factory": "IVF4,Flat", "parameters": f"nprobe={lists}"}):
        index = SearchIndex(metric="l2", **options)
        index.add_documents(docs, [str(i) for i in range(200)])
        found.append(index.search(queries, 200, None))
    (_, exact), (scores, places) = found
    assert list(map(len, scores)) == list(map(len, places))
    if lists == 4:
        assert places == exact
    for own, whole in zip(places, exact, strict=True):
        assert own == [place for place in whole if place in own]
        assert len(own) == 200 if lists == 4 else 0 < len(own) < 200


def test_documents_are_gone_after_clear_and_the_embeddings_stay_as_they_were():
    docs, queries = _vectors(5), _vectors(2, seed=1)
    before = docs.copy(), queries.copy()
    index = SearchIndex(metric="cosine")
    index.add_documents(docs, list("abcde"))
    index.search(queries, 2, None)
    assert (docs == before[0]).all()
    assert (queries == before[1]).all()
    index.clear()
    with pytest.raises(InputError, match="no documents were added"):
        index.search(queries, 1, None)
    index.add_documents([[1.0], [2.0]], ["b", "c"])
    assert index.search([[1.0]], 5, None)[1] == [[1, 0]]


def test_a_query_without_documents_to_rerank_finds_none():
    """There is a warning, as in MTEB's own back end."""
    index = SearchIndex(metric="ip")
    index.add_documents([[1.0]], ["a"])
    with pytest.warns(UserWarning, match="query 'q' has no documents to rerank"):
        assert index.search([[1.0]], 1, None, {}, {0: "q"}) == ([[]], [[]])


def test_what_cannot_be_searched_is_named():
    """Similarity, documents, reranking."""
    with pytest.raises(OptionError, match="metric: the model's similarity function is 'manhat"):
        SearchIndex(_Model(_Similarity.MANHATTAN))
    with pytest.raises(OptionError, match="metric: expected 'ip', 'l2' or 'cosine'"):
        SearchIndex(metric="dot")
    index = SearchIndex(metric="ip")
    with pytest.raises(ArrayError, match="idxs: expected 1, one per row of embeddings, found 2"):
        index.add_documents([[1.0]], ["a", "b"])
    index.add_documents([[1.0]], ["a"])
    with pytest.raises(ArrayError, match="embeddings: expected 1 columns, as before, found 2"):
        index.add_documents([[1.0, 2.0]], ["b"])
    with pytest.raises(InputError, match="query_idx_to_id: required with top_ranked"):
        index.search([[1.0]], 1, None, {"q": ["a"]})
    with pytest.raises(InputError, match="query 'q': document 'b' was not added"):
        index.search([[1.0]], 1, None, {"q": ["b"]}, {0: "q"})
    with pytest.raises(ArrayError, match="expected 1 columns, as in the corpus, found 2"):
        index.search([[1.0, 2.0]], 1, None)


# What mteb and its dependencies warn about themselves.
_OF_OTHERS = (
    "ignore::DeprecationWarning",
    "ignore::FutureWarning",
    "ignore::ImportWarning",
    "ignore::pydantic.warnings.PydanticDeprecatedSince20",
)


@pytest.mark.parametrize("task", ["MockRetrievalTask", "MockRerankingTask"])
def test_mteb_gets_the_scores_of_its_own_back_end(task):
    """In a whole evaluation: retrieval and reranking with a random encoder."""
    mteb = pytest.importorskip("mteb")
    tasks = pytest.importorskip("mteb.mocks.mock_tasks")
    indexes = pytest.importorskip("mteb.models.search_encoder_index.search_indexes")
    model = mteb.get_model("mteb/baseline-random-encoder")
    found = []
    for index in (SearchIndex(model), indexes.FaissSearchIndex(model)):
        wrapper = mteb.models.SearchEncoderWrapper(model, index_backend=index)
        result = mteb.evaluate(wrapper, getattr(tasks, task)(), cache=None, co2_tracker=False)
        scores = result.task_results[0].scores["test"][0]
        found.append({k: v for k, v in scores.items() if isinstance(v, float)})

    assert found[0]["ndcg_at_10"] > 0
    assert found[0] == pytest.approx(found[1], nan_ok=True)
