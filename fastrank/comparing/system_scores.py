"""Agreement of two rankings of systems, in files that `fastrank eval --format csv` writes."""

from __future__ import annotations

from fastrank.comparing.agreement import COEFFICIENTS, agreement, refuse_others
from fastrank.comparing.inputs import better_of
from fastrank.comparing.rank_biased_overlap import rbo
from fastrank.errors import FormatError, GroupError
from fastrank.formats import files
from fastrank.formats.source import read_all
from fastrank.formats.table_files import delimited_records
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.choices import RboTies
    from fastrank.formats.files import Source

COLUMNS = ["run", "query", "measure", "value"]


def systems_table(first: Source, second: Source, *, p: float, ties: RboTies) -> Table:
    """A row for each measure that both files have: the coefficients of `agreement`, and RBO.

    Raises ReadError, FormatError, and GroupError if systems differ or no measure is common.
    """
    first_means, second_means = _read(first), _read(second)
    names = files.name_of(first), files.name_of(second)
    measures = [measure for measure in first_means if measure in second_means]
    if not measures:
        named = " and ".join(", ".join(means) or "none" for means in (first_means, second_means))
        raise GroupError(f"the files have no measure in common: {named}")
    columns: dict[str, list[Any]] = {"measure": measures, "systems": []}
    columns.update({name: [] for name in (*COEFFICIENTS, "rbo")})
    for measure in measures:
        if names[0] != names[1]:
            refuse_others({names[0]: first_means[measure], names[1]: second_means[measure]})
        # Rankings start with the best system.
        sign = -1.0 if better_of(measure) == "lower" else 1.0
        one, other = (
            {system: sign * mean for system, mean in means[measure].items()}
            for means in (first_means, second_means)
        )
        found = agreement(one, other)
        columns["systems"].append(len(found.systems))
        for name in COEFFICIENTS:
            columns[name].append(getattr(found, name))
        columns["rbo"].append(rbo(one, other, p, ties=ties).ext)
    return Table(columns=columns)


def _read(source: Source) -> dict[str, dict[str, float]]:
    """{measure: {system: mean}} of a file. Raises ReadError and FormatError."""
    name = files.name_of(source)
    rows = delimited_records(read_all(source), name, ",")
    if next(rows, (1, []))[1] != COLUMNS:
        reason = f"expected the header {','.join(COLUMNS)}, as `fastrank eval --format csv` writes"
        raise FormatError(name, 1, reason)
    means: dict[str, dict[str, float]] = {}
    for line, row in rows:
        if len(row) != len(COLUMNS):
            raise FormatError(name, line, f"expected {len(COLUMNS)} cells, found {len(row)}")
        system, query, measure, value = row
        if query:
            continue
        systems = means.setdefault(measure, {})
        if system in systems:
            raise FormatError(name, line, f"run {system!r} has a second mean of {measure!r}")
        try:
            systems[system] = float(value)
        except ValueError:
            raise FormatError(name, line, f"expected a number, found {value!r}") from None
    if not means:
        raise FormatError(
            name, 1, "has no means; write it with `fastrank eval --format csv` without -q"
        )
    return means
