"""Who is first, and how surely: ranks with their bounds, groups, and what it takes to know."""

from __future__ import annotations

import math
from string import ascii_lowercase

from fastrank.analysis.comparing.groups import letter_display
from fastrank.analysis.comparing.pairs import need_all_pairs
from fastrank.analysis.comparing.power import queries_for
from fastrank.analysis.comparing.tables import rank_table
from fastrank.core.results.table import table_of_rows
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.core.results.table import Table

HEADER = ("system", "mean", "rank", "low", "high", "group", "needed")
# One for each letter; more groups help nobody.
MOST_GROUPS = len(ascii_lowercase)


def standing_table(comparison: Comparison, measure: str, power: float, resamples: int) -> Table:
    """What `Comparison.standings` returns."""
    need_all_pairs(comparison, "standings")
    ranks = rank_table(comparison, measure, resamples)
    # Resamples of one query or data set are all the same.
    is_known = len(comparison.queries) > 1 and len(comparison) > 1
    groups = _groups(comparison, measure) if is_known else {}
    first = ranks.columns["system"][0]
    rows = []
    for system, mean, rank, low, high, *_ in ranks.rows():
        effect = math.nan
        if system != first and comparison.settings.clusters is None:
            effect = comparison.pair(measure, first, system).effect
        needed = queries_for(effect, comparison.alpha, power) if math.isfinite(effect) else None
        bounds = (low, high) if is_known else (None, None)
        rows.append((system, mean, rank, *bounds, groups.get(system), needed))
    return table_of_rows(HEADER, rows)


def _groups(comparison: Comparison, measure: str) -> dict[str, str]:
    """The letters of each system; empty if there are too many groups."""
    try:
        groups = comparison.analysis(measure).alike()
    except OptionError:
        return {}
    if len(groups) > MOST_GROUPS:
        return {}
    return {comparison.names[system]: letters for system, letters in letter_display(groups).items()}
