"""Explanations as text for the console, and as Markdown."""

from __future__ import annotations

import math

from fastrank.messages import counted, first_few
from fastrank.scores import table_formats
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrank.explaining.explanation import Explanation, Part

# The number of ranks that a line names.
NAMED = 5
# The longest title, in characters.
WIDTH = 60


def plain(explained: Explanation) -> str:
    """The text for the console."""
    lines: list[str] = []
    for level, text, table in blocks(explained):
        if table is not None:
            lines += [f"  {line}".rstrip() for line in str(table).splitlines()]
        else:
            lines.append(f"{'  ' * (level > 1)}{text}")
    return "\n".join(lines)


def markdown(explained: Explanation) -> str:
    """Tables in the pipe syntax of GitHub's Markdown."""
    parts: list[str] = []
    for level, text, table in blocks(explained):
        if table is not None:
            parts.append(table.to_markdown())
        else:
            written = table_formats.markdown_text(text)
            parts.append({0: written, 1: f"**{written}**", 2: written, 3: f"- {written}"}[level])
    return "\n\n".join(parts).replace("\n\n- ", "\n- ")


def blocks(explained: Explanation) -> Iterator[tuple[int, str, Table | None]]:
    """The blocks of the text: a level, and a line or a table.

    Levels: 0 for the headers of the runs, 1 for a measure or another heading, 2 for what follows a
    table, 3 for a note.
    """
    sides = [explained] if explained.other is None else [explained, explained.other]
    if explained.chosen:
        yield 0, explained.chosen, None
    for number, side in enumerate(sides):
        name = f"{'ab'[number]}: {side.run}: " if len(sides) > 1 else ""
        yield 0, name + side.header, None
    for measure in explained.measures:
        for number, side in enumerate(sides):
            part = side.part(measure)
            yield 1, (f"{'ab'[number]}: " if len(sides) > 1 else "") + formula(part), None
            if len(sides) == 1 and part.depth:
                yield 2, "", _shown(side, measure)
                below = _rest(side, part)
                if below:
                    yield 2, below, None
        if len(sides) > 1:
            yield from _changes(explained, measure)
    for number, side in enumerate(sides):
        if side.notes:
            yield 1, "notes" if len(sides) == 1 else f"notes on {'ab'[number]}", None
            for note in side.notes:
                yield 3, note, None


def formula(part: Part) -> str:
    """`map = 75.2929 / 161 (R) = 0.4677`."""
    parts = part.parts
    if not parts.divisor:
        return f"{part.name} = {part.value:.4f}, because {parts.divided_by} is 0"
    terms = [] if parts.factor == 1.0 else [f"{parts.factor:.4g} x"]
    terms.append(f"{parts.total:.4f}")
    if parts.divided_by:
        divisor = float(parts.divisor)
        shown = f"{divisor:.0f}" if divisor.is_integer() else f"{divisor:.4f}"
        terms.append(f"/ {shown} ({parts.divided_by})")
    if len(terms) == 1:
        return f"{part.name} = {part.value:.4f}"
    return f"{part.name} = {' '.join(terms)} = {part.value:.4f}"


def document(explained: Explanation, doc: str) -> str:
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
            what = f"adds {part.parts.adds[rank]:.4f}"
        elif rank > part.parts.cutoff:
            what = f"below the cutoff {part.parts.cutoff:g}"
        else:
            what = "adds nothing"
        lines.append(f"  {name}: rank {rank}, {what}")
    return "\n".join([f"{doc}: {grade}{score}", *lines])


def _shown(explained: Explanation, measure: str) -> Table:
    """The first rows of a table."""
    table = explained.table(measure)
    return _first_rows(table, explained.rows)


def _first_rows(table: Table, count: int) -> Table:
    """The first rows; scores and gains with as many digits as they have, titles shortened."""
    columns = {name: column[:count] for name, column in table.columns.items()}
    for name in columns.keys() & {"title"}:
        columns[name] = [
            title if len(title) <= WIDTH else f"{title[: WIDTH - 3].rstrip()}..."
            for title in columns[name]
        ]
    for name in columns.keys() & {"gain", "score"}:
        columns[name] = [
            None if value is None else table_formats.Number(f"{value:.7g}")
            for value in columns[name]
        ]
    return Table(columns=columns)


def _rest(explained: Explanation, part: Part) -> str:
    """What the rows that are not shown add, and what is below the cutoff."""
    found = []
    shown = min(explained.rows, part.depth)
    more = [part.parts.adds[rank] for rank in sorted(part.parts.adds) if rank > shown]
    if part.depth > shown:
        adds = "adds" if len(more) == 1 else "add"
        adding = (
            f"{len(more)} of them {adds} {math.fsum(more):.4f}" if more else "none adds anything"
        )
        found.append(f"{counted(part.depth - shown, 'more rank')}, {adding}")
    below = {
        rank: explained.grades.get(doc, -math.inf)
        for rank, (doc, _) in enumerate(part.documents, 1)
        if rank > part.parts.cutoff
    }
    relevant = sorted({grade for grade in below.values() if grade >= part.level}, reverse=True)
    for number, grade in enumerate(relevant):
        ranks = [rank for rank, one in below.items() if one == grade]
        named = first_few(list(map(str, ranks)), NAMED)
        where = "" if number else f"below rank {part.depth}: "
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


def _changes(explained: Explanation, measure: str) -> Iterator[tuple[int, str, Table | None]]:
    """The documents that change a value most."""
    table = explained.difference(measure)
    assert explained.other is not None
    difference = explained.other.values[measure] - explained.values[measure]
    yield 1, f"{measure}: b - a = {difference:+.4f}", None
    if len(table):
        yield 2, "", _first_rows(table, explained.rows)
    if len(table) > explained.rows:
        rest = math.fsum(table.columns["change"][explained.rows :])
        more = counted(len(table) - explained.rows, "more document")
        yield 2, f"{more} change it by {rest:+.4f}", None
