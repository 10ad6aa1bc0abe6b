"""Fuse the rankings of several runs."""
