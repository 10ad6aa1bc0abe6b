"""Runs of different queries put together."""

from __future__ import annotations

import numpy as np

from fastrank.data.run import Run
from fastrank.data.texts import Texts, joined, memory_of


def joined_runs(parts: list[Run]) -> Run:
    """One run with the queries of several, in byte order."""
    queries = [query for part in parts for query in part.queries]
    buffers = [bytes(part.docs.buffer) for part in parts]
    shifts = np.cumsum([0, *map(len, buffers[:-1])])
    starts = np.concatenate(
        [np.asarray(part.docs.starts) + shift for part, shift in zip(parts, shifts, strict=True)]
    )
    lengths = np.concatenate([np.asarray(part.docs.lengths) for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    firsts = np.cumsum(sizes) - sizes
    order = sorted(range(len(queries)), key=queries.__getitem__)
    empty = np.zeros(0, np.int64)
    rows = np.concatenate(
        [empty, *(np.arange(firsts[own], firsts[own] + sizes[own]) for own in order)]
    )
    ids = [queries[own] for own in order]
    return Run(
        queries=joined(b"".join(ids), ids),
        docs=Texts(b"".join(buffers), memory_of(starts[rows]), memory_of(lengths[rows])),
        tag_bytes=parts[0].tag_bytes,
        source=parts[0].source,
        offset_column=memory_of(np.concatenate([[0], np.cumsum(sizes[order])])),
        score_column=memory_of(scores[rows]),
    )
