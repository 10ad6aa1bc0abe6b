"""The kinds of tasks: the function that evaluates each, its options, and its metrics."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import NamedTuple

from fastrank.arguments import check_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

# `evaluate_tasks` passes these, or they do not apply to several models.
RESERVED = {"cache", "cache_name", "embed", "lazy", "name", "progress", "run", "tag"}
# The first measure of each list is the main score, as in MTEB.
MEASURES = {
    "retrieval": "nDCG@10 nDCG@100 AP@100 RR@10 R@10 R@100 P@10",
    "reranking": "AP RR@10 nDCG@10 P@1",
}
LOWER_IS_BETTER = {"loss", "mae", "mse", "rmse"}
PROBED = {
    "ulysses": ("matthews", "adjusted_macro_f1", "loss"),
    "senteval": ("accuracy", "dev_accuracy", "f1"),
    "mteb": (
        "accuracy", "f1", "f1_weighted", "precision", "precision_weighted", "recall",
        "recall_weighted", "ap", "ap_weighted",
    ),
    "knn": ("accuracy", "f1", "f1_weighted"),
}  # fmt: skip


class Kind(NamedTuple):
    """A kind of task.

    module, function: what evaluates it. metrics: returns the names that its main score may have
    under the given options. ranks: whether it evaluates rankings, with measures.
    """

    module: str
    function: str
    metrics: Callable[[Mapping[str, Any]], list[str]]
    ranks: bool = False

    @property
    def evaluate(self) -> Callable[..., Any]:
        """The function."""
        found: Callable[..., Any] = getattr(import_module(self.module), self.function)
        return found

    def options(self, given: Mapping[str, Any]) -> list[str]:
        """The names of the options of a task."""
        parameters = inspect.signature(self.evaluate).parameters.values()
        names = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
        if self.ranks:
            names.insert(0, "measures")
        if self.function == "evaluate_classifier":
            names += classifier_options(given)
        return [name for name in dict.fromkeys(names) if name not in RESERVED]


def classifier_options(given: Mapping[str, Any]) -> list[str]:
    """The options of the protocol of a classifier. Raises OptionError for an unknown protocol."""
    from fastrank.probes.classifier import PROTOCOLS, protocol_options

    protocol = given.get("protocol") or "ulysses"
    check_choice("protocol", protocol, tuple(PROTOCOLS))
    return protocol_options(protocol)


def _of_similarities(*metrics: str) -> Callable[[Mapping[str, Any]], list[str]]:
    """The names of these metrics for each of the given similarities."""

    def names(options: Mapping[str, Any]) -> list[str]:
        from fastrank.similarity.options import checked_similarities

        found = checked_similarities("similarities", options.get("similarities", "cosine"))
        several = ("max",) if len(found) > 1 else ()
        return [f"{one}_{metric}" for one in (*several, *found) for metric in metrics]

    return names


def _constant(*names: str) -> Callable[[Mapping[str, Any]], list[str]]:
    return lambda _: list(names)


def _probed(options: Mapping[str, Any]) -> list[str]:
    return list(PROBED[options.get("protocol") or "ulysses"])


def _measured(options: Mapping[str, Any]) -> list[str]:
    """The printed names of measures that have a mean."""
    from fastrank.arguments import DEFAULT_VERSION
    from fastrank.measures.selection import Selection

    version = options.get("trec_eval_version", DEFAULT_VERSION)
    bound = Selection(options["measures"]).bind(version)
    return [name.decode() for one in bound if one.measure.average for name in one.names]


KINDS = {
    "retrieval": Kind("fastrank.embeddings.evaluation", "evaluate_model", _measured, ranks=True),
    "reranking": Kind("fastrank.embeddings.evaluation", "evaluate_model", _measured, ranks=True),
    "classification": Kind("fastrank.probes.classifier", "evaluate_classifier", _probed),
    "multilabel": Kind(
        "fastrank.probes.multilabel", "evaluate_multilabel",
        _constant("accuracy", "lrap", "f1", "hamming"),
    ),
    "regression": Kind(
        "fastrank.probes.regression", "evaluate_regression",
        _constant("kendalltau", "r2", "mae", "mse", "rmse"),
    ),
    "similarity": Kind(
        "fastrank.similarity.graded_pairs", "evaluate_similarity",
        _of_similarities("spearman", "pearson"),
    ),
    "pairs": Kind(
        "fastrank.similarity.labeled_pairs", "evaluate_pairs",
        _of_similarities("ap", "accuracy", "f1", "precision", "recall", "mcc"),
    ),
    "triplets": Kind(
        "fastrank.similarity.triplets", "evaluate_triplets", _of_similarities("accuracy")
    ),
    "clustering": Kind(
        "fastrank.similarity.clustering", "evaluate_clustering", _constant("v_measure", "ami")
    ),
    "bitext": Kind(
        "fastrank.similarity.bitext", "evaluate_bitext",
        _constant(
            "f1", "precision", "recall", "accuracy", "reverse_f1", "reverse_precision",
            "reverse_recall", "reverse_accuracy",
        ),
    ),
    "summarization": Kind(
        "fastrank.similarity.summaries", "evaluate_summarization",
        _of_similarities("spearman", "pearson"),
    ),
}  # fmt: skip
