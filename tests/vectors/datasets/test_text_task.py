"""Texts with labels, from lists and tables."""

import io
import json

import numpy as np
import pytest

import fastrank as fr
from fastrank.errors import InputError
from fastrank.vectors.datasets.text_task import as_text_task

pd = pytest.importorskip("pandas")


def from_file(content, **options):
    return fr.TextTask.from_table(io.BytesIO(content), **options)


def test_a_task_has_one_list_per_text_and_labels():
    task = fr.TextTask.from_texts(["a", "b"], ["c", "d"], labels=np.array([1, 0]), name="pairs")
    assert (task.texts, task.labels) == ((["a", "b"], ["c", "d"]), [1, 0])
    assert repr(task) == "<TextTask pairs: 2 rows of 2 texts, with labels>"


@pytest.mark.parametrize(
    ("content", "texts", "labels"),
    [
        (b"text,label\nx,1\ny,0\n", (["x", "y"],), [1, 0]),
        (b",review,sentiment\n0,x,pos\n1,y,neg\n", (["x", "y"],), ["pos", "neg"]),
        (b",a,b,c\n0,x,z,0.5\n1,y,w,2\n", (["x", "y"], ["z", "w"]), [0.5, 2.0]),
        (b'score\tsentence1\tsentence2\n1\tx "\ty\n', (['x "'], ["y"]), [1]),
        (b'{"anchor": "x", "positive": "y", "negative": "z"}\n', (["x"], ["y"], ["z"]), None),
        (b"text,label\n12,a\n13,b\n", (["12", "13"],), ["a", "b"]),
        (b"text,label\nx,01\ny,1\n", (["x", "y"],), ["01", "1"]),
        (b"text,label\nx,1_0\ny,2\n", (["x", "y"],), ["1_0", "2"]),
        (b'[{"text": "x", "label": 1},\n{"text": "y", "label": 0}]', (["x", "y"],), [1, 0]),
    ],
)
def test_a_file_is_read_by_names_or_places(content, texts, labels):
    task = from_file(content, name="t")
    assert (task.texts, task.labels) == (texts, labels)


def test_a_path_names_the_task(tmp_path):
    (tmp_path / "F1A.csv").write_bytes(b",text,label\n0,x,1\n")
    assert as_text_task(tmp_path / "F1A.csv").name == "F1A"


@pytest.mark.parametrize(
    "kind", [dict, pd.DataFrame, lambda own: pd.DataFrame(own).to_dict("records")]
)
def test_columns_and_rows_are_read(kind):
    task = as_text_task(kind({"sentence": ["x", "y"], "label": np.array([1, 0])}))
    assert (task.texts, task.labels) == ((["x", "y"],), [1, 0])


def test_columns_of_other_names_are_given():
    frame = pd.DataFrame({"n": [5, 6], "body": ["x", "y"], "topic": ["s", "t"]})
    task = fr.TextTask.from_table(frame, columns={"text_a": "body", "label": "topic"})
    assert (task.texts, task.labels) == ((["x", "y"],), ["s", "t"])


def texts(*columns, **options):
    return fr.TextTask.from_texts(*columns, **options)


