"""The engines: chosen as documented, never older than the sources, and of one kind of symbols."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastrank
from fastrank.native.compiling.object_cache import ALLOWED, write_whole
from fastrank.native.library import library_path, read_sources
from fastrank.native.record import parse_signature
from tests.helpers.installations import ALONE, needs_checkout, needs_numba_elsewhere

PACKAGE = Path(fastrank.__file__).parent
LIBRARIES = sorted(PACKAGE.glob("native/*.so"))
needs_library = pytest.mark.skipif(not LIBRARIES, reason="no compiled library here")
SHOW = "import fastrank; print(fastrank.engine())"
COUNT = "from fastrank.native import kernels; print(kernels.count_lines(b'a\\nb'))"


def _python(code: str, folder: Path | None = None, **environment: str) -> tuple[int, str, str]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("FASTRANK_ENGINE", "NUMBA_DISABLE_JIT")
    }
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False,
        env={**clean, **environment},
    )  # fmt: skip
    return found.returncode, found.stdout.strip(), found.stderr


@needs_library
def test_the_library_is_used_when_there_is_one() -> None:
    """Without any setting."""
    status, shown, _ = _python(SHOW)

    assert status == 0
    assert shown.startswith("precompiled (")


def test_the_environment_can_insist_on_the_jit() -> None:
    """FASTRANK_ENGINE=jit."""
    assert _python(SHOW, FASTRANK_ENGINE="jit")[1] == "jit (FASTRANK_ENGINE=jit)"


def test_disabled_jit_means_plain_python() -> None:
    """NUMBA_DISABLE_JIT=1."""
    assert _python(SHOW, NUMBA_DISABLE_JIT="1")[1] == "python (NUMBA_DISABLE_JIT is set)"


def test_an_unknown_engine_is_an_error() -> None:
    """Not a silent fallback."""
    status, _, complaint = _python(SHOW, FASTRANK_ENGINE="gpu")

    assert status != 0
    assert "FASTRANK_ENGINE='gpu': expected 'precompiled' or 'jit'" in complaint


def test_the_jit_without_numba_names_the_extra() -> None:
    code = f"import sys; sys.modules['numba'] = None; {SHOW}"

    status, _, complaint = _python(code, FASTRANK_ENGINE="jit")

    assert status == 1
    expected = "compiling the kernels needs numba: pip install 'fastrank-eval[jit]'"
    assert complaint.endswith(f"{expected} (FASTRANK_ENGINE=jit)\n")


def _copy_of_the_package(folder: Path) -> Path:
    copy = folder / "fastrank"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@needs_library
@needs_checkout
@pytest.mark.parametrize(
    "module",
    [
        "kernels/measures/trec.py",
        "kernels/texts/text.py",
        "native/build.py",
        "native/codes.py",
        "native/compiling/object_cache.py",
    ],
)
def test_a_library_older_than_its_sources_is_not_used(module: str, tmp_path: Path) -> None:
    """Whichever source changed, even if its time stamp and size did not."""
    path = _copy_of_the_package(tmp_path) / module
    before = path.stat()
    text = path.read_text()
    path.write_text(text.replace("the", "teh", 1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert _python(SHOW, tmp_path)[1] == (
        "jit (the compiled library does not match the source files)"
    )
    status, _, complaint = _python(SHOW, tmp_path, FASTRANK_ENGINE="precompiled")
    assert status != 0
    assert "FASTRANK_ENGINE=precompiled: the compiled library does not match" in complaint


def _copy_without_library(folder: Path) -> Path:
    copy = _copy_of_the_package(folder)
    for library in copy.glob("native/*.so"):
        library.unlink()
    return copy


@needs_numba_elsewhere
def test_without_libraries_the_jit_takes_over(tmp_path: Path) -> None:
    """As after an installation without a C linker."""
    _copy_without_library(tmp_path)

    assert _python(ALONE + SHOW, tmp_path)[1] == "jit (no compiled library is installed)"


@needs_numba_elsewhere
@needs_library
def test_a_broken_library_is_not_used(tmp_path: Path) -> None:
    """Something else under its name: the JIT, with the loader's reason."""
    for library in _copy_of_the_package(tmp_path).glob("native/*.so"):
        library.write_bytes(b"not a library")

    shown = _python(ALONE + SHOW, tmp_path)[1]

    assert shown.startswith("jit (the compiled library ")
    assert "cannot be used" in shown


# As in a library of an installed package, which is as old as the files beside it.
WITHOUT_SOURCES = (
    "from fastrank.native import library\n"
    "text = library._text\n"
    "library._text = lambda handle, name: b'' if name == 'sources' else text(handle, name)\n"
)


