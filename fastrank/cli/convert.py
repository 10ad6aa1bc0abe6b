"""The command `fastrank convert`: convert judgments and runs between formats."""

from __future__ import annotations

from fastrank.cli.command import Command, UsageError
from fastrank.cli.flags import INPUTS, OUTPUT
from fastrank.core.data.texts import as_texts
from fastrank.core.formats.files import files
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.formats import FORMATS, format_by_name, written_formats
from fastrank.core.formats.load import (
    file_of,
    find_kind,
    is_dataset,
    read_qrels,
    read_run,
    warn_of_dropped,
)
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.roles import asked_columns
from fastrank.core.formats.tables.table_files import delimited_lines
from fastrank.core.formats.trec.strict import handful
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from typing import Any

    from fastrank.cli.parser import Parser
    from fastrank.core.formats.qrels import Qrels
    from fastrank.core.formats.run import Run

NUMBERED = ["number", "query"]
WRITTEN = written_formats()
EPILOG = """\
examples:
  fastrank convert run.txt run.parquet
  fastrank convert --kind qrels qrels/test.tsv qrels.txt
  fastrank convert --format jsonl run.json.gz -

Formats: trec, csv and tsv (with or without a header), jsonl, parquet and arrow
(extra `pyarrow`), json ({query: {document: number}}), sample (qrels with
strata) and ltr (qrels of learning to rank, only read).
IN may also be JSON of a search engine or of a tool for ratings.
OUT is compressed if its name ends in .gz, .bz2, .xz or .zst. Columns may have
the names used by ir_measures, PyTerrier, ranx, trectools, BEIR or Hugging Face.
Ids and scores are preserved exactly; json drops the name of a run. OUT is
written atomically: it is replaced only if everything succeeds.
"""


def _declare(parser: Parser) -> None:
    add = parser.add
    add("IN", "file to read; - is standard input", dest="source")
    add("OUT", "file to write; - is standard output", dest="target")
    add("--format", "format of OUT (default: by its name)", choices=WRITTEN, group=OUTPUT)
    add("--input-format", "format of IN (default: detected)", choices=[*FORMATS], group=INPUTS)
    add(
        "--number-queries FILE",
        "name queries by numbers, and write to FILE which is which",
        group=OUTPUT,
    )
    add("--kind", "what IN has (default: detected)", choices=("qrels", "run"), group=INPUTS)


def _run(arguments: argparse.Namespace) -> int:
    form = arguments.format or format_by_name(name_of(arguments.target))
    if form is None:
        raise UsageError(
            f"{name_of(arguments.target)}: unknown format; use --format {'|'.join(WRITTEN)}"
        )
    if FORMATS[form].is_binary and arguments.target == "-":
        raise UsageError(f"{form} cannot be written to standard output; name a file")
    source, kind, warn = arguments.source, arguments.kind, arguments.command.warn
    if kind is None and is_dataset(source):
        kind = "qrels"
    if kind is None:
        source, kind = find_kind(source, arguments.input_format)
    if kind is None:
        source.close()
        raise UsageError(
            f"{name_of(arguments.source)}: could be qrels or a run; use --kind qrels or --kind run"
        )
    read: Any = read_qrels if kind == "qrels" else read_run
    loaded = read(source, arguments.input_format, warn=warn)
    asked_columns().check()
    outputs: list[tuple[str, Iterable[bytes]]] = []
    if arguments.number_queries is not None:
        loaded, numbers = _numbered(loaded, arguments.number_queries)
        outputs.append((arguments.number_queries, numbers))
    outputs.append((arguments.target, file_of(loaded, arguments.target, form)))
    if kind == "qrels" and (reason := handful(loaded.docs, loaded.groups, len(loaded.docs))):
        warn(f"{name_of(arguments.source)}: {reason}")
    # The numbers are replaced first: with more of them than it needs, OUT is still right.
    files.write_all(outputs)
    if kind == "run":
        warn_of_dropped(loaded, form, warn)
    return 0


def _numbered(noun: Qrels | Run, path: str) -> tuple[Any, Iterable[bytes]]:
    """Judgments or a run with numbers as queries, and the file with the query of each number.

    Queries that are in the file already keep their number.
    """
    numbers: dict[str, str] = {}
    last = 0
    if files.exists(path):
        table = table_of(path, form="tsv")
        if table.names != NUMBERED:
            raise InputError(path, f"expected the columns {' and '.join(NUMBERED)}")
        listed = table.values("number")
        known = {int(number) for number in listed if number.isascii() and number.isdigit()}
        if len(known) < len(listed):
            raise InputError(path, "expected a number for each query, no two of which are equal")
        numbers = dict(zip(table.values("query"), listed, strict=True))
        last = max(known, default=0)
    for query in noun.query_ids:
        if query not in numbers:
            last += 1
            numbers[query] = str(last)
    rows = ((number, query) for query, number in numbers.items())
    texts = as_texts([numbers[query].encode() for query in noun.query_ids])
    return noun.changed(queries=texts), delimited_lines("tsv", NUMBERED, rows)


COMMAND = Command(
    "fastrank convert",
    _declare,
    _run,
    usage=("IN OUT",),
    epilog=EPILOG,
    outputs=("target", "number_queries"),
    kinds={"number_queries": "map"},
    in_place=True,
    invalid=1,
)
