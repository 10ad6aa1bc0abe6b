"""Tables of scores, and the escapes of each layout."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.document.latex import number
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.strategies import examples

QRELS = parse_qrels(b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
FIRST = parse_run(b"q1 Q0 b 1 2 one\nq1 Q0 a 2 1 one\nq2 Q0 c 1 9 one\n")
SECOND = parse_run(b"q1 Q0 a 1 2 two\nq2 Q0 c 1 9 two\n")

# Everything that is markup somewhere; spaces at the ends and in rows are not kept in cells.
labels = st.text(st.sampled_from("aZ9_- |\\`*<>&[]~#$%^{}\"',;\n\r\té\u2028"), min_size=1).map(
    lambda text: "x" + " ".join(text.split()) + "x"
)


def both(measures: str = "num_ret map") -> list[fr.Scores]:
    return fr.evaluate(QRELS, [FIRST, SECOND], measures)


def test_a_table_has_a_row_for_each_run_and_a_column_for_each_measure() -> None:
    assert str(fr.table(both())) == (
        "run      num_ret     map\n"
        "-----  ---------  ------\n"
        "one            3  0.7500\n"
        "two            2  1.0000"
    )


def test_columns_come_in_the_order_asked() -> None:
    names = ["nDCG@10", "P_10", "map", "num_q", "P_5"]

    scores = fr.evaluate(QRELS, FIRST, names)

    assert fr.table(scores).names == ["run", *names]
    assert list(scores.mean) == names
    assert list(scores.to_dict()["q1"]) == ["nDCG@10", "P_10", "map", "P_5"]


def test_measures_of_a_set_stand_where_it_was_asked_for() -> None:
    names = fr.evaluate(QRELS, FIRST, "ndcg set num_ret map").names

    assert (names[0], names[-1]) == ("ndcg", "map")
    assert names.index("num_ret") < names.index("set_P")


def test_trec_evals_lines_keep_its_order() -> None:
    text = fr.evaluate(QRELS, FIRST, "P_10 map P_5").to_trec()

    assert [line.split()[0] for line in text.splitlines()] == ["map", "P_5", "P_10"]


def test_rows_are_named_as_asked() -> None:
    table = fr.table(both("map"), names=["first", 2], label="system")

    assert table.columns == {"system": ["first", "2"], "map": [0.75, 1.0]}
    assert repr(table) == "<Table: 2 rows, 2 columns>"


def test_one_scores_makes_one_row() -> None:
    assert fr.table(both("map")[1]).columns == {"run": ["two"], "map": [1.0]}


def test_of_a_mapping_the_keys_are_names() -> None:
    table = fr.table(dict(zip(["a", "b"], both("map"), strict=True)))

    assert table.columns["run"] == ["a", "b"]


def test_equal_names_are_told_apart() -> None:
    assert fr.table([*both("map"), *both("map")]).columns["run"] == [
        "one",
        "two",
        "one (2)",
        "two (2)",
    ]
    assert fr.table([fr.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "map")] * 2).columns[
        "run"
    ] == ["run", "run (2)"]


def test_the_best_of_each_measure_is_bold_in_markdown_and_latex() -> None:
    table = fr.table(both("num_ret map P.1 FirstRank Judged"))
    header, _, first, second = table.to_markdown().splitlines()

    assert header.replace(" ", "") == "|run|num_ret|map|P_1|FirstRank|Judged|"
    assert first.replace(" ", "") == "|one|3|0.7500|0.5000|1.5000|1.0000|"
    assert second.replace(" ", "") == "|two|2|**1.0000**|**1.0000**|**1.0000**|1.0000|"
    assert table.to_latex().count(r"\textbf{1.0000}") == 3
    assert "*" not in str(table)
    assert "*" not in fr.table(both("map"), bold=False).to_markdown()
    assert "*" not in fr.table(both("map")[:1]).to_markdown()


def test_values_that_look_the_same_are_equally_good() -> None:
    assert fr.table(both("map"), digits=0).to_latex().count(r"\textbf{1}") == 2


def test_digits_are_those_of_text_only() -> None:
    table = fr.table(both("map"), digits=1)

    assert str(table).splitlines()[2].split() == ["one", "0.8"]
    assert table.columns["map"] == [0.75, 1.0]
    assert both("map")[0].to_markdown(digits=2).endswith("0.75 |")
    with pytest.raises(fr.OptionError, match="digits: expected 0 or more, found -1"):
        fr.table(both(), digits=-1)


def test_a_transposed_table_has_a_row_for_each_measure() -> None:
    table = fr.table(both("num_ret map"), ["measure", "two"]).transpose()

    assert table.columns == {
        "measure": ["num_ret", "map"], "measure (2)": [3, 0.75], "two": [2, 1.0],
    }  # fmt: skip
    assert "| **1.0000** |" in table.to_markdown()
    assert (
        table.transpose("run").to_markdown()
        == fr.table(both("num_ret map"), ["measure (2)", "two"]).to_markdown()
    )
    polars = pytest.importorskip("polars")
    assert table.to_polars()["two"].to_list() == [2.0, 1.0]
    assert table.to_polars().schema["two"] == polars.Float64


def test_per_query_every_scores_has_a_column() -> None:
    assert str(fr.table(both("num_ret map gm_map"), ["a", "b"], per_query=True)) == (
        "query    measure         a       b\n"
        "-------  ---------  ------  ------\n"
        "q1       num_ret         2       1\n"
        "q1       map        0.5000  1.0000\n"
        "q2       num_ret         1       1\n"
        "q2       map        1.0000  1.0000"
    )


def test_per_query_values_are_aligned_by_the_query() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    runs = [{"q1": {"a": 1.0}, "q3": {"b": 2.0, "a": 1.0}}, {"q2": {"a": 1.0}, "q3": {"a": 1.0}}]

    table = fr.table(fr.evaluate(qrels, runs, "map"), ["a", "b"], per_query=True)

    assert list(table.rows()) == [
        ("q1", "map", 1.0, None), ("q2", "map", None, 1.0), ("q3", "map", 0.5, 1.0),
    ]  # fmt: skip


def test_per_query_rows_of_arrays_keep_their_order() -> None:
    scores = fr.evaluate_arrays([{1: 1}] * 11, [[1]] * 11, None, "map")

    table = fr.table([scores, scores], per_query=True)

    assert table.columns["query"] == [str(row) for row in range(11)]


def test_scores_of_different_measures_are_not_put_side_by_side() -> None:
    scores = [fr.evaluate(QRELS, FIRST, "map"), fr.evaluate(QRELS, FIRST, "map P.1")]

    with pytest.raises(fr.MeasureError, match=r"Scores 1 and 2 .* only one has P_1"):
        fr.table(scores)


def test_names_must_fit() -> None:
    with pytest.raises(fr.GroupError, match="expected 2, one per row, found 1"):
        fr.table(both(), names=["one"])
    with pytest.raises(fr.GroupError, match="'map' is the name of a measure"):
        fr.table(both(), label="map")
    with pytest.raises(TypeError, match="expected Scores, found dict"):
        fr.table([{"map": 1.0}])


def test_a_table_of_nothing_is_empty() -> None:
    assert (len(fr.table([])), str(fr.table([])).splitlines()[0]) == (0, "run")


def test_tables_become_frames_csv_and_json_with_full_precision() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    third = fr.evaluate(
        parse_qrels(b"q 0 a 1\nq 0 b 1\nq 0 c 1\n"), parse_run(b"q Q0 a 1 1 t\n"), "num_q map"
    )
    table = fr.table([third])
    row = {"run": "t", "num_q": 1, "map": 1 / 3}

    assert table.to_csv() == f"run,num_q,map\nt,1,{1 / 3!r}\n"
    assert json.loads(table.to_json()) == [row]
    assert table.to_pandas().to_dict("records") == [row]
    assert table.to_polars().to_dicts() == [row]
    assert isinstance(table.to_pandas(), pandas.DataFrame)
    assert isinstance(table.to_polars(), polars.DataFrame)


def test_markdown_of_scores_has_four_decimals_and_whole_counts() -> None:
    scores = both("num_ret map")[0]

    assert scores.to_markdown() == (
        "| measure   |    one |\n|:----------|-------:|\n"
        "| num_ret   |      3 |\n| map       | 0.7500 |"
    )


def test_markdown_per_query_ends_with_the_summary() -> None:
    scores = both("num_q map gm_map")[0]

    assert scores.to_markdown(per_query=True) == (
        "| query   |   num_q |    map |   gm_map |\n"
        "|:--------|--------:|-------:|---------:|\n"
        "| q1      |         | 0.5000 |          |\n"
        "| q2      |         | 1.0000 |          |\n"
        "| all     |       2 | 0.7500 |   0.7071 |"
    )


def test_latex_has_booktabs_rules() -> None:
    assert both("num_ret map")[0].to_latex() == "\n".join(
        [
            r"\begin{tabular}{lr}",
            r"\toprule",
            r"measure  &    one \\",
            r"\midrule",
            r"num\_ret &      3 \\",
            r"map      & 0.7500 \\",
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def test_notebooks_show_the_means_and_what_is_missing() -> None:
    qrels = parse_qrels(b"q1 0 a 1\n<b> 0 a 1\n")
    scores = fr.evaluate(qrels, SECOND, "map")

    shown = scores._repr_html_()

    assert _cells(shown) == ["measure", "two", "map", "1.0000"]
    assert (
        '<p class="note">the run lacks 1 of 2 judged queries (&lt;b&gt;); it is left out' in shown
    )
    assert _cells(fr.table([scores])._repr_html_()) == ["run", "map", "two", "1.0000"]


def test_a_run_whose_name_is_that_of_a_column_is_shown() -> None:
    run = parse_run(b"q1 Q0 a 1 2 measure\n")

    assert "1.0000" in fr.evaluate(QRELS, run, "map").to_markdown()


class _Cells(HTMLParser):
    """The texts of the cells of a table."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag in ("table", "thead", "tbody", "tr", "th", "td", "p", "b", "bdi")
        if tag in ("th", "td"):
            self.found.append("")
        if tag == "p":
            self.found.append("p:")

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.found[-1] += data


