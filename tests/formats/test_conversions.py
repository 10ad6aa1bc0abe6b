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
from fastrank import InputError, Qrels, Run
from tests.helpers.strategies import contents, exactly, examples

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

LIBRARIES = ["pandas", "polars", "arrow"]
MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def door(noun: type, library: str) -> Any:
    return getattr(noun, f"from_{library}")


# Dicts

ids = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4),
    st.sampled_from(["é", "日本", "a b", "", "\n", "\udcff"]),
)
scores = st.floats(allow_nan=False)
run_dicts = st.dictionaries(ids, st.dictionaries(ids, scores, min_size=1, max_size=4), max_size=4)
qrels_dicts = st.dictionaries(
    ids, st.dictionaries(ids, st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4), max_size=4
)


@given(run_dicts)
@examples(100)
def test_a_dict_comes_back_as_it_went_in(given: dict[str, dict[str, float]]) -> None:
    back = Run.from_dict(given).to_dict()

    assert exactly(list(back.items())) == exactly(list(given.items()))
    assert [[*map(exactly, own.values())] for own in back.values()] == [
        [*map(exactly, own.values())] for own in given.values()
    ]


@given(qrels_dicts)
@examples(100)
def test_judgments_come_back_as_they_went_in(given: dict[str, dict[str, int]]) -> None:
    assert Qrels.from_dict(given).to_dict() == given


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
def test_an_id_is_its_text(given: Any, text: bytes) -> None:
    qrels = Qrels.from_dict({given: {given: 1}})

    assert list(qrels.queries) == list(qrels.docs) == [text]


@pytest.mark.parametrize(
    "score",
    [1, True, 0.5, np.float32(0.5), np.float64(0.5), np.int8(3), Decimal("0.5"), Fraction(1, 4),
     np.array(0.5), float("inf"), -float("inf")],
)  # fmt: skip
def test_a_score_is_any_number(score: Any) -> None:
    assert Run.from_dict({"q": {"d": score}}).scores.tolist() == [float(score)]


@pytest.mark.parametrize("grade", [2, np.int64(2), np.uint8(2), 2.0, np.float32(2), Decimal(2)])
def test_a_grade_is_any_whole_number(grade: Any) -> None:
    assert Qrels.from_dict({"q": {"d": grade}}).grades.tolist() == [2]


@pytest.mark.parametrize("grade", [True, np.True_])
def test_true_is_grade_1(grade: Any) -> None:
    assert Qrels.from_dict({"q": {"d": grade}}).grades.tolist() == [1]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"q": 0.5}, "query 'q': expected a dict of documents and scores, found float"),
        ({"q": ["d"]}, "query 'q': expected a dict of documents and scores, found list"),
        ({"q": None}, "query 'q': expected a dict of documents and scores, found NoneType"),
        ([("q", "d", 1)], "found list"),
        ({"q": {"d": None}}, "query 'q', document 'd': expected a score, found NoneType: None"),
        ({"q": {"d": float("nan")}}, "query 'q', document 'd': expected a score, found NaN"),
        ({"q": {"d": np.nan}}, "query 'q', document 'd'"),
        ({"q": {"d": pd.NA}}, "query 'q', document 'd'"),
        ({"q": {"d": "0.5"}}, "query 'q', document 'd': expected a score, found str: '0.5'"),
        ({"q": {"d": 1j}}, "query 'q', document 'd'"),
        ({"q": {"d": [1.0]}}, "query 'q', document 'd'"),
        (
            {"q": {"d": 10**400}},
            "query 'q', document 'd': expected a score in the range of a double, found 1000",
        ),
        ({"p": {"d": 1}, "q": {"c": 1, "d": None}}, "query 'q', document 'd'"),
        ({"q": {1: 0.5, "1": 0.6}}, "'1' and 1 are the same id as text"),
        ({"q": {"a": 0.5, b"a": 0.6}}, "b'a' and 'a' are the same id as text"),
        ({1: {"d": 1}, "1": {"d": 1}}, "'1' and 1 are the same id as text"),
        ({"q": {12.0: 1}}, "query 'q', a document: expected an id, found the float 12.0"),
        ({np.float64(1): {"d": 1}}, "a query: expected an id, found the float"),
        ({None: {"d": 1}}, "a query: expected an id, found the missing value None"),
        ({True: {"d": 1}}, "expected an id"),
        ({("q", 1): {"d": 1}}, "expected an id .*, found tuple"),
        ({object(): {"d": 1}}, "expected an id .*, found object"),
        ({"q": {"\ud800": 1}}, "lone surrogate"),
    ],
)
def test_what_is_no_run_is_refused_with_its_place(given: Any, reason: str) -> None:
    with pytest.raises(InputError, match=f"^<dict>: .*{reason.replace('(', '[(]')}"):
        Run.from_dict(given)


