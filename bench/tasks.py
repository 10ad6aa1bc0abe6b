"""What programs are measured at."""

from __future__ import annotations

OFFICIAL, ALL_TREC = "evaluate official", "evaluate all_trec"
READ, START, FLOOR = "read", "start-up", "floor"
TASKS = (OFFICIAL, ALL_TREC, READ, START, FLOOR)
# What trec_eval's -m is given; starting is measured without it, which means the same as official.
MEASURES = {OFFICIAL: "official", ALL_TREC: "all_trec", START: "official"}
