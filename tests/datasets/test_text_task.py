"""Texts with labels, from lists and tables."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.datasets.text_task import as_text_task

pd = pytest.importorskip("pandas")


def test_a_task_has_one_list_per_text_and_labels() -> None:
    task = fr.TextTask.from_texts(["a", "b"], ["c", "d"], labels=np.array([1, 0]), name="pairs")

    assert task.texts == (["a", "b"], ["c", "d"])
    assert task.labels == [1, 0]
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
def test_a_file_is_read_by_names_or_places(content: bytes, texts: Any, labels: Any) -> None:
    task = fr.TextTask.from_table(io.BytesIO(content), name="t")

    assert (task.texts, task.labels) == (texts, labels)


def test_a_path_names_the_task(tmp_path: Path) -> None:
    (tmp_path / "F1A.csv").write_bytes(b",text,label\n0,x,1\n")

    assert as_text_task(tmp_path / "F1A.csv").name == "F1A"


@pytest.mark.parametrize("as_table", [lambda frame: frame, lambda frame: frame.to_dict("records")])
def test_a_frame_is_read(as_table: Any) -> None:
    frame = pd.DataFrame({"sentence": ["x", "y"], "label": [1, 0]})

    assert as_text_task(as_table(frame)).labels == [1, 0]


def test_a_dict_of_columns_is_read() -> None:
    task = fr.TextTask.from_table({"text": ["x", "y"], "label": np.array([1, 0])})

    assert (task.texts, task.labels) == ((["x", "y"],), [1, 0])


def test_columns_of_other_names_are_given() -> None:
    frame = pd.DataFrame({"n": [5, 6], "body": ["x", "y"], "topic": ["s", "t"]})

    task = fr.TextTask.from_table(frame, columns={"text_a": "body", "label": "topic"})

    assert (task.texts, task.labels) == ((["x", "y"],), ["s", "t"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fr.TextTask.from_texts(["a"], labels=[1, 2]), "1 in text_a, 2 in labels"),
        (lambda: fr.TextTask.from_texts(["a", None], labels=[1, 2]), "row 1, text_a"),
        (lambda: fr.TextTask.from_texts(["a"], labels=[None]), "row 0: the label is missing"),
        (lambda: fr.TextTask.from_texts("abc"), "expected a list of texts, found str"),
        (
            lambda: fr.TextTask.from_table(io.BytesIO(b"text,label\nx\n")),
            ":2: expected 2 cells, as in the header, found 1",
        ),
        (
            lambda: fr.TextTask.from_table(io.BytesIO(b"text,label\nx,\n")),
            ":2: the label is missing",
        ),
        (lambda: fr.TextTask.from_texts({"x", "y"}), "text_a: expected a list of texts, found set"),
        (lambda: fr.TextTask.from_texts(["x"], labels="p"), "expected a list of labels, found str"),
        (lambda: fr.TextTask.from_texts(["x"], labels={1: 2}), "list of labels, found dict"),
        (lambda: fr.TextTask.from_texts(["x"], labels=3), "expected a list of labels, found int"),
        (
            lambda: fr.TextTask.from_table(io.BytesIO(b"1\tgood film\n0\tbad film\n")),
            ":1: no column of texts: expected a header, found '1', 'good film'; add one, or ",
        ),
        (
            lambda: fr.TextTask.from_table(io.BytesIO(b"text,label\nx,1\n"), split="test"),
            "split: expected a DatasetDict",
        ),
        (lambda: fr.TextTask.from_table(io.BytesIO(b'[{"text": "x"},\n]')), ":2: Illegal|:2: Exp"),
        (lambda: fr.TextTask.from_table({"text": ["x"], "label": []}), "1 in 'text', 0 in 'label'"),
        (
            lambda: fr.TextTask.from_table(io.BytesIO(b"a,b\nx,1\n"), columns={"text_a": "c"}),
            "no column 'c' for text_a, found 'a', 'b'",
        ),
        (
            lambda: fr.TextTask.from_table(io.BytesIO(b"a,b,c,d,e\n1,2,3,4,5\n")),
            "no column of texts: expected a header, found 'a', 'b'",
        ),
    ],
)
def test_errors_name_the_place(make: Any, message: str) -> None:
    with pytest.raises(fr.FastrankError, match=message):
        make()


# SNLI

SNLI = [
    {"gold_label": "neutral", "sentence1": "A man eats.", "sentence2": "He dines.", "pairID": "1"},
    {"gold_label": "-", "sentence1": "A man eats.", "sentence2": "He eats rice.", "pairID": "2"},
    {"gold_label": "entailment", "sentence1": "A dog.", "sentence2": 'An "animal".', "pairID": "3"},
]
SNLI_TXT = "\n".join(["\t".join(SNLI[0]), *("\t".join(row.values()) for row in SNLI), ""]).encode()


@pytest.mark.parametrize(
    "content", ["\n".join(map(json.dumps, SNLI)).encode(), SNLI_TXT], ids=["jsonl", "txt"]
)
@pytest.mark.parametrize("columns", [None, {"label": "gold_label"}])
def test_rows_of_snli_without_consensus_are_left_out(content: bytes, columns: Any) -> None:
    task = fr.TextTask.from_table(io.BytesIO(content), columns=columns)

    assert (task.labels, task.left_out) == (["neutral", "entailment"], 1)
    assert task.texts == (["A man eats.", "A dog."], ["He dines.", 'An "animal".'])
    assert repr(task).endswith("2 rows of 2 texts, with labels, 1 row without consensus left out>")


HUB = {
    "premise": ["A man eats.", "A man eats.", "A dog."],
    "hypothesis": ["He dines.", "He eats rice.", "An animal."],
    "label": [1, -1, 0],
}


def test_rows_of_snli_on_the_hub_without_a_label_are_left_out() -> None:
    rows = [dict(zip(HUB, row, strict=True)) for row in zip(*HUB.values(), strict=True)]
    lines = ["\t".join(HUB), *("\t".join(map(str, row.values())) for row in rows)]
    found = [HUB, rows, io.BytesIO("\n".join(lines).encode())]
    reverse = {"text_a": "hypothesis", "text_b": "premise"}

    for given in found:
        task = fr.TextTask.from_table(given)
        assert (task.labels, task.left_out) == ([1, 0], 1)
        assert task.texts[1] == ["He dines.", "An animal."]
    assert fr.TextTask.from_table(HUB, columns=reverse).left_out == 1
    with pytest.raises(fr.InputError, match="expected rows with a label, found only -1"):
        fr.TextTask.from_table({**HUB, "label": [-1] * 3})


def test_minus_one_is_a_label_of_other_texts() -> None:
    task = fr.TextTask.from_table(
        {"sentence1": ["a", "b"], "sentence2": ["c", "d"], "label": [-1, 1]}
    )

    assert (task.labels, task.left_out) == ([-1, 1], 0)


def test_a_missing_label_of_snli_is_on_its_line() -> None:
    content = SNLI_TXT + b"\tA.\tB.\t4\n"

    with pytest.raises(fr.FormatError, match=r":5: the label is missing"):
        fr.TextTask.from_table(io.BytesIO(content))


def test_without_a_known_label_the_error_names_the_other_columns() -> None:
    task = fr.TextTask.from_table(io.BytesIO(b"text,classe\na,1\nb,0\n"))

    for evaluate in (fr.tasks.evaluate_classification, fr.tasks.evaluate_clustering):
        with pytest.raises(fr.InputError, match=r"found none; if one of the columns 'classe' has"):
            evaluate([[0.0], [1.0]], task)
