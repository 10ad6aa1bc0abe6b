"""Select the judged queries of an evaluation, and match the rankings of a run with them."""

from __future__ import annotations

from fastrank.common.faces import by_face
from fastrank.common.messages import first_few
from fastrank.core.data.texts import (
    TextColumn,
    Texts,
    decoded,
    remaining,
    take,
    text_order,
    text_table,
)
from fastrank.core.formats.qrels import (
    Graded,
    Preferences,
    Qrels,
    lowest_code,
    queries_with_relevant,
)
from fastrank.core.matching.judged import JudgedRun
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import filled, zeros
from fastrank.errors import EvaluationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.core.data.texts import Ids
    from fastrank.core.formats.run import Run
    from fastrank.core.matching.options import Options
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.native.buffers import Code
    from fastrank.core.native.record import Float64Array, Int64Array
    from fastrank.core.native.records import Matched

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
    from fastrank.core.matching.filters import select_queries

    return select_queries(judgments, picks), names


def relevant_queries(judgments: Qrels | Graded, options: Options) -> tuple[Any, list[bytes]]:
    """The indexes of the queries to evaluate, and the ids of those skipped (no_relevant).

    The indexes are None if no query is skipped. Raises EvaluationError if a query without a
    relevant document is an error.
    """
    if options.keeps_queries:
        return None, []
    picks = queries_with_relevant(judgments, lowest_code(judgments, options.relevance_level))
    if len(picks) == len(judgments):
        return None, []
    names = sorted(set(judgments.queries) - set(judgments.queries.take(picks)))
    if options.no_relevant == "error":
        raise EvaluationError(
            "",
            names[0],
            f"{len(names)} of {len(judgments)} judged queries have no relevant document"
            f" (grade {options.relevance_level} or more): {_named(names)}",
        )
    return picks, names


def _named(queries: list[bytes]) -> str:
    """The first of some queries."""
    return first_few(list(map(decoded, queries)), NAMED)


def missing_queries(judgments: Judgments | Graded, run_queries: Ids) -> EvaluationError:
    """The error for judged queries that are missing from the run."""
    names = sorted(set(judgments.queries) - set(run_queries))
    are = "is" if len(names) == 1 else "are"
    return EvaluationError(
        "",
        names[0],
        f"{len(names)} of {len(judgments)} judged queries {are} missing from the run:"
        f" {_named(names)}",
    )


# Remedies for judgments that have a document twice, and what those with other second fields are.
MERGE = "; `fastrank qrels merge FILE -o OUT.csv` chooses one of their grades"
SUBTOPICS = "; judgments with subtopics are for measures of subtopics, such as alpha_nDCG@10"


def what_is_wrong(problem: Int64Array, judgments: Qrels | Preferences, run: Run) -> str:
    """The message for a problem, with the lines where it occurs."""
    kind, row, other_row = problem
    if kind == codes.RUN_REPEATS:
        return repeated(run, row, other_row)
    if kind == codes.QRELS_REPEAT:
        groups = judgments.groups
        differ = len(groups) > 0 and groups[row] != groups[other_row]
        advice = SUBTOPICS if differ else by_face("", MERGE)
        return repeated(judgments, row, other_row) + advice
    if kind == codes.SCORE_IS_NAN:
        where = f"line {run.docs.line(row)} of {run.source}"
        return f"the score of document {_name(run, row)}, {where}, is NaN and cannot be ranked"
    if kind == codes.NONE_JUDGED:
        return "all its judgments are negative, and it is the first one evaluated"
    if kind == codes.GRADE_TOO_LARGE:
        return "a grade is too large to count judgments by grade"
    where = f"{judgments.source}:{judgments.docs.line(row)}"
    if kind == codes.TWO_LEVELS:
        return (
            f"{where}: document {_name(judgments, row)} occurs with different levels in the same"
            " judgment group"
        )
    if kind == codes.ZERO_AND_NONZERO:
        return f"{where}: doc '{_name(judgments, row)}' has both 0 and non-0 rel_level assigned"
    return f"{where}: Pref inconsistency found: the preferences of this judgment group form a cycle"


def repeated(noun: Qrels | Preferences | Run, first: int, second: int) -> str:
    """The message for a document that appears in two rows of one query."""
    return f"duplicate docs {_name(noun, first)}, {_lines(noun, first, second)}"


def repeated_lines(problem: Int64Array, run: Run) -> tuple[int, int] | None:
    """The two lines of the run with the same document; None for another problem."""
    kind, first, second = problem
    return (run.docs.line(first), run.docs.line(second)) if kind == codes.RUN_REPEATS else None


def _name(noun: Qrels | Preferences | Run, row: int) -> str:
    return str(noun.docs[row].decode("utf-8", "replace"))


def _lines(noun: Qrels | Preferences | Run, row: int, other_row: int) -> str:
    first, second = sorted((noun.docs.line(row), noun.docs.line(other_row)))
    return f"{noun.docs.unit}s {first} and {second} of {noun.source}"


# The only document of such a ranking.
PLACEHOLDER = b"ceci_nest_pas_un_docno"


