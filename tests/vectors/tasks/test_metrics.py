"""Metrics of tasks are those of scikit-learn, scipy and official scripts."""

import math

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import fastrank as fr
from fastrank.errors import ArrayError, OptionError
from fastrank.vectors.tasks.results import _interval as mean_interval
from fastrank.vectors.tasks.ulysses_protocol import MeanIntervals
from tests.helpers.probe_inputs import recorded_values, samples
from tests.helpers.strategies import examples

metrics = pytest.importorskip("sklearn.metrics")

numbers = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1)
words = st.lists(st.tuples(*[st.sampled_from(["a", "b", "ä", "10", "9"])] * 2), min_size=1)
labeled = numbers | words
AVERAGED = ("precision", "recall", "f1")


def columns_of(pairs):
    return [list(column) for column in zip(*pairs, strict=True)]


# Predicted labels


@pytest.mark.filterwarnings("ignore:A single label was found")
@given(labeled)
@examples(100)
def test_metrics_of_labels_equal_scikit_learn(pairs):
    given = columns_of(pairs)
    assert fr.tasks.accuracy(*given) == metrics.accuracy_score(*given)
    assert fr.tasks.matthews(*given) == metrics.matthews_corrcoef(*given)
    for name in AVERAGED:
        for average in ("macro", "weighted"):
            expected = getattr(metrics, f"{name}_score")(*given, average=average, zero_division=0)
            assert getattr(fr.tasks, name)(*given, average=average) == expected


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1))
@examples(60)
def test_the_positive_class_alone_equals_scikit_learn(pairs):
    given = columns_of(pairs)
    for name in AVERAGED:
        expected = getattr(metrics, f"{name}_score")(*given, zero_division=0)
        assert getattr(fr.tasks, name)(*given) == expected


@given(numbers)
@examples(60)
def test_absent_classes_are_skipped_by_default_and_count_as_in_scikit_learn_on_request(pairs):
    given, classes = columns_of(pairs), [6, *range(5)]
    expected = metrics.f1_score(*given, labels=classes, average="macro", zero_division=0)
    found = fr.tasks.f1(*given, average="macro", classes=classes, count_absent=True)
    assert found == pytest.approx(expected, rel=1e-15)
    found = fr.tasks.f1(*given, average="macro", classes=range(9))
    assert found == pytest.approx(fr.tasks.f1(*given, average="macro"), rel=1e-15)


def test_matthews_does_not_overflow():
    truth = numpy.arange(400_000) % 2
    predicted = numpy.where(numpy.arange(400_000) % 8 == 0, 1 - truth, truth)
    assert fr.tasks.matthews(truth, predicted) == pytest.approx(0.7745966692414834, rel=1e-12)


@pytest.mark.parametrize(
    ("labels", "predictions", "classes", "value"),
    [
        pytest.param([0, 1, 2, 3], [0, 0, 0, 0], None, 0.0, id="chance"),
        pytest.param([0, 1, 2, 3], [0, 1, 2, 3], None, 1.0, id="best"),
        pytest.param([0, 1], [0, 1], [0, 1, 2], 1.0, id="best with an absent class"),
        pytest.param([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2], (0.5 - 1 / 3) / (2 / 3), id="absent"),
    ],
)
def test_adjusted_f1_counts_absent_classes_as_classes(labels, predictions, classes, value):
    found = fr.tasks.adjusted_f1(labels, predictions, classes=classes)
    assert found == pytest.approx(value, rel=1e-15, abs=0)


# Scores and their thresholds

tied = st.sampled_from([-1.5, -0.25, -0.0, 0.0, 0.125, 0.1, 0.75])
scored = st.lists(st.tuples(st.integers(0, 1), tied | st.floats(-10, 10, width=32)), min_size=1)
kinds = st.sampled_from(["float32", "float64"])


def labels_and_scores(rows, kind):
    assume(any(label for label, _ in rows))
    labels, scores = zip(*rows, strict=True)
    return numpy.array(labels), numpy.array(scores, kind)


def cuts_of(labels, scores):
    """A threshold between each two adjacent scores, descending, and its predictions."""
    values = numpy.unique(scores)[::-1]
    cuts = []
    for value, below in zip(values, [*values[1:], None], strict=True):
        middle = value if below is None else (value + below) / 2
        cuts.append((value if middle == below else middle, (scores >= value).astype(int)))
    return cuts


@given(scored, kinds)
@examples(200)
def test_average_precision_equals_scikit_learn(rows, kind):
    labels, scores = labels_and_scores(rows, kind)
    expected = metrics.average_precision_score(labels, scores)
    assert fr.tasks.average_precision(labels, scores) == expected


