"""Hard negatives: which results are taken, what is counted, and what is written."""

import gzip
import io
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.errors import InputError, OptionError
from tests.helpers.parsing import parse_run
from tests.helpers.strategies import examples

RUN = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.78, "d4": 0.5, "d5": 0.4}}
QRELS = {"q1": {"d2": 1, "d4": 0}}
CORPUS = {f"d{i}": f"text {i}" for i in range(1, 6)}


HIGHEST = {"margin_below": "highest"}
NEGATIVE = {"q1": {"d2": 1, "d1": -1}}


def lines(mined, format, **texts):
    file = io.BytesIO()
    count = mined.write(file, format, **texts)
    found = [json.loads(line) for line in file.getvalue().splitlines()]
    assert count == len(found)
    return found


def test_instances_have_the_scores_of_the_run():
    (own,) = fr.hard_negatives({"q1": {"d2": 1, "d9": 2}}, RUN, 1)
    assert own == ("q1", ["d9", "d2"], ["d1"], [None, 0.8], [0.9], [])


ITSELF = {"d1": {"d1": 1.0, "d2": 0.9, "d3": 0.8}}
P, A_AND_B = {"q1": {"p": 1}}, {"q1": {"a": 1, "b": 1}}
ONE_FLOAT = {"q1": {"a": 1.00000001, "b": 1.0, "p": 0.5}}
# Positives that are one C float: their ranks go by ids, and say nothing of which scores less.
RISING = {"q1": {"a": 16777216.0, "b": 16777217.0, "c": 16777216.0, "d": 16777215.0}}
FALLING = {"q1": {"a": 16777217.0, "b": 16777216.0, "c": 16777216.0, "d": 16777215.0}}
GRADED = {"q1": {"d1": 1, "d2": 2}}


@pytest.mark.parametrize(
    ("run", "qrels", "options", "wanted"),
    [
        pytest.param(RUN, QRELS, {"margin": 0.8 - 0.5}, "d4 d5", id="margin to the last bit"),
        pytest.param(RISING, A_AND_B, {"margin": 0.0}, "c d", id="one float, margin 0"),
        pytest.param(RISING, A_AND_B, {"margin": 1.0}, "d", id="one float, lowest"),
        pytest.param(RISING, A_AND_B, {"margin": 1.0, **HIGHEST}, "c d", id="one float, highest"),
        pytest.param(FALLING, A_AND_B, {"margin": 1.0}, "d", id="swapped, lowest"),
        pytest.param(FALLING, A_AND_B, {"margin": 1.0, **HIGHEST}, "c d", id="swapped, highest"),
        pytest.param(ITSELF, {"d1": {"d2": 1}}, {"ignore_identical_ids": True}, "d3", id="itself"),
        pytest.param(ONE_FLOAT, P, {}, "b a", id="scores are C floats"),
        pytest.param(ONE_FLOAT, P, {"trec_eval_version": "10.0"}, "a b", id="scores are doubles"),
        pytest.param(RUN, GRADED, {"negatives": 1}, "d3", id="relevant from 1"),
        pytest.param(RUN, GRADED, {"negatives": 1, "relevance_level": 2}, "d1", id="from 2"),
        pytest.param(RUN, NEGATIVE, {"negatives": 1, "relevance_level": -1}, "d1", id="never -1"),
    ],
)
def test_negatives_are(run, qrels, options, wanted):
    (found,) = fr.hard_negatives(qrels, run, **{"negatives": 9, **options})
    assert found.negatives == wanted.split()


def test_without_a_retrieved_positive_a_margin_gives_no_negatives():
    qrels = {"q1": {"d9": 1}}
    found = fr.hard_negatives(qrels, RUN, 2, margin=0.1)
    assert found[0].negatives == []
    assert (found.counts["no_negatives"], found.counts["no_positive_retrieved"]) == (1, 1)
    assert len(fr.hard_negatives(qrels, RUN, 2)[0].negatives) == 2


def test_excluded_documents_are_gone_before_ranks_are_given():
    found = fr.hard_negatives(QRELS, RUN, 9, exclude={"q1": ["d1"]}, skip_top=1)
    assert (found[0].negatives, found.counts["excluded"]) == (["d3", "d4", "d5"], 1)


def test_every_query_is_counted():
    run = {**RUN, "q2": {"d1": 1.0}, "q3": {"d1": 1.0}, "q4": {}, "q7": {"d1": 1.0}}
    qrels = {**QRELS, "q2": {"d1": 1}, "q3": {"d1": 0}, "q4": {"d1": 1}, "q5": {"d1": 1}}
    found = fr.hard_negatives(qrels, run, 3)
    queries = {"queries": 3, "missing_queries": 1, "no_relevant_queries": 1, "unjudged_queries": 1}
    none = {"no_negatives": 2, "no_positive_retrieved": 0, "random_negatives": 0, "excluded": 0}
    assert found.counts == {**queries, **none, "negatives": 3, "too_few": 2}
    assert found.too_few == ["q2", "q4"]
    assert [own.query for own in found] == ["q1", "q2", "q4"]


