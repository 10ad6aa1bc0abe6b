"""An embedding model on data like MS MARCO's, as FlagEmbedding's tutorial evaluates one.

The corpus are the positives of all queries, the index is faiss's Flat with inner products, queries
are searched for in batches of 256, and the measures are recall, MRR and nDCG at 1 and 10. Here a
query is the first line about a function of Python's library, its positives what else is said.

    python docs/examples/embedding_model.py
"""

import tempfile
from pathlib import Path

from stdlib_texts import encoder, entries

import fastrank as fr
from fastrank.search import build_index, load_index, save_index, search_batches

# RCap: hits divided by min(k, positives). The tutorial prints as recall what is Success, since it
# divides the hits by min(hits, positives).
MEASURES = "RCap@1 RCap@10 RR@1 RR@10 nDCG@1 nDCG@10 Success@1 Success@10"


def evaluate(positives: list[list[str]], query_vectors, corpus: list[str], vectors) -> fr.Scores:
    """Index, save, load, search and evaluate."""
    row = {text: i for i, text in enumerate(corpus)}
    qrels = {i: {row[text]: 1 for text in own} for i, own in enumerate(positives)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.bin"
        save_index(build_index(vectors, "Flat", "ip"), path)
        index = load_index(path)
    return fr.evaluate_embeddings(query_vectors, index, qrels, MEASURES, k=10, batch_size=256)


def ndcg_of_retrieved(positives: list[list[str]], query_vectors, corpus, vectors) -> fr.Scores:
    """The tutorial's own nDCG: scikit-learn's, whose ideal ranking is of what was retrieved."""
    labels, scores = [], []
    for found in search_batches(build_index(vectors), query_vectors, 10, batch_size=256):
        for i, (rows, own) in enumerate(zip(found.rows, found.scores, strict=True), found.start):
            labels.append([int(corpus[row] in positives[i]) for row in rows])
            scores.append(own.tolist())
    return fr.evaluate_labels(labels, scores, "nDCG@1 nDCG@10")


if __name__ == "__main__":
    asked = [entry for entry in entries() if entry.paragraphs]
    queries, positives = [own.summary for own in asked], [own.paragraphs for own in asked]
    corpus = list(dict.fromkeys(text for own in positives for text in own))
    encode = encoder(corpus + queries)
    given = positives, encode(queries), corpus, encode(corpus)
    print(evaluate(*given))
    print("\nnDCG of what was retrieved, as in the tutorial")
    print(ndcg_of_retrieved(*given))
