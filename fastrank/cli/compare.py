"""The command `fastrank compare`: which runs are better, by how much, and how surely."""

from __future__ import annotations

import io
import shlex
import sys
from functools import partial

from fastrank.analysis.comparing.compare import compare, compare_evaluated
from fastrank.analysis.comparing.inputs import system_names
from fastrank.analysis.comparing.options import QUERY, ComparisonOptions, settings
from fastrank.analysis.comparing.pairs import chosen_pair, why_chosen
from fastrank.analysis.comparing.plots.plot import KINDS, default_kind
from fastrank.cli.command import Command, UsageError, misused
from fastrank.cli.compare_values import compared_values, remember_defaults
from fastrank.cli.flags import INPUTS, OUTPUT, STATISTICS, at_least, given_options
from fastrank.cli.output import command_line, write
from fastrank.cli.output_formats import page_of
from fastrank.cli.parser import REPEATED
from fastrank.cli.run_scores import RunScores, add_reading_options, check_names
from fastrank.common.keywords import names_of
from fastrank.common.lazy import optional
from fastrank.core.data.texts import encoded
from fastrank.core.formats.files import files
from fastrank.core.formats.inputs import run_names
from fastrank.core.formats.tables.roles import asked_columns
from fastrank.core.formats.trec.line_files import read_clusters
from fastrank.core.matching.keywords import EvaluationOptions
from fastrank.core.measures.selection import DEFAULT_MEASURES
from fastrank.core.results.images import check_format
from fastrank.core.results.result import FORMS, rendered
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from typing import Any

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.comparing.options import Settings
    from fastrank.cli.parser import Parser
    from fastrank.core.scores.scores import Scores


EPILOG = """\
examples:
  fastrank compare -b bm25.run -m map -m P.10 qrels.txt bm25.run ours.run
  fastrank compare --values --test sign model-a.csv model-b.csv

csv has all statistics of the pairs; with -q, query,measure,system,value. Tables
of --values have columns system and item (--columns names others) and measures.

Exit status: 0 for success; 1 if a run could not be compared or a file not be
written (no file is changed then); 2 for invalid options, qrels or clusters.
"""
# Below the table of means on standard output.
HINT = (
    "--pairs: differences with p-values; -q: values of each query; --largest N: queries that differ"
    " most."
)
# Options of a comparison that are not flags of the same name and kind.
OTHERWISE = ("baseline", "clusters", "names", "threads")
STATISTICAL = [name for name in names_of(ComparisonOptions) if name not in OTHERWISE]


def _declare(parser: Parser) -> None:
    add = partial(parser.add, group=OUTPUT)
    parser.add_files(runs=True)
    # With --values, one operand is enough, a table.
    parser.arguments[-1].required, parser.arguments[-1].default = False, []
    add("--values", "compare values per item in tables, of any program", group=INPUTS)
    parser.add_measures(DEFAULT_MEASURES)
    add("-b, --baseline RUN ...", f"run to compare the others with{REPEATED}", group=INPUTS)
    parser.add_output()
    shown = parser.groups[OUTPUT].add_mutually_exclusive_group()
    add("--pairs", "print the pairs with intervals and p-values", group=shown)
    add("-q, --per-query", "print the values of each query", group=shown)
    add("--standings", "print ranks, and who cannot be told apart", group=shown)
    add(
        "--largest N",
        "print the N queries on which two runs differ most",
        group=shown,
        type=at_least(1),
    )
    add("--pair RUN", "the two runs to show with -q, --largest, or --plot", nargs=2)
    parser.add_decimals()
    add("--letters", "systems that do not differ share letters")
    parser.add_sort()
    add("--ascii", "write ^bc, + and - instead of symbols in table")
    interval = "of means and differences (default: t)"
    parser.add_flags(compare, STATISTICAL, defaults={"interval": None}, interval={"help": interval})
    parser.add(
        "--clusters FILE",
        "resample together what FILE, or a column, says",
        group=STATISTICS,
    )
    add_files_to_write(parser)
    parser.add_names()
    add("--tags", "name runs by the tags in their files")
    parser.add_flags(compare, EvaluationOptions)
    add_reading_options(parser)
    remember_defaults(parser)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.values:
        with misused():
            _check_layout(arguments)
        comparison = compared_values(arguments, STATISTICAL)
        with misused():
            _check_standings(arguments)
            check_files(arguments)
        return _write(comparison, arguments, None)
    if not arguments.runs:
        raise UsageError("the following arguments are required: RUN")
    warn = arguments.command.warn
    arguments.interval = arguments.interval or "t"
    check_names(arguments)
    with misused():
        _check_layout(arguments)
        check_files(arguments)
        chosen = _settings(arguments)
        runs = RunScores(arguments, arguments.measures or DEFAULT_MEASURES.split())
    scores = list(runs.of(arguments.runs))
    evaluated = [run_scores for run_scores in scores if run_scores is not None]
    if runs.failed:
        warn(
            f"{runs.failed} of {len(arguments.runs)} runs could not be evaluated;"
            " nothing was written"
        )
        return 1
    return _write(_compared(arguments, chosen, evaluated), arguments, runs)


