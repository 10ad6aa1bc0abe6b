"""faiss: what is asked of it, and what it complains about, in our words."""

from __future__ import annotations

import re

from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# What faiss puts before the reason: the signature of a function, and a line of its source; and
# the condition that failed, which is the reason where there is no other.
_PLACE = re.compile(r"^Error in .* at [^ ]+:\d+: ", re.DOTALL)
_CONDITION = re.compile(r"^Error: '.*?' failed:? ?(?=.)", re.DOTALL)


def metric_of(faiss: Any, metric: str) -> int:
    """faiss's number of a metric; the cosine is the inner product of vectors of length 1."""
    return int(faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT)


def reason_of(error: Exception) -> str:
    """What faiss complains about, without the place in its source."""
    return _CONDITION.sub("", _PLACE.sub("", str(error)).strip())


def check_gpu(gpu: bool) -> bool:
    """Whether to use a GPU. Raises OptionError where faiss has none."""
    if not gpu:
        return False
    import faiss

    if not hasattr(faiss, "StandardGpuResources"):
        raise OptionError(
            "gpu", "this faiss is built for the CPU alone; a GPU needs the package faiss-gpu"
        )
    if not faiss.get_num_gpus():
        raise OptionError("gpu", "faiss finds no GPU on this machine")
    return True


def parts_of(index: Any) -> Iterator[Any]:
    """An index and those it is made of, each as what it is; only as long as the index lives."""
    import faiss

    yield index
    for name in ("index", "base_index", "refine_index", "quantizer"):
        inner = getattr(index, name, None)
        if isinstance(inner, faiss.Index):
            yield from parts_of(faiss.downcast_index(inner))