def _cells(html: str) -> list[str]:
    parser = _Cells()
    parser.feed(html)
    return [cell.strip() for cell in parser.found if not cell.startswith("p:")]


def _table(label: str) -> fr.Table:
    return fr.table(both("map"), names=[label, "other"])


@given(labels)
@examples(200)
def test_html_shows_every_name_as_it_is(label: str) -> None:
    assert _cells(_table(label).to_html()) == ["run", "map", label, "0.7500", "other", "1.0000"]


@given(labels)
@examples(200)
def test_markdown_shows_every_name_as_it_is(label: str) -> None:
    """A pipe without a backslash ends a cell; a backslash makes punctuation be itself."""
    row = _table(label).to_markdown().splitlines()[2]

    cells = re.findall(r"\|((?:\\.|[^|\\])*)", row)[:-1]

    assert [re.sub(r"\\(.)", r"\1", cell).strip() for cell in cells] == [label, "0.7500"]
    bare = re.sub(r"\\.", "", cells[0])
    assert not re.search(r"[`*<>&\[\]|~]|\b_|_\b", bare.strip())


LATEX = {
    r"\&": "&", r"\%": "%", r"\$": "$", r"\#": "#", r"\_": "_", r"\^{}": "^", r"\{": "{",
    r"\}": "}", r"\textasciitilde{}": "~", r"\textbackslash{}": "\\", r"\ensuremath{<}": "<",
    r"\ensuremath{>}": ">", r"\textbar{}": "|", "{}": "",
}  # fmt: skip


