"""Data sets to test with."""

from __future__ import annotations

import json

import pytest

from tests.helpers import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


COLLECTIONS = paths.SHARED / "data" / "collections"
needs_collections = pytest.mark.skipif(
    not COLLECTIONS.is_dir(), reason="the shared collections are not here"
)


def beir_folder(folder: Path, pack: Callable[[bytes], bytes] = bytes, ending: str = "") -> Path:
    corpus = [
        {"_id": "d1", "title": "Red", "text": "apples", "metadata": {}},
        {"_id": "d2", "title": "", "text": "blue plums", "metadata": {}},
    ]
    queries = [{"_id": "q1", "text": "apples"}, {"_id": "train", "text": "of another split"}]
    (folder / "qrels").mkdir()
    for name, rows in (("corpus", corpus), ("queries", queries)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl{ending}").write_bytes(pack(lines.encode()))
    qrels = b"query-id\tcorpus-id\tscore\nq1\td1\t1\n"
    (folder / "qrels" / f"test.tsv{ending}").write_bytes(pack(qrels))
    return folder
