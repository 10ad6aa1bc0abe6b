"""Record anew what the two original trec_eval programs answer to the cases in cases.json.

    python tests/recorded/record.py --v908 PATH --v10 PATH

Each line of cases.json is a case,

    {"name", "shows", "args", "files", ["stdin"], "expect": {"9.0.8": {...}, "10.0": {...}}}

where an expectation holds the exit status, the whole of stdout (null where only the exit status
counts, for the help text) and the first line of stderr. All text is bytes decoded as latin-1, so
that every byte can be written down. To add a case, add a line with {} for each level that counts.

Each case is run in a fresh temporary directory, with argv[0] set to "trec_eval". A level is left
out of "expect" where the original has no defined result (crashes, uninitialised memory) or where we
differ on purpose:

* measures, comments and standard input that only 10.0 knows are accepted at level 9.0.8 too;
* at level 10.0 a judged query that is missing from the run is skipped when -c is absent, where the
  original stops with exit status 4.

All inputs are invented.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases.json"


def expectation(program: Path, case: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """What a program answers."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in case["files"].items():
            (Path(folder) / name).write_bytes(text.encode("latin-1"))
        done = subprocess.run(
            ["trec_eval", *case["args"]],
            executable=program.resolve(),
            cwd=folder,
            input=case.get("stdin", "").encode("latin-1"),
            capture_output=True,
            timeout=60,
            check=False,
        )
    if done.returncode < 0:
        raise SystemExit(f"{case['name']}: killed by signal {-done.returncode}")
    out, first = done.stdout.decode("latin-1"), done.stderr.decode("latin-1").split("\n")[0]
    counts = before.get("stdout", "") is not None
    return {"exit": done.returncode, "stdout": out if counts else None, "stderr": first}


def main() -> None:
    """Record all cases."""
    parser = argparse.ArgumentParser(description="Record the results of the original programs.")
    parser.add_argument("--v908", type=Path, required=True, help="trec_eval of the tag v9.0.8")
    parser.add_argument("--v10", type=Path, required=True, help="trec_eval of the tag v10.0")
    given = parser.parse_args()
    programs = {"9.0.8": given.v908, "10.0": given.v10}
    cases = json.loads(CASES.read_text("ascii"))
    for case in cases:
        case["expect"] = {
            level: expectation(programs[level], case, before)
            for level, before in case["expect"].items()
        }
    text = "[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n"
    CASES.write_text(text, "ascii")
    print(f"{len(cases)} cases, {len(text)} bytes")


if __name__ == "__main__":
    main()
