"""How each library evaluates judgments and a run that are in memory.

LIBRARIES, at the end, has them by the names that reports know them by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from bench import trec_files
from bench.expected import FOUR, names_of
from bench.tasks import BUILDING, BUILDING_ALL, BUILT, BUILT_ALL, MEASURES, SINGLE

if TYPE_CHECKING:
    from bench.driver import Job

Rows = dict[str, dict[str, float]]
Evaluate = Callable[[Any], Any]


@dataclass(frozen=True)
class Library:
    """A library and the tasks it is measured at.

    build: what evaluates runs, from judgments and names of measures. rows: its result as
    {query: {measure: value}}. convert: dicts of judgments and a run as the library has them; it is
    timed where building is.
    """

    tasks: tuple[str, ...]
    build: Callable[[Any, list[str]], Evaluate]
    rows: Callable[[Any], Rows] = dict
    convert: Callable[[Any, Any], tuple[Any, Any]] = lambda qrels, run: (qrels, run)

    def call(self, task: str, qrels: Any, run: Any) -> Callable[[], list[Any]]:
        """What to time: results for all queries together or, of SINGLE, one after the other."""
        measures = list(FOUR) if MEASURES[task] == "four" else [MEASURES[task]]
        if task in (BUILDING, BUILDING_ALL):
            return lambda: [self._from_the_start(qrels, run, measures)]
        runs = [{query: docs} for query, docs in run.items()] if task == SINGLE else [run]
        converted = [self.convert(qrels, own) for own in runs]
        evaluate = self.build(converted[0][0], measures)
        return lambda: [evaluate(own) for _, own in converted]

    def values(self, results: list[Any]) -> Rows:
        """The values of what was timed."""
        return {query: row for result in results for query, row in self.rows(result).items()}

    def _from_the_start(self, qrels: Any, run: Any, measures: list[str]) -> Any:
        judged, ranked = self.convert(qrels, run)
        return self.build(judged, measures)(ranked)


def prepare(name: str, job: Job) -> tuple[Callable[[], Any], Callable[[Any], dict[str, float]]]:
    """The call to time, on dicts read from the files of a job, and its means over all queries."""
    qrels = trec_files.parse_qrels(Path(job.qrels).read_bytes())
    run = trec_files.parse_run(Path(job.run).read_bytes())
    library = LIBRARIES[name]

    def values(results: list[Any]) -> dict[str, float]:
        return _over_all(library.values(results), names_of(job.measures))

    return library.call(job.task, qrels, run), values


def _over_all(rows: Rows, names: Iterable[str]) -> dict[str, float]:
    """Values over all queries, of those that the rows have."""
    found: dict[str, float] = {"num_q": len(rows)}
    for name in names:
        column = [row[name] for row in rows.values() if name in row]
        if len(column) == len(rows) and name != "num_q":
            found[name] = sum(column) if name.startswith("num_") else fmean(column)
    return found


def _compat(qrels: Any, measures: list[str]) -> Evaluate:
    from fastrank.compat import pytrec_eval

    evaluate: Evaluate = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate
    return evaluate


def _pytrec_eval(qrels: Any, measures: list[str]) -> Evaluate:
    import pytrec_eval

    evaluate: Evaluate = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate
    return evaluate


def _evaluator(qrels: Any, measures: list[str]) -> Evaluate:
    import fastrank as fr

    return fr.Evaluator(qrels, measures).evaluate


def _evaluate(qrels: Any, measures: list[str]) -> Evaluate:
    import fastrank as fr

    return lambda run: fr.evaluate(qrels, run, measures)


def _evaluate_arrays(qrels: Any, measures: list[str]) -> Evaluate:
    import fastrank as fr

    indexed = fr.index_qrels(qrels)
    return lambda run: fr.evaluate_arrays(indexed, *run[:2], measures, queries=run[2])


def as_arrays(qrels: trec_files.Qrels, run: trec_files.Run) -> tuple[Any, Any]:
    """Judgments with integer ids, and a run as (ids, scores, queries): [queries, documents].

    The integers sort as texts as the ids do: documents with equal scores keep their order.
    """
    import numpy as np

    docs = {doc for own in (*qrels.values(), *run.values()) for doc in own}
    first = 10 ** len(str(len(docs)))
    numbers = {doc: first + place for place, doc in enumerate(sorted(docs, key=str.encode))}
    ids = np.full((len(run), max(map(len, run.values()))), -1)
    scores = np.zeros(ids.shape)
    for row, own in enumerate(run.values()):
        ids[row, : len(own)] = [numbers[doc] for doc in own]
        scores[row, : len(own)] = list(own.values())
    judged = {
        query: {numbers[doc]: grade for doc, grade in own.items()} for query, own in qrels.items()
    }
    return judged, (ids, scores, list(run))


def _ranx(qrels: Any, measures: list[str]) -> Evaluate:
    import ranx

    names = dict(zip(FOUR, ("map", "ndcg@10", "mrr", "precision@10"), strict=True))
    wanted = [names[measure] for measure in measures]

    def evaluate(run: Any) -> tuple[list[str], dict[str, Any]]:
        found = ranx.evaluate(qrels, run, wanted, return_mean=False)
        return list(run.keys()), {name: found[names[name]] for name in measures}

    return evaluate


def _ranx_objects(qrels: Any, run: Any) -> tuple[Any, Any]:
    import ranx

    return ranx.Qrels(qrels), ranx.Run(run)


def _ranx_rows(result: tuple[list[str], dict[str, Any]]) -> Rows:
    queries, columns = result
    return {
        query: {name: float(column[place]) for name, column in columns.items()}
        for place, query in enumerate(sorted(queries))
    }


def _ir_measures(qrels: Any, measures: list[str], ours: bool) -> Evaluate:
    """ir_measures, computing by our provider or by those that it comes with."""
    import ir_measures
    from ir_measures import providers

    from fastrank.compat.ir_measures import provider

    own = [given for given in ir_measures.DefaultPipeline.providers if given is not provider]
    names = dict(zip(FOUR, ("AP", "nDCG@10", "RR", "P@10"), strict=True))
    wanted = [ir_measures.parse_measure(names[measure]) for measure in measures]
    chosen = provider if ours else providers.FallbackProvider(own)
    calc: Evaluate = chosen.evaluator(wanted, qrels).calc
    return calc


def _ir_measures_rows(result: Any) -> Rows:
    names = dict(zip(("AP", "nDCG@10", "RR", "P@10"), FOUR, strict=True))
    rows: Rows = {}
    for metric in result.per_query:
        rows.setdefault(metric.query_id, {})[names[str(metric.measure)]] = metric.value
    return rows


def _to_dict(scores: Any) -> Rows:
    rows: Rows = scores.to_dict()
    return rows


def _frames(qrels: trec_files.Qrels, run: trec_files.Run) -> tuple[Any, Any]:
    """Frames of pandas with the columns of ir_measures, as PyTerrier passes them."""
    import fastrank as fr

    return fr.Qrels.from_dict(qrels).to_pandas(), fr.Run.from_dict(run).to_pandas()


_FOUR_TASKS = (BUILT, BUILDING, SINGLE)
PROVIDER = "fastrank's ir_measures provider"
PEER_FRAMES, OUR_FRAMES = "ir_measures, frames", f"{PROVIDER}, frames"
COMPAT, EVALUATOR = "fastrank.compat.pytrec_eval", "fastrank.Evaluator"
ONE_SHOT, ARRAYS = "fastrank.evaluate(dict, dict)", "fastrank.evaluate_arrays"
LIBRARIES = {
    "pytrec_eval": Library((*_FOUR_TASKS, BUILT_ALL, BUILDING_ALL), _pytrec_eval),
    COMPAT: Library((*_FOUR_TASKS, BUILT_ALL, BUILDING_ALL), _compat),
    EVALUATOR: Library((BUILT, SINGLE, BUILT_ALL), _evaluator, _to_dict),
    ONE_SHOT: Library((BUILDING, BUILDING_ALL), _evaluate, _to_dict),
    ARRAYS: Library((BUILT, BUILT_ALL), _evaluate_arrays, _to_dict, as_arrays),
    "ranx": Library((BUILT, BUILDING), _ranx, _ranx_rows, _ranx_objects),
    "ir_measures": Library((BUILT, BUILDING), partial(_ir_measures, ours=False), _ir_measures_rows),
    PROVIDER: Library((BUILT, BUILDING), partial(_ir_measures, ours=True), _ir_measures_rows),
    PEER_FRAMES: Library((BUILT,), partial(_ir_measures, ours=False), _ir_measures_rows, _frames),
    OUR_FRAMES: Library((BUILT,), partial(_ir_measures, ours=True), _ir_measures_rows, _frames),
}
