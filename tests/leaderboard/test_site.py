"""The site of a leaderboard: who is first and how surely, its pages, and how it is written."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import fastrank as fr
from fastrank.errors import InputError
from tests.helpers.commands import fastrank, printed

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "-->",
    "a\u2028b",
    "\u202eabc",
    "../../up",
    "..",
    "x" * 5000,
    "9" * 5000,
    "con",
    "Same name",
    "same-name",
    '"quoted" & more',
    "名前",
    "=1+1",
]


def per_query(folder: Path, systems: int = 6, datasets: int = 4, queries: int = 30) -> Path:
    """Results of systems, each 0.01 better than the one before it, with noise."""
    rng = np.random.default_rng(0)
    rows = ["system,dataset,query,value,type"]
    for dataset in range(datasets):
        hard = rng.normal(0.5, 0.1, queries)
        for system in range(systems):
            values = hard + 0.01 * system + rng.normal(0, 0.05, queries)
            rows += [
                f"s{system},d{dataset},q{query},{value},{'ab'[dataset % 2]}"
                for query, value in enumerate(values.tolist())
            ]
    folder.mkdir(exist_ok=True)
    (folder / "results.csv").write_text("\n".join(rows))
    return folder


def values_of(folder: Path) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    for row in csv.DictReader((folder / "results.csv").read_text().splitlines()):
        own = found.setdefault(row["dataset"], {}).setdefault(row["system"], [])
        own.append(float(row["value"]))
    return found


def test_standings_are_those_of_other_programs(tmp_path: Path) -> None:
    """Ranks and means of numpy, and on each data set the p-values of scipy's t-test."""
    values = values_of(per_query(tmp_path))

    found = fr.board(tmp_path, test="t", correction="none")

    means = {
        name: np.mean([np.mean(own[name]) for own in values.values()]) for name in values["d0"]
    }
    assert found.systems == sorted(means, key=lambda name: -means[name])
    assert found.table().columns["mean"] == pytest.approx(sorted(means.values(), reverse=True))
    for dataset, standing in zip(found.datasets, found.standings, strict=True):
        own = values[dataset]
        for row in standing.rows:
            unlike = {
                other
                for other in own
                if other != row.system
                and scipy.stats.ttest_rel(own[row.system], own[other]).pvalue <= 0.05
            }
            assert set(row.alike) == own.keys() - unlike - {row.system}


def test_intervals_of_ranks_resample_queries_within_data_sets(tmp_path: Path) -> None:
    """A plain bootstrap in numpy gives nearly the same intervals."""
    values = values_of(per_query(tmp_path, systems=5, datasets=6))
    found = fr.board(tmp_path).table()
    rng, names = np.random.default_rng(1), found.columns["system"]
    arrays = [np.array([own[name] for name in names]) for own in values.values()]
    ranks = []
    for _ in range(2000):
        drawn = [arrays[i] for i in rng.integers(len(arrays), size=len(arrays))]
        means = sum(own[:, rng.integers(own.shape[1], size=own.shape[1])].mean(1) for own in drawn)
        ranks.append(scipy.stats.rankdata(-means, method="min"))

    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="nearest")

    assert np.abs(low - found.columns["low"]).max() <= 1
    assert np.abs(high - found.columns["high"]).max() <= 1
    assert (low != high).any()


def test_queries_needed_are_those_of_the_power_table(tmp_path: Path) -> None:
    board = fr.board(per_query(tmp_path))
    values = values_of(tmp_path)

    files = board.files()

    for row in csv.DictReader(io.StringIO(files["datasets.csv"].decode())):
        systems = {
            name: dict(enumerate(values[row["data set"]][row[name]]))
            for name in ("first", "second")
        }
        power = fr.compare_scores(systems).power("value").columns
        assert int(row["queries needed"]) == power["queries"][0]
        assert f"<strong>{power['queries'][0]:,} queries</strong> are needed" in (
            files[f"datasets/{row['data set']}.html"].decode()
        )


def test_means_alone_say_what_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("system,x\na,1\nb,0.5\nc,0.5\n")

    found = fr.board(tmp_path)

    assert found.table().columns["rank"] == [1, 2, 2]
    assert found.table().columns["low"] == [None, None, None]
    assert "cannot be said" in found.files()["index.html"].decode()


