"""What to judge next: the pool of runs, and random samples of it with known probabilities."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from typing import NamedTuple

import numpy as np

from fastrank.analysis.comparing.compare import compare
from fastrank.analysis.comparing.power import power_of_t
from fastrank.analysis.judges.labels import judged, judgments_of, pairs_of
from fastrank.analysis.judges.merging import named_rankings
from fastrank.common.arguments import DEFAULT_VERSION, at_least, check_choice, check_version
from fastrank.common.messages import counted, first_few
from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import encoded
from fastrank.core.formats.endings import check_suffix
from fastrank.core.formats.files import files
from fastrank.core.formats.formats import content_of, format_of
from fastrank.core.formats.inputs import is_file
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.tables import sniff
from fastrank.core.formats.tables.records import load_json
from fastrank.core.formats.tables.table_files import DELIMITERS
from fastrank.core.formats.tables.to_qrels import qrels_of, without_ungraded
from fastrank.core.results.table import Table, table_of_rows
from fastrank.errors import FormatError, GroupError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.analysis.judges.labels import Judgments
    from fastrank.common.choices import Allocation, PlanBy, TrecEvalVersion
    from fastrank.core.formats.files.files import Source
    from fastrank.core.formats.inputs import QrelsLike, RunsLike

FORMAT = "fastrank plan 1"
# The last ranks of the strata before the depth.
BANDS = (5, 10, 20, 50, 100, 200, 500)
# Sampled pairs of a stratum, so that its variance can be estimated.
LEAST = 2
POWER = 0.8
LISTED = 5
COLUMNS = ("query", "document", "rank", "stratum", "probability", "sampled")


class Stratum(NamedTuple):
    """Pairs that are sampled with one probability: sampled / size.

    >>> plan.strata["rank1-5"].sampled
    17
    """

    name: str
    size: int
    sampled: int


class JudgmentPlan(Frozen):
    """A random sample of the pairs of query and document in a pool, to be judged by people.

    pairs: the pool, a row for each pair: query, document, best rank in a run, stratum, the
    probability with which it is sampled, and whether it is. strata: {name: Stratum}. budget: how
    many pairs, or queries, are sampled. by: "pairs" or "queries". depth, seed: as given.

    >>> run = {f"q{i}": {f"d{j}": float(-j) for j in range(20)} for i in range(10)}
    >>> plan = fr.plan_judgments({"a": run}, 40, depth=20)
    >>> plan
    <JudgmentPlan of 40 of 200 pairs in 3 strata>
    >>> plan.sheet().names
    ['query', 'document', 'grade']
    """

    made_by = "fastrank.plan_judgments"

    pairs: Table
    strata: dict[str, Stratum]
    budget: int
    by: str
    depth: int
    seed: int

    def sheet(self) -> Table:
        """The sheet for assessors: query, document and an empty grade, in random order.

        It has neither ranks nor the judge's grades, which would bias them.

        >>> len(plan.sheet())
        40
        """
        rows = [(query, document, "") for query, document in self._sampled()]
        order = np.random.default_rng(self.seed).permutation(len(rows))
        sheet = table_of_rows(("query", "document", "grade"), [rows[i] for i in order])
        return sheet.changed(is_data=True)

    def _sampled(self) -> list[tuple[str, str]]:
        return [row[:2] for row in self.pairs.rows() if row[-1]]

    def qrels(self, grades: QrelsLike, *, partial: bool = False) -> Qrels:
        """Judgments with strata, as xinfAP and infNDCG take them (the format of sample_eval).

        grades: those that people gave to the sampled pairs. Pairs of the pool that were not sampled
        have the grade -1. Raises what `grades_of` raises.

        >>> sheet = plan.sheet().columns
        >>> graded = fr.Qrels.from_arrays(sheet["query"], sheet["document"], [1] * 40)
        >>> len(plan.qrels(graded)["q0"])
        20
        """
        grade_of = self.grades_of(grades, partial=partial)
        rows = [
            (query, document, grade_of.get((query, document), -1), stratum)
            for query, document, _, stratum, _, sampled in self.pairs.rows()
            if sampled or self.by == "pairs"
        ]
        table = table_of_rows(("query", "doc", "grade", "stratum"), rows)
        return Qrels._from_table("arrays", table.columns)

    def grades_of(
        self, grades: QrelsLike, *, partial: bool = False
    ) -> dict[tuple[str, str], float]:
        """{(query, document): grade} of the sampled pairs.

        grades: the sheet, filled in, or judgments as `evaluate` takes them; negative grades, as in
        what `qrels` returns, are none. partial: whether pairs may lack a grade, because assessors
        did not get to them; they must then be missing at random. Raises GroupError, which lists
        pairs without a grade, with several, and those that were not sampled.

        >>> plan.grades_of({"q0": {"d99": 1}})
        Traceback (most recent call last):
        fastrank.errors.GroupError: 1 pair not in the sample: query 'q0', document 'd99'
        """
        by_pair = pairs_of(judged(judgments_of(_filled(grades), "grades")))
        sampled = set(self._sampled())
        _refuse(by_pair.keys() - sampled, "not in the sample")
        _refuse(set() if partial else sampled - by_pair.keys(), "without a grade")
        if not by_pair:
            raise GroupError("no sampled pair has a grade")
        return by_pair

    def _judged(self, grades: dict[tuple[str, str], float]) -> Judgments:
        """{query: {document: grade}}; of a plan of queries, without partly judged ones."""
        whole = self.by == "queries"
        partly = {pair[0] for pair in self._sampled() if whole and pair not in grades}
        judgments: Judgments = {}
        for (query, document), grade in grades.items():
            if query not in partly:
                judgments.setdefault(query, {})[document] = grade
        return judgments

    def write(self, path: Source) -> None:
        """Write the plan as JSON, with a digest; `read_plan` takes it back.

        Raises OptionError for a path with the suffix of another format, such as .csv.

        >>> import io
        >>> plan.write(file := io.BytesIO())
        >>> fr.read_plan(io.BytesIO(file.getvalue()))
        <JudgmentPlan of 40 of 200 pairs in 3 strata>
        """
        check_suffix("path", path, "object")
        files.write_compressed(path, [self._content()])

    def _content(self) -> bytes:
        """The content of the plan's file."""
        content = {
            "by": self.by,
            "budget": self.budget,
            "depth": self.depth,
            "seed": self.seed,
            "strata": [list(stratum) for stratum in self.strata.values()],
            "pairs": [list(row) for row in self.pairs.rows()],
        }
        text = json.dumps({"format": FORMAT, "digest": _digest(content), **content})
        return encoded(text) + b"\n"

    def __repr__(self) -> str:
        return (
            f"<JudgmentPlan of {len(self._sampled()):,} of {counted(len(self.pairs), 'pair')} in"
            f" {counted(len(self.strata), 'stratum', 'strata')}>"
        )


