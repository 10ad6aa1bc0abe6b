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
from tests.helpers.tables import giving, refusing

# Of random judgments and runs; ndeval printed all digits (its format %.6f changed to %.17g), once
# ranking by the rank column, as by default, and once by score (-traditional). None is NaN.
PATH = Path(__file__).parents[2] / "recorded/measures/subtopics.json.gz"
RECORDED = json.loads(gzip.decompress(PATH.read_bytes()))
# Its names are these with hyphens, but for two.
OURS = "alpha_DCG alpha_nDCG ERR_IA nERR_IA P_IA NRBP nNRBP"
NAMES = {name.replace("_", "-"): name for name in OURS.split()}
NAMES |= {"strec": "StRecall", "MAP-IA": "AP_IA"}
QRELS = (
    b"1 1 a 1\n1 1 b 1\n1 1 c 0\n1 2 b 2\n1 2 d 1\n1 3 e 1\n1 4 f 0\n2 1 a 1\n2 2 a 1\n2 2 c 0\n"
)
RUN = {"1": {"b": 6.0, "x": 5.0, "a": 4.0, "e": 3.0, "c": 2.0, "d": 1.0}, "2": {"c": 2.0, "a": 1.0}}


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
def test_values_are_those_of_pyndeval_bit_for_bit(case):
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
def test_values_are_those_of_ndeval(case, order):
    """It numbers subtopics by their names, so that sums of other numbers have other last digits."""
    expected = {query: values for query, values in case[order].items() if query != "amean"}
    names = {name: ours(name, case) for values in expected.values() for name in values}

    scores = evaluated(case, list(names.values()), rank_by=order, trec_eval_version="10.0")

    for place, query in enumerate(scores.queries):
        for name, own in names.items():
            value = expected[query][name] or 0.0
            assert scores[own][place] == pytest.approx(value, rel=1e-14, abs=0), (query, name)


def test_judged_only_closes_the_gaps():
    """As the same option of the evaluation, and as a run without unjudged documents."""
    names = "alpha_nDCG@2 ERR_IA@2 NRBP AP_IA P_IA@2 StRecall@2"
    asked = [re.sub("(@.*)?$", r"(judged_only=True)\1", name, count=1) for name in names.split()]
    without = {"1": {doc: score for doc, score in RUN["1"].items() if doc != "x"}, "2": RUN["2"]}

    expected = list(fr.evaluate(judgments(), without, names).mean.values())

    assert list(fr.evaluate(judgments(), RUN, asked).mean.values()) == expected
    assert list(fr.evaluate(judgments(), RUN, names, judged_only=True).mean.values()) == expected


@given(st.permutations(QRELS.splitlines(keepends=True)))
@settings(max_examples=10)
def test_the_order_of_the_judgments_does_not_matter(lines):
    """Save for the last digit."""
    names = "alpha_nDCG@5 alpha_DCG@5 nERR_IA@5 nNRBP AP_IA P_IA@5 StRecall"

    found = fr.evaluate(judgments(b"".join(lines)), RUN, names).mean

    assert found == pytest.approx(fr.evaluate(judgments(), RUN, names).mean, rel=1e-14)


def test_all_forms_of_judgments_give_the_same(tmp_path):
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


def test_an_evaluator_and_files_of_runs_give_the_same(tmp_path):
    path, names = tmp_path / "run", "alpha_nDCG@5 nNRBP"
    fr.write_run(fr.Run.from_dict(RUN), path, "trec")
    expected = fr.evaluate(judgments(), RUN, names).mean

    evaluator = fr.Evaluator(judgments(), names)

    assert [scores.mean for scores in evaluator.evaluate([RUN, path, RUN])] == [expected] * 3


def of(measures: Any = "NRBP", qrels: Any = QRELS, run: Any = RUN, **options: Any) -> fr.Scores:
    qrels = judgments(qrels) if isinstance(qrels, bytes) else qrels
    return fr.evaluate(qrels, run, measures, **options)


def mean(*given: Any, **options: Any) -> list[float]:
    return list(of(*given, **options).mean.values())


def first(measures: str) -> list[float]:
    """The values of query 1."""
    return [own[0] for own in of(measures).lists().values()]


BOTH = "alpha_nDCG@5 alpha_nDCG_5 alpha-nDCG@5 \u03b1_nDCG@5 nERR-IA@5 MAP_IA MAP-IA strec@2"
TWICE, AB, ZB = b"q x a 1\nq x b 1\n", {"q": {"a": 2.0, "b": 1.0}}, {"q": {"z": 2.0, "b": 1.0}}
HALF = fr.Qrels.from_arrays(["q"] * 3, ["a", "a", "b"], [0.5, 1, 0.25], subtopics=list("xyx"))
BA, XB = {"q": {"b": 2.0, "a": 1.0}}, {"1": {"x": 1.0, "b": 1.0}}
NONE_RELEVANT = b"q 1 a 0\nq 2 a 0\n"
EVERY = "alpha_DCG@5 alpha_nDCG@5 ERR_IA@5 nERR_IA@5 NRBP nNRBP AP_IA P_IA@5 StRecall"
QUERY_1, AP_IA = {"1": RUN["1"]}, 0.5833333333333334
OLD, NEW = ({"missing": "zero", "trec_eval_version": own} for own in ("9.0.8", "10.0"))
ANOTHER = b"0 9 a 0\n" + QRELS
ONCE, CBA = b"q 1 a 1\nq 2 b 1\nq 2 c 0\n", {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}
SYSTEMS = {"one": RUN, "other": {"1": {"a": 1.0}}}

