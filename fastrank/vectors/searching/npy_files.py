"""Arrays in `.npy` files, which may be larger than memory."""

from __future__ import annotations

import io
import zipfile
from contextlib import contextmanager
from tokenize import TokenError

import numpy
from numpy.lib import format as npy

from fastrank.common.faces import by_face
from fastrank.core.formats.files.files import local_copy, name_of
from fastrank.core.formats.files.source import HEAD, is_url, open_source
from fastrank.errors import ReadError
from fastrank.vectors.searching.faiss_api import reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy.typing as npt

ARRAY, ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"
# How Python's pickles of protocol 2 and later begin.
PICKLE = b"\x80"
# How faiss's codes of indexes of float vectors begin.
INDEXES = (b"Ix", b"Iw", b"IH", b"IN", b"IP")
# The errors that NumPy and faiss raise for a truncated file or an invalid header.
BROKEN = (
    EOFError,
    ValueError,
    TypeError,
    OverflowError,
    SyntaxError,
    TokenError,
    KeyError,
    RuntimeError,
    MemoryError,
    zipfile.BadZipFile,
)


@contextmanager
def reading(name: str, kind: str) -> Iterator[None]:
    """Raise ReadError for a file that cannot be read, or whose content is not a valid `kind`."""
    try:
        yield
    except ReadError:
        raise
    except OSError as error:
        raise ReadError(name, (error.strerror or str(error)).lower()) from None
    except BROKEN as error:
        raise ReadError(name, f"truncated or invalid {kind}: {reason_of(error)}") from None


def is_npy(path: str) -> bool:
    """Whether the file is an array, and not an index. Raises ReadError."""
    return _head(path).startswith(ARRAY)


def npy_outline(path: str) -> npt.NDArray[Any]:
    """An array with the shape and type of that in a file, for which no values are read.

    The array of a local file is memory-mapped; that of a URL has no values. Raises ReadError.
    """
    if not is_url(path):
        return load_npy(path, mapped=True)
    stream = io.BytesIO(_head(path))
    with reading(name_of(path), ".npy file"):
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(stream)
        return numpy.broadcast_to(numpy.zeros((), dtype), shape)


def _head(path: str) -> bytes:
    if is_url(path):
        with open_source(path) as pieces:
            head = bytearray(HEAD)
            return bytes(head[: pieces.stored().readinto(head)])
    with reading(path, ".npy file"), open(path, "rb") as file:
        return file.read(len(ARRAY))


def load_npy(path: str, *, mapped: bool = False) -> npt.NDArray[Any]:
    """Read or memory-map the array in a file. Raises ReadError.

    The file of a URL is mapped from a temporary copy, which is deleted when the array is.
    """
    name = name_of(path)
    content: Any = None
    with reading(name, ".npy file"), local_copy(path) as copy:
        with open(copy, "rb") as file:
            head = file.read(len(ARRAY))
        if head == ARRAY:
            content = numpy.load(copy, mmap_mode="r" if mapped else None, allow_pickle=False)
    if head.startswith(ARCHIVE):
        raise ReadError(name, "expected one array (.npy), found an archive (.npz)")
    if content is None:
        # NumPy would report such files as pickled objects, which one might trust.
        description = f"found one that begins with {head!r}" if head else "found an empty file"
        if head.startswith(INDEXES):
            description = f"an index of faiss is read by {by_face('read_index', '--index')}"
        elif head.startswith(PICKLE):
            description = (
                "a pickle, which could run any code, is not read; if you trust it, numpy.save its"
                " vectors; of DPR: ids, vectors = zip(*pickle.load(open(FILE, 'rb')))"
            )
        raise ReadError(name, f"not a .npy file: {description}")
    array: npt.NDArray[Any] = content
    return array
