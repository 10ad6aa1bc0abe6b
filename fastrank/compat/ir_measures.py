"""A provider for ir_measures, which uses it before all others once this module is imported.

>>> import fastrank.compat.ir_measures
>>> import ir_measures
>>> qrels, run = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.25}}
>>> ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)
{nDCG@10: 1.0}

Values and means have the order in which the measures were requested. They are those of trec_eval
9.0.8, bit for bit the same as those of ir_measures' provider pytrec_eval. Intentional differences
from the other providers:

- Documents with equal scores are always ranked by descending id, and scores are compared as 32-bit
  floats. The providers msmarco (RR@k), judged (Judged@k), compat and pyndeval rank them by
  ascending id, cwl_eval and accuracy in the order of the run; all compare scores as doubles. Once
  for each evaluator, a warning names the measures for which the order changes the value of a query.
- Judged of an empty ranking is 0; the provider judged divides by zero.
- Several SetF with different parameters, and several recall levels of IPrec that are equal in two
  decimals, all have values; the provider pytrec_eval returns only the last of these levels.
- NumRel supports any rel of at least 1.
- ERR and nDCG(dcg='exp-log2') are those of gdeval, but not rounded to five decimals, with or
  without a cutoff, and for any ids. As in gdeval, the highest grade for ERR is 4.
- RBP without rel uses the grades as gains, as in trectools; with rel it is binary, as in cwl_eval.
- SDCG, BPM, INST, INSQ and NERR8 to NERR11 differ from the provider cwl_eval in the last digits,
  because numpy adds in another order. They do not warn about grades outside of [min_rel, max_rel].
- Measures of subtopics are those of the provider pyndeval, bit for bit, without equal scores. But
  alpha_DCG@1 and ERR_IA@1 are normalized as at every other cutoff, cutoffs may exceed 20,
  judged_only works, nNRBP is 0 instead of NaN if no document is relevant, and judgments without
  subtopics are an error instead of a warning.
- If all documents are relevant, Accuracy (here PairAccuracy) has no value; the provider accuracy
  divides by zero.

The other providers compute a rel below 1, a min_rel below 0, a T of 0, and gains that are negative
or for negative grades.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import Any as Anything

import numpy

from fastrank.common.lazy import missing

try:
    import ir_measures
    from ir_measures import measures, providers
    from ir_measures.providers.base import NOT_PROVIDED, Any
    from ir_measures.util import QrelsConverter, RunConverter
except ModuleNotFoundError as error:
    raise missing("ir_measures", "fastrank.compat.ir_measures") from error

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.core.evaluation.dict_evaluator import DictEvaluator
from fastrank.core.evaluation.values import Values
from fastrank.core.formats.inputs import as_qrels, as_run
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables.to_qrels import qrels_from_dict
from fastrank.core.matching.dicts import index_judgments
from fastrank.core.matching.match import match
from fastrank.core.matching.options import Options
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.notation import parse_measure
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fastrank.core.measures.bound import BoundMeasure

# The measures, all with any parameters; FastrankProvider.supports refuses some of their values.
_SUPPORTED = """
    P RR Rprec AP nDCG R Bpref NumRet NumQ NumRel SetAP SetF SetP SetR Success IPrec infAP Judged
    ERR RBP Compat SDCG BPM INST INSQ NERR8 NERR9 NERR10 NERR11 alpha_DCG alpha_nDCG ERR_IA nERR_IA
    NRBP nNRBP AP_IA P_IA StRecall Accuracy
"""
# The highest grade of gdeval.
_HIGHEST_GRADE = 4
# Names of ir_measures that mean something else elsewhere.
_NAMES = {"Accuracy": "PairAccuracy"}
# The measures whose other providers rank documents with equal scores in another order than ours.
_OTHER_ORDERS = {
    "docno_asc": (
        "by ascending id",
        "AP_IA Compat ERR_IA Judged NRBP P_IA RR StRecall alpha_DCG alpha_nDCG nERR_IA nNRBP",
    ),
    "given": (
        "in the order of the run",
        "Accuracy BPM INSQ INST NERR10 NERR11 NERR8 NERR9 RBP SDCG",
    ),
}
# These only with this parameter; otherwise they come from another provider.
_ONLY_WITH = {"RR": "cutoff", "RBP": "rel"}
_IDS = ("query_id", "doc_id")


def _with_any_parameters(name: str) -> Anything:
    """The entry in a provider's list for a measure that it supports with any parameters."""
    measure = measures.registry[name]
    return type(measure)(**{parameter: Any() for parameter in measure.SUPPORTED_PARAMS})


