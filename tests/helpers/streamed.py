"""Run files judged while they are read, beside the same text judged in memory."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import fastrank
from fastrank.core.evaluation.scoring import scores_of
from fastrank.core.formats.files import chunks
from fastrank.core.formats.files import source as pieces
from fastrank.core.formats.qrels import Qrels
from fastrank.core.matching.files import match_file
from fastrank.core.matching.match import match
from fastrank.core.matching.options import Options
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.selection import Selection
from fastrank.errors import FastrankError
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.strategies import exactly

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 1\nq3 0 d 1\n"
RUN = b"q1 Q0 b 1 2.0 tag\nq1 Q0 a 2 1.0 tag\nq2 Q0 c 1 9 tag\n"


def judged(text: str) -> bytes:
    """Judgments written as "q1 d1 1, q2 d2 0"."""
    rows = (row.split() for row in text.split(","))
    return b"".join(f"{query} 0 {doc} {grade}\n".encode() for query, doc, grade in rows)


def lines(query: str, count: int, first: int = 0, score: str = "{}") -> bytes:
    """Results of a query, best first."""
    return "".join(
        f"{query} Q0 d{i} {i} {score.format(10**6 - i)} tag\n" for i in range(first, first + count)
    ).encode()


@contextmanager
def piece(size: int) -> Iterator[None]:
    """Read so many bytes at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "PIECE", size)
        yield


def is_streamed(qrels: bytes | Qrels, path: Path, threads: int | None = 1, **options: Any) -> bool:
    """Whether a file is judged while it is read, and not read as a whole first."""
    nouns = parse_qrels(qrels) if isinstance(qrels, bytes) else qrels
    with pieces.open_source(path) as file:
        parts = chunks.FileParts(file, threads)
        return match_file(Plan(nouns, [], Options(**options)), parts) is not None


def as_the_command(
    nouns: Qrels, run: Any, measures: str = "all_trec", *, threads: int = 1, version: str = "9.0.8"
) -> Any:
    """The scores of a file's pieces, or of a Run, as the command trec_eval computes them."""
    options = Options(trec_eval_version=version, original=True)
    bound = Selection(measures, original=True).bind(version)
    plan = Plan(nouns, bound, options)
    found = match(plan, run, threads=threads)
    # Which queries have no judgments is known in memory only, and not asked for.
    return scores_of(plan, found.changed(unjudged_queries=None))


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
    qrels: bytes | Qrels, run: bytes, path: Path, measures: str = "all_trec", **options: Any
) -> Any:
    """A file evaluates to what its text does; returns what that is."""
    nouns = parse_qrels(qrels) if isinstance(qrels, bytes) else qrels
    path.write_bytes(run)
    threads = options.pop("threads", 1)
    version = options.get("trec_eval_version", "9.0.8")

    streamed = outcome(
        lambda: fastrank.evaluate(nouns, str(path), measures, threads=threads, **options)
    )

    def in_memory(text: bytes) -> Any:
        def evaluated() -> Any:
            noun = parse_run(text, str(path), trec_eval_version=version)
            return fastrank.evaluate(nouns, noun, measures, **options)

        return outcome(evaluated)

    # What a file has for queries without judgments is looked at only if it is read as a whole.
    assert streamed in (in_memory(run), in_memory(with_scores_of_judged(nouns, run)))
    return streamed


def with_scores_of_judged(qrels: Qrels, run: bytes) -> bytes:
    """The run with a number as the score of every document of a query without judgments."""
    known = set(qrels.queries)
    found = []
    for line in run.split(b"\n"):
        fields = line.split()
        if len(fields) >= 6 and b"\0" not in line and fields[0] not in known:
            # What comes before stays: without a blank a byte order mark would begin the file. And
            # the number must not be a whole one, which could be a rank.
            line = re.sub(rb"((?:\s*\S+){4}\s+)\S+", rb"\g<1>0.5", line, count=1)
        found.append(line)
    return b"\n".join(found)


def assert_streams(qrels: bytes | Qrels, run: bytes, path: Path, **options: Any) -> Any:
    """The same, and the file is not read as a whole."""
    found = assert_same(qrels, run, path, **options)
    version = options.get("trec_eval_version", "9.0.8")
    assert is_streamed(qrels, path, options.get("threads", 1), trec_eval_version=version)
    return found
