"""Files of search engines and rating tools, as their documentation and tests show them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.strategies import examples
from tests.helpers.tables import check_error, check_value, rows


def file(content: Any) -> io.BytesIO:
    return io.BytesIO(content if isinstance(content, bytes) else json.dumps(content).encode())


def qrels(content: Any) -> dict[str, dict[str, Any]]:
    return fr.read_qrels(file(content)).to_dict()


def run(content: Any) -> dict[str, dict[str, float]]:
    return fr.read_run(file(content)).to_dict()


# https://www.elastic.co/guide/en/elasticsearch/reference/8.17/search-rank-eval.html, as its tests
# in modules/rank-eval have it: what of the four documents is found, in which order, is given there.
def rated(**ratings: Any) -> Any:
    found = [{"_index": "foo", "_id": doc, "rating": own} for doc, own in ratings.items()]
    return {"ratings": found}


REQUEST = {
    "requests": [
        {"id": "amsterdam_query", "request": {}, **rated(doc1=0, doc2=1, doc3=1)},
        {"id": "berlin_query", "request": {}, **rated(doc1=1)},
    ],
    "metric": {"precision": {"ignore_unlabeled": True}},
}
FOUND = {"amsterdam_query": ["doc2", "doc3", "doc4"], "berlin_query": ["doc1", "doc4"]}


def rank_eval(found: dict[str, list[str]], **more: Any) -> dict[str, Any]:
    details: dict[str, Any] = {}
    for query, docs in found.items():
        hits = [{"hit": {"_index": "foo", "_id": doc, "_score": 0.5}} for doc in docs]
        details[query] = {"metric_score": 1.0, "unrated_docs": [], "hits": hits}
    return {"metric_score": 1.0, "details": details, "failures": {}, **more}


def scores(grades: list[int | None], measures: str) -> list[float]:
    """Of one query whose results have these ratings, as in the tests of its metrics."""
    judged = {str(doc): grade for doc, grade in enumerate(grades) if grade is not None}
    request = {"requests": [{"id": "q", **rated(**judged)}]}
    response = rank_eval({"q": [str(doc) for doc in range(len(grades))]})
    return list(fr.evaluate(file(request), file(response), measures).mean.values())


def mean(measures: str, request: Any = REQUEST, found: Any = FOUND) -> list[float]:
    return list(fr.evaluate(file(request), file(rank_eval(found)), measures).mean.values())


def of_doc4(*queries: str) -> Any:
    return {"requests": [{"id": query, **rated(doc4=1)} for query in queries]}


def close(*expected: float) -> Any:
    return pytest.approx(list(expected), rel=1e-12)


BOTH, DCG = of_doc4(*FOUND), "DCG(dcg='exp-log2')@10 nDCG(dcg='exp-log2')@10"
VALUES = """
# precision, which divides by what was found; also with ignore_unlabeled
mean("P(denominator='retrieved')@10") => close((2 / 3 + 1 / 2) / 2)
mean("SetP(judged_only=True) R@10") => [1.0, 1.0]
# mean_reciprocal_rank, expected_reciprocal_rank with maximum_relevance 1
mean("RR@10 ERR(max_grade=1)@5", BOTH) => close(5 / 12, 5 / 24)
# dcg, and with normalize; ratings that are missing
scores([3, 2, 3, 0, 1, 2], DCG) => close(13.84826362927298, 13.84826362927298 / 14.595390756454922)
scores([3, 2, 3, None, 1, None], DCG) => close(12.779642067948913,
  12.779642067948913 / 13.347184833073592)
