"""The explanation of one query's values, and what it shows."""

from __future__ import annotations

import math
from functools import partial

from fastrank.common.messages import counted, did_you_mean, first_few, similar_id
from fastrank.common.rendering.document import Document, Items, Paragraph, Section
from fastrank.common.rendering.numbers import number, signed
from fastrank.core.data.columns import Frozen, id_text
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, grid_of
from fastrank.errors import GroupError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from matplotlib.axes import Axes

    from fastrank.analysis.explaining.contributions import Contributions
    from fastrank.common.plots.frame import Frame
    from fastrank.common.rendering.document import Block, Grid


class Part(Frozen):
    """A measure of one ranking.

    name: as requested. value: of the measure. parts: what each document adds, and the divisor.
    documents: [(document, score)], best first, as the measure sees them; the scores are None if
    documents were ranked by something else. level: the lowest relevant grade.
    """

    name: str
    value: float
    parts: Contributions
    documents: list[tuple[str, float | None]]
    level: float

    @property
    def depth(self) -> int:
        """The number of results up to the cutoff."""
        return int(min(self.parts.cutoff, len(self.documents)))

    @property
    def shares(self) -> dict[str, float]:
        """{document: what it adds to the value} of the documents that add something."""
        parts, docs = self.parts, self.documents
        if not parts.divisor:
            return {}
        return {
            docs[rank - 1][0]: parts.factor * added / parts.divisor
            for rank, added in parts.adds.items()
        }


