"""Mined instances, and the records of training programs made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple, overload

from fastrank.common.arguments import at_least, check_choice
from fastrank.common.messages import counted
from fastrank.core.data.columns import Frozen
from fastrank.core.data.texts import decoded
from fastrank.core.formats.files import files
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.texts.lookup import lookup
from fastrank.core.formats.texts.text_files import joined
from fastrank.core.formats.tools.candidates import Candidates
from fastrank.errors import OptionError
from fastrank.vectors.datasets.answers import answers_of
from fastrank.vectors.datasets.pairs import DUPLICATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from fastrank.common.choices import RepeatedTexts
    from fastrank.core.formats.files.files import Source
    from fastrank.core.formats.run import Run
    from fastrank.core.formats.texts.lookup import Lookup


FORMATS = ("dpr", "triplet", "n-tuple", "flagembedding")
# Suffixes of files with a JSON list instead of lines.
LISTS = (".json", ".json.gz", ".json.bz2", ".json.xz", ".json.zst")


def _distinct(docs: list[str]) -> list[str]:
    """The same ids, with the number of a copy behind those that came before."""
    names, copies = set(docs), dict[str, int]()
    distinct = []
    for doc in docs:
        copies[doc] = copy = copies.get(doc, 0) + 1
        name = doc if copy == 1 else f"{doc}#{copy}"
        while copy > 1 and name in names:
            name += "#"
        names.add(name)
        distinct.append(name)
    return distinct


class Instance(NamedTuple):
    """The positives and negatives of one query.

    positives: its relevant documents, by descending grade, then in the order of the judgments.
    positive_scores: the score of each in the run, None if it was not retrieved. negatives,
    negative_scores: the mined documents and their scores, best first, or in the order in which they
    were drawn. random_negatives: documents drawn from the corpus.

    >>> run = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7}}
    >>> found = fr.hard_negatives({"q1": {"d2": 1}}, run, 2)[0]
    >>> found.query, found.positives, found.negatives, found.negative_scores
    ('q1', ['d2'], ['d1', 'd3'], [0.9, 0.7])
    """

    query: str
    positives: list[str]
    negatives: list[str]
    positive_scores: list[float | None]
    negative_scores: list[float]
    random_negatives: list[str]

    @property
    def all_negatives(self) -> list[str]:
        """The mined negatives, then the random ones."""
        return [*self.negatives, *self.random_negatives]


class HardNegatives(Frozen):
    """Positives and mined negatives of queries: a sequence of `Instance`, by id of the query.

    number: the requested number of negatives per query, random ones included. counts:

    queries: instances, one for each query with results and a relevant document.
    negatives: all mined negatives. random_negatives: all that were drawn from the corpus.
    too_few: instances with fewer negatives than requested.
    no_negatives: instances without negatives. no_positive_retrieved: those of them for which no
        relevant document was retrieved, so that a margin could not be applied.
    missing_queries: judged queries with a relevant document, but without results.
        no_relevant_queries: judged queries without a relevant document. unjudged_queries: queries
        of the run without judgments.
    excluded: documents removed before ranking (exclude, ignore_identical_ids).

    >>> run = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7}}
    >>> fr.hard_negatives({"q1": {"d2": 1}}, run, 2)
    <HardNegatives: 1 query, 2 negatives>
    """

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
    retrieved: memoryview
    selected: memoryview
    # Per instance: the random negatives.
    drawn: list[list[str]] | None = None

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, i: int) -> Instance: ...

    @overload
    def __getitem__(self, i: slice) -> list[Instance]: ...

    def __getitem__(self, i: int | slice) -> Instance | list[Instance]:
        if isinstance(i, slice):
            return [self[j] for j in range(len(self))[i]]
        query, first = self.places[i]
        docs, grades, retrieved = self.qrels.docs, self.qrels.grade_column, self.retrieved
        offsets, scores = self.qrels.offset_column, self.run.score_column
        relevant = [
            row for row in range(offsets[query], offsets[query + 1]) if grades[row] >= self.level
        ]
        relevant.sort(key=lambda row: -grades[row])
        rows = list(self.selected[first : first + self.mined[i]])
        return Instance(
            decoded(self.qrels.queries[query]),
            [decoded(doc) for doc in docs.take(relevant)],
            [decoded(doc) for doc in self.run.docs.take(rows)],
            [scores[retrieved[row] - 1] if retrieved[row] else None for row in relevant],
            [scores[row] for row in rows],
            [] if self.drawn is None else list(self.drawn[i]),
        )

    def __iter__(self) -> Iterator[Instance]:
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        negatives = counted(self.counts["negatives"], "negative")
        drawn = counted(self.counts["random_negatives"], "random negative")
        more = f", {drawn}" if self.drawn is not None else ""
        return f"<HardNegatives: {counted(len(self), 'query', 'queries')}, {negatives}{more}>"

    @property
    def too_few(self) -> list[str]:
        """The ids of the queries with fewer negatives than requested.

        >>> fr.hard_negatives({"q1": {"d2": 1}}, {"q1": {"d1": 0.9, "d2": 0.8}}, 2).too_few
        ['q1']
        """
        queries, drawn = self.qrels.queries, self.drawn or [[]] * len(self)
        return [
            decoded(queries[query])
            for (query, _), mined, random in zip(self.places, self.mined, drawn, strict=True)
            if mined + len(random) < self.number
        ]

    def in_batch(
        self,
        batch_size: int,
        *,
        duplicates: RepeatedTexts = "keep",
        corpus: object = None,
        queries: object = None,
    ) -> Candidates:
        """Candidates with in-batch negatives, as DPR and others train and validate with.

        Each batch has `batch_size` instances, in their order; the last may have fewer. Each query
        gets the first positive and all negatives of every instance of its batch. Its own positive
        has the label 1, everything else 0. The `negative_log_likelihood` of a model's scores is the
        training loss, and `Success@1` with ties="given" the share of correct predictions: copies
        have equal scores, and torch.max takes the first.

        duplicates: "keep" for the loss of DPR (BiEncoderNllLoss), which counts a document as often
            as the batch has it, also other relevant documents of a query, as not relevant; such
            copies have ids as "d3#2". With "merge", a document is a candidate only once, and other
            relevant documents are left out.
        corpus, queries: texts, as in `write`.

        >>> qrels, run = {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d3": 0.9}, "q2": {"d3": 0.8}}
        >>> mined = fr.hard_negatives(qrels, run, 1)
        >>> found = mined.in_batch(2)
        >>> found.qrels.to_dict()["q1"]
        {'d1': 1, 'd3': 0, 'd2': 0, 'd3#2': 0}
        >>> losses = fr.negative_log_likelihood(found.qrels, found.run([2, 1, 0, 1, 0, 1, 2, 1]))
        >>> print(losses)
        NLL  0.6265
        >>> mined.in_batch(2, duplicates="merge").qrels.to_dict()["q2"]
        {'d1': 0, 'd3': 0, 'd2': 1}
        """
        size = at_least("batch_size", batch_size, 1)
        check_choice("duplicates", duplicates, DUPLICATES)
        judged: dict[str, dict[str, int]] = {}
        originals: dict[str, str] = {}
        for start in range(0, len(self), size):
            batch = self[start : start + size]
            together: list[str] = []
            own_columns = []
            for instance in batch:
                own_columns.append(len(together))
                together += (instance.positives[0], *instance.all_negatives)
            columns = _distinct(together)
            originals |= dict(zip(columns, together, strict=True))
            for instance, own_column in zip(batch, own_columns, strict=True):
                first, *others = instance.positives
                judged[instance.query] = (
                    {doc: int(column == own_column) for column, doc in enumerate(columns)}
                    if duplicates == "keep"
                    else {doc: int(doc == first) for doc in together if doc not in others}
                )
        asked = [query for query, grades in judged.items() for _ in grades]
        docs = [doc for grades in judged.values() for doc in grades]
        question, text = (
            None if source is None else lookup(source, role)
            for source, role in ((queries, "queries"), (corpus, "corpus"))
        )
        return Candidates(
            source=self.run.source,
            queries=asked,
            docs=docs,
            qrels=Qrels.from_dict(judged),
            question_texts=None
            if question is None
            else [joined(*question(query)) for query in asked],
            texts=None if text is None else [joined(*text(originals[doc])) for doc in docs],
        )

    def records(
        self,
        format: str = "dpr",
        *,
        corpus: object = None,
        queries: object = None,
        answers: Mapping[Any, Iterable[str]] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """The instances as records; see `write` for the arguments.

        >>> mined = fr.hard_negatives({"q1": {"d2": 1}}, {"q1": {"d1": 0.9, "d2": 0.8}}, 1)
        >>> list(mined.records("triplet"))
        [{'anchor': 'q1', 'positive': 'd2', 'negative': 'd1'}]
        """
        check_choice("format", format, FORMATS)
        if answers is not None and format != "dpr":
            raise OptionError("answers", f"expected format='dpr' with answers, found {format!r}")
        docs = None if corpus is None else lookup(corpus, "corpus")
        questions = None if queries is None else lookup(queries, "queries")
        if format != "dpr":
            return _records(self, format, _text(docs), _text(questions))
        source = getattr(queries, "answers", None) if answers is None else answers
        return _dpr_records(self, docs, questions, {} if source is None else answers_of(source))

    def write(
        self,
        path: Source,
        format: str = "dpr",
        *,
        corpus: object = None,
        queries: object = None,
        answers: Mapping[Any, Iterable[str]] | None = None,
    ) -> int:
        """Write the instances as JSON lines; returns the number of records.

        path: compressed if its name ends in .gz, .bz2, .xz or .zst; a JSON list instead of lines if
            it ends in .json (.json.gz, ...), as DPR's training expects. Written atomically.
        format: "dpr": an object for each query, {question, question_id, answers, positive_ctxs,
            negative_ctxs, hard_negative_ctxs}; a context is {title, text, score, passage_id},
            without score if it was not retrieved. "triplet": {anchor, positive,
            negative} for each positive with each negative. "n-tuple": {anchor, positive,
            negative_1, ..., negative_n} for each positive of the queries that have all n
            negatives. sentence-transformers trains with these two and ignores column names.
            "flagembedding": {query, pos, neg} for each query, with lists of texts; a query without
            negatives has an empty list. Random negatives follow the mined ones, in DPR's objects
            as negative_ctxs.
        corpus, queries: the texts by id: mappings, or data sets that have them (corpus_ids and
            corpus, query_ids and queries). A document is a str or {"title": ..., "text": ...}.
            Without texts, triplets and tuples contain ids, and DPR's objects have no question,
            title and text.
        answers: short answers by query id, for DPR; by default those of the data set `queries`.

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
        records = self.records(format, corpus=corpus, queries=queries, answers=answers)
        name = files.name_of(path)
        as_list = name.lower().endswith(LISTS)
        count = 0

        def pieces() -> Iterator[bytes]:
            nonlocal count
            for record in records:
                before = "" if not as_list else ",\n" if count else "[\n"
                count += 1
                yield (before + json.dumps(record) + ("" if as_list else "\n")).encode()
            if as_list:
                yield b"\n]\n" if count else b"[]\n"

        files.write_compressed(path, pieces())
        return count


def _dpr_records(
    mined: HardNegatives,
    docs: Lookup | None,
    questions: Lookup | None,
    answers: Mapping[str, list[str]],
) -> Iterator[dict[str, object]]:
    for instance in mined:
        asked = {} if questions is None else {"question": joined(*questions(instance.query))}
        yield {
            **asked,
            "question_id": instance.query,
            "answers": answers.get(instance.query, []),
            "positive_ctxs": _contexts(instance.positives, instance.positive_scores, docs),
            "negative_ctxs": _contexts(
                instance.random_negatives, [None] * len(instance.random_negatives), docs
            ),
            "hard_negative_ctxs": _contexts(instance.negatives, instance.negative_scores, docs),
        }


def _contexts(
    ids: Iterable[str], scores: Iterable[float | None], docs: Lookup | None
) -> list[dict[str, object]]:
    contexts = []
    for doc_id, score in zip(ids, scores, strict=True):
        context: dict[str, object] = {}
        if docs is not None:
            context["title"], context["text"] = docs(doc_id)
        if score is not None:
            # JSON cannot represent infinity.
            context["score"] = score if isfinite(score) else None
        contexts.append({**context, "passage_id": doc_id})
    return contexts


def _text(find: Lookup | None) -> Callable[[str], str]:
    """The text of an id, or the id itself without texts."""
    return (lambda text_id: text_id) if find is None else lambda text_id: joined(*find(text_id))


def _records(
    mined: HardNegatives, format: str, doc: Callable[[str], str], query: Callable[[str], str]
) -> Iterator[dict[str, Any]]:
    for instance in mined:
        count = len(instance.all_negatives)
        is_list = format == "flagembedding"
        if not is_list and (not count or (format == "n-tuple" and count < mined.number)):
            continue
        anchor = query(instance.query)
        negatives = [doc(negative) for negative in instance.all_negatives]
        positives = [doc(positive) for positive in instance.positives]
        if is_list:
            yield {"query": anchor, "pos": positives, "neg": negatives}
            continue
        for positive in positives:
            pair = {"anchor": anchor, "positive": positive}
            if format == "n-tuple":
                yield {**pair, **{f"negative_{i}": text for i, text in enumerate(negatives, 1)}}
            else:
                yield from ({**pair, "negative": text} for text in negatives)
