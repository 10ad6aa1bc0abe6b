"""Suggest measures for an unknown name."""

from __future__ import annotations

import re

from fastrank.measures.custom import CUSTOM
from fastrank.measures.families import BY_PLAIN_NAME, FAMILY_BY_NAME, FAMILY_BY_SPELLING
from fastrank.measures.measure_options import Family
from fastrank.measures.trec import BY_NAME, NICKNAMES, spelling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Names from other libraries, by spelling, for measures that have another name here; some of these
# names are used for several measures.
MEANT = {
    "acc": ("Success",),
    "accuracy": ("Success", "PairAccuracy"),
    "dcgcut": ("DCG",),
    "fscore": ("F1", "SetF"),
    "hits": ("Success", "R"),
    "hitrateat": ("Success",),
    "mapcut": ("AP",),
    "mapk": ("AP", "ReciprocalHitRank"),
    "mpr": ("PercentileRank",),
    "medr": ("MedianRank",),
    "ndcgcut": ("nDCG",),
    "ndcgburges": ("nDCG(dcg='exp-log2')",),
    "dcgburges": ("DCG(dcg='exp-log2')",),
    "rcap": ("RCap",),
    "topkaccuracy": ("Success",),
    "topaccuracy": ("Success",),
}
# A name, options or a parameter, and a cutoff.
PARTS = re.compile(r"\s*(.*?)\s*(?:\(.*\))?\s*(?:[@._]\s*(?:at_)?(\d+)|[@.].*)?\s*")
MOST = 3
LONG_NAME = 5


def suggest(text: str, is_known: Callable[[str], bool]) -> str:
    """A hint at the names the user may have meant, all of which `is_known` accepts."""
    import difflib

    parts = PARTS.fullmatch(text)
    name, number = (text, None) if parts is None else parts.groups()
    known: dict[str, list[str]] = {}
    for other in (*BY_NAME, *NICKNAMES, *FAMILY_BY_NAME, *BY_PLAIN_NAME, *CUSTOM):
        known.setdefault(spelling(other), []).append(other)
    for spelled, family in FAMILY_BY_SPELLING.items():
        known.setdefault(spelled, []).append(family.name)
    wanted = spelling(name)
    for spelled, meant in MEANT.items():
        # Short names resemble too many others.
        if len(spelled) >= LONG_NAME or spelled == wanted:
            known.setdefault(spelled, []).extend(meant)
    close: list[str] = []
    # Of a known measure with wrong parameters, only very similar ones may be meant instead.
    cutoff = 0.8 if wanted in known else 0.6
    matches = difflib.get_close_matches(wanted, known, n=MOST, cutoff=cutoff)
    # Of equally similar names, one with the same first letter is more likely.
    for spelled in sorted(
        matches,
        key=lambda own: (
            -difflib.SequenceMatcher(None, own, wanted).ratio(),
            own[:1] != wanted[:1],
        ),
    ):
        close += known[spelled]
    names = dict.fromkeys(_written(other, number) for other in close)
    found = [written for written in names if is_known(written)]
    if number:
        found.sort(key=lambda written: not written.endswith(number))
    *others, last = found[:MOST] or [""]
    if not last:
        return "; `fastrank measures` lists all"
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


def _written(name: str, number: str | None) -> str:
    """A name with the cutoff that was given or, if required, an example of one."""
    own = name.partition("(")[0]
    family: Family | None = CUSTOM.get(own) or FAMILY_BY_NAME.get(own) or BY_PLAIN_NAME.get(own)
    if own not in BY_NAME and family is not None:
        own = family.name + name[len(own) :]
        cuts = bool(family.at) and (bool(number) or family.options[family.at].needed)
        value = (number or "10") if family.at == "cutoff" else "0.1"
        return f"{own}@{value}" if cuts else own
    cuts = bool(number) and own in BY_NAME and BY_NAME[own].takes == "cutoffs"
    return f"{own}.{number}" if cuts else own
