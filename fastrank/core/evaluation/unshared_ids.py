"""The errors where judgments and a run, or a corpus, share no ids."""

from __future__ import annotations

from fastrank.common.messages import counted, first_few
from fastrank.core.data.texts import decoded
from fastrank.core.formats.tables.dicts import INNER
from fastrank.errors import NoQueriesError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fastrank.core.data.texts import Texts

# How many ids of each side are shown, and how much of those of documents.
SHOWN_QUERIES, SHOWN_DOCUMENTS, LONGEST = 3, 2, 60


def no_queries_error(
    judged: Iterable[bytes], run_queries: Iterable[bytes] | None, *, left_out: int = 0
) -> NoQueriesError:
    """The error, with some ids of both sides.

    judged: the ids of the judged queries. run_queries: those of the run, None if they are not
        known.
    left_out: the number of judged queries skipped because they have no relevant document.
    """
    judged, run_queries = list(judged), run_queries if run_queries is None else sorted(run_queries)
    skipped = counted(left_out, "judged query", "judged queries")
    dropped = f"; skipped {skipped} without a relevant document" if left_out else ""
    if not judged:
        return NoQueriesError(f"there are no judged queries{dropped}")
    sides = f"qrels: {_first(judged, SHOWN_QUERIES)}"
    if run_queries is None:
        return NoQueriesError(f"the run has no results for any judged query ({sides}){dropped}")
    if not run_queries:
        return NoQueriesError(f"the run has no queries{dropped}")
    sides = f"run: {_first(run_queries, SHOWN_QUERIES)}; {sides}"
    message = f"the run and the qrels share no query ids ({sides})"
    for part in INNER.values():
        if part.encode() in run_queries:
            message += f"; {part!r} is a part of the files of some tools, not a query"
    for difference, normal in DETAILS.items():
        if not {*map(normal, judged)}.isdisjoint(map(normal, run_queries)):
            message += f"; do the ids differ only {difference}?"
            break
    return NoQueriesError(message + dropped)


def _without_zeros(query: bytes) -> bytes:
    """An integer without leading zeros."""
    return query.lstrip(b"0") or b"0" if query.isdigit() else query


def _without_fraction(query: bytes) -> bytes:
    """An integer that is written as a decimal, without its fraction of zero."""
    integer = query.removesuffix(b".0")
    return integer if integer.isdigit() else query


# Details by which ids may differ, each with the function that removes it.
DETAILS: dict[str, Callable[[bytes], object]] = {
    "in blanks or newlines around them": bytes.strip,
    "in case": lambda query: decoded(query).casefold(),
    "in leading zeros": _without_zeros,
    "as 1 and 1.0 do": _without_fraction,
}


def not_in_corpus(judged: Sequence[bytes] | Texts, corpus: Sequence[bytes] | Texts) -> str:
    """The message, with some ids of both sides."""
    return f"no judged document is in the corpus ({both_sides(judged, 'corpus', corpus)})"


def both_sides(judged: Sequence[bytes] | Texts, side: str, ids: Sequence[bytes] | Texts) -> str:
    """The first judged ids, and the first ids of the other side under its name."""
    first, second = (_first(texts, SHOWN_DOCUMENTS, f".{LONGEST}") for texts in (judged, ids))
    return f"judged: {first}; {side}: {second}"


def _first(ids: Sequence[bytes] | Texts, count: int, form: str = "") -> str:
    rows = range(min(count + 1, len(ids)))
    return first_few([format(repr(decoded(ids[row])), form) for row in rows], count)
