"""Dicts as judgments and runs."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict, UserDict, defaultdict
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.core.native import engine
from fastrank.errors import ArrayError, InputError
from tests.helpers.parsing import parse_prefs
from tests.helpers.small import grades, scores
from tests.helpers.tables import giving, refusing

QRELS, RUN = grades("q1 a=1 b=0; q2 c=2; q3 d=1"), scores("q a=2 b=1")
PREFERENCES = parse_prefs(b"q 0 0 a 2\nq 0 0 b 1\n")


def test_any_mapping_and_any_number_will_do():
    ordered = OrderedDict([("a", 2.0), ("b", 1.0)])
    ordered.move_to_end("a")
    run: Any = {
        "1": ordered,
        "2": defaultdict(dict, {"a": np.float32(2), "b": True}),
        "3": MappingProxyType({"a": Decimal(2), "b": Fraction(1, 3)}),
        "4": UserDict({"a": np.int64(3), "b": 1}),
    }
    qrels = {query: {"a": np.int32(1)} for query in run}

    for one in (run, MappingProxyType(run)):
        assert fr.evaluate(qrels, one, "recip_rank")["recip_rank"].tolist() == [1.0] * 4
    assert list(ordered) == ["b", "a"]


def mean(qrels: Any, run: Any, measure: str = "recip_rank") -> float:
    return fr.evaluate(qrels, run, measure).mean[measure]


test_dicts_are_evaluated_as_described = giving("""
# ids that are integers are their decimals, on either side, and in the order of ties
mean({"7": {"10": 1}}, {7: {9: 1.0, 10: 1.0}}) => 0.5
mean({7: {9: 1}}, {7: {9: 1.0, 10: 1.0}}) => 1.0
# measures of preferences take dicts too
mean(PREFERENCES, RUN, "prefs_simp") => 1.0
# a query with an empty dict counts as zero; a judged query without any judgment does not count
fr.evaluate({"q": {"a": 1}, "r": {"b": 1}, "s": {}}, {"q": {}, "r": {"b": 1.0}}, "map").to_dict()
  => {"q": {"map": 0.0}, "r": {"map": 1.0}}
""")


@pytest.mark.parametrize("other", [5, b"5", np.int64(5)])
@pytest.mark.parametrize("size", [1, 4, 5, 6, 999, 1365, 1366])
def test_ids_of_several_types_are_all_found(other, size):
    """Not only those of the type that comes first: nothing judged is taken for missing."""
    run = {f"d{i}": 1.0 for i in range(size)} | {other: 2.0}

    assert mean({"q": {"5": 1}}, {"q": run}) == 1.0


def of(run: Any) -> Any:
    return fr.evaluate(QRELS, run, "map")


def by(qrels: Any) -> Any:
    return fr.Evaluator(qrels, "map")


test_what_is_no_run_and_no_judgments_is_refused_with_its_place = refusing(r"""InputError
# a score is a number
of({"q1": {"a": 1.0, "b": float("nan")}}) =>
  run: query 'q1', document 'b': expected a score, found NaN
of({"q1": {"a": 1.0, "b": None}}) =>
  run: query 'q1', document 'b': expected a score, found a missing value
of({"q1": {"a": 1.0, "b": "2"}}) =>
  run: query 'q1', document 'b': expected a score, found '2': write the number without quotes
of({"q1": {"a": 1.0, "b": 1j}}) =>
  run: query 'q1', document 'b': expected a score, found complex: 1j
of({"q1": {"a": 1.0, "b": 10**400}}) =>
  run: query 'q1', document 'b': expected a score in the range of a double, found 10000...
of({"q2": {"c": 1.0}, "q1": {"x": 1.0, "b": b"1"}}) =>
  run: query 'q1', document 'b': expected a score, found bytes: b'1'
of({"q1": {1: 1.0, 2: None}}) =>
  run: query 'q1', document 2: expected a score, found a missing value
# a query has a dict
of({"q1": 0.5}) => run: query 'q1': expected a dict of documents and scores, or a list, found float
of({"q1": {"a", "b"}}) =>
  run: query 'q1': expected a dict of documents and scores, or a list, found set
of({"a": 1.0, "b": 2.0}) =>
  run: query 'a': expected a dict of documents and scores, or a list, found float
# ids are different ones
of({"q1": {"a": 1.0, "5": 2.0, 5: 1.0}}) =>
  run: query 'q1', a document: 5 and '5' are the same id as text; use ids of one type
of({"q1": {"a": 1.0, None: 1.0}}) =>
  run: query 'q1', a document: expected an id, found a missing value
of({"q1": {"a": 1.0, "\ud800": 1.0}}) =>
  run: query 'q1', a document: expected an id, found a lone surrogate in '\ud800', which UTF-8
  cannot encode
# a grade is a number of 64 bits
by({"q1": {"a": None}}) => qrels: expected ratings, found none for 1 query, such as 'q1'
by({"q1": {"a": 2**63}}) =>
  qrels: query 'q1', document 'a': expected a 64-bit grade, found 9223372036854775808
# judgments have dicts and ids as well
by({"q1": "a"}) => qrels: query 'q1': expected a dict of documents and grades, or a list, found str
by({"q1": {1.5: 1}}) =>
  qrels: query 'q1', a document: expected an id, found the float 1.5; use integers or strings ...
""")


@pytest.mark.parametrize("error", [InputError, ArrayError])
def test_errors_of_input_are_value_errors(error):
    assert issubclass(error, ValueError)


def test_the_dicts_are_left_alone():
    run = defaultdict(dict, {"q1": defaultdict(float, {"b": 1.0})})
    before = repr(run)

    fr.evaluate(QRELS, run, "map", missing="zero", trec_eval_version="10.0")

    assert repr(run) == before


@pytest.mark.skipif(not engine().startswith("precompiled"), reason="the other engines need more")
def test_the_first_call_makes_no_large_import():
    code = (
        "import sys, fastrank as fr; fr.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}});"
        "from fastrank.compat import pytrec_eval;"
        "pytrec_eval.RelevanceEvaluator({'q': {'a': 1}}, {'all_trec'}).evaluate({'q': {'a': 1.0}});"
        "print({'numba', 'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
