"""Dense passage retrieval (DPR): accuracy, training data mined from the result, and the loss.

Two encoders, one of questions and one of passages, and inner products. A question is the first line
about a function of Python's library, its answer the function's name; the passages are what is said
about all functions. As in DPR a passage is right if it contains the answer, and its positives are
the passages that are known to belong to the question.

    pip install 'fastrank-eval[examples]'
    python docs/examples/passage_retrieval.py [train.json]
"""

import re
import sys

from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from stdlib_texts import entries

import fastrank as fr
from fastrank.search import search

ACCURACY = "Success@1 Success@5 Success@20 Success@100"


def encoders(passages: list[str]):
    """Of questions and of passages: words weighted in two ways, in one space."""
    question = TfidfVectorizer(binary=True, norm=None).fit(passages)
    passage = TfidfVectorizer(sublinear_tf=True).fit(passages)
    space = TruncatedSVD(200, random_state=0).fit(passage.transform(passages))
    return tuple(
        lambda texts, own=own: space.transform(own.transform(texts)).astype("float32")
        for own in (question, passage)
    )


def tfidf_top_5(questions: dict, passages: dict, judged: dict) -> fr.Scores:
    """What DPR is compared with: the five passages whose TF-IDF vectors are nearest by cosine."""
    data = fr.Dataset.from_texts(passages, questions, judged)
    # Products, since the vectors have length 1, or 0 where the passages have no word of a question.
    return fr.evaluate_model(TfidfVectorizer(), data, "Success@5", metric="ip", k=5)


def words(text: str) -> str:
    """The words of a text between blanks, for whole ones to be found in it."""
    return " ".join(["", *re.findall(r"\w+", text.lower()), ""])


def answered(answers: dict[str, list[str]], gold: dict, passages: dict[str, str]) -> dict:
    """Judgments by answer: 1 where a passage contains one, 0 for the others of the question."""
    spelled = {own: words(text) for own, text in passages.items()}
    return {
        question: dict.fromkeys(gold[question], 0)
        | {id_: 1 for id_, text in spelled.items() if any(words(one) in text for one in own)}
        for question, own in answers.items()
    }


def retrieve(questions: dict[str, str], passages: dict[str, str]) -> fr.Run:
    """The best 100 passages of each question."""
    of_question, of_passage = encoders(list(passages.values()))
    return search(
        of_passage(list(passages.values())), of_question(list(questions.values())), 100,
        corpus_ids=list(passages), query_ids=list(questions), tag="dpr",
    )  # fmt: skip


if __name__ == "__main__":
    asked = {own.name: own for own in entries() if own.paragraphs}
    questions = {name: own.summary for name, own in asked.items()}
    passages = {
        f"{name}#{i}": text for name, own in asked.items() for i, text in enumerate(own.paragraphs)
    }
    gold = {
        name: {f"{name}#{i}": 1 for i in range(len(own.paragraphs))} for name, own in asked.items()
    }
    answers = {name: [name.rpartition(".")[2]] for name in asked}

    run, judged = retrieve(questions, passages), answered(answers, gold, passages)
    print("top-k accuracy\n" + str(fr.evaluate(judged, run, ACCURACY)))
    print("\nTF-IDF, whose vectors stay sparse\n" + str(tfidf_top_5(questions, passages, judged)))

    # What was retrieved without being right; the first ranks may be right and nobody knows.
    mined = fr.hard_negatives(
        run, gold, 5, skip_top=2, relative_margin=0.05, margin_below="highest"
    )
    target = sys.argv[1] if len(sys.argv) > 1 else "train.json"
    count = mined.write(target, corpus=passages, queries=questions, answers=answers)
    print(f"\n{target}: {count} questions, {mined.counts['negatives']} negatives")

    print(fr.negative_log_likelihood(gold, run, positives="alone"))
