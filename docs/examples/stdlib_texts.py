"""Texts for the examples: docstrings of functions and classes of Python's standard library."""

import importlib
import inspect
from typing import NamedTuple

from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

MODULES = (
    "argparse ast asyncio bisect calendar collections concurrent.futures csv datetime decimal"
    " difflib email.message fractions functools gzip heapq http.client inspect itertools json"
    " logging os pathlib pickle queue random re shutil socket statistics string subprocess"
    " tarfile tempfile textwrap threading types unittest urllib.parse weakref zipfile"
)


class Entry(NamedTuple):
    """A function or class: its name, and the first and all other paragraphs of its docstring."""

    name: str
    summary: str
    paragraphs: list[str]


def entries() -> list[Entry]:
    """The documented functions and classes of these modules, each summary once."""
    found: dict[str, Entry] = {}
    for module in MODULES.split():
        for name, thing in sorted(vars(importlib.import_module(module)).items()):
            if (inspect.isroutine(thing) or inspect.isclass(thing)) and name[0] != "_":
                first, *rest = (inspect.getdoc(thing) or "").split("\n\n")
                summary, *paragraphs = (" ".join(part.split()) for part in (first, *rest))
                if summary:
                    entry = Entry(f"{module}.{name}", summary, list(filter(None, paragraphs)))
                    found.setdefault(summary, entry)
    return list(found.values())


def encoder(texts: list[str], dimension: int = 64):
    """A model that needs no download: latent semantic analysis, fitted to the texts."""
    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True), TruncatedSVD(dimension, random_state=0)
    )
    model.fit(texts)
    return lambda batch: model.transform(batch).astype("float32")
