"""Scores of dicts read, and dicts of values made, by kernels: the same as without them."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from array import array
from collections import OrderedDict, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.compat import pytrec_eval
from fastrank.judging.dict_ranks import AT_ONCE
from fastrank.native import codes, engine, kernels, python_api
from fastrank.native.objects import addresses, interpreter, rows_as_dicts
from fastrank.native.records.dicts import DictRankings, PackedScores
from tests.helpers.strategies import examples

needs_library = pytest.mark.skipif(
    not engine().startswith("precompiled"),
    reason="only kernels compiled ahead of time read objects",
)


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


def _by_hand(scores: dict[Any, Any]) -> dict[Any, Any]:
    return defaultdict(float, scores)


docs = st.sampled_from(["a", "b", "c", "d", "é", "\U00010000", "e", "f", "g"])
odd_docs = docs | st.sampled_from([Text("a"), Text("z"), np.str_("b"), 1, 2])
floats = st.floats(allow_nan=False) | st.sampled_from([-0.0, 0.0, 1.0, 1.00000001])
odd_scores = st.sampled_from(
    [1, True, 10**30, 10**400, np.float64(2), np.float32(2), np.int8(3), Float(4), Fraction(1, 3),
     float("nan"), None, "1"]
)  # fmt: skip
plain = st.dictionaries(docs, floats, max_size=9)
ranked = st.dictionaries(docs, floats, min_size=1, max_size=9)
odd = st.dictionaries(odd_docs, floats | odd_scores, max_size=9)
kinds = st.sampled_from([dict, _shrunk, _attributes, Dict, OrderedDict, _by_hand])
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
        patch.setattr(type(interpreter), "api", lambda self: None)
        return _found(evaluate)


@needs_library
@examples(300)
@given(qrels, runs)
def test_reading_objects_gives_what_packing_them_gives(qrels: Any, run: Any) -> None:
    """Whatever the scores, the ids and the dicts are: every bit, or the same error."""

    def evaluate() -> Any:
        return fr.evaluate(qrels, run, "all_trec").to_dict()

    assert _found(evaluate) == _without_kernels(evaluate)


@needs_library
@examples(300)
@given(qrels, runs)
def test_the_evaluator_of_compat_gives_the_same_with_and_without_kernels(
    qrels: Any, run: Any
) -> None:
    """The order of queries and measures too, since that of a dict can be seen."""
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures)

    def evaluate() -> Any:
        return evaluator.evaluate(run)

    assert _found(evaluate) == _without_kernels(evaluate)


@examples(200)
@given(
    st.dictionaries(
        queries, st.dictionaries(docs, st.integers(0, 3), min_size=1), min_size=1, max_size=5
    ),
    # At empty rankings and at negative grades pytrec_eval may end the interpreter.
    st.dictionaries(queries, ranked | st.builds(_shrunk, ranked), max_size=5),
)
def test_plain_dicts_give_what_pytrec_eval_gives(qrels: Any, run: Any) -> None:
    """Every bit, in the same order of queries and measures."""
    original = pytest.importorskip("pytrec_eval")
    measures = pytrec_eval.supported_measures

    found = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)

    expected = original.RelevanceEvaluator(qrels, measures).evaluate(run)
    assert repr(found) == repr(expected)


@needs_library
@pytest.mark.parametrize("odd", [7, np.float32(7), Float(7.0)])
@pytest.mark.parametrize("place", [0, AT_ONCE + 10, -1])
def test_one_score_that_is_no_float_among_many(odd: Any, place: int) -> None:
    """The others that are ranked with it are packed again; those before it stay as they are."""
    run = {"q": {f"d{i}": 1.0 + i for i in range(AT_ONCE + 50)}, "r": {"a": 1.0, "b": 2.0}}
    docs = list(run["q"])
    run["q"][docs[place]] = odd
    qrels = {"q": {docs[place]: 1, docs[5]: 1}, "r": {"a": 1}}

    def evaluate() -> Any:
        return fr.evaluate(qrels, run, "map recip_rank num_rel_ret").to_dict()

    assert _found(evaluate) == _without_kernels(evaluate)


def _read(run: list[dict[Any, Any]], sizes: list[int], docs: list[str], checks_keys: bool) -> Any:
    """How many rankings were read; their scores, and those of the same documents in each."""
    api = interpreter.api()
    offsets = array("q", [sum(sizes[:i]) for i in range(len(sizes) + 1)])
    hit_offsets = array("q", [len(docs) * i for i in range(len(run) + 1)])
    scores, hit_scores = array("d", [0] * sum(sizes)), array("d", [0] * len(docs) * len(run))
    rankings = DictRankings(
        dicts=addresses(run), check_keys=checks_keys, queries=array("q", [0] * len(run)),
        doc_starts=array("q", [0]), docs=addresses(docs),
    )  # fmt: skip
    packed = PackedScores(
        scores=scores, offsets=offsets, hit_scores=hit_scores, hit_offsets=hit_offsets
    )
    scratch = array("q", [0] * max(sizes))
    done = kernels.read_scores(api, rankings, 0, len(run), scratch, packed)
    return done, scores.tolist(), hit_scores.tolist()


@needs_library
def test_scores_of_dicts_are_read_in_their_order() -> None:
    """And those of documents that are looked up, NaN for one that is not there."""
    run = [{"a": 0.5, "b": -0.0}, {}, {"c": float("inf")}]

    done, scores, found = _read(run, [2, 0, 1], ["b", "c"], True)

    assert (done, repr(scores)) == (3, "[0.5, -0.0, inf]")
    assert repr(found) == "[-0.0, nan, nan, nan, nan, inf]"


@needs_library
@pytest.mark.parametrize("sizes", [[2, 2], [2, 4], [2, 0]])
def test_a_dict_that_has_changed_its_size_is_noticed(sizes: list[int]) -> None:
    """As another thread may do between two kernels: nothing is written beyond its place."""
    run = [{"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0, "c": 3.0}]

    done, scores, _ = _read(run, sizes, ["a"], False)

    assert done == 1
    assert scores[:2] == [1.0, 2.0]


@pytest.mark.parametrize("size", [0, 2, 4])
def test_a_dict_that_changes_while_it_is_read_is_an_error(size: int) -> None:
    """Here one that says another number of documents than it has."""

    class Changing(dict):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return size

    run = {"q": {"a": 1.0}, "r": Changing(a=1.0, b=2.0, c=3.0)}
    with pytest.raises(fr.InputError, match="queries 'q' to 'r': a dict has changed while"):
        fr.evaluate({"q": {"a": 1}, "r": {"a": 1}}, run, "map")


@pytest.mark.parametrize("moved", [1, 3])
def test_a_number_that_changes_the_dicts_while_it_is_read_is_noticed(moved: int) -> None:
    """Also where as many documents are left in all, but not for each query."""
    run: dict[str, dict[str, Any]] = {"q": {"a": 0.0, "b": 2.0}, "r": dict.fromkeys("abcd", 1.0)}

    class Moving(Fraction):
        def __float__(self) -> float:
            run["r"].clear()
            run["r"].update(dict.fromkeys("abcdefgh"[:moved], 1.0))
            run["q"].update(dict.fromkeys("cdefgh"[: 4 - moved], 1.0))
            return 0.5

    run["q"]["a"] = Moving(1)
    with pytest.raises(fr.InputError, match="queries 'q' to 'r': a dict has changed while"):
        fr.evaluate({"q": {"a": 1}, "r": {"a": 1}}, run, "map")


@needs_library
@pytest.mark.parametrize("key", [5, Text("b"), np.str_("b"), b"b", None])
def test_a_key_that_is_not_str_itself_is_noticed(key: Any) -> None:
    """Where looking it up might run code of Python's."""
    assert _read([{"a": 1.0, key: 2.0}], [2], ["a"], True)[0] == 0
    assert _read([{"a": 1.0, "b": 2.0}], [2], ["a"], True)[0] == 1


