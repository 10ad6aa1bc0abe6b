"""Embeddings to metrics: the values are those of `evaluate` for the run that `search` gives."""

from __future__ import annotations

import gzip
from typing import Any

import faiss
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import fastrank as fr
from fastrank.errors import ArrayError, InputError
from fastrank.searching import build_index, search
from tests.helpers.forms import EXPECTED, assert_same, options, outcome
from tests.helpers.parsing import parse_prefs, parse_qrels, read_trec_run
from tests.helpers.strategies import examples
from tests.helpers.tables import calls, check_error, rows

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


def of(measures: Any = "map", **given: Any) -> fr.Scores:
    """The scores of the vectors above, or of others."""
    arguments: dict[str, Any] = {"queries": QUERIES, "corpus": CORPUS, "qrels": QRELS, **IDS}
    return fr.evaluate_embeddings(measures=measures, **{**arguments, **given})


# Ids of queries and documents: row numbers, integers of which those of queries are five times as
# large, and texts.
NAMES: dict[str, Any] = {
    "rows": (lambda _, i: str(i), lambda *_: None),
    "integers": (
        lambda kind, i: str(5 * i if kind == "q" else i),
        lambda kind, count: [5 * i if kind == "q" else i for i in range(count)],
    ),
    "texts": (
        lambda kind, i: f"{kind}{i}",
        lambda kind, count: [f"{kind}{i}" for i in range(count)],
    ),
}


VECTORS = hnp.arrays(np.float32, st.tuples(st.integers(1, 20), st.just(2)), elements=SMALL)
FEW_VECTORS = hnp.arrays(np.float32, st.tuples(st.integers(1, 7), st.just(2)), elements=SMALL)
JUDGED = st.dictionaries(
    st.integers(0, 9),
    st.dictionaries(st.integers(0, 24), st.integers(-1, 3), min_size=1),
    min_size=1,
)
SEARCHES = st.fixed_dictionaries(
    {
        "metric": st.sampled_from(["ip", "l2"]),
        "ignore_identical_ids": st.booleans(),
        "exclude": st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 24)), max_size=4),
        "batch_size": st.integers(1, 8),
        "written": st.booleans(),
    }
)


# Given, documents stand in the order of the corpus.
RUN_TIES = ["docno_desc", "docno_asc", "best", "worst", "average"]
# What only a search knows.
OF_SEARCH = [
    *("excluded", "ties_at_cutoff", "unjudged_queries", "zero_vectors"),
    *("not_in_corpus", "numbered_documents", "numbered_queries"),
]


@pytest.mark.filterwarnings("ignore:k=", "ignore:.* without results dropped")
@examples(50)
@given(
    vectors=st.tuples(FEW_VECTORS, VECTORS),
    k=st.integers(1, 25),
    naming=st.sampled_from(list(NAMES)),
    judged=JUDGED,
    way=SEARCHES,
    how=options("exclude ignore_identical_ids duplicates", ties=st.sampled_from(RUN_TIES)),
)
def test_values_are_those_of_the_run_that_search_gives(
    vectors, k, naming, judged, way, how, tmp_path_factory
):
    """Small integers: ties and duplicates, equal in every batch."""
    queries, corpus = vectors
    name, ids = NAMES[naming]
    qrels = {name("q", q): {name("d", d): g for d, g in own.items()} for q, own in judged.items()}
    exclude = {name("q", q): [name("d", d) for d in docs] for q, docs in way["exclude"].items()}
    way = {**way, "exclude": exclude, "query_ids": ids("q", len(queries))}
    path = tmp_path_factory.mktemp("run") / "found.run" if way.pop("written") else None
    way["corpus_ids"] = ids("d", len(corpus))
    run = search(queries, corpus, k, **way)
    measures = MEASURES if how.get("ties") != "average" else EXPECTED

    found = outcome(
        fr.evaluate_embeddings, queries, corpus, qrels, measures, k=k, run=path, **way, **how
    )

    if isinstance(found, InputError):
        # Judgments of row numbers behind the last are refused, too.
        assert (
            naming == "rows"
            or {int(doc.strip("d")) for own in qrels.values() for doc in own}.isdisjoint(
                range(len(corpus))
            )
            or how.get("no_relevant") == "skip"
        )
    else:
        expected = outcome(fr.evaluate, qrels, run, measures, **how)
        assert_same(found, expected, named=False, uncounted=OF_SEARCH)
    if path is not None and isinstance(found, fr.Scores) and len(run):
        # A file of TREC has no line for a query without results.
        answers = {query: docs for query, docs in run.to_dict().items() if docs}
        assert read_trec_run(path).to_dict() == answers


