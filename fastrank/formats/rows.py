"""Convert rows of query, document and number to judgments and runs."""

from __future__ import annotations

from fastrank.data.grouping import Groups, take
from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.data.texts import NO_ITERATION, PlacedTexts, Texts, constant, interning
from fastrank.errors import InputError
from fastrank.formats.column_names import QRELS_ROLES, RUN_ROLES, find_columns
from fastrank.formats.ids import encoded_id
from fastrank.formats.run_order import rank_as_given, with_distinct_ranks
from fastrank.formats.sniff import kind_of_names
from fastrank.formats.tables import LinesTable, Table
from fastrank.formats.values import grades_of, ranks_of, scores_of
from fastrank.native import kernels
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn


def qrels_of(table: Table, columns: Mapping[str, Any] | None = None) -> Qrels:
    """The judgments of a table; `columns`: as in Qrels.from_pandas."""
    found = find_columns(table.names, QRELS_ROLES, columns, table.source, call=table.call("Qrels"))
    grouped, docs = _group_by_query(table, found)
    place = found["grade"]
    grades, scale = grades_of(table.numbers(place), table.failing(place))
    if scale is not None and columns is None and kind_of_names(table.names) == "run":
        reason = "grades with fractions beside a rank or a tag: this looks like a run"
        raise InputError(table.source, f"{reason}; are judgments and run swapped?")
    groups = constant(NO_ITERATION, table.size)
    if "iteration" in found:
        groups = _reorder_texts(grouped, table.texts(found["iteration"]))
    strata = None
    if "stratum" in found:
        strata = _reorder_texts(grouped, table.texts(found["stratum"]))
    return Qrels(
        queries=grouped.queries,
        docs=docs,
        groups=groups,
        source=table.source,
        grade_column=grouped.reorder(grades),
        offset_column=grouped.offsets,
        scale=scale,
        strata=strata,
    )


def run_of(
    table: Table,
    columns: Mapping[str, Any] | None = None,
    *,
    tag: str | bytes | None = None,
    higher_is_better: bool = True,
    rank_by: str = "score",
) -> Run:
    """The run of a table; `columns`: as in Run.from_pandas.

    With rank_by="rank", or with ranks but no scores, a document's score is minus its rank.
    """
    # `columns` may name the scores even if the ranks are to be used.
    ignored = [role for role in RUN_ROLES["score"] if role not in RUN_ROLES[rank_by]]
    found = find_columns(
        table.names, RUN_ROLES[rank_by], columns, table.source, ignored=ignored,
        call=table.call("Run"),
    )  # fmt: skip
    grouped, docs = _group_by_query(table, found)
    if "score" in found:
        numbers, fail = table.numbers(found["score"]), table.failing(found["score"])
        scores = scores_of(numbers, fail, higher_is_better=higher_is_better)
    elif "rank" in found:
        fail = table.failing(found["rank"])
        ranks = ranks_of(table.numbers(found["rank"]), fail)
        scores = scores_of(_array(ranks), fail, higher_is_better=False)
    else:
        scores = zeros("d", table.size)
    own_tag = b""
    if tag is not None:
        own_tag = tag_of(tag, table.source)
    elif "tag" in found:
        own_tag = _single_tag(table, found["tag"])
    run = Run(
        queries=grouped.queries,
        docs=docs,
        tag_bytes=own_tag,
        source=table.source,
        score_column=grouped.reorder(scores),
        offset_column=grouped.offsets,
    )
    if rank_by == "given":
        return rank_as_given(run)
    return run if "score" in found else with_distinct_ranks(run)


def tag_of(tag: str | bytes | None, source: str) -> bytes:
    """The name of a run, as bytes."""

    def fail(reason: str) -> NoReturn:
        raise InputError(source, f"tag: {reason}")

    return b"" if tag is None else encoded_id(tag, fail)


def _group_by_query(table: Table, found: dict[str, int]) -> tuple[Groups, PlacedTexts]:
    queries, docs = (_ids_of(table, found[role]) for role in ("query", "doc"))
    firsts = zeros("q", table.size)
    firsts = firsts[: kernels.find_stretches(queries.columns, firsts)]
    text, starts, lengths = queries.columns
    stretches = Texts(text, take(starts, firsts), take(lengths, firsts))
    grouped = Groups(stretches, firsts, table.size)
    rows = grouped.order if table.rows is None else grouped.reorder(table.rows)
    docs = _reorder_texts(grouped, docs)
    return grouped, docs.placed(rows, table.unit)


def _ids_of(table: Table, place: int) -> Texts:
    """A column of ids. One that is empty is missing, if the table is a text file."""
    texts = table.texts(place)
    if isinstance(table, LinesTable):
        row = first_empty(texts)
        if row >= 0:
            table.failing(place)(row, "expected an id, found an empty text")
    return texts


def first_empty(texts: Texts) -> int:
    """The first text that is empty, or -1."""
    lengths = _array(texts.lengths)
    return -1 if lengths.all() else int(lengths.argmin())


def _reorder_texts(grouped: Groups, texts: Texts) -> Texts:
    return Texts(texts.buffer, grouped.reorder(texts.starts), grouped.reorder(texts.lengths))


def _array(column: Any) -> Any:
    import numpy

    return numpy.asarray(column)


def _single_tag(table: Table, place: int) -> bytes:
    """The tag of all rows. Raises InputError if there are several."""
    tags, call = table.texts(place), table.call("Run")
    count = len(tags)
    numbered = interning(count)
    distinct = kernels.intern_texts(tags.columns, numbered)
    if distinct > 1:
        one, other = (tags[numbered.firsts[i]].decode("utf-8", "replace") for i in range(2))
        reason = f"expected one run, found {distinct} tags, such as {one!r} and {other!r}"
        advice = f"select the rows of one {table.names[place]!r}"
        if call:
            advice += f", or use all as one run: fr.{call}(..., tag=NAME)"
        raise InputError(table.source, f"{reason}; {advice}")
    return tags[0] if count else b""
