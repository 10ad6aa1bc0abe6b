"""trec_eval's measures, one record each, in the order in which they are computed and printed.

To add a measure, write its kernel in fastrank/core/kernels, and add its record where its lines must
appear. Names, order, parameters and sets are trec_eval's.
"""

from __future__ import annotations

from fastrank.core.data.columns import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# The needs of measures that see gains: of those with options, and of all.
DEFINED_GAINS = ("gains", "stops", "normalized gains", "exact gains", "best gains")
GAINS = ("unit gains", *DEFINED_GAINS)
INFINITE = float("inf")


class Measure(Frozen):
    """The record of a measure.

    name: the name of the measure, as in trec_eval.
    kernel: the name of the kernel that computes it for one query, "" if none is needed.
    needs: the input of the kernel: "ranking", "gains", "unit gains" (gains scaled to [0, 1]),
        "stops" (gains that are stopping probabilities), "normalized gains" (grades mapped from
        [min_rel, max_rel] to [0, 1]), "exact gains" (not scaled by a common factor), "best gains"
        (gains, and an ideal ranking with max_grade at every rank), "annotated" (a ranking whose
        documents are judged if they are judged for any query), "ties" (a ranking by groups of equal
        scores), "strata" (the retrieved documents of a sampled pool, and its strata), "subtopics"
        (the judgments of documents by subtopic), "groups" (one ranking per judgment group,
        averaged), "preferences"; or "run", "queries".
    takes: its parameters: "" (none), "cutoffs" (ranks), "recalls" (numbers, one value for each),
        "numbers", "gains" (grade=gain pairs), "persistence" (gains and p=), "weights".
    default: the parameters when none are given.
    average: how values are summarized over queries: "mean", "sum" (an integer), "geometric" (the
        values per query exist only as logarithms and are not reported), "" (not at all).
    sets: the nicknames that include it.
    since: the first trec_eval version whose `all_trec` includes it.
    better: "higher" or "lower", which values are better; "" if neither is, as for counts that
        describe the judgments.
    reaches_one: whether 1 is the best value: the perfect ranking of enough relevant documents has
        it by definition, not only rounded, and none has more; or a function that says so for the
        parameter of one of its values.
    monotone: whether its value is known not to fall when a document changes places with one of a
        lower grade before it, so that no order of tied documents is worse than "worst" or better
        than "best".
    over_ties: when the mean of its values over all orders of tied documents is known: "always";
        "uncut", if no depth cuts the rankings, so that it is known what is retrieved; "whole", if
        the measure has no cutoff either; "fixed" and "fixed uncut", because all orders have the
        same value; "" never.
    is_text: whether its values are texts.
    without_results: what a judged query without results counts in summaries: "zero", its
        "judgments" (its value is computed from them), or its "positive grades".
    zeroed: whether trec_eval 10.0 replaces its value for such a query by 0, unless it is asked for
        with parameters other than cutoffs.
    versioned: whether its kernel rounds as the version of trec_eval does, its first parameter.
    with_cutoff: how its variant with a cutoff is requested.
    purpose, words: for docs/choosing.md, what it is for, and its value in few words; or else
    beside: the measure that it is listed with.
    adds: for `explain`, what each document adds to a sum, and what that is divided by, in the words
        of explaining/contributions.py; None for a value that is no such sum.
    exceeds_one: whether a value per query can be above 1, or below 0.
    below_cutoff: whether documents below its cutoff count, as in the ideal ranking of those that
        were retrieved.
    help: description, definition and source.

    >>> by_name = {measure.name: measure for measure in fr.MEASURES}
    >>> by_name["ndcg_cut"]
    <Measure ndcg_cut>
    >>> by_name["ndcg_cut"].takes, by_name["ndcg_cut"].default[:3], by_name["ndcg_cut"].average
    ('cutoffs', (5, 10, 15), 'mean')
    """

    name: str
    kernel: str
    help: str
    needs: str = "ranking"
    takes: str = ""
    default: tuple[float, ...] = ()
    average: str = "mean"
    sets: tuple[str, ...] = ()
    since: str = "9.0.8"
    better: str = "higher"
    reaches_one: bool | Callable[[float], bool] = False
    exceeds_one: bool = False
    monotone: bool = False
    over_ties: str = ""
    is_text: bool = False
    without_results: str = "zero"
    zeroed: bool = False
    versioned: bool = False
    with_cutoff: str = ""
    purpose: str = ""
    words: str = ""
    beside: str = ""
    adds: tuple[str, str] | None = None
    below_cutoff: bool = False

    @property
    def expected_kernel(self) -> str:
        """The kernel of its expected value over the orders of ties, if that is known."""
        is_own = self.over_ties.startswith("fixed") or self.needs == "ties"
        return self.kernel if is_own else f"{self.kernel}_over_ties"

    def __repr__(self) -> str:
        return f"<Measure {self.name}>"


