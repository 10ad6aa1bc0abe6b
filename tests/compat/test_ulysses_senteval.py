"""The interface of ulysses-senteval, against recorded results of the package."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from fastrank.compat.ulysses_senteval import UlyssesSentEval, UlyssesSentEvalLazy
from fastrank.vectors.tasks.ulysses_files import FILES
from tests.helpers.probe_inputs import TASKS, TRAINING, letter_counts, recorded_values, write_tasks

NAMED = r"masked_law_name_in_summaries\.csv \(F1A\), .*oab_second_part\.csv \(F4\), "
SHORT = {"n_repeats": 1, "k_fold": 2, "n_epochs": 1}


class Letters:
    """A model with sentence-transformers' method."""

    calls = 0

    def encode(self, texts, **options):
        assert not options.keys() - {"batch_size"}
        self.calls += 1
        return letter_counts(texts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tasks")
    write_tasks(path, FILES)
    return path


def evaluator(folder, kind=UlyssesSentEval, model=None, **options):
    options = {"tasks": list(TASKS), **options}
    return kind(model or Letters(), data_dir_path=str(folder), **options)


def check(found, recorded):
    means, frame = found
    values = recorded["values"]
    assert list(frame.columns) == list(values)
    for column in values:
        if column == "value":
            # Features that are absent from the training rows cause large losses.
            np.testing.assert_allclose(frame[column], values[column], rtol=1e-6, atol=1e-5)
        else:
            assert frame[column].tolist() == values[column]
    assert list(means) == list(recorded["means"])
    for task, expected in recorded["means"].items():
        assert list(means[task]) == list(expected)
        for key, value in expected.items():
            # Some resamples of five values are permutations, whose mean is above or below that of
            # the values by the last bit.
            is_sensitive = key.startswith("ci99") and not key.endswith("metric_test")
            relative, absolute = (0.03, 0) if is_sensitive else (1e-6, 1e-6)
            np.testing.assert_allclose(means[task][key], value, rtol=relative, atol=absolute)
            assert isinstance(means[task][key], float) == isinstance(value, float)


@pytest.mark.filterwarnings("ignore:.*divided by 1e-12")
def test_all_results_equal_the_recorded_ones(folder):
    found = evaluator(folder).evaluate(kwargs_train=TRAINING, return_all_results=True)
    check(found, recorded_values()["eager"])


@pytest.mark.filterwarnings("ignore:.*divided by 1e-12")
def test_results_of_a_model_fitted_on_each_training_part_equal_the_recorded_ones(folder):
    model = TfidfVectorizer(max_features=40)
    lazy = evaluator(folder, UlyssesSentEvalLazy, model, tasks=["T1A", "G3"])
    found = lazy.evaluate(kwargs_train=TRAINING, return_all_results=True)
    check(found, recorded_values()["lazy"])
    assert not hasattr(model, "vocabulary_")


@pytest.mark.filterwarnings("ignore:T1A")
def test_a_task_can_be_evaluated_alone(folder):
    means, frame = evaluator(folder).evaluate_in_task(
        "T1A", kwargs_train=SHORT, kwargs_embed={"batch_size": 8}, return_all_results=True
    )
    assert means["avg_metric_test"] == frame["value"][frame["metric"] == "metric_test"].mean()
    assert "task" not in frame.columns


@pytest.mark.filterwarnings("ignore:T1A")
def test_embed_can_be_overridden(folder):
    class Lengths(UlyssesSentEval):
        def embed(self, X_a, X_b, task, data_split, **kwargs):  # noqa: N803
            assert (X_b, task, data_split, kwargs) == (None, "T1A", "all", {"scale": 2})
            return np.array([[float(len(text))] for text in X_a])

    found = evaluator(folder, Lengths, tasks="T1A").evaluate(
        kwargs_train=SHORT, kwargs_embed={"scale": 2}
    )
    assert set(found) == {"T1A"}


@pytest.mark.filterwarnings("ignore:T1A")
def test_cached_embeddings_are_read_unless_ignored(folder, tmp_path):
    model = Letters()
    options = {"tasks": "T1A", "cache_embed_key": "letters", "cache_dir": str(tmp_path)}
    first = evaluator(folder, model=model, **options).evaluate(kwargs_train=SHORT)
    again = evaluator(folder, model=model, **options)
    assert len([*(tmp_path / "letters").glob("T1A-*.npy")]) == 1
    assert str(again.evaluate(kwargs_train=SHORT)) == str(first)
    assert model.calls == 1
    again.evaluate(kwargs_train=SHORT, ignore_cached=True)
    assert model.calls == 2


@pytest.mark.filterwarnings("ignore:T1A")
def test_cached_embeddings_of_other_texts_are_not_used(tmp_path):
    write_tasks(tmp_path, FILES)
    options = {"tasks": "T1A", "cache_embed_key": "key", "cache_dir": str(tmp_path / "cache")}
    evaluator(tmp_path, **options).evaluate(kwargs_train=SHORT)
    file = tmp_path / FILES["T1A"]
    content = file.read_text(encoding="utf-8")
    file.write_text(content.replace("a", "e"), encoding="utf-8")
    found = evaluator(tmp_path, **options).evaluate(kwargs_train=SHORT)
    assert str(found) == str(evaluator(tmp_path, tasks="T1A").evaluate(kwargs_train=SHORT))


def test_a_cache_for_a_lazy_model_is_ignored_with_a_warning(folder):
    with pytest.warns(UserWarning, match="cache_embed_key is ignored"):
        made = evaluator(folder, UlyssesSentEvalLazy, TfidfVectorizer(), cache_embed_key="key")
    assert made.cache_dir is None


@pytest.mark.filterwarnings("ignore:.*learning rate")
def test_arguments_are_not_modified(folder):
    options = {**SHORT, "n_processes": 1}
    evaluator(folder, tasks=["F3", "G3"]).evaluate(kwargs_train=options)
    assert options == {**SHORT, "n_processes": 1}


@pytest.mark.parametrize(
    ("options", "training", "error", "message"),
    [
        ({"tasks": ["X", "T1A", "T9"]}, {}, ValueError, "unknown 'T9', 'X'; expected 'all' or som"),
        ({"disable_multiprocessing": True}, {"n_processes": 2}, ValueError, "n_processes: cannot "),
        ({}, {"n_epoch": 2}, ValueError, r"kwargs_train: unknown \['n_epoch'\]"),
        # All missing files are counted before any task is evaluated.
        ({"tasks": "all"}, {}, FileNotFoundError, NAMED + r".*trf\S+ \(F5\) and 10 more$"),
    ],
)
def test_tasks_and_options_that_there_are_not_are_listed(options, training, error, message, folder):
    with pytest.raises(error, match=message):
        evaluator(folder, **options).evaluate(kwargs_train=training)


def test_lazy_models_do_not_embed_all_rows(folder):
    made = evaluator(folder, UlyssesSentEvalLazy, TfidfVectorizer())
    with pytest.raises(ValueError, match="not 'all'"):
        made.embed(["a"], None, "T1A", "all")


def test_rows_with_unequal_numbers_of_alternatives_are_told(folder):
    """The package takes their features from other rows, in silence."""
    made = evaluator(folder)
    rows = ["a [SEP] b", "a", "a [SEP] b [SEP] c"]
    with pytest.warns(UserWarning, match="F3: row 1 has 1 alternatives, row 0 2: feat"):
        assert len(made.embed(["a", "b", "c"], rows, "F3", "all")) == 3
