"""A model and a data set in, scores out."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_COMPAT
from fastrank.data.texts import decoded
from fastrank.datasets import as_dataset
from fastrank.embeddings.embed import Prepared
from fastrank.errors import OptionError
from fastrank.evaluation.embeddings import evaluate_embeddings
from fastrank.formats.exclusions import as_exclusions
from fastrank.formats.rows import tag_of
from fastrank.judging.queries import choose_queries, missing_queries
from fastrank.judging.request import Asked
from fastrank.search.engine import check_gpu, parts_of
from fastrank.search.indexing import make_index
from fastrank.search.names import names_of
from fastrank.search.parameters import parse_parameters
from fastrank.search.runs import SOURCE, check_writable
from fastrank.search.vectors import check_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.datasets import Dataset
    from fastrank.formats.files import Source
    from fastrank.scores.scores import Scores


def evaluate_model(
    model: Any,
    dataset: Dataset | str | os.PathLike[str],
    measures: str | Iterable[str] = "official",
    *,
    k: int = 1000,
    metric: str = "cosine",
    batch_size: int | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    cache_name: str | None = None,
    factory: str = "Flat",
    parameters: str | Mapping[str, Any] | None = None,
    train_size: int | None = None,
    exclude: Mapping[Any, Iterable[Any]] | None = None,
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
    """Encode a data set with a model, search, and evaluate what is found.

    model: whatever makes vectors of texts. An object with `encode_query` and `encode_document`
        (sentence-transformers 5 and later), `encode_queries` and `encode_corpus` (FlagEmbedding; of
        a dict the `dense_vecs`), `encode` (older sentence-transformers, model2vec) or `embed`
        (wordllama); a function from a list of str to vectors; a transformer or pipeline of
        scikit-learn, of which a copy is fitted on the corpus unless it is fitted already; or a pair
        of these, for queries and for documents. It may return arrays, sparse matrices, tensors of
        torch on any device, or lists of rows, of any float type. None for a data set that comes
        with vectors.
    dataset: a Dataset, or the path of a folder in BEIR's layout. Its `exclude_self` holds. Where
        the queries are documents (`Dataset.from_articles`) they are encoded once, as documents.
    measures: as `evaluate` takes them.
    k: how deep to search.
    metric: "cosine", "ip" (inner product) or "l2"; for "cosine" copies of the vectors are brought
        to length 1.
    batch_size: how many texts to encode at once, given to the model if it takes that.
    query_prompt, document_prompt: given to the model as `prompt` if it takes that, else put before
        every text. Without them the model's own hold.
    cache, cache_name: a folder in which vectors are kept as `.npy` files, and a name for the model
        and its settings. Vectors are found again by the name, the prompt and all texts in their
        order, so that a changed corpus is encoded anew. Vectors are written as they come, and never
        all in memory. A name that stands for another model now is an error, found by encoding the
        first texts. A model that is fitted here is not cached, since what it makes depends on that.
    factory, parameters, train_size, exclude, run, tag, gpu: as `evaluate_embeddings` takes them.
    progress: bars on standard error; by default where that is a terminal and the work is long.
    relevance_level, missing, no_relevant, depth, complete, judged_only, max_retrieved,
        collection_size, compat: as `evaluate` takes them.

    The first texts of both sides are encoded, searched and evaluated before all others, and the
    shortest is encoded, so that what is wrong with the model, the measures or an option shows
    before hours of work.

    Raises TypeError for what is no model; ArrayError for another number of vectors than texts, NaN
    and infinite values, queries of another dimension than documents, and a zero vector under
    "cosine" (of an empty text, or one without any known word), each with its row and id; InputError
    for a cache that holds another model's vectors; and what `evaluate_embeddings` raises.

    >>> data = fr.Dataset.from_texts(
    ...     {"d1": "red apples", "d2": "blue plums"}, {"q1": "apple"}, {"q1": {"d1": 1}}
    ... )
    >>> def letters(texts):
    ...     return [[text.count(letter) for letter in "abcdelmnprsu"] for text in texts]
    >>> fr.evaluate_model(letters, data, "recip_rank nDCG@10").mean
    {'recip_rank': 1.0, 'nDCG@10': 1.0}
    """
    data = as_dataset(dataset)
    # Used twice, which an iterator is not.
    measures = measures if isinstance(measures, str) else list(measures)
    asking: dict[str, Any] = {
        "relevance_level": relevance_level,
        "depth": depth,
        "complete": complete,
        "judged_only": judged_only,
        "max_retrieved": max_retrieved,
        "collection_size": collection_size,
        "compat": compat,
    }
    searching: dict[str, Any] = {
        "k": k,
        "metric": check_metric(metric),
        "exclude_self": data.exclude_self,
        "exclude": as_exclusions(exclude),
    }
    _refuse_missing(data, Asked(measures, missing=missing, no_relevant=no_relevant, **asking))
    check_gpu(gpu)
    parse_parameters(parameters)
    if run is not None:
        check_writable(
            run,
            names_of("corpus_ids", data.corpus_ids, None),
            names_of("query_ids", data.query_ids, None),
            tag_of(tag, SOURCE),
        )
    prepared = Prepared(
        model,
        data,
        batch_size,
        query_prompt,
        document_prompt,
        cache,
        cache_name,
        unit=metric == "cosine",
    )
    first = prepared.first
    _check_factory(factory, first.corpus.shape[1], metric, len(data.corpus_ids))
    evaluate_embeddings(
        first.queries, first.corpus, data.qrels, measures,
        query_ids=data.query_ids[: len(first.queries)],
        corpus_ids=data.corpus_ids[: len(first.corpus)],
        # Of so few texts, nothing follows for the others; all of them may be excluded.
        missing=None if missing == "error" else missing,
        no_relevant="zero" if no_relevant == "skip" else no_relevant,
        progress=False, **{**searching, "exclude": None}, **asking,
    )  # fmt: skip
    found = prepared.embeddings(progress)
    return evaluate_embeddings(
        found.queries, found.corpus, data.qrels, measures, factory=factory,
        query_ids=data.query_ids, corpus_ids=data.corpus_ids, parameters=parameters,
        train_size=train_size, run=run, tag=tag, gpu=gpu, progress=progress, missing=missing,
        no_relevant=no_relevant,
        **searching, **asking,
    )  # fmt: skip


def _refuse_missing(data: Dataset, asked: Asked) -> None:
    """Raise for judged queries that have no text, where that is an error."""
    judgments, _ = choose_queries(data.qrels, asked.options)
    if asked.options.missing_is_error:
        known = set(data.query_ids)
        found = [query for query in judgments.queries if decoded(query) in known]
        if len(found) < len(judgments):
            raise missing_queries(judgments, found)


def _check_factory(factory: str, dimension: int, metric: str, count: int) -> None:
    """Raise for an index that faiss cannot build, or not of so many vectors."""
    index = make_index(factory, dimension, metric)
    lists = max(getattr(part, "nlist", 0) for part in parts_of(index))
    if lists > count:
        reason = f"{factory!r} needs {lists} vectors, one per list, the corpus has {count}"
        raise OptionError("factory", reason)
