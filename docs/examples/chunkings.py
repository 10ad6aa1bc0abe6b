"""Five ways to chunk the same texts, judged by spans: which is best depends on what is counted.

One retriever (TF-IDF) searches the chunks of three texts of the chunking benchmark of Smith and
Troynikov ('Evaluating chunking strategies for retrieval', Chroma 2024) for 276 questions, whose
evidence is known as places in the texts.

    pip install 'fastrank-eval[examples]'
    git clone https://github.com/brandonstarxel/chunking_evaluation
    cd chunking_evaluation/chunking_evaluation/evaluation_framework/general_evaluation_data
    python chunkings.py questions_df.csv corpora
"""

import csv
import re
import sys
from itertools import pairwise
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer

import fastrank as fr

DOCUMENTS = ("chatlogs", "state_of_the_union", "wikitexts")
MEASURES = "SpanRecall@5 SpanPrecision@5 SpanIoU@5 SpanRecall@2000c SpanPrecisionOmega"
BY_TEXT = ("SpanRecall@5", "SpanRecall@2000c")


def fixed(text: str, size: int) -> list[tuple[int, int]]:
    """Places of this size, each of which overlaps half of the one before."""
    starts = range(0, max(len(text) - size // 2, 1), size // 2)
    return [(start, min(start + size, len(text))) for start in starts]


def between(text: str, separator: str) -> list[tuple[int, int]]:
    """The places between separators, without blanks around them."""
    cuts = [0, *(found.end() for found in re.finditer(separator, text)), len(text)]
    parts = [(start, text[start:end]) for start, end in pairwise(cuts)]
    places = [(start + len(part) - len(part.lstrip()), part.strip()) for start, part in parts]
    return [(start, start + len(part)) for start, part in places if part]


CHUNKINGS = {
    "fixed 200": lambda text: fixed(text, 200),
    "fixed 400": lambda text: fixed(text, 400),
    "fixed 800": lambda text: fixed(text, 800),
    "sentences": lambda text: between(text, r"[.!?]\s+|\n"),
    "paragraphs": lambda text: between(text, r"\n\s*\n"),
}


def chunks_of(texts: dict[str, str], places) -> list[dict]:
    """The chunks of all texts."""
    return [
        {"chunk": f"{document}-{number}", "document": document, "start": start, "end": end}
        for document, text in texts.items()
        for number, (start, end) in enumerate(places(text))
    ]


def search(questions: dict[str, str], texts: dict[str, str], chunks: list[dict]) -> fr.Run:
    """The 20 chunks that are nearest to each question."""
    model = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    contents = [texts[chunk["document"]][chunk["start"] : chunk["end"]] for chunk in chunks]
    corpus = model.fit_transform(contents)
    similar = (model.transform(questions.values()) @ corpus.T).toarray().round(9)
    best = (-similar).argsort(axis=1, kind="stable")[:, :20]
    return fr.Run.from_dict(
        {
            query: {chunks[place]["chunk"]: row[place] for place in own}
            for query, row, own in zip(questions, similar, best, strict=True)
        }
    )


def moved(run: fr.Run, chunks: list[dict], judged: list[dict]) -> fr.Run:
    """The run of the judged chunks that have the middles of those that were retrieved."""
    at = {}
    for chunk in judged:
        for place in range(chunk["start"], chunk["end"]):
            at.setdefault((chunk["document"], place), chunk["chunk"])
    middles = {
        chunk["chunk"]: at.get((chunk["document"], (chunk["start"] + chunk["end"]) // 2))
        for chunk in chunks
    }
    ranked = {}
    for query, results in run.to_dict().items():
        ranked[query] = {}
        for chunk, score in sorted(results.items(), key=lambda result: -result[1]):
            if middles[chunk] is not None:
                ranked[query].setdefault(middles[chunk], score)
    return fr.Run.from_dict(ranked)


def main(questions_file: str, folder: str) -> None:
    """Print a table of measures of the text, and one of what each set of judgments says."""
    texts = {name: Path(folder, f"{name}.md").read_bytes().decode() for name in DOCUMENTS}
    with open(questions_file, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["corpus_id"] in texts]
    questions = {str(number): row["question"] for number, row in enumerate(rows)}
    spans = fr.spans.read_spans(rows, texts)
    chunkings = {name: chunks_of(texts, places) for name, places in CHUNKINGS.items()}
    runs = {name: search(questions, texts, chunks) for name, chunks in chunkings.items()}

    text = {
        name: fr.evaluate_spans(spans, chunkings[name], run, MEASURES) for name, run in runs.items()
    }
    print(fr.table(text, label="chunks", digits=3))

    by = {measure: {name: text[name].mean[measure] for name in runs} for measure in BY_TEXT}
    for judged, chunks in chunkings.items():
        qrels = fr.span_qrels(spans, chunks, characters=1, grade="share")
        by[f"nDCG@5, judged: {judged}"] = {
            name: fr.evaluate(qrels, moved(run, chunkings[name], chunks), "nDCG@5").mean["nDCG@5"]
            for name, run in runs.items()
        }
    orders = [sorted(means, key=lambda name: -means[name]) for means in by.values()]
    ranks = {name: [1 + order.index(name) for order in orders] for name in runs}
    tau = [fr.agreement(by[BY_TEXT[1]], means).tau_b for means in by.values()]
    print()
    print(fr.Table(columns={"ranked by": list(by), **ranks, "tau": tau}, digits=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
