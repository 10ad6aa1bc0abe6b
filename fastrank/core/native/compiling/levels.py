"""The CPU levels and platforms that libraries are compiled for, and those of this machine."""

from __future__ import annotations

import os
import platform
import re
import sysconfig
from collections.abc import Iterable

VARIABLE = "FASTRANK_BUILD_LEVELS"

# The features that x86-64-v3 has and v2 has not, by LLVM's names: `cpu_level` looks for them in the
# library.
_V3_FEATURES = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")

# x86-64-v2 has SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT (leaf 1), and LAHF (extended leaf).
# x86-64-v3 adds FMA, MOVBE, OSXSAVE, AVX, F16C (leaf 1), SSE and AVX state (XCR0), BMI1, AVX2, BMI2
# (leaf 7), and LZCNT (extended leaf). The code that looks for them uses none of these.
_V2_LEAF1 = 1 << 0 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23
_V3_LEAF1 = 1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29
_CPUID = 'asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}"'
_XGETBV = 'asm sideeffect "xgetbv", "={ax},={dx},{cx}"'
_X86 = f"""
%registers = type {{i32, i32, i32, i32}}
define i32 @fastrank_cpu_level() #0 {{
  %leaf1 = call %registers {_CPUID}(i32 1, i32 0)
  %ecx1 = extractvalue %registers %leaf1, 2
  %extended = call %registers {_CPUID}(i32 {-(2**31) + 1}, i32 0)
  %ecxe = extractvalue %registers %extended, 2
  %older = and i32 %ecx1, {_V2_LEAF1}
  %hasolder = icmp eq i32 %older, {_V2_LEAF1}
  %haslahf = trunc i32 %ecxe to i1
  %v2 = and i1 %hasolder, %haslahf
  br i1 %v2, label %newer, label %v1only
newer:
  %features1 = and i32 %ecx1, {_V3_LEAF1}
  %has1 = icmp eq i32 %features1, {_V3_LEAF1}
  br i1 %has1, label %more, label %v2only
more:
  %xcr0 = call {{i32, i32}} {_XGETBV}(i32 0)
  %enabled = extractvalue {{i32, i32}} %xcr0, 0
  %avx = and i32 %enabled, {1 << 1 | 1 << 2}
  %hasavx = icmp eq i32 %avx, {1 << 1 | 1 << 2}
  %leaf7 = call %registers {_CPUID}(i32 7, i32 0)
  %ebx7 = extractvalue %registers %leaf7, 1
  %features7 = and i32 %ebx7, {1 << 3 | 1 << 5 | 1 << 8}
  %has7 = icmp eq i32 %features7, {1 << 3 | 1 << 5 | 1 << 8}
  %lzcnt = and i32 %ecxe, {1 << 5}
  %haslzcnt = icmp eq i32 %lzcnt, {1 << 5}
  %some = and i1 %hasavx, %has7
  %all = and i1 %some, %haslzcnt
  br i1 %all, label %v3, label %v2only
v3:
  ret i32 3
v2only:
  ret i32 2
v1only:
  ret i32 1
}}
attributes #0 = {{ "target-cpu"="x86-64" "target-features"="" }}
"""
_ELSEWHERE = "define i32 @fastrank_cpu_level() {\n  ret i32 0\n}\n"


def levels() -> dict[str, str]:
    """Every CPU level of this kind of machine: name to LLVM's name of the CPU."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return {"x86-64-v2": "x86-64-v2", "x86-64-v3": "x86-64-v3"}
    return {"baseline": "generic"}


def wanted_levels() -> dict[str, str]:
    """The CPU levels that a build makes, as the environment variable FASTRANK_BUILD_LEVELS says.

    `native`, the default, is the level of this processor alone: the result stays on this machine.
    `all` is for wheels that go to others, `none` for those without a library. Raises ValueError for
    anything else.
    """
    choice = os.environ.get(VARIABLE) or "native"
    if choice not in ("all", "native", "none"):
        raise ValueError(f"{VARIABLE}={choice!r}: expected 'all', 'native' or 'none'")
    if choice == "none":
        return {}
    cpus = levels()
    if choice == "all":
        return cpus
    level = native_level()
    return {level: cpus[level]}


def native_level() -> str:
    """The best level that this processor has."""
    *lower, best = levels()
    if not lower:
        return best
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    return best if all(features.get(name) for name in _V3_FEATURES) else lower[-1]


def cpu_level_source(on_x86: bool) -> str:
    """LLVM code of `fastrank_cpu_level`, by which the library itself says what the processor has.

    CPUID, since a library that the processor cannot run must not be asked for anything else: 3 when
    the processor and the operating system support x86-64-v3, 2 for x86-64-v2, 1 for less; 0 where
    there is one level only.
    """
    return _X86 if on_x86 else _ELSEWHERE


# The oldest glibc that is claimed, even where the libraries need nothing newer: manylinux2014's.
_OLDEST_GLIBC = (2, 17)
# macOS runs on arm64 processors since version 11.
_FIRST_ON_ARM = (11, 0)


def platform_tag(libraries: Iterable[str]) -> str:
    """The tag of a wheel with these libraries, made on this system for all of its CPU levels."""
    python = sysconfig.get_platform()
    if python.startswith("macosx-"):
        return macos_tag(python, platform.machine(), os.environ.get("MACOSX_DEPLOYMENT_TARGET"))
    if python.startswith("linux-"):
        needed = {version for path in libraries for version in needed_versions(path)}
        return manylinux_tag(needed, platform.machine()) or local_tag()
    return local_tag()


def local_tag() -> str:
    """The tag of this very system, as for a library that need not run elsewhere."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def manylinux_tag(needed: Iterable[str], machine: str) -> str:
    """The tag of libraries that need these versions of symbols, such as `GLIBC_2.17`.

    Empty if they need none of glibc, or one that does not name a glibc (`GLIBC_ABI_DT_RELR`).
    """
    matches = [re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version) for version in needed]
    if not matches or None in matches:
        return ""
    newest = max((int(match[1]), int(match[2])) for match in matches if match)
    return "manylinux_{}_{}_{}".format(*max(newest, _OLDEST_GLIBC), machine)


def macos_tag(python: str, machine: str, target: str | None) -> str:
    """The tag of a library for one architecture.

    python: the platform of Python, whose own architecture may be `universal2`.
    target: the oldest macOS that the library is linked for, None for Python's.
    """
    version = target or python.split("-")[1]
    numbers = [int(part) for part in version.split(".")]
    oldest = (numbers[0], numbers[1] if len(numbers) > 1 else 0)
    if oldest[0] > 10:
        # Minor versions of macOS 11 and later have no tags of their own.
        oldest = (oldest[0], 0)
    if machine == "arm64":
        oldest = max(oldest, _FIRST_ON_ARM)
    return "macosx_{}_{}_{}".format(*oldest, machine)


def needed_versions(path: str) -> set[str]:
    """The versions of symbols that an ELF library expects of others, such as `GLIBC_2.2.5`."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.gnuversions import GNUVerNeedSection

    with open(path, "rb") as file:
        return {
            version.name
            for section in ELFFile(file).iter_sections()
            if isinstance(section, GNUVerNeedSection)
            for _, versions in section.iter_versions()
            for version in versions
        }
