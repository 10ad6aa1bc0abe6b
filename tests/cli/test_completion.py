"""The completions of the shells."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from fastrank.cli.completion import FOLDER, SHELLS
from fastrank.cli.main import COMMANDS
from fastrank.cli.trec_eval import LONG
from fastrank.measures.families import FAMILY_BY_NAME
from fastrank.measures.trec import BY_NAME, NICKNAMES
from tests.helpers.commands import flags_of, printed
from tests.helpers.paths import REPOSITORY

# Loads completions, and completes the last of the words that follow.
BASH = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
[[ $(complete -p "$1") =~ -F\ ([^ ]+) ]]
"${BASH_REMATCH[1]}" "$1" "${@: -1}" "${@: -2:1}"
printf '%s\n' "${COMPREPLY[@]}"
"""
CASES = [
    ("fastrank", "eva", {"eval", "eval-embeddings"}),
    ("fastrank", "eval --per", {"--per-query"}),
    ("fastrank", "eval -m all_", {"all_prefs", "all_trec"}),
    ("fastrank", "eval --format js", {"json", "jsonl"}),
    ("fastrank", "gate ch", {"check"}),
    ("fastrank", "gate check --max-", {"--max-drop", "--max-unjudged"}),
    ("fastrank", "help conv", {"convert"}),
    ("fastrank", "trec_eval -R qrels_", {"qrels_jg", "qrels_prefs"}),
    ("trec_eval", "--Rel", {"--Rel_info_format"}),
    ("trec_eval", "-m ndcg_", {"ndcg_cut", "ndcg_rel"}),
    ("trec_eval", "data/pix", {"data/pixels.run"}),
]


def shell(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, cwd=REPOSITORY, check=False)


def file(command: str, shell: str) -> Path:
    return Path(FOLDER, f"{command}.{shell}")


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(("command", "words", "expected"), CASES)
def test_bash_completes(command: str, words: str, expected: set[str]) -> None:
    found = shell("bash", "-c", BASH, "bash", file(command, "bash"), command, *words.split())

    assert found.stderr == ""
    assert {*found.stdout.split()} == expected


@pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
@pytest.mark.parametrize(("command", "words", "expected"), CASES)
def test_fish_completes(
    command: str, words: str, expected: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    program = f"source '{file(command, 'fish')}'; complete -C '{command} {words}'"

    found = shell("fish", "-c", program)

    assert found.stderr == ""
    assert {line.split("\t")[0] for line in found.stdout.splitlines()} == expected


@pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
@pytest.mark.parametrize("command", ["fastrank", "trec_eval"])
def test_zsh_registers_the_completions(command: str, tmp_path: Path) -> None:
    load = f"autoload -U compinit; compinit -D -d '{tmp_path}/dump'"
    program = f"{load}; eval \"$(<'{file(command, 'zsh')}')\"; print $_comps[$1]"

    found = shell("zsh", "-f", "-c", program, "zsh", command)

    assert (found.stdout, found.stderr) == (f"_shtab_{command}\n", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_all_commands_flags_and_measures_are_completed(shell: str) -> None:
    """If this fails, run docs/scripts/completions.py."""
    text = file("fastrank", shell).read_text()
    expected = {*COMMANDS, *BY_NAME, *NICKNAMES, *FAMILY_BY_NAME}
    for name in COMMANDS:
        if name != "trec_eval":
            expected |= {flag for flag in flags_of(name) if flag.startswith("--")}
    if shell == "fish":
        expected = {word.removeprefix("--") for word in expected}

    assert {word for word in expected if word not in text} == set()
    options = file("trec_eval", shell).read_text()
    assert [name for name in LONG if name not in options and name[0] != "O"] == []


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_completions_of_both_commands(shell: str) -> None:
    both = (file(command, shell).read_text() for command in ("fastrank", "trec_eval"))

    assert printed(f"completion {shell}") == "".join(both)
