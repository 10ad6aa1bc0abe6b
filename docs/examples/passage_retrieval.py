"""Dense passage retrieval (DPR): accuracy, training data mined from the results, and the loss.

DPR has one encoder for questions and one for passages, and compares their vectors by inner
products. Here, a question is the first paragraph of a docstring of Python's standard library, its
answer is the name of the function or class, and the passages are the following paragraphs of all
docstrings. As in DPR, a passage is right if it contains the answer; the positives of a question are
the paragraphs of its docstring.

    pip install 'fastrank-eval[examples]'
    python docs/examples/passage_retrieval.py [file for training data, such as train.json]
"""

import sys

from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from stdlib_texts import entries

import fastrank as fr
from fastrank.datasets import answer_qrels

ACCURACY = "Success@1 Success@5 Success@20 Success@100"


def encoders(passages: list[str]):
    """Encoders of questions and of passages, which weight words differently, in the same space."""
    question = TfidfVectorizer(binary=True, norm=None).fit(passages)
    passage = TfidfVectorizer(sublinear_tf=True).fit(passages)
    space = TruncatedSVD(200, random_state=0).fit(passage.transform(passages))
    return tuple(
        lambda texts, model=model: space.transform(model.transform(texts)).astype("float32")
        for model in (question, passage)
    )


def tfidf_top_5(questions: dict, passages: dict, answers: dict) -> fr.Scores:
    """The baseline of DPR: the five passages with the highest cosine of TF-IDF vectors."""
    model = TfidfVectorizer().fit(passages.values())
    # Of vectors of length 1, or 0 if no passage has a word of the question, "ip" is the cosine.
    run = fr.search(
        model.transform(questions.values()),
        model.transform(passages.values()),
        5,
        metric="ip",
        corpus_ids=list(passages),
        query_ids=list(questions),
    )
    return fr.evaluate(answer_qrels(answers, run, passages), run, "Success@5", missing="zero")


def retrieve(questions: dict[str, str], passages: dict[str, str]) -> fr.Run:
    """The best 100 passages for each question."""
    of_question, of_passage = encoders(list(passages.values()))
    return fr.search(
        of_question(list(questions.values())),
        of_passage(list(passages.values())),
        100,
        metric="ip",
        corpus_ids=list(passages),
        query_ids=list(questions),
        tag="dpr",
    )


if __name__ == "__main__":
    asked = [entry for entry in entries() if entry.paragraphs]
    questions = {entry.name: entry.summary for entry in asked}
    answers = {entry.name: [entry.name.rpartition(".")[2]] for entry in asked}
    passages, gold = {}, {}
    for entry in asked:
        ids = [f"{entry.name}#{i}" for i in range(len(entry.paragraphs))]
        passages.update(zip(ids, entry.paragraphs, strict=True))
        gold[entry.name] = dict.fromkeys(ids, 1)

    run = retrieve(questions, passages)
    judged = answer_qrels(answers, run, passages)
    # Questions without results count as 0, as in DPR.
    print("top-k accuracy\n" + str(fr.evaluate(judged, run, ACCURACY, missing="zero")))
    baseline = tfidf_top_5(questions, passages, answers)
    print("\nTF-IDF baseline, with sparse vectors\n" + str(baseline))

    # Nonrelevant results become negatives. The first ranks are skipped because they may be right
    # without being known to be.
    mined = fr.hard_negatives(
        gold, run, 5, skip_top=2, relative_margin=0.05, margin_below="highest"
    )
    print(f"\ntraining data: {len(mined)} questions, {mined.counts['negatives']} negatives")
    if len(sys.argv) > 1:
        mined.write(sys.argv[1], corpus=passages, queries=questions, answers=answers)

    print("\nloss\n" + str(fr.negative_log_likelihood(gold, run, positives="alone")))