# expected_reciprocal_rank with maximum_relevance 3
scores([3, 2, 0, 1], "ERR(max_grade=3)@3 ERR(max_grade=3)@4") => close(0.8984375, 0.90087890625)
scores([3, None, 0, 1], "ERR(max_grade=3)@4") => close(0.87890625)
# a query of which nothing is found counts as 0
mean("RR", BOTH, {**FOUND, "berlin_query": []}) => close(1 / 6)
"""


@pytest.mark.parametrize(("call", "expected"), rows(VALUES))
def test_metrics_of_rank_eval_have_these_values(call, expected):
    check_value(call, expected, globals())


def hits(*results: tuple[str, float], **more: Any) -> dict[str, Any]:
    found = [{"_index": "i", "_id": doc, "_score": score} for doc, score in results]
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    return {"took": 5, "timed_out": False, "_shards": shards, "hits": {"hits": found}, **more}


# https://solr.apache.org/guide/solr/latest/query-guide/response-writers.html
SOLR = {
    "responseHeader": {"status": 0, "QTime": 5, "params": {"q": "ipod"}},
    "response": {"numFound": 2, "start": 0, "docs": [{"id": "MA147LL/A"}, {"id": "F8V7067"}]},
}
# https://docs.vespa.ai/en/reference/default-result-format.html
OF_VESPA = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 2}}
COVERAGE = {"coverage": 100, "documents": 3, "full": True, "nodes": 1, "results": 1}
HEAD = {"id": "id:mynamespace:music::a-head", "relevance": 0.5, "source": "music"}
LP = {"documentid": "id:mynamespace:music:g=x:lp:2"}
CHILDREN = [HEAD, {"id": "index:music/0/c81e", "relevance": 0.25, "fields": LP}]
VESPA = {"root": {**OF_VESPA, "coverage": COVERAGE, "children": CHILDREN}}
# https://typesense.org/docs/latest/api/search.html
STARK = {"request_params": {"q": "stark"}, "hits": [{"document": {"id": "124"}, "text_match": 9}]}
TYPESENSE = {"found": 1, "page": 1, "search_cutoff": False, **STARK}
# docs/ and fixtures of o19s/quepid: a snapshot, an exported case, and ratings for RRE.
SNAPSHOT = {
    "docs": {"7": [{"id": "b"}, {"id": "a", "rated_only": False}, {"id": "c", "rated_only": True}]},
    "queries": [{"query_id": 7, "query_text": "tv", "ratings": {"a": 3.0, "b": 0.5}}],
}
CASE = {"queries": [{"query_text": "tv", "ratings": [{"doc_id": "a", "rating": 3}]}]}
# https://docs.opensearch.org/latest/search-plugins/search-relevance/judgments/
RATINGS = [{"docId": "B077", "rating": "3.000"}, {"docId": "B071", "rating": "0.000"}]
LIST = {"name": "Imported", "judgmentRatings": [{"query": "red dress", "ratings": RATINGS}]}


# https://github.com/SeaseLtd/rated-ranking-evaluator/wiki/What%20We%20Need%20To%20Provide
def topic(relevant: Any, *queries: str) -> Any:
    asked = [{"placeholders": {"$query": query}} for query in queries]
    return {"query_groups": [{"queries": asked, "relevant_documents": relevant}]}


FENDER = topic({"1": {"gain": 3}}, "fender", "Fender")
RRE = {"topics": [FENDER, topic({"2": ["5", "6"]}, "jazz")]}
ONE_GROUP = [{"query_groups": [{"queries": [{"placeholders": {"$query": "r"}}]}]}]
QUEPID = b"Query,DocId,Rating\ntv,a,3\ntv,b,\nradio,,\n"
RESPONSE = hits(("x", 2.0), ("y", 1.0))
RED = {"red dress": {"B077": 3, "B071": 0}}
READ = """
# scores are kept if they give the order, else the ranks count, in the whole file
run({"q": RESPONSE}) => {"q": {"x": 2.0, "y": 1.0}}
run({"q": RESPONSE, "r": hits(("b", 1.0), ("a", 1.0))}) => {
  "q": {"x": -1.0, "y": -2.0}, "r": {"b": -1.0, "a": -2.0}}
