"""The benchmarks: what they generate, measure, compare and write, each answer a right one."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pyperf
import pytest
import pytrec_eval

from bench import (
    cases,
    draw,
    expected,
    lines,
    manifest,
    memory,
    rows,
    run_report,
    speed_table,
    targets,
)
from bench.__main__ import main
from bench.driver import Job
from bench.errors import BenchError
from bench.libraries import LIBRARIES
from bench.memory import COMPAT
from bench.programs import ORIGINAL, OWN_TREC_EVAL, PASS, Program
from bench.rows import Row
from bench.tasks import ALL_TREC, BUILDING, BUILT, OFFICIAL, READ, START
from bench.timing import Limits, Subject
from tests.helpers.paths import DATA, REPOSITORY

SCALE = "0.001"
COMMANDS = Path(sys.executable).parent


def bench(*words: object) -> int:
    """The exit status of `python -m bench WORDS`, in this process."""
    return main([*map(str, words)])


@pytest.fixture(scope="module", autouse=True)
def _path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A PATH with our commands, the floors and nothing else."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("cat", "wc", "sleep"):
        (folder / name).symlink_to(shutil.which(name) or name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join([str(COMMANDS), str(folder)]))
        for name in ("NUMBA_DISABLE_JIT", "FASTRANK_ENGINE"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All cases at a thousandth of their size."""
    folder = tmp_path_factory.mktemp("generated")
    assert bench("generate", "--scale", SCALE, folder) == 0
    return folder


