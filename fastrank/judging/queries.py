"""Which queries and documents take part in an evaluation, and what stands for missing ones."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_COMPAT
from fastrank.data.columns import Frozen
from fastrank.data.grade_scale import Graded, lowest_code
from fastrank.data.preferences import Preferences
from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.data.texts import PlacedTexts, Texts, byte_order, decoded
from fastrank.errors import EvaluationError
from fastrank.judging.judged import PLACEHOLDER
from fastrank.native import kernels, records
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.texts import Ids
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure

    Judgments = Qrels | Preferences

# How many of the missing queries an error names.
NAMED = 5


def choose_queries(judgments: Judgments, options: Options) -> tuple[Judgments, list[bytes]]:
    """The judgments of the queries to evaluate, and the queries left out of it (no_relevant).

    Raises EvaluationError where a query without a relevant document is an error.
    """
    if isinstance(judgments, Preferences):
        return judgments, []
    picks, names = relevant_queries(judgments, options)
    if not names:
        return judgments, []
    from fastrank.judging.filters import of_queries

    return of_queries(judgments, picks), names


def relevant_queries(judgments: Qrels | Graded, options: Options) -> tuple[Any, list[bytes]]:
    """The places of the queries to evaluate, and the ids of those left out of it (no_relevant).

    Instead of places there is None where none is left out. Raises EvaluationError where a query
    without a relevant document is an error.
    """
    if options.no_relevant == "zero":
        return None, []
    picks = places_with_relevant(judgments, options)
    if len(picks) == len(judgments):
        return None, []
    names = sorted(set(judgments.queries) - set(judgments.queries.take(picks)))
    if options.no_relevant == "error":
        raise EvaluationError(
            "", names[0],
            f"{len(names)} of {len(judgments)} judged queries have no relevant document"
            f" (grade {options.relevance_level} or more): {_named(names)}",
        )  # fmt: skip
    return picks, names


def places_with_relevant(judgments: Qrels | Graded, options: Options) -> Any:
    """The places of the judged queries that have a relevant document."""
    places = zeros("q", len(judgments))
    found = kernels.with_relevant(
        judgments.offset_column, judgments.grade_column,
        lowest_code(judgments, options.relevance_level), places,
    )  # fmt: skip
    return places[:found]


def _named(queries: list[bytes]) -> str:
    """The first of some queries."""
    names = ", ".join(decoded(query) for query in queries[:NAMED])
    return f"{names}, ..." if len(queries) > NAMED else names


def missing_queries(judgments: Judgments | Graded, found: Ids) -> EvaluationError:
    """An error that names the queries the run lacks."""
    names = sorted(set(judgments.queries) - set(found))
    return EvaluationError(
        "", names[0],
        f"{len(names)} of {len(judgments)} judged queries are missing from the run:"
        f" {_named(names)}",
    )  # fmt: skip


def without_documents(run: Run, matched: Matched, options: Options) -> tuple[Run, int, int]:
    """The run without excluded and repeated documents; how many of judged queries went for each."""
    from fastrank.judging.filters import rows_of, without_excluded, without_repeats

    # The placeholder of queries without results has no rows yet.
    rankings = filled("q", [ranking for ranking in matched.rankings if ranking < len(run)])
    before = rows_of(run, rankings)
    run = without_excluded(run, options.exclude, identical=options.ignore_identical_ids)
    between = rows_of(run, rankings)
    if options.duplicates != "error":
        run = without_repeats(run, by_score=options.duplicates == "max")
    return run, before - between, between - rows_of(run, rankings)


def count_without_relevant(judgments: Judgments | Graded, options: Options) -> int:
    """How many judged queries have no relevant document."""
    if isinstance(judgments, Preferences):
        return 0
    return len(judgments) - len(places_with_relevant(judgments, options))


def evaluates_missing(options: Options) -> bool:
    """Whether queries without results get values: trec_eval 10.0 under -c, and no other."""
    return options.complete and options.compat != DEFAULT_COMPAT


def match_queries(
    judgments: Judgments, run: Run, options: Options, matching: Matched | None = None
) -> tuple[Matched, int]:
    """The queries to evaluate, and how many judged ones the run lacks.

    matching: every judged query with its place in the run or -1, where that is known.
    """
    matched = match(judgments, run) if matching is None else matching
    pairs = list(zip(matched.judgments, matched.rankings, strict=True))
    if options.query is not None:
        pairs = [pair for pair in pairs if judgments.queries[pair[0]] == options.query]
    found = [pair for pair in pairs if pair[1] >= 0]
    missing = len(pairs) - len(found)
    if evaluates_missing(options):
        # The place that with_placeholder gives the ranking of queries without results.
        found = [(query, ranking if ranking >= 0 else len(run)) for query, ranking in pairs]
    chosen = Matched(
        judgments=filled("q", [query for query, _ in found]),
        rankings=filled("q", [ranking for _, ranking in found]),
    )
    return chosen, missing


def with_placeholder(run: Run) -> Run:
    """The run with a last query of one document: what trec_eval 10.0 takes for missing queries."""
    (text, starts, lengths), offsets, scores = run.columns
    rows = len(scores)
    docs = bytes(text) + PLACEHOLDER, zeros("q", rows + 1), zeros("q", rows + 1)
    extended = Texts(*docs)
    if isinstance(run.docs, PlacedTexts):
        extended = type(run.docs)(*docs, run.docs.rows, run.docs.unit)
    extended.starts[:rows], extended.lengths[:rows] = starts, lengths
    extended.starts[rows], extended.lengths[rows] = len(text), len(PLACEHOLDER)
    values, ranges = zeros("d", rows + 1), zeros("q", len(offsets) + 1)
    values[:rows], values[rows] = scores, 1.0
    ranges[: len(offsets)], ranges[len(offsets)] = offsets, rows + 1
    named = Texts(
        run.queries.buffer,
        filled("q", [*run.queries.starts, 0]),
        filled("q", [*run.queries.lengths, 0]),
    )
    return Run(
        queries=named, docs=extended, tag=run.tag, source=run.source, offset_column=ranges,
        score_column=values,
    )  # fmt: skip


def clear_placeholders(bound: list[BoundMeasure], values: list[Any], absent: list[int]) -> None:
    """Zero what trec_eval 10.0 zeroes for a query that the run lacks: by printed name."""
    for own, column in zip(bound, values, strict=True):
        for j, name in enumerate(own.names):
            if name in (b"num_ret", b"utility", b"rbp_resid") or name.startswith(b"unj"):
                for i in absent:
                    column[i * own.width + j] = 0.0
            elif name == b"relstring":
                for i in absent:
                    column[i] = b""


class Matched(Frozen):
    """Queries to evaluate, in byte order: their place in the judgments and in the run (or -1)."""

    __slots__ = ("judgments", "rankings")

    judgments: Any
    rankings: Any

    @property
    def columns(self) -> records.Matched:
        """The same as kernels take it."""
        return records.Matched(judgments=self.judgments, rankings=self.rankings)

    def __len__(self) -> int:
        return len(self.judgments)

    def first(self, count: int) -> Matched:
        """The first `count` of the queries."""
        return Matched(judgments=self.judgments[:count], rankings=self.rankings[:count])


def match(judgments: Qrels | Preferences, run: Run) -> Matched:
    """Every judged query, in byte order of its id, with its place in the run or -1."""
    order, run_order = byte_order(judgments), byte_order(run)
    rankings = zeros("q", len(order))
    kernels.match_texts(judgments.queries.columns, order, run.queries.columns, run_order, rankings)
    return Matched(judgments=order, rankings=rankings)
