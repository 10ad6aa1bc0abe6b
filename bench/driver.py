"""Makes the calls of one library, in a process of its own: `python -m bench.driver NAME JOB`.

One call is made at once. Its answer goes to standard output, as a line of JSON with the time it
took; each line on standard input asks for one more. Libraries are imported here and nowhere else
in the benchmarks.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import libraries


@dataclass(frozen=True)
class Job:
    """What to do: files, a set of measures, and whose numbers to compute."""

    qrels: str
    run: str
    measures: str
    compat: str

    def words(self, library: str) -> list[str]:
        """The command that makes the calls."""
        return [sys.executable, "-m", "bench.driver", library, json.dumps(asdict(self))]


def main() -> None:
    """Answer until standard input ends."""
    # What a library prints must not stand among the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    name, job = sys.argv[1], Job(**json.loads(sys.argv[2]))
    call, values = libraries.LIBRARIES[name](job)
    asked = True
    while asked:
        start = time.monotonic()
        result = call()
        end = time.monotonic()
        told = {"ended": end, "seconds": end - start, "values": values(result)}
        del result
        answers.write(json.dumps(told) + "\n")
        answers.flush()
        asked = bool(sys.stdin.readline())


def environment(variables: dict[str, str]) -> dict[str, str]:
    """The variables with which a driver finds this package, wherever it is started."""
    root = os.fspath(Path(__file__).resolve().parent.parent)
    given = variables.get("PYTHONPATH")
    return {**variables, "PYTHONPATH": f"{root}{os.pathsep}{given}" if given else root}


if __name__ == "__main__":
    main()
