"""Invalid runs and options of `fuse` and `tune_fusion`: each is one clear error."""

from __future__ import annotations

import io
from typing import Any

import pytest

import fastrank as fr
from fastrank.core.native.buffers import filled
from fastrank.errors import EvaluationError, InputError
from tests.analysis.fusion.cases import tuning_case
from tests.helpers.tables import refusing

RUN = {"q": {"a": 2.0, "b": 1.0}}
OTHER = {"q": {"b": 2.0, "c": 1.0}}
NEGATIVE = {"q": {"a": -1.0, "b": -2.0}}
LARGE = {"p": {"c": 1.0}, "q": {"a": 1.0, "b": 1e308}}
QRELS, RUNS = tuning_case()


def fused(*arguments: Any, **options: Any) -> fr.Run:
    return fr.fuse([RUN, OTHER], *arguments, **options)


def tuned(measure: str = "map", **arguments: Any) -> fr.types.FusionTuning:
    return fr.tune_fusion(QRELS, RUNS, measure, **{"folds": 3, **arguments})


test_an_invalid_option_is_an_error = refusing("""
fused("rff") => OptionError: method: unknown name 'rff'; did you mean 'rrf'?
fused("wsum") => OptionError: method: unknown name 'wsum'; did you mean 'convex'?
fused("dbsf") => OptionError: method: unknown name 'dbsf'; did you mean 'combsum'?
fused("nothing like it") => OptionError: method: expected one of rrf, ...; found 'nothing like it'
fused(None) => OptionError: method: expected one of rrf, ...; found None
fused("combsum", normalization="minmax") =>
  OptionError: normalization: unknown name 'minmax'; did you mean 'min-max'?
fused("combsum", normalization="zmuv") =>
  OptionError: normalization: unknown name 'zmuv'; did you mean 'z'?
fused(normalization="z") =>
  OptionError: normalization: no effect with rrf; it is an option of combsum, ...
fused("borda", rrf_k=10) => OptionError: rrf_k: no effect with borda; it is an option of rrf
fused("combsum", weights=[1, 2]) =>
  OptionError: weights: no effect with combsum; it is an option of rrf, convex, ...
fused("combmax", unretrieved="min") =>
  OptionError: unretrieved: no effect with combmax; it is an option of combsum, ...
fused("combsum", normalization="borda", unretrieved="min") =>
  OptionError: unretrieved: no effect with normalization 'borda', which defines it
fused("combsum", unretrieved="max") =>
  OptionError: unretrieved: expected one of 'zero', 'min', found 'max'
fused(weights=[1]) => OptionError: weights: expected 2 numbers, one per run, found 1
fused(weights=[1, 2, 3]) => OptionError: weights: expected 2 numbers, one per run, found 3
fused(weights=[1, -2]) => OptionError: weights: expected numbers of at least 0, found -2.0
fused(weights=[0, 0]) => OptionError: weights: expected a number above 0, found [0.0, 0.0]
fused(weights=[1, math.nan]) => OptionError: weights: expected a finite number, found nan
fused(weights=[1, math.inf]) => OptionError: weights: expected a finite number, found inf
fused(rrf_k=-1) => OptionError: rrf_k: expected 0 or more, found -1
fused(rrf_k=10**400) =>
  OptionError: rrf_k: expected a finite number in the range of a double, found 1000...
fused(weights=[1, 10**5000]) => OptionError: weights: ...found an integer of thousands of digits
fused(rrf_k=math.nan) => OptionError: rrf_k: expected a finite number, found nan
fused("rbc", p=1) => OptionError: p: expected a number between 0 and 1, found 1
fused("logn_isr", sigma=-0.1) => OptionError: sigma: expected 0 or more, found -0.1
fused(depth=0) => OptionError: depth: expected 1 or more, found 0
fused(keep=0) => OptionError: keep: expected 1 or more, found 0
fused(ties="best") =>
  OptionError: ties: expected one of 'docno_desc', 'docno_asc', 'given', found 'best'
fused(trec_eval_version="9") =>
  OptionError: trec_eval_version: expected '9.0.8' or '10.0', found '9'
fused(weights=2) => TypeError: weights: expected a list of numbers, found int
fused(weights={"a": 1, "b": 2}) => TypeError: weights: expected a list of numbers, found dict
fused(weights="1,2") => TypeError: weights: expected a list of numbers, found str
fused(weights=[1, "2"]) => TypeError: weights: expected a number, found str
fused(rrf_k="60") => TypeError: rrf_k: expected a number, found str
fused(keep=1.5) => TypeError: keep: expected an integer, found float
fused(norm="z") => TypeError: ...unexpected keyword argument 'norm'; did you mean 'normalization'...
fused(weight=[1, 2]) =>
  TypeError: ...unexpected keyword argument 'weight'; did you mean 'weights'...
""")

