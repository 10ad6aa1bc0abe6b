"""The measures beyond trec_eval's, and trec_eval's in the notation of ir_measures, with options.

To add one: write its kernel in fastrank/kernels, and place its record here.
"""

from __future__ import annotations

from fastrank.measures.measure_options import Family, Option
from fastrank.measures.trec import MEASURES as TREC_MEASURES
from fastrank.measures.trec import Measure, spelling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.measures.measure_options import Form


def _option(
    name: str, kind: str, help_: str, default: Any = None, *, needed: bool = False
) -> Option:
    return Option(name=name, kind=kind, default=default, needed=needed, choices=(), help=help_)


def _choice(name: str, choices: tuple[str, ...], help_: str, default: str = "") -> Option:
    return Option(
        name=name, kind="choice", default=default or choices[0], needed=False, choices=choices,
        help=help_,
    )  # fmt: skip


def _negative(default: str) -> Option:
    help_ = "what a document of a negative grade is"
    return _choice("negative", ("judged", "unjudged"), help_, default)


REL = _option("rel", "grade", "the lowest relevant grade; by default that of the evaluation")
JUDGED = _option("judged_only", "flag", "drop unjudged documents from the ranking", default=False)
CUTOFF = _option("cutoff", "rank", "the rank k up to which documents count")
NEEDED = _option("cutoff", "rank", "the rank k up to which documents count", needed=True)
COMMON = (REL, JUDGED)
GAINS = (
    _choice("dcg", ("log2", "exp-log2"), "the gain of a grade: the grade itself, or 2^grade - 1"),
    _option("gains", "gains", "a gain for each grade; by default the grade itself"),
)
WHOLE = _choice("denominator", ("retrieved", "k"), "k, or the documents retrieved in the first k")
MACRO = _choice("average", ("macro", "micro"), "the mean over queries, or over all documents")
MICRO = _choice("average", ("micro", "macro"), "the mean over all documents, or over queries")
UNRETRIEVED = _choice(
    "unretrieved", ("ignore", "worst"), "how relevant documents that were not retrieved count"
)


def _family(
    name: str,
    kernel: str,
    help_: str,
    options: tuple[Option, ...] = COMMON,
    *,
    at: str = "cutoff",
    numbers: tuple[str, ...] = (),
    forms: tuple[Form, ...] = (),
    needs: str = "ranking",
    average: str = "mean",
    aliases: tuple[str, ...] = (),
    plain: str = "",
) -> Family:
    named = {option.name: option for option in options}
    return Family(
        name=name, kernel=kernel, needs=needs, takes="", default=(), average=average, sets=(),
        since="9.0.8", help=help_, options=named, at=at if at in named else "", numbers=numbers,
        forms=forms, aliases=aliases, plain=plain,
    )  # fmt: skip


AT_K = ("cutoff",)

