"""evaluate_labels: every document labelled, as in learning to rank."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.core.measures.families import FAMILIES, FAMILY_BY_NAME
from fastrank.core.measures.trec import GAINS
from fastrank.core.measures.trec import MEASURES as TREC
from fastrank.errors import ArrayError
from tests.helpers.forms import SCORES, TIES, Case, assert_same, outcome
from tests.helpers.strategies import examples
from tests.helpers.tables import giving, refusing


def cut(sizes: list[int]) -> dict[str, Any]:
    """The sizes, unless they could be ids."""
    if len(sizes) == sum(sizes) > 1:
        return {"offsets": [0, *np.cumsum(sizes).tolist()]}
    return {"group_sizes": sizes}


@pytest.mark.parametrize(
    "family", [one for one in FAMILIES if one.needs in ("ranking", *GAINS)], ids=str
)
def test_measures_with_options_have_the_values_of_dicts(family):
    values = {"cutoff": "cutoff=2", "recall": "recall=0.5", "n": "n=2"}
    needed = [values[name] for name, option in family.options.items() if option.needed]
    name = family.name + (f"({','.join(needed)})" if needed else "")
    qrels = {"q": {"a": 1, "b": 0, "c": 2, "d": 0}}
    run = {"q": {"a": 3.0, "b": 4.0, "c": 1.0, "d": 2.0}}

    found = fr.evaluate_labels([[1, 0, 2, 0]], [[3.0, 4.0, 1.0, 2.0]], name)

    assert found.mean == pytest.approx(fr.evaluate(qrels, run, name).mean, rel=0, nan_ok=True)


KINDS = ["normal", "ties", "wide", "descending"]
VERSIONS = st.sampled_from(["9.0.8", "10.0"])
LONGER = st.sampled_from([9, 65, 193, 300, 1000])
WIDTHS = st.sampled_from([1, 7, 8, 9, 63, 65, 100, 191, 193, 300, 1000])


def _scores(rng: np.random.Generator, width: int, kind: str) -> Any:
    scores = rng.standard_normal(width)
    if kind == "ties":
        return rng.choice([0.0, -0.0, 1.0, 1.0 + 2e-8, -1.5, np.inf, -np.inf, 5e-324], width)
    if kind == "wide":
        return scores * 10.0 ** rng.integers(-300, 300, width)
    return -np.sort(-scores) if kind == "descending" else scores


@examples(150)
@given(st.integers(0, 2**32), WIDTHS, VERSIONS, st.sampled_from(KINDS))
def test_the_ranking_is_a_stable_sort(seed, width, version, kind):
    """For any number of documents: short queries are ranked otherwise than long ones."""
    rng = np.random.default_rng(seed)
    scores = _scores(rng, width, kind)
    with np.errstate(over="ignore"):
        keys = scores.astype("float32") if version == "9.0.8" else scores
    labels = rng.integers(0, 10, width)
    options: dict[str, Any] = {"group_sizes": [width], "trec_eval_version": version}

    found = fr.evaluate_labels(labels, scores, f"relstring.{width}", **options)

    expected = "".join(map(str, labels[np.argsort(-keys, kind="stable")]))
    assert found[f"relstring_{width}"].tolist() == [expected]


def test_queries_of_many_sizes_are_ranked_one_by_one():
    rng = np.random.default_rng(8)
    sizes = [3, 250, 1, 64, 70, 0, 192, 200, 5]
    labels, scores = rng.integers(0, 10, sum(sizes)), rng.standard_normal(sum(sizes))

    found = fr.evaluate_labels(labels, scores, "relstring.300", group_sizes=sizes)

    starts = np.cumsum([0, *sizes])
    for i, query in enumerate(found.queries):
        own = slice(starts[int(query)], starts[int(query) + 1])
        expected = labels[own][np.argsort(-scores[own])]
        assert found["relstring_300"][i] == "".join(map(str, expected))


CUT_NEEDS = ("ranking", *GAINS)
CUT = [
    f"{name}(n=2)@3" if "n" in family.options else f"{name}@3"
    for name, family in FAMILY_BY_NAME.items()
    if "cutoff" in family.options and family.needs in CUT_NEEDS
]
CUT += [f"{own.name}.3,1" for own in TREC if own.takes == "cutoffs" and own.needs in CUT_NEEDS]
CUT_VARIANTS = (
    "nDCG(ideal='retrieved')@3 nDCG(ideal='max',max_grade=4)@3 nDCG(dcg='exp-log2')@3"
    " P(denominator='retrieved')@9 P(rel=2)@3 AP(denominator='relevant_retrieved')@2"
    " AP(denominator='min_k')@3 Judged(denominator='retrieved')@9 RBP(gain='graded')@3"
    " HitRatio(average='micro',denominator='relevant_retrieved')@2"
)


@pytest.mark.parametrize("measure", [*CUT, *CUT_VARIANTS.split()])
def test_below_the_cutoff_the_order_of_documents_changes_nothing(measure):
    """Only the documents above it are put in order, unless another measure needs all of them."""
    rng = np.random.default_rng(4)
    labels, scores = rng.integers(0, 4, (60, 12)), rng.integers(0, 6, (60, 12)) / 7

    alone = fr.evaluate_labels(labels, scores, measure)
    beside = fr.evaluate_labels(labels, scores, [measure, "map"])

    for name in alone.names:
        np.testing.assert_array_equal(alone[name], beside[name])
    np.testing.assert_equal({name: beside.mean[name] for name in alone.mean}, alone.mean)


@examples(100)
@given(st.integers(0, 2**32), LONGER, st.integers(1, 70), VERSIONS, st.sampled_from(KINDS))
def test_the_first_documents_are_those_of_the_whole_ranking(seed, width, k, version, kind):
    rng = np.random.default_rng(seed)
    given = rng.integers(0, 10, width), _scores(rng, width, kind)
    names, options = f"P.{k} ndcg_cut.{k}", {"group_sizes": [width], "trec_eval_version": version}

    alone = fr.evaluate_labels(*given, names, **options).mean
    beside = fr.evaluate_labels(*given, f"{names} map", **options).mean

    assert alone.items() <= beside.items()


# Forms of labels and scores

LABELS = np.array([[2, 0, 1], [0, 1, 0]])
SCORE_ROWS = np.array([[0.5, 0.75, 0.25], [3, 2, 1]])
EXPECTED = fr.evaluate_labels(LABELS, SCORE_ROWS, "all_trec").mean


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("score", ["float16", "float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_memory_orders_make_no_difference(kind, score, order):
    labels = LABELS.astype(kind, order=order)
    scores = SCORE_ROWS.astype(score, order=order)

    assert fr.evaluate_labels(labels, scores, "all_trec").mean == EXPECTED


def values(labels: Any, scores: Any, measures: Any = "map", **options: Any) -> fr.Scores:
    return fr.evaluate_labels(labels, scores, measures, **options)


def ranking(labels: Any, scores: Any, **options: Any) -> str:
    """The labels of one query in the order of its ranking."""
    return str(values([labels], [scores], "relstring", **options)["relstring"][0])


FLAT = LABELS.ravel().tolist(), SCORE_ROWS.ravel().tolist(), "all_trec"
# What stands where there is no document has no meaning: a label of -1, a score that is no number.
HOLES = np.insert(LABELS, [0, 2], -1, axis=1), np.insert(SCORE_ROWS, [0, 2], np.nan, axis=1)
ELEVEN = [[1]] * 11, [[1.0]] * 11
BA = values([[0, 1], [1, 0]], [[2, 1], [2, 1]], queries=["b", "a"])
WITH_EMPTY = values([1, 0, 1], [1, 2, 3], group_sizes=[0, 2, 0, 1], queries=list("badc"))
PADDED = np.array([[1, 0, -1], [0, -1, -1]])
MASK: Any = {"mask": PADDED >= 0, "ties": "average", "no_relevant": "skip"}
MASKED = values(PADDED, np.ones((2, 3)), "recip_rank num_ret", **MASK)


UNEVEN = [[0, 1], [2, 0, 1], []], [[0.5, 0.25], [1, 3, 2], []]


def in_objects(rows: Any) -> Any:
    return np.array(rows, object)


def read_only(*rows: Any) -> Any:
    found = np.array(rows)
    found.flags.writeable = False
    return found


MAYBE_IDS = [1, 0, 0, 1, 0, 1], [0.9, 0.5, 0.6, 0.3, 0.2, 0.8], "RR"

test_values_of_labels_are_as_described = giving("""
# equal scores rank in the given order
ranking([3, 1, 2, 4], [1.0, 1.0, 2.0, 1.0]) => "2314"
# single-precision ties exist for 9.0.8 only
ranking([1, 2], [1.0, 1.0 + 2e-8]) => "12"
ranking([1, 2], [1.0, 1.0 + 2e-8], trec_eval_version="10.0") => "21"
# only the best documents count under a cut
ranking([1, 2, 3], [1.0, 2.0, 3.0], depth=2) => "32"
# flat labels are cut by offsets or by group sizes
values(*FLAT, offsets=[0, 3, 6]).mean => EXPECTED
values(*FLAT, group_sizes=[3, 3]).mean => EXPECTED
# places without a document are masked
values(*HOLES, "all_trec", mask=HOLES[0] >= 0).mean => EXPECTED
# truth values are labels
values([[False, True]], [[2, 1]]).mean => {"map": 0.5}
# queries come out in the byte order of their ids or in row order
values(*ELEVEN).queries => [str(i) for i in range(11)]
values(*ELEVEN, queries=range(11)).queries => sorted(str(i) for i in range(11))
# named queries keep their values
BA.to_dict() => {"a": {"map": 1.0}, "b": {"map": 0.5}}
# a query without relevant documents counts as zero
values([[0, 0], [1, 0]], [[2, 1], [2, 1]], "ndcg").mean => {"ndcg": 0.5}
# a query without documents is counted neither as judged nor as one without a relevant document
WITH_EMPTY.queries => ["a", "c"]
(WITH_EMPTY.counts["no_relevant_queries"], WITH_EMPTY.counts["missing_queries"]) => (0, 0)
# one document is one query either way
values([1], [0.5], "RR", group_sizes=[1]).mean => {"RR": 1.0}
values([1], [0.5], "RR", query_ids=[1]).mean => {"RR": 1.0}
# places under a mask hold no tied documents
MASKED.to_dict() => {"0": {"recip_rank": 0.75, "num_ret": 2.0}}
# rows of different lengths may stand in an array
values(*map(in_objects, UNEVEN)).mean => values(*UNEVEN).mean
# read-only labels are taken
values(read_only([1, 0]), read_only([0.5, 0.5]), ties="worst").mean => {"map": 0.5}
""")


def flat(**options: Any) -> Any:
    return values([1, 0], [1, 2], **options)


NAN, SHAPE_2 = float("nan"), np.array([[0, 1]])
FLOAT_IDS = np.array([0.0, 1.0])
LARGE = [0, 1, 0, 2**50], [1, 2, 3, 4]
OFFSETS = {"offsets": [0, 1, 2, 2, 4], "no_relevant": "skip"}
NO_ROWS, NO_COLUMNS = np.zeros((0, 3), int), np.zeros((3, 0), int)

test_bad_input_is_named = refusing(r"""ArrayError
# a label is a grade of at least 0
values([[1, 0], [1, -1]], [[1, 2], [1, 2]]) =>
  labels[1, 1]: expected at least 0 (see mask=), found -1
