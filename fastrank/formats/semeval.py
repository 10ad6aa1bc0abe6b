"""SemEval's community question answering (task 3 of 2016 and 2017), English files in XML."""

from __future__ import annotations

from fastrank.errors import FormatError, InputError
from fastrank.formats.tables import RecordsTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from xml.etree.ElementTree import Element

    from fastrank.formats.tables import Table

# By subtask: the elements of the question and of its candidates, and the attribute of the label.
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
LABELS = {
    "Good": 1, "PotentiallyUseful": 0, "Bad": 0, "PerfectMatch": 1, "Relevant": 1, "Irrelevant": 0,
}  # fmt: skip


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
    rows: list[tuple[str, str, str, str, int]] = []
    known: set[tuple[str, str]] = set()
    for node in root.iter():
        if node.tag == asked_by:
            asked = _id_and_text(node, name)
        elif node.tag == element:
            doc, text = _id_and_text(node, name)
            label = node.get(attribute, "")
            if asked is None:
                raise InputError(name, f"{doc}: expected <{asked_by}> before <{element}>")
            if label not in LABELS:
                reason = f"{attribute}: expected one of {', '.join(LABELS)}, found {label!r:.60}"
                raise InputError(name, f"{doc}: {reason}; the file is not labelled for {subtask}")
            if (asked[0], doc) in known:
                raise InputError(name, f"{doc}: duplicate in {asked[0]}")
            known.add((asked[0], doc))
            rows.append((*asked, doc, text, LABELS[label]))
    if not rows:
        raise InputError(name, f"expected <{asked_by}> with <{element}>, found none")
    from array import array

    names = ["question_id", "question", "candidate_id", "candidate", "label"]
    columns: list[Any] = [list(column) for column in zip(*rows, strict=True)]
    return RecordsTable(name, names, columns, memoryview(array("q", range(1, len(rows) + 1))))


def _id_and_text(node: Element, name: str) -> tuple[str, str]:
    """The id of an element, and its texts joined by a blank."""
    key, parts = PARTS[node.tag]
    found = node.get(key)
    if not found:
        raise InputError(name, f"expected <{node.tag} {key}=...>, found no id")
    texts = (" ".join((node.findtext(part) or "").split()) for part in parts)
    return found, " ".join(filter(None, texts))
