"""`load_scores`: which scores of a store it returns, under which names."""

from __future__ import annotations

import io
import os
import shutil
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


def evaluate(store: Path, *arguments: object) -> None:
    with redirect_stderr(io.TextIOWrapper(io.BytesIO())):
        main(["eval", "--resume", str(store), "-o", os.devnull, *map(str, arguments)])


def test_loaded_scores_can_be_compared(store: Path) -> None:
    evaluate(store, "-m", "map P.10", QRELS, PIXELS, PCA)

    found = fr.compare_scores(fr.load_scores(store))

    expected = fr.compare(QRELS, [PIXELS, PCA], "map P.10")
    assert str(found) == str(expected)


def test_files_with_the_same_name_are_distinguished_by_their_folders(
    store: Path, tmp_path: Path
) -> None:
    for folder, run in (("a", PIXELS), ("b", PCA)):
        (tmp_path / folder).mkdir()
        shutil.copy(run, tmp_path / folder / "own.run")
    runs = [tmp_path / "a" / "own.run", tmp_path / "a" / ".." / "b" / "own.run", PCA]
    evaluate(store, "-m", "map", QRELS, *runs)

    assert list(fr.load_scores(store)) == ["a/own.run", "b/own.run", "pca"]


def test_several_evaluations_are_listed(store: Path) -> None:
    evaluate(store, "-m", "map", QRELS, PIXELS, PCA)
    evaluate(store, "-m", "map", "-l", "2", QRELS, PCA)

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
    lines = Path(QRELS).read_text().splitlines(keepends=True)
    (tmp_path / "half").write_text("".join(lines[::2]))
    evaluate(store, "-m", "map P.5,10", QRELS, PCA)
    evaluate(store, "-m", "map", QRELS, PCA)
    evaluate(store, "-m", "map", "-l", "2", QRELS, PCA)
    evaluate(store, "-m", "map", "--trec-eval-version", "10.0", QRELS, PCA)
    evaluate(store, "-m", "map", tmp_path / "half", PCA)

    def mean(**wanted: object) -> dict[str, float]:
        return dict(fr.load_scores(store, **wanted)["pca"].mean)  # type: ignore[arg-type]

    assert set(mean(measures=["P_10", "P_5", "map"])) == {"map", "P_5", "P_10"}
    assert mean(qrels=tmp_path / "half") == fr.evaluate(tmp_path / "half", PCA, "map").mean
    assert mean(relevance_level=2) == fr.evaluate(QRELS, PCA, "map", relevance_level=2).mean
    assert mean(trec_eval_version="10.0") == fr.evaluate(QRELS, PCA, "map").mean
    with pytest.raises(fr.OptionError, match=r"no such evaluation:\n  \w+: .*map P\.5,10"):
        mean(measures="ndcg")
    with pytest.raises(TypeError, match="did you mean 'relevance_level'"):
        mean(relevance_levl=2)
    with pytest.raises(TypeError, match=r"^group: expected str, found int$"):
        mean(group=12345678)


def test_of_several_versions_of_fastrank_the_newest_is_loaded(store: Path) -> None:
    evaluate(store, "-m", "map", QRELS, PCA, PIXELS)
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
    evaluate(store, "-m", "map", QRELS, PCA)
    store.write_text(store.read_text().replace('":', '": ').replace(',"', ', "'))

    assert fr.load_scores(store)["pca"].mean == fr.evaluate(QRELS, PCA, "map").mean


def test_damaged_and_unfinished_lines_are_ignored_with_a_warning(store: Path) -> None:
    evaluate(store, "-m", "map", QRELS, PCA, PIXELS)
    content = store.read_bytes()

    store.write_bytes(content[:-5])
    with pytest.warns(UserWarning, match="ignored the unfinished last line"):
        assert list(fr.load_scores(store)) == ["pca"]
    assert store.read_bytes() == content[:-5]

    store.write_bytes(content[:-5] + b"\n")
    with pytest.warns(UserWarning, match=r":3: ignored a damaged line \(wrong checksum\)$"):
        assert list(fr.load_scores(store)) == ["pca"]

    store.write_bytes(content + b"[1]\n" + content[:9] + b"\n")
    with pytest.warns(UserWarning, match=r":4: ignored a damaged line .*, and 1 more$"):
        assert list(fr.load_scores(store)) == ["pca", "pixels"]


def test_a_store_at_a_url_is_an_error() -> None:
    with pytest.raises(fr.ReadError, match=r"^memory://a/s\.jsonl: expected a local file"):
        fr.load_scores("memory://a/s.jsonl")


def test_a_missing_store_is_an_error(store: Path) -> None:
    with pytest.raises(fr.ReadError, match="no such file or directory"):
        fr.load_scores(store)


@pytest.mark.parametrize("content", ["", '{"schema":"fastrank.scores/1","gro'])
def test_a_store_without_scores_is_an_error(content: str, store: Path) -> None:
    store.write_text(content)

    if content:
        with (
            pytest.warns(UserWarning, match="unfinished"),
            pytest.raises(fr.InputError, match="has no scores"),
        ):
            fr.load_scores(store)
    else:
        with pytest.raises(fr.InputError, match="has no scores"):
            fr.load_scores(store)


def test_another_file_is_an_error() -> None:
    with pytest.raises(fr.InputError, match="not a store of `fastrank eval --resume`"):
        fr.load_scores(PCA)


def test_measures_that_this_version_lacks_are_an_error(store: Path) -> None:
    evaluate(store, "-m", "map", QRELS, PCA)
    rewrite(store, '"measures":["map"]', '"measures":["mapp"]')

    with pytest.raises(fr.InputError, match=r"written by fastrank .*: unknown measure 'mapp'"):
        fr.load_scores(store)
