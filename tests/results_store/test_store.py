"""Stores of scores: the lines of the file, what is stored, and what `load_scores` returns."""

from __future__ import annotations

import errno
import fcntl
import io
import math
import os
import shutil
import struct
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.data.columns import Frozen
from fastrank.errors import FormatError, InputError, OptionError, ReadError
from fastrank.results_store.records import SCHEMA
from fastrank.results_store.store import Store
from fastrank.scores.summary import Coverage
from tests.helpers.parsing import read_prefs
from tests.helpers.paths import DATA
from tests.helpers.stores import rewrite

QRELS, PIXELS, PCA = (str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run"))
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


# Which scores are loaded, under which names


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "scores.jsonl"


def evaluate(store: Path, options: str, *files: object) -> None:
    """Store the scores of `-m map` with options."""
    words = ["eval", "--resume", store, "-o", os.devnull, "-m", "map", *options.split(), *files]
    with redirect_stderr(io.TextIOWrapper(io.BytesIO())):
        main(list(map(str, words)))


def test_loaded_scores_can_be_compared(store: Path) -> None:
    evaluate(store, "-m P.10", QRELS, PIXELS, PCA)
    expected = fr.compare(QRELS, [PIXELS, PCA], "map P.10")
    assert str(fr.compare_scores(fr.load_scores(store))) == str(expected)


def test_files_with_the_same_name_are_distinguished_by_their_folders(
    store: Path, tmp_path: Path
) -> None:
    for folder, run in (("a", PIXELS), ("b", PCA)):
        (tmp_path / folder).mkdir()
        shutil.copy(run, tmp_path / folder / "own.run")
    runs = [tmp_path / "a" / "own.run", tmp_path / "a" / ".." / "b" / "own.run", PCA]
    evaluate(store, "", QRELS, *runs)
    assert list(fr.load_scores(store)) == ["a/own.run", "b/own.run", "pca"]


def test_several_evaluations_are_listed(store: Path) -> None:
    evaluate(store, "", QRELS, PIXELS, PCA)
    evaluate(store, "-l 2", QRELS, PCA)
    with pytest.raises(OptionError) as error:
        fr.load_scores(store)
    first, *listed = str(error.value).splitlines()
    assert first == f"group: {store} has several evaluations; choose one:"
    digest = fr.save_baseline(io.BytesIO(), QRELS, PCA, "map").qrels["digest"][:8]
    what = f"{QRELS} ({digest}), map"
    assert [line.partition(": ")[2] for line in listed] == [
        f"{what}, trec_eval 9.0.8; 2 runs",
        f"{what}, relevance_level=2, trec_eval 9.0.8; 1 run",
    ]
    group = listed[1].partition(": ")[0].strip()
    assert list(fr.load_scores(store, group=group)) == ["pca"]


def test_an_evaluation_is_selected_by_what_evaluate_takes(store: Path, tmp_path: Path) -> None:
    half = tmp_path / "half"
    half.write_text("".join(Path(QRELS).read_text().splitlines(keepends=True)[::2]))
    for options in ("-m P.5,10", "", "-l 2", "--trec-eval-version 10.0"):
        evaluate(store, options, QRELS, PCA)
    evaluate(store, "", half, PCA)

    def mean(**wanted: object) -> dict[str, float]:
        return dict(fr.load_scores(store, **wanted)["pca"].mean)  # type: ignore[arg-type]

    assert set(mean(measures=["P_10", "P_5", "map"])) == {"map", "P_5", "P_10"}
    assert mean(qrels=half) == fr.evaluate(half, PCA, "map").mean
    assert mean(relevance_level=2) == fr.evaluate(QRELS, PCA, "map", relevance_level=2).mean
    assert mean(trec_eval_version="10.0") == fr.evaluate(QRELS, PCA, "map").mean
    with pytest.raises(OptionError, match=r"no such evaluation:\n  \w+: .*map P\.5,10"):
        mean(measures="ndcg")
    with pytest.raises(TypeError, match="did you mean 'relevance_level'"):
        mean(relevance_levl=2)
    with pytest.raises(TypeError, match=r"^group: expected str, found int$"):
        mean(group=12345678)


def test_of_several_versions_of_fastrank_the_newest_is_loaded(store: Path) -> None:
    evaluate(store, "", QRELS, PCA)
    rewrite(store, '"fastrank":"', '"fastrank":"0.0.')
    rewrite(store, store.read_text().split('"')[7], "0" * 16)
    evaluate(store, "", QRELS, PIXELS)
    assert list(fr.load_scores(store)) == ["pixels"]
    assert list(fr.load_scores(store, group="000")) == ["pca"]


def test_an_unfinished_line_is_ignored_with_a_warning(store: Path) -> None:
    """The file stays as it is."""
    evaluate(store, "", QRELS, PCA, PIXELS)
    content = store.read_bytes()[:-5]
    store.write_bytes(content)
    with pytest.warns(UserWarning, match="ignored the unfinished last line"):
        assert list(fr.load_scores(store)) == ["pca"]
    assert store.read_bytes() == content


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: text[:-5] + b"\n", 2),
        (lambda text: text.replace(b'"map":0', b'"map":1', 1), 1),
        (lambda text: text + b"[1]\n", 3),
    ],
    ids=["short", "changed", "other"],
)
def test_a_damaged_line_is_an_error(
    change: Callable[[bytes], bytes], line: int, store: Path
) -> None:
    evaluate(store, "", QRELS, PCA, PIXELS)
    store.write_bytes(change(store.read_bytes()))
    with pytest.raises(FormatError, match=rf":{line}: damaged \(wrong checksum\); remove the line"):
        fr.load_scores(store)


