"""Write senteval.json: what the classifiers of facebookresearch/SentEval find on generated vectors.

    python record_senteval.py FOLDER_OF_SENTEVAL > senteval.json

See README.md for the environment.
"""

from __future__ import annotations

import inspect
import json
import sys
from typing import Any

import numpy as np
import torch._dynamo

from tests.helpers.labelled_vectors import labelled_pairs, labelled_vectors

SEED = 1111


def on_cpu() -> None:
    """Let the package run without CUDA, and in versions of Python without getargspec."""
    # torch._dynamo, which is imported above, uses torch.device as a type.
    device = torch.device
    torch.device = lambda name: device("cpu")
    torch.Tensor.cuda = lambda self, *_, **__: self
    torch.nn.Module.cuda = lambda self, *_, **__: self
    inspect.getargspec = lambda function: inspect.getfullargspec(function)[:4]


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    on_cpu()
    from senteval.tools import classifier, validation

    fits: list[list[Any]] = []
    fit = classifier.MLP.fit

    def recorded_fit(self: Any, *arguments: Any, **options: Any) -> float:
        accuracy = fit(self, *arguments, **options)
        weights = self.model[0].weight.detach().numpy()[:2, :2].ravel()
        fits.append([self.l2reg, round(accuracy, 8), [round(float(x), 8) for x in weights]])
        return accuracy

    classifier.MLP.fit = recorded_fit

    def config(classes: int, **options: Any) -> dict[str, Any]:
        chosen = {"nhid": 0, "optim": "adam", **options.pop("classifier", {})}
        return {
            "nclasses": classes,
            "seed": SEED,
            "usepytorch": True,
            "classifier": chosen,
            **options,
        }

    def pair(given: tuple[Any, Any, Any]) -> tuple[Any, Any]:
        first, second, labels = given
        return np.c_[np.abs(first - second), first * second], labels

    def snli(given: tuple[Any, Any, Any]) -> tuple[Any, Any]:
        first, second, labels = given
        return np.hstack((first, second, first * second, np.abs(first - second))), labels

    def inner(x: Any, y: Any, **options: Any) -> tuple[float, ...]:
        return validation.InnerKFoldClassifier(x, y, config(len(set(y)), **options)).run()

    def kfold(train: Any, test: Any, **options: Any) -> tuple[float, ...]:
        parts = [{"X": x, "y": y} for x, y in (train, test)]
        dev, accuracy, predicted = validation.KFoldClassifier(
            *parts, config(len(set(train[1])), **options)
        ).run()
        right = float(np.mean(np.ravel(predicted) == test[1]))
        assert round(100 * right, 2) == accuracy
        return dev, accuracy

    def split(train: Any, valid: Any, test: Any, **options: Any) -> tuple[float, ...]:
        parts = dict(zip(("train", "valid", "test"), (train, valid, test), strict=True))
        return validation.SplitClassifier(
            {name: x for name, (x, _) in parts.items()},
            {name: y for name, (_, y) in parts.items()},
            config(len(set(train[1])), **options),
        ).run()

    fast = {"optim": "rmsprop", "batch_size": 128, "tenacity": 3, "epoch_size": 2}
    singles = [
        labelled_vectors(rows, 24, 3, seed, 4.0) for rows, seed in ((401, 1), (151, 2), (153, 3))
    ]
    pairs = [labelled_pairs(rows, 16, 3, seed) for rows, seed in ((402, 4), (150, 5), (152, 6))]
    binary = labelled_vectors(303, 24, 2, 7, 4.0)
    cases = {
        "inner": lambda: inner(*binary, kfold=3),
        "inner_mlp": lambda: inner(*binary, kfold=3, classifier={"nhid": 10}),
        "inner_fast": lambda: inner(*singles[0], kfold=5, classifier=fast),
        "inner_sklearn": lambda: inner(*binary, kfold=3, usepytorch=False),
        "kfold": lambda: kfold(singles[0], singles[2], kfold=5),
        "kfold_pair": lambda: kfold(pair(pairs[0]), pair(pairs[2]), kfold=5),
        "kfold_sklearn": lambda: kfold(singles[0], singles[2], kfold=5, usepytorch=False),
        "split": lambda: split(*singles),
        "split_sgd": lambda: split(*singles, classifier={"optim": "sgd,lr=0.1"}),
        "split_mlp": lambda: split(*singles, classifier={"nhid": 12}),
        "split_pair": lambda: split(*map(pair, pairs)),
        "split_snli": lambda: split(
            *map(snli, pairs),
            cudaEfficient=True,
            noreg=True,
            classifier={"max_epoch": 15, "epoch_size": 1},
        ),
        "split_sklearn": lambda: split(*singles, usepytorch=False),
    }
    recorded = {}
    for name, run in cases.items():
        fits.clear()
        dev, test = run()
        recorded[name] = {"dev": float(dev), "test": float(test), "fits": list(fits)}
    # Each fit: the penalty, the accuracy on the validation rows, four weights of the first layer.
    lines = (f"{json.dumps(name)}: {json.dumps(case)}" for name, case in recorded.items())
    print("{\n" + ",\n".join(lines) + "\n}")


main()
