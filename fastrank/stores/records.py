"""Scores as records of JSON, from which the same Scores are made again, to the last bit."""

from __future__ import annotations

import json
import math
import zlib
from array import array

from fastrank.data.texts import decoded
from fastrank.scores.scores import Scores
from fastrank.scores.summary import Coverage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.measures.binding import BoundMeasure
    from fastrank.stores.evaluation import Evaluation


# The bytes after those that a checksum is of.
MARK = b',"crc":"%08x"}'
LENGTH = len(MARK % 0)


def json_line(record: dict[str, Any]) -> bytes:
    """Compact JSON that ends with a checksum; numbers that JSON does not have must be texts."""
    line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()[:-1]
    return line + MARK % zlib.crc32(line)


def is_intact(line: bytes) -> bool:
    """Whether a line of `json_line` still has its checksum."""
    return line[-LENGTH:] == MARK % zlib.crc32(memoryview(line)[:-LENGTH])


def read_line(line: bytes) -> dict[str, Any]:
    """The record of a line, as written here or formatted again by another program.

    Raises AttributeError, IndexError, KeyError, TypeError or ValueError for a damaged one.
    """
    record: dict[str, Any] = json.loads(line)
    checksum = record.pop("crc")
    if not is_intact(line) and json_line(record)[-LENGTH:] != MARK % int(checksum, 16):
        raise ValueError(f"the checksum is not {checksum}")
    return record


def to_record(scores: Scores, evaluation: Evaluation) -> dict[str, Any]:
    """The contents of Scores, except for those that all runs of an evaluation share.

    The queries are omitted if they are all judged queries, and the queries without results if they
    are those without values.
    """
    means: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for (own, names), column, summary in zip(
        evaluation.columns, scores.value_columns, scores.summaries, strict=True
    ):
        for place, name in enumerate(names):
            if place < len(summary) and isinstance(summary[place], float):
                means[name] = _written(summary[place])
            if isinstance(column, list):
                values[name] = [decoded(text) for text in column]
            elif column is not None:
                values[name] = _all_written(column[place :: own.width].tolist())
    coverage, queries = scores.coverage, list(scores.query_ids)
    record: dict[str, Any] = {
        "tag": scores.tag,
        "counts": {name: int(count) for name, count in scores.counts.items()},
        "mean": means,
        "values": values,
    }
    if queries != evaluation.judged:
        record["queries"] = list(map(decoded, queries))
    missing = coverage.missing()
    if missing != evaluation.without(queries):
        record["missing"] = list(map(decoded, missing))
    if scores.zero_rows:
        record["zero_rows"] = scores.zero_rows
    if coverage.unknown is None or coverage.unknown:
        record["unjudged"] = coverage.unknown and list(map(decoded, coverage.unknown))
    return record


def to_scores(record: dict[str, Any], evaluation: Evaluation) -> Scores:
    """The Scores of which a record was made.

    Raises KeyError, TypeError, ValueError, AttributeError or IndexError for a damaged one.
    """
    known = evaluation.judged if "queries" not in record else _encoded(record["queries"])
    missing = record.get("missing")
    if missing is None and len(known) == len(evaluation.judged):
        found: Any = evaluation.places
    else:
        absent = evaluation.without(known) if missing is None else _encoded(missing)
        found = evaluation.places_without(absent)
    tag = record["tag"].encode("utf-8", "surrogateescape")
    columns, summaries = [], []
    means, values = record["mean"], record["values"]
    for own, names in evaluation.columns:
        columns.append(_column(own, names, values, len(known)))
        if own.measure.needs == "run":
            summaries.append([tag])
        elif own.measure.average == "":
            summaries.append([])
        else:
            summaries.append([_read(means[name]) for name in names[: len(own.names)]])
    unjudged = record.get("unjudged", ())
    return Scores(
        bound=evaluation.bound,
        counts=dict(record["counts"]),
        coverage=Coverage(
            complete=evaluation.complete,
            judged=evaluation.judged,
            found=found,
            unknown=unjudged if unjudged is None else _encoded(unjudged),
            positive=evaluation.positive,
        ),
        tag_bytes=tag,
        zscored=False,
        query_ids=known,
        value_columns=columns,
        zero_rows=list(record.get("zero_rows", ())),
        summaries=summaries,
    )


def _column(bound: BoundMeasure, names: list[str], values: dict[str, Any], count: int) -> Any:
    """The values of a measure: memory, or a list of texts; None if there are none."""
    if not bound.measure.kernel:
        return None
    if bound.measure.average == "":
        texts = _encoded(values[names[0]])
        _check(len(texts), count)
        return texts
    if bound.width == 1:
        column = _numbers(values[names[0]])
        _check(len(column), count)
        return memoryview(column)
    joined = array("d", bytes(8 * bound.width * count))
    for place, name in enumerate(names):
        joined[place :: bound.width] = _numbers(values[name])
    return memoryview(joined)


def _check(found: int, expected: int) -> None:
    if found != expected:
        raise ValueError(f"expected {expected} values, found {found}")


def _numbers(values: list[Any]) -> array[float]:
    try:
        return array("d", values)
    except TypeError:
        return array("d", map(_read, values))


def _all_written(values: list[float]) -> list[Any]:
    # The sum of numbers that JSON has is not NaN, and infinite only if they are huge.
    return values if math.isfinite(sum(values)) else list(map(_written, values))


def _written(value: float) -> Any:
    """A number for JSON: null is NaN, which may have a sign; infinity is a text."""
    if math.isfinite(value):
        return value
    if math.isnan(value) and math.copysign(1.0, value) > 0:
        return None
    return "-nan" if math.isnan(value) else repr(value)


def _read(value: Any) -> float:
    return math.nan if value is None else float(value)


def _encoded(texts: list[str]) -> list[bytes]:
    return [text.encode("utf-8", "surrogateescape") for text in texts]
