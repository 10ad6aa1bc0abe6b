"""The browser, as the tests of the inspector use it."""

from tests.inspecting.conftest import browser as browser
from tests.inspecting.conftest import pages as pages
