"""The measures that a user may have meant by a name that is none."""

from __future__ import annotations

from fastrank.measures.custom import OWN
from fastrank.measures.more import FAMILIES, PLAIN
from fastrank.measures.trec import BY_NAME, NICKNAMES

# Measures that have no cutoff themselves, and the beginning of what they are called with one.
CUT = {
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


def closest(text: str) -> str:
    """A hint at the names a user may have meant."""
    import difflib

    known = [*BY_NAME, *NICKNAMES]
    every = [*known, *FAMILIES, *PLAIN, *OWN]
    name = text.partition("@")[0].partition("(")[0].strip()
    close: list[str] = []
    stem, _, number = text.replace("@", "_").rpartition("_")
    if stem.lower() in CUT and number.isdigit():
        close += [f"{cut}{number}" for cut in CUT[stem.lower()]]
    elif stem in BY_NAME and BY_NAME[stem].takes:
        close.append(f"{stem}.{number}")
    close += difflib.get_close_matches(name, known, cutoff=0.6)
    close += [other for other in every if other.lower() == name.lower()]
    if not close:
        close += difflib.get_close_matches(name, every, cutoff=0.6)
    close = list(dict.fromkeys(close))
    return f"; the closest are {', '.join(close)}" if close else "; `fastrank measures` lists all"
