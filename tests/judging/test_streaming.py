"""Run files judged while they are read: the same scores, or the same error, as from memory."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import os
import random
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import event, example, given
from hypothesis import strategies as st

import fastrank
from fastrank.data.qrels import Qrels
from fastrank.errors import EvaluationError, FastrankError, ReadError
from fastrank.evaluation.scoring import Scorer
from fastrank.formats import chunks
from fastrank.formats import source as pieces
from fastrank.judging import streaming
from fastrank.judging.judge import RunJudge
from fastrank.judging.options import Options
from fastrank.judging.streaming import FileJudge
from fastrank.measures.selection import Selection
from fastrank.native import threads
from tests.helpers.compression import zstd
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.strategies import (
    QRELS_ROWS,
    RUN_ROWS,
    exactly,
    examples,
    many,
    slow_in_python,
    strtod,
    untidy,
)

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 1\nq3 0 d 1\n"
RUN = b"q1 Q0 b 1 2.0 tag\nq1 Q0 a 2 1.0 tag\nq2 Q0 c 1 9 tag\n"
COMMAND = [sys.executable, "-m", "fastrank", "trec_eval"]


# What a run file gives, streamed and from memory


@contextmanager
def piece(size: int) -> Iterator[None]:
    """Read so many bytes at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "PIECE", size)
        yield


def is_streamed(
    qrels: bytes | Qrels,
    path: Path,
    threads: int | None = 1,
    *,
    trec_eval_version: str = "9.0.8",
    relevance_level: int = 1,
    original: bool = False,
) -> bool:
    """Whether a file is judged while it is read, and not read as a whole first."""
    nouns = parse_qrels(qrels) if isinstance(qrels, bytes) else qrels
    options = options_of(trec_eval_version, relevance_level=relevance_level, original=original)
    with pieces.open_source(path) as file:
        return FileJudge(nouns, [], options).judge(chunks.FileParts(file, threads)) is not None


def options_of(
    trec_eval_version: str, *, relevance_level: int = 1, original: bool = False
) -> Options:
    """The options of `evaluate`, or those of the command trec_eval."""
    return Options(
        trec_eval_version=trec_eval_version, relevance_level=relevance_level, original=original
    )


def as_the_command(
    nouns: Qrels,
    run: Any,
    measures: str = "all_trec",
    *,
    threads: int = 1,
    trec_eval_version: str = "9.0.8",
) -> Any:
    """The scores of a file's pieces, or of a Run, as the command trec_eval computes them."""
    options = options_of(trec_eval_version, original=True)
    bound = Selection(measures, original=True).bind(trec_eval_version)
    judged = RunJudge(nouns, bound, options).judge(run, threads=threads)
    # Which queries have no judgments is known in memory only, and not asked for.
    return Scorer(nouns, bound, options).scores(judged.changed(unjudged_queries=None))


def outcome(evaluate: Callable[[], Any]) -> Any:
    """Everything that an evaluation says, to the bit: scores or error, and warnings."""
    found: Any
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scores = evaluate()
        except FastrankError as error:
            known = vars(error).copy()
            before = known.pop("before", None)
            found = type(error), str(error), exactly(sorted(known.items(), key=str)), said(before)
        else:
            found = said(scores)
    return found, [str(warning.message) for warning in caught]


def said(scores: Any) -> Any:
    """Every value of scores, to the bit."""
    if scores is None:
        return None
    values = [
        column if column is None or isinstance(column, list) else exactly(list(column))
        for column in scores.value_columns
    ]
    found = list(scores.query_ids)
    summaries = exactly(scores.summaries), scores.unjudged_queries
    return values, summaries, found, scores.counts["missing_queries"], scores.tag_bytes


def assert_same(
    qrels: bytes | Qrels,
    run: bytes,
    path: Path,
    measures: str = "all_trec",
    *,
    threads: int | None = 1,
    **options: Any,
) -> Any:
    """A file evaluates to what its text does; returns what that is."""
    nouns = parse_qrels(qrels) if isinstance(qrels, bytes) else qrels
    path.write_bytes(run)
    trec_eval_version = options.get("trec_eval_version", "9.0.8")

    streamed = outcome(
        lambda: fastrank.evaluate(nouns, str(path), measures, threads=threads, **options)
    )

    def in_memory(text: bytes) -> Any:
        return outcome(
            lambda: fastrank.evaluate(
                nouns,
                parse_run(text, str(path), trec_eval_version=trec_eval_version),
                measures,
                **options,
            )
        )

    # What a file has for queries without judgments is looked at only if it is read as a whole.
    assert streamed in (in_memory(run), in_memory(with_scores_of_judged(nouns, run)))
    return streamed


def with_scores_of_judged(qrels: Qrels, run: bytes) -> bytes:
    """The run with a number as the score of every document of a query without judgments."""
    judged = set(qrels.queries)
    lines = []
    for line in run.split(b"\n"):
        fields = line.split()
        if len(fields) >= 6 and b"\0" not in line and fields[0] not in judged:
            # What comes before stays: without a blank a byte order mark would begin the file. And
            # the number must not be a whole one, which could be a rank.
            line = re.sub(rb"((?:\s*\S+){4}\s+)\S+", rb"\g<1>0.5", line, count=1)
        lines.append(line)
    return b"\n".join(lines)


def assert_streams(qrels: bytes | Qrels, run: bytes, path: Path, **options: Any) -> Any:
    """The same, and the file is not read as a whole."""
    found = assert_same(qrels, run, path, **options)
    threads, trec_eval_version = (
        options.get("threads", 1),
        options.get("trec_eval_version", "9.0.8"),
    )
    assert is_streamed(qrels, path, threads, trec_eval_version=trec_eval_version)
    return found


def lines(query: str, count: int, first: int = 0, score: str = "{}") -> bytes:
    """Results of a query, best first."""
    return "".join(
        f"{query} Q0 d{i} {i} {score.format(10**6 - i)} tag\n" for i in range(first, first + count)
    ).encode()


# Runs as systems print them, and as nobody does

FORMS: list[Callable[[float], str]] = [
    lambda value: f"{value:.6f}",
    lambda value: repr(value),
    lambda value: str(np.float32(value)),
    lambda value: f"{value:e}",
    lambda value: f"{int(value)}",
    lambda value: f"{-abs(value):.3f}",
    lambda value: f"{value:.17g}",
    lambda value: f"{value:08.2f}",
    lambda value: f"{value:.1f}".replace("0.", ".").replace(".0", "." if abs(value) >= 1 else ".0"),
    lambda value: f"+{abs(value):.2f}",
    lambda value: repr(1 + value * 1e-9),
    lambda value: f"{value * 1000:.4f}",
    lambda value: f"{value:.0f}.",
    lambda value: f"{int(value * 4) / 4}",
]
ODD_FORMS: list[Callable[[float], str]] = [
    lambda value: f"{value:.20f}",
    lambda value: f"{value:.24f}",
    lambda value: f"{value:.2f}x",
    lambda value: float.hex(value),
    lambda value: f"{int(value * 1e18)}123",
    lambda value: f"{value:.2f}e400" if value > 9 else f"{value:.3f}",
    lambda value: "nan" if value > 9 else "inf" if value > 8 else "-inf" if value < 1 else "abc",
]
SPREADS: list[Callable[[random.Random], float]] = [
    lambda chance: chance.uniform(0, 1),
    lambda chance: chance.uniform(0, 30),
    lambda chance: chance.uniform(-5, 5),
    lambda chance: float(chance.randrange(4)),
    lambda chance: chance.choice([0.0, -0.0, 1e-9, 1e9, 7.5, 7.500000001, 10.0]),
]
GAPS = [" ", " ", " ", "\t", "  ", " \t ", "\v", "\f"]
EDGES = ["", "", "", "", " ", "\t"]
ODD_LINES = [
    "#", "# a comment", "# a b c 1 t", "\0", "a line", "{q} Q0 a\0b 1 1 t", "{q} Q0 x 1 1", " #",
]  # fmt: skip


