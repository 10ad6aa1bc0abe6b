"""Embeddings to metrics: the values are those of `evaluate` for the run that `search` gives."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import fastrank as fr
from fastrank.searching import build_index, search
from tests.helpers.parsing import read_prefs, read_trec_run

RNG = np.random.default_rng(3)
CORPUS = RNG.standard_normal((200, 8)).astype(np.float32)
QUERIES = RNG.standard_normal((30, 8)).astype(np.float32)
QRELS = {
    f"q{i}": {f"d{doc}": int(RNG.integers(0, 3)) for doc in RNG.choice(200, 9, replace=False)}
    for i in range(30)
}
IDS = {"query_ids": [f"q{i}" for i in range(30)], "corpus_ids": [f"d{i}" for i in range(200)]}
SMALL = st.integers(-1, 1).map(float)
MEASURES = (
    "all_trec relstring runid RR@3 ERR@5 nDCG(dcg='exp-log2')@5 HitRatio@2 PercentileRank"
    " Judged@3 RCap@4"
)


def values_of(scores: fr.Scores) -> dict[str, Any]:
    return {
        "queries": scores.queries,
        "mean": {name: repr(value) for name, value in scores.mean.items()},
        "each": {name: list(map(repr, values)) for name, values in scores.lists().items()},
        "missing": scores.missing_queries,
        "unjudged_queries": scores.unjudged_queries,
    }


def counts_of(scores: fr.Scores) -> dict[str, int]:
    """But for what only a search knows."""
    return {
        name: n for name, n in scores.counts.items() if name not in ("excluded", "ties_at_cutoff")
    }


def result_of(evaluate: Any) -> Any:
    """The values, or which error there is."""
    try:
        scores = evaluate()
    except fr.FastrankError as error:
        return type(error), str(error).replace("<search>", "<dict>")
    return values_of(scores), counts_of(scores)


@pytest.mark.filterwarnings("ignore:k=")
@settings(deadline=None, max_examples=80)
@given(
    corpus=hnp.arrays(np.float32, st.tuples(st.integers(1, 20), st.just(2)), elements=SMALL),
    queries=hnp.arrays(np.float32, st.tuples(st.integers(1, 7), st.just(2)), elements=SMALL),
    metric=st.sampled_from(["ip", "l2"]),
    k=st.integers(1, 25),
    named=st.sampled_from(["numbers", "integers", "texts"]),
    judged=st.dictionaries(
        st.integers(0, 9), st.dictionaries(st.integers(0, 24), st.integers(-1, 3), min_size=1),
        min_size=1,
    ),
    ignore_identical_ids=st.booleans(),
    lists=st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 24)), max_size=4),
    batch_size=st.integers(1, 8),
    written=st.booleans(),
    options=st.fixed_dictionaries(
        {
            "trec_eval_version": st.sampled_from(["9.0.8", "10.0"]),
            "missing": st.sampled_from(["skip", "zero"]),
            "judged_only": st.booleans(),
            "relevance_level": st.integers(-1, 2),
            "no_relevant": st.sampled_from(["zero", "skip", "error"]),
            "depth": st.sampled_from([None, 1, 2]),
            "collection_size": st.sampled_from([0, 1000]),
        }
    ),
)  # fmt: skip
def test_values_are_those_of_the_run_that_search_gives(
    corpus: Any, queries: Any, metric: str, k: int, named: str, judged: Any,
    ignore_identical_ids: bool, lists: Any, batch_size: int, written: bool, options: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    """Small integers: ties and duplicates, equal in every batch."""

    def text(kind: str, number: int) -> str:
        return f"{kind}{number}" if named == "texts" else str(5 * number if kind == "q" else number)

    def ids(kind: str, count: int) -> list[Any] | None:
        if named == "numbers":
            return None
        own = [text(kind, i) for i in range(count)]
        return list(map(int, own)) if named == "integers" else own

    if named == "numbers":
        text = lambda kind, number: str(number)  # noqa: E731
    doc_ids, query_ids = ids("d", len(corpus)), ids("q", len(queries))
    qrels = {text("q", q): {text("d", d): g for d, g in own.items()} for q, own in judged.items()}
    exclude = {text("q", q): [text("d", d) for d in docs] for q, docs in lists.items()}
    common: Any = {
        "query_ids": query_ids, "ignore_identical_ids": ignore_identical_ids, "exclude": exclude,
        "batch_size": batch_size, "metric": metric,
    }  # fmt: skip
    run = search(queries, corpus, k, corpus_ids=doc_ids, **common)
    path = tmp_path_factory.mktemp("run") / "found.run" if written else None

    found = result_of(
        lambda: fr.evaluate_embeddings(
            queries, corpus, qrels, MEASURES, k=k, corpus_ids=doc_ids, run=path, **common, **options
        )
    )

    expected = result_of(lambda: fr.evaluate(qrels, run, MEASURES, **options))
    if found[0] is fr.InputError:
        assert {int(doc.strip("d")) for own in qrels.values() for doc in own}.isdisjoint(
            range(len(corpus))
        ) or options["no_relevant"] == "skip"
    elif expected[0] is fr.NoQueriesError:
        assert found[0] is fr.NoQueriesError
    elif len(run) == len(queries):
        assert found == expected
    else:
        # A query that finds nothing is no query of the run, but one of the search.
        found[0].pop("unjudged_queries") if isinstance(found[0], dict) else None
        expected[0].pop("unjudged_queries") if isinstance(expected[0], dict) else None
        assert found[0] == expected[0]
    if path is not None and isinstance(found[0], dict) and len(run):
        assert read_trec_run(path).to_dict() == run.to_dict()


def test_lists_of_other_queries_change_no_ranking() -> None:
    """Of documents with equal scores faiss finds others where it searches deeper."""
    corpus, queries, qrels = np.zeros((3, 2)), np.zeros((2, 2)), {0: {0: 1}}

    for vectors in (lambda: corpus, lambda: iter([corpus])):
        run = search(queries, vectors(), 1, exclude={1: [0]})
        found = fr.evaluate_embeddings(queries, vectors(), qrels, "P.1", k=1, exclude={1: [0]})
        assert found.mean == fr.evaluate(qrels, run, "P.1").mean


@pytest.mark.parametrize("metric", ["ip", "l2", "cosine"])
@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_values_of_real_numbers_are_those_of_the_run(metric: str, trec_eval_version: str) -> None:
    found = fr.evaluate_embeddings(
        QUERIES,
        CORPUS,
        QRELS,
        "all_trec",
        k=20,
        metric=metric,
        trec_eval_version=trec_eval_version,
        **IDS,
    )

    run = search(QUERIES, CORPUS, 20, metric=metric, corpus_ids=IDS["corpus_ids"],
                 query_ids=IDS["query_ids"])  # fmt: skip
    assert values_of(found) == values_of(
        fr.evaluate(QRELS, run, "all_trec", trec_eval_version=trec_eval_version)
    )


def test_an_index_an_iterator_and_a_file_give_the_same(tmp_path: Path) -> None:
    expected = values_of(fr.evaluate_embeddings(QUERIES, CORPUS, QRELS, "map", **IDS))
    np.save(tmp_path / "corpus.npy", CORPUS)
    np.save(tmp_path / "queries.npy", QUERIES)
    queries = {"query_ids": IDS["query_ids"]}

    for own, corpus in (
        (QUERIES, tmp_path / "corpus.npy"),
        (tmp_path / "queries.npy", iter([CORPUS[:50], CORPUS[50:]])),
        (iter([QUERIES[:7], QUERIES[7:]]), CORPUS),
    ):
        assert values_of(fr.evaluate_embeddings(own, corpus, QRELS, "map", **IDS)) == expected
    index = build_index(CORPUS, ids=IDS["corpus_ids"])
    found = fr.evaluate_embeddings(iter([QUERIES]), index, QRELS, "map", **queries)
    assert values_of(found) == expected


def test_rows_without_ids_are_judged_by_their_numbers() -> None:
    qrels = {"1": {"3": 1}, "0": {"7": 1}}

    found = fr.evaluate_embeddings(iter([CORPUS[:5]]), CORPUS, qrels, "recip_rank", metric="cosine",
                                   k=200)  # fmt: skip

    run = search(CORPUS[:5], CORPUS, 200, metric="cosine")
    assert found.mean == fr.evaluate(qrels, run, "recip_rank").mean
    assert found.unjudged_queries == ["2", "3", "4"]


def test_a_factory_builds_an_index() -> None:
    found = fr.evaluate_embeddings(
        QUERIES, CORPUS, QRELS, "map", index_factory="IVF4,Flat", parameters="nprobe=4", **IDS
    )

    assert found.mean == fr.evaluate_embeddings(QUERIES, CORPUS, QRELS, "map", **IDS).mean


def test_counts_tell_removed_documents_and_cut_ties() -> None:
    corpus = [[2.0], [1.0], [1.0], [1.0]]
    qrels = {"0": {"1": 1}, "1": {"2": 1}}

    found = fr.evaluate_embeddings([[1.0], [1.0], [1.0]], corpus, qrels, "map", k=2,
                                   exclude={"1": ["0", "3"]})  # fmt: skip

    assert (
        found.counts["excluded"],
        found.counts["ties_at_cutoff"],
        found.counts["unjudged_queries"],
    ) == (2, 1, 1)
    assert "1 ranking was cut between documents with equal scores" in str(found)
    assert "2 documents were excluded from the rankings" in str(found)


@pytest.mark.parametrize("name", ["found.run", "found.run.gz"])
def test_the_run_is_written_on_the_side(name: str, tmp_path: Path) -> None:
    fr.evaluate_embeddings(QUERIES, CORPUS, {"q3": {"d1": 1}}, "map", k=4, run=tmp_path / name,
                           tag="mine", batch_size=7, **IDS)  # fmt: skip

    written = read_trec_run(tmp_path / name)
    ids = {"corpus_ids": IDS["corpus_ids"], "query_ids": IDS["query_ids"]}
    assert written.to_dict() == search(QUERIES, CORPUS, 4, **ids).to_dict()
    assert written.tag == "mine"
    if name.endswith(".gz"):
        assert gzip.decompress((tmp_path / name).read_bytes()).count(b"\n") == 120


def test_a_run_that_cannot_be_finished_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "found.run"
    path.write_text("before")
    bad = [QUERIES[:9], np.full((3, 8), np.nan)]

    with pytest.raises(fr.ArrayError, match=r"queries\[9, 0\]: expected finite values"):
        fr.evaluate_embeddings(iter(bad), CORPUS, QRELS, run=path, batch_size=3,
                               **{**IDS, "query_ids": IDS["query_ids"][:12]})  # fmt: skip

    assert path.read_text() == "before"
    assert [own.name for own in tmp_path.iterdir()] == ["found.run"]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"measures": "mapp"}, fr.MeasureError, "unknown measure 'mapp'"),
        ({"measures": "map_avgjg"}, fr.EvaluationError, "rel_info format not qrels_jg"),
        ({"qrels": {"x": {"d1": 1}}}, fr.NoQueriesError, "share no query ids .run: 'q0'"),
        (
            {"qrels": {"x": {"d1": 1}}, "query_ids": None},
            fr.NoQueriesError,
            r"share no query ids .run: '0'.*; without query_ids \(--query-ids\), the ids of",
        ),
        ({"missing": "error", "qrels": {**QRELS, "x": {"d1": 1}}}, fr.EvaluationError, "1 of 31"),
        ({"no_relevant": "drop"}, fr.OptionError, "no_relevant: expected one of"),
        ({"corpus_ids": ["a b", *IDS["corpus_ids"][1:]], "run": "x.run"}, fr.InputError, "'a b'"),
        ({"run": "x.jsonl"}, fr.OptionError, "run: expected a file name for TREC format"),
        ({"run": "no/x.run"}, FileNotFoundError, "no/x.run"),
        ({"run": "x.run", "tag": "two words"}, fr.InputError, "tag 'two words': expected text"
                                                              " without"),
        ({"index_factory": "IVF4,Flat", "k": 0}, fr.OptionError, "k: expected 1 or more"),
        ({"index_factory": "IVF4,Flat", "parameters": "efSearch=9"},
         fr.OptionError, "unknown parameter of this index"),
        ({"index_factory": "nonsense"}, fr.OptionError, "index_factory: faiss cannot build"),
        ({"query_ids": ["q1"] * 30}, fr.ArrayError, r"query_ids\[1\]: duplicate id 'q1', also at"
                                                    r" 0"),
        ({"corpus": build_index(CORPUS), "corpus_ids": None, "index_factory": "IVF4,Flat"},
         fr.OptionError, "index_factory: found 'IVF4,Flat', but the Index is already built"),
        ({"corpus": build_index(CORPUS), "corpus_ids": None, "train_size": 9},
         fr.OptionError, "train_size: the Index is already built"),
        ({"corpus": build_index(CORPUS, ids=IDS["corpus_ids"])}, fr.OptionError,
         "corpus_ids: the Index has ids"),
        ({"corpus_ids": None}, fr.InputError,
         r"no judged document is in the corpus .judged: 'd85', 'd28', \.\.\.; corpus: '0', '1', "
         r"\.\.\..; pass the ids of the vectors as corpus_ids$"),
        ({"qrels": {"q0": {"x": 1}}}, fr.InputError, "judged: 'x'; corpus: 'd0', 'd1', ....$"),
        ({"corpus": build_index(CORPUS), "corpus_ids": ["a"]}, fr.ArrayError,
         "corpus_ids: expected .* ids, one per vector, found 1"),
    ],
)  # fmt: skip
def test_mistakes_are_found_before_the_search(
    arguments: dict[str, Any], kind: type[Exception], message: str,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fastrank.searching.batches._Search.run", None)
    monkeypatch.setattr("fastrank.evaluation.embeddings.build_index", None)
    given: dict[str, Any] = {"corpus": CORPUS, "qrels": QRELS, **IDS, **arguments}

    with pytest.raises(kind, match=message):
        fr.evaluate_embeddings(QUERIES, **given)

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ties", ["docno_asc", "best", "worst", "average"])
def test_ties_are_settled_as_in_the_run(ties: Any) -> None:
    """Of 60 documents every two have one vector, and so one score."""
    corpus = np.repeat(CORPUS[:30], 2, axis=0)
    ids = {**IDS, "corpus_ids": [f"d{i}" for i in range(60)]}
    qrels = {f"q{i}": {f"d{i}": 1, f"d{59 - i}": 2} for i in range(30)}
    run = search(QUERIES, corpus, 20, corpus_ids=ids["corpus_ids"], query_ids=ids["query_ids"])

    found = fr.evaluate_embeddings(
        QUERIES, corpus, qrels, "map ndcg", k=20, batch_size=7, ties=ties, **ids
    )

    assert found.to_dict() == fr.evaluate(qrels, run, "map ndcg", ties=ties).to_dict()
    assert (
        found.mean != fr.evaluate_embeddings(QUERIES, corpus, qrels, "map ndcg", k=20, **ids).mean
    )


def test_given_ties_stand_in_the_order_of_the_corpus() -> None:
    corpus, qrels = np.array([[1, 0], [1, 0], [1, 0], [0, 1]], "float32"), {0: {2: 1}}

    found = fr.evaluate_embeddings([[1.0, 0.0]], corpus, qrels, "recip_rank", ties="given")

    assert found.mean == {"recip_rank": 1 / 3}


def test_the_counts_of_a_search_do_not_depend_on_ties() -> None:
    queries = iter([QUERIES[:11], QUERIES[11:]])
    given = {"exclude": {"q3": ["d1", "d2"]}, "k": 290, **IDS}
    qrels = {"q3": QRELS["q3"]}

    found = fr.evaluate_embeddings(queries, CORPUS, qrels, "map", ties="average", **given)

    expected = fr.evaluate_embeddings(QUERIES, CORPUS, qrels, "map", **given)
    assert found.counts == expected.counts
    assert sorted(found.unjudged_queries or []) == sorted(expected.unjudged_queries or [])


class _DatasetIndex:
    """What `get_index` of a Dataset of Hugging Face returns."""

    def __init__(self, faiss_index: Any) -> None:
        self.faiss_index = faiss_index


@pytest.mark.parametrize("given", [lambda index: index, _DatasetIndex])
@pytest.mark.parametrize(("metric", "kind"), [("ip", faiss.IndexFlatIP), ("l2", faiss.IndexFlatL2)])
def test_an_index_of_faiss_is_searched_as_it_is(metric: str, kind: Any, given: Any) -> None:
    index = kind(CORPUS.shape[1])
    index.add(CORPUS)

    found = fr.evaluate_embeddings(QUERIES, given(index), QRELS, "map", **IDS)

    assert found.mean == (
        fr.evaluate_embeddings(QUERIES, CORPUS, QRELS, "map", metric=metric, **IDS).mean
    )


def test_an_index_of_faiss_holds_vectors_of_length_1_where_the_metric_is_the_cosine() -> None:
    index = faiss.IndexFlatIP(CORPUS.shape[1])
    index.add(CORPUS / np.linalg.norm(CORPUS, axis=1, keepdims=True))

    found = fr.evaluate_embeddings(QUERIES, index, QRELS, "map", metric="cosine", **IDS)

    assert found.mean == (
        fr.evaluate_embeddings(QUERIES, CORPUS, QRELS, "map", metric="cosine", **IDS).mean
    )


def test_a_document_judged_twice_is_named_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q1 0 d1 1\nq1 0 d2 1\nq1 0 d1 0\n")

    with pytest.raises(fr.EvaluationError, match="query 'q1': duplicate docs d1, lines 1 and 3"):
        fr.evaluate_embeddings(QUERIES, CORPUS, path, "map", **IDS)


def test_preferences_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "prefs"
    path.write_text("q1 0 0 d1 2\nq1 0 0 d2 1\n")

    with pytest.raises(fr.InputError, match="expected judgments of documents, found preferences"):
        fr.evaluate_embeddings(QUERIES, CORPUS, read_prefs(path), "map", **IDS)


def test_queries_without_judgments_are_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor looked at: a million queries with a thousand judged ones cost a thousand."""
    queries = QUERIES.copy()
    queries[7] = np.nan

    found = fr.evaluate_embeddings(queries, CORPUS, {"q3": {"d1": 1}}, "recip_rank", **IDS)

    expected = fr.evaluate_embeddings(QUERIES, CORPUS, {"q3": {"d1": 1}}, "recip_rank", **IDS)
    assert found.mean == expected.mean
    assert len(found.unjudged_queries or []) == 29


