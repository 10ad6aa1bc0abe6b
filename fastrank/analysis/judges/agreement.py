"""How far judges agree: coefficients, confusion matrices, intervals over queries."""

from __future__ import annotations

import os
from functools import partial
from itertools import combinations

import numpy as np

from fastrank.analysis.comparing.bootstrap import jackknifed
from fastrank.analysis.comparing.options import settings_of
from fastrank.analysis.comparing.randomization import resampled_sums
from fastrank.analysis.judges.coefficients import ALPHA_METRICS, alpha, coefficients
from fastrank.analysis.judges.labels import (
    Labels,
    apply_scale,
    compare_scales,
    judge_names,
    judgments_of,
    labels_of,
    whole,
)
from fastrank.common.arguments import check_choice
from fastrank.common.dropped import instead, without_dropped
from fastrank.common.messages import closest, counted, did_you_mean, visible
from fastrank.common.rendering.document import Cell, Document, Grid, Paragraph
from fastrank.common.rendering.numbers import interval as bounds_text
from fastrank.common.rendering.numbers import number, signed
from fastrank.core.data.columns import Frozen
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, grid_of, table_of_rows
from fastrank.errors import GroupError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes

    from fastrank.analysis.comparing.options import Settings
    from fastrank.analysis.judges.coefficients import Coefficient
    from fastrank.analysis.judges.labels import Scale
    from fastrank.common.arrays import Floats, Integers
    from fastrank.common.choices import BootstrapInterval
    from fastrank.common.plots.frame import Frame
    from fastrank.common.rendering.document import Block
    from fastrank.core.formats.inputs import QrelsLike

# The coefficients of a table of several judges, and of one of queries and of grades.
SUMMARY = ("agreement", "kappa", "kappa_quadratic", "ac1", "ac2", "bias")
BY_QUERY = ("agreement", "kappa", "kappa_quadratic", "bias")
BY_GRADE = ("agreement", "higher", "lower", "bias")
# The names of coefficients; a and b are the judges.
NAMES = {
    "agreement": "equal grades",
    "kappa": "Cohen's kappa",
    "kappa_linear": "Cohen's kappa, linear weights",
    "kappa_quadratic": "Cohen's kappa, quadratic weights",
    "pi": "Scott's pi",
    "ac1": "Gwet's AC1",
    "ac2_linear": "Gwet's AC2, linear weights",
    "ac2": "Gwet's AC2, quadratic weights",
    **{f"alpha_{metric}": f"Krippendorff's alpha, {metric}" for metric in ALPHA_METRICS},
    "bias": "mean grade of {b} minus that of {a}",
    "higher": "graded higher by {b}",
    "lower": "graded lower by {b}",
    "f1": "F1 of {b}, relevant from grade {level:g}",
    **{
        name: name + " of {b}, relevant from grade {level:g}"
        for name in ("precision", "recall", "specificity")
    },
}


