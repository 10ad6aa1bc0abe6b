"""The interface of ulysses-senteval: change the import, and the same numbers come sooner.

    from fastrank.compat.ulysses_senteval import UlyssesSentEval

The results are those of the package, with intentional differences:

- Tasks are read from a local folder and never downloaded.
- Embeddings and results are numpy arrays where the package has tensors; caches are `.npy` files.
- Cached embeddings are of the same texts; the package also uses those of a file that has changed.
- Training runs on the CPU, in this process: `n_processes` and `device` have no effect.
- Arguments are never modified. The package adds the hidden layer of F3 to a given `kwargs_train`,
  so that all later tasks have it, too; `hidden_dims=[256]` gives these numbers.
"""

from __future__ import annotations

import io
import os
import warnings
from functools import partial
from itertools import chain

from fastrank.common.lazy import optional
from fastrank.core.formats.files import files
from fastrank.errors import ArrayError, OptionError
from fastrank.vectors.embeddings.encoded_texts import digest_of
from fastrank.vectors.embeddings.text_vectors import vectors_of
from fastrank.vectors.tasks.classification import evaluate_classification
from fastrank.vectors.tasks.problem import SEPARATOR, pair_features
from fastrank.vectors.tasks.ulysses_files import (
    FILES,
    HIDDEN,
    WITH_ALTERNATIVES,
    described,
    known_tasks,
    missing_files,
    read_task,
)
from fastrank.vectors.tasks.ulysses_protocol import per_epoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import pandas

    from fastrank.vectors.tasks.result import TaskResult

__all__ = ["UlyssesSentEval", "UlyssesSentEvalLazy"]

# Our options by the names of `kwargs_train`; None where they have no effect here.
TRAINING = {
    "n_processes": None,
    "device": None,
    "show_progress_bar": "progress",
    "batch_size": "train_batch_size",
    "hidden_dims": "hidden",
    "eval_frac": "validation",
    "n_repeats": "repetitions",
    "k_fold": "folds",
    "n_epochs": "epochs",
    "tenacity": "patience",
    "early_stopping_rel_improv": "min_improvement",
    "random_state": "seed",
}


