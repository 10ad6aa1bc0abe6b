"""The inspector in a real browser: what it shows, and what its readers can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.errors import OptionError
from tests.helpers.browser import faults, fits
from tests.helpers.paths import DATA

RUNS = {name: str(DATA / f"{name}.run") for name in ("pixels", "pca", "profile")}
ALL = fr.read_qrels(DATA / "digits.qrels").to_dict()
QRELS = {query: grades for query, grades in ALL.items() if query < "q04"}
# Two queries of two runs by hand: `new` finds the red fox, and one relevant document is missed.
SMALL = {"q1": {"d1": 2, "d2": 0, "d9": 1}, "q2": {"d1": 1}, "q3": {"d3": 1}}
OLD = {"q1": {"d2": 3.0, "d3": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}, "q3": {"d3": 1.0}}
NEW = {"q1": {"d1": 3.0, "d3": 2.0}, "q2": {"d2": 2.0, "d1": 1.0}, "q3": {"d3": 1.0}}
TEXTS: dict[str, Any] = {
    "d1": {"title": "Foxes", "text": "The red fox is a fox. " * 40 + "The end."},
    "d2": {"title": "", "text": "A hen"},
    "d9": {"title": "Lost", "text": "Nobody found this"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the example data and of the small one."""
    path = tmp_path_factory.mktemp("inspector")
    fr.inspect(QRELS, RUNS, "map P.10").write(path / "digits.html")
    # So many queries that their list is scrolled, with few documents.
    few = {query: dict(list(grades.items())[:5]) for query, grades in QRELS.items()}
    fr.inspect(few, RUNS, "map P.10", k=3).write(path / "few.html")
    fr.inspect(
        SMALL,
        {"old": OLD, "new": NEW},
        "map RR nDCG@10",
        texts=TEXTS,
        queries={"q1": "Red fox", "q2": "foxes", "q3": "hen"},
        groups={"q1": "animals", "q2": "animals", "q3": "birds"},
    ).write(path / "small.html")
    return path


def test_relevant_documents_that_no_run_has_on_top_come_last_the_highest_grades_first():
    """What is added depends on the highest grade of all queries."""
    qrels = {"q": {"a": 1, "b": 0, "c": 1, "d": 2}, "p": {"a": 3}}
    run = {"q": {"b": 3.0, "a": 2.0, "x": 1.0}, "p": {"a": 1.0}}

    _, found = fr.inspect(qrels, {"run": run}, "ERR", k=2).results

    assert (found.query, found.documents, found.missed) == ("q", ["b", "a", "d", "c"], 2)
    assert (found.ranks, found.unjudged, found.retrieved) == ([[1, 2, 0, 0]], [0], [3])
    shares = fr.explain(qrels, run, "ERR", query="q").part("ERR").shares
    assert found.adds == {"ERR": [{found.documents.index(doc): own for doc, own in shares.items()}]}


def listed(page: Any) -> list[str]:
    """The ids of the queries in the list."""
    page.wait_for_selector(".queries a")
    return page.locator(".queries .query bdi").all_inner_texts()  # type: ignore[no-any-return]


def chosen(page: Any) -> str:
    """The id of the query that is shown."""
    return str(page.locator(".query-head bdi").inner_text())


def hits(page: Any, run: str) -> list[list[str]]:
    """The words of each result of a run."""
    column = page.locator(".column", has=page.get_by_role("heading", name=run, exact=True))
    texts = column.locator(".hit").all_inner_texts()
    return [[line for line in text.split("\n") if line.strip()] for text in texts]


@pytest.mark.parametrize("name", ["few", "small"])
def test_a_page_has_no_fault_of_accessibility_and_fits(pages, folder, name):
    page = pages.open(folder / f"{name}.html")
    page.wait_for_selector(".hit")
    page.locator(".name").first.click()

    assert faults(page) == []


def test_queries_have_their_values_and_are_in_the_order_of_the_differences(pages, folder):
    page = pages.open(folder / "digits.html")
    values = {name: fr.evaluate(QRELS, run, "map P.10") for name, run in RUNS.items()}

    def expected(measure: str, a: str, b: str) -> list[str]:
        queries = values[a].queries
        change = dict(zip(queries, values[b][measure] - values[a][measure], strict=True))
        return sorted(queries, key=lambda query: -abs(round(change[query], 5)))

    assert listed(page) == expected("map", "pixels", "pca")
    page.select_option("#choose-measure", "P_10")
    page.select_option("#choose-b", label="profile")
    assert listed(page) == expected("P_10", "pixels", "profile")
    first = listed(page)[0]
    place = values["pixels"].queries.index(first)
    a, b = (float(values[name]["P_10"][place]) for name in ("pixels", "profile"))
    row = page.locator(".queries a").first
    shown = row.locator(".number").all_inner_texts()
    assert shown == [f"{a:.4f}", f"{b:.4f}", f"{a - b:+.4f}"]
    assert page.locator(".verdict:visible").inner_text().startswith("P_10: pixels has")
    assert page.locator(".column").count() == 2


