"""Suggest measures for an unknown name."""

from __future__ import annotations

import difflib
import re
from itertools import chain

from fastrank.common.faces import by_face
from fastrank.common.messages import did_you_mean
from fastrank.core.measures.custom import CUSTOM
from fastrank.core.measures.families import BY_PLAIN_NAME, FAMILY_BY_NAME, FAMILY_BY_SPELLING
from fastrank.core.measures.measure_options import Family
from fastrank.core.measures.trec import BY_NAME, NICKNAMES, spelling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Names of measures in papers and other libraries, by spelling; a name with several meanings is
# listed with all of them.
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
        "categorical_hinge_loss": "categorical_hinge",
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
# F with another weight than 1: F2, F0.5@10, F(beta=2)@10.
F_BETA = re.compile(
    r"f[-_]?(?:beta|measure|score)?(?:(\d+(?:\.\d+)?)|\(\s*beta\s*=\s*(\d+(?:\.\d+)?)[^)]*\))(?:@(\d+))?",
    re.IGNORECASE,
)
# Words that other libraries put before and after the name of a measure.
AFFIXES = re.compile(
    r"(?:retrieval|labelranking|cosine|dot|euclidean|manhattan|get)?(.*?)(?:at|atk|cut|score)?"
)
# The notation of ranx: a name, a cutoff, and the lowest relevant grade.
RANX = re.compile(r"([a-z1_-]+?)(?:@(\d+))?-l(\d+)")
# How names of what is missed or not relevant begin, whose likes mean the reverse.
NEGATED = re.compile(r"(?:no[nt]|irrelevant|miss|fail|error?(?:rate|at)|loss)")
LARGEST_GRADE = 4
ALL = "; `fastrank measures` lists all"
# The names of trec_eval for those of ir_measures, without and with a cutoff, spelled plainly.
TREC_NAMES = {
    ("ap", False): "map",
    ("ap", True): "mapcut",
    ("mrr", False): "reciprank",
    ("ndcg", True): "ndcgcut",
    ("r", True): "recall",
    ("rr", False): "reciprank",
}
TABLES = (BY_NAME, NICKNAMES, FAMILY_BY_NAME, BY_PLAIN_NAME, CUSTOM)
MOST = 3
LONG_NAME = 5


def ranx_hint(text: str) -> str:
    """A hint at the measure that ranx writes `map@100-l2`, the empty string for other notations."""
    match = RANX.fullmatch(text)
    if match is None:
        return ""
    name, number, level = match.groups()
    plain = name.removesuffix("_burges")
    family = FAMILY_BY_SPELLING.get(spelling(plain))
    if family is None or not {"rel", "gains"} & {*family.options}:
        return ""
    gains = [f"{grade}:0" for grade in range(1, int(level))]
    if name != plain:
        gains += [f"{grade}:{2**grade - 1}" for grade in range(int(level), LARGEST_GRADE + 1)]
    option = f"rel={level}" if "rel" in family.options else f"gains={{{','.join(gains)}}}"
    measure = family.name if number else family.uncut or family.name
    limit = f", for grades up to {LARGEST_GRADE}" if name != plain else ""
    return f"; -l is the notation of ranx, use {_written(f'{measure}({option})', number)}{limit}"


def evaluated_name(name: str, names: Iterable[str]) -> str:
    """A hint at the evaluated measure that a name means in another notation, such as AP for map."""
    meant, spelled = _plain(name), {_plain(known): known for known in names}
    similar = [meant] if meant in spelled else difflib.get_close_matches(meant, spelled, 1, 0.8)
    return did_you_mean(repr(spelled[spelling]) for spelling in similar)


