"""Makes the calls of one library: `python -m bench.driver NAME JOB [OPTION]...`.

Without options it makes one call; with pyperf's it is a script of pyperf's, which times calls in a
process of their own. The values of each call are added to a file, as a line of JSON. Libraries are
imported here and nowhere else in the benchmarks.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from bench import libraries


@dataclass(frozen=True)
class Job:
    """What to do: files, a set of measures, whose numbers to compute, and where values go."""

    qrels: str
    run: str
    measures: str
    trec_eval_version: str
    answers: str

    def words(self, library: str) -> list[str]:
        """The arguments of Python that make the calls."""
        return ["-m", "bench.driver", library, json.dumps(asdict(self))]


def _timer(name: str, job: Job) -> Callable[[int], float]:
    """What makes calls and returns the seconds they took, without what becomes of the results."""
    call, values = libraries.LIBRARIES[name].prepare(job)

    def timed(calls: int) -> float:
        seconds = 0.0
        for _ in range(calls):
            start = time.perf_counter()
            result = call()
            seconds += time.perf_counter() - start
            with open(job.answers, "a", encoding="utf-8") as answers:
                answers.write(json.dumps(values(result)) + "\n")
            del result
        return seconds

    return timed


def main() -> None:
    """Make one call, or be a script of pyperf's."""
    _, name, text, *options = sys.argv
    job = Job(**json.loads(text))
    if not options:
        _timer(name, job)(1)
        return
    # Its import is not part of what a library costs.
    import pyperf

    runner = pyperf.Runner(program_args=job.words(name))
    # pyperf's other process only starts the one that works.
    works = runner.parse_args(options).worker
    runner.bench_time_func(name, _timer(name, job) if works else None)


if __name__ == "__main__":
    main()
