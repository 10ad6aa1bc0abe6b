"""Kernels that compare rankings with each other."""
