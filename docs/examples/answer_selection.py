"""Answer selection: of the candidates of each question, which ones answer it?

The table has WikiQA's columns. A question is the first line about a function of Python's library,
the candidates are paragraphs about it and about its neighbours, and where nothing more is said
about it, none of them is right. Three models of pairs score the candidates, and the mean of word
vectors ranks them by their cosine. The tables are those of a published report on WikiQA:
trec_eval's measures in the rows and models in the columns, MAP by split, and what else is called
MAP.

    pip install 'fastrank-eval[examples]'
    python docs/examples/answer_selection.py [folder for TREC's files]
"""

import io
import sys
from pathlib import Path

import numpy
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from stdlib_texts import entries
from tabulate import tabulate

import fastrank as fr

MEASURES = "map gm_map Rprec bpref recip_rank iprec_at_recall P.5,10,15,20 ndcg_cut.1,3,5,10,20"
# Those that have an exact expected value over all orders of equal scores.
EXPECTED = "map Rprec recip_rank P.5,10,15,20 ndcg_cut.1,3,5,10,20"


@fr.measure
def mean_inverse_rank(ranking) -> float:
    """What the report's own code (mapk) calls MAP: the mean of 1/rank over the right answers."""
    ranks = ranking.ranks[ranking.grades >= ranking.level]
    return (1 / ranks).mean() if len(ranks) else 0.0


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


def word_vectors(texts, dimension: int = 50):
    """A model of single texts: the mean of the vectors of their words."""
    counts = CountVectorizer(token_pattern=r"\S+").fit(texts)
    vectors = TruncatedSVD(dimension, random_state=0).fit(counts.transform(texts)).components_.T

    def encode(own):
        found = counts.transform(own)
        return found @ vectors / found.sum(axis=1)

    return encode


def split_of(query: str) -> str:
    """Seven questions of ten are for training, one for development, two for the test."""
    return ("dev", "test", "test", *["train"] * 7)[int(query.removeprefix("Q")) % 10]


def benchmark(scores: dict[str, fr.Scores]) -> str:
    """The report's table: a measure in each row, a model in each column."""
    names = list(max((own.mean for own in scores.values()), key=len))
    rows = [[name, *(own.mean.get(name) for own in scores.values())] for name in names]
    return tabulate(rows, ["", *scores], floatfmt=".4f")


def mean_average_precisions(qrels, run, depth=None) -> dict[str, float]:
    """Four that are all called MAP."""

    def mean(measure, **how):
        return next(iter(fr.evaluate(qrels, run, measure, depth=depth, **how).mean.values()))

    return {
        # Sum of precisions divided by all right answers; 0 for a question without one.
        "trec_eval": mean("map"),
        # Divided by the right answers that were retrieved: scikit-learn, MatchZoo.
        "of those retrieved": mean("AP(denominator='relevant_retrieved')"),
        # Questions without a right answer left out: what papers on WikiQA report.
        "questions with an answer": mean("map", no_relevant="skip"),
        # The report's own code, which leaves them out too.
        "mean of 1/rank": mean("mean_inverse_rank", no_relevant="skip"),
    }


if __name__ == "__main__":
    found = fr.read_candidates(io.BytesIO(table()))
    print(found, end="\n\n")
    runs = {
        model.__name__: found.run(model(found.pairs), tag=model.__name__)
        for model in (by_words, by_tfidf, by_length)
    }
    scores = {name: fr.evaluate(found.qrels, run, MEASURES) for name, run in runs.items()}
    texts = [text for pair in found.pairs for text in pair]
    scores["word vectors"] = fr.evaluate_model(word_vectors(texts), found, MEASURES)
    equal = found.run([0.0] * len(found))
    scores["random"] = fr.evaluate(found.qrels, equal, EXPECTED, ties="average")
    print(benchmark(scores))
    print("\nMAP of word vectors by split")
    splits = {query: split_of(query) for query in scores["word vectors"].queries}
    for split, own in scores["word vectors"].by_group(splits).items():
        print(f"{split:25} {own.mean['map']:.4f}")
    for depth in (None, 3):
        print(f"\nMAP of by_tfidf, {depth or 'all'} candidates")
        for name, value in mean_average_precisions(found.qrels, runs["by_tfidf"], depth).items():
            print(f"{name:25} {value:.4f}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(exist_ok=True)
        fr.write_trec_qrels(found.qrels, folder / "qrels.txt")
        for name, run in runs.items():
            fr.write_trec_run(run, folder / f"{name}.run")
        every = fr.table([fr.evaluate(found.qrels, run, "all_trec") for run in runs.values()])
        (folder / "measures.csv").write_text(every.to_csv())
