"""Scores as columns, one for each printed name: all tables and lines are made from these."""

from __future__ import annotations

import os

from fastrank.common.c_numbers import printed
from fastrank.core.data.columns import Frozen, as_array
from fastrank.core.data.texts import decoded
from fastrank.core.results.result import Result
from fastrank.core.scores.summary import OVER_VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import numpy.typing as npt
    import pandas
    import polars

    from fastrank.core.data.texts import Ids
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.scores.summary import Coverage


# How trec_eval prints the name of a value, a count, and any other number.
LABEL, COUNT, REAL = b"%-22b\t", b"%d", b"%6.4f"
_COUNT_LINE, _REAL_LINE, _TEXT_LINE, _QUOTED_LINE = (
    LABEL + b"%b\t" + value + b"\n" for value in (COUNT, REAL, b"%b", b"'%b'")
)


class Column:
    """The values under one printed name.

    name, printed: the name as requested, as str and as bytes. canonical: its canonical spelling.
    better: which values are better: "higher", "lower", or "" for neither.
    average: how the values are summarized over queries, as in `Measure`.
    asked_at: sort key, the position at which it was requested.
    kind: "text", "count" (whole numbers), "zscore" or "real".
    values: the array of which every `width`-th value, starting with `index`, belongs to the column;
        a list of bytes for texts; None if there are no values per query.
    summary: the value over all queries, bytes for the run's tag; None if there is none.
    """

    __slots__ = (
        "asked_at",
        "average",
        "better",
        "canonical",
        "index",
        "kind",
        "name",
        "printed",
        "summary",
        "values",
        "width",
    )

    def __init__(
        self, bound: BoundMeasure, index: int, kind: str, values: Any, summary: Any
    ) -> None:
        self.printed, self.index, self.width = bound.names[index], index, bound.width
        self.name, self.canonical = decoded(self.printed), decoded(bound.canonical[index])
        self.better, self.average = bound.measure.better, bound.measure.average
        self.asked_at = bound.places[index] if bound.places else 0
        self.kind, self.values, self.summary = kind, values, summary

    @property
    def mean(self) -> float | None:
        """The summary, None for text."""
        return None if self.kind == "text" else self.summary

    def to_list(self) -> list[Any]:
        """The values per query: str for text, else float."""
        if self.kind == "text":
            return [decoded(text) for text in self.values]
        numbers: list[float] = self.values[self.index :: self.width].tolist()
        return numbers

    def to_array(self) -> npt.NDArray[Any]:
        """The values per query: an array of str, or a read-only view of float64."""
        import numpy

        if self.kind == "text":
            return numpy.array(self.to_list())
        return as_array(self.values).reshape(-1, self.width)[:, self.index]

    def presented(self, value: Any) -> Any:
        """A value for tables and JSON: text as str, counts as int, others as float.

        Counts that are not whole numbers, such as sums that contain NaN, stay float.
        """
        if self.kind == "count":
            return int(value) if value.is_integer() else value
        return decoded(value) if isinstance(value, bytes) else value


def name_in(columns: Iterable[Column], name: str) -> str | None:
    """The name of the column of a measure given in any spelling; None if there is none."""
    # Imported late: most names match exactly.
    from fastrank.core.measures.notation import canonical_names

    canonical = canonical_names(name)
    return next((column.name for column in columns if canonical == [column.canonical]), None)


class Means(dict[str, float]):
    """The summary of each measure by name; other spellings of a name work, too.

    >>> fr.evaluate({"q": {"d": 1}}, {"q": {"d": 0.5}}, "MRR@10").mean["RR@10"]
    1.0
    """

    def __init__(self, columns: Iterable[Column]) -> None:
        self._columns = list(columns)
        super().__init__(
            (column.name, column.mean) for column in self._columns if column.mean is not None
        )

    def __missing__(self, name: str) -> float:
        known_name = name_in(self._columns, name)
        if known_name is None or known_name not in self:
            raise unknown(name, [*self], "the means")
        return self[known_name]

    def __reduce__(self) -> tuple[object, ...]:
        return dict, (dict(self),)


def unknown(name: object, names: list[str], values: str) -> KeyError:
    """The error for a measure that is not among some values."""
    from fastrank.core.measures.suggestions import evaluated_name

    hint = evaluated_name(str(name), names)
    return KeyError(f"{name!r} is not among {values}: {', '.join(names)}{hint}")


