"""What an explanation shows."""

from __future__ import annotations

import math

from fastrank.document.document import Document, Items, Paragraph, Section
from fastrank.document.numbers import number, signed
from fastrank.messages import counted, first_few
from fastrank.scores.tables import Table, grid_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.document.document import Block, Grid
    from fastrank.explaining.explanation import Explanation, Part

# The number of ranks that a line names.
NAMED = 5
# The longest title, in characters.
WIDTH = 60


def explanation_document(explained: Explanation) -> Document:
    """The headers of the runs, a section for each measure, and the notes."""
    sides = [explained] if explained.other is None else [explained, explained.other]
    several = len(sides) > 1
    blocks: list[Block] = [Paragraph(explained.chosen)] if explained.chosen else []
    for letter, side in zip("ab", sides, strict=False):
        name = f"{letter}: {side.run}: " if several else ""
        blocks.append(Paragraph(name + side.header))
    for measure in explained.measures:
        for letter, side in zip("ab", sides, strict=False):
            title = formula(side.part(measure))
            blocks.append(
                Section(f"{letter}: {title}", []) if several
                else Section(title, _contributions(side, measure))
            )  # fmt: skip
        if explained.other is not None:
            blocks.append(_changes(explained, explained.other, measure))
    for letter, side in zip("ab", sides, strict=False):
        if side.notes:
            blocks.append(
                Section(f"notes on {letter}" if several else "notes", [Items(side.notes)])
            )
    return Document(blocks)


def _contributions(explained: Explanation, measure: str) -> list[Block]:
    """What each document adds to a measure."""
    part = explained.part(measure)
    if not part.depth:
        return []
    below = _rest(explained, part)
    table = _first_rows(explained.table(measure), explained.rows)
    return [table, *([Paragraph(below)] if below else [])]


def formula(part: Part) -> str:
    """`map = 75.2929 / 161 (R) = 0.4677`."""
    parts = part.parts
    if not parts.divisor:
        return f"{part.name} = {number(part.value)}, because {parts.divided_by} is 0"
    terms = [] if parts.factor == 1.0 else [f"{parts.factor:.4g} x"]
    terms.append(number(parts.total))
    if parts.divided_by:
        divisor = float(parts.divisor)
        shown = f"{divisor:.0f}" if divisor.is_integer() else number(divisor)
        terms.append(f"/ {shown} ({parts.divided_by})")
    if len(terms) == 1:
        return f"{part.name} = {number(part.value)}"
    return f"{part.name} = {' '.join(terms)} = {number(part.value)}"


def document_line(explained: Explanation, doc: str) -> str:
    """How a document counts, in a line for each measure."""
    grade = f"grade {explained.grades[doc]:g}" if doc in explained.grades else "not judged"
    lines = []
    score = ""
    for name, part in explained.measures.items():
        ranks = {own: (rank, score) for rank, (own, score) in enumerate(part.documents, 1)}
        if doc not in ranks:
            lines.append(f"  {name}: not retrieved")
            continue
        rank, found = ranks[doc]
        score = "" if found is None else f", score {found:g}"
        if rank in part.parts.adds:
            what = f"adds {number(part.parts.adds[rank])}"
        elif rank > part.parts.cutoff:
            what = f"below the cutoff {part.parts.cutoff:g}"
        else:
            what = "adds nothing"
        lines.append(f"  {name}: rank {rank}, {what}")
    return "\n".join([f"{doc}: {grade}{score}", *lines])


def _first_rows(table: Table, count: int) -> Grid:
    """The first rows; scores and gains with as many digits as they have, titles shortened."""
    columns = {name: column[:count] for name, column in table.columns.items()}
    if "title" in columns:
        columns["title"] = [
            title if len(title) <= WIDTH else f"{title[: WIDTH - 3].rstrip()}..."
            for title in columns["title"]
        ]
    exact = "{:.7g}".format
    return grid_of(Table(columns=columns), {"gain": exact, "score": exact})


def _rest(explained: Explanation, part: Part) -> str:
    """What the rows that are not shown add, and what is below the cutoff."""
    found = []
    shown = min(explained.rows, part.depth)
    more = [part.parts.adds[rank] for rank in sorted(part.parts.adds) if rank > shown]
    if part.depth > shown:
        adds = "adds" if len(more) == 1 else "add"
        adding = f"{len(more)} of them {adds} {number(math.fsum(more))}"
        adding = adding if more else "none adds anything"
        found.append(f"{counted(part.depth - shown, 'more rank')}, {adding}")
    below = {
        rank: explained.grades.get(doc, -math.inf)
        for rank, (doc, _) in enumerate(part.documents, 1)
        if rank > part.parts.cutoff
    }
    relevant = sorted({grade for grade in below.values() if grade >= part.level}, reverse=True)
    for place, grade in enumerate(relevant):
        ranks = [rank for rank, one in below.items() if one == grade]
        named = first_few(list(map(str, ranks)), NAMED)
        where = "" if place else f"below rank {part.depth}: "
        found.append(f"{where}{len(ranks)} of grade {grade:g} at {named}")
    retrieved = {doc for doc, _ in part.documents}
    missed = [
        grade
        for doc, grade in explained.grades.items()
        if grade >= part.level and doc not in retrieved
    ]
    counts = ", ".join(
        f"{missed.count(grade)} of grade {grade:g}" for grade in sorted({*missed}, reverse=True)
    )
    if counts:
        found.append(f"not retrieved: {counts}")
    return "; ".join(found)


def _changes(explained: Explanation, other: Explanation, measure: str) -> Section:
    """The documents that change a value most."""
    table = explained.difference(measure)
    blocks: list[Block] = []
    difference = other.values[measure] - explained.values[measure]
    if len(table):
        blocks.append(_first_rows(table, explained.rows))
    if len(table) > explained.rows:
        rest = math.fsum(table.columns["change"][explained.rows :])
        more = counted(len(table) - explained.rows, "more document")
        blocks.append(Paragraph(f"{more} change it by {signed(rest)}"))
    return Section(f"{measure}: b - a = {signed(difference)}", blocks)
