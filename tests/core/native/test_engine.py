"""The engines: chosen as documented, never older than the sources, and of one kind of symbols."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import filled, zeros
from fastrank.core.native.compiling.levels import levels
from fastrank.core.native.compiling.object_cache import ALLOWED, BuildError, emit_object
from fastrank.core.native.library import library_path, read_sources
from fastrank.core.native.objects import api_with_numpy
from tests.helpers.installations import (
    ALONE,
    copy_package,
    needs_checkout,
    needs_numba_elsewhere,
    run_python,
    try_python,
)
from tests.helpers.paths import DATA, PACKAGE

LIBRARIES = sorted(PACKAGE.glob("core/native/*.so"))
needs_library = pytest.mark.skipif(not LIBRARIES, reason="no compiled library here")
SHOW = "import fastrank; print(fastrank.testing.engine())"
COUNT = "from fastrank.core.native import kernels; print(kernels.count_lines(b'a\\nb'))"


@needs_library
def test_the_library_is_used_when_there_is_one():
    assert run_python(SHOW).startswith("precompiled (")


@pytest.mark.parametrize(
    ("setting", "engine"),
    [
        ({"FASTRANK_ENGINE": "jit"}, "jit (FASTRANK_ENGINE=jit)"),
        ({"FASTRANK_ENGINE": "plain"}, "plain (FASTRANK_ENGINE=plain)"),
        ({"NUMBA_DISABLE_JIT": "1"}, "plain (NUMBA_DISABLE_JIT is set)"),
    ],
    ids=["jit", "plain", "no jit"],
)
def test_the_environment_can_insist_on_another_engine(setting, engine):
    assert run_python(SHOW, **setting) == engine


def test_an_unknown_engine_is_an_error():
    status, _, complaint = try_python(SHOW, FASTRANK_ENGINE="gpu")

    assert status != 0
    assert "FASTRANK_ENGINE='gpu': expected 'precompiled', 'jit' or 'plain'" in complaint


WITHOUT_NUMBA = "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None\n"
PYPY = "import sys; sys.implementation.name = 'pypy'\n"
WINDOWS = "import mmap, numpy, os, sys; sys.platform = 'win32'; del os.preadv, mmap.MAP_PRIVATE\n"


@pytest.mark.parametrize(
    ("lacking", "engine", "told"),
    [
        (WITHOUT_NUMBA, "jit", "numba is not installed: pip install 'fastrank-eval[jit]'"),
        (PYPY, "precompiled", "compiled kernels need CPython, and this is pypy"),
        (WINDOWS, "jit", "compiled kernels need Linux or macOS, and this is win32"),
        ("", "jit", "NUMBA_DISABLE_JIT is set"),
    ],
    ids=["numba", "pypy", "windows", "no jit"],
)
def test_an_engine_that_is_asked_for_and_cannot_run_is_an_error(lacking, engine, told):
    disabled = {} if lacking else {"NUMBA_DISABLE_JIT": "1"}
    status, _, complaint = try_python(lacking + SHOW, FASTRANK_ENGINE=engine, **disabled)

    assert status == 1
    assert complaint.endswith(f"FASTRANK_ENGINE={engine}: {told}\n")


# Which are evaluated with the result that follows, whatever runs the kernels.
FILES = "data/digits.qrels", "data/pixels.run"
EVALUATE = f"import fastrank as fr; print(fr.evaluate(*{FILES}, 'map').mean['map'])"
# The same where a few bytes are many.
EVALUATE_FEW = """
from fastrank.core.native import interpreted
import fastrank as fr
interpreted.LARGE = 8
print(fr.evaluate({"q": {"d": 1}}, {"q": {"d": 0.5, "e": 0.75}}, "map").mean["map"])"""
CPYTHON_ELSEWHERE = "use CPython on macOS, in WSL, or on Linux with glibc"
MUSL = "import sysconfig; sysconfig.get_config_var = lambda _: 'cpython-312-x86_64-linux-musl'\n"


@pytest.mark.parametrize(
    ("code", "reason", "remedy"),
    [
        (
            WITHOUT_NUMBA + EVALUATE,
            "no compiled library is installed, and numba is not installed",
            "pip install 'fastrank-eval[jit]'",
        ),
        (
            WITHOUT_NUMBA + MUSL + EVALUATE_FEW,
            "no compiled library is installed, and numba is not installed",
            CPYTHON_ELSEWHERE,
        ),
        (
            PYPY + EVALUATE_FEW,
            "compiled kernels need CPython, and this is pypy",
            CPYTHON_ELSEWHERE,
        ),
        (
            WINDOWS + EVALUATE_FEW,
            "compiled kernels need Linux or macOS, and this is win32",
            CPYTHON_ELSEWHERE,
        ),
    ],
    ids=["numba", "musl", "pypy", "windows"],
)
def test_where_nothing_is_compiled_large_inputs_are_told_once_how_to_be_fast(
    code, reason, remedy, tmp_path
):
    copy_package(tmp_path)
    (tmp_path / "data").symlink_to(DATA)

    status, shown, complaint = try_python(f"{ALONE}{code}", tmp_path)

    assert (status, shown) == (0, "0.5" if EVALUATE_FEW in code else "0.43476959975458557")
    assert complaint.count("\n") == 1
    assert complaint.startswith(f"fastrank: {reason}")
    assert remedy in complaint


@pytest.mark.parametrize(
    ("code", "setting"),
    [(COUNT, {}), (EVALUATE_FEW, {"FASTRANK_ENGINE": "plain"})],
    ids=["small", "asked for"],
)
def test_nothing_is_said_of_small_inputs_or_a_plain_engine_that_is_asked_for(
    code, setting, tmp_path
):
    copy_package(tmp_path)
    (tmp_path / "data").symlink_to(DATA)

    status, _, complaint = try_python(f"{ALONE}{WITHOUT_NUMBA}{code}", tmp_path, **setting)

    assert (status, complaint) == (0, "")


def test_on_pypy_logarithms_are_those_of_the_c_library():
    show = "import math; from fastrank.core.native.logarithm import log2; print(log2(26).hex())"

    _, shown, _ = try_python(f"{PYPY}{show}; print(log2 is math.log2)")

    # PyPy's own is 0x1.2cd4011c8f11ap+2; the logarithm is 4.70043971814109216...
    assert shown.split() == ["0x1.2cd4011c8f119p+2", "False"]


SOURCES = [
    "core/kernels/measures/trec.py",
    "core/kernels/texts/text.py",
    "core/native/build.py",
    "core/native/records/runs.py",
    "core/native/compiling/object_cache.py",
    "core/native/codes.py",
]


@needs_library
@needs_checkout
def test_a_library_older_than_its_sources_is_not_used(tmp_path):
    """Whichever source changed, even if its time stamp and size did not."""
    package = copy_package(tmp_path, libraries=True)
    assert read_sources(str(package / "core")) == read_sources()
    for module in SOURCES:
        path = package / module
        before, text = path.stat(), path.read_text()
        path.write_text(text.replace("the", "teh", 1))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert read_sources(str(package / "core")) != read_sources(), module
        if module != SOURCES[-1]:
            path.write_text(text)

    told = "the compiled library does not match the source files"
    assert run_python(SHOW, tmp_path) == f"jit ({told})"
    status, _, complaint = try_python(SHOW, tmp_path, FASTRANK_ENGINE="precompiled")
    assert status != 0
    assert f"FASTRANK_ENGINE=precompiled: {told}" in complaint


@needs_numba_elsewhere
def test_without_libraries_the_jit_takes_over(tmp_path):
    """As after an installation without a C linker."""
    copy_package(tmp_path)

    assert run_python(ALONE + SHOW, tmp_path) == "jit (no compiled library is installed)"


@needs_numba_elsewhere
@needs_library
def test_a_broken_library_is_not_used(tmp_path):
    """Something else under its name: the JIT, with the loader's reason."""
    for library in copy_package(tmp_path, libraries=True).glob("core/native/*.so"):
        library.write_bytes(b"not a library")

    shown = run_python(ALONE + SHOW, tmp_path)

    assert re.fullmatch(r"jit \(the compiled library .* cannot be used.*\)", shown, re.DOTALL)


