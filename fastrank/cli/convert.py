"""The command `fastrank convert`: convert judgments and runs between formats."""

from __future__ import annotations

from fastrank.cli.command import Command, UsageError
from fastrank.cli.flags import INPUTS, OUTPUT
from fastrank.data.texts import decoded
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
from fastrank.messages import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser
    from fastrank.data.run import Run

EPILOG = """\
examples:
  fastrank convert run.txt run.parquet
  fastrank convert --kind qrels qrels/test.tsv qrels.txt
  fastrank convert --format jsonl run.json.gz -

Formats: trec, csv and tsv (with or without a header), jsonl, parquet (extra
`pyarrow`), json ({query: {document: number}}) and sample (qrels with strata).
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
    add("--format", "format of OUT (default: by its name)", choices=FORMATS, group=OUTPUT)
    add("--input-format", "format of IN (default: detected)", choices=FORMATS, group=INPUTS)
    add("--kind", "what IN has (default: detected)", choices=("qrels", "run"), group=INPUTS)


def _run(given: argparse.Namespace) -> int:
    wanted = given.format or format_by_name(name_of(given.target))
    if wanted is None:
        raise UsageError(
            f"{name_of(given.target)}: unknown format; use --format {'|'.join(FORMATS)}"
        )
    if wanted == "parquet" and given.target == "-":
        raise UsageError("parquet cannot be written to standard output; name a file")
    source, kind, warn = given.source, given.kind, given.command.warn
    if kind is None and is_dataset(source):
        kind = "qrels"
    if kind is None:
        source, kind = find_kind(source, given.input_format)
    if kind is None:
        raise UsageError(
            f"{name_of(given.source)}: could be qrels or a run; use --kind qrels or --kind run"
        )
    if kind == "qrels":
        write_qrels(read_qrels(source, given.input_format, warn=warn), given.target, wanted)
        return 0
    loaded = read_run(source, given.input_format, warn=warn)
    write_run(loaded, given.target, wanted)
    if wanted != "json" and (empty := _without_results(loaded)):
        warn(
            f"{counted(len(empty), 'query', 'queries')} without results dropped, such as"
            f" {empty[0]!r}; only json can represent them"
        )
    return 0


def _without_results(run: Run) -> list[str]:
    offsets = run.offset_column
    return [decoded(run.queries[i]) for i in range(len(run)) if offsets[i] == offsets[i + 1]]


COMMAND = Command("fastrank convert", _declare, _run, usage=("IN OUT",), epilog=EPILOG, invalid=1)
