"""A replacement for pytrec_eval with the same values; only the import changes.

>>> from fastrank.compat import pytrec_eval
>>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 1}}, {"map", "ndcg_cut.5,10"})
>>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 0.25}})["q1"]["ndcg_cut_10"]
1.0

Names, values to the last bit, the order of queries and measures, and exceptions are the same as in
pytrec_eval-terrier 0.5. The exceptions are also FastrankErrors that name query and document.
Intentional differences:

- Where pytrec_eval aborts the interpreter (`P_0`, `P_05` together with `P_5`, `ndcg_10`, a grade of
  2**62, a negative relevance level) or raises SystemError (integers of more than 64 bits), a
  ValueError is raised. Ids with surrogates for undecodable bytes, which also abort it, are
  evaluated.
- A NaN score raises ValueError, because it cannot be ranked. So does `utility` with other than four
  coefficients, for which pytrec_eval prints a message and returns 0.0.
- Grades and scores may be numpy scalars of any type. Ids are compared as a whole; pytrec_eval cuts
  them at a NUL.
- Rankings of queries without judgments are not read, and ids of unjudged documents that cannot be
  encoded as UTF-8 are not always detected.

The definitions are those of trec_eval 9.0.8, as in pytrec_eval (van Gysel and de Rijke, SIGIR
2018).
"""

from __future__ import annotations

import re
from functools import lru_cache

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.messages import brief
from fastrank.core.data.row_dicts import RowDicts
from fastrank.core.evaluation.one_query import Layout, OneByOne
from fastrank.core.formats.tables.to_qrels import qrels_from_dict
from fastrank.core.matching.dicts import index_judgments
from fastrank.core.matching.keywords import DEFAULTS
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.selection import Selection
from fastrank.core.measures.trec import MEASURES, NICKNAMES
from fastrank.core.native.buffers import filled
from fastrank.errors import InputError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    from fastrank.core.evaluation.values import Values
    from fastrank.core.measures.bound import BoundMeasure

    Number = TypeVar("Number", int, float)

