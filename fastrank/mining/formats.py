"""Convert mined instances to the records of training programs."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from fastrank.datasets.answers import answers_of
from fastrank.datasets.lookup import joined, lookup
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from fastrank.datasets.lookup import Lookup
    from fastrank.formats.files import Source
    from fastrank.mining.instances import HardNegatives, Instance

FORMATS = ("dpr", "triplet", "n-tuple", "flagembedding")
# Suffixes of files with a JSON list instead of lines.
LISTS = (".json", ".json.gz", ".json.bz2", ".json.xz", ".json.zst")


def records(
    mined: HardNegatives,
    format: str,
    *,
    corpus: Any,
    queries: Any,
    answers: Mapping[Any, Iterable[str]] | None,
) -> Iterator[dict[str, Any]]:
    """The records of a format; see `HardNegatives.write`."""
    if format not in FORMATS:
        expected = ", ".join(map(repr, FORMATS))
        raise OptionError("format", f"expected one of {expected}, found {format!r}")
    if answers is not None and format != "dpr":
        raise OptionError("answers", f"expected format='dpr' with answers, found {format!r}")
    docs = None if corpus is None else lookup(corpus, "corpus")
    questions = None if queries is None else lookup(queries, "queries")
    if answers is None and format == "dpr":
        answers = getattr(queries, "answers", None)
    if format == "flagembedding":
        return _lists(mined, _text(docs), _text(questions))
    if format == "dpr":
        return _dpr(mined, docs, questions, {} if answers is None else answers_of(answers))
    return _pairs(mined, _text(docs), _text(questions), tuples=format == "n-tuple")


def _dpr(
    mined: HardNegatives,
    docs: Lookup | None,
    questions: Lookup | None,
    answers: Mapping[str, list[str]],
) -> Iterator[dict[str, Any]]:
    for instance in mined:
        asked = {} if questions is None else {"question": joined(questions(instance.query))}
        yield {
            **asked,
            "question_id": instance.query,
            "answers": answers.get(instance.query, []),
            "positive_ctxs": _contexts(instance.positives, instance.positive_scores, docs),
            "negative_ctxs": _contexts(
                instance.random_negatives, [None] * len(instance.random_negatives), docs
            ),
            "hard_negative_ctxs": _contexts(instance.negatives, instance.negative_scores, docs),
        }


def _contexts(
    ids: Iterable[str], scores: Iterable[float | None], docs: Lookup | None
) -> list[dict[str, Any]]:
    made = []
    for doc_id, score in zip(ids, scores, strict=True):
        context: dict[str, Any] = {}
        if docs is not None:
            context["title"], context["text"] = docs(doc_id)
        if score is not None:
            # JSON cannot represent infinity.
            context["score"] = score if isfinite(score) else None
        made.append({**context, "passage_id": doc_id})
    return made


def _text(find: Lookup | None) -> Callable[[str], str]:
    """The text of an id, or the id itself without texts."""
    return (lambda text_id: text_id) if find is None else lambda text_id: joined(find(text_id))


def _pairs(
    mined: HardNegatives, doc: Callable[[str], str], query: Callable[[str], str], *, tuples: bool
) -> Iterator[dict[str, Any]]:
    for instance in mined:
        negatives = [*instance.negatives, *instance.random_negatives]
        if not negatives or (tuples and len(negatives) < mined.number):
            continue
        anchor, texts = query(instance.query), [doc(negative) for negative in negatives]
        yield from _of_one(instance, anchor, texts, doc, tuples=tuples)


def _lists(
    mined: HardNegatives, doc: Callable[[str], str], query: Callable[[str], str]
) -> Iterator[dict[str, Any]]:
    for instance in mined:
        negatives = [*instance.negatives, *instance.random_negatives]
        yield {
            "query": query(instance.query),
            "pos": [doc(positive) for positive in instance.positives],
            "neg": [doc(negative) for negative in negatives],
        }


def _of_one(
    instance: Instance, anchor: str, texts: list[str], doc: Callable[[str], str], *, tuples: bool
) -> Iterator[dict[str, Any]]:
    for positive in map(doc, instance.positives):
        pair = {"anchor": anchor, "positive": positive}
        if tuples:
            yield {**pair, **{f"negative_{i}": text for i, text in enumerate(texts, 1)}}
        else:
            for text in texts:
                yield {**pair, "negative": text}


def write(path: Source, made: Iterable[dict[str, Any]]) -> int:
    """Write records as JSON lines, or a list for a name in .json; returns their number."""
    import json

    from fastrank.formats import files
    from fastrank.formats.compression import compressed

    name = files.name_of(path)
    as_list = name.lower().endswith(LISTS)
    count = 0

    def pieces() -> Iterator[bytes]:
        nonlocal count
        for record in made:
            before = "" if not as_list else ",\n" if count else "[\n"
            count += 1
            yield (before + json.dumps(record) + ("" if as_list else "\n")).encode()
        if as_list:
            yield b"\n]\n" if count else b"[]\n"

    files.write(path, compressed(pieces(), name))
    return count
