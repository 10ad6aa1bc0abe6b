"""Labels and scores of documents, judged: every document has a grade."""

from __future__ import annotations

from fastrank.core.data.texts import memory_of
from fastrank.core.formats.qrels import Graded, Qrels
from fastrank.core.formats.run import Run
from fastrank.core.matching.arrays import with_ids
from fastrank.core.matching.judged import JudgedRun, room_for_judged
from fastrank.core.matching.texts import match_texts
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import SIZES, Recycled, address, zeros
from fastrank.core.native.records.objects import LabelledRows, LabelScratch
from fastrank.errors import ArrayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.common.arrays import Array
    from fastrank.core.matching.plan import Plan
    from fastrank.core.native.buffers import Code, Memory

TAG = b"labels"
CACHE_LINE = 64
# Memory that judging fills is free again when the values are computed.
_MEMORY = Recycled()


class Labels(Graded):
    """Judgments of documents without ids."""

    def as_texts(self) -> Qrels:
        """The judgments with the numbers of the documents as ids."""
        import numpy

        return with_ids(self, numpy.arange(len(self.grade_column)))


def match_labels(plan: Plan, scores: Array, *, order: Array, rows: Array) -> tuple[JudgedRun, bool]:
    """Judge scores of labelled documents, float64[documents], one for each grade of `Labels`.

    order: int64[m], the indexes of the queries to evaluate, in this order. rows: int64[m], the row
    numbers of the queries in the user's input, for messages. Also returns whether documents tie
    that a measure looks at. Raises ArrayError for a label too large to count by grade.
    """
    labels, options, depth = plan.judgments, plan.options, plan.requires.last_rank
    offsets = labels.offset_column
    listed = len(scores)
    if not options.is_cut:
        listed = min(listed, len(order) * depth)
    judged = room_for_judged(labels, order, listed, plan.judging, _MEMORY)
    problem = zeros("q", 2)
    done = kernels.judge_labels(
        LabelledRows(labels.grade_column, scores, offsets),
        order,
        depth,
        plan.judging.codes(),
        _scratch(kernels.widest(offsets)),
        judged.columns,
        problem,
    )
    if problem[0] != codes.FINE:
        raise ArrayError("labels", "a label is too large to count by grade", int(rows[order[done]]))
    tied = bool(problem[1])
    if plan.rankings_suffice and options.ties == "given":
        queries = memory_of(order.astype("int64"))
        run = JudgedRun(queries=queries, judged=judged, missing=0, unjudged_queries=[], tag=TAG)
        return run, tied
    return match_as_texts(plan, scores, order), tied


def match_as_texts(plan: Plan, scores: Array, order: Array) -> JudgedRun:
    """The same as a Run, with the numbers of the documents as ids, which takes longer."""
    queries = memory_of(order.astype("int64"))
    qrels = plan.texts.judgments
    run = Run(
        queries=qrels.queries,
        docs=qrels.docs,
        tag_bytes=TAG,
        source=qrels.source,
        offset_column=qrels.offset_column,
        score_column=scores,
    )
    matched = records.Matched(judgments=queries, rankings=queries)
    texts = match_texts(plan.texts, run, matched)
    judged_run: JudgedRun = texts.changed(unjudged_queries=[])
    return judged_run


def _scratch(deepest: int) -> LabelScratch:
    """Memory for queries of at most `deepest` documents.

    It is one piece, from the start of a cache line: what is read over two pages, or while something
    is written as far into another page, takes 1.5 times as long.
    """
    more = 2 * deepest + 256
    sizes: dict[str, tuple[Code, int]] = {
        "singles": ("f", more),
        "keys": ("d", more),
        "above": ("i", 256),
        "work": ("q", codes.SORT_COLUMNS * deepest + codes.SORT_BYTES),
    }
    whole = zeros("B", CACHE_LINE + sum(SIZES[code] * count for code, count in sizes.values()))
    start = -address(whole) % CACHE_LINE
    columns: dict[str, Memory] = {}
    for name, (code, count) in sizes.items():
        columns[name] = whole[start : start + SIZES[code] * count].cast(code)
        start += SIZES[code] * count
    return LabelScratch(**columns)
