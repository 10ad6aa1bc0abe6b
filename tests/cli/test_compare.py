"""`fastrank compare`: what it prints and writes, and its exit status."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fastrank as fr
from fastrank.cli.compare import HINT
from fastrank.cli.main import main
from tests.helpers.paths import DATA

QRELS, *RUNS = (
    str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run", "profile.run")
)
FILES = [QRELS, *RUNS]
Capture = pytest.CaptureFixture[bytes]


def _printed(capture: Capture, *arguments: str) -> str:
    status = main(["compare", *arguments])

    out, err = capture.readouterr()
    assert (status, err) == (0, b"")
    return out.decode()


def _words(line: str) -> list[str]:
    return line.split()


def _failed(capture: Capture, *arguments: str) -> tuple[int, str]:
    status = main(["compare", *arguments])

    out, err = capture.readouterr()
    assert out == b""
    return status, err.decode()


def test_map_and_ndcg_are_compared_by_default(capfdbinary: Capture) -> None:
    assert _printed(capfdbinary, *FILES) == (
        "    system         map    ndcg_cut_10\n"
        "--  --------  --------  -------------\n"
        "a   pixels    0.4348ᵇᶜ       0.6634ᵇᶜ\n"
        "b   pca       0.3493         0.5064\n"
        "c   profile   0.3447         0.6074ᵇ\n"
        "\n"
        "200 queries. Letters: significantly better than that system (p ≤ 0.05, paired t-test,\n"
        "Holm-corrected for the 3 pairs of a measure).\n"
        f"{HINT}\n"
    )


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", lambda compared: compared.to_text() + "\n"),
        ("markdown", lambda compared: compared.to_markdown() + "\n"),
        ("latex", lambda compared: compared.to_latex() + "\n"),
        ("html", lambda compared: compared.to_html() + "\n"),
        ("csv", lambda compared: compared.to_csv()),
        ("json", lambda compared: compared.to_json(indent=2) + "\n"),
    ],
)
def test_every_format_is_that_of_python(
    form: str, expected: Callable[[fr.types.Comparison], str], capfdbinary: Capture
) -> None:
    compared = fr.compare(QRELS, RUNS, "map P.10", baseline="pca", correction="bonferroni")

    found = _printed(
        capfdbinary, "-m", "map", "-m", "P.10", "-b", "pca", "--correction", "bonferroni",
        "--format", form, *FILES,
    )  # fmt: skip

    assert found == expected(compared)


def test_options_of_tests_and_evaluation_are_passed_on(capfdbinary: Capture) -> None:
    compared = fr.compare(
        QRELS, RUNS, "map", test="randomization", interval="percentile", level=0.9, alpha=0.01,
        resamples=500, seed=3, exact_up_to=0, relevance_level=2, depth=20, ties="docno_asc",
    )  # fmt: skip

    found = _printed(
        capfdbinary, *_words("-m map --test randomization --interval percentile --level 0.9"),
        *_words("--alpha 0.01 --resamples 500 --seed 3 --exact-up-to 0 -l 2 -M 20"),
        *_words("--ties docno_asc --format json"), *FILES,
    )  # fmt: skip

    assert json.loads(found) == json.loads(compared.to_json())


def test_a_baseline_can_be_named_by_its_file(capfdbinary: Capture) -> None:
    by_file = _printed(capfdbinary, "-b", RUNS[1], *FILES)

    assert by_file == _printed(capfdbinary, "-b", "pca", *FILES)


def test_pairs_have_intervals_and_p_values(capfdbinary: Capture) -> None:
    lines = _printed(capfdbinary, "--pairs", "-m", "map", *FILES).splitlines()

    assert lines[0].split("  ")[0] == "measure"
    assert lines[4].split() == _words(
        "map pca profile 0.3493 0.3447 +0.0046 [-0.0122, +0.0214] 0.5880 102/4/94 0.0384"
    )


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_pairs_have_notes_in_every_format(form: str, capfdbinary: Capture) -> None:
    found = _printed(capfdbinary, "--pairs", "--format", form, QRELS, RUNS[0], RUNS[0])

    assert "identical on every query" in found
    assert "mean a - mean b" in found


def test_values_of_each_query_are_side_by_side(capfdbinary: Capture) -> None:
    lines = _printed(capfdbinary, "-q", "-m", "P.5", *FILES).splitlines()

    assert lines[0].split("  ")[0] == "measure"
    assert lines[0].split()[1:5] == ["query", "pixels", "pca", "profile"]
    assert len(lines) == 202


@pytest.mark.parametrize(
    ("chosen", "a", "b"),
    [
        ([], "pixels", "profile"), (["-b", "pca"], "pixels", "pca"),
        (["--pair", "profile", RUNS[1]], "profile", "pca"),
    ],
)  # fmt: skip
def test_values_of_each_query_have_a_difference(
    chosen: list[str], a: str, b: str, capfdbinary: Capture
) -> None:
    """Of the two best, of the best and the baseline, or of the named runs."""
    lines = _printed(capfdbinary, "-q", "-m", "P.5", *chosen, *FILES).splitlines()

    assert lines[0].endswith(f"    {a} - {b}")
    names = ["pixels", "pca", "profile"]
    for line in lines[2:]:
        *values, difference = map(float, line.split()[2:])
        first, second = (values[names.index(name)] for name in (a, b))
        assert difference == pytest.approx(first - second, abs=1e-4)


def test_values_of_one_run_have_no_difference(capfdbinary: Capture) -> None:
    lines = _printed(capfdbinary, "-q", "-m", "P.5", QRELS, RUNS[0]).splitlines()

    assert lines[0].split() == ["measure", "query", "pixels"]


READERS: dict[str, Callable[[str], list[list[str]]]] = {
    "table": lambda text: [line.split() for line in text.splitlines()[2:]],
    "markdown": lambda text: [line.strip("| ").split(" | ") for line in text.splitlines()[2:]],
    "csv": lambda text: [line.split(",") for line in text.splitlines()[1:]],
    "json": lambda text: [list(row.values()) for row in json.loads(text)],
}


@pytest.mark.parametrize("form", READERS)
def test_the_queries_that_differ_most_are_printed(form: str, capfdbinary: Capture) -> None:
    text = _printed(capfdbinary, "--largest", "3", "--format", form, *FILES[:3])

    rows = READERS[form](text)
    compared = fr.compare(QRELS, RUNS[:2], "map ndcg_cut.10")
    for measure, part in (("map", rows[:3]), ("ndcg_cut_10", rows[3:])):
        expected = compared.largest(measure, 3, pair=("pixels", "pca")).rows()
        for (name, query, *values), (own, *numbers) in zip(part, expected, strict=True):
            assert (name.strip(), query.strip()) == (measure, own)
            assert list(map(float, values)) == pytest.approx(numbers, abs=1e-4)


def test_the_chosen_two_of_several_runs_are_named(tmp_path: Path, capfdbinary: Capture) -> None:
    pytest.importorskip("matplotlib")
    plot = ["--plot", str(tmp_path / "a.svg"), "--plot-kind", "scatter"]
    for asked, why in (
        (["--largest", "2"], "pixels and pca are shown, the two best in map"),
        (plot, "pixels and pca are shown, the two best in map"),
        (
            ["-b", "profile", *plot],
            "pixels and profile are shown, the best and the baseline in map",
        ),
    ):
        assert main(["compare", *asked, *FILES]) == 0
        assert capfdbinary.readouterr().err.decode() == (
            f"fastrank compare: of 3 runs, {why}; --pair RUN RUN shows two others\n"
        )

    _printed(capfdbinary, *plot, "--pair", "profile", "pca", *FILES)

    assert "map: profile against pca" in (tmp_path / "a.svg").read_text()


def test_values_of_each_query_as_csv(capfdbinary: Capture) -> None:
    compared = fr.compare(QRELS, RUNS, "P.5")

    found = _printed(capfdbinary, "-q", "-m", "P.5", "--format", "csv", *FILES)

    assert found == compared.to_csv(per_query=True)


def test_the_layout_of_means_can_be_changed(capfdbinary: Capture) -> None:
    compared = fr.compare(QRELS, RUNS, "map P.10")

    found = _printed(
        capfdbinary, *_words("-m map -m P.10 --letters --sort P_10 --digits 1 --percent --ascii"),
        *FILES,
    )  # fmt: skip

    assert found == (
        compared.to_text(letters=True, sort="P_10", digits=1, percent=True, ascii=True)
        + f"\n{HINT}\n"
    )


def test_names_can_be_given(capfdbinary: Capture) -> None:
    found = _printed(
        capfdbinary, "--name", "one", "--name", "two", "-b", "two", QRELS, RUNS[0], RUNS[1]
    )

    assert found.splitlines()[2].startswith("one ")


def test_runs_with_equal_tags_are_named_by_their_files(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).write_bytes((DATA / "pca.run").read_bytes())

    found = _printed(
        capfdbinary, "--ascii", QRELS, str(tmp_path / "first"), str(tmp_path / "second")
    )

    assert [line.split()[1] for line in found.splitlines()[2:4]] == ["first", "second"]


def test_symbols_are_in_ascii_if_the_terminal_cannot_encode_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, "ascii"))

    status = main(["compare", *FILES])

    assert status == 0
    assert b"0.4348^bc" in out.getvalue()


def test_missing_queries_are_left_out_or_count_as_0_and_are_noted(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    lines = (DATA / "pca.run").read_text().splitlines(keepends=True)
    short = tmp_path / "short.run"
    short.write_text("".join(line for line in lines if not line.startswith("q0007 ")))

    files = "--name", "a", "--name", "b", QRELS, RUNS[0], str(short)
    lacks = "Note: b lacks 1 of 200 judged queries (q0007);"

    found = _printed(capfdbinary, *files)
    assert f"{lacks} it is left out (--missing zero counts it as 0)." in " ".join(found.split())
    assert f"{lacks} it counts as 0." in _printed(capfdbinary, "--missing", "zero", *files)


def test_notes_of_csv_are_on_standard_error(capfdbinary: Capture) -> None:
    status = main(["compare", "--format", "csv", "--test", "wilcoxon", *FILES])

    err = capfdbinary.readouterr().err.decode()
    assert status == 0
    assert err
    assert all(line.startswith("fastrank compare: ") for line in err.splitlines())


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".tex", b"\\begin{tabular}"), (".html", b"<!DOCTYPE html>"), (".json", b"{"),
     (".csv", b"measure,a"), (".md", b"|"), (".txt", b"    system")],
)  # fmt: skip
def test_the_file_determines_the_format(
    suffix: str, start: bytes, tmp_path: Path, capfdbinary: Capture
) -> None:
    target = tmp_path / f"out{suffix}"

    assert _printed(capfdbinary, "-o", str(target), *FILES) == ""

    assert target.read_bytes().startswith(start)


def test_nothing_is_written_if_a_run_cannot_be_evaluated(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    target, bad = tmp_path / "out.csv", tmp_path / "bad.run"
    target.write_text("old")
    bad.write_text("q0000 Q0 d\n")

    status, message = _failed(capfdbinary, "-o", str(target), QRELS, RUNS[0], str(bad))

    assert status == 1
    assert message.splitlines()[0].startswith(f"fastrank compare: {bad}:1: ")
    assert message.splitlines()[1:] == [
        "fastrank compare: 1 of 2 runs could not be evaluated; nothing was written"
    ]
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.run", "out.csv"]


def test_a_file_that_cannot_be_written_is_reported_first(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    target = str(tmp_path / "none" / "out.csv")

    assert _failed(capfdbinary, "-o", target, QRELS, "no.run") == (
        1, f"fastrank compare: cannot write {target}: No such file or directory\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["-b", "pcaa", *FILES], 2, "'pcaa' is not one of the systems; did you mean 'pca'?"),
        (["-m", "mapp", *FILES], 2, "unknown measure 'mapp'"),
        (["-m", "gm_map", *FILES], 2, "'gm_map': has no values per query to compare"),
        (["--sort", "P_5", *FILES], 2, "'P_5' is not compared"),
        (["--alpha", "2", *FILES], 2, "alpha: expected a number between 0 and 1, found 2.0"),
        (["--correction", "max-t", *FILES], 2, "needs a baseline"),
        (["--letters", "-b", "pca", *FILES], 2, "--letters: needs all pairs"),
        (["--digits", "2", "--format", "csv", *FILES], 2, "--digits: no effect with --format csv"),
        (["--sort", "map", "-q", *FILES], 2, "--sort: no effect with --format table and -q"),
        (["--ascii", "--format", "html", *FILES], 2, "--ascii: no effect with --format html"),
        (["--largest", "2", "--percent", *FILES], 2, "--percent: no effect with --format table"),
        (["--pair", "pca", "pixels", *FILES], 2, "--pair: no effect without --largest, -q"),
        (["-q", "--pair", "pca", "x", *FILES], 2, "'x' is not one of the systems"),
        (["--largest", "2", FILES[0], FILES[1]], 2, "pair: needs two systems, found 1"),
        (["--name", "a", *FILES], 2, "--name: expected one for each of 3 runs, found 1"),
        (["no.qrels", *RUNS], 2, "no.qrels"),
        ([QRELS, "no.run", RUNS[0]], 1, "no.run"),
    ],
)  # fmt: skip
def test_errors_are_reported_with_the_status(
    arguments: list[str], status: int, message: str, capfdbinary: Capture
) -> None:
    found, text = _failed(capfdbinary, *arguments)

    assert found == status
    assert text.startswith("fastrank compare: ")
    assert message in text


def test_pairs_and_per_query_exclude_each_other(capfdbinary: Capture) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["compare", "-q", "--pairs", *FILES])

    assert stopped.value.code == 2
    assert b"not allowed with argument" in capfdbinary.readouterr().err


def test_a_plot_is_written_in_the_format_of_its_name(tmp_path: Path, capfdbinary: Capture) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "plot.svg"

    printed = _printed(capfdbinary, "--plot", str(path), "--plot-kind", "p-values", *FILES)

    compared = fr.compare(QRELS, RUNS, "map ndcg_cut.10", names=["pixels", "pca", "profile"])
    compared.plot("p-values", path=(image := io.BytesIO()), format="svg")
    assert path.read_bytes() == image.getvalue()
    assert "pixels" in printed


@pytest.mark.parametrize(("runs", "title"), [(2, "map: pixels - pca"), (3, "map: means with")])
def test_the_plot_follows_the_number_of_runs(
    runs: int, title: str, tmp_path: Path, capfdbinary: Capture
) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "plot.svg"

    _printed(capfdbinary, "--plot", str(path), QRELS, *RUNS[:runs])

    assert f"<title>{title}" in path.read_text()


def test_a_report_has_the_rankings_and_the_names_of_the_files(
    tmp_path: Path, capfdbinary: Capture
) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "report.html"

    _printed(capfdbinary, "--report", str(path), "-m", "map", *FILES)

    page = path.read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert page.count('<div class="sides">') == 20
    assert all(file in page for file in FILES)


def test_a_report_follows_the_order_of_the_ranks(tmp_path: Path, capfdbinary: Capture) -> None:
    pytest.importorskip("matplotlib")
    qrels, run, other = (tmp_path / name for name in ("qrels", "a.run", "b.run"))
    qrels.write_text("1 0 d1 1\n")
    run.write_text("1 Q0 d2 2 0.9 a\n1 Q0 d1 1 0.5 a\n")
    other.write_text("1 Q0 d2 1 0.9 b\n1 Q0 d1 2 0.5 b\n")
    path = tmp_path / "report.html"

    arguments = ("--rank-by", "rank", "-m", "map", "--report", str(path))
    assert main(["compare", *arguments, str(qrels), str(run), str(other)]) == 0

    capfdbinary.readouterr()
    first, second = path.read_text().split('<div class="sides">')[1].split("</table>")[:2]
    assert first.index("d1") < first.index("d2")
    assert second.index("d2") < second.index("d1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--plot-kind", "scatter"], "fastrank compare: --plot-kind: no effect without --plot\n"),
        (
            ["--plot", "a.jpg"],
            "fastrank compare: plot: a.jpg: expected a suffix .png, .svg, .pdf\n",
        ),
    ],
)
def test_wrong_plots_are_refused_before_anything_is_read(
    arguments: list[str], message: str, capfdbinary: Capture
) -> None:
    pytest.importorskip("matplotlib")

    assert _failed(capfdbinary, *arguments, "none", "none") == (2, message)


@pytest.mark.parametrize("flag", ["--plot", "--report"])
def test_a_missing_matplotlib_is_reported_before_anything_is_read(
    flag: str, capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)

    status, message = _failed(capfdbinary, flag, "a.svg", "none", "none")

    assert status == 1
    assert "needs matplotlib: pip install 'fastrank-eval[plot]'" in message
