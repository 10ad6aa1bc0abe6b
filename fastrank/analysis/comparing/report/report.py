"""Write a comparison as an HTML file, with where its values are from."""

from __future__ import annotations

import math
import os
import platform
import shlex
import time
from collections.abc import Mapping
from importlib import import_module

from fastrank.analysis.comparing.pairs import default_pair
from fastrank.analysis.comparing.report import sections
from fastrank.analysis.comparing.shown import document_of, title_of
from fastrank.common.arguments import DEFAULT_VERSION, at_least
from fastrank.common.lazy import optional
from fastrank.common.rendering.document import Cell, Document, Grid
from fastrank.common.rendering.html import html, name, safe, scrolled, table
from fastrank.common.rendering.numbers import number, signed
from fastrank.common.rendering.page import whole_page
from fastrank.core.formats.endings import check_suffix
from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.inputs import as_qrels, as_run, is_file
from fastrank.core.formats.load import read_run
from fastrank.core.formats.tables.to_run import apply_order
from fastrank.core.formats.trec.digests import file_digest
from fastrank.core.formats.trec.line_files import as_exclusions
from fastrank.core.matching.filters import rows_of, without_excluded, without_repeats
from fastrank.core.native.buffers import filled
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.core.formats.inputs import QrelsLike, RunLike, RunsLike
    from fastrank.core.formats.run import Run


class Sources:
    """The judgments and the runs that were compared.

    files: of those that are files, (role, path, SHA-256). runs: without the documents that the
    evaluation dropped. dropped: {system: the numbers of excluded and of duplicate documents}.
    """

    def __init__(self, comparison: Comparison, qrels: Any, runs: RunsLike) -> None:
        self._evaluation = comparison.evaluation
        version = self._evaluation.get("trec_eval_version", DEFAULT_VERSION)
        self._how: dict[str, Any] = {"trec_eval_version": version}
        by_system = _in_order(runs, comparison.names)
        digests = [("qrels", qrels, file_digest(qrels))]
        digests += [(system, run, file_digest(run)) for system, run in by_system.items()]
        self.files = [(role, name_of(source), digest) for role, source, digest in digests if digest]
        self.judgments: Any = as_qrels(qrels, **self._how)
        self.runs: dict[str, Run] = {}
        self.dropped: dict[str, list[int]] = {}
        queries = set(map(os.fsencode, comparison.queries))
        for system, run in by_system.items():
            self.runs[system], *self.dropped[system] = self._filtered(self._read(run), queries)

    def _read(self, run: Any) -> Run:
        """A run, ranked as it was for the comparison; warnings were given then."""
        rank_by = self._evaluation.get("rank_by", "score")
        if is_file(run):
            return read_run(run, rank_by=rank_by, warn=lambda _: None, **self._how)
        return apply_order(as_run(run, **self._how), rank_by)

    @property
    def graded(self) -> bool:
        """Whether documents have grades; preferences have none."""
        return hasattr(self.judgments, "grades")

    def to_inspect(self, measure: str) -> str:
        """How to make a page of the rankings: a command if all are files, else a line of Python."""
        if len(self.files) > len(self.runs):
            paths = [path for _, path, _ in self.files]
            return shlex.join(["fastrank", "inspect", "-m", measure, "-o", "inspect.html", *paths])
        return f'fr.inspect(qrels, runs, {measure!r}).write("inspect.html")'

    def _filtered(self, run: Run, queries: set[bytes]) -> tuple[Run, int, int]:
        """A run without the documents that the evaluation dropped, and how many of the queries."""
        rankings = filled("q", [i for i, query in enumerate(run.queries) if query in queries])
        before = rows_of(run, rankings)
        exclude = as_exclusions(self._evaluation.get("exclude"))
        identical = self._evaluation.get("ignore_identical_ids", False)
        run = without_excluded(run, exclude, identical=identical)
        between = rows_of(run, rankings)
        duplicates = self._evaluation.get("duplicates", "error")
        if duplicates != "error":
            run = without_repeats(run, by_score=duplicates == "max")
        return run, before - between, between - rows_of(run, rankings)


def _in_order(runs: RunsLike, names: list[str]) -> dict[str, RunLike]:
    """The run of each system. Raises OptionError unless there is one for each."""
    if isinstance(runs, Mapping):
        missing = [name for name in names if name not in runs]
        if missing:
            raise OptionError("runs", f"no run {missing[0]!r}, which was compared")
        return {name: runs[name] for name in names}
    if not isinstance(runs, (list, tuple)) or len(runs) != len(names):
        actual = len(runs) if isinstance(runs, (list, tuple)) else type(runs).__name__
        raise OptionError("runs", f"expected a list of {len(names)} runs, found {actual}")
    return dict(zip(names, runs, strict=True))


