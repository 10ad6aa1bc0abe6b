"""Scores of groups of queries, and means over data sets."""

from __future__ import annotations

import random
from typing import Any

import pytest

import fastrank as fr
from fastrank.core.native import engine
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_run
from tests.helpers.tables import giving, refusing

QRELS = b"q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq3 0 d 1\nq4 0 e 1\n"
RUN = b"q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 c 1 9 t\nq4 Q0 x 1 9 t\n"
GROUPS = {"q1": "odd", "q2": "even", "q3": "odd", "q4": "even"}
MEASURES = (
    "all_trec PercentileRank MedianRank FirstRank NumRel(rel=2) nDCG@5"
    " HitRatio(average='micro',denominator='relevant_retrieved')@5"
)
SEEDS = range(2 if engine().startswith("plain") else 5)


def scores_of(measures: str = "map", **how: Any) -> Any:
    return fr.evaluate(parse_qrels(QRELS), parse_run(RUN), measures, **how)


def _lines(seed: int) -> tuple[list[bytes], list[bytes]]:
    rng = random.Random(seed)
    qrels, run = [], []
    for query in range(30):
        for doc in rng.sample(range(40), 12):
            qrels.append(b"q%d 0 d%d %d\n" % (query, doc, rng.choice([0, 0, 1, 2])))
        if rng.random() < 0.8 or query < 3:
            for doc in rng.sample(range(40), rng.randrange(1, 20)):
                run.append(b"q%d Q0 d%d 0 %d t\n" % (query, doc, rng.randrange(9)))
    return qrels, run


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "how", [{}, {"missing": "zero"}, {"missing": "zero", "trec_eval_version": "10.0"}]
)
def test_a_group_has_what_evaluating_only_its_queries_gives(seed, how):
    """All measures, to the last bit, in everything that is printed."""
    qrels, run = _lines(seed)
    whole = fr.evaluate(parse_qrels(b"".join(qrels)), parse_run(b"".join(run)), MEASURES, **how)
    groups = {f"q{query}": query % 3 for query in range(30)}

    for group, found in whole.by_group(groups).items():
        own = [
            b"".join(line for line in lines if int(line.split()[0][1:]) % 3 == group)
            for lines in (qrels, run)
        ]
        alone = fr.evaluate(parse_qrels(own[0]), parse_run(own[1]), MEASURES, **how)

        assert repr(found.mean) == repr(alone.mean)
        assert found.to_trec(per_query=True) == alone.to_trec(per_query=True)
        assert (found.counts["missing_queries"], found.missing_queries) == (
            alone.counts["missing_queries"],
            alone.missing_queries,
        )


PAIR = fr.evaluate(
    parse_prefs(b"q g s a 2\nq g s b 1\np g s a 2\np g s b 1\n"),
    parse_run(b"q Q0 b 1 3 t\nq Q0 a 2 2 t\np Q0 a 1 3 t\np Q0 b 2 2 t\n"),
    "prefs_simp",
)
SEVEN = fr.evaluate(parse_qrels(b"7 0 a 1\n"), parse_run(b"7 Q0 a 1 1 t\n"), "map num_q")
SOME, EVEN = {"q1": "odd", "q2": None}, {"q1": "a", "q2": "a", "q4": "a", "unjudged": "c"}
ONE_GROUP = {"q1": 1, "q2": 1, "q4": 1}


def means(groups: dict[Any, fr.Scores]) -> dict[Any, dict[str, float]]:
    return {group: own.mean for group, own in groups.items()}


test_groups_come_in_the_order_of_the_mapping_and_each_counts_the_same = giving("""
list(means(scores_of().by_group(GROUPS)).items()) => [("odd", {"map": 0.5}), ("even", {"map": 0.5})]
scores_of().by_group(GROUPS)["odd"].queries => ["q1"]
scores_of().by_group(GROUPS)["odd"].counts => {"evaluated_queries": 1, "missing_queries": 1}
means(scores_of("map num_q num_rel", missing="zero").by_group(GROUPS))
    => {"odd": {"num_q": 2, "num_rel": 2, "map": 0.25},
    "even": {"num_q": 2, "num_rel": 2, "map": 0.5}}
scores_of().by_group(SOME, rest="others")["odd"].queries => ["q1"]
scores_of().by_group(SOME, rest="others")["others"].queries => ["q2", "q4"]
list(scores_of().by_group({"q1": "odd", "q2": math.nan}, rest="others")) => ["odd", "others"]
scores_of().by_group(ONE_GROUP)[1].counts["missing_queries"] => 0
list(scores_of().by_group(EVEN)) => ["a"]
list(SEVEN.by_group({7: "x"})) => ["x"]
list(SEVEN.by_group({b"7": "x"})) => ["x"]
scores_of("relstring").by_group(GROUPS)["even"]["relstring"].tolist() => ["2", "-"]
means(PAIR.by_group({"p": "p", "q": "q"})) => {"p": {"prefs_simp": 1.0}, "q": {"prefs_simp": 0.0}}
fr.table(scores_of().by_group(GROUPS), label="group").columns
    => {"group": ["odd", "even"], "map": [0.5, 0.5]}
scores_of("map num_q").mean => {"num_q": 3, "map": 0.5}
mean_over_datasets([scores_of("map num_q"), SEVEN]) => {"num_q": 2.0, "map": 0.75}
mean_over_datasets(iter([SEVEN])) => SEVEN.mean
mean_over_datasets({"small": SEVEN}) => SEVEN.mean
""")

# The mean of a group of which nothing was retrieved would be of nothing.
test_groups_that_do_not_fit_are_errors = refusing("""
scores_of().by_group(SOME) => GroupError: ...2 queries have no group: 'q2', 'q4'...
scores_of(missing="zero").by_group(ONE_GROUP) => GroupError: ...1 query has no group: 'q3'...
scores_of().by_group({**EVEN, "q3": "b"}) =>
  GroupError: ...none of the 1 judged queries of group 'b' has...
scores_of().by_group(["odd"]) => TypeError: ...expected {query: group}, found list
mean_over_datasets([scores_of("map"), scores_of("P.1")]) => MeasureError: ...only one has P_1, map
mean_over_datasets([]) => GroupError: ...found none
""")
