"""The command `fastrank convert`: convert judgments and runs between formats."""

from __future__ import annotations

import argparse

from fastrank.checking.findings import counted
from fastrank.cli.output import complain, guarded
from fastrank.data.texts import decoded
from fastrank.errors import FastrankError
from fastrank.formats.load import (
    find_kind,
    is_dataset,
    read_qrels,
    read_run,
    write_qrels,
    write_run,
)
from fastrank.formats.sniff import FORMATS, format_by_name
from fastrank.formats.source import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.data.run import Run

NAME = "fastrank convert"
EPILOG = """\
examples:
  fastrank convert run.txt run.parquet
  fastrank convert --kind qrels qrels/test.tsv qrels.txt
  fastrank convert --to jsonl run.json.gz -

Formats: trec, csv and tsv (with or without a header), jsonl, parquet (extra
`pyarrow`), json ({query: {document: number}}) and sample (qrels with strata).
OUT is compressed if its name ends in .gz, .bz2, .xz or .zst. Columns may have
the names used by ir_measures, PyTerrier, ranx, trectools, BEIR or Hugging Face.
Ids and scores are preserved exactly; json drops the name of a run. OUT is
written atomically: it is replaced only if everything succeeds.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.usage = f"{NAME} [options] IN OUT"
    parser.epilog = EPILOG
    add = parser.add_argument
    add("source", metavar="IN", help="file to read; - is standard input")
    add("target", metavar="OUT", help="file to write; - is standard output")
    add(
        "--from",
        dest="given",
        choices=FORMATS,
        help="format of IN (default: detected from content)",
    )
    add(
        "--to",
        dest="wanted",
        choices=FORMATS,
        help="format of OUT (default: detected from its name)",
    )
    add(
        "--kind", choices=("qrels", "run"),
        help="what IN contains (default: detected from content; needed if ambiguous)",
    )  # fmt: skip


def run(given: argparse.Namespace) -> int:
    """Convert; returns the exit status."""
    return guarded(NAME, lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    wanted = given.wanted or format_by_name(name_of(given.target))
    if wanted is None:
        return _misused(f"{name_of(given.target)}: unknown format; use --to {'|'.join(FORMATS)}")
    if wanted == "parquet" and given.target == "-":
        return _misused("parquet cannot be written to standard output; name a file")
    try:
        source, kind = given.source, given.kind
        if kind is None and is_dataset(source):
            kind = "qrels"
        if kind is None:
            source, kind = find_kind(source, given.given)
        if kind is None:
            return _misused(
                f"{name_of(given.source)}: could be qrels or a run; use --kind qrels or --kind run"
            )
        if kind == "qrels":
            qrels = read_qrels(source, given.given, warn=_warn)
            write_qrels(qrels, given.target, wanted)
        else:
            loaded = read_run(source, given.given, warn=_warn)
            write_run(loaded, given.target, wanted)
            _warn_of_empty(loaded, wanted)
    except FastrankError as error:
        complain(f"{NAME}: {error}")
        return 1
    return 0


def _warn_of_empty(loaded: Run, wanted: str) -> None:
    offsets = loaded.offset_column
    empty = [i for i in range(len(loaded)) if offsets[i] == offsets[i + 1]]
    if empty and wanted != "json":
        first = decoded(loaded.queries[empty[0]])
        _warn(
            f"{counted(len(empty), 'query', 'queries')} without results dropped, such as {first!r};"
            " only json can represent them"
        )


def _misused(message: str) -> int:
    complain(f"{NAME}: {message}")
    return 2


def _warn(message: str) -> None:
    complain(f"{NAME}: {message}")
