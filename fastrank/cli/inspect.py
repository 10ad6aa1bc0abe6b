"""The command `fastrank inspect`: a page to look at the results of runs, query by query."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.cli.flags import add_files, add_flags, add_measures, given_options
from fastrank.explaining.explain import MEASURES
from fastrank.formats import files
from fastrank.formats.sites import changes
from fastrank.inspecting.inspect import inspect
from fastrank.inspecting.inspection import is_folder
from fastrank.judging.keywords import EvaluationOptions
from fastrank.keywords import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser

EPILOG = """\
examples:
  fastrank inspect -o inspect.html qrels.txt before.run after.run
  fastrank inspect --texts corpus.jsonl --queries queries.jsonl \\
      -m nDCG@10 -m R@100 -k 50 -o inspect.html qrels.txt before.run after.run
  fastrank inspect --texts collection.tsv --queries topics.tsv -o inspect/ \\
      qrels.txt before.run after.run

The page works on its own, opens from the disk, and asks for nothing from the
network. Left: the queries with their values and differences, to sort and
filter. Right: the results of each run, with grades, what each document adds to
the measure, and lines that join the same document. Unjudged documents can be
graded, and the grades downloaded as qrels. The address holds what is shown.

-o FOLDER (a name without .html) writes index.html and pages of some queries
each, for what is too large for one page (40 MB).

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""
# Of a comparison; the others are not needed to look at results.
STATISTICS = ("test", "correction", "alpha", "interval", "level", "resamples", "seed")


def _declare(parser: Parser) -> None:
    add = parser.add_argument
    add_files(parser, runs=True)
    add_measures(parser, MEASURES)
    add(
        "--texts",
        action="append",
        metavar="FILE",
        help="documents to show, a file or a folder: JSON lines with _id, title and text, TSV, TREC"
        " SGML or parquet; may be repeated (default: ids)",
    )
    add("--queries", metavar="FILE", help="texts of the queries, in the same formats")
    add(
        "--groups",
        metavar="FILE",
        help="kinds of queries to filter by: FILE has a query and its group per line",
    )
    add_flags(parser, inspect, ["k"])
    add("--title", metavar="TEXT", help="title of the page (default: the names of the runs)")
    add(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="write the page to FILE, or pages to a folder; replaced only if everything succeeds",
    )
    add(
        "--name",
        action="append",
        metavar="NAME",
        dest="names",
        help="name of a run; repeat for each run, in order (default: the name of the file without"
        " suffixes such as .run and .gz)",
    )
    add_flags(parser, inspect, STATISTICS)
    add_flags(parser, inspect, EvaluationOptions)


def _run(given: argparse.Namespace) -> int:
    if is_folder(given.output):
        # Raises for a folder with other files, before the work starts.
        changes({}, given.output)
    else:
        files.check_target(given.output)
    texts = given.texts
    found = inspect(
        given.qrels,
        given.runs,
        given.measure or MEASURES,
        texts=texts[0] if texts is not None and len(texts) == 1 else texts,
        queries=given.queries,
        groups=given.groups,
        k=given.k,
        title=given.title,
        names=given.names,
        **given_options(given, [*STATISTICS, *names_of(EvaluationOptions)]),
    )
    for note in found.notes:
        given.command.warn(note)
    found.write(given.output)
    return 0


COMMAND = Command(
    "fastrank inspect",
    _declare,
    _run,
    usage=("-o FILE QRELS RUN [RUN ...]",),
    epilog=EPILOG,
    outputs=(),
)
