"""The Python interface: reading, evaluating, scores."""

from __future__ import annotations

import copy
import io
import pickle
from pathlib import Path

import numpy as np
import pytest

import fastrank as fr
from tests.helpers.parsing import (
    parse_prefs,
    parse_qrels,
    parse_qrels_jg,
    parse_run,
    read_trec_qrels,
    write_trec_qrels,
)

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq3 0 d 1\n"
RUN = b"q1 Q0 b 1 2.0 mine\nq1 Q0 a 2 1.0 mine\nq2 Q0 c 1 9 mine\nq9 Q0 z 1 1 mine\n"


def test_evaluate_gives_values_per_query_and_means() -> None:
    """map of the two common queries: 0.5 and 1.0."""
    scores = fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map P.1,2")

    assert scores.queries == ["q1", "q2"]
    assert scores["map"].tolist() == [0.5, 1.0]
    assert scores["P_2"].tolist() == [0.5, 0.5]
    assert scores.mean == {"map": 0.75, "P_1": 0.5, "P_2": 0.5}
    assert scores.names == ["map", "P_1", "P_2"]
    assert scores.counts["missing_queries"] == 1
    assert scores.tag == "mine"


def test_a_file_name_stands_for_the_run_in_it(tmp_path: Path) -> None:
    """Whatever the number of threads; a path object and an open file do as well."""
    path = tmp_path / "run"
    path.write_bytes(RUN)
    qrels = parse_qrels(QRELS)
    expected = fr.evaluate(qrels, parse_run(RUN), "map P.1,2")

    for run in (str(path), path, io.BytesIO(RUN)):
        scores = fr.evaluate(qrels, run, "map P.1,2", threads=2)
        assert (scores.mean, scores.queries) == (expected.mean, expected.queries)
        assert (scores.counts["missing_queries"], scores.tag) == (1, "mine")


def test_of_a_list_of_runs_comes_a_list_of_scores(tmp_path: Path) -> None:
    """Files and runs in memory, in their order."""
    path = tmp_path / "run"
    path.write_bytes(b"q2 Q0 x 1 2 other\nq2 Q0 c 2 1 other\n")

    found = fr.evaluate(parse_qrels(QRELS), [parse_run(RUN), path], "recip_rank")

    assert [(scores.tag, scores.mean["recip_rank"]) for scores in found] == [
        ("mine", 0.75),
        ("other", 0.5),
    ]
    assert fr.evaluate(parse_qrels(QRELS), [], "map") == []


def test_missing_zero_counts_missing_queries_as_zero() -> None:
    """The mean is over all three judged queries; only two were evaluated."""
    scores = fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map", missing="zero")

    assert scores.mean["map"] == 1.5 / 3
    assert scores.counts["evaluated_queries"] == 2


def test_missing_zero_in_10_0_evaluates_missing_queries() -> None:
    """trec_eval 10.0 also has values for the query without results."""
    scores = fr.evaluate(
        parse_qrels(QRELS), parse_run(RUN), "map", missing="zero", trec_eval_version="10.0"
    )

    assert scores.queries == ["q1", "q2", "q3"]
    assert scores["map"].tolist() == [0.5, 1.0, 0.0]


def test_options_mean_what_trec_eval_means() -> None:
    """relevance_level is -l, depth -M, judged_only -J, collection_size -N."""
    qrels, run = parse_qrels(QRELS), parse_run(RUN)

    assert fr.evaluate(qrels, run, "num_rel", relevance_level=2).mean["num_rel"] == 1
    assert fr.evaluate(qrels, run, "num_ret", depth=1).mean["num_ret"] == 2
    unjudged = parse_run(RUN + b"q1 Q0 x 9 99 mine\n")
    assert fr.evaluate(qrels, unjudged, "recip_rank")["recip_rank"][0] == 1 / 3
    assert fr.evaluate(qrels, unjudged, "recip_rank", judged_only=True)["recip_rank"][0] == 1 / 2
    only_last = fr.evaluate(qrels, run, "utility.0,0,0,1", collection_size=10)
    assert only_last["utility_0,0,0,1"].tolist() == [8.0, 9.0]


