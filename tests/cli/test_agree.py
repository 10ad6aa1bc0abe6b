"""`fastrank agree`: what it prints and writes, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.formats.source import read_all
from tests.helpers.paths import DATA

QRELS, PIXELS, PCA, PROFILE = (
    str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run", "profile.run")
)
Capture = pytest.CaptureFixture[bytes]


def _printed(capture: Capture, *arguments: str) -> str:
    status = main(["agree", *arguments])

    out, err = capture.readouterr()
    assert (status, err) == (0, b"")
    return out.decode()


def _failed(capture: Capture, *arguments: str) -> tuple[int, str]:
    status = main(["agree", *arguments])

    out, err = capture.readouterr()
    assert out == b""
    return status, err.decode()


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", lambda table: f"{table}\n"),
        ("markdown", lambda table: table.to_markdown() + "\n"),
        ("latex", lambda table: table.to_latex() + "\n"),
        ("csv", lambda table: table.to_csv()),
    ],
)
def test_the_overlap_of_two_runs_is_printed_in_every_format(
    form: str, expected: object, capfdbinary: Capture
) -> None:
    table = fr.overlap(PIXELS, PCA, depth=5, p=0.8, ties="w")
    found = _printed(
        capfdbinary, "--depth", "5", "-p", "0.8", "--ties", "w", "--format", form, PIXELS, PCA
    )

    assert callable(expected)
    assert found == expected(table)


def test_json_has_an_object_for_each_query_and_null_for_nan(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    (tmp_path / "a.run").write_text("q Q0 a 1 2 x\n")
    (tmp_path / "b.run").write_text("q Q0 a 1 2 x\n")

    found = _printed(
        capfdbinary, "--format", "json", str(tmp_path / "a.run"), str(tmp_path / "b.run")
    )
    assert json.loads(found) == [
        {"query": "q", "shared@10": 1, "jaccard@10": 1.0, "rbo": 1.0, "tau": None, "ktu": None},
        {"query": "all", "shared@10": 1.0, "jaccard@10": 1.0, "rbo": 1.0, "tau": None, "ktu": None},
    ]


def test_scores_are_compared_as_the_version_of_trec_eval_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Capture
) -> None:
    (tmp_path / "a.run").write_text("q Q0 a 1 1.00000001 x\nq Q0 b 2 1.0 x\n")
    (tmp_path / "b.run").write_text("q Q0 a 1 2 x\nq Q0 b 2 1 x\n")
    command = ("--depth", "1", "--format", "csv", str(tmp_path / "a.run"), str(tmp_path / "b.run"))

    assert "\nq,0," in _printed(capfdbinary, *command)
    monkeypatch.setenv("FASTRANK_TREC_EVAL_VERSION", "10.0")
    assert "\nq,1," in _printed(capfdbinary, *command)


@pytest.fixture
def systems(tmp_path: Path, capfdbinary: Capture) -> tuple[str, str]:
    """The scores of three runs with all judgments, and with every third."""
    qrels = tmp_path / "part.qrels"
    lines = Path(QRELS).read_text().splitlines(keepends=True)
    qrels.write_text("".join(lines[::3]))
    paths = str(tmp_path / "all.csv"), str(tmp_path / "part.csv")
    for given, path in zip((QRELS, str(qrels)), paths, strict=True):
        options = ["-m", "map", "-m", "P.10", "--format", "csv", "-o", path]
        assert main(["eval", *options, given, PIXELS, PCA, PROFILE]) == 0
    capfdbinary.readouterr()
    return paths


def test_rankings_of_systems_have_a_row_for_each_measure(
    systems: tuple[str, str], capfdbinary: Capture
) -> None:
    rows = json.loads(_printed(capfdbinary, "--systems", "--format", "json", *systems))

    assert [row["measure"] for row in rows] == ["map", "P_10"]
    for row in rows:
        first, second = (_means(path, row["measure"]) for path in systems)
        found = fr.agreement(first, second)
        assert row["systems"] == 3
        for name in ("tau_b", "tau_a", "weighted_tau", "tau_ap", "tau_ap_b"):
            assert row[name] == getattr(found, name)
        assert row["rbo"] == fr.rbo(first, second).ext


def _means(path: str, measure: str) -> dict[str, float]:
    rows = [line.split(",") for line in Path(path).read_text().splitlines()]
    return {row[0]: float(row[3]) for row in rows if row[1:3] == ["", measure]}


def test_a_file_that_is_no_output_of_eval_is_an_error(
    systems: tuple[str, str], capfdbinary: Capture
) -> None:
    status, message = _failed(capfdbinary, "--systems", systems[0], PCA)

    assert status == 1
    assert f"{PCA}:1: expected the header run,query,measure,value" in message


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,,map,x\n", "scores.csv:2: expected a number, found 'x'"),
        ("a,,map,1\na,,map,2\n", "scores.csv:3: run 'a' has a second mean of 'map'"),
        ("a,,map\n", "scores.csv:2: expected 4 cells, found 3"),
        ("a,,ndcg,1\n", "the files have no measure in common: map, P_10 and ndcg"),
        ("a,,map,1\n", "all.csv has 'pixels', 'pca', 'profile' and only "),
        (
            "a,q1,map,1\n",
            "scores.csv:1: has no means; write it with `fastrank eval --format csv` without -q",
        ),
    ],
)
def test_wrong_scores_of_systems_are_errors(
    rows: str, message: str, tmp_path: Path, systems: tuple[str, str], capfdbinary: Capture
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("run,query,measure,value\n" + rows)

    status, found = _failed(capfdbinary, "--systems", systems[0], str(path))
    assert status == 1
    assert message in found


def test_an_invalid_persistence_is_wrong_usage(capfdbinary: Capture) -> None:
    status, message = _failed(capfdbinary, "-p", "1", PIXELS, PCA)

    assert status == 2
    assert message.startswith("fastrank agree: p: expected a number between 0 and 1")


def test_a_depth_has_no_effect_on_rankings_of_systems(
    systems: tuple[str, str], capfdbinary: Capture
) -> None:
    found = _failed(capfdbinary, "--depth", "5", "--systems", *systems)

    assert found == (2, "fastrank agree: --depth: no effect with --systems\n")


def test_a_version_has_no_effect_on_rankings_of_systems(
    systems: tuple[str, str], capfdbinary: Capture
) -> None:
    found = _failed(capfdbinary, "--trec-eval-version", "10.0", "--systems", *systems)

    assert found == (2, "fastrank agree: --trec-eval-version: no effect with --systems\n")


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "CSV.XZ"])
def test_the_name_of_the_output_determines_format_and_compression(
    suffix: str, tmp_path: Path, capfdbinary: Capture
) -> None:
    path = tmp_path / f"out.{suffix}"

    assert _printed(capfdbinary, "-o", str(path), PIXELS, PCA) == ""
    assert read_all(str(path)).startswith(b"query,shared@10,")


@pytest.mark.parametrize("suffix", ["jsonl", "tsv", "parquet.gz", "pdf", "html"])
def test_a_format_that_is_not_available_is_wrong_usage(
    suffix: str, tmp_path: Path, capfdbinary: Capture
) -> None:
    path = tmp_path / f"out.{suffix}"
    status, message = _failed(capfdbinary, "-o", str(path), PIXELS, PCA)

    assert status == 2
    assert f"cannot be written in the format of .{suffix.partition('.')[0]} files" in message
    assert not path.exists()


def test_a_missing_file_is_named(tmp_path: Path, capfdbinary: Capture) -> None:
    status, message = _failed(capfdbinary, PIXELS, str(tmp_path / "none.run"))

    assert status == 1
    assert "none.run: no such file or directory" in message


def test_the_output_is_not_written_if_the_runs_cannot_be_compared(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    output, run = tmp_path / "out.csv", tmp_path / "other.run"
    run.write_text("q Q0 a 1 2 x\n")

    status, message = _failed(capfdbinary, "-o", str(output), PIXELS, str(run))
    assert status == 1
    assert message == (
        "fastrank agree: the runs share no query: they have 200 queries ('q0000', 'q0001', 'q0002',"
        " ...) and 1 query ('q')\n"
    )
    assert not output.exists()


def test_the_name_of_the_output_file_determines_the_format(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    output = tmp_path / "out.csv"

    assert _printed(capfdbinary, "-o", str(output), PIXELS, PCA) == ""
    assert output.read_text() == fr.overlap(PIXELS, PCA).to_csv()


def test_the_best_system_is_the_first_of_measures_of_which_lower_values_are_better(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    """The best two change places, which weighs more than a change at the end."""
    rows = {"a": [(1, 2, 3, 4), (2, 1, 3, 4)], "b": [(1, 2, 3, 4), (1, 2, 4, 3)]}
    found = {}
    for name, both in rows.items():
        paths = []
        for place, ranks in enumerate(both):
            path = tmp_path / f"{name}{place}.csv"
            lines = [f"s{i},,FirstRank,{rank}" for i, rank in enumerate(ranks)]
            path.write_text("\n".join(["run,query,measure,value", *lines]) + "\n")
            paths.append(str(path))
        printed = _printed(capfdbinary, "--systems", "--format", "json", *paths)
        found[name] = json.loads(printed)[0]

    assert found["a"]["tau_b"] == found["b"]["tau_b"]
    assert found["a"]["tau_ap"] < found["b"]["tau_ap"]
    assert found["a"]["rbo"] < found["b"]["rbo"]