def test_files_and_frames_are_taken_as_by_evaluate():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": ["q1"] * 5, "docno": list(CORPUS), "score": [5, 4, 3, 2, 1]})
    assert fr.hard_negatives(QRELS, frame, 1)[0].negatives == ["d1"]
    mined = fr.hard_negatives("data/digits.qrels", "data/pixels.run", 5, skip_top=10)
    assert mined.counts["queries"] == 200


def twin(run, qrels, n, skip, depth, margin, relative, which):
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
        ranks = enumerate(ranking, 1)
        own = [doc for rank, (doc, score) in ranks if skip < rank <= depth and score <= limit]
        kept = [doc for doc in own if doc not in relevant]
        found[query] = kept[:n] if limit > float("-inf") else []
    return found


@examples(60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 6),
    skip=st.integers(0, 5),
    beyond=st.integers(1, 20),
    margin=st.none() | st.sampled_from([0.0, 1.0, 2.0, -1.0]),
    relative=st.none() | st.sampled_from([0.0, 0.25, 0.5]),
    which=st.sampled_from([min, max]),
)
def test_mining_is_its_definition(seed, n, skip, beyond, margin, relative, which):
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(12)]
    run = {
        f"q{i}": {doc: rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0, 4.0]) for doc in rng.sample(docs, 9)}
        for i in range(3)
    }
    qrels = {
        f"q{i}": {doc: rng.choice([0, 0, 1, 2]) for doc in rng.sample(docs, 5)} for i in range(1, 4)
    }

    below = "lowest" if which is min else "highest"
    margins = {"margin": margin, "relative_margin": relative, "margin_below": below}
    found = fr.hard_negatives(qrels, run, n, skip_top=skip, depth=skip + beyond, **margins)

    wanted = twin(run, qrels, n, skip, skip + beyond, margin, relative, which)
    assert {own.query: own.negatives for own in found} == wanted


def test_dpr_records_have_the_fields_that_dpr_reads():
    mined = fr.hard_negatives({"q1": {"d2": 1, "d9": 1}}, RUN, 1)
    corpus = {**CORPUS, "d2": {"title": "Two", "text": "text 2"}, "d9": "text 9"}
    (found,) = lines(mined, "dpr", corpus=corpus, queries={"q1": "Which?"}, answers={"q1": ["2"]})
    two = {"title": "Two", "text": "text 2", "score": 0.8, "passage_id": "d2"}
    hard = {"title": "", "text": "text 1", "score": 0.9, "passage_id": "d1"}
    assert found.pop("positive_ctxs") == [two, {"title": "", "text": "text 9", "passage_id": "d9"}]
    assert found.pop("hard_negative_ctxs") == [hard]
    assert found.pop("negative_ctxs") == []
    assert found == {"question": "Which?", "question_id": "q1", "answers": ["2"]}
    (without_texts,) = lines(mined, "dpr")
    assert "question" not in without_texts
    assert without_texts["hard_negative_ctxs"] == [{"score": 0.9, "passage_id": "d1"}]


def by(*values):
    """A record for training: query, positive and negatives."""
    negatives = [f"negative_{place}" for place in range(1, len(values) - 1)]
    return dict(zip(("anchor", "positive", *negatives), values, strict=True))


TRIPLETS = [
    {"anchor": "q1", "positive": positive, "negative": negative}
    for positive in ("d2", "d3")
    for negative in ("d1", "d4")
]
DATA = fr.Dataset.from_texts(CORPUS, {"q1": "Which?"}, QRELS)
PAIR = {"q1": {"d2": 1, "d3": 1}}
# The second query has too few negatives for tuples.
SHORT = {**RUN, "q2": {"d1": 1.0}}


@pytest.mark.parametrize(
    ("qrels", "run", "form", "texts", "wanted"),
    [
        # Every positive with every negative; of ids, if there are no texts.
        (PAIR, RUN, "triplet", {}, TRIPLETS),
        (PAIR, RUN, "n-tuple", {}, [by("q1", "d2", "d1", "d4"), by("q1", "d3", "d1", "d4")]),
        ({**QRELS, "q2": {"d2": 1}}, SHORT, "n-tuple", {}, [by("q1", "d2", "d1", "d3")]),
        # A data set has both kinds of texts.
        (
            QRELS,
            RUN,
            "n-tuple",
            {"corpus": DATA, "queries": DATA},
            [by("Which?", "text 2", "text 1", "text 3")],
        ),
    ],
)
def test_records_for_training(qrels, run, form, texts, wanted):
    found = lines(fr.hard_negatives(qrels, run, 2), form, **texts)
    assert found == wanted


@pytest.mark.parametrize("kind", [str, str.encode, int])
def test_texts_and_answers_are_found_by_ids_of_any_kind(kind):
    mined = fr.hard_negatives({1: {8: 1}}, {1: {7: 2.0, 8: 1.0}}, 1)
    corpus, answers = {kind(i): f"text {i}" for i in ("7", "8")}, {kind("1"): ("one", "two")}
    (found,) = mined.records(corpus=corpus, answers=answers)
    assert [own["text"] for own in found["hard_negative_ctxs"]] == ["text 7"]
    assert found["answers"] == ["one", "two"]