def id_of(chance: random.Random, number: int) -> str:
    """A text of 1 to 70 bytes that no other number has."""
    stem = chance.choice(["", "d", "doc-", "clueweb09-en0000-00-", "é€", "x" * 8])
    text = f"{stem}{number}"
    return text + chance.choice(["", "", "-" * chance.randrange(max(1, 70 - len(text.encode())))])


def make_case(seed: int, queries: int, depth: int, odd: bool) -> tuple[bytes, bytes]:
    """Judgments and a run. Unless `odd` no line is malformed, no document comes twice and any
    program could read the scores."""
    chance = random.Random(seed)
    documents = [id_of(chance, number) for number in range(2 * depth + 2)]
    if chance.random() < 0.5:
        documents = [f"d{number}" for number in range(2 * depth + 2)]
    judgments, blocks = [], []
    for number in range(queries):
        query = chance.choice(["q{}", "{}", "Q-{}-long-enough-for-two-words"]).format(number)
        if chance.random() < 0.85 or number == 0:
            pool = chance.sample(documents, chance.randrange(1, len(documents)))
            grades = [0] + [chance.choice([-1, 0, 0, 1, 1, 2, 3]) for _ in pool[1:]]
            if odd and chance.random() < 0.03:
                pool[-1] = pool[0]
            judgments += [
                f"{query} 0 {doc} {grade}" for doc, grade in zip(pool, grades, strict=True)
            ]
        if chance.random() < 0.85 or number == 0:
            blocks.append(block_of(chance, query, documents, depth, odd))
    if chance.random() < 0.3:
        chance.shuffle(blocks)
    run = [line for block in blocks for line in block]
    if chance.random() < 0.3:
        chance.shuffle(run)
    elif chance.random() < 0.3:
        # A few lines that stand elsewhere.
        for _ in range(3):
            run.insert(chance.randrange(len(run) + 1), run.pop(chance.randrange(len(run))))
    if odd and chance.random() < 0.3:
        line = chance.choice(ODD_LINES).format(q="q1")
        run.insert(chance.randrange(len(run) + 1), line)
    for _ in range(chance.choice([0, 0, 3, 40])):
        run.insert(chance.randrange(len(run) + 1), chance.choice(["", "", " \t", " " * 70]))
    text = chance.choice(["\n", "\n", "\r\n"]).join(run) + chance.choice(["", "\n", "\n", "\n\n"])
    return "".join(f"{line}\n" for line in judgments).encode(), text.encode()


def block_of(
    chance: random.Random, query: str, documents: list[str], depth: int, odd: bool
) -> list[str]:
    """The lines of a query."""
    gap, edge = chance.choice(GAPS), chance.choice(EDGES)
    if chance.random() < 0.5:
        gap, edge = " ", ""
    forms = chance.sample(FORMS, chance.choice([1, 1, 1, 2, len(FORMS)]))
    if odd and chance.random() < 0.4:
        forms.append(chance.choice(ODD_FORMS))
    spread = chance.choice(SPREADS)
    found = chance.sample(documents, chance.randrange(1, depth + 1))
    if odd and chance.random() < 0.1:
        found[-1] = found[0]
    scores = [chance.choice(forms)(spread(chance)) for _ in found]
    if chance.random() < 0.7:
        scores.sort(key=lambda text: -strtod(text.encode()))
    more = chance.choice([[], [], ["more"], ["and", "more"]])
    return [
        edge + gap.join([query, "Q0", doc, "1", score, f"tag{query}", *more]) + edge
        for doc, score in zip(found, scores, strict=True)
    ]


