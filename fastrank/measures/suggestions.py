"""The measures that a user may have meant by a name that is none."""

from __future__ import annotations

from fastrank.measures.custom import CUSTOM
from fastrank.measures.families import BY_PLAIN_NAME, FAMILY_BY_NAME
from fastrank.measures.trec import BY_NAME, NICKNAMES

# Measures that have no cutoff themselves, and the beginning of what they are called with one.
WITH_CUTOFF = {
    "map": ("map_cut.", "AP@"),
    "ndcg": ("ndcg_cut.", "nDCG@"),
    "recip_rank": ("RR@", "RR_"),
    "mrr": ("RR@",),
    "precision": ("P.", "P@"),
    "accuracy": ("Success@",),
    "hole": ("Unjudged@",),
    "set_recall": ("recall.", "R@"),
    "r_cap": ("RCap@",),
    "hits": ("Success@", "HitRatio@"),
}


def suggest(text: str) -> str:
    """A hint at the names a user may have meant."""
    import difflib

    known = [*BY_NAME, *NICKNAMES]
    every = [*known, *FAMILY_BY_NAME, *BY_PLAIN_NAME, *CUSTOM]
    name = text.partition("@")[0].partition("(")[0].strip()
    close: list[str] = []
    stem, _, number = text.replace("@", "_").rpartition("_")
    if stem.lower() in WITH_CUTOFF and number.isdigit():
        close += [f"{cut}{number}" for cut in WITH_CUTOFF[stem.lower()]]
    elif stem in BY_NAME and BY_NAME[stem].takes:
        close.append(f"{stem}.{number}")
    close += difflib.get_close_matches(name, known, cutoff=0.6)
    close += [other for other in every if other.lower() == name.lower()]
    if not close:
        close += difflib.get_close_matches(name, every, cutoff=0.6)
    close = list(dict.fromkeys(close))
    return f"; the closest are {', '.join(close)}" if close else "; `fastrank measures` lists all"
