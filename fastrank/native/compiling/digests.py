"""A digest for each kernel of all that its machine code depends on.

Code is kept from one build to the next under these digests, so that a digest must change whenever
the code might. It covers the kernel and every function and record that it names, directly or
through others; of all modules that its module imports, directly or through others, everything that
is not a function (constants, registrations); and the compiler: its files here, the versions of
Python, numba, llvmlite and numpy, and numba's settings. Comments and docstrings change nothing.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import NamedTuple

from fastrank.native.compiling.modules import Module, read_modules, read_records
from fastrank.native.sources import builder_files

_NAME = re.compile(r"[A-Za-z_]\w*")


class Needed(NamedTuple):
    """What one kernel is made from: its digest, and the sizes of its functions, by their digests"""

    digest: str
    functions: dict[bytes, int]


class _Piece(NamedTuple):
    """A statement: its digest, its size, and the names that it mentions."""

    digest: bytes
    size: int
    names: frozenset[str]


def needed_by_kernel() -> dict[str, Needed]:
    """Each kernel's name, and what it is made from."""
    modules = read_modules()
    reader = _Reader(modules)
    compiler = _compiler()
    found = {}
    for module in modules.values():
        for name in module.kernels:
            pieces, functions = reader.reach(module, name)
            text = b"".join([compiler, name.encode(), b"\0", *sorted(pieces)])
            found[name] = Needed(hashlib.sha256(text).hexdigest(), functions)
    return found


class _Reader:
    """Follows names from statement to statement; each statement is looked at once."""

    def __init__(self, modules: dict[str, Module]) -> None:
        self._modules, self._records = modules, read_records()
        self._others = {
            name: [_piece(statement) for statement in module.others]
            for name, module in modules.items()
        }
        self._functions: dict[tuple[str, str], _Piece] = {}

    def reach(self, start: Module, name: str) -> tuple[set[bytes], dict[bytes, int]]:
        """What a kernel needs: the digests of all statements, and of its functions the sizes."""
        functions = self._follow({(start, name)})
        others: set[bytes] = set()
        mentioned: set[tuple[Module, str]] = set()
        for module in self._imported_by(start):
            for piece in self._others[module.name]:
                others.add(piece.digest)
                mentioned |= {(module, own) for own in piece.names}
        return {*others, *functions, *self._follow(mentioned)}, functions

    def _follow(self, seen: set[tuple[Module, str]]) -> dict[bytes, int]:
        """The functions that names in modules stand for, and those that these name, with sizes."""
        pending = [*seen]
        found = {}
        while pending:
            for module, own in self._definitions(*pending.pop()):
                piece = self._function(module, own)
                found[piece.digest] = piece.size
                more = {(module, mentioned) for mentioned in piece.names} - seen
                seen |= more
                pending += more
        return found

    def _definitions(self, module: Module, name: str) -> Iterator[tuple[Module, str]]:
        """The functions that a name in a module may stand for."""
        if name in module.functions:
            yield module, name
        if name in self._records.functions:
            # Types name records, whether or not the module imports them.
            yield self._records, name
        for found in module.imported.get(name, ()):
            if found.module not in self._modules:
                continue
            source = self._modules[found.module]
            if found.name is None:
                # What is taken from a module by attribute is not followed: it may be all of it.
                yield from ((source, own) for own in source.functions)
            else:
                yield from self._definitions(source, found.name)

    def _function(self, module: Module, name: str) -> _Piece:
        key = module.name, name
        if key not in self._functions:
            self._functions[key] = _piece(module.functions[name])
        return self._functions[key]

    def _imported_by(self, start: Module) -> list[Module]:
        """A module and all modules of kernels that it imports, directly or through others."""
        found = {start.name: start}
        pending = [start]
        while pending:
            module = pending.pop()
            words = module.name.split(".")
            parents = [".".join(words[:count]) for count in range(1, len(words))]
            sources = {one.module for found in module.imported.values() for one in found}
            for name in (*parents, *sources):
                if name in self._modules and name not in found:
                    found[name] = self._modules[name]
                    pending.append(self._modules[name])
        return list(found.values())


def _piece(statement: ast.stmt) -> _Piece:
    """The digest of a statement without docstrings, and the names in it and in its texts."""
    bare = _without_docstrings(statement)
    names: set[str] = set()
    for node in ast.walk(bare):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A kernel's types are a text, which may name records.
            names.update(_NAME.findall(node.value))
    dumped = ast.dump(bare).encode()
    return _Piece(hashlib.sha256(dumped).digest(), len(dumped), frozenset(names))


def _without_docstrings(statement: ast.stmt) -> ast.stmt:
    bare = copy.deepcopy(statement)
    for node in ast.walk(bare):
        if (
            isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and ast.get_docstring(node) is not None
        ):
            node.body[:1] = [ast.Pass()]
    return bare


def _compiler() -> bytes:
    """A digest of everything but kernels that machine code depends on, the CPU level excepted."""
    versions = [f"{name} {metadata.version(name)}" for name in ("numba", "llvmlite", "numpy")]
    settings = sorted(f"{key}={own}" for key, own in os.environ.items() if key.startswith("NUMBA_"))
    parts = [sys.version, sysconfig.get_platform(), *versions, *settings]
    return _digest([*(part.encode() for part in parts), *_contents(builder_files())])


def _contents(paths: Iterable[str]) -> Iterator[bytes]:
    for path in paths:
        with open(path, "rb") as file:
            yield file.read()


def _digest(parts: Iterable[bytes]) -> bytes:
    made = hashlib.sha256()
    for part in parts:
        made.update(hashlib.sha256(part).digest())
    return made.digest()
