"""How far judges agree: coefficients, confusion matrices, intervals over queries."""

from __future__ import annotations

from functools import partial

import numpy as np

from fastrank.arguments import check_choice
from fastrank.comparing.bootstrap import bca
from fastrank.comparing.options import COMPARISON, settings
from fastrank.comparing.randomization import resampled_sums
from fastrank.data.columns import Frozen
from fastrank.errors import GroupError, OptionError
from fastrank.judges.coefficients import alpha, coefficients
from fastrank.judges.labels import MISSING, apply_scale, judge_names, judgments_of, labels_of
from fastrank.messages import closest, counted, did_you_mean
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import pandas

    from fastrank.choices import BootstrapInterval
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats, Integers
    from fastrank.formats.inputs import QrelsLike, RunsLike
    from fastrank.judges.labels import Judgments, Labels, Scale
    from fastrank.judges.systems import SystemsUnderJudges
    from fastrank.measures.selection import Measures

METRICS = ("nominal", "ordinal", "interval")
# The coefficients of a table of several judges.
SUMMARY = ("pairs", "agreement", "kappa", "kappa_quadratic", "ac1", "ac2", "bias")


class JudgeAgreement(Frozen):
    """How far two or more judges agree on the pairs of query and document that they judged.

    judges: their names. pairs: the number of pairs that both judged; of several judges, that two or
    more did. only_a, only_b: of two judges, the numbers of pairs that only one judged, which count
    nowhere else. grades, queries: those of common pairs, in ascending and in byte order. alpha:
    Krippendorff's alpha over all judges by metric: "nominal", "ordinal", "interval".
    systems: what the judges do to the order of systems, None without runs.

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
    systems: SystemsUnderJudges | None = None
    notes: list[str]
    # Of each query, float64[queries, grades, grades]: of two judges the confusion matrix, of
    # several the coincidences.
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
        found: Integers = self._by_query.sum(axis=0).astype(np.int64)
        return found

    def __getattr__(self, name: str) -> float:
        if name.startswith("_") or name not in self._functions():
            raise AttributeError(f"JudgeAgreement has no attribute {name!r}")
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
        with all its pairs. (NaN, NaN) for a single query, and where the coefficient has no value.
        Resamples in which it has none are dropped.

        >>> agreement.interval("kappa_quadratic")
        (0.666..., 1.0)
        """
        function, chosen = self._function(name), self._settings
        sums = self._resampled()
        estimate = self.value(name)
        resampled = function(sums)
        resampled = resampled[~np.isnan(resampled)]
        if len(self._by_query) < 2 or estimate != estimate or not len(resampled):
            return float("nan"), float("nan")
        if chosen.interval == "bca":
            total = self._by_query.sum(axis=0)
            without = function(total - self._by_query)
            deviations = without[~np.isnan(without)]
            deviations = deviations.mean() - deviations
            spread = float((deviations**2).sum())
            if spread > 0:
                acceleration = float((deviations**3).sum()) / (6 * spread**1.5)
                bounds = bca(resampled, estimate, acceleration, chosen.level)
                if bounds is not None:
                    return bounds
        tail = (1 - chosen.level) / 2
        low, high = np.quantile(resampled, [tail, 1 - tail])
        return float(low), float(high)

    def _resampled(self) -> Floats:
        """The matrix of each resample, float64[resamples, grades, grades]."""
        queries, size, _ = self._by_query.shape
        sums = resampled_sums(
            self._by_query.reshape(queries, size * size).T, "draw_with_replacement",
            self._settings.draws, self._settings.seed, self._settings.threads,
        )  # fmt: skip
        found: Floats = sums.T.reshape(-1, size, size)
        return found

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
        labels = self._labels.of_both(self.judges.index(a), self.judges.index(b))
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
        counts = self._by_query.sum(axis=(1, 2)).astype(int).tolist()
        columns: dict[str, list[Any]] = {"query": self.queries, "pairs": counts}
        for name in ("agreement", "kappa", "kappa_quadratic", "bias"):
            columns[name] = self._function(name)(self._by_query).tolist()
        return Table(columns=columns)

    def by_grade(self) -> Table:
        """A row for each grade of the first judge: how the second grades these pairs.

        >>> print(agreement.by_grade())
          grade    pairs    equal    higher    lower    mean
        -------  -------  -------  --------  -------  ------
              0        2   0.5000    0.5000   0.0000  0.5000
              1        2   1.0000    0.0000   0.0000  1.0000
              2        1   1.0000    0.0000   0.0000  2.0000
        """
        self._need_two("by_grade")
        confusion, grades = self._by_query.sum(axis=0), np.array(self.grades)
        totals = confusion.sum(axis=1)
        with np.errstate(invalid="ignore"):
            shares = confusion / totals[:, None]
        return Table(
            columns={
                "grade": [_plain(grade) for grade in self.grades],
                "pairs": totals.astype(int).tolist(),
                "equal": np.diag(shares).tolist(),
                "higher": np.triu(shares, 1).sum(axis=1).tolist(),
                "lower": np.tril(shares, -1).sum(axis=1).tolist(),
                "mean": (shares @ grades).tolist(),
            }
        )

    def table(self) -> Table:
        """Of two judges a row for each coefficient with its interval; of several one for each pair.

        >>> print(fr.judge_agreement(human, judge, human, names=["h", "j", "k"]).table())
        a    b      pairs    agreement    kappa    kappa_quadratic     ac1     ac2     bias
        ---  ---  -------  -----------  -------  -----------------  ------  ------  -------
        h    j          5       0.8000   0.6875             0.8000  0.7101  0.8684   0.2000
        h    k          5       1.0000   1.0000             1.0000  1.0000  1.0000   0.0000
        j    k          5       0.8000   0.6875             0.8000  0.7101  0.8684  -0.2000
        """
        if len(self.judges) == 2:
            names = list(self._functions())
            bounds = [self.interval(name) for name in names]
            return Table(
                columns={
                    "coefficient": names,
                    "value": [self.value(name) for name in names],
                    "low": [low for low, _ in bounds],
                    "high": [high for _, high in bounds],
                }
            )
        columns: dict[str, list[Any]] = {name: [] for name in ("a", "b", *SUMMARY)}
        for place, a in enumerate(self.judges):
            for b in self.judges[place + 1 :]:
                try:
                    own = self.pair(a, b)
                except GroupError:
                    values: list[Any] = [0] + [float("nan")] * (len(SUMMARY) - 1)
                else:
                    values = [getattr(own, name) for name in SUMMARY]
                for column, value in zip(columns.values(), [a, b, *values], strict=True):
                    column.append(value)
        return Table(columns=columns)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a DataFrame of pandas. Raises ImportError without pandas.

        >>> agreement.to_pandas()["coefficient"].tolist()[:2]
        ['agreement', 'kappa']
        """
        return self.table().to_pandas()

    def _functions(self) -> Mapping[str, Any]:
        grades = np.array(self.grades)
        if len(self.judges) == 2:
            return coefficients(grades, self.relevance_level)
        return {f"alpha_{name}": partial(alpha, grades=grades, metric=name) for name in METRICS}

    def _function(self, name: str) -> Any:
        functions = self._functions()
        if name not in functions:
            known = coefficients(np.array(self.grades), self.relevance_level)
            if name in known:
                self._need_two(name)
            hint = did_you_mean(closest(name, known))
            raise OptionError(
                "coefficient", f"unknown coefficient {name!r}{hint or ': ' + ', '.join(functions)}"
            )
        return functions[name]

    def _need_two(self, name: str) -> None:
        if len(self.judges) != 2:
            raise OptionError("judges", f"{name} is of two judges; take two with `pair`")

    def __repr__(self) -> str:
        names = f"{', '.join(self.judges[:-1])} and {self.judges[-1]}"
        kappa = f" kappa {self.value('kappa'):.4f}," if len(self.judges) == 2 else ""
        pairs = counted(self.pairs, "pair")
        return f"<JudgeAgreement of {names}: {pairs},{kappa} alpha {self.alpha['ordinal']:.4f}>"

    def __str__(self) -> str:
        from fastrank.document.text import text
        from fastrank.judges.shown import document_of

        return text(document_of(self))

    def _repr_html_(self) -> str:
        from fastrank.document.html import html
        from fastrank.judges.shown import document_of

        return html(document_of(self))


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
    runs: RunsLike | None = None,
    measures: Measures = "map nDCG@10",
    families: Mapping[str, Any] | None = None,
) -> JudgeAgreement:
    """Compare the judgments of two or more judges, such as people and a language model.

    a, b, others: the judgments of each judge, as `evaluate` takes them. The first is taken as the
        truth where one must be.
    names: the names of the judges, by default those of the files.
    relevance_level: the lowest relevant grade, for precision, recall, F1 and specificity.
    scale: maps grades: {grade: grade} for all judges but the first, or {judge: {grade: grade}}.
    interval: the kind of bootstrap interval over queries: "bca" or "percentile". The draws are
        those of `compare`: the same for any number of threads and machine.
    level: the confidence level of the intervals.
    resamples: the number of random resamples.
    seed: the seed of the resamples.
    runs: runs of systems, as a list or {name: run}, to see what the judges do to their order.
    measures: the measures of the systems. Judged queries that a run lacks count as 0.
    families: which runs used the same model as the judge: {"judge": "gpt-4o", "runs": {run:
        model}}, for its bias towards its own family.

    Raises GroupError if no two judges have a judged pair in common, OptionError for invalid
    options, and what reading judgments and runs raises. Warns if the sets of grades differ; notes
    say what is left out.

    >>> agreement = fr.judge_agreement(human, judge)
    >>> agreement.agreement, agreement.alpha["nominal"]
    (0.8, 0.709...)
    """
    check_choice("interval", interval, ("bca", "percentile"))
    statistics = {one.name: one.default for one in COMPARISON}
    statistics |= {"interval": interval, "level": level, "resamples": resamples, "seed": seed}
    chosen = settings(statistics)
    given = (a, b, *others)
    found = judge_names(given, names)
    judges = {name: judgments_of(own, name) for name, own in zip(found, given, strict=True)}
    judges = apply_scale(judges, scale)
    made = agreement_of(labels_of(judges), relevance_level, chosen)
    made.notes.extend(_notes(judges))
    if runs is None:
        if families is not None:
            raise OptionError("families", "needs runs")
        return made
    from fastrank.judges.systems import under_judges

    systems = under_judges(judges, runs, measures, families, chosen)
    changed: JudgeAgreement = made.changed(systems=systems)
    return changed


def agreement_of(labels: Labels, relevance_level: float, chosen: Settings) -> JudgeAgreement:
    """The agreement of judges from aligned labels. Raises GroupError without a common pair."""
    grades, counts = labels.grades, labels.counts()
    size = len(grades)
    judged = labels.codes != MISSING
    common = judged.sum(axis=0) > 1
    if not common.any():
        raise GroupError(
            f"{' and '.join(labels.names)} have no judged pair of query and document in common"
        )
    # Queries without a common pair say nothing, and must not be drawn.
    used, query = np.unique(labels.query[common], return_inverse=True)
    by_query = np.zeros((len(used), size, size))
    only = [0, 0]
    if len(labels.names) == 2:
        first, second = labels.codes[:, common]
        np.add.at(by_query, (query, first, second), 1.0)
        only = [int((own & ~common).sum()) for own in judged]
        coincidence = by_query.sum(axis=0)
        coincidence = coincidence + coincidence.T
    else:
        own = counts[common].astype(float)
        # Each label is paired with every other label of the unit, so that a unit of m labels
        # weighs m.
        products = own[:, :, None] * own[:, None, :]
        products[:, np.arange(size), np.arange(size)] -= own
        products /= own.sum(axis=1)[:, None, None] - 1
        np.add.at(by_query, query, products)
        coincidence = by_query.sum(axis=0)
    return JudgeAgreement(
        judges=labels.names, pairs=int(common.sum()), only_a=only[0], only_b=only[1],
        grades=grades.tolist(), queries=[labels.queries[place] for place in used],
        alpha={metric: float(alpha(coincidence, grades, metric)) for metric in METRICS},
        relevance_level=relevance_level, notes=[], _by_query=by_query, _labels=labels,
        _settings=chosen,
    )  # fmt: skip


def _notes(judges: dict[str, Judgments]) -> list[str]:
    """What a reader must know about the judges."""
    found = []
    scales = {
        name: sorted({grade for documents in own.values() for grade in documents.values()})
        for name, own in judges.items()
    }
    (first, grades), *others = scales.items()
    for name, own in others:
        if own != grades:
            shown = [", ".join(f"{grade:g}" for grade in one) for one in (grades, own)]
            found.append(
                f"{first} has the grades {shown[0]} and {name} {shown[1]}: if they mean different"
                " things, map them with scale"
            )
        if judges[name] == judges[first]:
            found.append(f"{first} and {name} are the same judgments")
    return found


def _plain(grade: float) -> float | int:
    return int(grade) if grade == int(grade) else grade
