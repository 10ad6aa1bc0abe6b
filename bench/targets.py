"""What fastrank should reach: ratios within one run, reported and not enforced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench.programs import ONE_THREAD, ORIGINAL, READ, READ_RUN, TWO_THREADS
from bench.rows import Row

OFFICIAL, ALL_TREC = "evaluate official", "evaluate all_trec"
Rows = dict[tuple[str, str, str], Row]


@dataclass(frozen=True)
class Found:
    """A target with what was measured; `value` is None where something is missing."""

    name: str
    bound: str
    value: float | None
    met: bool
    remark: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return f"target: {self.name}, {self.bound}: not measured"
        verdict = "met" if self.met else "not met"
        return f"target: {self.name}, {self.bound}: {self.value:.2f}, {verdict}{self.remark}"


# case, task, program, how many times faster than trec_eval
SPEED = (
    ("typical", OFFICIAL, ONE_THREAD, 50),
    ("typical", OFFICIAL, TWO_THREADS, 80),
    ("typical", ALL_TREC, ONE_THREAD, 40),
    ("typical", ALL_TREC, TWO_THREADS, 60),
    ("17-digit", OFFICIAL, ONE_THREAD, 30),
    ("uuid", OFFICIAL, ONE_THREAD, 30),
    ("shuffled", OFFICIAL, ONE_THREAD, 15),
    ("scattered", OFFICIAL, ONE_THREAD, 15),
)
READERS = ("polars", "pyarrow")
READ_TIMES, WC_TIMES, PEAK_MB = 2.0, 2.5, 100.0


def check(rows: list[Row]) -> list[Found]:
    """All targets, in the order of the tables."""
    by_key = {row.key: row for row in rows}
    return [*_speed(by_key), _near_wc(by_key), *_memory(by_key), *_reading(by_key)]


def _right(rows: Rows, *key: str) -> Row | None:
    row = rows.get((key[0], key[1], key[2]))
    return row if row is not None and row.correct and row.steady is not None else None


def _found(
    name: str, word: str, bound: float, unit: str, value: float | None, remark: str = ""
) -> Found:
    holds: Callable[[float], bool] = bound.__ge__ if word == "at most" else bound.__le__
    met = value is not None and holds(value)
    return Found(name, f"{word} {bound:g} {unit}", value, met, remark)


def _speed(rows: Rows) -> Iterator[Found]:
    for case, task, program, times in SPEED:
        row = _right(rows, case, task, program)
        value = row.speedup if row is not None else None
        stands_in = row is not None and row.baseline not in ("", ORIGINAL)
        remark = f" ({row.baseline} stands in for trec_eval)" if row and stands_in else ""
        name = f"{case}, {task}, {program}"
        yield _found(name, "at least", float(times), "x trec_eval", value, remark)


def _near_wc(rows: Rows) -> Found:
    row = _right(rows, "typical", OFFICIAL, TWO_THREADS)
    value = row.to_wc if row is not None else None
    return _found(f"typical, {OFFICIAL}, {TWO_THREADS}", "at most", WC_TIMES, "x wc -l", value)


def _memory(rows: Rows) -> Iterator[Found]:
    for program in (ONE_THREAD, TWO_THREADS):
        row = _right(rows, "typical", OFFICIAL, program)
        value = row.peak_mb if row is not None else None
        yield _found(f"typical, {OFFICIAL}, {program}", "at most", PEAK_MB, "MB of memory", value)


def _reading(rows: Rows) -> Iterator[Found]:
    ours = _right(rows, "typical", READ, READ_RUN)
    for reader in READERS:
        other = _right(rows, "typical", READ, reader)
        value = None
        if ours is not None and other is not None and ours.steady and other.steady:
            value = other.steady / ours.steady
        yield _found(f"typical, {READ_RUN}", "at least", READ_TIMES, f"x {reader}", value)
