"""The grades that several judges gave to the same pairs of query and document."""

from __future__ import annotations

import warnings
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from fastrank.core.formats.inputs import as_qrels, run_names
from fastrank.core.formats.qrels import Qrels
from fastrank.core.results.table import distinct
from fastrank.errors import InputError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from fastrank.common.arrays import Floats
    from fastrank.core.formats.inputs import QrelsLike

    Judgments = dict[str, dict[str, float]]
    Number = TypeVar("Number", int, float)
    Scale = Mapping[float, float] | Mapping[str, Mapping[float, float]] | None


class Labels(NamedTuple):
    """The table of pairs from which agreement follows.

    names: the judges. queries: of each pair. values: grades, float64[judges, pairs], NaN where a
    judge gave none.
    """

    names: list[str]
    queries: list[str]
    values: Floats


def judgments_of(source: QrelsLike, name: str) -> Judgments:
    """{query: {document: grade}} of one judge, with pairs that are unjudged: `judged` drops them.

    Raises InputError for preferences.
    """
    return _graded(source, name).to_dict()


def rows_of(source: QrelsLike, name: str) -> Iterator[tuple[str, str, float]]:
    """Query, document and grade of each judgment, also of pairs that are judged several times.

    Raises InputError for preferences.
    """
    qrels = _graded(source, name)
    sizes = np.diff(qrels.offsets)
    queries = chain.from_iterable(map(repeat, qrels.query_ids, sizes.tolist()))
    return zip(queries, qrels.doc_ids, qrels.grades.tolist(), strict=True)


def _graded(source: QrelsLike, name: str) -> Qrels:
    qrels = as_qrels(source)
    if not isinstance(qrels, Qrels):
        raise InputError(name, "expected judgments with grades, found preferences")
    return qrels


def judged(judgments: Judgments) -> Judgments:
    """The judgments without negative grades (unjudged), and queries with only such."""
    labelled = {
        query: {document: grade for document, grade in documents.items() if grade >= 0}
        for query, documents in judgments.items()
    }
    return {query: documents for query, documents in labelled.items() if documents}


def pairs_of(judgments: Mapping[str, Mapping[str, Number]]) -> dict[tuple[str, str], Number]:
    """{(query, document): grade} of judgments, or the ranks of rankings."""
    return {
        (query, document): number
        for query, documents in judgments.items()
        for document, number in documents.items()
    }


def whole(grade: float) -> float:
    """An integer if the grade is one."""
    return int(grade) if grade == int(grade) else grade


def judge_names(sources: Sequence[QrelsLike], names: Sequence[str] | None = None) -> list[str]:
    """The names of judges: as given, those of files, or judge 1, judge 2. Raises OptionError."""
    if names is not None:
        if len(names) != len(sources):
            raise OptionError(
                "names", f"expected {len(sources)}, one per judge, found {len(names)}"
            )
        return distinct(map(str, names))
    return distinct(name or f"judge {number}" for number, name in enumerate(run_names(sources), 1))


def rescaled(judgments: Judgments, scale: Mapping[float, float], name: str) -> Judgments:
    """The judgments with other grades.

    Negative grades may be missing in the scale. Raises OptionError for another that is.
    """
    for (query, document), grade in pairs_of(judgments).items():
        if grade not in scale and grade >= 0:
            expected = ", ".join(f"{mapped:g}" for mapped in scale)
            raise OptionError(
                "scale",
                f"no grade for {grade:g} of {name} (query {query!r}, document"
                f" {document!r}); it maps {expected}",
            )
    return {
        query: {document: scale.get(grade, grade) for document, grade in documents.items()}
        for query, documents in judgments.items()
    }


def apply_scale(judges: dict[str, Judgments], scale: Scale) -> dict[str, Judgments]:
    """Map grades: {grade: grade} for all judges but the first, or {judge: {grade: grade}}.

    Pairs whose grade is negative then are left out.
    """
    by_judge: Any = scale or {}
    if not all(hasattr(value, "items") for value in by_judge.values()):
        by_judge = dict.fromkeys(list(judges)[1:], scale)
    for name in by_judge:
        if name not in judges:
            raise OptionError("scale", f"{name!r} is not a judge; expected {', '.join(judges)}")
    return {
        name: judged(rescaled(judgments, by_judge[name], name) if name in by_judge else judgments)
        for name, judgments in judges.items()
    }


def caution(text: str, notes: list[str]) -> None:
    """Warn, and keep the text for the output."""
    notes.append(text)
    warnings.warn(text, stacklevel=4)


def compare_scales(judges: dict[str, Judgments], notes: list[str]) -> None:
    """Warn of each judge whose grades are not those of the first."""
    first, *others = judges
    scales = {
        name: ", ".join(f"{grade:g}" for grade in sorted({*pairs_of(judgments).values()}))
        for name, judgments in judges.items()
    }
    for name in others:
        if scales[name] != scales[first]:
            caution(
                f"{first} has the grades {scales[first]} and {name} {scales[name]}: if they mean"
                " different things, map them with scale",
                notes,
            )


def labels_of(judges: dict[str, Judgments]) -> Labels:
    """Align the judgments of several judges."""
    by_pair = [pairs_of(judgments) for judgments in judges.values()]
    pairs = list(dict.fromkeys(pair for grades in by_pair for pair in grades))
    values = [[grades.get(pair, np.nan) for pair in pairs] for grades in by_pair]
    return Labels(list(judges), [query for query, _ in pairs], np.array(values, float))