values([[1, -0.5]], [[1, 2]]) => labels[0, 1]: expected at least 0 (see mask=), found -0.5
values([[1, NAN]], [[1, 2]]) => labels[0, 1]: expected a grade, found NaN
values([["a"]], [[1.0]]) => labels: expected integers, found <U1
values([[1, 0], [-1]], [[1, 2], [1]]) => labels[1, 0]: expected at least 0 (see mask=), found -1
values([[1, 2**50]], [[1, 2]]) => labels[0]: a label is too large to count by grade
# a label is named by the row of its query, whatever is empty before it
values([1, 0, 2**50], [1, 2, 3], "ndcg", group_sizes=[0, 2, 0, 1]) =>
  labels[3]: a label is too large to count by grade
# scores are numbers in the shape of the labels
values([[1, 0], [1]], [[1, 2], [1, 2]]) => scores[1]: expected 1 columns as labels has, found 2
values([[1, 0], [1]], [[1, 2]]) => scores: expected 2 rows as labels has, found 1
values([[1, 0]], [[1, NAN]]) => scores[0, 1]: expected a number, found nan
values([[1, 0]], [[1]]) => scores: expected the shape of labels (1, 2), found (1, 1)
# flat labels say which belong together, in one way
values([1, 0], [1, 2]) =>
  labels: expected a table ..., or a flat array with query_ids=, group_sizes= or offsets=, found ...
