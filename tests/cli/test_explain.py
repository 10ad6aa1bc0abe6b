"""`fastrank explain`: what it prints and writes, and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

import fastrank as fr
from fastrank.cli.main import main
from tests.helpers.paths import DATA

QRELS, PROFILE, PCA = (str(DATA / name) for name in ("digits.qrels", "profile.run", "pca.run"))
Capture = pytest.CaptureFixture[bytes]


def test_the_explanation_is_printed(capfdbinary: Capture) -> None:
    status = main(["explain", "-m", "map", "-m", "P.5", "--query", "q0004", QRELS, PROFILE])

    out, err = capfdbinary.readouterr()
    assert (status, err) == (0, b"")
    assert out.decode() == f"{fr.explain(QRELS, PROFILE, 'map P.5', query='q0004')}\n"


def test_options_apply(capfdbinary: Capture) -> None:
    options = ["-l", "2", "--ties", "docno_asc", "--depth", "50", "--rows", "3"]
    main(["explain", *options, "--query", "q0004", "--other", PCA, QRELS, PROFILE])

    expected = fr.explain(
        QRELS, PROFILE, query="q0004", other=PCA, rows=3, relevance_level=2, ties="docno_asc",
        depth=50,
    )  # fmt: skip
    assert capfdbinary.readouterr().out.decode() == f"{expected}\n"


@pytest.mark.parametrize(
    ("suffix", "start"), [("html", "<!DOCTYPE html>"), ("md", "q0004: 166 judged")]
)
def test_the_format_follows_the_name_of_the_file(suffix: str, start: str, tmp_path: Path) -> None:
    path = tmp_path / f"q.{suffix}"

    assert main(["explain", "--query", "q0004", "-o", str(path), QRELS, PROFILE]) == 0

    assert path.read_text().startswith(start)


def test_documents_are_explained_one_by_one(capfdbinary: Capture) -> None:
    asked = ["--document", "d0097", "--document", "d0014"]
    status = main(["explain", "-m", "P.5", *asked, "--query", "q0004", QRELS, PROFILE])

    assert status == 0
    assert capfdbinary.readouterr().out.decode().splitlines() == [
        "d0097: grade 2, score -118",
        "  P_5: rank 12, below the cutoff 5",
        "d0014: grade 2",
        "  P_5: not retrieved",
    ]


def test_the_values_of_another_tool_are_explained(tmp_path: Path, capfdbinary: Capture) -> None:
    path = tmp_path / "trec_eval.txt"
    path.write_text(fr.evaluate(QRELS, PROFILE, "map", depth=10).to_trec(per_query=True))

    status = main(["explain", "--against", str(path), QRELS, PROFILE])

    out = capfdbinary.readouterr().out.decode()
    assert status == 0
    assert "ours 0.3447. Reproduced to 4 decimals by depth=10" in out


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--query", "q004", QRELS, PROFILE], 1, "did you mean 'q0004'?"),
        (["--query", "q0004", "-m", "F1", QRELS, PROFILE], 2, "explain supports map, "),
        (
            ["--query", "q0004", "--ties", "average", QRELS, PROFILE],
            2,
            "ties: 'average' is over all",
        ),
        (
            ["--query", "q0004", "--document", "d00", QRELS, PROFILE],
            2,
            "neither retrieved nor judged",
        ),
        (["--against", "no.txt", QRELS, PROFILE], 1, "no.txt: no such file or directory"),
        (
            ["--against", "x", "--other", PCA, QRELS, PROFILE],
            2,
            "--other: no effect with --against",
        ),
        (["--query", "q0004", QRELS, "missing.run"], 1, "missing.run: no such file or directory"),
        (
            ["--query", "q0004", "--documents", "no.jsonl", QRELS, PROFILE],
            1,
            "no.jsonl: no such file",
        ),
    ],
)
def test_wrong_input_is_an_error(
    arguments: list[str], status: int, message: str, tmp_path: Path, capfdbinary: Capture
) -> None:
    path = tmp_path / "out.html"

    assert main(["explain", *arguments, "-o", str(path)]) == status

    out, err = capfdbinary.readouterr()
    assert out == b""
    assert err.startswith(b"fastrank explain: ")
    assert message in err.decode()
    assert not path.exists()


def test_another_run_needs_no_query(capfdbinary: Capture) -> None:
    status = main(["explain", "-m", "map", "--other", PCA, QRELS, PROFILE])

    out, err = capfdbinary.readouterr()
    assert (status, err) == (0, b"")
    assert out.decode() == f"{fr.explain(QRELS, PROFILE, 'map', other=PCA)}\n"


def test_a_note_names_the_flag_that_counts_missing_queries(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\np 0 a 1\n")
    (tmp_path / "run").write_text("p Q0 a 1 1 x\n")

    main(["explain", "-m", "map", "--query", "q", str(tmp_path / "qrels"), str(tmp_path / "run")])

    assert b"(--missing zero counts it as 0)" in capfdbinary.readouterr().out
