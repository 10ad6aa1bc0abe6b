"""A web server and a store in memory."""

from __future__ import annotations

from collections.abc import Iterator

import fsspec
import pytest

from fastrank.formats import web
from tests.helpers.web_server import WebServer, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    monkeypatch.setattr(web, "DELAYS", (0.0, 0.0))
    with serving() as running:
        yield running


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    store = fsspec.filesystem("memory")
    yield store
    store.store.clear()
