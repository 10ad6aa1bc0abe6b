"""The text a library is compiled from, and where libraries lie."""

from __future__ import annotations

import os

NATIVE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(os.path.dirname(NATIVE), "kernels")
RECORDS = os.path.join(NATIVE, "records.py")
SUFFIX = ".so"

# The files of this folder that decide what comes out of the compiler.
_BUILDERS = (
    "build.py",
    "compiling/cpu_level.py",
    "compiling/frontend.py",
    "compiling/optimise.py",
    "declare.py",
    "entries.py",
    "record.py",
    "signature.py",
)


def read_sources() -> bytes:
    """All sources a library depends on, as one text.

    A library carries this text and is used only while it equals the files: comparing 60 kB
    costs less than importing a hash function, and cannot collide.
    """
    parts = []
    for path in [*builder_files(), RECORDS, *kernel_files()]:
        # No buffer, which takes as long to make as a file to read.
        with open(path, "rb", buffering=0) as file:
            parts.append(file.read())
    return b"\0".join(parts)


def builder_files() -> list[str]:
    """The files of the compiler that decide what comes out of it."""
    return [os.path.join(NATIVE, name) for name in _BUILDERS]


def kernel_files() -> list[str]:
    """The files that kernels are defined in, of all packages below `kernels`, sorted."""
    found = []
    for folder, folders, names in os.walk(KERNELS):
        if "__pycache__" in folders:
            folders.remove("__pycache__")
        found += [os.path.join(folder, name) for name in names if name.endswith(".py")]
    return sorted(found)


def library_path(level: str, folder: str = NATIVE) -> str:
    """Where the library for a CPU level lies."""
    return os.path.join(folder, f"kernels-{level}{SUFFIX}")