@needs_library
def test_no_reference_is_lost_or_kept() -> None:
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
def test_rows_become_dicts(data: Any, names: list[str], count: int) -> None:
    """Every bit, in the order of the names."""
    columns, expected = {}, [dict[str, float]() for _ in range(count)]
    for name in names:
        step = data.draw(st.integers(0, 3))
        first = data.draw(st.integers(0, max(0, step - 1)))
        size = max(1, count * step)
        values = data.draw(st.lists(numbers, min_size=size, max_size=size))
        columns[name] = memoryview(array("d", values)), first, step
        for i, row in enumerate(expected):
            row[name] = values[first + i * step]

    assert repr(rows_as_dicts(columns, count)) == repr(expected)


def test_the_rows_belong_to_the_caller() -> None:
    """One that is changed leaves the others as they are."""
    values = memoryview(array("d", [0.0, 0.5, 0.0]))

    rows = rows_as_dicts({"a": (values, 0, 1)}, 3)
    rows[0]["a"], rows[0]["b"] = 7.0, 8.0

    assert rows[1:] == [{"a": 0.5}, {"a": 0.0}]
    assert {type(row) for row in rows} == {dict}


@needs_library
@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        (sys, "abiflags", "t"), (codes, "NUMBER_IN_FLOAT", 24),
        (codes, "TYPE_IN_OBJECT", 0),
    ],
)  # fmt: skip
def test_an_interpreter_that_is_not_as_expected_is_left_alone(
    owner: Any, name: str, value: Any, monkeypatch: Any
) -> None:
    """One without a global lock, or whose objects lie otherwise in memory."""
    monkeypatch.setattr(owner, name, value, raising=False)
    monkeypatch.setattr(python_api, "_FOUND", [])

    assert interpreter.api() is None
    assert fr.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map").mean["map"] == 1.0


