"""Suggest measures for an unknown name."""

from __future__ import annotations

import re
from itertools import chain

from fastrank.measures.custom import CUSTOM
from fastrank.measures.families import BY_PLAIN_NAME, FAMILY_BY_NAME, FAMILY_BY_SPELLING
from fastrank.measures.measure_options import Family
from fastrank.measures.trec import BY_NAME, NICKNAMES, spelling
from fastrank.messages import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# What measures are called in papers and other libraries, by spelling; a name with several meanings
# is listed with all of them.
SYNONYMS = {
    name: tuple(measures.split())
    for measures, names in {
        "Success": "acc answerrecall s topaccuracy topkaccuracy",
        "Success PairAccuracy": "accuracy",
        "alpha_nDCG": "andcg",
        "AP": "apk avep avgprecision meanap",
        "AUC": "auroc queryauc rocauc",
        "R": "averagerecall rec",
        "DCG(dcg='exp-log2')": "dcgburges",
        "SetF": "fbeta",
        "F1 SetF": "fmeasure fscore",
        "GAUC": "groupedauc",
        "Success R": "hits",
        "ideal_dcg": "idcg",
        "map_cut AP": "mapcut",
        "AP ReciprocalHitRank": "mapk",
        "PercentileRank": "meanpercentilerank mpr",
        "FirstRank": "meanr meanrank mnr",
        "MedianRank": "medr",
        "nDCG(dcg='exp-log2')": "ndcgburges ndcgexp",
        "ndcg_cut nDCG": "ndcgcut",
        "num_rel_ret": "numhits",
        "num_rel": "numrelevant",
        "P": "pre prec",
        "SetP": "precisionscore",
        "RBP rbp": "rankbiasedprecision",
        "SetR": "recallscore sensitivity tpr",
        "RR": "recipcut",
        "num_ret": "retrieved",
        "StRecall": "srecall",
    }.items()
    for name in names.split()
}
# Functions of `fastrank.tasks` for labels and scores without queries, by their names here and
# elsewhere.
METRICS = {
    spelling(name): function
    for function, others in {
        "accuracy": "",
        "adjusted_f1": "",
        "average_precision": "",
        "average_recall": "",
        "best_accuracy": "",
        "best_f1": "",
        "exact_match": "",
        "f1": "macro_f1 weighted_f1",
        "hinge_loss": "",
        "matthews": "mcc",
        "pearson": "pearsonr",
        "precision": "",
        "rank_hinge_loss": "",
        "recall": "",
        "spearman": "spearmanr",
        "token_f1": "",
    }.items()
    for name in (function, *others.split())
}
# A name, options or a parameter, and a cutoff. A number before the point is part of a fraction.
PARTS = re.compile(
    r"\s*(.*?)\s*(?:\(.*\))?\s*(?:(?:@|_|(?<!\d)\.|:top=)\s*(?:at_)?(\d+)|[@.:].*)?\s*"
)
TOP_ACCURACY = re.compile(r"top[-_]?(\d+)[-_]?acc(?:uracy)?", re.IGNORECASE)
# What other libraries put before and after the name of a measure.
AFFIXES = re.compile(
    r"(?:retrieval|labelranking|cosine|dot|euclidean|manhattan|get)?(.*?)(?:at|atk|cut|score)?"
)
# The notation of ranx: a name, a cutoff, and the lowest relevant grade.
RANX = re.compile(r"([a-z1_-]+?)(?:@(\d+))?-l(\d+)")
LARGEST_GRADE = 4
TABLES = (BY_NAME, NICKNAMES, FAMILY_BY_NAME, BY_PLAIN_NAME, CUSTOM)
MOST = 3
LONG_NAME = 5


def ranx_hint(text: str) -> str:
    """A hint at the measure that ranx writes `map@100-l2`, the empty string for other notations."""
    found = RANX.fullmatch(text)
    if found is None:
        return ""
    name, number, level = found.groups()
    plain = name.removesuffix("_burges")
    family = FAMILY_BY_SPELLING.get(spelling(plain))
    if family is None or not {"rel", "gains"} & {*family.options}:
        return ""
    gains = [f"{grade}:0" for grade in range(1, int(level))]
    if name != plain:
        gains += [f"{grade}:{2**grade - 1}" for grade in range(int(level), LARGEST_GRADE + 1)]
    option = f"rel={level}" if "rel" in family.options else f"gains={{{','.join(gains)}}}"
    own = family.name if number else family.uncut or family.name
    limit = f", for grades up to {LARGEST_GRADE}" if name != plain else ""
    return f"; -l is the notation of ranx, use {_written(f'{own}({option})', number)}{limit}"


