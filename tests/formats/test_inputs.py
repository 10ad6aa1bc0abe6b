"""Objects of other libraries, taken wherever judgments or a run are."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.formats.inputs import as_qrels, as_run
from tests.helpers.huggingface import Table

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"a": 0.5, "b": 0.75}, "q2": {"c": 1.0}}
Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")
JUDGED = [
    Qrel(query, doc, grade, "0") for query, own in QRELS.items() for doc, grade in own.items()
]
FOUND = [ScoredDoc(query, doc, score) for query, own in RUN.items() for doc, score in own.items()]
VALUES = fr.evaluate(QRELS, RUN, "map ndcg").to_dict()


@pytest.mark.parametrize("pack", [list, tuple, iter, lambda rows: (row for row in rows)])
def test_named_tuples_of_any_iterable(pack: Callable[[Any], Any]) -> None:
    assert fr.evaluate(pack(JUDGED), pack(FOUND), "map ndcg").to_dict() == VALUES
    assert fr.Evaluator(pack(JUDGED), "map ndcg").evaluate(pack(FOUND)).to_dict() == VALUES


@pytest.mark.parametrize("pack", [list, tuple, iter])
def test_plain_tuples_of_query_document_and_number(pack: Callable[[Any], Any]) -> None:
    judged, found = ([tuple(row[:3]) for row in rows] for rows in (JUDGED, FOUND))

    assert fr.evaluate(pack(judged), pack(found), "map ndcg").to_dict() == VALUES
    with pytest.raises(fr.InputError, match=r"row 1 .*expected a tuple \(query, document, number"):
        as_qrels([("q", "d", 1), ("q", "e")])


def test_an_iterator_of_runs() -> None:
    found = fr.evaluate(QRELS, (run for run in (RUN, FOUND)), "map ndcg")
    assert [one.to_dict() for one in found] == [VALUES, VALUES]


@pytest.mark.parametrize("doc", ["document", "document_id", "documents", "docs"])
def test_names_of_the_document_column(doc: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"query": ["q"], doc: ["d"], "grade": [1]})

    assert fr.Qrels.from_pandas(frame).to_dict() == {"q": {"d": 1}}


def test_a_document_beside_its_id_is_no_id() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"query": ["q"], "docno": ["d"], "document": ["text"], "grade": [1]})

    assert fr.Qrels.from_pandas(frame).to_dict() == {"q": {"d": 1}}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_errors_about_frames_say_which_one_and_what_takes_columns(library: str) -> None:
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    method = {"pyarrow": "from_arrow"}.get(library, f"from_{library}")
    judged = make({"query": ["q"], "url": ["d"], "grade": [1]})
    found = make({"query": ["q"], "url": ["d"], "score": [0.5]})

    with pytest.raises(fr.InputError, match=r"^qrels <.*>: no document column: ") as raised:
        fr.evaluate(judged, {"q": {"d": 1.0}}, "map")
    assert str(raised.value).endswith(f"or use Qrels.{method}(..., columns={{'doc': NAME}})")
    with pytest.raises(fr.InputError, match=r"^run <.*>: no document column: ") as raised:
        fr.evaluate({"q": {"d": 1}}, found, "map")
    assert str(raised.value).endswith(f"or use Run.{method}(..., columns={{'doc': NAME}})")
    columns = {"doc": "url"}
    assert fr.evaluate(
        getattr(fr.Qrels, method)(judged, columns=columns),
        getattr(fr.Run, method)(found, columns=columns),
        "map",
    ).mean == {"map": 1.0}


@pytest.mark.parametrize("best", [5.25, 5.0])
def test_dicts_that_have_probably_changed_places_cause_a_warning(best: float) -> None:
    qrels = {"q": {f"d{n}": n % 2 for n in range(6)}}
    run = {"q": {**{f"d{n}": n + 0.25 for n in range(5)}, "d5": best}}

    with pytest.warns(UserWarning, match="are judgments and run swapped") as warned:
        fr.evaluate(run, qrels, "map")
    assert warned[0].filename == __file__
    assert fr.evaluate(run, {"q": {"d0": 12, "d1": 11}}, "map").mean["map"] > 0
    assert fr.evaluate({"q": {"d0": 0.5, "d1": 1}}, {"q": {"d0": 1}}, "map").mean == {"map": 0}


@pytest.mark.parametrize(
    "score",
    [lambda n: -n, lambda n: 1000 - n, lambda n: -(n // 2) - 1, lambda n: n / 4 - 3, lambda n: n],
)
def test_whole_and_negative_scores_that_have_changed_places_cause_a_warning(
    score: Callable[[int], float],
) -> None:
    qrels = {"q": {f"d{n}": n % 2 for n in range(20)}}
    run = {"q": {f"d{n}": score(n) for n in range(20)}}

    with pytest.warns(UserWarning, match="are judgments and run swapped"):
        fr.evaluate(run, qrels, "num_ret")
    # In their places there is no warning, which would be an error.
    fr.evaluate(qrels, run, "num_ret")


def test_large_and_fractional_grades_cause_no_warning() -> None:
    docs = [f"d{n}" for n in range(40)]
    votes = {"q": {doc: n % 9 for n, doc in enumerate(docs)}}

    for grade in (lambda n: n % 30, lambda n: n % 7 / 2, lambda n: n % 3 - 1):
        fr.evaluate({"q": {doc: grade(n) for n, doc in enumerate(docs)}}, votes, "map")
    shares = {"q": {doc: n / 7 for n, doc in enumerate(docs)}}
    fr.evaluate(shares, {"q": {doc: float(n % 9) for n, doc in enumerate(docs)}}, "map")


def test_several_runs_of_named_tuples() -> None:
    found = fr.evaluate(JUDGED, [FOUND, RUN], "map ndcg")
    assert [one.to_dict() for one in found] == [VALUES, VALUES]


def test_those_of_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    qrels = [ir_measures.Qrel(*row[:3]) for row in JUDGED]
    run = [ir_measures.ScoredDoc(*row) for row in FOUND]

    assert fr.evaluate(qrels, run, [ir_measures.AP, ir_measures.nDCG]).mean == pytest.approx(
        {str(name): value for name, value in
         ir_measures.calc_aggregate([ir_measures.AP, ir_measures.nDCG], qrels, run).items()}
    )  # fmt: skip


def test_grades_with_fractions_and_iterations() -> None:
    rows = [Qrel("q", "a", 0.5, "x"), Qrel("q", "b", 2, "y")]
    qrels = as_qrels(rows)

    assert isinstance(qrels, fr.Qrels)
    assert qrels.to_dict() == {"q": {"a": 0.5, "b": 2.0}}
    assert list(qrels.groups) == [b"x", b"y"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([*JUDGED, ("q", "d", 1)], "row 3 .*: expected Qrel, as before, found tuple"),
        (
            [("q", "d", "x")],
            r"row 0 .*: expected \(query, document, number\), found \('q', 'd', 'x'\)",
        ),
        ([("q", "0", "d", 1)], r"row 0 .*: expected \(query, document, number\), found"),
        ([*JUDGED, *FOUND], "row 3 .*: expected Qrel, as before, found ScoredDoc"),
        ([Qrel("q", "d", None, "0")], "row 0 .*'relevance': expected a grade, found NoneType"),
        ([namedtuple("Point", "x y")(1, 2)], "no query column: found 'x', 'y'"),
    ],
)
def test_what_is_wrong_with_them_is_told(rows: Any, message: str) -> None:
    with pytest.raises(fr.InputError, match=f"<tuples>: .*{message}"):
        as_qrels(rows)


@pytest.mark.parametrize("given", [[], iter([]), [("q", "d")], 3])
def test_other_iterables_are_nothing(given: Any) -> None:
    with pytest.raises(TypeError, match=r"qrels: expected Qrels or .* tuples or a file, found"):
        as_qrels(given)


class _Kept:
    """As ranx keeps judgments and runs."""

    def __init__(self, name: str, own: dict[str, Any], tag: str | None = None) -> None:
        setattr(self, name, own)
        self.name, self._own = tag, own

    def to_dict(self) -> dict[str, Any]:
        return self._own


def test_those_of_ranx() -> None:
    found = fr.evaluate(_Kept("qrels", QRELS), _Kept("run", RUN, "mine"), "map ndcg")

    assert found.to_dict() == VALUES
    assert as_run(_Kept("run", RUN, "mine")).tag == "mine"
    with pytest.raises(TypeError, match="qrels: expected"):
        as_qrels(_Kept("run", RUN))


def test_ranx_itself() -> None:
    ranx = pytest.importorskip("ranx")

    assert fr.evaluate(ranx.Qrels(QRELS), ranx.Run(RUN), "map ndcg").to_dict() == VALUES


@pytest.mark.parametrize("kind", [list, tuple, set, np.array])
def test_listed_documents_are_judgments_of_grade_1(kind: Any) -> None:
    qrels = as_qrels({"q1": kind(["d1", "d2"]), "q2": kind([])})

    assert isinstance(qrels, fr.Qrels)
    assert qrels.to_dict() == {"q1": {"d1": 1, "d2": 1}}


def test_columns_of_a_table_are_no_listed_documents() -> None:
    with pytest.raises(fr.InputError, match="use from_arrays for columns of a table"):
        as_qrels({"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1]})


def test_a_dict_with_one_split() -> None:
    pytest.importorskip("pyarrow")
    table = Table({"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]})

    qrels = as_qrels({"test": table})

    assert isinstance(qrels, fr.Qrels)
    assert qrels.to_dict() == {"q1": {"d1": 1}}
    with pytest.raises(fr.InputError, match="qrels: expected split=, one of a, b"):
        as_qrels({"a": table, "b": table})


def test_a_dataset_of_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")
    names = ("query-id", "corpus-id", "score")
    own = datasets.Dataset.from_list([dict(zip(names, row[:3], strict=True)) for row in JUDGED])
    reordered = own.select([2, 0, 1]).select([1, 2, 0])

    for dataset in (own, own.with_format("numpy"), reordered, own.to_iterable_dataset()):
        qrels = as_qrels(dataset)
        assert isinstance(qrels, fr.Qrels)
        assert qrels.to_dict() == QRELS
    assert fr.Qrels.from_arrow(own).to_dict() == QRELS


class Word(str):
    """A kind of str."""

    __slots__ = ()


IDS = [
    ["a", "b", "a"], [], ["", "x"], ["é", "日本語", "a"], ["x" * 100, "y", "z" * 1000],
    [Word("a"), "b"], ["a", b"b"], [1, 2], ["\udc80", "a"],
]  # fmt: skip


@pytest.mark.parametrize("ids", IDS)
def test_ids_are_copied_alike_from_lists_and_tuples(ids: list[Any]) -> None:
    expected = [
        doc if isinstance(doc, bytes) else str(doc).encode("utf-8", "surrogateescape")
        for doc in ids
    ]
    assert list(fr.Run.from_arrays(["q"] * len(ids), ids, [0.5] * len(ids)).docs) == expected
    if ids:
        scores = [float(place) for place in range(len(ids))]
        run = as_run([("q", doc, score) for doc, score in zip(ids, scores, strict=True)])
        assert list(run.docs) == expected
        assert run.scores.tolist() == scores


@pytest.mark.parametrize("scores", [[0.5, 1], [1, 2], [True, 0.25], ["x", 0.5]])
def test_scores_of_tuples_may_be_of_several_types(scores: list[Any]) -> None:
    rows = [("q", f"d{place}", score) for place, score in enumerate(scores)]
    if "x" in scores:
        with pytest.raises(fr.InputError, match=r"row 0 \(from 0\): expected"):
            as_run(rows)
        return
    assert as_run(rows).scores.tolist() == list(map(float, scores))
