"""The pages of a leaderboard, with the files beside them."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256

from fastrank.comparing.report.sections import summary
from fastrank.document.document import Cell, Document, Grid, Items, Paragraph
from fastrank.document.html import html, linked, name, safe, table
from fastrank.document.numbers import interval, number, p_words, signed
from fastrank.document.page import whole_page
from fastrank.leaderboard.board import ALL
from fastrank.leaderboard.pictures import badge, rank_bar, rank_words
from fastrank.leaderboard.results import NAMED, natural
from fastrank.leaderboard.standings import POWER
from fastrank.messages import counted, first_few
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from fastrank.leaderboard.board import Board
    from fastrank.leaderboard.results import Dataset
    from fastrank.leaderboard.standings import Row, Standing

UNSAFE = re.compile(r"[^a-z0-9._]+")
# Names of devices on some systems.
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|")
LONGEST = 60
RANGE, GROUP = "rank from–to", "group"


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
        self.mean = board.mean
        largest = max((own for row in self.mean.values() for own in row.values()), default=0.0)
        # Percentages and the like.
        self.digits = 4 if largest <= 1 else 2
        self.of_system = addresses(board.systems)
        self.of_dataset = addresses(board.datasets)
        self.inspected: dict[str, str] = {}
        for dataset, standing in zip(board.results, board.standings, strict=True):
            self._dataset(dataset, standing)
        for system in board.systems:
            self._system(system)
        self._index()

    def _put(self, path: str, text: str) -> None:
        self.files[path] = text.encode("utf-8", "backslashreplace")

    def _page(self, path: str, title: str, parts: Sequence[str], **options: Any) -> None:
        up = "../" * path.count("/")
        above = [f'<nav><a href="{up}index.html">{safe(self.board.title)}</a></nav>'] if up else []
        parts = [*above, f"<h1>{name(title)}</h1>", *parts]
        self._put(path, whole_page(title, parts, heading=False, kind="leaderboard", **options))

    def _table(self, stem: str, grid: Grid, data: Table, kind: str = "") -> str:
        """A table, and links to the CSV and JSON files beside it, which have full precision."""
        self._put(f"{stem}.csv", data.to_csv())
        self._put(f"{stem}.json", data.to_json(indent=1) + "\n")
        own = stem.rpartition("/")[2]
        links = " ".join(
            f'<a href="{own}.{form}" download>{form.upper()}</a>' for form in ("csv", "json")
        )
        return (
            f'<div class="wide{kind and f" {kind}"}" tabindex="0">{table(grid)}</div>\n'
            f'<p class="soft files">{links}</p>'
        )

    def _value(self, value: float | None, *, best: bool = False) -> Cell:
        if value is None:
            return Cell("–", number=True, title="no result")
        return Cell(number(value, self.digits), number=True, place=int(best))

    def _rank(self, row: Row | None) -> Cell:
        return Cell(str(row.rank) if row else "–", number=True, title="" if row else "not ranked")

    def _range(self, row: Row | None, count: int) -> Cell:
        """The interval of a rank."""
        if row is None or row.low is None:
            return Cell("")
        return Cell(f"{row.low}–{row.high}", picture=rank_bar(row, count))

    def _group(self, row: Row | None, standing: Standing) -> list[Cell]:
        """The groups that a system is in, each at its own place."""
        if not standing.has_groups:
            return []
        every = sorted({letter for own in standing.rows for letter in own.group})
        shown = [
            f'<span class="in">{letter}</span>' if row and letter in row.group else "<span></span>"
            for letter in every
        ]
        return [Cell("", picture=f'<span class="groups">{"".join(shown)}</span>')]

    def _system_cell(self, system: str, folder: str = "") -> Cell:
        return Cell(system, heads_row=True, link=f"{folder}{self.of_system[system]}.html")

    # The page of all systems and data sets.

    def _index(self) -> None:
        board, overall = self.board, self.board.overall
        data = board.table()
        columns, count = data.columns, len(overall.rows)
        ranked = {row.system: row for row in overall.rows}
        values = data.names[5:]
        best = {own: _best(columns[own], board.results[0].better) for own in values}
        rows = []
        # The mean is beside the system, also on narrow screens.
        for place, system in enumerate(board.systems):
            row = ranked.get(system)
            cells = [self._value(columns[own][place]) for own in values]
            cells = [
                cell._replace(place=int(columns[own][place] == best[own] is not None))
                for own, cell in zip(values, cells, strict=True)
            ]
            own = [self._rank(row), self._system_cell(system, "systems/"), cells[0]]
            rows.append([*own, self._range(row, count), *self._group(row, overall), *cells[1:]])
        header = ["rank", "system", ALL, RANGE, *([GROUP] if overall.has_groups else [])]
        types = {one: own.type or "other" for own in board.results for one in [own.name]}
        shown = {
            "columns": [""] * len(header)
            + [types.get(own, "") if board.types else "" for own in values[1:]]
        }
        parts = [
            f"<p>{self._about()}</p>",
            *self._verdict(overall),
            self._table("index", Grid([*header, *values[1:]], rows), data, "filtered"),
            self._legend(overall),
            "<h2>Data sets</h2>",
            self._datasets(),
            _notes(overall.notes),
        ]
        self._page("index.html", board.title, parts, data={"board": shown})

    def _about(self) -> str:
        board = self.board
        measures = sorted({own.measure for own in board.results})
        incomplete = board.systems[len(board.overall.rows) :]
        text = (
            f"{counted(len(board.systems), 'system')} on {counted(len(board.results), 'data set')}"
        )
        text += f", measured by {safe(', '.join(measures))}."
        if incomplete:
            names = safe(first_few(incomplete, NAMED, count=True))
            text += f" Not ranked, because results on some data sets are missing: {names}."
        return text

    def _verdict(self, standing: Standing) -> list[str]:
        """Who is first, whether that is sure, and what it would take to know."""
        comparison, pair = standing.comparison, standing.pair
        if comparison is None or pair is None:
            unknown = "Only means are known: which differences are due to chance cannot be said."
            return [f'<p class="verdict">{unknown}</p>'] if standing.rows else []
        units = "queries" if standing.units == "query" else "data sets"
        bounds = interval(pair.low, pair.high, signed)
        text = (
            f"First and second, {name(pair.a)} and {name(pair.b)}, differ by"
            f" {signed(pair.difference)} {safe(bounds)}, {safe(p_words(pair.p_adjusted))}. "
        )
        if standing.needed is None:
            text += f"No number of {units} would separate them if they are this much alike."
        else:
            text += (
                f"<strong>{standing.needed:,} {units}</strong> are needed to separate them (t-test,"
                f" power {POWER:.0%}); there are {pair.n:,}."
            )
        return [f'<div class="verdict">{summary(comparison)}<p>{text}</p></div>']

    def _legend(self, standing: Standing) -> str:
        comparison = standing.comparison
        if comparison is None:
            return ""
        level, units = f"{comparison.level:.0%}", "queries"
        if standing.units == "data set":
            units = "data sets"
            if any(own.has_queries for own in self.board.results):
                units += " and the queries of each"
        texts = [f"{RANGE}: the {level} interval of the rank, from resampled {units}."]
        if standing.has_groups:
            texts.append("group: systems that share a letter cannot be told apart")
            texts.append(f"({comparison.description()}).")
        return html(Document([Paragraph(" ".join(texts), "legend")]))

    def _datasets(self) -> str:
        """A table of the data sets, with what is known about the first two systems of each."""
        header = ["data set", "type", "queries", "systems", "first", "second", "difference"]
        header += ["p", "queries needed", ""]
        rows, data = [], []
        for own, standing in zip(self.board.results, self.board.standings, strict=True):
            pair, ranked = standing.pair, standing.rows
            first, second = ([row.system for row in ranked[:2]] + [""])[:2]
            queries = len(standing.comparison.queries) if standing.comparison else None
            difference = ranked[0].mean - ranked[1].mean if second else None
            p = pair.p_adjusted if pair is not None and pair.p_adjusted == pair.p_adjusted else None
            known = [queries, len(ranked)]
            data.append([own.name, own.type, *known, first, second, difference, p, standing.needed])
            cells = [
                Cell(own.name, heads_row=True, link=f"datasets/{self.of_dataset[own.name]}.html")
            ]
            cells += [Cell(own.type), *(Cell(_shown(one), number=True) for one in known)]
            cells += [
                Cell(one, link=f"systems/{self.of_system[one]}.html") if one else Cell("")
                for one in (first, second)
            ]
            cells += [
                Cell("" if difference is None else number(difference, self.digits), number=True),
                Cell("" if p is None else p_words(p).removeprefix("p = "), number=True),
                Cell(_shown(standing.needed), number=True),
                self._inspector(own.name, "inspect/"),
            ]
            rows.append(cells)
        if not any(row[-1].text for row in rows):
            header, rows = header[:-1], [row[:-1] for row in rows]
        columns = dict(zip(header, zip(*data, strict=True), strict=False))
        known_columns = Table(columns={key: list(own) for key, own in columns.items()})
        return self._table("datasets", Grid(header, rows), known_columns)

    def _inspector(self, dataset: str, folder: str) -> Cell:
        """A link to the rankings of the runs."""
        file = self.inspected.get(dataset)
        return Cell("rankings" if file else "", link=f"{folder}{file}" if file else "")

    # The page of a data set.

    def _dataset(self, dataset: Dataset, standing: Standing) -> None:
        comparison = standing.comparison
        bounds = {
            row.system: comparison.interval_of(comparison.measures[0], row.system)
            if comparison
            else None
            for row in standing.rows
        }
        rows, best = [], standing.rows[0].mean if standing.rows else None
        for row in standing.rows:
            own = bounds[row.system]
            shown = interval(*own, lambda value: number(value, self.digits)) if own else ""
            cells = [self._rank(row), self._system_cell(row.system, "../systems/")]
            cells.append(self._value(row.mean, best=row.mean == best))
            if comparison:
                cells += [Cell(shown, number=True), self._range(row, len(standing.rows))]
            rows.append([*cells, *self._group(row, standing)])
        header = ["rank", "system", dataset.measure]
        header += ["interval", RANGE] * bool(comparison) + [GROUP] * standing.has_groups
        data = Table(
            columns={
                **{
                    key: [getattr(row, key) for row in standing.rows]
                    for key in ("rank", "low", "high", "system", "group", "mean")
                },
                "mean_low": [own and own[0] for own in bounds.values()],
                "mean_high": [own and own[1] for own in bounds.values()],
            }
        )
        queries = counted(len(comparison.queries), "query", "queries") if comparison else ""
        about = [dataset.type, dataset.measure, queries]
        stem = f"datasets/{self.of_dataset[dataset.name]}"
        link = self._inspector(dataset.name, "../inspect/")
        parts = [
            f"<p>{safe(', '.join(filter(None, about)))}</p>",
            *self._verdict(standing),
            f"<p>{linked('Look at the rankings', link.link)}</p>" if link.text else "",
            self._table(stem, Grid(header, rows), data, "filtered"),
            self._legend(standing),
            _notes(standing.notes),
        ]
        self._page(f"{stem}.html", dataset.name, parts)

    # The page of a system.

    def _system(self, system: str) -> None:
        board, stem = self.board, f"systems/{self.of_system[system]}"
        row = next((own for own in board.overall.rows if own.system == system), None)
        count = len(board.overall.rows)
        parts = []
        if row is not None:
            image = badge(board.title, f"rank {rank_words(row, count)}")
            self._put(f"badges/{self.of_system[system]}.svg", image)
            version = board.versions[system]
            of_version = f", version {safe(version)}" if version else ""
            parts += [
                f"<p>Rank {rank_words(row, count)}{of_version}; mean"
                f" {number(row.mean, self.digits)}.</p>",
                f"<p>{image}</p>",
            ]
        else:
            parts.append("<p>Not ranked: it lacks results on some data sets.</p>")
        rows, data = [], []
        for own, standing in zip(board.results, board.standings, strict=True):
            found = next((one for one in standing.rows if one.system == system), None)
            data.append([own.name, own.type, own.measure, *(found[1:5] if found else [None] * 4)])
            rows.append(
                [
                    Cell(own.name, heads_row=True, link=f"../datasets/{self.of_dataset[own.name]}.html"),
                    Cell(own.type), Cell(own.measure), self._value(found and found.mean),
                    self._rank(found), Cell(str(len(standing.rows)), number=True),
                    self._range(found, len(standing.rows)),
                ]
            )  # fmt: skip
        header = ["data set", "type", "measure", "value", "rank", "of", RANGE]
        columns = ["dataset", "type", "measure", "mean", "rank", "low", "high"]
        listed = Table(
            columns={
                key: list(own) for key, own in zip(columns, zip(*data, strict=True), strict=True)
            }
        )
        parts.append(self._table(stem, Grid(header, rows), listed))
        if row is not None and row.alike:
            links = "".join(
                f"<li>{linked(name(one), f'{self.of_system[one]}.html')}</li>" for one in row.alike
            )
            parts.append(f'<h2>Cannot be told apart from</h2>\n<ul class="names">{links}</ul>')
        parts.append(self._history(system, f"{stem}-history"))
        self._page(f"{stem}.html", system, parts)

    def _history(self, system: str, stem: str) -> str:
        """The means of the versions of a system, newest first; empty for fewer than two."""
        versions = sorted(
            {own for one in self.board.results for own in one.history.get(system, ())}, key=natural
        )
        if len(versions) < 2:
            return ""
        of_dataset = {own.name: own.history.get(system, {}) for own in self.board.results}
        rows, data = [], []
        for version in reversed(versions):
            values = [own.get(version) for own in of_dataset.values()]
            mean = None if None in values else sum(values) / len(values)
            several = [mean, *values] if len(values) > 1 else values
            data.append([version, *several])
            rows.append([Cell(version, heads_row=True), *map(self._value, several)])
        header = ["version", *([ALL] if len(of_dataset) > 1 else []), *of_dataset]
        listed = Table(columns={key: [row[at] for row in data] for at, key in enumerate(header)})
        return f"<h2>History</h2>\n{self._table(stem, Grid(header, rows), listed)}"


def _best(values: Sequence[float | None], better: str) -> float | None:
    known = [own for own in values if own is not None]
    if len(known) < 2:
        return None
    return min(known) if better == "lower" else max(known)


def _shown(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _notes(notes: Sequence[str]) -> str:
    listed = list(dict.fromkeys(notes))
    return f"<h2>Notes</h2>\n{html(Document([Items(listed)]))}" if listed else ""
