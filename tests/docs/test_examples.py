"""The examples are programs. Those of published pipelines compute what the published code computes.

The twins are that code, written anew with faiss, numpy and scikit-learn, query by query.
"""

from __future__ import annotations

import importlib
import io
import json
import re
import runpy
import sys
from typing import Any

import numpy as np
import pytest

import fastrank as fr
import fastrank.datasets
from tests.helpers.code_blocks import REPOSITORY
from tests.helpers.parsing import write_trec_qrels, write_trec_run

faiss = pytest.importorskip("faiss")
metrics = pytest.importorskip("sklearn.metrics")
threadpoolctl = pytest.importorskip("threadpoolctl")
EXAMPLES = REPOSITORY / "docs" / "examples"
# Enough texts for the example that trains many classifiers.
FEWER_MODULES = (
    "argparse asyncio collections email.message inspect logging os pathlib shutil socket"
    " statistics string subprocess tarfile tempfile threading types unittest"
)


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
    "name",
    [
        *("similar_articles", "embedding_model", "passage_retrieval", "answer_selection"),
        *("beyond_retrieval", "sentence_tasks"),
    ],
)
def test_each_example_is_a_program(name, load, tmp_path, monkeypatch, capsys):
    """It runs without a warning and prints what it computes."""
    pytest.importorskip("pydoc_data.topics")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name])
    if name == "beyond_retrieval":
        monkeypatch.setattr(load("stdlib_texts"), "MODULES", FEWER_MODULES)

    # Where other programs run, many threads wait for each other.
    with threadpoolctl.threadpool_limits(1):
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")

    found = capsys.readouterr()
    assert found.err == ""
    assert found.out


def similar_articles(articles: list[dict[str, Any]], vectors: Any) -> tuple[dict[str, float], ...]:
    """The evaluation of the thesis, by its text and by its later code: the first hit is dropped, as
    that of the query itself, and what it finds is compared with the labels."""
    ids = [article["id"] for article in articles]
    normed = vectors / np.linalg.norm(vectors, axis=1).reshape(-1, 1)
    _, rows = raw_search(normed, normed, len(ids))
    reciprocal, by_gold, percentiles, precisions, gains = [], [], [], [], []
    hits: dict[int, list[float]] = {5: [], 10: []}
    all_ranks: list[int] = []
    for _, article, found in sorted(zip(ids, articles, rows, strict=True), key=lambda own: own[0]):
        true = [own["id"] for own in article.get("labels", [])]
        if not true:
            continue
        pred = [ids[row] for row in found][1:]
        last = len(pred)
        ranks = [rank for rank, own in enumerate(pred, 1) if own in true]
        all_ranks += ranks
        reciprocal.append(1 / min(ranks, default=last))
        by_gold += [rank / len(true) for rank in ranks]
        percentiles += [(rank - 1) / (last - 1) for rank in ranks]
        for k, own in hits.items():
            own.append(sum(rank <= k for rank in ranks) / len(true))
        relevant, order = np.isin(pred, true), np.linspace(1, 0, last)
        hit = any(relevant)
        precisions.append(metrics.average_precision_score(relevant, order) if hit else 0.0)
        gains.append(metrics.ndcg_score([relevant], [order], ignore_ties=True))
    micro = "HitRatio(average='micro',denominator='relevant_retrieved')"
    by_text = {"RR": mean(reciprocal), "PercentileRank(denominator='relevant')": mean(by_gold)}
    by_code = {"RR": mean(reciprocal), "PercentileRank": mean(percentiles)}
    for k, own in hits.items():
        by_text[f"{micro}@{k}"] = sum(rank <= k for rank in all_ranks) / len(all_ranks)
        by_code[f"HitRatio@{k}"] = mean(own)
    by_code["AP(denominator='relevant_retrieved')"] = mean(precisions)
    by_code["nDCG"] = mean(gains)
    return by_text, by_code


def test_similar_articles_are_evaluated_as_published(load):
    pytest.importorskip("pydoc_data.topics")
    example = load("similar_articles")
    articles = example.help_topics()
    texts = [article["text"] for article in articles]
    vectors = load("stdlib_texts").encoder(texts)(texts)

    found = [example.evaluate(articles, vectors, own) for own in (example.MEASURES, example.LATER)]

    wanted = similar_articles(articles, vectors)
    for own, expected in zip(found, wanted, strict=True):
        assert own.mean == pytest.approx(expected, rel=1e-14)
    counted = ("RR", "HitRatio@5", "HitRatio@10")
    assert [found[1].mean[name] for name in counted] == [wanted[1][name] for name in counted]


