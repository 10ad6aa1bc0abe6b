"""Judgments and rankings in every form that can be evaluated, and what trec_eval makes of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytrec_eval
from hypothesis import strategies as st

import fastrank as fr
from fastrank.errors import ArrayError, NoQueriesError

TIES = ("docno_desc", "docno_asc", "given", "best", "worst", "average")
# Neighbours in the order of their decimal texts that are none as numbers, and the largest.
NUMBERS = [*range(13), 19, 20, 90, 99, 100, 109, 110, 900, 999, 1000, 10**18, 10**18 + 1]
NUMBERS += [922337203685477580, 2**63 - 8, 2**63 - 1]
# Ids whose order as bytes is not that of their code points, beside plain ones.
TEXTS = ["a", "b", "aa", "é", "\udc80", "\udcff", "\uffff", "\U00010000", "", "1", "0"]
# Ties, some only as 32-bit floats, and what has no single form.
SCORES = [0.0, -0.0, 1.0, 1.0 + 2e-8, 1.0 + 4e-8, -1.0, 0.5, 3e-46, 2, -7, 0.1, 1e300, 1e301]
SCORES += [float("inf"), float("-inf")]
WHOLE, FRACTIONS = [-2, -1, 0, 1, 2, 3], [-1, 0, 1, 2, 0.5, 1.5]
# Measures of which the expected value over orders of ties is known, more, and those of grades with
# fractions, which relstring does not show.
EXPECTED = "map P.1,3 recall.2 Rprec recip_rank ndcg ndcg_cut.2 success.1 num_ret num_rel"
EVERY = f"all_trec nDCG@3 Judged@2 PercentileRank {EXPECTED}"
GRADED = f"{EXPECTED} nDCG@3 ERR@3 RBP bpref infAP set_F"
Ranking = list[tuple[str, float]]


class Case(NamedTuple):
    """For each query its judgments, and its results as a file has them."""

    queries: list[str]
    judged: list[dict[str, float]]
    rankings: list[Ranking]

    def qrels(self) -> dict[str, dict[str, float]]:
        """The judgments; queries without any are left out."""
        return {query: own for query, own in zip(self.queries, self.judged, strict=True) if own}

    def pairs(self) -> list[tuple[str, Ranking]]:
        """The results of each query."""
        return list(zip(self.queries, self.rankings, strict=True))

    def rows(self) -> list[tuple[str, str, float]]:
        """The results, query by query."""
        return [(query, doc, score) for query, own in self.pairs() for doc, score in own]

    def nouns(self) -> tuple[fr.Qrels, fr.Run]:
        """The same in memory, to which other forms are compared."""
        columns = list(zip(*self.rows(), strict=True)) or [(), (), ()]
        return fr.Qrels.from_dict(self.qrels()), fr.Run.from_arrays(*map(list, columns))

    def measures(self, ties: str = "", depth: int | None = None, **_: Any) -> str:
        """Those that can be computed."""
        if ties == "average":
            return EXPECTED
        fractions = any(grade % 1 for own in self.judged for grade in own.values())
        return (GRADED if fractions else EVERY) + ("" if depth else " AUC GAUC")

    @property
    def repeats(self) -> bool:
        """Whether a document stands in a ranking twice."""
        return any(len(dict(own)) < len(own) for own in self.rankings)


def make_case(seed: int, grades: tuple[list[Any], ...] = (WHOLE, FRACTIONS)) -> Case:
    """Up to four queries, with and without judgments, results, ties and repeated documents."""
    chance = random.Random(seed)
    pool = chance.choice([[str(number) for number in NUMBERS], TEXTS])
    docs = chance.sample(pool, chance.randrange(3, len(pool)))
    # In byte order some names stand in another order than the rows.
    names = chance.choice([["0", "1", "2", "3"], ["2", "\U00010000", "0", "\udc80"]])
    queries = names[: chance.randrange(1, 5)]
    repeats, searched = chance.random() < 0.3, chance.random() < 0.3
    scores, grades_of_case = chance.sample(SCORES, 5), chance.choice(grades)
    judged: list[dict[str, float]] = []
    rankings: list[Ranking] = []
    for _ in queries:
        own = chance.sample(docs, chance.randrange(1, len(docs)))
        judged.append({doc: chance.choice(grades_of_case) for doc in own})
        found = chance.sample(docs, chance.randrange(1, len(docs)))
        if repeats:
            found = chance.choices(found, k=len(found))
        rankings.append([(doc, chance.choice([*scores, chance.random()])) for doc in found])
        if searched:
            # As those that a search returns.
            rankings[-1] = [(doc, float(len(found) - i)) for i, doc in enumerate(found)]
    for some in (judged, rankings):
        if chance.random() < 0.3:
            some[chance.randrange(len(some))].clear()
    return Case(queries, judged, rankings)


CASES = st.integers(0, 2**48).map(make_case)
# For programs that know whole grades only.
WHOLE_CASES = st.integers(0, 2**48).map(lambda seed: make_case(seed, (WHOLE,)))
EXCLUDED = st.lists(st.sampled_from([*NUMBERS, *TEXTS, "01"]), max_size=12)
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "ties": st.sampled_from(TIES),
    "no_relevant": st.sampled_from(["zero", "skip", "error", "one"]),
    "ignore_identical_ids": st.booleans(),
    "exclude": st.dictionaries(st.sampled_from([0, "1", b"2", "x"]), EXCLUDED),
    "duplicates": st.sampled_from(["error", "first", "max"]),
    "missing": st.sampled_from(["skip", "zero", "error"]),
    "depth": st.sampled_from([None, 1, 2, 3, 7]),
    "judged_only": st.booleans(),
    "relevance_level": st.sampled_from([1, 2, 0.5, 0, -1]),
    "collection_size": st.just(50),
    "trec_eval_version": st.sampled_from(["9.0.8", "10.0"]),
}


def options(
    without: str = "", **others: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    """Some of these options, a few of them from other choices."""
    chosen = {**OPTIONS, **others}
    return st.fixed_dictionaries(
        {}, optional={name: own for name, own in chosen.items() if name not in without.split()}
    )


# What an evaluation says


def outcome(function: Callable[..., Any], *given: Any, **how: Any) -> Any:
    """What a call returns, or the error that it raises."""
    try:
        return function(*given, **how)
    except fr.FastrankError as error:
        return error


# Of arrays, every excluded query may be a row.
UNCOUNTED = ["unknown_exclusions"]


def assert_same(
    found: Any, expected: Any, *, named: bool = True, uncounted: list[str] = UNCOUNTED
) -> None:
    """The same bits and counts, but for those that are uncounted, or the same error.

    named: names of queries without judgments are known.
    """
    if isinstance(expected, NoQueriesError):
        assert isinstance(found, NoQueriesError)
    elif isinstance(found, ArrayError):
        # It names row and column instead of lines.
        assert "is retrieved twice" in str(found)
        assert "duplicate docs" in str(expected)
    elif isinstance(expected, fr.FastrankError):
        assert type(found) is type(expected)
        # Each form has its own places.
        texts = [re.sub(", (lines|rows) .*|<.*>", "", str(error)) for error in (found, expected)]
        assert texts[0] == texts[1]
    else:
        assert isinstance(found, fr.Scores), found
        assert found.queries == expected.queries
        assert found.missing_queries == expected.missing_queries
        assert not named or found.unjudged_queries == expected.unjudged_queries
        counts = [own.counts | dict.fromkeys(uncounted, 0) for own in (found, expected)]
        assert counts[0] == counts[1]
        assert repr(found.mean) == repr(expected.mean)
        for name in expected:
            assert found[name].tobytes() == expected[name].tobytes(), name


# The forms


def _file(case: Case, folder: Path, *, scattered: bool) -> Path | None:
    """A file in TREC format. scattered: the lines of a query stand apart, in their order."""
    rows = [
        (place, f"{query} Q0 {doc} 0 {score!r} t\n")
        for query, own in case.pairs()
        for place, (doc, score) in enumerate(own)
    ]
    if not rows or not all(doc for own in case.rankings for doc, _ in own):
        return None
    if scattered:
        rows.sort(key=lambda row: row[0])
    (folder / "run").write_bytes(_bytes("".join(line for _, line in rows)))
    return folder / "run"


def _frame(case: Case) -> Any:
    try:
        "".join(doc + query for query, doc, _ in case.rows()).encode()
    except UnicodeEncodeError:
        return None
    return pd.DataFrame(case.rows(), columns=["query_id", "doc_id", "score"])


def _dict(case: Case) -> Any:
    """Not of a run in which a document stands twice."""
    return None if case.repeats else {query: dict(own) for query, own in case.pairs() if own}


# Whatever `evaluate` takes as a run.
RUNS: dict[str, Callable[[Case, Path], Any]] = {
    "file": lambda case, folder: _file(case, folder, scattered=False),
    "scattered file": lambda case, folder: _file(case, folder, scattered=True),
    "frame": lambda case, _: _frame(case),
    "dict": lambda case, _: _dict(case),
}


def arrays_of(case: Case) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """What evaluate_arrays takes: judgments, ids and scores, and how they are to be read.

    Of numbers only; the rows have padding on both sides of the documents. Queries without results
    have no rows: a row without documents is an answer.
    """
    docs = {doc for own in (*case.judged, *map(dict, case.rankings)) for doc in own}
    if not all(doc.isdigit() and str(int(doc)) == doc for doc in docs):
        return []
    answered = [(query, own) for query, own in case.pairs() if own]
    shape = len(answered), max(map(len, case.rankings)) + 2
    ids, scores = np.full(shape, -1), np.full(shape, np.nan)
    for row, (_, own) in enumerate(answered):
        ids[row, 1 : len(own) + 1] = [int(doc) for doc, _ in own]
        scores[row, 1 : len(own) + 1] = [score for _, score in own]
    judged: Any = [{int(doc): grade for doc, grade in own.items()} for own in case.judged]
    named: Any = {"queries": None if case.queries[0] == "0" else case.queries}
    indexed, again = fr.index_qrels(judged, **named), {}
    if len(answered) < len(case.queries):
        judged = {query: own for query, own in zip(case.queries, judged, strict=True) if own}
        named = again = {"queries": [query for query, _ in answered]}
        indexed = fr.index_qrels(judged)
    found: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((judged, ids, scores), named),
        ((judged, ids, -scores), {**named, "higher_is_better": False}),
        ((indexed, ids, scores), again),
    ]
    places = [(len(own) - i, score) for own in case.rankings for i, (_, score) in enumerate(own)]
    if all(score == place for place, score in places):
        # Results of a search are in order without scores.
        found.append(((judged, ids, None), named))
    return found


# What trec_eval makes of them


def _group(grade: float | None) -> float:
    """Documents outside the judgments stand between grade 0 and negative grades."""
    return -0.5 if grade is None else grade


def left(case: Case, options: dict[str, Any]) -> dict[str, tuple[Ranking, Ranking]]:
    """The results of each query that are not excluded, and those of them that are not repeated."""
    exclude = {
        query.decode() if isinstance(query, bytes) else str(query): set(map(str, docs))
        for query, docs in options.get("exclude", {}).items()
    }
    found = {}
    for query, results in case.pairs():
        own = [(doc, score) for doc, score in results if doc not in exclude.get(query, ())]
        if options.get("ignore_identical_ids"):
            own = [(doc, score) for doc, score in own if doc != query]
        kept: dict[str, float] = {}
        for doc, score in own:
            best = max(score, kept.get(doc, score))
            kept[doc] = best if options.get("duplicates") == "max" else kept.get(doc, score)
        is_error = options.get("duplicates", "error") == "error"
        if results:
            found[query] = own, own if is_error else list(kept.items())
    return found


def ranked(case: Case, options: dict[str, Any]) -> dict[str, list[str]]:
    """The ranking of each query that has results."""
    judged = dict(zip(case.queries, case.judged, strict=True))
    return {
        query: _in_order(own, judged[query], options)[: options.get("depth")]
        for query, (_, own) in left(case, options).items()
    }


def judgments(case: Case, options: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The judgments of the queries that are not skipped, in byte order of their ids."""
    level = options.get("relevance_level", 1)
    found = {
        query: own
        for query, own in case.qrels().items()
        if options.get("no_relevant") != "skip" or max(own.values()) >= level
    }
    return {query: found[query] for query in sorted(found, key=_bytes)}


