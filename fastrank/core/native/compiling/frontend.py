"""From Numba source to LLVM code that nobody has optimised yet, one module for each entry point.

Entry points read the arguments and call numba's function, once per query. They are written without
numba, whose typing and lowering of entry points took a third of a build.

Numba optimises each function by itself, again in each function that calls it, and writes machine
code for all of them; a library needs none of this, and it was two thirds of the time of a build. So
numba's code library is replaced by one that only keeps what was generated. That is no public part
of numba, and is done in processes that do nothing else; pyproject.toml says with which versions it
was tried.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils, codegen
from numba.core.compiler import Flags
from numba.core.compiler_machinery import PassManager
from numba.core.dispatcher import Dispatcher
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target
from numba.core.targetconfig import TargetConfig
from numba.core.transforms import canonicalize_cfg

from fastrank.core.native.compiling.object_cache import BuildError
from fastrank.core.native.compiling.signatures import (
    SCALARS,
    TYPES,
    field_types,
    is_array,
    item,
    parse_signature,
    record_of,
)
from fastrank.core.native.declare import KERNELS, OUTLINED, QUERIES, STRUCTURES, declare_all
from fastrank.core.native.record import PER_QUERY, RECORDS, State


class _CodeLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """Generated code, kept as it is."""

    def _optimize_functions(self, ll_module: llvm.ModuleRef) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        # There is no machine code, and nobody calls it.
        self._ensure_finalized()
        return 0


class Frontend:
    """Numba in this process, and all functions that it has compiled so far."""

    def __init__(self) -> None:
        # Numba makes millions of objects that live until the end: looking for garbage among them
        # took a fifth of the time.
        gc.set_threshold(1_000_000, 100, 1000)
        declare_all()
        context = cpu_target.target_context
        # Its run time is compiled for this process in the ordinary way before that is replaced.
        context.refresh()
        context.codegen()._library_class = _CodeLibrary
        context.codegen().set_env = _do_nothing
        context.create_cpython_wrapper = _do_nothing
        context.create_cfunc_wrapper = _do_nothing
        _read_options_at_once()
        _leave_out_passes()
        _compile_for_types()
        self._kept: dict[codegen.CodeLibrary, bytes] = {}

    def compile(self, name: str) -> bytes:
        """Bitcode of the entry point of kernel `name`, `fastrank_NAME`, and of all that it calls.

        Everything but the entry point is private to the module. All entry points have one C
        signature, that of `entry_point`.
        """
        dispatcher = KERNELS[name].function
        result, arguments = parse_signature(KERNELS[name].signature)
        argument_types = tuple(_numba_type(name, argument) for argument in arguments)
        dispatcher.compile(argument_types)
        overload = dispatcher.overloads[argument_types]
        returned = str(overload.signature.return_type).replace("none", "void")
        if returned != result:
            raise BuildError(f"kernel {name}: declared to return {result}, returns {returned}")
        module = self._linked(overload.library)
        point = entry_point(f"fastrank_{name}", overload.fndesc.llvm_func_name, arguments)
        module.link_in(llvm.parse_assembly(point))
        for symbol in (*module.functions, *module.global_variables):
            if not symbol.is_declaration:
                symbol.linkage = "external" if symbol.name == f"fastrank_{name}" else "internal"
        compiled: bytes = module.as_bitcode()
        return compiled

    def _linked(self, library: codegen.CodeLibrary) -> llvm.ModuleRef:
        """A code library and all that it needs, as one module."""
        module = llvm.parse_assembly("")
        pending, seen = [library], {library}
        while pending:
            library = pending.pop()
            # Numba's run time is another kind of library, and needed by no kernel.
            if not isinstance(library, _CodeLibrary):
                continue
            if library not in self._kept:
                _tidy(library._final_module)
                if library.name in OUTLINED:
                    for function in library._final_module.functions:
                        function.add_function_attribute("noinline")
                self._kept[library] = library._final_module.as_bitcode()
            module.link_in(llvm.parse_bitcode(self._kept[library]))
            for needed in library._linking_libraries:
                if needed not in seen:
                    seen.add(needed)
                    pending.append(needed)
        return module


@functools.cache
def frontend() -> Frontend:
    """The frontend of this process."""
    return Frontend()


def _do_nothing(*_: object, **__: object) -> None:
    """In place of what writes wrappers for Python."""


def _numba_type(name: str, declared: str) -> types.Type:
    """Numba's type of an argument, or of what a record has, of kernel `name`."""
    if is_array(declared):
        return types.Array(getattr(types, item(declared)), 1, "C")
    if declared in SCALARS:
        return getattr(types, declared)
    if declared in STRUCTURES:
        return STRUCTURES[declared]
    record = record_of(declared)
    if record is None:
        raise BuildError(f"kernel {name}: argument type {declared!r} is not known")
    kinds: list[str] = [*record.__annotations__.values()]
    if declared in PER_QUERY:
        kinds = ["int" if kind == "Int64PerQuery" else kind for kind in kinds if kind != "Offsets"]
    fields = [_numba_type(name, TYPES.get(kind, kind)) for kind in kinds]
    return types.BaseTuple.from_types(fields, QUERIES.get(declared, record))


