"""The files that `fastrank compare` writes next to its table: plot, report and baseline."""

from __future__ import annotations

import io
import shlex
from functools import partial

from fastrank.analysis.comparing.plots.plot import KINDS, default_kind
from fastrank.cli.flags import OUTPUT, given_options
from fastrank.cli.output import command_line
from fastrank.common.lazy import optional
from fastrank.core.formats.files.compression import compressed
from fastrank.core.matching.keywords import EvaluationOptions
from fastrank.core.results.images import check_format
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from typing import Any

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.cli.parser import Parser
    from fastrank.cli.run_scores import RunScores


def add_files_to_write(parser: Parser) -> None:
    """Declare these files."""
    add = partial(parser.add, group=OUTPUT)
    add("--plot FILE", "plot the first measure (.png, .svg or .pdf)")
    add("--plot-kind KIND", f"kind of plot: {', '.join(KINDS)}", choices=KINDS)
    add("--report FILE", "write an HTML report with tables and plots")
    add("--save FILE", "save a run, or the only -b, for `fastrank gate check`")


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
    kind: str = arguments.plot_kind or default_kind(len(arguments.runs))
    return kind


def plots_a_pair(arguments: argparse.Namespace) -> bool:
    """Whether there is a plot, of two runs."""
    return arguments.plot is not None and KINDS[_kind(arguments)][1] == "pair"


def files_of(
    comparison: Comparison, arguments: argparse.Namespace, runs: RunScores, measures: list[str]
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
        if "-" not in arguments.runs:
            plain = arguments.relevance_format == "qrels" and arguments.qrels != "-"
            sources["qrels"] = arguments.qrels if plain else runs.judgments
            sources["runs"] = arguments.runs
        page = io.BytesIO()
        comparison.report(page, command=shlex.join(command), **sources)
        outputs.append((arguments.report, [page.getvalue()]))
    if arguments.save is not None:
        # Imported here because only this needs it.
        from fastrank.analysis.gating.gate import new_baseline

        i = comparison.names.index((comparison.baseline or comparison.names)[0])
        options = given_options(arguments, EvaluationOptions)
        baseline = new_baseline(
            runs.qrels, arguments.runs[i], measures, command, ir_metadata=False, **options
        )
        outputs.append((arguments.save, compressed(baseline.content.lines(), arguments.save)))
    return outputs