def test_the_version_decides_whether_scores_are_floats() -> None:
    """Scores that are one C float tie at 9.0.8, and then the larger id ranks first."""
    qrels = parse_qrels(b"q 0 a 1\n")
    run = parse_run(b"q Q0 a 1 1.00000001 t\nq Q0 b 2 1.0 t\n")

    assert fr.evaluate(qrels, run, "recip_rank").mean["recip_rank"] == 0.5
    assert fr.evaluate(qrels, run, "recip_rank", trec_eval_version="10.0").mean["recip_rank"] == 1.0


def test_the_largest_gain_of_rbp_may_be_that_of_a_grade_no_document_has() -> None:
    """Grade 3 is worth -1, so grade 2 is worth most: gains go from -1 to 2, grade 1 is at 2 / 3."""
    qrels, run = parse_qrels(b"q 0 a 3\nq 0 b 1\n"), parse_run(b"q Q0 b 1 1 t\n")

    scores = fr.evaluate(qrels, run, "rbp.3=-1", trec_eval_version="10.0")

    assert scores.mean["rbp_3=-1"] == pytest.approx(0.1 * 2 / 3)


def test_geometric_means_have_no_values_per_query() -> None:
    """gm_map stands in the means only, and asking for its values says what there is."""
    scores = fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "gm_map map")

    assert scores.mean["gm_map"] == pytest.approx((0.5 * 1.0) ** 0.5)
    with pytest.raises(KeyError, match="'gm_map' is not among the values per query: map"):
        scores["gm_map"]


def test_relstring_gives_strings() -> None:
    """The string of grades of each query."""
    scores = fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "relstring")

    assert scores["relstring"].tolist() == ["01", "2"]


def test_judgment_groups_are_used_by_the_measures_for_them() -> None:
    """map_avgjg averages over the groups that the second field names."""
    qrels = parse_qrels_jg(b"q g1 a 1\nq g2 a 0\nq g2 b 1\n")
    run = parse_run(b"q Q0 a 1 2 t\nq Q0 b 2 1 t\n")

    assert fr.evaluate(qrels, run, "map_avgjg").mean["map_avgjg"] == 0.75


def test_preferences() -> None:
    """One of two preferences is fulfilled."""
    preferences = parse_prefs(b"q g s a 2\nq g s b 1\nq g s c 1\n")
    run = parse_run(b"q Q0 b 1 3 t\nq Q0 a 2 2 t\nq Q0 c 3 1 t\n")

    assert fr.evaluate(preferences, run, "prefs_simp").mean["prefs_simp"] == 0.5


def test_a_measure_for_another_format_is_refused() -> None:
    """map has no meaning for preferences."""
    preferences = parse_prefs(b"q g s a 2\n")

    with pytest.raises(fr.EvaluationError, match="rel_info format not qrels: 'map'"):
        fr.evaluate(preferences, parse_run(b"q Q0 a 1 1 t\n"), "map")


def test_no_common_query_is_an_error() -> None:
    """Nothing to average over."""
    with pytest.raises(fr.NoQueriesError, match="share no query ids"):
        fr.evaluate(parse_qrels(b"q 0 a 1\n"), parse_run(b"other Q0 a 1 1 t\n"))


def test_a_duplicate_document_is_an_error_that_names_its_lines() -> None:
    """Query, document, file and both lines."""
    run = parse_run(b"q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n", "my.run")

    with pytest.raises(
        fr.EvaluationError, match=r"query .q.: duplicate docs a, lines 1 and 3 of my\.run"
    ):
        fr.evaluate(parse_qrels(b"q 0 a 1\n"), run)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((7, "run.txt"), "qrels: expected Qrels or Preferences, a dict, .* or a file, found int"),
        ((parse_qrels(QRELS), parse_qrels(QRELS)), "run: expected a Run, .* a file, found Qrels"),
        ((parse_qrels(QRELS), parse_run(RUN), None), "measures: expected str, found NoneType"),
        ((parse_qrels(QRELS), parse_run(RUN), [b"map"]), "measures: expected str, found bytes"),
    ],
)
def test_other_objects_are_refused(arguments: tuple[object, ...], message: str) -> None:
    """With what was expected and what was found."""
    with pytest.raises(TypeError, match=message):
        fr.evaluate(*arguments)


