"""The examples in docstrings are true, and nothing public lacks one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import fastrank as fr
from fastrank.compat import datasets, pytrec_eval, retrieved, sentence_transformers
from fastrank.core.data.columns import Frozen
from fastrank.core.results.result import Result
from tests.helpers.parsing import read_trec_qrels, read_trec_run
from tests.helpers.paths import PACKAGE, REPOSITORY

SOURCES = [
    source for source in sorted(PACKAGE.rglob("*.py")) if ">>> " in source.read_text("utf-8")
]
# Values, which the reference explains.
NO_DOCSTRING = {"MEASURES", "__version__"}


def _module(source: Path) -> str:
    parts = source.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _public() -> list[object]:
    """Every public function and class, and the methods of these, also the inherited ones."""
    found = [getattr(fr, name) for name in fr.__all__ if name not in NO_DOCSTRING]
    found += [error for error in vars(fr.errors).values() if inspect.isclass(error)]
    found += [getattr(fr.types, name) for name in fr.types.__all__]
    found += [getattr(fr.tasks, name) for name in fr.tasks.__all__]
    found += [pytrec_eval.RelevanceEvaluator, pytrec_eval.compute_aggregated_measure]
    found += [pytrec_eval.parse_qrel, pytrec_eval.parse_run]
    found += [datasets.evaluate_results, datasets.results_to_run, retrieved.results_to_run]
    found += [sentence_transformers.RankingEvaluator]
    for kind in filter(inspect.isclass, list(found)):
        found += [
            method
            for name, method in inspect.getmembers(kind, inspect.isroutine)
            if name[0] != "_"
            and not hasattr(Frozen, name)
            and name not in getattr(kind, "internal", ())
            and (getattr(method, "__module__", None) or "").startswith("fastrank")
        ]
    return list({thing.__qualname__: thing for thing in found}.values())


def _probed() -> fr.tasks.TaskResult:
    import numpy

    labels = numpy.arange(1000) % 2
    vectors = numpy.random.RandomState(0).normal(3 * labels[:, None], size=(1000, 4))
    return fr.tasks.evaluate_classification(vectors, labels, repetitions=1, name="shift")


def _compared() -> fr.types.IndexComparison:
    import numpy

    rng = numpy.random.default_rng(0)
    corpus, queries = rng.standard_normal((64, 8)), rng.standard_normal((4, 8))
    candidates = "IVF4,Flat nprobe=1 nprobe=4"
    return fr.compare_indexes(
        queries, corpus, candidates, k=3, qrels={"0": {"1": 1}}, measures="RR", repetitions=1
    )


@cache
def _comparison() -> fr.types.Comparison:
    runs = [REPOSITORY / "data" / f"{name}.run" for name in ("pixels", "pca", "profile")]
    return fr.compare(REPOSITORY / "data/digits.qrels", runs, "map")


def _judged() -> dict[str, object]:
    human = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d4": 0}}
    judge = {"q1": {"d1": 2, "d2": 1, "d3": 1}, "q2": {"d1": 1, "d4": 0}}
    run = {f"q{i}": {f"d{j}": float(-j) for j in range(20)} for i in range(10)}
    model = {f"q{i}": {"d1": i % 2, "d2": (i + 1) % 2} for i in range(20)}
    people = {f"q{i}": {"d1": i % 2, "d2": int(i % 4 == 0)} for i in range(0, 20, 3)}
    systems = {
        "a": {f"q{i}": {"d1": 2.0, "d2": 1.0} for i in range(20)},
        "b": {f"q{i}": {"d1": 1.0, "d2": float(i % 5)} for i in range(20)},
    }
    return {
        "human": human,
        "judge": judge,
        "run": run,
        "agreement": fr.judge_agreement(human, judge),
        "estimate": fr.estimate(people, model, systems, "nDCG@2"),
        "plan": fr.plan_judgments({"a": run}, 40, depth=20),
    }


def _task_results() -> fr.tasks.TaskResults:
    def letters(texts: list[str]) -> list[list[int]]:
        return [[1 + text.count(letter) for letter in "aeilmor"] for text in texts]

    def length(texts: list[str]) -> list[list[int]]:
        return [[1, len(text)] for text in texts]

    texts, queries = {"d1": "Oslo", "d2": "Madrid", "d3": "Lima"}, {"q1": "Oslo!", "q2": "to Lima"}
    cities = fr.Dataset.from_texts(texts, queries, {"q1": {"d1": 1}, "q2": {"d3": 1}})
    words = ["a mole", "a lamp", "real"], ["moles", "a room", "ii"], [4.5, 2.0, 1.0]
    tasks = {"cities": cities, "words": fr.Task("similarity", words)}
    return fr.evaluate_tasks({"letters": letters, "length": length}, tasks)


def _explained() -> fr.types.Explanation:
    return fr.explain({"q": {"a": 1, "b": 1}}, {"q": {"a": 3, "x": 2, "b": 1}}, "map", query="q")


# What examples may use.
MADE = {
    "result": lambda: fr.agreement({"x": 3, "y": 1}, {"x": 2, "y": 1}),
    "compared": _compared,
    "comparison": _comparison,
    "probed": _probed,
    "explained": _explained,
    "results": cache(_task_results),
}


@pytest.mark.parametrize("source", SOURCES, ids=_module)
def test_examples_print_what_they_show(source, monkeypatch):
    """`fr` is imported there, and `scores` is the average precision of a run in data/.

    For those who look at one, `compared` is a comparison of indexes, `comparison` one of runs,
    `probed` a TaskResult, `result` an Agreement, `explained` an Explanation, and `results` those of
    two tasks. Those of judges are in `_judged`.
    """
    for library in ("pandas", "polars", "pyarrow", "ir_measures", "matplotlib"):
        pytest.importorskip(library)
    monkeypatch.chdir(REPOSITORY)
    qrels, run = read_trec_qrels("data/digits.qrels"), read_trec_run("data/pixels.run")
    names = {"fr": fr, "scores": fr.evaluate(qrels, run, "map")}
    for name, make in MADE.items():
        if re.search(rf"\b{name}\b", source.read_text("utf-8")):
            names[name] = make()
    if source.parent.name == "judges":
        names |= _judged()

    module = importlib.import_module(_module(source))
    found = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS)

    assert found.failed == 0
    assert found.attempted > 0


@pytest.mark.parametrize("thing", _public(), ids=lambda thing: thing.__qualname__)
def test_every_public_name_has_an_example(thing):
    """So the reference shows how each is used; a form of a result is used as that of any other."""
    of_all_results = getattr(Result, thing.__name__, None) if "." in thing.__qualname__ else None

    assert ">>> " in f"{inspect.getdoc(thing)} {inspect.getdoc(of_all_results)}"


def test_pages_and_sections_that_are_named_exist():
    """In docstrings and messages."""
    named = {
        found
        for path in PACKAGE.rglob("*.py")
        for found in re.findall(
            r"(?:docs|\.\.)/([\w-]+)\.md(?:#([\w-]+))?", path.read_text("utf-8")
        )
    }

    assert ("comparing", "which-test") in named
    for page, section in named:
        text = (REPOSITORY / "docs" / f"{page}.md").read_text("utf-8")
        headings = re.findall(r"^#+ (.+)$", text, re.M)
        anchors = [re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings]
        assert section in ["", *anchors], f"{page}.md#{section}"
