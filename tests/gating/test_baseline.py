"""The file of a baseline, and which runs can be compared with it."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.formats.digests import judgments_digest
from tests.helpers.paths import DATA

QRELS, PIXELS, PCA = (str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run"))
SMALL = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
RUN = {query: {"x": 2.0, "d": 1.0} for query in SMALL}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A baseline of all queries of SMALL."""
    path = tmp_path / "baseline.json"
    fr.save_baseline(path, SMALL, RUN, "RR P@5")
    return path


def _refused(*arguments: Any, **options: Any) -> str:
    with pytest.raises(fr.InputError) as error:
        fr.gate(*arguments, **options)
    return str(error.value)


def test_the_file_has_sorted_keys_and_a_line_for_each_query(saved: Path) -> None:
    content = saved.read_text()
    found = json.loads(content)

    assert list(found) == sorted(found)
    assert content.endswith("}\n")
    assert '\n"q1": [0.5, 0.2],\n"q2": [0.5, 0.2],\n"q3": [0.5, 0.2]\n},\n' in content
    assert found["schema"] == "fastrank.baseline/1"
    assert (found["fastrank"], found["compat"]) == (fr.__version__, "9.0.8")
    assert found["mean"] == {"RR": 0.5, "P@5": pytest.approx(0.2)}
    assert found["options"]["missing"] == "skip"


def test_values_have_full_precision(tmp_path: Path) -> None:
    fr.save_baseline(tmp_path / "b.json", QRELS, PIXELS, "map")

    found = json.loads((tmp_path / "b.json").read_text())
    assert found["per_query"] == {
        query: [row["map"]] for query, row in fr.evaluate(QRELS, PIXELS, "map").to_dict().items()
    }
    assert found["mean"]["map"] == fr.evaluate(QRELS, PIXELS, "map").mean["map"]


@pytest.mark.parametrize("name", ["b.json", "b.json.gz"])
def test_the_same_inputs_give_the_same_bytes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    made = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        fr.save_baseline(tmp_path / folder / name, QRELS, PIXELS, "map")
        made.append((tmp_path / folder / name).read_bytes())

    assert made[0] == made[1]
    content = gzip.decompress(made[0]) if name.endswith("gz") else made[0]
    assert json.loads(content)["created"] == "2023-11-14T22:13:20Z"


def test_a_compressed_baseline_is_read(tmp_path: Path) -> None:
    fr.save_baseline(tmp_path / "b.json.gz", SMALL, RUN, "RR")

    assert fr.gate(tmp_path / "b.json.gz", SMALL, RUN).passed


def test_an_invalid_epoch_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")

    with pytest.raises(fr.OptionError, match="SOURCE_DATE_EPOCH: expected seconds since 1970"):
        fr.save_baseline(tmp_path / "b.json", SMALL, RUN, "RR")
    assert not (tmp_path / "b.json").exists()


