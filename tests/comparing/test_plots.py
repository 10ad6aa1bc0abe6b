"""Plots of comparisons: what they show, say and write, and the errors about them."""

from __future__ import annotations

import io
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import fastrank as fr
from fastrank.comparing.chosen_pair import chosen_pair
from fastrank.comparing.plots.plot import KINDS, draw
from fastrank.comparing.plots.style import line, short, short_names, visible
from tests.helpers.comparisons import DATA, NAMES, compare_data, random_rows, scores_of

pytest.importorskip("matplotlib")
SVG = "{http://www.w3.org/2000/svg}"
RUNS = {name: DATA / f"{name}.run" for name in NAMES}
HOSTILE = '<script>alert("x")</script> & $\\frac{a}{b}$ \u202e\x00'
NEED_FAMILIES = ("over-k", "precision-recall")


@pytest.fixture(scope="module")
def compared() -> fr.types.Comparison:
    """Three systems in measures for every kind of plot."""
    return fr.compare(DATA / "digits.qrels", RUNS, "map P.5,10,20 iprec_at_recall")


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
def test_an_svg_has_alternative_text(compared: fr.types.Comparison, kind: str) -> None:
    title, description = _alternative(_svg(compared, kind))

    assert title
    assert re.search(r"\d", description)
    assert description.endswith(".")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_comparison_gives_the_same_bytes(kind: str) -> None:
    made = [fr.compare(DATA / "digits.qrels", RUNS, "map P iprec_at_recall") for _ in range(2)]

    first, second = (_svg(one, kind) for one in made)

    assert first == second
    assert "<dc:date>" not in first


def test_the_parameters_of_matplotlib_do_not_matter_and_do_not_change(
    compared: fr.types.Comparison,
) -> None:
    import matplotlib

    expected = _svg(compared, "intervals")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "svg.fonttype": "path"}):
        before = dict(matplotlib.rcParams.copy())
        assert _svg(compared, "intervals") == expected
        assert dict(matplotlib.rcParams.copy()) == before


def test_the_suffix_names_the_format(compared: fr.types.Comparison, tmp_path: Path) -> None:
    for name, start in {"a.png": b"\x89PNG", "a.svg": b"<?xml", "a.PDF": b"%PDF"}.items():
        compared.plot("scatter", path=tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)


def test_the_description_of_differences_has_the_numbers_of_the_pair(
    compared: fr.types.Comparison,
) -> None:
    _, description = _alternative(_svg(compared, "differences", a="pixels", b="pca"))

    for part in ("200 queries", "+0.0854", "[+0.0694, +0.1015]", "pixels better on 157",
                 "pca better on 36", "equal on 7", "q0819 +0.4131"):  # fmt: skip
        assert part in description, part


def test_differences_are_drawn_from_largest_to_smallest(compared: fr.types.Comparison) -> None:
    axes = compared.plot("differences", a="pixels", b="pca")

    drawn = np.concatenate([patch.get_data().values for patch in axes.patches[:2]])
    assert (np.diff(drawn) < 0).all()
    difference = compared.values("map")[0] - compared.values("map")[1]
    assert set(drawn) == set(difference[difference != 0])


def test_a_scatter_has_a_point_for_each_query(compared: fr.types.Comparison) -> None:
    axes = compared.plot("scatter", "P_10", "pixels", "pca")

    drawn = {tuple(point) for line in axes.lines for point in line.get_xydata()} - {(0.0, 0.0)}
    values = np.round(compared.values("P_10")[[1, 0]].T, 12)
    assert {tuple(point) for point in values} - {(0.0, 0.0)} <= drawn


def test_intervals_are_those_of_the_comparison(compared: fr.types.Comparison) -> None:
    axes = compared.plot("intervals")

    bars = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
    assert [tuple(bar) for bar in bars] == [
        compared.interval_of("map", name) for name in compared.ranked("map")
    ]


def test_intervals_with_a_baseline_are_those_of_the_differences() -> None:
    baseline = compare_data(baseline="pca")

    _, description = _alternative(_svg(baseline, "intervals"))

    assert "difference from pca" in description
    assert "pixels +0.0854 [+0.0694, +0.1015]" in description
    assert "profile -0.0046 [-0.0214, +0.0122]" in description


