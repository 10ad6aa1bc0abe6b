"""The queries or the corpus of a data set, with their encoder, and the cache of vectors."""

from __future__ import annotations

import io
import os
from hashlib import blake2b
from itertools import chain
from urllib.parse import quote

import numpy

from fastrank.common.arguments import at_least
from fastrank.common.progress import bar
from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import is_url, name_of
from fastrank.errors import ArrayError, InputError, OptionError
from fastrank.vectors.searching.vectors import is_sparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from fastrank.common.arrays import Array
    from fastrank.vectors.embeddings.encoders import Encoder

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
        # The length is included, so that different lists of texts never give the same bytes.
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


# Texts to encode first: two, to notice a model that returns one vector for all.
FIRST_TEXTS = 2
# The tolerance for vectors of the same model, relative to their length: other batches, devices and
# precisions change vectors by less, other checkpoints by more.
ROUNDING = 0.02


def check_encoding(
    batch_size: int | None, cache: object, cache_name: object, **prompts: object
) -> None:
    """Check the options of encoding texts. Raises OptionError and TypeError."""
    if batch_size is not None:
        at_least("batch_size", batch_size, 1)
    for option, prompt in prompts.items():
        if prompt is not None and not isinstance(prompt, str):
            raise OptionError(option, f"expected a str, found {type(prompt).__name__}")
    if (cache is None) != (cache_name is None):
        absent = "cache" if cache is None else "cache_name"
        raise OptionError(absent, "cache and cache_name must be given together")


class EncodedTexts:
    """Texts with their encoder, and their vectors if the cache has them.

    first: the vectors of the first texts. The constructor encodes these and the shortest text, so
    that errors of models show before hours of work. Sparse vectors stay sparse, as scipy CSR
    matrices. Raises ArrayError for invalid vectors, InputError for a cache with vectors of another
    model.
    """

    def __init__(
        self,
        encoder: Encoder,
        ids: Sequence[str],
        texts: Sequence[str],
        store: EmbeddingCache | None,
    ) -> None:
        self._encoder, self._ids, self._texts, self._store = encoder, ids, texts, store
        self._path = ""
        self._known: Any = None
        self.first = self._encoded(0, FIRST_TEXTS)
        if store is not None:
            self._path = store.path(
                encoder.side, encoder.prompt, texts, is_sparse=is_sparse(self.first)
            )
            self._known = store.read(self._path, len(texts))
        if self._known is not None:
            self._check(self._known[:FIRST_TEXTS])
        elif isinstance(texts, list):
            # Models are most likely to fail on an empty text; other texts are not in memory.
            shortest = min(range(len(texts)), key=lambda row: len(texts[row]))
            self._encoded(shortest, shortest + 1)

    @property
    def name(self) -> str:
        """The name of the encoder, for messages."""
        return self._encoder.name

    @property
    def dimension(self) -> int:
        """The dimension of the vectors."""
        return int(self.first.shape[1])

    def _check(self, vectors: Any) -> None:
        """Raise InputError for cached vectors that differ from those of this model."""
        first = self.first
        if vectors.shape == first.shape:
            if is_sparse(first):
                vectors, first = vectors.toarray(), first.toarray()
            apart = numpy.linalg.norm(vectors - first, axis=1)
            if (apart <= ROUNDING * numpy.linalg.norm(first, axis=1)).all():
                return
        reason = f"the cached vectors of the first texts differ from those of {self.name}"
        raise InputError(self._path, f"{reason}; use a different cache_name for each model")

    def vectors(self, progress: bool | None) -> Any:
        """All vectors, from the cache or encoded now and cached."""
        if self._known is not None:
            return self._known
        rows = len(self._texts)
        if self._store is not None:
            return self._store.write(self._path, rows, self._blocks(progress))
        if is_sparse(self.first):
            from scipy import sparse

            return sparse.vstack(list(self._blocks(progress)), format="csr")
        vectors = numpy.empty((rows, self.dimension), numpy.float32)
        row = 0
        for block in self._blocks(progress):
            vectors[row : row + len(block)] = block
            row += len(block)
        return vectors

    def _blocks(self, progress: bool | None) -> Iterator[Any]:
        encoder = self._encoder
        with bar(f"encode {encoder.side}", len(self._texts), "texts", progress) as shown:
            for row in range(0, len(self._texts), encoder.step):
                block = self._encoded(row, row + encoder.step)
                if block.shape[1] != self.dimension:
                    reason = f"expected dimension {self.dimension}, as for the first texts, found"
                    raise ArrayError(
                        encoder.side, f"{reason} {block.shape[1]} from {self.name}", row
                    )
                yield block
                shown.update(block.shape[0])

    def _encoded(self, start: int, stop: int) -> Any:
        """The vectors of some texts."""
        ids = self._ids[start:stop]
        return self._encoder.encode(self._texts[start:stop], ids, start)
