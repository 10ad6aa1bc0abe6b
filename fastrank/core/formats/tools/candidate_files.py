"""Files of labelled candidates: TREC-QA as it is distributed, SemEval's XML, MovieQA's JSON."""

from __future__ import annotations

import os
from array import array

from fastrank.core.data.texts import decoded
from fastrank.core.formats.tables.sniff import read_text
from fastrank.core.formats.tables.table import Table
from fastrank.core.formats.tables.table_files import table_of_cells
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from xml.etree.ElementTree import Element


PARALLEL = ("id.txt", "a.toks", "b.toks", "sim.txt")
QAPAIRS_LABELS = {"positive": "1", "negative": "0"}
# The only tags: numbers may be written as the token <num>.
TAGS = {f"<{end}{tag}>" for tag in ("question", *QAPAIRS_LABELS) for end in ("", "/")}
TAGS |= {"</QApairs>"}


def read_folder(path: str) -> Table:
    """The folder of id.txt, a.toks (questions), b.toks (candidates) and sim.txt (labels).

    Raises ReadError, and FormatError if the numbers of lines differ.
    """
    columns = [_lines(os.path.join(path, name)) for name in PARALLEL]
    for name, column in zip(PARALLEL[1:], columns[1:], strict=True):
        if len(column) != len(columns[0]):
            expected = f"expected {len(columns[0])} lines, as in id.txt, found {len(column)}"
            raise FormatError(os.path.join(path, name), len(column), expected)
    count = len(columns[0])
    names = ["question_id", "question", "candidate", "label", "candidate_id"]
    cells = [*columns, list(map(str, range(count)))]
    return table_of_cells(path, names, cells, array("q", range(1, count + 1)))


def _lines(path: str) -> list[str]:
    return [line.strip() for line in decoded(read_text(path)).removesuffix("\n").split("\n")]


def read_pairs(content: bytes, name: str) -> Table:
    """The file of blocks `<QApairs id='...'>` with question, positive and negative candidates.

    The first line of each part contains the tokens, separated by tabs; the lines after it (tags and
    the like) are ignored. Raises FormatError.
    """
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
        elif part in QAPAIRS_LABELS:
            if not (query and question):
                raise FormatError(name, number, "expected a question before its candidates")
            rows.append((query, question, " ".join(text.split()), QAPAIRS_LABELS[part]))
            lines.append(number)
            part = ""
    if not rows:
        raise FormatError(name, 1, "expected <QApairs id='...'> with candidates, found none")
    names = ["question_id", "question", "candidate", "label"]
    return table_of_cells(name, names, list(zip(*rows, strict=True)), lines)


# The elements of the question and of its candidates by subtask, and the attribute of the label.
SUBTASKS = {
    "semeval-a": ("RelQuestion", "RelComment", "RELC_RELEVANCE2RELQ"),
    "semeval-b": ("OrgQuestion", "RelQuestion", "RELQ_RELEVANCE2ORGQ"),
    "semeval-c": ("OrgQuestion", "RelComment", "RELC_RELEVANCE2ORGQ"),
}
# Id and texts of each element.
PARTS = {
    "OrgQuestion": ("ORGQ_ID", ("OrgQSubject", "OrgQBody")),
    "RelQuestion": ("RELQ_ID", ("RelQSubject", "RelQBody")),
    "RelComment": ("RELC_ID", ("RelCText",)),
}
# As the scorer of the task counts them.
SEMEVAL_LABELS = {
    "Good": 1,
    "PotentiallyUseful": 0,
    "Bad": 0,
    "PerfectMatch": 1,
    "Relevant": 1,
    "Irrelevant": 0,
}


def read_semeval(content: bytes, name: str, subtask: str | None) -> Table:
    """The candidates of a subtask, one per element; errors name the candidate by its id."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise FormatError(name, error.position[0], f"invalid XML: {error}") from None
    if subtask is None:
        if root.find(".//OrgQuestion") is not None:
            expected = ", ".join(map(repr, SUBTASKS))
            raise InputError(name, f"the file is of several subtasks; set format to {expected}")
        subtask = "semeval-a"
    asked_by, element, attribute = SUBTASKS[subtask]
    asked: tuple[str, str] | None = None
    rows: list[tuple[Any, ...]] = []
    known: set[tuple[str, str]] = set()
    for node in root.iter():
        if node.tag == asked_by:
            asked = _id_and_text(node, name)
        elif node.tag == element:
            doc, text = _id_and_text(node, name)
            label = node.get(attribute, "")
            if asked is None:
                raise InputError(name, f"{doc}: expected <{asked_by}> before <{element}>")
            if label not in SEMEVAL_LABELS:
                known_labels = ", ".join(SEMEVAL_LABELS)
                reason = f"{attribute}: expected one of {known_labels}, found {label!r:.60}"
                raise InputError(name, f"{doc}: {reason}; the file is not labelled for {subtask}")
            if (asked[0], doc) in known:
                raise InputError(name, f"{doc}: duplicate in {asked[0]}")
            known.add((asked[0], doc))
            rows.append((*asked, doc, text, SEMEVAL_LABELS[label]))
    if not rows:
        raise InputError(name, f"expected <{asked_by}> with <{element}>, found none")
    return _records(name, rows, array("q", range(1, len(rows) + 1)))


def _records(name: str, rows: list[tuple[Any, ...]], numbers: Any) -> Table:
    """A table of candidates, which come from the records with these numbers."""
    names = ["question_id", "question", "candidate_id", "candidate", "label"]
    columns = [list(column) for column in zip(*rows, strict=True)]
    return Table(name, names, columns, rows=memoryview(numbers), unit="record")


def _id_and_text(node: Element, name: str) -> tuple[str, str]:
    """The id of an element, and its texts joined by a blank."""
    key, parts = PARTS[node.tag]
    found = node.get(key)
    if not found:
        raise InputError(name, f"expected <{node.tag} {key}=...>, found no id")
    texts = (" ".join((node.findtext(part) or "").split()) for part in parts)
    return found, " ".join(filter(None, texts))


MOVIEQA_COLUMNS = ("qid", "question", "answers", "correct_index")


def read_movieqa(table: Table) -> Table:
    """The choices of each question as candidates; that of `correct_index` has the label 1.

    Raises InputError for a question without choices or without the index of one of them.
    """
    columns = map(table.values, MOVIEQA_COLUMNS)
    rows: list[tuple[Any, ...]] = []
    numbers = array("q")
    for number, (qid, question, answers, correct) in enumerate(zip(*columns, strict=True), 1):
        place = f"record {number}, question {qid!r:.60}"
        if not isinstance(answers, list) or not all(isinstance(own, str) for own in answers):
            raise InputError(
                table.source, f"{place}: expected a list of answers, found {answers!r:.60}"
            )
        if type(correct) is not int or not 0 <= correct < len(answers):
            expected = f"expected a correct_index from 0 to {len(answers) - 1}"
            raise InputError(table.source, f"{place}: {expected}, found {correct!r:.60}")
        for i, answer in enumerate(answers):
            rows.append((qid, question, f"{qid}-{i}", answer, int(i == correct)))
            numbers.append(number)
    return _records(table.source, rows, numbers)