def test_lists_of_other_queries_change_no_ranking():
    """Of documents with equal scores faiss finds others where it searches deeper."""
    corpus, queries, qrels = np.zeros((3, 2)), np.zeros((2, 2)), {0: {0: 1}}

    for vectors in (lambda: corpus, lambda: iter([corpus])):
        how: Any = {"k": 1, "metric": "ip", "exclude": {1: [0]}}
        run = search(queries, vectors(), **how)
        found = fr.evaluate_embeddings(queries, vectors(), qrels, "P.1", **how)
        assert found.mean == fr.evaluate(qrels, run, "P.1").mean


@pytest.mark.parametrize("metric", ["ip", "l2", "cosine"])
@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_values_of_real_numbers_are_those_of_the_run(metric, version):
    found = of("all_trec", k=20, metric=metric, trec_eval_version=version)

    run = search(QUERIES, CORPUS, 20, metric=metric, **IDS)
    expected = fr.evaluate(QRELS, run, "all_trec", trec_eval_version=version)
    assert_same(found, expected, uncounted=OF_SEARCH)


def test_an_index_an_iterator_and_a_file_give_the_same(tmp_path):
    expected = of()
    np.save(tmp_path / "corpus.npy", CORPUS)
    np.save(tmp_path / "queries.npy", QUERIES)
    index = build_index(CORPUS, ids=IDS["corpus_ids"])

    for given_ in (
        {"corpus": tmp_path / "corpus.npy"},
        {"queries": tmp_path / "queries.npy", "corpus": iter([CORPUS[:50], CORPUS[50:]])},
        {"queries": iter([QUERIES[:7], QUERIES[7:]])},
        {"queries": iter([QUERIES]), "corpus": index, "corpus_ids": None},
    ):
        assert_same(of(**given_), expected)


def test_rows_without_ids_are_judged_by_their_numbers():
    qrels, five = {"1": {"3": 1}, "0": {"7": 1}}, CORPUS[:5]
    how: Any = {"metric": "cosine", "k": 200}

    found = fr.evaluate_embeddings(iter([five]), CORPUS, qrels, "recip_rank", **how)

    run = search(five, CORPUS, **how)
    assert found.mean == fr.evaluate(qrels, run, "recip_rank").mean
    assert found.unjudged_queries == ["2", "3", "4"]


def test_a_factory_builds_an_index():
    assert of(index_factory="IVF4,Flat", parameters="nprobe=4").mean == of().mean


def test_counts_tell_removed_documents_and_cut_ties():
    corpus, qrels = [[2.0], [1.0], [1.0], [1.0]], {"0": {"1": 1}, "1": {"2": 1}}
    exclude = {"1": ["0", "3"]}

    found = fr.evaluate_embeddings(
        [[1.0]] * 3, corpus, qrels, "map", k=2, metric="ip", exclude=exclude
    )

    expected = {"excluded": 2, "ties_at_cutoff": 1, "unjudged_queries": 1}
    assert {name: found.counts[name] for name in expected} == expected
    assert "1 ranking was cut between documents with equal scores" in str(found)
    assert "2 documents were excluded from the rankings" in str(found)


@pytest.mark.parametrize("name", ["found.run", "found.run.gz"])
def test_the_run_is_written_on_the_side(name, tmp_path):
    path = tmp_path / name
    of(qrels={"q3": {"d1": 1}}, k=4, run=path, tag="mine", batch_size=7)

    written = read_trec_run(path)
    assert written.to_dict() == search(QUERIES, CORPUS, 4, **IDS).to_dict()
    assert written.tag == "mine"
    if name.endswith(".gz"):
        assert gzip.decompress(path.read_bytes()).count(b"\n") == 120