def test_queries_are_filtered(pages, folder):
    page = pages.open(folder / "small.html")

    assert sorted(listed(page)) == ["q1", "q2", "q3"]
    for control, choice, left in (
        ("#choose-sign", "second better", ["q1"]),
        ("#choose-sign", "first better", ["q2"]),
        ("#choose-sign", "equal", ["q3"]),
        ("#choose-group", "birds", ["q3"]),
        ("#choose-unjudged", "some in the top 1", ["q2"]),
        ("#choose-unjudged", "some in the top 3", ["q1", "q2"]),
    ):
        page.select_option(control, label=choice)
        assert (choice, sorted(listed(page))) == (choice, left)
        page.select_option(control, index=0)
    page.fill("#choose-text", "RED")
    assert listed(page) == ["q1"]
    assert "1 of 3 queries" in page.inner_text(".summary")


def test_results_are_side_by_side(pages, folder):
    page = pages.open(folder / "small.html", "#query=q1")
    page.wait_for_selector(".join")
    old, new = hits(page, "old"), hits(page, "new")

    assert [own[0] for own in old] == ["1", "2", "3"]
    # The grade as a sign and a number, the title, the id, the first words, moved, added.
    assert old[0] == ["1", "✗ 0", "d2", "A hen", "only here"]
    assert new[0][:3] == ["1", "✓ 2", "Foxes d1"]
    assert new[0][-2:] == ["▲ 2", "+0.5000"]
    assert old[2][-2:] == ["▼ 2", "+0.1667"]
    # Only a relevant document that is higher or lower has a color.
    assert page.locator(".moved.better, .moved.worse").all_inner_texts() == ["▼ 2", "▲ 2"]
    page.locator(".marks summary").click()
    assert "only here not retrieved by the other run" in page.locator(".marks").inner_text()
    marked = set(page.locator(".hit mark").all_inner_texts())
    assert {word.lower() for word in marked} == {"red", "fox"}
    joined = page.locator(".join").evaluate_all("all => all.map((own) => own.dataset.place).sort()")
    assert len(joined) == 2
    missed = page.locator(".missed").inner_text()
    assert "1 relevant document not in the top 20" in missed
    assert "Lost" in missed
    assert "old: not found, new: not found" in missed


def test_the_whole_text_is_shown_on_demand(pages, folder):
    page = pages.open(folder / "small.html", "#query=q1")
    name = page.locator(".column").nth(1).get_by_role("button", name="Foxes")

    assert "The end." not in page.inner_text(".columns")
    name.focus()
    page.keyboard.press("Enter")
    assert page.locator(".full-text").inner_text().endswith("The end.")
    facts = page.locator(".whole .soft").nth(1).inner_text()
    assert facts == "new: rank 1, score 3, map +0.5000, RR +1.0000, nDCG@10 +0.7602"
    name.click()
    assert page.locator(".full-text").count() == 0


def test_what_documents_add_is_that_of_explain(pages, folder):
    page = pages.open(folder / "digits.html", "#query=q0365")
    page.wait_for_selector(".hit")
    part = fr.explain(QRELS, RUNS["pixels"], "map", query="q0365").part("map")

    for (doc, _), own in zip(part.documents, hits(page, "pixels"), strict=False):
        share = part.shares.get(doc)
        assert own[2] == doc
        assert own[-1] == f"+{share:.4f}" if share else not own[-1].startswith("+")


def test_keys_move_through_the_queries(pages, folder):
    page = pages.open(folder / "digits.html")
    order = listed(page)
    seen = [chosen(page)]
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "j", "k"):
        page.keyboard.press(key)
        page.wait_for_timeout(50)
        seen.append(chosen(page))

    assert seen == [order[place] for place in (0, 1, 2, 1, 2, 1)]
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "true"


def test_the_address_holds_what_is_shown(pages, folder):
    page = pages.open(folder / "digits.html")
    page.select_option("#choose-measure", "P_10")
    page.select_option("#choose-a", label="profile")
    page.get_by_role("checkbox", name="pixels").check()
    page.select_option("#choose-order", "query")
    page.fill("#choose-text", "q03")
    page.locator(".queries a").nth(2).click()
    page.wait_for_function("document.querySelectorAll('.column').length === 3")
    address = page.evaluate("location.hash")
    other = pages.open(folder / "digits.html", address)
    other.wait_for_selector(".hit")

    assert other.inner_text("main") == page.inner_text("main")
    assert chosen(other) == listed(page)[2]
    page.go_back()
    page.wait_for_function("!location.hash.includes('q0370')")
    assert chosen(page) != listed(page)[2]


