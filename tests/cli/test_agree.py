"""`fastrank agree`: what it prints of two runs, and of rankings of systems."""

from __future__ import annotations

import json
from pathlib import Path

import fastrank as fr
from tests.helpers.commands import QRELS, RUNS, printed, write


def test_rankings_of_systems_have_a_row_for_each_measure():
    lines = Path(QRELS).read_text().splitlines(keepends=True)
    write({"part.qrels": "".join(lines[::3])})
    for qrels, path in ((QRELS, "all.csv"), ("part.qrels", "part.csv")):
        printed(f"eval -m map -m P.10 --format csv -o {path} {qrels} {RUNS}")

    rows = json.loads(printed("agree --systems --format json all.csv part.csv"))

    assert [row["measure"] for row in rows] == ["map", "P_10"]
    for row in rows:
        first, second = (_means(path, row["measure"]) for path in ("all.csv", "part.csv"))
        found = fr.agreement(first, second)
        assert row["systems"] == 3
        for name in ("tau_b", "tau_a", "weighted_tau", "tau_ap", "tau_ap_b"):
            assert row[name] == getattr(found, name)
        assert row["rbo"] == fr.rbo(first, second).ext


def _means(path: str, measure: str) -> dict[str, float]:
    rows = [line.split(",") for line in Path(path).read_text().splitlines()]
    return {row[0]: float(row[3]) for row in rows if row[1:3] == ["", measure]}


def test_names_that_spreadsheets_would_run_are_the_same_in_files_of_others():
    """What `eval` writes has an apostrophe before them."""
    rows = "run,query,measure,value\n{}=a,,map,0.5\nb,,map,0.25\n"
    write({"ours.csv": rows.format("'"), "others.csv": rows.format("")})
    (row,) = json.loads(printed("agree --systems --format json ours.csv others.csv"))
    assert row["systems"] == 2
    for name, mark in (("ours.csv", "'"), ("others.csv", "")):
        write({name: rows.format(mark).replace(",,", ",q,")})
        assert fr.compare_scores(name).names == ["=a", "b"]


def test_the_best_system_is_the_first_of_measures_of_which_lower_values_are_better():
    """The best two change places, which weighs more than a change at the end."""

    def agreement(*rankings: tuple[int, ...]) -> dict[str, float]:
        for name, ranks in zip(("a.csv", "b.csv"), rankings, strict=True):
            lines = [f"s{i},,FirstRank,{rank}\n" for i, rank in enumerate(ranks)]
            write({name: "run,query,measure,value\n" + "".join(lines)})
        return json.loads(printed("agree --systems --format json a.csv b.csv"))[0]  # type: ignore[no-any-return]

    best, last = agreement((1, 2, 3, 4), (2, 1, 3, 4)), agreement((1, 2, 3, 4), (1, 2, 4, 3))

    assert best["tau_b"] == last["tau_b"]
    assert best["tau_ap"] < last["tau_ap"]
    assert best["rbo"] < last["rbo"]
