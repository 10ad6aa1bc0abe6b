"""Evaluate embedding models and compare approximate indexes."""

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.embeddings.embed import Embeddings as Embeddings
    from fastrank.embeddings.embed import embed_dataset as embed_dataset
    from fastrank.embeddings.evaluation import evaluate_model as evaluate_model
    from fastrank.embeddings.index_benchmark import compare_indexes as compare_indexes
    from fastrank.embeddings.index_comparison import IndexComparison as IndexComparison
    from fastrank.embeddings.index_comparison import IndexPoint as IndexPoint

__getattr__, __dir__ = public_names(__name__)
