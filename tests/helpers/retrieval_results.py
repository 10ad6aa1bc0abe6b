"""Judgments and results as MTEB takes them, generated so that MTEB can be run on the same ones."""

from __future__ import annotations

import random
from typing import NamedTuple

RECORDED = range(14)
CUTOFFS = [[1, 3, 10], [1, 3, 5, 10, 20, 100, 1000], [10, 1], [2]]
GRADES = [[0, 1], [1], [0, 1, 2, 3], [-1, 0, 1, 2], [0], [0, 0, 0, 1]]
# Ids that equal those of queries, and whose order in UTF-8 is not that in UTF-16.
IDS = ["é", "\uffff", "\U00010000", "1", "01", "q1", "q2"]


class Inputs(NamedTuple):
    """The arguments of `calculate_retrieval_scores`."""

    results: dict[str, dict[str, float]]
    qrels: dict[str, dict[str, int]]
    k_values: list[int]
    skip_first_result: bool


def make(seed: int, most: int = 12) -> Inputs:
    """Inputs of up to that many queries: ties, doubles that are one C float, empty rankings."""
    rng = random.Random(seed)
    docs = IDS + [f"d{i}" for i in range(rng.choice([3, 10, 60]))]
    score = [
        rng.random,
        lambda: rng.randrange(4) / 4,
        lambda: 0.5,
        lambda: 1.0 + rng.randrange(8) * 2e-8,
        lambda: rng.choice([0.0, -0.0, 1.0, -1.0]),
        lambda: rng.choice([1, 0.5, 2]),
    ][seed % 6]
    grades, length = rng.choice(GRADES), rng.choice([None, 0, 1, 2, 5, len(docs)])
    qrels, results = {}, {}
    for number in range(1 if seed % 7 == 0 else rng.randrange(2, most + 1)):
        query = f"q{number}"
        judged = rng.sample(docs, rng.randrange(1, len(docs)))
        # pytrec_eval itself does not come back from judgments that are all negative.
        qrels[query] = {doc: rng.choice(grades) for doc in judged} | {judged[0]: max(grades)}
        if number == 0 or rng.random() < 0.9:
            retrieved = rng.sample(docs, rng.randrange(len(docs)) if length is None else length)
            results[query] = {doc: score() for doc in retrieved}
    queries = rng.sample(list(results), len(results))
    chosen = {query: results[query] for query in queries}
    return Inputs(chosen, qrels, rng.choice(CUTOFFS), rng.random() < 0.25)


def make_changes(
    inputs: Inputs, seed: int
) -> tuple[dict[str, dict[str, float]], dict[str, list[str]]]:
    """The results of queries before and after an instruction, and documents it concerns."""
    rng = random.Random(seed)
    runs: dict[str, dict[str, float]] = {}
    changed = {}
    for query, docs in inputs.results.items():
        runs[f"{query}-og"] = docs
        runs[f"{query}-changed"] = {doc: rng.choice([v, 0.5]) for doc, v in docs.items()}
        changed[query] = [*rng.sample(list(docs), min(3, len(docs))), "not retrieved"]
    if seed % 2:
        changed = {query: changed[query] for query in sorted(changed)}
    return runs, changed


def values_of(module: object, seed: int, most: int = 12) -> dict[str, object]:
    """What MTEB's functions, or ours, compute from these inputs, by name."""
    inputs = make(seed, most)
    results, qrels, k_values, _ = inputs
    metrics = module.calculate_retrieval_scores(*inputs)  # type: ignore[attr-defined]
    found = metrics._asdict()
    for name in ("mrr", "recall_cap", "hole", "top_k_accuracy"):
        found[f"{name}()"] = dict(getattr(module, name)(qrels, results, k_values))
    runs, changed = make_changes(inputs, seed)
    found["calculate_pmrr()"] = module.calculate_pmrr(runs, runs, changed)  # type: ignore[attr-defined]
    instructions = {f"{int(query[1:]) // 2}_{query}": grades for query, grades in qrels.items()}
    values = {
        instruction: {"ndcg_cut_10": len(grades) / 7}
        for instruction, grades in instructions.items()
    }
    found["robustness_at_10()"] = module.robustness_at_10(instructions, {}, values)  # type: ignore[attr-defined]
    return found
