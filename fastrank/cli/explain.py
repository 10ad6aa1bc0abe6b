"""The commands `fastrank explain`, which documents add how much to the values of a query and under
which settings they are those of another tool, and `fastrank inspect`, a page to look at results."""

from __future__ import annotations

from functools import partial

from fastrank.analysis.explaining.explain import explain
from fastrank.analysis.inspecting.inspect import inspect, is_folder
from fastrank.analysis.inspecting.sites import check_folder
from fastrank.cli.command import Command
from fastrank.cli.flags import INPUTS, OUTPUT, given_options
from fastrank.cli.output import without_controls
from fastrank.cli.parser import REPEATED
from fastrank.common.rendering.text import without_commands
from fastrank.core.formats.files import files
from fastrank.core.formats.tables.roles import asked_columns
from fastrank.core.matching.keywords import EvaluationOptions
from fastrank.core.measures.selection import DEFAULT_MEASURES
from fastrank.core.results.result import FORMS
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from fastrank.cli.parser import Parser
    from fastrank.core.results.result import Result

EXPLAIN_EPILOG = """\
examples:
  fastrank explain -m ndcg_cut.5 -m map --query q0004 qrels.txt run.txt
  fastrank explain -m map --other after.run qrels.txt before.run
  fastrank explain --query q0004 --other after.run qrels.txt before.run
  fastrank explain --query q0004 --document d0097 qrels.txt run.txt
  fastrank explain --query q0004 --texts corpus.jsonl -o q0004.html \\
      qrels.txt run.txt
  fastrank explain --against trec_eval.txt qrels.txt run.txt

For each measure: value = sum of the column `adds` / divisor. With --other, the
documents on which the values differ, the largest difference first. With --against, the
options and definitions that give the values of another tool: the output of
trec_eval, or JSON {measure: mean} or {query: {measure: value}}; -m NAME=MEASURE
if FILE has another name for a measure.

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""
INSPECT_EPILOG = """\
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


def _declare_explain(parser: Parser) -> None:
    add = partial(parser.add, group=INPUTS)
    parser.add_files()
    exclusive = parser.groups[INPUTS].add_mutually_exclusive_group()
    add("--query QUERY", "id of the query (default with --other: differs most)", group=exclusive)
    add("--against FILE", "find the settings that give the values in FILE", group=exclusive)
    add(
        "-m, --measure MEASURE ...",
        f"measure{REPEATED} (default: {DEFAULT_MEASURES}; with --against, all of FILE)",
        dest="measures",
    )
    add("--other RUN", "a second run, to explain how its values differ from those of RUN")
    parser.add_output()
    parser.add_plot()
    add("--document ID ...", f"print only how this document counts{REPEATED}", group=OUTPUT)
    parser.add_texts(OUTPUT)
    parser.add_flags(explain, ["rows"], group=OUTPUT)
    parser.add_flags(explain, EvaluationOptions)


def _explain(arguments: argparse.Namespace) -> Result | str:
    """The explanation, or how some documents count, as text."""
    for flag in ("other", "document", "texts") if arguments.against is not None else ():
        if getattr(arguments, flag):
            raise OptionError(f"--{flag}", "no effect with --against")
    if arguments.document and arguments.format != "table":
        raise OptionError("--document", f"is text, without the format {arguments.format}; omit it")
    if arguments.document and arguments.plot is not None:
        raise OptionError("--plot", "no effect with --document")
    explanation: Any = explain(**given_options(arguments, explain))
    if not arguments.document:
        return explanation  # type: ignore[no-any-return]
    documents = list(map(explanation.document, arguments.document))
    if explanation.chosen:
        documents.insert(0, explanation.chosen)
    return without_commands(without_controls("".join(f"{text}\n" for text in documents)))


def _declare_inspect(parser: Parser) -> None:
    add = partial(parser.add, group=OUTPUT)
    parser.add_files(runs=True)
    parser.add_measures(DEFAULT_MEASURES)
    add("-o, --output FILE", "write the page to FILE, or pages to a folder", required=True)
    parser.add_texts(OUTPUT)
    add("--queries FILE", "texts of the queries, in the same formats")
    add("--groups FILE", "kinds of queries: FILE has a query and its group a line")
    parser.add_flags(inspect, ["k"], group=OUTPUT)
    add("--title TEXT", "title of the page (default: the names of the runs)")
    parser.add_names()
    # Options of a comparison; the others are not needed to look at results.
    statistics = ["test", "correction", "alpha", "interval", "level", "resamples", "seed"]
    parser.add_flags(inspect, statistics)
    parser.add_flags(inspect, EvaluationOptions)


def _inspect(arguments: argparse.Namespace) -> None:
    output = "-" if arguments.output is None else arguments.output
    if is_folder(output):
        check_folder(output)
    else:
        files.check_target(output)
    options = given_options(arguments, inspect)
    if arguments.texts is not None and len(arguments.texts) == 1:
        options["texts"] = arguments.texts[0]
    inspection = inspect(**options)
    asked_columns().check()
    for note in inspection.notes:
        arguments.command.warn(note)
    inspection.write(output)


EXPLAIN = Command(
    "fastrank explain",
    _declare_explain,
    _explain,
    formats=FORMS,
    plot=True,
    epilog=EXPLAIN_EPILOG,
    usage=("--query QUERY QRELS RUN", "--other RUN QRELS RUN", "--against FILE QRELS RUN"),
)
INSPECT = Command(
    "fastrank inspect",
    _declare_inspect,
    _inspect,
    usage=("-o FILE QRELS RUN [RUN ...]",),
    epilog=INSPECT_EPILOG,
    outputs=(),
    kinds={"output": "folder or page"},
)