@given(scored, kinds, st.booleans())
@examples(200)
def test_best_f1_is_that_of_the_best_threshold(rows, kind, extremes):
    labels, scores = labels_and_scores(rows, kind)
    cuts = cuts_of(labels, scores)[: None if extremes else -1]
    found = fr.tasks.best_f1(labels, scores, extremes=extremes)
    if not cuts:
        assert numpy.isnan(found.threshold)
        assert found[1:] == (0.0,) * 5
        return
    best = max(fr.tasks.f1(labels, predicted) for _, predicted in cuts)
    assert found.f1 == pytest.approx(best, rel=1e-15)
    predicted = (scores >= numpy.array(found.threshold, kind)).astype(int)
    assert found.f1 == pytest.approx(fr.tasks.f1(labels, predicted), rel=1e-15)
    for name in ("precision", "recall", "accuracy", "matthews"):
        assert getattr(found, name) == getattr(fr.tasks, name)(labels, predicted)


@given(scored, kinds, st.booleans())
@examples(200)
def test_best_accuracy_is_that_of_the_highest_best_threshold(rows, kind, extremes):
    labels, scores = labels_and_scores(rows, kind)
    above = numpy.nextafter(scores.max(), scores.dtype.type(numpy.inf))
    none = [(above, numpy.zeros_like(labels))]
    cuts = none + cuts_of(labels, scores) if extremes else cuts_of(labels, scores)[:-1]
    values = [fr.tasks.accuracy(labels, predicted) for _, predicted in cuts]
    found = fr.tasks.best_accuracy(labels, scores, extremes=extremes)
    if not cuts:
        assert numpy.isnan(found.threshold)
        return
    assert found.accuracy == max(values)
    assert found.threshold == cuts[values.index(max(values))][0]


def test_a_rounded_middle_does_not_include_the_next_score():
    scores = numpy.array([numpy.nextafter(1.0, 2.0), 1.0])
    assert fr.tasks.best_f1([1, 0], scores).threshold == scores[0]


# Correlations and intervals

CORRELATIONS = {"pearson": "pearsonr", "spearman": "spearmanr"}


@pytest.mark.parametrize("name", CORRELATIONS)
def test_correlations_equal_scipy_and_are_not_defined_for_a_constant(name):
    rng, correlation = numpy.random.default_rng(0), getattr(fr.tasks, name)
    x, y = rng.integers(0, 500, 5000), rng.standard_normal(5000).round(2)
    assert correlation(x, y) == getattr(stats, CORRELATIONS[name])(x, y).statistic
    assert numpy.isnan(correlation([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]))
    # Numbers that are nearly constant cause no warning.
    assert 0.5 < correlation([1.0, 1.0, 1.0 + 3e-16], [1.0, 2.0, 3.0]) < 1.0


def test_pearson_of_large_numbers_does_not_overflow():
    assert fr.tasks.pearson([-5e210, 5e210, 3e200], [1.0, 2.0, 1.5]) == pytest.approx(1.0)


@pytest.mark.parametrize("place", range(len(samples())))
def test_intervals_of_means_equal_those_of_scipy(place):
    values, seed = samples()[place]
    expected = recorded_values()["intervals"][place]
    assert MeanIntervals(seed).interval(values) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_equal_values_have_no_interval():
    assert all(map(math.isnan, MeanIntervals(1).interval(samples()[-1][0])))


@pytest.mark.parametrize(
    ("value", "expected"), [(1.0, (0.025**0.1, 1.0)), (0.0, (0.0, 1 - 0.025**0.1)), (0.5, None)]
)
def test_equal_values_have_the_interval_of_a_share_or_none(value, expected):
    """That of Clopper and Pearson, for ten of ten."""
    assert mean_interval([value] * 10) == (expected and pytest.approx(expected))


# Answers and losses

# By SQuAD's official script.
ANSWERS = [
    (["Denver Broncos"], "The Denver Broncos!", 1.0, 1.0),
    (["a Rhine-river", "Danube"], "the river Danube, Danube", 0.0, 0.5),
    (["gold theme", "golden anniversary"], "golden  gold anniversary", 0.0, 0.8),
    (["The\u2013the"], "\u2013", 1.0, 1.0),
    (["3,5"], "35 a", 1.0, 1.0),
    (["1900"], "twelve", 0.0, 0.0),
]


