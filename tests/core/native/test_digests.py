"""Which kernels are compiled again: those whose digest covers what was changed."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest

from fastrank.core.native.compiling import digests
from fastrank.core.native.compiling.digests import kernel_digests
from fastrank.core.native.declare import KERNELS, declare_all
from tests.helpers.installations import copy_package, run_python
from tests.helpers.paths import CORE

declare_all()
BEFORE = kernel_digests()
TREC, TIES = "kernels/measures/trec.py", "kernels/measures/tie_groups.py"


def kernels_changed(path: str, old: str, new: str, added: str = "") -> set[str]:
    """The kernels that would be compiled again when a text in a file is another.

    added: what the file has at its end, before and after.
    """
    text = (CORE / path).read_text("utf-8") + added
    assert old in text
    before = digests_with(path, text) if added else BEFORE
    after = digests_with(path, text.replace(old, new, 1))
    assert before.keys() == after.keys()
    return {name for name, digest in after.items() if digest != before[name]}


def digests_with(path: str, text: str) -> dict[str, str]:
    """The digests that there would be with another text in a file."""

    def open_(found: str, mode: str) -> Any:
        return io.BytesIO(text.encode()) if Path(found) == CORE / path else open(found, mode)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digests, "open", open_, raising=False)
        return kernel_digests()


def test_every_kernel_has_its_own_digest():
    """Those found by their syntax are those that numba gets."""
    assert set(BEFORE) == set(KERNELS)
    assert len(set(BEFORE.values())) == len(BEFORE)


# An instruction is a method of a builder, and a record is named in a signature, which is a text.
CHANGES = re.findall(
    r" *(.*) in (\S+): (.*) -> (.*)\n *concerns (.*), not (.*)\n",
    """
    kernel in kernels/measures/trec.py: if relevant: -> if relevant > 0:
        concerns average_precision log_average_precision, not precision_cut stream_run
    shared helper in kernels/measures/tie_groups.py: above += relevant -> above -= relevant
        concerns precision_cut precision_of_retrieved, not average_precision stream_run
    helper over ties in kernels/measures/tie_groups.py: max(q.level, 0), 0, 0) -> q.level, 0, 0)
        concerns num_rel_ret_over_ties set_precision_over_ties, not precision_cut_over_ties
    constant in kernels/measures/trec.py: GEOMETRIC = 0.00001 -> GEOMETRIC = 0.01
        concerns log_average_precision geometric_mean, not num_ret hit_share stream_run
    constant of Python, too, in native/codes.py: NEW_QUERY, SAME_QUERY, -> SAME_QUERY, NEW_QUERY,
        concerns stream_run scan_run, not average_precision
    record in native/records/__init__.py: collection_size: int -> collection_size: Int64PerQuery
        concerns average_precision set_f judge_rankings, not stream_run
    record of a record in native/records/__init__.py: newlines: Int64Array -> newlines: Int32Array
        concerns stream_run scan_run, not average_precision
    instruction in kernels/simd/instructions.py: builder.bswap(word) -> builder.ctpop(word)
        concerns stream_run sort_groups, not average_precision step_of_adam pack_arguments
    place in kernels/simd/instructions.py: loaded(builder, _WORD, text, start) -> loaded(start)
        concerns stream_run intern_texts, not average_precision step_of_adam pack_arguments
    """,
)


@pytest.mark.parametrize(("what", "path", "old", "new", "concerned", "others"), CHANGES)
def test_a_change_concerns_the_kernels_that_mention_it(what, path, old, new, concerned, others):
    changed = kernels_changed(path, old, new)

    assert set(concerned.split()) <= changed
    assert not set(others.split()) & changed


def test_the_table_of_changes_is_read_whole():
    assert len(CHANGES) == 9


def test_a_change_to_a_kernel_concerns_few_others():
    assert len(kernels_changed(TREC, "if relevant:", "if relevant > 0:")) < 5


def test_the_order_of_a_states_numbers_concerns_the_kernels_that_take_it():
    blocks, misses = "    blocks: int\n", "    misses: int\n"

    changed = kernels_changed("native/records/__init__.py", blocks + misses, misses + blocks)

    assert changed == {"stream_run", "scan_run", "pack_run", "collect_run"}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (TREC, "import math\n", "import math\n\n# How they are defined.\n"),
        (TIES, '"""The sum of the precisions', '"""Sum of the precisions'),
    ],
    ids=["comment", "docstring"],
)
def test_comments_and_docstrings_concern_no_kernel(path, old, new):
    assert kernels_changed(path, old, new) == set()


def test_what_registers_with_numba_concerns_all_that_mention_what_it_is_for():
    """It is named by no kernel: numba finds it by the function that it stands for."""
    registering = (
        "\nfrom numba.extending import overload\n"
        "from fastrank.core.kernels.measures.tie_groups import precision_sum\n"
        "@overload(precision_sum)\n"
        "def register(q, depth):\n"
        "    return lambda q, depth: (ADDED, 1)\n"
        "ADDED = 1\n"
    )

    changed = kernels_changed("kernels/tasks/adam.py", "ADDED = 1", "ADDED = 2", added=registering)

    assert {"average_precision", "log_average_precision"} <= changed
    assert "stream_run" not in changed


@pytest.mark.parametrize("path", ["declare.py", "record.py", "compiling/object_cache.py"])
def test_a_change_to_the_compiler_concerns_every_kernel(path):
    assert kernels_changed(f"native/{path}", '"""', '"""Now ') == set(BEFORE)


def test_settings_of_numba_concern_every_kernel(monkeypatch):
    monkeypatch.setenv("NUMBA_OPT", "1")

    assert not set(BEFORE.values()) & set(kernel_digests().values())


def test_kernels_are_found_in_packages_below(tmp_path):
    """Their text counts, and so does what they import from elsewhere."""
    package = copy_package(tmp_path) / "core/kernels/below/further"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text('"""Below."""\n')
    (package / "__init__.py").write_text('"""Further."""\n')
    (package / "more.py").write_text(
        "from fastrank.core.kernels.measures.tie_groups import relevant_within\n"
        "from fastrank.core.native.declare import kernel\n\n\n"
        '@kernel("int64(int64)")\n'
        "def one_more(number):\n"
        "    return relevant_within(number) + 1\n"
    )
    code = (
        "from fastrank.core.native.compiling.digests import kernel_digests\n"
        "from fastrank.core.native.library import read_sources\n"
        "assert 'def one_more' in read_sources().decode()\n"
        "print(kernel_digests()['one_more'])"
    )
    before = run_python(code, tmp_path)
    helper = tmp_path / "fastrank/core" / TIES
    text, called = helper.read_text(), "return add_relevant(q, depth, q.level, 0, 0)[2]"
    assert called in text

    helper.write_text(text.replace(called, called.replace("[2]", "[-1]")))

    assert before != run_python(code, tmp_path)


def test_what_a_kernel_imports_has_to_be_seen():
    """A module as a whole does not tell which of its functions are called."""
    text = (CORE / "kernels/tasks/adam.py").read_text("utf-8")
    line, path = text.count("\n") + 1, re.escape(str(CORE / "kernels/tasks/adam.py"))
    told = "import names from fastrank.core.kernels.measures.trec, not all of it"

    with pytest.raises(ValueError, match=rf"^{path}, line {line}: {told}$"):
        digests_with(
            "kernels/tasks/adam.py", f"{text}from fastrank.core.kernels.measures import trec\n"
        )


def test_modules_of_other_packages_may_lie_beside_the_package(tmp_path):
    """As in site-packages, where numba's do."""
    copy_package(tmp_path)
    (tmp_path / "numba/core").mkdir(parents=True)
    (tmp_path / "numba/core/cgutils.py").touch()

    run_python(
        "import fastrank.core.native.compiling.digests as own; own.kernel_digests()", tmp_path
    )
