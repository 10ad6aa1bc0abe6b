"""What the source code holds: lines, tokens, names, annotations, and circles of imports."""

from __future__ import annotations

import ast
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from scipy.sparse import lil_array
from scipy.sparse.csgraph import connected_components

# Words that say when a value came, or that it is one, and not what it is.
VAGUE = frozenset(
    ("found", "own", "given", "place", "places", "at", "made", "kept")
    + ("one", "wanted", "named", "other", "what", "known")
)
# The three that an evaluation depends on, by the names that arguments and attributes have.
THREE = (
    frozenset({"judgments", "qrels", "graded"}),
    frozenset({"measures", "bound"}),
    frozenset({"options", "how"}),
)
NO_CODE = (
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines(files: Iterable[Path]) -> int:
    """The number of lines."""
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def tokens(files: Iterable[Path]) -> int:
    """The number of tokens without comments and docstrings."""
    count = 0
    for file in files:
        with tokenize.open(file) as text:
            count += sum(
                token.type not in NO_CODE for token in tokenize.generate_tokens(text.readline)
            )
        count -= sum(map(_has_docstring, ast.walk(_tree(file))))
    return count


def _has_docstring(node: ast.AST) -> bool:
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, holders) and ast.get_docstring(node, clean=False) is not None


def bindings(files: Iterable[Path]) -> Iterator[str]:
    """The name of each parameter, and each name that is assigned to."""
    for file in files:
        for node in ast.walk(_tree(file)):
            if isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def vague_bindings(files: Iterable[Path]) -> int:
    """How many bindings have a name that does not tell what they are."""
    return sum(name in VAGUE for name in bindings(files))


def anys(files: Iterable[Path]) -> int:
    """How often `Any` stands in an annotation."""
    return sum(
        isinstance(name, ast.Name) and name.id == "Any"
        for file in files
        for node in ast.walk(_tree(file))
        for annotation in _annotations(node)
        for name in ast.walk(annotation)
    )


def _annotations(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, Function):
        return [node.returns] if node.returns else []
    if isinstance(node, (ast.arg, ast.AnnAssign)):
        return [node.annotation] if node.annotation else []
    return []


def functions_of_three(files: Iterable[Path]) -> int:
    """How many functions take judgments, measures and options as three arguments."""
    return sum(
        _has_three(
            {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
        )
        for file in files
        for node in ast.walk(_tree(file))
        if isinstance(node, Function)
    )


def classes_of_three(files: Iterable[Path]) -> int:
    """How many classes keep judgments, measures and options as three attributes."""
    return sum(
        _has_three(set(_attributes(node)))
        for file in files
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.ClassDef)
    )


def _attributes(kind: ast.ClassDef) -> Iterator[str]:
    """The names, without underscores, of the fields of a class and of what is assigned to self."""
    for node in kind.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
    for node in ast.walk(kind):
        is_own = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if is_own and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node.attr.lstrip("_")


def _has_three(names: set[str]) -> bool:
    return not any(names.isdisjoint(words) for words in THREE)


def largest_circle(files: Iterable[Path], package: Path) -> list[str]:
    """The modules of the largest group in which each imports each other one, directly or not.

    Imports in functions and for types count, too.
    """
    modules = {_module(file, package): file for file in files}
    names = sorted(modules)
    graph = lil_array((len(names), len(names)), dtype=bool)
    for row, name in enumerate(names):
        for imported in _imports(_tree(modules[name]), modules):
            graph[row, names.index(imported)] = True
    _, labels = connected_components(graph, connection="strong")
    largest = Counter(labels.tolist()).most_common(1)[0][0]
    circle = [name for name, label in zip(names, labels, strict=True) if label == largest]
    return circle if len(circle) > 1 else []


def _module(file: Path, package: Path) -> str:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module, modules: Iterable[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield from {inner if inner in modules else node.module} & set(modules)


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))
