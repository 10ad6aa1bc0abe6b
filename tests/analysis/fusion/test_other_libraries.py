"""Fused scores are those of ranx, trectools and Qdrant's client.

`tests/recorded/fusion/values.json` has three runs without ties, and what the programs, named with
their versions, made of them. What differs on purpose is in docs/fusion.md.
"""

import json

import pytest

import fastrank as fr
from tests.helpers.paths import REPOSITORY

RECORDED = json.loads((REPOSITORY / "tests/recorded/fusion/values.json").read_text("utf-8"))
CASES = [
    pytest.param(case, id=f"{program['program']} {case['method']} {case['options']}")
    for program in RECORDED["programs"]
    for case in program["cases"]
]


@pytest.mark.parametrize("case", CASES)
def test_scores_are_the_recorded_ones(case):
    runs = RECORDED["runs"][: case.get("runs", 3)]

    found = fr.fuse(runs, case["method"], **case["options"]).to_dict()

    assert found.keys() == case["expected"].keys()
    for query, expected in case["expected"].items():
        assert found[query] == pytest.approx(expected, rel=1e-12, abs=1e-12)
