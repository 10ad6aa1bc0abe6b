"""Declarations of what kernels take and return, and how their entry points are called."""

from __future__ import annotations

from fastrank.core.native.record import PER_QUERY, RECORDS, Record, State

# The types of a record's fields, beside other records, and their names in signatures.
TYPES = {
    "int": "int64",
    "float": "float64",
    "UInt8Array": "uint8[::1]",
    "Int32Array": "int32[::1]",
    "Int64Array": "int64[::1]",
    "Float32Array": "float32[::1]",
    "Float64Array": "float64[::1]",
    "Offsets": "int64[::1]",
    "Int64PerQuery": "int64[::1]",
}
CODES = {"uint8": "B", "uint16": "H", "int32": "i", "int64": "q", "float32": "f", "float64": "d"}
SCALARS = ("int64", "float64")
RESULTS = ("void", *SCALARS)


def parse_signature(signature: str) -> tuple[str, list[str]]:
    """Split `int64(uint8[::1], Texts)` into the type of the result and those of the arguments."""
    result, _, rest = signature.partition("(")
    arguments = [word.strip() for word in rest.removesuffix(")").split(",") if word.strip()]
    if result not in RESULTS or not rest.endswith(")"):
        raise ValueError(f"kernel signature {signature!r}: expected RESULT(ARGUMENT, ...)")
    return result, arguments


def is_array(argument: str) -> bool:
    """True for a one-dimensional contiguous array such as `int64[::1]`."""
    return argument.endswith("[::1]") and item(argument) in CODES


def item(argument: str) -> str:
    """The element type of an array argument."""
    return argument.removesuffix("[::1]")


def record_of(argument: str) -> type[Record | State] | None:
    """The record that a type is, or that has it query by query; None for arrays and numbers."""
    return RECORDS.get(argument) or PER_QUERY.get(argument)


def field_types(record: type[Record | State]) -> list[str]:
    """The type of each field: that of an array or number, or the name of a record."""
    if issubclass(record, State):
        return ["int64[::1]"]
    declared: dict[str, str] = record.__annotations__
    return [TYPES.get(kind, kind) for kind in declared.values()]


def flat_words(argument: str) -> list[str]:
    """The kind of an argument: the code of an array's items, or the type of a number, or a record.

    A record's name is followed by the words for each of its fields.
    """
    record = record_of(argument)
    if record is None:
        return [CODES[item(argument)] if is_array(argument) else argument]
    return [record.__name__, *(word for type_ in field_types(record) for word in flat_words(type_))]


def call_words(signature: str, *, holds_gil: bool) -> str:
    """How an entry point is called, for `EntryPoints`.

    The words are: whether it holds the interpreter's lock, the type of its result, the number of
    its arguments, and what these are.
    """
    result, arguments = parse_signature(signature)
    lock = "holding" if holds_gil else "releasing"
    words = [lock, result, str(len(arguments))]
    return " ".join([*words, *(word for argument in arguments for word in flat_words(argument))])
