"""Compiles the kernels for 64-bit ARM on another machine: aarch64_library.py LINKER TARGET.

This is for .ci/aarch64 only. Wheels for ARM are built on ARM.
"""

import os
import platform
import sys

sys.path.insert(0, os.getcwd())
os.environ |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}

import llvmlite.binding as llvm

from fastrank.core.native import build
from fastrank.core.native.compiling.digests import kernel_digests
from fastrank.core.native.compiling.frontend import Frontend
from fastrank.core.native.compiling.object_cache import Compiled, ObjectCache, emit_object
from fastrank.core.native.compiling.signatures import call_words
from fastrank.core.native.declare import KERNELS

TRIPLE = "aarch64-unknown-linux-gnu"


def _emit(bitcode: bytes, cpu: str) -> bytes:
    return emit_object(bitcode, cpu, TRIPLE)


def main(linker: str, target: str) -> None:
    """Compile all kernels and link them."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    frontend, cache, compiled = Frontend(), ObjectCache(), {}
    for name, digest in kernel_digests().items():
        kernel = cache.get(digest, TRIPLE)
        if kernel is None:
            words = call_words(KERNELS[name].signature, holds_gil=KERNELS[name].holds_gil)
            kernel = Compiled(words, _emit(frontend.compile(name), "generic"))
            cache.put(digest, TRIPLE, kernel)
        compiled[name] = kernel
    # From here on, the build sees the machine that the library is for.
    platform.machine = lambda: "aarch64"
    objects = {name: kernel.code for name, kernel in compiled.items()}
    objects["about"] = _emit(build._about(compiled, b""), "generic")
    build.link([linker, "-shared", "-Wl,-z,defs", "-s", "-o", target], objects)


if __name__ == "__main__":
    main(*sys.argv[1:])