OFFICIAL = ("official", "all_trec")
COUNTS = ("official", "all_trec", "set")
ALL = ("all_trec",)
SET = ("all_trec", "set")
PREFS = ("all_prefs", "prefs")
ALL_PREFS = ("all_prefs",)
JG = ("qrels_jg",)
EVERY = ("official", "all_trec", "set", "all_prefs", "prefs", "qrels_jg")
NONE: tuple[str, ...] = ()

RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
BOTH_RETRIEVED = "preferences between two retrieved documents"
ONE_RETRIEVED = "preferences with at least one document retrieved"
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


def with_bounds(facts: dict[str, object]) -> dict[str, Any]:
    """The facts of a record, with what its kind of values says of their bounds."""
    average = facts.get("average", "mean")
    best = average in ("mean", "geometric") and facts.get("better", "higher") == "higher"
    return facts | {
        "reaches_one": best and facts.get("reaches_one", True),
        "exceeds_one": facts.get("exceeds_one", average in ("sum", "total", "geometric")),
    }


def _record(name: str, kernel: str, sets: tuple[str, ...], help_: str, **facts: object) -> Measure:
    return Measure(name=name, kernel=kernel, sets=sets, help=help_, **with_bounds(facts))


def _count(name: str, kernel: str, sets: tuple[str, ...], help_: str, **facts: object) -> Measure:
    return _record(name, kernel, sets, help_, average="sum", purpose="Counts", **facts)


def _at_ranks(
    name: str, kernel: str, sets: tuple[str, ...], help_: str, **facts: object
) -> Measure:
    """A measure of the first documents, for each of several ranks."""
    shared = {"takes": "cutoffs", "default": RANKS, "monotone": True, "over_ties": "always"}
    return _record(name, kernel, sets, help_, **(shared | facts))


def _of_gains(
    name: str, kernel: str, sets: tuple[str, ...], help_: str, **facts: object
) -> Measure:
    return _record(name, kernel, sets, help_, needs="gains", takes="gains", **facts)


def _of_preferences(
    name: str, kernel: str, sets: tuple[str, ...], help_: str, **facts: object
) -> Measure:
    """A measure of preferences, with a purpose of its own unless it is listed beside another."""
    purpose = "" if "beside" in facts else "Preferences, and several assessors"
    return _record(name, kernel, sets, help_, needs="preferences", purpose=purpose, **facts)


def _is_at_most_r(multiple: float) -> bool:
    """Whether trunc(multiple * R + 0.9) is R or less for some R, but not always 0."""
    return 0.0 < multiple < 1.1


