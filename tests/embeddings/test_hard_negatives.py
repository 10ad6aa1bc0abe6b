"""Hard negatives: which results are taken, what is counted, and what is written."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.parsing import parse_run

RUN = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.78, "d4": 0.5, "d5": 0.4}}
QRELS = {"q1": {"d2": 1, "d4": 0}}
CORPUS = {f"d{i}": f"text {i}" for i in range(1, 6)}


def negatives(run: Any = RUN, qrels: Any = QRELS, count: int = 9, **how: Any) -> list[str]:
    return fr.hard_negatives(qrels, run, count, **how)[0].negatives


def lines(mined: Any, format: str, **texts: Any) -> list[dict[str, Any]]:
    file = io.BytesIO()
    count = mined.write(file, format, **texts)
    found = [json.loads(line) for line in file.getvalue().splitlines()]
    assert count == len(found)
    return found


def test_negatives_are_the_best_results_without_the_relevant_ones() -> None:
    assert negatives(count=2) == ["d1", "d3"]


def test_instances_have_the_scores_of_the_run() -> None:
    (own,) = fr.hard_negatives({"q1": {"d2": 1, "d9": 2}}, RUN, 1)

    assert own == ("q1", ["d9", "d2"], ["d1"], [None, 0.8], [0.9], [])


def test_the_first_ranks_can_be_passed_over_relevant_or_not() -> None:
    assert negatives(count=2, skip_top=2) == ["d3", "d4"]
    assert negatives(skip_top=4) == ["d5"]


def test_depth_is_the_last_rank_that_is_looked_at() -> None:
    assert negatives(depth=3) == ["d1", "d3"]


def test_a_margin_keeps_what_scores_at_most_the_positive_less_the_margin() -> None:
    assert negatives(margin=0.25) == ["d4", "d5"]
    assert negatives(margin=0.8 - 0.5) == ["d4", "d5"]
    assert negatives(margin=0) == ["d3", "d4", "d5"]


def test_a_relative_margin_is_a_share_of_the_positives_magnitude() -> None:
    assert negatives(relative_margin=0.05) == ["d4", "d5"]
    below = {"q1": {"d1": -1.0, "d2": -1.04, "d3": -1.06}}
    assert negatives(below, {"q1": {"d1": 1}}, relative_margin=0.05) == ["d3"]


def test_with_both_margins_both_hold() -> None:
    assert negatives(margin=0.35, relative_margin=0.05) == ["d5"]
    assert negatives(margin=0.0, relative_margin=0.4) == ["d5"]


def test_of_several_positives_the_lowest_or_the_highest_is_the_reference() -> None:
    several = {"q1": {"d1": 1, "d4": 1, "d9": 1}}

    assert negatives(RUN, several, margin=0.0) == ["d5"]
    assert negatives(RUN, several, margin=0.0, margin_below="highest") == ["d2", "d3", "d5"]


def test_positives_that_are_one_c_float_keep_their_own_scores_beside_a_margin() -> None:
    """Their ranks go by ids then, and say nothing of which scores less."""
    run = {"q1": {"a": 16777216.0, "b": 16777217.0, "c": 16777216.0, "d": 16777215.0}}
    qrels = {"q1": {"a": 1, "b": 1}}

    assert negatives(run, qrels, margin=0.0) == ["c", "d"]
    assert negatives(run, qrels, margin=1.0) == ["d"]
    assert negatives(run, qrels, margin=1.0, margin_below="highest") == ["c", "d"]
    swapped = {"q1": {**run["q1"], "a": 16777217.0, "b": 16777216.0}}
    assert negatives(swapped, qrels, margin=1.0) == ["d"]
    assert negatives(swapped, qrels, margin=1.0, margin_below="highest") == ["c", "d"]


def test_without_a_retrieved_positive_a_margin_gives_no_negatives() -> None:
    qrels = {"q1": {"d9": 1}}

    found = fr.hard_negatives(qrels, RUN, 2, margin=0.1)

    assert found[0].negatives == []
    assert (found.counts["no_negatives"], found.counts["no_positive_retrieved"]) == (1, 1)
    assert len(fr.hard_negatives(qrels, RUN, 2)[0].negatives) == 2


def test_excluded_documents_are_gone_before_ranks_are_given() -> None:
    found = fr.hard_negatives(QRELS, RUN, 9, exclude={"q1": ["d1"]}, skip_top=1)

    assert found[0].negatives == ["d3", "d4", "d5"]
    assert found.counts["excluded"] == 1


def test_the_querys_own_id_can_be_left_out() -> None:
    run = {"d1": {"d1": 1.0, "d2": 0.9, "d3": 0.8}}

    assert negatives(run, {"d1": {"d2": 1}}, ignore_identical_ids=True) == ["d3"]


def test_equal_scores_rank_by_the_librarys_rule() -> None:
    run = {"q1": {"a": 1.0, "c": 1.0, "b": 1.0, "p": 0.5}}

    assert negatives(run, {"q1": {"p": 1}}) == ["c", "b", "a"]


def test_scores_that_are_one_c_float_are_equal_as_in_evaluation() -> None:
    run = {"q1": {"a": 1.00000001, "b": 1.0, "p": 0.5}}

    assert negatives(run, {"q1": {"p": 1}}) == ["b", "a"]
    assert negatives(run, {"q1": {"p": 1}}, trec_eval_version="10.0") == ["a", "b"]


def test_relevance_begins_at_the_level() -> None:
    graded = {"q1": {"d1": 1, "d2": 2}}

    assert negatives(RUN, graded, count=1) == ["d3"]
    assert negatives(RUN, graded, count=1, relevance_level=2) == ["d1"]


def test_a_negative_grade_is_never_relevant() -> None:
    assert negatives(RUN, {"q1": {"d2": 1, "d1": -1}}, count=1, relevance_level=-1) == ["d1"]


def test_every_query_is_counted() -> None:
    run = {**RUN, "q2": {"d1": 1.0}, "q3": {"d1": 1.0}, "q4": {}, "q7": {"d1": 1.0}}
    qrels = {**QRELS, "q2": {"d1": 1}, "q3": {"d1": 0}, "q4": {"d1": 1}, "q5": {"d1": 1}}

    found = fr.hard_negatives(qrels, run, 3)

    assert found.counts == {
        "queries": 3, "negatives": 3, "random_negatives": 0, "too_few": 2, "no_negatives": 2,
        "no_positive_retrieved": 0, "missing_queries": 1, "no_relevant_queries": 1,
        "unjudged_queries": 1, "excluded": 0,
    }  # fmt: skip
    assert found.too_few == ["q2", "q4"]
    assert [own.query for own in found] == ["q1", "q2", "q4"]


def test_files_and_frames_are_taken_as_by_evaluate() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": ["q1"] * 5, "docno": list(CORPUS), "score": [5, 4, 3, 2, 1]})

    assert negatives(frame, count=1) == ["d1"]
    mined = fr.hard_negatives("data/digits.qrels", "data/pixels.run", 5, skip_top=10)
    assert mined.counts["queries"] == 200


def twin(
    run: Any, qrels: Any, n: int, skip: int, depth: int, margin: Any, relative: Any, which: Any
) -> dict[str, list[str]]:
    """The definition, query by query."""
    found = {}
    for query in sorted(qrels.keys() & run.keys()):
        relevant = {doc for doc, grade in qrels[query].items() if grade >= 1}
        if not relevant:
            continue
        ranking = sorted(run[query].items(), key=lambda item: (item[1], item[0]), reverse=True)
        scores = [score for doc, score in ranking if doc in relevant]
        limit = float("inf")
        if margin is not None or relative is not None:
            reference = which(scores) if scores else float("-inf")
            limits = [] if margin is None else [reference - margin]
            limit = min(
                limits + ([] if relative is None else [reference - abs(reference) * relative])
            )
        found[query] = [
            doc
            for rank, (doc, score) in enumerate(ranking, 1)
            if skip < rank <= depth and doc not in relevant and (score <= limit)
            and limit > float("-inf")
        ][:n]  # fmt: skip
    return found


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 6), skip=st.integers(0, 5),
    beyond=st.integers(1, 20), margin=st.none() | st.sampled_from([0.0, 1.0, 2.0, -1.0]),
    relative=st.none() | st.sampled_from([0.0, 0.25, 0.5]),
    which=st.sampled_from([min, max]),
)  # fmt: skip
def test_mining_is_its_definition(
    seed: int, n: int, skip: int, beyond: int, margin: Any, relative: Any, which: Any
) -> None:
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(12)]
    run = {
        f"q{i}": {doc: rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0, 4.0]) for doc in rng.sample(docs, 9)}
        for i in range(3)
    }
    qrels = {
        f"q{i}": {doc: rng.choice([0, 0, 1, 2]) for doc in rng.sample(docs, 5)} for i in range(1, 4)
    }

    found = fr.hard_negatives(
        qrels, run, n, skip_top=skip, depth=skip + beyond, margin=margin, relative_margin=relative,
        margin_below="lowest" if which is min else "highest",
    )  # fmt: skip

    wanted = twin(run, qrels, n, skip, skip + beyond, margin, relative, which)
    assert {own.query: own.negatives for own in found} == wanted


@pytest.mark.parametrize("margins", [{}, {"absolute_margin": 0.1}, {"relative_margin": 0.1}])
def test_sentence_transformers_mines_the_same(margins: dict[str, float]) -> None:
    """Its `mine_hard_negatives` on the same vectors, with a positive for each query."""
    util = pytest.importorskip("sentence_transformers.util")
    datasets = pytest.importorskip("datasets")
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(60, 8)).astype("float32")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[:20] = vectors[20:40] + 0.4 * vectors[:20]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"{i}" for i in range(60)]

    class Model:
        device = "cpu"

        def encode_query(self, texts: list[str], **_: Any) -> Any:
            return vectors[[int(text) for text in texts]]

        encode_document = encode_query
        similarity = staticmethod(util.dot_score)
        similarity_pairwise = staticmethod(util.pairwise_dot_score)

    data = datasets.Dataset.from_dict({"query": texts[:20], "answer": texts[20:40]})
    theirs = util.mine_hard_negatives(
        data, Model(), corpus=texts[20:], num_negatives=3, range_max=20, verbose=False, **margins,
    )  # fmt: skip
    scores = vectors[:20] @ vectors[20:].T
    run = {
        text: dict(zip(texts[20:], row.tolist(), strict=True))
        for text, row in zip(texts[:20], scores, strict=True)
    }
    qrels = {query: {answer: 1} for query, answer in zip(texts[:20], texts[20:40], strict=True)}
    own = {"margin" if name == "absolute_margin" else name: v for name, v in margins.items()}

    mined = fr.hard_negatives(qrels, run, 3, **own)

    found = {(r["anchor"], r["positive"], r["negative"]) for r in mined.records("triplet")}
    assert found == {(row["query"], row["answer"], row["negative"]) for row in theirs}


def test_dpr_records_have_the_fields_that_dpr_reads() -> None:
    mined = fr.hard_negatives({"q1": {"d2": 1, "d9": 1}}, RUN, 1)
    corpus = {**CORPUS, "d2": {"title": "Two", "text": "text 2"}, "d9": "text 9"}

    (found,) = lines(mined, "dpr", corpus=corpus, queries={"q1": "Which?"}, answers={"q1": ["2"]})

    assert found == {
        "question": "Which?",
        "question_id": "q1",
        "answers": ["2"],
        "positive_ctxs": [
            {"title": "Two", "text": "text 2", "score": 0.8, "passage_id": "d2"},
            {"title": "", "text": "text 9", "passage_id": "d9"},
        ],
        "negative_ctxs": [],
        "hard_negative_ctxs": [{"title": "", "text": "text 1", "score": 0.9, "passage_id": "d1"}],
    }


def test_dpr_records_without_texts_have_ids_only() -> None:
    (found,) = lines(fr.hard_negatives(QRELS, RUN, 1), "dpr")

    assert "question" not in found
    assert found["hard_negative_ctxs"] == [{"score": 0.9, "passage_id": "d1"}]


def test_triplets_are_every_positive_with_every_negative() -> None:
    mined = fr.hard_negatives({"q1": {"d2": 1, "d3": 1}}, RUN, 2)

    assert [tuple(own.values()) for own in lines(mined, "triplet")] == [
        ("q1", "d2", "d1"), ("q1", "d2", "d4"), ("q1", "d3", "d1"), ("q1", "d3", "d4"),
    ]  # fmt: skip


def test_tuples_are_of_queries_with_all_negatives() -> None:
    run, qrels = {**RUN, "q2": {"d1": 1.0}}, {**QRELS, "q2": {"d2": 1}}

    found = lines(fr.hard_negatives(qrels, run, 2), "n-tuple", corpus=CORPUS)

    assert found == [
        {"anchor": "q1", "positive": "text 2", "negative_1": "text 1", "negative_2": "text 3"}
    ]


@pytest.mark.parametrize("kind", [str, str.encode, int])
def test_texts_are_found_by_ids_of_any_kind(kind: Any) -> None:
    mined = fr.hard_negatives({1: {8: 1}}, {1: {7: 2.0, 8: 1.0}}, 1)

    found = lines(mined, "triplet", corpus={kind(i): f"text {i}" for i in ("7", "8")})

    assert found == [{"anchor": "1", "positive": "text 8", "negative": "text 7"}]


def test_an_id_with_zeros_before_it_is_another_than_the_number() -> None:
    mined = fr.hard_negatives({"01": {"b": 1}}, {"01": {"a": 2.0, "b": 1.0}}, 1)

    with pytest.raises(fr.InputError, match="queries: no text for '01'"):
        list(mined.records("triplet", queries={1: "one"}))


@pytest.mark.parametrize("kind", [str, str.encode, int])
def test_answers_are_found_by_ids_of_any_kind(kind: Any) -> None:
    mined = fr.hard_negatives({1: {8: 1}}, {1: {7: 2.0, 8: 1.0}}, 1)

    (found,) = mined.records(answers={kind("1"): ("one", "two")})

    assert found["answers"] == ["one", "two"]


def test_answers_that_are_no_lists_of_texts_are_errors() -> None:
    """A text is not taken for a list of letters."""
    mined = fr.hard_negatives(QRELS, RUN, 1)

    for wrong in ("one", b"one", [b"one"], [1]):
        with pytest.raises(fr.InputError, match="answers: query 'q1': expected a list of str"):
            mined.records(answers={"q1": wrong})
    with pytest.raises(TypeError, match="answers: expected a mapping"):
        mined.records(answers=[1])


def test_instances_are_a_sequence() -> None:
    mined = fr.hard_negatives({**QRELS, "q2": {"d1": 1}}, {**RUN, "q2": RUN["q1"]}, 1)

    assert mined[-1] == mined[1]
    assert mined[:1] == [mined[0]]
    assert mined[::-1] == list(reversed(mined))


def test_a_data_set_has_both_kinds_of_texts() -> None:
    data = fr.Dataset.from_texts(CORPUS, {"q1": "Which?"}, QRELS)

    found = lines(fr.hard_negatives(QRELS, RUN, 1), "triplet", corpus=data, queries=data)

    assert found == [{"anchor": "Which?", "positive": "text 2", "negative": "text 1"}]


def test_a_data_set_of_vectors_has_no_texts() -> None:
    articles = [
        {"id": "d1", "embedding": [1.0, 0.0], "similar": ["d2"]}, {"id": "d2", "embedding": [0, 1]},
    ]  # fmt: skip
    mined = fr.hard_negatives(QRELS, RUN, 1)

    with pytest.raises(fr.InputError, match="corpus: the data set has 2 ids and 0 texts"):
        mined.records(corpus=fr.Dataset.from_articles(articles))


def test_a_name_that_ends_in_json_gets_a_list_as_dpr_trains_from(tmp_path: Path) -> None:
    mined = fr.hard_negatives({**QRELS, "q2": {"d1": 1}}, {**RUN, "q2": RUN["q1"]}, 1)

    for name in ("train.json", "train.json.gz"):
        assert mined.write(tmp_path / name) == 2
    plain = (tmp_path / "train.json").read_text()

    assert [own["question_id"] for own in json.loads(plain)] == ["q1", "q2"]
    assert gzip.decompress((tmp_path / "train.json.gz").read_bytes()).decode() == plain


def test_hugging_face_reads_what_is_written(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    mined = fr.hard_negatives(QRELS, RUN, 2)
    mined.write(tmp_path / "train.jsonl.gz", "n-tuple", corpus=CORPUS, queries={"q1": "Which?"})

    found = datasets.load_dataset(
        "json", data_files=str(tmp_path / "train.jsonl.gz"), cache_dir=str(tmp_path / "cache")
    )["train"]

    assert found.column_names == ["anchor", "positive", "negative_1", "negative_2"]


def test_a_missing_text_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text("old")
    mined = fr.hard_negatives(QRELS, RUN, 2)

    with pytest.raises(fr.InputError, match="corpus: no text for 'd3'"):
        mined.write(path, corpus={"d1": "one", "d2": "two"})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"negatives": 0}, "negatives: expected 1 or more, found 0"),
        ({"skip_top": -1}, "skip_top: expected 0 or more, found -1"),
        ({"skip_top": 3, "depth": 3}, "depth: expected 4 or more, found 3"),
        ({"margin": float("nan")}, "margin: expected a finite number, found nan"),
        ({"relative_margin": float("inf")}, "relative_margin: expected a finite number"),
        ({"margin_below": "best"}, "margin_below: expected one of 'lowest', 'highest'"),
        ({"trec_eval_version": "8"}, "trec_eval_version: expected '9.0.8' or '10.0', found '8'"),
    ],
)
def test_impossible_options_are_named(how: dict[str, Any], message: str) -> None:
    with pytest.raises(fr.OptionError) as error:
        fr.hard_negatives(QRELS, RUN, **{"negatives": 1, **how})

    assert str(error.value).startswith(message)


def test_a_document_twice_in_a_ranking_is_an_error() -> None:
    run = fr.Run.from_arrays(["q1"] * 3, ["d1", "d2", "d1"], [3, 2, 1])

    with pytest.raises(fr.InputError, match="query 'q1': duplicate docs d1, rows 0 and 2"):
        fr.hard_negatives(QRELS, run, 1)


def test_a_document_twice_in_the_judgments_is_an_error() -> None:
    qrels = fr.Qrels.from_arrays(["q1"] * 2, ["d2", "d2"], [1, 0])

    with pytest.raises(fr.InputError, match="query 'q1': duplicate docs d2, rows 0 and 1"):
        fr.hard_negatives(qrels, RUN, 1)


def test_a_score_that_is_no_number_is_an_error() -> None:
    run = parse_run(b"q1 Q0 d1 1 nan t\nq1 Q0 d2 2 1 t\n", strict=False)

    with pytest.raises(fr.InputError, match="query 'q1': the score of document d1, line 1"):
        fr.hard_negatives(QRELS, run, 1)


def test_other_forms_and_texts_are_errors() -> None:
    mined = fr.hard_negatives(QRELS, RUN, 1)

    with pytest.raises(fr.OptionError, match="format: expected one of 'dpr', 'triplet', 'n-tuple'"):
        mined.records("pairs")
    with pytest.raises(fr.OptionError, match="answers: expected format='dpr' with answers"):
        mined.records("triplet", answers={})
    with pytest.raises(fr.InputError, match="corpus: 'd2': expected a str"):
        list(mined.records(corpus={"d1": "one", "d2": 2}))
    with pytest.raises(TypeError, match="corpus: expected a mapping"):
        mined.records(corpus=["one"])
