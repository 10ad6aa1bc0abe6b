"""Read and write indexes: faiss's file, and a second file with the ids and the metric."""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

import numpy

from fastrank.data.texts import Texts, joined, memory_of
from fastrank.errors import ReadError
from fastrank.formats import files
from fastrank.formats.source import is_url, name_of
from fastrank.searching.faiss_api import load_faiss, reason_of
from fastrank.searching.indexing import Index, index_of
from fastrank.searching.npy_files import reading
from fastrank.searching.row_ids import RowIds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The suffix of the file of ids, after the name of the index.
SUFFIX = ".ids.npz"
# Bytes at the start and the end of an index file that identify it.
ENDS = 1 << 20
# How faiss's files of float indexes begin: a code, dimension, size, two unused numbers, whether the
# index is trained, and faiss's number of the metric.
HEADER = struct.Struct("<4siqqq?i")


def write_index(index: Index, path: str | os.PathLike[str]) -> None:
    """Write an index to PATH in faiss's format, and its ids and metric to `PATH.ids.npz`.

    Both files are written atomically. faiss.read_index reads the first; the second is a numpy
    archive with `ids` (uint8, concatenated), `lengths`, `metric`, ...

    >>> import os, tempfile
    >>> from fastrank.searching import build_index, read_index, write_index
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "corpus.faiss")
    >>> write_index(build_index([[1.0, 0.0], [0.0, 1.0]], metric="cosine", ids=["d1", "d2"]), path)
    >>> sorted(os.listdir(folder.name))
    ['corpus.faiss', 'corpus.faiss.ids.npz']
    >>> read_index(path)
    <Index IndexFlatIP: 2 vectors of dimension 2, metric cosine>
    >>> folder.cleanup()
    """
    faiss = load_faiss()
    target = os.fspath(path)

    with files.replacing(target) as scratch:
        try:
            faiss.write_index(index.faiss, scratch)
        except RuntimeError as error:
            raise OSError(None, reason_of(error), name_of(target)) from None
        texts = index.ids
        columns: dict[str, Any] = {} if texts is None else _packed(texts)
        with files.replacing(_path_of_ids(target)) as beside, open(beside, "wb") as file:
            numpy.savez(
                file,
                metric=index.metric,
                dimension=index.dimension,
                count=len(index),
                digest=_digest(scratch),
                **columns,
            )


def read_index(path: str | os.PathLike[str], ids: Any = None) -> Index:
    """Read an index written by `write_index` or by faiss, from a path or a URL.

    ids: for an index written by faiss, the id of each vector; by default the row numbers, or the
    numbers with which the vectors were added. The metric of such an index is that stored by faiss,
    which is "ip" for cosine. Raises ReadError for a truncated or invalid file, ids of another
    index, duplicate or negative numbers, and metrics other than inner product and L2; ArrayError
    for duplicate ids or the wrong number of ids; OptionError if the index has ids already.

    >>> from fastrank.searching import read_index
    >>> read_index("missing.faiss")
    Traceback (most recent call last):
    fastrank.errors.ReadError: missing.faiss: no such file or directory
    """
    faiss = load_faiss()
    given, name = os.fspath(path), name_of(path)
    with reading(name, "index"), files.local_copy(given) as copy:
        digest = _digest(copy)
        found = faiss.read_index(copy)
    try:
        index = index_of(found)
    except ValueError as error:
        raise ReadError(name, str(error)) from None
    metric, texts = _stored(given, index.dimension, len(index), index.metric, digest)
    names = index.names if texts is None else RowIds(texts, len(index))
    index = Index(found, names, metric)
    return index if ids is None else index.with_ids("ids", ids)


class Description(NamedTuple):
    """What is known of an index without loading it. ids: None if they are faiss's numbers."""

    metric: str
    dimension: int
    size: int
    ids: Texts | None


def describe_index(path: str) -> Description:
    """Read the size, metric and ids of an index, but not its vectors. Raises ReadError.

    The index of a URL is loaded as a whole.
    """
    head = b""
    if not is_url(path):
        with reading(path, "index"), open(path, "rb") as file:
            head = file.read(HEADER.size)
    if len(head) == HEADER.size:
        _, dimension, count, _, _, trained, number = HEADER.unpack(head)
        # As in faiss: METRIC_INNER_PRODUCT and METRIC_L2.
        if dimension > 0 and count >= 0 and trained and number in (0, 1):
            metric, ids = _stored(path, dimension, count, "l2" if number else "ip", None)
            return Description(metric, dimension, count, ids)
    # This raises the errors of invalid files.
    index = read_index(path)
    return Description(index.metric, index.dimension, len(index), index.ids)


def _stored(
    path: str, dimension: int, count: int, metric: str, digest: str | None
) -> tuple[str, Texts | None]:
    """The metric and the ids of an index, from the file next to it if there is one.

    digest: of the index, None to compute it.
    """
    if not files.exists(_path_of_ids(path)):
        return metric, None
    return _read_ids(path, (dimension, count), metric, digest or _digest(path))


def _path_of_ids(path: str) -> str:
    if is_url(path):
        from fastrank.formats.remote import with_suffix

        return with_suffix(path, SUFFIX)
    return path + SUFFIX


def _packed(texts: Texts) -> dict[str, Any]:
    ids = list(texts)
    whole = joined(b"".join(ids), ids)
    return {
        "ids": numpy.frombuffer(whole.buffer, numpy.uint8),
        "lengths": numpy.asarray(whole.lengths),
    }


def _read_ids(
    path: str, shape: tuple[int, int], metric: str, index_digest: str
) -> tuple[str, Texts | None]:
    name, ids_path = name_of(path), _path_of_ids(path)
    beside = name_of(ids_path)
    with (
        reading(beside, "file of ids"),
        files.local_copy(ids_path) as copy,
        open(copy, "rb") as file,
        numpy.load(file, allow_pickle=False) as archive,
    ):
        held = {key: archive[key] for key in archive.files}
        stored_metric = str(held["metric"])
        size = (int(held["dimension"]), int(held["count"]))
        digest = str(held["digest"])
        columns = (held["ids"], held["lengths"]) if "ids" in held else None
    if size != shape or digest != index_digest:
        raise ReadError(beside, f"the ids do not belong to the index {name}")
    if stored_metric not in (metric, "cosine") or (stored_metric == "cosine" and metric != "ip"):
        raise ReadError(beside, f"the metric {stored_metric!r} is not that of the index {name}")
    if columns is None:
        return stored_metric, None
    ids, lengths = columns
    if (ids.dtype, ids.ndim, lengths.dtype, lengths.ndim) != (numpy.uint8, 1, numpy.int64, 1):
        raise ReadError(beside, "expected ids as bytes and lengths as 64-bit integers")
    # Each is at most the total length, so their sum cannot overflow.
    if (
        len(lengths) != shape[1]
        or not (0 <= lengths.min(initial=0) <= lengths.max(initial=0) <= len(ids))
        or lengths.sum() != len(ids)
    ):
        raise ReadError(beside, "expected one id per vector")
    starts = numpy.cumsum(lengths) - lengths
    return stored_metric, Texts(ids.tobytes(), memory_of(starts), memory_of(lengths))


def _digest(path: str) -> str:
    """The identity of a file: its size, start and end."""
    import hashlib

    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(ENDS)
        file.seek(max(0, size - ENDS))
        found = hashlib.sha256(head + file.read(ENDS))
    return f"{size}-{found.hexdigest()}"
