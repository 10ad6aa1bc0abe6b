"""Writes the Python source of the entry points: flat columns in, the kernel called per query."""

from __future__ import annotations

from fastrank.native import signature
from fastrank.native.declare import KERNELS, LAYOUTS

KERNEL_MODULES = (
    "texts.text",
    "parsing.scan",
    "parsing.run_columns",
    "texts.convert",
    "texts.group",
    "judging.memory",
    "judging.ties",
    "texts.filters",
    "judging.negatives",
    "judging.streaming",
    "judging.gather",
    "judging.scattered",
    "judging.dicts",
    "judging.read_dicts",
    "judging.integer_ids",
    "judging.arrays",
    "judging.labels",
    "measures.gains",
    "measures.trec",
    "measures.more",
    "measures.expected_over_ties",
    "measures.preferences",
    "measures.averages",
    "parsing.check",
    "parsing.rank_field",
    "texts.similar_ids",
)


def declare_all() -> None:
    """Import every module of kernels, so that all of them are declared."""
    import importlib

    for module in KERNEL_MODULES:
        importlib.import_module(f"fastrank.kernels.{module}")


def flat_signature(name: str) -> str:
    """The signature of the entry point of kernel `name`: records replaced by their columns."""
    result, _ = signature.parse(KERNELS[name].signature)
    return f"{result}({', '.join(type_ for _, type_ in _flat_columns(name))})"


def flat_source(name: str) -> str:
    """The source of a function `name` that takes columns and calls the kernel."""
    columns = [column for column, _ in _flat_columns(name)]
    return f"def {name}({', '.join(columns)}):\n{_body(name)}"


def pointer_source(name: str) -> str:
    """The same with a C signature: pointer and length for each array."""
    parameters, arrays = [], []
    for column, type_ in _flat_columns(name):
        if signature.is_array(type_):
            parameters += [f"{column}_pointer", f"{column}_length"]
            arrays.append(f"    {column} = carray({column}_pointer, ({column}_length,))\n")
        else:
            parameters.append(column)
    return f"def {name}({', '.join(parameters)}):\n{''.join(arrays)}{_body(name)}"


def import_source() -> str:
    """The imports that the sources of entry points need."""
    lines = [
        f"from {declared.function.__module__} import {name} as _{name}\n"
        for name, declared in KERNELS.items()
    ]
    return "".join(lines) + f"from fastrank.kernels.measures.records import {', '.join(LAYOUTS)}\n"


def module_source() -> str:
    """The source of a module that holds the flat entry points of all kernels."""
    return import_source() + "".join("\n\n" + flat_source(name) for name in KERNELS)


def _columns(argument: str, own: str) -> list[tuple[str, str]]:
    """Name and type of each flat parameter that one declared argument stands for."""
    if argument not in LAYOUTS:
        if not (signature.is_array(argument) or signature.is_scalar(argument)):
            raise ValueError(f"kernel argument type {argument!r} is not known")
        return [(own, argument)]
    layout = LAYOUTS[argument]
    flat = []
    for offsets, columns in layout.rows.items():
        flat.append((offsets, "int64[::1]"))
        flat += [(column, f"{type_}[::1]") for column, type_ in columns.items()]
    flat += [(column, f"{type_}[::1]") for column, type_ in layout.each.items()]
    return flat + list(layout.shared.items())


def _flat_columns(name: str) -> list[tuple[str, str]]:
    """Name and type of every parameter of the entry point of kernel `name`."""
    _, arguments = signature.parse(KERNELS[name].signature)
    return [pair for i, argument in enumerate(arguments) for pair in _columns(argument, f"a{i}")]


def _body(name: str) -> str:
    """Call the kernel: directly, or once per query with a record of the query's columns."""
    _, arguments = signature.parse(KERNELS[name].signature)
    own = [f"a{i}" for i in range(len(arguments))]
    if arguments[0] not in LAYOUTS:
        return f"    return _{name}({', '.join(own)})\n"
    layout = LAYOUTS[arguments[0]]
    fields = [
        f"{column}[{offsets}[i]:{offsets}[i + 1]]"
        for offsets, columns in layout.rows.items()
        for column in columns
    ]
    fields += [f"{column}[i]" for column in layout.each] + list(layout.shared)
    *inputs, output = own[1:]
    passed = ", ".join([f"{arguments[0]}({', '.join(fields)})", *inputs])
    return (
        f"    queries = len({next(iter(layout.rows))}) - 1\n"
        f"    for i in range(queries):\n"
        f"        width = len({output}) // queries\n"
        f"        _{name}({passed}, {output}[i * width : (i + 1) * width])\n"
    )
