"""What is left out of an evaluation: queries without results, judgments or relevance, documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.core.matching import plan
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_qrels_jg, parse_run
from tests.helpers.small import grades, run_lines, scores
from tests.helpers.tables import giving, refusing, rows

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq3 0 d 0\nq4 0 d 1\n"
RUN = b"q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 c 1 9 t\nq3 Q0 d 1 1 t\nq9 Q0 z 1 1 t\n"
VERSIONS = ("9.0.8", "10.0")
PREFERENCES = parse_prefs(b"q g s a 2\nq g s b 1\n")
GROUPS = parse_qrels_jg(b"q1 g1 a 0\nq1 g2 a 1\nq2 g1 a 0\n")


def found(measures: str = "map", qrels: Any = QRELS, run: Any = RUN, **options: Any) -> fr.Scores:
    """The scores of texts, or of dicts."""
    qrels = parse_qrels(qrels) if isinstance(qrels, bytes) else qrels
    run = parse_run(run) if isinstance(run, bytes) else run
    return fr.evaluate(qrels, run, measures, **options)


MORE = QRELS + b"".join(b"x%d 0 d 1\n" % i for i in range(9))
REPEATED = b"q Q0 x 1 9 t\nq Q0 a 1 2 t\nq Q0 y 1 9 t\nq Q0 a 1 3 t\nq Q0 b 1 1 t\n"
TWO_A = b"q Q0 a 1 1 t\nq Q0 a 1 nan t\nq Q0 b 1 1.5 t\nq Q0 a 1 2 t\nq Q0 a 1 nan t\n"
SIXES = {f"q{i}": {"a": 1} for i in range(7)}


def missing(count: int) -> Any:
    """A run that lacks so many of the judged queries."""
    qrels = dict(list(SIXES.items())[: count + 1])
    return fr.evaluate(qrels, scores("q0 a=1"), "map", missing="error")


test_options_change_values_as_described = giving("""
# missing="error" is none where no query is missing
found(qrels=QRELS[:27], missing="error").counts["missing_queries"] => 0
# a query has a relevant document if one of its groups of judgments has
found("map_avgjg", GROUPS, b"q1 Q0 a 1 1 t\\nq2 Q0 a 1 1 t\\n", no_relevant="skip").to_dict()
  => {"q1": {"map_avgjg": 0.5}}
# ids that are integers are their digits
found("recip_rank", b"7 0 8 1\\n", b"7 Q0 9 1 2 t\\n7 Q0 8 1 1 t\\n", exclude={7: [9]}).mean
  => {"recip_rank": 1.0}
# a number is kept rather than NaN
found("recip_rank", b"q 0 a 1\\n", parse_run(TWO_A, strict=False), duplicates="max").mean
  => {"recip_rank": 1.0}
# excluded documents are counted beside placeholders of missing queries, which 10.0 has under -c
found(qrels=grades("q1 a=1 b=1; q2 c=1"), run=scores("q1 a=2 b=1"), trec_eval_version="10.0",
  missing="zero", exclude={"q1": ["a"], "q2": ["x"]}).counts["excluded"] => 1
# no note asks about the relevance level for measures that ignore it
"relevance level" in str(fr.evaluate({"q": {"d": 0.5}}, scores("q d=1"), "ndcg nDCG@5 rbp"))
  => False
""")

test_impossible_options_are_refused = refusing(r"""OptionError
# the options are looked at before the judgments, of which one query has no relevant document
found(no_relevant="error", ties="average", judged_only=True, depth=1) =>
  ties: 'average' does not support judged_only with a depth: ...
# an unknown choice is told the known ones
found(ties="average_") =>
  ties: expected one of 'docno_desc', ..., 'average', found 'average_'; did you mean 'average'?
found(missing="average_") => missing: expected one of 'skip', 'zero', 'error', found 'average_'
found(no_relevant="best") => no_relevant: expected one of 'zero', ..., 'error', found 'best'
found(duplicates="best") => duplicates: expected one of 'error', 'first', 'max', found 'best'
# a flag is true or false and no text
found(judged_only="no") => judged_only: expected True or False, found 'no'
found(judged_only=2) => judged_only: expected True or False, found 2
found(ignore_identical_ids=None) => ignore_identical_ids: expected True or False, found None
# missing queries are named, five at most
missing(1) => EvaluationError: 1 of 2 judged queries is missing from the run: q1
missing(6) =>
  EvaluationError: 6 of 7 judged queries are missing from the run: q1, q2, q3, q4, q5, ...
