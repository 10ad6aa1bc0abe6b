"""Scores as text: the only room that rounds."""

from __future__ import annotations

from fastrank.c_numbers import printed
from fastrank.data.texts import decoded
from fastrank.scores.scores import Scores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrank.data.texts import Ids
    from fastrank.judging.judged import Judged
    from fastrank.measures.selection import BoundMeasure


def trec_lines(scores: Scores, *, per_query: bool, summary: bool) -> Iterator[bytes]:
    """The lines that trec_eval prints: queries first if wanted (-q), then the summary (no -n).

    Layout: the name padded to 22 characters, TAB, query or `all`, TAB, value; counts as
    integers, other values with four decimals, z-scores with a leading Z and four decimals.
    """
    if per_query:
        yield from _query_lines(scores)
    if summary:
        for own, values in zip(scores.bound, scores.summaries, strict=True):
            form = _form(own, scores.zscored)
            for name, value in zip(own.names, values, strict=False):
                yield _line(form, name, b"all", value)


def _query_lines(scores: Scores) -> Iterator[bytes]:
    columns = [
        (own, _form(own, scores.zscored), values)
        for own, values in zip(scores.bound, scores.value_columns, strict=True)
        if values is not None and own.measure.average != "geometric"
    ]
    for i, query in enumerate(scores.query_ids):
        for own, form, values in columns:
            if form == "text":
                yield _line(form, own.names[0], query, b"'" + values[i] + b"'")
                continue
            for j, name in enumerate(own.names):
                yield _line(form, name, query, values[i * own.width + j])


def _form(own: BoundMeasure, zscored: bool) -> str:
    if own.measure.average == "":
        return "text"
    if zscored:
        return "zscore"
    return "integer" if own.measure.average == "sum" else "real"


def _line(form: str, name: bytes, query: bytes, value: float | bytes) -> bytes:
    if isinstance(value, bytes):
        return b"%-22b\t%b\t%b\n" % (name, query, value)
    if form == "integer":
        return b"%-22b\t%b\t%d\n" % (name, query, value)
    mark = b"Z" if form == "zscore" else b""
    if value != value:
        return b"%b%-22b\t%b\t%b\n" % (mark, name, query, printed("%6.4f", value).encode())
    return b"%b%-22b\t%b\t%6.4f\n" % (mark, name, query, value)


def readable(scores: Scores) -> str:
    """The summary, one line a measure, and what is not part of it."""
    whole = scores.whole
    width = max((len(name) for name in scores.mean), default=0)
    lines = [
        f"{name:{width}}  {rounded(as_count(value) if name in whole else value)}"
        for name, value in scores.mean.items()
    ]
    return "\n".join(lines + notes(scores))


def as_count(value: float) -> int | float:
    """A count as an integer; a sum that is no whole number as it is."""
    return int(value) if value.is_integer() else value


def rounded(value: object) -> str:
    """A value as tables show it: four decimals if it is a float."""
    if isinstance(value, float):
        return f"{value:.4f}"
    return "" if value is None else str(value)


# What options take out of an evaluation, by its name among the counts.
LEFT_OUT = {
    "left_out": "judged queries have no relevant document and were left out",
    "removed": "documents were excluded from the rankings",
    "repeated": "repeated lines were left out of the rankings",
    "cut": "rankings were cut between documents with equal scores",
}
# How many ids a note names.
NAMED = 5


def notes(scores: Scores) -> list[str]:
    """Lines on the queries that judgments and run do not share, and on what was left out."""
    made = []
    if scores.missing:
        many = scores.missing != 1
        averaged = ("are" if many else "is") + ("" if scores.coverage.complete else " not")
        made.append(
            f"{scores.missing} judged {'queries have' if many else 'query has'} no results and"
            f" {averaged} averaged in (missing={_first(scores.missing_queries)})"
        )
    skipped = scores.skipped_queries
    if skipped:
        made.append(
            f"{len(skipped)} {'queries' if len(skipped) != 1 else 'query'} of the run without"
            f" judgments (skipped={_first(skipped)})"
        )
    for name, what in LEFT_OUT.items():
        if scores.counts.get(name):
            made.append(f"{what} ({name}={scores.counts[name]})")
    return made


def _first(queries: list[str]) -> str:
    named = ", ".join(queries[:NAMED]) + (", ..." if len(queries) > NAMED else "")
    # What is not UTF-8 could not be printed.
    return named.encode("utf-8", "backslashreplace").decode()


def judged_lines(queries: Ids, judged: Judged, *, grades: bool) -> Iterator[str]:
    """What the measures see of each query: counts, and with `grades` rank:grade of the documents
    that are in the judgments."""
    offsets, ranks, codes, _, _, _, num_ret, num_rel, num_rel_ret, *_ = judged.columns
    for i, query in enumerate(queries):
        line = (
            f"debug: query {decoded(query)}: retrieved {num_ret[i]},"
            f" relevant {num_rel[i]}, relevant retrieved {num_rel_ret[i]}"
        )
        if grades:
            rows = range(offsets[i], offsets[i + 1])
            line += "; rank:grade" + "".join(f" {ranks[row]}:{codes[row]}" for row in rows)
        yield line