def _plain(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    letters = plain.rstrip("0123456789")
    number = plain[len(letters) :]
    return TREC_NAMES.get((letters, bool(number)), letters) + number


def suggest(text: str, is_known: Callable[[str], bool]) -> str:
    """A hint at the names the user may have meant, all of which `is_known` accepts."""
    parts = PARTS.fullmatch(text)
    name, number = (text, None) if parts is None else parts.groups()
    if top := TOP_ACCURACY.fullmatch(text):
        name, number = "topaccuracy", top[1]
    if hint := _f_hint(text):
        return hint
    plain = spelling(name)
    if plain == "hits":
        cut = f"@{number}" if number else ""
        return (
            f"; hits{cut} is a number of documents in ranx, P{cut} times {number or 'k'} or"
            f" num_rel_ret; the share of queries with one is Success{cut or '@10'}"
        )
    if plain in METRICS and plain not in SYNONYMS:
        return f"; for labels and scores without queries use fastrank.tasks.{METRICS[plain]}"
    if NEGATED.match(plain):
        return ALL
    if plain.startswith("span"):
        return "; measures of spans are computed by fastrank.evaluate_spans"
    names = dict.fromkeys(
        _written(measure, number)
        for measure in _synonyms(plain, number) or _similar(plain, number)
        if any(measure.partition("(")[0] in names for names in TABLES)
    )
    suggestions = [written for written in names if is_known(written)][:MOST]
    return did_you_mean(suggestions) or ALL


def _f_hint(text: str) -> str:
    """A hint at F with another beta than 1, the empty string for other measures."""
    match = F_BETA.fullmatch(text.strip())
    beta = 1.0 if match is None else float(match[1] or match[2])
    if match is None or beta == 1.0:
        return ""
    hint = f"; for the F of van Rijsbergen with beta {beta:g} use SetF(beta={beta**2:g})"
    depth = match[3] and by_face(f"depth={match[3]}", f"--depth {match[3]}")
    return f"{hint} with {depth}" if depth else hint


def _synonyms(name: str, number: str | None) -> tuple[str, ...]:
    """The measures that have this name elsewhere."""
    core = AFFIXES.fullmatch(name)
    for spelled in (name, core[1] if core else ""):
        if spelled in SYNONYMS:
            return SYNONYMS[spelled]
        if spelled in FAMILY_BY_SPELLING and (spelled != name or number):
            return (FAMILY_BY_SPELLING[spelled].name,)
    return ()


def _similar(name: str, number: str | None) -> list[str]:
    """The measures whose names resemble this one, best first."""
    names_by_spelling: dict[str, list[str]] = {}
    for measure in chain.from_iterable(TABLES):
        names_by_spelling.setdefault(spelling(measure), []).append(measure)
    for spelled, family in FAMILY_BY_SPELLING.items():
        names_by_spelling.setdefault(spelled, []).append(family.name)
    # Only very similar measures may be meant instead of a known one with wrong parameters.
    cutoff = 0.8 if name in names_by_spelling else 0.6
    # Other names may be those of other measures, and short ones resemble too many others.
    others = [spelled for spelled in SYNONYMS if len(spelled) >= LONG_NAME]
    for spelled in difflib.get_close_matches(name, others, n=MOST, cutoff=0.8):
        names_by_spelling.setdefault(spelled, []).extend(SYNONYMS[spelled])
    matches = difflib.get_close_matches(name, names_by_spelling, n=MOST, cutoff=cutoff)
    # Among equally similar names, one with the same first letter is more likely.
    matches.sort(
        key=lambda candidate: (
            -difflib.SequenceMatcher(None, candidate, name).ratio(),
            candidate[:1] != name[:1],
        )
    )
    measures = [measure for spelled in matches for measure in names_by_spelling[spelled]]
    if number:
        measures.sort(key=lambda measure: not _written(measure, number).endswith(number))
    return measures


def _written(name: str, number: str | None) -> str:
    """A name with the cutoff that was given or, if required, an example of one."""
    stem = name.partition("(")[0]
    family: Family | None = CUSTOM.get(stem) or FAMILY_BY_NAME.get(stem) or BY_PLAIN_NAME.get(stem)
    if family is not None and (stem not in BY_NAME or number or stem != name):
        stem = family.name + name[len(stem) :]
        cuts = bool(family.at) and (bool(number) or family.options[family.at].needed)
        value = (number or "10") if family.at == "cutoff" else "0.1"
        return f"{stem}@{value}" if cuts else stem
    cuts = bool(number) and stem in BY_NAME and BY_NAME[stem].takes == "cutoffs"
    return f"{stem}.{number}" if cuts else stem