class JudgeAgreement(Result, Frozen):
    """How far two or more judges agree on the pairs of query and document that they judged.

    judges: their names. pairs: the number of pairs that both judged; of several judges, that two or
    more did. only_a, only_b: of two judges, the numbers of pairs that only one judged, which count
    nowhere else. grades, queries: those of common pairs, in ascending and in byte order. alpha:
    Krippendorff's alpha over all judges by metric: "nominal", "ordinal", "interval".

    Of two judges also, each a float that is NaN where it has no value:

    agreement: the share of equal grades. kappa, kappa_linear, kappa_quadratic: Cohen's, with
    weights by the positions of the grades. pi: Scott's. ac1, ac2, ac2_linear: Gwet's, ac2 with
    quadratic weights. bias: the mean grade of the second minus that of the first; higher, lower:
    the shares of pairs that the second grades higher and lower. precision, recall, f1, specificity:
    of the second, with the first as the truth, where relevant is a grade of at least the relevance
    level. For more judges see `pair` and `table`.

    >>> human = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d4": 0}}
    >>> judge = {"q1": {"d1": 2, "d2": 1, "d3": 1}, "q2": {"d1": 1, "d4": 0}}
    >>> agreement = fr.judge_agreement(human, judge)
    >>> agreement
    <JudgeAgreement of judge 1 and judge 2: 5 pairs, kappa 0.6875, alpha 0.7943>
    >>> agreement.confusion.tolist()
    [[1, 1, 0], [0, 2, 0], [0, 0, 1]]
    >>> agreement.plot().get_title(loc="left")
    'Grades of judge 1 and judge 2'
    """

    made_by = "fastrank.judge_agreement"

    judges: list[str]
    pairs: int
    only_a: int
    only_b: int
    grades: list[float]
    queries: list[str]
    alpha: dict[str, float]
    relevance_level: float
    notes: list[str]
    # Counts by query, float64[queries, grades, grades]: the confusion matrix of two judges, the
    # coincidences of several.
    _by_query: Floats
    _labels: Labels
    _settings: Settings

    @property
    def confusion(self) -> Integers:
        """The number of pairs by grade, int64[grades, grades]; rows are the first judge's.

        >>> agreement.confusion[0].tolist()
        [1, 1, 0]
        """
        self._need_two("confusion")
        counts: Integers = self._by_query.sum(axis=0).astype(np.int64)
        return counts

    def __getattr__(self, name: str) -> float:
        if name.startswith("_") or name not in self._functions():
            hint = instead("JudgeAgreement", name)
            raise AttributeError(f"JudgeAgreement has no attribute {name!r}{hint}")
        return self.value(name)

    def __dir__(self) -> list[str]:
        return (
            [*super().__dir__(), *self._functions()] if len(self.judges) == 2 else super().__dir__()
        )

    def value(self, name: str) -> float:
        """A coefficient by name: an attribute of two judges, or "alpha_ordinal" and the like.

        >>> agreement.value("kappa") == agreement.kappa
        True
        """
        return float(self._function(name)(self._by_query.sum(axis=0)))

    def interval(self, name: str) -> tuple[float, float]:
        """The bootstrap interval of a coefficient, from resampled queries.

        Pairs of one query are not independent, so that queries are drawn with replacement, each
        with all its pairs. (NaN, NaN) for a single query, where the coefficient has no value, and
        where it is the same in all resamples, as if judges never differ.
        Resamples in which it has none are dropped.

        >>> agreement.interval("kappa_quadratic")
        (0.666..., 1.0)
        """
        return self._bounds(name, self._resampled())

    def _bounds(self, name: str, resampled: Floats) -> tuple[float, float]:
        function, estimate = self._function(name), self.value(name)
        drawn = function(resampled)
        drawn = drawn[~np.isnan(drawn)]
        if len(self.queries) < 2 or estimate != estimate or not len(drawn):
            return float("nan"), float("nan")
        without = function(self._by_query.sum(axis=0) - self._by_query)
        return jackknifed(drawn, estimate, without[~np.isnan(without)], self._settings)

    def _resampled(self) -> Floats:
        """The matrix of each resample, float64[resamples, grades, grades]."""
        queries, size, _ = self._by_query.shape
        sums = resampled_sums(
            self._by_query.reshape(queries, size * size).T,
            "draw_with_replacement",
            self._settings.draws,
            self._settings.seed,
            self._settings.threads,
        )
        matrices: Floats = sums.T.reshape(-1, size, size)
        return matrices

    def pair(self, a: str, b: str) -> JudgeAgreement:
        """The agreement of two of the judges. Raises OptionError for another name.

        >>> fr.judge_agreement(human, judge, human).pair("judge 1", "judge 3").kappa
        1.0
        """
        for name in (a, b):
            if name not in self.judges:
                hint = did_you_mean(map(repr, closest(name, self.judges, most=3)))
                expected = hint or f": {', '.join(map(repr, self.judges))}"
                raise OptionError("judge", f"{name!r} is not one of the judges{expected}")
        if a == b:
            raise OptionError("judge", f"expected two judges, found {a!r} twice")
        rows = [self.judges.index(a), self.judges.index(b)]
        labels = Labels([a, b], self._labels.queries, self._labels.values[rows])
        return agreement_of(labels, self.relevance_level, self._settings)

    def by_query(self) -> Table:
        """A row for each query with a common pair: agreement, kappas and bias.

        >>> print(agreement.by_query())
        query      pairs    agreement    kappa    kappa_quadratic    bias
        -------  -------  -----------  -------  -----------------  ------
        q1             3       0.6667   0.5000             0.6667  0.3333
        q2             2       1.0000   1.0000             1.0000  0.0000
        """
        self._need_two("by_query")
        return self._each("query", self.queries, self._by_query, BY_QUERY)

    def _each(
        self, label: str, rows: Sequence[object], matrices: Floats, names: Sequence[str]
    ) -> Table:
        """A row for each confusion matrix."""
        values = {name: self._function(name)(matrices).tolist() for name in names}
        pairs = matrices.sum(axis=(1, 2)).astype(int).tolist()
        return Table(columns={label: rows, "pairs": pairs, **values})

    def by_grade(self) -> Table:
        """A row for each grade of the first judge: how the second grades these pairs.

        >>> print(agreement.by_grade())
          grade    pairs    agreement    higher    lower    bias
        -------  -------  -----------  --------  -------  ------
              0        2       0.5000    0.5000   0.0000  0.5000
              1        2       1.0000    0.0000   0.0000  0.0000
              2        1       1.0000    0.0000   0.0000  0.0000
        """
        self._need_two("by_grade")
        rows = np.eye(len(self.grades))[:, :, None] * self._by_query.sum(axis=0)
        return self._each("grade", list(map(whole, self.grades)), rows, BY_GRADE)

    def table(self) -> Table:
        """A row for each coefficient of two judges with its interval, or for each pair of several.

        >>> print(fr.judge_agreement(human, judge, human, names=["h", "j", "k"]).table())
        a    b      pairs    agreement    kappa    kappa_quadratic     ac1     ac2     bias
        ---  ---  -------  -----------  -------  -----------------  ------  ------  -------
        h    j          5       0.8000   0.6875             0.8000  0.7101  0.8684   0.2000
        h    k          5       1.0000   1.0000             1.0000  1.0000  1.0000   0.0000
        j    k          5       0.8000   0.6875             0.8000  0.7101  0.8684  -0.2000
        """
        if len(self.judges) == 2:
            resampled = self._resampled()
            return table_of_rows(
                ("coefficient", "value", "low", "high"),
                [
                    (name, self.value(name), *self._bounds(name, resampled))
                    for name in self._functions()
                ],
            )
        rows: list[tuple[object, ...]] = []
        for a, b in combinations(self.judges, 2):
            try:
                agreement = self.pair(a, b)
            except GroupError:
                rows.append((a, b, 0, *[float("nan")] * len(SUMMARY)))
            else:
                rows.append((a, b, agreement.pairs, *map(agreement.value, SUMMARY)))
        return table_of_rows(("a", "b", "pairs", *SUMMARY), rows)

    def _drawings(self) -> Mapping[str, Callable[[Axes], Frame]]:
        self._need_two("plot")
        return {"confusion": self._draw}

    def _long_names(self) -> Sequence[str]:
        return self.judges

    def _draw(self, axes: Axes) -> Frame:
        from fastrank.common.plots.frame import Frame
        from fastrank.common.plots.style import INK, PAPER

        (a, b), grades = self.judges, [f"{grade:g}" for grade in self.grades]
        counts = self.confusion
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for (row, column), share in np.ndenumerate(shares):
            color = PAPER if share > 0.5 else INK
            axes.text(
                column, row, f"{counts[row, column]:,}", ha="center", va="center", color=color
            )
        axes.set_xticks(range(len(grades)), grades)
        said = [
            f"{a} {grades[row]}, {b} {grades[column]}: {count}"
            for (row, column), count in np.ndenumerate(counts)
        ]
        return Frame(
            f"Grades of {a} and {b}",
            [self.pairs],
            [f"Pairs of query and document; darker: a larger share of those with the grade of {a}"],
            ["; ".join(said)],
            x=f"grade of {b}",
            y=f"grade of {a}",
            rows=grades,
            inches=(5.5, 4.0),
        )

    def _functions(self) -> Mapping[str, Coefficient]:
        grades = np.array(self.grades)
        if len(self.judges) == 2:
            return coefficients(grades, self.relevance_level)
        return {
            f"alpha_{name}": partial(alpha, grades=grades, metric=name) for name in ALPHA_METRICS
        }

    def _function(self, name: str) -> Coefficient:
        functions = self._functions()
        if name not in functions:
            by_name = coefficients(np.array(self.grades), self.relevance_level)
            if name in by_name:
                self._need_two(name)
            hint = did_you_mean(closest(name, by_name))
            raise OptionError(
                "coefficient", f"unknown coefficient {name!r}{hint or ': ' + ', '.join(functions)}"
            )
        return functions[name]

    def _need_two(self, name: str) -> None:
        if len(self.judges) != 2:
            raise OptionError("judges", f"{name} is of two judges; take two with `pair`")

    def __repr__(self) -> str:
        names = visible(f"{', '.join(self.judges[:-1])} and {self.judges[-1]}")
        kappa = f" kappa {self.value('kappa'):.4f}," if len(self.judges) == 2 else ""
        pairs = counted(self.pairs, "pair")
        return f"<JudgeAgreement of {names}: {pairs},{kappa} alpha {self.alpha['ordinal']:.4f}>"

    def _document(self) -> Document:
        level = f"{100 * self._settings.level:g}%"
        blocks = self._of_two(level) if len(self.judges) == 2 else self._of_several(level)
        return Document([*blocks, *(Paragraph(note, "note") for note in self.notes)])

    def _of_two(self, level: str) -> list[Block]:
        a, b = self.judges
        grades, said = [f"{grade:g}" for grade in self.grades], {"a": a, "b": b}
        confusion = [
            [grade, *counts] for grade, counts in zip(grades, self.confusion.tolist(), strict=True)
        ]
        rows = [
            [
                Cell(NAMES[name].format(**said, level=self.relevance_level), heads_row=True),
                Cell((signed if name == "bias" else number)(value), True),
                Cell(bounds_text(low, high), True),
            ]
            for name, value, low, high in self.table().rows()
        ]
        chosen = self._settings
        return [
            Paragraph(
                f"{counted(self.pairs, 'pair')} of query and document judged by both, in"
                f" {counted(len(self.queries), 'query', 'queries')}; {self.only_a:,} only by {a},"
                f" {self.only_b:,} only by {b}."
            ),
            grid_of(table_of_rows([f"{a} \\ {b}", *grades], confusion)),
            Grid(["coefficient", "value", f"{level} interval"], rows),
            Paragraph(
                f"Rows of the first table are the grades of {a}. Intervals: {chosen.interval},"
                f" {chosen.draws:,} resamples of the queries, seed {chosen.seed}.",
                "legend",
            ),
        ]

    def _of_several(self, level: str) -> list[Block]:
        shown = [
            f"{name} {number(value)} {bounds_text(*self.interval(f'alpha_{name}'))}".strip()
            for name, value in self.alpha.items()
        ]
        text = (
            f"Krippendorff's alpha of {len(self.judges)} judges on {counted(self.pairs, 'pair')}"
            f" that two or more judged, with {level} intervals: {', '.join(shown)}."
        )
        return [grid_of(self.table()), Paragraph(text, "legend")]

    def _title(self) -> str:
        return "Agreement of judges"

    def _content(self) -> dict[str, object]:
        content = {"judges": self.judges, "pairs": self.pairs, "alpha": self.alpha}
        content |= {"coefficients": self.table(), "notes": self.notes}
        if len(self.judges) == 2:
            content |= {
                "only_a": self.only_a,
                "only_b": self.only_b,
                "grades": self.grades,
                "confusion": self.confusion.tolist(),
                "queries": self.by_query(),
                "by_grade": self.by_grade(),
            }
        return content


