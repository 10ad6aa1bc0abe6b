"""The text a library is compiled from."""

from __future__ import annotations

import os

from fastrank.native.library import NATIVE

PACKAGE = os.path.dirname(NATIVE)
RECORDS = os.path.join(NATIVE, "records")

# The files of this folder that decide what comes out of the compiler.
_BUILDERS = (
    "build.py",
    "compiling/entry_points.py",
    "compiling/frontend.py",
    "compiling/levels.py",
    "compiling/optimise.py",
    "compiling/worker.py",
    "declare.py",
    "record.py",
)


def read_sources(package: str = PACKAGE) -> bytes:
    """All sources of a package that its library depends on, as one text.

    A library carries this text and is used only while it equals the files: comparing 400 kB
    costs less than importing a hash function, and cannot collide.
    """
    parts = []
    native = os.path.join(package, "native")
    records = python_files(os.path.join(native, "records"))
    for path in [*builder_files(native), *records, *kernel_files(package)]:
        # No buffer, which takes as long to make as a file to read.
        with open(path, "rb", buffering=0) as file:
            parts.append(file.read())
    return b"\0".join(parts)


def builder_files(native: str = NATIVE) -> list[str]:
    """The files of the compiler that decide what comes out of it."""
    return [os.path.join(native, name) for name in _BUILDERS]


def kernel_files(package: str = PACKAGE) -> list[str]:
    """The modules of the kernels, and that of their constants."""
    kernels = os.path.join(package, "kernels")
    return [os.path.join(package, "native", "codes.py"), *python_files(kernels)]


def python_files(package: str) -> list[str]:
    """The modules of a package, those of all packages below too, sorted."""
    found = []
    for folder, folders, names in os.walk(package):
        if "__pycache__" in folders:
            folders.remove("__pycache__")
        found += [os.path.join(folder, name) for name in names if name.endswith(".py")]
    return sorted(found)
