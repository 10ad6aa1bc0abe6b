"""Adapt embedding models to two functions: one for queries, one for documents."""

from __future__ import annotations

import inspect
from copy import deepcopy

from fastrank.vectors.searching.model_output import as_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

KINDS = (
    "an object with encode_query and encode_document, encode_queries and encode_corpus, encode or"
    " embed, a scikit-learn transformer, a function of a list of texts, or a pair of these (for"
    " queries and for documents)"
)
# Pairs of methods for queries and documents: sentence-transformers 5 and later, FlagEmbedding, the
# usual name, and wordllama.
TRANSFORMER = ("transform", "transform")
METHODS = (
    ("encode_query", "encode_document"),
    ("encode_queries", "encode_corpus"),
    ("encode", "encode"),
    ("embed", "embed"),
    TRANSFORMER,
)
SIDES = ("queries", "corpus")
# The methods for texts that are neither queries nor documents, in order of preference.
TEXT_METHODS = ("encode", "embed", "transform", "encode_document", "encode_corpus")
# The number of texts per call for functions without a batch size; and the number of batches per
# call for functions with one, so that they can sort texts by length.
TEXTS = 256
BATCHES = 32
USUAL_BATCH = 32


class Encoder:
    """One side of a model: a function from texts to vectors, and how to call it.

    function, name: the function, and its name in messages. side: `queries`, `corpus` or `texts`.
    prompt: passed to the function if it takes one, else prepended to each text. step: the number of
    texts per call.
    """

    def __init__(
        self,
        function: Callable[..., object],
        name: str,
        side: str,
        *,
        batch_size: int | None,
        prompt: str | None,
    ) -> None:
        self.side, self.name, self.prompt = side, name, prompt or ""
        self._function = function
        accepted = _parameters(function)
        self._options: dict[str, object] = {}
        self._before = self.prompt
        if "show_progress_bar" in accepted:
            self._options["show_progress_bar"] = False
        if self.prompt and "prompt" in accepted:
            self._options["prompt"], self._before = prompt, ""
        self.step = batch_size or TEXTS
        if "batch_size" in accepted:
            self.step = BATCHES * (batch_size or USUAL_BATCH)
            if batch_size is not None:
                self._options["batch_size"] = batch_size

    def encode(self, texts: Sequence[str], ids: Sequence[str], first: int = 0) -> Any:
        """Vectors as float32[texts, dimension]; ids and the row of the first are for messages.

        Sparse vectors become a scipy CSR matrix. Raises ArrayError for invalid vectors, or the
        wrong number of them.
        """
        inputs = [self._before + text for text in texts] if self._before else list(texts)
        output = self._function(inputs, **self._options)
        if isinstance(output, dict) and "dense_vecs" in output:
            # FlagEmbedding's BGE-M3.
            output = output["dense_vecs"]
        return as_vectors(output, self.side, ids, first, self.name, keep_sparse=True)


def encoders_of(
    model: object,
    corpus: Sequence[str],
    *,
    batch_size: int | None = None,
    query_prompt: str | None = None,
    corpus_prompt: str | None = None,
) -> tuple[Encoder, Encoder, bool]:
    """The encoders of queries and documents, and whether a copy of the model was fitted here.

    Raises TypeError for an object that is not a model.
    """
    pair = model if isinstance(model, (tuple, list)) else (model, model)
    if len(pair) != 2:
        raise TypeError(f"model: expected a pair (queries, documents), found {len(pair)} items")
    for_queries, for_documents = pair
    query_model = _fitted(for_queries, corpus)
    ready = (
        query_model,
        query_model if for_documents is for_queries else _fitted(for_documents, corpus),
    )
    encoders = [
        Encoder(
            *_function_of(side_model, [names[side] for names in METHODS]),
            SIDES[side],
            batch_size=batch_size,
            prompt=prompt,
        )
        for side, (side_model, prompt) in enumerate(
            zip(ready, (query_prompt, corpus_prompt), strict=True)
        )
    ]
    return encoders[0], encoders[1], ready[0] is not for_queries or ready[1] is not for_documents


def text_encoder(
    model: object, texts: Sequence[str], *, batch_size: int | None = None, prompt: str | None = None
) -> tuple[Encoder, bool]:
    """The encoder of texts that are neither queries nor documents, and whether it was fitted here.

    Raises TypeError for an object that is not a model.
    """
    ready = _fitted(model, texts)
    function, name = _function_of(ready, TEXT_METHODS)
    return Encoder(function, name, "texts", batch_size=batch_size, prompt=prompt), (
        ready is not model
    )


def check_model(model: object) -> None:
    """Raise TypeError for an object that is not a model, or a pair or triple of models."""
    for side_model in model if isinstance(model, (tuple, list)) else (model,):
        _function_of(side_model, [name for names in METHODS for name in names])


def _function_of(model: object, methods: Sequence[str]) -> tuple[Callable[..., object], str]:
    """The first of these methods that the model has, or the model itself, and its name."""
    kind = type(model).__name__
    if isinstance(model, (str, bytes)):
        # Strings have an unrelated method `encode`.
        raise TypeError(
            f"model: expected {KINDS}, found the {kind} {model!r:.60}; load the model first"
        )
    for name in methods:
        if callable(getattr(model, name, None)):
            return getattr(model, name), f"{kind}.{name}"
    if callable(model):
        return model, getattr(model, "__name__", kind)
    raise TypeError(f"model: expected {KINDS}, found {kind}")


def needs_fitting(model: object, texts: Sequence[str]) -> bool:
    """Whether a model is a scikit-learn transformer that is not fitted; `texts`: some to try."""
    others = any(
        hasattr(model, name) for names in METHODS if names != TRANSFORMER for name in names
    )
    if others or not hasattr(model, "fit") or not hasattr(model, "transform"):
        return False
    try:
        # Attributes do not tell: a pipeline seems fitted if its last step needs no fitting.
        model.transform(texts[:1])
    except Exception as error:
        if type(error).__name__ != "NotFittedError":
            raise
        return True
    return False


def _fitted(model: Any, corpus: Sequence[str]) -> object:
    """The model, or a copy fitted on the corpus if it is a transformer that needs fitting."""
    return deepcopy(model).fit(corpus[:]) if needs_fitting(model, corpus) else model


def _parameters(function: Callable[..., object]) -> set[str]:
    """The names of the parameters of a function, if known."""
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return set()
