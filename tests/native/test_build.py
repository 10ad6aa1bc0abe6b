"""The build: which levels, which kernels again, and what is kept from one build to the next."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fastrank
from fastrank.native.compiling.levels import (
    cpu_level_source,
    levels,
    native_level,
    wanted_levels,
)
from fastrank.native.compiling.object_cache import BuildError, Compiled, ObjectCache, emit_object
from fastrank.native.compiling.worker import Worker, generate
from tests.helpers.installations import ALONE, needs_numba_elsewhere

PACKAGE = Path(fastrank.__file__).parent
needs_linker = pytest.mark.skipif(shutil.which("cc") is None, reason="no C linker here")


def _run(code: str, folder: Path, *, argument: str = "", **environment: str) -> str:
    """What Python code prints that imports the package that lies in a folder."""
    left_out = ("FASTRANK_ENGINE", "FASTRANK_BUILD_LEVELS", "NUMBA_DISABLE_JIT")
    clean = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(
        [sys.executable, "-c", code, argument], cwd=folder, env={**clean, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of the package, without libraries."""
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(PACKAGE, tmp_path / "fastrank", ignore=ignored)
    return tmp_path


DIGESTS = (
    "import json\n"
    "from fastrank.native.compiling.digests import kernel_digests\n"
    "print(json.dumps(kernel_digests()))\n"
)


