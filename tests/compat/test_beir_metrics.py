"""The custom metrics of BEIR, each reproduced by a name and options; Hole@k among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.cli.main import main
from tests.helpers.parsing import write_trec_qrels, write_trec_run
from tests.helpers.strategies import examples
from tests.helpers.tables import refusing

# As BEIR ranks: doubles, those of one score in the order of the dict; over all judged queries.
LIKE_BEIR = {"ties": "given", "trec_eval_version": "10.0", "missing": "zero"}
CUTOFFS = [1, 2, 3, 10]
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"d": 1, "e": -1}, "q3": {"f": 2}}
RUN = {"q1": {"d": 0.9, "x": 0.8, "a": 0.7}, "q2": {"y": 0.5, "z": 0.5, "e": 0.5}}

JUDGMENTS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 2), min_size=1).filter(
        lambda grades: any(grades.values())
    ),
    min_size=1,
)
RESULTS = st.dictionaries(
    st.sampled_from("abcdefghijk"), st.sampled_from([0.25, 0.5, 0.5 + 1e-12, 1.0]), min_size=1
)


@given(qrels=JUDGMENTS, data=st.data())
@examples(60)
def test_the_functions_of_beir(qrels, data):
    metrics = pytest.importorskip("beir.retrieval.custom_metrics")
    # Some queries without results; BEIR knows none without a relevant document.
    answered = data.draw(st.sets(st.sampled_from(sorted(qrels)), min_size=1))
    run = {query: data.draw(RESULTS) for query in sorted(answered)}
    names = {
        "MRR": ("RR", metrics.mrr),
        "R_cap": ("RCap", metrics.recall_cap),
        "Accuracy": ("Success", metrics.top_k_accuracy),
        "Hole": ("Hole", metrics.hole),
    }
    for theirs, (ours, function) in names.items():
        found = fr.evaluate(qrels, run, [f"{ours}@{k}" for k in CUTOFFS], **LIKE_BEIR).mean
        expected = function(qrels, run, CUTOFFS)
        assert {f"{theirs}@{k}": found[f"{ours}@{k}"] for k in CUTOFFS} == pytest.approx(
            expected, abs=5.1e-6
        )


def test_four_programs_differ_on_the_share_that_is_not_judged():
    """A judged and an unjudged document; and one that is judged for the other query only."""
    qrels = {"q1": {"d1": 1}, "q2": {"d9": 1}}
    run = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d1": 0.9}}
    found = fr.evaluate(qrels, run, "Hole@1 hole_2 Hole@10 Unjudged(denominator='k')@10").mean
    assert list(found.values()) == [0.0, 0.25, 0.05, 0.1]


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ({}, [1 / 3, 2 / 3]),
        ({"depth": 1}, [0.0, 1 / 3]),
        ({"depth": 1, "ties": "docno_asc"}, [0.0, 0.0]),
        ({"judged_only": True}, [0.0, 0.0]),
        ({"exclude": {"q1": ["x"]}}, [0.0, 2 / 3]),
        ({"relevance_level": 2}, [1 / 3, 2 / 3]),
        ({"missing": "zero", "trec_eval_version": "10.0"}, [1 / 3, 2 / 3, 0.0]),
    ],
)
def test_hole_with_other_options(options, values):
    scores = fr.evaluate(QRELS, RUN, "Hole@3", **options)
    assert scores["Hole@3"].tolist() == values
    if "missing" in options:
        assert fr.evaluate(QRELS, RUN, "Hole@3", missing="zero").mean == {"Hole@3": sum(values) / 3}


def test_hole_of_files(tmp_path, capfdbinary):
    write_trec_qrels(fr.Qrels.from_dict(QRELS), tmp_path / "qrels")
    write_trec_run(fr.Run.from_dict(RUN), tmp_path / "run")
    files = [str(tmp_path / name) for name in ("qrels", "run")]
    assert main(["eval", "-q", "-m", "map", "-m", "Hole@3", *files]) == 0
    lines = capfdbinary.readouterr().out.decode().split("\n")
    found = [line.split()[1:] for line in lines if line.startswith("Hole@3")]
    assert found == [["q1", "0.3333"], ["q2", "0.6667"], ["all", "0.5000"]]


def test_the_average_of_hole_is_its_mean_over_every_order():
    """Of the documents a, b and x of query q1, x is in no judgments; z of q2 is in those of q1."""
    qrels = {"q1": {"a": 1, "z": 0}, "q2": {"b": 1}}
    run = {"q1": {"a": 1.0, "b": 1.0, "x": 1.0}, "q2": {"z": 2.0, "y": 1.0, "b": 1.0}}
    scores = fr.evaluate(qrels, run, "Hole@2 map", ties="average")
    assert scores["Hole@2"].tolist() == pytest.approx([2 / 3 / 2, 1 / 2 / 2])
    cut = fr.evaluate(qrels, run, "Hole@2", ties="average", depth=1)
    assert cut["Hole@2"].tolist() == pytest.approx([1 / 3 / 2, 0])


NEEDS_ALL = "'Hole@3' needs the judgments of all queries"

test_where_hole_cannot_be_computed = refusing("""MeasureError
fr.evaluate_arrays([{1: 1}], [[1]], None, "Hole@3") =>
  'Hole@3' needs the judgments of all queries: only `evaluate` supports it
fr.evaluate_labels([[1]], [[1.0]], "Hole@3") => 'Hole@3' needs the judgments of all queries...
fr.evaluate(QRELS, RUN, "Hole") => ...Hole requires cutoff...
fr.evaluate(QRELS, RUN, "Hole@3", ties="best") => ...Hole@3...
fr.evaluate(QRELS, RUN, "Hole@3", ties="worst") => ...Hole@3...
""")