@pytest.mark.filterwarnings("ignore:.*unfinished")
@pytest.mark.parametrize(
    ("path", "kind", "message"),
    [
        ("memory://a/s.jsonl", ReadError, r"^memory://a/s\.jsonl: expected a local file"),
        ("missing", ReadError, "no such file or directory"),
        ("empty", InputError, "has no scores"),
        ("begun", InputError, "has no scores"),
        (PCA, InputError, "not a store of `fastrank eval --resume`"),
        ("other", InputError, r"written by fastrank .*: unknown measure 'mapp'"),
    ],
)
def test_what_is_no_store_with_scores_is_an_error(
    path: str, kind: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or one with measures that this version lacks."""
    monkeypatch.chdir(tmp_path)
    Path("empty").touch()
    Path("begun").write_text('{"schema":"fastrank.scores/1","gro')
    if path == "other":
        evaluate(Path("other"), "", QRELS, PCA)
        rewrite(Path("other"), '"measures":["map"]', '"measures":["mapp"]')
    with pytest.raises(kind, match=message):
        fr.load_scores(path)


# Files that several processes append to


def opened(path: Path) -> Store:
    return Store(str(path), append=True, warn=print)


def a_record(file: str) -> dict[str, Any]:
    return {"schema": SCHEMA, "group": "g", "run": file, "file": file, "state": [1], "tag": ""}


def files_of(store: Store) -> list[str]:
    store.read()
    return list(store.runs.get("g", ()))


def test_lines_of_others_are_read_as_they_come(store: Path) -> None:
    first, second = opened(store), opened(store)
    first.add(a_record("one"))
    first.add(a_record("two" * 100_000))
    assert files_of(second) == ["one", "two" * 100_000]
    second.add(a_record("three"))
    assert files_of(first) == ["one", "two" * 100_000, "three"]


def no_locks(*_: object) -> None:
    raise OSError(errno.ENOSYS, "not implemented")


@pytest.mark.parametrize("lock", [fcntl.flock, no_locks])
def test_an_unfinished_line_is_replaced_by_the_next_one(
    lock: Any, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", lock)
    file = opened(store)
    file.add(a_record("one"))
    store.write_bytes(store.read_bytes() + b"unfin")
    file.add(a_record("two"))
    assert files_of(opened(store)) == ["one", "two"]


def test_a_write_that_fails_in_the_middle_leaves_the_old_lines(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def full(file: int, content: bytes) -> int:
        if len(content) < 20:
            raise OSError(errno.ENOSPC, "no space left on device")
        return write(file, content[:3])

    file = opened(store)
    file.add(a_record("one"))
    old = store.read_bytes()
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="no space left"):
        file.add(a_record("two"))
    assert store.read_bytes() == old
