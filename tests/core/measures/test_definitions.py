"""Measures that trec_eval does not have, against their definitions in plain Python."""

import pytest
from hypothesis import given

import fastrank as fr
from tests.helpers.definitions import DEFINITIONS, Query
from tests.helpers.forms import WHOLE_CASES
from tests.helpers.strategies import examples


@examples(150)
@given(WHOLE_CASES.filter(lambda case: not case.repeats and case.qrels()))
def test_values_are_those_of_the_definition(case):
    """Of queries with a relevant document: how the others count is an option."""
    qrels, (judgments, run) = case.qrels(), case.nouns()
    pool = {doc for own in qrels.values() for doc in own}

    scores = fr.evaluate(
        judgments, run, list(DEFINITIONS), trec_eval_version="10.0", missing="zero"
    )

    for query, results in case.pairs():
        if results and max(qrels.get(query, {"": 0}).values()) > 0:
            own = Query(qrels[query], dict(results), pool)
            values = scores.to_dict()[query]
            for name, definition in DEFINITIONS.items():
                wanted = pytest.approx(definition(own), rel=1e-12, abs=1e-15, nan_ok=True)
                assert values[name] == wanted, name