@pytest.fixture(scope="module")
def results(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is measured on one of the cases."""
    file = tmp_path_factory.mktemp("results") / "results.json"
    wanted = ["--cases=typical", "--tasks=evaluate official,read", "--peers=trec_eval,pytrec_eval"]
    with redirect_stdout(io.StringIO()) as printed:
        assert bench("run", generated, *wanted, "--rounds=1", "-o", file) == 0
    told = printed.getvalue()
    assert "target: typical, evaluate official, fastrank, 1 thread, at least 50 x" in told
    assert "(pytrec_eval stands in for trec_eval)" in told
    assert "trec_eval: absent: no trec_eval on the PATH; --peer names one" in told
    return file


ROW = """{
    "case": "typical", "task": "evaluate official", "program": "fastrank, 1 thread", "calls": 3,
    "cold": 3.0, "steady": 2.0, "best": 1.5, "peak_mb": 30.0, "baseline": "trec_eval",
    "speedup": 60.0, "floor": "wc -l", "to_floor": 3.0,
    "facts": {
        "seed": 1, "scale": 1.0, "queries": 1, "judgments": 2, "lines": 10, "bytes": 4000000,
        "cpu_count": 2, "platform": "S", "python": "P", "numpy": "2", "version": "1",
        "trec_eval_version": "9.0.8", "date": "2026-01-02 03:04:05"
    }
}"""


def row(**changes: Any) -> Row:
    """A row of results, made up."""
    return Row(**{**json.loads(ROW), **changes})


@pytest.mark.parametrize("name", cases.CASES)
def test_the_expected_answers_are_those_for_the_files(generated, name):
    stored = manifest.load(generated, cases.CASES[name])
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


def test_the_cases_are_what_they_are_called(generated):
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
    for judged in (10, 100, 1300):
        facts = manifest.load(generated, cases.CASES[f"pool-{judged}"]).manifest
        assert (facts.queries, facts.lines) == (50, 50_000)
        assert facts.judgments / facts.queries == pytest.approx(judged, rel=0.1)


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    texts = []
    for seed in ("5", "5", "6"):
        assert bench("generate", "--scale", SCALE, "--seed", seed, "--cases=uuid", tmp_path) == 0
        texts.append((tmp_path / "uuid/run").read_bytes() + (tmp_path / "uuid/qrels").read_bytes())

    assert texts[0] == texts[1] != texts[2]
    assert [path.name for path in tmp_path.iterdir()] == ["uuid"]


def test_portions_of_lines_join(monkeypatch):
    case = cases.CASES["scattered"]
    columns = draw.draw(case, 0.001, 1)
    whole = b"".join(lines.run_text(case, columns)), expected.compute(case, columns)

    monkeypatch.setattr(lines, "PORTION", 999)
    monkeypatch.setattr(expected, "PORTION", 2999)

    assert (b"".join(lines.run_text(case, columns)), expected.compute(case, columns)) == whole


def test_rows_are_complete_and_right(results):
    found = {own.key[1:]: own for own in rows.read([results])}

    assert len(found) == 5 + 1 + 3
    for own in found.values():
        assert (own.case, own.status, own.problem) == ("typical", "ok", "")
        assert own.cold > 0
        assert own.steady >= own.best > 0
        assert own.peak_mb > 1
        assert own.facts["lines"] == 7000
        assert own.facts["cpu_count"] > 0
    python = found[OFFICIAL, "fastrank.evaluate(run)"]
    assert python.baseline == "pytrec_eval"
    assert python.speedup > 0
    assert python.to_floor > 0
    assert found[READ, "fastrank.read_run"].calls == 3


def test_files_that_were_added_are_measured_from_memory_too(tmp_path, capsys):
    inputs, compressed, file = (tmp_path / name for name in ("inputs", "run.gz", "results.json"))
    compressed.write_bytes(gzip.compress((DATA / "pixels.run").read_bytes()))
    wanted = [f"--tasks={BUILT},{BUILDING}", "--peers=pytrec_eval", "--rounds=1", "-o", file]

    assert bench("add", inputs, "digits", DATA / "digits.qrels", compressed) == 0
    assert bench("run", inputs, *wanted) == 0

    told = f"target: digits, {BUILT}, {COMPAT}, at least 4 x pytrec_eval: "
    assert told in capsys.readouterr().out
    found = {own.key[1:]: own for own in rows.read([file])}
    assert {own.status for own in found.values()} == {"ok"}
    for task in (BUILT, BUILDING):
        assert found[task, COMPAT].baseline == "pytrec_eval"
        assert found[task, COMPAT].speedup > 0
    assert found[BUILT, memory.ARRAYS].facts["judgments"] == 37_428
    assert bench("table", file, file) == 0
    table = capsys.readouterr().out
    title = "dicts, `fastrank.compat.pytrec_eval`"
    assert f"| {title} | judged | evaluator built beforehand | building included |" in table
    assert "\n| digits | 187 | " in table
    assert "; files that were added." in table
    assert bench("run", inputs, "--trec-eval-version=10.0") == 2
    assert "digits: what was added is checked with" in capsys.readouterr().err


def test_arrays_of_integers_have_the_ids_in_their_order_as_texts():
    qrels = {"q": {"ä": 1, "b": 2}}
    judged, (ids, scores, queries) = memory.as_arrays(
        qrels, {"q": {"a": 0.5, "b": 0.25}, "r": {"ä": 1.0}}
    )

    assert queries == ["q", "r"]
    assert sorted(map(str, ids[0].tolist())) == [str(own) for own in sorted(ids[0].tolist())]
    a, b = ids[0].tolist()
    umlaut = ids[1, 0]
    assert str(a) < str(b) < str(umlaut)
    assert ids[1, 1] == -1
    assert scores.tolist() == [[0.5, 0.25], [1.0, 0.0]]
    assert judged == {"q": {umlaut: 1, b: 2}}


def test_what_a_wrong_answer_took_is_not_compared(generated, tmp_path, capsys):
    peer, file = tmp_path / "peer", tmp_path / "results.json"
    says = '[ "$1" = -v ] && echo "trec_eval version 9.0.8" && exit'
    peer.write_text(f'#!/bin/sh\n{says}\n"{COMMANDS}/trec_eval" "$@" && echo more\n')
    peer.chmod(0o700)
    options = ["--cases=sample", "--peers=trec_eval", "--peer", peer, "--rounds=1", "-o", file]

    assert bench("run", generated, *options) == 1

    printed = capsys.readouterr().out
    told = f"WRONG: {OWN_TREC_EVAL} on sample, start-up: not what trec_eval prints: line "
    assert printed.startswith(told)
    found = {own.program: own for own in rows.read([file])}
    assert found[OWN_TREC_EVAL].status == "wrong"
    assert found[OWN_TREC_EVAL].to_floor is None
    assert found[ORIGINAL].to_floor > 0
    assert found[PASS].status == "ok"
    assert f"target: sample, start-up, {OWN_TREC_EVAL}, at most 2 x {PASS}: not" in printed
    names = pyperf.BenchmarkSuite.load(str(file)).get_benchmark_names()
    assert f"sample, start-up, {OWN_TREC_EVAL} (wrong)" in names


def test_the_table_takes_its_place_in_a_page_and_nothing_else_changes(results, tmp_path, capsys):
    page = tmp_path / "speed.md"
    before, after = "# Title\r\n\nä ", "\n\nend, no newline"
    page.write_bytes(f"{before}{speed_table.BEGIN}\nold\n{speed_table.END}{after}".encode())

    for _ in range(2):
        assert bench("table", results, "--page", page) == 0
    text = page.read_bytes().decode()

    assert bench("table", results) == 0
    printed = capsys.readouterr().out
    assert text == f"{before}{speed_table.BEGIN}\n{printed}{speed_table.END}{after}"
    columns = "judged | MB | pytrec_eval | fastrank, 1 thread (starts Python)"
    assert f"| files, `-m official` | {columns} |" in text
    assert "| typical | 1.0 | 0.3 |" in text
    assert "old" not in text


@pytest.mark.parametrize("text", ["", speed_table.BEGIN, speed_table.END + speed_table.BEGIN])
def test_a_page_without_its_markers_is_left_alone(tmp_path, text):
    page = tmp_path / "speed.md"
    page.write_text(text)

    with pytest.raises(BenchError, match=r"speed\.md does not have the lines"):
        speed_table.replace(page, [row()])
    assert page.read_text() == text


def test_a_wrong_answer_is_shown_first_and_has_no_speedup():
    wrong = row(program="ranx", status="wrong", problem="map is 1", speedup=None)

    text = run_report.text([row(), wrong])

    assert text.startswith("WRONG: ranx on typical, evaluate official: map is 1\n")
    table = [line.split(" ")[0] for line in text.splitlines()]
    assert table.index("ranx") < table.index("fastrank,")
    assert "| wrong |" in speed_table.markdown([row(), wrong])


@pytest.mark.parametrize(
    ("does", "limit", "status", "problem"),
    [
        ("echo 'map\tall\t2'", 60, "wrong", "num_q is missing, expected 7"),
        ("exec sleep 60", 0.5, "timeout", "took longer than 0.5 s (--timeout)"),
        ("echo No >&2; exit 3", 60, "failed", "No"),
        ("exit 3", 60, "failed", "RuntimeError: "),  # what pyperf says
    ],
)
def test_a_command_that_is_wrong_or_slow_or_fails(
    generated, tmp_path, does, limit, status, problem
):
    program = Program(ORIGINAL, OFFICIAL, ["/bin/sh", "-c", does])
    stored = manifest.load(generated, cases.CASES["typical"])
    subject = Subject(program, stored.manifest, Limits(limit, 30), tmp_path)

    subject.first()

    assert subject.status == status
    assert subject.problem.startswith(problem)


def test_a_library_that_fails(generated, tmp_path):
    stored = manifest.load(generated, cases.CASES["typical"])
    job = Job("none", str(stored.run), OFFICIAL, "9.0.8", str(tmp_path / "answers"))
    words = job.words("fastrank.evaluate(run)")
    program = Program("fastrank", OFFICIAL, words, package=LIBRARIES["fastrank.evaluate(run)"])
    subject = Subject(program, stored.manifest, Limits(60, 30), tmp_path)

    subject.first()
    subject.again()

    assert subject.status == "failed"
    assert "none" in subject.problem
    assert rows.unmeasured(subject, stored).steady is None


def test_targets_are_met_missed_or_not_measured():
    found = targets.check([row(), row(task=ALL_TREC, speedup=3.5, baseline="pytrec_eval")])

    name = "target: typical, evaluate official, fastrank, 1 thread"
    assert f"{name}, at least 50 x trec_eval: 60.00, met" in found
    assert f"{name}, at most 100 MB of memory: 30.00, met" in found
    name = "target: typical, evaluate all_trec, fastrank, 1 thread, at least 40 x trec_eval"
    assert f"{name}: 3.50, not met (pytrec_eval stands in for trec_eval)" in found
    name = "target: typical, read, fastrank.read_run"
    assert f"{name}, at least 2 x polars: not measured" in found
    assert sum("not measured" in own for own in found) == len(found) - 3
    readers = [row(task=READ, program=name) for name in ("fastrank.read_run", "polars")]
    assert f"{name}, at least 2 x polars: 1.00, not met" in targets.check(readers)
    started = targets.check([row(case="sample", task=START, program=OWN_TREC_EVAL, floor=PASS)])
    assert started == [
        f"target: sample, start-up, {OWN_TREC_EVAL}, at most 2 x {PASS}: 3.00, not met"
    ]


def test_bad_input_is_told_in_one_line(generated, results, tmp_path, capsys):
    (tmp_path / "not.json").write_text("no\n")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "other.json").write_text('{"version": "1.0", "benchmarks": []}')
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe")
    run = pyperf.Run([1.0], metadata={"name": "x"}, collect_metadata=False)
    pyperf.Benchmark([run]).dump(str(tmp_path / "foreign.json"))
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
        ("generate", tmp_path / "not.json"): "File exists",
        ("generate", tmp_path, "--cases", "nonsense"): "no case 'nonsense'",
        ("add", empty, "typical", DATA / "digits.qrels", DATA / "pixels.run"): "cannot be the name",
        ("add", empty, "a/b", DATA / "digits.qrels", DATA / "pixels.run"): "cannot be the name",
        ("add", empty, "new", DATA / "pixels.run", DATA / "pixels.run"): "are not judgments and",
        ("add", empty, "new", tmp_path / "none", DATA / "pixels.run"): "No such file",
        **{
            ("table", tmp_path / name): "is not a file of results: "
            for name in ("not.json", "list.json", "other.json", "binary.json")
        },
        ("table", tmp_path / "foreign.json"): "x: not measured by `python -m bench run`",
        ("table", tmp_path / "none"): "no file",
        ("table", results, "--page", tmp_path / "none"): "no file",
    }
    for words, message in told.items():
        assert bench(*words) == 2, words
        error = capsys.readouterr().err
        assert message in error, words
        assert error.startswith("bench: ")
        assert error.count("\n") == 1


def test_a_full_disk_and_a_failure_leave_no_half_written_case(tmp_path, monkeypatch, capsys):
    words = ["generate", "--scale", SCALE, "--cases", "typical", tmp_path]

    def fail(*_: object) -> None:
        raise OSError("no more")

    with monkeypatch.context() as patched:
        patched.setattr(expected, "compute", fail)
        assert bench(*words) == 2
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 9, 0))
        assert bench(*words) == 2

    told = capsys.readouterr().err
    assert "bench: no more\n" in told
    assert "case typical needs 67 MB in" in told
    assert list(tmp_path.iterdir()) == []


def test_the_timed_kernels_and_functions_compute_the_right_values():
    words = ["-m", "pytest", "bench", "--benchmark-disable", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, *words],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    # 4 kernels; reading, official and all_trec for each of 15 cases; 74 for arrays and labels; 152
    # for dicts; 4 for embeddings; 5 for executors; 2 for web servers; 3 for MTEB's metrics. Where
    # they are installed, ranx has 16 more, MTEB 3, Dask 2, BEIR and sentence-transformers one each.
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert 289 <= int(passed[1]) <= 332