def test_grades_are_kept_and_downloaded_as_qrels(pages, folder):
    page = pages.open(folder / "small.html", "#query=q1")
    page.get_by_label("Grade of d3, unjudged").first.select_option("2")

    assert page.get_by_label("Grade of d3, unjudged").nth(1).input_value() == "2"
    page.locator(".queries a", has_text="q2").click()
    page.get_by_label("Grade of d2, unjudged").select_option("0")
    page.reload()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download 2 grades as qrels").click()
    saved = Path(download.value.path())
    assert fr.read_qrels(saved).to_dict() == {"q1": {"d3": 2}, "q2": {"d2": 0}}
    page.get_by_role("button", name="Remove them").click()
    assert page.get_by_role("button", name="Download grades").is_disabled()


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--",
    "-->",
    "]]>",
    "\"onmouseover='alert(3)'",
    "a\u2028b",
    "\u202eright\u2066left",
    "\udcff\udc80",
    "</noscript>",
    "${alert(4)}",
    "\x00\x1b[2J",
    "&amp;<img src=x onerror=alert(5)>",
    "x" * 20_000,
    "constructor",
]


def test_hostile_ids_and_texts_are_shown_and_do_not_run(pages, tmp_path):
    ids = [text for text in HOSTILE if not set(text) & {"\x00", "\x1b"}]
    run = {own: {doc: float(-place) for place, doc in enumerate(ids)} for own in ids}
    qrels = {own: {doc: place % 2 for place, doc in enumerate(ids[:-1])} for own in ids}
    other = {own: dict.fromkeys(ids[:4], 1.0) for own in ids}
    texts = dict(zip(ids, reversed(HOSTILE), strict=False))
    name = "</title><script>alert(6)</script>"
    fr.inspect(
        qrels, {name: run, "b": other}, "map", texts=texts, queries=texts, groups=texts, title=name
    ).write(tmp_path / "hostile.html")
    page = pages.open(tmp_path / "hostile.html")
    shown = listed(page)
    for place in range(len(shown)):
        page.locator(".queries a").nth(place).click()
        page.wait_for_selector(".hit")
    for button in page.locator(".name").all():
        button.click()

    assert len(shown) == len(ids)
    assert {"<script>alert(1)</script>", "a\\u{2028}b", "\\u{202e}right\\u{2066}left"} <= {*shown}
    assert "\\u{dcff}\\u{dc80}" in shown
    assert page.title() == name
    assert page.locator("script:not([type])").count() == 1
    assert fits(page)


def test_ids_that_are_not_utf8_are_downloaded_as_they_are(pages, tmp_path):
    doc = "caf\udce9"
    page_of = tmp_path / "latin.html"
    fr.inspect({"q": {"d": 1}}, {"q": {doc: 2.0, "d": 1.0}}, "map").write(page_of)
    page = pages.open(page_of)
    page.locator("select.badge").select_option("1")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download 1 grade").click()

    assert Path(download.value.path()).read_bytes() == b"q 0 caf\xe9 1\n"


def test_values_and_some_results_can_be_read_without_javascript(pages, folder):
    page = pages.open(folder / "small.html", java_script_enabled=False)
    text = page.inner_text("main")

    assert "map: old has the best mean" in text
    assert page.locator("noscript table").first.locator("tbody tr").count() == 3
    assert "Query q1: Red fox" in text
    assert "d1 (grade 2): Foxes" in text


def test_a_folder_has_pages_of_some_queries_each(pages, tmp_path, monkeypatch):
    monkeypatch.setattr("fastrank.analysis.inspecting.pages.PAGE", 5_000)
    fr.inspect(QRELS, [RUNS["pixels"], RUNS["pca"]], "map").write(tmp_path / "out")
    page = pages.open(tmp_path / "out" / "index.html", "#order=query")
    page.wait_for_selector(".hit")
    first = page.url
    page.get_by_label("Find").fill("q0381")
    page.locator(".queries a").first.click()
    page.wait_for_url("**/*q0381*")
    page.wait_for_selector(".hit")

    assert first.partition("#")[0].endswith("queries-1.html")
    assert chosen(page) == "q0381"
    assert not page.url.partition("#")[0].endswith("queries-1.html")


def test_one_run_is_shown_alone(pages, tmp_path):
    fr.inspect(SMALL, {"old": OLD}, "P.10").write(tmp_path / "x.html")
    page = pages.open(tmp_path / "x.html")
    page.wait_for_selector(".hit")

    assert page.locator(".column").count() == 1
    assert page.locator(".queries a").first.locator(".number").count() == 1


@pytest.mark.parametrize("name", ["z.pdf", "z.csv", "z.json.gz"])
def test_a_path_with_the_suffix_of_another_format_is_refused(tmp_path, name):
    inspection = fr.inspect({"q": {"d": 1}}, {"a": {"q": {"d": 2.0}}}, "map")

    for write in (inspection.write, inspection.comparison.report):
        with pytest.raises(OptionError, match=f"{name} cannot .*; use a name that ends in .html"):
            write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
