"""A comparison as LaTeX."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.comparisons import compare_data, data_scores, random_rows, scores_of
from tests.helpers.strategies import examples


def test_superscripts_have_invisible_letters_so_that_numbers_align() -> None:
    values = {
        name: dict(zip(own.queries, own["P_10"].tolist(), strict=True))
        for name, own in data_scores().items()
    }

    assert fr.compare_scores(values).to_latex() == "\n".join(
        [
            "% 200 queries. Letters: significantly better than that system (p <= 0.05, paired"
            " t-test, Holm-corrected for the 3 pairs of a measure).",
            r"\begin{tabular}{llr}",
            r"\toprule",
            r"  & system  &                                value \\",
            r"\midrule",
            r"a & pixels  &               \textbf{0.9510}$^{bc}$ \\",
            r"b & pca     &             0.8050$^{\hphantom{bc}}$ \\",
            r"c & profile & \underline{0.8985}$^{b\hphantom{c}}$ \\",
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def test_means_better_than_a_baseline_have_its_mark() -> None:
    compared = compare_data(baseline=["pca", "profile"])

    lines = compared.to_latex(best="none", second="none", digits=2).splitlines()

    assert r"Significantly better: \dagger than pca, \ddagger than profile (p <= 0.05" in lines[0]
    assert re.split(r" +& +", lines[5])[1:3] == [
        r"0.43$^{\dagger \ddagger}$", r"0.95$^{\dagger \ddagger}$",
    ]  # fmt: skip
    assert lines[7].split(" & ")[2].strip() == r"0.90$^{\dagger\hphantom{\ddagger}}$"


def test_marks_of_baselines_can_be_chosen() -> None:
    row = compare_data(baseline="pca").to_latex(baseline_marks=["*"], second="none").splitlines()[5]

    assert row.split(" & ")[1].strip() == r"\textbf{0.4348}$^{*}$"


def test_intervals_and_p_values_are_columns() -> None:
    compared = compare_data(baseline="pca")

    lines = compared.to_latex(show=["mean", "interval", "p"], best="none").splitlines()

    assert re.split(r" +& +", lines[3])[:4] == [
        "system", "map", r"diff [95\% interval]", "p",
    ]  # fmt: skip
    assert re.split(r" +& +", lines[5])[2:4] == [
        r"$+0.0854$ $[+0.0694, +0.1015]$", r"$1.6\cdot 10^{-20}$",
    ]  # fmt: skip


def test_the_seed_is_named_if_there_are_resamples() -> None:
    compared = compare_data(test="tukey", resamples=500, seed=7)

    assert compared.to_latex().splitlines()[0].endswith(" 500 resamples, seed 7.")


def test_compact_letters_take_the_width_of_the_longest() -> None:
    rows = [[0.0, 0.1] * 9, [0.03, 0.1] * 9, [0.05, 0.1] * 9]
    rows = [[value + 0.02 * (i % 3) for i, value in enumerate(row)] for row in rows]
    compared = fr.compare_scores(scores_of(np.array(rows)))
    compact = compared.letters("value")
    longest = max(compact.values(), key=len)

    lines = compared.to_latex(letters=True, best="none", second="none").splitlines()

    for line, own in zip(lines[5:8], compact.values(), strict=True):
        assert line.endswith(rf"\rlap{{$^{{{own}}}$}}\hphantom{{$^{{{longest}}}$}} \\")


@pytest.mark.parametrize(
    ("comparing", "options"),
    [
        ({}, {"show": "p"}),
        ({}, {"show": "median"}),
        ({"interval": "none"}, {"show": ("mean", "interval")}),
        ({"baseline": ["pca", "pixels"]}, {"show": "interval"}),
        ({"baseline": ["pca", "pixels"]}, {"baseline_marks": ["a"]}),
        ({"baseline": "pca"}, {"baseline_marks": "a"}),
        ({}, {"best": "red"}),
    ],
)
def test_invalid_options_are_errors(
    comparing: dict[str, object], options: dict[str, object]
) -> None:
    with pytest.raises(fr.OptionError):
        compare_data(**comparing).to_latex(**options)  # type: ignore[arg-type]


@given(st.lists(st.text(max_size=8), min_size=2, max_size=4, unique=True))
@examples(100)
def test_names_never_break_rows_or_comments(names: list[str]) -> None:
    values = list(scores_of(random_rows(len(names), 12)).values())
    compared = fr.compare_scores(dict(zip(names, values, strict=True)), baseline=0)

    lines = compared.to_latex().split("\n")

    comments = [line for line in lines if line.startswith("% ")]
    rows = lines[len(comments) + 4 : -2]
    assert lines[len(comments)].startswith(r"\begin{tabular}")
    assert len(rows) == len(names)
    for row in rows:
        assert len(re.findall(r"(?<!\\)&", row)) == 1
        assert row[0] not in "[*"
