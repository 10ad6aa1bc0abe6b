"""The command line of the benchmarks: parses arguments, measures, prints."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from bench import commands, machine, report, startup

SUITE_VARIABLE = "FASTRANK_TREC_EVAL_SUITE"


def main(arguments: list[str] | None = None) -> int:
    """Run a benchmark; returns 1 when an answer was wrong, else 0."""
    given = _parser().parse_args(arguments)
    try:
        return int(given.run(given))
    except commands.NotFoundError as error:
        sys.exit(f"bench: {error}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    benchmarks = parser.add_subparsers(required=True, metavar="BENCHMARK")
    own = benchmarks.add_parser(
        "startup", help="wall time of one call of the trec_eval command on small files"
    )
    own.set_defaults(run=_startup)
    own.add_argument("--runs", type=_positive, default=30, help="timed calls of each command (30)")
    own.add_argument(
        "--peer",
        type=Path,
        metavar="PATH",
        help="the original trec_eval, to compare with (default: one on the PATH, if any)",
    )
    own.add_argument(
        "--compat",
        choices=["9.0.8", "10.0"],
        default="9.0.8",
        help="the version of the peer: whose numbers our command is to compute (9.0.8)",
    )
    own.add_argument(
        "--suite",
        type=Path,
        metavar="DIR",
        default=os.environ.get(SUITE_VARIABLE) or None,
        help=f"folder with trec_eval's own qrels.test and results.test (default: {SUITE_VARIABLE})",
    )
    own.add_argument("--no-jit", action="store_true", help="leave out the row for the JIT engine")
    own.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON lines")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected at least 1")
    return number


def _startup(given: argparse.Namespace) -> int:
    here = machine.describe()
    rows = startup.measure(
        runs=given.runs,
        peer=given.peer,
        compat=given.compat,
        suite=given.suite,
        jit=not given.no_jit,
    )
    print(report.table(rows))
    print()
    print(report.target_line(rows))
    print(report.facts(here, rows))
    if given.json is not None:
        given.json.write_text(report.json_lines(rows, here), encoding="utf-8")
    return 0 if all(row.correct for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