class UlyssesSentEval:
    """Evaluate an embedding model on tasks of Ulysses SentEval.

    sentence_model: a model with a method `encode`, such as a SentenceTransformer; for other models
        override `embed`.
    tasks: "all", an id such as "T1A", or several.
    data_dir_path: the folder with the CSV files of the tasks.
    cache_embed_key, cache_dir: a name for the model, and a folder. The embeddings of a task are
        read from `cache_dir/cache_embed_key/TASK-DIGEST.npy` if that exists, else written there.
        DIGEST is that of the texts, so that other texts are embedded anew.
    disable_multiprocessing: has no effect, but `n_processes` is then an error.
    lazy_embedding: embed the parts of each fold, after the split. Override `embed` for this, or use
        UlyssesSentEvalLazy.

    Raises OptionError, a ValueError, for unknown tasks.
    """

    def __init__(
        self,
        sentence_model: Any,
        *,
        tasks: str | Sequence[str] = "all",
        data_dir_path: str = "./ulysses_senteval_datasets",
        cache_embed_key: str | None = None,
        cache_dir: str = "./cache",
        disable_multiprocessing: bool = False,
        lazy_embedding: bool = False,
    ) -> None:
        self.tasks = tuple(known_tasks(tasks))
        self.sentence_model = sentence_model
        self.data_dir_path = _expanded(data_dir_path)
        self.disable_multiprocessing = disable_multiprocessing
        self.lazy_embedding = lazy_embedding
        self.cache_dir: str | None = None
        if cache_embed_key is not None and lazy_embedding:
            message = "cache_embed_key is ignored, because lazy embeddings cannot be cached"
            warnings.warn(message, stacklevel=2)
        elif cache_embed_key is not None:
            self.cache_dir = os.path.join(_expanded(cache_dir), cache_embed_key)

    def embed(
        self,
        X_a: list[str],  # noqa: N803
        X_b: list[str] | None,  # noqa: N803
        task: str,
        data_split: str,
        **kwargs: object,
    ) -> Any:
        """The features of rows, float32[rows, features]; override it for other models.

        X_a, X_b: the texts of the rows; X_b is None for tasks of one text. task: the id.
        data_split: "all", or "train", "eval" or "test" with lazy_embedding. **kwargs: those of
        `kwargs_embed`, passed to `encode` here.

        The features of one text are its embedding; those of a pair are both embeddings, their
        absolute difference and their product; those of the tasks F3 and F5 are the embeddings of
        the first text and of all alternatives.
        """
        import numpy

        if self.lazy_embedding and data_split != "all":
            message = "the default `embed` does not depend on data_split; override it"
            warnings.warn(f"lazy_embedding: {message}", stacklevel=2)

        def encoded(texts: list[str]) -> Any:
            return vectors_of(self.sentence_model.encode(texts, **kwargs), len(texts))[0]

        a = encoded(X_a)
        if X_b is None:
            return a
        if task in WITH_ALTERNATIVES:
            rows = [text.split(SEPARATOR) for text in X_b]
            parts = [part for row in rows for part in row]
            uneven = next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), None)
            if uneven is not None and not len(parts) % len(X_a):
                counts = f"row {uneven} has {len(rows[uneven])} alternatives, row 0 {len(rows[0])}"
                message = "features are taken from other rows, as in the package"
                warnings.warn(f"{task}: {counts}: {message}", stacklevel=2)
            if len(parts) % len(X_a):
                raise ArrayError("X_b", f"{task}: expected equally many alternatives in each row")
            return numpy.hstack((a, encoded(parts).reshape(len(a), -1)))
        return pair_features(a, encoded(X_b))

    def evaluate_in_task(
        self,
        task: str,
        *,
        kwargs_embed: Mapping[str, object] | None = None,
        kwargs_train: Mapping[str, object] | None = None,
        return_all_results: bool = False,
        ignore_cached: bool = False,
    ) -> Any:
        """Evaluate in one task; as `evaluate`, but returns the dict of this task alone.

        With return_all_results the frame has no column `task`.
        """
        result = self._result(task, kwargs_embed or {}, kwargs_train or {}, ignore_cached)
        means = per_epoch(result)
        if not return_all_results:
            return means
        return means, result.details().to_pandas().drop(columns="task")

    def evaluate(
        self,
        *,
        kwargs_embed: Mapping[str, object] | None = None,
        kwargs_train: Mapping[str, object] | None = None,
        return_all_results: bool = False,
        ignore_cached: bool = False,
    ) -> dict[str, dict[str, Any]] | tuple[dict[str, dict[str, Any]], pandas.DataFrame]:
        """Evaluate in all tasks.

        kwargs_embed: options for `embed`. kwargs_train: of the training: batch_size, hidden_dims,
            eval_frac, n_repeats, k_fold, n_epochs, tenacity, early_stopping_rel_improv,
            random_state, show_progress_bar, n_processes, device.
        return_all_results: also return a frame with all values: task, kfold_repetition,
            kfold_partition, train_epoch, metric, value.
        ignore_cached: embed anew and replace cached embeddings.

        Returns a dict by task of dicts: means, standard deviations and 99 % intervals by epoch and
        for the tests, as `fastrank.tasks.per_epoch` describes them.
        """
        self._check_files(self.tasks)
        results = [
            self._result(task, kwargs_embed or {}, kwargs_train or {}, ignore_cached)
            for task in self.tasks
        ]
        means = {result.name: per_epoch(result) for result in results}
        if not return_all_results:
            return means
        frames = optional("pandas", "return_all_results")
        return means, frames.concat(
            [result.details().to_pandas() for result in results], ignore_index=True
        )

    def _check_files(self, tasks: Sequence[str]) -> None:
        if missing := missing_files(self.data_dir_path, known_tasks(tasks)):
            raise FileNotFoundError(f"{self.data_dir_path}: {described(missing)}")

    def _result(
        self, task: str, embedding: Mapping[str, Any], training: Mapping[str, object], fresh: bool
    ) -> TaskResult:
        options = self._options(task, training)
        self._check_files([task])
        rows = read_task(os.path.join(self.data_dir_path, FILES[task]), task)
        if self.lazy_embedding:
            embed = partial(self.embed, **embedding)
            return evaluate_classification(None, rows, embed=embed, lazy=True, **options)
        second = rows.texts[1] if len(rows.texts) > 1 else None
        path = self._cache_path(task, rows.texts)
        features = None if fresh else _cached(path)
        if features is None:
            embeddings = self.embed(rows.texts[0], second, task=task, data_split="all", **embedding)
            (features,) = vectors_of(embeddings, len(rows))
            _save(path, features)
        return evaluate_classification(features, rows, **options)

    def _options(self, task: str, training: Mapping[str, Any]) -> dict[str, Any]:
        if self.disable_multiprocessing and "n_processes" in training:
            raise OptionError("n_processes", "cannot be given with disable_multiprocessing=True")
        unknown = [name for name in training if name not in TRAINING]
        if unknown:
            raise OptionError("kwargs_train", f"unknown {unknown}; expected some of {[*TRAINING]}")
        options = {
            ours: training[name] for name, ours in TRAINING.items() if ours and name in training
        }
        options.setdefault("hidden", HIDDEN if task in WITH_ALTERNATIVES else ())
        options["hidden"] = tuple(options["hidden"] or ())
        return options

    def _cache_path(self, task: str, texts: Sequence[list[str]]) -> str | None:
        """The file of cached embeddings of these texts, or None without a cache."""
        if self.cache_dir is None:
            return None
        digest = digest_of(chain([str(len(texts))], *texts))
        return os.path.join(self.cache_dir, f"{task}-{digest}.npy")