@pytest.mark.parametrize(("place", "name"), [(2, "exact_match"), (3, "token_f1")])
def test_values_of_answers_are_those_of_the_official_script(place, name):
    metric, values = getattr(fr.tasks, name), [row[place] for row in ANSWERS]
    assert [metric([row[0]], [row[1]]) for row in ANSWERS] == values
    answers, predictions = ([row[i] for row in ANSWERS] for i in (0, 1))
    assert metric(answers, predictions) == sum(values) / len(values)
    # No answer is right where there is none.
    assert metric([[], [], ["the", "Oslo"]], ["", "Oslo", "the"]) == 1 / 3


@pytest.mark.parametrize("name", ["exact_match", "token_f1"])
def test_answers_and_predictions_are_matched_by_question(name):
    metric = getattr(fr.tasks, name)
    answers, predictions = {"q1": ["Oslo"], "q2": ["Rome"]}, {"q2": "Rome", "q1": "Bergen"}
    assert metric(answers, predictions) == 0.5
    with pytest.raises(ArrayError, match=r"predictions: 1 question missing: 'q2'; \"\" is no"):
        metric(answers, {"q1": "Oslo"})
    with pytest.raises(ArrayError, match=r"answers: 1 question missing: 'q2'; \[\] has none"):
        metric({"q1": ["Oslo"]}, predictions)
    with pytest.raises(ArrayError, match="predictions: expected a mapping from question"):
        metric(answers, ["Oslo", "Rome"])


def test_predictions_may_have_one_column():
    column = numpy.array([[1.0], [0.0], [1.0]])
    assert fr.tasks.accuracy([1, 0, 0], column) == 2 / 3
    assert fr.tasks.spearman([3, 1, 2], column) == fr.tasks.spearman([3, 1, 2], column[:, 0])


def test_the_hinge_loss_is_that_of_scikit_learn():
    random = numpy.random.default_rng(0)
    labels, scores = random.integers(0, 2, 50), random.normal(size=50) * 2
    expected = metrics.hinge_loss(labels, scores)
    assert fr.tasks.hinge_loss(labels, scores) == pytest.approx(expected, rel=1e-15)
    signs = [1 if label else -1 for label in labels]
    assert fr.tasks.hinge_loss(signs, scores) == fr.tasks.hinge_loss(labels, scores)


def test_the_categorical_hinge_loss_is_that_of_keras():
    """max(0, 1 + max((1 - y) * p) - sum(y * p)), whose maximum has a 0."""
    rng = numpy.random.default_rng(3)
    labels, scores = rng.integers(0, 4, 50), rng.normal(size=(50, 4))
    one_hot = numpy.eye(4)[labels]
    highest = ((1 - one_hot) * scores).max(axis=1)
    expected = numpy.maximum(0, 1 + highest - (one_hot * scores).sum(axis=1)).mean()
    found = fr.tasks.categorical_hinge_loss(labels, scores)
    assert found == pytest.approx(expected, rel=1e-14)


def test_the_rank_hinge_loss_is_that_of_matchzoo():
    # The example in its docstring; with two negatives, their mean counts.
    assert fr.tasks.rank_hinge_loss([1.0, 0.8], [1.2, 1.4]) == pytest.approx(1.4, rel=1e-15)
    assert fr.tasks.rank_hinge_loss([1.0, 5.0], [[1.0, 2.0], [0.0, 8.0]]) == (1.5 + 0.0) / 2
    assert fr.tasks.rank_hinge_loss([1.0], [0.5], margin=0.25) == 0.0


@pytest.mark.parametrize(
    ("rankings", "depth", "recorded"),
    [
        (["0101100100", "1100000001", "0000"], 10, 0.7178571428571427),
        (["01", "001"], 10, 0.85),
        (["000000000011", "111111111111"], 10, 0.696024531024531),
        (["10100", "01"], 3, 0.7222222222222222),
    ],
)
def test_average_recall_is_that_of_the_official_scorer_of_semeval(rankings, depth, recorded):
    labels = [[int(label) for label in ranking] for ranking in rankings]
    assert fr.tasks.average_recall(labels, depth=depth) == pytest.approx(recorded, rel=1e-15)


# Errors

NAN, INF = numpy.nan, numpy.inf
MACRO = {"average": "macro"}
BY_CLASS = "classes: only for average='macro'"
TYPES = "predictions: expected labels of the same type as in labels"


