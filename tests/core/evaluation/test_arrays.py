"""evaluate_arrays: what the arrays say, and errors that say where.

tests/core/matching/test_forms.py compares it with `evaluate`, with every option.
"""

from __future__ import annotations

import json
import pickle
import uuid
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import fastrank as fr
from fastrank.core.matching import arrays as array_judge
from fastrank.core.matching.arrays import _descending
from fastrank.core.native.threads import in_threads
from tests.helpers.parsing import parse_qrels
from tests.helpers.tables import giving, refusing


def ranks_found(ids: Any, scores: Any, judged: dict[int, int], **options: Any) -> str:
    """The ranking of one query, as relstring shows it: the grade of each document, - for none."""
    scores = None if scores is None else [scores]
    (name,) = (made := fr.evaluate_arrays([judged], [ids], scores, "relstring", **options)).names
    return str(made[name][0])


def found(qrels: Any, ids: Any, scores: Any = None, measures: Any = "map", **options: Any) -> Any:
    return fr.evaluate_arrays(qrels, ids, scores, measures, **options)


NAN, CLOSE = np.nan, [1.0 + 2e-8, 1.0]
LAST_UNSIGNED = np.array([2**32 - 1, 3], np.uint32)
NAMED = {"a": {1: 1}, "b": {2: 1}, "c": {3: 1}}
ELEVEN = found([{i: i} for i in range(11)], [[i] for i in range(11)], None, "num_rel")
MASKED = np.ma.array([[4, 5]], mask=[[0, 1]])
MIXED_IDS = [uuid.UUID(int=5), np.str_("q")]


def falls(count: int) -> bool:
    """Whether the scores of so many columns are different 32-bit floats."""
    return bool((np.diff(_descending(count).astype(np.float32)) < 0).all())


INDEXED = fr.index_qrels([{1: 0}, {2: 1}, {}, {3: 1}])
# A repeat in a row of which nothing is relevant is not looked at.
LEFT_OUT = INDEXED, [[1, 1], [2, 5], [9, 9], [-1, -1]]
# As where a corpus is searched for its own documents.
SELF = found([{1: 1}, {0: 1}], [[0, 1], [1, 0]], None, "recip_rank", ignore_identical_ids=True)
ALL_EXCLUDED = found([{3: 1}, {4: 1}], [[5, 3], [4, -1]], exclude={0: [3, 5]})
NOTHING_FOUND = found([{1: 1}, {1: 1}, {}], [[1, 2], [-1, -1], [1, 2]])
SKIPPED = found(*LEFT_OUT, no_relevant="skip")
UNJUDGED = found([{2: 1}, {}], [[1, 2], [-5, -5]], [[2.0, 1.0], [np.nan] * 2], ties="docno_asc")
ABC = ["a", "b", "c"]

