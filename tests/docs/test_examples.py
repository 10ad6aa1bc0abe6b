"""The four published pipelines: each example computes what the published code computes.

The twins are that code, written anew with faiss, numpy and scikit-learn, query by query.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from tests.helpers.code_blocks import REPOSITORY

faiss = pytest.importorskip("faiss")
metrics = pytest.importorskip("sklearn.metrics")
EXAMPLES = REPOSITORY / "docs" / "examples"
COLLECTIONS = REPOSITORY.parent / "shared" / "data" / "collections"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module


def mean(values: list[float]) -> float:
    """Summed one after the other, as trec_eval does."""
    return sum(values, 0.0) / len(values)


def raw_search(corpus: Any, queries: Any, k: int, batch_size: int = 256) -> tuple[Any, Any]:
    """What faiss itself finds."""
    index = faiss.index_factory(corpus.shape[1], "Flat", faiss.METRIC_INNER_PRODUCT)
    index.train(corpus)
    index.add(corpus)
    found = [
        index.search(queries[i : i + batch_size], k) for i in range(0, len(queries), batch_size)
    ]
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


@pytest.mark.parametrize(
    "name", ["similar_articles", "embedding_model", "passage_retrieval", "answer_selection"]
)
def test_each_example_is_a_program(name: str, tmp_path: Path) -> None:
    """It runs without a warning and prints what it computes."""
    pytest.importorskip("pydoc_data.topics")
    found = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py")],
        cwd=tmp_path, env={"PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip

    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout


def similar_articles(articles: list[dict[str, Any]], vectors: Any) -> dict[str, float]:
    """`RetrievalEval` of document-embedding evaluations on Wikipedia: the first hit is dropped, as
    that of the query itself, and what it finds is compared with the labels."""
    ids = [article["id"] for article in articles]
    normed = vectors / np.linalg.norm(vectors, axis=1).reshape(-1, 1)
    _, rows = raw_search(normed, normed, len(ids))
    reciprocal, percentiles, precisions, gains = [], [], [], []
    hits: dict[int, list[float]] = {5: [], 10: []}
    for _, article, found in sorted(zip(ids, articles, rows, strict=True), key=lambda own: own[0]):
        true = article["similar"]
        if not true:
            continue
        pred = [ids[row] for row in found][1:]
        last = len(pred)
        ranks = [rank for rank, own in enumerate(pred, 1) if own in true]
        reciprocal.append(1 / min(ranks, default=last))
        percentiles += [(rank - 1) / (last - 1) for rank in ranks]
        for k, own in hits.items():
            own.append(sum(rank <= k for rank in ranks) / len(true))
        relevant, order = np.isin(pred, true), np.linspace(1, 0, last)
        hit = any(relevant)
        precisions.append(metrics.average_precision_score(relevant, order) if hit else 0.0)
        gains.append(metrics.ndcg_score([relevant], [order], ignore_ties=True))
    return {
        "RR": mean(reciprocal), "PercentileRank": mean(percentiles),
        **{f"HitRatio@{k}": mean(own) for k, own in hits.items()},
        "AP(norm='retrieved')": mean(precisions), "nDCG": mean(gains),
    }  # fmt: skip


def test_similar_articles_are_evaluated_as_published(load: Any) -> None:
    pytest.importorskip("pydoc_data.topics")
    example = load("similar_articles")
    articles = example.help_topics()
    texts = [article["text"] for article in articles]
    vectors = load("stdlib_texts").encoder(texts)(texts)

    found = example.evaluate(articles, vectors).mean

    wanted = similar_articles(articles, vectors)
    counted = ("RR", "HitRatio@5", "HitRatio@10")
    assert [found[name] for name in counted] == [wanted[name] for name in counted]
    assert found == pytest.approx(wanted, rel=1e-14)


def test_articles_with_the_same_text_do_not_take_each_others_place(load: Any) -> None:
    """The published code drops what stands first, which may be the copy: ours drops the query."""
    example = load("similar_articles")
    articles = [
        {"id": "a", "similar": ["b"]}, {"id": "b", "similar": ["a"]}, {"id": "c", "similar": []},
    ]  # fmt: skip
    vectors = np.array([[1, 0], [1, 0], [0.5, 0.5]], "float32")

    assert example.evaluate(articles, vectors).mean["RR"] == 1.0
    assert similar_articles(articles, vectors)["RR"] == 0.75


def tutorial(
    positives: list[list[str]], queries: Any, corpus: list[str], vectors: Any
) -> dict[str, float]:
    """Step 4 and 5 of FlagEmbedding's tutorial, with the recall it describes (hits over
    min(k, positives)) and the one it prints (Success)."""
    scores, rows = raw_search(vectors, queries, 10)
    texts = np.asarray(corpus, object)[rows]
    found: dict[str, list[float]] = {}
    for text, truth in zip(texts, positives, strict=True):
        for k in (1, 10):
            hits = np.intersect1d(truth, text[:k])
            first = next((1 / j for j, own in enumerate(text[:k], 1) if own in truth), 0.0)
            found.setdefault(f"RCap@{k}", []).append(len(hits) / max(min(k, len(set(truth))), 1))
            found.setdefault(f"Success@{k}", []).append(
                len(hits) / max(min(len(hits), len(truth)), 1)
            )
            found.setdefault(f"RR@{k}", []).append(first)
    hard = [np.isin(text, truth).astype(int) for text, truth in zip(texts, positives, strict=True)]
    return {
        **{name: mean(values) for name, values in found.items()},
        **{f"nDCG@{k}": metrics.ndcg_score(hard, scores, k=k) for k in (1, 10)},
    }


def in_byte_order(count: int) -> list[int]:
    """Row numbers in the order in which queries with these ids are summed."""
    return sorted(range(count), key=str)


def check_tutorial(example: Any, positives: Any, queries: Any, corpus: Any, vectors: Any) -> None:
    # The tutorial ranks passages with equal scores as faiss happens to.
    scores, _ = raw_search(vectors, queries, 11)
    untied = np.flatnonzero((np.diff(scores) < 0).all(axis=1))
    assert len(untied) > 0.8 * len(queries)
    positives, queries = [positives[i] for i in untied], queries[untied]
    order = in_byte_order(len(positives))
    found = example.evaluate(positives, queries, corpus, vectors)
    own = example.ndcg_of_retrieved(positives, queries, corpus, vectors).mean

    wanted = tutorial([positives[i] for i in order], queries[order], corpus, vectors)

    assert found.counts["cut"] == 0
    for name in ("RCap@1", "RCap@10", "RR@1", "RR@10", "Success@1", "Success@10"):
        assert found.mean[name] == wanted[name]
    assert own == pytest.approx({k: wanted[k] for k in ("nDCG@1", "nDCG@10")}, rel=1e-13)
    _, rows = raw_search(vectors, queries, 10)
    gains = [
        ndcg([corpus[row] in positives[i] for row in rows[i]], len(positives[i])) for i in order
    ]
    assert found.mean["nDCG@10"] == pytest.approx(mean(gains), rel=1e-14)


def ndcg(relevant: list[bool], positives: int) -> float:
    """nDCG@10 by its definition: the ideal ranking has all positives first."""
    discount = 1 / np.log2(np.arange(2, 12))
    return float(discount[np.flatnonzero(relevant)].sum() / discount[:positives].sum())


def test_an_embedding_model_is_evaluated_as_in_the_tutorial(load: Any) -> None:
    texts = load("stdlib_texts")
    asked = [entry for entry in texts.entries() if entry.paragraphs]
    positives = [list(dict.fromkeys(own.paragraphs)) for own in asked]
    corpus = list(dict.fromkeys(text for own in positives for text in own))
    queries = [own.summary for own in asked]
    encode = texts.encoder(corpus + queries)

    check_tutorial(load("embedding_model"), positives, encode(queries), corpus, encode(corpus))


def test_so_it_is_with_a_real_model_on_a_real_collection(load: Any) -> None:
    """Vaswani, with the static embeddings that the package wordllama ships."""
    wordllama = pytest.importorskip("wordllama")
    if not (COLLECTIONS / "vaswani").exists():
        pytest.skip("the collection is not here")
    folder = COLLECTIONS / "vaswani"
    data = fr.Dataset.from_files(
        folder / "corpus.trec", folder / "queries.trec", folder / "qrels.txt"
    )
    texts = dict(zip(data.corpus_ids, data.corpus[:], strict=True))
    judged = data.qrels.to_dict()
    positives = [
        list(dict.fromkeys(texts[doc] for doc, grade in judged[query].items() if grade > 0))
        for query in data.query_ids
    ]
    corpus = list(dict.fromkeys(text for own in positives for text in own))
    model = wordllama.WordLlama.load(
        dim=256, cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )

    def encode(own: Any) -> Any:
        return np.ascontiguousarray(model.embed(list(own), norm=True), "float32")

    queries = encode(data.queries[:])
    check_tutorial(load("embedding_model"), positives, queries, corpus, encode(corpus))


def test_passages_are_retrieved_mined_and_their_loss_computed_as_by_dpr(
    load: Any, tmp_path: Path
) -> None:
    special = pytest.importorskip("scipy.special")
    example, asked = load("passage_retrieval"), load("stdlib_texts").entries()[:400]
    asked = [own for own in asked if own.paragraphs]
    questions = {own.name: own.summary for own in asked}
    passages = {f"{own.name}#{i}": t for own in asked for i, t in enumerate(own.paragraphs)}
    gold = {own.name: {f"{own.name}#{i}": 1 for i in range(len(own.paragraphs))} for own in asked}
    answers = {own.name: [own.name.rpartition(".")[2]] for own in asked}

    run = example.retrieve(questions, passages)
    by_answer = example.answered(answers, gold, passages)
    found = fr.evaluate(by_answer, run, example.ACCURACY).mean

    of_question, of_passage = example.encoders(list(passages.values()))
    vectors = [of_passage(list(passages.values())), of_question(list(questions.values()))]
    scores, rows = raw_search(vectors[0], vectors[1], 100)
    ids = list(passages)
    # Of equal scores the larger id is first here.
    for own, score in zip(rows, scores, strict=True):
        known = dict(zip(own.tolist(), score.tolist(), strict=True))
        own[:] = sorted(own, key=lambda row, known=known: (known[row], ids[row]), reverse=True)
    top_k_hits = [0] * 100
    for name, own in zip(questions, rows, strict=True):
        (answer,) = answers[name]
        hits = [example.words(answer) in example.words(passages[ids[row]]) for row in own]
        best = next((i for i, hit in enumerate(hits) if hit), None)
        if best is not None:
            top_k_hits[best:] = [count + 1 for count in top_k_hits[best:]]
    accuracy = {f"Success@{k}": top_k_hits[k - 1] / len(questions) for k in (1, 5, 20, 100)}
    assert found == accuracy

    mined = fr.hard_negatives(run, gold, 5, skip_top=2)
    mined.write(tmp_path / "train.json", corpus=passages, queries=questions, answers=answers)
    records = json.loads((tmp_path / "train.json").read_text())
    wanted = {
        name: [ids[row] for row in own[2:] if ids[row] not in gold[name]][:5]
        for name, own in zip(questions, rows, strict=True)
    }
    assert {
        record["question_id"]: [own["passage_id"] for own in record["hard_negative_ctxs"]]
        for record in records
    } == wanted
    assert all(record["question"] == questions[record["question_id"]] for record in records)

    losses = []
    for name, own, score in sorted(zip(questions, rows, scores, strict=True), key=lambda o: o[0]):
        positive = np.array([ids[row] in gold[name] for row in own])
        score = np.sort(score.astype("float64"))[::-1]
        if positive.any():
            rest = special.logsumexp(score[~positive])
            losses.append(np.mean(np.logaddexp(score[positive], rest) - score[positive]))
    loss = fr.negative_log_likelihood(gold, run, positives="alone").mean["NLL"]
    assert loss == pytest.approx(np.mean(losses), rel=1e-12)


def test_answers_are_selected_as_trec_eval_and_others_measure_it(load: Any, tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    example = load("answer_selection")
    (tmp_path / "table.tsv").write_bytes(example.table())
    candidates = fr.load_candidates(tmp_path / "table.tsv")
    fr.write_qrels(candidates.qrels, tmp_path / "qrels.txt")
    with (tmp_path / "qrels.txt").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    assert 0 < len(candidates.unanswered) < len(qrels)

    for model in (example.by_words, example.by_tfidf, example.by_length):
        run = candidates.run(model(candidates.pairs), tag=model.__name__)
        fr.write_run(run, tmp_path / "run.txt")
        with (tmp_path / "run.txt").open() as file:
            ranked = pytrec_eval.parse_run(file)

        for depth in (None, 3):
            found = example.mean_average_precisions(candidates.qrels, run, depth)

            assert found == pytest.approx(
                average_precisions(pytrec_eval, qrels, ranked, depth), rel=1e-14
            )


def average_precisions(
    pytrec_eval: Any, qrels: Any, run: Any, depth: int | None
) -> dict[str, float]:
    """The three by trec_eval itself and by scikit-learn."""
    rankings = {
        query: sorted(own, key=lambda doc, own=own: (np.float32(own[doc]), doc), reverse=True)
        for query, own in run.items()
    }
    cut = {query: {doc: run[query][doc] for doc in own[:depth]} for query, own in rankings.items()}
    values = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(cut)
    retrieved = []
    for query in sorted(rankings):
        labels = [qrels[query][doc] for doc in rankings[query][:depth]]
        order = range(len(labels), 0, -1)
        hit = any(labels)
        retrieved.append(metrics.average_precision_score(labels, order) if hit else 0.0)
    own = [values[query]["map"] for query in sorted(values)]
    answered = [values[query]["map"] for query in sorted(values) if any(qrels[query].values())]
    return {
        "trec_eval": mean(own), "of those retrieved": mean(retrieved),
        "questions with an answer": mean(answered),
    }  # fmt: skip