__all__ = [
    "RelevanceEvaluator",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

# The version whose interface this is.
__version__ = "0.5.11"

# trec_eval's table of judgments by grade must fit into memory, and pytrec_eval's too.
_LARGEST_GRADE = 2**44 - 2

supported_nicknames: dict[str, set[str]] = {
    nickname: {
        measure.name
        for measure in MEASURES
        if nickname in measure.sets and measure.since == DEFAULT_VERSION
    }
    for nickname in NICKNAMES
}
supported_measures: set[str] = set(supported_nicknames["all_trec"])


class ArgumentError(InputError, TypeError):
    """An invalid argument, for which pytrec_eval raises a TypeError."""


class RelevanceEvaluator:
    """Evaluates runs, one after the other, against judgments that are read once.

    query_relevance: {query: {document: grade}}, ids are str, grades integers. measures: names of
    measures, with parameters (`P_5`, `P.5,10`, `ndcg_cut.10`) or without, and nicknames.
    relevance_level: the lowest grade that is relevant. judged_docs_only_flag: drop documents
    without a grade >= 0 from the rankings.

    Raises TypeError for arguments of wrong types, ValueError for unknown or impossible measures.

    >>> from fastrank.compat import pytrec_eval
    >>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"recip_rank"})
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 0.75}})
    {'q1': {'recip_rank': 0.5}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        specifications = _specifications(frozenset(measures))
        judged = {query: docs for query, docs in query_relevance.items() if len(docs) > 0}
        for name, value in (
            ("relevance_level", relevance_level),
            ("judged_docs_only_flag", judged_docs_only_flag),
        ):
            if not hasattr(value, "__index__"):
                raise ArgumentError(name, f"expected an integer, found {value!r}")
        if relevance_level <= 0:
            raise ArgumentError(
                "relevance_level",
                f"Argument relevance_level should be positive, found {relevance_level}",
            )
        layout = _layout(specifications, int(relevance_level), bool(judged_docs_only_flag))
        self._queries = OneByOne(layout, judged)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """The values {query: {measure: value}} of a run {query: {document: score}}.

        In the order of the run's queries, for those that have judgments. Raises TypeError for ids
        that are not str and scores that are not numbers, ValueError for NaN.

        >>> from fastrank.compat import pytrec_eval
        >>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 2}}, {"ndcg", "P_5"})
        >>> values = evaluator.evaluate({"q1": {"d1": 0.5}, "q2": {"d1": 0.5}})
        >>> sorted(values["q1"].items())
        [('P_5', 0.2), ('ndcg', 1.0)]
        """
        if not scores:
            return {}
        if not isinstance(scores, dict):
            raise ArgumentError("scores", "Argument object scores should be of type dictionary.")
        if len(scores) == 1 and type(scores) is dict:
            [(query, docs)] = scores.items()
            if type(query) is str and type(docs) is dict:
                row = self._queries.row(query, docs)
                if row is not None:
                    return {query: row}
        try:
            queries, rows, _held = self._queries.general.compute(scores)
        except InputError as error:
            if "NaN" in error.reason:
                raise
            raise ArgumentError(error.source, error.reason) from error
        return dict(zip(queries, rows.make(len(queries))))  # noqa: B905


def _rows(values: Values) -> RowDicts:
    """The maker of dicts of the values."""
    columns: dict[str, tuple[object, int, int]] = {}
    for bound_measure in values.plan.measures:
        if bound_measure.measure.needs == "queries":
            columns[bound_measure.measure.name] = filled("d", [1.0]), 0, 0
        elif bound_measure.measure.is_text:
            columns[bound_measure.measure.name] = filled("d", [0.0]), 0, 0
        else:
            column = values.of(bound_measure)
            for offset, name in enumerate(_names(bound_measure)):
                columns[name] = column, offset, bound_measure.width
    return RowDicts(columns)


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """{query: {document: score}} from the lines `query Q0 document rank score tag` of a run.

    Raises AssertionError for a document that comes twice, ValueError for any other line.

    >>> from fastrank.compat import pytrec_eval
    >>> pytrec_eval.parse_run(["q1 Q0 d1 1 0.75 bm25", "q1 Q0 d2 2 0.5 bm25"])["q1"]
    {'d1': 0.75, 'd2': 0.5}
    """
    return _parsed(f_run, 6, 4, float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """{query: {document: grade}} from the lines `query 0 document grade` of judgments.

    Raises AssertionError for a document that comes twice, ValueError for any other line.

    >>> from fastrank.compat import pytrec_eval
    >>> pytrec_eval.parse_qrel(["q1 0 d1 1", "q1 0 d2 0"])["q1"]
    {'d1': 1, 'd2': 0}
    """
    return _parsed(f_qrel, 4, 3, int)


def compute_aggregated_measure(measure: str, values: list[float]) -> float:
    """The value over all queries: a sum for `num_...`, a geometric mean for `gm_...`, or a mean.

    >>> from fastrank.compat import pytrec_eval
    >>> pytrec_eval.compute_aggregated_measure("map", [0.25, 0.75])
    0.5
    >>> pytrec_eval.compute_aggregated_measure("num_ret", [100.0, 50.0])
    150.0
    """
    import numpy

    if measure.startswith("num_"):
        return float(numpy.sum(values))
    if measure.startswith("gm_"):
        return float(numpy.exp(numpy.sum(values) / len(values)))
    return float(numpy.mean(values))


def _parsed(
    lines: Iterable[str], fields: int, column: int, number: Callable[[str], Number]
) -> dict[str, dict[str, Number]]:
    from collections import defaultdict

    nested: dict[str, dict[str, Number]] = defaultdict(dict)
    for line in lines:
        row = line.strip().split()
        if len(row) != fields:
            raise ValueError(f"expected {fields} fields, found {len(row)} in {line!r}")
        query, _, doc, *_ = row
        if doc in nested[query]:
            raise AssertionError(f"document {doc!r} comes twice for query {query!r}")
        nested[query][doc] = number(row[column])
    return nested


# Parsing four names takes longer than evaluating a query of 100 documents.
@lru_cache(maxsize=64)
def _specifications(measures: frozenset[str]) -> tuple[str, ...]:
    """Measures in trec_eval's notation, each once, with all parameters given for it."""
    parameters: dict[str, set[str]] = {}
    names = (supported_nicknames.get(measure, {measure}) for measure in measures)
    for measure in frozenset[str]().union(*names):
        name, items = (measure, "") if measure in supported_measures else _split(measure)
        parameters.setdefault(name, set()).update(items.split(",") if items else ())
    return tuple(
        f"{name}.{','.join(sorted(items))}" if items else name for name, items in parameters.items()
    )


