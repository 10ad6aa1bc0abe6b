"""A mkdocs hook that takes the addresses and the version from the package.

`[project.urls]` in pyproject.toml is the only place that names them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]


def on_config(config: Any) -> Any:
    """Set the site's address, the links to the repository, and the version."""
    config.site_url = f"{url('Documentation').rstrip('/')}/"
    config.repo_url = url("Repository").rstrip("/")
    config.repo_name = "Repository"
    config.edit_uri = f"{config.repo_url}/edit/main/docs/"
    config.extra["fastrank_version"] = version()
    return config


def url(name: str) -> str:
    """The address of a name in `[project.urls]`."""
    found = re.search(rf'^{name} = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    if found is None:
        raise LookupError(f"pyproject.toml: [project.urls] has no {name}")
    return found[1]


def version() -> str:
    """The version of the package, from its source."""
    text = (ROOT / "fastrank" / "__init__.py").read_text("utf-8")
    return re.findall(r'^__version__ = "(.*)"$', text, re.M)[0]


def on_page_markdown(markdown: str, *, config: Any, **_: Any) -> str:
    """Fill in the version and the address of the repository where a page shows them."""
    for placeholder, text in {
        "{VERSION}": f"{{{version()}}}",
        "{REPOSITORY}": f"{{{config.repo_url}}}",
        "OWNER/fastrank/": f"{urlsplit(config.repo_url).path[1:]}/",
        "@vX.Y.Z": f"@v{version()}",
    }.items():
        markdown = markdown.replace(placeholder, text)
    return markdown