FAMILIES: tuple[Family, ...] = (
    _family(
        "NumQ", "", "Number of queries averaged over. Source: trec_eval num_q.", (),
        needs="queries", average="sum",
    ),
    _family(
        "NumRet", "num_ret",
        "Number of documents retrieved; with rel those of at least that grade. Source:\n"
        "trec_eval num_ret, num_rel_ret.",
        forms=(("rel", ..., "num_rel_ret", "ranking"),), average="sum",
    ),
    _family(
        "NumRel", "num_rel",
        "Number of relevant documents in the judgments: R. Source: trec_eval num_rel.",
        (REL,), average="sum",
    ),
    _family(
        "NumRelRet", "num_rel_ret",
        "Number of relevant documents retrieved. Source: trec_eval num_rel_ret.",
        average="sum",
    ),
    _family(
        "AP", "average_precision_cut",
        "Average precision: the precisions at the ranks of the relevant documents in the first\n"
        "k, summed and divided by R (map, map_cut_k). denominator='min_k': divided by min(k, R),\n"
        "as in sentence-transformers; 'relevant_retrieved': by the relevant documents found\n"
        "there, as in scikit-learn and MatchZoo. Source: trec_eval map; Buckley and Voorhees,\n"
        "SIGIR 2000.",
        (
            CUTOFF, *COMMON,
            _choice(
                "denominator", ("relevant", "min_k", "relevant_retrieved"),
                "R, min(k, R), or the relevant documents retrieved",
            ),
        ),
        numbers=AT_K, aliases=("MAP",),
        forms=(
            ("denominator", "min_k", "average_precision_of_possible", "ranking"),
            ("denominator", "relevant_retrieved", "average_precision_of_found", "ranking"),
        ),
    ),
    _family(
        "Rprec", "r_precision",
        "R-precision: relevant documents in the first R ranks, divided by R. Source: trec_eval\n"
        "Rprec.",
        aliases=("RPrec",),
    ),
    _family(
        "Bpref", "binary_preference",
        "Binary preference (bpref). Source: trec_eval bpref; Buckley and Voorhees, 'Retrieval\n"
        "evaluation with incomplete information', SIGIR 2004.",
        (REL,), aliases=("BPref",),
    ),
    _family(
        "RR", "reciprocal_rank_cut",
        "Reciprocal rank: 1 / rank of the first relevant document in the first k, else 0; its\n"
        "mean is MRR@k. Source: MS MARCO passage ranking (MRR@10); Voorhees, TREC-8 question\n"
        "answering track, 1999.",
        (CUTOFF, *COMMON), numbers=AT_K, aliases=("MRR",), plain="RR",
    ),
    _family(
        "ReciprocalHitRank", "reciprocal_hit_rank",
        "Average reciprocal hit rank: the mean of 1 / rank over the relevant documents in the\n"
        "first k; 0 without one. What some scripts for answer selection print as MAP. Source:\n"
        "Deshpande and Karypis, ACM TOIS 22(1), 2004, where a query has one relevant document.",
        (CUTOFF, *COMMON), numbers=AT_K, aliases=("ARHR",),
    ),
    _family(
        "IPrec", "interpolated_precision",
        "Interpolated precision at a recall level (iprec_at_recall), which counts\n"
        "relevant documents as the version of trec_eval does. Source: trec_eval iprec_at_recall.",
        (_option("recall", "share", "the recall level", needed=True), *COMMON),
        at="recall", numbers=("recall",),
    ),
    _family(
        "P", "precision_cut",
        "Precision: relevant documents in the first k, divided by k; denominator='retrieved':\n"
        "by the documents retrieved there, which may be fewer. Source: trec_eval P.",
        (
            NEEDED, *COMMON,
            _choice(
                "denominator", ("k", "retrieved"), "k, or the documents retrieved in the first k"
            ),
        ),
        numbers=AT_K, aliases=("Precision",),
        forms=(("denominator", "retrieved", "precision_of_retrieved", "ranking"),),
    ),
    _family(
        "R", "recall_cut",
        "Recall: relevant documents in the first k, divided by R. Source: trec_eval recall.",
        (NEEDED, *COMMON), numbers=AT_K, aliases=("Recall",),
    ),
    _family(
        "RCap", "relative_precision_cut",
        "Capped recall: relevant documents in the first k, divided by min(k, R); 0 without\n"
        "relevant documents. Source: R_cap of BEIR and FlagEmbedding; trec_eval relative_P.",
        (NEEDED, *COMMON), numbers=AT_K, plain="r_cap",
    ),
    _family(
        "Success", "success_cut",
        "1 if a relevant document is in the first k, else 0: DPR's top-k accuracy, BEIR's\n"
        "Accuracy, hit rate of most libraries. Source: trec_eval success.",
        (NEEDED, *COMMON), numbers=AT_K, aliases=("HitRate",), plain="hit_rate",
    ),
    _family(
        "HitRatio", "recall_cut",
        "Hit ratio of document similarity: relevant documents in the first k, divided by R,\n"
        "which is recall. In recommendation hit ratio is the name of Success. With\n"
        "average='micro' and denominator='relevant_retrieved': relevant documents in the first k\n"
        "of all queries, divided by those anywhere in the rankings. Source: the evaluation of\n"
        "similar articles with the data of Ginzburg et al., SDR, ACL Findings 2021.",
        (
            NEEDED, *COMMON, MACRO,
            _choice(
                "denominator", ("relevant", "relevant_retrieved"),
                "R, or the relevant documents retrieved at any rank",
            ),
        ),
        numbers=AT_K, plain="hit_ratio",
        forms=(("denominator", "relevant_retrieved", "hit_share", "ranking"),),
    ),
    _family(
        "infAP", "inferred_average_precision",
        "Inferred average precision. Source: trec_eval infAP; Yilmaz and Aslam, CIKM 2006.",
        (REL,),
    ),
    _family(
        "DCG", "discounted_gain_cut",
        "Discounted cumulative gain of the first k: gain / log2(rank + 1), summed (dcg). The\n"
        "gain is the grade, with dcg='exp-log2' 2^grade - 1, with gains what they say. Source:\n"
        "Jarvelin and Kekalainen, ACM TOIS 20(4), 2002; Burges et al., ICML 2005.",
        (CUTOFF, JUDGED, *GAINS), needs="gains", numbers=AT_K,
    ),
    _family(
        "nDCG", "normalized_discounted_gain_cut",
        "Normalized discounted cumulative gain of the first k: gain / log2(rank + 1), summed,\n"
        "divided by that of the best ranking (ndcg, ndcg_cut_k). The gain is the grade, with\n"
        "dcg='exp-log2' 2^grade - 1, with gains what they say. The best ranking is that of all\n"
        "judged documents; ideal='retrieved': of those that were retrieved, as ndcg_score of\n"
        "scikit-learn has it for a list of results. Source: Jarvelin and Kekalainen, ACM TOIS\n"
        "20(4), 2002; Burges et al., ICML 2005.",
        (
            CUTOFF, JUDGED, *GAINS,
            _choice("ideal", ("judged", "retrieved"), "what the best ranking is made of"),
        ),
        needs="gains", numbers=AT_K, aliases=("NDCG",),
        forms=(("ideal", "retrieved", "normalized_discounted_gain_of_retrieved", "gains"),),
    ),
    _family(
        "ERR", "expected_reciprocal_rank",
        "Expected reciprocal rank of the first k: a reader stops at a document with probability\n"
        "(2^grade - 1) / 2^max_grade. max_grade is by default the highest of the judgments;\n"
        "gdeval takes 4. Source: Chapelle et al., 'Expected reciprocal rank for graded\n"
        "relevance', CIKM 2009.",
        (CUTOFF, JUDGED, _option("max_grade", "rank", "the highest grade of the scale")),
        needs="stops", numbers=AT_K, plain="ERR",
    ),
    _family(
        "RBP", "rank_biased_precision_binary",
        "Rank-biased precision: (1 - p) times the sum of p^(rank - 1) over relevant documents;\n"
        "gain='graded': of gain * p^(rank - 1), grades scaled to [0, 1] in each query if one\n"
        "lies outside, as rbp of trec_eval 10.0 does; gain='raw': of the grades as they are, as\n"
        "ranx and trectools do. Source: Moffat and Zobel, ACM TOIS 27(1), 2008.",
        (
            CUTOFF, _option("p", "share", "the probability of going on", default=0.8), *COMMON,
            _choice("gain", ("binary", "graded", "raw"), "what a relevant document counts"),
        ),
        numbers=("cutoff", "p"),
        forms=(
            ("gain", "graded", "rank_biased_precision_cut", "unit gains"),
            ("gain", "raw", "rank_biased_precision_cut", "gains"),
        ),
    ),
    _family(
        "SetP", "set_precision",
        "Set precision: relevant retrieved / retrieved; relative: / min(retrieved, R). Source:\n"
        "trec_eval set_P, set_relative_P.",
        (*COMMON, _option("relative", "flag", "relative to the best possible", default=False)),
        forms=(("relative", True, "set_relative_precision", "ranking"),),
    ),
    _family(
        "SetR", "set_recall", "Set recall: relevant retrieved / R. Source: trec_eval set_recall."
    ),
    _family(
        "SetAP", "set_average_precision",
        "Set precision times set recall. Source: trec_eval set_map.",
    ),
    _family(
        "SetF", "set_f",
        "Set F: (beta + 1) P R / (beta P + R) of set precision P and set recall R: trec_eval's\n"
        "parameter, and ir_measures' beta, is the square of van Rijsbergen's. Source: trec_eval\n"
        "set_F.",
        (*COMMON, _option("beta", "number", "the weight of recall", default=1.0)),
        numbers=("beta",),
    ),
    _family(
        "F1", "f1_cut",
        "Harmonic mean of precision and recall of the first k: 2 P R / (P + R), precision\n"
        "divided by k however few were retrieved; without a cutoff of all that was retrieved,\n"
        "which is SetF. Source: f1 of ranx.",
        (CUTOFF, *COMMON), numbers=AT_K,
    ),
    _family(
        "PercentileRank", "percentile_rank",
        "Percentile of the rank i of each relevant retrieved document, lower is better: (i - 1)\n"
        "/ (n - 1) of n retrieved (0 if n = 1); denominator='retrieved': i / n; 'relevant':\n"
        "i / R; 'index': (i - 1) / n. The mean is over all such documents of all queries, with\n"
        "average='macro' over the means of queries. unretrieved='worst' counts relevant documents\n"
        "not retrieved as 1. A query without any has no value (NaN). Source: with\n"
        "denominator='index' the code of Ginzburg et al., SDR, ACL Findings 2021; the others are\n"
        "variants of it.",
        (
            *COMMON,
            _choice(
                "denominator", ("span", "retrieved", "relevant", "index"),
                "what the rank is divided by: n - 1, n, R, or n with ranks from 0",
            ),
            MICRO, UNRETRIEVED,
        ),
        numbers=("denominator", "unretrieved"), average="defined", plain="percentile_rank",
    ),
    _family(
        "MedianRank", "first_rank",
        "Rank of the first relevant document, its median over the queries that have one;\n"
        "unretrieved='worst': infinite where there is one, but not retrieved. SentEval's medr\n"
        "is the whole part. Source: Conneau and Kiela, SentEval, LREC 2018.",
        (*COMMON, UNRETRIEVED),
        numbers=("unretrieved",), average="median", plain="median_rank",
    ),
    _family(
        "FirstRank", "first_rank",
        "Rank of the first relevant document, its mean over the queries that have one;\n"
        "unretrieved='worst': infinite where there is one, but not retrieved. Source:\n"
        "rankereval FirstRelevantRank.",
        (*COMMON, UNRETRIEVED),
        numbers=("unretrieved",), average="defined", plain="first_rank",
    ),
    _family(
        "Judged", "judged_share",
        "Share of the first min(k, retrieved) documents that the judgments name, whatever their\n"
        "grade, as ir_measures has it; negative='unjudged': that have a grade of at least 0.\n"
        "denominator='k': of k, as 1 - unj_k of trec_eval 10.0 for long rankings.\n"
        "average='micro': over all documents of all queries, as Pyserini has it. For BEIR a\n"
        "document judged for any query is judged: see Hole. Source: ir_measures Judged.",
        (CUTOFF, WHOLE, MACRO, _negative("judged")),
        numbers=("cutoff", "denominator", "negative"), plain="judged",
    ),
    _family(
        "Unjudged", "unjudged_share",
        "Share of the first min(k, retrieved) documents that are not judged;\n"
        "denominator='k': of k, which is unj_k. average='micro': over all documents of all\n"
        "queries. A document of a negative grade is not judged, as in trec_eval;\n"
        "negative='judged': as in Judged. Source: trec_eval 10.0 unj.",
        (CUTOFF, WHOLE, MACRO, _negative("unjudged")),
        numbers=("cutoff", "denominator", "negative"), plain="unjudged",
    ),
    _family(
        "Hole", "hole_share",
        "Documents in the first k that the judgments of no query name, divided by k, however\n"
        "few were retrieved. Source: Hole@k of BEIR (Thakur et al., NeurIPS Datasets and\n"
        "Benchmarks 2021); Xiong et al., ANCE, ICLR 2021.",
        (NEEDED,), needs="annotated", numbers=AT_K, plain="hole",
    ),
)  # fmt: skip

