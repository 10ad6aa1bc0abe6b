"""The test metrics of Ulysses SentEval, with the conventions of torchmetrics in edge cases."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]


def matthews(logits: Array, y: Array) -> float:
    """The Matthews correlation of two classes, at least 0.

    logits: float32[rows]. Logits that are all in [0, 1] count as probabilities. The computation is
    in float32.
    """
    import numpy

    positive = (logits if are_probabilities(logits) else sigmoid(logits)) > 0.5
    is_one = y == 1
    tp, fp = int((positive & is_one).sum()), int((positive & ~is_one).sum())
    fn = int(is_one.sum()) - tp
    tn = len(y) - tp - fp - fn
    if not fp + fn:
        return 1.0
    if not tp + tn:
        return 0.0
    single = numpy.float32
    in_class = single(tn + fp), single(fn + tp)
    predicted = single(tn + fn), single(fp + tp)
    rows, right = single(len(y)), single(tp + tn)
    top = right * rows - (in_class[0] * predicted[0] + in_class[1] * predicted[1])
    square = rows * rows
    bottom = (square - (predicted[0] * predicted[0] + predicted[1] * predicted[1])) * (
        square - (in_class[0] * in_class[0] + in_class[1] * in_class[1])
    )
    if not bottom:
        # All rows are in one class, or predicted to be.
        small = numpy.finfo(single).eps
        root = numpy.sqrt(small)
        if not fn + tn:
            top = root * single(tp - fp)
        elif not fp + tn:
            top = root * single(tp - fn)
        elif not tp + fn:
            top = root * single(tn - fp)
        else:
            top = root * single(tn - fn)
        bottom = (single(tp + fp) + small) * (single(tp + fn) + small)
        bottom = bottom * (single(tn + fp) + small) * (single(tn + fn) + small)
    return max(0.0, float(top / numpy.sqrt(bottom)))


def adjusted_macro_f1(logits: Array, y: Array) -> float:
    """Macro F1 of several classes, scaled so that chance is 0, and at least 0.

    logits: float32[rows, classes]. Classes without rows that are not predicted do not count.
    """
    import numpy

    classes = logits.shape[1]
    predicted = logits.argmax(axis=1)
    right = numpy.bincount(y[predicted == y], minlength=classes).astype(numpy.float32)
    total = numpy.bincount(y, minlength=classes) + numpy.bincount(predicted, minlength=classes)
    found = total > 0
    f1 = 2 * right[found] / total[found].astype(numpy.float32)
    mean = (f1 / numpy.float32(found.sum())).sum(dtype=numpy.float32)
    return max(0.0, float((mean - numpy.float32(1 / classes)) / numpy.float32(1 - 1 / classes)))


def are_probabilities(logits: Array) -> bool:
    """Whether torchmetrics takes these logits for probabilities."""
    return bool(((logits >= 0) & (logits <= 1)).all())


def sigmoid(logits: Array) -> Array:
    """The logistic function without overflow, in the type of the logits."""
    import numpy

    shrunk = numpy.exp(-numpy.abs(logits))
    found: Array = numpy.where(logits >= 0, 1, shrunk) / (1 + shrunk)
    return found
