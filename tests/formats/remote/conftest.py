"""A web server and a store in memory."""

from __future__ import annotations

from collections.abc import Iterator

import fsspec
import pytest

from tests.helpers.web_server import WebServer, serving


@pytest.fixture
def server() -> Iterator[WebServer]:
    with serving() as running:
        yield running


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    store = fsspec.filesystem("memory")
    yield store
    store.store.clear()