@pytest.mark.parametrize(
    ("grade", "reason"),
    [
        (float("nan"), "expected a grade, found nan"),
        (np.float32("nan"), "expected a grade, found nan"),
        (float("inf"), "expected a grade, found inf"),
        (None, "expected a grade, found NoneType"),
        ("1", "expected a grade, found str: '1'"),
        (1j, "expected a grade, found complex"),
        (2**63, "expected a 64-bit grade"),
        (-(2**63) - 1, "expected a 64-bit grade"),
        (1e19, "expected a 64-bit grade"),
    ],
)
def test_what_is_no_grade_is_refused_with_its_place(grade: Any, reason: str) -> None:
    with pytest.raises(InputError, match=f"query 'q', document 'e': .*{reason}"):
        Qrels.from_dict({"q": {"d": 1, "e": grade}})


def test_judgments_of_no_document_are_none() -> None:
    assert list(Qrels.from_dict({"p": {}, "q": {"d": 1}, "r": {}}).queries) == [b"q"]


def test_a_query_for_which_nothing_was_retrieved_counts_as_zero() -> None:
    """As in pytrec_eval; also where the run is converted before it is ranked."""
    qrels, run = {"p": {"d": 1}, "q": {"d": 1}}, {"p": {}, "q": {"d": 1.0}}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)

    assert expected == {"p": {"map": 0.0}, "q": {"map": 1.0}}
    for form in (run, Run.from_dict(run)):
        for ties in ("docno_desc", "given"):
            assert fr.evaluate(qrels, form, "map", ties=ties).to_dict() == expected


def test_an_empty_run_has_no_queries_to_evaluate() -> None:
    with pytest.raises(fr.NoQueriesError):
        fr.evaluate({"q": {"d": 1}}, {}, "map")


def test_distances_change_sign() -> None:
    run = Run.from_dict({"q": {"far": 2.0, "near": 1.0}}, higher_is_better=False)

    assert run.to_dict() == {"q": {"far": -2.0, "near": -1.0}}


def test_a_tag_is_text() -> None:
    assert Run.from_dict({"q": {"d": 1}}, tag="bm25é").tag == "bm25é"


def test_what_was_given_stays_as_it_was() -> None:
    given = {"q": {"d": 1, "e": 2}, "r": {}}
    column = np.array([1.5, 2.5])
    run = Run.from_arrays(["q", "q"], ["d", "e"], column)
    Run.from_dict(given)
    column[0] = 7

    assert given == {"q": {"d": 1, "e": 2}, "r": {}}
    assert run.scores.tolist() == [1.5, 2.5]


def test_converted_nouns_can_be_pickled() -> None:
    run = Run.from_arrays([1, 2, 1], ["a", "b", "c"], [1, 2, 3], tag="t")

    assert contents(pickle.loads(pickle.dumps(run))) == contents(run)


# Frames and tables

