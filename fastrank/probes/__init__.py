"""Classifiers trained on embeddings, as a measure of the embeddings."""

from __future__ import annotations

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.probes.classifier import ProbeTask as ProbeTask
    from fastrank.probes.classifier import evaluate_classifier as evaluate_classifier
    from fastrank.probes.multilabel import evaluate_multilabel as evaluate_multilabel
    from fastrank.probes.regression import evaluate_regression as evaluate_regression
    from fastrank.probes.results import ProbeResult as ProbeResult
    from fastrank.probes.ulysses_tasks import per_epoch as per_epoch
    from fastrank.probes.ulysses_tasks import ulysses as ulysses

__getattr__, __dir__ = public_names(__name__)
