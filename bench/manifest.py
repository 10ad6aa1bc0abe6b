"""A case on disk: two files, and a manifest that says what they are."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.cases import Case
from bench.errors import BenchError, NotFoundError

FORMAT = 1
NAME = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What a case is made of, and the right answers. Files that were added have no seed.

    score_sum and doc_bytes, the sum of the scores and the total length of the document ids on all
    lines, tell whether a reader got every line. `expected` holds values over all queries.
    """

    case: str
    seed: int | None
    scale: float
    queries: int
    lines: int
    bytes: int
    judgments: int
    score_sum: float
    doc_bytes: int
    expected: dict[str, float]
    versions: dict[str, str]

    def write(self, folder: Path) -> None:
        """Write the manifest into a case's folder."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1)
        (folder / NAME).write_text(text + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Stored:
    """A case that was generated or added before."""

    case: Case
    manifest: Manifest
    qrels: Path
    run: Path


def load(folder: Path, case: Case) -> Stored:
    """A case in a folder of cases; raises NotFoundError or BenchError where it is not whole."""
    folder = folder.resolve() / case.name
    path = folder / NAME
    again = "generate the case again"
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFoundError(f"no case in {folder}: python -m bench generate makes it") from None
    except ValueError:
        raise BenchError(f"{path} is not JSON: {again}") from None
    if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
        raise BenchError(f"{path} is not of format {FORMAT}, which this version reads: {again}")
    try:
        manifest = Manifest(**fields)
    except TypeError as error:
        raise BenchError(f"{path}: {error}: {again}") from None
    stored = Stored(case, manifest, folder / "qrels", folder / "run")
    for file in (stored.qrels, stored.run):
        if not file.is_file():
            raise NotFoundError(f"no file {file}: {again}")
    if stored.run.stat().st_size != manifest.bytes:
        raise BenchError(f"{stored.run} has not the size that its manifest says: {again}")
    return stored
