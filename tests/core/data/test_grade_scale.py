"""Grades with fractions: they count as they are, wherever judgments come from."""

from __future__ import annotations

import io
import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank import Qrels, Run
from fastrank.cli.main import main
from fastrank.compat import pytrec_eval
from fastrank.core.measures.notation import parse_measure
from fastrank.errors import InputError
from tests.helpers.strategies import examples
from tests.helpers.tables import calls, check_error

# Generated grades and scores often look as if they had changed places.
pytestmark = pytest.mark.filterwarnings("ignore:.*are judgments and run swapped")

RUN = {"q": {"a": 5.0, "b": 4.0, "x": 3.0, "c": 2.0, "e": 1.0}}
QRELS = {"q": {"a": 0.5, "b": 0.0, "c": 2.5, "d": 1, "e": -0.25, "f": -3}}
# What whole grades stand for them, in the same order.
LEVELS = {"q": {"a": 1, "b": 0, "c": 3, "d": 2, "e": -1, "f": -3}}
# Grades with fractions that a float holds exactly, so that doubling them and more changes nothing.
halves = st.integers(-4, 9).map(lambda number: number / 2)
quarters = st.integers(-6, 14).map(lambda number: number / 4)


def judgments(grades: st.SearchStrategy[float]) -> st.SearchStrategy[dict[str, dict[str, float]]]:
    """Judgments with a grade that is not negative first, as trec_eval wants it."""
    docs = st.dictionaries(st.sampled_from("abcdefgh"), grades, max_size=8)
    return st.dictionaries(st.sampled_from("pqr"), docs.map(lambda own: {"i": 1.0, **own})).map(
        lambda queries: {"q": {"a": 0.5, "b": 1}, **queries}
    )


runs = st.dictionaries(
    st.sampled_from("pqr"),
    st.dictionaries(st.sampled_from("abcdefxy"), st.integers(0, 4), min_size=1),
).map(lambda queries: {"q": {"a": 1, "b": 2}, **queries})


class Slow:
    """Measures of one query, as they are defined; shares no code with fastrank."""

    def __init__(self, qrels: dict[str, float], run: dict[str, float]) -> None:
        # By score, then by id, both descending.
        ranking = sorted(run, key=lambda doc: (run[doc], doc), reverse=True)
        self.gains = [max(0.0, qrels.get(doc, 0.0)) for doc in ranking]
        self.best = sorted((grade for grade in qrels.values() if grade > 0), reverse=True)
        self.highest = 0.0

    @staticmethod
    def dcg(gains: list[float]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1) if gain)

    def ndcg(self, depth: int | None = None, worth: Any = float) -> float:
        ideal = self.dcg([worth(grade) for grade in self.best[:depth]])
        return self.dcg([worth(grade) for grade in self.gains[:depth]]) / ideal if ideal else 0.0

    def err(self, depth: int, highest: float) -> float:
        total, going_on = 0.0, 1.0
        for rank, grade in enumerate(self.gains[:depth], 1):
            stops = (2**grade - 1) / 2**highest
            total += going_on * stops / rank
            going_on *= 1 - stops
        return total

    def rbp(self, p: float) -> float:
        largest = max([1.0, *self.best])
        return (1 - p) * sum(p**i * gain / largest for i, gain in enumerate(self.gains))

    def map(self, level: float) -> float:
        relevant = [gain >= level for gain in self.gains]
        hits = [sum(relevant[: i + 1]) / (i + 1) for i, is_one in enumerate(relevant) if is_one]
        total = sum(grade >= level for grade in self.best)
        return sum(hits) / total if total else 0.0