SCRIPT = """
import json
from fastrank.native import objects, python_api
objects.interpreter.api = python_api.python_api
from tests.native.test_objects import _read
from fastrank.native.objects import rows_as_dicts
run = [{"a": 0.5, "b": -0.0}, {"c": 3.5}, {"c": 1}]
values = memoryview(bytearray(48)).cast("d")
values[1], values[2], values[4] = 1.0, 0.25, -0.0
print(json.dumps([
    *(_read(run[:stop], [2, 1, 1][:stop], ["b", "c"], True) for stop in (2, 3)),
    _read([{"a": 1.0, 5: 2.0}], [2], ["a"], True)[0],
    rows_as_dicts({"x": (values, 0, 2), "y": (values, 1, 2)}, 3),
]))
"""


@pytest.mark.parametrize("setting", [{}, {"NUMBA_DISABLE_JIT": "1"}, {"FASTRANK_ENGINE": "jit"}])
def test_the_kernels_mean_the_same_on_every_engine(setting: dict[str, str]) -> None:
    """Though only the library is asked, where they are faster than Python."""
    clean = {
        k: v for k, v in os.environ.items() if k not in ("FASTRANK_ENGINE", "NUMBA_DISABLE_JIT")
    }

    shown = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True,
        env={**clean, **setting},
    ).stdout  # fmt: skip

    nan = float("nan")
    assert repr(json.loads(shown)) == repr([
        [2, [0.5, -0.0, 3.5], [-0.0, nan, nan, 3.5]],
        [2, [0.5, -0.0, 3.5, 0.0], [-0.0, nan, nan, 3.5, 0.0, 0.0]],
        0,
        [{"x": 0.0, "y": 1.0}, {"x": 0.25, "y": 0.0}, {"x": -0.0, "y": 0.0}],
    ])  # fmt: skip
