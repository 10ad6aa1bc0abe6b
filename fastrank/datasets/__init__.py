"""Data sets of texts: a corpus, queries and judgments, from files, folders and objects."""

from __future__ import annotations

from fastrank.datasets.dataset import Dataset as Dataset
from fastrank.datasets.dataset import as_dataset as as_dataset
