"""The output formats of a verdict."""

from __future__ import annotations

import io
import json
import re  # noqa: F401 (in a table)
from typing import Any

import pytest

import fastrank as fr
from fastrank.analysis.gating.shown import (
    LARGEST,  # noqa: F401 (in a table)
    SHOWN,  # noqa: F401 (in a table)
    annotation,  # noqa: F401 (in a table)
    to_github,
)
from fastrank.analysis.gating.verdict import Verdict
from tests.helpers.tables import giving


def verdict(
    measures: str = "RR P@5", worse: int = 12, queries: int = 12, name: str = "q", **options: Any
) -> fr.types.Verdict:
    """The verdict on a run that loses the document of some queries, which have hostile names."""
    ids = [f"{name}{place:02}" for place in range(queries)]
    qrels, before = {own: {"d": 1} for own in ids}, {own: {"d": 1.0} for own in ids}
    fr.save_baseline(file := io.BytesIO(), qrels, before, measures)
    now = before | {own: {"x": 1.0} for own in ids[:worse]}
    return fr.gate(io.BytesIO(file.getvalue()), qrels, now, **options)


def words(line: str) -> str:
    return " ".join(line.split())


FAILED, HALF, ONE = verdict(), verdict("RR", worse=6), verdict("RR", worse=1, queries=1)
WARNED, OF_TWO = {"on_few": "warn"}, [verdict(worse=2, on_few=own) for own in ("fail", "warn")]
LINES, MARKDOWN, GITHUB = (
    str(HALF).splitlines(),
    FAILED.to_markdown(),
    to_github(FAILED).split("\n"),
)
CUTOFFS = to_github(verdict(" ".join(f"P@{k}" for k in range(1, 15)), worse=11)).splitlines()
ESCAPED, CUT = (verdict("RR", name=name).to_markdown() for name in ("<img>|`\n#", "é" * 100_000))
CUT_LINE = "\n\n(cut: the rest is longer than GitHub accepts)\n"
RECORD = json.loads(verdict(worse=6).to_json())

# One query has no interval and no p-value; Markdown is cut below the limit of GitHub.
test_text_and_markdown_have_the_checks_the_reasons_and_the_worst_queries = giving("""
LINES[0].split("  ")[0] => "measure"
words(LINES[2]) => "RR 1.0000 0.5000 -0.5000 [-0.7707, -0.2293] drop <= 0.02 0.0034 0/6/6 fail"
LINES[4] => "gate failed: 1 of 1 checks (12 queries, policy significant, one-sided paired t-test,
    alpha = 0.05)"
LINES[5] => "  RR fell by 0.5000 to 0.5000; at most 0.02 is allowed (p = 0.0034)"
LINES[6:] => ["  most regressed in RR: " + ", ".join(f"q0{place} -1.0000" for place in range(5))]
words(str(ONE).splitlines()[2]) => "RR 1.0000 0.0000 -1.0000 drop <= 0.02 0/0/1 undecided"
json.loads(ONE.to_json())["checks"][0]["p"] => None
"gate passed (12 queries, policy significant, one-sided" in str(verdict(worse=0)) => True
"gate failed: 2 of 2 checks undecided (" in str(OF_TWO[0]) => True
"gate passed with a warning: 2 of 2 checks undecided (" in str(OF_TWO[1]) => True
"gate failed: 2 of 2 checks (12 queries, policy drop)" in str(verdict(worse=2, policy="drop"))
    => True
MARKDOWN.startswith("### Gate failed: 2 of 2 checks ") => True
len(re.findall(r"^\\| q\\d\\d ", MARKDOWN, re.MULTILINE)) => 20
MARKDOWN.count("Most regressed queries in ") => 2
("<img>" in ESCAPED, r"\\<img\\>\\|\\`\\\\n#00" in ESCAPED) => (False, True)
(len(CUT.encode()) <= LARGEST, CUT.endswith(CUT_LINE)) => (True, True)
(FAILED.checks.columns["measure"], FAILED.checks.columns["result"])
    => (["RR", "P@5"], ["fail", "fail"])
""")

# % is escaped everywhere, and : , in properties (actions/toolkit, command.ts).
test_github_has_an_annotation_for_each_check_that_fails_and_a_summary = giving("""
GITHUB[0].startswith("::error title=RR fell by 1.0000::RR") => True
GITHUB[1].startswith("::error title=P@5 fell by 0.2000::P@5 fell by 0.2000 to 0.0000;") => True
GITHUB[2].startswith("::error title=fastrank gate::gate failed: 2 of 2 checks (12 queri") => True
len(CUTOFFS) == SHOWN == 10 => True
all(line.startswith("::error ") for line in CUTOFFS) => True
CUTOFFS[-1].endswith("; 5 more are not shown") => True
{line.split(" ")[0] for line in to_github(verdict(worse=1, **WARNED)).splitlines()} => {"::warning"}
to_github(verdict(worse=0)).startswith("::notice title=fastrank gate::gate passed (12") => True
annotation("error", "a%b:c,d", "e%f:g,h") => "::error title=a%25b%3Ac%2Cd::e%25f:g,h"
""")

test_json_has_the_checks = giving("""
(RECORD["status"], RECORD["passed"], RECORD["queries"]) => ("fail", False, 12)
RECORD["checks"] => [one._asdict() for one in verdict(worse=6).results]
RECORD["reasons"] => verdict(worse=6).reasons
len(RECORD["regressed"]["RR"]) => 6
""")


def test_the_assertion_shows_the_table():
    qrels = {f"q{place}": {"d": 1} for place in range(8)}
    before, now = ({query: {doc: 1.0} for query in qrels} for doc in ("d", "x"))
    fr.save_baseline(file := io.BytesIO(), qrels, before, "RR")

    with pytest.raises(AssertionError) as error:
        fr.testing.assert_no_regression(io.BytesIO(file.getvalue()), qrels, now)
    assert str(error.value).splitlines()[1].startswith("measure      baseline     now    change")
    assert "RR fell by 1.0000 to 0.0000; at most 0.02 is allowed" in str(error.value)


@pytest.mark.parametrize("form", [str, Verdict.to_markdown, to_github, Verdict.to_json])
def test_ids_begin_no_line_and_move_no_cursor(form):
    """A workflow would obey the first, a terminal the second."""
    found = form(verdict("RR", name="\n::error::\r\x1b[2J\x9b\u202e\u2028\udcff"))

    assert not any(line.startswith("::error::") for line in found.splitlines())
    assert found.replace("\n", "").isprintable()
