"""The compiled library, found, checked against the sources that it is made from, and called; and
whether there can be one."""

from __future__ import annotations

import _ctypes
import os
import sys
from _ctypes import addressof, byref
from itertools import repeat

from fastrank.core.native.buffers import (
    FORMATS,
    NO_EXCEPTION,
    NOTHING,
    SIZES,
    Char,
    Double,
    Function,
    HoldingFunction,
    Int64,
    Pointer,
    address,
    count_items,
    filled,
)
from fastrank.core.native.record import RECORDS
from fastrank.errors import EngineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeAlias

    from fastrank.core.native.objects import Packer

    # The name of a kernel, and its arguments.
    Call: TypeAlias = tuple[str, tuple[object, ...]]

# In the order in which they are chosen.
ENGINES = ("precompiled", "jit", "plain")
# A packer takes longer to be made than a few calls, and a command calls a kernel a few times.
_OFTEN = 32
# So few that counting calls does not reach it again.
_NEVER = -(1 << 62)
# The CPU levels of libraries, the best first, and what `fastrank_cpu_level` says of them at least.
LEVELS = {"x86-64-v3": 3, "x86-64-v2": 2, "baseline": 0}
NATIVE = os.path.dirname(os.path.abspath(__file__))
_RESULTS: dict[str, type[Int64 | Double | Pointer]] = {
    "int64": Int64,
    "float64": Double,
    "void": Pointer,
}


class EntryPoints:
    """Kernels in machine code, by name."""

    def find(self, name: str) -> tuple[int, str]:
        """The address of a kernel, and how it is called: compiling/signatures.py says the words."""
        raise NotImplementedError

    def bind(self, name: str) -> Callable[..., Any]:
        """A Python function that calls the entry point `name`."""
        entry, result_type, count, words = self._entry(name)
        packer: Packer | None = None
        calls = 0

        def call(*values: object) -> object:
            nonlocal packer, calls
            calls += 1
            # Several threads may have counted past it. It is not asked for twice if there is none.
            if calls >= _OFTEN:
                calls, packer = _NEVER, self._packer(count, words)
            arguments = None if packer is None else packer.pack(values)
            if arguments is None:
                # It also knows what is wrong with them.
                arguments = flat_arguments(name, count, words, values)
            result = result_type()
            # Numba's calling convention: where to put the result, and an exception.
            if status := entry(byref(result), NO_EXCEPTION, arguments):
                raise _failure(name, status)
            return result.value

        return call

    def prepare(self, name: str, *values: object) -> Callable[[], Any]:
        """The same call of the entry point `name` again and again, its arguments looked at once.

        What changes between the calls must be in memory; that of the arguments may not move.
        """
        entry, result_type, count, words = self._entry(name)
        arguments, result = flat_arguments(name, count, words, values), result_type()

        def call() -> Any:
            if status := entry(byref(result), NO_EXCEPTION, arguments):
                raise _failure(name, status)
            return result.value

        # Addresses keep no memory alive; the function does.
        call.memory = values  # type: ignore[attr-defined]
        return call

    def prepare_all(self, calls: Sequence[Call], whole: int = -1) -> Callable[[], bool]:
        """All calls as one, which makes them one after the other, again and again.

        What changes between them must be in memory; that of the arguments may not move. whole: the
        result of kernels on Python's objects after which the next call is made, -1 for any. Returns
        whether all were made.
        """
        rows: list[int] = []
        memory, holds = [], False
        for name, values in calls:
            address, call_words = self.find(name)
            lock, _, width, *words = call_words.split()
            arguments, result = flat_arguments(name, int(width), words, values), Int64()
            expected = whole if lock == "holding" else -1
            rows += [address, addressof(result), addressof(arguments), expected]
            memory.append((values, arguments, result))
            holds = holds or lock == "holding"
        table = filled("q", rows)
        entry = (HoldingFunction if holds else Function)(self.find("call_all")[0])
        done, count = Int64(), len(memory)
        into, packed = byref(done), flat_arguments("call_all", 1, ["q"], (table,))

        def call() -> bool:
            entry(into, NO_EXCEPTION, packed)
            if done.value < 0:
                raise RuntimeError(f"one of {count} kernels ended with a status")
            return bool(done.value == count)

        # Addresses keep no memory alive; the function does.
        call.memory = memory, table  # type: ignore[attr-defined]
        return call

    def _packer(self, count: int, words: list[str]) -> Packer | None:
        """The function that packs such arguments faster than this module."""
        from fastrank.core.native.objects import make_packer

        return make_packer(HoldingFunction(self.find("pack_arguments")[0]), count, words)

    def _entry(self, name: str) -> tuple[Any, Any, int, list[str]]:
        """The C function, its result's type, and the number of its arguments and what they are."""
        address, call_words = self.find(name)
        lock, result, count, *words = call_words.split()
        # Most kernels let other threads run; those on Python's objects do not.
        entry = (HoldingFunction if lock == "holding" else Function)(address)
        return entry, _RESULTS[result], int(count), words


