"""Judgments and runs in TREC's format as dicts, read by plain Python."""

from __future__ import annotations

import gzip
from pathlib import Path

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
_GZIP = b"\x1f\x8b"


def content(path: Path) -> bytes:
    """What a file holds, decompressed if it is compressed with gzip."""
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(_GZIP) else data


def parse_qrels(data: bytes) -> Qrels:
    """{query: {document: grade}}."""
    qrels: Qrels = {}
    for line in data.decode().splitlines():
        query, _, doc, grade = line.split()
        qrels.setdefault(query, {})[doc] = int(grade)
    return qrels


def parse_run(data: bytes) -> Run:
    """{query: {document: score}}."""
    run: Run = {}
    for line in data.decode().splitlines():
        query, _, doc, _, score, _ = line.split()
        run.setdefault(query, {})[doc] = float(score)
    return run
