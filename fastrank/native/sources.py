"""The text a library is compiled from, and where libraries lie."""

from __future__ import annotations

import os

NATIVE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(os.path.dirname(NATIVE), "kernels")
SUFFIX = ".so"

# The files of this folder that decide what comes out of the compiler.
_BUILDERS = ("build.py", "declare.py", "entries.py", "record.py", "records.py", "signature.py")


def read_sources() -> bytes:
    """All sources a library depends on, as one text.

    A library carries this text and is used only while it equals the files: comparing 60 kB
    costs less than importing a hash function, and cannot collide.
    """
    paths = [os.path.join(NATIVE, name) for name in _BUILDERS]
    paths += sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(KERNELS)
        for name in names
        if name.endswith(".py")
    )
    parts = []
    for path in paths:
        with open(path, "rb") as file:
            parts.append(file.read())
    return b"\0".join(parts)


def library_path(level: str, folder: str = NATIVE) -> str:
    """Where the library for a CPU level lies."""
    return os.path.join(folder, f"kernels-{level}{SUFFIX}")
