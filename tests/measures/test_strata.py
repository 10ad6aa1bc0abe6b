"""Estimates from stratified samples: values of NIST's sample_eval.pl (perl), recorded."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.errors import MeasureError

# What sample_eval.pl printed, with all digits (its format %6.4f changed to %.17g).
RECORDED = json.loads(
    gzip.decompress(
        (Path(__file__).parents[1] / "recorded/measures/sample_eval.json.gz").read_bytes()
    )
)
# Its names, and ours.
NAMES = {
    "infAP": "xinfAP", "infNDCG": "infNDCG(ideal='sample_eval')", "iP10": "iP_10", "iP50": "iP@50",
    "iP1000": "iP_1000", "inum_rel": "inum_rel", "inum_rel_ret": "inum_rel_ret",
}  # fmt: skip
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
def test_values_are_those_of_sample_eval(case: dict[str, str], values: dict[str, Any]) -> None:
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
def test_the_sum_of_inum_rel_is_over_all_judged_queries_there(
    case: dict[str, str], values: dict[str, Any]
) -> None:
    """Which is ours with missing="zero"."""
    scores = evaluated(case, "iNumRel", missing="zero")

    assert scores.mean["iNumRel"] == pytest.approx(values["all"]["inum_rel"], rel=1e-14)


def test_the_ideal_rankings_differ_where_sample_eval_orders_grades_as_texts() -> None:
    low, high = evaluated(deep(3), "infNDCG"), evaluated(deep(10), "infNDCG")

    assert low.mean["infNDCG"] > RECORDED["deep"]["3"]["all"]["infNDCG"]
    assert high.mean["infNDCG"] < RECORDED["deep"]["10"]["all"]["infNDCG"]


def test_a_completely_sampled_pool_has_the_plain_ndcg_and_precision() -> None:
    """Up to the small numbers that keep estimates from being 0 / 0."""
    qrels = {"q": {"a": 3, "b": 0, "c": 1, "d": 2}}
    frame = fr.Qrels.from_dict(qrels)
    sample = judgments(b"".join(b"q 0 %b s %d\n" % (d.encode(), g) for d, g in qrels["q"].items()))
    run = {"q": {"b": 4.0, "a": 3.0, "c": 2.0, "x": 1.0}}

    found = fr.evaluate(sample, run, "infNDCG iP@2 iNumRel").mean
    plain = fr.evaluate(frame, run, "ndcg P@2 num_rel").mean

    assert found["infNDCG"] == pytest.approx(plain["ndcg"], rel=1e-12)
    assert found["iP@2"] == pytest.approx(plain["P@2"], abs=1e-4)
    assert found["iNumRel"] == plain["num_rel"]


def test_the_relevance_level_counts() -> None:
    found = fr.evaluate(judgments(), RUN, "iNumRel xinfAP", relevance_level=3)

    assert found.mean == {"iNumRel": 0.0, "xinfAP": 0.0}


def test_the_depth_limits_what_counts() -> None:
    found = fr.evaluate(judgments(), RUN, "iNumRelRet(depth=1) iNumRelRet xinfAP(depth=1)")

    assert found.mean["iNumRelRet(depth=1)"] == pytest.approx(1.0, abs=1e-4)
    assert found.mean["iNumRelRet"] == pytest.approx(1.5, abs=1e-4)


def test_an_evaluator_and_files_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "run"
    fr.write_run(fr.Run.from_dict(RUN), path, "trec")
    names = "infNDCG xinfAP iP@3"

    expected = fr.evaluate(judgments(), RUN, names).mean

    assert fr.Evaluator(judgments(), names).evaluate(RUN).mean == expected
    assert fr.evaluate(judgments(), path, names).mean == expected


def test_compare_takes_them() -> None:
    other = {"1": {"b": 2.0, "a": 1.0}, "2": {"b": 1.0}}

    compared = fr.compare(judgments(), {"one": {**RUN, "2": {"a": 1.0}}, "other": other}, "infNDCG")

    assert "infNDCG" in str(compared)


def test_strata_without_samples_are_counted() -> None:
    counts = fr.evaluate(judgments(), RUN, "infNDCG").counts

    assert counts["strata_without_samples"] == 1
    assert "not_sampled" not in counts


def test_a_sample_without_relevant_documents_has_values_of_0() -> None:
    qrels = judgments(b"1 0 a x 0\n1 0 b x -1\n1 0 c y -1\n")

    scores = fr.evaluate(qrels, RUN, "infNDCG xinfAP iNumRel")

    assert list(scores.mean.values()) == [0.0, 0.0, 0.0]
    assert scores.counts["strata_without_samples"] == 1


def test_plain_measures_count_what_was_not_sampled() -> None:
    counts = fr.evaluate(judgments(), RUN, "map").counts

    assert counts["not_sampled"] == 2
    assert "strata_without_samples" not in counts


@pytest.mark.parametrize(
    ("qrels", "options", "words"),
    [
        ({"1": {"a": 1}}, {}, "'infNDCG' needs judgments with strata: files with lines of"),
        (fr.Qrels.from_dict({"1": {"a": 1}}), {}, "needs judgments with strata"),
        (judgments(), {"judged_only": True}, "does not support judged_only"),
        (judgments(), {"ties": "worst"}, "needs judgments with strata: ties='worst' orders"),
        (judgments(), {"ties": "average"}, "does not support 'infNDCG'"),
    ],
)
def test_what_cannot_be_estimated_is_refused(qrels: Any, options: Any, words: str) -> None:
    with pytest.raises(MeasureError, match=words):
        fr.evaluate(qrels, RUN, "infNDCG", **options)


def test_arrays_have_no_strata() -> None:
    with pytest.raises(MeasureError, match="needs judgments with strata: only `evaluate`"):
        fr.evaluate_labels([[1, 0]], [[1.0, 0.5]], "infNDCG")


@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_queries_without_results_count(version: str) -> None:
    """As 0 in means; the estimated relevant documents of their pools are added."""
    found = fr.evaluate(
        judgments(), RUN, "iNumRel infNDCG", missing="zero", trec_eval_version=version
    )

    assert found["iNumRel"].tolist() == [1.5, 1.0]
    assert found.mean["iNumRel"] == 2.5
    assert found.mean["infNDCG"] == found["infNDCG"][0] / 2


def test_skipped_queries_leave_the_strata_of_the_others() -> None:
    with_another = judgments(b"0 0 a z 0\n" + QRELS)

    found = fr.evaluate(with_another, RUN, "infNDCG", no_relevant="skip")

    assert found.mean == fr.evaluate(judgments(), RUN, "infNDCG").mean
