"""`fastrank eval --resume STORE`."""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.results_store.resuming import Resumed
from tests.helpers.paths import DATA
from tests.helpers.stores import rewrite

QRELS, PIXELS, PCA, PROFILE = (
    str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run", "profile.run")
)
MANY = 100
# What every line with values contains.
VALUES = b'"values":'
SOME = ("-m", "map P.10 ndcg")


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "fastrank", "eval", *map(str, arguments)]


def evaluate(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        status = main(["eval", *map(str, arguments)])
    printed = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess([], status, *printed)


def entries(store: Path) -> list[dict[str, object]]:
    """The lines with values; all lines must be whole."""
    lines = store.read_text().splitlines(keepends=True)
    assert all(line.endswith("\n") for line in lines)
    return [record for record in map(json.loads, lines) if "values" in record]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "scores.jsonl"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], str]:
    """Many runs, and what is printed for them."""
    folder = tmp_path_factory.mktemp("runs")
    lines = Path(PCA).read_text().splitlines(keepends=True)
    for number in range(MANY):
        kept = [line for row, line in enumerate(lines) if row % MANY != number]
        (folder / f"{number:03}.run").write_text("".join(kept))
    runs = sorted(map(str, folder.iterdir()))
    return runs, evaluate("-q", *SOME, QRELS, *runs).stdout


@pytest.mark.parametrize("form", ["trec", "table", "csv", "json", "jsonl", "markdown", "latex"])
def test_output_does_not_depend_on_which_runs_were_stored(form: str, store: Path) -> None:
    layout = ["-q", "-m", "official", "-m", "nDCG@10", "--format", form]
    expected = evaluate(*layout, QRELS, PIXELS, PCA, PROFILE)

    for runs, known in (([PCA], 0), ([PIXELS, PCA, PROFILE], 1), ([PIXELS, PCA, PROFILE], 3)):
        found = evaluate(*layout, "--resume", store, QRELS, *runs)

        assert found.returncode == 0
        taken = f"fastrank eval: {known} of {len(runs)} runs taken from {store}\n"
        assert found.stderr == (taken if known else "")
    assert found.stdout == expected.stdout
    assert len(entries(store)) == 3


def test_runs_in_the_store_are_not_evaluated_again(store: Path) -> None:
    evaluate("-m", "map", "--resume", store, QRELS, PCA)
    (entry,) = entries(store)
    rewrite(store, '"mean":{"map":0.3493', '"mean":{"map":0.9999')

    found = evaluate("-m", "map", "--resume", store, QRELS, PCA)

    assert entry["mean"] == {"map": 0.34933767225585727}
    assert found.stdout.splitlines()[1] == f"{'map':22}\tall\t0.9999"


