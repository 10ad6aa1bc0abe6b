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
from fastrank.errors import InputError, MeasureError, OptionError
from fastrank.formats.digests import judgments_digest
from tests.helpers.paths import DATA
from tests.helpers.tables import cases

QRELS, PIXELS, PCA = (str(DATA / name) for name in ("digits.qrels", "pixels.run", "pca.run"))
SMALL = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
RUN = {query: {"x": 2.0, "d": 1.0} for query in SMALL}
SHORT = {"q1": RUN["q1"]}
PATH = Path("baseline.json")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder, with a baseline of all queries of SMALL."""
    monkeypatch.chdir(tmp_path)
    save("RR P@5")


def save(measures: Any, run: Any = RUN, **options: Any) -> None:
    fr.save_baseline(PATH, SMALL, run, measures, **options)


def made(qrels: Any, run: Any, measures: str, **options: Any) -> Any:
    """A baseline that is not kept."""
    return fr.save_baseline(io.BytesIO(), qrels, run, measures, **options)


def gate(run: Any = RUN, qrels: Any = SMALL, **options: Any) -> fr.types.Verdict:
    return fr.gate(PATH, qrels, run, **options)


def test_the_file_has_sorted_keys_and_a_line_for_each_query() -> None:
    content = PATH.read_text()
    found = json.loads(content)

    assert list(found) == sorted(found)
    assert content.endswith("}\n")
    assert '\n"q1": [0.5, 0.2],\n"q2": [0.5, 0.2],\n"q3": [0.5, 0.2]\n},\n' in content
    assert found["schema"] == "fastrank.baseline/1"
    assert (found["fastrank"], found["compat"]) == (fr.__version__, "9.0.8")
    assert found["mean"] == {"RR": 0.5, "P@5": pytest.approx(0.2)}
    assert found["options"]["missing"] == "skip"


def test_values_have_full_precision() -> None:
    fr.save_baseline(PATH, QRELS, PIXELS, "map")

    found, scores = json.loads(PATH.read_text()), fr.evaluate(QRELS, PIXELS, "map")
    values = {query: [row["map"]] for query, row in scores.to_dict().items()}
    assert found["per_query"] == values
    assert found["mean"]["map"] == scores.mean["map"]


@pytest.mark.parametrize("name", ["b.json", "b.json.gz"])
def test_the_same_inputs_give_the_same_bytes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    files = [Path("one", name), Path("two", name)]
    for file in files:
        file.parent.mkdir()
        fr.save_baseline(file, SMALL, RUN, "RR")

    first, second = (file.read_bytes() for file in files)
    assert first == second
    content = gzip.decompress(first) if name.endswith("gz") else first
    assert json.loads(content)["created"] == "2023-11-14T22:13:20Z"
    assert fr.gate(files[0], SMALL, RUN).passed


def test_an_invalid_epoch_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")

    with pytest.raises(OptionError, match="SOURCE_DATE_EPOCH: expected seconds since 1970"):
        fr.save_baseline("b.json", SMALL, RUN, "RR")
    assert not Path("b.json").exists()


def test_the_commit_is_recorded() -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    PATH.unlink()
    git("init")
    assert made(SMALL, RUN, "RR").source == {}
    Path("file").write_text("1")
    git("add", "file")
    git("commit", "-m", "x")
    head = git("rev-parse", "HEAD")

    assert made(SMALL, RUN, "RR").source == {"commit": head, "dirty": False}
    Path("file").write_text("2")
    assert made(SMALL, RUN, "RR").source == {"commit": head, "dirty": True}


def test_without_git_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert made(SMALL, RUN, "RR").source == {}


def test_the_digest_of_judgments_does_not_depend_on_format_and_order() -> None:
    lines = Path(QRELS).read_text().splitlines(keepends=True)
    Path("reversed.qrels").write_text("".join(reversed(lines)))
    fr.write_qrels(fr.read_qrels(QRELS), "q.csv.gz")

    same = [QRELS, "reversed.qrels", "q.csv.gz", fr.read_qrels(QRELS).to_dict()]
    assert len({made(qrels, PIXELS, "P.5").qrels["digest"] for qrels in same}) == 1


def test_the_digest_of_judgments_covers_strata() -> None:
    one, other = (
        fr.read_qrels(io.BytesIO(b"q 0 a %b 1\nq 0 b y 0\n" % stratum)) for stratum in (b"x", b"y")
    )

    assert judgments_digest(one) != judgments_digest(other)


# How the baseline is saved and compared, and the error.
REFUSED = cases("""
gate(qrels={**SMALL, 'q3': {'d': 2}})
  baseline.json: saved with other judgments than qrels; save a new baseline, or allow other qrels to
    compare the common queries
gate(qrels={'o': {'d': 1}}, run={'o': {'d': 1.0}}, allow_other_qrels=True)
  baseline.json: has no query that is judged now; save a new baseline
gate(qrels={**SMALL, 'q4': {'d': 1}}, run={'q4': {'d': 1.0}}, allow_other_qrels=True)
  the run: has no results for the queries of the baseline
gate(ties='average', depth=5, missing='skip')
  baseline.json: saved with other options (ties 'docno_desc', now 'average'; depth None, now 5); use
    the same, or save a new baseline
gate(trec_eval_version='10.0')
  baseline.json: saved with the numbers of trec_eval 9.0.8, not 10.0; save a new baseline, or choose
    that version
gate(measures='RR')
  baseline.json: saved with other measures (RR, P@5); use the same, or save a new baseline
