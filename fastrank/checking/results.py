"""Checks of a run: scores, ranks, ties, tags and the number of results."""

from __future__ import annotations

import numpy as np

from fastrank.c_numbers import atof
from fastrank.checking.findings import Collector, counted, quoted
from fastrank.checking.ranks import check_ranks
from fastrank.checking.repeats import check_repeats, check_scattered
from fastrank.checking.rows import Rows
from fastrank.checking.ties import check_ties
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import zeros

# TREC's maximum per query, and what most tools write.
MOST_RESULTS = 1000
# Where runs are not cut at a depth, queries have as many results as were found: nearly all
# queries, of which there are not too few, must have the same number for the others to stand out.
FEWEST_QUERIES, NEARLY_ALL = 10, 0.9


def check_results(rows: Rows, findings: Collector) -> None:
    """Check a run without judgments."""
    if not len(rows):
        return
    _check_scores(rows, findings)
    check_repeats(rows, findings, judgments=False)
    check_scattered(rows, findings)
    if rows.has_ranks:
        check_ranks(rows, findings)
    check_ties(rows, findings)
    _check_depths(rows, findings)
    _check_tags(rows, findings)
    _check_self_matches(rows, findings)


def _check_scores(rows: Rows, findings: Collector) -> None:
    def note(kind: str, number: int, words: str) -> None:
        places = np.flatnonzero(rows.classes == number)

        def say(i: int) -> tuple[str, bytes, bytes]:
            row = int(places[i])
            score = rows.fields(row)[4]
            message = f"score {quoted(score)} of document {quoted(rows.doc(row))} {words}"
            if not rows.is_trec:
                message = message.partition("; trec_eval")[0]
            if b"," in score:
                message += "; use a decimal point, not a comma"
            return message.replace("VALUE", f"{atof(score):g}"), rows.query(row), rows.doc(row)

        findings.add_lines(kind, rows.lines[places], say)

    note("bad-score", codes.NO_NUMBER, "is not a number; trec_eval reads 0")
    note("bad-score", codes.A_PREFIX, "is not a number; trec_eval reads VALUE")
    note("nan-score", codes.NOT_A_NUMBER, "is NaN, by which documents cannot be ranked")
    note("infinite-score", codes.INFINITE, "is infinite; all such scores tie")


def _check_depths(rows: Rows, findings: Collector) -> None:
    depths = np.diff(rows.offsets)
    first_lines = rows.first_lines
    values, counts = np.unique(depths, return_counts=True)
    # The largest of the most frequent depths.
    usual = int(values[len(counts) - 1 - np.argmax(counts[::-1])])
    if (
        len(values) > 1
        and len(depths) >= FEWEST_QUERIES
        and counts.max() >= NEARLY_ALL * len(depths)
    ):
        other = depths != usual
        number = int(np.flatnonzero(other)[np.argmin(first_lines[other])])
        message = (
            f"query {quoted(rows.queries[number])} has {counted(int(depths[number]), 'result')},"
            f" but {int(counts[values == usual][0]):,} of {len(depths):,} queries have {usual:,};"
            f" the range is {values[0]:,} to {values[-1]:,}"
        )
        findings.add("uneven-depth", int(first_lines[number]), message, rows.queries[number])
    deep = np.flatnonzero(depths > MOST_RESULTS)

    def say(i: int) -> tuple[str, bytes, None]:
        query = rows.queries[deep[i]]
        message = f"query {quoted(query)} has {depths[deep[i]]:,} results; TREC's usual maximum is"
        return f"{message} {MOST_RESULTS:,}", query, None

    findings.add_lines("deep", first_lines[deep], say)


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
    places = np.flatnonzero(np.asarray(same))

    def say(i: int) -> tuple[str, bytes, bytes]:
        doc = rows.doc(int(places[i]))
        message = (
            f"document {quoted(doc)} has the id of its query; BEIR removes such results,"
            " trec_eval does not"
        )
        return message, doc, doc

    findings.add_lines("self-match", rows.lines[places], say)
