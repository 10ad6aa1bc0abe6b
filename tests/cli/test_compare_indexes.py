"""`fastrank compare-indexes`: what it prints and writes, and its exit status."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from fastrank.cli.main import main

pytest.importorskip("faiss")

INPUTS = ("--corpus", "corpus.npy", "--queries", "queries.npy")
COMMAND = ("compare-indexes", *INPUTS, "-k", "5")
IDS = ("--corpus-ids", "docs.txt", "--query-ids", "asked.txt", "--qrels", "qrels.txt")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Vectors, ids and judgments, where the command runs."""
    rng = np.random.default_rng(2)
    corpus = rng.standard_normal((300, 8))
    np.save(tmp_path / "corpus.npy", corpus)
    np.save(tmp_path / "queries.npy", corpus[:10] + 0.1 * rng.standard_normal((10, 8)))
    (tmp_path / "docs.txt").write_text("".join(f"doc{i}\n" for i in range(300)))
    (tmp_path / "asked.txt").write_text("".join(f"q{i}\n" for i in range(10)))
    (tmp_path / "qrels.txt").write_text("".join(f"q{i} 0 doc{i} 1\n" for i in range(10)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _files(folder: Path) -> set[str]:
    inputs = {"corpus.npy", "queries.npy", "docs.txt", "asked.txt", "qrels.txt"}
    return {path.name for path in folder.iterdir()} - inputs


def test_a_table_has_a_line_for_each_setting(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Under exact search, with recall, measures and their change, speed and size."""
    status = main(
        [
            "compare-indexes", *INPUTS, *IDS, "-k", "5", "--metric", "cosine", "-m", "Success@1",
            "IVF4,Flat nprobe=1 nprobe=4", "SQ8",
        ]
    )  # fmt: skip

    out, err = capfdbinary.readouterr()
    header, rule, *rows = out.decode().splitlines()
    assert (status, err) == (0, b"")
    assert header.split() == [
        "index", "recall@5", "Success@1", "Success@1", "change", "queries/s", "bytes", "build", "s",
    ]  # fmt: skip
    assert set(rule) == {"-", " "}
    assert [row.split("  ")[0] for row in rows] == [
        "exact", "IVF4,Flat nprobe=1", "IVF4,Flat nprobe=4", "SQ8",
    ]  # fmt: skip
    assert rows[0].split()[1:4] == ["1.0000", "1.0000", "0.0000"]
    assert rows[2].split()[2:5] == ["1.0000", "1.0000", "0.0000"]


def test_every_format_tells_the_same(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """JSON has more of it."""
    names = {}
    for form in ("csv", "json", "markdown", "latex"):
        assert (
            main(
                [
                    "compare-indexes",
                    *INPUTS,
                    "-k",
                    "5",
                    "--format",
                    form,
                    "--repetitions",
                    "1",
                    "SQ8",
                ]
            )
            == 0
        )
        names[form] = capfdbinary.readouterr().out.decode()

    assert [row["index"] for row in csv.DictReader(names["csv"].splitlines())] == ["exact", "SQ8"]
    assert [point["name"] for point in json.loads(names["json"])["points"]] == ["exact", "SQ8"]
    assert names["markdown"].startswith("| index")
    assert names["latex"].startswith("\\begin{tabular}")


def test_table_and_plot_go_into_files(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Nothing is printed then."""
    pytest.importorskip("matplotlib")
    status = main(
        [
            "compare-indexes",
            *INPUTS,
            "-k",
            "5",
            "-o",
            "out.csv",
            "--format",
            "csv",
            "--plot",
            "p.svg",
            "SQ8",
        ]
    )

    assert (status, capfdbinary.readouterr().out) == (0, b"")
    assert (folder / "out.csv").read_text().startswith("index,recall@5,queries/s,bytes,build s\n")
    assert b"<svg" in (folder / "p.svg").read_bytes()
    assert _files(folder) == {"out.csv", "p.svg"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*INPUTS, "IVF8,Flatt"), "index_factory: faiss cannot build 'IVF8,Flatt'"),
        ((*INPUTS, "SQ8 nprobe=3"), "indexes: 'SQ8 nprobe=3': nprobe=3: unknown parameter"),
        ((*INPUTS, "IVF400,Flat"), "'IVF400,Flat' needs at least 400 training vectors, found"),
        ((*INPUTS, "--plot", "p.jpg", "SQ8"), "plot: p.jpg: expected a suffix .png"),
        ((*INPUTS, "--plot", "./out.txt", "SQ8"), "--plot: ./out.txt is also the file of -o"),
        ((*INPUTS, *IDS, "-m", "mapp", "SQ8"), "unknown measure 'mapp'"),
        ((*INPUTS, "-m", "AP", "SQ8"), "--measure: requires --qrels"),
        ((*INPUTS, "-k", "0", "SQ8"), "k: expected 1 or more, found 0"),
        ((*INPUTS, "--corpus-ids", "asked.txt", "SQ8"), "corpus_ids: expected 300 ids"),
        ((*INPUTS, "--corpus-ids", "qrels.txt", "SQ8"), "qrels.txt:1: expected an id without"),
        ((*INPUTS, "--qrels", "none.txt", "SQ8"), "none.txt: no such file or directory"),
        (("--corpus", "none.npy", "--queries", "queries.npy", "SQ8"), "none.npy: no such file"),
        (("--corpus", "docs.txt", "--queries", "queries.npy", "SQ8"), "docs.txt: not a .npy file"),
    ],
)
def test_what_is_impossible_is_an_error_and_no_file(
    arguments: tuple[str, ...],
    message: str,
    folder: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """Status 2 for an impossible option or measure, 1 for a wrong input, and the reason."""
    wrong_input = "corpus_ids" in message or ".txt:" in message or ".npy:" in message
    assert main(["compare-indexes", "-o", "out.txt", *arguments]) == (1 if wrong_input else 2)

    out, err = capfdbinary.readouterr()
    assert out == b""
    assert message in err.decode()
    assert err.startswith(b"fastrank compare-indexes: ")
    assert _files(folder) == set()


def test_the_file_of_an_index_has_a_row(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    search = ["search", *INPUTS, "--index-factory", "HNSW8,efConstruction=200", "-o", "x.run"]
    assert main([*search, "-k", "5", "--save-index", "my docs.index"]) == 0

    rows = ["my docs.index efSearch=3 efSearch=64", "HNSW8,efConstruction=200 efSearch=64"]
    status = main([*COMMAND, *rows, "--format", "csv"])

    found = list(csv.DictReader(capsysbinary.readouterr().out.decode().splitlines()))
    assert status == 0
    assert [row["index"] for row in found] == [
        "exact", "my docs.index efSearch=3", "my docs.index efSearch=64",
        "HNSW8,efConstruction=200 efSearch=64",
    ]  # fmt: skip
    assert [row["build s"] == "-" for row in found] == [False, True, True, False]
    assert found[2]["recall@5"] == found[3]["recall@5"]


def test_an_interrupt_leaves_files_as_they_were(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the midst of the work, with the status of a shell."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fastrank.embeddings.index_benchmark._Runner.time", interrupted)
    (folder / "out.txt").write_text("old")

    status = main([*COMMAND, "-o", "out.txt", "--plot", "p.svg", "SQ8"])

    assert status == 130
    assert (folder / "out.txt").read_text() == "old"
    assert _files(folder) == {"out.txt"}


@pytest.mark.parametrize("option", ["-o", "--plot"])
def test_a_folder_that_is_not_there_is_named_before_the_work(
    option: str, folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Status 1."""
    status = main([*COMMAND, option, "none/out.svg", "SQ8"])

    expected = b"fastrank compare-indexes: cannot write none/out.svg: No such file or directory\n"
    assert (status, capfdbinary.readouterr().err) == (1, expected)


def test_a_file_that_cannot_be_written_is_named(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Status 1."""
    (folder / "out.txt").mkdir()

    status = main([*COMMAND, "-o", "out.txt", "--repetitions", "1", "SQ8"])

    assert status == 1
    assert b"fastrank compare-indexes: cannot write out.txt: " in capfdbinary.readouterr().err


def test_the_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    """And says what the columns mean."""
    with pytest.raises(SystemExit):
        main(["compare-indexes", "--help"])

    text = capsys.readouterr().out
    assert "examples:\n  fastrank compare-indexes --corpus C.npy" in text
    assert "recall@k   the share of the exact top k" in text


def test_a_cutoff_above_k_is_reported_once(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND, *IDS, "-m", "nDCG@10", "--repetitions", "1", "SQ8", "HNSW8"]) == 0

    assert capfd.readouterr().err == (
        "fastrank compare-indexes: k=5 is below the cutoff of nDCG@10, which counts the ranks after"
        " 5 as not relevant\n"
    )