def test_articles_with_the_same_text_do_not_take_each_others_place(load):
    """The published code drops what stands first, which may be the copy: ours drops the query."""
    example = load("similar_articles")
    labels = {"a": [{"id": "b"}], "b": [{"id": "a"}], "c": []}
    articles = [{"id": name, "labels": own} for name, own in labels.items()]
    vectors = np.array([[1, 0], [1, 0], [0.5, 0.5]], "float32")

    assert example.evaluate(articles, vectors).mean["RR"] == 1.0
    assert similar_articles(articles, vectors)[0]["RR"] == 0.75


def tutorial(
    positives: list[list[str]], queries: Any, corpus: list[str], vectors: Any
) -> dict[str, float]:
    """Steps 4 and 5 of FlagEmbedding's tutorial."""
    scores, rows = raw_search(vectors, queries, 10)
    texts = np.asarray(corpus, object)[rows]
    found: dict[str, list[float]] = {}
    for text, truth in zip(texts, positives, strict=True):
        for k in (1, 10):
            hits = np.intersect1d(truth, text[:k])
            first = next((1 / j for j, own in enumerate(text[:k], 1) if own in truth), 0.0)
            found.setdefault(f"RCap@{k}", []).append(len(hits) / max(min(k, len(truth)), 1))
            found.setdefault(f"RR@{k}", []).append(first)
    hard = [np.isin(text, truth).astype(int) for text, truth in zip(texts, positives, strict=True)]
    return {
        **{name: mean(values) for name, values in found.items()},
        **{f"nDCG@{k}": metrics.ndcg_score(hard, scores, k=k) for k in (1, 10)},
    }


def in_byte_order(count: int) -> list[int]:
    """Row numbers in the order in which queries with these ids are summed."""
    return sorted(range(count), key=str)


def check_tutorial(example: Any, rows: list[dict[str, Any]], encode: Any) -> None:
    data = fr.Dataset.from_pairs(rows)
    vectors, queries = encode(data.corpus), encode(data.queries)
    # The tutorial ranks passages with equal scores as faiss happens to.
    scores, _ = raw_search(vectors, queries, 11)
    untied = np.flatnonzero((np.diff(scores) < 0).all(axis=1))
    assert len(untied) > 0.8 * len(queries)
    data = fr.Dataset.from_pairs([rows[i] for i in untied], corpus=data.corpus)
    queries, index = queries[untied], example.flat_index(vectors)
    found = example.evaluate(data, queries, index)

    order = in_byte_order(len(untied))
    positives = [rows[untied[i]]["positive"] for i in order]
    wanted = tutorial(positives, queries[order], data.corpus, vectors)

    assert found.counts["ties_at_cutoff"] == 0
    assert {name: found.mean[name] for name in wanted if "nDCG" not in name} == {
        name: value for name, value in wanted.items() if "nDCG" not in name
    }
    assert [found.mean[f"{example.NDCG}@{k}"] for k in (1, 10)] == pytest.approx(
        [wanted[f"nDCG@{k}"] for k in (1, 10)], rel=1e-13
    )


def test_an_embedding_model_is_evaluated_as_in_the_tutorial(load):
    texts = load("stdlib_texts")
    rows = [
        {"query": own.summary, "positive": list(dict.fromkeys(own.paragraphs))}
        for own in texts.entries()
        if own.paragraphs
    ]
    encode = texts.encoder([text for row in rows for text in (row["query"], *row["positive"])])

    check_tutorial(load("embedding_model"), rows, encode)


def has_answer(answer: str, text: str) -> bool:
    """Whether the tokens of the answer are in the text, one after the other; for ASCII."""
    wanted, tokens = (re.findall(r"[^\W_]+|[^\w\s]|_", own.lower()) for own in (answer, text))
    return any(tokens[i : i + len(wanted)] == wanted for i in range(len(tokens)))


def test_passages_are_retrieved_mined_and_their_loss_computed_as_by_dpr(load, tmp_path):
    special = pytest.importorskip("scipy.special")
    example, asked = load("passage_retrieval"), load("stdlib_texts").entries()[:400]
    asked = [own for own in asked if own.paragraphs]
    questions = {own.name: own.summary for own in asked}
    passages = {f"{own.name}#{i}": t for own in asked for i, t in enumerate(own.paragraphs)}
    gold = {own.name: {f"{own.name}#{i}": 1 for i in range(len(own.paragraphs))} for own in asked}
    answers = {own.name: [own.name.rpartition(".")[2]] for own in asked}

    run = example.retrieve(questions, passages)
    by_answer = fastrank.datasets.answer_qrels(answers, run, passages)
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
        hits = [has_answer(answer, passages[ids[row]]) for row in own]
        best = next((i for i, hit in enumerate(hits) if hit), None)
        if best is not None:
            top_k_hits[best:] = [count + 1 for count in top_k_hits[best:]]
    accuracy = {f"Success@{k}": top_k_hits[k - 1] / len(questions) for k in (1, 5, 20, 100)}
    assert found == accuracy

    text = pytest.importorskip("sklearn.feature_extraction.text")
    tfidf = text.TfidfVectorizer().fit(passages.values())
    cosines = (tfidf.transform(questions.values()) @ tfidf.transform(passages.values()).T).toarray()
    found = example.tfidf_top_5(questions, passages, answers)
    for name, row in zip(questions, cosines, strict=True):
        fifth, sixth = np.sort(row)[[-5, -6]]
        best = [ids[i] for i in np.flatnonzero(row >= fifth)]
        if fifth - sixth > 1e-6:
            hit = any(has_answer(answers[name][0], passages[doc]) for doc in best)
            assert found["Success@5"][list(found.queries).index(name)] == hit

    mined = fr.hard_negatives(gold, run, 5, skip_top=2)
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


