"""What to judge next: the pool of runs, and random samples of it with known probabilities."""

from __future__ import annotations

import hashlib
import json
import math
import os
from typing import NamedTuple

import numpy as np

from fastrank.arguments import DEFAULT_VERSION, at_least, check_choice, check_version
from fastrank.comparing.compare import compare
from fastrank.comparing.power import queries_for
from fastrank.data.columns import Frozen
from fastrank.data.qrels import Qrels
from fastrank.errors import FormatError, GroupError, OptionError
from fastrank.formats import files
from fastrank.formats.source import read_all
from fastrank.judges.labels import judgments_of
from fastrank.judges.merging import named_rankings
from fastrank.messages import counted, first_few
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.choices import Allocation, PlanBy, TrecEvalVersion
    from fastrank.formats.files import Source
    from fastrank.formats.inputs import QrelsLike, RunsLike
    from fastrank.judges.labels import Judgments

FORMAT = "fastrank plan 1"
# The last ranks of the strata before the depth.
BANDS = (5, 10, 20, 50, 100, 200, 500)
# Sampled pairs of a stratum, so that its variance can be estimated.
LEAST = 2
LISTED = 5


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

    pairs: the pool, a row for each pair: query, document, best rank in a run, stratum, and whether
    it is sampled. strata: {name: Stratum}. budget: how many pairs, or queries, are sampled. by:
    "pairs" or "queries". depth, seed: as given.

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
        """What assessors get: query, document and an empty grade, in random order.

        It has neither ranks nor the judge's grades, which would bias them.

        >>> len(plan.sheet())
        40
        """
        rows = [(query, document) for query, document, *_, sampled in self.pairs.rows() if sampled]
        order = np.random.default_rng(self.seed).permutation(len(rows))
        queries, documents = zip(*(rows[place] for place in order), strict=True)
        return Table(
            columns={
                "query": list(queries), "document": list(documents), "grade": [""] * len(rows)
            }
        )  # fmt: skip

    def qrels(self, grades: QrelsLike, *, partial: bool = False) -> Qrels:
        """Judgments with strata, as xinfAP and infNDCG take them (the format of sample_eval).

        grades: those that people gave to the sampled pairs. Pairs of the pool that were not sampled
        have the grade -1. Raises what `grades_of` raises.

        >>> sheet = plan.sheet().columns
        >>> graded = fr.Qrels.from_arrays(sheet["query"], sheet["document"], [1] * 40)
        >>> len(plan.qrels(graded)["q0"])
        20
        """
        known = self.grades_of(grades, partial=partial)
        columns = self.pairs.columns
        pairs = zip(columns["query"], columns["document"], strict=True)
        made: Qrels = Qrels._from_table("arrays", {
            "query": columns["query"], "doc": columns["document"],
            "grade": [known.get(pair, -1) for pair in pairs], "stratum": columns["stratum"],
        })  # fmt: skip
        return made

    def grades_of(
        self, grades: QrelsLike, *, partial: bool = False
    ) -> dict[tuple[str, str], float]:
        """{(query, document): grade} of the sampled pairs.

        partial: whether pairs may lack a grade, because assessors did not get to them; they must
        then be missing at random. Raises GroupError, which lists pairs without a grade and grades
        of pairs that were not sampled.

        >>> plan.grades_of({"q0": {"d99": 1}})
        Traceback (most recent call last):
        fastrank.errors.GroupError: 1 pair not in the sample: query 'q0', document 'd99'
        """
        given = {
            (query, document): grade
            for query, documents in judgments_of(grades, "grades").items()
            for document, grade in documents.items()
        }
        sampled = {(query, document) for query, document, *_, chosen in self.pairs.rows() if chosen}
        for wrong, what in (
            (given.keys() - sampled, "not in the sample"),
            (set() if partial else sampled - given.keys(), "without a grade"),
        ):
            if wrong:
                shown = [f"query {query!r}, document {doc!r}" for query, doc in sorted(wrong)]
                raise GroupError(
                    f"{counted(len(wrong), 'pair')} {what}: {first_few(shown, LISTED, count=True)}"
                )
        if not given:
            raise GroupError("no sampled pair has a grade")
        return given

    def write(self, path: Source) -> None:
        """Write the plan as JSON, with a digest; `read_plan` takes it back.

        >>> import io
        >>> plan.write(file := io.BytesIO())
        >>> fr.read_plan(io.BytesIO(file.getvalue()))
        <JudgmentPlan of 40 of 200 pairs in 3 strata>
        """
        files.write_compressed(path, [self._content()])

    def _content(self) -> bytes:
        """What is written."""
        content = {
            "by": self.by, "budget": self.budget, "depth": self.depth, "seed": self.seed,
            "strata": [list(own) for own in self.strata.values()],
            "pairs": [list(row) for row in self.pairs.rows()],
        }  # fmt: skip
        text = json.dumps({"format": FORMAT, "digest": _digest(content), **content})
        return text.encode("utf-8", "surrogateescape") + b"\n"

    def __repr__(self) -> str:
        sampled = sum(own.sampled for own in self.strata.values())
        return (
            f"<JudgmentPlan of {sampled} of {counted(len(self.pairs), 'pair')} in"
            f" {counted(len(self.strata), 'stratum', 'strata')}>"
        )