def with_placeholder(run: Run) -> Run:
    """Append a query with one document, which trec_eval 10.0 uses for missing queries."""
    text, starts, lengths = run.docs.columns
    docs = (
        bytes(text) + PLACEHOLDER,
        _appended(starts, len(text)),
        _appended(lengths, len(PLACEHOLDER)),
    )
    extended = Texts(*docs)
    if isinstance(run.docs, TextColumn):
        extended = type(run.docs)(*docs, run.docs.rows, run.docs.unit)
    buffer, starts, lengths = run.queries.columns
    extended_run: Run = run.changed(
        queries=Texts(buffer, _appended(starts, 0), _appended(lengths, 0)),
        docs=extended,
        offset_column=_appended(run.offset_column, len(extended)),
        score_column=_appended(run.score_column, 1.0, "d"),
    )
    return extended_run


def _appended(
    column: Int64Array | Float64Array, value: float, code: Code = "q"
) -> Int64Array | Float64Array:
    """A column with one more number."""
    longer = zeros(code, len(column) + 1)
    longer[:-1], longer[-1] = column, value
    return longer


def clear_placeholders(
    measures: list[BoundMeasure], values: list[Any], placeholders: Sequence[int]
) -> None:
    """Zero the values that trec_eval 10.0 zeroes for missing queries.

    It knows them by their printed names, which have no parameters other than cutoffs.
    """
    for bound, column in zip(measures, values, strict=True):
        measure = bound.measure
        if not measure.zeroed:
            continue
        for j, name in enumerate(bound.canonical):
            if measure.takes == "cutoffs" or name == measure.name.encode():
                for i in placeholders:
                    column[i * bound.width + j] = b"" if measure.is_text else 0.0


def match_queries(judgments: Judgments, run: Run) -> Matched:
    """Every judged query, in byte order of its id, with its index in the run or -1."""
    order = text_order(judgments.queries)
    matches = zeros("q", len(order))
    kernels.match_texts(run.queries.columns, text_table(judgments.queries), matches)
    return records.Matched(order, take(matches, order))


def match_run(
    judgments: Qrels | Preferences, run: Run, options: Options, matched: Matched | None = None
) -> tuple[Run, Matched, JudgedRun]:
    """The run without the documents that options remove, its matched queries, and a JudgedRun.

    matched: every judged query in evaluation order, with its index in a run that has no other
    queries, or -1; by default they are looked up and evaluated in byte order. The JudgedRun has no
    rankings yet.
    """
    all_queries = match_queries(judgments, run) if matched is None else matched
    chosen, missing = _evaluated(judgments, run, options, all_queries)
    excluded = duplicates = 0
    unknown = 0
    # Neither rows of arrays without judgments nor skipped queries are known here.
    if options.exclude and matched is None and options.no_relevant != "skip":
        unknown = len({*options.exclude}.difference(run.queries, judgments.queries))
    if options.has_filters:
        run, excluded, duplicates = _without_documents(run, chosen, options)
    placeholders = []
    if missing and options.evaluates_missing:
        # Imported late: the trec_eval command needs the module only for -c.
        run = with_placeholder(run)
        placeholders = [i for i, ranking in enumerate(chosen.rankings) if ranking == len(run) - 1]
    judged = JudgedRun(
        queries=chosen.judgments,
        missing=missing,
        placeholders=placeholders,
        unjudged_queries=remaining(run.queries, chosen.rankings) if matched is None else None,
        counts={
            "excluded": excluded,
            "duplicates": duplicates,
            **({"unknown_exclusions": unknown} if unknown else {}),
        },
        tag=run.tag_bytes,
    )
    return run, chosen, judged


def _evaluated(
    judgments: Qrels | Preferences, run: Run, options: Options, matched: Matched
) -> tuple[Matched, int]:
    """The queries to evaluate, and the number of judged queries missing from the run."""
    pairs = list(zip(matched.judgments, matched.rankings, strict=True))
    if options.query is not None:
        pairs = [pair for pair in pairs if judgments.queries[pair[0]] == options.query]
    pairs_to_evaluate = [pair for pair in pairs if pair[1] >= 0]
    missing = len(pairs) - len(pairs_to_evaluate)
    if options.evaluates_missing:
        # The index at which with_placeholder adds the ranking of queries without results.
        pairs_to_evaluate = [
            (query, ranking if ranking >= 0 else len(run)) for query, ranking in pairs
        ]
    chosen = (filled("q", [pair[i] for pair in pairs_to_evaluate]) for i in (0, 1))
    return records.Matched(*chosen), missing


def _without_documents(run: Run, matched: Matched, options: Options) -> tuple[Run, int, int]:
    """The run without excluded and duplicate documents, and the numbers of both removed."""
    from fastrank.core.matching.filters import rows_of, without_excluded, without_repeats

    # The placeholder of queries without results has no rows yet.
    rankings = filled("q", [ranking for ranking in matched.rankings if ranking < len(run)])
    before = rows_of(run, rankings)
    run = without_excluded(run, options.exclude, identical=options.ignore_identical_ids)
    between = rows_of(run, rankings)
    if options.duplicates != "error":
        run = without_repeats(run, by_score=options.duplicates == "max")
    return run, before - between, between - rows_of(run, rankings)
