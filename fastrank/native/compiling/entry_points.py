"""LLVM code of entry points: they read the arguments and call numba's function, once per query.

Written without numba, whose typing and lowering of entry points took a third of a build.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from llvmlite import ir
from numba.core import cgutils

from fastrank.native.record import PER_QUERY, RECORDS, State, field_types, is_array, item

_WORD, _BYTES, _STATUS = ir.IntType(64), ir.IntType(8).as_pointer(), ir.IntType(32)
_ITEMS = {
    "uint8": (ir.IntType(8), 1), "uint16": (ir.IntType(16), 2), "int32": (ir.IntType(32), 4),
    "int64": (_WORD, 8), "float32": (ir.FloatType(), 4), "float64": (ir.DoubleType(), 8),
}  # fmt: skip
# Of the seven values that numba passes for an array: how many items it has, and where they begin.
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
    words = (builder.gep(entry.args[2], [_WORD(place)]) for place in itertools.count())
    types = [type_ for argument in arguments for type_ in _parts(argument)]
    values = [_loaded(builder, type_, words) for type_ in types]
    if arguments[0] not in PER_QUERY:
        builder.ret(_call(builder, entry, function, values))
        return str(module)
    kinds = [*PER_QUERY[arguments[0]].__annotations__.values()]
    queries = builder.sub(values[0][_COUNT], _WORD(1))
    with cgutils.for_range(builder, queries) as loop:
        given = _of_query(builder, loop.index, kinds, types, values)
        width = builder.sdiv(values[-1][_COUNT], queries)
        begin = builder.mul(loop.index, width)
        given += [*values[len(kinds) : -1], _part(builder, types[-1], values[-1], begin, width)]
        _call(builder, entry, function, given)
    builder.ret(_STATUS(0))
    return str(module)


def _parts(declared: str) -> list[str]:
    """The arrays, numbers and states that an argument of a declared type stands for."""
    record = RECORDS.get(declared) or PER_QUERY.get(declared)
    if record is None or issubclass(record, State):
        return [declared]
    return [part for _, type_ in field_types(record) for part in _parts(type_)]


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
    builder: ir.IRBuilder, i: ir.Value, kinds: list[str], types: list[str],
    columns: list[list[ir.Value]],
) -> list[list[ir.Value]]:  # fmt: skip
    """The columns of query i: parts between the offsets that come before them, and numbers."""
    given = []
    begin = count = i
    for kind, type_, column in zip(kinds, types, columns, strict=False):
        if kind == "Offsets":
            places = (builder.gep(column[_START], [own]) for own in (i, builder.add(i, _WORD(1))))
            begin, end = (builder.load(place) for place in places)
            count = builder.sub(end, begin)
        elif kind in ("int", "float"):
            given.append(column)
        elif kind == "Int64PerQuery":
            given.append([builder.load(builder.gep(column[_START], [i]))])
        else:
            given.append(_part(builder, type_, column, begin, count))
    return given


def _call(
    builder: ir.IRBuilder, entry: ir.Function, function: str, given: list[list[ir.Value]]
) -> ir.Value:
    values = [*entry.args[:2], *itertools.chain(*given)]
    kind = ir.FunctionType(_STATUS, [value.type for value in values])
    return builder.call(ir.Function(entry.module, kind, function), values)
