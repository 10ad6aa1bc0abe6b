"""The public function that makes a leaderboard, and its result."""

from __future__ import annotations

import os

from fastrank.arguments import at_least
from fastrank.comparing.options import COMPARISON, TESTS
from fastrank.data.columns import Frozen
from fastrank.formats.sites import changes, write_site
from fastrank.keywords import Keyword, TypedDict, takes, with_defaults
from fastrank.leaderboard.readers import read_results
from fastrank.leaderboard.results import datasets_of, means_of
from fastrank.leaderboard.standings import overall_standing, standing_on
from fastrank.messages import counted
from fastrank.scores.tables import Table, distinct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.choices import Correction, Test
    from fastrank.leaderboard.results import Dataset
    from fastrank.leaderboard.standings import Standing

MEASURE = "nDCG@10"
# How many of the best runs of a data set have a page to look at them.
INSPECTED = 2


# As for other comparisons, but for the test.
OPTIONS = (
    Keyword(
        "test",
        "tukey-anova",
        """the test of the systems, by default Tukey's of all systems: the difference that is
        significant is the same for every pair, so that groups have no gaps. Others as for
        `compare`.""",
        choices=TESTS,
    ),
    *(own for own in COMPARISON if own.name != "test"),
)


class BoardOptions(TypedDict, total=False):
    """How the systems of a board are compared."""

    test: Test
    correction: Correction
    alpha: float
    level: float
    resamples: int | None
    seed: int
    threads: int | None


class Board(Frozen):
    """A leaderboard: systems on data sets.

    title: of the site. systems: best first, those without results on all data sets last. datasets:
    the names of the data sets, in order. types: {type: its data sets}, empty if all have one.
    mean: {data set: {system: mean}}, over the queries that all its systems have.

    >>> board
    <Board of 3 systems on 3 data sets>
    >>> board.systems
    ['b', 'a', 'c']
    """

    made_by = "fastrank.board"
    internal = Frozen.internal | {"inspected", "overall", "results", "standings", "versions"}

    title: str
    inspected: int
    overall: Standing
    results: list[Dataset]
    standings: list[Standing]
    versions: dict[str, str]

    @property
    def datasets(self) -> list[str]:
        """The names of the data sets."""
        return [own.name for own in self.results]

    @property
    def systems(self) -> list[str]:
        """The names of the systems, ranked ones first."""
        return list(
            dict.fromkeys([row.system for row in self.overall.rows] + sorted(self.versions))
        )

    @property
    def types(self) -> dict[str, list[str]]:
        """{type: names of its data sets}; empty if all data sets have one type."""
        found: dict[str, list[str]] = {}
        for own in self.results:
            found.setdefault(own.type or "other", []).append(own.name)
        return found if len(found) > 1 else {}

    @property
    def mean(self) -> dict[str, dict[str, float]]:
        """{data set: {system: mean}}."""
        return {
            own.name: {row.system: row.mean for row in standing.rows}
            for own, standing in zip(self.results, self.standings, strict=True)
        }

    def means(self) -> dict[str, list[float | None]]:
        """The means of `systems` on each data set, after those of types if there are several.

        None where results are missing. The mean of types counts each of them once.

        >>> board.means()["wiki"]
        [0.75, 0.5, 0.625]
        """
        by_name = {
            name: [own.get(system) for system in self.systems] for name, own in self.mean.items()
        }
        types = {
            name: means_of([by_name[own] for own in members])
            for name, members in self.types.items()
        }
        of_types = {"mean of types": means_of([*types.values()])} if types else {}
        parts = [*of_types.items(), *types.items(), *by_name.items()]
        return dict(
            zip(distinct(name for name, _ in parts), (own for _, own in parts), strict=True)
        )

    def table(self) -> Table:
        """A row for each system: its rank with its interval, its groups, and its means.

        Values that are not known are None.

        >>> print(board.table())
        system      rank    low    high  group      mean    news     web    wiki
        --------  ------  -----  ------  -------  ------  ------  ------  ------
        b              1      1       1  a        0.6667  0.7500  0.5000  0.7500
        a              2      2       2  b        0.4167  0.5000  0.2500  0.5000
        c                                                 0.5000          0.6250
        """
        rows = [{row.system: row for row in self.overall.rows}.get(own) for own in self.systems]
        columns: dict[str, list[Any]] = {"system": self.systems}
        for name in ("rank", "low", "high", "group", "mean"):
            columns[name] = [getattr(row, name, None) for row in rows]
        means = self.means()
        names = distinct([*columns, *means])
        return Table(columns=dict(zip(names, [*columns.values(), *means.values()], strict=True)))

    def files(self) -> dict[str, bytes]:
        """The files of the site: {path: content}.

        >>> sorted(board.files())[:2]
        ['badges/a.svg', 'badges/b.svg']
        """
        from fastrank.leaderboard.pages import site_of

        return site_of(self)

    def write(self, output: str | os.PathLike[str]) -> None:
        """Write the site into a folder that does not exist, is empty, or has an earlier site.

        The folder is replaced as a whole, or not at all. Raises OSError if it cannot be written,
        and InputError if it has other files.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     board.write(f"{folder}/site")
        ...     board.changes(f"{folder}/site")
        []
        """
        write_site(self.files(), output)

    def changes(self, output: str | os.PathLike[str]) -> list[str]:
        """What `write` would change: `add PATH`, `change PATH` or `remove PATH`, by path.

        Raises what `write` raises.

        >>> board.changes("no-such-folder")[-1]
        'add systems/c.json'
        """
        return changes(self.files(), output)

    def __repr__(self) -> str:
        systems = counted(len(self.systems), "system")
        return f"<Board of {systems} on {counted(len(self.results), 'data set')}>"


