"""Many bytes at once: instructions that numba does not offer by itself."""
