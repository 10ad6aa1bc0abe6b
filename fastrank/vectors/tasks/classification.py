"""Evaluate embeddings by the classifiers that can be trained on them, as in Ulysses SentEval."""

from __future__ import annotations

from fastrank.common.arguments import at_least, finite, flag, fraction
from fastrank.common.keywords import Keyword, takes, with_defaults
from fastrank.errors import OptionError
from fastrank.vectors.tasks.inputs import TASK, TaskOptions
from fastrank.vectors.tasks.problem import problem_of
from fastrank.vectors.tasks.task import Task
from fastrank.vectors.tasks.ulysses_protocol import METRICS, MOST_SEED, evaluate_ulysses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.vectors.tasks.result import TaskResult


class ClassificationOptions(TaskOptions, total=False):
    """Options of evaluations that train classifiers."""

    embed: Callable[..., object] | None
    lazy: bool | None
    alternatives: bool
    repetitions: int
    folds: int
    hidden: int | Sequence[int]
    metric: str | None
    epochs: int
    patience: int
    min_improvement: float
    validation: float
    train_batch_size: int
    seed: int | None


def _layers(name: str, value: int | Sequence[int]) -> tuple[int, ...]:
    layers = (value,) if isinstance(value, int) else value
    return tuple(at_least(name, units, 1) for units in layers)


def _seed(name: str, value: int) -> int:
    seed = at_least(name, value, 0)
    if seed > MOST_SEED:
        raise OptionError(name, f"expected at most {MOST_SEED}, found {value}")
    return seed


CLASSIFICATION = (
    Keyword(
        "embed",
        None,
        """a function `embed(texts_a, texts_b, task, split)` to use in place of the model, which is
        then None. It returns the features of the rows, an array of shape (rows, features). texts_b
        is None for tasks of one text, task is the name, split is "all".""",
    ),
    Keyword(
        "lazy",
        None,
        """whether the embedder is fitted anew on the training part of each split. By default this
        is so for scikit-learn transformers that are not fitted. With `embed`, split is then
        "train", "eval" or "test".""",
        check=flag,
    ),
    Keyword(
        "alternatives",
        False,
        """whether the second text of a row holds several, separated by " [SEP] ", whose vectors
        follow that of the first text in the features. An embedder that is fitted on each training
        part takes them as one text, as in the package.""",
    ),
    Keyword("repetitions", 10, "how often the rows are balanced and split.", least=1),
    Keyword("folds", 5, "the number of folds of each repetition.", least=2),
    Keyword(
        "hidden",
        (),
        """the units of each hidden layer, (256,) for the tasks F3 and F5; none is logistic
        regression.""",
        check=_layers,
    ),
    Keyword(
        "metric",
        None,
        """"matthews" (Matthews correlation, at least 0; the default for two classes) or
        "adjusted_macro_f1" (macro F1 scaled so that chance is 0, at least 0; otherwise).""",
        choices=tuple(METRICS),
    ),
    Keyword("epochs", 100, "the most epochs.", least=1),
    Keyword(
        "patience",
        5,
        """training stops after more than this many epochs in a row without a validation loss that
        is smaller by the share `min_improvement`.""",
        least=0,
    ),
    Keyword("min_improvement", 0.0025, "see `patience`.", check=finite),
    Keyword(
        "validation",
        0.2,
        "the share of validation rows in the rows that are not for testing.",
        check=fraction,
    ),
    Keyword(
        "train_batch_size",
        128,
        "rows in a batch; the rows left at the end of an epoch are not used.",
        least=2,
    ),
    Keyword("seed", None, "of all random numbers, by default the package's.", check=_seed),
)


@takes(ClassificationOptions, CLASSIFICATION, TASK)
def evaluate_classification(
    model_or_vectors: object, task: object, **options: Unpack[ClassificationOptions]
) -> TaskResult:
    """Train and test classifiers as the package ulysses-senteval does, with its random numbers.

    In each repetition the classes are balanced by undersampling and split into folds. For each
    fold, the best of 12 settings of AdamW on the validation rows is used to train a classifier
    until the validation loss stops improving. Comparable results need the default options.

    model_or_vectors: a model as in `evaluate_model`, or vectors of the rows: an array, tensor or
        list of rows, or a tuple with one of these for each text of a row.
    task: a TextTask with labels, or what makes one: a file (CSV, TSV, JSONL, parquet), a frame, a
        Hugging Face Dataset, or a tuple (texts, labels) or (texts a, texts b, labels). With vectors
        also a list or array of labels. Labels are int, str or bool. Or a Task of this kind, whose
        options apply unless others are given.
    **options: see `ClassificationOptions`.

    Vectors of an `embed` function, and of an embedder that is fitted on each training part, are not
    cached.

    Like the package, this learns almost nothing from fewer than 4 batches of training rows (under
    800 rows after balancing), because the learning rate then stays at 5 %; and logits that are all
    between 0 and 1 count as probabilities in the Matthews correlation. Both cause a warning, as
    does a feature that is constant in training rows: scaling divides it by 1e-12.

    Raises InputError for labels that are missing, of several types or of one class, and for a class
    with fewer rows than folds; ArrayError for invalid vectors; OptionError for an invalid option;
    TypeError for an unknown option or an object that is not a model.

    >>> import numpy
    >>> labels = numpy.arange(1000) % 2
    >>> vectors = numpy.random.RandomState(0).normal(3 * labels[:, None], size=(1000, 4))
    >>> fr.tasks.evaluate_classification(vectors, labels, repetitions=1, name="shift")
    <TaskResult shift: classification, matthews 0.9040 ± 0.2035, 1,000 rows>
    """
    settings: Any = options
    if isinstance(task, Task):
        if task.kind != "classification":
            raise TypeError(f"task: expected a Task of classification, found one of {task.kind}")
        others = {name: value for name, value in options.items() if value is not None}
        settings, task = {"name": task.name, **task.options, **others}, task.data
    settings = with_defaults(evaluate_classification, settings)
    settings |= {
        keyword.name: keyword.checked(settings[keyword.name]) for keyword in CLASSIFICATION
    }
    return evaluate_ulysses(problem_of(model_or_vectors, task, settings), settings)
