"""Checks of a run: scores, order, ranks, ties, tags and the number of results."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.checking.findings import Collector, quoted
from fastrank.analysis.checking.repeats import check_repeats, check_scattered
from fastrank.analysis.checking.rows import Rows
from fastrank.common.c_numbers import atof
from fastrank.common.messages import counted
from fastrank.core.formats.trec.strict import advice_on_number
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import zeros

# TREC's maximum per query, and what most tools write.
MOST_RESULTS = 1000
# Runs that are not cut at a depth have as many results as were found. For odd depths to stand out,
# there must be enough queries, and nearly all must have the same number of results.
FEWEST_QUERIES, NEARLY_ALL = 10, 0.9
# Two results may tie by chance.
FEWEST_CONSTANT = 3


def check_results(rows: Rows, findings: Collector) -> None:
    """Check a run without judgments."""
    if not len(rows):
        return
    _check_scores(rows, findings)
    check_repeats(rows, findings, judgments=False)
    check_scattered(rows, findings)
    if rows.has_ranks:
        _check_ranks(rows, findings)
    _check_order_of_scores(rows, findings)
    _check_constant(rows, findings)
    _check_depths(rows, findings)
    _check_tags(rows, findings)
    _check_self_matches(rows, findings)


def _check_scores(rows: Rows, findings: Collector) -> None:
    def note(kind: str, number: int, words: str) -> None:
        def describe(row: int) -> str:
            score = rows.fields(row)[4]
            message = rows.described(row, "score", score, words)
            if advice := advice_on_number(score.decode("utf-8", "replace"), "score"):
                message += f"; {advice}"
            return message.replace("VALUE", f"{atof(score):g}")

        findings.add_rows(kind, rows, np.flatnonzero(rows.classes == number), describe)

    note("bad-score", codes.NO_NUMBER, "is not a number; trec_eval reads 0")
    note("bad-score", codes.A_PREFIX, "is not a number; trec_eval reads VALUE")
    note("nan-score", codes.NOT_A_NUMBER, "is NaN, by which documents cannot be ranked")
    note("infinite-score", codes.INFINITE, "is infinite; all such scores tie")


def _check_depths(rows: Rows, findings: Collector) -> None:
    depths = np.diff(rows.offsets)
    values, counts = np.unique(depths, return_counts=True)
    # The largest of the most frequent depths.
    usual = int(values[len(counts) - 1 - np.argmax(counts[::-1])])
    if (
        len(values) > 1
        and len(depths) >= FEWEST_QUERIES
        and counts.max() >= NEARLY_ALL * len(depths)
    ):
        unusual = depths != usual
        number = int(np.flatnonzero(unusual)[np.argmin(rows.first_lines[unusual])])
        message = (
            f"query {quoted(rows.queries[number])} has {counted(int(depths[number]), 'result')},"
            f" but {int(counts[values == usual][0]):,} of {len(depths):,} queries have {usual:,};"
            f" the range is {values[0]:,} to {values[-1]:,}"
        )
        findings.add_queries("uneven-depth", rows, [number], lambda _: message)

    def describe(number: int) -> str:
        text = f"query {quoted(rows.queries[number])} has {depths[number]:,} results"
        return f"{text}; TREC's usual maximum is {MOST_RESULTS:,}"

    findings.add_queries("deep", rows, np.flatnonzero(depths > MOST_RESULTS), describe)


def _check_tags(rows: Rows, findings: Collector) -> None:
    if len(rows.tags) > 1:
        (first, first_line), (second, line) = rows.tags[:2]
        message = (
            f"tag {quoted(second)}, but {quoted(first)} on {rows.where(first_line)}"
            f" ({len(rows.tags):,} tags in total); does the file contain several runs?"
        )
        findings.add("several-tags", line, message)


def _check_self_matches(rows: Rows, findings: Collector) -> None:
    same, ends = zeros("B", len(rows)), zeros("q", len(rows.offsets))
    queries = records.Texts(rows.text, *rows.query_texts)
    none = records.TextsByQuery(texts=queries, offsets=ends)
    run = records.Run(docs=rows.columns.texts, offsets=rows.columns.offsets, scores=zeros("d", 0))
    kernels.drop_excluded(run, queries, True, none, zeros("q", 2), same)

    def describe(row: int) -> str:
        removed = "BEIR removes such results, trec_eval does not"
        return f"{rows.named(row)} has the id of its query; {removed}"

    findings.add_rows("self-match", rows, np.flatnonzero(np.asarray(same)), describe)


def _check_ranks(rows: Rows, findings: Collector) -> None:
    """Note ranks that are invalid, that repeat, or that disagree with the scores.

    trec_eval ignores ranks, and ranks by the scores.
    """
    exchanged = _exchanged(rows)
    if rows.is_trec and len(exchanged):
        first = int(exchanged[np.argmin(rows.lines[exchanged])])
        rank, score = map(quoted, rows.fields(first)[3:5])
        has_fraction = rows.rank_classes == codes.FRACTION
        count = np.count_nonzero(has_fraction & (rows.scores == np.floor(rows.scores)))
        message = (
            f"the rank is {rank} and the score {score} ({counted(int(count), 'such line')} in the"
            " file): are the two columns exchanged?"
        )
        findings.add("exchanged-columns", int(rows.lines[first]), message)
        return
    bad = np.flatnonzero(rows.rank_classes != codes.A_NUMBER)

    def describe_bad(row: int) -> str:
        rank = quoted(rows.fields(row)[3])
        return rows.for_format(f"rank {rank} is not an integer; trec_eval ignores it")

    findings.add_rows("bad-rank", rows, bad, describe_bad)
    order = _rank_order(rows)
    before, after = order[:-1], order[1:]
    both = rows.adjacent()
    if len(bad):
        is_rank = rows.rank_classes == codes.A_NUMBER
        both = both & is_rank[before] & is_rank[after]
    ranks, scores = rows.integers, rows.scores
    same = both & (ranks[before] == ranks[after])
    _check_repeated(rows, findings, after[same])
    apart = both & ~same
    up = np.flatnonzero(apart & (scores[before] < scores[after]))
    if not len(up):
        return
    if np.any(apart & (scores[before] > scores[after])):
        _check_rank_order(rows, findings, before[up], after[up])
        return
    row, later = int(before[up[0]]), int(after[up[0]])
    message = (
        f"scores increase with the rank throughout ({_ranked(rows, row)}, {_ranked(rows, later)} on"
        f" {rows.where(rows.lines[later])}); trec_eval ranks the highest score first. Are these"
        " distances?"
    )
    findings.add_rows("ascending-scores", rows, [row], lambda _: message)


def _exchanged(rows: Rows) -> np.ndarray:
    """The first rows of queries whose rank has a fraction and whose scores begin like ranks.

    The readers of runs refuse the same files: see kernels/parsing/columns.py.
    """
    first = rows.offsets[:-1][np.diff(rows.offsets) > 1]
    second = first + 1
    numbers = (codes.A_NUMBER, codes.WHOLE_DECIMAL, codes.FRACTION)
    scores = rows.scores[first]
    are_exchanged = (
        (rows.rank_classes[first] == codes.FRACTION)
        & np.isin(rows.rank_classes[second], numbers)
        & np.isfinite(scores)
        & (scores == np.floor(scores))
        & (rows.scores[second] == scores + 1)
    )
    exchanged: np.ndarray = first[are_exchanged]
    return exchanged


def _rank_order(rows: Rows) -> np.ndarray:
    """The rows of each query by rank, then by descending score."""
    order = np.arange(len(rows))
    rises = rows.integers[:-1] < rows.integers[1:]
    if np.all(rises | ~rows.adjacent()):
        return order
    # Queries are already in order and stay so.
    return np.lexsort((-rows.scores, rows.integers, rows.query_of))


def _ranked(rows: Rows, row: int) -> str:
    rank, score = (field.decode("utf-8", "backslashreplace") for field in rows.fields(row)[3:5])
    return f"rank {rank} has score {score}"


def _per_query(rows: Rows, row_numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of the given rows in each query, and how many there are per query."""
    queries = np.searchsorted(rows.offsets, row_numbers, side="right")
    _, firsts, counts = np.unique(queries, return_index=True, return_counts=True)
    return firsts, counts


