"""Imports that wait until something is used: public names of packages, and conversions.

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
