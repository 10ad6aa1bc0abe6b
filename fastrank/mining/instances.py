"""Mined instances for training."""

from __future__ import annotations

from typing import NamedTuple, overload

from fastrank.data.columns import Frozen
from fastrank.data.texts import decoded
from fastrank.plurals import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.formats.files import Source


class Instance(NamedTuple):
    """The positives and negatives of one query.

    positives: its relevant documents, by descending grade, then in the order of the judgments.
    positive_scores: the score of each in the run, None if it was not retrieved. negatives,
    negative_scores: the mined documents and their scores, best first.
    """

    query: str
    positives: list[str]
    negatives: list[str]
    positive_scores: list[float | None]
    negative_scores: list[float]


class HardNegatives(Frozen):
    """Positives and mined negatives of queries: a sequence of `Instance`, by id of the query.

    number: the requested number of negatives per query. counts:

    queries: instances, one for each query with results and a relevant document.
    negatives: all mined negatives. too_few: instances with fewer negatives than requested.
    no_negatives: instances without negatives. no_positive_retrieved: those of them for which no
        relevant document was retrieved, so that a margin could not be applied.
    missing_queries: judged queries with a relevant document, but without results.
        no_relevant_queries: judged queries without a relevant document. unjudged_queries: queries
        of the run without judgments.
    excluded: documents removed before ranking (exclude, ignore_identical_ids).

    >>> run = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7}}
    >>> mined = fr.hard_negatives({"q1": {"d2": 1}}, run, 2)
    >>> mined
    <HardNegatives: 1 query, 2 negatives>
    >>> mined[0].query, mined[0].positives, mined[0].negatives, mined[0].negative_scores
    ('q1', ['d2'], ['d1', 'd3'], [0.9, 0.7])
    """

    __slots__ = (
        "counts",
        "level",
        "mined",
        "number",
        "places",
        "qrels",
        "retrieved",
        "run",
        "selected",
    )  # fmt: skip
    made_by = "fastrank.hard_negatives"

    counts: dict[str, int]
    number: int
    level: int
    qrels: Qrels
    run: Run
    # Per instance: the query's place in the judgments, the run's first row, and how many were
    # mined. Per judgment 1 + the run's row that retrieved it, or 0; per ranking the rows mined.
    places: list[tuple[int, int]]
    mined: list[int]
    retrieved: Any
    selected: Any

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, i: int) -> Instance: ...

    @overload
    def __getitem__(self, i: slice) -> list[Instance]: ...

    def __getitem__(self, i: int | slice) -> Instance | list[Instance]:
        if isinstance(i, slice):
            return [self[j] for j in range(len(self))[i]]
        place, first = self.places[i]
        docs, grades, retrieved = self.qrels.docs, self.qrels.grade_column, self.retrieved
        offsets, scores = self.qrels.offset_column, self.run.score_column
        relevant = [
            row for row in range(offsets[place], offsets[place + 1]) if grades[row] >= self.level
        ]
        relevant.sort(key=lambda row: -grades[row])
        rows = list(self.selected[first : first + self.mined[i]])
        return Instance(
            decoded(self.qrels.queries[place]),
            [decoded(doc) for doc in docs.take(relevant)],
            [decoded(doc) for doc in self.run.docs.take(rows)],
            [scores[retrieved[row] - 1] if retrieved[row] else None for row in relevant],
            [scores[row] for row in rows],
        )

    def __iter__(self) -> Iterator[Instance]:
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        negatives = counted(self.counts["negatives"], "negative")
        return f"<HardNegatives: {counted(len(self), 'query', 'queries')}, {negatives}>"

    @property
    def too_few(self) -> list[str]:
        """The ids of the queries with fewer negatives than requested.

        >>> fr.hard_negatives({"q1": {"d2": 1}}, {"q1": {"d1": 0.9, "d2": 0.8}}, 2).too_few
        ['q1']
        """
        queries = self.qrels.queries
        return [
            decoded(queries[place])
            for (place, _), mined in zip(self.places, self.mined, strict=True)
            if mined < self.number
        ]

    def records(
        self,
        format: str = "dpr",
        *,
        corpus: Any = None,
        queries: Any = None,
        answers: Mapping[Any, Iterable[str]] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """The instances as records; see `write` for the arguments.

        >>> mined = fr.hard_negatives({"q1": {"d2": 1}}, {"q1": {"d1": 0.9, "d2": 0.8}}, 1)
        >>> list(mined.records("triplet"))
        [{'anchor': 'q1', 'positive': 'd2', 'negative': 'd1'}]
        """
        from fastrank.mining.formats import records

        return records(self, format, corpus=corpus, queries=queries, answers=answers)

    def write(
        self,
        path: Source,
        format: str = "dpr",
        *,
        corpus: Any = None,
        queries: Any = None,
        answers: Mapping[Any, Iterable[str]] | None = None,
    ) -> int:
        """Write the instances as JSON lines; returns the number of records.

        path: compressed if its name ends in .gz, .bz2, .xz or .zst; a JSON list instead of lines if
            it ends in .json (.json.gz, ...), as DPR's training expects. Written atomically.
        format: "dpr": an object for each query, {question, question_id, answers, positive_ctxs,
            negative_ctxs (empty), hard_negative_ctxs}; a context is {title, text, score,
            passage_id}, without score if it was not retrieved. "triplet": {anchor, positive,
            negative} for each positive with each negative. "n-tuple": {anchor, positive,
            negative_1, ..., negative_n} for each positive of the queries that have all n
            negatives. sentence-transformers trains with the last two and ignores column names.
        corpus, queries: the texts by id: mappings, or data sets that have them (corpus_ids and
            corpus, query_ids and queries). A document is a str or {"title": ..., "text": ...}.
            Without texts, triplets and tuples contain ids, and DPR's objects have no question,
            title and text.
        answers: short answers by query id, for DPR.

        Raises InputError for a missing or invalid text, OptionError for another format.

        >>> import io
        >>> file = io.BytesIO()
        >>> mined = fr.hard_negatives({"q1": {"d2": 1}}, {"q1": {"d1": 0.9, "d2": 0.8}}, 1)
        >>> texts = {"d1": "A lake.", "d2": {"title": "Rivers", "text": "A river."}}
        >>> mined.write(file, "n-tuple", corpus=texts, queries={"q1": "What flows?"})
        1
        >>> print(file.getvalue().decode(), end="")
        {"anchor": "What flows?", "positive": "Rivers A river.", "negative_1": "A lake."}
        """
        from fastrank.mining.formats import write

        return write(path, self.records(format, corpus=corpus, queries=queries, answers=answers))
