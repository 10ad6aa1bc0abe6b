"""The differences between two Scores of the same queries, and z-scores of a reference (-Z)."""

from __future__ import annotations

from operator import itemgetter

from fastrank.common.arguments import at_least
from fastrank.common.c_numbers import atof
from fastrank.common.faces import option
from fastrank.common.messages import counted, first_few, malformed
from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import decoded
from fastrank.core.formats.files import files
from fastrank.core.formats.tables.sniff import read_text
from fastrank.core.formats.trec.writers import shortest
from fastrank.core.results.table import Table, distinct, table_of_rows
from fastrank.core.scores.columns import QueryValues, columns_by_name, presented_means, unknown
from fastrank.core.scores.tables import LONG, common_names
from fastrank.core.scores.text import named_notes
from fastrank.errors import FormatError, GroupError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.core.data.texts import Ids
    from fastrank.core.formats.files.files import Source
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.scores.columns import Evaluated

    Entry = tuple[bytes, float, float]

# The number of queries that an error names.
NAMED = 5


class ScoreDifferences(QueryValues):
    """The differences between two Scores, the first minus the second.

    differences["map"]: float64[queries], in the order of the queries of the first Scores.
    mean: the differences of the means, {measure: difference}; for counts, of the sums.
    first, second: the Scores.

    >>> other = fr.evaluate("data/digits.qrels", "data/pca.run", "map")
    >>> differences = scores - other
    >>> differences
    <ScoreDifferences of 'pixels' and 'pca': 200 queries, 1 measure>
    >>> differences["map"][:2]
    array([0.00720581, 0.1205855 ])
    >>> differences.mean
    {'map': 0.0854...}
    >>> print(differences)
    measure      pixels     pca    difference
    ---------  --------  ------  ------------
    map          0.4348  0.3493        0.0854
    """

    made_by = "a - b, where both are Scores"

    first: Evaluated
    second: Evaluated
    # The rows in the second Scores of the queries of the first.
    _rows: list[int]

    @property
    def queries(self) -> list[str]:
        """The ids of the queries."""
        return self.first.queries

    @property
    def names(self) -> list[str]:
        """The names of the measures that have numbers per query."""
        columns = columns_by_name(self.first).values()
        return [
            column.name for column in columns if column.values is not None and column.kind != "text"
        ]

    @property
    def mean(self) -> dict[str, float]:
        """The differences of the means, by the name of the measure."""
        second = self.second.mean
        return {name: value - second[name] for name, value in self.first.mean.items()}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The differences in one measure, float64[queries]. Raises KeyError for other names."""
        *_, difference = self._values(name)
        return difference

    def _values(self, name: str) -> tuple[npt.NDArray[Any], ...]:
        """The values of the first and the second, query by query, and their differences."""
        import numpy

        if name not in self.names:
            raise unknown(name, self.names, "the values per query")
        first, second = self.first[name], self.second[name][self._rows]
        # The difference of two infinite ranks is NaN.
        with numpy.errstate(invalid="ignore"):
            return first, second, first - second

    def __repr__(self) -> str:
        names = [repr(scores.name) for scores in (self.first, self.second)]
        of = f" of {' and '.join(names)}" if self.first.name or self.second.name else ""
        queries = counted(len(self.queries), "query", "queries")
        return f"<ScoreDifferences{of}: {queries}, {counted(len(self.mean), 'measure')}>"

    def table(self) -> Table:
        """The means of both, and their differences, with a row per measure, and notes on both."""
        first, second = presented_means(self.first), presented_means(self.second)
        header = distinct(["measure", *self._tags(), "difference"])
        rows = [[name, value, second[name], value - second[name]] for name, value in first.items()]
        remarks = named_notes(header[1:3], (self.first, self.second))
        return table_of_rows(header, rows).changed(notes=tuple(remarks))

    def to_csv(self) -> str:
        """Lines `query,measure,value` with the differences per query in full precision."""
        from fastrank.core.formats.tables.table_files import result_lines

        columns = [(name, values.tolist()) for name, values in self.items()]
        rows = (
            (query, name, values[row])
            for row, query in enumerate(self.queries)
            for name, values in columns
        )
        return "".join(result_lines(LONG, rows))

    def _tags(self) -> list[str]:
        return [scores.name or "run" for scores in (self.first, self.second)]

    def largest(self, name: str, n: int = 10) -> Table:
        """The n queries with the largest absolute differences in a measure, largest first.

        The columns are `query`, the values of both under the tags of the runs, and `difference`.
        Queries with equal differences keep their order; NaN comes last. Raises KeyError for a
        measure without numbers per query.

        >>> other = fr.evaluate("data/digits.qrels", "data/pca.run", "map")
        >>> print((scores - other).largest("map", 2))
        query      pixels     pca    difference
        -------  --------  ------  ------------
        q0819      0.5406  0.1275        0.4131
        q1064      0.4849  0.0767        0.4082
        """
        first, second, _ = self._values(name)
        return largest_differences(self.queries, self._tags(), first, second, n)

    def _for_frames(self) -> tuple[Ids, dict[str, Any]]:
        return self.first.query_ids, {name: self[name] for name in self.names}


def largest_differences(
    queries: list[str],
    names: list[str],
    first: npt.NDArray[Any],
    second: npt.NDArray[Any],
    n: int,
    unit: str = "query",
) -> Table:
    """The n queries with the largest absolute differences first - second, largest first.

    unit: the name of the column of queries.
    """
    import numpy

    with numpy.errstate(invalid="ignore"):
        differences = first - second
    rows = numpy.argsort(-numpy.abs(differences), kind="stable")[: at_least("n", n, 0)]
    header = distinct([unit, *names, "difference"])
    columns = [
        [queries[row] for row in rows.tolist()],
        *(values[rows].tolist() for values in (first, second, differences)),
    ]
    return Table(columns=dict(zip(header, columns, strict=True)))


def subtract(first: Evaluated, second: Evaluated) -> ScoreDifferences:
    """The differences; see `Scores.__sub__`."""
    common_names([first, second])
    rows = {query: row for row, query in enumerate(second.query_ids)}
    queries = list(first.query_ids)
    first_queries = set(queries)
    only = {
        "first": [query for query in queries if query not in rows],
        "second": [query for query in rows if query not in first_queries],
    }
    different = [
        f"only the {which} has {_named(missing)}" for which, missing in only.items() if missing
    ]
    if different:
        raise GroupError(
            f"the two Scores have different queries: {', '.join(different)}"
            f" (with {option('missing', 'zero')} every judged query has values)"
        )
    return ScoreDifferences(first=first, second=second, _rows=[rows[query] for query in queries])


def _named(queries: list[bytes]) -> str:
    return first_few([repr(decoded(query)) for query in queries], NAMED, count=True)


ZSCORES_LINE = "4 fields (query measure mean stddev)"
# The z-score of a value whose mean and deviation are unknown.
MISSING = -1000000.0


class ZScores(Frozen):
    """Means and standard deviations per query and measure.

    entries: {query: [(measure, mean, deviation), ...]}, with ids and names as bytes, sorted by the
    measure's printed name. source: the name of the file.

    >>> import io
    >>> from fastrank.core.scores.differences import read_zscores
    >>> zscores = read_zscores(io.BytesIO(b"q1 map 0.25 0.1\\nq1 P_5 0.4 0.2\\n"))
    >>> zscores.entries
    {b'q1': [(b'P_5', 0.4, 0.2), (b'map', 0.25, 0.1)]}
    """

    made_by = "fastrank.core.scores.differences.read_zscores"

    entries: dict[bytes, list[Entry]]
    source: str


def read_zscores(source: Source) -> ZScores:
    """Read a z-score file: lines `query measure mean stddev`. Raises ReadError, FormatError.

    >>> import io
    >>> from fastrank.core.scores.differences import read_zscores
    >>> read_zscores(io.BytesIO(b"q1 map 0.25 0.1\\n")).entries[b"q1"]
    [(b'map', 0.25, 0.1)]
    """
    text, name = read_text(source), files.name_of(source)
    entries: dict[bytes, list[Entry]] = {}
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), 1):
        if b"\0" in line:
            raise FormatError(name, number, "NUL byte in the line: this is not a text file")
        fields = line.split()
        if len(fields) != 4:
            raise FormatError(name, number, malformed(ZSCORES_LINE, len(fields), line))
        query, measure, mean, deviation = fields
        entries.setdefault(query, []).append((measure, atof(mean), atof(deviation)))
    for query_entries in entries.values():
        query_entries.sort(key=itemgetter(0))
    return ZScores(entries=entries, source=name)


def write_zscores(zscores: ZScores, target: Source) -> None:
    """Write a z-score file, which `read_zscores` reads into the same entries.

    >>> import io
    >>> from fastrank.core.scores.differences import read_zscores, write_zscores
    >>> file = io.BytesIO()
    >>> write_zscores(read_zscores(io.BytesIO(b"q1 map 0.250 0.10\\n")), file)
    >>> print(file.getvalue().decode(), end="")
    q1 map 0.25 0.1
    """
    files.write(
        target,
        (
            b"%b %b %b %b\n" % (query, measure, shortest(mean), shortest(deviation))
            for query, query_entries in zscores.entries.items()
            for measure, mean, deviation in query_entries
        ),
    )


def to_zscores(
    bound: list[BoundMeasure], values: list[Any], queries: Ids, zscores: ZScores
) -> None:
    """Replace each value by its distance from the mean in standard deviations."""
    for i, query in enumerate(queries):
        entries = zscores.entries.get(query, [])
        for bound_measure, column in zip(bound, values, strict=True):
            if column is not None and not isinstance(column, list):
                for j, name in enumerate(bound_measure.names):
                    position = i * bound_measure.width + j
                    column[position] = _zscore(column[position], _find(entries, name))


def _find(entries: list[Entry], name: bytes) -> Entry | None:
    """Look up a measure with trec_eval's search, which matters if a name occurs twice."""
    low, high = 0, len(entries)
    while low <= high:
        middle = (low + high) // 2
        if middle == len(entries):
            return None
        if entries[middle][0] == name:
            return entries[middle]
        if name < entries[middle][0]:
            high = middle - 1
        else:
            low = middle + 1
    return None


def _zscore(value: float, entry: Entry | None) -> float:
    if entry is None:
        return MISSING
    _, mean, deviation = entry
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING
