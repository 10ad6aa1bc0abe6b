"""Comparisons of systems, and of rankings."""
