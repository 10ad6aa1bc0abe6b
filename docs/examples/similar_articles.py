"""Similar articles: each labelled article is searched for among all other articles.

The articles are the help topics of Python, and the labels of an article are the topics that it
names as related. Vectors are compared by their cosine, and an article never finds itself. The
measures are those that a thesis on document embeddings defines:

- mean reciprocal rank;
- mean percentile rank: the rank of a hit divided by the number of gold articles, averaged over all
  pairs of a predicted and a gold article (lower is better);
- hit ratio at k: all hits at rank k or above divided by all hits.

The later code of the thesis uses other denominators for percentiles and hits, and adds average
precision and nDCG as computed by scikit-learn.

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
    """Topics that have a text, with their related topics as labels."""
    named = {name: topic for name, topic in pydoc.Helper.topics.items() if isinstance(topic, tuple)}
    first = {label: name for name, (label, _) in reversed(named.items()) if label in topics}
    texts = {name: topics[label] for label, name in first.items()}
    articles = []
    for name, (_, related) in named.items():
        if name in texts:
            labels = sorted(texts.keys() & set(related.split()) - {name})
            articles.append({"id": name, "text": texts[name]})
            if labels:
                articles[-1]["labels"] = [{"id": label, "text": texts[label]} for label in labels]
    return articles


def evaluate(articles: list[dict], vectors, measures: str = MEASURES) -> fr.Scores:
    """Rank all other articles for each labelled article."""
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
    print("\nwith the later code")
    print(evaluate(articles, vectors, LATER))
