"""A note that one road to Scores has, all roads have on which it can be true."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fastrank as fr
from fastrank.compat.sentence_transformers import RankingEvaluator
from fastrank.core.scores import text
from fastrank.searching import build_index, search
from tests.helpers.small import grades, scores
from tests.helpers.small import run_lines as lines

pytest.importorskip("faiss")

Run = dict[str, dict[str, float]]
QRELS = grades("0 2=1; 1 0=1")
RUN = scores("0 0=3 1=2 2=1; 1 0=3 1=2 2=1")
DOCS = ["0", "1", "2"]


def _file(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    Path("run").write_bytes(lines(run))
    return fr.evaluate(qrels, "run", measure, **how)


def _dicts(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    return fr.evaluate(qrels, run, measure, **how)


def _of_run(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    return fr.evaluate(qrels, fr.Run.from_dict(run), measure, **how)


def _many(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    return fr.evaluate(qrels, [run, run], measure, **how)[1]


def _scattered(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    rows = sorted(lines(run).splitlines(keepends=True), key=lambda line: line.split()[2])
    Path("run").write_bytes(b"".join(rows))
    return fr.evaluate(qrels, "run", measure, **how)


def _again(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    """The second of two runs in the same memory."""
    evaluator = fr.Evaluator(qrels, measure, **how)
    evaluator.evaluate(run)
    return evaluator.evaluate(run)


def _frame(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    rows = [(query, doc, score) for query, own in run.items() for doc, score in own.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return fr.evaluate(qrels, frame, measure, **how)


def _arrays(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    judged = {query: {int(doc): own[doc] for doc in own} for query, own in qrels.items()}
    ids = [list(map(int, own)) for own in run.values()]
    values = [list(own.values()) for own in run.values()]
    return fr.evaluate_arrays(judged, ids, values, measure, queries=list(run), **how)


def _labels(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    table = [[qrels[query].get(doc, 0) for doc in own] for query, own in run.items()]
    values = [list(own.values()) for own in run.values()]
    return fr.evaluate_labels(table, values, measure, ties="given", queries=list(run), **how)


def _vectors(run: Run) -> tuple[Any, Any]:
    """Queries and documents whose inner products are the scores."""
    return np.eye(len(run)), np.array([[own[doc] for own in run.values()] for doc in DOCS])


def _embeddings(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    how = {"query_ids": list(run), "corpus_ids": DOCS, "metric": "ip", **how}
    return fr.evaluate_embeddings(*_vectors(run), qrels, measure, **how)


def _index(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    queries, corpus = _vectors(run)
    how = {"query_ids": list(run), "corpus_ids": DOCS, "metric": "ip", **how}
    ids, metric = how.pop("corpus_ids"), how.pop("metric")
    index = build_index(corpus, "Flat", metric, ids)
    return fr.evaluate_embeddings(queries, index, qrels, measure, **how)


def _search(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    found = search(*_vectors(run), 3, metric="ip", query_ids=list(run), corpus_ids=DOCS)
    return fr.evaluate(qrels, found, measure, **how)


def _texts(run: Run) -> tuple[dict[str, str], dict[str, str], Callable[..., Any]]:
    """Queries, corpus, and a model with the vectors."""
    queries, corpus = {query: f"q{query}" for query in run}, {doc: f"d{doc}" for doc in DOCS}
    rows = dict(zip([*queries.values(), *corpus.values()], np.vstack(_vectors(run)), strict=True))
    return queries, corpus, lambda texts, **_: np.array([rows[own] for own in texts])


def _dataset(qrels: Any, run: Run, how: dict[str, Any]) -> tuple[Callable[..., Any], fr.Dataset]:
    """A model, and data; without ids if these are None in the options."""
    queries, corpus, encode = _texts(run)
    sides: Any = corpus, queries
    if how.pop("corpus_ids", "") is how.pop("query_ids", "") is None:
        sides = list(corpus.values()), list(queries.values())
    return encode, fr.Dataset.from_texts(*sides, qrels)


def _model(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    return fr.evaluate_model(*_dataset(qrels, run, how), measure, **{"metric": "ip", **how})


def _models(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    model, data = _dataset(qrels, run, how)
    return fr.evaluate_model(model, {"data": data}, measure, **{"metric": "ip", **how})["data"]


def _tasks(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> Any:
    model, data = _dataset(qrels, run, how)
    task = fr.Task("retrieval", data, measures=measure, **{"metric": "ip", **how})
    return fr.evaluate_tasks(model, {"data": task})


def _checkpoint(qrels: Any, run: Run, measure: str = "RR", **how: Any) -> fr.Scores:
    queries, corpus, encode = _texts(run)
    evaluator = RankingEvaluator(queries, corpus, qrels, measure, **{"metric": "ip", **how})
    evaluator(SimpleNamespace(encode=encode))
    assert evaluator.scores is not None
    return evaluator.scores


ROADS: dict[str, Callable[..., fr.Scores]] = {
    "file": _file,
    "scattered file": _scattered,
    "dicts": _dicts,
    "dicts again": _again,
    "frame": _frame,
    "run": _of_run,
    "many": _many,
    "arrays": _arrays,
    "labels": _labels,
    "search": _search,
    "embeddings": _embeddings,
    "index": _index,
    "model": _model,
    "models": _models,
    "tasks": _tasks,
    "checkpoint": _checkpoint,
}
MODELS = ["model", "models", "tasks"]
SEARCHES = ["embeddings", "index", *MODELS, "checkpoint"]
ALL = list(ROADS)
WITHOUT_LABELS = [road for road in ALL if road != "labels"]
CONSTANT = scores("0 0=1 1=1 2=1; 1 0=1 1=1 2=1")
TIED = scores("0 0=3 1=1 2=1; 1 0=3 1=2 2=1")
ZEROS: Run = {"0": {"0": 0, "1": 2, "2": 1}, "1": {"0": 0, "1": 2, "2": 1}}
NUMBERED: Any = {"query_ids": None, "corpus_ids": None}
# What is noted of which judgments, run and options, and on which roads that can be: labels have no
# queries without documents or judgments; data sets drop queries without judgments, and checkpoints
# those, too, and both have ids; a checkpoint counts queries without results as 0.
NOTES: dict[str, tuple[str, Any, Run, dict[str, Any], list[str]]] = {
    "ties": (r"RR .*depends on tied scores: 0\.\d+ to ", QRELS, TIED, {}, ALL),
    "constant": (r"RR .*depends on tied scores: 0.3333 to 1.0000", QRELS, CONSTANT, {}, ALL),
    "missing": (
        "lacks 1 of 2 judged queries .*(left out|counts as 0)",
        QRELS,
        {"0": RUN["0"]},
        {},
        [road for road in WITHOUT_LABELS if road != "checkpoint"],
    ),
    "no value": (
        r"FirstRank.* has no value for 1 of 2 queries \(1\)",
        {"0": {"2": 1}, "1": {"9": 1}},
        RUN,
        {"measure": "FirstRank"},
        ALL,
    ),
    "unjudged": (
        "1 query of the run has no judgments",
        {"0": QRELS["0"]},
        RUN,
        {},
        [road for road in WITHOUT_LABELS if road not in (*MODELS, "checkpoint")],
    ),
    "excluded": (
        "1 document was excluded",
        QRELS,
        RUN,
        {"exclude": {"0": ["0"]}},
        [road for road in WITHOUT_LABELS if road != "checkpoint"],
    ),
    "truncated": (
        "1 ranking was cut between documents with equal scores",
        QRELS,
        TIED,
        {"k": 2},
        SEARCHES,
    ),
    "row numbers": (
        "ids are row numbers, of documents 0 to 2 and of queries 0 to 1",
        QRELS,
        RUN,
        NUMBERED,
        ["embeddings", "index", *MODELS],
    ),
    "zero vectors": (
        "1 vector of a query or document is zero",
        QRELS,
        ZEROS,
        {"metric": "cosine"},
        SEARCHES,
    ),
    "outside the corpus": (
        "1 judged document is not in the corpus",
        {"0": {"2": 1, "x": 1}, "1": {"0": 1}},
        RUN,
        {},
        SEARCHES,
    ),
}
CASES = [(note, road) for note, (*_, roads) in NOTES.items() for road in roads]
# What shows Scores.
SHOWN: dict[str, Callable[[fr.Scores], Any]] = {
    "a table": fr.table,
    "a table in HTML": lambda scores: fr.table(scores).to_html(),
    "a table of two": lambda scores: fr.table({"a": scores, "b": scores}).transpose(),
    "their table": lambda scores: scores.table(per_query=True),
    "differences": lambda scores: scores - scores,
    "a comparison": lambda scores: fr.compare_scores({"a": scores, "b": scores}),
    "a comparison of data sets": lambda scores: fr.compare_datasets({"d": [scores, scores]}),
}
# The notes on means that are over other queries, or decided by chance.
WARNED = {
    "ties": text.BY_TIES,
    "constant": text.BY_TIES,
    "missing": text.LEFT_OUT,
    "no value": text.WITHOUT_VALUES,
}


@pytest.mark.filterwarnings("ignore:k=2 is below")
@pytest.mark.parametrize(("note", "road"), CASES)
def test_a_note_is_printed_whichever_road_was_taken(note, road, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pattern, qrels, run, how, _ = NOTES[note]

    assert re.search(pattern, _told(ROADS[road](qrels, run, **how)))


def _told(result: object) -> str:
    """What is printed, on one line."""
    return " ".join(str(result).split())


@pytest.mark.filterwarnings("ignore:k=2 is below")
@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("note", NOTES)
def test_what_is_made_of_scores_has_their_notes(note, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pattern, qrels, run, how, (road, *_) = NOTES[note]

    assert re.search(pattern, _told(SHOWN[shown](ROADS[road](qrels, run, **how))))


@pytest.mark.filterwarnings("ignore:k=2 is below")
@pytest.mark.parametrize("road", ALL)
def test_without_a_reason_nothing_is_noted(road, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    told = _told(ROADS[road](QRELS, RUN))

    assert not [note for note, (pattern, *_) in NOTES.items() if re.search(pattern, told)]


@pytest.mark.parametrize("shown", SHOWN)
def test_of_scores_without_notes_nothing_is_noted(shown):
    told = _told(SHOWN[shown](_dicts(QRELS, RUN)))

    assert not [note for note, (pattern, *_) in NOTES.items() if re.search(pattern, told)]


@pytest.mark.parametrize("note", WARNED)
def test_a_mean_over_data_sets_is_warned_of(note, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(text, "_LOOKS", {})
    _, qrels, run, how, (road, *_) = NOTES[note]
    scores = ROADS[road](qrels, run, **how)

    with pytest.warns(UserWarning, match=WARNED[note]):
        fr.mean_over_datasets({"a": scores})


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ("constant", "RR of the fused run depends on tied"),
        ("no value", "has no value for 1 of 2 q"),
    ],
)
def test_tuning_a_fusion_tells_of_the_fused_run(note, told):
    _, qrels, run, how, _ = NOTES[note]
    notes: list[str] = []

    fr.tune_fusion(qrels, [run, run], how.get("measure", "RR"), folds=2, warn=notes.append)

    assert [line for line in notes if told in line]


@pytest.mark.parametrize(("note", "road"), [case for case in CASES if case[0] in WARNED])
def test_who_reads_the_mean_alone_is_warned(note, road, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(text, "_LOOKS", {})
    _, qrels, run, how, _ = NOTES[note]
    evaluated = ROADS[road](qrels, run, **how)

    with pytest.warns(UserWarning, match=WARNED[note]) as warnings:
        assert evaluated.mean

    assert {Path(warning.filename).name for warning in warnings} == {"test_notes.py"}


def test_of_groups_of_queries_those_with_ties_have_the_note():
    run = {"0": {"0": 1.0, "1": 1.0, "2": 1.0}, "1": {"0": 3.0, "1": 2.0, "2": 1.0}}
    groups = pickle.loads(pickle.dumps(_dicts(QRELS, run))).by_group({"0": "tied", "1": "other"})

    assert "RR depends on tied scores: 0.3333 to 1.0000, here 1.0000" in str(groups["tied"])
    assert str(groups["other"]) == "RR  1.0000"


def test_a_mean_over_all_queries_is_not_warned_of(recwarn):
    for missing in ("zero", "skip"):
        run = RUN if missing == "skip" else {"0": RUN["0"]}
        assert fr.evaluate(QRELS, run, "RR", missing=missing).mean

    assert not recwarn.list


def test_a_loop_is_told_of_ties_at_first(monkeypatch):
    monkeypatch.setattr(text, "_LOOKS", {})

    with pytest.warns(UserWarning, match=text.BY_TIES) as warnings:
        means = [fr.evaluate(QRELS, CONSTANT, "RR").mean for _ in range(20)]

    assert (len(means), len(warnings)) == (20, text.MOST_LOOKS)
