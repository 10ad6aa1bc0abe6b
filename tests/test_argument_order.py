"""All functions take their arguments in one order."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import fastrank as fr
import fastrank.compat.datasets
import fastrank.searching
from fastrank.errors import ArrayError

FUNCTIONS = [
    function
    for module in (fr, fastrank.searching, fastrank.compat.datasets)
    for name in module.__all__
    if inspect.isfunction(function := getattr(module, name))
]
# Judgments first, then what was retrieved; queries before the corpus.
ORDERS = [
    ("qrels", "run"),
    ("qrels", "runs"),
    ("qrels", "ids"),
    ("qrels", "results"),
    ("qrels", "measures"),
    ("queries", "corpus"),
    ("corpus", "qrels"),
]


def positional(function: Callable[..., Any]) -> list[str]:
    return [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not parameter.KEYWORD_ONLY
    ]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_judgments_and_queries_come_first(function):
    names = positional(function)

    for first, second in ORDERS:
        if first in names and second in names:
            assert names.index(first) < names.index(second)


def test_all_orders_are_used():
    used = {pair for pair in ORDERS for function in FUNCTIONS if {*pair} <= {*positional(function)}}

    assert used == set(ORDERS)


@pytest.mark.parametrize(
    "call",
    [
        fr.evaluate,
        fr.tie_report,
        fr.negative_log_likelihood,
        lambda qrels, run: fr.hard_negatives(qrels, run, 1),
    ],
)
def test_a_run_in_place_of_qrels_is_an_error(call):
    qrels, run = fr.Qrels.from_dict({"q": {"d": 1}}), fr.Run.from_dict({"q": {"d": 1.0}})

    with pytest.raises(TypeError, match=r"^qrels: expected Qrels or Preferences, .* found Run$"):
        call(run, qrels)


@pytest.mark.parametrize(
    "call",
    [
        fastrank.searching.search,
        fastrank.searching.search_batches,
        lambda queries, corpus, k: fr.evaluate_embeddings(queries, corpus, {"0": {"1": 1}}),
    ],
)
def test_an_index_in_place_of_queries_is_an_error(call):
    index = fastrank.searching.build_index([[1.0, 0.0], [0.0, 1.0]])

    with pytest.raises(ArrayError, match=r"^queries: expected a table of vectors, found Index$"):
        call(index, [[1.0, 0.0]], 1)
