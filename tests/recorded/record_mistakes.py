"""Record anew the values in fastrank/analysis/conformance/cases.json.

    python tests/recorded/record_mistakes.py

Right values are pytrec_eval's, wrong values those of tests/helpers/contract.py. To add a case, add
one without values; to add a mistake, add its words, and what it does to measures in contract.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.helpers.contract import FILE, right_values, wrong_values


def main() -> None:
    """Write the file, with a line for each mistake and case."""
    content = json.loads(FILE.read_text("ascii"))
    mistakes = content["mistakes"]
    for case in content["cases"]:
        case |= {"right": right_values(case), "wrong": wrong_values(case, mistakes)}
    words = [f"  {json.dumps(name)}: {json.dumps(mistakes[name])}" for name in mistakes]
    cases = [f"  {json.dumps(case)}" for case in content["cases"]]
    mistakes_text, cases_text = ",\n".join(words), ",\n".join(cases)
    FILE.write_text(
        f'{{\n "mistakes": {{\n{mistakes_text}\n }},\n "cases": [\n{cases_text}\n ]\n}}\n', "ascii"
    )


if __name__ == "__main__":
    main()