def _write(comparison: Comparison, arguments: argparse.Namespace, runs: RunScores | None) -> int:
    """Print the comparison, or write its files; runs: None for values."""
    _choose_pair(comparison, arguments)
    asked_columns().check()
    content = encoded(_printed(comparison, arguments))
    outputs = files_of(comparison, arguments, runs, arguments.measures or DEFAULT_MEASURES.split())
    if arguments.output is not None:
        outputs.append((arguments.output, [content]))
    files.write_all(outputs)
    if arguments.output is None:
        write([content])
    return 0


def _check_layout(arguments: argparse.Namespace) -> None:
    """Raise OptionError for a flag without effect."""
    effective = {"digits", "percent", "letters", "sort"}
    shown = "-q" if arguments.per_query else "--pairs" if arguments.pairs else ""
    if arguments.largest is not None or arguments.standings:
        shown = "--standings" if arguments.standings else "--largest"
    if shown:
        effective = {"digits", "percent"} if shown == "--pairs" else {"digits"}
    if arguments.format == "table" and shown in ("", "--pairs"):
        effective.add("ascii")
    if arguments.format in ("csv", "json"):
        effective.clear()
    for name in ("digits", "percent", "letters", "sort", "ascii"):
        if getattr(arguments, name) not in (None, False) and name not in effective:
            where = " and ".join(filter(None, (f"--format {arguments.format}", shown)))
            raise OptionError(f"--{name}", f"no effect with {where}")
    in_text = arguments.per_query and arguments.format not in ("csv", "json")
    if arguments.pair and not (in_text or arguments.largest is not None or plots_a_pair(arguments)):
        kinds = ", ".join(kind for kind, (_, subject) in KINDS.items() if subject == "pair")
        reason = f"no effect without --largest, -q as a table, or a --plot of the kinds {kinds}"
        raise OptionError("--pair", reason)
    if arguments.letters and arguments.baseline:
        raise OptionError("--letters", "needs all pairs; omit --baseline")
    _check_standings(arguments)


def _check_standings(arguments: argparse.Namespace) -> None:
    if arguments.standings and arguments.baseline:
        raise OptionError("--standings", "needs all pairs; omit --baseline")


def _settings(arguments: argparse.Namespace) -> Settings:
    options = given_options(arguments, STATISTICAL)
    clusters = None if arguments.clusters is None else read_clusters(arguments.clusters)
    options |= {"baseline": arguments.baseline, "clusters": clusters, "names": None}
    return settings({**options, "threads": arguments.threads})


