"""Parameters with which an index is built, at the end of its factory string.

faiss's factory strings have none of them: "HNSW32,efConstruction=200" is "HNSW32" built with 200.
"""

from __future__ import annotations

from fastrank.errors import OptionError
from fastrank.searching.faiss_api import parts_of
from fastrank.searching.parameters import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What has each parameter in faiss (the graph, or the clustering of inverted lists), and its least
# value.
CONSTRUCTION = {
    "efConstruction": ("hnsw", 1), "niter": ("cp", 1), "nredo": ("cp", 1), "seed": ("cp", 0),
    "max_points_per_centroid": ("cp", 1),
}  # fmt: skip


def split_factory(given: str) -> tuple[str, dict[str, int]]:
    """The factory string for faiss, and the parameters behind it. Raises OptionError.

    >>> split_factory("IVF64,Flat,niter=25,seed=7")
    ('IVF64,Flat', {'niter': 25, 'seed': 7})
    """
    parts = given.split(",")
    pairs = [part.partition("=") for part in parts if "=" in part]
    found: dict[str, int] = {}
    for name, _, value in pairs:
        if name not in CONSTRUCTION or name in found:
            expected = f"expected one of {', '.join(CONSTRUCTION)}, found {name!r}"
            if name.removeprefix("quantizer_") in NAMES:
                expected += ", which is a parameter of the search"
            problem = f"{name!r} is given twice" if name in found else expected
            raise OptionError("index_factory", f"{given!r}: {problem}")
        least = CONSTRUCTION[name][1]
        if not (value.isascii() and value.isdigit() and least <= int(value) < 2**31):
            expected = f"expected an integer from {least} to {2**31 - 1}, found {value!r}"
            raise OptionError("index_factory", f"{given!r}: {name}: {expected}")
        found[name] = int(value)
    return ",".join(part for part in parts if "=" not in part), found


def set_construction(index: Any, parameters: dict[str, int]) -> None:
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