class QueryValues(Result, Frozen):
    """Values per query by the names of measures, as a mapping: Scores, or their differences."""

    @property
    def names(self) -> list[str]:
        """The names of the values per query."""
        raise NotImplementedError

    def _for_frames(self) -> tuple[Ids, dict[str, Any]]:
        """The ids of the queries; and the values by name, numbers as arrays, text as lists."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The values of a measure. Raises KeyError for a name without values per query."""
        raise NotImplementedError

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def keys(self) -> list[str]:
        """The names of the values per query, so that `dict(scores)` has an array for each.

        >>> scores.keys(), dict(scores)["map"].shape
        (['map'], (200,))
        """
        return self.names

    def values(self) -> list[npt.NDArray[Any]]:
        """The arrays of values per query, in the order of `names`.

        >>> [array.shape for array in scores.values()]
        [(200,)]
        """
        return [self[name] for name in self.names]

    def items(self) -> list[tuple[str, npt.NDArray[Any]]]:
        """(name, values per query) of each measure.

        >>> [(name, array.max().item()) for name, array in scores.items()]
        [('map', 0.63...)]
        """
        return [(name, self[name]) for name in self.names]

    def get(self, name: str, default: Any = None) -> Any:
        """The values of a measure in any spelling, or the default if it has none per query.

        >>> scores.get("bpref", "not evaluated")
        'not evaluated'
        """
        try:
            return self[name]
        except KeyError:
            return default

    def to_pandas(self, *, wide: bool = False) -> pandas.DataFrame:
        """The values per query as a frame with the columns query, measure and value (float64).

        wide: one row per query instead, with a column per measure; only this form includes
            `relstring`, which is text.

        Raises ImportError without pandas, FastrankError for an id that is not UTF-8.

        >>> scores.to_pandas().head(2)
           query measure     value
        0  q0000     map  0.632911
        1  q0001     map  0.554385
        """
        from fastrank.core.scores.frames import to_frame

        frame: pandas.DataFrame = to_frame("pandas", *self._for_frames(), wide=wide)
        return frame

    def to_polars(self, *, wide: bool = False) -> polars.DataFrame:
        """Like `to_pandas`, but a polars frame. Raises ImportError without polars.

        >>> scores.to_polars(wide=True).columns
        ['query', 'map']
        """
        from fastrank.core.scores.frames import to_frame

        frame: polars.DataFrame = to_frame("polars", *self._for_frames(), wide=wide)
        return frame