def _digests(folder: Path, **environment: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(_run(DIGESTS, folder, **environment))
    return found


def _changed(folder: Path, path: str, old: str, new: str) -> set[str]:
    """The kernels that would be compiled again when a text in a file is another."""
    before = _digests(folder)
    file = folder / "fastrank" / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    after = _digests(folder)
    assert before.keys() == after.keys()
    return {name for name, digest in after.items() if digest != before[name]}


def test_every_kernel_has_its_own_digest(copied: Path) -> None:
    """Those found by their syntax are those that numba gets."""
    code = (
        "from fastrank.native.declare import KERNELS, declare_all\ndeclare_all()\nprint(*KERNELS)\n"
    )

    digests = _digests(copied)

    assert set(digests) == set(_run(code, copied).split())
    assert len(set(digests.values())) == len(digests)


def test_a_change_to_a_kernel_concerns_it_and_its_callers(copied: Path) -> None:
    """Two logarithms are taken of the average precision."""
    changed = _changed(
        copied, "kernels/measures/trec.py",
        "    total, found = precision_sum(q, q.num_ret)\n    if found:\n        values[0]",
        "    total, found = precision_sum(q, q.num_ret)\n    if found > 0:\n        values[0]",
    )  # fmt: skip

    assert {"average_precision", "log_average_precision"} <= changed
    assert len(changed) < 5


def test_a_change_to_a_helper_concerns_kernels_of_other_modules(copied: Path) -> None:
    """trec.py and families.py count with the helpers of tie_groups.py."""
    changed = _changed(
        copied, "kernels/measures/tie_groups.py",
        "        found += relevant\n        i = stop\n",
        "        i = stop\n        found += relevant\n",
    )  # fmt: skip

    assert {"precision_cut", "precision_of_retrieved"} <= changed
    assert not {"average_precision", "stream_run"} & changed


def test_a_change_to_the_other_version_of_a_helper_concerns_its_callers(copied: Path) -> None:
    """A kernel names only the version for rankings without ties."""
    changed = _changed(
        copied, "kernels/measures/tie_groups.py",
        "    return add_relevant(q, q.num_ret, max(q.level, 0), 0, 0)[2]",
        "    return add_relevant(q, q.num_ret, max(0, q.level), 0, 0)[2]",
    )  # fmt: skip

    assert {"num_rel_ret_over_ties", "set_precision_over_ties"} <= changed
    assert "precision_cut_over_ties" not in changed


def test_comments_and_docstrings_concern_no_kernel(copied: Path) -> None:
    path = "kernels/measures/trec.py"

    assert (
        _changed(copied, path, "import math\n", "import math\n\n# How they are defined.\n") == set()
    )
    path = "kernels/measures/tie_groups.py"
    assert (
        _changed(copied, path, '"""The sum of the precisions', '"""Sum of the precisions') == set()
    )


def test_a_constant_concerns_all_that_mention_it(copied: Path) -> None:
    """In other modules, too."""
    changed = _changed(copied, "kernels/measures/trec.py", "SMALLEST_GEOMETRIC = 0.00001",
                       "SMALLEST_GEOMETRIC = 0.0001")  # fmt: skip

    assert {"log_average_precision", "geometric_mean"} <= changed
    assert not {"num_ret", "hit_share", "stream_run"} & changed


def test_a_constant_of_kernels_concerns_all_that_mention_it(copied: Path) -> None:
    """Python that calls the kernels imports it, too, so that it is in another package."""
    changed = _changed(
        copied,
        "native/codes.py",
        "NEW_QUERY, SAME_QUERY, SIMILAR",
        "SAME_QUERY, NEW_QUERY, SIMILAR",
    )

    assert {"stream_run", "scan_run"} <= changed
    assert "average_precision" not in changed


def test_a_record_concerns_the_kernels_whose_types_name_it(copied: Path) -> None:
    """In a text only: the signature."""
    changed = _changed(
        copied,
        "native/records/__init__.py",
        "collection_size: int",
        "collection_size: Int64PerQuery",
    )

    assert {"average_precision", "set_f", "judge_rankings"} <= changed
    assert "stream_run" not in changed


def test_a_record_concerns_the_kernels_with_a_record_that_has_it(copied: Path) -> None:
    changed = _changed(
        copied, "native/records/__init__.py", "    newlines: Int64Array", "    newlines: Int32Array"
    )

    assert {"stream_run", "scan_run"} <= changed
    assert "average_precision" not in changed


def test_the_order_of_a_states_numbers_concerns_the_kernels_that_take_it(copied: Path) -> None:
    changed = _changed(
        copied,
        "native/records/__init__.py",
        "    blocks: int\n    misses: int\n",
        "    misses: int\n    blocks: int\n",
    )

    assert {"stream_run", "scan_run", "pack_run", "collect_run"} == changed


@pytest.mark.parametrize(
    ("before", "after", "executing"),
    [
        (
            "lambda builder, word: builder.bswap(word)",
            "lambda builder, word: builder.ctpop(word)",
            "sort_groups",
        ),
        (
            "loaded(builder, _WORD, text, at)",
            "loaded(builder, _WORD, text, at - 0)",
            "intern_texts",
        ),
    ],
)
def test_an_instruction_concerns_the_kernels_that_execute_it(
    before: str, after: str, executing: str, copied: Path
) -> None:
    changed = _changed(copied, "kernels/simd/instructions.py", before, after)

    assert {"stream_run", executing} <= changed
    assert not {"average_precision", "step_of_adam", "pack_arguments"} & changed


def test_what_registers_with_numba_concerns_all_that_mention_what_it_is_for(copied: Path) -> None:
    """It is named by no kernel: numba finds it by the function that it stands for."""
    path = copied / "fastrank/kernels/adam.py"
    path.write_text(
        f"{path.read_text()}\n"
        "from numba.extending import overload\n"
        "from fastrank.kernels.measures.tie_groups import precision_sum\n"
        "@overload(precision_sum)\n"
        "def register(q, depth):\n"
        "    return lambda q, depth: (ADDED, 1)\n"
        "ADDED = 1\n"
    )

    changed = _changed(copied, "kernels/adam.py", "ADDED = 1", "ADDED = 2")

    assert {"average_precision", "log_average_precision"} <= changed
    assert "stream_run" not in changed


@pytest.mark.parametrize("path", ["declare.py", "record.py", "compiling/object_cache.py"])
def test_a_change_to_the_compiler_concerns_every_kernel(path: str, copied: Path) -> None:
    changed = _changed(copied, f"native/{path}", '"""', '"""Now ')

    assert changed == set(_digests(copied))


def test_settings_of_numba_concern_every_kernel(copied: Path) -> None:
    before, after = _digests(copied), _digests(copied, NUMBA_OPT="1")

    assert not set(before.values()) & set(after.values())


def test_kernels_are_found_in_packages_below(copied: Path) -> None:
    """Their text counts, and so does what they import from elsewhere."""
    package = copied / "fastrank/kernels/below/further"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text('"""Below."""\n')
    (package / "__init__.py").write_text('"""Further."""\n')
    (package / "more.py").write_text(
        "from fastrank.kernels.measures.tie_groups import relevant_within\n"
        "from fastrank.native.declare import kernel\n\n\n"
        '@kernel("int64(int64)")\n'
        "def one_more(number):\n"
        "    return relevant_within(number) + 1\n"
    )
    code = "from fastrank.native.library import read_sources; print(read_sources().decode())"

    assert "one_more" in _digests(copied)
    assert "one_more" in _run(code, copied)
    assert "one_more" in _changed(
        copied,
        "kernels/measures/tie_groups.py",
        "return add_relevant(q, depth, q.level, 0, 0)[2]",
        "return add_relevant(q, depth, q.level, 0, 0)[-1]",
    )


def test_what_a_kernel_imports_has_to_be_seen(copied: Path) -> None:
    """A module as a whole does not tell which of its functions are called."""
    path = copied / "fastrank/kernels/adam.py"
    path.write_text(
        f"{path.read_text()}\n"
        "from fastrank.kernels.measures import trec\n"
        "@kernel('int64(int64)')\n"
        "def own(number):\n"
        "    return trec.number(number)\n"
    )
    code = f"try:\n    {DIGESTS.splitlines()[1]}\n    kernel_digests()\n"

    shown = _run(f"{code}except ValueError as error:\n    print(error)\n", copied)

    assert re.fullmatch(
        rf"{path}, line \d+: import names from fastrank.kernels.measures.trec, not all of it\n",
        shown,
    )


def test_modules_of_other_packages_may_lie_beside_the_package(copied: Path) -> None:
    """As in site-packages, where numba's do."""
    (copied / "numba/core").mkdir(parents=True)
    (copied / "numba/core/cgutils.py").touch()

    assert _digests(copied)


def test_what_fails_in_a_process_that_compiles_is_told() -> None:
    """What numba says goes to standard error; a process that dies is an error, too."""
    worker = Worker()

    with pytest.raises(BuildError, match="compiling no_such failed; the messages above say why"):
        worker.call(generate, "no_such")
    assert worker.call(len, b"abc") == 3
    with pytest.raises(BuildError, match="a process that compiled kernels ended with 3"):
        worker.call(os._exit, 3)
    worker.close()


def test_functions_are_compiled_once_and_into_callers_only_where_that_is_asked_for() -> None:
    """Not for each number they are called with, nor because an inlined function calls them."""
    llvm = pytest.importorskip("llvmlite.binding")
    worker = Worker()
    codes = [worker.call(generate, name)[2] for name in ("look_up_rows", "scan_qrels")]
    worker.close()
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


COMPILED = Compiled("int64(int64)", True, b"machine\ncode\0")


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    cache = ObjectCache(str(tmp_path))
    cache.put("digest", "level", COMPILED)

    assert cache.get("digest", "level") == COMPILED
    assert cache.get("digest", "another") is None
    assert cache.get("another", "level") is None


@pytest.mark.parametrize("damage", [lambda text: text[:-1], lambda text: text.replace(b"c", b"d"),
                                    lambda text: b""])  # fmt: skip
def test_what_is_damaged_does_not_come_back(damage, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    cache = ObjectCache(str(tmp_path))
    cache.put("digest", "level", COMPILED)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))

    assert cache.get("digest", "level") is None


