"""Objects of other libraries, taken wherever judgments or a run are, and the names of runs."""

from __future__ import annotations

import sys
from collections import namedtuple
from decimal import Decimal  # noqa: F401 (in a table)
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest

import fastrank as fr
from fastrank.cli.main import main
from fastrank.core.formats.inputs import as_qrels, as_run, run_name, run_names
from fastrank.errors import InputError, ReadError, RunError
from tests.helpers.huggingface import Table
from tests.helpers.paths import DATA
from tests.helpers.tables import calls, cases, check_error

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"a": 0.5, "b": 0.75}, "q2": {"c": 1.0}}
Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")
JUDGED = [
    Qrel(query, doc, grade, "0") for query, own in QRELS.items() for doc, grade in own.items()
]
FOUND = [ScoredDoc(query, doc, score) for query, own in RUN.items() for doc, score in own.items()]
VALUES = fr.evaluate(QRELS, RUN, "map ndcg").to_dict()


# Tuples


@pytest.mark.parametrize("pack", [list, tuple, iter, lambda rows: (row for row in rows)])
@pytest.mark.parametrize("plain", [False, True])
def test_tuples_of_query_document_and_number(pack, plain):
    """With names and without, in any iterable; several runs of them, too."""
    judged = [tuple(row[:3]) for row in JUDGED] if plain else JUDGED
    found = [tuple(row) for row in FOUND] if plain else FOUND
    evaluator = fr.Evaluator(pack(judged), "map ndcg")
    assert fr.evaluate(pack(judged), pack(found), "map ndcg").to_dict() == VALUES
    assert evaluator.evaluate(pack(found)).to_dict() == VALUES
    for own in evaluator.evaluate(pack([RUN, found])):
        assert own.to_dict() == VALUES


RANKED = (["q", "q", "r"], ["x", "a", "b"])
ROWS = {
    "ranks": ([1, 2, 1], [-1.0, -2.0, -1.0]),
    "from 0": ([0, 1, 0], [0.0, 1.0, 0.0]),
    "scores": ([1, 3, 1], [1.0, 3.0, 1.0]),
    "floats": ([0.5, 1.5, 0.5], [0.5, 1.5, 0.5]),
}


@pytest.mark.parametrize(
    "pack", [lambda *columns: columns, lambda *columns: [*zip(*columns, strict=True)]]
)
@pytest.mark.parametrize(("numbers", "scores"), ROWS.values(), ids=ROWS)
def test_integers_from_1_without_names_are_ranks_as_in_files(pack, numbers, scores):
    run = as_run(pack(*RANKED, numbers), trec_eval_version="10.0")
    assert run.to_dict() == {
        "q": dict(zip(["x", "a"], scores, strict=False)),
        "r": {"b": scores[2]},
    }


@pytest.mark.parametrize("first", [0.0, 1.0])
def test_floats_that_count_up_could_be_ranks_or_scores(first):
    for rows in (
        (*RANKED, np.array([first, first + 1, first])),
        [("q", "x", first), ("q", "a", first + 1)],
    ):
        with pytest.raises(InputError, match="ranks or scores: found"):
            as_run(rows, trec_eval_version="10.0")


def test_those_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    qrels = [ir_measures.Qrel(*row[:3]) for row in JUDGED]
    run = [ir_measures.ScoredDoc(*row) for row in FOUND]
    measures = [ir_measures.AP, ir_measures.nDCG]
    expected = ir_measures.calc_aggregate(measures, qrels, run)
    found = fr.evaluate(qrels, run, measures).mean
    assert found == pytest.approx({str(name): value for name, value in expected.items()})


def test_grades_with_fractions_and_iterations():
    qrels: Any = as_qrels([Qrel("q", "a", 0.5, "x"), Qrel("q", "b", 2, "y")])
    assert qrels.to_dict() == {"q": {"a": 0.5, "b": 2.0}}
    assert list(qrels.groups) == [b"x", b"y"]


Point = namedtuple("Point", "x y")


