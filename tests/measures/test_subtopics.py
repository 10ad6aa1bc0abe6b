"""Measures of novelty and diversity: recorded values of pyndeval 0.0.8 and of ndeval 4.5."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastrank as fr
from fastrank.errors import EvaluationError, InputError, MeasureError

# Of random judgments and runs; ndeval printed all digits (its format %.6f changed to %.17g), once
# ranking by the rank column, as by default, and once by score (-traditional). None is NaN.
RECORDED = json.loads(
    gzip.decompress(
        (Path(__file__).parents[1] / "recorded/measures/subtopics.json.gz").read_bytes()
    )
)
NAMES = {
    "alpha-DCG": "alpha_DCG", "alpha-nDCG": "alpha_nDCG", "ERR-IA": "ERR_IA", "nERR-IA": "nERR_IA",
    "P-IA": "P_IA", "strec": "StRecall", "MAP-IA": "AP_IA", "NRBP": "NRBP", "nNRBP": "nNRBP",
}  # fmt: skip
QRELS = (
    b"1 1 a 1\n1 1 b 1\n1 1 c 0\n1 2 b 2\n1 2 d 1\n1 3 e 1\n1 4 f 0\n2 1 a 1\n2 2 a 1\n2 2 c 0\n"
)
RUN = {
    "1": {"b": 6.0, "x": 5.0, "a": 4.0, "e": 3.0, "c": 2.0, "d": 1.0},
    "2": {"c": 2.0, "a": 1.0},
}
PLAIN = fr.Qrels.from_dict({"1": {"a": 1}})


def judgments(content: bytes = QRELS) -> fr.Qrels:
    return fr.read_qrels(io.BytesIO(content))


def ours(theirs: str, case: dict[str, Any]) -> str:
    """Our measure for a name of ndeval."""
    name, at, cutoff = theirs.partition("@")
    options = [f"rel={case.get('rel', 1)}"]
    if name not in ("P-IA", "strec", "MAP-IA"):
        options.append(f"alpha={case['alpha']}")
    if "NRBP" in name:
        options.append(f"beta={case['beta']}")
    return f"{NAMES[name]}({','.join(options)}){at}{cutoff}"


def evaluated(case: dict[str, Any], names: list[str], **options: Any) -> fr.Scores:
    run = fr.read_run(io.BytesIO(case["run"].encode()), rank_by=options.pop("rank_by", "score"))
    return fr.evaluate(judgments(case["qrels"].encode()), run, names, **options)


@pytest.mark.parametrize("case", RECORDED["pyndeval"])
def test_values_are_those_of_pyndeval_bit_for_bit(case: dict[str, Any]) -> None:
    names = {name: ours(name, case) for values in case["values"].values() for name in values}
    # Which are not normalized there.
    names = {name: own for name, own in names.items() if name not in ("alpha-DCG@1", "ERR-IA@1")}

    scores = evaluated(case, list(names.values()))

    for query, values in case["values"].items():
        place = scores.queries.index(query)
        found = {name: scores[own][place] for name, own in names.items()}
        assert found == {name: values[name] or 0.0 for name in names}


@pytest.mark.parametrize("order", ["rank", "score"])
@pytest.mark.parametrize("case", RECORDED["ndeval"])
def test_values_are_those_of_ndeval(case: dict[str, Any], order: str) -> None:
    """It numbers subtopics by their names, so that sums of other numbers have other last digits."""
    expected = {query: values for query, values in case[order].items() if query != "amean"}
    names = {name: ours(name, case) for values in expected.values() for name in values}

    scores = evaluated(case, list(names.values()), rank_by=order, trec_eval_version="10.0")

    for place, query in enumerate(scores.queries):
        for name, own in names.items():
            value = expected[query][name] or 0.0
            assert scores[own][place] == pytest.approx(value, rel=1e-14, abs=0), (query, name)


def test_the_first_rank_is_normalized_as_all_others() -> None:
    """ndeval does not divide by the 3 subtopics: its values are 2."""
    found = fr.evaluate(judgments(), RUN, "alpha_DCG@1 ERR_IA@1 alpha_nDCG@1")

    assert [found[name][0] for name in found.names] == [2 / 3, 2 / 3, 1.0]


def test_names_of_both_notations_and_of_ndeval_are_known() -> None:
    names = "alpha_nDCG@5 alpha_nDCG_5 alpha-nDCG@5 \u03b1_nDCG@5 nERR-IA@5 MAP_IA MAP-IA strec@2"

    found = fr.evaluate(judgments(), RUN, names)

    assert found.names == names.split()
    assert {float(found[name][0]) for name in found.names[:4]} == {0.8657766478360449}
    assert found["MAP-IA"].tolist() == found["MAP_IA"].tolist() == [0.5833333333333334, 0.5]
    assert found["strec@2"].tolist() == [0.6666666666666666, 1.0]


def test_alpha_1_counts_each_subtopic_once_and_alpha_0_every_time() -> None:
    lines = b"q x a 1\nq x b 1\n"
    run = {"q": {"a": 2.0, "b": 1.0}}

    found = fr.evaluate(judgments(lines), run, "ERR_IA(alpha=1)@2 ERR_IA(alpha=0)@2")

    assert list(found.mean.values()) == [1.0, 1.0]
    found = fr.evaluate(judgments(lines), {"q": {"z": 2.0, "b": 1.0}}, "ERR_IA(alpha=1)@2")
    assert found.mean["ERR_IA(alpha=1)@2"] == 0.5


def test_grades_with_fractions_have_a_level() -> None:
    qrels = fr.Qrels.from_arrays(["q"] * 3, ["a", "a", "b"], [0.5, 1, 0.25], subtopics=list("xyx"))
    run = {"q": {"b": 2.0, "a": 1.0}}

    found = fr.evaluate(qrels, run, "StRecall(rel=0.25)@1 StRecall(rel=0.5)@1 StRecall@2")

    assert list(found.mean.values()) == [0.5, 0.0, 1.0]
    assert fr.evaluate(qrels, run, "StRecall@1", relevance_level=0.25).mean["StRecall@1"] == 0.5


def test_judged_only_closes_the_gaps() -> None:
    """As the same option of the evaluation, and as a run without unjudged documents."""
    names = "alpha_nDCG@2 ERR_IA@2 NRBP AP_IA P_IA@2 StRecall@2"
    asked = [re.sub("(@.*)?$", r"(judged_only=True)\1", name, count=1) for name in names.split()]
    without = {"1": {doc: score for doc, score in RUN["1"].items() if doc != "x"}, "2": RUN["2"]}

    expected = list(fr.evaluate(judgments(), without, names).mean.values())

    assert list(fr.evaluate(judgments(), RUN, asked).mean.values()) == expected
    assert list(fr.evaluate(judgments(), RUN, names, judged_only=True).mean.values()) == expected


@given(st.permutations(QRELS.splitlines(keepends=True)))
@settings(max_examples=10)
def test_the_order_of_the_judgments_does_not_matter(lines: list[bytes]) -> None:
    """Save for the last digit."""
    names = "alpha_nDCG@5 alpha_DCG@5 nERR_IA@5 nNRBP AP_IA P_IA@5 StRecall"

    found = fr.evaluate(judgments(b"".join(lines)), RUN, names).mean

    assert found == pytest.approx(fr.evaluate(judgments(), RUN, names).mean, rel=1e-14)


def test_equal_scores_have_the_order_of_the_evaluation() -> None:
    run = {"1": {"x": 1.0, "b": 1.0}}

    descending, ascending = (
        fr.evaluate(judgments(), run, "StRecall@1", ties=ties).mean["StRecall@1"]
        for ties in ("docno_desc", "docno_asc")
    )

    assert (descending, ascending) == (0.0, 2 / 3)


def test_queries_without_a_relevant_document_are_0() -> None:
    names = "alpha_DCG@5 alpha_nDCG@5 ERR_IA@5 nERR_IA@5 NRBP nNRBP AP_IA P_IA@5 StRecall"
    run = {"q": {"a": 1.0}}

    assert set(fr.evaluate(judgments(b"q 1 a 0\nq 2 a 0\n"), run, names).mean.values()) == {0.0}


@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_queries_without_results_count_as_0(version: str) -> None:
    found = fr.evaluate(
        judgments(), {"1": RUN["1"]}, "AP_IA NumQ", missing="zero", trec_eval_version=version
    )

    assert found["AP_IA"].tolist() == [0.5833333333333334, 0.0]
    assert found.mean == {"AP_IA": 0.5833333333333334 / 2, "NumQ": 2.0}


def test_skipped_queries_leave_the_subtopics_of_the_others() -> None:
    with_another = judgments(b"0 9 a 0\n" + QRELS)

    found = fr.evaluate(with_another, RUN, "nERR_IA@5", no_relevant="skip")

    assert found.mean == fr.evaluate(judgments(), RUN, "nERR_IA@5").mean


def test_retrieved_documents_are_counted_once() -> None:
    counts = fr.evaluate(judgments(), RUN, "AP_IA").counts

    assert (counts["retrieved"], counts["unjudged"]) == (8, 1)


def test_all_forms_of_judgments_give_the_same(tmp_path: Path) -> None:
    qrels, names = judgments(), "alpha_nDCG@5 AP_IA"
    expected = fr.evaluate(qrels, RUN, names).mean
    rows = [line.split() for line in QRELS.decode().splitlines()]
    queries, subtopics, docs, grades = zip(*rows, strict=True)
    numbers = [int(grade) for grade in grades]
    forms: list[Any] = [qrels.to_pandas(), qrels.to_polars(), qrels.to_arrow()]
    forms.append(forms[0].rename(columns={"iteration": "subtopic"}).assign(iteration="0"))
    forms.append(fr.Qrels.from_arrays(queries, docs, numbers, subtopics=subtopics))
    for name in ("qrels", "qrels.csv", "qrels.jsonl", "qrels.parquet"):
        fr.write_qrels(qrels, tmp_path / name, None if "." in name else "trec")
        forms.append(tmp_path / name)

    for form in forms:
        assert fr.evaluate(form, RUN, names).mean == expected


def test_an_evaluator_and_files_of_runs_give_the_same(tmp_path: Path) -> None:
    path, names = tmp_path / "run", "alpha_nDCG@5 nNRBP"
    fr.write_run(fr.Run.from_dict(RUN), path, "trec")
    expected = fr.evaluate(judgments(), RUN, names).mean

    evaluator = fr.Evaluator(judgments(), names)

    assert [scores.mean for scores in evaluator.evaluate([RUN, path, RUN])] == [expected] * 3


def test_compare_takes_them() -> None:
    compared = fr.compare(judgments(), {"one": RUN, "other": {"1": {"a": 1.0}}}, "alpha_nDCG@5")

    assert "alpha_nDCG@5" in str(compared)


def test_explain_says_that_it_does_not_support_them() -> None:
    with pytest.raises(MeasureError, match=r"explain supports .*, not 'alpha_nDCG@5'"):
        fr.explain(judgments(), RUN, "alpha_nDCG@5", query="1")


def test_plain_measures_can_be_computed_if_no_document_is_judged_twice() -> None:
    qrels = judgments(b"q 1 a 1\nq 2 b 1\nq 2 c 0\n")
    run = {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}

    found = fr.evaluate(qrels, run, "map StRecall@2").mean

    assert found == {"map": (1 / 2 + 2 / 3) / 2, "StRecall@2": 0.5}


@pytest.mark.parametrize("names", ["map", "alpha_nDCG@5 map"])
def test_plain_measures_refuse_documents_with_several_subtopics(names: str) -> None:
    words = (
        r"query '1': duplicate docs b, lines 2 and 4 of .*are for measures of subtopics, such as"
    )

    with pytest.raises(EvaluationError, match=words):
        fr.evaluate(judgments(), RUN, names)


def test_plain_judgments_with_a_document_twice_have_the_plain_error() -> None:
    with pytest.raises(EvaluationError, match=r"lines 1 and 2 of <file object>$"):
        fr.evaluate(judgments(b"1 0 a 1\n1 0 a 1\n"), RUN, "map")


@pytest.mark.parametrize(
    ("qrels", "options", "words"),
    [
        ({"1": {"a": 1}}, {}, "'NRBP' needs judgments with subtopics: files with the subtopic as"),
        (PLAIN, {}, "needs judgments with subtopics"),
        (judgments(b"1 Q0 a 1\n1 Q0 b 0\n"), {}, "needs judgments with subtopics"),
        (judgments(), {"ties": "worst"}, "needs judgments with subtopics: ties='worst' orders"),
        (judgments(), {"ties": "average"}, "does not support 'NRBP'"),
    ],
)
def test_what_cannot_be_computed_is_refused(qrels: Any, options: Any, words: str) -> None:
    with pytest.raises(MeasureError, match=words):
        fr.evaluate(qrels, RUN, "NRBP", **options)


def test_a_document_twice_for_one_subtopic_is_refused() -> None:
    words = "query '2', subtopic '2': duplicate docs a, lines 9 and 11 of"

    with pytest.raises(InputError, match=words):
        fr.evaluate(judgments(QRELS + b"2 2 a 0\n"), RUN, "NRBP")


def test_a_document_twice_in_the_run_is_refused() -> None:
    run = fr.read_run(io.BytesIO(b"1 Q0 a 1 2.0 t\n1 Q0 a 2 1.0 t\n"))

    with pytest.raises(EvaluationError, match="query '1': duplicate docs a, lines 1 and 2"):
        fr.evaluate(judgments(), run, "NRBP")


@pytest.mark.parametrize("text", ["alpha_nDCG", "alpha_nDCG(alpha=2)@5", "NRBP(beta=-1)"])
def test_invalid_options_are_refused(text: str) -> None:
    with pytest.raises(MeasureError, match=r"requires cutoff|expected a number from 0 to 1"):
        fr.evaluate(judgments(), RUN, text)


def test_arrays_have_no_subtopics() -> None:
    with pytest.raises(MeasureError, match="needs judgments with subtopics: only `evaluate`"):
        fr.evaluate_labels([[1, 0]], [[1.0, 0.5]], "NRBP")
