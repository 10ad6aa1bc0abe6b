"""Judgments and runs from dicts, frames, arrow tables and arrays, and back."""

from __future__ import annotations

import pickle
import sys
import uuid
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank import Qrels, Run
from fastrank.errors import EvaluationError, InputError, NoQueriesError
from tests.helpers.strategies import contents, exactly, examples
from tests.helpers.tables import calls, check_error

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
of_every_library = pytest.mark.parametrize("library", MAKE)


def read(noun: type, library: str, columns: Any, **options: Any) -> Any:
    """What is made of columns, or of a table."""
    table = MAKE[library](columns) if isinstance(columns, dict) else columns
    return getattr(noun, f"from_{library}")(table, **options)


def read_dict(noun: type, library: str, **columns: Any) -> Any:
    return read(noun, library, columns).to_dict()


# Dicts

ids = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4),
    st.sampled_from(["é", "日本", "a b", "", "\n", "\udcff"]),
)


def dicts(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(ids, st.dictionaries(ids, numbers, min_size=1, max_size=4), max_size=4)


@given(dicts(st.floats(allow_nan=False)))
@examples(60)
def test_a_run_comes_back_as_it_went_in(given):
    """As dicts, and as tables of every library, which hold any text that is UTF-8."""
    run = Run.from_dict(given, tag="my tag")
    back = run.to_dict()
    assert list(back) == list(given)
    for query, own in given.items():
        assert exactly(list(back[query].items())) == exactly(list(own.items()))
    if "\udcff" not in "".join([*given, *(doc for own in given.values() for doc in own)]):
        for library in MAKE:
            again = read(Run, library, getattr(run, f"to_{library}")())
            assert exactly(contents(again)) == exactly(contents(run))
            assert again.tag == ("my tag" if given else "")


@given(dicts(st.integers(-(2**63), 2**63 - 1)))
@examples(60)
def test_judgments_come_back_as_they_went_in(given):
    qrels = Qrels.from_dict(given)
    assert qrels.to_dict() == given
    if "\udcff" not in "".join([*given, *(doc for own in given.values() for doc in own)]):
        for library in MAKE:
            again = read(Qrels, library, getattr(qrels, f"to_{library}")())
            assert contents(again) == contents(qrels)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("q", b"q"),
        ("é", "é".encode()),
        (b"\xff", b"\xff"),
        ("\udcff", b"\xff"),
        (12, b"12"),
        (-(2**63), b"-9223372036854775808"),
        (10**30, b"1000000000000000000000000000000"),
        (np.int32(7), b"7"),
        (np.uint64(2**64 - 1), b"18446744073709551615"),
        (np.str_("x"), b"x"),
        (uuid.UUID(int=1), b"00000000-0000-0000-0000-000000000001"),
        (Path("a/b"), b"a/b"),
    ],
)
def test_an_id_is_its_text(given, text):
    qrels = Qrels.from_dict({given: {given: 1}})
    assert list(qrels.queries) == list(qrels.docs) == [text]


HALVES = [0.5, np.float32(0.5), np.float64(0.5), np.array(0.5), Decimal("0.5"), Fraction(1, 2)]
WHOLE = [2, 2.0, np.int64(2), np.uint8(2), np.float32(2), Decimal(2)]


@pytest.mark.parametrize(
    "number", [1, True, np.True_, *HALVES, *WHOLE, float("inf"), -float("inf")]
)
def test_a_score_is_any_number_and_a_grade_any_finite_one(number):
    assert Run.from_dict({"q": {"d": number}}).scores.tolist() == [float(number)]
    if np.isfinite(float(number)):
        qrels = Qrels.from_dict({"q": {"d": number}})
        assert qrels.grades.tolist() == [float(number)]
        assert (qrels.grades.dtype == np.int64) == (float(number) in (1, 2))


NAN, NA = float("nan"), pd.NA


