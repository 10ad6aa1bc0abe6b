"""Record what MTEB computes from the inputs of tests/helpers/retrieval_results.py.

values.json has the values of MTEB 2.26.24 by seed and name, without those by query, which are
pytrec_eval's. To record them again, with pandas 3.1.1, numpy 2.4.6 and scikit-learn 1.9.1 in Python
3.11, whose `sum` later versions do not repeat bit for bit:

    python -m venv other && other/bin/pip install torch==2.13.0 mteb==2.26.24
    other/bin/python tests/recorded/mteb/record.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from tests.helpers.retrieval_results import RECORDED, values_of  # noqa: E402


def main() -> None:
    """Write values.json."""
    from mteb._evaluators import retrieval_metrics

    recorded = {}
    for seed in RECORDED:
        recorded[seed] = values_of(retrieval_metrics, seed)
        del recorded[seed]["all_scores"]
    text = json.dumps(recorded, separators=(",", ":"), default=float)
    (HERE / "values.json").write_text(text.replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main()
