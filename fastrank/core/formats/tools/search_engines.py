"""JSON of search engines and of tools that rate their results: responses are runs, ratings qrels.

Read are the responses of Elasticsearch and OpenSearch (`_search`, `_msearch`, `_rank_eval`), Solr,
Vespa and Typesense, and snapshots of Quepid; and the ratings in requests of `_rank_eval`, exports
and snapshots of Quepid, judgment lists of the OpenSearch Search Relevance Workbench, and ratings of
the Rated Ranking Evaluator (RRE).

What a response ranks first is first in the run. Scores are kept if they say the same everywhere in
the file; else a document's score is minus its rank.
"""

from __future__ import annotations

from array import array
from operator import gt

from fastrank.common.c_numbers import finite
from fastrank.common.messages import counted
from fastrank.core.data.columns import Frozen
from fastrank.core.formats.tables.roles import names_of
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

    # Where it is in the file, the query's id or what is there instead, and a response or ratings.
    Found = tuple[str, Any, Any]

MISSING = object()
# The end of 32-bit floats.
MOST = 2.0**128


class Engine(Frozen):
    """Where the responses of a search engine have what; a path is the keys on the way.

    sign: a path, and the type of what is there, that only such a response has beside its results.
    hits: the path of the list of results. doc, score, index: paths in a result; index: of the name
    that makes the id of a document unique. query: the path of the text of the query, if responses
    repeat it. complete: the values by path in a response that has all of its results; paths that a
    response lacks do not matter.
    """

    name: str
    sign: tuple[str, Any]
    hits: str
    doc: str
    score: str
    index: str = ""
    query: str = ""
    complete: dict[str, Any] = {}  # noqa: RUF012


ENGINES = (
    Engine(
        name="_rank_eval",
        sign=("metric_score", (int, float)),
        hits="hits",
        doc="hit._id",
        score="hit._score",
        index="hit._index",
    ),
    Engine(
        name="Elasticsearch or OpenSearch",
        sign=("hits.hits", list),
        hits="hits.hits",
        doc="_id",
        score="_score",
        index="_index",
        complete={
            "timed_out": False,
            "terminated_early": False,
            "_shards.failed": 0,
            "_clusters.skipped": 0,
            "_clusters.partial": 0,
            "_clusters.failed": 0,
        },
    ),
    Engine(
        name="Solr",
        sign=("response.docs", list),
        hits="response.docs",
        doc="id",
        score="score",
        query="responseHeader.params.q",
        complete={
            "responseHeader.status": 0,
            "responseHeader.partialResults": False,
            "response.start": 0,
        },
    ),
    Engine(
        name="Vespa",
        sign=("root.id", str),
        hits="root.children",
        doc="id",
        score="relevance",
        complete={"root.errors": None, "root.coverage.full": True, "root.coverage.degraded": None},
    ),
    Engine(
        name="Typesense",
        sign=("found", int),
        hits="hits",
        doc="document.id",
        score="text_match",
        query="request_params.q",
        complete={"search_cutoff": False, "page": 1, "grouped_hits": None},
    ),
)
# The lists of responses to several requests in one.
SEVERAL = ("responses", "results")
# The list of queries, and in a query its id and its ratings.
RATED = (
    ("requests", "id", "ratings"),
    ("judgmentRatings", "query", "ratings"),
    ("queries", "query_text", "ratings"),
    ("queries", "query", "ratings"),
)
RATED_DOC = ("_id", "docId", "doc_id")
GROUPS = ("topics", "query_groups", "queries")
LISTED = (*SEVERAL, *GROUPS, *(key for key, _, _ in RATED))
# The remedy if nothing says which query a response answers.
NAMED = "write {query: response}, or add the key 'query_id' to each response"


def at(found: Any, path: str) -> Any:
    """The value at a path, MISSING if there is none."""
    for key in path.split("."):
        if not isinstance(found, dict) or key not in found:
            return MISSING
        found = found[key]
    return found


def is_number(value: Any) -> bool:
    """Whether this is a number of JSON."""
    return type(value) in (int, float)


def _fall(scores: list[Any]) -> bool:
    """Whether these are numbers of which each is lower than the one before.

    As 32-bit floats, as which trec_eval 9.0.8 compares scores.
    """
    if not all(is_number(score) and abs(score) < MOST for score in scores):
        return False
    singles = array("f", scores)
    return all(map(gt, singles, singles[1:]))