@calls(r"""
run({"q": 0.5}) => InputError: <dict>: query 'q': expected a dict of ... or a list, found float...
run({"q": None}) => InputError: ...query 'q': expected a dict of ... or a list, found NoneType...
run([("q", "d", 1)]) => InputError: ...found list...
run({"q": {"d": None}}) =>
  InputError: <dict>: Q_D: expected a score, found a missing value...
run({"q": {"d": NAN}}) => InputError: <dict>: Q_D: expected a score, found NaN...
run({"q": {"d": NA}}) => InputError: <dict>: Q_D...
run({"q": {"d": "0.5"}}) => InputError: <dict>: Q_D: expected a score, found '0.5'...
run({"q": {"d": 1j}}) => InputError: <dict>: Q_D...
run({"q": {"d": [1.0]}}) => InputError: <dict>: Q_D...
run({"q": {"d": 10**400}}) =>
  InputError: ...Q_D: expected a score in the range of a double, found 1000...
run({"q": {"d": 10**5000}}) => InputError: ...Q_D: ...found an integer of thousands of digits
run({"q": {10**5000: 1}}) => InputError: ...expected an id, found an integer of thousands of digits
run({"q": {"d": Decimal("sNaN")}}) => InputError: ...Q_D: expected a score, found a missing...
run({"p": {"d": 1}, "q": {"c": 1, "d": None}}) => InputError: <dict>: Q_D...
run({"p": {"a": 1, "b": 1}, "q": {"d": "x", "c": 1}, "r": {"d": 1}}) => InputError: <dict>: Q_D...
run({"q": {"d": "x", "c": 1}, "r": {"d": 1}}) => InputError: <dict>: Q_D...
run({"q": {1: 0.5, "1": 0.6}}) => InputError: <dict>: ...'1' and 1 are the same id as text...
run({"q": {"a": 0.5, b"a": 0.6}}) => InputError: <dict>: ...b'a' and 'a' are the same id as text...
run({1: {"d": 1}, "1": {"d": 1}}) => InputError: <dict>: ...'1' and 1 are the same id as text...
run({"q": {12.0: 1}}) =>
  InputError: ...query 'q', a document: expected an id, found the float 12.0...
run({np.float64(1): {"d": 1}}) => InputError: <dict>: a query: expected an id, found the float...
run({None: {"d": 1}}) => InputError: ...a query: expected an id, found a missing value...
run({True: {"d": 1}}) => InputError: <dict>: ...expected an id...
run({("q", 1): {"d": 1}}) => InputError: <dict>: ...expected an id ..., found tuple...
run({"q": {pd.Timestamp("2000"): 1}}) =>
  InputError: <dict>: ...expected an id (...), found Timestamp: ...; pass its id, or str() of it...
run({object(): {"d": 1}}) => InputError: <dict>: ...expected an id ..., found object...
run({"q": {"\ud800": 1}}) => InputError: <dict>: ...lone surrogate...
qrels(float("inf")) => InputError: ...Q_E: expected a grade, found inf...
qrels("1") => InputError: ...Q_E: expected a grade, found '1': write the number...
qrels(1j) => InputError: ...Q_E: expected a grade, found complex...
qrels(2**63) => InputError: ...Q_E: expected a 64-bit grade...
qrels(-(2**63) - 1) => InputError: ...Q_E: expected a 64-bit grade...
qrels(1e19) => InputError: ...Q_E: expected a 64-bit grade...
""")
def test_what_is_no_run_and_no_grade_is_refused_with_its_place(call, expected):
    """Also where the first document of a query comes behind the last of the one before."""
    for short, place in (("Q_D", "query 'q', document 'd'"), ("Q_E", "query 'q', document 'e'")):
        expected = expected.replace(short, place)
    names = {"run": Run.from_dict, "qrels": lambda own: Qrels.from_dict({"q": {"d": 1, "e": own}})}
    check_error(call, expected, globals() | names)


