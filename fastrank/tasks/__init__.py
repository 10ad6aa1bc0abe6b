"""Evaluate models on several tasks of any kind, and present the results in one table."""
