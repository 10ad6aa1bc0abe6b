"""Scores of dicts read, and dicts of values made, by kernels: the same as without them."""

from __future__ import annotations

import gc
import json
import sys
from array import array
from collections import OrderedDict, defaultdict
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.compat import pytrec_eval
from fastrank.core.data import row_dicts
from fastrank.core.data.row_dicts import RowDicts
from fastrank.core.matching.dicts import DictBatch, index_judgments
from fastrank.core.matching.options import Options
from fastrank.core.native import codes, objects
from fastrank.core.native.objects import api_with_numpy
from tests.helpers.installations import run_python
from tests.helpers.paths import REPOSITORY
from tests.helpers.strategies import examples

needs_objects = pytest.mark.skipif(
    api_with_numpy() is None, reason="this interpreter's objects are not read by kernels"
)
MANY = 40_000


class Float(float):
    """A number that says it is another one, where Python asks it."""

    def __float__(self) -> float:
        return 0.0


class Text(str):
    """A text that equals no other one."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return False


class Dict(dict):  # type: ignore[type-arg]
    """A dict that has other values than it seems."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key, default)

    def values(self) -> Any:
        return [-value for value in super().values()]


class Record:
    """What has attributes, which are documents here."""


def _attributes(scores: dict[Any, Any]) -> dict[Any, Any]:
    """A dict that shares its table of keys with others, where that is possible."""
    record = Record()
    for doc, score in scores.items():
        setattr(record, str(doc), score)
    return vars(record)


def _shrunk(scores: dict[Any, Any]) -> dict[Any, Any]:
    more = {f"x{i}": 9.0 for i in range(40)} | scores | {"y": 9.0}
    for doc in [doc for doc in more if doc not in scores]:
        del more[doc]
    return more


docs = st.sampled_from(["a", "b", "c", "d", "é", "\U00010000", "e", "f", "g"])
odd_docs = docs | st.sampled_from([Text("a"), Text("z"), np.str_("b"), 1, 2])
floats = st.floats(allow_nan=False) | st.sampled_from([-0.0, 0.0, 1.0, 1.00000001])
odd_scores = st.sampled_from([1, True, 10**30, 10**400, np.float64(2), np.float32(2)])
odd_scores |= st.sampled_from([np.int8(3), Float(4), Fraction(1, 3), float("nan"), None, "1"])
plain = st.dictionaries(docs, floats, max_size=9)
odd = st.dictionaries(odd_docs, floats | odd_scores, max_size=9)
kinds = st.sampled_from(
    [dict, _shrunk, _attributes, Dict, OrderedDict, partial(defaultdict, float)]
)
rankings = st.builds(lambda kind, scores: kind(scores), kinds, plain) | st.builds(
    lambda kind, scores: kind(scores), st.sampled_from([dict, _shrunk, OrderedDict]), plain | odd
)
queries = st.sampled_from(["q1", "q2", "q3", "q4", "é", "other"])
runs = st.dictionaries(queries, rankings, max_size=5)
qrels = st.dictionaries(
    queries, st.dictionaries(docs, st.integers(-1, 3), min_size=1), min_size=1, max_size=5
)


def _found(evaluate: Any) -> Any:
    """What is found, or the error."""
    try:
        return repr(evaluate())
    except fr.FastrankError as error:
        return type(error), str(error)


def _without_kernels(evaluate: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objects, "_FOUND", [None])
        return _found(evaluate)


@needs_objects
@examples(300)
@given(qrels, runs)
def test_reading_objects_gives_what_converting_them_gives(qrels, run):
    """Whatever the scores, the ids and the dicts are: every bit, or the same error.

    The order of queries and measures too, since that of a dict can be seen.
    """
    # The conversion looks at queries without judgments too.
    judged = {query: own for query, own in run.items() if query in qrels}

    def by_evaluate() -> Any:
        return fr.evaluate(qrels, judged, "all_trec").to_dict()

    def by_compat() -> Any:
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures)
        return evaluator.evaluate(run)

    for evaluate in (by_evaluate, by_compat):
        assert _found(evaluate) == _without_kernels(evaluate)


