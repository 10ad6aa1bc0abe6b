"""Explaining the values of a query: what documents add makes up the value of trec_eval."""

from __future__ import annotations

import html.parser
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import fastrank as fr
from fastrank.judging.keywords import TIES
from tests.helpers.parsing import read_prefs
from tests.helpers.paths import DATA
from tests.measures.test_best_values import name_of

QRELS, PROFILE, PCA = (str(DATA / name) for name in ("digits.qrels", "profile.run", "pca.run"))
# Every family that is explained, in all of its forms.
MEASURES = (
    "map", "map_cut.1,3,1000", "AP(denominator='min_k')@3", "AP(rel=2)",
    "AP(denominator='relevant_retrieved')@5", "P.1,3,20", "P(judged_only=True)@3", "SetP", "SetR",
    "set_relative_P", "recall.1,4", "relative_P.2,7", "success.1,3", "RR@2", "recip_rank", "Rprec",
    "bpref", "infAP", "dcg", "DCG@3", "ndcg", "ndcg_cut.1,3,9", "nDCG(dcg='exp-log2')@4",
    "nDCG(ideal='retrieved')@3", "nDCG(ideal='max')@3", "nDCG(gains={1:5,2:0.5})@4",
    "nDCG@3", "nDCG(judged_only=True)@2", "rbp", "RBP",
    "RBP(gain='raw')@4", "RBP(p=0.5)@3", "ERR@3", "ERR",
    *(name_of(measure) for measure in fr.MEASURES if measure.adds),
)  # fmt: skip

grades = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3), min_size=1)
scores = st.dictionaries(
    st.sampled_from("abcdefghxyz"), st.sampled_from([0.0, 0.5, 1.0, 1.0 + 2**-40, 3.0]), min_size=1
)
options = st.fixed_dictionaries(
    {},
    optional={
        "relevance_level": st.integers(1, 2),
        "ties": st.sampled_from([own for own in TIES if own != "average"]),
        "depth": st.integers(1, 6),
        "judged_only": st.booleans(),
        "trec_eval_version": st.sampled_from(["9.0.8", "10.0"]),
        "no_relevant": st.sampled_from(["zero", "one"]),
    },
)


def _total(table: fr.Table) -> float:
    total = 0.0
    for added in table.columns["adds"]:
        total += added
    return total


@settings(max_examples=25, deadline=None)
@given(qrels=grades, run=scores, chosen=options)
def test_the_sum_of_what_documents_add_is_the_value_to_the_last_bit(
    qrels: dict[str, int], run: dict[str, float], chosen: dict[str, Any]
) -> None:
    value = fr.evaluate({"q": qrels}, {"q": run}, MEASURES, **chosen).mean

    explained = fr.explain({"q": qrels}, {"q": run}, MEASURES, query="q", **chosen)

    assert explained.values == value
    for name in value:
        parts = explained.part(name).parts
        if parts.divisor:
            total = _total(explained.table(name))
            assert parts.factor * total / parts.divisor == value[name]
        else:
            assert value[name] in (0.0, 1.0)


@pytest.mark.parametrize("measure", ["map", "ndcg", "bpref", "Rprec", "infAP", "recip_rank"])
def test_values_are_those_of_pytrec_eval(measure: str) -> None:
    qrels, run = fr.read_qrels(QRELS).to_dict(), fr.read_run(PCA).to_dict()
    judge = pytrec_eval.RelevanceEvaluator(qrels, {measure})
    expected = judge.evaluate(run)

    for query in list(run)[:20]:
        explained = fr.explain(qrels, run, measure, query=query)

        assert explained.values[measure] == expected[query][measure]
        parts = explained.part(measure).parts
        if parts.divisor:
            assert _total(explained.table(measure)) / parts.divisor == expected[query][measure]


@settings(max_examples=15, deadline=None)
@given(qrels=grades, first=scores, second=scores)
def test_the_changes_add_up_to_the_difference_of_two_runs(
    qrels: dict[str, int], first: dict[str, float], second: dict[str, float]
) -> None:
    explained = fr.explain({"q": qrels}, {"q": first}, MEASURES, query="q", other={"q": second})

    assert explained.other is not None
    for name, value in explained.values.items():
        changes = explained.difference(name).columns["change"]
        difference = explained.other.values[name] - value
        assert math.fsum(changes) == pytest.approx(difference, abs=1e-12)
        assert [abs(change) for change in changes] == sorted(map(abs, changes), reverse=True)


