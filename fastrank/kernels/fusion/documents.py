"""The distinct documents of a query, and the entries of each."""

from __future__ import annotations

from fastrank.kernels.fusion.codes import FINE, REPEATED
from fastrank.kernels.texts.text import are_equal, slot_of_text, table_mask
from fastrank.native.declare import helper


@helper
def number_documents(q, queries, runs, entries, scratch, problem):
    """Number the distinct documents of a query in order of appearance, and count their entries.

    Returns FINE and the number of documents, or REPEATED for one that a run retrieves twice.
    """
    table, numbers, docs, counts = scratch.table, scratch.numbers, scratch.docs, scratch.counts
    total = 0
    for r in range(runs):
        segment = r * queries + q
        total += entries.offsets[segment + 1] - entries.offsets[segment]
    mask = table_mask(total)
    table[: mask + 1] = 0
    found = 0
    for r in range(runs):
        segment = r * queries + q
        for entry in range(entries.offsets[segment], entries.offsets[segment + 1]):
            slot = slot_of_text(entries.docs, entry, mask)
            while True:
                number = table[slot] - 1
                if number < 0:
                    number = found
                    found += 1
                    table[slot] = found
                    docs.starts[number] = entries.docs.starts[entry]
                    docs.lengths[number] = entries.docs.lengths[entry]
                    counts[number] = 1
                    # The last run with the document.
                    scratch.ends[number] = r
                    break
                if are_equal(docs, number, entries.docs, entry):
                    if scratch.ends[number] == r:
                        problem[2], problem[3] = r, entry
                        return REPEATED, found
                    counts[number] += 1
                    scratch.ends[number] = r
                    break
                slot = (slot + 1) & mask
            numbers[entry] = number
    return FINE, found


@helper
def group_entries(q, queries, runs, documents, entries, scratch):
    """Bring the entries of each document together, in the order of the runs.

    Those of document d become grouped[ends[d] - counts[d] : ends[d]]; each is its number in the
    block.
    """
    at = 0
    for d in range(documents):
        scratch.ends[d] = at
        at += scratch.counts[d]
    for r in range(runs):
        segment = r * queries + q
        for entry in range(entries.offsets[segment], entries.offsets[segment + 1]):
            number = scratch.numbers[entry]
            scratch.grouped[scratch.ends[number]] = entry
            scratch.ends[number] += 1


@helper
def run_of(entry, run, q, queries, entries):
    """The run of an entry of a query, which is `run` or one after it."""
    while entry >= entries.offsets[run * queries + q + 1]:
        run += 1
    return run