def test_a_query_for_which_nothing_was_retrieved_counts_as_zero():
    """As in pytrec_eval; also where the run is converted before it is ranked."""
    qrels, run = {"p": {"d": 1}, "q": {"d": 1}}, {"p": {}, "q": {"d": 1.0}}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    assert expected == {"p": {"map": 0.0}, "q": {"map": 1.0}}
    for form in (run, Run.from_dict(run)):
        for ties in ("docno_desc", "given"):
            assert fr.evaluate(qrels, form, "map", ties=ties).to_dict() == expected
    with pytest.raises(NoQueriesError):
        fr.evaluate(qrels, {}, "map")
    # Judgments of no document are none.
    assert list(Qrels.from_dict({"p": {}, "q": {"d": 1}, "r": {}}).queries) == [b"q"]


def test_distances_change_sign():
    run = Run.from_dict({"q": {"far": 2.0, "near": 1.0}}, higher_is_better=False, tag="bm25é")
    assert (run.to_dict(), run.tag) == ({"q": {"far": -2.0, "near": -1.0}}, "bm25é")


def test_what_was_given_stays_as_it_was():
    given = {"q": {"d": 1, "e": 2}, "r": {}}
    column = np.array([1.5, 2.5])
    run = Run.from_arrays(["q", "q"], ["d", "e"], column)
    Run.from_dict(given)
    column[0] = 7
    assert given == {"q": {"d": 1, "e": 2}, "r": {}}
    assert run.scores.tolist() == [1.5, 2.5]
    assert contents(pickle.loads(pickle.dumps(run))) == contents(run)


# Frames and tables

# The names of queries, documents, grades and scores.
PEERS = {
    "ir_measures": ("query_id", "doc_id", "relevance", "score"),
    "PyTerrier": ("qid", "docno", "label", "score"),
    "ranx": ("q_id", "doc_id", "score", "score"),
    "trectools": ("query", "docid", "rel", "score"),
    "Hugging Face": ("query-id", "corpus-id", "score", "score"),
}


@of_every_library
@pytest.mark.parametrize("peer", PEERS)
def test_the_names_of_every_peer(peer, library):
    query, doc, grade, score = PEERS[peer]
    docs = {query: ["q2", "q1", "q2"], doc: ["a", "b", "c"]}
    judged = read_dict(Qrels, library, **docs, **{grade: [1, 0, 2]})
    found = read_dict(Run, library, **{**docs, query: [2, 1, 2], score: [0.5, 1.5, 2.5]})
    assert judged == {"q2": {"a": 1, "c": 2}, "q1": {"b": 0}}
    assert found == {"2": {"a": 0.5, "c": 2.5}, "1": {"b": 1.5}}


@of_every_library
def test_columns_of_pyterrier_and_trectools_beside_these(library):
    """The text of a query and the number of a document are not ids; iterations, tags are kept."""
    columns = {"qid": ["1"], "docid": [77], "docno": ["d"], "rank": [0], "score": [2.0]}
    assert read_dict(Run, library, **columns, query=["what is it"]) == {"1": {"d": 2.0}}
    ids = {"query": [1], "q0": ["g"], "docid": ["d"]}
    assert list(read(Qrels, library, {**ids, "rel": [1]}).groups) == [b"g"]
    assert read(Run, library, {**ids, "rank": [1], "score": [0.5], "system": ["t"]}).tag == "t"
    assert len(read(Run, library, {"qid": [], "docno": [], "score": []})) == 0


def test_ids_that_are_not_utf_8_go_through_pandas_and_not_into_arrow():
    run = Run.from_dict({"q\udcff": {"\udc80": 1.0, "é": 0.5}})
    assert Run.from_pandas(run.to_pandas()).to_dict() == run.to_dict()
    with pytest.raises(InputError, match=r"b'\\x80' is not UTF-8"):
        run.to_arrow()