def _tidy(module: llvm.ModuleRef) -> None:
    """Take the worst out of generated code once, not in every kernel that it is part of."""
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(_machine(), tuning)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)


@functools.cache
def _machine() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    return llvm.Target.from_default_triple().create_target_machine()


def _read_options_at_once() -> None:
    """Spare numba a fifth of its time: it asks for every compiler option by name to compare two
    sets of them, hundreds of thousands of times.
    """

    defaults: dict[type[TargetConfig], dict[str, Any]] = {}

    def values(self: TargetConfig) -> dict[str, Any]:
        kind = type(self)
        if kind not in defaults:
            defaults[kind] = {name: option.default for name, option in kind.options.items()}
        return {**defaults[kind], **self._values}

    sample = Flags()
    sample.error_model = "numpy"
    with contextlib.suppress(AttributeError):
        if values(sample) == sample.values():
            TargetConfig.values = values


# Passes of numba for what kernels do not have: closures, contexts, exceptions, literal arguments,
# expressions of whole arrays. And those that only describe or check.
_LEFT_OUT = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "NoPythonSupportedFeatureValidation",
    "AnnotateTypes",
    "DumpParforDiagnostics",
}


def _leave_out_passes() -> None:
    """Spare numba a third of its time: passes, and the lives of variables where nobody asks."""
    add_pass, process = PassManager.add_pass, PostProcessor.run

    def add_needed(self: PassManager, pass_: type, *description: str) -> None:
        if pass_.__name__ not in _LEFT_OUT:
            add_pass(self, pass_, *description)

    def process_needed(self: PostProcessor, *arguments: object, **options: object) -> None:
        if arguments or options.get("emit_dels"):
            process(self, *arguments, **options)
        else:
            self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)
            self.func_ir.generator_info = None

    PassManager.add_pass, PostProcessor.run = add_needed, process_needed


def _compile_for_types() -> None:
    """Have numba compile a function once, not again for each number that it is called with."""
    dispatcher: Any = Dispatcher
    find = dispatcher.get_call_template

    def find_for_types(
        self: Dispatcher, args: tuple[types.Type, ...], kws: dict[str, types.Type]
    ) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        return find(self, [types.unliteral(kind) for kind in args], plain)

    dispatcher.get_call_template = find_for_types


_WORD, _BYTES, _STATUS = ir.IntType(64), ir.IntType(8).as_pointer(), ir.IntType(32)
_ITEMS = {
    "uint8": (ir.IntType(8), 1),
    "uint16": (ir.IntType(16), 2),
    "int32": (ir.IntType(32), 4),
    "int64": (_WORD, 8),
    "float32": (ir.FloatType(), 4),
    "float64": (ir.DoubleType(), 8),
}
# The positions of an array's number of items and address in the seven values that numba passes.
_COUNT, _START = 2, 4


