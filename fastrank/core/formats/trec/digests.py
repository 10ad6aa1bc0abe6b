"""Digests of judgments, exclusions and run files, by which a change is detected."""

from __future__ import annotations

import os
from hashlib import sha256

from fastrank.core.formats.files.source import is_url, open_source
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.trec.writers import by_query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fastrank.core.formats.qrels import Preferences

PIECE = 1 << 20


def judgments_digest(judgments: Qrels | Preferences) -> str:
    """The SHA-256 of the judgments; it does not depend on file format and order of lines."""
    texts = [judgments.groups, judgments.docs]
    if isinstance(judgments, Qrels):
        numbers: list[float] = judgments.grades.tolist()
        if judgments.strata is not None:
            texts.append(judgments.strata)
    else:
        numbers = judgments.levels.tolist()
        if len(judgments.subgroups):
            texts.append(judgments.subgroups)
    shown = (b"%r" % float(number) for number in numbers)
    return _digest(zip(by_query(judgments), *texts, shown, strict=True))


def exclusions_digest(exclude: Mapping[object, Iterable[object]] | None) -> str | None:
    """The SHA-256 of the documents to exclude, None if there are none."""
    if not exclude:
        return None
    return _digest(
        (_bytes(query), _bytes(document))
        for query, documents in exclude.items()
        for document in documents
    )


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else os.fsencode(str(value))


def _digest(rows: Iterable[tuple[bytes, ...]]) -> str:
    digest = sha256()
    for line in sorted(map(b"\0".join, rows)):
        digest.update(line + b"\n")
    return digest.hexdigest()


def file_digest(run: object) -> str | None:
    """The SHA-256 of a file's bytes, as `sha256sum` prints it; None for what is not a file.

    run: a path or a URL, or anything else. Raises ReadError.
    """
    if not isinstance(run, (str, os.PathLike)):
        return None
    digest = sha256()
    if not is_url(os.fspath(run)):
        if not os.path.isfile(run):
            return None
        if not os.path.getsize(run):
            return digest.hexdigest()
    with open_source(run) as file:
        for piece in file.stored().pieces(PIECE):
            digest.update(piece)
        file.check_unchanged()
    return digest.hexdigest()
