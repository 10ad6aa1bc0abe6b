"""Values of items from tables of any program: their forms, and what is wrong with them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastrank as fr
from fastrank.core.formats.tables.roles import asking_columns
from tests.helpers.tables import check_error, giving

ROWS = [("a", "1", 0.5), ("a", "2", 1.0), ("b", "2", 0.25), ("b", "1", 0.75)]
LONG = [dict(zip(("system", "item", "value"), row, strict=True)) for row in ROWS]
EXPECTED = {"a": [0.5, 1.0], "b": [0.75, 0.25]}
CSV = "system,item,value\n" + "".join(f"{a},{b},{c}\n" for a, b, c in ROWS)


def values_of(scores: Any, **options: Any) -> dict[str, list[float]]:
    """The values of each system, of the only measure."""
    found = fr.compare_scores(scores, **options)
    return dict(zip(found.names, found.values(*found.measures).tolist(), strict=True))


def text(content: str) -> io.BytesIO:
    return io.BytesIO(content.encode())


def frame(library: str) -> Any:
    return pytest.importorskip(library).DataFrame(LONG)


def parquet() -> io.BytesIO:
    arrow, writer = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    writer.write_table(arrow.Table.from_pylist(LONG), file := io.BytesIO())
    file.seek(0)
    return file


@pytest.mark.parametrize(
    "scores",
    [
        lambda: text(CSV),
        lambda: text(CSV.replace(",", "\t")),
        lambda: text(json.dumps(LONG)),
        lambda: text("\n".join(map(json.dumps, LONG))),
        parquet,
        lambda: frame("pandas"),
        lambda: frame("polars"),
        lambda: LONG,
        lambda: {name: [row[name] for row in LONG] for name in LONG[0]},
        lambda: text("run,query,measure,value\n" + "".join(f"{a},{b},P,{c}\n" for a, b, c in ROWS)),
        lambda: text("item,a,b\n1,0.5,0.75\n2,1,0.25\n"),
        lambda: {"item": [2, 1], "a": [1, 0.5], "b": [0.25, 0.75]},
        lambda: text("model,1,2,Average\na,0.5,1,0.75\nb,0.75,0.25,0.5\n"),
        lambda: text("item,a,b,topic\n1,.5,.75,x\n2,1,.25,y\nAverage,.75,.5,\n"),
        lambda: {
            name: text("doc_id,acc\n" + "".join(f"{i},{v}\n" for s, i, v in ROWS if s == name))
            for name in "ab"
        },
    ],
)
def test_each_form_of_a_table_has_the_same_values(scores):
    assert values_of(scores()) == EXPECTED


SHARED = "item,x\n1,TRUE\n2,false\n3,\n4,NaN\n5,1e-2\n"
NAMED_COLUMNS = {"item": "n", "value": "acc"}
MEANS = "model,dataset,acc\na,x,1\nb,x,2\na,y,3\nb,y,4\n"
TEXTS = "item,a,b,text\n1,1,0,x\n2,0,1,y\n"
AVERAGE = "Rank,model,x,y,Average (2)\n1,b,2,3,2.5\n2,a,1,2,1.5\n"
MARKS = "".join(f"{i},{mark},1\n" for i, mark in enumerate(("-", "\u2014", "N/A", "#N/A", "null")))
FILTERS = [
    {"model": "a", "doc_id": 0, "filter": name, "target": "3", "acc": value}
    for name, value in (("strict", 0.0), ("flexible", 1.0))
]
MIXED = "run,query,measure,value\na,q,P,0.5\na,,P,0.5\n"
test_values_are_numbers_or_true_and_false = giving("""
# missing values are NaN, and others of their kind are numbers
str(values_of(text(SHARED))["x"]) => "[1.0, 0.0, nan, nan, 0.01]"
# numpy and bool in memory
values_of({"item": [1, 2], "x": [np.float32(0.5), True], "y": [1, 2]}) =>
    {"x": [0.5, 1], "y": [1, 2]}