test_values_are_as_described = giving("""
# equal scores rank by descending id as text: 9 before 10 before 1
ranks_found([1, 10, 9], [5.0, 5.0, 5.0], {9: 3, 10: 2, 1: 1}) => "321"
# single-precision ties exist for 9.0.8 only
ranks_found([1, 2], CLOSE, {1: 1, 2: 2}) => "21"
ranks_found([1, 2], CLOSE, {1: 1, 2: 2}, trec_eval_version="10.0") => "12"
# distances rank ascending
ranks_found([1, 2, 3], [0.5, 0.1, 0.3], {1: 1, 2: 2, 3: 3}, higher_is_better=False) => "231"
# without scores the order of the row counts
ranks_found([1, 10, 9], None, {9: 3, 10: 2, 1: 1}) => "123"
# padding takes no rank wherever it stands
ranks_found([-1, 5, -1, 6, -1], [NAN, 2, 9, 1, NAN], {5: 1, 6: 2}) => "12"
# unsigned ids have no padding
ranks_found(LAST_UNSIGNED, [2.0, 1.0], {2**32 - 1: 2}) => "2-"
# truth values are grades
found(([0, 1], [3], [True]), [[5, 3]]).mean => {"map": 0.5}
# queries say which row is which; rows may be fewer, and queries come out by id
found(NAMED, [[3, 2], [1, 2]], queries=["b", "a"]).to_dict() => {"a": {"map": 1}, "b": {"map": 0.5}}
found(NAMED, [[3, 2], [1, 2]], queries=["b", "a"]).counts["missing_queries"] => 1
# rows without ids stay in their order: 10 comes after 9, and not after 1
ELEVEN.queries => [str(i) for i in range(11)]
# rows without judgments are left out; a row without documents is an answer, which counts 0
NOTHING_FOUND["map"].tolist() => [1.0, 0.0]
(NOTHING_FOUND.mean["map"], NOTHING_FOUND.counts["missing_queries"]) => (0.5, 0)
found([{1: 1}, {1: 1}], [[1, 2], [-1, -1]], ties="given").mean => {"map": 0.5}
found([{1: 1}, {1: 1}], [[1], [-1]], missing="error").mean => {"map": 0.5}
# unique documents are taken on trust if they are not judged
found([{1: 1}], [[7, 7, 1]], assume_unique=True).mean => {"map": 1 / 3}
# repeated documents that look alike to the filter are told apart
found([{0: 1}], np.arange(1000)[None] * 2**52).mean => {"map": 1.0}
# a masked array without masked values is an array
found([{4: 1}], np.ma.array([[4, 5]])).mean => {"map": 1.0}
# ids of queries may be of any type
found([{4: 1}, {5: 1}], [[4], [4]], queries=MIXED_IDS).queries => [str(MIXED_IDS[0]), "q"]
# a document of a row with its number is identical
SELF["recip_rank"].tolist() => [1.0, 1.0]
SELF.counts["excluded"] => 2
# a row whose documents are all excluded has results: it counts, with 0, and is not missing
ALL_EXCLUDED["map"].tolist() => [0.0, 1.0]
(ALL_EXCLUDED.counts["excluded"], ALL_EXCLUDED.counts["missing_queries"]) => (2, 0)
# queries left out are not looked at; judgments indexed before stay as they are
(SKIPPED.queries, len(INDEXED)) => (["1", "3"], 3)
SKIPPED.counts["no_relevant_skipped"] => 1
SKIPPED.counts["no_relevant_queries"] => 0
SKIPPED.counts["missing_queries"] => 0
# without scores nothing ties
found([{10: 1}], [[1, 10, 9]], None, "recip_rank", ties="worst").mean => {"recip_rank": 0.5}
# not behind 2**24 columns either, where ranks are no longer different 32-bit floats
falls(2**24 + 5) => True
# rows without judgments are not looked at, but counted
(UNJUDGED.queries, UNJUDGED.counts["unjudged_queries"]) => (["0"], 1)
UNJUDGED.unjudged_queries => ["1"]
# with documents or without
found([{1: 1}, {}, {}], [[1], [-1], [2]], threads=1).unjudged_queries => ["1", "2"]
# rows without judgments are named by their queries
found({"b": {2: 1}}, [[1], [2], [3]], queries=ABC).unjudged_queries => ["a", "c"]
found({"b": {2: 1}}, [[1], [2], [3]], queries=iter(ABC)).unjudged_queries => ["a", "c"]
""")

