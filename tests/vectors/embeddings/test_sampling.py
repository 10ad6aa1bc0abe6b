"""Negatives that are drawn at random, and those of a batch."""

import io
import json

import numpy as np
import pytest

import fastrank as fr
from fastrank.errors import InputError, OptionError
from tests.helpers.paths import REPOSITORY

RUN = {"q1": {f"d{i}": -float(i) for i in range(9)}, "q2": {"d1": 2.0, "d7": 1.0}}
QRELS = {"q1": {"d2": 1, "d4": 0}, "q2": {"d7": 1}}
CORPUS = [f"d{i}" for i in range(12)]


@pytest.mark.parametrize("name", ["q{}".format, lambda i: f"q{9 - i}"])
def test_samples_of_a_range_are_those_of_flag_embedding(name):
    """Of its hn_mine.py with range_for_sampling 2-15 and negative_number 5, after random.seed(42):
    the documents by rank, the positives, and the negatives of each query. The last negatives of
    the third and sixth query are its random passages, which depend on the order of a set. The ids
    need not sort as the rows do."""
    file = REPOSITORY / "tests" / "recorded" / "negatives.json"
    known = json.loads(file.read_text())
    lists = [[str(doc) for doc in own] for own in known["rankings"]]
    run = {name(i): {doc: -float(r) for r, doc in enumerate(own)} for i, own in enumerate(lists)}
    positives = enumerate(known["positives"])
    qrels = {name(i): {str(doc): 1 for doc in own} for i, own in positives}

    mined = fr.hard_negatives(
        qrels, run, 5, skip_top=2, depth=15, sample=True, fill=True, corpus=run[name(0)], seed=42
    )

    by_query = {own.query: own for own in mined}
    instances = [by_query[name(i)] for i in range(8)]
    for own, negatives in zip(instances, known["negatives"], strict=True):
        found = [int(doc) for doc in own.negatives]
        assert found == negatives[: len(found)]
        assert len(found) + len(own.random_negatives) == 5
        assert not {*own.random_negatives} & {*own.negatives, *own.positives}
    assert [len(own.negatives) for own in instances] == [5, 5, 3, 5, 5, 3, 5, 5]


@pytest.mark.parametrize(
    ("number", "options", "drawn", "too_few"),
    [
        (3, {"random_negatives": 2}, [2, 2], ["q2"]),
        (3, {"fill": True}, [0, 2], []),
        (3, {"random_negatives": 2, "fill": True}, [2, 4], []),
        (0, {"random_negatives": 3}, [3, 3], []),
    ],
)
def test_random_negatives_come_in_addition_or_fill_up(number, options, drawn, too_few):
    mined = fr.hard_negatives(QRELS, RUN, number, corpus=CORPUS, **options)
    assert [len(own.negatives) for own in mined] == [number, min(number, 1)]
    assert [len(own.random_negatives) for own in mined] == drawn
    assert (mined.counts["negatives"], mined.counts["random_negatives"]) == (
        number + min(number, 1),
        sum(drawn),
    )
    assert mined.too_few == too_few
    assert mined.number == number + options.get("random_negatives", 0)


def test_random_negatives_are_neither_relevant_nor_mined_nor_excluded():
    left_out = {"ignore_identical_ids": True, "exclude": {"d9": ["d5"]}}
    qrels, run = {"d9": {"d2": 1}}, {"d9": {"d1": 2.0, "d2": 1.0}}
    (own,) = fr.hard_negatives(qrels, run, 1, random_negatives=99, corpus=CORPUS, **left_out)
    assert sorted(own.random_negatives) == ["d0", "d10", "d11", "d3", "d4", "d6", "d7", "d8"]


