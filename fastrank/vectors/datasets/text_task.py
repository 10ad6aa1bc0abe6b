"""Texts with labels, from lists or tables: the input of tasks that compare or classify texts."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Set
from typing import NamedTuple

from fastrank.common.faces import column_option
from fastrank.common.messages import counted, visible
from fastrank.core.data.columns import Frozen
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.tables.forms import is_missing
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.roles import (
    INDEX_NAMES,
    check_roles,
    find_columns,
    names_of,
    normalized_name,
)
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.formats.tables.table import Table


# The roles of the columns, by the words that `columns=` takes for them.
ROLES = {"text_a": "text_a", "text_b": "text_b", "text_c": "text_c", "label": "target"}
# The label of SNLI and MultiNLI, and what it is if the annotators do not agree.
GOLD, NO_CONSENSUS = "gold_label", "-"
# The texts of both on the Hugging Face Hub, where the label of these rows is -1.
NLI_TEXTS, NO_LABEL = {"premise", "hypothesis"}, (-1, "-1")


class Columns(NamedTuple):
    """The columns by role, the number of rows left out, and the names of the other columns."""

    by_role: dict[str, list[Any]]
    left_out: int
    unused: tuple[Name, ...]


def columns_of(
    source: Any, columns: Mapping[str, Name] | None, split: str | None, name: str
) -> Columns:
    """The columns; see `TextTask.from_table`."""
    check_roles(columns, ROLES, name)
    # Quotes are ordinary characters in TSV, as in STS and SICK.
    table = table_of(source, None, columns, split=split, quoted=False, ragged=True, source=name)
    names = _roles(table, columns)
    if not table.size:
        raise InputError(name, "expected rows, found none")
    by_role = {role: list(table.values(column)) for role, column in names.items()}
    rows, unlabelled = list(range(table.size)), _unlabelled(names)
    if unlabelled:
        rows = [row for row in rows if by_role["label"][row] not in unlabelled]
        if not rows:
            reason = f"expected rows with a label, found only {by_role['label'][0]!r}"
            raise InputError(name, reason)
        by_role = {role: [cells[row] for row in rows] for role, cells in by_role.items()}
    if table.has_cells and "label" in by_role:
        labels = by_role["label"] = _typed(by_role["label"])
        if None in labels:
            table.refuse(rows[labels.index(None)], "the label is missing")
    unused = tuple(column for column in table.names if column not in names.values())
    return Columns(by_role, table.size - len(rows), unused)


def _roles(table: Table, columns: Mapping[str, Name] | None) -> dict[str, Name]:
    """The column of each role: named, by its usual name, or by its place."""
    listed = ", ".join(map(repr, table.names))
    if table.has_cells:
        usual = {name for key in ROLES.values() for name in names_of(key)}
        is_known = not usual.isdisjoint(map(normalized_name, table.names))
        if len(set(table.names)) < len(table.names):
            raise FormatError(table.source, 1, f"expected distinct names, found {listed:.100}")
        if not (columns or is_known or normalized_name(table.names[0]) in INDEX_NAMES):
            raise FormatError(
                table.source,
                1,
                f"no column of texts: expected a header, found {listed:.100}; add one, or"
                f" {column_option('text_a')} if these are the names of the columns",
            )
    indexes = find_columns(table.names, ROLES, columns, table.source, needed=())
    if "text_a" in indexes:
        return {role: table.names[indexes[role]] for role in ROLES if role in indexes}
    others = table.names[normalized_name(table.names[0]) in INDEX_NAMES :]
    if not columns and 2 <= len(others) <= len(ROLES):
        return dict(zip([*list(ROLES)[: len(others) - 1], "label"], others, strict=True))
    reason = f"no column of texts: found {listed}; or {column_option('text_a')}"
    raise InputError(table.source, reason)


def _unlabelled(columns: Mapping[str, Name]) -> tuple[Any, ...]:
    """The labels of rows whose annotators did not agree."""
    names = {role: normalized_name(column) for role, column in columns.items()}
    if names.get("label") == GOLD:
        return (NO_CONSENSUS,)
    texts = {name for role, name in names.items() if role != "label"}
    return NO_LABEL if "label" in names and texts == NLI_TEXTS else ()


def _typed(labels: list[str]) -> list[Any]:
    """Labels of a CSV file: integers or floats if all are, and None for empty cells."""
    cells = [label.strip() or None for label in labels]
    # Python's own readers accept 1_0; and 01 is another label than 1.
    if any(cell is not None and re.search(r"_|^[+-]?0\d", cell) for cell in cells):
        return list(cells)
    for kind in (int, float):
        try:
            return [None if cell is None else kind(cell) for cell in cells]
        except ValueError:
            continue
    return list(cells)


TEXTS = ("text_a", "text_b", "text_c")


class TextTask(Frozen):
    """Rows of one, two or three texts, each with a label if the task has labels.

    name: for messages and tables. texts: a tuple of one to three lists of str of equal length;
    text i of each list is in row i. labels: a list with a label per row, or None. left_out: how
    many rows of the table have no label because their annotators did not agree (SNLI). unused: the
    names of the other columns of the table.

    >>> task = fr.TextTask.from_texts(["good film", "bad film"], labels=["pos", "neg"])
    >>> len(task), task.texts[0][1], task.labels
    (2, 'bad film', ['pos', 'neg'])
    """

    name: str
    texts: tuple[list[str], ...]
    labels: list[Any] | None
    left_out: int = 0
    unused: tuple[Any, ...] = ()

    @classmethod
    def from_texts(
        cls, *texts: Iterable[str], labels: Iterable[Any] | None = None, name: str = "texts"
    ) -> TextTask:
        """A task from one to three lists of texts, and a list or array of labels.

        Raises InputError for lists of different lengths, texts that are not str, and missing
        labels.

        >>> fr.TextTask.from_texts(["a man eats"], ["someone eats"], labels=[4.2])
        <TextTask texts: 1 row of 2 texts, with labels>
        """
        if not 1 <= len(texts) <= len(TEXTS):
            raise TypeError(f"expected one to three lists of texts, found {len(texts)}")
        columns: list[list[Any]] = []
        for role, values in zip(TEXTS, texts, strict=False):
            _check_list(name, role, "texts", values)
            columns.append(list(values))
            for row, text in enumerate(columns[-1]):
                if not isinstance(text, str):
                    description = f"{type(text).__name__}: {text!r:.60}"
                    raise InputError(
                        name, f"row {row}, {role}: expected a str, found {description}"
                    )
        roles = list(zip(TEXTS, columns, strict=False))
        found_labels = None
        if labels is not None:
            _check_list(name, "labels", "labels", labels)
            found_labels = plain_labels(labels)
            roles.append(("labels", found_labels))
            check_labels(name, found_labels)
        if len({len(column) for _, column in roles}) > 1:
            lengths = ", ".join(f"{len(column)} in {role}" for role, column in roles)
            raise InputError(name, f"expected columns of equal length, found {lengths}")
        return cls(name=name, texts=tuple(columns), labels=found_labels)

    @classmethod
    def from_table(
        cls,
        source: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        split: str | None = None,
        name: str | None = None,
    ) -> TextTask:
        """A task from a table with one row per text, pair or triplet.

        source: a CSV, TSV, JSON, JSONL, parquet or Arrow file, compressed or not, or a folder of
            `save_to_disk`; a pandas or polars frame, an Arrow table, a Hugging Face Dataset or
            DatasetDict, dicts, or a dict of columns. CSV and TSV files need a header.
        columns: the names of the columns by role, `text_a`, `text_b`, `text_c` and `label`. By
            default columns with usual names are found (text, sentence1, premise, label, score,
            gold_label, ...). If no text has one, the last column is the label and the others are
            texts, without a leading column of row numbers; a CSV or TSV file without that column
            must have a usual name.
        split: of a DatasetDict with several.
        name: by default the name of the file without its suffix.

        Rows of SNLI and MultiNLI whose `gold_label` is "-", no consensus, are left out and counted
        in `left_out`; so are those with the label -1 if the texts are `premise` and `hypothesis`,
        as on the Hugging Face Hub. Labels in CSV and TSV are integers or floats if all of them are.
        Raises ReadError, FormatError and InputError, which name the row or line.

        >>> import io
        >>> file = io.BytesIO(b"text,label\\ngood film,1\\nbad film,0\\n")
        >>> fr.TextTask.from_table(file, name="films").labels
        [1, 0]
        """
        label = name or _name_of(source)
        table = columns_of(source, columns, split, label)
        texts = [table.by_role[role] for role in TEXTS if role in table.by_role]
        task = cls.from_texts(*texts, labels=table.by_role.get("label"), name=label)
        return task.changed(left_out=table.left_out, unused=table.unused)

    def __len__(self) -> int:
        return len(self.texts[0])

    def __repr__(self) -> str:
        rows, texts = counted(len(self), "row"), counted(len(self.texts), "text")
        labels = "" if self.labels is None else ", with labels"
        left_out = f", {counted(self.left_out, 'row')} without consensus left out"
        more = labels + left_out * bool(self.left_out)
        return f"<TextTask {visible(self.name)}: {rows} of {texts}{more}>"


def labels_of(task: TextTask, name: str | None = None) -> list[Any]:
    """The labels. Raises InputError, which names the columns that could be meant."""
    if task.labels is None:
        expected = "expected a task with labels, found none"
        if task.unused:
            others = ", ".join(map(repr, task.unused))
            how = "TextTask.from_table(..., columns={'label': NAME})"
            expected += f"; if one of the columns {others:.200} has them, use {how}"
        raise InputError(name or task.name, expected)
    return task.labels


def as_text_task(source: Any, *, labels: bool = True) -> TextTask:
    """A TextTask, or one made from a table, a file, or a tuple of columns.

    labels: whether the last column of a tuple has the labels.
    """
    if isinstance(source, TextTask):
        return source
    if isinstance(source, tuple) and 2 <= len(source) <= len(TEXTS) + labels:
        texts = source[:-1] if labels else source
        return TextTask.from_texts(*texts, labels=source[-1] if labels else None)
    rows = list(source[:1]) if isinstance(source, (list, tuple)) else []
    is_array = hasattr(source, "dtype") and not hasattr(source, "columns")
    if source is None or is_array or (rows and not isinstance(rows[0], Mapping)):
        kind = type(source).__name__ + (f" of {type(rows[0]).__name__}" if rows else "")
        expected = "expected a TextTask, a file, a frame, a list of dicts, or a tuple of columns"
        raise TypeError(f"task: {expected}, found {kind}")
    return TextTask.from_table(source)


def _check_list(name: str, role: str, content: str, values: object) -> None:
    """Raise InputError for what is not a list, or has no order."""
    # The keys of a dict are in order, but are not labels.
    is_wrong = isinstance(values, (str, bytes, Set)) or (
        content == "labels" and isinstance(values, Mapping)
    )
    if is_wrong or not hasattr(values, "__iter__"):
        kind = type(values).__name__
        raise InputError(name, f"{role}: expected a list of {content}, found {kind}")


def check_labels(name: str, labels: Iterable[Any]) -> None:
    """Raise InputError for the first row without a label."""
    for row, label in enumerate(labels):
        if is_missing(label):
            raise InputError(name, f"row {row}: the label is missing")


def plain_labels(labels: Any) -> list[Any]:
    """Labels of a list, an array or a Series as Python objects."""
    values = labels.tolist() if hasattr(labels, "tolist") else labels
    return [label.item() if hasattr(label, "dtype") else label for label in values]


def _name_of(source: object) -> str:
    path = source if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    if path is None or isinstance(path, int):
        return "texts"
    return os.path.basename(name_of(path)).partition(".")[0]