@pytest.mark.parametrize(
    ("name", "given", "options", "message"),
    [
        ("accuracy", ([0, 1], [0]), {}, "predictions: expected 2 values, as in labels, found 1$"),
        ("accuracy", ([], []), {}, "labels: expected at least one value, found none$"),
        ("accuracy", ([0, "a"], [0, 1]), {}, "labels: .* labels of one type, found int, str$"),
        ("accuracy", (["0", "1"], [0, 1]), {}, f"{TYPES}$"),
        ("accuracy", ([0.0, NAN], [0, 1]), {}, r"labels\[1\]: the label is NaN$"),
        ("accuracy", ([0, None], [0, 1]), {}, "labels: expected labels that are numbers or str$"),
        ("accuracy", ([[0, 1], [1, 1]], [0, 1]), {}, "labels: expected one dimension, found 2$"),
        ("f1", ([0, 1], [0, 1]), {"average": "micro"}, "average: expected one of"),
        ("f1", ([0, 1], [0, 1]), {"classes": [0, 1]}, BY_CLASS),
        ("f1", (["a", "b"], ["a", "b"]), {}, ".*the positive class 1 does not appear"),
        ("f1", ([0, 1], [0, 1]), {**MACRO, "classes": [0, 2]}, ".*the class 1 .* is missing"),
        ("f1", ([0, 1], [0, 1]), {**MACRO, "classes": [0, 1, 1]}, ".*expected distinct classes"),
        ("adjusted_f1", ([1, 1], [1, 1]), {}, ".*expected at least two classes, found one"),
        ("average_precision", ([1, 2], [0.1, 0.2]), {}, r"labels\[1\]: .* 0 and 1, found 2$"),
        ("average_precision", (["1", "yes"], [0.1, 0.2]), {}, r"labels\[1\]: .*1, found yes$"),
        ("average_precision", ([0, 0], [0.1, 0.2]), {}, "labels: .* one label 1, found none$"),
        ("average_precision", ([1, 0], [0.1]), {}, "scores: .* 2 values, as in labels, found 1$"),
        ("average_precision", ([1, 0], [0.1, NAN]), {}, r"scores\[1\]: .*finite .*, found nan$"),
        ("spearman", ([1.0], [1.0]), {}, "x: expected at least two values, found one"),
        ("spearman", ([1.0, 2.0], [1.0]), {}, "y: expected 2 values, as in x, found 1"),
        ("spearman", ([1.0, NAN], [1.0, 2.0]), {}, r"x\[1\]: expected a finite .*, found nan"),
        ("spearman", ([1.0, 2.0], [1.0, INF]), {}, r"y\[1\]: expected a finite .*, found inf"),
        ("spearman", ([1.0, "a"], [1.0, 2.0]), {}, r"x\[1\]: expected a .*, found str: 'a'$"),
        ("spearman", ([1.0, None], [1.0, 2.0]), {}, "x: expected numbers, found object"),
        ("spearman", (1.0, [1.0, 2.0]), {}, "x: expected numbers"),
        (
            "spearman",
            ([[1.0, 2.0], [2.0, 1.0]], [1.0, 2.0]),
            {},
            "x: expected one dimension, found 2",
        ),
        ("average_recall", ([[0, 0], []],), {}, "rankings: .* one label 1, found none"),
        ("token_f1", ([["a"]], ["a", "b"]), {}, "predictions: .* 1 values, as in answers, found 2"),
        ("token_f1", (["Oslo"], ["Oslo"]), {}, r"answers\[0\]: .* a list of answers, found 'Oslo'"),
        ("token_f1", ([], []), {}, "answers: expected at least one question, found none"),
        ("categorical_hinge_loss", ([0, 2], [[0.5, 1.0], [1.0, 2.0]]), {}, "labels"),
        ("categorical_hinge_loss", ([0], [[0.5, 1.0], [1.0, 2.0]]), {}, "scores"),
        ("categorical_hinge_loss", ([0], [[0.5, NAN]]), {}, "scores"),
        ("rank_hinge_loss", ([1.0, 2.0], [0.5]), {}, "negatives"),
        ("rank_hinge_loss", ([1.0, 2.0], [[0.5]]), {}, "negatives"),
        ("rank_hinge_loss", ([1.0, 2.0], [[0.5], [NAN]]), {}, "negatives"),
        ("rank_hinge_loss", ([1.0, 2.0], [[1.0], [2.0, 3.0]]), {}, "negatives"),
        ("rank_hinge_loss", ([1.0, 2.0], 0.5), {}, "negatives"),
        ("rank_hinge_loss", ([1.0, 2.0], [[[1.0]], [[1.0]]]), {}, "negatives"),
    ],
)
def test_invalid_input_of_metrics_is_an_error(name, given, options, message):
    error = OptionError if message.startswith(("average:", BY_CLASS)) else ArrayError
    with pytest.raises(error, match=f"^{message}"):
        getattr(fr.tasks, name)(*given, **options)