save('RR', exclude={'q1': ['x']}), gate()
  baseline.json: saved with other options (other excluded documents); use the same, or save a new
    baseline
save('Hole@5', missing='zero'), gate(SHORT)
  the run: no results for 2 queries of the baseline (q2, q3), which cannot count as 0 in Hole@5,
    where lower is better; add the results
save('FirstRank'), gate({**RUN, 'q1': {'x': 1.0}})
  baseline.json: FirstRank cannot be compared: for 1 query (q1), only one of the baseline and the
    run has a value
""")


@pytest.mark.parametrize(("calls", "message"), REFUSED)
def test_what_cannot_be_compared_is_refused(calls: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        eval(calls)

    assert str(error.value) == message


def test_with_other_judgments_the_common_queries_are_compared() -> None:
    qrels = {"q1": {"d": 1}, "q2": {"x": 1}, "q9": {"d": 1}}

    verdict = gate({**RUN, "q9": {"d": 1.0}}, qrels, allow_other_qrels=True)

    assert verdict.comparison.queries == ["q1", "q2"]
    assert verdict.comparison.mean["RR"] == {"now": 0.75, "baseline": 0.5}
    assert "compared on 2 queries; 1 is only in the baseline (q3)" in verdict.notes
    assert "compared on 2 queries; 1 is not in the baseline (q9)" in verdict.notes


def test_options_of_the_baseline_are_used() -> None:
    save("RR", depth=1)
    assert gate().current.mean == {"RR": 0.0}

    save("RR", exclude={"q1": ["x"]})
    assert gate(exclude={"q1": ["x"]}).current.mean["RR"] == 2 / 3


def test_measures_may_be_given_by_other_names() -> None:
    assert gate(measures="precision@5 mrr").passed


def test_a_function_is_given_again() -> None:
    def depth(ranking: fr.types.Ranking) -> float:
        return float(len(ranking.ranks))

    save(depth)

    assert gate(measures=depth).passed
    with pytest.raises(MeasureError, match="unknown measure 'depth'"):
        gate()


def test_a_run_that_lost_queries_fails() -> None:
    verdict = gate(SHORT, max_drop=1)

    assert (verdict.status, verdict.comparison.queries) == ("fail", ["q1"])
    assert verdict.reasons == [
        "the run lacks 2 of 3 queries of the baseline (q2, q3); they are left out (a baseline saved"
        " with --missing zero counts them as 0)"
    ]
    assert [one.result for one in verdict.results] == ["fail", "pass", "pass"]
    assert " ".join(str(verdict).splitlines()[2].split()) == "queries 3 1 -2 results for 3 fail"


def test_queries_that_the_run_lost_can_count_as_0_and_are_named() -> None:
    save("RR", missing="zero")

    verdict = gate(SHORT)

    assert verdict.comparison.values("RR").tolist() == [[0.5, 0, 0], [0.5, 0.5, 0.5]]
    lost = "the run lacks 2 of 3 queries of the baseline (q2, q3); they count as 0"
    assert verdict.notes[0] == lost


def test_queries_that_the_baseline_lacked_too_are_only_named() -> None:
    save("RR", SHORT)

    verdict = gate(SHORT)

    assert verdict.passed
    assert verdict.notes[:1] == [
        "the run lacks 2 of 3 judged queries (q2, q3); they are left out (a baseline saved with"
        " --missing zero counts them as 0)"
    ]


def test_ids_that_are_not_utf_8_are_kept() -> None:
    qrels, run = {b"q\xff": {"d": 1}}, {b"q\xff": {"d": 1.0}}
    fr.save_baseline(PATH, qrels, run, "RR")

    assert b'"q\\udcff": [1.0]' in PATH.read_bytes()
    assert gate(run, qrels).passed


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
)
def test_damaged_and_newer_files_are_refused(old: str, new: str, message: str) -> None:
    content = PATH.read_text()
    assert old in content
    PATH.write_text(content.replace(old, new, 1))

    with pytest.raises(InputError) as error:
        gate()

    assert str(error.value).startswith(f"baseline.json: {message}")


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("num_ret", "'num_ret': neither higher nor lower values are better"),
        ("gm_map", "'gm_map': has no values per query to compare"),
    ],
)
def test_measures_that_a_gate_cannot_judge_are_refused(measure: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        made(SMALL, RUN, measure)


def test_sets_of_measures_leave_out_those_that_a_gate_cannot_judge() -> None:
    found = made(QRELS, PCA, "official")

    assert "map" in found.measures
    assert not {"num_ret", "gm_map", "num_q"} & set(found.measures)


def test_metadata_of_the_run_is_copied() -> None:
    header = "# ir_metadata.start\n# actor:\n#   team: é\n# ir_metadata.end\n"
    Path("with.run").write_text(header + Path(PIXELS).read_text())

    saved = made(QRELS, "with.run", "map", ir_metadata=True)

    assert saved.source["ir_metadata"] == "actor:\n  team: é\n"
    assert saved.mean == made(QRELS, PIXELS, "map").mean


@pytest.mark.parametrize(("run", "name"), [(PIXELS, PIXELS), (RUN, "run")])
def test_a_run_without_metadata_is_refused(run: Any, name: str) -> None:
    with pytest.raises(InputError) as error:
        made(QRELS, run, "map", ir_metadata=True)

    assert str(error.value) == f"{name}: no file that begins with the metadata of ir_metadata"


def test_several_runs_are_refused() -> None:
    with pytest.raises(TypeError, match="expected one run, found a list of 2"):
        made(SMALL, [RUN, RUN], "RR")
