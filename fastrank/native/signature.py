"""The one-line type declarations of kernels: `int64(uint8[::1], int64, float64[::1])`."""

from __future__ import annotations

SCALARS = ("int64", "float64")
ITEMS = ("uint8", "uint16", "int32", "int64", "float32", "float64")
RESULTS = ("void", *SCALARS)


def parse(signature: str) -> tuple[str, list[str]]:
    """Split a signature into its result type and the list of its argument types."""
    result, _, rest = signature.partition("(")
    arguments = [word.strip() for word in rest.removesuffix(")").split(",") if word.strip()]
    if result not in RESULTS or not rest.endswith(")"):
        raise ValueError(f"kernel signature {signature!r}: expected RESULT(ARGUMENT, ...)")
    return result, arguments


def is_array(argument: str) -> bool:
    """True for a one-dimensional contiguous array such as `int64[::1]`."""
    return argument.endswith("[::1]") and item(argument) in ITEMS


def is_scalar(argument: str) -> bool:
    """True for a number passed by value."""
    return argument in SCALARS


def item(argument: str) -> str:
    """The element type of an array argument."""
    return argument.removesuffix("[::1]")