@calls("""
of([*JUDGED, ("q", "d", 1)]) => InputError: ...row 3 ...: expected Qrel, as before, found tuple
of([("q", "d", "x")]) =>
  InputError: ...row 0 ...: expected (query, document, number), found ('q', 'd',...
of([("q", "0", "d", 1)]) => InputError: ...row 0 ...: expected (query, document, number), found...
of([("q", "d", 1), ("q", "e")]) =>
  InputError: ...row 1 ...expected (query, document, number)...
of([*JUDGED, *FOUND]) => InputError: ...row 3 ...: expected Qrel, as before, found ScoredDoc
of([Qrel("q", "d", None, "0")]) =>
  InputError: ...expected ratings, found none in column 'relevance' of 1 row
of([Point(1, 2)]) => InputError: ...<tuples>: no columns for query, document, grade...
as_run([("q", "d0", Decimal("sNaN"))]) => InputError: ...row 0 (from 0), column 'score': expected...
as_run([("q", "d0", "x"), ("q", "d1", 0.5)]) => InputError: ...row 0 (from 0): expected...
of([]) => InputError: <list>: expected records, found none
of(iter([])) => InputError: <list_iterator>: expected records, found none
of([("q", "d")]) => TypeError: qrels: expected Qrels or ... tuples or a file, found...
of(3) => TypeError: qrels: expected Qrels or ... tuples or a file, found...
""")
def test_what_is_wrong_with_them_is_told(call, expected):
    check_error(call, expected, globals() | {"of": as_qrels})


class Word(str):
    """A kind of str."""

    __slots__ = ()