@given(labels)
@examples(200)
def test_latex_shows_every_name_as_it_is(label: str) -> None:
    row = _table(label).to_latex().splitlines()[4]
    commands = "|".join(map(re.escape, sorted(LATEX, key=len, reverse=True)))

    first = re.match(rf"((?:{commands}|[^\\&%$#_^{{}}~])*) & ", row)

    assert first is not None
    assert re.sub(commands, lambda found: LATEX[found[0]], first[1]).strip() == label


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0.5", "0.5"),
        ("-0.5 [-1.0, +0.0]", "$-$0.5 [$-$1.0, +0.0]"),
        ("-inf", "$-$inf"),
        ("2.0e-06", r"$2.0\cdot 10^{-6}$"),
        ("<1e-300", r"\ensuremath{<}$10^{-300}$"),
        ("3/0/4", "3/0/4"),
    ],
)
def test_latex_has_minus_signs_and_powers(text: str, shown: str) -> None:
    """Compiled with pdflatex and looked at, as was every command of these tests."""
    assert number(text) == shown


def test_latex_makes_no_dash_of_hyphens() -> None:
    assert _table("a--b---c").to_latex().splitlines()[4].startswith("a-{}-b-{}-{}-c ")


@pytest.mark.parametrize("label", ["[x]", "*"])
def test_latex_line_breaks_take_no_arguments_from_names(label: str) -> None:
    assert _table(label).to_latex().splitlines()[4].startswith("{}" + label)


@given(st.text(st.characters(blacklist_characters="\0")))
@examples(200)
def test_csv_gives_every_name_back(label: str) -> None:
    text = _table(label).to_csv()

    rows = list(csv.reader(io.StringIO(text, newline="")))

    assert rows == [["run", "map"], [label, "0.75"], ["other", "1.0"]]
