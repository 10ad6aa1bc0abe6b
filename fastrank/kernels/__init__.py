"""Numba sources of the native core, by topic."""
