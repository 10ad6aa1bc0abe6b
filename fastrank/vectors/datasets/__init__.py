"""Data sets of texts: a corpus, queries and judgments, from files, folders and objects."""