HUB = {
    "premise": ["A man eats.", "A man eats.", "A dog."],
    "hypothesis": ["He dines.", "He eats rice.", "An animal."],
    "label": [1, -1, 0],
}
SNLI = [
    {"gold_label": "neutral", "sentence1": "A man eats.", "sentence2": "He dines.", "pairID": "1"},
    {"gold_label": "-", "sentence1": "A man eats.", "sentence2": "He eats rice.", "pairID": "2"},
    {"gold_label": "entailment", "sentence1": "A dog.", "sentence2": 'An "animal".', "pairID": "3"},
]
SNLI_TXT = "\n".join(["\t".join(SNLI[0]), *("\t".join(row.values()) for row in SNLI), ""]).encode()
NO_HEADER = ":1: no column of texts: expected a header, found '1', 'good film'; add one, or "
NO_COLUMN = "no column 'c' for the text a; found 'a', 'b'"
NO_TEXTS = "no column of texts: expected a header, found 'a', 'b'"
ONLY_MINUS_1 = "expected rows with a label, found only -1"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: texts(["a"], labels=[1, 2]), "1 in text_a, 2 in labels"),
        (lambda: texts(["a", None], labels=[1, 2]), "row 1, text_a"),
        (lambda: texts(["a"], labels=[None]), "row 0: the label is missing"),
        (lambda: texts("abc"), "expected a list of texts, found str"),
        (lambda: texts({"x", "y"}), "text_a: expected a list of texts, found set"),
        (lambda: texts(["x"], labels="p"), "expected a list of labels, found str"),
        (lambda: texts(["x"], labels={1: 2}), "list of labels, found dict"),
        (lambda: texts(["x"], labels=3), "expected a list of labels, found int"),
        (lambda: from_file(b"text,label\nx\n"), ":2: .* 2 cells, as in the first line, found 1"),
        (lambda: from_file(b"text,label\nx,\n"), ":2: the label is missing"),
        (lambda: from_file(SNLI_TXT + b"\tA.\tB.\t4\n"), ":5: the label is missing"),
        (lambda: from_file(b"1\tgood film\n0\tbad film\n"), NO_HEADER),
        (lambda: from_file(b"text,label\nx,1\n", split="test"), "split: expected a DatasetDict"),
        (lambda: from_file(b'[{"text": "x"},\n]'), ":2: Illegal|:2: Exp"),
        (lambda: from_file(b"a,b\nx,1\n", columns={"text_a": "c"}), NO_COLUMN),
        (lambda: from_file(b"a,b,c,d,e\n1,2,3,4,5\n"), NO_TEXTS),
        (lambda: as_text_task({"text": ["x"], "label": []}), "'text': 1, 'label': 0"),
        (lambda: as_text_task({**HUB, "label": [-1] * 3}), ONLY_MINUS_1),
    ],
)
def test_errors_name_the_place(make, message):
    with pytest.raises(fr.FastrankError, match=message):
        make()


def test_without_a_known_label_the_error_names_the_other_columns():
    task = from_file(b"text,classe\na,1\nb,0\n")
    with pytest.raises(InputError, match=r"found none; if one of the columns 'classe' has"):
        fr.tasks.evaluate_classification([[0.0], [1.0]], task)


# SNLI


@pytest.mark.parametrize("content", ["\n".join(map(json.dumps, SNLI)).encode(), SNLI_TXT])
@pytest.mark.parametrize("columns", [None, {"label": "gold_label"}])
def test_rows_of_snli_without_consensus_are_left_out(content, columns):
    task = from_file(content, columns=columns)
    assert (task.labels, task.left_out) == (["neutral", "entailment"], 1)
    assert task.texts == (["A man eats.", "A dog."], ["He dines.", 'An "animal".'])
    assert repr(task).endswith("2 rows of 2 texts, with labels, 1 row without consensus left out>")


HUB_ROWS = [dict(zip(HUB, row, strict=True)) for row in zip(*HUB.values(), strict=True)]
HUB_LINES = ["\t".join(HUB), *("\t".join(map(str, row.values())) for row in HUB_ROWS)]


@pytest.mark.parametrize("given", [HUB, HUB_ROWS, "\n".join(HUB_LINES)], ids=type)
def test_rows_of_snli_on_the_hub_without_a_label_are_left_out(given):
    task = fr.TextTask.from_table(io.BytesIO(given.encode()) if isinstance(given, str) else given)
    assert (task.labels, task.left_out) == ([1, 0], 1)
    assert task.texts[1] == ["He dines.", "An animal."]


def test_minus_one_is_a_label_of_other_texts():
    reverse = {"text_a": "hypothesis", "text_b": "premise"}
    assert fr.TextTask.from_table(HUB, columns=reverse).left_out == 1
    task = as_text_task({"sentence1": ["a", "b"], "sentence2": ["c", "d"], "label": [-1, 1]})
    assert (task.labels, task.left_out) == ([-1, 1], 0)