QRELS_NAMES = {
    "ir_measures": ("query_id", "doc_id", "relevance"),
    "PyTerrier": ("qid", "docno", "label"),
    "ranx": ("q_id", "doc_id", "score"),
    "trectools": ("query", "docid", "rel"),
    "Hugging Face": ("query-id", "corpus-id", "score"),
}
RUN_NAMES = {
    "ir_measures": ("query_id", "doc_id", "score"),
    "PyTerrier": ("qid", "docno", "score"),
    "ranx": ("q_id", "doc_id", "score"),
    "trectools": ("query", "docid", "score"),
    "Hugging Face": ("query-id", "corpus-id", "score"),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("peer", QRELS_NAMES)
def test_judgments_with_the_names_of_every_peer(peer: str, library: str) -> None:
    columns = (["q1", "q2", "q1"], ["a", "b", "c"], [1, 0, 2])
    table = MAKE[library](dict(zip(QRELS_NAMES[peer], columns, strict=True)))

    assert door(Qrels, library)(table).to_dict() == {"q1": {"a": 1, "c": 2}, "q2": {"b": 0}}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("peer", RUN_NAMES)
def test_runs_with_the_names_of_every_peer(peer: str, library: str) -> None:
    columns = ([2, 1, 2], ["a", "b", "c"], [0.5, 1.5, 2.5])
    table = MAKE[library](dict(zip(RUN_NAMES[peer], columns, strict=True)))

    assert door(Run, library)(table).to_dict() == {"2": {"a": 0.5, "c": 2.5}, "1": {"b": 1.5}}


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_text_of_a_query_and_the_number_of_a_document_are_not_ids(library: str) -> None:
    """PyTerrier's results have both beside the ids."""
    table = MAKE[library](
        {"qid": ["1"], "docid": [77], "docno": ["d"], "rank": [0], "score": [2.0],
         "query": ["what is it"]}
    )  # fmt: skip

    assert door(Run, library)(table).to_dict() == {"1": {"d": 2.0}}


@pytest.mark.parametrize("library", LIBRARIES)
def test_iterations_and_tags_are_kept(library: str) -> None:
    """trectools' columns."""
    qrels = MAKE[library]({"query": [1], "q0": ["g"], "docid": ["d"], "rel": [1]})
    run = MAKE[library](
        {"query": [1], "q0": ["Q0"], "docid": ["d"], "rank": [1], "score": [0.5], "system": ["t"]}
    )

    assert list(door(Qrels, library)(qrels).groups) == [b"g"]
    assert door(Run, library)(run).tag == "t"


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_come_back_as_they_went_in(library: str) -> None:
    run = Run.from_arrays(
        ["b", "a", "b"], ["é", "2", "3"], [0.1, float("inf"), -1e-300], tag="my tag"
    )
    qrels = Qrels.from_arrays([2, 1, 2], ["x", "y", "z"], [1, -(2**63), 2**63 - 1])

    for noun in (run, qrels):
        table = getattr(noun, f"to_{library}")()
        assert contents(door(type(noun), library)(table)) == contents(noun)
    table = run.to_arrow() if library == "arrow" else getattr(run, f"to_{library}")()
    assert door(Run, library)(table).tag == "my tag"


@given(run_dicts)
@examples(30)
def test_tables_hold_any_text(given: dict[str, dict[str, float]]) -> None:
    run = Run.from_dict(given)
    text = "".join([*given, *(doc for own in given.values() for doc in own)])
    if "\udcff" in text:
        return

    for library in LIBRARIES:
        table = getattr(run, f"to_{library}")()
        assert exactly(contents(door(Run, library)(table))) == exactly(contents(run))


def test_what_is_not_utf_8_fits_no_arrow_string() -> None:
    run = Run.from_dict({"q": {b"\xff": 1}})

    with pytest.raises(InputError, match=r"b'\\xff' is not UTF-8"):
        run.to_arrow()


def queries_as(kind: str) -> Any:
    """The queries 2, 1, 2 in a column of some kind."""
    text, numbers = ["2", "1", "2"], [2, 1, 2]
    return {
        "object": lambda: pd.Series(text, dtype=object),
        "string": lambda: pd.Series(text, dtype="string"),
        "string[python]": lambda: pd.Series(text, dtype="string[python]"),
        "string[pyarrow]": lambda: pd.Series(text, dtype="string[pyarrow]"),
        "large_string": lambda: pd.Series(text, dtype=pd.ArrowDtype(pa.large_string())),
        "binary": lambda: pd.Series([b"2", b"1", b"2"], dtype=pd.ArrowDtype(pa.binary())),
        "category": lambda: pd.Series(text, dtype="category"),
        "category of int": lambda: pd.Series(numbers, dtype="category"),
        "int8": lambda: pd.Series(numbers, dtype="int8"),
        "uint64": lambda: pd.Series(numbers, dtype="uint64"),
        "Int64": lambda: pd.Series(numbers, dtype="Int64"),
        "int64[pyarrow]": lambda: pd.Series(numbers, dtype="int64[pyarrow]"),
        "object of int": lambda: pd.Series(numbers, dtype=object),
    }[kind]()


@pytest.mark.parametrize(
    "kind",
    ["object", "string", "string[python]", "string[pyarrow]", "large_string", "binary", "category",
     "category of int", "int8", "uint64", "Int64", "int64[pyarrow]", "object of int"],
)  # fmt: skip
def test_ids_in_every_kind_of_pandas_column(kind: str) -> None:
    frame = pd.DataFrame({"qid": queries_as(kind), "docno": list("abc"), "score": [1, 2, 3]})

    assert Run.from_pandas(frame).to_dict() == {"2": {"a": 1.0, "c": 3.0}, "1": {"b": 2.0}}


@pytest.mark.parametrize(
    "dtype", ["int8", "float32", "Int64", "Float64", "float64[pyarrow]", object, "category"]
)
def test_scores_in_every_kind_of_pandas_column(dtype: Any) -> None:
    frame = pd.DataFrame(
        {"qid": ["q"] * 2, "docno": ["a", "b"], "score": pd.Series([3, 1], dtype=dtype)}
    )

    assert Run.from_pandas(frame).scores.tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    "column",
    [pl.Series(["2", "1"]), pl.Series([2, 1]), pl.Series([2, 1], dtype=pl.UInt64),
     pl.Series(["2", "1"], dtype=pl.Categorical), pl.Series(["2", "1"], dtype=pl.Enum(["1", "2"])),
     pl.Series([b"2", b"1"])],
)  # fmt: skip
def test_ids_in_every_kind_of_polars_column(column: Any) -> None:
    frame = pl.DataFrame({"qid": column, "docno": ["a", "b"], "score": [1, 2]})

    assert Run.from_polars(frame).to_dict() == {"2": {"a": 1.0}, "1": {"b": 2.0}}


