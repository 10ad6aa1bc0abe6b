"""Plots of comparisons: what they show, say and write, and the errors about them."""

from __future__ import annotations

import io
import re
import sys
from itertools import pairwise  # noqa: F401 (in a table)
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import fastrank as fr
from fastrank.analysis.comparing.pairs import chosen_pair
from fastrank.analysis.comparing.plots.plot import KINDS, draw
from fastrank.common.plots.style import distinct_parts, line, short, short_names, visible  # noqa: F401
from fastrank.errors import MeasureError
from tests.helpers.comparisons import DATA, NAMES, compare_data, compared, random_rows, scores_of
from tests.helpers.tables import giving, refusing

pytest.importorskip("matplotlib")
SVG = "{http://www.w3.org/2000/svg}"
RUNS = {name: DATA / f"{name}.run" for name in NAMES}
HOSTILE = '<script>alert("x")</script> & $\\frac{a}{b}$ \u202e\x00'
FAMILIES = ("over-k", "precision-recall")
OF_PAIRS = [kind for kind, (_, shown) in KINDS.items() if shown == "pair"]


def _compare() -> fr.types.Comparison:
    """Three systems in measures for every kind of plot."""
    return fr.compare(DATA / "digits.qrels", RUNS, "map P.5,10,20 iprec_at_recall")


DATA_COMPARED = _compare()


def _svg(comparison: fr.types.Comparison, kind: str, **given: Any) -> str:
    comparison.plot(kind, path=(image := io.BytesIO()), format="svg", **given)
    return image.getvalue().decode()


def _alternative(svg: str) -> tuple[str, str]:
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    return title.text or "", description.text or ""


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_comparison_gives_the_same_bytes_with_alternative_text(kind):
    first, second = (_svg(one, kind) for one in (_compare(), DATA_COMPARED))

    assert first == second
    assert "<dc:date>" not in first
    title, description = _alternative(first)
    assert title
    assert re.search(r"\d", description)
    assert description.endswith(".")


@pytest.mark.parametrize(("systems", "kind"), [(2, "differences"), (3, "intervals")])
def test_without_a_kind_the_number_of_systems_decides(systems, kind):
    comparison = compared(random_rows(systems, 20))

    assert comparison.plot().get_title(loc="left") == comparison.plot(kind).get_title(loc="left")


def test_the_parameters_of_matplotlib_do_not_matter_and_do_not_change():
    import matplotlib

    expected = _svg(DATA_COMPARED, "intervals")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "svg.fonttype": "path"}):
        before = dict(matplotlib.rcParams.copy())
        assert _svg(DATA_COMPARED, "intervals") == expected
        assert dict(matplotlib.rcParams.copy()) == before


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.PDF", b"%PDF")]
)
def test_the_suffix_names_the_format(name, start, tmp_path):
    compare_data().plot("intervals", path=tmp_path / name)

    assert (tmp_path / name).read_bytes().startswith(start)


def test_differences_are_drawn_from_largest_to_smallest():
    axes = DATA_COMPARED.plot("differences", a="pixels", b="pca")

    drawn = np.concatenate([patch.get_data().values for patch in axes.patches[:2]])
    assert (np.diff(drawn) < 0).all()
    difference = DATA_COMPARED.values("map")[0] - DATA_COMPARED.values("map")[1]
    assert set(drawn) == set(difference[difference != 0])


def test_a_scatter_has_a_point_for_each_query():
    axes = DATA_COMPARED.plot("scatter", "P_10", "pixels", "pca")

    drawn = {tuple(point) for line in axes.lines for point in line.get_xydata()} - {(0.0, 0.0)}
    values = np.round(DATA_COMPARED.values("P_10")[[1, 0]].T, 12)
    assert {tuple(point) for point in values} - {(0.0, 0.0)} <= drawn


def test_intervals_are_those_of_the_comparison():
    found = compare_data()

    bars = [line.get_xdata() for line in found.plot("intervals").lines]

    expected = [found.interval_of("map", name) for name in found.ranked("map")]
    assert [tuple(bar) for bar in bars if len(bar) == 2] == expected


def test_bars_of_many_groups_leave_room_for_the_means():
    rows = random_rows(50, 30) * 0.2 + np.linspace(0, 1, 50)[:, None]

    axes = compared(rows).plot("critical-difference", path=io.BytesIO(), format="png")

    assert axes.get_window_extent().width / axes.figure.dpi > 4


