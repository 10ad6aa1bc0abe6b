"""The results that a leaderboard reads, in all forms, and what it says of those it cannot use."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

import fastrank as fr
from tests.helpers.call_rows import check_error, failing
from tests.helpers.commands import fastrank

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 1\n"
GOOD = "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\nq2 Q0 d3 1 1 t\n"
POOR = "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\n"
RUNS = {"news/qrels.txt": QRELS, "news/good.run": GOOD, "news/poor.run": POOR}
MEANS_IN_NEWS = {"good": 1.0, "poor": 1 / math.log2(3) / 2}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    return folder


def mteb(task: str, scores: dict[str, float], revision: str = "v1", split: str = "test") -> str:
    """A file as MTEB 2 writes it."""
    of_split = [
        {"main_score": score, "hf_subset": subset, "languages": ["eng-Latn"], "ndcg_at_10": score}
        for subset, score in scores.items()
    ]
    return json.dumps(
        {
            "dataset_revision": revision,
            "task_name": task,
            "mteb_version": "2.1.0",
            "scores": {split: of_split},
            "evaluation_time": 1.5,
            "kg_co2_emissions": None,
        }
    )


FORMS = {
    "runs": (RUNS, {"news": MEANS_IN_NEWS}),
    "runs in the layout of BEIR, with texts": (
        {
            "news/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td3\t1\n",
            "news/corpus.jsonl": '{"_id": "d1", "text": "one"}\n',
            "news/queries.jsonl": '{"_id": "q1", "text": "one?"}\n',
            "news/good.run": GOOD,
            "news/poor.run": POOR,
        },
        {"news": MEANS_IN_NEWS},
    ),
    "CSV with a row for each value": (
        {"all.csv": "model,dataset,score\na,x,0.5\nb,x,0.25\na,y,1\n"},
        {"x": {"a": 0.5, "b": 0.25}, "y": {"a": 1.0}},
    ),
    "CSV with a column for each data set, and TSV": (
        {
            "all.csv": "\ufeffRank,System,x,y,Average\n1,a,0.5,1,.75\n2,b,0.25,,.25\n",
            "more.tsv": "system\tz\nb\t.5\n",
        },
        {"x": {"a": 0.5, "b": 0.25}, "y": {"a": 1.0}, "z": {"b": 0.5}},
    ),
    "CSV of `fastrank compare -q`, named by the data set": (
        {"x.csv": "query,measure,system,value\n1,map,a,0.5\n2,map,a,1\n1,map,b,0\n2,map,b,.5\n"},
        {"x": {"a": 0.75, "b": 0.25}},
    ),
    "CSV with a mean beside the values of queries": (
        {"x.csv": "query,system,value\n1,a,0.5\n2,a,1\n,a,0.9\n1,b,0\n2,b,.5\n"},
        {"x": {"a": 0.75, "b": 0.25}},
    ),
    "MTEB: the test split, over the subsets that all have": (
        {
            "results/org__a/0123456789012345678901234567890123456789/T.json": mteb(
                "T", {"de": 0.5, "en": 0.75}
            ),
            "results/b/T.json": mteb("T", {"de": 0.25}),
            "results/c/main/T.json": mteb("T", {"de": 1.0, "fr": 0.0}),
            "results/c/main/model_meta.json": '{"name": "org/c", "revision": "r"}',
        },
        {"T": {"org/a": 0.5, "b": 0.25, "org/c": 1.0}},
    ),
    "versions: the newest of those with the most data sets": (
        {"all.csv": "system,version,x,y\na,9,0.5,0.5\na,10,0.75,0.5\na,11,1,\nb,,0,0\n"},
        {"x": {"a": 0.75, "b": 0.0}, "y": {"a": 0.5, "b": 0.0}},
    ),
    "what is no result": (
        {**RUNS, "README.md": "# Results", ".git/config": "", "news/LICENSE": "free"},
        {"news": MEANS_IN_NEWS},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(tmp_path: Path, form: str) -> None:
    files, means = FORMS[form]

    found = fr.board(written(tmp_path, files))

    assert found.mean == {name: pytest.approx(own) for name, own in means.items()}


def test_a_store_has_the_values_of_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judgments of both folders are the same, which the store counts as one data set."""
    written(tmp_path, {**RUNS, "wiki/judged.qrels": QRELS, "wiki/poor@2.run": POOR})
    (tmp_path / "board").mkdir()
    monkeypatch.chdir(tmp_path)
    command = "eval -m ndcg_cut.10 --missing zero --resume board/all.jsonl"
    for files in (
        "news/qrels.txt news/good.run news/poor.run",
        "wiki/judged.qrels wiki/poor@2.run",
    ):
        assert fastrank(f"{command} {files}").status == 0

    found = fr.board("board")

    assert found.mean == {"all": pytest.approx(MEANS_IN_NEWS)}
    assert found.systems == ["good", "poor"]


