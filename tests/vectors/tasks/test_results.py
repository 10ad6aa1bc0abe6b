"""Tables, averages, intervals and comparisons of results."""

import math
import pickle

import pytest

import fastrank as fr
from fastrank.errors import OptionError
from tests.helpers.similar_vectors import make
from tests.helpers.task_cases import CITIES, WORDS, length, letters, tasks_of_all_kinds

pytest.importorskip("faiss")

TASKS = {
    "cities": CITIES,
    "words": fr.Task("similarity", WORDS),
    "more words": fr.Task("similarity", (WORDS[0][::-1], WORDS[1], [1.0, 2.0, 3.0])),
    "triplets": fr.Task("triplets", (*WORDS[:2], ["x", "y", "moles"])),
}


@pytest.fixture(scope="module")
def results():
    return fr.evaluate_tasks({"letters": letters, "length": length}, TASKS)


@pytest.fixture(scope="module")
def one():
    return fr.evaluate_tasks(letters, TASKS)


def test_the_table_of_a_model_has_a_row_per_task(one):
    table = one.table(means=False)
    assert table.names == ["task", "kind", "metric", "score", "low", "high", "rows", "seconds"]
    for row, own in zip(table.rows(), one.scores, strict=True):
        numbers = (own.value, *(own.interval or (None, None)), own.rows, own.seconds)
        assert row == (own.task, own.kind, own.metric, *numbers)


def test_the_table_of_several_models_has_a_column_for_each(results):
    table = results.table(means=False)
    assert table.names == ["task", "kind", "metric", "letters", "length"]
    assert table.columns["length"] == [results[task, "length"].value for task in TASKS]


def test_results_are_a_sequence_of_scores(results):
    assert list(results) == results.scores
    assert len(results) == len(results.scores)


def test_the_best_model_of_a_row_is_bold(results):
    table = results.table()
    lines = table.to_markdown().splitlines()[2:]
    for row, line in enumerate(lines):
        values = [f"{table.columns[name][row]:.4f}" for name in ("letters", "length")]
        for value in values:
            assert (f"**{value}**" in line) == (value == max(values, key=float)), value
    assert "**" not in results.table(bold=False).to_markdown()
    assert (str(results), results._repr_html_()) == (str(table), table.to_html())


@pytest.mark.filterwarnings("ignore:.*(1e-12|probabilities)")
def test_the_lowest_error_is_bold():
    rows = [f"{'o' * (row % 7)}{'e' * (row % 2)}" for row in range(1600)], [0, 1] * 800
    options = {"repetitions": 1, "epochs": 2, "main_score": "loss"}
    task = fr.Task("classification", rows, **options)
    found = fr.evaluate_tasks({"letters": letters, "length": length}, [task])
    assert found["classification", "letters"].value < found["classification", "length"].value
    assert found.table().bold == {(0, 3)}
    with pytest.raises(OptionError, match="lower is better for loss"):
        found.compare()


def test_means_are_over_tasks_and_over_kinds(results):
    values = {name: results[name, "letters"].value for name in TASKS}
    over_tasks = sum(values.values()) / 4
    similarity = (values["words"] + values["more words"]) / 2
    over_kinds = (values["cities"] + similarity + values["triplets"]) / 3

    assert results.mean["letters"] == pytest.approx(over_tasks)
    assert results.kind_means["letters"]["similarity"] == pytest.approx(similarity)
    columns = results.means().columns
    kinds = ["retrieval", "similarity", "triplets", "mean over tasks", "mean over kinds"]
    assert columns["mean"] == kinds
    assert columns["tasks"] == [1, 2, 1, 4, 4]
    for found in (columns, results.table().columns):
        assert found["letters"][-2:] == pytest.approx([over_tasks, over_kinds])


def test_details_have_a_row_per_model_and_task(results):
    table = results.details()
    assert list(zip(table.columns["model"], table.columns["task"], strict=True)) == [
        (model, task) for model in ("letters", "length") for task in TASKS
    ]
    assert table.columns["level"][:2] == [0.95, None]


def test_the_interval_of_a_mean_over_queries_is_that_of_scipy(results):
    from scipy import stats

    score = results["cities", "length"]
    values = list((score.items or {}).values())
    expected = stats.t.interval(0.95, 2, loc=score.value, scale=stats.sem(values))
    assert score.interval == pytest.approx(expected)


def test_the_interval_of_a_perfect_score_is_not_empty(results):
    score = results["cities", "letters"]
    assert score.value == 1.0
    assert score.interval == pytest.approx((0.025 ** (1 / 3), 1.0))


@pytest.mark.filterwarnings("ignore:.*(learning rate|1e-12|probabilities)")
def test_the_interval_of_a_result_is_kept():
    texts = [f"{'a' * (row % 7)}{'e' * (row % 2)}" for row in range(400)]
    task = (texts, [row % 2 for row in range(400)])
    task = fr.Task("classification", task, repetitions=1, epochs=1)
    score = fr.evaluate_tasks(letters, [task])["classification"]
    assert (score.interval, score.level) == (score.result.interval, 0.99)


@pytest.mark.filterwarnings("ignore:.*learning rate")
def test_items_are_the_values_that_the_score_averages():
    model, rows = make("real")
    found = fr.evaluate_tasks(model, tasks_of_all_kinds(model, rows))
    kinds = {score.kind for score in found.scores if score.items is not None}
    assert kinds == {"retrieval", "reranking", "triplets"}
    for score in found.scores:
        if score.items is not None:
            assert math.fsum(score.items.values()) / score.rows == pytest.approx(score.value)
            assert len(score.items) == score.rows


@pytest.mark.parametrize("task", ["cities", "triplets"])
def test_models_are_compared_by_their_items(task, results):
    scores = {model: results[task, model] for model in ("letters", "length")}
    metric = scores["letters"].metric
    found = results.compare(task, test="randomization").pair(metric, "letters", "length")
    items = {model: score.items for model, score in scores.items()}
    expected = fr.compare_scores(items, test="randomization").pair("value", "letters", "length")
    assert (found.p, found.difference) == (expected.p, expected.difference)


def test_models_are_compared_over_tasks(results):
    found = results.compare(test="wilcoxon")
    assert found.queries == sorted(TASKS)
    assert found.mean["value"] == pytest.approx(results.mean)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda results: results.compare("words"), "not a mean over queries or rows; give one"),
        (lambda results: results.compare("word"), "did you mean 'words'"),
        (lambda results: results["words"], "model: expected one of letters, length"),
        (lambda results: results["words", "letter"], "did you mean 'letters'"),
    ],
)
def test_errors(call, reason, results):
    with pytest.raises(OptionError, match=reason):
        call(results)


def test_columns_of_a_table_are_checked(one):
    with pytest.raises(OptionError, match="did you mean 'score'"):
        one.table(columns=["scores"])


def test_results_and_tasks_can_be_pickled(results):
    assert pickle.loads(pickle.dumps(results)).mean == results.mean
    found = fr.evaluate_tasks(letters, [pickle.loads(pickle.dumps(TASKS["words"]))])
    assert found.mean == fr.evaluate_tasks(letters, [TASKS["words"]]).mean
