"""Runs and judgments of chunks as those of pages or documents."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.spans.readers import read_chunks
from fastrank.analysis.spans.stretches import combined, number_texts
from fastrank.common.arguments import check_choice
from fastrank.common.messages import counted, first_few
from fastrank.core.data.texts import gather_texts, memory_of
from fastrank.core.formats.inputs import as_run
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables.values import texts_of_list
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.analysis.spans.readers import Chunks, ChunksLike
    from fastrank.common.arrays import Integers
    from fastrank.common.choices import Level
    from fastrank.core.formats.inputs import RunLike

LEVELS = ("chunk", "page", "document")
NAMED = 5


def by_level(run: RunLike | Qrels, chunks: ChunksLike, level: Level) -> Any:
    """Rank pages or documents instead of chunks, each with the score of its best chunk (MaxP).

    run: a run of chunks, in any form; or Qrels, whose pages and documents get the highest grade of
        their chunks, in each subtopic if there are any.
    chunks: as in `fastrank.spans.read_chunks`.
    level: "document"; "page", named `document#page`, which needs the column `page`; or "chunk",
        which changes nothing.

    Returns a Run or Qrels. Raises what `fastrank.spans.read_chunks` raises, InputError for a chunk
    that `chunks` lacks, and OptionError. Source: MaxP of Dai and Callan, 'Deeper text understanding
    for IR with contextual neural language modeling', SIGIR 2019.

    >>> chunks = {"chunk": ["c1", "c2", "c3"], "document": ["a", "a", "b"], "page": [1, 2, 1],
    ...           "start": [0, 8, 0], "end": [10, 18, 7]}
    >>> run = {"q1": {"c1": 0.3, "c2": 0.9, "c3": 0.5}}
    >>> fr.by_level(run, chunks, "document").to_dict()
    {'q1': {'a': 0.9, 'b': 0.5}}
    >>> qrels, levels = fr.Qrels.from_dict({"q1": {"c1": 1, "c3": 0}}), {}
    >>> for level in ("chunk", "page", "document"):
    ...     judged, ranked = (fr.by_level(own, chunks, level) for own in (qrels, run))
    ...     levels[level] = fr.evaluate(judged, ranked, "RR")
    >>> print(fr.table(levels, label="level"))
    level         RR
    --------  ------
    chunk     0.3333
    page      0.3333
    document  1.0000
    """
    check_choice("level", level, LEVELS)
    run_or_qrels: Any = run if isinstance(run, Qrels) else as_run(run)
    all_chunks = read_chunks(chunks)
    rows = chunk_rows(run_or_qrels, all_chunks)
    if level == "chunk":
        return run_or_qrels
    columns = [all_chunks.documents]
    if level == "page":
        if all_chunks.pages is None:
            names = ", ".join(map(repr, all_chunks.table.names))
            raise InputError(all_chunks.table.source, f"no page column: found {names}")
        columns.append(all_chunks.pages)
    unit_ids = texts_of_list(
        list(map(b"#".join, zip(*columns, strict=True))), all_chunks.table.refuse
    )
    units = combined(*(number_texts(column)[0][0] for column in columns))[rows]
    queries = np.repeat(np.arange(len(run_or_qrels)), np.diff(run_or_qrels.offsets))
    is_run = isinstance(run_or_qrels, Run)
    values = run_or_qrels.scores if is_run else run_or_qrels.grades
    groups = np.zeros(len(rows), np.int64) if is_run else number_texts(run_or_qrels.groups)[0][0]
    # The first row of each query, group and unit is that with the highest value.
    keys = combined(queries, groups, units)
    order = np.lexsort((-values, keys))
    best = np.sort(order[np.unique(keys[order], return_index=True)[1]])
    fields = {
        "docs": gather_texts(unit_ids, rows[best]).placed(None, "row"),
        "offset_column": memory_of(
            np.searchsorted(queries[best], np.arange(len(run_or_qrels) + 1))
        ),
    }
    if is_run:
        return run_or_qrels.changed(**fields, score_column=memory_of(values[best]))
    grades = memory_of(np.asarray(run_or_qrels.grade_column)[best])
    return run_or_qrels.changed(
        **fields, grade_column=grades, groups=gather_texts(run_or_qrels.groups, best), strata=None
    )


def chunk_rows(run_or_qrels: Qrels | Run, chunks: Chunks) -> Integers:
    """The row of the chunk of each row of a run or judgments. Raises InputError."""
    (_, rows), names = number_texts(chunks.ids, run_or_qrels.docs)
    if len(names) > len(chunks):
        lacking = [repr(name) for name in names.decoded()[len(chunks) :]]
        reason = f"{counted(len(lacking), 'document')} not among the chunks of"
        listed = first_few(lacking, NAMED, count=True)
        raise InputError(run_or_qrels.source, f"{reason} {chunks.table.source}: {listed}")
    return rows
