"""Runs in parquet files have the results of runs in memory; only what is needed of them is read."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.core.formats.tables.parquet import ParquetColumns

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MEASURES = ["map", "ndcg_cut.5", "num_ret", "P.3", "recip_rank"]
QRELS = {
    f"{query}": {f"{doc}": doc % 3 for doc in range(query % 4, 40, 3)} for query in range(1, 13)
}
SORTED, SHUFFLED = list(range(3, 16)), [7, 15, 3, 12, 4, 1, 14]


def rows_of(queries: list[int]) -> dict[str, list[Any]]:
    """Columns of a run with many equal scores; some queries are not judged."""
    chance = random.Random(1)
    rows = [
        (str(query), str(doc), chance.randrange(9) / 4)
        for query in queries
        for doc in chance.sample(range(50), 20)
    ]
    return dict(
        zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True)
    )


def dict_of(columns: dict[str, list[Any]]) -> dict[str, dict[str, float]]:
    """The same run as a dict."""
    run: dict[str, dict[str, float]] = {}
    for query, doc, score in zip(*list(columns.values())[:3], strict=True):
        run.setdefault(query, {})[doc] = score
    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write columns to a file; its path."""

    def make(columns: dict[str, Any], **options: Any) -> Path:
        pq.write_table(pa.table(columns), tmp_path / "r.parquet", **options)
        return tmp_path / "r.parquet"

    return make


def check(path: Any, columns: dict[str, list[Any]]) -> None:
    """The file and the dict of the same columns have the same values and counts."""
    own, other = (fr.evaluate(QRELS, run, MEASURES) for run in (path, dict_of(columns)))
    for name in ("mean", "counts", "unjudged_queries"):
        assert getattr(own, name) == getattr(other, name)
    assert own.to_dict() == other.to_dict()


@pytest.mark.parametrize("queries", [SORTED, SHUFFLED, [5], [99, 5], [14, 3, 15]])
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("group", [7, 50, 10_000])
def test_row_groups_and_dictionaries_do_not_matter(queries, dictionary, group, write):
    columns = rows_of(queries)
    check(write(columns, row_group_size=group, use_dictionary=dictionary), columns)


CATEGORIES = pa.dictionary(pa.int32(), pa.string())
TYPES = {
    "large": (pa.large_string(), pa.large_string(), pa.float64()),
    "binary": (pa.binary(), pa.large_binary(), pa.float64()),
    "integers": (pa.int32(), pa.uint64(), pa.int64()),
    "single": (pa.string(), pa.int64(), pa.float32()),
    "half": (pa.int8(), pa.string(), pa.float16()),
    "categories": (CATEGORIES, CATEGORIES, pa.float64()),
}


@pytest.mark.parametrize("kind", TYPES)
def test_types_of_columns_do_not_matter(kind, write):
    columns = rows_of(SORTED)
    arrays = {}
    for (name, values), to in zip(columns.items(), TYPES[kind], strict=True):
        if pa.types.is_integer(to):
            values = [int(value) for value in values]
        elif pa.types.is_binary(to) or pa.types.is_large_binary(to):
            values = [value.encode() for value in values]
        encoded = pa.array(values).dictionary_encode()
        arrays[name] = encoded if to == CATEGORIES else pa.array(values, to)
    path = write(arrays, row_group_size=33)
    check(path, {**columns, "score": arrays["score"].to_pylist()})


def test_any_source_will_do(tmp_path):
    columns = rows_of(SORTED)
    for path in (tmp_path / "r.parquet", tmp_path / "r.parquet.gz"):
        fr.write_run(fr.Run.from_dict(dict_of(columns), tag="own"), path)
        check(path, columns)
        check(io.BytesIO(path.read_bytes()), columns)


def test_other_columns_are_not_read_and_the_tag_is_that_of_its_column(write, monkeypatch):
    columns = rows_of(SORTED)
    count = len(columns["score"])
    others = {"vector": [[1.0, 2.0]] * count, "rank": [1] * count, "tag": ["bm25"] * count}
    path = write({**others, **columns})
    names: list[str] = []
    original = ParquetColumns.__getitem__

    def noting(self: ParquetColumns, place: int) -> Any:
        names.append(self.names[place])
        return original(self, place)

    monkeypatch.setattr(ParquetColumns, "__getitem__", noting)
    check(path, columns)
    assert sorted(names) == ["doc_id", "query_id", "score", "tag"]
    assert fr.evaluate(QRELS, path, "map").tag == "bm25"


def test_scattered_queries_and_runs_of_ranks(write):
    columns = rows_of(SORTED)
    order = list(range(len(columns["score"])))
    random.Random(3).shuffle(order)
    columns = {name: [values[row] for row in order] for name, values in columns.items()}
    check(write(columns, row_group_size=40), columns)
    ids = {"query_id": ["3", "3"], "doc_id": ["0", "6"]}
    check(write({**ids, "rank": [2, 1]}), {**ids, "score": [-2.0, -1.0]})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"doc_id": ["a", None, "c"]}, "row 1 .*'doc_id'.*a missing"),
        ({"query_id": ["3", "3", None]}, "row 2 .*'query_id'.*a missing"),
        ({"query_id": [3.0, 3.0, 3.0]}, "row 0 .*found the float 3.0"),
        ({"score": [1.0, float("nan"), 1.0]}, "row 1 .*'score'.*NaN"),
        ({"score": [1.0, 1.0, None]}, "row 2 .*'score'.*a missing"),
        ({"tag": ["a", "a", "b"]}, "found 2 systems, such as 'a' and 'b'"),
        ({"docno": ["a", "b", "c"]}, "more than one document column"),
        ({"doc_id": ["a", "b", "a"]}, "duplicate docs a, rows 0 and 2"),
    ],
)
def test_what_is_wrong_names_the_row(changes, message, write):
    columns = {"query_id": ["3"] * 3, "doc_id": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}
    with pytest.raises(fr.FastrankError, match=message):
        fr.evaluate(QRELS, write({**columns, **changes}), "map")


def test_a_repeated_id_that_is_missing_names_its_row(write):
    """Texts that are in many rows on end are read as numbers of the dictionary."""
    queries: list[Any] = ["3"] * 2000
    queries[1234] = None
    path = write({"query_id": queries, "doc_id": range(2000), "score": [1.0] * 2000})
    with pytest.raises(fr.FastrankError, match=r"row 1234 .*'query_id'.*a missing"):
        fr.evaluate(QRELS, path, "map")
