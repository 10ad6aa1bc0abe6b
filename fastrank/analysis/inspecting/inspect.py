"""The public function that makes a page to look at runs."""

from __future__ import annotations

from fastrank.analysis.comparing.compare import ALONE, CompareOptions, compare
from fastrank.analysis.comparing.options import COMPARISON
from fastrank.analysis.explaining.judged_query import (
    is_explained,
    judgments_of,
    refuse_expected,
    refuse_negative_levels,
    run_of,
)
from fastrank.analysis.inspecting.inspection import Inspection
from fastrank.analysis.inspecting.results import results_of
from fastrank.analysis.inspecting.texts import missing_note, texts_of
from fastrank.common.arguments import at_least
from fastrank.common.keywords import pick, takes, with_defaults
from fastrank.common.progress import bar
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.inputs import are_named, is_file
from fastrank.core.formats.trec.line_files import read_clusters
from fastrank.core.matching.keywords import EVALUATION, EvaluationOptions, evaluation_options
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.selection import DEFAULT_MEASURES, Selection
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.core.formats.inputs import QrelsLike, RunLike, RunsLike
    from fastrank.core.measures.selection import Measures

K = 20


@takes(CompareOptions, COMPARISON, EVALUATION)
def inspect(
    qrels: QrelsLike,
    runs: RunsLike | RunLike,
    measures: Measures = DEFAULT_MEASURES,
    *,
    texts: object = None,
    queries: object = None,
    groups: object = None,
    k: int = K,
    title: str | None = None,
    progress: bool | None = None,
    **options: Unpack[CompareOptions],
) -> Inspection:
    """Make a page to look at the results of one run, or of several side by side, query by query.

    qrels: the judgments, as for `evaluate`, but not preferences.
    runs: a run, a list of runs, or {name: run}; each as for `evaluate`.
    measures: as for `compare`. What documents add is shown for measures that `explain` supports.
    texts: the documents: {id: text}, {id: {"title": ..., "text": ...}}, a Dataset, or a file, a
        list or a folder of files, in the formats of `Dataset.from_files`. Without, ids are shown.
    queries: the texts of the queries, in the same forms; by default those of `texts` if that is a
        Dataset.
    groups: kinds of queries to filter by: {query: group}, or a file with a query and its group per
        line.
    k: how many results of each run are shown.
    title: of the page; by default the names of the runs.
    progress: whether to show a progress bar; by default only in a terminal.
    **options: see `CompareOptions`; ties="average" and a relevance_level below 0 raise OptionError.

    The page has the queries that are judged and that all runs have, or, with missing="zero", all
    judged queries. `notes` says which texts, queries and groups are missing.

    Raises what `compare` and `explain` raise, and ReadError and FormatError for texts.

    >>> found = fr.inspect("data/digits.qrels", ["data/pixels.run", "data/pca.run"], "map P.10")
    >>> found
    <Inspection of pixels, pca: 200 queries, 20 results each>
    >>> import io
    >>> found.write(page := io.BytesIO())
    >>> page.getvalue()[:15]
    b'<!DOCTYPE html>'
    """
    all_options = with_defaults(inspect, options)
    evaluation = pick(all_options, EvaluationOptions)
    checked = evaluation_options(evaluation)
    refuse_expected(checked)
    k = at_least("k", k, 1)
    bound = Selection(measures).bind(checked.trec_eval_version)
    bound = [measure for measure in bound if is_explained(measure)]
    refuse_negative_levels(bound, checked)
    items = _items(runs)
    judgments = judgments_of(qrels, checked)
    comparison = compare(judgments, runs, measures, progress=progress, **options)
    read = [run_of(run, checked) for run in items]
    plan = Plan(judgments, bound, checked)
    results = []
    with bar("inspect", len(comparison.queries), "queries", progress) as shown:
        for query_results in results_of(comparison.queries, plan, read, k):
            results.append(query_results)
            shown.update(1)
    documents = {doc: None for query_results in results for doc in query_results.documents}
    document_texts = texts_of(texts, "texts", documents.keys())
    if queries is None and hasattr(texts, "query_ids"):
        queries = texts
    asked = texts_of(queries, "queries", set(comparison.queries))
    grouped = _groups(groups)
    notes = [
        *comparison.notes,
        *missing_note("text", texts, "document", documents, document_texts),
        *missing_note("text", queries, "query", comparison.queries, asked),
        *missing_note("group", groups, "query", comparison.queries, grouped),
    ]
    return Inspection(
        comparison=comparison,
        grades=sorted({grade for grade in map(float, judgments.grades) if grade >= 0}),
        groups=grouped,
        k=k,
        level=float(checked.relevance_level),
        notes=[note for note in notes if note != ALONE],
        queries=asked,
        results=results,
        texts=document_texts,
        title=title or _title(comparison.names),
    )


def _items(runs: Any) -> list[object]:
    """The runs one by one. Raises OptionError for standard input, which can be read only once."""
    items = list(runs.values()) if are_named(runs) else runs
    listed = list(items) if isinstance(items, (list, tuple)) else [items]
    for run in listed:
        if is_file(run) and (hasattr(run, "read") or name_of(run) in ("-", "<stdin>")):
            raise OptionError("runs", f"{name_of(run)} is read twice, which only a file allows")
    return listed


def _groups(groups: Any) -> dict[str, str]:
    if groups is None:
        return {}
    if is_file(groups):
        return read_clusters(groups)
    if not hasattr(groups, "items"):
        kind = type(groups).__name__
        raise OptionError("groups", f"expected a file or {{query: group}}, found {kind}")
    return {str(query): str(group) for query, group in groups.items()}


def _title(names: Sequence[str]) -> str:
    title = ", ".join(names)
    return title if len(title) <= 100 else f"{len(names)} runs"
