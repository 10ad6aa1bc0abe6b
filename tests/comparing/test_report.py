"""Reports: their sections, what they escape, and that the same comparison gives the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.errors import FormatError, OptionError, ReadError
from tests.document.parsers import Page
from tests.helpers.comparisons import DATA, NAMES, compared, random_rows, scores_of

pytest.importorskip("matplotlib")
QRELS = DATA / "digits.qrels"
RUNS = {name: DATA / f"{name}.run" for name in NAMES}
HOSTILE = '"><script>alert(1)</script>&\u202e\x00'


@pytest.fixture(autouse=True)
def _fixed_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")


def _report(comparison: fr.types.Comparison, **given: Any) -> str:
    comparison.report(page := io.BytesIO(), **given)
    return page.getvalue().decode()


def _of_dicts(qrels: Any, runs: Any, measures: str = "map", **options: Any) -> str:
    return _report(fr.compare(qrels, runs, measures, **options), qrels=qrels, runs=runs)


@pytest.fixture(scope="module")
def of_data() -> tuple[fr.types.Comparison, str]:
    """The runs in data/ compared, and the report with all sections."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "86400")
        found = fr.compare(QRELS, RUNS, "map P.10")
        given = {"qrels": QRELS, "runs": RUNS, "command": "fastrank compare <x>"}
        return found, _report(found, **given)


@pytest.fixture
def page(of_data: tuple[fr.types.Comparison, str]) -> str:
    """The report on the runs in data/ with all sections."""
    return of_data[1]


def test_a_report_has_the_sections_of_a_comparison(page: str) -> None:
    assert re.findall("<h2>(.*?)</h2>", page) == [
        "Results",
        "Notes",
        "Means and p-values",
        "Pairs in map",
        "Queries that differ most",
        "Values of the queries",
        "Settings",
    ]
    assert "<strong>map</strong>: <bdi>pixels</bdi> has the best mean (0.4348)" in page
    assert page.count("<svg") == 2 * 2 + 2 * 3


def test_a_report_refers_to_nothing_outside_and_runs_no_script_but_ours(page: str) -> None:
    parsed = Page(page)

    # The name of SVG's elements in the script is no address.
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert [own.get("type") for own in parsed.named("script")] == ["application/json", None]
    for _, attributes in parsed.elements:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))


def test_every_reference_inside_a_report_has_one_target(page: str) -> None:
    tags = Page(page).elements

    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    used = {(own.get("href") or "#")[1:] for _, own in tags if "href" in own}
    assert used | set(re.findall(r"url\(#(\w+)\)", page)) <= set(ids)


def test_the_same_comparison_gives_the_same_report() -> None:
    qrels, runs = {"q": {"a": 1}, "r": {"b": 1}}, [{"q": {"a": 1}, "r": {"b": 1}}, {"r": {"a": 1}}]

    first, second = (_of_dicts(qrels, runs, missing="zero") for _ in range(2))

    assert first == second


def test_a_report_names_its_date_files_and_command(page: str) -> None:
    assert "1970-01-02, with fastrank " in page
    assert "<code>fastrank compare &lt;x&gt;</code>" in page
    for path in (QRELS, *RUNS.values()):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in page


def test_the_comparison_can_be_read_back(of_data: tuple[fr.types.Comparison, str]) -> None:
    found, page = of_data

    data = re.search('<script type="application/json" id="comparison">(.*?)</script>', page, re.S)
    assert data is not None
    assert json.loads(data[1]) == json.loads(found.to_json(per_query=True))


def test_documents_that_do_not_count_are_not_shown_but_counted() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    results = {"q1": {"gone": 3, "q1": 2, "d1": 1}, "q2": {"d1": 1}, "q3": {"gone": 1}}
    runs = {"a": results, "b": {"q1": {"d2": 1}, "q2": {"d1": 1}}}
    options: Any = {"exclude": {"q1": ["gone"], "q3": ["gone"]}, "ignore_identical_ids": True}

    page = _of_dicts(qrels, runs, **options)

    assert "<li>a: 2 documents were excluded from the rankings.</li>" in page
    assert "gone" not in page
    assert re.search(r"<bdi>a</bdi>(?:(?!</tr>).)*</tr></thead>\s*<tbody><tr>.*?>1<.*?d1<", page)