TEXT, BYTES, NUMBERS = ["2", "1", "2"], [b"2", b"1", b"2"], [2, 1, 2]
COLUMNS = {
    "pandas": [
        *(pd.Series(TEXT, dtype=own) for own in (object, "string", "string[python]", "category")),
        *(pd.Series(NUMBERS, dtype=own) for own in ("int8", "uint64", "Int64", "category", object)),
        pd.Series(TEXT, dtype="string[pyarrow]"),
        pd.Series(TEXT, dtype=pd.ArrowDtype(pa.large_string())),
        pd.Series(BYTES, dtype=pd.ArrowDtype(pa.binary())),
        pd.Series(NUMBERS, dtype="int64[pyarrow]"),
    ],
    "polars": [
        *(pl.Series(TEXT, dtype=own) for own in (pl.String, pl.Categorical, pl.Enum(["1", "2"]))),
        *(pl.Series(NUMBERS, dtype=own) for own in (pl.Int64, pl.UInt64)),
        pl.Series(BYTES),
    ],
    "arrow": [
        *(pa.array(TEXT, own) for own in (pa.string(), pa.large_string(), pa.string_view())),
        pa.array(BYTES),
        pa.array(NUMBERS, pa.uint16()),
        pa.array(TEXT).dictionary_encode(),
        pa.chunked_array([["2"], [], ["1", "2"]]),
        pa.array(["0", *TEXT, "3"]).slice(1, 3),
        pa.chunked_array([pa.array(own).dictionary_encode() for own in (["2"], ["1", "2"])]),
    ],
}


@pytest.mark.parametrize(
    ("library", "column"), [(library, own) for library in MAKE for own in COLUMNS[library]]
)
def test_ids_in_every_kind_of_column(library, column):
    found = read_dict(Run, library, qid=column, docno=list("abc"), score=[1, 2, 3])
    assert found == {"2": {"a": 1.0, "c": 3.0}, "1": {"b": 2.0}}


@pytest.mark.parametrize(
    "dtype", ["int8", "float32", "Int64", "Float64", "float64[pyarrow]", object, "category"]
)
def test_scores_in_every_kind_of_pandas_column(dtype):
    """Whatever the index of the frame is."""
    columns = {"qid": ["q"] * 2, "docno": ["a", "b"], "score": pd.array([3, 1], dtype=dtype)}
    frame = pd.DataFrame(columns, index=[0, 0])
    assert Run.from_pandas(frame).to_dict() == {"q": {"a": 3.0, "b": 1.0}}


def test_a_record_batch_and_what_offers_itself_to_arrow():
    batch = pa.record_batch({"qid": ["q"], "docno": ["d"], "score": [1.0]})

    class Offers:
        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            return pa.table(batch).__arrow_c_stream__(schema)

    for table in (batch, Offers()):
        assert Run.from_arrow(table).to_dict() == {"q": {"d": 1.0}}
        assert fr.evaluate({"q": {"d": 1}}, table, "map").mean == {"map": 1.0}


