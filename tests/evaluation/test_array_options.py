"""Options of evaluate_arrays and evaluate_labels: what `evaluate` gives for the same data as a run.

`evaluate` itself is compared with other programs in test_ties.py and test_options.py.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.strategies import examples

TIES = ["docno_desc", "docno_asc", "given", "best", "worst", "average"]
# Those of which the expected value over orders of ties is known.
EXPECTED = "map P.1,3 recall.2 Rprec recip_rank ndcg ndcg_cut.2 success.1 num_ret num_rel"
EVERY = f"all_trec nDCG@3 Judged@2 {EXPECTED}"
# relstring shows whole grades only.
GRADED = f"{EXPECTED} nDCG@3 ERR@3 RBP bpref infAP set_F"
IDS = [0, 1, 2, 3, 9, 10, 11, 19, 100, 2**63 - 1]
# Ties, some only as 32-bit floats, and what has no single form.
SCORES = [0.0, -0.0, 1.0, 1.0 + 2e-8, -1.0, 0.5, 1e300, float("inf")]
GRADES = [-1, 0, 1, 2, 0.5, 1.5]


@st.composite
def collections(draw: st.DrawFn) -> tuple[Any, Any, list[dict[int, float]]]:
    """Ids with padding and repeats, scores with ties or none, and judgments of one to four rows."""
    width, rows = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    repeats = draw(st.booleans())
    row = st.lists(st.sampled_from(IDS), min_size=width, max_size=width, unique=not repeats)
    ids = [[doc if draw(st.integers(0, 4)) else -1 for doc in draw(row)] for _ in range(rows)]
    score = st.lists(st.sampled_from(SCORES), min_size=width, max_size=width)
    scores = draw(st.one_of(st.none(), st.lists(score, min_size=rows, max_size=rows)))
    grades = GRADES[: draw(st.sampled_from([4, 6]))]
    judged = st.dictionaries(st.sampled_from(IDS), st.sampled_from(grades), max_size=8)
    qrels = [draw(judged) for _ in range(rows)]
    return np.array(ids), None if scores is None else np.array(scores), qrels


@st.composite
def choices(draw: st.DrawFn) -> dict[str, Any]:
    """Options, each as likely left at its default."""
    options: dict[str, Any] = {"ties": draw(st.sampled_from(TIES))}
    excluded = st.lists(st.sampled_from([*IDS, "d1", "01"]), max_size=4)
    for name, values in {
        "no_relevant": st.sampled_from(["skip", "error"]),
        "ignore_identical_ids": st.just(True),
        "exclude": st.dictionaries(st.sampled_from([0, "1", b"2", "x"]), excluded),
        "duplicates": st.sampled_from(["first", "max"]),
        "missing": st.sampled_from(["zero", "error"]),
        "depth": st.integers(1, 3),
        "judged_only": st.just(True),
        "relevance_level": st.sampled_from([2, 0.5, -1]),
        "trec_eval_version": st.just("10.0"),
    }.items():
        if draw(st.integers(0, 2)) == 0:
            options[name] = draw(values)
    return options


def as_nouns(
    ids: Any, scores: Any, judged: list[dict[int, float]], names: list[str]
) -> tuple[fr.Qrels, fr.Run]:
    """The same as judgments and a run, by other constructors; scores descend where there are none.

    Of the rows without judgments the run has nothing, for those of arrays are not looked at.
    """
    width = ids.shape[1]
    rows = [
        (names[i], str(doc), width - j if scores is None else scores[i][j])
        for i, row in enumerate(ids.tolist())
        for j, doc in enumerate(row)
        if doc != -1 and judged[i]
    ]
    qrels = {
        name: {str(doc): grade for doc, grade in row.items()}
        for name, row in zip(names, judged, strict=True)
        if row
    }
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    return fr.Qrels.from_dict(qrels), fr.Run.from_arrays(*map(list, columns))


def outcome(call: Any) -> Any:
    """The scores, or the error."""
    try:
        return call()
    except fr.FastrankError as error:
        return error


def assert_same(found: Any, expected: Any) -> None:
    """The same bits and counts, or the same error."""
    if isinstance(expected, fr.NoQueriesError):
        # Of the rows without judgments the run has nothing.
        assert isinstance(found, fr.NoQueriesError)
        return
    if isinstance(expected, fr.FastrankError):
        assert (type(found), str(found)) == (type(expected), str(expected))
        return
    assert isinstance(found, fr.Scores), found
    assert found.queries == expected.queries
    assert found.missing_queries == expected.missing_queries
    # Of arrays, every excluded query may be a row.
    counts = {name: own for name, own in expected.counts.items() if name != "unknown_exclusions"}
    assert {**found.counts, "unjudged_queries": 0} == counts
    assert repr(found.mean) == repr(expected.mean)
    for name in expected:
        assert found[name].tobytes() == expected[name].tobytes(), name


@examples(400)
@given(collections(), choices(), st.booleans(), st.booleans())
def test_scores_of_arrays_are_those_of_the_same_run(
    collection: tuple[Any, Any, list[dict[int, float]]],
    options: dict[str, Any],
    named: bool,
    indexed: bool,
) -> None:
    """With every option: values, means, counts and errors."""
    ids, scores, judged = collection
    # In byte order the names stand in another order than the rows.
    names = ["2", "x", "0", "1"][: len(ids)] if named else [str(i) for i in range(len(ids))]
    qrels, run = as_nouns(ids, scores, judged, names)
    measures = EXPECTED if options["ties"] == "average" else EVERY
    if qrels.scale is not None and options["ties"] != "average":
        measures = GRADED
    expected = outcome(lambda: fr.evaluate(qrels, run, measures, **options))
    given_qrels: Any = judged
    if indexed:
        given_qrels = fr.index_qrels(judged, queries=names if named else None)

    found = outcome(
        lambda: fr.evaluate_arrays(
            given_qrels, ids, scores, measures,
            queries=names if named and not indexed else None, **options,
        )
    )  # fmt: skip

    if isinstance(found, fr.ArrayError):
        assert isinstance(expected, fr.EvaluationError)
        assert "duplicate docs" in str(expected)
        assert f"document {ids[found.row, found.column]} is retrieved twice" in str(found)
        return
    assert_same(found, expected)


@examples(100)
@given(collections(), st.sampled_from(TIES), st.sampled_from(["float16", "int32", "uint64"]))
def test_distances_and_scores_of_all_types(
    collection: tuple[Any, Any, list[dict[int, float]]], ties: str, kind: str
) -> None:
    """A smaller distance is better, as a larger negated one is."""
    ids, scores, judged = collection
    scores = np.abs(np.nan_to_num(np.zeros(ids.shape) if scores is None else scores, posinf=2))
    distances = (4 * np.minimum(scores, 3)).astype(kind)
    names = [str(i) for i in range(len(ids))]
    qrels, run = as_nouns(ids, -distances.astype(float), judged, names)
    expected = outcome(lambda: fr.evaluate(qrels, run, EXPECTED, ties=ties, duplicates="max"))

    found = outcome(
        lambda: fr.evaluate_arrays(
            judged, ids, distances, EXPECTED,
            higher_is_better=False, ties=ties, duplicates="max",
        )
    )  # fmt: skip

    assert_same(found, expected)


IDS_2D = np.array([[5, 3, -1], [7, 3, 4]])
SCORES_2D = np.array([[3.0, 3.0, 1.0], [1.0, 3.0, 3.0]], np.float32)
ROWS = [{3: 1, 9: 2}, {7: 1, 4: 0}]
INDPTR, DOC_IDS, GRADES = [0, 2, 4], [3, 9, 7, 4], [1, 2, 1, 0]


@pytest.mark.parametrize(
    "qrels",
    [
        (INDPTR, DOC_IDS, GRADES),
        {0: ROWS[0], 1: ROWS[1]},
        {1: ROWS[1], 0: ROWS[0]},
        fr.index_qrels(ROWS),
        fr.Qrels.from_dict(dict(enumerate(ROWS))),
    ],
    ids=["csr", "dict", "dict in another order", "indexed", "Qrels"],
)
@pytest.mark.parametrize("kind", ["int16", "int64", ">i4"])
def test_judgments_and_ids_in_every_form(qrels: Any, kind: str) -> None:
    expected = fr.evaluate_arrays(ROWS, IDS_2D, SCORES_2D, EXPECTED, ties="average")

    found = fr.evaluate_arrays(qrels, IDS_2D.astype(kind), SCORES_2D, EXPECTED, ties="average")

    assert found.mean == expected.mean
    assert found["map"].tolist() == [0.375, 1 / 3]


@pytest.mark.parametrize("options", [{"ties": "given"}, {"no_relevant": "skip"}])
def test_rows_without_ids_stay_in_their_order(options: dict[str, Any]) -> None:
    """Eleven rows: 10 comes after 9, and values are added up so, by whatever way they come."""
    ids = np.arange(33).reshape(11, 3)
    judged = [{3 * i + i % 3: 1} for i in range(11)]
    names = [f"{i:02}" for i in range(11)]
    qrels, run = as_nouns(ids, None, judged, names)
    expected = fr.evaluate(qrels, run, "all_trec", **options)

    found = fr.evaluate_arrays(judged, ids, None, "all_trec", **options)

    assert found.queries == [str(i) for i in range(11)]
    assert repr(found.mean) == repr(expected.mean)
    assert found["recip_rank"].tolist() == expected["recip_rank"].tolist()


def test_a_document_of_a_row_with_its_number_is_identical() -> None:
    """As where a corpus is searched for its own documents."""
    ids, judged = [[0, 1], [1, 0]], [{1: 1}, {0: 1}]

    found = fr.evaluate_arrays(judged, ids, None, "recip_rank", ignore_identical_ids=True)

    assert found["recip_rank"].tolist() == [1.0, 1.0]
    assert found.counts["excluded"] == 2


def test_a_row_whose_documents_are_all_excluded_has_results() -> None:
    """As for `evaluate`: it counts, with 0, and is not missing."""
    found = fr.evaluate_arrays(
        [{3: 1}, {4: 1}], [[5, 3], [4, -1]], None, "map", exclude={0: [3, 5]}
    )

    assert found["map"].tolist() == [0.0, 1.0]
    assert found.counts["excluded"] == 2
    assert found.counts["missing_queries"] == 0


def test_queries_left_out_are_not_looked_at() -> None:
    """Nor is a repeat in their rows found; judgments indexed before stay as they are."""
    indexed = fr.index_qrels([{1: 0}, {2: 1}, {}, {3: 1}])
    ids = [[1, 1], [2, 5], [9, 9], [-1, -1]]

    found = fr.evaluate_arrays(indexed, ids, None, "map", no_relevant="skip")

    assert found.queries == ["1"]
    assert (
        found.counts["no_relevant_skipped"],
        found.counts["no_relevant_queries"],
        found.counts["missing_queries"],
    ) == (1, 0, 1)
    assert len(indexed) == 3
    with pytest.raises(fr.NoQueriesError, match="skipped 1 judged query without a relevant"):
        fr.evaluate_arrays([{1: 0}], [[1]], None, "map", no_relevant="skip")
    with pytest.raises(fr.EvaluationError, match=r"1 of 3 judged queries have no relevant .*: 0$"):
        fr.evaluate_arrays(indexed, ids, None, "map", no_relevant="error")


def test_without_scores_nothing_ties_however_long_the_row() -> None:
    """Behind 2**24 columns too, where ranks are no longer different 32-bit floats."""
    from fastrank.judging.arrays import _descending

    scores = _descending(2**24 + 5)

    assert (np.diff(scores.astype(np.float32)) < 0).all()
    found = fr.evaluate_arrays([{10: 1}], [[1, 10, 9]], None, "recip_rank", ties="worst")
    assert found.mean["recip_rank"] == 0.5


@pytest.mark.parametrize(
    ("ids", "scores", "options", "message"),
    [
        ([[1, 2], [-1, 7], [7, 7]], None, {},
         "ids[2, 1]: query '2': document 7 is retrieved twice, in columns 0 and 1"),
        ([[1, 2, 3, 4], [-1, 1, 1, 2], [7, 8, 7, 8]], [[4, 3, 2, 1], [5, 2, 1, 3], [3, 9, 1, 8]],
         {"depth": 2},
         "ids[2, 3]: query '2': document 8 is retrieved twice, in columns 1 and 3"),
        ([[1, 2], [-2, 3], [1, 2]], None, {"duplicates": "max"},
         "ids[1, 0]: query '1': expected an id of at least 0, or -1 for none, found -2"),
        ([[1, 2], [-1, 3], [1, 2]], [[2.0, 1.0], [np.nan, np.nan], [1.0, 2.0]], {},
         "scores[1, 1]: query '1': document 3 has the score nan"),
        ([[1, 2], [3, 3], [1, 2]], [[2.0, 1.0], [1.0, np.nan], [1, 2]], {"duplicates": "max"},
         "scores[1, 1]: query '1': document 3 has the score nan"),
        (np.array([[1], [2], [2**63]], np.uint64), None, {},
         "ids[2, 0]: expected at most 2**63 - 1, found 9223372036854775808"),
    ],
)  # fmt: skip
def test_errors_name_row_and_column(
    ids: Any, scores: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(fr.ArrayError) as caught:
        fr.evaluate_arrays([{1: 1}, {3: 1}, {7: 1}], ids, scores, "map", ties="given", **options)

    assert str(caught.value) == message


def test_rows_without_judgments_are_not_looked_at() -> None:
    scores = [[2.0, 1.0], [np.nan, np.nan]]

    found = fr.evaluate_arrays([{2: 1}, {}], [[1, 2], [-5, -5]], scores, "map", ties="docno_asc")

    assert found.queries == ["0"]
    assert (found.counts["unjudged_queries"], found.unjudged_queries) == (1, ["1"])


def test_rows_without_judgments_and_documents_are_not_counted() -> None:
    found = fr.evaluate_arrays([{1: 1}, {}, {}], [[1], [-1], [2]], None, "map", threads=1)

    assert found.unjudged_queries == ["2"]


@pytest.mark.parametrize("queries", [["a", "b", "c"], iter(["a", "b", "c"])])
def test_rows_without_judgments_are_named_by_their_queries(queries: Any) -> None:
    found = fr.evaluate_arrays({"b": {2: 1}}, [[1], [2], [3]], None, "map", queries=queries)

    assert found.unjudged_queries == ["a", "c"]


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
def test_what_evaluate_refuses_is_refused(options: dict[str, Any]) -> None:
    """With the same words, and before the arrays are looked at."""
    options = {"measures": "map", **options}
    with pytest.raises((fr.FastrankError, TypeError)) as expected:
        fr.evaluate({"0": {"1": 1}}, {"0": {"1": 1}}, **options)
    with pytest.raises(type(expected.value)) as found:
        fr.evaluate_arrays([{1: 1}], [[-9]], None, **options)

    assert str(found.value) == str(expected.value)


def test_nothing_that_was_passed_is_changed() -> None:
    ids, scores = IDS_2D.copy(), SCORES_2D.copy()
    ids.flags.writeable = scores.flags.writeable = False

    fr.evaluate_arrays(
        ROWS, ids, scores, "map",
        higher_is_better=False, ties="best", exclude={0: [5]}, no_relevant="skip",
    )  # fmt: skip

    assert (ids == IDS_2D).all()
    assert (scores == SCORES_2D).all()


# Labels.

LABELLED = st.lists(
    st.lists(st.tuples(st.sampled_from([0, 1, 2, 3]), st.sampled_from(SCORES)), max_size=9),
    min_size=1, max_size=4,
)  # fmt: skip


@examples(200)
@given(
    LABELLED,
    st.sampled_from(["given", "best", "worst", "average"]),
    st.sampled_from(["zero", "skip", "error"]),
    st.sampled_from(
        [
            {},
            {"depth": 2},
            {"trec_eval_version": "10.0"},
            {"relevance_level": 2},
            {"relevance_level": 0.5},
        ]
    ),
    st.booleans(),
    st.booleans(),
)
def test_scores_of_labels_are_those_of_the_same_run(
    groups: list[list[tuple[int, float]]],
    ties: str,
    no_relevant: str,
    options: dict[str, Any],
    named: bool,
    fractions: bool,
) -> None:
    """With made up ids, in the given order: values, means, counts and errors."""
    scale = 0.5 if fractions else 1
    names = ["c", "a", "d", "b"][: len(groups)] if named else [str(i) for i in range(len(groups))]
    qrels = {
        name: {f"d{i}": scale * label for i, (label, _) in enumerate(group)}
        for name, group in zip(names, groups, strict=True)
        if group
    }
    run = {
        name: {f"d{i}": score for i, (_, score) in enumerate(group)}
        for name, group in zip(names, groups, strict=True)
        if group
    }
    measures = EXPECTED if ties == "average" else GRADED if fractions else EVERY
    options = {**options, "ties": ties, "no_relevant": no_relevant}
    expected = outcome(lambda: fr.evaluate(qrels, run, measures, **options))
    flat = [document for group in groups for document in group]

    found = outcome(
        lambda: fr.evaluate_labels(
            np.array([scale * label for label, _ in flat]),
            np.array([score for _, score in flat], float),
            measures,
            offsets=[0, *accumulate(map(len, groups))],
            queries=names if named else None,
            **options,
        )
    )

    assert_same(found, expected)


@examples(100)
@given(st.integers(0, 2**32), st.integers(2, 30), st.sampled_from([1, 3, 10, 100]))
def test_ndcg_over_the_orders_of_ties_is_that_of_scikit_learn(
    seed: int, width: int, k: int
) -> None:
    """Which averages the gain of documents with equal scores."""
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(0, 5, (3, width)), rng.integers(0, 4, (3, width))

    found = fr.evaluate_labels(labels, scores, ["ndcg", f"ndcg_cut.{k}"], ties="average")

    for i in range(3):
        pair = labels[i : i + 1], scores[i : i + 1]
        assert found["ndcg"][i] == pytest.approx(metrics.ndcg_score(*pair), rel=1e-12)
        expected = metrics.ndcg_score(*pair, k=k)
        assert found[f"ndcg_cut_{k}"][i] == pytest.approx(expected, rel=1e-12)


def test_places_under_a_mask_hold_no_tied_documents() -> None:
    labels, scores = [[1, 0, -1], [0, -1, -1]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]

    found = fr.evaluate_labels(
        labels, scores, "recip_rank num_ret", mask=np.array(labels) >= 0, ties="average",
        no_relevant="skip",
    )  # fmt: skip

    assert found.to_dict() == {"0": {"recip_rank": 0.75, "num_ret": 2.0}}


@pytest.mark.parametrize("ties", ["docno_desc", "docno_asc", "random"])
def test_labels_cannot_be_ordered_by_ids(ties: str) -> None:
    with pytest.raises(fr.OptionError, match="expected one of 'given', 'best', 'worst', 'average'"):
        fr.evaluate_labels([[1, 0]], [[1, 1]], "map", ties=ties)


def test_a_label_too_large_to_count_is_named_by_its_row() -> None:
    """The row of the caller, whatever was left out before it."""
    for ties in ("given", "best"):
        with pytest.raises(fr.ArrayError, match=r"^labels\[3\]: a label is too large"):
            fr.evaluate_labels(
                [0, 1, 0, 2**50], [1, 2, 3, 4], "map", offsets=[0, 1, 2, 2, 4], ties=ties,
                no_relevant="skip",
            )  # fmt: skip


def test_read_only_labels_are_taken() -> None:
    labels, scores = np.array([[1, 0]]), np.array([[0.5, 0.5]])
    labels.flags.writeable = scores.flags.writeable = False

    assert fr.evaluate_labels(labels, scores, "map", ties="worst").mean["map"] == 0.5
