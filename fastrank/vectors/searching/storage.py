"""Read and write indexes: faiss's own files, with the ids of the vectors in `.npy` files beside."""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

import numpy

from fastrank.core.data.texts import Texts, memory_of
from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import is_url, name_of
from fastrank.errors import ArrayError, ReadError
from fastrank.vectors.searching.faiss_api import load_faiss, reason_of
from fastrank.vectors.searching.indexing import Index, index_of
from fastrank.vectors.searching.npy_files import load_npy, reading
from fastrank.vectors.searching.row_ids import RowIds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

# The suffix of the file of ids, after the name of the index.
SUFFIX = ".ids.npy"
# How faiss's files of float indexes begin: a code, dimension, size, two unused numbers, whether the
# index is trained, and faiss's number of the metric; and those of indexes of vectors that are first
# normalized: how many transforms there are, the code of the only one, and its norm.
HEADER = struct.Struct("<4siqqq?i")
NORMALIZED = struct.pack("<i4sf", 1, b"VNrm", 2.0)


def write_index(index: Index, path: str | os.PathLike[str]) -> None:
    """Write an index to PATH in faiss's format, and its ids, if it has any, to `PATH.ids.npy`.

    Both files are replaced, or none; if the process is killed in between, `read_index` refuses
    them. An index for cosines becomes one that normalizes vectors:
    faiss.read_index reads it as the factory's "L2norm,...". Raises ArrayError for an id that ends
    with a zero byte, which numpy drops.

    >>> import os, tempfile
    >>> from fastrank.searching import build_index, read_index, write_index
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "corpus.faiss")
    >>> write_index(build_index([[1.0, 0.0], [0.0, 1.0]], metric="cosine", ids=["d1", "d2"]), path)
    >>> sorted(os.listdir(folder.name))
    ['corpus.faiss', 'corpus.faiss.ids.npy']
    >>> read_index(path)
    <Index IndexFlatIP: 2 vectors of dimension 2, metric cosine>
    >>> folder.cleanup()
    """
    faiss = load_faiss()
    target = os.fspath(path)
    ids = numpy.array([] if index.ids is None else list(index.ids), "S")
    ends = [] if index.ids is None else (_lengths(ids) != index.ids.lengths).nonzero()[0]
    if len(ends):
        raise ArrayError("ids", "expected an id that does not end with a zero byte", int(ends[0]))
    written = index.faiss
    if index.metric == "cosine":
        unit = faiss.NormalizationTransform(index.dimension)
        written = faiss.IndexPreTransform(unit, written)
    beside = _path_of_ids(target)
    # Ids of an index that is replaced must not stay: an empty array says that there are none.
    has_ids = index.ids is not None or files.exists(beside)
    with files.replacing() as temporary:
        if has_ids:
            # An empty file, until those of the new index are there.
            temporary(beside)
        try:
            faiss.write_index(written, temporary(target))
        except RuntimeError as error:
            raise OSError(None, reason_of(error), name_of(target)) from None
        if has_ids:
            with open(temporary(beside), "wb") as file:
                numpy.save(file, ids)


def read_index(path: str | os.PathLike[str], ids: object = None) -> Index:
    """Read an index written by `write_index` or by faiss, from a path or a URL.

    ids: for an index written by faiss, the id of each vector; by default the row numbers, or the
    numbers with which the vectors were added. The metric is that stored by faiss, and "cosine" if
    vectors are normalized before all else. Raises ReadError for a truncated or invalid file, a
    wrong number of ids in the file beside it, duplicate or negative numbers, and metrics other than
    inner product and L2; ArrayError for duplicate ids or the wrong number of ids; OptionError if
    the index has ids already.

    >>> from fastrank.searching import read_index
    >>> read_index("missing.faiss")
    Traceback (most recent call last):
    fastrank.errors.ReadError: missing.faiss: no such file or directory
    """
    faiss = load_faiss()
    location, name = os.fspath(path), name_of(path)
    with reading(name, "index"), files.local_copy(location) as copy:
        is_normalized = _is_normalized(_head(copy))
        faiss_index = faiss.read_index(copy)
    if is_normalized:
        whole, faiss_index = faiss_index, faiss.downcast_index(faiss_index.index)
        # Else it would be freed with the whole.
        faiss.add_to_referenced_objects(faiss_index, whole)
    try:
        index = index_of(faiss_index)
    except ValueError as error:
        raise ReadError(name, str(error)) from None
    texts = _stored_ids(location, len(index))
    names = index.names if texts is None else RowIds(texts, len(index))
    index = Index(faiss_index, names, "cosine" if is_normalized else index.metric)
    return index if ids is None else index.with_ids("ids", ids)


class Description(NamedTuple):
    """The facts about an index that need no loading. ids: None if they are faiss's numbers."""

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
        with reading(path, "index"):
            head = _head(path)
    if len(head) >= HEADER.size:
        _, dimension, count, _, _, trained, number = HEADER.unpack_from(head)
        # As in faiss: METRIC_INNER_PRODUCT and METRIC_L2.
        if dimension > 0 and count >= 0 and trained and number in (0, 1):
            metric = "l2" if number else "cosine" if _is_normalized(head) else "ip"
            return Description(metric, dimension, count, _stored_ids(path, count))
    # This raises the errors of invalid files.
    index = read_index(path)
    return Description(index.metric, index.dimension, len(index), index.ids)


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(HEADER.size + len(NORMALIZED))


def _is_normalized(head: bytes) -> bool:
    """Whether a file that begins so is an index for inner products of normalized vectors."""
    return (
        head.startswith(b"IxPT")
        and head[HEADER.size :] == NORMALIZED
        and HEADER.unpack_from(head)[-1] == 0
    )


def _path_of_ids(path: str) -> str:
    if is_url(path):
        from fastrank.core.formats.files.remote import with_suffix

        return with_suffix(path, SUFFIX)
    return path + SUFFIX


def _stored_ids(path: str, count: int) -> Texts | None:
    """The ids in the file beside an index of so many vectors, if there are any."""
    beside = _path_of_ids(path)
    # Only before the first release.
    if not is_url(path) and files.exists(f"{path}.ids.npz") and not files.exists(beside):
        reason = "the index was written by an earlier version, and has its ids in another file"
        raise ReadError(name_of(path), f"{reason}; build it again")
    if not is_url(path) and files.exists(beside) and not os.path.getsize(beside):
        reason = f"empty: {name_of(path)} and its ids were not written to the end"
        raise ReadError(name_of(beside), f"{reason}; write the index again")
    ids = load_npy(beside) if files.exists(beside) else numpy.empty(0, "S")
    if not len(ids):
        return None
    if ids.dtype.kind != "S" or ids.shape != (count,):
        description = f"{ids.dtype}, shape {ids.shape}"
        raise ReadError(
            name_of(beside), f"expected {count} ids, one per vector, found {description}"
        )
    starts = numpy.arange(count) * ids.itemsize
    return Texts(ids.tobytes(), memory_of(starts), memory_of(_lengths(ids)))


def _lengths(ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return numpy.char.str_len(ids).astype("int64")
