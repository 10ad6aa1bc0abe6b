"""From Numba source to LLVM code that nobody has optimised yet, one module for each entry point.

Numba optimises each function by itself, again in each function that calls it, and writes machine
code for all of them; of all that a library needs nothing, and it was two thirds of the time of a
build. So numba's code library is replaced by one that only keeps what was generated. That is no
public part of numba: where it looks different from what is expected here, the code comes from
`inspect_llvm`, which is public and gives the same functions after numba's own optimisation.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import carray, njit, types
from numba.core import codegen
from numba.core.compiler import Flags
from numba.core.registry import cpu_target
from numba.core.targetconfig import TargetConfig

from fastrank.native import entries, signature
from fastrank.native.declare import OPTIONS

_LIBRARY_PARTS = (
    "_ensure_finalized", "_optimize_functions", "_raise_if_finalized", "finalize",
    "get_pointer_to_function",
)  # fmt: skip


class Frontend:
    """Numba in this process, and all functions that it has compiled so far."""

    def __init__(self, *, public: bool = False) -> None:
        """public: use nothing but numba's public functions."""
        entries.declare_all()
        self._scope: dict[str, object] = {"carray": carray}
        exec(entries.import_source(), self._scope)
        self._library_class = None if public else _defer_to_the_build()
        self._kept: dict[Any, bytes] = {}

    @property
    def is_deferred(self) -> bool:
        """Whether numba leaves optimising to the build."""
        return self._library_class is not None

    def compile(self, name: str) -> bytes:
        """Bitcode of the entry point of kernel `name`, `fastrank_NAME`, and of all that it calls.

        Everything but the entry point is private to the module. All entry points have one C
        signature, that of `_entry_point`.
        """
        entry = self._entry(name)
        (types_,) = entry.signatures
        found = entry.overloads[types_]
        if self._library_class is None:
            module = llvm.parse_assembly(entry.inspect_llvm(types_))
        else:
            module = self._linked(found.library)
        module.link_in(llvm.parse_assembly(_uncounted_references()))
        point = _entry_point(f"fastrank_{name}", found.fndesc.llvm_func_name, types_)
        module.link_in(llvm.parse_assembly(point))
        _keep_only(module, f"fastrank_{name}")
        compiled: bytes = module.as_bitcode()
        return compiled

    def _entry(self, name: str) -> Any:
        """Numba's dispatcher of the entry point, with a C signature: address and length."""
        result, arguments = signature.parse(entries.flat_signature(name))
        parameters: list[object] = []
        for argument in arguments:
            if signature.is_array(argument):
                item = getattr(types, signature.item(argument))
                parameters += [types.CPointer(item), types.int64]
            else:
                parameters.append(getattr(types, argument))
        exec(entries.pointer_source(name), self._scope)
        wanted = getattr(types, result)(*parameters)
        options = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return njit(wanted, **options)(self._scope[name])

    def _linked(self, library: Any) -> Any:
        """A code library and all that it needs, as one module."""
        module = llvm.parse_assembly("")
        pending, seen = [library], {library}
        while pending:
            one = pending.pop()
            # Numba's run time is another kind of library, and needed by no kernel.
            if not isinstance(one, self._library_class):  # type: ignore[arg-type]
                continue
            if one not in self._kept:
                self._kept[one] = one._final_module.as_bitcode()
            module.link_in(llvm.parse_bitcode(self._kept[one]))
            for needed in one._linking_libraries:
                if needed not in seen:
                    seen.add(needed)
                    pending.append(needed)
        return module


def _defer_to_the_build() -> Any:
    """Let numba neither optimise nor emit code, nor write wrappers for Python.

    Returns the class of its code libraries from then on; None where numba's inside has changed.
    """
    context = cpu_target.target_context
    # Its run time is compiled for this process in the ordinary way before anything is replaced.
    context.refresh()
    generator = context.codegen()
    standard = getattr(codegen, "JITCodeLibrary", None)
    if (
        standard is None
        or getattr(generator, "_library_class", None) is not standard
        or not all(hasattr(standard, part) for part in _LIBRARY_PARTS)
        or not hasattr(generator, "_data_layout")
        or not all(
            hasattr(generator.create_library("probe"), part)
            for part in ("_final_module", "_linking_libraries", "_finalized")
        )
    ):
        return None

    class CodeLibrary(standard):  # type: ignore[misc, valid-type]
        """Generated code, kept as it is."""

        def _optimize_functions(self, ll_module: Any) -> None:
            ll_module.data_layout = self._codegen._data_layout

        def finalize(self) -> None:
            self._raise_if_finalized()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
            # There is no machine code, and nobody calls it.
            self._ensure_finalized()
            return 0

    def nothing(*_: Any, **__: Any) -> None:
        return None

    _read_options_at_once()
    generator._library_class = CodeLibrary
    generator.set_env = nothing
    context.create_cpython_wrapper = nothing
    context.create_cfunc_wrapper = nothing
    return CodeLibrary


def _read_options_at_once() -> None:
    """Spare numba a fifth of its time: it asks for every compiler option by name to compare two
    sets of them, hundreds of thousands of times.
    """

    defaults: dict[Any, dict[str, Any]] = {}

    def values(self: Any) -> dict[str, Any]:
        kind = type(self)
        if kind not in defaults:
            defaults[kind] = {name: option.default for name, option in kind.options.items()}
        return {**defaults[kind], **self._values}

    sample = Flags()
    sample.error_model = "numpy"
    with contextlib.suppress(AttributeError):
        if values(sample) == sample.values():
            TargetConfig.values = values


def _uncounted_references() -> str:
    """LLVM code of numba's counting of references, which does nothing.

    No kernel allocates, so that no array has an owner to count for. A kernel that allocated would
    need more of numba's run time than this, and the build refuses what is not in libc.
    """
    module = ir.Module()
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer()])
    for name in ("NRT_incref", "NRT_decref"):
        function = ir.Function(module, kind, name)
        function.attributes.add("alwaysinline")
        ir.IRBuilder(function.append_basic_block()).ret_void()
    return str(module)


def _entry_point(name: str, function: str, parameters: Sequence[types.Type]) -> str:
    """LLVM code of `int32 NAME(void *result, void *exception, const int64_t *arguments)`.

    It calls numba's function with the arguments, each in eight bytes: a caller fills memory once
    instead of converting up to a hundred arguments at each call, and needs no C signatures.
    """
    word, address, status = ir.IntType(64), ir.IntType(8).as_pointer(), ir.IntType(32)
    kinds = [
        address if isinstance(kind, types.CPointer)
        else ir.DoubleType() if kind is types.float64
        else word
        for kind in parameters
    ]  # fmt: skip
    module = ir.Module()
    called = ir.Function(module, ir.FunctionType(status, [address, address, *kinds]), function)
    shape = ir.FunctionType(status, [address, address, word.as_pointer()])
    entry = ir.Function(module, shape, name)
    builder = ir.IRBuilder(entry.append_basic_block())
    values = []
    for i, kind in enumerate(kinds):
        place = builder.gep(entry.args[2], [ir.Constant(word, i)])
        values.append(builder.load(builder.bitcast(place, kind.as_pointer())))
    builder.ret(builder.call(called, [*entry.args[:2], *values]))
    return str(module)


def _keep_only(module: Any, public: str) -> None:
    """Make everything but the entry point private to the module."""
    for symbol in (*module.functions, *module.global_variables):
        if not symbol.is_declaration:
            symbol.linkage = "external" if symbol.name == public else "internal"