class Library(EntryPoints):
    """A loaded library, which says how its kernels are called."""

    def __init__(self, level: str, handle: int) -> None:
        self.level = level
        self._handle = handle
        lines = _text(handle, "calls").decode().split("\n")
        parts = map(str.partition, lines, repeat(" "))
        self._calls = {name: words for name, _, words in parts}

    def find(self, name: str) -> tuple[int, str]:
        """See `EntryPoints.find`."""
        return _ctypes.dlsym(self._handle, f"fastrank_{name}"), self._calls[name]


def only_plain() -> str:
    """Why kernels have to run as plain Python: as asked for, or on this system; empty if not.

    Raises EngineError if the engine that is asked for does not exist.
    """
    if asked := plain_asked_for():
        return asked
    if sys.implementation.name != "cpython":
        return f"compiled kernels need CPython, and this is {sys.implementation.name}"
    if sys.platform in ("win32", "emscripten"):
        return f"compiled kernels need Linux or macOS, and this is {sys.platform}"
    return ""


def plain_asked_for() -> str:
    """How the environment asks for the plain engine; empty if it does not. Raises EngineError."""
    choice = os.environ.get("FASTRANK_ENGINE", "")
    if choice not in ("", *ENGINES):
        expected = "'precompiled', 'jit' or 'plain'"
        raise EngineError(f"FASTRANK_ENGINE={choice!r}: expected {expected}")
    if choice == "plain":
        return "FASTRANK_ENGINE=plain"
    disabled = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    return "NUMBA_DISABLE_JIT is set" if disabled and choice != "precompiled" else ""


def compilable() -> bool:
    """Whether Numba has wheels for this Python, and compiled kernels run on this system."""
    if sys.implementation.name != "cpython" or sys.platform not in ("linux", "darwin"):
        return False
    import sysconfig

    return "musl" not in (sysconfig.get_config_var("SOABI") or "")


def remedy() -> str:
    """How to get compiled kernels where there are none."""
    if compilable():
        return "pip install 'fastrank-eval[jit]'"
    return "use CPython on macOS, in WSL, or on Linux with glibc (the image python:3.12-slim)"


def flat_arguments(kernel: str, count: int, words: list[str], values: tuple[object, ...]) -> Any:
    """Arguments as entry points take them, eight bytes each: an array's address and its length.

    count, words: how many they are and what. Raises TypeError unless they are so.
    """
    numbers: list[Any] = []
    # The next one is the last.
    pending: list[Any] = [*values[::-1]]
    if len(pending) != count:
        raise TypeError(f"kernel {kernel}: expected {count} arguments, found {len(pending)}")
    try:
        for word in words:
            value = pending.pop()
            if word in FORMATS:
                view = value if type(value) is memoryview else memoryview(value)
                if view.format in FORMATS[word] and view.c_contiguous and not view.readonly:
                    # The functions below take twice as long.
                    numbers += addressof(NOTHING.from_buffer(view)), view.nbytes // SIZES[word]
                else:
                    numbers += address(value), count_items(value, word)
            elif word == "int64":
                numbers.append(value)
            elif word == "float64":
                numbers.append(Int64.from_buffer(Double(value)).value)
            elif type(value) is RECORDS.get(word):
                pending += value[::-1]
            else:
                raise TypeError(f"expected {word}, found {type(value).__name__}")
        return (Int64 * len(numbers))(*numbers)
    except TypeError as error:
        raise TypeError(f"kernel {kernel}: {error}") from None


