"""Judgments and runs as Python people expect them: iterated over, subscripted, completed."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.errors import InputError
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_run

QRELS = {"q2": {"a": 1, "b": 0}, "q1": {"a": 2}}
RUN = {"q2": {"a": 0.5, "b": 2.0}, "q1": {}}


@pytest.mark.parametrize(
    ("made", "dicts"),
    [(fr.Qrels, QRELS), (fr.Run, RUN), (fr.Qrels, {"q2": {"a": 1, "b": 0.5}, "q1": {}})],
)
def test_lookup_and_iteration_are_those_of_the_dicts(made, dicts):
    noun = made.from_dict(dicts)
    present = [query for query in dicts if dicts[query] or made is fr.Run]
    assert list(noun) == noun.query_ids == present
    assert len(noun) == len(present)
    assert {query: noun[query] for query in noun} == noun.to_dict()
    assert noun.to_dict() == {query: dicts[query] for query in present}
    assert "q2" in noun
    assert "q3" not in noun
    with pytest.raises(KeyError, match=rf"no query 'q3' in <.* {len(present)} quer"):
        noun["q3"]


def test_a_query_may_be_asked_for_by_an_integer():
    run = fr.Run.from_dict({1: {"a": 1.0}})

    assert run[1] == run[np.int64(1)] == {"a": 1.0}
    assert 1 in run
    assert 2 not in run
    assert True not in run


def test_a_document_twice_in_a_query_is_an_error_where_it_is_asked_for():
    run = parse_run(b"q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq2 Q0 b 1 1 t\nq2 Q0 a 1 1 t\n")
    assert run["q1"] == {"a": 1.0}
    with pytest.raises(InputError, match="query 'q2': duplicate document 'a' in line 4"):
        run["q2"]


def test_ids_and_tags_are_str():
    run = parse_run("qé Q0 dé 1 1 té\n".encode())
    scores = fr.evaluate({"qé": {"dé": 1}}, run, "map")
    assert (run.query_ids, run.doc_ids, run.tag, scores.tag) == (["qé"], ["dé"], "té", "té")
    assert fr.tie_report(None, run).tag == "té"
    assert parse_prefs(b"q g s a 2\n").doc_ids == ["a"]


def test_what_was_looked_up_is_no_part_of_a_copy():
    run = fr.Run.from_dict(RUN)
    assert "q1" in run
    copy = pickle.loads(pickle.dumps(run))
    assert vars(copy).keys() == run.field_names
    assert copy["q2"] == run.changed(source="other")["q2"] == RUN["q2"]


def test_completion_shows_what_is_public():
    def shown(thing: Any) -> str:
        return " ".join(sorted(name for name in dir(thing) if not name.startswith("_")))

    conversions = (
        "from_arrays from_arrow from_dict from_pandas from_polars {}offsets query_ids {}source {}"
        "to_arrow to_dict to_pandas to_polars"
    )
    scores = fr.evaluate(QRELS, RUN, "map")
    assert shown(fr.Run.from_dict(RUN)) == "doc_ids " + conversions.format("", "scores ", "tag ")
    assert shown(fr.Qrels.from_dict(QRELS)) == "doc_ids " + conversions.format("grades ", "", "")
    assert shown(parse_prefs(b"q g s a 2\n")) == "doc_ids levels offsets query_ids source"
    assert shown(scores) == (
        "by_group counts get interval items keys lists mean missing_queries name names plot"
        " queries table tag to_csv to_dict to_html to_json to_latex to_markdown to_pandas to_polars"
        " to_text to_trec unjudged_queries values"
    )
    table = shown(fr.table(scores)).split()
    assert set(table) >= {"columns", "names", "transpose", "to_latex"}
    assert "changed" not in table
    assert shown(fr.Evaluator(QRELS)) == "evaluate"


def test_nouns_are_frozen_and_say_what_they_are():
    run = parse_run(b"\n# a\nq1 Q0 a 1 1 t\n \nq2 Q0 a 1 1 t", "a.run", trec_eval_version="10.0")
    qrels = parse_qrels(b"q9 0 a 1\nq1 0 b 2\nq9 0 c 0\n", "a.qrels")
    prefs = parse_prefs(b"q1 g s a 2.5\nq2 g s a 2.5\n", "a.prefs")
    assert repr(run) == "<Run a.run: 2 queries, 2 rows>"
    assert repr(qrels) == "<Qrels a.qrels: 2 queries, 3 rows>"
    assert repr(prefs) == "<Preferences a.prefs: 2 queries, 2 rows>"
    assert repr(parse_run(b"q1 Q0 a 1 1 t\n", "a.run")) == "<Run a.run: 1 query, 1 row>"
    assert [run.scores.dtype, prefs.levels.dtype] == ["float64", "float64"]
    assert [qrels.grades.dtype, qrels.offsets.dtype, run.offsets.dtype] == ["int64"] * 3
    assert list(qrels["q9"].items()) == [("a", 1), ("c", 0)]
    assert [run.docs.line(row) for row in range(len(run.docs))] == [3, 5]
    with pytest.raises(AttributeError, match="frozen"):
        run.tag = b"other"  # type: ignore[assignment,misc]
    with pytest.raises(ValueError, match="read-only"):
        run.scores[0] = 1.0


MAKERS = "{0}.from_dict, from_pandas, from_polars, from_arrow or from_arrays"


@pytest.mark.parametrize(
    ("kind", "ways"),
    [
        (fr.Scores, "fastrank.evaluate"),
        (fr.Candidates, "fastrank.read_candidates"),
        (fr.types.Agreement, "fastrank.agreement"),
        (fr.TextTask, "TextTask.from_texts or from_table"),
        (fr.Qrels, MAKERS.format("Qrels")),
        (fr.Run, MAKERS.format("Run")),
    ],
)
def test_a_constructor_with_data_names_what_makes_the_objects(kind, ways):
    for arguments in ([{"q": {"d": 1}}], []):
        with pytest.raises(TypeError) as caught:
            kind(*arguments)
        expected = f"{kind.__name__}() takes fields by name only; create it with {ways}"
        assert str(caught.value) == expected