def _refuse(pairs: set[tuple[str, str]], problem: str) -> None:
    if pairs:
        shown = [f"query {query!r}, document {document!r}" for query, document in sorted(pairs)]
        raise GroupError(
            f"{counted(len(pairs), 'pair')} {problem}: {first_few(shown, LISTED, count=True)}"
        )


def _filled(grades: QrelsLike) -> QrelsLike:
    """The judgments of a sheet, without the rows that have no grade yet; others as they are."""
    if not is_file(grades):
        return grades
    source: Any = grades
    file, head = sniff.head_of(source)
    form = format_of(head, file.name, "qrels")
    if form not in DELIMITERS:
        return file
    with file:
        sheet: Any = content_of(file.read(), file.name, form, "qrels")
    if not {"query", "document", "grade"} <= {*sheet.names}:
        return qrels_of(sheet)
    if not any(map(str.strip, sheet.values("grade"))):
        return {}
    # The pairs that lack a grade are counted later.
    filled = without_ungraded(sheet, sheet.names.index("grade"), lambda _: None)
    pairs = Counter(zip(filled.values("query"), filled.values("document"), strict=True))
    _refuse({pair for pair, count in pairs.items() if count > 1}, "with several grades")
    return qrels_of(filled)


def read_plan(path: Source) -> JudgmentPlan:
    """Read a plan that `JudgmentPlan.write` wrote.

    Raises ReadError, and FormatError for a file that is not a plan or was edited.

    >>> import io
    >>> fr.read_plan(io.BytesIO(b"{}"))
    Traceback (most recent call last):
    fastrank.errors.FormatError: <file object>:1: expected a plan, as `fastrank plan` writes it
    """
    name, text = files.name_of(path), sniff.read_text(path)
    try:
        content = load_json(text, name)
        digest, form = content.pop("digest"), content.pop("format")
    except (FormatError, KeyError, AttributeError, TypeError):
        form = ""
    if form != FORMAT:
        raise FormatError(name, 1, "expected a plan, as `fastrank plan` writes it")
    if digest != _digest(content):
        raise FormatError(
            name,
            1,
            "the plan was changed after it was written: its digest differs; put grades"
            " into a file of their own",
        )
    pairs = table_of_rows(COLUMNS, content.pop("pairs"))
    for query, document, *_, probability, _ in pairs.rows():
        if not 0 < probability <= 1:
            raise FormatError(
                name,
                1,
                f"query {query!r}, document {document!r}: expected a probability above 0"
                f" and at most 1, found {probability:g}",
            )
    strata = {fields[0]: Stratum(*fields) for fields in content.pop("strata")}
    return JudgmentPlan(pairs=pairs, strata=strata, **content)


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def pool(
    runs: RunsLike, depth: int = 100, *, trec_eval_version: TrecEvalVersion = DEFAULT_VERSION
) -> Table:
    """The pool of runs: the documents that one of them has in its first results.

    runs: a list of runs or {name: run}, each as `evaluate` takes it.
    depth: the number of first results of each query, in trec_eval's order.
    trec_eval_version: scores are compared as 32-bit floats ("9.0.8") or doubles ("10.0").

    Returns a row for each pair of query and document, in byte order, with its best rank and the
    number of runs that have it.

    >>> print(fr.pool([{"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d2": 5.0}}], 10))
    query    document      rank    runs
    -------  ----------  ------  ------
    q1       d1               1       1
    q1       d2               1       2
    """
    deepest, version = at_least("depth", depth, 1), check_version(trec_eval_version)
    ranks: dict[tuple[str, str], list[int]] = {}
    for _, rankings in named_rankings(runs, deepest, version):
        for pair, rank in pairs_of(rankings).items():
            ranks.setdefault(pair, []).append(rank)
    pairs = sorted(ranks, key=lambda pair: tuple(map(os.fsencode, pair)))
    rows = [(*pair, min(ranks[pair]), len(ranks[pair])) for pair in pairs]
    return table_of_rows(("query", "document", "rank", "runs"), rows).changed(is_data=True)


