"""Evaluate a model on a data set."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import overload

import numpy

from fastrank.common.keywords import pick, takes, with_defaults
from fastrank.common.parallel import outcomes
from fastrank.common.progress import bar
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.evaluator import Evaluator
from fastrank.core.formats.load import write_run
from fastrank.core.formats.tables.values import tag_of
from fastrank.core.formats.tools.candidates import Candidates
from fastrank.core.formats.trec.line_files import as_exclusions
from fastrank.core.matching.keywords import EVALUATION, Request, SearchedOptions
from fastrank.core.matching.queries import choose_queries, missing_queries
from fastrank.errors import OptionError, TaskError
from fastrank.vectors.datasets.answers import answer_qrels
from fastrank.vectors.datasets.dataset import Dataset, as_dataset
from fastrank.vectors.embeddings.judged_search import evaluate_embeddings, search_and_evaluate
from fastrank.vectors.embeddings.text_vectors import PreparedModel
from fastrank.vectors.searching.faiss_api import (
    check_gpu,
    parse_parameters,
    training_vectors_needed,
)
from fastrank.vectors.searching.indexing import make_index
from fastrank.vectors.searching.row_ids import check_row_ids
from fastrank.vectors.searching.runs import SOURCE, check_writable, search
from fastrank.vectors.searching.search_options import SEARCH, BuildOptions
from fastrank.vectors.searching.vectors import DEFAULT_METRIC, block_rows, check_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.common.arrays import Array
    from fastrank.common.choices import Metric
    from fastrank.common.parallel import Workers
    from fastrank.core.measures.selection import Measures
    from fastrank.core.scores.scores import Scores
    from fastrank.vectors.embeddings.text_vectors import Embeddings


class ModelOptions(BuildOptions, SearchedOptions, total=False):
    """Options to search for encoded texts and evaluate the results."""


@overload
def evaluate_model(
    model: object,
    dataset: Mapping[str, Dataset | Candidates | str | os.PathLike[str]],
    *arguments: Any,
    **options: Any,
) -> dict[str, Scores]: ...


@overload
def evaluate_model(
    model: object,
    dataset: Dataset | Candidates | str | os.PathLike[str],
    *arguments: Any,
    **options: Any,
) -> Scores: ...


@takes(ModelOptions, SEARCH, EVALUATION)
def evaluate_model(
    model: object,
    dataset: object,
    measures: Measures = "official",
    *,
    metric: Metric = DEFAULT_METRIC,
    batch_size: int | None = None,
    query_prompt: str | None = None,
    corpus_prompt: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    cache_name: str | None = None,
    executor: Workers | None = None,
    **options: Unpack[ModelOptions],
) -> Scores | dict[str, Scores]:
    """Encode a data set with a model, search, and evaluate the results.

    model: an embedding model: an object with `encode_query` and `encode_document`
        (sentence-transformers 5 and later), `encode_queries` and `encode_corpus` (FlagEmbedding;
        `dense_vecs` of a dict), `encode` (older sentence-transformers, model2vec) or `embed`
        (wordllama); a function from a list of str to vectors; a scikit-learn transformer or
        pipeline, of which a copy is fitted on the corpus unless it is fitted already; or a pair of
        these, for queries and documents. It may return arrays, sparse matrices, torch tensors on
        any device, or lists of rows, of any float type. None for a data set with vectors.
    dataset: a Dataset, the path of a folder in BEIR's layout, or Candidates. The setting
        `ignore_identical_ids` of a Dataset applies. If the queries are documents
        (`Dataset.from_articles`), they are encoded once, as documents. Candidates are ranked by
        similarity to their question, without a search, so that k, index_factory, train_size,
        parameters and gpu are not allowed. What is found in a data set with answers, but without
        judgments, is judged by `fastrank.datasets.answer_qrels`. Or several: {name: data set},
        which gives {name: Scores}.
    measures: as in `evaluate`.
    metric: as in `evaluate_embeddings`: "cosine", for which copies of the vectors are normalized to
        length 1; "ip" (inner product) or "l2".
    batch_size: the number of texts to encode at once, passed to the model if it takes it.
    query_prompt, corpus_prompt: passed to the model as `prompt` if it takes that, else prepended
        to each text. By default the model's own prompts apply.
    cache, cache_name: a folder in which to cache vectors as `.npy` files (sparse ones as `.npz`),
        and a name for the model and its settings. The key is the name, the prompt and all texts in
        order, so that a changed corpus is encoded again. Dense vectors are written in batches and
        never all in memory. Vectors of another model under the same name are detected by encoding
        the first texts, and are an error. A model that is fitted here is not cached.
    executor: evaluates each of several data sets in a worker, see docs/scale-out.md. Processes get
        the model and the data sets pickled; they read folders themselves.
    **options: see `ModelOptions`.

    The first texts of both sides are encoded, searched and evaluated before all others, and the
    shortest text is encoded, so that errors in the model, the measures or an option show before
    hours of work.

    Raises TypeError for an object that is not a model; ArrayError, with row and id, for the wrong
    number of vectors, NaN and infinite values, and different dimensions of queries and documents;
    InputError for a cache with vectors of another model; and what `evaluate_embeddings` raises. For
    several data sets, TaskError names the first one that fails, and has the Scores of those before.

    >>> data = fr.Dataset.from_texts(
    ...     {"d1": "red apples", "d2": "blue plums"}, {"q1": "apple"}, {"q1": {"d1": 1}}
    ... )
    >>> def letters(texts):
    ...     return [[text.count(letter) for letter in "abcdelmnprsu"] for text in texts]
    >>> fr.evaluate_model(letters, data, "recip_rank nDCG@10").mean
    {'recip_rank': 1.0, 'nDCG@10': 1.0}
    """
    settings = with_defaults(evaluate_model, options)
    metric = check_metric(metric)
    # Used twice, so it must not be an iterator.
    measures = list(measures) if isinstance(measures, Iterator) else measures
    encoding: dict[str, Any] = {
        "batch_size": batch_size,
        "query_prompt": query_prompt,
        "corpus_prompt": corpus_prompt,
        "cache": cache,
        "cache_name": cache_name,
    }
    if isinstance(dataset, Mapping) and dataset and all(map(_is_dataset, dataset.values())):
        if settings["run"] is not None:
            raise OptionError("run", "only for one data set; found several")
        together = {"measures": measures, "metric": metric, **encoding, **settings}
        return _evaluate_datasets(model, dataset, together, executor)
    if isinstance(dataset, Candidates):
        return evaluate_candidates(model, dataset, measures, metric, encoding, settings)
    data = as_dataset(dataset)
    by_answers = bool(data.answers) and not data.qrels
    judging = pick(settings, SearchedOptions)
    searching = {
        **pick(settings, BuildOptions),
        "metric": metric,
        "ignore_identical_ids": data.ignore_identical_ids,
        "exclude": as_exclusions(settings["exclude"]),
    }
    request = Request(measures, judging)
    if not by_answers:
        _refuse_missing(data, request)
    check_gpu(settings["gpu"])
    parse_parameters(settings["parameters"])
    if settings["run"] is not None:
        check_writable(
            settings["run"],
            check_row_ids("corpus_ids", data.corpus_ids, None),
            check_row_ids("query_ids", data.query_ids, None),
            tag_of(settings["tag"], SOURCE),
        )
    prepared = PreparedModel(model, data, **encoding)
    first = prepared.first
    _check_factory(settings["index_factory"], first.corpus.shape[1], metric, len(data.corpus_ids))
    if by_answers:
        embeddings = prepared.embeddings(settings["progress"])
        path = searching.pop("run")
        searching |= {"query_ids": data.query_ids, "corpus_ids": data.corpus_ids}
        run = search(embeddings.queries, embeddings.corpus, **searching)
        if path is not None:
            write_run(run, path, "trec")
        return Evaluator(answer_qrels(data, run), measures, **judging).evaluate(run)
    # So few texts say nothing about the others; all of them may be excluded.
    lenient = {
        **judging,
        "missing": "skip" if settings["missing"] == "error" else settings["missing"],
        "no_relevant": "zero" if settings["no_relevant"] == "skip" else settings["no_relevant"],
    }
    sample: dict[str, object] = {
        "query_ids": data.query_ids[: first.queries.shape[0]],
        "corpus_ids": data.corpus_ids[: first.corpus.shape[0]],
        "k": settings["k"],
        "metric": metric,
        "progress": False,
        "ignore_identical_ids": data.ignore_identical_ids,
        **lenient,
    }
    search_and_evaluate(
        first.queries,
        first.corpus,
        data.qrels,
        measures,
        with_defaults(evaluate_embeddings, sample),
        is_sample=True,
    )
    embeddings = prepared.embeddings(settings["progress"])
    scores = evaluate_embeddings(
        embeddings.queries,
        embeddings.corpus,
        data.qrels,
        measures,
        query_ids=data.query_ids,
        corpus_ids=data.corpus_ids,
        **searching,
        **judging,
    )
    numbered = {f"numbered_{noun}": count for noun, count in data.row_numbers.items()}
    return scores.changed(counts=scores.counts | numbered)


def _is_dataset(value: object) -> bool:
    """Whether it is a data set, not a text of a dict of texts."""
    return isinstance(value, (Dataset, Candidates, os.PathLike)) or (
        isinstance(value, str) and os.path.isdir(value)
    )


def _evaluate_datasets(
    model: object, datasets: Mapping[str, object], options: dict[str, Any], executor: Workers | None
) -> dict[str, Scores]:
    """The Scores of each data set. Raises TaskError."""
    scores: dict[str, Scores] = {}
    items = [
        os.path.abspath(dataset) if isinstance(dataset, (str, os.PathLike)) else dataset
        for dataset in datasets.values()
    ]
    progress = options["progress"]
    if executor is not None:
        # The bars of several workers would overwrite each other.
        options["progress"] = False
    shared = model, options
    results = outcomes(executor, _evaluate_dataset, items, shared=shared, chunk_size=1)
    with closing(results), bar("evaluate", len(items), "data sets", progress) as shown:
        for name, (value, error) in zip(datasets, results, strict=True):
            if error is not None:
                failed = TaskError(str(name), None, str(error) or type(error).__name__)
                failed.before = scores or None
                raise failed from error
            scores[name] = value
            shown.update(1)
    return scores


def _evaluate_dataset(shared: tuple[object, dict[str, object]], dataset: Any) -> Scores:
    model, options = shared
    scores: Scores = evaluate_model(model, dataset, **options)
    return scores


def _refuse_missing(data: Dataset, request: Request) -> None:
    """Raise for judged queries without a text if missing='error'."""
    judgments, _ = choose_queries(data.qrels, request.options)
    if request.options.missing_is_error:
        query_ids = set(data.query_ids)
        queries = [query for query in judgments.queries if decoded(query) in query_ids]
        if len(queries) < len(judgments):
            raise missing_queries(judgments, queries)


def _check_factory(index_factory: str, dimension: int, metric: str, count: int) -> None:
    """Raise for an index that faiss cannot build, or not with so few vectors."""
    needed = training_vectors_needed(make_index(index_factory, dimension, metric))
    if needed > count:
        reason = f"{index_factory!r} needs at least {needed} training vectors, found {count}"
        raise OptionError("index_factory", reason)


# Options of a search, which candidates do not need.
OF_SEARCH = ("k", "index_factory", "train_size", "parameters", "gpu")


def evaluate_candidates(
    model: object,
    candidates: Candidates,
    measures: Measures,
    metric: str,
    encoding: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> Scores:
    """See `evaluate_model`. encoding: the options of PreparedModel."""
    _refuse_search(settings)
    evaluator = Evaluator(
        candidates.qrels, measures, exclude=settings["exclude"], **pick(settings, SearchedOptions)
    )
    data, asked, documents = _distinct(candidates)
    # Errors in measures and options are reported before texts are encoded.
    evaluator.evaluate(candidates.run([0.0] * len(candidates)))
    if settings["run"] is not None:
        queries, docs = (
            check_row_ids(name, list(dict.fromkeys(ids)), None)
            for name, ids in (("queries", candidates.queries), ("docs", candidates.docs))
        )
        check_writable(settings["run"], docs, queries, tag_of(settings["tag"], candidates.source))
    prepared = PreparedModel(model, data, **encoding)
    vectors = prepared.embeddings(settings["progress"])
    run = candidates.run(_similarities(vectors, asked, documents, metric), tag=settings["tag"])
    if settings["run"] is not None:
        write_run(run, settings["run"], "trec")
    scores = evaluator.evaluate(run)
    zeros = sum(map(_count_zeros, vectors)) if metric == "cosine" else 0
    return scores.changed(counts={**scores.counts, "zero_vectors": zeros})


def _count_zeros(vectors: Any) -> int:
    """The number of zero vectors."""
    sizes = vectors.getnnz(axis=1) if hasattr(vectors, "getnnz") else vectors.any(axis=1)
    return int((sizes == 0).sum())


def _refuse_search(settings: Mapping[str, object]) -> None:
    defaults = {keyword.name: keyword.default for keyword in SEARCH}
    for name in OF_SEARCH:
        if settings[name] != defaults[name]:
            raise OptionError(
                name, "not applicable to candidates, which are scored without a search"
            )


def _distinct(candidates: Candidates) -> tuple[Dataset, Array, Array]:
    """A data set of the distinct texts, and for each row the numbers of its question and text."""
    columns = list(zip(*candidates.pairs, strict=True))
    sides, numbers = [], []
    for texts, ids in zip(columns, (candidates.queries, candidates.docs), strict=True):
        first: dict[str, str] = {}
        for text, text_id in zip(texts, ids, strict=True):
            first.setdefault(text, text_id)
        number = {text: i for i, text in enumerate(first)}
        sides.append(first)
        numbers.append(numpy.array([number[text] for text in texts], numpy.int64))
    questions, answers = sides
    data = Dataset(
        name=candidates.source,
        corpus_ids=list(answers.values()),
        corpus=list(answers),
        query_ids=list(questions.values()),
        queries=list(questions),
        qrels=candidates.qrels,
        outside=[],
        unjudged=[],
    )
    return data, numbers[0], numbers[1]


def _similarities(vectors: Embeddings, asked: Array, documents: Array, metric: str) -> Array:
    """The similarity of each pair of rows, float64[rows]."""
    similarities = numpy.empty(len(asked))
    step = block_rows(vectors.corpus.shape[1])
    for first in range(0, len(asked), step):
        part = slice(first, first + step)
        left, right = (
            _dense(side[rows[part]])
            for side, rows in ((vectors.queries, asked), (vectors.corpus, documents))
        )
        if metric == "l2":
            left -= right
            similarities[part] = -numpy.einsum("ij,ij->i", left, left)
            continue
        if metric == "cosine":
            for side in (left, right):
                lengths = numpy.linalg.norm(side, axis=1, keepdims=True)
                # The cosine with a zero vector is 0.
                side /= numpy.where(lengths == 0, 1.0, lengths)
        similarities[part] = numpy.einsum("ij,ij->i", left, right)
    return similarities


def _dense(rows: object) -> Array:
    """Rows of an array or of a sparse matrix in double precision."""
    return numpy.array(rows.toarray() if hasattr(rows, "toarray") else rows, numpy.float64)
