"""Convert Arrow tables and parquet to judgments and runs, and back."""

from __future__ import annotations

from fastrank.data.columns import as_array
from fastrank.data.texts import Texts, gather_texts, memory_of
from fastrank.errors import InputError
from fastrank.formats.tables import Table
from fastrank.formats.values import no_id, texts_of_array, texts_of_list
from fastrank.lazy import optional
from fastrank.native import kernels
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.formats.values import Fail

# Rows of a Dataset at a time.
BATCH = 1 << 16
NULL = "a null"


class ArrowTable(Table):
    """An Arrow table or record batch."""

    def __init__(self, source: str, table: Any) -> None:
        super().__init__(source, table.column_names, table.num_rows)
        self._table = table

    def texts(self, place: int) -> Texts:
        """A column of ids."""
        return texts_of_arrow(self._table.column(place), self.failing(place))

    def records(self) -> list[dict[str, Any]]:
        """The rows as dicts, None for a null."""
        found: list[dict[str, Any]] = self._table.to_pylist()
        return found

    def values(self, place: int) -> Any:
        """A column as a list, None for a null."""
        return self._table.column(place).to_pylist()

    def numbers(self, place: int) -> Any:
        """A column of numbers."""
        return numbers_of_arrow(self._table.column(place), self.failing(place))


def arrow_table(given: Any) -> ArrowTable:
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
    table = ArrowTable(source, given)
    table.method = "from_arrow"
    return table


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
    count = len(noun.docs)
    offsets = as_array(noun.offset_column)
    places = pyarrow.array(_query_places(offsets))
    columns = {
        "query_id": _strings_of(noun.queries, noun.source).take(places),
        "doc_id": _strings_of(noun.docs, noun.source),
    }
    if hasattr(noun, "grades"):
        columns["relevance"] = pyarrow.array(noun.grades)
        if says_iterations(noun):
            columns["iteration"] = _strings_of(noun.groups, noun.source)
        if noun.strata is not None:
            columns["stratum"] = _strings_of(noun.strata, noun.source)
    else:
        columns["score"] = pyarrow.array(noun.scores)
        if noun.tag:
            columns["tag"] = pyarrow.repeat(
                pyarrow.scalar(_tag_of(noun), pyarrow.large_string()), count
            )
    return pyarrow.table(columns)


def _tag_of(run: Any) -> str:
    return str(
        _strings_of(
            Texts(run.tag_bytes, filled("q", [0]), filled("q", [len(run.tag_bytes)])), run.source
        )[0]
    )


def says_iterations(qrels: Any) -> bool:
    """Whether any second field of the judgments is not `0`."""
    firsts = zeros("q", len(qrels.groups))
    distinct = kernels.find_stretches(qrels.groups.columns, firsts)
    return bool(distinct > 1 or (distinct == 1 and qrels.groups[0] != b"0"))


def _query_places(offsets: Any) -> Any:
    """The query number of each row."""
    import numpy

    return numpy.repeat(numpy.arange(len(offsets) - 1), numpy.diff(offsets))


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
