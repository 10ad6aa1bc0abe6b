"""Records: columns that belong together, given to a kernel as one argument; and states.

A record is a tuple with named fields: a kernel reads `run.docs.starts`, a caller makes one with the
names of its fields, and the entry point takes the columns one by one. It is declared once, in
native/records, and needs neither numba nor the standard library's named tuples, which a command
would take a millisecond to import.
"""

from __future__ import annotations

from _operator import itemgetter

from fastrank.core.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from typing_extensions import Self

    # Contiguous memory, as fastrank.core.native.buffers makes it, or numpy.
    UInt8Array: TypeAlias = Any
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

# Every record and state by the name that signatures have for it.
RECORDS: dict[str, type[Record | State]] = {}
# The same for kernels that are called once for each query, and see the record's columns of one.
PER_QUERY: dict[str, type[Record]] = {}


class _WithoutDict(type):
    """The type of records and states: a tuple has nothing but its items."""

    @classmethod
    def __prepare__(cls, _name: str, _bases: tuple[type, ...], /, **_declared: object) -> Any:
        return {"__slots__": ()}


class Record(Columns, metaclass=_WithoutDict):
    """Columns by name. Made from all of its fields, by name or in their order.

    A class that is declared with `query="Name"` can also be given to kernels query by query; they
    call it Name in their signature.
    """

    # Numba recognizes a named tuple by this and `_asdict`; native/declare.py says it.
    _fields: tuple[str, ...]

    def __init_subclass__(cls, *, query: str = "") -> None:
        # As little as possible: a command declares all records and uses some.
        RECORDS[cls.__name__] = cls
        if query:
            PER_QUERY[query] = cls

    def __new__(cls, *values: object, **by_name: object) -> Self:
        """Raises TypeError unless every field is given once."""
        fields = cls.__annotations__
        if by_name:
            rest = [*fields][len(values) :]
            if by_name.keys() != set(rest):
                wrong = sorted(by_name.keys() ^ set(rest))
                raise TypeError(f"{cls.__name__}: fields missing or unknown: {wrong}")
            values += tuple(map(by_name.__getitem__, rest))
        elif len(values) != len(fields):
            count = len(fields)
            raise TypeError(f"{cls.__name__}: expected {count} fields, found {len(values)}")
        return tuple.__new__(cls, values)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The first field that is asked for makes properties of all."""
            kind = type(self)
            if name not in kind.__annotations__:
                raise AttributeError(f"{kind.__name__} has no field {name!r}")
            for index, field in enumerate(kind.__annotations__):
                setattr(kind, field, property(itemgetter(index)))
            return getattr(self, name)

    def __getnewargs__(self) -> tuple[object, ...]:
        # For copies and pickles.
        return tuple(self)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(type(self).__annotations__, self, strict=True))

    def changed(self, **fields: object) -> Self:
        """The same with other values in some fields."""
        return type(self)(**{**self._asdict(), **fields})


class State(Columns, metaclass=_WithoutDict):
    """Integers by name that kernels and callers read and write: `cursor.line += 1`.

    They lie in one array, the only column. Those that are not given are 0.
    """

    def __init_subclass__(cls) -> None:
        RECORDS[cls.__name__] = cls
        for index, name in enumerate(cls.__annotations__):
            setattr(cls, name, _number_at(index))

    def __new__(cls, memory: Any = None, **numbers: int) -> Self:
        """memory: an int64 for each name, which is written when a number is; new by default."""
        if memory is None:
            memory = zeros("q", len(cls.__annotations__))
        state = tuple.__new__(cls, (memory,))
        state.assign(**numbers)
        return state

    def assign(self, **numbers: int) -> None:
        """Write some of the numbers. Raises AttributeError for a name that is not one of them."""
        for name, number in numbers.items():
            setattr(self, name, number)

    def clear(self, **numbers: int) -> None:
        """Write all of the numbers: those that are not given become 0."""
        self.assign(**{**dict.fromkeys(type(self).__annotations__, 0), **numbers})


def _number_at(index: int) -> property:
    def read(state: State) -> Any:
        return state[0][index]

    def write(state: State, number: int) -> None:
        state[0][index] = number

    return property(read, write)
