"""Our own recorded cases: what the trec_eval binaries answered (see recorded/record.py)."""

from __future__ import annotations

import json
import platform
from typing import Any

import pytest

from tests.helpers.paths import TESTS

CASES = json.loads((TESTS / "recorded" / "cases.json").read_text("ascii"))
EXPECTATIONS = [
    pytest.param(case, level, id=f"{case['name']}-{level}")
    for case in CASES
    for level in case["expect"]
]


@pytest.mark.parametrize(("case", "level"), EXPECTATIONS)
def test_answers_as_recorded(case, level, trec_eval):
    expected = case["expect"][level]
    files = {name: text.encode("latin-1") for name, text in case["files"].items()}

    found = trec_eval(
        *case["args"],
        files=files,
        stdin=case.get("stdin", "").encode("latin-1"),
        trec_eval_version=level,
    )

    assert differences(found, expected) == []


def differences(found: Any, expected: dict[str, Any]) -> list[str]:
    """In what an answer is not the recorded one."""
    wrong = []
    if found.status != expected["exit"]:
        wrong.append(f"exit status {found.status}, recorded {expected['exit']}")
    if expected["stdout"] is not None and found.stdout != _here(expected["stdout"]):
        wrong.append(f"standard output {found.stdout!r}")
    if expected["stderr"] and not found.stderr:
        wrong.append("no message")
    return wrong


def _here(recorded: str) -> bytes:
    """What trec_eval prints on this machine: 0 / 0 is `-nan` on x86-64, where it was recorded.

    Those of trec_eval for ARM print `nan` in the same cases, and are the same in all else.
    """
    if platform.machine() != "x86_64":
        recorded = recorded.replace("-nan", " nan")
    return recorded.encode("latin-1")


def test_there_are_cases_for_every_measure():
    from fastrank.core.measures.trec import MEASURES

    printed = {
        line.split()[0]
        for case in CASES
        for expected in case["expect"].values()
        for line in (expected["stdout"] or "").replace("Z", "").splitlines()
        if line.split()
    }
    missing = [
        measure.name
        for measure in MEASURES
        if not any(name == measure.name or name.startswith(measure.name + "_") for name in printed)
    ]

    assert missing == []
