"""Compiles every exported kernel into a shared library for this machine's CPU level, or for all.

    python -m fastrank.core.native.build [FOLDER]

Numba turns each kernel into LLVM code, llvmlite optimises it as one module and writes object code,
and the system's `cc` links the objects of all kernels. Object code is kept in the user's
cache under a digest of what it is made from, so that only what changed is compiled again.
README.md in this folder says where the time goes.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import Any

from fastrank.core.native.compiling.digests import kernel_digests
from fastrank.core.native.compiling.levels import cpu_level_source, levels, wanted_levels
from fastrank.core.native.compiling.object_cache import (
    BuildError,
    Compiled,
    ObjectCache,
    emit_object,
)
from fastrank.core.native.compiling.worker import Worker, count_processes, generate
from fastrank.core.native.library import NATIVE, library_path, read_sources


def build(folder: str = NATIVE, *, installed: bool = False) -> list[str]:
    """Compile and link the libraries of the wanted CPU levels into `folder`; return their paths.

    A library carries its sources, so that it is not used when they have changed; one for an
    installed package, whose sources do not change, carries none and is loaded without a look.
    Libraries of other levels, which an earlier build may have left in `folder`, are removed.
    Raises what `compile_kernels` does.
    """
    return link_libraries(compile_kernels(), folder, installed=installed)


def compile_kernels(names: Collection[str] | None = None) -> dict[str, dict[str, Compiled]]:
    """The kernels of each wanted CPU level by name: from the cache, or compiled and then kept.

    names: those that are needed, by default all. Raises BuildError when there is no C linker or a
    kernel would need more than libc and libm, ValueError when FASTRANK_BUILD_LEVELS is not
    understood.
    """
    linker()
    cpus, digests, cache = wanted_levels(), kernel_digests(), ObjectCache()
    kernels: dict[str, dict[str, Compiled]] = {level: {} for level in cpus}
    missing: dict[str, list[str]] = {}
    for name in digests if names is None else names:
        for level in cpus:
            cached = cache.get(digests[name], level)
            if cached is None:
                missing.setdefault(name, []).append(level)
            else:
                kernels[level][name] = cached
    for name, level, compiled in _compile(missing) if missing else ():
        kernels[level][name] = compiled
        cache.put(digests[name], level, compiled)
    cache.forget_old()
    return kernels


def linker() -> list[str]:
    """The command that compiles C and links. Raises BuildError if there is none."""
    command = shlex.split(os.environ.get("CC") or "cc")
    if shutil.which(command[0]) is None:
        raise BuildError(f"no C linker: {command[0]!r} is not on the PATH")
    if sys.platform == "linux":
        # No undefined symbols, whatever the process that loads the library happens to hold;
        # and no local ones, which nothing looks up.
        command += ["-Wl,-z,defs", "-s"]
    return command


def link_libraries(
    compiled: dict[str, dict[str, Compiled]], folder: str, *, installed: bool
) -> list[str]:
    """Link the libraries of compiled levels, as `build` does."""
    cpus = {level: levels()[level] for level in compiled}
    sources = b"" if installed else read_sources()
    os.makedirs(folder, exist_ok=True)
    targets = [library_path(level, folder) for level in cpus]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        scratch_paths = [library_path(level, scratch) for level in cpus]
        for linked, (level, cpu) in zip(scratch_paths, cpus.items(), strict=True):
            about = _about(compiled[level], sources)
            objects = {name: kernel.code for name, kernel in compiled[level].items()}
            objects["about"] = emit_object(about, cpu)
            link([*linker(), "-shared", "-o", linked], objects)
            _check_loads(linked)
        # A process that has the old library mapped keeps it, and none sees half of the new one.
        for linked, target in zip(scratch_paths, targets, strict=True):
            os.replace(linked, target)
    for level in {*levels()} - {*cpus}:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(library_path(level, folder))
    return targets


def _compile(missing: dict[str, list[str]]) -> Iterator[tuple[str, str, Compiled]]:
    """Compile kernels for the levels they are missing for, in processes side by side.

    Of two processes, one generates code and the other optimises it, until all is generated: what
    kernels share is generated once.
    """
    workers = [Worker() for _ in range(count_processes())]
    # Idle workers, which generate or optimise.
    generators: SimpleQueue[Worker] = SimpleQueue()
    optimisers: SimpleQueue[Worker] = SimpleQueue()
    for i, worker in enumerate(workers):
        (generators if i < max(1, len(workers) // 2) else optimisers).put(worker)

    def by(idle: SimpleQueue[Worker], *call: Any) -> Any:
        worker = idle.get()
        try:
            return worker.call(*call)
        finally:
            idle.put(worker)

    with (
        ThreadPoolExecutor(generators.qsize()) as generating,
        ThreadPoolExecutor(len(workers)) as optimising,
    ):
        generated = {generating.submit(by, generators, generate, name): name for name in missing}
        optimised = {}
        try:
            for future in as_completed(generated):
                name = generated[future]
                words, bitcode = future.result()
                for level in missing[name]:
                    cpu = levels()[level]
                    job = optimising.submit(by, optimisers, emit_object, bitcode, cpu)
                    optimised[job] = name, level, words
            while not generators.empty():
                optimisers.put(generators.get())
            for future in as_completed(optimised):
                name, level, words = optimised[future]
                yield name, level, Compiled(words, future.result())
        finally:
            for pool in (generating, optimising):
                pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.close()


def link(command: list[str], objects: dict[str, bytes]) -> None:
    """Link object code, each under a name, by a command without its inputs."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = []
        for name in sorted(objects):
            paths.append(os.path.join(scratch, f"{name}.o"))
            with open(paths[-1], "wb") as file:
                file.write(objects[name])
        linking = [*command, *paths, "-lm"]
        if subprocess.run(linking, check=False).returncode:
            raise BuildError(f"linking failed: {' '.join(linking)}")


def _about(kernels: dict[str, Compiled], sources: bytes) -> bytes:
    """Bitcode that lets the library say what it was made from, and what its processor must have."""
    import llvmlite.binding as llvm

    calls = "\n".join(f"{name} {kernels[name].words}" for name in sorted(kernels))
    parts = [cpu_level_source("baseline" not in levels())]
    for name, text in (("sources", sources), ("calls", calls.encode())):
        body = "".join(f"\\{byte:02x}" for byte in text)
        size = len(text)
        parts.append(f'@fastrank_{name} = constant [{size} x i8] c"{body}"\n')
        parts.append(f"@fastrank_{name}_size = constant i64 {size}\n")
    compiled: bytes = llvm.parse_assembly("".join(parts)).as_bitcode()
    return compiled


def _check_loads(path: str) -> None:
    """Let the system's loader resolve every symbol, which finds what code generation added."""
    import ctypes

    try:
        ctypes.CDLL(os.path.abspath(path))
    except OSError as error:
        raise BuildError(f"the linked library does not load: {error}") from error


def main(arguments: list[str]) -> int:
    """Build into a folder, by default that of the package."""
    for path in build(*arguments[:1]):
        print(path)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (BuildError, ValueError) as error:
        sys.exit(f"fastrank.core.native.build: {error}")
