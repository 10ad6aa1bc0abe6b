"""evaluate_arrays: the numbers of trec_eval for what the arrays say, and errors that say where."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank import ArrayError, NoQueriesError
from fastrank.judging import arrays as array_judge
from fastrank.native.threads import in_threads
from tests.helpers.strategies import examples

LARGEST = 2**63 - 1
# Neighbours in the order of their decimal texts that are none as numbers, and the largest.
IDS = [
    *range(13), 19, 20, 90, 99, 100, 109, 110, 900, 999, 1000, 10**18, 10**18 + 1,
    922337203685477580, LARGEST - 7, LARGEST,
]  # fmt: skip
# Ties, and numbers that are equal as 32-bit floats only.
SCORES = [0.0, -0.0, 1.0, 1.0 + 2e-8, 1.0 + 4e-8, -1.0, 0.1, 1e300, 1e301, float("inf"), 3e-46]
MEASURES = sorted(pytrec_eval.supported_measures - {"runid", "num_q", "relstring"})
NOT_PER_QUERY = {"gm_map", "gm_bpref"}


@st.composite
def collections(draw: st.DrawFn) -> tuple[Any, Any, list[dict[int, int]]]:
    """Ids with padding everywhere, scores with ties, and judgments, for one to four queries."""
    width = draw(st.integers(1, 12))
    rows = draw(st.integers(1, 4))
    ids, scores, qrels = [], [], []
    score = st.one_of(st.sampled_from(SCORES), st.floats(-2, 2))
    for _ in range(rows):
        row = draw(st.lists(st.sampled_from(IDS), min_size=width, max_size=width, unique=True))
        ids.append([doc if draw(st.integers(0, 4)) else -1 for doc in row])
        scores.append(draw(st.lists(score, min_size=width, max_size=width)))
        if draw(st.booleans()):
            scores[-1].sort(reverse=True)
        qrels.append(draw(st.dictionaries(st.sampled_from(IDS), st.integers(-1, 3), max_size=15)))
    return np.array(ids), np.array(scores), qrels


def written_qrels(qrels: list[dict[int, int]]) -> dict[str, dict[str, int]]:
    """Judgments as pytrec_eval takes them, queries named so that their order stays."""
    return {
        f"q{i}": {str(doc): grade for doc, grade in row.items()}
        for i, row in enumerate(qrels)
        if row
    }


def written_run(ids: Any, scores: Any) -> dict[str, dict[str, float]]:
    """The same for the rankings, without padding and without empty ones."""
    run = {
        f"q{i}": {str(doc): score for doc, score in zip(*pair, strict=True) if doc != -1}
        for i, pair in enumerate(zip(ids.tolist(), scores.tolist(), strict=True))
    }
    return {query: row for query, row in run.items() if row}


def first_is_judged(qrels: dict[str, Any], run: dict[str, Any]) -> bool:
    """Whether trec_eval goes on: it stops at a first query with negative grades only."""
    both = sorted(qrels.keys() & run.keys())
    return bool(both) and max(qrels[both[0]].values()) >= 0


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


def assert_same_values(scores: fr.Scores, expected: dict[str, dict[str, float]]) -> None:
    assert [f"q{query}" for query in scores.queries] == sorted(expected)
    for i, query in enumerate(sorted(expected)):
        for name, value in expected[query].items():
            if name not in NOT_PER_QUERY:
                assert bits(scores[name][i]) == bits(value), (query, name, scores[name][i], value)


@examples(200)
@given(collections(), st.sampled_from([1, 2]), st.booleans(), st.integers(1, 3))
def test_values_have_the_bits_of_pytrec_eval(
    collection: tuple[Any, Any, list[dict[int, int]]], level: int, judged_only: bool, threads: int
) -> None:
    """On the arrays written out as dicts, ids as texts: every measure, every query, every bit."""
    ids, scores, rows = collection
    qrels, run = written_qrels(rows), written_run(ids, scores)
    if not first_is_judged(qrels, run):
        return
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, set(MEASURES), relevance_level=level, judged_docs_only_flag=judged_only
    )
    expected = evaluator.evaluate(run)

    found = fr.evaluate_arrays(
        rows, ids, scores, MEASURES,
        relevance_level=level, judged_only=judged_only, threads=threads,
    )  # fmt: skip

    assert_same_values(found, expected)


def as_files(
    ids: Any, scores: Any, rows: list[dict[int, int]], names: list[str]
) -> tuple[fr.Qrels, fr.Run]:
    """The arrays as TREC files, read."""
    qrels = "".join(
        f"{name} 0 {doc} {grade}\n"
        for name, row in zip(names, rows, strict=True)
        for doc, grade in row.items()
    )
    run = "".join(
        f"{name} Q0 {doc} 0 {score!r} tag\n"
        for name, *pair in zip(names, ids.tolist(), scores.tolist(), strict=True)
        for doc, score in zip(*pair, strict=True)
        if doc != -1
    )
    from tests.helpers.parsing import parse_qrels, parse_run

    return parse_qrels(qrels.encode()), parse_run(run.encode())


@examples(200)
@given(
    collections(),
    st.sampled_from(["9.0.8", "10.0"]),
    st.sampled_from(
        [{}, {"missing": "zero"}, {"depth": 2}, {"relevance_level": -1},
         {"judged_only": True, "relevance_level": 2}, {"collection_size": 50}]
    ),
    st.integers(1, 3),
)  # fmt: skip
def test_scores_are_those_of_the_same_run_as_files(
    collection: tuple[Any, Any, list[dict[int, int]]],
    trec_eval_version: str,
    options: dict[str, Any],
    threads: int,
) -> None:
    """With both versions, with every option: all of all_trec, the means and the counts."""
    ids, scores, rows = collection
    names = [f"q{i}" for i in range(len(rows))]
    if not first_is_judged(written_qrels(rows), written_run(ids, scores)):
        return
    expected = fr.evaluate(
        *as_files(ids, scores, rows, names),
        "all_trec",
        trec_eval_version=trec_eval_version,
        **options,
    )

    found = fr.evaluate_arrays(
        rows,
        ids,
        scores,
        "all_trec",
        queries=names,
        trec_eval_version=trec_eval_version,
        threads=threads,
        **options,
    )

    assert found.queries == expected.queries
    assert found.counts["missing_queries"] == expected.counts["missing_queries"]
    assert repr(found.mean) == repr(expected.mean)
    for name in expected:
        assert found[name].tobytes() == expected[name].tobytes(), name


# Ranking and judgments.


def ranks_found(ids: Any, scores: Any, judged: dict[int, int], **options: Any) -> str:
    """The ranking of one query, as relstring shows it: the grade of each document, - for none."""
    made = fr.evaluate_arrays([judged], [ids], None if scores is None else [scores], "relstring",
                              **options)  # fmt: skip
    return str(made["relstring_10" if "relstring_10" in made else "relstring"][0])


def test_equal_scores_rank_by_descending_id_as_text() -> None:
    """9 before 10 before 1: that is how trec_eval compares the written ids."""
    assert ranks_found([1, 10, 9], [5.0, 5.0, 5.0], {9: 3, 10: 2, 1: 1}) == "321"


def test_single_precision_ties_exist_for_9_0_8_only() -> None:
    close = [1.0 + 2e-8, 1.0]

    assert ranks_found([1, 2], close, {1: 1, 2: 2}) == "21"
    assert ranks_found([1, 2], close, {1: 1, 2: 2}, trec_eval_version="10.0") == "12"


def test_distances_rank_ascending() -> None:
    judged = {1: 1, 2: 2, 3: 3}

    assert ranks_found([1, 2, 3], [0.5, 0.1, 0.3], judged, higher_is_better=False) == "231"


def test_without_scores_the_order_of_the_row_counts() -> None:
    assert ranks_found([1, 10, 9], None, {9: 3, 10: 2, 1: 1}) == "123"


def test_padding_takes_no_rank_wherever_it_stands() -> None:
    nan = float("nan")

    assert ranks_found([-1, 5, -1, 6, -1], [nan, 2, 9, 1, nan], {5: 1, 6: 2}) == "12"


def test_many_judged_documents_in_any_order_are_ranked_by_sorting() -> None:
    """More hits than are counted one by one, and ties among them."""
    count = 700
    ids = np.random.default_rng(1).permutation(count)
    scores = (ids % 50).astype(float)
    rows = [{int(doc): int(doc % 3) for doc in ids[: count // 2]}]
    expected = fr.evaluate(*as_files(ids[None], scores[None], rows, ["0"]), "all_trec")

    found = fr.evaluate_arrays(rows, ids[None], scores[None], "all_trec")

    assert repr(found.mean) == repr(expected.mean)


@pytest.mark.parametrize("reverse", [False, True])
def test_one_tie_of_all_documents(reverse: bool) -> None:
    ids = np.arange(900)[:: -1 if reverse else 1]
    rows = [{doc: doc % 2 for doc in range(0, 900, 3)}]
    scores = np.zeros((1, 900))
    expected = fr.evaluate(*as_files(ids[None], scores, rows, ["0"]), "all_trec")

    assert repr(fr.evaluate_arrays(rows, ids[None], scores, "all_trec").mean) == repr(expected.mean)


IDS_2D = np.array([[5, 3, -1], [7, 3, 4]])
SCORES_2D = np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0]], np.float32)
ROWS = [{3: 1, 9: 2}, {7: 1, 4: 0}]
EXPECTED = fr.evaluate_arrays(ROWS, IDS_2D, SCORES_2D, "all_trec").mean


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", ">i4"])
@pytest.mark.parametrize("score", ["float16", "float32", "float64", "int64", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_memory_orders_make_no_difference(kind: str, score: str, order: Any) -> None:
    ids, scores = IDS_2D.astype(kind, order=order), SCORES_2D.astype(score, order=order)

    assert fr.evaluate_arrays(ROWS, ids, scores, "all_trec").mean == EXPECTED


def test_strided_views_and_memory_maps_are_taken(tmp_path: Any) -> None:
    np.save(tmp_path / "ids.npy", np.repeat(IDS_2D, 2, axis=1))
    ids = np.load(tmp_path / "ids.npy", mmap_mode="r")[:, ::2]

    assert fr.evaluate_arrays(ROWS, ids, SCORES_2D, "all_trec").mean == EXPECTED


def test_rows_that_are_converted_in_blocks_are_all_evaluated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fastrank.judging.arrays.BLOCK_ITEMS", 3)
    ids, scores = IDS_2D.astype(np.int32), SCORES_2D.astype(np.float16)

    assert fr.evaluate_arrays(ROWS, ids, scores, "all_trec").mean == EXPECTED


def test_unsigned_ids_have_no_padding() -> None:
    assert ranks_found(np.array([2**32 - 1, 3], np.uint32), [2.0, 1.0], {2**32 - 1: 2}) == "2-"


INDPTR, DOC_IDS, GRADES = [0, 2, 4], [3, 9, 7, 4], [1, 2, 1, 0]


@pytest.mark.parametrize(
    "qrels",
    [
        (INDPTR, DOC_IDS, GRADES),
        (np.array(INDPTR, np.int32), np.array(DOC_IDS, np.uint64), np.array(GRADES, np.float32)),
        {0: ROWS[0], 1: ROWS[1]},
        {1: ROWS[1], 0: ROWS[0]},
        [{np.int64(doc): np.int8(grade) for doc, grade in row.items()} for row in ROWS],
        fr.index_qrels(ROWS),
    ],
    ids=["csr", "csr of other types", "dict", "dict in another order", "numpy scalars", "indexed"],
)
def test_judgments_in_every_form_are_the_same(qrels: Any) -> None:
    assert fr.evaluate_arrays(qrels, IDS_2D, SCORES_2D, "all_trec").mean == EXPECTED


def test_a_sparse_matrix_holds_judgments() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_matrix((GRADES, DOC_IDS, INDPTR), shape=(2, 10))

    assert fr.evaluate_arrays(matrix, IDS_2D, SCORES_2D, "all_trec").mean == EXPECTED


def test_judgments_from_a_file_have_decimal_ids() -> None:
    qrels, _ = as_files(IDS_2D, SCORES_2D, ROWS, ["0", "1"])

    assert fr.evaluate_arrays(qrels, IDS_2D, SCORES_2D, "all_trec").mean == EXPECTED


def test_truth_values_are_grades() -> None:
    made = fr.evaluate_arrays(([0, 1], [3], [True]), [[5, 3]], None, "map")

    assert made.mean["map"] == 0.5


def test_queries_say_which_row_is_which() -> None:
    """Rows may be fewer than the judgments and in another order; queries come out by id."""
    qrels = {"a": {1: 1}, "b": {2: 1}, "c": {3: 1}}

    scores = fr.evaluate_arrays(qrels, [[3, 2], [1, 2]], None, "recip_rank", queries=["b", "a"])

    assert scores.queries == ["a", "b"]
    assert scores["recip_rank"].tolist() == [1.0, 0.5]
    assert scores.counts["missing_queries"] == 1


def test_rows_without_ids_stay_in_their_order() -> None:
    """Eleven rows: 10 comes after 9 here, and not after 1."""
    ids = [[i] for i in range(11)]

    scores = fr.evaluate_arrays([{i: i} for i in range(11)], ids, None, "num_rel")

    assert scores.queries == [str(i) for i in range(11)]


def test_indexed_judgments_are_evaluated_again_and_again() -> None:
    qrels = fr.index_qrels((INDPTR, DOC_IDS, GRADES))

    first, second = (fr.evaluate_arrays(qrels, IDS_2D, SCORES_2D, "all_trec") for _ in range(2))

    assert first.mean == second.mean == EXPECTED


def test_an_index_does_not_change_with_the_arrays_it_was_made_from() -> None:
    docs = np.array(DOC_IDS)
    qrels = fr.index_qrels((INDPTR, docs, GRADES))
    docs[:] = 0

    assert fr.evaluate_arrays(qrels, IDS_2D, SCORES_2D, "all_trec").mean == EXPECTED


def test_indexed_judgments_can_be_pickled() -> None:
    qrels = pickle.loads(pickle.dumps(fr.index_qrels(ROWS)))

    assert fr.evaluate_arrays(qrels, IDS_2D, SCORES_2D, "all_trec").mean == EXPECTED


def test_nothing_that_was_passed_is_changed() -> None:
    ids, scores = IDS_2D.copy(), SCORES_2D.copy()
    ids.flags.writeable = scores.flags.writeable = False

    fr.evaluate_arrays(ROWS, ids, scores, "map", higher_is_better=False)

    assert (ids == IDS_2D).all()
    assert (scores == SCORES_2D).all()


def test_rows_without_documents_or_judgments_are_left_out() -> None:
    ids = [[1, 2], [-1, -1], [1, 2]]

    scores = fr.evaluate_arrays([{1: 1}, {1: 1}, {}], ids, None, "map")

    assert scores.queries == ["0"]
    assert scores.counts["missing_queries"] == 1


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_no_rows_or_no_columns_are_no_queries(shape: tuple[int, int]) -> None:
    rows = [{1: 1}] * shape[0]

    with pytest.raises(NoQueriesError):
        fr.evaluate_arrays(rows, np.empty(shape, int), np.empty(shape), "map")


def test_no_judgments_are_no_queries() -> None:
    with pytest.raises(NoQueriesError):
        fr.evaluate_arrays([{}], [[1]], None, "map")


# Errors: where, what was expected, what was found.


def error(ids: Any, scores: Any, qrels: Any, **options: Any) -> str:
    with pytest.raises(ArrayError) as caught:
        fr.evaluate_arrays(qrels, ids, scores, **{"measures": "map", **options})
    return str(caught.value)


@pytest.mark.parametrize(
    ("ids", "scores", "message"),
    [
        ([[1, 2], [3, 3]], None,
         "ids[1, 1]: query '1': document 3 is retrieved twice, in columns 0 and 1"),
        ([[1, 2], [7, 7]], None,
         "ids[1, 1]: query '1': document 7 is retrieved twice, in columns 0 and 1"),
        ([[1, 2, -1, -1], [-1, 7, -1, 7]], None,
         "ids[1, 3]: query '1': document 7 is retrieved twice, in columns 1 and 3"),
        ([[1, 2], [-2, 3]], None,
         "ids[1, 0]: query '1': expected an id of at least 0, or -1 for none, found -2"),
        ([[1, 2], [-1, 3]], [[2.0, 1.0], [1.0, np.nan]],
         "scores[1, 1]: query '1': document 3 has the score nan"),
        ([[1], [3]], [[np.nan], [1.0]], "scores[0, 0]: query '0': document 1 has the score nan"),
        ([[1, 2], [3]], None, "ids[1]: expected 2 columns as in row 0, found 1"),
        ([[1.0, 2.0], [3.0, 4.0]], None, "ids: expected integers, found float64"),
        ([["a"], ["b"]], None, "ids: expected integers, found <U1"),
        ([1, 2], None, "ids: expected a table of queries × documents, found shape (2,)"),
        ([[1], [3]], [[1.0]], "scores: expected the shape of ids (2, 1), found (1, 1)"),
        ([[1], [3]], [["a"], ["b"]], "scores: expected float16, float32 or float64, found <U1"),
        ([[1], [3]], [[1j], [2j]],
         "scores: expected float16, float32 or float64, found complex128"),
        ([[1], [3], [5]], None, "ids: expected 2 rows, one per query of qrels, found 3"),
        (np.array([[1], [2**63]], np.uint64), None,
         "ids[1, 0]: expected at most 2**63 - 1, found 9223372036854775808"),
        (np.array([[True], [False]]), None, "ids: expected integers, found bool"),
    ],
)  # fmt: skip
def test_bad_arrays_are_named(ids: Any, scores: Any, message: str) -> None:
    assert error(ids, scores, [{1: 1}, {3: 1}]) == message


@pytest.mark.parametrize("place", [0, 1, 500, 998])
@pytest.mark.parametrize("judged", [False, True])
def test_a_repeated_document_is_found_wherever_it_stands(place: int, judged: bool) -> None:
    ids = np.arange(1000)[None] * 7919
    ids[0, 999] = ids[0, place]

    found = error(ids, None, [{int(ids[0, place]) if judged else 1: 1}])

    assert f"retrieved twice, in columns {place} and 999" in found


def test_repeated_documents_that_look_alike_to_the_filter_are_told_apart() -> None:
    """Ids a power of two apart, many suspects: those that do not repeat pass."""
    ids = np.arange(1000)[None] * 2**52

    assert fr.evaluate_arrays([{0: 1}], ids, None, "map").mean["map"] == 1.0
    assert "retrieved twice" in error(np.repeat(ids, 2, axis=1), None, [{0: 1}])


def test_unique_documents_are_taken_on_trust_if_they_are_not_judged() -> None:
    assert fr.evaluate_arrays([{1: 1}], [[7, 7, 1]], None, "map", assume_unique=True).mean == {
        "map": 1 / 3
    }
    assert "document 1 is retrieved twice" in error([[7, 1, 1]], None, [{1: 1}], assume_unique=True)


@pytest.mark.parametrize(
    "qrels",
    [[[31, 4], [15]], [{31, 4}, {15}], [np.array([31, 4]), [15]], {"0": [31, 4], "1": (15,)}],
)
def test_listed_documents_have_grade_1(qrels: Any) -> None:
    ids = [[4, 9, 31], [15, 3, 2]]
    graded = [{31: 1, 4: 1}, {15: 1}]

    assert fr.evaluate_arrays(qrels, ids, None, "map").mean == (
        fr.evaluate_arrays(graded, ids, None, "map").mean
    )


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        (([0, 1], [1, 2], [1, 1]),
         "qrels indptr[1]: expected the number of judgments, 2, as the last offset, found 1"),
        (([1, 2], [1, 2], [1, 1]), "qrels indptr[0]: expected 0 as the first offset, found 1"),
        (([0, 2, 1, 2], [1, 2], [1, 1]), "qrels indptr[2]: expected ascending offsets, found 1"
                                         " after 2"),
        (([], [], []), "qrels indptr[0]: expected 0 as the first offset, found an empty array"),
        (([0, 2], [1, 2], [1]), "qrels grades: expected 2, one per document id, found 1"),
        (([0, 2], [1.0, 2.0], [1, 1]), "qrels doc_ids: expected integers, found float64"),
        (([0, 2], [1, 2], [1, np.nan]), "qrels grades[1]: expected a grade, found nan"),
        (([0, 2], [1, 2], [1, 1e19]), "qrels grades[1]: expected a 64-bit grade, found 1e+19"),
        (([0, 2], [4, 4], [1, 0]),
         "qrels[0]: query '0': document 4 is judged twice, as number 0 and 1"),
        (([0, 1], [-1], [0]),
         "qrels[0]: query '0': expected document ids of at least 0, found -1"),
        (([0, 1], [1], [2**50]),
         "qrels[0]: query '0': a grade is too large to count judgments by grade"),
        ([{"d1": 1}], "qrels[0]: query '0': expected an integer as document id, found 'd1'"),
        ([{1.0: 1}], "qrels[0]: query '0': expected an integer as document id, found 1.0"),
        ([{True: 1}], "qrels[0]: query '0': expected an integer as document id, found True"),
        ([{2**63: 1}],
         "qrels[0]: query '0': expected an integer as document id, found 9223372036854775808"),
        ([{1: np.inf}], "qrels[0]: query '0': document 1: expected a grade, found inf"),
        ([{1: None}], "qrels[0]: query '0': document 1: expected a grade, found NoneType: None"),
        ({0: 1}, "qrels[0]: query '0': expected a dict {document id: grade} or a list of document"
         " ids, found int"),
        ([["d1"]], "qrels[0]: query '0': expected an integer as document id, found 'd1'"),
        (([1], [2]),
         "qrels: expected (indptr, doc_ids, grades), or a list with a dict {document id: grade}"
         " or a list of ids for each row"),
        (5, "qrels: expected arrays, dicts, Qrels or a file, found int"),
        ({"q": {1: 1}},
         "queries: expected the query id of each row, because the query 'q' of qrels is not a row"
         " number"),
        ({None: {1: 1}}, "queries[0]: expected an id, found the missing value None"),
    ],
)  # fmt: skip
def test_bad_judgments_are_named(qrels: Any, message: str) -> None:
    assert error([[1]], None, qrels) == message


def test_document_ids_in_a_file_of_judgments_are_decimal() -> None:
    from tests.helpers.parsing import parse_qrels

    for text in ("d1", "01", "-1", str(2**63)):
        found = error([[1]], None, parse_qrels(f"7 0 {text} 1\n".encode()), queries=[7])
        assert found.startswith(
            f"qrels[0]: query '7': document {text!r}: expected a decimal integer;"
        )


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (["a"], "queries: expected 2 ids, one per row of qrels, found 1"),
        (["a", "a"], "queries[1]: duplicate query 'a', also at 0"),
        (["a", (1,)], "queries[1]: expected an id (str, bytes or int), found tuple: (1,)"),
    ],
)
def test_bad_ids_of_queries_are_named(queries: Any, message: str) -> None:
    assert error([[1], [2]], None, ROWS, queries=queries) == message


def test_an_error_of_an_array_carries_its_place() -> None:
    with pytest.raises(ArrayError) as caught:
        fr.evaluate_arrays([{4: 1}], [[4, 4]], None)

    assert (caught.value.name, caught.value.row, caught.value.column) == ("ids", 0, 1)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("negative", [0, 1])
def test_a_query_whose_grades_are_all_negative_has_nothing_relevant(
    threads: int, negative: int
) -> None:
    """The first one too."""
    qrels = [{4: 1}, {4: 1}]
    qrels[negative] = {4: -1}

    found = fr.evaluate_arrays(qrels, [[4, 5], [4, 6]], None, "map", threads=threads)

    assert found["map"].tolist() == [float(i != negative) for i in range(2)]


def test_with_threads_the_first_row_that_is_wrong_is_named() -> None:
    ids, qrels = [[4, 5], [6, 6], [7, 8], [9, 9]], [{4: 1}] * 4
    for threads in (1, 2, 3, 9):
        assert error(ids, None, qrels, threads=threads).startswith("ids[1, 1]: ")


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_with_threads_the_scores_are_written_alike(threads: int) -> None:
    """Also what is counted: numbers of Python's, which JSON knows."""
    found = fr.evaluate_arrays([{4: 1}] * 3, [[4, 5], [4, 6], [5, 7]], None, "map", threads=threads)

    assert json.loads(found.to_json())["counts"] == found.counts
    assert {type(count) for count in found.counts.values()} == {int}


