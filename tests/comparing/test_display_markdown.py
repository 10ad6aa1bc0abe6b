"""A comparison as Markdown."""

from __future__ import annotations

import re

import fastrank as fr
from tests.helpers.comparisons import compare_data, random_rows, scores_of


def test_superscripts_follow_means_and_the_best_are_bold() -> None:
    assert compare_data().to_markdown(digits=2).splitlines()[:5] == [
        "|    | system   |                    map |                   P_10 |"
        "            recip_rank |            ndcg_cut_10 |",
        "|:---|:---------|-----------------------:|-----------------------:|"
        "----------------------:|-----------------------:|",
        "| a  | pixels   | **0.43** <sup>bc</sup> | **0.95** <sup>bc</sup> |"
        " **0.99** <sup>b</sup> | **0.66** <sup>bc</sup> |",
        "| b  | pca      |                   0.35 |                   0.81 |"
        "                  0.91 |                   0.51 |",
        "| c  | profile  |                   0.34 |      0.90 <sup>b</sup> |"
        "     0.97 <sup>b</sup> |      0.61 <sup>b</sup> |",
    ]


def test_the_second_is_underlined_on_request() -> None:
    row = compare_data().to_markdown(underline=True, bold=False).splitlines()[4]

    assert "<u>0.8985</u> <sup>b</sup>" in row
    assert "**" not in row


def test_equal_printed_values_share_their_place() -> None:
    rows = [[0.9, 0.9], [0.90001, 0.9], [0.5, 0.5], [0.4, 0.4]]

    lines = fr.compare_scores(scores_of(rows)).to_markdown(digits=2, underline=True).splitlines()

    values = [line.split("|")[-2].split()[0] for line in lines[2:6]]
    assert values == ["**0.90**", "**0.90**", "<u>0.50</u>", "0.40"]


def test_the_second_of_two_is_not_underlined() -> None:
    compared = fr.compare_scores(scores_of([[0.9, 0.8], [0.1, 0.2]]))

    assert "<u>" not in compared.to_markdown(underline=True)


def test_differences_from_a_baseline_have_a_table_for_each_measure() -> None:
    tables = compare_data(baseline="pca").to_markdown().split("\n\n")

    assert tables[0].splitlines()[2] == (
        "| pixels   | **0.4348** | +0.0854 [+0.0694, +0.1015] | 1.6e-20 | 157/7/36 | ▲  |"
    )
    assert len(tables) == 5


def test_hostile_names_are_escaped() -> None:
    values = list(scores_of(random_rows(2, 12)).values())
    compared = fr.compare_scores(dict(zip(["a|b", "<b>*x*\n"], values, strict=True)))

    lines = compared.to_markdown().splitlines()

    assert [re.split(r"(?<!\\)\|", line)[2].strip() for line in lines[2:4]] == [
        r"a\|b", r"\<b\>\*x\*\n",
    ]  # fmt: skip