@given(judgments(st.floats(-3, 3) | quarters), runs)
@examples(60)
def test_measures_are_what_they_are_defined_to_be(qrels, run):
    highest = max(1.0, *(grade for own in qrels.values() for grade in own.values()))
    names = (
        "ndcg ndcg_cut.3 nDCG@3 nDCG(dcg='exp-log2')@3 ERR@3 RBP(p=0.5,gain='graded') AP(rel=0.75)"
        " dcg map"
    )
    found = fr.evaluate(qrels, run, names, relevance_level=0.25)
    for query, values in found.to_dict().items():
        slow = Slow(qrels[query], run[query])
        expected = {
            "ndcg": slow.ndcg(),
            "ndcg_cut_3": slow.ndcg(3),
            "nDCG@3": slow.ndcg(3),
            "nDCG(dcg='exp-log2')@3": slow.ndcg(3, lambda grade: 2**grade - 1),
            "ERR@3": slow.err(3, highest),
            "RBP(p=0.5,gain='graded')": slow.rbp(0.5),
            "AP(rel=0.75)": slow.map(0.75),
            "dcg": slow.dcg(slow.gains),
            "map": slow.map(0.25),
        }
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-15)


@given(judgments(halves), runs)
@examples(40)
def test_doubling_all_grades_changes_what_is_relative_in_nothing(qrels, run):
    """trec_eval's values for the doubled grades, which are whole, to the last bit."""
    measures = "ndcg ndcg_cut ndcg_rel Rndcg map P bpref Rprec infAP num_rel recip_rank success"
    doubled = {
        query: {doc: int(2 * grade) for doc, grade in own.items()} for query, own in qrels.items()
    }
    expected = fr.evaluate(doubled, run, measures)
    found = fr.evaluate(qrels, run, measures, relevance_level=0.5)
    assert (found.to_dict(), found.mean) == (expected.to_dict(), expected.mean)


def test_as_scikit_learn_has_it():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(4)
    labels, scores = random.uniform(0, 3, (20, 12)), random.normal(size=(20, 12))
    found = fr.evaluate_labels(labels, scores, "ndcg ndcg_cut.5").mean
    expected = [metrics.ndcg_score(labels, scores, k=depth) for depth in (None, 5)]
    assert list(found.values()) == pytest.approx(expected, rel=1e-12)


def mean(qrels: Any, measures: str, run: Any = RUN, **options: Any) -> dict[str, float]:
    return dict(fr.evaluate(qrels, run, measures, **options).mean)


# Levels


def test_a_level_lies_between_grades():
    for level, relevant in ((0, 4), (0.25, 3), (0.5, 3), (0.75, 2), (1, 2), (2.5, 1), (2.6, 0)):
        assert mean(QRELS, "num_rel", relevance_level=level) == {"num_rel": relevant}
        assert list(mean(QRELS, f"NumRel(rel={level})").values()) == [relevant]


def test_a_level_may_have_a_fraction_where_grades_have_none():
    whole = {"q": {"a": 1, "b": 2, "c": 0}}
    for level, same in ((0.5, 1), (1.5, 2), (1.0, 1), (-0.5, 0)):
        found = mean(whole, "map num_rel", relevance_level=level)
        assert found == mean(whole, "map num_rel", relevance_level=same)
    assert mean(whole, "AP(rel=1.5)") == {"AP(rel=1.5)": 0.5}
    assert str(parse_measure("AP(rel=2.0)")) == "AP(rel=2)"


def test_queries_without_relevant_documents_depend_on_the_level():
    qrels = {"q": {"a": 0.5}, "r": {"a": 0.25, "b": 1.5}}
    run = {"q": {"a": 1}, "r": {"a": 1}}
    found = fr.evaluate(qrels, run, "map", relevance_level=0.75, no_relevant="skip")
    assert list(found.queries) == ["r"]
    assert found.counts["no_relevant_skipped"] == 1
    assert fr.evaluate(qrels, run, "map ndcg", missing="zero").counts["no_relevant_queries"] == 1


# Measures


def test_binary_measures_ask_for_the_order_of_grades_only():
    measures = "map P bpref Rprec infAP iprec_at_recall num_rel 11pt_avg set unj rbp_resid"
    found = fr.evaluate(QRELS, RUN, measures, relevance_level=0.5)
    assert found.to_dict() == fr.evaluate(LEVELS, RUN, measures).to_dict()