def test_a_cache_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = ObjectCache(str(tmp_path / "file"))

    cache.put("digest", "level", COMPILED)
    cache.forget_old()

    assert cache.get("digest", "level") is None


def test_a_cache_that_others_may_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in it becomes part of the library."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ObjectCache().put("digest", "level", COMPILED)
    assert ObjectCache().get("digest", "level") == COMPILED

    (tmp_path / "fastrank" / "objects").chmod(0o777)

    assert ObjectCache().get("digest", "level") is None


def test_what_nobody_uses_is_forgotten(tmp_path: Path) -> None:
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


def test_only_the_level_of_this_machine_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless all are asked for."""
    monkeypatch.delenv("FASTRANK_BUILD_LEVELS", raising=False)
    assert wanted_levels() == {native_level(): levels()[native_level()]}
    monkeypatch.setenv("FASTRANK_BUILD_LEVELS", "native")
    assert [*wanted_levels()] == [native_level()]
    monkeypatch.setenv("FASTRANK_BUILD_LEVELS", "all")
    assert wanted_levels() == levels()


def test_levels_that_are_none_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTRANK_BUILD_LEVELS", "x86-64-v9")

    with pytest.raises(ValueError, match="FASTRANK_BUILD_LEVELS='x86-64-v9': expected 'all' or"):
        wanted_levels()


# Of all kernels only those of one module that imports little, to be compiled in seconds.
FEW = {"trec.py", "averages.py", "instructions.py", "__init__.py"}
BUILD = (
    "from fastrank.native import build\n"
    "ran = build._compile\n"
    "build._compile = lambda missing: print(len(missing)) or ran(missing)\n"
    "print(*build.build())\n"
)


@pytest.fixture
def few(copied: Path) -> Path:
    """A copy of the package with the kernels of averages.py alone."""
    kernels = copied / "fastrank/kernels"
    for path in kernels.rglob("*.py"):
        if path.name not in FEW:
            path.unlink()
    measures = (kernels / "measures/trec.py").read_text()
    (kernels / "measures/trec.py").write_text(
        "".join(re.findall(r"^SMALLEST_GEOMETRIC = .*\n", measures, re.MULTILINE))
    )
    return copied


@needs_linker
def test_only_what_changed_is_compiled_again(few: Path, tmp_path: Path) -> None:
    """And a library that was built from kept code is as good as one that was not."""
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    kernels = len(_digests(few))

    first = _run(BUILD, few, **environment).split()
    library = Path(first[1])
    made = library.read_bytes()
    library.unlink()
    second = _run(BUILD, few, **environment).split()

    assert int(first[0]) == kernels > 1
    assert second == [str(library)]
    assert library.read_bytes() == made
    changed = _changed(
        few, "kernels/measures/averages.py", "totals[j] += values", "totals[j] += 2 * values"
    )
    assert changed == {"add_up"}
    assert _run(BUILD, few, **environment).split() == ["1", str(library)]
    sums = (
        "from fastrank.native import kernels\n"
        "from fastrank.native.buffers import filled\n"
        "totals = filled('d', [0.0])\n"
        "kernels.add_up(filled('d', [1.0, 2.5]), 1, totals)\n"
        "print(totals[0])\n"
    )
    assert _run(sums, few, FASTRANK_ENGINE="precompiled", **environment) == "7.0\n"


@needs_linker
@pytest.mark.skipif(len(levels()) < 2, reason="one CPU level here")
def test_a_build_leaves_no_library_of_a_level_that_it_did_not_make(
    few: Path, tmp_path: Path
) -> None:
    """Such a library would be older than its sources."""
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    native = few / "fastrank/native"

    _run(BUILD, few, FASTRANK_BUILD_LEVELS="all", **environment)
    assert {path.stem for path in native.glob("*.so")} == {f"kernels-{name}" for name in levels()}
    _run(BUILD, few, **environment)

    assert [path.stem for path in native.glob("*.so")] == [f"kernels-{native_level()}"]


def _pretend_level(level: int, folder: Path) -> None:
    """Put a library into the package in a folder which finds a processor of this level."""
    source = folder / "level.c"
    source.write_text(f"long long fastrank_cpu_level(void) {{ return {level}; }}\n")
    target = folder / "fastrank/native/kernels-x86-64-v3.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(target), str(source)], check=True)


@needs_linker
@pytest.mark.skipif("x86-64-v3" not in levels(), reason="no x86-64 here")
@needs_numba_elsewhere
def test_a_library_for_a_better_processor_is_not_used(copied: Path) -> None:
    """As when a wheel that was made for one machine comes to another."""
    _pretend_level(2, copied)

    assert _run(f"{ALONE}import fastrank; print(fastrank.engine())", copied) == (
        "jit (the compiled library requires x86-64-v3, which this processor lacks)\n"
    )


@needs_linker
@pytest.mark.skipif("x86-64-v3" not in levels(), reason="no x86-64 here")
def test_a_processor_that_numpy_cannot_run_on_is_an_error(copied: Path) -> None:
    """Not the end of the process when the JIT imports numpy."""
    _pretend_level(1, copied)
    code = (
        f"{ALONE}import fastrank\n"
        "try:\n    fastrank.engine()\nexcept fastrank.EngineError as error:\n    print(error)\n"
    )

    assert _run(code, copied) == (
        "the compiled library requires x86-64-v2, which this processor lacks, as numpy 2.4 does. "
        "In a virtual machine, choose the CPU model of the host; with an older numpy, set "
        "FASTRANK_ENGINE=jit\n"
    )


@needs_linker
@pytest.mark.skipif("x86-64-v3" not in levels(), reason="no x86-64 here")
@pytest.mark.parametrize(
    ("model", "level"),
    [("Conroe", 1), ("qemu64", 1), ("Nehalem", 2), ("SandyBridge", 2), ("max", 3)],
)
def test_the_library_finds_the_level_of_the_processor(
    model: str, level: int, tmp_path: Path
) -> None:
    """On processors that an emulator pretends to have."""
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        pytest.skip("no qemu-x86_64 here")
    llvm = pytest.importorskip("llvmlite.binding")
    code = emit_object(llvm.parse_assembly(cpu_level_source(True)).as_bitcode(), "x86-64-v2")
    (tmp_path / "level.o").write_bytes(code)
    (tmp_path / "main.c").write_text(
        "int fastrank_cpu_level(void);\nint main(void) { return fastrank_cpu_level(); }\n"
    )
    program = tmp_path / "level"
    subprocess.run(
        ["cc", "-o", str(program), str(tmp_path / "main.c"), str(tmp_path / "level.o")], check=True
    )

    found = subprocess.run(
        [emulator, "-cpu", model, str(program)], check=False, capture_output=True
    )

    assert found.returncode == level


@needs_linker
def test_a_build_in_another_folder_gives_the_same_bytes(few: Path, tmp_path: Path) -> None:
    """Without anything kept from the other build."""
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(few / "fastrank", elsewhere / "fastrank")

    built = [
        Path(_run(BUILD, folder, XDG_CACHE_HOME=str(folder / "cache")).split()[1])
        for folder in (few, elsewhere)
    ]

    assert built[0] != built[1]
    assert built[0].read_bytes() == built[1].read_bytes()


@needs_linker
def test_an_entry_point_takes_its_arguments_from_memory(tmp_path: Path) -> None:
    """Each in eight bytes, of an array the address and the length."""
    compiled, library = tmp_path / "widest.o", tmp_path / "widest.so"
    worker = Worker()

    signature, held, bitcode = worker.call(generate, "widest")
    compiled.write_bytes(worker.call(emit_object, bitcode, next(iter(levels().values()))))

    worker.close()
    assert (signature, held) == ("int64(int64[::1])", False)
    subprocess.run(["cc", "-shared", "-o", str(library), str(compiled)], check=True)
    found, error = ctypes.c_int64(), ctypes.c_void_p()
    offsets = (ctypes.c_int64 * 4)(0, 2, 9, 10)
    arguments = (ctypes.c_int64 * 2)(ctypes.addressof(offsets), len(offsets))
    status = ctypes.CDLL(str(library)).fastrank_widest(
        ctypes.byref(found), ctypes.byref(error), arguments
    )
    assert (status, found.value) == (0, 7)
