"""What `visible` and `valid_json` escape."""

from __future__ import annotations

import json

import pytest

from fastrank.messages import valid_json, visible


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
def test_what_could_mislead_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_joiners_of_words_are_kept() -> None:
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
def test_only_lone_surrogates_of_json_are_replaced(text: str, read: str) -> None:
    assert json.loads(valid_json(json.dumps([text]))) == [read]
