"""Data sets from folders in BEIR's layout."""

from __future__ import annotations

import os

from fastrank.datasets.assembly import assemble
from fastrank.datasets.text_files import read_texts
from fastrank.errors import ReadError
from fastrank.formats.files import exists
from fastrank.formats.load import read_qrels
from fastrank.formats.sniff import COMPRESSED
from fastrank.formats.source import is_url, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.datasets.dataset import Dataset


def from_beir(folder: str | os.PathLike[str], split: str, ignore_identical_ids: bool) -> Dataset:
    """See Dataset.from_beir."""
    corpus, queries = _file(folder, "corpus.jsonl"), _file(folder, "queries.jsonl")
    qrels = read_qrels(_split(_joined(os.fspath(folder), "qrels"), split))
    name = os.path.basename(os.path.abspath(name_of(folder)))
    asked = read_texts([queries], None, "utf-8", "query")
    documents = read_texts([corpus], None, "utf-8", "document")
    return assemble(name, *documents, *asked, qrels, ignore_identical_ids=ignore_identical_ids)


def _file(folder: str | os.PathLike[str], name: str) -> str:
    """The path of a file, which may be compressed. Raises ReadError."""
    path = _joined(os.fspath(folder), name)
    for ending in ("", *COMPRESSED):
        found = _joined(os.fspath(folder), name + ending)
        if exists(found):
            return found
    raise ReadError(name_of(path), "no such file or directory")


def _joined(folder: str, name: str) -> str:
    """The path or URL of a file in a folder."""
    if is_url(folder):
        from fastrank.formats.remote import with_suffix

        return with_suffix(folder, f"/{name}")
    return os.path.join(folder, name)


def _split(folder: str, split: str) -> str:
    try:
        return _file(folder, f"{split}.tsv")
    except ReadError as error:
        present = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        splits = [file_name.partition(".tsv")[0] for file_name in present if ".tsv" in file_name]
        if not splits:
            raise
        reason = f"{error.reason}; available splits: {', '.join(splits)}"
        raise ReadError(error.path, reason) from None
