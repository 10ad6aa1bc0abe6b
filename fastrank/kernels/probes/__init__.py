"""Kernels of the networks that probes train."""
