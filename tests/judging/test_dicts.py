"""Dicts as judgments and runs, and an Evaluator used again and again."""

from __future__ import annotations

import threading
from collections import OrderedDict, UserDict, defaultdict
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.formats.dicts import qrels_from_dict as as_qrels
from fastrank.formats.dicts import run_from_dict as as_run
from fastrank.native import engine
from tests.helpers.strategies import examples, slow_in_python

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {"d": 1}}
RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 9.0}, "q9": {"z": 1.0}}

# Ids whose order as bytes is not that of their code points, beside plain ones.
docs = st.sampled_from(["a", "b", "aa", "é", "\udc80", "\udcff", "\uffff", "\U00010000", "", "1"])
queries = st.sampled_from(["q", "q1", "q10", "q2", "\udc80", "\U00010000"])
# Few scores, so that they tie; some tie as C floats only.
some_scores = st.sampled_from([0, 1, 1.0, 1.00000001, -0.0, 2.5, 1e300, float("inf"), -7])
grades = st.integers(-2, 3)
judgments = st.dictionaries(queries, st.dictionaries(docs, grades), max_size=4)
runs = st.dictionaries(queries, st.dictionaries(docs, some_scores), max_size=4)


def _found(evaluate: Any) -> Any:
    """Values per query and means, or the kind and text of the error."""
    try:
        scores = evaluate()
    except fr.FastrankError as error:
        return type(error), str(error)
    values = [list(map(repr, scores[name].tolist())) for name in scores.names]
    return scores.queries, scores.names, values, repr(scores.mean), scores.counts["missing_queries"]


@examples(200)
@given(
    judgments, runs, st.sampled_from(["9.0.8", "10.0"]), st.booleans(), st.booleans(),
    st.sampled_from([None, 0, 1, 3]), st.sampled_from([-1, 0, 1, 2]),
)  # fmt: skip
def test_a_dict_gives_what_the_same_run_in_memory_gives(
    qrels: Any,
    run: Any,
    trec_eval_version: str,
    complete: bool,
    judged_only: bool,
    deepest: Any,
    level: int,
) -> None:
    """Whatever the ids, the ties and the options: every bit of all measures, and the errors."""
    options: Any = {
        "trec_eval_version": trec_eval_version, "missing": "zero" if complete else "skip",
        "judged_only": judged_only, "depth": deepest, "relevance_level": level,
    }  # fmt: skip

    def evaluate(some_run: Any) -> Any:
        return _found(lambda: fr.evaluate(as_qrels(qrels), some_run, "all_trec", **options))

    assert evaluate(run) == evaluate(as_run(run))


@slow_in_python
@pytest.mark.parametrize("shape", ["many hits", "large query", "all tied"])
def test_large_rankings_in_no_order(shape: str) -> None:
    """More hits than are counted, many more documents than judgments, and one large tie."""
    rng = np.random.default_rng(3)
    sizes = {"many hits": [900, 700], "large query": [10, 40_000, 20], "all tied": [500]}
    run, qrels = {}, {}
    for number, size in enumerate(sizes[shape]):
        scores = np.ones(size) if shape == "all tied" else rng.random(size).round(4)
        names = [f"d{i}" for i in rng.permutation(size)]
        run[f"q{number}"] = dict(zip(names, scores.tolist(), strict=True))
        judged = rng.choice(size, min(size, 300), replace=False)
        qrels[f"q{number}"] = {f"d{i}": int(rng.integers(0, 3)) for i in judged}

    found = _found(lambda: fr.evaluate(qrels, run, "all_trec"))

    assert found == _found(lambda: fr.evaluate(qrels, as_run(run), "all_trec"))


def test_an_evaluator_is_used_again_for_dicts_runs_and_files(tmp_path: Any) -> None:
    """It was made once; every run gets its own scores."""
    path = tmp_path / "run"
    path.write_bytes(b"q1 Q0 b 1 2.0 t\nq1 Q0 a 2 1.0 t\nq2 Q0 c 1 9 t\n")
    evaluator = fr.Evaluator(QRELS, "map P.1")

    for run in (RUN, as_run(RUN), path, RUN):
        scores = evaluator.evaluate(run)
        assert scores.mean == {"map": 0.75, "P_1": 0.5}
        assert (scores.queries, scores.counts["missing_queries"]) == (["q1", "q2"], 1)
    assert evaluator.evaluate({"q3": {"d": 1.0}}).mean["map"] == 1.0


