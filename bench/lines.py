"""Columns of numbers as lines of text, many at a time.

A field is a matrix of bytes, one row per line; zero bytes are padding, and vanish when the
fields of a line are joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.cases import Case
from bench.draw import Columns

Field = npt.NDArray[np.uint8]
# Lines that are made at a time.
PORTION = 250_000
TAG = b"baseline"
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


def run_text(case: Case, columns: Columns) -> Iterator[bytes]:
    """The run, in portions of lines."""
    retrieved = columns.docs.shape[1]
    docs, scores = columns.docs.ravel(), columns.scores.ravel()
    text_of_scores = _six_decimals if case.scores == "six" else _shortest
    for start in range(0, len(columns.lines), PORTION):
        lines = columns.lines[start : start + PORTION]
        query, rank = np.divmod(lines, retrieved)
        yield _joined(
            [
                _decimal(columns.queries[query]),
                b" Q0 ",
                _ids(case, docs[lines]),
                b" ",
                _decimal(rank + 1),
                b" ",
                text_of_scores(scores[lines]),
                b" " + TAG + b"\n",
            ]
        )


def qrels_text(case: Case, columns: Columns) -> Iterator[bytes]:
    """The judgments, in portions of lines; queries in ascending order."""
    order = np.argsort(columns.queries[columns.judged[:, 0]], kind="stable")
    for start in range(0, len(order), PORTION):
        query, doc, grade = columns.judged[order[start : start + PORTION]].T
        number = _decimal(columns.queries[query])
        yield _joined([number, b" 0 ", _ids(case, doc), b" ", _decimal(grade), b"\n"])


def doc_texts(case: Case, numbers: npt.NDArray[Any]) -> list[str]:
    """The ids of documents, one by one."""
    if case.ids == "number":
        return list(map(str, numbers.tolist()))
    texts: list[str] = _ids(case, numbers).view("S36").ravel().astype(str).tolist()
    return texts


def doc_bytes(case: Case, numbers: npt.NDArray[Any]) -> int:
    """The length of the ids of documents, all together."""
    portions = (numbers[start : start + PORTION] for start in range(0, len(numbers), PORTION))
    return sum(int(np.count_nonzero(_ids(case, portion))) for portion in portions)


def _joined(fields: list[Field | bytes]) -> bytes:
    rows = next(len(field) for field in fields if not isinstance(field, bytes))
    matrices = [
        np.broadcast_to(np.frombuffer(field, np.uint8), (rows, len(field)))
        if isinstance(field, bytes)
        else field
        for field in fields
    ]
    matrix = np.concatenate(matrices, axis=1)
    text: bytes = matrix[matrix != 0].tobytes()
    return text


def _decimal(numbers: npt.NDArray[Any], zeros: bool = False, width: int = 0) -> Field:
    """Digits; `zeros` keeps those in front."""
    width = width or len(str(numbers.max()))
    rest = numbers.astype(np.uint32)
    digits = np.empty((len(rest), width), np.uint8)
    for place in range(width - 1, -1, -1):
        ended = (rest == 0) & (place < width - 1)
        rest, digit = np.divmod(rest, np.uint32(10))
        digits[:, place] = digit + ord("0")
        if not zeros:
            digits[ended, place] = 0
    return digits


def _six_decimals(scores: npt.NDArray[Any]) -> Field:
    whole, fraction = np.divmod(np.rint(scores * 1e6).astype(np.int64), 1_000_000)
    point = np.full((len(scores), 1), ord("."), np.uint8)
    return np.concatenate([_decimal(whole), point, _decimal(fraction, True, 6)], axis=1)


def _shortest(scores: npt.NDArray[Any]) -> Field:
    """What Python's repr gives: the shortest text that restores the double."""
    texts = np.array(list(map(repr, scores.tolist())), "S")
    return texts.view(np.uint8).reshape(len(texts), -1)


def _ids(case: Case, numbers: npt.NDArray[Any]) -> Field:
    return _decimal(numbers) if case.ids == "number" else _uuids(numbers)


def _uuids(numbers: npt.NDArray[Any]) -> Field:
    """Random (version 4) UUIDs, a different one for each number."""
    halves = np.stack([_mixed(2 * numbers.astype(np.uint64) + i) for i in (0, 1)], axis=1)
    octets = halves.astype(">u8").view(np.uint8).reshape(-1, 16)
    octets[:, 8] = octets[:, 8] & 0x3F | 0x80
    digits = np.stack([_HEX[octets >> 4], _HEX[octets & 15]], axis=2).reshape(-1, 32)
    digits[:, 12] = ord("4")
    return np.insert(digits, (8, 12, 16, 20), ord("-"), axis=1)


def _mixed(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The bits of numbers mixed one to one, by the finaliser of splitmix64."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    last: npt.NDArray[Any] = mixed ^ (mixed >> np.uint64(31))
    return last
