"""A program of a user, which type checkers accept; test_type_checkers.py runs it and them."""

from __future__ import annotations

from pathlib import Path

import fastrank as fr

qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
run = {"q1": {"d1": 0.5, "d2": 0.75}, "q2": {"d3": 0.9}}

scores = fr.evaluate(qrels, run, "map RR@10", ties="docno_asc", missing="zero")
means: dict[str, float] = scores.mean
first: float = float(scores["map"][0])

several = fr.evaluate(qrels, [run, run], ["map", "P_5"])
names: list[list[str]] = [own.queries for own in several]

evaluator = fr.Evaluator(qrels, "ndcg_cut_10", relevance_level=1, trec_eval_version="10.0")
one = evaluator.evaluate(run).mean["ndcg_cut_10"]
both = [own.mean["ndcg_cut_10"] for own in evaluator.evaluate([run, run])]

judgments: fr.Qrels = fr.Qrels.from_dict(qrels)
retrieved: fr.Run = fr.Run.from_dict(run, tag="mine")
again = fr.evaluate(judgments, retrieved)
print(again)

runs = {"a": run, "b": {"q1": {"d2": 1.0, "d1": 0.5}, "q2": {"d9": 0.9}}}
comparison = fr.compare(qrels, runs, "map", test="t", correction="holm")
pair = comparison.pair("map", "a", "b")
difference: float = pair.difference

vectors = [[1.0, 0.0], [0.0, 1.0]]
found = fr.evaluate_embeddings(
    vectors, vectors, {"0": {"0": 1}, "1": {"1": 1}}, "RR@10", metric="cosine", k=2
)
print(found.mean["RR@10"], Path("x").name, means, first, names, one, both, difference)
