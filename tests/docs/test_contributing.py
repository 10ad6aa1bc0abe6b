"""What CONTRIBUTING.md says of the code is so."""

import re

import pytest

from tests.helpers.installations import needs_checkout
from tests.helpers.paths import REPOSITORY

pytestmark = needs_checkout
TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
CODE = re.findall(r"```(?:python|text)\n(.*?)```", TEXT, re.DOTALL)
# Paths are given from the root, or from the package.
PATHS = sorted(set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", TEXT)))


@pytest.mark.parametrize("code", CODE, ids=lambda code: code.split("(")[0].strip())
def test_the_code_shown_is_that_of_the_package(code):
    files = (REPOSITORY / "fastrank").rglob("*.py")

    assert any(code in path.read_text("utf-8") for path in files)


@pytest.mark.parametrize("path", PATHS)
def test_paths_exist(path):
    assert (REPOSITORY / path).exists() or (REPOSITORY / "fastrank" / path).exists()


def test_every_wing_and_room_is_on_the_map():
    package = REPOSITORY / "fastrank"
    wings = [path.parent.name for path in package.glob("*/__init__.py")]
    rooms = [
        f"{path.parents[1].name}/{path.parent.name}" for path in package.glob("*/*/__init__.py")
    ]

    assert [wing for wing in wings if f"  {wing}/ " not in TEXT] == []
    assert [room for room in rooms if f"`{room}`" not in TEXT] == []
