"""Columns of texts and labels from tables of any kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

from fastrank.core.formats.files.source import BYTE_ORDER_MARK
from fastrank.core.formats.inputs import choose_split, is_dict_of_splits, is_file
from fastrank.core.formats.tables import sniff
from fastrank.core.formats.tables.records import why_not_json
from fastrank.core.formats.tables.roles import check_roles, normalized_name
from fastrank.core.formats.tables.table_files import delimited_records
from fastrank.core.formats.texts.text_files import objects_of
from fastrank.core.formats.trec.line_files import lines_of
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Usual names of columns by role, in the order in which they are looked for.
NAMES = {
    "text_a": (
        "text_a",
        "text",
        "sentence1",
        "sentence",
        "sent1",
        "text1",
        "premise",
        "question1",
        "anchor",
        "query",
        "content",
    ),
    "text_b": (
        "text_b",
        "sentence2",
        "sent2",
        "text2",
        "hypothesis",
        "question2",
        "positive",
        "answer",
    ),
    "text_c": ("text_c", "sentence3", "text3", "negative"),
    "label": (
        "label",
        "labels",
        "score",
        "gold",
        "target",
        "class",
        "similarity_score",
        "relatedness_score",
        "is_duplicate",
        "label_text",
        "gold_label",
    ),
}
# The label of SNLI and MultiNLI, and what it is if the annotators do not agree.
GOLD, NO_CONSENSUS = "gold_label", "-"
# The texts of both on the Hugging Face Hub, where the label of these rows is -1.
NLI_TEXTS, NO_LABEL = {"premise", "hypothesis"}, (-1, "-1")
# What pandas, R and Hugging Face call the column of row numbers.
INDEX_NAMES = ("", "unnamed: 0", "index", "id", "idx")


class Columns(NamedTuple):
    """The columns by role, the numbers of their rows, and the names of the other columns."""

    by_role: dict[str, list[Any]]
    kept: list[int]
    left_out: int
    unused: tuple[Any, ...]


def columns_of(
    source: Any, columns: Mapping[str, Any] | None, split: str | None, name: str
) -> Columns:
    """The columns; see `TextTask.from_table`."""
    check_roles(columns, tuple(NAMES), name)
    if split is not None and not is_dict_of_splits(source):
        raise InputError(name, "split: expected a DatasetDict, which alone has splits")
    if is_file(source):
        file, head = sniff.head_of(source)
        start = head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1]
        if start not in (b"[", b"{") and not sniff.is_parquet(head):
            with file:
                return _of_delimited(file.read(), file.name, columns)
        source = file
    if isinstance(source, Mapping) and not is_dict_of_splits(source):
        source = _rows_of_columns(source, name)
    return _by_role(rows_of(source, split, name), columns, name)


def _by_role(
    rows: list[Mapping[str, Any]], columns: Mapping[str, Any] | None, name: str
) -> Columns:
    if not rows:
        raise InputError(name, "expected rows, found none")
    roles = _roles(list(rows[0]), columns or {}, name)
    kept, unlabelled = list(range(len(rows))), _unlabelled(roles)
    if unlabelled:
        label = roles["label"]
        kept = [i for i in kept if rows[i].get(label) not in unlabelled]
        if not kept:
            raise InputError(name, f"expected rows with a label, found only {rows[0][label]!r}")
    return Columns(
        by_role={role: [rows[i].get(column) for i in kept] for role, column in roles.items()},
        kept=kept,
        left_out=len(rows) - len(kept),
        unused=tuple(column for column in rows[0] if column not in roles.values()),
    )


def _unlabelled(roles: Mapping[str, Any]) -> tuple[Any, ...]:
    """The labels of rows whose annotators did not agree."""
    names = {role: normalized_name(str(column)) for role, column in roles.items()}
    if names.get("label") == GOLD:
        return (NO_CONSENSUS,)
    texts = {name for role, name in names.items() if role != "label"}
    return NO_LABEL if "label" in names and texts == NLI_TEXTS else ()


def _of_delimited(content: bytes, name: str, columns: Mapping[str, Any] | None) -> Columns:
    """The columns of a CSV or TSV file, whose values are all strings, by role."""
    lines, rows = _delimited(content, name)
    if rows:
        _check_header(list(rows[0]), columns, name)
    found = _by_role(rows, columns, name)
    if "label" in found.by_role:
        labels = found.by_role["label"] = _typed(found.by_role["label"])
        if None in labels:
            line = lines[found.kept[labels.index(None)]]
            raise FormatError(name, line, "the label is missing")
    return found


def _check_header(names: list[str], columns: Mapping[str, Any] | None, name: str) -> None:
    """Raise FormatError for a first line that is probably a row and names no columns."""
    usual = {usual for names_of_role in NAMES.values() for usual in names_of_role}
    is_known = any(normalized_name(cell) in usual for cell in names)
    if columns or is_known or names[0].lower() in INDEX_NAMES:
        return
    found = ", ".join(map(repr, names))
    raise FormatError(
        name,
        1,
        f"no column of texts: expected a header, found {found:.100}; add one, or set"
        " columns={'text_a': NAME} if these are the names of the columns",
    )


def _rows_of_columns(columns: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The rows of {name: column}."""
    found = {}
    for column, values in columns.items():
        if isinstance(values, (str, bytes, Set, Mapping)) or not isinstance(values, Iterable):
            kind = type(values).__name__
            raise InputError(name, f"column {column!r}: expected a list, found {kind}")
        found[column] = list(values.tolist() if hasattr(values, "tolist") else values)
    if len(set(map(len, found.values()))) > 1:
        lengths = ", ".join(f"{len(values)} in {column!r}" for column, values in found.items())
        raise InputError(name, f"expected columns of equal length, found {lengths}")
    return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


