"""Numba sources of the compiled core, in sub-packages by stage."""
