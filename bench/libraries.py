"""How each library reads and evaluates.

A function takes a job, imports what it needs, and returns two functions: the call to time, and
one that turns its result into values to check, outside the time. LIBRARIES, at the end, has all
that are measured, by the names that reports and drivers know them by.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from bench import expected, memory
from bench.tasks import ALL_TREC, FLOOR, MEMORY, OFFICIAL, READ

if TYPE_CHECKING:
    from bench.driver import Job

# What tells whether a reader got every line; a case's manifest has the right values.
READ_FACTS = ("lines", "score_sum", "doc_bytes")
# What `fastrank.evaluate` is given as the run: a program of its own for each way.
FASTRANK: dict[str, Callable[[Any, Job], Any]] = {
    "fastrank.evaluate(run)": lambda fr, job: fr.read_run(
        job.run, "trec", trec_eval_version=job.trec_eval_version
    ),
    "fastrank.evaluate(path)": lambda _, job: job.run,
}
FIELDS = ["query", "Q0", "doc", "rank", "score", "tag"]
Prepared = tuple[Callable[[], Any], Callable[[Any], dict[str, float]]]


def _fastrank_evaluate(job: Job, ranking: Callable[[Any, Job], Any]) -> Prepared:
    """Ours, from the files to the means."""
    import fastrank as fr

    def call() -> Any:
        qrels = fr.read_qrels(job.qrels, "trec", trec_eval_version=job.trec_eval_version)
        return fr.evaluate(
            qrels, ranking(fr, job), job.measures, trec_eval_version=job.trec_eval_version
        )

    return call, lambda scores: scores.mean


def pytrec_eval(job: Job) -> Prepared:
    """pytrec_eval has no means of its own: its values per query are averaged, as users do."""
    import pytrec_eval as peer

    def call() -> Any:
        with open(job.qrels) as qrels, open(job.run) as run:
            evaluator = peer.RelevanceEvaluator(peer.parse_qrel(qrels), {job.measures})
            results = evaluator.evaluate(peer.parse_run(run))
        names = next(iter(results.values()))
        return {
            name: peer.compute_aggregated_measure(name, [row[name] for row in results.values()])
            for name in names
            if name != "runid"
        }

    return call, dict


def ir_measures(job: Job) -> Prepared:
    """ir_measures, with those of the expected measures that it knows."""
    import ir_measures as peer

    known = {
        "num_q": "NumQ",
        "num_ret": "NumRet",
        "num_rel": "NumRel",
        "num_rel_ret": "NumRet(rel=1)",
        "map": "AP",
        "Rprec": "Rprec",
        "bpref": "Bpref",
        "recip_rank": "RR",
        "P_5": "P@5",
        "P_10": "P@10",
        "P_20": "P@20",
        "P_100": "P@100",
        "P_1000": "P@1000",
        "ndcg": "nDCG",
        "ndcg_cut_10": "nDCG@10",
        "ndcg_cut_100": "nDCG@100",
        "recall_100": "R@100",
        "recall_1000": "R@1000",
        "success_10": "Success@10",
        "map_cut_100": "AP@100",
    }
    wanted = {
        peer.parse_measure(known[name]): name
        for name in expected.names_of(job.measures)
        if name in known
    }

    def call() -> Any:
        qrels, run = peer.read_qrels(job.qrels, "trec"), peer.read_run(job.run, "trec")
        return peer.calc_aggregate(list(wanted), qrels, run)

    return call, lambda values: {name: float(values[own]) for own, name in wanted.items()}


def ranx(job: Job) -> Prepared:
    """ranx, with those of the expected measures that it knows."""
    import ranx as peer

    known = {
        "map": "map",
        "Rprec": "r-precision",
        "recip_rank": "mrr",
        "P_5": "precision@5",
        "P_10": "precision@10",
        "P_20": "precision@20",
        "P_100": "precision@100",
        "P_1000": "precision@1000",
        "ndcg": "ndcg",
        "ndcg_cut_10": "ndcg@10",
        "ndcg_cut_100": "ndcg@100",
        "recall_100": "recall@100",
        "recall_1000": "recall@1000",
        "success_10": "hit_rate@10",
        "map_cut_100": "map@100",
    }
    wanted = {known[name]: name for name in expected.names_of(job.measures) if name in known}

    def call() -> Any:
        qrels = peer.Qrels.from_file(job.qrels, kind="trec")
        run = peer.Run.from_file(job.run, kind="trec")
        return peer.evaluate(qrels, run, list(wanted))

    return call, lambda values: {name: float(values[own]) for own, name in wanted.items()}


def fastrank_read(job: Job) -> Prepared:
    """Ours, into columns."""
    import fastrank as fr

    def values(run: Any) -> dict[str, float]:
        return _read(len(run.docs), sum(run.score_column), sum(run.docs.lengths))

    return lambda: fr.read_run(job.run, "trec", trec_eval_version=job.trec_eval_version), values


def pandas(job: Job) -> Prepared:
    """The query, document and score columns of a run as a pandas frame."""
    import pandas as peer

    def call() -> Any:
        return peer.read_csv(
            job.run,
            sep=" ",
            header=None,
            usecols=[0, 2, 4],
            dtype={0: str, 2: str, 4: float},
            quoting=3,
        )

    def values(frame: Any) -> dict[str, float]:
        return _read(len(frame), frame[4].sum(), frame[2].str.len().sum())

    return call, values


def polars(job: Job) -> Prepared:
    """The query, document and score columns of a run as a polars frame."""
    import polars as peer

    schema = dict.fromkeys(FIELDS, peer.String) | {"score": peer.Float64}

    def call() -> Any:
        return peer.read_csv(
            job.run,
            separator=" ",
            has_header=False,
            columns=[0, 2, 4],
            schema=schema,
            quote_char=None,
        )

    def values(frame: Any) -> dict[str, float]:
        return _read(len(frame), frame["score"].sum(), frame["doc"].str.len_bytes().sum())

    return call, values


def pyarrow(job: Job) -> Prepared:
    """The query, document and score columns of a run as an Arrow table."""
    import pyarrow as arrow
    import pyarrow.compute as compute
    from pyarrow import csv

    types = {"query": arrow.string(), "doc": arrow.string(), "score": arrow.float64()}

    def call() -> Any:
        return csv.read_csv(
            job.run,
            read_options=csv.ReadOptions(column_names=FIELDS),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(include_columns=list(types), column_types=types),
        )

    def values(table: Any) -> dict[str, float]:
        docs = compute.sum(compute.binary_length(table["doc"])).as_py()
        return _read(table.num_rows, compute.sum(table["score"]).as_py(), docs)

    return call, values


def pread(job: Job) -> Prepared:
    """Reading and nothing else, through one buffer that stays in the processor's cache."""

    def call() -> int:
        buffer, position = bytearray(1 << 20), 0
        file = os.open(job.run, os.O_RDONLY)
        try:
            while count := os.preadv(file, [buffer], position):
                position += count
        finally:
            os.close(file)
        return position

    return call, lambda position: {"bytes": position}


