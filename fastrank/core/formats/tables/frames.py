"""Judgments and runs from and to pandas, polars, Arrow, arrays, tuples and ir_datasets.

The `from_*` and `to_*` methods of Qrels and Run call the functions here.
"""

from __future__ import annotations

from numbers import Integral
from operator import itemgetter

from fastrank.common.lazy import optional
from fastrank.core.data.texts import NO_ITERATION, Texts, as_texts, gather_texts, memory_of
from fastrank.core.formats.tables.forms import is_missing, is_row
from fastrank.core.formats.tables.records import table_of_columns
from fastrank.core.formats.tables.roles import is_header, names_of, normalized_name
from fastrank.core.formats.tables.sniff import first_other_than_ranks
from fastrank.core.formats.tables.table import Table, first_empty, stretches_of
from fastrank.core.formats.tables.values import (
    NO_ID,
    floats_of,
    no_id,
    strings_of,
    texts_of,
    texts_of_list,
)
from fastrank.core.native import kernels
from fastrank.core.native.buffers import zeros
from fastrank.errors import InputError, ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from fastrank.core.formats.tables.values import Fail

# Rows of a Dataset at a time.
BATCH = 1 << 16


def pandas_table(frame: Any) -> Table:
    """A pandas DataFrame as a table, of its index only levels that are named as queries are."""
    _expect_frame(frame, "pandas")
    if not is_header(frame.columns):
        ids = {*names_of("query"), *names_of("doc")}
        levels = [name for name in frame.index.names if normalized_name(name) in ids]
        frame = frame.reset_index([name for name in levels if name not in frame.columns])
    return Table(
        "<pandas.DataFrame>",
        frame.columns,
        [series for _, series in frame.items()],
        method="from_pandas",
        to_texts=_texts_of_series,
        to_numbers=_numbers_of_series,
    )


def _numbers_of_series(series: Any, fail: Fail) -> Any:
    if hasattr(series, "cat"):
        series = series.astype(series.cat.categories.dtype)
    column = _arrow_of(series)
    return _numpy_of(series) if column is None else numbers_of_arrow(column, fail)


def _texts_of_series(series: Any, fail: Fail) -> Texts:
    if hasattr(series, "cat"):
        codes = series.cat.codes.to_numpy()
        if (codes < 0).any():
            fail(int((codes < 0).argmax()), NO_ID)
        return gather_texts(_texts_of_series(series.cat.categories.to_series(), fail), codes)
    column = _arrow_of(series)
    if column is not None:
        return texts_of_arrow(column, fail)
    return texts_of(_numpy_of(series), fail)


def _arrow_of(series: Any) -> Any:
    """The Arrow array of the series if pandas stores it in Arrow, else None."""
    dtype = series.dtype
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
        import pyarrow

        return pyarrow.array(series.array)
    return None


def _numpy_of(series: Any) -> Any:
    """A pandas series as a numpy array of numbers, or as a list of objects."""
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iufb" and not (hasattr(series.array, "_mask") and series.hasnans):
        plain = {"i": "int64", "u": "uint64", "f": "float64", "b": "bool"}[kind]
        return series.to_numpy(dtype=plain)
    return series.to_list()


def polars_table(frame: Any) -> Table:
    """A polars DataFrame as a table."""
    if type(frame).__name__ == "LazyFrame" and hasattr(frame, "collect"):
        frame = frame.collect()
    _expect_frame(frame, "polars")
    return Table(
        "<polars.DataFrame>",
        frame.columns,
        frame.get_columns(),
        method="from_polars",
        to_texts=_texts_of_polars,
        to_numbers=_values_of_polars,
    )


def _texts_of_polars(series: Any, fail: Fail) -> Texts:
    import polars

    if series.dtype in (polars.Categorical, polars.Enum):
        series = series.cast(polars.String)
    if series.dtype == polars.String and has_pyarrow():
        return texts_of_arrow(series.to_arrow(), fail)
    return texts_of(_values_of_polars(series, fail), fail)


