"""What a store says of a run and its evaluation, from which the same Scores are made again."""

from __future__ import annotations

import json
import math
import zlib
from array import array
from hashlib import sha256
from importlib import import_module

from fastrank.data.texts import decoded
from fastrank.errors import FastrankError, InputError
from fastrank.formats.digests import exclusions_digest
from fastrank.judging.keywords import EVALUATION, evaluation_options
from fastrank.judging.options import bind_measures
from fastrank.scores.scores import Scores
from fastrank.scores.summary import Coverage
from fastrank.scores.tables import distinct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from fastrank.measures.selection import BoundMeasure

# The schema of the lines; its number increases when older versions cannot read them any more.
SCHEMA = "fastrank.scores/1"
DEFAULTS = {one.name: one.default for one in EVALUATION} | {"relevance_format": "qrels"}

# The bytes after those that a checksum is of.
MARK = b',"crc":"%08x"}'
LENGTH = len(MARK % 0)


def settings_of(
    qrels: str, digest: str, measures: Sequence[str], options: Mapping[str, Any]
) -> dict[str, Any]:
    """What a store says of an evaluation.

    qrels, digest: the file and the digest of the judgments. measures: as requested. options: all
    those of `evaluate`, and relevance_format; the default ones are omitted.
    """
    given = {**options, "exclude": exclusions_digest(options["exclude"])}
    version = given.pop("trec_eval_version")
    return {
        "qrels": {"file": qrels, "digest": digest},
        "measures": list(measures),
        "options": {name: value for name, value in given.items() if value != DEFAULTS[name]},
        # By name: an import statement would break the order of the packages.
        "fastrank": import_module("fastrank").__version__,
        "compat": version,
    }


def group_of(settings: Mapping[str, Any], bound: list[BoundMeasure]) -> str:
    """A digest of all that determines the values; a version of fastrank may correct some."""
    measures = [[[*map(decoded, own.names)], list(own.numbers), own.pairs] for own in bound]
    known = [
        settings[name] if name != "qrels" else settings[name]["digest"]
        for name in ("qrels", "options", "fastrank", "compat")
    ]
    text = json.dumps([SCHEMA, known, measures], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def measures_of(record: Mapping[str, Any], source: str) -> list[BoundMeasure]:
    """The measures of a line.

    Raises InputError for measures or options that this version lacks.
    """
    given = record["options"] | {"trec_eval_version": record["compat"], "exclude": None}
    try:
        return bind_measures(record["measures"], evaluation_options(given))
    except (FastrankError, TypeError) as error:
        reason = f"written by fastrank {record['fastrank']}, and not understood: {error}"
        raise InputError(source, reason) from None


def _columns(bound: list[BoundMeasure]) -> list[tuple[BoundMeasure, list[str]]]:
    """Each measure, with a name for each of its numbers per query."""
    names = []
    for own in bound:
        printed = [decoded(name) for name in own.names]
        # Some measures also keep numbers that only their summary needs.
        names += printed + [f"{printed[0]}.{j}" for j in range(len(printed), own.width)]
    unique = iter(distinct(names))
    return [(own, [next(unique) for _ in range(max(own.width, len(own.names)))]) for own in bound]


def json_line(record: dict[str, Any]) -> bytes:
    """Compact JSON that ends with a checksum; numbers that JSON does not have must be texts."""
    line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()[:-1]
    return line + MARK % zlib.crc32(line)


def is_intact(line: bytes) -> bool:
    """Whether a line of `json_line` still has its checksum."""
    return line[-LENGTH:] == MARK % zlib.crc32(memoryview(line)[:-LENGTH])


def to_record(scores: Scores) -> dict[str, Any]:
    """The contents of Scores.

    The queries are omitted if they are all judged queries.
    """
    means: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for (own, names), column, summary in zip(
        _columns(scores.bound), scores.value_columns, scores.summaries, strict=True
    ):
        for place, name in enumerate(names):
            if place < len(summary) and isinstance(summary[place], float):
                means[name] = _written(summary[place])
            if isinstance(column, list):
                values[name] = [decoded(text) for text in column]
            elif column is not None:
                numbers = column[place :: own.width].tolist()
                # The sum of numbers that JSON has is not NaN, and infinite only if they are huge.
                is_json = math.isfinite(sum(numbers))
                values[name] = numbers if is_json else list(map(_written, numbers))
    coverage, queries = scores.coverage, list(scores.query_ids)
    judged, missing = sorted(coverage.judged), coverage.missing()
    record: dict[str, Any] = {
        "tag": scores.tag,
        "counts": {name: int(count) for name, count in scores.counts.items()},
        "mean": means,
        "values": values,
        "judged": list(map(decoded, judged)),
    }
    if queries != judged:
        record["queries"] = list(map(decoded, queries))
    if missing:
        record["missing"] = list(map(decoded, missing))
    if scores.zero_rows:
        record["zero_rows"] = scores.zero_rows
    if coverage.unknown is None or coverage.unknown:
        record["unjudged"] = coverage.unknown and list(map(decoded, coverage.unknown))
    if coverage.positive is not None:
        positive = dict(zip(coverage.judged, coverage.positive, strict=True))
        record["positive"] = [positive[query] for query in judged]
    return record


def to_scores(record: dict[str, Any], measures: list[BoundMeasure]) -> Scores:
    """The Scores of which a record was made."""
    judged = _encoded(record["judged"])
    known = _encoded(record["queries"]) if "queries" in record else judged
    missing = set(_encoded(record.get("missing", ())))
    tag = record["tag"].encode("utf-8", "surrogateescape")
    columns, summaries = [], []
    means, values = record["mean"], record["values"]
    for own, names in _columns(measures):
        columns.append(_column(own, names, values, len(known)))
        if own.measure.needs == "run":
            summaries.append([tag])
        elif own.measure.average == "":
            summaries.append([])
        else:
            summaries.append([_read(means[name]) for name in names[: len(own.names)]])
    unjudged = record.get("unjudged", ())
    return Scores(
        bound=measures,
        counts=dict(record["counts"]),
        coverage=Coverage(
            complete=record["options"].get("missing") == "zero",
            judged=judged,
            found=[place for place, query in enumerate(judged) if query not in missing],
            unknown=unjudged if unjudged is None else _encoded(unjudged),
            positive=record.get("positive"),
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
        return _encoded(values[names[0]])
    column = array("d", bytes(8 * bound.width * count))
    for place, name in enumerate(names):
        column[place :: bound.width] = _numbers(values[name])
    return memoryview(column)


def _numbers(values: list[Any]) -> array[float]:
    try:
        return array("d", values)
    except TypeError:
        return array("d", map(_read, values))


def _written(value: float) -> Any:
    """A number for JSON: null is NaN, which may have a sign; infinity is a text."""
    if math.isfinite(value):
        return value
    if math.isnan(value) and math.copysign(1.0, value) > 0:
        return None
    return "-nan" if math.isnan(value) else repr(value)


def _read(value: Any) -> float:
    return math.nan if value is None else float(value)


def _encoded(texts: Iterable[str]) -> list[bytes]:
    """The bytes of texts that `decoded` has made."""
    return [text.encode("utf-8", "surrogateescape") for text in texts]
