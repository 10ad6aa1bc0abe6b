"""Embeddings in, metrics out: each batch is judged as it is found, without a run in memory."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_COMPAT
from fastrank.data.qrels import Qrels
from fastrank.errors import EvaluationError, InputError, NoQueriesError, OptionError
from fastrank.evaluation.scoring import score_run
from fastrank.formats import files
from fastrank.formats.accept import as_qrels
from fastrank.formats.compression import packed
from fastrank.formats.rows import tag_of
from fastrank.judging.batches import BatchJudge
from fastrank.judging.needs import first_impossible
from fastrank.judging.queries import choose_queries, evaluates_missing, missing_queries
from fastrank.judging.request import Asked
from fastrank.search.batches import check_before_building, search_batches
from fastrank.search.indexing import Index, build_index
from fastrank.search.names import names_of
from fastrank.search.runs import SOURCE, check_writable, run_lines
from fastrank.search.vectors import check_dimension, open_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    import numpy.typing as npt

    from fastrank.formats.files import Source
    from fastrank.scores.scores import Scores

    Array = npt.NDArray[Any]


def evaluate_embeddings(
    queries: Any,
    corpus: Any,
    qrels: Any,
    measures: str | Iterable[str] = "official",
    *,
    k: int = 1000,
    metric: str | None = None,
    factory: str = "Flat",
    query_ids: Any = None,
    corpus_ids: Any = None,
    parameters: str | Mapping[str, Any] | None = None,
    exclude_self: bool = False,
    exclude: Mapping[Any, Iterable[Any]] | None = None,
    batch_size: int = 1024,
    train_size: int | None = None,
    run: Source | None = None,
    tag: str = "fastrank",
    gpu: bool = False,
    progress: bool | None = None,
    relevance_level: float = 1,
    missing: str | None = None,
    no_relevant: str = "zero",
    depth: int | None = None,
    complete: bool = False,
    judged_only: bool = False,
    max_retrieved: int | None = None,
    collection_size: int = 0,
    compat: str = DEFAULT_COMPAT,
) -> Scores:
    """Search for the queries and evaluate what is found, batch by batch.

    queries, corpus: vectors as `fastrank.search.build_index` takes them; corpus may be an Index.
    qrels: judgments as `evaluate` takes them, by the ids of queries and documents.
    measures: as `evaluate` takes them.
    k: how deep to search.
    metric: "ip" (the default), "l2" or "cosine"; an Index has its own.
    factory: "Flat" compares every query with every vector; others are indexes to build, see
        `fastrank.search.build_index`, trained with `train_size` vectors.
    query_ids, corpus_ids: the ids of the vectors, else the numbers of their rows.
    parameters, exclude_self, exclude, batch_size, gpu, progress: as `fastrank.search.search` takes
        them.
    run: a path to which the run is written too, with the name `tag`: in TREC's format, compressed
        if the name says so, and complete or not at all.
    relevance_level, missing, no_relevant, depth, complete, judged_only, max_retrieved,
        collection_size, compat: as `evaluate` takes them.

    The values are those of `evaluate` for the run that `fastrank.search.search` gives: of equal
    scores the document comes first whose id sorts later. `Scores.counts` has `removed`, the
    excluded documents that stood above the end of a ranking, and `cut`, the rankings that end
    between documents with equal scores, so that it is faiss's choice which of them are in it. In
    memory are a batch of rankings, the judgments, and of each ranking the judged documents. Without
    `run` the queries that have no judgments are not searched for.

    Raises what `fastrank.search.search` and `evaluate` raise; what is wrong with ids, judgments,
    measures and options is found before the search.

    >>> corpus = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]
    >>> found = fr.evaluate_embeddings(
    ...     [[1.0, 0.1]], corpus, {"q1": {"d3": 1}}, "recip_rank P.1", k=2,
    ...     query_ids=["q1"], corpus_ids=["d1", "d2", "d3"],
    ... )
    >>> found.mean
    {'recip_rank': 0.5, 'P_1': 0.0}
    >>> found.counts["retrieved"], found.counts["removed"], found.counts["cut"]
    (2, 0, 0)
    """
    asked = Asked(
        measures,
        relevance_level=relevance_level,
        missing=missing,
        depth=depth,
        complete=complete,
        judged_only=judged_only,
        max_retrieved=max_retrieved,
        collection_size=collection_size,
        compat=compat,
        no_relevant=no_relevant,
    )
    label = tag_of(tag, SOURCE)
    given = as_qrels(qrels, compat=compat)
    judgments, left_out = choose_queries(given, asked.options)
    if not isinstance(judgments, Qrels):
        raise InputError(given.source, "expected judgments of documents, found preferences")
    _refuse_impossible(judgments, asked)
    vectors = open_vectors("queries", queries)
    names = names_of("query_ids", query_ids, vectors.count)
    if isinstance(corpus, Index):
        if factory != "Flat":
            raise OptionError("factory", f"an Index is built already, found {factory!r}")
        if train_size is not None:
            raise OptionError("train_size", "an Index is built already, and trained")
        if corpus_ids is not None:
            raise OptionError("corpus_ids", "an Index has the ids of its vectors already")
        documents = corpus.names
    else:
        corpus = open_vectors("corpus", corpus)
        documents = corpus_ids = names_of("corpus_ids", corpus_ids, corpus.count)
    judge = BatchJudge(
        judgments, asked.bound, asked.options, corpus=documents, queries=names, tag=label
    )
    only = None
    if judge.places is not None:
        only = _searched(judge.places, judgments, asked, everything=run is not None)
    if run is not None:
        check_writable(run, documents, names, label)
    if not isinstance(corpus, Index) and factory != "Flat":
        check_dimension(vectors, corpus.dimension)
        check_before_building(
            factory, corpus.dimension, metric, k=k, batch_size=batch_size, parameters=parameters
        )
        vectors.check(unit=metric == "cosine", picked=only)
        corpus = build_index(
            corpus, factory, metric or "ip", corpus_ids, train_size, gpu=gpu, progress=progress
        )
    batches = search_batches(
        corpus, vectors, k, batch_size=batch_size, metric=metric,
        ids=None if isinstance(corpus, Index) else corpus_ids, query_ids=names,
        parameters=parameters, exclude_self=exclude_self, exclude=exclude, gpu=gpu,
        progress=progress, only=only,
    )  # fmt: skip
    if run is not None:
        lines = run_lines(batches, label, judge.add)
        files.write(run, packed(lines, files.name_of(run)))
        batches = iter(())
    return score_run(judge, batches, asked.bound, asked.options, left_out=left_out)


def _refuse_impossible(judgments: Qrels, asked: Asked) -> None:
    """Raise before the search what evaluation would raise after it."""
    impossible = first_impossible(asked.bound, asked.options)
    if impossible is not None:
        place, reason = impossible
        query = judgments.queries[0] if len(judgments) else b""
        raise EvaluationError(asked.bound[place].measure.name, query, reason)


def _searched(places: Array, judgments: Qrels, asked: Asked, *, everything: bool) -> Any:
    """The rows of the queries to search for, None for all; errors that need no search."""
    import numpy

    judged = numpy.flatnonzero(places >= 0)
    if asked.options.missing_is_error and len(judged) < len(judgments):
        found = [judgments.queries[int(place)] for place in places[judged]]
        raise missing_queries(judgments, found)
    if not len(judged) and not evaluates_missing(asked.options):
        raise NoQueriesError("No queries with both results and relevance info")
    return None if everything else judged
