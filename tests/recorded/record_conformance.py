"""Record anew the values in data/conformance/cases.jsonl: what other programs answer to its inputs.

    python tests/recorded/record_conformance.py [--v908 FOLDER --v10 FOLDER]

Each folder has two builds of an original trec_eval without optimization: `trec_eval`, and
`trec_eval-hex`, whose formats %6.4f are changed to %a so that it prints all bits. Without the
folders, these cases stay as they are. What the source calls "the definition" is computed here,
slowly and with nothing of fastrank. The values of other programs, which are those in
tests/recorded/measures, stay as they are. data/conformance/README.md describes
the format; to add a case, add a line with empty values.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[2] / "data" / "conformance" / "cases.jsonl"
# Our other names of measures of trec_eval.
ALIASES = """
    NumQ num_q, NumRet num_ret, NumRel num_rel, NumRelRet num_rel_ret, AP map, AP@5 map_cut_5,
    Rprec Rprec, Bpref bpref, RR recip_rank, IPrec@0.2 iprec_at_recall_0.20, P@5 P_5, R@5 recall_5,
    Success@5 success_5, infAP infAP, nDCG ndcg, nDCG@5 ndcg_cut_5, SetP set_P, SetR set_recall,
    SetAP set_map, SetF set_F
"""
NAMES = dict(pair.split() for pair in ALIASES.split(","))
Values = dict[str, dict[str, Any]]


def main() -> None:
    """Write the file of cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--v908", type=Path, help="folder of trec_eval 9.0.8")
    parser.add_argument("--v10", type=Path, help="folder of trec_eval 10.0")
    given = parser.parse_args()
    folders = {"trec_eval 9.0.8": given.v908, "trec_eval 10.0": given.v10}
    cases = [json.loads(line) for line in CASES.read_text("ascii").splitlines()]
    for case in cases:
        if case["source"] == "the definition":
            case["values"] = by_definition(case)
        elif folders.get(case["source"]):
            case["values"] = by_trec_eval(folders[case["source"]], case)
    CASES.write_text("".join(f"{json.dumps(case)}\n" for case in cases), "ascii")


# --- trec_eval ---


def by_trec_eval(folder: Path, case: dict[str, Any]) -> Values:
    """What both builds print. A case for which they stop is an error.

    So is one for which they print NaN, whose sign depends on the machine.
    """
    printed, exact = (lines_of(folder / name, case) for name in ("trec_eval", "trec_eval-hex"))
    values: Values = {}
    for (measure, query, text), (_, _, bits) in zip(printed, exact, strict=True):
        values.setdefault(query, {})[measure] = [bits.strip("'"), text]
    if "arguments" in case:
        return values
    return {
        query: {ours: own[name] for ours, name in NAMES.items() if name in own}
        for query, own in values.items()
    }


def lines_of(program: Path, case: dict[str, Any]) -> list[list[str]]:
    """The fields of the lines that a program prints."""
    theirs = {name.rpartition("_")[0] if name[-1].isdigit() else name for name in NAMES.values()}
    named = ["-q", *(f"-m{name}" for name in sorted(theirs))]
    with tempfile.TemporaryDirectory() as folder:
        for file in ("qrels", "run"):
            (Path(folder) / file).write_text(case[file], "utf-8")
        command = [str(program), *case.get("arguments", named), "qrels", "run"]
        found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    if "nan" in found.stdout:
        raise SystemExit(f"{case['name']}: NaN")
    return [line.split() for line in found.stdout.splitlines()]


# --- definitions ---


class Query:
    """The ranking of a query: the grade of each retrieved document, None for unjudged ones."""

    def __init__(self, judged: dict[str, int], scores: dict[str, float], pool: set[str]) -> None:
        by_score = sorted(scores, key=lambda d: (scores[d], d.encode()), reverse=True)
        self.scores = [scores[d] for d in by_score]
        self.grades = [judged.get(d) for d in by_score]
        self.in_pool = [d in pool for d in by_score]
        self.hits = [grade is not None and grade >= 1 for grade in self.grades]
        self.ranks = [rank for rank, hit in enumerate(self.hits, 1) if hit]
        self.relevant = sum(grade >= 1 for grade in judged.values())
        self.gains = [max(0, grade or 0) for grade in self.grades]
        self.ideal = sorted((max(0, grade) for grade in judged.values()), reverse=True)

    def found(self, k: int) -> int:
        """Relevant documents in the first k."""
        return sum(self.hits[:k])


def dcg(gains: list[Any], k: int) -> float:
    """Jarvelin and Kekalainen 2002, with the logarithm of rank + 1."""
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], 1))


def burges(gains: list[Any]) -> list[Any]:
    return [2**gain - 1 for gain in gains]


def precision_sum(q: Query, k: int) -> float:
    return math.fsum(i / rank for i, rank in enumerate(q.ranks, 1) if rank <= k)


def err(q: Query, k: int, highest: int) -> float:
    """Chapelle et al. 2009."""
    value, reading = 0.0, 1.0
    for rank, gain in enumerate(q.gains[:k], 1):
        stops = (2**gain - 1) / 2**highest
        value, reading = value + reading * stops / rank, reading * (1 - stops)
    return value


def rbp(q: Query, p: float, k: int) -> float:
    """Moffat and Zobel 2008."""
    return (1 - p) * math.fsum(p ** (rank - 1) for rank in q.ranks if rank <= k)


def ordered_pairs(q: Query, k: int) -> float:
    """The share of pairs (relevant, other) in the first k with the relevant document first."""
    hits = q.hits[:k]
    pairs = sum(hits) * (len(hits) - sum(hits))
    before = sum(not other for i, hit in enumerate(hits) if hit for other in hits[i + 1 :])
    return before / pairs if pairs else math.nan


