"""data/conformance: cases for implementations in any language, of which ours is one."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import pytest

import fastrank as fr
from fastrank.core.measures.notation import parse_measure
from tests.helpers.parsing import read_prefs, read_qrels_jg, read_qrels_prefs, read_trec_qrels
from tests.helpers.paths import REPOSITORY

FILE = REPOSITORY / "data" / "conformance" / "cases.jsonl"
CASES = [json.loads(line) for line in FILE.read_text("ascii").splitlines()]
READERS = {
    "qrels": read_trec_qrels,
    "sample": fr.read_qrels,
    "subtopics": fr.read_qrels,
    "qrels_jg": read_qrels_jg,
    "prefs": read_prefs,
    "qrels_prefs": read_qrels_prefs,
}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_every_value_is_the_expected_one(case):
    options = dict(case["options"])
    read = READERS[options.pop("format", "qrels")]
    qrels = read(io.BytesIO(case["qrels"].encode()))
    run = fr.read_run(io.BytesIO(case["run"].encode()))

    scores = fr.evaluate(qrels, run, case["measures"], **options)

    wrong = []
    for query, values in case["values"].items():
        own = scores.mean if query == "all" else scores.to_dict()[query]
        for measure, (exact, printed) in values.items():
            # The tag of the run is only printed.
            if measure != "runid" and not agrees(own[measure], exact, case["tolerance"]):
                wrong.append((query, measure, own[measure], exact))
            elif case["tolerance"] == 0.0 and line(scores, query, measure) != printed:
                wrong.append((query, measure, line(scores, query, measure), printed))
    assert wrong == []


def agrees(value: Any, exact: str, tolerance: float) -> bool:
    """Whether a value is the expected one: a hexadecimal double, an integer, a text, or nan."""
    if exact == "nan":
        return math.isnan(value)
    if "0x" not in exact:
        return str(value) == exact or (not isinstance(value, str) and value == float(exact))
    return math.isclose(value, float.fromhex(exact), rel_tol=tolerance, abs_tol=tolerance / 1000)


def line(scores: fr.Scores, query: str, measure: str) -> str:
    """What is printed for a value."""
    lines = (line.split("\t") for line in scores.to_trec(per_query=True).splitlines())
    return next(text for name, of, text in lines if (name.rstrip(), of) == (measure, query))


def test_there_are_200_cases_in_at_most_a_megabyte_with_names_of_their_own():
    assert len(CASES) >= 200
    assert FILE.stat().st_size <= 1_000_000
    assert len({case["name"] for case in CASES}) == len(CASES)


def test_every_measure_has_a_case():
    covered = {
        parse_measure(measure).name
        for case in CASES
        for values in case["values"].values()
        for measure in values
    }

    assert {measure.name for measure in fr.MEASURES} - covered == set()


def test_every_case_has_what_the_readme_says():
    text = (FILE.parent / "README.md").read_text("utf-8")

    for case in CASES:
        assert all(f"`{key}`" in text for key in (*case, *case["options"]))
