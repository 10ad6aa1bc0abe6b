"""Write the files of cases, with the expected answers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from bench import commands, expected
from bench.cases import Case
from bench.errors import BenchError
from bench.manifest import Manifest

# Room to leave on the disk, for judgments and for others.
SPARE = 64 << 20


def generate(folder: Path, cases: list[Case], scale: float, seed: int) -> None:
    """Write the cases, one folder each; one that is there already is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        _check_space(folder, case, scale)
        part = folder / f".{case.name}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            made = _write(part, case, scale, seed)
            shutil.rmtree(folder / case.name, ignore_errors=True)
            part.rename(folder / case.name)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        print(
            f"{case.name}: {made.queries} queries, {made.lines} lines, {made.bytes / 1e6:.1f} MB,"
            f" {made.judgments} judgments, map {made.expected['map']:.4f}",
            flush=True,
        )


def _check_space(folder: Path, case: Case, scale: float) -> None:
    needed, free = case.bytes(scale) + SPARE, shutil.disk_usage(folder).free
    if needed > free:
        raise BenchError(
            f"case {case.name} needs {needed / 1e6:.0f} MB in {folder},"
            f" {free / 1e6:.0f} MB are free"
        )


def _write(folder: Path, case: Case, scale: float, seed: int) -> Manifest:
    # Only what generates needs numpy.
    from bench import draw, lines

    columns = draw.draw(case, scale, seed)
    size = _write_file(folder / "run", lines.run_text(case, columns))
    _write_file(folder / "qrels", lines.qrels_text(case, columns))
    made = Manifest(
        case=case.name,
        seed=seed,
        scale=scale,
        queries=len(columns.queries),
        lines=len(columns.lines),
        bytes=size,
        judgments=len(columns.judged),
        score_sum=float(columns.scores.sum()),
        doc_bytes=lines.doc_bytes(case, columns.docs.ravel()),
        expected=expected.compute(case, columns),
        versions={
            name: commands.version(name)
            for name in ("fastrank-eval", "numpy", "numba", "pytrec_eval-terrier")
        },
    )
    made.write(folder)
    return made


def _write_file(path: Path, portions: Iterable[bytes]) -> int:
    with path.open("wb") as file:
        for portion in portions:
            file.write(portion)
    return os.path.getsize(path)
