"""Where judged documents stand in rankings that are dicts: no copy of their ids.

The scores are read by a kernel, or packed query by query by C code of Python's, and only the judged
documents are looked up.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from itertools import accumulate, chain, repeat

from fastrank.errors import InputError
from fastrank.formats.dicts import documents_of
from fastrank.judging.scratch import ranking_scratch
from fastrank.native import kernels, records
from fastrank.native.buffers import zeros
from fastrank.native.objects import addresses, are_small, interpreter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from fastrank.judging.dicts import Judgments

    Results = dict[str, float]

# Scores packed before they are ranked: they stay in the processor's cache.
AT_ONCE = 1 << 15
# Rankings of about this length are packed one by one, shorter ones together.
LONG = 256
_NO_SCORE = repeat(float("nan"))


class Rankings:
    """The rankings of some queries, and where the judged documents stand in them.

    results: those of each query, by its number. ranks: of all judged documents, query after query,
    0 for one that was not retrieved.
    """

    def __init__(
        self, queries: list[int], results: dict[Any, Any], judgments: Judgments, places: Any
    ) -> None:
        self.queries, self._judgments, self._places = array("q", queries), judgments, places
        self._results = _as_dicts(queries, results, judgments.ids)
        self._lengths = list(map(len, self._results))
        self.offsets = array("q", accumulate(self._lengths, initial=0))
        hits = map(judgments.counts.__getitem__, queries)
        self.hit_offsets = array("q", accumulate(hits, initial=0))
        widest = max(self._lengths, default=0)
        self.ranks, self._ties = (zeros("q", self.hit_offsets[-1]) for _ in range(2))
        self._room = max(AT_ONCE, widest)
        self._scores, self._hit_scores = zeros("d", self._room), zeros("d", self.hit_offsets[-1])
        self._packed = records.PackedScores(
            scores=self._scores, offsets=self.offsets, hit_scores=self._hit_scores,
            hit_offsets=self.hit_offsets,
        )  # fmt: skip
        self._scratch = ranking_scratch(widest)
        self._small = are_small(self._results, self._lengths)
        plain = set(map(type, self._results)) <= {dict}
        self._api = interpreter.api() if plain else None
        self._addresses = addresses(self._results)

    @property
    def columns(self) -> records.RankedHits:
        """The ranks as kernels take them."""
        return records.RankedHits(
            queries=self.queries, offsets=self.offsets, hit_offsets=self.hit_offsets,
            ranks=self.ranks,
        )  # fmt: skip

    @property
    def have_texts(self) -> bool:
        """Whether all documents have ids of text."""
        return self._small or all(map(are_texts, self._results))

    def rank(self) -> None:
        """Find the ranks. Raises InputError for a score that is no number."""
        first, last = 0, len(self.queries)
        while first < last:
            stop = bisect_right(self.offsets, self.offsets[first] + self._room) - 1
            try:
                if not self._read(first, stop):
                    self._pack(first, stop)
            except (struct.error, TypeError, OverflowError) as error:
                raise self._refused_score(first, stop) from error
            self._rank_packed(first, stop)
            first = stop

    def _read(self, first: int, stop: int) -> bool:
        """Do as `_pack` by a kernel, if it can: all scores are floats."""
        if self._api is None:
            return False
        rankings = records.DictRankings(
            dicts=self._addresses, check_keys=not self._small, queries=self.queries,
            doc_starts=self._judgments.starts, docs=self._judgments.doc_addresses,
        )  # fmt: skip
        found: int = kernels.read_scores(
            self._api, rankings, first, stop, self._scratch.order, self._packed
        )
        return found == stop

    def _pack(self, first: int, stop: int) -> None:
        """Pack the scores of queries `first` to `stop` - 1, and those of their judged documents."""
        results = self._results[first:stop]
        docs = map(self._judgments.docs.__getitem__, self.queries[first:stop])
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
        # Python's code may have run meanwhile: a number's own, and that of other threads.
        if list(map(len, results)) != self._lengths[first:stop]:
            raise self._changed(first, stop)

    def _rank_packed(self, first: int, stop: int) -> None:
        """Rank what is packed, which are the scores of queries `first` to `stop` - 1."""
        to_list = kernels.rank_found(
            self._packed, first, stop, self._places, self._scratch, self.ranks, self._ties
        )
        if to_list < 0:
            place = -1 - to_list
            query = bisect_right(self.offsets, place) - 1
            doc = list(self._results[query])[place - self.offsets[query]]
            raise _no_number(self._id(query), doc, float("nan"))
        if to_list > 0:
            places = zeros("q", to_list)
            kernels.list_tied(self._packed, first, stop, self._ties, places)
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
                    groups[score] = _in_byte_order(group, self._id(i))
                    at += tied
                ascending, key = groups[score]
                own = key(self._judgments.docs[self.queries[i]][hit - start])
                self.ranks[hit] += len(ascending) - bisect_right(ascending, own)

    def _refused_score(self, first: int, stop: int) -> InputError:
        """What is wrong with the first score of these queries that is no number."""
        for query in range(first, stop):
            for doc, score in list(self._results[query].items()):
                try:
                    struct.pack_into("d", bytearray(8), 0, score)
                except (struct.error, TypeError, OverflowError):
                    return _no_number(self._id(query), doc, score)
        # Each can be packed, but not as many as there were: some have come or gone meanwhile.
        return self._changed(first, stop)

    def _changed(self, first: int, stop: int) -> InputError:
        queries = f"queries {self._id(first)!r:.60} to {self._id(stop - 1)!r:.60}"
        return InputError("run", f"{queries}: a dict has changed while it was read")

    def _id(self, i: int) -> str:
        return self._judgments.ids[self.queries[i]]


def _as_dicts(queries: list[int], results: dict[Any, Any], ids: list[str]) -> list[Results]:
    """The results of some queries as dicts. Raises InputError."""
    found = list(map(results.__getitem__, queries))
    if set(map(type, found)) <= {dict}:
        return found
    return [documents_of("run", ids[query], own) for query, own in zip(queries, found, strict=True)]


def _no_number(query: str, doc: Any, score: Any) -> InputError:
    # In the words of the conversion, which refuses the same where it takes over.
    found = "NaN" if score != score else f"{type(score).__name__}: {score!r:.60}"
    place = f"query {query!r:.60}, document {doc!r:.60}"
    return InputError("run", f"{place}: expected a score, found {found}")


def are_texts(ids: Any) -> bool:
    """Whether all ids are of type str or of a kind of it."""
    return all(issubclass(kind, str) for kind in set(map(type, ids)))


def _in_byte_order(docs: list[str], query: str) -> tuple[list[Any], Any]:
    """Documents by the bytes of their ids, and what to compare with them."""
    try:
        "".join(docs).encode()
        return sorted(docs), str
    except UnicodeEncodeError:
        # Code points are ordered as their UTF-8 is, but for those that stand for stray bytes.
        place = f"query {query!r:.60}, a document"
        return sorted(encoded(docs, place)), lambda doc: encoded([doc], place)[0]


def encoded(ids: list[str], place: str) -> list[bytes]:
    """Ids as bytes. Raises InputError."""
    from fastrank.formats.ids import encoded_id

    def fail(reason: str) -> NoReturn:
        raise InputError("run", f"{place}: {reason}")

    return [encoded_id(own, fail) for own in ids]
