"""Lazy imports of public names and optional libraries.

The `trec_eval` command imports only the modules it needs, and `import fastrank` imports none.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

# The module that computes intervals of means, set by `fastrank`: it is in a wing above that of
# Scores.
intervals = ""


def optional(module: str, user: str, extra: str = "") -> ModuleType:
    """Import an optional library.

    user: what needs it. extra: our extra that installs it, by default the library's name. Raises
    ImportError, which says how to install it.
    """
    from importlib import import_module

    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing(module.partition(".")[0], user, extra) from error


def missing(package: str, user: str, extra: str = "") -> ImportError:
    """The error for a library that is not installed; the arguments are those of `optional`."""
    hint = f"pip install 'fastrank-eval[{extra or package}]'"
    return ImportError(f"{user} needs {package}: {hint}", name=package)


def public_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package, which imports its public names when they are used.

    They are declared once, by the imports for type checkers, `if TYPE_CHECKING`, in its
    `__init__.py`. A subpackage that is imported so is an attribute and not part of `__all__`.
    """
    homes: dict[str, str] = {}

    def names() -> list[str]:
        homes.update(homes or _imports_for_types(package))
        return sorted(name for name, home in homes.items() if home != package)

    def find(name: str) -> object:
        public = names()
        if name == "__all__":
            return public
        if name not in homes:
            from fastrank.common.dropped import instead, watch_imports

            hint = instead(package, name)
            if hint:
                watch_imports()
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        import sys
        from importlib import import_module

        if homes[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return find, names


def _imports_for_types(package: str) -> dict[str, str]:
    """The module of each name that a package imports for type checkers.

    Each has a line `from MODULE import NAME as NAME`, or three if it is long. To parse the file
    would take a millisecond.
    """
    import sys

    module: Any = sys.modules[package]
    # The function get_source of the loader would import the module tokenize.
    text = module.__loader__.get_data(module.__file__).decode().replace("(\n", " ")
    lines = map(str.split, text.splitlines())
    return {
        words[5].rstrip(","): words[1] for words in lines if words[::2] == ["from", "import", "as"]
    }