def test_warnings_about_stored_runs_are_repeated(store: Path, tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text("q0000 Q0 strange 1 1 t\nunknown Q0 d 1 1 t\n")
    expected = evaluate("-m", "map", QRELS, run).stderr
    assert all(part in expected for part in ("199 of 200", "(unknown)", "no retrieved"))

    assert evaluate("-m", "map", "--resume", store, QRELS, run).stderr == expected
    assert evaluate("-m", "map", "--resume", store, QRELS, run).stderr == (
        f"{expected}fastrank eval: 1 of 1 run taken from {store}\n"
    )


def test_a_changed_run_is_evaluated_again(store: Path, tmp_path: Path) -> None:
    run = shutil.copy(PCA, tmp_path / "a.run")
    evaluate("-m", "map", "--resume", store, QRELS, run)
    # Of the same size, and with the same time of modification.
    state = os.stat(run)
    Path(run).write_text(Path(run).read_text().replace("q0001", "q9999"))
    os.utime(run, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert os.stat(run).st_size == state.st_size

    found = evaluate("-m", "map", "--resume", store, QRELS, run)

    assert found.stdout == evaluate("-m", "map", QRELS, run).stdout
    assert len(entries(store)) == 2
    assert fr.load_scores(store)["a"].mean == fr.evaluate(QRELS, run, "map").mean


def test_a_run_with_known_content_is_not_evaluated_again(store: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old.run", tmp_path / "new.run"
    shutil.copy(PCA, old)
    evaluate("-m", "map", "--resume", store, QRELS, old)
    os.rename(old, new)

    found = evaluate("-m", "map", "--resume", store, QRELS, new)

    assert found.stderr == f"fastrank eval: 1 of 1 run taken from {store}\n"
    assert found.stdout == evaluate("-m", "map", QRELS, new).stdout
    assert len(entries(store)) == 1
    assert list(fr.load_scores(store)) == ["old", "new"]


@pytest.mark.parametrize(
    "other",
    [
        ["-m", "map P.7"],
        ["-m", "map", "-l", "2"],
        ["-m", "map", "-M", "10"],
        ["-m", "AP"],
        ["-m", "map", "--trec-eval-version", "10.0"],
        ["-m", "map", "--exclude", "excluded"],
        ["-m", "iprec_at_recall.0.101"],
    ],
)
def test_other_measures_and_options_are_evaluated(
    other: list[str], store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("excluded").write_text("q0000 d0001\n")
    evaluate("-m", "map", "--resume", store, QRELS, PCA)
    # Its name is the same.
    evaluate("-m", "iprec_at_recall.0.102", "--resume", store, QRELS, PCA)

    found = evaluate(*other, "--resume", store, QRELS, PCA)

    assert (found.stdout, found.stderr) == (evaluate(*other, QRELS, PCA).stdout, "")


def test_excluded_documents_may_come_from_a_pipe(store: Path) -> None:
    first = Path(PCA).read_text().split()[2]
    evaluate("-m", "map", "--resume", store, QRELS, PCA)

    found = subprocess.run(
        command("-m", "map", "--exclude", "/dev/stdin", "--resume", store, QRELS, PCA),
        input=f"q0000 {first}\n", capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert "taken" not in found.stderr
    excluded = fr.evaluate(QRELS, PCA, "map", exclude={"q0000": [first]})
    (loaded,) = fr.load_scores(store, exclude={"q0000": [first]}).values()
    assert loaded.mean == excluded.mean


def test_other_judgments_are_evaluated_and_reordered_ones_are_the_same(
    store: Path, tmp_path: Path
) -> None:
    lines = Path(QRELS).read_text().splitlines(keepends=True)
    (tmp_path / "reordered").write_text("".join(reversed(lines)))
    (tmp_path / "other").write_text("".join(lines[:-1]))
    evaluate("-m", "map", "--resume", store, QRELS, PCA)

    same = evaluate("-m", "map", "--resume", store, tmp_path / "reordered", PCA)
    other = evaluate("-m", "map", "--resume", store, tmp_path / "other", PCA)

    assert "1 of 1 run taken" in same.stderr
    assert (other.stdout, other.stderr) == (
        evaluate("-m", "map", tmp_path / "other", PCA).stdout, ""
    )  # fmt: skip


def test_runs_that_fail_or_cause_a_warning_and_pipes_are_not_stored(
    store: Path, tmp_path: Path
) -> None:
    broken, ended = tmp_path / "broken", tmp_path / "ended"
    broken.write_text("5 Q0 d1\n")
    ended.write_bytes(Path(PCA).read_bytes() + b"\0 Q0 d 1 1 t\n")

    for _ in range(2):
        with open(PCA, "rb") as run:
            found = subprocess.run(
                ["sh", "-c", 'cat | "$@"', "sh",
                 *command("-m", "map", "--resume", store, QRELS, broken, ended, "/dev/stdin")],
                stdin=run, capture_output=True, text=True, check=False,
            )  # fmt: skip
        assert found.returncode == 1
        assert found.stdout.count("run ") == 2
        assert "1 of 3 runs could not be evaluated" in found.stderr
        assert "NUL byte" in found.stderr
    assert entries(store) == []


def test_an_unfinished_last_line_is_removed(store: Path) -> None:
    evaluate("-m", "map", "--resume", store, QRELS, PCA)
    evaluate("-m", "map", "--resume", store, QRELS, PIXELS)
    content = store.read_bytes()
    store.write_bytes(content[:-100])

    found = evaluate("-m", "map", "--resume", store, QRELS, PCA, PIXELS)

    assert found.stderr == (
        f"fastrank eval: {store}: removed the unfinished last line of a process that was killed\n"
        f"fastrank eval: 1 of 2 runs taken from {store}\n"
    )
    assert store.read_bytes() == content


def test_damaged_lines_are_ignored(store: Path) -> None:
    evaluate("-m", "map", "--resume", store, QRELS, PCA, PIXELS)
    description, pca, pixels = store.read_text().splitlines()
    escape = pca.replace('"file":"', '"file":"\\q')
    store.write_text("\n".join([description, pca[:50], escape, pixels[:-9], ""]))

    found = evaluate("-m", "map", "--resume", store, QRELS, PCA, PIXELS)

    assert found.stderr == (
        f"fastrank eval: {store}:2: ignored a damaged line (wrong checksum), and 2 more\n"
    )
    assert found.stdout == evaluate("-m", "map", QRELS, PCA, PIXELS).stdout


def test_changed_bytes_change_no_output(store: Path, tmp_path: Path) -> None:
    # The second is known by its content, and has no values of its own.
    runs = [shutil.copy(PCA, tmp_path / name) for name in ("a.run", "b.run")] + [PIXELS]
    for run in runs:
        evaluate("-m", "map P.10", "--resume", store, QRELS, run)
    whole, random = store.read_bytes(), Random(1)
    expected = evaluate("-q", "-m", "map P.10", QRELS, *runs).stdout
    for _ in range(15):
        content = bytearray(whole)
        for place in random.sample(range(len(content)), random.randint(1, 3)):
            # The first bytes say that the file is a store.
            content[max(place, 30)] ^= random.randint(1, 255)
        store.write_bytes(content)

        found = evaluate("-q", "-m", "map P.10", "--resume", store, QRELS, *runs)

        assert "damaged line" in found.stderr or "unfinished last" in found.stderr
        assert found.stdout == expected


def test_a_line_that_changes_after_it_was_read_is_not_used(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate("-m", "map", "--resume", store, QRELS, PCA)
    find = Resumed.find

    def find_and_damage(self: Resumed, path: str) -> object:
        found = find(self, path)
        store.write_text(store.read_text().replace('"mean":{"map":0', '"mean":{"map":9'))
        return found

    monkeypatch.setattr(Resumed, "find", find_and_damage)

    found = evaluate("-m", "map", "--resume", store, QRELS, PCA)

    assert found.stdout == evaluate("-m", "map", QRELS, PCA).stdout
    assert "the file changed while it was read" in found.stderr


def test_stores_can_be_concatenated(store: Path, tmp_path: Path) -> None:
    evaluate("-m", "map", "--resume", tmp_path / "a", QRELS, PCA)
    evaluate("-m", "map", "--resume", tmp_path / "b", QRELS, PIXELS)
    store.write_bytes((tmp_path / "a").read_bytes() + (tmp_path / "b").read_bytes())

    found = evaluate("-m", "map", "--resume", store, QRELS, PCA, PIXELS)

    assert found.stderr == f"fastrank eval: 2 of 2 runs taken from {store}\n"


def test_several_processes_may_write_at_the_same_time(
    store: Path, many: tuple[list[str], str]
) -> None:
    runs, expected = many
    parts = [runs[:60], runs[30:90], runs[50:], runs]

    processes = [
        subprocess.Popen(
            command("-q", *SOME, "--resume", store, QRELS, *part),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for part in parts
    ]

    printed = [process.communicate()[0].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(parts)
    assert printed[-1] == expected
    assert {entry["file"] for entry in entries(store)} == set(runs)
    found = evaluate("-q", *SOME, "--resume", store, QRELS, *runs)
    assert found.stdout == expected
    assert found.stderr == f"fastrank eval: {MANY} of {MANY} runs taken from {store}\n"


def test_a_killed_process_keeps_what_it_has_done(store: Path, many: tuple[list[str], str]) -> None:
    runs, expected = many
    for done in (10, 40):
        with subprocess.Popen(
            command("-q", *SOME, "--resume", store, QRELS, *runs), stdout=subprocess.DEVNULL
        ) as process:
            while not store.exists() or store.read_bytes().count(VALUES) < done:
                assert process.poll() is None
                time.sleep(0.001)
            process.kill()
    kept = len([line for line in store.read_bytes().split(b"\n")[:-1] if VALUES in line])

    found = evaluate("-q", *SOME, "--resume", store, QRELS, *runs)

    assert found.stdout == expected
    assert 40 <= kept <= MANY
    assert found.stderr.endswith(f"fastrank eval: {kept} of {MANY} runs taken from {store}\n")
    assert len(entries(store)) == MANY


def test_a_full_disk_leaves_the_output_and_whole_lines(store: Path) -> None:
    evaluate("-q", "--resume", store, QRELS, PCA)
    before = store.read_bytes()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 1000, len(before) + 1000))

    found = subprocess.run(
        command("-q", "--resume", store, QRELS, PCA, PIXELS, PROFILE),
        capture_output=True, text=True, check=False, preexec_fn=limit,
    )  # fmt: skip

    assert found.stdout == evaluate("-q", QRELS, PCA, PIXELS, PROFILE).stdout
    assert found.returncode == 1
    assert found.stderr == (
        f"fastrank eval: cannot write {store}: File too large; further scores are not stored\n"
        f"fastrank eval: 1 of 3 runs taken from {store}\n"
    )
    assert store.read_bytes() == before


def test_a_store_that_becomes_invalid_leaves_the_output(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate("-m", "map", "--resume", store, QRELS, PCA)
    find = Resumed.find

    def find_later(self: Resumed, path: str) -> object:
        with store.open("a") as file:
            file.write('{"schema":"fastrank.scores/2"}\n')
        return find(self, path)

    monkeypatch.setattr(Resumed, "find", find_later)

    found = evaluate("-m", "map", "--resume", store, QRELS, PCA, PIXELS)

    assert found.stdout == evaluate("-m", "map", QRELS, PCA, PIXELS).stdout
    assert found.returncode == 1
    assert found.stderr == (
        f"fastrank eval: {store}: fastrank.scores/2 is newer than this version of fastrank;"
        " upgrade it; further scores are not stored\n"
    )


def _fifo(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Path.mkdir, "is a directory"),
        (_fifo, "not a regular file"),
        (lambda path: path.write_text("q0000 Q0 d 1 1 t\n"), "not a store of"),
        (lambda path: path.write_text("no newline"), "not a store of"),
        (lambda path: path.write_text('{"map": 1}\n'), "not a store of"),
        (lambda path: path.write_text('{"schema": 1}\n'), "not a store of"),
        (lambda path: path.write_text('{"schema":"fastrank.scores/2"}\n'), "is newer than this"),
    ],
)
def test_a_file_that_is_no_store_is_an_error(make, message: str, store: Path) -> None:  # type: ignore[no-untyped-def]
    make(store)
    before = store.read_bytes() if store.is_file() else b""

    found = evaluate("--resume", store, QRELS, PCA)

    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"fastrank eval: {store}: ")
    assert message in found.stderr
    assert found.stderr.count("\n") == 1
    assert not store.is_file() or store.read_bytes() == before


def test_a_store_in_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    found = evaluate("--resume", tmp_path / "no" / "store", QRELS, PCA)

    assert found.returncode == 2
    assert found.stderr == f"fastrank eval: {tmp_path}/no/store: no such file or directory\n"


@pytest.mark.parametrize(
    ("store", "message"),
    [
        ("-", "--resume: expected a file, found standard output (-)"),
        (
            "s3://bucket/s.jsonl?key=1",
            "s3://bucket/s.jsonl: expected a local file, to which several processes may append",
        ),
    ],
)
def test_a_store_must_be_a_local_file(store: str, message: str) -> None:
    found = evaluate("--resume", store, QRELS, PCA)

    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == f"fastrank eval: {message}\n"


def test_the_output_file_cannot_be_the_store(store: Path) -> None:
    found = evaluate("--resume", store, "-o", store, QRELS, PCA)

    assert (found.returncode, store.exists()) == (2, False)
    assert found.stderr == (
        f"fastrank eval: --resume: expected another file than that of -o: {store}\n"
    )


def test_with_jobs_the_scores_are_the_same_and_are_stored(
    store: Path, many: tuple[list[str], str], tmp_path: Path
) -> None:
    runs, expected = many
    moved = shutil.copy(runs[5], tmp_path / "moved.run")
    broken = tmp_path / "broken.run"
    broken.write_text("5 Q0 d1\n")
    evaluate("-q", *SOME, "--resume", store, QRELS, *runs[:10])

    first = evaluate(
        "-q", *SOME, "--jobs", 2, "--resume", store, QRELS, *runs[:30], broken, moved, *runs[30:]
    )
    second = evaluate("-q", *SOME, "--jobs", 2, "--resume", store, QRELS, *runs)

    assert first.returncode == 1
    assert first.stdout == evaluate("-q", *SOME, QRELS, *runs[:30], moved, *runs[30:]).stdout
    assert f"11 of {MANY + 2} runs taken from {store}\n" in first.stderr
    assert "1 of 102 runs could not be evaluated" in first.stderr
    assert second.stdout == expected
    assert second.stderr == f"fastrank eval: {MANY} of {MANY} runs taken from {store}\n"
    assert len(entries(store)) == MANY


def test_with_jobs_damaged_entries_are_evaluated_again(store: Path) -> None:
    evaluate("-m", "map", "--resume", store, QRELS, PCA, PIXELS)
    store.write_text(store.read_text().replace('"mean":{"map":0', '"mean":{"map":9', 1))

    found = evaluate("-m", "map", "--jobs", 2, "--resume", store, QRELS, PIXELS, PCA, PROFILE)

    assert found.stdout == evaluate("-m", "map", QRELS, PIXELS, PCA, PROFILE).stdout
    assert found.stderr == (
        f"fastrank eval: {store}:2: ignored a damaged line (wrong checksum)\n"
        f"fastrank eval: 1 of 3 runs taken from {store}\n"
    )


def test_a_killed_process_with_jobs_keeps_what_it_has_done(
    store: Path, many: tuple[list[str], str]
) -> None:
    runs, expected = many
    with subprocess.Popen(
        command("-q", *SOME, "--jobs", 2, "--resume", store, QRELS, *runs),
        stdout=subprocess.DEVNULL, start_new_session=True,
    ) as process:  # fmt: skip
        while not store.exists() or store.read_bytes().count(VALUES) < 10:
            assert process.poll() is None
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGKILL)

    found = evaluate("-q", *SOME, "--resume", store, QRELS, *runs)

    assert found.stdout == expected
    assert len(entries(store)) == MANY
