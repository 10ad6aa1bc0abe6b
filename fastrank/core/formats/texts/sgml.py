"""TREC documents and topics: SGML without a DTD, topics often without end tags."""

from __future__ import annotations

import html
import re

from fastrank.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_START = re.compile(r"<(DOC|TOP|TOPIC)(\s[^<>]*)?>", re.IGNORECASE)
_ENDS = {kind: re.compile(rf"</{kind}\s*>", re.IGNORECASE) for kind in ("doc", "top", "topic")}
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)[^<>]*>|<[!?][^<>]*>")
_REFERENCE = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z]\w*);")
_NUMBER = re.compile(r"""\b(?:number|id)\s*=\s*["']?\s*([^"'\s>]+)""", re.IGNORECASE)
# Labels before the text of topics: `<num> Number: 301`.
_LABELS = {"num": "Number:", "title": "Topic:", "desc": "Description:", "narr": "Narrative:"}
_IDS = {"doc": ("docno",), "top": ("num",), "topic": ("num", "number")}
_NO_TEXT = {"docno", "docid", "docoldno", "dochdr", "num", "number"}
# The short form of a topic, in the order of preference.
_SHORT = (("title",), ("query",))


def records_of(
    lines: Iterable[tuple[int, str]], name: str, fields: Sequence[str] | None
) -> Iterator[tuple[int, str, str]]:
    """The line, id and text of each document or topic. Raises FormatError."""
    for line, kind, attributes, body in _elements(lines, name):
        parts = _parts(body, nested=kind == "doc")
        wanted = [field.lower() for field in fields] if fields is not None else None
        own_id = _id_of(kind, attributes, parts)
        if not own_id:
            expected = f"<{_IDS[kind][0].upper() if kind == 'doc' else _IDS[kind][0]}>"
            raise FormatError(name, line, f"expected {expected} with an id in <{kind}>, found none")
        yield line, own_id, _text_of(kind, parts, wanted)


def _elements(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, str, str, str]]:
    """First line, kind (`doc`, `top`, `topic`), attributes and content of each element."""
    kind, attributes, first = "", "", 0
    parts: list[str] = []
    for number, line in lines:
        at = 0
        while True:
            if not kind:
                start = _START.search(line, at)
                between = line[at : start.start()] if start else line[at:]
                if _TAG.sub("", between).strip():
                    found = between.strip()
                    raise FormatError(name, number, f"expected <DOC> or <top>, found {found!r:.60}")
                if not start:
                    break
                kind, attributes = start[1].lower(), start[2] or ""
                first, at = number, start.end()
            end = _ENDS[kind].search(line, at)
            parts.append(line[at : end.start()] if end else line[at:])
            if not end:
                break
            yield first, kind, attributes, "\n".join(parts)
            kind, parts, at = "", [], end.end()
    if kind:
        raise FormatError(name, first, f"<{kind}> is not closed")


def _parts(body: str, *, nested: bool) -> list[tuple[tuple[str, ...], str]]:
    """The texts between tags, each with the names of its elements.

    Not nested: a tag ends the element before it, as in topics, whose elements have no end tags.
    """
    parts: list[tuple[tuple[str, ...], str]] = []
    within: list[str] = []
    at = 0
    for tag in _TAG.finditer(body):
        parts.append((tuple(within), body[at : tag.start()]))
        at = tag.end()
        if tag[2] is None:
            continue
        element = tag[2].lower()
        if not nested:
            within = [] if tag[1] else [element]
        elif not tag[1]:
            within.append(element)
        elif element in within:
            # Unclosed elements inside it, such as <P>, end here.
            while within.pop() != element:
                pass
    parts.append((tuple(within), body[at:]))
    return parts


def _id_of(kind: str, attributes: str, parts: list[tuple[tuple[str, ...], str]]) -> str:
    for element in _IDS[kind]:
        for within, text in parts:
            if element in within and text.strip():
                return _unlabelled(element, text)
    number = _NUMBER.search(attributes)
    return number[1] if number else ""


def _text_of(
    kind: str, parts: list[tuple[tuple[str, ...], str]], wanted: Sequence[str] | None
) -> str:
    if wanted is None and kind != "doc":
        present = {element for within, _ in parts for element in within}
        wanted = next((names for names in _SHORT if present & set(names)), None)
    texts = [
        _unlabelled(within[-1] if within else "", text) if kind != "doc" else text
        for within, text in parts
        if not _NO_TEXT & set(within) and (wanted is None or set(wanted) & set(within))
    ]
    whole = " ".join(text for text in texts if text.strip())
    return _REFERENCE.sub(lambda found: html.unescape(found[0]), whole)


def _unlabelled(element: str, text: str) -> str:
    return text.strip().removeprefix(_LABELS.get(element, "")).strip()
