"""Record what sentence-transformers and MTEB compute; see the README."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from tests.helpers import similar_vectors as made  # noqa: E402

SIMILARITIES = ["cosine", "dot", "euclidean", "manhattan"]


def sentence_transformers(model: made.Vectors, tasks: dict[str, Any]) -> dict[str, Any]:
    """The values of its evaluators, by the kind of evaluation."""
    from sentence_transformers.sentence_transformer import evaluation

    options = {"write_csv": False, "similarity_fn_names": SIMILARITIES}
    model_card = SimpleNamespace(set_evaluation_metrics=lambda *_: None)
    given = SimpleNamespace(
        encode=model.encode,
        encode_query=model.encode,
        encode_document=model.encode,
        similarity_fn_name="cosine",
        model_card_data=model_card,
    )
    evaluators = {
        "similarity": evaluation.EmbeddingSimilarityEvaluator(*tasks["similarity"], **options),
        "pairs": evaluation.BinaryClassificationEvaluator(*tasks["pairs"], **options),
        "triplets": evaluation.TripletEvaluator(*tasks["triplets"], **options),
        "triplets with margin": evaluation.TripletEvaluator(
            *tasks["triplets"], margin={"cosine": 0.1, "manhattan": 3}, **options
        ),
    }
    return {name: _plain(evaluator(given)) for name, evaluator in evaluators.items()}


def mteb(model: made.Vectors, tasks: dict[str, Any]) -> dict[str, Any]:
    """The values of its tasks, by the kind of evaluation."""
    from mteb.mocks.mock_tasks import bitext_mining, pair_classification, sts
    from mteb.similarity_functions import cos_sim, pairwise_cos_sim

    class Model:
        mteb_model_meta = None

        def __init__(self) -> None: ...

        def encode(self, inputs: Any, **_: Any) -> Any:
            return model.encode([text for batch in inputs for text in batch["text"]])

        def similarity(self, one: Any, other: Any) -> Any:
            return cos_sim(one, other)

        def similarity_pairwise(self, one: Any, other: Any) -> Any:
            return pairwise_cos_sim(one, other)

    kinds = {
        "pairs": (pair_classification.MockPairClassificationTask, "labels"),
        "similarity": (sts.MockSTSTask, "score"),
        "bitext": (bitext_mining.MockBitextMiningTask,),
        "reverse bitext": (bitext_mining.MockBitextMiningTask,),
    }
    given = {**tasks, "reverse bitext": tasks["bitext"][::-1]}
    recorded = {}
    for name, (kind, *labels) in kinds.items():
        columns = dict(zip(("sentence1", "sentence2", *labels), given[name], strict=True))
        recorded[name] = _mteb_values(kind(), Model(), columns)
    return recorded


def _mteb_values(task: Any, model: Any, columns: dict[str, Any]) -> Any:
    from datasets import Dataset, DatasetDict

    task.dataset = DatasetDict({"test": Dataset.from_dict(columns)})
    task.data_loaded = True
    return _plain(task.evaluate(model, "test", encode_kwargs={})["default"])


def _plain(values: Any) -> Any:
    if isinstance(values, dict):
        return {name: _plain(value) for name, value in values.items()}
    if isinstance(values, list):
        return [_plain(value) for value in values]
    return values.item() if hasattr(values, "item") else values


def main() -> None:
    """Write values.json."""
    recorded: dict[str, Any] = {}
    for kind in made.KINDS:
        model, tasks = made.make(kind)
        recorded[kind] = {
            "sentence-transformers": sentence_transformers(model, tasks),
            "mteb": mteb(model, tasks),
        }
    path = HERE / "values.json"
    path.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