@needs_objects
@pytest.mark.parametrize("odd", [7, np.float32(7), np.float64(7), np.int8(7), 10**30, Float(7.0)])
@pytest.mark.parametrize("place", [0, MANY // 2, -1])
def test_one_score_that_is_no_float_among_many(odd, place):
    run = {"q": {f"d{i}": 1.0 + i for i in range(MANY)}, "r": {"a": 1.0, "b": 2.0}}
    docs = list(run["q"])
    run["q"][docs[place]] = odd
    qrels = {"q": {docs[place]: 1, docs[5]: 1}, "r": {"a": 1}}

    def evaluate() -> Any:
        return fr.evaluate(qrels, run, "map recip_rank num_rel_ret").to_dict()

    assert _found(evaluate) == _without_kernels(evaluate)


OPTIONS = Options(max_retrieved=100)


def _ranks(run: list[dict[Any, Any]], lengths: list[int], docs: list[str]) -> list[int] | None:
    """Ranks of documents in rankings that are said to have these lengths; None if not judged."""
    judgments = index_judgments({f"q{i}": dict.fromkeys(docs, 1) for i in range(len(run))})
    assert judgments is not None
    batch = DictBatch(judgments, OPTIONS, len(run), max(lengths))
    if not batch.judge(run, lengths, list(range(len(run)))):
        return None
    rankings = batch.judged.columns
    return rankings.ranks[: rankings.offsets[len(run)]].tolist()


@needs_objects
@pytest.mark.parametrize("more", [0, 9])
def test_documents_are_found_whichever_are_fewer(more):
    """Those of the run are looked up among the judged ones, or the other way round."""
    run = [{"a": 0.5, "b": -0.0, "c": 0.25}, {}, {"c": float("inf"), "b": 1}]
    for i in range(more):
        run[0][f"x{i}"] = run[2][f"x{i}"] = -1.0 - i

    assert _ranks(run, list(map(len, run)), ["b", "c"]) == [2, 3, 1, 2]


A_B = {"a": 1.0, "b": 2.0}
# Rankings, the lengths that they are said to have, documents, and their ranks: None where reading
# on might run code of Python's, or write beyond the end of memory.
LEFT_TO_PYTHON = {
    **{
        f"{type(score).__name__} {score}": ([{"a": 1.0, "b": score, "c": 2.5}], [3], "b", ranks)
        for scores, ranks in (
            ((2, 2.0, np.float64(2), np.float32(2)), [2]),
            ((True, 2**63, np.int64(2), Fraction(2), Float(2), float("nan")), None),
        )
        for score in scores
    },
    # As another thread may change it before the kernel.
    "longer than said": ([A_B, {**A_B, "c": 3.0}], [2, 2], "a", None),
    "shorter than said": ([A_B, {**A_B, "c": 3.0}], [2, 4], "a", None),
    "said to be empty": ([A_B, {**A_B, "c": 3.0}], [2, 0], "a", None),
    "only str": ([A_B], [2], "a", [2]),
    **{
        f"key {key!r}": ([{"a": 1.0, key: 2.0}], [2], "a", None)
        for key in (5, Text("b"), np.str_("b"), b"b", None)
    },
    # Ids decide.
    "not UTF-8": ([{"a": 1.0, "\udc80": 1.0}], [2], "a", None),
    "not UTF-8, more judged": ([{"a": 1.0, "\udc80": 1.0}], [2], "abc", None),
}


@needs_objects
@pytest.mark.parametrize(
    ("run", "lengths", "docs", "ranks"), LEFT_TO_PYTHON.values(), ids=LEFT_TO_PYTHON
)
def test_kernels_read_what_is_usual_and_leave_the_rest_to_python(run, lengths, docs, ranks):
    """Without a copy of the dict, and without an exception left behind."""
    assert _ranks(run, lengths, list(docs)) == ranks


@pytest.mark.parametrize("size", [0, 2, 4])
def test_a_dict_that_says_another_length_than_it_has(size):
    class Changing(dict):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return size

    run = {"q": {"a": 1.0}, "r": Changing(a=1.0, b=2.0, c=3.0)}
    found = fr.evaluate({"q": {"a": 1}, "r": {"a": 1}}, run, "recip_rank")

    assert found["recip_rank"].tolist() == [1.0, 1 / 3]


@pytest.mark.parametrize("moved", [1, 3])
def test_a_number_may_change_the_dicts_while_it_is_read(moved):
    """What they held before, or hold afterwards, is evaluated; memory is not overrun."""
    run: dict[str, dict[str, Any]] = {"q": {"a": 0.0, "b": 2.0}, "r": dict.fromkeys("abcd", 1.0)}

    class Moving(Fraction):
        def __float__(self) -> float:
            run["r"].clear()
            run["r"].update(dict.fromkeys("abcdefgh"[:moved], 1.0))
            run["q"].update(dict.fromkeys("cdefgh"[: 4 - moved], 1.0))
            return 0.5

    run["q"]["a"] = Moving(1)
    found = fr.evaluate({"q": {"a": 1}, "r": {"a": 1}}, run, "recip_rank num_ret")

    assert found["num_ret"].tolist() == [2.0, float(moved)]
    assert found["recip_rank"].tolist() == [1 / 2, 1 / moved]


def test_an_evaluator_gives_the_same_however_often_it_is_used():
    """Its memory serves again for as many queries, and is made anew for others."""
    rng = np.random.default_rng(5)
    judged = {
        f"q{q}": {f"d{d}": int(rng.integers(-1, 4)) for d in rng.choice(60, 20, replace=False)}
        for q in range(6)
    }
    measures = pytrec_eval.supported_measures
    evaluator = pytrec_eval.RelevanceEvaluator(judged, measures)
    for count in (1, 1, 1, 6, 6, 6, 1, 1, 3, 3, 3):
        run = {
            f"q{q}": {f"d{d}": float(rng.integers(9)) for d in rng.choice(60, rng.integers(40))}
            for q in rng.choice(6, count, replace=False)
        }

        expected = pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(run)

        assert repr(evaluator.evaluate(run)) == repr(expected)


@needs_objects
def test_no_reference_is_lost_or_kept():
    """To ids, scores, names and the dicts themselves, however often they are read."""
    own = [f"doc {i}" for i in range(20)]
    scores = [float(f"{i}.5") for i in range(20)]
    run = {"query 1": dict(zip(own, scores, strict=True))}
    evaluator = pytrec_eval.RelevanceEvaluator({"query 1": {own[3]: 1}}, {"map", "P_5", "num_q"})
    held = [*own, *scores, run["query 1"], run, 0.0, 1.0]
    evaluator.evaluate(run)
    # Garbage that other tests have left may hold these numbers too.
    gc.collect()
    before = [sys.getrefcount(one) for one in held]

    for _ in range(10):
        evaluator.evaluate(run)

    assert [sys.getrefcount(one) for one in held] == before


numbers = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, float("nan"), float("inf"), 5e-324])


