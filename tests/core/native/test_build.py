"""The build: which levels, what is kept from one build to the next, and what it refuses."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fastrank.core.native.compiling.levels import (
    cpu_level_source,
    levels,
    native_level,
    wanted_levels,
)
from fastrank.core.native.compiling.object_cache import (
    BuildError,
    Compiled,
    ObjectCache,
    emit_object,
)
from fastrank.core.native.compiling.worker import Worker, generate
from tests.helpers.installations import ALONE, copy_package, needs_numba_elsewhere, run_python

needs_linker = pytest.mark.skipif(shutil.which("cc") is None, reason="no C linker here")
needs_x86 = pytest.mark.skipif("x86-64-v3" not in levels(), reason="no x86-64 here")


def test_what_fails_in_a_process_that_compiles_is_told():
    """What numba says goes to standard error; a process that dies is an error, too."""
    worker = Worker()

    with pytest.raises(BuildError, match="compiling no_such failed; the messages above say why"):
        worker.call(generate, "no_such")
    assert worker.call(len, b"abc") == 3
    with pytest.raises(BuildError, match="a process that compiled kernels ended with 3"):
        worker.call(os._exit, 3)
    worker.close()


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """A process that compiles."""
    worker = Worker()
    yield worker
    worker.close()


def test_functions_are_compiled_once_and_into_callers_only_where_that_is_asked_for(worker):
    """Not for each number they are called with, nor because an inlined function calls them."""
    llvm = pytest.importorskip("llvmlite.binding")
    codes = [worker.call(generate, name)[1] for name in ("look_up_rows", "scan_qrels")]
    functions = [own for code in codes for own in llvm.parse_bitcode(code).functions]
    attributes = {
        name: [b" ".join(own.attributes) for own in functions if name in own.name]
        for name in ("table_mask", "load_last_word", "note_span", "load_wordB")
    }

    assert attributes == {
        "table_mask": [b""],
        "load_last_word": [b"noinline"] * 2,
        "note_span": [b""],
        "load_wordB": [b"alwaysinline"] * 2,
    }


COMPILED = Compiled("holding int64 1 int64", b"machine\ncode\0")


def test_what_is_kept_comes_back(tmp_path):
    cache = ObjectCache(str(tmp_path))
    cache.put("digest", "level", COMPILED)

    assert cache.get("digest", "level") == COMPILED
    assert cache.get("digest", "another") is None
    assert cache.get("another", "level") is None


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda text: text[:-1],
    "another byte": lambda text: text.replace(b"c", b"d"),
    "empty": lambda text: b"",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_is_damaged_does_not_come_back(damage, tmp_path):
    cache = ObjectCache(str(tmp_path))
    cache.put("digest", "level", COMPILED)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))

    assert cache.get("digest", "level") is None


def test_a_cache_that_cannot_be_written_keeps_nothing(tmp_path, monkeypatch):
    """On a full disk, where a file cannot get its name, or a file is in the place of the folder."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    for name, reason in (("file", "Not a directory"), ("folder", "No space left on device")):
        cache = ObjectCache(str(tmp_path / name))

        cache.put("digest", "level", COMPILED)
        cache.forget_old()

        assert cache.problem == f"{tmp_path / name} ({reason})"
        assert cache.get("digest", "level") is None
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_cache_that_others_may_write_to_is_not_used(tmp_path, monkeypatch):
    """What is in it becomes part of the library, or is run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ObjectCache().put("digest", "level", COMPILED)
    assert ObjectCache().get("digest", "level") == COMPILED
    folder = tmp_path / "fastrank" / "objects"
    folder.chmod(0o777)

    cache = ObjectCache()

    assert cache.problem == f"{folder} (others may write there)"
    assert cache.get("digest", "level") is None


def test_a_home_that_is_no_absolute_path_holds_no_cache(tmp_path, monkeypatch):
    """What lies where somebody happens to stand is not run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", ".")
    monkeypatch.setenv("XDG_CACHE_HOME", "")

    cache = ObjectCache()
    cache.put("digest", "level", COMPILED)

    assert cache.problem == "./.cache (not an absolute path)"
    assert cache.get("digest", "level") is None
    assert list(tmp_path.iterdir()) == []


