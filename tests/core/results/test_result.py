"""Every result that users get is printed, saved, drawn and converted in every form."""

from __future__ import annotations

import csv
import io
import json

import pytest

import fastrank as fr
from fastrank.core.results.result import FORMS, Result

QRELS, RUNS = "data/digits.qrels", ["data/pixels.run", "data/pca.run", "data/profile.run"]
JUDGES = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d4": 0}}
SECOND = {"q1": {"d1": 2, "d2": 1, "d3": 1}, "q2": {"d1": 1, "d4": 0}}


def indexes() -> Result:
    pytest.importorskip("faiss")
    import numpy

    vectors = numpy.random.default_rng(0).normal(size=(64, 8)).astype("float32")
    return fr.compare_indexes(vectors, vectors[:4], ["IVF4,Flat"], k=3)


def verdict() -> Result:
    file = io.BytesIO()
    fr.save_baseline(file, QRELS, RUNS[0], "map")
    return fr.gate(io.BytesIO(file.getvalue()), QRELS, RUNS[1])


def estimate() -> Result:
    model = {f"q{i}": {"d1": i % 2, "d2": 1 - i % 2} for i in range(20)}
    people = {f"q{i}": {"d1": i % 2, "d2": 0} for i in range(0, 20, 3)}
    run = {f"q{i}": {"d1": 2.0, "d2": 1.0} for i in range(20)}
    return fr.estimate(people, model, {"a": run, "b": run}, "nDCG@2")


def tasks() -> Result:
    words = ["a mole", "a lamp", "real"], ["moles", "a room", "ii"]
    models = {
        "letters": lambda texts: [[1 + text.count(letter) for letter in "ae"] for text in texts],
        "length": lambda texts: [[1, len(text)] for text in texts],
    }
    return fr.evaluate_tasks(models, {"words": fr.Task("similarity", (*words, [4.5, 2.0, 1.0]))})


MAKERS = {
    "Scores": lambda: fr.evaluate(QRELS, RUNS[0], "map P.10"),
    "ScoreDifferences": lambda: (
        fr.evaluate(QRELS, RUNS[0], "map") - fr.evaluate(QRELS, RUNS[1], "map")
    ),
    "Table": lambda: fr.table(fr.evaluate(QRELS, RUNS, "map")),
    "Comparison": lambda: fr.compare(QRELS, RUNS, "map"),
    "Verdict": verdict,
    "TieReport": lambda: fr.tie_report(QRELS, RUNS[0], "map"),
    "Agreement": lambda: fr.agreement({"x": 0.3, "y": 0.2, "z": 0.1}, {"x": 5, "y": 6, "z": 2}),
    "OptionsExplanation": lambda: fr.explain(QRELS, RUNS[0], against={"map": 0.4348}),
    "Explanation": lambda: fr.explain(QRELS, RUNS[0], "map", query="q0004"),
    "FusionTuning": lambda: fr.tune_fusion(QRELS, RUNS[:2], "map", "rrf", grid={"rrf_k": [1, 60]}),
    "Report": lambda: fr.check(QRELS, RUNS[0]),
    "IndexComparison": indexes,
    "JudgeAgreement": lambda: fr.judge_agreement(JUDGES, SECOND),
    "JudgeEstimate": estimate,
    "TaskResults": tasks,
    "TaskResult": lambda: fr.tasks.evaluate_triplets(([[1, 0]], [[1, 1]], [[0, 1]])),
}


@pytest.fixture(params=MAKERS, scope="module")
def result(request: pytest.FixtureRequest) -> Result:
    made: Result = MAKERS[request.param]()
    assert type(made).__name__ == request.param
    return made


@pytest.mark.parametrize("form", FORMS)
def test_a_result_has_every_form(result, form):
    text = getattr(result, FORMS[form])()

    starts = {"html": "<", "json": ("{", "[")}
    assert text.strip().startswith(starts.get(form, ""))
    if form == "latex":
        assert r"\begin{tabular}" in text or type(result).__name__ == "OptionsExplanation"


def test_print_shows_the_text_and_notebooks_the_html(result):
    assert str(result) == result.to_text()
    assert result._repr_html_() == result.to_html()


def test_a_page_has_a_title_and_the_elements(result):
    page = result.to_html(page="A <title>")

    assert page.startswith("<!DOCTYPE html>")
    assert "<title>A &lt;title&gt;</title>" in page
    assert result.to_html() in page
    assert result.to_html(page=True).startswith("<!DOCTYPE html>")


def test_json_is_what_strict_readers_accept(result):
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    assert json.loads(result.to_json(), parse_constant=refuse)
    assert json.loads(result.to_json(indent=2)) == json.loads(result.to_json())


def test_csv_and_frames_have_the_same_rows(result):
    header, *rows = csv.reader(io.StringIO(result.to_csv()))

    for frame in (result.to_pandas(), result.to_polars()):
        assert list(frame.columns) == header
        assert len(frame) == len(rows)


def test_a_result_is_drawn(result):
    pytest.importorskip("matplotlib")
    if type(result).__name__ == "Report":
        pytest.skip("findings have no numbers but their lines")
    axes = result.plot(path=(image := io.BytesIO()), format="svg")

    assert axes.get_title(loc="left")
    assert b'<svg role="img"' in image.getvalue()


def test_an_unknown_kind_of_plot_names_the_others(result):
    pytest.importorskip("matplotlib")
    with pytest.raises(
        fr.errors.FastrankError, match=r"'a\.svg'.*expected|expected .*, found 'a\.svg'"
    ):
        result.plot("a.svg")


def test_scores_are_a_mapping():
    scores = fr.evaluate(QRELS, RUNS[0], "map P.10")

    assert list(scores.keys()) == list(dict(scores)) == ["map", "P_10"]
    assert [array.tolist() for array in scores.values()] == [
        array.tolist() for _, array in scores.items()
    ]
    assert scores.get("MAP") is None
    assert scores.get("P_10", 0).tolist() == scores["P_10"].tolist()


@pytest.mark.parametrize(
    ("name", "meant"), [("AP", "map"), ("P@10", "P_10"), ("MRR", "recip_rank"), ("Map", "map")]
)
def test_the_error_for_a_measure_suggests_the_one_that_was_evaluated(name, meant):
    scores = fr.evaluate(QRELS, RUNS[0], "map P.10 recip_rank")

    for values in (scores, scores.mean, scores - scores):
        with pytest.raises(KeyError, match=rf"did you mean '{meant}'"):
            values[name]