def test_negative_grades_mean_not_judged():
    assert list(mean(QRELS, "Judged(negative='unjudged')@5").values()) == [3 / 5]
    without = {"q": {doc: grade for doc, grade in QRELS["q"].items() if grade >= 0}}
    assert mean(QRELS, "ndcg ERR P.5 bpref") == mean(without, "ndcg ERR P.5 bpref")


def test_gains_of_grades_with_fractions():
    found = mean(QRELS, "nDCG(gains={0.5:3,2.5:1})")
    expected = Slow.dcg([3, 0, 0, 1]) / Slow.dcg([3, 1, 1])
    assert found == {"nDCG(gains={0.5:3,2.5:1})": pytest.approx(expected)}
    # Whole grades have none of 0.5.
    whole = {"q": {"a": 1, "b": 2}}
    assert [*mean(whole, "nDCG(gains={0.5:3})").values()] == [*mean(whole, "ndcg").values()]


def test_ties_in_every_order():
    run = {"q": dict.fromkeys("abcx", 1.0)}
    for ties in ("best", "worst", "average", "given", "docno_asc"):
        measures = "map P.2 recip_rank"
        found = mean(QRELS, measures, run, ties=ties, relevance_level=0.5)
        assert found == mean(LEVELS, measures, run, ties=ties)
    best, average = Slow.dcg([2.5, 0.5]), 3 / 4 * Slow.dcg([1, 1, 1, 1])
    assert mean(QRELS, "dcg", run, ties="best") == {"dcg": pytest.approx(best)}
    assert mean(QRELS, "dcg", run, ties="average") == {"dcg": pytest.approx(average)}
    assert fr.tie_report(QRELS, run, "map", relevance_level=0.5).tied == 4


@calls(r"""
of(QRELS, "relstring") =>
  EvaluationError: 'relstring' shows ... the grade 0.5 of document a of query 'q'
of(grade(1100.5), "nDCG(dcg='exp-log2')") =>
  EvaluationError: grade 1100.5 of document b of query 'q' is too...
of(grade(4.5), "ERR(max_grade=4)") => EvaluationError: grade 4.5 of document b ... max_grade=4
of(QRELS, "map", relevance_level=math.nan) => OptionError: LEVEL
of(QRELS, "map", relevance_level=math.inf) => OptionError: LEVEL
of(QRELS, "map", relevance_level=-1e300) => OptionError: LEVEL
read({"b": 0.5, "a": 2**53 + 1}) => InputError: ...A: expected EXACT, found 9007199254740993...
read({"b": 0.5, "a": -(2**63) + 1}) =>
  InputError: ...A: expected EXACT, found -9223372036854775807...
read({"b": 0.5, "a": 10**400}) =>
  InputError: ...A: expected a grade in the range of a double, found 1000...
""")
def test_what_needs_whole_small_or_exact_grades_is_refused(call, expected):
    names = {
        "of": lambda qrels, *measures, **options: fr.evaluate(qrels, RUN, *measures, **options),
        "grade": lambda own: {"q": {"a": 0.5, "b": own}},
        "read": lambda own: Qrels.from_dict({"q": own}),
    }
    expected = expected.replace("EXACT", "a grade that is exact as a 64-bit float")
    expected = expected.replace("LEVEL", "relevance_level: expected a ... number, found...")
    expected = expected.replace("A:", "document 'a':")
    check_error(call, expected, globals() | names)


def test_own_measures_see_the_grades():
    seen = []

    @fr.measure
    def share_of_grades(ranking: Any) -> float:
        seen.append((ranking.grades.tolist(), ranking.grade_values.tolist(), ranking.level))
        return float(ranking.grades[ranking.grades >= ranking.level].sum())

    assert mean(QRELS, "share_of_grades", relevance_level=0.25) == {"share_of_grades": 3.0}
    assert seen == [([0.5, 0.0, 2.5, -2.0], [0.0, 0.5, 1.0, 2.5], 0.25)]


def test_pytrec_eval_takes_none():
    with pytest.raises(TypeError):
        pytrec_eval.RelevanceEvaluator(QRELS, {"map"})  # type: ignore[arg-type]