# a column may be named
values_of(text("n,acc,t\\n1,1,7\\n2,0,8\\n"), columns=NAMED_COLUMNS) => {"system": [1, 0]}
# without items, data sets are items
values_of(text(MEANS)) => {"a": [1, 3], "b": [2, 4]}
# one data set is none
values_of(text("model,dataset,id,acc\\na,x,1,5\\nb,x,1,6\\n")) => {"a": [5], "b": [6]}
# columns without numbers are named
fr.compare_scores(text(TEXTS)).notes[0] => "columns without numbers are not values: text"
# averages and ranks are named
fr.compare_scores(text(AVERAGE)).notes[0] => "averages and ranks are no items: Rank, Average (2)"
values_of(text(AVERAGE)) => {"b": [2, 3], "a": [1, 2]}
# percentages are shares
values_of(text("item,x,y\\n1,50%,0.5\\n2,2.5 %,1\\n")) => {"x": [0.5, 0.025], "y": [0.5, 1]}
# what spreadsheets write for missing values
np.isnan(values_of(text(f"item,x,y\\n{MARKS}9,1,1\\n"))["x"]).tolist() => [True] * 5 + [False]
# texts of JSON are no numbers, and filters tell values of an item apart
fr.compare_scores(FILTERS).mean => {"acc,strict": {"a": 0}, "acc,flexible": {"a": 1}}
# one filter of each item says nothing
fr.compare_scores(FILTERS[:1]).measures => ["acc"]
# means beside values of items
fr.compare_scores(text(MIXED)).notes[0] => "means, which have no query, are left out: 1"
# items have the name of their column
str(fr.compare_scores(text("question_id,x,y\\n1,1,2\\n2,2,3\\n"))).count("2 questions") => 1
str(fr.compare_scores(text("qid,x,y\\n1,1,2\\n2,2,3\\n"))).count("2 queries") => 1
str(fr.compare_scores(text(MEANS))).count("2 data sets") => 1
""")


DATASETS = "model,dataset,id,acc\n" + "".join(
    f"{m},{d},{i},{(i * 7 + ord(m) + ord(d)) % 5}\n" for m in "ab" for d in "xyz" for i in range(4)
)


def test_a_table_with_data_sets_is_compared_by_their_means():
    found = fr.compare_datasets(text(DATASETS))

    sets = {
        d: {m: {i: (i * 7 + ord(m) + ord(d)) % 5 for i in range(4)} for m in "ab"} for d in "xyz"
    }
    assert found.values("acc").tolist() == fr.compare_datasets(sets).values("value").tolist()
    assert found.queries == ["x", "y", "z"]


WIDE = "item,a,b\n1,1,0\n2,1,1\n"
SYSTEMS = "system,item,value\n"
WRONG = [
    (f"{SYSTEMS}a,1,1\na,1,0\n", "FormatError: f:3: value of 'a' for item '1' appears twice"),
    (f"{WIDE}3,x,1\n", "FormatError: f:4: column 'a': expected a number, true or false, found 'x'"),
    (
        f'{WIDE}3,1,"0,5"\n',
        "FormatError: f:4: column 'b': expected ... found '0,5'; decimals have...",
    ),
    (f"{WIDE}3,0,1,5\n", "FormatError: f:4: expected 3 cells, as in the first line, found 4"),
    (f"{WIDE},0,1\n", "FormatError: f:4: column 'item': expected the name of the item, found..."),
    (f"{SYSTEMS},1,0\n", "FormatError: f:2: column 'system': expected the name of the system..."),
    (f"{SYSTEMS}a,,1\n", "FormatError: f:2: ...`fastrank eval -q` writes values per query"),
    ("system,value\na,1\n", "InputError: f: no item column: found 'system', 'value', expected..."),
    ("item,a\n1,50.1±0.3\n", "FormatError: f:2: column 'a': expected a number... found '50.1±0.3'"),
    ('item,a\n1,"1,234.5"\n', "FormatError: f:2: column 'a': ...found '1,234.5'; decimals have..."),
    ("Results,,\nitem,a,b\n1,1,0\n", "InputError: f: ...found the title 'Results'; remove it"),
    ("LLM,a,b\nx,1,0\n", "InputError: f: no column of items or systems: found 'LLM', 'a', 'b'..."),
    ("item,value,llm\n1,1,x\n1,0,y\n", "FormatError: f:3: ...twice; if a column names systems,..."),
    ("item,a,a\n1,1,0\n", "InputError: f: more than one column 'a'"),
    ("item;a;b\n1;1;0\n", "InputError: f: the cells are separated by semicolons..."),
    ("item,a\n", "InputError: f: expected rows of values, found none"),
    ("item,a,b\n1,x,y\n", "InputError: f: expected a column of numbers, found 'item', 'a', 'b'"),
    (f"{WIDE}3,1,inf\n", "GroupError: value: the value of 'b' for item '3' is infinite..."),
    (DATASETS, "InputError: f: values of the data sets 'x', 'y', 'z'; use compare_datasets"),
    (f"{SYSTEMS}a,1,1\na,2,1\nb,1,0\n", "GroupError: ...1 only in 'a' (2), 0 only in 'b'..."),
]


@pytest.mark.parametrize(("content", "expected"), WRONG)
def test_what_is_wrong_in_a_table_is_told_with_its_place(content, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("f").write_text(content)

    check_error("compare_scores('f')", expected, {})


def test_ten_thousand_systems_need_a_baseline():
    scores = {f"s{i}": {"q": float(i), "r": 1.0} for i in range(10_000)}

    check_error(
        "compare_scores(scores)",
        "OptionError: baseline: 10,000 systems form 49,990,000 pairs, of which 2,000,000 can be"
        " compared; name one baseline, or compare fewer systems",
        {"scores": scores},
    )
    assert fr.compare_scores(scores, baseline="s0", interval="none").names[-1] == "s9999"


def test_items_of_a_cluster_are_resampled_together():
    rng = np.random.default_rng(0)
    rows = [
        {"system": s, "item": i, "acc": int(rng.random() < 0.5), "text": f"t{i // 4}"}
        for s in "ab"
        for i in range(80)
    ]
    options: dict[str, Any] = {"test": "randomization", "interval": "percentile"}

    found = fr.compare_scores(rows, clusters="text", **options)

    clusters = {str(i): f"t{i // 4}" for i in range(80)}
    expected = fr.compare_scores(
        [{**row, "text": None} for row in rows], clusters=clusters, **options
    )
    assert repr(found.pair("acc", "a", "b")) == repr(expected.pair("acc", "a", "b"))
    rows[0]["text"] = "other"
    check_error(
        "compare_scores(rows, clusters='text', test='randomization', interval='none')",
        "InputError: <list>: row 80 (from 0), the cluster of '0' is 't0', but 'other' above",
        {"rows": rows},
    )
    with asking_columns({"cluster": "text"}):
        assert any("treated as independent" in note for note in fr.compare_scores(rows).notes)


def test_mcnemar_finds_what_an_unpaired_test_does_not():
    """The synthetic data of lm-evaluation-harness, pull request 3868: 220 items, p .080 and .008.

    These are the only counts of both right, one right and none right, up to exchanging right and
    wrong, that give both with more than ten pairs on each side.
    """
    both, first, second, neither = 68, 30, 12, 110
    counts = ((1, 1, both), (1, 0, first), (0, 1, second), (0, 0, neither))
    answers = [pair for *pair, count in counts for _ in range(count)]
    table = {"item": range(220), "a": [a for a, _ in answers], "b": [b for _, b in answers]}

    def unpaired(a: Any, b: Any) -> float:
        """The z-test of the harness's model_comparator.py."""
        errors = [own.std(ddof=1) / np.sqrt(len(own)) for own in (a, b)]
        return float(2 * stats.norm.sf(abs(a.mean() - b.mean()) / np.hypot(*errors)))

    columns = {name: list(cells) for name, cells in table.items()}
    found = fr.compare_scores(columns, test="sign")
    assert round(found.pair("value", "a", "b").p, 3) == 0.008
    assert "values are 0 and 1: the sign test is McNemar's exact test" in found.notes
    assert round(fr.compare_scores(columns, test=unpaired).pair("value", "a", "b").p, 3) == 0.08


