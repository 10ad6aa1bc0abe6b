"""Judge documents by whether they are judged for any query."""

from __future__ import annotations

from fastrank.data.grouping import take
from fastrank.data.qrels import Qrels
from fastrank.data.texts import Texts, interning
from fastrank.judging.judged import Judged
from fastrank.judging.matching import MatchedQueries
from fastrank.judging.rankings import judge_rankings
from fastrank.native import kernels, records
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.data.run import Run
    from fastrank.judging.needs import JudgingOptions
    from fastrank.judging.tie_orders import Tied


def judge_by_all_queries(
    qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions
) -> dict[str, Judged | Tied]:
    """Judge the matched rankings; documents that are judged for any query get grade 0.

    Returns the field of a JudgedRun.

    Each ranking is judged by its own documents of that kind: not by all there are, of which there
    may be as many as judgments.
    """
    numbered = interning(len(qrels.docs))
    distinct = kernels.intern_texts(qrels.docs.columns, numbered)
    docs = _taken(qrels.docs, numbered.firsts[:distinct])
    known = records.TextTable(texts=docs.columns, table=numbered.table)
    offsets = zeros("q", len(matched) + 1)
    order = zeros("q", kernels.count_picked(run.offset_column, matched.rankings))
    kernels.known_rows(known, run.columns, matched.rankings, order, offsets)
    docs = _taken(run.docs, order[: offsets[len(matched)]])
    named = Qrels(
        queries=_taken(qrels.queries, matched.judgments), docs=docs, groups=docs,
        source=qrels.source, offset_column=offsets, grade_column=zeros("q", len(docs)),
    )  # fmt: skip
    places = filled("q", list(range(len(matched))))
    again = MatchedQueries(judgments=places, rankings=matched.rankings)
    options = options.changed(relevance_level=0, list_unjudged=False, stop_if_none_judged=False)
    if options.ties == "average":
        from fastrank.judging.tie_orders import judge_ties

        return {"tied_by_all_queries": judge_ties(named, run, again, options)}
    return {"all_queries": judge_rankings(named, run, again, options)}


def _taken(texts: Texts, rows: memoryview) -> Texts:
    return Texts(texts.buffer, take(texts.starts, rows), take(texts.lengths, rows))