def is_objects(found: Any) -> bool:
    """Whether this is a list of objects, as its first tells."""
    return isinstance(found, list) and bool(found) and isinstance(found[0], dict)


def engine_of(response: Any) -> Engine | None:
    """The engine whose responses look like this.

    A query or a document may have any name, such as `hits`; what is there is then not a list.
    """
    for engine in ENGINES:
        path, kind = engine.sign
        hits = at(response, engine.hits)
        # Vespa leaves out the list if nothing is found.
        listed = isinstance(hits, list) or (hits is MISSING and engine.name == "Vespa")
        if listed and isinstance(at(response, path), kind):
            return engine
    return None


def is_failure(response: Any) -> bool:
    """Whether this is what an engine answers if it fails."""
    codes = {type(at(response, key)) for key in ("status", "code")}
    has_code = int in codes or isinstance(at(response, "error.msg"), str)
    return has_code and isinstance(at(response, "error"), (dict, str))


def is_response(response: Any) -> bool:
    """Whether an engine answers so."""
    return engine_of(response) is not None or is_failure(response)


def unwrapped(found: Any) -> tuple[Any, Any]:
    """The query and the response in {query: ..., any key: response}; else MISSING and all of it."""
    if isinstance(found, dict) and not is_response(found):
        response = next((own for own in found.values() if is_response(own)), MISSING)
        names = names_of("query_of_list")
        query = next((found[key] for key in names if isinstance(found.get(key), (str, int))), None)
        if response is not MISSING and query is not None:
            return query, response
    return MISSING, found


def numbers_by_query(found: Any, source: str, kind: str) -> dict[str, dict[str, Any]] | None:
    """{query: {document: grade or score}} of the content of a JSON file.

    kind: qrels or run. None if the content is not of a search engine. Raises InputError for
    responses that failed or are not complete, and for content that is not as documented.
    """
    reader = _Reader(source)
    forms = reader.forms(found)
    if kind not in forms and forms:
        expected, seen = "ratings", "responses of a search engine, which are a run"
        if kind == "run":
            expected, seen = "responses", "ratings, which are judgments"
        raise InputError(source, f"expected {expected}, found {seen}: are the files swapped?")
    if not forms:
        empty = [key for key in LISTED if at(found, key) == []]
        if empty and not any(own for own in found.values() if isinstance(own, (dict, list))):
            content = "ratings" if kind == "qrels" else "results"
            reason = f"{empty[0]!r} is empty: expected queries with {content}, found none"
            raise InputError(source, reason)
        return None
    return reader.run(forms[kind]) if kind == "run" else reader.qrels(forms[kind])


def kinds_of(found: Any, source: str) -> set[str]:
    """The content of a JSON file, if it is of a search engine: qrels, a run, or both."""
    return set(_Reader(source).forms(found))


