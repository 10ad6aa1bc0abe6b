"""What scores can be turned into, and what they say about what was left out."""

from __future__ import annotations

import csv
import getopt
import io
import json
import math
import pickle
from typing import Any

import pytest

import fastrank as fr
from fastrank.common.c_numbers import atol
from tests.helpers.parsing import (
    parse_prefs,
    parse_qrels,
    parse_run,
    read_trec_qrels,
    read_trec_run,
)
from tests.helpers.paths import TESTS

QRELS = b"q1 0 a 1\nq1 0 b 0\nq1 0 e -1\nq2 0 c 2\nq3 0 d 1\n"
RUN = (
    b"q1 Q0 b 1 3.0 mine\nq1 Q0 x 2 2.5 mine\nq1 Q0 e 3 2.2 mine\nq1 Q0 a 4 2.0 mine\n"
    b"q2 Q0 c 1 9 mine\nq9 Q0 z 1 1 mine\n"
)
NOT_UTF8 = b"\xffq 0 d 1\n", b"\xffq Q0 d 1 1 t\n"
CASES = json.loads((TESTS / "recorded" / "cases.json").read_text("ascii"))
OPTIONS = {"l": "relevance_level", "M": "depth", "N": "collection_size", "c": "missing"}
OPTIONS["J"] = "judged_only"
# Recorded cases of numbers such as 1x in parameters and judgments, of which the command reads what
# it can, of several lists of parameters, of which it takes the first, and of a byte order mark,
# which is a part of the first query for it.
FOR_THE_COMMAND = """
    byte_order_mark comment_not_at_line_start first_params_win grades_by_atol gain_level_twice
    gain_levels_odd int_cutoffs max_retrieved_garbage nickname_params set_F_garbage trailing_commas
    unused_params
"""
# What options would take out, and what is not there in a run that is judged as a whole.
COUNTS = {
    **dict.fromkeys(["no_relevant_skipped", "no_relevant_queries", "excluded", "duplicates"], 0),
    "evaluated_queries": 2,
    "missing_queries": 1,
    "unjudged_queries": 1,
    "retrieved": 5,
    "unjudged": 2,
}


def scores_of(
    measures: str = "map P.1,2", qrels: bytes = QRELS, run: bytes = RUN, **how: Any
) -> Any:
    return fr.evaluate(parse_qrels(qrels), parse_run(run), measures, **how)


def _recorded() -> list[Any]:
    """The recorded cases that evaluate two plain files and print the summary."""
    found = []
    for case in CASES:
        plain = case["args"][-2:] == ["qrels", "run"] and "--" not in " ".join(case["args"])
        if case["name"] in FOR_THE_COMMAND.split() or not plain:
            continue
        for level, expected in case["expect"].items():
            if expected["exit"] == 0 and expected["stdout"]:
                given, _ = getopt.getopt(case["args"], "hvqm:cl:nD:JN:M:R:T:oZ:")
                if {flag[1] for flag, _ in given} <= {*OPTIONS, "q", "m"}:
                    own = case["files"], given, level, expected["stdout"]
                    found.append(pytest.param(*own, id=f"{case['name']}-{level}"))
    return found


@pytest.mark.parametrize(("files", "given", "level", "printed"), _recorded())
def test_to_trec_is_what_trec_eval_printed(files, given, level, printed):
    texts = {name: io.BytesIO(text.encode("latin-1")) for name, text in files.items()}
    how: dict[str, Any] = {
        OPTIONS[flag[1]]: atol(value.encode() or b"1")
        for flag, value in given
        if flag[1] in OPTIONS
    }
    if "missing" in how:
        how["missing"] = "zero"
    how["trec_eval_version"] = level
    qrels = read_trec_qrels(texts["qrels"], trec_eval_version=level)
    run = read_trec_run(texts["run"], trec_eval_version=level)
    measures = [value for flag, value in given if flag == "-m"] or ["official"]

    found = fr.evaluate(qrels, run, measures, **how).to_trec(per_query=("-q", "") in given)

    assert found.encode("utf-8", "surrogateescape") == printed.encode("latin-1")


def test_to_dict_has_the_shape_and_the_values_of_pytrec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    judged = {"q1": {"a": 1, "b": 0, "e": -1}, "q2": {"c": 2}, "q3": {"d": 1}}
    ranked = {"q1": {"b": 3.0, "x": 2.5, "e": 2.2, "a": 2.0}, "q2": {"c": 9.0}, "q9": {"z": 1.0}}
    measures = {"map", "ndcg", "P", "num_ret", "iprec_at_recall", "recip_rank"}

    expected = pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(ranked)

    assert scores_of(" ".join(measures)).to_dict() == expected