def test_the_heat_map_has_a_cell_for_each_pair(compared: fr.types.Comparison) -> None:
    axes = compared.plot("p-values")

    assert sorted(text.get_text() for text in axes.texts[:3]) == ["0.5880", "1.6e-20", "4.9e-24"]
    assert len(axes.patches) == 3


def test_cells_of_more_than_twenty_systems_have_no_text() -> None:
    many = fr.compare_scores({f"s{i}": row for i, row in enumerate(_rows(21, 12))})

    assert len(many.plot("p-values").texts) == 1


def _rows(systems: int, queries: int) -> list[dict[str, float]]:
    return [
        {f"q{j}": float(value) for j, value in enumerate(row)}
        for row in random_rows(systems, queries)
    ]


def test_cells_of_more_than_forty_systems_are_an_image() -> None:
    rows = random_rows(42, 12)
    rows[0] += 9.0
    compared = fr.compare_scores(scores_of(rows))

    axes = compared.plot("p-values")

    (image,) = axes.images
    opaque = image.get_array()[..., 3] > 0
    assert image.get_array().shape == (41, 41, 4)
    assert np.array_equal(opaque, np.tri(41, dtype=bool))
    assert not axes.patches


def test_bars_of_many_groups_leave_room_for_the_means() -> None:
    rows = random_rows(50, 30) * 0.2 + np.linspace(0, 1, 50)[:, None]
    compared = fr.compare_scores(scores_of(rows))
    axes = compared.plot("critical-difference", path=io.BytesIO(), format="png")

    assert axes.get_window_extent().width / axes.figure.dpi > 4


def test_bars_join_systems_that_do_not_differ(compared: fr.types.Comparison) -> None:
    _, description = _alternative(_svg(compared, "critical-difference"))

    assert description == (
        "map: mean ranks. Friedman's test of all systems: p = 6.9e-29. Bars join systems that"
        " cannot be told apart (Nemenyi, alpha 0.05). 3 systems, 200 queries. pixels 1.35, pca"
        " 2.28, profile 2.37. Critical difference 0.234. Groups that cannot be told apart: pca,"
        " profile."
    )


def test_critical_difference_needs_all_pairs() -> None:
    with pytest.raises(fr.OptionError, match="critical-difference needs all pairs"):
        compare_data(baseline="pca").plot("critical-difference")


def test_the_power_plot_names_the_queries_that_are_needed(compared: fr.types.Comparison) -> None:
    _, description = _alternative(_svg(compared, "power", a="pca", b="profile"))

    assert "200 queries detect 0.0240 with power 0.8" in description
    assert "The observed 0.0046 needs 5,334 queries for this power." in description


def test_over_k_shows_the_means_of_each_cutoff(compared: fr.types.Comparison) -> None:
    axes = compared.plot("over-k")

    assert axes.get_ylabel() == "P"
    line = axes.lines[0]
    assert line.get_xdata().tolist() == [5, 10, 20]
    assert line.get_ydata().tolist() == [compared.mean[f"P_{k}"]["pixels"] for k in (5, 10, 20)]


def test_precision_recall_shows_eleven_levels(compared: fr.types.Comparison) -> None:
    line = compared.plot("precision-recall").lines[0]

    assert line.get_xdata().tolist() == [round(0.1 * i, 1) for i in range(11)]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("over-k", r"over k needs several cutoffs of a measure; compare with P\.1,5,10,20,100"),
        ("precision-recall", "precision-recall needs the measure iprec_at_recall"),
    ],
)
def test_plots_of_families_name_the_measures_they_need(kind: str, message: str) -> None:
    with pytest.raises(fr.MeasureError, match=message):
        fr.compare(DATA / "digits.qrels", RUNS, "map").plot(kind)


CUT = [
    "P@10", "P_10", "recall.10", "nDCG@10", "nDCG(dcg=exp-log2)@10", "map_cut.10", "ndcg_cut_10",
    "success@1", "relative_P.5", "unj_5", "MRR@10", "F1(rel=2)@10", "RBP(p=0.5)@10", "ERR@20",
    "Judged@10", "Hole@5", "HitRatio@10", "Q@10", "BPM@10", "SDCG@10", "NERR8@10", "RCap@5",
]  # fmt: skip


