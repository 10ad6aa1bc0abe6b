"""The words of messages: what is escaped in them, and which names and ids they suggest."""

import json

import pytest

from fastrank.common.messages import closest, did_you_mean, similar_id, valid_json, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("q1", "q1"),
        ("é 查询 🔎", "é 查询 🔎"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x00\x1b[2J\x7f\x9b", r"\x00\x1b[2J\x7f\x9b"),
        ("\u2028\u202e\u2066\ufeff", r"\u2028\u202e\u2066\ufeff"),
        ("a\xa0b", r"a\xa0b"),
        ("\udcff\ufffe\U000e0001", r"\udcff\ufffe\U000e0001"),
    ],
)
def test_what_could_mislead_is_escaped(text, shown):
    assert visible(text) == shown


def test_joiners_of_words_are_kept():
    assert visible("می\u200cشود") == "می\u200cشود"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("\udcff\udc80", r"\xff\x80"),
        ("\U0001f480", "\U0001f480"),
        ("\U0001f480\udcff", "\U0001f480\\xff"),
        (r"\udcff", r"\udcff"),
        ("\\\udcff", r"\\xff"),
        ('"\n\udcff', '"\n\\xff'),
    ],
)
def test_only_lone_surrogates_of_json_are_replaced(text, read):
    assert json.loads(valid_json(json.dumps([text]))) == [read]


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
def test_an_id_is_suggested_only_if_its_numbers_are_the_same(wanted, known, meant):
    assert similar_id(wanted, known) == meant


def test_names_resemble_others_regardless_of_case_and_hyphens():
    assert closest("Relevance-Level", ["depth", "relevance_level"]) == ["relevance_level"]
    assert closest("max_fall", ["max-drop"], {"max_fall": "max-drop"}) == ["max-drop"]
    assert closest("xyzzy", ["depth"]) == []


def test_suggestions_are_listed_with_or():
    assert did_you_mean([]) == ""
    assert did_you_mean(["a"]) == "; did you mean a?"
    assert did_you_mean(["a", "b", "c"]) == "; did you mean a, b or c?"
