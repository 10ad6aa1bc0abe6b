"""Judgments with strata: the format sample, and tables with a column of strata."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pytest

import fastrank as fr
from fastrank.errors import FastrankError, FormatError, InputError
from tests.helpers.parsing import read_trec_qrels

LINES = b"q1 0 d1 1 2\nq1 0 d2 1 -1\nq1 0 d3 s2 0\nq2 0 d1 1 1\n"
WITHOUT = fr.Qrels.from_dict({"q1": {"d1": 1}})


def strata_of(qrels: fr.Qrels) -> list[bytes]:
    assert qrels.strata is not None
    return list(qrels.strata)


def test_five_columns_are_a_sample() -> None:
    qrels = fr.read_qrels(io.BytesIO(LINES))

    assert qrels.to_dict() == {"q1": {"d1": 2, "d2": -1, "d3": 0}, "q2": {"d1": 1}}
    assert strata_of(qrels) == [b"1", b"1", b"s2", b"1"]


def test_scattered_queries_keep_their_strata() -> None:
    lines = LINES.splitlines(keepends=True)

    qrels = fr.read_qrels(io.BytesIO(b"".join([lines[3], *lines[:3]])), "sample")

    assert strata_of(qrels) == [b"1", b"1", b"1", b"s2"]
    assert qrels.query_ids == ["q2", "q1"]


def test_four_columns_have_no_strata() -> None:
    assert fr.read_qrels(io.BytesIO(b"q1 0 d1 1\n")).strata is None


@pytest.mark.parametrize("name", ["out.qrels", "out.csv", "out.tsv", "out.jsonl", "out.parquet"])
def test_files_restore_strata(tmp_path: Path, name: str) -> None:
    """TREC's suffixes mean the format sample if there are strata."""
    qrels = fr.read_qrels(io.BytesIO(LINES))

    fr.write_qrels(qrels, tmp_path / name)
    restored = fr.read_qrels(tmp_path / name)

    assert restored.to_dict() == qrels.to_dict()
    assert strata_of(restored) == strata_of(qrels)


def test_written_lines_are_those_read() -> None:
    file = io.BytesIO()
    fr.write_qrels(fr.read_qrels(io.BytesIO(LINES)), file, "sample")

    assert file.getvalue() == LINES


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_strata(library: str) -> None:
    pytest.importorskip(library)
    qrels = fr.read_qrels(io.BytesIO(LINES))

    frame = getattr(qrels, f"to_{library}")()
    restored = getattr(fr.Qrels, f"from_{library}")(frame)

    assert list(frame["stratum"]) == ["1", "1", "s2", "1"]
    assert strata_of(restored) == strata_of(qrels)


def test_pickles_keep_strata() -> None:
    qrels = pickle.loads(pickle.dumps(fr.read_qrels(io.BytesIO(LINES))))

    assert strata_of(qrels) == [b"1", b"1", b"s2", b"1"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"q1 0 d1 1 2\nq1 0 d2 1\n", ":2: malformed line: expected 5 fields .query iter doc str"),
        (b"q1 0 d1 1 2\nq1 0 d2 1 x\n", ":2: .*'x'"),
        (b"\n", ":1: expected lines of 5 fields"),
    ],
)
def test_malformed_lines_are_named(content: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        fr.read_qrels(io.BytesIO(content), "sample")


def test_trec_readers_name_the_reader_of_samples() -> None:
    with pytest.raises(FormatError, match=r"judgments with strata.*read_qrels"):
        read_trec_qrels(io.BytesIO(LINES))


@pytest.mark.parametrize(
    ("qrels", "form", "words"),
    [
        (fr.read_qrels(io.BytesIO(LINES)), "trec", "no column for strata; use the format sample"),
        (WITHOUT, "sample", "needs the stratum of each document"),
    ],
)
def test_formats_that_do_not_fit_are_refused(qrels: fr.Qrels, form: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        fr.write_qrels(qrels, io.BytesIO(), form)


def test_runs_have_no_format_sample() -> None:
    run = fr.Run.from_dict({"q1": {"d1": 1.0}})

    with pytest.raises(InputError, match="only for judgments"):
        fr.write_run(run, io.BytesIO(), "sample")
    with pytest.raises(FastrankError, match="has judgments, expected a run"):
        fr.read_run(io.BytesIO(b"q Q0 d 1 1 t\n"), "sample")