def test_an_id_with_zeros_before_it_is_another_than_the_number():
    mined = fr.hard_negatives({"01": {"b": 1}}, {"01": {"a": 2.0, "b": 1.0}}, 1)
    with pytest.raises(InputError, match="queries: no text for '01'"):
        list(mined.records("triplet", queries={1: "one"}))


def test_instances_are_a_sequence():
    mined = fr.hard_negatives({**QRELS, "q2": {"d1": 1}}, {**RUN, "q2": RUN["q1"]}, 1)
    assert mined[-1] == mined[1]
    assert mined[:1] == [mined[0]]
    assert mined[::-1] == list(reversed(mined))


def test_a_name_that_ends_in_json_gets_a_list_as_dpr_trains_from(tmp_path):
    mined = fr.hard_negatives({**QRELS, "q2": {"d1": 1}}, {**RUN, "q2": RUN["q1"]}, 1)
    for name in ("train.json", "train.json.gz"):
        assert mined.write(tmp_path / name) == 2
    plain = (tmp_path / "train.json").read_text()
    assert [own["question_id"] for own in json.loads(plain)] == ["q1", "q2"]
    assert gzip.decompress((tmp_path / "train.json.gz").read_bytes()).decode() == plain


def test_a_missing_text_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text("old")
    mined = fr.hard_negatives(QRELS, RUN, 2)
    with pytest.raises(InputError, match="corpus: no text for 'd3'"):
        mined.write(path, corpus={"d1": "one", "d2": "two"})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


TWICE = (["q1"] * 3, ["d1", "d2", "d1"], [3, 2, 1])
NO_NUMBER = parse_run(b"q1 Q0 d1 1 nan t\nq1 Q0 d2 2 1 t\n", strict=False)


@pytest.mark.parametrize(
    ("qrels", "run", "options", "message"),
    [
        (QRELS, RUN, {"negatives": 0}, "negatives: expected 1 or more, found 0"),
        (QRELS, RUN, {"skip_top": -1}, "skip_top: expected 0 or more, found -1"),
        (QRELS, RUN, {"skip_top": 3, "depth": 3}, "depth: expected 4 or more, found 3"),
        (QRELS, RUN, {"margin": float("nan")}, "margin: expected a finite number, found nan"),
        (QRELS, RUN, {"relative_margin": float("inf")}, "relative_margin: expected a finite numbe"),
        (QRELS, RUN, {"margin_below": "best"}, "margin_below: expected one of 'lowest', 'highest'"),
        (QRELS, RUN, {"trec_eval_version": "8"}, "trec_eval_version: expected '9.0.8' or '10.0', "),
        (QRELS, fr.Run.from_arrays(*TWICE), {}, "query 'q1': duplicate docs d1, rows 0 and 2"),
        (fr.Qrels.from_arrays(*TWICE), RUN, {}, "query 'q1': duplicate docs d1, rows 0 and 2"),
        (QRELS, NO_NUMBER, {}, "query 'q1': the score of document d1, line 1"),
    ],
)
def test_impossible_options_and_inputs_are_named(qrels, run, options, message):
    error = OptionError if options else InputError
    with pytest.raises(error, match=f"^{message}" if options else message):
        fr.hard_negatives(qrels, run, **{"negatives": 1, **options})


VECTORS = [{"id": "d1", "embedding": [1.0], "similar": ["d2"]}, {"id": "d2", "embedding": [0.5]}]
NO_LIST = "answers: query 'q1': expected a list of str"


@pytest.mark.parametrize(
    ("form", "texts", "error", "message"),
    [
        ("pairs", {}, OptionError, "format: expected one of 'dpr', 'triplet', 'n-tuple'"),
        ("triplet", {"answers": {}}, OptionError, "answers: expected format='dpr' with answers"),
        ("dpr", {"corpus": {"d1": "1", "d2": 2}}, InputError, "corpus: 'd2': expected a str"),
        ("dpr", {"corpus": 1}, TypeError, "corpus: expected a file, files"),
        ("dpr", {"corpus": fr.Dataset.from_articles(VECTORS)}, InputError, "2 ids and 0 texts"),
        ("dpr", {"answers": [1]}, TypeError, "answers: expected a mapping"),
        ("dpr", {"answers": {"q1": "one"}}, InputError, NO_LIST),
        ("dpr", {"answers": {"q1": b"one"}}, InputError, NO_LIST),
        ("dpr", {"answers": {"q1": [b"one"]}}, InputError, NO_LIST),
        ("dpr", {"answers": {"q1": [1]}}, InputError, NO_LIST),
    ],
)
def test_other_forms_and_texts_are_errors(form, texts, error, message):
    with pytest.raises(error, match=message):
        list(fr.hard_negatives(QRELS, RUN, 1).records(form, **texts))
