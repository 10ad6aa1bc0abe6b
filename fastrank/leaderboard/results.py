"""The results of systems on data sets, gathered from files and checked."""

from __future__ import annotations

import re
from typing import NamedTuple

from fastrank.comparing.inputs import better_of
from fastrank.errors import GroupError, InputError
from fastrank.measures.notation import canonical_names
from fastrank.messages import counted, first_few

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fastrank.leaderboard.readers import Reader

    Values = dict[str, float]

# The key of a mean whose queries are not known.
MEAN = ""
NAMED = 5
NUMBER = re.compile(r"(\d+)")


class Judgments(NamedTuple):
    """The files of a data set with runs; the texts are empty where there are none."""

    qrels: str
    corpus: str = ""
    queries: str = ""


class Result(NamedTuple):
    """What a file says of a system on a data set.

    version: of the system, empty if none is given. edition: what identifies the version of the data
    set, empty if it is not known. values: {query: value}, or {MEAN: mean}; of subsets {subset:
    mean} if `of_subsets`. source: the file. run: the same if it is a run, else empty.
    """

    system: str
    version: str
    dataset: str
    type: str
    measure: str
    values: Values
    source: str
    edition: str = ""
    run: str = ""
    of_subsets: bool = False


class Dataset(NamedTuple):
    """The results on one data set.

    values: {system: {query: value}}, of the ranked version of each; {MEAN: mean} for all if the
    queries of one are not known. history: {system: {version: mean}}, of systems with versions.
    runs: {system: file} of those that were evaluated here. notes: what a reader must know.
    """

    name: str
    type: str
    measure: str
    better: str
    values: dict[str, Values]
    history: dict[str, dict[str, float]]
    runs: dict[str, str]
    judgments: Judgments | None
    notes: list[str]

    @property
    def has_queries(self) -> bool:
        """Whether the values of the queries are known."""
        return any(MEAN not in own for own in self.values.values())


def datasets_of(found: Reader) -> tuple[list[Dataset], dict[str, str]]:
    """The data sets in the order of their names, and the ranked version of each system.

    Of several versions, the newest of those with the most data sets is ranked; a data set that only
    others have is left out. Raises InputError for results that contradict each other, and
    GroupError if there is none.
    """
    if not found.results:
        raise GroupError("board: no results in the folder")
    _check(found.results)
    ranked = _ranked_versions(found.results)
    by_dataset: dict[str, list[Result]] = {}
    for result in found.results:
        by_dataset.setdefault(result.dataset, []).append(result)
    made = [
        own
        for name in sorted(by_dataset, key=natural)
        if (own := _dataset(name, by_dataset[name], ranked, found)).values
    ]
    directions = {own.better: own for own in made}
    if len(directions) > 1 or "" in directions:
        shown = ", ".join(
            f"{own.measure} of {own.name!r} ({better or 'neither'})"
            for better, own in directions.items()
        )
        raise GroupError(
            f"board: higher values are better on some data sets, lower ones on others: {shown}"
        )
    return made, ranked


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts the numbers in names by their size."""
    return [
        (0, len(part.lstrip("0")), part.lstrip("0")) if part.isdecimal() else (1, 0, part)
        for part in NUMBER.split(name)
        if part
    ]


def _check(results: Iterable[Result]) -> None:
    """Raise InputError for two results of one system, and for those that cannot be compared."""
    seen: dict[tuple[str, str, str], Result] = {}
    firsts: dict[tuple[str, str], Result] = {}
    for result in results:
        key = (result.system, result.version, result.dataset)
        if key in seen:
            raise InputError(
                result.source,
                f"{result.system!r} has a second result on {result.dataset!r}; the first is in"
                f" {seen[key].source}",
            )
        seen[key] = result
        for field, what in (("edition", "version of data set"), ("measure", "measure on data set")):
            own = getattr(result, field)
            if not own:
                continue
            first = firsts.setdefault((result.dataset, field), result)
            other = getattr(first, field)
            if own != other and not same_measure(own, other):
                raise InputError(
                    result.source,
                    f"{what} {result.dataset!r} is {own!r}, but {other!r} in {first.source}; such"
                    " results cannot be compared: leave one of them out",
                )


def same_measure(one: str, other: str) -> bool:
    """Whether two names are those of one measure."""
    return one == other or (canonical_names(one) == canonical_names(other) != [])


def _ranked_versions(results: Iterable[Result]) -> dict[str, str]:
    counts: dict[str, dict[str, int]] = {}
    for result in results:
        own = counts.setdefault(result.system, {})
        own[result.version] = own.get(result.version, 0) + 1
    return {
        system: max((count, natural(version), version) for version, count in own.items())[-1]
        for system, own in counts.items()
    }


def _dataset(name: str, results: list[Result], ranked: Mapping[str, str], found: Reader) -> Dataset:
    kinds = sorted({own.type for own in results if own.type})
    if len(kinds) > 1:
        raise InputError(
            results[0].source, f"data set {name!r} has several types: {', '.join(kinds)}"
        )
    measure = next((own.measure for own in results if own.measure), "score")
    current = [own for own in results if own.version == ranked[own.system]]
    values = {own.system: own.values for own in sorted(current, key=lambda one: one.system)}
    notes = list(found.notes.get(name, ()))
    if any(own.of_subsets for own in current):
        values = _over_common_subsets(name, values, results[0].source, notes)
    without = [system for system, own in values.items() if MEAN in own]
    if 0 < len(without) < len(values):
        notes.append(
            f"only means are compared: the queries of {first_few(without, NAMED)} are not known"
        )
        values = {system: {MEAN: mean_of(own)} for system, own in values.items()}
    history: dict[str, dict[str, float]] = {}
    for own in sorted(results, key=lambda one: natural(one.version)):
        if own.version:
            history.setdefault(own.system, {})[own.version] = mean_of(own.values)
    return Dataset(
        name,
        kinds[0] if kinds else "",
        measure,
        better_of(measure),
        values,
        history,
        {own.system: own.run for own in current if own.run},
        found.judgments.get(name),
        notes,
    )


def _over_common_subsets(
    dataset: str, values: Mapping[str, Values], source: str, notes: list[str]
) -> dict[str, Values]:
    """The means over the subsets that all systems have. Raises InputError if there is none."""
    common = set.intersection(*(set(own) for own in values.values()))
    every = set.union(*(set(own) for own in values.values()))
    if not common:
        raise InputError(source, f"data set {dataset!r}: the systems have no subset in common")
    if common < every:
        others = first_few(sorted(every - common), NAMED)
        of = f"{len(common)} of {counted(len(every), 'subset')}"
        notes.append(f"means are over the {of} that all systems have, without {others}")
    return {
        system: {MEAN: mean_of({subset: own[subset] for subset in sorted(common)})}
        for system, own in values.items()
    }


def mean_of(values: Mapping[str, float]) -> float:
    """The mean of values."""
    return sum(values.values()) / len(values)


def means_of(columns: Sequence[Sequence[float | None]]) -> list[float | None]:
    """The mean of each row of some columns; None where a value is missing."""
    rows = ([own for own in row if own is not None] for row in zip(*columns, strict=True))
    return [sum(row) / len(row) if len(row) == len(columns) else None for row in rows]