def _compared(arguments: argparse.Namespace, chosen: Settings, scores: list[Scores]) -> Comparison:
    """The comparison; the baselines and the pair, which may be files, become names."""
    names = _names(arguments, scores)

    def named(runs: list[str]) -> list[str]:
        return [
            run if run in names or run not in arguments.runs else names[arguments.runs.index(run)]
            for run in runs
        ]

    if arguments.baseline is not None:
        chosen = chosen.changed(baseline=named(arguments.baseline))
    arguments.pair = None if arguments.pair is None else named(arguments.pair)
    evaluation = given_options(arguments, EvaluationOptions)
    measures = arguments.measures or DEFAULT_MEASURES.split()
    return compare_evaluated(scores, names, measures, chosen, evaluation)


def _choose_pair(comparison: Comparison, arguments: argparse.Namespace) -> None:
    """Set the pair of the output if there is none, and say which of several it is."""
    if arguments.largest is None and not plots_a_pair(arguments):
        return
    measure, default = comparison.measures[0], arguments.pair is None
    arguments.pair = a, b = chosen_pair(comparison, measure, arguments.pair)
    why = why_chosen(comparison)
    if default and why:
        arguments.command.warn(
            f"of {len(comparison)} runs, {a} and {b} are shown, {why} in {measure};"
            " --pair RUN RUN shows two others"
        )


def _names(arguments: argparse.Namespace, scores: list[Scores]) -> list[str]:
    """The names of the runs: those given, their tags, or the names of the files."""
    names = run_names(arguments.runs) if arguments.names is None else arguments.names
    if arguments.tags:
        names = [run_scores.tag or name for run_scores, name in zip(scores, names, strict=True)]
    return system_names(names, None, scores, arguments.runs)


def _printed(comparison: Comparison, arguments: argparse.Namespace) -> str:
    """The output in the format that the command line asks for."""
    form = arguments.format
    if arguments.largest is not None or form == "csv":
        for note in comparison.notes:
            arguments.command.warn(note)
    if arguments.largest is not None:
        from fastrank.analysis.comparing.tables import largest_table

        table = largest_table(
            comparison, arguments.largest, pair=arguments.pair, digits=arguments.digits
        )
        return rendered(table, form, **page_of(arguments, arguments.command.name))
    if arguments.standings and form in ("csv", "json"):
        from fastrank.analysis.comparing.tables import all_standings

        return rendered(all_standings(comparison), form)
    if form in ("csv", "json"):
        return rendered(comparison, form, per_query=arguments.per_query)
    if arguments.per_query or arguments.pairs or arguments.standings:
        return _long_table(comparison, arguments) + "\n"
    layout = {name: getattr(arguments, name) for name in ("digits", "percent", "letters", "sort")}
    if form == "table":
        pairs = len(comparison) > 1 and not arguments.baseline
        hint = f"{_hint_of(comparison)}\n" if arguments.output is None and pairs else ""
        return f"{comparison.to_text(**layout, ascii=_ascii(arguments))}\n{hint}"
    return rendered(comparison, form, **layout, **page_of(arguments))


def _hint_of(comparison: Comparison) -> str:
    unit = comparison.settings.unit
    return HINT.replace(QUERY.one, unit.one).replace(QUERY.many, unit.many)


def _ascii(arguments: argparse.Namespace) -> bool:
    """Whether to write ASCII; files are in UTF-8."""
    from fastrank.common.rendering.text import encodes_marks

    return arguments.ascii or (arguments.output is None and not encodes_marks(sys.stdout))


def _long_table(comparison: Comparison, arguments: argparse.Namespace) -> str:
    """The pairs, the standings, or the values of each query."""
    from fastrank.analysis.comparing.shown import pairs_document, standings_document
    from fastrank.analysis.comparing.tables import query_table
    from fastrank.common.rendering.document import Document
    from fastrank.common.rendering.text import ASCII_SYMBOLS, SYMBOLS
    from fastrank.common.rendering.writers import written
    from fastrank.core.results.table import grid_of

    ascii = _ascii(arguments)
    if arguments.per_query:
        table = query_table(comparison, digits=arguments.digits, pair=arguments.pair)
        document = Document([grid_of(table)])
    elif arguments.standings:
        document = standings_document(comparison, digits=arguments.digits)
    else:
        symbols = ASCII_SYMBOLS if ascii and arguments.format == "table" else SYMBOLS
        document = pairs_document(
            comparison, digits=arguments.digits, percent=arguments.percent, symbols=symbols
        )
    title = arguments.command.name if arguments.output is not None else None
    return written(document, arguments.format, ascii=ascii, page=title)


