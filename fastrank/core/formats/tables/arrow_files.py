"""Files in Arrow's format, and the folders in which Hugging Face's `save_to_disk` keeps them."""

from __future__ import annotations

import os

from fastrank.common.lazy import optional
from fastrank.core.formats.files.source import read_all
from fastrank.core.formats.tables.records import load_json
from fastrank.errors import InputError, ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

    from fastrank.core.formats.tables.table import Table

# The files that `save_to_disk` writes for a Dataset and a DatasetDict.
STATE, SPLITS = "state.json", "dataset_dict.json"


def read_arrow(content: bytes | str, name: str) -> Any:
    """The Arrow table of a file, or of the path of one, in the format of files or of streams.

    Raises InputError, and ImportError without pyarrow.
    """
    pyarrow = optional("pyarrow", f"{name}: Arrow")
    data = read_all(content) if isinstance(content, str) else content
    is_file = data.startswith(b"ARROW1")
    open_content = pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream
    try:
        return open_content(pyarrow.BufferReader(data)).read_all()
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(name, f"cannot be read as Arrow: {error}") from None


def is_folder(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is the path of a folder."""
    return isinstance(source, (str, os.PathLike)) and os.path.isdir(source)


def is_saved(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is one of `save_to_disk`."""
    return any(os.path.exists(os.path.join(folder, name)) for name in (STATE, SPLITS))


def saved_table(folder: str | os.PathLike[str], split: str | None = None) -> Table:
    """The table of a folder; split: of a DatasetDict with several. Raises InputError."""
    from fastrank.core.formats.tables.frames import table_of_arrow

    path = os.fspath(folder)
    if os.path.exists(os.path.join(path, SPLITS)):
        listing = os.path.join(path, SPLITS)
        splits = load_json(read_all(listing), listing)["splits"]
        if split is None and len(splits) > 1:
            raise InputError(path, f"expected split=, one of {', '.join(splits)}")
        chosen = split or splits[0]
        if chosen not in splits:
            raise InputError(path, f"no split {chosen!r}; expected one of {', '.join(splits)}")
        return saved_table(os.path.join(path, chosen), None)
    listing = os.path.join(path, STATE)
    if not os.path.exists(listing):
        raise ReadError(path, f"is a directory, and not one of save_to_disk with {STATE}")
    names = [file["filename"] for file in load_json(read_all(listing), listing)["_data_files"]]
    files = [os.path.join(path, name) for name in names]
    pyarrow = optional("pyarrow", f"{path}: Arrow")
    table = pyarrow.concat_tables([read_arrow(file, file) for file in files])
    return table_of_arrow(path, table.column_names, table.columns)
