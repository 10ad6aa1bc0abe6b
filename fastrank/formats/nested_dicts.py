"""Dicts of dicts, query -> document -> grade or score: their parts, and places in messages."""

from __future__ import annotations

from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def inner(name: str, query: Any, documents: Any) -> dict[Any, Any]:
    """The documents of a query as a dict. Raises InputError if they are no mapping."""
    from collections.abc import Mapping

    if isinstance(documents, dict):
        return documents
    if isinstance(documents, Mapping):
        return dict(documents)
    found = type(documents).__name__
    raise InputError(f"{name}, query {query!r}", f"expected a dict of documents, found {found}")


def where(name: str, query: Any, doc: Any) -> str:
    """The place of a value, for messages."""
    return f"{name}, query {query!r}, document {doc!r}"
