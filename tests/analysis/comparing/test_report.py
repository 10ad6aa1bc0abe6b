"""Reports: their sections, what they escape, and that the same comparison gives the same bytes."""

from __future__ import annotations

import hashlib  # noqa: F401 (in a table)
import io
import json  # noqa: F401 (in a table)
import re
import shlex  # noqa: F401 (in a table)
from html import escape  # noqa: F401 (in a table)
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.analysis.comparing.report import sections
from fastrank.errors import ReadError
from tests.common.rendering.parsers import Page
from tests.helpers.comparisons import DATA, NAMES, compared, random_rows, scores_of
from tests.helpers.tables import calls, check_error, check_value

pytest.importorskip("matplotlib")
QRELS = DATA / "digits.qrels"
RUNS = {name: DATA / f"{name}.run" for name in NAMES}
HOSTILE = '"><script>alert(1)</script>&\u202e\x00'
SMALL = {"q": {"a": 1}, "r": {"b": 1}}, [{"q": {"a": 1}, "r": {"b": 1}}, {"r": {"a": 1}}]


@pytest.fixture(autouse=True)
def _fixed_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")


@pytest.fixture
def _no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes most of the time."""
    monkeypatch.setattr(sections, "figure", lambda *_, **__: "<figure></figure>")


def report(comparison: fr.types.Comparison, **given: Any) -> str:
    comparison.report(page := io.BytesIO(), **given)
    return page.getvalue().decode()


def of_runs(qrels: Any, runs: Any, **options: Any) -> str:
    return report(fr.compare(qrels, runs, "map", **options), qrels=qrels, runs=runs)


@pytest.fixture(scope="module")
def of_data() -> tuple[fr.types.Comparison, str]:
    """The runs in data/ compared, and the report with all sections."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "86400")
        found = fr.compare(QRELS, RUNS, "map P.10")
        return found, report(found, qrels=QRELS, runs=RUNS, command="fastrank compare <x>")


HEADINGS = ["Results", "Notes", "Means", "Pairs in map", "Queries that differ most"]
HEADINGS += ["Values of the queries", "Settings"]
INSPECT = [
    "fastrank",
    "inspect",
    "-m",
    "map",
    "-o",
    "inspect.html",
    *map(str, (QRELS, *RUNS.values())),
]
OUTSIDE = re.compile("on.*|src|href")
IN_PAGE = re.compile("(#|data:).*")
RECORD = re.compile('<script type="application/json" id="comparison">(.*?)</script>', re.DOTALL)


def ids(page: str) -> list[str]:
    return [own["id"] for _, own in Page(page).elements if "id" in own]


def references(page: str) -> set[str]:
    links = [own["href"] for _, own in Page(page).elements if "href" in own]
    return {link[1:] for link in links} | set(re.findall(r"url\(#(\w+)\)", page))


def outside(page: str) -> list[str]:
    """What runs a script, or refers to what is not in the page."""
    attributes = [own for _, each in Page(page).elements for own in each.items()]
    used = [f"{name}={value}" for name, value in attributes if OUTSIDE.fullmatch(name)]
    return [own for own in used if not IN_PAGE.match(own.partition("=")[2])]


@calls("""
re.findall("<h2>(.*?)</h2>", page) => HEADINGS
"<strong>map</strong>: <bdi>pixels</bdi> has the best mean (0.4348)" in page => True
page.count("<svg") => 2 + 2 * 3
"://" in page.replace("http://www.w3.org/2000/svg", "") => False
[own.get("type") for own in Page(page).named("script")] => ["application/json", None]
outside(page) => []
len(ids(page)) - len(set(ids(page))) => 0
references(page) - set(ids(page)) => set()
"1970-01-02, with fastrank " in page => True
"<code>fastrank compare &lt;x&gt;</code>" in page => True
f"<code>{escape(shlex.join(INSPECT))}</code> shows the rankings of all queries" in page => True
[hashlib.sha256(own.read_bytes()).hexdigest() in page for own in (QRELS, *RUNS.values())]
    => [True] * 4
page.count("<table") => page.count('<div class="wide" tabindex="0"><table')
json.loads(RECORD.search(page)[1]) => json.loads(found.to_json(per_query=True))
""")
def test_a_report_has_all_sections_and_needs_nothing_else(call, expected, of_data):
    """The name of SVG's elements in the script is no address."""
    check_value(call, expected, globals() | {"found": of_data[0], "page": of_data[1]})


def test_the_same_comparison_gives_the_same_report():
    page = of_runs(*SMALL, missing="zero")

    assert page == of_runs(*SMALL, missing="zero")
    assert "fr.inspect(qrels, runs, &#x27;map&#x27;).write(&quot;inspect.html&quot;)" in page


RESULTS = {"q1": {"gone": 3, "q1": 2, "d1": 1}, "q2": {"d1": 1}, "q3": {"gone": 1}}
OTHER = {"q1": {"d2": 1}, "q2": {"d1": 1}}
LEFT_OUT: Any = {"exclude": {"q1": ["gone"], "q3": ["gone"]}, "ignore_identical_ids": True}