values([[1, 0]], [[1, 2]], group_sizes=[2]) =>
  labels: expected a one-dimensional array, found shape (1, 2)
flat(group_sizes=[2], offsets=[0, 2]) => group_sizes: expected group_sizes or offsets, found both
flat(group_sizes=[2], query_ids=[0, 0]) => query_ids: expected query_ids or group_sizes, found both
flat(queries=["a"], query_ids=[0, 0]) => queries: expected query_ids or queries, found both
flat(offsets=[0, 2], mask=[True, True]) =>
  mask: flat labels use query_ids, group_sizes or offsets, not a mask
flat(groups=[2]) =>
  TypeError: evaluate_labels() got an unexpected keyword argument 'groups'; query_ids= takes the
  query id of each label, group_sizes= the number of labels of each query
# group sizes
flat(group_sizes=[1]) =>
  group_sizes: expected a sum of 2, one per label, found 1; query_ids= takes the query id of each
  label
flat(group_sizes=[3, -1]) => group_sizes[1]: expected at least 0, found -1
flat(group_sizes=[1.0, 1.0]) => group_sizes: expected integers, found float64
values(*MAYBE_IDS, group_sizes=[0, 0, 1, 1, 2, 2]) =>
  group_sizes: expected the number of labels of each query, found 6 numbers for as many labels,
  which could be ids; query_ids= takes the query id of each label, offsets= takes sizes of which
  some are 0