# As in a library of an installed package, which is as old as the files beside it.
WITHOUT_SOURCES = (
    "from fastrank.core.native import library\n"
    "text = library._text\n"
    "library._text = lambda handle, name: b'' if name == 'sources' else text(handle, name)\n"
)


@pytest.fixture
def checkout(tmp_path: Path) -> dict[str, str]:
    """A checkout without a library in the folder `checkout`, and an installation in `site`."""
    copy_package(tmp_path / "checkout")
    copy_package(tmp_path / "site", libraries=True)
    return {"PYTHONPATH": str(tmp_path / "site"), "SITE": str(tmp_path / "site")}


@needs_library
@pytest.mark.parametrize("carried", ["", WITHOUT_SOURCES], ids=["editable", "wheel"])
def test_a_checkout_uses_the_library_of_an_installation(carried, tmp_path, checkout):
    """`pip install .`, then Python in the checkout, which imports the sources there."""
    show = "import fastrank; print(fastrank.__file__)\n" + SHOW

    shown = run_python(ALONE + carried + show, tmp_path / "checkout", **checkout).split("\n")

    assert shown[0] == str(tmp_path / "checkout/fastrank/__init__.py")
    assert shown[1].startswith("precompiled (")


@needs_numba_elsewhere
@needs_library
@pytest.mark.parametrize("changed", ["checkout", "site"])
def test_a_checkout_with_other_sources_does_not_use_the_installed_library(
    changed, tmp_path, checkout
):
    file = tmp_path / changed / "fastrank/core/native/codes.py"
    file.write_text(file.read_text() + "# Changed.\n")

    shown = run_python(ALONE + WITHOUT_SOURCES + SHOW, tmp_path / "checkout", **checkout)

    assert shown == "jit (the compiled library does not match the source files)"