def test_a_table_shows_what_ndcg_is_computed_from() -> None:
    explained = fr.explain(QRELS, PROFILE, "ndcg_cut.5", query="q0004")

    table = explained.table("ndcg_cut_5")

    assert table.names == [
        "rank", "document", "score", "grade", "gain", "discount", "adds", "ideal",
    ]  # fmt: skip
    assert table.columns["document"] == ["d0297", "d1691", "d0100", "d1777", "d1244"]
    assert table.columns["grade"] == [1, 1, 2, 1, 1]
    assert table.columns["ideal"][:2] == [2.0, 2.0 / math.log2(3)]


def test_notes_give_the_range_over_the_orders_of_ties() -> None:
    """As tie_report computes it."""
    (ties, *_) = fr.explain(QRELS, PROFILE, "ndcg_cut.5", query="q0004").notes

    qrels, run = fr.read_qrels(QRELS), fr.read_run(PROFILE)
    one = {"q0004": qrels["q0004"]}, {"q0004": run["q0004"]}
    found = fr.tie_report(*one, "ndcg_cut.5").measures["ndcg_cut_5"]
    assert ties == (
        "ties: 89 of 100 results have the score of another one and are ordered by document id,"
        f" larger first: ndcg_cut_5 could be {found.worst:.4f} to {found.best:.4f},"
        f" {found.expected:.4f} on average"
    )


