"""Record what the package ulysses-senteval computes; see README.md in this folder."""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path

import pandas
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from ulysses_senteval import UlyssesSentEval, UlyssesSentEvalLazy, assets, stats, train

from tests.helpers.probe_inputs import (
    CASES,
    METRIC_CASES,
    TASKS,
    TRAINING,
    features_of,
    letter_counts,
    samples,
    write_tasks,
)

COMMON = {"device": "cpu", "show_progress_bar": False, "n_processes": 1}


def plain(results: dict) -> dict:
    """Numpy arrays as lists."""
    return {
        key: value.tolist() if hasattr(value, "tolist") else value for key, value in results.items()
    }


def frame(found) -> dict[str, list]:
    return {str(name): found[name].tolist() for name in found.columns}


def cases() -> dict:
    recorded = {}
    for name, (_, _, _, classes, _, options) in CASES.items():
        x, y = features_of(name)
        metric = assets.get_eval_metric("F2" if classes > 2 else "T1A", classes)
        means, values = train.kfold_train(
            torch.from_numpy(x),
            y.astype(float if classes == 2 else int),
            classes,
            metric,
            **COMMON,
            **options,
        )
        recorded[name] = {"means": plain(means), "values": frame(values)}
        print(name, means["avg_metric_test"], len(values), file=sys.stderr)
    return recorded


def metrics() -> list[float]:
    found = []
    for logits, y in METRIC_CASES:
        logits, y = torch.tensor(logits, dtype=torch.float32), torch.tensor(y)
        task, classes = ("T1A", 2) if logits.ndim == 1 else ("F2", logits.shape[1])
        found.append(float(assets.get_eval_metric(task, classes)(logits, y)))
    return found


def intervals() -> list[list[float]]:
    return [
        list(map(float, stats.avg_ci_with_bootstrap(pandas.Series(values), seed)))
        for values, seed in samples()
    ]


class Letters:
    def encode(self, texts, convert_to_tensor: bool = True, **_):
        return torch.from_numpy(letter_counts(texts))


def tasks() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        write_tasks(Path(folder), assets.TASK_CODE_TO_NAME)
        options = {"data_dir_path": folder, "disable_multiprocessing": True}
        model = TfidfVectorizer(max_features=40)
        return {
            "eager": results(UlyssesSentEval(Letters(), tasks=list(TASKS), **options)),
            "lazy": results(UlyssesSentEvalLazy(model, tasks=["T1A", "G3"], **options)),
        }


def results(evaluator) -> dict:
    training = {"device": "cpu", "show_progress_bar": False, **TRAINING}
    means, values = evaluator.evaluate(kwargs_train=training, return_all_results=True)
    return {"means": {task: plain(found) for task, found in means.items()}, "values": frame(values)}


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return list(map(rounded, value))
    return float(f"{value:.9g}") if isinstance(value, float) else value


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = rounded({"metrics": metrics(), "cases": cases(), **tasks()})
    found["intervals"] = intervals()
    target = Path(__file__).parent / "ulysses.json.gz"
    target.write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))
