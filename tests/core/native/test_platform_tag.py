"""The tag of a wheel: which systems the libraries in it run on."""

import platform
import sys
from pathlib import Path

import pytest

import fastrank
from fastrank.core.native.compiling.levels import macos_tag, manylinux_tag, needed_versions
from tests.helpers.native import needs_compiler

LIBRARIES = sorted(Path(fastrank.__file__).parent.glob("core/native/*.so"))


@pytest.mark.parametrize(
    ("needed", "tag"),
    [
        ({"GLIBC_2.2.5", "GLIBC_2.4"}, "manylinux_2_17_x86_64"),
        ({"GLIBC_2.2.5", "GLIBC_2.29"}, "manylinux_2_29_x86_64"),
        ({"GLIBC_2.9", "GLIBC_2.34"}, "manylinux_2_34_x86_64"),
        ({"GLIBC_2.2.5", "GLIBC_ABI_DT_RELR"}, ""),
        (set(), ""),
    ],
    ids=["old", "libm of 2.29", "numbers, not texts", "not a glibc", "another libc"],
)
def test_the_newest_symbol_decides_about_manylinux(needed, tag):
    assert manylinux_tag(needed, "x86_64") == tag


@pytest.mark.parametrize(
    ("python", "machine", "target", "tag"),
    [
        ("macosx-10.13-universal2", "x86_64", None, "macosx_10_13_x86_64"),
        ("macosx-10.13-universal2", "arm64", None, "macosx_11_0_arm64"),
        ("macosx-11.0-arm64", "arm64", "14.5", "macosx_14_0_arm64"),
        ("macosx-10.9-x86_64", "x86_64", "12", "macosx_12_0_x86_64"),
    ],
)
def test_a_library_for_macos_has_one_architecture(python, machine, target, tag):
    """Python's may be universal2, and its own oldest macOS another."""
    assert macos_tag(python, machine, target) == tag


@pytest.mark.skipif(not LIBRARIES or sys.platform != "linux", reason="no compiled library here")
@pytest.mark.skipif("glibc" not in platform.libc_ver(), reason="not glibc")
@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.stem)
def test_a_library_that_is_linked_here_loads_on_old_systems(path):
    """No symbol is newer than manylinux2014's glibc, however new that of this system is."""
    pytest.importorskip("elftools")
    needed = needed_versions(str(path))

    assert any(version.startswith("GLIBC_") for version in needed)
    assert manylinux_tag(needed, "x86_64") == "manylinux_2_17_x86_64"


@pytest.mark.skipif("glibc" not in platform.libc_ver(), reason="not glibc")
@needs_compiler
def test_so_does_the_executable(executable):
    """Although a program binds its start to the newest glibc that it is linked with."""
    pytest.importorskip("elftools")

    assert manylinux_tag(needed_versions(str(executable)), "x86_64") == "manylinux_2_17_x86_64"