def entry_point(name: str, function: str, arguments: list[str]) -> str:
    """LLVM code of `int32 NAME(void *result, void *exception, const int64_t *arguments)`.

    It calls numba's function with the arguments, each in eight bytes, of arrays address and length:
    a caller fills memory once instead of converting up to a hundred arguments at each call, and
    needs no C signatures. Slices are not checked: offsets are within the columns.
    """
    module = ir.Module()
    shape = ir.FunctionType(_STATUS, [_BYTES, _BYTES, _WORD.as_pointer()])
    entry = ir.Function(module, shape, name)
    builder = ir.IRBuilder(entry.append_basic_block())
    words = (builder.gep(entry.args[2], [_WORD(i)]) for i in itertools.count())
    types = [type_ for argument in arguments for type_ in _parts(argument)]
    values = [_loaded(builder, type_, words) for type_ in types]
    if arguments[0] not in PER_QUERY:
        builder.ret(_call(builder, entry, function, values))
        return str(module)
    kinds = [*PER_QUERY[arguments[0]].__annotations__.values()]
    queries = builder.sub(values[0][_COUNT], _WORD(1))
    with cgutils.for_range(builder, queries) as loop:
        columns = _of_query(builder, loop.index, kinds, types, values)
        width = builder.sdiv(values[-1][_COUNT], queries)
        begin = builder.mul(loop.index, width)
        columns += [*values[len(kinds) : -1], _part(builder, types[-1], values[-1], begin, width)]
        _call(builder, entry, function, columns)
    builder.ret(_STATUS(0))
    return str(module)


def _parts(declared: str) -> list[str]:
    """The arrays, numbers and states that an argument of a declared type stands for."""
    record = record_of(declared)
    if record is None or issubclass(record, State):
        return [declared]
    return [part for type_ in field_types(record) for part in _parts(type_)]


def _loaded(builder: ir.IRBuilder, type_: str, words: Iterator[ir.Value]) -> list[ir.Value]:
    """The values that numba passes for an array or a number; of a state only its address."""
    if type_ in RECORDS:
        start = builder.load(builder.bitcast(next(words), _BYTES.as_pointer()))
        next(words)
        return [start]
    if not is_array(type_):
        return [builder.load(builder.bitcast(next(words), _ITEMS[type_][0].as_pointer()))]
    pointer = _ITEMS[item(type_)][0].as_pointer()
    start = builder.load(builder.bitcast(next(words), pointer.as_pointer()))
    return _array(type_, start, builder.load(next(words)))


def _array(type_: str, start: ir.Value, count: ir.Value) -> list[ir.Value]:
    """An array without an owner."""
    none, size = ir.Constant(_BYTES, None), _WORD(_ITEMS[item(type_)][1])
    return [none, none, count, size, start, count, size]


def _part(
    builder: ir.IRBuilder, type_: str, array: list[ir.Value], begin: ir.Value, count: ir.Value
) -> list[ir.Value]:
    return _array(type_, builder.gep(array[_START], [begin]), count)


def _of_query(
    builder: ir.IRBuilder,
    i: ir.Value,
    kinds: list[str],
    types: list[str],
    columns: list[list[ir.Value]],
) -> list[list[ir.Value]]:
    """The columns of query i: parts between the offsets that come before them, and numbers."""
    parts = []
    begin = count = i
    for kind, type_, column in zip(kinds, types, columns, strict=False):
        if kind == "Offsets":
            pointers = (builder.gep(column[_START], [j]) for j in (i, builder.add(i, _WORD(1))))
            begin, end = (builder.load(pointer) for pointer in pointers)
            count = builder.sub(end, begin)
        elif kind in ("int", "float"):
            parts.append(column)
        elif kind == "Int64PerQuery":
            parts.append([builder.load(builder.gep(column[_START], [i]))])
        else:
            parts.append(_part(builder, type_, column, begin, count))
    return parts


def _call(
    builder: ir.IRBuilder, entry: ir.Function, function: str, arguments: list[list[ir.Value]]
) -> ir.Value:
    values = [*entry.args[:2], *itertools.chain(*arguments)]
    kind = ir.FunctionType(_STATUS, [value.type for value in values])
    return builder.call(ir.Function(entry.module, kind, function), values)