@pytest.mark.usefixtures("_no_figures")
def test_documents_that_do_not_count_are_counted(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("q1 Q0 d1 1 1 a\nq1 Q0 d1 2 3 a\nq1 Q0 d2 3 2 a\n")
    second.write_text("q1 Q0 d2 1 3 b\n")

    page = of_runs({"q1": {"d1": 1}, "q2": {"d1": 1}}, {"a": RESULTS, "b": OTHER}, **LEFT_OUT)
    repeated = [
        of_runs({"q1": {"d1": 1}}, {"a": first, "b": second}, duplicates=kept)
        for kept in ("first", "max")
    ]

    assert "<li>a: 2 documents were excluded from the rankings.</li>" in page
    for own in repeated:
        assert "<li>a: 1 duplicate line was dropped from the rankings.</li>" in own


def test_hostile_names_are_escaped():
    queries, docs = ([f"{HOSTILE}{kind}{i}" for i in range(4)] for kind in "qd")
    qrels = {query: {docs[0]: 1} for query in queries}
    runs = {
        HOSTILE: {query: {doc: -float(i) for i, doc in enumerate(docs)} for query in queries},
        "b": {query: {doc: float(i) for i, doc in enumerate(docs)} for query in queries},
    }

    found = fr.compare(qrels, runs, "map")
    page = report(found, qrels=qrels, runs=runs, title=HOSTILE, command=HOSTILE)

    assert [own.get("type") for own in Page(page).named("script")] == ["application/json", None]
    assert not [bad for bad in ("\x00", "\u202e", "<script>alert") if bad in page]


@pytest.mark.usefixtures("_no_figures")
def test_unjudged_and_tied_documents_are_counted():
    runs = {"a": {"q": {"d1": 3, "d2": 2, "d3": 1, "d4": 1}}, "b": {"q": {"d2": 2, "d1": 1}}}

    page = of_runs({"q": {"d1": 1, "d2": 0}}, runs)

    rows = re.search(r"unjudged@5.*?</table>", page, re.DOTALL)
    assert rows is not None
    unjudged = re.findall(r"<bdi>(\w)</bdi></th><td>([\d.]+%)", rows[0])
    assert unjudged == [("a", "50.0%"), ("b", "0.0%")]
    assert re.findall(r"<td>([\d.]+%)</td></tr>", rows[0]) == ["50.0%", "0.0%"]


@pytest.mark.usefixtures("_no_figures")
@pytest.mark.parametrize(("systems", "rest"), [(2, "<bdi>b</bdi>"), (3, "all others")])
def test_a_verdict_on_two_systems_names_the_other(systems, rest):
    best = np.linspace(0.6, 0.9, 30)
    page = report(compared([best, *[best / (2 + i) for i in range(systems - 1)]]))
    assert f"and is significantly better than {rest}." in page


def test_many_queries_have_pixels_and_a_part_of_the_values():
    page = report(compared(random_rows(2, 2500)))

    images = Page(page).named("img")
    assert ("<svg" in page, len(images)) == (False, 3)
    assert all("2,500 queries" in (own["alt"] or "") for own in images)
    assert "the 1,000 of 2,500 queries on which the systems differ most" in page
    assert len(page) < 1_000_000


MANY = fr.compare_scores(
    {f"s{i}": own for i, own in enumerate(scores_of(random_rows(41, 6)).values())}
)
BASED = fr.compare(QRELS, RUNS, "map", baseline="pca")
APART = compared(random_rows(2, 30) + [[0.1], [0.0]])
(NEEDED,) = APART.power("value").columns["queries"]


@pytest.mark.usefixtures("_no_figures")
@calls("""
"Of 820 pairs, the 10 of the systems with the best means." in report(MANY) => True
report(MANY).count('<div class="pair">') => 10
re.findall("<h3>(.*?)</h3>", report(BASED))[1:] => ["<bdi>pixels</bdi> - <bdi>pca</bdi>",
    "<bdi>profile</bdi> - <bdi>pca</bdi>"]
"<bdi>pixels</bdi> is significantly better than <bdi>pca</bdi>" in report(BASED) => True
(APART.significant("value", "a", "b"), NEEDED > 30) => (True, True)
"30 queries are enough to find a true difference of" in report(APART) => True
"in 80% of experiments (by a t-test, alpha 0.05, not corrected for several pairs); for the observed"
    f" one, {NEEDED} would be." in report(APART) => True
"Pairs in" in report(compared(random_rows(1, 6))) => False
outside(report(compared(random_rows(1, 6)))) => []
""")
def test_pairs_are_those_of_the_best_systems_or_with_a_baseline(call, expected):
    """A significant difference may need more queries for a power of 80 %."""
    check_value(call, expected, globals())


ALL = fr.compare(QRELS, RUNS, "map")


@calls("""
report(ALL, qrels=QRELS) => OptionError: qrels: give qrels and runs together
report(ALL, qrels=QRELS, runs=[RUNS["pca"]]) =>
  OptionError: runs: expected a list of 3 runs, found 1
report(ALL, qrels=QRELS, runs={"pca": RUNS["pca"]}) => OptionError: runs: no run 'pixels'...
report(ALL, examples=-1) => OptionError: examples:...
""")
@pytest.mark.usefixtures("_no_figures")
def test_wrong_options_of_reports_are_errors(call, expected):
    check_error(call, expected, globals())


def test_a_failed_report_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("old")

    with pytest.raises(ReadError):
        compared([[1, 2]]).report(path, qrels=QRELS, runs=[tmp_path / "none"])

    assert path.read_text() == "old"