def test_an_evaluator_can_be_called_from_several_threads(tmp_path: Any) -> None:
    """Dicts and files at once give what they give one by one."""
    path = tmp_path / "run"
    path.write_bytes(b"q1 Q0 a 2 1.0 t\n")
    evaluator = fr.Evaluator(QRELS, "map")
    found: list[float] = []

    def work() -> None:
        for _ in range(20):
            found.append(evaluator.evaluate(RUN).mean["map"])
            found.append(evaluator.evaluate(path).mean["map"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(found) == [0.75] * 80 + [1.0] * 80


def test_a_query_with_an_empty_dict_counts_as_zero() -> None:
    """As in pytrec_eval; a judged query without any judgment does not count."""
    scores = fr.evaluate({"q": {"a": 1}, "r": {"b": 1}, "s": {}}, {"q": {}, "r": {"b": 1.0}}, "map")

    assert scores.queries == ["q", "r"]
    assert scores["map"].tolist() == [0.0, 1.0]


def test_any_mapping_and_any_number_will_do() -> None:
    """Subclasses of dict, other mappings, and numbers of Python and numpy."""
    ordered = OrderedDict([("a", 2.0), ("b", 1.0)])
    ordered.move_to_end("a")
    found: Any = defaultdict(dict, {"a": np.float32(2), "b": True})
    run = {
        "1": ordered, "2": found, "3": MappingProxyType({"a": Decimal("2"), "b": Fraction(1, 3)}),
        "4": UserDict({"a": np.int64(3), "b": 1}),
    }  # fmt: skip
    qrels = {query: {"a": np.int32(1)} for query in run}

    for one in (run, MappingProxyType(run)):
        assert fr.evaluate(qrels, one, "recip_rank")["recip_rank"].tolist() == [1.0] * 4
    assert list(ordered) == ["b", "a"]


def test_ids_that_are_integers_are_their_decimals() -> None:
    """On either side, and in the order of ties: 9 comes after 10 as text."""
    run: Any = {7: {9: 1.0, 10: 1.0}}

    assert fr.evaluate({"7": {"10": 1}}, run, "recip_rank").mean["recip_rank"] == 0.5
    assert fr.evaluate({7: {9: 1}}, run, "recip_rank").mean["recip_rank"] == 1.0


@pytest.mark.parametrize("other", [5, b"5", np.int64(5)])
@pytest.mark.parametrize("size", [1, 4, 5, 6, 999, 1365, 1366])
def test_ids_of_several_types_are_all_found(other: Any, size: int) -> None:
    """Not only those of the type that comes first: nothing judged is taken for missing."""
    run = {f"d{i}": 1.0 for i in range(size)} | {other: 2.0}

    assert fr.evaluate({"q": {"5": 1}}, {"q": run}, "recip_rank").mean["recip_rank"] == 1.0


def test_measures_of_preferences_take_dicts_too() -> None:
    """They are converted to a run in memory."""
    from tests.helpers.parsing import parse_prefs

    preferences = parse_prefs(b"q 0 0 a 2\nq 0 0 b 1\n")

    assert fr.evaluate(preferences, {"q": {"a": 2.0, "b": 1.0}}, "prefs_simp").mean == {
        "prefs_simp": 1.0
    }


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q1": {"a": 1.0, "b": float("nan")}}, "query 'q1', document 'b': .* found NaN"),
        ({"q1": {"a": 1.0, "b": None}}, "query 'q1', document 'b': .* found NoneType: None"),
        ({"q1": {"a": 1.0, "b": "2"}}, "query 'q1', document 'b': .* found str: '2'"),
        ({"q1": {"a": 1.0, "b": 1j}}, "query 'q1', document 'b': .* found complex: 1j"),
        ({"q1": {"a": 1.0, "b": 10**400}}, "query 'q1', document 'b': "),
        ({"q2": {"c": 1.0}, "q1": {"x": 1.0, "b": b"1"}}, "query 'q1', document 'b': "),
        ({"q1": {1: 1.0, 2: None}}, "query 'q1', document 2: "),
        ({"q1": ["a", "b"]}, "query 'q1': expected a dict of documents and scores, found list"),
        ({"q1": 0.5}, "query 'q1': expected a dict of documents and scores, found float"),
        ({"q1": {"a": 1.0, "5": 2.0, 5: 1.0}}, "query 'q1', a document: 5 and '5' are the same"),
        (
            {"q1": {"a": 1.0, None: 1.0}},
            "query 'q1', a document: expected an id, found the missing value None",
        ),
        ({"q1": {"a": 1.0}, "q9": ["a"]}, "query 'q9': expected a dict of documents"),
        ({"a": 1.0, "b": 2.0}, "query 'a': expected a dict of documents and scores, found float"),
        (
            {"q1": {"a": 1.0, "\ud800": 1.0}},
            "query 'q1', a document: expected an id, found a lone surrogate",
        ),
    ],
)
def test_what_is_no_run_is_refused_with_its_place(run: Any, message: str) -> None:
    """An InputError, which is a ValueError."""
    with pytest.raises(fr.InputError, match=message):
        fr.evaluate(QRELS, run, "map")


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ({"q1": {"a": None}}, "qrels: query 'q1', document 'a': expected a grade, found NoneType"),
        (
            {"q1": {"a": 2**63}},
            "qrels: query 'q1', document 'a': expected a 64-bit grade, found 9223372036854775808",
        ),
        ({"q1": "a"}, "qrels: query 'q1': expected a dict of documents and grades, found str"),
        ({"q1": {1.5: 1}}, "qrels: query 'q1', a document: expected an id, found the float 1.5"),
    ],
)
def test_what_are_no_judgments_is_refused_with_its_place(qrels: Any, message: str) -> None:
    """An InputError, which is a ValueError."""
    with pytest.raises(fr.InputError, match=message):
        fr.Evaluator(qrels, "map")