def plan_judgments(
    runs: RunsLike,
    budget: int | None = None,
    *,
    judge: QrelsLike | None = None,
    depth: int = 100,
    by: PlanBy = "pairs",
    allocation: Allocation = "neyman",
    difference: float | None = None,
    measure: str = "map",
    correlation: float = 0.0,
    seed: int = 0,
    trec_eval_version: TrecEvalVersion = DEFAULT_VERSION,
) -> JudgmentPlan:
    """Draw a random sample of what people should judge.

    runs: the runs to compare, as a list or {name: run}.
    budget: how many pairs, or queries, people can judge.
    judge: the judgments of a model, by whose grades the pool is stratified, too.
    depth: of the pool.
    by: "pairs": pairs of query and document from strata by best rank and judge's grade; "queries":
        all pooled pairs of random queries.
    allocation: of the budget to strata: "neyman", in proportion to their size times the standard
        deviation that the judge's grades and the discount of the rank lead one to expect; or
        "proportional" to their size.
    difference: instead of a budget of queries, the difference of two systems in `measure` that the
        paired t-test shall find with a power of 0.8; needs a judge, for the standard deviation.
    measure: for `difference`.
    correlation: of the judge's and people's differences per query, if known: of N queries, n
        then find what n / (1 - correlation ** 2 * (1 - n / N)) would find without a judge.
    seed: of the sample.
    trec_eval_version: scores are compared as 32-bit floats ("9.0.8") or doubles ("10.0").

    Raises OptionError for invalid or contradictory options, and what reading raises. Sources:
    Neyman, JRSS 97, 1934; Särndal, Swensson and Wretman, Model assisted survey sampling, 1992.

    >>> run = {f"q{i}": {f"d{j}": float(-j) for j in range(20)} for i in range(10)}
    >>> fr.plan_judgments({"a": run}, 40, depth=20).strata["rank1-5"]
    Stratum(name='rank1-5', size=50, sampled=17)
    """
    check_choice("by", by, ("pairs", "queries"))
    check_choice("allocation", allocation, ("neyman", "proportional"))
    draw = np.random.default_rng(at_least("seed", seed, 0))
    pooled = list(pool(runs, depth, trec_eval_version=trec_eval_version).rows())
    if not pooled:
        raise GroupError("the runs have no results")
    grades = None if judge is None else judged(judgments_of(judge, "judge"))
    if difference is not None:
        if by != "queries" or grades is None or budget is not None:
            raise OptionError("difference", "needs by='queries' and a judge, and no budget")
        budget = _queries_for(difference, runs, grades, measure, correlation)
    if budget is None:
        raise OptionError("budget", "expected a number of pairs or queries")
    queries = list(dict.fromkeys(query for query, *_ in pooled))
    most = len(queries) if by == "queries" else len(pooled)
    if at_least("budget", budget, 1) > most:
        raise OptionError(
            "budget", f"expected at most {most}, the {by} of the pool, found {budget}"
        )
    if by == "queries":
        chosen = {queries[i] for i in draw.permutation(len(queries))[:budget]}
        names = ["query"] * len(pooled)
        sampled = [query in chosen for query, *_ in pooled]
        strata = {"query": Stratum("query", len(queries), budget)}
    else:
        ranks = [rank for _, _, rank, _ in pooled]
        names = _stratified(pooled, grades, budget)
        strata = _allocated(names, ranks, budget, allocation)
        sampled = [False] * len(names)
        for name, stratum in strata.items():
            indices = [i for i, stratum_name in enumerate(names) if stratum_name == name]
            for i in draw.permutation(indices)[: stratum.sampled]:
                sampled[i] = True
    rows = [
        (*row[:3], name, strata[name].sampled / strata[name].size, is_sampled)
        for row, name, is_sampled in zip(pooled, names, sampled, strict=True)
    ]
    return JudgmentPlan(
        pairs=table_of_rows(COLUMNS, rows),
        strata=strata,
        budget=budget,
        by=by,
        depth=depth,
        seed=seed,
    )


