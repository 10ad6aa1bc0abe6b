"""Implementations of the `from_*` and `to_*` methods of Qrels and Run (see fastrank/lazy.py)."""

from __future__ import annotations

from fastrank.formats.arrays import table_of_arrays
from fastrank.formats.arrow import arrow_table
from fastrank.formats.arrow import to_arrow as to_arrow
from fastrank.formats.dicts import qrels_from_dict as qrels_from_dict
from fastrank.formats.dicts import query_to_dict as query_to_dict
from fastrank.formats.dicts import run_from_dict as run_from_dict
from fastrank.formats.dicts import to_dict as to_dict
from fastrank.formats.frames import PandasTable, PolarsTable
from fastrank.formats.frames import to_pandas as to_pandas
from fastrank.formats.frames import to_polars as to_polars
from fastrank.formats.rows import qrels_of, run_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run


def qrels_from_pandas(frame: Any, columns: Any) -> Qrels:
    """Judgments from a DataFrame of pandas."""
    return qrels_of(PandasTable(frame), columns)


def qrels_from_polars(frame: Any, columns: Any) -> Qrels:
    """Judgments from a DataFrame of polars."""
    return qrels_of(PolarsTable(frame), columns)


def qrels_from_arrow(table: Any, columns: Any) -> Qrels:
    """Judgments from an arrow table."""
    return qrels_of(arrow_table(table), columns)


def qrels_from_arrays(queries: Any, docs: Any, grades: Any, subtopics: Any = None) -> Qrels:
    """Judgments from three or four arrays or lists of one length."""
    more = {} if subtopics is None else {"iteration": subtopics}
    return qrels_of(table_of_arrays(query=queries, doc=docs, grade=grades, **more))


def run_from_pandas(frame: Any, columns: Any, **options: Any) -> Run:
    """A run from a DataFrame of pandas."""
    return run_of(PandasTable(frame), columns, **options)


def run_from_polars(frame: Any, columns: Any, **options: Any) -> Run:
    """A run from a DataFrame of polars."""
    return run_of(PolarsTable(frame), columns, **options)


def run_from_arrow(table: Any, columns: Any, **options: Any) -> Run:
    """A run from an arrow table."""
    return run_of(arrow_table(table), columns, **options)


def run_from_arrays(queries: Any, docs: Any, scores: Any, **options: Any) -> Run:
    """A run from three arrays or lists of one length."""
    return run_of(table_of_arrays(query=queries, doc=docs, score=scores), **options)
