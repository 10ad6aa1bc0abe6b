"""Bytes of a file into lines, fields and columns."""
