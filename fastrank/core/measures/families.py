"""Measures with options: those beyond trec_eval's, and trec_eval's in ir_measures' notation.

To add a measure, write its kernel in fastrank/core/kernels and add its record here.
"""

from __future__ import annotations

from fastrank.core.measures.measure_options import Family, Option
from fastrank.core.measures.trec import BY_NAME, Measure, spelling, with_bounds
from fastrank.core.measures.trec import MEASURES as TREC_MEASURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.measures.measure_options import Form


def _option(name: str, kind: str, help_: str, default: object = None, **rest: object) -> Option:
    return Option(name=name, kind=kind, help=help_, default=default, **rest)


def _choice(name: str, choices: tuple[str, ...], help_: str, **rest: object) -> Option:
    return _option(name, "choice", help_, choices[0], choices=choices, **rest)


REL = _option("rel", "grade", "lowest relevant grade; by default the evaluation's")
JUDGED = _option("judged_only", "flag", "drop unjudged documents from the ranking", default=False)
CUTOFF = _option("cutoff", "rank", "the rank k: only the first k documents count")
NEEDED = _option("cutoff", "rank", "the rank k: only the first k documents count", needed=True)
DEPTH = _option("depth", "rank", "the number of documents that count", 1000)
COMMON = (REL, JUDGED)
GAINS = (
    _choice("dcg", ("log2", "exp-log2"), "gain of a grade: the grade itself, or 2^grade - 1"),
    _option("gains", "gains", "gain of each grade; by default the grade itself"),
)
SCALE = (
    _option("min_rel", "number", "grade with gain 0", default=0.0),
    _option("max_rel", "number", "grade with gain 1; by default the highest of the judgments"),
    JUDGED,
)
TARGET = _option("T", "positive", "the gain that the reader wants", default=1.0)
SCALED = "Grades are mapped from [min_rel, max_rel] to [0, 1].\n"
NERR = "Source: Azzopardi, Mackenzie and Moffat, 'ERR is not C/W/L', ICTIR 2021; cwl_eval."
ALPHA = _option("alpha", "share", "how much less a subtopic is worth each time", default=0.5)
BETA = _option("beta", "share", "probability of reading on", default=0.5)
DIVERSITY = (NEEDED, ALPHA, *COMMON)
BY_RANK = ("rel", "judged_only", "cutoff")
SUBTOPICS = (
    "A document adds the worth of each subtopic that it is relevant to: 1, times (1 - alpha)\n"
    "for every relevant document above it (judgments with subtopics).\n"
)
INTENTS = "Source: Agrawal et al., 'Diversifying search results', WSDM 2009; ndeval"
WHOLE = _choice("denominator", ("retrieved", "k"), "denominator when fewer than k are retrieved")
MACRO = _choice("average", ("macro", "micro"), "averaging: over queries, or over all documents")
MICRO = _choice("average", ("micro", "macro"), "averaging: over all documents, or over queries")
NEGATIVE = _choice(
    "negative", ("judged", "unjudged"), "how to treat documents with a negative grade"
)
UNRETRIEVED = _choice(
    "unretrieved", ("ignore", "worst"), "how to treat relevant documents that were not retrieved"
)
PIECES = _choice(
    "pieces",
    ("documents", "subtopics"),
    "what has to be found: relevant documents, or one for each subtopic",
)


def _family(
    name: str,
    kernel: str,
    help_: str,
    options: tuple[Option, ...] = COMMON,
    *,
    at: str = "cutoff",
    **facts: object,
) -> Family:
    """The record of a measure, whose kernel gets the value of `at`, or other `numbers`."""
    by_name = {option.name: option for option in options}
    at = at if at in by_name else ""
    facts = {"numbers": (at,) * bool(at)} | with_bounds(facts)
    return Family(name=name, kernel=kernel, help=help_, options=by_name, at=at, **facts)


# Fields that are the same for a measure of trec_eval and one with options that computes the same
# values.
OF_VALUES = ("kernel", "needs", "average", "better", "monotone", "over_ties", "adds", "versioned")


def _as_trec(
    trec: str, name: str, help_: str, options: tuple[Option, ...] = COMMON, **facts: object
) -> Family:
    """A measure of trec_eval with options; listed beside it, unless it has its own purpose."""
    shared = {fact: getattr(BY_NAME[trec], fact) for fact in OF_VALUES}
    shared |= {} if "purpose" in facts else {"beside": trec}
    return _family(name, shared.pop("kernel"), help_, options, **(shared | facts))


def _form(option: str, value: object, kernel: str = "", **facts: object) -> Form:
    """The fields that differ if an option has a value; `...` is any given value."""
    return option, value, {"kernel": kernel, **facts} if kernel else facts


def _of_subtopics(kernel: str, *numbers: str) -> Form:
    """A measure of relevant documents, of one for each subtopic."""
    return _form(
        "pieces",
        "subtopics",
        kernel,
        needs="subtopics",
        numbers=("rel", "judged_only", *numbers),
        monotone=False,
        over_ties="",
    )


