"""The result of an evaluation: values per query and over all queries."""

from __future__ import annotations

from fastrank.common import lazy
from fastrank.common.messages import counted
from fastrank.core.data.texts import decoded
from fastrank.core.scores.columns import Evaluated, columns_by_name, trec_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from typing import Any

    from fastrank.common.rendering.document import Document
    from fastrank.core.results.table import Table
    from fastrank.core.scores.differences import ScoreDifferences


class Scores(Evaluated):
    """The values of measures for every evaluated query, and over all queries.

    queries: the ids of the queries with values, in byte order: the evaluated queries, and with
    missing="zero" also those without results, whose values are 0. mean: {measure: value over all
    queries}. scores["map"]: the values per query, float64[queries]. name: of the run. tag: in its
    file, or as it was given. counts: {name: number}, for those that are known:

    evaluated_queries: evaluated queries; in version 10.0 this includes those without results that
        count as 0.
    missing_queries: judged queries without results.
    unjudged_queries: queries of the run without judgments; of arrays, rows without judgments.
    no_relevant_queries: judged queries without a relevant document that were not skipped; 0 for
        preferences.
    no_relevant_skipped: judged queries without a relevant document that were skipped
        (no_relevant="skip").
    retrieved, unjudged: retrieved documents of the evaluated queries, and those among them without
        a grade >= 0; not available for preferences and groups.
    excluded: documents removed from the rankings of judged queries (ignore_identical_ids, exclude).
    duplicates: lines removed from these rankings as duplicates (duplicates).
    strata_without_samples: strata of queries in which no document was sampled; only with measures
        of strata. not_sampled: documents of the pool that were not sampled, which count as unjudged
        in other measures; only if the judgments have strata.
    ties_at_cutoff: rankings that end between documents with equal scores (`evaluate_embeddings`).
    not_in_corpus: judged documents that are not in the corpus. numbered_documents,
        numbered_queries: those whose ids are row numbers, from 0 (`evaluate_embeddings`).
    zero_vectors: zero vectors of queries and documents, whose cosine with all others counts as 0.

    >>> scores
    <Scores of 'pixels': 200 queries, 1 measure>
    >>> scores.queries[:2], scores["map"][:2]
    (['q0000', 'q0001'], array([0.63291139, 0.55438487]))
    >>> scores.mean
    {'map': 0.43476959975458557}
    >>> scores.counts["retrieved"], scores.counts["unjudged"]
    (20000, 2913)
    """

    made_by = "fastrank.evaluate"

    def __sub__(self, other: Scores) -> ScoreDifferences:
        """The differences per query, aligned by query id, and of the means.

        Raises GroupError, which names queries that only one of the Scores has, and MeasureError if
        the measures differ.

        >>> other = fr.evaluate("data/digits.qrels", "data/pca.run", "map")
        >>> (scores - other).mean
        {'map': 0.0854...}
        """
        if not isinstance(other, Scores):
            return NotImplemented
        from fastrank.core.scores.differences import subtract

        return subtract(self, other)

    def __repr__(self) -> str:
        of = f" of {self.name!r}" if self.name else ""
        queries = counted(len(self.query_ids), "query", "queries")
        return f"<Scores{of}: {queries}, {counted(len(columns_by_name(self)), 'measure')}>"

    def table(self, *, per_query: bool = False, digits: int = 4) -> Table:
        """The means with a row per measure; or a row per query and a column per measure.

        per_query: the latter, with a last row `all`. digits: decimals in text.

        >>> scores.table().columns
        {'measure': ['map'], 'pixels': [0.43476959975458557]}
        """
        from fastrank.core.scores.tables import table_of

        return table_of(self, per_query=per_query, digits=digits)

    def _document(self, **layout: Any) -> Document:
        return self.table(**layout)._document()

    def to_text(self) -> str:
        """The means, a line per measure, and notes on what a reader must know.

        >>> scores.to_text()
        'map  0.4348'
        """
        from fastrank.core.scores.text import readable

        return readable(self)

    def to_trec(self, *, per_query: bool = False) -> str:
        """The output of trec_eval, byte for byte; with `per_query`, that of trec_eval -q.

        trec_eval never prints lines for queries without results.

        >>> scores.to_trec()
        'map                   \\tall\\t0.4348\\n'
        """
        lines = trec_lines(self, per_query=per_query, summary=True, zero_rows=False)
        return decoded(b"".join(lines))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Values per query as pytrec_eval returns them: {query: {measure: value}}.

        Measures without values per query (gm_map, num_q, runid) are omitted. Values are floats,
        except `relstring`, which is a str.

        >>> scores.to_dict()["q0000"]
        {'map': 0.63291...}
        """
        from fastrank.core.scores.records import to_dict

        return to_dict(self)

    def to_json(self, *, per_query: bool = True, indent: int | None = None) -> str:
        """One JSON object with full precision, and null for NaN and infinity.

        {"run": name, "counts": {name: n}, "mean": {measure: value},
        "per_query": {query: {measure: value}}}. Bytes of ids that are not UTF-8 become text such
        as `\\xff`.

        >>> scores.to_json(per_query=False)
        '{"run": "pixels", "counts": {...}, "mean": {"map": 0.4347...}}'
        """
        from fastrank.core.results.records import json_text
        from fastrank.core.scores.records import to_record

        return json_text(to_record(self, per_query=per_query), indent)

    def to_csv(self, *, per_query: bool = True) -> str:
        """Lines `query,measure,value` with full precision.

        per_query: the values of the queries; else those over all queries, with an empty query.

        >>> scores.to_csv(per_query=False)
        'query,measure,value\\n,map,0.4347...\\n'
        """
        from fastrank.core.formats.tables.table_files import result_lines
        from fastrank.core.scores.tables import LONG, long_rows

        rows = long_rows(self, per_query=per_query, summary=not per_query)
        return "".join(result_lines(LONG, rows))

    def to_markdown(self, *, per_query: bool = False, digits: int = 4) -> str:
        """The table in Markdown's pipe syntax, escaped, and the notes.

        per_query, digits: as in `table`.

        >>> print(scores.to_markdown())
        | measure   |   pixels |
        |:----------|---------:|
        | map       |   0.4348 |
        """
        from fastrank.common.rendering.markdown import markdown

        return markdown(self._document(per_query=per_query, digits=digits))

    def to_latex(self, *, per_query: bool = False, digits: int = 4) -> str:
        r"""The table of `to_markdown` as a LaTeX tabular with booktabs rules.

        >>> print(scores.to_latex())
        \begin{tabular}{lr}
        \toprule
        measure & pixels \\
        \midrule
        map     & 0.4348 \\
        \bottomrule
        \end{tabular}
        """
        from fastrank.common.rendering.latex import latex

        return latex(self._document(per_query=per_query, digits=digits))

    def to_html(self, *, per_query: bool = False, digits: int = 4, page: bool | str = False) -> str:
        """The table of `to_markdown` as HTML elements, or a whole `page`, with a title if a str.

        >>> scores.to_html(per_query=True)[:32]
        '<table class="fastrank numbers">'
        """
        from fastrank.common.rendering.html import html

        document = self._document(per_query=per_query, digits=digits)
        return html(document, page=self._page_title(page))

    def interval(
        self,
        measure: str | None = None,
        level: float = 0.95,
        method: str = "t",
        *,
        resamples: int | None = None,
        seed: int = 0,
    ) -> tuple[float, float]:
        """The confidence interval of the mean of a measure, over queries: its bounds.

        The same as `interval_of` of a comparison of these Scores alone. measure: may be omitted if
        there is only one. level: between 0 and 1. method: "t" (Student's), or the bootstrap
        intervals "percentile", "bca" and "studentized". resamples: their number, by default 10,000.
        seed: that of the resamples.

        If all values are the same, these intervals have no width. That of Clopper and Pearson for a
        share (Biometrika 26(4), 1934) takes their place; it also holds for measures with values
        between 0 and 1, such as RR. For other measures, the bounds are NaN.

        Raises MeasureError for a measure that was not evaluated, or whose value over all queries is
        not the mean of its values (gm_map, sums); OptionError for an invalid option.

        >>> scores.interval("map")
        (0.4112..., 0.4582...)
        """
        from importlib import import_module

        intervals = import_module(lazy.intervals)
        chosen = intervals.interval_settings(method, level=level, resamples=resamples, seed=seed)
        low, high = intervals.interval_of_mean(self, measure, chosen)
        return low, high

    def by_group(
        self, groups: Mapping[Any, Hashable], *, rest: Hashable = None
    ) -> dict[Any, Scores]:
        """The Scores of each group of queries, as if only these queries were evaluated.

        groups: {query: group}. Queries that were not evaluated are ignored, except that with
            missing="zero" judged queries without results count in their group.
        rest: the group of queries that `groups` lacks or maps to None.

        The groups are in the order of `groups`. ERR keeps its scale, the highest grade of all
        judgments. Raises GroupError for a query without a group, and for a group whose judged
        queries all have no results.

        >>> groups = {query: "early" if query < "q0900" else "late" for query in scores.queries}
        >>> {group: part.mean["map"] for group, part in scores.by_group(groups).items()}
        {'early': 0.4222..., 'late': 0.4485...}
        """
        from fastrank.core.scores.groups import by_group

        return by_group(self, groups, rest=rest)