def _values_of_polars(series: Any, _fail: Fail) -> Any:
    """A polars series as a numpy array of numbers, or as a list of objects."""
    numeric = series.dtype.is_integer() or series.dtype.is_float()
    # NumPy has no integers of 128 bits.
    if numeric and not series.null_count() and not str(series.dtype).endswith("128"):
        return series.to_numpy()
    return series.to_list()


def has_pyarrow() -> bool:
    """Whether pyarrow can be imported."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def _expect_frame(frame: Any, library: str) -> None:
    kind = type(frame)
    bases = [(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__]
    if (library, "DataFrame") not in bases:
        raise InputError(f"<{bases[0][0]}.{kind.__name__}>", f"expected a {library} DataFrame")


def table_of_arrow(
    source: str, names: Iterable[str], columns: Sequence[Any], method: str | None = None
) -> Table:
    """Columns of Arrow as a table."""
    return Table(
        source,
        names,
        columns,
        method=method,
        to_texts=texts_of_arrow,
        to_numbers=numbers_of_arrow,
        to_stretches=_stretches_of_arrow,
    )


def arrow_table(given: Any) -> Table:
    """A table from anything that Arrow can convert."""
    import pyarrow

    source = f"<{type(given).__module__.partition('.')[0]}.{type(given).__name__}>"
    if hasattr(given, "with_format"):
        # A Hugging Face Dataset or IterableDataset, with its rows in order.
        batches = list(given.with_format("arrow").iter(batch_size=BATCH))
        nothing = pyarrow.table({name: [] for name in given.column_names or ()})
        given = pyarrow.concat_tables(batches) if batches else nothing
    if not hasattr(given, "column_names"):
        given = pyarrow.table(given)
    return table_of_arrow(source, given.column_names, given.columns, "from_arrow")


def texts_of_arrow(column: Any, fail: Fail) -> Texts:
    """The texts of a (chunked) array of ids; those of strings stay where they are."""
    import numpy
    import pyarrow

    types = pyarrow.types
    refuse_nulls(column, fail)
    kind = column.type
    if types.is_dictionary(kind):
        if isinstance(column, pyarrow.ChunkedArray):
            column = column.unify_dictionaries().combine_chunks()
        refuse_nulls(column.dictionary, fail)
        words = texts_of_arrow(column.dictionary, fail)
        return gather_texts(words, column.indices.to_numpy(zero_copy_only=False))
    if types.is_integer(kind):
        return texts_of(_numpy_of_arrow(column), fail)
    if types.is_floating(kind) and len(column):
        fail(0, no_id(column[0].as_py()))
    text = any(
        is_kind(kind) for is_kind in (types.is_string, types.is_large_string, types.is_string_view)
    )
    binary = any(
        is_kind(kind) for is_kind in (types.is_binary, types.is_large_binary, types.is_binary_view)
    )
    if not (text or binary):
        return texts_of_list(column.to_pylist(), fail)
    column = column.cast(pyarrow.large_string() if text else pyarrow.large_binary())
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    count = len(column)
    _, bounds, content = column.buffers()
    if not count or bounds is None:
        return Texts(b"", zeros("q", count), zeros("q", count))
    ends = numpy.frombuffer(bounds, "int64")[column.offset : column.offset + count + 1]
    first, stop = int(ends[0]), int(ends[-1])
    buffer = memoryview(content or b"").cast("B")[first:stop]
    starts = ends[:-1] - first if first else ends[:-1]
    return Texts(buffer, memory_of(starts), memory_of(ends[1:] - ends[:-1]))


def _stretches_of_arrow(column: Any, fail: Fail) -> tuple[Texts, Any]:
    """As `stretches_of` its texts, which are not listed if they are numbers of a dictionary."""
    import numpy
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        return stretches_of(texts_of_arrow(column, fail))
    refuse_nulls(column, fail)
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    numbers = column.indices.to_numpy(zero_copy_only=False)
    differs = numpy.ones(len(numbers), bool)
    differs[1:] = numbers[1:] != numbers[:-1]
    firsts = numpy.flatnonzero(differs)
    return texts_of_arrow(column.take(pyarrow.array(firsts)), fail), memory_of(firsts)


def numbers_of_arrow(column: Any, _fail: Fail) -> Any:
    """A column of numbers as a numpy array, or a column of other values as a list."""
    import pyarrow

    if column.null_count:
        return column.to_pylist()
    types = pyarrow.types
    if types.is_boolean(column.type):
        column = column.cast(pyarrow.int8())
    if types.is_integer(column.type) or types.is_floating(column.type):
        return _numpy_of_arrow(column)
    return column.to_pylist()


def refuse_nulls(column: Any, fail: Fail) -> None:
    """Call `fail` for the first row that is null, if any."""
    if column.null_count:
        fail(column.is_null().to_pylist().index(True), NO_ID)


def _numpy_of_arrow(column: Any) -> Any:
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        return column.to_numpy()
    return column.to_numpy(zero_copy_only=False)


def to_arrow(noun: Any) -> Any:
    """Convert to an Arrow table; see Qrels.to_arrow and Run.to_arrow."""
    pyarrow = optional("pyarrow", "to_arrow")
    import numpy

    def column(values: Any) -> Any:
        if isinstance(values, Texts):
            return _strings_of(values, noun.source)
        if isinstance(values, str):
            tag = _strings_of(as_texts([noun.tag_bytes]), noun.source)
            return pyarrow.repeat(tag[0], len(noun.docs))
        return pyarrow.array(values)

    sizes = numpy.diff(noun.offsets)
    places = pyarrow.array(numpy.repeat(numpy.arange(len(sizes)), sizes))
    columns = {name: column(values) for name, values in columns_of(noun).items()}
    return pyarrow.table({"query_id": column(noun.queries).take(places), **columns})


def binary_content(noun: Any, form: str) -> bytes:
    """The content of a file in parquet or Arrow's format with judgments or a run."""
    pyarrow = optional("pyarrow", form)
    table = to_arrow(noun)
    sink = pyarrow.BufferOutputStream()
    if form == "parquet":
        optional("pyarrow.parquet", form).write_table(table, sink)
    else:
        with pyarrow.ipc.new_file(sink, table.schema) as file:
            file.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def columns_of(noun: Any) -> dict[str, Any]:
    """The columns of judgments or a run but for the queries: Texts, numbers, and one str for all.

    That is the tag.
    """
    columns = {"doc_id": noun.docs}
    if hasattr(noun, "grades"):
        columns["relevance"] = noun.grades
        # All second fields may be `0`.
        firsts = zeros("q", len(noun.groups))
        distinct = kernels.find_stretches(noun.groups.columns, firsts)
        if distinct > 1 or (distinct == 1 and noun.groups[0] != NO_ITERATION):
            columns["iteration"] = noun.groups
        if noun.strata is not None:
            columns["stratum"] = noun.strata
    else:
        columns["score"] = noun.scores
        if noun.tag:
            columns["tag"] = noun.tag
    return columns


