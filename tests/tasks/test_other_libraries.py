"""All values are those of sentence-transformers and MTEB on the same vectors."""

import importlib.util
import json
from functools import cache

import pytest

import fastrank as fr
from tests.helpers import similar_vectors as made
from tests.helpers.paths import REPOSITORY

FOLDER = REPOSITORY / "tests" / "recorded" / "similarity"
RECORDED = json.loads((FOLDER / "values.json").read_text("utf-8"))
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")
Values = dict[str, float]

# They add up 32-bit floats, which changes similarities in the last places.
TOLERANCE = 1e-7


@cache
def _ours(kind):
    """Our values with their names, by library and evaluation."""
    model, tasks = made.make(kind)
    texts = {name: fr.TextTask.from_texts(*tasks[name]) for name in ("triplets", "bitext")}
    options = {"similarities": SIMILARITIES}
    margin = {"cosine": 0.1, "manhattan": 3}
    similarity = fr.tasks.evaluate_similarity(model, tasks["similarity"], **options).mean
    triplets, with_margin = (
        fr.tasks.evaluate_triplets(model, texts["triplets"], **more, **options).mean
        for more in ({}, {"margin": margin})
    )
    bitext = fr.tasks.evaluate_bitext(model, texts["bitext"]).mean
    pairs, mteb_pairs = (
        fr.tasks.evaluate_pairs(model, tasks["pairs"], **more, **options).mean
        for more in ({}, {"protocol": "mteb"})
    )
    theirs = ("accuracy", "f1", "precision", "recall", "ap")
    return {
        "sentence-transformers": {
            "similarity": {"_".join(k.split("_")[::-1]): v for k, v in similarity.items()},
            "pairs": pairs,
            "triplets": triplets,
            "triplets with margin": with_margin,
        },
        "mteb": {
            "pairs": {k: v for k, v in mteb_pairs.items() if k.partition("_")[2] in theirs},
            "similarity": {k: v for k, v in similarity.items() if k[:3] not in ("dot", "max")},
            "bitext": {k: v for k, v in bitext.items() if not k.startswith("reverse_")},
            "reverse bitext": {k[8:]: v for k, v in bitext.items() if k.startswith("reverse_")},
        },
    }


def _check(ours, theirs):
    assert {name: theirs[name] for name in ours} == pytest.approx(ours, abs=TOLERANCE)


CASES = [
    (kind, library, evaluation)
    for kind in made.KINDS
    for library in RECORDED[kind]
    for evaluation in RECORDED[kind][library]
]


@pytest.mark.parametrize(("kind", "library", "evaluation"), CASES)
def test_values_equal_the_recorded_ones(kind, library, evaluation):
    _check(_ours(kind)[library][evaluation], RECORDED[kind][library][evaluation])


@pytest.mark.parametrize("kind", made.KINDS)
@pytest.mark.parametrize("library", ["sentence-transformers", "mteb"])
@pytest.mark.filterwarnings("ignore")
def test_values_equal_those_of_the_installed_library(kind, library):
    module = library.replace("-", "_")
    pytest.importorskip(module)
    spec = importlib.util.spec_from_file_location("record_similarity", FOLDER / "record.py")
    assert spec is not None
    assert spec.loader is not None
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)

    theirs = getattr(record, module)(*made.make(kind))

    for evaluation, ours in _ours(kind)[library].items():
        _check(ours, theirs[evaluation])


@pytest.mark.parametrize("kind", made.KINDS)
def test_no_metric_of_theirs_is_missing(kind):
    """Except those of the model's own similarity, and the highest thresholds."""
    skipped = {"main_score", "max_accuracy_threshold", "max_f1_threshold"}
    for library, evaluations in RECORDED[kind].items():
        for evaluation, theirs in evaluations.items():
            names = {name for name, value in theirs.items() if not isinstance(value, dict)}
            names = {name for name in names if name.split("_")[0] != "similarity"}
            ours = set(_ours(kind)[library][evaluation])
            assert names - skipped - {"spearman", "pearson"} <= ours
