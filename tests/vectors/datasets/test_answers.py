"""Passages judged by answers, and the files of DPR and SQuAD."""

import gzip
import io
import json

import pytest

import fastrank as fr
from fastrank.datasets import answer_qrels, has_answer
from fastrank.errors import InputError
from tests.helpers.paths import REPOSITORY

PASSAGES = b"""id\ttext\ttitle
1\t"Aaron, called ""the prophet"", was a priest."\tAaron
2\tParis is large.\tParis
"""
QUESTIONS = b"""who was a priest?\t['Aaron "the prophet"', "Aaron"]
"what ""large"" city?"\t['Paris']
"""
RUN = {"0": {"1": 2.0, "2": 1.0}, "1": {"1": 2.0, "2": 1.0}}


def dataset(questions=QUESTIONS, qrels=None):
    questions = io.BytesIO(questions) if isinstance(questions, bytes) else questions
    return fr.Dataset.from_files(io.BytesIO(PASSAGES), questions, qrels)


@pytest.mark.parametrize("match", ["string", "regex"])
def test_answers_are_found_as_by_dpr(match):
    """Answers, a text, and the flag that DPR's own code returned for them."""
    if match == "regex":
        pytest.importorskip("regex")
    rows = json.loads((REPOSITORY / "tests" / "recorded" / "answers.json").read_text())
    rows = [row[1:] for row in rows if row[0] == match]
    found = [has_answer(answers, text, match=match) for answers, text, _ in rows]
    assert found == [flag for _, _, flag in rows]


def test_an_answer_without_tokens_is_in_every_text():
    assert has_answer([" \n"], "")
    assert not has_answer([], "text")


@pytest.mark.parametrize("lacking", [{}, {"1": {}}])
def test_questions_without_results_count_as_in_dpr(lacking, tmp_path):
    """Its accuracy is divided by the number of all questions."""
    run = {"0": {"2": 2.0, "1": 1.0}, **lacking}
    judged = answer_qrels(dataset(), run)
    # The second question is judged by the first document, in truth.
    assert judged.to_dict() == {"0": {"2": 0, "1": 1}, "1": {"2": 1}}
    fr.write_qrels(judged, tmp_path / "judged.qrels")
    for qrels in (judged, tmp_path / "judged.qrels"):
        found = fr.evaluate(qrels, run, "Success@1 Success@20", missing="zero")
        assert found.mean == {"Success@1": 0.0, "Success@20": 0.5}
    assert fr.evaluate(judged, run, "Success@20").counts["missing_queries"] == 1 - len(lacking)


def test_runs_are_judged_by_the_text_without_the_title():
    data = dataset()
    wanted = {"0": {"1": 1, "2": 0}, "1": {"1": 0, "2": 1}}
    untitled = {"1": {"title": "Paris", "text": "Aaron"}, "2": "In Paris"}
    for corpus in (None, data, io.BytesIO(PASSAGES), untitled):
        assert answer_qrels(data, RUN, corpus).to_dict() == wanted
    assert fr.evaluate(answer_qrels(data, RUN), RUN, "Success@1").mean == {"Success@1": 0.5}


UNANSWERED = "expected answers to queries with results, found none"


@pytest.mark.parametrize(
    ("answers", "corpus", "error", "reason"),
    [
        ({"0": "Aaron"}, {}, InputError, "answers: query '0': expected a list of str"),
        ({"9": ["a"]}, {}, InputError, UNANSWERED),
        ({"0": ["a"]}, None, InputError, "corpus: expected the texts of the documents"),
        ({"0": ["a"]}, {"1": "b"}, InputError, "corpus: no text for '2'"),
        ([], {}, TypeError, "answers: expected a mapping .* found list"),
    ],
)
def test_what_judges_no_run(answers, corpus, error, reason):
    with pytest.raises(error, match=reason):
        answer_qrels(answers, RUN, corpus)


# Questions


def test_questions_of_dpr_are_numbered_and_keep_their_answers(tmp_path):
    file = tmp_path / "nq-dev.qa.csv.gz"
    file.write_bytes(gzip.compress(QUESTIONS))
    data = dataset(file, {"1": {"2": 1}})
    assert (data.query_ids, data.queries) == (["1"], ['what "large" city?'])
    assert data.answers == {"0": ['Aaron "the prophet"', "Aaron"], "1": ["Paris"]}
    assert data.unjudged == ["0"]


