"""The command `fastrank fuse`: fuse runs, and write the fused run."""

from __future__ import annotations

from fastrank.analysis.fusion.fuse import fuse
from fastrank.analysis.fusion.methods import METHODS
from fastrank.analysis.fusion.options import FusionOptions
from fastrank.cli.command import Command
from fastrank.cli.flags import METHOD, given_options
from fastrank.core.formats import formats
from fastrank.core.formats.load import read_run, write_run
from fastrank.core.formats.tables.roles import asked_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser

FORMATS = formats.written_formats("run")
SUFFIXES = {suffix: form for suffix, form in formats.SUFFIXES.items() if "qrel" not in suffix}
EPILOG = f"""\
examples:
  fastrank fuse bm25.run dense.run -o fused.run.gz
  fastrank fuse --weights 0.3,0.7 --keep 1000 bm25.run dense.run | \\
      trec_eval qrels.txt -
  fastrank fuse --method convex --weights 0.3,0.7 --normalization z \\
      bm25.run dense.run -o fused.parquet

methods:
{chr(10).join(f"  {name:10}  {method.summary}" for name, method in METHODS.items())}

The fused run has all queries of the runs. Documents with equal scores are
ranked by id in descending order, as in trec_eval. FILE is replaced only if
everything succeeds.

Exit status: 0 if successful, 1 if a run cannot be read or fused or the result
cannot be written, 2 for invalid options.
"""


def _declare(parser: Parser) -> None:
    parser.add("RUN ...", "run in any format, may be compressed; - is standard input", dest="runs")
    parser.add_output()
    parser.add(
        "--method NAME", "how to fuse, see below (default: rrf)", default="rrf", group=METHOD
    )
    parser.add_flags(fuse, FusionOptions, group=METHOD)


def _run(arguments: argparse.Namespace) -> None:
    options, warn = given_options(arguments, FusionOptions), arguments.command.warn
    version = options["trec_eval_version"]
    runs = [read_run(path, trec_eval_version=version, warn=warn) for path in arguments.runs]
    asked_columns().check()
    fused = fuse(runs, arguments.method, warn=warn, **options)
    write_run(fused, arguments.output or "-", arguments.format, warn=warn)


COMMAND = Command(
    "fastrank fuse",
    _declare,
    _run,
    usage=("RUN RUN ...",),
    epilog=EPILOG,
    formats=FORMATS,
    suffixes=SUFFIXES,
)
