"""Lazy imports of public names, conversions and optional libraries.

The `trec_eval` command imports only the modules it needs, and `import fastrank` imports none.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

# The module with the `from_*` and `to_*` conversions of judgments and runs, set by `fastrank`: the
# packages of their classes may not import it.
conversions = ""
# The module that computes intervals of means, set by `fastrank`, for the same reason.
intervals = ""


def convert(name: str, *given: Any, **options: Any) -> Any:
    """Call the conversion with this name."""
    from importlib import import_module

    return getattr(import_module(conversions), name)(*given, **options)


def optional(module: str, user: str, extra: str = "") -> Any:
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


def public_names(
    package: str, homes: Mapping[str, tuple[str, ...]], packages: tuple[str, ...] = ()
) -> tuple[list[str], Callable[[str], object]]:
    """`__all__` and `__getattr__` of a package.

    homes: the public names of each of its modules. packages: subpackages and modules
    that are attributes.
    """

    def find(name: str) -> object:
        if name in packages:
            from importlib import import_module

            return import_module(f"{package}.{name}")
        for module, names in homes.items():
            if name in names:
                import sys
                from importlib import import_module

                value = getattr(import_module(f"{package}.{module}"), name)
                setattr(sys.modules[package], name, value)
                return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return sorted(name for names in homes.values() for name in names), find