@needs_numba_elsewhere
def test_the_jit_says_once_that_it_compiles_and_how_to_avoid_it(tmp_path):
    """Only where nobody asked for it, and only if there is something to compile."""
    copy_package(tmp_path)
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    code = f"{ALONE}{COUNT}; kernels.find_no_field"

    status, shown, complaint = try_python(code, tmp_path, CC="no-such-compiler", **cache)

    assert (status, shown) == (0, "2")
    assert complaint == (
        "fastrank: no compiled library is installed; compiling the kernels that are needed, up to a"
        " minute once. To avoid this, install a C compiler (gcc) and run: "
        f"{sys.executable} -m fastrank.core.native.build\n"
    )
    assert try_python(code, tmp_path, **cache) == (0, "2", "")


def test_the_jit_says_that_compiled_code_cannot_be_kept(tmp_path):
    (tmp_path / "fastrank").write_text("in the way")

    status, shown, complaint = try_python(
        COUNT, FASTRANK_ENGINE="jit", XDG_CACHE_HOME=str(tmp_path)
    )

    assert (status, shown) == (0, "2")
    assert complaint == (
        "fastrank: FASTRANK_ENGINE=jit; compiling the kernels that are needed, up to a minute in"
        f" every process, because code cannot be kept in {tmp_path}/fastrank (File exists)."
        " To avoid this, set XDG_CACHE_HOME to a folder of your own\n"
    )


def test_the_jit_works_if_the_disk_is_full(tmp_path):
    """Of the file of a kernel there is room for a part."""
    code = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"

    status, shown, complaint = try_python(
        f"{code}{COUNT}", tmp_path, FASTRANK_ENGINE="jit", XDG_CACHE_HOME=str(tmp_path)
    )

    assert (status, shown) == (0, "2")
    folder = rf"{tmp_path}/fastrank/objects"
    assert re.search(rf"cannot be kept in {folder} \(File too large\)\. To avoid", complaint)
    assert complaint.count("\n") == 1
    assert list((tmp_path / "fastrank/objects").iterdir()) == []


def test_the_jit_keeps_compiled_code_where_the_build_does(tmp_path):
    """It loads again without numba, of which no setting is changed; only the user may write."""
    code = (
        "import os, sys\n"
        "before = dict(os.environ)\n"
        "from fastrank.core.native import kernels\n"
        "assert kernels.count_lines(b'a\\nb') == 2\n"
        "assert before == dict(os.environ)\n"
        "assert 'numba' not in sys.modules\n"
    )
    environment = {"FASTRANK_ENGINE": "jit", "XDG_CACHE_HOME": str(tmp_path)}

    first = try_python(code, **environment)
    (kept,) = (tmp_path / "fastrank/objects").iterdir()
    made = kept.read_bytes()
    second = try_python(code, **environment)

    assert (first[0], first[2]) == (second[0], second[2]) == (0, "")
    assert [path.read_bytes() for path in kept.parent.iterdir()] == [made]
    folders = [kept.parent.parent, kept.parent]
    assert [oct(path.stat().st_mode & 0o777) for path in folders] == ["0o700"] * 2


