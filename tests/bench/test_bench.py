"""The benchmarks run, and notice a wrong answer."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.helpers.bench_commands import run


def startup(
    folder: Path, *options: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, dict[str, Any]]]:
    """Run the start-up benchmark once through; its rows by command."""
    file = folder / "rows.jsonl"
    done = run("-m", "bench", "startup", "--runs=1", "--no-jit", f"--json={file}", *options)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return done, {row["command"]: row for row in rows}


def test_startup_measures_right_answers_and_does_not_take_our_command_for_a_peer(
    tmp_path: Path,
) -> None:
    done, rows = startup(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert list(rows) == ["python -c pass", "trec_eval", "fastrank trec_eval"]
    assert all(row["correct"] and row["ratio"] > 0 for row in rows.values())
    assert rows["python -c pass"]["ratio"] == 1
    assert "target: trec_eval at most 2.0 x `python -c pass`: generated: " in done.stdout


def test_a_wrong_answer_stands_first_and_has_no_ratio(tmp_path: Path) -> None:
    peer = tmp_path / "trec_eval"
    peer.write_text(
        '#!/bin/sh\n[ "$1" = -v ] && echo "trec_eval version 0" || echo "map\tall\t2"\n'
    )
    peer.chmod(0o700)

    done, rows = startup(tmp_path, f"--peer={peer}")

    assert done.returncode == 1
    assert done.stdout.startswith("WRONG: trec_eval on generated: line 1 is ")
    assert not rows["trec_eval"]["correct"]
    assert rows["trec_eval"]["ratio"] is None
    assert rows["peer"]["correct"]


def test_the_timed_kernels_and_functions_compute_the_right_values() -> None:
    done = run("-m", "pytest", "bench", "--benchmark-disable", "-q", "-p", "no:cacheprovider")

    assert done.returncode == 0, done.stdout + done.stderr
    # 4 kernels; reading, official and all_trec for each of 8 cases; 17 for arrays and labels; 12
    # for dicts, with ranx or without.
    assert "57 passed" in done.stdout or "63 passed" in done.stdout
