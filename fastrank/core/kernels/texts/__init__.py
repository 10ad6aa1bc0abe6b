"""Texts in one buffer: comparing, hashing, grouping, indexing, reading numbers."""
