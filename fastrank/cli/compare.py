"""The command `fastrank compare`: which runs are better, by how much, and how surely."""

from __future__ import annotations

import argparse
import sys

from fastrank.cli.compare_files import add_files_to_write, check_files, files_of, plots_a_pair
from fastrank.cli.evaluation_flags import ZERO, check_version
from fastrank.cli.flags import add_flags, at_least, given_options
from fastrank.cli.output import (
    add_output_flag,
    can_be_written,
    complain,
    guarded,
    report_error,
    report_unwritable,
    write,
)
from fastrank.cli.output_formats import SUFFIXES as SUFFIXES_OF_EVAL
from fastrank.cli.output_formats import TABLES, format_of_output
from fastrank.cli.run_scores import (
    RunScores,
    add_files,
    add_name_options,
    add_reading_options,
    names_match,
)
from fastrank.comparing.chosen_pair import chosen_pair, why_chosen
from fastrank.comparing.compare import compare_evaluated
from fastrank.comparing.inputs import system_names
from fastrank.comparing.options import COMPARISON, settings
from fastrank.comparing.plots.plot import KINDS
from fastrank.errors import FastrankError, OptionError
from fastrank.formats import files
from fastrank.formats.compression import compressed
from fastrank.formats.inputs import run_names
from fastrank.formats.line_files import read_clusters
from fastrank.judging.keywords import EVALUATION
from fastrank.scores.text import other_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.options import Settings
    from fastrank.scores.scores import Scores

NAME = "fastrank compare"
MEASURES = ["map", "ndcg_cut.10"]
EPILOG = """\
examples:
  fastrank compare qrels.txt runs/*.gz
  fastrank compare -b bm25.run -m map -m P.10 qrels.txt bm25.run ours.run
  fastrank compare --test randomization --format latex -o table.tex qrels.txt \\
      *.run
  fastrank compare -q --format csv -o values.csv qrels.txt *.run

Without a baseline, all pairs are compared, and a letter after a mean means:
significantly better than the system with that letter. With baselines, there is
a table of differences for each measure.

formats:
  table, markdown, latex, html
            the means; with --pairs all pairs with intervals and p-values; with
            -q the values of each query, and the differences of two runs
  csv       the pairs with all their statistics in full precision; with -q the
            columns query,measure,system,value
  json      an object with means, intervals, pairs, settings and notes; with -q
            also the values of each query
--largest N writes one table in all formats: for each measure the queries with
the largest differences of two runs, in json as a list of objects.

Exit status: 0 for success; 1 if a run could not be evaluated or compared, or
a file could not be written (no file is changed then); 2 for invalid options, or
qrels or clusters that cannot be read.
"""
# Below the table of means on standard output.
HINT = (
    "--pairs: differences with p-values; -q: values of each query; --largest N: queries that differ"
    " most."
)
FORMATS = ("table", "markdown", "latex", "html", "csv", "json")
# The methods of a Table that write it.
OF_TABLE = {**TABLES, "html": "to_html", "csv": "to_csv"}
SUFFIXES = {**SUFFIXES_OF_EVAL, ".html": "html", ".htm": "html"}
# Options of a comparison that are not flags of the same name and kind.
OTHERWISE = ("baseline", "clusters", "names", "threads")
STATISTICS = [keyword for keyword in COMPARISON if keyword.name not in OTHERWISE]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.usage = f"{NAME} [options] QRELS RUN [RUN ...]"
    parser.epilog = EPILOG
    add = parser.add_argument
    add_files(parser)
    add(
        "-m", "--measure", action="append", default=[], metavar="MEASURE",
        help="measure in any notation (map, P.5,10, nDCG@10); may be repeated (default: map and"
        " ndcg_cut.10); `fastrank measures` lists them",
    )  # fmt: skip
    add(
        "-b", "--baseline", action="append", metavar="RUN",
        help="name or file of the run to compare the others with, instead of all pairs; may be"
        " repeated",
    )  # fmt: skip
    add_flags(parser, STATISTICS)
    add(
        "--clusters", metavar="FILE",
        help="resample queries that belong together as one: FILE has a query and its cluster per"
        " line; needs --test randomization and --interval percentile or none",
    )  # fmt: skip
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--pairs", action="store_true", help="print the pairs with intervals and p-values"
    )
    shown.add_argument(
        "-q", "--per-query", action="store_true",
        help="print the values of each query, and the differences of two runs",
    )  # fmt: skip
    shown.add_argument(
        "--largest", type=at_least(1), metavar="N",
        help="print the N queries on which two runs differ most, largest difference first",
    )  # fmt: skip
    add(
        "--pair", nargs=2, metavar="RUN",
        help="names or files of the two runs of -q, --largest, and a --plot of two runs (default:"
        " the best one in the first measure and the baseline, or the two best)",
    )  # fmt: skip
    add(
        "--format", choices=FORMATS,
        help="output format (default: by the name of the -o file, such as .csv; else table)",
    )  # fmt: skip
    add("--digits", type=at_least(0), metavar="N", help="decimals (default: 4, or 2 in percent)")
    add("--percent", action="store_true", help="multiply values by 100")
    add(
        "--letters", action="store_true",
        help="letters after means are shared by systems that do not differ significantly",
    )  # fmt: skip
    add("--sort", metavar="MEASURE", help="sort systems by a measure, best first")
    add(
        "--ascii", action="store_true",
        help="write ^bc, + and - instead of superscripts and symbols in table",
    )  # fmt: skip
    add_output_flag(parser)
    add_files_to_write(parser)
    add_name_options(parser)
    add_flags(parser, EVALUATION, variables={"trec_eval_version": "FASTRANK_TREC_EVAL_VERSION"})
    add_reading_options(parser)