@pytest.fixture
def checkout(tmp_path: Path) -> dict[str, str]:
    """A checkout without a library in the folder `checkout`, and an installation in `site`."""
    for name in ("checkout", "site"):
        (tmp_path / name).mkdir()
    _copy_without_library(tmp_path / "checkout")
    _copy_of_the_package(tmp_path / "site")
    return {"PYTHONPATH": str(tmp_path / "site"), "SITE": str(tmp_path / "site")}


@needs_library
@pytest.mark.parametrize("carried", ["", WITHOUT_SOURCES], ids=["editable", "wheel"])
def test_a_checkout_uses_the_library_of_an_installation(
    carried: str, tmp_path: Path, checkout: dict[str, str]
) -> None:
    """`pip install .`, then Python in the checkout, which imports the sources there."""
    show = "import fastrank; print(fastrank.__file__)\n" + SHOW

    shown = _python(ALONE + carried + show, tmp_path / "checkout", **checkout)[1].split("\n")

    assert shown[0] == str(tmp_path / "checkout/fastrank/__init__.py")
    assert shown[1].startswith("precompiled (")


@needs_numba_elsewhere
@needs_library
@pytest.mark.parametrize("changed", ["checkout", "site"])
@pytest.mark.parametrize("path", ["kernels/measures/trec.py", "native/codes.py"])
def test_a_checkout_with_other_sources_does_not_use_the_installed_library(
    changed: str, path: str, tmp_path: Path, checkout: dict[str, str]
) -> None:
    file = tmp_path / changed / "fastrank" / path
    file.write_text(file.read_text() + "# Changed.\n")

    shown = _python(ALONE + WITHOUT_SOURCES + SHOW, tmp_path / "checkout", **checkout)[1]

    assert shown == "jit (the compiled library does not match the source files)"


@needs_numba_elsewhere
def test_the_jit_says_once_that_it_compiles_and_how_to_avoid_it(tmp_path: Path) -> None:
    """Only where nobody asked for it, and only if there is something to compile."""
    _copy_without_library(tmp_path)
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    code = f"{ALONE}{COUNT}; kernels.find_no_field"

    status, shown, complaint = _python(code, tmp_path, CC="no-such-compiler", **cache)

    assert (status, shown) == (0, "2")
    assert complaint == (
        "fastrank: no compiled library is installed; compiling the kernels that are needed, up to a"
        " minute once. To avoid this, install a C compiler (gcc) and run: "
        f"{sys.executable} -m fastrank.native.build\n"
    )
    assert _python(code, tmp_path, **cache) == (0, "2", "")


def test_the_jit_says_that_compiled_code_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "fastrank").write_text("in the way")

    status, shown, complaint = _python(COUNT, FASTRANK_ENGINE="jit", XDG_CACHE_HOME=str(tmp_path))

    assert (status, shown) == (0, "2")
    assert complaint == (
        "fastrank: FASTRANK_ENGINE=jit; compiling the kernels that are needed, up to a minute in"
        f" every process, because code cannot be kept in {tmp_path}/fastrank (File exists)."
        " To avoid this, set XDG_CACHE_HOME to a folder of your own\n"
    )


def test_the_jit_works_if_the_disk_is_full(tmp_path: Path) -> None:
    """Of the file of a kernel there is room for a part."""
    code = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"

    status, shown, complaint = _python(
        f"{code}{COUNT}", tmp_path, FASTRANK_ENGINE="jit", XDG_CACHE_HOME=str(tmp_path)
    )

    assert (status, shown) == (0, "2")
    folder = rf"{tmp_path}/fastrank/objects"
    assert re.search(rf"cannot be kept in {folder} \(File too large\)\. To avoid", complaint)
    assert complaint.count("\n") == 1
    assert list((tmp_path / "fastrank/objects").iterdir()) == []


def test_a_home_that_is_no_absolute_path_holds_no_cache(tmp_path: Path) -> None:
    """What lies where somebody happens to stand is not run."""
    environment = {"HOME": ".", "XDG_CACHE_HOME": "", "FASTRANK_ENGINE": "jit"}

    status, shown, complaint = _python(COUNT, tmp_path, **environment)

    assert (status, shown) == (0, "2")
    assert "because code cannot be kept in ./.cache (not an absolute path)" in complaint
    assert list(tmp_path.iterdir()) == []