@pytest.mark.parametrize(
    ("k", "measures", "named"),
    [
        (5, "nDCG@100 map RR@5", "nDCG@100, which counts"),
        (5, "P.5,10,20", "P_10, P_20, which count"),
        (9, "AP(rel=2)@10", "AP(rel=2)@10, which counts"),
    ],
)
def test_a_cutoff_that_rankings_do_not_reach_is_a_warning(
    k: int, measures: str, named: str
) -> None:
    with pytest.warns(UserWarning, match="cutoff") as caught:
        fr.evaluate_embeddings(QUERIES, CORPUS, QRELS, measures, k=k, **IDS)

    (warned,) = caught
    assert str(warned.message) == (
        f"k={k} is below the cutoff of {named} the ranks after {k} as not relevant"
    )
    assert warned.filename == __file__


@pytest.mark.parametrize(("k", "measures"), [(5, "official"), (5, "P@5 ndcg"), (200, "nDCG@1000")])
def test_no_other_cutoffs_are_warned_of(k: int, measures: str) -> None:
    """Of 200 documents no ranking has more than 200."""
    fr.evaluate_embeddings(QUERIES, CORPUS, QRELS, measures, k=k, **IDS)


def test_results_without_judgments_raise_no_doubt_about_ids_that_match() -> None:
    scores = fr.evaluate_embeddings([[1.0]], [[1.0], [0.5]], {"0": {"1": 1}}, "map", k=1)

    assert str(scores).splitlines()[1:] == ["no retrieved document is judged"]


