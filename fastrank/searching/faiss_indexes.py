"""Indexes built directly with faiss: their metric and the ids of their vectors."""

from __future__ import annotations

from fastrank.errors import ArrayError
from fastrank.searching.faiss_api import load_faiss
from fastrank.searching.indexing import Index, maps_ids
from fastrank.searching.row_ids import DIGITS, RowIds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def as_index(argument: str, given: Any, metric: str | None) -> Any:
    """Wrap a faiss index, also one from a Hugging Face Dataset, as an Index.

    Anything else is returned unchanged. metric: "cosine" declares that the vectors of an inner
    product index have length 1. Raises ArrayError for an unsupported index.
    """
    # The type that `get_index` of a Dataset returns.
    found = getattr(given, "faiss_index", given)
    if isinstance(found, Index) or not hasattr(found, "ntotal"):
        return given
    try:
        index = index_of(found)
    except ValueError as error:
        raise ArrayError(argument, str(error)) from None
    return index.of_unit_vectors() if metric == "cosine" and index.metric == "ip" else index


def index_of(found: Any) -> Index:
    """Wrap a faiss index as an Index. Raises ValueError."""
    faiss = load_faiss()
    metrics = {faiss.METRIC_INNER_PRODUCT: "ip", faiss.METRIC_L2: "l2"}
    if not isinstance(found, faiss.Index) or found.metric_type not in metrics:
        kind = type(found).__name__
        raise ValueError(f"expected an index for inner products or L2 distances, found {kind}")
    inner = found.index if isinstance(found, (faiss.IndexIDMap, faiss.IndexIDMap2)) else found
    if maps_ids(inner):
        raise ValueError("expected an index without a nested IDMap")
    return Index(found, _stored_ids(found), metrics[found.metric_type])


def _stored_ids(found: Any) -> RowIds:
    """The ids that a faiss index stores for its vectors, in an IDMap or in inverted lists."""
    import numpy

    faiss = load_faiss()
    if isinstance(found, (faiss.IndexIDMap, faiss.IndexIDMap2)):
        stored = faiss.vector_to_array(found.id_map)
    else:
        inverted = faiss.try_extract_index_ivf(found)
        if inverted is None:
            return RowIds(None, int(found.ntotal))
        stored = _listed_numbers(inverted.invlists)
    numbers = numpy.sort(stored)
    repeats = numpy.flatnonzero(numbers[1:] == numbers[:-1])
    if len(repeats):
        raise ValueError(f"expected distinct ids of vectors, found {numbers[repeats[0]]} twice")
    if len(numbers) and not (numbers[0] >= 0 and numbers[-1] < 10**DIGITS):
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise ValueError(f"expected ids of vectors from 0 to 10**{DIGITS} - 1, found {wrong}")
    rows = len(numbers) == found.ntotal and bool((numbers == numpy.arange(len(numbers))).all())
    return RowIds(None, int(found.ntotal) if rows else None)


def _listed_numbers(lists: Any) -> Any:
    """The ids of the vectors in inverted lists, int64[vectors]."""
    import numpy

    faiss = load_faiss()
    stored = [numpy.empty(0, numpy.int64)]
    for number in range(lists.nlist):
        size = lists.list_size(number)
        if size:
            ids = lists.get_ids(number)
            stored.append(faiss.rev_swig_ptr(ids, size).copy())
            lists.release_ids(number, ids)
    return numpy.concatenate(stored)
