"""Parquet files, whose columns are read one by one as they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager

from fastrank.common.lazy import optional
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class ParquetColumns(Sequence["Any"]):
    """The columns of a parquet file, as Arrow arrays; each one is read when it is asked for.

    content: or the path of a local file, which is not loaded as a whole. Raises InputError, here
    and later, and ImportError without pyarrow.
    """

    def __init__(self, content: bytes | str, name: str) -> None:
        self._name = name
        self._pool = optional("pyarrow", f"{name}: parquet").default_memory_pool()
        with _reading(name):
            self._file = _opened(content, name)
            self.names: list[str] = self._file.schema_arrow.names
            self.types: list[Any] = self._file.schema_arrow.types

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, place: Any) -> Any:
        with _reading(self._name):
            # The memory of earlier columns would be kept for later ones.
            self._pool.release_unused()
            return self._file.read(columns=[self.names[place]]).column(0)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    pyarrow = optional("pyarrow", f"{name}: parquet")
    try:
        yield
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(name, f"cannot be read as parquet: {error}") from None


def _opened(content: bytes | str, name: str) -> Any:
    pyarrow = optional("pyarrow", f"{name}: parquet")
    parquet = optional("pyarrow.parquet", f"{name}: parquet")
    stored = pyarrow.OSFile if isinstance(content, str) else pyarrow.BufferReader
    file = parquet.ParquetFile(stored(content))
    return parquet.ParquetFile(
        stored(content), metadata=file.metadata, read_dictionary=_repeated(file.metadata)
    )


def _repeated(metadata: Any) -> list[str]:
    """The columns whose texts need less than a byte each: the same is in many rows on end."""
    if not metadata.num_row_groups:
        return []
    group = metadata.row_group(0)
    columns = map(group.column, range(metadata.num_columns))
    return [
        column.path_in_schema
        for column in columns
        if column.physical_type == "BYTE_ARRAY"
        and column.has_dictionary_page
        and column.total_uncompressed_size < column.num_values
    ]