test_runs_that_cannot_be_fused_are_an_error = refusing("""
fuse(RUN) => TypeError: runs: expected a list of runs, or {name...
fuse("data/pca.run") => TypeError: runs: expected a list of runs, or {name...
fuse(fr.Run.from_dict(RUN)) => TypeError: runs: expected a list of runs, or {name...
fuse([("q", "a", 1.0)]) => TypeError: runs: expected a list of runs, or {name...
fuse(5) => TypeError: runs: expected a list of runs, or {name...
fuse(b"x") => TypeError: runs: expected a list of runs, or {name...
fuse([RUN, 5]) => TypeError: run 2: expected a Run, a dict, ..., found int
fuse([RUN, {"q": {"a": "x"}}]) => InputError: run 2: query 'q', document 'a': expected a score...
fuse([]) => GroupError: runs: expected at least one run, found none
fuse({}) => GroupError: runs: expected at least one run, found none
fuse([RUN, OTHER, {"01": {"a": 1.0}, "02": {"a": 1.0}}]) =>
  GroupError: run 3 shares no query with the other runs: it has 2 queries ('01', '02'), they have 1
  query ('q')
fuse({"a": RUN, "b": {}}) => GroupError: run 'b' has no queries
fuse([RUN, NEGATIVE], "combsum", normalization="max") =>
  EvaluationError: run 2: query 'q': the normalization 'max' needs a score above 0, found at most
  -1.0
fuse([LARGE, LARGE], "combmnz", normalization="none") =>
  EvaluationError: query 'q', document 'b': the fused...
fuse([RUN, "missing.run"]) => ReadError: missing.run: no such file...
""")


@pytest.mark.parametrize("score", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("normalization", ["min-max", "max", "z", "none"])
def test_a_score_that_is_not_finite_is_an_error_of_methods_by_score(score, normalization):
    run = fr.Run.from_dict({"q": {"a": 1.0, "b": 1.0}})
    run = run.changed(score_column=filled("d", [1.0, float(score)]))

    with pytest.raises(EvaluationError) as caught:
        fr.fuse({"x": OTHER, "y": run}, "combsum", normalization=normalization)

    assert str(caught.value) == (
        f"run 'y': query 'q', document 'b': expected a finite score, found {score}; use a method"
        " by rank, such as rrf"
    )
    assert caught.value.query == b"q"


@pytest.mark.parametrize(
    ("method", "options"), [("rrf", {}), ("combsum", {"normalization": "rank"})]
)
def test_infinite_scores_have_ranks(method, options):
    run = fr.read_run(io.BytesIO(b"q Q0 a 1 1 t\nq Q0 b 2 inf t\n"))

    assert list(fr.fuse([run, run], method, **options)["q"]) == ["b", "a"]


def test_a_document_that_appears_twice_is_an_error(tmp_path):
    path = tmp_path / "twice.run"
    path.write_text("p Q0 a 1 2 t\nq Q0 a 1 2 t\nq Q0 b 2 1 t\nq Q0 a 3 0 t\n")

    with pytest.raises(InputError) as caught:
        fr.fuse([RUN, path], warn=[].append)

    said = f"run 2 ({path}): query 'q': document 'a' appears twice, lines 2 and 4"
    assert str(caught.value) == said


test_what_cannot_be_tuned_is_an_error = refusing("""
tuned(folds=1) => OptionError: folds: expected 2 or more, found 1
tuned(folds=13) => OptionError: folds: expected at most 12, the number of judged queries, found 13
tuned(seed=-1) => OptionError: seed: expected 0 or more, found -1
tuned(method="rff") => OptionError: method: unknown name 'rff'; did you mean 'rrf'...
tuned(method="combsum") =>
  OptionError: grid: combsum has no parameter; try other options with grid={option: values}
tuned(grid=[]) => OptionError: grid: expected at least one value of an option...
tuned(grid={}) => OptionError: grid: expected at least one value of an option...
tuned(grid={"rrf_k": [1]}) => OptionError: rrf_k: no effect with convex...
tuned(grid={"weight": [1]}) => OptionError: grid: 'weight' is not an option of fuse
tuned(grid={"weights": 2}, weights=[1, 1, 1]) =>
  OptionError: grid: weights is given as an option too; omit one of them
tuned(grid={"weights": 0}) => OptionError: grid of weights: expected 1 or more, found 0
tuned(grid={"weights": 1000}) =>
  OptionError: grid: 501,501 combinations of weights for 3 runs: expected at most 100,000...
tuned(grid=5) => TypeError: grid: expected {option: values}, found int
tuned(grid=[5]) => TypeError: grid: expected a list of {option: value}, found int
tuned(grid={"rrf_k": 5}) => TypeError: grid: expected a list of values of rrf_k, found int
tuned("map P_10") => MeasureError: expected one measure to tune, found 2: map,...
tuned("mapp") => MeasureError: unknown measure 'mapp'...
tuned("gm_map") => MeasureError: gm_map has no values per query...
tuned(executor=5) => TypeError: executor...
tune_fusion({"other": {"d1": 1}}, RUNS, "map") => NoQueriesError: ...share no query ids...
""")
