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
from fastrank.core.formats.trec.digests import judgments_digest
from fastrank.errors import InputError, MeasureError
from tests.helpers.paths import DATA
from tests.helpers.tables import calls, cases, check_error

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


def test_the_file_has_sorted_keys_and_a_line_for_each_query():
    content = PATH.read_text()
    found = json.loads(content)

    assert list(found) == sorted(found)
    assert content.endswith("}\n")
    assert '\n"q1": [0.5, 0.2],\n"q2": [0.5, 0.2],\n"q3": [0.5, 0.2]\n},\n' in content
    assert found["schema"] == "fastrank.baseline/1"
    assert (found["fastrank"], found["compat"]) == (fr.__version__, "9.0.8")
    assert found["mean"] == {"RR": 0.5, "P@5": pytest.approx(0.2)}
    assert found["options"]["missing"] == "skip"


def test_values_have_full_precision():
    fr.save_baseline(PATH, QRELS, PIXELS, "map")

    found, scores = json.loads(PATH.read_text()), fr.evaluate(QRELS, PIXELS, "map")
    values = {query: [row["map"]] for query, row in scores.to_dict().items()}
    assert found["per_query"] == values
    assert found["mean"]["map"] == scores.mean["map"]


def test_a_path_with_the_suffix_of_another_format_is_refused():
    with pytest.raises(fr.FastrankError, match=r"b\.csv\.gz cannot be .* of \.csv files"):
        fr.save_baseline("b.csv.gz", QRELS, PIXELS, "map")


@pytest.mark.parametrize("name", ["b.json", "b.json.gz"])
def test_the_same_inputs_give_the_same_bytes(name, monkeypatch):
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


def test_the_commit_is_recorded_if_there_is_git(tmp_path, monkeypatch):
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
    monkeypatch.setenv("PATH", str(tmp_path))
    assert made(SMALL, RUN, "RR").source == {}


def digest(qrels: Any) -> str:
    return judgments_digest(fr.read_qrels(io.BytesIO(qrels)))


def test_the_digest_of_judgments_does_not_depend_on_format_and_order_but_on_strata():
    lines = b"q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n".splitlines(keepends=True)
    qrels = fr.read_qrels(io.BytesIO(b"".join(lines)))
    fr.write_qrels(qrels, "q.csv.gz")

    same = [qrels, fr.read_qrels(io.BytesIO(b"".join(lines[::-1]))), "q.csv.gz", qrels.to_dict()]
    assert len({made(own, RUN, "P.5").qrels["digest"] for own in same}) == 1
    assert digest(b"q 0 a x 1\nq 0 b y 0\n") != digest(b"q 0 a y 1\nq 0 b y 0\n")


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
def test_what_cannot_be_compared_is_refused(calls, message):
    with pytest.raises(InputError) as error:
        eval(calls)

    assert str(error.value) == message


def test_with_other_judgments_the_common_queries_are_compared():
    qrels = {"q1": {"d": 1}, "q2": {"x": 1}, "q9": {"d": 1}}

    verdict = gate({**RUN, "q9": {"d": 1.0}}, qrels, allow_other_qrels=True)

    assert verdict.comparison.queries == ["q1", "q2"]
    assert verdict.comparison.mean["RR"] == {"now": 0.75, "baseline": 0.5}
    assert "compared on 2 queries; 1 is only in the baseline (q3)" in verdict.notes
    assert "compared on 2 queries; 1 is not in the baseline (q9)" in verdict.notes


def test_options_of_the_baseline_are_used_and_other_names_of_measures():
    assert gate(measures="precision@5 mrr").passed
    save("RR", depth=1)
    assert gate().current.mean == {"RR": 0.0}
    save("RR", exclude={"q1": ["x"]})
    assert gate(exclude={"q1": ["x"]}).current.mean["RR"] == 2 / 3


def test_a_function_is_given_again():
    def depth(ranking: fr.types.Ranking) -> float:
        return float(len(ranking.ranks))

    save(depth)

    assert gate(measures=depth).passed
    with pytest.raises(MeasureError, match="unknown measure 'depth'"):
        gate()


