"""Stores of scores: files that keep the results of evaluated runs."""
