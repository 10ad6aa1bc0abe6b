"""Kernels of statistical tests: random words, resamples, and exact distributions."""