IDS: dict[str, list[Any]] = {
    "repeated": ["a", "b", "a"],
    "none": [],
    "empty": ["", "x"],
    "other scripts": ["é", "日本語", "a"],
    "long": ["x" * 100, "y", "z" * 1000],
    "kinds of str": [Word("a"), "b"],
    "bytes": ["a", b"b"],
    "numbers": [1, 2],
    "no UTF-8": ["\udc80", "a"],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_ids_are_copied_alike_from_lists_and_tuples(ids):
    expected = [
        doc if isinstance(doc, bytes) else str(doc).encode("utf-8", "surrogateescape")
        for doc in ids
    ]
    assert list(fr.Run.from_arrays(["q"] * len(ids), ids, [0.5] * len(ids)).docs) == expected
    if ids:
        scores = [place / 2 for place in range(len(ids))]
        run = as_run([("q", doc, score) for doc, score in zip(ids, scores, strict=True)])
        assert (list(run.docs), run.scores.tolist()) == (expected, scores)


def test_scores_of_tuples_may_be_of_several_types():
    for scores in ([0.5, 1], [1, 3], [True, 0.25]):
        run = as_run([("q", f"d{place}", score) for place, score in enumerate(scores)])
        assert run.scores.tolist() == list(map(float, scores))


# Frames, dicts and objects


def test_names_of_the_document_column():
    """A document beside its id is no id."""
    for names in ("document", "document_id", "documents", "docs", "docno document"):
        ids = {name: [value] for name, value in zip(names.split(), ["d", "text"], strict=False)}
        frame = pandas.DataFrame({"query": ["q"], **ids, "grade": [1]})
        assert fr.Qrels.from_pandas(frame).to_dict() == {"q": {"d": 1}}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_errors_about_frames_say_which_one_and_what_takes_columns(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    method = {"pyarrow": "from_arrow"}.get(library, f"from_{library}")
    judged = make({"query": ["q"], "url": ["d"], "grade": [1]})
    found = make({"query": ["q"], "url": ["d"], "score": [0.5]})
    for noun, arguments in (("qrels", (judged, RUN)), ("run", (QRELS, found))):
        with pytest.raises(InputError, match=rf"^{noun} <.*>: no document column: ") as raised:
            fr.evaluate(*arguments, "map")
        taken = f"or use {noun.capitalize()}.{method}(..., columns={{'doc': NAME}})"
        assert str(raised.value).endswith(taken)
    qrels = getattr(fr.Qrels, method)(judged, columns={"doc": "url"})
    run = getattr(fr.Run, method)(found, columns={"doc": "url"})
    assert fr.evaluate(qrels, run, "map").mean == {"map": 1.0}


SWAPPED = "are judgments and run swapped"


def test_dicts_that_have_probably_changed_places_cause_a_warning():
    qrels = {"q": {f"d{n}": n % 2 for n in range(6)}}
    for best in (5.25, 5.0):
        run = {"q": {**{f"d{n}": n + 0.25 for n in range(5)}, "d5": best}}
        with pytest.warns(UserWarning, match=SWAPPED) as warned:
            fr.evaluate(run, qrels, "map")
        assert warned[0].filename == __file__
        assert fr.evaluate(run, {"q": {"d0": 12, "d1": 11}}, "map").mean["map"] > 0
    assert fr.evaluate({"q": {"d0": 0.5, "d1": 1}}, {"q": {"d0": 1}}, "map").mean == {"map": 0}


@pytest.mark.parametrize(
    "score",
    [lambda n: -n, lambda n: 1000 - n, lambda n: -(n // 2) - 1, lambda n: n / 4 - 3, lambda n: n],
)
def test_whole_and_negative_scores_that_have_changed_places_cause_a_warning(score):
    qrels = {"q": {f"d{n}": n % 2 for n in range(20)}}
    run = {"q": {f"d{n}": score(n) for n in range(20)}}
    with pytest.warns(UserWarning, match=SWAPPED):
        fr.evaluate(run, qrels, "num_ret")
    # In their places there is no warning, which would be an error.
    fr.evaluate(qrels, run, "num_ret")


def test_large_and_fractional_grades_cause_no_warning():
    whole, shares = [n % 9 for n in range(40)], [float(n % 9) for n in range(40)]
    for grades, scores in (
        ([n % 30 for n in range(40)], whole),
        ([n % 7 / 2 for n in range(40)], whole),
        ([n % 3 - 1 for n in range(40)], whole),
        ([n / 7 for n in range(40)], shares),
    ):
        judged, found = ({"q": {f"d{n}": own[n] for n in range(40)}} for own in (grades, scores))
        fr.evaluate(judged, found, "map")


class Kept:
    """As ranx keeps judgments and runs."""

    def __init__(self, name: str, own: dict[str, Any], tag: str | None = None) -> None:
        setattr(self, name, own)
        self.name, self._own = tag, own

    def to_dict(self) -> dict[str, Any]:
        return self._own


def test_those_of_ranx():
    found = fr.evaluate(Kept("qrels", QRELS), Kept("run", RUN, "mine"), "map ndcg")
    assert found.to_dict() == VALUES
    assert as_run(Kept("run", RUN, "mine")).tag == "mine"
    with pytest.raises(TypeError, match="qrels: expected"):
        as_qrels(Kept("run", RUN))
    ranx = pytest.importorskip("ranx")
    assert fr.evaluate(ranx.Qrels(QRELS), ranx.Run(RUN), "map ndcg").to_dict() == VALUES


@pytest.mark.parametrize("kind", [list, tuple, set, np.array])
def test_listed_documents_are_judgments_of_grade_1(kind):
    qrels: Any = as_qrels({"q1": kind(["d1", "d2"]), "q2": kind([])})
    assert isinstance(qrels, fr.Qrels)
    assert qrels.to_dict() == {"q1": {"d1": 1, "d2": 1}}
    # But the columns of a table are none.
    columns: Any = as_qrels({"query_id": ["q1"], "doc_id": ["d1"], "relevance": [2]})
    assert columns.to_dict() == {"q1": {"d1": 2}}


def test_a_dict_with_one_split():
    pytest.importorskip("pyarrow")
    table = Table({"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]})
    qrels: Any = as_qrels({"test": table})
    assert isinstance(qrels, fr.Qrels)
    assert qrels.to_dict() == {"q1": {"d1": 1}}
    with pytest.raises(InputError, match="qrels: expected split=, one of a, b"):
        as_qrels({"a": table, "b": table})


def test_a_dataset_of_hugging_face():
    datasets = pytest.importorskip("datasets")
    names = ("query-id", "corpus-id", "score")
    own = datasets.Dataset.from_list([dict(zip(names, row[:3], strict=True)) for row in JUDGED])
    reordered = own.select([2, 0, 1]).select([1, 2, 0])
    for dataset in (own, own.with_format("numpy"), reordered, own.to_iterable_dataset()):
        qrels: Any = as_qrels(dataset)
        assert isinstance(qrels, fr.Qrels)
        assert qrels.to_dict() == QRELS
    assert fr.Qrels.from_arrow(own).to_dict() == QRELS


# Judgments from ir_datasets, of which a stand-in has the interface

UNKNOWN = "irds:x: ir_datasets has no dataset with this id"


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Qrel]:
    """The judgments of irds:dev; irds:small has none."""
    rows = [*JUDGED]
    datasets = {
        "dev": SimpleNamespace(has_qrels=lambda: True, qrels_iter=lambda: iter(rows)),
        "small": SimpleNamespace(has_qrels=lambda: False),
    }
    module: Any = SimpleNamespace(load=datasets.__getitem__)
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    return rows


def test_judgments_are_read_by_the_id_of_the_dataset(judged, tmp_path):
    path = str(tmp_path / "x.qrels")
    assert main(["convert", "irds:dev", path]) == 0
    qrels = fr.read_qrels("irds:dev")
    assert (qrels.source, qrels.to_dict(), fr.read_qrels(path).to_dict()) == (
        "irds:dev",
        QRELS,
        QRELS,
    )
    assert fr.evaluate("irds:dev", RUN, "map ndcg").to_dict() == VALUES


def test_a_run_is_checked_against_the_judgments_of_a_dataset(judged, tmp_path, capsys):
    """And these themselves: twice judged documents are found."""
    path = tmp_path / "x.run"
    path.write_text("q1 Q0 a 1 0.5 x\nq8 Q0 a 1 0.5 x\n")
    assert main(["check", "irds:dev", str(path)]) == 0
    found = capsys.readouterr().out
    assert "x.run:2: warning: query 'q8' has no judgments in irds:dev" in found
    assert "missing-query: 1" in found
    judged.append(judged[0])
    report = fr.check("irds:dev")
    assert report.total("error") == 1
    assert "duplicate" in {one.kind for one in report.findings}
    assert main(["check", "irds:x"]) == 2
    assert UNKNOWN in capsys.readouterr().err


def test_datasets_without_judgments_and_a_missing_package_are_errors(judged, monkeypatch):
    with pytest.raises(ReadError, match=UNKNOWN):
        fr.read_qrels("irds:x")
    with pytest.raises(InputError, match="irds:small: the dataset has no judgments"):
        fr.read_qrels("irds:small")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(ImportError) as caught:
        fr.read_qrels("irds:small")
    assert str(caught.value) == "irds:small needs ir_datasets: pip install ir_datasets"


# The names of runs, by their files


NAMES = """
runs/pixels.run => pixels
input.humR03dc.gz => input.humR03dc
a.run.gz => a
A.TXT.BZ2 => A
bm25.k1=1.2 => bm25.k1=1.2
.run => .run
x/.gz => .gz
s3://bucket/a.jsonl.zst => a
a.run.txt => a.run
b/c.parquet => c
"""
# Files with the same name are distinguished.
SAME_NAMES = """
x/a.run y/b.run => a b
a.run a.run.gz b.run => a.run a.run.gz b
x/a.run y/a.run => x/a.run y/a.run
p/x/a.run q/x/a.run a.txt => p/x/a.run q/x/a.run a.txt
a.run x/a.run => a.run x/a.run
a.run a.run => a a
d/a.run d/a.run.gz d/a.run.txt => d/a.run a.run.gz a.run.txt
"""


@pytest.mark.parametrize(("paths", "names"), [*cases(NAMES), *cases(SAME_NAMES)])
def test_files_are_named_without_known_suffixes(paths, names):
    assert run_names(paths.split()) == names.split()
    if " " not in paths:
        assert run_name(paths) == names
        assert "://" in paths or run_name(Path(paths)) == names


def test_evaluate_names_runs_by_files_keys_and_tags():
    qrels, pixels, pca = (DATA / name for name in ("digits.qrels", "pixels.run", "pca.run"))
    tagged = fr.Run.from_dict(fr.read_run(pca).to_dict(), tag="mine")
    for runs, names in (
        ([pixels, tagged, tagged.to_dict()], ["pixels", "mine", ""]),
        ({"a": pixels, "b": tagged, 3: tagged.to_dict()}, ["a", "b", "3"]),
        (iter([pixels, pca]), ["pixels", "pca"]),
    ):
        assert [own.name for own in fr.evaluate(qrels, runs, "map")] == names  # type: ignore[arg-type,union-attr]
    assert fr.evaluate(qrels, pixels, "map").name == "pixels"


def test_tables_and_comparisons_have_these_names(tmp_path):
    qrels, pca = DATA / "digits.qrels", DATA / "pca.run"
    (tmp_path / "other.run.gz").write_bytes(pca.read_bytes())
    runs = [pca, tmp_path / "other.run.gz"]
    scores: Any = fr.evaluate(qrels, runs, "map")
    assert scores[1].tag == "pca"
    assert fr.table(scores).columns["run"] == ["pca", "other"]
    assert fr.compare(qrels, runs, "map").names == ["pca", "other"]
    assert fr.compare_scores(scores).names == ["pca", "other"]
    assert fr.explain(qrels, runs[1], "map", query="q0000").run == "other"
    assert str(scores[0] - scores[1]).split()[1:3] == ["pca", "other"]


def test_a_dict_of_runs_is_evaluated_as_a_list_of_them():
    qrels, run = {"q1": {"d": 1}}, {"q1": {"d": 1.0}}
    for first in (run, [("q1", "d", 1.0)]):
        found: Any = fr.Evaluator(qrels, "map").evaluate({"a": first, "b": run})
        assert [(own.name, own.mean["map"]) for own in found] == [("a", 1.0), ("b", 1.0)]
    with pytest.raises(RunError, match="a: the run has no queries"):
        fr.evaluate(qrels, {"a": {}, "b": run}, "map")
    assert fr.evaluate(qrels, run, "map").mean == {"map": 1.0}
    assert fr.compare(qrels, run, "map").names == ["run"]


DOCS = {"q1": {"d": 1.0}}


def test_a_dict_of_runs_and_of_documents_is_an_error():
    for given in (
        {"a": DOCS, **DOCS},
        {**DOCS, "a": DOCS},
        {**DOCS, "a": "a.run"},
        {**DOCS, "a": fr.Run.from_dict(DOCS)},
    ):
        with pytest.raises(InputError, match="found both: 'a' has a run, 'q1' has dict"):
            fr.evaluate({"q1": {"d": 1}}, given, "map")  # type: ignore[call-overload]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_frame_with_two_tags_says_how_to_read_it(kind):
    columns = {"qid": ["q", "q"], "docno": ["a", "b"], "score": [2.0, 1.0], "system": ["x", "y"]}
    library = pytest.importorskip({"arrow": "pyarrow"}.get(kind, kind))
    frame = library.table(columns) if kind == "arrow" else library.DataFrame(columns)
    expected = (
        "select the rows of one, or give all rows one new tag:"
        rf" fr.Run.from_{kind}\(..., tag=NAME\)$"
    )
    with pytest.raises(InputError, match=expected):
        fr.evaluate({"q": {"a": 1}}, frame, "map")
    assert getattr(fr.Run, f"from_{kind}")(frame, tag="z").to_dict() == {"q": {"a": 2.0, "b": 1.0}}
