"""Judgments and runs from and to pandas, polars, Arrow, arrays, tuples and ir_datasets.

The `from_*` and `to_*` methods of Qrels and Run call the functions here (see fastrank/lazy.py).
"""

from __future__ import annotations

from fastrank.data.qrels import Qrels
from fastrank.data.texts import Texts, gather_texts
from fastrank.errors import InputError, ReadError
from fastrank.formats.arrow import (
    NULL,
    arrow_table,
    columns_of,
    numbers_of_arrow,
    texts_of_arrow,
    to_arrow,
)
from fastrank.formats.dicts import qrels_from_dict as qrels_from_dict
from fastrank.formats.dicts import query_to_dict as query_to_dict
from fastrank.formats.dicts import run_from_dict as run_from_dict
from fastrank.formats.dicts import to_dict as to_dict
from fastrank.formats.inputs import is_row
from fastrank.formats.tables import Table, qrels_of, run_of
from fastrank.formats.values import texts_of
from fastrank.lazy import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.data.run import Run
    from fastrank.formats.values import Fail


def pandas_table(frame: Any) -> Table:
    """A pandas DataFrame as a table; its index is ignored."""
    _expect(frame, "pandas", "DataFrame")
    return Table(
        "<pandas.DataFrame>", frame.columns, [series for _, series in frame.items()],
        method="from_pandas", to_texts=_texts_of_series, to_numbers=_numbers_of_series,
    )  # fmt: skip


def _numbers_of_series(series: Any, fail: Fail) -> Any:
    if hasattr(series, "cat"):
        series = series.astype(series.cat.categories.dtype)
    column = _arrow_of(series)
    return _numpy_of(series, fail) if column is None else numbers_of_arrow(column, fail)


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


def polars_table(frame: Any) -> Table:
    """A polars DataFrame as a table."""
    _expect(frame, "polars", "DataFrame")
    return Table(
        "<polars.DataFrame>", frame.columns, frame.get_columns(),
        method="from_polars", to_texts=_texts_of_polars, to_numbers=_values_of_polars,
    )  # fmt: skip


def _texts_of_polars(series: Any, fail: Fail) -> Texts:
    import polars

    if series.dtype in (polars.Categorical, polars.Enum):
        series = series.cast(polars.String)
    if series.dtype == polars.String and has_pyarrow():
        return texts_of_arrow(series.to_arrow(), fail)
    return texts_of(_values_of_polars(series, fail), fail)


def _values_of_polars(series: Any, fail: Fail) -> Any:
    """A polars series as a numpy array of numbers, or as a list of objects."""
    if series.null_count():
        fail(int(series.is_null().arg_max()), f"found {NULL}")
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
    columns = {"query_id": numpy.repeat(names, numpy.diff(noun.offsets)).tolist()}
    for name, values in columns_of(noun).items():
        if isinstance(values, Texts):
            columns[name] = values.decoded()
        else:
            columns[name] = [values] * len(noun.docs) if isinstance(values, str) else values.copy()
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


ARRAYS = "<arrays>"
PLURALS = {
    "query": "queries", "doc": "docs", "grade": "grades", "score": "scores",
    "iteration": "subtopics",
}  # fmt: skip


def table_of_arrays(columns: dict[str, Any]) -> Table:
    """A table of columns of equal length, named by role."""
    given = {role: _column(role, values) for role, values in columns.items()}
    sizes = {role: len(values) for role, values in given.items()}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{size} {PLURALS[role]}" for role, size in sizes.items())
        raise InputError(ARRAYS, f"expected one query, document and number per row, found {found}")
    return Table(ARRAYS, given, list(given.values()))


def _column(role: str, values: Any) -> Any:
    if hasattr(values, "to_numpy"):
        # A pandas or polars series, or an Arrow array, whose strings are only available as a list.
        # Missing values become None or NaN.
        values = values.to_pylist() if hasattr(values, "to_pylist") else values.to_numpy()
    if hasattr(values, "detach"):
        # numpy has no bfloat16.
        values = values.detach().cpu()
        values = (values.double() if values.is_floating_point() else values).numpy()
    if hasattr(values, "ndim"):
        if values.ndim != 1:
            shape = "x".join(map(str, values.shape))
            raise InputError(ARRAYS, f"{PLURALS[role]}: expected one dimension, found {shape}")
        if getattr(values, "mask", False) is not False and values.mask.any():
            row = int(values.mask.argmax())
            raise InputError(ARRAYS, f"{PLURALS[role]}: the value in row {row} (from 0) is masked")
        return values
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        found = type(values).__name__
        raise InputError(ARRAYS, f"{PLURALS[role]}: expected an array or a list, found {found}")
    return list(values)


TUPLES = "<tuples>"
PLAIN_FIELDS = {
    "qrels": ("query_id", "doc_id", "relevance"),
    "run": ("query_id", "doc_id", "score"),
}


def table_of_tuples(given: Any, kind: str) -> Table | None:
    """A table of tuples of one type, from any iterable; kind: qrels or run.

    Columns are named like the fields; plain tuples are (query, document, number). None if they are
    not tuples of these kinds. Raises InputError, which names the row.
    """
    rows = given if isinstance(given, (list, tuple)) else list(given)
    if not rows or not is_row(rows[0]):
        return None
    names = getattr(rows[0], "_fields", None)
    for place, row in enumerate(rows):
        if not is_row(row) or getattr(row, "_fields", None) != names:
            found, first = type(row).__name__, type(rows[0]).__name__
            expected = first if names else "a tuple (query, document, number)"
            reason = f"row {place} (from 0): expected {expected}, as before, found {found}"
            raise InputError(TUPLES, reason)
        if names is None and (len(row) != 3 or not hasattr(row[2], "__float__")):
            reason = f"row {place} (from 0): expected (query, document, number), found {row!r:.80}"
            raise InputError(TUPLES, reason)
    columns = [list(column) for column in zip(*rows, strict=True)]
    return Table(TUPLES, names or PLAIN_FIELDS[kind], columns, method="")


PREFIX = "irds:"


def dataset_table(source: str) -> Table:
    """The judgments of a dataset as they are.

    Raises ReadError for an unknown dataset or a failed download, InputError for one without
    judgments, and ImportError without ir_datasets.
    """
    try:
        import ir_datasets
    except ModuleNotFoundError as error:
        needed = "ir_datasets: pip install ir_datasets"
        raise ImportError(f"{source} needs {needed}", name="ir_datasets") from error
    try:
        dataset = ir_datasets.load(source.removeprefix(PREFIX))
    except KeyError:
        raise ReadError(source, "ir_datasets has no dataset with this id") from None
    if not dataset.has_qrels():
        raise InputError(source, "the dataset has no judgments")
    try:
        table = table_of_tuples(dataset.qrels_iter(), "qrels")
    except (OSError, RuntimeError) as error:
        raise ReadError(source, f"ir_datasets cannot provide it: {error}") from error
    if table is None:
        raise InputError(source, "the dataset has no judgments")
    table.source = source
    return table


TABLES: dict[str, Callable[[Any], Table]] = {
    "pandas": pandas_table,
    "polars": polars_table,
    "arrow": arrow_table,
    "arrays": table_of_arrays,
}


def from_table(kind: type, form: str, given: Any, columns: Any, **options: Any) -> Qrels | Run:
    """Judgments or a run, by their class, from a table in one of the forms above."""
    made: Any = qrels_of if issubclass(kind, Qrels) else run_of
    return made(TABLES[form](given), columns, **options)  # type: ignore[no-any-return]
