"""A provider for ir_measures: once this module is imported, ir_measures asks it first.

>>> import fastrank.compat.ir_measures
>>> import ir_measures
>>> qrels, run = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.25}}
>>> ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)
{nDCG@10: 1.0}

It computes what trec_eval 9.0.8 computes, as ir_measures' provider pytrec_eval does, and gives the
same values. What differs from ir_measures' other providers, on purpose:

- Everywhere equal scores rank by descending id, and scores are equal if they are as C floats. The
  providers msmarco (RR@k) and judged (Judged@k) rank equal scores by ascending id, as doubles.
- Judged of an empty ranking is 0; the provider judged divides by zero.
- Several SetF with other parameters, and recall levels of IPrec that agree in two decimals, all get
  their values; the provider pytrec_eval gives the last of the latter only.
- NumRel takes any rel from 1 on.

Measures that trec_eval has not, and a rel below 1, are left to the other providers.
"""

from __future__ import annotations

import ir_measures
from ir_measures import measures, providers
from ir_measures.providers.base import NOT_PROVIDED, Any, Choices
from ir_measures.util import QrelsConverter, RunConverter

from fastrank.compat.pytrec_eval import RelevanceEvaluator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any as Anything

    Values = dict[str, float]


class FastrankProvider(providers.Provider):
    """fastrank: https://pypi.org/project/fastrank-eval"""

    NAME = "fastrank"
    SUPPORTED_MEASURES = [  # noqa: RUF012
        measures._P(cutoff=Any(), rel=Any(), judged_only=Any()),
        measures._RR(cutoff=Any(), rel=Any(), judged_only=Any()),
        measures._Rprec(rel=Any(), judged_only=Any()),
        measures._AP(cutoff=Any(), rel=Any(), judged_only=Any()),
        measures._nDCG(cutoff=Any(), dcg=Choices("log2"), gains=Any(), judged_only=Any()),
        measures._R(cutoff=Any(), rel=Any(), judged_only=Any()),
        measures._Bpref(rel=Any()),
        measures._NumRet(rel=Any()),
        measures._NumQ(),
        measures._NumRel(rel=Any()),
        measures._SetAP(rel=Any(), judged_only=Any()),
        measures._SetF(rel=Any(), beta=Any(), judged_only=Any()),
        measures._SetP(rel=Any(), relative=Any(), judged_only=Any()),
        measures._SetR(rel=Any()),
        measures._Success(rel=Any(), cutoff=Any(), judged_only=Any()),
        measures._IPrec(recall=Any(), rel=Any(), judged_only=Any()),
        measures._infAP(rel=Any()),
        measures._Judged(cutoff=Any()),
    ]

    def supports(self, measure: Anything) -> bool:
        """Whether the measure is one of trec_eval's, or follows from them."""
        if hasattr(measure, "runtime_impl") or not super().supports(measure):
            return False
        rel = measure.params.get("rel", 1)
        return bool(rel is NOT_PROVIDED or rel >= 1)

    def _evaluator(self, measures: Iterable[Anything], qrels: Anything) -> FastrankEvaluator:
        return FastrankEvaluator(list(measures), QrelsConverter(qrels).as_dict_of_dict())


class FastrankEvaluator(providers.Evaluator):
    """Evaluates runs; one evaluator of pytrec_eval's kind for measures with equal options."""

    def __init__(self, measures: list[Anything], qrels: dict[str, dict[str, int]]) -> None:
        super().__init__(measures, set(qrels))
        groups: dict[Anything, list[Anything]] = {}
        for measure in measures:
            groups.setdefault(_options(measure), []).append(measure)
        self._groups = [
            _Group(options, group, _transformed(qrels, group[0]))
            for options, group in groups.items()
        ]

    def _iter_calc(self, run: Anything) -> Iterator[Anything]:
        nested = RunConverter(run).as_dict_of_dict()
        for group in self._groups:
            yield from group.evaluate(nested)


class _Group:
    """Measures with equal options: computed together."""

    def __init__(
        self, options: Anything, measures: list[Anything], qrels: dict[str, dict[str, int]]
    ) -> None:
        rel, judged_only, _, _ = options
        self._values = [(measure, _value(measure)) for measure in measures]
        names = {name for measure in measures for name in _needed(measure)}
        self._evaluator = RelevanceEvaluator(qrels, names, rel, judged_only)

    def evaluate(self, run: Anything) -> Iterator[Anything]:
        """The value of each measure for each query that has judgments and results."""
        for query, values in self._evaluator.evaluate(run).items():
            for measure, value in self._values:
                yield ir_measures.Metric(query_id=query, measure=measure, value=value(values))


