"""The result of an evaluation: values per query and over all queries."""

from __future__ import annotations

from fastrank.columns import Frozen, as_array, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import numpy.typing as npt

    from fastrank.selection import BoundMeasure


class Scores(Frozen):
    """The values of measures for every evaluated query, and over all of them.

    queries: the evaluated queries, in byte order of their ids. missing: how many judged queries
    the run has no results for. bound: the measures with
    their parameters. tag: the run's name. counts: what was left out, or counts for nothing:

    missing: judged queries without results.
    no_relevant: judged queries without a relevant document that were not left out; with
        preferences 0.
    skipped: judged queries left out for that (no_relevant="skip").
    removed: documents left out of the rankings of judged queries (ignore_identical_ids, exclude).
    repeated: lines left out of them because the document has another one (duplicates).
    """

    __slots__ = (
        "bound",
        "counts",
        "missing",
        "query_ids",
        "summaries",
        "tag",
        "value_columns",
        "zscored",
    )

    bound: list[BoundMeasure]
    counts: dict[str, int]
    missing: int
    tag: bytes
    zscored: bool
    query_ids: list[bytes]
    value_columns: list[Any]
    summaries: list[Any]

    @property
    def queries(self) -> list[str]:
        """Ids of the evaluated queries, in byte order."""
        return [decoded(query) for query in self.query_ids]

    @property
    def names(self) -> list[str]:
        """The printed names of all values that exist per query, such as `map` and `P_10`."""
        return [name for name, *_ in self._columns()]

    @property
    def mean(self) -> dict[str, float]:
        """Over all queries, by printed name, as trec_eval prints for `all`.

        That is the mean for most measures, the sum for counts (num_ret, ...), the geometric mean
        for gm_map and gm_bpref.
        """
        found: dict[str, float] = {}
        for bound, summary in zip(self.bound, self.summaries, strict=True):
            if bound.measure.average:
                for name, value in zip(bound.names, summary, strict=True):
                    found.setdefault(decoded(name), value)
        return found

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The values of one measure by printed name, float64[queries] in the order of `queries`.

        `relstring` gives strings. Raises KeyError for a name that has no values per query.
        """
        import numpy

        for own, values, width, column in self._columns():
            if own == name:
                if isinstance(values, list):
                    return numpy.array([decoded(text) for text in values])
                return as_array(values).reshape(-1, width)[:, column]
        raise KeyError(f"{name}: the values per query are {', '.join(self.names)}")

    def _columns(self) -> Iterable[tuple[str, Any, int, int]]:
        """Name, values, width and column of everything that has a value per query."""
        for bound, values in zip(self.bound, self.value_columns, strict=True):
            if values is not None and bound.measure.average != "geometric":
                for column, name in enumerate(bound.names):
                    yield decoded(name), values, bound.width, column

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return (
            f"<Scores of {decoded(self.tag)!r}: {len(self.query_ids)} queries, {len(self)} values>"
        )

    def __str__(self) -> str:
        counts = {
            decoded(name)
            for bound in self.bound
            if bound.measure.average == "sum"
            for name in bound.names
        }
        width = max((len(name) for name in self.mean), default=0)
        return "\n".join(
            f"{name:{width}}  {value:.{0 if name in counts else 4}f}"
            for name, value in self.mean.items()
        )