def _check_repeated(rows: Rows, findings: Collector, repeats: np.ndarray) -> None:
    firsts, counts = _per_query(rows, repeats)
    row_numbers = repeats[firsts]

    def describe(i: int) -> tuple[str, bytes, None]:
        row = int(row_numbers[i])
        query = rows.query(row)
        message = (
            f"duplicate rank {rows.integers[row]} in query {quoted(query)}"
            f" ({counted(int(counts[i]), 'duplicate')} in the query); trec_eval ignores ranks"
        )
        return message, query, None

    findings.add_lines("repeated-rank", rows.lines[row_numbers], describe)


def _check_rank_order(
    rows: Rows, findings: Collector, before: np.ndarray, after: np.ndarray
) -> None:
    firsts, counts = _per_query(rows, after)

    def describe(i: int) -> tuple[str, bytes, bytes]:
        row, later = int(before[firsts[i]]), int(after[firsts[i]])
        query = rows.query(row)
        message = (
            f"{_ranked(rows, row)}, but {_ranked(rows, later)} on {rows.where(rows.lines[later])}"
            f" ({counted(int(counts[i]), 'such pair')} in query {quoted(query)}); trec_eval ranks"
            " by score"
        )
        return message, query, rows.doc(row)

    findings.add_lines("rank-order", rows.lines[before[firsts]], describe)


