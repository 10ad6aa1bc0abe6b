"""Conversions of judgments and runs from and to other objects, looked up when they are needed.

The `from_*` and `to_*` of the nouns stand where users look for them; what they do is of
`fastrank.formats`, which stands above this package: `fastrank` itself brings the two together.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The module that has the conversions; set by fastrank/__init__.py.
provider = ""


def convert(name: str, *given: Any, **options: Any) -> Any:
    """Call the conversion called `name`."""
    return getattr(import_module(provider), name)(*given, **options)