def test_answers_in_json_lines_are_kept():
    lines = b'{"question": "who?", "answers": ["a"]}\n{"question": "what?", "answers": []}\n'
    data = dataset(lines)
    assert (data.query_ids, data.answers) == (["0", "1"], {"0": ["a"], "1": []})


@pytest.mark.parametrize(
    ("queries", "reason"),
    [
        (QUESTIONS + b"who?\tAaron\n", r":3: expected a question, a tab and .* found 'Aaron'"),
        (QUESTIONS + b"who?\t['a', 1]\n", r":3: expected a question, .* found \"\['a', 1\]\""),
        (QUESTIONS + b"who?\n", r":3: expected a question, a tab and .* found 'who\?'"),
        (b"q1\twho?\nq2\t['a']\n", r":2: expected an id and a text, as in the first line"),
        (b"who is?\t['a', 1]\n", r":1: expected a question, .* found \"\['a', 1\]\""),
        (b"who is?\t[a]\n" + QUESTIONS, r":1: expected a question, .* found '\[a\]'"),
        (b'who?\t"[""a"", \n', r":1: expected a question, a tab and .* found '\[\"a\", "),
        (b"q1\twho?\n", r"expected qrels, which only queries with answers can do without"),
    ],
)
def test_questions_that_are_none(queries, reason):
    with pytest.raises(fr.FastrankError, match=reason):
        dataset(queries)


def results(**changes):
    """Two questions as DPR's dense_retriever.py saves them."""
    first = {"id": "p1", "title": "", "text": "", "score": "2.5", "has_answer": True}
    second = {"id": "p2", "title": "", "text": "", "score": "1.5", "has_answer": False}
    lists = ([first, second], [{**second, **changes}, first])
    return json_file([{"question": "?", "answers": [], "ctxs": own} for own in lists])


def json_file(value):
    return io.BytesIO(json.dumps(value, indent=4).encode())


def squad(**changes):
    """Two paragraphs as in SQuAD 2.0, which has questions that cannot be answered."""
    answers = [{"text": "France", "answer_start": 3}] * 2
    first = {"question": "Where is Normandy?", "id": "56d", "answers": answers}
    second = {"question": "Who?", "id": "5ad", "is_impossible": True, "answers": []}
    second["plausible_answers"] = [{"text": "Normans", "answer_start": 4}]
    paragraphs = [
        {"context": "In France.", "qas": [{**first, "is_impossible": False, **changes}]},
        {"context": "The N.", "qas": [second]},
    ]
    return json_file({"version": "v2.0", "data": [{"title": "Normans", "paragraphs": paragraphs}]})


# One passage is twice in the second record, whose place is not that among all passages.
TWICE = [
    {"ctxs": [{"id": 1, "score": 2}, {"id": 2, "score": 1}]},
    {"ctxs": [{"id": 3, "score": 1}, {"id": 3, "score": 1}]},
]
# Which would be missing from the mean of its judgments in silence.
NO_RESULTS = [{"ctxs": [{"id": 1, "score": 2, "has_answer": True}]}, {"ctxs": []}]
NO_FLAGS = [{"question": "?", "answers": [], "ctxs": [{"id": 1, "score": 2}]}]
NOTHING_TO_JUDGE = (
    r"record 2, ctxs: expected passages to judge, found none; .*answer_qrels judges a run"
)


def test_results_of_dpr_are_a_run_and_judgments():
    run = {"0": {"p1": 2.5, "p2": 1.5}, "1": {"p2": 1.5, "p1": 2.5}}
    assert fr.read_run(results()).to_dict() == run
    qrels = {"0": {"p1": 1, "p2": 0}, "1": {"p2": 0, "p1": 1}}
    assert fr.read_qrels(results()).to_dict() == qrels
    assert fr.read_run(json_file(NO_RESULTS)).to_dict() == {"0": {"1": 2.0}}


def test_questions_of_squad_ask_for_their_paragraph():
    data = fr.Dataset.from_squad(squad())
    assert (data.corpus_ids, data.corpus) == (["Normans-0", "Normans-1"], ["In France.", "The N."])
    assert (data.query_ids, data.queries) == (["56d"], ["Where is Normandy?"])
    assert (data.qrels.to_dict(), data.answers) == ({"56d": {"Normans-0": 1}}, {"56d": ["France"]})
    assert data.unjudged == ["5ad"]