class Evaluated(QueryValues):
    """The values of measures that an evaluation computed; see `Scores`."""

    internal = Frozen.internal | {
        "bound",
        "coverage",
        "given_name",
        "query_ids",
        "summaries",
        "tag_bytes",
        "ties",
        "value_columns",
        "whole",
        "zero_rows",
        "zscored",
    }

    bound: list[BoundMeasure]
    counts: dict[str, int]
    coverage: Coverage
    # The name of the run's file, or its key in {name: run}.
    given_name: str = ""
    tag_bytes: bytes
    zscored: bool
    query_ids: Ids
    value_columns: list[Any]
    # The rows of judged queries without results, which count as 0 (missing="zero").
    zero_rows: list[int]
    summaries: list[Any]
    # `evaluation.ties.Ties` or None: the ranges of the means over the orders of tied documents,
    # computed only when they are asked for.
    ties: Any = None

    @property
    def name(self) -> str:
        """The run's name, empty if it has none.

        It is the key of {name: run}; for a file, its name without the suffixes of formats and
        compression (`pixels` for pixels.run.gz); else the tag.
        """
        return self.given_name or self.tag

    @property
    def tag(self) -> str:
        """The run's tag, as trec_eval prints it as `runid`; empty if it has none."""
        return decoded(self.tag_bytes)

    @property
    def queries(self) -> list[str]:
        """Ids of the queries with values, in byte order.

        Queries without results are included if they count as 0 (missing="zero").
        """
        return [decoded(query) for query in self.query_ids]

    @property
    def missing_queries(self) -> list[str]:
        """Ids of the judged queries without results, in byte order."""
        return [decoded(query) for query in self.coverage.missing()]

    @property
    def unjudged_queries(self) -> list[str]:
        """Ids of the run's queries without judgments, in byte order."""
        return [decoded(query) for query in self.coverage.unknown or ()]

    @property
    def names(self) -> list[str]:
        """The printed names of the values per query, such as `map` and `P_10`."""
        return [column.name for column in self._per_query()]

    @property
    def mean(self) -> dict[str, float]:
        """The values over all queries by printed name, as trec_eval prints them for `all`.

        These are means for most measures, sums for counts (num_ret, ...), and geometric means for
        gm_map and gm_bpref. `runid` is not among them, because all values are numbers; it is `tag`.

        Warns where `print(scores)` has a note that queries are left out, or that the order of tied
        documents decides the means.
        """
        if (
            self.ties is not None
            or self.counts.get("missing_queries")
            or any(bound.measure.average in OVER_VALUES for bound in self.bound)
        ):
            # Imported late: most runs have none of these.
            from fastrank.core.scores.text import warn_of_mean

            warn_of_mean(self)
        return Means(columns_by_name(self).values())

    @property
    def whole(self) -> set[str]:
        """The printed names of the counts, whose values are whole numbers; empty for z-scores."""
        return {column.name for column in columns_of(self) if column.kind == "count"}

    def lists(self) -> dict[str, list[Any]]:
        """{printed name: values per query}, each a list in the order of `queries`.

        >>> scores.lists()["map"][:2]
        [0.6329113924050633, 0.5543848694477524]
        """
        return {column.name: column.to_list() for column in self._per_query()}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The values of one measure, float64[queries] in the order of `queries`.

        name: its printed name or another spelling: `RR@10` also finds `MRR@10`.

        For `relstring` the array holds strings. Raises KeyError for a name without values per
        query.
        """
        columns = columns_by_name(self)
        column = columns.get(name) or columns.get(name_in(columns.values(), name) or "")
        if column is None or column.values is None:
            raise unknown(name, self.names, "the values per query")
        return column.to_array()

    def _per_query(self) -> list[Column]:
        """The columns that have values per query."""
        columns = columns_by_name(self).values()
        return [column for column in columns if column.values is not None]

    def _for_frames(self) -> tuple[Ids, dict[str, Any]]:
        return self.query_ids, {
            column.name: column.to_list() if column.kind == "text" else column.to_array()
            for column in self._per_query()
        }


def columns_of(scores: Evaluated) -> Iterator[Column]:
    """The columns in printed order; names may repeat."""
    for bound, values, summaries in zip(
        scores.bound, scores.value_columns, scores.summaries, strict=True
    ):
        average = bound.measure.average
        # The values per query exist only as logarithms.
        values = None if average == "geometric" else values
        kind = "real"
        if average == "":
            kind = "text"
        elif scores.zscored:
            kind = "zscore"
        elif average == "sum":
            kind = "count"
        for index in range(len(bound.names)):
            summary = summaries[index] if summaries else None
            yield Column(bound, index, kind, values, summary)


def columns_by_name(scores: Evaluated) -> dict[str, Column]:
    """The columns by name, in the requested order; the first one if names repeat."""
    by_name: dict[str, Column] = {}
    for column in columns_of(scores):
        by_name.setdefault(column.name, column)
    return dict(sorted(by_name.items(), key=lambda item: item[1].asked_at))


def presented_means(scores: Evaluated) -> dict[str, int | float]:
    """The means by name, counts as integers."""
    columns = columns_by_name(scores).values()
    return {
        column.name: column.presented(column.mean) for column in columns if column.mean is not None
    }


def walk(
    columns: Iterable[Column], queries: int, *, summary: bool
) -> Iterator[tuple[Column, int | None, Any]]:
    """All values as (column, index of the query, value), query by query.

    The summary, if requested, comes last, with index None. queries: the number of queries, 0 for
    the summary only.
    """
    columns = list(columns)
    per_query = [
        (column, column.values, column.width, column.index)
        for column in columns
        if column.values is not None
    ]
    for row in range(queries):
        for column, values, width, index in per_query:
            yield column, row, values[row * width + index]
    if summary:
        for column in columns:
            if column.summary is not None:
                yield column, None, column.summary


def trec_lines(
    scores: Evaluated, *, per_query: bool, summary: bool, zero_rows: bool = True
) -> Iterator[bytes]:
    """The lines that trec_eval prints: optionally queries (-q), then the summary (without -n).

    zero_rows: include queries without results that count as 0, which trec_eval omits.

    Layout: the name padded to 22 characters, TAB, query or `all`, TAB, value; counts as
    integers, other values with four decimals, z-scores with a leading Z and four decimals.
    """
    queries = list(scores.query_ids) if per_query else []
    joined = b"".join(queries)
    if b"\n" in joined or b"\r" in joined or b"\t" in joined:
        # Ids of dicts and tables, which would begin another line or field.
        from fastrank.common.messages import visible

        queries = [os.fsencode(visible(os.fsdecode(query))) for query in queries]
    unprinted = set() if zero_rows else set(scores.zero_rows)
    for column, row, value in walk(columns_of(scores), len(queries), summary=summary):
        if row in unprinted:
            continue
        yield _trec_line(column, b"all" if row is None else queries[row], value, row is None)


def _trec_line(column: Column, query: bytes, value: Any, is_summary: bool) -> bytes:
    name = column.printed
    if column.kind == "count" and not value % 1:
        return _COUNT_LINE % (name, query, value)
    if column.kind == "text":
        return (_TEXT_LINE if is_summary else _QUOTED_LINE) % (name, query, value)
    mark = b"Z" if column.kind == "zscore" else b""
    if value != value:
        return mark + _TEXT_LINE % (name, query, printed("%6.4f", value).encode())
    return mark + _REAL_LINE % (name, query, value)
