"""A document twice in a ranking is an error, or none, however the ranking is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.judging.keywords import TIES
from tests.helpers.strategies import examples

QRELS: dict[str, dict[int, int]] = {"0": {1: 1, 2: 0}, "1": {3: 1, 4: -1}, "2": {5: 0}}
RESULT = st.tuples(st.integers(1, 6), st.sampled_from([1.0, 2.0, 3.0]))
RANKINGS = st.lists(st.lists(RESULT, min_size=4, max_size=4), min_size=1, max_size=4)
OPTIONS = st.fixed_dictionaries(
    {"ties": st.sampled_from(TIES)},
    optional={
        "depth": st.integers(1, 4),
        "no_relevant": st.just("skip"),
        "missing": st.just("zero"),
        "duplicates": st.sampled_from(["error", "first", "max"]),
        "ignore_identical_ids": st.just(True),
    },
)


def outcome(call: Any) -> Any:
    """The means, or that a document is repeated."""
    try:
        return call().mean
    except (fr.EvaluationError, fr.ArrayError) as error:
        repeated = "duplicate docs" in str(error) or "retrieved twice" in str(error)
        return "repeated" if repeated else error
    except fr.NoQueriesError:
        return "no queries"


@pytest.mark.parametrize("measures", ["num_q", "num_rel", "map P.2 num_ret"])
@given(rankings=RANKINGS, options=OPTIONS)
@examples(60)
def test_every_form_of_a_run_has_one_rule(
    measures: str,
    rankings: list[list[tuple[int, float]]],
    options: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Which rankings are evaluated, and how deep, decides whether a repeated document matters."""
    rows = [(str(q), str(doc), score) for q, own in enumerate(rankings) for doc, score in own]
    path = tmp_path_factory.getbasetemp() / "repeats.run"
    path.write_text("".join(f"{query} Q0 {doc} 0 {score} t\n" for query, doc, score in rows))
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    qrels = {query: {str(doc): grade for doc, grade in own.items()} for query, own in QRELS.items()}
    ids = np.array([[doc for doc, _ in own] for own in rankings])
    scores = np.array([[score for _, score in own] for own in rankings])
    queries = [str(q) for q in range(len(rankings))]

    expected = outcome(lambda: fr.evaluate(qrels, path, measures, **options))

    for run in (fr.read_run(path), frame, fr.Run.from_arrays(*map(list, zip(*rows, strict=True)))):
        assert outcome(lambda run=run: fr.evaluate(qrels, run, measures, **options)) == expected
    arrays = outcome(
        lambda: fr.evaluate_arrays(QRELS, ids, scores, measures, queries=queries, **options)
    )
    assert arrays == expected
