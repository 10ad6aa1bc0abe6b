"""Estimates from stratified samples: values of NIST's sample_eval.pl (perl), recorded."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from tests.helpers.tables import giving, named, refusing

# What sample_eval.pl printed, with all digits (its format %6.4f changed to %.17g).
PATH = Path(__file__).parents[2] / "recorded/measures/sample_eval.json.gz"
RECORDED = json.loads(gzip.decompress(PATH.read_bytes()))
# Its names, and ours.
OURS = """
xinfAP: infAP
infNDCG(ideal='sample_eval'): infNDCG
iP_10: iP10
iP@50: iP50
iP_1000: iP1000
inum_rel: inum_rel
inum_rel_ret: inum_rel_ret
"""
NAMES = dict(named(OURS))
QRELS = b"1 0 a x 2\n1 0 b x 0\n1 0 c x -1\n1 0 d y -1\n2 0 a x 1\n2 0 b y 0\n"
RUN = {"1": {"a": 4.0, "z": 3.0, "c": 2.0, "b": 1.0}}


def judgments(content: bytes = QRELS) -> fr.Qrels:
    return fr.read_qrels(io.BytesIO(content))


def evaluated(case: dict[str, Any], *measures: str, **options: Any) -> fr.Scores:
    run = fr.read_run(io.BytesIO(case["run"].encode()))
    return fr.evaluate(judgments(case["qrels"].encode()), run, measures, **options)


def deep(grade: int) -> dict[str, str]:
    """A pool of 3000 documents, a tenth of them sampled: the ideal ranking has more than 1000."""
    grades = [
        (grade if i % 20 == 0 else 2 if i % 30 == 0 else 1) if i % 10 == 0 else -1
        for i in range(3000)
    ]
    judged = [f"1 0 d{i:04} {i % 2} {grade}\n" for i, grade in enumerate(grades)]
    results = [f"1 Q0 d{(i * 7) % 3100:04} 0 {2000 - i} x\n" for i in range(1100)]
    return {"qrels": "".join(judged), "run": "".join(results)}


CASES = [
    *((case, case["values"]) for case in RECORDED["cases"]),
    *((deep(int(grade)), values) for grade, values in RECORDED["deep"].items()),
]


@pytest.mark.parametrize(("case", "values"), CASES)
def test_values_are_those_of_sample_eval(case, values):
    """With unsampled strata, ties, grades above 9, and ideal rankings deeper than 1000."""
    scores = evaluated(case, *NAMES.values())

    for query, expected in values.items():
        for theirs, ours in NAMES.items():
            place = -1 if query == "all" else scores.queries.index(query)
            if (query, theirs) == ("all", "inum_rel"):
                continue
            found = scores.mean[ours] if query == "all" else scores[ours][place]
            assert found == pytest.approx(expected[theirs], rel=1e-14, abs=0), (query, theirs)


@pytest.mark.parametrize(("case", "values"), CASES)
def test_the_sum_of_inum_rel_is_over_all_judged_queries_there(case, values):
    """Which is ours with missing="zero"."""
    scores = evaluated(case, "iNumRel", missing="zero")

    assert scores.mean["iNumRel"] == pytest.approx(values["all"]["inum_rel"], rel=1e-14)


def test_the_ideal_rankings_differ_where_sample_eval_orders_grades_as_texts():
    low, high = evaluated(deep(3), "infNDCG"), evaluated(deep(10), "infNDCG")

    assert low.mean["infNDCG"] > RECORDED["deep"]["3"]["all"]["infNDCG"]
    assert high.mean["infNDCG"] < RECORDED["deep"]["10"]["all"]["infNDCG"]


def test_a_completely_sampled_pool_has_the_plain_ndcg_and_precision():
    """Up to the small numbers that keep estimates from being 0 / 0."""
    qrels = {"q": {"a": 3, "b": 0, "c": 1, "d": 2}}
    sample = judgments(b"".join(b"q 0 %b s %d\n" % (d.encode(), g) for d, g in qrels["q"].items()))
    run = {"q": {"b": 4.0, "a": 3.0, "c": 2.0, "x": 1.0}}

    found = fr.evaluate(sample, run, "infNDCG iP@2 iNumRel").mean
    plain = fr.evaluate(qrels, run, "ndcg P@2 num_rel").mean

    assert found["infNDCG"] == pytest.approx(plain["ndcg"], rel=1e-12)
    assert found["iP@2"] == pytest.approx(plain["P@2"], abs=1e-4)
    assert found["iNumRel"] == plain["num_rel"]


def of(measures: str = "infNDCG", qrels: Any = QRELS, run: Any = RUN, **options: Any) -> Any:
    qrels = judgments(qrels) if isinstance(qrels, bytes) else qrels
    return fr.evaluate(qrels, run, measures, **options)


def mean(*given: Any, **options: Any) -> list[float]:
    return list(of(*given, **options).mean.values())


approx = pytest.approx
NONE_RELEVANT = b"1 0 a x 0\n1 0 b x -1\n1 0 c y -1\n"
ANOTHER = b"0 0 a z 0\n" + QRELS
OLD, NEW = ({"missing": "zero", "trec_eval_version": own} for own in ("9.0.8", "10.0"))
SYSTEMS = {"one": {**RUN, "2": {"a": 1.0}}, "other": {"1": {"b": 2.0, "a": 1.0}, "2": {"b": 1.0}}}

test_values_of_strata_are_as_described = giving("""
# the relevance level counts
mean("iNumRel xinfAP", relevance_level=3) => [0.0, 0.0]
# the depth limits what counts
mean("iNumRelRet(depth=1) iNumRelRet") => approx([1.0, 1.5], abs=1e-4)
# an evaluator gives the same
fr.Evaluator(judgments(), "infNDCG xinfAP").evaluate(RUN).mean => of("infNDCG xinfAP").mean
# compare takes them
"infNDCG" in str(fr.compare(judgments(), SYSTEMS, "infNDCG")) => True
# strata without samples are counted
of().counts["strata_without_samples"] => 1
"not_sampled" in of().counts => False
# a sample without relevant documents has values of 0
mean("infNDCG xinfAP iNumRel", NONE_RELEVANT) => [0.0, 0.0, 0.0]
of("infNDCG", NONE_RELEVANT).counts["strata_without_samples"] => 1
# plain measures count what was not sampled
of("map").counts["not_sampled"] => 2
"strata_without_samples" in of("map").counts => False
# queries without results count as 0; the estimated relevant documents of their pools are added
of("iNumRel", **OLD)["iNumRel"].tolist() => [1.5, 1.0]
of("iNumRel", **NEW)["iNumRel"].tolist() => [1.5, 1.0]
mean("iNumRel infNDCG", **OLD) => [2.5, of()["infNDCG"][0] / 2]
mean("iNumRel infNDCG", **NEW) => [2.5, of()["infNDCG"][0] / 2]
# skipped queries leave the strata of the others
mean("infNDCG", ANOTHER, no_relevant="skip") => mean()
""")

test_what_cannot_be_estimated_is_refused = refusing(r"""MeasureError
# judgments have no strata
of(qrels={"1": {"a": 1}}) =>
  'infNDCG' needs judgments with strata: files with lines of query, iteration, document, stratum
  and grade, or tables with a column stratum
fr.evaluate_labels([[1, 0]], [[1.0, 0.5]], "infNDCG") =>
  'infNDCG' needs judgments with strata: only `evaluate` supports it
# options that do not go with estimates
of(judged_only=True) => 'infNDCG' estimates what was not judged, and does not support judged_only
of(ties="worst") =>
  'infNDCG' needs judgments with strata: ties='worst' orders documents by the grades of one query
of(ties="average") =>
  ties='average' does not support 'infNDCG'; it supports NumRet, ...
""")