class FastrankProvider(providers.Provider):
    """fastrank: https://pypi.org/project/fastrank-eval"""

    NAME = "fastrank"
    SUPPORTED_MEASURES = [_with_any_parameters(name) for name in _SUPPORTED.split()]  # noqa: RUF012

    def supports(self, measure: Anything) -> bool:
        """Whether fastrank has the measure, with these parameters."""
        if hasattr(measure, "runtime_impl") or not super().supports(measure):
            return False
        parameters = _parameters(measure)
        if parameters.get("min_rel", 0) < 0 or parameters.get("T", 1.0) <= 0:
            return False
        gains = parameters.get("gains", {})
        return bool(parameters.get("rel", 1) >= 1 and min([0, *gains, *gains.values()]) >= 0)

    def _evaluator(self, measures: Iterable[Anything], qrels: Anything) -> FastrankEvaluator:
        return FastrankEvaluator(list(measures), QrelsConverter(qrels))


class FastrankEvaluator(providers.Evaluator):
    """Evaluates runs for any measures in one pass."""

    def __init__(self, measures: list[Anything], qrels: Anything) -> None:
        self._bound = [_bound(measure) for measure in measures]
        self._simple = [bound for bound in self._bound if bound.measure.needs != "subtopics"]
        rest = [bound for bound in self._bound if bound.measure.needs == "subtopics"]
        judgments: Anything = _of_frame(qrels, qrels.qrels, ir_measures.Qrel, as_qrels)
        self._by_subtopic = None
        if rest:
            rows = judgments
            if judgments is None:
                rows = list(qrels.as_namedtuple_iter())
                qrels = QrelsConverter(rows)
            self._by_subtopic = QrelsEvaluator(rest, rows)
        # Dicts have the last grade of documents that are judged twice.
        if judgments is None or qrels.qrels.duplicated(list(_IDS)).any():
            by_query = qrels.as_dict_of_dict()
            self._judged = {query: docs for query, docs in by_query.items() if docs}
            judgments = index_judgments(self._judged) or qrels_from_dict(
                self._judged, source="qrels"
            )
        else:
            self._judged, by_query = judgments, judgments.query_ids
        super().__init__(measures, set(by_query))
        self._evaluator = DictEvaluator(
            Plan(judgments, self._simple, Options()), self._judged, _arrange
        )
        self._other_orders = {
            ties: numbers
            for ties in _OTHER_ORDERS
            if (
                numbers := [
                    number for number, measure in enumerate(measures) if _order_of(measure) == ties
                ]
            )
        }

    @cached_property
    def _of_runs(self) -> QrelsEvaluator:
        return QrelsEvaluator(self._simple, self._judged)

    def _rows(self, run: Anything) -> tuple[list[str], list[list[float]]]:
        """The queries with judgments and results, and the values of each measure for them."""
        converter = RunConverter(run)
        rankings = _of_frame(converter, run, ir_measures.ScoredDoc, as_run)
        if rankings is not None:
            queries = [query for query in rankings.query_ids if query in self._judged]
            # Dicts have the last score of documents that are retrieved twice.
            with suppress(InputError):
                plain = self._of_runs.columns(rankings, queries)
                return queries, self._columns(rankings, queries, plain)
        rankings = converter.as_dict_of_dict()
        by_query, computed, _held = self._evaluator.compute(rankings)
        queries = list(by_query)
        plain = [
            _first_values(bound, column, len(queries))
            for bound, column in zip(self._simple, computed, strict=True)
        ]
        return queries, self._columns(rankings, queries, plain)

    def _columns(
        self, rankings: Anything, queries: list[str], plain: list[list[float]]
    ) -> list[list[float]]:
        """The values of all measures, given those that need no subtopics."""
        rest = self._by_subtopic.columns(rankings, queries) if self._by_subtopic else []
        sources = {True: iter(rest), False: iter(plain)}
        columns = [next(sources[bound.measure.needs == "subtopics"]) for bound in self._bound]
        if self._other_orders:
            self._warn_of_ties(rankings, queries, columns)
        return columns

    def _warn_of_ties(
        self, rankings: Anything, queries: list[str], columns: list[list[float]]
    ) -> None:
        """Warn, once, if a value would differ in the order of another provider."""
        if not _has_ties(rankings, queries):
            return
        orders = []
        for ties, numbers in self._other_orders.items():
            names = [
                str(self.measures[number])
                for number in numbers
                if self._differ(self._bound[number], ties, rankings, queries, columns[number])
            ]
            if names:
                orders.append(f"{_OTHER_ORDERS[ties][0]} for {', '.join(names)}")
        if orders:
            self._other_orders = {}
            warnings.warn(
                "the run has equal scores that change values: fastrank ranks their documents by"
                f" descending id; ir_measures' other providers rank them {'; '.join(orders)}",
                stacklevel=5,
            )

    def _differ(
        self,
        bound: BoundMeasure,
        ties: Anything,
        rankings: Anything,
        queries: list[str],
        column: list[float],
    ) -> bool:
        """Whether values differ from those of another order of ties."""
        by_subtopic = self._by_subtopic if bound.measure.needs == "subtopics" else None
        qrels = self._judged if by_subtopic is None else by_subtopic.qrels
        evaluator = QrelsEvaluator([bound], qrels, ties)
        (values,) = evaluator.columns(rankings, queries)
        # NaN where there is no value.
        return any(a != b and (a == a or b == b) for a, b in zip(column, values, strict=True))

    def _of_missing(self) -> list[Anything]:
        """The measures that have a value for queries without results."""
        pairs = zip(self.measures, self._bound, strict=True)
        return [measure for measure, bound in pairs if bound.measure.average != "defined"]

    def iter_calc(self, run: Anything) -> Iterator[Anything]:
        """The values of each query in the order of the measures; then queries without results."""
        queries, columns = self._rows(run)
        for query, values in zip(queries, zip(*columns, strict=True), strict=bool(columns)):
            for measure, value in zip(self.measures, values, strict=True):
                if value == value:
                    yield ir_measures.Metric(query_id=query, measure=measure, value=value)
        for query in sorted(self.qrel_qids - set(queries)):
            for measure in self._of_missing():
                yield ir_measures.Metric(query_id=query, measure=measure, value=measure.DEFAULT)

    def calc_aggregate(self, run: Anything) -> dict[Anything, float]:
        """The means, or sums of counts, over all queries that have judgments."""
        queries, columns = self._rows(run)
        missing = len(self.qrel_qids - set(queries))
        counted = self._of_missing()
        aggregates = {}
        for measure, column in zip(self.measures, columns, strict=True):
            aggregator = measure.aggregator()
            values = [value for value in column if value == value]
            for value in (*values, *[measure.DEFAULT] * (missing if measure in counted else 0)):
                aggregator.add(value)
            aggregates[measure] = aggregator.result()
        return aggregates


