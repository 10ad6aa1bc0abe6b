"""Records: columns that belong together, given to a kernel as one argument.

A record is a tuple with named fields: a kernel reads `run.docs.starts`, a caller makes one with the
names of its fields, and the entry point takes the columns one by one. It is declared once, in
native/records.py, and needs neither numba nor the standard library's named tuples, which a command
would take a millisecond to import.
"""

from __future__ import annotations

from _operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from typing_extensions import Self

    # Contiguous memory, as fastrank.native.buffers makes it, or numpy.
    UInt8Array: TypeAlias = Any
    UInt16Array: TypeAlias = Any
    Int32Array: TypeAlias = Any
    Int64Array: TypeAlias = Any
    Float32Array: TypeAlias = Any
    Float64Array: TypeAlias = Any
    # Where the rows of each query begin in the arrays that follow, and where the last ends.
    Offsets: TypeAlias = Any
    # One number for each query.
    Int64PerQuery: TypeAlias = Any

    Columns = tuple[Any, ...]
else:
    Columns = tuple

# What the fields of a record may be, beside other records, and how signatures call that.
TYPES = {
    "int": "int64",
    "UInt8Array": "uint8[::1]",
    "UInt16Array": "uint16[::1]",
    "Int32Array": "int32[::1]",
    "Int64Array": "int64[::1]",
    "Float32Array": "float32[::1]",
    "Float64Array": "float64[::1]",
    "Offsets": "int64[::1]",
    "Int64PerQuery": "int64[::1]",
}
# Every record by the name that signatures have for it.
RECORDS: dict[str, type[Record]] = {}
# The same for kernels that are called once for each query, and see the record's columns of one.
PER_QUERY: dict[str, type[Record]] = {}


class Record(Columns):
    """Columns by name. Made from all of its fields, by name or in their order.

    A class that is declared with `query="Name"` can also be given to kernels query by query; they
    call it Name in their signature.
    """

    __slots__ = ()
    # By this and `_asdict` numba knows a named tuple.
    _fields: tuple[str, ...] = ()
    # For each field the record that it is, or None.
    _records: tuple[type[Record] | None, ...] = ()
    _has_records = False

    def __getnewargs__(self) -> tuple[Any, ...]:
        # For copies and pickles.
        return tuple(self)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __init_subclass__(cls, *, query: str = "") -> None:
        cls._fields = tuple(cls.__annotations__)
        for place, name in enumerate(cls._fields):
            setattr(cls, name, property(itemgetter(place)))
        cls._records = tuple(map(RECORDS.get, cls.__annotations__.values()))
        cls._has_records = any(cls._records)
        RECORDS[cls.__name__] = cls
        if query:
            PER_QUERY[query] = cls

    def __new__(cls, *values: Any, **named: Any) -> Self:
        """Raises TypeError unless every field is given once."""
        if named:
            rest = cls._fields[len(values) :]
            if named.keys() != set(rest):
                wrong = sorted(named.keys() ^ set(rest))
                raise TypeError(f"{cls.__name__}: fields missing or unknown: {wrong}")
            values += tuple([named[name] for name in rest])
        elif len(values) != len(cls._fields):
            count = len(cls._fields)
            raise TypeError(f"{cls.__name__}: expected {count} fields, found {len(values)}")
        return tuple.__new__(cls, values)

    def changed(self, **fields: Any) -> Self:
        """The same with other values in some fields."""
        return type(self)(**{**self._asdict(), **fields})

    def append_to(self, flat: list[Any]) -> None:
        """Append the columns, those of other records in their place. Raises TypeError."""
        if not self._has_records:
            flat += self
            return
        for record, name, value in zip(self._records, self._fields, self, strict=True):
            _append(flat, record, name, value)


def _append(flat: list[Any], record: type[Record] | None, name: str, value: Any) -> None:
    if type(value) is record:
        value.append_to(flat)
    elif record is None and not isinstance(value, Record):
        flat.append(value)
    else:
        wanted = "an array or a number" if record is None else record.__name__
        raise TypeError(f"{name}: expected {wanted}, found {type(value).__name__}")


def field_types(record: type[Record]) -> list[tuple[str, str]]:
    """Name and type of each field: that of an array or number, or the name of a record."""
    declared: dict[str, str] = record.__annotations__
    return [(name, TYPES.get(kind, kind)) for name, kind in declared.items()]


def columns(declared: str, name: str = "") -> list[tuple[str, str]]:
    """Name and type of each array and number that an argument of a declared type stands for."""
    record = RECORDS.get(declared) or PER_QUERY.get(declared)
    if record is None:
        return [(name, declared)]
    return [pair for own, type_ in field_types(record) for pair in columns(type_, f"{name}_{own}")]


class Shape:
    """The declared arguments of a kernel, and how to spread them over the columns it takes."""

    def __init__(self, kernel: str, declared: list[str]) -> None:
        self._kernel, self._declared = kernel, declared
        self._records = [RECORDS.get(name) or PER_QUERY.get(name) for name in declared]

    def flatten(self, given: tuple[Any, ...]) -> list[Any]:
        """The arrays and numbers of the arguments, in the order in which the kernel takes them.

        Raises TypeError unless they are as declared: as many, and records where it says so.
        """
        if len(given) != len(self._records):
            count = f"expected {len(self._records)} arguments, found {len(given)}"
            raise TypeError(f"kernel {self._kernel}: {count}")
        flat: list[Any] = []
        try:
            for record, name, value in zip(self._records, self._declared, given):  # noqa: B905
                _append(flat, record, name, value)
        except TypeError as error:
            raise TypeError(f"kernel {self._kernel}: {error}") from None
        return flat
