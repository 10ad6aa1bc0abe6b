"""A comparison as plain text: letters, differences, alignment, and their options."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.document.document import Cell, Document, Grid
from fastrank.document.numbers import p_text
from fastrank.document.text import display_width, text
from tests.helpers.comparisons import compare_data, random_rows, scores_of
from tests.helpers.strategies import examples


def test_superscripts_are_the_letters_of_the_systems_that_are_significantly_worse() -> None:
    assert compare_data().to_text(ascii=False) == (
        "    system         map      P_10    recip_rank    ndcg_cut_10\n"
        "--  --------  --------  --------  ------------  -------------\n"
        "a   pixels    0.4348ᵇᶜ  0.9510ᵇᶜ       0.9851ᵇ       0.6634ᵇᶜ\n"
        "b   pca       0.3493    0.8050         0.9134        0.5064\n"
        "c   profile   0.3447    0.8985ᵇ        0.9719ᵇ       0.6074ᵇ\n"
        "\n"
        "200 queries. Letters: significantly better than that system (p ≤ 0.05, paired t-test,\n"
        "Holm-corrected for the 3 pairs of a measure)."
    )


def test_with_baselines_each_measure_has_a_table_of_differences() -> None:
    compared = compare_data(baseline=["pca", "profile"])

    blocks = compared.to_text(ascii=True).split("\n\n")

    assert blocks[2] == (
        "system      recip_rank  baseline           diff [95% interval]       p     +/=/-\n"
        "--------  ------------  ----------  --------------------------  ------  --------  --\n"
        "pixels          0.9851  pca         +0.0717 [+0.0382, +0.1051]  0.0001  24/173/3  +\n"
        "pixels          0.9851  profile     +0.0132 [-0.0057, +0.0322]  0.1701   8/190/2\n"
        "pca             0.9134\n"
        "profile         0.9719  pca         +0.0584 [+0.0249, +0.0919]  0.0014  22/173/5  +"
    )
    assert len(blocks) == 5


def test_significantly_worse_than_the_baseline_has_its_symbol() -> None:
    compared = compare_data(baseline="pixels")

    marks = [line[-1] for line in compared.to_text(ascii=False).splitlines()[3:5]]

    assert marks == ["▼", "▼"]


def test_lower_values_are_better_where_the_measure_says_so() -> None:
    found = {
        "a": {f"q{i}": {"FirstRank": 1.0 + i % 2} for i in range(20)},
        "b": {f"q{i}": {"FirstRank": 5.0 + i % 3} for i in range(20)},
    }

    lines = fr.compare_scores(found).to_text(ascii=True).splitlines()

    assert lines[2:4] == ["a   a            1.5000^b", "b   b            5.9500"]


def test_one_system_has_the_interval_of_its_mean() -> None:
    compared = fr.compare_scores({"pixels": {f"q{i}": i / 10 for i in range(10)}})

    assert compared.to_text().split("\n\n")[0] == (
        "system      value      95% interval\n"
        "--------  -------  ----------------\n"
        "pixels     0.4500  [0.2334, 0.6666]"
    )


def test_percentages_have_two_decimals() -> None:
    text = compare_data().to_text(percent=True, ascii=True)

    assert "a   pixels    43.48^bc  95.10^bc" in text
    assert "200 queries. Values in percent." in text


def test_systems_can_be_sorted_by_a_measure() -> None:
    lines = compare_data().to_text(sort="P_10", digits=2, ascii=True).splitlines()

    assert lines[2:5] == [
        "a   pixels    0.43^bc  0.95^bc        0.99^c        0.66^bc",
        "b   profile   0.34     0.90^c         0.97^c        0.61^c",
        "c   pca       0.35     0.81           0.91          0.51",
    ]


def test_shared_letters_are_those_of_letters() -> None:
    compared = compare_data()

    lines = compared.to_text(letters=True, ascii=True).splitlines()

    first = [line.split()[1].partition("^")[2] for line in lines[2:5]]
    assert first == list(compared.letters("map").values())
    assert "Systems that share a letter do not differ significantly" in " ".join(lines)


def test_shared_letters_need_all_pairs() -> None:
    with pytest.raises(fr.OptionError, match="letters: needs all pairs"):
        compare_data(baseline="pca").to_text(letters=True)


def test_a_table_with_a_letter_without_superscript_is_in_ascii() -> None:
    systems = random_rows(18, 60)
    systems[0] += 3

    best = fr.compare_scores(scores_of(systems)).to_text(ascii=False).splitlines()[2]

    assert best.endswith("^bcdefghijklmnopqr")


def test_letters_after_z_are_separated() -> None:
    systems = random_rows(28, 60)
    systems[0] += 3

    best = fr.compare_scores(scores_of(systems)).to_text().splitlines()[2]

    assert best.endswith(",x,y,z,aa,ab")


def test_marks_are_in_ascii_if_standard_output_cannot_encode_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = compare_data(baseline="pca")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "latin-1"))

    assert str(compared).isascii()


def test_names_in_the_legend_are_unchanged() -> None:
    values = list(scores_of(random_rows(2, 12)).values())
    compared = fr.compare_scores(dict(zip(["a<=b", "c"], values, strict=True)), baseline=0)

    assert "diff: difference from a<=b," in compared.to_text(ascii=False)


def test_p_values_are_never_zero() -> None:
    assert [p_text(p) for p in (0.0, 1e-20, 0.00012, 0.5)] == [
        "<1e-300", "1.0e-20", "0.0001", "0.5000",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"digits": -1}, fr.OptionError),
        ({"percent": 2}, fr.OptionError),
        ({"sort": "mapp"}, fr.MeasureError),
    ],
)
def test_invalid_options_are_errors(options: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        compare_data().to_text(**options)  # type: ignore[arg-type]


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"]))


@given(st.lists(st.tuples(names, names), min_size=1, max_size=5), st.booleans())
@examples(200)
def test_columns_are_aligned(cells: list[tuple[str, str]], right: bool) -> None:
    rows = [[Cell(one, number=right), Cell(other), Cell("|")] for one, other in cells]
    lines = text(Document([Grid(["n", "m", ""], rows)]))

    widths = {display_width(line) for line in lines.splitlines()[2:]}
    assert len(widths) == 1


@given(st.integers(2, 6), st.integers(0, 1000), st.integers(0, 6))
@examples(50)
def test_numbers_end_in_the_same_column(systems: int, seed: int, digits: int) -> None:
    rows = random_rows(systems, 12, seed) * 10.0 ** np.arange(systems)[:, None]

    lines = fr.compare_scores(scores_of(rows)).to_text(digits=digits, ascii=True).splitlines()

    ends = {line.split("^")[0].rstrip() for line in lines[2 : 2 + systems]}
    assert len({len(end) for end in ends}) == 1


@pytest.mark.parametrize("shown", ["to_text", "to_markdown", "to_latex", "to_html"])
@pytest.mark.parametrize("options", [{}, {"baseline": 0}, {"test": "sign"}])
def test_names_and_queries_from_files_hide_nothing(shown: str, options: dict[str, Any]) -> None:
    bad = "\n\r\x1b[2J\x9b\u202e\u2028"
    values = {f"{bad}{name}": {f"{bad}q{i}": float(i % 3) for i in range(9)} for name in "ab"}
    values[f"{bad}a"][f"{bad}q0"] = float("nan")

    found = getattr(fr.compare_scores(values, **options), shown)()

    assert found.replace("\n", "").isprintable()
    assert "x1b[2J" in found.replace("\\[", "[")