def _delimited(content: bytes, name: str) -> tuple[list[int], list[Mapping[str, Any]]]:
    """Line and cells of each row of a CSV or TSV file, whose first line names the columns."""
    is_tabbed = b"\t" in content.partition(b"\n")[0]
    # Quotes are ordinary characters in TSV, as in STS and SICK.
    lines = delimited_records(content, name, "\t" if is_tabbed else ",", quoted=not is_tabbed)
    _, header = next(lines, (1, []))
    names = [cell.strip() for cell in header]
    if len(set(names)) != len(names) or not names:
        raise FormatError(name, 1, f"expected a header with distinct names, found {header!r:.100}")
    numbers: list[int] = []
    rows: list[Mapping[str, Any]] = []
    for line, cells in lines:
        if len(cells) != len(names):
            expected = f"expected {len(names)} cells, as in the header, found {len(cells)}"
            raise FormatError(name, line, expected)
        numbers.append(line)
        rows.append(dict(zip(names, cells, strict=True)))
    return numbers, rows


def _typed(labels: list[Any]) -> list[Any]:
    """Labels of a CSV file: integers or floats if all are, and None for empty cells."""
    given = [label.strip() or None for label in labels]
    # Python's own readers accept 1_0; and 01 is another label than 1.
    if any(label is not None and re.search(r"_|^[+-]?0\d", label) for label in given):
        return list(given)
    for kind in (int, float):
        try:
            return [None if label is None else kind(label) for label in given]
        except ValueError:
            continue
    return list(given)


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


def rows_of(given: Any, split: str | None, name: str) -> list[Mapping[str, Any]]:
    """The rows of a table, a file or an iterable of mappings.

    given: a Hugging Face Dataset in any format or a DatasetDict, a pandas or polars DataFrame, an
    Arrow table, a JSON, JSONL or parquet file, or mappings. split: of a DatasetDict. Raises
    InputError, which names the row, and FormatError for a file.
    """
    rows = _list_of(choose_split(name, given, split))
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            found = type(row).__name__
            raise InputError(name, f"row {place}: expected a mapping, found {found}")
    return rows


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, or the NaN that pandas uses for it."""
    return value is None or (isinstance(value, float) and value != value)


def _list_of(given: Any) -> list[Any]:
    if is_file(given):
        return _rows_of_file(given)
    if hasattr(given, "with_format"):
        # Plain Python objects: tensors and arrays of other formats are not valid ids.
        return list(given.with_format(None))
    if hasattr(given, "to_pylist"):
        return list(given.to_pylist())
    if hasattr(given, "to_dicts"):
        return list(given.to_dicts())
    if hasattr(given, "iterrows"):
        return list(given.to_dict("records"))
    return list(given)


def json_of(content: bytes, name: str) -> Any:
    """The content of a JSON file. Raises FormatError and InputError."""
    import json

    try:
        return json.loads(content.removeprefix(BYTE_ORDER_MARK))
    except json.JSONDecodeError as error:
        raise FormatError(name, error.lineno, why_not_json(error)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(name, f"cannot be read as JSON: {error}") from None


def _rows_of_file(source: Any) -> list[Any]:
    file, head = sniff.head_of(source)
    if sniff.is_parquet(head):
        from fastrank.core.formats.tables.parquet import read_parquet

        with file:
            records: list[Any] = read_parquet(file.read(), file.name).to_pylist()
            return records
    if head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] == b"[":
        with file:
            rows = json_of(file.read(), file.name)
        return list(rows)
    with file:
        return [record for _, record in objects_of(lines_of(file, file.name, "utf-8"), file.name)]
