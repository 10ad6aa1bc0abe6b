"""Agreement of two runs: rank correlations of their documents, query by query."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from statistics import fmean

from fastrank.arguments import check_version
from fastrank.comparing.agreement import COEFFICIENTS, Agreement, refuse_others
from fastrank.data.run import Run
from fastrank.errors import GroupError
from fastrank.formats.inputs import as_run
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ADVICE = "items='common' compares those that both have"


def is_run(given: object) -> bool:
    """Whether it is a run: a Run, a path, {query: {document: score}}, or a frame."""
    if isinstance(given, Mapping):
        return bool(given) and all(isinstance(own, Mapping) for own in given.values())
    return isinstance(given, (Run, str, os.PathLike)) or hasattr(given, "columns")


def agreement_of_runs(run_a: Any, run_b: Any, *, items: str, trec_eval_version: str) -> Table:
    """A row for each query in byte order, and a last row `all` with the means that are not NaN.

    items: "same" or "common", for queries and documents. Raises GroupError, InputError, and what
    reading a run raises.
    """
    import numpy

    version = check_version(trec_eval_version)
    scores = {
        name: as_run(given, trec_eval_version=version).to_dict()
        for name, given in (("a", run_a), ("b", run_b))
    }
    if items == "same":
        refuse_others(scores, ADVICE)
    queries = sorted(scores["a"].keys() & scores["b"].keys(), key=os.fsencode)
    if not queries:
        raise GroupError("a and b have no query in common")
    columns: dict[str, list[Any]] = {"query": [*queries, "all"], "documents": []}
    columns.update({name: [] for name in COEFFICIENTS})
    single = numpy.float32 if version == "9.0.8" else numpy.float64
    for query in queries:
        both = {name: own[query] for name, own in scores.items()}
        if items == "same":
            refuse_others(both, ADVICE, f"query {query!r}: ")
        first, second = both.values()
        documents = [document for document in first if document in second]
        # As in trec_eval's order, scores are equal if they are as 32-bit floats.
        with numpy.errstate(over="ignore"):
            values = [
                numpy.array([own[document] for document in documents]).astype(single).astype(float)
                for own in (first, second)
            ]
        found = Agreement(systems=documents, first=values[0], second=values[1])
        columns["documents"].append(len(documents))
        for name in COEFFICIENTS:
            columns[name].append(getattr(found, name))
    for name in ("documents", *COEFFICIENTS):
        known = [value for value in columns[name] if value == value]
        columns[name].append(fmean(known) if known else math.nan)
    return Table(columns=columns)