test_values_of_subtopics_are_as_described = giving("""
# the first rank is normalized as all others; ndeval does not divide by the 3 subtopics
first("alpha_DCG@1 ERR_IA@1 alpha_nDCG@1") => [2 / 3, 2 / 3, 1.0]
# names of both notations and of ndeval are known
of(BOTH).names => BOTH.split()
set(first(" ".join(BOTH.split()[:4]))) => {0.8657766478360449}
of("MAP-IA").lists() => {"MAP-IA": [AP_IA, 0.5]}
of("MAP_IA").lists() => {"MAP_IA": [AP_IA, 0.5]}
of("strec@2").lists() => {"strec@2": [0.6666666666666666, 1.0]}
# alpha=1 counts each subtopic once and alpha=0 every time
mean("ERR_IA(alpha=1)@2 ERR_IA(alpha=0)@2", TWICE, AB) => [1.0, 1.0]
mean("ERR_IA(alpha=1)@2", TWICE, ZB) => [0.5]
# grades with fractions have a level
mean("StRecall(rel=0.25)@1 StRecall(rel=0.5)@1 StRecall@2", HALF, BA) => [0.5, 0.0, 1.0]
mean("StRecall@1", HALF, BA, relevance_level=0.25) => [0.5]
# equal scores have the order of the evaluation
mean("StRecall@1", QRELS, XB, ties="docno_desc") => [0.0]
mean("StRecall@1", QRELS, XB, ties="docno_asc") => [2 / 3]
# queries without a relevant document are 0
set(mean(EVERY, NONE_RELEVANT, {"q": {"a": 1.0}})) => {0.0}
# queries without results count as 0
of("AP_IA", QRELS, QUERY_1, **OLD)["AP_IA"].tolist() => [AP_IA, 0.0]
of("AP_IA", QRELS, QUERY_1, **NEW)["AP_IA"].tolist() => [AP_IA, 0.0]
mean("AP_IA NumQ", QRELS, QUERY_1, **OLD) => [AP_IA / 2, 2.0]
mean("AP_IA NumQ", QRELS, QUERY_1, **NEW) => [AP_IA / 2, 2.0]
# skipped queries leave the subtopics of the others
mean("nERR_IA@5", ANOTHER, no_relevant="skip") => mean("nERR_IA@5")
# retrieved documents are counted once
(of("AP_IA").counts["retrieved"], of("AP_IA").counts["unjudged"]) => (8, 1)
# plain measures can be computed if no document is judged twice
mean("map StRecall@2", ONCE, CBA) => [(1 / 2 + 2 / 3) / 2, 0.5]
# compare takes them
"alpha_nDCG@5" in str(fr.compare(judgments(), SYSTEMS, "alpha_nDCG@5")) => True
""")

PLAIN_LINES = b"1 Q0 a 1\n1 Q0 b 0\n"
AGAIN = fr.read_run(io.BytesIO(b"1 Q0 a 1 2.0 t\n1 Q0 a 2 1.0 t\n"))

test_what_cannot_be_computed_is_refused = refusing(r"""MeasureError
# explain does not support them
fr.explain(judgments(), RUN, "alpha_nDCG@5", query="1") => explain supports map, ...
# plain measures refuse documents with several subtopics
of("map") =>
  EvaluationError: query '1': duplicate docs b, lines 2 and 4 of <file object>; judgments with
  subtopics are for measures of subtopics, such as alpha_nDCG@10
of("alpha_nDCG@5 map") =>
  EvaluationError: query '1': duplicate docs b, lines 2 and 4 of <file object>; judgments with
  subtopics are for measures of subtopics, such as alpha_nDCG@10
# plain judgments with a document twice have the plain error
of("map", b"1 0 a 1\n1 0 a 1\n") =>
  EvaluationError: query '1': duplicate docs a, lines 1 and 2 of <file object>
# judgments have no subtopics
of(qrels={"1": {"a": 1}}) =>
  'NRBP' needs judgments with subtopics: files with the subtopic as the second field of each line,
  or tables with a column subtopic or iteration
of(qrels=PLAIN_LINES) =>
  'NRBP' needs judgments with subtopics: files with the subtopic as the second field of each line,
  or tables with a column subtopic or iteration
fr.evaluate_labels([[1, 0]], [[1.0, 0.5]], "NRBP") =>
  'NRBP' needs judgments with subtopics: only `evaluate` supports it
# orders of ties by grade
of(ties="worst") =>
  'NRBP' needs judgments with subtopics: ties='worst' orders documents by the grades of one query
of(ties="average") =>
  ties='average' does not support 'NRBP'; it supports NumRet, ...
# a document stands twice for one subtopic, or in the run
of(qrels=QRELS + b"2 2 a 0\n") =>
  InputError: <file object>: query '2', subtopic '2': duplicate docs a, lines 9 and 11 of <file
  object>
of(run=AGAIN) => EvaluationError: query '1': duplicate docs a, lines 1 and 2 of <file object>
# options are invalid
of("alpha_nDCG") =>
  'alpha_nDCG': alpha_nDCG requires cutoff (the rank k: only the first k documents count); for
  example alpha_nDCG@10
of("alpha_nDCG(alpha=2)@5") => 'alpha_nDCG(alpha=2)@5': alpha=2: expected a number from 0 to 1
of("NRBP(beta=-1)") => 'NRBP(beta=-1)': beta=-1: expected a number from 0 to 1
""")
