"""The public function that makes a page to look at runs, and its result."""

from __future__ import annotations

import os

from fastrank.analysis.comparing.compare import ALONE, CompareOptions, compare
from fastrank.analysis.comparing.options import COMPARISON
from fastrank.analysis.explaining.judged_query import (
    is_explained,
    judgments_of,
    refuse_expected,
    refuse_negative_levels,
    run_of,
)
from fastrank.analysis.inspecting.results import results_of
from fastrank.common.arguments import at_least
from fastrank.common.keywords import pick, takes, with_defaults
from fastrank.common.messages import counted, first_few, visible
from fastrank.common.progress import bar
from fastrank.core.data.columns import Frozen
from fastrank.core.formats.endings import check_suffix
from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.inputs import are_named, is_file
from fastrank.core.formats.texts.lookup import lookup
from fastrank.core.formats.trec.line_files import read_clusters
from fastrank.core.matching.keywords import EVALUATION, EvaluationOptions, evaluation_options
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.selection import DEFAULT_MEASURES, Selection, reusable
from fastrank.errors import FastrankError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any, BinaryIO

    from typing_extensions import Unpack

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.inspecting.results import QueryResults
    from fastrank.core.formats.inputs import QrelsLike, RunLike, RunsLike
    from fastrank.core.formats.texts.lookup import TextsLike
    from fastrank.core.measures.selection import Measures

    # A title, which may be empty, and a text.
    Text = tuple[str, str]


# The largest page, in bytes; browsers open larger ones slowly.
LARGEST = 40_000_000


class Inspection(Frozen):
    """The results of runs, to be written as a page, as `fastrank.inspect` returns it.

    comparison: the Comparison of the runs, with the values of all queries. k: how many results of a
    run are shown. notes: what is missing, a list of str. texts: {document: (title, text)}.
    queries: {query: (title, text)}. groups: {query: group}. title: of the page.

    >>> found = fr.inspect({"q": {"d": 1}}, {"a": {"q": {"d": 2.0, "e": 1.0}}}, "map")
    >>> found.comparison.mean["map"]["a"], found.notes
    (1.0, [...])
    """

    made_by = "fastrank.inspect"
    internal = frozenset({"results", "grades", "level"})

    comparison: Comparison
    grades: list[float]
    groups: dict[str, str]
    k: int
    level: float
    notes: list[str]
    queries: dict[str, tuple[str, str]]
    results: list[QueryResults]
    texts: dict[str, tuple[str, str]]
    title: str

    def write(self, output: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the page to a file, or pages of some queries each into a folder.

        output: a path that ends in .html or .htm, or a file object, for one page that works on its
            own; else a folder for `index.html` and pages of at most 10 MB, which may be absent,
            empty, or hold the pages of an earlier call.

        Files and folders are replaced as a whole, or not at all. Raises OSError; OptionError for
        the suffix of another format, such as .pdf; InputError for a folder with other files;
        FastrankError if a single page would have more than 40 MB, which browsers open slowly.

        >>> import io
        >>> found = fr.inspect({"q": {"d": 1}}, {"a": {"q": {"d": 2.0, "e": 1.0}}}, "map")
        >>> found.write(page := io.BytesIO())
        >>> b"Content-Security-Policy" in page.getvalue()
        True
        """
        from fastrank.analysis.inspecting.pages import folder_of, page_of

        check_suffix("output", output, "folder or page")
        if not is_folder(output):
            files.check_target(output)
            content = page_of(self).encode()
            if len(content) > LARGEST:
                raise FastrankError(
                    f"{files.name_of(output)}: the page would have {len(content) / 1e6:.0f} MB,"
                    f" more than the {LARGEST / 1e6:.0f} MB that browsers open quickly; name a"
                    " folder (such as inspect/) for pages of some queries each, or lower k"
                )
            files.write(output, [content])
            return
        from fastrank.analysis.inspecting.sites import write_site

        write_site(folder_of(self), os.fspath(output))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        names = visible(", ".join(self.comparison.names))
        queries = counted(len(self.results), "query", "queries")
        return f"<Inspection of {names}: {queries}, {counted(self.k, 'result')} each>"


def is_folder(output: str | os.PathLike[str] | BinaryIO) -> bool:
    """Whether an output is a folder of pages, not a page."""
    if not isinstance(output, (str, os.PathLike)):
        return False
    path = os.fspath(output)
    return path != "-" and not path.lower().endswith((".html", ".htm"))


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
    measures = reusable(measures)
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
        grades=sorted({float(grade) for grade in set(judgments.grades.tolist()) if grade >= 0}),
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


NAMED = 3


def texts_of(texts: TextsLike | None, option: str, needed: Collection[str]) -> dict[str, Text]:
    """The titles and texts of some documents (`option` is "texts") or queries.

    texts: None, or as for `lookup`. Raises what that raises.
    """
    if texts is None:
        return {}
    find = lookup(texts, "corpus" if option == "texts" else "queries", needed, name=option)
    parts = {text_id: find(text_id) for text_id in needed if text_id in find}
    return {text_id: (title.strip(), text.strip()) for text_id, (title, text) in parts.items()}


def missing_note(
    lacks: str, origin: object, noun: str, needed: Collection[str], available: Collection[str]
) -> list[str]:
    """A note on the documents or queries (`noun`) that lack a text or a group, if some do."""
    lacking = [text_id for text_id in needed if text_id not in available]
    if origin is None or not lacking:
        return []
    source = f" in {name_of(origin)}" if isinstance(origin, (str, os.PathLike)) else ""
    of = counted(len(needed), noun, "queries" if noun == "query" else f"{noun}s")
    return [f"no {lacks}{source} for {len(lacking)} of {of}: {first_few(lacking, NAMED)}"]
