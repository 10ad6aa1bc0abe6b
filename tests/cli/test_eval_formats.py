"""`fastrank eval --format` and `-o`."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scipy import stats

import fastrank as fr
from tests.helpers.parsing import read_trec_qrels
from tests.helpers.paths import DATA

QRELS, PIXELS, PCA = (str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run"))
MEASURES = ("-m", "num_q", "-m", "map", "-m", "P.5")
FORMATS = ["trec", "table", "csv", "json", "jsonl", "markdown", "latex"]


def evaluate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fastrank", "eval", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def printed(*arguments: str) -> str:
    found = evaluate(*MEASURES, *arguments)
    assert (found.stderr, found.returncode) == ("", 0)
    return found.stdout


@pytest.fixture(scope="module")
def scores() -> list[fr.Scores]:
    found = fr.evaluate(read_trec_qrels(QRELS), [PIXELS, PCA], "num_q map P.5")
    assert isinstance(found, list)
    return found


def test_trec_is_the_default() -> None:
    assert printed("--format", "trec", "-q", QRELS, PCA) == printed("-q", QRELS, PCA)


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_tables_have_a_row_for_each_run(form: str, scores: list[fr.Scores]) -> None:
    table = fr.table(scores)
    expected = {"table": str(table), "markdown": table.to_markdown(), "latex": table.to_latex()}
    assert printed("--format", form, QRELS, PIXELS, PCA) == expected[form] + "\n"


def test_tables_per_query_have_a_row_for_each_and_then_for_all() -> None:
    lines = printed("--format", "table", "-q", QRELS, PIXELS, PCA).splitlines()

    assert lines[0].split() == ["query", "measure", "pixels", "pca"]
    assert len(lines) == 2 + 2 * 200 + 3
    assert lines[2].split() == ["q0000", "map", "0.6329", "0.6257"]
    assert lines[402].split() == ["all", "num_q", "200", "200"]
    assert lines[403].split() == ["all", "map", "0.4348", "0.3493"]


def test_a_table_per_query_of_one_run_has_a_column_for_each_measure() -> None:
    lines = printed("--format", "table", "-q", QRELS, PIXELS).splitlines()

    assert lines[0].split() == ["query", "num_q", "map", "P_5"]
    assert lines[2].split() == ["q0000", "0.6329", "1.0000"]
    assert lines[202].split() == ["all", "200", "0.4348", "0.9640"]
    assert len(printed("--format", "table", "-q", "-n", QRELS, PCA).splitlines()) == 2 + 200


def test_tables_have_the_shape_that_is_asked_for(scores: list[fr.Scores]) -> None:
    table = fr.table(scores, ["raw", "PCA"], digits=2, bold=False).transpose()
    asked = ("--name", "raw", "--name", "PCA", "--digits", "2", "--no-bold", "--transpose")

    assert printed("--format", "latex", *asked, QRELS, PIXELS, PCA) == table.to_latex() + "\n"


def _run_names(*arguments: str) -> list[str]:
    rows = csv.DictReader(io.StringIO(printed("--format", "csv", *arguments)))
    return list(dict.fromkeys(row["run"] for row in rows))


def test_runs_are_named_by_their_files_their_tags_or_as_asked(tmp_path: Path) -> None:
    copy = tmp_path / "pca.run"
    copy.write_bytes(Path(PCA).read_bytes())

    assert _run_names(QRELS, PIXELS, PCA) == ["pixels", "pca"]
    distinct = ["pixels", "data/pca.run", f"{tmp_path.name}/pca.run"]
    assert _run_names(QRELS, PIXELS, PCA, str(copy)) == distinct
    assert _run_names("--tags", QRELS, PCA, str(copy)) == ["pca", "pca (2)"]
    assert _run_names("--name", "a", "--name", "a", QRELS, PIXELS, PCA) == ["a", "a (2)"]


@pytest.mark.parametrize(
    "flags", [[], ["--tags"], ["--name", "a", "--name", "a"], ["--name", "é", "--name", "b c"]]
)
def test_runs_have_the_same_names_in_trec_format_as_in_the_others(flags: list[str]) -> None:
    lines = printed(*flags, "-m", "map", QRELS, PIXELS, PCA).splitlines()

    named = [line.split("\t")[2] for line in lines if line.startswith("run ")]
    assert named == _run_names(*flags, QRELS, PIXELS, PCA)


def test_a_run_without_a_tag_is_named_by_its_file(tmp_path: Path) -> None:
    tagless = tmp_path / "run.csv"
    tagless.write_text("query_id,doc_id,score\nq0000,d0001,1\n")

    found = evaluate("--tags", "-m", "map", "--format", "csv", QRELS, str(tagless))

    assert found.stdout.splitlines()[1].startswith("run,,map,")


def test_there_must_be_a_name_for_each_run() -> None:
    for names in (["--name", "a"], ["--name", "a", "--name", "b", "--tags"]):
        found = evaluate(*names, QRELS, PIXELS, PCA)
        assert (found.returncode, found.stdout) == (2, "")
        assert found.stderr.startswith("fastrank eval: --name")


@pytest.mark.parametrize("options", [[], ["-q"], ["-q", "-n"]])
def test_csv_has_either_means_or_a_line_for_each_query(
    options: list[str], scores: list[fr.Scores]
) -> None:
    rows = list(csv.DictReader(io.StringIO(printed("--format", "csv", *options, QRELS, PCA))))

    expected = [
        {"run": "pca", "query": query, "measure": name, "value": repr(value)}
        for query, own in scores[1].to_dict().items()
        for name, value in own.items()
        if "-q" in options
    ]
    if not options:
        expected += [
            {"run": "pca", "query": "", "measure": name, "value": repr(value)}
            for name, value in (scores[1].mean | {"num_q": 200}).items()
        ]
    assert rows == expected


@pytest.mark.parametrize("options", [[], ["-q"]])
def test_jsonl_has_an_object_for_each_line_of_csv(options: list[str]) -> None:
    given = (*options, QRELS, PIXELS, PCA)
    rows = csv.DictReader(io.StringIO(printed("--format", "csv", *given)))
    lines = printed("--format", "jsonl", *given).splitlines()

    assert [json.loads(line) for line in lines] == [
        row | {"query": row["query"] or None, "value": json.loads(row["value"])} for row in rows
    ]


INFINITE = "FirstRank(unretrieved=worst)"
INTERVAL = ("-m", "gm_map", "--interval", "bca", "--level", "0.9", "--resamples", "300")


@pytest.fixture(scope="module")
def comparison() -> fr.types.Comparison:
    options = {"interval": "bca", "level": 0.9, "resamples": 300}
    return fr.compare(QRELS, [PIXELS, PCA], "map P.5", **options)


def test_intervals_in_csv_and_jsonl_are_those_of_a_comparison(
    comparison: fr.types.Comparison,
) -> None:
    rows = csv.DictReader(io.StringIO(printed("--format", "csv", *INTERVAL, QRELS, PIXELS, PCA)))
    lines = printed("--format", "jsonl", *INTERVAL, QRELS, PIXELS, PCA).splitlines()

    for row, line in zip(rows, lines, strict=True):
        shown = "", ""
        if row["measure"] in comparison.measures:
            bounds = comparison.interval_of(row["measure"], row["run"])
            shown = repr(bounds[0]), repr(bounds[1])
        assert (row["low"], row["high"]) == shown
        own = json.loads(line)
        assert (own["low"], own["high"]) == tuple(map(json.loads, (s or "null" for s in shown)))


def test_intervals_in_json_are_those_of_a_comparison(comparison: fr.types.Comparison) -> None:
    for own in json.loads(printed("--format", "json", *INTERVAL, QRELS, PIXELS, PCA)):
        expected = {
            name: dict(zip(("low", "high"), comparison.interval_of(name, own["run"]), strict=True))
            for name in comparison.measures
        }
        assert own["interval"] == {"num_q": None, "gm_map": None, **expected}


def test_tables_show_scipys_t_interval_after_each_mean(scores: list[fr.Scores]) -> None:
    values = scores[0]["map"]
    bounds = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    cell = f"{values.mean():.4f} [{bounds[0]:.4f}, {bounds[1]:.4f}]"

    for form, options in {"table": [], "markdown": ["--transpose"], "latex": ["-q"]}.items():
        shown = printed("--format", form, *options, QRELS, PIXELS, PCA, "--interval")
        assert cell in shown
        assert " 200 " in shown


def test_values_that_are_no_means_or_infinite_have_no_interval(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\nr 0 e 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 1 t\nr Q0 d 1 1 t\n")

    found = evaluate("-m", "all_trec", "-m", INFINITE, "-m", "relstring", "--interval", "t",
                     "--format", "csv", str(tmp_path / "qrels"), str(tmp_path / "run"))  # fmt: skip

    assert (found.stderr, found.returncode) == ("", 0)
    rows = {row["measure"]: row["high"] for row in csv.DictReader(io.StringIO(found.stdout))}
    assert rows["map"]
    assert rows[INFINITE] == ""
    assert {rows[name] for name in ("num_ret", "gm_map", "num_q")} == {""}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--interval"], "--interval: no effect with --format trec; use table, csv, json"),
        (["--level", ".9", "--format", "csv"], "--level: no effect without --interval"),
        (["--interval", "--seed", "1", "--format", "csv"], "--seed: no effect with --interval t"),
        (["--interval", "--level", "2", "--format", "csv"], "level: expected a number between"),
        (["--interval", "-q", "--format", "csv"], "-q with --format csv has none; omit -q"),
        (["--interval", "-n", "--format", "table"], "-n leaves out means; omit -n"),
    ],
)
def test_flags_of_intervals_without_effect_are_errors(options: list[str], message: str) -> None:
    found = evaluate(QRELS, PIXELS, *options)

    assert (found.returncode, found.stdout) == (2, "")
    assert message in found.stderr


def test_json_has_an_object_for_each_run(scores: list[fr.Scores]) -> None:
    found = json.loads(printed("--format", "json", "-q", QRELS, PIXELS, PCA))

    assert found == [
        {"file": file, **json.loads(own.to_json()), "run": Path(file).stem}
        for file, own in zip([PIXELS, PCA], scores, strict=True)
    ]
    short = json.loads(printed("--format", "json", QRELS, PCA))
    own = json.loads(scores[1].to_json(per_query=False))
    assert short == [{"file": PCA, **own, "run": "pca"}]
    assert "mean" not in json.loads(printed("--format", "json", "-n", QRELS, PCA))[0]


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_strict_parsers_can_read_ids_that_are_not_utf8(form: str, tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(b"\xffq 0 d 1\n")
    run.write_bytes(b"\xffq Q0 d 1 1 \xfe\n")

    shown = printed("-q", "-m", "map", "-m", "runid", "--format", form, str(qrels), str(run))

    found = json.loads(shown) if form == "json" else [*map(json.loads, shown.splitlines())]
    assert r"\xffq" in (found[0]["per_query"] if form == "json" else found[0]["query"])
    # Lone surrogates cannot be encoded.
    json.dumps(found, ensure_ascii=False).encode()


def test_values_of_fewer_runs_are_printed_when_others_fail(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("5 Q0 d1\n")

    found = evaluate(*MEASURES, "--format", "csv", QRELS, str(tmp_path / "broken"), PCA)

    assert found.returncode == 1
    assert found.stdout == printed("--format", "csv", QRELS, PCA)


@pytest.mark.parametrize("form", FORMATS)
def test_output_goes_to_a_file(form: str, tmp_path: Path) -> None:
    target = tmp_path / "out"

    assert printed("--format", form, "-o", str(target), QRELS, PIXELS, PCA) == ""

    assert target.read_text() == printed("--format", form, QRELS, PIXELS, PCA)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_standard_output_is_a_file_too() -> None:
    assert printed("-o", "-", QRELS, PCA) == printed(QRELS, PCA)


@pytest.mark.parametrize("options", [[], ["-o", "-"]])
def test_a_closed_pipe_ends_quietly(options: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "fastrank", "eval", "-q", *options, QRELS, PCA],
        stdout=write, stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    os.close(write)

    assert (done.returncode, done.stderr) == (141, b"")


def test_a_file_is_not_written_where_a_run_fails(tmp_path: Path) -> None:
    """What was there before stays."""
    (tmp_path / "broken").write_text("5 Q0 d1\n")
    target = tmp_path / "out"
    target.write_text("before")

    found = evaluate("-o", str(target), QRELS, PCA, str(tmp_path / "broken"))

    assert found.returncode == 1
    assert found.stderr.splitlines()[1:] == [
        f"fastrank eval: {target} was not written",
        "fastrank eval: 1 of 2 runs could not be evaluated",
    ]
    assert target.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "out"]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    found = evaluate("-o", str(tmp_path / "nowhere" / "out"), QRELS, PCA)

    assert (found.returncode, found.stdout) == (1, "")
    assert f"cannot write {tmp_path}/nowhere/out: No such file or directory" in found.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_an_interruption_leaves_nothing_behind(tmp_path: Path) -> None:
    """Between two runs: the first is evaluated, the second is a pipe into which nobody writes."""
    pipe, target = tmp_path / "pipe", tmp_path / "out" / "values"
    os.mkfifo(pipe)
    target.parent.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "fastrank", "eval", "-o", str(target), QRELS, PCA, str(pipe)],
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not list(target.parent.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert list(target.parent.iterdir()) != []

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert (process.returncode, said) == (130, b"")
    assert list(target.parent.iterdir()) == []


def test_an_unknown_format_is_refused() -> None:
    found = evaluate("--format", "html", QRELS, PCA)

    assert found.returncode == 2
    assert "invalid choice: 'html'" in found.stderr


def test_names_are_escaped_as_the_format_asks(tmp_path: Path) -> None:
    run = tmp_path / 'a|b_,"c'
    run.write_bytes(Path(PCA).read_bytes())

    assert r'a\|b\_,"c' in printed("--format", "markdown", QRELS, str(run))
    assert r'a\textbar{}b\_,"c' in printed("--format", "latex", QRELS, str(run))
    assert '"a|b_,""c",,num_q,200' in printed("--format", "csv", QRELS, str(run))
    assert json.loads(printed("--format", "json", QRELS, str(run)))[0]["file"] == str(run)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("x.csv", "csv"), ("x.json", "json"), ("x.jsonl", "jsonl"), ("x.MD", "markdown"),
        ("x.tex", "latex"), ("x.txt", "trec"), ("x", "trec"),
    ],
)  # fmt: skip
def test_the_name_of_the_output_determines_the_format(name: str, form: str, tmp_path: Path) -> None:
    path = tmp_path / name

    assert printed("-o", str(path), QRELS, PCA) == ""

    assert path.read_text() == printed("--format", form, QRELS, PCA)


def test_a_format_that_is_given_comes_before_the_name_of_the_output(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"

    printed("-o", str(path), "--format", "json", QRELS, PCA)

    assert path.read_text() == printed("--format", "json", QRELS, PCA)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--digits", "6"], "--digits: no effect with --format trec; use table, markdown or latex"),
        (["--transpose", "--format", "csv"],
         "--transpose: no effect with --format csv; use table, markdown or latex"),
        (["--no-bold", "-o", "x.json"],
         "--no-bold: no effect with --format json; use table, markdown or latex"),
    ],
)  # fmt: skip
def test_a_flag_without_effect_is_an_error(arguments: list[str], message: str) -> None:
    found = evaluate(*arguments, QRELS, PCA)

    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == f"fastrank eval: {message}\n"
