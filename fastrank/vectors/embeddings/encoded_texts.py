"""The queries or the corpus of a data set, with their encoder and cached vectors."""

from __future__ import annotations

import numpy

from fastrank.common.arguments import at_least
from fastrank.common.progress import bar
from fastrank.errors import ArrayError, InputError, OptionError
from fastrank.vectors.searching.vectors import is_sparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import numpy.typing as npt

    from fastrank.vectors.embeddings.cache import EmbeddingCache
    from fastrank.vectors.embeddings.encoders import Encoder

    Array = npt.NDArray[Any]

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