@pytest.mark.parametrize(
    ("option", "value"),
    [("collection_size", 2**63), ("collection_size", 1.5), ("relevance_level", 2**63)],
)
def test_options_must_be_integers_that_fit(option: str, value: object) -> None:
    """No silent wrap-around."""
    with pytest.raises((TypeError, ValueError), match=f"{option}.*expected"):
        fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map", **{option: value})


@pytest.mark.parametrize("option", ["judged_only", "ignore_identical_ids"])
def test_truth_values_are_not_guessed(option: str) -> None:
    """A text such as "no" would count as true; numpy's own are taken."""
    with pytest.raises(fr.OptionError, match=f"{option}: expected True or False, found 'no'"):
        fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map", **{option: "no"})
    for value in (np.bool_(True), 1):
        fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map", **{option: value})


def test_nouns_can_be_copied_and_pickled() -> None:
    """What comes back evaluates to the same."""
    qrels, run = parse_qrels(QRELS), parse_run(RUN)
    scores = fr.evaluate(qrels, run, "map relstring")

    for again in (pickle.loads(pickle.dumps((qrels, run))), copy.deepcopy((qrels, run)),
                  (copy.copy(qrels), copy.copy(run))):  # fmt: skip
        assert fr.evaluate(*again, "map").mean == {"map": scores.mean["map"]}
    thawed = pickle.loads(pickle.dumps(scores))
    assert thawed["map"].tolist() == scores["map"].tolist()
    assert thawed["relstring"].tolist() == ["01", "2"]
    assert len(pickle.loads(pickle.dumps(fr.MEASURES))) == len(fr.MEASURES)


def test_scores_of_a_file_keep_their_query_ids_like_a_list(tmp_path: Path) -> None:
    """Though they are made when asked for; a pickle holds them, and not the judgments' file."""
    qrels = b"".join(b"q%d 0 d 1\n" % i for i in range(1000))
    path = tmp_path / "run"
    path.write_bytes(b"q2 Q0 d 1 1 t\nq1 Q0 d 1 1 t\nq3 Q0 d 1 1 t\n")
    scores = fr.evaluate(parse_qrels(qrels), path, "map")
    ids = scores.query_ids

    assert (ids == [b"q1", b"q2", b"q3"], ids != scores.query_ids) == (True, False)
    assert (ids[0], ids[-1], ids[1:], len(ids), b"q2" in ids) == (
        b"q1", b"q3", [b"q2", b"q3"], 3, True
    )  # fmt: skip
    assert pickle.loads(pickle.dumps(scores)).query_ids == ids
    assert len(pickle.dumps(ids)) < 100


@pytest.mark.parametrize(
    "error",
    [
        fr.ReadError("run", "gone"),
        fr.FormatError("run", 3, "malformed"),
        fr.MeasureError("maap", "unknown measure 'maap'"),
        fr.EvaluationError("map", b"q1", "duplicate docs", inconsistent=True),
    ],
)
def test_errors_survive_a_pickle(error: fr.FastrankError) -> None:
    """A worker process can hand them to its parent."""
    again = pickle.loads(pickle.dumps(error))

    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_scores_are_a_container_of_names() -> None:
    """`in`, iteration and length go over the names that have values per query."""
    scores = fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map gm_map num_ret")

    assert "map" in scores
    assert "gm_map" not in scores
    assert list(scores) == ["map", "num_ret"]
    assert len(scores) == 2
    assert str(scores).splitlines()[0] == "map      0.7500"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trec_eval_version": "9"}, "expected '9.0.8' or '10.0'"),
        ({"depth": -1}, "1 or more"),
        ({"threads": 0}, "1 or more"),
        ({"depth": 2**80}, "depth: expected a 64-bit integer"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, object], message: str) -> None:
    """Before anything is computed."""
    with pytest.raises(fr.OptionError, match=message):
        fr.evaluate(parse_qrels(QRELS), parse_run(RUN), **options)