def test_a_seed_determines_what_is_drawn():
    options = {"sample": True, "random_negatives": 2, "corpus": CORPUS}
    drawn = [list(fr.hard_negatives(QRELS, RUN, 3, seed=seed, **options)) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("kind", [dict.fromkeys, tuple, iter])
def test_the_corpus_may_be_a_mapping_or_a_list(kind):
    (own, _) = fr.hard_negatives(QRELS, RUN, 1, random_negatives=1, corpus=kind(CORPUS))
    assert {*own.random_negatives} <= {*CORPUS}


@pytest.mark.parametrize(
    ("how", "error", "reason"),
    [
        ({"fill": True}, OptionError, "corpus: expected the ids of the corpus, .* found none"),
        ({"corpus": CORPUS}, OptionError, "corpus: not applicable without random_negatives"),
        ({"fill": True, "corpus": {"d1"}}, TypeError, "corpus: expected .* found set"),
        ({"fill": True, "corpus": [1.5]}, InputError, "corpus: id 0: .*1.5"),
        ({"random_negatives": -1}, OptionError, "random_negatives: "),
        ({"negatives": 0}, OptionError, "negatives: "),
    ],
)
def test_what_cannot_be_drawn(how, error, reason):
    with pytest.raises(error, match=reason):
        fr.hard_negatives(QRELS, RUN, **{"negatives": 1, **how})


def test_random_negatives_are_written_after_the_mined_ones():
    mined = fr.hard_negatives({"q1": {"d2": 1}}, RUN, 1, random_negatives=1, corpus=["d11"])
    texts = {doc: doc.upper() for doc in CORPUS}
    (dpr,) = mined.records("dpr", corpus=texts)
    (lists,) = mined.records("flagembedding", corpus=texts, queries={"q1": "what?"})
    triplets = [own["negative"] for own in mined.records("triplet")]
    (whole,) = mined.records("n-tuple")
    assert dpr["negative_ctxs"] == [{"title": "", "text": "D11", "passage_id": "d11"}]
    assert lists == {"query": "what?", "pos": ["D2"], "neg": ["D0", "D11"]}
    assert triplets == [whole["negative_1"], whole["negative_2"]] == ["d0", "d11"]


def test_what_is_written_for_flag_embedding_is_a_data_set_again():
    mined, file = fr.hard_negatives({"q1": {"d2": 1}}, RUN, 2), io.BytesIO()
    mined.write(file, "flagembedding", corpus={doc: doc for doc in CORPUS}, queries={"q1": "?"})
    file.seek(0)
    data = fr.Dataset.from_pairs(file)
    assert data.corpus == ["d0", "d1", "d2"]
    assert data.qrels.to_dict() == {"0": {"0": 0, "1": 0, "2": 1}}


# Batches


def test_the_loss_of_a_batch_is_that_of_dpr():
    """The softmax over the positives and hard negatives of all questions of the batch."""
    special = pytest.importorskip("scipy.special")
    ids = [f"q{i}" for i in range(7)]
    run = {query: {f"{query}+": 1.0, f"{query}-": 0.5} for query in ids}
    mined = fr.hard_negatives({query: {f"{query}+": 1} for query in ids}, run, 1)
    random = np.random.default_rng(0)
    questions = {query: random.normal(size=3) for query in ids}
    passages = {doc: random.normal(size=3) for query in ids for doc in run[query]}

    found = mined.in_batch(
        4, corpus=dict.fromkeys(passages, "text"), queries={own: own for own in ids}
    )
    scores = [questions[q] @ passages[d] for q, d in zip(found.queries, found.docs, strict=True)]
    losses = fr.negative_log_likelihood(found.qrels, found.run(scores))["NLL"]

    wanted = []
    for batch in (ids[:4], ids[4:]):
        own = np.array([questions[q] for q in batch])
        matrix = own @ np.array([passages[f"{q}{sign}"] for q in batch for sign in "+-"]).T
        wanted += [-row[2 * i] for i, row in enumerate(special.log_softmax(matrix, axis=1))]
    assert losses.tolist() == pytest.approx(wanted, rel=1e-12)
    assert found.pairs[0] == ("q0", "text")


def test_the_loss_of_a_batch_with_repeated_passages_is_that_of_dpr():
    """Which counts each copy, the positives of two questions, and other relevant passages."""
    special = pytest.importorskip("scipy.special")
    qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"d2": 1}, "q3": {"d1": 1}, "q4": {"d2#2": 1}}
    mined = fr.hard_negatives(qrels, {query: {"d3": 1.0} for query in qrels}, 1)
    columns = ["d1", "d3", "d2", "d3", "d1", "d3", "d2#2", "d3"]
    random = np.random.default_rng(0)
    passages = {doc: random.normal(size=3) for doc in dict.fromkeys(columns)}
    matrix = random.normal(size=(4, 3)) @ np.array([passages[doc] for doc in columns]).T

    found = mined.in_batch(
        4, corpus=passages.fromkeys(passages, "text"), queries=qrels.fromkeys(qrels, "?")
    )
    run = found.run(matrix.ravel())
    losses = fr.negative_log_likelihood(found.qrels, run)
    correct = fr.evaluate(found.qrels, run, "Success@1", ties="given")["Success@1"]

    # Like torch.max, argmax takes the first of equal scores.
    assert correct.tolist() == (matrix.argmax(axis=1) == [0, 2, 4, 6]).tolist()
    wanted = -special.log_softmax(matrix, axis=1)[range(4), [0, 2, 4, 6]]
    assert losses["NLL"].tolist() == pytest.approx(wanted.tolist(), rel=1e-12)
    assert len(set(found.docs)) == len(columns)


def test_other_relevant_documents_are_no_negatives_of_a_batch_without_duplicates():
    qrels = {"q1": {"d1": 2, "d2": 1}, "q2": {"d2": 1}}
    run = {query: {"d3": 1.0} for query in qrels}
    found = fr.hard_negatives(qrels, run, 1).in_batch(2, duplicates="merge")
    judged = {"q1": {"d1": 1, "d3": 0}, "q2": {"d1": 0, "d3": 0, "d2": 1}}
    assert found.qrels.to_dict() == judged