def test_answers_are_selected_as_trec_eval_and_others_measure_it(load, tmp_path):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    example = load("answer_selection")
    (tmp_path / "table.tsv").write_bytes(example.table())
    candidates = fr.read_candidates(tmp_path / "table.tsv")
    write_trec_qrels(candidates.qrels, tmp_path / "qrels.txt")
    with (tmp_path / "qrels.txt").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    assert 0 < len(candidates.unanswered) < len(qrels)

    for model in (example.by_words, example.by_tfidf, example.by_length):
        run = candidates.run(model(candidates.pairs), tag=model.__name__)
        write_trec_run(run, tmp_path / "run.txt")
        with (tmp_path / "run.txt").open() as file:
            ranked = pytrec_eval.parse_run(file)

        for depth in (None, 3):
            found = example.mean_average_precisions(candidates.qrels, run, depth)

            assert found == pytest.approx(
                average_precisions(pytrec_eval, qrels, ranked, depth), rel=1e-14
            )


def test_the_benchmark_table_has_a_measure_in_each_row(load):
    """Columns of models; a measure without an expected value is blank for the random baseline."""
    example = load("answer_selection")
    candidates = fr.read_candidates(io.BytesIO(example.table()))
    equal = candidates.run([0.0] * len(candidates))
    scores = {
        "length": fr.evaluate(candidates.qrels, equal, example.MEASURES),
        "random": fr.evaluate(candidates.qrels, equal, example.EXPECTED, ties="average"),
    }

    lines = [line.split() for line in example.benchmark(scores).splitlines()]

    assert lines[0] == ["length", "random"]
    assert [line[0] for line in lines[2:]] == list(scores["length"].mean)
    values = dict(zip((line[0] for line in lines), (line[1:] for line in lines), strict=True))
    assert len(values["gm_map"]) == 1
    assert values["map"] == [f"{own.mean['map']:.4f}" for own in scores.values()]


def average_precisions(
    pytrec_eval: Any, qrels: Any, run: Any, depth: int | None
) -> dict[str, float]:
    """Those of trec_eval itself, of scikit-learn, and of the report's own code."""
    rankings = {
        query: sorted(own, key=lambda doc, own=own: (np.float32(own[doc]), doc), reverse=True)
        for query, own in run.items()
    }
    cut = {query: {doc: run[query][doc] for doc in own[:depth]} for query, own in rankings.items()}
    values = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(cut)
    retrieved, inverse = [], []
    for query in sorted(rankings):
        labels = [qrels[query][doc] for doc in rankings[query][:depth]]
        order = range(len(labels), 0, -1)
        hit = any(labels)
        retrieved.append(metrics.average_precision_score(labels, order) if hit else 0.0)
        if any(qrels[query].values()):
            ranks = [rank for rank, label in enumerate(labels, 1) if label]
            inverse.append(sum(1 / rank for rank in ranks) / len(ranks) if ranks else 0.0)
    own = [values[query]["map"] for query in sorted(values)]
    answered = [values[query]["map"] for query in sorted(values) if any(qrels[query].values())]
    return {
        "trec_eval": mean(own),
        "of those retrieved": mean(retrieved),
        "questions with an answer": mean(answered),
        "mean of 1/rank": mean(inverse),
    }


def test_pairs_have_the_value_of_scikit_learn(load):
    example, texts = load("beyond_retrieval"), load("stdlib_texts")
    known = texts.entries()
    model = texts.encoder([entry.summary for entry in known])
    task = example.functions_and_methods(known)

    values = example.evaluated(model, task, known)

    first, own, near, _ = zip(*example.compared_paragraphs(known), strict=True)
    cosines = np.concatenate(
        [
            np.diag(metrics.pairwise.cosine_similarity(model(first), model(rest)))
            for rest in (own, near)
        ]
    )
    labels = np.repeat([1, 0], len(first))
    assert values["pairs: cosine_ap"] == pytest.approx(
        metrics.average_precision_score(labels, cosines), abs=1e-4
    )
