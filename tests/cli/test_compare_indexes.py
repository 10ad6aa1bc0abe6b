"""`fastrank compare-indexes`: its table, its files, and what it notes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.commands import fastrank, printed, write

pytest.importorskip("faiss")

VECTORS = "--corpus corpus.npy --queries queries.npy"
IDS = "--corpus-ids docs.txt --query-ids asked.txt --qrels qrels.txt"
COMMAND = f"compare-indexes {VECTORS} -k 5"


@pytest.fixture(autouse=True)
def _inputs(folder: Path) -> None:
    """Vectors, ids and judgments."""
    rng = np.random.default_rng(2)
    corpus = rng.standard_normal((300, 8))
    np.save("corpus.npy", corpus)
    np.save("queries.npy", corpus[:10] + 0.1 * rng.standard_normal((10, 8)))
    write({"docs.txt": "".join(f"doc{i}\n" for i in range(300))})
    write({"asked.txt": "".join(f"q{i}\n" for i in range(10))})
    write({"qrels.txt": "".join(f"q{i} 0 doc{i} 1\n" for i in range(10))})


def test_a_table_has_a_line_for_each_setting():
    settings = "'IVF4,Flat nprobe=1 nprobe=4' SQ8"
    found = printed(f"{COMMAND} {IDS} --metric cosine -m Success@1 {settings}")

    header, rule, *rows = found.splitlines()
    assert " ".join(header.split()) == (
        "index recall@5 Success@1 Success@1 change queries/s bytes build s"
    )
    assert set(rule) == {"-", " "}
    names = ["exact", "IVF4,Flat nprobe=1", "IVF4,Flat nprobe=4", "SQ8"]
    assert [row.split("  ")[0] for row in rows] == names
    assert rows[0].split()[1:4] == ["1.0000", "1.0000", "0.0000"]
    assert rows[2].split()[2:5] == ["1.0000", "1.0000", "0.0000"]


def test_every_format_tells_the_same():
    text = {
        form: printed(f"{COMMAND} --format {form} --repetitions 1 SQ8")
        for form in ("csv", "json", "markdown", "latex")
    }

    assert [row["index"] for row in csv.DictReader(text["csv"].splitlines())] == ["exact", "SQ8"]
    assert [point["name"] for point in json.loads(text["json"])["points"]] == ["exact", "SQ8"]
    assert text["markdown"].startswith("| index")
    assert text["latex"].startswith("\\begin{tabular}")


def test_the_file_of_an_index_has_a_row():
    factory = "HNSW8,efConstruction=200"
    saved = "--save-index 'my docs.index'"
    assert fastrank(f"search {VECTORS} -k 5 --index-factory {factory} {saved} -o x").status == 0

    rows = f"'my docs.index efSearch=3 efSearch=64' '{factory} efSearch=64'"
    found = list(csv.DictReader(printed(f"{COMMAND} {rows} --format csv").splitlines()))

    names = [f"my docs.index efSearch={n}" for n in (3, 64)] + [f"{factory} efSearch=64"]
    assert [row["index"] for row in found] == ["exact", *names]
    assert [row["build s"] == "-" for row in found] == [False, True, True, False]
    assert found[2]["recall@5"] == found[3]["recall@5"]


def test_a_cutoff_above_k_is_reported_once():
    found = fastrank(f"{COMMAND} {IDS} -m nDCG@10 --repetitions 1 SQ8 HNSW8")

    assert (found.status, found.err) == (
        0,
        "fastrank compare-indexes: k=5 is below the cutoff of nDCG@10, which counts the ranks after"
        " 5 as not relevant\n",
    )
