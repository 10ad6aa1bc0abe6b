"""Results of retrieval frameworks as runs, and what their own metrics say, with real packages.

Each test of a package is skipped without it. Tried with llama-index-core 0.14.25, haystack-ai
3.4.1, langchain-core 1.8.3, ragas 0.4.3 (with langchain-community 0.3), deepeval 4.3.1, and mlflow
3.17.2, each in an environment of its own.
"""

from __future__ import annotations

import random
import warnings
from types import SimpleNamespace as Document
from typing import Any

import numpy
import pytest

import fastrank as fr
from fastrank.compat.retrieved import results_to_run
from tests.helpers.tables import refusing

# Expected and retrieved ids of queries, some of which found nothing relevant.
RANDOM = random.Random(0)
IDS = [f"n{i}" for i in range(12)]
LISTS = [
    (RANDOM.sample(IDS, RANDOM.randint(1, 6)), RANDOM.sample(IDS, RANDOM.randint(3, 9)))
    for _ in range(100)
]
EXPECTED, RETRIEVED = zip(*LISTS, strict=True)
TEXTS = {"c1": "the green apple", "c2": "a green pear", "c3": "the blue plum"}


def _ours(measure: str) -> Any:
    qrels = {str(i): dict.fromkeys(own, 1) for i, own in enumerate(EXPECTED)}
    run = {str(i): {one: -n for n, one in enumerate(own)} for i, own in enumerate(RETRIEVED)}
    values = fr.evaluate(qrels, run, measure).to_dict()
    return pytest.approx([values[query][measure] for query in qrels])


def test_a_document_is_an_object_a_pair_a_dict_or_an_id():
    document = Document(id="a", score=None, metadata={"key": 7})
    node = Document(node=Document(node_id="a", ref_doc_id="d", metadata={"key": 7}), score=0.5)
    for one in (
        node,
        (document, 0.5),
        ["a", 0.5],
        {"document.id": "a", "document.score": 0.5},
        {"id": "a", "score": 0.5, "content": ""},
    ):
        assert results_to_run({"q": [one]}).to_dict() == {"q": {"a": 0.5}}
    assert results_to_run({"q": [node]}, id="key").to_dict() == {"q": {"7": 0.5}}
    assert results_to_run({"q": [node]}, id=lambda own: own.ref_doc_id).to_dict() == {
        "q": {"d": 0.5}
    }
    assert results_to_run({"q": [(document, 3.0)]}, higher_is_better=False).scores.tolist() == [-3]
    assert results_to_run({"q": numpy.array([7])}, rank_by="given").to_dict() == {"q": {"7": -1}}
    ranked = results_to_run({"q": ["b", document]}, rank_by="given", tag="t")
    assert (ranked.to_dict(), ranked.tag) == ({"q": {"b": -1.0, "a": -2.0}}, "t")


def test_a_query_that_found_nothing_counts():
    run = results_to_run({"q1": [{"id": "a", "score": 1}], "q2": {"documents": []}})

    assert fr.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, run, "RR").mean == {"RR": 0.5}


def test_a_document_that_was_retrieved_twice_is_an_error_or_counts_once():
    run = results_to_run({"q": ["b", "a", "a"]}, rank_by="given")

    assert fr.evaluate({"q": {"a": 1}}, run, "RR R@3", duplicates="first").mean == {
        "RR": 0.5,
        "R@3": 1.0,
    }
    with pytest.raises(fr.FastrankError, match="query 'q': duplicate docs a"):
        fr.evaluate({"q": {"a": 1}}, run, "RR")


WITHOUT_ID = Document(id=None, score=1.0, metadata={"source": "x"})

test_errors_name_the_query_and_the_result = refusing("""InputError
results_to_run({"q": [{"id": "a", "score": 1}, WITHOUT_ID]}) =>
  results: query 'q', result 2: expected an id, found SimpleNamespace with the metadata source;
  id='NAME' takes it from the metadata
results_to_run({"q": [WITHOUT_ID]}, id="key") => ...result 1: expected 'key', found...
results_to_run({"q": [{"id": "a"}]}) => ...result 1: expected a score, found none...
results_to_run({"q": [{"id": "a", "score": "x"}]}) => ...result 1: expected a score...
results_to_run({"q": [object()]}) => ...expected an id, found object without
results_to_run({"q": [Document(metadata="x")]}, id="key") => ...'key', found...
results_to_run({"q": "text"}) => results: query 'q', expected a list of documents, found 'text'
results_to_run({"q": {"a": 0.5}}) => ...expected a list of documents, found {'a'...
results_to_run({None: ["a"]}, rank_by="given") => ...query None, expected an id...
results_to_run({1: [], "1": []}) => ...'1' and 1 are the same id...
results_to_run({"q": []}, rank_by="rank") => OptionError: rank_by: expected...
""")


