"""Compiles some kernels in a process of its own: `python -m fastrank.native.compiling.worker JOB`.

Numba reads the CPU it compiles for from the environment when it is imported, and its Python code is
most of the work, so that a build has several of these side by side.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import Any

from fastrank.native.compiling.errors import BuildError
from fastrank.native.compiling.levels import levels
from fastrank.native.compiling.optimise import emit_object


def compile_kernels(job: dict[str, Any]) -> None:
    """Write object code and description of each kernel of a job into its folder.

    job: `folder`; `kernels`, the CPU levels wanted of each; `known`, the names of all kernels.
    """
    # Numba makes millions of objects that live until the end: looking for garbage among them took
    # a fifth of the time.
    gc.set_threshold(1_000_000, 100, 1000)
    from fastrank.native.compiling.frontend import Frontend
    from fastrank.native.declare import KERNELS

    frontend = Frontend()
    if set(KERNELS) != set(job["known"]):
        differing = sorted(set(KERNELS) ^ set(job["known"]))
        raise BuildError(
            f"kernels {differing}: each needs a decorator @kernel(...) in a file below kernels/ "
            f"that fastrank.native.entries imports"
        )
    cpus = levels()
    for name, wanted in job["kernels"].items():
        bitcode = frontend.compile(name)
        described = {"signature": KERNELS[name].signature, "held": KERNELS[name].holds_gil}
        with open(os.path.join(job["folder"], f"{name}.json"), "w") as file:
            json.dump(described, file)
        for level in wanted:
            with open(os.path.join(job["folder"], f"{name}.{level}.o"), "wb") as compiled:
                compiled.write(emit_object(bitcode, cpus[level]))


def main(path: str) -> None:
    """Do the job that a file describes."""
    with open(path) as file:
        job = json.load(file)
    try:
        compile_kernels(job)
    except BuildError as error:
        sys.exit(f"fastrank.native.build: {error}")


if __name__ == "__main__":
    main(sys.argv[1])