def _queries_for(
    difference: float, runs: RunsLike, grades: Judgments, measure: str, correlation: float
) -> int:
    """How many queries find a difference, by the largest standard deviation of two runs."""
    if not -1 < correlation < 1:
        raise OptionError("correlation", f"expected a number between -1 and 1, found {correlation}")
    comparison = compare(grades, runs, measure, missing="zero", interval="none")
    spread = max((sd for sd in comparison.pairs().columns["sd"] if sd == sd), default=0.0)
    if not spread > 0:
        raise OptionError("difference", "no two runs differ by the judge")
    every = len(comparison.queries)
    for n in range(2, every + 1):
        # The judge only tells about the other queries.
        left = math.sqrt(1 - correlation**2 * (1 - n / every))
        if power_of_t(difference / (spread * left), n) >= POWER:
            return n
    raise OptionError("difference", f"{every} queries are too few to find {difference:g}")


def _stratified(
    pooled: list[tuple[str, str, int, int]], grades: Judgments | None, budget: int
) -> list[str]:
    """The stratum of each pair: by rank and the judge's grade, or less if the budget is small."""
    bands = [_band(rank) for _, _, rank, _ in pooled]
    kinds = [bands, ["pool"] * len(pooled)]
    if grades is not None:
        judged = [grades.get(query, {}).get(document) for query, document, *_ in pooled]
        labels = ["none" if grade is None else f"{grade:g}" for grade in judged]
        kinds.insert(0, [f"{band}:{label}" for band, label in zip(bands, labels, strict=True)])
    for names in kinds[:-1]:
        if sum(min(LEAST, size) for size in Counter(names).values()) <= budget:
            return names
    return kinds[-1]


def _band(rank: int) -> str:
    last = next((limit for limit in BANDS if rank <= limit), "")
    return f"rank{max((limit for limit in BANDS if limit < rank), default=0) + 1}-{last}"


def _allocated(
    names: list[str], ranks: list[int], budget: int, allocation: str
) -> dict[str, Stratum]:
    """The strata with their shares of the budget, at least two pairs each where it suffices."""
    unique, of_pair, sizes = np.unique(names, return_inverse=True, return_counts=True)
    weights = sizes.astype(float)
    if allocation == "neyman":
        discounts = np.bincount(of_pair, [1 / math.log2(rank + 1) ** 2 for rank in ranks]) / sizes
        labels = [name.partition(":")[2] for name in unique.tolist()]
        scale = sorted({*labels} - {"none"}, key=lambda grade: float(grade or 0))
        # How probable people are to find it relevant: never 0 or 1, as judges err.
        among = {label: (rank + 0.5) / len(scale) for rank, label in enumerate(scale)}
        shares = np.array([among.get(label, 0.5) for label in labels])
        weights *= np.sqrt(discounts) * np.sqrt(shares * (1 - shares))
    sampled = np.minimum(sizes, min(LEAST, budget))
    while (left := budget - int(sampled.sum())) > 0:
        room = np.where(sampled < sizes, weights, 0.0)
        # The largest remainders get the rest, so that exactly the budget is spent.
        more = np.minimum(np.floor(left * room / room.sum()), sizes - sampled).astype(int)
        if not more.any():
            order = np.argsort(-(left * room / room.sum()), kind="stable")[:left]
            more[order] = np.minimum(1, sizes[order] - sampled[order])
        sampled = sampled + more
    return {
        name: Stratum(name, size, count)
        for name, size, count in zip(*map(np.ndarray.tolist, (unique, sizes, sampled)), strict=True)
    }