def add_files_to_write(parser: Parser) -> None:
    """Declare these files."""
    add = partial(parser.add, group=OUTPUT)
    add("--plot FILE", "plot the first measure (.png, .svg or .pdf)")
    add("--plot-kind KIND", f"kind of plot: {', '.join(KINDS)}", choices=KINDS)
    add("--report FILE", "write an HTML report with tables and plots")
    add("--save FILE", "save the run or baseline for `fastrank gate check`")


def check_files(arguments: argparse.Namespace) -> None:
    """Raise OptionError or ImportError for a file that cannot be made."""
    if arguments.plot is not None:
        check_format(arguments.plot)
    elif arguments.plot_kind is not None:
        raise OptionError("--plot-kind", "no effect without --plot")
    if arguments.report is not None:
        optional("matplotlib.figure", "a report", "plot")
    if arguments.save is None:
        return
    if len(arguments.runs) > 1 and len(arguments.baseline or []) != 1:
        raise OptionError("--save", "needs one run, or one --baseline, whose values are saved")
    if arguments.relevance_format != "qrels":
        raise OptionError("--save", f"a gate does not read {arguments.relevance_format}")
    if "-" in arguments.runs:
        raise OptionError("--save", "standard input cannot be read twice; name a file")


def _kind(arguments: argparse.Namespace) -> str:
    return arguments.plot_kind or default_kind(len(arguments.runs))


def plots_a_pair(arguments: argparse.Namespace) -> bool:
    """Whether there is a plot, of two runs."""
    return arguments.plot is not None and KINDS[_kind(arguments)][1] == "pair"


def files_of(
    comparison: Comparison,
    arguments: argparse.Namespace,
    runs: RunScores | None,
    measures: list[str],
) -> list[tuple[str, Iterable[bytes]]]:
    """The path and content of each file. Raises what the parts raise."""
    outputs: list[tuple[str, Iterable[bytes]]] = []
    command = command_line()
    if arguments.plot is not None:
        image, form = io.BytesIO(), check_format(arguments.plot)
        a, b = arguments.pair or (None, None)
        comparison.plot(_kind(arguments), a=a, b=b, path=image, format=form)
        outputs.append((arguments.plot, [image.getvalue()]))
    if arguments.report is not None:
        sources: dict[str, Any] = {}
        # Standard input cannot be read again.
        if runs is not None and "-" not in arguments.runs:
            plain = arguments.relevance_format == "qrels" and arguments.qrels != "-"
            sources["qrels"] = arguments.qrels if plain else runs.judgments
            sources["runs"] = arguments.runs
        page = io.BytesIO()
        comparison.report(page, command=shlex.join(command), **sources)
        outputs.append((arguments.report, [page.getvalue()]))
    if arguments.save is not None and runs is not None:
        # Imported here because only this needs it.
        from fastrank.analysis.gating.gate import new_baseline

        i = comparison.names.index((comparison.baseline or comparison.names)[0])
        options = given_options(arguments, EvaluationOptions)
        baseline = new_baseline(
            runs.qrels, arguments.runs[i], measures, command, ir_metadata=False, **options
        )
        outputs.append((arguments.save, baseline.content.lines()))
    return outputs


COMMAND = Command(
    "fastrank compare",
    _declare,
    _run,
    usage=("QRELS RUN [RUN ...]", "--values FILE [FILE ...]"),
    epilog=EPILOG,
    formats=FORMS,
    outputs=("output", "plot", "report", "save"),
    kinds={"report": "page", "save": "baseline"},
)