FAMILIES: tuple[Family, ...] = (
    _as_trec("num_q", "NumQ", "Number of queries averaged over. Source: trec_eval num_q.", ()),
    _as_trec(
        "num_ret",
        "NumRet",
        "Number of documents retrieved; with rel, only those of at least that grade. Source:\n"
        "trec_eval num_ret, num_rel_ret.",
        forms=(_form("rel", ..., "num_rel_ret", over_ties="always"),),
    ),
    _as_trec(
        "num_rel",
        "NumRel",
        "Number of relevant documents in the judgments: R. Source: trec_eval num_rel.",
        (REL,),
        without_results="judgments",
    ),
    _as_trec(
        "num_rel_ret",
        "NumRelRet",
        "Number of relevant documents retrieved. Source: trec_eval num_rel_ret.",
    ),
    _as_trec(
        "map_cut",
        "AP",
        "Average precision: the sum of the precisions at the ranks of the relevant documents in\n"
        "the first k, divided by R (map, map_cut_k). denominator='min_k' divides by min(k, R), as\n"
        "sentence-transformers does; 'relevant_retrieved' by the number of relevant documents in\n"
        "the first k, as scikit-learn and MatchZoo do. Source: trec_eval map; Buckley and\n"
        "Voorhees, SIGIR 2000.",
        (
            CUTOFF,
            *COMMON,
            _choice(
                "denominator",
                ("relevant", "min_k", "relevant_retrieved"),
                "denominator: R, min(k, R), or the relevant documents retrieved",
            ),
        ),
        aliases=("MAP",),
        spellings=("averageprecision", "meanaverageprecision", "labelrankingaverageprecision"),
        forms=(
            _form(
                "denominator",
                "min_k",
                "average_precision_of_possible",
                monotone=False,
                adds=("precision", "min(k, R)"),
            ),
            _form(
                "denominator",
                "relevant_retrieved",
                "average_precision_of_found",
                monotone=False,
                over_ties="whole",
                adds=("precision", "relevant retrieved"),
            ),
        ),
        purpose="One number for the whole ranking",
        words="average precision; its mean is MAP",
    ),
    _as_trec(
        "Rprec",
        "Rprec",
        "R-precision: number of relevant documents in the first R, divided by R. Source:\n"
        "trec_eval Rprec.",
        aliases=("RPrec",),
        spellings=("rprecision",),
    ),
    _as_trec(
        "bpref",
        "Bpref",
        "Binary preference (bpref). Source: trec_eval bpref; Buckley and Voorhees, 'Retrieval\n"
        "evaluation with incomplete information', SIGIR 2004.",
        (REL,),
        aliases=("BPref",),
    ),
    _as_trec(
        "recip_rank",
        "RR",
        "Reciprocal rank: 1 / rank of the first relevant document, 0 if none is in the first k;\n"
        "its mean is MRR@k. Source: MS MARCO passage ranking (MRR@10); Voorhees, TREC-8 question\n"
        "answering track, 1999.",
        (CUTOFF, *COMMON),
        aliases=("MRR",),
        plain="RR",
        spellings=("reciprank", "reciprocalrank", "meanreciprocalrank"),
        purpose="The first documents",
        words="reciprocal rank of the first relevant document, `RR@10` or `MRR@10`",
    ),
    _family(
        "ReciprocalHitRank",
        "reciprocal_hit_rank",
        "Average reciprocal hit rank: the mean of 1 / rank over the relevant documents in the\n"
        "first k; 0 if there are none. Some answer selection scripts call it MAP. Source:\n"
        "Deshpande and Karypis, ACM TOIS 22(1), 2004, where a query has one relevant document.",
        (CUTOFF, *COMMON),
        aliases=("ARHR",),
        over_ties="whole",
        purpose="The first documents",
        words="mean of 1/rank of all relevant documents",
    ),
    _as_trec(
        "iprec_at_recall",
        "IPrec",
        "Interpolated precision at a recall level (iprec_at_recall), rounded to a number of\n"
        "relevant documents as in the chosen trec_eval_version. Source: trec_eval iprec_at_recall.",
        (_option("recall", "share", "the recall level", needed=True), *COMMON),
        at="recall",
        purpose="Recall",
        words="interpolated precision at a level of recall",
    ),
    _as_trec(
        "P",
        "P",
        "Precision: number of relevant documents in the first k, divided by k.\n"
        "denominator='retrieved' divides by min(k, retrieved). Source: trec_eval P.",
        (
            NEEDED,
            *COMMON,
            _choice(
                "denominator", ("k", "retrieved"), "denominator when fewer than k are retrieved"
            ),
        ),
        aliases=("Precision",),
        forms=(
            _form(
                "denominator",
                "retrieved",
                "precision_of_retrieved",
                monotone=False,
                adds=("relevance", "min(k, retrieved)"),
            ),
        ),
        uncut="SetP",
        purpose="The first documents",
        words="precision: share of relevant documents, `P@10` or `P_10`",
    ),
    _as_trec(
        "recall",
        "R",
        "Recall: number of relevant documents in the first k, divided by R. Source: trec_eval\n"
        "recall.",
        (NEEDED, *COMMON),
        aliases=("Recall",),
        uncut="SetR",
        purpose="Recall",
        words="share of the relevant documents that are found, `R@100` or `recall_100`",
    ),
    _as_trec(
        "relative_P",
        "RCap",
        "Capped recall: number of relevant documents in the first k, divided by min(k, R); 0 if\n"
        "R is 0. Source: R_cap of BEIR and FlagEmbedding; trec_eval relative_P.",
        (NEEDED, *COMMON),
        plain="r_cap",
        spellings=("recallcap", "cappedrecall"),
    ),
    _as_trec(
        "success",
        "Success",
        "1 if a relevant document is in the first k, else 0. Also known as top-k accuracy (DPR),\n"
        "Accuracy (BEIR) and hit rate (most libraries). Source: trec_eval success.",
        (NEEDED, *COMMON),
        aliases=("HitRate",),
        plain="hit_rate",
        spellings=("hit", "hr"),
        purpose="The first documents",
        words="whether there is a relevant document: hit rate, top-k accuracy, `Success@1`",
    ),
    _family(
        "FullRecall",
        "full_recall",
        "1 if all of the evidence is in the first k, else 0: every relevant document, or with\n"
        "pieces='subtopics' one for each subtopic that has any, such as the pieces of evidence\n"
        "that an answer needs (judgments with subtopics). 0 if nothing is relevant. Source:\n"
        "paragraph exact match (PEM) of Asai et al., 'Learning to retrieve reasoning paths over\n"
        "Wikipedia graph for question answering', ICLR 2020.",
        (CUTOFF, PIECES, *COMMON),
        plain="full_recall",
        forms=(_of_subtopics("full_recall_of_subtopics", "cutoff"),),
        monotone=True,
        over_ties="always",
        purpose="Recall",
        words="whether all of the evidence is found, or at least n pieces of it",
    ),
    _family(
        "Evidence",
        "enough_found",
        "1 if at least n pieces of evidence are in the first k, else 0: relevant documents, or\n"
        "with pieces='subtopics' subtopics that they cover (judgments with subtopics). 0 if there\n"
        "are fewer than n. Source: as FullRecall, with n pieces instead of all.",
        (CUTOFF, _option("n", "rank", "how many pieces are enough", needed=True), PIECES, *COMMON),
        numbers=("cutoff", "n"),
        forms=(_of_subtopics("enough_subtopics", "cutoff", "n"),),
        monotone=True,
        over_ties="always",
        beside="FullRecall",
    ),
    _as_trec(
        "recall",
        "HitRatio",
        "Hit ratio of document similarity: number of relevant documents in the first k, divided\n"
        "by R, which is recall. In recommendation, hit ratio means Success. With average='micro'\n"
        "and denominator='relevant_retrieved': relevant documents in the first k of all queries,\n"
        "divided by those at any rank. Source: the evaluation of similar articles with the data\n"
        "of Ginzburg et al., SDR, ACL Findings 2021.",
        (
            NEEDED,
            *COMMON,
            MACRO.changed(beside=("denominator", "relevant_retrieved")),
            _choice(
                "denominator",
                ("relevant", "relevant_retrieved"),
                "denominator: R, or the relevant documents retrieved at any rank",
                beside=("average", "micro"),
            ),
        ),
        plain="hit_ratio",
        forms=(
            _form(
                "denominator",
                "relevant_retrieved",
                "hit_share",
                monotone=False,
                parts=True,
                over_ties="uncut",
                adds=None,
            ),
        ),
        purpose="Recall",
        words="recall as in the evaluation of similar articles",
    ),
    _as_trec(
        "infAP",
        "infAP",
        "Inferred average precision. Source: trec_eval infAP; Yilmaz and Aslam, CIKM 2006.",
        (REL,),
    ),
    _family(
        "xinfAP",
        "stratified_average_precision",
        "Inferred average precision from a stratified sample of the pool (judgments with strata),\n"
        "of the first depth documents; infAP in the output of sample_eval. Source: sample_eval.pl\n"
        "of NIST; Yilmaz, Kanoulas and Aslam, 'A simple and efficient sampling method for\n"
        "estimating AP and NDCG', SIGIR 2008.",
        (DEPTH,),
        needs="strata",
        numbers=("depth",),
        purpose="Incomplete judgments",
        words="AP, nDCG, and precision estimated from a stratified sample",
    ),
    _family(
        "infNDCG",
        "stratified_discounted_gain",
        "Inferred nDCG from a stratified sample of the pool (judgments with strata), of the first\n"
        "depth documents: the estimated DCG divided by that of an ideal ranking of the estimated\n"
        "number of documents of each grade. It can exceed 1. ideal='sample_eval' orders the ideal\n"
        "ranking as sample_eval does, which differs if a grade is above 9 or the estimated\n"
        "numbers exceed depth: grades are ordered as texts ('9' before '10'), and each grade\n"
        "beyond depth still counts one document. Source: sample_eval.pl of NIST; Yilmaz, Kanoulas\n"
        "and Aslam, SIGIR 2008.",
        (DEPTH, _choice("ideal", ("exact", "sample_eval"), "how the ideal ranking is ordered")),
        needs="strata",
        numbers=("depth", "ideal"),
        reaches_one=False,
        beside="xinfAP",
        exceeds_one=True,
    ),
    _family(
        "iP",
        "estimated_precision_cut",
        "Inferred precision from a stratified sample of the pool (judgments with strata): the\n"
        "estimated number of relevant documents in the first k, divided by k. Source:\n"
        "sample_eval.pl of NIST.",
        (NEEDED,),
        needs="strata",
        plain="iP",
        reaches_one=False,
        beside="xinfAP",
        exceeds_one=True,
    ),
    _family(
        "iNumRel",
        "estimated_num_rel",
        "Estimated number of relevant documents in the pool, from a stratified sample (judgments\n"
        "with strata). Source: sample_eval.pl of NIST, inum_rel.",
        (),
        needs="strata",
        average="total",
        plain="inum_rel",
        better="",
        without_results="judgments",
        purpose="Incomplete judgments",
        words="estimated numbers of relevant documents",
    ),
    _family(
        "iNumRelRet",
        "estimated_num_rel_ret",
        "Estimated number of relevant documents in the first depth, from a stratified sample of\n"
        "the pool (judgments with strata). Source: sample_eval.pl of NIST, inum_rel_ret.",
        (DEPTH,),
        needs="strata",
        numbers=("depth",),
        average="total",
        plain="inum_rel_ret",
        beside="iNumRel",
    ),
    _family(
        "DCG",
        "discounted_gain",
        "Discounted cumulative gain of the first k: the sum of gain / log2(rank + 1) (dcg). The\n"
        "gain is the grade, 2^grade - 1 with dcg='exp-log2', or as given by gains. Source:\n"
        "Jarvelin and Kekalainen, ACM TOIS 20(4), 2002; Burges et al., ICML 2005.",
        (CUTOFF, JUDGED, *GAINS),
        needs="gains",
        reaches_one=False,
        spellings=("discountedcumulativegain",),
        exceeds_one=True,
        monotone=True,
        adds=("discounted gain", ""),
        over_ties="always",
        purpose="Grades",
        words="discounted gain, and that of the best ranking",
    ),
    _family(
        "nDCG",
        "normalized_discounted_gain",
        "Normalized discounted cumulative gain of the first k: DCG divided by that of the ideal\n"
        "ranking (ndcg, ndcg_cut_k). The gain is the grade, 2^grade - 1 with dcg='exp-log2', or\n"
        "as given by gains. The ideal ranking contains all judged documents; with\n"
        "ideal='retrieved' only the retrieved ones, as scikit-learn's ndcg_score of a list of\n"
        "results; with ideal='max' it has a document of grade max_grade at every rank, however\n"
        "many were judged. Source: Jarvelin and Kekalainen, ACM TOIS 20(4), 2002; Burges et al.,\n"
        "ICML 2005.",
        (
            CUTOFF,
            JUDGED,
            *GAINS,
            _choice("ideal", ("judged", "retrieved", "max"), "documents of the ideal ranking"),
            _option(
                "max_grade",
                "rank",
                "with ideal='max': by default the judgments' highest",
                beside=("ideal", "max"),
            ),
        ),
        needs="gains",
        aliases=("NDCG",),
        spellings=("normalizeddcg", "normalizeddiscountedcumulativegain"),
        forms=(
            _form(
                "ideal",
                "retrieved",
                "normalized_discounted_gain_of_retrieved",
                monotone=False,
                over_ties="uncut",
                adds=("discounted gain", "ideal DCG of the retrieved"),
                below_cutoff=True,
            ),
            _form("ideal", "max", needs="best gains"),
        ),
        monotone=True,
        adds=("discounted gain", "ideal DCG"),
        over_ties="always",
        purpose="Grades",
        words="discounted gain relative to the best ranking, `nDCG@10` or `ndcg_cut_10`",
    ),
    _family(
        "ERR",
        "expected_reciprocal_rank",
        "Expected reciprocal rank of the first k: a reader stops at a document with probability\n"
        "(2^grade - 1) / 2^max_grade. max_grade defaults to the highest grade of the judgments;\n"
        "gdeval uses 4. Source: Chapelle et al., 'Expected reciprocal rank for graded\n"
        "relevance', CIKM 2009.",
        (CUTOFF, JUDGED, _option("max_grade", "rank", "highest grade of the scale")),
        needs="stops",
        plain="ERR",
        reaches_one=False,
        monotone=True,
        adds=("stop", ""),
        spellings=("expectedreciprocalrank",),
        purpose="Grades",
        words="expected reciprocal rank of a reader who stops at a good document",
    ),
    _family(
        "RBP",
        "rank_biased_precision_binary",
        "Rank-biased precision: (1 - p) times the sum of p^(rank - 1) over relevant documents.\n"
        "gain='graded' sums gain * p^(rank - 1), with the grades of a query scaled to [0, 1] if\n"
        "one is outside, as rbp of trec_eval 10.0 does; gain='raw' uses the grades unscaled, as\n"
        "ranx and trectools do. residual=True: what is not known of it, (1 - p) times the sum of\n"
        "p^(rank - 1) over unjudged documents and all ranks beyond k or the ranking; RBP of\n"
        "complete judgments is between RBP and the sum of both. Source: Moffat and Zobel, ACM\n"
        "TOIS 27(1), 2008; cwl_eval.",
        (
            CUTOFF,
            _option("p", "share", "probability of reading on", default=0.8),
            *COMMON,
            _choice("gain", ("binary", "graded", "raw"), "gain of a document"),
            _option("residual", "flag", "the weight of all unjudged ranks", default=False),
        ),
        numbers=("cutoff", "p"),
        forms=(
            _form(
                "gain",
                "graded",
                "rank_biased_precision",
                needs="unit gains",
                adds=("weighted gain", ""),
            ),
            _form(
                "gain",
                "raw",
                "rank_biased_precision",
                needs="gains",
                adds=("weighted gain", ""),
                exceeds_one=True,
            ),
            _form(
                "residual",
                True,
                "rank_biased_residual",
                numbers=("cutoff", "p", "residual"),
                better="",
                monotone=False,
                adds=None,
                without_results="judgments",
            ),
        ),
        reaches_one=False,
        monotone=True,
        adds=("weighted relevance", ""),
        over_ties="always",
        purpose="Models of readers",
        words="rank-biased precision, and how much unjudged documents could add",
    ),
    _family(
        "nCG",
        "normalized_cumulated_gain",
        "Normalized cumulated gain: the sum of the gains of the first k, divided by that of the\n"
        "ideal ranking of all judged documents. Source: Jarvelin and Kekalainen, ACM TOIS 20(4),\n"
        "2002.",
        (NEEDED, JUDGED, *GAINS),
        needs="gains",
        plain="nCG",
        monotone=True,
        purpose="Grades",
        words="gain relative to the best ranking, without a discount",
    ),
    _family(
        "Q",
        "q_measure",
        "Q-measure: for each document with a positive gain in the first k, the number of such\n"
        "documents up to its rank plus beta times their cumulated gain, divided by the rank plus\n"
        "beta times the cumulated gain of the ideal ranking; the sum is divided by the number of\n"
        "documents with a positive gain, or by k if that is less. Source: Sakai, 'On the\n"
        "reliability of information retrieval metrics based on graded relevance', Information\n"
        "Processing and Management 43(2), 2007; NTCIREVAL Q-measure, Q@k.",
        (CUTOFF, _option("beta", "number", "weight of the gains", default=1.0), JUDGED, *GAINS),
        needs="exact gains",
        numbers=("cutoff", "beta"),
        plain="Q",
        aliases=("QMeasure",),
        purpose="One number for the whole ranking",
        words="Q-measure, AP with grades",
    ),
    _family(
        "Compat",
        "compatibility",
        "Compatibility: rank-biased overlap of the ranking and the ideal ranking of the documents\n"
        "with a positive grade, divided by that of the ideal ranking with itself. Documents of\n"
        "equal grade have the order of the ranking there, those not retrieved are last. Both are\n"
        "compared up to the length of the longer one, as in ir_measures; depth=1000 is Clarke's\n"
        "tool. normalize=False omits the division. Source: Clarke, Vtyurina and Smucker,\n"
        "'Assessing top-k preferences', ACM TOIS 39(3), 2021.",
        (
            _option("p", "share", "persistence", default=0.95),
            _option("normalize", "flag", "divide by the best possible value", default=True),
            _option("depth", "rank", "the rank at which the comparison ends"),
            JUDGED,
        ),
        needs="gains",
        numbers=("p", "depth", "normalize"),
        spellings=("compatibility",),
        purpose="Preferences, and several assessors",
        words="compatibility with the best ranking, for preferences given as grades",
    ),
    _family(
        "alpha_DCG",
        "alpha_discounted_gain",
        "Discounted cumulative gain of subtopics: what each of the first k adds, divided by\n"
        "log2(rank + 1); the sum is divided by that of documents that are all relevant to every\n"
        "subtopic.\n"
        + SUBTOPICS
        + "ndeval and pyndeval do not divide if k is 1. Source: Clarke et al., 'Novelty and\n"
        "diversity in information retrieval evaluation', SIGIR 2008; ndeval alpha-DCG.",
        DIVERSITY,
        needs="subtopics",
        numbers=(*BY_RANK, "alpha"),
        plain="alpha_DCG",
        aliases=("\u03b1_DCG",),
        beside="alpha_nDCG",
    ),
    _family(
        "alpha_nDCG",
        "alpha_normalized_discounted_gain",
        "Normalized discounted cumulative gain of subtopics: as alpha_DCG, divided by that of the\n"
        "ideal ranking, which has at each rank the document that adds most; of several, that with\n"
        "the largest id. Better rankings can exist, so it can exceed 1. Source: Clarke et al.,\n"
        "SIGIR 2008; ndeval alpha-nDCG.",
        DIVERSITY,
        needs="subtopics",
        numbers=(*BY_RANK, "alpha"),
        plain="alpha_nDCG",
        reaches_one=False,
        aliases=("\u03b1_nDCG",),
        exceeds_one=True,
        purpose="Diversity",
        words="discounted gain, in which a subtopic is worth less each time",
    ),
    _family(
        "ERR_IA",
        "expected_reciprocal_rank_of_intents",
        "Intent-aware expected reciprocal rank: what each of the first k adds, divided by its\n"
        "rank; the sum is divided by that of documents that are all relevant to every subtopic.\n"
        + SUBTOPICS
        + "ndeval and pyndeval do not divide if k is 1. Source: Chapelle et al., 'Expected\n"
        "reciprocal rank for graded relevance', CIKM 2009; ndeval ERR-IA.",
        DIVERSITY,
        needs="subtopics",
        numbers=(*BY_RANK, "alpha"),
        plain="ERR_IA",
        purpose="Diversity",
        words="expected reciprocal rank",
    ),
    _family(
        "nERR_IA",
        "normalized_expected_reciprocal_rank_of_intents",
        "Normalized intent-aware expected reciprocal rank: as ERR_IA, divided by that of the\n"
        "ideal ranking of alpha_nDCG. Source: Chapelle et al., CIKM 2009; ndeval nERR-IA.",
        DIVERSITY,
        needs="subtopics",
        numbers=(*BY_RANK, "alpha"),
        plain="nERR_IA",
        reaches_one=False,
        beside="ERR_IA",
        exceeds_one=True,
    ),
    _family(
        "NRBP",
        "novelty_rank_biased_precision",
        "Novelty- and rank-biased precision: the sum of beta^(rank - 1) times what each document\n"
        "adds, divided by that of documents that are all relevant to every subtopic.\n"
        + SUBTOPICS
        + "Source: Clarke, Kolla and Vechtomova, 'An effectiveness measure for ambiguous and\n"
        "underspecified queries', ICTIR 2009; ndeval NRBP.",
        (BETA, ALPHA, *COMMON),
        needs="subtopics",
        numbers=("rel", "judged_only", "beta", "alpha"),
        reaches_one=False,
        purpose="Diversity",
        words="rank-biased precision",
    ),
    _family(
        "nNRBP",
        "normalized_novelty_rank_biased_precision",
        "Normalized novelty- and rank-biased precision: as NRBP, divided by that of the ideal\n"
        "ranking of alpha_nDCG; 0 if no document is relevant, where ndeval prints nan. Source:\n"
        "Clarke, Kolla and Vechtomova, ICTIR 2009; ndeval nNRBP.",
        (BETA, ALPHA, *COMMON),
        needs="subtopics",
        numbers=("rel", "judged_only", "beta", "alpha"),
        reaches_one=False,
        beside="NRBP",
        exceeds_one=True,
    ),
    _family(
        "AP_IA",
        "average_precision_of_intents",
        "Intent-aware average precision: the mean of the average precisions for each subtopic\n"
        "that has a relevant document (judgments with subtopics).\n" + INTENTS + " MAP-IA.",
        COMMON,
        needs="subtopics",
        numbers=("rel", "judged_only"),
        aliases=("MAP_IA",),
        plain="AP_IA",
        purpose="Diversity",
        words="AP and precision, averaged over subtopics",
    ),
    _family(
        "P_IA",
        "precision_of_intents",
        "Intent-aware precision: the mean of the precisions of the first k for each subtopic that\n"
        "has a relevant document (judgments with subtopics).\n" + INTENTS + " P-IA.",
        (NEEDED, *COMMON),
        needs="subtopics",
        numbers=BY_RANK,
        plain="P_IA",
        beside="AP_IA",
    ),
    _family(
        "StRecall",
        "subtopic_recall",
        "Subtopic recall: the share of the subtopics with a relevant document that the first k\n"
        "cover (judgments with subtopics). Source: Zhai, Cohen and Lafferty, 'Beyond independent\n"
        "relevance', SIGIR 2003; ndeval strec.",
        (CUTOFF, *COMMON),
        needs="subtopics",
        numbers=BY_RANK,
        plain="strec",
        purpose="Diversity",
        words="share of the subtopics that are covered",
    ),
    _family(
        "SDCG",
        "scaled_discounted_gain",
        "Scaled discounted cumulative gain: the discounted gain of the first k, divided by that\n"
        "of a ranking with gain 1 at every rank.\n"
        + SCALED
        + "Source: Moffat, Scholer and Thomas, ADCS 2012; cwl_eval.",
        (NEEDED, *SCALE),
        needs="normalized gains",
        plain="SDCG",
        monotone=True,
        purpose="Models of readers",
        words="expected gain of a reader, in the C/W/L framework",
    ),
    _family(
        "BPM",
        "bejeweled_player_model",
        "Bejeweled player model (static): the mean gain of the ranks up to the one at which the\n"
        "cumulated gain reaches T, or k.\n"
        + SCALED
        + "Source: Zhang et al., 'Evaluating web search with a Bejeweled player model', SIGIR 2017;"
        "\ncwl_eval.",
        (NEEDED, TARGET, *SCALE),
        needs="normalized gains",
        numbers=("cutoff", "T"),
        plain="BPM",
        beside="SDCG",
    ),
    _family(
        "INSQ",
        "insq",
        "Inverse squares: the expected gain per rank of a reader who goes on from rank i with\n"
        "probability ((i + 2T - 1) / (i + 2T))^2, up to rank 1000.\n"
        + SCALED
        + "Source: Moffat, Scholer and Thomas, ADCS 2012; cwl_eval.",
        (TARGET, *SCALE),
        needs="normalized gains",
        numbers=("T",),
        monotone=True,
        beside="SDCG",
    ),
    _family(
        "INST",
        "inst",
        "INST: as INSQ, but a reader goes on with probability ((i + T + t - 1) / (i + T + t))^2,\n"
        "where t is T minus the gain so far.\n"
        + SCALED
        + "Source: Moffat, Bailey, Scholer and Thomas, ADCS 2015; cwl_eval.",
        (TARGET, *SCALE),
        needs="normalized gains",
        numbers=("T",),
        beside="SDCG",
    ),
    _family(
        "NERR8",
        "nearly_expected_reciprocal_rank_8",
        "Nearly expected reciprocal rank, equation 8: the expected gain per rank of a reader who\n"
        "goes on with probability 1 - gain, up to rank k.\n" + SCALED + NERR,
        (NEEDED, *SCALE),
        needs="normalized gains",
        plain="NERR8",
        purpose="Models of readers",
        words="the same for readers who stop at a good document",
    ),
    _family(
        "NERR9",
        "nearly_expected_reciprocal_rank_9",
        "Nearly expected reciprocal rank, equation 9: as NERR8, with probability\n"
        "(1 - gain) i / (i + 1) at rank i.\n" + SCALED + NERR,
        (NEEDED, *SCALE),
        needs="normalized gains",
        plain="NERR9",
        beside="NERR8",
    ),
    _family(
        "NERR10",
        "nearly_expected_reciprocal_rank_10",
        "Nearly expected reciprocal rank, equation 10: as NERR8, with probability p (1 - gain),\n"
        "up to rank 1000.\n" + SCALED + NERR,
        (_option("p", "share", "probability of reading on", default=0.9), *SCALE),
        needs="normalized gains",
        numbers=("p",),
        beside="NERR8",
    ),
    _family(
        "NERR11",
        "nearly_expected_reciprocal_rank_11",
        "Nearly expected reciprocal rank, equation 11: as NERR8, with probability\n"
        "(1 - gain) ((i + 2T - 1) / (i + 2T))^2 at rank i, up to rank 1000.\n" + SCALED + NERR,
        (TARGET, *SCALE),
        needs="normalized gains",
        numbers=("T",),
        beside="NERR8",
    ),
    _as_trec(
        "set_P",
        "SetP",
        "Set precision: relevant retrieved / retrieved; with relative, relevant retrieved /\n"
        "min(retrieved, R). Source: trec_eval set_P, set_relative_P.",
        (*COMMON, _option("relative", "flag", "relative to the best possible", default=False)),
        forms=(
            _form(
                "relative", True, "set_relative_precision", adds=("relevance", "min(retrieved, R)")
            ),
        ),
        share=True,
    ),
    _as_trec(
        "set_recall", "SetR", "Set recall: relevant retrieved / R. Source: trec_eval set_recall."
    ),
    _as_trec(
        "set_map", "SetAP", "Set precision times set recall. Source: trec_eval set_map.", share=True
    ),
    _as_trec(
        "set_F",
        "SetF",
        "Set F: (beta + 1) P R / (beta P + R) with set precision P and set recall R. beta is the\n"
        "square of van Rijsbergen's, as in trec_eval and ir_measures. Source: trec_eval set_F.",
        (*COMMON, _option("beta", "number", "weight of recall", default=1.0)),
        numbers=("beta",),
        share=True,
    ),
    _family(
        "F1",
        "f1_cut",
        "Harmonic mean of precision and recall of the first k: 2 P R / (P + R). Precision is\n"
        "divided by k even if fewer are retrieved. Without a cutoff, all retrieved documents\n"
        "count, as in SetF. Source: f1 of ranx.",
        (CUTOFF, *COMMON),
        spellings=("f1score", "f1measure"),
        monotone=True,
        share=True,
        over_ties="always",
        purpose="The first documents",
        words="harmonic mean of precision and recall",
    ),
    _family(
        "PairAccuracy",
        "pair_accuracy",
        "Share of the pairs of a relevant and another document in the first k of which the\n"
        "relevant one is ranked first. A query without such pairs has no value (NaN), and is left\n"
        "out of the mean. Source: Accuracy of ir_measures, which fails if all documents are\n"
        "relevant.",
        (CUTOFF, *COMMON),
        average="defined",
        plain="pair_accuracy",
        over_ties="whole",
        purpose="Pairs of documents",
        words="share of pairs in the right order of the ranking, also of the first k",
    ),
    _family(
        "AUC",
        "pair_accuracy_over_ties",
        "Area under the ROC curve: share of the pairs of a relevant and another retrieved\n"
        "document of which the relevant one has the higher score. A pair with equal scores\n"
        "counts a half, whatever the order of ties; depths are not supported. A document that is\n"
        "not judged is not relevant; judged_only=True leaves it out. As in rankings, scores are\n"
        "compared as 32-bit floats in 9.0.8, as 64-bit floats in 10.0. A query without such pairs\n"
        "has no value (NaN), and is left out of the mean. Source: roc_auc_score of scikit-learn,\n"
        "per query; Hanley and McNeil, Radiology 143(1), 1982.",
        needs="ties",
        average="defined",
        monotone=True,
        over_ties="uncut",
        purpose="Pairs of documents",
        words="area under the ROC curve of each query; a tied pair counts a half",
    ),
    _family(
        "GAUC",
        "grouped_area_under_curve",
        "Grouped AUC: the mean of AUC over queries (users), weighted by their numbers of\n"
        "retrieved documents (impressions), or with weight='relevant' of relevant ones among\n"
        "them (clicks). The value of a query is its AUC; queries without one are left out.\n"
        "Source: Zhou et al., 'Deep interest network for click-through rate prediction', KDD\n"
        "2018.",
        (*COMMON, _choice("weight", ("retrieved", "relevant"), "documents whose number counts")),
        numbers=("weight",),
        needs="ties",
        average="pooled",
        monotone=True,
        parts=True,
        over_ties="uncut",
        purpose="Pairs of documents",
        words="the same, queries (users) weighted by their numbers of documents (impressions)",
    ),
    _family(
        "PercentileRank",
        "percentile_rank",
        "Percentile of the rank i of each relevant retrieved document, lower is better: (i - 1)\n"
        "/ (n - 1) with n retrieved (0 if n = 1); denominator='retrieved': i / n; 'relevant':\n"
        "i / R; 'index': (i - 1) / n. The mean is over all these documents of all queries; with\n"
        "average='macro', over the means of the queries. unretrieved='worst' counts relevant\n"
        "documents that were not retrieved as 1. A query without such documents has no value\n"
        "(NaN). Source: denominator='index' is the code of Ginzburg et al., SDR, ACL Findings\n"
        "2021; the others are variants.",
        (
            *COMMON,
            _choice(
                "denominator",
                ("span", "retrieved", "relevant", "index"),
                "what the rank is divided by: n - 1, n, R, or n with ranks from 0",
            ),
            MICRO,
            UNRETRIEVED,
        ),
        numbers=("denominator", "unretrieved"),
        average="defined",
        plain="percentile_rank",
        forms=(_form("unretrieved", "worst", over_ties="always"),),
        better="lower",
        parts=True,
        over_ties="uncut",
        purpose="Ranks",
        words="rank of the relevant documents as a share of the list",
    ),
    _family(
        "MedianRank",
        "first_rank",
        "Median rank of the first relevant document, over the queries that retrieve one.\n"
        "unretrieved='worst': infinite for queries whose relevant documents were not retrieved.\n"
        "SentEval's medr is the integer part. Source: Conneau and Kiela, SentEval, LREC 2018.",
        (*COMMON, UNRETRIEVED),
        numbers=("unretrieved",),
        average="median",
        plain="median_rank",
        better="lower",
        beside="FirstRank",
        exceeds_one=True,
    ),
    _family(
        "FirstRank",
        "first_rank",
        "Mean rank of the first relevant document, over the queries that retrieve one.\n"
        "unretrieved='worst': infinite for queries whose relevant documents were not retrieved.\n"
        "Source: rankereval FirstRelevantRank.",
        (*COMMON, UNRETRIEVED),
        numbers=("unretrieved",),
        average="defined",
        plain="first_rank",
        better="lower",
        over_ties="uncut",
        exceeds_one=True,
        purpose="Ranks",
        words="mean or median rank of the first relevant document",
    ),
    _family(
        "LastRank",
        "last_rank",
        "Mean rank of the last piece of evidence: of the last relevant document, or with\n"
        "pieces='subtopics' of the document that completes the subtopics (judgments with\n"
        "subtopics), over the queries that retrieve all of it, whose share is FullRecall without\n"
        "a cutoff. unretrieved='worst': infinite for the others. Source: as FirstRank, of the\n"
        "last instead of the first.",
        (*COMMON, PIECES, UNRETRIEVED),
        numbers=("unretrieved",),
        average="defined",
        forms=(_of_subtopics("last_rank_of_subtopics", "unretrieved"),),
        better="lower",
        over_ties="uncut",
        exceeds_one=True,
        purpose="Ranks",
        words="mean rank of the last relevant document",
    ),
    _family(
        "Judged",
        "judged_share",
        "Share of the first min(k, retrieved) documents that are in the judgments, whatever their\n"
        "grade, as in ir_measures; negative='unjudged': that have a grade of at least 0.\n"
        "denominator='k': share of k, as 1 - unj_k of trec_eval 10.0 for long rankings.\n"
        "average='micro': share over all documents of all queries, as in Pyserini. BEIR counts\n"
        "documents judged for any query: see Hole. Source: ir_measures Judged.",
        (CUTOFF, WHOLE, MACRO, NEGATIVE),
        numbers=("cutoff", "denominator", "negative"),
        plain="judged",
        better="",
        parts=True,
        over_ties="always",
        purpose="Incomplete judgments",
        words="share or number of documents that are judged or unjudged",
    ),
    _family(
        "Unjudged",
        "unjudged_share",
        "Share of the first min(k, retrieved) documents that are not judged. denominator='k':\n"
        "share of k, which is unj_k. average='micro': share over all documents of all queries.\n"
        "A document with a negative grade is unjudged, as in trec_eval; with negative='judged'\n"
        "it is judged, as in Judged. Source: trec_eval 10.0 unj.",
        (CUTOFF, WHOLE, MACRO, NEGATIVE.changed(default="unjudged")),
        numbers=("cutoff", "denominator", "negative"),
        plain="unjudged",
        better="lower",
        parts=True,
        over_ties="always",
        beside="Judged",
    ),
    _family(
        "Hole",
        "unjudged_cut",
        "Number of documents in the first k that are not judged for any query, divided by k even\n"
        "if fewer are retrieved. Source: Hole@k of BEIR (Thakur et al., NeurIPS Datasets and\n"
        "Benchmarks 2021); Xiong et al., ANCE, ICLR 2021.",
        (NEEDED,),
        needs="annotated",
        plain="hole",
        better="lower",
        over_ties="always",
        beside="Judged",
    ),
)

# All measures: trec_eval's in its order, then the others.
MEASURES: tuple[Measure, ...] = (*TREC_MEASURES, *FAMILIES)

FAMILY_BY_NAME: dict[str, Family] = {
    name: family for family in FAMILIES for name in (family.name, *family.aliases)
}
BY_PLAIN_NAME: dict[str, Family] = {family.plain: family for family in FAMILIES if family.plain}
FAMILY_BY_SPELLING: dict[str, Family] = {
    **{written: family for family in FAMILIES for written in family.spellings},
    **{spelling(name): family for name, family in BY_PLAIN_NAME.items()},
    **{spelling(name): family for name, family in FAMILY_BY_NAME.items()},
}
# Measures by spelling whose names differ only in case or separators, although their definitions
# differ. Each is understood only as it is written here.
LOOKALIKES = {"rbp": ("RBP", "rbp"), "numrel": ("NumRel", "num_rel")}
# Names of ir_measures for a measure with an option.
SHORTHANDS: dict[str, str] = {"SetRelP": "SetP(relative=True)"}
