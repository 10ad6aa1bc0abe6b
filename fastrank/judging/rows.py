"""Judge rankings by the rows of the judgments, whose other columns grades cannot carry."""

from __future__ import annotations

from fastrank.data.columns import as_array
from fastrank.data.texts import interning
from fastrank.judging.rankings import judge_rankings
from fastrank.native import kernels
from fastrank.native.buffers import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.data.texts import Texts
    from fastrank.judging.matching import MatchedQueries
    from fastrank.judging.needs import JudgingOptions
    from fastrank.native import records

    Integers = npt.NDArray[np.int64]


def judge_rows(
    qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions
) -> records.Rankings:
    """The matched rankings with the row of each listed document in the judgments as its grade.

    Documents with a negative grade are listed, too. Raises QueryError as `judge_rankings`.
    """
    rows = qrels.changed(grade_column=filled("q", list(range(len(qrels.docs)))), scale=None)
    options = options.changed(relevance_level=0, list_unjudged=False, stop_if_none_judged=False)
    return judge_rankings(rows, run, matched, options).columns


def numbered_texts(names: Texts) -> Integers:
    """The number of each text among the distinct texts in byte order."""
    import numpy

    numbered = interning(len(names))
    distinct = kernels.intern_texts(names.columns, numbered)
    texts = names.take(numbered.firsts[:distinct])
    places = numpy.empty(distinct, "int64")
    places[sorted(range(distinct), key=texts.__getitem__)] = numpy.arange(distinct)
    found: Integers = places[as_array(numbered.ids)[: len(names)]]
    return found


def offsets_of(query_of: Integers, queries: int) -> Integers:
    """Where the items of each query begin, if they are sorted by query."""
    import numpy

    made: Integers = numpy.searchsorted(query_of, numpy.arange(queries + 1)).astype("int64")
    return made


def picked(offsets: Integers, queries: Integers) -> tuple[Any, Any]:
    """The offsets of some queries' items among these alone, and the places of the items."""
    import numpy

    sizes = numpy.diff(offsets)[queries]
    own = numpy.concatenate([numpy.zeros(1, "int64"), numpy.cumsum(sizes)])
    return own, numpy.arange(own[-1]) + numpy.repeat(offsets[queries] - own[:-1], sizes)
