"""Similar articles: every labelled article is a query against all others.

The articles are Python's own help topics; the similar ones are those that each names as related.
Vectors are compared by inner product after normalisation, an article never finds itself, and the
measures are those of document embeddings on the Wikipedia data of SDR (Ginzburg et al., 2021): mean
reciprocal rank, mean percentile rank (lower is better; the code of SDR has base='index'), hit
ratio, which is recall, and average precision and nDCG as scikit-learn computes them.

    python docs/examples/similar_articles.py
"""

import pydoc
from pydoc_data.topics import topics

from stdlib_texts import encoder

import fastrank as fr

MEASURES = "RR PercentileRank HitRatio@5 HitRatio@10 AP(norm='retrieved') nDCG"


def help_topics() -> list[dict]:
    """Topics that have a text of their own, with the ids of related ones."""
    named = {name: own for name, own in pydoc.Helper.topics.items() if isinstance(own, tuple)}
    first = {label: name for name, (label, _) in reversed(named.items()) if label in topics}
    own = set(first.values())
    return [
        {"id": name, "text": topics[label], "similar": sorted(own & set(related.split()) - {name})}
        for name, (label, related) in named.items()
        if name in own
    ]


def evaluate(articles: list[dict], vectors) -> fr.Scores:
    """Search for every labelled article among all others, the whole ranking."""
    embedded = [
        {**article, "embedding": vector} for article, vector in zip(articles, vectors, strict=True)
    ]
    data = fr.Dataset.from_articles(embedded)
    return fr.evaluate_model(None, data, MEASURES, metric="cosine", k=len(articles))


if __name__ == "__main__":
    articles = help_topics()
    texts = [article["text"] for article in articles]
    print(evaluate(articles, encoder(texts)(texts)))
