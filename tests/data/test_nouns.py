"""Judgments and runs as Python people expect them: iterated over, subscripted, completed."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import fastrank as fr
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_run

QRELS = {"q2": {"a": 1, "b": 0}, "q1": {"a": 2}}
RUN = {"q2": {"a": 0.5, "b": 2.0}, "q1": {}}


@pytest.mark.parametrize(("made", "dicts"), [(fr.Qrels, QRELS), (fr.Run, RUN)])
def test_lookup_and_iteration_are_those_of_the_dicts(made: Any, dicts: Any) -> None:
    noun = made.from_dict(dicts)

    assert (list(noun), noun.query_ids, len(noun)) == (["q2", "q1"], ["q2", "q1"], 2)
    assert {query: noun[query] for query in noun} == dicts == noun.to_dict()
    assert "q1" in noun
    assert "q3" not in noun
    with pytest.raises(KeyError, match=r"no query 'q3' in <.* 2 queries"):
        noun["q3"]


def test_grades_keep_their_fractions() -> None:
    assert fr.Qrels.from_dict({"q1": {"a": 1, "b": 0.5}})["q1"] == {"a": 1.0, "b": 0.5}


def test_a_document_twice_in_a_query_is_an_error_where_it_is_asked_for() -> None:
    run = parse_run(b"q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq2 Q0 b 1 1 t\nq2 Q0 a 1 1 t\n")

    assert run["q1"] == {"a": 1.0}
    with pytest.raises(fr.InputError, match="query 'q2': duplicate document 'a' in line 4"):
        run["q2"]


def test_ids_and_tags_are_str() -> None:
    run = parse_run("qé Q0 dé 1 1 té\n".encode())
    scores = fr.evaluate({"qé": {"dé": 1}}, run, "map")

    assert (run.query_ids, run.doc_ids, run.tag, scores.tag) == (["qé"], ["dé"], "té", "té")
    assert fr.tie_report(None, run).tag == "té"
    assert parse_prefs(b"q g s a 2\n").doc_ids == ["a"]


def test_what_was_looked_up_is_no_part_of_a_copy() -> None:
    run = fr.Run.from_dict(RUN)
    assert "q1" in run

    copy = pickle.loads(pickle.dumps(run))

    assert vars(copy).keys() == run.field_names
    assert copy["q2"] == RUN["q2"]
    assert run.changed(source="other")["q2"] == RUN["q2"]


def test_completion_shows_what_is_public() -> None:
    def shown(thing: Any) -> set[str]:
        return {name for name in dir(thing) if not name.startswith("_")}

    ways = {
        f"{way}_{kind}" for way in ("to", "from") for kind in ("dict", "pandas", "polars", "arrow")
    }
    both = {"query_ids", "doc_ids", "offsets", "source", "from_arrays", *ways}
    scores = fr.evaluate(QRELS, RUN, "map")
    assert shown(fr.Run.from_dict(RUN)) == {*both, "scores", "tag"}
    assert shown(fr.Qrels.from_dict(QRELS)) == {*both, "grades"}
    assert shown(parse_prefs(b"q g s a 2\n")) == {
        "doc_ids", "levels", "offsets", "query_ids", "source",
    }  # fmt: skip
    assert shown(scores) == {
        "by_group", "counts", "interval", "lists", "mean", "missing_queries", "name", "names",
        "plot", "queries", "unjudged_queries", "tag", "to_csv", "to_dict", "to_json", "to_latex",
        "to_markdown", "to_pandas", "to_polars", "to_trec",
    }  # fmt: skip
    assert shown(fr.table(scores)) >= {"columns", "names", "transpose", "to_latex"}
    assert "changed" not in shown(fr.table(scores))
    assert shown(fr.Evaluator(QRELS)) == {"evaluate"}


def test_judgments_keep_their_order() -> None:
    qrels = parse_qrels(b"q9 0 a 1\nq1 0 b 2\nq9 0 c 0\n")

    assert qrels["q9"] == {"a": 1, "c": 0}


@pytest.mark.parametrize(
    ("kind", "ways"),
    [
        (fr.Scores, "fastrank.evaluate"),
        (fr.Candidates, "fastrank.read_candidates"),
        (fr.types.Agreement, "fastrank.agreement"),
        (fr.TextTask, "TextTask.from_texts or from_table"),
    ],
)
def test_a_constructor_with_data_names_what_makes_the_objects(kind: Any, ways: str) -> None:
    with pytest.raises(TypeError) as caught:
        kind({"q": {"d": 1}})
    assert str(caught.value) == (
        f"{kind.__name__}() takes fields by name only; create it with {ways}"
    )


@pytest.mark.parametrize("kind", [fr.Qrels, fr.Run])
def test_a_constructor_with_data_names_those_that_take_it(kind: Any) -> None:
    name = kind.__name__
    for arguments in ([{"q": {"d": 1}}], []):
        with pytest.raises(TypeError) as caught:
            kind(*arguments)
        assert str(caught.value) == (
            f"{name}() takes fields by name only; create it with {name}.from_dict, from_pandas,"
            " from_polars, from_arrow or from_arrays"
        )
