"""The command `fastrank board`: a leaderboard as a static site."""

from __future__ import annotations

from fastrank.cli.command import Command, UsageError
from fastrank.cli.flags import given_options
from fastrank.leaderboard.board import MEASURE, BoardOptions, board

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser

EPILOG = """\
examples:
  fastrank board results -o site
  fastrank board results -o site -m map --title "Search in Portuguese"
  fastrank board results -o site --check

FOLDER is read with the folders in it:
  DATASET/            a folder with one file of qrels (named so) and runs, which
                      are named by their systems; TYPE/DATASET/ gives it a type
  DATASET.jsonl       a store of `fastrank eval --resume`
  TASK.json           results of MTEB 2, in folders MODEL/REVISION
  DATASET.csv         with the columns system and value and, as needed, dataset,
                      query, measure, type, version and dataset_version; or a
                      system per row and a data set per column
  datasets.csv        at the top: the columns dataset, type and measure
NAME@VERSION.run, a column version, and revisions of MTEB are versions of a
system; the newest of those with the most data sets is ranked.

The site replaces SITE as a whole, or not at all. It has one page of all, one
for each system and each data set, CSV and JSON files beside each table, and a
badge for each system.

Exit status: 0 for success; 1 if the results cannot be read or the site not be
written, or if it would change (--check); 2 for invalid options.
"""


def _declare(parser: Parser) -> None:
    add = parser.add
    add("FOLDER", "folder with the results")
    add("-o, --output SITE", "folder to write the site into", required=True)
    add(
        "-m, --measure MEASURE",
        f"measure of the runs, and of files with several measures (default: {MEASURE})",
        default=MEASURE,
    )
    parser.add_flags(board, ["title", "inspected"])
    add("--check", "write nothing, and print which files would be added, changed and removed")
    parser.add_flags(board, BoardOptions)


def _run(given: argparse.Namespace) -> int:
    if not given.output:
        raise UsageError("-o: expected the name of a folder, found ''")
    found = board(**given_options(given, board) | {"output": None})
    if not given.check:
        found.write(given.output)
        return 0
    changes = found.changes(given.output)
    for change in changes:
        print(change)
    return int(bool(changes))


COMMAND = Command(
    "fastrank board", _declare, _run, usage=("FOLDER -o SITE",), epilog=EPILOG, outputs=()
)
