"""A digest for each kernel of all that its machine code depends on.

Code is kept from one build to the next under these digests, so that a digest must change whenever
the code might. It covers every statement of kernels, records and constants that defines a name
which the kernel mentions, directly or through others, in whichever module; and the compiler: its
files here, the versions of Python, numba, llvmlite and numpy, and numba's settings. Comments and
docstrings change nothing.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
import sysconfig
from importlib import metadata
from typing import NamedTuple

from fastrank.core.native.library import (
    PACKAGE,
    RECORD_MODULES,
    builder_files,
    kernel_files,
    python_files,
)

# Decorators of `declare`; others register what they decorate for what they mention.
_DECLARING = {"kernel", "helper", "inlined", "outlined", "instruction", "unless_tied"}
_NAME = re.compile(r"[A-Za-z_]\w*")


class _Statement(NamedTuple):
    """A statement at the top of a module: its digest, and the names that it mentions."""

    digest: bytes
    names: frozenset[str]


def kernel_digests() -> dict[str, str]:
    """The digest of each kernel by its name."""
    compiler = _compiler()
    # The functions that kernels are made from, by the names of the kernels.
    exported: dict[str, str] = {}
    defining: dict[str, list[_Statement]] = {}
    for path in [*kernel_files(), *python_files(RECORD_MODULES)]:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
        for node in ast.walk(tree):
            documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
            if isinstance(node, documented) and ast.get_docstring(node) is not None:
                node.body[:1] = [ast.Pass()]
            elif isinstance(node, ast.ImportFrom | ast.Import):
                _check_import(node, path)
        for node in tree.body:
            digest = hashlib.sha256(ast.dump(node).encode()).digest()
            statement = _Statement(digest, frozenset(_mentioned(node) - _local(node)))
            for name in _defined(node):
                defining.setdefault(name, []).append(statement)
            if isinstance(node, ast.FunctionDef):
                exported |= dict.fromkeys(_exported(node), node.name)
    return {
        name: _digest_of(name, function, defining, compiler) for name, function in exported.items()
    }


def _exported(function: ast.FunctionDef) -> list[str]:
    """The names under which `@kernel(...)` exports a function."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and _called(decorator) == "kernel":
            over_ties = [f"{function.name}_over_ties"] if len(decorator.args) > 1 else []
            return [function.name, *over_ties]
    return []


def _digest_of(
    kernel: str, function: str, defining: dict[str, list[_Statement]], compiler: bytes
) -> str:
    pending, seen, digests = [function], {function}, set()
    while pending:
        for statement in defining.get(pending.pop(), ()):
            digests.add(statement.digest)
            pending += statement.names - seen
            seen |= statement.names
    return hashlib.sha256(
        b"".join([compiler, kernel.encode(), b"\0", *sorted(digests)])
    ).hexdigest()


def _check_import(node: ast.ImportFrom | ast.Import, path: str) -> None:
    """Raise ValueError for a module of kernels as a whole, of which attributes may be anything."""
    for alias in node.names:
        source = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        package, *names = source.split(".")
        # An installed package lies beside others, whose modules the compiler's version covers.
        if package == "fastrank" and os.path.exists(f"{os.path.join(PACKAGE, *names)}.py"):
            raise ValueError(
                f"{path}, line {node.lineno}: import names from {source}, not all of it"
            )


def _defined(statement: ast.stmt) -> set[str]:
    """The names that a statement defines; of one that may do anything, all that it mentions."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname for alias in statement.names if alias.asname}
    if isinstance(statement, ast.FunctionDef):
        decorators = [node for node in statement.decorator_list if _called(node) not in _DECLARING]
        return {statement.name, *(name for node in decorators for name in _mentioned(node))}
    if isinstance(statement, ast.ClassDef):
        # Signatures have another name for a record query by query.
        keywords = statement.keywords
        return {statement.name, *(name for node in keywords for name in _mentioned(node))}
    if isinstance(statement, ast.Assign):
        return {name for target in statement.targets for name in _mentioned(target)}
    if isinstance(statement, ast.If) and _mentioned(statement.test) == {"TYPE_CHECKING"}:
        return set()
    return _mentioned(statement)


def _local(statement: ast.stmt) -> set[str]:
    """The names of a record's fields, or of a function's variables but not of functions in it."""
    if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return set()
    names = set()
    if isinstance(statement, ast.FunctionDef):
        names = {argument.arg for argument in statement.args.args}
    pending: list[ast.AST] = [*statement.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ListComp | ast.GeneratorExp):
            pending += ast.iter_child_nodes(node)
    return names - {
        name for decorator in statement.decorator_list for name in _mentioned(decorator)
    }


def _called(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.id if isinstance(called, ast.Name) else ""


def _mentioned(tree: ast.AST) -> set[str]:
    """The names in a tree, and those in its texts: a kernel's types, which may name records."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.update(_NAME.findall(node.value))
    return names


def _compiler() -> bytes:
    """A digest of everything but kernels that machine code depends on, the CPU level excepted."""
    versions = [f"{name} {metadata.version(name)}" for name in ("numba", "llvmlite", "numpy")]
    settings = sorted(
        f"{key}={value}" for key, value in os.environ.items() if key.startswith("NUMBA_")
    )
    parts = [
        value.encode() for value in (sys.version, sysconfig.get_platform(), *versions, *settings)
    ]
    for path in builder_files():
        with open(path, "rb") as file:
            parts.append(file.read())
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).digest()
