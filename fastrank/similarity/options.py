"""The options that the evaluations of similarities share."""

from __future__ import annotations

from fastrank.embeddings.text_vectors import EncodingOptions
from fastrank.errors import OptionError
from fastrank.keywords import Keyword

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# In the order of the kernels' columns.
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")
DISTANCES = ("euclidean", "manhattan")


class TaskOptions(EncodingOptions, total=False):
    """Options of evaluations that encode the texts of a task."""

    name: str | None


class PairOptions(TaskOptions, total=False):
    """Options of evaluations that compare the vectors of a row."""

    similarities: str | tuple[str, ...]


def checked_similarities(name: str, given: Any) -> tuple[str, ...]:
    """The names of similarities as a tuple. Raises OptionError."""
    names = (given,) if isinstance(given, str) else tuple(given)
    expected = ", ".join(map(repr, SIMILARITIES))
    if not names:
        raise OptionError(name, f"expected at least one of {expected}")
    for one in names:
        if one not in SIMILARITIES:
            raise OptionError(name, f"expected {expected}, found {one!r}")
    if len(set(names)) < len(names):
        raise OptionError(name, "expected distinct names")
    return names


TASK = (
    Keyword(
        "similarities", ("cosine",),
        """one or several of "cosine", "dot", "euclidean" and "manhattan". They are computed in
        double precision and rounded once to float32; the cosine with a zero vector is 0.""",
        check=checked_similarities,
    ),
    Keyword("name", None, "the name of the task, for messages and tables."),
    Keyword(
        "batch_size", None,
        "the number of texts to encode at once, passed to the model if it takes it.",
        least=1,
    ),
    Keyword(
        "prompt", None,
        "passed to the model as `prompt` if it takes that, else prepended to each text.",
    ),
    Keyword(
        "cache", None,
        "a folder in which to cache vectors, as in `evaluate_model`; with `cache_name`.",
    ),
    Keyword("cache_name", None, "a name for the model and its settings in the cache."),
    Keyword(
        "progress", None,
        "whether to show a progress bar; by default on a terminal for long encoding.",
    ),
)  # fmt: skip
