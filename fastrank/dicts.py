"""Runs held as dicts, judged as they are: no loop over documents, no copy of their ids.

The scores are packed query by query by C code, and only the judged documents are looked up. What
cannot be done so makes the run be converted: the judging of runs in memory knows all cases.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from itertools import accumulate, chain, repeat

from fastrank.columns import decoded
from fastrank.errors import InputError
from fastrank.judge import PLACEHOLDER, JudgedRun, byte_order, room_for_judged
from fastrank.native import kernels
from fastrank.native.buffers import filled, zeros
from fastrank.nested import inner
from fastrank.objects import addresses, are_small, interpreter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

    from fastrank.columns import Qrels
    from fastrank.judge import JudgingOptions

    Results = dict[str, float]

# Scores packed before they are ranked: they stay in the processor's cache.
AT_ONCE = 1 << 15
# Rankings of about this length are packed one by one, shorter ones together.
LONG = 256
_NO_SCORE = repeat(float("nan"))


class DictJudge:
    """Judges runs of the form {query: {document: score}} by the same judgments and options.

    only: the one query to evaluate. with_absent: judged queries without results are evaluated too,
    with a placeholder document. stop_if_none_judged: leave to others, as trec_eval refuses it, a
    run whose first query has negative grades only. May be called from several threads.
    """

    def __init__(
        self,
        qrels: Qrels,
        options: JudgingOptions,
        *,
        only: bytes | None = None,
        with_absent: bool = False,
        stop_if_none_judged: bool = True,
    ) -> None:
        self._qrels, self._options, self._with_absent = qrels, options, with_absent
        self._places = options.places(stop_if_none_judged=stop_if_none_judged)
        order = byte_order(qrels)
        if only is not None:
            order = filled("q", [q for q in order if qrels.queries[q] == only])
        self._order = order
        self._ids = list(map(decoded, qrels.queries.take(order)))
        self._numbers = {query: number for number, query in enumerate(self._ids)}
        self._docs: list[tuple[str, ...]] = []
        grades: list[int] = []
        starts = []
        for query in order:
            # In the order of their grades, which have to be counted in that order.
            rows = sorted(
                range(qrels.offset_column[query], qrels.offset_column[query + 1]),
                key=qrels.grade_column.__getitem__,
            )
            starts.append(len(grades))
            self._docs.append(tuple(map(decoded, qrels.docs.take(rows))))
            grades += [qrels.grade_column[row] for row in rows]
        self._grade_starts, self._grades = array("q", starts), array("q", grades)
        # For kernels that look the documents up themselves; `_docs` holds them.
        self._doc_addresses = addresses(chain.from_iterable(self._docs))
        self._repeats = any(len(set(docs)) < len(docs) for docs in self._docs)

    def judge(self, run: Mapping[Any, Any]) -> JudgedRun | None:
        """Judge a run; None if it has to be converted. Raises InputError.

        A query with an empty dict has a ranking without documents.
        """
        if self._repeats or self._options.list_unjudged or not _are_texts(run):
            return None
        queries = sorted([self._numbers[query] for query in run if query in self._numbers])
        missing = len(self._order) - len(queries)
        absent: list[int] = []
        if self._with_absent:
            present = set(queries)
            queries = list(range(len(self._order)))
            absent = [number for number in queries if number not in present]
        ids = [self._ids[number] for number in queries]
        results = _results(run, ids)
        small = are_small(results)
        if not (small or all(map(_are_texts, results))):
            return None
        rankings = _Rankings(ids, results, [self._docs[number] for number in queries], self._places)
        if set(map(type, results)) <= {dict}:
            rankings.read_objects(
                array("q", queries), self._grade_starts, self._doc_addresses, checks_keys=not small
            )
        rankings.rank()
        judgments = array("q", [self._order[number] for number in queries])
        judged, columns = room_for_judged(
            self._qrels, judgments, rankings.hit_offsets[-1], self._options
        )
        most = max(map(len, rankings.docs), default=0)
        done = kernels.list_found(
            array("q", queries),
            self._grade_starts,
            self._grades,
            rankings.offsets,
            rankings.hit_offsets,
            rankings.ranks,
            self._places,
            *(zeros("q", most) for _ in range(3)),
            *columns,
        )
        if done < len(queries):
            return None
        return JudgedRun(
            queries=judgments, judged=judged, missing=missing, absent=absent, tag=b"",
            unknown=_encoded([query for query in run if query not in self._numbers], "a query"),
        )  # fmt: skip


def _results(run: Mapping[Any, Any], queries: list[str]) -> list[Results]:
    """The results of some queries; of those that the run lacks, a placeholder."""
    placeholder = {decoded(PLACEHOLDER): 1.0}
    results = [run.get(query, placeholder) for query in queries]
    if set(map(type, results)) <= {dict}:
        return results
    return [inner("run", query, own) for query, own in zip(queries, results, strict=True)]


class _Rankings:
    """The rankings of some queries, and where the judged documents stand in them.

    ranks: of all judged documents, query after query, 0 for one that was not retrieved.
    """

    def __init__(
        self, ids: list[str], results: list[Results], docs: list[tuple[str, ...]], places: Any
    ) -> None:
        self._ids, self._results, self.docs, self._places = ids, results, docs, places
        self.offsets = array("q", accumulate(map(len, results), initial=0))
        self.hit_offsets = array("q", accumulate(map(len, docs), initial=0))
        hits, widest = self.hit_offsets[-1], max(map(len, results), default=0)
        self.ranks, self._ties = zeros("q", hits), zeros("q", hits)
        self._hit_scores = zeros("d", hits)
        self._room = max(AT_ONCE, widest)
        self._scores = zeros("d", self._room)
        self._work = zeros("q", widest), zeros("q", widest), zeros("d", widest)
        self._read: Callable[[int, int], int] | None = None

    def read_objects(self, queries: Any, doc_starts: Any, docs: Any, *, checks_keys: bool) -> None:
        """Have scores that are floats read by a kernel, where it can; all results are dict itself.

        docs: the addresses of the judged documents, those of queries[i] from its start on.
        """
        api = interpreter.api()
        if api is None:
            return
        owners = addresses(self._results)

        def read(first: int, stop: int) -> int:
            found: int = kernels.read_scores(
                api, owners, checks_keys, self.offsets, first, stop, queries, doc_starts, docs,
                self.hit_offsets, self._work[0], self._scores, self._hit_scores,
            )  # fmt: skip
            return found

        self._read = read

    def rank(self) -> None:
        """Find the ranks. Raises InputError for a score that is no number."""
        first, last = 0, len(self.docs)
        while first < last:
            stop = bisect_right(self.offsets, self.offsets[first] + self._room) - 1
            try:
                if self._read is None or self._read(first, stop) < stop:
                    self._pack(first, stop)
            except (struct.error, TypeError, OverflowError) as error:
                raise self._refused_score(first, stop) from error
            self._rank_packed(first, stop)
            first = stop

    def _pack(self, first: int, stop: int) -> None:
        """Pack the scores of queries `first` to `stop` - 1, and those of their judged documents."""
        results, docs = self._results[first:stop], self.docs[first:stop]
        size, at = self.offsets[stop] - self.offsets[first], 0
        if size < LONG * len(results):
            scores = chain.from_iterable([ranking.values() for ranking in results])
            struct.pack_into(f"{size}d", self._scores, 0, *scores)
        else:
            for ranking in results:
                size = len(ranking)
                struct.pack_into(f"{size}d", self._scores, at, *ranking.values())
                at += 8 * size
        start, end = self.hit_offsets[first], self.hit_offsets[stop]
        looks_up: list[Any] = [ranking.get for ranking in results]
        mapped: Any = map
        found = chain.from_iterable(map(mapped, looks_up, docs, repeat(_NO_SCORE)))
        struct.pack_into(f"{end - start}d", self._hit_scores, 8 * start, *found)

    def _rank_packed(self, first: int, stop: int) -> None:
        """Rank what is packed, which are the scores of queries `first` to `stop` - 1."""
        rankings = (self._scores, self.offsets, first, stop, self._hit_scores, self.hit_offsets)
        to_list = kernels.rank_found(*rankings, self._places, *self._work, self.ranks, self._ties)
        if to_list < 0:
            place = -1 - to_list
            query = bisect_right(self.offsets, place) - 1
            doc = list(self._results[query])[place - self.offsets[query]]
            raise _no_number(self._ids[query], doc, float("nan"))
        if to_list > 0:
            places = zeros("q", to_list)
            kernels.list_tied(*rankings, self._ties, places)
            self._break_ties(first, stop, places)

    def _break_ties(self, first: int, stop: int, places: Any) -> None:
        """Among equal scores the document whose id sorts later, by its bytes, ranks first."""
        at = 0
        for i in range(first, stop):
            start = self.hit_offsets[i]
            ties = self._ties[start : self.hit_offsets[i + 1]].tolist()
            if not any(ties):
                continue
            docs, groups = list(self._results[i]), {}
            for hit, tied in enumerate(ties, start):
                if tied == 0:
                    continue
                score = self._hit_scores[hit]
                if tied > 0:
                    group = [docs[place] for place in places[at : at + tied]]
                    groups[score] = _in_byte_order(group, self._ids[i])
                    at += tied
                ascending, key = groups[score]
                own = key(self.docs[i][hit - start])
                self.ranks[hit] += len(ascending) - bisect_right(ascending, own)

    def _refused_score(self, first: int, stop: int) -> InputError:
        """What is wrong with the first score of these queries that is no number."""
        for query in range(first, stop):
            for doc, score in self._results[query].items():
                try:
                    struct.pack_into("d", bytearray(8), 0, score)
                except (struct.error, TypeError, OverflowError):
                    return _no_number(self._ids[query], doc, score)
        raise AssertionError("no score is refused alone")


def _no_number(query: str, doc: Any, score: Any) -> InputError:
    # In the words of the conversion, which refuses the same where it takes over.
    found = "NaN" if score != score else f"{type(score).__name__}: {score!r:.60}"
    place = f"query {query!r:.60}, document {doc!r:.60}"
    return InputError("run", f"{place}: expected a score, found {found}")


def _are_texts(ids: Any) -> bool:
    return all(issubclass(kind, str) for kind in set(map(type, ids)))


def _in_byte_order(docs: list[str], query: str) -> tuple[list[Any], Any]:
    """Documents by the bytes of their ids, and what to compare with them."""
    try:
        "".join(docs).encode()
        return sorted(docs), str
    except UnicodeEncodeError:
        # Code points are ordered as their UTF-8 is, but for those that stand for stray bytes.
        place = f"query {query!r:.60}, a document"
        return sorted(_encoded(docs, place)), lambda doc: _encoded([doc], place)[0]


def _encoded(ids: list[str], place: str) -> list[bytes]:
    """Ids as bytes. Raises InputError."""
    from fastrank.convert.ids import encoded_id

    def fail(reason: str) -> NoReturn:
        raise InputError("run", f"{place}: {reason}")

    return [encoded_id(own, fail) for own in ids]