LIMITS = [
    # By signs, 2**(1 - k) for k differences: 6 for one pair at 0.05.
    ([1, 1, 1, 0, 0], [0, 0, 0, 0, 0], "sign", "at most 3 of 5 items differ (a and b); a p of"
     " 0.05 for 1 pair needs at least 10 items, if 60% of them differ"),
    ([1, 1, 1, 1, 1], [0, 0, 0, 0, 0], "randomization", "at most 5 of 5 items differ (a and b);"
     " a p of 0.05 for 1 pair needs at least 6 items"),
    # sqrt(3 * 19 / 17) = 1.83 with 19 degrees of freedom is below 2.09; of 26, 2.10 above 2.06.
    ([1, 1, 1, *[0] * 17], [0] * 20, "t", "at most 3 of 20 items differ (a and b); a p of 0.05"
     " for 1 pair needs at least 26 items, if 15% of them differ"),
    ([0.5, 0.5], [0.5, 0.5], "t", "all systems have equal values; a p of 0.05 for 1 pair needs at"
     " least 2 items that differ"),
    ([1], [0], "t", "there is one item; a p of 0.05 for 1 pair needs at least 2 items"),
    ([1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0], "sign", ""),
    ([1, 2, 4], [0, 0, 0], "t", ""),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "test", "why"), LIMITS)
