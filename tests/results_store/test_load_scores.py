"""`load_scores`: which scores of a store it returns, under which names."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

import pytest

import fastrank as fr
from fastrank.cli.main import main
from tests.helpers.paths import DATA
from tests.helpers.stores import rewrite

QRELS, PIXELS, PCA = (str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run"))


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
    with pytest.raises(fr.OptionError) as error:
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
    with pytest.raises(fr.OptionError, match=r"no such evaluation:\n  \w+: .*map P\.5,10"):
        mean(measures="ndcg")
    with pytest.raises(TypeError, match="did you mean 'relevance_level'"):
        mean(relevance_levl=2)
    with pytest.raises(TypeError, match=r"^group: expected str, found int$"):
        mean(group=12345678)


def test_of_several_versions_of_fastrank_the_newest_is_loaded(store: Path) -> None:
    evaluate(store, "", QRELS, PCA, PIXELS)
    content = store.read_text()
    description, _, pixels = content.splitlines(keepends=True)
    store.write_text(content.removesuffix(pixels))
    rewrite(store, '"fastrank":"', '"fastrank":"0.0.')
    rewrite(store, description.split('"')[7], "0" * 16)
    with store.open("a") as file:
        file.write(description + pixels)
    assert list(fr.load_scores(store)) == ["pixels"]
    assert list(fr.load_scores(store, group="000")) == ["pca"]


def test_lines_that_another_program_formatted_are_read(store: Path) -> None:
    evaluate(store, "", QRELS, PCA)
    store.write_text(store.read_text().replace('":', '": ').replace(',"', ', "'))
    assert fr.load_scores(store)["pca"].mean == fr.evaluate(QRELS, PCA, "map").mean


@pytest.mark.parametrize(
    ("change", "message", "names"),
    [
        (lambda text: text[:-5], "ignored the unfinished last line", ["pca"]),
        (
            lambda text: text[:-5] + b"\n",
            r":3: ignored a damaged line \(wrong checksum\)$",
            ["pca"],
        ),
        (
            lambda text: text + b"[1]\n" + text[:9] + b"\n",
            r":4: ignored a damaged line .*, and 1 more$",
            ["pca", "pixels"],
        ),
    ],
    ids=["unfinished", "damaged", "two damaged"],
)
def test_damaged_and_unfinished_lines_are_ignored_with_a_warning(
    change: Callable[[bytes], bytes], message: str, names: list[str], store: Path
) -> None:
    """The file stays as it is."""
    evaluate(store, "", QRELS, PCA, PIXELS)
    content = change(store.read_bytes())
    store.write_bytes(content)
    with pytest.warns(UserWarning, match=message):
        assert list(fr.load_scores(store)) == names
    assert store.read_bytes() == content


@pytest.mark.filterwarnings("ignore:.*unfinished")
@pytest.mark.parametrize(
    ("path", "kind", "message"),
    [
        ("memory://a/s.jsonl", fr.ReadError, r"^memory://a/s\.jsonl: expected a local file"),
        ("missing", fr.ReadError, "no such file or directory"),
        ("empty", fr.InputError, "has no scores"),
        ("begun", fr.InputError, "has no scores"),
        (PCA, fr.InputError, "not a store of `fastrank eval --resume`"),
        ("other", fr.InputError, r"written by fastrank .*: unknown measure 'mapp'"),
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
