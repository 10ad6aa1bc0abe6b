"""The completions of the shells, in real ones where these are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fastrank.cli.completion import COMPLETED, EPILOG, SHELLS
from fastrank.cli.main import COMMANDS
from fastrank.cli.trec_eval import LONG
from fastrank.core.measures.families import FAMILY_BY_NAME
from fastrank.core.measures.trec import BY_NAME, NICKNAMES
from tests.helpers.commands import fastrank, flags_of, printed

shtab = pytest.importorskip("shtab")

# Loads completions, and completes the last of the words that follow.
BASH = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
[[ $(complete -p "$1") =~ -F\ ([^ ]+) ]]
"${BASH_REMATCH[1]}" "$1" "${@: -1}" "${@: -2:1}"
printf '%s\n' "${COMPREPLY[@]}"
"""
# Types the words into an interactive zsh, which reads the completions from a folder.
ZSH = """
import os, pty, select, sys, time
folder, words = sys.argv[1:]
process, terminal = pty.fork()
if process == 0:
    os.environ |= {"TERM": "dumb", "HOME": folder, "ZDOTDIR": folder, "PS1": "> "}
    os.execlp("zsh", "zsh", "-i")

def shown(wanted, seconds=20):
    text, end = "", time.time() + seconds
    while wanted not in text and time.time() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            text += os.read(terminal, 65536).decode(errors="replace")
    return text

shown("ready>")
os.write(terminal, f"{words}\\t".encode())
os.write(terminal, b" # end\\r")
print(shown("# end"))
os.write(terminal, b"exit\\r")
os.close(terminal)
"""
CASES = [
    ("fastrank", "eva", {"eval", "eval-embeddings"}),
    ("fastrank", "eval --per-", {"--per-query"}),
    ("fastrank", "eval -m all_", {"all_prefs", "all_trec"}),
    ("fastrank", "eval --format js", {"json", "jsonl"}),
    ("fastrank", "gate ch", {"check"}),
    ("fastrank", "gate check --max-", {"--max-drop", "--max-unjudged"}),
    ("fastrank", "help conv", {"convert"}),
    ("fastrank", "trec_eval -R qrels_", {"qrels_jg", "qrels_prefs"}),
    ("fastrank-eval", "gate ch", {"check"}),
    ("trec_eval", "--Rel", {"--Rel_info_format"}),
    ("trec_eval", "-m ndcg_", {"ndcg_cut", "ndcg_rel"}),
    ("trec_eval", "pix", {"pixels.run"}),
]


def shell(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture
def file(folder: Path) -> Path:
    return folder / "completions"


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(("command", "words", "expected"), CASES)
def test_bash_completes(command, words, expected, file):
    file.write_text(printed(f"completion bash {command}"))

    found = shell("bash", "-c", BASH, "bash", file, command, *words.split())

    assert found.stderr == ""
    assert {*found.stdout.split()} == expected


@pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
@pytest.mark.parametrize(("command", "words", "expected"), CASES)
def test_fish_completes(command, words, expected, file, monkeypatch):
    monkeypatch.setenv("HOME", str(file.parent))
    file.write_text(printed(f"completion fish {command}"))

    found = shell("fish", "-c", f"source '{file}'; complete -C '{command} {words}'")

    assert found.stderr == ""
    assert {line.split("\t")[0] for line in found.stdout.splitlines()} == expected


@pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
@pytest.mark.parametrize(
    ("command", "words", "expected"), [case for case in CASES if len(case[2]) == 1]
)
def test_zsh_completes(command, words, expected, folder):
    (folder / f"_{command}").write_text(printed(f"completion zsh {command}"))
    start = "fpath+=$ZDOTDIR; autoload -U compinit; compinit -D -u; setopt interactivecomments"
    (folder / ".zshrc").write_text(f"{start}; PS1='ready> '\n")

    found = shell(sys.executable, "-c", ZSH, folder, f"{command} {words}")

    assert next(iter(expected)) in found.stdout


@pytest.mark.skipif(not shutil.which("tcsh"), reason="needs tcsh")
@pytest.mark.parametrize("command", COMPLETED)
def test_tcsh_reads_the_completions(command, file):
    file.write_text(printed(f"completion tcsh {command}"))

    found = shell("tcsh", "-f", "-c", f"source {file}; complete {command}")

    assert (found.stderr, bool(found.stdout)) == ("", True)


@pytest.mark.parametrize("shell", SHELLS)
def test_all_commands_flags_and_measures_are_completed(shell):
    text = printed(f"completion {shell}")
    expected = {*COMMANDS, *BY_NAME, *NICKNAMES, *FAMILY_BY_NAME}
    for name in COMMANDS:
        if name != "trec_eval":
            expected |= {flag for flag in flags_of(name) if flag.startswith("--")}
    options = {*LONG} - {"Output_old_results_format"}
    if shell in ("fish", "tcsh"):
        expected = {word.removeprefix("--") for word in expected}

    assert {word for word in expected if word not in text} == set()
    of_trec_eval = printed(f"completion {shell} trec_eval")
    assert {name for name in options if name not in of_trec_eval} == set()


def test_a_shell_that_an_older_shtab_lacks_is_named(monkeypatch):
    monkeypatch.setattr(shtab, "SUPPORTED_SHELLS", ["bash"])

    found = fastrank("completion fish")

    assert (found.status, found.out) == (2, "")
    assert f"SHELL: shtab {shtab.__version__} has no fish; update it" in found.err


def test_the_lines_of_the_help_print_completions():
    lines = re.findall(r"^  fastrank (completion \w+) > ", EPILOG, re.MULTILINE)

    assert [line.split()[-1] for line in lines] == [*SHELLS]
    assert all(map(printed, lines))
