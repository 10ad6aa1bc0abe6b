"""Files written to URLs are those written to paths, and appear only when they are complete."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.formats import files, object_stores

ARGUMENTS = ["data/digits.qrels", "data/pca.run"]


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    store = fsspec.filesystem("memory")
    yield store
    store.store.clear()


def _raising(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize("name", ["x.run", "x.run.gz", "x.csv", "x.parquet"])
def test_a_run_is_written(
    name: str, atomic: bool, memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if atomic:
        monkeypatch.setattr(object_stores, "ATOMIC", ("memory",))
    run = fr.read_run("data/pca.run")
    fr.write_run(run, tmp_path / name)

    fr.write_run(run, f"memory://bucket/{name}")

    assert memory.ls("/bucket", detail=False) == [f"/bucket/{name}"]
    assert fr.read_run(f"memory://bucket/{name}").to_dict() == run.to_dict()


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "-q", *ARGUMENTS, "-o"],
        ["eval", "--format", "json", *ARGUMENTS, "-o"],
        ["compare", *ARGUMENTS, "data/pixels.run", "-o"],
        ["convert", "--format", "jsonl", "data/pca.run"],
    ],
)
def test_commands_write_to_urls(arguments: list[str], memory: Any, tmp_path: Path) -> None:
    assert main([*arguments, str(tmp_path / "x.txt")]) == 0
    assert main([*arguments, "memory://bucket/x.txt"]) == 0
    assert memory.cat_file("/bucket/x.txt") == (tmp_path / "x.txt").read_bytes()


def test_reports_and_plots_are_written(memory: Any) -> None:
    outputs = ["--plot", "memory://b/x.svg", "--report", "memory://b/x.html", "-m", "map"]
    assert main(["compare", *ARGUMENTS, "data/pixels.run", *outputs]) == 0
    assert memory.cat_file("/b/x.svg").startswith(b"<?xml")
    assert b"<html" in memory.cat_file("/b/x.html")


def test_baselines_of_gates_are_kept_in_a_store(memory: Any) -> None:
    url = "memory://b/baseline.jsonl"
    assert main(["gate", "save", *ARGUMENTS, "-m", "map", "-o", url]) == 0
    assert main(["gate", "check", url, *ARGUMENTS]) == 0


def test_indexes_are_saved_and_loaded(memory: Any) -> None:
    from fastrank.searching import build_index, read_index, write_index

    write_index(build_index([[1.0, 0.0], [0.0, 1.0]], ids=["a", "b"]), "memory://b/x.index")

    assert list(read_index("memory://b/x.index").ids) == [b"a", b"b"]


def test_nothing_is_written_if_the_content_fails(memory: Any) -> None:
    files.write("memory://b/x", [b"old"])

    def failing() -> Iterator[bytes]:
        yield b"new"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        files.write("memory://b/x", failing())

    assert memory.cat_file("/b/x") == b"old"
    assert memory.ls("/b", detail=False) == ["/b/x"]


@pytest.mark.parametrize("step", ["put_file", "mv"])
def test_a_failed_upload_leaves_the_old_content(
    step: str, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write("memory://b/x", [b"old"])

    error = OSError("quota of memory://user:secret@b/x?key exceeded")
    monkeypatch.setattr(type(memory), step, _raising(error))
    with pytest.raises(OSError, match="quota") as caught:
        files.write("memory://u:p@b/x", [b"new"])

    assert caught.value.strerror == "quota of memory://b/x exceeded"
    assert caught.value.filename == "memory://b/x"
    assert memory.cat_file("/b/x") == b"old"
    assert memory.ls("/b", detail=False) == ["/b/x"]


@pytest.mark.parametrize(
    "arguments", [["convert", "data/pca.run"], ["eval", *ARGUMENTS, "-o"]], ids=["convert", "eval"]
)
def test_a_command_names_the_file_whose_upload_fails(
    arguments: list[str], memory: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(type(memory), "put_file", _raising(RuntimeError("quota exceeded")))

    assert main([*arguments, "memory://u:p@b/x.csv"]) == 1
    assert capsys.readouterr().err == (
        f"fastrank {arguments[0]}: cannot write memory://b/x.csv: quota exceeded\n"
    )


def test_the_reason_has_the_first_two_lines_of_a_store_s_message(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As huggingface_hub says it.
    message = "404 Client Error.\n\nRepository Not Found for url: x.\nPlease make sure that ..."

    monkeypatch.setattr(type(memory), "put_file", _raising(RuntimeError(message)))
    with pytest.raises(OSError, match="404") as caught:
        files.write("memory://b/x", [b"new"])

    assert caught.value.strerror == "404 Client Error. Repository Not Found for url: x."


def test_web_servers_are_not_written_to(capsys: Any) -> None:
    assert main(["eval", *ARGUMENTS, "-o", "https://user:secret@host/x?key"]) == 1
    expected = "cannot write https://host/x: files on web servers can be read, but not written"
    assert capsys.readouterr().err == f"fastrank eval: {expected}\n"


def test_an_unknown_protocol_is_reported_before_the_evaluation(capsys: Any) -> None:
    assert main(["compare", "missing", "missing", "missing", "-o", "nowhere://x/y"]) == 1
    assert "cannot write nowhere://x/y: unknown protocol 'nowhere'" in capsys.readouterr().err


def test_command_lines_are_recorded_without_secrets(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe_file("/b/pca.run", Path("data/pca.run").read_bytes())
    words = ["gate", "save", ARGUMENTS[0], "memory://u:secret@b/pca.run", "-m", "map"]
    words += ["-o", "memory://b/x"]
    monkeypatch.setattr(sys, "argv", ["fastrank", *words])
    memory.pipe_file("/u:secret@b/pca.run", Path("data/pca.run").read_bytes())

    assert main(words) == 0

    assert b"pca.run" in memory.cat_file("/b/x")
    assert b"secret" not in memory.cat_file("/b/x")