@pytest.mark.parametrize(
    "column",
    [pa.array(["2", "1"]), pa.array(["2", "1"], pa.large_string()), pa.array([b"2", b"1"]),
     pa.array(["2", "1"]).dictionary_encode(), pa.array([2, 1], pa.uint16()),
     pa.array(["2", "1"], pa.string_view()),
     pa.chunked_array([["2"], [], ["1"]]), pa.array(["0", "2", "1", "3"]).slice(1, 2),
     pa.chunked_array([pa.array(["2"]).dictionary_encode(), pa.array(["1"]).dictionary_encode()])],
)  # fmt: skip
def test_ids_in_every_kind_of_arrow_column(column: Any) -> None:
    table = pa.table({"qid": column, "docno": ["a", "b"], "score": [1, 2]})

    assert Run.from_arrow(table).to_dict() == {"2": {"a": 1.0}, "1": {"b": 2.0}}


def test_a_record_batch_and_what_offers_itself_to_arrow() -> None:
    batch = pa.record_batch({"qid": ["q"], "docno": ["d"], "score": [1.0]})

    class Offers:
        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            return pa.table(batch).__arrow_c_stream__(schema)

    for table in (batch, Offers()):
        assert Run.from_arrow(table).to_dict() == {"q": {"d": 1.0}}
        assert fr.evaluate({"q": {"d": 1}}, table, "map").mean == {"map": 1.0}


def test_the_index_of_a_frame_means_nothing() -> None:
    frame = pd.DataFrame({"qid": ["p", "q"], "docno": ["a", "b"], "score": [1, 2]}, index=[0, 0])

    assert Run.from_pandas(frame).to_dict() == {"p": {"a": 1.0}, "q": {"b": 2.0}}


