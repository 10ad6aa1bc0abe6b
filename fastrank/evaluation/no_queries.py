"""The error for judgments and a run without common queries."""

from __future__ import annotations

from fastrank.data.texts import decoded
from fastrank.errors import NoQueriesError
from fastrank.plurals import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# How many ids of each side are shown.
SHOWN = 3


def no_queries_error(
    judged: Iterable[bytes], found: Iterable[bytes] | None, *, left_out: int = 0
) -> NoQueriesError:
    """The error, with some ids of both sides.

    judged: the ids of the judged queries. found: those of the run, None if they are not known.
    left_out: the number of judged queries skipped because they have no relevant document.
    """
    judged, found = list(judged), found if found is None else sorted(found)
    skipped = counted(left_out, "judged query", "judged queries")
    dropped = f"; skipped {skipped} without a relevant document" if left_out else ""
    if not judged:
        return NoQueriesError(f"there are no judged queries{dropped}")
    sides = f"qrels: {_some(judged)}"
    if found is None:
        return NoQueriesError(f"the run has no results for any judged query ({sides}){dropped}")
    if not found:
        return NoQueriesError(f"the run has no queries{dropped}")
    message = f"the run and the qrels share no query ids (run: {_some(found)}; {sides})"
    for what, normal in DETAILS.items():
        if not {*map(normal, judged)}.isdisjoint(map(normal, found)):
            message += f"; do the ids differ only {what}?"
            break
    return NoQueriesError(message + dropped)


def _some(queries: list[bytes]) -> str:
    shown = ", ".join(repr(decoded(query)) for query in queries[:SHOWN])
    return f"{shown}, ..." if len(queries) > SHOWN else shown


def _without_zeros(query: bytes) -> bytes:
    """An integer without leading zeros."""
    return query.lstrip(b"0") or b"0" if query.isdigit() else query


def _without_fraction(query: bytes) -> bytes:
    """An integer that is written as a decimal, without its fraction of zero."""
    integer = query.removesuffix(b".0")
    return integer if integer.isdigit() else query


# What ids may differ by, with the function that removes it.
DETAILS: dict[str, Callable[[bytes], object]] = {
    "in blanks or newlines around them": bytes.strip,
    "in case": lambda query: decoded(query).casefold(),
    "in leading zeros": _without_zeros,
    "as 1 and 1.0 do": _without_fraction,
}
