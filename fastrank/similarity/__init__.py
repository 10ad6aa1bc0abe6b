"""Evaluate embeddings by similarities of texts: pairs, triplets, clusters, translations."""

from __future__ import annotations

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.similarity.bitext import evaluate_bitext as evaluate_bitext
    from fastrank.similarity.clustering import evaluate_clustering as evaluate_clustering
    from fastrank.similarity.graded_pairs import evaluate_similarity as evaluate_similarity
    from fastrank.similarity.labeled_pairs import evaluate_pairs as evaluate_pairs
    from fastrank.similarity.results import SimilarityResult as SimilarityResult
    from fastrank.similarity.summaries import evaluate_summarization as evaluate_summarization
    from fastrank.similarity.triplets import evaluate_triplets as evaluate_triplets

__getattr__, __dir__ = public_names(__name__)