def test_large_integers_do_not_pass_through_float():
    frame = pd.DataFrame({"qid": [2**53 + 1, 2**53], "docno": [2**63 - 1, -(2**63)], "label": 1})
    expected = {str(2**53 + 1): {str(2**63 - 1): 1}, str(2**53): {str(-(2**63)): 1}}
    assert Qrels.from_pandas(frame).to_dict() == expected


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="this polars has no integers of 128 bits")
def test_integers_of_128_bits():
    wide = pl.DataFrame(
        {"qid": [2**100, 7], "docno": ["a", "b"], "score": [1, 2]},
        schema_overrides={"qid": pl.Int128, "score": pl.Int128},
    )
    assert Run.from_polars(wide).to_dict() == {str(2**100): {"a": 1.0}, "7": {"b": 2.0}}


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
@examples(60)
def test_integers_are_printed_as_python_prints_them(values):
    run = Run.from_arrays(["q"] * len(values), np.array(values, "int64"), values)
    assert list(run.docs) == [b"%d" % value for value in values]


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        # Documents that are ranked and not scored have minus their rank.
        ({"rank": [2, 1, 9]}, {}, [-2.0, -1.0, -9.0]),
        ({"rank": [2, 1, 9], "score": [7, 3, 1]}, {}, [7.0, 3.0, 1.0]),
        ({"rank": [2, 1, 9], "score": [7, 3, 1]}, {"columns": {"rank": "rank"}}, [-2, -1, -9]),
        ({"bm25": [2, 3, 4], "score": [9, 9, 9]}, {"columns": {"score": "bm25"}}, [2, 3, 4]),
    ],
)
def test_ranks_and_columns_that_are_asked_for(columns, options, expected):
    frame = pd.DataFrame({"qid": [1, 1, 2], "docno": ["a", "b", "a"], **columns})
    assert Run.from_pandas(frame, **options).scores.tolist() == expected


SCORED = {"qid": ["q", "q"], "docno": ["c", "d"], "score": [1, 1]}


def test_of_two_columns_with_one_name_none_can_be_chosen():
    """pandas and Arrow have such tables."""
    columns = [["q"], ["d"], [1.0], [2.0]]
    table = pa.table([*map(pa.array, columns)], names=["qid", "docno", "score", "score"])
    for run in (table, table.to_pandas()):
        with pytest.raises(InputError, match=r"more than one score column: .*; rename one of them"):
            fr.evaluate({"q": {"d": 1}}, run, "map")


@of_every_library
@calls(r"""
own(score=...) => InputError: ...no score column: found 'qid', 'docno', expected...
own(doc=["c", "d"]) => InputError: ...more than one document column: 'docno' and 'doc'...
own(qid=..., a=["q"] * 2) =>
  InputError: ...no query column: found 'docno', 'score', 'a', expected...
own(qid=["q", None]) => InputError: ...row 1 ...column 'qid'...
own(docno=["c", None]) => InputError: ...row 1 ...column 'docno'...
own(score=[1, None]) => InputError: ...row 1 ...column 'score'...
own(score=[1.0, NAN]) => InputError: ...row 1 ...'score'...
own(score=["1", "2"]) => InputError: ...row 0 ...'score': expected a score...
own(qid=[1.0, 2.0]) => InputError: ...row 0 ...'qid'...float 1.0...
own(qid=[True, False]) => InputError: ...row 0 ...'qid': expected an id...
own(tag=["s", "t"]) => InputError: ...found 2 systems...
own(score=..., rank=[1.0, 0.5]) => InputError: ...row 1 ...'rank': expected a rank, found 0.5...
own(score=..., rank=[1, 1]) =>
  InputError: ...query 'q': documents 'c' and 'd' both have rank 1, rows 0...
""")
def test_what_is_no_run_is_refused_with_row_and_column(call, expected, library):
    def own(**changes: Any) -> Run:
        columns = {**SCORED, **changes}
        given = {name: column for name, column in columns.items() if column is not ...}
        return read(Run, library, given)  # type: ignore[no-any-return]

    check_error(call, expected, globals() | {"own": own})


@calls("""
own({"query": "x"}) => InputError: ...no column 'x' for the query; found 'qid'...
own({"id": "qid"}) => InputError: ...expected the roles ..., found 'id'...
own(["qid", "docno", "score"]) => InputError: ...columns: expected {role: name}, found list...
own({"query": "qid", "doc": "qid"}) => InputError: ...'qid' is given for the doc and another role...
""")
def test_columns_are_named_by_role_one_for_each(call, expected):
    frame = pd.DataFrame(SCORED)
    check_error(call, expected, {"own": lambda columns: Run.from_pandas(frame, columns=columns)})