def test_to_dict_has_texts_and_leaves_out_what_no_query_has():
    found = scores_of("relstring gm_map num_q").to_dict()

    assert found == {"q1": {"relstring": "0-.1"}, "q2": {"relstring": "2"}}
    assert scores_of("gm_map").to_dict() == {"q1": {}, "q2": {}}


def test_of_values_with_the_same_name_the_first_counts():
    """Recall levels are printed with two decimals, and nothing forbids two that look alike."""
    scores = scores_of("iprec_at_recall.0.501,0.499")

    assert scores.names == ["iprec_at_recall_0.50"]
    assert scores.to_dict()["q1"] == {"iprec_at_recall_0.50": scores["iprec_at_recall_0.50"][0]}
    assert scores.to_trec().count("iprec_at_recall_0.50") == 2


def test_to_json_has_full_precision_and_counts_as_integers():
    found = json.loads(scores_of("num_ret map").to_json())

    assert found == {
        "run": "mine",
        "counts": COUNTS,
        "mean": {"num_ret": 5, "map": 0.625},
        "per_query": {"q1": {"num_ret": 4, "map": 0.25}, "q2": {"num_ret": 1, "map": 1.0}},
    }
    assert isinstance(found["mean"]["num_ret"], int)
    assert "per_query" not in json.loads(scores_of().to_json(per_query=False))
    assert scores_of().to_json(indent=2).startswith('{\n  "run"')


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_json_has_null_for_what_is_no_finite_number(value):
    """json.loads is asked to refuse the NaN and Infinity that only Python writes."""
    scores = scores_of(f"utility.{value},0,0,0 map")

    found = json.loads(scores.to_json(), parse_constant=pytest.fail)

    assert found["per_query"]["q2"] == {f"utility_{value},0,0,0": None, "map": 1.0}
    assert not math.isfinite(scores.mean[f"utility_{value},0,0,0"])


@pytest.mark.parametrize(("per_query", "query"), [(True, "q1"), (False, "")])
def test_csv_has_either_a_line_for_each_query_or_the_summary(per_query, query):
    third = b"q1 0 a 1\nq1 0 b 1\nq1 0 c 1\n"
    scores = scores_of("num_rel set_recall", qrels=third, run=b"q1 Q0 a 1 1 t\n")

    assert scores.to_csv(per_query=per_query) == (
        f"query,measure,value\n{query},num_rel,3\n{query},set_recall,0.3333333333333333\n"
    )
    assert scores.to_csv() == scores.to_csv(per_query=True)


def test_csv_quotes_ids_that_need_it():
    qrels, run = b'a,"b" 0 d 1\n', b'a,"b" Q0 d 1 1 t\n'

    rows = list(csv.reader(io.StringIO(scores_of("map", qrels, run).to_csv())))

    assert rows[1] == ['a,"b"', "map", "1.0"]


def test_json_shows_the_bytes_of_ids_that_are_not_utf8_as_text():
    found = json.loads(scores_of("map", *NOT_UTF8).to_json())

    assert found["per_query"] == {r"\xffq": {"map": 1.0}}


def test_ids_that_are_not_utf8_survive_csv():
    scores = scores_of("map", *NOT_UTF8)

    assert scores.to_csv().encode("utf-8", "surrogateescape").splitlines()[1] == b"\xffq,map,1.0"
    assert scores._repr_html_().encode()
    assert scores.to_markdown(per_query=True).encode()


def test_ids_that_are_not_utf8_can_be_printed():
    shown = str(scores_of("map", QRELS + NOT_UTF8[0], RUN))

    assert r" (q3, \udcffq); they are " in shown.encode().decode().splitlines()[1]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ids_that_are_not_utf8_have_no_place_in_frames(library, wide):
    pytest.importorskip(library)

    with pytest.raises(fr.FastrankError, match=r"query '\\udcffq': the text is not UTF-8"):
        getattr(scores_of("map", *NOT_UTF8), f"to_{library}")(wide=wide)