def test_more_threads_than_help_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(
        array_judge, "in_threads", lambda work, count: made.append(count) or in_threads(work, count)
    )
    found = fr.evaluate_arrays([{4: 1}] * 1000, [[4]] * 1000, None, "map", threads=10**9)

    assert (made, found.counts["evaluated_queries"]) == ([256], 1000)


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_are_one_or_more(threads: int) -> None:
    with pytest.raises(fr.OptionError, match=r"^threads: expected 1 or more"):
        fr.evaluate_arrays([{4: 1}], [[4]], None, threads=threads)


@pytest.mark.parametrize(
    ("name", "ids", "scores"),
    [
        ("ids", np.ma.array([[4, 5]], mask=[[0, 1]]), [[2.0, 1.0]]),
        ("scores", [[4, 5]], np.ma.array([[2.0, 1.0]], mask=[[0, 1]])),
    ],
)
def test_masked_values_are_refused(name: str, ids: Any, scores: Any) -> None:
    """What NumPy keeps under a mask is none of the caller's values."""
    with pytest.raises(fr.ArrayError, match=rf"^{name}\[0, 1\]: the value is masked"):
        fr.evaluate_arrays([{4: 1}], ids, scores)
    unmasked = fr.evaluate_arrays([{4: 1}], np.ma.array([[4, 5]]), None, "map")
    assert unmasked.mean["map"] == 1.0


