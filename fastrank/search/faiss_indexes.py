"""Indexes that others have built with faiss: what their metric and the ids of their vectors are."""

from __future__ import annotations

from fastrank.errors import ArrayError
from fastrank.search.indexing import Index, maps_ids
from fastrank.search.row_ids import DIGITS, RowIds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def as_index(argument: str, given: Any, metric: str | None) -> Any:
    """The Index of an index of faiss, also one that a Dataset of Hugging Face holds.

    Anything else as it is. metric: "cosine" says that the vectors of an index for inner products
    have length 1. Raises ArrayError for an index that cannot be searched here.
    """
    # What `get_index` of a Dataset returns.
    found = getattr(given, "faiss_index", given)
    if isinstance(found, Index) or not hasattr(found, "ntotal"):
        return given
    try:
        index = index_of(found)
    except ValueError as error:
        raise ArrayError(argument, str(error)) from None
    if metric == "cosine" and index.metric == "ip":
        return Index(index.faiss, index.names, metric)
    return index


def index_of(found: Any) -> Index:
    """The Index of an index of faiss. Raises ValueError."""
    import faiss

    metrics = {faiss.METRIC_INNER_PRODUCT: "ip", faiss.METRIC_L2: "l2"}
    if getattr(found, "metric_type", None) not in metrics:
        raise ValueError("expected an index for inner products or L2 distances")
    inner = found.index if isinstance(found, (faiss.IndexIDMap, faiss.IndexIDMap2)) else found
    if maps_ids(inner):
        raise ValueError("expected an index without another IDMap within")
    return Index(found, _stored_ids(found), metrics[found.metric_type])


def _stored_ids(found: Any) -> RowIds:
    """The numbers that an index itself has for its vectors: in an IDMap, or in inverted lists."""
    import faiss
    import numpy

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
        raise ValueError(f"the number {numbers[repeats[0]]} stands for several of its vectors")
    if len(numbers) and not (numbers[0] >= 0 and numbers[-1] < 10**DIGITS):
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise ValueError(f"expected numbers of vectors from 0 to 10**{DIGITS} - 1, found {wrong}")
    rows = len(numbers) == found.ntotal and bool((numbers == numpy.arange(len(numbers))).all())
    return RowIds(None, int(found.ntotal) if rows else None)


def _listed_numbers(lists: Any) -> Any:
    """The numbers of the vectors in inverted lists, int64[vectors]."""
    import faiss
    import numpy

    stored = [numpy.empty(0, numpy.int64)]
    for number in range(lists.nlist):
        size = lists.list_size(number)
        if size:
            ids = lists.get_ids(number)
            stored.append(faiss.rev_swig_ptr(ids, size).copy())
            lists.release_ids(number, ids)
    return numpy.concatenate(stored)
