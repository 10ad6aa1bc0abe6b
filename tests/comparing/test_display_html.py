"""A comparison as HTML."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.comparisons import compare_data, random_rows, scores_of
from tests.helpers.strategies import examples


class Page(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.titles: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.titles += [value or "" for name, value in attrs if name == "title"]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_cells_have_intervals_and_p_values_as_titles() -> None:
    rows = compare_data().to_html().splitlines()

    assert (
        '<td class="number second" title="95% interval [0.8711, 0.9259]"><u>0.8985</u>'
        '<sup title="+0.0935 [+0.0625, +0.1245] from pca, p = 2.4e-08">b</sup></td>'
    ) in rows[5]


def test_differences_from_a_baseline_have_classes() -> None:
    rows = compare_data(baseline="pixels").to_html().splitlines()

    assert '<td class="worse">▼</td>' in rows[4]
    assert 'title="-0.0854 [-0.1015, -0.0694] from pixels, p = 7.9e-21"' in rows[4]


def test_notebooks_show_the_tables() -> None:
    compared = compare_data()

    assert compared._repr_html_() == compared.to_html()


def test_legend_and_notes_follow() -> None:
    compared = fr.compare_scores(scores_of(random_rows(2, 5)))

    assert compared.to_html().splitlines()[-1] == (
        '<p class="note">Note: few queries (5): tests can find only large differences.</p>'
    )


@given(st.text(st.characters(codec="utf-8"), max_size=8))
@examples(100)
def test_names_are_text(name: str) -> None:
    values = scores_of([[0.9, 0.8, 0.7, 0.95], [0.1, 0.1, 0.2, 0.15]])
    hostile = f"<script>\"&'{name}"
    compared = fr.compare_scores({"good": values["a"], hostile: values["b"]})

    page = Page(compared.to_html())

    assert "script" not in page.tags
    assert any(text.startswith("<script>\"&'") for text in page.text)
    assert any("<script>\"&'" in title for title in page.titles)
    assert "\0" not in compared.to_html()
