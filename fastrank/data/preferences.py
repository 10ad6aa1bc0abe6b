"""Preferences between documents."""

from __future__ import annotations

from fastrank.data.columns import PerQuery, as_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from fastrank.data.texts import Texts


class Preferences(PerQuery):
    """Preference judgments: rows of group, subgroup, document and preference level.

    >>> import io
    >>> lines = b"q1 0 0 d1 2\\nq1 0 0 d2 1\\nq1 0 0 d3 1\\n"
    >>> preferences = fr.read_prefs(io.BytesIO(lines))
    >>> preferences.doc_ids, preferences.levels.tolist()
    (['d1', 'd2', 'd3'], [2.0, 1.0, 1.0])
    >>> fr.evaluate(preferences, {"q1": {"d1": 0.5, "d2": 0.75}}, "prefs_simp").mean
    {'prefs_simp': 0.5}
    """

    internal = PerQuery.internal | {"groups", "level_column", "subgroups"}

    groups: Texts
    # Empty in the qrels_prefs format, where there is only one.
    subgroups: Texts
    level_column: Any

    @property
    def levels(self) -> npt.NDArray[np.float64]:
        """The preference level of every row, float64[rows]; higher is preferred."""
        return as_array(self.level_column)
