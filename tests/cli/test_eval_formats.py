"""`fastrank eval --format`: what each format holds, the names of runs, intervals."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from scipy import stats

import fastrank as fr
from tests.helpers.commands import PCA, PIXELS, PROFILE, QRELS, fastrank, printed, write
from tests.helpers.paths import DATA

TWO = f"{QRELS} {PIXELS} {PCA}"
ONE = f"{QRELS} {PCA}"


def evaluate(arguments: str) -> str:
    return printed(f"eval -m num_q -m map -m P.5 {arguments}")


def rows(arguments: str) -> list[dict[str, str]]:
    return list(csv.DictReader(evaluate(f"--format csv {arguments}").splitlines()))


@pytest.fixture(scope="module")
def scores() -> list[fr.Scores]:
    runs = [DATA / PIXELS, DATA / PCA]
    found = fr.evaluate(DATA / QRELS, runs, "num_q map P.5")
    assert isinstance(found, list)
    return found


def test_tables_per_query_have_a_row_for_each_and_then_for_all():
    lines = [line.split() for line in evaluate(f"--format table -q {TWO}").splitlines()]

    assert lines[0] == ["query", "measure", "pixels", "pca"]
    assert len(lines) == 2 + 2 * 200 + 3
    assert lines[2] == ["q0000", "map", "0.6329", "0.6257"]
    assert lines[402] == ["all", "num_q", "200", "200"]
    assert lines[403] == ["all", "map", "0.4348", "0.3493"]


def test_a_table_per_query_of_one_run_has_a_column_for_each_measure():
    text = evaluate(f"--format table -q {QRELS} {PIXELS}")
    lines = [line.split() for line in text.splitlines()]

    assert lines[0] == ["query", "num_q", "map", "P_5"]
    assert lines[2] == ["q0000", "0.6329", "1.0000"]
    assert lines[202] == ["all", "200", "0.4348", "0.9640"]
    assert len(evaluate(f"--format table -q -n {ONE}").splitlines()) == 2 + 200


def _run_names(arguments: str) -> list[str]:
    return list(dict.fromkeys(row["run"] for row in rows(arguments)))


def test_runs_are_named_by_their_files_their_tags_or_as_asked(folder):
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / PCA).symlink_to(DATA / PCA)

    assert _run_names(TWO) == ["pixels", "pca"]
    assert _run_names(f"{TWO} one/{PCA}") == ["pixels", PCA, f"one/{PCA}"]
    assert _run_names(f"{QRELS} one/{PCA} two/{PCA}") == [f"one/{PCA}", f"two/{PCA}"]
    assert _run_names(f"--tags {ONE} two/{PCA}") == ["pca", "pca (2)"]
    assert _run_names(f"--name a --name a {TWO}") == ["a", "a (2)"]


@pytest.mark.parametrize("flags", ["", "--tags", "--name a --name a", "--name é --name 'b c'"])
def test_runs_have_the_same_names_in_trec_format_as_in_the_others(flags):
    lines = evaluate(f"--format trec {flags} {TWO}").splitlines()

    named = [line.split("\t")[2] for line in lines if line.startswith("run ")]
    assert named == _run_names(f"{flags} {TWO}")


def test_a_run_without_a_tag_is_named_by_its_file():
    write({"qrels": "q 0 d 1\n", "run.csv": "query_id,doc_id,score\nq,d,1\n"})

    assert _run_names("--tags qrels run.csv") == ["run"]


ONE_RUN = f"-m map {QRELS} {PCA}"
AS_TABLES = [
    (f"-m map {TWO}", f"-m map --format table {TWO}"),
    (f"--interval {ONE_RUN}", f"--interval t --format table {ONE_RUN}"),
    (f"--interval bca {ONE_RUN}", f"--interval bca --format table {ONE_RUN}"),
    (f"-m map --interval {TWO}", f"-m map --interval=t --format table {TWO}"),
    (ONE_RUN, f"--format trec {ONE_RUN}"),
]


@pytest.mark.parametrize(("line", "same"), AS_TABLES)
def test_several_runs_and_intervals_are_a_table(line, same):
    """And --interval takes no file as its value."""
    assert evaluate(line) == evaluate(same)


def test_a_table_that_would_not_fit_has_a_row_for_each_measure():
    lines = printed(f"eval {TWO}").splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["measure", "pixels", "pca"]
    assert lines == printed(f"eval --transpose {TWO}").splitlines()


THREE = f"{TWO} {PROFILE}"
# Flags, and the cells that then are in the columns.
LAYOUTS = [
    ("-m map --sort map", ["pixels", "0.4348", "pca", "0.3493", "profile", "0.3447"]),
    ("-m FirstRank --sort FirstRank", ["profile", "1.1960", "pixels", "1.2750", "pca", "1.6583"]),
    ("-m map -m P.10 --sort P_10 --transpose", ["map", "0.4348", "0.3447", "0.3493", "P_10"]),
    ("-m num_q -m map --percent", ["pixels", "200", "43.48", "pca", "200", "34.93"]),
    ("-m map --percent --digits 0", ["pixels", "43", "pca", "35", "profile", "34"]),
    ("-m map --percent --digits 0 --interval", ["pixels", "43", "[41,", "46]"]),
    ("-m map --percent -q", ["q0000", "map", "63.29", "62.57", "63.29"]),
]


@pytest.mark.parametrize(("flags", "cells"), LAYOUTS)
def test_tables_are_sorted_and_in_percent(flags, cells):
    lines = fastrank(f"eval --format table {flags} {THREE}").out.splitlines()

    assert " ".join(lines[2:]).split()[: len(cells)] == cells
    assert (lines[-1] == "Values in percent.") == ("--percent" in flags)


def test_values_in_percent_are_bold_if_they_are_the_best_as_shown():
    text = printed(f"eval --format markdown --percent --digits 1 -m map -m P.10 {THREE}")

    assert re.findall(r"\*\*(.*?)\*\*", text) == ["43.5", "95.1"]


def test_names_are_escaped_as_the_format_asks():
    name = 'a|b_,"c'
    Path(name).symlink_to(DATA / PCA)

    line = f"{QRELS} '{name}'"
    assert r'a\|b\_,"c' in evaluate(f"--format markdown {line}")
    assert r'a\textbar{}b\_,"c' in evaluate(f"--format latex {line}")
    assert '"a|b_,""c",,num_q,200' in evaluate(f"--format csv {line}")
    assert json.loads(evaluate(f"--format json {line}"))[0]["file"] == name


@pytest.mark.parametrize("options", ["", "-q", "-q -n"])
def test_csv_has_either_means_or_a_line_for_each_query(options, scores):
    values = scores[1].to_dict() if options else {"": {**scores[1].mean, "num_q": 200}}

    assert rows(f"{options} {ONE}") == [
        {"run": "pca", "query": query, "measure": name, "value": repr(value)}
        for query, own in values.items()
        for name, value in own.items()
    ]


@pytest.mark.parametrize("options", ["", "-q"])
def test_jsonl_has_an_object_for_each_line_of_csv(options):
    lines = evaluate(f"--format jsonl {options} {TWO}").splitlines()

    assert [json.loads(line) for line in lines] == [
        row | {"query": row["query"] or None, "value": json.loads(row["value"])}
        for row in rows(f"{options} {TWO}")
    ]


def test_json_has_an_object_for_each_run(scores):
    assert json.loads(evaluate(f"--format json -q {TWO}")) == [
        {"file": file, **json.loads(own.to_json()), "run": Path(file).stem}
        for file, own in zip([PIXELS, PCA], scores, strict=True)
    ]
    own = json.loads(scores[1].to_json(per_query=False))
    assert json.loads(evaluate(f"--format json {ONE}")) == [{"file": PCA, **own, "run": "pca"}]
    assert "mean" not in json.loads(evaluate(f"--format json -n {ONE}"))[0]


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_strict_parsers_can_read_ids_that_are_not_utf8(form):
    write({"qrels": b"\xffq 0 d 1\n", "run": b"\xffq Q0 d 1 1 \xfe\n"})

    shown = printed(f"eval -q -m map -m runid --format {form} qrels run")

    found = json.loads(shown) if form == "json" else [*map(json.loads, shown.splitlines())]
    assert r"\xffq" in (found[0]["per_query"] if form == "json" else found[0]["query"])
    # Lone surrogates cannot be encoded.
    json.dumps(found, ensure_ascii=False).encode()


INTERVAL = f"-m gm_map --interval bca --level 0.9 --resamples 300 {TWO}"


@pytest.fixture(scope="module")
def comparison() -> fr.types.Comparison:
    runs = [DATA / PIXELS, DATA / PCA]
    return fr.compare(DATA / QRELS, runs, "map P.5", interval="bca", level=0.9, resamples=300)


def test_intervals_in_csv_and_jsonl_are_those_of_a_comparison(comparison):
    lines = evaluate(f"--format jsonl {INTERVAL}").splitlines()

    for row, line in zip(rows(INTERVAL), lines, strict=True):
        shown = "", ""
        if row["measure"] in comparison.measures:
            bounds = comparison.interval_of(row["measure"], row["run"])
            shown = repr(bounds[0]), repr(bounds[1])
        assert (row["low"], row["high"]) == shown
        own = json.loads(line)
        assert (own["low"], own["high"]) == tuple(map(json.loads, (s or "null" for s in shown)))


def test_intervals_in_json_are_those_of_a_comparison(comparison):
    for own in json.loads(evaluate(f"--format json {INTERVAL}")):
        expected = {
            name: dict(zip(("low", "high"), comparison.interval_of(name, own["run"]), strict=True))
            for name in comparison.measures
        }
        assert own["interval"] == {"num_q": None, "gm_map": None, **expected}


@pytest.mark.parametrize("layout", ["table", "markdown --transpose", "latex -q"])
def test_tables_show_scipys_t_interval_after_each_mean(layout, scores):
    values = scores[0]["map"]
    bounds = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))

    shown = evaluate(f"--format {layout} {TWO} --interval")

    assert f"{values.mean():.4f} [{bounds[0]:.4f}, {bounds[1]:.4f}]" in shown
    assert " 200 " in shown


def test_values_that_are_no_means_or_infinite_have_no_interval():
    write({"qrels": "q 0 d 1\nr 0 e 1\n", "run": "q Q0 d 1 1 t\nr Q0 d 1 1 t\n"})

    found = rows("-m all_trec -m FirstRank(unretrieved=worst) -m relstring --interval t qrels run")

    high = {row["measure"]: row["high"] for row in found}
    assert high["map"]
    without = ("FirstRank(unretrieved=worst)", "num_ret", "gm_map", "num_q")
    assert {high[name] for name in without} == {""}
