"""Convert Arrow tables and parquet to judgments and runs, and back."""

from __future__ import annotations

from fastrank.data.texts import NO_ITERATION, Texts, as_texts, gather_texts, memory_of
from fastrank.errors import InputError
from fastrank.formats.tables import Table
from fastrank.formats.values import no_id, texts_of_array, texts_of_list
from fastrank.lazy import optional
from fastrank.native import kernels
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.formats.values import Fail

# Rows of a Dataset at a time.
BATCH = 1 << 16
NULL = "a null"


def table_of_arrow(source: str, table: Any, method: str | None = None) -> Table:
    """A table or record batch of Arrow as a table."""
    return Table(
        source, table.column_names, table.columns, method=method,
        to_texts=texts_of_arrow, to_numbers=numbers_of_arrow,
    )  # fmt: skip


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
    return table_of_arrow(source, given, "from_arrow")


def texts_of_arrow(column: Any, fail: Fail) -> Texts:
    """The texts of a (chunked) array of ids; the bytes of strings are copied as a whole."""
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
        return texts_of_array(_numpy_of(column), fail)
    if types.is_floating(kind) and len(column):
        fail(0, no_id(column[0].as_py()))
    binary = types.is_binary(kind) or types.is_large_binary(kind)
    views = (getattr(types, "is_string_view", None), getattr(types, "is_binary_view", None))
    text = types.is_string(kind) or types.is_large_string(kind) or (views[0] and views[0](kind))
    if not (text or binary or (views[1] and views[1](kind))):
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
    buffer = content.slice(first, stop - first).to_pybytes() if content is not None else b""
    return Texts(buffer, memory_of(ends[:-1] - first), memory_of(ends[1:] - ends[:-1]))


def numbers_of_arrow(column: Any, fail: Fail) -> Any:
    """A column of numbers as a numpy array, or a column of other values as a list."""
    import pyarrow

    refuse_nulls(column, fail)
    types = pyarrow.types
    if types.is_boolean(column.type):
        column = column.cast(pyarrow.int8())
    if types.is_integer(column.type) or types.is_floating(column.type):
        return _numpy_of(column)
    return column.to_pylist()


def refuse_nulls(column: Any, fail: Fail) -> None:
    """Call `fail` for the first row that is null, if any."""
    if column.null_count:
        fail(column.is_null().to_pylist().index(True), f"found {NULL}")


def _numpy_of(column: Any) -> Any:
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
