"""The kinds of input to measure with, and how large each is at full scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.errors import BenchError
from bench.tasks import ALL_TREC, COMMANDS, MEMORY, OFFICIAL, READ, START

SEED = 20240229
# Shares of queries with 1, 2, 3 and 4 relevant documents, as in MS MARCO's development set.
FEW = (0.945, 0.045, 0.008, 0.002)


@dataclass(frozen=True)
class Case:
    """What a pair of files is made of.

    ids: "number" or "uuid". scores: "six" decimals, or the "shortest" text that restores a
    32-bit float held in a double. order of the lines: "ranked"; "shuffled" inside each query;
    "scattered" over the whole file. judged: shares of queries with 1, 2, ... judgments, or the
    lowest and the highest number of them. grades: shares of the grades 0, 1, ... found: the
    share of the judged documents that are retrieved. fixed: whether it has this size at every
    scale. tasks: what programs are measured at.
    """

    name: str
    about: str
    queries: int = 6_980
    retrieved: int = 1_000
    ids: str = "number"
    scores: str = "six"
    order: str = "ranked"
    judged: tuple[float, ...] | tuple[int, int] = FEW
    grades: tuple[float, ...] = (0.0, 1.0)
    found: float = 0.857
    fixed: bool = False
    tasks: tuple[str, ...] = (OFFICIAL, ALL_TREC, READ)

    def size(self, scale: float) -> tuple[int, int]:
        """Queries and documents per query; a single query shrinks by its documents."""
        if self.fixed:
            return self.queries, self.retrieved
        if self.queries == 1:
            return 1, max(10, round(self.retrieved * scale))
        return max(1, round(self.queries * scale)), self.retrieved

    def bytes(self, scale: float) -> int:
        """About how large the run is, rather more than less."""
        queries, retrieved = self.size(scale)
        line = 42 + (30 if self.ids == "uuid" else 0) + (11 if self.scores == "shortest" else 0)
        return queries * retrieved * line


# With judgments as tracks of TREC have them: documents judged per query, before those that are
# drawn twice are left out, about 40 % of them retrieved. With 1,300, 98 of the first 100 of 1,000
# documents are judged in Robust 2003, 69 in TREC-COVID, 80 here.
JUDGED_TASKS = (OFFICIAL, ALL_TREC, *COMMANDS, *MEMORY)
POOLS = {"pool-10": (5, 15), "pool-100": (60, 150), "pool-1300": (1_000, 2_000)}
CASES = {
    case.name: case
    for case in (
        Case("typical", "like a run of MS MARCO passages: 1 or 2 relevant documents per query"),
        Case("17-digit", "typical, with scores such as 0.8234567642211914", scores="shortest"),
        Case("uuid", "typical, with document ids of 36 bytes", ids="uuid"),
        Case("shuffled", "typical, the lines of each query in random order", order="shuffled"),
        Case("scattered", "typical, all lines in random order", order="scattered"),
        Case("small-queries", "a million queries of 5 documents", 1_000_000, 5),
        Case("huge-query", "one query of a million documents", 1, 1_000_000, judged=(1000, 1000)),
        Case(
            "graded",
            "5,000 documents per query, 200 to 600 of them judged in four grades",
            queries=200,
            retrieved=5_000,
            judged=(200, 600),
            grades=(0.5, 0.25, 0.15, 0.1),
            found=0.9,
        ),
        Case(
            "sample",
            "about the size of trec_eval's own sample, where starting is nearly all there is to do",
            queries=3,
            retrieved=500,
            judged=(2_000, 2_000),
            grades=(0.6, 0.25, 0.1, 0.05),
            found=0.5,
            fixed=True,
            tasks=(START,),
        ),
        Case(
            "tiny",
            "a few lines, where nothing but starting takes time",
            queries=2,
            retrieved=10,
            judged=(5, 5),
            fixed=True,
            tasks=(*COMMANDS,),
        ),
        Case(
            "reranked",
            "50 queries of 100 documents, as after reranking",
            queries=50,
            retrieved=100,
            judged=(5, 15),
            grades=(0.7, 0.18, 0.09, 0.03),
            found=0.4,
            fixed=True,
            tasks=(*COMMANDS,),
        ),
        Case(
            "few-judged",
            "200 queries of typical, for what is in memory",
            queries=200,
            fixed=True,
            tasks=JUDGED_TASKS,
        ),
        *(
            Case(
                name,
                f"50 queries of 1,000 documents, about {name.removeprefix('pool-')} judged",
                queries=50,
                judged=judged,
                grades=(0.7, 0.18, 0.09, 0.03),
                found=0.4,
                fixed=True,
                tasks=JUDGED_TASKS,
            )
            for name, judged in POOLS.items()
        ),
    )
}


def chosen(names: list[str] | None, known: Mapping[str, Case] = CASES) -> list[Case]:
    """The named cases, or all."""
    for name in names or ():
        if name not in known:
            raise BenchError(f"no case {name!r}: there are {', '.join(known)}")
    return [case for case in known.values() if not names or case.name in names]