def test_what_nobody_uses_is_forgotten(tmp_path):
    """After a month; to get something is to use it."""
    cache = ObjectCache(str(tmp_path))
    month_ago = time.time() - 31 * 24 * 3600
    for digest in ("used", "unused"):
        cache.put(digest, "level", COMPILED)
    for path in tmp_path.iterdir():
        os.utime(path, (month_ago, month_ago))
    cache.get("used", "level")

    cache.forget_old()

    assert cache.get("used", "level") == COMPILED
    assert cache.get("unused", "level") is None


def test_only_the_level_of_this_machine_is_built(monkeypatch):
    """Unless all are asked for."""
    monkeypatch.delenv("FASTRANK_BUILD_LEVELS", raising=False)
    assert wanted_levels() == {native_level(): levels()[native_level()]}
    monkeypatch.setenv("FASTRANK_BUILD_LEVELS", "native")
    assert [*wanted_levels()] == [native_level()]
    monkeypatch.setenv("FASTRANK_BUILD_LEVELS", "all")
    assert wanted_levels() == levels()


def test_levels_that_are_none_are_an_error(monkeypatch):
    monkeypatch.setenv("FASTRANK_BUILD_LEVELS", "x86-64-v9")

    with pytest.raises(
        ValueError, match="FASTRANK_BUILD_LEVELS='x86-64-v9': expected 'all', 'native' or"
    ):
        wanted_levels()


# Of all kernels only those of one module that imports little, to be compiled in seconds.
FEW = {"trec.py", "averages.py", "instructions.py", "__init__.py"}
BUILD = (
    "from fastrank.core.native import build\n"
    "ran = build._compile\n"
    "build._compile = lambda missing: print(len(missing)) or ran(missing)\n"
    "print(*build.build())\n"
)
LIBRARY = f"fastrank/core/native/kernels-{native_level()}.so"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the kernels of averages.py alone, built, and beside it `cache`."""
    folder = tmp_path_factory.mktemp("built")
    kernels = copy_package(folder) / "core/kernels"
    for path in kernels.rglob("*.py"):
        if path.name not in FEW:
            path.unlink()
    constants = kernels / "measures/trec.py"
    constants.write_text(
        "".join(re.findall(r"^SMALLEST_GEOMETRIC = .*\n", constants.read_text(), re.MULTILINE))
    )
    compiled, library = build(folder)
    assert int(compiled) == len(list((folder / "cache/fastrank/objects").iterdir())) > 1
    assert library == str(folder / LIBRARY)
    return folder


@pytest.fixture
def few(built: Path, tmp_path: Path) -> Path:
    """A folder like `built`."""
    return Path(shutil.copytree(built, tmp_path / "few"))


def build(folder: Path, **environment: str) -> list[str]:
    """How many kernels are compiled, if any, and the libraries."""
    return run_python(BUILD, folder, XDG_CACHE_HOME=str(folder / "cache"), **environment).split()


@needs_linker
def test_a_library_is_the_same_from_what_was_kept(few):
    made = (few / LIBRARY).read_bytes()
    (few / LIBRARY).unlink()

    assert build(few) == [str(few / LIBRARY)]
    assert (few / LIBRARY).read_bytes() == made


@needs_linker
def test_a_build_in_another_folder_gives_the_same_bytes(built, few):
    """Without anything kept from the other build."""
    shutil.rmtree(few / "cache")
    (few / LIBRARY).unlink()

    assert len(build(few)) == 2
    assert (few / LIBRARY).read_bytes() == (built / LIBRARY).read_bytes()


@needs_linker
def test_only_what_changed_is_compiled_again(few):
    averages = few / "fastrank/core/kernels/measures/averages.py"
    text, line = averages.read_text(), "totals[j] += values"
    assert line in text
    averages.write_text(text.replace(line, "totals[j] += 2 * values", 1))
    sums = (
        "from fastrank.core.native import kernels\n"
        "from fastrank.core.native.buffers import filled\n"
        "totals = filled('d', [0.0])\n"
        "kernels.add_up(filled('d', [1.0, 2.5]), 1, totals)\n"
        "print(totals[0])\n"
    )

    assert build(few) == ["1", str(few / LIBRARY)]
    assert run_python(sums, few, FASTRANK_ENGINE="precompiled") == "7.0"


@needs_linker
@pytest.mark.skipif(len(levels()) < 2, reason="one CPU level here")
def test_a_build_leaves_no_library_of_a_level_that_it_did_not_make(few):
    """Such a library would be older than its sources."""
    native = few / "fastrank/core/native"

    build(few, FASTRANK_BUILD_LEVELS="all")
    assert {path.stem for path in native.glob("*.so")} == {f"kernels-{name}" for name in levels()}
    build(few)

    assert [path.name for path in native.glob("*.so")] == [Path(LIBRARY).name]


def pretend_level(level: int, folder: Path) -> None:
    """A copy of the package in a folder, with a library that finds a processor of this level."""
    source = folder / "level.c"
    source.write_text(f"long long fastrank_cpu_level(void) {{ return {level}; }}\n")
    target = copy_package(folder) / "core/native/kernels-x86-64-v3.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(target), str(source)], check=True)


@needs_linker
@needs_x86
@needs_numba_elsewhere
def test_a_library_for_a_better_processor_is_not_used(tmp_path):
    """As when a wheel that was made for one machine comes to another."""
    pretend_level(2, tmp_path)

    assert run_python(
        f"{ALONE}from fastrank.core.native import engine; print(engine())", tmp_path
    ) == ("jit (the compiled library requires x86-64-v3, which this processor lacks)")


@needs_linker
@needs_x86
def test_a_processor_that_numpy_cannot_run_on_is_an_error(tmp_path):
    """Not the end of the process when the JIT imports numpy."""
    pretend_level(1, tmp_path)
    code = (
        f"{ALONE}import fastrank.core.native\n"
        "try:\n    fastrank.core.native.engine()\n"
        "except fastrank.errors.EngineError as error:\n    print(error)\n"
    )

    assert run_python(code, tmp_path) == (
        "the compiled library requires x86-64-v2, which this processor lacks, as numpy 2.4 does. "
        "In a virtual machine, choose the CPU model of the host; with an older numpy, set "
        "FASTRANK_ENGINE=jit"
    )


@pytest.fixture(scope="module")
def level_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that ends with the level of the processor."""
    folder = tmp_path_factory.mktemp("level")
    llvm = pytest.importorskip("llvmlite.binding")
    code = emit_object(llvm.parse_assembly(cpu_level_source(True)).as_bitcode(), "x86-64-v2")
    (folder / "level.o").write_bytes(code)
    (folder / "main.c").write_text(
        "int fastrank_cpu_level(void);\nint main(void) { return fastrank_cpu_level(); }\n"
    )
    subprocess.run(["cc", "-o", "level", "main.c", "level.o"], cwd=folder, check=True)
    return folder / "level"


