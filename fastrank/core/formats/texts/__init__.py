"""Texts of documents and queries in files."""