class _Reader:
    """Reads responses, and ratings of documents for queries; errors name the file and the place."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._indexes: dict[str, Any] = {}
        self._queries: dict[str, str] = {}

    def forms(self, found: Any) -> dict[str, Iterator[Found]]:
        """The responses, as run, and the ratings of each query, as qrels, that this has."""
        forms = {"run": self._responses(found), "qrels": self._ratings(found)}
        return {kind: own for kind, own in forms.items() if own is not None}

    def refuse(self, path: str, reason: str) -> NoReturn:
        raise InputError(self._source, f"{path}: {reason}" if path else reason)

    def id_at(self, path: str, value: Any, noun: str) -> str:
        """The id of a query or document."""
        if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
            found = "nothing" if value in (MISSING, None) else f"{value!r:.60}"
            self.refuse(path, f"expected the id of a {noun}, found {found}")
        return str(value)

    def query_at(self, path: str, value: Any) -> str:
        """The id of a query that no other one has."""
        query = self.id_at(path, value, "query")
        other = self._queries.setdefault(query, path)
        if other != path:
            self.refuse(path, f"the query {query!r:.60} is also that of {other}")
        return query

    def check_index(self, path: str, doc: str, index: Any) -> None:
        """Raise InputError if two documents would have the same id."""
        other = self._indexes.setdefault(doc, index)
        if other != index:
            reason = f"document {doc!r:.60} is in the indexes {other!r} and {index!r}"
            self.refuse(path, f"{reason}: expected ids that are unique in all indexes")

    def _responses(self, found: Any) -> Iterator[Found] | None:
        """The responses, if this is one or has some."""
        if isinstance(found, list):
            is_run = bool(found) and is_response(unwrapped(found[0])[1])
            return self._listed(found, "") if is_run else None
        if isinstance(at(found, "rank_eval.details"), dict):
            reason = "expected a response of Elasticsearch 6.3 or later, with 'metric_score'"
            self.refuse("rank_eval", f"{reason}, found one of an older version")
        settings = at(found, "knn_settings")
        if is_objects([*settings.values()] if isinstance(settings, dict) else settings):
            reason = "a response of _knn_eval has recall, but neither results nor judgments"
            self.refuse("", reason)
        if isinstance(at(found, "details"), dict) and is_number(at(found, "metric_score")):
            return self._of_rank_eval(found)
        if isinstance(at(found, "docs"), dict) and is_objects(at(found, "queries")):
            return self._of_snapshot(found)
        query, response = unwrapped(found)
        if is_response(response):
            return iter([("", query, response)])
        for key in SEVERAL:
            listed = at(found, key)
            if is_objects(listed) and is_response(listed[0]):
                return self._listed(listed, key)
        if isinstance(found, dict) and is_response(next(iter(found.values()), None)):
            return ((f"[{query!r:.60}]", query, own) for query, own in found.items())
        return None

    def _listed(self, responses: list[Any], path: str) -> Iterator[Found]:
        for place, response in enumerate(responses):
            yield f"{path}[{place}]", *unwrapped(response)

    def _of_rank_eval(self, found: Any) -> Iterator[Found]:
        if failed := found.get("failures"):
            queries = list(failed) if isinstance(failed, (dict, list)) else [failed]
            count = counted(len(queries), "query", "queries")
            self.refuse("failures", f"{count} failed, such as {queries[0]!r:.60}: expected none")
        for query, own in found["details"].items():
            yield f"details[{query!r:.60}]", query, own

    def _of_snapshot(self, found: Any) -> Iterator[Found]:
        """A snapshot of Quepid as responses of _rank_eval; queries are named by their texts."""
        texts = {str(at(own, "query_id")): at(own, "query_text") for own in found["queries"]}
        for number, docs in found["docs"].items():
            if isinstance(docs, list):
                kept = [own for own in docs if at(own, "rated_only") is not True]
                docs = {"metric_score": 0, "hits": [{"hit": {"_id": at(d, "id")}} for d in kept]}
            yield f"docs[{number!r}]", texts.get(number), docs

    def run(self, responses: Iterator[Found]) -> dict[str, dict[str, Any]]:
        """{query: {document: score}}."""
        scores: dict[str, list[Any]] = {}
        docs: dict[str, dict[str, None]] = {}
        for path, named, response in responses:
            engine = engine_of(response)
            if engine is None or is_failure(response):
                reason = at(response, "error.reason")
                reason = at(response, "error") if reason is MISSING else reason
                seen = repr(response) if reason is MISSING else f"the error {reason!r}"
                self.refuse(path, f"expected a response, found {seen:.200}")
            for place in ("query_id", engine.query):
                named = at(response, place) if named is MISSING else named
            if named is MISSING:
                self.refuse(path, f"a response of {engine.name} does not name its query: {NAMED}")
            query = self.query_at(path, named)
            docs[query], scores[query] = {}, []
            for where, doc, score in self._hits(f"{path}." if path else "", engine, response):
                if doc in docs[query]:
                    self.refuse(where, f"duplicate document {doc!r:.60}")
                docs[query][doc] = None
                scores[query].append(score)
        if not all(map(_fall, scores.values())):
            scores = {query: [-rank - 1 for rank in range(len(own))] for query, own in docs.items()}
        return {query: dict(zip(own, scores[query], strict=True)) for query, own in docs.items()}

    def _hits(self, prefix: str, engine: Engine, response: Any) -> Iterator[tuple[str, str, Any]]:
        """The place, the document and the score of each result."""
        for key, complete in engine.complete.items():
            value = at(response, key)
            if value is not MISSING and value != complete:
                expected = "nothing" if complete is None else f"{complete!r} or nothing"
                reason = f"{value!r:.60}: these are not all results; expected {expected}"
                self.refuse(f"{prefix}{key}", reason)
        hits = at(response, engine.hits)
        for place, hit in enumerate([] if hits is MISSING else hits):
            where = f"{prefix}{engine.hits}[{place}]"
            doc = at(hit, engine.doc)
            if engine.name == "Vespa":
                doc = self._of_vespa(where, hit)
            doc = self.id_at(f"{where}.{engine.doc}", doc, "document")
            if engine.index:
                self.check_index(where, doc, at(hit, engine.index))
            yield where, doc, at(hit, engine.score)

    def _of_vespa(self, where: str, hit: Any) -> str:
        """The user's name of a document, the end of id:namespace:type:options:name."""
        doc = at(hit, "fields.documentid")
        doc = at(hit, "id") if doc is MISSING else doc
        if not isinstance(doc, str) or not doc.startswith("id:") or doc.count(":") < 4:
            expected = "expected a document id such as id:namespace:type::name"
            self.refuse(where, f"{expected}, here or in fields.documentid, found {doc!r:.60}")
        return doc.split(":", 4)[4]

    def _ratings(self, found: Any) -> Iterator[Found] | None:
        """The ratings of each query, if this has some."""
        lists = at(found, "hits.hits")
        if is_objects(lists) and at(lists[0], "_source.judgmentRatings") is not MISSING:
            # The answer of OpenSearch to a request for a judgment list.
            if len(lists) > 1:
                self.refuse("hits.hits", f"expected one judgment list, found {len(lists)}")
            return self._ratings(lists[0]["_source"])
        is_list = is_objects(at(found, "judgmentRatings"))
        if is_list and found.get("status", "COMPLETED") != "COMPLETED":
            self.refuse("status", f"{found['status']!r:.60}: the judgment list is not complete")
        for key, query, rated in RATED:
            listed = at(found, key)
            if is_objects(listed) and query in listed[0]:
                return (
                    (f"{key}[{place}].{rated}", at(own, query), at(own, rated))
                    for place, own in enumerate(listed)
                )
        if any(is_objects(at(found, key)) for key in GROUPS):
            return self._of_groups(found, "", found.get("query_placeholder", "$query"), MISSING)
        return None

    def _of_groups(self, found: Any, path: str, placeholder: str, rated: Any) -> Iterator[Found]:
        """RRE's: topics have groups of queries, and groups ratings that hold for their queries."""
        own = at(found, "relevant_documents")
        rated = rated if own is MISSING else own
        for key in GROUPS:
            if is_objects(at(found, key)):
                for place, inner in enumerate(found[key]):
                    yield from self._of_groups(inner, f"{path}{key}[{place}].", placeholder, rated)
                return
        yield f"{path}relevant_documents", at(found, f"placeholders.{placeholder}"), rated

    def qrels(self, ratings: Iterator[Found]) -> dict[str, dict[str, Any]]:
        """{query: {document: grade}}; the grade of a document without a rating is None."""
        grades: dict[str, dict[str, Any]] = {}
        own: dict[str, Any]
        for path, named, rated in ratings:
            # Quepid leaves out ratings that nobody has given.
            rated = {} if rated is MISSING else rated
            query, own = self.query_at(path, named), {}
            for where, named_doc, rating in self._rated(path, rated):
                doc = self.id_at(where, named_doc, "document")
                if doc in own:
                    reason = f"document {doc!r:.60} of query {query!r:.60} is rated twice"
                    self.refuse(where, reason)
                own[doc] = None if rating is None else self._number(where, rating)
            grades[query] = own
        return grades

    def _rated(self, path: str, rated: Any) -> Iterator[Found]:
        """The documents and ratings, of any form that they have."""
        if isinstance(rated, dict):
            for key, value in rated.items():
                where = f"{path}[{key!r:.60}]"
                if isinstance(value, list):
                    # In RRE also the documents of each gain.
                    yield from ((where, doc, key) for doc in value)
                else:
                    yield where, key, at(value, "gain") if isinstance(value, dict) else value
            return
        if not isinstance(rated, list):
            self.refuse(path, f"expected a list or an object of ratings, found {rated!r:.60}")
        for place, own in enumerate(rated):
            where = f"{path}[{place}]"
            doc = next((key for key in RATED_DOC if at(own, key) is not MISSING), None)
            if doc is None or "rating" not in own:
                found = ", ".join(own) if isinstance(own, dict) else repr(own)
                ids = " or ".join(map(repr, RATED_DOC))
                self.refuse(where, f"expected 'rating' and {ids}, found {found:.60}")
            if "_index" in own:
                self.check_index(where, str(own[doc]), own["_index"])
            yield where, own[doc], own["rating"]

    def _number(self, where: str, rating: Any) -> Any:
        # Judgment lists have numbers as texts.
        number = finite(rating) if isinstance(rating, str) else rating
        if not is_number(number):
            found = "nothing" if rating is MISSING else f"{rating!r:.60}"
            self.refuse(where, f"expected a number, found {found}")
        return number
