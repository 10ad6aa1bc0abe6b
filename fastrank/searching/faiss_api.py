"""Helpers for faiss: metrics, GPUs and error messages."""

from __future__ import annotations

import re

from fastrank.errors import OptionError
from fastrank.lazy import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# faiss's messages begin with the signature of a function and a line of its source, then the
# condition that failed, which is the reason if there is no other.
_PLACE = re.compile(r"^Error in .* at [^ ]+:\d+: ", re.DOTALL)
_CONDITION = re.compile(r"^Error: '.*?' failed:? ?(?=.)", re.DOTALL)


def load_faiss() -> Any:
    """The module faiss. Raises ImportError, which names the extra, if it is not installed."""
    return optional("faiss", "search", "embeddings")


def metric_of(faiss: Any, metric: str) -> int:
    """faiss's number of a metric; cosine is the inner product of vectors of length 1."""
    return int(faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT)


def reason_of(error: Exception) -> str:
    """The reason of an error of faiss, without the place in its source."""
    return _CONDITION.sub("", _PLACE.sub("", str(error)).strip())


def check_gpu(gpu: bool) -> bool:
    """Whether to use a GPU. Raises OptionError if faiss has none."""
    if not gpu:
        return False
    faiss = load_faiss()
    if not hasattr(faiss, "StandardGpuResources"):
        raise OptionError("gpu", "this build of faiss has no GPU support; install faiss-gpu")
    if not faiss.get_num_gpus():
        raise OptionError("gpu", "faiss found no GPU")
    return True


def parts_of(index: Any) -> Iterator[Any]:
    """An index and the indexes inside it, downcast; valid as long as the index exists."""
    faiss = load_faiss()
    yield index
    for name in ("index", "base_index", "refine_index", "quantizer"):
        inner = getattr(index, name, None)
        if isinstance(inner, faiss.Index):
            yield from parts_of(faiss.downcast_index(inner))
