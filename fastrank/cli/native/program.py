"""Links the executable `trec_eval` from the front in C and the objects of the kernels.

python -m fastrank.cli.native.program FOLDER
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from fastrank.cli.native.header import FRONT, header, needed_kernels
from fastrank.cli.native.header import LAUNCHER as LAUNCHER
from fastrank.core.native.build import compile_kernels, link, linker
from fastrank.core.native.compiling.digests import kernel_digests
from fastrank.core.native.compiling.levels import cpu_level_source, levels
from fastrank.core.native.compiling.object_cache import (
    BuildError,
    Compiled,
    emit_object,
    first_glibc,
)

# The exit status of a shell that does not find a command.
NO_COMMAND = 127


def compile_needed() -> dict[str, dict[str, Compiled]]:
    """The kernels of the executable, of each wanted CPU level; raises as `compile_kernels` does."""
    return compile_kernels(needed_kernels(kernel_digests()))


def link_program(compiled: dict[str, dict[str, Compiled]], folder: str, *more: str) -> str:
    """Link the executable into a folder, and return its path.

    compiled: the kernels of each CPU level, of which the lowest is taken. more: options of the
    compiler. Raises BuildError if it fails.
    """
    import llvmlite.binding as llvm

    level = next(iter(compiled))
    kernels = {name: compiled[level][name] for name in needed_kernels(compiled[level])}
    objects = {name: kernel.code for name, kernel in kernels.items()}
    source = cpu_level_source("baseline" not in levels())
    objects["cpu_level"] = emit_object(llvm.parse_assembly(source).as_bitcode(), levels()[level])
    command = [*linker(), "-std=c11", "-O2", *more, FRONT]
    glibc = first_glibc(llvm.get_process_triple())
    if glibc:
        command.append("-Wl,--wrap=__libc_start_main")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        words = {name: kernel.words for name, kernel in kernels.items()}
        with open(os.path.join(scratch, "declared.h"), "w") as file:
            file.write(header(words, level, glibc))
        linked, program = (os.path.join(path, "trec_eval") for path in (scratch, folder))
        link([*command, f"-I{scratch}", "-o", linked], objects)
        _check_starts(linked)
        os.replace(linked, program)
    return program


def _check_starts(program: str) -> None:
    """Let it find that it has no files, and no Python to say so."""
    nowhere = {"PATH": os.devnull}
    done = subprocess.run([program], env=nowhere, capture_output=True, check=False)
    if done.returncode != NO_COMMAND:
        raise BuildError(f"the linked executable does not start: status {done.returncode}")


def main(folder: str, *more: str) -> int:
    """Compile what is needed and link it; more: options of the compiler."""
    print(link_program(compile_needed(), folder, *more))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (BuildError, ValueError) as error:
        sys.exit(f"fastrank.cli.native.program: {error}")