def run(given: argparse.Namespace) -> int:
    """Compare the runs; returns the exit status."""
    return guarded(NAME, lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    if not check_version(given, NAME) or not names_match(given, NAME):
        return 2
    if not can_be_written(NAME, given.output, given.plot, given.report, given.save):
        return 1
    try:
        _settle_format(given)
        check_files(given)
        chosen = _settings(given)
        runs = RunScores(NAME, given, given.measure or MEASURES)
    except FastrankError as error:
        complain(f"{NAME}: {error}")
        return 2
    scores = list(runs.of(given.runs))
    evaluated = [one for one in scores if one is not None]
    if runs.failed:
        complain(
            f"{NAME}: {runs.failed} of {len(given.runs)} runs could not be evaluated; nothing was"
            " written"
        )
        return 1
    for path, one in zip(given.runs, evaluated, strict=True):
        for note in other_notes(one):
            complain(f"{NAME}: {files.name_of(path)}: {note}")
    try:
        comparison = _compared(given, chosen, evaluated)
        _choose_pair(comparison, given)
        printed = _printed(comparison, given)
        outputs = files_of(comparison, given, runs, given.measure or MEASURES)
    except FastrankError as error:
        return report_error(NAME, error)
    content = printed.encode("utf-8", "surrogateescape")
    if given.output is not None:
        outputs.append((given.output, compressed([content], given.output)))
    try:
        files.write_all(outputs)
    except OSError as error:
        return report_unwritable(NAME, error.filename, error)
    if given.output is None:
        write([content])
    return 0


def _settle_format(given: argparse.Namespace) -> None:
    """Set the format, if none is given, by the name of the output file.

    Raises OptionError for a flag without effect.
    """
    if given.format is None:
        given.format = format_of_output(given.output, FORMATS, "table", SUFFIXES)
    effective = {"digits", "percent", "letters", "sort"}
    shown = "-q" if given.per_query else "--pairs" if given.pairs else ""
    if given.largest is not None:
        shown = "--largest"
    if shown:
        effective = {"digits", "percent"} if shown == "--pairs" else {"digits"}
    if given.format == "table" and shown in ("", "--pairs"):
        effective.add("ascii")
    if given.format in ("csv", "json"):
        effective.clear()
    for name in ("digits", "percent", "letters", "sort", "ascii"):
        if getattr(given, name) not in (None, False) and name not in effective:
            where = " and ".join(filter(None, (f"--format {given.format}", shown)))
            raise OptionError(f"--{name}", f"no effect with {where}")
    in_text = given.per_query and given.format not in ("csv", "json")
    if given.pair and not (in_text or given.largest is not None or plots_a_pair(given)):
        kinds = ", ".join(kind for kind, (_, what) in KINDS.items() if what == "pair")
        reason = f"no effect without --largest, -q as a table, or a --plot of the kinds {kinds}"
        raise OptionError("--pair", reason)
    if given.letters and given.baseline:
        raise OptionError("--letters", "needs all pairs; omit --baseline")


def _settings(given: argparse.Namespace) -> Settings:
    options = given_options(given, STATISTICS)
    clusters = None if given.clusters is None else read_clusters(given.clusters)
    options |= {"baseline": given.baseline, "clusters": clusters, "names": None}
    return settings({**options, "threads": given.threads})


def _compared(given: argparse.Namespace, chosen: Settings, scores: list[Scores]) -> Comparison:
    """The comparison; the baselines and the pair, which may be files, become names."""
    names = _names(given, scores)

    def named(runs: list[str]) -> list[str]:
        return [
            run if run in names or run not in given.runs else names[given.runs.index(run)]
            for run in runs
        ]

    if given.baseline is not None:
        chosen = chosen.changed(baseline=named(given.baseline))
    given.pair = None if given.pair is None else named(given.pair)
    evaluation = given_options(given, EVALUATION)
    measures = given.measure or MEASURES
    return compare_evaluated(scores, names, measures, chosen, evaluation, zero=ZERO)


def _choose_pair(comparison: Comparison, given: argparse.Namespace) -> None:
    """Set the pair of the output if there is none, and say which of several it is."""
    if given.largest is None and not plots_a_pair(given):
        return
    measure, default = comparison.measures[0], given.pair is None
    given.pair = a, b = chosen_pair(comparison, measure, given.pair)
    why = why_chosen(comparison)
    if default and why:
        complain(
            f"{NAME}: of {len(comparison)} runs, {a} and {b} are shown, {why} in {measure};"
            " --pair RUN RUN shows two others"
        )


def _names(given: argparse.Namespace, scores: list[Scores]) -> list[str]:
    """The names of the runs: those given, their tags, or the names of the files."""
    names = run_names(given.runs) if given.names is None else given.names
    if given.tags:
        names = [one.tag or name for one, name in zip(scores, names, strict=True)]
    return system_names(names, None, scores, given.runs)


def _printed(comparison: Comparison, given: argparse.Namespace) -> str:
    """The output in the format that the command line asks for."""
    if given.largest is not None:
        from fastrank.comparing.shown import largest_table

        for note in comparison.notes:
            complain(f"{NAME}: {note}")
        table = largest_table(comparison, given.largest, pair=given.pair, digits=given.digits)
        if given.format == "json":
            return table.to_json(indent=2) + "\n"
        page = {"page": NAME} if given.format == "html" and given.output is not None else {}
        text: str = getattr(table, OF_TABLE[given.format])(**page)
        return text.removesuffix("\n") + "\n"
    if given.format == "json":
        return comparison.to_json(per_query=given.per_query, indent=2) + "\n"
    if given.format == "csv":
        for note in comparison.notes:
            complain(f"{NAME}: {note}")
        return comparison.to_csv(per_query=given.per_query)
    if given.per_query or given.pairs:
        return _long_table(comparison, given) + "\n"
    layout = {name: getattr(given, name) for name in ("digits", "percent", "letters", "sort")}
    if given.format == "table":
        pairs = len(comparison) > 1 and not given.baseline
        hint = f"{HINT}\n" if given.output is None and pairs else ""
        return f"{comparison.to_text(**layout, ascii=_ascii(given))}\n{hint}"
    if given.format == "markdown":
        return comparison.to_markdown(**layout) + "\n"
    if given.format == "latex":
        return comparison.to_latex(**layout) + "\n"
    return comparison.to_html(**layout, page=given.output is not None).removesuffix("\n") + "\n"


def _ascii(given: argparse.Namespace) -> bool:
    """Whether to write ASCII; files are in UTF-8."""
    from fastrank.document.text import encodes_marks

    return given.ascii or (given.output is None and not encodes_marks(sys.stdout))


def _long_table(comparison: Comparison, given: argparse.Namespace) -> str:
    """The pairs, or the values of each query."""
    from fastrank.comparing.shown import pairs_document, query_table
    from fastrank.document.document import Document
    from fastrank.document.text import ASCII_SYMBOLS, SYMBOLS
    from fastrank.document.writers import written
    from fastrank.scores.tables import grid_of

    ascii = _ascii(given)
    if given.per_query:
        table = query_table(comparison, digits=given.digits, pair=given.pair)
        document = Document([grid_of(table)])
    else:
        symbols = ASCII_SYMBOLS if ascii and given.format == "table" else SYMBOLS
        document = pairs_document(
            comparison, digits=given.digits, percent=given.percent, symbols=symbols
        )
    title = NAME if given.output is not None else None
    return written(document, given.format, ascii=ascii, page=title)
