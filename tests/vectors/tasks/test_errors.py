"""Invalid vectors, labels, tasks and options are errors that say what is wrong."""

import numpy
import pandas
import pytest

import fastrank as fr
from fastrank.errors import ArrayError, InputError, OptionError

A = numpy.array([[1, 0], [0, 1], [1, 1]], numpy.float32)
B = numpy.array([[1, 0.5], [0.5, 1], [0, 1]], numpy.float32)
NAN = numpy.array([[1, 0], [0, numpy.nan], [1, 1]], numpy.float32)
EMPTY = numpy.empty((0, 2), numpy.float32)
PAIRS = (A, B)


def model(texts):
    return [[len(text), text.count("a")] for text in texts]


def wider(texts):
    return [[1.0, 2.0, 3.0]] * len(texts)


EVALUATIONS = {
    "similarity": (2, [5.0, 1.0, 3.0]),
    "pairs": (2, [1, 0, 1]),
    "triplets": (3, None),
    "bitext": (2, None),
}
FINITE = r"vectors of text [23]\[1.*nan|finite values"
SHORTER = r"vectors of text [23]: expected 3 rows, as in text 1, found 2"
WIDER = r"vectors of text [23]: expected 2 columns, as in text 1, found 4"


def evaluate(name, *given, **options):
    return getattr(fr.tasks, f"evaluate_{name}")(*given, **options)


@pytest.mark.parametrize("name", EVALUATIONS)
@pytest.mark.parametrize(
    ("last", "message"),
    [
        pytest.param(NAN, FINITE, id="float32"),
        pytest.param(NAN.astype("float64"), FINITE, id="float64"),
        pytest.param(NAN.tolist(), FINITE, id="list"),
        pytest.param(B[:2], SHORTER, id="fewer vectors"),
        pytest.param(numpy.ones((3, 4), numpy.float32), WIDER, id="wider vectors"),
    ],
)
def test_invalid_vectors_of_the_last_text_are_an_error(name, last, message):
    texts, labels = EVALUATIONS[name]
    with pytest.raises(ArrayError, match=message):
        evaluate(name, (A, last) if texts == 2 else (A, B, last), labels)


@pytest.mark.parametrize("name", EVALUATIONS)
def test_the_wrong_number_of_texts_is_an_error(name):
    task = fr.TextTask.from_texts(["a", "b"], labels=[1, 0])
    with pytest.raises(InputError, match=f"expected {EVALUATIONS[name][0]} texts in each row, f"):
        evaluate(name, model, task)


@pytest.mark.parametrize("name", ["similarity", "pairs"])
@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([1, 0], ArrayError, "vectors: expected 2 rows, one per label, found 3"),
        ([1, None, 0], InputError, "vectors: row 1: the label is missing"),
        (None, InputError, "vectors: the labels are missing"),
        (["a", "b", "c"], ArrayError, "expected"),
    ],
)
def test_invalid_labels_are_an_error(name, labels, error, message):
    with pytest.raises(error, match=message):
        evaluate(name, PAIRS, labels)


LABELS = [1, 0, 1]
FILMS = fr.TextTask.from_texts(["a", "b"], ["c", "d"], name="films")
LABELLED = fr.TextTask.from_texts(["a", "b"], ["c", "d"], labels=[1, 0])
COLUMN = (["a", "b"],)
LARGE = (A * 1e30, B * 1e30)
DOT = {"similarities": "dot"}
# As in the readers of runs, unless a cell of a CSV or TSV file is a number.
TEXT = r"scores\[1\]: .*, found str: '0.5'$"
WORD = r"scores\[1\]: .*, found str: 'good'$"
OF_SIMILARITIES = "^similarities: expected"


def rows(score):
    first = {"sentence1": "a", "sentence2": "b", "score": 0.25}
    return [first, {"sentence1": "aa", "sentence2": "bb", "score": score}]