def area_under_curve(q: Query) -> float:
    """The share of pairs (relevant, other) with the higher score first; equal ones count a half."""
    ranked = list(zip(q.hits, q.scores, strict=True))
    pairs = [(own, other) for hit, own in ranked if hit for miss, other in ranked if not miss]
    ordered = math.fsum((own > other) + (own == other) / 2 for own, other in pairs)
    return ordered / len(pairs) if pairs else math.nan


def f1(q: Query, k: int) -> float:
    p, r = q.found(k) / k, q.found(k) / q.relevant
    return 2 * p * r / (p + r) if p + r else 0.0


DEFINITIONS: dict[str, Callable[[Query], float]] = {
    "AP@10": lambda q: precision_sum(q, 10) / q.relevant,
    "AP(denominator='min_k')@5": lambda q: precision_sum(q, 5) / min(5, q.relevant),
    "RR@3": lambda q: 1 / q.ranks[0] if q.ranks and q.ranks[0] <= 3 else 0.0,
    "ReciprocalHitRank": lambda q: math.fsum(1 / r for r in q.ranks) / max(1, len(q.ranks)),
    "P(denominator='retrieved')@20": lambda q: q.found(20) / min(20, len(q.hits)),
    "RCap@5": lambda q: q.found(5) / min(5, q.relevant),
    "HitRatio@5": lambda q: q.found(5) / q.relevant,
    "Success@3": lambda q: float(q.found(3) > 0),
    "DCG@5": lambda q: dcg(q.gains, 5),
    "DCG(dcg='exp-log2')@5": lambda q: dcg(burges(q.gains), 5),
    "nDCG(dcg='exp-log2')@5": lambda q: dcg(burges(q.gains), 5) / dcg(burges(q.ideal), 5),
    "ERR(max_grade=4)@10": lambda q: err(q, 10, 4),
    "RBP": lambda q: rbp(q, 0.8, len(q.hits)),
    "RBP(p=0.5)@5": lambda q: rbp(q, 0.5, 5),
    "nCG@5": lambda q: sum(q.gains[:5]) / sum(q.ideal[:5]),
    "F1@5": lambda q: f1(q, 5),
    "PairAccuracy": lambda q: ordered_pairs(q, len(q.hits)),
    "PairAccuracy@10": lambda q: ordered_pairs(q, 10),
    "AUC": area_under_curve,
    "GAUC": area_under_curve,
    "Judged@10": lambda q: sum(g is not None for g in q.grades[:10]) / min(10, len(q.grades)),
    "Unjudged(negative='judged')@10": lambda q: (
        sum(g is None for g in q.grades[:10]) / min(10, len(q.grades))
    ),
    "Hole@10": lambda q: sum(not known for known in q.in_pool[:10]) / 10,
    "FirstRank": lambda q: float(q.ranks[0]) if q.ranks else math.nan,
    "MedianRank": lambda q: float(q.ranks[0]) if q.ranks else math.nan,
    "FullRecall": lambda q: float(len(q.ranks) == q.relevant),
    "Evidence(n=2)@5": lambda q: float(q.found(5) >= 2),
    "LastRank": lambda q: float(q.ranks[-1]) if len(q.ranks) == q.relevant else math.nan,
}


def by_definition(case: dict[str, Any]) -> Values:
    """Measures whose definitions are short, with the mean over the queries that have a value."""
    qrels, run = grouped(case["qrels"], 3, int), grouped(case["run"], 4, float)
    pool = {document for own in qrels.values() for document in own}
    queries = {name: Query(qrels[name], run[name], pool) for name in qrels}
    values = {
        name: {measure: value(q) for measure, value in DEFINITIONS.items()}
        for name, q in queries.items()
    }
    values["all"] = {measure: mean(measure, values) for measure in DEFINITIONS}
    sizes = {
        name: len(q.hits) for name, q in queries.items() if not math.isnan(values[name]["AUC"])
    }
    weighted = math.fsum(size * values[name]["AUC"] for name, size in sizes.items())
    values["all"]["GAUC"] = weighted / sum(sizes.values()) if sizes else math.nan
    # Over all relevant retrieved documents of all queries.
    percentiles = {
        name: [(rank - 1) / (len(q.hits) - 1) for rank in q.ranks] for name, q in queries.items()
    }
    percentiles["all"] = [value for own in percentiles.values() for value in own]
    for name, own in percentiles.items():
        values[name]["PercentileRank"] = math.fsum(own) / len(own) if own else math.nan
    return {
        query: {measure: shown(value) for measure, value in own.items()}
        for query, own in values.items()
    }


def grouped(text: str, column: int, number: Callable[[str], Any]) -> dict[str, dict[str, Any]]:
    """The numbers in a column of the lines of a file, by query and document."""
    found: dict[str, dict[str, Any]] = {}
    for fields in map(str.split, text.splitlines()):
        found.setdefault(fields[0], {})[fields[2]] = number(fields[column])
    return found


def mean(measure: str, values: dict[str, dict[str, float]]) -> float:
    own = [value[measure] for value in values.values() if not math.isnan(value[measure])]
    if not own:
        return math.nan
    return statistics.median(own) if measure == "MedianRank" else math.fsum(own) / len(own)


def shown(value: float) -> list[str]:
    """A value as a hexadecimal double and with four decimals."""
    return ["nan", "nan"] if math.isnan(value) else [float(value).hex(), f"{value:.4f}"]


if __name__ == "__main__":
    main()