run({"q": hits(("b", None))}) => {"q": {"b": -1.0}}
run({"q": hits(("b", 10**400), ("a", 1))}) => {"q": {"b": -1.0, "a": -2.0}}
run({"q": hits(("b", 1e300), ("a", 1e299))}) => {"q": {"b": -1.0, "a": -2.0}}
# queries are named by the file, a key of the response, or the text that it repeats
run({"responses": [{**RESPONSE, "query_id": "q"}]}) => {"q": {"x": 2.0, "y": 1.0}}
run(json.dumps({**RESPONSE, "query_id": 1}).encode() + b"\\n" +
  json.dumps({**hits(), "query_id": 2}).encode()) => {"1": {"x": 2.0, "y": 1.0}, "2": {}}
run(SOLR) => {"ipod": {"MA147LL/A": -1.0, "F8V7067": -2.0}}
run({"results": [TYPESENSE]}) => {"stark": {"124": 9.0}}
# documents of Vespa have the name that their user gave them
run({"q": VESPA}) => {"q": {"a-head": 0.5, "lp:2": 0.25}}
# a snapshot of Quepid is judgments and a run
(run(SNAPSHOT), qrels(SNAPSHOT)) => ({"tv": {"b": -1.0, "a": -2.0}}, {"tv": {"a": 3.0, "b": 0.5}})
# ratings
qrels(REQUEST)["berlin_query"] => {"doc1": 1}
qrels(CASE) => {"tv": {"a": 3}}
qrels({"queries": [{"query": "tv", "ratings": {"a": 3}}]}) => {"tv": {"a": 3}}
qrels(LIST) => RED
qrels({"hits": {"hits": [{"_source": LIST}]}}) => RED
qrels(RRE) => {"fender": {"1": 3}, "Fender": {"1": 3}, "jazz": {"5": 2, "6": 2}}
# names of queries and documents are no signs of a search engine
run({"knn_settings": {"q": 1}}) => {"knn_settings": {"q": 1.0}}
run({"hits": {"found": 2, "metric_score": 1}, "error": {"code": 3}, "root": {"id": 4}}) => {
  "hits": {"found": 2.0, "metric_score": 1.0}, "error": {"code": 3.0}, "root": {"id": 4.0}}
"""


@pytest.mark.parametrize(("call", "expected"), rows(READ))
def test_files_of_search_engines_are_read(call, expected):
    check_value(call, expected, globals())


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        (QUEPID, "2 rows without a rating left out, the first is line 3"),
        ({"requests": [{"id": "tv", **rated(a=3, b=None)}]}, "1 document .* 'b' of query 'tv'"),
        ({"requests": [{"id": "tv", **rated(a=3)}, {"id": "r", **rated()}]}, "1 query .* 'r'"),
        ({"queries": [{"query": "tv", "ratings": {"a": 3}}, {"query": "r"}]}, "1 query .* 'r'"),
        ({"topics": [topic({"3": ["a"]}, "tv"), *ONE_GROUP]}, "1 query .* 'r'"),
    ],
    ids=["rows", "documents", "queries", "queries of Quepid", "queries for RRE"],
)
def test_what_nobody_has_rated_is_left_out_with_a_warning(content, warning):
    with pytest.warns(UserWarning, match=warning):
        assert qrels(content) == {"tv": {"a": 3}}


TWO = {"q": {"hits": {"hits": [{"_index": i, "_id": "x", "_score": 1.0} for i in "ab"]}}}
FAILED = {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}
REFUSED = """
# responses that are not complete
run({"q": hits(timed_out=True)}) => ['q'].timed_out: True: these are not all results; ...
run({"q": hits(_shards={"total": 5, "failed": 2})}) => ['q']._shards.failed: 2: these are ...
run({"q": hits(_clusters={"total": 2, "skipped": 1})}) => ['q']._clusters.skipped: 1: these ...
run({**SOLR, "responseHeader": {"params": {"q": "x"}, "partialResults": True}}) =>
  responseHeader.partialResults: True: these are not all results; expected False or nothing
run({"q": {"root": {**VESPA["root"], "coverage": {"full": False}}}}) =>
  ['q'].root.coverage.full: False: these are not all results; expected True or nothing
