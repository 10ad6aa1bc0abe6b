"""A comparison as CSV and JSON, in full precision."""

from __future__ import annotations

from importlib import import_module

from fastrank.formats.table_files import csv_lines
from fastrank.scores.records import json_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from fastrank.comparing.comparison import Comparison

SCHEMA = "fastrank.comparison/1"
SETTINGS = ("test", "correction", "alpha", "interval", "level", "seed", "resamples")
LONG = ("query", "measure", "system", "value")


def csv_of(comparison: Comparison, *, per_query: bool = False) -> str:
    """The pairs, or the values per query in long form, as CSV."""
    if not per_query:
        return comparison.pairs().to_csv()
    return "".join(csv_lines(LONG, _long_rows(comparison)))


def _long_rows(comparison: Comparison) -> Iterator[tuple[Any, ...]]:
    for measure in comparison.measures:
        columns = comparison.values(measure).T.tolist()
        for query, row in zip(comparison.queries, columns, strict=True):
            for system, value in zip(comparison.names, row, strict=True):
                yield query, measure, system, value


def json_of(comparison: Comparison, *, per_query: bool = False, indent: int | None = None) -> str:
    """The means, pairs, settings and notes as a JSON object."""
    return json_text(record_of(comparison, per_query=per_query), indent)


def record_of(comparison: Comparison, *, per_query: bool = False) -> dict[str, Any]:
    """What `Comparison.to_json` writes."""
    pairs = [pair for measure in comparison.measures for pair in comparison._pairs_of(measure)]
    settings = {name: getattr(comparison, name) for name in SETTINGS}
    settings["family"] = comparison._settings.family
    clusters = comparison._settings.clusters
    settings["clusters"] = None if clusters is None else len({*clusters.values()})
    settings["exact"] = all(pair.exact for pair in pairs)
    # Imported by name, because the package is above its parts.
    version = import_module("fastrank").__version__
    settings |= {**dict(sorted(comparison._evaluation.items())), "version": version}
    if "exclude" in settings:
        settings["exclude"] = bool(settings["exclude"])
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "measures": comparison.measures,
        "baseline": comparison.baseline,
        "queries": len(comparison.queries),
        "systems": {
            name: {measure: _mean(comparison, measure, name) for measure in comparison.measures}
            for name in comparison.names
        },
        "pairs": [pair._asdict() for pair in pairs],
        "settings": settings,
        "notes": comparison.notes,
    }
    if per_query:
        record["per_query"] = {
            query: dict(zip(comparison.measures, rows, strict=True))
            for query, *rows in zip(
                comparison.queries,
                *(_by_query(comparison, measure) for measure in comparison.measures),
                strict=True,
            )
        }
    return record


def _mean(comparison: Comparison, measure: str, name: str) -> dict[str, float]:
    low, high = comparison.interval_of(measure, name)
    return {"mean": comparison.mean[measure][name], "low": low, "high": high}


def _by_query(comparison: Comparison, measure: str) -> list[dict[str, float]]:
    """{system: value} for each query."""
    rows = comparison.values(measure).T.tolist()
    return [dict(zip(comparison.names, row, strict=True)) for row in rows]