def ranx_rbp_hint(item: str) -> str:
    """A hint at the measure that ranx writes `rbp.95`, given what is after the point."""
    found = re.fullmatch(r"(\d+)(?:-l(\d+))?", item)
    if not found:
        return ""
    share, level = f"p=0.{found[1]}", found[2]
    measures = f"RBP(rel={level},{share})" if level else f"RBP({share})"
    graded = "" if level else f", or for graded judgments RBP({share},gain='raw')"
    return f"; for the persistence of ranx use {measures}{graded}"


def suggest(text: str, is_known: Callable[[str], bool]) -> str:
    """A hint at the names the user may have meant, all of which `is_known` accepts."""
    parts = PARTS.fullmatch(text)
    name, number = (text, None) if parts is None else parts.groups()
    if top := TOP_ACCURACY.fullmatch(text):
        name, number = "topaccuracy", top[1]
    wanted = spelling(name)
    if wanted in METRICS and wanted not in SYNONYMS:
        return f"; for labels and scores without queries use fastrank.tasks.{METRICS[wanted]}"
    if wanted.startswith("span"):
        return "; measures of spans are computed by fastrank.evaluate_spans"
    names = dict.fromkeys(
        _written(other, number)
        for other in _synonyms(wanted, number) or _similar(wanted, number)
        if any(other.partition("(")[0] in names for names in TABLES)
    )
    found = [written for written in names if is_known(written)][:MOST]
    return did_you_mean(found) or "; `fastrank measures` lists all"


def _synonyms(wanted: str, number: str | None) -> tuple[str, ...]:
    """The measures that have this name elsewhere."""
    core = AFFIXES.fullmatch(wanted)
    for spelled in (wanted, core[1] if core else ""):
        if spelled in SYNONYMS:
            return SYNONYMS[spelled]
        if spelled in FAMILY_BY_SPELLING and (spelled != wanted or number):
            return (FAMILY_BY_SPELLING[spelled].name,)
    return ()


def _similar(wanted: str, number: str | None) -> list[str]:
    """The measures whose names resemble this one, best first."""
    import difflib

    known: dict[str, list[str]] = {}
    for other in chain.from_iterable(TABLES):
        known.setdefault(spelling(other), []).append(other)
    for spelled, family in FAMILY_BY_SPELLING.items():
        known.setdefault(spelled, []).append(family.name)
    # Of a known measure with wrong parameters, only very similar ones may be meant instead.
    cutoff = 0.8 if wanted in known else 0.6
    # Other names may be those of other measures, and short ones resemble too many others.
    others = [spelled for spelled in SYNONYMS if len(spelled) >= LONG_NAME]
    for spelled in difflib.get_close_matches(wanted, others, n=MOST, cutoff=0.8):
        known.setdefault(spelled, []).extend(SYNONYMS[spelled])
    matches = difflib.get_close_matches(wanted, known, n=MOST, cutoff=cutoff)
    # Of equally similar names, one with the same first letter is more likely.
    matches.sort(
        key=lambda own: (
            -difflib.SequenceMatcher(None, own, wanted).ratio(),
            own[:1] != wanted[:1],
        )
    )
    found = [other for spelled in matches for other in known[spelled]]
    if number:
        found.sort(key=lambda other: not _written(other, number).endswith(number))
    return found


def _written(name: str, number: str | None) -> str:
    """A name with the cutoff that was given or, if required, an example of one."""
    own = name.partition("(")[0]
    family: Family | None = CUSTOM.get(own) or FAMILY_BY_NAME.get(own) or BY_PLAIN_NAME.get(own)
    if family is not None and (own not in BY_NAME or number or own != name):
        own = family.name + name[len(own) :]
        cuts = bool(family.at) and (bool(number) or family.options[family.at].needed)
        value = (number or "10") if family.at == "cutoff" else "0.1"
        return f"{own}@{value}" if cuts else own
    cuts = bool(number) and own in BY_NAME and BY_NAME[own].takes == "cutoffs"
    return f"{own}.{number}" if cuts else own
