"""Small rankings with ties, and every order of them, evaluated by pytrec_eval."""

from __future__ import annotations

from itertools import groupby, permutations, product

import pytrec_eval
from hypothesis import strategies as st

from tests.helpers.small import as_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import fastrank as fr


# The measures with a closed form that pytrec_eval has, too.
KNOWN = (
    "map map_cut.1,2,3,9 P.1,2,3,9 recall.1,2,3,9 relative_P.1,2,3 Rprec recip_rank"
    " success.1,2,3,9 ndcg ndcg_cut.1,2,3,9"
)
# Those that have one where no depth cuts the rankings.
KNOWN_UNCUT = (
    KNOWN + " bpref num_rel_ret num_nonrel_judged_ret set_P set_relative_P set_recall set_F set_map"
    " utility Rprec_mult"
)
# Those that "best" and "worst" bound besides.
BOUNDED = KNOWN + " bpref binG iprec_at_recall 11pt_avg Rprec_mult set_P set_recall set_F set_map"
Results = list[tuple[str, float]]
Grades = dict[str, int]
# Few scores, so that many documents tie, and ids in no order of the lines.
RESULTS = st.permutations("abcdef").flatmap(
    lambda docs: st.lists(st.sampled_from([1.0, 2.0, 2.0, 3.0]), min_size=1, max_size=6).map(
        lambda scores: list(zip(docs, scores, strict=False))
    )
)
# A judgment of a document outside the run makes no query one of negative grades only.
GRADES = st.dictionaries(st.sampled_from("abcdef"), st.integers(-2, 3)).flatmap(
    lambda grades: st.integers(0, 2).map(lambda grade: {**grades, "x": grade})
)


def nouns(grades: Grades, results: Results) -> tuple[fr.Qrels, fr.Run]:
    """One query's judgments and results."""
    return as_read({"q": grades}, {"q": dict(results)})


def groups(results: Results) -> list[list[str]]:
    """The tie groups, best first; documents as their lines stand."""
    ordered = sorted(results, key=lambda result: -result[1])
    return [[doc for doc, _ in tied] for _, tied in groupby(ordered, key=lambda result: result[1])]


def values(
    rankings: list[list[str]], grades: Grades, measures: str, **options: Any
) -> list[dict[str, float]]:
    """What pytrec_eval gives rankings without ties."""
    run = {
        str(i): {doc: float(len(ranking) - rank) for rank, doc in enumerate(ranking)}
        for i, ranking in enumerate(rankings)
    }
    judgments = dict.fromkeys(run, grades)
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, set(measures.split()), **options)
    found = evaluator.evaluate(run)
    return [found[str(i)] for i in range(len(rankings))]


def every_order(results: Results, depth: int | None = None) -> list[list[str]]:
    """All rankings that settle the ties, cut at a depth."""
    orders = product(*(permutations(tied) for tied in groups(results)))
    return [[doc for group in order for doc in group][:depth] for order in orders]
