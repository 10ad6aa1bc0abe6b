"""Runs in parquet files are judged batch by batch, with the results of runs in memory."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.formats import parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MEASURES = ["map", "ndcg_cut.5", "num_ret", "P.3", "recip_rank"]
QRELS = {
    f"{query}": {f"{doc}": doc % 3 for doc in range(query % 4, 40, 3)} for query in range(1, 13)
}


def rows_of(queries: list[int], depth: int = 20, seed: int = 1) -> dict[str, list[Any]]:
    """Columns of a run with many equal scores; some queries are not judged."""
    chance = random.Random(seed)
    rows = [
        (str(query), str(doc), chance.randrange(9) / 4)
        for query in queries
        for doc in chance.sample(range(50), depth)
    ]
    ids, docs, scores = map(list, zip(*rows, strict=True))
    return {"query_id": ids, "doc_id": docs, "score": scores}


def dict_of(columns: dict[str, list[Any]]) -> dict[str, dict[str, float]]:
    """The same run as a dict."""
    run: dict[str, dict[str, float]] = {}
    for query, doc, score in zip(*list(columns.values())[:3], strict=True):
        run.setdefault(str(query), {})[str(doc)] = score
    return run


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The parquet files that were loaded as a whole."""
    from fastrank.formats import load

    names: list[str] = []
    original = load.content_of

    def noting(content: bytes, name: str, *rest: Any, **options: Any) -> Any:
        names.append(name)
        return original(content, name, *rest, **options)

    monkeypatch.setattr(load, "content_of", noting)
    return names


def check(path: Any, columns: dict[str, list[Any]], **options: Any) -> None:
    """The file and the dict of the same columns have the same values and counts."""
    own = fr.evaluate(QRELS, path, MEASURES, **options)
    other = fr.evaluate(QRELS, dict_of(columns), MEASURES, **options)
    assert own.to_dict() == other.to_dict()
    assert own.mean == other.mean
    assert own.counts == other.counts


SORTED, SHUFFLED = list(range(3, 16)), [7, 15, 3, 12, 4, 1, 14]


@pytest.mark.parametrize("queries", [SORTED, SHUFFLED, [5], [99, 5]])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("group", [7, 50, 10_000])
@pytest.mark.parametrize("dictionary", [True, False])
def test_batches_and_row_groups_do_not_matter(
    queries: list[int], threads: int, group: int, dictionary: bool, tmp_path: Path,
    loaded: list[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(parquet, "ROWS", 32)
    columns = rows_of(queries)
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=group, use_dictionary=dictionary)
    check(path, columns, threads=threads)
    assert not loaded


TYPES = {
    "large": {"query_id": pa.large_string(), "doc_id": pa.large_string(), "score": pa.float64()},
    "binary": {"query_id": pa.binary(), "doc_id": pa.large_binary(), "score": pa.float64()},
    "integers": {"query_id": pa.int32(), "doc_id": pa.uint64(), "score": pa.int64()},
    "single": {"query_id": pa.string(), "doc_id": pa.int64(), "score": pa.float32()},
    "half": {"query_id": pa.int8(), "doc_id": pa.string(), "score": pa.float16()},
    "categories": {
        "query_id": pa.dictionary(pa.int32(), pa.string()),
        "doc_id": pa.dictionary(pa.int32(), pa.string()),
        "score": pa.float64(),
    },
}


@pytest.mark.parametrize("kind", TYPES)
def test_types_of_columns_do_not_matter(kind: str, tmp_path: Path, loaded: list[str]) -> None:
    columns = rows_of(SORTED)
    arrays = {}
    for name, to in TYPES[kind].items():
        values: list[Any] = columns[name]
        if pa.types.is_integer(to):
            values = [int(value) for value in values]
        elif pa.types.is_binary(to) or pa.types.is_large_binary(to):
            values = [value.encode() for value in values]
        elif pa.types.is_dictionary(to):
            arrays[name] = pa.array(values).dictionary_encode()
            continue
        arrays[name] = pa.array(values, to)
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table(arrays), path, row_group_size=33)
    expected = {**columns, "score": arrays["score"].to_pylist()}
    check(path, expected)
    assert not loaded


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("opened", [False, True])
def test_any_source_will_do(suffix: str, opened: bool, tmp_path: Path, loaded: list[str]) -> None:
    columns = rows_of(SORTED)
    path = tmp_path / f"r.parquet{suffix}"
    fr.write_run(fr.Run.from_dict(dict_of(columns), tag="own"), path)
    check(io.BytesIO(path.read_bytes()) if opened else path, columns)
    assert not loaded


def test_other_columns_are_not_read(tmp_path: Path, loaded: list[str]) -> None:
    columns = rows_of(SORTED)
    path = tmp_path / "r.parquet"
    own = {"vector": [[1.0, 2.0]] * len(columns["score"]), "rank": [1] * len(columns["score"])}
    pq.write_table(pa.table({**own, **columns}), path)
    check(path, columns)
    assert not loaded


def test_the_tag_is_that_of_its_column(tmp_path: Path, loaded: list[str]) -> None:
    columns = rows_of(SORTED)
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({**columns, "tag": ["bm25"] * len(columns["score"])}), path)
    assert fr.evaluate(QRELS, path, "map").tag == "bm25"
    assert not loaded


@pytest.mark.parametrize(
    "options", [{"missing": "zero", "trec_eval_version": "10.0"}, {"depth": 4}]
)
def test_options_that_need_only_rankings(
    options: dict[str, Any], tmp_path: Path, loaded: list[str]
) -> None:
    columns = rows_of(SHUFFLED)
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table(columns), path)
    check(path, columns, **options)
    assert not loaded


def test_queries_without_judgments_are_known(tmp_path: Path) -> None:
    columns = rows_of([14, 3, 15])
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=9)
    scores = fr.evaluate(QRELS, path, "map")
    assert scores.unjudged_queries == fr.evaluate(QRELS, dict_of(columns), "map").unjudged_queries


def test_scattered_queries_are_loaded(tmp_path: Path, loaded: list[str]) -> None:
    columns = rows_of(SORTED)
    order = list(range(len(columns["score"])))
    random.Random(3).shuffle(order)
    columns = {name: [values[row] for row in order] for name, values in columns.items()}
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=40)
    check(path, columns, threads=2)
    assert loaded


def test_a_run_of_ranks_is_loaded(tmp_path: Path, loaded: list[str]) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"query_id": ["3", "3"], "doc_id": ["0", "6"], "rank": [2, 1]}), path)
    check(path, {"query_id": ["3", "3"], "doc_id": ["0", "6"], "score": [-2.0, -1.0]})
    assert loaded


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
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    columns = {"query_id": ["3"] * 3, "doc_id": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({**columns, **changes}), path)
    with pytest.raises(fr.FastrankError, match=message):
        fr.evaluate(QRELS, path, "map")


def test_the_judge_serves_for_runs_of_both_forms(tmp_path: Path) -> None:
    columns = rows_of(SORTED)
    fr.write_run(fr.Run.from_dict(dict_of(columns)), tmp_path / "r.parquet")
    fr.write_run(fr.Run.from_dict(dict_of(columns), tag="t"), tmp_path / "r.run")
    evaluator = fr.Evaluator(QRELS, MEASURES)
    values = [
        evaluator.evaluate(tmp_path / name).to_dict()
        for name in ("r.parquet", "r.run", "r.parquet", "r.run")
    ]
    assert all(own == values[0] for own in values)
