"""The command `fastrank probe`: train classifiers on embeddings and test them."""

from __future__ import annotations

import ast
import os
import sys
import warnings

from fastrank.cli.command import Command, UsageError
from fastrank.cli.output_formats import writers
from fastrank.datasets.text_task import TextTask
from fastrank.errors import OptionError
from fastrank.scores.records import json_text
from fastrank.scores.tables import Table
from fastrank.searching.npy_files import load_npy
from fastrank.tasks.classification import PROTOCOLS, evaluate_classification
from fastrank.tasks.ulysses_files import ulysses

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from fastrank.cli.parser import Parser
    from fastrank.tasks.result import TaskResult

EPILOG = """\
examples:
  fastrank probe films.csv --vectors films.npy
  fastrank probe pairs.csv --vectors first.npy --vectors second.npy --format csv
  fastrank probe ulysses_senteval_datasets --model my_models:encode \\
      --cache embeddings --cache-name my-model
  fastrank probe train.csv --test-rows test.csv --protocol mteb \\
      --model my_models:encode
  fastrank probe films.csv --vectors films.npy --option repetitions=3

A TASK is a table with texts and labels (CSV, TSV, JSONL or parquet), or a
folder with tasks of Ulysses SentEval. Rows have one text or a pair of texts. A
column with a usual name, such as label, has the labels, else the last column.

protocols:
  ulysses   Ulysses SentEval: 10 times 5 folds, undersampling, AdamW (default)
  senteval  SentEval: logistic regression or a network, with inner folds
  mteb      MTEB: logistic regression on 8 texts per label, 10 times
  knn       the labels of the nearest neighbors

Exit status: 0 if successful, 1 if a file is wrong or cannot be read or written,
2 for invalid options.
"""


def _declare(parser: Parser) -> None:
    add = parser.add
    add("TASK ...", "table of texts and labels, or a folder", dest="tasks")
    add("--vectors FILE ...", "vectors of the rows, a .npy file; repeat it for the second texts")
    add(
        "--model MODULE:NAME",
        "model, or function from a list of texts to vectors, in a Python module",
    )
    add("--protocol", "how to train and test (default: ulysses)", choices=tuple(PROTOCOLS))
    for part, what in (("test", "tests"), ("dev", "the choice of parameters")):
        add(f"--{part}-rows FILE", f"separate rows for {what}")
        add(f"--{part}-vectors FILE ...", f"vectors of the rows of --{part}-rows")
    add("--option NAME=VALUE ...", "option of the protocol, such as repetitions=3; may be repeated")
    add("--seed N", "seed of the random numbers (default: as published)", type=int)
    add("--batch-size N", "number of texts to encode at once", type=int)
    add("--prompt TEXT", "prompt for the model, or prefix of each text")
    add("--cache FOLDER", "folder in which to cache vectors of texts")
    add("--cache-name NAME", "name of the model and its settings, for --cache")
    parser.add_output()


def _run(given: argparse.Namespace) -> list[TaskResult]:
    try:
        return _results(given)
    except TypeError as error:
        # A wrong option or model.
        raise UsageError(str(error)) from None


def _results(given: argparse.Namespace) -> list[TaskResult]:
    if (given.vectors is None) == (given.model is None):
        raise OptionError("--vectors", "expected either --vectors or --model")
    options = {
        name: getattr(given, name)
        for name in ("protocol", "seed", "batch_size", "prompt", "cache", "cache_name")
    }
    for one in given.option or ():
        name, found, value = one.partition("=")
        if not found or not name.isidentifier() or name in options:
            raise OptionError("--option", f"expected NAME=VALUE of the protocol, found {one!r}")
        options[name] = _value(value)
    tasks: list[Any] = []
    for path in given.tasks:
        found_here = ulysses(path).values() if os.path.isdir(path) else [TextTask.from_table(path)]
        tasks += found_here
    if given.vectors is not None and len(tasks) > 1:
        raise OptionError("--vectors", f"expected one task, found {len(tasks)}")
    side = _model(given.model) if given.vectors is None else _load(given.vectors)
    for part in ("test", "dev"):
        path, vectors = getattr(given, f"{part}_rows"), getattr(given, f"{part}_vectors")
        if (vectors is not None) != (path is not None and given.vectors is not None):
            reason = f"is needed with --vectors and --{part}-rows, and only then"
            raise OptionError(f"--{part}-vectors", reason)
        if path is not None:
            rows = TextTask.from_table(path)
            options[part] = rows if vectors is None else (_load(vectors), rows)
    results = []
    for task in tasks:
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            result = evaluate_classification(side, task, **options)
        for note in result.notes:
            given.command.warn(f"{result.name}: {note}")
        results.append(result)
    return results


def _load(paths: list[str]) -> Any:
    """The vectors in one or more files."""
    arrays = tuple(load_npy(path) for path in paths)
    return arrays[0] if len(arrays) == 1 else arrays


def _model(name: str) -> Any:
    """The object MODULE:NAME; the module may be in the current folder."""
    from importlib import import_module

    module, found, attributes = name.partition(":")
    if not found or not module or not attributes:
        raise OptionError("--model", f"expected MODULE:NAME, found {name!r}")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        model: Any = import_module(module)
        for attribute in attributes.split("."):
            model = getattr(model, attribute)
    except (ImportError, AttributeError) as error:
        raise OptionError("--model", f"{name!r}: {error}") from None
    return model


def _value(text: str) -> Any:
    """A Python number, tuple or the like, else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _table(results: list[TaskResult]) -> Table:
    """The tables of all results below each other."""
    tables = [result.table().columns for result in results]
    names = list(dict.fromkeys(name for columns in tables for name in columns))
    joined: dict[str, list[Any]] = {name: [] for name in names}
    for columns in tables:
        rows = len(columns["task"])
        for name in names:
            joined[name] += columns.get(name, [None] * rows)
    return Table(columns=joined)


FORMATS = {
    **writers("table", "markdown", "latex", "html", "csv", of=_table),
    "json": lambda results: json_text([own.to_dict() for own in results], indent=2) + "\n",
}
COMMAND = Command(
    "fastrank probe",
    _declare,
    _run,
    epilog=EPILOG,
    writers=FORMATS,
    usage=("(--vectors FILE | --model MODULE:NAME) TASK ...",),
)
