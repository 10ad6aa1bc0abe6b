"""The CPU levels that libraries are compiled for, and which of them a build makes."""

from __future__ import annotations

import os
import platform

VARIABLE = "FASTRANK_BUILD_LEVELS"

# What x86-64-v3 has and v2 has not, by LLVM's names: what `cpu_level` looks for in the library.
_V3_FEATURES = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")


def levels() -> dict[str, str]:
    """Every CPU level of this kind of machine: name to LLVM's name of the CPU."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return {"x86-64-v2": "x86-64-v2", "x86-64-v3": "x86-64-v3"}
    return {"baseline": "generic"}


def wanted_levels() -> dict[str, str]:
    """The CPU levels that a build makes, as the environment variable FASTRANK_BUILD_LEVELS says.

    `native`, the default, is the level of this processor alone: the result stays on this machine.
    `all` is for wheels that go to others. Raises ValueError for anything else.
    """
    wanted = os.environ.get(VARIABLE) or "native"
    if wanted not in ("all", "native"):
        raise ValueError(f"{VARIABLE}={wanted!r}: expected 'all' or 'native'")
    found = levels()
    if wanted == "all":
        return found
    own = native_level()
    return {own: found[own]}


def native_level() -> str:
    """The best level that this processor has."""
    *lower, best = levels()
    if not lower:
        return best
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    return best if all(features.get(name) for name in _V3_FEATURES) else lower[-1]
