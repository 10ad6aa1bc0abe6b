"""The recipes for clusters in docs/scale-out.md do what the page says."""

from __future__ import annotations

from pathlib import Path

import fastrank as fr
from tests.helpers.code_blocks import REPOSITORY, blocks_of, python, shell

BLOCKS = [block.text for block in blocks_of(REPOSITORY / "docs" / "scale-out.md")]
RUNS = ("pca.run", "pixels.run", "profile.run")


def _block(part: str) -> str:
    (found,) = (text for text in BLOCKS if part in text)
    return found


def test_the_tasks_of_a_slurm_array_evaluate_each_run_once(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(REPOSITORY / "data")

    array = shell(_block("SLURM_ARRAY_TASK_ID"), tmp_path)
    merged = shell(_block("-o all.csv"), tmp_path)

    assert (array.returncode, array.stderr) == (0, "")
    assert (tmp_path / "scores.jsonl").read_text().count('"values":') == len(RUNS)
    assert merged.stderr == "fastrank eval: 3 of 3 runs taken from scores.jsonl\n"
    names = set(fr.load_scores(tmp_path / "scores.jsonl"))
    assert names == {name.removesuffix(".run") for name in RUNS}


def test_the_function_for_spark_gives_the_values_of_compare(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(REPOSITORY / "data")

    printed = python(_block("applyInPandas"), tmp_path)

    runs = {name.removesuffix(".run"): REPOSITORY / "data" / name for name in RUNS}
    found = fr.compare(REPOSITORY / "data" / "digits.qrels", runs, "map P.10")
    assert printed == f"{found}\n"