found(qrels=MORE, missing="error") =>
  EvaluationError: 10 of 13 judged queries are missing from the run: q4, x0, x1, x2, x3, ...
# a query without a relevant document can be an error
found(no_relevant="error") =>
  EvaluationError: 1 of 4 judged queries have no relevant document (grade 1 or more): q3
# where all queries are left out the error says so
found(qrels=b"q3 0 d 0\n", no_relevant="skip") =>
  NoQueriesError: there are no judged queries; skipped 1 judged query without a relevant document
# preferences have no relevant documents
found("prefs_simp", PREFERENCES, b"q Q0 a 1 1 t\n", no_relevant="error") =>
  no_relevant: found 'error', but preferences have no relevant documents
# what can be excluded is a mapping from queries to documents
found(exclude=[("q1", "a")]) =>
  TypeError: exclude: expected a mapping from query to documents, found list
found(exclude={"q1": "abc"}) =>
  TypeError: exclude: query 'q1': expected a list or set of documents, found 'abc'
found(exclude={"q1": None}) =>
  TypeError: exclude: query 'q1': expected a list or set of documents, found None
# what is no id cannot be excluded
found(exclude={"q1": [1.5]}) =>
  InputError: exclude: query 'q1': expected an id, found the float 1.5; use integers or strings ...
found(exclude={"q1": [None]}) =>
  InputError: exclude: query 'q1': expected an id, found a missing value
found(exclude={"q1": [True]}) =>
  InputError: exclude: query 'q1': expected an id (str, bytes or int), found bool: True
found(exclude={"q1": ["\ud800"]}) =>
  InputError: exclude: query 'q1': expected an id, found a lone surrogate in '\ud800', ...
# a repeated document is told by its lines whatever was left out
found(qrels=b"q 0 a 1\n", run=REPEATED, exclude={"q": ["x", "y"]}) =>
  EvaluationError: query 'q': duplicate docs a, lines 2 and 4 of <bytes>
# measures pooled over all documents look at the judgments of missing queries too
found("PercentileRank", b"q1 0 a 1\nq2 0 b 1\nq2 0 b 0\n", scores("q1 a=1"), missing="zero") =>
  EvaluationError: query 'q2': duplicate docs b, lines 2 and 3 of <bytes>
