"""Scores from a store are those that were stored, to the last bit."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.data.columns import Frozen
from fastrank.scores.summary import Coverage
from tests.helpers.parsing import read_prefs
from tests.helpers.paths import DATA

QRELS, PCA = str(DATA / "digits.qrels"), str(DATA / "pca.run")
MICRO = "HitRatio(average=micro,denominator=relevant_retrieved)@5"
MEASURES = f"all_trec nDCG@10 RR@10 P.5,10 {MICRO} MedianRank NumRel"


def stored(folder: Path, *arguments: str) -> fr.Scores:
    """The scores of the only run that a command stores."""
    store = folder / "scores.jsonl"
    main(["eval", "--resume", str(store), "-o", str(folder / "printed"), *arguments])
    (scores,) = fr.load_scores(store).values()
    return scores


def fields(value: Any) -> Any:
    """All contents of an object, numbers as their bits."""
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, memoryview):
        return [fields(item) for item in value.tolist()]
    if isinstance(value, Frozen):
        if isinstance(value, Coverage):
            # The order of the judged queries is free.
            found = {value.judged[place] for place in value.found}
            positive = value.positive and sorted(zip(value.judged, value.positive, strict=True))
            return sorted(value.judged), found, value.complete, value.unknown, positive
        # A store keeps no rankings, from which the ranges of tied documents come.
        names = sorted(set(value.field_names) - {"ties"})
        return {name: fields(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return [(name, fields(item)) for name, item in value.items()]
    if callable(value) or isinstance(value, (str, bytes, int, type(None))):
        return value
    return list(map(fields, value))


def assert_stored(
    folder: Path, measures: str, qrels: bytes, run: bytes, words: str = "", **options: Any
) -> fr.Scores:
    """What a command stores is what `evaluate` returns."""
    (folder / "qrels").write_bytes(qrels)
    (folder / "a.run").write_bytes(run)
    paths = [str(folder / name) for name in ("qrels", "a.run")]
    found = stored(folder, "-m", measures, *words.split(), *paths)
    judgments: Any = read_prefs(paths[0]) if "prefs" in words else paths[0]
    assert fields(found) == fields(fr.evaluate(judgments, paths[1], measures, **options))
    return found


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("", {}),
        ("--missing zero", {"missing": "zero"}),
        ("-c --trec-eval-version 10.0", {"missing": "zero", "trec_eval_version": "10.0"}),
        ("--no-relevant skip -l 2", {"no_relevant": "skip", "relevance_level": 2}),
        ("-M 7 -J", {"depth": 7, "judged_only": True}),
        ("--ties worst", {"ties": "worst"}),
    ],
)
def test_loaded_scores_equal_those_of_evaluate(
    words: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """Some queries have no judgments, others no results, no relevant documents, nothing judged."""
    lines = Path(PCA).read_bytes().splitlines(keepends=True)[2500:]
    run = b"".join(lines) + b"new Q0 d 1 1 pca\nlost Q0 d 1 1 pca\n"
    qrels = Path(QRELS).read_bytes() + b"lost 0 e 1\nnone 0 e 0\n"
    assert_stored(tmp_path, MEASURES, qrels, run, words, **options)


def test_groups_of_loaded_scores_are_those_of_evaluate(tmp_path: Path) -> None:
    found = stored(tmp_path, "-m", f"map gm_map {MICRO}", QRELS, PCA)
    groups = {query: query < "q1" for query in found.queries}
    expected = fr.evaluate(QRELS, PCA, f"map gm_map {MICRO}")
    assert fields(found.by_group(groups)) == fields(expected.by_group(groups))


@pytest.mark.parametrize("weight", ["nan", "-nan", "inf", "-inf"])
def test_nan_and_infinity_are_stored_with_their_signs(weight: str, tmp_path: Path) -> None:
    measures = f"utility.{weight},0,0,0 MedianRank"
    run = b"q Q0 a 1 1 t\nr Q0 b 1 1 t\n"
    found = assert_stored(tmp_path, measures, b"q 0 a 1\nr 0 b 0\n", run)
    assert not math.isfinite(found[f"utility_{weight},0,0,0"][0])


def test_ids_and_tags_need_not_be_utf8(tmp_path: Path) -> None:
    run = b"q\xff Q0 a 1 1 t\xfe\nother\xfd Q0 a 1 1 t\xfe\n"
    assert_stored(tmp_path, "map runid relstring", b"q\xff 0 a 1\nr\xfc 0 a 1\n", run)


def test_preferences_are_stored(tmp_path: Path) -> None:
    run = b"q Q0 a 1 2 t\nq Q0 b 2 1 t\n"
    assert_stored(tmp_path, "all_prefs", b"q 1 1 a 2\nq 1 1 b 1\n", run, "-R prefs")
