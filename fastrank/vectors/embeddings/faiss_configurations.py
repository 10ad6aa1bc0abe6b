"""The indexes to compare, to build or built, each with search settings."""

from __future__ import annotations

import os

import numpy

from fastrank.core.data.columns import Frozen
from fastrank.errors import ArrayError, OptionError
from fastrank.vectors.searching.faiss_api import (
    Setting,
    load_faiss,
    parse_parameters,
    training_vectors_needed,
)
from fastrank.vectors.searching.indexing import Index, as_index, make_index
from fastrank.vectors.searching.storage import describe_index, read_index
from fastrank.vectors.searching.vectors import check_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.common.choices import Metric
    from fastrank.vectors.searching.row_ids import RowIds
    from fastrank.vectors.searching.vectors import Vectors


EXPECTED = "expected a factory string, a file, or (name, index)"
# How many vectors at either end of an index are compared with the corpus; the largest squared
# error, as a share of the squares, of vectors that are stored as they are; and the least
# correlation of those with a lossy code.
SAMPLE, EXACT_ERROR, LOSSY_CORRELATION = 50, 1e-4, 0.1


class Configuration(Frozen):
    """An index, and the settings to search it with; a setting may be empty.

    name: its factory string, its file, or how it is called. built: the index, None to build it.
    """

    name: str
    settings: list[str]
    built: Index | None


def parse_configurations(indexes: Any) -> list[tuple[str, list[str], Any]]:
    """Name, settings and source of each configuration; the source is a path, an index, or None.

    indexes: strings such as "IVF64,Flat nprobe=1 nprobe=8", (name, index), one of these, or
    {name: index}. Raises OptionError.
    """
    if isinstance(indexes, dict):
        indexes = list(indexes.items())
    items = [indexes] if isinstance(indexes, (str, tuple)) else list(indexes)
    configurations: dict[str, tuple[list[str], object]] = {}
    for item in items:
        text, source = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        if not isinstance(text, str):
            kind = type(text).__name__
            raise OptionError("indexes", f"{EXPECTED}, found {kind}")
        name, settings = text.strip(), list[str]()
        if not name:
            raise OptionError("indexes", f"{EXPECTED}, found {text!r}")
        # Names and paths may have blanks.
        while len(words := name.rsplit(None, 1)) == 2 and "=" in words[1]:
            name, setting = words
            settings.insert(0, setting)
        if source is None and ("." in name or "/" in name):
            source = name
        elif source is None:
            name, *more = name.split()
            settings = more + settings
        name_settings, _ = configurations.setdefault(name, ([], source))
        for setting in settings or [""]:
            if setting in name_settings:
                raise OptionError("indexes", f"duplicate index {f'{name} {setting}'.strip()!r}")
            name_settings.append(setting)
    if not configurations:
        raise OptionError("indexes", "expected at least one index, found none")
    return [(name, *rest) for name, rest in configurations.items()]


def metric_of(source: object) -> Metric | None:
    """The metric of an index that is built: a path, an Index or a faiss index."""
    if isinstance(source, (str, os.PathLike)):
        return check_metric(describe_index(os.fspath(source)).metric)
    try:
        index = as_index("indexes", source, None)
    except ArrayError:
        return None
    return check_metric(index.metric) if isinstance(index, Index) else None


def built_index(name: str, source: object, metric: str, vectors: Vectors, names: RowIds) -> Index:
    """The index of a configuration, with the ids of the corpus.

    source: a path, an Index or a faiss index. Raises OptionError for an index of other vectors than
    those of the corpus, as far as can be seen, and what `read_index` raises.
    """
    candidate = read_index(source) if isinstance(source, (str, os.PathLike)) else source
    try:
        index = as_index("indexes", candidate, metric)
    except ArrayError as error:
        raise OptionError("indexes", f"{name!r}: {error}") from None
    if not isinstance(index, Index):
        raise OptionError("indexes", f"{name!r}: {EXPECTED}, found {type(candidate).__name__}")
    if index.metric == "ip" and metric == "cosine":
        index = index.of_unit_vectors()
    for attribute, value, expected in (
        ("metric", index.metric, metric),
        ("dimension", index.dimension, vectors.dimension),
        ("number of vectors", len(index), vectors.count),
    ):
        if value != expected:
            reason = f"the {attribute} is {value}, and {expected} of the comparison and its corpus"
            raise OptionError("indexes", f"{name!r}: {reason}")
    if index.names.count is None:
        raise OptionError("indexes", f"{name!r}: expected row numbers as ids of the vectors")
    _check_vectors(name, index, vectors)
    if index.ids is None:
        return index if names.texts is None else index.with_ids("corpus_ids", names.texts)
    if names.texts is None or list(index.ids) != list(names.texts):
        reason = "the ids of its vectors are not the corpus_ids, in this order"
        raise OptionError("indexes", f"{name!r}: {reason}")
    return index


def _check_vectors(name: str, index: Index, vectors: Vectors) -> None:
    """Raise OptionError if the first and last vectors of an index are not those of the corpus.

    Nothing is checked if faiss cannot reconstruct vectors.
    """
    faiss, count = load_faiss(), len(index)
    size = min(SAMPLE, count)
    parts, expected = [], []
    try:
        for first in (0, count - size):
            parts.append(index.faiss.reconstruct_n(first, size))
            rows = numpy.arange(first, first + size)
            blocks = vectors.blocks(size, unit=index.metric == "cosine", selected=rows)
            expected += [block.astype(numpy.float64) for _, block in blocks]
    except RuntimeError:
        return
    stored, originals = numpy.concatenate(parts).astype(numpy.float64), numpy.concatenate(expected)
    # A graph keeps its vectors in another index.
    keeper = faiss.downcast_index(getattr(index.faiss, "storage", index.faiss))
    if isinstance(keeper, (faiss.IndexFlat, faiss.IndexIVFFlat)):
        are_others = ((stored - originals) ** 2).sum() > EXACT_ERROR * (originals**2).sum()
    else:
        stored, originals = stored - stored.mean(axis=0), originals - originals.mean(axis=0)
        most = numpy.sqrt((stored**2).sum() * (originals**2).sum())
        are_others = (stored * originals).sum() < LOSSY_CORRELATION * most
    if are_others:
        reason = "its vectors are not those of the corpus, in this order"
        unit = ", with length 1" if index.metric == "cosine" else ""
        raise OptionError("indexes", f"{name!r}: {reason}{unit}")


def check_configuration(
    configuration: Configuration, dimension: int, metric: str, trained_with: int
) -> None:
    """Raise OptionError for indexes that faiss cannot build, train or search, without vectors."""
    if configuration.built is None:
        index = make_index(configuration.name, dimension, metric)
    else:
        index = configuration.built.faiss
    needed = training_vectors_needed(index)
    if trained_with < needed:
        raise OptionError(
            "indexes",
            f"{configuration.name!r} needs at least {needed} training vectors,"
            f" found {trained_with}",
        )
    for setting in configuration.settings:
        try:
            with Setting(index, parse_parameters(setting)):
                pass
        except OptionError as error:
            name = f"{configuration.name} {setting}"
            raise OptionError("indexes", f"{name!r}: {error.reason}") from None
