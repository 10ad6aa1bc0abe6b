"""`fastrank compare --values`: values per item, from tables."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import fastrank as fr
from tests.helpers.commands import FILES, assert_refused, fastrank, printed

WIDE = "item,a,b\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(24))
LONG = "model,dataset,id,acc,time,text\n" + "".join(
    f"{m},{d},{i},{(i * 7 + ord(m) * ord(d)) % 5},{i},t{i // 3}\n"
    for m in "abc"
    for d in "uvwxyz"
    for i in range(9)
)
HOSTILE = ("=1+1", "@SUM(A1)", "-x", "<script>", "a|b", "$x$ & y", "\x1b[31m", "‮evil", "a,b")


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wide.csv").write_text(WIDE)
    Path("long.csv").write_text(LONG)
    for name in ("old", "new"):
        Path(name).mkdir()
        shift = name == "new"
        for model in "mn":
            rows = "".join(f"{i},{(i + shift) % 3 / 2}\n" for i in range(9))
            Path(name, f"{model}.csv").write_text(f"doc_id,acc\n{rows}")


def test_values_of_eval_give_what_runs_give():
    for form in ("csv", "jsonl"):
        printed(f"eval -q -m map -m P.10 -o values.{form} {FILES}")
        for options in ("--pairs", "-q", "--standings", "-b pca", "--format json --test sign"):
            runs = printed(f"compare -m map -m P.10 {options} {FILES}")
            values = printed(f"compare --values {options} values.{form}")
            if "json" in options:
                runs, values = (json.loads(text)["pairs"] for text in (runs, values))
            assert values == runs
    assert "P_10" not in printed("compare --values -m map values.csv")


def test_old_and_new_values_of_one_run_are_told_apart():
    printed(f"eval -q -m map -o old.csv {FILES}")
    printed(f"eval -q -m map -l 2 -o new.csv {FILES}")

    shown = printed("compare --values old.csv new.csv")

    assert "pca (old)" in shown
    assert "pca (new)" in shown
    assert "Note: systems of several files have the names of these, too: pca" in shown


def test_several_files_are_a_system_each():
    shown = printed("compare --values -q old/m.csv new/m.csv").splitlines()

    assert shown[0].split() == ["measure", "item", "old/m.csv", "new/m.csv", "old/m.csv", "-"] + [
        "new/m.csv"
    ]
    named = printed("compare --values --name x --name y old/m.csv new/m.csv")
    assert "x" in named.split()


def test_items_that_a_system_lacks_are_named():
    Path("short.csv").write_text("doc_id,acc\n" + "".join(f"{i},1\n" for i in range(7)))

    shown = printed("compare --values old/m.csv short.csv")

    assert "Note: compared on 7 of 9 items: short lacks 2 (7, 8)." in shown


def test_data_sets_have_standings_and_how_many_more_it_takes():
    shown = " ".join(printed("compare --values -m acc long.csv").split())

    values = {
        d: {m: {str(i): float((i * 7 + ord(m) * ord(d)) % 5) for i in range(9)} for m in "abc"}
        for d in "uvwxyz"
    }
    expected = fr.compare_datasets(values, interval="percentile", resample_queries=True)
    table = expected.standings("value")
    for system, mean, rank, low, high, *_ in table.rows():
        assert f"acc {system} {mean:.4f} {rank} {low} {high}" in shown
    assert "from resampled data sets and the items of each, not corrected" in shown
    first, second = table.columns["system"][:2]
    needed = table.columns["needed"][1]
    assert f"telling {first} from {second} takes {needed:,} such data sets, or " in shown
    means = fastrank("compare --values -m acc -q --format csv long.csv").out
    assert len(means.splitlines()) == 1 + 6 * 3


def test_how_many_items_of_these_data_sets_it_takes():
    """The sum of the variances within, by hand."""
    rows = {d: ([1, 0, 0, 1, 1], [0, 0, 0, 1, 1]) for d in "xy"}
    rows["z"] = ([1, 0, 1, 1, 0], [0, 1, 0, 0, 0])
    lines = [
        f"{m},{d},{i},{v}\n"
        for d, both in rows.items()
        for m, own in zip("ab", both, strict=True)
        for i, v in enumerate(own)
    ]
    Path("three.csv").write_text("model,dataset,id,acc\n" + "".join(lines))

    shown = " ".join(printed("compare --values three.csv").split())

    # The differences have the means 0.2, 0.2 and 0.4 and the variances 0.2, 0.2 and 0.8.
    sd = (15 * (0.2 + 0.2 + 0.8) / 5) ** 0.5 / 3
    items = fr.topics_needed(0.8 / 3, sd=sd)
    assert f"or {items} items of these 3 alone, which have 15" in shown


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html", "csv", "json"])
def test_hostile_names_are_harmless_in_every_format(form):
    rows = [
        {"system": s, "item": i, "acc": (i * 7 + len(s)) % 5} for s in HOSTILE for i in range(9)
    ]
    Path("hostile.json").write_text(json.dumps(rows))

    for shown in ("", "--pairs", "--standings", "-q"):
        status, text, told = fastrank(f"compare --values --format {form} {shown} hostile.json")
        assert (status, "\x1b" in told) == (0, False)
        # A CSV file has names as they are, but for formulas.
        assert form == "csv" or "\x1b" not in text
        if form == "html":
            assert "<script>" not in text
        if form == "csv":
            cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
            assert not [cell for cell in cells if cell.startswith(("=", "@", "-x"))]
        if form == "json":
            json.loads(text)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("wide.csv -l 2", "2 --relevance-level: no effect with --values"),
        ("wide.csv --missing zero", "2 --missing: no effect with --values"),
        ("wide.csv --tags", "2 --tags: no effect with --values"),
        ("wide.csv --columns value=acc", "2 --columns: no table has the columns 'acc'"),
        ("wide.csv -m map", "2 no values of 'map'; there are values of value"),
        ("long.csv -m accc", "2 no values of 'accc'; there are values of..."),
        ("wide.csv --clusters x", "1 wide.csv: columns: no column 'x' for the cluster; found..."),
        ("no.csv", "1 no.csv: no such file or directory"),
        ("wide.csv -b c", "2 baseline: 'c' is not one of the systems..."),
        ("wide.csv --name x", "2 names: expected 2, one per system, found 1"),
        ("long.csv -b a --standings", "2 --standings: needs all pairs; omit --baseline"),
    ],
)
def test_what_makes_no_sense_is_refused(line, expected):
    assert_refused(f"compare --values {line}", expected)


def samples(folder: str, task: str, time: str, values: dict[str, list[int]]) -> str:
    """A file as lm-evaluation-harness writes it: all items with one filter, then with the next."""
    Path(folder).mkdir(exist_ok=True)
    path = Path(folder, f"samples_{task}_2026-11-14T{time}.123456.jsonl")
    lines = [
        {"doc_id": i, "doc": {}, "target": "1", "filter": name, "metrics": ["acc"], "acc": value}
        for name, column in values.items()
        for i, value in enumerate(column)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return str(path)


def test_samples_of_a_harness_are_of_the_model_and_the_task_that_their_names_say():
    runs = {"org__a": [1, 1, 0], "org__b": [0, 1, 0]}
    both = {
        model: {"strict": values, "flexible": [1, *values[1:]]} for model, values in runs.items()
    }
    files = " ".join(samples(model, "gsm8k", "10-02-11", own) for model, own in both.items())
    more = " ".join(samples(model, "arc_easy", "10-02-11", own) for model, own in both.items())

    shown = printed(f"compare --values {files}").splitlines()
    assert ["system", "acc,strict", "acc,flexible"] in map(str.split, shown)
    assert ["a", "org__a", "0.6667", "0.6667"] in map(str.split, shown)
    assert "flexible" not in printed(f"compare --values -m acc,strict {files}")
    found = " ".join(printed(f"compare --values -m acc,strict {files} {more}").split())
    assert "2 data sets. low, high: 95% interval of the rank" in found
    again = samples("org__a", "gsm8k", "11-42-53", both["org__a"])
    assert "samples_gsm8k_2026-11-14T11-42-53" in printed(f"compare --values {files} {again}")


def test_measures_are_named_as_eval_takes_or_prints_them():
    printed(f"eval -q -m map -m P.10 -o values.csv {FILES}")

    notation, name = (printed(f"compare --values -m {m} values.csv") for m in ("P.10", "P_10"))

    assert notation == name
    assert_refused("compare --values -m P.11 values.csv", "2 ...there are values of P_10, map")


@pytest.mark.parametrize(
    "options",
    ["", "-b a", "--pairs", "-q", "--standings", "--largest 3", "-q --format csv"],
)
def test_items_are_called_as_their_column_is(options):
    Path("asked.csv").write_text(WIDE.replace("item", "question_id"))

    shown = fastrank(f"compare --values {options} asked.csv")

    assert "question" in shown.out
    assert "quer" not in shown.out + shown.err


def test_clusters_are_a_column():
    options = "--test randomization --interval percentile --clusters text -m acc"
    rows = "".join(line for line in LONG.splitlines(keepends=True) if ",u," in line or "id" in line)
    Path("one.csv").write_text(rows)

    assert "few clusters (3)" in printed(f"compare --values {options} one.csv")
    found = fastrank("compare --values -m acc one.csv --columns cluster=text")
    assert "the items of a text are treated as independent, without --clusters text" in found.out
