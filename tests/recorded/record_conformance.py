"""Record data/conformance/cases.jsonl: inputs of our own, and what other programs answer.

    python tests/recorded/record_conformance.py --v908 FOLDER --v10 FOLDER

Each folder has two builds of an original trec_eval without optimization: `trec_eval`, and
`trec_eval-hex`, whose formats %6.4f are changed to %a so that it prints all bits. Values of
measures that trec_eval does not have are those recorded in tests/recorded/measures, or computed
here from the definition, slowly and with nothing of fastrank. data/conformance/README.md describes
the format.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "data" / "conformance" / "cases.jsonl"
VERSIONS = ("9.0.8", "10.0")
GROUPS = {
    "official": ["official"],
    "recall": ["iprec_at_recall", "11pt_avg", "Rprec_mult", "recall", "Rprec"],
    "gains": ["ndcg", "dcg", "ideal_dcg", "ndcg_cut", "ndcg_rel", "Rndcg", "G", "binG"],
    "cutoffs": ["P", "map_cut", "relative_P", "success", "relstring", "num_nonrel_judged_ret"],
    "sets": ["set", "bpref", "infAP", "yaap", "utility", "recip_rank", "gm_map", "gm_bpref"],
}
# 10.0 alone has them; in 9.0.8, rbp reads memory that was not set.
GROUPS_10 = {"rbp": ["rbp"], "rbp_resid": ["rbp_resid"], "unj": ["unj"]}
ONLY_10 = ("dcg", "ideal_dcg")
# Our other names of measures of trec_eval.
NAMES = {
    "NumQ": "num_q",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "AP": "map",
    "AP@5": "map_cut_5",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "RR": "recip_rank",
    "IPrec@0.2": "iprec_at_recall_0.20",
    "P@5": "P_5",
    "R@5": "recall_5",
    "Success@5": "success_5",
    "infAP": "infAP",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetAP": "set_map",
    "SetF": "set_F",
}
Judgments = dict[str, dict[str, int]]
Results = dict[str, dict[str, float]]


def main() -> None:
    """Write the file of cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--v908", type=Path, required=True, help="folder of trec_eval 9.0.8")
    parser.add_argument("--v10", type=Path, required=True, help="folder of trec_eval 10.0")
    arguments = parser.parse_args()
    folders = dict(zip(VERSIONS, (arguments.v908, arguments.v10), strict=True))
    cases = [
        *trec_eval_cases(folders),
        *aliases(folders),
        *recorded_peers(),
        *recorded_strata(),
        *recorded_subtopics(),
        *definitions(),
    ]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("".join(f"{json.dumps(case)}\n" for case in cases), "ascii")


# --- inputs ---


def qrels_text(qrels: Judgments) -> str:
    """The lines of a qrels file."""
    return "".join(f"{q} 0 {d} {grade}\n" for q, own in qrels.items() for d, grade in own.items())


def run_text(run: Results) -> str:
    """The lines of a run. The ranks are those of the lines, not of the scores."""
    return "".join(
        f"{q} Q0 {d} {rank} {score!r} run\n"
        for q, own in run.items()
        for rank, (d, score) in enumerate(own.items(), 1)
    )


def parsed(spec: str, number: Callable[[str], Any]) -> dict[str, dict[str, Any]]:
    """Expand "q1: a=1 b=2; q2: c=3"."""
    blocks = (block.split(":") for block in spec.split(";"))
    return {
        head.strip(): {d: number(value) for d, value in (item.split("=") for item in items.split())}
        for head, items in blocks
    }


def made(
    seed: int, *, ties: bool, grades: list[int], queries: int = 3
) -> tuple[Judgments, Results]:
    """Random judgments and results, with documents that only one of both has."""
    rng = random.Random(seed)
    documents = [f"d{i:02}" for i in range(40)]
    qrels: Judgments = {}
    run: Results = {}
    for number in range(queries):
        judged, retrieved = rng.sample(documents, 16), rng.sample(documents, rng.randrange(5, 25))
        qrels[f"q{number}"] = {d: rng.choice(grades) for d in judged} | {judged[0]: 1}
        scores = [rng.randrange(5) / 4 for _ in retrieved] if ties else rng.sample(range(99), 40)
        run[f"q{number}"] = {d: float(s) for d, s in zip(retrieved, scores, strict=False)}
    return qrels, run