MEASURES: tuple[Measure, ...] = (
    _record(
        "runid",
        "",
        EVERY,
        "The run's tag: the sixth field of the last line of the run.",
        needs="run",
        average="",
        better="",
        is_text=True,
        over_ties="fixed",
        purpose="Counts",
        words="the run's tag",
    ),
    _count(
        "num_q",
        "",
        EVERY,
        "Number of queries averaged over: those with judgments and results or, with -c, all in\n"
        "the relevance file.",
        needs="queries",
        better="",
        over_ties="fixed",
        words="queries",
    ),
    _count(
        "num_ret",
        "num_ret",
        COUNTS,
        "Number of documents retrieved (after -M and -J).",
        better="",
        monotone=True,
        zeroed=True,
        over_ties="fixed",
        words="retrieved documents",
    ),
    _count(
        "num_rel",
        "num_rel",
        COUNTS,
        "Number of relevant documents in the judgments: R (grade at least -l). With -c, the\n"
        "summary counts the judgments with a positive grade in the whole file, ignoring -l, as\n"
        "trec_eval does.",
        better="",
        monotone=True,
        without_results="positive grades",
        over_ties="fixed",
        words="relevant documents",
    ),
    _count(
        "num_rel_ret",
        "num_rel_ret",
        COUNTS,
        "Number of relevant documents retrieved.",
        monotone=True,
        over_ties="always",
        words="relevant documents that are retrieved",
    ),
    _record(
        "map",
        "average_precision",
        OFFICIAL,
        "Average precision; its mean over queries is MAP. The sum of the precisions at the ranks\n"
        "of the relevant documents, divided by R. Source: trec_eval map; Buckley and Voorhees,\n"
        "'Evaluating evaluation measure stability', SIGIR 2000.",
        monotone=True,
        adds=("precision", "R"),
        with_cutoff="map_cut.",
        over_ties="always",
        beside="AP",
    ),
    _record(
        "gm_map",
        "log_average_precision",
        OFFICIAL,
        "Geometric mean of average precision; values below 0.00001 count as 0.00001. It gives\n"
        "more weight to improvements of poor queries. Summary only. Source: trec_eval gm_map;\n"
        "Robertson, 'On GMAP: and other transformations', CIKM 2006.",
        average="geometric",
        monotone=True,
        purpose="One number for the whole ranking",
        words="geometric mean of AP, which stresses hard queries",
    ),
    _record(
        "Rprec",
        "r_precision",
        OFFICIAL,
        "R-precision: number of relevant documents in the first R, divided by R. Source:\n"
        "trec_eval Rprec.",
        monotone=True,
        adds=("relevance of the first R", "R"),
        over_ties="always",
        purpose="The first documents",
        words="precision of as many documents as are relevant",
    ),
    _record(
        "bpref",
        "binary_preference",
        OFFICIAL,
        "Binary preference: the sum over relevant retrieved documents of 1 - min(n, R) /\n"
        "min(N, R), divided by R, where n of the N judged nonrelevant documents rank higher.\n"
        "Unjudged documents are ignored. Source: trec_eval bpref; Buckley and Voorhees,\n"
        "'Retrieval evaluation with incomplete information', SIGIR 2004.",
        monotone=True,
        adds=("preference", "R"),
        over_ties="uncut",
        purpose="Incomplete judgments",
        words="ignores unjudged documents",
    ),
    _record(
        "recip_rank",
        "reciprocal_rank",
        OFFICIAL,
        "Reciprocal rank of the first relevant document, 0 if there is none; its mean is MRR.\n"
        "Source: trec_eval recip_rank; Voorhees, TREC-8 question answering track, 1999.",
        monotone=True,
        adds=("reciprocal rank", ""),
        with_cutoff="RR@",
        over_ties="always",
        beside="RR",
    ),
    _record(
        "iprec_at_recall",
        "interpolated_precision",
        OFFICIAL,
        "Interpolated precision at recall levels: the highest precision at or after the rank\n"
        "where c * R relevant documents are retrieved; this number is trunc(c * R + 0.9) in 9.0.8\n"
        "and rounded in 10.0. Parameters: recall levels. Source: trec_eval iprec_at_recall; van\n"
        "Rijsbergen, 'Information Retrieval', 1979, chapter 7.",
        takes="recalls",
        default=TENTHS,
        monotone=True,
        versioned=True,
        beside="IPrec",
    ),
    _at_ranks(
        "P",
        "precision_cut",
        OFFICIAL,
        "Precision at cutoff: number of relevant documents in the first k, divided by k even if\n"
        "fewer are retrieved. Parameters: ranks. Source: trec_eval P.",
        adds=("relevance", "k"),
        beside="P",
    ),
    _record(
        "relstring",
        "relevance_string",
        ALL,
        "Grades of the first documents as a string: 0-9, > for more than 9, - for a document not\n"
        "in the judgments, . for a negative grade. Per query only. Parameter: length. Source:\n"
        "trec_eval relstring.",
        takes="numbers",
        default=(10,),
        average="",
        better="",
        is_text=True,
        zeroed=True,
        purpose="The first documents",
        words="the grades of the first documents, as a string",
    ),
    _at_ranks(
        "recall",
        "recall_cut",
        ALL,
        "Recall at cutoff: number of relevant documents in the first k, divided by R. Parameters:\n"
        "ranks. Source: trec_eval recall.",
        adds=("relevance", "R"),
        beside="R",
    ),
    _record(
        "infAP",
        "inferred_average_precision",
        ALL,
        "Inferred average precision: average precision estimated from judgments of a sample of\n"
        "the pool; a negative grade marks a pooled document outside the sample. Source: trec_eval\n"
        "infAP; Yilmaz and Aslam, 'Estimating average precision with incomplete and imperfect\n"
        "judgments', CIKM 2006.",
        adds=("inferred precision", "R"),
        purpose="Incomplete judgments",
        words="AP estimated from a sample of judgments",
    ),
    _record(
        "gm_bpref",
        "log_binary_preference",
        ALL,
        "Geometric mean of bpref; values below 0.00001 count as 0.00001. Summary only. Source:\n"
        "trec_eval gm_bpref.",
        average="geometric",
        monotone=True,
        beside="bpref",
    ),
    _record(
        "Rprec_mult",
        "r_precision_multiple",
        ALL,
        "Precision after c * R documents: number of relevant documents in the first n =\n"
        "trunc(c * R + 0.9), divided by n. Parameters: multiples of R. Source: trec_eval\n"
        "Rprec_mult.",
        takes="recalls",
        default=MULTIPLES,
        reaches_one=_is_at_most_r,
        monotone=True,
        over_ties="always",
        purpose="The first documents",
        words="precision of multiples of that number",
    ),
    _record(
        "utility",
        "utility",
        SET,
        "Linear utility: a * relevant retrieved + b * nonrelevant retrieved + c * relevant not\n"
        "retrieved + d * nonrelevant not retrieved; only the last needs -N. Parameters: a,b,c,d.\n"
        "Source: trec_eval utility; Hull, TREC-7 filtering track, 1998.",
        takes="weights",
        default=(1, -1, 0, 0),
        reaches_one=False,
        zeroed=True,
        over_ties="always",
        exceeds_one=True,
        purpose="Models of readers",
        words="linear utility of a set, for filtering",
    ),
    _record(
        "11pt_avg",
        "average_interpolated_precision",
        ALL,
        "Mean interpolated precision (iprec_at_recall) at eleven recall levels. Parameters:\n"
        "recall levels. Source: trec_eval 11pt_avg.",
        takes="numbers",
        default=TENTHS,
        monotone=True,
        versioned=True,
        purpose="One number for the whole ranking",
        words="mean interpolated precision at eleven levels of recall",
    ),
    _record(
        "binG",
        "binary_g",
        ALL,
        "Binary G: the sum over relevant retrieved documents of 1 / log2(2 + number of\n"
        "nonrelevant documents above), divided by R. Source: trec_eval binG.",
        monotone=True,
        over_ties="uncut",
        beside="G",
    ),
    _of_gains(
        "G",
        "graded_g",
        ALL,
        "Graded G: the sum of gain / log2(2 + cost - cumulated gain), divided by the sum of all\n"
        "gains, where the cost of a rank is its gain in the ideal ranking, but at least 1.\n"
        "Parameters: grade=gain pairs. Source: trec_eval G.",
        purpose="Grades",
        words="gain with a logarithmic cost",
    ),
    _of_gains(
        "dcg",
        "discounted_gain",
        NONE,
        "Discounted cumulative gain: the sum of gain / log2(rank + 1). Parameters: grade=gain\n"
        "pairs. Source: trec_eval 10.0 dcg; Jarvelin and Kekalainen, ACM TOIS 20(4), 2002.",
        since="10.0",
        reaches_one=False,
        monotone=True,
        adds=("discounted gain", ""),
        with_cutoff="DCG@",
        over_ties="always",
        beside="DCG",
        exceeds_one=True,
    ),
    _of_gains(
        "ideal_dcg",
        "ideal_discounted_gain",
        NONE,
        "Discounted cumulative gain of the ideal ranking of the judged documents. Parameters:\n"
        "grade=gain pairs. Source: trec_eval 10.0 ideal_dcg.",
        since="10.0",
        better="",
        monotone=True,
        over_ties="fixed",
        beside="DCG",
        exceeds_one=True,
    ),
    _of_gains(
        "ndcg",
        "normalized_discounted_gain",
        ALL,
        "Normalized discounted cumulative gain: dcg divided by that of the ideal ranking of all\n"
        "judged documents. By default the gain of a grade is the grade; -l has no effect.\n"
        "Parameters: grade=gain pairs, as in -m ndcg.1=3,2=9. Source: trec_eval ndcg; Jarvelin\n"
        "and Kekalainen, ACM TOIS 20(4), 2002.",
        monotone=True,
        adds=("discounted gain", "ideal DCG"),
        with_cutoff="ndcg_cut.",
        over_ties="always",
        beside="nDCG",
    ),
    _of_gains(
        "ndcg_rel",
        "normalized_gain_at_relevant",
        ALL,
        "ndcg averaged over the ranks of the documents with a gain; those not retrieved count as\n"
        "if retrieved at the end. Parameters: grade=gain pairs. Source: trec_eval ndcg_rel.",
        purpose="Grades",
        words="nDCG averaged over ranks",
    ),
    _of_gains(
        "Rndcg",
        "normalized_gain_at_levels",
        ALL,
        "ndcg averaged over the ranks at which the gain of the ideal ranking drops, a graded\n"
        "analogue of R-precision. Parameters: grade=gain pairs. Source: trec_eval Rndcg.",
        over_ties="always",
        beside="ndcg_rel",
    ),
    _at_ranks(
        "ndcg_cut",
        "normalized_discounted_gain",
        ALL,
        "ndcg at cutoff: dcg of the first k documents, divided by that of the best k documents;\n"
        "the gain of a grade is the grade. Parameters: ranks. Source: trec_eval ndcg_cut.",
        needs="gains",
        adds=("discounted gain", "ideal DCG"),
        beside="nDCG",
    ),
    _at_ranks(
        "map_cut",
        "average_precision_cut",
        ALL,
        "Average precision at cutoff: only relevant documents in the first k count, still divided\n"
        "by R. Parameters: ranks. Source: trec_eval map_cut.",
        adds=("precision", "R"),
        purpose="One number for the whole ranking",
        words="AP of the first documents: `AP@100` or `map_cut_100`",
    ),
    _at_ranks(
        "relative_P",
        "relative_precision_cut",
        ALL,
        "Precision at cutoff relative to the best possible: number of relevant documents in the\n"
        "first k, divided by min(k, R). Parameters: ranks. Source: trec_eval relative_P.",
        adds=("relevance", "min(k, R)"),
        purpose="The first documents",
        words="precision relative to the best possible; also called capped recall",
    ),
    _record(
        "success",
        "success_cut",
        ALL,
        "1 if a relevant document is in the first k, else 0. Parameters: ranks. Source: trec_eval\n"
        "success.",
        takes="cutoffs",
        default=(1, 5, 10),
        monotone=True,
        adds=("hit", ""),
        over_ties="always",
        beside="Success",
    ),
    _record(
        "set_P",
        "set_precision",
        SET,
        "Set precision: relevant retrieved / retrieved. Source: trec_eval set_P.",
        monotone=True,
        adds=("relevance", "retrieved"),
        with_cutoff="P.",
        over_ties="always",
        purpose="Sets, without an order",
        words="precision",
    ),
    _record(
        "set_relative_P",
        "set_relative_precision",
        SET,
        "Set precision relative to the best possible: relevant retrieved / min(retrieved, R).\n"
        "Source: trec_eval set_relative_P.",
        monotone=True,
        adds=("relevance", "min(retrieved, R)"),
        over_ties="always",
        beside="set_P",
    ),
    _record(
        "set_recall",
        "set_recall",
        SET,
        "Set recall: relevant retrieved / R. Source: trec_eval set_recall.",
        monotone=True,
        adds=("relevance", "R"),
        with_cutoff="recall.",
        over_ties="always",
        purpose="Sets, without an order",
        words="recall",
    ),
    _record(
        "set_map",
        "set_average_precision",
        SET,
        "Set precision times set recall: relevant retrieved squared / (retrieved * R). Source:\n"
        "trec_eval set_map.",
        monotone=True,
        over_ties="fixed uncut",
        purpose="One number for the whole ranking",
        words="precision times recall of the retrieved set",
    ),
    _record(
        "set_F",
        "set_f",
        SET,
        "Set F measure: (x + 1) P R / (x P + R) with set precision P and set recall R. Parameter:\n"
        "x, the square of van Rijsbergen's beta. Source: trec_eval set_F.",
        takes="numbers",
        default=(1,),
        monotone=True,
        over_ties="always",
        purpose="Sets, without an order",
        words="F measure",
    ),
    _count(
        "num_nonrel_judged_ret",
        "num_nonrel_judged_ret",
        ALL,
        "Number of retrieved documents that are judged and not relevant.",
        better="lower",
        over_ties="always",
        words="nonrelevant documents that are retrieved",
    ),
    _of_preferences(
        "prefs_num_prefs_poss",
        "preferences_counted",
        PREFS,
        "Number of preferences in the judgments, including those of documents not retrieved.\n"
        "Source: trec_eval prefs_num_prefs_poss.",
        default=(2, 1),
        average="sum",
        better="",
        words="numbers of preferences",
    ),
    _of_preferences(
        "prefs_num_prefs_ful",
        "preferences_counted",
        PREFS,
        "Number of preferences fulfilled: the preferred document is retrieved, and the other is\n"
        "ranked below it or not retrieved. Source: trec_eval prefs_num_prefs_ful.",
        default=(2, 0),
        average="sum",
        beside="prefs_num_prefs_poss",
    ),
    _of_preferences(
        "prefs_num_prefs_ful_ret",
        "preferences_counted",
        PREFS,
        "Number of preferences fulfilled between two retrieved documents. Source: trec_eval\n"
        "prefs_num_prefs_ful_ret.",
        default=(0, 0),
        average="sum",
        beside="prefs_num_prefs_poss",
    ),
    _of_preferences(
        "prefs_simp",
        "preferences_simple",
        PREFS,
        "Preferences fulfilled / preferences possible, over all judgment groups together. Source:\n"
        "trec_eval prefs_simp; Carterette et al., 'Here or there: preference judgments for\n"
        "relevance', ECIR 2008.",
        default=(2,),
        words="share of fulfilled preferences",
    ),
    _of_preferences(
        "prefs_pair",
        "preferences_by_pair",
        PREFS,
        "Share of preferences that the ranking agrees with, averaged over pairs of documents.\n"
        "Source: trec_eval prefs_pair.",
        default=(2,),
        words="the same, averaged over pairs of documents",
    ),
    _of_preferences(
        "prefs_avgjg",
        "preferences_by_group",
        PREFS,
        "prefs_simp within each judgment group, averaged over groups. Source: trec_eval\n"
        "prefs_avgjg.",
        default=(2,),
        words="the same, averaged over assessors",
    ),
    _of_preferences(
        "prefs_avgjg_Rnonrel",
        "preferences_balanced",
        ALL_PREFS,
        "prefs_avgjg with only as many nonrelevant documents (level 0) as there are relevant\n"
        "ones; missing ones count as not retrieved. Source: trec_eval prefs_avgjg_Rnonrel.",
        default=(0,),
        words="the same with as many nonrelevant as relevant documents",
    ),
    *(
        _of_preferences(
            name + variant,
            kernel,
            ALL_PREFS,
            f"{name} over {judged}.\nSource: trec_eval {name}{variant}.",
            default=(scope,),
            beside=name,
        )
        for variant, scope, name, kernel, judged in (
            ("_ret", 0, "prefs_simp", "preferences_simple", BOTH_RETRIEVED),
            ("_ret", 0, "prefs_pair", "preferences_by_pair", "pairs of two retrieved documents"),
            ("_ret", 0, "prefs_avgjg", "preferences_by_group", BOTH_RETRIEVED),
            ("_ret", 1, "prefs_avgjg_Rnonrel", "preferences_balanced", "retrieved documents"),
            (
                "_imp",
                1,
                "prefs_simp",
                "preferences_simple",
                f"{ONE_RETRIEVED}; a retrieved one\ncounts as preferred by the ranking",
            ),
            (
                "_imp",
                1,
                "prefs_pair",
                "preferences_by_pair",
                "pairs with at least one document retrieved",
            ),
            ("_imp", 1, "prefs_avgjg", "preferences_by_group", ONE_RETRIEVED),
        )
    ),
    _record(
        "map_avgjg",
        "average_precision",
        JG,
        "map for each judgment group, averaged over the groups of the query. Source: trec_eval\n"
        "map_avgjg.",
        needs="groups",
        purpose="Preferences, and several assessors",
        words="AP and precision, averaged over assessors",
    ),
    _record(
        "P_avgjg",
        "precision_cut",
        JG,
        "P for each judgment group, averaged over the groups of the query. Parameters: ranks.\n"
        "Source: trec_eval P_avgjg.",
        needs="groups",
        takes="cutoffs",
        default=RANKS,
        beside="map_avgjg",
    ),
    _record(
        "Rprec_mult_avgjg",
        "r_precision_multiple",
        JG,
        "Rprec_mult for each judgment group, averaged over the groups of the query. Parameters:\n"
        "multiples of R. Source: trec_eval Rprec_mult_avgjg.",
        needs="groups",
        takes="recalls",
        default=MULTIPLES,
        reaches_one=_is_at_most_r,
        beside="map_avgjg",
    ),
    _record(
        "yaap",
        "log_odds_average_precision",
        NONE,
        "Yet another average precision: log((1 + S) / (1 + R - S)), where S is the sum of the\n"
        "precisions at the ranks of relevant documents. Source: trec_eval yaap; Robertson, 'On\n"
        "smoothing average precision', ECIR 2012.",
        reaches_one=False,
        monotone=True,
        purpose="One number for the whole ranking",
        words="AP on a logarithmic scale",
        exceeds_one=True,
    ),
    _record(
        "rbp",
        "rank_biased_precision",
        ALL,
        "Rank-biased precision: (1 - p) times the sum of gain * p^(rank - 1), with the gains of a\n"
        "query scaled to [0, 1] if one is outside. Parameters: p=0.9 and grade=gain pairs.\n"
        "Source: trec_eval 10.0 rbp; Moffat and Zobel, ACM TOIS 27(1), 2008.",
        needs="unit gains",
        takes="persistence",
        since="10.0",
        reaches_one=False,
        adds=("weighted gain", ""),
        over_ties="always",
        beside="RBP",
    ),
    _record(
        "rbp_resid",
        "rank_biased_residual",
        ALL,
        "Residual of rank-biased precision: the weight of all ranks with unjudged documents or\n"
        "beyond the ranking, 0 if every document is judged. Parameter: p=0.9. Source: trec_eval\n"
        "10.0 rbp_resid; Moffat and Zobel, ACM TOIS 27(1), 2008.",
        takes="persistence",
        since="10.0",
        better="",
        zeroed=True,
        over_ties="uncut",
        beside="RBP",
    ),
    _record(
        "unj",
        "unjudged_cut",
        ALL,
        "Number of unjudged documents in the first k, divided by k. Parameters: ranks. Source:\n"
        "trec_eval 10.0 unj.",
        takes="cutoffs",
        default=(5, 10, 20),
        since="10.0",
        better="lower",
        zeroed=True,
        over_ties="always",
        beside="Judged",
    ),
)

NICKNAMES: dict[str, str] = {
    "official": "the measures that TREC reports; the default without -m",
    "set": "measures of the retrieved documents as a set, regardless of order",
    "all_trec": "every measure for plain judgments (-R qrels)",
    "all_prefs": "every measure for preferences (-R prefs or qrels_prefs)",
    "prefs": "the main measures for preferences",
    "qrels_jg": "the measures for judgments by several groups (-R qrels_jg)",
}

BY_NAME: dict[str, Measure] = {measure.name: measure for measure in MEASURES}


def spelling(name: str) -> str:
    """A name in lower case without separators, for comparing names."""
    return name.lower().translate(_SIGNS)


_SIGNS = str.maketrans("", "", "-_ ")
# Names of trec_eval's measures in lower case; measures with options take precedence.
TREC_BY_SPELLING: dict[str, str] = {
    "gmap": "gm_map",
    **{name.lower(): name for name in (*NICKNAMES, *BY_NAME)},
}