# query ids
values([1, 0, 1], [1, 2, 3], query_ids=[2, 1]) =>
  query_ids: expected 3, one per label, found 2; group_sizes= takes the number of labels of each
  query
flat(query_ids=[0, None]) => query_ids[1]: expected an id, found a missing value
flat(query_ids=[0, "0"]) => query_ids[1]: '0' and 0 are the same id as text; use ids of one type
flat(query_ids=FLOAT_IDS) =>
  query_ids[0]: expected an id, found the float 0.0; use integers or strings ...
flat(query_ids=SHAPE_2) => query_ids: expected a one-dimensional array, found shape (1, 2)
# offsets
flat(offsets=[0, 1]) => offsets[1]: expected the number of labels, 2, as the last offset, found 1
flat(offsets=[1, 2]) => offsets[0]: expected 0 as the first offset, found 1
flat(offsets=[0, 2, 1, 2]) => offsets[2]: expected ascending offsets, found 1 after 2
# a mask is of truth values
values([[1, 0]], [[1, 2]], mask=[[1, 1]]) =>
  mask: expected bools of the shape of labels (1, 2), found int64 (1, 2)
# queries have an id each
values([[1, 0]], [[1, 2]], queries=["a", "b"]) =>
  queries: expected 1, one per query of labels, found 2