def _strings_of(texts: Texts, source: str) -> Any:
    import numpy
    import pyarrow

    count = len(texts)
    offsets = zeros("q", count + 1)
    size = int(numpy.asarray(texts.lengths).sum()) if count else 0
    content = zeros("B", size)
    kernels.copy_texts(texts.columns, content, offsets)
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(content)]
    made = pyarrow.Array.from_buffers(pyarrow.large_binary(), count, buffers)
    try:
        return made.cast(pyarrow.large_string())
    except pyarrow.ArrowInvalid:
        for text in texts:
            try:
                text.decode()
            except UnicodeDecodeError:
                reason = f"the id {text!r} is not UTF-8, which Arrow strings require"
                raise InputError(source, reason) from None
        raise


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


def to_rows(noun: Any, form: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """The names of the columns, and the rows. Raises InputError for an empty id."""
    for what, texts in (("query", noun.queries), ("document", noun.docs)):
        row = first_empty(texts)
        if row >= 0:
            reason = f"{what} {row} (the first is 0) has an empty id: expected some text"
            raise InputError(noun.source, f"{reason} for a {form} file")
    columns = to_columns(noun)
    lists = (cells if isinstance(cells, list) else cells.tolist() for cells in columns.values())
    return list(columns), zip(*lists, strict=True)


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
            # Without a type, pandas might choose Arrow strings.
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


def table_of_arrays(columns: dict[str, Any]) -> Table:
    """A table of columns of equal length, named by role."""
    table = table_of_columns(columns, ARRAYS)
    table.may_have_lists = False
    return table


TUPLES = "<tuples>"


def plain_fields(kind: str, columns: Sequence[Iterable[Any]], source: str) -> tuple[str, ...]:
    """The names of columns without names: queries, documents and numbers, if there are any.

    Integers that are 1, 2, ... in every query are ranks, as in a file without a header. Raises
    InputError for such floats, which could be scores.
    """
    fields, ranked = ("query_id", "doc_id", "score"), ("query_id", "doc_id", "rank")
    if kind == "qrels":
        return ("query_id", "doc_id", "relevance")
    queries, numbers = columns[0], columns[2] if len(columns) > 2 else ()
    number: Any = next(iter(numbers), None)
    if is_missing(number) or getattr(number, "ndim", 0) > 0 or number not in (0, 1):
        return fields
    are_integers = isinstance(number, Integral)
    if (are_integers and number == 0) or first_other_than_ranks(queries, numbers, int(number)):
        return fields
    if len({*queries}) == sum(1 for _ in queries):
        # One document per query.
        return fields
    if are_integers:
        return ranked
    raise InputError(
        source,
        f"the numbers could be ranks or scores: found {number}, and each is one more than"
        " the one before; give integers for ranks, or {query: {document: score}}",
    )


def table_of_tuples(given: Any, kind: str) -> Table | None:
    """A table of tuples of one type, from any iterable; kind: qrels or run.

    Columns are named like the fields; plain tuples are (query, document, number). None if they are
    not tuples of these kinds. Raises InputError, which names the row.
    """
    rows = given if isinstance(given, (list, tuple)) else list(given)
    if not rows or not is_row(rows[0]):
        return None
    names = getattr(rows[0], "_fields", None)
    # Named tuples of one type have the same fields.
    alike = names is not None and len(set(map(type, rows))) == 1
    for place, row in enumerate(() if alike else rows):
        if not isinstance(row, tuple) or getattr(row, "_fields", None) != names:
            found, first = type(row).__name__, type(rows[0]).__name__
            expected = first if names else "a tuple (query, document, number)"
            reason = f"row {place} (from 0): expected {expected}, as before, found {found}"
            raise InputError(TUPLES, reason)
        if names is None and not (
            len(row) == 3 and (hasattr(row[2], "__float__") or is_missing(row[2]))
        ):
            reason = f"expected (query, document, number), found {row!r:.80}"
            raise InputError(TUPLES, f"row {place} (from 0): {reason}")
    columns = [TupleColumn(rows, place) for place in range(len(rows[0]))]
    return Table(
        TUPLES,
        names or plain_fields(kind, columns, TUPLES),
        columns,
        method="",
        to_texts=_texts_of_tuples,
        to_numbers=_numbers_of_tuples,
    )


class TupleColumn:
    """The items of tuples at one place."""

    def __init__(self, rows: Any, place: int) -> None:
        self.rows, self.place = rows, place

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return map(itemgetter(self.place), self.rows)

    def tolist(self) -> list[Any]:
        """The objects."""
        return list(self)


def _numbers_of_tuples(column: TupleColumn, _fail: Fail) -> Any:
    floats = floats_of(column.rows, column.place)
    return column.tolist() if floats is None else floats


def _texts_of_tuples(column: TupleColumn, fail: Fail) -> Texts:
    texts = strings_of(column.rows, column.place)
    return texts_of_list(list(column), fail) if texts is None else texts


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
