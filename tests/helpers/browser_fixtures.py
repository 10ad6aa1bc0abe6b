"""The browser, once for all tests, and pages that check themselves at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.browser import Pages, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def pages(browser: Any) -> Iterator[Pages]:
    found = Pages(browser)
    yield found
    found.check()
