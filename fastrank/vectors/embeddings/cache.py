"""A cache of vectors on disk, keyed by a name and the content of the texts."""

from __future__ import annotations

import io
import os
from hashlib import blake2b
from itertools import chain
from urllib.parse import quote

import numpy

from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import is_url, name_of
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

# Texts to read and digest at a time.
_STEP = 4096
_DIGEST_BYTES = 16
# The longest name; with side and digest, a file name has at most 255 letters.
LONGEST = 200


class EmbeddingCache:
    """A folder with one file of vectors, float32[texts, dimension], per list of texts.

    Dense vectors are in `.npy` files, sparse ones in `.npz` files as by `scipy.sparse.save_npz`. A
    file's name consists of the user's name, the side (`queries` or `corpus`), and a digest of side,
    prompt and all texts in order. Only the user's name identifies the model. Files are written
    atomically; a truncated file is ignored.
    """

    def __init__(self, folder: str | os.PathLike[str], name: str | None) -> None:
        if not isinstance(name, str):
            raise OptionError("cache_name", f"expected a str, found {type(name).__name__}")
        if len(quote(name, safe=" ")) > LONGEST:
            reason = f"expected at most {LONGEST} letters, found {len(name)}"
            raise OptionError("cache_name", f"{reason}: {name!r:.60}")
        self._folder, self._name = os.fspath(folder), name
        if is_url(self._folder):
            raise OptionError("cache", f"expected a local folder, found {name_of(self._folder)}")
        # Fail now, not after hours, if the folder cannot be created.
        os.makedirs(self._folder, exist_ok=True)

    def path(self, side: str, prompt: str, texts: Sequence[str], *, is_sparse: bool = False) -> str:
        """The path of the vectors of these texts."""
        digest = digest_of(chain((side, prompt), _texts(texts)))
        name = quote(self._name, safe=" ")
        return os.path.join(self._folder, f"{name}-{side}-{digest}.{'npz' if is_sparse else 'npy'}")

    def read(self, path: str, rows: int) -> Any:
        """The vectors, memory-mapped if dense; None if missing or of the wrong number."""
        if path.endswith(".npz"):
            return _sparse_rows(path, rows)
        try:
            vectors = numpy.lib.format.open_memmap(path, mode="r")
            size = os.path.getsize(path)
        except (OSError, ValueError, EOFError):
            # Missing, truncated or overwritten: numpy maps no file that is too short.
            return None
        fits = vectors.ndim == 2 and len(vectors) == rows and vectors.dtype == numpy.float32
        return vectors if fits and size == vectors.offset + vectors.nbytes else None

    def write(self, path: str, rows: int, blocks: Iterable[Any]) -> Any:
        """Write blocks of vectors with `rows` rows in total, and return them like `read`.

        Dense blocks are written one by one; the file appears when complete. Raises OSError.
        """
        files.write(path, _npz(blocks) if path.endswith(".npz") else _npy(rows, blocks))
        vectors = self.read(path, rows)
        if vectors is None:
            raise OSError(f"{path}: cannot be read after writing")
        return vectors


def digest_of(texts: Iterable[str]) -> str:
    """A digest of texts in order."""
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        # With the length, so that different lists of texts never give the same bytes.
        digest.update(b"%d:" % len(content))
        digest.update(content)
    return digest.hexdigest()


def _texts(texts: Sequence[str]) -> Iterator[str]:
    for first in range(0, len(texts), _STEP):
        yield from texts[first : first + _STEP]


def _sparse_rows(path: str, rows: int) -> object:
    """The sparse vectors in a file, None if missing or of the wrong number."""
    from zipfile import BadZipFile

    from scipy import sparse

    try:
        matrix = sparse.load_npz(path)
        matrix.check_format(full_check=True)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    fits = matrix.format == "csr" and matrix.shape[0] == rows and matrix.dtype == numpy.float32
    return matrix if fits else None


def _npz(blocks: Iterable[object]) -> Iterator[bytes]:
    from scipy import sparse

    written = io.BytesIO()
    sparse.save_npz(written, sparse.vstack(list(blocks), format="csr"), compressed=False)
    yield written.getvalue()


def _npy(rows: int, blocks: Iterable[Array]) -> Iterator[bytes]:
    started = False
    for block in blocks:
        if not started:
            header = io.BytesIO()
            shape = {"descr": "<f4", "fortran_order": False, "shape": (rows, block.shape[1])}
            numpy.lib.format.write_array_header_1_0(header, shape)
            yield header.getvalue()
            started = True
        yield block.astype("<f4", copy=False).tobytes()
