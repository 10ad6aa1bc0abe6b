"""Select the judged queries of an evaluation."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_VERSION
from fastrank.data.grade_scale import Graded, lowest_code
from fastrank.data.preferences import Preferences
from fastrank.data.qrels import Qrels
from fastrank.data.texts import decoded, text_order
from fastrank.errors import EvaluationError
from fastrank.native import kernels
from fastrank.native.buffers import filled, zeros
from fastrank.plurals import first_few

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.texts import Ids
    from fastrank.judging.options import Options

    Judgments = Qrels | Preferences

# How many of the missing queries an error names.
NAMED = 5


def choose_queries(judgments: Any, options: Options) -> tuple[Any, list[bytes]]:
    """The judgments of the queries to evaluate, and the ids of those skipped (no_relevant).

    judgments: Qrels, DictJudgments or Preferences. Raises EvaluationError if a query without a
    relevant document is an error.
    """
    if isinstance(judgments, Preferences):
        return judgments, []
    picks, names = relevant_queries(judgments, options)
    if not names:
        return judgments, []
    if isinstance(judgments, Graded):
        return judgments.select(picks), names  # type: ignore[attr-defined]
    from fastrank.judging.filters import select_queries

    return select_queries(judgments, picks), names


def relevant_queries(judgments: Qrels | Graded, options: Options) -> tuple[Any, list[bytes]]:
    """The indexes of the queries to evaluate, and the ids of those skipped (no_relevant).

    The indexes are None if no query is skipped. Raises EvaluationError if a query without a
    relevant document is an error.
    """
    if options.no_relevant in ("zero", "one"):
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
    """The indexes of the judged queries that have a relevant document."""
    places = zeros("q", len(judgments))
    found = kernels.with_relevant(
        judgments.offset_column, judgments.grade_column,
        lowest_code(judgments, options.relevance_level), places,
    )  # fmt: skip
    return places[:found]


def _named(queries: list[bytes]) -> str:
    """The first of some queries."""
    return first_few(list(map(decoded, queries)), NAMED)


def missing_queries(judgments: Judgments | Graded, found: Ids) -> EvaluationError:
    """The error for judged queries that are missing from the run."""
    names = sorted(set(judgments.queries) - set(found))
    are = "is" if len(names) == 1 else "are"
    return EvaluationError(
        "", names[0],
        f"{len(names)} of {len(judgments)} judged queries {are} missing from the run:"
        f" {_named(names)}",
    )  # fmt: skip


def count_without_relevant(judgments: Judgments | Graded, options: Options) -> int:
    """How many judged queries have no relevant document."""
    if isinstance(judgments, Preferences):
        return 0
    return len(judgments) - len(places_with_relevant(judgments, options))


def judged_order(qrels: Qrels | Graded, options: Options) -> Any:
    """The indexes of the judged queries to evaluate, in byte order of their ids."""
    order = text_order(qrels.queries)
    if options.query is None:
        return order
    return filled("q", [place for place in order if qrels.queries[place] == options.query])


def evaluates_missing(options: Options) -> bool:
    """Whether queries without results are evaluated, which only trec_eval 10.0 does (with -c)."""
    return options.complete and options.trec_eval_version != DEFAULT_VERSION
