"""The types of the kernels of measures: a query, the parameters, and the array that values go into.

The queries are those of the records in native/records.
"""

from __future__ import annotations

# Ranks and grades; the same by tie group.
RANKING = "void(Ranking, float64[::1], float64[::1])"
TIED = "void(Tied, float64[::1], float64[::1])"
# Ranks and gains; the same by tie group.
GAINED = "void(Gained, float64[::1], float64[::1])"
TIED_GAINS = "void(TiedGains, float64[::1], float64[::1])"
# Judgments by subtopic, samples of strata, and counted preferences.
SUBTOPICS = "void(BySubtopic, float64[::1], float64[::1])"
STRATA = "void(Stratified, float64[::1], float64[::1])"
PREFERENCES = "void(CountedPreferences, float64[::1], float64[::1])"
