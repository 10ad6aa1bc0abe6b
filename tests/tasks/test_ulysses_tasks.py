"""The tasks of Ulysses SentEval from a folder."""

from __future__ import annotations

import pytest

import fastrank as fr
from fastrank.tasks.ulysses_files import FILES
from tests.helpers.probe_inputs import write_tasks


@pytest.fixture
def folder(tmp_path):
    write_tasks(tmp_path, FILES)
    return tmp_path


def test_all_are_those_that_the_folder_has(folder):
    found = fr.tasks.ulysses(folder)
    assert {task: len(one.data.texts) for task, one in found.items()} == {
        "F3": 2,
        "G3": 2,
        "T1A": 1,
    }
    assert found["F3"].options == {"protocol": "ulysses", "alternatives": True, "hidden": (256,)}
    assert found["G3"].options == {"protocol": "ulysses"}


def test_names_of_columns_do_not_matter(folder):
    (folder / FILES["F2"]).write_text("n,score,text\n7,one,0\n8,two,1\n")
    task = fr.tasks.ulysses(folder, "F2")["F2"].data
    assert (task.texts, task.labels) == ((["one", "two"],), [0, 1])


def test_unknown_tasks_are_listed(folder):
    with pytest.raises(fr.OptionError, match="unknown 'T9', 'X'; expected 'all' or some of F1A"):
        fr.tasks.ulysses(folder, ["X", "T1A", "T9"])


def test_missing_files_are_named(folder):
    expected = r"found no stj_summary\.csv \(F6\), ulysses_sd\.csv \(G4\)$"
    with pytest.raises(fr.ReadError, match=expected):
        fr.tasks.ulysses(folder, ["F6", "T1A", "G4"])


def test_a_folder_without_tasks_is_an_error(tmp_path):
    with pytest.raises(fr.ReadError, match="expected files of Ulysses SentEval, found none"):
        fr.tasks.ulysses(tmp_path)


def test_a_file_without_labels_is_an_error(folder):
    (folder / FILES["F2"]).write_text("n,text\n7,one\n")
    with pytest.raises(fr.InputError, match="row numbers, texts and labels, found 2 columns"):
        fr.tasks.ulysses(folder, "F2")
