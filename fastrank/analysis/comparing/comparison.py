"""The result of a comparison."""

from __future__ import annotations

import os
import sys

import numpy as np

from fastrank.analysis.comparing.bootstrap import relative_interval
from fastrank.analysis.comparing.groups import letter_display
from fastrank.analysis.comparing.notes import all_exact
from fastrank.analysis.comparing.options import CORRECTION_NAMES, TEST_NAMES
from fastrank.analysis.comparing.pairs import (
    Pair,
    chosen_pair,
    need_all_pairs,
    need_common_queries,
    place_of,
    turned,
)
from fastrank.analysis.comparing.power import detectable, queries_for
from fastrank.analysis.comparing.shown import columns_document, document_of, title_of
from fastrank.analysis.comparing.tables import (
    cliffs_delta,
    long_rows,
    rank_table,
    record_of,
    standing_table,
)
from fastrank.common.arguments import at_least, check_choice, finite, flag, fraction
from fastrank.common.dropped import without_dropped
from fastrank.common.messages import visible
from fastrank.common.rendering.text import ASCII_SYMBOLS, SYMBOLS, encodes_marks, text
from fastrank.core.data.columns import WithDropped
from fastrank.core.formats.tables.table_files import result_lines
from fastrank.core.measures.suggestions import evaluated_name
from fastrank.core.results.records import json_text
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, best_rows, distinct
from fastrank.core.scores.differences import largest_differences
from fastrank.errors import MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, BinaryIO

    import pandas
    import polars

    from fastrank.analysis.comparing.analysis import Analysis
    from fastrank.analysis.comparing.options import Settings
    from fastrank.common.arrays import Floats
    from fastrank.core.formats.inputs import QrelsLike, RunsLike