def test_duplicates_that_do_not_count_are_not_shown_but_counted(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("q1 Q0 d1 1 3 a\nq1 Q0 d1 2 2 a\nq1 Q0 d2 3 1 a\n")
    second.write_text("q1 Q0 d2 1 3 b\n")

    page = _of_dicts({"q1": {"d1": 1}}, {"a": first, "b": second}, duplicates="first")

    assert "<li>a: 1 duplicate line was dropped from the rankings.</li>" in page
    assert page.count("<bdi>d1</bdi>") == 1


def test_hostile_names_and_texts_are_escaped() -> None:
    queries, docs = ([f"{HOSTILE}{kind}{i}" for i in range(4)] for kind in "qd")
    qrels = {query: {docs[0]: 1} for query in queries}
    runs = {
        HOSTILE: {query: {doc: -float(i) for i, doc in enumerate(docs)} for query in queries},
        "b": {query: {doc: float(i) for i, doc in enumerate(docs)} for query in queries},
    }
    texts = {"documents": dict.fromkeys(docs, HOSTILE), "queries": dict.fromkeys(queries, HOSTILE)}
    said = {"title": HOSTILE, "command": HOSTILE, **texts}

    page = _report(fr.compare(qrels, runs, "map"), qrels=qrels, runs=runs, **said)

    assert [own.get("type") for own in Page(page).named("script")] == ["application/json", None]
    assert not [bad for bad in ("\x00", "\u202e", "<script>alert") if bad in page]


def test_rankings_are_side_by_side_in_the_order_of_trec_eval() -> None:
    qrels = {"q": {"d1": 2, "d2": 0, "d4": 1}, "r": {"d1": 1}}
    runs = {
        "a": {"q": {"d1": 3, "d2": 2, "d3": 2}, "r": {"d1": 1}},
        "b": {"q": {"d2": 3, "d4": 2, "d1": 1}, "r": {"d1": 1}},
    }
    titles = {"d1": {"title": "First", "text": "words"}, "d2": "Second"}
    texts = {"documents": titles, "queries": {"q": "asked"}}

    page = _report(fr.compare(qrels, runs, "recip_rank"), qrels=qrels, runs=runs, **texts)

    sides = re.search('<div class="sides">(.*?)</details>', page, re.S)
    assert sides is not None
    row = re.compile(
        r"<bdi>(d\d)</bdi>(?:<span class=\"title\">(\w+)</span>)?</td>"
        r"<td class=\"grade \w+\">(\w+)</td><td[^>]*>([^<]*)</td>"
    )
    first, second = (
        ["|".join(cells) for cells in row.findall(side)] for side in sides[1].split("</table>")[:2]
    )
    # d3 is before d2, because trec_eval sorts equal scores by descending id.
    assert first == ["d1|First|2|▲ 2", "d3||unjudged|new", "d2|Second|0|▼ 2"]
    assert second == ["d2|Second|0|▲ 2", "d4||1|new", "d1|First|2|▼ 2"]
    assert "<bdi>q</bdi>: asked" in page
    assert page.count('<div class="sides">') == 1


ORDERS = {"docno_desc": "321", "docno_asc": "123", "given": "231", "best": "132", "worst": "231"}


@pytest.mark.parametrize(("ties", "expected"), ORDERS.items())
def test_tied_documents_are_in_the_order_of_the_evaluation(ties: str, expected: str) -> None:
    qrels = {"q": {"1": 1, "3": 0}}
    runs = {"a": {"q": {"2": 1, "3": 1, "1": 1}}, "b": {"q": {"4": 1}}}

    page = _of_dicts(qrels, runs, "recip_rank", ties=ties)

    first, _ = page.split('<div class="sides">')[1].split("</table>")[:2]
    assert "".join(re.findall(r"<bdi>(\d)</bdi>", first)) == expected
    mean = fr.compare(qrels, runs, "recip_rank", ties=ties).mean["recip_rank"]["a"]
    assert mean == 1 / (expected.index("1") + 1)


def test_texts_can_be_a_data_set_or_json_lines(tmp_path: Path) -> None:
    qrels, runs = {"q": {"d1": 1}}, {"a": {"q": {"d1": 2, "d2": 1}}, "b": {"q": {"d1": 1, "d2": 2}}}
    data = fr.Dataset.from_texts({"d1": "red", "d2": "blue"}, {"q": "colour"}, qrels)
    lines, wrong = tmp_path / "corpus.jsonl", tmp_path / "wrong.jsonl"
    lines.write_text('{"_id": "d1", "title": "", "text": "red"}\n{"_id": "d2", "text": "blue"}\n')
    wrong.write_text('{"_id": "d1", "text": "red"}\n["d2"]\n')
    found, given = fr.compare(qrels, runs, "map"), {"qrels": qrels, "runs": runs}

    from_data = _report(found, **given, documents=data)
    from_file = _report(found, **given, documents=lines, queries={"q": "colour"})

    assert from_data == from_file
    assert '<span class="title">blue</span>' in from_data
    with pytest.raises(FormatError, match=r"wrong\.jsonl.*2.*expected a JSON object with _id"):
        _report(found, **given, documents=wrong)


def test_unjudged_and_tied_documents_are_counted() -> None:
    qrels = {"q": {"d1": 1, "d2": 0}}
    runs = {"a": {"q": {"d1": 3, "d2": 2, "d3": 1, "d4": 1}}, "b": {"q": {"d2": 2, "d1": 1}}}

    page = _of_dicts(qrels, runs)

    rows = re.search(r"unjudged@5.*?</table>", page, re.S)
    assert rows is not None
    unjudged = re.findall(r"<bdi>(\w)</bdi></th><td>([\d.]+%)", rows[0])
    assert unjudged == [("a", "50.0%"), ("b", "0.0%")]
    assert re.findall(r"<td>([\d.]+%)</td></tr>", rows[0]) == ["50.0%", "0.0%"]


def test_many_queries_have_pixels_and_a_part_of_the_values() -> None:
    page = _report(compared(random_rows(2, 2500)))

    assert "<svg" not in page
    images = Page(page).named("img")
    assert len(images) == 3
    assert all("2,500 queries" in (own["alt"] or "") for own in images)
    assert "the 1,000 of 2,500 queries on which the systems differ most" in page
    assert len(page) < 1_000_000


def test_of_many_systems_the_best_have_plots_of_their_own() -> None:
    rows = scores_of(random_rows(41, 6)).values()

    page = _report(fr.compare_scores({f"s{i}": own for i, own in enumerate(rows)}))

    assert "Of 820 pairs, the 10 of the systems with the best means." in page
    assert page.count('<div class="pair">') == 10
    assert "No plot of the p-values: more than 40 systems." in page


def test_a_baseline_gives_pairs_with_it() -> None:
    page = _report(fr.compare(QRELS, RUNS, "map", baseline="pca"))

    assert re.findall("<h3>(.*?)</h3>", page)[1:] == [
        "<bdi>pixels</bdi> and <bdi>pca</bdi>",
        "<bdi>profile</bdi> and <bdi>pca</bdi>",
    ]
    assert "<bdi>pixels</bdi> is significantly better than <bdi>pca</bdi>" in page


def test_a_significant_difference_may_need_more_queries_for_a_power_of_80_percent() -> None:
    rows = random_rows(2, 30)
    rows[0] += 0.1
    found = compared(rows)
    (needed,) = found.power("value").columns["queries"]
    assert found.significant("value", "a", "b")
    assert needed > 30

    page = _report(found)

    assert "Of repeated experiments with 30 queries, 80% would find a true difference of" in page
    assert (
        "(power 0.8 of a t-test, alpha 0.05, not corrected for several pairs); if it is as large as"
        f" observed, that takes {needed} queries."
    ) in page


def test_one_system_has_a_report() -> None:
    page = _report(compared(random_rows(1, 6)))

    assert "Pairs in" not in page
    Page(page)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"qrels": QRELS}, "qrels: give qrels and runs together"),
        ({"qrels": QRELS, "runs": [RUNS["pca"]]}, "runs: expected a list of 3 runs, found 1"),
        ({"qrels": QRELS, "runs": {"pca": RUNS["pca"]}}, "runs: no run 'pixels'"),
        ({"examples": -1}, "examples: "),
        ({"qrels": QRELS, "runs": RUNS, "documents": 3}, "documents: expected a Dataset, a dict"),
    ],
)
def test_wrong_options_of_reports_are_errors(
    of_data: tuple[fr.types.Comparison, str], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        _report(of_data[0], **given)


def test_a_failed_report_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("old")

    with pytest.raises(ReadError):
        compared([[1, 2]]).report(path, qrels=QRELS, runs=[tmp_path / "none"])

    assert path.read_text() == "old"
