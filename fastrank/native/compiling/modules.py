"""The modules of kernels as syntax trees: what they define and what they import."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from fastrank.native.sources import PACKAGE, RECORDS, kernel_files, python_files

_DECLARE = "fastrank.native.declare"


class Imported(NamedTuple):
    """Where an imported name comes from: a module, and the name there (None: the module itself)."""

    module: str
    name: str | None


class Module:
    """One module: functions that numba compiles where they are called, and all other statements."""

    def __init__(self, name: str, tree: ast.Module, known: Iterable[str]) -> None:
        self.name = name
        self.imported: dict[str, set[Imported]] = {}
        for bound, found in _imports(name, tree, known):
            self.imported.setdefault(bound, set()).add(found)
        self.functions: dict[str, ast.FunctionDef | ast.ClassDef] = {}
        self.others: list[ast.stmt] = []
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef) and self._waits(statement):
                self.functions[statement.name] = statement
            else:
                self.others.append(statement)

    @cached_property
    def kernels(self) -> list[str]:
        """The names of the functions that `@kernel(...)` exports."""
        return [
            name
            for name, function in self.functions.items()
            if any(self._origin(decorator) == "kernel" for decorator in function.decorator_list)
        ]

    def _waits(self, function: ast.FunctionDef) -> bool:
        """Whether defining a function does nothing to code that does not name it.

        Decorators other than those of `declare` may register it with numba.
        """
        return all(self._origin(decorator) for decorator in function.decorator_list)

    def _origin(self, decorator: ast.expr) -> str | None:
        """The name in `declare` of what decorates; None for what comes from elsewhere."""
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = self.imported.get(called.id, set()) if isinstance(called, ast.Name) else set()
        return next((one.name for one in found if one.module == _DECLARE), None)


def read_modules() -> dict[str, Module]:
    """Every module of kernels, and that of their constants, by its dotted name."""
    trees = {}
    for path in kernel_files():
        words = os.path.relpath(path, PACKAGE).removesuffix(".py").split(os.sep)
        name = ".".join(["fastrank", *(words[:-1] if words[-1] == "__init__" else words)])
        with open(path, "rb") as file:
            trees[name] = ast.parse(file.read())
    return {name: Module(name, tree, trees) for name, tree in trees.items()}


def read_records() -> Module:
    """The records of all modules as one, by all names that the types of kernels have for them."""
    records = Module("fastrank.native.records", ast.Module([], []), ())
    for path in python_files(RECORDS):
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
        for statement in tree.body:
            if isinstance(statement, ast.ClassDef):
                queries = [own.value for own in statement.keywords if own.arg == "query"]
                for name in [statement.name, *map(ast.literal_eval, queries)]:
                    records.functions[name] = statement
    return records


def _imports(own: str, tree: ast.Module, known: Iterable[str]) -> Iterator[tuple[str, Imported]]:
    """Each name that an import anywhere in a module binds, and where it comes from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], Imported(alias.name, None)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                # Wrong in a package, but a package of kernels imports nothing.
                parents = own.split(".")[: -node.level]
                source = ".".join([*parents, source] if source else parents)
            for alias in node.names:
                below = f"{source}.{alias.name}"
                found = Imported(below, None) if below in known else Imported(source, alias.name)
                yield alias.asname or alias.name, found
