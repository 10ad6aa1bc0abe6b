"""Which split of a Hugging Face DatasetDict to read."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def choose_split(source: str, given: Any, split: str | None) -> Any:
    """The table of the chosen split in a dict of splits; anything else is returned unchanged.

    `split` may be omitted for a dict with one split. Raises InputError.
    """
    if not is_dict_of_splits(given):
        return given
    if split is None and len(given) > 1:
        raise InputError(source, f"expected split=, one of {', '.join(given)}")
    chosen = next(iter(given)) if len(given) == 1 else split
    if chosen not in given:
        raise InputError(source, f"no split {chosen!r}; expected one of {', '.join(given)}")
    return given[chosen]


def is_dict_of_splits(given: Any) -> bool:
    """Whether this is a dict of splits, such as a DatasetDict."""
    return (
        isinstance(given, Mapping)
        and bool(given)
        and all(hasattr(table, "column_names") for table in given.values())
    )