def test_repeated_documents_and_mixed_ids_are_refused():
    frame = pd.DataFrame({"qid": [1, 2, 1], "docno": ["d", "d", "d"], "score": [1, 2, 3]})
    with pytest.raises(EvaluationError, match="duplicate docs d, rows 0 and 2 of run <pandas"):
        fr.evaluate({1: {"d": 1}}, frame, "map")
    with pytest.raises(InputError, match="query '1': duplicate document 'd' in row 2"):
        Run.from_pandas(frame).to_dict()
    mixed = frame.assign(qid=pd.Series([1, "1", 2], dtype=object))
    with pytest.raises(InputError, match=r"row 1 .*'qid': '1' and 1 are the same id as text"):
        Run.from_pandas(mixed)


# Arrays


def test_arrays_of_every_library():
    for kind in (list, np.array, pd.Series, pl.Series, pa.array):
        run = Run.from_arrays(kind([2, 1, 2]), kind(["a", "b", "c"]), kind([0.5, 1.5, 2.5]))
        assert run.to_dict() == {"2": {"a": 0.5, "c": 2.5}, "1": {"b": 1.5}}


@calls("""
own(["q"], ["d", "e"], [1.0]) => InputError: ...found 'query': 1, 'doc': 2, 'score': 1...
own(["q"], [["d", "e"]], [1.0]) => InputError: ...row 0 ...'doc': expected an id ...found list...
own(["q"], np.array([["d", "e"]]), [1.0]) => InputError: ...'doc': expected one dimension, found...
own("q", ["d"], [1.0]) => InputError: ...column 'query': expected a list or an array, found str...
own(7, ["d"], [1.0]) => InputError: ...'query': expected a list or an array, found int: 7...
own(["q"], ["d"], np.ma.array([1.0], mask=[True])) => InputError: ...masked...
""")
def test_what_are_no_columns_is_refused(call, expected):
    check_error(call, expected, {"own": Run.from_arrays})


@pytest.mark.parametrize("step", [1, 2, -1, -3])
@pytest.mark.parametrize("dtype", ["int64", ">i8", "float32", ">f8", "uint8"])
def test_arrays_with_gaps_backwards_and_of_other_machines(step, dtype):
    numbers = np.arange(12).astype(dtype)[::step]
    names = np.arange(12).astype(">i4")[::step]
    run = Run.from_arrays(names, names, numbers)
    assert run.scores.tolist() == np.arange(12)[::step].tolist()
    assert list(run.docs) == [b"%d" % own for own in range(12)[::step]]


# Without pyarrow


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_need_no_pyarrow(library, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    run = Run.from_dict({"q": {"é": 0.5, "2": 1.0}}, tag="t")
    queries = ["q", "p"] if library == "polars" else pd.Series(["q", "p"], dtype=object)
    found = read_dict(Run, library, qid=queries, docno=[1, 2], score=[1.0, 2.0])
    assert found == {"q": {"1": 1.0}, "p": {"2": 2.0}}
    assert contents(Run.from_polars(run.to_polars())) == contents(run)


def test_parquet_says_that_it_needs_pyarrow(tmp_path, monkeypatch):
    run = Run.from_dict({"q": {"d": 1}})
    fr.write_run(run, tmp_path / "r.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="parquet needs pyarrow"):
        fr.write_run(run, tmp_path / "r.parquet")
    with pytest.raises(ImportError, match=r"r\.parquet: parquet needs pyarrow"):
        fr.read_run(tmp_path / "r.parquet")


# Evaluation


def test_10_0_evaluates_missing_queries_of_converted_runs():
    """The placeholder of trec_eval 10.0 goes to texts with buffers of their own."""
    qrels, options = {"p": {"d": 1}, 7: {"d": 1}}, {"missing": "zero", "trec_eval_version": "10.0"}
    scores: Any = fr.evaluate(qrels, {"7": {"d": 1}}, "map", **options)
    # Integer ids meet their text.
    assert scores.to_dict() == {"p": {"map": 0.0}, "7": {"map": 1.0}}
