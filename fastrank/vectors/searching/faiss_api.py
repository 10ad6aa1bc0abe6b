"""Helpers for faiss: metrics, GPUs, error messages, parameters of indexes and of searches."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fastrank.common.lazy import optional
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

    from faiss import Index as FaissIndex

# faiss's messages begin with the signature of a function and a line of its source, then the
# condition that failed, which is the reason if there is no other.
_PLACE = re.compile(r"^Error in .* at [^ ]+:\d+: ", re.DOTALL)
_CONDITION = re.compile(r"^Error: '.*?' failed:? ?(?=.)", re.DOTALL)


def load_faiss() -> ModuleType:
    """The module faiss. Raises ImportError, which names the extra, if it is not installed."""
    return optional("faiss", "search", "embeddings")


def metric_of(faiss: ModuleType, metric: str) -> int:
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


def parts_of(index: FaissIndex) -> Iterator[FaissIndex]:
    """An index and the indexes inside it, downcast; valid as long as the index exists."""
    faiss = load_faiss()
    yield index
    for name in ("index", "base_index", "refine_index", "quantizer"):
        inner = getattr(index, name, None)
        if isinstance(inner, faiss.Index):
            yield from parts_of(faiss.downcast_index(inner))


def training_vectors_needed(index: FaissIndex) -> int:
    """The least number of vectors to train an index with, 0 if it needs no training."""
    return 0 if index.is_trained else max(map(_centroids, parts_of(index)))


def _centroids(part: FaissIndex) -> int:
    """The number of centroids to train, which is the number of vectors needed."""
    faiss = load_faiss()
    # The vectors of a graph.
    stored = getattr(part, "storage", None)
    if stored is not None:
        return max(map(_centroids, parts_of(faiss.downcast_index(stored))))
    codes = getattr(part, "pq", None)
    residuals = getattr(part, "rq", None) or getattr(part, "prq", None)
    bits = [0] if residuals is None else faiss.vector_to_array(residuals.nbits)
    return max(int(getattr(part, "nlist", 0)), int(getattr(codes, "ksub", 0)), 1 << int(max(bits)))


# The valid ranges of integer parameters. faiss truncates fractions and larger values, and with too
# few candidates finds fewer results than requested.
WHOLE = {"nprobe": (1, 2**31), "efSearch": (1, 2**31), "ht": (0, 2**31), "max_codes": (0, 2**63)}
# Search parameters and their attributes in faiss; the prefix `quantizer_` selects the index that
# finds the lists.
NAMES = (*WHOLE, "k_factor", "k_factor_rf")
_KEPT = ("nprobe", "max_codes", "polysemous_ht", "search_type", "k_factor")
_KEPT_IN_GRAPH = ("efSearch",)


def parse_parameters(parameters: object) -> dict[str, float]:
    """The parameters of "nprobe=32,efSearch=128" or of a dict. Raises OptionError.

    >>> parse_parameters("nprobe=32,efSearch=128")
    {'nprobe': 32.0, 'efSearch': 128.0}
    """
    if parameters is None:
        return {}
    if isinstance(parameters, str):
        pairs = [part.partition("=") for part in parameters.split(",") if part.strip()]
        values: dict[str, object] = {}
        for name, sign, value in pairs:
            if not sign or name.strip() in values:
                problem = "is given twice" if sign else "has no value"
                raise OptionError("parameters", f"{name.strip()!r} {problem}: {parameters!r}")
            values[name.strip()] = value.strip()
    else:
        if not isinstance(parameters, Mapping):
            expected = "expected a string such as 'nprobe=32' or a dict"
            raise OptionError("parameters", f"{expected}, found {type(parameters).__name__}")
        values = dict(parameters)
    return {_name(name): _value(name, value) for name, value in values.items()}


def _name(name: object) -> str:
    text = str(name)
    if text.removeprefix("quantizer_") not in NAMES:
        expected = ", ".join(NAMES)
        raise OptionError("parameters", f"expected one of {expected}, found {text!r}")
    return text


def _value(name: object, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    # This also rejects NaN.
    if not 0 <= number < 2**63 or isinstance(value, bool):
        raise OptionError("parameters", f"{name}: expected a number, found {value!r}")
    text = str(name).removeprefix("quantizer_")
    least, end = WHOLE.get(text, (0, 2**63))
    if text in WHOLE and not (number.is_integer() and least <= number < end):
        expected = f"expected an integer from {least} to {end - 1}"
        raise OptionError("parameters", f"{name}: {expected}, found {value!r}")
    return number


class Setting:
    """A context manager that sets parameters of an index and restores them."""

    def __init__(self, index: FaissIndex, parameters: dict[str, float]) -> None:
        self._index, self._parameters = index, parameters
        self._before: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Setting:
        if not self._parameters:
            return self
        faiss = load_faiss()
        for part in parts_of(self._index):
            graph = getattr(part, "hnsw", None)
            for holder, names in ((part, _KEPT), (graph, _KEPT_IN_GRAPH)):
                for name in names:
                    if hasattr(holder, name):
                        self._before.append((holder, name, getattr(holder, name)))
        space = faiss.ParameterSpace()
        for name, value in self._parameters.items():
            try:
                space.set_index_parameter(self._index, name, value)
            except RuntimeError:
                self.__exit__()
                kind = type(self._index).__name__
                reason = f"{name}={value:g}: unknown parameter of this index, an {kind}"
                raise OptionError("parameters", reason) from None
        return self

    def __exit__(self, *_: object) -> None:
        for holder, name, value in self._before:
            setattr(holder, name, value)
        self._before = []


# The attribute in faiss that has each parameter (the graph, or the clustering of inverted lists),
# and the least value.
CONSTRUCTION = {
    "efConstruction": ("hnsw", 1),
    "niter": ("cp", 1),
    "nredo": ("cp", 1),
    "seed": ("cp", 0),
    "max_points_per_centroid": ("cp", 1),
}


def split_factory(factory: str) -> tuple[str, dict[str, int]]:
    """The factory string for faiss, and the parameters behind it. Raises OptionError.

    >>> split_factory("IVF64,Flat,niter=25,seed=7")
    ('IVF64,Flat', {'niter': 25, 'seed': 7})
    """
    parts = factory.split(",")
    pairs = [part.partition("=") for part in parts if "=" in part]
    parameters: dict[str, int] = {}
    for name, _, value in pairs:
        if name not in CONSTRUCTION or name in parameters:
            expected = f"expected one of {', '.join(CONSTRUCTION)}, found {name!r}"
            if name.removeprefix("quantizer_") in NAMES:
                expected += ", which is a parameter of the search"
            problem = f"{name!r} is given twice" if name in parameters else expected
            raise OptionError("index_factory", f"{factory!r}: {problem}")
        least = CONSTRUCTION[name][1]
        if not (value.isascii() and value.isdigit() and least <= int(value) < 2**31):
            expected = f"expected an integer from {least} to {2**31 - 1}, found {value!r}"
            raise OptionError("index_factory", f"{factory!r}: {name}: {expected}")
        parameters[name] = int(value)
    return ",".join(part for part in parts if "=" not in part), parameters


def set_construction(index: FaissIndex, parameters: dict[str, int]) -> None:
    """Set parameters of an empty index. Raises OptionError for one that it does not have."""
    for name, value in parameters.items():
        attribute, _ = CONSTRUCTION[name]
        holders = [getattr(part, attribute) for part in parts_of(index) if hasattr(part, attribute)]
        for holder in holders:
            setattr(holder, name, value)
        if not holders:
            needed = {"hnsw": "HNSW", "cp": "IVF"}[attribute]
            reason = f"{name} is a parameter of {needed}, which this index lacks"
            raise OptionError("index_factory", reason)