def hostile(folder: Path, names: list[str], datasets: list[str]) -> Path:
    """Results of systems with these names on data sets of types with these names."""
    folder.mkdir(exist_ok=True)
    with (folder / "a.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["system", "dataset", "type", "query", "value"])
        for place, name in enumerate(names):
            for dataset in datasets:
                rows.writerows(
                    [name, dataset, dataset, query, place / 20 + query % 3] for query in range(4)
                )
    return folder


def test_hostile_names_give_safe_files(tmp_path: Path) -> None:
    names = [name for name in HOSTILE if "\u2028" not in name]

    files = fr.board(hostile(tmp_path, names, names), title=HOSTILE[0], resamples=100).files()

    # Also on systems that ignore case.
    assert len({path.lower() for path in files}) == len(files)
    assert all(re.fullmatch(r"([a-z]+/)?[a-z0-9._-]{1,90}", path) for path in files)
    assert not any(".." in path or path.startswith("con.") for path in files)
    for path, own in files.items():
        if path.endswith(".svg"):
            ElementTree.fromstring(own)
        elif path.endswith(".json"):
            json.loads(own)


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    """In whatever order files and rows are, and wherever the folder is."""
    per_query(tmp_path / "one")
    (tmp_path / "two").mkdir()
    header, *rows = (tmp_path / "one/results.csv").read_text().split("\n")
    for place in (1, 0):
        content = "\n".join([header, *sorted(rows[place::2], reverse=True)])
        (tmp_path / f"two/{place}.csv").write_text(content)
    with pytest.raises(InputError, match="second result"):
        fr.board(tmp_path / "two")
    (tmp_path / "two/0.csv").unlink()
    (tmp_path / "two/1.csv").write_text("\n".join([header, *sorted(rows, reverse=True)]))

    first, second = (fr.board(tmp_path / name, title="T").files() for name in ("one", "two"))

    assert first == second


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*.*")}


def test_a_site_replaces_only_its_own(tmp_path: Path) -> None:
    """A site in the folder of the results is not one of them."""
    results = per_query(tmp_path / "results", queries=10)
    site = results / "site"
    command = f"board {results} -o {site} --title T -m map"

    def checked() -> set[str]:
        found = fastrank(f"{command} --check")
        assert found.status == int(bool(found.out))
        return {*found.out.splitlines()}

    assert "add index.html" in checked()
    assert not site.exists()
    assert printed(command) == ""
    assert checked() == set()
    (results / "more.csv").write_text("system,d0\nnew,0.5\n")
    (site / "index.html").write_text("edited")
    before = content(site)
    assert {"add systems/new.html", "change index.html"} <= checked()
    assert content(site) == before
    printed(command)
    (results / "more.csv").unlink()
    assert "remove systems/new.html" in checked()
    printed(command)
    assert not (site / "systems/new.html").exists()

    (site / "notes.txt").write_text("mine")
    assert "notes.txt; choose an empty folder" in fastrank(command).err
    assert (site / "notes.txt").read_text() == "mine"
    assert fastrank(f"board {results} -o {results}").status == 1
    assert sorted(path.name for path in results.iterdir()) == ["results.csv", "site"]


def test_a_site_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, site = fr.board(per_query(tmp_path / "results")), tmp_path / "site"
    board.write(site)
    before, rename = content(site), os.rename

    def fail(source: str, target: str) -> None:
        if os.path.basename(source).startswith(".site-new"):
            raise OSError(28, "No space left on device", target)
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="No space"):
        board.write(site)

    assert content(site) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results", "site"]


def test_runs_have_a_page_to_look_at(tmp_path: Path) -> None:
    """Of the best two, with the texts beside them; histories show earlier versions."""
    folder = tmp_path / "news"
    folder.mkdir()
    (folder / "qrels.txt").write_text("".join(f"q{i} 0 d1 1\n" for i in range(5)))
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "the whole truth"}\n')
    for name, rank in (("a@1", 3), ("a@2", 1), ("b", 2), ("c", 4)):
        rows = [
            f"q{i} Q0 d{(j - rank) % 9 + 1} {j} {9 - j} t" for i in range(5) for j in range(1, 9)
        ]
        (folder / f"{name}.run").write_text("\n".join(rows))

    files = fr.board(tmp_path).files()

    assert "Look at the rankings of <bdi>a</bdi> and <bdi>b</bdi>" in (
        files["datasets/news.html"].decode()
    )
    assert b"inspect/news.html" in files["index.html"]
    assert len(files["inspect/news.html"]) > 10_000
    history = csv.DictReader(io.StringIO(files["systems/a-history.csv"].decode()))
    assert [row["version"] for row in history] == ["2", "1"]
    assert not any("inspect/" in path for path in fr.board(tmp_path, inspected=0).files())
