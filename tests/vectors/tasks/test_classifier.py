"""Models, vectors, tasks and options of `evaluate_classification`."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import fastrank as fr
from fastrank.errors import ArrayError, InputError, OptionError
from tests.helpers.probe_inputs import letter_counts, texts_of

pytestmark = pytest.mark.filterwarnings("ignore:.*(learning rate|1e-12)")
SHORT = {"repetitions": 1, "folds": 2, "epochs": 1}
TEXTS = texts_of(400, 2, 5)
PAIRS = texts_of(400, 2, 6, 1)
THREE = texts_of(400, 3, 7, 3)
VECTORS = letter_counts(TEXTS["text_a"])
LABELS = TEXTS["label"]
TASK = (TEXTS["text_a"], LABELS)
PARTS = [(160, "train"), (40, "eval"), (200, "test")]


def evaluated(model, task, **options):
    return fr.tasks.evaluate_classification(model, task, **{**SHORT, **options})


@pytest.fixture(scope="module")
def expected():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return evaluated(VECTORS, LABELS).values


@pytest.mark.parametrize(
    "task",
    [
        (TEXTS["text_a"], LABELS),
        pd.DataFrame(TEXTS),
        fr.TextTask.from_texts(TEXTS["text_a"], labels=LABELS),
        [dict(zip(TEXTS, row, strict=True)) for row in zip(*TEXTS.values(), strict=True)],
    ],
)
def test_texts_give_the_values_of_their_vectors(task, expected, tmp_path):
    """Which are cached."""
    options = {"cache": tmp_path, "cache_name": "letters"}
    assert evaluated(letter_counts, task, **options).values == expected
    assert [path.name[:7] for path in tmp_path.iterdir()] == ["letters"]


@pytest.mark.parametrize(
    "labels",
    [
        np.array(LABELS),
        pd.Series(LABELS),
        tuple(LABELS),
        list(np.array(LABELS)),
        [["no", "yes"][label] for label in LABELS],
        [bool(label) for label in LABELS],
        [float(label) for label in LABELS],
    ],
)
def test_labels_may_be_of_any_one_type(labels, expected):
    assert evaluated(VECTORS, labels).values == expected


def test_vectors_may_be_a_frame_and_come_with_a_task_of_texts(expected):
    found = evaluated(pd.DataFrame(VECTORS), pd.DataFrame(TEXTS), name="films")
    assert (found.values, found.name) == (expected, "films")


def test_pairs_have_the_vectors_their_difference_and_their_product_as_features():
    a, b = (letter_counts(PAIRS[name]) for name in ("text_a", "text_b"))
    found = evaluated((a, b), PAIRS["label"])
    features = np.hstack((a, b, np.abs(a - b), a * b))
    assert found.values == evaluated(features, PAIRS["label"]).values
    assert found.values == evaluated(letter_counts, pd.DataFrame(PAIRS)).values


def test_alternatives_have_the_vectors_of_all_texts_as_features():
    parts = [text.split(" [SEP] ") for text in THREE["text_b"]]
    features = [letter_counts(THREE["text_a"])]
    features += [letter_counts([row[place] for row in parts]) for place in range(3)]
    found = evaluated(letter_counts, pd.DataFrame(THREE), alternatives=True)
    assert found.values == evaluated(np.hstack(features), THREE["label"]).values
    assert found.values == evaluated(tuple(features), THREE["label"], alternatives=True).values


@pytest.mark.parametrize(
    ("lazy", "wanted"),
    [
        (False, [(400, None, "films", "all")]),
        (True, [(rows, None, "films", part) for rows, part in PARTS] * 2),
    ],
)
def test_an_embed_function_gets_texts_task_and_split(lazy, wanted, expected):
    """If it is lazy, the parts of each fold."""
    calls = []

    def embed(texts_a, texts_b, task, split):
        calls.append((len(texts_a), texts_b, task, split))
        return letter_counts(texts_a)

    found = evaluated(None, TASK, embed=embed, name="films", lazy=lazy)
    assert (found.values, calls) == (expected, wanted)


def test_a_transformer_that_is_not_fitted_is_fitted_on_each_training_part():
    sizes = []

    class Counted(TfidfVectorizer):
        def fit(self, texts, y=None):
            sizes.append(len(texts))
            return super().fit(texts)

    evaluated(Counted(), (PAIRS["text_a"], PAIRS["text_b"], PAIRS["label"]))
    # First and second texts of 160 rows.
    assert sizes == [320, 320]


def test_a_transformer_may_find_other_words_in_each_training_part():
    numbered = [f"{text} {row}" for row, text in enumerate(TEXTS["text_a"])]
    assert len(evaluated(TfidfVectorizer(), (numbered, LABELS)).values["matthews"]) == 2


def test_a_fitted_transformer_is_used_as_it_is_unless_lazy():
    model = TfidfVectorizer(max_features=20).fit(TEXTS["text_a"])
    as_it_is = evaluated(model.transform(TEXTS["text_a"]), LABELS)
    assert evaluated(model, TASK).values == as_it_is.values
    unfitted = evaluated(TfidfVectorizer(max_features=20), TASK)
    assert evaluated(model, TASK, lazy=True).values == unfitted.values


def test_a_lazy_transformer_takes_alternatives_as_one_text():
    rows = pd.DataFrame(THREE)
    found = evaluated(TfidfVectorizer(max_features=20), rows, alternatives=True)
    assert found.values == evaluated(TfidfVectorizer(max_features=20), rows).values


def test_a_task_has_its_own_options(expected):
    rows = fr.TextTask.from_texts(TEXTS["text_a"], labels=LABELS)
    task = fr.Task("classification", rows, repetitions=2, folds=2, epochs=1)
    assert len(fr.tasks.evaluate_classification(letter_counts, task).values["matthews"]) == 4
    own, other = (
        fr.tasks.evaluate_classification(letter_counts, task, repetitions=1, **more).values
        for more in ({"folds": None}, {"seed": 1})
    )
    assert own == expected != other


def test_a_result_is_a_table_a_frame_and_json():
    found = evaluated(VECTORS, LABELS, name="films")
    assert found.table().rows().__next__()[:3] == ("films", "matthews", found.value)
    assert len(found.details().to_pandas()) == 2 * (3 + 2)
    assert json.loads(json.dumps(found.to_dict()))["mean"] == found.mean
    assert found.mean["loss"] == sum(found.values["loss"]) / 2
    assert repr(found).startswith("<TaskResult films: classification, matthews 0.")


def failing_lazily(texts_a, texts_b, task, split):
    return letter_counts(texts_a)[:, : 15 if split == "train" else 14]


NAN = VECTORS.copy()
NAN[3, 4] = np.nan


def embedded(vectors):
    return {"embed": lambda *_: vectors}


def ones(texts):
    return np.ones((len(texts), 3))


PAIRED = (["a"], ["b"], [1])
UNEQUAL = (["a", "b"], ["a [SEP] b", "a"], [0, 1])
SHAPE = r"embed: expected an array of shape \(400, features\)"
FEATURES_OF_EVAL = "features of 'eval': expected 15 features, as for 'train', found 14"
DIMENSION_3 = "vectors of text 2: expected vectors of dimension 15, as of the first, found 3"
NOT_CACHED = "cache: .* an embedder that is fitted on each training part cannot be cached"


@pytest.mark.parametrize(
    ("model", "task", "options", "error", "message"),
    [
        (VECTORS, [1] * 400, {}, InputError, "at least two classes, found only 1"),
        (VECTORS, LABELS[:-1] + [7], {}, InputError, "2 or more rows per class, found 1 of cl"),
        (VECTORS, LABELS[:-1] + [None], {}, InputError, "row 399: the label is missing"),
        (VECTORS, LABELS[:-1] + [np.nan], {}, InputError, "row 399: the label is missing"),
        (VECTORS, LABELS[:-1] + ["a"], {}, InputError, "one type, found numbers and strings"),
        (VECTORS, LABELS[:-1] + [0.5], {}, InputError, "row 399: expected a class, found the"),
        (VECTORS, LABELS[:-1] + [b""], {}, InputError, "row 399: expected a label that is a n"),
        (NAN, LABELS, {}, ArrayError, r"vectors\[3, 4\]: .*finite"),
        (VECTORS, LABELS[:-1], {}, ArrayError, "expected 399 rows, one per label, found 400"),
        (VECTORS, LABELS, {"fold": 3}, TypeError, "keyword argument 'fold'; did you mean 'folds'"),
        (VECTORS, fr.Task("pairs", PAIRED), {}, TypeError, "of classification, found one of pa"),
        (VECTORS, None, {}, InputError, "labels: the labels are missing"),
        (letter_counts, LABELS, {}, TypeError, "task: expected a TextTask, .* found list of int"),
        (letter_counts, VECTORS, {}, TypeError, "task: expected a TextTask, .* found ndarray"),
        (None, TASK, embedded(None), ArrayError, f"{SHAPE}, found NoneType"),
        (None, TASK, embedded([1, 2]), ArrayError, f"{SHAPE}, found a list of 2"),
        (None, TASK, embedded(VECTORS[:-1]), ArrayError, rf"{SHAPE}, found \(399, 15\)"),
        (None, TASK, embedded(VECTORS[0]), ArrayError, rf"{SHAPE}, found \(15,\)"),
        (None, TASK, {"embed": failing_lazily, "lazy": True}, ArrayError, FEATURES_OF_EVAL),
        (VECTORS, LABELS, {"metric": "adjusted_macro_f1"}, OptionError, "does not apply to 2"),
        (VECTORS, LABELS, {"validation": 1}, OptionError, "validation: expected a number betw"),
        (VECTORS, LABELS, {"seed": -1}, OptionError, "seed: expected 0 or more, found -1"),
        (VECTORS, LABELS, {"seed": 2**32}, OptionError, "seed: expected at most 4294967295, fou"),
        (VECTORS, LABELS, {"hidden": (8, 0)}, OptionError, "hidden: expected 1 or more, found 0"),
        (VECTORS, LABELS, {"cache": "x"}, OptionError, "applies to models, but vectors"),
        ((VECTORS, VECTORS[:, :3]), LABELS, {}, ArrayError, DIMENSION_3),
        ((letter_counts, ones), pd.DataFrame(PAIRS), {}, ArrayError, "15 from letter_counts an"),
        (TfidfVectorizer(), TASK, {"cache": "x", "cache_name": "y"}, OptionError, NOT_CACHED),
        (letter_counts, TASK, {"embed": letter_counts}, OptionError, "in place of the model"),
        (letter_counts, TASK, {"lazy": True}, TypeError, "lazy: expected a scikit-learn transf"),
        (letter_counts, [{"text": "a"}], {}, InputError, "expected a task with labels"),
        (letter_counts, TASK, {"alternatives": True}, InputError, "rows of two texts, found 1"),
        (letter_counts, UNEQUAL, {"alternatives": True}, InputError, "row 1: .* 2 alternatives"),
        (object(), TASK, {}, TypeError, "model: expected an object with"),
    ],
)
def test_bad_input_is_an_error_before_training(model, task, options, error, message, monkeypatch):
    monkeypatch.setattr("fastrank.vectors.tasks.ulysses_protocol.train", None)
    with pytest.raises(error, match=message):
        evaluated(model, task, **options)


def test_options_are_checked_before_texts_are_encoded():
    with pytest.raises(OptionError, match="folds: expected 2 or more"):
        evaluated(lambda texts: 1 / 0, TASK, folds=1)