# Every measure there is: trec_eval's in its order, then the others.
MEASURES: tuple[Measure, ...] = (*TREC_MEASURES, *FAMILIES)

FAMILY_BY_NAME: dict[str, Family] = {
    name: family for family in FAMILIES for name in (family.name, *family.aliases)
}
BY_PLAIN_NAME: dict[str, Family] = {family.plain: family for family in FAMILIES if family.plain}
# What papers and other libraries write besides, as `spelling` gives it.
OTHER_SPELLINGS = {
    "averageprecision": "AP",
    "meanaverageprecision": "AP",
    "reciprank": "RR",
    "reciprocalrank": "RR",
    "meanreciprocalrank": "RR",
    "rprecision": "Rprec",
    "discountedcumulativegain": "DCG",
    "f1score": "F1",
    "f1measure": "F1",
    "hit": "Success",
    "hr": "Success",
    "recallcap": "RCap",
    "cappedrecall": "RCap",
}
FAMILY_BY_SPELLING: dict[str, Family] = {
    **{written: FAMILY_BY_NAME[name] for written, name in OTHER_SPELLINGS.items()},
    **{spelling(name): family for name, family in BY_PLAIN_NAME.items()},
    **{spelling(name): family for name, family in FAMILY_BY_NAME.items()},
}
# Names of ir_measures for a measure with an option.
SHORTHANDS: dict[str, str] = {"SetRelP": "SetP(relative=True)"}