def _source(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    return fr.save_baseline(io.BytesIO(), SMALL, RUN, "RR").source


def test_the_commit_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        command = ["git", *identity, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init")
    assert _source(tmp_path, monkeypatch) == {}
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-m", "x")
    head = git("rev-parse", "HEAD")

    assert _source(tmp_path, monkeypatch) == {"commit": head, "dirty": False}
    (tmp_path / "file").write_text("2")
    assert _source(tmp_path, monkeypatch) == {"commit": head, "dirty": True}


def test_without_git_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert _source(tmp_path, monkeypatch) == {}


def test_the_digest_of_judgments_does_not_depend_on_format_and_order(tmp_path: Path) -> None:
    lines = Path(QRELS).read_text().splitlines(keepends=True)
    (tmp_path / "reversed.qrels").write_text("".join(reversed(lines)))
    fr.write_qrels(fr.read_qrels(QRELS), tmp_path / "q.csv.gz")
    digests = {
        fr.save_baseline(io.BytesIO(), own, PIXELS, "P.5").qrels["digest"]
        for own in (
            QRELS,
            tmp_path / "reversed.qrels",
            tmp_path / "q.csv.gz",
            fr.read_qrels(QRELS).to_dict(),
        )
    }

    assert len(digests) == 1


def test_other_judgments_are_refused(saved: Path) -> None:
    message = _refused(saved, {**SMALL, "q3": {"d": 2}}, RUN)

    assert message == (
        f"{saved}: saved with other judgments than qrels; save a new baseline, or allow other qrels"
        " to compare the common queries"
    )


def test_with_other_judgments_the_common_queries_are_compared(saved: Path) -> None:
    qrels = {"q1": {"d": 1}, "q2": {"x": 1}, "q9": {"d": 1}}

    verdict = fr.gate(saved, qrels, {**RUN, "q9": {"d": 1.0}}, allow_other_qrels=True)
    assert verdict.comparison.queries == ["q1", "q2"]
    assert verdict.comparison.mean["RR"] == {"now": 0.75, "baseline": 0.5}
    assert "compared on 2 queries; 1 is only in the baseline (q3)" in verdict.notes
    assert "compared on 2 queries; 1 is not in the baseline (q9)" in verdict.notes


def test_judgments_without_a_common_query_are_refused(saved: Path) -> None:
    qrels, run = {"other": {"d": 1}}, {"other": {"d": 1.0}}

    assert "has no query that is judged now" in _refused(saved, qrels, run, allow_other_qrels=True)


def test_other_options_are_refused(saved: Path) -> None:
    assert _refused(saved, SMALL, RUN, ties="average", depth=5, missing="skip") == (
        f"{saved}: saved with other options (ties 'docno_desc', now 'average'; depth None, now 5);"
        " use the same, or save a new baseline"
    )


def test_options_of_the_baseline_are_used(tmp_path: Path) -> None:
    fr.save_baseline(tmp_path / "b.json", SMALL, RUN, "RR", depth=1)

    assert fr.gate(tmp_path / "b.json", SMALL, RUN).current.mean == {"RR": 0.0}


def test_other_excluded_documents_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    fr.save_baseline(path, SMALL, RUN, "RR", exclude={"q1": ["x"]})

    assert "(other excluded documents)" in _refused(path, SMALL, RUN)
    assert fr.gate(path, SMALL, RUN, exclude={"q1": ["x"]}).current.mean["RR"] == 2 / 3


def test_another_version_of_trec_eval_is_refused(saved: Path) -> None:
    message = _refused(saved, SMALL, RUN, trec_eval_version="10.0")

    assert "saved with the numbers of trec_eval 9.0.8, not 10.0" in message


def test_other_measures_are_refused(saved: Path) -> None:
    assert "saved with other measures (RR, P@5); use the same" in _refused(saved, SMALL, RUN, "RR")
    assert fr.gate(saved, SMALL, RUN, "precision@5 mrr").passed


def test_a_function_is_given_again(tmp_path: Path) -> None:
    def depth(ranking: fr.types.Ranking) -> float:
        return float(len(ranking.ranks))

    path = tmp_path / "b.json"
    fr.save_baseline(path, SMALL, RUN, depth)

    assert fr.gate(path, SMALL, RUN, depth).passed
    with pytest.raises(fr.MeasureError, match="unknown measure 'depth'"):
        fr.gate(path, SMALL, RUN)


def test_a_run_that_lost_queries_fails(saved: Path) -> None:
    verdict = fr.gate(saved, SMALL, {"q1": RUN["q1"]}, max_drop=1)

    assert (verdict.status, verdict.comparison.queries) == ("fail", ["q1"])
    assert verdict.reasons == [
        "the run lacks 2 of 3 queries of the baseline (q2, q3); they are left out (a baseline saved"
        " with --missing zero counts them as 0)"
    ]
    assert [one.result for one in verdict.results] == ["fail", "pass", "pass"]
    assert str(verdict).splitlines()[2].split() == "queries 3 1 -2 results for 3 fail".split()  # noqa: SIM905


def test_a_run_that_lost_all_queries_is_refused(saved: Path) -> None:
    qrels, run = {**SMALL, "q4": {"d": 1}}, {"q4": {"d": 1.0}}

    message = _refused(saved, qrels, run, allow_other_qrels=True)
    assert message == "the run: has no results for the queries of the baseline"


def test_queries_that_the_run_lost_can_count_as_0_and_are_named(tmp_path: Path) -> None:
    fr.save_baseline(tmp_path / "b.json", SMALL, RUN, "RR", missing="zero")

    verdict = fr.gate(tmp_path / "b.json", SMALL, {"q1": RUN["q1"]})
    assert verdict.comparison.values("RR").tolist() == [[0.5, 0, 0], [0.5, 0.5, 0.5]]
    assert verdict.notes[0] == (
        "the run lacks 2 of 3 queries of the baseline (q2, q3); they count as 0"
    )


def test_queries_that_the_baseline_lacked_too_are_only_named(tmp_path: Path) -> None:
    run = {"q1": RUN["q1"]}
    fr.save_baseline(tmp_path / "b.json", SMALL, run, "RR")

    verdict = fr.gate(tmp_path / "b.json", SMALL, run)
    assert verdict.passed
    assert verdict.notes[:1] == [
        "the run lacks 2 of 3 judged queries (q2, q3); they are left out (a baseline saved with"
        " --missing zero counts them as 0)"
    ]


def test_lost_queries_cannot_count_as_0_where_lower_is_better(tmp_path: Path) -> None:
    fr.save_baseline(tmp_path / "b.json", SMALL, RUN, "Hole@5", missing="zero")

    assert _refused(tmp_path / "b.json", SMALL, {"q1": RUN["q1"]}) == (
        "the run: no results for 2 queries of the baseline (q2, q3), which cannot count as 0 in"
        " Hole@5, where lower is better; add the results"
    )


def test_a_value_that_is_missing_now_is_refused(tmp_path: Path) -> None:
    fr.save_baseline(tmp_path / "b.json", SMALL, RUN, "FirstRank")

    message = _refused(tmp_path / "b.json", SMALL, {**RUN, "q1": {"x": 1.0}})
    assert "FirstRank cannot be compared: for 1 query (q1), only one of" in message


def test_ids_that_are_not_utf_8_are_kept(tmp_path: Path) -> None:
    qrels, run = {b"q\xff": {"d": 1}}, {b"q\xff": {"d": 1.0}}
    fr.save_baseline(tmp_path / "b.json", qrels, run, "RR")

    assert b'"q\\udcff": [1.0]' in (tmp_path / "b.json").read_bytes()
    assert fr.gate(tmp_path / "b.json", qrels, run).passed


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("baseline/1", "baseline/2", "fastrank.baseline/2 is newer than this version of fastrank"),
        ("fastrank.baseline/1", "x", "not a baseline; write one with `fastrank gate save`"),
        ('{\n"compat"', '"compat"', "not a baseline; write one with `fastrank gate save`"),
        ('\n"q3": [0.5, 0.2]\n}', "", "damaged baseline: it is not JSON"),
        ("[0.5, 0.2]", "[NaN, 0.2]", "damaged baseline: it is not JSON: NaN is not a number"),
        ("[0.5, 0.2]", "[0.5]", "damaged baseline: query 'q1': expected 2 values"),
        ("[0.5, 0.2]", '[0.5, "x"]', "damaged baseline: query 'q1': expected numbers"),
        ("[0.5, 0.2]", "[0.4, 0.2]", "damaged baseline: the mean of RR is 0.5, that of its values"),
        ('"counts"', '"count"', "damaged baseline: missing or unknown: count, counts"),
        ('"ties": "docno_desc"', '"ties": "x"', "damaged baseline: ties: expected one of"),
        ('"ties": ', '"tie": "x", "ties": ', "saved with options that this version of"),
    ],
)  # fmt: skip
def test_damaged_and_newer_files_are_refused(old: str, new: str, message: str, saved: Path) -> None:
    content = saved.read_text()
    assert old in content
    saved.write_text(content.replace(old, new, 1))

    assert _refused(saved, SMALL, RUN).startswith(f"{saved}: {message}")


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("num_ret", "'num_ret': neither higher nor lower values are better"),
        ("gm_map", "'gm_map': has no values per query to compare"),
    ],
)
def test_measures_that_a_gate_cannot_judge_are_refused(measure: str, message: str) -> None:
    with pytest.raises(fr.MeasureError, match=message):
        fr.save_baseline(io.BytesIO(), SMALL, RUN, measure)


