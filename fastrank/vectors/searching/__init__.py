"""Search: vectors of queries and of a corpus → the nearest documents of each query, by faiss."""
