"""The help of the commands, and what they say about misspelled commands and flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastrank.cli.main import COMMANDS, main
from fastrank.cli.parser import EXAMPLES

GATE = ["gate save", "gate check"]


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    try:
        status = main(["help", *command.split()])
    except SystemExit as end:
        status = end.code
    assert status == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ["", *COMMANDS, *GATE])
@pytest.mark.parametrize("columns", ["80", "200"])
def test_help_fits_80_columns(
    command: str, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    lines = help_of(command, capsys).splitlines()

    assert len(lines) > 10
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize(
    "command", ["", *(name for name in COMMANDS if name != "trec_eval"), *GATE]
)
def test_help_fits_narrow_terminals_except_for_what_cannot_be_split(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")

    text = help_of(command, capsys)

    prose = [
        line
        for block in text.split("\n\n")
        if not block.startswith(EXAMPLES)
        for line in block.splitlines()
        if not line.lstrip().startswith("--") and not line.endswith(":")
    ]
    assert [line for line in prose if len(line) > 60] == []


def test_narrow_help_has_the_words_of_wide_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for columns in ("80", "60"):
        monkeypatch.setenv("COLUMNS", columns)
        texts.append(help_of("gate check", capsys).split())

    assert texts[0] == texts[1]


def test_an_item_that_is_wrapped_keeps_its_column(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")

    assert (
        "  drop          fail if a mean is worse by more than\n"
        "                --max-drop\n"
        "  non-inferior  fail unless the confidence bound of the\n"
        "                change excludes a drop of more than\n"
        "                --max-drop\n"
    ) in help_of("gate check", capsys)


@pytest.mark.parametrize("words", [["help"], ["--help"], ["-h"], ["help", "help"]])
def test_help_lists_the_commands(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)

    assert end.value.code == 0
    found = capsys.readouterr().out.split()
    assert [name for name in COMMANDS if name not in found] == []


def test_help_of_a_command_is_that_of_its_flag(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["gate", "check", "--help"])
    expected = capsys.readouterr().out

    assert help_of("gate check", capsys) == expected


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("evl", "did you mean `fastrank eval`?"),
        ("help evl", "did you mean `fastrank eval`?"),
        ("hepl", "did you mean `fastrank help`?"),
        ("validate qrels", "did you mean `fastrank check`?"),
    ],
)
def test_a_misspelled_command_names_the_closest(
    words: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--vers", "unknown option --vers; did you mean --version?"),
        ("eval --thread 1 qrels run", "unknown option --thread; did you mean --threads?"),
        ("search --k 10", "unknown option --k; did you mean -k?"),
        ("fuse -k 10 a.run b.run", "unknown option -k; did you mean --rrf-k?"),
        ("fuse --to csv a.run b.run", "unknown option --to; did you mean --format?"),
        ("convert --from csv a b", "unknown option --from; did you mean --input-format?"),
        ("explain -q q1 qrels run", "unknown option -q; did you mean --query?"),
        ("compare --kind scatter", "unknown option --kind; did you mean --plot-kind?"),
        ("probe --test films.csv", "unknown option --test; did you mean --test-rows?"),
        ("eval -f csv qrels run", "unknown option -f; did you mean --format?"),
        ("compare -f csv qrels run", "unknown option -f; did you mean --format?"),
        ("eval -k 3 qrels run", "unknown option -k; did you mean --depth?"),
        ("eval --thread=1", "unknown option --thread; did you mean --threads?"),
        ("eval --per_query qrels run", "unknown option --per_query; did you mean --per-query?"),
        ("check --xyzzy qrels", "unknown option --xyzzy"),
        ("gate check --max-dro 1", "unknown option --max-dro; did you mean --max-drop?"),
        ("gate --hepl check", "unknown option --hepl; did you mean --help?"),
    ],
)
def test_an_abbreviated_or_misspelled_flag_names_the_closest(
    words: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(words.split())

    assert end.value.code == 2
    assert capsys.readouterr().err.endswith(f": error: {error}\n")


def test_what_follows_two_hyphens_is_no_flag(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q 0 d 1\n")
    Path("--thread").write_text("q Q0 d 1 1 t\n")

    assert main(["check", "--", "qrels", "--thread"]) == 0