def _split(measure: str) -> tuple[str, str]:
    """Name and parameters of a measure such as `P_5,10` or `iprec_at_recall.0.1`."""
    for name in supported_measures:
        pattern = rf"{re.escape(name)}[\._]([0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*)"
        match = re.match(pattern, measure)
        if match:
            return name, match[1]
    raise MeasureError(measure, f"unsupported measure {measure}")


@lru_cache(maxsize=64)
def _bound(specifications: tuple[str, ...]) -> list[BoundMeasure]:
    """The measures. Raises MeasureError for those that trec_eval cannot compute."""
    bound = Selection(specifications, original=True).bind(DEFAULT_VERSION)
    for bound_measure in bound:
        if bound_measure.measure.takes == "weights" and len(bound_measure.numbers) != 4:
            count = len(bound_measure.numbers)
            raise MeasureError(
                bound_measure.measure.name,
                f"{bound_measure.measure.name} takes 4 coefficients, found {count}",
            )
    return bound


class _Layout(Layout):
    """The part that evaluators with the same measures and options share."""

    def __init__(self, *key: Any) -> None:
        super().__init__(_rows, _LARGEST_GRADE)
        self._key = self._specifications, relevance_level, judged_only = key
        self._options = DEFAULTS
        if relevance_level != 1 or judged_only:
            self._options = DEFAULTS.changed(
                relevance_level=relevance_level, judged_only=judged_only
            )

    def __reduce__(self) -> tuple[object, ...]:
        return _layout, self._key

    def plan(self, judged: Mapping[str, Mapping[str, int]]) -> Plan:
        judgments: Any = index_judgments(judged)
        if judgments is None or judgments.largest_grade > _LARGEST_GRADE:
            _check_judgments(judged)
            judgments = qrels_from_dict(judged)
        return Plan(judgments, _bound(self._specifications), self._options)


# Few, since each may have memory.
@lru_cache(maxsize=16)
def _layout(*key: Any) -> _Layout:
    return _Layout(*key)


def _names(bound: BoundMeasure) -> list[str]:
    """Names of the values: pytrec_eval appends parameters only where each is a value."""
    if bound.measure.takes in ("cutoffs", "recalls"):
        return [name.decode() for name in bound.names]
    return [bound.measure.name]


def _check_judgments(judged: Mapping[Any, object]) -> None:
    for query, docs in judged.items():
        source = f"query_relevance, query {query!r}"
        if not isinstance(query, str):
            raise ArgumentError(source, "Expected string as key.")
        if not isinstance(docs, dict):
            raise ArgumentError(source, "Expected dictionary as value.")
        for doc, grade in docs.items():
            is_integer = hasattr(grade, "__index__")
            if isinstance(doc, str) and is_integer and grade <= _LARGEST_GRADE:
                continue
            source = f"query_relevance, query {query!r}, document {doc!r}"
            if not isinstance(doc, str):
                expected = "Expected mapping of document id to query relevance or matching score."
                raise ArgumentError(source, expected)
            if not is_integer:
                raise ArgumentError(source, f"Expected relevance to be integer, found {grade!r}")
            raise InputError(source, f"the relevance {brief(grade)} is too large")
