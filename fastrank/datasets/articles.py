"""Data sets from articles that are labelled with the articles like them."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.arguments import check_choice
from fastrank.data.texts import decoded
from fastrank.datasets.assembly import assemble
from fastrank.datasets.in_memory import check_texts, ids_of
from fastrank.datasets.lines import lines_of
from fastrank.datasets.text_files import objects_of
from fastrank.errors import InputError
from fastrank.formats.ids import encoded_id
from fastrank.formats.inputs import is_file
from fastrank.formats.source import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from fastrank.datasets.dataset import Dataset

UNKNOWN = ("error", "keep", "drop")


def from_articles(given: Any, names: Mapping[str, str], unknown: str, name: str) -> Dataset:
    """See Dataset.from_articles."""
    import numpy

    check_choice("unknown", unknown, UNKNOWN)
    if is_file(given):
        source = name_of(given)
        articles: list[Any] = [
            record for _, record in objects_of(lines_of(given, source, "utf-8"), source)
        ]
    else:
        articles = list(given)
    ids = ids_of(
        name, [_value(article, names["id"], i, name) for i, article in enumerate(articles)]
    )
    texts, vectors = _texts_or_vectors(articles, ids, names, name)
    qrels = _judgments(articles, ids, names["similar"], unknown, name)
    rows = [row for row, article_id in enumerate(ids) if article_id in qrels]
    if not rows:
        raise InputError(name, f"no article is labelled: none has ids in {names['similar']!r}")
    return assemble(
        name,
        ids,
        texts,
        [ids[row] for row in rows],
        [texts[row] for row in rows] if texts else [],
        qrels,
        exclude_self=True,
        query_rows=numpy.array(rows, "int64"),
        vectors=vectors,
    )


def _value(article: Any, key: str, row: int, name: str) -> Any:
    if not isinstance(article, Mapping):
        found = type(article).__name__
        raise InputError(name, f"article {row}: expected a mapping with names, found {found}")
    if key not in article:
        found = ", ".join(map(str, article)) or "nothing"
        raise InputError(name, f"article {row}: expected {key!r}, found {found}")
    return article[key]


def _texts_or_vectors(
    articles: list[Any], ids: list[str], names: Mapping[str, str], name: str
) -> tuple[list[str], Any]:
    """Texts, and embeddings as float32[articles, dimension] or None; one or both are there."""
    import numpy

    from fastrank.search.model_output import as_vectors

    texts: list[str] = []
    has = {key: [article.get(names[key]) is not None for article in articles] for key in names}
    for key in ("text", "embedding"):
        if any(has[key]) and not all(has[key]):
            article_id = ids[has[key].index(False)]
            raise InputError(
                name, f"article {article_id!r:.60} has no {names[key]!r}, and others have"
            )
    if any(has["text"]):
        texts = [article[names["text"]] for article in articles]
        check_texts(name, ids, texts)
    if not any(has["embedding"]):
        if not texts and ids:
            expected = f"{names['text']!r} or {names['embedding']!r}"
            raise InputError(name, f"expected articles with {expected}, found neither")
        return texts, None
    rows = [numpy.asarray(article[names["embedding"]]) for article in articles]
    return texts, as_vectors(rows, name, ids)


def _judgments(
    articles: list[Any], ids: list[str], key: str, unknown: str, name: str
) -> dict[str, dict[str, int]]:
    """{article: {similar article: 1}} of the articles that are labelled."""
    known = set(ids)
    qrels: dict[str, dict[str, int]] = {}
    for article_id, article in zip(ids, articles, strict=True):
        given = article.get(key)
        if given is None:
            continue
        if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
            reason = (
                f"article {article_id!r:.60}: {key!r}: expected a list of ids, found {given!r:.60}"
            )
            raise InputError(name, reason)

        def fail(reason: str, article_id: str = article_id) -> NoReturn:
            raise InputError(name, f"article {article_id!r:.60}: {key!r}: {reason}")

        similar = [decoded(encoded_id(one, fail)) for one in given]
        for one in similar:
            if one not in known and unknown == "error":
                fail(f"no article has the id {one!r:.60}; unknown='keep' or 'drop' allows it")
        # An article is no result of itself.
        kept = {
            one: 1 for one in similar if one != article_id and (one in known or unknown == "keep")
        }
        if kept:
            qrels[article_id] = kept
    return qrels
