"""What programs are measured at."""

from __future__ import annotations

OFFICIAL, ALL_TREC = "evaluate official", "evaluate all_trec"
# From dicts and arrays: with what knows the judgments made beforehand; with making it; made
# beforehand and called for one query after the other. Four measures, or all.
BUILT, BUILDING, SINGLE = "memory built four", "memory building four", "memory single four"
BUILT_ALL, BUILDING_ALL = "memory built all_trec", "memory building all_trec"
MEMORY = (BUILT, BUILDING, SINGLE, BUILT_ALL, BUILDING_ALL)
READ, START, FLOOR = "read", "start-up", "floor"
# The command as it is used in loops over small runs: nothing sets a variable for it.
COMMANDS = {
    "command -m map": ["-m", "map"],
    "command -m official": ["-m", "official"],
    "command -q -m all_trec": ["-q", "-m", "all_trec"],
}
TASKS = (OFFICIAL, ALL_TREC, *COMMANDS, *MEMORY, READ, START, FLOOR)
# What trec_eval's -m is given; starting is measured without it, which means the same as official.
MEASURES = {
    OFFICIAL: "official",
    ALL_TREC: "all_trec",
    START: "official",
    **{task: task.split()[-1] for task in (*COMMANDS, *MEMORY)},
}
