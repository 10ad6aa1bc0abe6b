"""The types of what functions return, for annotations and for reading their documentation.

Nobody needs to construct them: `fr.compare(...)` returns a `fastrank.types.Comparison`, and so on.
"""

from __future__ import annotations

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.embeddings.index_comparison import IndexComparison as IndexComparison
    from fastrank.embeddings.index_comparison import IndexPoint as IndexPoint
    from fastrank.embeddings.text_vectors import Embeddings as Embeddings
    from fastrank.embeddings.training_data import HardNegatives as HardNegatives
    from fastrank.embeddings.training_data import Instance as Instance

__getattr__, __dir__ = public_names(__name__)