def _in_order(results: Ranking, judged: dict[str, float], options: dict[str, Any]) -> list[str]:
    """Documents by score; those with equal scores as `ties` says."""
    with np.errstate(over="ignore"):
        is_new = options.get("trec_eval_version") == "10.0"
        keys = [score if is_new else np.float32(score) for _, score in results]
    ties, order = options.get("ties", "docno_desc"), []
    pairs = sorted(zip(keys, results, strict=True), key=lambda pair: -pair[0])
    for _, tied in groupby(pairs, key=lambda pair: pair[0]):
        docs = [doc for _, (doc, _) in tied]
        if ties in ("docno_desc", "docno_asc"):
            docs.sort(key=_bytes)
            docs = docs[::-1] if ties == "docno_desc" else docs
        elif ties in ("best", "worst"):
            docs.sort(key=lambda doc: _group(judged.get(doc)), reverse=ties == "best")
        order += docs
    return order


def by_trec_eval(
    case: Case, rankings: dict[str, list[str]], measures: set[str], options: dict[str, Any]
) -> dict[str, dict[str, float]]:
    """What pytrec_eval gives the rankings of judged queries, nothing where nothing is retrieved."""
    judged = judgments(case, options)
    if options.get("missing") != "zero":
        judged = {query: own for query, own in judged.items() if query in rankings}
    # It stops at a query whose grades are all negative, and reads ids as UTF-8.
    negative = [query for query, own in judged.items() if max(own.values()) < 0]
    grades = {
        repr(query): {repr(doc): grade for doc, grade in own.items()}
        | ({"one more": 0} if query in negative else {})
        for query, own in judged.items()
    }
    run = {
        repr(query): {repr(doc): float(len(own) - place) for place, doc in enumerate(own)}
        for query, own in rankings.items()
        if own and query in judged
    }
    evaluator = pytrec_eval.RelevanceEvaluator(
        grades,
        measures,
        relevance_level=options.get("relevance_level", 1),
        judged_docs_only_flag=options.get("judged_only", False),
    )
    values = evaluator.evaluate(run)
    return {query: values.get(repr(query), {}) for query in judged}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
