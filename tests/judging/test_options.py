"""What is left out of an evaluation: queries without results, judgments or relevance, documents."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_qrels_jg, parse_run
from tests.helpers.strategies import examples

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq3 0 d 0\nq4 0 d 1\n"
RUN = b"q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 c 1 9 t\nq3 Q0 d 1 1 t\nq9 Q0 z 1 1 t\n"
LEVELS = ("9.0.8", "10.0")


def lines(run: dict[str, list[tuple[str, float]]]) -> bytes:
    return b"".join(
        f"{query} Q0 {doc} 0 {score!r} t\n".encode()
        for query, own in run.items()
        for doc, score in own
    )


# Missing queries


@pytest.mark.parametrize("trec_eval_version", LEVELS)
@pytest.mark.parametrize("streamed", [False, True])
def test_missing_zero_counts_missing_queries_as_zero(
    trec_eval_version: str, streamed: bool, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    path.write_bytes(RUN)
    run: Any = path if streamed else parse_run(RUN)
    qrels = parse_qrels(QRELS)

    zero = fr.evaluate(qrels, run, "all_trec", missing="zero", trec_eval_version=trec_eval_version)

    assert zero.queries == ["q1", "q2", "q3", "q4"]
    assert zero.mean["map"] == (0.5 + 1 + 0 + 0) / 4
    assert (
        fr.evaluate(qrels, run, "map", missing="skip", trec_eval_version=trec_eval_version).mean[
            "map"
        ]
        == 1.5 / 3
    )


@pytest.mark.parametrize("streamed", [False, True])
def test_missing_error_names_the_missing_queries(streamed: bool, tmp_path: Path) -> None:
    """The first few, and how many they are."""
    path = tmp_path / "run"
    path.write_bytes(RUN)
    many = parse_qrels(QRELS + b"".join(b"x%d 0 d 1\n" % i for i in range(9)))
    run: Any = path if streamed else parse_run(RUN)

    with pytest.raises(fr.EvaluationError, match=r"10 of 13 .*: q4, x0, x1, x2, x3, \.\.\.$"):
        fr.evaluate(many, run, "map", missing="error")
    fine = fr.evaluate(parse_qrels(QRELS[:27]), run, "map", missing="error")
    assert fine.counts["missing_queries"] == 0


@pytest.mark.parametrize("name", ["ties", "missing", "no_relevant", "duplicates"])
def test_an_unknown_choice_is_told_the_known_ones(name: str) -> None:
    options: dict[str, Any] = {name: "average_"}

    with pytest.raises(fr.OptionError, match=f"{name}: expected one of '.*', found 'average_'"):
        fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map", **options)


@pytest.mark.parametrize("name", ["judged_only", "ignore_identical_ids"])
def test_a_flag_is_true_or_false_and_no_text(name: str) -> None:
    """Those of numpy too; "no" would be true."""
    qrels, run = parse_qrels(QRELS), parse_run(RUN)
    wanted = [fr.evaluate(qrels, run, "map", **{name: own}).mean for own in (True, False)]

    found = [
        fr.evaluate(qrels, run, "map", **{name: numpy.bool_(own)}).mean for own in (True, False)
    ]

    assert found == wanted
    for wrong in ("no", None, 2):
        with pytest.raises(fr.OptionError, match=f"{name}: expected True or False, found"):
            fr.evaluate(qrels, run, "map", **{name: wrong})


def test_a_depth_is_not_negative() -> None:
    qrels, run = parse_qrels(QRELS), parse_run(RUN)

    for depth in (0, -1):
        with pytest.raises(fr.OptionError, match=f"depth: expected 1 or more, found {depth}"):
            fr.evaluate(qrels, run, "map", depth=depth)


# Queries without a relevant document


@pytest.mark.parametrize("streamed", [False, True])
def test_queries_without_a_relevant_document_can_be_left_out(
    streamed: bool, tmp_path: Path
) -> None:
    """Of the values, the means and the number of queries; with -c too."""
    path = tmp_path / "run"
    path.write_bytes(RUN)
    run: Any = path if streamed else parse_run(RUN)
    qrels = parse_qrels(QRELS)

    zero = fr.evaluate(qrels, run, "map num_q")
    skip = fr.evaluate(qrels, run, "map num_q", no_relevant="skip")
    complete = fr.evaluate(qrels, run, "map num_q", no_relevant="skip", missing="zero")

    assert zero.queries == ["q1", "q2", "q3"]
    assert (zero.counts["no_relevant_queries"], zero.counts["no_relevant_skipped"]) == (1, 0)
    assert skip.queries == ["q1", "q2"]
    assert skip.mean == {"map": 0.75, "num_q": 2.0}
    assert (skip.counts["no_relevant_queries"], skip.counts["no_relevant_skipped"]) == (0, 1)
    assert complete.mean == {"map": 0.5, "num_q": 3.0}


def test_what_is_relevant_depends_on_the_level() -> None:
    skip = fr.evaluate(
        parse_qrels(QRELS), parse_run(RUN), "map", no_relevant="skip", relevance_level=2
    )

    assert skip.queries == ["q2"]
    assert skip.counts["no_relevant_skipped"] == 3


@pytest.mark.parametrize("negative", ["q0", "q2"])
@pytest.mark.parametrize("compat", ["9.0.8", "10.0"])
def test_a_query_of_negative_grades_has_no_relevant_document_whichever_it_is(
    negative: str, compat: str, tmp_path: Path
) -> None:
    """trec_eval stops at one that is the first, and evaluates others as such."""
    given: dict[str, Any] = {negative: {"a": -1, "b": -2}, "q1": {"a": 1}}
    run = {query: {"a": 2.0, "b": 1.0} for query in given}
    path, scattered = tmp_path / "run", tmp_path / "scattered"
    lines = [
        f"{q} Q0 {doc} 1 {score} t\n" for q, docs in run.items() for doc, score in docs.items()
    ]
    path.write_text("".join(lines))
    scattered.write_text("".join(lines[::2] + lines[1::2]))
    noun = fr.Run.from_dict(run)

    for some in (run, noun, path, scattered):
        for ties in ("docno_desc", "given", "average"):
            found = fr.evaluate(given, some, "map P.1 num_rel", ties=ties, trec_eval_version=compat)
            assert found.mean == {"map": 0.5, "P_1": 0.5, "num_rel": 1}
        found = fr.evaluate(given, some, "all_trec", trec_eval_version=compat, no_relevant="skip")
        assert (found.queries, found.mean["map"]) == (["q1"], 1.0)


def test_a_query_without_a_relevant_document_can_be_an_error() -> None:
    with pytest.raises(
        fr.EvaluationError, match=r"1 of 4 .* no relevant document \(grade 1 or more\): q3$"
    ):
        fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map", no_relevant="error")


def test_where_all_queries_are_left_out_the_error_says_so() -> None:
    with pytest.raises(fr.NoQueriesError, match="skipped 1 judged query without a relevant"):
        fr.evaluate(parse_qrels(b"q3 0 d 0\n"), parse_run(RUN), "map", no_relevant="skip")


def test_judgment_groups_count_together() -> None:
    """A query has a relevant document if one of its groups has."""
    qrels = parse_qrels_jg(b"q1 g1 a 0\nq1 g2 a 1\nq2 g1 a 0\n")
    run = parse_run(b"q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n")

    found = fr.evaluate(qrels, run, "map_avgjg", no_relevant="skip")

    assert found.queries == ["q1"]
    assert found.mean["map_avgjg"] == 0.5


@pytest.mark.parametrize("no_relevant", ["skip", "error"])
def test_preferences_have_no_relevant_documents(no_relevant: str) -> None:
    with pytest.raises(fr.OptionError, match="preferences have no relevant documents"):
        fr.evaluate(
            parse_prefs(b"q g s a 2\nq g s b 1\n"), parse_run(b"q Q0 a 1 1 t\n"), "prefs_simp",
            no_relevant=no_relevant,
        )  # fmt: skip


# Documents left out of rankings

IDS = st.sampled_from(["q1", "q2", "a", "b", "c", "d"])
RUNS = st.dictionaries(
    st.sampled_from(["q1", "q2"]),
    st.dictionaries(IDS, st.sampled_from([1.0, 2.0, 3.0]), min_size=1),
    min_size=1,
)


@given(RUNS, st.dictionaries(IDS, st.sets(IDS)), st.booleans(), st.sampled_from(LEVELS))
@examples(150)
def test_excluded_documents_are_as_if_never_retrieved(
    run: dict[str, dict[str, float]],
    exclude: dict[str, set[str]],
    identical: bool,
    trec_eval_version: str,
) -> None:
    """As BEIR deletes them from the results; pytrec_eval evaluates what is left."""
    judgments = {query: {"a": 1, "b": 0, "c": 2, "q1": 1} for query in ("q1", "q2")}
    left = {
        query: {
            doc: score
            for doc, score in docs.items()
            if doc not in exclude.get(query, ()) and not (identical and doc == query)
        }
        for query, docs in run.items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, {"map", "ndcg", "P", "num_ret"})
    expected = evaluator.evaluate({query: docs for query, docs in left.items() if docs})
    text = lines({query: list(docs.items()) for query, docs in run.items()})
    qrels = parse_qrels(b"".join(
        f"{query} 0 {doc} {grade}\n".encode()
        for query, own in judgments.items()
        for doc, grade in own.items()
    ))  # fmt: skip

    found = fr.evaluate(
        qrels, parse_run(text), "map ndcg P num_ret", exclude=exclude,
        ignore_identical_ids=identical, trec_eval_version=trec_eval_version,
    )  # fmt: skip

    for i, query in enumerate(found.queries):
        for name in found:
            assert found[name][i] == expected.get(query, {}).get(name, 0.0), name
    assert found.counts["excluded"] == sum(map(len, run.values())) - sum(map(len, left.values()))


def test_nothing_passed_in_is_changed() -> None:
    qrels, run = parse_qrels(QRELS), parse_run(RUN)
    exclude = {"q1": ["b"], "q2": ["b", "b"]}
    before = [list(run.docs), run.scores.tolist(), run.offsets.tolist(), list(qrels.queries)]

    scores = fr.evaluate(
        qrels, run, "map", exclude=exclude, duplicates="max", no_relevant="skip", ties="best"
    )

    assert scores.mean["map"] == 1.0
    assert scores.counts["excluded"] == 1
    assert before == [
        list(run.docs),
        run.scores.tolist(),
        run.offsets.tolist(),
        list(qrels.queries),
    ]
    assert exclude == {"q1": ["b"], "q2": ["b", "b"]}


def test_documents_of_queries_that_are_not_judged_are_not_counted() -> None:
    found = fr.evaluate(
        parse_qrels(QRELS), parse_run(RUN), "map", exclude={"q9": ["z"], "nowhere": ["z"]}
    )

    assert found.counts["excluded"] == 0


def test_a_note_counts_excluded_documents_of_queries_that_do_not_exist() -> None:
    qrels, run = {"q1": {"d1": 1}, "q2": {"d1": 1}}, {"q1": {"d1": 1.0}, "q3": {"d1": 1.0}}
    known = {query: ["x"] for query in ("q1", "q2", "q3")}

    found = fr.evaluate(qrels, run, "map", exclude={**known, "nowhere": ["x"]})

    assert found.counts["unknown_exclusions"] == 1
    assert "1 query with documents to exclude is neither judged nor in the run" in str(found)
    assert "unknown_exclusions" not in fr.evaluate(qrels, run, "map", exclude=known).counts


@pytest.mark.parametrize(("level", "noted"), [(1, False), (2, True), (1.5, True)])
def test_a_note_asks_about_a_relevance_level_above_all_grades(level: float, noted: bool) -> None:
    qrels, run = {"q1": {"d1": 1}, "q2": {"d1": 0}}, {"q1": {"d1": 1.0}}
    question = "no judged document is relevant: is the relevance level above all grades?"

    assert (question in str(fr.evaluate(qrels, run, "map", relevance_level=level))) is noted


def test_no_note_asks_about_the_relevance_level_for_measures_that_ignore_it() -> None:
    found = fr.evaluate({"q": {"d": 0.5}}, {"q": {"d": 1.0}}, "ndcg nDCG@5 rbp")

    assert "relevance level" not in str(found)


@pytest.mark.parametrize("trec_eval_version", LEVELS)
def test_a_query_of_which_nothing_is_left_is_not_missing(trec_eval_version: str) -> None:
    """It has results, none of which counts; and at 10.0 no placeholder takes their place."""
    found = fr.evaluate(
        parse_qrels(QRELS), parse_run(RUN), "map num_ret", exclude={b"q2": [b"c"]}, missing="zero",
        trec_eval_version=trec_eval_version,
    )  # fmt: skip

    assert found.queries[:3] == ["q1", "q2", "q3"]
    assert found["num_ret"].tolist()[:3] == [2.0, 0.0, 1.0]
    assert found.mean["map"] == 0.5 / 4
    assert found.counts["missing_queries"] == 1


def test_integer_ids_are_their_digits() -> None:
    qrels, run = parse_qrels(b"7 0 8 1\n"), parse_run(b"7 Q0 9 1 2 t\n7 Q0 8 1 1 t\n")

    assert fr.evaluate(qrels, run, "recip_rank", exclude={7: [9]}).mean["recip_rank"] == 1.0


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        ([("q1", "a")], "expected a mapping from query to documents, found list"),
        ({"q1": "abc"}, "query 'q1': expected a list or set of documents, found 'abc'"),
        ({"q1": None}, "query 'q1': expected a list or set of documents, found None"),
    ],
)
def test_what_cannot_be_excluded_is_a_type_error(exclude: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map", exclude=exclude)


@pytest.mark.parametrize("wrong", [1.5, None, True, "\ud800"])
def test_what_is_no_id_cannot_be_excluded(wrong: Any) -> None:
    """The same ids as in dicts."""
    with pytest.raises(fr.InputError, match="exclude: query 'q1': "):
        fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map", exclude={"q1": [wrong]})


@pytest.mark.parametrize("duplicates", ["first", "max"])
@given(
    results=st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from([1.0, 2.0, 3.0])),
        min_size=1,
        max_size=12,
    )
)
@examples(100)
def test_of_a_repeated_document_one_line_counts(
    duplicates: str, results: list[tuple[str, float]]
) -> None:
    """The first, or the highest score: as if the others had never been there."""
    kept: dict[str, float] = {}
    for doc, score in results:
        if duplicates == "max":
            score = max(score, kept.get(doc, score))
        else:
            score = kept.get(doc, score)
        kept[doc] = score
    qrels = parse_qrels(b"q 0 a 1\nq 0 b 2\n")

    found = fr.evaluate(
        qrels, parse_run(lines({"q": results})), "map ndcg num_ret", duplicates=duplicates
    )

    expected = fr.evaluate(qrels, parse_run(lines({"q": list(kept.items())})), "map ndcg num_ret")
    assert found.mean == expected.mean
    assert found.counts["duplicates"] == len(results) - len(kept)


def test_a_number_is_kept_rather_than_nan() -> None:
    text = b"q Q0 a 1 nan t\nq Q0 b 1 1 t\nq Q0 a 1 2 t\nq Q0 a 1 nan t\n"
    run = parse_run(text, strict=False)

    found = fr.evaluate(parse_qrels(b"q 0 a 1\n"), run, "recip_rank", duplicates="max")

    assert found.mean["recip_rank"] == 1.0


def test_an_excluded_document_may_be_repeated() -> None:
    run = parse_run(b"q Q0 a 1 2 t\nq Q0 a 1 3 t\nq Q0 b 1 1 t\n")
    qrels = parse_qrels(b"q 0 b 1\n")

    assert fr.evaluate(qrels, run, "map", exclude={"q": ["a"]}).mean["map"] == 1.0
    with pytest.raises(fr.EvaluationError, match="duplicate docs a, lines 1 and 2"):
        fr.evaluate(qrels, run, "map")


def test_a_repeated_document_is_told_by_its_lines_whatever_was_left_out() -> None:
    run = parse_run(b"q Q0 x 1 9 t\nq Q0 a 1 2 t\nq Q0 y 1 9 t\nq Q0 a 1 3 t\n")

    with pytest.raises(fr.EvaluationError, match="duplicate docs a, lines 2 and 4"):
        fr.evaluate(parse_qrels(b"q 0 a 1\n"), run, "map", exclude={"q": ["x", "y"]})


def test_the_options_apply_to_preferences_and_groups() -> None:
    """A document left out is one that was not retrieved."""
    preferences = parse_prefs(b"q g s a 2\nq g s b 1\n")
    groups = parse_qrels_jg(b"q g1 a 1\nq g2 b 1\n")
    run = parse_run(b"q Q0 b 1 3 t\nq Q0 b 1 1 t\nq Q0 a 2 2 t\nq Q0 q 2 9 t\n")
    options: dict[str, Any] = {"duplicates": "first", "ignore_identical_ids": True}

    kept = fr.evaluate(preferences, run, "prefs_simp", **options)
    left = fr.evaluate(preferences, run, "prefs_simp", **options, exclude={"q": ["b"]})
    by_group = fr.evaluate(groups, run, "map_avgjg", **options)

    assert (kept.mean["prefs_simp"], left.mean["prefs_simp"]) == (0.0, 1.0)
    assert by_group.mean["map_avgjg"] == (1 / 2 + 1) / 2
    assert by_group.counts["excluded"] == by_group.counts["duplicates"] == 1


# The command


def fastrank_eval(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "qrels").write_bytes(QRELS)
    (folder / "run").write_bytes(RUN + b"q1 Q0 b 3 0 t\nq1 Q0 q1 3 7 t\n")
    (folder / "exclude").write_bytes(b"q1 b\n\n q9\tz \n")
    return subprocess.run(
        [sys.executable, "-m", "fastrank", "eval", "-m", "map", *arguments, "qrels", "run"],
        capture_output=True, text=True, check=False, cwd=folder,
        env={"PYTHONPATH": str(Path(fr.__file__).parent.parent)},
    )  # fmt: skip


def test_the_command_has_the_same_options(tmp_path: Path) -> None:
    found = fastrank_eval(
        tmp_path, "--duplicates", "max", "--ignore-identical-ids", "--exclude", "exclude",
        "--no-relevant", "skip", "--missing", "zero", "--ties", "average", "--depth", "5",
    )  # fmt: skip

    assert found.returncode == 0
    assert found.stdout.splitlines()[-1] == f"{'map':22}\tall\t0.6667"
    assert found.stderr.splitlines() == [
        "fastrank eval: run: the run lacks 1 of 3 judged queries (q4); it counts as 0",
        "fastrank eval: run: 1 query of the run has no judgments (q9)",
        "fastrank eval: run: 1 judged query without a relevant document was skipped",
        "fastrank eval: run: 3 documents were excluded from the rankings",
    ]


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        (["--missing", "error", "--duplicates", "max"], "1 of 4 judged queries is missing", 1),
        (["--no-relevant", "error"], "1 of 4 judged queries have no relevant document", 2),
        (["--exclude", "qrels"], "qrels:1: expected 2 fields (query doc), found 4", 2),
        (
            ["--ties", "average", "-m", "infAP"],
            "ties='average' does not support 'infAP'; it supports NumRet",
            2,
        ),
        ([], "duplicate docs b, lines 1 and 6 of run", 1),
    ],
)
def test_the_command_says_what_is_wrong(
    arguments: list[str], message: str, status: int, tmp_path: Path
) -> None:
    found = fastrank_eval(tmp_path, *arguments)

    assert message in found.stderr
    assert (found.stdout, found.returncode) == ("", status)


def test_a_repeated_judgment_of_a_missing_query_is_an_error_where_it_counts() -> None:
    """Measures pooled over all documents look at the judgments of missing queries too."""
    qrels = parse_qrels(b"q1 0 a 1\nq2 0 b 1\nq2 0 b 0\n", "qrels")

    with pytest.raises(fr.EvaluationError, match="query 'q2': duplicate docs b, lines 2 and 3"):
        fr.evaluate(qrels, {"q1": {"a": 1.0}}, "PercentileRank", missing="zero")