@without_dropped
def judge_agreement(
    a: QrelsLike,
    b: QrelsLike,
    *others: QrelsLike,
    names: Sequence[str] | None = None,
    relevance_level: float = 1,
    scale: Scale = None,
    interval: BootstrapInterval = "bca",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> JudgeAgreement:
    """Compare the judgments of two or more judges, such as people and a language model.

    a, b, others: the judgments of each judge, as `evaluate` takes them. The first is taken as the
        truth where one must be. A negative grade means unjudged.
    names: the names of the judges, by default those of the files.
    relevance_level: the lowest relevant grade, for precision, recall, F1 and specificity.
    scale: maps grades: {grade: grade} for all judges but the first, or {judge: {grade: grade}}.
    interval: the kind of bootstrap interval over queries: "bca" or "percentile". The draws are
        those of `compare`: the same for any number of threads and machine.
    level: the confidence level of the intervals.
    resamples: the number of random resamples.
    seed: the seed of the resamples.

    Raises GroupError if no two judges have a judged pair in common, OptionError for invalid
    options, and what reading judgments raises. Warns if the sets of grades differ; notes
    say what is left out.

    >>> agreement = fr.judge_agreement(human, judge)
    >>> agreement.agreement, agreement.alpha["nominal"]
    (0.8, 0.709...)
    """
    check_choice("interval", interval, ("bca", "percentile"))
    chosen = settings_of(interval=interval, level=level, resamples=resamples, seed=seed)
    sources = (a, b, *others)
    all_names = judge_names(sources, names)
    judges = {
        name: judgments_of(source, name) for name, source in zip(all_names, sources, strict=True)
    }
    judges = apply_scale(judges, scale)
    agreement = agreement_of(labels_of(judges), relevance_level, chosen)
    compare_scales(judges, agreement.notes)
    same = [name for name in all_names[1:] if judges[name] == judges[all_names[0]]]
    agreement.notes.extend(f"{all_names[0]} and {name} are the same judgments" for name in same)
    return agreement


def agreement_of(labels: Labels, relevance_level: float, chosen: Settings) -> JudgeAgreement:
    """The agreement of judges from aligned labels. Raises GroupError without a common pair."""
    judged = ~np.isnan(labels.values)
    common = judged.sum(axis=0) > 1
    if not common.any():
        raise GroupError(
            f"{' and '.join(labels.names)} have no judged pair of query and document in common"
        )
    values = labels.values[:, common]
    grades = np.unique(values[~np.isnan(values)])
    # Queries without a common pair say nothing and must not be drawn.
    of_pairs = [labels.queries[i] for i in np.flatnonzero(common)]
    queries = sorted({*of_pairs}, key=os.fsencode)
    rows = {query: row for row, query in enumerate(queries)}
    query = np.array([rows[query_id] for query_id in of_pairs])
    by_query = np.zeros((len(queries), len(grades), len(grades)))
    two = len(labels.names) == 2
    if two:
        np.add.at(by_query, (query, *np.searchsorted(grades, values)), 1.0)
    else:
        counts = (values[:, :, None] == grades).sum(axis=0).astype(float)
        # Each label is paired with every other label of the pair, so that a pair with m labels
        # weighs m.
        products = counts[:, :, None] * (counts[:, None, :] - np.eye(len(grades)))
        np.add.at(by_query, query, products / (counts.sum(axis=1) - 1)[:, None, None])
    total = by_query.sum(axis=0)
    coincidence = total + total.T if two else total
    only = (judged & ~common).sum(axis=1).tolist() if two else [0, 0]
    return JudgeAgreement(
        judges=labels.names,
        pairs=len(of_pairs),
        only_a=only[0],
        only_b=only[1],
        grades=grades.tolist(),
        queries=queries,
        alpha={metric: float(alpha(coincidence, grades, metric)) for metric in ALPHA_METRICS},
        relevance_level=relevance_level,
        notes=[],
        _by_query=by_query,
        _labels=labels,
        _settings=chosen,
    )
