"""The statistical options of `compare` and `compare_scores`."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.common.arguments import check_choice, fraction, integer, not_negative
from fastrank.common.keywords import Keyword, TypedDict
from fastrank.core.data.columns import Frozen, id_text
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from typing import Any

    from fastrank.common.choices import Correction, Family, Interval, Test, Zeros

    Baseline = str | int | Sequence[str | int] | None
    """The systems that the others are compared with, by name or position; None for all pairs."""

# The words for each test and correction in legends.
TEST_NAMES = {
    "t": "paired t-test",
    "randomization": "randomization test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "tukey": "randomized Tukey HSD",
    "bootstrap": "studentized bootstrap test",
}
CORRECTION_NAMES = {
    "holm": "Holm-corrected",
    "bonferroni": "Bonferroni-corrected",
    "bh": "Benjamini-Hochberg-corrected",
    "none": "not corrected",
    "hochberg": "Hochberg-corrected",
    "by": "Benjamini-Yekutieli-corrected",
    "max-t": "corrected by max-t of random sign flips",
}
TESTS, CORRECTIONS = tuple(TEST_NAMES), tuple(CORRECTION_NAMES)
# Tests and intervals that resample whole clusters.
WITH_CLUSTERS = ("randomization",)
INTERVALS_WITH_CLUSTERS = ("percentile", "none")
# The methods that give an interval.
METHOD_NAMES = {
    "t": "Student's t",
    "percentile": "percentile bootstrap",
    "bca": "BCa bootstrap",
    "studentized": "studentized bootstrap",
}
METHODS = tuple(METHOD_NAMES)
INTERVALS = (*METHODS, "none")
FLIPS = 100_000
RESAMPLES = 10_000


class Unit(NamedTuple):
    """Words for queries, or what has values instead: one, several, and the parts of a data set."""

    one: str
    many: str
    parts: str


QUERY, ITEM = Unit("query", "queries", "queries"), Unit("item", "items", "items")
DATASET = Unit("data set", "data sets", "items")


class ComparisonOptions(TypedDict, total=False):
    """How to compare systems."""

    baseline: Baseline
    test: Test | Callable[..., Any]
    correction: Correction
    family: Family
    alpha: float
    interval: Interval
    level: float
    resamples: int | None
    seed: int
    exact_up_to: int
    zeros: Zeros
    min_difference: float
    clusters: Mapping[str, Hashable] | str | None
    names: Sequence[str] | None
    threads: int | None


def _test(name: str, value: object) -> object:
    if not callable(value):
        check_choice(name, value, TESTS)
    return value


def _up_to_52(name: str, value: int) -> int:
    number = integer(name, value)
    if not 0 <= number <= 52:
        raise OptionError(name, f"expected a number from 0 to 52, found {number}")
    return number


COMPARISON = (
    Keyword(
        "baseline",
        None,
        """the name or the index of the system that the others are compared with, or a list of
        them. By default all pairs are compared.""",
    ),
    Keyword(
        "test",
        "t",
        """the test of each pair, always two-sided. "t": paired t-test; "randomization": Fisher's
        test over random signs of the differences; "wilcoxon": signed-rank test; "sign": sign test;
        "tukey": randomized Tukey HSD of all systems; "bootstrap": studentized bootstrap test; or a
        function of two arrays that returns a p-value, or an object that has it as `pvalue` or at
        index 1, such as `scipy.stats.ttest_rel`.""",
        check=_test,
        choices=TESTS,
    ),
    Keyword(
        "correction",
        None,
        """the correction of p-values, by default "holm". It is for several comparisons. Others are
        "bonferroni", "hochberg" (needs positively dependent tests), "bh" (false discovery rate),
        "by" (the same under any dependence), "max-t" (step-down by the largest statistic of common
        sign flips; needs a baseline and the test "t" or "randomization"), and "none". Tukey's test
        includes its own.""",
        choices=CORRECTIONS,
    ),
    Keyword(
        "family",
        "measure",
        """the comparisons corrected together. Those of each "measure", or "all".""",
        choices=("measure", "all"),
    ),
    Keyword("alpha", 0.05, "the significance level.", check=fraction),
    Keyword(
        "interval",
        "t",
        """the kind of confidence intervals. Of means and differences: "t" (Student's);
        "percentile", "bca" and "studentized", which are bootstrap intervals over queries; or
        "none".""",
        choices=INTERVALS,
    ),
    Keyword("level", 0.95, "the confidence level of the intervals.", check=fraction),
    Keyword(
        "resamples",
        None,
        """the number of random resamples. By default 100,000 for "randomization" and "max-t", else
        10,000.""",
        least=1,
    ),
    Keyword(
        "seed",
        0,
        """the seed of the resamples, 0 or more. They depend on nothing else: results are the same
        for any number of threads, order of systems, and machine.""",
        least=0,
    ),
    Keyword(
        "exact_up_to",
        44,
        """the most differences of exact tests. Randomization tests are exact if no pair has
        more non-zero differences than this, and there are not too many pairs; at most 52. 50 need 1
        GB of memory.""",
        check=_up_to_52,
    ),
    Keyword(
        "zeros",
        "pratt",
        """differences of 0 in Wilcoxon's test. "pratt" ranks them and then drops them, "wilcox"
        drops them first, as scipy and R do. Up to 500 ranks, p is exact with either; theirs is
        approximate for equal ranks, dropped differences, or more than 50 queries.""",
        choices=("pratt", "wilcox"),
    ),
    Keyword(
        "min_difference",
        0.0,
        """the sign test ignores up to this. Larger differences have a sign.""",
        check=not_negative,
    ),
    Keyword(
        "clusters",
        None,
        """{query: cluster} for queries that belong together, such as variants of one topic: they
        are flipped and drawn together. Needs test="randomization" and interval="percentile" or
        "none".""",
    ),
    Keyword(
        "names",
        None,
        """the names of the systems; by default the keys of a dict, the tags of the runs, or the
        names of files. A repeated name becomes `name (2)`.""",
    ),
    Keyword(
        "threads",
        None,
        """the maximum number of threads, by default all that are useful.""",
        least=1,
    ),
)


class Settings(Frozen):
    """Checked options.

    test: the name of the test; function: the user's test, or None. unit: the words of messages.
    """

    alpha: float
    baseline: Any
    clusters: Any
    correction: Correction
    exact_up_to: int
    family: Family
    function: Any
    interval: Interval
    level: float
    min_difference: float
    names: Any
    resamples: int | None
    seed: int
    test: str
    threads: int | None
    zeros: Zeros
    unit: Unit = QUERY

    @property
    def of_all_systems(self) -> bool:
        """Whether the test is one of all systems together, on the same queries."""
        return self.function is None and self.test == "tukey"

    @property
    def of_medians(self) -> bool:
        """Whether the test may point in another direction than the mean difference."""
        return self.function is None and self.test in ("wilcoxon", "sign")

    @property
    def of_signs(self) -> bool:
        """Whether the test is the sign test."""
        return self.function is None and self.test == "sign"

    @property
    def flips(self) -> int:
        """The number of sign flips."""
        return FLIPS if self.resamples is None else self.resamples

    @property
    def draws(self) -> int:
        """The number of other resamples."""
        return RESAMPLES if self.resamples is None else self.resamples


def settings(options: Mapping[str, Any], unit: Unit = QUERY) -> Settings:
    """The checked options. Raises OptionError and TypeError."""
    values = {keyword.name: keyword.checked(options[keyword.name]) for keyword in COMPARISON}
    test, function = values.pop("test"), None
    if callable(test):
        function, test = test, getattr(test, "__name__", "custom")
    correction = values["correction"]
    if test == "tukey" and function is None:
        if correction not in (None, "none"):
            raise OptionError(
                "correction", f"test={test!r} already corrects for all pairs; omit {correction!r}"
            )
        correction = "none"
    values["correction"] = "holm" if correction is None else correction
    values["clusters"] = _by_query(values["clusters"])
    chosen = Settings(test=test, function=function, unit=unit, **values)
    own_test = chosen.function is not None
    if chosen.correction == "max-t":
        if own_test or test not in ("t", "randomization"):
            raise OptionError("correction", "'max-t' needs test='t' or test='randomization'")
        if chosen.baseline is None:
            needs = "'max-t' needs a baseline; for all pairs use test='tukey'"
            raise OptionError("correction", needs)
        if chosen.family == "all":
            needs = "'max-t' corrects within each measure; omit family='all'"
            raise OptionError("correction", needs)
    if chosen.clusters is not None:
        dependent = f"treats {unit.many} as independent; use"
        if own_test or test not in WITH_CLUSTERS:
            reason = f"the test {test!r} {dependent} test='randomization'"
            raise OptionError("clusters", reason)
        if chosen.interval not in INTERVALS_WITH_CLUSTERS:
            reason = f"the interval {chosen.interval!r} {dependent} interval='percentile'"
            raise OptionError("clusters", reason)
    return chosen


def _by_query(clusters: Any) -> dict[str, Hashable] | None:
    """The cluster of each query, whose ids may be integers. Raises TypeError and OptionError."""
    if clusters is None:
        return None
    if not hasattr(clusters, "items"):
        kind = type(clusters).__name__
        raise TypeError(f"clusters: expected {{query: cluster}}, found {kind}")
    by_query = {id_text(query): cluster for query, cluster in clusters.items()}
    if len(by_query) < len(clusters):
        raise OptionError("clusters", "a query appears twice, as a number and as text")
    return by_query


def settings_of(**options: Any) -> Settings:
    """The settings of a comparison with these options, and its defaults for the others."""
    return settings({keyword.name: keyword.default for keyword in COMPARISON} | options)