def test_large_integers_do_not_pass_through_float() -> None:
    frame = pd.DataFrame({"qid": [2**53 + 1, 2**53], "docno": [2**63 - 1, -(2**63)], "label": 1})

    assert Qrels.from_pandas(frame).to_dict() == {
        "9007199254740993": {"9223372036854775807": 1},
        "9007199254740992": {"-9223372036854775808": 1},
    }


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
@examples(100)
def test_integers_are_printed_as_python_prints_them(values: list[int]) -> None:
    run = Run.from_arrays(["q"] * len(values), np.array(values, "int64"), values)

    assert list(run.docs) == [b"%d" % value for value in values]


def test_documents_ranked_and_not_scored_have_minus_their_rank() -> None:
    frame = pd.DataFrame({"qid": [1, 1, 2], "docno": ["a", "b", "a"], "rank": [2, 1, 9]})

    assert Run.from_pandas(frame).to_dict() == {"1": {"a": -2.0, "b": -1.0}, "2": {"a": -9.0}}


def test_ranks_that_are_asked_for_come_before_scores() -> None:
    frame = pd.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "rank": [2, 1], "score": [7, 3]})

    run = Run.from_pandas(frame, columns={"rank": "rank"})

    assert run.to_dict() == {"1": {"a": -2.0, "b": -1.0}}


def test_two_documents_at_one_rank_are_refused() -> None:
    frame = pd.DataFrame({"qid": [2, 1, 2], "docno": ["a", "b", "c"], "rank": [1, 1, 1]})

    with pytest.raises(
        InputError, match="query '2': documents 'a' and 'c' both have rank 1, rows 0"
    ):
        Run.from_pandas(frame)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"qid": ["q"], "docno": ["d"]}, "no score column: found 'qid', 'docno', expected"),
        ({"qid": ["q"], "doc": ["d"], "docno": ["d"], "score": [1]}, "more than one document"
                                                                     " column: 'doc' and 'docno'"),
        ({"a": ["q"], "b": ["d"], "c": [1]}, "no query column: found 'a', 'b', 'c',"
                                             " expected"),
        ({"qid": ["q", None], "docno": ["d", "d"], "score": [1, 1]}, "row 1 .*column 'qid'"),
        ({"qid": ["q", "q"], "docno": ["c", None], "score": [1, 1]}, "row 1 .*column 'docno'"),
        ({"qid": ["q", "q"], "docno": ["c", "d"], "score": [1, None]}, "row 1 .*column 'score'"),
        ({"qid": ["q", "q"], "docno": ["c", "d"], "score": [1.0, float("nan")]}, "row 1 .*'score'"),
        ({"qid": ["q"], "docno": ["d"], "score": ["1"]}, "row 0 .*'score': expected a score"),
        ({"qid": [1.0, 2.0], "docno": ["d", "d"], "score": [1, 1]}, "row 0 .*'qid'.*float 1.0"),
        ({"qid": [True], "docno": ["d"], "score": [1]}, "row 0 .*'qid': expected an id"),
        ({"qid": ["q", "q"], "docno": ["a", "b"], "score": [1, 2], "tag": ["s", "t"]}, "found 2"
                                                                                       " tags"),
    ],
)  # fmt: skip
def test_what_is_no_run_is_refused_with_row_and_column(
    columns: dict[str, list[Any]], reason: str, library: str
) -> None:
    table = MAKE[library](columns)

    with pytest.raises(InputError, match=reason):
        door(Run, library)(table)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_fraction_is_no_rank(library: str) -> None:
    table = MAKE[library]({"qid": ["q"] * 2, "docno": ["c", "d"], "rank": [1.0, 0.5]})

    with pytest.raises(InputError, match=r"row 1 .*'rank': expected a rank, found 0\.5"):
        door(Run, library)(table)


def test_mixed_ids_of_one_text_are_refused_in_a_column() -> None:
    frame = pd.DataFrame({"qid": pd.Series([1, "1"], dtype=object), "docno": "d", "score": 1})

    with pytest.raises(InputError, match=r"row 1 .*'qid': '1' and 1 are the same id as text"):
        Run.from_pandas(frame)


