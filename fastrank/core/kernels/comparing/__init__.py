"""Kernels that compare rankings, and those of significance tests."""