@takes(BoardOptions, OPTIONS)
def board(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    measure: str = MEASURE,
    title: str | None = None,
    inspected: int = INSPECTED,
    **options: Unpack[BoardOptions],
) -> Board:
    """Make a leaderboard of the results in a folder, and write it as a static site.

    folder: what is read, with the folders in it: a folder with qrels and runs is a data set; stores
        of `fastrank eval --resume`; JSON files of MTEB 2; CSV files with a system, a data set and a
        value per row, or a system per row and a data set per column. `datasets.csv` at the top
        gives data sets a type and a measure.
    output: a folder to write the site into, which does not exist, is empty, or has an earlier site;
        None writes nothing.
    measure: the measure of the runs, and of files with several measures.
    title: of the site, by default the name of the folder.
    inspected: how many of the best runs of a data set `inspect` makes a page of; 0 for no pages.
    **options: see `BoardOptions`.

    Systems are ranked by the mean of their means on the data sets, if they have results on all.
    `compare_datasets` with resampled queries says which of them differ, and gives the intervals of
    ranks; for one data set, `compare_scores`. A judged query that a run lacks counts as 0. The same
    results give the same bytes.

    Raises ReadError, FormatError and InputError for files that cannot be read or contradict each
    other, such as results on different versions of a data set; GroupError if there are no results,
    or systems have no query in common; what evaluating the runs raises; and OSError if the site
    cannot be written.

    >>> import pathlib, shutil, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("digits.qrels", "pixels.run", "pca.run", "profile.run"):
    ...         _ = shutil.copy(f"data/{name}", folder)
    ...     found = fr.board(folder, f"{folder}/site", title="Digits")
    ...     len(list(pathlib.Path(folder, "site").rglob("*.html")))
    6
    >>> found.systems
    ['pixels', 'profile', 'pca']
    """
    chosen = with_defaults(board, options)
    datasets, versions = datasets_of(read_results(folder, measure))
    standings = [standing_on(own, chosen) for own in datasets]
    found = Board(
        title=title or os.path.basename(os.path.abspath(folder)),
        inspected=at_least("inspected", inspected, 0),
        overall=overall_standing(datasets, standings, chosen),
        results=datasets,
        standings=standings,
        versions=versions,
    )
    if output is not None:
        found.write(output)
    return found
