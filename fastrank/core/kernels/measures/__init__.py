"""Ranks and grades into values."""