def _check_order_of_scores(rows: Rows, findings: Collector) -> None:
    """Note results that are not sorted by score, and ties, also as 32-bit floats."""
    adjacent, scores = rows.adjacent(), rows.scores
    rises = np.flatnonzero(adjacent & (scores[:-1] < scores[1:])) + 1
    order = np.arange(len(rows))
    if len(rises) or np.isnan(scores).any():
        order = np.lexsort((-scores, rows.query_of))

    def note(kind: str, row_numbers: np.ndarray, words: str) -> None:
        """One finding for all of these rows, on the line of the first."""
        if not len(row_numbers):
            return
        queries = len(np.unique(np.searchsorted(rows.offsets, row_numbers, side="right")))
        words = words.replace("QUERIES", counted(queries, "query", "queries"))
        first = row_numbers[np.argmin(rows.lines[row_numbers])]
        message = words.replace("RESULTS", counted(len(row_numbers), "result"))
        findings.add_rows(kind, rows, [first], lambda _: message)

    def note_ties(kind: str, tied: np.ndarray, words: str) -> None:
        of_tie = np.zeros(len(rows), dtype=bool)
        of_tie[:-1] = tied
        of_tie[1:] |= tied
        note(kind, order[of_tie], f"RESULTS in QUERIES have equal scores{words}")

    note(
        "unsorted",
        rises,
        "the score is higher than that of the result before; the results of QUERIES are not sorted"
        " by score",
    )
    sorted_scores = scores[order]
    tied = adjacent & (sorted_scores[:-1] == sorted_scores[1:])
    with np.errstate(over="ignore"):
        singles = sorted_scores.astype(np.float32)
    note_ties(
        "tied-scores", tied, ", this one first; trec_eval ranks ties by document id, descending"
    )
    note_ties(
        "tied-as-floats",
        adjacent & (singles[:-1] == singles[1:]) & ~tied,
        " as 32-bit floats only, this one first; trec_eval 9.0.8 and pytrec_eval rank these by"
        " document id, 10.0 by score",
    )


def _check_constant(rows: Rows, findings: Collector) -> None:
    starts, depths = rows.offsets[:-1], np.diff(rows.offsets)
    highest = np.maximum.reduceat(rows.scores, starts)
    constant = highest == np.minimum.reduceat(rows.scores, starts)

    def describe(number: int) -> str:
        results = f"all {counted(int(depths[number]), 'result')}"
        return (
            f"{results} of query {quoted(rows.queries[number])} have the same score, so they are"
            " ranked by document id"
        )

    numbers = np.flatnonzero(constant & (depths >= FEWEST_CONSTANT))
    findings.add_queries("constant-scores", rows, numbers, describe)
