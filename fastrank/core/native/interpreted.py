"""The kernels as plain Python: where nothing is compiled, and for debuggers.

They need NumPy alone. A line on standard error says how to get the fast ones if it is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fastrank.core.native.buffers import count_items
from fastrank.core.native.compiling.signatures import (
    CODES,
    field_types,
    flat_words,
    is_array,
    item,
    parse_signature,
    record_of,
)
from fastrank.core.native.declare import KERNELS, QUERIES, declare_all
from fastrank.core.native.library import flat_arguments, remedy
from fastrank.core.native.record import PER_QUERY

if TYPE_CHECKING:
    from fastrank.core.native.library import Call

# Input is large if a call gets so many bytes, or calls took so many seconds.
LARGE, LONG = 1 << 23, 1.0


class Interpreter:
    """Kernels that Python runs as they are written.

    reason: why nothing is compiled, for the line on standard error; empty for no line.
    """

    def __init__(self, reason: str = "") -> None:
        declare_all()
        self._reason = reason
        self._seconds = 0.0

    def bind(self, name: str) -> Callable[..., Any]:
        """A Python function that converts buffers to arrays and calls the kernel `name`."""

        def call(*values: object) -> object:
            return self.prepare(name, *values)()

        return call

    def prepare(self, name: str, *values: object) -> Callable[[], Any]:
        """The same call of the kernel `name` again and again, its arguments converted once."""
        _, declared = parse_signature(KERNELS[name].signature)
        words = [word for argument in declared for word in flat_words(argument)]
        # It knows what is wrong with them.
        flat_arguments(name, len(declared), words, values)
        arguments = list(map(_converted, declared, values))
        called = _call_per_query if declared[0] in PER_QUERY else _call
        size = sum(map(_size, arguments))

        def call() -> object:
            if size > LARGE:
                self._say_slow()
            start = perf_counter()
            # Python meets numpy's warnings where compiled code just computes inf or nan.
            with np.errstate(all="ignore"):
                result = called(name, declared[0], arguments)
            self._seconds += perf_counter() - start
            if self._seconds > LONG:
                self._say_slow()
            return result.item() if isinstance(result, np.generic) else result

        return call

    def prepare_all(self, calls: Sequence[Call], whole: int = -1) -> Callable[[], bool]:
        """See `EntryPoints.prepare_all`."""
        prepared = [
            (self.prepare(name, *values), whole >= 0 and KERNELS[name].holds_gil)
            for name, values in calls
        ]

        def call() -> bool:
            for prepared_call, has_result in prepared:
                result = prepared_call()
                if has_result and result != whole:
                    return False
            return True

        return call

    def _say_slow(self) -> None:
        """Print, the first time, that large inputs take long, and how to get compiled kernels."""
        if self._reason and sys.stderr is not None:
            print(notice(self._reason), file=sys.stderr, flush=True)
        self._reason = ""


def notice(reason: str) -> str:
    """The line which says that the kernels are slow, for which reason, and how to get others."""
    slow = "the kernels run as plain Python, which is slow for large inputs"
    return f"fastrank: {reason}; {slow}. For compiled ones: {remedy()}"


def _size(argument: object) -> int:
    """The bytes of an array, or of all in a record."""
    if isinstance(argument, tuple):
        return sum(map(_size, argument))
    return argument.nbytes if isinstance(argument, np.ndarray) else 0


def _call(name: str, _first: str, arguments: list[object]) -> object:
    return KERNELS[name].function(*arguments)


def _call_per_query(name: str, first: str, arguments: list[Any]) -> None:
    """Call a kernel with the columns of each query, and with its part of the last argument."""
    columns, *others, output = arguments
    kinds = PER_QUERY[first].__annotations__.values()
    queries = len(columns[0]) - 1
    for i in range(queries):
        fields = []
        part = slice(0)
        for kind, column in zip(kinds, columns, strict=True):
            if kind == "Offsets":
                part = slice(column[i], column[i + 1])
            elif kind in ("int", "float"):
                fields.append(column)
            else:
                fields.append(column[i] if kind == "Int64PerQuery" else column[part])
        width = len(output) // queries
        query_output = output[i * width : (i + 1) * width]
        KERNELS[name].function(QUERIES[first](*fields), *others, query_output)


def _converted(declared: str, value: Any) -> Any:
    """An argument with arrays for its buffers."""
    record = record_of(declared)
    if record is not None:
        return record(*map(_converted, field_types(record), value))
    return _array(value, CODES[item(declared)]) if is_array(declared) else value


def _array(buffer: object, code: str) -> object:
    """An array over the buffer's memory, which can be written unless the buffer is read-only."""
    count_items(buffer, code)
    view: Any = memoryview(buffer)  # type: ignore[arg-type]
    return np.frombuffer(view, code) if view.nbytes else np.empty(0, code)