# no documents are no queries
values(NO_ROWS, NO_ROWS) => NoQueriesError: there are no judged queries
values(NO_COLUMNS, NO_COLUMNS) => NoQueriesError: there are no judged queries
# labels cannot be ordered by ids
values([[1, 0]], [[1, 1]], ties="docno_desc") =>
  OptionError: ties: expected one of 'given', 'best', 'worst', 'average', found 'docno_desc';
  labels have no document ids to sort by
values([[1, 0]], [[1, 1]], ties="docno_asc") => OptionError: ties: ... found 'docno_asc'; labels ...
values([[1, 0]], [[1, 1]], ties="random") =>
  OptionError: ties: expected one of 'given', 'best', 'worst', 'average', found 'random'
# a label too large to count is named by its row, whatever was left out before it
values(*LARGE, **OFFSETS, ties="given") => labels[3]: a label is too large to count by grade
values(*LARGE, **OFFSETS, ties="best") => labels[3]: a label is too large to count by grade
""")


@pytest.mark.parametrize("sizes", [[0, 0, 1, 1, 2, 2], [1] * 6, [0, 1, 2, 0, 1, 2]])
def test_where_sizes_could_be_ids_the_remedies_that_the_message_names_both_work(sizes):
    with pytest.raises(
        ArrayError, match="of each query, found 6 numbers for as many labels, which"
    ):
        values(*MAYBE_IDS, group_sizes=sizes)
    assert values(*MAYBE_IDS, query_ids=sizes).counts["retrieved"] == 6
    assert values(*MAYBE_IDS, offsets=np.cumsum([0, *sizes])).counts["retrieved"] == 6


# Query ids


ROWS = st.tuples(st.sampled_from("cabd"), st.integers(0, 3), st.integers(0, 5))


@examples(100)
@given(
    st.lists(ROWS, min_size=1),
    st.sampled_from([list, np.array, lambda ids: np.array(ids, object), tuple]),
)
def test_documents_belong_to_the_query_that_their_id_names(rows, kind):
    """In any order: as the same documents query by query, whose queries come in byte order."""
    queries = sorted({query for query, _, _ in rows})
    lists = [[row for row in rows if row[0] == query] for query in queries]
    columns = [[[row[at] for row in own] for own in lists] for at in (1, 2)]
    expected = values(*columns, "map ndcg num_ret", queries=queries)
    ids, labels, scores = map(list, zip(*rows, strict=True))

    found = values(labels, scores, "map ndcg num_ret", query_ids=kind(ids))

    assert found.queries == queries
    assert found.to_dict() == expected.to_dict()
    assert found.mean == expected.mean


def arrow() -> Any:
    return pytest.importorskip("pyarrow")


def pandas(ids: Any, **options: Any) -> Any:
    return pytest.importorskip("pandas").Series(ids, **options)


ID_TYPES: dict[str, Any] = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "numpy": np.array,
    "uint64": lambda ids: np.array(ids, "uint64"),
    "bytes": lambda ids: np.array(ids, "S3"),
    "masked": np.ma.array,
    "pandas with an index": lambda ids: pandas(ids, index=range(6, 0, -1)),
    "pandas Int64": lambda ids: pandas(ids, dtype="Int64"),
    "pandas category": lambda ids: pandas(ids, dtype="category"),
    "pandas texts": lambda ids: pandas(map(str, ids)),
    "polars": lambda ids: pytest.importorskip("polars").Series(ids),
    "polars texts": lambda ids: pytest.importorskip("polars").Series([str(one) for one in ids]),
    "arrow": lambda ids: arrow().array(ids),
    "arrow in chunks": lambda ids: arrow().chunked_array([ids[:2], ids[2:]]),
    "torch": lambda ids: pytest.importorskip("torch").tensor(ids),
}


@pytest.mark.parametrize("kind", ID_TYPES)
def test_query_ids_may_be_of_any_type(kind):
    labels, scores = [0, 1, 1, 0, 1, 0], [0.9, 0.8, 0.3, 0.9, 0.1, 0.5]

    found = values(labels, scores, "RR", query_ids=ID_TYPES[kind]([20, 3, 20, 3, 3, 100]))

    assert (found.queries, found["RR"].tolist()) == (["100", "20", "3"], [0.0, 0.5, 0.5])


def test_query_ids_are_the_indexes_of_torchmetrics():
    torch = pytest.importorskip("torch")
    retrieval = pytest.importorskip("torchmetrics.retrieval")
    rng = np.random.default_rng(5)
    ids, labels = rng.integers(0, 20, 200), rng.integers(0, 2, 200)
    scores = rng.permutation(200) / 200
    given = torch.tensor(scores), torch.tensor(labels)

    found = fr.evaluate_labels(labels, scores, "RR AP", query_ids=ids).mean

    theirs = retrieval.RetrievalMRR()(*given, indexes=torch.tensor(ids))
    assert found["RR"] == pytest.approx(float(theirs), rel=1e-6)
    theirs = retrieval.RetrievalMAP()(*given, indexes=torch.tensor(ids))
    assert found["AP"] == pytest.approx(float(theirs), rel=1e-6)


def test_query_ids_are_the_group_id_of_catboost():
    utils = pytest.importorskip("catboost.utils")
    rng = np.random.default_rng(7)
    ids = np.repeat([7, 3, 9, 1], [5, 8, 2, 6])
    labels, scores = rng.integers(0, 2, 21), rng.permutation(21) / 21

    found = fr.evaluate_labels(labels, scores, "RR", query_ids=ids).mean

    theirs = utils.eval_metric(labels, scores, "MRR", group_id=ids)
    assert found["RR"] == pytest.approx(theirs[0])


# The same as a run

GROUPS = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([*SCORES, 0.25, 0.75])), max_size=40),
    min_size=1,
    max_size=4,
)


def padded(rows: list[list[Any]]) -> Any:
    width = max(map(len, rows)) + 1
    return np.array([row + [-1] * (width - len(row)) for row in rows])


def in_one(rows: list[list[Any]]) -> Any:
    return np.array([own for row in rows for own in row])


# How rows are given, and how it is said which labels belong to a query.
ARRANGED: dict[str, tuple[Any, Any]] = {
    "lists": (list, lambda rows, _: {}),
    "tuples": (tuple, lambda rows, _: {}),
    "padded": (padded, lambda rows, _: {"mask": padded(rows) >= 0}),
    "offsets": (in_one, lambda rows, _: {"offsets": [0, *accumulate(map(len, rows))]}),
    "sizes": (in_one, lambda rows, _: cut(list(map(len, rows)))),
    "ids": (in_one, lambda rows, names: {"query_ids": np.repeat(names, list(map(len, rows)))}),
}


WAYS = st.fixed_dictionaries(
    {"ties": st.sampled_from(TIES[2:])},
    optional={
        "no_relevant": st.sampled_from(["zero", "skip", "error"]),
        "depth": st.just(2),
        "trec_eval_version": st.just("10.0"),
        "relevance_level": st.sampled_from([2, 0.5]),
    },
)


@pytest.mark.parametrize("form", ARRANGED)
@given(GROUPS.filter(any), WAYS, st.booleans(), st.sampled_from([1, 0.5]), st.booleans())
@examples(25)
def test_labels_give_what_the_same_run_gives(form, groups, how, named, scale, are_scored):
    """With made-up ids, in the given order; without scores the documents are a ranking."""
    names = (["c", "a", "d", "b"] if named else ["0", "1", "2", "3"])[: len(groups)]
    labels = [[scale * label for label, _ in own] for own in groups]
    scores = [[own[1] if are_scored else -i for i, own in enumerate(row)] for row in groups]
    ids = [[f"d{i}" for i in range(len(own))] for own in groups]
    case = Case(
        names,
        [dict(zip(*pair, strict=True)) for pair in zip(ids, labels, strict=True)],
        [list(zip(*pair, strict=True)) for pair in zip(ids, scores, strict=True)],
    )
    measures = case.measures(**how)
    expected = outcome(fr.evaluate, case.qrels(), case.nouns()[1], measures, **how)
    arrange, options = ARRANGED[form]
    if named and form != "ids":
        how = {**how, "queries": names}
    own_scores = arrange(scores) if are_scored else None

    found = outcome(
        fr.evaluate_labels, arrange(labels), own_scores, measures, **options(labels, names), **how
    )

    assert_same(found, expected)


# Labels and scores that have changed places


@pytest.mark.parametrize("measures", ["RR", "ERR RR", "RR ERR@2", "RR gm_map", "official RR"])
def test_a_measure_has_its_expected_value_whatever_the_others_are(measures):
    scores = fr.evaluate_labels([[1, 0, 0]], [[1.0, 1.0, 1.0]], measures)

    assert scores["RR"].tolist() == pytest.approx([(1 + 1 / 2 + 1 / 3) / 3])
    assert scores.mean["RR"] == pytest.approx(11 / 18)


def test_a_measure_without_an_expected_value_is_as_given_with_a_note():
    scores = fr.evaluate_labels([[1, 0, 0]], [[1.0, 1.0, 1.0]], "RR ERR")

    # The first is satisfied with 1 - 1/2; ERR of ranks 1 and 3 are 1/2 and 1/6.
    assert scores.mean["ERR"] == 0.5
    assert "ERR depends on tied scores: 0.1667 to 0.5000, here 0.5000; ties=" in str(scores)


FOUND = np.random.default_rng(3).random((4, 8))
BINARY = (FOUND > 0.5).astype(int)


@pytest.mark.parametrize("kind", [int, float, np.int8])
@pytest.mark.parametrize("scores", [FOUND, FOUND.round(2), FOUND * 4])
def test_labels_that_have_probably_changed_places_cause_a_warning(kind, scores):
    labels = (FOUND > 0.5).astype(kind)

    with pytest.warns(
        UserWarning, match="the labels have fractions, .*are labels and scores swapped"
    ) as warned:
        fr.evaluate_labels(scores, labels, "map")
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match="are labels and scores swapped"):
        fr.evaluate_labels(scores.ravel(), labels.ravel(), "map", group_sizes=[8] * 4)
    # In their places there is no warning, which would be an error.
    fr.evaluate_labels(labels, scores, "map")


UNSUSPICIOUS = {
    "zeros": (FOUND, np.zeros((4, 8))),
    "one fraction": (FOUND, np.full((4, 8), 0.5)),
    "different numbers": (FOUND, np.arange(32).reshape(4, 8)),
    "ranks": (FOUND, np.argsort(FOUND)),
    "labels above 1": (FOUND.round(1) * 5, BINARY),
    "negative scores": (FOUND, -np.ones((4, 8), int)),
    "infinite scores": (FOUND, np.where(FOUND < 0.5, -np.inf, np.inf)),
    "no scores": (FOUND, None),
    "halves": (np.floor(FOUND * 4) / 2, BINARY),
    "whole labels": (np.floor(FOUND * 4), BINARY),
}


@pytest.mark.parametrize("case", UNSUSPICIOUS)
def test_labels_with_fractions_and_equal_or_other_scores_cause_none(case):
    assert values(*UNSUSPICIOUS[case], "ndcg").mean["ndcg"] > 0
