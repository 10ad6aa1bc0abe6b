"""Answer selection: of the candidates of each question, which ones answer it?

The table has WikiQA's columns. A question is the first line about a function of Python's library,
the candidates are paragraphs about it and about its neighbours, and where nothing more is said
about it, none of them is right. Three models of pairs score the candidates.

    python docs/examples/answer_selection.py [folder for TREC's files]
"""

import io
import sys
from pathlib import Path

import numpy
from sklearn.feature_extraction.text import TfidfVectorizer
from stdlib_texts import entries

import fastrank as fr

MEASURES = "map recip_rank P.1 nDCG@5 bpref"


def table() -> bytes:
    """The tab-separated table of questions, candidates and labels."""
    lines = ["QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel"]
    known = entries()
    for i, asked in enumerate(known):
        module = asked.name.rpartition(".")[0]
        near = [
            own for own in known[max(i - 4, 0) : i + 5] if own.name.rpartition(".")[0] == module
        ]
        candidates = [(text, int(own is asked)) for own in near for text in own.paragraphs[:3]]
        lines += [
            f"Q{i}\t{asked.summary}\tD{i}\t{module}\tD{i}-{j}\t{text}\t{label}"
            for j, (text, label) in enumerate(candidates)
        ]
    return "\n".join(lines).encode()


def by_words(pairs) -> list[float]:
    """The share of the question's words that the candidate has."""
    split = [(set(question.lower().split()), set(text.lower().split())) for question, text in pairs]
    return [len(question & text) / len(question) for question, text in split]


def by_tfidf(pairs) -> list[float]:
    """The cosine of weighted words."""
    model = TfidfVectorizer(sublinear_tf=True).fit(text for _, text in pairs)
    questions, texts = (model.transform(column) for column in zip(*pairs, strict=True))
    return numpy.asarray(questions.multiply(texts).sum(axis=1)).ravel().tolist()


def by_length(pairs) -> list[float]:
    """Shorter is better: what knows nothing of the question."""
    return [-float(len(text)) for _, text in pairs]


def mean_average_precisions(qrels, run, depth=None) -> dict[str, float]:
    """Three that are all called MAP."""

    def mean(measure, **how):
        return next(iter(fr.evaluate(qrels, run, measure, depth=depth, **how).mean.values()))

    return {
        # Sum of precisions divided by all right answers; 0 for a question without one.
        "trec_eval": mean("map"),
        # Divided by the right answers that were retrieved: scikit-learn, MatchZoo.
        "of those retrieved": mean("AP(norm='retrieved')"),
        # Questions without a right answer left out: what papers on WikiQA report.
        "questions with an answer": mean("map", no_relevant="skip"),
    }


if __name__ == "__main__":
    found = fr.load_candidates(io.BytesIO(table()))
    print(found, end="\n\n")
    runs = {
        model.__name__: found.run(model(found.pairs), tag=model.__name__)
        for model in (by_words, by_tfidf, by_length)
    }
    print(fr.table({name: fr.evaluate(found.qrels, run, MEASURES) for name, run in runs.items()}))
    for depth in (None, 3):
        print(f"\nMAP of by_tfidf, {depth or 'all'} candidates")
        for name, value in mean_average_precisions(found.qrels, runs["by_tfidf"], depth).items():
            print(f"{name:25} {value:.4f}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(exist_ok=True)
        fr.write_qrels(found.qrels, folder / "qrels.txt")
        for name, run in runs.items():
            fr.write_run(run, folder / f"{name}.run")
        every = fr.table([fr.evaluate(found.qrels, run, "all_trec") for run in runs.values()])
        (folder / "measures.csv").write_text(every.to_csv())