""")


@pytest.mark.parametrize("name", ["judged_only", "ignore_identical_ids"])
def test_a_flag_may_be_one_of_numpy_or_a_number(name):
    run = run_lines(scores("q1 x=9 b=2 q1=1.5 a=1"))
    for own in (True, False):
        wanted = found(run=run, **{name: own}).mean
        for given_ in (np.bool_(own), int(own)):
            assert found(run=run, **{name: given_}).mean == wanted


# Documents left out of rankings


def test_nothing_passed_in_is_changed():
    qrels, run = parse_qrels(QRELS), parse_run(RUN)
    exclude = {"q1": ["b"], "q2": ["b", "b"]}

    def state() -> Any:
        columns = [list(run.docs), run.scores.tolist(), run.offsets.tolist(), list(qrels.queries)]
        return columns, qrels.grades.tolist(), repr(exclude)

    before = state()
    how: Any = {"duplicates": "max", "no_relevant": "skip", "ties": "best", "exclude": exclude}
    left = fr.evaluate(qrels, run, "map", **how)
    fr.evaluate(qrels, run, "all_trec", depth=1, judged_only=True, missing="zero")

    assert (left.mean["map"], left.counts["excluded"]) == (1.0, 1)
    assert state() == before


def test_a_note_counts_excluded_documents_of_queries_that_do_not_exist():
    qrels, run = grades("q1 d1=1; q2 d1=1"), scores("q1 d1=1; q3 d1=1")
    known = {query: ["x"] for query in ("q1", "q2", "q3")}

    found = fr.evaluate(qrels, run, "map", exclude={**known, "nowhere": ["x"]})

    assert found.counts["unknown_exclusions"] == 1
    assert "1 query with documents to exclude is neither judged nor in the run" in str(found)
    assert "unknown_exclusions" not in fr.evaluate(qrels, run, "map", exclude=known).counts


@pytest.mark.parametrize(("level", "noted"), [(1, False), (2, True), (1.5, True)])
def test_a_note_asks_about_a_relevance_level_above_all_grades(level, noted):
    question = "no judged document is relevant: is the relevance level above all grades?"

    found = fr.evaluate(grades("q1 d1=1; q2 d1=0"), scores("q1 d1=1"), "map", relevance_level=level)

    assert (question in str(found)) is noted


def test_the_options_apply_to_preferences_and_groups():
    """A document left out is one that was not retrieved."""
    groups = parse_qrels_jg(b"q g1 a 1\nq g2 b 1\n")
    run = b"q Q0 b 1 3 t\nq Q0 b 1 1 t\nq Q0 a 2 2 t\nq Q0 q 2 9 t\n"
    options: dict[str, Any] = {"duplicates": "first", "ignore_identical_ids": True}

    kept = found("prefs_simp", PREFERENCES, run, **options)
    left = found("prefs_simp", PREFERENCES, run, **options, exclude={"q": ["b"]})
    by_group = found("map_avgjg", groups, run, **options)

    assert (kept.mean["prefs_simp"], left.mean["prefs_simp"]) == (0.0, 1.0)
    assert by_group.mean["map_avgjg"] == (1 / 2 + 1) / 2
    assert by_group.counts["excluded"] == by_group.counts["duplicates"] == 1


# The command

COMMANDS = """
# a query is missing
--missing error --duplicates max => 1 1 of 4 judged queries is missing
# a query has no relevant document
--no-relevant error => 2 1 of 4 judged queries have no relevant document
# the documents to exclude have another format
--exclude qrels => 2 qrels:1: expected 2 fields (query doc), found 4
# a measure has no expected value
--ties average -m infAP => 2 --ties average does not support 'infAP'; it supports NumRet
"""
OPTIONS = (
    "--duplicates max --ignore-identical-ids --exclude exclude --no-relevant skip --missing zero"
    " --ties average --depth 5"
)


def run_command(
    options: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> tuple[int, str, str]:
    """The exit status and what is printed."""
    (folder / "qrels").write_bytes(QRELS)
    (folder / "run").write_bytes(RUN + b"q1 Q0 b 3 0 t\nq1 Q0 q1 3 7 t\n")
    (folder / "exclude").write_bytes(b"q1 b\n\n q9\tz \n")
    monkeypatch.chdir(folder)
    status = main(["eval", "-m", "map", *options.split(), "qrels", "run"])
    return (status, *capfd.readouterr())


def test_the_command_has_the_same_options(tmp_path, monkeypatch, capfd):
    status, out, err = run_command(OPTIONS, tmp_path, monkeypatch, capfd)

    assert (status, out.splitlines()[-1]) == (0, f"{'map':22}\tall\t0.6667")
    assert err.splitlines() == [
        "fastrank eval: run: the run lacks 1 of 3 judged queries (q4); it counts as 0",
        "fastrank eval: run: 1 query of the run has no judgments (q9)",
        "fastrank eval: run: 1 judged query without a relevant document was skipped",
        "fastrank eval: run: 3 documents were excluded from the rankings",
    ]


@pytest.mark.parametrize(("options", "expected"), rows(COMMANDS))
def test_the_command_says_what_is_wrong(options, expected, tmp_path, monkeypatch, capfd):
    status, out, err = run_command(options, tmp_path, monkeypatch, capfd)

    wanted, _, message = expected.partition(" ")
    assert message in err
    assert (out, status) == ("", int(wanted))


def test_requirements_do_not_keep_the_exclusions_of_an_evaluation():
    exclude = {"q": [f"no document has this id: {number}" for number in range(3)]}
    fr.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "map", exclude=exclude)

    kept = [requires.options.exclude for requires in plan._REQUIREMENTS.values()]
    assert not any(kept)
