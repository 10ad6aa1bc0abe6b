"""Search: vectors of queries and of a corpus → the nearest documents of each query, by faiss.

>>> from fastrank.searching import build_index, search
>>> corpus = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]
>>> index = build_index(corpus, metric="cosine", ids=["d1", "d2", "d3"])
>>> search([[1.0, 0.1]], index, 2, query_ids=["q1"]).to_dict()
{'q1': {'d1': 0.995..., 'd3': 0.855...}}
"""

from fastrank.common.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.vectors.searching.batches import Found as Found
    from fastrank.vectors.searching.batches import search_batches as search_batches
    from fastrank.vectors.searching.indexing import Index as Index
    from fastrank.vectors.searching.indexing import build_index as build_index
    from fastrank.vectors.searching.runs import search as search
    from fastrank.vectors.searching.shards import Shards as Shards
    from fastrank.vectors.searching.storage import read_index as read_index
    from fastrank.vectors.searching.storage import write_index as write_index

__getattr__, __dir__ = public_names(__name__)
