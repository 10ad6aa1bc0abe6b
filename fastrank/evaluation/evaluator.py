"""Evaluation: judgments and a run in, scores out."""

from __future__ import annotations

from fastrank.arguments import (
    DEFAULT_COMPAT,
    ORDERS,
    check_choice,
    check_compat,
    check_threads,
    flag,
    integer,
)
from fastrank.data.preferences import Preferences
from fastrank.evaluation.scoring import score
from fastrank.judging.judge import RunJudge
from fastrank.judging.options import (
    DUPLICATES,
    NO_RELEVANT,
    TIES,
    Options,
    check_options,
    relevance,
    settle_depth,
    settle_missing,
)
from fastrank.judging.queries import choose_queries
from fastrank.measures.selection import Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.formats.files import Source
    from fastrank.scores.scores import Scores

    Judgments = Qrels | Preferences
    Measures = str | Iterable[str]
    # Dicts of dicts, frames of pandas and polars, arrow tables, and the like.
    Convertible = Any


def evaluate(
    qrels: Judgments | Convertible | Source,
    run: Run | Convertible | Source | Sequence[Run | Convertible | Source],
    measures: Measures = "official",
    *,
    relevance_level: float = 1,
    order: str = "score",
    ties: str = "docno_desc",
    missing: str | None = None,
    no_relevant: str = "zero",
    ignore_identical_ids: bool = False,
    exclude: Mapping[Any, Iterable[Any]] | None = None,
    duplicates: str = "error",
    depth: int | None = None,
    complete: bool = False,
    judged_only: bool = False,
    max_retrieved: int | None = None,
    collection_size: int = 0,
    compat: str = DEFAULT_COMPAT,
    threads: int | None = None,
) -> Scores | list[Scores]:
    """Evaluate a run against judgments, or several runs; for runs that come later see `Evaluator`.

    qrels: judgments: Qrels or Preferences, or what Qrels can be made from: a dict of dicts, a frame
        of pandas or polars, an arrow table, a Dataset of Hugging Face, Qrels of ranx, named tuples
        as ir_measures and ir_datasets have them, or a file as `load_qrels` takes it.
    run: a Run, or what one can be made from, likewise. A file in TREC's format is judged while it
        is read, without keeping it; a dict is judged as it is, and what it holds for queries
        without judgments is not looked at. A query with an empty dict has no results, and counts.
        Of a list of runs, each is evaluated: a list of Scores comes back.
    measures: names in the notation of trec_eval (`map`, `P.5,10`, `ndcg.1=3,2=9`, `official`, ...),
        pytrec_eval (`P_10`) or ir_measures (`nDCG@10`, `AP(rel=2)@100`), see `parse_measure`: one
        string with blanks between them or several strings. Values have trec_eval's names (`P_10`
        for `P.10`), others the name that `str(parse_measure(...))` gives (`AP@5` for `MAP @ 5`).
    relevance_level: the lowest grade that is relevant (trec_eval -l). It may have a fraction, as
        grades may.
    order: what documents are ranked by. "score": the highest first; "rank": the rank column of a
        file or frame, the smallest first, whatever the scores are; "given": the order of the lines,
        rows or items. By rank or as given, nothing ties. A rank that is no integer, or stands twice
        in a query, is an error. A Run keeps no ranks: see `load_run` for how to read them.
    ties: the order of documents with equal scores (equal as 32-bit floats at 9.0.8).
        "docno_desc": larger id first, in byte order, as trec_eval does; "docno_asc": smaller id
        first; "given": as the lines stand. "best" and "worst": highest or lowest grade first,
        documents outside the judgments ranking below grade 0. That is the best or worst order for
        measures that gain when a higher grade moves up, such as map, P, recip_rank and ndcg.
        "average": the exact expected value over all orders (McSherry and Najork, ECIR 2008), for
        map, map_cut, P, recall, relative_P, Rprec, recip_rank, success, dcg, ndcg and ndcg_cut;
        other measures raise MeasureError. Without "docno_desc" a score that is NaN is an error.
    missing: what judged queries without results are. "skip": left out (the default); "zero": 0 in
        the means (-c); "error".
    no_relevant: what judged queries without a relevant document are. "zero": evaluated, which
        gives 0 for most measures; "skip": left out of everything; "error".
    ignore_identical_ids: leave out documents whose id is the query's, before ranks are given.
    exclude: leave out these documents, a mapping from query to documents, in the same way.
    duplicates: a document twice in a ranking. "error"; "first": its first line counts; "max": its
        highest score. A document twice in the judgments of an evaluated query is always an error.
    depth: cut rankings after so many documents (-M).
    complete, max_retrieved: trec_eval's names for missing="zero" and depth.
    judged_only: drop documents without a grade >= 0 from the rankings (-J).
    collection_size: number of documents in the collection, for `utility` (-N).
    compat: "9.0.8" or "10.0": whose numbers to compute, and how to read comments in a file.
    threads: how many may judge a file; by default as many as help. The values do not depend on it.

    How many queries and documents were missing or left out is in `Scores.counts`.

    Measures for plain judgments, for judgment groups and for preferences cannot be mixed in one
    call. Raises TypeError for other objects, InputError for dicts, frames and tables that are no
    judgments or no run, OptionError for impossible or contradictory options and those without a
    meaning for the judgments, MeasureError for unknown measures or impossible
    parameters, NoQueriesError when no query has both judgments and results, EvaluationError for
    a query that cannot be evaluated, such as one whose ranking holds a document twice, ReadError
    and FormatError for a file. Definitions: trec_eval.

    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.75}, "q2": {"d3": 0.9}}
    >>> found = fr.evaluate(qrels, run, "map RR@10")
    >>> found.mean
    {'map': 0.75, 'RR@10': 0.75}
    >>> found["map"].tolist()
    [0.5, 1.0]
    >>> print(fr.evaluate("data/digits.qrels", "data/profile.run", "map P.10", ties="average"))
    map   0.3447
    P_10  0.8989
    """
    # Only now: the command trec_eval needs none of it.
    from fastrank.formats.tuples import is_named

    evaluator = Evaluator(
        qrels,
        measures,
        relevance_level=relevance_level,
        order=order,
        ties=ties,
        missing=missing,
        no_relevant=no_relevant,
        ignore_identical_ids=ignore_identical_ids,
        exclude=exclude,
        duplicates=duplicates,
        depth=depth,
        complete=complete,
        judged_only=judged_only,
        max_retrieved=max_retrieved,
        collection_size=collection_size,
        compat=compat,
    )
    if isinstance(run, (list, tuple)) and not is_named(next(iter(run), None)):
        return [evaluator.evaluate(one, threads=threads) for one in run]
    return evaluator.evaluate(run, threads=threads)