CUT = """
P@10 P_10 recall.10 nDCG@10 nDCG(dcg=exp-log2)@10 map_cut.10 ndcg_cut_10 success@1 relative_P.5
unj_5 MRR@10 F1(rel=2)@10 RBP(p=0.5)@10 ERR@20 Judged@10 Hole@5 HitRatio@10 Q@10 BPM@10 SDCG@10
NERR8@10 RCap@5
"""


@pytest.mark.parametrize("measure", CUT.split())
def test_over_k_advises_measures_that_it_shows(measure):
    qrels, run = {"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}
    with pytest.raises(MeasureError, match="over k needs several cutoffs") as error:
        fr.compare(qrels, [run], ["map", measure]).plot("over-k")
    advised = str(error.value).rpartition(" ")[2]

    axes = fr.compare(qrels, [run], advised).plot("over-k")

    assert axes.lines[0].get_xdata().tolist() == [1, 5, 10, 20, 100]
    assert axes.get_ylabel() == measure.rstrip("0123456789")[:-1]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in FAMILIES])
@pytest.mark.parametrize("queries", [2, 2500])
def test_two_systems_can_be_plotted(kind, queries):
    assert _alternative(_svg(compared(random_rows(2, queries)), kind))[1]


@pytest.mark.parametrize("kind", ["differences", "scatter", "intervals"])
def test_hostile_names_are_text(kind):
    first, second = ({f"{HOSTILE}{i}": i / place for i in range(6)} for place in (7, 9))

    svg = _svg(fr.compare_scores({HOSTILE: first, "b": second}), kind)

    assert _alternative(svg)
    assert "<script" not in svg
    assert "\u202e" not in svg


def test_a_plot_can_be_drawn_into_given_axes():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()

    assert compare_data().plot("differences", ax=ax) is ax
    assert ax.get_title(loc="left").startswith("map: ") or ax.get_title().startswith("map: ")


@pytest.mark.parametrize("kind", OF_PAIRS)
def test_a_plot_of_two_of_several_systems_says_how_they_were_chosen(kind):
    def said(comparison: fr.types.Comparison, **given: Any) -> list[str]:
        drawn = draw(comparison, kind, **given)
        words = "\n".join(text.get_text() for text in drawn.axes.texts) + drawn.description
        return re.findall(r"The [a-z ]+ of \d systems", words)

    assert said(compare_data()) == ["The two best of 3 systems"] * 2
    assert said(compare_data(baseline="pca")) == ["The best and the baseline of 3 systems"] * 2
    assert said(compare_data(), a="pixels", b="pca") == []
    assert said(compared(random_rows(2, 9))) == []


ALONE, BASED = compared(random_rows(1, 6)), compare_data(baseline="pca")
BASED_ON_BEST = compare_data(baseline="pixels")
ONLY_MAP = fr.compare(DATA / "digits.qrels", RUNS, "map")
OF_ONE_DOCUMENT = fr.compare({"q": {"a": 1}}, [{"q": {"a": 1}}], "Rprec IPrec@1")

test_what_cannot_be_plotted_is_an_error = refusing("""
compare_data().plot("diferences") =>
  OptionError: kind: no plot 'diferences'; did you mean 'differences'?
compare_data().plot("pie") =>
  OptionError: kind: no plot 'pie'; expected one of differences, scatter,...
compare_data().plot("scatter", a="pixel") =>
  OptionError: ...'pixel' is not one of the systems; did you mean 'pixels'...
compare_data().plot("critical-difference", a="pca") =>
  OptionError: a: the plot 'critical-difference' has no a: it shows all systems
compare_data().plot("intervals", path="a.jpg") =>
  OptionError: ...a.jpg: expected a suffix .png, .svg, .pdf
compare_data().plot("intervals", "ndcg") => MeasureError: 'ndcg' is not compared...
compare_data().plot("intervals", path="no such folder/a.svg") => FileNotFoundError: ...
ONLY_MAP.plot("over-k") =>
  MeasureError: over k needs several cutoffs of a measure; compare with P.1,5,10,20,100
OF_ONE_DOCUMENT.plot("over-k", "Rprec") => MeasureError: ...compare with P.1,5,10,20,100
OF_ONE_DOCUMENT.plot("over-k", "IPrec@1") => MeasureError: ...compare with P.1,5,10,20,100
compare_data().plot("precision-recall") =>
  MeasureError: precision-recall needs the measure iprec_at_recall...
BASED.plot("critical-difference") => OptionError: ...critical-difference needs all pairs...
ALONE.plot("scatter") => OptionError: ...needs two systems, found 1
ALONE.plot("critical-difference") => OptionError: ...needs two systems, found 1
""")


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)

    for call in (lambda: compare_data().plot("scatter"), lambda: ALONE.report(io.BytesIO())):
        with pytest.raises(ImportError, match=r"fastrank-eval\[plot\]"):
            call()


