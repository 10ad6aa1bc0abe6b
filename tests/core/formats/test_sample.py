"""Judgments with strata: the format sample, and tables with a column of strata."""

from __future__ import annotations

import io
import pickle

import pytest

import fastrank as fr
from fastrank.errors import FormatError, InputError
from tests.helpers.parsing import read_trec_qrels

LINES = b"q1 0 d1 1 2\nq1 0 d2 1 -1\nq1 0 d3 s2 0\nq2 0 d1 1 1\n"
JUDGED = {"q1": {"d1": 2, "d2": -1, "d3": 0}, "q2": {"d1": 1}}
STRATA = [b"1", b"1", b"s2", b"1"]


def sample(content: bytes = LINES, form: str | None = None) -> fr.Qrels:
    return fr.read_qrels(io.BytesIO(content), form)


def assert_is_the_sample(qrels: fr.Qrels) -> None:
    assert qrels.to_dict() == JUDGED
    assert qrels.strata is not None
    assert list(qrels.strata) == STRATA


def test_five_columns_are_a_sample_and_four_have_no_strata():
    """Also of scattered queries, and after a pickle."""
    assert_is_the_sample(sample())
    assert_is_the_sample(pickle.loads(pickle.dumps(sample())))
    assert sample(b"q1 0 d1 1\n").strata is None
    lines = LINES.splitlines(keepends=True)
    scattered = sample(b"".join([lines[2], lines[3], *lines[:2]]), "sample")
    assert list(scattered.strata or ()) == [b"s2", b"1", b"1", b"1"]
    assert (scattered.query_ids, scattered.doc_ids) == (["q1", "q2"], ["d3", "d1", "d2", "d1"])


@pytest.mark.parametrize("name", ["out.qrels", "out.csv", "out.tsv", "out.jsonl", "out.parquet"])
def test_files_restore_strata(tmp_path, name):
    """TREC's suffixes mean the format sample if there are strata."""
    fr.write_qrels(sample(), tmp_path / name)
    assert_is_the_sample(fr.read_qrels(tmp_path / name))
    if name == "out.qrels":
        assert (tmp_path / name).read_bytes() == LINES


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_strata(library):
    pytest.importorskip(library)
    frame = getattr(sample(), f"to_{library}")()
    assert list(frame["stratum"]) == ["1", "1", "s2", "1"]
    assert_is_the_sample(getattr(fr.Qrels, f"from_{library}")(frame))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"q1 0 d1 1 2\nq1 0 d2 1\n", ":2: malformed line: expected 5 fields .query iter doc str"),
        (b"q1 0 d1 1 2\nq1 0 d2 1 x\n", ":2: .*'x'"),
        (b"\n", ":1: expected lines of 5 fields"),
    ],
)
def test_malformed_lines_are_named(content, words):
    with pytest.raises(FormatError, match=words):
        sample(content, "sample")


def test_formats_that_do_not_fit_are_refused():
    without, run = fr.Qrels.from_dict(JUDGED), fr.Run.from_dict({"q1": {"d1": 1.0}})
    with pytest.raises(FormatError, match=r"judgments with strata.*read_qrels"):
        read_trec_qrels(io.BytesIO(LINES))
    with pytest.raises(InputError, match="no column for strata; use the format sample"):
        fr.write_qrels(sample(), io.BytesIO(), "trec")
    with pytest.raises(InputError, match="needs the stratum of each document"):
        fr.write_qrels(without, io.BytesIO(), "sample")
    with pytest.raises(InputError, match="only for judgments"):
        fr.write_run(run, io.BytesIO(), "sample")
    with pytest.raises(fr.FastrankError, match="has judgments, expected a run"):
        fr.read_run(io.BytesIO(b"q Q0 d 1 1 t\n"), "sample")
