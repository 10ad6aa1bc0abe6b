"""The plot and the report of `fastrank compare`."""

from __future__ import annotations

import os
import shlex
import sys

from fastrank.comparing.plots.image import check_format
from fastrank.comparing.plots.plot import KINDS
from fastrank.errors import OptionError
from fastrank.lazy import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from fastrank.comparing.comparison import Comparison


def add_files_to_write(parser: argparse.ArgumentParser) -> None:
    """Declare the plot and the report."""
    add = parser.add_argument
    add(
        "--plot", metavar="FILE",
        help="plot the first measure to a .png, .svg or .pdf file (extra `plot`)",
    )  # fmt: skip
    add(
        "--kind", choices=KINDS, metavar="KIND",
        help=f"kind of plot: {', '.join(KINDS)} (default: differences of two runs, else"
        " intervals)",
    )  # fmt: skip
    add(
        "--report", metavar="FILE",
        help="write a report with tables, plots and rankings to an HTML file (extra `plot`)",
    )  # fmt: skip


def check_files(given: argparse.Namespace) -> None:
    """Raise OptionError or ImportError for a plot or report that cannot be made."""
    if given.plot is not None:
        check_format(given.plot)
    elif given.kind is not None:
        raise OptionError("--kind", "no effect without --plot")
    if given.report is not None:
        optional("matplotlib.figure", "a report", "plot")


def write_files(comparison: Comparison, given: argparse.Namespace, judgments: Any) -> None:
    """Write the plot and the report. Raises OSError, and what both raise."""
    if given.plot is not None:
        default = "differences" if len(comparison) == 2 else "intervals"
        comparison.plot(given.kind or default, path=given.plot)
    if given.report is not None:
        sources: dict[str, Any] = {}
        # Standard input cannot be read again.
        if "-" not in given.runs:
            plain = given.relevance_format == "qrels" and given.qrels != "-"
            sources["qrels"] = given.qrels if plain else judgments
            sources["runs"] = given.runs
        command = shlex.join(["fastrank", *sys.argv[1:]])
        comparison.report(os.fspath(given.report), command=command, **sources)
