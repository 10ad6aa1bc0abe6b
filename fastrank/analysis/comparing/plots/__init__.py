"""Plots of comparisons, with matplotlib."""
