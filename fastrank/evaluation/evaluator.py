"""Evaluation: judgments and a run in, scores out."""

from __future__ import annotations

from typing import overload

from fastrank.arguments import check_threads
from fastrank.data.preferences import Preferences
from fastrank.data.texts import decoded
from fastrank.evaluation.scoring import score
from fastrank.judging.evaluation_options import EVALUATION, EvaluationOptions, evaluation_options
from fastrank.judging.judge import RunJudge
from fastrank.judging.options import bind_measures, check_options
from fastrank.judging.queries import choose_queries
from fastrank.keywords import takes, with_defaults
from fastrank.measures.selection import Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.formats.files import Source
    from fastrank.measures.selection import Measures
    from fastrank.scores.scores import Scores

    Judgments = Qrels | Preferences
    # Dicts of dicts, frames of pandas and polars, arrow tables, and the like.
    Convertible = Any


@takes(EvaluationOptions, EVALUATION)
def evaluate(
    qrels: Judgments | Convertible | Source,
    run: Run | Convertible | Source | Sequence[Run | Convertible | Source],
    measures: Measures = "official",
    *,
    threads: int | None = None,
    **options: Unpack[EvaluationOptions],
) -> Scores | list[Scores]:
    """Evaluate a run against judgments, or several runs; for runs that come later see `Evaluator`.

    qrels: judgments: Qrels or Preferences, or what Qrels can be made from: a dict
        {query: {document: grade}}, or {query: [document, ...]} of grade 1, a frame of pandas or
        polars, an arrow table, a Dataset of Hugging Face, Qrels of ranx, named tuples as
        ir_measures and ir_datasets have them, or a file as `load_qrels` takes it.
    run: a Run, or what one can be made from, likewise. A file in TREC's format is judged while it
        is read, without keeping it, and a dict as it is: the documents and scores that they hold
        for queries without judgments are not looked at. A query with an empty dict has no results,
        and counts. Of a list of runs, each is evaluated: a list of Scores comes back.
    measures: names in the notation of trec_eval (`map`, `P.5,10`, `ndcg.1=3,2=9`, `official`, ...),
        pytrec_eval (`P_10`), ir_measures (`nDCG@10`, `AP(rel=2)@100`) or papers (`mrr@10`), see
        `parse_measure`: strings with blanks or commas between names; or functions, see `measure`.
        Values have the names that were asked for, `P.5,10` those of trec_eval, `P_5` and `P_10`.
    threads: how many may judge a file; by default as many as help. The values do not depend on it.
    **options: see `EvaluationOptions`.

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
    evaluator = Evaluator(qrels, measures, **with_defaults(evaluate, options))
    found: Scores | list[Scores] = evaluator.evaluate(run, threads=threads)
    return found


@takes(EvaluationOptions, EVALUATION)
class Evaluator:
    """Evaluates runs, one after the other, against judgments that are looked at once.

    The arguments are those of `evaluate`. It may be called from several threads, and pickled for
    other processes, which look at the judgments again.

    >>> import fastrank as fr
    >>> evaluator = fr.Evaluator({"q1": {"d1": 1}}, "map P.5")
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 0.75}}).mean["map"]
    0.5
    """

    def __init__(
        self,
        qrels: Judgments | Convertible | Source,
        measures: Measures = "official",
        **options: Unpack[EvaluationOptions],
    ) -> None:
        # Only now: the command trec_eval needs none of it.
        from fastrank.formats.inputs import as_qrels

        checked = evaluation_options(with_defaults(Evaluator.__init__, options))
        self._bound = bind_measures(Selection(measures), checked)
        judgments = as_qrels(qrels, compat=checked.compat)
        needed = {own.measure.on for own in self._bound}
        by_group = "groups" in needed and needed <= {"groups", "run", "queries"}
        relevance_format = "qrels_jg" if by_group else "qrels"
        if isinstance(judgments, Preferences):
            relevance_format = "prefs"
        self._options = checked.changed(relevance_format=relevance_format)
        check_options(self._bound, self._options)
        self._judgments, self._left_out = choose_queries(judgments, self._options)
        self._judge = RunJudge(self._judgments, self._bound, self._options)

    def __getstate__(self) -> dict[str, Any]:
        # A judge has locks, and memory that it uses again.
        return {name: value for name, value in vars(self).items() if name != "_judge"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._judge = RunJudge(self._judgments, self._bound, self._options)

    def __repr__(self) -> str:
        names = " ".join(decoded(name) for bound in self._bound for name in bound.names)
        return f"<Evaluator of {names}: {len(self._judgments)} judged queries>"

    @overload
    def evaluate(
        self, run: list[Any] | tuple[Any, ...], *, threads: int | None = None
    ) -> list[Scores]: ...

    @overload
    def evaluate(
        self, run: Run | Convertible | Source, *, threads: int | None = None
    ) -> Scores: ...

    def evaluate(
        self,
        run: Run | Convertible | Source | Sequence[Run | Convertible | Source],
        *,
        threads: int | None = None,
    ) -> Scores | list[Scores]:
        """Evaluate a run, or what one can be made from, or a file; or each one in a list.

        threads: how many may judge a file; by default as many as help. Raises as `evaluate` does.

        >>> evaluator = fr.Evaluator("data/digits.qrels", "map")
        >>> evaluator.evaluate("data/pca.run").mean
        {'map': 0.34933767225585727}
        """
        check_threads(threads)
        # Only now: the command trec_eval needs none of it.
        from fastrank.formats.tuples import is_named_tuple

        if isinstance(run, (list, tuple)) and not is_named_tuple(next(iter(run), None)):
            return [self._scores(one, threads) for one in run]
        return self._scores(run, threads)

    def _scores(self, run: Run | Convertible | Source, threads: int | None) -> Scores:
        judged = self._judge.judge(run, threads=threads)
        return score(self._judgments, judged, self._bound, self._options, left_out=self._left_out)
