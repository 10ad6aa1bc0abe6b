"""The right values for each query, by pytrec_eval."""

from __future__ import annotations

from collections.abc import Mapping


def reference(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]], measure: str
) -> dict[str, float]:
    """The value of a measure for every query, by pytrec_eval: the original's C code."""
    import pytrec_eval

    evaluated = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    return {query: float(values[measure]) for query, values in evaluated.items()}
