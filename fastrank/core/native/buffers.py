"""Flat typed memory that Python, numpy and the library share, and the C functions on it.

As much of ctypes as that takes is from `_ctypes`, its part that is written in C: importing the part
in Python, which makes classes for all of C's types and needs `struct`, takes 1.3 ms of the 8 that a
command has.
"""

from __future__ import annotations

import sys
from _ctypes import (
    FUNCFLAG_CDECL,
    FUNCFLAG_PYTHONAPI,
    CFuncPtr,
    _SimpleCData,
    addressof,
    byref,
    sizeof,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Literal, TypeAlias

    Memory: TypeAlias = memoryview[Any]
    Code: TypeAlias = Literal["B", "H", "i", "q", "f", "d"]

SIZES = {"B": 1, "H": 2, "i": 4, "q": 8, "f": 4, "d": 8}
MAPPED = 1 << 17
# Items of a column, fewer than which take memory that is soon made, and more than which take too
# much to keep it for the next evaluation.
WORTH_KEEPING = range(1 << 14, 1 << 20)
HUGE = 1 << 22


class Char(_SimpleCData):  # type: ignore[type-arg]
    """One byte."""

    _type_ = "c"


class Int64(_SimpleCData):  # type: ignore[type-arg]
    """A signed integer of 64 bits."""

    _type_ = "q"


class Double(_SimpleCData):  # type: ignore[type-arg]
    """A float of 64 bits."""

    _type_ = "d"


class Single(_SimpleCData):  # type: ignore[type-arg]
    """A float of 32 bits."""

    _type_ = "f"


class Long(_SimpleCData):  # type: ignore[type-arg]
    """A signed integer of 64 bits on Linux and macOS, of 32 bits on Windows."""

    _type_ = "l"


class Pointer(_SimpleCData):  # type: ignore[type-arg]
    """An address."""

    _type_ = "P"


class Text(_SimpleCData):  # type: ignore[type-arg]
    """The address of the bytes of an object."""

    _type_ = "z"


class Status(_SimpleCData):  # type: ignore[type-arg]
    """A signed integer of 32 bits."""

    _type_ = "i"


class Function(CFuncPtr):
    """A function that returns a status, called without the interpreter's lock."""

    _flags_ = FUNCFLAG_CDECL
    _restype_ = Status


class HoldingFunction(CFuncPtr):
    """A function that returns a status and works on Python's objects."""

    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_PYTHONAPI
    _restype_ = Status


# numpy's integers have the format of C's long where that has as many bits.
FORMATS = {"B": "B", "H": "H", "i": "i", "q": "q", "f": "f", "d": "d"}
FORMATS["q" if sizeof(Long) == SIZES["q"] else "i"] += "l"
NOTHING = Char * 0
# Where entry points note an exception of Numba, which nobody reads: kernels raise none.
NO_EXCEPTION = byref(Pointer())


def zeros(code: Code, count: int) -> Memory:
    """`count` zeroed items of type `code`: `B` uint8, `H` uint16, `i` int32, `q` int64,
    `f` float32, `d` float64.

    Large memory is mapped, so that pages nobody writes cost nothing and generous sizes are cheap;
    a bytearray of 268 MB takes 0.7 s to be cleared.
    """
    size = count * SIZES[code]
    if size < MAPPED:
        return memoryview(bytearray(size)).cast(code)
    return memoryview(_mapped(size)).cast(code)


def columns(code: Code, *counts: int) -> list[Memory]:
    """Zeroed columns of one type, as `zeros` makes each, in one piece of memory."""
    memory, end = zeros(code, sum(counts)), 0
    views = []
    for count in counts:
        views.append(memory[end : end + count])
        end += count
    return views


def _mapped(size: int) -> mmap.mmap:
    import mmap

    try:
        if not hasattr(mmap, "MAP_PRIVATE"):
            return mmap.mmap(-1, size)
        # Private, since the default is shared memory, which takes 1.5 times as long to fill.
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"cannot allocate {size} bytes") from error
    if size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        # Where the system has pages of 2 MB: 256 MB are first touched in 12 ms instead of 90.
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def _references(_item: object) -> int:
    return sys.maxsize


# PyPy counts no references: nothing is known to be free.
getrefcount = getattr(sys, "getrefcount", _references)


class FreeList:
    """Memory that serves again when nobody uses it any more, and what is prepared for it.

    Getting zeroed pages from the system is slow. May be used by several threads. most: how many
    things it keeps.
    """

    def __init__(self, most: int = 4) -> None:
        # Methods of lists are atomic, so that threads need no lock.
        self._items: list[object] = []
        self._most = most

    def take(self, serves: Callable[[Any], bool]) -> Any:
        """Something that serves and that nothing else refers to, which leaves the list, or None."""
        for _ in range(len(self._items)):
            try:
                item = self._items.pop()
            except IndexError:
                break
            # The variable and the argument are two references.
            if getrefcount(item) <= 2 and serves(item):
                return item
            self._items.insert(0, item)
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(tuple(self._items))

    def keep(self, item: object) -> None:
        """Add something, which may still be in use; a full list loses what it got first."""
        self._items.append(item)
        del self._items[: -self._most]


class Recycled:
    """Large memory that serves again: of several maps, as long as nobody holds a view of one."""

    def __init__(self) -> None:
        self._free = FreeList(1)

    def make(self, *shapes: tuple[Code, int]) -> list[Memory]:
        """Typed memory, of any content, as `zeros` takes type and number of items."""
        sizes = [max(1, count * SIZES[code]) for code, count in shapes]
        maps = self._free.take(lambda maps: _serve(maps, sizes))
        if maps is None:
            maps = [_mapped(size) for size in sizes]
        views = [memoryview(memory)[:size] for memory, size in zip(maps, sizes, strict=True)]
        # Not before there are views: another thread would take the memory for free.
        self._free.keep(maps)
        return [view.cast(code) for view, (code, _) in zip(views, shapes, strict=True)]


def _serve(maps: list[mmap.mmap], sizes: list[int]) -> bool:
    """Whether memory is free, large enough, and not much larger than that."""
    # A view of a map, or what is made from one, is one more reference to it than these two.
    return len(maps) == len(sizes) and all(
        size <= len(maps[i]) <= 2 * size and getrefcount(maps[i]) <= 2
        for i, size in enumerate(sizes)
    )


def filled(code: Code, values: Sequence[float]) -> Memory:
    """The given numbers as typed memory."""
    memory = zeros(code, len(values))
    for i, value in enumerate(values):
        memory[i] = value
    return memory


def address(buffer: Any) -> int:
    """The address of the first byte of bytes, other memory or a numpy array."""
    if isinstance(buffer, bytes):
        return Pointer.from_buffer(Text(buffer)).value or 0
    if not isinstance(buffer, memoryview) and hasattr(buffer, "ctypes"):
        return int(buffer.ctypes.data)
    if isinstance(buffer, memoryview) and buffer.readonly:
        # ctypes gives no address of some memory, such as Arrow's.
        import numpy

        return int(numpy.asarray(buffer).ctypes.data)
    return addressof(NOTHING.from_buffer(buffer))


def count_items(buffer: Any, code: str) -> int:
    """How many items a contiguous buffer of type `code` has. Raises TypeError for another type."""
    if isinstance(buffer, bytes) and code == "B":
        return len(buffer)
    view = buffer if isinstance(buffer, memoryview) else memoryview(buffer)
    if view.format not in FORMATS[code] or not view.c_contiguous:
        raise TypeError(f"expected contiguous memory of type {code!r}, found {view.format!r}")
    return view.nbytes // SIZES[code]