def write_report(
    comparison: Comparison,
    path: str | os.PathLike[str] | BinaryIO,
    title: str | None,
    measure: str | None,
    qrels: QrelsLike | None,
    runs: RunsLike | None,
    examples: int,
    command: str | None,
) -> None:
    """Write the report; the arguments are those of `Comparison.report`."""
    optional("matplotlib.figure", "a report", "plot")
    check_suffix("path", path, "page")
    files.check_target(path)
    if (qrels is None) != (runs is None):
        raise OptionError("qrels", "give qrels and runs together")
    count = at_least("examples", examples, 0)
    main = comparison.measures[0] if measure is None else measure
    comparison.better(main)
    sources = None if runs is None else Sources(comparison, qrels, runs)
    title = title or title_of(comparison)
    parts = {
        "Results": f"{sections.summary(comparison)}{scrolled(_means(comparison))}",
        "Notes": sections.notes(comparison, sources),
        "Means": sections.overview_figures(comparison),
    }
    many = comparison.settings.unit.many
    if len(comparison) > 1:
        parts[f"Pairs in {main}"] = sections.pair_figures(comparison, main)
        if largest := _largest(comparison, main, sources, count):
            parts[f"{many.capitalize()} that differ most"] = largest
    parts[f"Values of the {many}"] = sections.query_tables(comparison)
    parts["Settings"] = sections.settings(comparison)
    body = [_origin(sources, command), _sections(parts)]
    page = whole_page(title, body, data={"comparison": sections.data(comparison)})
    files.write_compressed(path, [page.encode("utf-8", "backslashreplace")])


def _means(comparison: Comparison) -> str:
    """The table with its legend; the notes have a section of their own."""
    blocks = document_of(comparison).blocks
    return html(Document(blocks[: len(blocks) - len(comparison.notes)]))


def _largest(comparison: Comparison, measure: str, sources: Sources | None, count: int) -> str:
    """The queries on which two systems differ most, and how to look at their rankings."""
    a, b = default_pair(comparison, measure)
    queries = comparison.queries_of(measure, a, b).rows()
    differing = [row for row in queries if not math.isnan(row[3]) and row[3] != 0]
    differing.sort(key=lambda row: -abs(row[3]))
    rows = []
    for query, value_a, value_b, change in differing[:count]:
        texts = number(value_a), number(value_b), signed(change)
        rows.append([Cell(query, heads_row=True), *(Cell(text, number=True) for text in texts)])
    if not rows:
        return ""
    which = f"The {len(rows)} largest differences in {safe(measure)} of {name(a)} and {name(b)}"
    grid = Grid([comparison.settings.unit.one, a, b, "difference"], rows)
    text = f"<p>{which}.</p>\n{scrolled(table(grid))}"
    if sources is not None and sources.graded:
        command = f"<code>{safe(sources.to_inspect(measure))}</code>"
        text += f"\n<p>{command} shows the rankings of all queries side by side.</p>"
    return text


def _origin(sources: Sources | None, command: str | None) -> str:
    """When and with what the report was made, and from which files."""
    # Reproducible builds set this variable to the seconds since 1970.
    seconds = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    date = time.strftime("%Y-%m-%d", time.gmtime(seconds))
    # Imported by name, because the package is above its parts.
    versions = [f"fastrank {import_module('fastrank').__version__}"]
    versions += [f"{module} {import_module(module).__version__}" for module in ("numpy", "scipy")]
    versions.append(f"Python {platform.python_version()}")
    text = f'<p class="soft">{date}, with {", ".join(map(safe, versions))}.</p>'
    if command:
        text += f"\n<p><code>{safe(command)}</code></p>"
    if sources is not None and sources.files:
        rows = [
            [Cell(role, heads_row=True), Cell(path), Cell(digest)]
            for role, path, digest in sources.files
        ]
        listed = scrolled(table(Grid(["", "file", "SHA-256"], rows)))
        text += f"\n<details><summary>Files</summary>{listed}</details>"
    return text


def _sections(parts: dict[str, str]) -> str:
    """The sections under their headings, after links to them."""
    anchors = {heading: f"s{index}" for index, heading in enumerate(parts, 1)}
    links = "".join(
        f'<a href="#{anchor}">{safe(heading)}</a>\n' for heading, anchor in anchors.items()
    )
    body = "\n".join(
        f'<section id="{anchors[heading]}"><h2>{safe(heading)}</h2>\n{part}</section>'
        for heading, part in parts.items()
    )
    return f"<nav>{links}</nav>\n{body}"