def test_columns_can_be_named() -> None:
    frame = pd.DataFrame({"topic": [1], "docno": ["d"], "bm25": [2.0], "score": [9.0]})

    run = Run.from_pandas(frame, columns={"query": "topic", "score": "bm25"})

    assert run.to_dict() == {"1": {"d": 2.0}}


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"query": "x"}, "no column 'x' for the query; found 'qid'"),
        ({"id": "qid"}, "expected the roles .*, found 'id'"),
    ],
)
def test_columns_that_do_not_exist_are_refused(columns: dict[str, str], reason: str) -> None:
    frame = pd.DataFrame({"qid": [1], "docno": ["d"], "score": [2.0]})

    with pytest.raises(InputError, match=reason):
        Run.from_pandas(frame, columns=columns)


def test_a_repeated_document_is_named_with_its_rows() -> None:
    frame = pd.DataFrame({"qid": [1, 2, 1], "docno": ["d", "d", "d"], "score": [1, 2, 3]})

    with pytest.raises(fr.EvaluationError, match="duplicate docs d, rows 0 and 2 of run <pandas"):
        fr.evaluate({1: {"d": 1}}, frame, "map")
    with pytest.raises(InputError, match="query '1': duplicate document 'd' in row 2"):
        Run.from_pandas(frame).to_dict()


def test_a_lazy_frame_is_refused() -> None:
    with pytest.raises(InputError, match="collect"):
        fr.evaluate({"q": {"d": 1}}, pl.DataFrame({"qid": ["q"]}).lazy(), "map")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_table_without_rows_is_a_run_without_queries(library: str) -> None:
    table = MAKE[library]({"qid": [], "docno": [], "score": []})

    assert len(door(Run, library)(table)) == 0


