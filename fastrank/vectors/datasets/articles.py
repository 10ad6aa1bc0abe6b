"""Data sets of articles labelled with similar articles."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.common.arguments import check_choice
from fastrank.core.data.texts import decoded
from fastrank.core.formats.tables.roles import check_roles
from fastrank.core.formats.tables.values import encoded_id
from fastrank.errors import InputError
from fastrank.vectors.datasets.assembly import assemble, check_texts, ids_of
from fastrank.vectors.datasets.text_tables import is_missing, rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from fastrank.vectors.datasets.dataset import Dataset

UNKNOWN = ("error", "keep", "drop")
# Default names of the field with similar articles.
SIMILAR = ("labels", "similar")
TEXTS = ("text", "embedding")
ROLES = ("id", *TEXTS, "similar")


def from_articles(
    source: Any, columns: Mapping[str, str] | None, unknown: str, split: str | None, name: str
) -> Dataset:
    """See Dataset.from_articles."""
    import numpy

    check_roles(columns, ROLES, name)
    check_choice("unknown", unknown, UNKNOWN)
    names = {role: (columns or {}).get(role, role) for role in ROLES}
    articles = rows_of(source, split, name)
    label_names = (names["similar"],) if "similar" in (columns or {}) else SIMILAR
    ids = ids_of(
        name, [_value(article, names["id"], i, name) for i, article in enumerate(articles)]
    )
    texts, vectors = _texts_or_vectors(articles, ids, names, name)
    key = _label_name(articles, label_names, name)
    qrels = _judgments(articles, ids, key, names["id"], unknown, name)
    rows = [row for row, article_id in enumerate(ids) if article_id in qrels]
    if not rows:
        expected = " or ".join(map(repr, label_names))
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


def _value(article: Mapping[str, Any], key: str, row: int, name: str) -> Any:
    if key not in article:
        names = ", ".join(map(str, article)) or "nothing"
        raise InputError(name, f"article {row}: expected {key!r}, found {names}")
    return article[key]


def _texts_or_vectors(
    articles: list[Mapping[str, Any]], ids: list[str], names: Mapping[str, str], name: str
) -> tuple[list[str], Any]:
    """Texts, and embeddings as float32[articles, dimension] or None; at least one of the two."""
    from fastrank.vectors.searching.model_output import as_vectors

    texts: list[str] = []
    has = {key: [not is_missing(article.get(names[key])) for article in articles] for key in TEXTS}
    for key in TEXTS:
        if any(has[key]) and not all(has[key]):
            article_id = ids[has[key].index(False)]
            raise InputError(
                name, f"article {article_id!r:.60} has no {names[key]!r}, unlike others"
            )
    if any(has["text"]):
        texts = [article[names["text"]] for article in articles]
        check_texts(name, ids, texts)
    if not any(has["embedding"]):
        if not texts and ids:
            expected = f"{names['text']!r} or {names['embedding']!r}"
            raise InputError(name, f"expected articles with {expected}, found neither")
        return texts, None
    return texts, as_vectors([article[names["embedding"]] for article in articles], name, ids)


def _label_name(articles: list[Mapping[str, Any]], names: tuple[str, ...], name: str) -> str:
    """The default name that the articles use for similar articles."""
    labels = [
        label for label in names if any(not is_missing(article.get(label)) for article in articles)
    ]
    if len(labels) > 1:
        several = " and ".join(map(repr, labels))
        reason = f"more than one field of similar articles: {several}"
        raise InputError(name, f"{reason}; set columns={{'similar': NAME}}")
    return labels[0] if labels else names[0]


def _judgments(
    articles: list[Mapping[str, Any]],
    ids: list[str],
    key: str,
    id_name: str,
    unknown: str,
    name: str,
) -> dict[str, dict[str, int]]:
    """{article: {similar article: 1}} of the labelled articles."""
    corpus_ids = set(ids)
    qrels: dict[str, dict[str, int]] = {}
    for article_id, article in zip(ids, articles, strict=True):
        label = article.get(key)
        if is_missing(label):
            continue

        def fail(reason: str, article_id: str = article_id) -> NoReturn:
            raise InputError(name, f"article {article_id!r:.60}: {key!r}: {reason}")

        similar = [decoded(encoded_id(doc_id, fail)) for doc_id in _label_ids(label, id_name, fail)]
        for doc_id in similar:
            if doc_id not in corpus_ids and unknown == "error":
                fail(
                    f"no article has the id {doc_id!r:.60};"
                    " use unknown='keep' or 'drop' to allow it"
                )
        # An article is not a result of itself.
        grades = {
            doc_id: 1
            for doc_id in similar
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
