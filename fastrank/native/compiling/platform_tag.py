"""The platform in the name of a wheel: which systems its libraries run on."""

from __future__ import annotations

import os
import platform
import re
import sysconfig
from collections.abc import Iterable

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
    found = [re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version) for version in needed]
    if not found or None in found:
        return ""
    newest = max((int(match[1]), int(match[2])) for match in found if match)
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
