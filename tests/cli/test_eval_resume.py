"""`fastrank eval --resume STORE`."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import time
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

import fastrank as fr
from fastrank.results_store.resuming import Resumed
from tests.helpers.commands import (
    FILES,
    PCA,
    PIXELS,
    PROFILE,
    QRELS,
    Done,
    assert_refused,
    fastrank,
    printed,
    process,
    words_of,
    write,
)
from tests.helpers.paths import DATA
from tests.helpers.stores import rewrite

MANY = 60
# What every line with values contains.
VALUES = b'"values":'
STORE = Path("scores.jsonl")
ONE, TWO = f"{QRELS} {PCA}", f"{QRELS} {PCA} {PIXELS}"


def resumed(arguments: str, *more: object) -> Done:
    """What `fastrank eval --resume STORE` does."""
    return fastrank(f"eval --resume {STORE} {arguments}", *more)


def taken(known: int, runs: int) -> str:
    return f"fastrank eval: {known} of {runs} run{'s' * (runs > 1)} taken from {STORE}\n"


def entries() -> list[dict[str, object]]:
    """The lines with values; all lines must be whole."""
    lines = STORE.read_text().splitlines(keepends=True)
    assert all(line.endswith("\n") for line in lines)
    return [record for record in map(json.loads, lines) if "values" in record]


class Many(NamedTuple):
    """Many runs: what evaluates them, their paths, and what is printed for them."""

    options: str
    runs: list[str]
    expected: str


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Many:
    folder = tmp_path_factory.mktemp("runs")
    queries = tuple(f"q{number:04} " for number in range(50))
    for name in (QRELS, PCA):
        lines = (DATA / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(line for line in lines if line.startswith(queries)))
    lines = (folder / PCA).read_text().splitlines(keepends=True)
    for number in range(MANY):
        kept = [line for row, line in enumerate(lines) if row % MANY != number]
        (folder / f"{number:03}.run").write_text("".join(kept))
    runs = sorted(map(str, folder.glob("0*.run")))
    options = f"-q -m 'map P.10 ndcg' {folder / QRELS}"
    return Many(options, runs, printed(f"eval {options}", *runs))


@pytest.mark.parametrize("form", ["trec", "table", "json"])
def test_output_does_not_depend_on_which_runs_were_stored(form: str) -> None:
    layout = f"-q -m official -m nDCG@10 --format {form}"
    expected = fastrank(f"eval {layout} {FILES}").out

    for files, known, runs in ((ONE, 0, 1), (FILES, 1, 3), (FILES, 3, 3)):
        found = resumed(f"{layout} {files}")

        assert (found.status, found.err) == (0, taken(known, runs) if known else "")
    assert found.out == expected
    assert len(entries()) == 3


def test_runs_in_the_store_are_not_evaluated_again() -> None:
    resumed(f"-m map {ONE}")
    (entry,) = entries()
    rewrite(STORE, '"mean":{"map":0.3493', '"mean":{"map":0.9999')

    found = resumed(f"-m map {ONE}")

    assert entry["mean"] == {"map": 0.34933767225585727}
    assert found.out.splitlines()[1] == f"{'map':22}\tall\t0.9999"


def test_warnings_about_stored_runs_are_repeated() -> None:
    write({"a.run": "q0000 Q0 strange 1 1 t\nunknown Q0 d 1 1 t\n"})
    expected = fastrank(f"eval -m map {QRELS} a.run").err
    assert all(part in expected for part in ("199 of 200", "(unknown)", "no retrieved"))

    assert resumed(f"-m map {QRELS} a.run").err == expected
    assert resumed(f"-m map {QRELS} a.run").err == expected + taken(1, 1)


def test_a_changed_run_is_evaluated_again() -> None:
    run = Path(shutil.copy(PCA, "a.run"))
    resumed(f"-m map {QRELS} a.run")
    # Of the same size, and with the same time of modification.
    state = run.stat()
    run.write_text(run.read_text().replace("q0001", "q9999"))
    os.utime(run, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert run.stat().st_size == state.st_size

    found = resumed(f"-m map {QRELS} a.run")

    assert found.out == fastrank(f"eval -m map {QRELS} a.run").out
    assert len(entries()) == 2
    assert fr.load_scores(STORE)["a"].mean == fr.evaluate(QRELS, run, "map").mean


def test_a_run_with_known_content_is_not_evaluated_again() -> None:
    shutil.copy(PCA, "old.run")
    resumed(f"-m map {QRELS} old.run")
    os.rename("old.run", "new.run")

    found = resumed(f"-m map {QRELS} new.run")

    assert found == Done(0, printed(f"eval -m map {QRELS} new.run"), taken(1, 1))
    assert len(entries()) == 1
    assert list(fr.load_scores(STORE)) == ["old", "new"]


@pytest.mark.parametrize(
    "other",
    [
        "-m 'map P.7'",
        "-m map -l 2",
        "-m map -M 10",
        "-m AP",
        "-m map --trec-eval-version 10.0",
        "-m map --exclude excluded",
        "-m iprec_at_recall.0.101",
    ],
)
def test_other_measures_and_options_are_evaluated(other: str) -> None:
    write({"excluded": "q0000 d0001\n"})
    resumed(f"-m map {ONE}")
    # Its name is the same.
    resumed(f"-m iprec_at_recall.0.102 {ONE}")

    assert resumed(f"{other} {ONE}") == fastrank(f"eval {other} {ONE}")


def test_excluded_documents_may_come_from_a_pipe() -> None:
    first = Path(PCA).read_text().split()[2]
    resumed(f"-m map {ONE}")

    line = f"eval -m map --exclude /dev/stdin --resume {STORE} {ONE}"
    found = process(line, input=f"q0000 {first}\n")

    assert found.status == 0
    assert "taken" not in found.err
    excluded = fr.evaluate(QRELS, PCA, "map", exclude={"q0000": [first]})
    (loaded,) = fr.load_scores(STORE, exclude={"q0000": [first]}).values()
    assert loaded.mean == excluded.mean


def test_other_judgments_are_evaluated_and_reordered_ones_are_the_same() -> None:
    lines = Path(QRELS).read_text().splitlines(keepends=True)
    write({"reordered": "".join(reversed(lines)), "other": "".join(lines[:-1])})
    resumed(f"-m map {ONE}")

    assert resumed(f"-m map reordered {PCA}").err == taken(1, 1)
    assert resumed(f"-m map other {PCA}") == fastrank(f"eval -m map other {PCA}")


def test_runs_that_fail_or_cause_a_warning_and_pipes_are_not_stored() -> None:
    write({"broken": "5 Q0 d1\n", "ended": Path(PCA).read_bytes() + b"\0 Q0 d 1 1 t\n"})
    words = words_of(f"eval -m map --resume {STORE} {QRELS} broken ended /dev/stdin")

    for _ in range(2):
        with open(PCA, "rb") as run:
            found = subprocess.run(
                ["sh", "-c", 'cat | "$@"', "sh", *words], stdin=run, capture_output=True, text=True
            )
        assert found.returncode == 1
        assert found.stdout.count("run ") == 2
        assert "1 of 3 runs could not be evaluated" in found.stderr
        assert "NUL byte" in found.stderr
    assert entries() == []


def test_an_unfinished_last_line_is_removed() -> None:
    resumed(f"-m map {ONE}")
    resumed(f"-m map {QRELS} {PIXELS}")
    content = STORE.read_bytes()
    STORE.write_bytes(content[:-100])

    found = resumed(f"-m map {TWO}")

    told = f"{STORE}: removed the unfinished last line of a process that was killed"
    assert found.err == f"fastrank eval: {told}\n{taken(1, 2)}"
    assert STORE.read_bytes() == content


def test_a_changed_byte_is_an_error_that_names_the_line_and_changes_no_output() -> None:
    # The second is known by its content, and has no values of its own.
    for run in ("a.run", "b.run"):
        shutil.copy(PCA, run)
    runs = ["a.run", "b.run", PIXELS]
    options = f"-q -m 'map P.10' {QRELS}"
    for run in runs:
        resumed(options, run)
    whole, random = STORE.read_bytes(), Random(1)
    ends = list(accumulate(map(len, whole.splitlines(keepends=True))))
    for _ in range(15):
        # The first bytes say that the file is a store.
        place = random.randrange(30, len(whole) - 1)
        content = bytearray(whole)
        content[place] ^= random.randint(1, 255)
        STORE.write_bytes(content)

        found = resumed(options, *runs)

        line = bisect_right(ends, place) + 1
        told = f"{STORE}:{line}: damaged (wrong checksum); remove the line"
        assert (found.status, found.out) == (2, "")
        assert told in found.err or "is newer than this version" in found.err
        assert STORE.read_bytes() == content


def test_a_line_that_changes_after_it_was_read_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resumed(f"-m map {ONE}")
    find = Resumed.find

    def find_and_damage(self: Resumed, path: str) -> object:
        found = find(self, path)
        STORE.write_text(STORE.read_text().replace('"mean":{"map":0', '"mean":{"map":9'))
        return found

    monkeypatch.setattr(Resumed, "find", find_and_damage)

    found = resumed(f"-m map {ONE}")

    assert found.out == printed(f"eval -m map {ONE}")
    assert f"{STORE}:1: damaged (wrong checksum)" in found.err


def test_a_store_that_becomes_invalid_leaves_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    resumed(f"-m map {ONE}")
    find = Resumed.find

    def find_later(self: Resumed, path: str) -> object:
        STORE.write_text(STORE.read_text() + '{"schema":"fastrank.scores/2"}\n')
        return find(self, path)

    monkeypatch.setattr(Resumed, "find", find_later)

    assert resumed(f"-m map {TWO}") == Done(
        1,
        printed(f"eval -m map {TWO}"),
        f"fastrank eval: {STORE}: fastrank.scores/2 is newer than this version of fastrank;"
        " upgrade it; further scores are not stored\n",
    )


def test_stores_can_be_concatenated() -> None:
    printed(f"eval -m map --resume a {ONE} -o x")
    printed(f"eval -m map --resume b {QRELS} {PIXELS} -o x")
    write({str(STORE): Path("a").read_bytes() + Path("b").read_bytes()})

    assert resumed(f"-m map {TWO}").err == taken(2, 2)


def test_several_processes_may_write_at_the_same_time(many: Many) -> None:
    runs = many.runs
    processes = [
        subprocess.Popen(
            words_of(f"eval --resume {STORE} {many.options}", *part),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for part in (runs[:40], runs[20:], runs)
    ]

    shown = [one.communicate()[0].decode() for one in processes]

    assert [one.returncode for one in processes] == [0] * 3
    assert shown[-1] == many.expected
    assert {entry["file"] for entry in entries()} == set(runs)
    assert resumed(many.options, *runs) == Done(0, many.expected, taken(MANY, MANY))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_process_keeps_what_it_has_done(jobs: int, many: Many) -> None:
    line = f"eval --jobs {jobs} --resume {STORE} {many.options}"
    for done in (10, 30):
        with subprocess.Popen(
            words_of(line, *many.runs), stdout=subprocess.DEVNULL, start_new_session=True
        ) as command:
            while not STORE.exists() or STORE.read_bytes().count(VALUES) < done:
                assert command.poll() is None
                time.sleep(0.001)
            os.killpg(command.pid, signal.SIGKILL)
    kept = len([line for line in STORE.read_bytes().split(b"\n")[:-1] if VALUES in line])

    found = resumed(many.options, *many.runs)

    assert found.out == many.expected
    assert 30 <= kept <= MANY
    assert found.err.endswith(taken(kept, MANY))
    assert len(entries()) == MANY


def test_a_full_disk_leaves_the_output_and_whole_lines() -> None:
    resumed(f"-q {ONE}")
    before = STORE.read_bytes()
    files = f"{QRELS} {PCA} {PIXELS} {PROFILE}"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 1000, len(before) + 1000))

    found = process(f"eval -q --resume {STORE} {files}", preexec_fn=limit)

    told = f"cannot write {STORE}: File too large; further scores are not stored"
    expected = printed(f"eval -q {files}")
    assert found == Done(1, expected, f"fastrank eval: {told}\n{taken(1, 3)}")
    assert STORE.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("folder", "...is a directory..."),
        ("fifo", "...not a regular file..."),
        ("q0000 Q0 d 1 1 t\n", "...not a store of..."),
        ("no newline", "...not a store of..."),
        ('{"map": 1}\n', "...not a store of..."),
        ('{"schema": 1}\n', "...not a store of..."),
        ('{"schema":"fastrank.scores/2"}\n', "...is newer than this..."),
    ],
)
def test_a_file_that_is_no_store_is_an_error(content: str, message: str) -> None:
    if content == "folder":
        STORE.mkdir()
    elif content == "fifo":
        os.mkfifo(STORE)
    else:
        STORE.write_text(content)

    assert_refused(f"eval --resume {STORE} {ONE}", f"2 {STORE}: {message}")

    assert not STORE.is_file() or STORE.read_text() == content


def test_with_jobs_the_scores_are_the_same_and_are_stored(many: Many) -> None:
    runs = many.runs
    shutil.copy(runs[5], "moved.run")
    write({"broken.run": "5 Q0 d1\n"})
    resumed(many.options, *runs[:10])

    more = [*runs[:30], "broken.run", "moved.run", *runs[30:]]
    first = resumed(f"--jobs 2 {many.options}", *more)
    second = resumed(f"--jobs 2 {many.options}", *runs)

    more.remove("broken.run")
    assert (first.status, first.out) == (1, printed(f"eval {many.options}", *more))
    assert taken(11, MANY + 2) in first.err
    assert f"1 of {MANY + 2} runs could not be evaluated" in first.err
    assert second == Done(0, many.expected, taken(MANY, MANY))
    assert len(entries()) == MANY
