"""Ids compared as people would read them, for checks of files."""
