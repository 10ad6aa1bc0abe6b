"""Python's own objects in memory: read, made, and called through CPython's C API."""