def read_plan(path: Source) -> JudgmentPlan:
    """Read a plan that `JudgmentPlan.write` wrote.

    Raises ReadError, and FormatError for a file that is not a plan or was edited.

    >>> import io
    >>> fr.read_plan(io.BytesIO(b"{}"))
    Traceback (most recent call last):
    fastrank.errors.FormatError: <file object>:1: expected a plan, as `fastrank plan` writes it
    """
    name = files.name_of(path)
    try:
        content = json.loads(read_all(path))
        expected = content.pop("digest"), content.pop("format")
    except (ValueError, KeyError, AttributeError, TypeError):
        expected = "", ""
    if expected[1] != FORMAT:
        raise FormatError(name, 1, "expected a plan, as `fastrank plan` writes it")
    if expected[0] != _digest(content):
        raise FormatError(
            name, 1, "the plan was changed after it was written: its digest differs; put grades"
            " into a file of their own"
        )  # fmt: skip
    columns = ("query", "document", "rank", "stratum", "sampled")
    rows = content.pop("pairs")
    strata = {own[0]: Stratum(*own) for own in content.pop("strata")}
    pairs = Table(columns=dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))
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
    found: dict[tuple[str, str], list[int]] = {}
    for _, rankings in named_rankings(runs, deepest, version):
        for query, documents in rankings.items():
            for rank, document in enumerate(documents, 1):
                found.setdefault((query, document), []).append(rank)
    pairs = sorted(found, key=lambda pair: (os.fsencode(pair[0]), os.fsencode(pair[1])))
    return Table(
        columns={
            "query": [query for query, _ in pairs],
            "document": [document for _, document in pairs],
            "rank": [min(found[pair]) for pair in pairs],
            "runs": [len(found[pair]) for pair in pairs],
        }
    )


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
    correlation: of the judge's and people's differences per query, if known: judging with
        `estimate` then needs fewer queries, by the factor 1 - correlation ** 2.
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
    pairs = pool(runs, depth, trec_eval_version=trec_eval_version).columns
    if not pairs["query"]:
        raise GroupError("the runs have no results")
    grades = {} if judge is None else judgments_of(judge, "judge")
    if difference is not None:
        if by != "queries" or judge is None or budget is not None:
            raise OptionError("difference", "needs by='queries' and a judge, and no budget")
        budget = _queries_for(difference, runs, grades, measure, correlation)
    if budget is None:
        raise OptionError("budget", "expected a number of pairs or queries")
    queries = sorted(set(pairs["query"]), key=os.fsencode)
    most = len(queries) if by == "queries" else len(pairs["query"])
    if not 0 < at_least("budget", budget, 1) <= most:
        raise OptionError(
            "budget", f"expected at most {most}, the {by} of the pool, found {budget}"
        )
    if by == "queries":
        chosen = {queries[place] for place in draw.permutation(len(queries))[:budget]}
        names = ["query"] * len(pairs["query"])
        sampled = [query in chosen for query in pairs["query"]]
        strata = {"query": Stratum("query", len(queries), budget)}
    else:
        names = [
            _stratum(rank, grades.get(query, {}).get(document), judged=judge is not None)
            for query, document, rank in zip(
                pairs["query"], pairs["document"], pairs["rank"], strict=True
            )
        ]
        strata = _allocated(names, pairs["rank"], budget, allocation)
        sampled = [False] * len(names)
        for name, own in strata.items():
            rows = [row for row, other in enumerate(names) if other == name]
            for place in draw.permutation(len(rows))[: own.sampled]:
                sampled[rows[place]] = True
    table = Table(
        columns={
            "query": pairs["query"], "document": pairs["document"], "rank": pairs["rank"],
            "stratum": names, "sampled": sampled,
        }
    )  # fmt: skip
    return JudgmentPlan(pairs=table, strata=strata, budget=budget, by=by, depth=depth, seed=seed)