@pytest.mark.parametrize("measure", CUT)
def test_over_k_advises_measures_that_it_shows(measure: str) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}
    with pytest.raises(fr.MeasureError, match="over k needs several cutoffs") as error:
        fr.compare(qrels, [run], ["map", measure]).plot("over-k")
    advised = str(error.value).rpartition(" ")[2]

    axes = fr.compare(qrels, [run], advised).plot("over-k")

    assert axes.lines[0].get_xdata().tolist() == [1, 5, 10, 20, 100]
    assert axes.get_ylabel() == measure.rstrip("0123456789")[:-1]


def test_over_k_of_a_measure_without_cutoffs_advises_another() -> None:
    compared = fr.compare({"q": {"a": 1}}, [{"q": {"a": 1}}], "Rprec IPrec@1")
    for measure in ("Rprec", "IPrec@1"):
        with pytest.raises(fr.MeasureError, match=r"compare with P\.1,5,10,20,100"):
            compared.plot("over-k", measure)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in NEED_FAMILIES])
@pytest.mark.parametrize("queries", [2, 2500])
def test_two_systems_can_be_plotted(kind: str, queries: int) -> None:
    both = fr.compare_scores(scores_of(random_rows(2, queries)))

    assert _alternative(_svg(both, kind))[1]


@pytest.mark.parametrize("kind", ["differences", "scatter", "intervals", "p-values"])
def test_identical_systems_can_be_plotted(kind: str) -> None:
    same = fr.compare_scores(scores_of(np.tile(random_rows(1, 12), (2, 1))))

    assert _alternative(_svg(same, kind))[1]


def test_queries_without_a_value_are_not_drawn() -> None:
    rows = random_rows(2, 12)
    rows[0, 3] = np.nan

    _, description = _alternative(_svg(fr.compare_scores(scores_of(rows)), "differences"))

    assert "11 of 12 queries; the others have no values" in description


def test_hostile_names_are_text() -> None:
    rows = random_rows(2, 6)
    named = {
        name: {f"{HOSTILE}{i}": float(value) for i, value in enumerate(row)}
        for name, row in zip((HOSTILE, "b"), rows, strict=True)
    }
    hostile = fr.compare_scores(named)

    for kind in ("differences", "scatter", "intervals", "p-values", "distribution"):
        svg = _svg(hostile, kind)
        ElementTree.fromstring(svg)
        assert "<script" not in svg
        assert "\u202e" not in svg


def test_thousands_of_points_are_pixels() -> None:
    many = fr.compare_scores(scores_of(random_rows(2, 7000)))

    assert "<image" in _svg(many, "scatter")
    assert len(_svg(many, "differences")) < 1_000_000


def test_a_plot_can_be_drawn_into_given_axes(compared: fr.types.Comparison) -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()

    assert compared.plot("differences", ax=ax) is ax
    assert ax.get_title(loc="left").startswith("map: ") or ax.get_title().startswith("map: ")


@pytest.mark.parametrize("kind", ["differences", "scatter", "power"])
def test_a_plot_of_two_of_several_systems_says_how_they_were_chosen(
    kind: str, compared: fr.types.Comparison
) -> None:
    def said(comparison: fr.types.Comparison, **given: Any) -> list[str]:
        drawn = draw(comparison, kind, **given)
        words = "\n".join(text.get_text() for text in drawn.axes.texts) + drawn.description
        return re.findall(r"The [a-z ]+ of \d systems", words)

    assert said(compared) == ["The two best of 3 systems"] * 2
    assert said(compare_data(baseline="pca")) == ["The best and the baseline of 3 systems"] * 2
    assert said(compared, a="pixels", b="pca") == []
    assert said(fr.compare_scores(scores_of(random_rows(2, 9)))) == []


