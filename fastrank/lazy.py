"""Imports that wait until something is used: public names, conversions, optional libraries.

The `trec_eval` command pays for the modules it needs, and `import fastrank` for none.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

# The module with the `from_*` and `to_*` of judgments and runs. Their classes stand below it, so it
# is `fastrank` itself that says which it is.
conversions = ""


def convert(name: str, *given: Any, **options: Any) -> Any:
    """Call the conversion called `name`."""
    from importlib import import_module

    return getattr(import_module(conversions), name)(*given, **options)


def optional(module: str, user: str, extra: str = "") -> Any:
    """Import a library that need not be installed; user: what needs it, extra: its extra of ours.

    Raises ImportError that says how to install it.
    """
    from importlib import import_module

    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        hint = f"pip install 'fastrank-eval[{extra or package}]'"
        raise ImportError(f"{user} needs {package}: {hint}", name=package) from error


def public_names(
    package: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[list[str], Callable[[str], object]]:
    """`__all__` and `__getattr__` of a package; homes: its modules, with the names of each."""

    def find(name: str) -> object:
        for module, names in homes.items():
            if name in names:
                import sys
                from importlib import import_module

                value = getattr(import_module(f"{package}.{module}"), name)
                setattr(sys.modules[package], name, value)
                return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return sorted(name for names in homes.values() for name in names), find