NOTED: list[tuple[dict[str, int], dict[str, float], dict[str, Any], str]] = [
    (
        {"a": 1, "b": 2}, {"a": 2, "x": 1}, {},
        "unjudged: 1 of 2 results: map would be 0.5000 if it is not relevant, 0.6667 if it has"
        " grade 2",
    ),
    ({"a": 1, "b": 2}, {"a": 2}, {}, "not retrieved: 1 relevant document: b (grade 2)"),
    (
        {"a": 1, "b": 2}, {"b": 2}, {"relevance_level": 2},
        "level: 1 judged document with a grade above 0 is below level 2 and not relevant",
    ),
    ({"a": 0}, {"a": 2}, {}, "relevant: no judged document has a grade of at least 1"),
    (
        {"a": 0}, {"a": 2}, {"no_relevant": "skip"},
        "relevant: no judged document has a grade of at least 1; means skip the query, as"
        " no_relevant='skip' says",
    ),
    ({"a": 1}, {"a": 2, "b": 1}, {"depth": 1}, "depth: 1 result below rank 1 ignored"),
    (
        {"a": 1}, {"a": 2, "q": 1}, {"ignore_identical_ids": True},
        "excluded: 1 result removed from the ranking",
    ),
    (
        {"a": 1, "b": 0}, {"a": 1.0 + 2**-40, "b": 1.0}, {},
        "32-bit ties: scores that differ only beyond 32 bits tie, at ranks 1-2, as in trec_eval"
        " 9.0.8; 10.0 compares doubles",
    ),
    (
        {"a": 1}, {"b": 2, "a": 1}, {"judged_only": True},
        "judged only: 1 unjudged result removed from the ranking",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("qrels", "run", "options", "note"), NOTED)
def test_a_note_says_what_else_matters(
    qrels: dict[str, int], run: dict[str, float], options: dict[str, Any], note: str
) -> None:
    explained = fr.explain({"q": qrels}, {"q": run}, "map", query="q", **options)

    assert note in explained.notes


def test_duplicates_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q Q0 a 1 2 t\nq Q0 a 2 1 t\n")

    explained = fr.explain({"q": {"a": 1}}, path, "map", query="q", duplicates="first")

    assert explained.notes == ["duplicates: 1 repeated result dropped"]


def test_ties_across_a_cutoff_are_named() -> None:
    run = {"a": 3.0, "b": 2.0, "c": 2.0, "d": 2.0, "e": 1.0}

    (note, *_) = fr.explain({"q": {"b": 1}}, {"q": run}, "P.1,3", query="q").notes

    assert "; ranks 2-4 tie across the cutoff 3: P_3 could be" in note


def test_ties_across_the_depth_are_named() -> None:
    run = {"q": {"a": 1.0, "b": 1.0, "c": 0.5}}

    (note, *_) = fr.explain({"q": {"a": 1}}, run, "P.1", query="q", depth=1).notes

    assert note == (
        "ties: 2 of 3 results have the score of another one and are ordered by document id, larger"
        " first; ranks 1-2 tie across the depth 1: P_1 could be 0.0000 to 1.0000, 0.5000 on average"
    )


@pytest.mark.parametrize(
    ("measure", "found"),
    [("ERR", "ERR could be 0.2500 to 0.5000"), ("infAP", "the range of infAP is unknown")],
)
def test_a_note_on_ties_says_how_far_the_value_could_move(measure: str, found: str) -> None:
    run = {"q": {"a": 1.0, "b": 1.0}}

    (note,) = fr.explain({"q": {"a": 1, "b": 0}}, run, measure, query="q").notes

    assert note.endswith(f"larger first: {found}")


def test_tied_documents_of_one_grade_need_no_range() -> None:
    run = {"q": {"a": 1.0, "b": 1.0}}

    assert fr.explain({"q": {"a": 1, "b": 1}}, run, "infAP", query="q").notes == []


def test_the_range_of_err_is_for_the_highest_grade_of_all_queries() -> None:
    qrels = {"q": {"a": 1}, "p": {"a": 3}}

    (note,) = fr.explain(qrels, {"q": {"x": 2.0, "a": 1.0}}, "ERR", query="q").notes

    absent = fr.evaluate({**qrels, "q": {"a": 1, "x": 0}}, {"q": {"x": 2.0, "a": 1.0}}, "ERR")
    present = fr.evaluate({**qrels, "q": {"a": 1, "x": 1}}, {"q": {"x": 2.0, "a": 1.0}}, "ERR")
    values = f"{absent.mean['ERR']:.4f} if it is not relevant, {present.mean['ERR']:.4f} if it has"
    assert note == f"unjudged: 1 of 2 results: ERR would be {values} grade 1"


def test_values_of_unjudged_documents_are_no_range() -> None:
    grades = {"a": 1, "b": 2}
    run = {"q": {"a": 6.0, "s": 5.0, "t": 4.0, "u": 3.0, "v": 2.0, "b": 1.0}}

    (note,) = fr.explain({"q": grades}, run, "map", query="q").notes

    none, every, last = (
        fr.evaluate({"q": grades | judged}, run, "map").mean["map"]
        for judged in ({}, dict.fromkeys("stuv", 2), {"v": 2})
    )
    assert last < none < every
    assert note == (
        f"unjudged: 4 of 6 results: map would be {none:.4f} if none is relevant, {every:.4f} if all"
        " have grade 2"
    )


def test_gains_are_those_that_the_measure_names() -> None:
    measure = "nDCG(gains={1:5,2:0.5})@2"

    table = fr.explain({"q": {"a": 1, "b": 2}}, {"q": {"a": 2, "b": 1}}, measure, query="q")

    assert table.table(measure).columns["gain"] == [5.0, 0.5]
    assert table.part(measure).parts.total == 5.0 + 0.5 / math.log2(3)


def test_of_a_set_of_measures_the_others_are_named_in_a_note() -> None:
    explained = fr.explain({"q": {"a": 1}}, {"q": {"a": 2}}, "official", query="q")

    assert list(explained.values)[:4] == ["map", "Rprec", "bpref", "recip_rank"]
    assert explained.notes == [
        "not explained: 17 other values of the set: runid, num_q, num_ret, num_rel, num_rel_ret,"
        " ..."
    ]


def test_a_ranking_by_something_else_has_no_scores() -> None:
    run = {"q": {"b": 1.0, "a": 2.0}}

    explained = fr.explain({"q": {"a": 1}}, run, "map", query="q", rank_by="given")

    assert explained.table("map").names == ["rank", "document", "grade", "found", "adds"]
    assert explained.document("b") == "b: not judged\n  map: rank 1, adds nothing"


def test_a_value_of_1_for_lack_of_relevant_documents_is_explained() -> None:
    explained = fr.explain({"q": {"a": 0}}, {"q": {"a": 1}}, "P.2", query="q", no_relevant="one")

    assert "P_2 = 1.0000, because R is 0" in str(explained)


def test_a_query_without_results_is_not_counted_as_1() -> None:
    """As in evaluate, which counts only those with results."""
    qrels, runs = {"q": {"a": 0}, "p": {"a": 1}}, ({"q": {"a": 1}}, {"p": {"a": 1}})

    explained = fr.explain(qrels, runs[0], "P.2", query="q", other=runs[1], no_relevant="one")

    assert explained.other is not None
    assert (explained.values, explained.other.values) == ({"P_2": 1.0}, {"P_2": 0.0})
    assert "b: P_2 = 0.0000, because the number of results is 0" in str(explained)


def test_gains_of_unjudged_documents_do_not_count_without_a_relevant_one() -> None:
    given: Any = ({"q": {"a": 0}}, {"q": {"x": 1.0}}, "ndcg.-1=0.2,1=1")

    explained = fr.explain(*given, query="q", no_relevant="one")

    assert explained.values == fr.evaluate(*given, no_relevant="one").mean
    assert explained.table("ndcg_-1=0.2,1=1").columns["adds"] == [0.0]


def test_without_ties_and_unjudged_documents_there_are_no_notes() -> None:
    explained = fr.explain({"q": {"a": 1, "b": 0}}, {"q": {"a": 2, "b": 1}}, "map", query="q")

    assert explained.notes == []


def test_a_query_without_results_has_values_of_0() -> None:
    explained = fr.explain({"q": {"a": 1}, "p": {"a": 1}}, {"p": {"a": 1}}, "map P.5", query="q")

    assert explained.values == {"map": 0.0, "P_5": 0.0}
    assert explained.notes == [
        "the run lacks this query, so that every value is 0; in means, it is left out"
        ' (missing="zero" counts it as 0)'
    ]
    assert len(explained.table("map")) == 0


def test_titles_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    lines = [{"_id": "a", "title": "Apples", "text": "..."}, {"_id": "b", "text": "Plums"}]
    path.write_text("\n".join(map(json.dumps, lines)))
    run = {"q": {"a": 3, "b": 2, "c": 1}}

    explained = fr.explain({"q": {"a": 1}}, run, "map", query="q", documents=path)

    assert explained.table("map").columns["title"] == ["Apples", "Plums", ""]
    assert "Apples" in str(explained)


def test_long_titles_are_shortened_in_text() -> None:
    """A document without a title has its text."""
    passage = "seven " * 100

    explained = fr.explain(
        {"q": {"a": 1}}, {"q": {"a": 1.0}}, "map", query="q", documents={"a": {"text": passage}}
    )

    assert explained.table("map").columns["title"] == [passage]
    assert max(map(len, str(explained).splitlines())) < 120
    assert f"  {passage[:57]}...  " in str(explained)


def test_the_difference_has_the_titles_of_both_runs() -> None:
    runs, titles = ({"q": {"a": 1.0}}, {"q": {"b": 1.0}}), {"a": "Apples", "b": "Plums"}

    explained = fr.explain(
        {"q": {"a": 1, "b": 1}}, runs[0], "P.1", query="q", other=runs[1], documents=titles
    )

    assert sorted(explained.difference("P_1").columns["title"]) == ["Apples", "Plums"]


def test_ids_are_escaped_in_html_and_markdown() -> None:
    hostile = "<script>|"
    qrels, run = {hostile: {hostile: 1}}, {hostile: {hostile: 1.0}}

    explained = fr.explain(qrels, run, "map", query=hostile)

    page = explained.to_html()
    assert "<script>" not in page
    html.parser.HTMLParser().feed(page)
    assert "<script>" not in explained.to_markdown()


def test_a_document_is_explained_by_itself() -> None:
    explained = fr.explain(QRELS, PROFILE, "ndcg_cut.5 map", query="q0004")

    assert explained.document("d0097").splitlines() == [
        "d0097: grade 2, score -118",
        "  ndcg_cut_5: rank 12, below the cutoff 5",
        "  map: rank 12, adds 1.0000",
    ]
    assert explained.document("d0014").splitlines() == [
        "d0014: grade 2",
        "  ndcg_cut_5: not retrieved",
        "  map: not retrieved",
    ]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"query": "q004"}, fr.GroupError,
            "query 'q004' is neither in the qrels nor in the run; did you mean 'q0004'?",
        ),
        ({"measures": "F1"}, fr.MeasureError, "explain supports map, "),
        ({"measures": "num_q"}, fr.MeasureError, "explain supports map, "),
        ({"measures": "map_avgjg"}, fr.MeasureError, "explain supports map, "),
        ({"measures": "iP@5"}, fr.MeasureError, "explain supports map, "),
        ({"measures": "all_prefs"}, fr.MeasureError, "explain supports map, "),
        ({"query": 4}, TypeError, "query: expected a str, found int"),
        ({"ties": "average"}, fr.OptionError, "ties: 'average' is over all orders"),
        (
            {"relevance_level": -1}, fr.OptionError,
            "relevance_level: explain expects a level of at least 0, found -1",
        ),
        (
            {"measures": "P(rel=-1)@5"}, fr.MeasureError,
            "'P(rel=-1)@5': explain expects a level of at least 0, found rel=-1",
        ),
        ({"rows": 0}, fr.OptionError, "rows: expected 1 or more, found 0"),
        ({"documents": 5}, fr.OptionError, "documents: expected a Dataset, a dict or a path"),
    ],
)  # fmt: skip
def test_bad_input_is_an_error(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        fr.explain(QRELS, PROFILE, **{"measures": "map", "query": "q0004", **change})

    assert message in str(caught.value)


def test_judgments_with_subtopics_are_an_error() -> None:
    qrels = fr.read_qrels(io.BytesIO(b"q 1 a 1\nq 2 a 1\n"))

    with pytest.raises(fr.EvaluationError, match=r"are for measures of subtopics"):
        fr.explain(qrels, {"q": {"a": 1.0}}, "map", query="q")


def test_a_query_without_judgments_is_an_error() -> None:
    with pytest.raises(fr.GroupError, match="query 'p' is in the run, but has no judgments"):
        fr.explain({"q": {"a": 1}}, {"p": {"a": 1}}, "map", query="p")


def test_an_unknown_document_is_an_error() -> None:
    explained = fr.explain(QRELS, PROFILE, "map", query="q0004")

    with pytest.raises(fr.OptionError, match="'d00' is neither retrieved nor judged for query"):
        explained.document("d00")


def test_a_difference_needs_two_runs() -> None:
    explained = fr.explain(QRELS, PROFILE, "map", query="q0004")

    with pytest.raises(fr.GroupError, match="only one run was explained"):
        explained.difference("map")


def test_preferences_cannot_be_explained(tmp_path: Path) -> None:
    path = tmp_path / "prefs.txt"
    path.write_text("1 A ABC d1 1\n1 A ABC d2 2\n")

    with pytest.raises(TypeError, match="expected Qrels, found Preferences"):
        fr.explain(read_prefs(path), {"1": {"d1": 1.0}}, "map", query="1")


@pytest.mark.parametrize("measures", ["map", "P.10 map", "official"])
def test_without_a_query_the_one_that_differs_most_is_explained(measures: str) -> None:
    explained = fr.explain(QRELS, PROFILE, measures, other=PCA)

    first = "P_10" if measures.startswith("P") else "map"
    one, other = fr.evaluate(QRELS, [PROFILE, PCA], first.replace("_", "."))
    (expected,) = (one - other).largest(first, 1).rows()
    assert explained.query == expected[0]
    assert explained.chosen == (
        f"query {expected[0]} differs most in {first}, of 200: {expected[1]:.4f} (a) and"
        f" {expected[2]:.4f} (b)"
    )
    assert str(explained).startswith(explained.chosen)
    named = fr.explain(QRELS, PROFILE, measures, query=expected[0], other=PCA)
    assert str(explained).partition("\n")[2] == str(named)


def test_a_query_is_needed_where_none_differs() -> None:
    with pytest.raises(fr.GroupError, match="do not differ in map on 200 common queries; name a"):
        fr.explain(QRELS, PCA, "map", other=PCA)
    with pytest.raises(fr.OptionError, match="query: name a query, or a second run"):
        fr.explain(QRELS, PCA, "map")