def test_the_best_system_and_the_baseline_are_plotted_by_default(
    compared: fr.types.Comparison,
) -> None:
    assert draw(compared, "differences").title == "map: pixels - pca"
    assert draw(compare_data(baseline="pixels"), "scatter").title == "map: pca against pixels"


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("diferences", {}, r"kind: no plot 'diferences'; did you mean 'differences'\?"),
        ("pie", {}, r"kind: no plot 'pie'; expected one of differences, scatter, "),
        ("scatter", {"a": "pixel"}, r"'pixel' is not one of the systems; did you mean 'pixels'"),
        ("p-values", {"a": "pca"}, "a: the plot 'p-values' has no a: it shows all systems"),
        ("intervals", {"path": "a.jpg"}, r"a\.jpg: expected a suffix \.png, \.svg, \.pdf"),
    ],
)
def test_errors_say_what_to_do(
    compared: fr.types.Comparison, kind: str, given: dict[str, str], message: str
) -> None:
    with pytest.raises(fr.OptionError, match=message):
        compared.plot(kind, **given)


def test_an_unknown_measure_is_an_error(compared: fr.types.Comparison) -> None:
    with pytest.raises(fr.MeasureError, match="'ndcg' is not compared"):
        compared.plot("intervals", "ndcg")


def test_one_system_has_no_pair_to_plot() -> None:
    alone = fr.compare_scores(scores_of(random_rows(1, 6)))

    with pytest.raises(fr.OptionError, match="needs two systems, found 1"):
        alone.plot("scatter")
    assert _alternative(_svg(alone, "intervals"))[1]


def test_nothing_is_written_to_a_folder_that_does_not_exist(
    compared: fr.types.Comparison, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        compared.plot("scatter", path=tmp_path / "none" / "a.svg")


def test_without_matplotlib_the_error_names_the_extra(
    compared: fr.types.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)

    with pytest.raises(ImportError, match=r"fastrank-eval\[plot\]"):
        compared.plot("scatter")
    with pytest.raises(ImportError, match=r"fastrank-eval\[plot\]"):
        compared.report(io.BytesIO())


def test_long_names_are_cut_where_they_differ() -> None:
    names = [f"a-very-long-name-of-a-retriever-{i}-with-a-long-tail-that-is-common" for i in (1, 2)]

    assert short_names(names, 20) == ["…iever-1-with-a-lon…", "…iever-2-with-a-lon…"]
    assert short_names([*names, "bm25"], 20)[2] == "bm25"
    assert short(names[0], 20) == "a-very-lo…-is-common"
    assert short_names(["a" * 30 + "x", "a" * 30 + "y"], 10) == ["aaaa…aaaax", "aaaa…aaaay"]


def test_controls_are_visible() -> None:
    assert visible("a\x00\u202eb") == "a\\x00\\u202eb"


@pytest.mark.parametrize("kind", ["p-values", "critical-difference"])
def test_one_system_has_no_pairs_to_show(kind: str) -> None:
    alone = fr.compare_scores(scores_of(random_rows(1, 10)))

    with pytest.raises(fr.OptionError, match="needs two systems, found 1"):
        alone.plot(kind)


def test_the_power_of_one_query_is_no_plot() -> None:
    compared = fr.compare_scores(scores_of([[0.1], [0.2]]))

    with pytest.raises(fr.OptionError, match="have 1 query with values of both"):
        compared.plot("power")


def test_intervals_name_the_number_of_queries_of_the_means() -> None:
    rows = random_rows(3, 10)
    rows[0, 0] = np.nan

    svg = _svg(fr.compare_scores(scores_of(rows)), "intervals")

    assert _alternative(svg)[1].startswith(
        "value: means with 95% intervals. 3 systems, 9 of 10 queries; the others have no values."
    )


def test_values_are_sorted_with_their_mean_and_interval() -> None:
    scores = fr.evaluate(DATA / "digits.qrels", RUNS["pixels"], "P.10 map")

    axes = scores.plot("map", level=0.9, path=(image := io.BytesIO()), format="svg")

    values, mean = (own.get_ydata() for own in axes.lines)
    assert values.tolist() == sorted(scores["map"], reverse=True)
    assert mean[0] == scores.mean["map"]
    (band,) = axes.patches
    drawn = band.get_y(), band.get_y() + band.get_height()
    assert drawn == pytest.approx(scores.interval("map", 0.9), rel=1e-12)
    assert "pixels mean 0.4348" in _alternative(image.getvalue().decode())[1]
    with pytest.raises(fr.MeasureError, match="'ndcg' was not evaluated"):
        scores.plot("ndcg")


def _colors(axes: Any) -> list[str]:
    """The colours of everything that is drawn, in order, each once."""
    from matplotlib.colors import to_hex

    faces = [own.get_facecolor() for own in (*axes.patches, *axes.collections)]
    labels = [axes.xaxis.label.get_color(), axes.yaxis.label.get_color()]
    found = [own.get_color() for own in axes.lines]
    return list(dict.fromkeys(to_hex(np.ravel(c) if not isinstance(c, str) else c)
                              for c in (*found, *faces, *labels)))  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_system_has_the_same_colour_in_all_plots(
    compared: fr.types.Comparison, kind: str
) -> None:
    expected = {name: line(place)["color"].lower() for place, name in enumerate(NAMES)}
    pair = {"a": "profile", "b": "pca"} if KINDS[kind][1] == "pair" else {}

    colors = [color for color in _colors(compared.plot(kind, **pair)) if color in expected.values()]

    shown = list(pair.values()) or compared.ranked("map")
    if kind in ("over-k", "precision-recall"):
        shown = compared.ranked("P_5" if kind == "over-k" else "iprec_at_recall_0.00")
    if kind in ("p-values", "power"):
        shown = []
    if kind == "scatter":
        shown.reverse()
    assert colors == [expected[name] for name in shown]


@pytest.mark.parametrize("kind", ["intervals", "values", "distribution", "critical-difference"])
def test_a_system_has_the_same_line_style_in_all_plots(
    compared: fr.types.Comparison, kind: str
) -> None:
    drawn = {
        (own.get_color(), own.get_linestyle())
        for own in compared.plot(kind).lines
        if len(own.get_xdata()) > 1 and own.get_linewidth() >= 1 and own.get_linestyle() != "None"
    }

    expected = [line(place) for place in range(3)]
    colors = {own["color"] for own in expected}
    # The ends of whiskers are short, and always solid.
    drawn = {own for own in drawn if own[0] in colors}
    if kind == "distribution":
        drawn -= {(color, "-") for color in list(colors) if color != expected[0]["color"]}
    assert drawn == {(own["color"], own["linestyle"]) for own in expected}


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


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("differences", {"measure": "map", "a": "pca", "b": "profile"}),
        ("intervals", {"measure": "P_10"}),
    ],
)
def test_the_pictures_of_the_documentation_say_what_is_drawn(
    compared: fr.types.Comparison, kind: str, given: dict[str, str]
) -> None:
    picture = Path(__file__).parents[2] / f"docs/images/{kind}.svg"

    assert _alternative(picture.read_text("utf-8")) == _alternative(_svg(compared, kind, **given))


