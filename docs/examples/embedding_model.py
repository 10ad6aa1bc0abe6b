"""Evaluate an embedding model as in the tutorial of FlagEmbedding, which uses MS MARCO.

The corpus consists of the positives of all queries. The queries are searched in batches of 256 in a
Flat index of faiss with inner products. The measures are recall, MRR, and nDCG at 1 and 10. Each
row of the data has a query and its positives, as in MS MARCO; here, a query is the first paragraph
of a docstring of Python's standard library, and its positives are the following paragraphs.

    pip install 'fastrank-eval[examples]'
    python docs/examples/embedding_model.py
"""

import tempfile
from pathlib import Path

import faiss
from stdlib_texts import encoder, entries

import fastrank as fr
from fastrank.searching import read_index

# The recall of the tutorial is RCap, if all passages are different: the hits divided by min(k,
# positives). Its nDCG, which is that of scikit-learn, compares with the best order of the retrieved
# documents.
NDCG = "nDCG(ideal='retrieved')"
MEASURES = f"RCap@1 RCap@10 RR@1 RR@10 {NDCG}@1 {NDCG}@10"


def flat_index(vectors):
    """The index of the tutorial, a faiss object."""
    index = faiss.index_factory(vectors.shape[1], "Flat", faiss.METRIC_INNER_PRODUCT)
    index.train(vectors)
    index.add(vectors)
    return index


def evaluate(data: fr.Dataset, query_vectors, index) -> fr.Scores:
    """Search the index and evaluate. Positives with the same text are one document; in the tutorial
    they are several, as with `Dataset.from_pairs(rows, duplicates="keep")`."""
    return fr.evaluate_embeddings(
        query_vectors, index, data.qrels, MEASURES, query_ids=data.query_ids, k=10, batch_size=256
    )


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
        print(evaluate(data, query_vectors, read_index(path)))