def test_ids_can_be_paths(tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.txt" for name in IDS}
    for name, path in paths.items():
        path.write_text("\n".join(IDS[name]) + "\n")
    numpy = tmp_path / "ids.npy"
    np.save(numpy, IDS["corpus_ids"])

    expected = fr.evaluate_embeddings(QUERIES, CORPUS, QRELS, "map", **IDS).mean
    index = build_index(CORPUS, ids=str(paths["corpus_ids"]))

    assert fr.evaluate_embeddings(QUERIES, CORPUS, QRELS, "map", **paths).mean == expected
    paths["corpus_ids"] = numpy
    assert fr.evaluate_embeddings(QUERIES, CORPUS, QRELS, "map", **paths).mean == expected
    found = fr.evaluate_embeddings(QUERIES, index, QRELS, "map", query_ids=IDS["query_ids"])
    assert found.mean == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\nb c\n", "ids.txt:2: expected an id without blanks, found 'b c'"),
        ("a\n\nb\n", "ids.txt:2: expected an id without blanks, found an empty line"),
        ("a\nb\n", "query_ids: expected 30 ids, one per vector, found 2"),
    ],
)
def test_a_file_that_is_not_a_list_of_ids_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text(text)

    with pytest.raises(fr.FastrankError) as caught:
        search(QUERIES, CORPUS, 3, query_ids=path)

    assert str(caught.value).endswith(message)
