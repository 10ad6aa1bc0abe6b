"""Tables of scores: rows, columns, what is bold, and the escapes of each layout."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.common.rendering.latex import number  # noqa: F401 (only in the tables)
from tests.common.rendering.parsers import Page, grids_of_latex, grids_of_markdown, text_of_latex  # noqa: F401 (some are only in the tables)
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.strategies import examples
from tests.helpers.tables import calls, giving, refusing

QRELS = parse_qrels(b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
FIRST = parse_run(b"q1 Q0 b 1 2 one\nq1 Q0 a 2 1 one\nq2 Q0 c 1 9 one\n")
SECOND = parse_run(b"q1 Q0 a 1 2 two\nq2 Q0 c 1 9 two\n")
MEASURE = parse_run(b"q1 Q0 a 1 2 measure\n")
NAMES = ["nDCG@10", "P_10", "map", "num_q", "P_5"]
OF_ROWS = fr.evaluate_arrays([{1: 1}] * 11, [[1]] * 11, None, "map")
PART_OF_THREE = fr.evaluate(
    {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}},
    [{"q1": {"a": 1.0}, "q3": {"b": 2.0, "a": 1.0}}, {"q2": {"a": 1.0}, "q3": {"a": 1.0}}],
    "map",
)
UNNAMED = fr.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "map")

# Everything that is markup somewhere; spaces at the ends and in rows are not kept in cells.
labels = st.text(st.sampled_from("aZ9_- |\\`*<>&[]~#$%^{}\"',;\n\r\té\u2028"), min_size=1).map(
    lambda text: "x" + " ".join(text.split()) + "x"
)


def both(measures: str = "num_ret map") -> list[fr.Scores]:
    return fr.evaluate(QRELS, [FIRST, SECOND], measures)


def test_a_table_has_a_row_for_each_run_and_a_column_for_each_measure():
    assert str(fr.table(both())) == (
        "run      num_ret     map\n"
        "-----  ---------  ------\n"
        "one            3  0.7500\n"
        "two            2  1.0000"
    )


def test_per_query_every_scores_has_a_column():
    assert str(fr.table(both("num_ret map gm_map"), ["a", "b"], per_query=True)) == (
        "query    measure         a       b\n"
        "-------  ---------  ------  ------\n"
        "q1       num_ret         2       1\n"
        "q1       map        0.5000  1.0000\n"
        "q2       num_ret         1       1\n"
        "q2       map        1.0000  1.0000"
    )


def test_markdown_of_scores_has_four_decimals_and_whole_counts():
    assert both("num_ret map")[0].to_markdown() == (
        "| measure   |    one |\n|:----------|-------:|\n"
        "| num_ret   |      3 |\n| map       | 0.7500 |"
    )


def test_markdown_per_query_ends_with_the_summary():
    assert both("num_q map gm_map")[0].to_markdown(per_query=True) == (
        "| query   |   num_q |    map |   gm_map |\n"
        "|:--------|--------:|-------:|---------:|\n"
        "| q1      |         | 0.5000 |          |\n"
        "| q2      |         | 1.0000 |          |\n"
        "| all     |       2 | 0.7500 |   0.7071 |"
    )


def test_latex_has_booktabs_rules():
    assert both("num_ret map")[0].to_latex().split("\n") == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"measure  &    one \\",
        r"\midrule",
        r"num\_ret &      3 \\",
        r"map      & 0.7500 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


test_columns_come_in_the_order_asked_and_lines_in_that_of_trec_eval = giving("""
fr.table(fr.evaluate(QRELS, FIRST, NAMES)).names => ["run", *NAMES]
list(fr.evaluate(QRELS, FIRST, NAMES).mean) => NAMES
list(fr.evaluate(QRELS, FIRST, NAMES).to_dict()["q1"]) => ["nDCG@10", "P_10", "map", "P_5"]
fr.evaluate(QRELS, FIRST, "ndcg set num_ret map").names[0] => "ndcg"
fr.evaluate(QRELS, FIRST, "ndcg set num_ret map").names[-1] => "map"
sorted(["num_ret", "set_P"], key=fr.evaluate(QRELS, FIRST, "ndcg set num_ret map").names.index)
    => ["num_ret", "set_P"]
