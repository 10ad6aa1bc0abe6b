"""Writes the Python source of the entry points: flat columns in, the kernel called per query."""

from __future__ import annotations

from fastrank.native import signature
from fastrank.native.declare import KERNELS, QUERIES
from fastrank.native.record import PER_QUERY, RECORDS, columns, field_types

KERNEL_MODULES = (
    "simd.arguments",
    "texts.text",
    "parsing.scan",
    "parsing.run_columns",
    "texts.convert",
    "texts.group",
    "judging.memory",
    "judging.tie_orders",
    "texts.filters",
    "judging.negatives",
    "judging.streaming",
    "judging.gather",
    "judging.scattered",
    "judging.dict_index",
    "judging.judge_dicts",
    "judging.fill_dicts",
    "judging.integer_ids",
    "judging.arrays",
    "judging.labels",
    "measures.gains",
    "measures.trec",
    "measures.families",
    "measures.expected_over_ties",
    "measures.preferences",
    "measures.strata",
    "measures.subtopics",
    "measures.continuation",
    "measures.ideal",
    "measures.averages",
    "statistics.random",
    "statistics.resampling",
    "statistics.exact",
    "measures.similarities",
    "measures.thresholds",
    "parsing.check",
    "parsing.rank_field",
    "texts.similar_ids",
    "comparing.concordance",
    "comparing.rank_biased_overlap",
    "comparing.runs",
    "fusion.rankings",
    "fusion.fuse",
    "probes.adam",
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
    parameters = [column for column, _ in _flat_columns(name)]
    return f"def {name}({', '.join(parameters)}):\n{_body(name)}"


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
    lines.append(f"from fastrank.native.declare import {', '.join(QUERIES)}\n")
    lines += [f"from {record.__module__} import {name}\n" for name, record in RECORDS.items()]
    return "".join(lines)


def module_source() -> str:
    """The source of a module that holds the flat entry points of all kernels."""
    return import_source() + "".join("\n\n" + flat_source(name) for name in KERNELS)


def _arguments(name: str) -> list[tuple[str, str]]:
    """Name and declared type of each argument of kernel `name`."""
    _, arguments = signature.parse(KERNELS[name].signature)
    return [(f"a{i}", argument) for i, argument in enumerate(arguments)]


def _flat_columns(name: str) -> list[tuple[str, str]]:
    """Name and type of every parameter of the entry point of kernel `name`."""
    flat = [pair for own, declared in _arguments(name) for pair in columns(declared, own)]
    for _, type_ in flat:
        if not (signature.is_array(type_) or signature.is_scalar(type_)):
            raise ValueError(f"kernel {name}: argument type {type_!r} is not known")
    return flat


def _made(declared: str, own: str) -> str:
    """The expression that makes an argument from flat parameters."""
    if declared not in RECORDS:
        return own
    fields = field_types(RECORDS[declared])
    parts = [_made(type_, f"{own}_{name}") for name, type_ in fields]
    return f"{declared}({', '.join(parts)})"


def _body(name: str) -> str:
    """Call the kernel: directly, or once per query with the columns of the query."""
    (first, declared), *others = _arguments(name)
    passed = [_made(type_, own) for own, type_ in others]
    if declared not in PER_QUERY:
        return f"    return _{name}({', '.join([_made(declared, first), *passed])})\n"
    fields, offsets, cuts = [], "", []
    for field, kind in PER_QUERY[declared].__annotations__.items():
        column = f"{first}_{field}"
        if kind == "Offsets":
            offsets = column
            cuts.append(offsets)
        elif kind == "int":
            fields.append(column)
        elif kind == "Int64PerQuery":
            fields.append(f"{column}[i]")
        else:
            fields.append(f"{column}[{offsets}[i] : {offsets}[i + 1]]")
    *inputs, output = passed
    query = f"{declared}({', '.join(fields)})"
    return (
        f"    queries = len({cuts[0]}) - 1\n"
        f"    for i in range(queries):\n"
        f"        width = len({output}) // queries\n"
        f"        _{name}({', '.join([query, *inputs])}, {output}[i * width : (i + 1) * width])\n"
    )