def test_sets_of_measures_leave_out_those_that_a_gate_cannot_judge() -> None:
    found = fr.save_baseline(io.BytesIO(), QRELS, PCA, "official")

    assert "map" in found.measures
    assert not {"num_ret", "gm_map", "num_q"} & set(found.measures)


def test_metadata_of_the_run_is_copied(tmp_path: Path) -> None:
    path = tmp_path / "with.run"
    header = "# ir_metadata.start\n# actor:\n#   team: é\n# ir_metadata.end\n"
    path.write_text(header + Path(PIXELS).read_text())
    saved = fr.save_baseline(io.BytesIO(), QRELS, path, "map", ir_metadata=True)

    assert saved.source["ir_metadata"] == "actor:\n  team: é\n"
    assert saved.mean == fr.save_baseline(io.BytesIO(), QRELS, PIXELS, "map").mean


@pytest.mark.parametrize(("run", "name"), [(PIXELS, PIXELS), (RUN, "run")])
def test_a_run_without_metadata_is_refused(run: Any, name: str) -> None:
    with pytest.raises(fr.InputError) as error:
        fr.save_baseline(io.BytesIO(), QRELS, run, "map", ir_metadata=True)

    assert str(error.value) == f"{name}: no file that begins with the metadata of ir_metadata"


def test_several_runs_are_refused() -> None:
    with pytest.raises(TypeError, match="expected one run, found a list of 2"):
        fr.save_baseline(io.BytesIO(), SMALL, [RUN, RUN], "RR")


def test_the_digest_of_judgments_covers_strata() -> None:
    one, other = (
        fr.read_qrels(io.BytesIO(b"q 0 a %b 1\nq 0 b y 0\n" % stratum)) for stratum in (b"x", b"y")
    )

    assert judgments_digest(one) != judgments_digest(other)