LONG = [f"a-very-long-name-of-a-retriever-{i}-with-a-long-tail-that-is-common" for i in (1, 2)]
SAME = compared(np.tile(random_rows(1, 12), (2, 1)))
FIRST, SECOND = scores_of(random_rows(2, 9)).values()
UNDERSCORE = fr.compare_scores(
    {
        name: {query: {"P_5": value, "P_10": value} for query, value in values.items()}
        for name, values in (("_first", FIRST), ("second", SECOND))
    }
)
LINES = [tuple(line(place).values()) for place in range(28)]


OF_DIFFERENCES = (
    "200 queries|+0.0854|[+0.0694, +0.1015]|pixels better on 157|pca better on 36|equal on 7"
    "|q0819 +0.4131"
)
OF_RANKS = (
    "map: mean ranks. Friedman's test of all systems: p = 6.9e-29. Bars join systems that cannot be"
    " told apart (Nemenyi, alpha 0.05). 3 systems, 200 queries. pixels 1.35, pca 2.28, profile"
    " 2.37. Critical difference 0.234. Groups that cannot be told apart: pca, profile."
)
OF_BASELINE = (
    "difference from pca|pixels +0.0854 [+0.0694, +0.1015]|profile -0.0046 [-0.0214, +0.0122]"
)
GAPS_OF_TWO, GAPS_OF_THREE = random_rows(2, 10), random_rows(3, 10)
GAPS_OF_TWO[0, 3] = GAPS_OF_THREE[0, 3] = np.nan
THOUSANDS = compared(random_rows(2, 7000))
PICTURES = Path(__file__).parents[3] / "docs/images"


def unsaid(parts: str, *given: Any, **more: Any) -> list[str]:
    """The parts that the description of a plot lacks."""
    description = draw(*given, **more).description
    return [part for part in parts.split("|") if part not in description]


def first_line(kind: str) -> Any:
    return DATA_COMPARED.plot(kind).lines[0]


test_lines_titles_names_and_descriptions = giving("""
DATA_COMPARED.plot("over-k").get_ylabel() => "P"
first_line("over-k").get_xdata().tolist() => [5, 10, 20]
first_line("over-k").get_ydata().tolist()
    => [DATA_COMPARED.mean[f"P_{k}"]["pixels"] for k in (5, 10, 20)]
first_line("precision-recall").get_xdata().tolist() => [round(0.1 * i, 1) for i in range(11)]
draw(compare_data(), "differences").title => "map: pixels - pca"
draw(BASED_ON_BEST, "scatter").title => "map: pca against pixels"
draw(SAME, "differences").description[-1] => "."
draw(SAME, "scatter").description[-1] => "."
draw(SAME, "intervals").description[-1] => "."
draw(ALONE, "intervals").description[-1] => "."
sorted(text.get_text() for text in UNDERSCORE.plot("over-k").get_legend().get_texts())
    => ["_first", "second"]
unsaid(OF_DIFFERENCES, compare_data(), "differences") => []
unsaid(OF_RANKS, compare_data(), "critical-difference") => []
unsaid(OF_BASELINE, BASED, "intervals") => []
unsaid("9 of 10 queries; the others have no values", compared(GAPS_OF_TWO), "differences") => []
unsaid("value: means with 95% intervals. 3 systems, 9 of 10 queries; the others",
    compared(GAPS_OF_THREE), "intervals") => []
"<image" in _svg(THOUSANDS, "scatter") => True
len(_svg(THOUSANDS, "differences")) < 1_000_000 => True
_alternative((PICTURES / "differences.svg").read_text("utf-8"))
    => _alternative(_svg(DATA_COMPARED, "differences", measure="map", a="pca", b="profile"))
_alternative((PICTURES / "intervals.svg").read_text("utf-8"))
    => _alternative(_svg(DATA_COMPARED, "intervals", measure="P_10"))
len(set(LINES)) => 28
[one for one, other in pairwise(LINES) if one[1] == other[1]] => []
short_names(LONG, 20) => ["…iever-1-with-a-lon…", "…iever-2-with-a-lon…"]
short_names([*LONG, "bm25"], 20)[2] => "bm25"
short(LONG[0], 20) => "a-very-lo…-is-common"
distinct_parts(["in.bm25.run", "in.dense.run"]) => ["bm25", "dense"]
distinct_parts(["run1", "run2"]) => ["run1", "run2"]
distinct_parts(["ours", "ours.v2"]) => ["ours", "ours.v2"]
distinct_parts(["a.x", "a.x"]) => ["a.x", "a.x"]
distinct_parts(["only"]) => ["only"]
short_names(["a" * 30 + "x", "a" * 30 + "y"], 10) => ["aaaa…aaaax", "aaaa…aaaay"]
visible("a\\x00\\u202eb") => "a\\\\x00\\\\u202eb"
""")


