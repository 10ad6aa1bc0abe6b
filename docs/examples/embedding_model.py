"""An embedding model on data like MS MARCO's, as FlagEmbedding's tutorial evaluates one.

The corpus are the positives of all queries, the index is faiss's Flat with inner products, queries
are searched for in batches of 256, and the measures are recall, MRR and nDCG at 1 and 10. Rows have
a query and its positives, as MS MARCO has them; here a query is the first line about a function of
Python's library, its positives what else is said.

    pip install 'fastrank-eval[examples]'
    python docs/examples/embedding_model.py
"""

import tempfile
from pathlib import Path

import faiss
from stdlib_texts import encoder, entries

import fastrank as fr
from fastrank.search import load_index, search_batches

# The tutorial's recall is RCap: the hits divided by min(k, positives).
MEASURES = "RCap@1 RCap@10 RR@1 RR@10"


def flat_index(vectors):
    """The tutorial's index, which is an object of faiss."""
    index = faiss.index_factory(vectors.shape[1], "Flat", faiss.METRIC_INNER_PRODUCT)
    index.train(vectors)
    index.add(vectors)
    return index


def evaluate(data: fr.Dataset, query_vectors, index) -> fr.Scores:
    """Search in the index, and evaluate; equal positives are one document."""
    return fr.evaluate_embeddings(
        query_vectors, index, data.qrels, MEASURES, query_ids=data.query_ids, k=10, batch_size=256
    )


def ndcg_of_retrieved(data: fr.Dataset, query_vectors, index) -> fr.Scores:
    """The tutorial's own nDCG: scikit-learn's, whose ideal ranking is of what was retrieved."""
    judged, ids = data.qrels.to_dict(), data.query_ids
    labels, scores = [], []
    for found in search_batches(index, query_vectors, 10, query_ids=ids, batch_size=256):
        for query, rows, own in zip(found.queries, found.rows, found.scores, strict=True):
            labels.append([judged[ids[query]].get(str(row), 0) for row in rows])
            scores.append(own.tolist())
    return fr.evaluate_labels(labels, scores, "nDCG@1 nDCG@10", queries=ids)


if __name__ == "__main__":
    rows = [
        {"query": entry.summary, "positive": entry.paragraphs}
        for entry in entries()
        if entry.paragraphs
    ]
    data = fr.Dataset.from_pairs(rows)
    encode = encoder(data.corpus + data.queries)
    index, query_vectors = flat_index(encode(data.corpus)), encode(data.queries)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "index.bin")
        faiss.write_index(index, path)
        print(evaluate(data, query_vectors, load_index(path)))
    print("\nnDCG of what was retrieved, as in the tutorial")
    print(ndcg_of_retrieved(data, query_vectors, index))