def test_columns_are_read_only_arrays() -> None:
    """numpy views of the columns, which cannot be written."""
    run = parse_run(RUN)

    assert run.scores.dtype == np.float64
    assert run.scores.tolist() == [2.0, 1.0, 9.0, 1.0]
    assert run.offsets.tolist() == [0, 2, 3, 4]
    with pytest.raises(ValueError, match="read-only"):
        run.scores[0] = 1.0
    with pytest.raises(AttributeError, match="frozen"):
        run.tag = b"other"


def test_scores_print_as_a_table() -> None:
    """Name and mean, four decimals; then the queries that are in one of the two only."""
    scores = fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "map recip_rank")

    assert str(scores).splitlines() == [
        "map         0.7500",
        "recip_rank  0.7500",
        'the run lacks 1 of 3 judged queries (q3); it is left out (missing="zero" counts it as 0)',
        "1 query of the run has no judgments (q9)",
    ]
    assert repr(scores) == "<Scores of 'mine': 2 queries, 2 measures>"


def test_read_and_write_take_file_objects() -> None:
    """Bytes in, bytes out, through the public names."""
    target = io.BytesIO()

    write_trec_qrels(read_trec_qrels(io.BytesIO(QRELS)), target)

    assert target.getvalue() == QRELS


def test_every_public_name_exists() -> None:
    """`__all__` and the lazy imports agree."""
    assert {name: hasattr(fr, name) for name in fr.__all__} == dict.fromkeys(fr.__all__, True)
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        fr.evalute  # noqa: B018


def test_nothing_the_caller_passed_is_changed() -> None:
    """Evaluating twice, with everything that reorders or cuts, gives the same twice."""
    qrels, run = parse_qrels(QRELS), parse_run(RUN)
    before = (run.scores.tolist(), run.offsets.tolist(), list(run.docs), qrels.grades.tolist())

    fr.evaluate(qrels, run, "all_trec", depth=1, judged_only=True, missing="zero")

    after = (run.scores.tolist(), run.offsets.tolist(), list(run.docs), qrels.grades.tolist())
    assert after == before


def test_the_name_of_the_run_is_printed_if_asked_for() -> None:
    scores = fr.evaluate(parse_qrels(QRELS), parse_run(RUN), "runid map")

    assert str(scores).splitlines()[:2] == ["runid  mine", "map    0.7500"]
    assert scores.mean == {"map": 0.75}


def test_the_name_of_the_run_is_printed_with_escapes() -> None:
    run = parse_run(b"q1 Q0 a 1 1 \xff\n")

    assert str(fr.evaluate(parse_qrels(b"q1 0 a 1\n"), run, "runid")) == r"runid  \udcff"


def test_numbers_of_one_are_singular() -> None:
    scores = fr.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "map")

    assert repr(scores) == "<Scores: 1 query, 1 measure>"
    assert repr(scores - scores) == "<ScoreDifferences: 1 query, 1 measure>"
    assert repr(fr.table(scores)) == "<Table: 1 row, 2 columns>"
    assert repr(fr.Evaluator({"q": {"d": 1}}, "map")).endswith(": 1 judged query>")
    assert repr(fr.index_qrels([{1: 1}])) == "<ArrayQrels: 1 query, 1 judgment>"
    excluded = fr.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0, "e": 2.0}}, exclude={"q": ["e"]})
    assert str(excluded).splitlines()[-1] == "1 document was excluded from the rankings"
