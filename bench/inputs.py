"""Small judgments and runs for kernels: the same for the same seed, on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

SEED = 20240229


@dataclass(frozen=True)
class Collection:
    """Judgments and a run in memory; documents of a ranking are in rank order.

    Scores have four decimals and at most six digits, so that different scores differ in single
    precision too: every version of trec_eval ranks them alike.
    """

    qrels: dict[str, dict[str, int]]
    run: dict[str, dict[str, float]]

    def qrels_text(self) -> str:
        """The judgments in trec_eval's format."""
        return "".join(
            f"{query} 0 {doc} {grade}\n"
            for query, grades in self.qrels.items()
            for doc, grade in grades.items()
        )

    def run_text(self) -> str:
        """The run in trec_eval's format."""
        return "".join(
            f"{query} Q0 {doc} {rank} {score:.4f} generated\n"
            for query, scores in self.run.items()
            for rank, (doc, score) in enumerate(scores.items(), 1)
        )


def collection(queries: int, retrieved: int, judged: int, seed: int = SEED) -> Collection:
    """A collection whose relevant documents (grades 1 to 3) are dense at the top of the rankings.

    retrieved, judged: documents per query; half of the judged ones are among the retrieved.
    """
    random = Random(seed)
    universe = range(20 * max(retrieved, judged))
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(queries):
        query = str(301 + number)
        in_both = min(judged // 2, retrieved)
        docs = [f"GEN-{doc:07d}" for doc in random.sample(universe, retrieved + judged - in_both)]
        ranking, others = docs[:retrieved], docs[retrieved:]
        scores = sorted(random.sample(range(10_000, 1_000_000), retrieved), reverse=True)
        run[query] = {doc: score / 10_000 for doc, score in zip(ranking, scores, strict=True)}
        grades = {doc: _grade(random, 0.05) for doc in others}
        for rank in random.sample(range(retrieved), in_both):
            grades[ranking[rank]] = _grade(random, 10 / (20 + rank))
        qrels[query] = dict(sorted(grades.items()))
    return Collection(qrels, run)


def _grade(random: Random, chance: float) -> int:
    """A grade that is relevant with the given chance."""
    return random.choice((1, 1, 1, 2, 2, 3)) if random.random() < chance else 0
