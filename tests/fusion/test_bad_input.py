"""Invalid runs and options: each is one clear error."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest

import fastrank as fr
from fastrank.native.buffers import filled

RUN = {"q": {"a": 2.0, "b": 1.0}}
OTHER = {"q": {"b": 2.0, "c": 1.0}}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rff"}, "method: unknown name 'rff'; did you mean 'rrf'?"),
        ({"method": "wsum"}, "method: unknown name 'wsum'; did you mean 'convex'?"),
        ({"method": "dbsf"}, "method: unknown name 'dbsf'; did you mean 'combsum'?"),
        ({"method": "nothing like it"}, "method: expected one of rrf, .*; found 'nothing like it'"),
        ({"method": None}, "method: expected one of rrf, .*; found None"),
        (
            {"method": "combsum", "normalization": "minmax"},
            "normalization: unknown name 'minmax'; did you mean 'min-max'?",
        ),
        (
            {"method": "combsum", "normalization": "zmuv"},
            "normalization: unknown name 'zmuv'; did you mean 'z'?",
        ),
        (
            {"normalization": "z"},
            "normalization: no effect with rrf; it is an option of combsum, .*",
        ),
        ({"method": "borda", "rrf_k": 10}, "rrf_k: no effect with borda; it is an option of rrf"),
        (
            {"method": "combsum", "weights": [1, 2]},
            "weights: no effect with combsum; it is an option of rrf, convex, .*",
        ),
        (
            {"method": "combmax", "missing": "min"},
            "missing: no effect with combmax; it is an option of combsum, .*",
        ),
        (
            {"method": "combsum", "normalization": "borda", "missing": "min"},
            "missing: no effect with normalization 'borda', which defines it",
        ),
        (
            {"method": "combsum", "missing": "max"},
            "missing: expected one of 'zero', 'min', found 'max'",
        ),
        ({"weights": [1]}, "weights: expected 2 numbers, one per run, found 1"),
        ({"weights": [1, 2, 3]}, "weights: expected 2 numbers, one per run, found 3"),
        ({"weights": [1, -2]}, "weights: expected numbers of at least 0, found -2.0"),
        ({"weights": [0, 0]}, r"weights: expected a number above 0, found \[0.0, 0.0\]"),
        ({"weights": [1, math.nan]}, "weights: expected a finite number, found nan"),
        ({"weights": [1, math.inf]}, "weights: expected a finite number, found inf"),
        ({"rrf_k": -1}, "rrf_k: expected 0 or more, found -1"),
        ({"rrf_k": math.nan}, "rrf_k: expected a finite number, found nan"),
        ({"method": "rbc", "p": 1}, "p: expected a number between 0 and 1, found 1"),
        ({"method": "logn_isr", "sigma": -0.1}, "sigma: expected 0 or more, found -0.1"),
        ({"depth": 0}, "depth: expected 1 or more, found 0"),
        ({"keep": 0}, "keep: expected 1 or more, found 0"),
        (
            {"ties": "best"},
            "ties: expected one of 'docno_desc', 'docno_asc', 'given', found 'best'",
        ),
        (
            {"trec_eval_version": "9"},
            "trec_eval_version: expected '9.0.8' or '10.0', found '9'",
        ),
    ],
)
def test_an_invalid_option_is_an_option_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(fr.OptionError, match=f"^{message}$".replace("?$", r"\?$")):
        fr.fuse([RUN, OTHER], **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": 2}, "weights: expected a list of numbers, found int"),
        ({"weights": {"a": 1, "b": 2}}, "weights: expected a list of numbers, found dict"),
        ({"weights": "1,2"}, "weights: expected a list of numbers, found str"),
        ({"weights": [1, "2"]}, "weights: expected a number, found str"),
        ({"rrf_k": "60"}, "rrf_k: expected a number, found str"),
        ({"keep": 1.5}, "keep: expected an integer, found float"),
        ({"norm": "z"}, ".*unexpected keyword argument 'norm'; did you mean 'normalization'"),
        ({"weight": [1, 2]}, ".*unexpected keyword argument 'weight'; did you mean 'weights'"),
    ],
)
def test_an_option_of_another_type_is_a_type_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        fr.fuse([RUN, OTHER], **options)


@pytest.mark.parametrize(
    "runs",
    [RUN, "data/pca.run", fr.Run.from_dict(RUN), [("q", "a", 1.0)], 5, b"x"],
    ids=["dict", "path", "Run", "tuples", "int", "bytes"],
)
def test_a_single_run_is_a_type_error(runs: Any) -> None:
    with pytest.raises(TypeError, match=r"^runs: expected a list of runs, or \{name"):
        fr.fuse(runs)


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (5, TypeError, "run 2: expected a Run, a dict, .*, found int"),
        (
            {"q": {"a": "x"}},
            fr.InputError,
            "run 2: query 'q', document 'a': expected a score",
        ),
    ],
)
def test_an_object_that_is_not_a_run_is_named(
    run: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{message}"):
        fr.fuse([RUN, run])


@pytest.mark.parametrize("runs", [[], {}])
def test_no_run_is_an_error(runs: Any) -> None:
    with pytest.raises(fr.GroupError, match=r"^runs: expected at least one run, found none$"):
        fr.fuse(runs)


def test_a_run_without_common_queries_is_an_error() -> None:
    with pytest.raises(fr.GroupError) as caught:
        fr.fuse([RUN, OTHER, {"01": {"a": 1.0}, "02": {"a": 1.0}}])

    assert str(caught.value) == (
        "run 3 shares no query with the other runs: it has 2 queries ('01', '02'), they have"
        " 1 query ('q')"
    )


def test_an_empty_run_is_an_error() -> None:
    with pytest.raises(fr.GroupError, match=r"^run 'b' has no queries$"):
        fr.fuse({"a": RUN, "b": {}})


@pytest.mark.parametrize("score", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("normalization", ["min-max", "max", "z", "none"])
def test_a_score_that_is_not_finite_is_an_error_of_methods_by_score(
    score: str, normalization: str
) -> None:
    run = fr.Run.from_dict({"q": {"a": 1.0, "b": 1.0}})
    run = run.changed(score_column=filled("d", [1.0, float(score)]))

    with pytest.raises(fr.EvaluationError) as caught:
        fr.fuse({"x": OTHER, "y": run}, "combsum", normalization=normalization)

    assert str(caught.value) == (
        f"run 'y': query 'q', document 'b': expected a finite score, found {score}; use a method"
        " by rank, such as rrf"
    )
    assert caught.value.query == b"q"


@pytest.mark.parametrize(
    ("method", "options"), [("rrf", {}), ("combsum", {"normalization": "rank"})]
)
def test_infinite_scores_have_ranks(method: str, options: dict[str, Any]) -> None:
    run = fr.read_run(io.BytesIO(b"q Q0 a 1 1 t\nq Q0 b 2 inf t\n"))

    assert list(fr.fuse([run, run], method, **options)["q"]) == ["b", "a"]


def test_dividing_by_a_maximum_that_is_not_positive_is_an_error() -> None:
    with pytest.raises(fr.EvaluationError) as caught:
        fr.fuse([RUN, {"q": {"a": -1.0, "b": -2.0}}], "combsum", normalization="max")

    assert str(caught.value) == (
        "run 2: query 'q': the normalization 'max' needs a score above 0, found at most -1.0"
    )


def test_a_fused_score_that_overflows_is_an_error() -> None:
    run = {"p": {"c": 1.0}, "q": {"a": 1.0, "b": 1e308}}

    with pytest.raises(fr.EvaluationError, match=r"^query 'q', document 'b': the fused"):
        fr.fuse([run, run], "combmnz", normalization="none")


def test_a_document_that_appears_twice_is_an_error(tmp_path: Any) -> None:
    path = tmp_path / "twice.run"
    path.write_text("p Q0 a 1 2 t\nq Q0 a 1 2 t\nq Q0 b 2 1 t\nq Q0 a 3 0 t\n")

    with pytest.raises(fr.InputError) as caught:
        fr.fuse([RUN, path], warn=[].append)

    assert str(caught.value) == (
        f"run 2 ({path}): query 'q': document 'a' appears twice, lines 2 and 4"
    )


def test_a_file_that_is_missing_is_a_read_error() -> None:
    with pytest.raises(fr.ReadError, match=r"missing\.run: no such file"):
        fr.fuse([RUN, "missing.run"])
