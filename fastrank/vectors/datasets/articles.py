"""Data sets of articles labelled with similar articles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fastrank.common.arguments import check_choice
from fastrank.common.faces import column_option
from fastrank.core.data.texts import decoded
from fastrank.core.formats.tables.forms import is_missing
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.roles import check_roles, find_columns, names_of
from fastrank.core.formats.tables.values import encoded_id
from fastrank.errors import InputError
from fastrank.vectors.datasets.assembly import assemble, check_texts, ids_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from fastrank.core.formats.tables.table import Table
    from fastrank.vectors.datasets.dataset import Dataset

UNKNOWN = ("error", "keep", "drop")
# A usual name of similar articles that may have something else.
CLASS = "label"
TEXTS = ("text", "embedding")
ROLES = ("id", *TEXTS, "similar")


def from_articles(
    source: Any, columns: Mapping[str, str] | None, unknown: str, split: str | None, name: str
) -> Dataset:
    """See Dataset.from_articles."""
    import numpy

    check_roles(columns, ROLES, name)
    check_choice("unknown", unknown, UNKNOWN)
    table = table_of(source, None, columns, split=split, ragged=True, source=name)
    # Other programs have internal numbers in `_id`.
    chosen = {**({"id": "id"} if "id" in table.names else {}), **(columns or {})}
    indexes = find_columns(table.names, ROLES, chosen, name, needed=("id",))
    names = {role: table.names[index] for role, index in indexes.items()}
    cells = {role: list(table.values(column)) for role, column in names.items()}
    ids = ids_of(name, cells["id"])
    texts, vectors = _texts_or_vectors(cells, names, ids, name)
    similar = _similar(table, columns or {}, name)
    qrels = _judgments(similar, ids, names["id"], unknown, name)
    rows = [row for row, article_id in enumerate(ids) if article_id in qrels]
    if not rows:
        expected = " or ".join(map(repr, similar.names))
        raise InputError(name, f"expected articles with ids in {expected}, found none")
    return assemble(
        name,
        ids,
        texts,
        [ids[row] for row in rows],
        [texts[row] for row in rows] if texts else [],
        qrels,
        ignore_identical_ids=True,
        query_rows=numpy.array(rows, "int64"),
        vectors=vectors,
    )


def _texts_or_vectors(
    cells: Mapping[str, list[Any]], names: Mapping[str, str], ids: list[str], name: str
) -> tuple[list[str], Any]:
    """Texts, and embeddings as float32[articles, dimension] or None; at least one of the two."""
    from fastrank.vectors.searching.model_output import as_vectors

    present = {}
    for role in TEXTS:
        missing = [is_missing(cell) for cell in cells.get(role, ())]
        present[role] = not all(missing)
        if present[role] and any(missing):
            article_id = ids[missing.index(True)]
            reason = f"article {article_id!r:.60} has no {names[role]!r}, unlike others"
            raise InputError(name, reason)
    texts: list[str] = cells["text"] if present["text"] else []
    check_texts(name, ids, texts)
    if present["embedding"]:
        return texts, as_vectors(cells["embedding"], name, ids)
    if not texts:
        expected = " or ".join(repr(names.get(role, role)) for role in TEXTS)
        raise InputError(name, f"expected articles with {expected}, found neither")
    return texts, None


class _Similar(NamedTuple):
    """The similar articles of each article, and the names that their column may have."""

    name: str
    names: tuple[str, ...]
    labels: list[Any]


def _similar(table: Table, columns: Mapping[str, str], name: str) -> _Similar:
    """The column of similar articles: of those with a usual name, the one that has values."""
    usual = (columns["similar"],) if "similar" in columns else names_of("similar")
    lists = {label: list(table.values(label)) for label in usual if label in table.names}
    filled = [label for label, cells in lists.items() if not all(map(is_missing, cells))]
    # An article with similar ones may also have a class, which is its `label`.
    several = [label for label in filled if label != CLASS]
    if len(several) > 1:
        reason = f"more than one field of similar articles: {' and '.join(map(repr, several))}"
        raise InputError(name, f"{reason}; {column_option('similar')}")
    label = (several or filled or [usual[0]])[0]
    return _Similar(label, usual, lists.get(label, [None] * table.size))


def _judgments(
    similar: _Similar, ids: list[str], id_name: str, unknown: str, name: str
) -> dict[str, dict[str, int]]:
    """{article: {similar article: 1}} of the labelled articles."""
    corpus_ids = set(ids)
    qrels: dict[str, dict[str, int]] = {}
    for article_id, label in zip(ids, similar.labels, strict=True):
        if is_missing(label):
            continue

        def fail(reason: str, article_id: str = article_id) -> NoReturn:
            raise InputError(name, f"article {article_id!r:.60}: {similar.name!r}: {reason}")

        docs = [decoded(encoded_id(doc_id, fail)) for doc_id in _label_ids(label, id_name, fail)]
        for doc_id in docs:
            if doc_id not in corpus_ids and unknown == "error":
                fail(
                    f"no article has the id {doc_id!r:.60};"
                    " use unknown='keep' or 'drop' to allow it"
                )
        # An article is not a result of itself.
        grades = {
            doc_id: 1
            for doc_id in docs
            if doc_id != article_id and (doc_id in corpus_ids or unknown == "keep")
        }
        if grades:
            qrels[article_id] = grades
    return qrels


def _label_ids(label: Any, id_name: str, fail: Callable[[str], NoReturn]) -> list[Any]:
    """The ids in a label, which is a list of ids or articles."""
    if isinstance(label, Mapping) and id_name in label:
        # Hugging Face stores a sequence of objects as a dict of lists.
        label = label[id_name]
    if isinstance(label, (str, bytes, Mapping)) or not hasattr(label, "__iter__"):
        fail(f"expected a list of ids or of articles, found {label!r:.60}")
    ids = []
    for item in label:
        if isinstance(item, Mapping) and id_name not in item:
            fail(f"expected an article with {id_name!r}, found {', '.join(map(str, item))}")
        ids.append(item[id_name] if isinstance(item, Mapping) else item)
    return ids
