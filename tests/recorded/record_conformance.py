"""Record anew the values in data/conformance/cases.jsonl: what other programs answer to its inputs.

    python tests/recorded/record_conformance.py [--v908 FOLDER --v10 FOLDER]

Each folder has two builds of an original trec_eval without optimization: `trec_eval`, and
`trec_eval-hex`, whose formats %6.4f are changed to %a so that it prints all bits. Without the
folders, these cases stay as they are. What the source calls "the definition" is that of
tests/helpers/definitions.py. The values of other programs, which are those in
tests/recorded/measures, stay as they are. data/conformance/README.md describes
the format; to add a case, add a line with empty values.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.helpers.definitions import DEFINITIONS, Query

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


def by_definition(case: dict[str, Any]) -> Values:
    """Measures whose definitions are short, with the mean over the queries that have a value."""
    qrels, run = grouped(case["qrels"], 3, int), grouped(case["run"], 4, float)
    pool = {document for own in qrels.values() for document in own}
    queries = {name: Query(qrels[name], run[name], pool) for name in qrels}
    own = {name: DEFINITIONS[name] for name in case["measures"] if name in DEFINITIONS}
    values = {
        name: {measure: value(q) for measure, value in own.items()} for name, q in queries.items()
    }
    values["all"] = {measure: mean(measure, values) for measure in own}
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
    for name, ranks in percentiles.items():
        values[name]["PercentileRank"] = math.fsum(ranks) / len(ranks) if ranks else math.nan
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
