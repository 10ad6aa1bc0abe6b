"""Evaluate embeddings: each batch of results is judged at once, without a run in memory."""

from __future__ import annotations

from fastrank.data.qrels import Qrels
from fastrank.errors import EvaluationError, InputError, NoQueriesError, OptionError
from fastrank.evaluation.evaluator import no_queries_error, not_in_corpus
from fastrank.evaluation.scoring import score_run
from fastrank.formats import files
from fastrank.formats.compression import compressed
from fastrank.formats.inputs import as_qrels
from fastrank.formats.tables import tag_of
from fastrank.formats.trec import python_warning
from fastrank.judging.batches import BatchJudge
from fastrank.judging.keywords import EVALUATION, Request, SearchedOptions
from fastrank.judging.needs import first_impossible
from fastrank.judging.queries import choose_queries, missing_queries
from fastrank.keywords import pick, takes, with_defaults
from fastrank.searching.batches import check_before_building, search_batches
from fastrank.searching.faiss_indexes import as_index
from fastrank.searching.indexing import Index, build_index
from fastrank.searching.row_ids import RowIds, check_row_ids
from fastrank.searching.runs import SOURCE, check_writable, run_lines
from fastrank.searching.search_options import SEARCH, BuildOptions, SearchOptions
from fastrank.searching.shards import Shards
from fastrank.searching.vectors import check_dimension, open_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    from fastrank.formats.inputs import QrelsLike
    from fastrank.measures.selection import BoundMeasure, Measures
    from fastrank.scores.scores import Scores
    from fastrank.searching.row_ids import IdsLike
    from fastrank.searching.vectors import VectorsLike

    Array = npt.NDArray[Any]


class EmbeddingOptions(SearchOptions, BuildOptions, SearchedOptions, total=False):
    """How to search with embeddings and evaluate the results."""

    corpus_ids: IdsLike | None


@takes(EmbeddingOptions, SEARCH, EVALUATION)
def evaluate_embeddings(
    queries: VectorsLike,
    corpus: Index | Shards | VectorsLike,
    qrels: QrelsLike,
    measures: Measures = "official",
    **options: Unpack[EmbeddingOptions],
) -> Scores:
    """Search with the queries and evaluate the results, batch by batch.

    queries, corpus: vectors as `fastrank.searching.build_index` takes them. The corpus may also be
        an Index, `fastrank.searching.Shards`, a faiss index, or the result of `get_index` of a
        Hugging Face Dataset.
    qrels: judgments as `evaluate` takes them, by the ids of queries and documents.
    measures: as `evaluate` takes them.
    **options: see `EmbeddingOptions`.

    The values are those of `evaluate` for the run that `search` returns. Of
    documents with equal scores, the one whose id sorts later comes first, unless `ties` says
    otherwise ("given": the one whose row comes first). `Scores.counts` includes `excluded`, the
    number of excluded documents that ranked above the end of a ranking, and `ties_at_cutoff`, the
    number of rankings that end between documents with equal scores, among which faiss chose. Memory
    holds the judgments, a batch of rankings, and the judged documents of each ranking; with other
    values of `ties` it holds the whole run. Queries without judgments are not searched, unless
    `run` is given.

    Raises what `search` and `evaluate` raise, and InputError if no judged document
    is in the corpus, for example because `corpus_ids` is missing. Errors in ids, judgments,
    measures and options are found before the search. Warns if a measure has a cutoff above `k`.

    >>> corpus = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]
    >>> found = fr.evaluate_embeddings(
    ...     [[1.0, 0.1]], corpus, {"q1": {"d3": 1}}, "recip_rank P.1", k=2,
    ...     query_ids=["q1"], corpus_ids=["d1", "d2", "d3"],
    ... )
    >>> found.mean
    {'recip_rank': 0.5, 'P_1': 0.0}
    >>> found.counts["retrieved"], found.counts["excluded"], found.counts["ties_at_cutoff"]
    (2, 0, 0)
    """
    return search_and_evaluate(
        queries, corpus, qrels, measures, with_defaults(evaluate_embeddings, options)
    )


