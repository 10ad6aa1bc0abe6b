"""The protocol and tasks of Ulysses SentEval, against recorded values of the package."""

import re
import warnings

import numpy as np
import pytest

import fastrank as fr
from fastrank.errors import InputError, OptionError, ReadError
from fastrank.vectors.tasks.ulysses_files import FILES
from fastrank.vectors.tasks.ulysses_training import adjusted_macro_f1, matthews
from tests.helpers.probe_inputs import CASES, METRIC_CASES, recorded_values, vectors_of, write_tasks

OPTIONS = {"n_repeats": "repetitions", "k_fold": "folds", "n_epochs": "epochs"}
OPTIONS["hidden_dims"] = "hidden"
TOLERANCES = {
    "loss_per_epoch_train": 1e-5,
    "loss_per_epoch_eval": 1e-5,
    "metric_per_epoch_eval": 1e-6,
    "loss_test": 1e-5,
    "metric_test": 1e-6,
}


@pytest.fixture(scope="module")
def recorded():
    return recorded_values()["cases"]


@pytest.fixture(scope="module")
def computed():
    found = {}
    for name, (*_, options) in CASES.items():
        given = {OPTIONS[key]: value for key, value in options.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            vectors, y = vectors_of(name)
            found[name] = fr.tasks.evaluate_classification(vectors, y, name=name, **given)
    return found


def evaluate(vectors, y, **options):
    options = {"repetitions": 1, "epochs": 1, **options}
    return fr.tasks.evaluate_classification(vectors, y, **options)


def series(records, metric):
    pairs = zip(records["metric"], records["value"], strict=True)
    return np.array([value for key, value in pairs if key == metric])


@pytest.mark.parametrize("name", CASES)
def test_every_fold_trains_for_the_recorded_number_of_epochs_with_the_recorded_values(
    name, recorded, computed
):
    expected, found = recorded[name]["values"], computed[name].records
    for column in ("kfold_repetition", "kfold_partition", "train_epoch", "metric"):
        assert found[column] == expected[column]
    # A constant feature causes losses of thousands, with the relative error of float32.
    relative = 1e-6 if name == "constant-feature" else 0
    for metric, absolute in TOLERANCES.items():
        own, other = series(found, metric), series(expected, metric)
        np.testing.assert_allclose(own, other, rtol=relative, atol=absolute, err_msg=metric)


@pytest.mark.parametrize("name", CASES)
def test_mean_deviation_and_interval_equal_the_recorded_ones(name, recorded, computed):
    means, result = recorded[name]["means"], computed[name]
    found = [result.value, result.std, *result.interval]
    keys = ("avg", "std", "ci99_low", "ci99_high")
    expected = [means[f"{key}_metric_test"] for key in keys]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_metrics_equal_those_of_torchmetrics_in_edge_cases():
    for (logits, y), expected in zip(METRIC_CASES, recorded_values()["metrics"], strict=True):
        metric = matthews if np.ndim(logits) == 1 else adjusted_macro_f1
        found = metric(np.array(logits, np.float32), np.array(y))
        assert found == pytest.approx(expected, abs=1e-7), (logits, y)


def test_the_frame_has_the_columns_of_the_package(computed):
    frame = computed["pairs"].details().to_pandas()
    names = "task kfold_repetition kfold_partition train_epoch metric value"
    assert " ".join(frame.columns) == names
    assert set(frame["task"]) == {"pairs"}


def test_values_do_not_depend_on_the_order_of_equal_features_in_memory():
    vectors, y = vectors_of("two-classes")
    rows, columns = (
        evaluate(own, y, epochs=3) for own in (vectors[0], np.asfortranarray(vectors[0]))
    )
    assert rows.values == columns.values


def test_values_do_not_depend_on_the_number_of_threads_of_numpy():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    vectors, y = vectors_of("hidden-layer")
    found = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads):
            found.append(evaluate(vectors, y, hidden=(256,)).records)
    assert found[0] == found[1]


FEW, FEW_Y = vectors_of("too-small")


def test_less_than_a_batch_of_training_rows_trains_nothing_and_is_noted():
    with pytest.warns(UserWarning, match="less than a batch of 128"):
        records = evaluate(FEW[0][:150], FEW_Y[:150]).records
    assert np.isnan(series(records, "loss_per_epoch_train")).all()
    assert np.isfinite(series(records, "loss_test")).all()


@pytest.mark.parametrize(
    ("vectors", "y", "note"),
    [
        (FEW, FEW_Y, "learning rate stays at 5 % .* 4 batches of 128 training rows, found 2"),
        # Logits between 0 and 1.
        (np.ones((800, 1)), np.arange(800) % 2, "counted as probabilities"),
        # Features far from the training rows.
        (*vectors_of("constant-feature"), "divided by 1e-12"),
    ],
)
def test_what_changes_values_is_noted(vectors, y, note):
    with pytest.warns(UserWarning, match=note):
        result = evaluate(vectors, y)
    assert any(re.search(note, own) for own in result.notes)


def test_other_seeds_give_other_folds():
    vectors, y = vectors_of("two-classes")
    one, other = (evaluate(vectors[0], y, epochs=2, seed=seed).values for seed in (1, 2))
    assert one != other


# The tasks from a folder


@pytest.fixture
def folder(tmp_path):
    write_tasks(tmp_path, FILES)
    return tmp_path


def test_all_tasks_are_those_that_the_folder_has(folder):
    found = fr.tasks.ulysses(folder)
    texts = {task: len(one.data.texts) for task, one in found.items()}
    assert texts == {"F3": 2, "G3": 2, "T1A": 1}
    assert found["F3"].options == {"alternatives": True, "hidden": (256,)}
    assert found["G3"].options == {}


def test_names_of_columns_do_not_matter(folder):
    (folder / FILES["F2"]).write_text("n,score,text\n7,one,0\n8,two,1\n")
    task = fr.tasks.ulysses(folder, "F2")["F2"].data
    assert (task.texts, task.labels) == ((["one", "two"],), [0, 1])


MISSING = r"found no stj_summary\.csv \(F6\), ulysses_sd\.csv \(G4\)$"
UNKNOWN = "unknown 'T9', 'X'; expected 'all' or some of F1A"
NO_LABELS = "row numbers, texts and labels, found 2 columns"


@pytest.mark.parametrize(
    ("where", "tasks", "error", "message"),
    [
        (".", ["X", "T1A", "T9"], OptionError, UNKNOWN),
        (".", ["F6", "T1A", "G4"], ReadError, MISSING),
        (".", "F2", InputError, NO_LABELS),
        ("empty", "all", ReadError, "expected files of Ulysses SentEval, found none"),
    ],
)
def test_a_folder_without_the_tasks_is_an_error(where, tasks, error, message, folder):
    (folder / "empty").mkdir()
    (folder / FILES["F2"]).write_text("n,text\n7,one\n")
    with pytest.raises(error, match=message):
        fr.tasks.ulysses(folder / where, tasks)
