"""Every form of a table is read by every reader of tables but for judgments and runs, alike."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from pyarrow import parquet

import fastrank as fr
from tests.helpers.huggingface import Table

# Rows, what reads them, and what is read.
READERS: dict[str, tuple[dict[str, list[Any]], Callable[[Any], Any], Any]] = {
    "pairs": (
        {"query": ["a", "b"], "positive": ["x", "y"]},
        lambda table: fr.Dataset.from_pairs(table).qrels.to_dict(),
        {"0": {"0": 1}, "1": {"1": 1}},
    ),
    "pairs of a corpus": (
        {"text": ["x", "y"]},
        lambda table: fr.Dataset.from_pairs([{"query": "a", "pos": "y"}], corpus=table).corpus,
        ["x", "y"],
    ),
    "articles": (
        {"id": ["1", "2"], "embedding": [[0.5, 1.0], [1.0, 0.5]], "label": [["2"], ["1"]]},
        lambda table: fr.Dataset.from_articles(table).qrels.to_dict(),
        {"1": {"2": 1}, "2": {"1": 1}},
    ),
    "candidates": (
        {"question": ["a", "a"], "answer": ["x", "y"], "label": [1, 0]},
        lambda table: fr.read_candidates(table).qrels.to_dict(),
        {"Q1": {"Q1-0": 1, "Q1-1": 0}},
    ),
    "grouped candidates": (
        {"query": ["a", "b"], "positive": ["x", "y"], "negative": [["z", "v"], ["w", "u"]]},
        lambda table: fr.read_candidates(table).labels.tolist(),
        [1, 0, 0, 1, 0, 0],
    ),
    "task": (
        {"sentence_A": ["a", "b"], "sentence_B": ["x", "y"], "relatedness_score": [4.5, 1.0]},
        lambda table: (task := fr.TextTask.from_table(table)) and (*task.texts, task.labels),
        (["a", "b"], ["x", "y"], [4.5, 1.0]),
    ),
    "texts": (
        {"_id": ["a", "b"], "title": ["x", ""], "text": ["1", "2"]},
        lambda table: fr.Dataset.from_files(table, io.BytesIO(b"q\tq"), {"q": {"a": 1}}).corpus,
        ["x 1", "2"],
    ),
    "spans": (
        {"query": ["a", "a"], "document": ["x", "y"], "start": [1, 2], "end": [3, 4]},
        lambda table: fr.spans.read_spans(table).starts.tolist(),
        [1, 2],
    ),
    "chunks": (
        {"chunk": ["a", "b"], "document": ["x", "y"], "start": [1, 2], "end": [3, 4]},
        lambda table: fr.spans.read_chunks(table).ends.tolist(),
        [3, 4],
    ),
}


def rows_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def odd_index(columns: dict[str, list[Any]]) -> pandas.DataFrame:
    return pandas.DataFrame(columns, index=[7, 3])


IN_MEMORY: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "list of dicts": rows_of,
    "tuple of dicts": lambda columns: tuple(rows_of(columns)),
    "generator": lambda columns: (row for row in rows_of(columns)),
    "dict of lists": dict,
    "dict of arrays": lambda columns: {name: np.asarray(cells) for name, cells in columns.items()},
    "pandas": odd_index,
    "polars": polars.DataFrame,
    "LazyFrame": polars.LazyFrame,
    "Arrow table": pyarrow.table,
    "record batch": lambda columns: pyarrow.table(columns).to_batches()[0],
    "Dataset": Table,
    "Dataset in another format": lambda columns: Table(columns, "torch"),
    "DatasetDict": lambda columns: {"test": Table(columns)},
}


def write_arrow(columns: dict[str, list[Any]], path: Path) -> None:
    table = pyarrow.table(columns)
    with pyarrow.ipc.new_stream(str(path), table.schema) as file:
        file.write_table(table)


def save_to_disk(columns: dict[str, list[Any]], path: Path) -> None:
    path.mkdir()
    write_arrow(columns, path / "data-00000-of-00001.arrow")
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
    (path / "state.json").write_text(json.dumps(state))


FILES: dict[str, tuple[str, Callable[[dict[str, list[Any]], Path], Any]]] = {
    "JSON lines": (
        "t.jsonl",
        lambda columns, path: path.write_text("\n".join(map(json.dumps, rows_of(columns)))),
    ),
    "JSON": ("t.json", lambda columns, path: path.write_text(json.dumps(rows_of(columns)))),
    "indented JSON": (
        "t.json",
        lambda columns, path: path.write_text(json.dumps(rows_of(columns), indent=1)),
    ),
    "JSON of data": (
        "t.json",
        lambda columns, path: path.write_text(json.dumps({"data": rows_of(columns)})),
    ),
    "JSON of columns": ("t.json", lambda columns, path: path.write_text(json.dumps(columns))),
    "JSON of pandas": ("t.json", lambda columns, path: odd_index(columns).to_json(path)),
    "Parquet": (
        "t.parquet",
        lambda columns, path: parquet.write_table(pyarrow.table(columns), path),
    ),
    "Arrow file": ("t.arrow", write_arrow),
    "save_to_disk": ("saved", save_to_disk),
}
DELIMITED: dict[str, tuple[str, Callable[[dict[str, list[Any]], Path], Any]]] = {
    "CSV": ("t.csv", lambda columns, path: odd_index(columns).to_csv(path, index=False)),
    "CSV with an index": ("t.csv", lambda columns, path: odd_index(columns).to_csv(path)),
    "TSV": ("t.tsv", lambda columns, path: odd_index(columns).to_csv(path, sep="\t", index=False)),
}
# Their cells are lists.
NESTED = ("articles", "grouped candidates")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("form", IN_MEMORY)
def test_a_table_in_memory_may_be(form, reader):
    columns, read, expected = READERS[reader]
    assert read(IN_MEMORY[form](columns)) == expected


@pytest.mark.parametrize(
    ("form", "reader"),
    [
        *((form, reader) for form in FILES for reader in READERS),
        *((form, reader) for form in DELIMITED for reader in READERS if reader not in NESTED),
    ],
)
def test_a_file_may_be(form, reader, tmp_path):
    (name, write), (columns, read, expected) = (FILES | DELIMITED)[form], READERS[reader]
    write(columns, tmp_path / name)
    assert read(tmp_path / name) == expected
