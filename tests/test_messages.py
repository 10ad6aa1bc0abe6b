"""The words of messages: what is escaped in them, and which names and ids they suggest."""

import json  # noqa: F401 (in a table)

from fastrank.common import messages as m  # noqa: F401 (in a table)
from tests.helpers.tables import giving

test_what_could_mislead_is_escaped = giving(r"""
m.visible("q1") => "q1"
m.visible("é 查询 🔎") => "é 查询 🔎"
m.visible("a\nb\tc\r") => r"a\nb\tc\r"
m.visible("\x00\x1b[2J\x7f\x9b") => r"\x00\x1b[2J\x7f\x9b"
m.visible("\u2028\u202e\u2066\ufeff") => r"\u2028\u202e\u2066\ufeff"
m.visible("a\xa0b") => r"a\xa0b"
m.visible("\udcff\ufffe\U000e0001") => r"\udcff\ufffe\U000e0001"
# joiners of words are kept
m.visible("می\u200cشود") => "می\u200cشود"
""")

test_only_lone_surrogates_of_json_are_replaced = giving(r"""
json.loads(m.valid_json(json.dumps("\udcff\udc80"))) => r"\xff\x80"
json.loads(m.valid_json(json.dumps("\U0001f480"))) => "\U0001f480"
json.loads(m.valid_json(json.dumps("\U0001f480\udcff"))) => "\U0001f480\\xff"
json.loads(m.valid_json(json.dumps(r"\udcff"))) => r"\udcff"
json.loads(m.valid_json(json.dumps("\\\udcff"))) => r"\\xff"
json.loads(m.valid_json(json.dumps('"\n\udcff'))) => '"\n\\xff'
""")

test_an_id_is_suggested_only_if_its_numbers_are_the_same = giving("""
m.similar_id("410", ["641", "401", "104", "41"]) => []
m.similar_id("410", ["0410"]) => ["0410"]
m.similar_id("410", ["q401", "q410"]) => ["q410"]
m.similar_id("Q7", ["q70", "q7"]) => ["q7"]
m.similar_id(" 7", ["7"]) => ["7"]
m.similar_id("q004", ["q0005", "q0004"]) => ["q0004"]
m.similar_id("d12.txt", ["d12", "d13.txt"]) => ["d12"]
m.similar_id("LA010189-0002", ["LA010189-0001"]) => []
m.similar_id("aple", ["apple", "pear"]) => ["apple"]
m.similar_id("x1", ["quince1"]) => []
m.similar_id("", ["a"]) => []
m.similar_id("7", []) => []
""")

test_names_resemble_others_regardless_of_case_and_hyphens_and_are_listed_with_or = giving("""
m.closest("Relevance-Level", ["depth", "relevance_level"]) => ["relevance_level"]
m.closest("max_fall", ["max-drop"], {"max_fall": "max-drop"}) => ["max-drop"]
m.closest("xyzzy", ["depth"]) => []
m.did_you_mean([]) => ""
m.did_you_mean(["a"]) => "; did you mean a?"
m.did_you_mean(["a", "b", "c"]) => "; did you mean a, b or c?"
""")