class Evaluator:
    """Evaluates runs, one after the other, against judgments that are looked at once.

    The arguments are those of `evaluate`. It may be called from several threads.

    >>> import fastrank as fr
    >>> evaluator = fr.Evaluator({"q1": {"d1": 1}}, "map P.5")
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 0.75}}).mean["map"]
    0.5
    """

    def __init__(
        self,
        qrels: Judgments | Convertible | Source,
        measures: Measures = "official",
        *,
        relevance_level: float = 1,
        order: str = "score",
        ties: str = "docno_desc",
        missing: str | None = None,
        no_relevant: str = "zero",
        ignore_identical_ids: bool = False,
        exclude: Mapping[Any, Iterable[Any]] | None = None,
        duplicates: str = "error",
        depth: int | None = None,
        complete: bool = False,
        judged_only: bool = False,
        max_retrieved: int | None = None,
        collection_size: int = 0,
        compat: str = DEFAULT_COMPAT,
    ) -> None:
        # Only now: the command trec_eval needs none of it.
        from fastrank.formats.accept import as_qrels
        from fastrank.formats.exclusions import as_exclusions

        check_choice("order", order, ORDERS)
        check_choice("ties", ties, TIES)
        check_choice("no_relevant", no_relevant, NO_RELEVANT)
        check_choice("duplicates", duplicates, DUPLICATES)
        missing = settle_missing(missing, complete=complete)
        self._bound = Selection(measures).bind(check_compat(compat))
        judgments = as_qrels(qrels, compat=compat)
        needed = {own.measure.on for own in self._bound}
        by_group = "groups" in needed and needed <= {"groups", "run", "queries"}
        relevance_format = "qrels_jg" if by_group else "qrels"
        if isinstance(judgments, Preferences):
            relevance_format = "prefs"
        self._options = Options(
            compat=compat,
            relevance_format=relevance_format,
            relevance_level=relevance(relevance_level),
            complete=missing == "zero",
            judged_only=flag("judged_only", judged_only),
            max_retrieved=settle_depth(depth, max_retrieved),
            collection_size=integer("collection_size", collection_size),
            query=None,
            ties=ties,
            missing_is_error=missing == "error",
            no_relevant=no_relevant,
            order=order,
            ignore_identical_ids=flag("ignore_identical_ids", ignore_identical_ids),
            exclude=as_exclusions(exclude),
            duplicates=duplicates,
        )
        check_options(self._bound, self._options)
        self._judgments, self._left_out = choose_queries(judgments, self._options)
        self._judge = RunJudge(self._judgments, self._bound, self._options)

    def evaluate(self, run: Run | Convertible | Source, *, threads: int | None = None) -> Scores:
        """Evaluate a run, or what one can be made from, or a file.

        threads: how many may judge a file; by default as many as help. Raises as `evaluate` does.

        >>> evaluator = fr.Evaluator("data/digits.qrels", "map")
        >>> evaluator.evaluate("data/pca.run").mean
        {'map': 0.34933767225585727}
        """
        check_threads(threads)
        judged = self._judge.judge(run, threads=threads)
        return score(self._judgments, judged, self._bound, self._options, left_out=self._left_out)
