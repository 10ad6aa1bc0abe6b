"""Small judgments and runs, written on one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fastrank as fr
from tests.helpers.parsing import parse_qrels, parse_run


def grades(text: str) -> dict[str, dict[str, int]]:
    """Judgments written as "q1 a=1 b=0; q2 c=2"."""
    return {query: {doc: int(own) for doc, own in row.items()} for query, row in _rows(text)}


def scores(text: str) -> dict[str, dict[str, float]]:
    """A run written as "q1 b=2 a=1; q2 c=9.5"."""
    return {query: {doc: float(own) for doc, own in row.items()} for query, row in _rows(text)}


def _rows(text: str) -> list[tuple[str, dict[str, str]]]:
    found = []
    for row in filter(None, map(str.split, text.split(";"))):
        found.append((row[0], dict(pair.split("=", 1) for pair in row[1:])))
    return found


def qrels_lines(qrels: Mapping[Any, Mapping[Any, Any]]) -> bytes:
    """The lines of judgments in TREC format."""
    return "".join(
        f"{query} 0 {doc} {grade}\n" for query, own in qrels.items() for doc, grade in own.items()
    ).encode()


def run_lines(run: Mapping[Any, Mapping[Any, Any]], tag: str = "t") -> bytes:
    """The lines of a run in TREC format."""
    return "".join(
        f"{query} Q0 {doc} 0 {score!r} {tag}\n"
        for query, own in run.items()
        for doc, score in own.items()
    ).encode()


def as_read(qrels: Mapping[str, Any], run: Mapping[str, Any]) -> tuple[fr.Qrels, fr.Run]:
    """Judgments and run as their readers make them."""
    return parse_qrels(qrels_lines(qrels)), parse_run(run_lines(run))