def test_metrics_of_llama_index_are_ours():
    metrics = pytest.importorskip("llama_index.core.evaluation.retrieval.metrics")
    schema = pytest.importorskip("llama_index.core.schema")
    pairs = {
        "Success@9": metrics.HitRate(),
        "SetR": metrics.HitRate(use_granular_hit_rate=True),
        "RR": metrics.MRR(),
        "SetP": metrics.Precision(),
        "R@9": metrics.Recall(),
        "AP": metrics.AveragePrecision(),
        "nDCG": metrics.NDCG(),
    }
    for measure, theirs in pairs.items():
        assert [theirs.compute(None, *lists).score for lists in LISTS] == _ours(measure)

    node = schema.NodeWithScore(node=schema.TextNode(id_="c1", text="x"), score=0.5)
    assert results_to_run({"q1": [node]}).to_dict() == {"q1": {"c1": 0.5}}


def test_results_of_haystack_are_a_run_and_its_evaluators_agree():
    haystack = pytest.importorskip("haystack")
    evaluators = pytest.importorskip("haystack.components.evaluators")
    memory = pytest.importorskip("haystack.document_stores.in_memory")
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever

    store = memory.InMemoryDocumentStore()
    store.write_documents([haystack.Document(id=k, content=text) for k, text in TEXTS.items()])
    found = InMemoryBM25Retriever(store).run("green apple")
    run = results_to_run({"q1": found})
    assert run.to_dict() == {"q1": {own.id: own.score for own in found["documents"]}}
    assert next(iter(run["q1"])) == "c1"

    lists = [
        [[haystack.Document(id=one, content=one) for one in own] for own in side]
        for side in (EXPECTED, RETRIEVED)
    ]
    pairs = {
        "nDCG": evaluators.DocumentNDCGEvaluator(),
        "AP": evaluators.DocumentMAPEvaluator(),
        "RR": evaluators.DocumentMRREvaluator(),
        "Success@9": evaluators.DocumentRecallEvaluator(),
        "SetR": evaluators.DocumentRecallEvaluator(mode="multi_hit"),
    }
    for measure, theirs in pairs.items():
        assert theirs.run(*lists)["individual_scores"] == _ours(measure)


def test_results_of_langchain_are_a_run():
    """With similarities of the store, and without scores from the retriever."""
    core = pytest.importorskip("langchain_core.vectorstores")
    embeddings = pytest.importorskip("langchain_core.embeddings")

    store = core.InMemoryVectorStore(embeddings.DeterministicFakeEmbedding(size=8))
    ids = store.add_texts(TEXTS.values(), [{"source": key} for key in TEXTS], ids=list(TEXTS))
    found = store.similarity_search_with_score("the green apple", k=2)
    run = results_to_run({"q1": found}).to_dict()
    assert set(run["q1"]) < set(ids)
    assert run["q1"]["c1"] == pytest.approx(1.0)
    documents = store.as_retriever().invoke("the green apple")
    by_source = results_to_run({"q1": documents}, id="source", rank_by="given").to_dict()
    assert list(by_source["q1"]) == [document.id for document in documents]


def test_metrics_of_ragas_are_ours():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ragas = pytest.importorskip("ragas")
        metrics = pytest.importorskip("ragas.metrics")
        samples = [
            ragas.SingleTurnSample(
                reference_context_ids=expected,
                retrieved_context_ids=retrieved,
                reference_contexts=expected,
                retrieved_contexts=retrieved,
            )
            for expected, retrieved in LISTS
        ]
        exact = metrics.ExactMatch()
        pairs = {
            "SetP": metrics.IDBasedContextPrecision(),
            "SetR": metrics.IDBasedContextRecall(),
            "AP(denominator='relevant_retrieved')": metrics.NonLLMContextPrecisionWithReference(
                distance_measure=exact
            ),
        }
        for measure, theirs in pairs.items():
            assert [theirs.single_turn_score(sample) for sample in samples] == _ours(measure)


def test_test_cases_of_deepeval_have_texts_in_place_of_ids():
    test_case = pytest.importorskip("deepeval.test_case")

    texts = list(TEXTS.values())
    case = test_case.LLMTestCase(input="?", context=texts[1:2], retrieval_context=texts[:2])
    run = results_to_run({"0": case.retrieval_context}, rank_by="given")
    assert fr.evaluate(fr.Qrels.from_dict({"0": case.context}), run, "RR").mean == {"RR": 0.5}


def test_metrics_of_mlflow_are_ours_and_its_documents_are_a_run():
    """Its nDCG, too, if at least k were retrieved: the ideal ranking is as short as those."""
    pytest.importorskip("mlflow")
    from mlflow.entities import Document as Retrieved
    from mlflow.metrics import metric_definitions

    pairs = {
        "P(denominator='retrieved')@3": metric_definitions._precision_at_k_eval_fn(3),
        "R@3": metric_definitions._recall_at_k_eval_fn(3),
        "nDCG@3": metric_definitions._ndcg_at_k_eval_fn(3),
    }
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"found": list(RETRIEVED), "truth": list(EXPECTED)})
    for measure, theirs in pairs.items():
        assert theirs(table["found"], table["truth"]).scores == _ours(measure)
    documents = [Retrieved("x", id=one).to_dict() for one in "ab"]
    run = results_to_run({"q": documents}, rank_by="given")
    assert run.to_dict() == {"q": {"a": -1.0, "b": -2.0}}
