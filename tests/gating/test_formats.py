"""The output formats of a verdict."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

import fastrank as fr
from fastrank.gating.ci_formats import (
    SHOWN,
    annotation,
    to_github,
    to_json,
    to_junit,
    to_openmetrics,
)
from fastrank.gating.shown import LARGEST, to_markdown


def verdict(
    measures: str = "RR P@5", worse: int = 12, queries: int = 12, name: str = "q", **options: object
) -> fr.types.Verdict:
    """The verdict on a run that loses the document of some queries, which have hostile names."""
    ids = [f"{name}{place:02}" for place in range(queries)]
    qrels, before = {own: {"d": 1} for own in ids}, {own: {"d": 1.0} for own in ids}
    fr.save_baseline(file := io.BytesIO(), qrels, before, measures)
    now = before | {own: {"x": 1.0} for own in ids[:worse]}
    return fr.gate(io.BytesIO(file.getvalue()), qrels, now, **options)  # type: ignore[arg-type]


def test_text_has_a_row_for_each_check_the_reasons_and_the_worst_queries() -> None:
    lines = str(verdict("RR", worse=6)).splitlines()

    assert lines[0].split("  ")[0] == "measure"
    assert lines[2].startswith(
        "RR             1.0000  0.5000   -0.5000  [-0.7707, -0.2293]  drop <= 0.02  0.0034  0/6/6"
    )
    assert lines[4:] == [
        "gate failed: 1 of 1 checks (12 queries, policy significant, one-sided paired t-test, alpha"
        " = 0.05)",
        "  RR fell by 0.5000 to 0.5000; at most 0.02 is allowed (p = 0.0034)",
        "  most regressed in RR: q00 -1.0000, q01 -1.0000, q02 -1.0000, q03 -1.0000, q04 -1.0000",
    ]


def test_one_query_has_no_interval_and_no_p_value() -> None:
    found = verdict("RR", worse=1, queries=1)

    row = " ".join(str(found).splitlines()[2].split())
    assert row == "RR 1.0000 0.0000 -1.0000 drop <= 0.02 0/0/1 undecided"
    assert json.loads(to_json(found))["checks"][0]["p"] is None


@pytest.mark.parametrize(
    ("worse", "options", "heading"),
    [
        (0, {}, "gate passed (12 queries, policy significant, one-sided"),
        (2, {}, "gate failed: 2 of 2 checks undecided ("),
        (2, {"on_few": "warn"}, "gate passed with a warning: 2 of 2 checks undecided ("),
        (2, {"policy": "drop"}, "gate failed: 2 of 2 checks (12 queries, policy drop)"),
    ],
)
def test_the_heading_says_what_the_verdict_is(
    worse: int, options: dict[str, object], heading: str
) -> None:
    assert heading in str(verdict(worse=worse, **options))


def test_markdown_lists_ten_queries_of_each_measure_that_fails() -> None:
    found = to_markdown(verdict())

    assert found.startswith("### Gate failed: 2 of 2 checks ")
    assert len(re.findall(r"^\| q\d\d ", found, re.MULTILINE)) == 20
    assert found.count("Most regressed queries in ") == 2


def test_markdown_escapes_hostile_ids() -> None:
    found = to_markdown(verdict("RR", name="<img>|`\n#"))

    assert "<img>" not in found
    assert r"\<img\>\|\`\\n#00" in found


def test_markdown_is_cut_at_a_line_below_the_limit_of_github() -> None:
    found = to_markdown(verdict("RR", name="é" * 100_000))

    assert len(found.encode()) <= LARGEST
    assert found.endswith("\n\n(cut: the rest is longer than GitHub accepts)\n")


def test_github_has_an_error_for_each_check_that_fails_and_a_summary() -> None:
    lines = to_github(verdict()).splitlines()

    assert lines[0].startswith("::error title=RR fell by 1.0000::RR")
    assert lines[1].startswith("::error title=P@5 fell by 0.2000::P@5 fell by 0.2000 to 0.0000;")
    assert lines[2].startswith("::error title=fastrank gate::gate failed: 2 of 2 checks (12 queri")


def test_github_has_at_most_ten_errors() -> None:
    measures = " ".join(f"P@{cutoff}" for cutoff in range(1, 15))

    lines = to_github(verdict(measures, worse=11)).splitlines()

    assert len(lines) == SHOWN == 10
    assert all(line.startswith("::error ") for line in lines)
    assert lines[-1].endswith("; 5 more are not shown")


def test_github_warns_of_what_is_undecided_if_few_queries_only_warn() -> None:
    lines = to_github(verdict(worse=1, on_few="warn")).splitlines()

    assert {line.split(" ")[0] for line in lines} == {"::warning"}


def test_github_has_a_notice_for_a_run_that_passes() -> None:
    assert to_github(verdict(worse=0)).startswith("::notice title=fastrank gate::gate passed (12")


def test_annotations_escape_what_github_documents() -> None:
    """% everywhere, and also : , in properties (actions/toolkit, command.ts)."""
    assert annotation("error", "a%b:c,d", "e%f:g,h") == "::error title=a%25b%3Ac%2Cd::e%25f:g,h"


def test_json_has_the_checks_in_full_precision() -> None:
    made = verdict(worse=6)
    found = json.loads(to_json(made))

    assert (found["status"], found["passed"], found["queries"]) == ("fail", False, 12)
    assert [one["p"] for one in found["checks"]] == [one.p for one in made.results]
    assert found["reasons"] == made.reasons
    assert len(found["regressed"]["RR"]) == 6


def test_junit_has_a_test_case_for_each_check() -> None:
    made = verdict(min={"RR": 0}, max_drop={"P@5": 0.3})

    (suite,) = ElementTree.fromstring(to_junit(made)).findall("testsuite")

    assert suite.attrib.items() >= {"name": "fastrank gate", "tests": "3", "failures": "1"}.items()
    cases = suite.findall("testcase")
    shown = [f"{case.get('classname')}: {case.get('name')}" for case in cases]
    assert shown == ["RR: drop <= 0.02", "P@5: drop <= 0.3", "RR: mean >= 0"]
    failures = [[own.get("message") for own in case.findall("failure")] for case in cases]
    assert failures == [made.reasons[:1], [], []]


def test_junit_skips_what_is_undecided_if_few_queries_only_warn() -> None:
    suite = ElementTree.fromstring(to_junit(verdict(worse=2, on_few="warn")))

    assert (suite.get("failures"), suite.get("skipped")) == ("0", "2")
    assert len(suite.findall(".//skipped")) == 2


def test_junit_is_xml_whatever_the_ids() -> None:
    found = to_junit(verdict("RR", name="<&]]>\"'\x00\x1b\ufffe"))

    output = ElementTree.fromstring(found).findtext(".//system-out") or ""
    assert "<&]]>\"'\\x00\\x1b\\ufffe00" in output


def test_openmetrics_has_the_means_under_valid_names() -> None:
    found = to_openmetrics(verdict("P@1 P.1 RR", worse=6))

    assert found == "P_1 0.5\nP_1_ 0.5\nRR 0.5\nfastrank_gate_passed 0\n# EOF\n"


def test_the_assertion_shows_the_table() -> None:
    qrels = {f"q{place}": {"d": 1} for place in range(8)}
    before, now = ({query: {doc: 1.0} for query in qrels} for doc in ("d", "x"))
    fr.save_baseline(file := io.BytesIO(), qrels, before, "RR")

    with pytest.raises(AssertionError) as error:
        fr.testing.assert_no_regression(io.BytesIO(file.getvalue()), qrels, now)
    assert str(error.value).splitlines()[1].startswith("measure      baseline     now    change")
    assert "RR fell by 1.0000 to 0.0000; at most 0.02 is allowed" in str(error.value)


def test_the_table_of_checks_has_a_row_for_each() -> None:
    columns = verdict().checks.columns

    assert (columns["measure"], columns["result"]) == (["RR", "P@5"], ["fail", "fail"])


@pytest.mark.parametrize("form", [str, to_markdown, to_github, to_junit, to_json])
def test_ids_begin_no_line_and_move_no_cursor(form: Callable[[fr.types.Verdict], str]) -> None:
    """A workflow would obey the first, a terminal the second."""
    found = form(verdict("RR", name="\n::error::\r\x1b[2J\x9b\u202e\u2028\udcff"))

    assert not any(line.startswith("::error::") for line in found.splitlines())
    assert found.replace("\n", "").isprintable()
