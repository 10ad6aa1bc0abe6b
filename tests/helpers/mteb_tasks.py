"""Tasks of MTEB whose texts are row numbers, and the model that has the vectors of these."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def mteb_scores(
    kind: str,
    train: tuple[Array, Any],
    test: tuple[Array, Any] | None,
    label: str = "label",
    **settings: Any,
) -> dict[str, Any]:
    """What a task class of mteb finds for these vectors and labels.

    kind: the name of the class in `mteb.abstasks`. test: None for cross-validation. label: the
    column. settings: attributes of the task.
    """
    import mteb
    from datasets import Dataset, DatasetDict
    from mteb.abstasks.task_metadata import TaskMetadata

    vectors = np.concatenate([train[0]] + ([] if test is None else [test[0]]))
    numbers = list(map(str, range(len(vectors))))
    texts = {"train": numbers[: len(train[0])], "test": numbers[len(train[0]) :]}
    given = {"train": train, **({} if test is None else {"test": test})}
    split = "train" if test is None else "test"

    class Model:
        mteb_model_meta = None

        def encode(self, inputs: Any, **options: Any) -> Array:
            rows = [int(text) for batch in inputs for text in batch["text"]]
            return vectors[rows]

        def similarity(self, *given: Any) -> Any:
            raise NotImplementedError

        similarity_pairwise = similarity

    abstract = getattr(mteb.abstasks, kind)

    class Task(abstract):  # type: ignore[misc, valid-type]
        metadata = TaskMetadata(
            dataset={"path": "none", "revision": "1"},
            name="Generated",
            description="Generated vectors",
            type=kind.removeprefix("AbsTask"),
            eval_splits=[split],
            eval_langs=["eng-Latn"],
            main_score="accuracy" if "Classification" in kind else "kendalltau",
        )

        def load_data(self, **options: Any) -> None:
            raise NotImplementedError

    task = Task()
    for name, value in settings.items():
        setattr(task, name, value)
    task.is_cross_validation = test is None
    task.dataset = DatasetDict(
        {
            name: Dataset.from_dict({"text": texts[name], label: labels})
            for name, (_, labels) in given.items()
        }
    )
    task.data_loaded = True
    scores = task.evaluate(Model(), split, encode_kwargs={})
    return dict(scores["default"])
