"""Rank-biased overlap of two rankings, and the overlap of two runs, query by query."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastrank.analysis.comparing.rankings import as_ranking, two_runs, with_means
from fastrank.common.arguments import DEFAULT_VERSION, at_least, check_choice, finite
from fastrank.common.messages import counted, first_few
from fastrank.core.data.texts import decoded
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import filled, zeros
from fastrank.core.native.records.runs import (
    OverlapOptions,
    OverlapScratch,
    RankedScratch,
    RankingPairs,
    TiedRanks,
)
from fastrank.errors import GroupError, InputError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence
    from typing import Any, TypeAlias

    from fastrank.common.arrays import Floats
    from fastrank.common.choices import RboVariant, TrecEvalVersion
    from fastrank.core.formats.inputs import RunLike
    from fastrank.core.formats.run import Run
    from fastrank.core.results.table import Table

    Ranking: TypeAlias = "Sequence[Hashable | Collection[Hashable]] | Mapping[Any, float]"
    """Items, best first, or groups of tied items; or items with scores."""

VARIANTS = {"w": codes.TIES_SHARE_RANK, "a": codes.TIES_AVERAGED, "b": codes.TIES_CORRECTED}
# How many ids an error names.
NAMED = 3


class RankBiasedOverlap(NamedTuple):
    """Rank-biased overlap (RBO) of two rankings, from 0 (disjoint) to 1 (equal).

    ext: extrapolated, with the agreement of the known part continued; the usual value. min, max:
    the bounds over all continuations of the rankings. residual: max - min. truncated: the sum over
    the first ranks only, divided by its greatest value.

    >>> fr.rbo(["a", "b", "c"], ["b", "a", "d"])
    RankBiasedOverlap(ext=0.6..., min=0.311..., max=0.87..., residual=0.561..., truncated=0.311...)
    """

    ext: float
    min: float
    max: float
    residual: float
    truncated: float


def rbo(
    a: Ranking, b: Ranking, p: float = 0.9, *, variant: RboVariant = "a", depth: int = 1000
) -> RankBiasedOverlap:
    """Compute the rank-biased overlap (RBO) of two rankings, which may have different items.

    a, b: rankings, best first: sequences of items, in which a list, tuple or set is a group of
        tied items; or {item: score} or a pandas Series of scores with items as index, ranked by
        score, where equal scores are ties.
    p: the persistence, between 0 and 1: rank d has the weight p ** (d - 1). With 0.9, the first 10
        ranks have 86% of the weight.
    variant: how ties count. "a": each item in proportion over the ranks of its group, so that a
        ranking with ties has less than 1 with itself. "b": the same, corrected for the information
        lost, so that it has 1. "w": tied items share the first of their ranks, as in sports. With
        "a", `min` and `truncated` are the averages over all orders of tied items; so are `ext` and
        `max`, unless the longer ranking has ties below the length of the shorter one.
    depth: the last rank of the truncated form.

    With one empty ranking, `ext` and `truncated` are 0; with two, all values are NaN. Raises
    InputError for an item that appears twice and for a NaN score, OptionError for invalid options.

    Source: Webber, Moffat and Zobel, A similarity measure for indefinite rankings, 2010; for ties
    Corsi and Urbano, The treatment of ties in rank-biased overlap, SIGIR 2024. The truncated form
    is that of Compat (Clarke, Vtyurina and Smucker 2021) and of repro_eval.

    >>> fr.rbo(["a", "b", "c", "d", "e"], ["a", "b", "c", "e", "d"]).ext
    0.98177...
    >>> fr.rbo(["a", ("b", "c")], ["a", "b", "c"], variant="b").ext
    0.98794...
    >>> fr.rbo({"a": 3.5, "b": 1.0, "c": 1.0}, {"a": 0.9, "b": 0.8}, p=0.8).ext
    0.90666...
    """
    code, persistence, cutoff = _checked(variant, p, depth)
    rankings = as_ranking(a, "a"), as_ranking(b, "b")
    (short, of_short), (long, of_long) = sorted(rankings, key=lambda ranking: len(ranking[0]))
    index_of = {item: i for i, item in enumerate(short)}
    partners = filled("q", [index_of.get(item, -1) for item in long])
    values, overlaps = zeros("d", 5), zeros("d", len(long))
    kernels.rank_biased_overlap(
        of_short, of_long, partners, persistence, code, cutoff, overlaps, values
    )
    return RankBiasedOverlap(*values)


def _checked(variant: str, p: float, depth: int) -> tuple[int, Any, int]:
    """The code of the variant, p and ln(1 / (1 - p)), and the depth.

    Raises OptionError, and TypeError for other types.
    """
    check_choice("variant", variant, tuple(VARIANTS))
    cutoff, persistence = at_least("depth", depth, 1), finite("p", p)
    if not 0.0 < persistence < 1.0:
        raise OptionError("p", f"expected a number between 0 and 1, both excluded, found {p}")
    return VARIANTS[variant], filled("d", [persistence, -math.log1p(-persistence)]), cutoff


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
    code, persistence, cutoff = _checked(variant, p, depth)
    first, second = two_runs(run_a, run_b, trec_eval_version)
    rows_by_run = [{query: i for i, query in enumerate(run.queries)} for run in (first, second)]
    if not rows_by_run[0].keys() & rows_by_run[1].keys():
        have = " and ".join(map(_first_ids, (first, second)))
        raise GroupError(f"the runs share no query: they have {have}")
    queries = sorted(rows_by_run[0].keys() | rows_by_run[1].keys())
    pairs = RankingPairs(
        *(filled("q", [rows.get(query, -1) for query in queries]) for rows in rows_by_run)
    )
    options = OverlapOptions(trec_eval_version == "9.0.8", cutoff, code)
    shared, *others = _compared(first, second, pairs, options, persistence).T.tolist()
    names = (f"shared@{cutoff}", f"jaccard@{cutoff}", "rbo", "tau", "ktu")
    columns = dict(zip(names, [list(map(int, shared)), *others], strict=True))
    return with_means(list(map(decoded, queries)), columns)


def _first_ids(run: Run) -> str:
    """The number of queries of a run and the first ids."""
    examples = first_few(list(map(repr, run.query_ids)), NAMED)
    return f"{counted(len(run.query_ids), 'query', 'queries')}{examples and f' ({examples})'}"


def _compared(
    first: Run, second: Run, pairs: RankingPairs, options: OverlapOptions, persistence: Any
) -> Floats:
    """The values of each pair of rankings. Raises InputError for a document that appears twice."""
    values = zeros("d", len(pairs.first) * codes.OVERLAP_VALUES)
    scratch = _scratch(kernels.widest(first.offset_column), kernels.widest(second.offset_column))
    done = kernels.compare_rankings(
        first.columns, second.columns, pairs, options, persistence, scratch, values
    )
    kind, row, repeat = scratch.problem
    if kind != codes.FINE:
        run, rows = (first, pairs.first) if kind == codes.QRELS_REPEAT else (second, pairs.second)
        query, document = decoded(run.queries[rows[done]]), decoded(run.docs[row])
        lines = f"{run.docs.unit}s {run.docs.line(row)} and {run.docs.line(repeat)}"
        raise InputError(
            run.source, f"query {query!r}: document {document!r} appears twice, {lines}"
        )
    return np.asarray(values).reshape(-1, codes.OVERLAP_VALUES)


def _scratch(deepest: int, other_deepest: int) -> OverlapScratch:
    """Memory for rankings of at most `deepest` and `other_deepest` documents."""
    longest = max(deepest, other_deepest)
    return OverlapScratch(
        first=_ranked_scratch(deepest),
        second=_ranked_scratch(other_deepest),
        table=zeros("q", kernels.table_size(deepest + other_deepest)),
        first_rows=zeros("q", longest),
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
