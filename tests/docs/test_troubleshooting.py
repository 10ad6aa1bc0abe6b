"""Every message on the page on troubleshooting is one that fastrank prints."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.common.lazy import missing
from fastrank.core.native import interpreted, jit
from tests.helpers.code_blocks import REPOSITORY, shell

TEXT = (REPOSITORY / "docs" / "troubleshooting.md").read_text("utf-8")
SECTIONS = re.findall(r"^## (.*)\n\n\| message.*\n\|---\|---\|\n((?:\|.*\n)+)", TEXT, re.M)
# Rows that begin with something else are observations.
MESSAGES = re.findall(r"^\| `([^`]*)` \|", "".join(rows for _, rows in SECTIONS), re.M)
FILES = {
    "qrels": "q1 0 d1 1\n",
    "run": "q1 Q0 d1 1 0.5 tag\n",
    "other-query.run": "q2 Q0 d1 1 0.5 tag\n",
    "other-document.run": "q1 Q0 d2 1 0.5 tag\n",
    "duplicate.run": "q1 Q0 d1 1 0.5 tag\nq1 Q0 d1 2 0.4 tag\n",
    "two-tags.run": "q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 0.4 other\n",
    "no-tag.run": "q1 Q0 d1 1 0.5\n",
    "comma.run": "q1 Q0 d1 1 0,5 tag\n",
    "nan.run": "q1 Q0 d1 1 nan tag\n",
    "exchanged.run": "q1 Q0 d1 0.9 1 tag\nq1 Q0 d2 0.8 2 tag\nq1 Q0 d3 0.7 3 tag\n",
    "header.qrels": "q1\t0\td1\n",
    "nul.qrels": "q1\0 0 d1 1\n",
    "empty.run": "",
    "names.csv": "query,page,grade\nq1,d1,1\n",
    "semicolons.csv": "query;doc;grade\nq1;d1;1\n",
}
COMMANDS = [
    "trec_eval qrels other-query.run",
    "trec_eval -m mapp qrels run",
    "eval qrels two-tags.run",
    "trec_eval run qrels",
    "trec_eval three.qrels run",
    "fastrank eval -m map three.qrels run",
    *(f"fastrank eval -m map qrels {name}" for name in FILES if name.endswith(".run")),
    "fastrank eval -m map header.qrels run",
    "fastrank eval -m map nul.qrels run",
    "fastrank eval -m map names.csv run",
    "fastrank eval -m map semicolons.csv run",
    "fastrank eval -m map qrels missing.run",
    "gzip -c run | head -c 20 > cut.gz; fastrank eval -m map qrels cut.gz",
    "fastrank eval -m mapp qrels run",
]
QRELS, RUN = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}
CALLS: list[Callable[[], Any]] = [
    lambda: fr.evaluate({"q1": {1.0: 1}}, RUN, "map"),
    lambda: fr.evaluate(QRELS, RUN, "recip_rank.10"),
    lambda: fr.evaluate(QRELS, RUN, "ERR@10", ties="average"),
    lambda: fr.evaluate(QRELS, RUN, "map")["ndcg"],
]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the commands print on standard error, and what the calls raise."""
    folder: Path = tmp_path_factory.mktemp("files")
    for name, text in {**FILES, "three.qrels": "q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 1\n"}.items():
        (folder / name).write_text(text, "utf-8")
    found = [shell(command, folder).stderr for command in COMMANDS]
    for call in CALLS:
        with pytest.raises((ValueError, TypeError, KeyError)) as raised:
            call()
        found.append(str(raised.value))
    # Printed only where there is no compiled library, and where faiss is missing.
    found += [
        jit.notice("no library", ""),
        interpreted.notice("no numba"),
        str(missing("faiss", "search", "embeddings")),
    ]
    return "\n".join(found)


def test_the_sections_have_messages():
    assert len(SECTIONS) == 4
    assert len(MESSAGES) > 20


@pytest.mark.parametrize("message", MESSAGES)
def test_message_is_one_that_is_printed(message, printed):
    pattern = ".*".join(re.escape(part) for part in message.split("…"))

    assert re.search(pattern, printed)


def test_the_remedy_of_judgments_that_appear_twice_keeps_the_first(tmp_path):
    (tmp_path / "data").mkdir()
    twice = "q1 0 d1 1\nq1 0 d1 2\nq1 0 d2 0\n"
    (tmp_path / "data" / "digits.qrels").write_text(twice, "utf-8")
    (remedy,) = re.findall(r"^mkdir -p out\nfastrank qrels merge .*$", TEXT, re.M)

    assert shell(remedy, tmp_path).returncode == 0

    qrels = fr.read_qrels(tmp_path / "out" / "unique.qrels")
    assert qrels.to_dict() == {"q1": {"d1": 1, "d2": 0}}