# In and out


MEASURES = "ndcg nDCG(dcg='exp-log2')@3 ERR P.5 map num_rel"


def test_frames_and_tables():
    own = QRELS["q"]
    columns = {"qid": ["q"] * len(own), "docno": list(own), "label": list(map(float, own.values()))}
    expected = fr.evaluate(QRELS, RUN, MEASURES).to_dict()
    for frame in (
        pandas.DataFrame(columns),
        pandas.DataFrame(columns).astype({"label": object}),
        pandas.DataFrame(columns).astype({"label": "float32"}),
        polars.DataFrame(columns),
        polars.DataFrame(columns).with_columns(polars.col("label").cast(polars.Decimal(8, 2))),
        pyarrow.table(columns),
    ):
        assert fr.evaluate(frame, RUN, MEASURES).to_dict() == expected


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_files(form, tmp_path):
    path = str(tmp_path / f"qrels.{form}")
    fr.write_qrels(Qrels.from_dict(QRELS), path)
    assert fr.read_qrels(path).to_dict() == QRELS
    assert mean(path, MEASURES) == mean(QRELS, MEASURES)


def test_files_of_beir_of_trec_and_without_a_header():
    for content, form in (
        (b"query-id\tcorpus-id\tscore\nq\ta\t0.5\nq\tb\t2.9\n", None),
        (b"q,0,a,0.5\nq,0,b,2.9\n", "csv"),
        (b"q 0 a 0.5\nq 0 b 2.9\n", None),
    ):
        assert fr.read_qrels(io.BytesIO(content), form).to_dict() == {"q": {"a": 0.5, "b": 2.9}}


def test_the_command_evaluates_and_converts_what_trec_eval_would_not_misread(tmp_path, capfd):
    names = ("qrels.tsv", "run.txt", "qrels.json", "qrels.trec")
    qrels, run, out, trec = (str(tmp_path / name) for name in names)
    Path(qrels).write_text("query-id\tcorpus-id\tscore\nq\ta\t0.5\nq\tb\t2\n")
    Path(run).write_text("q Q0 a 1 5 t\nq Q0 b 2 4 t\n")
    assert main(["eval", "-l", "0.75", "-m", "num_rel recip_rank", qrels, run]) == 0
    found = capfd.readouterr().out.splitlines()
    assert [line.split()[-1] for line in found[1:]] == ["1", "0.5000"]
    assert main(["convert", "--kind", "qrels", qrels, out]) == 0
    assert fr.read_qrels(out).to_dict() == {"q": {"a": 0.5, "b": 2.0}}
    reason = "query 'q', document 'a': expected an integer grade for TREC format, found 0.5"
    with pytest.raises(InputError, match=re.escape(reason)):
        fr.write_qrels(Qrels.from_dict(QRELS), io.BytesIO(), "trec")
    assert main(["convert", "--kind", "qrels", out, trec]) == 1
    assert reason in capfd.readouterr().err
    assert not Path(trec).exists()


def test_they_come_out_as_they_went_in():
    qrels = Qrels.from_dict(QRELS)
    assert qrels.to_dict() == pickle.loads(pickle.dumps(qrels)).to_dict() == QRELS
    assert qrels.grades.dtype == np.float64
    assert pandas.Series(qrels.to_pandas()["relevance"]).tolist() == list(QRELS["q"].values())
    assert qrels.to_polars()["relevance"].dtype == polars.Float64
    assert qrels.to_arrow()["relevance"].to_pylist() == list(QRELS["q"].values())


@given(st.dictionaries(st.text("abc"), st.floats(allow_nan=False, allow_infinity=False)))
@examples(60)
def test_any_finite_grade_comes_out_again(grades):
    given = {"q": {**grades, "d": 0.5}}
    assert Qrels.from_dict(given).to_dict() == given


