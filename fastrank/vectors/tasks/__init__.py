"""Embeddings and models judged by tasks: classification, similarity, pairs, translations, ."""