class QrelsEvaluator:
    """Computes measures from Qrels: of subtopics, of data frames, or with another order of ties.

    qrels: judgments in any form. Raises MeasureError for measures of subtopics if these have none.
    """

    def __init__(
        self, measures: list[BoundMeasure], qrels: Anything, ties: str = "docno_desc"
    ) -> None:
        self.qrels: Anything = as_qrels(qrels) if qrels else Qrels.from_dict({})
        self._plan = Plan(self.qrels, measures, Options().changed(ties=ties))

    def columns(self, run: Run | Mapping[str, Anything], queries: list[str]) -> list[list[float]]:
        """The values of each measure for these queries of a run. Raises InputError."""
        if not isinstance(run, Run):
            run = {query: run[query] for query in queries}
        judged = match(self._plan, run)
        if judged.failure is not None:
            raise InputError("run", str(judged.failure))
        values = Values(self._plan, judged)
        ids = self.qrels.query_ids
        rows = {ids[query]: row for row, query in enumerate(judged.queries)}
        columns = []
        for bound in self._plan.measures:
            column = _first_values(bound, values.of(bound), len(rows))
            columns.append([column[rows[query]] if query in rows else 0.0 for query in queries])
        return columns


class Pipeline(providers.FallbackProvider):
    """ir_measures' own choice of providers, which keeps the order of the measures."""

    def _evaluator(self, measures: Iterable[Anything], qrels: Anything) -> Anything:
        asked = list(dict.fromkeys(measures))
        ours = [measure for measure in asked if provider.supports(measure)]
        if not ours or provider not in self.providers:
            return super()._evaluator(asked, qrels)
        if len(ours) == len(asked):
            return provider.evaluator(asked, qrels)
        rest = [measure for measure in asked if measure not in ours]
        mine, theirs = QrelsConverter(qrels).tee(2)
        evaluators = [provider.evaluator(ours, mine.qrels), super()._evaluator(rest, theirs.qrels)]
        return providers.fallback_provider.FallbackEvaluator(asked, evaluators)


