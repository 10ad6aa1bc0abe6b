"""The evaluator for sentence-transformers, beside the one they have, and in their trainer."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest
import pytrec_eval

from fastrank.compat.sentence_transformers import RankingEvaluator
from fastrank.errors import InputError, MeasureError, OptionError
from tests.helpers.tables import refusing

WORDS = ["red", "green", "blue", "round", "square", "small", "large", "old"]
CORPUS = {
    "d1": "red round",
    "d2": "green square small",
    "d3": "blue large large",
    "d4": "old red red",
    "d5": "small round old",
    "d6": "square large red green",
    "d7": "blue",
    "d8": "green blue old",
}
QUERIES = {"q1": "red large", "q2": "small", "q3": "old green", "q4": "round"}
RELEVANT = {"q1": {"d6", "d1"}, "q2": {"d5", "d2", "d7"}, "q3": {"d8"}}


class _Similarity:
    """An enum member, as far as its value goes."""

    value = "dot"


class _Words:
    """A model in the least sense: vectors of words, and a record of how it was called."""

    def __init__(self, similarity="cosine"):
        self.similarity_fn_name = similarity
        self.calls = []
        self.weights = np.linspace(1.0, 2.0, len(WORDS)) ** 2

    def encode(self, texts, **options):
        self.calls.append((texts, options))
        counts = [[text.split().count(word) + 0.01 for word in WORDS] for text in texts]
        return np.array(counts, np.float32) * self.weights.astype(np.float32)


class _TwoTowers(_Words):
    """A model that encodes queries and documents in different ways."""

    def encode_query(self, texts, **options):
        return self.encode(texts, kind="query", **options)

    def encode_document(self, texts, **options):
        return self.encode(texts, kind="document", **options)


def _run(model, score):
    queries, docs = model.encode(list(QUERIES.values())), model.encode(list(CORPUS.values()))
    return {
        query: {doc: float(score(own, one)) for doc, one in zip(CORPUS, docs, strict=True)}
        for query, own in zip(QUERIES, queries.astype(float), strict=True)
    }


def _cosine(one, other):
    return one @ other / np.linalg.norm(one) / np.linalg.norm(other)


def evaluator_of(measures="map", relevant=RELEVANT, **options):
    return RankingEvaluator(QUERIES, CORPUS, relevant, measures, **options)


def _mean(run, qrels, name):
    values = pytrec_eval.RelevanceEvaluator(qrels, {name}).evaluate(run)
    return sum(own[name] for own in values.values()) / len(values)


@pytest.mark.parametrize(
    ("similarity", "name", "score"),
    [
        ("cosine", "cosine", _cosine),
        (_Similarity(), "dot", lambda one, other: one @ other),
        ("euclidean", "euclidean", lambda one, other: -np.linalg.norm(one - other)),
        (None, "cosine", _cosine),
    ],
)
def test_metrics_are_those_of_all_pairs_by_the_similarity_of_the_model(similarity, name, score):
    """Which names the metrics; queries without relevant documents do not count."""
    model = _Words(similarity)
    found = evaluator_of("nDCG@3 P@2 R@5 Success@1 map")(model)
    qrels = {query: dict.fromkeys(docs, 1) for query, docs in RELEVANT.items()}
    run = _run(model, score)
    trec = {"ndcg@3": "ndcg_cut_3", "precision@2": "P_2", "recall@5": "recall_5", "map": "map"}
    trec["accuracy@1"] = "success_1"
    expected = {f"{name}_{key}": _mean(run, qrels, own) for key, own in trec.items()}
    assert found == pytest.approx(expected, abs=1e-12)


def test_relevance_may_be_graded():
    grades = {"q1": {"d6": 1, "d1": 3, "d3": 0}, "q3": {"d8": 2, "d7": 1}}
    model = _Words()
    found = evaluator_of("nDCG@10", grades)(model)
    expected = _mean(_run(model, _cosine), grades, "ndcg_cut_10")
    assert found == {"cosine_ndcg@10": pytest.approx(expected, abs=1e-12)}


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
@pytest.mark.parametrize(
    ("measures", "primary", "keys", "key", "greater"),
    [
        ("nDCG@2 nDCG@10 Rprec ndcg_cut.5", None, "ndcg@2 ndcg@10 Rprec ndcg@5", "ndcg@10", True),
        ("P.2 RR@10", None, "precision@2 mrr@10", "precision@2", True),
        ("recall.3 success.1", "success.1", "recall@3 accuracy@1", "accuracy@1", True),
        ("nDCG@10 LastRank", "LastRank", "ndcg@10 LastRank", "LastRank", False),
        ("RR percentile_rank", "percentile_rank", "RR percentile_rank", "percentile_rank", False),
    ],
)
def test_the_primary_metric_selects_the_best_model(
    measures, primary, keys, key, greater, similarity
):
    """The nDCG with the largest cutoff or the first measure, if nothing is said; of ranks the
    smaller is better. All keys begin with the name, then the similarity of the model."""
    evaluator = evaluator_of(measures, primary=primary, name="dev")
    assert (evaluator.primary_metric, evaluator.greater_is_better) == (None, greater)
    found = evaluator(_Words(similarity))
    assert evaluator.primary_metric == f"dev_{similarity}_{key}"
    assert list(found) == [f"dev_{similarity}_{own}" for own in keys.split()]
    assert all(type(value) is float for value in found.values())


def test_values_per_query_of_the_last_call_are_kept_and_the_metric_can_be_given():
    """For models whose similarity is another, or none."""
    evaluator = evaluator_of("RR@10", metric="ip")
    assert list(evaluator(_Words("manhattan"))) == ["dot_mrr@10"]
    assert evaluator.scores.queries == ["q1", "q2", "q3"]


@pytest.mark.parametrize(
    ("metric", "name"),
    [("dot", "dot"), ("cos", "cosine"), ("cosine_similarity", "cosine"), ("euclidean",) * 2],
)
def test_a_metric_may_have_its_other_names(metric, name):
    assert list(evaluator_of("RR@10", metric=metric)(_Words("cosine"))) == [f"{name}_mrr@10"]


def test_the_corpus_is_encoded_in_chunks_and_the_unjudged_queries_not_at_all():
    """With the options for the model passed on, and only those that were given."""
    model = _TwoTowers()
    whole = evaluator_of()(model)
    model.calls.clear()
    given = {"batch_size": 7, "truncate_dim": 8}
    prompts = {"query_prompt": "find: ", "corpus_prompt_name": "passage"}
    evaluator = evaluator_of(corpus_chunk_size=3, **given, **prompts)
    assert evaluator(model) == whole

    queries, docs = (
        [call for call in model.calls if call[1]["kind"] == kind] for kind in ("query", "document")
    )
    common = {"show_progress_bar": False, "convert_to_numpy": True, **given}
    texts = [QUERIES[query] for query in RELEVANT]
    assert queries == [(texts, {"kind": "query", "prompt": "find: ", **common})]
    assert [len(texts) for texts, _ in docs] == [3, 3, 2]
    assert docs[0][1] == {"kind": "document", "prompt_name": "passage", **common}
    assert evaluator.get_config_dict() == {"k": 1000, "truncate_dim": 8, **prompts}


def test_a_row_is_added_to_the_file_for_every_call(tmp_path):
    """Under the file name and titles that sentence-transformers use."""
    measures = "nDCG@10 AP(denominator='min_k')@5 AP(rel=2,judged_only=True)@5 P@1"
    evaluator = evaluator_of(measures, name="dev")

    found = [evaluator(_Words(), str(tmp_path / "eval"), epoch, 10) for epoch in (0.5, 1.0)]

    path = tmp_path / "eval" / "Information-Retrieval_evaluation_dev_results.csv"
    header, *rows = csv.reader(path.read_text("utf-8").splitlines())
    titles = "NDCG@10 MAP@5 AP(rel=2,judged_only=True)@5 Precision@1"
    assert header == ["epoch", "steps", *(f"cosine-{title}" for title in titles.split())]
    assert [row[:2] for row in rows] == [["0.5", "10"], ["1.0", "10"]]
    assert [list(map(float, row[2:])) for row in rows] == [list(own.values()) for own in found]


def test_a_file_with_other_columns_is_left_alone(tmp_path):
    """A row would stand under wrong titles; an error would end the training."""
    evaluator_of(write_csv=False)(_Words(), str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    evaluator_of()(_Words(), str(tmp_path))
    before = [path.read_text() for path in tmp_path.iterdir()]
    with pytest.warns(UserWarning, match=r"results\.csv: the row of epoch -1 was not written"):
        evaluator_of("P@1")(_Words(), str(tmp_path))
    assert [path.read_text() for path in tmp_path.iterdir()] == before


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"measures": "mapp"}, MeasureError, "unknown measure 'mapp'"),
        ({"measures": "nDCG@10 ndcg_cut.10"}, MeasureError, "have the same key 'ndcg@10'"),
        ({"primary": "P@2"}, MeasureError, "primary: expected one of Success@1, .*found 'P@2'"),
        ({"relevant_docs": {}}, InputError, "relevant_docs: no query has relevant documents"),
        ({"relevant_docs": {"q1": "d1"}}, InputError, "query 'q1': expected .* the id 'd1'"),
        ({"relevant_docs": {"q1": 5}}, InputError, "query 'q1': expected ids .*, found 5"),
        ({"corpus": {}}, InputError, "corpus: expected documents, found none"),
        ({"corpus": ["red"]}, TypeError, "corpus: expected a mapping from id, found list"),
        ({"measures": []}, MeasureError, "expected a measure, found none"),
        ({"relevance_level": float("nan")}, OptionError, "relevance_level: expected a finite"),
        ({"k": 0}, OptionError, "k: expected 1 or more, found 0"),
        ({"corpus_chunk_size": 0}, OptionError, "corpus_chunk_size: expected 1 or more"),
    ],
)
def test_what_is_impossible_is_said_before_a_model_is_trained(changed, error, message):
    given = {"queries": QUERIES, "corpus": CORPUS, "relevant_docs": RELEVANT, **changed}
    with pytest.raises(error, match=message):
        RankingEvaluator(**given)


class _Lossy(_Words):
    def encode(self, texts, **options):
        return super().encode(texts, **options)[1:]


test_a_model_that_cannot_be_evaluated_is_named = refusing("""OptionError
evaluator_of()(_Words("manhattan")) => metric: the model's similarity function is 'manhat...
evaluator_of()(_Lossy()) => ArrayError: query embeddings: expected 3 rows, one per text, found 2
""")

# What sentence-transformers and what they stand on warn about themselves.
of_others = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore:.*pin_memory.*:UserWarning"
)


def _model(seed=0):
    """A static model of random word vectors, made here: no hub is asked."""
    library = pytest.importorskip("sentence_transformers")
    torch = pytest.importorskip("torch")
    tokenizers = pytest.importorskip("tokenizers")
    from sentence_transformers.models import StaticEmbedding

    vocabulary = {word: i for i, word in enumerate([*WORDS, "[UNK]"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    torch.manual_seed(seed)
    static = StaticEmbedding(tokenizer, embedding_dim=16)
    return library.SentenceTransformer(modules=[static], device="cpu")


@of_others
@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_their_evaluator_gives_the_same_metrics(similarity, tmp_path):
    """Key for key, and column for column in the file, which both can write to."""
    pytest.importorskip("sentence_transformers")
    model = _model()
    model.similarity_fn_name = similarity
    theirs = _their_evaluator()(QUERIES, CORPUS, RELEVANT, name="dev")
    ours = RankingEvaluator(QUERIES, CORPUS, RELEVANT, name="dev")

    expected = model.evaluate(theirs, str(tmp_path))
    found = model.evaluate(ours, str(tmp_path))

    assert found == pytest.approx(expected, abs=1e-12)
    assert ours.primary_metric == theirs.primary_metric
    assert ours.csv_file == theirs.csv_file
    lines = (tmp_path / ours.csv_file).read_text().splitlines()
    assert [line.count(",") for line in lines] == [lines[0].count(",")] * 3
    one, other = (list(map(float, line.split(","))) for line in lines[1:])
    assert one == pytest.approx(other, abs=1e-12)


def _their_evaluator():
    try:
        from sentence_transformers.sentence_transformer.evaluation import (
            InformationRetrievalEvaluator,
        )
    except ImportError:
        from sentence_transformers.evaluation import InformationRetrievalEvaluator
    return InformationRetrievalEvaluator


@of_others
def test_the_model_card_holds_the_metrics():
    model = _model()
    evaluator = evaluator_of("RR@10", name="dev")
    found = evaluator(model)
    assert model.model_card_data.eval_results_dict == {evaluator: found}


@of_others
def test_the_trainer_keeps_the_best_checkpoint_by_the_metric(tmp_path):
    """load_best_model_at_end by a metric of the evaluator, one row of the file an evaluation."""
    library = pytest.importorskip("sentence_transformers")
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("accelerate")
    from sentence_transformers import losses

    pairs = [(QUERIES[query], CORPUS[doc]) for query, docs in RELEVANT.items() for doc in docs]
    anchors, positives = map(list, zip(*pairs, strict=True))
    data = datasets.Dataset.from_dict({"anchor": anchors, "positive": positives})
    model = _model(3)
    metric = "eval_dev_cosine_mrr@10"
    options = {"num_train_epochs": 3, "learning_rate": 0.05, "per_device_train_batch_size": 6}
    options |= {"eval_strategy": "epoch", "save_strategy": "epoch", "report_to": "none"}
    options |= {"load_best_model_at_end": True, "metric_for_best_model": metric}
    options |= {"output_dir": str(tmp_path), "disable_tqdm": True, "use_cpu": True}
    arguments = library.SentenceTransformerTrainingArguments(**options)
    evaluator = evaluator_of("RR@10 nDCG@10", name="dev", primary="RR@10")
    trainer = library.SentenceTransformerTrainer(
        model,
        arguments,
        train_dataset=data,
        evaluator=evaluator,
        loss=losses.MultipleNegativesRankingLoss(model),
    )

    trainer.train()

    logged = [log[metric] for log in trainer.state.log_history if metric in log]
    assert len(logged) == 3
    assert trainer.state.best_metric == max(logged)
    assert evaluator(model)["dev_cosine_mrr@10"] == max(logged)


@pytest.mark.parametrize(
    ("options", "expected", "noted"),
    [
        ({}, 1 / 3, True),
        # As in sentence-transformers, the document whose id sorts earlier comes first.
        ({"ties": "docno_asc"}, 1.0, True),
        ({"ties": "average"}, (1 + 1 / 2 + 1 / 3) / 3, False),
        ({"ties": "docno_asc", "exclude": {"q": ["a"]}}, 0.0, False),
        ({"judged_only": True}, 1.0, False),
        ({"depth": 2}, 0.0, False),
    ],
)
def test_the_options_of_evaluations_apply(options, expected, noted, caplog):
    """To a model that finds all documents equally similar."""
    corpus = {"a": "red", "b": "green", "c": "blue"}
    evaluator = RankingEvaluator({"q": "red"}, corpus, {"q": {"a"}}, "RR", **options)
    metrics = evaluator(SimpleNamespace(encode=lambda texts, **_: np.ones((len(texts), 2))))
    assert list(metrics.values()) == pytest.approx([expected])
    assert ("depends on tied scores: 0.3333 to 1.0000" in caplog.text) == noted