class UlyssesSentEvalLazy(UlyssesSentEval):
    """Evaluate a scikit-learn transformer such as TF-IDF, fitted on the training part of each fold.

    sentence_model: a transformer of texts; copies of it are fitted. **kwargs: as in
    UlyssesSentEval.
    """

    def __init__(self, sentence_model: object, **kwargs: Any) -> None:
        super().__init__(sentence_model, **kwargs, lazy_embedding=True)
        self._fitted: Any = None

    def embed(
        self,
        X_a: list[str],  # noqa: N803
        X_b: list[str] | None,  # noqa: N803
        task: str,  # noqa: ARG002
        data_split: str,
        **kwargs: object,  # noqa: ARG002
    ) -> Any:
        """The features of rows; fits a copy of the model if data_split is "train"."""
        import numpy

        if data_split == "all":
            raise ValueError(
                "data_split: a lazy model embeds 'train', 'eval' and 'test', not 'all'"
            )
        if data_split == "train":
            clone = optional("sklearn.base", "UlyssesSentEvalLazy", "tasks").clone
            self._fitted = clone(self.sentence_model)
            self._fitted.fit([*X_a, *(X_b or ())])

        def encoded(texts: list[str]) -> Any:
            features = self._fitted.transform(texts).astype(numpy.float32, copy=False)
            return features if isinstance(features, numpy.ndarray) else features.toarray()

        return encoded(X_a) if X_b is None else pair_features(encoded(X_a), encoded(X_b))


def _cached(path: str | None) -> object:
    import numpy

    return numpy.load(path) if path is not None and os.path.exists(path) else None


def _save(path: str | None, features: Any) -> None:
    import numpy

    if path is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        content = io.BytesIO()
        numpy.save(content, features)
        files.write(path, [content.getvalue()])


def _expanded(path: str) -> str:
    return os.path.abspath(os.path.expanduser(os.path.expandvars(path)))