def test_types_come_from_folders_columns_or_a_list(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "web/x/qrels.txt": QRELS,
            "web/x/a.run": GOOD,
            "more.csv": "system,dataset,value,type\na,y,0.5,chat\na,z,0.25,chat\n",
            "datasets.csv": "dataset,type\nz,news\n",
        },
    )

    found = fr.board(tmp_path)

    assert found.types == {"web": ["x"], "chat": ["y"], "news": ["z"]}
    assert found.means()["mean of types"] == [pytest.approx((1 + 0.5 + 0.25) / 3)]


PER_QUERY = "system,dataset,query,value\n"


@failing(r"""
board({"README.md": ""}) -> GroupError: no results
board({"a.csv": "system,dataset,value\na,x,1\na,x,2\n"})
    -> FormatError: a.csv:3: 'a' has a second value on 'x'
board({"a.csv": "system,x\na,1\n", "b.csv": "system,x\na,1\n"})
    -> InputError: b.csv: 'a' has a second result on 'x'; the first is in
board({"a/T.json": mteb("T", {"en": 0.5}, "v1"), "b/T.json": mteb("T", {"en": 0.5}, "v2")})
    -> InputError: T.json: version of data set 'T' is 'v2', but 'v1' in
board({**RUNS, "news/qrels2.txt": QRELS}) -> InputError: one data set, found qrels
board({**RUNS, "news/other.run": "q9 Q0 d1 1 2 t\n"})
    -> InputError: other.run: has no query in common with
board({"a.csv": PER_QUERY + "a,x,q1,1\na,x,q2,0\nb,x,q3,1\nb,x,q4,1\n"})
    -> GroupError: no query in common
board({"a/T.json": mteb("T", {"en": 0.5}), "b/T.json": mteb("T", {"de": 0.5})})
    -> InputError: no subset in common
board({"a.run": GOOD}) -> InputError: a.run: a run without judgments
board({**RUNS, "news/bad.run": "q1 Q0\n"}) -> RunError: bad.run: line 1
board({"a.csv": "system,x\na,good\n"}) -> FormatError: a.csv:2: expected a number, found 'good'
board({"a.csv": "system,x\na,inf\n"}) -> FormatError: expected a number, found 'inf'
board({"a.csv": "system,x\na\n"}) -> FormatError: a.csv:2: expected 2 cells
board({"a.csv": "x,y\n1,2\n"}) -> FormatError: a.csv:1: expected a column system
board({"a.csv": "system,x\n,1\n"}) -> InputError: a system without a name
board({"a/b.json": '{"a": 1}'}) -> InputError: expected a result of MTEB 2
board({"a/b.json": '{"a":\n'}) -> FormatError: b.json:2: invalid JSON
board({"x.csv": "system,measure,value\na,map,1\na,P_5,1\n"}) -> MeasureError: has no nDCG@10
board({"x.csv": "system,dataset,measure,value\na,x,map,1\na,y,FirstRank,1\n"})
    -> GroupError: higher values are better on some data sets
board({"a.csv": "system,dataset,type,value\na,x,t,1\nb,x,u,1\n"})
    -> FormatError: a.csv:3: 'x' has another type
board({**RUNS, "datasets.csv": "dataset,colour\nnews,red\n"}) -> FormatError: datasets.csv:1
""")
def test_results_that_cannot_be_used_are_an_error(tmp_path: Path, call: str, error: str) -> None:
    def board(files: dict[str, str]) -> None:
        fr.board(written(tmp_path / "results", files), tmp_path / "site")

    check_error(call, error, globals() | {"board": board})
    assert not (tmp_path / "site").exists()


def test_other_files_are_named(tmp_path: Path) -> None:
    written(
        tmp_path,
        {"a.csv": "system,x\na,1\n", "paper.pdf": "", "datasets.csv": "dataset,type\ny,t\n"},
    )

    with pytest.warns(UserWarning, match="no file|ignored") as caught:
        fr.board(tmp_path)

    messages = sorted(str(own.message).removeprefix(f"{tmp_path}{os.sep}") for own in caught)
    assert messages == [
        "datasets.csv: no file has results on 'y'",
        "paper.pdf: ignored; it is not a file of results",
    ]
