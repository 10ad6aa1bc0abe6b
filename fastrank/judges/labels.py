"""The grades that several judges gave to the same pairs of query and document."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from fastrank.data.qrels import Qrels
from fastrank.errors import GroupError, InputError, OptionError
from fastrank.formats.inputs import as_qrels, run_names
from fastrank.scores.tables import distinct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fastrank.comparing.paired import Floats, Integers
    from fastrank.formats.inputs import QrelsLike

    Judgments = dict[str, dict[str, float]]
    Scale = Mapping[float, float] | Mapping[str, Mapping[float, float]] | None

# What a missing label is in arrays of codes.
MISSING = -1


class Labels(NamedTuple):
    """Labels by unit, a pair of query and document.

    names: the judges. queries: in byte order; query: the index of each unit's. grades: ascending.
    codes: int64[judges, units], indexes into `grades`, or MISSING.
    """

    names: list[str]
    queries: list[str]
    query: Integers
    grades: Floats
    codes: Integers

    def counts(self) -> Integers:
        """How many judges gave each unit each grade, int64[units, grades]."""
        found = np.zeros((len(self.query), len(self.grades)), np.int64)
        for own in self.codes:
            judged = np.flatnonzero(own != MISSING)
            found[judged, own[judged]] += 1
        return found

    def of_both(self, first: int, second: int) -> Labels:
        """The labels of two judges: the units of either, the grades of the units of both."""
        codes = self.codes[[first, second]]
        judged = codes != MISSING
        used = np.unique(codes[:, judged.all(axis=0)])
        # Of a unit that only one judged, it only matters that it did.
        places = np.where(judged, np.minimum(np.searchsorted(used, codes), len(used) - 1), MISSING)
        kept = judged.any(axis=0)
        queries, query = np.unique(self.query[kept], return_inverse=True)
        return Labels(
            [self.names[first], self.names[second]], [self.queries[place] for place in queries],
            query, self.grades[used], places[:, kept],
        )  # fmt: skip


def judgments_of(given: QrelsLike, name: str) -> Judgments:
    """{query: {document: grade}} of one judge. Raises InputError for preferences."""
    found = as_qrels(given)
    if not isinstance(found, Qrels):
        raise InputError(name, "expected judgments with grades, found preferences")
    return found.to_dict()


def judge_names(given: Sequence[QrelsLike], names: Sequence[str] | None) -> list[str]:
    """The names of judges: as given, those of files, or judge 1, judge 2. Raises OptionError."""
    if names is not None:
        if len(names) != len(given):
            raise OptionError("names", f"expected {len(given)}, one per judge, found {len(names)}")
        return distinct(map(str, names))
    files = run_names(given)
    return distinct(name or f"judge {place}" for place, name in enumerate(files, 1))


def rescaled(judgments: Judgments, scale: Mapping[float, float], name: str) -> Judgments:
    """The judgments with other grades. Raises OptionError for a grade that the scale lacks."""
    for query, documents in judgments.items():
        for document, grade in documents.items():
            if grade not in scale:
                expected = ", ".join(f"{own:g}" for own in scale)
                raise OptionError(
                    "scale", f"no grade for {grade:g} of {name} (query {query!r}, document"
                    f" {document!r}); it maps {expected}"
                )  # fmt: skip
    return {
        query: {document: scale[grade] for document, grade in documents.items()}
        for query, documents in judgments.items()
    }


def apply_scale(judges: dict[str, Judgments], scale: Scale) -> dict[str, Judgments]:
    """Map grades: {grade: grade} for all judges but the first, or {judge: {grade: grade}}."""
    if scale is None:
        return judges
    by_judge: Any = scale
    if not all(hasattr(own, "items") for own in scale.values()):
        by_judge = dict.fromkeys(list(judges)[1:], scale)
    unknown = [name for name in by_judge if name not in judges]
    if unknown:
        raise OptionError("scale", f"{unknown[0]!r} is not a judge; expected {', '.join(judges)}")
    return {
        name: rescaled(own, by_judge[name], name) if name in by_judge else own
        for name, own in judges.items()
    }


def labels_of(judges: dict[str, Judgments]) -> Labels:
    """Align the judgments of several judges. Raises GroupError if no two judged a common pair."""
    units: dict[tuple[str, str], int] = {}
    for own in judges.values():
        for query, documents in own.items():
            for document in documents:
                units.setdefault((query, document), len(units))
    queries = sorted({query for query, _ in units}, key=os.fsencode)
    places = {query: place for place, query in enumerate(queries)}
    values = np.full((len(judges), len(units)), np.nan)
    for row, own in zip(values, judges.values(), strict=True):
        for query, documents in own.items():
            for document, grade in documents.items():
                row[units[query, document]] = grade
    judged = ~np.isnan(values)
    if not len(units) or judged.sum(axis=0).max() < 2:
        raise GroupError(
            f"{' and '.join(judges)} have no judged pair of query and document in common"
        )
    grades = np.unique(values[judged])
    codes = np.where(judged, np.searchsorted(grades, np.nan_to_num(values)), MISSING)
    of_units = np.array([places[query] for query, _ in units], np.int64)
    found = Labels(list(judges), queries, of_units, grades, codes.astype(np.int64))
    return found.of_both(0, 1) if len(judges) == 2 else found
