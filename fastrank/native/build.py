"""Compiles every exported kernel into a shared library for this machine's CPU level, or for all.

    python -m fastrank.native.build [FOLDER]

Numba turns each entry point into LLVM code, llvmlite optimises it as one module and writes object
code, and the system's `cc` links the objects of all kernels. Object code is kept in the user's
cache under a digest of what it is made from, so that only what changed is compiled again.
README.md in this folder says where the time goes.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from fastrank.native.compiling.cpu_level import cpu_level_source
from fastrank.native.compiling.digests import Needed, needed_by_kernel
from fastrank.native.compiling.division import divide
from fastrank.native.compiling.errors import BuildError
from fastrank.native.compiling.levels import levels, wanted_levels
from fastrank.native.compiling.object_cache import Compiled, ObjectCache
from fastrank.native.compiling.optimise import emit_object
from fastrank.native.compiling.processes import count_processes
from fastrank.native.sources import NATIVE, library_path, read_sources


def build(folder: str = NATIVE, *, installed: bool = False) -> list[str]:
    """Compile and link the libraries of the wanted CPU levels into `folder`; return their paths.

    A library carries its sources, so that it is not used when they have changed; one for an
    installed package, whose sources do not change, carries none and is loaded without a look.
    Libraries of other levels, which an earlier build may have left in `folder`, are removed.
    Raises BuildError when there is no C linker or a library would need more than libc and libm,
    and ValueError when FASTRANK_BUILD_LEVELS is not understood.
    """
    linker = shlex.split(os.environ.get("CC") or "cc")
    if shutil.which(linker[0]) is None:
        raise BuildError(f"no C linker: {linker[0]!r} is not on the PATH")
    if sys.platform == "linux":
        # No undefined symbols, whatever the process that loads the library happens to hold;
        # and no local ones, which nothing looks up.
        linker += ["-Wl,-z,defs", "-s"]
    wanted = wanted_levels()
    sources = b"" if installed else read_sources()
    with tempfile.TemporaryDirectory() as scratch:
        compiled = _compile_kernels([*wanted], scratch)
        made = []
        for level, cpu in wanted.items():
            linked = os.path.join(scratch, f"{level}.so")
            _link([*linker, "-shared", "-o", linked], compiled[level], sources, cpu)
            _check_loads(linked)
            made.append(linked)
        os.makedirs(folder, exist_ok=True)
        targets = [library_path(level, folder) for level in wanted]
        for linked, target in zip(made, targets, strict=True):
            _put_in_place(linked, target)
    for level in {*levels()} - {*wanted}:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(library_path(level, folder))
    return targets


def _compile_kernels(wanted: list[str], scratch: str) -> dict[str, dict[str, Compiled]]:
    """Each wanted level's kernels by name: as they were kept, or compiled and then kept."""
    cache = ObjectCache()
    needed = needed_by_kernel()
    found: dict[str, dict[str, Compiled]] = {level: {} for level in wanted}
    missing: dict[str, list[str]] = {}
    for name, one in needed.items():
        for level in wanted:
            kept = cache.get(one.digest, level)
            if kept is None:
                missing.setdefault(name, []).append(level)
            else:
                found[level][name] = kept
    if missing:
        _run_workers(missing, needed, scratch)
    for name, absent in missing.items():
        for level in absent:
            found[level][name] = _read_compiled(scratch, name, level)
            cache.put(needed[name].digest, level, found[level][name])
    cache.forget_old()
    return found


def _run_workers(missing: dict[str, list[str]], needed: dict[str, Needed], scratch: str) -> None:
    """Compile kernels for the levels they are missing for, in processes side by side."""
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": next(iter(levels().values())),
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_DISABLE_JIT": "0",
        # Where colorama is there, colouring messages that nobody sees takes a seventh of its time.
        "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1",
        # Where numba optimises, vectorising is left to what comes after, which knows the CPU level.
        "NUMBA_LOOP_VECTORIZE": "0",
        "NUMBA_SLP_VECTORIZE": "0",
        "PYTHONPATH": os.pathsep.join([os.path.dirname(os.path.dirname(NATIVE)), *sys.path]),
    }
    command = [sys.executable, "-m", "fastrank.native.compiling.worker"]
    functions = {name: needed[name].functions for name in missing}
    shares = divide(functions, count_processes())
    running = []
    for i, names in enumerate(shares):
        job = {
            "folder": scratch,
            "kernels": {name: missing[name] for name in names},
            "known": [*needed],
        }
        path = os.path.join(scratch, f"job{i}.json")
        with open(path, "w") as file:
            json.dump(job, file)
        running.append(subprocess.Popen([*command, path], env=environment))
    statuses = [process.wait() for process in running]
    if any(statuses):
        raise BuildError("compiling the kernels failed; the messages above say why")


def _read_compiled(scratch: str, name: str, level: str) -> Compiled:
    """What a worker has written about a kernel."""
    with open(os.path.join(scratch, f"{name}.json")) as file:
        described = json.load(file)
    with open(os.path.join(scratch, f"{name}.{level}.o"), "rb") as code:
        return Compiled(described["signature"], described["held"], code.read())


def _link(command: list[str], compiled: dict[str, Compiled], sources: bytes, cpu: str) -> None:
    """Link the kernels, and what the library says about itself, by a command without its inputs."""
    names = sorted(compiled)
    about = _about(
        sources=sources,
        signatures="\n".join(f"{name} {compiled[name].signature}" for name in names).encode(),
        held=" ".join(name for name in names if compiled[name].held).encode(),
    )
    with tempfile.TemporaryDirectory() as scratch:
        paths = []
        for name, code in [*((name, compiled[name].code) for name in names),
                           ("about", emit_object(about, cpu))]:  # fmt: skip
            paths.append(os.path.join(scratch, f"{name}.o"))
            with open(paths[-1], "wb") as file:
                file.write(code)
        linking = [*command, *paths, "-lm"]
        if subprocess.run(linking, check=False).returncode:
            raise BuildError(f"linking failed: {' '.join(linking)}")


def _about(**texts: bytes) -> bytes:
    """Bitcode that lets the library say what it was made from, and what its processor must have."""
    import llvmlite.binding as llvm

    parts = [cpu_level_source("baseline" not in levels())]
    for name, text in texts.items():
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


def _put_in_place(linked: str, target: str) -> None:
    """Copy beside the target and rename: a process that has the old library mapped keeps it, and
    no process ever sees half of the new one.
    """
    shutil.copyfile(linked, f"{target}.new")
    os.replace(f"{target}.new", target)


def main(arguments: list[str]) -> int:
    """Build into a folder, by default that of the package."""
    for path in build(*arguments[:1]):
        print(path)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (BuildError, ValueError) as error:
        sys.exit(f"fastrank.native.build: {error}")
