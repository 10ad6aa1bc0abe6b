"""The texts of documents, and the places of other texts in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from fastrank.common.messages import counted, first_few
from fastrank.core.formats.texts.lookup import Lookup, lookup
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrank.core.formats.tables.table import Table
    from fastrank.core.formats.texts.lookup import TextsLike

# How many texts an error names.
NAMED = 20


def texts_of_rows(table: Table, names: Sequence[str], texts: TextsLike) -> list[str]:
    """The text of the document of each row. Raises the table's errors, and what `lookup` raises."""
    find = texts if isinstance(texts, Lookup) else lookup_of(texts)
    wholes = []
    for row, name in enumerate(names):
        try:
            wholes.append(find(name)[1])
        except InputError as error:
            table.refuse(row, str(error))
    return wholes


def lookup_of(texts: TextsLike) -> Lookup:
    """The texts of documents, whose characters are those of the files."""
    return lookup(texts, "corpus", name="texts", strip=False)


def find_places(
    table: Table, names: Sequence[str], texts: Sequence[object], documents: Sequence[str]
) -> tuple[list[int], list[int]]:
    """Where each text is in its document, exactly or else with all blanks alike: starts, ends.

    names: of the rows, for messages. Raises InputError, which lists the texts that are not found,
    and those found more than once.
    """
    spans: list[tuple[int, int]] = []
    wrong: dict[str, list[str]] = {"not found in": [], "found more than once in": []}
    folded: dict[str, _Folded] = {}
    for row, (text, document) in enumerate(zip(texts, documents, strict=True)):
        if not isinstance(text, str) or not text.strip():
            table.refuse(row, f"expected a text, found {text!r:.60}")
        matches = _first_two(text, document)
        if not matches:
            if document not in folded:
                folded[document] = _Folded(document)
            matches = folded[document].first_two(text)
        if len(matches) == 1:
            spans += matches
        else:
            problem = "found more than once in" if matches else "not found in"
            wrong[problem].append(f"{names[row]!r:.60} ({text!r:.40})")
    problems = [
        f"{counted(len(rows), 'text')} {problem} the document: {first_few(rows, NAMED, count=True)}"
        for problem, rows in wrong.items()
        if rows
    ]
    if problems:
        advice = "give the places of these as start and end"
        raise InputError(table.source, f"{'; '.join(problems)}; {advice}")
    return [start for start, _ in spans], [end for _, end in spans]


class _Folded:
    """A document with one blank between words, and where each of these was."""

    def __init__(self, document: str) -> None:
        words = list(re.finditer(r"\S+", document))
        self._text = " ".join(word.group() for word in words)
        self._starts = [word.start() for word in words]
        self._folded = list(
            accumulate((word.end() - word.start() + 1 for word in words), initial=0)
        )

    def first_two(self, text: str) -> list[tuple[int, int]]:
        """The first two places in the document of a text with its blanks folded."""
        matches = _first_two(" ".join(text.split()), self._text)
        return [(self._place(start), self._place(end - 1) + 1) for start, end in matches]

    def _place(self, offset: int) -> int:
        word = bisect_right(self._folded, offset) - 1
        return self._starts[word] + offset - self._folded[word]


def _first_two(text: str, document: str) -> list[tuple[int, int]]:
    """The first two places of a text, which may overlap."""
    first = document.find(text)
    second = document.find(text, first + 1) if first >= 0 else -1
    return [(start, start + len(text)) for start in (first, second) if start >= 0]