def test_code_that_others_may_have_written_is_not_run(tmp_path: Path) -> None:
    """Only the user may write to the folder of the cache."""
    environment = {"FASTRANK_ENGINE": "jit", "XDG_CACHE_HOME": str(tmp_path)}
    _python(COUNT, **environment)
    (folder,) = (tmp_path / "fastrank").iterdir()
    assert [oct(path.stat().st_mode & 0o777) for path in (folder.parent, folder)] == ["0o700"] * 2
    folder.chmod(0o777)

    status, shown, complaint = _python(COUNT, **environment)

    assert (status, shown) == (0, "2")
    assert f"{folder} (others may write there)" in complaint


def test_a_cache_file_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk."""

    def fail(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)

    with pytest.raises(OSError, match="No space left"):
        write_whole(str(tmp_path / "file"), b"content")

    assert list(tmp_path.iterdir()) == []


def test_building_without_a_linker_says_so(tmp_path: Path) -> None:
    """No `cc`: a message, and nothing written."""
    found = subprocess.run(
        [sys.executable, "-m", "fastrank.native.build", str(tmp_path)],
        capture_output=True, text=True, check=False, env={**os.environ, "CC": "no-such-linker"},
    )  # fmt: skip

    assert found.returncode == 1
    assert "no C linker" in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_building_needs_only_libc_and_libm(tmp_path: Path) -> None:
    """A module that would call anything else is refused before it is linked."""
    code = (
        "import llvmlite.binding as llvm\n"
        "from fastrank.native.compiling.levels import levels\n"
        "from fastrank.native.compiling.object_cache import emit_object\n"
        "llvm.initialize_native_target()\n"
        "llvm.initialize_native_asmprinter()\n"
        "text = 'declare void @PyErr_Clear()\\n'"
        " 'define void @fastrank_f() { call void @PyErr_Clear() ret void }'\n"
        "part = llvm.parse_assembly(text).as_bitcode()\n"
        "emit_object(part, next(iter(levels().values())))\n"
    )

    status, _, complaint = _python(code)

    assert status != 0
    assert "BuildError: the library would need ['PyErr_Clear']" in complaint


@needs_library
@needs_checkout
@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.stem)
def test_a_library_carries_its_sources(path: Path) -> None:
    """The text it was compiled from is in the file, so it can be compared."""
    assert read_sources() in path.read_bytes()
    assert str(path) in {library_path("x86-64-v2"), library_path("x86-64-v3"),
                         library_path("baseline")}  # fmt: skip


@needs_library
def test_the_library_calls_only_libc_and_libm() -> None:
    """The dynamic symbols that it leaves undefined."""
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("no nm here")
    start_up = {"__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable"}
    allowed = ALLOWED | start_up | {"_ITM_registerTMCloneTable"}
    for path in LIBRARIES:
        shown = subprocess.run(
            [nm, "-D", "--undefined-only", str(path)], capture_output=True, text=True, check=True
        ).stdout

        assert {line.split()[-1].split("@")[0] for line in shown.splitlines()} <= allowed


@needs_library
def test_no_multiply_and_add_are_fused() -> None:
    """trec_eval's reference numbers round each operation; v3 has fused instructions."""
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("no objdump here")
    for path in LIBRARIES:
        code = subprocess.run(
            [objdump, "-d", str(path)], capture_output=True, text=True, check=True
        ).stdout

        assert re.search(r"vfn?m(add|sub)", code) is None
        assert "ret" in code


@pytest.mark.parametrize("text", ["int64(", "int(int64)", "int64 int64[::1]"])
def test_a_signature_that_is_none_is_refused(text: str) -> None:
    """A typing error in a declaration fails the build, with the text."""
    with pytest.raises(ValueError, match="expected RESULT"):
        parse_signature(text)


def test_the_jit_keeps_compiled_code_where_the_build_does(tmp_path: Path) -> None:
    """It loads again without numba, of which no setting is changed."""
    code = (
        "import os, sys\n"
        "before = dict(os.environ)\n"
        "from fastrank.native import kernels\n"
        "assert kernels.count_lines(b'a\\nb') == 2\n"
        "assert before == dict(os.environ)\n"
        "assert 'numba' not in sys.modules\n"
    )

    status, _, complaint = _python(code, FASTRANK_ENGINE="jit", XDG_CACHE_HOME=str(tmp_path))

    assert (status, complaint) == (0, "")
    (kept,) = (tmp_path / "fastrank/objects").iterdir()
    made = kept.read_bytes()
    again = _python(code, FASTRANK_ENGINE="jit", XDG_CACHE_HOME=str(tmp_path))
    assert (again[0], again[2]) == (0, "")
    assert [path.read_bytes() for path in kept.parent.iterdir()] == [made]
