"""Differences of evaluation tools: options, and other definitions of a measure.

The sources are the tools' code and documentation; docs/options.md has the same list in words.
"""

from __future__ import annotations

from fastrank.core.data.columns import Frozen
from fastrank.core.measures.families import FAMILY_BY_NAME
from fastrank.core.measures.notation import parse_measure


class Setting(Frozen):
    """Options of `evaluate`, or another denominator of the means, and the tools that do so.

    text: as it is shown. denominator: "run" if means are divided by the number of queries in the
    run; else "".
    """

    text: str
    options: dict[str, object] = {}  # noqa: RUF012
    denominator: str = ""
    tools: str


class Variant(Frozen):
    """A measure in the place of the one that was asked for; text: "" for that one."""

    measure: str
    text: str
    tools: str


def _option(name: str, value: object, tools: str) -> Setting:
    return Setting(text=f"{name}={value!r}", options={name: value}, tools=tools)


def settings(*, grades: list[float], depths: list[int], has_ranks: bool) -> list[Setting]:
    """The settings to try, the likely ones first.

    grades: the grades above 1, each a possible level. depths: possible depths. has_ranks: whether
    the run may have a rank column.
    """
    listed = [
        _option("missing", "zero", "trec_eval -c, ir_measures, ranx, BEIR's MRR"),
        _option("ties", "given", "ranx, BEIR's MRR"),
        _option("ties", "docno_asc", "sentence-transformers, trectools, ir_measures' RR@k"),
        _option("trec_eval_version", "10.0", "trec_eval 10.0"),
        _option("no_relevant", "skip", "sentence-transformers, torchmetrics"),
        _option("no_relevant", "one", "torchmetrics"),
        _option("ignore_identical_ids", True, "BEIR, MTEB"),
        _option("judged_only", True, "trec_eval -J"),
        _option("ties", "average", "scikit-learn, trectools' RBP"),
        _option("rank_by", "given", "tools that take lists"),
        Setting(
            text="averaged over the queries of the run",
            denominator="run",
            tools="tools that count unjudged queries as 0",
        ),
        _option("duplicates", "first", "KILT"),
        _option("duplicates", "max", "dicts of the best score"),
        _option("ties", "best", "an optimistic order of ties"),
        _option("ties", "worst", "a pessimistic order of ties"),
    ]
    if has_ranks:
        listed.append(_option("rank_by", "rank", "msmarco_passage_eval, Pyserini"))
    listed += [_option("relevance_level", grade, f"trec_eval -l {grade:g}") for grade in grades]
    return listed + [_option("depth", depth, f"trec_eval -M {depth}") for depth in depths]


def _definitions(table: str) -> dict[str, list[tuple[str, ...]]]:
    """{family: [(measure, words, tools)]} of a table; an indented line continues the one before."""
    families: dict[str, list[tuple[str, ...]]] = {}
    for row in table.strip().replace("\n    ", " ").splitlines():
        family, _, definition = row.partition(": ")
        families.setdefault(family, []).append(tuple(map(str.strip, definition.split("|"))))
    return families


