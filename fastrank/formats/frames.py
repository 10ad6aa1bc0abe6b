"""Convert pandas and polars data frames to judgments and runs, and back."""

from __future__ import annotations

from fastrank.data.columns import as_array
from fastrank.data.texts import Texts, gather_texts
from fastrank.errors import InputError
from fastrank.formats.arrow import (
    NULL,
    numbers_of_arrow,
    says_iterations,
    texts_of_arrow,
    to_arrow,
)
from fastrank.formats.ids import texts_of
from fastrank.formats.tables import Table
from fastrank.lazy import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.formats.ids import Fail


class PandasTable(Table):
    """A pandas DataFrame; its index is ignored."""

    method = "from_pandas"

    def __init__(self, frame: Any) -> None:
        _expect(frame, "pandas", "DataFrame")
        super().__init__("<pandas.DataFrame>", frame.columns, len(frame))
        self._frame = frame

    def texts(self, place: int) -> Texts:
        """A column of ids."""
        return _texts_of_series(self._frame.iloc[:, place], self.failing(place))

    def numbers(self, place: int) -> Any:
        """A column of numbers."""
        series, fail = self._frame.iloc[:, place], self.failing(place)
        if hasattr(series, "cat"):
            series = series.astype(series.cat.categories.dtype)
        column = _arrow_of(series)
        if column is not None:
            return numbers_of_arrow(column, fail)
        return _numpy_of(series, fail)


def _texts_of_series(series: Any, fail: Fail) -> Texts:
    if hasattr(series, "cat"):
        codes = series.cat.codes.to_numpy()
        if (codes < 0).any():
            fail(int((codes < 0).argmax()), f"found {NULL}")
        return gather_texts(_texts_of_series(series.cat.categories.to_series(), fail), codes)
    column = _arrow_of(series)
    if column is not None:
        return texts_of_arrow(column, fail)
    return texts_of(_numpy_of(series, fail), fail)


def _arrow_of(series: Any) -> Any:
    """The Arrow array of the series if pandas stores it in Arrow, else None."""
    dtype = series.dtype
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
        import pyarrow

        return pyarrow.array(series.array)
    return None


def _numpy_of(series: Any, fail: Fail) -> Any:
    """A pandas series as a numpy array of numbers, or as a list of objects."""
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iufb":
        if hasattr(series.array, "_mask") or kind == "f":
            missing = series.isna().to_numpy()
            if missing.any():
                fail(int(missing.argmax()), f"found {NULL}")
        plain = {"i": "int64", "u": "uint64", "f": "float64", "b": "bool"}[kind]
        return series.to_numpy(dtype=plain)
    return series.to_list()


class PolarsTable(Table):
    """A polars DataFrame."""

    method = "from_polars"

    def __init__(self, frame: Any) -> None:
        _expect(frame, "polars", "DataFrame")
        super().__init__("<polars.DataFrame>", frame.columns, frame.height)
        self._frame = frame

    def texts(self, place: int) -> Texts:
        """A column of ids."""
        import polars

        fail, series = self.failing(place), self._series(place)
        if series.dtype in (polars.Categorical, polars.Enum):
            series = series.cast(polars.String)
        if series.dtype == polars.String and has_pyarrow():
            return texts_of_arrow(series.to_arrow(), fail)
        return texts_of(_values_of(series), fail)

    def numbers(self, place: int) -> Any:
        """A column of numbers."""
        return _values_of(self._series(place))

    def _series(self, place: int) -> Any:
        series = self._frame.to_series(place)
        if series.null_count():
            self.failing(place)(int(series.is_null().arg_max()), f"found {NULL}")
        return series


def _values_of(series: Any) -> Any:
    """A polars series as a numpy array of numbers, or as a list of objects."""
    numeric = series.dtype.is_integer() or series.dtype.is_float()
    # NumPy has no integers of 128 bits.
    if numeric and not str(series.dtype).endswith("128"):
        return series.to_numpy()
    return series.to_list()


def has_pyarrow() -> bool:
    """Whether pyarrow can be imported."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def _expect(frame: Any, library: str, name: str) -> None:
    kind = type(frame)
    if not any(
        base.__module__.partition(".")[0] == library and base.__name__ == name
        for base in kind.__mro__
    ):
        hint = "; collect() it first" if kind.__name__ == "LazyFrame" else ""
        source = f"<{kind.__module__.partition('.')[0]}.{kind.__name__}>"
        raise InputError(source, f"expected a {library} {name}{hint}")


def to_columns(noun: Any) -> dict[str, Any]:
    """The rows as lists of strings and arrays of numbers, by column name."""
    import numpy

    names = numpy.array(noun.query_ids, object)
    columns: dict[str, Any] = {
        "query_id": numpy.repeat(names, numpy.diff(as_array(noun.offset_column))).tolist(),
        "doc_id": noun.doc_ids,
    }
    if hasattr(noun, "grades"):
        columns["relevance"] = noun.grades.copy()
        if says_iterations(noun):
            columns["iteration"] = noun.groups.decoded()
        if noun.strata is not None:
            columns["stratum"] = noun.strata.decoded()
    else:
        columns["score"] = noun.scores.copy()
        if noun.tag:
            columns["tag"] = [noun.tag] * len(noun.docs)
    return columns


def to_pandas(noun: Any) -> Any:
    """Convert to a pandas DataFrame; see Qrels.to_pandas and Run.to_pandas."""
    pandas = optional("pandas", "to_pandas")
    if has_pyarrow():
        try:
            return to_arrow(noun).to_pandas()
        except InputError:
            # Bytes that are not UTF-8, which only Python strings can represent.
            pass
    columns = to_columns(noun)
    for name, values in columns.items():
        if isinstance(values, list):
            # By default pandas might choose Arrow strings.
            columns[name] = pandas.Series(values, dtype=object)
    return pandas.DataFrame(columns)


def to_polars(noun: Any) -> Any:
    """Convert to a polars DataFrame; see Qrels.to_polars and Run.to_polars."""
    polars = optional("polars", "to_polars")
    if has_pyarrow():
        return polars.from_arrow(to_arrow(noun))
    columns = to_columns(noun)
    text = dict.fromkeys(("query_id", "doc_id", "iteration", "stratum", "tag"), polars.String)
    return polars.DataFrame(columns, schema_overrides=text)