def _order_of(measure: Anything) -> str:
    """The order of documents with equal scores in the measure's other provider, if it differs."""
    if _ONLY_WITH.get(measure.NAME, "") not in ("", *_parameters(measure)):
        return ""
    orders = _OTHER_ORDERS.items()
    return next((ties for ties, (_, names) in orders if measure.NAME in names.split()), "")


def _of_frame(
    converter: Anything, frame: Anything, kind: Anything, read: Callable[[Anything], Anything]
) -> Anything:
    """The same as `read` for a pandas frame, whose rows ir_measures would convert one by one.

    kind: the named tuple whose fields are the columns. None for other forms, and for ids that are
    not texts and missing values, which are left to ir_measures.
    """
    if converter.predict_type()[0] != "pd_dataframe":
        return None
    from pandas.api.types import infer_dtype

    frame = frame[[name for name in kind._fields if name in frame.columns]]
    if any(infer_dtype(frame[name], skipna=False) != "string" for name in _IDS):
        return None
    with suppress(InputError):
        return read(frame)
    return None


def _first_values(bound: BoundMeasure, column: Anything, count: int) -> list[float]:
    """The first value of a measure for each query; one without values per query counts queries."""
    values: list[float] = [1.0] * count if column is None else column[:: bound.width].tolist()
    return values


def _has_ties(rankings: Anything, queries: list[str]) -> bool:
    """Whether two documents of one of the queries have equal scores."""
    if isinstance(rankings, Run):
        columns = numpy.split(rankings.scores, rankings.offsets[1:-1])
        by_query = dict(zip(rankings.query_ids, columns, strict=True))
        ordered = [numpy.sort(by_query[query]) for query in queries]
    else:
        ordered = [numpy.sort(numpy.array([*rankings[query].values()])) for query in queries]
    return any((scores[1:] == scores[:-1]).any() for scores in ordered)


def _parameters(measure: Anything) -> dict[str, Anything]:
    """The parameters of a measure that are given or have a default."""
    values = {name: measure[name] for name in measure.SUPPORTED_PARAMS}
    return {name: value for name, value in values.items() if value is not NOT_PROVIDED}


def _arrange(values: Values) -> list[Anything]:
    return [values.of(bound) for bound in values.plan.measures]


def _bound(measure: Anything) -> BoundMeasure:
    """A measure as fastrank computes it. Raises MeasureError for impossible parameters."""
    parameters = _parameters(measure)
    if measure.NAME == "ERR":
        parameters["max_grade"] = _HIGHEST_GRADE
    elif measure.NAME == "RBP" and "rel" not in parameters:
        parameters["gain"] = "raw"
    elif measure.NAME == "SDCG":
        # Its only value is the definition.
        del parameters["dcg"]
    elif measure.NAME == "IPrec":
        # pytrec_eval's name for the value has two decimals.
        parameters["recall"] = f"{parameters['recall']:.2f}"
    at_value = parameters.pop(measure.AT_PARAM, None)
    options = ",".join(f"{name}={_written(value)}" for name, value in parameters.items())
    text = (
        _NAMES.get(measure.NAME, measure.NAME)
        + (f"({options})" if options else "")
        + ("" if at_value is None else f"@{at_value}")
    )
    return _bound_once(text)


@lru_cache(maxsize=1000)
def _bound_once(text: str) -> BoundMeasure:
    return parse_measure(text).bind(DEFAULT_VERSION)


def _written(value: Anything) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{grade}:{gain}" for grade, gain in value.items()) + "}"
    return str(value)


provider = providers.register(FastrankProvider())
ir_measures.DefaultPipeline.providers.insert(0, provider)
ir_measures.DefaultPipeline.__class__ = Pipeline