def search_and_evaluate(
    queries: Any,
    corpus: Any,
    qrels: QrelsLike,
    measures: Measures,
    given: Mapping[str, Any],
    *,
    is_sample: bool = False,
    warn: Callable[[str], None] = python_warning,
) -> Scores:
    """`evaluate_embeddings` with all options given.

    is_sample: queries and corpus are a part, which may lack all judged documents and be too small
    for the cutoffs of the measures. warn: is called with warnings.
    """
    request = Request(measures, pick(given, SearchedOptions))
    searching = pick(given, SearchOptions)
    k, metric, run = given["k"], given["metric"], given["run"]
    label = tag_of(given["tag"], SOURCE)
    judgments, left_out = choose_queries(
        as_qrels(qrels, trec_eval_version=request.options.trec_eval_version), request.options
    )
    if not isinstance(judgments, Qrels):
        raise InputError(judgments.source, "expected judgments of documents, found preferences")
    _refuse_impossible(judgments, request)
    vectors = open_vectors("queries", queries)
    names = searching["query_ids"] = check_row_ids("query_ids", given["query_ids"], vectors.count)
    ids = None
    corpus = as_index("corpus", corpus, metric)
    if isinstance(corpus, (Index, Shards)):
        _refuse_building(given, corpus)
        if given["corpus_ids"] is not None:
            corpus = corpus.with_ids("corpus_ids", given["corpus_ids"])
        documents = corpus.names
    else:
        corpus = open_vectors("corpus", corpus)
        documents = ids = check_row_ids("corpus_ids", given["corpus_ids"], corpus.count)
    judge = BatchJudge(
        judgments, request.measures, request.options, corpus=documents, queries=names, tag=label
    )
    only = None
    if judge.places is not None:
        only = _searched(judge.places, names, judgments, request, everything=run is not None)
    if not is_sample:
        _refuse_other_ids(judgments, documents)
        _warn_of_cutoffs(request.measures, k, documents.count, warn)
    if run is not None:
        check_writable(run, documents, names, label)
    if not isinstance(corpus, (Index, Shards)) and given["index_factory"] != "Flat":
        check_dimension(vectors, corpus.dimension)
        check_before_building(
            given["index_factory"], corpus.dimension, metric,
            k=k, batch_size=given["batch_size"], parameters=given["parameters"],
        )  # fmt: skip
        vectors.check(unit=metric == "cosine", selected=only)
        corpus = build_index(
            corpus, given["index_factory"], metric or "ip", ids, given["train_size"],
            gpu=given["gpu"], progress=given["progress"],
        )  # fmt: skip
        ids = None
    batches = search_batches(vectors, corpus, k, corpus_ids=ids, only=only, **searching)
    if run is not None:
        lines = run_lines(batches, label, judge.add)
        files.write(run, compressed(lines, files.name_of(run)))
        batches = iter(())
    return score_run(judge, batches, request.measures, request.options, left_out=left_out)


def _refuse_other_ids(judgments: Qrels, documents: RowIds) -> None:
    """Raise InputError if no judged document is in the corpus, so that every measure would be 0."""
    if len(judgments.docs) and (documents.rows_of(judgments.docs) < 0).all():
        reason = not_in_corpus(judgments.docs, documents.first())
        hint = "; pass the ids of the vectors as corpus_ids" if documents.texts is None else ""
        raise InputError(judgments.source, reason + hint)


def _warn_of_cutoffs(
    measures: list[BoundMeasure], k: int, count: int | None, warn: Callable[[str], None]
) -> None:
    """Warn if a measure was requested with a cutoff that the rankings do not reach."""
    if count is not None and count <= k:
        return
    short = [name for own in measures for name, cutoff in own.cutoffs() if cutoff > k]
    if short:
        warn(
            f"k={k} is below the cutoff of {', '.join(short)}, which"
            f" {'count' if len(short) > 1 else 'counts'} the ranks after {k} as not relevant"
        )


def _refuse_building(given: Mapping[str, Any], corpus: Index | Shards) -> None:
    """Raise OptionError for options that only apply to building an index."""
    reason = "the Index is already built"
    if isinstance(corpus, Shards):
        reason = "shards are searched as they are"
    if given["index_factory"] != "Flat":
        raise OptionError("index_factory", f"found {given['index_factory']!r}, but {reason}")
    if given["train_size"] is not None:
        raise OptionError("train_size", reason)


def _refuse_impossible(judgments: Qrels, request: Request) -> None:
    """Raise errors of the evaluation before the search."""
    impossible = first_impossible(request.measures, request.options)
    if impossible is not None:
        place, reason = impossible
        query = judgments.queries[0] if len(judgments) else b""
        raise EvaluationError(request.measures[place].measure.name, query, reason)


def _searched(
    places: Array, names: RowIds, judgments: Qrels, request: Request, *, everything: bool
) -> Any:
    """The rows of the queries to search, None for all. Raises errors that need no search."""
    import numpy

    judged = numpy.flatnonzero(places >= 0)
    if request.options.missing_is_error and len(judged) < len(judgments):
        found = [judgments.queries[int(place)] for place in places[judged]]
        raise missing_queries(judgments, found)
    if not len(judged) and not request.options.complete:
        error = no_queries_error(judgments.queries, names.take(numpy.arange(len(places))))
        if names.texts is None and len(judgments):
            hint = "without query_ids (--query-ids), the ids of the queries are row numbers"
            error = NoQueriesError(f"{error}; {hint}")
        raise error
    return None if everything else judged