def _queries_for(
    difference: float, runs: RunsLike, grades: Judgments, measure: str, correlation: float
) -> int:
    """How many queries find a difference, by the largest standard deviation of two runs."""
    if not -1 < correlation < 1:
        raise OptionError("correlation", f"expected a number between -1 and 1, found {correlation}")
    found = compare(grades, runs, measure, missing="zero", interval="none")
    spread = max((own for own in found.pairs().columns["sd"] if own == own), default=0.0)
    if not spread > 0:
        raise OptionError("difference", "no two runs differ by the judge")
    needed = queries_for(difference / (spread * math.sqrt(1 - correlation**2)))
    if needed is None or needed > len(found.queries):
        raise OptionError(
            "difference", f"{needed or 'more than 1,000,000,000'} queries are needed to find"
            f" {difference:g}; there are {len(found.queries)}"
        )  # fmt: skip
    return needed


def _stratum(rank: int, grade: float | None, *, judged: bool) -> str:
    """The name of a stratum: the band of its rank, and the judge's grade."""
    last = next((own for own in BANDS if rank <= own), None)
    first = max((own for own in BANDS if own < rank), default=0) + 1
    band = f"rank{first}-{last}" if last else f"rank{first}-"
    return f"{band}:{'none' if grade is None else f'{grade:g}'}" if judged else band


def _allocated(
    names: list[str], ranks: list[int], budget: int, allocation: str
) -> dict[str, Stratum]:
    """The strata with their shares of the budget, at least two pairs each where it suffices."""
    found = sorted(set(names))
    sizes = np.array([names.count(name) for name in found])
    weights = sizes.astype(float)
    if allocation == "neyman":
        labels = sorted(
            {name.partition(":")[2] for name in found} - {"none"}, key=lambda g: float(g or 0)
        )
        for place, name in enumerate(found):
            own = [rank for rank, other in zip(ranks, names, strict=True) if other == name]
            discount = math.sqrt(sum(1 / math.log2(rank + 1) ** 2 for rank in own) / len(own))
            label = name.partition(":")[2]
            share = 0.5
            if label in labels and len(labels) > 1:
                # How probable people are to find it relevant: never 0 or 1, as judges err.
                share = (labels.index(label) + 0.5) / len(labels)
            weights[place] *= discount * math.sqrt(share * (1 - share))
    sampled = np.minimum(sizes, LEAST if budget >= LEAST * len(found) else 0)
    while (left := budget - int(sampled.sum())) > 0:
        room = np.where(sampled < sizes, weights, 0.0)
        # The largest remainders get the rest, so that the budget is met exactly.
        more = np.minimum(np.floor(left * room / room.sum()), sizes - sampled).astype(int)
        if not more.any():
            order = np.argsort(-(left * room / room.sum()), kind="stable")[:left]
            more[order] = np.minimum(1, sizes[order] - sampled[order])
        sampled = sampled + more
    return {
        name: Stratum(name, int(size), int(count))
        for name, size, count in zip(found, sizes, sampled, strict=True)
    }
