"""The file of a baseline: what was measured, on what, how, and the value of each query."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from typing import NamedTuple

from fastrank.core.formats.endings import check_suffix
from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import BYTE_ORDER_MARK
from fastrank.core.formats.tables.sniff import read_text
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from fastrank.core.formats.files.files import Source

SCHEMA = "fastrank.baseline/1"
# The most by which a mean may differ from that of the values per query. All platforms give the same
# sum; edited files do not.
ROUNDING = 1e-9
NO_BASELINE = "not a baseline; write one with `fastrank gate save`"


class Baseline(NamedTuple):
    """The values of a run, and how they came about.

    created: time in UTC. fastrank, compat: the versions of fastrank and trec_eval. options: of the
    evaluation. qrels: name, digest and number of queries. run: name, SHA-256 of the file, tag, and
    the judged queries without results. source: commit, whether it is dirty, and the command, as
    far as they are known. measures: their names. mean: {measure: mean over the queries}. counts:
    as of `Scores`. per_query: {query: values of the measures}, None for a missing value.
    """

    created: str
    fastrank: str
    compat: str
    options: dict[str, object]
    qrels: dict[str, object]
    run: dict[str, Any]
    source: dict[str, object]
    measures: list[str]
    mean: dict[str, float]
    counts: dict[str, int]
    per_query: dict[str, list[float | None]]

    def write(self, path: Source) -> None:
        """Write canonical JSON atomically: sorted keys, and a line for each query.

        Compressed if the name ends in .gz, .bz2, .xz or .zst. The same content gives the same
        bytes. Raises OptionError for a path with the suffix of another format, such as .csv.
        """
        check_suffix("path", path, "baseline")
        files.write_compressed(path, self.lines())

    def lines(self) -> Iterator[bytes]:
        """The lines of the file."""
        fields = sorted((self._asdict() | {"schema": SCHEMA}).items())
        for i, (name, value) in enumerate(fields):
            end = b",\n" if i + 1 < len(fields) else b"\n"
            start = b"{\n" if i == 0 else b""
            if name == "per_query":
                rows = ",\n".join(
                    f"{_json(query)}: {_json(value[query])}" for query in sorted(value)
                )
                yield start + f'"{name}": {{\n{rows}\n}}'.encode() + end
            else:
                yield start + f'"{name}": {_json(value)}'.encode() + end
        yield b"}\n"


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)


def read_baseline(source: Source) -> Baseline:
    """Read a baseline. Raises ReadError, and InputError for a damaged file or a newer format."""
    name = files.name_of(source)
    content = read_text(source).removeprefix(BYTE_ORDER_MARK)
    if not content.startswith(b"{"):
        raise InputError(name, NO_BASELINE)
    try:
        record = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _damaged(name, f"it is not JSON: {error}") from None
    schema = record.get("schema") if isinstance(record, dict) else None
    if not isinstance(schema, str) or not re.fullmatch(r"fastrank\.baseline/\d+", schema):
        raise InputError(name, NO_BASELINE)
    if schema != SCHEMA:
        raise InputError(name, f"{schema} is newer than this version of fastrank; upgrade it")
    del record["schema"]
    wrong = sorted(record.keys() ^ set(Baseline._fields))
    if wrong:
        raise _damaged(name, f"missing or unknown: {', '.join(wrong)}")
    for kind, fields in _KINDS.items():
        for field in fields:
            if not isinstance(record[field], kind):
                raise _damaged(name, f"{field}: expected {kind.__name__}")
    baseline = Baseline(**record)
    _check(baseline, name)
    return baseline


_KINDS: dict[type, tuple[str, ...]] = {
    dict: ("counts", "mean", "options", "per_query", "qrels", "run", "source"),
    list: ("measures",),
    str: ("compat", "created", "fastrank"),
}


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _damaged(name: str, reason: str) -> InputError:
    return InputError(name, f"damaged baseline: {reason}; restore it, or save it again")


def _check(baseline: Baseline, name: str) -> None:
    """Raise InputError for contents that `save_baseline` would not write."""
    measures = baseline.measures
    if not measures or not all(isinstance(measure, str) for measure in measures):
        raise _damaged(name, "measures: expected names")
    if not isinstance(baseline.qrels.get("digest"), str):
        raise _damaged(name, "qrels: expected a digest")
    missing = baseline.run.get("missing")
    if not isinstance(missing, list) or not all(isinstance(query, str) for query in missing):
        raise _damaged(name, "run: expected a list of missing queries")
    if not baseline.per_query:
        raise _damaged(name, "per_query: expected at least one query")
    for query, values in baseline.per_query.items():
        if not isinstance(values, list) or len(values) != len(measures):
            raise _damaged(name, f"query {query!r}: expected {len(measures)} values")
        if not all(value is None or _is_number(value) for value in values):
            raise _damaged(name, f"query {query!r}: expected numbers, found {values}")
    means = means_of(measures, baseline.per_query)
    for measure in measures:
        mean: Any = baseline.mean.get(measure)
        expected = means[measure]
        if not _is_number(mean) or not abs(mean - expected) <= ROUNDING * max(1.0, abs(expected)):
            raise _damaged(name, f"the mean of {measure} is {mean}, that of its values {expected}")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def means_of(measures: list[str], per_query: dict[str, list[float | None]]) -> dict[str, float]:
    """The mean of each measure over the queries that have a value; NaN if none has.

    Added in the order of the queries, as `evaluate` does.
    """
    import numpy

    rows = [per_query[query] for query in sorted(per_query, key=os.fsencode)]
    means = {}
    for measure, column in zip(measures, zip(*rows, strict=True), strict=True):
        values = [value for value in column if value is not None]
        means[measure] = float(numpy.cumsum(values)[-1]) / len(values) if values else math.nan
    return means
