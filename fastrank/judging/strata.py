"""Judge rankings by a stratified sample of a pool."""

from __future__ import annotations

from fastrank.data.columns import as_array
from fastrank.data.texts import memory_of
from fastrank.judging.rows import judge_rows, numbered_texts, offsets_of, picked
from fastrank.native.buffers import zeros
from fastrank.native.records.strata import StratifiedRankings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.matching import MatchedQueries
    from fastrank.judging.needs import JudgingOptions
    from fastrank.measures.selection import BoundMeasure

    Integers = npt.NDArray[np.int64]

# What measures need that do not use grades, or use the strata.
WITHOUT_GRADES = ("queries", "run", "strata")


class Strata:
    """The strata of judgments: how many documents are in the pool, sampled and relevant.

    Strata are numbered over all queries, those of a query in byte order.
    """

    def __init__(self, qrels: Qrels, level: float) -> None:
        import numpy

        assert qrels.strata is not None
        offsets = as_array(qrels.offset_column)
        queries = numpy.repeat(numpy.arange(len(qrels)), numpy.diff(offsets))
        names = numbered_texts(qrels.strata)
        distinct = int(names.max(initial=0)) + 1
        keys, self.of_row = numpy.unique(queries * distinct + names, return_inverse=True)
        self.grades = numpy.asarray(qrels.grades, "float64")
        self.relevant = (self.grades >= level) & (self.grades >= 0.0)
        count = len(keys)
        self.offsets = offsets_of(keys // distinct, len(qrels))
        self.pool_sizes = numpy.bincount(self.of_row, minlength=count)
        self.sample_sizes = numpy.bincount(self.of_row[self.grades >= 0.0], minlength=count)
        self.relevant_counts = numpy.bincount(self.of_row[self.relevant], minlength=count)
        self._estimate_grades(keys // distinct, len(qrels))

    def _estimate_grades(self, query_of: Integers, queries: int) -> None:
        """Estimate how many documents of the pool have each grade, stratum by stratum."""
        import numpy

        positive = numpy.flatnonzero(self.grades > 0.0)
        pairs = numpy.stack([self.of_row[positive].astype("float64"), self.grades[positive]], 1)
        cells, counts = numpy.unique(pairs.reshape(-1, 2), axis=0, return_counts=True)
        strata, grades = cells[:, 0].astype("int64"), cells[:, 1]
        estimates = counts * self.pool_sizes[strata] / self.sample_sizes[strata]
        keys = numpy.stack([query_of[strata].astype("float64"), -grades], 1)
        levels, place = numpy.unique(keys.reshape(-1, 2), axis=0, return_inverse=True)
        # Added one after the other, in the order of the strata; bincount of nothing has integers.
        self.ideal_counts = numpy.bincount(
            place.reshape(-1), weights=estimates, minlength=len(levels)
        ).astype("float64", copy=False)
        self.ideal_grades = -levels[:, 1]
        self.ideal_offsets = offsets_of(levels[:, 0].astype("int64"), queries)
        order = [
            place - first
            for first, stop in zip(self.ideal_offsets[:-1], self.ideal_offsets[1:], strict=True)
            for place in sorted(range(first, stop), key=self._written, reverse=True)
        ]
        self.text_order = numpy.array(order, "int64")

    def _written(self, place: int) -> str:
        grade = float(self.ideal_grades[place])
        return str(int(grade)) if grade.is_integer() else repr(grade)

    def judge(
        self, qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions
    ) -> StratifiedRankings:
        """Judge the matched rankings. Raises QueryError as `judge_rankings`."""
        import numpy

        rankings = judge_rows(qrels, run, matched, options)
        offsets = as_array(rankings.offsets)
        rows = as_array(rankings.grades)[: offsets[-1]]
        queries = numpy.asarray(matched.judgments, "int64")
        firsts = numpy.repeat(self.offsets[queries], numpy.diff(offsets))
        stratum_offsets, strata = picked(self.offsets, queries)
        ideal_offsets, ideals = picked(self.ideal_offsets, queries)
        whole = (self.pool_sizes, self.sample_sizes, self.relevant_counts)
        pool_sizes, sample_sizes, relevant_counts = (memory_of(one[strata]) for one in whole)
        return StratifiedRankings(
            offsets=rankings.offsets,
            ranks=rankings.ranks,
            strata=memory_of(self.of_row[rows] - firsts),
            grades=memory_of(self.grades[rows]),
            relevant=memory_of(self.relevant[rows].astype("int64")),
            stratum_offsets=memory_of(stratum_offsets),
            pool_sizes=pool_sizes,
            sample_sizes=sample_sizes,
            relevant_counts=relevant_counts,
            seen=zeros("q", len(strata)),
            seen_sampled=zeros("q", len(strata)),
            seen_relevant=zeros("q", len(strata)),
            sums=zeros("d", len(strata)),
            ideal_offsets=memory_of(ideal_offsets),
            ideal_grades=memory_of(self.ideal_grades[ideals]),
            ideal_counts=memory_of(self.ideal_counts[ideals]),
            text_order=memory_of(self.text_order[ideals]),
            num_ret=rankings.num_ret,
        )


def strata_of(qrels: Qrels, level: float) -> Strata:
    """The strata of judgments, which are computed once."""
    known: dict[float, Strata] = qrels.__dict__.setdefault("strata_by_level", {})
    if level not in known:
        known[level] = Strata(qrels, level)
    return known[level]


def sample_counts(qrels: Qrels, measures: list[BoundMeasure], level: float) -> dict[str, int]:
    """What to note about judgments with strata: strata without samples, unsampled documents."""
    import numpy

    strata = strata_of(qrels, level)
    needs = {bound.measure.needs for bound in measures}
    counts = {}
    if "strata" in needs:
        counts["strata_without_samples"] = int(numpy.count_nonzero(strata.sample_sizes == 0))
    if needs - {*WITHOUT_GRADES}:
        counts["not_sampled"] = int(numpy.count_nonzero(strata.grades < 0.0))
    return counts