# The names of measures of trec_eval in the notation with options.
_FAMILIES = {
    "P": "P",
    "map": "AP",
    "map_cut": "AP",
    "ndcg": "nDCG",
    "ndcg_cut": "nDCG",
    "rbp": "RBP",
    "recall": "R",
    "recip_rank": "RR",
    "relative_P": "RCap",
    "success": "Success",
}
# Other definitions under the same name: measure | what it does | tools that do so. @k is replaced
# by the cutoff, P by the persistence.
_VARIANTS = _definitions("""
AP: AP(denominator='min_k')@k | divided by min(k, R) | sentence-transformers
AP: AP(denominator='relevant_retrieved')@k | divided by the relevant retrieved
    | scikit-learn, torchmetrics, MatchZoo
nDCG: nDCG(dcg='exp-log2')@k | gain 2^grade - 1 | gdeval, ranx's ndcg_burges, trectools, LambdaMART
nDCG: nDCG(ideal='retrieved')@k | ideal of the retrieved documents | scikit-learn, torchmetrics
nDCG: nDCG(ideal='max')@k | ideal of documents of the highest grade | SDCG of cwl_eval
nDCG: nDCG(dcg='exp-log2',ideal='retrieved')@k
    | gain 2^grade - 1, ideal of the retrieved documents | ranking loss functions
nDCG: nDCG(gains=BINARY)@k | gain 1 for every relevant grade | sentence-transformers
nDCG: DCG@k | not normalized | DCG
DCG: DCG(dcg='exp-log2')@k | gain 2^grade - 1 | ranx's dcg_burges
P: P(denominator='retrieved')@k | divided by min(k, retrieved) | rankereval
R: RCap@k | divided by min(k, R) | BEIR's R_cap, FlagEmbedding
R: Success@k | 1 if any is found | DPR, Pyserini
RCap: R@k | divided by R | trec_eval
Success: R@k | recall | recommender systems
Success: P@k | precision |
RBP: RBP(p=P,gain='graded')@k | graded gains | trec_eval 10.0
RBP: RBP(p=P,gain='raw')@k | the grades as gains | ranx, trectools' RBP
RBP: RBP(p=P)@k | binary gains | cwl_eval
RBP: RBP(p=0.5)@k | p=0.5 |
RBP: RBP(p=0.9)@k | p=0.9 |
RBP: RBP(p=0.95)@k | p=0.95 |
ERR: ERR(max_grade=4)@k | max_grade=4 | gdeval
HitRatio: HitRatio(average='micro',denominator='relevant_retrieved')@k
    | pooled over queries, divided by the relevant retrieved | SDR
HitRatio: Success@k | 1 if any is found | recommender systems
PercentileRank: PercentileRank(denominator='retrieved') | rank / retrieved | variants of SDR's
PercentileRank: PercentileRank(denominator='relevant') | rank / R | variants of SDR's
PercentileRank: PercentileRank(denominator='index') | (rank - 1) / retrieved | SDR
PercentileRank: PercentileRank(average='macro') | averaged over queries | variants of SDR's
PercentileRank: PercentileRank(unretrieved='worst') | 1 for documents that were not retrieved
    | recommender systems
Judged: Judged(denominator='k')@k | divided by k | 1 - unj of trec_eval 10.0
Judged: Judged(average='micro')@k | averaged over documents | Pyserini
Judged: Judged(negative='unjudged')@k | without negative grades |
""")
# Families that are also computed without a cutoff, where tools ignore it.
_UNCUT = ("AP", "RR", "nDCG")


def variants(name: str, grades: list[float]) -> list[Variant]:
    """The measure, then other definitions that tools use under its name.

    grades: of the relevant documents. Raises MeasureError for an unknown measure.
    """
    spec = parse_measure(name)
    listed = [Variant(measure=name, text="", tools="")]
    options = dict(spec.options)
    cutoff, p = options.get("cutoff"), options.get("p", 0.9 if spec.name == "rbp" else 0.8)
    if spec.family is None:
        family = _FAMILIES.get(spec.name, "")
        if (spec.parameters or "").isdigit():
            cutoff = int(spec.parameters or 0)
    else:
        family = spec.family.name
    suffix = "" if cutoff is None else f"@{cutoff}"
    binary = "{" + ",".join(f"{int(grade)}:1" for grade in grades) + "}"
    whole = all(float(grade).is_integer() for grade in grades)
    graded = []
    for level in grades[1:] if family == "nDCG" and whole else ():
        gains = ",".join(f"{int(grade)}:0" for grade in grades if grade < level)
        graded.append((f"nDCG(gains={{{gains}}})@k", f"gain 0 below grade {level:g}", "ranx -l"))
    for text, words, tools in [*_VARIANTS.get(family, ()), *graded]:
        if "BINARY" in text and not (grades and whole):
            continue
        lacks = cutoff is None and "@k" in text
        if lacks and (FAMILY_BY_NAME[family].options["cutoff"].needed or "ideal='max'" in text):
            continue
        measure = text.replace("@k", suffix).replace("BINARY", binary).replace("p=P", f"p={p}")
        if parse_measure(measure) != spec:
            listed.append(Variant(measure=measure, text=words, tools=tools))
    if cutoff is not None and family in _UNCUT:
        listed.append(
            Variant(measure=family, text="without the cutoff", tools="pytrec_eval's recip_rank.10")
        )
    return listed