def test_a_run_that_cannot_be_finished_is_not_written(tmp_path):
    path = tmp_path / "found.run"
    path.write_text("before")
    bad = iter([QUERIES[:9], np.full((3, 8), np.nan)])

    with pytest.raises(ArrayError, match=r"queries\[9, 0\]: expected finite values"):
        of(queries=bad, query_ids=IDS["query_ids"][:12], run=path, batch_size=3)

    assert path.read_text() == "before"
    assert [own.name for own in tmp_path.iterdir()] == ["found.run"]


NO_IDS: Any = {"corpus_ids": None}
INDEX, NAMED_INDEX = build_index(CORPUS), build_index(CORPUS, ids=IDS["corpus_ids"])
OTHER = {"x": {"d1": 1}}
IVF: Any = {"index_factory": "IVF4,Flat"}
BLANK = ["a b", *IDS["corpus_ids"][1:]]
TWICE = parse_qrels(b"q1 0 d1 1\nq1 0 d2 1\nq1 0 d1 0\n")
PREFERENCES = parse_prefs(b"q1 0 0 d1 2\nq1 0 0 d2 1\n")


@calls(r"""
# the measures
of("mapp") => MeasureError: unknown measure 'mapp'; did you mean map, AP or AP_IA?
of("map_avgjg") =>
  EvaluationError: rel_info format not qrels_jg: 'map_avgjg' cannot be computed from -R qrels
# no queries are in common, or one is missing
of(qrels=OTHER) =>
  NoQueriesError: the run and the qrels share no query ids (run: 'q0', 'q1', 'q10', ...; qrels:
  'x')
of(qrels=OTHER, query_ids=None) =>
  NoQueriesError: the run and the qrels share no query ids (run: '0', '1', '10', ...; qrels: 'x');
  without query_ids (--query-ids), the ids of the queries are row numbers
of(missing="error", qrels={**QRELS, **OTHER}) =>
  EvaluationError: 1 of 31 judged queries is missing from the run: x
# an option has another choice
of(no_relevant="drop") =>
  OptionError: no_relevant: expected one of 'zero', 'one', 'skip', 'error', found 'drop'
# the run cannot be written
of(corpus_ids=BLANK, run="x.run") =>
  InputError: <search>: document 'a b': expected text without blanks and NUL for TREC format; a
  search writes no other format: rename it, for example 'a_b'
of(run="x.jsonl") => OptionError: run: expected a file name for TREC format, found 'x.jsonl'
of(run="no/x.run") => FileNotFoundError: [Errno 2] No such file or directory: 'no/x.run'
of(run="x.run", tag="two words") =>
  InputError: <search>: tag 'two words': expected text without blanks and NUL for TREC format; a
  search writes no other format: rename it, for example 'two_words'
# the index cannot be built
of(**IVF, k=0) => OptionError: k: expected 1 or more, found 0
of(**IVF, parameters="efSearch=9") =>
  OptionError: parameters: efSearch=9: unknown parameter of this index, an IndexIVFFlat
of(index_factory="nonsense") =>
  OptionError: index_factory: faiss cannot build 'nonsense' with dimension 8 and metric 'cosine':
  could not parse index string nonsense
# the index is built already
of(corpus=INDEX, **NO_IDS, **IVF) =>
  OptionError: index_factory: found 'IVF4,Flat', but the Index is already built
of(corpus=INDEX, **NO_IDS, train_size=9) => OptionError: train_size: the Index is already built
# ids are different ones, as many as vectors, and those of the judgments
of(query_ids=["q1"] * 30) => ArrayError: query_ids[1]: duplicate id 'q1', also at 0
of(corpus=NAMED_INDEX) => OptionError: corpus_ids: the Index has ids already
of(corpus=INDEX, corpus_ids=["a"]) =>
  ArrayError: corpus_ids: expected 200 ids, one per vector, found 1
of(**NO_IDS) =>
  InputError: qrels: no judged document is in the corpus (judged: 'd85', 'd28', ...; corpus: '0',
  '1', ...); pass the ids of the vectors as corpus_ids
of(qrels={"q0": {"x": 1}}) =>
  InputError: qrels: no judged document is in the corpus (judged: 'x'; corpus: 'd0', 'd1', ...)
# judgments are of documents, each once
of(qrels=TWICE) => EvaluationError: query 'q1': duplicate docs d1, lines 1 and 3 of <bytes>
of(qrels=PREFERENCES) => InputError: <bytes>: expected judgments of documents, found preferences
""")
def test_mistakes_are_found_before_the_search(call, expected, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fastrank.vectors.searching.batches._Search.run", None)
    monkeypatch.setattr("fastrank.vectors.searching.batches.build_index", None)

    check_error(call, expected, globals())
    assert not list(tmp_path.iterdir())


def test_given_ties_stand_in_the_order_of_the_corpus():
    corpus, qrels = np.array([[1, 0], [1, 0], [1, 0], [0, 1]], "float32"), {0: {2: 1}}

    found = fr.evaluate_embeddings([[1.0, 0.0]], corpus, qrels, "recip_rank", ties="given")

    assert found.mean == {"recip_rank": 1 / 3}


def test_the_counts_of_a_search_do_not_depend_on_ties():
    queries = iter([QUERIES[:11], QUERIES[11:]])
    given_ = {"exclude": {"q3": ["d1", "d2"]}, "k": 290, "qrels": {"q3": QRELS["q3"]}}

    found, expected = of(queries=queries, ties="average", **given_), of(**given_)

    assert found.counts == expected.counts
    assert sorted(found.unjudged_queries or []) == sorted(expected.unjudged_queries or [])


class _DatasetIndex:
    """What `get_index` of a Dataset of Hugging Face returns."""

    def __init__(self, faiss_index: Any) -> None:
        self.faiss_index = faiss_index


KINDS = {"ip": faiss.IndexFlatIP, "l2": faiss.IndexFlatL2, "cosine": faiss.IndexFlatIP}


@pytest.mark.parametrize("given_", [lambda index: index, _DatasetIndex])
@pytest.mark.parametrize("metric", KINDS)
def test_an_index_of_faiss_is_searched_as_it_is(metric, given_):
    """It holds vectors of length 1 where the metric is the cosine."""
    index = KINDS[metric](CORPUS.shape[1])
    lengths = np.linalg.norm(CORPUS, axis=1, keepdims=True) if metric == "cosine" else 1
    index.add(CORPUS / lengths)
    how: Any = {"metric": "cosine"} if metric == "cosine" else {}

    assert of(corpus=given_(index), **how).mean == of(metric=metric).mean


def test_queries_without_judgments_are_not_searched_for():
    """Nor looked at: a million queries with a thousand judged ones cost a thousand."""
    queries, qrels = QUERIES.copy(), {"q3": {"d1": 1}}
    queries[7] = np.nan

    found = of("recip_rank", queries=queries, qrels=qrels)

    assert found.mean == of("recip_rank", qrels=qrels).mean
    assert len(found.unjudged_queries or []) == 29


CUTOFFS = """
5 nDCG@100 map RR@5 => nDCG@100, which counts
5 P.5,10,20 => P_10, P_20, which count
9 AP(rel=2)@10 => AP(rel=2)@10, which counts
"""


@pytest.mark.parametrize(("asked", "named"), rows(CUTOFFS))
def test_a_cutoff_that_rankings_do_not_reach_is_a_warning(asked, named):
    k, _, measures = asked.partition(" ")

    with pytest.warns(UserWarning, match="cutoff") as caught:
        fr.evaluate_embeddings(QUERIES, CORPUS, QRELS, measures, k=int(k), **IDS)

    (warned,) = caught
    expected = f"k={k} is below the cutoff of {named} the ranks after {k} as not relevant"
    assert (str(warned.message), warned.filename) == (expected, __file__)


@pytest.mark.parametrize(("k", "measures"), [(5, "official"), (5, "P@5 ndcg"), (200, "nDCG@1000")])
def test_no_other_cutoffs_are_warned_of(k, measures):
    """Of 200 documents no ranking has more than 200."""
    of(measures, k=k)


def test_results_without_judgments_raise_no_doubt_about_ids_that_match():
    ids = {"query_ids": ["q"], "corpus_ids": ["a", "b"]}
    scores = fr.evaluate_embeddings([[1.0]], [[1.0], [-1.0]], {"q": {"b": 1}}, "map", k=1, **ids)

    assert str(scores).splitlines()[1:] == ["no retrieved document is judged"]


def test_ids_can_be_paths(tmp_path):
    paths: dict[str, Any] = {name: tmp_path / f"{name}.txt" for name in IDS}
    for name, path in paths.items():
        path.write_text("\n".join(IDS[name]) + "\n")
    np.save(tmp_path / "ids.npy", IDS["corpus_ids"])
    index = build_index(CORPUS, ids=str(paths["corpus_ids"]))

    expected = of().mean
    assert of(**paths).mean == expected
    assert of(**{**paths, "corpus_ids": tmp_path / "ids.npy"}).mean == expected
    assert of(corpus=index, corpus_ids=None).mean == expected


NOT_IDS = r"""
a\nb c\n => ids.txt:2: expected an id without blanks, found 'b c'
a\n\nb\n => ids.txt:2: expected an id without blanks, found an empty line
a\nb\n => query_ids: expected 30 ids, one per vector, found 2
"""


@pytest.mark.parametrize(("text", "message"), rows(NOT_IDS))
def test_a_file_that_is_not_a_list_of_ids_is_named(text, message, tmp_path):
    path = tmp_path / "ids.txt"
    path.write_text(text.replace(r"\n", "\n"))

    with pytest.raises(fr.FastrankError) as caught:
        search(QUERIES, CORPUS, 3, query_ids=path)

    assert str(caught.value).endswith(message)


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        # Counted from 1.
        ({"0": {"50": 1, "3": 1}}, "documents up to 50 .* 0 to 49; the judgments seem to count fr"),
        ({"3": {"0": 1}, "1": {"1": 1}}, "queries up to 3 are judged, .* 0 to 2; .* query_ids"),
        # Missing at the upper end only.
        ({"0": {"0": 1, "70": 1}}, "documents up to 70 are judged, but .* 0 to 49; pass the ids"),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, lambda rows: iter([rows]), build_index])
