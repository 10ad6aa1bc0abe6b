"""Values per query as pandas and polars frames."""

from __future__ import annotations

from fastrank.common.lazy import optional
from fastrank.core.data.texts import decoded
from fastrank.core.results.table import refuse_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.core.data.texts import Ids
    from fastrank.core.native.record import Int64Array


def to_frame(library: str, query_ids: Ids, values: dict[str, Any], *, wide: bool) -> Any:
    """A frame with one row per query and measure, or one row per query if `wide`.

    library: "pandas" or "polars". values: of each measure, numbers as an
    array, text as a list, which only the wide form includes. Raises FastrankError for an id
    that is not valid UTF-8.
    """
    import numpy

    frames, queries = optional(library, f"to_{library}"), [decoded(query) for query in query_ids]
    refuse_bytes({"query": queries})

    def texts_at(texts: list[str], rows: Int64Array) -> Any:
        if library == "polars":
            return frames.Series(texts, dtype=frames.String).gather(rows)
        return frames.array(texts, dtype=str).take(rows)

    each = numpy.arange(len(queries))
    if wide:
        ids = texts_at(queries, each) if library == "polars" else queries
        return frames.DataFrame({"query": ids, **values})
    arrays = {name: column for name, column in values.items() if not isinstance(column, list)}
    numbers = numpy.stack([*arrays.values()], axis=1).ravel() if arrays else numpy.empty(0)
    return frames.DataFrame(
        {
            "query": texts_at(queries, each.repeat(len(arrays))),
            "measure": texts_at([*arrays], numpy.tile(numpy.arange(len(arrays)), len(each))),
            "value": numbers,
        }
    )