def _parameter(measure: Anything, name: str) -> Anything:
    """A parameter of a measure; None if it is not given, or the measure has none of that name."""
    if name not in measure.SUPPORTED_PARAMS:
        return None
    value = measure[name]
    return None if value is NOT_PROVIDED else value


def _options(measure: Anything) -> Anything:
    """What measures must share to be computed together: rel, judged_only, grades, beta of SetF."""
    grades: Anything = None
    if measure.NAME == "Judged":
        grades = "judged"
    elif _parameter(measure, "gains") is not None:
        grades = tuple(sorted(measure["gains"].items()))
    rel = _parameter(measure, "rel") or 1
    return rel, bool(_parameter(measure, "judged_only")), grades, _parameter(measure, "beta")


def _transformed(qrels: dict[str, dict[str, int]], measure: Anything) -> dict[str, dict[str, int]]:
    """Judgments with the grades that a measure wants: gains, or 1 for every judged document."""
    gains = _parameter(measure, "gains")
    if measure.NAME == "Judged":
        return {query: dict.fromkeys(docs, 1) for query, docs in qrels.items()}
    if gains is None:
        return qrels
    return {
        query: {doc: gains.get(grade, grade) for doc, grade in docs.items()}
        for query, docs in qrels.items()
    }


# What trec_eval calls the measures that need no more than a name.
_NAMES = {
    "Rprec": "Rprec", "Bpref": "bpref", "NumQ": "num_q", "NumRel": "num_rel", "SetAP": "set_map",
    "SetR": "set_recall", "infAP": "infAP", "RR": "recip_rank", "SetF": "set_F",
}  # fmt: skip
# And those with a rank: alone, and with one.
_CUT = {
    "P": "P", "AP": "map_cut", "nDCG": "ndcg_cut", "R": "recall", "Success": "success",
}  # fmt: skip
_UNCUT = {"AP": "map", "nDCG": "ndcg"}


def _name(measure: Anything) -> str:
    """The name under which the value of a measure comes back."""
    cutoff = _parameter(measure, "cutoff")
    if measure.NAME == "NumRet":
        return "num_ret" if _parameter(measure, "rel") is None else "num_rel_ret"
    if measure.NAME == "SetP":
        return "set_relative_P" if measure["relative"] else "set_P"
    if measure.NAME == "IPrec":
        return f"iprec_at_recall_{measure['recall']:.2f}"
    if measure.NAME == "Judged":
        return "num_rel_ret" if cutoff is None else f"P_{cutoff}"
    if measure.NAME in _CUT and cutoff is not None:
        return f"{_CUT[measure.NAME]}_{cutoff}"
    return _UNCUT.get(measure.NAME) or _NAMES[measure.NAME]


def _needed(measure: Anything) -> list[str]:
    """What has to be computed for a measure."""
    if measure.NAME == "SetF":
        return [f"set_F_{measure['beta']}"]
    return [_name(measure)] + (["num_ret"] if measure.NAME == "Judged" else [])


def _value(measure: Anything) -> Callable[[Values], float]:
    """The value of a measure from those of trec_eval."""
    name, cutoff = _name(measure), _parameter(measure, "cutoff")
    if measure.NAME == "RR" and cutoff is not None:
        if cutoff < 1:
            raise ValueError(f"{measure}: expected a cutoff of 1 or more")
        return lambda values: values[name] if values[name] >= 1 / cutoff else 0.0
    if measure.NAME == "Judged":
        return lambda values: _judged(values[name], values["num_ret"], cutoff)
    return lambda values: values[name]


def _judged(found: float, retrieved: float, cutoff: int | None) -> float:
    """The share of judged documents; `found` is their number, or with a cutoff their precision."""
    count = found if cutoff is None else round(found * cutoff)
    shown = retrieved if cutoff is None else min(retrieved, cutoff)
    return count / shown if shown else 0.0


provider = providers.register(FastrankProvider())
ir_measures.DefaultPipeline.providers.insert(0, provider)