@needs_linker
@needs_x86
@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="no qemu-x86_64 here")
@pytest.mark.parametrize(
    ("model", "level"),
    [("Conroe", 1), ("qemu64", 1), ("Nehalem", 2), ("SandyBridge", 2), ("max", 3)],
)
def test_the_library_finds_the_level_of_the_processor(model, level, level_program):
    command = ["qemu-x86_64", "-cpu", model, str(level_program)]

    assert subprocess.run(command, check=False, capture_output=True).returncode == level


@needs_linker
def test_an_entry_point_takes_its_arguments_from_memory(tmp_path, worker):
    """Each in eight bytes, of an array the address and the length."""
    compiled, library = tmp_path / "widest.o", tmp_path / "widest.so"

    words, bitcode = worker.call(generate, "widest")
    compiled.write_bytes(worker.call(emit_object, bitcode, next(iter(levels().values()))))

    assert words == "releasing int64 1 q"
    subprocess.run(["cc", "-shared", "-o", str(library), str(compiled)], check=True)
    found, error = ctypes.c_int64(), ctypes.c_void_p()
    offsets = (ctypes.c_int64 * 4)(0, 2, 9, 10)
    arguments = (ctypes.c_int64 * 2)(ctypes.addressof(offsets), len(offsets))
    status = ctypes.CDLL(str(library)).fastrank_widest(
        ctypes.byref(found), ctypes.byref(error), arguments
    )
    assert (status, found.value) == (0, 7)