def _failure(kernel: str, status: int) -> RuntimeError:
    return RuntimeError(f"kernel {kernel} ended with status {status}")


def load() -> tuple[Library | None, str]:
    """The best library for this processor, or None and the reason why there is none to use."""
    reason = ""
    for folder in _folders():
        library, problem = _load_from(folder)
        if library is not None:
            return library, ""
        reason = reason or problem
    return None, reason or "no compiled library is installed"


def _folders() -> Iterator[str]:
    """This folder, and those of other installations on Python's path.

    Python that is started in a checkout imports the sources there, although `pip install .` has put
    a compiled library into site-packages.
    """
    yield NATIVE
    for entry in sys.path:
        folder = os.path.join(os.path.abspath(entry), "fastrank", "core", "native")
        if folder != NATIVE and os.path.isdir(folder):
            yield folder


def _load_from(folder: str) -> tuple[Library | None, str]:
    """The best library in a folder, or None and what is wrong with those that are there."""
    reason = ""
    for level, needed in LEVELS.items():
        path = library_path(level, folder)
        if not os.path.exists(path):
            continue
        try:
            handle = _ctypes.dlopen(path)
            cpu_level = Function(_ctypes.dlsym(handle, "fastrank_cpu_level"))()
            if cpu_level < needed:
                lacking = "x86-64-v2" if cpu_level < 2 else level
                reason = f"the compiled library requires {lacking}, which this processor lacks"
                continue
            if _is_current(_text(handle, "sources"), folder):
                return Library(level, handle), ""
            reason = "the compiled library does not match the source files"
        except (OSError, ValueError) as error:
            reason = f"the compiled library {path} cannot be used: {error}"
    return None, reason


def library_path(level: str, folder: str = NATIVE) -> str:
    """Where the library for a CPU level lies."""
    return os.path.join(folder, f"kernels-{level}.so")


def _is_current(carried: bytes, folder: str) -> bool:
    """Whether a library in a folder, with the sources that it carries, is that of these sources."""
    if not carried and folder == NATIVE:
        # The library of an installed package carries no sources: it is as old as the files beside
        # it.
        return True
    return (carried or read_sources(os.path.dirname(folder))) == read_sources()


def _text(handle: int, name: str) -> bytes:
    size = Int64.from_address(_ctypes.dlsym(handle, f"fastrank_{name}_size")).value
    text = (Char * size).from_address(_ctypes.dlsym(handle, f"fastrank_{name}"))
    return bytes(memoryview(text))


CORE = os.path.dirname(NATIVE)
PACKAGE = os.path.dirname(CORE)
RECORD_MODULES = os.path.join(NATIVE, "records")


def read_sources(core: str = CORE) -> bytes:
    """All sources of a `core` that its library depends on, as one text.

    A library carries this text and is used only while it equals the files: comparing 460 kB
    costs less than importing a hash function, and cannot collide.
    """
    parts = []
    native = os.path.join(core, "native")
    records = python_files(os.path.join(native, "records"))
    for path in [*builder_files(native), *records, *kernel_files(core)]:
        # No buffer, which takes as long to make as a file to read.
        with open(path, "rb", buffering=0) as file:
            parts.append(file.read())
    return b"\0".join(parts)


def builder_files(native: str = NATIVE) -> list[str]:
    """The files that decide what comes out of the compiler."""
    files = [os.path.join(native, name) for name in ("build.py", "declare.py", "record.py")]
    return [*files, *python_files(os.path.join(native, "compiling"))]


def kernel_files(core: str = CORE) -> list[str]:
    """The modules of the kernels, and that of their constants."""
    kernels = os.path.join(core, "kernels")
    return [os.path.join(core, "native", "codes.py"), *python_files(kernels)]


def python_files(package: str) -> list[str]:
    """The modules of a package, those of all packages below too, sorted."""
    paths = []
    for folder, folders, names in os.walk(package):
        if "__pycache__" in folders:
            folders.remove("__pycache__")
        paths += [os.path.join(folder, name) for name in names if name.endswith(".py")]
    return sorted(paths)