def _colors(axes: Any) -> list[str]:
    """The colours of everything that is drawn, in order, each once."""
    from matplotlib.colors import to_hex

    lines = [own.get_color() for own in axes.lines]
    faces = [np.ravel(own.get_facecolor()) for own in (*axes.patches, *axes.collections)]
    labels = [axes.xaxis.label.get_color(), axes.yaxis.label.get_color()]
    return list(dict.fromkeys(to_hex(color) for color in (*lines, *faces, *labels)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_system_has_the_same_colour_in_all_plots(kind):
    expected = {name: line(place)["color"].lower() for place, name in enumerate(NAMES)}
    pair = {"a": "profile", "b": "pca"} if kind in OF_PAIRS else {}

    colors = _colors(DATA_COMPARED.plot(kind, **pair))

    ranked_by = {"over-k": "P_5", "precision-recall": "iprec_at_recall_0.00"}.get(kind, "map")
    shown = list(pair.values()) or DATA_COMPARED.ranked(ranked_by)
    if kind == "scatter":
        shown.reverse()
    assert [own for own in colors if own in expected.values()] == [expected[name] for name in shown]


@pytest.mark.parametrize("kind", ["intervals", "critical-difference"])
def test_a_system_has_the_same_line_style_in_all_plots(kind):
    expected = {(own["color"], own["linestyle"]) for own in map(line, range(3))}
    drawn = {
        (own.get_color(), own.get_linestyle())
        for own in compare_data().plot(kind).lines
        if len(own.get_xdata()) > 1 and own.get_linewidth() >= 1 and own.get_linestyle() != "None"
    }

    known = {color for color, _ in expected}
    assert {own for own in drawn if own[0] in known} == expected


def _gaps() -> fr.types.Comparison:
    """Eight systems, of which two have no values of some queries, in measures for every kind."""
    rows = random_rows(8, 12)
    rows[0, 3] = rows[2, 5] = np.nan
    names = ["P_5", "P_10", "iprec_at_recall_0.00", "iprec_at_recall_0.50"]
    return fr.compare_scores(
        {
            system: {query: dict.fromkeys(names, value) for query, value in values.items()}
            for system, values in scores_of(rows).items()
        }
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_alternative_text_names_what_is_drawn_and_what_is_left_out(kind):
    gaps = _gaps()
    drawn = draw(gaps, kind)
    of_a_pair = kind in OF_PAIRS

    for name in chosen_pair(gaps, gaps.measures[0], None) if of_a_pair else gaps.names:
        assert re.search(rf"\b{name}\b", drawn.description)
    of = "The two best of 8 systems" if of_a_pair else "8 systems"
    left_out = re.search(rf"{of}, ([\d to]+) of 12 queries; the others", drawn.description)
    assert left_out is not None
    below = " ".join(text.get_text().replace("\n", " ") for text in drawn.axes.texts)
    assert left_out[0] in below
    if kind in FAMILIES:
        assert "No bands of 95% intervals of the means: more than 6 systems" in below
