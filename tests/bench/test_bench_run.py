"""The benchmark of whole evaluations: what it generates, measures, compares and writes."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

from bench import (
    cases,
    draw,
    expected,
    lines,
    manifest,
    processes,
    rows,
    run_report,
    speed_table,
    targets,
)
from bench.__main__ import main
from bench.conversation import Conversation, EndedError
from bench.errors import BenchError
from bench.rows import Row
from tests.helpers.bench_commands import COMMANDS, run

SCALE = "0.001"


def bench(*words: str | Path, path: Any = COMMANDS) -> Any:
    return run("-m", "bench", *map(str, words), path=path)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with our commands, the floors and nothing else."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("cat", "wc", "sleep"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return os.pathsep.join([str(COMMANDS), str(folder)])


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All cases at a thousandth of their size."""
    folder = tmp_path_factory.mktemp("generated")
    assert main(["generate", "--scale", SCALE, str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def results(generated: Path, path: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is measured on two of the cases."""
    file = tmp_path_factory.mktemp("results") / "results.jsonl"
    wanted = ["--cases=typical,shuffled", "--peers=trec_eval,pytrec_eval"]
    done = bench("run", generated, *wanted, "--repeat=1", "-o", file, path=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "target: typical, evaluate official, fastrank, 1 thread, at least 50 x" in done.stdout
    assert "(pytrec_eval stands in for trec_eval)" in done.stdout
    return file


def row(**changes: Any) -> Row:
    """A row of results, made up."""
    fields: dict[str, Any] = {
        "case": "typical", "task": "evaluate official", "program": "fastrank, 1 thread",
        "version": "1", "status": "ok", "problem": "", "calls": 3, "cold": 3.0, "warm": None,
        "steady": 2.0, "best": 1.5, "peak_mb": 30.0, "mb_per_s": 100.0, "ns_per_line": 10.0,
        "baseline": "trec_eval", "speedup": 60.0, "to_wc": 3.0, "correct": True,
        "compat": "9.0.8", "time": "2026-01-02T03:04:05+00:00",
        "data": {
            "seed": 1, "scale": 1.0, "queries": 1, "lines": 10, "bytes": 4_000_000,
            "judgments": 1,
        },
        "machine": {
            "cpu": "C", "cores": 2, "load": 0.1, "system": "S", "python": "P", "fastrank": "1",
            "numpy": "2", "numba": "3",
        },
    }  # fmt: skip
    return Row(**{**fields, **changes})


@pytest.mark.parametrize("name", cases.CASES)
def test_the_expected_answers_are_those_for_the_files(generated: Path, name: str) -> None:
    stored = manifest.load(generated / name)
    text = stored.run.read_text()
    run = pytrec_eval.parse_run(text.splitlines())
    qrels = pytrec_eval.parse_qrel(stored.qrels.read_text().splitlines())

    assert stored.manifest.lines == text.count("\n") == sum(map(len, run.values()))
    assert stored.manifest.judgments == sum(map(len, qrels.values()))
    assert stored.manifest.doc_bytes == sum(len(doc) for docs in run.values() for doc in docs)
    total = sum(sum(docs.values()) for docs in run.values())
    assert stored.manifest.score_sum == pytest.approx(total, rel=1e-12)
    values = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.10", "recip_rank"})
    found = values.evaluate(run).values()
    for measure in ("map", "ndcg_cut_10", "recip_rank"):
        mean = sum(row[measure] for row in found) / len(found)
        assert stored.manifest.expected[measure] == pytest.approx(mean, rel=1e-12)
    assert 0 < stored.manifest.expected["map"] < 1


def test_the_cases_are_what_they_are_called(generated: Path) -> None:
    def fields(name: str) -> list[list[str]]:
        return [line.split(" ") for line in (generated / name / "run").read_text().splitlines()]

    typical = fields("typical")
    assert all(len(row) == 6 for row in typical)
    assert [row[3] for row in typical[:1000]] == [str(rank) for rank in range(1, 1001)]
    scores = [float(row[4]) for row in typical[:1000]]
    assert scores == sorted(scores, reverse=True)
    assert 5 < 1000 - len(set(scores)) < 80
    assert all(len(row[4].partition(".")[2]) == 6 for row in typical)
    seventeen = fields("17-digit")
    assert all(row[4] == repr(float(row[4])) for row in seventeen)
    assert Counter(len(row[4]) for row in seventeen).most_common(1)[0][0] > 16
    uuids = {row[2] for row in fields("uuid")}
    assert all(len(doc) == 36 and doc.count("-") == 4 for doc in uuids)
    assert len(uuids) == len({row[2] for row in typical})
    shuffled = fields("shuffled")
    assert shuffled != typical
    assert [row[0] for row in shuffled] == [row[0] for row in typical]
    assert sorted(shuffled) == sorted(typical) == sorted(fields("scattered"))
    assert len({row[0] for row in fields("scattered")[:100]}) > 3
    assert set(Counter(row[0] for row in fields("small-queries")).values()) == {5}
    assert len({row[0] for row in fields("huge-query")}) == 1
    qrels = (generated / "graded" / "qrels").read_text().split()
    assert {"0", "1", "2", "3"} == set(qrels[3::4])


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    texts = []
    for seed in ("5", "5", "6"):
        words = ["generate", "--scale", SCALE, "--seed", seed, "--cases", "uuid", str(tmp_path)]
        assert main(words) == 0
        texts.append((tmp_path / "uuid/run").read_bytes() + (tmp_path / "uuid/qrels").read_bytes())

    assert texts[0] == texts[1] != texts[2]
    assert [path.name for path in tmp_path.iterdir()] == ["uuid"]


def test_portions_of_lines_join(monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases.CASES["scattered"]
    columns = draw.draw(case, 0.001, 1)
    whole = b"".join(lines.run_text(case, columns)), expected.compute(case, columns)

    monkeypatch.setattr(lines, "PORTION", 999)
    monkeypatch.setattr(expected, "PORTION", 2999)

    assert (b"".join(lines.run_text(case, columns)), expected.compute(case, columns)) == whole


def test_rows_are_complete_and_right(results: Path) -> None:
    found = {own.key[1:]: own for own in rows.read(results) if own.case == "typical"}

    assert found["evaluate official", "trec_eval"].status == "absent"
    rest = {key: own for key, own in found.items() if key[1] != "trec_eval"}
    assert len(rest) == 2 * 5 + 1 + 3
    for own in rest.values():
        assert (own.status, own.correct, own.problem) == ("ok", True, "")
        assert own.cold > 0
        assert own.steady > 0
        assert own.peak_mb > 1
        assert own.mb_per_s > 0
        assert own.ns_per_line > 0
        assert own.data["lines"] == 7000
        assert own.machine["cpu"]
    python = found["evaluate official", "fastrank.evaluate(run)"]
    assert python.warm < python.cold
    assert python.baseline == "pytrec_eval"
    assert python.speedup > 0
    assert python.to_wc > 0


def test_a_file_compared_with_itself_and_with_a_wrong_one(results: Path, tmp_path: Path) -> None:
    same = bench("compare", results, results)
    worse = tmp_path / "worse.jsonl"
    first, *rest = rows.read(results)
    changed = row(**{**vars(first), "status": "wrong", "correct": False, "problem": "map is 1"})
    rows.write(worse, [changed, *rest[1:]])
    compared = bench("compare", results, worse)
    better = bench("compare", worse, results)

    assert same.returncode == 0, same.stderr
    assert " 1.000 " in same.stdout
    assert "only in" not in same.stdout
    assert compared.returncode == 1
    assert compared.stdout.startswith(f"WRONG in B: {', '.join(first.key)}: map is 1\n")
    assert f"only in A: {', '.join(rest[0].key)}" in compared.stdout
    assert better.returncode == 0


def test_the_table_takes_its_place_in_the_readme_and_nothing_else_changes(
    results: Path, tmp_path: Path
) -> None:
    readme = tmp_path / "README.md"
    before, after = "# Title\r\n\nä ", "\n\nend, no newline"
    readme.write_bytes(f"{before}{speed_table.BEGIN}\nold\n{speed_table.END}{after}".encode())

    for _ in range(2):
        done = bench("table", results, "--readme", readme)
        assert done.returncode == 0, done.stderr
    text = readme.read_bytes().decode()

    printed = bench("table", results).stdout
    assert text == f"{before}{speed_table.BEGIN}\n{printed}{speed_table.END}{after}"
    assert "| `-m official` | MB | fastrank, 1 thread |" in text
    assert "| typical | 0.3 |" in text
    assert "old" not in text


@pytest.mark.parametrize("text", ["", speed_table.BEGIN, speed_table.END + speed_table.BEGIN])
def test_a_readme_without_its_markers_is_left_alone(tmp_path: Path, text: str) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text)

    with pytest.raises(BenchError, match=r"README\.md does not have the lines"):
        speed_table.replace(readme, [row()])
    assert readme.read_text() == text


def test_a_wrong_answer_is_shown_first_and_has_no_speedup() -> None:
    wrong = row(program="ranx", status="wrong", correct=False, problem="map is 1", speedup=None)

    text = run_report.text([row(), wrong])

    assert text.startswith("WRONG: ranx on typical, evaluate official: map is 1\n")
    table = [line.split(" ")[0] for line in text.splitlines()]
    assert table.index("ranx") < table.index("fastrank,")
    assert "| wrong |" in speed_table.markdown([row(), wrong])


def test_a_peer_with_a_wrong_answer_a_slow_one_and_one_that_fails(
    generated: Path, path: str, tmp_path: Path
) -> None:
    peer = tmp_path / "peer"
    says = '#!/bin/sh\n[ "$1" = -v ] && echo "trec_eval version 8.1" && exit\n'
    found = {}
    for status, does in {
        "wrong": "echo 'map\tall\t2'", "timeout": "exec sleep 60", "failed": "echo No >&2; exit 3"
    }.items():  # fmt: skip
        peer.write_text(says + does)
        peer.chmod(0o700)
        options = ["--cases", "typical", "--tasks", "evaluate official", "--repeat=1"]
        file = tmp_path / "results.jsonl"
        limits = ["--timeout=2", "--peers=trec_eval", "--peer", peer, "-o", file]
        done = bench("run", generated, *options, *limits, path=path)
        assert done.returncode == 0, done.stderr
        found[status] = next(own for own in rows.read(file) if own.program == "trec_eval")

    assert {status: own.status for status, own in found.items()} == {x: x for x in found}
    assert found["wrong"].problem == "num_q is missing, expected 7"
    assert found["timeout"].problem == "took longer than 2 s (--timeout)"
    assert found["failed"].problem == "exit status 3: No"
    assert all(own.speedup is None for own in found.values())


@pytest.mark.parametrize(
    ("does", "timed_out", "told"),
    [
        ("import time; time.sleep(60)", True, "exit status -9"),
        ("raise ValueError('no')", False, "exit status 1: ValueError: no"),
        ("print('{}', flush=True); input(); raise SystemExit(7)", False, "exit status 7"),
    ],
)
def test_a_library_that_is_slow_or_fails(
    tmp_path: Path, does: str, timed_out: bool, told: str
) -> None:
    process = Conversation([sys.executable, "-c", does], dict(os.environ), tmp_path)

    def converse() -> None:
        process.answer(0.3 if timed_out else 60)
        process.ask()
        process.answer(60)

    with pytest.raises(EndedError):
        converse()
    finished = process.end()
    assert finished.timed_out == timed_out
    assert processes.failure(finished) == told
    assert process.end() is finished


def test_targets_are_met_missed_or_not_measured() -> None:
    found = {str(own) for own in targets.check([row(), row(task="evaluate all_trec", speedup=3.5)])}

    name = "target: typical, evaluate official, fastrank, 1 thread"
    assert f"{name}, at least 50 x trec_eval: 60.00, met" in found
    assert f"{name}, at most 100 MB of memory: 30.00, met" in found
    name = "target: typical, evaluate all_trec, fastrank, 1 thread"
    assert f"{name}, at least 40 x trec_eval: 3.50, not met" in found
    assert "target: typical, fastrank.read_run, at least 2 x polars: not measured" in found
    assert sum("not measured" in own for own in found) == len(found) - 3


def test_bad_input_is_told_in_one_line(
    generated: Path, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "not.jsonl").write_text("no\n")
    (tmp_path / "startup.jsonl").write_text('{"benchmark": "startup"}\n')
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe")
    old, cut, empty = (tmp_path / name for name in ("old", "cut", "empty"))
    empty.mkdir()
    for folder in (old, cut):
        shutil.copytree(generated / "typical", folder / "typical")
    (cut / "typical/run").write_bytes(b"1 Q0 a 1 1 x\n")
    fields = json.loads((old / "typical/manifest.json").read_text())
    (old / "typical/manifest.json").write_text(json.dumps({**fields, "format": 0}))
    told = {
        ("run", tmp_path / "none"): "no folder",
        ("run", empty): "no cases in",
        ("run", generated, "--cases", "nonsense"): "no case 'nonsense': there are typical,",
        ("run", generated, "--peers", "nonsense"): "no peer 'nonsense': there are trec_eval,",
        ("run", generated, "--peer", tmp_path / "none"): "not a trec_eval to run",
        ("run", generated, "-o", tmp_path): "Is a directory",
        ("run", old): "is not of format 1, which this version reads: generate the case again",
        ("run", cut): "has not the size that its manifest says",
        ("run", empty, "--cases", "typical"): "no case in",
        ("run", generated, "--tasks", "read,nonsense"): "no task 'nonsense'",
        ("generate", tmp_path / "not.jsonl"): "File exists",
        ("generate", tmp_path, "--cases", "nonsense"): "no case 'nonsense'",
        ("compare", results, tmp_path / "none"): "no file",
        ("compare", results, tmp_path / "not.jsonl"): "not.jsonl:1: not a result: not JSON",
        ("compare", results, tmp_path / "startup.jsonl"): "not a result of `python -m bench run`",
        ("compare", results, tmp_path / "empty.jsonl"): "has no results",
        ("compare", results, tmp_path / "binary.jsonl"): "not text",
        ("table", tmp_path / "none"): "no file",
        ("table", results, "--readme", tmp_path / "none"): "no file",
    }
    for words, message in told.items():
        assert main([str(word) for word in words]) == 2, words
        error = capsys.readouterr().err
        assert message in error, words
        assert error.startswith("bench: ")
        assert error.count("\n") == 1


def test_a_full_disk_and_a_failure_leave_no_half_written_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["generate", "--scale", SCALE, "--cases", "typical", str(tmp_path)]

    def fail(*_: object) -> None:
        raise OSError("no more")

    with monkeypatch.context() as patched:
        patched.setattr(expected, "compute", fail)
        assert main(words) == 2
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 9, 0))
        assert main(words) == 2

    told = capsys.readouterr().err
    assert "bench: no more\n" in told
    assert "case typical needs 67 MB in" in told
    assert list(tmp_path.iterdir()) == []


def test_what_measures_memory_does_not_hold_numpy() -> None:
    """Linux counts what the process that starts another one holds as that one's peak."""
    code = "import sys, bench.__main__; print({'numpy', 'pytrec_eval'} & set(sys.modules))"

    done = run("-c", code)

    assert done.stdout == "set()\n", done.stderr