@pytest.mark.parametrize("kind", KINDS)
def test_the_alternative_text_names_what_is_drawn_and_what_is_left_out(kind: str) -> None:
    gaps = _gaps()
    drawn = draw(gaps, kind)
    shown = gaps.names
    if KINDS[kind][1] == "pair":
        shown = list(chosen_pair(gaps, gaps.measures[0], None))

    for name in shown:
        assert re.search(rf"\b{name}\b", drawn.description)
    of = "The two best of 8 systems" if KINDS[kind][1] == "pair" else "8 systems"
    left_out = re.search(rf"{of}, ([\d to]+) of 12 queries; the others", drawn.description)
    assert left_out is not None
    below = " ".join(text.get_text().replace("\n", " ") for text in drawn.axes.texts)
    assert left_out[0] in below
    if kind in ("values", "over-k", "precision-recall"):
        assert "No bands of 95% intervals of the means: more than 6 systems" in below


def test_the_pairs_that_the_description_of_the_heat_map_leaves_out_are_counted() -> None:
    many = fr.compare_scores(scores_of(random_rows(12, 9)))

    assert "; and 16 more pairs." in draw(many, "p-values").description


def test_a_legend_has_names_that_begin_with_an_underscore() -> None:
    rows = scores_of(random_rows(2, 9))
    named = fr.compare_scores(dict(zip(("_first", "second"), rows.values(), strict=True)))

    legend = named.plot("values").get_legend()

    assert {text.get_text() for text in legend.get_texts()} == {"_first", "second"}


def test_lines_of_28_systems_differ_in_colour_and_those_of_neighbours_in_style() -> None:
    styles = [tuple(line(place).values()) for place in range(28)]

    assert len(set(styles)) == 28
    assert all(one[1] != other[1] for one, other in pairwise(styles))
