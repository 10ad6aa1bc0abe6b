"""Options of evaluate_arrays and evaluate_labels: what `evaluate` gives for the same data as a run.

`evaluate` itself is compared with other programs in tests/judging.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.errors import ArrayError, EvaluationError, NoQueriesError
from fastrank.judging.arrays import _descending
from tests.helpers.strategies import examples
from tests.helpers.tables import holds, refused, rows

TIES = ["docno_desc", "docno_asc", "given", "best", "worst", "average"]
# Those of which the expected value over orders of ties is known.
EXPECTED = "map P.1,3 recall.2 Rprec recip_rank ndcg ndcg_cut.2 success.1 num_ret num_rel"
EVERY = f"all_trec nDCG@3 Judged@2 {EXPECTED}"
# relstring shows whole grades only.
GRADED = f"{EXPECTED} nDCG@3 ERR@3 RBP bpref infAP set_F"
# Neighbours in the order of their decimal texts that are none as numbers, and the largest.
IDS = [*range(13), 19, 20, 90, 99, 100, 109, 110, 900, 999, 1000, 10**18, 10**18 + 1]
IDS += [922337203685477580, 2**63 - 8, 2**63 - 1]
# Ties, some only as 32-bit floats, and what has no single form.
SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2e-8, 1.0 + 4e-8, -1.0, 0.5, 3e-46]),
    st.sampled_from([0.1, 1e300, 1e301, float("inf"), float("-inf")]),
    st.floats(-2, 2),
)
GRADES = [-1, 0, 1, 2, 3, 0.5, 1.5]


@st.composite
def collections(draw: st.DrawFn) -> tuple[Any, Any, list[dict[int, float]]]:
    """Ids with padding and repeats, scores with ties or none, and judgments of one to four rows."""
    width, count = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    repeats = draw(st.booleans())
    row = st.lists(st.sampled_from(IDS), min_size=width, max_size=width, unique=not repeats)
    ids = [[doc if draw(st.integers(0, 4)) else -1 for doc in draw(row)] for _ in range(count)]
    score = st.lists(SCORES, min_size=width, max_size=width)
    scores = draw(st.one_of(st.none(), st.lists(score, min_size=count, max_size=count)))
    grades = GRADES[: draw(st.sampled_from([5, 7]))]
    judged = st.dictionaries(st.sampled_from(IDS), st.sampled_from(grades), max_size=15)
    qrels = [draw(judged) for _ in range(count)]
    return np.array(ids), None if scores is None else np.array(scores), qrels


EXCLUDED = st.lists(st.sampled_from([*IDS, "d1", "01"]), max_size=4)
CHOICES = st.fixed_dictionaries(
    {"ties": st.sampled_from(TIES)},
    optional={
        "no_relevant": st.sampled_from(["skip", "error"]),
        "ignore_identical_ids": st.just(True),
        "exclude": st.dictionaries(st.sampled_from([0, "1", b"2", "x"]), EXCLUDED),
        "duplicates": st.sampled_from(["first", "max"]),
        "missing": st.sampled_from(["zero", "error"]),
        "depth": st.integers(1, 3),
        "judged_only": st.just(True),
        "relevance_level": st.sampled_from([2, 0.5, -1]),
        "collection_size": st.just(50),
        "trec_eval_version": st.just("10.0"),
    },
)


def as_nouns(ids: Any, scores: Any, judged: Any, names: list[str]) -> tuple[fr.Qrels, fr.Run]:
    """The same as judgments and a run, by other constructors; scores descend where there are none.

    Of the rows without judgments the run has nothing, for those of arrays are not looked at.
    """
    width = ids.shape[1]
    results = [
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
    columns = zip(*results, strict=True) if results else ([], [], [])
    return fr.Qrels.from_dict(qrels), fr.Run.from_arrays(*map(list, columns))


def outcome(call: Any) -> Any:
    """The scores, or the error."""
    try:
        return call()
    except fr.FastrankError as error:
        return error


def assert_same(found: Any, expected: Any) -> None:
    """The same bits and counts, or the same error."""
    if isinstance(expected, NoQueriesError):
        # Of the rows without judgments the run has nothing.
        assert isinstance(found, NoQueriesError)
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


@examples(300)
@given(collections(), CHOICES, st.booleans(), st.booleans(), st.integers(1, 3))
def test_scores_of_arrays_are_those_of_the_same_run(
    collection: Any, options: dict[str, Any], named: bool, indexed: bool, threads: int
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
    queries = names if named else None
    given_: Any = judged
    options["threads"] = threads
    if indexed:
        given_, queries = fr.index_qrels(judged, queries=queries), None

    found = outcome(
        lambda: fr.evaluate_arrays(given_, ids, scores, measures, queries=queries, **options)
    )

    if isinstance(found, ArrayError):
        assert isinstance(expected, EvaluationError)
        assert "duplicate docs" in str(expected)
        assert f"document {ids[found.row, found.column]} is retrieved twice" in str(found)
        return
    assert_same(found, expected)


@examples(100)
@given(collections(), st.sampled_from(TIES), st.sampled_from(["float16", "int32", "uint64"]))
def test_distances_and_scores_of_all_types(collection: Any, ties: Any, kind: str) -> None:
    """A smaller distance is better, as a larger negated one is."""
    ids, scores, judged = collection
    scores = np.abs(
        np.nan_to_num(np.zeros(ids.shape) if scores is None else scores, posinf=2, neginf=2)
    )
    distances = (4 * np.minimum(scores, 3)).astype(kind)
    names = [str(i) for i in range(len(ids))]
    nouns = as_nouns(ids, -distances.astype(float), judged, names)
    how: dict[str, Any] = {"ties": ties, "duplicates": "max"}
    expected = outcome(lambda: fr.evaluate(*nouns, EXPECTED, **how))
    arrays = judged, ids, distances, EXPECTED

    found = outcome(lambda: fr.evaluate_arrays(*arrays, higher_is_better=False, **how))

    assert_same(found, expected)


@pytest.mark.parametrize("options", [{"ties": "given"}, {"no_relevant": "skip"}])
def test_rows_without_ids_stay_in_their_order(options: dict[str, Any]) -> None:
    """Eleven rows: 10 comes after 9, and values are added up so, by whatever way they come."""
    ids = np.arange(33).reshape(11, 3)
    judged = [{3 * i + i % 3: 1} for i in range(11)]
    nouns = as_nouns(ids, None, judged, [f"{i:02}" for i in range(11)])
    expected = fr.evaluate(*nouns, "all_trec", **options)

    found = fr.evaluate_arrays(judged, ids, None, "all_trec", **options)

    assert found.queries == [str(i) for i in range(11)]
    assert repr(found.mean) == repr(expected.mean)
    assert found["recip_rank"].tolist() == expected["recip_rank"].tolist()


IDS_2D = np.array([[5, 3, -1], [7, 3, 4]])
SCORES_2D = np.array([[3.0, 3.0, 1.0], [1.0, 3.0, 3.0]], np.float32)
ROWS = [{3: 1, 9: 2}, {7: 1, 4: 0}]
FORMS = {
    "csr": ([0, 2, 4], [3, 9, 7, 4], [1, 2, 1, 0]),
    "dict": dict(enumerate(ROWS)),
    "dict in another order": {1: ROWS[1], 0: ROWS[0]},
    "indexed": fr.index_qrels(ROWS),
    "Qrels": fr.Qrels.from_dict(dict(enumerate(ROWS))),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["int16", "int64", ">i4"])
def test_judgments_and_ids_in_every_form(form: str, kind: str) -> None:
    expected = fr.evaluate_arrays(ROWS, IDS_2D, SCORES_2D, EXPECTED, ties="average")

    found = fr.evaluate_arrays(
        FORMS[form], IDS_2D.astype(kind), SCORES_2D, EXPECTED, ties="average"
    )

    assert found.mean == expected.mean
    assert found["map"].tolist() == [0.375, 1 / 3]


def arrays(qrels: Any, ids: Any, scores: Any = None, measures: str = "map", **options: Any) -> Any:
    return fr.evaluate_arrays(qrels, ids, scores, measures, **options)


def labels(labels: Any, scores: Any, measures: str = "map", **options: Any) -> Any:
    return fr.evaluate_labels(labels, scores, measures, **options)


def falls(count: int) -> bool:
    """Whether the scores of so many columns are different 32-bit floats."""
    return bool((np.diff(_descending(count).astype(np.float32)) < 0).all())


def read_only(*rows: Any) -> Any:
    found = np.array(rows)
    found.flags.writeable = False
    return found


INDEXED = fr.index_qrels([{1: 0}, {2: 1}, {}, {3: 1}])
# A repeat in a row of which nothing is relevant is not looked at.
LEFT_OUT = INDEXED, [[1, 1], [2, 5], [9, 9], [-1, -1]]
# As where a corpus is searched for its own documents.
SELF = arrays([{1: 1}, {0: 1}], [[0, 1], [1, 0]], None, "recip_rank", ignore_identical_ids=True)
ALL_EXCLUDED = arrays([{3: 1}, {4: 1}], [[5, 3], [4, -1]], exclude={0: [3, 5]})
SKIPPED = arrays(*LEFT_OUT, no_relevant="skip")
UNJUDGED = arrays([{2: 1}, {}], [[1, 2], [-5, -5]], [[2.0, 1.0], [np.nan] * 2], ties="docno_asc")
PADDED = np.array([[1, 0, -1], [0, -1, -1]])
MASK: Any = {"mask": PADDED >= 0, "ties": "average", "no_relevant": "skip"}
MASKED = labels(PADDED, np.ones((2, 3)), "recip_rank num_ret", **MASK)
ABC = ["a", "b", "c"]
VALUES = """
# a document of a row with its number is identical
SELF["recip_rank"].tolist() => [1.0, 1.0]
SELF.counts["excluded"] => 2
# a row whose documents are all excluded has results: it counts, with 0, and is not missing
ALL_EXCLUDED["map"].tolist() => [0.0, 1.0]
(ALL_EXCLUDED.counts["excluded"], ALL_EXCLUDED.counts["missing_queries"]) => (2, 0)
# queries left out are not looked at; judgments indexed before stay as they are
(SKIPPED.queries, len(INDEXED)) => (["1"], 3)
SKIPPED.counts["no_relevant_skipped"] => 1
SKIPPED.counts["no_relevant_queries"] => 0
SKIPPED.counts["missing_queries"] => 1
# without scores nothing ties
arrays([{10: 1}], [[1, 10, 9]], None, "recip_rank", ties="worst").mean => {"recip_rank": 0.5}
# not behind 2**24 columns either, where ranks are no longer different 32-bit floats
falls(2**24 + 5) => True
# rows without judgments are not looked at, but counted
(UNJUDGED.queries, UNJUDGED.counts["unjudged_queries"]) => (["0"], 1)
UNJUDGED.unjudged_queries => ["1"]
# rows without judgments and documents are not counted
arrays([{1: 1}, {}, {}], [[1], [-1], [2]], threads=1).unjudged_queries => ["2"]
# rows without judgments are named by their queries
arrays({"b": {2: 1}}, [[1], [2], [3]], queries=ABC).unjudged_queries => ["a", "c"]
arrays({"b": {2: 1}}, [[1], [2], [3]], queries=iter(ABC)).unjudged_queries => ["a", "c"]
# places under a mask hold no tied documents
MASKED.to_dict() => {"0": {"recip_rank": 0.75, "num_ret": 2.0}}
# read-only labels are taken
labels(read_only([1, 0]), read_only([0.5, 0.5]), ties="worst").mean => {"map": 0.5}
"""


@pytest.mark.parametrize(("call", "expected"), rows(VALUES))
def test_options_of_arrays_and_labels_mean_what_they_mean_for_runs(
    call: str, expected: str
) -> None:
    assert holds(call, expected, globals())


def given_ids(ids: Any, scores: Any = None, **options: Any) -> Any:
    return arrays([{1: 1}, {3: 1}, {7: 1}], ids, scores, ties="given", **options)


LARGE = [0, 1, 0, 2**50], [1, 2, 3, 4]
OFFSETS = {"offsets": [0, 1, 2, 2, 4], "no_relevant": "skip"}
FOUR = [[1, 2, 3, 4], [-1, 1, 1, 2], [7, 8, 7, 8]], [[4, 3, 2, 1], [5, 2, 1, 3], [3, 9, 1, 8]]
UNSIGNED = np.array([[1], [2], [2**63]], np.uint64)
NAN = np.nan
REFUSED = r"""
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
arrays([{1: 0}], [[1]], no_relevant="skip") =>
  NoQueriesError: there are no judged queries; skipped 1 judged query without a relevant document
