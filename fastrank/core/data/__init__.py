"""Judgments and runs, as flat columns with one row range per query."""
