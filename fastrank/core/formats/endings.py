"""The suffixes of what is written, and the check that a path has none of another format."""

from __future__ import annotations

import os

from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.formats import FORMATS as FORMATS_OF_RUNS
from fastrank.core.formats.tables.sniff import COMPRESSED
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrank.core.formats.files.source import Source

# The formats of results by their suffixes.
SUFFIXES = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
}
# Suffixes of formats that only other commands or flags write, such as `--plot`, or none.
OTHER_SUFFIXES = frozenset(
    (".tsv", ".parquet", ".parq", ".pq", ".arrow", ".svg", ".png", ".pdf", ".xml", ".yaml", ".yml")
    + (".xls", ".xlsx", ".ods", ".doc", ".docx", ".odt", ".rtf", ".ppt", ".pptx", ".zip")
)
# The suffixes of files by kind, for kinds that have one form.
ENDINGS = {
    "page": (".html", ".htm"),
    "folder or page": (".html", ".htm"),
    "object": (".json",),
    "baseline": (".json", ".jsonl", ".ndjson"),
    "records": (".jsonl", ".ndjson", ".json"),
    "run": FORMATS_OF_RUNS["trec"].suffixes,
    "map": (".tsv", ".txt"),
    "index": (".faiss", ".index"),
}


def check_suffix(option: str, target: Source, kind: str) -> None:
    """Raise OptionError for a path with the suffix of another kind of file; kind: of ENDINGS."""
    if not isinstance(target, (str, os.PathLike)):
        return
    path = os.fspath(target)
    suffix, endings = suffix_of(path), ENDINGS[kind]
    if suffix in (*SUFFIXES, *OTHER_SUFFIXES) and suffix not in endings:
        raise foreign_suffix(option, path, named(endings))


def suffix_of(path: str) -> str:
    """The suffix of a file without that of compression, in lower case."""
    name = path.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[1]


def named(endings: Iterable[str]) -> str:
    """The advice to use one of these suffixes."""
    return f"use a name that ends in {', '.join(endings)}"


def foreign_suffix(option: str, path: str, remedy: str) -> OptionError:
    """The error of an output whose name is that of another format."""
    reason = f"cannot be written in the format of {suffix_of(path)} files"
    return OptionError(option, f"{name_of(path)} {reason}; {remedy}")
