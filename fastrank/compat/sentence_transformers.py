"""An evaluator for sentence-transformers: any measures of fastrank, for each checkpoint.

>>> from fastrank.compat.sentence_transformers import RankingEvaluator
>>> queries, corpus = {"q1": "red"}, {"d1": "green", "d2": "red", "d3": "blue"}
>>> evaluator = RankingEvaluator(queries, corpus, {"q1": {"d2": 2, "d3": 1}}, "nDCG@10 RR@10")

It is called with a model, as `model.evaluate(evaluator)` and SentenceTransformerTrainer do:

>>> import numpy
>>> class Colours:
...     def encode(self, texts, **options):
...         return numpy.array([[text == "red", text == "blue", 0.5] for text in texts])
>>> evaluator(Colours())
{'cosine_ndcg@10': 0.950..., 'cosine_mrr@10': 1.0}
>>> evaluator.primary_metric
'cosine_ndcg@10'

Metrics have the names of sentence-transformers' InformationRetrievalEvaluator, if it has the same
measure; others have fastrank's names, such as `cosine_RCap@10`. Intentional differences from that
evaluator:

- Relevance may be graded, for measures that use grades.
- Of documents with equal scores, the one whose id sorts later comes first, as everywhere in
  fastrank; there it is the one whose id sorts earlier, as with `ties="docno_asc"`.
- What a reader must know, such as ties that decide a measure, is logged as a warning.
- `scores` holds the values per query of the last call.
- If the CSV file has other columns, the row is not added, and a warning is issued.

sentence-transformers does not need to be installed; the evaluator takes any object with `encode`.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping

from fastrank.common.arguments import DEFAULT_VERSION, at_least, check_version
from fastrank.common.keywords import takes, with_defaults
from fastrank.core.formats.tables.table_files import csv_lines
from fastrank.core.matching.keywords import EVALUATION, LabelOptions, evaluation_options
from fastrank.core.measures.notation import parse_measure
from fastrank.core.measures.selection import Selection
from fastrank.core.scores.text import notes
from fastrank.errors import ArrayError, InputError, MeasureError, OptionError
from fastrank.vectors.embeddings.judged_search import evaluate_embeddings
from fastrank.vectors.searching.vectors import METRICS, check_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.common.choices import Metric, Ties
    from fastrank.core.scores.scores import Scores


__all__ = ["DEFAULT_MEASURES", "RankingEvaluator"]

logger = logging.getLogger(__name__)

# Keys of measures, their titles, and how the measures begin here; a cutoff follows each of them.
_NAMES = {
    "accuracy": ("Accuracy", ("Success@", "success.")),
    "precision": ("Precision", ("P@", "P.")),
    "recall": ("Recall", ("R@", "recall.")),
    "mrr": ("MRR", ("RR@",)),
    "ndcg": ("NDCG", ("nDCG@", "ndcg_cut.")),
    "map": ("MAP", ("AP(denominator='min_k')@",)),
}


def names_of(measures: str | list[str], trec_eval_version: str) -> list[str]:
    """The names of the values of measures. Raises MeasureError if two have the same key."""
    names = [
        name.decode()
        for bound in Selection(measures).bind(check_version(trec_eval_version))
        for name in bound.names
    ]
    if not names:
        raise MeasureError("", "expected a measure, found none")
    keys: dict[str, str] = {}
    for name in names:
        first = keys.setdefault(key_of(name), name)
        if first != name:
            raise MeasureError(name, f"{first!r} and {name!r} have the same key {key_of(name)!r}")
    return names


def primary_of(names: list[str], asked: str | None, trec_eval_version: str) -> str:
    """The measure that selects the best model. Raises MeasureError."""
    if asked is None:
        gains = [name for name in names if key_of(name).startswith("ndcg@")]
        return max(gains, key=lambda name: int(key_of(name)[5:])) if gains else names[0]
    printed = names_of(asked, trec_eval_version)
    if len(printed) != 1 or printed[0] not in names:
        raise MeasureError(asked, f"primary: expected one of {', '.join(names)}, found {asked!r}")
    return printed[0]


def is_greater_better(measure: str) -> bool:
    """Whether higher values of a measure are better: False for ranks."""
    return all(
        bound.measure.better != "lower" for bound in Selection(measure).bind(DEFAULT_VERSION)
    )


def key_of(measure: str) -> str:
    """The key of a measure in sentence-transformers, or the name of the measure."""
    try:
        canonical = str(parse_measure(measure))
    except MeasureError:
        return measure
    for key, (_, beginnings) in _NAMES.items():
        for beginning in beginnings:
            cutoff = canonical.removeprefix(beginning)
            if cutoff != canonical and cutoff.isdigit():
                return f"{key}@{cutoff}"
    return measure


def title_of(measure: str) -> str:
    """The title of a measure's column in the CSV file."""
    name, separator, cutoff = key_of(measure).partition("@")
    title, _ = _NAMES.get(name, (name, ()))
    return title + separator + cutoff


