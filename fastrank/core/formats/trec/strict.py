"""Oddities in TREC's formats: read if they have one meaning, else an error that explains them.

The readers come here only for fields that are not plain numbers, and for malformed lines.
"""

from __future__ import annotations

import re

from fastrank.common.c_numbers import number_of_entire_text
from fastrank.core.data.texts import decoded, interning
from fastrank.core.formats.tables.sniff import first_line
from fastrank.core.native import kernels
from fastrank.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn

    from fastrank.core.data.grades import Scale
    from fastrank.core.data.texts import Texts
    from fastrank.core.native.record import Int64Array

IS_HEADER = "is this a header? Remove the line"
# Questions about missing fields by the number of fields in a line.
NO_FIELD = {
    "qrels": {3: "is the second field (iter) missing? Its value is ignored"},
    "run": {5: "is the second field (Q0) or the last one (tag) missing? Any word will do"},
}
# No more documents than these are a sign that others are in another field: as many times more.
HANDFUL, MANY = 5, 5
# A number with separators of thousands, of which one could also be a decimal comma.
THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+")
TRUTHS = ("yes", "no", "true", "false")
# The usual second fields of judgments.
USUAL_ITERATIONS = (b"0", b"Q0")


def number_of(text: bytes, noun: str) -> float:
    """The number that a field is. Raises ValueError, which says what was expected and found."""
    number = number_of_entire_text(text)
    if number is None:
        raise ValueError(no_number(text.decode("utf-8", "replace"), noun))
    if number != number:
        raise ValueError(f"expected a {noun}, found NaN")
    return number


def several_tags(head: bytes, last: bytes) -> str:
    """A note on a run that begins so, unless the first complete line has the tag of the last."""
    complete = head[: head.rfind(b"\n")] if b"\n" in head else head
    tags = (first_line(complete) or b"").split()[5:6]
    if not tags or tags[0] == last:
        return ""
    return (
        f"the first line has the tag {decoded(tags[0])!r}, the last one {decoded(last)!r}; does the"
        " file contain several runs? All lines are read as one"
    )


def no_number(text: str, noun: str) -> str:
    """Why a text is not the number that was expected."""
    advice = advice_on_number(text, noun)
    return f"expected a {noun}, found {text!r:.60}{': ' * bool(advice)}{advice}"


def advice_on_number(text: str, noun: str) -> str:
    """How to write what seems to be meant by a text that is not a number, or ""."""
    text = text.strip()
    decimal, whole = text.replace(",", "."), text.replace(",", "")
    if THOUSANDS.fullmatch(text):
        either = f"{decimal} or " * (text.count(",") == 1)
        return f"{either}{whole}? Write it without commas"
    if "," in text and number_of_entire_text(decimal.encode("utf-8", "replace")) is not None:
        return "use a point, not a comma, for decimals"
    return "write 1 for yes and 0 for no" * (noun != "score" and text.lower() in TRUTHS)


def misplaced(line: bytes) -> str:
    """Why fields of a run line seem to be in the column of others."""
    fields = line.split()
    texts = (field.decode("utf-8", "replace") for field in (*fields[3:5], line.split(None, 5)[5]))
    rank, score, tag = (f"{text!r:.60}" for text in texts)
    if len(fields) > 6 and not _has_fraction(fields[3]):
        reason = f"found {len(fields)} fields with rank {rank}, score {score} and tag"
        return f"{reason} {tag}, expected 6: does an id contain a blank?"
    return f"the rank is {rank} and the score {score}: are the two columns exchanged?"


def _has_fraction(text: bytes) -> bool:
    number = number_of_entire_text(text)
    return number is not None and number % 1 != 0


def grades_with(
    grades: Int64Array, others: list[tuple[int, bytes]], fail: Callable[[int, str], NoReturn]
) -> tuple[Int64Array, Scale | None]:
    """All grades, some of which were left as texts: int64[rows], and their scale.

    grades: int64[rows]. others: row and text of those that are not plain integers. `fail` is called
    for what is not a grade.
    """
    from fastrank.core.formats.tables.values import grades_of

    numbers: list[int | float] = grades.tolist()
    for row, text in others:
        try:
            number = number_of(text, "grade")
        except ValueError as error:
            fail(row, f"{error}; {IS_HEADER}" if row == 0 and has_names_only(text) else str(error))
        # A double does not hold every integer of 64 bits.
        is_integer = text.lstrip(b"+-").isdigit() and abs(number) < 2.0**70
        numbers[row] = int(text) if is_integer else number
    return grades_of(numbers, fail)


def without_score(line: bytes, reason: str) -> str:
    """Why a run line has no score: `reason`, or that it is a header if its rank is not a number."""
    rank, score = line.split()[3:5]
    if not score[:1].isalpha() or any(
        number_of_entire_text(field) is not None for field in (rank, score)
    ):
        return reason
    names = " and ".join(f"{field.decode('utf-8', 'replace')!r:.60}" for field in (rank, score))
    return f"expected a rank and a score, found {names}; {IS_HEADER}"


def has_names_only(line: bytes) -> bool:
    """Whether all fields of a line may be names of columns."""
    return all(name[:1].isalpha() and number_of_entire_text(name) is None for name in line.split())


def refuse_swapped(name: str, docs: Texts, groups: Texts) -> None:
    """Raise FormatError where documents and iterations have changed places."""
    rows = len(docs)
    if rows < 2 or docs[0] not in USUAL_ITERATIONS:
        return
    if kernels.intern_texts(docs.columns, interning(rows)) > 1:
        return
    if kernels.intern_texts(groups.columns, interning(rows)) > 1:
        raise FormatError(name, groups.line(0), swapped(docs[0]))


def swapped(doc: bytes) -> str:
    """Why documents and iterations seem to have changed places."""
    return (
        f"every document is {doc.decode()!r}, and the second fields differ: expected"
        " `query iter doc grade`, found what looks like `query doc iter grade`"
    )


def handful(docs: Iterable[bytes], groups: Iterable[bytes], rows: int) -> str:
    """Why documents seem to be in the second field, if the third has a handful of values; else "".

    docs, groups: the third and the second field of each row.
    """
    if rows < MANY * HANDFUL:
        return ""
    documents: set[bytes] = set()
    for doc in docs:
        documents.add(doc)
        if len(documents) > HANDFUL:
            return ""
    others = len({*groups})
    if others < MANY * len(documents):
        return ""
    return (
        f"the third field has {len(documents)} different values in {rows:,} lines, and the second"
        f" {others:,}: expected `query iter doc grade`, found what looks like"
        " `query doc type grade`"
    )
