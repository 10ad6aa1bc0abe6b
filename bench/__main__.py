"""The command line of the benchmarks: parses arguments, measures, prints."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import pyperf

from bench import (
    added,
    cases,
    coverage,
    figures,
    generate,
    manifest,
    measure,
    programs,
    rows,
    run_report,
    speed_table,
)
from bench.errors import BenchError, NotFoundError
from bench.tasks import TASKS
from bench.timing import Limits
from fastrank.core.formats.inputs import run_name


def main(arguments: list[str] | None = None) -> int:
    """Run a benchmark; returns 1 when an answer was wrong, 2 when it could not run, else 0."""
    given = _parser().parse_args(arguments)
    try:
        return int(given.run(given))
    except (BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Benchmarks, explained in bench/README.md."
    )
    own = parser.add_subparsers(required=True, metavar="BENCHMARK")
    _generate_options(own.add_parser("generate", help="write inputs with the expected answers"))
    _add_options(own.add_parser("add", help="add judgments and a run of your own to the inputs"))
    _run_options(own.add_parser("run", help="measure programs on the inputs"))
    table = own.add_parser("table", help="the tables of docs/speed.md")
    table.set_defaults(run=_table)
    table.add_argument("results", type=Path, nargs="+", metavar="RESULTS.json")
    table.add_argument(
        "--page", type=Path, help="write it into this file, between its markers (else: print)"
    )
    covered = own.add_parser(
        "coverage", help="how often the intervals of fr.estimate cover the truth"
    )
    covered.set_defaults(run=_coverage)
    covered.add_argument(
        "--check", action="store_true", help="fail where it falls short of what the docs say"
    )
    covered.add_argument("--repetitions", type=int, default=5000, metavar="N", help="(5000)")
    covered.add_argument("--qrels", type=Path, metavar="QRELS", help="(data/digits.qrels)")
    covered.add_argument("runs", type=Path, nargs="*", metavar="RUN", help="(those in data/)")
    counted = own.add_parser("figures", help="lines, files, modules, and calls of this checkout")
    counted.set_defaults(run=_figures)
    return parser


def _coverage(given: argparse.Namespace) -> int:
    runs = {run_name(path): path for path in given.runs}
    runs = runs or {name: coverage.DATA / f"{name}.run" for name in coverage.RUNS}
    qrels = given.qrels or coverage.DATA / "digits.qrels"
    found = list(coverage.rows(qrels, runs, given.repetitions))
    print(coverage.table(found))
    # Each of these draws queries, a plan, and grades.
    repetitions = max(1, given.repetitions // 10)
    plans = list(coverage.plan_rows(qrels, runs, repetitions))
    print(coverage.plan_table(plans))
    short: list[coverage.Row | coverage.PlanRow] = [
        row for row in plans if coverage.falls_short(row, repetitions)
    ]
    short += [own for own in found if coverage.falls_short(own, given.repetitions)]
    for own in short:
        print(f"falls short: {own.judge} {own.measure} {own.system} n={own.n}", file=sys.stderr)
    return int(given.check and bool(short))


def _figures(_: argparse.Namespace) -> int:
    print(figures.text())
    return 0


def _generate_options(own: argparse.ArgumentParser) -> None:
    own.set_defaults(run=_generate)
    own.add_argument("folder", type=Path, metavar="FOLDER")
    own.add_argument(
        "--scale", type=_share, default=1.0, metavar="F", help="share of the full size, up to 1 (1)"
    )
    own.add_argument("--seed", type=_seed, default=cases.SEED, help=f"({cases.SEED})")
    own.add_argument(
        "--cases", type=_names, metavar="CASE,...", help=f"of {', '.join(cases.CASES)} (all)"
    )


def _add_options(own: argparse.ArgumentParser) -> None:
    own.set_defaults(run=_add)
    own.add_argument(
        "folder", type=Path, metavar="FOLDER", help="what generate wrote, or a new one"
    )
    own.add_argument("name", metavar="NAME", help="what to call the case")
    own.add_argument("qrels", type=Path, metavar="QRELS", help="in TREC's format, also gzipped")
    own.add_argument("ranking", type=Path, metavar="RUN", help="in TREC's format, also gzipped")


def _run_options(own: argparse.ArgumentParser) -> None:
    own.set_defaults(run=_run)
    own.add_argument("folder", type=Path, metavar="FOLDER", help="what generate wrote")
    own.add_argument("--cases", type=_names, metavar="CASE,...", help="(all in the folder)")
    own.add_argument(
        "--tasks", type=_names, metavar="TASK,...", help=f"of {', '.join(TASKS)} (all)"
    )
    own.add_argument(
        "--peers", type=_names, metavar="PEER,...", help=f"of {', '.join(programs.PEERS)} (all)"
    )
    own.add_argument(
        "--peer",
        type=Path,
        metavar="PATH",
        help="the original trec_eval, to compare with (default: one on the PATH, if any)",
    )
    own.add_argument(
        "--trec-eval-version",
        choices=["9.0.8", "10.0"],
        default="9.0.8",
        help="the version of the peer: whose numbers our command is to compute (9.0.8)",
    )
    own.add_argument("--rounds", type=_positive, default=5, metavar="N", help="(5)")
    own.add_argument(
        "--timeout", type=_seconds, default=300.0, metavar="S", help="limit of a call (300 s)"
    )
    own.add_argument(
        "--budget",
        type=_seconds,
        default=30.0,
        metavar="S",
        help="a program that has taken so long at a task on a case is not called again (30 s)",
    )
    own.add_argument("-o", "--output", type=Path, metavar="FILE", help="write a file for pyperf")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected at least 1")
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"{text}: expected more than 0, at most 1")
    return number


def _seed(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**32:
        raise argparse.ArgumentTypeError(f"{text}: expected an integer from 0 to 2^32 - 1")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= 1e6:
        raise argparse.ArgumentTypeError(f"{text}: expected more than 0, at most 1000000")
    return number


def _generate(given: argparse.Namespace) -> int:
    generate.generate(given.folder, cases.chosen(given.cases), given.scale, given.seed)
    return 0


def _add(given: argparse.Namespace) -> int:
    added.add(given.folder, given.name, given.qrels, given.ranking)
    return 0


def _run(given: argparse.Namespace) -> int:
    if not given.folder.is_dir():
        raise NotFoundError(f"no folder {given.folder}: python -m bench generate makes one")
    wanted = cases.chosen(given.cases, cases.CASES | added.cases(given.folder))
    if not given.cases:
        wanted = [case for case in wanted if (given.folder / case.name).is_dir()]
        if not wanted:
            raise NotFoundError(f"no cases in {given.folder}: python -m bench generate makes them")
    stored = [manifest.load(given.folder, case) for case in wanted]
    own = [case.case.name for case in stored if case.manifest.seed is None]
    if own and given.trec_eval_version != "9.0.8":
        names = ",".join(own)
        raise BenchError(f"{names}: what was added is checked with the numbers of trec_eval 9 only")
    setup = programs.set_up(given.trec_eval_version, given.peers, given.peer)
    tasks = programs.chosen_tasks(given.tasks)
    if given.output is not None:
        # Found out now rather than after all has been measured.
        given.output.open("ab").close()
    limits = Limits(given.timeout, given.budget)
    timed: list[pyperf.Benchmark] = []
    others: list[rows.Row] = []
    with tempfile.TemporaryDirectory(prefix="fastrank-bench-") as name:
        for case in stored:
            for subject in measure.measure(case, tasks, setup, given.rounds, limits, Path(name)):
                found = rows.benchmark(subject, case, setup)
                if found is None:
                    others.append(rows.unmeasured(subject, case))
                else:
                    timed.append(found)
            if given.output is not None:
                rows.write(given.output, timed)
    everything = [*rows.rows(timed), *others]
    print(run_report.text(everything))
    ours_wrong = (
        row.status == "wrong" and row.program.startswith("fastrank") for row in everything
    )
    return 1 if any(ours_wrong) else 0


def _table(given: argparse.Namespace) -> int:
    found = rows.read(given.results)
    if given.page is None:
        print(speed_table.markdown(found))
    else:
        speed_table.replace(given.page, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