IDS_2D = np.array([[5, 3, -1], [7, 3, 4]])
SCORES_2D = np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0]], np.float32)
ROWS = [{3: 1, 9: 2}, {7: 1, 4: 0}]
EXPECTED = found(ROWS, IDS_2D, SCORES_2D, "all_trec").mean


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", ">i4"])
@pytest.mark.parametrize("score", ["float16", "float32", "float64", "int64", "uint64", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("is_distance", [False, True])
def test_types_and_memory_orders_make_no_difference(kind, score, order, is_distance):
    ids = IDS_2D.astype(kind, order=order)
    scores = (4 - SCORES_2D if is_distance else SCORES_2D).astype(score, order=order)

    scores_found = found(ROWS, ids, scores, "all_trec", higher_is_better=not is_distance)

    assert scores_found.mean == EXPECTED


def test_strided_views_and_memory_maps_are_taken(tmp_path):
    np.save(tmp_path / "ids.npy", np.repeat(IDS_2D, 2, axis=1))
    ids = np.load(tmp_path / "ids.npy", mmap_mode="r")[:, ::2]

    assert found(ROWS, ids, SCORES_2D, "all_trec").mean == EXPECTED


def test_rows_that_are_converted_in_blocks_are_all_evaluated(monkeypatch):
    monkeypatch.setattr("fastrank.core.matching.arrays.BLOCK_ITEMS", 3)
    ids, scores = IDS_2D.astype(np.int32), SCORES_2D.astype(np.float16)

    assert found(ROWS, ids, scores, "all_trec").mean == EXPECTED


CSR = INDPTR, DOC_IDS, GRADES = [0, 2, 4], [3, 9, 7, 4], [1, 2, 1, 0]
FORMS = {
    "csr": CSR,
    "csr of other types": tuple(map(np.array, CSR, ("int32", "uint64", "float32"))),
    "dict": {0: ROWS[0], 1: ROWS[1]},
    "dict in another order": {1: ROWS[1], 0: ROWS[0]},
    "numpy scalars": [{np.int64(doc): np.int8(own) for doc, own in row.items()} for row in ROWS],
    "judgments of decimal ids": parse_qrels(b"0 0 3 1\n0 0 9 2\n1 0 7 1\n1 0 4 0\n"),
    "indexed": fr.index_qrels(ROWS),
    "Qrels": fr.Qrels.from_dict(dict(enumerate(ROWS))),
    "sparse matrix": sparse.csr_matrix((GRADES, DOC_IDS, INDPTR), shape=(2, 10)),
    "pickled": pickle.loads(pickle.dumps(fr.index_qrels(ROWS))),
}


@pytest.mark.parametrize("form", FORMS)
def test_judgments_in_every_form_are_the_same(form):
    for ties in ("docno_desc", "docno_asc", "docno_desc"):
        assert found(FORMS[form], IDS_2D, SCORES_2D, "all_trec", ties=ties).mean == EXPECTED


@pytest.mark.parametrize(
    "qrels",
    [[[31, 4], [15]], [{31, 4}, {15}], [np.array([31, 4]), [15]], {"0": [31, 4], "1": (15,)}],
)
def test_listed_documents_have_grade_1(qrels):
    ids = [[4, 9, 31], [15, 3, 2]]

    assert found(qrels, ids).mean == found([{31: 1, 4: 1}, {15: 1}], ids).mean


def test_judgments_may_be_a_file_with_document_numbers(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("q1 0 31 1\nq1 0 4 2\nq2 0 15 1\n")
    ids, names = [[4, 59, 31], [26, 15, -1]], ["q1", "q2"]
    judged = {"q1": {31: 1, 4: 2}, "q2": {15: 1}}

    assert found(path, ids, queries=names).to_dict() == found(judged, ids, queries=names).to_dict()


def test_an_index_does_not_change_with_the_arrays_it_was_made_from():
    docs = np.array(DOC_IDS)
    qrels = fr.index_qrels((INDPTR, docs, GRADES))
    docs[:] = 0

    assert found(qrels, IDS_2D, SCORES_2D, "all_trec").mean == EXPECTED


def test_nothing_that_was_passed_is_changed():
    ids, scores = IDS_2D.copy(), SCORES_2D.copy()
    ids.flags.writeable = scores.flags.writeable = False
    how: Any = {"ties": "best", "exclude": {0: [5]}, "no_relevant": "skip"}

    for options in ({}, how):
        found(ROWS, ids, scores, higher_is_better=False, **options)

    assert (ids == IDS_2D).all()
    assert (scores == SCORES_2D).all()


# Errors: where, what was expected, what was found


def of(ids: Any, scores: Any = None, **options: Any) -> Any:
    return found([{1: 1}, {3: 1}], ids, scores, **options)


def by(qrels: Any, **options: Any) -> Any:
    return found(qrels, [[1]], **options)


def text(doc: object) -> Any:
    return by(parse_qrels(f"7 0 {doc} 1\n".encode()), queries=[7])


def given_ids(ids: Any, scores: Any = None, **options: Any) -> Any:
    return found([{1: 1}, {3: 1}, {7: 1}], ids, scores, ties="given", **options)


FOUR = [[1, 2, 3, 4], [-1, 1, 1, 2], [7, 8, 7, 8]], [[4, 3, 2, 1], [5, 2, 1, 3], [3, 9, 1, 8]]
UNSIGNED = np.array([[1], [2], [2**63]], np.uint64)
ALIKE = np.repeat(np.arange(1000)[None] * 2**52, 2, axis=1)
MASKED_SCORES = np.ma.array([[2.0, 1.0]], mask=[[0, 1]])
TWO_ROWS = [[4, 5], [6, 6], [7, 8], [9, 9]]
TOO_LARGE = np.array([[1], [2**63]], np.uint64)
NO_BOOLS = np.array([[True], [False]])

test_errors_say_where_and_what = refusing(r"""ArrayError
# a document is retrieved twice
of([[1, 2], [3, 3]]) => ids[1, 1]: query '1': document 3 is retrieved twice, in columns 0 and 1
of([[1, 2], [7, 7]]) => ids[1, 1]: query '1': document 7 is retrieved twice, in columns 0 and 1
of([[1, 2, -1, -1], [-1, 7, -1, 7]]) =>
  ids[1, 3]: query '1': document 7 is retrieved twice, in columns 1 and 3
found([{0: 1}], ALIKE) => ids[0, 1]: query '0': document 0 is retrieved twice, in columns 0 and 1
found([{1: 1}], [[7, 1, 1]], assume_unique=True) =>
  ids[0, 2]: query '0': document 1 is retrieved twice, in columns 1 and 2
# with threads the first row that is wrong is named
found([{4: 1}] * 4, TWO_ROWS, threads=2) =>
  ids[1, 1]: query '1': document 6 is retrieved twice, in columns 0 and 1
found([{4: 1}] * 4, TWO_ROWS, threads=9) =>
  ids[1, 1]: query '1': document 6 is retrieved twice, in columns 0 and 1
# ids are integers of at least 0, or -1
of([[1, 2], [-2, 3]]) =>
  ids[1, 0]: query '1': expected an id of at least 0, or -1 for none, found -2
of([[1.0, 2.0], [3.0, 4.0]]) => ids: expected integers, found float64
of([["a"], ["b"]]) => ids: expected integers, found <U1
of(TOO_LARGE) => ids[1, 0]: expected at most 2**63 - 1, found 9223372036854775808
of(NO_BOOLS) => ids: expected integers, found bool
# scores are numbers
of([[1, 2], [-1, 3]], [[2.0, 1.0], [1.0, NAN]]) =>
  scores[1, 1]: query '1': document 3 has the score nan
of([[1], [3]], [[NAN], [1.0]]) => scores[0, 0]: query '0': document 1 has the score nan
of([[1], [3]], [["a"], ["b"]]) => scores: expected float16, float32 or float64, found <U1
of([[1], [3]], [[1j], [2j]]) => scores: expected float16, float32 or float64, found complex128
# what NumPy keeps under a mask is none of the caller's values
found([{4: 1}], MASKED, [[2.0, 1.0]]) =>
  ids[0, 1]: the value is masked; expected an array without masked values
found([{4: 1}], [[4, 5]], MASKED_SCORES) =>
  scores[0, 1]: the value is masked; expected an array without masked values
# arrays have the shape of a table
of([[1, 2], [3]]) => ids[1]: expected 2 columns as in row 0, found 1
of([1, 2]) => ids: expected a table of queries × documents, found shape (2,)
of([[1], [3]], [[1.0]]) => scores: expected the shape of ids (2, 1), found (1, 1)
of([[1], [3], [5]]) => ids: expected 2 rows, one per query of qrels, found 3
# no rows or no judgments are no queries
found([], np.empty((0, 5), int), np.empty((0, 5))) => NoQueriesError: there are no judged queries
found([], np.empty((0, 0), int), np.empty((0, 0))) => NoQueriesError: there are no judged queries
by([{}]) => NoQueriesError: there are no judged queries
# judgments as arrays: offsets, document ids, grades
by(([0, 1], [1, 2], [1, 1])) =>
  qrels indptr[1]: expected the number of judgments, 2, as the last offset, found 1
by(([1, 2], [1, 2], [1, 1])) => qrels indptr[0]: expected 0 as the first offset, found 1
by(([0, 2, 1, 2], [1, 2], [1, 1])) => qrels indptr[2]: expected ascending offsets, found 1 after 2
by(([], [], [])) => qrels indptr[0]: expected 0 as the first offset, found an empty array
by(([0, 2], [1, 2], [1])) => qrels grades: expected 2, one per document id, found 1
by(([0, 2], [1.0, 2.0], [1, 1])) => qrels doc_ids: expected integers, found float64
by(([0, 2], [1, 2], [1, NAN])) => qrels grades[1]: expected a grade, found NaN
by(([0, 2], [1, 2], [1, 1e19])) => qrels grades[1]: expected a 64-bit grade, found 1e+19
by(([0, 2], [4, 4], [1, 0])) => qrels[0]: query '0': document 4 is judged twice, as number 0 and 1
by(([0, 1], [-1], [0])) => qrels[0]: query '0': expected document ids of at least 0, found -1
by(([0, 1], [1], [2**50])) => qrels[0]: query '0': a grade is too large to count judgments by grade
by(([1], [2])) =>
  qrels: expected (indptr, doc_ids, grades), or a list with a dict {document id: grade} or a list
  of ids for each row
# judgments as dicts and lists
by([{"d1": 1}]) => qrels[0]: query '0': expected an integer as document id, found 'd1'
by([{1.0: 1}]) => qrels[0]: query '0': expected an integer as document id, found 1.0
by([{True: 1}]) => qrels[0]: query '0': expected an integer as document id, found True
by([{2**63: 1}]) =>
  qrels[0]: query '0': expected an integer as document id, found 9223372036854775808
by([{1: np.inf}]) => qrels[0]: query '0': document 1: expected a grade, found inf
by([{1: None}]) => qrels[0]: query '0': document 1: expected a grade, found a missing value
by({0: 1}) =>
  qrels[0]: query '0': expected a dict {document id: grade} or a list of document ids, found int
by([["d1"]]) => qrels[0]: query '0': expected an integer as document id, found 'd1'
by(5) => qrels: expected arrays, dicts, Qrels or a file, found int
by({"q": {1: 1}}) =>
  queries: expected the query id of each row, because the query 'q' of qrels is not a row number
by({None: {1: 1}}) => queries[0]: expected an id, found a missing value
# document ids in a file of judgments are decimal
text("d1") =>
  qrels[0]: query '7': document 'd1': expected a decimal integer; give a dict {query: {row of the
  document: grade}} instead
text("01") => qrels[0]: query '7': document '01': expected a decimal integer; ...
text("-1") => qrels[0]: query '7': document '-1': expected a decimal integer; ...
text(2**63) => qrels[0]: query '7': document '9223372036854775808': expected a decimal integer; ...
# the queries are a list of different ids, one per row
found(ROWS, [[1], [2]], queries=["a"]) => queries: expected 2 ids, one per row of qrels, found 1
found(ROWS, [[1], [2]], queries=["a", "a"]) => queries[1]: duplicate query 'a', also at 0
found(ROWS, [[1], [2]], queries=["a", (1,)]) =>
  queries[1]: expected an id (str, bytes or int), found tuple: (1,)
found(ROWS, [[1], [2]], queries=[None, "q"]) =>
  queries[0]: expected an id, found a missing value
found(ROWS, [[1], [2]], queries=[1.5, "q"]) =>
  queries[0]: expected an id, found the float 1.5; use integers or strings ...
found(ROWS, [[1], [2]], queries=["\ud800", "q"]) =>
  queries[0]: expected an id, found a lone surrogate in '\ud800', which UTF-8 cannot encode
found(ROWS, [[1], [2]], queries="qr") => queries: expected a list of ids, found 'qr'
# threads are one or more
of([[1], [3]], threads=0) => OptionError: threads: expected 1 or more, found 0
# errors name row and column
given_ids([[1, 2], [-1, 7], [7, 7]]) =>
  ids[2, 1]: query '2': document 7 is retrieved twice, in columns 0 and 1
given_ids(*FOUR, depth=2) =>
  ids[2, 3]: query '2': document 8 is retrieved twice, in columns 1 and 3
given_ids([[1, 2], [-2, 3], [1, 2]], duplicates="max") =>
  ids[1, 0]: query '1': expected an id of at least 0, or -1 for none, found -2
given_ids([[1, 2], [-1, 3], [1, 2]], [[2.0, 1.0], [NAN, NAN], [1.0, 2.0]]) =>
  scores[1, 1]: query '1': document 3 has the score nan
given_ids([[1, 2], [3, 3], [1, 2]], [[2.0, 1.0], [1.0, NAN], [1, 2]], duplicates="max") =>
  scores[1, 1]: query '1': document 3 has the score nan
given_ids(UNSIGNED) => ids[2, 0]: expected at most 2**63 - 1, found 9223372036854775808
# where all queries are left out the error says so
found([{1: 0}], [[1]], no_relevant="skip") =>
  NoQueriesError: there are no judged queries; skipped 1 judged query without a relevant document
found(*LEFT_OUT, no_relevant="error") =>
  EvaluationError: 1 of 3 judged queries have no relevant document (grade 1 or more): 0
""")


def test_an_error_of_an_array_is_a_value_error_and_carries_its_place():
    with pytest.raises(ValueError, match="twice") as caught:
        found([{4: 1}], [[4, 4]])

    error: Any = caught.value
    assert (error.name, error.row, error.column) == ("ids", 0, 1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_with_threads_the_scores_are_written_alike(threads):
    """Also what is counted: numbers of Python's, which JSON knows."""
    scores = found([{4: 1}] * 3, [[4, 5], [4, 6], [5, 7]], threads=threads)

    assert json.loads(scores.to_json())["counts"] == scores.counts
    assert {type(count) for count in scores.counts.values()} == {int}


def test_more_threads_than_help_are_not_made(monkeypatch):
    made = []

    def counted(work: Any, count: int) -> Any:
        made.append(count)
        return in_threads(work, count)

    monkeypatch.setattr(array_judge, "in_threads", counted)
    scores = found([{4: 1}] * 1000, [[4]] * 1000, threads=10**9)

    assert (made, scores.counts["evaluated_queries"]) == ([256], 1000)


@pytest.mark.parametrize(
    "options",
    [
        {"ties": "random"},
        {"no_relevant": "no"},
        {"duplicates": "last"},
        {"ignore_identical_ids": "no"},
        {"exclude": ["d1"]},
        {"exclude": {"q": "d1"}},
        {"exclude": {None: [1]}},
        {"ties": "average", "judged_only": True, "depth": 5},
        {"ties": "average", "measures": "infAP"},
    ],
)
def test_what_evaluate_refuses_is_refused(options):
    """With the same words, and before the arrays are looked at."""
    options = {"measures": "map", **options}
    with pytest.raises((fr.FastrankError, TypeError)) as expected:
        fr.evaluate({"0": {"1": 1}}, {"0": {"1": 1}}, **options)
    with pytest.raises(type(expected.value)) as found:
        fr.evaluate_arrays([{1: 1}], [[-9]], None, **options)

    assert str(found.value) == str(expected.value)
