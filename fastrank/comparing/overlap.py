"""The overlap of two runs, query by query."""

from __future__ import annotations

import math

from fastrank.arguments import DEFAULT_VERSION, at_least, check_choice, check_version
from fastrank.comparing.rank_biased_overlap import VARIANTS, check_persistence, persistence_column
from fastrank.data.texts import decoded
from fastrank.errors import GroupError, InputError
from fastrank.formats.inputs import as_run
from fastrank.messages import counted, first_few
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import filled, table_size, zeros
from fastrank.native.records.runs import (
    OverlapOptions,
    OverlapScratch,
    RankedScratch,
    RankingPairs,
    TiedRanks,
)
from fastrank.scores.tables import Table

# The number of ids in an error.
NAMED = 3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from fastrank.choices import RboVariant, TrecEvalVersion
    from fastrank.data.run import Run
    from fastrank.formats.inputs import RunLike


def overlap(
    run_a: RunLike,
    run_b: RunLike,
    *,
    depth: int = 10,
    p: float = 0.9,
    variant: RboVariant = "a",
    trec_eval_version: TrecEvalVersion = DEFAULT_VERSION,
) -> Table:
    """Compare the rankings of two runs, query by query.

    run_a, run_b: runs in any form that `fastrank.evaluate` takes: paths, dicts, frames, Runs.
    depth: the number of first documents for `shared` and `jaccard`, in trec_eval's order.
    p, variant: the persistence of RBO and its variant for ties; see `fastrank.rbo`.
    trec_eval_version: scores are compared as 32-bit floats ("9.0.8") or doubles ("10.0").

    Returns a table with a row for each query, in byte order, and a last row `all` with the means
    over the queries that have a value:

    shared@10: the number of documents that both runs have among the first 10.
    jaccard@10: the same, divided by the number of distinct documents among the first 10 of both.
    rbo: extrapolated rank-biased overlap of the complete rankings.
    tau: Kendall's tau-b of the documents that both rankings have; NaN for less than two, and if all
        are tied in one of the rankings.
    ktu: Kendall's tau union (Breuer et al., SIGIR 2020): tau of the complete rankings as places in
        their union, which has the documents of `run_a`, then the others, both in trec_eval's
        order; the longer ranking is cut to the length of the shorter.

    A query that only one run has counts as an empty ranking in the other: its overlap is 0. Raises
    GroupError if the runs share no query, InputError for a document that appears twice in a query,
    OptionError for invalid options, and what reading a run raises.

    >>> table = fr.overlap("data/pixels.run", "data/pca.run")
    >>> table.columns["query"][-1], table.columns["shared@10"][-1]
    ('all', 3.435)
    >>> print(fr.overlap({"q": {"a": 3, "b": 2}}, {"q": {"b": 0.9, "c": 0.8}}, depth=2))
    query      shared@2    jaccard@2     rbo    tau     ktu
    -------  ----------  -----------  ------  -----  ------
    q                 1       0.3333  0.4500    nan  1.0000
    all          1.0000       0.3333  0.4500    nan  1.0000
    """
    cutoff = at_least("depth", depth, 1)
    persistence = check_persistence(p)
    check_choice("variant", variant, tuple(VARIANTS))
    version = check_version(trec_eval_version)
    first, second = (as_run(run, trec_eval_version=version) for run in (run_a, run_b))
    queries, pairs = _paired(first, second)
    options = OverlapOptions(version == "9.0.8", cutoff, VARIANTS[variant])
    values = _compared(first, second, pairs, options, persistence_column(persistence))
    return _table(queries, values, cutoff)


def _paired(first: Run, second: Run) -> tuple[list[bytes], RankingPairs]:
    """All queries in byte order, and the places of their rankings. Raises GroupError."""
    places = [{query: i for i, query in enumerate(run.queries)} for run in (first, second)]
    if not places[0].keys() & places[1].keys():
        have = " and ".join(_first_ids(run) for run in (first, second))
        raise GroupError(f"the runs share no query: they have {have}")
    queries = sorted(places[0].keys() | places[1].keys())
    columns = (filled("q", [place.get(query, -1) for query in queries]) for place in places)
    return queries, RankingPairs(*columns)


def _first_ids(run: Run) -> str:
    """The number of queries of a run and the first ids."""
    ids = run.query_ids
    named = first_few(list(map(repr, ids)), NAMED)
    return f"{counted(len(ids), 'query', 'queries')}{named and f' ({named})'}"


def _compared(
    first: Run, second: Run, pairs: RankingPairs, options: OverlapOptions, persistence: Any
) -> npt.NDArray[np.float64]:
    """The values of each pair of rankings. Raises InputError for a document that appears twice."""
    import numpy

    values = zeros("d", len(pairs.first) * codes.OVERLAP_VALUES)
    scratch = _scratch(kernels.widest(first.offset_column), kernels.widest(second.offset_column))
    done = kernels.compare_rankings(
        first.columns, second.columns, pairs, options, persistence, scratch, values
    )
    kind, one, other = scratch.problem
    if kind != codes.FINE:
        run, places = (first, pairs.first) if kind == codes.QRELS_REPEAT else (second, pairs.second)
        query, document = decoded(run.queries[places[done]]), decoded(run.docs[one])
        lines = f"{run.docs.unit}s {run.docs.line(one)} and {run.docs.line(other)}"
        raise InputError(
            run.source, f"query {query!r}: document {document!r} appears twice, {lines}"
        )
    return numpy.asarray(values).reshape(-1, codes.OVERLAP_VALUES)


def _scratch(deepest: int, other_deepest: int) -> OverlapScratch:
    """Memory for rankings of at most `deepest` and `other_deepest` documents."""
    longest = max(deepest, other_deepest)
    return OverlapScratch(
        first=_ranked_scratch(deepest),
        second=_ranked_scratch(other_deepest),
        table=zeros("q", table_size(deepest + other_deepest)),
        found=zeros("q", longest),
        partners=zeros("q", longest),
        shared=zeros("q", longest),
        shared_partners=zeros("q", longest),
        tree=zeros("q", deepest + other_deepest + 1),
        overlaps=zeros("d", longest),
        problem=zeros("q", 3),
        pairs=zeros("q", 3),
        biased=zeros("d", 5),
    )


def _ranked_scratch(deepest: int) -> RankedScratch:
    ranking = records.RankingScratch(
        keys=zeros("d", deepest), order=zeros("q", deepest), merge=zeros("q", deepest)
    )
    return RankedScratch(ranking, TiedRanks(zeros("q", deepest), zeros("q", deepest)))


def _table(queries: list[bytes], values: npt.NDArray[np.float64], depth: int) -> Table:
    """The values of the queries, and their means."""
    shared, *others = values.T.tolist()
    columns = [[int(count) for count in shared], *others]
    names = (f"shared@{depth}", f"jaccard@{depth}", "rbo", "tau", "ktu")
    means = [_mean(column) for column in columns]
    return Table(
        columns={
            "query": [*map(decoded, queries), "all"],
            **{
                name: [*column, mean]
                for name, column, mean in zip(names, columns, means, strict=True)
            },
        }
    )


def _mean(values: list[float]) -> float:
    """The mean of the values that are not NaN."""
    known = [value for value in values if value == value]
    return math.fsum(known) / len(known) if known else math.nan