@pytest.mark.parametrize("no_relevant", ["zero", "skip"])
def test_queries_without_judgments_are_counted_as_of_a_run_in_memory(no_relevant: str) -> None:
    """By name, in byte order; those that an option has left out have judgments."""
    qrels = {"q1": {"a": 1}, "q2": {"c": 0}}
    run = {"z": {}, "q1": {"a": 1.0}, "q2": {"c": 1.0}, "y\udcff": {"b": 1.0}}
    one, other = (
        fr.evaluate(qrels, some, "map", no_relevant=no_relevant) for some in (run, as_run(run))
    )

    assert one.unjudged_queries == other.unjudged_queries == ["y\udcff", "z"]
    assert one.counts == other.counts


def test_an_empty_run_has_no_queries() -> None:
    """As a file without queries in common."""
    for run in ({}, {"other": {"a": 1.0}}):
        with pytest.raises(fr.NoQueriesError):
            fr.evaluate(QRELS, run, "map")


def test_the_dicts_are_left_alone() -> None:
    """Nothing is added to a defaultdict, and nothing else is changed."""
    run = defaultdict(dict, {"q1": defaultdict(float, {"b": 1.0})})
    before = repr(run)

    fr.evaluate(QRELS, run, "map", missing="zero", trec_eval_version="10.0")

    assert repr(run) == before


@pytest.mark.skipif(not engine().startswith("precompiled"), reason="the other engines need numba")
def test_the_first_call_makes_no_large_import() -> None:
    """What it costs beyond importing numpy."""
    import subprocess
    import sys

    code = (
        "import sys, fastrank as fr; fr.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}});"
        "from fastrank.compat import pytrec_eval;"
        "pytrec_eval.RelevanceEvaluator({'q': {'a': 1}}, {'all_trec'}).evaluate({'q': {'a': 1.0}});"
        "print({'numba', 'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
