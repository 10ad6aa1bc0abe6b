"""The public function that fuses runs."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_VERSION
from fastrank.formats.trec import python_warning
from fastrank.fusion.fusing import fuse_runs
from fastrank.fusion.inputs import missing_queries, named_runs, union_of
from fastrank.fusion.options import FUSION, FusionOptions, settings_for
from fastrank.keywords import takes, with_defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from fastrank.choices import FusionMethod
    from fastrank.data.run import Run
    from fastrank.formats.inputs import RunsLike
    from fastrank.formats.trec import Warn


@takes(FusionOptions, FUSION)
def fuse(
    runs: RunsLike,
    method: FusionMethod = "rrf",
    *,
    warn: Warn = python_warning,
    **options: Unpack[FusionOptions],
) -> Run:
    """Fuse the rankings of several runs into one run.

    runs: a list of runs, or {name: run}; each as `evaluate` takes it.
    method: "rrf", "combsum", "combmnz", "convex", "borda", "isr", "rbc", "combmax", "combmin",
        "combmed", "combanz", "gmnz", "log_isr", "logn_isr", "wmnz", "mixed" or "condorcet"; see
        docs/fusion.md for the formulas and sources.
    warn: what to call with a note on a run that has no results for some queries, or if there is
        only one run; by default a Python warning.
    **options: see `FusionOptions`.

    The fused run has all queries of the runs, in byte order, and for each the documents of all
    runs, highest score first. Ranks are those of trec_eval, in the runs and in the result: scores
    are compared as 32-bit floats ("9.0.8") or doubles ("10.0"), and documents with equal fused
    scores are in descending byte order of their ids. A run without results for a query contributes
    nothing to it. The order of the runs makes no difference.

    Raises OptionError for an unknown method, invalid options, and options without effect on the
    method; GroupError if there are no runs, or a run shares no query with the others;
    EvaluationError, which names run, query and document, for a score that is NaN or infinite and
    a method that uses scores; InputError for a document that appears twice in a query; TypeError
    for other objects; and what reading a run raises.

    >>> bm25 = {"q1": {"d1": 14.2, "d2": 13.0, "d3": 8.1}}
    >>> dense = {"q1": {"d3": 0.83, "d1": 0.82, "d4": 0.40}}
    >>> fr.fuse([bm25, dense]).to_dict()
    {'q1': {'d1': 0.0325..., 'd3': 0.0322..., 'd2': 0.0161..., 'd4': 0.0158...}}
    >>> fr.fuse([bm25, dense], "convex", weights=[0.25, 0.75]).to_dict()
    {'q1': {'d1': 0.982..., 'd3': 0.75, 'd2': 0.200..., 'd4': 0.0}}
    """
    given = with_defaults(fuse, options)
    version = given.get("trec_eval_version", DEFAULT_VERSION)
    loaded = named_runs(runs, version)
    settings = settings_for(method, given, len(loaded))
    queries = union_of(loaded)
    for note in missing_queries(loaded, queries):
        warn(note)
    return fuse_runs(loaded, queries, settings)
