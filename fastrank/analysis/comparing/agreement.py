"""Agreement of two rankings of systems, two runs, or two files of scores: rank correlations."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import overload

import numpy as np

from fastrank.analysis.comparing.inputs import better_of
from fastrank.analysis.comparing.overlap import rbo
from fastrank.analysis.comparing.rankings import (
    Listed,
    common_items,
    is_run,
    named,
    scores_of,
    two_runs,
    with_means,
)
from fastrank.analysis.comparing.value_tables import means_in
from fastrank.common.arguments import DEFAULT_VERSION, check_choice
from fastrank.common.rendering.numbers import number
from fastrank.core.data.columns import Frozen
from fastrank.core.formats.files import files
from fastrank.core.formats.run import Run
from fastrank.core.native import kernels
from fastrank.core.native.buffers import zeros
from fastrank.core.results.result import Result
from fastrank.core.results.table import Table, table_of_rows
from fastrank.core.scores.scores import Scores
from fastrank.errors import GroupError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeAlias

    import numpy.typing as npt

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.common.arrays import Floats
    from fastrank.common.choices import RboVariant
    from fastrank.core.formats.files.files import Source
    from fastrank.core.formats.inputs import RunLike

    ScoresOfSystems: TypeAlias = (
        "Mapping[Any, float] | Mapping[Any, Scores] | Iterable[Scores] | Sequence[float]"
        " | Comparison"
    )
    Documents: TypeAlias = "str | os.PathLike[str] | Run | Mapping[str, Mapping[str, float]]"

# The attributes of `Agreement` that tables show.
COEFFICIENTS = ("tau_b", "tau_a", "weighted_tau", "tau_ap", "tau_ap_b")


class Agreement(Result, Frozen):
    """How far two rankings of the same systems agree: from -1 (reversed) over 0 to 1 (equal).

    systems: the names, or the positions, from 0. first, second: the scores, float64[systems]. The
    coefficients are computed on access; all are NaN for less than two systems.

    >>> a, b = {"x": 0.3, "y": 0.2, "z": 0.1}, {"x": 0.5, "y": 0.6, "z": 0.2}
    >>> found = fr.agreement(a, b)
    >>> found
    <Agreement on 3 systems: tau_b 0.3333, tau_ap 0.0000>
    >>> found.tau_b, found.tau_ap, found.tau_ap_symmetric
    (0.333..., 0.0, 0.0)
    """

    made_by = "fastrank.agreement"

    systems: list[Any]
    first: Floats
    second: Floats

    @property
    def tau_b(self) -> float:
        """Kendall's tau-b (1945), corrected for ties; NaN if all systems are tied in one ranking.

        The same double as `scipy.stats.kendalltau`.
        """
        return self._kendall()[0]

    @property
    def tau_a(self) -> float:
        """Kendall's tau-a: concordant minus discordant pairs, divided by all pairs."""
        count = len(self.systems)
        return self._kendall()[1] / (count * (count - 1) // 2) if count > 1 else float("nan")

    def _kendall(self) -> tuple[float, int]:
        """Tau-b, and the number of concordant minus discordant pairs."""
        scores = (self.first, self.second)
        first, second = (np.unique(-column, return_inverse=True)[1] + 1 for column in scores)
        order = np.argsort(first)
        pairs = zeros("q", 3)
        tau = kernels.kendall_tau(first[order], second[order], zeros("q", len(order) + 1), pairs)
        return tau, pairs[0]

    @property
    def tau_ap(self) -> float:
        """AP correlation, with the first scores as the truth; differences at the top weigh more.

        The expected value over all orders of tied systems. Source: Yilmaz, Aslam and Robertson,
        SIGIR 2008; for ties in the second scores, `tau_ap_a` of Urbano and Marrero, ICTIR 2017.
        """
        return _tau_ap(self.first, self.second)

    @property
    def tau_ap_symmetric(self) -> float:
        """The mean of `tau_ap` with the first and with the second scores as the truth."""
        return (self.tau_ap + _tau_ap(self.second, self.first)) / 2

    @property
    def tau_ap_b(self) -> float:
        """AP correlation corrected for ties, symmetric; NaN if all are tied in one ranking.

        Source: Urbano and Marrero, The treatment of ties in AP correlation, ICTIR 2017.
        """
        return (_tau_ap_b(self.first, self.second) + _tau_ap_b(self.second, self.first)) / 2

    @property
    def weighted_tau(self) -> float:
        """Weighted tau with hyperbolic weights (Vigna, WWW 2015): `scipy.stats.weightedtau`."""
        if len(self.systems) < 2:
            return float("nan")
        from scipy.stats import weightedtau

        return float(weightedtau(self.first, self.second).statistic)

    def table(self) -> Table:
        """A row for each coefficient.

        >>> print(fr.agreement({"x": 2, "y": 1}, {"x": 1, "y": 2}).table().to_csv(), end="")
        coefficient,value
        tau_b,-1.0
        tau_a,-1.0
        weighted_tau,-1.0
        tau_ap,-1.0
        tau_ap_b,-1.0
        """
        rows = [(name, getattr(self, name)) for name in COEFFICIENTS]
        return table_of_rows(("coefficient", "value"), rows)

    def __repr__(self) -> str:
        return (
            f"<Agreement on {len(self.systems)} systems: tau_b {number(self.tau_b)},"
            f" tau_ap {number(self.tau_ap)}>"
        )


@overload
def agreement(
    a: ScoresOfSystems, b: ScoresOfSystems, *, items: str = "same", trec_eval_version: str = ...
) -> Agreement: ...
@overload
def agreement(
    a: Documents, b: Documents, *, items: str = "same", trec_eval_version: str = ...
) -> Table: ...
def agreement(
    a: Any, b: Any, *, items: str = "same", trec_eval_version: str = DEFAULT_VERSION
) -> Agreement | Table:
    """Compare two rankings of systems by their scores, or two runs query by query.

    a, b: {system: score}, higher is better; a pandas Series of scores with systems as index; a list
        of Scores of one measure, whose tags are the names of the systems; {system: Scores}; a
        Comparison of one measure, by its means; or two lists of numbers for the same systems. The
        values of measures where lower is better are negated. Or both are runs: paths,
        {query: {document: score}}, frames, or Runs.
    items: "same": both must have the same systems (of runs, the same queries and documents);
        "common": those that only one has are ignored.
    trec_eval_version: scores of runs are compared as 32-bit floats ("9.0.8") or doubles ("10.0").

    Of runs, the result is a table: for each query the number of documents and the coefficients of
    `Agreement`, then the means over the queries where they are not NaN. For rankings of different
    documents see `fastrank.overlap`.

    Raises GroupError for systems that only one has, if there are no common ones, and for lists of
    different lengths; MeasureError for several measures; InputError for a NaN score, and a document
    that appears twice; TypeError for other objects; and what reading a run raises.

    >>> qrels = fr.read_qrels("data/digits.qrels")
    >>> runs = ["data/pixels.run", "data/pca.run", "data/profile.run"]
    >>> fr.agreement(fr.evaluate(qrels, runs, "map"), fr.evaluate(qrels, runs, "P_10"))
    <Agreement on 3 systems: tau_b 0.3333, tau_ap 0.5000>
    >>> table = fr.agreement("data/pixels.run", "data/pca.run", items="common")
    >>> table.columns["query"][-1], table.columns["tau_b"][-1]
    ('all', 0.285...)
    """
    runs = [name for name, ranking in (("a", a), ("b", b)) if is_run(ranking)]
    if len(runs) == 1:
        raise TypeError(f"{runs[0]}: expected scores of systems, as the other has, found a run")
    check_choice("items", items, ("same", "common"))
    if runs:
        return _of_runs(a, b, items, trec_eval_version)
    first, second = scores_of(a, "a"), scores_of(b, "b")
    if isinstance(first, Listed) and isinstance(second, Listed) and len(first) != len(second):
        raise GroupError(
            f"a has {len(first)} and b {len(second)} numbers: expected one per system in both, or"
            " {system: score}"
        )
    systems = common_items(first, second, items)
    if not systems:
        raise GroupError(f"a and b have no system in common: {named(first)} and {named(second)}")
    return _agreement(systems, first, second)


def _agreement(
    items: list[Any], *scores: Mapping[Any, float], dtype: npt.DTypeLike = float
) -> Agreement:
    """The agreement on some items; dtype: the floats as which scores are compared."""
    # As 32-bit floats, large scores are infinite.
    with np.errstate(over="ignore"):
        first, second = (
            np.array([by_item[item] for item in items], float).astype(dtype).astype(float)
            for by_item in scores
        )
    return Agreement(systems=items, first=first, second=second)


def _coefficients(result: Agreement) -> list[float]:
    """What tables show: how many items there are, and the coefficients."""
    return [len(result.systems), *(getattr(result, name) for name in COEFFICIENTS)]


def _of_runs(run_a: RunLike, run_b: RunLike, items: str, trec_eval_version: str) -> Table:
    """A row for each query in byte order, and a last row `all` with the means that are not NaN.

    items: "same" or "common", for queries and documents. Raises GroupError, InputError, and what
    reading a run raises.
    """
    first, second = (run.to_dict() for run in two_runs(run_a, run_b, trec_eval_version))
    queries = sorted(common_items(first, second, items), key=os.fsencode)
    if not queries:
        raise GroupError("a and b have no query in common")
    # As in trec_eval's order, scores are equal if they are as 32-bit floats.
    dtype = np.float32 if trec_eval_version == "9.0.8" else np.float64
    rows = []
    for query in queries:
        both = first[query], second[query]
        documents = common_items(*both, items, f"query {query!r}: ")
        rows.append(_coefficients(_agreement(documents, *both, dtype=dtype)))
    return with_means(queries, table_of_rows(("documents", *COEFFICIENTS), rows).columns)


def systems_table(first: Source, second: Source, *, p: float, variant: RboVariant) -> Table:
    """A row for each measure that both files have: the coefficients of `agreement`, and RBO.

    Raises ReadError, FormatError, and GroupError if systems differ or no measure is common.
    """
    both = means_in(first), means_in(second)
    measures = [measure for measure in both[0] if measure in both[1]]
    if not measures:
        have = " and ".join(", ".join(means) or "none" for means in both)
        raise GroupError(f"the files have no measure in common: {have}")
    names, rows = (files.name_of(first), files.name_of(second)), []
    for measure in measures:
        # Rankings start with the best system.
        sign = -1.0 if better_of(measure) == "lower" else 1.0
        first_scores, second_scores = (
            {system: sign * mean for system, mean in means[measure].items()} for means in both
        )
        systems = common_items(first_scores, second_scores, "same", names=names, advice="")
        coefficients = _coefficients(_agreement(systems, first_scores, second_scores))
        rows.append(
            [measure, *coefficients, rbo(first_scores, second_scores, p, variant=variant).ext]
        )
    return table_of_rows(("measure", "systems", *COEFFICIENTS, "rbo"), rows)


def _tie_groups(truth: Floats, estimate: Floats) -> Iterator[tuple[Floats, Floats]]:
    """The true scores of each group of systems tied in the estimate, and of all those above it."""
    for score in np.unique(estimate):
        yield truth[estimate == score], truth[estimate > score]


def _tau_ap(truth: Floats, estimate: Floats) -> float:
    """The expected AP correlation over all orders of tied systems."""
    if len(truth) < 2:
        return math.nan
    concordant = 0.0
    for group, above in _tie_groups(truth, estimate):
        size, before = len(group), len(above)
        # The systems of the group are at these ranks, each equally likely at each of them.
        preceding = before + np.arange(size)
        if before:
            # Pairs in which a system above is the better one; those that are tied count half.
            ascending = np.sort(-above)
            better, not_worse = (
                np.searchsorted(ascending, -group, side) for side in ("left", "right")
            )
            concordant += float(np.sum(better + not_worse)) / 2 * float(np.mean(1.0 / preceding))
        within = np.arange(1, size)
        concordant += float(np.sum(within / (before + within))) / 2
    return 2 * concordant / (len(truth) - 1) - 1


def _tau_ap_b(truth: Floats, estimate: Floats) -> float:
    """One direction of AP correlation corrected for ties."""
    concordant, below_the_first = 0.0, 0
    for group, above in _tie_groups(truth, estimate):
        if len(above):
            below_the_first += len(group)
            better = np.searchsorted(np.sort(-above), -group, "left")
            concordant += float(np.sum(better)) / len(above)
    return 2 * concordant / below_the_first - 1 if below_the_first else math.nan