SEEDS = st.integers(0, 2**48)
QUERIES, DEPTHS = st.sampled_from([1, 2, 5, 12]), st.sampled_from([1, 3, 12, 40])
THREADS = st.integers(1, 4)
PIECES = st.sampled_from([12, 64, 200, 1000, 1 << 14, 1 << 20])
EVALUATION = st.fixed_dictionaries(
    {"trec_eval_version": st.sampled_from(["9.0.8", "10.0"])},
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


@examples(250)
@given(SEEDS, QUERIES, DEPTHS, THREADS, PIECES, EVALUATION)
def test_a_usual_run_is_judged_in_pieces_to_the_same_bits(
    path: Path, seed: int, queries: int, depth: int, threads: int, size: int, options: Any
) -> None:
    qrels, run = make_case(seed, queries, depth, odd=False)

    with piece(size):
        assert_streams(qrels, run, path, threads=threads, **options)


@examples(250)
@given(SEEDS, QUERIES, DEPTHS, THREADS, PIECES, EVALUATION)
def test_an_odd_run_gives_the_same_scores_or_the_same_error(
    path: Path, seed: int, queries: int, depth: int, threads: int, size: int, options: Any
) -> None:
    """Repeated documents, comments, NUL bytes, malformed lines, scores that are hard to read."""
    qrels, run = make_case(seed, queries, depth, odd=True)

    with piece(size):
        (found, *_), _ = assert_same(qrels, run, path, threads=threads, **options)
    event("scores" if isinstance(found, list) else found.__name__)


@examples(250)
@given(SEEDS, QUERIES, DEPTHS, THREADS, PIECES, st.sampled_from(["9.0.8", "10.0"]))
def test_the_command_reads_odd_numbers_in_pieces_as_in_memory(
    path: Path, seed: int, queries: int, depth: int, threads: int, size: int, compat: str
) -> None:
    qrels, run = make_case(seed, queries, depth, odd=True)
    nouns = parse_qrels(qrels)
    path.write_bytes(run)

    with piece(size):
        streamed = outcome(
            lambda: as_the_command(
                nouns, pieces.open_source(path), threads=threads, trec_eval_version=compat
            )
        )

    assert streamed == outcome(
        lambda: as_the_command(
            nouns,
            parse_run(run, str(path), trec_eval_version=compat, strict=False),
            trec_eval_version=compat,
        )
    )


def results(*queries: bytes, score: bytes = b"1", docs: bytes = b"d") -> bytes:
    return b"".join(
        b"%b Q0 %b%d 1 %b t\n" % (query, docs, row, score) for query in queries for row in range(8)
    )


@examples(250)
@given(untidy(QRELS_ROWS), untidy(RUN_ROWS), THREADS, PIECES, EVALUATION)
# Behind a blank a byte order mark is part of an id.
@example(QRELS, b" \xef\xbb\xbf# a b 1 # q2", 2, 155, {"trec_eval_version": "10.0"})
# Its file is read by the rules of the version that was asked for.
@example(QRELS, b"\xef\xbb\xbf\n# \0\n" + RUN, 1, 64, {"trec_eval_version": "10.0"})
# Five fields at the beginning of a part, in a run whose lines are scattered.
@example(
    QRELS,
    b"q2 Q0 d1 1 6 t\n-1e3 #x x a -1e3 #x\nq2 Q0 a 1 5 t\nq2 Q0 d4 1 2 t\nq 2 2 0 #\n"
    b"q1 Q0 d5 1 6 t",
    2,
    156,
    {"trec_eval_version": "9.0.8"},
)
# Seven fields at a cut: whether an id has a blank is seen from the line before, not the next.
@example(
    QRELS,
    results(b"q2", b"q1") + b"# Q0 a b 1 2.5 t\n# Q0 a b 1 2.5 t\n" + results(b"q3"),
    4,
    100,
    {"trec_eval_version": "9.0.8"},
)
# Rank and score exchanged where a run with scattered lines comes to a query again, and not in a
# line that goes on like the one before.
@example(
    QRELS,
    b"q1 Q0 e 2 1 t\nq2 Q0 e 2 8 t\nq1 Q0 d 0.5 2 t\nq1 Q0 f 0.5 3 t\n",
    3,
    92,
    {"trec_eval_version": "9.0.8"},
)
@example(
    QRELS,
    b"q1 Q0 e 2 1 t\nq2 Q0 e 2 8 t\nq1 Q0 d 7 2 tag\nq1 Q0 g 0.5 2 t u\nq1 Q0 c 7 3 t",
    3,
    92,
    {"trec_eval_version": "9.0.8"},
)
def test_any_text_gives_the_same_scores_or_the_same_error(
    path: Path, qrels: bytes, run: bytes, threads: int, size: int, options: Any
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            nouns = parse_qrels(qrels, trec_eval_version=options["trec_eval_version"])
        except FastrankError:
            return

    with piece(size):
        if run:
            assert_same(nouns, run, path, threads=threads, **options)


@pytest.mark.parametrize(
    "run",
    [
        # A NUL byte in a comment is an error, but for what follows a comment without one.
        b"#\0\n" + results(b"q4", b"q5", b"q6") + b"# a\n" + results(b"q7"),
        results(b"q1", b"q4", b"q2") + results(b"q1", docs=b"e") + b"#\0\n" + results(b"q5")
        + b"# a\n" + results(b"q6"),
        # Scores of queries without judgments are looked at only in memory.
        results(b"q1", b"q4", b"q2") + results(b"q4", score=b"x") + results(b"q1", docs=b"e")
        + b"# a\n" + results(b"q6", b"q2", docs=b"f"),
    ],
)  # fmt: skip
def test_the_outcome_does_not_depend_on_which_thread_is_first(
    run: bytes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        found = [evaluated(threads) for threads in (1, *[2, 3, 4] * 30)]

    assert found == [found[0]] * len(found)


@examples(80)
@given(SEEDS, QUERIES, DEPTHS, THREADS, PIECES)
def test_map_and_ndcg_have_the_bits_of_pytrec_eval(
    path: Path, seed: int, queries: int, depth: int, threads: int, size: int
) -> None:
    qrels, run = make_case(seed, queries, depth, odd=False)
    nested: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    for line in qrels.decode().splitlines():
        query, _, doc, grade = line.split(" ")
        nested[0].setdefault(query, {})[doc] = int(grade)
    for line in run.decode().split("\n"):
        if fields := line.split():
            nested[1].setdefault(fields[0], {})[fields[2]] = strtod(fields[4].encode())
    expected = pytrec_eval.RelevanceEvaluator(nested[0], {"map", "ndcg"}).evaluate(nested[1])
    path.write_bytes(run)

    with piece(size):
        scores = fastrank.evaluate(parse_qrels(qrels), str(path), "map ndcg", threads=threads)

    assert scores.queries == sorted(expected, key=str.encode)
    for name in ("map", "ndcg"):
        assert exactly(scores[name].tolist()) == exactly(
            [expected[query][name] for query in scores.queries]
        )


# Where pieces, blocks and parts end


@pytest.mark.parametrize("size", [12, 13, 64, 200])
def test_a_query_larger_than_the_buffer(size: int, tmp_path: Path) -> None:
    qrels = b"q1 0 d7 1\nq2 0 d99 1\nq3 0 d3 2\n"
    run = lines("q1", 5) + lines("q2", 100) + lines("q3", 5)

    with piece(size):
        assert_streams(qrels, run, tmp_path / "run")


@pytest.mark.parametrize("place", range(6))
def test_a_line_longer_than_several_pieces(place: int, tmp_path: Path) -> None:
    """Whichever field it is that is long."""
    fields = b"q1 Q0 b 1 2 tag".split()
    fields[place] *= 1000
    run = b"q0 Q0 a 1 1 t\n" + b" ".join(fields) + b"\nq1 Q0 a 2 1 t\nq2 Q0 c 1 1 t\n"
    qrels = b"%b 0 %b 1\nq1 0 a 1\nq2 0 c 1\n" % (fields[0], fields[2])

    with piece(64):
        assert_same(qrels, run, tmp_path / "run")


@pytest.mark.parametrize("extra", [5, 17, 40, 9000])
def test_a_line_of_more_fields_than_a_block_has_room_for(extra: int, tmp_path: Path) -> None:
    """Single bytes and single blanks: as many fields as there can be."""
    for before in (*range(16384 - 40, 16384 + 3), 100):
        filling = b"q Q0 a 1 9 %b\n" % (b"t" * (before - 13))
        run = filling + b"q Q0 b 1 8 t" + b" m" * extra + b"\nq Q0 c 1 7 last\nr Q0 d 1 1 x\n"

        (_, _, found, _, tag), _ = assert_streams(
            b"q 0 c 1\nr 0 d 1\n", run, tmp_path / "run", measures="recip_rank"
        )

        assert (found, tag) == ([b"q", b"r"], b"x")


@pytest.mark.parametrize("shift", range(14))
def test_lines_of_minimal_length(shift: int, tmp_path: Path) -> None:
    """12 bytes each, over the ends of blocks and pieces at every place."""
    documents = b"abcdefghijklmnopqrstuvwxyz"
    queries = [bytes([query]) for query in documents]
    qrels = b"".join(b"%b 0 k 1\n" % query for query in queries)
    run = b"\n" * shift + b"".join(
        b"%b Q %c r %d t\n" % (query, doc, doc % 10) for query in queries for doc in documents
    )
    run += b"".join(b"%b Q %c r %d t\n" % (b"A", doc, doc % 10) for doc in documents) * 80

    for size in (12, 120, 4096, 1 << 14, 1 << 20):
        with piece(size):
            assert_streams(qrels, run, tmp_path / "run", measures="map recip_rank")


@pytest.mark.parametrize("blank", [b"\n", b" ", b"\t\n", b"\r\n", b" " * 63 + b"\n"])
@pytest.mark.parametrize("threads", [1, 3])
def test_stretches_of_blanks(blank: bytes, threads: int, tmp_path: Path) -> None:
    """Longer than a block, before, between and behind the results; the tag is the last line's."""
    blanks = (blank * 40_000)[:40_000] + b"\n"
    run = blanks + lines("q1", 3) + blanks + lines("q2", 2).replace(b"tag", b"last") + blanks

    for size in (64, 1 << 14, 1 << 20):
        with piece(size):
            (*_, tag), _ = assert_streams(
                b"q1 0 d1 1\nq2 0 d1 1\n", run, tmp_path / "run", measures="map", threads=threads
            )
        assert tag == b"last"


def test_blanks_to_the_end_of_the_memory(tmp_path: Path) -> None:
    """A buffer full of them holds nothing else at which to stop."""
    for blank in (b"\n", b" ", b" \n"):
        run = blank * (1 << 20) + lines("q1", 2)
        assert_streams(b"q1 0 d1 1\n", run, tmp_path / "run", measures="map")


def test_many_blank_lines_hold_no_results() -> None:
    """Were each looked for from the one before, this would not end."""
    run = parse_run(b"\n" * many(50_000_000) + lines("q1", 2))

    assert (len(run), len(run.docs)) == (1, 2)


@pytest.mark.parametrize("content", [b"\n", b"\n\n\n", b" ", b"   \n \n", b"\r\n"])
def test_a_file_of_blanks_has_no_queries(content: bytes, tmp_path: Path) -> None:
    (kind, *_), _ = assert_streams(QRELS, content, tmp_path / "run")

    assert kind is fastrank.NoQueriesError


@pytest.mark.parametrize("first", [b"q1 a 1 2.0\n", b"q1 0 a 1\n" * 100, b"\n \na b c d\n"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_run_that_begins_with_four_fields_is_malformed(
    first: bytes, threads: int, tmp_path: Path
) -> None:
    """As judgments do, given in place of a run: from the first line, whatever follows."""
    for size in (64, 1 << 20):
        with piece(size):
            (kind, message, *_), _ = assert_same(
                QRELS, first + lines("q1", 30), tmp_path / "run", threads=threads
            )
        assert kind is fastrank.FormatError
        assert "found 4" in message


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"")

    with pytest.raises(ReadError, match="the file is empty"):
        fastrank.evaluate(parse_qrels(QRELS), tmp_path / "run")


def test_a_run_of_one_query_has_one_part(tmp_path: Path) -> None:
    """There is no change of query at which to cut."""
    qrels, run = b"q 0 d50 1\nq 0 d7 1\n", lines("q", 100)

    assert_streams(qrels, run, tmp_path / "run", threads=4)

    with pieces.open_source(tmp_path / "run") as file:
        assert len(chunks.FileParts(file, 4)) == 1


def test_a_run_of_many_queries_is_cut_between_them(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"".join(lines(f"q{i}", 10) for i in range(100)))

    with pieces.open_source(path) as file:
        texts = []
        for reader in chunks.FileParts(file, 4).readers():
            view = bytearray(1 << 20)
            texts.append(bytes(view[: reader.readinto(view)]))

    assert len(texts) == 4
    assert b"".join(texts) == path.read_bytes()
    for before, text in pairwise(texts):
        assert before.splitlines()[-1].split()[0] != text.split()[0]


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_a_query_with_lines_in_two_parts(threads: int, tmp_path: Path) -> None:
    qrels = b"".join(b"q%d 0 d%d 1\n" % (i, j) for i in range(8) for j in (1, 9, 15))
    run = b"".join(lines(f"q{i}", 10) for i in range(8))
    run += b"".join(lines(f"q{i}", 10, first=10) for i in range(8))

    assert_streams(qrels, run, tmp_path / "run", threads=threads)


def test_a_comment_at_a_cut(tmp_path: Path) -> None:
    """It looks like another query there."""
    run = (lines("q1", 3) + b"# a comment\n") * 1
    run += b"".join(lines("q1", 1, first=i) + b"# %d\n" % i for i in range(3, 60))

    for trec_eval_version in ("9.0.8", "10.0"):
        assert_streams(
            b"q1 0 d5 1\nq1 0 d50 1\n",
            run,
            tmp_path / "run",
            threads=4,
            trec_eval_version=trec_eval_version,
        )


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_tag_is_that_of_the_last_line(threads: int, tmp_path: Path) -> None:
    run = b"".join(lines(f"q{i}", 4).replace(b"tag", b"tag%d" % i) for i in range(1, 40))
    path = tmp_path / "run"

    for end in (b"", b"\n" * 300, b" \n" * 3000, b"other Q0 d 1 1 tag39"):
        for size in (64, 1 << 20):
            with piece(size):
                (*_, tag), _ = assert_streams(QRELS, run + end, path, threads=threads)
            assert tag == b"tag39"


# Many documents, many queries, many judgments


@slow_in_python
@pytest.mark.parametrize("score", ["1", "{}", "0.5{}"])
def test_a_hundred_thousand_documents_in_one_query(score: str, tmp_path: Path) -> None:
    """All tied, or none, and a third judged: were time to go with the square, it would not end."""
    count = 100_000
    qrels = parse_qrels(b"".join(b"q 0 d%d %d\n" % (i, i % 7 == 0) for i in range(0, 2 * count, 3)))
    run = lines("q", count, score=score)

    assert_streams(qrels, run, tmp_path / "run", measures="map ndcg bpref")


@slow_in_python
@pytest.mark.parametrize("scattered", [False, True])
def test_two_hundred_thousand_queries_of_one_line(scattered: bool, tmp_path: Path) -> None:
    numbers = range(200_000)
    qrels = parse_qrels(b"".join(b"%d 0 d %d\n" % (i, i % 3) for i in numbers))
    rows = [b"%d Q0 d 1 1 t\n" % i for i in numbers]
    if scattered:
        rows.append(b"0 Q0 e 2 0 t\n")

    (_, _, found, missing, _), _ = assert_streams(
        qrels, b"".join(rows), tmp_path / "run", measures="map", threads=3
    )

    assert (len(found), missing) == (200_000, 0)


@pytest.mark.parametrize("scattered", [False, True])
def test_far_more_judged_than_retrieved(scattered: bool, tmp_path: Path) -> None:
    count = many(20_000)
    qrels = b"".join(b"q 0 d%d %d\n" % (i, i % 5) for i in range(count)) + b"r 0 a 1\n"
    run = lines("q", 3, first=count - 2) + b"r Q0 a 1 1 t\n" + scattered * lines("q", 1)

    with piece(64):
        assert_streams(qrels, run, tmp_path / "run")


# What cannot be done in pieces


@pytest.mark.parametrize(
    ("run", "where"),
    [
        (b"%(a)b%(b)b%(a)b", "lines 1 and 3"),
        (b"%(a)b%(other)b%(a)b", "lines 1 and 12"),
        (b"%(b)b%(a)b%(other)b%(other2)b%(a)b%(b)b", "lines 1 and 24"),
        (b"\n%(x)b%(b)b%(a)b%(x)b", "lines 2 and 5"),
    ],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_repeated_document_is_reported_with_its_lines(
    run: bytes, where: str, threads: int, tmp_path: Path
) -> None:
    """In a row, scattered, in two parts of the file, judged or not."""
    rows = {
        b"a": b"q Q0 a 1 2 t\n",
        b"b": b"q Q0 b 1 3 t\n",
        b"x": b"q Q0 unjudged 1 3 t\n",
        b"other": lines("o", 10),
        b"other2": lines("p", 10),
    }

    for size in (64, 1 << 20):
        with piece(size):
            (kind, message, *_), _ = assert_same(
                b"q 0 a 1\nq 0 b 1\n", run % rows, tmp_path / "run", threads=threads
            )
        assert kind is EvaluationError
        assert where in message


def test_a_repeated_document_behind_the_cut_does_not_matter(tmp_path: Path) -> None:
    run = b"q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n"

    (values, *_), _ = assert_streams(
        b"q 0 a 1\n", run[:26], tmp_path / "run", measures="num_ret", depth=2
    )
    (same, *_), _ = assert_same(b"q 0 a 1\n", run, tmp_path / "run", measures="num_ret", depth=2)

    assert values == same


def test_a_repeated_document_of_a_query_without_judgments_does_not_matter(tmp_path: Path) -> None:
    assert_streams(QRELS, RUN + b"u Q0 a 1 1 t\nu Q0 a 1 1 t\n", tmp_path / "run")


@pytest.mark.parametrize("threads", [1, 4])
def test_lines_in_any_order(threads: int, tmp_path: Path) -> None:
    rows = b"".join(lines(f"q{i}", 30) for i in range(20)).splitlines(keepends=True)
    qrels = b"".join(b"q%d 0 d%d %d\n" % (i, j, j % 3) for i in range(20) for j in range(0, 40, 3))
    random.Random(1).shuffle(rows)

    with piece(200):
        assert_streams(qrels, b"".join(rows), tmp_path / "run", threads=threads)


@pytest.mark.parametrize("length", [1, 8, 36, 60, 100, 111, 112, 255, 256, 400])
@pytest.mark.parametrize("threads", [1, 3])
def test_scattered_lines_with_ids_of_any_length(length: int, threads: int, tmp_path: Path) -> None:
    """Up to 111 bytes none of them makes the file be read as a whole."""
    rows = [
        b"q%d Q0 %b %d %d tag\n" % (query, (b"%d" % doc).rjust(length, b"x"), doc, doc * 7 % 11)
        for doc in range(min(90, 10**length))
        for query in range(9)
    ]
    qrels = b"".join(
        b"q%d 0 %b 1\n" % (query, (b"%d" % doc).rjust(length, b"x"))
        for query in range(9)
        for doc in (0, 5, 9)
    )

    check = assert_streams if length <= 111 else assert_same
    check(qrels, b"".join(rows), tmp_path / "run", threads=threads)


@pytest.mark.parametrize("length", [255, 256, 300, 511, 520, 900])
def test_a_long_id_among_short_ones_in_scattered_lines(length: int, tmp_path: Path) -> None:
    """The one byte that a record has for it counts up to 255."""
    rows = [b"q%d Q0 d%d 1 %d t\n" % (query, doc, doc) for doc in range(1500) for query in (1, 2)]
    rows.insert(10, b"q1 Q0 %b 1 700 t\n" % (b"x" * length))
    qrels = b"q1 0 d5 1\nq1 0 d900 2\nq1 0 %b 1\nq2 0 d5 1\n" % (b"x" * length)

    assert_same(qrels, b"".join(rows), tmp_path / "run")


def test_scattered_lines_of_queries_whose_ids_begin_alike(tmp_path: Path) -> None:
    """With 7 to 9 bytes, with more, and with so many that their number is kept in no byte."""
    ids = [b"1234567890" * 40]
    ids = [ids[0][:size] for size in (1, 7, 8, 9, 10, 16, 17, 254, 255, 256, 257, 400)]
    ids += [b"12345678x", b"12345678901234567y"]
    qrels = b"".join(b"%b 0 d%d 1\n" % (query, len(query) % 5) for query in ids[::2])
    run = b"".join(b"%b Q0 d%d 1 %d t\n" % (query, i, i) for i in range(5) for query in ids)

    for size in (1 << 14, 1 << 20):
        with piece(size):
            assert_streams(qrels, run, tmp_path / "run")


def test_more_scattered_results_than_there_seemed_to_be_room_for(tmp_path: Path) -> None:
    rows = b"".join(lines(f"q{i}", 300) for i in range(4)).splitlines(keepends=True)
    random.Random(1).shuffle(rows)
    qrels = b"".join(b"q%d 0 d%d %d\n" % (i, j, j % 3) for i in range(4) for j in range(0, 300, 9))
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress(b"".join(rows)))
    expected, _ = assert_streams(qrels, b"".join(rows), tmp_path / "run")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "ROOM_IF_UNKNOWN", 1)
        assert said(fastrank.evaluate(parse_qrels(qrels), path, "all_trec")) == expected
        assert is_streamed(qrels, path)


def test_a_query_scattered_among_others_that_are_not_judged(tmp_path: Path) -> None:
    run = b"u Q0 a 1 1 t\n" + lines("q1", 2) + b"u Q0 b 1 1 t\n" + lines("q2", 2)

    assert_streams(b"q1 0 d1 1\nq2 0 d1 1\n", run, tmp_path / "run")


@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
@pytest.mark.parametrize("threads", [1, 3])
def test_comments(trec_eval_version: str, threads: int, tmp_path: Path) -> None:
    """Without the six fields of a result they are comments at 9.0.8 too."""
    run = b"# head\n" + lines("q1", 20) + b" # between\n" + lines("q2", 20) + b"# e n d 1 2 3\n"

    assert_streams(
        b"q1 0 d1 1\nq2 0 d1 1\n",
        run,
        tmp_path / "run",
        trec_eval_version=trec_eval_version,
        threads=threads,
    )


def test_a_query_called_hash_is_data_at_9_0_8(tmp_path: Path) -> None:
    run = b"# Q0 a 1 1 t\nq Q0 a 1 1 t\n"
    qrels = parse_qrels(b"# 0 a 1\nq 0 a 1\n")

    (_, _, found, *_), _ = assert_streams(qrels, run, tmp_path / "run")
    (_, _, newer, *_), _ = assert_streams(qrels, run, tmp_path / "run", trec_eval_version="10.0")

    assert (found, newer) == ([b"#", b"q"], [b"q"])


@pytest.mark.parametrize("place", [0, 5000, 20_000])
@pytest.mark.parametrize("line", [b"\0", b"q1 Q0 a\0b 1 1 t", b"q1 Q0 a 1 1", b"# \0", b"#"])
def test_a_line_that_is_no_result(line: bytes, place: int, tmp_path: Path) -> None:
    """Message, line number and warning are those of reading the whole file."""
    rows = b"".join(lines(f"q{i}", 10) for i in range(90)).splitlines(keepends=True)
    rows.insert(place // 22, line + b"\n")

    for trec_eval_version in ("9.0.8", "10.0"):
        for size in (200, 1 << 20):
            with piece(size):
                assert_same(
                    QRELS,
                    b"".join(rows),
                    tmp_path / "run",
                    threads=3,
                    trec_eval_version=trec_eval_version,
                )


# Scores are compared as text where that is right

SHAPES = [
    "{}", "-{}", "{}.5", "-{}.25", ".{}", "-.{}", "0.{}", "0{}.0", "00{}", "{}.", "{}.0000", "+{}",
    "{}e1", "{}e-1", "{}E+2", "1.{}x", "{}.5.5", "{}-", "-{}e0", "0.000{}", "1000000.{}", "7.{}00",
]  # fmt: skip
SPECIAL = (
    b"0 -0 -0.0 0.0 +0 . - -. -.0 .0 0. + x 1 1. 01 001.0 1.0 +1 1e0 10 9 9.9 9.99 10.0 -1 -1.0 -10"
    b" -9 -9.99 1.5x 1e3 1000 1e-3 .001 0.001 007.5 7.5 7.50 16777216 16777217 16777218"
    b" 9007199254740992 9007199254740993 1.00000001 1.00000002 1.0000001 1.0 999999999999999999"
    b" 1e30 1e38 3.5e38 1e39 1e300 1e-46 0.99999999 0.999999999999999999"
).split()


def score_texts(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return chance.choice(SPECIAL).decode()
    digits = str(chance.randrange(10 ** chance.choice([1, 1, 2, 3, 7, 12])))
    return chance.choice(SHAPES).format(digits)


@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_scores_rank_as_their_numbers_do(trec_eval_version: str, tmp_path: Path) -> None:
    """Threes of scores, in every query the middle one judged; near ones, far ones, odd ones."""
    chance = random.Random(5)
    run, qrels, expected = [], [], []
    for number in range(many(40_000)):
        texts = [score_texts(chance) for _ in range(3)]
        if chance.random() < 0.5:
            texts.sort(key=lambda text: -strtod(text.encode()))
        own = f"{number:06}"
        run += [f"{own} Q0 {doc} 1 {text} t\n" for doc, text in zip("abc", texts, strict=True)]
        qrels.append(f"{own} 0 b 1\n")
        values: list[Any] = [strtod(text.encode()) for text in texts]
        if trec_eval_version == "9.0.8":
            with np.errstate(over="ignore"):
                values = [np.float32(value) for value in values]
        # Of equal ones the larger id is first.
        expected.append(1 / (1 + (values[0] > values[1]) + (values[2] >= values[1])))

    path = tmp_path / "run"
    path.write_text("".join(run))
    nouns = parse_qrels("".join(qrels).encode())
    scores = as_the_command(
        nouns, pieces.open_source(path), "recip_rank", trec_eval_version=trec_eval_version
    )
    found = scores["recip_rank"].tolist()

    different = [run[3 * i : 3 * i + 3] for i, value in enumerate(expected) if value != found[i]]
    assert different == []
    assert is_streamed(nouns, path, trec_eval_version=trec_eval_version, original=True)


@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_descending_scores_of_twenty_digits_are_not_taken_for_ties(
    trec_eval_version: str, tmp_path: Path
) -> None:
    """Too many digits for the quick reader, though their texts are compared."""
    run = b"q Q0 a 1 0.12345678901234567891 t\nq Q0 b 2 0.11345678901234567891 t\n"
    run += b"q Q0 c 2 0.10345678901234567891 t\n"

    (values, *_), _ = assert_same(
        b"q 0 a 1\n",
        run,
        tmp_path / "run",
        measures="recip_rank",
        trec_eval_version=trec_eval_version,
    )

    assert values == [[(1.0).hex()]]


def test_equal_to_a_score_of_twenty_digits(tmp_path: Path) -> None:
    """The judged document's own score is a short one."""
    run = b"q Q0 b 1 0.50000000000000000001 t\nq Q0 a 2 0.5 t\n"

    (values, *_), _ = assert_same(b"q 0 a 1\n", run, tmp_path / "run", measures="recip_rank")

    assert values == [[(0.5).hex()]]


# Options


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_complete_at_10_0_has_values_for_missing_queries(
    scattered: bool, threads: int, tmp_path: Path
) -> None:
    """Also where the placeholder document is judged."""
    qrels = b"".join(b"q%d 0 d%d 1\n" % (i, i) for i in range(30))
    qrels += b"q0 0 ceci_nest_pas_un_docno 1\nq29 0 ceci_nest_pas_un_docno 2\n"
    run = lines("q1", 4) + lines("q20", 30) + lines("q7", 9) + scattered * b"q1 Q0 x 1 1 tag\n"

    for size in (64, 1 << 20):
        with piece(size):
            (_, _, found, missing, _), _ = assert_streams(
                qrels,
                run,
                tmp_path / "run",
                missing="zero",
                trec_eval_version="10.0",
                threads=threads,
            )
        assert (len(found), missing) == (30, 27)


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("query", ["q1 2", "u v", "", "q1\n"])
def test_a_missing_query_whose_id_is_no_field(query: str, scattered: bool, tmp_path: Path) -> None:
    """Judgments need not come from a file; at 10.0 it is evaluated, and is none of the others."""
    qrels = {"q1": {"d1": 1}, "q3": {"d1": 1}, query: {"d1": 1}}
    run = lines("q1", 3) + lines("q3", 2) + scattered * b"q1 Q0 x 1 1 tag\n"
    path = tmp_path / "run"
    path.write_bytes(run)

    evaluator = fastrank.Evaluator(qrels, "num_ret yaap", missing="zero", trec_eval_version="10.0")
    found, expected = evaluator.evaluate(path), evaluator.evaluate(parse_run(run))

    assert found.to_dict() == expected.to_dict()
    assert found.mean == expected.mean
    assert found.counts["missing_queries"] == expected.counts["missing_queries"] == 1


@pytest.mark.parametrize("scattered", [False, True])
def test_a_missing_query_with_repeated_judgments_is_an_error(
    scattered: bool, tmp_path: Path
) -> None:
    """At 10.0 with missing="zero" it is evaluated, so it fails."""
    run = RUN + scattered * b"q1 Q0 z 1 1 t\n"

    (kind, message, *_), _ = assert_same(
        QRELS + b"q3 0 d 0\n", run, tmp_path / "run", missing="zero", trec_eval_version="10.0"
    )

    assert kind is EvaluationError
    assert "duplicate docs d, lines 4 and 5" in message


def test_unjudged_documents_that_count_are_listed_from_memory(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(RUN)

    assert not is_streamed(QRELS, path, relevance_level=-1)
    assert_same(QRELS, RUN, path, relevance_level=-1)


@pytest.mark.parametrize("threads", [0, -1])
def test_fewer_than_one_thread_is_refused(threads: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"threads: expected 1 or more, found {threads}"):
        fastrank.evaluate(parse_qrels(QRELS), parse_run(RUN), threads=threads)


@pytest.mark.parametrize("threads", [100, 10**12])
def test_more_threads_than_help_are_not_made(threads: int, tmp_path: Path) -> None:
    assert_streams(QRELS, RUN, tmp_path / "run", threads=threads)


def test_a_system_that_gives_no_more_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every part is read all the same."""

    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start_new_thread", refuse)
    run = b"".join(lines(f"q{i}", 10) for i in range(100))

    with piece(200):
        assert_streams(b"q1 0 d1 1\nq99 0 d2 1\n", run, tmp_path / "run", threads=4)


def test_runs_one_after_the_other_do_not_see_each_other(tmp_path: Path) -> None:
    """Large and small, scattered and not, refused or not: as if each were alone."""
    qrels = parse_qrels(b"".join(b"q%d 0 d%d 1\n" % (i, i) for i in range(20)))
    texts = [
        lines("q1", 3),
        b"".join(lines(f"q{i}", 30) for i in range(19)),
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


# Files of other kinds, and files that change


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
@pytest.mark.parametrize("scattered", [False, True])
def test_a_compressed_run(pack: Any, scattered: bool, tmp_path: Path) -> None:
    run = lines("q1", 200) + lines("q2", 200) + scattered * b"q1 Q0 z 1 1 last\n"
    path, plain = tmp_path / "packed", tmp_path / "plain"
    path.write_bytes(pack(run))
    qrels = b"q1 0 d5 1\nq1 0 z 1\nq2 0 d150 1\n"

    for size in (64, 1 << 20):
        with piece(size):
            expected, _ = assert_streams(qrels, run, plain)
            assert said(fastrank.evaluate(parse_qrels(qrels), path, "all_trec")) == expected
            assert is_streamed(qrels, path, 3)


def test_a_broken_compressed_run_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(gzip.compress(lines("q1", 200))[:-20])

    with piece(64), pytest.raises(ReadError, match="broken gzip data"):
        fastrank.evaluate(parse_qrels(QRELS), tmp_path / "run")


@pytest.mark.parametrize("run", [RUN, RUN + b"q1 Q0 z 1 1 t\n"])
def test_a_file_object(run: bytes, tmp_path: Path) -> None:
    expected, _ = assert_streams(QRELS, run, tmp_path / "run")

    assert said(fastrank.evaluate(parse_qrels(QRELS), io.BytesIO(run), "all_trec")) == expected


def test_a_named_pipe(tmp_path: Path) -> None:
    """It can be read only once, also where that is not enough."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for run in (RUN, RUN + b"q1 Q0 z 1 1 t\n", RUN + b"q1 Q0 z 1 inf t\n"):
        expected = assert_same(QRELS, run, tmp_path / "run")
        writer = Thread(target=pipe.write_bytes, args=(run,))
        writer.start()
        found = outcome(lambda: fastrank.evaluate(parse_qrels(QRELS), pipe, "all_trec"))
        writer.join()
        assert found == expected


def test_standard_input(tmp_path: Path) -> None:
    for name, content in (("qrels", QRELS), ("run", RUN)):
        (tmp_path / name).write_bytes(content)
    from_file, from_pipe = (
        subprocess.run(
            [*COMMAND, "-q", "qrels", name], cwd=tmp_path, input=RUN, capture_output=True,
            check=True,
        ).stdout
        for name in ("run", "-")
    )  # fmt: skip

    assert from_pipe == from_file != b""


def changing(monkeypatch: pytest.MonkeyPatch, after: int, change: Callable[[], None]) -> None:
    """Have something happen to a file after so many bytes of it were read in pieces."""
    real, total = os.preadv, 0

    def preadv(handle: int, buffers: Any, offset: int) -> int:
        nonlocal total
        count = real(handle, buffers, offset)
        if total < after <= total + count:
            change()
        total += count
        return count

    monkeypatch.setattr(os, "preadv", preadv)


@pytest.mark.parametrize(
    ("size", "message"), [(3000, "shrank while it was read"), (9000, "grew while it was read")]
)
@pytest.mark.parametrize("after", [64, 4000])
@pytest.mark.parametrize("scattered", [False, True])
def test_a_file_that_changes_while_it_is_read(
    size: int, message: str, after: int, scattered: bool, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    path = tmp_path / "run"
    run = lines("q1", 100) + lines("q2", 150) + scattered * lines("q1", 1, first=200)
    path.write_bytes(run)
    assert 4000 < len(run) < 9000
    changing(monkeypatch, after, lambda: os.truncate(path, size))

    with piece(500), pytest.raises(ReadError, match=message):
        fastrank.evaluate(parse_qrels(b"q1 0 d1 1\nq2 0 d1 1\n"), path)


def test_a_file_that_changes_between_two_readings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written where there is no room, whatever comes the second time."""
    path = tmp_path / "run"
    path.write_bytes(b"q Q0 a 1 1 t\nr Q0 b 1 1 t\nq Q0 c 2 0 t\n")
    others = [
        b"q Q0 %b 1 1 t\nr Q0 b 1 1 t\nq Q0 c 2 0 t\n" % (b"a" * 100_000),
        b"q Q0 a 1 1 t\nr Q0 b 1 1 t\n" * 10_000,
        b"q Q0 a 1 1 t\n" * 100_000,
        b"r Q0 aaaaaaaaaaaaaaaaaa 1 1 t\n",
        b"r Q0 b 1 1 t\nq Q0 a 1 1 t\nq Q0 c 2 0 t\n",
        b"q Q0 cccccccccccccccccc 2 0 t\n",
        b"q Q0 aa 1 1 t\nr Q0 b 1 1 t\nq Q0 c 2 0 t\n",
        b"r Q0 a 1 1 t\nr Q0 b 1 1 t\nr Q0 c 2 0 t\n",
        b"\n",
    ]
    for other in others:
        readings = 0

        def readers(self: chunks.FileParts, other: bytes = other) -> list[Any]:
            nonlocal readings
            readings += 1
            return [chunks.Reader("", True, path.read_bytes() if readings < 2 else other)]

        with monkeypatch.context() as patch:
            patch.setattr(chunks.FileParts, "readers", readers)
            is_streamed(b"q 0 a 1\nr 0 b 1\n", path)

        assert readings >= 2


def test_a_reader_that_fails_in_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"".join(lines(f"q{i}", 10) for i in range(100)))
    half = path.stat().st_size // 2
    real = os.preadv

    def preadv(handle: int, buffers: Any, offset: int) -> int:
        # Where to cut is looked for in larger stretches.
        if offset > half and len(buffers[0]) <= 200:
            raise OSError(5, "Input/output error")
        return real(handle, buffers, offset)

    monkeypatch.setattr(os, "preadv", preadv)

    with piece(200), pytest.raises(ReadError, match="input/output error"):
        fastrank.evaluate(parse_qrels(QRELS), path, threads=4)


# The command


def test_debugging_one_query(trec_eval: Any) -> None:
    """-D 1.q2 evaluates q2 only, also if another query cannot be evaluated."""
    files = {"qrels": QRELS, "run": RUN, "bad": RUN + b"q1 Q0 a 1 1 t\n"}

    good = trec_eval("-D", "1.q2", "-q", "-m", "map", "qrels", "run", files=files)
    bad = trec_eval("-D", "1.q2", "-q", "-m", "map", "qrels", "bad", files=files)

    assert good.status == 0
    assert (
        good.stdout == b"map                   \tq2\t1.0000\nmap                   \tall\t1.0000\n"
    )
    assert bad == good


@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
@pytest.mark.parametrize("options", [(), ("-c",), ("-M", "1"), ("-J",), ("-n", "-q")])
def test_the_command_answers_as_from_standard_input(
    trec_eval_version: str, options: tuple[str, ...], trec_eval: Any
) -> None:
    for run in (RUN, RUN + b"q1 Q0 z 1 1 t\n", RUN + b"q1 Q0 a 1 1 t\n"):
        files = {"qrels": QRELS, "run": run}
        from_file = trec_eval(
            *options, "qrels", "run", files=files, trec_eval_version=trec_eval_version
        )
        from_pipe = trec_eval(
            *options, "qrels", "-", files=files, stdin=run, trec_eval_version=trec_eval_version
        )

        assert from_file.stdout == from_pipe.stdout
        assert from_file.status == from_pipe.status
        assert from_file.stderr == from_pipe.stderr.replace(" of -", " of run")


@pytest.mark.parametrize("threads", ["0", "-1", "two", "1.5", " 2", "1e3", "²", "00"])
def test_an_impossible_number_of_threads(
    threads: str, trec_eval: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTRANK_THREADS", threads)

    found = trec_eval("qrels", "run", files={"qrels": QRELS, "run": RUN})

    assert found.status == 1
    assert found.stderr == f"trec_eval: FASTRANK_THREADS={threads}: expected 1 or more\n"


@pytest.mark.parametrize("threads", ["", "1", "2", "007", "9" * 30, "9" * 5000])
def test_any_number_of_threads_gives_the_same(
    threads: str, trec_eval: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"qrels": QRELS, "run": RUN}
    monkeypatch.delenv("FASTRANK_THREADS", raising=False)
    expected = trec_eval("-q", "qrels", "run", files=files)
    monkeypatch.setenv("FASTRANK_THREADS", threads)

    assert trec_eval("-q", "qrels", "run", files=files) == expected


def test_buffers_are_given_back_without_the_garbage_collector(tmp_path: Path) -> None:
    """An evaluation after every epoch must not add 160 MB each time for a run of one huge query."""
    path = tmp_path / "a.run"
    path.write_bytes(lines("q1", 50))
    gc.collect()
    gc.disable()
    try:
        fastrank.evaluate({"q1": {"d3": 1}}, str(path), "map", threads=1)
        left = [own for own in gc.get_objects() if isinstance(own, chunks.ChunkReader)]
    finally:
        gc.enable()
    assert not left


def test_an_evaluator_is_right_after_a_file_for_which_memory_was_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory that could not be had for a long query leaves what there was."""
    small, long = tmp_path / "small", tmp_path / "long"
    small.write_bytes(lines("q1", 3))
    long.write_bytes(lines("q1", 100_000))
    evaluator = fastrank.Evaluator({"q1": {"d1": 1}}, "num_ret recip_rank")
    expected = evaluator.evaluate(small).mean

    def refuse(*_: Any, **__: Any) -> Any:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(chunks, "line_reader", refuse)
        with pytest.raises(MemoryError):
            evaluator.evaluate(long)

    assert evaluator.evaluate(small).mean == expected
    assert evaluator.evaluate(long).mean["num_ret"] == 100_000


@pytest.mark.parametrize("length", [33, 1_000, 900_000, 4_000_000])
def test_a_score_of_many_digits(length: int, tmp_path: Path) -> None:
    """In a process of its own, which reading before a table has ended before."""
    run = b"q1 Q0 d1 1 0.%b5 t\nq1 Q0 d2 1 0.0 t\n" % (b"0" * length)
    path = tmp_path / "run"
    path.write_bytes(run)
    code = (
        "import sys, fastrank as fr\n"
        "print(fr.evaluate({'q1': {'d1': 1, 'd2': 0}}, sys.argv[1], 'num_ret').mean['num_ret'])"
    )

    found = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )

    assert (found.returncode, found.stdout) == (0, "2.0\n"), found.stderr


# Queries without judgments


def unknown_of(run: Any, qrels: bytes = b"q1 0 a 1\n", **options: Any) -> Any:
    """The run's queries without judgments, as they are counted, and the values."""
    scores = fastrank.evaluate(parse_qrels(qrels), run, "map", **options)
    return scores.unjudged_queries, scores.counts, scores.mean


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("room", [1 << 16, 40])
@pytest.mark.parametrize("scattered", [False, True])
def test_queries_without_judgments_are_counted_as_in_memory(
    threads: int, room: int, scattered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where there is no room for the ids of all at once, and one comes back later."""
    monkeypatch.setattr(chunks, "UNKNOWN_ROOM", room)
    blocks = [b"%b Q0 a 1 2 t\n%b Q0 b 2 1 t\n" % (name, name) for name in names_of(60)]
    lines = b"".join(blocks).splitlines(keepends=True)
    if scattered:
        random.Random(3).shuffle(lines)
    else:
        lines += [b"x1- Q0 c 1 1 t\n"]
    text = b"".join(lines)
    path = tmp_path / "run"
    path.write_bytes(text)

    with piece(200):
        found = unknown_of(path, threads=threads)

    assert found == unknown_of(parse_run(text))
    assert found[0] == sorted(name.decode() for name in names_of(60) if name != b"q1")
    assert is_streamed(b"q1 0 a 1\n", path, threads)


def names_of(count: int) -> list[bytes]:
    """Ids of queries, of different lengths."""
    return [b"q1", *(b"x%d" % number + b"-" * (number % 20) for number in range(1, count))]


def test_an_id_without_room_is_read_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "UNKNOWN_ROOM", 40)
    text = b"q1 Q0 a 1 1 t\n%b Q0 a 1 1 t\n" % (b"x" * 40)
    path = tmp_path / "run"
    path.write_bytes(text)

    assert unknown_of(path) == unknown_of(parse_run(text))
    assert not is_streamed(b"q1 0 a 1\n", path)


def test_for_the_command_nothing_is_kept_of_queries_without_judgments(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"q1 Q0 a 1 1 t\nx Q0 a 1 1 t\n")

    scores = as_the_command(parse_qrels(b"q1 0 a 1\n"), pieces.open_source(path))

    assert "unjudged_queries" not in scores.counts
