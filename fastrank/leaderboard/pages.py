"""The pages of a leaderboard, with the files beside them."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from hashlib import sha256
from typing import NamedTuple

from fastrank.comparing.report.sections import summary
from fastrank.document.document import Cell, Document, Grid, Items, Paragraph
from fastrank.document.html import html, linked, name, safe, table
from fastrank.document.numbers import interval, number, p_text, p_words, signed
from fastrank.document.page import whole_page
from fastrank.inspecting.inspect import inspect
from fastrank.leaderboard.pictures import badge, group_marks, rank_bar, rank_words
from fastrank.leaderboard.results import NAMED, means_of, natural
from fastrank.leaderboard.standings import POWER
from fastrank.messages import counted, first_few
from fastrank.scores.tables import Table, distinct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from fastrank.leaderboard.board import Board
    from fastrank.leaderboard.results import Dataset
    from fastrank.leaderboard.standings import Row, Standing

UNSAFE = re.compile(r"[^a-z0-9._]+")
# Names of devices on some systems.
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|")
LONGEST = 60
NOTHING = "-"
RANGE = "rank from-to"
NOT_RANKED = "Not ranked, because results on some data sets are missing"


class Column(NamedTuple):
    """A column of a page. data: the columns of the files beside it, {name: values}."""

    header: str
    cells: list[Cell]
    data: Mapping[str, Sequence[Any]]


def site_of(board: Board) -> dict[str, bytes]:
    """The files of the site: {path: content}."""
    return _Site(board).files


def addresses(names: Iterable[str]) -> dict[str, str]:
    """A name for the file of each, that every system can store; different ones also without case.

    Names that are not safe, or would be the same, get a part of their digest.
    """
    short = {own: UNSAFE.sub("-", own.lower()).strip("-.") for own in names}
    counts = Counter(short.values())
    for own, found in short.items():
        is_own = found == own or (counts[found] == 1 and len(found) == len(own))
        if not is_own or len(found) > LONGEST or RESERVED.fullmatch(found):
            digest = sha256(own.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            short[own] = f"{found[:LONGEST]}-{digest}".lstrip("-")
    return short


class _Site:
    """All files of a board."""

    def __init__(self, board: Board) -> None:
        self.board, self.files = board, dict[str, bytes]()
        largest = max((own for row in board.mean.values() for own in row.values()), default=0.0)
        # Percentages and the like.
        self.digits = 4 if largest <= 1 else 2
        self.better = board.results[0].better
        self.of_system = addresses(board.systems)
        self.of_dataset = addresses(board.datasets)
        self.inspected: dict[str, str] = {}
        for dataset, standing in zip(board.results, board.standings, strict=True):
            self._dataset(dataset, standing)
        for system in board.systems:
            self._system(system)
        self._index()

    def _page(self, path: str, title: str, parts: Sequence[str], **options: Any) -> None:
        up = "../" * path.count("/")
        above = [f'<nav><a href="{up}index.html">{safe(self.board.title)}</a></nav>'] if up else []
        parts = [*above, f"<h1>{name(title)}</h1>", *filter(None, parts)]
        self._put(path, whole_page(title, parts, heading=False, kind="leaderboard", **options))

    def _put(self, path: str, text: str) -> None:
        self.files[path] = text.encode("utf-8", "backslashreplace")

    def _table(self, stem: str, columns: Sequence[Column], *, filtered: bool = False) -> str:
        """A table, and links to the CSV and JSON files beside it, which have full precision."""
        data = [pair for column in columns for pair in column.data.items()]
        names = distinct(name for name, _ in data)
        listed = Table(
            columns={own: list(values) for own, (_, values) in zip(names, data, strict=True)}
        )
        self._put(f"{stem}.csv", listed.to_csv())
        self._put(f"{stem}.json", listed.to_json(indent=1) + "\n")
        rows = [list(row) for row in zip(*(column.cells for column in columns), strict=True)]
        shown = table(Grid([column.header for column in columns], rows))
        file = stem.rpartition("/")[2]
        links = (f'<a href="{file}.{form}" download>{form.upper()}</a>' for form in ("csv", "json"))
        return (
            f'<div class="wide{" filtered" * filtered}" tabindex="0">{shown}</div>\n'
            f'<p class="files">{" ".join(links)}</p>'
        )

    # Columns.

    def _column(
        self,
        header: str,
        values: Sequence[Any],
        *,
        key: str = "",
        best: bool = False,
        shown: Callable[[Any], str] | None = None,
        heads: bool = False,
        link: Callable[[str], str] = lambda _: "",
    ) -> Column:
        """A column of texts, counts or values, of which None is not known.

        key: its name in the files, by default the header. best: whether the best value is marked.
        heads: whether it names the rows.
        """
        known = [own for own in values if own is not None]
        first = (min if self.better == "lower" else max)(known) if best and len(known) > 1 else None
        cells = [
            Cell(
                NOTHING if own is None else (shown or self._shown)(own),
                number=not isinstance(own, str),
                place=int(own is not None and own == first),
                heads_row=heads,
                link=link(own) if own else "",
            )
            for own in values
        ]
        return Column(header, cells, {key or header: values})

    def _shown(self, value: float | str) -> str:
        if isinstance(value, str):
            return value
        return f"{value:,}" if isinstance(value, int) else number(value, self.digits)

    def _links(
        self, header: str, names: Sequence[str], folder: str, *, heads: bool = True
    ) -> Column:
        """Names of systems or data sets, with links to their pages."""
        known = self.of_dataset if folder.endswith("datasets/") else self.of_system
        return self._column(
            header, names, heads=heads, link=lambda own: f"{folder}{known[own]}.html"
        )

    def _ranks(self, rows: Sequence[Row | None], counts: Sequence[int]) -> list[Column]:
        """The ranks, with their intervals if any is known. counts: of the systems of each row."""
        columns = [self._column("rank", [row and row.rank for row in rows])]
        bounds = {own: [row and getattr(row, own) for row in rows] for own in ("low", "high")}
        cells = [
            Cell("")
            if row is None or row.low is None
            else Cell(f"{row.low}-{row.high}", picture=rank_bar(row, count))
            for row, count in zip(rows, counts, strict=True)
        ]
        return [*columns, *([Column(RANGE, cells, bounds)] if any(bounds["low"]) else [])]

    def _groups(self, rows: Sequence[Row | None]) -> list[Column]:
        """The letters of groups, if there are any."""
        groups = [row.group if row else "" for row in rows]
        every = sorted({letter for own in groups for letter in own})
        cells = [Cell("", picture=group_marks(own, every)) for own in groups]
        return [Column("group", cells, {"group": groups})] if every else []

    # What is known, in words.

    def _verdict(self, standing: Standing) -> str:
        """Who is first, whether that is sure, and what it would take to know."""
        comparison, pair = standing.comparison, standing.pair
        if comparison is None or pair is None:
            text = "Only means are known: which differences are due to chance cannot be said."
            return f'<div class="verdict"><p>{text}</p></div>' if len(standing.rows) > 1 else ""
        units, of_all = _units(standing), len(comparison) > 2
        text = (
            f"{name(pair.a)} and {name(pair.b)}, first and second, differ by"
            f" {signed(abs(pair.difference))} {safe(interval(pair.low, pair.high, signed))},"
            f" {safe(p_words(pair.p_adjusted))}{' among all systems' if of_all else ''}. "
        )
        if standing.needed is None:
            text += f"No number of {units} separates systems that are this much alike."
        else:
            text += (
                f"To separate {'these two alone' if of_all else 'them'},"
                f" <strong>{standing.needed:,} {units}</strong> are needed (paired t-test, power"
                f" {POWER:.0%}); there are {pair.n:,}."
            )
        return f'<div class="verdict">{summary(comparison)}<p>{text}</p></div>'

    def _legend(self, standing: Standing) -> str:
        comparison = standing.comparison
        if comparison is None:
            return ""
        units = _units(standing)
        if units == "data sets" and any(own.has_queries for own in self.board.results):
            units += " and the queries of each"
        text = f"{RANGE}: the {comparison.level:.0%} interval of the rank, from resampled {units}."
        if any(row.group for row in standing.rows):
            text += " group: systems that share a letter cannot be told apart"
            text += f" ({comparison.description()})."
        return html(Document([Paragraph(text, "legend")]))

    # Pages.

    def _standing(
        self,
        path: str,
        title: str,
        about: str,
        standing: Standing,
        columns: Sequence[Column],
        *others: str,
        **options: Any,
    ) -> None:
        """A page of systems, ranked. others: what follows their table."""
        notes = list(dict.fromkeys(standing.notes))
        parts = [
            f"<p>{about}</p>",
            self._verdict(standing),
            self._table(path.removesuffix(".html"), columns, filtered=True),
            self._legend(standing),
            *others,
            f"<h2>Notes</h2>\n{html(Document([Items(notes)]))}" if notes else "",
        ]
        self._page(path, title, parts, **options)

    def _index(self) -> None:
        board, overall = self.board, self.board.overall
        ranked = {row.system: row for row in overall.rows}
        rows = [ranked.get(system) for system in board.systems]
        means = board.means() if len(board.results) > 1 else {}
        types = [own.type or "other" for own in board.results] if board.types else []
        rank, *ranges = self._ranks(rows, [len(ranked)] * len(rows))
        columns = [
            rank,
            self._links("system", board.systems, "systems/"),
            self._column("mean", [row and row.mean for row in rows], best=True),
            *ranges,
            *self._groups(rows),
            *(self._column(own, values, best=True) for own, values in means.items()),
        ]
        # Columns of types show what belongs to one of them.
        others = len(columns) - len(types)
        shown = {"columns": [""] * others + types if types else []}
        measures = safe(", ".join(sorted({own.measure for own in board.results})))
        about = f"{counted(len(rows), 'system')} on {counted(len(board.results), 'data set')}"
        about += f", measured by {measures}."
        incomplete = board.systems[len(ranked) :]
        if incomplete:
            named = safe(first_few(incomplete, NAMED, count=True))
            about += f" {NOT_RANKED}: {named}."
        datasets = f"<h2>Data sets</h2>\n{self._datasets()}"
        self._standing(
            "index.html", board.title, about, overall, columns, datasets, data={"board": shown}
        )

    def _datasets(self) -> str:
        """The data sets, with what is known about the first two systems of each."""
        results, standings = self.board.results, self.board.standings
        pairs = [own.pair for own in standings]
        firsts, seconds = (
            [own.rows[at].system if len(own.rows) > at else "" for own in standings]
            for at in (0, 1)
        )
        gaps = [
            abs(own.rows[0].mean - own.rows[1].mean) if len(own.rows) > 1 else None
            for own in standings
        ]
        p = [None if own is None or math.isnan(own.p_adjusted) else own.p_adjusted for own in pairs]
        columns = [
            self._links("data set", self.board.datasets, "datasets/"),
            self._column("type", [own.type for own in results]),
            self._column("queries", [own.size for own in standings]),
            self._column("systems", [len(own.rows) for own in standings]),
            self._links("first", firsts, "systems/", heads=False),
            self._links("second", seconds, "systems/", heads=False),
            self._column("difference", gaps),
            self._column("p", p, shown=p_text),
            self._column("queries needed", [own.needed for own in standings]),
        ]
        if self.inspected:
            files = [self.inspected.get(own, "") for own in self.board.datasets]
            columns.append(self._column("look", files, shown=_look, link=str))
        return self._table("datasets", columns)

    def _dataset(self, dataset: Dataset, standing: Standing) -> None:
        comparison, rows = standing.comparison, standing.rows
        file = self.of_dataset[dataset.name]
        rank, *ranges = self._ranks(rows, [len(rows)] * len(rows))
        columns = [
            rank,
            self._links("system", [row.system for row in rows], "../systems/"),
            self._column(dataset.measure, [row.mean for row in rows], key="mean", best=True),
        ]
        about = [dataset.type, dataset.measure]
        if comparison is not None:
            about.append(counted(len(comparison.queries), "query", "queries"))
            measure = comparison.measures[0]
            bounds = [comparison.interval_of(measure, row.system) for row in rows]
            cells = [Cell(interval(*own, self._shown), number=True) for own in bounds]
            low, high = zip(*bounds, strict=True)
            columns.append(Column("interval", cells, {"mean_low": low, "mean_high": high}))
        about_it = (
            f"{safe(', '.join(filter(None, about)))}. {self._inspect(dataset, standing, file)}"
        )
        columns += [*ranges, *self._groups(rows)]
        self._standing(f"datasets/{file}.html", dataset.name, about_it, standing, columns)

    def _inspect(self, dataset: Dataset, standing: Standing, file: str) -> str:
        """A page to look at the runs of the best systems, and a link to it; empty without runs."""
        best = [row.system for row in standing.rows if row.system in dataset.runs]
        best = best[: self.board.inspected]
        if dataset.judgments is None or not best:
            return ""
        page = io.BytesIO()
        inspect(
            dataset.judgments.qrels,
            {own: dataset.runs[own] for own in best},
            dataset.measure,
            texts=dataset.judgments.corpus or None,
            queries=dataset.judgments.queries or None,
            missing="zero",
            title=f"{dataset.name}: {' and '.join(best)}",
            progress=False,
        ).write(page)
        self.inspected[dataset.name] = f"inspect/{file}.html"
        self.files[f"inspect/{file}.html"] = page.getvalue()
        names = " and ".join(map(name, best))
        return linked(f"Look at the rankings of {names}", f"../inspect/{file}.html")

    def _system(self, system: str) -> None:
        board, file = self.board, self.of_system[system]
        row = next((own for own in board.overall.rows if own.system == system), None)
        standing, image, alike = f"{NOT_RANKED}.", "", ""
        if row is not None:
            words, version = rank_words(row, len(board.overall.rows)), board.versions[system]
            image = badge(board.title, f"rank {words}")
            self._put(f"badges/{file}.svg", image)
            standing = f"Rank {words}, mean {self._shown(row.mean)}"
            standing += f", version {safe(version)}." if version else "."
            links = (linked(name(one), f"{self.of_system[one]}.html") for one in row.alike)
            listed = "".join(f"<li>{one}</li>" for one in links)
            if listed:
                alike = f'<h2>Cannot be told apart from</h2>\n<ul class="names">{listed}</ul>'
        rows = [
            next((own for own in one.rows if own.system == system), None) for one in board.standings
        ]
        counts = [len(own.rows) for own in board.standings]
        rank, *ranges = self._ranks(rows, counts)
        columns = [
            self._links("data set", board.datasets, "../datasets/"),
            self._column("type", [own.type for own in board.results]),
            self._column("measure", [own.measure for own in board.results]),
            self._column("mean", [own and own.mean for own in rows]),
            rank,
            self._column("of", counts),
            *ranges,
        ]
        parts = [
            f"<p>{standing}</p>",
            f'<p><a href="../badges/{file}.svg">{image}</a></p>' if image else "",
            self._table(f"systems/{file}", columns),
            alike,
            self._history(system, f"systems/{file}-history"),
        ]
        self._page(f"systems/{file}.html", system, parts)

    def _history(self, system: str, stem: str) -> str:
        """The means of the versions of a system, newest first; empty for fewer than two."""
        known = {own.name: own.history.get(system, {}) for own in self.board.results}
        versions = sorted({one for own in known.values() for one in own}, key=natural, reverse=True)
        if len(versions) < 2:
            return ""
        values = {own: [means.get(one) for one in versions] for own, means in known.items()}
        if len(values) > 1:
            values = {"mean": means_of([*values.values()]), **values}
        columns = [self._column(own, means, best=True) for own, means in values.items()]
        heads = self._column("version", versions, heads=True)
        return f"<h2>History</h2>\n{self._table(stem, [heads, *columns])}"


def _look(file: str) -> str:
    return "rankings" if file else ""


def _units(standing: Standing) -> str:
    return "queries" if standing.units == "query" else "data sets"