# What it shows | judgments | results | options of the command.
EDGES = """
Equal scores: the larger id comes first, compared byte by byte. | \
    q: a=1 B=0 b=2 10=1 9=0 z=1 _=0 | q: a=1 B=1 b=1 10=1 9=1 z=1 _=1 |
Equal scores of ids beyond ASCII: compared as UTF-8. | q: z=1 é=0 日=1 ~=0 | \
    q: z=1 é=1 日=1 ~=1 ü=1 |
Groups of equal scores around a cutoff of 5. | q: a=1 b=0 c=1 d=0 e=1 f=1 g=0 | \
    q: a=3 b=3 c=2 d=2 e=2 f=2 g=1 h=1 |
Scores that are equal as 32-bit floats, but not as doubles. | q: a=1 b=0 c=2; r: a=1 b=0 | \
    q: a=0.30000001 b=0.3 c=0.300000012; r: a=16777216 b=16777217 |
Negative and very small or large scores. | q: a=1 b=0 c=1 d=0 | \
    q: a=-1.5 b=-1e-30 c=1e30 d=-1e300 e=0 |
A judged query without results is left out. | q: a=1 b=0; r: c=1; s: d=0 | q: b=2 a=1 |
A judged query without results counts with -c. | q: a=1 b=0; r: c=1; s: d=0 | q: b=2 a=1 | -c
A query of the run without judgments is ignored. | q: a=1 b=0 | q: b=2 a=1; x: a=1 |
Negative grades: in the pool, but not judged. | q: a=-1 b=0 c=1 d=-2 e=2 | \
    q: a=9 b=8 c=7 d=6 x=5 e=4 |
The second query has negative grades only. | q: a=1 b=0; r: a=-1 b=-2 | q: b=2 a=1; r: a=2 b=1 |
No document is relevant. | q: a=0 b=0 | q: a=2 x=1 |
No relevant document is retrieved. | q: a=1 b=0 c=2 | q: b=2 x=1 |
All retrieved documents are relevant, and none is missing. | q: a=1 b=1 | q: a=2 b=1 |
One document. | q: a=1 | q: a=1 |
More relevant documents than retrieved ones. | q: a=1 b=1 c=1 d=1 e=1 f=1 g=1 | q: x=3 a=2 b=1 |
Grades up to 4; 2 and above is relevant. | q: a=4 b=3 c=2 d=1 e=0 f=2 | \
    q: d=9 c=8 x=7 a=6 e=5 b=4 | -l 2
The level is above every grade. | q: a=1 b=0 c=2 | q: a=2 b=1 c=0 | -l 3
The level is 0: judged documents of grade 0 are relevant. | q: a=1 b=0 c=-1 | \
    q: x=3 b=2 a=1 | -l 0
Unjudged documents are dropped. | q: a=1 b=0 c=2 | q: x=9 a=8 y=7 b=6 c=5 | -J
Rankings are cut at 3. | q: a=1 b=0 c=2 d=1 | q: x=9 a=8 y=7 b=6 c=5 d=4 | -M 3
Rankings are cut at 3, then unjudged documents are dropped. | q: a=1 b=0 c=2 d=1 | \
    q: x=9 a=8 y=7 b=6 c=5 d=4 | -M 3 -J
Recall levels of 11 relevant documents. | q: a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1 k=1 | \
    q: a=20 x=19 b=18 c=17 y=16 d=15 e=14 z=13 f=12 |
Recall levels of 13 relevant documents. | q: a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1 k=1 l=1 m=1 | \
    q: a=9 x=8 b=7 c=6 y=5 m=4 l=3 |
Queries are summed in the order of their bytes. | 2: a=1 b=1; 10: a=1 b=0; Z: a=0 b=1; _: b=1 | \
    _: b=3 a=2; Z: a=3 b=2; 10: a=1; 2: x=4 b=3 a=2 |
A grade far above the others. | q: a=1000 b=1 c=0 | q: c=3 b=2 a=1 |
"""
PARAMETERS = [
    "P.1,3,7",
    "recall.2,4",
    "ndcg_cut.1,3,20",
    "map_cut.2,6",
    "success.2,3",
    "relative_P.1,4",
    "iprec_at_recall.0.15,0.85",
    "11pt_avg.0.25,0.5",
    "Rprec_mult.0.5,1.5",
    "set_F.0.5",
    "utility.1,-0.5,0.1,0",
    "ndcg.1=3,2=9",
    "G.1=0.5,2=4",
    "Rndcg.1=2,2=6",
    "ndcg_rel.1=1,2=3",
    "dcg.1=2,2=5",
    "ideal_dcg.1=2,2=5",
]
PREFERENCES = ["all_prefs"]
GROUPED = [
    ("qrels_jg", ["qrels_jg"], "q g1 a 1\nq g1 b 0\nq g1 c 2\nq g2 a 0\nq g2 b 1\nr g1 a 1\n"),
    (
        "prefs",
        PREFERENCES,
        "q g s a 3\nq g s b 2\nq g s c 1\nq g t c 2\nq g t d 1\nq h s b 2\nq h s d 1\n",
    ),
    ("qrels_prefs", PREFERENCES, "q g a 3\nq g b 0\nq g c 1\nq h a 0\nq h d 2\nr g a 1\nr g b 0\n"),
]