def test_a_run_that_lost_queries_fails():
    verdict = gate(SHORT, max_drop=1)

    assert (verdict.status, verdict.comparison.queries) == ("fail", ["q1"])
    assert verdict.reasons == [
        "the run lacks 2 of 3 queries of the baseline (q2, q3); they are left out (a baseline saved"
        " with --missing zero counts them as 0)"
    ]
    assert [one.result for one in verdict.results] == ["fail", "pass", "pass"]
    assert " ".join(str(verdict).splitlines()[2].split()) == "queries 3 1 -2 results for 3 fail"


def test_lost_queries_can_count_as_0_and_those_the_baseline_lacked_too_are_named():
    save("RR", missing="zero")
    assert gate(SHORT).comparison.values("RR").tolist() == [[0.5, 0, 0], [0.5, 0.5, 0.5]]
    assert gate(SHORT).notes[0] == (
        "the run lacks 2 of 3 queries of the baseline (q2, q3); they count as 0"
    )

    save("RR", SHORT)
    assert gate(SHORT).passed
    assert gate(SHORT).notes[:1] == [
        "the run lacks 2 of 3 judged queries (q2, q3); they are left out (a baseline saved with"
        " --missing zero counts them as 0)"
    ]


def test_ids_that_are_not_utf_8_are_kept():
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
        ("[0.5, 0.2]", f"[{10**400}, 0.2]", "damaged baseline: query 'q1': expected numbers"),
        ("[0.5, 0.2]", "[0.5]", "damaged baseline: query 'q1': expected 2 values"),
        ("[0.5, 0.2]", '[0.5, "x"]', "damaged baseline: query 'q1': expected numbers"),
        ("[0.5, 0.2]", "[0.4, 0.2]", "damaged baseline: the mean of RR is 0.5, that of its values"),
        (
            '"measures": ["RR", "P@5"]',
            '"measures": {}',
            "damaged baseline: measures: expected list",
        ),
        ('"counts"', '"count"', "damaged baseline: missing or unknown: count, counts"),
        ('"ties": "docno_desc"', '"ties": "x"', "damaged baseline: ties: expected one of"),
        ('"ties": ', '"tie": "x", "ties": ', "saved with options that this version of"),
    ],
)
def test_damaged_and_newer_files_are_refused(old, new, message):
    content = PATH.read_text()
    assert old in content
    PATH.write_text(content.replace(old, new, 1))

    with pytest.raises(InputError) as error:
        gate()

    assert str(error.value).startswith(f"baseline.json: {message}")


def test_sets_of_measures_leave_out_those_that_a_gate_cannot_judge():
    found = made(SMALL, RUN, "official")

    assert "map" in found.measures
    assert not {"num_ret", "gm_map", "num_q"} & set(found.measures)


def test_metadata_of_the_run_is_copied():
    header = "# ir_metadata.start\n# actor:\n#   team: é\n# ir_metadata.end\n"
    Path("with.run").write_text(header + Path(PIXELS).read_text())

    saved = made(QRELS, "with.run", "map", ir_metadata=True)

    assert saved.source["ir_metadata"] == "actor:\n  team: é\n"
    assert saved.mean == made(QRELS, PIXELS, "map").mean


@calls("""
made(SMALL, RUN, "num_ret") =>
  MeasureError: 'num_ret': neither higher nor lower values are better...
made(SMALL, RUN, "gm_map") => MeasureError: gm_map has no values per query...
made(QRELS, PIXELS, "map", ir_metadata=True) =>
  InputError: ...pixels.run: no file that begins with the metadata of ir_metadata
made(SMALL, RUN, "map", ir_metadata=True) =>
  InputError: run: no file that begins with the metadata of ir_metadata
made(SMALL, [RUN, RUN], "RR") => TypeError: ...expected one run, found a list of 2
at_epoch("today") => OptionError: SOURCE_DATE_EPOCH: expected seconds since 1970, found 'today'
""")
def test_what_a_baseline_cannot_have_is_refused(call, expected, monkeypatch):
    def at_epoch(epoch: str) -> None:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        save("RR")

    before = PATH.read_bytes()
    check_error(call, expected, globals() | locals())
    assert PATH.read_bytes() == before
