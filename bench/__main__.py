"""The command line of the benchmarks: parses arguments, measures, prints."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from bench import (
    cases,
    compare,
    generate,
    machine,
    manifest,
    measure,
    programs,
    report,
    rows,
    run_report,
    speed_table,
    startup,
    startup_report,
)  # fmt: skip
from bench.errors import BenchError, NotFoundError
from bench.subjects import Limits

SUITE_VARIABLE = "FASTRANK_TREC_EVAL_SUITE"


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
    _startup_options(own.add_parser("startup", help="the trec_eval command on small files"))
    _generate_options(own.add_parser("generate", help="write inputs with the expected answers"))
    _run_options(own.add_parser("run", help="measure programs on generated inputs"))
    _embedding_options(own.add_parser("embeddings", help="search and its evaluation, with faiss"))
    both = own.add_parser("compare", help="two files of results: B over A")
    both.set_defaults(run=_compare)
    both.add_argument("before", type=Path, metavar="A.jsonl")
    both.add_argument("after", type=Path, metavar="B.jsonl")
    table = own.add_parser("table", help="the speed table, for the README")
    table.set_defaults(run=_table)
    table.add_argument("results", type=Path, metavar="RESULTS.jsonl")
    table.add_argument(
        "--readme", type=Path, help="write it into this file, between its markers (else: print)"
    )
    return parser


def _embedding_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_embeddings)
    for name, default, what in (
        ("rows", 100_000, "vectors of the corpus"),
        ("dimension", 768, "their dimension"),
        ("queries", 256, "queries"),
        ("k", 100, "documents for each query"),
        ("batch-size", 256, "queries at a time"),
        ("repeat", 5, "rounds"),
        ("memory-dimension", 128, "dimension of the vectors in the file"),
    ):
        parser.add_argument(
            f"--{name}", type=_positive, default=default, metavar="N", help=f"{what} ({default})"
        )
    parser.add_argument(
        "--memory-rows",
        type=int,
        default=2_000_000,
        metavar="N",
        help="vectors in the file that is searched for the peak of memory; 0: none (2000000)",
    )


def _embeddings(given: argparse.Namespace) -> int:
    # Needs faiss, which no other benchmark does.
    from bench import embeddings

    if given.queries > given.rows:
        raise BenchError(f"--queries: expected at most {given.rows}, as many as --rows")
    if given.memory_rows and given.memory_rows < given.queries:
        raise BenchError(f"--memory-rows: expected 0, or at least {given.queries}, as --queries")
    case = embeddings.Case(given.rows, given.dimension, given.queries, given.k, given.batch_size)
    right = embeddings.measure(case, given.repeat, print)
    if given.memory_rows:
        before, after, size = embeddings.measure_memory(
            given.memory_rows, given.memory_dimension, given.queries, given.k
        )
        print(f"memory: {before} MB before, {after} MB after a search in a file of {size:.0f} MB")
    return 0 if right else 1


def _startup_options(own: argparse.ArgumentParser) -> None:
    own.set_defaults(run=_startup)
    own.add_argument("--runs", type=_positive, default=30, help="timed calls of each command (30)")
    _peer_options(own)
    own.add_argument(
        "--suite",
        type=Path,
        metavar="DIR",
        default=os.environ.get(SUITE_VARIABLE) or None,
        help=f"folder with trec_eval's own qrels.test and results.test (default: {SUITE_VARIABLE})",
    )
    own.add_argument("--no-jit", action="store_true", help="leave out the row for the JIT engine")
    own.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON lines")


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


def _run_options(own: argparse.ArgumentParser) -> None:
    own.set_defaults(run=_run)
    own.add_argument("folder", type=Path, metavar="FOLDER", help="what generate wrote")
    own.add_argument("--cases", type=_names, metavar="CASE,...", help="(all in the folder)")
    own.add_argument(
        "--tasks", type=_names, metavar="TASK,...", help=f"of {', '.join(programs.TASKS)} (all)"
    )
    own.add_argument(
        "--peers", type=_names, metavar="PEER,...", help=f"of {', '.join(programs.PEERS)} (all)"
    )
    _peer_options(own)
    own.add_argument("--repeat", type=_positive, default=7, metavar="N", help="further calls (7)")
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
    own.add_argument("-o", "--output", type=Path, metavar="FILE", help="write JSON lines")


def _peer_options(own: argparse.ArgumentParser) -> None:
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


def _startup(given: argparse.Namespace) -> int:
    here = machine.describe()
    found = startup.measure(
        runs=given.runs,
        peer=given.peer,
        compat=given.compat,
        suite=given.suite,
        jit=not given.no_jit,
    )
    print(startup_report.table(found))
    print()
    print(startup_report.target_line(found))
    print(startup_report.facts(here, found))
    if given.json is not None:
        facts = ({**asdict(row), "machine": here} for row in found)
        given.json.write_text(report.json_lines("startup", facts), encoding="utf-8")
    return 0 if all(row.correct for row in found) else 1


def _generate(given: argparse.Namespace) -> int:
    generate.generate(given.folder, cases.chosen(given.cases), given.scale, given.seed)
    return 0


def _run(given: argparse.Namespace) -> int:
    wanted = cases.chosen(given.cases)
    if not given.folder.is_dir():
        raise NotFoundError(f"no folder {given.folder}: python -m bench generate makes one")
    if not given.cases:
        wanted = [case for case in wanted if (given.folder / case.name).is_dir()]
        if not wanted:
            raise NotFoundError(f"no cases in {given.folder}: python -m bench generate makes them")
    stored = [manifest.load(given.folder / case.name) for case in wanted]
    setup = programs.set_up(given.compat, given.peers, given.peer)
    tasks = programs.chosen_tasks(given.tasks)
    if given.output is not None:
        # Found out now rather than after all has been measured.
        given.output.open("ab").close()
    limits = Limits(given.timeout, given.budget)
    found: list[rows.Row] = []
    with tempfile.TemporaryDirectory(prefix="fastrank-bench-") as name:
        for case in stored:
            found += measure.measure(case, tasks, setup, given.repeat, limits, Path(name))
            if given.output is not None:
                rows.write(given.output, found)
    print(run_report.text(found))
    return 1 if any(row.correct is False and _ours(row) for row in found) else 0


def _ours(row: rows.Row) -> bool:
    return row.program.startswith("fastrank")


def _compare(given: argparse.Namespace) -> int:
    text, worse = compare.compare(rows.read(given.before), rows.read(given.after))
    print(text)
    return 1 if worse else 0


def _table(given: argparse.Namespace) -> int:
    found = rows.read(given.results)
    if given.readme is None:
        print(speed_table.markdown(found))
    else:
        speed_table.replace(given.readme, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
