"""Columns of texts and labels from tables of any kind."""

from __future__ import annotations

from fastrank.data.texts import decoded
from fastrank.datasets.rows import rows_of
from fastrank.errors import FormatError, InputError
from fastrank.formats import sniff
from fastrank.formats.column_names import check_roles, normalized_name
from fastrank.formats.csv import records
from fastrank.formats.inputs import is_file
from fastrank.formats.source import BYTE_ORDER_MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# Usual names of columns by role, in the order in which they are looked for.
NAMES = {
    "text_a": (
        "text_a", "text", "sentence1", "sentence", "sent1", "text1", "premise", "question1",
        "anchor", "query", "content",
    ),
    "text_b": (
        "text_b", "sentence2", "sent2", "text2", "hypothesis", "question2", "positive", "answer",
    ),
    "text_c": ("text_c", "sentence3", "text3", "negative"),
    "label": (
        "label", "labels", "score", "gold", "target", "class", "similarity_score",
        "relatedness_score", "is_duplicate", "label_text",
    ),
}  # fmt: skip
# What pandas, R and Hugging Face call the column of row numbers.
INDEX_NAMES = ("", "unnamed: 0", "index", "id", "idx")


def columns_of(
    source: Any, columns: Mapping[str, Any] | None, split: str | None, name: str
) -> dict[str, list[Any]]:
    """The columns by role; see `TextTask.from_table`."""
    check_roles(columns, tuple(NAMES), name)
    rows, has_types = _rows(source, split, name)
    if not rows:
        raise InputError(name, "expected rows, found none")
    roles = _roles(list(rows[0]), columns or {}, name)
    found = {role: [row.get(column) for row in rows] for role, column in roles.items()}
    if not has_types and "label" in found:
        found["label"] = _typed(found["label"])
    return found


def _rows(source: Any, split: str | None, name: str) -> tuple[list[Mapping[str, Any]], bool]:
    """The rows of a table, and whether their values have types: those of CSV are all strings."""
    if not is_file(source):
        return rows_of(source, split, name), True
    file, head = sniff.head_of(sniff.open_source(source))
    start = head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1]
    if sniff.is_parquet(head) or start == b"{":
        return rows_of(file, split, name), True
    with file:
        return _delimited(file.read(), file.name), False


def _delimited(content: bytes, name: str) -> list[Mapping[str, Any]]:
    """The rows of a CSV or TSV file, whose first line names the columns."""
    is_tabbed = b"\t" in content.partition(b"\n")[0]
    lines = _tabbed(content) if is_tabbed else records(content, name, ",")
    _, header = next(lines, (1, []))
    names = [cell.strip() for cell in header]
    if len(set(names)) != len(names) or not names:
        raise FormatError(name, 1, f"expected a header with distinct names, found {header!r:.100}")
    rows: list[Mapping[str, Any]] = []
    for line, cells in lines:
        if len(cells) != len(names):
            expected = f"expected {len(names)} cells, as in the header, found {len(cells)}"
            raise FormatError(name, line, expected)
        rows.append(dict(zip(names, cells, strict=True)))
    return rows


def _typed(labels: list[Any]) -> list[Any]:
    """Labels of a CSV file: integers or floats if all are, and None for empty cells."""
    given = [label.strip() or None for label in labels]
    for kind in (int, float):
        try:
            return [None if label is None else kind(label) for label in given]
        except ValueError:
            continue
    return list(given)


def _tabbed(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """The number and cells of each line; quotes are ordinary characters, as in STS and SICK."""
    for number, line in enumerate(decoded(content).removeprefix("\ufeff").split("\n"), 1):
        if line.strip("\r"):
            yield number, line.removesuffix("\r").split("\t")


def _roles(names: list[Any], given: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The column of each role: given, by its usual name, or by its place."""
    for role, column in given.items():
        if column not in names:
            found = ", ".join(map(repr, names))
            raise InputError(source, f"columns: no column {column!r} for {role}, found {found}")
    roles = dict(given)
    by_name = {normalized_name(str(name)): name for name in reversed(names)}
    for role, usual in NAMES.items():
        if role not in roles:
            free = (by_name[name] for name in usual if name in by_name)
            column = next((name for name in free if name not in roles.values()), None)
            if column is not None:
                roles[role] = column
    if "text_a" in roles:
        return {role: roles[role] for role in NAMES if role in roles}
    others = names[str(names[0]).strip().lower() in INDEX_NAMES :]
    if not given and 2 <= len(others) <= len(NAMES):
        return dict(zip([*list(NAMES)[: len(others) - 1], "label"], others, strict=True))
    found = ", ".join(map(repr, names))
    raise InputError(
        source, f"no column of texts: found {found}; or set columns={{'text_a': NAME}}"
    )
