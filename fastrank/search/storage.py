"""Indexes as files: faiss's own, and beside it the ids and the metric."""

from __future__ import annotations

import os
import zipfile

from fastrank.data.texts import Texts, memory_of
from fastrank.errors import ReadError
from fastrank.formats import files
from fastrank.search.faiss_api import reason_of
from fastrank.search.faiss_indexes import index_of
from fastrank.search.indexing import Index
from fastrank.search.npy_files import BROKEN
from fastrank.search.row_ids import RowIds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What the name of the file of ids has behind that of the index.
SUFFIX = ".ids.npz"
# Bytes at the start and at the end of an index that tell it from others.
ENDS = 1 << 20


def save_index(index: Index, path: str | os.PathLike[str]) -> None:
    """Write an index: faiss's own file, and beside it `PATH.ids.npz` with ids and metric.

    Both replace what is there when they are complete. faiss.read_index reads the first; the second
    is an archive of numpy with `ids` (uint8, one after the other), `lengths`, `metric`, ...

    >>> import os, tempfile
    >>> from fastrank.search import build_index, load_index, save_index
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "corpus.faiss")
    >>> save_index(build_index([[1.0, 0.0], [0.0, 1.0]], metric="cosine", ids=["d1", "d2"]), path)
    >>> sorted(os.listdir(folder.name))
    ['corpus.faiss', 'corpus.faiss.ids.npz']
    >>> load_index(path)
    <Index IndexFlatIP: 2 vectors of dimension 2, metric cosine>
    >>> folder.cleanup()
    """
    import faiss
    import numpy

    target = os.fspath(path)

    def write(scratch: str) -> None:
        try:
            faiss.write_index(index.faiss, scratch)
        except RuntimeError as error:
            raise OSError(None, reason_of(error), target) from None
        texts = index.ids
        columns: dict[str, Any] = {} if texts is None else _packed(texts)

        def write_ids(target: str) -> None:
            with open(target, "wb") as file:
                numpy.savez(
                    file, metric=index.metric, dimension=index.dimension, count=len(index),
                    digest=_digest(scratch), **columns,
                )  # fmt: skip

        files.replace(os.path.realpath(target + SUFFIX), write_ids)

    files.replace(os.path.realpath(target), write)


def load_index(path: str | os.PathLike[str], ids: Any = None) -> Index:
    """Read what `save_index` wrote, or an index that faiss itself has written.

    ids: for the latter, the id of each vector; by default the numbers of the rows, or those that
    the vectors were added with. Its metric is what faiss says, and for "cosine" that is "ip".
    Raises ReadError for a file that is cut off or no index, for ids that belong to another index,
    numbers that repeat or are negative, and for a metric other than inner product and L2;
    ArrayError for ids that repeat or are not one per vector, OptionError where the index has ids.

    >>> from fastrank.search import load_index
    >>> load_index("missing.faiss")
    Traceback (most recent call last):
    fastrank.errors.ReadError: missing.faiss: no such file or directory
    """
    import faiss

    name = os.fspath(path)
    try:
        with open(name, "rb"):
            pass
        found = faiss.read_index(name)
    except OSError as error:
        raise ReadError(name, (error.strerror or str(error)).lower()) from None
    except (RuntimeError, MemoryError) as error:
        raise ReadError(name, f"no index that is whole: {reason_of(error)}") from None
    try:
        index = index_of(found)
    except ValueError as error:
        raise ReadError(name, str(error)) from None
    if os.path.exists(name + SUFFIX):
        metric, texts = _read_ids(name, found, index.metric)
        names = index.names if texts is None else RowIds(texts, int(found.ntotal))
        index = Index(found, names, metric)
    return index if ids is None else index.with_ids("ids", ids)


def _packed(texts: Texts) -> dict[str, Any]:
    import numpy

    from fastrank.data.texts import joined

    ids = list(texts)
    whole = joined(b"".join(ids), ids)
    return {
        "ids": numpy.frombuffer(whole.buffer, numpy.uint8),
        "lengths": numpy.asarray(whole.lengths),
    }


def _read_ids(name: str, found: Any, metric: str) -> tuple[str, Texts | None]:
    import numpy

    beside = name + SUFFIX
    try:
        with open(beside, "rb") as file, numpy.load(file, allow_pickle=False) as archive:
            held = {key: archive[key] for key in archive.files}
        stored_metric = str(held["metric"])
        size = (int(held["dimension"]), int(held["count"]))
        digest = str(held["digest"])
        columns = (held["ids"], held["lengths"]) if "ids" in held else None
    except OSError as error:
        raise ReadError(beside, (error.strerror or str(error)).lower()) from None
    except (*BROKEN, KeyError, zipfile.BadZipFile) as error:
        raise ReadError(beside, f"no ids of an index, or cut off: {error}") from None
    if size != (found.d, found.ntotal) or digest != _digest(name):
        raise ReadError(beside, f"these ids belong to another index than {name}")
    if stored_metric not in (metric, "cosine") or (stored_metric == "cosine" and metric != "ip"):
        raise ReadError(beside, f"the metric {stored_metric!r} is not that of {name}")
    if columns is None:
        return stored_metric, None
    ids, lengths = columns
    if (ids.dtype, ids.ndim, lengths.dtype, lengths.ndim) != (numpy.uint8, 1, numpy.int64, 1):
        raise ReadError(beside, "expected ids as bytes and lengths as 64-bit integers")
    # None is longer than all together: their sum cannot overflow.
    if (
        len(lengths) != found.ntotal
        or not (0 <= lengths.min(initial=0) <= lengths.max(initial=0) <= len(ids))
        or lengths.sum() != len(ids)
    ):
        raise ReadError(beside, "the ids are not one per vector")
    starts = numpy.cumsum(lengths) - lengths
    return stored_metric, Texts(ids.tobytes(), memory_of(starts), memory_of(lengths))


def _digest(path: str) -> str:
    """What tells a file from others: its size, its start and its end."""
    import hashlib

    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(ENDS)
        file.seek(max(0, size - ENDS))
        found = hashlib.sha256(head + file.read(ENDS))
    return f"{size}-{found.hexdigest()}"