run({**TYPESENSE, "page": 2}) => page: 2: these are not all results; expected 1 or nothing
run(rank_eval(FOUND, failures={"paris": {}})) => failures: 1 query failed, such as 'paris': ...
run(rank_eval(FOUND, failures=5)) => failures: 1 query failed, such as 5: expected none
run({"responses": [FAILED]}) => responses[0]: expected a response, found the error 'no such index'
# another version, or no names
run({"rank_eval": {"quality_level": 0.4, "details": {}}}) => rank_eval: expected a response of ...
run({"responses": [RESPONSE]}) =>
  responses[0]: a response of Elasticsearch or OpenSearch does not name its query: write ...
# ids that are missing, or not unique
run({"q": {"hits": {"hits": [{"_score": 1}]}}}) =>
  ['q'].hits.hits[0]._id: expected the id of a document, found nothing
run({"q": hits(("x", 1.0), ("x", 0.5))}) => ['q'].hits.hits[1]: duplicate document 'x'
run(TWO) => ['q'].hits.hits[1]: document 'x' is in the indexes 'a' and 'b': expected ...
run([SOLR, SOLR]) => [1]: the query 'ipod' is also that of [0]
run({"q": {"root": {"id": "toplevel", "children": [{"id": "group:root:0"}]}}}) =>
  ['q'].root.children[0]: expected a document id such as id:namespace:type::name, here or ...
run({**SNAPSHOT, "docs": {"7": [5]}}) =>
  docs['7'].hits[0].hit._id: expected the id of a document, found nothing
run({**SNAPSHOT, "docs": {"7": 5}}) => docs['7']: expected a response, found 5
# ratings
qrels({"requests": [{"id": "q", "ratings": [{"_index": "i", "_id": [1], "rating": 1}]}]}) =>
  requests[0].ratings[0]: expected the id of a document, found [1]
qrels({"queries": CASE["queries"] * 2}) =>
  queries[1].ratings: the query 'tv' is also that of queries[0].ratings
qrels({"queries": [{"query_text": "tv", "ratings": CASE["queries"][0]["ratings"] * 2}]}) =>
  queries[0].ratings[1]: document 'a' of query 'tv' is rated twice
qrels({"requests": [{"id": "q", "ratings": [{"_id": "a", "grade": 1}]}]}) =>
  requests[0].ratings[0]: expected 'rating' and '_id' or 'docId' or 'doc_id', found _id, grade
qrels({"requests": [{"id": "q", "ratings": 5}]}) =>
  requests[0].ratings: expected a list or an object of ratings, found 5
qrels({"requests": [{"id": "q"}]}) => expected ratings, found none for 1 query, such as 'q'
qrels({"queries": []}) => 'queries' is empty: expected queries with ratings, found none
run({"responses": []}) => 'responses' is empty: expected queries with results, found none
qrels({"requests": [{"id": "q", **rated(a="high")}]}) =>
  requests[0].ratings[0]: expected a number, found 'high'
qrels({"hits": {"hits": [{"_source": LIST}] * 2}}) =>
  hits.hits: expected one judgment list, found 2
qrels({**LIST, "status": "PROCESSING"}) => status: 'PROCESSING': the judgment list is not complete
run({"knn_settings": [{"name": "a", "recall": 0.9}]}) =>
  a response of _knn_eval has recall, but neither results nor judgments
# files that are swapped
run(LIST) => expected responses, found ratings, which are judgments: are the files swapped?
qrels(SOLR) => expected ratings, found responses of a search engine, which are a run: are the ...
"""


@pytest.mark.parametrize(("call", "error"), rows(REFUSED))
def test_other_files_of_search_engines_are_refused(call, error):
    check_error(call, f"InputError: <file object>: {error}", globals())


NAMES = st.sampled_from(
    ["hits", "docs", "root", "found", "queries", "error", "status", "id", "code"]
)


@examples(60)
@given(st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(0, 3), min_size=1), min_size=1))
def test_any_run_in_json_is_still_read(scored):
    assert run(scored) == scored