fr.evaluate(QRELS, FIRST, "P_10 map P_5").to_trec().split()[::3] => ["map", "P_5", "P_10"]
""")

test_rows_are_named_by_runs_keys_and_queries = giving("""
fr.table(both("map"), names=["first", 2], label="system").columns
    => {"system": ["first", "2"], "map": [0.75, 1.0]}
repr(fr.table(both("map"))) => "<Table: 2 rows, 2 columns>"
fr.table(both("map")[1]).columns => {"run": ["two"], "map": [1.0]}
fr.table(dict(zip(["a", "b"], both("map")))).columns["run"] => ["a", "b"]
fr.table([*both("map"), *both("map")]).columns["run"] => ["one", "two", "one (2)", "two (2)"]
fr.table([UNNAMED] * 2).columns["run"] => ["run", "run (2)"]
fr.table([OF_ROWS, OF_ROWS], per_query=True).columns["query"] => [str(row) for row in range(11)]
len(fr.table([])) => 0
str(fr.table([])).splitlines()[0] => "run"
list(fr.table(PART_OF_THREE, ["a", "b"], per_query=True).rows())
    => [("q1", "map", 1.0, None), ("q2", "map", None, 1.0), ("q3", "map", 0.5, 1.0)]
"1.0000" in fr.evaluate(QRELS, MEASURE, "map").to_markdown() => True
""")


def test_the_best_of_each_measure_is_bold_in_markdown_and_latex():
    table = fr.table(both("num_ret map P.1 FirstRank Judged"))
    header, _, first, second = table.to_markdown().splitlines()

    assert header.replace(" ", "") == "|run|num_ret|map|P_1|FirstRank|Judged|"
    assert first.replace(" ", "") == "|one|3|0.7500|0.5000|1.5000|1.0000|"
    assert second.replace(" ", "") == "|two|2|**1.0000**|**1.0000**|**1.0000**|1.0000|"
    assert table.to_latex().count(r"\textbf{1.0000}") == 3
    assert "*" not in str(table)
    assert "*" not in fr.table(both("map"), bold=False).to_markdown()
    assert "*" not in fr.table(both("map")[:1]).to_markdown()


test_digits_are_those_of_text_only_and_values_that_look_the_same_are_equally_good = giving(r"""
str(fr.table(both("map"), digits=1)).splitlines()[2].split() => ["one", "0.8"]
fr.table(both("map"), digits=1).columns["map"] => [0.75, 1.0]
both("map")[0].to_markdown(digits=2)[-6:] => "0.75 |"
fr.table(both("map"), digits=0).to_latex().count("textbf{1}") => 2
""")


def test_a_transposed_table_has_a_row_for_each_measure():
    table = fr.table(both("num_ret map"), ["measure", "two"]).transpose()

    values = {"measure": ["num_ret", "map"], "measure (2)": [3, 0.75], "two": [2, 1.0]}
    assert table.columns == values
    assert "| **1.0000** |" in table.to_markdown()
    same = fr.table(both("num_ret map"), ["measure (2)", "two"]).to_markdown()
    assert table.transpose("run").to_markdown() == same
    polars = pytest.importorskip("polars")
    assert table.to_polars()["two"].to_list() == [2.0, 1.0]
    assert table.to_polars().schema["two"] == polars.Float64


test_what_does_not_fit_into_a_table_is_an_error = refusing("""
fr.table(both(), digits=-1) => OptionError: digits: expected 0 or more, found -1
fr.table(both(), names=["one"]) => GroupError: ...expected 2, one per row, found 1
fr.table(both(), label="map") => GroupError: ...'map' is the name of a measure
fr.table([{"map": 1.0}]) => TypeError: ...expected Scores, found dict
fr.table([both("map")[0], both("map P.1")[0]]) => MeasureError: Scores 1 and 2 ... only one has P_1
""")


def test_tables_become_frames_csv_and_json_with_full_precision():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    qrels = parse_qrels(b"q 0 a 1\nq 0 b 1\nq 0 c 1\n")

    table = fr.table(fr.evaluate(qrels, parse_run(b"q Q0 a 1 1 t\n"), "num_q map"))

    row = {"run": "t", "num_q": 1, "map": 1 / 3}
    assert table.to_csv() == f"run,num_q,map\nt,1,{1 / 3!r}\n"
    assert json.loads(table.to_json()) == [row]
    assert table.to_pandas().to_dict("records") == [row]
    assert table.to_polars().to_dicts() == [row]
    assert isinstance(table.to_pandas(), pandas.DataFrame)
    assert isinstance(table.to_polars(), polars.DataFrame)


def test_notebooks_show_the_means_and_what_is_missing():
    scores = fr.evaluate(parse_qrels(b"q1 0 a 1\n<b> 0 a 1\n"), SECOND, "map")

    shown = scores._repr_html_()

    assert Page(shown).tables == [[["measure", "two"], ["map", "1.0000"]]]
    missing = "the run lacks 1 of 2 judged queries (&lt;b&gt;); it is left out"
    assert f'<p class="note">{missing}' in shown
    table = Page(fr.table([scores])._repr_html_())
    assert table.tables == [[["run", "map"], ["two", "1.0000"]]]


def _table(label: str) -> fr.Table:
    return fr.table(both("map"), names=[label, "other"])


@given(labels)
@examples(100)
def test_every_layout_shows_every_name_as_it_is(label):
    table = _table(label)

    expected = [["run", "map"], [label, "0.7500"], ["other", "1.0000"]]
    assert Page(table.to_html()).tables == [expected]
    assert grids_of_markdown(table.to_markdown()) == [expected]
    assert grids_of_latex(table.to_latex()) == [expected]


@given(st.text(st.characters(blacklist_characters="\0")))
@examples(100)
def test_csv_gives_every_name_back(label):
    rows = list(csv.reader(io.StringIO(_table(label).to_csv(), newline="")))

    # An apostrophe is put before a formula, which spreadsheets would run.
    given = [label, f"'{label}"] if label[:1] in ("=", "+", "-", "@", "\t", "\r") else [label]
    assert rows in [[["run", "map"], [name, "0.75"], ["other", "1.0"]] for name in given]


@calls(r"""
"=1+1" => "'=1+1"
"+cmd|' /C calc'!A0" => "'+cmd|' /C calc'!A0"
"-2+3" => "'-2+3"
"@SUM(A1)" => "'@SUM(A1)"
"\t=1+1" => "'\t=1+1"
"-1.5e-3" => "-1.5e-3"
"-" => "-"
"a=1" => "a=1"
""")
def test_no_name_in_csv_is_a_formula(call, expected):
    name, shown = eval(call), eval(expected)
    values = fr.compare_scores({name: {"q1": {"map": 0.5}}, "b": {"q1": {"map": 1.0}}})
    scores = fr.evaluate({name: {"d": 1}}, {name: {"d": 1.0}}, "map")
    for text, column in (
        (_table(name).to_csv(), "run"),
        (values.pairs().to_csv(), "a"),
        (values.to_csv(per_query=True), "system"),
        (scores.to_csv(), "query"),
        ((scores - scores).to_csv(), "query"),
    ):
        row = next(csv.DictReader(io.StringIO(text, newline="")))
        assert row[column] == shown


# Compiled with pdflatex and looked at, as was every command of these tests.
test_latex_has_minus_signs_powers_and_no_dashes_and_takes_no_arguments_from_names = giving(r"""
number("0.5") => "0.5"
number("-0.5 [-1.0, +0.0]") => "$-$0.5 [$-$1.0, +0.0]"
number("-inf") => "$-$inf"
number("2.0e-06") => r"$2.0\cdot 10^{-6}$"
number("<1e-300") => r"\ensuremath{<}$10^{-300}$"
number("3/0/4") => "3/0/4"
_table("a--b---c").to_latex().splitlines()[4].split()[0] => "a-{}-b-{}-{}-c"
_table("[x]").to_latex().splitlines()[4][:5] => "{}[x]"
_table("*").to_latex().splitlines()[4][:3] => "{}*"
text_of_latex(number("2.0e-06")) => "2.0e-06"
""")