def test_what_cannot_be_significant_is_the_first_line(first, second, test, why):
    table = {"item": list(range(len(first))), "a": first, "b": second}

    shown = " ".join(str(fr.compare_scores(table, test=test)).split())

    assert (
        shown.startswith(f"Note: nothing can be significant: {why}. ")
        if why
        else ("nothing can be" not in shown)
    )


@pytest.mark.parametrize("test", ["t", "sign"])
def test_no_test_is_significant_where_it_is_said_that_none_can_be(test):
    """Of all differences of -1, 0 and 1 on seven items, and of those with large ones."""
    rng = np.random.default_rng(0)
    for n in range(2, 30):
        for k in range(n + 1):
            values = np.zeros(n)
            values[:k] = 1 + 1e-3 * rng.random(k)
            found = fr.compare_scores(
                {"item": list(range(n)), "a": values.tolist(), "b": [0.0] * n}, test=test
            )
            is_limited = any("nothing can be significant" in note for note in found.notes)
            assert is_limited == (found.pair("value", "a", "b").p > 0.05)


@pytest.mark.parametrize("seed", range(20))
def test_results_of_random_tables_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    n, binary = int(rng.integers(5, 60)), seed % 2
    a, b = rng.random((2, n)) * (1 + 3 * rng.random()) if not binary else rng.integers(0, 2, (2, n))
    lines = [f"{s},{i},{v}\n" for s, own in (("a", a), ("b", b)) for i, v in enumerate(own)]
    rng.shuffle(lines)
    content = "system,item,value\n" + "".join(lines)

    t = fr.compare_scores(text(content)).pair("value", "a", "b")
    sign = fr.compare_scores(text(content), test="sign").pair("value", "a", "b")

    expected = stats.ttest_rel(a, b)
    low, high = expected.confidence_interval()
    assert (t.p, t.low, t.high) == pytest.approx((expected.pvalue, low, high), rel=1e-9, abs=1e-12)
    wins, losses = int((a > b).sum()), int((a < b).sum())
    exact = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign.p == pytest.approx(exact, rel=1e-12)