@examples(200)
@given(st.data(), st.lists(st.sampled_from("abcdefgh"), unique=True), st.integers(0, 4))
def test_rows_become_dicts(data, names, count):
    columns, expected = {}, [dict[str, float]() for _ in range(count)]
    for name in names:
        step = data.draw(st.integers(0, 3))
        first = data.draw(st.integers(0, max(0, step - 1)))
        size = max(1, count * step)
        values = data.draw(st.lists(numbers, min_size=size, max_size=size))
        columns[name] = memoryview(array("d", values)), first, step
        for i, row in enumerate(expected):
            row[name] = values[first + i * step]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_dicts, "_FEW", data.draw(st.sampled_from([0, 64])))
        assert repr(RowDicts(columns).make(count)) == repr(expected)


def test_the_rows_belong_to_the_caller(monkeypatch):
    """One that is changed leaves the others as they are."""
    monkeypatch.setattr(row_dicts, "_FEW", 0)
    values = memoryview(array("d", [0.0, 0.5, 0.0]))

    rows = RowDicts({"a": (values, 0, 1)}).make(3)
    rows[0]["a"], rows[0]["b"] = 7.0, 8.0

    assert rows[1:] == [{"a": 0.5}, {"a": 0.0}]
    assert {type(row) for row in rows} == {dict}


@needs_objects
@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [(sys, "abiflags", "t"), (codes, "NUMBER_IN_FLOAT", 24), (codes, "TYPE_IN_OBJECT", 0)],
)
def test_an_interpreter_that_is_not_as_expected_is_left_alone(owner, name, value, monkeypatch):
    """One without a global lock, or whose objects lie otherwise in memory."""
    monkeypatch.setattr(owner, name, value, raising=False)
    monkeypatch.setattr(objects, "_FOUND", [])

    assert api_with_numpy() is None
    assert fr.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map").mean["map"] == 1.0


SCRIPT = """
import json
import fastrank as fr
from fastrank.core.data import row_dicts
from fastrank.core.data.row_dicts import RowDicts
from tests.core.native.test_objects import _ranks
run = [{"a": 0.5, "b": -0.0}, {"c": 3.5}, {"c": 1, "b": 1.0}, {"a": True}]
row_dicts._FEW = 0
values = memoryview(bytearray(48)).cast("d")
values[1], values[2], values[4] = 1.0, 0.25, -0.0
print(json.dumps([
    *(_ranks(run[:stop], [2, 1, 2, 1][:stop], ["b", "c"]) for stop in (3, 4)),
    _ranks([{"a": 1.0, 5: 2.0}], [2], ["a"]), _ranks([{"a": 1.0, "\\udc80": 1.0}], [2], ["a"]),
    fr.evaluate({"q": {"b": 1}}, {"q": {"a": 1.0, "b": True}}, "recip_rank").mean,
    RowDicts({"x": (values, 0, 2), "y": (values, 1, 2)}).make(3),
]))
"""


@needs_objects
@pytest.mark.parametrize("setting", [{"NUMBA_DISABLE_JIT": "1"}, {"FASTRANK_ENGINE": "jit"}])
def test_the_kernels_mean_the_same_on_every_engine(setting):
    """In plain Python, or compiled in the process; the tests above, ahead of time."""
    shown = run_python(SCRIPT, REPOSITORY, **setting)

    rows = [{"x": 0.0, "y": 1.0}, {"x": 0.25, "y": 0.0}, {"x": -0.0, "y": 0.0}]
    expected = [[2, 1, 1, 2], None, None, None, {"recip_rank": 1.0}, rows]
    assert repr(json.loads(shown)) == repr(expected)
