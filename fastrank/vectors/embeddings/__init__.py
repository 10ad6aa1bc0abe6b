"""Embedding models: encoders, caches, evaluation, comparison of indexes, training data."""
