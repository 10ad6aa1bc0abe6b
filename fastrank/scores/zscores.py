"""Z-scores: each value as its distance from a mean, in standard deviations (-Z of trec_eval)."""

from __future__ import annotations

from fastrank.c_numbers import atof
from fastrank.data.columns import Frozen
from fastrank.errors import FormatError
from fastrank.formats import files
from fastrank.formats.source import read_all
from fastrank.formats.trec import malformed
from fastrank.formats.trec_writers import shortest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.texts import Ids
    from fastrank.formats.files import Source
    from fastrank.measures.selection import BoundMeasure

    Entry = tuple[bytes, float, float]

ZSCORES_LINE = "4 fields (query measure mean stddev)"
# The z-score of a value whose mean and deviation are unknown.
MISSING = -1000000.0


class ZScores(Frozen):
    """Means and standard deviations per query and measure.

    entries: {query: [(measure, mean, deviation), ...]}, with ids and names as bytes, sorted by the
    measure's printed name. source: the name of the file.

    >>> import io
    >>> zscores = fr.read_zscores(io.BytesIO(b"q1 map 0.25 0.1\\nq1 P_5 0.4 0.2\\n"))
    >>> zscores.entries
    {b'q1': [(b'P_5', 0.4, 0.2), (b'map', 0.25, 0.1)]}
    """

    made_by = "fastrank.read_zscores"

    entries: dict[bytes, list[Entry]]
    source: str


def read_zscores(source: Source) -> ZScores:
    """Read a z-score file: lines `query measure mean stddev`. Raises ReadError, FormatError.

    >>> import io
    >>> fr.read_zscores(io.BytesIO(b"q1 map 0.25 0.1\\n")).entries[b"q1"]
    [(b'map', 0.25, 0.1)]
    """
    text, name = read_all(source), files.name_of(source)
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
        query_entries.sort(key=_measure_of)
    return ZScores(entries=entries, source=name)


def _measure_of(entry: Entry) -> bytes:
    return entry[0]


def write_zscores(zscores: ZScores, target: Source) -> None:
    """Write a z-score file, which `read_zscores` reads into the same entries.

    >>> import io
    >>> file = io.BytesIO()
    >>> fr.write_zscores(fr.read_zscores(io.BytesIO(b"q1 map 0.250 0.10\\n")), file)
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
                    at = i * bound_measure.width + j
                    column[at] = _zscore(column[at], _find(entries, name))


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
