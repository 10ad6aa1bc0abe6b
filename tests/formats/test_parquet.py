"""Runs in parquet files are judged batch by batch, with the results of runs in memory."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.formats import load, parquet

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
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The parquet files that were loaded as a whole."""
    names: list[str] = []
    original = load.content_of

    def noting(content: bytes, name: str, *rest: Any, **options: Any) -> Any:
        names.append(name)
        return original(content, name, *rest, **options)

    monkeypatch.setattr(load, "content_of", noting)
    return names


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write columns to a file; its path."""

    def make(columns: dict[str, Any], **options: Any) -> Path:
        pq.write_table(pa.table(columns), tmp_path / "r.parquet", **options)
        return tmp_path / "r.parquet"

    return make


def check(path: Any, columns: dict[str, list[Any]], **options: Any) -> None:
    """The file and the dict of the same columns have the same values and counts."""
    own = fr.evaluate(QRELS, path, MEASURES, **options)
    other = fr.evaluate(QRELS, dict_of(columns), MEASURES, **options)
    for name in ("mean", "counts", "unjudged_queries"):
        assert getattr(own, name) == getattr(other, name)
    assert own.to_dict() == other.to_dict()


@pytest.mark.parametrize("queries", [SORTED, SHUFFLED, [5], [99, 5], [14, 3, 15]])
def test_batches_and_row_groups_do_not_matter(
    queries: list[int], write: Any, loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ROWS", 32)
    columns = rows_of(queries)
    for group, dictionary in product((7, 50, 10_000), (True, False)):
        path = write(columns, row_group_size=group, use_dictionary=dictionary)
        for threads in (1, 3):
            check(path, columns, threads=threads)
    assert not loaded


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
def test_types_of_columns_do_not_matter(kind: str, write: Any, loaded: list[str]) -> None:
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
    assert not loaded


def test_any_source_will_do(tmp_path: Path, loaded: list[str]) -> None:
    columns = rows_of(SORTED)
    for path in (tmp_path / "r.parquet", tmp_path / "r.parquet.gz"):
        fr.write_run(fr.Run.from_dict(dict_of(columns), tag="own"), path)
        check(path, columns)
        check(io.BytesIO(path.read_bytes()), columns)
    assert not loaded


def test_other_columns_are_not_read_and_the_tag_is_that_of_its_column(
    write: Any, loaded: list[str]
) -> None:
    columns = rows_of(SORTED)
    count = len(columns["score"])
    own = {"vector": [[1.0, 2.0]] * count, "rank": [1] * count, "tag": ["bm25"] * count}
    path = write({**own, **columns})
    check(path, columns)
    assert fr.evaluate(QRELS, path, "map").tag == "bm25"
    assert not loaded


def test_options_that_need_only_rankings(write: Any, loaded: list[str]) -> None:
    columns = rows_of(SHUFFLED)
    check(write(columns), columns, missing="zero", trec_eval_version="10.0")
    check(write(columns), columns, depth=4)
    assert not loaded


def test_scattered_queries_and_runs_of_ranks_are_loaded(write: Any, loaded: list[str]) -> None:
    columns = rows_of(SORTED)
    order = list(range(len(columns["score"])))
    random.Random(3).shuffle(order)
    columns = {name: [values[row] for row in order] for name, values in columns.items()}
    check(write(columns, row_group_size=40), columns, threads=2)
    assert len(loaded) == 1
    ids = {"query_id": ["3", "3"], "doc_id": ["0", "6"]}
    check(write({**ids, "rank": [2, 1]}), {**ids, "score": [-2.0, -1.0]})
    assert len(loaded) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"doc_id": ["a", None, "c"]}, "row 1 .*'doc_id'.*null"),
        ({"query_id": ["3", "3", None]}, "row 2 .*'query_id'.*null"),
        ({"query_id": [3.0, 3.0, 3.0]}, "row 0 .*found the float 3.0"),
        ({"score": [1.0, float("nan"), 1.0]}, "row 1 .*'score'.*NaN"),
        ({"score": [1.0, 1.0, None]}, "row 2 .*'score'.*null"),
        ({"tag": ["a", "a", "b"]}, "found 2 tags, such as 'a' and 'b'"),
        ({"docno": ["a", "b", "c"]}, "more than one document column"),
        ({"doc_id": ["a", "b", "a"]}, "duplicate docs a, rows 0 and 2"),
    ],
)
def test_errors_are_those_of_the_whole_file(
    changes: dict[str, Any], message: str, write: Any
) -> None:
    columns = {"query_id": ["3"] * 3, "doc_id": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}
    with pytest.raises(fr.FastrankError, match=message):
        fr.evaluate(QRELS, write({**columns, **changes}), "map")


def test_the_judge_serves_for_runs_of_both_forms(write: Any, tmp_path: Path) -> None:
    columns = rows_of(SORTED)
    fr.write_run(fr.Run.from_dict(dict_of(columns), tag="t"), tmp_path / "r.run")
    files = [write(columns), tmp_path / "r.run"] * 2
    evaluator = fr.Evaluator(QRELS, MEASURES)
    values = [evaluator.evaluate(file).to_dict() for file in files]
    assert all(own == values[0] for own in values)
