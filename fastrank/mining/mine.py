"""Mine training data from a run: relevant documents and the best other results of each query."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_VERSION, at_least, check_choice, finite
from fastrank.data.grade_scale import lowest_code
from fastrank.data.preferences import Preferences
from fastrank.data.texts import decoded
from fastrank.errors import InputError
from fastrank.judging.evaluation_options import (
    EVALUATION,
    FilterOptions,
    LevelOptions,
    evaluation_options,
)
from fastrank.judging.matching import match_queries
from fastrank.judging.problems import what_is_wrong
from fastrank.judging.scratch import ranking_scratch
from fastrank.keywords import takes, with_defaults
from fastrank.mining.instances import HardNegatives as HardNegatives
from fastrank.mining.instances import Instance as Instance
from fastrank.native import codes, kernels
from fastrank.native.buffers import filled, table_size, zeros
from fastrank.native.records.mining import MiningScratch, Negatives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.choices import Margin
    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.matching import MatchedQueries

# The retrieved positive of a query to which margins refer.
POSITIVES = ("lowest", "highest")
# Deeper than any ranking.
UNCUT = 2**62


class MiningOptions(LevelOptions, FilterOptions, total=False):
    """Options of relevance, and of documents to remove from the rankings."""


@takes(MiningOptions, EVALUATION)
def hard_negatives(
    qrels: Any,
    run: Any,
    negatives: int,
    *,
    skip_top: int = 0,
    depth: int | None = None,
    margin: float | None = None,
    relative_margin: float | None = None,
    margin_below: Margin = "lowest",
    **options: Unpack[MiningOptions],
) -> HardNegatives:
    """Mine hard negatives: the highest-ranked results of each query that are not relevant.

    qrels, run: as in `evaluate`. negatives: the number of negatives per query.
    skip_top: the number of top ranks to skip, relevant or not, because unjudged documents there are
        often relevant. depth: the last rank to consider.
    margin: a negative must score at least this much below the positive.
    relative_margin: a negative must score below the positive by at least this share of the
        positive's absolute score: 0.05 is the "95 % of the positive" of NV-Retriever. If both
        margins are given, both apply.
    margin_below: the retrieved positive to which margins refer: the one with the "lowest" score (as
        in `mine_hard_negatives` of sentence-transformers) or the "highest". With a margin, a query
        without retrieved positives gets no negatives.
    **options: see `MiningOptions`.

    Relevant documents are never negatives. Other documents may be, judged or not, except those to
    `exclude`, such as known duplicates of positives. Ties rank the larger id first. Queries may get
    fewer negatives than requested, see `HardNegatives.counts`. skip_top counts ranks, like
    `range_for_sampling` of FlagEmbedding, while `range_min` of sentence-transformers counts after
    positives and margins are removed. Sources: Karpukhin et al., EMNLP 2020 (DPR); Moreira et al.
    2024 (NV-Retriever).

    Raises OptionError; InputError for duplicate documents in a ranking or in the judgments, and for
    NaN scores; and what `evaluate` raises for invalid runs and judgments.

    >>> qrels = {"q1": {"d2": 1, "d4": 0}}
    >>> run = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.78, "d4": 0.5, "d5": 0.4}}
    >>> fr.hard_negatives(qrels, run, 2)[0].negatives
    ['d1', 'd3']
    >>> fr.hard_negatives(qrels, run, 2, skip_top=2)[0].negatives
    ['d3', 'd4']
    >>> fr.hard_negatives(qrels, run, 2, relative_margin=0.05)[0].negatives
    ['d4', 'd5']
    """
    from fastrank.formats.inputs import as_qrels, as_run
    from fastrank.judging.filters import without_excluded

    checked = evaluation_options(with_defaults(hard_negatives, options))
    number, skipped = at_least("negatives", negatives, 1), at_least("skip_top", skip_top, 0)
    last = UNCUT if depth is None else at_least("depth", depth, skipped + 1)
    check_choice("margin_below", margin_below, POSITIVES)
    margins = {"margin": margin, "relative_margin": relative_margin}
    limits = filled(
        "d", [0.0 if value is None else finite(name, value) for name, value in margins.items()]
    )
    judgments, results = (
        as_qrels(qrels, trec_eval_version=checked.trec_eval_version),
        as_run(run, trec_eval_version=checked.trec_eval_version),
    )
    if isinstance(judgments, Preferences):
        raise InputError(judgments.source, "expected judgments with grades, found preferences")
    before = len(results.docs)
    results = without_excluded(results, checked.exclude, identical=checked.ignore_identical_ids)
    switches = zeros("q", codes.MINE_OPTIONS_SIZE)
    # A negative grade means unjudged, whatever the level.
    level = switches[codes.MINE_LEVEL] = max(lowest_code(judgments, checked.relevance_level), 0)
    switches[codes.MINE_NUMBER], switches[codes.MINE_SKIP], switches[codes.MINE_DEPTH] = (
        number,
        skipped,
        last,
    )
    switches[codes.MINE_SINGLE] = checked.trec_eval_version == DEFAULT_VERSION
    switches[codes.MINE_MARGIN] = margin is not None
    switches[codes.MINE_RELATIVE] = relative_margin is not None
    switches[codes.MINE_BY_HIGHEST] = margin_below == "highest"
    matched = match_queries(judgments, results)
    mined, retrieved, selected = _mined(judgments, results, matched, switches, limits)

    offsets, grades = judgments.offset_column, judgments.grade_column
    places: list[tuple[int, int]] = []
    counted: list[int] = []
    missing = no_relevant = 0
    for i, (place, ranking) in enumerate(zip(matched.judgments, matched.rankings, strict=True)):
        if all(grade < level for grade in grades[offsets[place] : offsets[place + 1]]):
            no_relevant += 1
        elif ranking < 0:
            missing += 1
        else:
            places.append((place, results.offset_column[ranking]))
            counted.append(mined[i])
    found = [max(count, 0) for count in counted]
    return HardNegatives(
        number=number, level=level, qrels=judgments, run=results, places=places, mined=found,
        retrieved=retrieved, selected=selected,
        counts={
            "queries": len(places),
            "negatives": sum(found),
            "too_few": sum(count < number for count in found),
            "no_negatives": sum(not count for count in found),
            "no_positive_retrieved": sum(count == codes.NO_REFERENCE for count in counted),
            "missing_queries": missing,
            "no_relevant_queries": no_relevant,
            "unjudged_queries": len(results) - sum(ranking >= 0 for ranking in matched.rankings),
            "excluded": before - len(results.docs),
        },
    )  # fmt: skip


def _mined(
    qrels: Qrels, run: Run, matched: MatchedQueries, switches: Any, limits: Any
) -> tuple[Any, Any, Any]:
    """Negatives per query; for each judgment 1 + its row in the run, or 0; rows of negatives."""
    deepest, widest = kernels.widest(run.offset_column), kernels.widest(qrels.offset_column)
    problem = zeros("q", 3)
    scratch = MiningScratch(
        table=zeros("q", table_size(deepest + widest)),
        ranking=ranking_scratch(deepest),
        found=zeros("q", deepest),
    )
    mined = Negatives(
        retrieved=zeros("q", len(qrels.docs)),
        selected=zeros("q", len(run.docs)),
        counts=zeros("q", len(matched)),
    )
    done = kernels.mine_negatives(
        qrels.columns, run.columns, matched.columns, switches, limits, scratch, mined, problem
    )
    if problem[0] != codes.FINE:
        query = decoded(qrels.queries[matched.judgments[done]])
        reason = what_is_wrong(problem, qrels, run)
        source = qrels.source if problem[0] == codes.QRELS_REPEAT else run.source
        raise InputError(source, f"query '{query}': {reason}")
    return mined.counts, mined.retrieved, mined.selected
