"""The results of a comparison of indexes, as a table, JSON and a plot."""

from __future__ import annotations

from fastrank.common.messages import counted, visible
from fastrank.core.data.columns import Frozen
from fastrank.core.results.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes

    from fastrank.common.plots.frame import Frame
    from fastrank.core.results.table import Table
    from fastrank.core.scores.scores import Scores


class IndexPoint(Frozen):
    """The measurements of an index with one search setting.

    index_factory, parameters: as given (for a built index, its name); parameters is "" for faiss's
    defaults. recall: the share of the exact top k that it found. seconds: the time of each pass
    over all queries. queries_per_second: from the median time. bytes: the size of the index on
    disk, about the same as in memory. build_seconds: the time to train it and add the vectors, None
    for a built index. scores: the measures, or None without judgments.

    >>> point = compared.points[0]
    >>> point.name, point.recall, point.bytes > 0
    ('exact', 1.0, True)
    """

    name: str
    index_factory: str
    parameters: str
    recall: float
    seconds: list[float]
    queries_per_second: float
    bytes: int
    build_seconds: float | None
    scores: Scores | None

    def __repr__(self) -> str:
        speed = f"{self.queries_per_second:.0f} queries/s"
        return f"<IndexPoint {visible(self.name)}: recall {self.recall:.4f}, {speed}>"


class IndexComparison(Result, Frozen):
    """The results of `compare_indexes`; the first of `points` is exact search.

    k: the number of documents retrieved per query. metric, documents, dimension, queries: of the
    vectors. batch_size: the number of queries per batch.

    >>> compared
    <IndexComparison: 3 points, recall@3 of 4 queries in 64 documents>
    >>> [point.name for point in compared.points]
    ['exact', 'IVF4,Flat nprobe=1', 'IVF4,Flat nprobe=4']
    """

    made_by = "fastrank.compare_indexes"

    k: int
    metric: str
    documents: int
    dimension: int
    queries: int
    batch_size: int
    points: list[IndexPoint]

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        searched = (
            f"{counted(self.queries, 'query', 'queries')} in {counted(self.documents, 'document')}"
        )
        return f"<IndexComparison: {counted(len(self), 'point')}, recall@{self.k} of {searched}>"

    def table(self) -> Table:
        """A table with a row per point: recall, measures and their change, speed, size.

        >>> compared.table().names
        ['index', 'recall@3', 'RR', 'RR change', 'queries/s', 'bytes', 'build s']
        """
        from fastrank.core.results.table import Table
        from fastrank.core.scores.text import notes

        exact, rows = self.points[0].scores, [self._row(point) for point in self.points]
        told = () if exact is None else tuple(notes(exact))
        return Table(columns={name: [row[name] for row in rows] for name in rows[0]}, notes=told)

    def _content(self) -> dict[str, object]:
        whole = {name: getattr(self, name) for name in sorted(self.field_names - {"points"})}
        return {**whole, "points": [self._record(point) for point in self.points]}

    def _drawings(self) -> Mapping[str, Callable[[Axes], Frame]]:
        return {"recall-speed": self._draw}

    def _changes(self, point: IndexPoint) -> dict[str, float]:
        exact = self.points[0].scores
        if point.scores is None or exact is None:
            return {}
        return {name: value - exact.mean[name] for name, value in point.scores.mean.items()}

    def _row(self, point: IndexPoint) -> dict[str, object]:
        measured: dict[str, float] = {}
        for name, change in self._changes(point).items():
            assert point.scores is not None
            measured |= {name: point.scores.mean[name], f"{name} change": change}
        return {
            "index": point.name,
            f"recall@{self.k}": point.recall,
            **measured,
            "queries/s": round(point.queries_per_second),
            "bytes": point.bytes,
            "build s": "-" if point.build_seconds is None else point.build_seconds,
        }

    def _record(self, point: IndexPoint) -> dict[str, object]:
        names = (
            "name",
            "index_factory",
            "parameters",
            "recall",
            "queries_per_second",
            "seconds",
            "bytes",
            "build_seconds",
        )
        record = {name: getattr(point, name) for name in names}
        if point.scores is not None:
            record |= {"mean": point.scores.mean, "change": self._changes(point)}
        return record

    def _draw(self, axes: Axes) -> Frame:
        from matplotlib.ticker import NullFormatter, StrMethodFormatter

        from fastrank.common.plots.frame import Frame
        from fastrank.common.plots.style import INK, MUTED, line

        exact, *others = self.points
        axes.axhline(exact.queries_per_second, color=MUTED, lw=1, ls="--", zorder=0)
        handles = axes.plot(
            [exact.recall], [exact.queries_per_second], "*", color=INK, ms=12, label="exact"
        )
        factories = dict.fromkeys(point.index_factory for point in others)
        for number, index_factory in enumerate(factories):
            points = sorted(
                (p for p in others if p.index_factory == index_factory), key=lambda p: p.recall
            )
            speeds = [point.queries_per_second for point in points]
            recall = [point.recall for point in points]
            look = line(number)
            handles += axes.plot(recall, speeds, marker="o", ms=4, label=index_factory, **look)
            for point in points:
                axes.annotate(
                    point.parameters.replace(",", "\n"),
                    (point.recall, point.queries_per_second),
                    fontsize="x-small",
                    xytext=(-6, -2),
                    textcoords="offset points",
                    ha="right",
                )
        # Settings are left of their points; keep the leftmost inside the axes.
        widest = max(len(setting) for point in others for setting in point.parameters.split(","))
        axes.margins(x=0.05 + 0.0125 * widest)
        left = axes.get_xlim()[0]
        axes.set_xlim(left, 1 + 0.05 * (1 - left))
        axes.set_yscale("log")
        # Labels of logarithms are mathematical text by default, which is shown as it is here.
        plain = StrMethodFormatter("{x:,.10g}")
        axes.yaxis.set_major_formatter(plain)
        speeds = [point.queries_per_second for point in self.points]
        narrow = max(speeds) < 10 * min(speeds)
        axes.yaxis.set_minor_formatter(plain if narrow else NullFormatter())
        return Frame(
            f"Recall@{self.k} and queries per second of {len(self.points)} searches",
            [self.queries],
            [
                f"{self.queries:,} queries, {self.documents:,} vectors of dimension"
                f" {self.dimension}, {self.metric}"
            ],
            [
                f"{point.name} recall {point.recall:.4f}, {point.queries_per_second:,.0f} queries"
                " per second"
                for point in self.points
            ],
            x=f"recall@{self.k}",
            y="queries per second",
            handles=handles,
            grid="both",
            inches=(7.5, 5.0),
        )
