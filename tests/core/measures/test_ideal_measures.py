"""Measures of the C/W/L framework, Compat, Q, nCG and nDCG with the best possible ideal ranking."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from tests.helpers.tables import giving, refusing

# Of ir_measures 0.4.3 with cwl-eval 1.0.12 and its provider compat, and of pyNTCIREVAL 0.0.3 (Q).
RECORDED = Path(__file__).parents[2] / "recorded/measures/peers.json.gz"
PEERS = json.loads(gzip.decompress(RECORDED.read_bytes()))["cases"]
QRELS = {"q": {"a": 3, "b": 1, "c": 0, "d": 2, "e": 3}}
RUN = {"q": dict(zip("bxaec", [5.0, 4.0, 3.0, 2.0, 1.0], strict=True))}


@pytest.mark.parametrize("case", PEERS)
def test_values_are_those_of_other_programs(case):
    """To the last bit for Compat and Q; numpy adds those of cwl_eval in another order."""
    scores = fr.evaluate(case["qrels"], case["run"], list(case["values"]))

    for measure, expected in case["values"].items():
        exact = measure.startswith(("Compat", "Q"))
        found = dict(zip(scores.queries, scores[measure], strict=True))
        for query in found:
            tolerance = 0.0 if exact else 1e-14
            assert found[query] == pytest.approx(expected[query], rel=tolerance, abs=0), measure


LOG3 = math.log2(3)
HALVED = {"q": {doc: grade / 2 for doc, grade in QRELS["q"].items()}}
FREE = "SDCG()@5 INST() INSQ() BPM()@5 NERR8()@5 NERR9()@5 NERR10() NERR11()"
SCALED = "SDCG@5 INST Compat nCG@3 nDCG(ideal='max')@5"


def of(measures: str, qrels: Any = QRELS, run: Any = RUN, **options: Any) -> list[float]:
    return list(fr.evaluate(qrels, run, measures, **options).mean.values())


def close(*values: float) -> Any:
    return pytest.approx(list(values), rel=1e-14)


test_worked_examples = giving("""
# max_rel is the highest grade unless it is given
of(FREE) => of(FREE.replace("(", "(max_rel=3"))
# by hand: the gains are 1 0 3 3 0, those of the ideal ranking 3 3 2 1 0
of("Q(beta=0)") => close((1 / 1 + 2 / 3 + 3 / 4) / 4)
of("Q(gains={1:0.25,2:0.5,3:0.75})@1") => close((1 + 0.25) / (1 + 0.75))
of("nDCG(ideal='max',dcg='exp-log2',max_grade=4)@2") => close(1 / (15 + 15 / LOG3))
of("nDCG(ideal='max',gains={1:0.5,3:0.75})@1") => close(0.5 / 0.75)
# the third document: b, a and e are retrieved, a and e first in the ideal ranking
of("Compat(p=0,depth=1)") => [0.0]
of("Compat(normalize=False,p=1,depth=3)") => close((0 + 0 + 1 / 3) / 3)
# grades with fractions count; of half of all grades only what depends on their scale changes
of(SCALED, HALVED) => close(*of(SCALED))
of("Q@1", HALVED) => [(1 + 0.5) / (1 + 1.5)]
# grades outside of the scale are clipped
of("SDCG(min_rel=1,max_rel=2)@3") => close(0.5 / (1 + 1 / LOG3 + 0.5))
# queries without relevant documents may count as best
of("Q nCG@3 Compat SDCG@3", {"q": {"a": 0}}, {"q": {"a": 1.0}}, no_relevant="one") => [1.0] * 4
""")

test_options_that_do_not_fit_are_refused = refusing(r"""
# options that make no sense
of("nDCG(ideal='max')") =>
  MeasureError: 'nDCG(ideal='max')': ideal='max' needs a cutoff, as in nDCG(ideal='max')@10
of("nDCG(max_grade=3)@5") => MeasureError: 'nDCG(max_grade=3)@5': max_grade=3 needs ideal='max'
of("SDCG") =>
  MeasureError: 'SDCG': SDCG requires cutoff (the rank k: only the first k documents count); for
  example SDCG@10
of("INST(T=0)") => MeasureError: 'INST(T=0)': T=0: expected a number above 0
of("Compat(p=2)") => MeasureError: 'Compat(p=2)': p=2: expected a number from 0 to 1
# scales that do not fit
of("SDCG(min_rel=3,max_rel=2)@5") => EvaluationError: min_rel=3: expected less than max_rel, 2
of("INST(min_rel=3)") => EvaluationError: min_rel=3: expected less than the highest grade, 3
of("nDCG(ideal='max',max_grade=2)@5") =>
  EvaluationError: grade 3 of document 0 of query 'q' is above max_grade=2
""")


def test_repeated_evaluations_are_equal():
    """The memory of the last run serves again."""
    names = "Q Q(gains={1:0.5})@3 nDCG(ideal='max')@3 SDCG@3 Compat nCG@2 NERR11"
    evaluator = fr.Evaluator(QRELS, names)
    other = {"q": {"d": 2.0, "a": 1.0}}

    for run in (RUN, other, RUN, RUN, other):
        assert evaluator.evaluate(run).mean == fr.evaluate(QRELS, run, names).mean