@pytest.mark.parametrize(
    ("name", "given", "options", "error", "message"),
    [
        ("pairs", (PAIRS, [1, 2, 0]), {}, ArrayError, r"labels\[1\]: .* 0 and 1, found 2"),
        ("pairs", (PAIRS, [0.5, 0, 1]), {}, ArrayError, r"labels\[0\]: .* 0 and 1, found 0.5"),
        ("pairs", (PAIRS, [1, 1, 1]), {}, InputError, "expected labels 0 and 1, found only 1"),
        ("pairs", (PAIRS, [0, 0, 0]), {}, InputError, "expected labels 0 and 1, found only 0"),
        ("pairs", (model, FILMS), {}, InputError, "films: expected a task with labels, found n"),
        ("pairs", (model, COLUMN * 2), {}, InputError, "2 columns of texts and one of labels, "),
        ("pairs", ((model, wider), LABELLED), {}, ArrayError, "one dimension, found 2 .* and 3"),
        ("pairs", (A, LABELS), {}, ArrayError, "vectors: expected a tuple of 2 arrays, found 1"),
        ("pairs", ((EMPTY, EMPTY), []), {}, ArrayError, "expected at least one row, found none"),
        ("pairs", (LARGE, LABELS), DOT, ArrayError, r"vectors\[0\]: the products of the values"),
        *(
            ("pairs", (PAIRS, LABELS), {"similarities": own}, OptionError, OF_SIMILARITIES)
            for own in ("angular", (), ("cosine", "cosine"), ("cosine", "cos"))
        ),
        ("pairs", (PAIRS, LABELS), {"protocol": "x"}, OptionError, "^protocol: expected one of"),
        ("pairs", (PAIRS, LABELS), {"prompt": "q"}, OptionError, "prompt: this applies to mode"),
        ("pairs", (PAIRS, LABELS), {"similarity": ""}, TypeError, "did you mean 'similarities'"),
        ("similarity", (PAIRS, [3, 3, 3]), {}, InputError, "all scores are 3, so the correlati"),
        ("similarity", ((A, A), LABELS), {}, InputError, "all cosine similarities are 1, so th"),
        ("similarity", (PAIRS, [0.25, "0.5", 1.0]), {}, ArrayError, TEXT),
        ("similarity", (PAIRS, [0.25, "good", 1.0]), {}, ArrayError, WORD),
        ("similarity", (model, rows("0.5")), {}, ArrayError, TEXT),
        ("similarity", (model, rows("good")), {}, ArrayError, WORD),
        ("similarity", ((A[:1], B[:1]), [3]), {}, InputError, "at least two pairs, found one"),
        ("bitext", (model, COLUMN * 3), {}, InputError, "task: expected 2 columns of texts, fo"),
        ("triplets", (model, COLUMN * 2), {}, InputError, "task: expected 3 columns of texts, "),
        ("triplets", (model,), {}, TypeError, "task: expected texts, because a model is given"),
        ("triplets", ((A, B, B),), {"margin": {"l3": 1.0}}, OptionError, "^margin: expected"),
        ("triplets", ((A, B, B),), {"margin": numpy.nan}, OptionError, "^margin: expected"),
    ],
)
def test_invalid_input_is_an_error(name, given, options, error, message):
    with pytest.raises(error, match=message):
        evaluate(name, *given, **options)


@pytest.mark.parametrize(
    "road", ["columns", "bool", "rows", "jsonl", "csv", "parquet", "frame", "task"]
)
def test_labels_of_pairs_can_be_text_or_bool(road, tmp_path):
    columns = {"text_a": ["a", "ab", "b"], "text_b": ["a", "b", "aa"], "label": ["1", "0 ", "1"]}
    frame = pandas.DataFrame(columns)
    made = {
        "columns": lambda: tuple(columns.values()),
        "bool": lambda: (columns["text_a"], columns["text_b"], [True, False, True]),
        "rows": lambda: frame.to_dict("records"),
        "jsonl": lambda: frame.to_json(tmp_path / road, orient="records", lines=True),
        "csv": lambda: frame.to_csv(tmp_path / road, index=False),
        "parquet": lambda: frame.to_parquet(tmp_path / road),
        "frame": lambda: frame,
        "task": lambda: fr.Task("pairs", frame),
    }
    task = made[road]()
    task = tmp_path / road if task is None else task
    expected = fr.tasks.evaluate_pairs(model, (columns["text_a"], columns["text_b"], LABELS))
    if road == "task":
        assert fr.evaluate_tasks(model, {"pairs": task})["pairs"].value == expected.value
    else:
        assert fr.tasks.evaluate_pairs(model, task).mean == expected.mean
