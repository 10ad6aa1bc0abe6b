"""Files written to URLs are those written to paths, and appear only when they are complete."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.core.formats.files import files, remote
from fastrank.searching import build_index, read_index, write_index

FILES = "data/digits.qrels data/pca.run"


def raising(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize("atomic", [("memory",), remote.ATOMIC])
@pytest.mark.parametrize("name", ["x.run", "x.run.gz", "x.csv", "x.parquet"])
def test_a_run_is_written(name, atomic, memory, monkeypatch):
    monkeypatch.setattr(remote, "ATOMIC", atomic)
    run = fr.read_run("data/pca.run")
    fr.write_run(run, f"memory://bucket/{name}")
    assert memory.ls("/bucket", detail=False) == [f"/bucket/{name}"]
    assert fr.read_run(f"memory://bucket/{name}").to_dict() == run.to_dict()


@pytest.mark.parametrize(
    "arguments",
    [
        f"eval -q {FILES} -o",
        f"eval --format json {FILES} -o",
        f"compare {FILES} data/pixels.run -o",
        "convert --format jsonl data/pca.run",
    ],
)
def test_commands_write_to_urls(arguments, memory, tmp_path):
    assert main([*arguments.split(), str(tmp_path / "x.txt")]) == 0
    assert main([*arguments.split(), "memory://bucket/x.txt"]) == 0
    assert memory.cat_file("/bucket/x.txt") == (tmp_path / "x.txt").read_bytes()


def test_reports_and_plots_are_written(memory):
    outputs = "--plot memory://b/x.svg --report memory://b/x.html -m map"
    assert main(f"compare {FILES} data/pixels.run {outputs}".split()) == 0
    assert memory.cat_file("/b/x.svg").startswith(b"<?xml")
    assert b"<html" in memory.cat_file("/b/x.html")


def test_baselines_and_indexes_are_kept_in_a_store(memory):
    assert main(f"gate save {FILES} -m map -o memory://b/baseline.jsonl".split()) == 0
    assert main(f"gate check memory://b/baseline.jsonl {FILES}".split()) == 0
    write_index(build_index([[1.0, 0.0], [0.0, 1.0]], ids=["a", "b"]), "memory://b/x.index")
    assert list(read_index("memory://b/x.index").ids) == [b"a", b"b"]


# Failure


@pytest.fixture
def old(memory: Any) -> Iterator[str]:
    """A file in a store, which is there afterwards, and alone."""
    files.write("memory://b/x", [b"old"])
    yield "memory://u:p@b/x"
    assert memory.cat_file("/b/x") == b"old"
    assert memory.ls("/b", detail=False) == ["/b/x"]


def test_nothing_is_written_if_the_content_fails(old):
    def failing() -> Iterator[bytes]:
        yield b"new"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        files.write(old, failing())


# As huggingface_hub says it; the first two lines are the reason.
LONG = "404 Client Error.\n\nRepository Not Found for url: x.\nPlease make sure that ..."


@pytest.mark.parametrize("step", ["put_file", "mv"])
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError("of memory://user:secret@b/x?key exceeded"), "of memory://b/x exceeded"),
        (RuntimeError(LONG), "404 Client Error. Repository Not Found for url: x."),
    ],
)
def test_a_failed_upload_leaves_the_old_content(step, error, reason, old, memory, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(type(memory), step, raising(error))
        with pytest.raises(OSError, match=re.escape(reason)) as caught:
            files.write(old, [b"new"])
    assert caught.value.strerror == reason
    assert caught.value.filename == "memory://b/x"


@pytest.mark.parametrize("arguments", ["convert data/pca.run", f"eval {FILES} -o"])
def test_a_command_names_the_file_whose_upload_fails(arguments, memory, monkeypatch, capsys):
    monkeypatch.setattr(type(memory), "put_file", raising(RuntimeError("quota exceeded")))
    assert main([*arguments.split(), "memory://u:p@b/x.csv"]) == 1
    expected = "cannot write memory://b/x.csv: quota exceeded\n"
    assert capsys.readouterr().err == f"fastrank {arguments.split()[0]}: {expected}"


def test_web_servers_are_not_written_to(capsys):
    assert main(f"eval {FILES} -o https://user:secret@host/x?key".split()) == 1
    expected = "cannot write https://host/x: files on web servers can be read, but not written"
    assert capsys.readouterr().err == f"fastrank eval: {expected}\n"


def test_an_unknown_protocol_is_reported_before_the_evaluation(capsys):
    assert main(["compare", "missing", "missing", "missing", "-o", "nowhere://x/y"]) == 1
    assert "cannot write nowhere://x/y: unknown protocol 'nowhere'" in capsys.readouterr().err


def test_command_lines_are_recorded_without_secrets(memory, monkeypatch):
    for path in ("/b/pca.run", "/u:secret@b/pca.run"):
        memory.pipe_file(path, Path("data/pca.run").read_bytes())
    run = "memory://u:secret@b/pca.run"
    words = f"gate save data/digits.qrels {run} -m map -o memory://b/x".split()
    monkeypatch.setattr(sys, "argv", ["fastrank", *words])
    assert main(words) == 0
    assert b"pca.run" in memory.cat_file("/b/x")
    assert b"secret" not in memory.cat_file("/b/x")