def test_judgments_that_number_otherwise_than_rows_are_refused(qrels, message, form):
    with pytest.raises(InputError, match=message):
        fr.evaluate_embeddings(CORPUS[:3], form(CORPUS[:50]), qrels)


def test_row_numbers_as_ids_and_judged_documents_outside_the_corpus_are_told():
    qrels = {"0": {"0": 1, "d7": 1, "99": 1}, "1": {"d7": 1}}

    numbered = fr.evaluate_embeddings(CORPUS[:3], CORPUS[:50], qrels, "P.5")
    negative = {"0": {"0": 1, "50": -1, "70": -1}}
    assert fr.evaluate_embeddings(CORPUS[:3], CORPUS[:50], negative, "P.5").mean == {"P_5": 0.2}
    named = of("P.5", qrels={"q1": {"d1": 1, "other": 1, "unjudged": -1}})

    assert numbered.counts["not_in_corpus"] == 2
    assert "ids are row numbers, of documents 0 to 49 and of queries 0 to 2" in str(numbered)
    assert "2 judged documents are not in the corpus" in str(numbered)
    assert named.counts["not_in_corpus"] == 1
    assert "row numbers" not in str(named)


@pytest.mark.parametrize("ties", ["docno_desc", "given"])
def test_a_query_that_finds_nothing_counts_0(ties):
    how: Any = {"exclude": {"1": ["0"]}, "missing": "error", "ties": ties}
    qrels = {"0": {"0": 1}, "1": {"0": 1}}

    scores = fr.evaluate_embeddings([[1.0], [1.0]], [[1.0]], qrels, "RR", **how)

    assert scores["RR"].tolist() == [1.0, 0.0]


def test_a_query_that_finds_nothing_is_not_in_the_file_of_the_run_which_is_noted(tmp_path):
    how: Any = {"exclude": {"1": ["0"]}, "run": tmp_path / "run"}

    with pytest.warns(UserWarning, match="^1 query without results dropped, such as '1'; only "):
        fr.evaluate_embeddings([[1.0], [1.0]], [[1.0]], {"0": {"0": 1}, "1": {"0": 1}}, **how)

    assert list(read_trec_run(tmp_path / "run").to_dict()) == ["0"]


def test_a_query_of_an_empty_list_counts_0():
    """The list of the nearest centroid, from which the only vector was removed."""
    index = build_index([[1.0, 0], [0, 1.0]], "IVF2,Flat")
    index.faiss.remove_ids(np.array([1]))

    scores = fr.evaluate_embeddings(np.eye(2), index, {"0": {"0": 1}, "1": {"0": 1}}, "RR")

    assert scores.mean == {"RR": 0.5}