# The similarity functions of models.
BY_METRIC: dict[Metric, str] = {"cosine": "cosine", "ip": "dot", "l2": "euclidean"}

# The default measures of InformationRetrievalEvaluator, in its order.
DEFAULT_MEASURES = (
    *(f"Success@{k}" for k in (1, 3, 5, 10)),
    *(f"{name}@{k}" for k in (1, 3, 5, 10) for name in ("P", "R")),
    "RR@10",
    "nDCG@10",
    "AP(denominator='min_k')@100",
)


def _base() -> Any:
    """The base class that the trainer expects; object without sentence-transformers."""
    try:
        import sentence_transformers  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "sentence_transformers":
            raise
        return object
    try:
        from sentence_transformers.base.evaluation import BaseEvaluator
    except ModuleNotFoundError:
        # Before version 6.
        from sentence_transformers.evaluation import SentenceEvaluator as BaseEvaluator
    return BaseEvaluator


class RankingOptions(LabelOptions, total=False):
    """How rankings are evaluated; queries without results count as 0."""

    judged_only: bool
    ties: Ties
    exclude: Mapping[Any, Iterable[Any]] | None


@takes(RankingOptions, EVALUATION)
class RankingEvaluator(_base()):  # type: ignore[misc]
    """Ranks a corpus for queries by a model's embeddings, and evaluates the rankings.

    queries, corpus: {id: text}, or {id: anything the model encodes}. Queries without judgments are
        skipped.
    relevant_docs: {query id: ids of its relevant documents}, or {query id: {document id: grade}}.
        Documents that are not in the corpus count as not retrieved.
    measures: as `fastrank.evaluate` takes them; by default those of InformationRetrievalEvaluator.
    name: the prefix of the metrics' names.
    primary: the measure that selects the best model, one of `measures`; by default the nDCG with
        the largest cutoff, or else the first measure. `greater_is_better` is False for ranks, such
        as MedianRank.
    k: the number of documents retrieved for each query.
    metric: "cosine", "ip" or "l2"; by default the model's similarity.
    ignore_identical_ids: drop the document whose id is the query's.
    batch_size, show_progress_bar, truncate_dim, query_prompt, query_prompt_name, corpus_prompt,
        corpus_prompt_name: for the model's `encode_query` and `encode_document`, or `encode`.
    corpus_chunk_size: the number of documents encoded and searched at a time.
    write_csv: whether to add a row to `Information-Retrieval_evaluation_NAME_results.csv` in the
        folder `output_path` of a call.
    **options: see `RankingOptions`.

    The constructor, and so a training script before it trains, raises InputError if no query has
    relevant documents or the corpus is empty, and MeasureError and OptionError for invalid measures
    and options.

    >>> from fastrank.compat.sentence_transformers import RankingEvaluator
    >>> evaluator = RankingEvaluator({"q1": "red"}, {"d1": "red"}, {"q1": {"d1"}}, name="colours")
    >>> evaluator.description
    'Ranking'
    """

    def __init__(
        self,
        queries: Mapping[Any, object],
        corpus: Mapping[Any, object],
        relevant_docs: Mapping[Any, object],
        measures: str | Iterable[str] = DEFAULT_MEASURES,
        *,
        name: str = "",
        primary: str | None = None,
        k: int = 1000,
        metric: Metric | None = None,
        ignore_identical_ids: bool = False,
        batch_size: int = 32,
        corpus_chunk_size: int = 50_000,
        show_progress_bar: bool = False,
        write_csv: bool = True,
        truncate_dim: int | None = None,
        query_prompt: str | None = None,
        query_prompt_name: str | None = None,
        corpus_prompt: str | None = None,
        corpus_prompt_name: str | None = None,
        **options: Unpack[RankingOptions],
    ) -> None:
        super().__init__()
        at_least("k", k, 1)
        at_least("corpus_chunk_size", corpus_chunk_size, 1)
        judging = with_defaults(RankingEvaluator.__init__, options)
        trec_eval_version = evaluation_options(judging).trec_eval_version
        mappings: dict[str, object] = {
            "queries": queries,
            "corpus": corpus,
            "relevant_docs": relevant_docs,
        }
        for argument, value in mappings.items():
            if not isinstance(value, Mapping):
                kind = type(value).__name__
                raise TypeError(f"{argument}: expected a mapping from id, found {kind}")
        self._measures = measures if isinstance(measures, str) else list(measures)
        names = names_of(self._measures, trec_eval_version)
        measure = primary_of(names, primary, trec_eval_version)
        self._primary = key_of(measure)
        self._qrels = _judgments(queries, relevant_docs)
        if not corpus:
            raise InputError("corpus", "expected documents, found none")
        self.query_ids, self.queries = _split(queries, self._qrels)
        self.corpus_ids, self.corpus = _split(corpus, corpus)
        self.greater_is_better = is_greater_better(measure)
        self.primary_metric: str | None = None
        self.scores: Scores | None = None
        self.name = name
        self.write_csv = write_csv
        self.csv_file = f"Information-Retrieval_evaluation{name and '_'}{name}_results.csv"
        self._chunk = corpus_chunk_size
        self._metric = None if metric is None else check_metric(metric)
        self._searching: dict[str, Any] = {
            "k": k,
            "ignore_identical_ids": ignore_identical_ids,
            "progress": show_progress_bar,
            **judging,
        }
        self._encoding: dict[str, object] = {
            "batch_size": batch_size,
            "show_progress_bar": show_progress_bar,
        }
        if truncate_dim is not None:
            self._encoding["truncate_dim"] = truncate_dim
        self._prompts = {
            "query": {"prompt": query_prompt, "prompt_name": query_prompt_name},
            "document": {"prompt": corpus_prompt, "prompt_name": corpus_prompt_name},
        }

    def __call__(
        self, model: object, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Compute {metric: value} for a model.

        output_path: the folder of the CSV file, None for no file. epoch, steps: recorded in the
            CSV file and the model card.

        Raises OptionError if the model's similarity is not an inner product, cosine or Euclidean
        distance, and ArrayError for embeddings that cannot be searched.
        """
        metric = self._metric
        if metric is None:
            metric = _metric_of(getattr(model, "similarity_fn_name", None) or "cosine")
        similarity = BY_METRIC[metric]
        scores = self.scores = evaluate_embeddings(
            self._encoded(model, "query", self.queries),
            self._blocks(model),
            self._qrels,
            self._measures,
            metric=metric,
            query_ids=self.query_ids,
            corpus_ids=self.corpus_ids,
            missing="zero",
            **self._searching,
        )
        metrics = {f"{similarity}_{key_of(measure)}": v for measure, v in scores.mean.items()}
        title = self.name or type(self).__name__
        logger.info("%s: %s", title, metrics)
        for note in notes(scores):
            logger.warning("%s: %s", title, note)
        if output_path is not None and self.write_csv:
            titles = [f"{similarity}-{title_of(measure)}" for measure in scores.mean]
            self._write(output_path, ["epoch", "steps", *titles], [epoch, steps, *metrics.values()])
        prefix = f"{self.name}_" if self.name else ""
        self.primary_metric = f"{prefix}{similarity}_{self._primary}"
        metrics = {prefix + key: value for key, value in metrics.items()}
        if hasattr(model, "model_card_data"):
            model.model_card_data.set_evaluation_metrics(self, metrics, epoch, steps)
        return metrics

    @property
    def description(self) -> str:
        """The name of this evaluation in the model card."""
        return "Ranking"

    def get_config_dict(self) -> dict[str, Any]:
        """The settings shown in the model card.

        >>> evaluator = RankingEvaluator({"q1": "red"}, {"d1": "red"}, {"q1": {"d1"}}, k=10)
        >>> evaluator.get_config_dict()
        {'k': 10}
        """
        prompts = {
            f"{'query' if kind == 'query' else 'corpus'}_{name}": value
            for kind, options in self._prompts.items()
            for name, value in options.items()
            if value is not None
        }
        truncated = {k: v for k, v in self._encoding.items() if k == "truncate_dim"}
        return {"k": self._searching["k"], **truncated, **prompts}

    def _blocks(self, model: object) -> Iterator[object]:
        """The embeddings of the corpus, a chunk at a time."""
        for first in range(0, len(self.corpus), self._chunk):
            yield self._encoded(model, "document", self.corpus[first : first + self._chunk])

    def _encoded(self, model: Any, kind: str, texts: list[object]) -> object:
        encode = getattr(model, f"encode_{kind}", None) or model.encode
        prompts = {name: value for name, value in self._prompts[kind].items() if value is not None}
        vectors = encode(texts, convert_to_numpy=True, **prompts, **self._encoding)
        if len(vectors) != len(texts):
            raise ArrayError(
                f"{kind} embeddings",
                f"expected {len(texts)} rows, one per text, found {len(vectors)}",
            )
        return vectors

    def _write(self, folder: str, header: list[str], row: list[object]) -> None:
        """Add a row to the CSV file, after a header if the file is new."""
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, self.csv_file)
        title, line = csv_lines(header, [row])
        first_line = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                first_line = file.readline()
        if first_line not in (None, "", title):
            warnings.warn(
                f"{path}: the row of epoch {row[0]} was not written, because the file has other"
                f" columns: expected {title.strip()}, found {str(first_line).strip()}",
                stacklevel=3,
            )
            return
        with open(path, "a", encoding="utf-8", newline="") as file:
            file.write(line if first_line else title + line)


def _judgments(queries: Mapping[Any, object], relevant: Mapping[Any, Any]) -> dict[Any, Any]:
    """{query: {document: grade}} of the queries that have relevant documents."""
    judgments = {}
    for query in queries:
        docs = relevant.get(query)
        if isinstance(docs, (str, bytes)) or not hasattr(docs or (), "__iter__"):
            prefix = "the id " if isinstance(docs, (str, bytes)) else ""
            reason = f"query {query!r:.60}: expected ids of documents, found {prefix}{docs!r:.60}"
            raise InputError("relevant_docs", reason)
        if docs:
            judgments[query] = docs if isinstance(docs, Mapping) else dict.fromkeys(docs, 1)
    if not judgments:
        raise InputError("relevant_docs", "no query has relevant documents; are the ids the same?")
    return judgments


def _split(
    texts: Mapping[Any, object], keys: Iterable[object]
) -> tuple[list[object], list[object]]:
    """Ids and texts."""
    ids = list(keys)
    return ids, [texts[text_id] for text_id in ids]


def _metric_of(similarity: object) -> Metric:
    """The metric for the similarity function of a model. Raises OptionError if there is none."""
    value = getattr(similarity, "value", similarity)
    for metric, name in BY_METRIC.items():
        if value == name:
            return metric
    expected = ", ".join(map(repr, METRICS))
    reason = f"the model's similarity function is {value!r}; give one of {expected}"
    raise OptionError("metric", reason)
