"""The names of runs, by their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.formats.inputs import run_name, run_names
from tests.helpers.paths import DATA

QRELS = DATA / "digits.qrels"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/pixels.run", "pixels"), ("input.humR03dc.gz", "input.humR03dc"), ("a.run.gz", "a"),
        ("A.TXT.BZ2", "A"), ("bm25.k1=1.2", "bm25.k1=1.2"), (".run", ".run"), ("x/.gz", ".gz"),
        ("s3://bucket/a.jsonl.zst", "a"), ("a.run.txt", "a.run"), (Path("b/c.parquet"), "c"),
    ],
)  # fmt: skip
def test_a_file_is_named_without_known_suffixes(path: str | Path, name: str) -> None:
    assert run_name(path) == name


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["x/a.run", "y/b.run"], ["a", "b"]),
        (["a.run", "a.run.gz", "b.run"], ["a.run", "a.run.gz", "b"]),
        (["x/a.run", "y/a.run"], ["x/a.run", "y/a.run"]),
        (["p/x/a.run", "q/x/a.run", "a.txt"], ["p/x/a.run", "q/x/a.run", "a.txt"]),
        (["a.run", "x/a.run"], ["a.run", "x/a.run"]),
        (["a.run", "a.run"], ["a", "a"]),
        (["d/a.run", "d/a.run.gz", "d/a.run.txt"], ["d/a.run", "a.run.gz", "a.run.txt"]),
    ],
)
def test_files_with_the_same_name_are_distinguished(paths: list[str], names: list[str]) -> None:
    assert run_names(paths) == names


def test_evaluate_names_runs_by_files_keys_and_tags() -> None:
    pixels, pca = DATA / "pixels.run", DATA / "pca.run"
    tagged = fr.Run.from_dict(fr.read_run(pca).to_dict(), tag="mine")

    def names(runs: object) -> list[str]:
        return [own.name for own in fr.evaluate(QRELS, runs, "map")]  # type: ignore[arg-type,union-attr]

    assert names([pixels, tagged, tagged.to_dict()]) == ["pixels", "mine", ""]
    assert names({"a": pixels, "b": tagged, 3: tagged.to_dict()}) == ["a", "b", "3"]
    assert names(iter([pixels, pca])) == ["pixels", "pca"]
    assert fr.evaluate(QRELS, pixels, "map").name == "pixels"


def test_tables_and_comparisons_have_these_names(tmp_path: Path) -> None:
    (tmp_path / "other.run.gz").write_bytes((DATA / "pca.run").read_bytes())
    runs = [DATA / "pca.run", tmp_path / "other.run.gz"]
    scores = fr.evaluate(QRELS, runs, "map")
    assert isinstance(scores, list)

    assert scores[1].tag == "pca"
    assert fr.table(scores).columns["run"] == ["pca", "other"]
    assert fr.compare(QRELS, runs, "map").names == ["pca", "other"]
    assert fr.compare_scores(scores).names == ["pca", "other"]
    assert fr.explain(QRELS, runs[1], "map", query="q0000").run == "other"
    assert str(scores[0] - scores[1]).split()[1:3] == ["pca", "other"]


NAMED_RUN = {"a": {"q1": {"d": 1.0}}}


def test_a_dict_of_runs_is_evaluated_as_a_list_of_them() -> None:
    qrels, run = {"q1": {"d": 1}}, {"q1": {"d": 1.0}}
    rows = [("q1", "d", 1.0)]

    for given in ({"a": run, "b": run}, {"a": rows, "b": run}, {"a": {}, "b": run}):
        if not given["a"]:
            with pytest.raises(fr.RunError, match="a: the run has no queries"):
                fr.evaluate(qrels, given, "map")  # type: ignore[call-overload]
            continue
        found = fr.Evaluator(qrels, "map").evaluate(given)  # type: ignore[call-overload]
        assert [(own.name, own.mean["map"]) for own in found] == [("a", 1.0), ("b", 1.0)]
    assert fr.evaluate(qrels, run, "map").mean == {"map": 1.0}
    assert fr.compare(qrels, run, "map").names == ["run"]


@pytest.mark.parametrize(
    "given",
    [
        {**NAMED_RUN, "q1": {"d": 1.0}},
        {"q1": {"d": 1.0}, **NAMED_RUN},
        {"q1": {"d": 1.0}, "a": "a.run"},
        {"q1": {"d": 1.0}, "a": fr.Run.from_dict(NAMED_RUN["a"])},
    ],
)
def test_a_dict_of_runs_and_of_documents_is_an_error(given: dict[str, Any]) -> None:
    with pytest.raises(fr.InputError, match="found both: 'a' has a run, 'q1' has dict"):
        fr.evaluate({"q1": {"d": 1}}, given, "map")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_frame_with_two_tags_says_how_to_read_it(kind: str) -> None:
    columns = {"qid": ["q", "q"], "docno": ["a", "b"], "score": [2.0, 1.0], "system": ["x", "y"]}
    library = pytest.importorskip({"arrow": "pyarrow"}.get(kind, kind))
    frame = library.table(columns) if kind == "arrow" else library.DataFrame(columns)

    with pytest.raises(
        fr.InputError,
        match="select the rows of one 'system', or give all rows one new tag:"
        rf" fr.Run.from_{kind}\(..., tag=NAME\)$",
    ):
        fr.evaluate({"q": {"a": 1}}, frame, "map")
    assert getattr(fr.Run, f"from_{kind}")(frame, tag="z").to_dict() == {"q": {"a": 2.0, "b": 1.0}}
