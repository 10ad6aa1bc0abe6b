"""The titles or texts of documents and queries, from whatever has them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from fastrank.errors import FormatError, OptionError
from fastrank.formats.lines import lines_of
from fastrank.formats.source import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any


def texts_of(given: Any, option: str, wanted: Collection[str]) -> dict[str, str]:
    """The texts, or titles, of some documents or queries.

    given: a Dataset, {id: text}, {id: {"title": ..., "text": ...}}, or the path of a file of JSON
    lines with _id (or id), title and text; None for nothing. Raises OptionError for other objects,
    FormatError for a wrong line.
    """
    if given is None:
        return {}
    if hasattr(given, "corpus_ids"):
        ids, texts = (
            (given.corpus_ids, given.corpus)
            if option == "documents"
            else (given.query_ids, given.queries)
        )
        return {one: texts[row : row + 1][0] for row, one in enumerate(ids) if one in wanted}
    if isinstance(given, Mapping):
        return {one: _shown(given[one]) for one in wanted if one in given}
    if isinstance(given, (str, os.PathLike)):
        return _of_lines(os.fspath(given), wanted)
    raise OptionError(option, f"expected a Dataset, a dict or a path, found {type(given).__name__}")


def _of_lines(path: str, wanted: Collection[str]) -> dict[str, str]:
    found, name = {}, name_of(path)
    for number, line in lines_of(path, name, "utf-8"):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise FormatError(name, number, f"expected a JSON object: {error}") from None
        if not isinstance(record, dict) or not ("_id" in record or "id" in record):
            raise FormatError(name, number, "expected a JSON object with _id")
        own = str(record["_id"] if "_id" in record else record["id"])
        if own in wanted:
            found[own] = _shown(record)
    return found


def _shown(given: Any) -> str:
    """The title, else the text."""
    if isinstance(given, Mapping):
        return str(given.get("title") or given.get("text") or "")
    return str(given)
