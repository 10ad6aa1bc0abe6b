"""What the site adds to its pages: included sections, code to paste, a notebook, facts by name."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from types import SimpleNamespace
from typing import Any

import pytest

import fastrank as fr
from tests.helpers.code_blocks import REPOSITORY, blocks_of
from tests.helpers.installations import needs_checkout
from tests.helpers.paths import PACKAGE

DOCS = REPOSITORY / "docs"
PYPROJECT = (REPOSITORY / "pyproject.toml").read_text("utf-8")
CONFIG = SimpleNamespace(repo_url="https://forge.example/fastrank")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a script of the site."""
    monkeypatch.syspath_prepend(DOCS / "scripts")
    return importlib.import_module


def test_the_examples_of_hooks_are_true(script):
    found = doctest.testmod(script("pasting"))

    assert found.attempted > 0
    assert found.failed == 0


def test_pages_that_docstrings_name_become_links(script):
    pytest.importorskip("griffe")

    made = script("docstrings").as_markdown("executor: any; see\n    docs/scale-out.md.")

    assert made.endswith("- `executor`: any; see\n    [Scaling out](../scale-out.md).")


@needs_checkout
def test_links_of_pages_lead_to_pages_and_to_files_of_the_repository(script):
    """Those of the changelog, which a page includes, too."""
    hook = script("includes").on_page_markdown
    found = 0
    for path in DOCS.glob("*.md"):
        page = SimpleNamespace(file=SimpleNamespace(src_uri=path.name))

        made = hook(path.read_text("utf-8"), page=page, config=CONFIG)

        assert "<!-- include" not in made
        for link in re.findall(r"\]\(([^)#\s]+\.md)(?:#[\w-]+)?\)", made):
            inside = link.removeprefix(f"{CONFIG.repo_url}/blob/main/")
            assert ((DOCS if inside == link else REPOSITORY) / inside).exists(), link
            found += inside != link
    assert found >= 3


def test_the_picture_of_the_inspector_leads_to_it_on_the_site_alone(script):
    pages = [path.read_text("utf-8") for path in DOCS.glob("*.md")]
    with_picture = [text for text in pages if "(images/inspector.png)" in text]

    made = list(map(script("inspector").on_page_markdown, with_picture))

    assert [text for text in pages if "(inspector.html)" in text] == []
    assert [text.count("(images/inspector.png)](inspector.html)") for text in made] == [1, 1]


@needs_checkout
def test_the_picture_of_speed_shows_what_the_table_says(script):
    own = script("speed_picture")

    made = own.picture(own.seconds((DOCS / "speed.md").read_text("utf-8")))

    told = re.findall(r"<title>(.*)</title>", made)
    assert made == (DOCS / "images/speed.svg").read_text("utf-8")
    assert f"![{told[0]}](docs/images/speed.svg)" in (REPOSITORY / "README.md").read_text("utf-8")


def test_the_copy_button_gets_code_that_runs(script):
    """The code of every session of the guides is valid on its own."""
    for page in DOCS.glob("*.md"):
        for block in blocks_of(page):
            if block.kind == "pycon":
                code = script("pasting").code_of(block.text)

                assert ast.parse(code).body
                assert ">>>" not in code


def test_the_html_of_a_session_carries_its_code(script):
    html = '<div class="language-pycon highlight"><pre><code>&gt;&gt;&gt; f(&quot;a&quot;)\n1\n'

    made = script("pasting").on_page_content(f"{html}</code></pre></div>")

    assert 'data-copy="f(&quot;a&quot;)&#10;"' in made


def test_the_notebook_prints_what_it_shows(script, tmp_path, monkeypatch, capsys):
    """Its cells run one after the other."""
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "tutorial.md").read_text("utf-8")

    made = script("notebook").notebook(text, "https://site.example/")

    cells = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 10
    names: dict[str, Any] = {}
    for cell in cells:
        body = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Interactive(body), "cell", "single"), names)
        shown = [
            "".join(output.get("text") or output["data"]["text/plain"])
            for output in cell["outputs"]
        ]
        assert capsys.readouterr().out.rstrip("\n") == "".join(shown).rstrip("\n")


def test_only_the_site_links_to_the_notebook(script):
    """The repository lacks it."""
    text = (DOCS / "tutorial.md").read_text("utf-8")
    pages = [
        SimpleNamespace(file=SimpleNamespace(src_uri=f"{name}.md")) for name in ("tutorial", "x")
    ]

    here, elsewhere = (script("notebook").on_page_markdown(text, page=page) for page in pages)

    assert ".ipynb" not in text
    assert elsewhere == text
    before, link, after = here.partition('<a href="tutorial.ipynb" download>')
    assert link
    assert "\n## " not in before
    assert after.startswith("Download it as a notebook</a>.\n\n## ")


def test_links_of_the_notebook_lead_to_the_site(script):
    made = script("notebook").notebook("See [it](a-b.md#c).\n", "https://site.example/")

    assert made["cells"][0]["source"] == ["See [it](https://site.example/a-b/#c)."]


def test_the_overview_has_every_measure_as_its_record_says(script):
    text = (DOCS / "choosing.md").read_text("utf-8")
    linked = re.findall(r"\[(\w+)(?: of trec_eval| with options)?\]\(measures\.md#", text)

    assert script("choosing_page").page(text) == text, "run docs/scripts/choosing_page.py"

    assert sorted(linked) == sorted(measure.name for measure in fr.MEASURES)


def test_the_page_of_files_has_all_formats_and_names(script):
    text = (DOCS / "files.md").read_text("utf-8")

    assert script("files_page").page(text) == text, "run docs/scripts/files_page.py"
    assert script("files_page").unlisted() == set()


def test_every_environment_variable_is_on_the_page_of_installation():
    text = (DOCS / "install.md").read_text("utf-8")
    used = {
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"FASTRANK_[A-Z_]+", path.read_text("utf-8"))
    }

    assert set(re.findall(r"^\| `(FASTRANK_\w+)` \|", text, re.M)) == used


def test_commands_that_install_name_the_package_and_its_extras():
    """They are not run; the extras are in pyproject.toml."""
    for page in DOCS.rglob("*.md"):
        for block in blocks_of(page):
            if block.kind == "bash":
                for line in block.text.splitlines():
                    found = re.fullmatch(
                        r"pip (?:install|wheel) (?:--[\w-]+ )*"
                        r"'?(?:fastrank-eval|\.|\./fastrank_eval-\*\.whl)(?:\[([\w,]+)\])?'?",
                        line,
                    )
                    assert found, line
                    for extra in filter(None, (found[1] or "").split(",")):
                        assert re.search(rf"^{extra} = \[", PYPROJECT, re.M)


@needs_checkout
def test_the_citation_is_that_of_the_package(script):
    project = script("project")
    citation = (REPOSITORY / "CITATION.cff").read_text("utf-8")
    page = (DOCS / "citing.md").read_text("utf-8")

    made = project.on_page_markdown(page, config=CONFIG)

    assert f"version: {fr.__version__}\n" in citation
    (title,) = re.findall(r'^title: "(.*)"$', citation, re.M)
    assert f"{{{title}}}" in made
    assert f"version = {{{fr.__version__}}}" in made
    assert f"url     = {{{CONFIG.repo_url}}}" in made


def test_the_workflow_uses_the_action_of_this_repository_and_version(script):
    page = (DOCS / "gate.md").read_text("utf-8")

    made = script("project").on_page_markdown(page, config=CONFIG)

    assert f"uses: fastrank/.github/actions/gate@v{fr.__version__}\n" in made
