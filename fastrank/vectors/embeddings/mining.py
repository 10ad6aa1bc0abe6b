"""Mine training data from a run: relevant documents and the best other results of each query."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.common.arguments import DEFAULT_VERSION, at_least, check_choice, finite, flag
from fastrank.common.keywords import takes, with_defaults
from fastrank.core.data.texts import decoded
from fastrank.core.formats.qrels import Preferences, lowest_code
from fastrank.core.formats.tables.values import texts_of_list
from fastrank.core.matching.judged import ranking_scratch
from fastrank.core.matching.keywords import (
    EVALUATION,
    FilterOptions,
    LevelOptions,
    evaluation_options,
)
from fastrank.core.matching.queries import match_queries, what_is_wrong
from fastrank.core.matching.rankings import NO_CUTOFF
from fastrank.core.native import codes, kernels
from fastrank.core.native.buffers import zeros
from fastrank.core.native.records import Matched
from fastrank.core.native.records.runs import MiningRules, MiningScratch, Negatives
from fastrank.errors import InputError, OptionError
from fastrank.vectors.embeddings.training_data import HardNegatives as HardNegatives
from fastrank.vectors.embeddings.training_data import Instance as Instance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from random import Random
    from typing import NoReturn

    from typing_extensions import Unpack

    from fastrank.common.choices import Margin
    from fastrank.core.formats.inputs import QrelsLike, RunLike
    from fastrank.core.formats.qrels import Qrels
    from fastrank.core.formats.run import Run
    from fastrank.core.matching.options import Options

# The retrieved positive of a query to which margins refer.
POSITIVES = ("lowest", "highest")


class MiningOptions(LevelOptions, FilterOptions, total=False):
    """Options of relevance, and of documents to remove from the rankings."""


@takes(MiningOptions, EVALUATION)
def hard_negatives(
    qrels: QrelsLike,
    run: RunLike,
    negatives: int,
    *,
    skip_top: int = 0,
    depth: int | None = None,
    margin: float | None = None,
    relative_margin: float | None = None,
    margin_below: Margin = "lowest",
    sample: bool = False,
    random_negatives: int = 0,
    fill: bool = False,
    corpus: object = None,
    seed: int = 0,
    **options: Unpack[MiningOptions],
) -> HardNegatives:
    """Mine hard negatives: the highest-ranked results of each query that are not relevant.

    qrels, run: as in `evaluate`.
    negatives: the number of negatives per query; may be 0 with random_negatives.
    skip_top: the number of top ranks to skip, relevant or not, because unjudged documents there are
        often relevant.
    depth: the last rank to consider.
    margin: a negative must score at least this much below the positive.
    relative_margin: a negative must score below the positive by at least this share of the
        positive's absolute score: 0.05 is the "95 % of the positive" of NV-Retriever. If both
        margins are given, both apply.
    margin_below: the retrieved positive to which margins refer: the one with the "lowest" score, as
        in `mine_hard_negatives` of sentence-transformers, or the "highest". With a margin, a query
        without retrieved positives gets no negatives.
    sample: draw the negatives at random from all documents that qualify, instead of taking the
        first. With skip_top=10 and depth=210 this is `range_for_sampling` 10-210 of FlagEmbedding.
    random_negatives: how many documents of the corpus to draw at random for each query, in
        addition.
    fill: whether to make up for missing negatives with random ones, as FlagEmbedding does.
    corpus: where to draw random negatives from: a Dataset, {id: text}, or a list of ids.
    seed: the seed of the random numbers.
    **options: see `MiningOptions`.

    Relevant documents are never negatives, nor drawn at random. Other documents may be, judged or
    not, except those to `exclude`, such as known duplicates of positives. Ties rank the larger id
    first. Queries may get fewer negatives than requested, see `HardNegatives.counts`. skip_top
    counts ranks, like `range_for_sampling` of FlagEmbedding, while `range_min` of
    sentence-transformers counts after positives and margins are removed.

    Samples are drawn with `random.Random(seed).sample`, query by query in the order of the
    judgments. For the same rankings in this order, they are those of FlagEmbedding's hn_mine.py
    after `random.seed(seed)`; its random passages depend on the order of a set and may repeat
    negatives. Sources: Karpukhin et al., EMNLP 2020 (DPR); Moreira et al. 2024 (NV-Retriever); Xiao
    et al. 2023 (FlagEmbedding).

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
    >>> corpus = ["d1", "d2", "d3", "d4", "d5", "d6"]
    >>> fr.hard_negatives(qrels, run, 2, depth=2, fill=True, corpus=corpus)[0].random_negatives
    ['d4']
    """
    from random import Random

    from fastrank.core.formats.inputs import as_qrels, as_run
    from fastrank.core.matching.filters import without_excluded

    checked = evaluation_options(with_defaults(hard_negatives, options))
    extra = at_least("random_negatives", random_negatives, 0)
    number = at_least("negatives", negatives, 0 if extra else 1)
    skipped = at_least("skip_top", skip_top, 0)
    sample, fill = flag("sample", sample), flag("fill", fill)
    documents = ids_of_corpus(corpus, extra, fill=fill)
    last = NO_CUTOFF if depth is None else at_least("depth", depth, skipped + 1)
    check_choice("margin_below", margin_below, POSITIVES)
    margins = {"margin": margin, "relative_margin": relative_margin}
    limits = {
        name: 0.0 if value is None else finite(name, value) for name, value in margins.items()
    }
    judgments, results = (
        as_qrels(qrels, trec_eval_version=checked.trec_eval_version),
        as_run(run, trec_eval_version=checked.trec_eval_version),
    )
    if isinstance(judgments, Preferences):
        raise InputError(judgments.source, "expected judgments with grades, found preferences")
    before = len(results.docs)
    results = without_excluded(results, checked.exclude, identical=checked.ignore_identical_ids)
    # A negative grade means unjudged, whatever the level.
    level = max(lowest_code(judgments, checked.relevance_level), 0)
    rules = MiningRules(
        level=level,
        number=NO_CUTOFF if sample else number,
        skipped=skipped,
        depth=last,
        single_precision=checked.trec_eval_version == DEFAULT_VERSION,
        by_highest=margin_below == "highest",
        by_margin=margin is not None,
        by_relative_margin=relative_margin is not None,
        **limits,
    )
    matched = match_queries(judgments, results)
    mined, retrieved, selected = _mined(judgments, results, matched, rules)

    offsets, grades = judgments.offset_column, judgments.grade_column
    query_rows: list[tuple[int, int]] = []
    counted: list[int] = []
    missing = no_relevant = 0
    for i, (query, ranking) in enumerate(zip(matched.judgments, matched.rankings, strict=True)):
        if all(grade < level for grade in grades[offsets[query] : offsets[query + 1]]):
            no_relevant += 1
        elif ranking < 0:
            missing += 1
        else:
            first = results.offset_column[ranking]
            query_rows.append((query, first))
            counted.append(mined[i])
    rng = Random(seed)
    for i in _in_order_of_rows(query_rows):
        counted[i] = sample_rows(rng, selected, query_rows[i][1], counted[i], number)
    mined_counts = [max(count, 0) for count in counted]
    instances = HardNegatives(
        number=number,
        level=level,
        qrels=judgments,
        run=results,
        places=query_rows,
        mined=mined_counts,
        retrieved=retrieved,
        selected=selected,
        counts={
            "queries": len(query_rows),
            "negatives": sum(mined_counts),
            "random_negatives": 0,
            "too_few": sum(count < number for count in mined_counts),
            "no_negatives": sum(not count for count in mined_counts),
            "no_positive_retrieved": sum(count == codes.NO_REFERENCE for count in counted),
            "missing_queries": missing,
            "no_relevant_queries": no_relevant,
            "unjudged_queries": len(results) - sum(ranking >= 0 for ranking in matched.rankings),
            "excluded": before - len(results.docs),
        },
    )
    if not documents:
        return instances
    return _with_random(instances, rng, documents, extra, checked, fill=fill)


def _in_order_of_rows(query_rows: list[tuple[int, int]]) -> list[int]:
    """The places of queries, given by their rows in the judgments, in the order of these."""
    return sorted(range(len(query_rows)), key=query_rows.__getitem__)


def _with_random(
    mined: HardNegatives,
    rng: Random,
    corpus: list[str],
    extra: int,
    checked: Options,
    *,
    fill: bool,
) -> HardNegatives:
    """The instances with random negatives; see `hard_negatives`."""
    drawn: list[list[str]] = [[]] * len(mined)
    for i in _in_order_of_rows(mined.places):
        instance = mined[i]
        taken = {*instance.positives, *instance.negatives}
        query = instance.query.encode("utf-8", "surrogateescape")
        taken.update(map(decoded, checked.exclude.get(query, ())))
        if checked.ignore_identical_ids:
            taken.add(instance.query)
        missing = mined.number - len(instance.negatives) if fill else 0
        drawn[i] = draw(rng, corpus, extra + missing, taken)
    number = mined.number + extra
    negative_counts = [
        count + len(random) for count, random in zip(mined.mined, drawn, strict=True)
    ]
    counts = {
        **mined.counts,
        "random_negatives": sum(map(len, drawn)),
        "too_few": sum(count < number for count in negative_counts),
        "no_negatives": negative_counts.count(0),
    }
    return mined.changed(drawn=drawn, number=number, counts=counts)


def _mined(
    qrels: Qrels, run: Run, matched: Matched, rules: MiningRules
) -> tuple[memoryview, memoryview, memoryview]:
    """Negatives per query; for each judgment 1 + its row in the run, or 0; rows of negatives."""
    deepest, widest = kernels.widest(run.offset_column), kernels.widest(qrels.offset_column)
    problem = zeros("q", 3)
    scratch = MiningScratch(
        table=zeros("q", kernels.table_size(deepest + widest)),
        ranking=ranking_scratch(deepest),
        judged_rows=zeros("q", deepest),
    )
    mined = Negatives(
        retrieved=zeros("q", len(qrels.docs)),
        selected=zeros("q", len(run.docs)),
        counts=zeros("q", len(matched.judgments)),
    )
    done = kernels.mine_negatives(
        qrels.columns, run.columns, matched, rules, scratch, mined, problem
    )
    if problem[0] != codes.FINE:
        query = decoded(qrels.queries[matched.judgments[done]])
        reason = what_is_wrong(problem, qrels, run)
        source = qrels.source if problem[0] == codes.QRELS_REPEAT else run.source
        raise InputError(source, f"query '{query}': {reason}")
    return mined.counts, mined.retrieved, mined.selected


def sample_rows(rng: Random, selected: memoryview, first: int, mined: int, number: int) -> int:
    """Keep a sample of the rows selected[first : first + mined]; returns how many remain."""
    if mined <= number:
        return mined
    sample = rng.sample(list(selected[first : first + mined]), number)
    for position, row in enumerate(sample, first):
        selected[position] = row
    return number


def draw(rng: Random, corpus: list[str], number: int, taken: Collection[str]) -> list[str]:
    """Documents of the corpus other than those that are taken: `number`, or all if it has fewer."""
    drawn = rng.sample(corpus, min(len(corpus), number + len(taken)))
    return [doc for doc in drawn if doc not in taken][:number]


def ids_of_corpus(corpus: object, random_negatives: int, *, fill: bool) -> list[str]:
    """The distinct ids of a Dataset, a mapping or a list; none without random negatives."""
    if not random_negatives and not fill:
        if corpus is not None:
            raise OptionError("corpus", "not applicable without random_negatives or fill")
        return []
    if corpus is None:
        reason = "expected the ids of the corpus, to draw random negatives from; found none"
        raise OptionError("corpus", reason)
    source = getattr(corpus, "corpus_ids", corpus)
    if isinstance(source, (str, bytes, set, frozenset)) or not hasattr(source, "__iter__"):
        kind = type(source).__name__
        raise TypeError(f"corpus: expected a data set, a mapping or a list of ids, found {kind}")

    def fail(row: int, reason: str) -> NoReturn:
        raise InputError("corpus", f"id {row}: {reason}")

    ids = list(source) if not isinstance(source, Mapping) else list(source.keys())
    return list(dict.fromkeys(map(decoded, texts_of_list(ids, fail))))
