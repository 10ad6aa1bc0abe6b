"""The text formats of TREC: judgments and runs, read and written."""
