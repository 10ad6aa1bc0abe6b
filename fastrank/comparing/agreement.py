"""Agreement of two rankings of systems, two runs, or two files of scores: rank correlations."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import overload

from fastrank.arguments import DEFAULT_VERSION, check_choice, check_version
from fastrank.comparing.inputs import better_of
from fastrank.comparing.rank_biased_overlap import rbo
from fastrank.comparing.rankings import Listed, scores_of
from fastrank.data.columns import Frozen
from fastrank.data.run import Run
from fastrank.document.numbers import number
from fastrank.errors import FormatError, GroupError
from fastrank.formats import files
from fastrank.formats.inputs import as_run
from fastrank.formats.source import read_all
from fastrank.formats.table_files import delimited_records
from fastrank.messages import first_few
from fastrank.native import kernels
from fastrank.native.buffers import zeros
from fastrank.scores.scores import Scores
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    import numpy as np
    import numpy.typing as npt

    from fastrank.choices import RboVariant
    from fastrank.comparing.comparison import Comparison
    from fastrank.formats.files import Source

    ScoresOfSystems: TypeAlias = (
        "Mapping[Any, float] | Mapping[Any, Scores] | Iterable[Scores] | Sequence[float]"
        " | Comparison"
    )
    Documents: TypeAlias = "str | os.PathLike[str] | Run | Mapping[str, Mapping[str, float]]"


# The number of systems that an error names.
NAMED = 5
# The attributes of `Agreement` that tables show.
COEFFICIENTS = ("tau_b", "tau_a", "weighted_tau", "tau_ap", "tau_ap_b")
ADVICE = "items='common' compares those that both have"
# The header that `fastrank eval --format csv` writes.
HEADER = ["run", "query", "measure", "value"]


class Agreement(Frozen):
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
    first: npt.NDArray[np.float64]
    second: npt.NDArray[np.float64]

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
        import numpy

        scores = (self.first, self.second)
        first, second = (numpy.unique(-column, return_inverse=True)[1] + 1 for column in scores)
        order = numpy.argsort(first)
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
        values of a measure of which lower ones are better are negated. Or both are runs: paths,
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
    import numpy

    runs = [name for name, given in (("a", a), ("b", b)) if is_run(given)]
    if len(runs) == 1:
        raise TypeError(f"{runs[0]}: expected scores of systems, as the other has, found a run")
    check_choice("items", items, ("same", "common"))
    if runs:
        return agreement_of_runs(a, b, items=items, trec_eval_version=trec_eval_version)
    first, second = scores_of(a, "a"), scores_of(b, "b")
    if isinstance(first, Listed) and isinstance(second, Listed) and len(first) != len(second):
        raise GroupError(
            f"a has {len(first)} and b {len(second)} numbers: expected one per system in both, or"
            " {system: score}"
        )
    systems = [system for system in first if system in second]
    if items == "same":
        refuse_others({"a": first, "b": second}, ADVICE)
    if not systems:
        raise GroupError(f"a and b have no system in common: {_named(first)} and {_named(second)}")
    return Agreement(
        systems=systems,
        first=numpy.array([first[system] for system in systems]),
        second=numpy.array([second[system] for system in systems]),
    )


def refuse_others(both: dict[str, dict[Any, Any]], advice: str = "", where: str = "") -> None:
    """Raise GroupError for systems that only one of two rankings has, given by name."""
    (name, first), (other, second) = both.items()
    only = {
        name: [system for system in first if system not in second],
        other: [system for system in second if system not in first],
    }
    if any(only.values()):
        found = " and ".join(
            f"only {name} has {_named(missing)}" for name, missing in only.items() if missing
        )
        raise GroupError(f"{where}{found}{advice and '; '}{advice}")


def _named(systems: Iterable[Any]) -> str:
    return first_few(list(map(repr, systems)), NAMED, count=True) or "none"


def _tau_ap(truth: npt.NDArray[Any], estimate: npt.NDArray[Any]) -> float:
    """The expected AP correlation over all orders of tied systems."""
    import numpy

    count = len(truth)
    if count < 2:
        return float("nan")
    concordant = 0.0
    for score in numpy.unique(estimate):
        group, above = truth[estimate == score], truth[estimate > score]
        size, before = len(group), len(above)
        # The systems of the group are at these ranks, each equally likely at each of them.
        preceding = before + numpy.arange(size)
        if before:
            pairs = _concordant(group, above)
            concordant += pairs * float(numpy.mean(1.0 / preceding))
        within = numpy.arange(1, size)
        concordant += float(numpy.sum(within / (before + within))) / 2
    return 2 * concordant / (count - 1) - 1


def _tau_ap_b(truth: npt.NDArray[Any], estimate: npt.NDArray[Any]) -> float:
    """One direction of AP correlation corrected for ties."""
    import numpy

    concordant, below_the_first = 0.0, 0
    for score in numpy.unique(estimate):
        group, above = truth[estimate == score], truth[estimate > score]
        if len(above):
            below_the_first += len(group)
            better = numpy.searchsorted(numpy.sort(-above), -group, "left")
            concordant += float(numpy.sum(better)) / len(above)
    return 2 * concordant / below_the_first - 1 if below_the_first else float("nan")


def _concordant(group: npt.NDArray[Any], above: npt.NDArray[Any]) -> float:
    """Pairs in which a system above is the better one; those that are tied count half."""
    import numpy

    ascending = numpy.sort(-above)
    better = numpy.searchsorted(ascending, -group, "left")
    not_worse = numpy.searchsorted(ascending, -group, "right")
    return float(numpy.sum(better + not_worse)) / 2


def is_run(given: object) -> bool:
    """Whether it is a run: a Run, a path, {query: {document: score}}, or a frame."""
    if isinstance(given, Mapping):
        return bool(given) and all(isinstance(own, Mapping) for own in given.values())
    return isinstance(given, (Run, str, os.PathLike)) or hasattr(given, "columns")


def agreement_of_runs(run_a: Any, run_b: Any, *, items: str, trec_eval_version: str) -> Table:
    """A row for each query in byte order, and a last row `all` with the means that are not NaN.

    items: "same" or "common", for queries and documents. Raises GroupError, InputError, and what
    reading a run raises.
    """
    import numpy

    version = check_version(trec_eval_version)
    scores = {
        name: as_run(given, trec_eval_version=version).to_dict()
        for name, given in (("a", run_a), ("b", run_b))
    }
    if items == "same":
        refuse_others(scores, ADVICE)
    queries = sorted(scores["a"].keys() & scores["b"].keys(), key=os.fsencode)
    if not queries:
        raise GroupError("a and b have no query in common")
    columns: dict[str, list[Any]] = {"query": [*queries, "all"], "documents": []}
    columns.update({name: [] for name in COEFFICIENTS})
    single = numpy.float32 if version == "9.0.8" else numpy.float64
    for query in queries:
        both = {name: own[query] for name, own in scores.items()}
        if items == "same":
            refuse_others(both, ADVICE, f"query {query!r}: ")
        first, second = both.values()
        documents = [document for document in first if document in second]
        # As in trec_eval's order, scores are equal if they are as 32-bit floats.
        with numpy.errstate(over="ignore"):
            values = [
                numpy.array([own[document] for document in documents]).astype(single).astype(float)
                for own in (first, second)
            ]
        found = Agreement(systems=documents, first=values[0], second=values[1])
        columns["documents"].append(len(documents))
        for name in COEFFICIENTS:
            columns[name].append(getattr(found, name))
    for name in ("documents", *COEFFICIENTS):
        known = [value for value in columns[name] if value == value]
        columns[name].append(fmean(known) if known else math.nan)
    return Table(columns=columns)


def systems_table(first: Source, second: Source, *, p: float, variant: RboVariant) -> Table:
    """A row for each measure that both files have: the coefficients of `agreement`, and RBO.

    Raises ReadError, FormatError, and GroupError if systems differ or no measure is common.
    """
    first_means, second_means = _means_in(first), _means_in(second)
    names = files.name_of(first), files.name_of(second)
    measures = [measure for measure in first_means if measure in second_means]
    if not measures:
        named = " and ".join(", ".join(means) or "none" for means in (first_means, second_means))
        raise GroupError(f"the files have no measure in common: {named}")
    columns: dict[str, list[Any]] = {"measure": measures, "systems": []}
    columns.update({name: [] for name in (*COEFFICIENTS, "rbo")})
    for measure in measures:
        if names[0] != names[1]:
            refuse_others({names[0]: first_means[measure], names[1]: second_means[measure]})
        # Rankings start with the best system.
        sign = -1.0 if better_of(measure) == "lower" else 1.0
        one, other = (
            {system: sign * mean for system, mean in means[measure].items()}
            for means in (first_means, second_means)
        )
        found = agreement(one, other)
        columns["systems"].append(len(found.systems))
        for name in COEFFICIENTS:
            columns[name].append(getattr(found, name))
        columns["rbo"].append(rbo(one, other, p, variant=variant).ext)
    return Table(columns=columns)


def _means_in(source: Source) -> dict[str, dict[str, float]]:
    """{measure: {system: mean}} of a file. Raises ReadError and FormatError."""
    name = files.name_of(source)
    rows = delimited_records(read_all(source), name, ",")
    if next(rows, (1, []))[1] != HEADER:
        reason = f"expected the header {','.join(HEADER)}, as `fastrank eval --format csv` writes"
        raise FormatError(name, 1, reason)
    means: dict[str, dict[str, float]] = {}
    for line, row in rows:
        if len(row) != len(HEADER):
            raise FormatError(name, line, f"expected {len(HEADER)} cells, found {len(row)}")
        system, query, measure, value = row
        if query:
            continue
        systems = means.setdefault(measure, {})
        if system in systems:
            raise FormatError(name, line, f"run {system!r} has a second mean of {measure!r}")
        try:
            systems[system] = float(value)
        except ValueError:
            raise FormatError(name, line, f"expected a number, found {value!r}") from None
    if not means:
        raise FormatError(
            name, 1, "has no means; write it with `fastrank eval --format csv` without -q"
        )
    return means
