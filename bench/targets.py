"""What fastrank should reach: ratios within one run, reported and not enforced."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from bench.cases import POOLS
from bench.libraries import READ_RUN
from bench.memory import COMPAT, ONE_SHOT, OUR_FRAMES, PEER_FRAMES, PROVIDER
from bench.programs import ONE_THREAD, ORIGINAL, OWN_TREC_EVAL, PASS, STAND_IN, TWO_THREADS, WC
from bench.rows import Key, Row
from bench.tasks import (
    ALL_TREC,
    BUILDING,
    BUILDING_ALL,
    BUILT,
    BUILT_ALL,
    COMMANDS,
    OFFICIAL,
    READ,
    SINGLE,
    START,
)

MEMORY = "MB of memory"


@dataclass(frozen=True)
class Target:
    """A program at a task on a case: `least` times as fast as `than`, or at `most` of something."""

    case: str
    task: str
    program: str
    than: str
    least: float = 0.0
    most: float = 0.0

    def told(self, rows: dict[Key, Row]) -> str:
        """What was measured, and whether it will do."""
        unit = self.than if self.than == MEMORY else f"x {self.than}"
        bound = f"at least {self.least:g}" if self.least else f"at most {self.most:g}"
        text = f"target: {self.case}, {self.task}, {self.program}, {bound} {unit}"
        row = rows.get((self.case, self.task, self.program))
        value = self._value(row, rows) if row is not None and row.status == "ok" else None
        if row is None or value is None:
            return f"{text}: not measured"
        met = value >= self.least if self.least else value <= self.most
        stands_in = self.than == ORIGINAL and row.baseline != ORIGINAL
        remark = f" ({row.baseline} stands in for trec_eval)" if stands_in else ""
        return f"{text}: {value:.2f}, {'met' if met else 'not met'}{remark}"

    def _value(self, row: Row, rows: dict[Key, Row]) -> float | None:
        if self.than == MEMORY:
            return row.peak_mb
        if self.than == ORIGINAL:
            return row.speedup
        if self.than == row.floor:
            return row.to_floor
        other = rows.get((self.case, self.task, self.than))
        if other is None or other.status != "ok" or not other.steady or not row.steady:
            return None
        return other.steady / row.steady


def _in_memory(case: str, built: float, building: float, provider: float) -> list[Target]:
    """The targets of dicts on a case."""
    return [
        Target(case, BUILT, COMPAT, STAND_IN, least=built),
        Target(case, BUILDING, COMPAT, STAND_IN, least=building),
        Target(case, BUILDING, ONE_SHOT, STAND_IN, least=building),
        Target(case, SINGLE, COMPAT, STAND_IN, least=1),
        Target(case, BUILT_ALL, COMPAT, STAND_IN, least=3),
        Target(case, BUILDING_ALL, COMPAT, STAND_IN, least=3),
        Target(case, BUILDING, PROVIDER, "ir_measures", least=provider),
        Target(case, BUILT, OUR_FRAMES, PEER_FRAMES, least=10),
    ]


# Names that README.md gives the judgments of Robust 2003, TREC-COVID and data/.
LARGE_POOLS = ("pool-1300", "robust03", "covid")
TARGETS = (
    Target("typical", OFFICIAL, ONE_THREAD, ORIGINAL, least=50),
    Target("typical", OFFICIAL, TWO_THREADS, ORIGINAL, least=80),
    Target("typical", ALL_TREC, ONE_THREAD, ORIGINAL, least=40),
    Target("typical", ALL_TREC, TWO_THREADS, ORIGINAL, least=60),
    Target("17-digit", OFFICIAL, ONE_THREAD, ORIGINAL, least=30),
    Target("uuid", OFFICIAL, ONE_THREAD, ORIGINAL, least=30),
    Target("shuffled", OFFICIAL, ONE_THREAD, ORIGINAL, least=15),
    Target("scattered", OFFICIAL, ONE_THREAD, ORIGINAL, least=15),
    Target("typical", OFFICIAL, TWO_THREADS, WC, most=2.5),
    Target("typical", OFFICIAL, ONE_THREAD, MEMORY, most=100),
    Target("typical", OFFICIAL, TWO_THREADS, MEMORY, most=100),
    Target("typical", READ, READ_RUN, "polars", least=2),
    Target("typical", READ, READ_RUN, "pyarrow", least=2),
    Target("sample", START, OWN_TREC_EVAL, PASS, most=2),
    *(
        Target(case, task, OWN_TREC_EVAL, ORIGINAL, least=least)
        for case, least in {"tiny": 0.8, "reranked": 2, "pool-100": 8, "few-judged": 12}.items()
        for task in COMMANDS
    ),
    *_in_memory("few-judged", 20, 12, 3),
    *chain.from_iterable(
        _in_memory(case, 4, 2.5, 3 if case in LARGE_POOLS else 1)
        for case in dict.fromkeys((*POOLS, *LARGE_POOLS, "digits"))
    ),
)


def check(rows: list[Row]) -> list[str]:
    """All targets of the cases that were measured."""
    by_key = {row.key: row for row in rows}
    cases = {row.case for row in rows}
    return [target.told(by_key) for target in TARGETS if target.case in cases]
