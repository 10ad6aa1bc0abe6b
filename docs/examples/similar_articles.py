"""Similar articles: every labelled article is a query against all others.

The articles are Python's own help topics; the labels of an article are those that it names as
related. Vectors are compared by inner product after normalisation, and an article never finds
itself. The measures are those of a thesis on document embeddings, as it defines them:

- mean reciprocal rank;
- mean percentile rank, the rank of a hit divided by the number of gold articles, averaged over all
  pairs of a predicted and a gold article (lower is better);
- hit ratio at k, all hits at rank k or above divided by all hits.

Its later code divides percentiles and hits otherwise, and adds average precision and nDCG as
scikit-learn computes them.

    pip install 'fastrank-eval[examples]'
    python docs/examples/similar_articles.py
"""

import pydoc
from pydoc_data.topics import topics

from stdlib_texts import encoder

import fastrank as fr

MICRO = "HitRatio(average='micro',denominator='relevant_retrieved')"
MEASURES = f"RR PercentileRank(denominator='relevant') {MICRO}@5 {MICRO}@10"
LATER = "RR PercentileRank HitRatio@5 HitRatio@10 AP(denominator='relevant_retrieved') nDCG"


def help_topics() -> list[dict]:
    """Topics that have a text of their own; those with related ones have them as labels."""
    named = {name: own for name, own in pydoc.Helper.topics.items() if isinstance(own, tuple)}
    first = {label: name for name, (label, _) in reversed(named.items()) if label in topics}
    texts = {name: topics[label] for label, name in first.items()}
    articles = []
    for name, (_, related) in named.items():
        if name in texts:
            labels = sorted(texts.keys() & set(related.split()) - {name})
            articles.append({"id": name, "text": texts[name]})
            if labels:
                articles[-1]["labels"] = [{"id": own, "text": texts[own]} for own in labels]
    return articles


def evaluate(articles: list[dict], vectors, measures: str = MEASURES) -> fr.Scores:
    """Search for every labelled article among all others, the whole ranking."""
    embedded = [
        {**article, "embedding": vector} for article, vector in zip(articles, vectors, strict=True)
    ]
    data = fr.Dataset.from_articles(embedded)
    return fr.evaluate_model(None, data, measures, metric="cosine", k=len(articles))


if __name__ == "__main__":
    articles = help_topics()
    texts = [article["text"] for article in articles]
    vectors = encoder(texts)(texts)
    print(evaluate(articles, vectors))
    print("\nas the later code computes them")
    print(evaluate(articles, vectors, LATER))
