"""Scores as rounded text: a readable summary, and notes on what a reader must know."""

from __future__ import annotations

import sys

from fastrank.common.faces import option
from fastrank.common.messages import counted, enumerated, first_few, python_warning, visible
from fastrank.common.rendering.numbers import number
from fastrank.core.measures.trec import GAINS
from fastrank.core.scores.columns import columns_by_name, presented_means
from fastrank.core.scores.summary import OVER_VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from fastrank.core.scores.columns import Evaluated

    Range = tuple[float, float, bool]
    """The lowest and the highest mean over the orders of tied documents, and whether the expected
    value is known."""


def readable(scores: Evaluated) -> str:
    """The summary, one line per measure, followed by notes."""
    shown = {
        name: column.presented(column.summary)
        for name, column in columns_by_name(scores).items()
        if column.summary is not None
    }
    width = max(map(len, shown), default=0)
    lines = [f"{name:{width}}  {visible(_rounded(value))}" for name, value in shown.items()]
    return "\n".join(lines + notes(scores))


def _rounded(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


# Notes on counts, by the name of the count: for one, and for several.
NOTED = {
    "no_relevant_skipped": (
        "judged query without a relevant document was skipped",
        "judged queries without a relevant document were skipped",
    ),
    "excluded": (
        "document was excluded from the rankings",
        "documents were excluded from the rankings",
    ),
    "duplicates": (
        "duplicate line was dropped from the rankings",
        "duplicate lines were dropped from the rankings",
    ),
    "unknown_exclusions": (
        "query with documents to exclude is neither judged nor in the run",
        "queries with documents to exclude are neither judged nor in the run",
    ),
    "strata_without_samples": (
        "stratum of a query has no sampled document and counts as if it had no relevant one",
        "strata of queries have no sampled document and count as if they had no relevant one",
    ),
    "not_sampled": (
        "document of the pool was not sampled, and counts as unjudged in measures without strata",
        "documents of the pool were not sampled, and count as unjudged in measures without strata",
    ),
    "not_in_corpus": (
        "judged document is not in the corpus",
        "judged documents are not in the corpus",
    ),
    "zero_vectors": (
        "vector of a query or document is zero: its cosine with all others counts as 0",
        "vectors of queries or documents are zero: their cosines with all others count as 0",
    ),
    "zero_texts": (
        "vector of a text is zero: its cosine with all others counts as 0",
        "vectors of texts are zero: their cosines with all others count as 0",
    ),
    "ties_at_cutoff": (
        "ranking was cut between documents with equal scores",
        "rankings were cut between documents with equal scores",
    ),
}
# The needs of measures that use the grades and ignore the relevance level.
LEVEL_FREE = (*GAINS, "queries", "run")
# The number of ids in a note.
NAMED = 5


def notes(scores: Evaluated, measure: str = "") -> list[str]:
    """What a reader must know: the notes of all functions below.

    measure: the only one that is shown, if not all are.
    """
    return [
        *missing_note(scores),
        *gap_notes(scores, measure),
        *other_notes(scores),
        *tie_notes(scores, measure=measure),
    ]


def named_notes(
    names: Iterable[str],
    several: Iterable[Evaluated],
    notes_of: Callable[[Evaluated], list[str]] = notes,
) -> list[str]:
    """The notes on several Scores, each after the names of those that have it."""
    named: dict[str, list[str]] = {}
    for name, scores in zip(names, several, strict=True):
        for note in notes_of(scores):
            named.setdefault(note, []).append(visible(name))
    return [f"{first_few(runs, NAMED, count=True)}: {note}" for note, runs in named.items()]


def missing_note(scores: Evaluated, run: str = "the run", zero: str = "") -> list[str]:
    """The note on judged queries without results, if there are any.

    zero: what counts them as 0, by default the option.
    """
    if not scores.counts["missing_queries"]:
        return []
    judged, are_zero = len(scores.coverage.judged), scores.coverage.complete
    text = lacks(run, scores.missing_queries, counted(judged, "judged query", "judged queries"))
    remedy = zero or option("missing", "zero")
    return [f"{text}; {treated(len(scores.missing_queries), remedy, zero=are_zero)}"]


def gap_notes(scores: Evaluated, measure: str = "") -> list[str]:
    """Notes on queries for which measures have no value (NaN), so that their means lack them."""
    lacking: dict[tuple[int, ...], list[str]] = {}
    for name, column in columns_by_name(scores).items():
        is_shown = measure in ("", name) and column.kind != "zscore"
        if is_shown and column.average in OVER_VALUES:
            rows = tuple(row for row, value in enumerate(column.to_list()) if value != value)
            lacking.setdefault(rows, []).append(name)
    lacking.pop((), None)
    queries = scores.queries if lacking else []
    return [
        f"{enumerated(names)} {'has' if len(names) == 1 else 'have'} no value for {len(rows)} of"
        f" {counted(len(queries), 'query', 'queries')}"
        f" ({first_ids([queries[row] for row in rows])}); {treated(len(rows), zero=False)}"
        for rows, names in lacking.items()
    ]


# The same for all runs, so that Python shows each once for a line of a program.
LEFT_OUT = "judged queries without results are left out of the mean"
WITHOUT_VALUES = "queries for which a measure has no value are left out of its mean"
BY_TIES = "the order of tied documents decides the mean"
# Finding out what ties decide takes longer than evaluating a small run: loops are told only for the
# first means that they read.
MOST_LOOKS = 8
# How often each line of a program has read means of runs with ties.
_LOOKS: dict[tuple[str, int], int] = {}


def warn_of_mean(scores: Evaluated) -> None:
    """Issue warnings for who reads `mean`, and sees no notes."""
    caller = sys._getframe(2)
    if caller.f_globals.get("__name__", "").startswith("fastrank."):
        return
    if scores.counts.get("missing_queries") and not scores.coverage.complete:
        zero = option("missing", "zero")
        python_warning(f"{LEFT_OUT}; print(scores) names them, {zero} counts them as 0")
    if gap_notes(scores):
        python_warning(f"{WITHOUT_VALUES}; print(scores) names them")
    line = caller.f_code.co_filename, caller.f_lineno
    _LOOKS[line] = _LOOKS.get(line, 0) + 1
    if _LOOKS[line] <= MOST_LOOKS and tie_notes(scores):
        average = option("ties", "average")
        python_warning(f"{BY_TIES}; print(scores) shows the range, {average} the expected value")


def lacks(run: str, missing: list[str], queries: str) -> str:
    """`pca lacks 2 of 200 judged queries (q1, q2)`; queries: `200 judged queries`."""
    return lacking(run, str(len(missing)), queries, first_ids(missing))


def lacking(run: str, missing: str, queries: str, ids: str) -> str:
    """The same from the number of missing queries and the first ids."""
    return f"{run} lacks {missing} of {queries} ({ids})"


def treated(missing: int, option: str = "", *, zero: bool) -> str:
    """What happens to a number of queries without results. option: what counts them as 0."""
    single = missing == 1
    if zero:
        return "it counts as 0" if single else "they count as 0"
    are, them = ("it is", "it") if single else ("they are", "them")
    return f"{are} left out" + (f" ({option} counts {them} as 0)" if option else "")


def other_notes(scores: Evaluated) -> list[str]:
    """Notes on queries that are only in the run, on nothing judged or relevant, and on counts."""
    texts = []
    unjudged = scores.unjudged_queries
    if unjudged:
        queries = counted(len(unjudged), "query of the run has", "queries of the run have")
        texts.append(f"{queries} no judgments ({first_ids(unjudged)})")
    counts, needs = scores.counts, {bound.measure.needs for bound in scores.bound}
    if 0 < counts.get("retrieved", 0) == counts["unjudged"]:
        # Only a search counts these ties, and it checks that judged documents are in the corpus.
        in_corpus = "ties_at_cutoff" in counts
        question = "" if in_corpus else ": do the document ids of run and qrels match?"
        texts.append(f"no retrieved document is judged{question}")
    if not needs <= {*LEVEL_FREE} and (
        0 < counts.get("no_relevant_queries", 0) == len(scores.coverage.judged)
    ):
        texts.append("no judged document is relevant: is the relevance level above all grades?")
    texts += numbering_notes(counts.get("numbered_documents"), counts.get("numbered_queries"))
    # Queries, documents and lines that do not count, and ties that were cut.
    return texts + [
        counted(counts[name], *words) for name, words in NOTED.items() if counts.get(name)
    ]


def numbering_notes(documents: int | None, queries: int | None) -> list[str]:
    """A note where so many documents or queries have row numbers as ids."""
    numbered = {"documents": documents, "queries": queries}
    ranges = [f"of {name} 0 to {count - 1}" for name, count in numbered.items() if count]
    return [f"ids are row numbers, {' and '.join(ranges)}"] if ranges else []


def first_ids(queries: list[str]) -> str:
    """The first of some ids."""
    return visible(first_few(queries, NAMED))


# The share of a mean that must depend on the order of tied documents for a note.
NOTED_SHARE = 0.1


def tie_notes(scores: Evaluated, of: str = "", saved: str = "", measure: str = "") -> list[str]:
    """A note on the measure that the order of tied documents moves most, if it moves by more than
    a tenth of its value.

    of: the name of the run, if what is before the note does not say it. saved: what has the option
    for the order of ties, if that is a baseline. measure: as for `notes`.
    """
    if scores.ties is None:
        return []
    moved, ranges, means = {}, scores.ties.ranges(), presented_means(scores)
    for name, (worst, best, _) in ranges.items():
        value = means[name]
        most = max(best - value, value - worst)
        if measure in ("", name) and most > NOTED_SHARE * abs(value):
            moved[name] = most / abs(value) if value else float("inf")
    if not moved:
        return []
    name = max(moved, key=moved.__getitem__)
    worst, best, has_expected = ranges[name]
    more = f" (also {counted(len(moved) - 1, 'more measure')})" if len(moved) > 1 else ""
    run = f" of {of}" if of else ""
    remedy = (
        f"{_ties('average', saved)} gives the expected value"
        if has_expected
        else f"{_ties('worst', saved)} and {_ties('best', saved)} give the ends of this range"
    )
    return [
        f"{name}{run} depends on tied scores: {worst:.4f} to {best:.4f}, here"
        f" {means[name]:.4f}{more}; {remedy}"
    ]


def _ties(order: str, saved: str) -> str:
    return f"{saved} {order}" if saved else option("ties", order)


def without_ties(ties: Any, saved: str = "") -> str:
    """The remedy against tied documents whose order matters. ties: of Scores; saved: see above."""
    if all(has_expected for _, _, has_expected in ties.ranges().values()):
        return f"{_ties('average', saved)} averages over all orders"
    return "give these documents different scores"
