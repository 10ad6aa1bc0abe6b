"""A web server, a store in memory, and the same store read in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from tests.helpers.web_server import WebServer, serving


class Blocks(MemoryFileSystem):
    """Files that are requested in ranges, as those of object stores."""

    protocol = "blocks"

    @classmethod
    def _strip_protocol(cls, path: str) -> Any:
        return super()._strip_protocol(path.replace("blocks://", "memory://"))

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode != "rb":
            return super()._open(path, mode, **options)
        return fsspec.AbstractFileSystem._open(self, path, mode, **options)


@pytest.fixture
def server() -> Iterator[WebServer]:
    with serving() as running:
        yield running


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    store = fsspec.filesystem("memory")
    fsspec.register_implementation("blocks", Blocks, clobber=True)
    yield store
    store.store.clear()