class Explanation(Result, Frozen):
    """Where the values of a query come from, as `fastrank.explain` returns it.

    query: its id. run: the name of the run. values: {measure: value}. notes: what else matters for
    the values, a list of str. grades: {document: grade} of the judged documents of the query.
    other: the Explanation of the second run, or None. titles: {document: title} of the shown
    documents. rows: the number of rows of each table in text. chosen: why this is the query, if
    none was named; else empty.

    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 3, "x": 2, "b": 1}}
    >>> explained = fr.explain(qrels, run, "map", query="q")
    >>> explained.values
    {'map': 0.8333333333333333}
    """

    made_by = "fastrank.explain"

    query: str
    run: str
    header: str
    measures: dict[str, Part]
    notes: list[str]
    grades: dict[str, float]
    other: Explanation | None = None
    titles: dict[str, str] = {}  # noqa: RUF012
    rows: int
    chosen: str = ""

    @property
    def values(self) -> dict[str, float]:
        """{measure: value}."""
        return {name: part.value for name, part in self.measures.items()}

    def part(self, measure: str) -> Part:
        """A measure by its name. Raises KeyError, which names the explained ones.

        >>> parts = explained.part("map").parts
        >>> parts.adds, parts.divisor, parts.divided_by
        ({1: 1.0, 3: 0.6666666666666666}, 2, 'R')
        """
        if measure not in self.measures:
            raise KeyError(f"{measure!r} was not explained; expected {', '.join(self.measures)}")
        return self.measures[measure]

    def table(self, measure: str | None = None) -> Table:
        """The documents up to the cutoff of a measure: rank, score, grade, and what each adds.

        measure: by default the first. A document without a judgment has no grade.
        value = factor * (sum of adds) / divisor, exactly, with the sum in the order of ranks;
        `part(measure).parts` has factor and divisor.
        Columns between grade and adds are what the adds are computed from.

        >>> print(explained.table("map"))
          rank  document      score    grade    found    adds
        ------  ----------  -------  -------  -------  ------
             1  a            3.0000        1        1  1.0000
             2  x            2.0000                    0.0000
             3  b            1.0000        1        2  0.6667
        """
        part = self.part(next(iter(self.measures)) if measure is None else measure)
        ranked = list(enumerate(part.documents[: part.depth], 1))
        columns: dict[str, list[object]] = {
            "rank": [rank for rank, _ in ranked],
            "document": [doc for _, (doc, _) in ranked],
            "score": [score for _, (_, score) in ranked if score is not None],
            "grade": [self.grades.get(doc) for _, (doc, _) in ranked],
        }
        if ranked and not columns["score"]:
            del columns["score"]
        if self.titles:
            columns["title"] = [self.titles.get(doc, "") for _, (doc, _) in ranked]
        for name, by_rank in part.parts.details.items():
            if name != "ideal":
                columns[name] = [by_rank.get(rank) for rank, _ in ranked]
        columns["adds"] = [part.parts.adds.get(rank, 0.0) for rank, _ in ranked]
        if "ideal" in part.parts.details:
            ideal = part.parts.details["ideal"]
            columns["ideal"] = [ideal.get(rank) for rank, _ in ranked]
        return Table(columns=columns)

    def difference(self, measure: str) -> Table:
        """How the values of this run and of the other one differ, document by document.

        Columns: document, grade, its rank and what it adds in both runs (adds are divided by the
        divisor here, so that they are shares of the value), and their difference, a - b. The
        differences add up to that of the values, but for rounding and values of 1 for lack of a
        relevant document (no_relevant="one"). Documents without a difference are omitted; the
        largest difference comes first. Raises GroupError if only one run was explained.

        >>> qrels, runs = {"q": {"a": 1}}, ({"q": {"a": 2, "b": 1}}, {"q": {"b": 2, "a": 1}})
        >>> explained = fr.explain(qrels, runs[0], "recip_rank", query="q", other=runs[1])
        >>> print(explained.difference("recip_rank"))
        document      grade    rank a    rank b    adds a    adds b    difference
        ----------  -------  --------  --------  --------  --------  ------------
        a                 1         1         2    1.0000    0.5000        0.5000
        """
        if self.other is None:
            raise GroupError("only one run was explained; give another one as other=")
        sides = [explanation.part(measure).shares for explanation in (self, self.other)]
        ranks = [
            {doc: rank for rank, (doc, _) in enumerate(explanation.part(measure).documents, 1)}
            for explanation in (self, self.other)
        ]
        docs = dict.fromkeys([*sides[0], *sides[1]])
        differences = {doc: sides[0].get(doc, 0.0) - sides[1].get(doc, 0.0) for doc in docs}
        ordered = sorted(
            (doc for doc in docs if differences[doc]), key=lambda doc: -abs(differences[doc])
        )
        columns: dict[str, list[Any]] = {
            "document": ordered,
            "grade": [self.grades.get(doc) for doc in ordered],
        }
        if self.titles:
            columns["title"] = [self.titles.get(doc, "") for doc in ordered]
        for name, rank_of in zip(("a", "b"), ranks, strict=True):
            columns[f"rank {name}"] = [rank_of.get(doc) for doc in ordered]
        for name, share in zip(("a", "b"), sides, strict=True):
            columns[f"adds {name}"] = [share.get(doc, 0.0) for doc in ordered]
        columns["difference"] = [differences[doc] for doc in ordered]
        return Table(columns=columns)

    def document(self, document: str | int) -> str:
        """How a document counts, in a line for each measure.

        Raises OptionError, with the closest id, if it is neither retrieved nor judged.

        >>> explained = fr.explain({"q": {"a": 1}}, {"q": {"x": 2, "a": 1}}, "P.1 map", query="q")
        >>> print(explained.document("a"))
        a: grade 1, score 1
          P_1: rank 2, below the cutoff 1
          map: rank 2, adds 0.5000
        """
        document = str(id_text(document))
        retrieved = {doc for part in self.measures.values() for doc, _ in part.documents}
        if document not in retrieved and document not in self.grades:
            reason = f"{document!r} is neither retrieved nor judged for query {self.query!r}"
            hint = did_you_mean(map(repr, similar_id(document, [*retrieved, *self.grades])))
            raise OptionError("document", reason + hint)
        grade = f"grade {self.grades[document]:g}" if document in self.grades else "not judged"
        lines, score = [], ""
        for name, part in self.measures.items():
            ranks = {doc: (rank, value) for rank, (doc, value) in enumerate(part.documents, 1)}
            if document not in ranks:
                lines.append(f"  {name}: not retrieved")
                continue
            rank, value = ranks[document]
            score = "" if value is None else f", score {value:g}"
            if rank in part.parts.adds:
                effect = f"adds {number(part.parts.adds[rank])}"
            elif rank > part.parts.cutoff:
                effect = f"below the cutoff {part.parts.cutoff:g}"
            else:
                effect = "adds nothing"
            lines.append(f"  {name}: rank {rank}, {effect}")
        return "\n".join([f"{document}: {grade}{score}", *lines])

    def _document(self) -> Document:
        """The headers of the runs, a section for each measure, and the notes."""
        sides = [self] if self.other is None else [self, self.other]
        several = len(sides) > 1
        blocks: list[Block] = [Paragraph(self.chosen)] if self.chosen else []
        for letter, side in zip("ab", sides, strict=False):
            name = f"{letter}: {side.run}: " if several else ""
            blocks.append(Paragraph(name + side.header))
        for measure in self.measures:
            for letter, side in zip("ab", sides, strict=False):
                title = formula(side.part(measure))
                if several:
                    blocks.append(Section(f"{letter}: {title}", []))
                else:
                    blocks.append(Section(title, _contributions(side, measure)))
            if self.other is not None:
                blocks.append(_differences(self, self.other, measure))
        for letter, side in zip("ab", sides, strict=False):
            if side.notes:
                blocks.append(
                    Section(f"notes on {letter}" if several else "notes", [Items(side.notes)])
                )
        return Document(blocks)

    def _content(self) -> dict[str, object]:
        content: dict[str, object] = {
            "query": self.query,
            "run": self.run,
            "values": self.values,
            "documents": {measure: self.table(measure) for measure in self.measures},
            "notes": self.notes,
        }
        if self.other is not None:
            content["other"] = self.other._content()
            content["difference"] = {name: self.difference(name) for name in self.measures}
        return content

    def _drawings(self) -> Mapping[str, Callable[[Axes], Frame]]:
        """A drawing for each measure: what the documents add, from the first rank down."""
        return {measure: partial(self._draw, measure=measure) for measure in self.measures}

    def _draw(self, axes: Axes, measure: str) -> Frame:
        from fastrank.core.results.drawing import draw_values

        columns = self.table(measure).columns
        shown = {name: columns[name] for name in ("document", "adds")}
        return draw_values(axes, formula(self.part(measure)), shown)

    def _title(self) -> str:
        return f"Query {self.query}"

    def __repr__(self) -> str:
        names = ", ".join(f"{name} {number(value)}" for name, value in self.values.items())
        return f"<Explanation of query {self.query!r}: {names}>"