# Arrays


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, pa.array])
def test_arrays_of_every_library(kind: Any) -> None:
    run = Run.from_arrays(kind([2, 1, 2]), kind(["a", "b", "c"]), kind([0.5, 1.5, 2.5]))

    assert run.to_dict() == {"2": {"a": 0.5, "c": 2.5}, "1": {"b": 1.5}}


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ((["q"], ["d", "e"], [1.0]), "found 1 queries, 2 docs, 1 scores"),
        ((["q"], [["d", "e"]], [1.0]), "row 0 .*'doc': expected an id .*found list"),
        ((["q"], np.array([["d", "e"]]), [1.0]), "docs: expected one dimension, found 1x2"),
        (("q", ["d"], [1.0]), "expected an array or a list, found str"),
        ((7, ["d"], [1.0]), "expected an array or a list, found int"),
        ((["q"], ["d"], np.ma.array([1.0], mask=[True])), "masked"),
    ],
)
def test_what_are_no_columns_is_refused(columns: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Run.from_arrays(*columns)


@pytest.mark.parametrize("step", [1, 2, -1, -3])
@pytest.mark.parametrize("dtype", ["int64", ">i8", "float32", ">f8", "uint8"])
def test_arrays_with_gaps_backwards_and_of_other_machines(step: int, dtype: str) -> None:
    numbers = np.arange(12).astype(dtype)[::step]
    names = np.arange(12).astype(">i4")[::step]
    run = Run.from_arrays(names, names, numbers)

    assert run.scores.tolist() == np.arange(12)[::step].tolist()
    assert list(run.docs) == [b"%d" % own for own in range(12)[::step]]


# Without pyarrow


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_need_no_pyarrow(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    run = Run.from_dict({"q": {"é": 0.5, "2": 1.0}}, tag="t")
    columns = {"qid": ["q", "p"], "docno": [1, 2], "score": [1.0, 2.0]}
    if library == "pandas":
        frame = pd.DataFrame({**columns, "qid": pd.Series(["q", "p"], dtype=object)})
    else:
        frame = pl.DataFrame(columns)
        assert contents(Run.from_polars(run.to_polars())) == contents(run)

    assert door(Run, library)(frame).to_dict() == {"q": {"1": 1.0}, "p": {"2": 2.0}}


def test_parquet_says_that_it_needs_pyarrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run.from_dict({"q": {"d": 1}})
    fr.write_run(run, tmp_path / "r.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(ImportError, match="parquet needs pyarrow"):
        fr.write_run(run, tmp_path / "r.parquet")
    with pytest.raises(ImportError, match=r"r\.parquet: parquet needs pyarrow"):
        fr.read_run(tmp_path / "r.parquet")


# Evaluation


def twins(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    random = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(40)]
    qrels = {
        f"q{q}": {str(doc): int(random.integers(-1, 4)) for doc in random.choice(docs, 15, False)}
        for q in range(6)
    }
    run = {
        f"q{q}": {
            str(doc): float(random.integers(0, 9)) / 8 for doc in random.choice(docs, 25, False)
        }
        for q in range(1, 8)
    }
    return qrels, run


@pytest.mark.parametrize("form", ["dict", *LIBRARIES])
def test_whatever_goes_in_gives_the_numbers_of_pytrec_eval(form: str) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = twins(7)
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg", "P_5"}).evaluate(run)

    own_qrels: Any = getattr(Qrels.from_dict(qrels), f"to_{form}")()
    own_run: Any = getattr(Run.from_dict(run), f"to_{form}")()
    scores = fr.evaluate(own_qrels, own_run, "map ndcg P.5")

    assert scores.queries == sorted(expected)
    for name in ("map", "ndcg", "P_5"):
        assert scores[name].tolist() == [expected[query][name] for query in scores.queries]


def test_integer_ids_meet_their_text() -> None:
    scores = fr.evaluate({1: {2: 1}}, {"1": {"2": 0.5}}, "map")

    assert scores.mean["map"] == 1.0


def test_10_0_evaluates_missing_queries_of_converted_runs() -> None:
    """The placeholder of trec_eval 10.0 goes to texts with buffers of their own."""
    scores = fr.evaluate(
        {"p": {"d": 1}, "q": {"d": 1}},
        {"q": {"d": 1}},
        "map",
        missing="zero",
        trec_eval_version="10.0",
    )

    assert scores["map"].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("given", [3, None, object(), {"q"}])
def test_other_objects_are_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="qrels: expected"):
        fr.evaluate(given, {"q": {"d": 1}})
    with pytest.raises(TypeError, match="run: expected"):
        fr.evaluate({"q": {"d": 1}}, given)


def test_integers_of_128_bits_are_ids_too() -> None:
    """NumPy has none of them."""
    polars = pytest.importorskip("polars")
    columns = {"query_id": [2**100, 7], "doc_id": ["a", "b"], "score": [1, 2]}
    frame = polars.DataFrame(
        columns, schema_overrides=dict.fromkeys(("query_id", "score"), polars.Int128)
    )

    assert fr.Run.from_polars(frame).to_dict() == {str(2**100): {"a": 1.0}, "7": {"b": 2.0}}


def test_ids_that_are_not_utf_8_go_through_pandas() -> None:
    """Whatever pandas takes for strings by itself."""
    pytest.importorskip("pandas")
    run = fr.Run.from_dict({"q\udcff": {"\udc80": 1.0, "é": 0.5}})

    assert fr.Run.from_pandas(run.to_pandas()).to_dict() == run.to_dict()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "b", "c"], "columns: expected {role: name}, found list"),
        ({"query": "a", "doc": "a", "score": "c"}, "'a' is given for the doc and another role"),
    ],
)
def test_columns_are_named_by_role_one_for_each(columns: Any, message: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["q"], "b": ["d"], "c": [1.0]})

    with pytest.raises(fr.InputError, match=message):
        fr.Run.from_pandas(frame, columns=columns)


@pytest.mark.parametrize("query", ["q1", "q2", "q3"])
def test_the_error_about_a_score_names_its_query(query: str) -> None:
    """Also for the first document of a query, which comes behind the last of the one before."""
    run: Any = {name: {f"{name}a": 1.0, f"{name}b": 0.5} for name in ("q1", "q2", "q3")}
    run[query][f"{query}a"] = "x"

    with pytest.raises(InputError, match=rf"query '{query}', document '{query}a'"):
        Run.from_dict(run)