def _read(lines: int, score_sum: float, doc_bytes: int) -> dict[str, float]:
    return dict(zip(READ_FACTS, (lines, float(score_sum), int(doc_bytes)), strict=True))


@dataclass(frozen=True)
class Library:
    """A library and the tasks it is measured at, but for those of `memory.LIBRARIES`.

    prepare: for its tasks. distributions: what a peer may be installed from, and module its name in
    Python; ours and the floors have none. partial: whether it computes some of the measures only.
    """

    prepare: Callable[[Job], Prepared] | None = None
    tasks: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    module: str = ""
    partial: bool = False


EVALUATE = (OFFICIAL, ALL_TREC)
PREAD, READ_RUN = "pread", "fastrank.read_run"
LIBRARIES = {
    **{
        name: Library(partial(_fastrank_evaluate, ranking=ranking), EVALUATE)
        for name, ranking in FASTRANK.items()
    },
    **{name: Library() for name in memory.LIBRARIES if name.startswith("fastrank")},
    **dict.fromkeys(
        (memory.PROVIDER, memory.OUR_FRAMES, memory.PEER_FRAMES),
        Library(distributions=("ir_measures",), module="ir_measures"),
    ),
    "pytrec_eval": Library(
        pytrec_eval, EVALUATE, ("pytrec_eval-terrier", "pytrec_eval"), "pytrec_eval"
    ),
    "ir_measures": Library(ir_measures, EVALUATE, ("ir_measures",), "ir_measures", partial=True),
    "ranx": Library(ranx, EVALUATE, ("ranx",), "ranx", partial=True),
    READ_RUN: Library(fastrank_read, (READ,)),
    "pandas": Library(pandas, (READ,), ("pandas",), "pandas"),
    "polars": Library(polars, (READ,), ("polars",), "polars"),
    "pyarrow": Library(pyarrow, (READ,), ("pyarrow",), "pyarrow"),
    PREAD: Library(pread, (FLOOR,)),
}


def tasks(name: str) -> tuple[str, ...]:
    """What a library is measured at."""
    in_memory = memory.LIBRARIES.get(name)
    return LIBRARIES[name].tasks + (in_memory.tasks if in_memory else ())


def prepare(name: str, job: Job) -> Prepared:
    """The call to time, and what makes values of its result."""
    if job.task in MEMORY:
        return memory.prepare(name, job)
    own = LIBRARIES[name].prepare
    assert own is not None
    return own(job)
