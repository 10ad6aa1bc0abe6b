"""Judgments from the package ir_datasets."""

from __future__ import annotations

from fastrank.data.qrels import Qrels
from fastrank.errors import InputError, ReadError
from fastrank.formats.rows import qrels_of
from fastrank.formats.tables import Table
from fastrank.formats.tuples import table_of_tuples

PREFIX = "irds:"


def read_dataset(source: str) -> Qrels:
    """The judgments of a dataset, `irds:` and its id. Raises what `dataset_table` raises."""
    return qrels_of(dataset_table(source))


def dataset_table(source: str) -> Table:
    """The judgments of a dataset as they are.

    Raises ReadError for an unknown dataset or a failed download, InputError for one without
    judgments, and ImportError without ir_datasets.
    """
    try:
        import ir_datasets
    except ModuleNotFoundError as error:
        needed = "ir_datasets: pip install ir_datasets"
        raise ImportError(f"{source} needs {needed}", name="ir_datasets") from error
    try:
        dataset = ir_datasets.load(source.removeprefix(PREFIX))
    except KeyError:
        raise ReadError(source, "ir_datasets has no dataset with this id") from None
    if not dataset.has_qrels():
        raise InputError(source, "the dataset has no judgments")
    try:
        table = table_of_tuples(dataset.qrels_iter(), "qrels")
    except (OSError, RuntimeError) as error:
        raise ReadError(source, f"ir_datasets cannot provide it: {error}") from error
    if table is None:
        raise InputError(source, "the dataset has no judgments")
    table.source = source
    return table
