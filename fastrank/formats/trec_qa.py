"""TREC-QA as it is distributed: the file of tagged pairs, and the folder of parallel files."""

from __future__ import annotations

import os

from fastrank.data.texts import decoded
from fastrank.errors import FormatError
from fastrank.formats.source import read_all
from fastrank.formats.tables import CellsTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.formats.tables import Table

PARALLEL = ("id.txt", "a.toks", "b.toks", "sim.txt")
LABELS = {"positive": "1", "negative": "0"}
# The only tags: numbers may be written as the token <num>.
TAGS = {f"<{end}{tag}>" for tag in ("question", *LABELS) for end in ("", "/")} | {"</QApairs>"}


def read_folder(path: str) -> Table:
    """The folder of id.txt, a.toks (questions), b.toks (candidates) and sim.txt (labels).

    Raises ReadError, and FormatError if the numbers of lines differ.
    """
    from array import array

    columns = [_lines(os.path.join(path, name)) for name in PARALLEL]
    for name, column in zip(PARALLEL[1:], columns[1:], strict=True):
        if len(column) != len(columns[0]):
            expected = f"expected {len(columns[0])} lines, as in id.txt, found {len(column)}"
            raise FormatError(os.path.join(path, name), len(column), expected)
    count = len(columns[0])
    names = ["question_id", "question", "candidate", "label", "candidate_id"]
    cells = [*columns, list(map(str, range(count)))]
    return CellsTable(path, names, cells, memoryview(array("q", range(1, count + 1))))


def _lines(path: str) -> list[str]:
    return [line.strip() for line in decoded(read_all(path)).removesuffix("\n").split("\n")]


def read_pairs(content: bytes, name: str) -> Table:
    """The file of blocks `<QApairs id='...'>` with question, positive and negative candidates.

    The first line of each part contains the tokens, separated by tabs; the lines after it (tags and
    the like) are ignored. Raises FormatError.
    """
    from array import array

    rows: list[tuple[str, str, str, str]] = []
    lines = array("q")
    query = question = part = ""
    for number, line in enumerate(decoded(content).split("\n"), 1):
        text = line.strip()
        if text.startswith("<QApairs"):
            query, question = text.partition("id=")[2].strip("'\"> "), ""
            if not query:
                raise FormatError(name, number, f"expected <QApairs id='...'>, found {text!r:.60}")
        elif text in TAGS:
            part = text.strip("<>")
        elif part == "question":
            question, part = " ".join(text.split()), ""
        elif part in LABELS:
            if not (query and question):
                raise FormatError(name, number, "expected a question before its candidates")
            rows.append((query, question, " ".join(text.split()), LABELS[part]))
            lines.append(number)
            part = ""
    if not rows:
        raise FormatError(name, 1, "expected <QApairs id='...'> with candidates, found none")
    names = ["question_id", "question", "candidate", "label"]
    return CellsTable(name, names, list(zip(*rows, strict=True)), memoryview(lines))