# --- trec_eval ---


def trec_eval_cases(folders: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """Cases that both versions of trec_eval answer."""
    inputs: list[tuple[str, str, str, list[str]]] = []
    edges = EDGES.strip().splitlines()
    for shows, judged, ranked, options in (map(str.strip, edge.split("|")) for edge in edges):
        texts = qrels_text(parsed(judged, int)), run_text(parsed(ranked, float))
        inputs.append((shows, *texts, options.split()))
    for seed, ties, options in ((1, False, ""), (2, True, ""), (3, True, "-c -l 2")):
        qrels, run = made(seed, ties=ties, grades=[-1, 0, 0, 1, 2, 3])
        shows = f"Random judgments and results{', with ties' * ties}."
        if "-c" in options:
            del run["q1"]
        inputs.append((shows, qrels_text(qrels), run_text(run), options.split()))
    rotation = list(GROUPS.items())
    for version in VERSIONS:
        for number, (shows, judged, ranked, options) in enumerate(inputs):
            groups = [rotation[(number + step) % len(rotation)] for step in range(2)]
            if number >= len(edges):
                groups = rotation
            if version == "10.0" and "-c" not in options:
                groups = [*groups, list(GROUPS_10.items())[number % 3]]
            for group, measures in groups:
                if version == "9.0.8":
                    measures = [name for name in measures if name not in ONLY_10]
                case = (shows, judged, ranked, options, measures)
                yield from trec_eval(folders, version, f"{group}-{number:02}", *case)
        _, judged, ranked, _ = inputs[len(edges)]
        for measure in PARAMETERS:
            name = f"parameters-{measure.partition('.')[0]}"
            yield from trec_eval(
                folders, version, name, "Parameters.", judged, ranked, [], [measure]
            )
        ranked = run_text(parsed("q: b=4 a=3 x=2 c=1; r: a=1", float))
        for form, measures, judged in GROUPED:
            shows = f"Judgments in the format {form}."
            yield from trec_eval(
                folders, version, form, shows, judged, ranked, ["-R", form], measures
            )


def trec_eval(
    folders: dict[str, Path],
    version: str,
    name: str,
    shows: str,
    judged: str,
    ranked: str,
    options: list[str],
    measures: list[str],
) -> Iterator[dict[str, Any]]:
    """A case, unless the original stops or prints NaN, whose sign depends on the machine."""
    arguments = [*options, "-q", *(word for measure in measures for word in ("-m", measure))]
    outputs = []
    with tempfile.TemporaryDirectory() as folder:
        for file, text in (("qrels", judged), ("run", ranked)):
            (Path(folder) / file).write_text(text, "utf-8")
        for program in ("trec_eval", "trec_eval-hex"):
            command = [str(folders[version] / program), *arguments, "qrels", "run"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode or "nan" in done.stdout:
                return
            outputs.append([line.split() for line in done.stdout.splitlines()])
    values: dict[str, dict[str, list[Any]]] = {}
    for (measure, query, printed), (_, _, exact) in zip(*outputs, strict=True):
        values.setdefault(query, {})[measure] = [exact.strip("'"), printed]
    yield {
        "name": f"trec_eval-{version}-{name}",
        "shows": shows,
        "source": f"trec_eval {version}",
        "arguments": arguments,
        "options": named_options(version, options),
        "measures": measures,
        "qrels": judged,
        "run": ranked,
        "tolerance": 0.0,
        "values": values,
    }


def named_options(version: str, options: list[str]) -> dict[str, Any]:
    """The options of the command under the names of the README, defaults left out."""
    named: dict[str, Any] = {"trec_eval_version": version}
    words = iter(options)
    for word in words:
        if word == "-c":
            named["missing"] = "zero"
        elif word == "-J":
            named["judged_only"] = True
        elif word == "-R":
            named["format"] = next(words)
        else:
            named[{"-l": "relevance_level", "-M": "depth"}[word]] = int(next(words))
    return named


def aliases(folders: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """Values of trec_eval under the names of ir_measures."""
    theirs = {name.rpartition("_")[0] if name[-1].isdigit() else name for name in NAMES.values()}
    measures = sorted(theirs - {"iprec_at_recall_0.20"})
    for seed in (4, 5):
        qrels, run = made(seed, ties=seed == 5, grades=[0, 1, 2])
        texts = qrels_text(qrels), run_text(run)
        for version in VERSIONS:
            name = f"names-{seed}"
            shows = "The names of ir_measures for measures of trec_eval."
            for case in trec_eval(folders, version, name, shows, *texts, [], measures):
                case["values"] = {
                    query: {ours: own[name] for ours, name in NAMES.items() if name in own}
                    for query, own in case["values"].items()
                }
                del case["arguments"]
                yield case | {"measures": list(NAMES)}


# --- recorded values of other programs ---


def other(
    name: str,
    shows: str,
    source: str,
    judged: str,
    ranked: str,
    values: dict[str, dict[str, float]],
    *,
    tolerance: float = 1e-12,
    **options: Any,
) -> dict[str, Any]:
    """A case of a program other than trec_eval."""
    return {
        "name": name,
        "shows": shows,
        "source": source,
        "options": options,
        "measures": list(dict.fromkeys(measure for own in values.values() for measure in own)),
        "qrels": judged,
        "run": ranked,
        "tolerance": tolerance,
        "values": {
            query: {measure: shown(value) for measure, value in own.items()}
            for query, own in values.items()
        },
    }


def shown(value: float) -> list[str]:
    """A value as a hexadecimal double and with four decimals."""
    return ["nan", "nan"] if math.isnan(value) else [float(value).hex(), f"{value:.4f}"]


def recorded(name: str) -> Any:
    return json.loads(gzip.decompress((HERE / "measures" / f"{name}.json.gz").read_bytes()))


def recorded_peers() -> Iterator[dict[str, Any]]:
    """C/W/L measures, compatibility, and the Q-measure."""
    sources = {"C": "ir_measures 0.4.3, provider compat", "Q": "pyNTCIREVAL 0.0.3"}
    for number, case in enumerate(recorded("peers")["cases"]):
        by_source: dict[str, dict[str, dict[str, float]]] = {}
        for measure, values in case["values"].items():
            source = sources.get(measure[0], "cwl-eval 1.0.12 by ir_measures 0.4.3")
            for query, value in values.items():
                by_source.setdefault(source, {}).setdefault(query, {})[measure] = value
        texts = qrels_text(case["qrels"]), run_text(case["run"])
        for source, values in by_source.items():
            name = f"{source.split()[0].rstrip(',')}-{number}"
            shows = "Graded judgments, some negative; no ties."
            yield other(name, shows, source, *texts, values, missing="zero")


def recorded_strata() -> Iterator[dict[str, Any]]:
    """Estimates from stratified samples."""
    names = {
        "infAP": "xinfAP",
        "infNDCG": "infNDCG(ideal='sample_eval')",
        "iP10": "iP@10",
        "iP50": "iP@50",
        "inum_rel": "iNumRel",
        "inum_rel_ret": "iNumRelRet",
    }
    for number, case in enumerate(recorded("sample_eval")["cases"]):
        values = {
            query: {ours: own[name] for name, ours in names.items() if name in own}
            for query, own in case["values"].items()
        }
        shows = "Judgments with strata: query, iteration, document, stratum, grade."
        options: dict[str, Any] = {"trec_eval_version": "10.0", "format": "sample"}
        case = other(
            f"sample_eval-{number}",
            shows,
            "NIST sample_eval.pl",
            case["qrels"],
            case["run"],
            values,
            **options,
        )
        del case["values"]["all"]  # Its sums are over other queries.
        yield case


def recorded_subtopics() -> Iterator[dict[str, Any]]:
    """Novelty and diversity."""
    names = {
        "alpha-DCG": "alpha_DCG",
        "alpha-nDCG": "alpha_nDCG",
        "ERR-IA": "ERR_IA",
        "nERR-IA": "nERR_IA",
        "P-IA": "P_IA",
        "strec": "StRecall",
        "MAP-IA": "AP_IA",
        "NRBP": "NRBP",
        "nNRBP": "nNRBP",
    }
    for number, case in enumerate(recorded("subtopics")["pyndeval"][:8]):
        values: dict[str, dict[str, float]] = {}
        for query, own in case["values"].items():
            for name, value in own.items():
                # Not normalized there at rank 1; None is NaN.
                if name in ("alpha-DCG@1", "ERR-IA@1") or value is None:
                    continue
                kind, at, cutoff = name.partition("@")
                options = [f"rel={case['rel']}"]
                if kind not in ("P-IA", "strec", "MAP-IA"):
                    options.append(f"alpha={case['alpha']}")
                if "NRBP" in kind:
                    options.append(f"beta={case['beta']}")
                ours = f"{names[kind]}({','.join(options)}){at}{cutoff}"
                values.setdefault(query, {})[ours] = value
        shows = "The second field of the judgments is the subtopic."
        texts = case["qrels"], case["run"]
        yield other(
            f"pyndeval-{number}",
            shows,
            "pyndeval 0.0.8",
            *texts,
            values,
            tolerance=0.0,
            format="subtopics",
        )


# --- definitions ---


class Query:
    """The ranking of a query: the grade of each retrieved document, None for unjudged ones."""

    def __init__(self, judged: dict[str, int], scores: dict[str, float], pool: set[str]) -> None:
        by_score = sorted(scores, key=lambda d: (scores[d], d.encode()), reverse=True)
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
    "Judged@10": lambda q: sum(g is not None for g in q.grades[:10]) / min(10, len(q.grades)),
    "Unjudged(negative='judged')@10": lambda q: (
        sum(g is None for g in q.grades[:10]) / min(10, len(q.grades))
    ),
    "Hole@10": lambda q: sum(not known for known in q.in_pool[:10]) / 10,
    "FirstRank": lambda q: float(q.ranks[0]) if q.ranks else math.nan,
    "MedianRank": lambda q: float(q.ranks[0]) if q.ranks else math.nan,
}


def definitions() -> Iterator[dict[str, Any]]:
    """Measures whose definitions are short, with the mean over the queries that have a value."""
    for seed in range(10, 30):
        qrels, run = made(seed, ties=seed % 2 == 1, grades=[-1, 0, 0, 1, 2, 3])
        pool = {document for own in qrels.values() for document in own}
        queries = {name: Query(qrels[name], run[name], pool) for name in qrels}
        values = {
            name: {measure: value(q) for measure, value in DEFINITIONS.items()}
            for name, q in queries.items()
        }
        values["all"] = {measure: mean(measure, values) for measure in DEFINITIONS}
        # Over all relevant retrieved documents of all queries.
        percentiles = {
            name: [(rank - 1) / (len(q.hits) - 1) for rank in q.ranks]
            for name, q in queries.items()
        }
        percentiles["all"] = [value for own in percentiles.values() for value in own]
        for name, own in percentiles.items():
            values[name]["PercentileRank"] = math.fsum(own) / len(own) if own else math.nan
        shows = f"Definitions in plain Python{', with ties' * (seed % 2)}."
        texts = qrels_text(qrels), run_text(run)
        yield other(f"definitions-{seed}", shows, "the definition", *texts, values)


def mean(measure: str, values: dict[str, dict[str, float]]) -> float:
    own = [value[measure] for value in values.values() if not math.isnan(value[measure])]
    if not own:
        return math.nan
    return statistics.median(own) if measure == "MedianRank" else math.fsum(own) / len(own)


if __name__ == "__main__":
    main()
