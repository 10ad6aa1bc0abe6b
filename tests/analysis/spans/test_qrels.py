"""Judgments of chunks from spans, and the levels above chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.spans import characters, places, table
from tests.helpers.tables import refusing

SPANS = table(
    "query document start end grade evidence",
    ("q", "a", 0, 10, 1, ""),
    ("q", "a", 10, 14, 2, "x"),
    ("q", "b", 0, 8, 3, "x"),
)
CHUNKS = table(
    "chunk document page start end",
    ("c1", "a", 1, 0, 12),
    ("c2", "a", 2, 8, 20),
    ("c3", "b", 1, 0, 6),
    ("c4", "b", 1, 6, 12),
)


@pytest.mark.parametrize(
    ("options", "grades"),
    [
        ({}, {"c1": 2, "c2": 2, "c3": 3, "c4": 0}),
        ({"grade": "sum"}, {"c1": 3, "c2": 2, "c3": 3, "c4": 0}),
        ({"grade": "share"}, {"c1": 1 + 2 * 0.5, "c2": 2.0, "c3": 3 * 0.75, "c4": 0.0}),
        ({"min_overlap": 0.2, "grade": "sum"}, {"c1": 3, "c2": 3, "c3": 3, "c4": 3}),
        ({"of": "chunk"}, {"c1": 1, "c2": 0, "c3": 3, "c4": 0}),
        ({"characters": 4}, {"c1": 1, "c2": 2, "c3": 3, "c4": 0}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*no chunk has enough")
def test_a_chunk_is_relevant_with_enough_of_a_span(options, grades):
    assert fr.span_qrels(SPANS, CHUNKS, **options).to_dict() == {"q": grades}


@given(
    st.lists(places(), min_size=1, max_size=5, unique=True),
    st.lists(places(), min_size=1, max_size=8),
    st.sampled_from(["span", "chunk"]),
)
@pytest.mark.filterwarnings("ignore:.*no chunk has enough")
def test_shares_are_those_of_characters(spans, chunks, of):
    rows = list(enumerate([*chunks, ("a", 90, 91), ("b", 90, 91)]))
    expected = {}
    for number, chunk in rows:
        common = [len(characters([chunk]) & characters([own])) for own in spans]
        wholes = [characters([own if of == "span" else chunk]) for own in spans]
        shares = [both / len(whole) for both, whole in zip(common, wholes, strict=True)]
        if any(common):
            expected[str(number)] = sum(share for share in shares if share >= 0.25)

    found = fr.span_qrels(
        table("query document start end", *[("q", *own) for own in spans]),
        table("chunk document start end", *[(number, *own) for number, own in rows]),
        min_overlap=0.25,
        of=of,
        grade="share",
    )

    assert found.to_dict().get("q", {}) == pytest.approx(expected)


def test_measures_of_subtopics_count_each_piece_of_evidence_once():
    qrels = fr.span_qrels(SPANS, CHUNKS, subtopics=True)
    # The second carries the same information as the first.
    run = {"q": {"c3": 4.0, "c2": 3.0, "c1": 2.0}}

    rows = sorted(zip(qrels.groups.decoded(), qrels.doc_ids, qrels.grades.tolist(), strict=True))
    assert rows == [
        ("a:0-10", "c1", 1),
        ("a:0-10", "c2", 0),
        ("x", "c1", 2),
        ("x", "c2", 2),
        ("x", "c3", 3),
        ("x", "c4", 0),
    ]
    recalls = fr.evaluate(qrels, run, "StRecall@1 StRecall@2 StRecall@3").mean
    assert list(recalls.values()) == [0.5, 0.5, 1.0]


def test_evidence_that_no_chunk_has_enough_of_is_told():
    nowhere = table("query document start end", ("q", "a", 0, 3), ("p", "b", 50, 60))

    with pytest.warns(UserWarning, match=r"enough of 1 piece of evidence, of 'q' \(a:0-10\); low"):
        fr.span_qrels(SPANS, CHUNKS, min_overlap=1.0, of="chunk")
    with pytest.warns(UserWarning, match="or of='chunk'; 1 query has no judgment at all"):
        assert list(fr.span_qrels(nowhere, CHUNKS)) == ["q"]


RUN = {"q": {"c4": 0.1, "c2": 0.3, "c1": 0.9, "c3": 0.5}, "p": {}}


def test_pages_and_documents_have_the_score_of_their_best_chunk():
    page, document = (fr.by_level(RUN, CHUNKS, level) for level in ("page", "document"))

    assert page.to_dict() == {"q": {"a#2": 0.3, "a#1": 0.9, "b#1": 0.5}, "p": {}}
    assert document.to_dict() == {"q": {"a": 0.9, "b": 0.5}, "p": {}}
    assert fr.by_level(RUN, CHUNKS, "chunk").to_dict() == RUN
    assert fr.by_level({"q": {}}, CHUNKS, "document").to_dict() == {"q": {}}


def test_pages_and_documents_have_the_grade_of_their_best_chunk():
    qrels = fr.span_qrels(SPANS, CHUNKS)
    by_piece = fr.by_level(fr.span_qrels(SPANS, CHUNKS, subtopics=True), CHUNKS, "document")

    assert fr.by_level(qrels, CHUNKS, "document").to_dict() == {"q": {"a": 2, "b": 3}}
    shares = fr.span_qrels(SPANS, CHUNKS, grade="share")
    assert fr.by_level(shares, CHUNKS, "document").to_dict() == {"q": {"a": 2.0, "b": 2.25}}
    rows = zip(by_piece.groups.decoded(), by_piece.doc_ids, by_piece.grades.tolist(), strict=True)
    assert sorted(rows) == [("a:0-10", "a", 1), ("x", "a", 2), ("x", "b", 3)]


NO_PAGES = {name: column for name, column in CHUNKS.items() if name != "page"}

test_bad_input_is_an_error = refusing("""
span_qrels(SPANS, CHUNKS, min_overlap=0) =>
  OptionError: min_overlap: expected a number above 0, at most 1, found 0...
span_qrels(SPANS, CHUNKS, characters=0) => OptionError: characters: expected 1 or more, found 0
span_qrels(SPANS, CHUNKS, of="query") =>
  OptionError: of: expected one of 'span', 'chunk', found 'query'
span_qrels(SPANS, CHUNKS, grade="min") =>
  OptionError: grade: expected one of 'max', 'sum', 'share', found 'min'
by_level(RUN, NO_PAGES, "page") => InputError: <dict>: no page column: found 'chunk', 'document'...
by_level({"q": {"c5": 1.0}}, CHUNKS, "document") =>
  InputError: ...1 document not among the chunks of <dict>: 'c5'
by_level(RUN, CHUNKS, "section") =>
  OptionError: level: expected one of 'chunk', 'page', 'document'...
""")
