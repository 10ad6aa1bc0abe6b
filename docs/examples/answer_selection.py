"""Answer selection: find the candidates that answer each question.

The table has the columns of WikiQA. Its texts are docstrings of Python's standard library: a
question is the first paragraph of a docstring, and its candidates are the following paragraphs of
this docstring (the right answers) and of neighboring ones. A docstring with only one line gives a
question without a right answer. Three models of pairs score the candidates, and a fourth ranks them
by the cosine of averaged word vectors. The output has the tables of a published report on WikiQA:
the measures of trec_eval by model, MAP by split, and other numbers that are called MAP.

    pip install 'fastrank-eval[examples]'
    python docs/examples/answer_selection.py [folder for TREC files]
"""

import io
import sys
from pathlib import Path

import numpy
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from stdlib_texts import entries

import fastrank as fr

MEASURES = "map gm_map Rprec bpref recip_rank iprec_at_recall P.5,10,15,20 ndcg_cut.1,3,5,10,20"
# The measures with an exact expected value over all orders of equal scores.
EXPECTED = "map Rprec bpref recip_rank P.5,10,15,20 ndcg_cut.1,3,5,10,20"


def table() -> bytes:
    """The tab-separated table of questions, candidates and labels."""
    lines = ["QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel"]
    known = entries()
    for i, asked in enumerate(known):
        module = asked.name.rpartition(".")[0]
        near = [
            entry
            for entry in known[max(i - 4, 0) : i + 5]
            if entry.name.rpartition(".")[0] == module
        ]
        candidates = [
            (text, int(entry is asked)) for entry in near for text in entry.paragraphs[:3]
        ]
        lines += [
            f"Q{i}\t{asked.summary}\tD{i}\t{module}\tD{i}-{j}\t{text}\t{label}"
            for j, (text, label) in enumerate(candidates)
        ]
    return "\n".join(lines).encode()


def by_words(pairs) -> list[float]:
    """The share of the question's words that appear in the candidate."""
    split = [(set(question.lower().split()), set(text.lower().split())) for question, text in pairs]
    return [len(question & text) / len(question) for question, text in split]


def by_tfidf(pairs) -> list[float]:
    """The cosine of TF-IDF vectors."""
    model = TfidfVectorizer(sublinear_tf=True).fit(text for _, text in pairs)
    questions, texts = (model.transform(column) for column in zip(*pairs, strict=True))
    return numpy.asarray(questions.multiply(texts).sum(axis=1)).ravel().tolist()


def by_length(pairs) -> list[float]:
    """Shorter is better: a baseline that ignores the question."""
    return [-float(len(text)) for _, text in pairs]


def word_vectors(texts, dimension: int = 50):
    """A model of single texts: the average of their word vectors."""
    counts = CountVectorizer(token_pattern=r"\S+").fit(texts)
    vectors = TruncatedSVD(dimension, random_state=0).fit(counts.transform(texts)).components_.T

    def encode(batch):
        found = counts.transform(batch)
        return found @ vectors / found.sum(axis=1)

    return encode


def split_of(query: str) -> str:
    """Of ten questions, seven are for training, one is for development, and two are for testing."""
    return ("dev", "test", "test", *["train"] * 7)[int(query.removeprefix("Q")) % 10]


def benchmark(scores: dict[str, fr.Scores]) -> str:
    """The table of the report, with a row per measure and a column per model."""
    means = [model.mean for model in scores.values()]
    names = list(max(means, key=len))
    columns = {model: [own.mean.get(name) for name in names] for model, own in scores.items()}
    return str(fr.Table(columns={"": names, **columns}))


def mean_average_precisions(qrels, run, depth=None) -> dict[str, float]:
    """Four different numbers that are called MAP."""

    def mean(measure, **options):
        return next(iter(fr.evaluate(qrels, run, measure, depth=depth, **options).mean.values()))

    return {
        # The sum of precisions divided by all right answers; 0 for a question without one.
        "trec_eval": mean("map"),
        # Divided by the retrieved right answers, as in scikit-learn and MatchZoo.
        "of those retrieved": mean("AP(denominator='relevant_retrieved')"),
        # Only over questions with a right answer, as in papers on WikiQA.
        "questions with an answer": mean("map", no_relevant="skip"),
        # The code of the report (mapk), which also skips questions without a right answer.
        "mean of 1/rank": mean("ReciprocalHitRank", no_relevant="skip"),
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
    for split, group in scores["word vectors"].by_group(splits).items():
        print(f"{split:25} {group.mean['map']:.4f}")
    for depth in (None, 3):
        print(f"\nMAP of by_tfidf, {depth or 'all'} candidates")
        for name, value in mean_average_precisions(found.qrels, runs["by_tfidf"], depth).items():
            print(f"{name:25} {value:.4f}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(exist_ok=True)
        fr.write_qrels(found.qrels, folder / "qrels.txt", "trec")
        for name, run in runs.items():
            fr.write_run(run, folder / f"{name}.run", "trec")
        every = fr.table([fr.evaluate(found.qrels, run, "all_trec") for run in runs.values()])
        (folder / "measures.csv").write_text(every.to_csv())