# How many ranks a line names.
NAMED = 5
# The longest title, in characters.
WIDTH = 60


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
    """The sum of the rows that are not shown, and of what is below the cutoff."""
    texts = []
    shown = min(explained.rows, part.depth)
    more = [part.parts.adds[rank] for rank in sorted(part.parts.adds) if rank > shown]
    if part.depth > shown:
        adds = "adds" if len(more) == 1 else "add"
        adding = "none adds anything"
        if more:
            adding = f"{len(more)} of them {adds} {number(math.fsum(more))}"
        texts.append(f"{counted(part.depth - shown, 'more rank')}, {adding}")
    below = {
        rank: explained.grades.get(doc, -math.inf)
        for rank, (doc, _) in enumerate(part.documents, 1)
        if rank > part.parts.cutoff
    }
    relevant = sorted({grade for grade in below.values() if grade >= part.level}, reverse=True)
    for index, grade in enumerate(relevant):
        ranks = [rank for rank, rank_grade in below.items() if rank_grade == grade]
        examples = first_few(list(map(str, ranks)), NAMED)
        where = "" if index else f"below rank {part.depth}: "
        texts.append(f"{where}{len(ranks)} of grade {grade:g} at {examples}")
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
        texts.append(f"not retrieved: {counts}")
    return "; ".join(texts)


def _differences(explained: Explanation, second: Explanation, measure: str) -> Section:
    """The documents on which the values differ most."""
    table = explained.difference(measure)
    blocks: list[Block] = []
    difference = explained.values[measure] - second.values[measure]
    if len(table):
        blocks.append(_first_rows(table, explained.rows))
    if len(table) > explained.rows:
        rest = math.fsum(table.columns["difference"][explained.rows :])
        more = counted(len(table) - explained.rows, "more document")
        blocks.append(Paragraph(f"{more} add {signed(rest)}"))
    return Section(f"{measure}: a - b = {signed(difference)}", blocks)
