"""Run files judged while they are read: the same scores, or the same error, as from memory."""

from __future__ import annotations

import random
import time
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fastrank
from fastrank.core.formats.files import chunks
from fastrank.core.formats.files import source as pieces
from fastrank.errors import FastrankError
from tests.helpers.made_runs import make_case, score_text
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.strategies import (
    QRELS_ROWS,
    RUN_ROWS,
    examples,
    many,
    slow_in_python,
    strtod,
    untidy,
)
from tests.helpers.streamed import (
    QRELS,
    RUN,
    as_the_command,
    assert_same,
    assert_streams,
    is_streamed,
    judged,
    lines,
    outcome,
    piece,
    said,
)

VERSIONS = ("9.0.8", "10.0")


class Reading(NamedTuple):
    """A generated run, and how it is read."""

    seed: int
    queries: int
    depth: int
    threads: int
    size: int

    def make(self, odd: bool) -> tuple[bytes, bytes]:
        return make_case(self.seed, self.queries, self.depth, odd)


THREADS = st.integers(1, 4)
PIECES = st.sampled_from([12, 64, 200, 1000, 1 << 14, 1 << 20])
READINGS = st.builds(
    Reading,
    st.integers(0, 2**48),
    st.sampled_from([1, 2, 5, 12]),
    st.sampled_from([1, 3, 12, 40]),
    THREADS,
    PIECES,
)
EVALUATION = st.fixed_dictionaries(
    {"trec_eval_version": st.sampled_from(VERSIONS)},
    optional={
        "depth": st.sampled_from([1, 2, 5, 30]),
        "judged_only": st.booleans(),
        "relevance_level": st.sampled_from([-1, 0, 2, 3]),
        "missing": st.sampled_from(["skip", "zero"]),
        "collection_size": st.just(100),
    },
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where to write a run; hypothesis wants no fresh one for each example."""
    return tmp_path_factory.mktemp("stream") / "a.run"


# Generated runs


@pytest.mark.parametrize("odd", [False, True])
@given(reading=READINGS, options=EVALUATION)
@examples(120)
def test_a_run_is_judged_in_pieces_to_the_same_bits(path, odd, reading, options):
    """Or the same error: odd ones have repeated documents, comments, NUL bytes, malformed lines."""
    check = assert_same if odd else assert_streams
    with piece(reading.size):
        check(*reading.make(odd), path, threads=reading.threads, **options)


@examples(120)
@given(READINGS, st.sampled_from(VERSIONS))
def test_the_command_reads_odd_numbers_in_pieces_as_in_memory(path, reading, version):
    qrels, run = reading.make(odd=True)
    nouns = parse_qrels(qrels)
    path.write_bytes(run)

    def streamed() -> Any:
        file = pieces.open_source(path)
        return as_the_command(nouns, file, threads=reading.threads, version=version)

    def in_memory() -> Any:
        noun = parse_run(run, str(path), trec_eval_version=version, strict=False)
        return as_the_command(nouns, noun, version=version)

    with piece(reading.size):
        found = outcome(streamed)
    assert found == outcome(in_memory)


def results(*queries: bytes, score: bytes = b"1", docs: bytes = b"d") -> bytes:
    return b"".join(
        b"%b Q0 %b%d 1 %b t\n" % (query, docs, row, score) for query in queries for row in range(8)
    )


OLD, NEW = ({"trec_eval_version": version} for version in VERSIONS)
# Where a run with scattered lines comes to a query again, and not in a line that goes on like the
# one before, rank and score are exchanged.
EXCHANGED = b"q1 Q0 e 2 1 t\nq2 Q0 e 2 8 t\nq1 Q0 d 0.5 2 t\nq1 Q0 f 0.5 3 t\n"
NOT_EXCHANGED = b"q1 Q0 e 2 1 t\nq2 Q0 e 2 8 t\nq1 Q0 d 7 2 tag\nq1 Q0 g 0.5 2 t u\nq1 Q0 c 7 3 t"
FIVE_FIELDS = (
    b"q2 Q0 d1 1 6 t\n-1e3 #x x a -1e3 #x\nq2 Q0 a 1 5 t\nq2 Q0 d4 1 2 t\nq 2 2 0 #\nq1 Q0 d5 1 6 t"
)
SEVEN_FIELDS = b"# Q0 a b 1 2.5 t\n# Q0 a b 1 2.5 t\n"


@examples(150)
@given(untidy(QRELS_ROWS), untidy(RUN_ROWS), THREADS, PIECES, EVALUATION)
# Behind a blank a byte order mark is part of an id.
@example(QRELS, b" \xef\xbb\xbf# a b 1 # q2", 2, 155, NEW)
# Its file is read by the rules of the version that was asked for.
@example(QRELS, b"\xef\xbb\xbf\n# \0\n" + RUN, 1, 64, NEW)
# At the beginning of a part, in a run whose lines are scattered.
@example(QRELS, FIVE_FIELDS, 2, 156, OLD)
# At a cut: whether an id has a blank is seen from the line before, not the next.
@example(QRELS, results(b"q2", b"q1") + SEVEN_FIELDS + results(b"q3"), 4, 100, OLD)
@example(QRELS, EXCHANGED, 3, 92, OLD)
@example(QRELS, NOT_EXCHANGED, 3, 92, OLD)
def test_any_text_gives_the_same_scores_or_the_same_error(path, qrels, run, threads, size, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            nouns = parse_qrels(qrels, trec_eval_version=options["trec_eval_version"])
        except FastrankError:
            return

    with piece(size):
        if run:
            assert_same(nouns, run, path, threads=threads, **options)


NUL_IN_A_COMMENT = b"#\0\n" + results(b"q4", b"q5", b"q6") + b"# a\n" + results(b"q7")
SCATTERED = results(b"q1", b"q4", b"q2")
LATER_NUL = (
    SCATTERED
    + results(b"q1", docs=b"e")
    + (b"#\0\n" + results(b"q5"))
    + (b"# a\n" + results(b"q6"))
)
# Scores of queries without judgments are looked at only in memory.
UNJUDGED_TEXT = (
    SCATTERED
    + results(b"q4", score=b"x")
    + results(b"q1", docs=b"e")
    + (b"# a\n" + results(b"q6", b"q2", docs=b"f"))
)


@pytest.mark.parametrize("run", [NUL_IN_A_COMMENT, LATER_NUL, UNJUDGED_TEXT])
def test_the_outcome_does_not_depend_on_which_thread_is_first(run, path, monkeypatch):
    path.write_bytes(run)
    take, choice = chunks.WorkQueue.take, random.Random(1)

    def take_later(turns: chunks.WorkQueue) -> Any:
        time.sleep(choice.choice([0, 0, 1e-4, 3e-4]))
        return take(turns)

    monkeypatch.setattr(chunks.WorkQueue, "take", take_later)

    def evaluated(threads: int) -> Any:
        return outcome(lambda: fastrank.evaluate(qrels, str(path), "map", threads=threads))

    qrels = parse_qrels(QRELS)
    with piece(64):
        found = [evaluated(threads) for threads in (1, *[2, 3, 4] * many(10))]

    assert found == [found[0]] * len(found)


# Where pieces, blocks and parts end; and lines in any order


def shuffled(rows: bytes) -> bytes:
    found = rows.splitlines(keepends=True)
    random.Random(1).shuffle(found)
    return b"".join(found)


def of_queries(count: int, lines_each: int, first: int = 0) -> bytes:
    return b"".join(lines(f"q{i}", lines_each, first) for i in range(count))


def every_third(queries: int, docs: int, step: int = 3) -> bytes:
    return b"".join(
        b"q%d 0 d%d %d\n" % (i, j, j % 3) for i in range(queries) for j in range(0, docs, step)
    )


# Ids that begin alike in 7 to 9 bytes, in more, and in so many that no byte holds their number.
ALIKE = [(b"1234567890" * 40)[:size] for size in (1, 7, 8, 9, 10, 16, 17, 254, 255, 256, 257, 400)]
ALIKE += [b"12345678x", b"12345678901234567y"]
JUDGED_ALIKE = b"".join(b"%b 0 d%d 1\n" % (query, len(query) % 5) for query in ALIKE[::2])
FOUND_ALIKE = b"".join(b"%b Q0 d%d 1 %d t\n" % (q, i, i) for i in range(5) for q in ALIKE)
COMMENTED = lines("q1", 3) + b"# a comment\n"
COMMENTED += b"".join(lines("q1", 1, first=i) + b"# %d\n" % i for i in range(3, 60))
FAR_MORE = b"".join(b"q 0 d%d %d\n" % (i, i % 5) for i in range(many(5000))) + b"r 0 a 1\n"
FEW = lines("q", 3, first=many(5000) - 2) + b"r Q0 a 1 1 t\n"
Q1_AND_Q2 = judged("q1 d1 1, q2 d1 1")
STREAMED: dict[str, tuple[bytes, bytes]] = {
    "a query larger than the buffer": (
        judged("q1 d7 1, q2 d99 1, q3 d3 2"),
        lines("q1", 5) + lines("q2", 100) + lines("q3", 5),
    ),
    "blanks": (QRELS, b" \n \n"),
    "one query": (judged("q d50 1, q d7 1"), lines("q", 100)),
    "queries with lines in two parts": (
        every_third(8, 18),
        of_queries(8, 10) + of_queries(8, 9, 10),
    ),
    "comments that look like another query at a cut": (judged("q1 d5 1, q1 d50 1"), COMMENTED),
    "comments with five fields and with six": (
        Q1_AND_Q2,
        b"# head\n" + lines("q1", 20) + b" # between\n" + lines("q2", 20) + b"# e n d 1 2 3\n",
    ),
    "a repeated document of a query without judgments": (
        QRELS,
        RUN + b"u Q0 a 1 1 t\nu Q0 a 1 1 t\n",
    ),
    "lines in any order": (every_third(20, 40), shuffled(of_queries(20, 30))),
    "a query scattered among others that are not judged": (
        Q1_AND_Q2,
        b"u Q0 a 1 1 t\n" + lines("q1", 2) + b"u Q0 b 1 1 t\n" + lines("q2", 2),
    ),
    "scattered lines of queries whose ids begin alike": (JUDGED_ALIKE, FOUND_ALIKE),
    "far more judged than retrieved": (FAR_MORE, FEW),
    "far more judged than retrieved, scattered": (FAR_MORE, FEW + lines("q", 1)),
}


# 12 bytes each, over the ends of blocks and pieces at every place.
LETTERS = [bytes([letter]) for letter in b"abcdefghijklmnopqrstuvwxyz"]
JUDGED_LETTERS = b"".join(b"%b 0 k 1\n" % query for query in LETTERS)
SHORTEST = [b"Q %b r %d t\n" % (doc, doc[0] % 10) for doc in LETTERS]
MINIMAL = b"".join(b"%b %b" % (query, row) for query in LETTERS for row in SHORTEST)
MINIMAL += b"".join(b"A " + row for row in SHORTEST) * 80
TAGGED = b"".join(lines(f"q{i}", 4).replace(b"tag", b"tag%d" % i) for i in range(1, 40))


def between_blanks(blank: bytes) -> bytes:
    """Blanks longer than a block before, between and behind the results."""
    blanks = (blank * 40_000)[:40_000] + b"\n"
    return blanks + lines("q1", 3) + blanks + lines("q2", 2).replace(b"tag", b"last") + blanks


def scattered(length: int) -> tuple[bytes, bytes]:
    """Lines with ids of so many bytes."""
    docs = [(b"%d" % doc).rjust(length, b"x") for doc in range(min(90, 10**length))]
    run = b"".join(
        b"q%d Q0 %b %d %d tag\n" % (query, docs[doc], doc, doc * 7 % 11)
        for doc in range(len(docs))
        for query in range(9)
    )
    rows = [(query, docs[doc]) for query in range(9) for doc in (0, 5, 9)]
    return b"".join(b"q%d 0 %b 1\n" % row for row in rows), run


def with_long_id(length: int) -> tuple[bytes, bytes]:
    """Among short ones in scattered lines; the one byte that a record has for it counts to 255."""
    rows = [b"q%d Q0 d%d 1 %d t\n" % (query, doc, doc) for doc in range(1500) for query in (1, 2)]
    rows.insert(10, b"q1 Q0 %b 1 700 t\n" % (b"x" * length))
    return judged(f"q1 d5 1, q1 d900 2, q1 {'x' * length} 1, q2 d5 1"), b"".join(rows)


def with_long_field(place: int) -> tuple[bytes, bytes]:
    """In a line longer than several pieces."""
    fields = b"q1 Q0 b 1 2 tag".split()
    fields[place] *= 1000
    run = b"q0 Q0 a 1 1 t\n" + b" ".join(fields) + b"\nq1 Q0 a 2 1 t\nq2 Q0 c 1 1 t\n"
    return b"%b 0 %b 1\nq1 0 a 1\nq2 0 c 1\n" % (fields[0], fields[2]), run


STREAMED |= {
    **{f"lines of 12 bytes from {i}": (JUDGED_LETTERS, b"\n" * i + MINIMAL) for i in range(14)},
    **{
        f"stretches of {blank[-2:]!r}": (Q1_AND_Q2, between_blanks(blank))
        for blank in (b"\n", b" ", b"\t\n", b"\r\n", b" " * 63 + b"\n")
    },
    **{
        f"{len(end)} bytes behind the last line, which has the tag": (QRELS, TAGGED + end)
        for end in (b"", b"\n" * 300, b" \n" * 3000, b"other Q0 d 1 1 tag39")
    },
    **{f"scattered ids of {n} bytes": scattered(n) for n in (1, 8, 36, 60, 100, 111)},
    # A buffer full of them holds nothing else at which to stop.
    "blanks to the end of the memory": (judged("q1 d1 1"), b" " * (1 << 20) + lines("q1", 2)),
    "blank lines to the end of it": (judged("q1 d1 1"), b" \n" * (1 << 20) + lines("q1", 2)),
}
# What may be read as a whole.
OTHERS = {
    **{f"scattered ids of {n} bytes": scattered(n) for n in (112, 255, 256, 400)},
    **{f"an id of {n} bytes": with_long_id(n) for n in (255, 256, 300, 511, 520, 900)},
    **{f"field {place} of 1000 bytes": with_long_field(place) for place in range(6)},
}


@pytest.mark.parametrize(("threads", "version"), [(1, "9.0.8"), (2, "10.0"), (4, "9.0.8")])
@pytest.mark.parametrize("case", [*STREAMED, *OTHERS])
def test_runs_are_judged_in_pieces_of_any_size(case, threads, version, path):
    check = assert_streams if case in STREAMED else assert_same
    qrels, run = STREAMED.get(case) or OTHERS[case]
    for size in (12, 13, 64, 200, 1 << 14, 1 << 20):
        if len(run) < 1000 * size:
            with piece(size):
                check(qrels, run, path, threads=threads, trec_eval_version=version)


@pytest.mark.parametrize("extra", [5, 17, 40, 9000])
def test_a_line_of_more_fields_than_a_block_has_room_for(extra, path):
    """Single bytes and single blanks: as many fields as there can be."""
    qrels = judged("q c 1, r d 1")
    for before in (*range(16384 - 40, 16384 + 3), 100):
        filling = b"q Q0 a 1 9 %b\n" % (b"t" * (before - 13))
        run = filling + b"q Q0 b 1 8 t" + b" m" * extra + b"\nq Q0 c 1 7 last\nr Q0 d 1 1 x\n"

        (_, _, found, _, tag), _ = assert_streams(qrels, run, path, measures="recip_rank")

        assert (found, tag) == ([b"q", b"r"], b"x")


def test_many_blank_lines_hold_no_results():
    """Were each looked for from the one before, this would not end."""
    run = parse_run(b"\n" * many(50_000_000) + lines("q1", 2))

    assert (len(run), len(run.docs)) == (1, 2)


def test_a_run_of_one_query_has_one_part(path):
    """There is no change of query at which to cut."""
    path.write_bytes(lines("q", 100))

    with pieces.open_source(path) as file:
        assert len(chunks.FileParts(file, 4)) == 1


def test_a_run_of_many_queries_is_cut_between_them(path):
    path.write_bytes(of_queries(100, 10))

    with pieces.open_source(path) as file:
        texts = []
        for reader in chunks.FileParts(file, 4).readers():
            view = bytearray(1 << 20)
            texts.append(bytes(view[: reader.readinto(view)]))

    assert len(texts) == 4
    assert b"".join(texts) == path.read_bytes()
    for before, text in pairwise(texts):
        assert before.splitlines()[-1].split()[0] != text.split()[0]


@slow_in_python
@pytest.mark.parametrize("score", ["1", "{}", "0.5{}"])
def test_a_hundred_thousand_documents_in_one_query(score, path):
    """All tied, or none, and a third judged: were time to go with the square, it would not end."""
    count = 100_000
    qrels = b"".join(b"q 0 d%d %d\n" % (i, i % 7 == 0) for i in range(0, 2 * count, 3))

    assert_streams(qrels, lines("q", count, score=score), path, measures="map ndcg bpref")


@slow_in_python
@pytest.mark.parametrize("scattered", [False, True])
def test_a_hundred_thousand_queries_of_one_line(scattered, path):
    count = 100_000
    qrels = b"".join(b"%d 0 d %d\n" % (i, i % 3) for i in range(count))
    run = b"".join(b"%d Q0 d 1 1 t\n" % i for i in range(count))
    run += scattered * b"0 Q0 e 2 0 t\n"

    (_, _, found, missing, _), _ = assert_streams(qrels, run, path, measures="map", threads=3)

    assert (len(found), missing) == (count, 0)


# Scores are compared as text where that is right


@pytest.mark.parametrize("version", VERSIONS)
def test_scores_rank_as_their_numbers_do(version, path):
    """Threes of scores, in every query the middle one judged; near ones, far ones, odd ones."""
    chance = random.Random(5)
    run, qrels, expected = [], [], []
    for number in range(many(40_000)):
        texts = [score_text(chance) for _ in range(3)]
        if chance.random() < 0.5:
            texts.sort(key=lambda text: -strtod(text.encode()))
        own = f"{number:06}"
        run += [f"{own} Q0 {doc} 1 {text} t\n" for doc, text in zip("abc", texts, strict=True)]
        qrels.append(f"{own} 0 b 1\n")
        values: list[Any] = [strtod(text.encode()) for text in texts]
        if version == "9.0.8":
            with np.errstate(over="ignore"):
                values = [np.float32(value) for value in values]
        # Of equal ones the larger id is first.
        expected.append(1 / (1 + (values[0] > values[1]) + (values[2] >= values[1])))
    path.write_text("".join(run))
    nouns = parse_qrels("".join(qrels).encode())

    scores = as_the_command(nouns, pieces.open_source(path), "recip_rank", version=version)

    found = scores["recip_rank"].tolist()
    assert [run[3 * i : 3 * i + 3] for i, own in enumerate(expected) if own != found[i]] == []
    assert is_streamed(nouns, path, trec_eval_version=version, original=True)


TWENTY_DIGITS = (
    b"q Q0 a 1 0.12345678901234567891 t\nq Q0 b 2 0.11345678901234567891 t\n"
    b"q Q0 c 2 0.10345678901234567891 t\n"
)
SHORT_ONE = b"q Q0 b 1 0.50000000000000000001 t\nq Q0 a 2 0.5 t\n"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("run", "value"), [(TWENTY_DIGITS, 1.0), (SHORT_ONE, 0.5)])
def test_scores_of_twenty_digits_tie_only_where_their_numbers_do(run, value, version, path):
    """Too many digits for the quick reader, though texts are compared."""
    (values, *_), _ = assert_same(
        judged("q a 1"), run, path, measures="recip_rank", trec_eval_version=version
    )

    assert values == [[value.hex()]]


def test_runs_one_after_the_other_do_not_see_each_other(tmp_path):
    """Large and small, scattered and not, refused or not: as if each were alone."""
    qrels = parse_qrels(b"".join(b"q%d 0 d%d 1\n" % (i, i) for i in range(20)))
    texts = [
        lines("q1", 3),
        of_queries(19, 30),
        lines("q19", 25),
        lines("q1", 3) + lines("q2", 9) + lines("q1", 3, first=7),
        b"# comment\n" + lines("q2", 9),
        lines("q5", 100),
        b"q5 Q0 d5 1 inf t\n",
        lines("q4", 9) + b"\0",
        lines("q6", 7),
    ]
    paths = [tmp_path / f"{number}.run" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for options in ({}, {"missing": "zero", "trec_eval_version": "10.0"}, {"threads": 3}):
            alone = [said(fastrank.evaluate(qrels, path, "all_trec", **options)) for path in paths]
            for size in (64, 1 << 20):
                with piece(size):
                    found = fastrank.evaluate(qrels, [*paths, *paths], "all_trec", **options)
                assert [said(scores) for scores in found] == 2 * alone