arrays(*LEFT_OUT, no_relevant="error") =>
  EvaluationError: 1 of 3 judged queries have no relevant document (grade 1 or more): 0
# labels cannot be ordered by ids
labels([[1, 0]], [[1, 1]], ties="docno_desc") =>
  OptionError: ties: expected one of 'given', 'best', 'worst', 'average', found 'docno_desc';
  labels have no document ids to sort by
labels([[1, 0]], [[1, 1]], ties="docno_asc") =>
  OptionError: ties: expected one of 'given', 'best', 'worst', 'average', found 'docno_asc';
  labels have no document ids to sort by
labels([[1, 0]], [[1, 1]], ties="random") =>
  OptionError: ties: expected one of 'given', 'best', 'worst', 'average', found 'random'
# a label too large to count is named by its row, whatever was left out before it
labels(*LARGE, **OFFSETS, ties="given") => labels[3]: a label is too large to count by grade
labels(*LARGE, **OFFSETS, ties="best") => labels[3]: a label is too large to count by grade
"""


@pytest.mark.parametrize(("call", "error"), rows(REFUSED))
def test_errors_of_arrays_and_labels(call: str, error: str) -> None:
    assert refused(call, error, globals(), "ArrayError")


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


# Labels

LABELLED = st.lists(
    st.lists(st.tuples(st.integers(0, 4), SCORES), max_size=40), min_size=1, max_size=4
)
WAYS = st.fixed_dictionaries(
    {
        "ties": st.sampled_from(["given", "best", "worst", "average"]),
        "no_relevant": st.sampled_from(["zero", "skip", "error"]),
    },
    optional={
        "depth": st.just(2),
        "trec_eval_version": st.just("10.0"),
        "relevance_level": st.sampled_from([2, 0.5]),
    },
)


@examples(200)
@given(LABELLED, WAYS, st.booleans(), st.booleans())
def test_scores_of_labels_are_those_of_the_same_run(
    groups: list[list[tuple[int, float]]], options: dict[str, Any], named: bool, fractions: bool
) -> None:
    """With made up ids, in the given order: values, means, counts and errors."""
    scale = 0.5 if fractions else 1
    names = ["c", "a", "d", "b"][: len(groups)] if named else [str(i) for i in range(len(groups))]
    pairs = [(name, group) for name, group in zip(names, groups, strict=True) if group]
    qrels = {name: {f"d{i}": scale * own[0] for i, own in enumerate(row)} for name, row in pairs}
    run = {name: {f"d{i}": own[1] for i, own in enumerate(row)} for name, row in pairs}
    measures = EXPECTED if options["ties"] == "average" else GRADED if fractions else EVERY
    expected = outcome(lambda: fr.evaluate(qrels, run, measures, **options))
    flat = [document for group in groups for document in group]
    own = np.array([scale * label for label, _ in flat])
    scores = np.array([score for _, score in flat], float)
    options["offsets"] = [0, *accumulate(map(len, groups))]
    options["queries"] = names if named else None

    assert_same(outcome(lambda: fr.evaluate_labels(own, scores, measures, **options)), expected)


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
