"""Where a run is cut, and which thread reads which part of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank
from fastrank.errors import ReadError
from fastrank.formats import chunks
from fastrank.formats import source as pieces
from fastrank.formats.chunks import FileParts
from tests.helpers.strategies import RUN_ROWS, examples, untidy


def run_of(queries: int, depth: int = 10) -> bytes:
    rows = ((query, rank) for query in range(queries) for rank in range(depth))
    return b"".join(b"q%d Q0 d%d %d %d t\n" % (query, rank, rank, -rank) for query, rank in rows)


def qrels_of(queries: int) -> dict[str, dict[str, int]]:
    return {f"q{query}": {f"d{query % 10}": 1} for query in range(queries)}


@contextmanager
def opened(path: Path, threads: int) -> Iterator[FileParts]:
    with pieces.open_source(path) as file:
        yield FileParts(file, threads)


def taken(parts: FileParts) -> list[bytes]:
    """The texts of all turns, in the order of their numbers."""
    turns, found = parts.queue(), {}
    while turn := turns.take():
        view = bytearray(1 << 20)
        found[turn[0]] = bytes(view[: turn[1].readinto(view)])
    assert sorted(found) == list(range(len(found)))
    return [found[number] for number in range(len(found))]


def queries_of(text: bytes) -> list[bytes]:
    """The query of every line that is not blank."""
    return [line.split()[0] for line in text.split(b"\n") if line.strip(b" \t\v\f\r")]


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_turns_become_shorter_and_are_cut_between_queries(threads: int, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(run_of(1000))

    with opened(path, threads) as own:
        texts = taken(own)

    assert b"".join(texts) == path.read_bytes()
    assert len(texts) > 2 * threads
    assert len(texts[0]) < len(path.read_bytes()) / threads
    assert len(texts[-1]) < len(texts[0]) / 3
    for before, text in pairwise(texts):
        assert queries_of(before)[-1] != queries_of(text)[0]


def test_one_thread_has_one_turn(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(run_of(1000))

    with opened(path, 1) as own:
        assert taken(own) == [path.read_bytes()]


def test_a_change_of_query_is_looked_for_farther_on(tmp_path: Path) -> None:
    """A query is longer than the part that was wanted."""
    path = tmp_path / "run"
    path.write_bytes(run_of(2) + run_of(1, 500).replace(b"q0", b"long") + run_of(90))

    with opened(path, 4) as own:
        texts = taken(own)

    assert b"".join(texts) == path.read_bytes()
    assert sum(b"long" in text for text in texts) == 1
    assert len(texts) > 4


@examples(300)
@given(untidy(RUN_ROWS), st.integers(0, 400))
def test_a_cut_comes_between_lines_of_two_queries(text: bytes, start: int) -> None:
    """Or nowhere, for which the first and the last line seen must be of one query."""
    cut = chunks._first_change(bytearray(text[start:]))

    _, _, whole = text[start : text.rfind(b"\n") + 1].partition(b"\n")
    queries = queries_of(whole)
    if cut is None:
        blank_end = not whole.split(b"\n")[-2:][0].strip(b" \t\v\f\r")
        assert not queries or queries[0] == queries[-1] or blank_end
    else:
        cut += start
        assert text[cut - 1 : cut] == b"\n"
        assert queries_of(text[:cut])[-1] != queries_of(text[cut:])[0]


def test_a_thread_that_is_held_up_leaves_the_rest_to_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first part is not read before all others are."""
    (tmp_path / "run").write_bytes(run_of(1000))
    feed, over = chunks.ChunkReader.feed, Event()
    fed: list[Any] = []

    def held_up(feeder: chunks.ChunkReader, reader: Any) -> None:
        if not fed:
            fed.append(feeder)
            assert over.wait(timeout=60)
        feed(feeder, reader)

    def end(turns: chunks.WorkQueue) -> None:
        over.set()
        real_end(turns)

    real_end = chunks.WorkQueue.end
    monkeypatch.setattr(chunks.ChunkReader, "feed", held_up)
    monkeypatch.setattr(chunks.WorkQueue, "end", end)

    scores = fastrank.evaluate(qrels_of(1000), tmp_path / "run", "recip_rank", threads=2)

    assert sorted(scores["recip_rank"]) == sorted(1 / (1 + query % 10) for query in range(1000))


def test_no_part_is_begun_once_one_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").write_bytes(run_of(1000))
    begun = []

    def refuse(feeder: chunks.ChunkReader, reader: Any) -> None:
        begun.append(feeder)
        raise ReadError("run", "it cannot be read")

    monkeypatch.setattr(chunks.ChunkReader, "feed", refuse)

    with pytest.raises(ReadError, match="it cannot be read"):
        fastrank.evaluate(qrels_of(1000), tmp_path / "run", threads=3)
    assert len(begun) <= 3