class Comparison(Result, WithDropped):
    """Systems compared on the same queries: means, intervals, and tests of pairs.

    names: the systems. measures: the names of the measures. queries: the ids of the queries, in
    byte order. baseline: the names of the baselines, empty if all pairs are compared.
    test, correction, alpha, interval, level, seed: as given. resamples: their number, 0 if nothing
    was resampled.
    mean: {measure: {system: mean over the queries with values of all systems}}. notes: what a
    reader must know about all pairs, such as missing queries.
    analyses: {measure: its arrays}. settings, evaluation: the checked options of the comparison,
    and those with which runs were evaluated.

    >>> comparison
    <Comparison of 3 systems in map: 200 queries>
    >>> print(comparison)
        system         map
    --  --------  --------
    a   pixels    0.4348ᵇᶜ
    b   pca       0.3493
    c   profile   0.3447
    <BLANKLINE>
    200 queries. Letters: significantly better than that system (p ≤ 0.05, paired t-test,
    Holm-corrected for the 3 pairs of a measure).
    >>> comparison.pair("map", "pixels", "pca").difference
    0.0854...
    """

    made_by = "fastrank.compare"

    names: list[str]
    measures: list[str]
    queries: list[str]
    baseline: list[str]
    test: str
    correction: str
    alpha: float
    interval: str
    level: float
    seed: int
    resamples: int
    mean: dict[str, dict[str, float]]
    notes: list[str]
    analyses: dict[str, Analysis]
    settings: Settings
    evaluation: dict[str, Any]

    def analysis(self, measure: str) -> Analysis:
        """The arrays of a measure. Raises MeasureError for a measure that was not compared.

        >>> comparison.analysis("map").significant()
        array([ True,  True, False])
        """
        analysis = self.analyses.get(measure)
        if analysis is None:
            reason = f"{measure!r} is not compared; compared are {', '.join(self.measures)}"
            hint = evaluated_name(str(measure), self.measures)
            raise MeasureError(measure, f"{reason}{hint}")
        return analysis

    def values(self, measure: str) -> Floats:
        """The values of a measure, float64[systems, queries]; NaN where a query has none.

        >>> comparison.values("map").shape
        (3, 200)
        """
        view: Floats = self.analysis(measure).values.view()
        view.flags.writeable = False
        return view

    def better(self, measure: str) -> str:
        """Which values of a measure are better: "higher", "lower", or "" for neither.

        >>> comparison.better("map")
        'higher'
        """
        return self.analysis(measure).better

    def interval_of(self, measure: str, system: str) -> tuple[float, float]:
        """The confidence interval of a system's mean.

        If all values of the system are the same, other intervals have no width, and that of Clopper
        and Pearson for a share takes their place. It also holds for measures with values between 0
        and 1, such as RR; of others, the bounds are NaN. So it is with the differences of a pair.

        >>> comparison.interval_of("map", "pixels")
        (0.4112..., 0.4582...)
        """
        analysis, index = self.analysis(measure), place_of(system, self.names)
        return float(analysis.low_means[index]), float(analysis.high_means[index])

    def pair(self, measure: str, a: str, b: str) -> Pair:
        """The comparison of two systems in a measure; (b, a) has the opposite signs.

        Raises OptionError for systems that were not compared, MeasureError for another measure.

        >>> comparison.pair("map", "pca", "pixels").losses
        157
        """
        analysis = self.analysis(measure)
        index_a, index_b = (place_of(name, self.names) for name in (a, b))
        firsts, seconds = analysis.paired.firsts, analysis.paired.seconds
        for first, second, reverse in ((index_a, index_b, False), (index_b, index_a, True)):
            pairs = np.flatnonzero((firsts == first) & (seconds == second))
            if len(pairs):
                columns = analysis.columns(measure, self.names, pairs[:1])
                pair = Pair(*(column[0] for column in columns))
                return turned(pair) if reverse else pair
        raise OptionError(
            "pair",
            f"{a!r} and {b!r} were not compared"
            + (": neither is a baseline" if self.baseline and a != b else ""),
        )

    def pairs(self, measure: str | None = None) -> Table:
        """A table with a row for each pair, by default in all measures; its columns are of `Pair`.

        >>> print(comparison.pairs("map").columns["p_adjusted"])
        [1.57...e-20, 4.93...e-24, 0.587...]
        """
        columns: dict[str, list[Any]] = {name: [] for name in Pair._fields}
        for chosen in self.measures if measure is None else [measure]:
            parts = self.analysis(chosen).columns(chosen, self.names)
            for column, values in zip(columns.values(), parts, strict=True):
                column.extend(values)
        return Table(columns=columns)

    def _pair_table(self, measure: str, **columns: Any) -> Table:
        """A row for each pair of a measure; columns: arrays, or lists, of other values."""
        paired = self.analysis(measure).paired
        systems = {"a": paired.firsts.tolist(), "b": paired.seconds.tolist()}
        names = {
            side: [self.names[system] for system in indices] for side, indices in systems.items()
        }
        cells = {name: np.asarray(values, object).tolist() for name, values in columns.items()}
        return Table(columns=names | cells)

    def significant(self, measure: str, a: str, b: str) -> bool:
        """Whether two systems differ significantly: p_adjusted <= alpha.

        >>> comparison.significant("map", "pca", "profile")
        False
        """
        pair = self.pair(measure, a, b)
        return bool(pair.p_adjusted <= self.alpha and pair.difference != 0.0)

    def ranked(self, measure: str) -> list[str]:
        """The systems from best to worst mean; in their order where `best` raises an error.

        >>> comparison.ranked("map")
        ['pixels', 'pca', 'profile']
        """
        return [self.names[system] for system in self.analysis(measure).ranked()]

    def best(self, measure: str) -> str:
        """The system with the best mean, the first of several.

        Raises MeasureError for a measure without a better direction, and if no query has values of
        all systems.

        >>> comparison.best("map")
        'pixels'
        """
        if not self.better(measure):
            raise MeasureError(measure, f"{measure!r}: neither higher nor lower values are better")
        need_common_queries(self, measure)
        return self.ranked(measure)[0]

    def tied_with_best(self, measure: str) -> list[str]:
        """The systems that the best is not significantly better than, the best one first.

        Needs all pairs. Raises OptionError if only those with a baseline were compared, and what
        `best` raises.

        >>> comparison.tied_with_best("map")
        ['pixels']
        """
        need_all_pairs(self, "tied_with_best")
        best = self.best(measure)
        beaten = set(self.beaten(measure, best))
        return [
            best,
            *(name for name in self.ranked(measure) if name != best and name not in beaten),
        ]

    def letters(self, measure: str) -> dict[str, str]:
        """Compact letter display: systems that share a letter do not differ significantly.

        The best system has the letter a. Raises OptionError if only pairs with a baseline were
        compared, and for hundreds of systems if they form more than 10,000 groups.

        >>> comparison.letters("map")
        {'pixels': 'a', 'pca': 'b', 'profile': 'b'}
        """
        need_all_pairs(self, "letters")
        letters = letter_display(self.analysis(measure).alike())
        return {name: letters[system] for system, name in enumerate(self.names)}

    def queries_of(self, measure: str, a: str, b: str) -> Table:
        """The values of two systems for every query, and their difference, largest first.

        Queries without a value (NaN) are last; queries with equal differences are in byte order.

        >>> print(comparison.queries_of("map", "pixels", "pca").transpose().columns["q0819"])
        [0.540..., 0.127..., 0.413...]
        """
        values = self.values(measure)
        first, second = (values[place_of(name, self.names)] for name in (a, b))
        rows = np.argsort(-(first - second), kind="stable")
        header = distinct([self.settings.unit.one, a, b, "difference"])
        columns = [
            [self.queries[row] for row in rows],
            *(column[rows].tolist() for column in (first, second, first - second)),
        ]
        return Table(columns=dict(zip(header, columns, strict=True)))

    def largest(self, measure: str, n: int = 10, *, pair: Sequence[str] | None = None) -> Table:
        """The n queries on which two systems differ most, largest absolute difference first.

        pair: the names of the two systems, by default the best one and the baseline or, without a
            baseline, the two best.

        The columns are `query` (or what a table calls items), the values of both systems under
        their names, and `difference`. Queries with equal differences are in byte order; those
        without a value (NaN) are last. Raises OptionError for other systems, and if
        there is only one.

        >>> print(comparison.largest("map", 2))
        query      pixels     pca    difference
        -------  --------  ------  ------------
        q0819      0.5406  0.1275        0.4131
        q1064      0.4849  0.0767        0.4082
        """
        values, names = self.values(measure), chosen_pair(self, measure, pair)
        first, second = (values[place_of(name, self.names)] for name in names)
        unit = self.settings.unit.one
        return largest_differences(self.queries, list(names), first, second, n, unit)

    def relative_interval(self, measure: str, a: str, b: str) -> tuple[float, float]:
        """The bootstrap interval of mean(a) / mean(b) - 1, from resampled queries.

        With interval="bca" the BCa interval, else the percentile interval. NaN if the mean of b is
        0 in a resample.

        >>> comparison.relative_interval("map", "pixels", "pca")
        (0.1901..., 0.3083...)
        """
        systems = [place_of(name, self.names) for name in (a, b)]
        return relative_interval(self.analysis(measure).paired, systems, self.settings)

    def effects(self, measure: str) -> Table:
        """Effect sizes of each pair.

        d_z: mean / sd of the differences; Cohen's d of other programs divides by another sd.
        hedges: d_z * (1 - 3 / (4 (n - 1) - 1)). superiority: the share of queries on which a is
        higher, ties counted half. cliff_unpaired: Cliff's delta, which ignores that both systems
        answer the same queries. sd: of the differences.

        >>> print(comparison.effects("map"))
        a       b           d_z    hedges    superiority    cliff_unpaired      sd
        ------  -------  ------  --------  -------------  ----------------  ------
        pixels  pca      0.7431    0.7403         0.8025            0.2306  0.1150
        pixels  profile  0.8298    0.8267         0.8450            0.3272  0.1085
        pca     profile  0.0384    0.0382         0.5200            0.0201  0.1204
        """
        analysis = self.analysis(measure)
        paired, n = analysis.paired, analysis.paired.n
        with np.errstate(invalid="ignore", divide="ignore"):
            hedges = np.where(n > 1, analysis.effect * (1 - 3 / (4 * (n - 1) - 1)), np.nan)
            superiority = (paired.higher + paired.equal / 2) / n
        cliff = [cliffs_delta(*map(paired.rounded, paired.both(i))) for i in range(len(paired))]
        return self._pair_table(
            measure,
            d_z=analysis.effect,
            hedges=hedges,
            superiority=superiority,
            cliff_unpaired=np.array(cliff),
            sd=paired.sd,
        )

    def power(
        self, measure: str, *, power: float = 0.8, differences: Sequence[float] = (0.01, 0.02, 0.05)
    ) -> Table:
        """What the paired t-test of each pair can detect, given its number of queries and sd.

        detectable: the smallest mean difference that is found with this power, None without
        variance. queries: how many queries the observed difference needs for it; queries_0.01, ...:
        how many these differences need; None without variance or for a difference of 0, and with
        clusters, whose queries are not independent. Without a correction for several pairs.

        >>> print(comparison.power("map", differences=[0.02]))
        a       b          n      sd    detectable    queries    queries_0.02
        ------  -------  ---  ------  ------------  ---------  --------------
        pixels  pca      200  0.1150        0.0229         17             262
        pixels  profile  200  0.1085        0.0216         14             234
        pca     profile  200  0.1204        0.0240       5334             287
        """
        fraction("power", power)
        # A difference that is given twice has one column.
        by_name = {
            f"queries_{finite('differences', difference):g}": difference
            for difference in differences
        }
        paired = self.analysis(measure).paired
        sds = paired.sd if paired.clusters is None else np.full(len(paired), np.nan)

        def queries(difference: float, sd: float) -> int | None:
            return queries_for(difference / sd, self.alpha, power) if sd > 0 else None

        columns = {"queries": list(map(queries, paired.difference.tolist(), sds.tolist()))}
        for name, difference in by_name.items():
            columns[name] = [queries(difference, sd) for sd in sds.tolist()]
        least = [
            sd * detectable(n, self.alpha, power) if sd > 0 else None
            for n, sd in zip(paired.n.tolist(), sds.tolist(), strict=True)
        ]
        return self._pair_table(measure, n=paired.n, sd=paired.sd, detectable=least, **columns)

    def ranks(self, measure: str, *, resamples: int = 10_000) -> Table:
        """The ranks of the systems by mean, with bootstrap intervals over queries.

        low, high: the interval of the rank, not corrected for several pairs. p_best: the share of
        resamples in which the system has the best mean; ties are divided. If two systems differ on
        too few queries (clusters, data sets) for a sign test to tell them apart at the level, or
        resamples order them surely although their p, uncorrected, is above 1 - level, the intervals
        allow for both orders, and p_best is None if it depends on the order.
        tied_with_best: whether the best is not significantly better than it (with the correction of
        `p_adjusted`), None with a baseline. Raises what `best` raises. Source: Hall and Miller,
        'Using the bootstrap to quantify the authority of an empirical ranking', Annals of
        Statistics 37, 2009.

        >>> print(comparison.ranks("map"))
        system      mean    rank    low    high    p_best    tied_with_best
        --------  ------  ------  -----  ------  --------  ----------------
        pixels    0.4348       1      1       1    1.0000              True
        pca       0.3493       2      2       3    0.0000             False
        profile   0.3447       3      2       3    0.0000             False
        """
        self.best(measure)
        count = at_least("resamples", resamples, 1)
        return rank_table(self, measure, count)

    def standings(self, measure: str, *, power: float = 0.8, resamples: int = 10_000) -> Table:
        """Who is first, and how surely: a row for each system, best first.

        rank: equal means share it. low, high: the bounds of the rank, as in `ranks`; None for a
        single query or data set. group: systems that share a letter cannot be told apart, as in
        `letters`; None if more than 26 groups overlap. needed: how many queries, or data sets of
        `compare_datasets`, the paired t-test needs to tell the system from the first with this
        power, without a correction for several pairs; None without variance, with clusters, or for
        more than 10**9. Needs all pairs. Raises OptionError if only those with a baseline were
        compared, and what `best` raises.

        >>> print(comparison.standings("map"))
        system      mean    rank    low    high  group      needed
        --------  ------  ------  -----  ------  -------  --------
        pixels    0.4348       1      1       1  a
        pca       0.3493       2      2       3  b              17
        profile   0.3447       3      2       3  b              14
        """
        self.best(measure)
        share, count = fraction("power", power), at_least("resamples", resamples, 1)
        return standing_table(self, measure, share, count)

    def table(self, *, digits: int = 4) -> Table:
        """The means, a row for each system and a column for each measure; the best are bold.

        >>> comparison.table().names
        ['system', 'map']
        """
        columns: dict[str, list[Any]] = {"system": list(self.names)}
        bold = set()
        for column, measure in enumerate(self.measures, 1):
            columns[measure] = means = list(self.mean[measure].values())
            better = self.better(measure) if self.analysis(measure).has_best else ""
            bold |= {(row, column) for row in best_rows(means, better, digits)}
        return Table(columns=columns, digits=digits, bold=frozenset(bold))

    def beaten(self, measure: str, system: str) -> list[str]:
        """The systems that one is significantly better than.

        If the Wilcoxon or the sign test favors the system with the worse mean, neither is better.

        >>> comparison.beaten("map", "pixels")
        ['pca', 'profile']
        """
        indices = self.analysis(measure).beaten(place_of(system, self.names))
        return [self.names[index] for index in indices]

    def description(self) -> str:
        """The test and the correction in words.

        >>> comparison.description()
        'p ≤ 0.05, paired t-test, Holm-corrected for the 3 pairs of a measure'
        """
        test = TEST_NAMES.get(self.test, self.test)
        if self.settings.function is not None:
            test = f"test {self.test}"
        elif self.test == "randomization" and all_exact(self.analyses):
            test = f"exact {test}"
        parts = [f"p ≤ {self.alpha:g}", test]
        size, within = self._family()
        # Tukey's test includes its correction.
        if size > 1 and not self.settings.of_all_systems:
            parts.append(f"{CORRECTION_NAMES[self.correction]} for the {size:,} pairs {within}")
        return ", ".join(parts)

    def _family(self) -> tuple[int, str]:
        """How many pairs are corrected together, and of what."""
        pairs = len(self.analysis(self.measures[0]).paired)
        if self.settings.family == "all":
            return pairs * len(self.measures), "of all measures"
        return pairs, "of a measure"

    @property
    def is_corrected(self) -> bool:
        """Whether p-values are corrected for several pairs; intervals and ranks never are.

        >>> comparison.is_corrected
        True
        """
        is_corrected = self.correction != "none" or self.settings.of_all_systems
        return is_corrected and self._family()[0] > 1

    def plot(
        self,
        kind: str | None = None,
        measure: str | None = None,
        a: str | None = None,
        b: str | None = None,
        ax: Any = None,
        *,
        path: str | os.PathLike[str] | BinaryIO | None = None,
        format: str | None = None,
    ) -> Any:
        """Draw a plot with matplotlib, and return its axes; `axes.figure` is the figure.

        kind: "differences", a - b on every query, sorted, with its mean and interval; "scatter", a
            against b on every query; "intervals", the means of all systems or, with a baseline, the
            differences from it; "critical-difference", Demsar's diagram: mean ranks, with bars that
            join systems that Nemenyi's test cannot tell apart, and Friedman's test of all;
            "over-k", the means of a measure such as "P" over its cutoffs that were compared;
            "precision-recall", those of iprec_at_recall. A system has the same colour and line
            style in all plots. By default "differences" of two systems, "intervals" of others.
        measure: by default the first. a, b: the two systems of a plot of two, by default the best
            one and the baseline or, without a baseline, the two best, as the plot then says.
        ax: axes to draw into, by default those of a new figure.
        path: where to write the image, as a PNG, SVG or PDF by its suffix or by `format`. The same
            comparison gives the same bytes with the same version of matplotlib; an SVG has
            alternative text for screen readers.

        Needs matplotlib (`pip install 'fastrank-eval[plot]'`), whose global state is not changed.
        Raises OptionError for an unknown kind, system or format, MeasureError for a measure that
        was not compared, and ImportError without matplotlib.

        >>> axes = comparison.plot("differences", a="pixels", b="pca")
        >>> axes.get_title(loc="left")
        'map: pixels - pca'
        """
        from fastrank.analysis.comparing.plots.plot import check_kind, default_kind, draw
        from fastrank.core.results.images import draw_image

        kind = kind or default_kind(len(self))
        check_kind(kind)
        return draw_image(lambda: draw(self, kind, measure, a, b, ax), path, format)

    @without_dropped
    def report(
        self,
        path: str | os.PathLike[str] | BinaryIO,
        *,
        title: str | None = None,
        measure: str | None = None,
        qrels: QrelsLike | None = None,
        runs: RunsLike | None = None,
        examples: int = 20,
        command: str | None = None,
    ) -> None:
        """Write a report as one HTML file, without outside references; a script sorts tables.

        path: a path, which is written atomically, or a binary file.
        title: by default the names of the systems.
        measure: the one whose differences are plotted pair by pair, by default the first.
        qrels, runs: the judgments, and the runs as a list in the order of `names` or as {name:
            run}; each as `evaluate` takes it. With them, the report has the hashes of files, the
            shares of unjudged and tied documents, how many documents the evaluation dropped, and
            what makes a page of the rankings (`fastrank inspect`).
        examples: the number of queries with the largest differences between the first two systems
            that `plot` shows.
        command: the command line that made the report.

        The element `comparison` has the comparison as JSON. The same comparison gives the same
        bytes on the same day, or with SOURCE_DATE_EPOCH set. Needs matplotlib
        (`pip install 'fastrank-eval[plot]'`).

        Raises OptionError for contradictory options, ImportError without matplotlib, and what
        reading the files raises.

        >>> import io
        >>> comparison.report(page := io.BytesIO(), title="Digits")
        >>> page.getvalue()[:15]
        b'<!DOCTYPE html>'
        """
        from fastrank.analysis.comparing.report.report import write_report

        write_report(self, path, title, measure, qrels, runs, examples, command)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return (
            f"<Comparison of {len(self.names)} systems in {visible(' '.join(self.measures))}:"
            f" {len(self.queries)} {self.settings.unit.many}>"
        )

    def _title(self) -> str:
        return title_of(self)

    def to_text(
        self,
        *,
        digits: int | None = None,
        percent: bool = False,
        letters: bool = False,
        sort: str | None = None,
        ascii: bool | None = None,
    ) -> str:
        """A readable table with its legend, and the notes; `str` gives it with the defaults.

        Without a baseline, superscripts are the letters of the systems that one is significantly
        better than. With baselines, each measure has a table of differences.

        digits: decimals, 4 by default, 2 of percentages. percent: multiply values by 100. letters:
            the superscripts are those of `letters`. sort: a measure; systems are sorted by it, best
            first. ascii: ^bc and + and - instead of superscripts and symbols; by default if
            standard output cannot encode them.

        >>> print(comparison.to_text(letters=True, digits=3, ascii=True))
        system        map
        --------  -------
        pixels    0.435^a
        pca       0.349^b
        profile   0.345^b
        <BLANKLINE>
        200 queries. Systems that share a letter do not differ significantly (p <= 0.05, paired
        t-test, Holm-corrected for the 3 pairs of a measure).
        """
        ascii = not encodes_marks(sys.stdout) if ascii is None else ascii
        document = document_of(
            self,
            digits=digits,
            percent=percent,
            letters=letters,
            sort=sort,
            symbols=ASCII_SYMBOLS if ascii else SYMBOLS,
        )
        return text(document, ascii=ascii)

    def to_markdown(
        self,
        *,
        digits: int | None = None,
        percent: bool = False,
        letters: bool = False,
        sort: str | None = None,
        bold: bool = True,
        underline: bool = False,
    ) -> str:
        """Tables in GitHub's Markdown, escaped, with the legend and the notes.

        bold, underline: whether to set the best mean of a measure in bold, and to underline the
        second of three or more. The other options are those of `to_text`.

        >>> print(comparison.to_markdown().splitlines()[2])
        | a  | pixels   | **0.4348** <sup>bc</sup> |
        """
        from fastrank.common.rendering.markdown import markdown

        document = document_of(self, digits=digits, percent=percent, letters=letters, sort=sort)
        bold, underline = flag("bold", bold), flag("underline", underline)
        return markdown(document, bold=bold, underline=underline)

    def to_latex(
        self,
        *,
        digits: int | None = None,
        percent: bool = False,
        letters: bool = False,
        sort: str | None = None,
        best: str = "bold",
        second: str = "underline",
        show: str | Sequence[str] | None = None,
        baseline_marks: Sequence[str] = ("†", "‡", "§", "¶"),
    ) -> str:
        """LaTeX tabulars with booktabs rules, escaped, with the legend and the notes below.

        Superscripts are padded with invisible marks, so that numbers align.

        best, second: "bold", "underline" or "none", for the best mean of a measure and the second
            of three or more.
        show: "mean", "interval" or "p", or several: one table of all measures with these columns,
            also with baselines, whose marks are then above the means that are significantly better,
            and below those that are significantly worse. With a baseline, intervals are those of
            differences; "p" needs one.
        baseline_marks: one for each baseline. The other options are those of `to_text`.

        >>> print(comparison.to_latex(second="none").splitlines()[4])
        a & pixels  &   \\textbf{0.4348}$^{bc}$ \\\\
        """
        from fastrank.common.rendering.latex import STYLES, latex

        for name, style in (("best", best), ("second", second)):
            check_choice(name, style, tuple(STYLES))
        layout: Any = {"digits": digits, "percent": percent, "letters": letters, "sort": sort}
        if show is None:
            document = document_of(self, **layout)
        else:
            document = columns_document(self, show, baseline_marks, **layout)
        return latex(document, best=best, second=second)

    def to_html(
        self,
        *,
        digits: int | None = None,
        percent: bool = False,
        letters: bool = False,
        sort: str | None = None,
        page: bool | str = False,
    ) -> str:
        """HTML tables, escaped, with the legend and the notes; notebooks show it.

        Titles have the intervals and p-values. The classes are fastrank, number, best, second,
        better, worse, legend and note. page: a whole page instead of its elements, with a title if
        this is a str.
        The other options are those of `to_text`.

        >>> comparison.to_html().splitlines()[0]
        '<table class="fastrank">'
        """
        from fastrank.common.rendering.html import html

        document = document_of(self, digits=digits, percent=percent, letters=letters, sort=sort)
        return html(document, page=self._page_title(page))

    def to_csv(self, *, per_query: bool = False) -> str:
        """The table `pairs` as CSV; or a row for each query, measure and system.

        >>> comparison.to_csv(per_query=True).splitlines()[:2]
        ['query,measure,system,value', 'q0000,map,pixels,0.632...']
        """
        if per_query:
            header = (self.settings.unit.one, "measure", "system", "value")
            return "".join(result_lines(header, long_rows(self)))
        return self.pairs().to_csv()

    def to_json(self, *, per_query: bool = False, indent: int | None = None) -> str:
        """A JSON object with means, intervals, pairs, settings and notes; null for NaN.

        per_query: also the values, as {query: {measure: {system: value}}}. The setting `clusters`
            is the number of clusters.

        >>> import json
        >>> json.loads(comparison.to_json())["systems"]["pca"]["map"]["mean"]
        0.34933767225585727
        """
        return json_text(record_of(self, per_query=per_query), indent)

    def to_pandas(self) -> pandas.DataFrame:
        """The table `pairs` as a DataFrame of pandas. Raises ImportError without pandas.

        >>> comparison.to_pandas()["n"].tolist()
        [200, 200, 200]
        """
        return self.pairs().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The table `pairs` as a DataFrame of polars. Raises ImportError without polars.

        >>> comparison.to_polars()["wins"].to_list()
        [157, 166, 102]
        """
        return self.pairs().to_polars()
