"""The recorded cases and the quick test of trec_eval itself, where a checkout has them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from fastrank.core.native import engine
from tests.helpers import paths

SHARED = paths.SHARED / "trec_eval"
CASES = SHARED / "cases"
SUITE = SHARED / "suite"
LEVELS = {"9.0.8": "v908", "10.0": "v10"}

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the shared recordings are not here")
slow_in_python = pytest.mark.skipif(
    engine().startswith("plain"), reason="minutes with the plain-Python kernels"
)

# Where we answer and the original does not: (case, level) to the reason.
NEW_MEASURE = "a measure of 10.0, which 9.0.8 does not know, can be asked for by name"
COMMENTS = "9.0.8 cannot read the file; we read its comments"
STDIN = "9.0.8 cannot read a run from standard input"
MISSING = "10.0 stops at a judged query without results; we skip it, as 9.0.8 does"
DELIBERATE = {
    ("dcg_with_params", "9.0.8"): NEW_MEASURE,
    ("missing_query_placeholder_not_fully_cleared", "9.0.8"): NEW_MEASURE,
    ("qrels_later_query_all_minus1_ideal_dcg_is_stale", "9.0.8"): NEW_MEASURE,
    ("rbp_alone_graded", "9.0.8"): NEW_MEASURE,
    ("rbp_p_and_gain_params", "9.0.8"): NEW_MEASURE,
    ("rbp_resid_p", "9.0.8"): NEW_MEASURE,
    ("unj_default_and_cutoffs", "9.0.8"): NEW_MEASURE,
    ("prefs_comment_line", "9.0.8"): COMMENTS,
    ("qrels_comment_at_end_of_file", "9.0.8"): COMMENTS,
    ("qrels_comment_in_middle", "9.0.8"): COMMENTS,
    ("qrels_second_comment_with_four_words_becomes_data", "9.0.8"): COMMENTS,
    ("run_blank_and_comment_lines", "9.0.8"): COMMENTS,
    ("run_from_stdin_dash", "9.0.8"): STDIN,
    ("stdin_run_very_long_lines", "9.0.8"): STDIN,
    ("stdin_run_without_final_newline_crlf", "9.0.8"): STDIN,
    ("prefs_missing_query_without_c", "10.0"): MISSING,
}


def _load(path: Path) -> Any:
    return json.loads(path.read_text())


def _cases() -> list[Any]:
    if not CASES.is_dir():
        return []
    return [
        pytest.param(folder, level, id=f"{folder.name}-{level}")
        for folder in sorted(CASES.iterdir())
        for level, version in LEVELS.items()
        if version not in _load(folder / "case.json")["ub"]
    ]


@pytest.mark.parametrize(("folder", "level"), _cases())
def test_recorded_case(folder, level, trec_eval):
    """The original's output and exit status, or the answer that we deliberately give instead."""
    expected = _load(folder / f"expected_{LEVELS[level]}.json")
    stdin = folder / "stdin.bin"
    arguments = _load(folder / "cmd.txt")

    found = trec_eval(
        *arguments,
        stdin=stdin.read_bytes() if stdin.exists() else b"",
        trec_eval_version=level,
        folder=folder,
    )

    if (folder.name, level) in DELIBERATE:
        assert expected["exit"] != 0
        assert (found.status, bool(found.stdout)) == (0, True)
        return
    assert found.status == expected["exit"]
    if "-h" in arguments and not found.status:
        assert found.stdout.startswith(b"trec_eval [options] REL_FILE RUN_FILE")
    else:
        recorded = expected.get("stdout_b64")
        text = base64.b64decode(recorded) if recorded else (expected["stdout"] or "").encode()
        assert found.stdout == text
    if expected["stderr_first_line"]:
        assert found.stderr


ADVICE = {
    "qrels_comment_at_end_of_file": b"map                   \tall\t0.5000\n",
    "zscores_query_after_all_others_crashes": b"-1000000",
    "zscores_measure_after_all_others_crashes": b"-1000000",
    "zscores_lookup_hits_next_query": b"-1000000",
}


@pytest.mark.parametrize("name", ADVICE)
def test_undefined_behaviour_becomes_the_sane_result(name, trec_eval):
    """Where the original crashes or reads what it should not, the advised answer."""
    found = trec_eval(
        *_load(CASES / name / "cmd.txt"), trec_eval_version="10.0", folder=CASES / name
    )

    assert found.status == 0
    assert ADVICE[name] in found.stdout


# The recorded output: the arguments. Files with comments give the same as those without.
QUICK_TEST = """
out.test: qrels.test results.test
out.test with comments: qrels.test.with-comments results.test
out.comment.test: qrels.comment.test results.comment.test
out.test.a: -m all_trec qrels.test results.test
out.test.aq: -m all_trec -q qrels.test results.test
out.test.aqc: -m all_trec -q -c qrels.test results.trunc
out.test.aqcM: -m all_trec -q -c -M100 qrels.test results.trunc
out.test.aql: -m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test
out.test.prefs: -m all_prefs -q -R prefs prefs.test prefs.results.test
out.test.prefs with comments: -m all_prefs -q -R prefs prefs.comment.test prefs.results.test
out.test.qrels_prefs: -m all_prefs -q -R qrels_prefs qrels.test results.test
out.test.qrels_jg: -m qrels_jg -q -R qrels_jg qrels.123 results.test
out.test.qrels_jg with comments: -m qrels_jg -q -R qrels_jg qrels.comments.123 results.test
out.test.meas_params: -q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 \
    -m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 \
    -mndcg_cut.10,20,23.4 -msuccess.2,5,20 qrels.test results.test
out.test.aqZ: -q -m all_trec -Z zscores_file qrels.test results.test
"""
COMMANDS = [line.split(": ") for line in QUICK_TEST.strip().splitlines()]


@slow_in_python
@pytest.mark.parametrize(("name", "arguments"), COMMANDS)
def test_quick_test_of_trec_eval_10(name, arguments, trec_eval):
    """Each command of `make quicktest`, byte for byte."""
    found = trec_eval(*arguments.split(), trec_eval_version="10.0", folder=SUITE)

    assert found.stdout == (SUITE / name.split()[0]).read_bytes()
    assert found.status == 0


# In these measures 9.0.8 differs from 10.0 by definition: recall targets, and all_trec's members.
CHANGED = b"iprec_at_recall 11pt_avg Ziprec_at_recall Z11pt_avg rbp Zrbp unj Zunj"
SAME_QUERIES = [own for own in COMMANDS if "comment" not in own[0] and "aqc" not in own[0]]


@slow_in_python
@pytest.mark.parametrize(("name", "arguments"), SAME_QUERIES)
def test_quick_test_at_9_0_8_differs_only_where_the_versions_do(name, arguments, trec_eval):
    """At 9.0.8 every line but those of the changed measures is the recorded one of 10.0."""
    found = trec_eval(*arguments.split(), trec_eval_version="9.0.8", folder=SUITE)

    lines, recorded = (
        [line for line in text.splitlines() if not line.startswith(tuple(CHANGED.split()))]
        for text in (found.stdout, (SUITE / name.split()[0]).read_bytes())
    )
    assert lines == recorded
