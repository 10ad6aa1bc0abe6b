"""Files with the ids of vectors."""

from __future__ import annotations

import codecs

from fastrank.data.texts import decoded
from fastrank.errors import FormatError
from fastrank.formats.source import name_of, read_all
from fastrank.searching.npy_files import load_npy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read_ids(path: str) -> Any:
    """The ids in a file: one per line, or a .npy file of strings or integers.

    Raises ReadError, and FormatError for a line that is not one id.
    """
    name = name_of(path)
    if name.endswith(".npy"):
        return load_npy(path)
    lines = read_all(path).removeprefix(codecs.BOM_UTF8).split(b"\n")
    if not lines[-1]:
        lines.pop()
    ids = [line.removesuffix(b"\r") for line in lines]
    for number, text_id in enumerate(ids, 1):
        if not text_id or len(text_id.split()) != 1 or text_id.strip() != text_id:
            found = repr(decoded(text_id)) if text_id else "an empty line"
            raise FormatError(name, number, f"expected an id without blanks, found {found}")
    return ids