def test_nothing_of_the_caller_changes():
    labels, grades = np.array([[0.5, 1.0]]), np.array([0.5, 1.0])
    fr.evaluate_labels(labels, np.array([[1.0, 2.0]]), "ndcg")
    fr.index_qrels(([0, 2], [1, 2], grades))
    assert (labels.tolist(), grades.tolist()) == ([[0.5, 1.0]], [0.5, 1.0])


# Every way to judge: dicts, runs in memory, files, scattered files, arrays, labels


def test_all_ways_agree(tmp_path):
    qrels = {"q": {"7": 0.5, "8": 2.5, "9": 1}, "r": {"7": 0.25, "6": 0}}
    run = {"q": {"7": 5.0, "3": 4.0, "8": 3.0}, "r": {"1": 2.0, "7": 1.0}}
    names = "ndcg ERR map P.2 num_rel RBP(gain='graded')"
    level = {"relevance_level": 0.5}
    expected = fr.evaluate(Qrels.from_dict(qrels), Run.from_dict(run), names, **level).to_dict()
    evaluator = fr.Evaluator(qrels, names, **level)
    path = tmp_path / "run.txt"
    rows = [(query, doc, score) for query, own in run.items() for doc, score in own.items()]
    for order in (rows, rows[::2] + rows[1::2]):
        path.write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in order))
        assert evaluator.evaluate(str(path)).to_dict() == expected
    assert evaluator.evaluate(run).to_dict() == expected

    ids, scores = [[7, 3, 8], [1, 7, -1]], [[5.0, 4.0, 3.0], [2.0, 1.0, 0.0]]
    dicts = [{int(doc): grade for doc, grade in own.items()} for own in qrels.values()]
    compressed = ([0, 3, 5], [7, 8, 9, 7, 6], [0.5, 2.5, 1, 0.25, 0])
    queries = ["q", "r"]
    for form, own in ((dicts, queries), (compressed, queries), (Qrels.from_dict(qrels), None)):
        indexed = fr.index_qrels(form, queries=own)
        found = fr.evaluate_arrays(indexed, ids, scores, names, queries=queries, **level)
        assert found.to_dict() == expected


def test_labels_as_judgments():
    labels, scores = [[0.5, 0, 2.5], [0.25, 1, 0]], [[3, 2, 1], [1, 2, 3]]
    names, level = "ndcg ERR map nDCG(dcg='exp-log2')@2", {"relevance_level": 0.5}
    qrels, run = (
        {str(i): {str(j): value for j, value in enumerate(row)} for i, row in enumerate(rows)}
        for rows in (labels, scores)
    )
    flat = [np.ravel(labels), np.ravel(scores)]
    expected = mean(qrels, names, run, **level)
    assert fr.evaluate_labels(labels, scores, names, **level).mean == expected
    assert fr.evaluate_labels(*flat, names, group_sizes=[3, 3], **level).mean == expected
    half = fr.evaluate_labels(np.array([[0.5, 1.0, 0.25]], np.float16), [[3, 2, 1]], "dcg")
    assert half.mean == {"dcg": pytest.approx(Slow.dcg([0.5, 1.0, 0.25]))}


def test_judgment_groups_hold_them():
    ids = {"qid": "q", "iteration": list("xxyy"), "docno": list("abab")}
    frame = pandas.DataFrame({**ids, "label": [0.5, 0, 0, 1.5]})
    assert mean(frame, "map_avgjg", relevance_level=0.5) == {"map_avgjg": (1 + 0.5) / 2}


def test_what_is_found_among_embeddings_is_judged_by_them():
    pytest.importorskip("faiss")
    corpus = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], np.float32)
    queries = np.array([[1.0, 0.25]], np.float32)
    qrels = {"q": {"c": 2.5, "b": 0.5, "a": 0, "not in the corpus": 1.5}}
    ids, level = {"query_ids": ["q"], "corpus_ids": list("abc")}, {"relevance_level": 0.5}
    found = fr.evaluate_embeddings(queries, corpus, qrels, MEASURES, k=3, **ids, **level)
    run = {"q": dict(zip("abc", (queries @ corpus.T)[0].tolist(), strict=True))}
    assert found.mean == mean(qrels, MEASURES, run, **level)