def test_ids_of_queries_may_be_of_any_type() -> None:
    """As in dicts; one text is no list of ids."""
    import uuid

    ids = [uuid.UUID(int=5), np.str_("q")]
    scores = fr.evaluate_arrays([{4: 1}, {5: 1}], [[4], [4]], None, "map", queries=ids)

    assert scores.queries == [str(ids[0]), "q"]
    for wrong in ([None, "q"], [1.5, "q"], ["\ud800", "q"]):
        with pytest.raises(fr.ArrayError, match=r"^queries\[0\]: "):
            fr.evaluate_arrays([{4: 1}, {5: 1}], [[4], [4]], None, "map", queries=wrong)
    with pytest.raises(fr.ArrayError, match="expected a list of ids, found 'qr'"):
        fr.evaluate_arrays([{4: 1}, {5: 1}], [[4], [4]], None, "map", queries="qr")


def test_judgments_may_be_a_file_with_document_numbers(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q1 0 31 1\nq1 0 4 2\nq2 0 15 1\n")
    ids, queries = [[4, 59, 31], [26, 15, -1]], ["q1", "q2"]
    judged = {"q1": {31: 1, 4: 2}, "q2": {15: 1}}

    found = fr.evaluate_arrays(path, ids, None, "map P.1", queries=queries)
    assert (
        found.to_dict()
        == fr.evaluate_arrays(judged, ids, None, "map P.1", queries=queries).to_dict()
    )
    path.write_text("q1 0 d31 1\n")
    with pytest.raises(fr.ArrayError, match="'d31': expected a decimal integer; give a dict"):
        fr.evaluate_arrays(path, ids, None, "map", queries=queries)
