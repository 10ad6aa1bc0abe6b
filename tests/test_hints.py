"""Every remedy that an error names works."""

from __future__ import annotations

import pytest

from fastrank.messages import closest, did_you_mean, similar_id


@pytest.mark.parametrize(
    ("wanted", "known", "meant"),
    [
        ("410", ["641", "401", "104", "41"], []),
        ("410", ["0410"], ["0410"]),
        ("410", ["q401", "q410"], ["q410"]),
        ("Q7", ["q70", "q7"], ["q7"]),
        (" 7", ["7"], ["7"]),
        ("q004", ["q0005", "q0004"], ["q0004"]),
        ("d12.txt", ["d12", "d13.txt"], ["d12"]),
        ("LA010189-0002", ["LA010189-0001"], []),
        ("aple", ["apple", "pear"], ["apple"]),
        ("x1", ["quince1"], []),
        ("", ["a"], []),
        ("7", [], []),
    ],
)
def test_an_id_is_suggested_only_if_its_numbers_are_the_same(
    wanted: str, known: list[str], meant: list[str]
) -> None:
    assert similar_id(wanted, known) == meant


def test_names_resemble_others_regardless_of_case_and_hyphens() -> None:
    assert closest("Relevance-Level", ["depth", "relevance_level"]) == ["relevance_level"]
    assert closest("max_fall", ["max-drop"], {"max_fall": "max-drop"}) == ["max-drop"]
    assert closest("xyzzy", ["depth"]) == []


def test_suggestions_are_listed_with_or() -> None:
    assert did_you_mean([]) == ""
    assert did_you_mean(["a"]) == "; did you mean a?"
    assert did_you_mean(["a", "b", "c"]) == "; did you mean a, b or c?"