def test_frames_hold_every_script():
    pytest.importorskip("pandas")
    scores = scores_of("map", "é\ufffd 0 d 1\n".encode(), "é\ufffd Q0 d 1 1 t\n".encode())

    assert scores.to_pandas()["query"].tolist() == ["é\ufffd"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_a_row_for_each_query_and_measure(library):
    pytest.importorskip(library)
    frame = getattr(scores_of("num_ret map relstring"), f"to_{library}")()

    assert list(frame.columns) == ["query", "measure", "value"]
    assert str(frame["value"].dtype).lower() == "float64"
    assert [list(frame[name]) for name in frame.columns] == [
        ["q1", "q1", "q2", "q2"],
        ["num_ret", "map", "num_ret", "map"],
        [4.0, 0.25, 1.0, 1.0],
    ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_wide_frames_have_a_row_for_each_query(library):
    pytest.importorskip(library)
    frame = getattr(scores_of("num_ret map relstring"), f"to_{library}")(wide=True)

    assert {name: list(frame[name]) for name in frame.columns} == {
        "query": ["q1", "q2"],
        "num_ret": [4.0, 1.0],
        "map": [0.25, 1.0],
        "relstring": ["0-.1", "2"],
    }
    assert list(frame.columns) == ["query", "num_ret", "map", "relstring"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_summaries_only_are_empty(library):
    pytest.importorskip(library)
    make = getattr(scores_of("gm_map"), f"to_{library}")

    assert (make().shape, make(wide=True).shape) == ((0, 3), (2, 1))


def test_frames_cannot_be_used_to_change_the_scores():
    pytest.importorskip("pandas")
    scores = scores_of("map")

    frame = scores.to_pandas(wide=True)
    frame["map"] = 7.0

    assert scores["map"].tolist() == [0.25, 1.0]


@pytest.mark.parametrize("source", ["memory", "file"])
def test_counts_say_what_was_not_evaluated(source, tmp_path):
    """x is in no judgment and e was pooled but not judged; z belongs to a query nobody judged."""
    (tmp_path / "run").write_bytes(RUN)
    run = tmp_path / "run" if source == "file" else parse_run(RUN)

    scores = fr.evaluate(parse_qrels(QRELS), run, "map")

    assert scores.counts == COUNTS
    assert (scores.missing_queries, scores.unjudged_queries) == (["q3"], ["q9"])


@pytest.mark.parametrize(
    ("how", "evaluated", "retrieved", "unjudged"),
    [
        ({"judged_only": True}, 2, 3, 0),
        ({"depth": 2}, 2, 3, 1),
        ({"relevance_level": -1}, 2, 5, 2),
        ({"missing": "zero"}, 2, 5, 2),
        ({"missing": "zero", "trec_eval_version": "10.0"}, 3, 5, 2),
        ({"missing": "zero", "trec_eval_version": "10.0", "judged_only": True}, 3, 3, 0),
    ],
)
def test_unjudged_documents_are_counted_as_rankings_are_cut(how, evaluated, retrieved, unjudged):
    """The document that 10.0 invents for a missing query was not retrieved."""
    expected = {"evaluated_queries": evaluated, "retrieved": retrieved, "unjudged": unjudged}

    assert scores_of("map", **how).counts == {**COUNTS, **expected}


def test_of_preferences_only_queries_are_counted():
    scores = fr.evaluate(
        parse_prefs(b"q g s a 2\nq g s b 1\n"), parse_run(b"q Q0 b 1 3 t\n"), "prefs_simp"
    )

    expected = {**COUNTS, "evaluated_queries": 1, "missing_queries": 0, "unjudged_queries": 0}
    del expected["retrieved"], expected["unjudged"]
    assert scores.counts == expected


@pytest.mark.parametrize(
    ("missing", "value", "said"),
    [
        ("skip", "1.0000", "; they are left out (missing='zero' counts them as 0)"),
        ("zero", "0.1250", "; they count as 0"),
    ],
)
def test_scores_say_which_queries_are_missing_and_whether_they_count(missing, value, said):
    qrels = b"".join(b"q%d 0 d 1\n" % i for i in range(8))

    shown = str(scores_of("map", qrels, b"q0 Q0 d 1 1 t\n", missing=missing)).splitlines()

    named = "the run lacks 7 of 8 judged queries (q1, q2, q3, q4, q5, ...)"
    assert shown == [f"map  {value}", named + said]


def test_nothing_is_said_where_nothing_is_missing():
    answered = RUN.replace(b"q9 Q0 z", b"q3 Q0 d")

    assert str(scores_of("map", run=answered)) == "map  0.7500"


def test_a_pickle_has_everything_but_not_the_judgments():
    """However large the file of judgments."""
    filling = b"".join(b"q1 0 document-%d 0\n" % i for i in range(5000))
    scores = scores_of("map num_rel", qrels=QRELS + filling, missing="zero")

    packed = pickle.dumps(scores)
    again = pickle.loads(packed)

    assert len(packed) < 5000
    assert again.to_json() == scores.to_json()
    assert str(again) == str(scores)
    assert (again.missing_queries, again.unjudged_queries) == (["q3"], ["q9"])
    groups = {"q1": "x", "q2": "x", "q3": "x"}
    assert again.by_group(groups)["x"].mean == scores.by_group(groups)["x"].mean
