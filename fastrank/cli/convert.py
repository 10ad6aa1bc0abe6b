"""The command `fastrank convert`: judgments and runs from one format into another."""

from __future__ import annotations

import argparse

from fastrank.cli.output import complain, guarded
from fastrank.data.texts import decoded
from fastrank.errors import FastrankError
from fastrank.formats.load import find_kind, read_qrels, read_run, write_qrels, write_run
from fastrank.formats.sniff import FORMATS, format_by_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.data.run import Run

NAME = "fastrank convert"
EPILOG = """\
examples:
  fastrank convert run.txt run.parquet
  fastrank convert --kind qrels qrels/test.tsv qrels.txt
  fastrank convert --to jsonl run.json.gz -

Formats: trec, csv and tsv (with or without a header), json ({query: {document: number}}), jsonl
and parquet (extra `pyarrow`). The format of IN is told from its content, that of OUT from its name;
names ending in .gz, .bz2, .xz and .zst are compressed. Columns have the names that ir_measures,
PyTerrier, ranx, trectools, BEIR and Hugging Face use. Scores and ids come out as they went in.
JSON has no place for the name of a run. OUT is complete, or is left as it was.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    add = parser.add_argument
    add("source", metavar="IN", help="file to read; - is standard input")
    add("target", metavar="OUT", help="file to write; - is standard output")
    add("--from", dest="given", choices=FORMATS, help="format of IN (told from its content)")
    add("--to", dest="wanted", choices=FORMATS, help="format of OUT (told from its name)")
    add("--kind", choices=("qrels", "run"), help="what IN holds (told from its content if certain)")


def run(given: argparse.Namespace) -> int:
    """Convert; returns the exit status."""
    return guarded(NAME, lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    wanted = given.wanted or format_by_name(given.target)
    if wanted is None:
        return _misused(f"{given.target}: format unknown, say --to {'|'.join(FORMATS)}")
    if wanted == "parquet" and given.target == "-":
        return _misused("parquet is not text: give a file instead of standard output")
    try:
        source, kind = given.source, given.kind
        if kind is None:
            source, kind = find_kind(source, given.given)
        if kind is None:
            return _misused(
                f"{given.source}: this may be judgments or a run, say --kind qrels or --kind run"
            )
        if kind == "qrels":
            qrels = read_qrels(source, given.given, warn=_warn)
            write_qrels(qrels, given.target, wanted)
        else:
            loaded = read_run(source, given.given, warn=_warn)
            write_run(loaded, given.target, wanted)
            _tell_empty(loaded, wanted)
    except FastrankError as error:
        complain(f"{NAME}: {error}")
        return 1
    return 0


def _tell_empty(loaded: Run, wanted: str) -> None:
    offsets = loaded.offset_column
    empty = [i for i in range(len(loaded)) if offsets[i] == offsets[i + 1]]
    if empty and wanted != "json":
        first = decoded(loaded.queries[empty[0]])
        _warn(
            f"queries without results, which have no line in {wanted}, are left out:"
            f" {len(empty)}, the first is {first!r}"
        )


def _misused(message: str) -> int:
    complain(f"{NAME}: {message}")
    return 2


def _warn(message: str) -> None:
    complain(f"{NAME}: {message}")