def score(**changes):
    return fr.read_run(results(**changes)).to_dict()


def flag(**changes):
    return fr.read_qrels(results(**changes))


def of_squad(**changes):
    return fr.Dataset.from_squad(squad(**changes))


def no_corpus():
    return fr.Dataset.from_files(io.BytesIO(QUESTIONS), io.BytesIO(QUESTIONS))


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (lambda: score(score="x"), r"record 2, ctxs\[0\]: expected a score, found 'x'"),
        (lambda: score(score=None), r"record 2, column 'score': "),
        (lambda: flag(has_answer=1), r"record 2, ctxs\[0\]: expected true or false, found 1"),
        (lambda: flag(id=None), r"record 2, column 'doc_id': expected an id"),
        (lambda: fr.read_run(json_file(TWICE)).to_dict(), "duplicate document '3' in record 2"),
        (lambda: fr.read_qrels(json_file(NO_RESULTS)), NOTHING_TO_JUDGE),
        (lambda: fr.read_qrels(json_file(NO_FLAGS)), "'has_answer', .*answer_qrels judges a run"),
        (lambda: of_squad(id=7), r"^.*data\[0\].paragraphs\[0\].qas\[0\]: expected 'id', a text, "),
        (lambda: of_squad(answers="x"), r"qas\[0\]: expected 'answers', a list, found str"),
        (lambda: of_squad(answers=["x"]), r"qas\[0\].answers: expected 'text', a text, found 'x'"),
        (lambda: of_squad(id="5ad"), r"paragraphs\[1\].qas\[0\]: duplicate id '5ad"),
        (lambda: fr.Dataset.from_squad(json_file({"rows": []})), "'data', a list, found rows"),
        (lambda: has_answer(["x"], ["x"]), r"^text: expected a str, found list: \['x'\]$"),
        (no_corpus, ":1: expected an id .* found question, answers"),
    ],
)
def test_errors_name_the_place(read, reason):
    with pytest.raises(fr.FastrankError, match=reason):
        read()


# Training data


def test_training_data_that_was_mined_is_read(tmp_path):
    mined = fr.hard_negatives({"q1": {"d2": 1}}, {"q1": {"d1": 0.9, "d2": 0.8}}, 1)
    texts = {"d1": "A lake.", "d2": {"title": "Rivers", "text": "A river."}}
    path = tmp_path / "train.json"
    mined.write(path, corpus=texts, queries={"q1": "What flows?"}, answers={"q1": ["river"]})
    data = fr.Dataset.from_pairs(path)
    assert (data.corpus, data.queries) == (["A lake.", "Rivers A river."], ["What flows?"])
    assert (data.qrels.to_dict(), data.answers) == ({"0": {"0": 0, "1": 1}}, {"0": ["river"]})
    assert data.name == str(path)


def test_training_data_has_several_kinds_of_negatives():
    row = {"question": "?", "answers": [], "positive_ctxs": [{"title": "A", "text": "a"}]}
    row["negative_ctxs"] = [{"title": "", "text": "b"}]
    row["hard_negative_ctxs"] = [{"text": "c"}]
    assert fr.Dataset.from_pairs([row]).qrels.to_dict() == {"0": {"0": 0, "1": 0, "2": 1}}


def test_a_model_is_judged_by_answers_in_one_call(tmp_path):
    """As the run of a search is: DPR's top-k accuracy."""
    data, path = dataset(), tmp_path / "found.run"

    def letters(texts):
        return [[text.count(letter) + 0.5 for letter in "aeioup"] for text in texts]

    scores = fr.evaluate_model(letters, data, "Success@1 Success@2", k=2, run=path)

    ids = {"query_ids": data.query_ids, "corpus_ids": data.corpus_ids}
    run = fr.search(*fr.embed_dataset(letters, data), 2, **ids)
    expected = fr.evaluate(answer_qrels(data, run), run, "Success@1 Success@2", missing="zero")
    assert scores.mean == expected.mean
    assert len(scores.queries) == len(data.query_ids)
    assert fr.read_run(path).to_dict() == run.to_dict()
