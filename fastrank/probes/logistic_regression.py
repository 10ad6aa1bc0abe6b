"""scikit-learn's logistic regression."""

from __future__ import annotations

from fastrank.lazy import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def fitted(inputs: Any, y: Any, user: str, **options: Any) -> Any:
    """A LogisticRegression fitted to rows and classes, with at most 100 iterations.

    user: what needs scikit-learn. Whether it converged is not reported: the protocols that use it
    score it either way.
    """
    import warnings

    linear = optional("sklearn.linear_model", user, "probe")
    exceptions = optional("sklearn.exceptions", user, "probe")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        return linear.LogisticRegression(max_iter=100, **options).fit(inputs, y)