def test_building_without_a_linker_says_so(tmp_path):
    found = subprocess.run(
        [sys.executable, "-m", "fastrank.core.native.build", str(tmp_path)],
        env={**os.environ, "CC": "no-such-linker"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert found.returncode == 1
    assert "no C linker" in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_building_needs_only_libc_and_libm():
    """A module that would call anything else is refused before it is linked."""
    llvm = pytest.importorskip("llvmlite.binding")
    calling = "{ call void @PyErr_Clear() ret void }"
    text = f"declare void @PyErr_Clear()\ndefine void @fastrank_f() {calling}"

    with pytest.raises(BuildError, match=r"the library would need \['PyErr_Clear'\]"):
        emit_object(llvm.parse_assembly(text).as_bitcode(), next(iter(levels().values())))


@needs_library
@needs_checkout
@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.stem)
def test_a_library_carries_its_sources(path):
    """The text it was compiled from is in the file, so it can be compared."""
    assert read_sources() in path.read_bytes()
    assert str(path) in map(library_path, ("x86-64-v2", "x86-64-v3", "baseline"))


def listed(*command: str | Path) -> str:
    """What a program for object files prints."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.stem)
def test_the_library_calls_only_libc_and_libm(path):
    start_up = {"__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable"}
    allowed = ALLOWED | start_up | {"_ITM_registerTMCloneTable"}
    lines = listed("nm", "-D", "--undefined-only", path).splitlines()

    assert {line.split()[-1].split("@")[0] for line in lines} <= allowed


@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.stem)
def test_no_multiply_and_add_are_fused(path):
    """trec_eval's reference numbers round each operation; v3 has fused instructions."""
    code = listed("objdump", "-d", path)

    assert re.search(r"vfn?m(add|sub)", code) is None
    assert "ret" in code


def test_calls_are_made_one_after_the_other_as_often_as_asked_for():
    """What one call writes, the next reads; some take the same record, others none."""
    values, totals, doubled = filled("d", [1.0, 2.0, 4.0]), zeros("d", 1), zeros("d", 1)
    texts = records.Texts(b"ba", filled("q", [0, 1]), filled("q", [1, 1]))
    order, work = zeros("q", 2), zeros("q", 2)
    interning = records.Interning(zeros("q", 4), zeros("q", 2), zeros("q", 2))
    again = kernels.prepare_all(
        [
            ("add_up", (values, 1, totals)),
            ("add_up", (totals, 1, doubled)),
            ("order_texts", (texts, work, order, zeros("q", 2))),
            ("intern_texts", (texts, interning)),
        ]
    )

    again()
    assert (totals[0], doubled[0], [*order], [*interning.ids]) == (7.0, 7.0, [1, 0], [0, 1])
    values[0] = 0.0
    again()
    assert (totals[0], doubled[0]) == (13.0, 20.0)


@pytest.mark.skipif(api_with_numpy() is None, reason="no C API of CPython here")
def test_calls_end_after_one_on_objects_that_did_not_do_all():
    values, totals = filled("d", [1.0, 2.0]), zeros("d", 1)
    items = ["not a float", 3.0]
    copy_floats = "copy_floats", (api_with_numpy(), id(items), -1, values)
    again = kernels.prepare_all([copy_floats, ("add_up", (values, 1, totals))], whole=1)

    assert not again()
    assert totals[0] == 0.0
    items[0] = 4.0
    assert again()
    assert totals[0] == 7.0


def test_arguments_of_calls_are_looked_at_before_any_is_made():
    values, totals = filled("d", [1.0]), zeros("d", 1)

    with pytest.raises(TypeError, match="kernel add_up: expected 3 arguments, found 1"):
        kernels.prepare_all([("add_up", (values, 1, totals)), ("add_up", (values,))])
    assert totals[0] == 0.0
